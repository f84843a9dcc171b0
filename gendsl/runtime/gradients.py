"""Gradients of log_prob: the body runs once on autograd's boxes, its calls lifted to autograd's functions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import autograd.numpy as anp
import numpy as np
from autograd.core import make_vjp
from autograd.tracer import getval, isbox

from gendsl.address import Path
from gendsl.choices import ChoiceMap
from gendsl.compiler.build import Compiled
from gendsl.distributions import Distribution
from gendsl.distributions.scipy_frozen import Duck
from gendsl.errors import GenDSLError, LostDerivativeError, NaNError, traceback_location
from gendsl.interface import CallRequest, GenerativeFunction
from gendsl.runtime.differentiable import Differentiable
from gendsl.runtime.executions import Execution
from gendsl.runtime.records import Record, Records
from gendsl.selection import Selection

_DIFFERENTIABLE = Differentiable()
_TOLERANCE = 1e-6  # between a log probability computed with and without autograd


class _Differentiate(Execution):
    """Every choice has its old value, boxed where a gradient is wanted."""

    slice = slice
    lift = staticmethod(_DIFFERENTIABLE.lift)
    put = staticmethod(_DIFFERENTIABLE.put)
    inplace = staticmethod(_DIFFERENTIABLE.inplace)

    def __init__(self, old: Records, boxed: dict[Path, Any]) -> None:
        super().__init__()
        self.old = old
        self.boxed = boxed

    def body_of(self, compiled: Compiled) -> Callable[..., Any]:
        return compiled.differentiable

    def choose(self, path: Path, distribution: Distribution) -> Record:
        value = self.boxed[path] if path in self.boxed else self.old[path][1]
        owner = distribution.thing if isinstance(distribution, Duck) else distribution
        return distribution, value, self.lift(owner.logpdf)(value)


def gradients(
    function: GenerativeFunction, args: tuple[Any, ...], records: Records, selection: Selection
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
    values = [np.asarray(records[path][1], dtype=float)[()] for path in paths]

    def log_prob(boxes: Any) -> Any:
        execution = _Differentiate(records, dict(zip(paths, boxes, strict=True)))
        execution.run(CallRequest(function, args, {}))
        score = execution.score
        # autograd warns of a result that depends on nothing; here it may, where densities are flat
        return score if isbox(score) else score + 0.0 * anp.sum(boxes[0])

    try:
        backward, score = make_vjp(log_prob, values)
        _check_score(float(getval(score)), records)
        found = backward(np.ones(()))
    except GenDSLError:
        raise
    except (TypeError, ValueError, AttributeError, NotImplementedError) as error:
        if "Box" not in f"{error} {error.__cause__}" and not isinstance(error, NotImplementedError):
            raise
        raise LostDerivativeError(
            f"a derivative can't be followed: {error}",
            location=traceback_location(error.__traceback__),
            fix="use operators and the functions of numpy and math that autograd differentiates, in plain "
            "`def` functions",
        ) from error
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


def _check_score(score: float, records: Records) -> None:
    """Raise if the program, run on boxes, computed another log probability than the trace has."""
    recorded = math.fsum(record[2] for record in records.values())
    if math.isfinite(recorded) and not math.isclose(score, recorded, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE):
        raise LostDerivativeError(
            f"the log probability is {recorded}, but {score} when autograd follows the program",
            fix="don't change an array under one name and use it under another: assign it to one name",
        )
