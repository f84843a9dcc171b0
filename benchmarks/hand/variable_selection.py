"""Moves of variable selection: the products of all columns are kept, so that no move looks at the data."""

from __future__ import annotations

from math import exp, log
from typing import Any

import numpy as np

from .common import Hand, array, log_normal_ratio, pick, values


class Regression(Hand):
    """`gram` are the products of the columns and y, `c` the coefficients, negated, and 1 for y."""

    def begin(self, columns: np.ndarray, y: Any, coefficients: list[float], precision: float) -> None:
        table = np.column_stack([columns, y])
        self.gram, self.c = (table.T @ table).tolist(), [*(-b for b in coefficients), 1.0]
        self.precision = precision

    def product(self, j: int) -> float:
        """The product of column j with the residuals."""
        return sum(a * b for a, b in zip(self.gram[j], self.c, strict=True))

    def squares(self, c: list[float]) -> float:
        """The sum of squared residuals."""
        rows = zip(c, self.gram, strict=True)
        return sum(a * sum(x * b for x, b in zip(row, c, strict=True)) for a, row in rows)


class SpikeAndSlab(Regression):
    """Column 0 is that of the intercept."""

    def __init__(self, trace: Any) -> None:
        rows, p = trace.args
        self.included = values(trace, "in", p)
        beta = [trace["beta", j] if self.included[j] else 0.0 for j in range(p)]
        x = np.column_stack([np.ones(len(rows)), rows])
        self.begin(x, values(trace, "y", len(rows)), [trace["intercept"], *beta], 1.0 / trace["variance"])


class Toggle(SpikeAndSlab):
    looks_at = "few"
    odds, prior, proposal, first = log(0.3 / 0.7), 2.0, 1.0, 1

    def propose(self, rng: np.random.Generator) -> float:
        j = pick(rng, len(self.included))
        column = self.first + j
        if self.included[j]:
            value, sign = -self.c[column], -1.0
        else:
            value, sign = self.proposal * rng.standard_normal(), 1.0
        self.new = j, value
        step = sign * value
        squares = step * (step * self.gram[column][column] - 2.0 * self.product(column))
        weight = self.odds + log_normal_ratio(value, self.prior, self.proposal)
        return sign * weight - 0.5 * self.precision * squares

    def keep(self) -> None:
        j, value = self.new
        self.c[self.first + j] = 0.0 if self.included[j] else -value
        self.included[j] = not self.included[j]


class Swap(SpikeAndSlab):
    """The prior of a coefficient is that of its negative."""

    looks_at = "few"

    def propose(self, rng: np.random.Generator) -> float:
        p, included = len(self.included), self.included
        a, b = pick(rng, p), pick(rng, p)
        self.new = None
        if included[a] == included[b]:
            return 0.0
        old, new = self.new = (a, b) if included[a] else (b, a)
        i, j = old + 1, new + 1
        beta, gram = -self.c[i], self.gram  # the residuals get beta (column i + column j)
        squares = beta * beta * (gram[i][i] + 2.0 * gram[i][j] + gram[j][j])
        squares += 2.0 * beta * (self.product(i) + self.product(j))
        return -0.5 * self.precision * squares

    def keep(self) -> None:
        old, new = self.new
        self.c[old + 1], self.c[new + 1] = 0.0, -self.c[old + 1]
        self.included[old], self.included[new] = False, True


class WalkCoefficients(SpikeAndSlab):
    looks_at = "few"

    def __init__(self, trace: Any) -> None:
        super().__init__(trace)
        self.there = [j for j, inside in enumerate(self.included) if inside]
        self.score = self.log_density(self.c)

    def log_density(self, c: list[float]) -> float:
        prior = c[0] * c[0] / 18.0 + sum(c[j + 1] ** 2 for j in self.there) / 8.0
        return -prior - 0.5 * self.precision * self.squares(c)

    def propose(self, rng: np.random.Generator) -> float:
        c = self.c.copy()
        c[0] -= 0.2 * rng.standard_normal()
        for j in self.there:
            c[j + 1] -= 0.15 * rng.standard_normal()
        score = self.log_density(c)
        self.new = c, score
        return score - self.score

    def keep(self) -> None:
        self.c, self.score = self.new


# --- a list of columns ----------------------------------------------------------------------------


class AddOrDrop(Toggle):
    odds, first = log(0.4 / 0.6), 0

    def __init__(self, trace: Any) -> None:
        (x,) = trace.args
        p = x.shape[1]
        self.included = values(trace, "use", p)
        slopes = [trace["slope", j] if self.included[j] else 0.0 for j in range(p)]
        self.begin(x, trace["y"], slopes, trace["sd"] ** -2)


class Scale(AddOrDrop):
    """All slopes by one factor; its Jacobian is the factor to the power of their number."""

    def propose(self, rng: np.random.Generator) -> float:
        log_factor = 0.05 * rng.standard_gamma(2.0)
        if rng.random() >= 0.5:
            log_factor = -log_factor
        factor, c = exp(log_factor), self.c
        self.new = [*(factor * b for b in c[:-1]), 1.0]
        prior = (factor * factor - 1.0) * sum(b * b for b in c[:-1]) / 8.0
        squares = self.squares(self.new) - self.squares(c)
        return sum(self.included) * log_factor - prior - 0.5 * self.precision * squares

    def keep(self) -> None:
        self.c = self.new


# --- interactions, counts as outcomes -------------------------------------------------------------


class Interactions(Hand):
    """What is kept is the logarithm of each rate, before it is cut off at 8."""

    def __init__(self, trace: Any) -> None:
        x = np.array(trace.args[0])
        self.counts = array(trace, "count", len(x)).astype(float)
        pairs = [(a, b) for a in range(3) for b in range(a, 3)]
        self.columns = {(a, b): x[:, a] if a == b else x[:, a] * x[:, b] for a, b in pairs}
        self.theta = {}
        for a, b in pairs:
            if a == b or trace["inter", a, b]:
                self.theta[a, b] = trace["theta", a, b]
        self.eta = 0.5 + sum(value * self.columns[pair] for pair, value in self.theta.items())
        self.log_likelihood = self.score(self.eta)

    def score(self, eta: np.ndarray) -> float:
        cut = np.minimum(eta, 8.0)
        return float(self.counts @ cut - np.exp(cut).sum())


class TogglePair(Interactions):
    def propose(self, rng: np.random.Generator) -> float:
        a = pick(rng, 2)
        pair = a, a + 1 + pick(rng, 2 - a)
        there = pair in self.theta
        value = self.theta[pair] if there else 0.3 * rng.standard_normal()
        sign = -1.0 if there else 1.0
        eta = self.eta + sign * value * self.columns[pair]
        log_likelihood = self.score(eta)
        self.new = pair, value, eta, log_likelihood
        weight = log(0.2 / 0.8) + log_normal_ratio(value, 0.5, 0.3)
        return sign * weight + log_likelihood - self.log_likelihood

    def keep(self) -> None:
        pair, value, self.eta, self.log_likelihood = self.new
        if self.theta.pop(pair, None) is None:
            self.theta[pair] = value


class WalkMainEffects(Interactions):
    def propose(self, rng: np.random.Generator) -> float:
        theta, eta, ratio = [], self.eta, 0.0
        for a in range(3):
            old, step = self.theta[a, a], 0.15 * rng.standard_normal()
            theta.append(old + step)
            ratio -= 2.0 * step * (2.0 * old + step)
            eta = eta + step * self.columns[a, a]
        log_likelihood = self.score(eta)
        self.new = theta, eta, log_likelihood
        return ratio + log_likelihood - self.log_likelihood

    def keep(self) -> None:
        theta, self.eta, self.log_likelihood = self.new
        for a, value in enumerate(theta):
            self.theta[a, a] = value


MOVES = [
    ("spike_and_slab", 0, Toggle),
    ("spike_and_slab", 1, Swap),
    ("spike_and_slab", "walk_coefficients", WalkCoefficients),
    ("subset", 0, AddOrDrop),
    ("subset", 1, Scale),
    ("interactions", 0, TogglePair),
    ("interactions", "walk_main_effects", WalkMainEffects),
]
