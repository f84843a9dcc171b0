"""Slice sampling of one coordinate at a time, by stepping out and shrinkage (Neal 2003, section 4).

From x draw a level y ~ uniform(0, p(x)). Place an interval of some width w around x at random, extend it by
w on either side until both ends lie below y, and draw from the interval uniformly until the density is at
least y; each draw that fails becomes the interval's end on its side. The number of extensions is limited to
m - 1, divided at random between the two sides, so that the probability of the interval is the same from
every point of the slice that it can lead to. Nothing is rejected, and any w is right.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gendsl.address import Path
from gendsl.compiler.moves import Updating, Wanted
from gendsl.errors import KernelError
from gendsl.inference import lines
from gendsl.inference.infos import Told
from gendsl.inference.kernel import Kernel
from gendsl.inference.lines import Line
from gendsl.inference.scan import Scan, as_target, check_scan, visited
from gendsl.inference.structure import kernel_maker
from gendsl.runtime.trace import ReferenceTrace, check_start
from gendsl.supports import Integers

At = Callable[[Any], float]
"""log p(x') - log p(x) of the trace with a coordinate at x'."""


@dataclass(frozen=True, slots=True)
class SliceInfo:
    """What happened in one step of slice sampling.

    Attributes:
        accepted: True, as nothing is proposed that could be rejected.
        visited: how many choices were updated.
        evaluations: at how many values the density was found.
    """

    accepted: bool
    visited: int
    evaluations: int


@kernel_maker
def slice_sampling(
    target: Any,
    *,
    width: float = 1.0,
    max_steps: int = 32,
    scan: Scan = "systematic",
    skip_absent: bool = False,
    name: str | None = None,
) -> Kernel:
    """A slice sampling kernel for continuous choices and for integers.

    A choice that is an array is updated one free coordinate after another (the weights of a simplex but the
    last, the lower triangle of a covariance matrix). Outside the support the density is zero, and so it is
    where the model raises an ArithmeticError or ValueError (math.sqrt of a negative number).

    Args:
        target: the choices: a selection, or an address.
        width: w, the first guess of how wide the slice is, in the units of the choice. Too narrow a guess
            costs steps out, too wide a one steps in; both are cheap.
        max_steps: m; an interval is at most m w wide.
        scan: whether a step updates every selected choice in turn ("systematic", which is not reversible)
            or one picked at random ("random").
        skip_absent: leave out selected addresses that the current trace doesn't have; an error if not.
        name: the name under which it is counted.

    For integers the same is done with whole numbers: the interval holds w of them, w rounded up
    and at least 2.

    Raises:
        KernelError: an argument is not as described; and in a step, a choice is neither continuous nor an
            integer, or its value decides which other choices exist.
        LabelError: in a step, another choice, which keeps its value, has another dimension or kind.
    """
    selection = as_target(target, "slice_sampling")
    check_scan(scan, "slice_sampling")
    if isinstance(width, bool) or not isinstance(width, (int, float, np.number)) or not 0 < width < math.inf:
        raise KernelError(f"slice_sampling got width={width!r}", fix="width must be positive and finite")
    if isinstance(max_steps, bool) or not isinstance(max_steps, (int, np.integer)) or max_steps < 1:
        raise KernelError(
            f"slice_sampling got max_steps={max_steps!r}", fix="max_steps must be a whole number, 1 or more"
        )

    def visit(trace: ReferenceTrace, path: Path, rng: np.random.Generator) -> tuple[ReferenceTrace, int]:
        return _visit(trace, path, rng, float(width), int(max_steps))

    def step(trace: ReferenceTrace, rng: np.random.Generator) -> tuple[ReferenceTrace, SliceInfo]:
        check_start(trace)
        with np.errstate(all="ignore"):
            after, count, evaluations = visited(trace, selection, scan, skip_absent, rng, visit)
        return after, SliceInfo(True, count, evaluations)

    title, wanted = f"slice {selection!r}", Wanted.of(selection)
    constants = {"width": float(width), "max_steps": int(max_steps)}
    return Kernel(
        step,
        name or title,
        reversible=scan == "random",
        move=None if wanted is None else Updating(title, wanted, _update, constants, scan, skip_absent),
        told=_told,
    )


def _told(step: Told) -> SliceInfo:
    return SliceInfo(True, step.visited, step.counted)


def _visit(
    trace: ReferenceTrace, path: Path, rng: np.random.Generator, width: float, max_steps: int
) -> tuple[ReferenceTrace, int]:
    """The trace with one choice updated, and at how many values the density was found."""
    line = Line(trace, path, "slice_sampling", undefined_is_zero=True)
    evaluations = _update(line, rng, width, max_steps)
    return line.trace, evaluations


def _update(line: Line, rng: np.random.Generator, width: float, max_steps: int) -> int:
    """Move a number along its line, or an array along those of its coordinates, given all other choices; at
    how many values the density was found.
    """
    evaluations = 0
    if lines.is_array(line):
        count = lines.begin_array(line)
        for i in rng.permutation(count).tolist():
            evaluations += _update_coordinate(line, i, rng, width, max_steps)
        lines.end_array(line)
    else:
        evaluations = _update_number(line, rng, width, max_steps)
    return evaluations


def _update_coordinate(line: Line, i: int, rng: np.random.Generator, width: float, max_steps: int) -> int:
    """Move a coordinate of an array; at how many values the density was found."""

    def at(x: float) -> float:
        return lines.log_weight_at(line, i, x)

    x, weight, evaluations = sample_real(at, lines.coordinate(line, i), width, max_steps, rng)
    lines.move_coordinate(line, i, x, weight)
    return evaluations


def _update_number(line: Line, rng: np.random.Generator, width: float, max_steps: int) -> int:
    """Move a number along its line; at how many values the density was found."""
    support = lines.support(line)
    if not isinstance(support, Integers) and support.discrete:
        raise KernelError(
            f"slice_sampling is for continuous choices and integers, and this one's support is {support!r}",
            address=line.path,
            fix="use gibbs or mh",
        )

    def at(x: Any) -> float:
        return lines.log_weight(line, x)

    start = lines.current(line)
    if isinstance(support, Integers):
        whole, weight, evaluations = sample_integer(at, start, max(2, math.ceil(width)), max_steps, rng)
        lines.move(line, whole, weight)
    else:
        x, weight, evaluations = sample_real(at, float(start), width, max_steps, rng)
        lines.move(line, x, weight)
    return evaluations


def _level(rng: np.random.Generator) -> Callable[[float], bool]:
    """Whether a point of a log weight is in the slice {x: p(x) > u p(x0)}, for a uniform u."""
    u = rng.random()

    def reached(weight: float) -> bool:
        lines.check_level(u, weight)  # also above 0: of large densities the difference is not exact
        return weight >= 0.0 or u < math.exp(weight)

    return reached


def split(max_steps: int, rng: np.random.Generator) -> tuple[int, int]:
    """How often an interval may be extended on the left and on the right."""
    left = int(rng.integers(max_steps))
    return left, max_steps - 1 - left


def _found_outwards(most: int, left: int) -> int:
    """At how many values the density was found as an interval grew to one side: until it was low, or the end.

    Args:
        most: how often it might grow.
        left: how often it still might.
    """
    return most - left + (1 if left > 0 else 0)


def sample_real(
    at: At, start: float, width: float, max_steps: int, rng: np.random.Generator
) -> tuple[float, float, int]:
    """The next point of a chain on the real line, its log weight, and at how many points that was found
    (Neal 2003, figures 3 and 5).
    """
    reached = _level(rng)
    low = start - width * rng.random()
    high = low + width
    most_left, most_right = left, right = split(max_steps, rng)
    while left > 0 and reached(at(low)):
        low -= width
        left -= 1
    while right > 0 and reached(at(high)):
        high += width
        right -= 1
    evaluations = _found_outwards(most_left, left) + _found_outwards(most_right, right)
    while True:
        x = low + (high - low) * rng.random()
        weight = at(x)
        evaluations += 1
        if reached(weight):
            return x, weight, evaluations
        if x < start:
            low = x
        elif x > start:
            high = x
        else:  # the slice is narrower than the distance between floats
            return x, weight, evaluations


def sample_integer(
    at: At, start: int, width: int, max_steps: int, rng: np.random.Generator
) -> tuple[int, float, int]:
    """The same on the integers, with intervals [low, high) of `width` of them that grow by as many.

    Two intervals that adjoin must be joined by the same condition from either side, or the interval that two
    points of the slice lead to is not as probable from one as from the other, and a slice with gaps is
    sampled unevenly. On the line they have an end in common; here that is the first integer of the upper one.
    """
    reached = _level(rng)
    low = start - int(rng.integers(width))
    high = low + width  # not in the interval: what adjoins it on either side is asked at the same point
    most_left, most_right = left, right = split(max_steps, rng)
    while left > 0 and reached(at(low)):
        low -= width
        left -= 1
    while right > 0 and reached(at(high)):
        high += width
        right -= 1
    evaluations = _found_outwards(most_left, left) + _found_outwards(most_right, right)
    while True:
        x = int(rng.integers(low, high))
        if x == start:
            return start, 0.0, evaluations
        weight = at(x)
        evaluations += 1
        if reached(weight):
            return x, weight, evaluations
        if x < start:
            low = x + 1
        else:
            high = x
