"""Traced calls of generative functions that `@gen` did not make: a user's own subclasses of the public class.

Such a function is asked through `generate` alone (see `GenerativeFunction`). Its choices are made one after
another, in program order: given those before, x_1, ..., x_(i-1), the next address is that of the next choice
of any trace that agrees with them, a draw is what `generate` gives there, and the log density of a value is

    log p(x_i | x_1, ..., x_(i-1)) = w(x_1, ..., x_i) - w(x_1, ..., x_(i-1)),

for w the log weight of `generate`. So a call is a sequence of choices from distributions, like the body of
a `@gen` function, and all operations and kernels take it for one. It costs a call of `generate` a choice.
"""

from __future__ import annotations

from math import inf, isclose
from typing import Any

import numpy as np
from autograd.tracer import isbox

from gendsl.address import Path
from gendsl.choices import choicemap, same_value
from gendsl.distributions import Distribution
from gendsl.errors import ArgumentError, LostDerivativeError, ProgramError
from gendsl.interface import Generated, GenerativeFunction, Trace
from gendsl.supports import Support

_TOLERANCE = 1e-6
_SEED = 0
"""What a trace is drawn from that is only looked at as far as it is given."""


class OtherChoice(Distribution):
    """The next choice of a call of a generative function, given those before it.

    Attributes:
        function, args: what is called, and with what.
        path: the address of the choice, within the call.
        before: the choices before it.
        log_before: their log weight.
        support: what kind of values it has.
        ready: a trace that was drawn with these choices before it, if there is one.
        sampled: the trace of the last draw.
        token: an object of its own: no two of these distributions are known to be the same.
    """

    __slots__ = ("args", "before", "function", "log_before", "path", "ready", "sampled", "support", "token")
    checks_support = True

    def __init__(
        self,
        function: GenerativeFunction,
        args: tuple[Any, ...],
        before: dict[Path, Any],
        log_before: float,
        trace: Trace,
        path: Path,
        *,
        is_drawn: bool,
    ) -> None:
        self.function = function
        self.args = args
        self.path = path
        self.before = before
        self.log_before = log_before
        self.support: Support = function.support_of(path, trace.choices[path])
        self.ready = trace if is_drawn else None
        self.sampled: Trace | None = None
        self.token = object()

    def __repr__(self) -> str:
        return f"<the choice {self.path!r} of {self.function.name}>"

    def sample(self, rng: np.random.Generator) -> Any:
        self.sampled = self.ready or generated(self.function, self.args, self.before, rng).trace
        return self.sampled.choices[self.path]

    def logpdf(self, x: Any) -> float:
        return self.given(x)[1]

    def given(self, x: Any) -> tuple[Generated, float]:
        """What `generate` gives with a value of the choice, and the value's log density."""
        if isbox(x):
            raise _lost(self.function)
        found = generated(self.function, self.args, {**self.before, self.path: x}, _SEED)
        # where those before are impossible the sum is -inf already, whatever the rest of it is
        return found, 0.0 if self.log_before == -inf else found.log_weight - self.log_before

    def settle(self, x: Any) -> tuple[Trace, float, bool]:
        """A trace with the value that the choice has got, its log weight, and whether the rest was drawn."""
        found, _ = self.given(x)
        sampled = self.sampled
        self.ready = self.sampled = None  # a record of the choice keeps no traces
        if sampled is not None and same_value(sampled.choices[self.path], x):
            return sampled, found.log_weight, True
        return found.trace, found.log_weight, False


def run_other(
    execution: Any, function: GenerativeFunction, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Make the choices of a call in an execution; what the call returns.

    Raises:
        ArgumentError: the call has keyword arguments.
        ProgramError: the function does not keep the contract of `GenerativeFunction`.
        LostDerivativeError: a gradient is taken through the call.
    """
    if kwargs:
        raise ArgumentError(
            f"{function.name} was called with {', '.join(kwargs)} as keywords, and `generate` takes a tuple",
            fix="give its arguments by position",
        )
    if any(map(_holds_box, args)):
        raise _lost(function)
    made: dict[Path, Any] = {}
    (trace, weight), is_drawn = generated(function, args, made, _SEED), False
    while True:
        path = next((path for path in trace.choices.paths() if path not in made), None)
        if path is None:
            break
        choice = OtherChoice(function, args, dict(made), weight, trace, path, is_drawn=is_drawn)
        value = execution.at(path, choice)
        if isbox(value):
            raise _lost(function)
        made[path] = value
        trace, weight, is_drawn = choice.settle(value)
    _check(function, trace, made, weight)
    return trace.retval


def generated(
    function: GenerativeFunction, args: tuple[Any, ...], given: dict[Path, Any], rng: Any
) -> Generated:
    """What `generate` of a generative function gives, looked at.

    Args:
        given: the first choices, in program order.

    Raises:
        ProgramError: it isn't a trace with what was given, and a log weight.
    """
    result = function.generate(args, choicemap(given), rng=rng)
    if not isinstance(result, tuple) or len(result) != 2 or not isinstance(result[0], Trace):
        raise ProgramError(
            f"`generate` of {function.name} gave {result!r}",
            fix="return Generated(trace, log_weight), where trace is a gendsl.Trace",
        )
    trace, weight = result
    choices = trace.choices
    for path, value in given.items():
        if path not in choices or not same_value(choices[path], value):
            raise ProgramError(
                f"`generate` of {function.name} gave a trace without a value that was given: {value!r}",
                address=path,
                fix="a trace must agree with all choices that `generate` is given",
            )
    if set(choices.paths()[: len(given)]) != given.keys():
        raise ProgramError(
            f"the choices of a trace of {function.name} are not in the order in which they are made: "
            f"{', '.join(map(repr, choices.paths()[:5]))}",
            fix="`trace.choices` keeps program order, and so must not depend on which choices are given",
        )
    return Generated(trace, float(weight))


def _check(function: GenerativeFunction, trace: Trace, made: dict[Path, Any], weight: float) -> None:
    """Raise unless the log weight of all choices is the log density of their trace."""
    if len(trace.choices) != len(made):
        raise ProgramError(
            f"two traces of {function.name} with the same choices differ in which choices there are",
            fix="the next address must depend on the arguments and the choices before it alone",
        )
    total = trace.log_prob
    if weight != total and not isclose(weight, total, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE):
        raise ProgramError(
            f"the log weight of `generate` of {function.name} is {weight!r} where all choices are given, and "
            f"the log probability of the trace is {total!r}",
            fix="draw what is not given from the prior, in program order: then the log weight of what is "
            "given is the sum of its log densities",
        )


def _holds_box(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(map(_holds_box, value))
    return bool(isbox(value))


def _lost(function: GenerativeFunction) -> LostDerivativeError:
    return LostDerivativeError(
        f"{function.name}(...) drops the derivative of a random choice that the gradient is taken of: it is "
        "a generative function of a class of your own, of whose derivatives nothing is known",
        fix="leave the choice out of the selection and update it by a kernel that needs no gradient "
        "(random_walk, slice_sampling, elliptical_slice, mh)",
    )
