"""Moves of the block models: for each node the numbers of its edges to each block are kept."""

from __future__ import annotations

from math import log, log1p
from typing import Any

import numpy as np

from .common import Hand, array, gamma_walk, pick, toward

MOST = 4


def symmetric(trace: Any, name: str, n: int, upper: bool) -> np.ndarray:
    """The matrix of choices (name, i, j), with j > i or below."""
    table = np.zeros((n, n))
    for i in range(n):
        for j in range(i):
            table[i, j] = table[j, i] = trace[(name, j, i) if upper else (name, i, j)]
    return table


class Blocks(Hand):
    def __init__(self, trace: Any) -> None:
        (n,) = trace.args
        self.n, self.k = n, trace["k"]
        self.z = array(trace, "z", n)
        self.edges = symmetric(trace, "edge", n, upper=True)
        self.p = {(a, b): trace["p", a, b] for a in range(self.k) for b in range(a, self.k)}


class AnotherBlock(Blocks):
    """No node is in the block that comes or goes: the prior of the labels is all that changes."""

    looks_at = "few"

    def __init__(self, trace: Any) -> None:
        super().__init__(trace)
        self.highest = int(self.z.max())

    def chance(self, k: int) -> float:
        """The probability of a proposal of one more."""
        return 1.0 if k == 1 or self.highest >= k - 1 else 0.5 if k < MOST else 0.0

    def log_growth(self, k: int) -> float:
        return log((1.0 - self.chance(k + 1)) / self.chance(k)) - self.n * log((k + 1) / k)

    def propose(self, rng: np.random.Generator) -> float:
        k, self.new = self.k, None
        if rng.random() < self.chance(k):
            p = [rng.beta(1.0, 1.0) for _ in range(k + 1)]
            if k == MOST:
                return 0.0
            self.new = k + 1, {**self.p, **{(a, k): v for a, v in enumerate(p)}}
            return self.log_growth(k)
        self.new = k - 1, {ab: v for ab, v in self.p.items() if ab[1] < k - 1}
        return -self.log_growth(k - 1)

    def keep(self) -> None:
        self.k, self.p = self.new


class ChangeBlock(Blocks):
    looks_at = "few"

    def __init__(self, trace: Any) -> None:
        super().__init__(trace)
        members = np.eye(self.k)[self.z]
        self.links, self.sizes = self.edges @ members, members.sum(axis=0).tolist()
        self.z = self.z.tolist()
        both = [[self.p[min(a, b), max(a, b)] for b in range(self.k)] for a in range(self.k)]
        self.yes, self.no = ([[f(p) for p in row] for row in both] for f in (log, lambda p: log1p(-p)))

    def propose(self, rng: np.random.Generator) -> float:
        i, new = self.new = pick(rng, self.n), pick(rng, self.k)
        old = self.z[i]
        if new == old:
            return 0.0
        yes, no, before_yes, before_no = self.yes[new], self.no[new], self.yes[old], self.no[old]
        ratio = before_no[old] - no[old]  # the node itself is no neighbour of its own
        for b, links in enumerate(self.links[i].tolist()):
            ratio += links * (yes[b] - before_yes[b]) + (self.sizes[b] - links) * (no[b] - before_no[b])
        return float(ratio)

    def keep(self) -> None:
        i, new = self.new
        old, self.z[i] = self.z[i], new
        if old != new:
            self.links[:, old] -= self.edges[i]
            self.links[:, new] += self.edges[i]
            self.sizes[old] -= 1.0
            self.sizes[new] += 1.0


class RefreshProbabilities(Blocks):
    """From their posterior: always accepted."""

    looks_at = "few"

    def __init__(self, trace: Any) -> None:
        super().__init__(trace)
        members = np.eye(self.k)[self.z]
        there, sizes = members.T @ self.edges @ members, members.sum(axis=0)
        pairs = np.outer(sizes, sizes) - np.diag(sizes)
        self.counts = {}
        for a, b in self.p:
            half = 0.5 if a == b else 1.0
            self.counts[a, b] = (1.0 + half * there[a, b], 1.0 + half * (pairs - there)[a, b])

    def propose(self, rng: np.random.Generator) -> float:
        self.new = {pair: rng.beta(*counts) for pair, counts in self.counts.items()}
        return 0.0

    def keep(self) -> None:
        self.p = self.new


# --- counts between nodes -------------------------------------------------------------------------


class Weighted(Hand):
    def __init__(self, trace: Any) -> None:
        self.n, self.k = trace.args
        self.labels = array(trace, "label", self.n)
        self.members = np.eye(self.k)[self.labels]
        self.activity = array(trace, "activity", self.n)
        self.counts = symmetric(trace, "count", self.n, upper=False)
        k = range(self.k)
        self.rates = [[trace["rate", max(a, b), min(a, b)] for b in k] for a in k]


class SwapNodes(Weighted):
    """The count between the two nodes keeps its rate."""

    looks_at = "few"

    def __init__(self, trace: Any) -> None:
        super().__init__(trace)
        self.links, self.active = self.counts @ self.members, (self.activity @ self.members).tolist()
        self.labels, self.size = self.labels.tolist(), self.activity.tolist()
        self.log_rates = np.log(self.rates).tolist()

    def propose(self, rng: np.random.Generator) -> float:
        i, j = pick(rng, self.n), pick(rng, self.n - 1)
        j += j >= i
        self.new = i, j
        a, b = self.labels[i], self.labels[j]
        if a == b:
            return 0.0
        between, ai, aj = self.counts[i, j], self.size[i], self.size[j]
        active = self.active.copy()
        active[a] -= ai
        active[b] -= aj
        (ra, rb), (la, lb) = ((table[a], table[b]) for table in (self.rates, self.log_rates))
        mine, others = self.links[i].tolist(), self.links[j].tolist()
        mine[b] -= between
        others[a] -= between
        ratio = 0.0
        for c in range(self.k):
            ratio += (mine[c] - others[c]) * (lb[c] - la[c]) - (ai - aj) * active[c] * (rb[c] - ra[c])
        return float(ratio)

    def keep(self) -> None:
        i, j = self.new
        a, b = self.labels[i], self.labels[j]
        if a != b:
            self.labels[i], self.labels[j] = b, a
            change = self.counts[i] - self.counts[j]
            self.links[:, a] -= change
            self.links[:, b] += change
            self.active[a] += self.size[j] - self.size[i]
            self.active[b] += self.size[i] - self.size[j]


class WalkRates(Weighted):
    """The sums of counts and of means at rate 1 of each pair of blocks are all of the data."""

    looks_at = "few"

    def __init__(self, trace: Any) -> None:
        super().__init__(trace)
        exposure = np.outer(self.activity, self.activity)
        np.fill_diagonal(exposure, 0.0)
        counts, exposures = (self.members.T @ table @ self.members for table in (self.counts, exposure))
        pairs = [(a, b) for a in range(self.k) for b in range(a + 1)]
        halves = [0.5 if a == b else 1.0 for a, b in pairs]
        sums = zip(pairs, halves, strict=True)
        self.sums = [(half * counts[pair], half * exposures[pair]) for pair, half in sums]
        self.each = [self.rates[a][b] for a, b in pairs]

    def propose(self, rng: np.random.Generator) -> float:
        self.new, ratio = [], 0.0
        for old, (count, exposure) in zip(self.each, self.sums, strict=True):
            new = toward(rng, old, 10.0)
            self.new.append(new)
            ratio += (
                gamma_walk(new, old, 10.0) + (1.0 + count) * log(new / old) - (1.0 + exposure) * (new - old)
            )
        return float(ratio)

    def keep(self) -> None:
        self.each = self.new


MOVES = [
    ("blocks", 0, AnotherBlock),
    ("blocks", 1, ChangeBlock),
    ("blocks", "refresh_probabilities", RefreshProbabilities),
    ("weighted", 0, SwapNodes),
    ("weighted", "walk_rates", WalkRates),
]
