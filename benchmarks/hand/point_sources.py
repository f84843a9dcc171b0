"""Moves of the point sources: the light of each source on all points is kept."""

from __future__ import annotations

from math import exp, log
from typing import Any

import numpy as np

from .common import (
    INF,
    BirthDeath,
    Components,
    Curve,
    SplitMerge,
    array,
    gamma_walk,
    pick,
    toward,
    values,
)

# --- counts of photons; a component is (x, y, flux, light) ----------------------------------------


class Photons(Components):
    """What is kept is the rate of each pixel. The light of a source is a product of a row and a column."""

    def __init__(self, trace: Any) -> None:
        self.side, _ = trace.args
        k = trace["k"]
        self.middles = np.arange(self.side) + 0.5
        self.image = array(trace, "image", self.side, self.side).ravel().astype(float)
        numbers = zip(*(values(trace, name, k) for name in ("x", "y", "flux")), strict=True)
        self.components = [self.component(*each) for each in numbers]
        self.kept = np.full(self.side**2, trace["background"])
        self.kept, self.log_likelihood = self.rescored((), tuple(self.components), self.components)

    def component(self, x: float, y: float, flux: float) -> tuple[Any, ...]:
        parts = np.subtract.outer((y, x), self.middles)
        parts *= parts
        parts /= -2.0 * 0.8**2
        rows, columns = np.exp(parts)
        return x, y, flux, np.outer(flux * rows, columns).ravel()

    def rescored(self, gone: Any, come: Any, proposed: Any) -> tuple[Any, float]:
        rate = self.kept
        for component in gone:
            rate = rate - component[3]
        for component in come:
            rate = rate + component[3]
        return rate, float(self.image @ np.log(rate) - rate.sum())


class SourceBirths(Photons, BirthDeath):
    """The prior of a new source is its proposal."""

    most = 4

    def draw(self, rng: np.random.Generator) -> Any:
        return self.component(
            self.side * rng.random(), self.side * rng.random(), 4.0 * rng.standard_gamma(3.0)
        )

    def log_weight(self, component: Any, k: int) -> float:
        return 0.0


class Nudge(Photons):
    def propose(self, rng: np.random.Generator) -> float:
        k = len(self.components)
        self.new = None
        if not k:
            return 0.0
        j = pick(rng, k)
        dx, dy, factor = (
            0.2 * rng.standard_normal(),
            0.2 * rng.standard_normal(),
            0.15 * rng.standard_normal(),
        )
        x, y, flux, _ = old = self.components[j]
        if not (0.0 <= x + dx <= self.side and 0.0 <= y + dy <= self.side):
            return -INF
        proposed = self.components.copy()
        proposed[j] = new = self.component(x + dx, y + dy, flux * exp(factor))
        return 3.0 * factor - 0.25 * (new[2] - flux) + self.score((old,), (new,), proposed)


# --- lamps; a component is (place, power, shape, light), with light = power shape -----------------


class Lamps(Curve):
    precision = 4.0

    def __init__(self, trace: Any) -> None:
        self.n, times = trace.args
        k, self.rate = trace["k"], trace["rate"]
        self.t = np.arange(float(times))[:, None]
        self.reach = 1.0 / (1.0 + 0.1 * self.t)
        self.points = np.arange(float(self.n))
        self.fading = self.rate**self.t
        pairs = zip(values(trace, "place", k), values(trace, "power", k), strict=True)
        self.components = [self.component(*pair) for pair in pairs]
        self.start(array(trace, "seen", times, self.n).ravel())

    def component(self, place: float, power: float) -> tuple[Any, ...]:
        z = (self.points - place) * self.reach
        z *= z
        z += 1.0
        np.divide(1.0, z, out=z)
        return place, power, z, (power * self.fading * z).ravel()


class LampSplits(Lamps, SplitMerge):
    most, ordered, adjacent = 4, True, True

    def draw(self, rng: np.random.Generator, one: Any) -> Any:
        return rng.standard_exponential() / 0.7, rng.random()

    def split(self, one: Any, u: Any) -> tuple[Any, Any]:
        place, power = one[:2]
        return (
            self.component(place - u[0], power * u[1]),
            self.component(place + u[0], power * (1.0 - u[1])),
        )

    def merge(self, first: Any, second: Any) -> tuple[Any, Any]:
        power = first[1] + second[1]
        one = self.component(0.5 * (first[0] + second[0]), power)
        return one, (0.5 * (second[0] - first[0]), first[1] / power)

    def log_weight(self, one: Any, u: Any, first: Any, second: Any, k: int) -> float:
        """The Jacobian is 2 for the places, the power for the powers; the exponentials of powers cancel."""
        if first[0] < 0.0 or second[0] > self.n:
            return -INF
        powers = log(0.25 * first[1] * second[1] / one[1])
        return powers - log(self.n) + log(2.0 * one[1]) - log(0.7) + 0.7 * u[0]


class WalkLamps(Lamps):
    def propose(self, rng: np.random.Generator) -> float:
        rate = 0.5 + 0.5 * rng.random()
        fading, ratio, proposed = rate**self.t, 0.0, []
        for place, old, shape, _ in self.components:
            power = toward(rng, old, 30.0)
            ratio += gamma_walk(power, old, 30.0) + log(power / old) - 0.5 * (power - old)
            proposed.append((place, power, shape, (power * fading * shape).ravel()))
        return ratio + self.score(tuple(self.components), tuple(proposed), proposed)


# --- stars with names; a star is (colour, position, brightness, light), or None -------------------

NAMES = "alpha", "beta", "gamma", "delta"


class Stars(Curve):
    precision = 0.6**-2

    def __init__(self, trace: Any) -> None:
        self.x = np.array(trace.args[0])
        self.components = [None] * len(NAMES)
        for i, name in enumerate(NAMES):
            if trace[name, "is"]:
                numbers = (trace[name, what] for what in ("is", "position", "brightness"))
                self.components[i] = self.star(*numbers)
        self.kept = np.array(values(trace, "y", len(self.x)))
        there = tuple(star for star in self.components if star)
        self.kept, self.log_likelihood = self.rescored((), there, self.components)

    def star(self, colour: int, position: float, brightness: float) -> tuple[Any, ...]:
        z = self.x - position
        np.abs(z, out=z)
        z /= -1.5 if colour == 2 else -0.7
        np.exp(z, out=z)
        z *= brightness
        return colour, position, brightness, z


class Appear(Stars):
    """All but the likelihood cancels."""

    def propose(self, rng: np.random.Generator) -> float:
        i = pick(rng, len(NAMES))
        old, new = self.components[i], None
        if old is None:
            colour, position = 1 + pick(rng, 2), 10.0 * rng.random()
            new = self.star(colour, position, rng.standard_exponential() / 0.5)
        elif not pick(rng, 2):
            new = self.star(3 - old[0], *old[1:3])
        proposed = self.components.copy()
        proposed[i] = new
        return self.score((old,) if old else (), (new,) if new else (), proposed)


class WalkStars(Stars):
    def propose(self, rng: np.random.Generator) -> float:
        there = tuple(star for star in self.components if star)
        numbers, ratio = [], 0.0
        for _, position, old, _ in there:
            numbers.append((position + 0.2 * rng.standard_normal(), toward(rng, old, 20.0)))
            ratio += gamma_walk(numbers[-1][1], old, 20.0) - 0.5 * (numbers[-1][1] - old)
        if not all(0.0 <= position <= 10.0 for position, _ in numbers):
            return -INF
        new = [self.star(star[0], *each) for star, each in zip(there, numbers, strict=True)]
        rest = iter(new)
        return ratio + self.score(there, tuple(new), [star and next(rest) for star in self.components])


MOVES = [
    ("photons", 0, SourceBirths),
    ("photons", 1, Nudge),
    ("lamps", 0, LampSplits),
    ("lamps", "walk_lamps", WalkLamps),
    ("stars", 0, Appear),
    ("stars", "walk_stars", WalkStars),
]
