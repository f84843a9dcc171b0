"""The methods of NumPy's generators whose draws texts make, with what their parameters must be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gendsl.compiler.hir import Const, Expr, Op, both


def _compared(name: str, bound: float) -> Callable[[Expr], Expr]:
    return lambda x: Op(name, (x, Const(bound, "f")), "b")


def not_negative(x: Expr) -> Expr:
    """x >= 0, and not -0.0, which NumPy does not take either."""
    signed = Op("copysign", (Const(1.0, "f"), x), "f")
    return both(_compared("ge", 0.0)(x), _compared("gt", 0.0)(signed))


def _part(x: Expr) -> Expr:
    return both(_compared("ge", 0.0)(x), _compared("le", 1.0)(x))


_ANY, _POSITIVE = None, _compared("gt", 0.0)
_RATE_MAX = 9.2e18
"""A little less than what NumPy takes; a larger one fails."""


def _rate(x: Expr) -> Expr:
    return both(not_negative(x), _compared("le", _RATE_MAX)(x))


def _chance(x: Expr) -> Expr:
    return both(_POSITIVE(x), _compared("le", 1.0)(x))


@dataclass(frozen=True)
class Parameter:
    """A parameter of a method: its name, the kind of its values, a test of its domain, and its default."""

    name: str
    kind: str = "f"
    domain: Callable[[Expr], Expr] | None = None
    default: float | None = None


@dataclass(frozen=True)
class Method:
    """A method of a generator, as a text calls it: all parameters, and the kind of what it draws."""

    parameters: tuple[Parameter, ...] = ()
    result: str = "f"


_LOC = Parameter("loc", default=0.0)
_SCALE = Parameter("scale", "f", not_negative, 1.0)
METHODS: dict[str, Method] = {
    "random": Method(),
    "standard_normal": Method(),
    "standard_exponential": Method(),
    "standard_cauchy": Method(),
    "standard_gamma": Method((Parameter("shape", "f", not_negative),)),
    "standard_t": Method((Parameter("df", "f", _POSITIVE),)),
    "normal": Method((_LOC, _SCALE)),
    "laplace": Method((_LOC, _SCALE)),
    "gumbel": Method((_LOC, _SCALE)),
    "logistic": Method((_LOC, _SCALE)),
    "uniform": Method((Parameter("low", default=0.0), Parameter("high", default=1.0))),
    "exponential": Method((_SCALE,)),
    "rayleigh": Method((_SCALE,)),
    "gamma": Method((Parameter("shape", "f", not_negative), _SCALE)),
    "chisquare": Method((Parameter("df", "f", _POSITIVE),)),
    "beta": Method((Parameter("a", "f", _POSITIVE), Parameter("b", "f", _POSITIVE))),
    "lognormal": Method((Parameter("mean", default=0.0), Parameter("sigma", "f", not_negative, 1.0))),
    "vonmises": Method((Parameter("mu"), Parameter("kappa", "f", not_negative))),
    "weibull": Method((Parameter("a", "f", not_negative),)),
    "pareto": Method((Parameter("a", "f", _POSITIVE),)),
    "power": Method((Parameter("a", "f", _POSITIVE),)),
    "wald": Method((Parameter("mean", "f", _POSITIVE), Parameter("scale", "f", _POSITIVE))),
    "poisson": Method((Parameter("lam", "f", _rate, 1.0),), "i"),
    "binomial": Method(
        (Parameter("n", "i", lambda n: Op("ge", (n, Const(0, "i")), "b")), Parameter("p", "f", _part)), "i"
    ),
    "geometric": Method((Parameter("p", "f", _chance),), "i"),
    "integers": Method((Parameter("low", "i"), Parameter("high", "i")), "i"),
}  # fmt: skip
"""The methods whose draws a text makes, one number at a call."""
