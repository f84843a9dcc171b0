"""Moves of the hidden Markov models."""

from __future__ import annotations

from math import exp, log
from typing import Any

import numpy as np

from .common import (
    LOG_2PI,
    AssignedSplitMerge,
    BirthDeath,
    Hand,
    array,
    index,
    log_normal,
    pick,
    values,
)

# --- the forward algorithm; a component is (mean, squared deviations) -----------------------------


def forward(squares: list[np.ndarray], stay: float, sd: float) -> float:
    """The log likelihood; the densities of all times at once, then one time after another."""
    n, k = len(squares[0]), len(squares)
    logs = np.array(squares)
    logs *= -0.5 / (sd * sd)
    highest = logs.max(axis=0)
    logs -= highest
    densities = np.exp(logs, out=logs).T.tolist()
    leave = (1.0 - stay) / (k - 1) if k > 1 else 0.0
    more = stay - leave if k > 1 else 1.0
    p = [d / k for d in densities[0]]
    scale = sum(p)
    total = log(scale)
    for each in densities[1:]:
        rest = more / scale
        p = [(leave + rest * q) * d for q, d in zip(p, each, strict=True)]
        scale = sum(p)
        total += log(scale)
    return total + float(highest.sum()) - n * (log(sd) + 0.5 * LOG_2PI)


class Summed(BirthDeath):
    """The prior of a new state is its proposal."""

    least, most = 1, 5

    def __init__(self, trace: Any) -> None:
        self.y, self.stay, self.sd = trace["y"], trace["stay"], trace["sd"]
        self.components = list(map(self.component, values(trace, "mean", trace["k"])))
        self.kept, self.log_likelihood = self.rescored((), (), self.components)

    def component(self, mean: float) -> tuple[Any, ...]:
        z = self.y - mean
        z *= z
        return mean, z

    def rescored(self, gone: Any, come: Any, proposed: Any) -> tuple[Any, float]:
        return None, forward([c[1] for c in proposed], self.stay, self.sd)

    def draw(self, rng: np.random.Generator) -> Any:
        return self.component(2.0 * rng.standard_normal())

    def log_weight(self, component: Any, k: int) -> float:
        return 0.0


class StepInAll(Summed):
    def propose(self, rng: np.random.Generator) -> float:
        means = [c[0] for c in self.components]
        moved = [mean + 0.2 * rng.standard_normal() for mean in means]
        factor = 0.1 * rng.standard_normal()
        sd = self.sd * exp(factor)
        proposed = list(map(self.component, moved))
        log_likelihood = forward([c[1] for c in proposed], self.stay, sd)
        self.new = proposed, sd, log_likelihood
        prior = -sum(a * a - b * b for a, b in zip(moved, means, strict=True)) / 8.0
        return prior + 5.0 * factor - (sd - self.sd) / 0.15 + log_likelihood - self.log_likelihood

    def keep(self) -> None:
        self.components, self.sd, self.log_likelihood = self.new


# --- with a path ----------------------------------------------------------------------------------


def log_path(labels: np.ndarray, k: int) -> float:
    """The log probability of a path through k states."""
    same = int(np.count_nonzero(labels[1:] == labels[:-1]))
    return -log(k) + same * log(0.2 / k + 0.8) + (len(labels) - 1 - same) * log(0.2 / k)


class PathSplits(AssignedSplitMerge):
    most = 4

    def __init__(self, trace: Any) -> None:
        (n,) = trace.args
        self.y, self.labels = array(trace, "y", n), array(trace, "state", n)
        self.components = values(trace, "mean", trace["k"])
        self.log_prior = log_path(self.labels, len(self.components))

    def draw(self, rng: np.random.Generator, one: Any) -> float:
        return 1.5 * rng.standard_normal()

    def split(self, one: Any, u: Any) -> tuple[float, float]:
        return one - u, one + u

    def merge(self, first: Any, second: Any) -> tuple[float, float]:
        return 0.5 * (first + second), 0.5 * (second - first)

    def log_weight(self, one: Any, u: Any, first: Any, second: Any, k: int) -> float:
        means = log_normal(first, 0.0, 2.0) - (second * second - one * one) / 8.0
        return means + log(2.0) - log_normal(u, 0.0, 1.5)

    def log_ratio_of_labels(self, labels: Any, proposed: Any, points: Any, change: Any) -> float:
        one, first, second, to_second, sign = change
        log_prior = log_path(labels, len(proposed))
        self.new += (log_prior,)
        y = self.y[points]
        squares = float(((y - np.where(to_second, second, first)) ** 2 - (y - one) ** 2).sum())
        return log_prior - self.log_prior - 0.5 * sign * squares / 0.64

    def keep(self) -> None:
        self.components, self.labels, self.log_prior = self.new


class OneTime(Hand):
    """A draw from the density given all else, cut off far from the data, where the ratio isn't one."""

    looks_at = "few"

    def __init__(self, trace: Any) -> None:
        (n,) = trace.args
        self.y, self.states = values(trace, "y", n), values(trace, "state", n)
        self.means = values(trace, "mean", trace["k"])
        k = len(self.means)
        self.chances = [[0.2 / k + 0.8 * (i == j) for j in range(k)] for i in range(k)]

    def propose(self, rng: np.random.Generator) -> float:
        states, n = self.states, len(self.y)
        t = pick(rng, n)
        exponents = [-0.5 * ((self.y[t] - mean) / 0.8) ** 2 for mean in self.means]
        weights = [exp(max(e, -30.0)) for e in exponents]
        for other in (t - 1, t + 1):
            if 0 <= other < n:
                chances = self.chances[states[other]]
                weights = [w * c for w, c in zip(weights, chances, strict=True)]
        total = sum(weights)
        new, old = index(rng, [w / total for w in weights]), states[t]
        self.new = t, new
        return min(exponents[new] + 30.0, 0.0) - min(exponents[old] + 30.0, 0.0)

    def keep(self) -> None:
        self.states[self.new[0]] = self.new[1]


class WalkPathMeans(Hand):
    """The numbers and sums of each state's data are all of the data."""

    looks_at = "few"

    def __init__(self, trace: Any) -> None:
        (n,) = trace.args
        k, y, states = trace["k"], array(trace, "y", n), array(trace, "state", n)
        self.means = values(trace, "mean", k)
        counts, sums = np.bincount(states, minlength=k).tolist(), np.bincount(states, y, k).tolist()
        self.pieces = list(zip(counts, sums, strict=True))

    def propose(self, rng: np.random.Generator) -> float:
        self.new, ratio = [], 0.0
        for old, (count, total) in zip(self.means, self.pieces, strict=True):
            step = 0.2 * rng.standard_normal()
            self.new.append(old + step)
            ratio += step * ((total - count * (old + 0.5 * step)) / 0.64 - 0.25 * (old + 0.5 * step))
        return float(ratio)

    def keep(self) -> None:
        self.means = self.new


# --- with a matrix of transitions -----------------------------------------------------------------


class Matrix(Hand):
    """States of each time, rates of counts and rows of the matrix, in lists."""

    def __init__(self, trace: Any) -> None:
        (n,) = trace.args
        k = trace["k"]
        self.states, self.rates = values(trace, "s", n), values(trace, "rate", k)
        self.rows = [trace["row", j].tolist() for j in range(k)]


class GrowOrShrink(Matrix):
    """Priors, proposals and Jacobian of the rows cancel; the path's probability changes.

    Rows of Dirichlet(1, ..., 1) have the prior Gamma(k), entries `to` the proposal k (1 - to)^(k - 1), and
    the map has the Jacobian (1 - to)^(k - 1).
    """

    looks_at = "few"

    def __init__(self, trace: Any) -> None:
        super().__init__(trace)
        from_state = np.bincount([0, *self.states[:-1]], minlength=4)
        self.left = from_state.tolist()
        self.highest = max(self.states)

    def chance(self, k: int) -> float:
        """The probability of a proposal to grow."""
        return 1.0 if k == 1 or self.highest >= k - 1 else 0.0 if k == 4 else 0.5

    def log_growth(self, k: int, to: list[float]) -> float:
        path = sum(n * log(1.0 - p) for n, p in zip(self.left, to, strict=False) if n)
        return path + log((1.0 - self.chance(k + 1)) / self.chance(k))

    def propose(self, rng: np.random.Generator) -> float:
        k, rows = len(self.rows), self.rows
        self.new = None
        if rng.random() < self.chance(k):
            if k == 4:
                return 0.0
            rate, row = 2.0 * rng.standard_gamma(2.0), rng.dirichlet([1.0] * (k + 1)).tolist()
            to = [rng.beta(1.0, k) for _ in range(k)]
            grown = [[*(p * (1.0 - t) for p in old), t] for old, t in zip(rows, to, strict=True)]
            self.new = [*self.rates, rate], [*grown, row]
            return self.log_growth(k, to)
        to = [row[-1] for row in rows[:-1]]
        shrunk = [[p / (1.0 - t) for p in old[:-1]] for old, t in zip(rows, to, strict=False)]
        self.new = self.rates[:-1], shrunk
        return -self.log_growth(k - 1, to)

    def keep(self) -> None:
        self.rates, self.rows = self.new


class OneLabel(Matrix):
    looks_at = "few"

    def __init__(self, trace: Any) -> None:
        super().__init__(trace)
        self.counts = values(trace, "count", len(self.states))
        self.logs = [[log(p) for p in row] for row in self.rows]
        self.log_rates = list(map(log, self.rates))

    def propose(self, rng: np.random.Generator) -> float:
        states, logs = self.states, self.logs
        i = pick(rng, len(states))
        new, old = pick(rng, len(self.rows)), states[i]
        self.new = i, new
        before = logs[states[i - 1] if i else 0]
        ratio = before[new] - before[old] + self.counts[i] * (self.log_rates[new] - self.log_rates[old])
        if i + 1 < len(states):
            after = states[i + 1]
            ratio += logs[new][after] - logs[old][after]
        return float(ratio - self.rates[new] + self.rates[old])

    def keep(self) -> None:
        self.states[self.new[0]] = self.new[1]


MOVES = [
    ("summed", 0, Summed),
    ("summed", 1, StepInAll),
    ("with_path", 0, PathSplits),
    ("with_path", 1, OneTime),
    ("with_path", "walk_path_means", WalkPathMeans),
    ("with_matrix", 0, GrowOrShrink),
    ("with_matrix", 1, OneLabel),
]
