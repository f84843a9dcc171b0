"""Moves of the point processes: the rate of bumps, and what events cause, are kept."""

from __future__ import annotations

from math import exp, log, sqrt
from typing import Any

import numpy as np

from .common import (
    INF,
    BirthDeath,
    Components,
    Hand,
    SplitMerge,
    array,
    gamma_walk,
    log_beta,
    log_normal,
    toward,
    values,
)

# --- counts in bins; a component is (at, height, width, its part of the means) --------------------


class Bumps(Components):
    """What is kept are the means of the counts."""

    def __init__(self, trace: Any) -> None:
        (edges,) = trace.args
        k = trace["k"]
        self.low, self.high = float(edges[0]), float(edges[-1])
        self.middles, self.lengths = 0.5 * (edges[1:] + edges[:-1]), np.diff(edges)
        self.counts = trace["counts"].astype(float)
        numbers = zip(*(values(trace, name, k) for name in ("at", "height", "width")), strict=True)
        self.components = [self.component(*each) for each in numbers]
        self.kept = trace["floor"] * self.lengths
        self.kept, self.log_likelihood = self.rescored((), tuple(self.components), self.components)

    def component(self, at: float, height: float, width: float) -> tuple[Any, ...]:
        z = self.middles - at
        z *= z
        z *= -0.5 / (width * width)
        np.exp(z, out=z)
        z *= height
        z *= self.lengths
        return at, height, width, z

    def rescored(self, gone: Any, come: Any, proposed: Any) -> tuple[Any, float]:
        mean = self.kept
        for component in gone:
            mean = mean - component[3]
        for component in come:
            mean = mean + component[3]
        return mean, float(self.counts @ np.log(mean) - mean.sum())


class BumpBirths(Bumps, BirthDeath):
    def draw(self, rng: np.random.Generator) -> Any:
        at = self.low + (self.high - self.low) * rng.random()
        return self.component(at, rng.standard_exponential() / 0.3, 0.2 * rng.standard_gamma(4.0))

    def log_weight(self, component: Any, k: int) -> float:
        return log(1.5 / (k + 1) * 0.2 / 0.3) + 0.1 * component[1]


class BumpSplits(Bumps, SplitMerge):
    ordered = True

    def propose(self, rng: np.random.Generator) -> float:
        if self.components:
            return super().propose(rng)
        rng.random()
        self.new = None
        return 0.0

    def draw(self, rng: np.random.Generator, one: Any) -> Any:
        return rng.standard_exponential() / 2.0, rng.beta(2.0, 2.0), 0.3 * rng.standard_normal()

    def split(self, one: Any, u: Any) -> tuple[Any, Any]:
        (at, height, width, _), (gap, share, log_ratio) = one, u
        factor = exp(log_ratio)
        return (
            self.component(at - gap, height * share, width * factor),
            self.component(at + gap, height * (1.0 - share), width / factor),
        )

    def merge(self, first: Any, second: Any) -> tuple[Any, Any]:
        height = first[1] + second[1]
        one = self.component(0.5 * (first[0] + second[0]), height, sqrt(first[2] * second[2]))
        return one, (0.5 * (second[0] - first[0]), first[1] / height, 0.5 * log(first[2] / second[2]))

    def log_weight(self, one: Any, u: Any, first: Any, second: Any, k: int) -> float:
        """The Jacobian is 2 for the places, the height, and 2 width for the widths."""
        if first[0] < self.low or second[0] > self.high:
            return -INF
        gap, share, log_ratio = u
        prior = log(1.5 / (k + 1) * 0.2 / (self.high - self.low))
        prior += 3.0 * log(one[2]) - (first[2] + second[2] - one[2]) / 0.2 - log(6.0 * 0.2**4)
        auxiliary = log(2.0) - 2.0 * gap + log_beta(share, 2.0, 2.0) + log_normal(log_ratio, 0.0, 0.3)
        return prior - auxiliary + log(4.0 * one[1] * one[2])


# --- clusters around parents ----------------------------------------------------------------------


class Clusters(Hand):
    """`owner` are the numbers of the points' parents; those of orphans are k."""

    def __init__(self, trace: Any) -> None:
        (self.n,) = trace.args
        k = trace["k"]
        self.points = np.array([array(trace, name, self.n) for name in ("px", "py")])
        self.parents = list(zip(values(trace, "x", k), values(trace, "y", k), strict=True))
        self.owner, self.spread = array(trace, "owner", self.n).astype(int), trace["spread"]

    def near(self, z: np.ndarray, spread: float) -> float:
        """The log density of points, from their distances to their parents."""
        densities = np.exp((-0.5 / spread**2) * z * z)
        densities *= 0.99 / (spread * sqrt(2.0 * np.pi))
        densities += 0.01 / 3.0
        return float(np.log(densities).sum())


class MoreOrFewer(Clusters):
    """The prior of a parent is his proposal."""

    looks_at = "part"

    @staticmethod
    def chance(k: int) -> float:
        return 0.5 if 0 < k < 3 else 1.0 if k == 0 else 0.0

    def log_more(self, k: int, z: np.ndarray, adopted: np.ndarray, p: np.ndarray) -> float:
        """The log ratio of one more than k, to whom these distances of orphans are, and who adopts these."""
        fit = self.near(z[:, adopted], self.spread) + 2.0 * log(3.0) * np.count_nonzero(adopted)
        ratio = fit - self.n * log((k + 2) / (k + 1)) + log((1.0 - self.chance(k + 1)) / self.chance(k))
        return float(ratio - np.log(np.where(adopted, p, 1.0 - p)).sum())

    def propose(self, rng: np.random.Generator) -> float:
        k, owner = len(self.parents), self.owner
        more = rng.random() < self.chance(k)
        parent = (rng.random(), rng.random()) if more else self.parents[-1]
        orphans = np.flatnonzero(owner >= (k if more else k - 1))
        z = self.points[:, orphans] - np.array(parent)[:, None]
        p = np.where(np.hypot(*z) < 0.3, 0.9, 0.05)
        new = owner.copy()
        if more:
            adopted = rng.random(len(orphans)) < p
            new[orphans] = np.where(adopted, k, k + 1)
            self.new = [*self.parents, parent], new
            return self.log_more(k, z, adopted, p)
        adopted = owner[orphans] == k - 1
        new[orphans] = k - 1
        self.new = self.parents[:-1], new
        return -self.log_more(k - 1, z, adopted, p)

    def keep(self) -> None:
        self.parents, self.owner = self.new


class NudgeParents(Clusters):
    def __init__(self, trace: Any) -> None:
        super().__init__(trace)
        owned = self.owner < len(self.parents)
        self.points, self.owner = self.points[:, owned], self.owner[owned]
        self.log_likelihood = self.score(self.parents, self.spread)

    def score(self, parents: Any, spread: float) -> float:
        return self.near(self.points - np.reshape(parents, (-1, 2)).T[:, self.owner], spread)

    def propose(self, rng: np.random.Generator) -> float:
        old = self.spread
        spread = toward(rng, old, 20.0)
        parents = [
            (x + 0.03 * rng.standard_normal(), y + 0.03 * rng.standard_normal()) for x, y in self.parents
        ]
        if not all(0.0 <= x <= 1.0 and 0.0 <= y <= 1.0 for x, y in parents):
            return -INF
        log_likelihood = self.score(parents, spread)
        self.new = parents, spread, log_likelihood
        prior = gamma_walk(spread, old, 20.0) + 3.0 * log(spread / old) - (spread - old) / 0.02
        return prior + log_likelihood - self.log_likelihood

    def keep(self) -> None:
        self.parents, self.spread, self.log_likelihood = self.new


# --- a process that excites itself ----------------------------------------------------------------


class Exciting(Hand):
    def __init__(self, trace: Any) -> None:
        (self.end,) = trace.args
        self.times, self.base = trace["times"], trace["base"]
        self.waits, self.left = np.diff(self.times, prepend=0.0), self.end - self.times
        self.excites = (trace["jump"], trace["decay"]) if trace["excites"] else None
        self.effect = self.effect_of(self.excites)
        self.log_likelihood = self.score(self.base, self.effect)

    def effect_of(self, excites: tuple[float, float] | None) -> tuple[Any, float]:
        """The rate at each time that earlier events cause, and its integral."""
        if excites is None:
            return 0.0, 0.0
        jump, decay = excites
        excited, found = 0.0, []
        for factor in np.exp(-decay * self.waits).tolist():
            excited *= factor
            found.append(excited)
            excited += 1.0
        caused = jump * float((1.0 - np.exp(-decay * self.left)).sum())
        return jump * decay * np.array(found), caused

    def score(self, base: float, effect: tuple[Any, float]) -> float:
        rates, caused = effect
        if caused == 0.0:
            logs = len(self.times) * log(base)
        else:
            logs = float(np.log(base + rates).sum())
        return logs - base * self.end - caused

    def log_prior(self, base: float) -> float:
        return log(base) - base / 0.5

    def propose_state(self, base: float, excites: Any, effect: tuple[Any, float]) -> float:
        log_likelihood = self.score(base, effect)
        self.new = base, excites, effect, log_likelihood
        return log_likelihood - self.log_likelihood + self.log_prior(base) - self.log_prior(self.base)

    def keep(self) -> None:
        self.base, self.excites, self.effect, self.log_likelihood = self.new


class ExciteOrNot(Exciting):
    """The mean rate stays: the Jacobian is 1 - jump, the priors of a jump over its proposal 3 jump."""

    looks_at = "few"  # from where the events excite, as they do in all but the first of the states of a chain

    def propose(self, rng: np.random.Generator) -> float:
        if self.excites is None:
            jump, _ = excites = rng.beta(1.0, 2.0), rng.standard_gamma(2.0)
            ratio = self.propose_state(self.base * (1.0 - jump), excites, self.effect_of(excites))
            return ratio + log(3.0 * jump * (1.0 - jump))
        jump, _ = self.excites
        ratio = self.propose_state(self.base / (1.0 - jump), None, self.effect_of(None))
        return ratio - log(3.0 * jump * (1.0 - jump))


class WalkBase(Exciting):
    looks_at = "few"  # where the events don't excite, which this move does not change

    def propose(self, rng: np.random.Generator) -> float:
        base = toward(rng, self.base, 20.0)
        return gamma_walk(base, self.base, 20.0) + self.propose_state(base, self.excites, self.effect)


MOVES = [
    ("bumps", 0, BumpBirths),
    ("bumps", 1, BumpSplits),
    ("clusters", 0, MoreOrFewer),
    ("clusters", "nudge_parents", NudgeParents),
    ("exciting", 0, ExciteOrNot),
    ("exciting", "walk_base", WalkBase),
]
