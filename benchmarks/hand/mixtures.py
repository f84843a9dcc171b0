"""Moves of the mixtures: what each component gives each point is kept, as an array for each component."""

from __future__ import annotations

from math import exp, log, sqrt
from typing import Any

import numpy as np
from figure1_numpy import log_abs_det_split

from .common import (
    INF,
    LOG_2PI,
    AssignedSplitMerge,
    BirthDeath,
    Hand,
    SplitMerge,
    array,
    gamma_walk,
    log_gamma,
    log_normal,
    pick,
    toward,
    values,
)

MOST = 5
UNDERFLOW = 1e-280  # a density below this has lost digits


def log_of_sum(rows: list[np.ndarray]) -> float:
    """The sum over the points of the log of the sum of these densities; -inf where one has lost digits."""
    total = rows[0].copy()
    for row in rows[1:]:
        total += row
    return float(np.log(total).sum()) if total.min() > UNDERFLOW else -INF


# --- normal components ----------------------------------------------------------------------------


class Weighted(Hand):
    """Means, variances and weights; rows are the weighted densities of the points, but for a constant."""

    address, most = "y", 10**9
    log_likelihood = 0.0

    def __init__(self, trace: Any) -> None:
        (n,) = trace.args
        k = trace["k"]
        self.y = array(trace, self.address, n)
        self.means, self.variances = values(trace, "mu", k), values(trace, "var", k)
        self.weights = trace["weights"].tolist()
        self.rows = list(map(self.row, self.weights, self.means, self.variances))
        self.score(self.means, self.variances, self.weights, self.rows)
        self.keep()

    def row(self, weight: float, mean: float, variance: float) -> np.ndarray:
        z = self.y - mean
        z *= z
        z *= -0.5 / variance
        np.exp(z, out=z)
        z *= weight / sqrt(variance)
        return z

    def log_row(self, weight: float, mean: float, variance: float) -> np.ndarray:
        """The logarithm of a row, where the row underflows."""
        return -0.5 * (self.y - mean) ** 2 / variance + log(weight / sqrt(variance))

    def score(self, means: list[float], variances: list[float], weights: list[float], rows: Any) -> float:
        """The log ratio of likelihoods; the proposal is in `new`."""
        log_likelihood = log_of_sum(rows)
        if log_likelihood == -INF:
            logs = np.array(list(map(self.log_row, weights, means, variances)))
            top = logs.max(axis=0)
            log_likelihood = float((np.log(np.exp(logs - top).sum(axis=0)) + top).sum())
        self.new = means, variances, weights, rows, log_likelihood
        return log_likelihood - self.log_likelihood

    def keep(self) -> None:
        self.means, self.variances, self.weights, self.rows, self.log_likelihood = self.new


class MomentSplitMerge(Weighted):
    """A split or merge with the last that keeps weight, mean and variance; see `figure1_numpy`.

    The weights are Dirichlet(2, ..., 2), the shares beta(2, 2), beta(2, 2) and beta(1, 1).
    """

    def log_prior(self, k: int, m: float, v: float, m1: float, m2: float, v1: float, v2: float) -> float:
        """The log ratio of the priors of k, means and variances in a split of one of k."""
        raise NotImplementedError

    def chance(self, k: int) -> float:
        """The probability of a split."""
        return 1.0 if k == 1 else 0.0 if k == self.most else 0.5

    def log_split(
        self, k: int, w: float, m: float, v: float, parts: tuple[float, ...], u: float, d: float
    ) -> float:
        shares, rest = u * (1.0 - u), d * (1.0 - d)
        weights = log(2 * k * (2 * k + 1) * w * shares) + log_abs_det_split(w, v, u, d)
        chances = (1.0 - self.chance(k + 1)) / (36.0 * self.chance(k) * shares * rest)
        return self.log_prior(k, m, v, *parts) + weights + log(chances)

    def propose(self, rng: np.random.Generator) -> float:
        means, variances, weights = self.means.copy(), self.variances.copy(), self.weights.copy()
        rows, k = self.rows.copy(), len(self.means)
        if rng.random() < self.chance(k):
            j = pick(rng, k)
            u, d, s = rng.beta(2.0, 2.0), rng.beta(2.0, 2.0), rng.beta(1.0, 1.0)
            w, m, v = weights[j], means[j], variances[j]
            odds, inside = sqrt((1.0 - u) / u), (1.0 - d * d) * v
            m1, m2 = m - d * sqrt(v) * odds, m + d * sqrt(v) / odds
            v1, v2 = s * inside / u, (1.0 - s) * inside / (1.0 - u)
            weights[j], means[j], variances[j] = w * u, m1, v1
            weights.append(w * (1.0 - u))
            means.append(m2)
            variances.append(v2)
            rows[j] = self.row(w * u, m1, v1)
            rows.append(self.row(w * (1.0 - u), m2, v2))
            ratio = self.log_split(k, w, m, v, (m1, m2, v1, v2), u, d)
        else:
            j = pick(rng, k - 1)
            w1, w2, m1, m2 = weights[j], weights.pop(), means[j], means.pop()
            v1, v2 = variances[j], variances.pop()
            if m1 >= m2:
                return -INF
            rows.pop()
            w = w1 + w2
            u = w1 / w
            m, between = u * m1 + (1.0 - u) * m2, u * (1.0 - u) * (m2 - m1) ** 2
            v = u * v1 + (1.0 - u) * v2 + between
            weights[j], means[j], variances[j], rows[j] = w, m, v, self.row(w, m, v)
            ratio = -self.log_split(k - 1, w, m, v, (m1, m2, v1, v2), u, sqrt(between / v))
        return ratio + self.score(means, variances, weights, rows)


class NormalsSplitMerge(MomentSplitMerge):
    most = MOST

    def log_prior(self, k: int, m: float, v: float, m1: float, m2: float, v1: float, v2: float) -> float:
        means = -(m1 * m1 + m2 * m2 - m * m) / 32.0 - log(4.0) - 0.5 * LOG_2PI
        return means + 2.0 * log(2.0) - 4.0 * log(v1 * v2 / v) - 2.0 * (1.0 / v1 + 1.0 / v2 - 1.0 / v)


class NormalsWalk(Weighted):
    """A random walk of one mean."""

    def propose(self, rng: np.random.Generator) -> float:
        j, step = pick(rng, len(self.means)), 0.4 * rng.standard_normal()
        means, rows, old = self.means.copy(), self.rows.copy(), self.means[j]
        means[j] = new = old + step
        rows[j] = self.row(self.weights[j], new, self.variances[j])
        prior = -(new * new - old * old) / 32.0
        return prior + self.score(means, self.variances, self.weights, rows)


# --- Student components, equally likely; a component is (location, scale, row) --------------------


class StudentsSplitMerge(SplitMerge):
    most, ordered = MOST, True

    def __init__(self, trace: Any) -> None:
        n, self.df = trace.args
        k = trace["k"]
        self.y = array(trace, "y", n)
        pairs = zip(values(trace, "location", k), values(trace, "scale", k), strict=True)
        self.components = [self.component(*pair) for pair in pairs]
        self.kept, self.log_likelihood = self.rescored((), (), self.components)

    def component(self, location: float, scale: float) -> tuple[Any, ...]:
        """With (1 + z^2 / df)^(-(df + 1) / 2) / scale, the density without its constant."""
        z = self.y - location
        z /= scale
        z *= z
        z /= self.df
        z += 1.0
        z **= -0.5 * (self.df + 1.0)
        z /= scale
        return location, scale, z

    def rescored(self, gone: Any, come: Any, proposed: Any) -> tuple[Any, float]:
        return None, log_of_sum([c[2] for c in proposed]) - len(self.y) * log(len(proposed))

    def draw(self, rng: np.random.Generator, one: Any) -> tuple[float, float]:
        return 0.6 * rng.standard_gamma(2.0), 0.4 * rng.standard_normal()

    def split(self, one: Any, u: Any) -> tuple[Any, Any]:
        factor = exp(u[1])
        return (
            self.component(one[0] - u[0], one[1] * factor),
            self.component(one[0] + u[0], one[1] / factor),
        )

    def merge(self, first: Any, second: Any) -> tuple[Any, Any]:
        one = self.component(0.5 * (first[0] + second[0]), sqrt(first[1] * second[1]))
        return one, (0.5 * (second[0] - first[0]), 0.5 * log(first[1] / second[1]))

    def log_weight(self, one: Any, u: Any, first: Any, second: Any, k: int) -> float:
        """The Jacobian is 2 for the locations, 2 scale for the scales."""
        prior = -(first[0] ** 2 + second[0] ** 2 - one[0] ** 2) / 32.0 - log(4.0) - 0.5 * LOG_2PI
        prior += log(one[1]) - 2.0 * (first[1] + second[1] - one[1]) + log(4.0)
        return prior + log(4.0 * one[1]) - log_gamma(u[0], 2.0, 0.6) - log_normal(u[1], 0.0, 0.4)


class StudentsWalk(StudentsSplitMerge):
    def propose(self, rng: np.random.Generator) -> float:
        proposed, ratio = [], 0.0
        for location, scale, _ in self.components:
            new, new_scale = location + 0.2 * rng.standard_normal(), toward(rng, scale, 30.0)
            ratio += (location * location - new * new) / 32.0 + gamma_walk(new_scale, scale, 30.0)
            ratio += log(new_scale / scale) - 2.0 * (new_scale - scale)
            proposed.append(self.component(new, new_scale))
        return ratio + self.score((), (), proposed)


# --- Laplace components; a component is (weight, centre, width, density) --------------------------


class LaplacesBirthDeath(BirthDeath):
    """The weights' prior, proposal and Jacobian cancel, and so do those of the widths."""

    least, most = 1, MOST

    def __init__(self, trace: Any) -> None:
        (n,) = trace.args
        k = trace["k"]
        self.y = array(trace, "y", n)
        centres, widths = values(trace, "centre", k), values(trace, "width", k)
        self.components = list(map(self.component, trace["weights"].tolist(), centres, widths))
        self.kept, self.log_likelihood = self.rescored((), (), self.components)

    def component(self, weight: float, centre: float, width: float) -> tuple[Any, ...]:
        z = self.y - centre
        np.abs(z, out=z)
        z /= -width
        np.exp(z, out=z)
        z *= 0.5 / width
        return weight, centre, width, z

    def draw(self, rng: np.random.Generator) -> Any:
        weight = rng.beta(1.0, len(self.components))
        return self.component(weight, 3.0 * rng.standard_normal(), 0.5 * rng.standard_gamma(2.0))

    def log_weight(self, component: Any, k: int) -> float:
        return log(0.75) - 0.5 * component[1] ** 2 * (1.0 / 16.0 - 1.0 / 9.0)

    def rescored(self, gone: Any, come: Any, proposed: Any) -> tuple[Any, float]:
        """What is kept is the density of each point."""
        if come:
            (new,) = come
            rest = 1.0 - new[0]
            total = rest * self.kept + new[0] * new[3]
        else:
            new, rest = None, 1.0 / (1.0 - gone[0][0]) if gone else 1.0
        for j, c in enumerate(proposed):
            if c is not new:
                proposed[j] = (rest * c[0], *c[1:])
        if new is None:
            total = sum(c[0] * c[3] for c in proposed)
        return total, float(np.log(total).sum())


class LaplacesWalk(LaplacesBirthDeath):
    def propose(self, rng: np.random.Generator) -> float:
        old = self.components
        centres = [c[1] + 0.2 * rng.standard_normal() for c in old]
        widths = [toward(rng, c[2], 20.0) for c in old]
        ratio, proposed = 0.0, []
        for (weight, before, width, _), centre, new in zip(old, centres, widths, strict=True):
            ratio += (before * before - centre * centre) / 32.0 + gamma_walk(new, width, 20.0)
            ratio += log(new / width) - 2.0 * (new - width)
            proposed.append(self.component(weight, centre, new))
        return ratio + self.score((), (), proposed)


# --- normal components with assignments -----------------------------------------------------------


class AssignedSplits(AssignedSplitMerge):
    looks_at = "part"
    most = MOST

    def __init__(self, trace: Any) -> None:
        (n,) = trace.args
        self.y, self.labels = array(trace, "y", n), array(trace, "z", n)
        self.components, self.sigma = values(trace, "mu", trace["k"]), trace["sigma"]

    def draw(self, rng: np.random.Generator, one: Any) -> float:
        return 1.5 * rng.standard_normal()

    def split(self, one: Any, u: Any) -> tuple[float, float]:
        return one - u, one + u

    def merge(self, first: Any, second: Any) -> tuple[float, float]:
        return 0.5 * (first + second), 0.5 * (second - first)

    def log_weight(self, one: Any, u: Any, first: Any, second: Any, k: int) -> float:
        prior = -(first * first + second * second - one * one) / 32.0 - log(4.0) - 0.5 * LOG_2PI
        return prior + log(2.0) - log_normal(u, 0.0, 1.5)

    def to_second(self, points: np.ndarray, first: Any, second: Any) -> np.ndarray:
        y = self.y[points]
        a = np.exp(-0.5 * ((y - first) / self.sigma) ** 2)
        b = np.exp(-0.5 * ((y - second) / self.sigma) ** 2)
        total = a + b
        return 0.1 + 0.8 * np.where(total > 0.0, b / np.where(total > 0.0, total, 1.0), 0.5)

    def log_ratio_of_labels(self, labels: Any, proposed: Any, points: Any, change: Any) -> float:
        one, first, second, to_second, sign = change
        y = self.y[points]
        means = np.where(to_second, second, first)
        squares = float(((y - means) ** 2 - (y - one) ** 2).sum())
        likelihood = -0.5 * sign * squares / self.sigma**2
        return likelihood - len(labels) * log(len(proposed) / len(self.components))


class Relabel(Hand):
    """Numbers in lists: one point gets another label."""

    looks_at = "few"

    def __init__(self, trace: Any) -> None:
        (n,) = trace.args
        self.y, self.labels, self.means = (
            values(trace, "y", n), values(trace, "z", n), values(trace, "mu", trace["k"]),
        )  # fmt: skip
        self.precision = trace["sigma"] ** -2

    def propose(self, rng: np.random.Generator) -> float:
        i, label = self.new = pick(rng, len(self.y)), pick(rng, len(self.means))
        old, new = self.means[self.labels[i]], self.means[label]
        return float(0.5 * self.precision * (new - old) * (2.0 * self.y[i] - new - old))

    def keep(self) -> None:
        self.labels[self.new[0]] = self.new[1]


class AssignedWalk(Hand):
    """The labels stay, so the numbers, sums and sums of squares of their points are all of the data."""

    looks_at = "few"

    def __init__(self, trace: Any) -> None:
        (n,) = trace.args
        y, z, k = array(trace, "y", n), array(trace, "z", n), trace["k"]
        self.means, self.sigma = values(trace, "mu", k), trace["sigma"]
        self.n = n
        self.counts, self.sums = np.bincount(z, minlength=k).tolist(), np.bincount(z, y, k).tolist()
        self.squares = float(y @ y)
        self.about = self.squares_about(self.means)

    def squares_about(self, means: list[float]) -> float:
        sums = zip(means, self.sums, self.counts, strict=True)
        return self.squares + sum(m * (c * m - 2.0 * s) for m, s, c in sums)

    def propose(self, rng: np.random.Generator) -> float:
        old = self.sigma
        sigma = toward(rng, old, 50.0)
        means = [m + 0.15 * rng.standard_normal() for m in self.means]
        about = self.squares_about(means)
        self.new = means, sigma, about
        ratio = gamma_walk(sigma, old, 50.0) + 3.0 * log(sigma / old) - (sigma - old) / 0.2
        ratio -= sum(m * m - b * b for m, b in zip(means, self.means, strict=True)) / 32.0
        likelihood = -0.5 * (about / sigma**2 - self.about / old**2) - self.n * log(sigma / old)
        return ratio + likelihood

    def keep(self) -> None:
        self.means, self.sigma, self.about = self.new


# --- points of the plane --------------------------------------------------------------------------

PRECISION = np.linalg.inv(np.array([[1.0, 0.24], [0.24, 0.64]])).tolist()


class BlobBirths(Hand):
    """A component without points is born or dies: the labels' prior alone changes."""

    looks_at = "few"

    def __init__(self, trace: Any) -> None:
        (n,) = trace.args
        k = trace["k"]
        self.centres, self.labels = values(trace, "centre", k), array(trace, "z", n)
        self.counts = np.bincount(self.labels, minlength=k).tolist()

    @staticmethod
    def log_birth(n: int, k: int, empty: int) -> float:
        """The log ratio of a birth among k, of which some are empty."""
        birth, death = 0.5 if k > 1 and empty else 1.0, 1.0 if k + 1 == 4 else 0.5
        return log(death / birth * (k + 1) / (empty + 1)) - n * log((k + 1) / k)

    def propose(self, rng: np.random.Generator) -> float:
        k, n, counts = len(self.centres), len(self.labels), self.counts
        empty = [j for j in range(k) if not counts[j]] if k > 1 else []
        self.new = None
        birth = rng.random() < (0.5 if (k < 4) == bool(empty) else 1.0 if k < 4 else 0.0)
        if k == 4 and not empty:
            return 0.0
        if birth:
            place = pick(rng, k + 1)
            self.new = place, 3.0 * rng.standard_normal(2)
            return self.log_birth(n, k, counts.count(0))
        place = pick(rng, k) if len(empty) == k else empty[int(rng.integers(len(empty)))]
        self.new = place, None
        return -self.log_birth(n, k - 1, counts.count(0) - 1)

    def keep(self) -> None:
        place, centre = self.new
        last = len(self.centres)
        if centre is None:
            last -= 1
            self.centres[place], self.counts[place] = self.centres[last], self.counts[last]
            self.centres.pop()
            self.counts.pop()
            self.labels[self.labels == last] = place
        else:
            self.centres.append(centre)
            self.counts.append(0)
            if place < last:
                self.centres[last], self.counts[last] = self.centres[place], self.counts[place]
                self.centres[place], self.counts[place] = centre, 0
                self.labels[self.labels == place] = last


class NudgeCentre(Hand):
    """The number and the sum of a component's points are all that its likelihood depends on."""

    looks_at = "few"

    def __init__(self, trace: Any) -> None:
        (n,) = trace.args
        k = trace["k"]
        z, points = array(trace, "z", n), np.array(values(trace, "point", n))
        self.centres = [trace["centre", j].tolist() for j in range(k)]
        self.counts = np.bincount(z, minlength=k).tolist()
        self.sums = [points[z == j].sum(axis=0).tolist() for j in range(k)]

    def propose(self, rng: np.random.Generator) -> float:
        j = pick(rng, len(self.centres))
        dx, dy = (sqrt(0.1) * rng.standard_normal(2)).tolist()
        (x, y), (sx, sy), c = self.centres[j], self.sums[j], self.counts[j]
        self.new = j, [x + dx, y + dy]
        (a, b), (_, d) = PRECISION
        rx, ry = sx - c * (x + 0.5 * dx), sy - c * (y + 0.5 * dy)
        likelihood = dx * (a * rx + b * ry) + dy * (b * rx + d * ry)
        return float(likelihood - (dx * (2.0 * x + dx) + dy * (2.0 * y + dy)) / 18.0)

    def keep(self) -> None:
        self.centres[self.new[0]] = self.new[1]


MOVES = [
    ("normals", 0, NormalsSplitMerge),
    ("normals", 1, NormalsWalk),
    ("students", 0, StudentsSplitMerge),
    ("students", "walk_locations_and_scales", StudentsWalk),
    ("laplaces", 0, LaplacesBirthDeath),
    ("laplaces", "walk_laplaces", LaplacesWalk),
    ("assigned_normals", 0, AssignedSplits),
    ("assigned_normals", 1, Relabel),
    ("assigned_normals", "walk_sigma_and_means", AssignedWalk),
    ("blobs", 0, BlobBirths),
    ("blobs", 1, NudgeCentre),
]
