"""Moves of the clusterings: numbers and sums of each cluster's points are kept, labels are in lists."""

from __future__ import annotations

from math import log, sqrt
from typing import Any

import numpy as np

from .common import Hand, array, gamma_walk, log_beta, pick, toward, values

STICKS = 5
PRECISION = 0.6**-2

# --- a fixed number of sticks ---------------------------------------------------------------------


class Sticks(Hand):
    def __init__(self, trace: Any) -> None:
        (n,) = trace.args
        self.v, self.mu = values(trace, "v", STICKS - 1), values(trace, "mu", STICKS)
        self.alpha = trace["alpha"]
        self.x, self.z = array(trace, "x", n), array(trace, "z", n).astype(int)


class ExchangeSticks(Sticks):
    """The weights exchange with the clusters, and so do their points and means.

    The product of 1 - v doesn't change, nor does the prior of v but for the last two pieces. With lengths w
    and R of what there was to break, v = w1 / R, w2 / (R - w1): the Jacobian is (R - w1) / (R - w2).
    """

    looks_at = "part"

    def propose(self, rng: np.random.Generator) -> float:
        j, v = pick(rng, STICKS - 1), self.v
        first = v[j]
        if j + 1 < STICKS - 1:
            new = (1.0 - first) * v[j + 1]
            self.new = j, [new, first / (1.0 - new)]
            return log((1.0 - first) / (1.0 - new))
        self.new = j, [1.0 - first]
        return (self.alpha - 1.0) * log(first / (1.0 - first))

    def keep(self) -> None:
        j, v = self.new
        self.v[j : j + 2] = v
        self.mu[j], self.mu[j + 1] = self.mu[j + 1], self.mu[j]
        first, second = self.z == j, self.z == j + 1
        self.z[first], self.z[second] = j + 1, j


class SomeLabels(Sticks):
    looks_at = "few"

    def __init__(self, trace: Any) -> None:
        super().__init__(trace)
        self.points = range(len(self.x) // 2, min(len(self.x) // 2 + 2, len(self.x)))
        rest, self.log_weights = 1.0, []
        for v in [*self.v, 1.0]:
            self.log_weights.append(log(rest * v))
            rest *= 1.0 - v
        self.x, self.z = self.x.tolist(), self.z.tolist()

    def score(self, i: int, z: int) -> float:
        return float(self.log_weights[z] - 0.5 * PRECISION * (self.x[i] - self.mu[z]) ** 2)

    def propose(self, rng: np.random.Generator) -> float:
        self.new, ratio = [], 0.0
        for i in self.points:
            z = pick(rng, STICKS)
            self.new.append(z)
            ratio += self.score(i, z) - self.score(i, self.z[i])
        return ratio

    def keep(self) -> None:
        self.z[self.points.start : self.points.stop] = self.new


class WalkSticks(Sticks):
    looks_at = "few"

    def __init__(self, trace: Any) -> None:
        super().__init__(trace)
        counts = np.bincount(self.z, minlength=STICKS).tolist()
        self.sums = list(zip(counts, np.bincount(self.z, self.x, STICKS).tolist(), strict=True))
        self.after = [sum(counts[j + 1 :]) for j in range(STICKS)]

    def propose(self, rng: np.random.Generator) -> float:
        alpha, old_alpha = toward(rng, self.alpha, 10.0), self.alpha
        ratio = gamma_walk(alpha, old_alpha, 10.0) + log(alpha / old_alpha) - (alpha - old_alpha) / 0.5
        mu, v = [], []
        for j, (old, (n, total), after) in enumerate(zip(self.mu, self.sums, self.after, strict=True)):
            new = old + 0.2 * rng.standard_normal()
            mu.append(new)
            ratio += (new - old) * (PRECISION * (total - 0.5 * n * (new + old)) - (new + old) / 18.0)
            if j < STICKS - 1:
                a = self.v[j]
                b = rng.beta(1.0 + 10.0 * a, 11.0 - 10.0 * a)
                v.append(b)
                ratio += log_beta(a, 1.0 + 10.0 * b, 11.0 - 10.0 * b)
                ratio -= log_beta(b, 1.0 + 10.0 * a, 11.0 - 10.0 * a)
                ratio += log(alpha / old_alpha) + n * log(b / a)
                ratio += (alpha - 1.0 + after) * log(1.0 - b) - (old_alpha - 1.0 + after) * log(1.0 - a)
        self.new = alpha, mu, v
        return float(ratio)

    def keep(self) -> None:
        self.alpha, self.mu, self.v = self.new


# --- sticks as needed -----------------------------------------------------------------------------


class AsNeeded(Hand):
    def __init__(self, trace: Any) -> None:
        (n,) = trace.args
        self.counts, self.z = values(trace, "count", n), values(trace, "z", n)
        self.rates, self.log_weights, rest = [], [], 1.0
        while rest > 0.1:
            v = trace["v", len(self.rates)]
            self.rates.append(trace["rate", len(self.rates)])
            self.log_weights.append(log(rest * v))
            rest -= rest * v
        self.log_rates = list(map(log, self.rates))


class ExchangeLabel(AsNeeded):
    looks_at = "few"

    def propose(self, rng: np.random.Generator) -> float:
        i, new = self.new = pick(rng, len(self.z)), pick(rng, len(self.rates))
        old = self.z[i]
        rates, logs, weights = self.rates, self.log_rates, self.log_weights
        return float(
            weights[new] - weights[old] + self.counts[i] * (logs[new] - logs[old]) - rates[new] + rates[old]
        )

    def keep(self) -> None:
        self.z[self.new[0]] = self.new[1]


class WalkClusterRates(AsNeeded):
    looks_at = "few"

    def __init__(self, trace: Any) -> None:
        super().__init__(trace)
        k = len(self.rates)
        sums = np.bincount(self.z, self.counts, k).tolist()
        self.sums = list(zip(np.bincount(self.z, minlength=k).tolist(), sums, strict=True))

    def propose(self, rng: np.random.Generator) -> float:
        self.new, ratio = [], 0.0
        for old, (n, total) in zip(self.rates, self.sums, strict=True):
            new = toward(rng, old, 10.0)
            self.new.append(new)
            ratio += (
                gamma_walk(new, old, 10.0) + (1.0 + total) * log(new / old) - (n + 1.0 / 3.0) * (new - old)
            )
        return ratio

    def keep(self) -> None:
        self.rates = self.new


# --- the Chinese restaurant -----------------------------------------------------------------------


class Restaurant(Hand):
    """Guests may come in any order: the prior of a table depends on the number of its other guests."""

    def __init__(self, trace: Any) -> None:
        n, self.alpha = trace.args
        self.z, self.x = values(trace, "z", n), values(trace, "x", n)
        self.tables = np.bincount(self.z).tolist()
        self.means = values(trace, "mean", len(self.tables))

    def fit(self, i: int, new: float, old: float) -> float:
        """The log ratio of the likelihood of a guest with another mean."""
        return PRECISION * (new - old) * (self.x[i] - 0.5 * (new + old))


class MoveLast(Restaurant):
    """The prior of a new mean is its proposal, and the choice of a table is as probable on the way back."""

    looks_at = "few"

    def propose(self, rng: np.random.Generator) -> float:
        tables, means, last = self.tables, self.means, len(self.z) - 1
        old = self.z[last]
        alone = tables[old] == 1
        others = len(tables) - alone
        table = pick(rng, others + 1)
        if table == others and alone:
            mean = means[old] + 0.5 * rng.standard_normal()
            self.new = table, mean
            return self.fit(last, mean, means[old]) - (mean * mean - means[old] ** 2) / 18.0
        if table == others:
            mean, guests = 3.0 * rng.standard_normal(), self.alpha
        else:
            mean, guests = means[table], tables[table] - (table == old)
        self.new = table, mean
        before = self.alpha if alone else tables[old] - 1
        return log(guests / before) + self.fit(last, mean, means[old])

    def keep(self) -> None:
        (table, mean), old = self.new, self.z[-1]
        self.tables[old] -= 1
        if not self.tables[old]:
            del self.tables[old], self.means[old]  # the last table: its only guest is the last
        if table == len(self.tables):
            self.tables.append(0)
            self.means.append(mean)
        self.tables[table] += 1
        self.z[-1] = table


class Reseat(Restaurant):
    """Who opened a table stays: `choices` are the others, with the number of tables when they came."""

    looks_at = "few"

    def __init__(self, trace: Any) -> None:
        super().__init__(trace)
        self.choices, seen = [], set()
        for i, z in enumerate(self.z):
            if z in seen:
                self.choices.append((i, len(seen)))
            seen.add(z)

    def propose(self, rng: np.random.Generator) -> float:
        self.new = None
        if not self.choices:
            return 0.0
        i, so_far = self.choices[pick(rng, len(self.choices))]
        new, old = pick(rng, so_far), self.z[i]
        if new == old:
            return 0.0
        self.new = i, new
        prior = log(self.tables[new] / (self.tables[old] - 1))
        return prior + self.fit(i, self.means[new], self.means[old])

    def keep(self) -> None:
        i, new = self.new
        self.tables[self.z[i]] -= 1
        self.tables[new] += 1
        self.z[i] = new


class WalkDishes(Restaurant):
    looks_at = "few"

    def __init__(self, trace: Any) -> None:
        super().__init__(trace)
        self.sums = np.bincount(self.z, self.x).tolist()

    def propose(self, rng: np.random.Generator) -> float:
        self.new, ratio = [], 0.0
        for old, n, total in zip(self.means, self.tables, self.sums, strict=True):
            new = old + 0.5 / sqrt(n) * rng.standard_normal()
            self.new.append(new)
            ratio += (new - old) * (PRECISION * (total - 0.5 * n * (new + old)) - (new + old) / 18.0)
        return float(ratio)

    def keep(self) -> None:
        self.means = self.new


MOVES = [
    ("sticks", 0, ExchangeSticks),
    ("sticks", "some_labels", SomeLabels),
    ("sticks", "walk_sticks", WalkSticks),
    ("as_needed", 0, ExchangeLabel),
    ("as_needed", "walk_rates", WalkClusterRates),
    ("restaurant", 0, MoveLast),
    ("restaurant", 1, Reseat),
    ("restaurant", "walk_dishes", WalkDishes),
]
