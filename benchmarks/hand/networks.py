"""Moves of the Bayesian networks: products of columns, and counts of patterns, are all of the data."""

from __future__ import annotations

from math import log, log1p
from typing import Any

import numpy as np

from .common import Hand, array, gamma_walk, log_normal_ratio, pick, toward

# --- linear networks ------------------------------------------------------------------------------


class Linear(Hand):
    """`gram` are the products of columns; `weights[child]` those of its parents."""

    def __init__(self, trace: Any) -> None:
        self.n, self.nodes = trace.args
        x = array(trace, "x", self.n, self.nodes)
        self.gram = (x.T @ x).tolist()
        self.sd = [trace["sd", i] for i in range(self.nodes)]
        self.weights: list[dict[int, float]] = [{} for _ in range(self.nodes)]
        for child in range(self.nodes):
            for parent in range(child):
                if trace["edge", parent, child]:
                    self.weights[child][parent] = trace["weight", parent, child]

    def product(self, child: int, column: int) -> float:
        """The product of a column with what is left of a child."""
        row = self.gram[column]
        return row[child] - sum(w * row[parent] for parent, w in self.weights[child].items())

    def squares(self, child: int, weights: dict[int, float]) -> float:
        """The sum of squares of what is left of a child."""
        gram = self.gram
        total = gram[child][child]
        for parent, w in weights.items():
            row = gram[parent]
            total += w * (sum(v * row[other] for other, v in weights.items()) - 2.0 * row[child])
        return total


class ToggleEdge(Linear):
    looks_at = "few"

    def propose(self, rng: np.random.Generator) -> float:
        child = 1 + pick(rng, self.nodes - 1)
        parent = pick(rng, child)
        there = self.weights[child].get(parent)
        value, sign = (0.7 * rng.standard_normal(), 1.0) if there is None else (there, -1.0)
        self.new = child, parent, None if there is not None else value
        step = sign * value
        squares = step * (step * self.gram[parent][parent] - 2.0 * self.product(child, parent))
        weight = log(0.3 / 0.7) + log_normal_ratio(value, 1.0, 0.7)
        return sign * weight - 0.5 * squares / self.sd[child] ** 2

    def keep(self) -> None:
        child, parent, value = self.new
        if value is None:
            del self.weights[child][parent]
        else:
            self.weights[child][parent] = value


class ExchangeParents(Linear):
    """The prior doesn't change."""

    looks_at = "few"

    def propose(self, rng: np.random.Generator) -> float:
        child = 1 + pick(rng, self.nodes - 1)
        a, b = pick(rng, child), pick(rng, child)
        weights, self.new = self.weights[child], None
        if a == b or not (a in weights or b in weights):
            return 0.0
        exchanged = {{a: b, b: a}.get(parent, parent): w for parent, w in weights.items()}
        self.new = child, exchanged
        return -0.5 * (self.squares(child, exchanged) - self.squares(child, weights)) / self.sd[child] ** 2

    def keep(self) -> None:
        child, self.weights[child] = self.new


class WalkNetwork(Linear):
    looks_at = "few"

    def __init__(self, trace: Any) -> None:
        super().__init__(trace)
        self.about = [self.squares(child, weights) for child, weights in enumerate(self.weights)]

    def propose(self, rng: np.random.Generator) -> float:
        self.new = [], [], []
        ratio = 0.0
        for child, (old, weights, about) in enumerate(zip(self.sd, self.weights, self.about, strict=True)):
            sd = toward(rng, old, 40.0)
            moved = {parent: w + 0.1 * rng.standard_normal() for parent, w in weights.items()}
            squares = self.squares(child, moved)
            ratio += gamma_walk(sd, old, 40.0) + (4.0 - self.n) * log(sd / old) - (sd - old) / 0.2
            ratio -= 0.5 * (squares / sd**2 - about / old**2)
            ratio -= 0.5 * (sum(w * w for w in moved.values()) - sum(w * w for w in weights.values()))
            for part, value in zip(self.new, (sd, moved, squares), strict=True):
                part.append(value)
        return ratio

    def keep(self) -> None:
        self.sd, self.weights, self.about = self.new


# --- noisy-or -------------------------------------------------------------------------------------


class NoisyOr(Hand):
    """`counts[child]` has, for each pattern of the nodes before it, how often it was on and off."""

    def __init__(self, trace: Any) -> None:
        cases, names = trace.args
        on = np.array([[trace["on", case, name] for name in names] for case in range(cases)], dtype=int)
        self.arrows = [(i, j) for j in range(len(names)) for i in range(j)]
        self.counts = []
        for child in range(len(names)):
            patterns = on[:, :child] @ (1 << np.arange(child))
            both = (np.bincount(patterns[on[:, child] == v], minlength=1 << child).tolist() for v in (1, 0))
            self.counts.append(list(zip(*both, strict=True)))
        self.leak = [trace["leak", name] for name in names]
        self.strengths: list[dict[int, float]] = [{} for _ in names]
        for i, j in self.arrows:
            if trace["arrow", names[i], names[j]]:
                self.strengths[j][i] = trace["strength", names[i], names[j]]
        self.scores = [self.score(child, self.leak[child], s) for child, s in enumerate(self.strengths)]

    def score(self, child: int, leak: float, strengths: dict[int, float]) -> float:
        """The log likelihood of a child."""
        total = 0.0
        for pattern, (on, off) in enumerate(self.counts[child]):
            if on or off:
                p = 1.0 - leak
                for parent, strength in strengths.items():
                    if pattern >> parent & 1:
                        p *= 1.0 - strength
                total += on * log1p(-p) + off * log(p)
        return total

    def keep(self) -> None:
        child, self.leak[child], self.strengths[child], self.scores[child] = self.new


class ToggleArrow(NoisyOr):
    """The prior of a strength is its proposal."""

    looks_at = "few"

    def propose(self, rng: np.random.Generator) -> float:
        parent, child = self.arrows[pick(rng, len(self.arrows))]
        strengths, weight = self.strengths[child].copy(), log(0.4 / 0.6)
        if strengths.pop(parent, None) is None:
            strengths[parent] = rng.beta(2.0, 2.0)
        else:
            weight = -weight
        score = self.score(child, self.leak[child], strengths)
        self.new = child, self.leak[child], strengths, score
        return weight + score - self.scores[child]


class ExchangeLeak(NoisyOr):
    """A leak from its prior."""

    looks_at = "few"

    def propose(self, rng: np.random.Generator) -> float:
        child, leak = pick(rng, len(self.leak)), rng.beta(1.0, 3.0)
        score = self.score(child, leak, self.strengths[child])
        self.new = child, leak, self.strengths[child], score
        return score - self.scores[child]


MOVES = [
    ("linear", 0, ToggleEdge),
    ("linear", 1, ExchangeParents),
    ("linear", "walk_network", WalkNetwork),
    ("noisy_or", 0, ToggleArrow),
    ("noisy_or", 1, ExchangeLeak),
]
