"""Log densities of gendsl's usual families as text, for a straight line (`gendsl.transforms.straight_lines`).

A call of a distribution's takes as long as forty operations of the line that it stands in, most of them for
asking what its arguments are. In a line that is known: the number is a float, the hyperparameters mostly are
constants, and what depends on these alone is computed once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from gendsl.distributions import (
    Distribution,
    beta,
    dirichlet,
    exponential,
    gamma,
    inv_gamma,
    normal,
    uniform,
)
from gendsl.distributions.multivariate import SIMPLEX_TOLERANCE
from gendsl.distributions.special import HALF_LOG_2PI, log_beta
from gendsl.transforms.tape import Made, Term, Traced, Unseen

_NUMBERS = (int, float, np.integer, np.floating)

_MOST = 100.0
"""The largest shape. What is a constant here is taken together with the rest in the distribution's own
formula, where larger ones would cancel."""

Parameter = str | float
"""A parameter: the variable that holds it, or its value."""


class ShortDensity(NamedTuple):
    """A log density as text.

    Attributes:
        needs: conditions for the text to hold; where one doesn't, the distribution itself has to be asked.
        ratio: what the text calls `z`, or None.
        text: the log density but for a constant; empty if that is all.
        constant: the constant.
    """

    needs: tuple[str, ...]
    ratio: str | None
    text: str
    constant: float


def short_term(step: Term, entries: Mapping[str, tuple[str, ...]]) -> ShortDensity | None:
    """A term of a tape as text; None if there is no text for it.

    Args:
        entries: for variables that hold an array, those that hold its entries.
    """
    made, value = step.function, step.given[0]
    kind: Any
    if type(made) is Made:
        kind = made.kind
        given = [*made.arguments, *(made.named.get(name) for name in kind.parameters[len(made.arguments) :])]
    else:
        law = getattr(made, "__self__", None)
        if not isinstance(law, Distribution):
            return None
        kind, given = type(law), [getattr(law, name, None) for name in law.parameters]
    x = value.name if type(value) is Traced else entries.get(value.text) if type(value) is Unseen else None
    if x is None or len(given) != len(kind.parameters):
        return None
    return short_density(kind, [p.name if type(p) is Traced else p for p in given], x)


def short_density(
    kind: type[Distribution], parameters: Sequence[Any], x: str | tuple[str, ...]
) -> ShortDensity | None:
    """The log density at x of what a class makes of parameters; None if there is no text for it.

    Args:
        parameters: each a number, a variable's name, or a list of numbers.
        x: the name of the variable that has the value, a float; or of those that have a vector's entries.
    """
    write = _TEXTS.get(kind)
    if write is None:
        return None
    if kind is dirichlet:
        (alpha,) = parameters
        if isinstance(x, str) or not _are_concentrations(alpha, len(x)):
            return None
        return _dirichlet(x, [float(a) for a in alpha])
    if not isinstance(x, str):
        return None
    given: list[Parameter] = []
    for parameter in parameters:
        if isinstance(parameter, str):
            given.append(parameter)
        elif isinstance(parameter, _NUMBERS) and -math.inf < parameter < math.inf:
            given.append(float(parameter))
        else:
            return None
    return write(x, *given)


def _normal(x: str, mean: Parameter, sd: Parameter) -> ShortDensity | None:
    distance = x if mean == 0.0 else f"({x} - {_text(mean)})"
    ratio = distance if sd == 1.0 else f"{distance} / {_text(sd)}"
    if isinstance(sd, str):
        return ShortDensity((_is_positive(sd),), ratio, f"-0.5 * z * z - log({sd})", -HALF_LOG_2PI)
    if not sd > 0.0:
        return None
    return ShortDensity((), ratio, "-0.5 * z * z", -math.log(sd) - HALF_LOG_2PI)


def _uniform(x: str, low: Parameter, high: Parameter) -> ShortDensity | None:
    needs = f"{_text(low)} <= {x} <= {_text(high)}"
    if isinstance(low, str) or isinstance(high, str):
        ratio = f"{_text(high)} - {_text(low)}"
        return ShortDensity((needs,), ratio, "-log(z)", 0.0)
    if not 0.0 < high - low < math.inf:
        return None
    return ShortDensity((needs,), None, "", -math.log(high - low))


def _exponential(x: str, rate: Parameter) -> ShortDensity | None:
    needs, text = f"0.0 <= {x} < inf", f"-{_text(rate)} * {x}"
    if isinstance(rate, str):
        return ShortDensity((needs, _is_positive(rate)), None, f"{text} + log({rate})", 0.0)
    return ShortDensity((needs,), None, text, math.log(rate)) if rate > 0.0 else None


def _gamma(x: str, shape: Parameter, scale: Parameter) -> ShortDensity | None:
    if isinstance(shape, str) or not 0.0 < shape <= _MOST:
        return None
    needs = [f"0.0 < {x} < inf"]
    power = _logarithm(shape - 1.0, x) if shape != 1.0 else ""
    text = f"{power} - {x} / {_text(scale)}".lstrip()
    constant = -math.lgamma(shape)
    if isinstance(scale, str):
        needs.append(_is_positive(scale))
        text += f" - {_number(shape)} * log({scale})"
    elif scale > 0.0:
        constant -= shape * math.log(scale)
    else:
        return None
    return ShortDensity(tuple(needs), None, text, constant)


def _inv_gamma(x: str, shape: Parameter, scale: Parameter) -> ShortDensity | None:
    if isinstance(shape, str) or not 0.0 < shape <= _MOST:
        return None
    needs = [f"0.0 < {x} < inf"]
    text = f"-{_number(shape + 1.0)} * log({x}) - {_text(scale)} / {x}"
    constant = -math.lgamma(shape)
    if isinstance(scale, str):
        needs.append(_is_positive(scale))
        text += f" + {_number(shape)} * log({scale})"
    elif scale > 0.0:
        constant += shape * math.log(scale)
    else:
        return None
    return ShortDensity(tuple(needs), None, text, constant)


def _beta(x: str, a: Parameter, b: Parameter) -> ShortDensity | None:
    if isinstance(a, str) or isinstance(b, str) or not (0.0 < a <= _MOST and 0.0 < b <= _MOST):
        return None
    parts = []
    if a != 1.0:
        parts.append(_logarithm(a - 1.0, x))
    if b != 1.0:
        parts.append(_logarithm(b - 1.0, f"-{x}", "log1p"))
    return ShortDensity((f"0.0 < {x} < 1.0",), None, " + ".join(parts), -log_beta(a, b))


def _dirichlet(weights: tuple[str, ...], alpha: list[float]) -> ShortDensity:
    parts = [_logarithm(a - 1.0, w) for a, w in zip(alpha, weights, strict=True) if a != 1.0]
    needs = [f"0.0 < {w}" for w in weights]
    needs.append(f"abs({' + '.join(weights)} - 1.0) <= {SIMPLEX_TOLERANCE}")
    constant = math.lgamma(sum(alpha)) - math.fsum(map(math.lgamma, alpha))
    return ShortDensity(tuple(needs), None, " + ".join(parts), constant)


def _are_concentrations(alpha: Any, size: int) -> bool:
    return (
        isinstance(alpha, (list, tuple, np.ndarray))
        and len(alpha) == size
        and all(isinstance(a, _NUMBERS) and a > 0.0 for a in alpha)
        and sum(alpha) <= _MOST
    )


def _logarithm(factor: float, x: str, function: str = "log") -> str:
    return f"{function}({x})" if factor == 1.0 else f"{_number(factor)} * {function}({x})"


def _number(x: float) -> str:
    return repr(x) if x >= 0.0 else f"({x!r})"


def _text(parameter: Parameter) -> str:
    return parameter if isinstance(parameter, str) else _number(parameter)


def _is_positive(name: str) -> str:
    return f"0.0 < {name} < inf"


_TEXTS: dict[type[Distribution], Callable[..., ShortDensity | None]] = {
    normal: _normal,
    uniform: _uniform,
    exponential: _exponential,
    gamma: _gamma,
    inv_gamma: _inv_gamma,
    beta: _beta,
    dirichlet: _dirichlet,
}
