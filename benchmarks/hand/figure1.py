"""The split or merge of Figure 1, with components of four families; and the other moves of galaxies.py."""

from __future__ import annotations

from math import lgamma, log, sqrt
from typing import Any

import figure1
import numpy as np
from effective_draws import example

from gendsl import (
    Distribution,
    dirichlet,
    gen,
    inv_gamma,
    laplace,
    mixture,
    normal,
    poisson,
    student_t,
)
from gendsl.inference import involutive, mh
from gendsl.supports import Real

from .common import LOG_2PI, Hand, pick
from .mixtures import MomentSplitMerge, Weighted
from .pair import Pair

# --- the model with other components than normal ones ---------------------------------------------


class sech(Distribution):
    """The hyperbolic secant distribution: 1 / (2 sd cosh(pi (x - mean) / (2 sd)))."""

    parameters = ("mean", "sd")

    def __init__(self, mean, sd):
        self.mean, self.sd = mean, sd

    @property
    def support(self):
        return Real()

    def sample(self, rng):
        return self.mean + 2 * self.sd / np.pi * np.log(np.tan(np.pi / 2 * rng.uniform()))

    def logpdf(self, x):
        z = abs(x - self.mean) * np.pi / (2 * self.sd)
        return -z - np.log1p(np.exp(-2 * z)) - np.log(self.sd)


def model_with(component):
    """The model of Figure 1 with these components, each of a mean and a variance."""

    @gen
    def model(n):
        k = ~(1 + poisson(1))
        means = [("mu", j) @ ~normal(0, 10) for j in range(k)]
        variances = [("var", j) @ ~inv_gamma(1, 10) for j in range(k)]
        weights = ~dirichlet([2.0] * k)
        parts = [component(mean, var) for mean, var in zip(means, variances, strict=True)]
        for i in range(n):
            ("x", i) @ ~mixture(weights, parts)

    return model


# --- by hand --------------------------------------------------------------------------------------


class Normals(MomentSplitMerge):
    address = "x"

    def log_prior(self, k: int, m: float, v: float, m1: float, m2: float, v1: float, v2: float) -> float:
        means = -0.005 * (m1 * m1 + m2 * m2 - m * m) - 0.5 * LOG_2PI
        return means - log(k) - 2.0 * log(v1 * v2 / v) - 10.0 * (1.0 / v1 + 1.0 / v2 - 1.0 / v)


class Students(Normals):
    def row(self, weight: float, mean: float, variance: float) -> np.ndarray:
        z = self.y - mean
        z *= z
        z *= 0.25 / variance
        z += 1.0
        z **= -2.5
        z *= weight / sqrt(variance)
        return z


class Laplaces(Normals):
    def row(self, weight: float, mean: float, variance: float) -> np.ndarray:
        z = self.log_row(1.0, mean, variance)
        np.exp(z, out=z)
        z *= weight
        return z

    def log_row(self, weight: float, mean: float, variance: float) -> np.ndarray:
        scale = sqrt(0.5 * variance)
        z = self.y - mean
        np.abs(z, out=z)
        z *= -1.0 / scale
        z += log(weight / scale)
        return z


class Sechs(Normals):
    """1 / cosh(z) is 2 e / (1 + e^2) with e = exp(-|z|)."""

    def row(self, weight: float, mean: float, variance: float) -> np.ndarray:
        sd = sqrt(variance)
        z = self.y - mean
        np.abs(z, out=z)
        z *= -0.5 * np.pi / sd
        np.exp(z, out=z)
        z /= z * z + 1.0
        z *= weight / sd
        return z

    def log_row(self, weight: float, mean: float, variance: float) -> np.ndarray:
        sd = sqrt(variance)
        z = np.abs(self.y - mean) * (0.5 * np.pi / sd)
        return log(weight / sd) - z - np.log1p(np.exp(-2.0 * z))


# --- the other moves of galaxies ------------------------------------------------------------------


class Swap(Hand):
    """The same density under another numbering: always accepted."""

    looks_at = "few"

    def __init__(self, trace: Any) -> None:
        k = trace["k"]
        self.columns = [[trace[name, j] for j in range(k)] for name in ("mu", "var")]
        self.columns.append(trace["weights"].tolist())

    def propose(self, rng: np.random.Generator) -> float:
        self.new = pick(rng, len(self.columns[0]))
        return 0.0

    def keep(self) -> None:
        for column in self.columns:
            column[self.new], column[-1] = column[-1], column[self.new]


class Walk(Weighted):
    address = "x"

    def rescored(self, means: list[float], variances: list[float]) -> float:
        rows = list(map(self.row, self.weights, means, variances))
        return self.score(means, variances, self.weights, rows)


class WalkMeans(Walk):
    def propose(self, rng: np.random.Generator) -> float:
        means = [m + 0.5 * rng.standard_normal() for m in self.means]
        prior = sum(a * a - b * b for a, b in zip(means, self.means, strict=True))
        return self.rescored(means, self.variances) - 0.005 * prior


class WalkVariances(Walk):
    """The prior v^-2 exp(-10 / v), and a walk of log v."""

    def propose(self, rng: np.random.Generator) -> float:
        variances = [rng.lognormal(log(v), 0.4) for v in self.variances]
        pairs = zip(variances, self.variances, strict=True)
        prior = sum(-log(new / old) - 10.0 * (1.0 / new - 1.0 / old) for new, old in pairs)
        return self.rescored(self.means, variances) + prior


class WalkWeights(Walk):
    """The rows are only scaled."""

    def propose(self, rng: np.random.Generator) -> float:
        old = self.weights
        new = rng.dirichlet([1.0 + 150.0 * w for w in old]).tolist()
        ratio = 0.0
        rows = []
        for a, b, row in zip(old, new, self.rows, strict=True):
            rows.append(row * (b / a))
            ratio += log(b / a) + 150.0 * (b * log(a) - a * log(b)) + lgamma(1.0 + 150.0 * a)
            ratio -= lgamma(1.0 + 150.0 * b)
        return ratio + self.score(self.means, self.variances, new, rows)


# --- pairs ----------------------------------------------------------------------------------------


def start_with(model: Any) -> Any:
    def start(size: int | None = None, seed: int = 1) -> Any:
        data = figure1.data_points(size or 60, np.random.default_rng(seed))
        init = {"k": 3, "mu": [10.0, 20.0, 26.0], "var": [4.0, 4.0, 4.0], "weights": [0.2, 0.5, 0.3]}
        return model.generate((len(data),), {"x": data}, init=init).trace

    return start


FAMILIES = {
    "normal": (figure1.model, Normals),
    "Student": (model_with(lambda mean, var: student_t(4, mean, np.sqrt(var))), Students),
    "Laplace": (model_with(lambda mean, var: laplace(mean, np.sqrt(var / 2))), Laplaces),
    "the user's own": (model_with(lambda mean, var: sech(mean, np.sqrt(var))), Sechs),
}


def galaxies() -> list[Pair]:
    module = example("galaxies")
    velocities = np.loadtxt(module.DATA, skiprows=1)

    def start(size: int | None = None, seed: int = 1) -> Any:
        """More data than there are, are those once more, moved a little."""
        moved = np.random.default_rng(seed).normal(0.0, 0.3, size or 82) * (np.arange(size or 82) >= 82)
        data = np.resize(velocities, len(moved)) + moved
        init = {"k": 3, "mu": [10.0, 20.0, 26.0], "var": [4.0, 4.0, 4.0], "weights": [0.1, 0.6, 0.3]}
        return module.clusters.generate((len(data),), {"x": data}, init=init).trace

    moves = [
        ("split_merge", involutive(module.split_or_merge, module.split_merge), Normals),
        ("swap", involutive(module.pick_cluster, module.swap), Swap),
        ("walk_means", mh(module.walk_means), WalkMeans),
        ("walk_variances", mh(module.walk_variances), WalkVariances),
        ("walk_weights", mh(module.walk_weights), WalkWeights),
    ]
    return [Pair(f"galaxies: {name}", kernel, by_hand, start, (82, 820)) for name, kernel, by_hand in moves]


def pairs() -> list[Pair]:
    """The step of Figure 1 with each family of components, and the moves of galaxies."""
    kernel = involutive(figure1.q, figure1.f)
    steps = [
        Pair(f"Figure 1, {name} components", kernel, by_hand, start_with(model), (100, 10_000))
        for name, (model, by_hand) in FAMILIES.items()
    ]
    return steps + galaxies()
