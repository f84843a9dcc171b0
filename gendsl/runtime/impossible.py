"""What is said of choices whose density is 0."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import Any, NoReturn

import numpy as np

from gendsl.address import Path, format_address
from gendsl.distributions import Distribution
from gendsl.distributions.factors import factor
from gendsl.errors import GenDSLError, NaNError, ValueTypeError, ZeroProbabilityError
from gendsl.interface import Trace
from gendsl.runtime.records import Record, other_shape


class ZeroProbability(BaseException):
    """Raised inside a body to stop it where a kernel's proposal has left the support.

    Not an `Exception`, so that an `except Exception` in a user's body doesn't catch it.
    """

    def __init__(self, path: Path, distribution: Distribution, value: Any) -> None:
        super().__init__(path)
        self.path = path
        self.distribution = distribution
        self.value = value

    @property
    def reason(self) -> str:
        """Why a proposal is rejected, in a few words."""
        where = format_address(self.path)
        if is_possible(self.distribution, self.value):
            return f"density 0 at {where}: it underflows"
        return f"out of support at {where}"

    def __str__(self) -> str:
        return why_impossible(self.distribution, self.value)


def is_possible(distribution: Distribution, value: Any) -> bool:
    """Whether a value lies in the support, although its density is 0."""
    try:
        return bool(distribution.support.contains(value))
    except (TypeError, ValueError):
        return False


def why_impossible(distribution: Distribution, value: Any) -> str:
    """Why the log density of a value is -inf."""
    if type(distribution) is factor and value is True:
        return "the log weight of a factor is -inf"
    shape = other_shape(distribution, value)
    if shape is not None:
        return shape
    if is_possible(distribution, value):
        return f"the density of {distribution!r} at {value!r} underflows to 0"
    return f"{value!r} is outside the support of {distribution!r}"


def refuse_start(trace: Trace) -> NoReturn:
    """Raise for what no chain can start from: a trace of density 0, or infinite, or something else."""
    if not isinstance(trace, Trace):
        raise ValueTypeError(
            f"a chain starts from a trace, got {trace!r}", fix="pass model.generate(args, observations).trace"
        )
    path, value = next(iter(trace.impossible.items()), (None, None))
    if path is not None:
        record = getattr(trace, "records", {}).get(path)
        why = f"{value!r} is impossible" if record is None else why_impossible(record[0], value)
        problem = f"{why}, so the density is zero"
    elif trace.log_prob == -inf:
        problem = "the log densities of its choices are finite and sum to -inf: they are too large"
    else:
        problem = f"the log density is {trace.log_prob}: a choice lies where its density is infinite"
    raise ZeroProbabilityError(
        f"a chain can't start from this trace: {problem}",
        address=path,
        fix="look for a wrong or missing observation (NaN?), or give other starting values with `init`",
    )


def refuse_nan(trace: Trace) -> None:
    """Raise if an observation of a trace is NaN, or has one among its entries.

    Raises:
        NaNError: with the address of the first.
    """
    observed = trace.observed
    for path, value in trace.impossible.items():
        if path in observed and _has_nan(value):
            what = "an observation is" if np.ndim(value) == 0 else "entries of an observation are"
            raise NaNError(
                f"{what} NaN, which no choice can be",
                address=path,
                fix="leave out what is missing: a choice that is not given is latent, and drawn; give the "
                "others by their addresses, {('x', 0): ..., ('x', 2): ...}",
            )


def _has_nan(value: Any) -> bool:
    try:
        return bool(np.isnan(value).any())
    except TypeError:
        return False


def blame_given(error: Exception, records: Mapping[Path, Record]) -> None:
    """Say in an error of a program's body which value before it was impossible; the first, if there is one.

    A program that is given k = -3 may fail where it uses k, and what is said there is not the reason.

    Args:
        records: the choices that were made before the error.
    """
    for path, (distribution, value, score) in records.items():
        if score == -inf:
            why = f"{format_address(path)} is impossible: {why_impossible(distribution, value)}"
            if isinstance(error, GenDSLError):
                error.fix = why if error.fix is None else f"{error.fix}; but first, {why}"
            else:
                error.add_note(f"gendsl: {why}")
            return
