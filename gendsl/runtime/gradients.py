"""Gradients of log_prob: the body runs once on autograd's boxes, its calls lifted to autograd's functions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import autograd.numpy as anp
import numpy as np
from autograd.tracer import Box, getval, isbox

from gendsl.address import Path
from gendsl.choices import ChoiceMap
from gendsl.distributions import Distribution
from gendsl.distributions.columns import COLUMN_DTYPES, MADE
from gendsl.distributions.compound import iid
from gendsl.distributions.made import UNDECIDED, partials
from gendsl.distributions.scipy_frozen import Duck
from gendsl.errors import GenDSLError, LostDerivativeError, NaNError, traceback_location
from gendsl.runtime.differentiable import WITHOUT_GRADIENT, Differentiable, tells_of_box
from gendsl.runtime.executions import Execution
from gendsl.runtime.followed import FollowedVectors, score_plate
from gendsl.runtime.lowering.build import Compiled
from gendsl.runtime.lowering.helpers import Helper
from gendsl.runtime.lowering.tables import NotColumnsError
from gendsl.runtime.records import Record, Records
from gendsl.runtime.tape import Tape
from gendsl.selection import Selection

if TYPE_CHECKING:
    from gendsl.runtime.generative import GenFunction

_DIFFERENTIABLE = Differentiable()
_TOLERANCE = 1e-6  # between a log probability computed with and without autograd


class Differentiate(Execution):
    """Choices have values that autograd may follow, and their scores are terms of a tape."""

    slice = slice
    lift = staticmethod(_DIFFERENTIABLE.lift)
    put = staticmethod(_DIFFERENTIABLE.put)
    inplace = staticmethod(_DIFFERENTIABLE.inplace)

    vectors = FollowedVectors

    @staticmethod
    def table(container: Any, depth: int, slot: int) -> Any:
        """What array code looks up in."""
        return container

    def helper(self, number: int, function: Any, *omitted: str) -> tuple[Any, ...]:
        """What a call of a function that array code stands for finds; see `compiler.helpers`."""
        helper: Helper = self.function.compiled.program.helpers[number]
        return helper.values(function, omitted)

    plated = 0
    """How many choices were scored in plates, and have no records."""

    def __init__(self, tape: Tape) -> None:
        super().__init__()
        self.tape = tape

    def plate(self, number: int, sources: Callable[[], tuple[Any, ...]], *steps: Any) -> bool:
        """Score the choices of a loop at once; False, and nothing is done, if they must come one by one."""
        plate = self.function.compiled.plates[number]
        try:
            score, size = score_plate(plate, self.prefix, sources(), steps, self.columns, self.tape)
        except Exception:  # the iterations, one by one, meet it where it belongs
            return False
        self.score += score
        self.plated += size
        return True

    def columns(self, paths: Any, family: Any) -> Any:
        """The values of the choices at ColumnPaths or NestPaths, all from a family."""
        made = [self.column(run.before, run.indices, run.after, family) for run in paths.runs]
        return made[0] if len(made) == 1 else anp.concatenate(made)

    def column(self, before: Path, indices: range, after: Path, family: Any) -> Any:
        """The values of the choices at (*before, i, *after), all from a family.

        Raises:
            NotColumnsError: they must be looked up one by one.
        """
        raise NotColumnsError

    def body_of(self, compiled: Compiled) -> Callable[..., Any]:
        return compiled.differentiable

    def value(self, path: Path, distribution: Distribution) -> Any:
        """The value of a choice."""
        raise TypeError(f"{type(self).__name__} must define value")

    def choose(self, path: Path, distribution: Distribution) -> Record:
        value = self.value(path, distribution)
        return distribution, value, self.scored(distribution, value)

    def scored(self, distribution: Distribution, value: Any) -> float:
        """The score of a choice, which goes onto the tape."""
        law = getattr(distribution, "dist", distribution) if type(distribution) is iid else distribution
        family = type(law)
        if family in MADE:
            arguments = [value, *[getattr(law, name) for name in family.parameters]]
            boxed = [i for i, argument in enumerate(arguments) if isinstance(argument, Box)]
            if not boxed:
                return float(distribution.logpdf(value))
            plain = [a._value if isinstance(a, Box) else a for a in arguments]
            score = self._partial(distribution, family, arguments, plain, boxed)
            if score is not None:
                return score
        owner = distribution.thing if isinstance(distribution, Duck) else distribution
        term = self.lift(owner.logpdf)(value)
        if isbox(term):
            self.tape.add(term)
        return float(getval(term))

    def _partial(
        self, distribution: Any, family: Any, arguments: list[Any], plain: list[Any], boxed: list[int]
    ) -> float | None:
        """The score of a choice, put onto the tape by its partial derivatives; None where that can't be."""
        shape = () if type(plain[0]) is float else np.shape(plain[0])
        if shape != ((distribution.n,) if type(distribution) is iid else ()):
            return None
        try:
            if shape:
                with np.errstate(all="ignore"):
                    value, *slopes = partials(family, plain, boxed)
            else:  # functions of math, which warn of nothing
                value, *slopes = partials(family, plain, boxed)
        except UNDECIDED:
            return None
        score = float(np.broadcast_to(value, shape).sum() if shape else value)
        if not math.isfinite(score):
            return None
        for i, partial in zip(boxed, slopes, strict=True):
            self.tape.seed(arguments[i], np.broadcast_to(partial, shape) if shape else partial)
        return score


class _AtOldValues(Differentiate):
    """Every choice has its old value, boxed where a gradient is wanted."""

    def __init__(self, tape: Tape, old: Records, boxed: dict[Path, Any]) -> None:
        super().__init__(tape)
        self.old = old
        self.boxed = boxed

    def value(self, path: Path, distribution: Distribution) -> Any:
        return self.boxed[path] if path in self.boxed else self.old[path][1]

    def column(self, before: Path, indices: range, after: Path, family: Any) -> Any:
        paths = [(*before, i, *after) for i in indices]
        if any(path in self.boxed for path in paths):
            return anp.array([self.boxed[path] for path in paths])
        return old_column([self.old[path] for path in paths], family)


def old_column(records: list[Record], family: Any) -> Any:
    """The values of records of one family as an array.

    Raises:
        NotColumnsError: they are of several.
    """
    if any(type(record[0]) is not family for record in records):
        raise NotColumnsError
    return np.array([record[1] for record in records], COLUMN_DTYPES[family])


@contextmanager
def followed() -> Iterator[None]:
    """Errors of functions that were given boxes and know nothing of them, as the loss of a derivative.

    Raises:
        LostDerivativeError: the program does what autograd can't follow.
    """
    try:
        yield
    except GenDSLError:
        raise
    except (TypeError, ValueError, AttributeError, NotImplementedError, AssertionError) as error:
        if not (tells_of_box(error) or isinstance(error, NotImplementedError) or _is_of_autograd(error)):
            raise
        raise LostDerivativeError(
            f"a derivative can't be followed: {error}",
            location=traceback_location(error.__traceback__),
            fix="use operators and the functions of numpy and math that autograd differentiates, in plain "
            f"`def` functions; or {WITHOUT_GRADIENT}",
        ) from error


def _is_of_autograd(error: BaseException) -> bool:
    """Whether an error was raised by autograd itself."""
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    return last is not None and str(last.tb_frame.f_globals.get("__name__")).startswith("autograd.")


def gradients(
    function: GenFunction, args: tuple[Any, ...], records: Records, selection: Selection
) -> ChoiceMap:
    """The gradient of the log probability of `records` with respect to the selected choices.

    Raises:
        LostDerivativeError: a choice is discrete, or the program does what autograd can't follow.
        NaNError: a derivative is NaN.
    """
    paths = [path for path in records if path in selection]
    for path in paths:
        if records[path][0].support.discrete:
            raise LostDerivativeError(
                "a discrete choice has no gradient", address=path, fix="select continuous choices only"
            )
    if not paths:
        return ChoiceMap._from_flat({})
    with Tape() as tape, followed():
        boxed = {path: tape.variable(np.asarray(records[path][1], dtype=float)[()]) for path in paths}
        execution = _AtOldValues(tape, records, boxed)
        execution.run(function.called_with(args))
        recorded = math.fsum(record[2] for record in records.values())
        check_score(execution.score, recorded)
        found = tape.gradients(boxed.values())
    for path, gradient in zip(paths, found, strict=True):
        if np.any(np.isnan(gradient)):
            raise NaNError(
                "the gradient of the log probability is NaN",
                address=path,
                fix="look for 0 * inf or inf - inf in what the program computes from this choice",
            )
    return ChoiceMap._from_flat(
        {
            path: float(gradient) if np.ndim(gradient) == 0 else np.asarray(gradient)
            for path, gradient in zip(paths, found, strict=True)
        }
    )


def check_score(score: float, recorded: float) -> None:
    """Raise if the program, run on boxes, computed another log probability than the trace has."""
    if math.isfinite(recorded) and not math.isclose(score, recorded, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE):
        raise LostDerivativeError(
            f"the log probability is {recorded}, but {score} when autograd follows the program",
            fix="don't change an array under one name and use it under another: assign it to one name",
        )
