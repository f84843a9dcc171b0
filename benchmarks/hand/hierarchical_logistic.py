"""Moves of the logistic regressions: the linear predictor of each subject is kept."""

from __future__ import annotations

from math import exp, log, log1p
from typing import Any

import numpy as np

from .common import Hand, array, gamma_walk, log_normal, toward, values


class Logistic(Hand):
    """Outcomes of binomials of `trials` each; `y` are the numbers of successes."""

    def begin(self, y: Any, eta: np.ndarray, trials: float = 1.0) -> None:
        self.y, self.eta, self.trials = np.asarray(y, dtype=float), eta, trials
        self.log_likelihood = self.score(eta)

    def score(self, eta: np.ndarray) -> float:
        """Without the binomial coefficients."""
        soft = np.log1p(np.exp(-np.abs(eta)))
        soft += np.maximum(eta, 0.0)
        return float(self.y @ eta - self.trials * soft.sum())


# --- an intercept for each group ------------------------------------------------------------------


class WalkSpread(Hand):
    looks_at = "few"

    def __init__(self, trace: Any) -> None:
        alpha = values(trace, "alpha", 4)
        self.n, self.spread = len(alpha), trace["spread"]
        self.squares = sum((a - trace["mean"]) ** 2 for a in alpha)

    def propose(self, rng: np.random.Generator) -> float:
        old = self.spread
        self.new = new = toward(rng, old, 10.0)
        ratio = gamma_walk(new, old, 10.0) - 0.5 * (new * new - old * old) - self.n * log(new / old)
        return ratio - 0.5 * self.squares * (new**-2 - old**-2)

    def keep(self) -> None:
        self.spread = self.new


class ShiftAll(Logistic):
    """The prior of the intercepts given their mean doesn't change."""

    def __init__(self, trace: Any) -> None:
        x, group = trace.args
        self.mean = trace["mean"]
        eta = np.array(values(trace, "alpha", 4))[group] + trace["slope"] * np.array(x)
        self.begin(values(trace, "y", len(x)), eta)

    def propose(self, rng: np.random.Generator) -> float:
        shift = 0.4 * rng.standard_normal()
        eta = self.eta + shift
        log_likelihood = self.score(eta)
        self.new = self.mean + shift, eta, log_likelihood
        return log_likelihood - self.log_likelihood - shift * (2.0 * self.mean + shift) / 4.5

    def keep(self) -> None:
        self.mean, self.eta, self.log_likelihood = self.new


# --- one slope for all, or one for each group -----------------------------------------------------


class Pooled(Logistic):
    """`slopes` are those of the groups, one number of them where there is one for all."""

    def __init__(self, trace: Any) -> None:
        (data,) = trace.args
        self.x = np.array([x for x, _ in data])
        self.group = np.array(["abcd".index(name) for _, name in data])
        self.base, names = trace["base"], ("all",) if trace["pooled"] else "abcd"
        self.slopes = [trace["slope", name] for name in names]
        self.begin(values(trace, "y", len(data)), self.predictor(self.base, self.slopes))

    def predictor(self, base: float, slopes: list[float]) -> np.ndarray:
        each = slopes[0] if len(slopes) == 1 else np.array(slopes)[self.group]
        return base + each * self.x

    def score_of(self, base: float, slopes: list[float]) -> float:
        log_likelihood = self.score(self.predictor(base, slopes))
        self.new = base, slopes, log_likelihood
        return log_likelihood - self.log_likelihood

    def keep(self) -> None:
        self.base, self.slopes, self.log_likelihood = self.new


class Pool(Pooled):
    """(slope, d) -> (slope + d, slope - sum of d) has determinant 4."""

    @staticmethod
    def log_split(slope: float, own: list[float], d: list[float]) -> float:
        prior = -0.5 * (sum(s * s for s in own) - slope * slope)
        return prior + 3.0 * log_normal(0.0, 0.0, 1.0) - sum(log_normal(u, 0.0, 0.5) for u in d) + log(4.0)

    def propose(self, rng: np.random.Generator) -> float:
        if len(self.slopes) == 1:
            (slope,) = self.slopes
            d = (0.5 * rng.standard_normal(3)).tolist()
            own = [*(slope + u for u in d), slope - sum(d)]
            return self.log_split(slope, own, d) + self.score_of(self.base, own)
        own = self.slopes
        slope = 0.25 * sum(own)
        d = [s - slope for s in own[:3]]
        return -self.log_split(slope, own, d) + self.score_of(self.base, [slope])


class WalkBase(Pooled):
    def propose(self, rng: np.random.Generator) -> float:
        base, slopes = self.base + 0.4 * rng.standard_normal(), self.slopes
        ratio = self.base**2 - base**2
        if len(slopes) == 1:
            slopes = [slopes[0] + 0.4 * rng.standard_normal()]
            ratio += self.slopes[0] ** 2 - slopes[0] ** 2
        return 0.5 * ratio + self.score_of(base, slopes)


# --- arrays ---------------------------------------------------------------------------------------


class StepBeta(Logistic):
    """The parts of the predictor that beta and tau multiply are kept."""

    def __init__(self, trace: Any) -> None:
        self.x, group, trials = trace.args
        self.raw = array(trace, "raw", 4)[group]
        self.beta, self.tau = trace["beta"], trace["tau"]
        self.begin(trace["y"], self.x @ self.beta + self.tau * self.raw, float(trials[0]))

    def propose(self, rng: np.random.Generator) -> float:
        step, factor = 0.1**0.5 * rng.standard_normal(2), 0.3 * rng.standard_normal()
        beta, tau = self.beta + step, self.tau * exp(factor)
        eta = self.x @ beta
        eta += tau * self.raw
        log_likelihood = self.score(eta)
        self.new = beta, tau, log_likelihood
        prior = -0.5 * float(step @ (self.beta + beta)) - log1p(tau * tau) + log1p(self.tau * self.tau)
        return prior + factor + log_likelihood - self.log_likelihood

    def keep(self) -> None:
        self.beta, self.tau, self.log_likelihood = self.new


MOVES = [
    ("varying_intercepts", "walk_spread", WalkSpread),
    ("varying_intercepts", 0, ShiftAll),
    ("pooled_or_not", 0, Pool),
    ("pooled_or_not", "walk_base", WalkBase),
    ("arrays", 0, StepBeta),
]
