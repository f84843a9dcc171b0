"""Whole chains of some moves as loops that numba compiles, with the state in arrays.

Each is a class like those by hand, made from a trace, with `chain(rng, n)`: the log ratios of n steps. The
calls of the generator are the same, so that the ratios are.
"""

from __future__ import annotations

from collections.abc import Callable
from math import exp, log, pi, sqrt
from typing import Any

import numpy as np
from numba import njit

from .common import LOG_2PI, array, values

# --- births and deaths of what adds to the means of the data --------------------------------------


@njit
def normal_score(mean: Any, y: Any, precision: float) -> float:
    squares = 0.0
    for i in range(len(y)):
        squares += (y[i] - mean[i]) ** 2
    return -0.5 * precision * squares


@njit
def poisson_score(mean: Any, y: Any, precision: float) -> float:
    total = 0.0
    for i in range(len(y)):
        total += y[i] * log(mean[i]) - mean[i]
    return total


def births(score: Any, draw: Any, value: Any, log_weight: Any) -> Any:
    """A chain of births and deaths: `value(c, x, i)` is what component c adds at datum i."""

    @njit
    def chain(rng, n, components, k, most, mean, y, x, precision, ratios):  # type: ignore[no-untyped-def]
        now = score(mean, y, precision)
        new_mean, c = np.empty_like(mean), np.empty(components.shape[1])
        for step in range(n):
            birth = rng.random() < (1.0 if k == 0 else 0.0 if k == most else 0.5)
            place = int(rng.random() * (k + 1 if birth else k))
            if birth:
                draw(rng, c, x)
            else:
                c[:] = components[place]
            fewer, sign = (k, 1.0) if birth else (k - 1, -1.0)
            chances = (1.0 if fewer + 1 == most else 0.5) / (1.0 if fewer == 0 else 0.5)
            for i in range(len(y)):
                new_mean[i] = mean[i] + sign * value(c, x, i)
            then = score(new_mean, y, precision)
            ratio = sign * (log(chances) + log_weight(c, fewer)) + then - now
            ratios[step] = ratio
            if rng.random() < exp(min(ratio, 0.0)):
                if birth:
                    components[k] = components[place]
                    components[place] = c
                    k += 1
                else:
                    k -= 1
                    components[place] = components[k]
                mean, new_mean, now = new_mean, mean, then
        return k, mean

    return chain


@njit
def draw_hinge(rng: Any, c: Any, x: Any) -> None:
    c[0], c[1] = 10.0 * rng.random(), 0.6 * rng.standard_normal()


@njit
def hinge(c: Any, x: Any, i: int) -> float:
    return c[1] * max(x[i] - c[0], 0.0)


@njit
def weigh_hinge(c: Any, k: int) -> float:
    return log(0.6) - 0.5 * c[1] * c[1] * (1.0 - 1.0 / 0.36)


@njit
def draw_tone(rng: Any, c: Any, x: Any) -> None:
    c[0], c[1], c[2] = pi * rng.random(), 0.7 * rng.standard_normal(), 0.7 * rng.standard_normal()


@njit
def tone(c: Any, x: Any, i: int) -> float:
    return c[1] * np.cos(c[0] * x[i]) + c[2] * np.sin(c[0] * x[i])


@njit
def weigh_tone(c: Any, k: int) -> float:
    return 2.0 * log(0.7 / 1.5) - 0.5 * (c[1] * c[1] + c[2] * c[2]) * (1.0 / 2.25 - 1.0 / 0.49)


@njit
def draw_source(rng: Any, c: Any, x: Any) -> None:
    side = sqrt(len(x))
    c[0], c[1], c[2] = side * rng.random(), side * rng.random(), 4.0 * rng.standard_gamma(3.0)


@njit
def source(c: Any, x: Any, i: int) -> float:
    return c[2] * exp(-((x[i, 0] - c[0]) ** 2 + (x[i, 1] - c[1]) ** 2) / 1.28)


@njit
def weigh_source(c: Any, k: int) -> float:
    return 0.0


@njit
def draw_bump(rng: Any, c: Any, x: Any) -> None:
    c[0], c[1], c[2] = len(x) * rng.random(), rng.standard_exponential() / 0.3, 0.2 * rng.standard_gamma(4.0)


@njit
def bump(c: Any, x: Any, i: int) -> float:
    return c[1] * exp(-0.5 * ((x[i] - c[0]) / c[2]) ** 2)


@njit
def weigh_bump(c: Any, k: int) -> float:
    return log(1.5 / (k + 1) * 0.2 / 0.3) + 0.1 * c[1]


class Births:
    """The state of `births`; a subclass reads it from a trace."""

    most = 50
    names: tuple[str, ...]
    run: Any

    def begin(self, trace: Any, mean: np.ndarray, y: np.ndarray, x: np.ndarray, precision: float) -> None:
        self.k = trace["k"]
        self.components = np.zeros((self.most + 1, len(self.names)))
        for column, name in enumerate(self.names):
            self.components[: self.k, column] = values(trace, name, self.k)
        self.mean, self.y, self.x, self.precision = mean, y, x, precision

    def add(self, value: Any) -> None:
        """The components to the means."""
        for c in self.components[: self.k]:
            self.mean += [value(c, self.x, i) for i in range(len(self.mean))]

    def chain(self, rng: np.random.Generator, n: int) -> np.ndarray:
        ratios = np.empty(n)
        self.k, self.mean = self.run(
            rng, n, self.components, self.k, self.most, self.mean, self.y, self.x, self.precision, ratios
        )
        return ratios


class Hinges(Births):
    most, names = 5, ("knot", "bend")
    run = staticmethod(births(normal_score, draw_hinge, hinge, weigh_hinge))

    def __init__(self, trace: Any) -> None:
        x = np.array(trace.args[0])
        mean = trace["intercept"] + trace["slope"] * x
        self.begin(trace, mean, array(trace, "y", len(x)), x, trace["sd"] ** -2)
        self.add(hinge)


class Tones(Births):
    most, names = 4, ("omega", "a", "b")
    run = staticmethod(births(normal_score, draw_tone, tone, weigh_tone))

    def __init__(self, trace: Any) -> None:
        (n,) = trace.args
        self.begin(trace, np.zeros(n), array(trace, "y", n), np.arange(float(n)), trace["sigma"] ** -2)
        self.add(tone)


class Sources(Births):
    most, names = 4, ("x", "y", "flux")
    run = staticmethod(births(poisson_score, draw_source, source, weigh_source))

    def __init__(self, trace: Any) -> None:
        side, _ = trace.args
        rows, columns = np.indices((side, side)).reshape(2, -1) + 0.5
        image = array(trace, "image", side, side).ravel().astype(float)
        mean = np.full(side * side, trace["background"])
        self.begin(trace, mean, image, np.column_stack([columns, rows]), 1.0)
        self.add(source)


class Bumps(Births):
    """Bins of length 1 from 0 on."""

    names = "at", "height", "width"
    run = staticmethod(births(poisson_score, draw_bump, bump, weigh_bump))

    def __init__(self, trace: Any) -> None:
        (edges,) = trace.args
        middles = edges[:-1] + 0.5
        self.begin(trace, np.full(len(middles), trace["floor"]), trace["counts"].astype(float), middles, 1.0)
        self.add(bump)


# --- mixtures of normals --------------------------------------------------------------------------


@njit
def log_likelihood(y: Any, k: int, means: Any, variances: Any, weights: Any) -> float:
    total = 0.0
    factors = weights[:k] / np.sqrt(variances[:k])
    for i in range(len(y)):
        density = 0.0
        for j in range(k):
            density += factors[j] * exp(-0.5 * (y[i] - means[j]) ** 2 / variances[j])
        total += log(density)
    return total


@njit
def moments(rng, n, y, k, most, means, variances, weights, prior, ratios):  # type: ignore[no-untyped-def]
    """Splits and merges; `prior` are the sd of the means, shape and scale of the variances, 1 if k is
    Poisson, and the logarithm of the constant of a variance's density.
    """
    sd, shape, scale, poisson, log_constant = prior
    now = log_likelihood(y, k, means, variances, weights)
    new_means, new_variances, new_weights = means.copy(), variances.copy(), weights.copy()
    for step in range(n):
        new_means[:], new_variances[:], new_weights[:] = means, variances, weights
        split = rng.random() < (1.0 if k == 1 else 0.0 if k == most else 0.5)
        possible = True
        if split:
            j, last, smaller = int(rng.random() * k), k, k
            u, d, s = rng.beta(2.0, 2.0), rng.beta(2.0, 2.0), rng.beta(1.0, 1.0)
            w, m, v = weights[j], means[j], variances[j]
            odds, inside = sqrt((1.0 - u) / u), (1.0 - d * d) * v
            m1, m2 = m - d * sqrt(v) * odds, m + d * sqrt(v) / odds
            v1, v2 = s * inside / u, (1.0 - s) * inside / (1.0 - u)
            new_weights[j], new_means[j], new_variances[j] = w * u, m1, v1
            new_weights[last], new_means[last], new_variances[last] = w * (1.0 - u), m2, v2
        else:
            j, last, smaller = int(rng.random() * (k - 1)), k - 1, k - 1
            m1, m2, v1, v2 = means[j], means[last], variances[j], variances[last]
            w = weights[j] + weights[last]
            u = weights[j] / w
            m, between = u * m1 + (1.0 - u) * m2, u * (1.0 - u) * (m2 - m1) ** 2
            v = u * v1 + (1.0 - u) * v2 + between
            d = sqrt(between / v)
            possible = m1 < m2
            new_weights[j], new_means[j], new_variances[j] = w, m, v
        ratio, then = -np.inf, now
        if possible:
            shares = u * (1.0 - u)
            merge, chance = 1.0 if smaller + 1 == most else 0.5, 1.0 if smaller == 1 else 0.5
            weigh = (
                log_constant - 0.5 * (m1 * m1 + m2 * m2 - m * m) / (sd * sd) - log(sd) - 0.5 * LOG_2PI
                - (shape + 1.0) * log(v1 * v2 / v) - scale * (1.0 / v1 + 1.0 / v2 - 1.0 / v)
                - poisson * log(smaller) + log(2 * smaller * (2 * smaller + 1) * w * shares)
                + log(w * (1.0 - d * d)) + 1.5 * log(v / shares)
                + log(merge / chance) - log(36.0 * shares * d * (1.0 - d))
            )  # fmt: skip
            new_k = k + 1 if split else k - 1
            then = log_likelihood(y, new_k, new_means, new_variances, new_weights)
            ratio = then - now + (weigh if split else -weigh)
        ratios[step] = ratio
        if rng.random() < exp(min(ratio, 0.0)):
            k, now = k + 1 if split else k - 1, then
            means, new_means = new_means, means
            variances, new_variances = new_variances, variances
            weights, new_weights = new_weights, weights
    return k, means, variances, weights


class Normals:
    """The mixture of the models; sd of means, shape and scale of variances."""

    address, most = "y", 5
    prior = 4.0, 3.0, 2.0, 0.0, 2.0 * log(2.0)

    def __init__(self, trace: Any) -> None:
        (n,) = trace.args
        self.y, self.k = array(trace, self.address, n), trace["k"]
        self.parts = [np.ones(min(self.most, 50) + 1) for _ in range(3)]
        for part, found in zip(
            self.parts,
            (values(trace, "mu", self.k), values(trace, "var", self.k), trace["weights"]),
            strict=True,
        ):
            part[: self.k] = found

    def chain(self, rng: np.random.Generator, n: int) -> np.ndarray:
        ratios = np.empty(n)
        self.k, *self.parts = moments(rng, n, self.y, self.k, self.most, *self.parts, self.prior, ratios)
        return ratios


class Figure1(Normals):
    address, most = "x", 10**9
    prior = 10.0, 1.0, 10.0, 1.0, log(10.0)


# --- a hidden Markov model ------------------------------------------------------------------------


@njit
def forward(y: Any, means: Any, stay: float, sd: float) -> float:
    k = len(means)
    leave, stay = ((1.0 - stay) / (k - 1), stay) if k > 1 else (0.0, 1.0)
    p, total, scale = np.full(k, 1.0 / k), 0.0, 1.0
    for t in range(len(y)):
        highest = -np.inf
        for j in range(k):
            highest = max(highest, -0.5 * ((y[t] - means[j]) / sd) ** 2)
        before, scale = scale, 0.0
        for j in range(k):
            if t:
                p[j] = leave + (stay - leave) * p[j] / before
            p[j] *= exp(-0.5 * ((y[t] - means[j]) / sd) ** 2 - highest)
            scale += p[j]
        total += highest + log(scale)
    return total - len(y) * log(sd)


@njit
def steps_in_all(rng, n, y, means, stay, sd, ratios):  # type: ignore[no-untyped-def]
    now = forward(y, means, stay, sd)
    new = np.empty_like(means)
    for step in range(n):
        ratio = 0.0
        for j in range(len(means)):
            new[j] = means[j] + 0.2 * rng.standard_normal()
            ratio -= (new[j] ** 2 - means[j] ** 2) / 8.0
        factor = 0.1 * rng.standard_normal()
        new_sd = sd * exp(factor)
        then = forward(y, new, stay, new_sd)
        ratio += 5.0 * factor - (new_sd - sd) / 0.15 + then - now
        ratios[step] = ratio
        if rng.random() < exp(min(ratio, 0.0)):
            means[:] = new
            sd, now = new_sd, then
    return sd


class StepInAll:
    def __init__(self, trace: Any) -> None:
        self.y, self.stay, self.sd = trace["y"], trace["stay"], trace["sd"]
        self.means = np.array(values(trace, "mean", trace["k"]))

    def chain(self, rng: np.random.Generator, n: int) -> np.ndarray:
        ratios = np.empty(n)
        self.sd = steps_in_all(rng, n, self.y, self.means, self.stay, self.sd, ratios)
        return ratios


# --- stochastic volatility, and GARCH -------------------------------------------------------------


@njit
def whole_paths(rng, n, h, squares, mean, sd, ratios):  # type: ignore[no-untyped-def]
    now = 0.0
    for i in range(len(h)):
        now -= 0.5 * (h[i] + squares[i] * exp(-h[i]))
    new = np.empty_like(h)
    for step in range(n):
        shift, log_scale = 0.3 * rng.standard_normal(), 0.1 * rng.standard_normal()
        scale = exp(log_scale)
        then = 0.0
        for i in range(len(h)):
            new[i] = mean + shift + (h[i] - mean) * scale
            then -= 0.5 * (new[i] + squares[i] * exp(-new[i]))
        ratio = (
            4.0 * log_scale - sd * (scale - 1.0) / 0.1 - 0.5 * shift * (2.0 * mean + shift + 2.0) + then - now
        )
        ratios[step] = ratio
        if rng.random() < exp(min(ratio, 0.0)):
            h, new, now = new, h, then
            mean, sd = mean + shift, sd * scale
    return h, mean, sd


class WholePath:
    def __init__(self, trace: Any) -> None:
        (n,) = trace.args
        self.h, self.squares = array(trace, "h", n), array(trace, "r", n) ** 2
        self.mean, self.sd = trace["mean"], trace["sd"]

    def chain(self, rng: np.random.Generator, n: int) -> np.ndarray:
        ratios = np.empty(n)
        self.h, self.mean, self.sd = whole_paths(rng, n, self.h, self.squares, self.mean, self.sd, ratios)
        return ratios


@njit
def log_garch(squares: Any, last: float, variance: float, omega: float, a: float, b: float) -> float:
    total = 0.0
    for i in range(len(squares)):
        variance = omega + a * last + b * variance
        last = squares[i]
        total -= 0.5 * (log(variance) + last / variance)
    return total


@njit
def trades(rng, n, squares, last, start, omega, a, b, ratios):  # type: ignore[no-untyped-def]
    now = log_garch(squares, last, start, omega, a, b)
    for step in range(n):
        u = 0.3 * rng.random()
        if rng.random() >= 0.5:
            u = -u
        odds_a, odds_b = a / (1.0 - a) * exp(-u), b / (1.0 - b) * exp(u)
        new_a, new_b = odds_a / (1.0 + odds_a), odds_b / (1.0 + odds_b)
        then = log_garch(squares, last, start, omega, new_a, new_b)
        ratio = 2.0 * log(new_a / a) + 8.0 * log((1.0 - new_a) / (1.0 - a)) + 8.0 * log(new_b / b)
        ratio += 2.0 * log((1.0 - new_b) / (1.0 - b)) + then - now
        ratios[step] = ratio
        if rng.random() < exp(min(ratio, 0.0)):
            a, b, now = new_a, new_b, then
    return a, b


class Trade:
    """With normal errors."""

    def __init__(self, trace: Any) -> None:
        before, n = trace.args
        self.squares, self.last = array(trace, "r", n) ** 2, before[-1] ** 2
        self.start = sum(r * r for r in before) / len(before)
        self.omega, self.a, self.b = trace["omega"], trace["a"], trace["b"]

    def chain(self, rng: np.random.Generator, n: int) -> np.ndarray:
        ratios = np.empty(n)
        self.a, self.b = trades(
            rng, n, self.squares, self.last, self.start, self.omega, self.a, self.b, ratios
        )
        return ratios


BY_NAME: dict[str, Callable[[Any], Any]] = {
    "Figure 1, normal components": Figure1,
    "normals, split_merge_by_moments": Normals,
    "hinges, birth_death": Hinges,
    "cosines_and_sines, birth_death": Tones,
    "photons, birth_death": Sources,
    "bumps, birth_death": Bumps,
    "summed, stepped": StepInAll,
    "volatility, whole_path": WholePath,
    "garch, from_a_to_b and from_b_to_a": Trade,
}
"""The class of each move that there is, by the name of its pair."""
