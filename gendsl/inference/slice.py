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
from gendsl.errors import KernelError, NaNError
from gendsl.inference.kernel import Kernel
from gendsl.inference.scan import Scan, as_target, check_scan, edited, visited
from gendsl.inference.structure import kernel_maker
from gendsl.runtime.trace import ReferenceTrace, check_start
from gendsl.supports import Integers, Support

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
        return _update(trace, path, float(width), int(max_steps), rng)

    def step(trace: ReferenceTrace, rng: np.random.Generator) -> tuple[ReferenceTrace, SliceInfo]:
        check_start(trace)
        with np.errstate(all="ignore"):
            after, count, evaluations = visited(trace, selection, scan, skip_absent, rng, visit)
        return after, SliceInfo(True, count, evaluations)

    return Kernel(step, name or f"slice {selection!r}", reversible=scan == "random")


def _update(
    trace: ReferenceTrace, path: Path, width: float, max_steps: int, rng: np.random.Generator
) -> tuple[ReferenceTrace, int]:
    """The trace with one choice updated, and at how many values the density was found."""
    support = trace.records[path][0].support
    if isinstance(support, Integers):
        line = _Line(trace, path, lambda x: x)
        start = trace.records[path][1]
        whole = sample_integer(line, start, max(2, math.ceil(width)), max_steps, rng)
        return line.traced(whole), line.evaluations
    if support.discrete:
        raise KernelError(
            f"slice_sampling is for continuous choices and integers, and this one's support is {support!r}",
            address=path,
            fix="use gibbs or mh",
        )
    coordinates = np.asarray(support.coordinates(trace.records[path][1]), dtype=float)
    order = range(support.dim) if support.dim == 1 else rng.permutation(support.dim).tolist()
    evaluations = 0
    for i in order:
        line = _Line(trace, path, _moved(support, coordinates, i))
        chosen = sample_real(line, float(coordinates[i]), width, max_steps, rng)
        trace = line.traced(chosen)
        coordinates[i] = chosen
        evaluations += line.evaluations
    return trace, evaluations


def _moved(support: Support, coordinates: np.ndarray, i: int) -> Callable[[float], Any]:
    """The value with coordinate i at x."""
    if support.shape == ():
        return lambda x: x
    before = coordinates.copy()

    def moved(x: float) -> Any:
        point = before.copy()
        point[i] = x
        return support.from_coordinates(point)

    return moved


class _Line:
    """The density of a trace along a line of values of one choice.

    Attributes:
        evaluations: at how many values the density was found.
    """

    def __init__(self, trace: ReferenceTrace, path: Path, value_at: Callable[[Any], Any]) -> None:
        self.trace = trace
        self.path = path
        self.value_at = value_at
        self.evaluations = 0
        self.last: tuple[Any, ReferenceTrace | None] = (None, trace)
        self.local = trace.local_density(path)

    def __call__(self, x: Any) -> float:
        """log p(x) relative to the start; -inf outside the support and where the body can't be computed."""
        self.evaluations += 1
        found = None if self.local is None else self.local(self.value_at(x))
        if found is not None:
            self.last = x, None
            return found
        edit = edited(self.trace, {self.path: self.value_at(x)}, "slice_sampling")
        if edit is None:
            return -math.inf
        weight = edit.log_weight
        if weight != weight or weight == math.inf:
            raise NaNError(
                f"the log density at {x} is {weight} relative to that of the current trace",
                address=self.path,
                fix="look for a choice on the boundary of its support, where its density is infinite",
            )
        self.last = x, edit.trace
        return weight

    def traced(self, x: Any) -> ReferenceTrace:
        """The trace at the point where the density was found last; the one at the start for any other."""
        last, trace = self.last
        if last is not x:
            return self.trace
        return self.local.edited(self.value_at(x)) if trace is None else trace  # type: ignore[union-attr]


def _level(at: At, rng: np.random.Generator) -> Callable[[Any], bool]:
    """Whether a point is in the slice {x: p(x) > u p(x0)}, for a uniform u."""
    u = rng.random()

    def inside(x: Any) -> bool:
        weight = at(x)
        return weight >= 0.0 or bool(u < math.exp(weight))

    return inside


def split(max_steps: int, rng: np.random.Generator) -> tuple[int, int]:
    """How often an interval may be extended on the left and on the right."""
    left = int(rng.integers(max_steps))
    return left, max_steps - 1 - left


def sample_real(at: At, start: float, width: float, max_steps: int, rng: np.random.Generator) -> float:
    """The next point of a chain on the real line (Neal 2003, figures 3 and 5)."""
    inside = _level(at, rng)
    low = start - width * rng.random()
    high = low + width
    left, right = split(max_steps, rng)
    while left > 0 and inside(low):
        low -= width
        left -= 1
    while right > 0 and inside(high):
        high += width
        right -= 1
    while True:
        x = low + (high - low) * rng.random()
        if inside(x):
            return x
        if x < start:
            low = x
        elif x > start:
            high = x
        else:  # the slice is narrower than the distance between floats
            return x


def sample_integer(at: At, start: int, width: int, max_steps: int, rng: np.random.Generator) -> int:
    """The same on the integers, with intervals [low, high) of `width` of them that grow by as many.

    Two intervals that adjoin must be joined by the same condition from either side, or the interval that two
    points of the slice lead to is not as probable from one as from the other, and a slice with gaps is
    sampled unevenly. On the line they have an end in common; here that is the first integer of the upper one.
    """
    inside = _level(at, rng)
    low = start - int(rng.integers(width))
    high = low + width  # not in the interval: what adjoins it on either side is asked at the same point
    left, right = split(max_steps, rng)
    while left > 0 and inside(low):
        low -= width
        left -= 1
    while right > 0 and inside(high):
        high += width
        right -= 1
    while True:
        x = int(rng.integers(low, high))
        if x == start:
            return start
        if inside(x):
            return x
        if x < start:
            low = x + 1
        else:
            high = x
