"""Hamiltonian Monte Carlo of ten steps, against the same written by hand in NumPy with the gradient on paper.

Three posteriors: ten independent normal choices, made one by one and as one array; and a regression with 1000
observations in a plate, where the scale's unconstrained coordinate is its logarithm.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from harness import Row, Scale
from local_moves import Chain

from gendsl import gamma, gen, iid, normal, select
from gendsl.inference import hmc

STEPS = 10


@gen
def ten_choices(n):
    for i in range(n):
        ("x", i) @ ~normal(0, 1)


@gen
def one_array(n):
    x = ~iid(normal(0, 1), n)


@gen
def regression(x):
    intercept = ~normal(0, 10)
    slope = ~normal(0, 10)
    scale = ~gamma(2, 1)
    for i in range(len(x)):
        ("y", i) @ ~normal(intercept + slope * x[i], scale)


class HMCByHand:
    """HMC with the identity as mass, from a function that gives a log density and its gradient."""

    def __init__(
        self, target: Callable[[np.ndarray], tuple[float, np.ndarray]], u: np.ndarray, size: float
    ) -> None:
        self.target, self.u, self.size = target, u, size
        self.rng = np.random.default_rng(1)

    def step(self) -> float:
        log_density, gradient = self.target(self.u)
        p = self.rng.standard_normal(len(self.u))
        energy = 0.5 * p.dot(p) - log_density
        u = self.u
        for _ in range(STEPS):
            p = p + 0.5 * self.size * gradient
            u = u + self.size * p
            log_density, gradient = self.target(u)
            p = p + 0.5 * self.size * gradient
        ratio = float(energy - 0.5 * p.dot(p) + log_density)
        if ratio >= 0.0 or self.rng.random() < math.exp(ratio):
            self.u = u
        return ratio


def standard_normal(u: np.ndarray) -> tuple[float, np.ndarray]:
    """log N(u; 0, 1) and its gradient."""
    return -0.5 * float(u.dot(u)) - 0.5 * len(u) * math.log(2.0 * math.pi), -u


def regression_by_hand(x: np.ndarray, y: np.ndarray) -> Callable[[np.ndarray], tuple[float, np.ndarray]]:
    """log p(u) of intercept, slope and log scale, and its gradient."""
    n, log_2pi = len(x), math.log(2.0 * math.pi)

    def target(u: np.ndarray) -> tuple[float, np.ndarray]:
        a, b, log_scale = u.tolist()
        scale = math.exp(log_scale)
        z = (y - a - b * x) / scale
        squares = float(z.dot(z))
        value = -0.5 * squares - n * (log_scale + 0.5 * log_2pi) - (a * a + b * b) / 200.0
        value += -2.0 * math.log(10.0) - log_2pi + log_scale - scale + log_scale
        gradient = [float(z.sum()) / scale - a / 100.0, float(z.dot(x)) / scale - b / 100.0,
                    squares - n + 2.0 - scale]  # fmt: skip
        return value, np.array(gradient)

    return target


def data(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Points of a line, with noise."""
    rng = np.random.default_rng(0)
    x = np.linspace(-1.0, 1.0, n)
    return x, 0.5 + 2.0 * x + rng.standard_normal(n)


def rows(scale: Scale) -> list[Row]:
    """One transition of ten leapfrog steps, and so eleven gradients."""
    found = []
    u = np.random.default_rng(2).standard_normal(10)
    for name, model in (("10 normal choices", ten_choices), ("an array of 10 normals", one_array)):
        trace = model.generate((10,), init={"x": u}).trace
        chain = Chain(hmc(select("x"), 0.3, STEPS), trace, 1)
        by_hand = HMCByHand(standard_normal, u, 0.3)
        found.append(Row(f"HMC transition, {name}", 10, chain.step, "NumPy step", by_hand.step))
    for n in scale.sizes(1000, 10_000, 100_000):
        x, y = data(n)
        start = np.array([0.5, 2.0, 0.0])
        init = {"intercept": 0.5, "slope": 2.0, "scale": 1.0}
        trace = regression.generate((x,), {"y": y}, init=init).trace
        size = 0.5 / math.sqrt(n)
        selection = select("intercept", "slope", "scale")
        by_hand = HMCByHand(regression_by_hand(x, y), start, size)
        chain = Chain(hmc(selection, size, STEPS), trace, 1)
        found.append(Row("HMC transition, regression on N points", n, chain.step, "NumPy step", by_hand.step))
    return found


GROUPS = {"gradient-kernels": rows}
