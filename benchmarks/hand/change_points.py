"""Moves of the change points: segments are scored by prefix sums, so that no move looks at all data."""

from __future__ import annotations

from bisect import bisect_left, insort
from itertools import pairwise
from math import ceil, log
from typing import Any

import numpy as np

from .common import (
    BirthDeath,
    Hand,
    gamma_walk,
    log_normal,
    pick,
    prefix,
    toward,
    values,
)

CHANCES = (0.2, 0.2, 0.2, 0.15, 0.1, 0.1, 0.05)
MOST = 6

# --- levels between sorted change points ----------------------------------------------------------


class Steps(Hand):
    """`starts` has the number of the first datum of each segment, and of all data."""

    def __init__(self, trace: Any) -> None:
        (times,) = trace.args
        self.times, k = times.tolist(), trace["k"]
        self.where, self.levels = values(trace, "where", k), values(trace, "level", k + 1)
        self.noise = trace["noise"]
        y = np.array(values(trace, "y", len(times)))
        self.sums, self.squares = prefix(y), float(y @ y)
        self.starts = [0, *(bisect_left(self.times, w) for w in self.where), len(y)]


class StepsBirthDeath(Steps):
    looks_at = "few"

    def log_birth(self, k: int, spare: float, parts: tuple[float, ...], bounds: tuple[int, ...]) -> float:
        """The log ratio of a birth among k; `spare` is what the new uniform density is on."""
        level, first, second = parts
        start, middle, end = bounds
        birth, death = 0.5 if k else 1.0, 0.5 if k + 1 < MOST else 1.0
        prior = log(CHANCES[k + 1] / CHANCES[k] * 10.0 / spare) + log_normal(second, 0.0, 3.0)
        prior -= (first * first - level * level) / 18.0
        u = 0.5 * (second - first)
        auxiliary = log(2.0 * death / birth / (k + 1)) - log_normal(u, 0.0, 1.5)
        sums = self.sums
        squares = 0.0
        for new, a, b in ((first, start, middle), (second, middle, end)):
            squares += (new - level) * ((b - a) * (new + level) - 2.0 * (sums[b] - sums[a]))
        return float(prior + auxiliary - 0.5 * squares / self.noise**2)

    def propose(self, rng: np.random.Generator) -> float:
        where, levels, starts = self.where.copy(), self.levels.copy(), self.starts.copy()
        k = len(where)
        if rng.random() < (1.0 if k == 0 else 0.0 if k == MOST else 0.5):
            at, jump = 10.0 * rng.random(), 1.5 * rng.standard_normal()
            j = bisect_left(where, at)
            level, middle = levels[j], bisect_left(self.times, at)
            bounds = starts[j], middle, starts[j + 1]
            spare = 10.0 - (at if j < k else where[-1] if k else 0.0)
            where.insert(j, at)
            levels[j : j + 1] = level - jump, level + jump
            starts.insert(j + 1, middle)
            ratio = self.log_birth(k, spare, (level, level - jump, level + jump), bounds)
        else:
            j = pick(rng, k)
            (first, second), bounds = levels[j : j + 2], starts[j : j + 3]
            level = 0.5 * (first + second)
            at = where.pop(j)
            spare = 10.0 - (at if j < k - 1 else where[-1] if where else 0.0)
            levels[j : j + 2] = (level,)
            starts.pop(j + 1)
            ratio = -self.log_birth(k - 1, spare, (level, first, second), tuple(bounds))
        self.new = where, levels, starts
        return ratio

    def keep(self) -> None:
        self.where, self.levels, self.starts = self.new


class WalkLevels(Steps):
    looks_at = "few"

    def __init__(self, trace: Any) -> None:
        super().__init__(trace)
        self.pieces = [(b - a, self.sums[b] - self.sums[a]) for a, b in pairwise(self.starts)]
        self.about = self.squares_about(self.levels)

    def squares_about(self, levels: list[float]) -> float:
        pieces = zip(levels, self.pieces, strict=True)
        return self.squares + sum(level * (n * level - 2.0 * s) for level, (n, s) in pieces)

    def propose(self, rng: np.random.Generator) -> float:
        old = self.noise
        noise = toward(rng, old, 40.0)
        levels = [level + 0.2 * rng.standard_normal() for level in self.levels]
        about = self.squares_about(levels)
        self.new = levels, noise, about
        prior = -sum(a * a - b * b for a, b in zip(levels, self.levels, strict=True)) / 18.0
        prior -= 2.0 * (noise - old)
        likelihood = -0.5 * (about / noise**2 - self.about / old**2) - len(self.times) * log(noise / old)
        return prior + likelihood + gamma_walk(noise, old, 40.0)

    def keep(self) -> None:
        self.levels, self.noise, self.about = self.new


# --- counts whose rate jumps now and then ---------------------------------------------------------


class Jumps(Hand):
    """`at` are the times of the jumps in order, 0 and n at the ends; `rates` those from each on."""

    def __init__(self, trace: Any) -> None:
        (n,) = trace.args
        self.n = n
        self.sums = prefix(values(trace, "count", n))
        self.at = [0, *(t for t in range(1, n) if trace["jump", t]), n]
        self.rates = {t: trace["rate", t] for t in self.at[:-1]}


class ToggleJump(Jumps):
    """The prior of a new rate is its proposal."""

    looks_at = "few"

    def propose(self, rng: np.random.Generator) -> float:
        t = 1 + pick(rng, self.n - 1)
        i, rates = bisect_left(self.at, t), self.rates
        before = rates[self.at[i - 1]]
        if t in rates:
            fresh, sign, end = rates[t], -1.0, self.at[i + 1]
        else:
            fresh, sign, end = 2.0 * rng.standard_gamma(2.0), 1.0, self.at[i]
        self.new = t, i, fresh
        count = self.sums[end] - self.sums[t]
        return float(sign * (log(0.1 / 0.9) + count * log(fresh / before) - (end - t) * (fresh - before)))

    def keep(self) -> None:
        t, i, fresh = self.new
        if t in self.rates:
            del self.rates[t], self.at[i]
        else:
            self.rates[t] = fresh
            insort(self.at, t)


class ScaleRates(Jumps):
    def __init__(self, trace: Any) -> None:
        super().__init__(trace)
        self.pieces = [(b - a, self.sums[b] - self.sums[a]) for a, b in pairwise(self.at)]
        self.each = list(self.rates.values())

    def propose(self, rng: np.random.Generator) -> float:
        self.new = []
        ratio = 0.0
        for old, (length, count) in zip(self.each, self.pieces, strict=True):
            new = toward(rng, old, 25.0)
            self.new.append(new)
            ratio += (
                gamma_walk(new, old, 25.0) + (1.0 + count) * log(new / old) - (0.5 + length) * (new - old)
            )
        return ratio

    def keep(self) -> None:
        self.each = self.new


# --- change points in any order; a component is (at, after) ---------------------------------------


class Breaks(BirthDeath):
    """The prior of a new change point is its proposal."""

    looks_at = "few"
    most = 4

    def __init__(self, trace: Any) -> None:
        (self.n,) = trace.args
        k = trace["k"]
        self.sums = prefix(values(trace, "y", self.n))
        self.components = list(zip(values(trace, "at", k), values(trace, "after", k), strict=True))
        self.kept, self.log_likelihood = self.rescored((), (), self.components)

    def draw(self, rng: np.random.Generator) -> Any:
        return self.n * rng.random(), 2.0 * rng.standard_normal()

    def log_weight(self, component: Any, k: int) -> float:
        return 0.0

    def rescored(self, gone: Any, come: Any, proposed: Any) -> tuple[Any, float]:
        """Without what doesn't depend on the means; a datum at a change point follows it."""
        sums, total, end = self.sums, 0.0, self.n
        for at, mean in sorted(proposed, reverse=True):
            start = min(ceil(at), end)
            total += mean * (sums[end] - sums[start] - 0.5 * (end - start) * mean)
            end = start
        return None, 4.0 * total


class ShiftBreak(Breaks):
    """One change point comes later or earlier."""

    def propose(self, rng: np.random.Generator) -> float:
        k = len(self.components)
        self.new = None
        if not k:
            rng.random()
            return 0.0
        j, by = pick(rng, k), rng.standard_exponential() / 0.7
        sign = 1.0 if rng.random() < 0.5 else -1.0
        at, mean = self.components[j]
        moved = at + sign * by
        if not 0.0 <= moved <= self.n:
            return -np.inf
        proposed = self.components.copy()
        proposed[j] = moved, mean
        return self.score((), (), proposed)


MOVES = [
    ("steps", 0, StepsBirthDeath),
    ("steps", "walk_levels", WalkLevels),
    ("jumps", 0, ToggleJump),
    ("jumps", "scale_rates", ScaleRates),
    ("unordered", 0, Breaks),
    ("unordered", 1, ShiftBreak),
]
