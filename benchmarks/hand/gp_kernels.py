"""Moves of the kernels of Gaussian processes: the sum of the terms and the distances are kept."""

from __future__ import annotations

from math import exp, log, pi
from typing import Any

import numpy as np
from scipy.linalg.lapack import dpotrf, dtrtrs

from .common import BirthDeath, Hand, gamma_walk, index, log_gamma, pick, toward, values


def log_normal_density(y: np.ndarray, cov: np.ndarray, variance: float) -> float:
    """Of y, normal with this covariance and noise, without its constant."""
    cov = cov.copy()
    cov.ravel()[:: len(y) + 1] += variance
    lower, _ = dpotrf(cov.T, lower=1, clean=0, overwrite_a=1)  # the transpose is as LAPACK wants it
    white, _ = dtrtrs(lower, y, lower=1)
    return float(-0.5 * white @ white - np.log(lower.diagonal()).sum())


# --- a grammar; an expression is a number of a kind with its numbers or its two parts -------------

INNER, LEAVES = [0.1, 0.3, 0.2, 0.2, 0.2], [0.2, 0.4, 0.4, 0.0, 0.0]


class Grammar(Hand):
    """All but the likelihood cancels in both moves."""

    def __init__(self, trace: Any) -> None:
        t = np.array(trace.args[0])
        self.distance, self.y = np.subtract.outer(t, t), trace["y"]
        self.variance = trace["noise"] ** 2 + 1e-6
        self.tree = self.expression(trace, ("tree",))
        self.log_likelihood = self.score(self.tree)

    def expression(self, trace: Any, path: tuple[Any, ...]) -> tuple[Any, ...]:
        kind = trace[(*path, "kind")]
        if kind >= 3:
            return kind, *(self.expression(trace, (*path, side)) for side in ("left", "right"))
        names = (("size",), ("length",), ("length", "period"))[kind]
        return kind, *(trace[(*path, name)] for name in names)

    def covariance(self, tree: tuple[Any, ...]) -> Any:
        kind, first = tree[:2]
        if kind == 0:
            return first
        if kind == 1:
            return np.exp((-0.5 / first**2) * self.distance**2)
        if kind == 2:
            return np.exp((-2.0 / first**2) * np.sin((pi / tree[2]) * self.distance) ** 2)
        first, second = self.covariance(first), self.covariance(tree[2])
        return first + second if kind == 3 else first * second

    def score(self, tree: tuple[Any, ...]) -> float:
        cov = np.broadcast_to(self.covariance(tree), self.distance.shape)
        return log_normal_density(self.y, cov, self.variance)

    def score_tree(self, tree: tuple[Any, ...]) -> float:
        log_likelihood = self.score(tree)
        self.new = tree, log_likelihood
        return log_likelihood - self.log_likelihood

    def keep(self) -> None:
        self.tree, self.log_likelihood = self.new


class FreshExpression(Grammar):
    def draw(self, rng: np.random.Generator, depth: int) -> tuple[Any, ...]:
        kind = index(rng, INNER if depth < 2 else LEAVES)
        if kind == 0:
            return kind, rng.lognormal(0.0, 0.5)
        if kind == 1:
            return kind, rng.lognormal(0.0, 0.7)
        if kind == 2:
            return kind, rng.lognormal(0.0, 0.5), rng.lognormal(0.7, 0.5)
        return kind, self.draw(rng, depth + 1), self.draw(rng, depth + 1)

    def propose(self, rng: np.random.Generator) -> float:
        return self.score_tree(self.draw(rng, 0))


class OtherOperator(Grammar):
    def propose(self, rng: np.random.Generator) -> float:
        kind = self.tree[0]
        self.new = None
        if kind < 3:
            return 0.0
        return self.score_tree((7 - kind, self.tree[2], self.tree[1]))


# --- a sum of terms; a component is (kind, amplitude, length, covariance) -------------------------


class Terms(BirthDeath):
    """What is kept is the sum of the covariances. The prior of a new term is its proposal."""

    least, most = 1, 3

    def __init__(self, trace: Any) -> None:
        (t,) = trace.args
        k = trace["k"]
        self.y, self.distance = trace["y"], np.subtract.outer(t, t)
        self.square, self.size = -0.5 * self.distance**2, -np.abs(self.distance)
        self.noise = trace["noise"]
        self.variance = self.noise**2 + 1e-6
        numbers = zip(*(values(trace, name, k) for name in ("kind", "amplitude", "length")), strict=True)
        self.components = [self.component(*each) for each in numbers]
        self.kept = np.zeros_like(self.distance)
        self.kept, self.log_likelihood = self.rescored((), tuple(self.components), self.components)

    def component(self, kind: int, amplitude: float, length: float) -> tuple[Any, ...]:
        if kind == 0:
            cov = self.square / (length * length)
            np.exp(cov, out=cov)
        elif kind == 1:
            cov = self.size / length
            np.exp(cov, out=cov)
        else:
            cov = self.distance / length
            np.cos(cov, out=cov)
        cov *= amplitude * amplitude
        return kind, amplitude, length, cov

    def rescored(self, gone: Any, come: Any, proposed: Any) -> tuple[Any, float]:
        cov = self.kept
        for component in gone:
            cov = cov - component[3]
        for component in come:
            cov = cov + component[3]
        return cov, log_normal_density(self.y, cov, self.variance)

    def draw(self, rng: np.random.Generator) -> Any:
        return self.component(pick(rng, 3), 0.5 * rng.standard_gamma(2.0), rng.lognormal(0.0, 0.7))

    def log_weight(self, component: Any, k: int) -> float:
        return 0.0


class StepTerm(Terms):
    def propose(self, rng: np.random.Generator) -> float:
        j, turn = pick(rng, len(self.components)), pick(rng, 3)
        log_length, log_amplitude = 0.3 * rng.standard_normal(), 0.3 * rng.standard_normal()
        kind, amplitude, length, _ = old = self.components[j]
        new = self.component((kind + turn) % 3, amplitude * exp(log_amplitude), length * exp(log_length))
        proposed = self.components.copy()
        proposed[j] = new
        prior = 2.0 * log_amplitude - (new[1] - amplitude) / 0.5  # with the Jacobian, which lengths cancel
        prior -= 0.5 * (log(new[2]) ** 2 - log(length) ** 2) / 0.49
        return prior + self.score((old,), (new,), proposed)


class WalkNoise(Terms):
    def propose(self, rng: np.random.Generator) -> float:
        old = self.noise
        noise = toward(rng, old, 20.0)
        log_likelihood = log_normal_density(self.y, self.kept, noise**2 + 1e-6)
        self.new = noise, log_likelihood
        prior = log_gamma(noise, 3.0, 0.1) - log_gamma(old, 3.0, 0.1)
        return prior + gamma_walk(noise, old, 20.0) + log_likelihood - self.log_likelihood

    def keep(self) -> None:
        self.noise, self.log_likelihood = self.new


MOVES = [
    ("grammar", 0, FreshExpression),
    ("grammar", 1, OtherOperator),
    ("terms", 0, Terms),
    ("terms", 1, StepTerm),
    ("terms", "walk_noise", WalkNoise),
]
