"""Lines: one choice of a trace takes other values, while all other choices stay as they are.

Kernels that update choices given all others are written in terms of these functions. They look into traces,
which the compiler does not read; so it knows what each of them means (`gendsl.compiler.front.lines`).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

import numpy as np

from gendsl.address import Path
from gendsl.distributions import Distribution
from gendsl.errors import KernelError, NaNError
from gendsl.inference.continuous import of_shape
from gendsl.inference.proposal import Proposal, propose_values
from gendsl.inference.scan import with_values
from gendsl.runtime.trace import ReferenceTrace
from gendsl.supports import Support


class Line:
    """A trace, and the choice of it that is given other values, until it is moved to one of them.

    Attributes:
        trace: the trace.
        path: the address of the choice.
        maker: the kernel, for errors.
        undefined_is_zero: whether the density is zero where the body can't be computed; an error if not.
        last: the value at which the density was found last.
        coordinates: the free coordinates of an array.
    """

    def __init__(self, trace: ReferenceTrace, path: Path, maker: str, *, undefined_is_zero: bool) -> None:
        self.trace, self.path, self.maker, self.undefined_is_zero = trace, path, maker, undefined_is_zero
        self.last = of_shape(support(self), current(self), path)
        self.coordinates = np.zeros(0)
        self.start()

    def start(self) -> None:
        """Find densities from the trace as it is now."""
        self._local = self.trace.local_density(self.path)
        self._tried: list[tuple[Any, Proposal]] = []

    def weight(self, value: Any) -> float:
        """The log density at a value, less that of the trace."""
        self.last = value
        found = None if self._local is None else self._local(value)
        if found is not None:
            return found
        proposal = with_values(self.trace, {self.path: value}, self.maker, self.undefined_is_zero)
        if proposal is None:
            return -inf
        self._tried.append((value, proposal))
        return float(proposal.log_weight)

    def weights(self, values: Sequence[Any]) -> list[float]:
        """`weight` at several values, 0 at that which the choice has."""
        found = None if self._local is None else self._local.at_all(values)
        if found is not None:
            return found
        now = current(self)
        return [0.0 if same(value, now) else self.weight(value) for value in values]

    def move(self, value: Any) -> None:
        """Let the choice have a value at which the density was found."""
        found = next((proposal for tried, proposal in reversed(self._tried) if tried is value), None)
        self.trace = (found or propose_values(self.trace, {self.path: value})).trace()


def same(one: Any, other: Any) -> bool:
    """Whether two values of one choice are equal."""
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return np.array_equal(one, other)
    return bool(one == other)


def current(line: Line) -> Any:
    """The value that the choice has."""
    return line.trace.records[line.path][1]


def support(line: Line) -> Support:
    """The support that the choice has, given all others."""
    return line.trace.records[line.path][0].support


def values(line: Line) -> Sequence[Any]:
    """All values of the choice.

    Raises:
        KernelError: it is continuous, or has infinitely many.
    """
    return values_of(line.trace.records[line.path][0], line.path, line.maker)


def values_of(distribution: Distribution, path: Path, maker: str) -> Sequence[Any]:
    """All values of a distribution, which a choice has; raises as `values` does."""
    found = distribution.support
    every = found.values if found.discrete else None
    if every is None:
        kind = "infinitely many values, or too many" if found.discrete else "a continuous distribution"
        fix = "use slice_sampling, mh or hmc"
        if found.discrete:
            fix = "use slice_sampling or mh; in place of an array make a choice of each of its entries"
        raise KernelError(
            f"{maker} enumerates the values of a choice, and this one has {kind}: {distribution!r}",
            address=path,
            fix=fix,
        )
    return every


def log_weight(line: Line, value: Any) -> float:
    """log p(x') - log p(x) of the trace with the choice at a value; -inf where the density is zero.

    Raises:
        NaNError: it is NaN or infinite.
    """
    weight = line.weight(value)
    if weight != weight or weight == inf:
        raise NaNError(
            f"the log density at {value} is {weight} relative to that of the current trace",
            address=line.path,
            fix="look for a choice on the boundary of its support, where its density is infinite",
        )
    return weight


def log_weights(line: Line, every: Sequence[Any]) -> list[float]:
    """The same at several values, which may be NaN or infinite; 0 at the value that the choice has."""
    return line.weights(every)


def move(line: Line, value: Any, weight: float) -> None:
    """Let the choice have a value at which the log weight was found to be this."""
    line.move(value)


def is_array(line: Line) -> bool:
    """Whether the choice is an array with free coordinates, which are moved one by one."""
    found = support(line)
    return found.shape != () and not found.discrete


def begin_array(line: Line) -> int:
    """Begin to move the free coordinates of an array; how many there are."""
    found = support(line)
    line.coordinates = np.asarray(found.coordinates(current(line)), dtype=float)
    return found.dim


def coordinate(line: Line, i: int) -> float:
    """A free coordinate that an array has."""
    return float(line.coordinates[i])


def log_weight_at(line: Line, i: int, x: float) -> float:
    """`log_weight` of the array with another number as a free coordinate."""
    point = line.coordinates.copy()
    point[i] = x
    return log_weight(line, support(line).from_coordinates(point))


def move_coordinate(line: Line, i: int, x: float, weight: float) -> None:
    """Let an array have a number as a free coordinate at which the log weight was found last, to be this."""
    line.coordinates[i] = x
    line.move(line.last)
    line.start()


def end_array(line: Line) -> None:
    """End moving the coordinates of an array."""


def check_tie(one: float, other: float, size: float) -> None:
    """Nothing, to the interpreter. A text leaves the step to it where a decision depends on rounding: where
    two numbers of some size that are compared are so near to each other.
    """


def check_level(level: float, weight: float) -> None:
    """The same where the logarithm of a uniform number is compared with a log weight."""
