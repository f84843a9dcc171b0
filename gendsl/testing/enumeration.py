"""A random number generator that runs through all that can happen, with its probability.

`enumerate_outcomes(run)` calls `run(rng)` once for each way that the comparisons with its random numbers
can come out. A uniform number is not drawn; it is an interval, cut in two where it is compared with
something inside it. What runs is the shipped code, samplers and acceptance steps included.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NoReturn, TypeVar

import numpy as np

from gendsl.errors import GenDSLError

Result = TypeVar("Result")

_MOST = 10_000  # outcomes of one random number that are gone through


class CannotEnumerateError(GenDSLError, TypeError):
    """A random number was used in a way that has no finite list of outcomes."""


class _Fork:
    """One point at which the future branches: the branches' probabilities, and which one is taken."""

    __slots__ = ("probabilities", "taken")

    def __init__(self, probabilities: list[float]) -> None:
        self.probabilities = probabilities
        self.taken = next(i for i, p in enumerate(probabilities) if p > 0.0)

    def advance(self) -> bool:
        """Go to the next branch that can happen; False if there is none."""
        for i in range(self.taken + 1, len(self.probabilities)):
            if self.probabilities[i] > 0.0:
                self.taken = i
                return True
        return False


class _Uniform:
    """scale * U + shift, for a U uniform on [low, high): an interval that comparisons narrow."""

    __slots__ = ("rng", "scale", "shift", "state")
    __array_ufunc__ = None  # NumPy's numbers leave comparisons and arithmetic to the methods below

    def __init__(self, rng: EnumeratingRng, state: list[float], scale: float, shift: float) -> None:
        self.rng = rng
        self.state = state  # [low, high], shared by all affine images of one U
        self.scale = scale
        self.shift = shift

    def _affine(self, scale: float, shift: float) -> _Uniform:
        return _Uniform(self.rng, self.state, self.scale * scale, self.shift * scale + shift)

    def __add__(self, other: Any) -> _Uniform:
        return self._affine(1.0, float(other))

    __radd__ = __add__

    def __sub__(self, other: Any) -> _Uniform:
        return self._affine(1.0, -float(other))

    def __rsub__(self, other: Any) -> _Uniform:
        return self._affine(-1.0, float(other))

    def __mul__(self, other: Any) -> _Uniform:
        return self._affine(float(other), 0.0)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> _Uniform:
        return self._affine(1.0 / float(other), 0.0)

    def __lt__(self, other: Any) -> bool:
        scale, bound = self.scale, -self.shift
        if isinstance(other, _Uniform) and other.state is self.state:
            scale, bound = scale - other.scale, bound + other.shift
        else:
            bound += float(other)
        if scale == 0.0:
            return bound > 0.0
        return self._below(bound / scale) is (scale > 0.0)

    # an interval's end has probability zero, so that < and <= agree
    __le__ = __lt__

    def __gt__(self, other: Any) -> bool:
        return not self.__lt__(other)

    __ge__ = __gt__

    def _below(self, bound: float) -> bool:
        """Whether U < bound."""
        low, high = self.state
        if bound != bound:
            raise CannotEnumerateError("a uniform number was compared with NaN")
        if bound <= low:
            return False
        if bound >= high:
            return True
        share = (bound - low) / (high - low)
        below = self.rng.fork([share, 1.0 - share]) == 0
        self.state[:] = (low, bound) if below else (bound, high)
        return below

    def __int__(self) -> int:
        ends = sorted(self.scale * end + self.shift for end in self.state)
        first, last = math.floor(ends[0]), math.ceil(ends[1]) - 1
        if first < 0 or last - first > _MOST:
            raise CannotEnumerateError(f"int() of a uniform number on [{ends[0]}, {ends[1]})")
        for whole in range(first, last):
            if self < whole + 1:
                return whole
        return last

    def _refuse(self, *_: Any) -> NoReturn:
        raise CannotEnumerateError(
            "a uniform number was used as it is, and it has infinitely many values; only models and kernels "
            "whose random numbers are compared with something can be enumerated"
        )

    __float__ = __bool__ = __eq__ = __ne__ = __pow__ = __rpow__ = __rtruediv__ = _refuse
    __hash__ = None  # type: ignore[assignment]


class EnumeratingRng(np.random.Generator):
    """A generator whose every use forks the future; made by `enumerate_outcomes`."""

    def __init__(self, forks: list[_Fork]) -> None:
        super().__init__(np.random.PCG64(0))
        self.forks = forks
        self.depth = 0

    def fork(self, probabilities: list[float]) -> int:
        """One of the branches with these probabilities."""
        if self.depth == len(self.forks):
            self.forks.append(_Fork(probabilities))
        fork = self.forks[self.depth]
        if fork.probabilities != probabilities:
            raise CannotEnumerateError("a second run with the same random numbers did something else")
        self.depth += 1
        return fork.taken

    def random(self, *args: Any, **kwargs: Any) -> Any:
        _single(args, kwargs)
        return _Uniform(self, [0.0, 1.0], 1.0, 0.0)

    def integers(self, low: Any, high: Any = None, *args: Any, **kwargs: Any) -> Any:
        _single(args, kwargs)
        start, stop = (0, int(low)) if high is None else (int(low), int(high))
        if stop - start > _MOST:
            raise CannotEnumerateError(
                f"rng.integers has {stop - start} outcomes here, too many to go through (mh draws such a "
                "number for a function that takes a generator; make its choice an auxiliary one of "
                "involutive(q, f))"
            )
        return start + self.fork([1.0 / (stop - start)] * (stop - start))

    def binomial(self, n: Any, p: Any, *args: Any, **kwargs: Any) -> Any:
        _single(args, kwargs)
        return self.fork([math.comb(n, k) * p**k * (1.0 - p) ** (n - k) for k in range(n + 1)])

    def multinomial(self, n: Any, pvals: Any, *args: Any, **kwargs: Any) -> Any:
        _single(args, kwargs)
        counts: list[int] = []
        left = int(n)
        for i in range(len(pvals) - 1):
            rest = float(np.sum(pvals[i:]))
            counts.append(int(self.binomial(left, min(1.0, float(pvals[i]) / rest) if rest else 0.0)))
            left -= counts[-1]
        return np.array([*counts, left])


def _single(args: Any, kwargs: Any) -> None:
    if args or kwargs:
        raise CannotEnumerateError("only single random numbers of the default kind can be enumerated")


def _refuse_sampler(name: str) -> Callable[..., NoReturn]:
    def refuse(self: EnumeratingRng, *args: Any, **kwargs: Any) -> NoReturn:
        raise CannotEnumerateError(
            f"rng.{name} has no finite list of outcomes that is known here",
            fix="an exact test needs discrete choices, and kernels that draw single uniform or whole "
            "numbers; assert_stationary tests the others",
        )

    return refuse


for _name in dir(np.random.Generator):
    if not _name.startswith("_") and _name not in vars(EnumeratingRng) and _name != "bit_generator":
        setattr(EnumeratingRng, _name, _refuse_sampler(_name))


def enumerate_outcomes(run: Callable[[Any], Result]) -> Iterator[tuple[Result, float]]:
    """Everything that `run(rng)` can return, each way of getting there once, with its probability.

    The probabilities add up to 1. `run` must be deterministic given its random numbers, and use single
    `random`, `integers`, `binomial` and `multinomial` numbers only; the first only in comparisons.

    Raises:
        CannotEnumerateError: a random number is used in another way.
    """
    forks: list[_Fork] = []
    while True:
        rng = EnumeratingRng(forks)
        result = run(rng)
        yield result, math.prod(fork.probabilities[fork.taken] for fork in forks)
        while forks and not forks[-1].advance():
            forks.pop()
        if not forks:
            return
