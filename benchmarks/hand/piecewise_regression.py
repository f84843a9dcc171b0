"""Moves of the piecewise regressions: residuals and each hinge's part of the curve are kept."""

from __future__ import annotations

from math import log
from typing import Any

import numpy as np

from .common import (
    INF,
    BirthDeath,
    Curve,
    Hand,
    SplitMerge,
    gamma_walk,
    log_gamma,
    log_normal,
    log_normal_ratio,
    pick,
    toward,
    values,
)

# --- hinges; a component is (knot, bend, bend max(x - knot, 0)) -----------------------------------


class Hinges(Curve):
    names = "knot", "bend"

    def __init__(self, trace: Any) -> None:
        (x,) = trace.args
        self.x = np.asarray(x)
        self.precision = self.precision_of(trace)
        k = trace["k"]
        pairs = zip(*(values(trace, name, k) for name in self.names), strict=True)
        self.components = [self.component(*pair) for pair in pairs]
        self.start(self.residual(trace))

    def precision_of(self, trace: Any) -> float:
        return float(trace["sd"] ** -2)

    def residual(self, trace: Any) -> np.ndarray:
        """The data without the line."""
        return np.array(values(trace, "y", len(self.x))) - trace["intercept"] - trace["slope"] * self.x

    def component(self, knot: float, bend: float) -> tuple[Any, ...]:
        column = self.x - knot
        np.maximum(column, 0.0, out=column)
        column *= bend
        return knot, bend, column


class HingeBirths(Hinges, BirthDeath):
    most = 5

    def draw(self, rng: np.random.Generator) -> Any:
        return self.component(10.0 * rng.random(), 0.6 * rng.standard_normal())

    def log_weight(self, component: Any, k: int) -> float:
        return log_normal_ratio(component[1], 1.0, 0.6)


class HingeSplits(Hinges, SplitMerge):
    most, ordered = 5, True

    def draw(self, rng: np.random.Generator, one: Any) -> Any:
        return 0.4 * rng.standard_gamma(2.0), rng.random()

    def split(self, one: Any, u: Any) -> tuple[Any, Any]:
        left, share = u
        knot, bend, _ = one
        return self.component(knot - left, bend * share), self.component(knot + left, bend * (1.0 - share))

    def merge(self, first: Any, second: Any) -> tuple[Any, Any]:
        bend, half = first[1] + second[1], 0.5 * (second[0] - first[0])
        return self.component(first[0] + half, bend), (half, first[1] / bend)

    def log_weight(self, one: Any, u: Any, first: Any, second: Any, k: int) -> float:
        """The Jacobian is 2 for the knots, |bend| for the bends."""
        if not (first[0] >= 0.0 and second[0] <= 10.0 and 0.0 <= u[1] <= 1.0):
            return -INF
        bends = log_normal(first[1], 0.0, 1.0) - 0.5 * (second[1] ** 2 - one[1] ** 2)
        return bends - log(10.0) - log_gamma(u[0], 2.0, 0.4) + log(2.0 * abs(one[1]))


class Line(Hand):
    """Intercept, slope and standard deviation: seven sums are all that they need of the data."""

    looks_at = "few"
    steps = 0.1, 0.05

    def __init__(self, trace: Any) -> None:
        x = np.asarray(trace.args[0])
        z = np.array(values(trace, "y", len(x)))
        for j in range(trace["k"]):
            z -= trace["bend", j] * np.maximum(x - trace["knot", j], 0.0)
        self.begin(x, z, [trace["intercept"], trace["slope"]], trace["sd"])

    def begin(self, x: np.ndarray, z: np.ndarray, line: list[float], sd: float) -> None:
        self.line, self.sd, self.n = line, sd, len(x)
        sums = float(z @ z), float(z.sum()), float(z @ x), float(x.sum()), float(x @ x)
        self.zz, self.z, self.zx, self.x, self.xx = sums
        self.squares = self.squares_about(*line)

    def squares_about(self, a: float, b: float) -> float:
        return (
            self.zz - 2.0 * (a * self.z + b * self.zx)
            + self.n * a * a + 2.0 * a * b * self.x + b * b * self.xx
        )  # fmt: skip

    def draw_sd(self, rng: np.random.Generator) -> tuple[float, float]:
        """A standard deviation, with the log ratio of its prior and proposal."""
        sd = toward(rng, self.sd, 50.0)
        return sd, gamma_walk(sd, self.sd, 50.0) - 0.5 * (sd * sd - self.sd * self.sd)

    def log_prior(self, a: float, b: float) -> float:
        return -0.125 * a * a - 0.5 * b * b

    def draw_line(self, rng: np.random.Generator) -> list[float]:
        return [now + step * rng.standard_normal() for now, step in zip(self.line, self.steps, strict=True)]

    def propose(self, rng: np.random.Generator) -> float:
        line = self.draw_line(rng)
        return self.score_line(line, *self.draw_sd(rng))

    def score_line(self, line: list[float], sd: float, ratio: float) -> float:
        squares = self.squares_about(*line)
        self.new = line, sd, squares
        ratio += self.log_prior(*line) - self.log_prior(*self.line) - self.n * log(sd / self.sd)
        return ratio - 0.5 * (squares / (sd * sd) - self.squares / (self.sd * self.sd))

    def keep(self) -> None:
        self.line, self.sd, self.squares = self.new


# --- heights at sorted knots, interpolated --------------------------------------------------------


class Interpolated(Hand):
    precision = 0.4**-2

    def __init__(self, trace: Any) -> None:
        (self.x,) = trace.args
        k = trace["k"]
        self.knots = [0.0, *values(trace, "knot", k), 10.0]
        self.heights = values(trace, "height", k + 2)
        self.y = np.array(values(trace, "y", len(self.x)))
        self.residual = self.y - np.interp(self.x, self.knots, self.heights)


class AddOrRemove(Interpolated):
    """The data between the knots next to the one that comes or goes are all that is scored."""

    looks_at = "part"

    @staticmethod
    def log_addition(k: int, spare: float, width: float, height: float, lift: float) -> float:
        """The log ratio without the likelihood of one knot more than k, in a gap of this width.

        `spare` is what the density of one knot more is uniform on; the choices of gap and knot cancel.
        """
        prior = log(1.5 / (k + 1) / spare) + log_normal(height, 0.0, 3.0)
        return prior + log(0.5 * width / (0.5 if k else 1.0)) - log_normal(lift, 0.0, 0.5)

    def propose(self, rng: np.random.Generator) -> float:
        knots, heights = self.knots, self.heights
        k = len(knots) - 2
        if rng.random() < (0.5 if k else 1.0):
            j, part, lift = pick(rng, k + 1), rng.random(), 0.5 * rng.standard_normal()
            left, right, end = knots[j], knots[j + 1], j + 1
            at = left + (right - left) * part
            height = heights[j] + (heights[end] - heights[j]) * part + lift
            corners, tops, fewer, sign = [left, at, right], [heights[j], height, heights[end]], k, 1.0
        else:
            j = pick(rng, k)
            left, at, right = knots[j : j + 3]
            end, height = j + 2, heights[j + 1]
            lift = height - heights[j] - (heights[end] - heights[j]) * (at - left) / (right - left)
            corners, tops, fewer, sign = [left, right], [heights[j], heights[end]], k - 1, -1.0
        spare = 10.0 - (at if j < fewer else left)
        ratio = sign * self.log_addition(fewer, spare, right - left, height, lift)
        a, b = self.x.searchsorted((left, right)).tolist()
        old, new = self.residual[a:b], self.y[a:b] - np.interp(self.x[a:b], corners, tops)
        self.new = j, end, corners, tops, a, b, new
        return ratio - 0.5 * self.precision * float(new @ new - old @ old)

    def keep(self) -> None:
        j, end, corners, tops, a, b, residual = self.new
        self.knots[j : end + 1], self.heights[j : end + 1] = corners, tops
        self.residual[a:b] = residual


class WalkHeights(Interpolated):
    def propose(self, rng: np.random.Generator) -> float:
        heights = [h + 0.15 * rng.standard_normal() for h in self.heights]
        residual, old = self.y - np.interp(self.x, self.knots, heights), self.residual
        self.new = heights, residual
        prior = sum(a * a - b * b for a, b in zip(heights, self.heights, strict=True)) / 18.0
        return -prior - 0.5 * self.precision * float(residual @ residual - old @ old)

    def keep(self) -> None:
        self.heights, self.residual = self.new


# --- a design matrix ------------------------------------------------------------------------------


class ColumnBirths(Hinges, BirthDeath):
    """The prior of a new column is its proposal."""

    most, names = 3, ("knot", "beta")

    def precision_of(self, trace: Any) -> float:
        return float(np.exp(-2.0 * trace["log_sd"]))

    def residual(self, trace: Any) -> np.ndarray:
        return np.asarray(trace["y"] - trace["line", "intercept"] - trace["line", "slope"] * self.x)

    def draw(self, rng: np.random.Generator) -> Any:
        return self.component(10.0 * rng.random(), rng.standard_normal())

    def log_weight(self, component: Any, k: int) -> float:
        return 0.0


class WalkDesign(Line):
    steps = 0.05, 0.05

    def __init__(self, trace: Any) -> None:
        x, z = trace.args[0], trace["y"].copy()
        for j in range(trace["k"]):
            z -= trace["beta", j] * np.maximum(x - trace["knot", j], 0.0)
        self.begin(x, z, [trace["line", side] for side in ("intercept", "slope")], np.exp(trace["log_sd"]))

    def log_prior(self, a: float, b: float) -> float:
        return -0.125 * (a * a + b * b)

    def propose(self, rng: np.random.Generator) -> float:
        old = log(self.sd)
        new = old + 0.1 * rng.standard_normal()
        prior = -2.0 * ((new + 1.0) ** 2 - (old + 1.0) ** 2)
        return self.score_line(self.draw_line(rng), float(np.exp(new)), prior)


MOVES = [
    ("hinges", 0, HingeBirths),
    ("hinges", 1, HingeSplits),
    ("hinges", "walk_line", Line),
    ("interpolated", 0, AddOrRemove),
    ("interpolated", "walk_heights", WalkHeights),
    ("least_squares", 0, ColumnBirths),
    ("least_squares", "walk_design", WalkDesign),
]
