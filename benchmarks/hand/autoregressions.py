"""Moves of the autoregressions: products of lags are kept; recursions are filters."""

from __future__ import annotations

from math import exp, lgamma, log, log1p
from typing import Any

import numpy as np
from scipy.signal import lfilter

from .common import (
    INF,
    BirthDeath,
    Hand,
    array,
    gamma_walk,
    log_normal_ratio,
    log_normals,
    pick,
    toward,
    values,
)

MOST = 4


class Lags(BirthDeath):
    """A component is a coefficient; the last one comes or goes. Lags before the start are zero."""

    looks_at = "few"
    most = MOST

    def __init__(self, trace: Any) -> None:
        (n,) = trace.args
        y = array(trace, "y", n)
        lagged = np.array([np.concatenate([np.zeros(lag), y])[:n] for lag in range(MOST + 1)])
        self.gram, self.n, self.sd = (lagged @ lagged.T).tolist(), n, trace["sd"]
        self.components = values(trace, "phi", trace["order"])
        self.kept, self.log_likelihood = self.rescored((), (), self.components)

    def squares(self, phi: list[float]) -> float:
        """The sum of squared errors."""
        c = [-1.0, *phi]
        rows = zip(c, self.gram, strict=False)
        return sum(a * sum(b * x for b, x in zip(c, row, strict=False)) for a, row in rows)

    def rescored(self, gone: Any, come: Any, proposed: Any) -> tuple[Any, float]:
        return None, -0.5 * self.squares(proposed) / self.sd**2

    def draw_place(self, rng: np.random.Generator, n: int) -> int:
        if n == len(self.components):  # the only one that may die
            return pick(rng, 1) if n == 1 else n - 1
        return n - 1

    def draw(self, rng: np.random.Generator) -> float:
        return 0.3 * rng.standard_normal()

    def log_weight(self, component: Any, k: int) -> float:
        return log_normal_ratio(component, 0.5, 0.3)


class WalkPhi(Lags):
    def __init__(self, trace: Any) -> None:
        super().__init__(trace)
        self.about = self.squares(self.components)

    def propose(self, rng: np.random.Generator) -> float:
        old, sd = self.sd, toward(rng, self.sd, 30.0)
        phi = [p + 0.1 * rng.standard_normal() for p in self.components]
        about = self.squares(phi)
        self.new = phi, sd, about
        prior = -2.0 * sum(a * a - b * b for a, b in zip(phi, self.components, strict=True))
        prior += gamma_walk(sd, old, 30.0) + (3.0 - self.n) * log(sd / old) - (sd - old) / 0.2
        return prior - 0.5 * (about / sd**2 - self.about / old**2)

    def keep(self) -> None:
        self.components, self.sd, self.about = self.new


# --- with a moving average ------------------------------------------------------------------------


class Arma(Hand):
    """`parts` are phi and theta, None where there is none."""

    def __init__(self, trace: Any) -> None:
        (n,) = trace.args
        self.y, self.mu, self.sigma = array(trace, "y", n), trace["mu"], trace["sigma"]
        names = {"ar": "phi", "ma": "theta"}
        self.parts = [trace[name] if trace["has_" + part] else None for part, name in names.items()]
        self.log_likelihood = self.score(self.parts, self.mu, self.sigma)

    def score(self, parts: list[float | None], mu: float, sigma: float) -> float:
        errors = self.y - mu
        if parts[0] is not None:
            errors[1:] -= parts[0] * errors[:-1]
        if parts[1] is not None:
            errors = lfilter((1.0,), (1.0, parts[1]), errors)
        return log_normals(float(errors @ errors), len(errors), sigma)

    def score_state(self, parts: list[float | None], mu: float, sigma: float) -> float:
        log_likelihood = self.score(parts, mu, sigma)
        self.new = parts, mu, sigma, log_likelihood
        return log_likelihood - self.log_likelihood

    def keep(self) -> None:
        self.parts, self.mu, self.sigma, self.log_likelihood = self.new


class SwitchPart(Arma):
    """The prior of a coefficient is its proposal."""

    def propose(self, rng: np.random.Generator) -> float:
        which, parts = int(rng.random() < 0.5), self.parts.copy()
        parts[which] = None if parts[which] is not None else 2.0 * rng.random() - 1.0
        return self.score_state(parts, self.mu, self.sigma)


class ExchangeParts(Arma):
    def propose(self, rng: np.random.Generator) -> float:
        return self.score_state(self.parts[::-1], self.mu, self.sigma)


class WalkArma(Arma):
    def propose(self, rng: np.random.Generator) -> float:
        mu, old = self.mu + 0.1 * rng.standard_normal(), self.sigma
        sigma = toward(rng, old, 30.0)
        prior = -0.5 * (mu * mu - self.mu**2) + 3.0 * log(sigma / old) - (sigma - old) / 0.2
        return prior + gamma_walk(sigma, old, 30.0) + self.score_state(self.parts, mu, sigma)


# --- volatility -----------------------------------------------------------------------------------


class Garch(Hand):
    """The variances don't depend on the tails: they are kept, and so are the standardised squares."""

    def __init__(self, trace: Any) -> None:
        before, n = trace.args
        self.squares = array(trace, "r", n) ** 2
        self.last = np.array([before[-1] ** 2, *self.squares[:-1]])
        self.start = sum(r * r for r in before) / len(before)
        self.omega, self.a, self.b = trace["omega"], trace["a"], trace["b"]
        self.df = 2.0 + trace["df"] if trace["heavy"] else INF
        self.scored = self.rescored(self.a, self.b)
        self.log_likelihood = self.tails(self.df, *self.scored)

    def rescored(self, a: float, b: float) -> tuple[np.ndarray, float]:
        """The standardised squares, and the sum of the logs of the standard deviations."""
        shocks = a * self.last
        shocks += self.omega
        variances, _ = lfilter((1.0,), (1.0, -b), shocks, zi=[b * self.start])
        return self.squares / variances, 0.5 * float(np.log(variances).sum())

    @staticmethod
    def tails(df: float, squares: np.ndarray, log_sds: float) -> float:
        if df == INF:
            return -0.5 * float(squares.sum()) - log_sds - len(squares) * 0.9189385332046727
        constant = lgamma(0.5 * (df + 1.0)) - lgamma(0.5 * df) - 0.5 * log(df * np.pi)
        return len(squares) * constant - log_sds - 0.5 * (df + 1.0) * float(np.log1p(squares / df).sum())


class ToggleTail(Garch):
    """The prior of the tail is its proposal."""

    def propose(self, rng: np.random.Generator) -> float:
        df = 2.0 + 4.0 * rng.standard_gamma(2.0) if self.df == INF else INF
        log_likelihood = self.tails(df, *self.scored)
        self.new = df, log_likelihood
        return log_likelihood - self.log_likelihood

    def keep(self) -> None:
        self.df, self.log_likelihood = self.new


class Trade(Garch):
    """In logits the map is a shift: the Jacobian is that of x (1 - x), and the beta priors are powers."""

    def propose(self, rng: np.random.Generator) -> float:
        u = 0.3 * rng.random()
        if rng.random() >= 0.5:
            u = -u
        new, ratio = [], 0.0
        for x, sign, power, other in ((self.a, -1.0, 2.0, 8.0), (self.b, 1.0, 8.0, 2.0)):
            odds = x / (1.0 - x) * exp(sign * u)
            rest = 1.0 / (1.0 + odds)
            new.append(odds * rest)
            ratio += power * log(odds * rest / x) + other * (log(rest) - log1p(-x))
        scored = self.rescored(*new)
        log_likelihood = self.tails(self.df, *scored)
        self.new = new, scored, log_likelihood
        return ratio + log_likelihood - self.log_likelihood

    def keep(self) -> None:
        (self.a, self.b), self.scored, self.log_likelihood = self.new


MOVES = [
    ("unknown_order", 0, Lags),
    ("unknown_order", "walk_phi", WalkPhi),
    ("arma", 0, SwitchPart),
    ("arma", 1, ExchangeParts),
    ("arma", "walk_arma", WalkArma),
    ("garch", 0, ToggleTail),
    ("garch", 1, Trade),
]
