"""An unknown number of point sources: as frozen dataclasses, as objects that change, as named tuples."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gendsl import (
    continuous,
    copy,
    discrete,
    exponential,
    gamma,
    gen,
    normal,
    poisson,
    read,
    transform,
    uniform,
    uniform_discrete,
    write,
)
from gendsl.inference import birth_death, cycle, involutive, mh, split_merge

from .model import Model, Move

# --- dataclasses; counts of photons in a square image ------------------------------------------------


@dataclass(frozen=True)
class Source:
    x: float
    y: float
    flux: float

    def light(self, px, py, width=0.8):
        square = (px - self.x) ** 2 + (py - self.y) ** 2
        return self.flux * math.exp(-square / (2 * width**2))


@gen
def photons(side, most):
    k = ~uniform_discrete(0, most)
    sources = []
    for j in range(k):
        x = ("x", j) @ ~uniform(0, side)
        y = ("y", j) @ ~uniform(0, side)
        flux = ("flux", j) @ ~gamma(3, 4)
        sources.append(Source(x, y, flux))
    background = ~gamma(4, 0.5)
    for row in range(side):
        for column in range(side):
            rate = background
            for source in sources:
                rate += source.light(column + 0.5, row + 0.5)
            ("image", row, column) @ ~poisson(rate)


@gen
def new_source(trace):
    side, _ = trace.args
    x = ~uniform(0, side)
    y = ~uniform(0, side)
    flux = ~gamma(3, 4)


def sources(check=False):
    return birth_death("x", "y", "flux", propose=new_source, most=4, check=check)


@gen
def nudge(trace):
    if trace["k"] > 0:
        j = ~uniform_discrete(0, trace["k"] - 1)
        dx = ~normal(0, 0.2)
        dy = ~normal(0, 0.2)
        dflux = ~normal(0, 0.15)


@transform
def nudged(model_in, aux_in, *, model_out, aux_out):
    if read(model_in["k"], discrete) > 0:
        j = read(aux_in["j"], discrete)
        copy(aux_in["j"], aux_out["j"])
        for name in ("x", "y"):
            step = read(aux_in["d" + name], continuous)
            write(model_out[name, j], read(model_in[name, j], continuous) + step, continuous)
            write(aux_out["d" + name], -step, continuous)
        factor = read(aux_in["dflux"], continuous)
        write(model_out["flux", j], read(model_in["flux", j], continuous) * math.exp(factor), continuous)
        write(aux_out["dflux"], -factor, continuous)


def photograph(size, rng):
    side = math.isqrt(size)
    centres = np.arange(side) + 0.5
    light = 2.0
    for x, y, flux in ((0.3 * side, 0.3 * side, 12.0), (0.7 * side, 0.8 * side, 9.0)):
        light = light + flux * np.exp(-((centres - x) ** 2 + (centres[:, None] - y) ** 2) / (2 * 0.8**2))
    image = rng.poisson(light)
    return {("image", r, c): int(image[r, c]) for r in range(side) for c in range(side)}


# --- objects with attributes that change: lamps on a line that fade with time -------------------------


class Lamp:
    def __init__(self, place, power):
        self.place = place
        self.power = power
        self.lit = 0

    def fade(self, rate):
        self.power *= rate
        self.lit += 1

    @property
    def reach(self):
        return 1.0 + 0.1 * self.lit

    def at(self, x):
        return self.power / (1.0 + ((x - self.place) / self.reach) ** 2)


@gen
def lamps(n, times):
    k = ~uniform_discrete(1, 4)
    all_lamps = [Lamp(("place", j) @ ~uniform(0, n), ("power", j) @ ~gamma(2, 2)) for j in range(k)]
    rate = ~uniform(0.5, 1.0)
    for t in range(times):
        for i in range(n):
            total = sum(lamp.at(i) for lamp in all_lamps)
            ("seen", t, i) @ ~normal(total, 0.5)
        for lamp in all_lamps:
            lamp.fade(rate)


@gen
def apart_by(trace, j):
    gap = ~exponential(0.7)
    share = ~uniform(0, 1)


def two_lamps(lamp, u):
    first = {"place": lamp["place"] - u["gap"], "power": lamp["power"] * u["share"]}
    second = {"place": lamp["place"] + u["gap"], "power": lamp["power"] * (1 - u["share"])}
    return first, second


def one_lamp(first, second):
    power = first["power"] + second["power"]
    lamp = {"place": (first["place"] + second["place"]) / 2, "power": power}
    return lamp, {"gap": (second["place"] - first["place"]) / 2, "share": first["power"] / power}


def lamp_splits(check=False):
    return split_merge(
        "place",
        "power",
        bijection=(two_lamps, one_lamp),
        auxiliary=apart_by,
        order="place",
        pairs="adjacent",
        most=4,
        check=check,
    )


@gen
def walk_lamps(trace):
    rate = ~uniform(0.5, 1)
    for j in range(trace["k"]):
        ("power", j) @ ~gamma(30, trace["power", j] / 30)


def faded(size, rng):
    n, times = shape_of_lamps(size)
    found = {}
    for t in range(times):
        light = rng.normal(0, 0.5, n)
        for place in (0.25 * n, 0.6 * n):
            light += 3 * 0.8**t / (1 + ((np.arange(n) - place) / (1 + 0.1 * t)) ** 2)
        for i in range(n):
            found["seen", t, i] = float(light[i])
    return found


def shape_of_lamps(size):
    return max(size // 3, 2), 3


# --- named tuples, kept in a dict by name; stars with a colour ----------------------------------------


class Star(NamedTuple):
    position: float
    brightness: float
    red: bool


def profile(star, x):
    width = 1.5 if star.red else 0.7
    return star.brightness * math.exp(-abs(x - star.position) / width)


NAMES = ("alpha", "beta", "gamma", "delta")


@gen
def stars(xs):
    catalogue = {}
    for name in NAMES:
        red = (name, "is") @ ~uniform_discrete(0, 2)  # 0: not there, 1: white, 2: red
        if red == 0:
            continue
        catalogue[name] = Star(
            (name, "position") @ ~uniform(0, 10), (name, "brightness") @ ~exponential(0.5), red == 2
        )
    for i, x in enumerate(xs):
        ("y", i) @ ~normal(sum(profile(star, x) for star in catalogue.values()), 0.6)


@gen
def pick_star(trace):
    which = ~uniform_discrete(0, len(NAMES) - 1)
    name = NAMES[which]
    if trace[name, "is"] == 0:
        colour = ~uniform_discrete(1, 2)
        position = ~uniform(0, 10)
        brightness = ~exponential(0.5)
    else:
        gone = ~uniform_discrete(0, 1)


@transform
def appear(model_in, aux_in, *, model_out, aux_out):
    """A star that isn't there appears; one that is disappears, or changes its colour."""
    copy(aux_in["which"], aux_out["which"])
    name = NAMES[read(aux_in["which"], discrete)]
    colour = read(model_in[name, "is"], discrete)
    if colour == 0:
        copy(aux_in["colour"], model_out[name, "is"])
        copy(aux_in["position"], model_out[name, "position"])
        copy(aux_in["brightness"], model_out[name, "brightness"])
        write(aux_out["gone"], 1, discrete)
    elif read(aux_in["gone"], discrete) == 1:
        write(model_out[name, "is"], 0, discrete)
        copy(model_in[name, "is"], aux_out["colour"])
        copy(model_in[name, "position"], aux_out["position"])
        copy(model_in[name, "brightness"], aux_out["brightness"])
    else:
        write(model_out[name, "is"], 3 - colour, discrete)
        copy(aux_in["gone"], aux_out["gone"])


@gen
def walk_stars(trace):
    for name in NAMES:
        if trace[name, "is"]:
            (name, "position") @ ~normal(trace[name, "position"], 0.2)
            (name, "brightness") @ ~gamma(20, trace[name, "brightness"] / 20)


def spectrum(n, rng):
    x = np.linspace(0, 10, n)
    return {"y": 3 * np.exp(-np.abs(x - 3) / 0.7) + 2 * np.exp(-np.abs(x - 7) / 1.5) + rng.normal(0, 0.6, n)}


MODELS = [
    Model(
        "photons",
        photons,
        lambda size: (math.isqrt(size), 4),
        photograph,
        lambda size: {
            "k": 2,
            "x": [0.3 * math.isqrt(size), 0.7 * math.isqrt(size)],
            "y": [0.3 * math.isqrt(size), 0.8 * math.isqrt(size)],
            "flux": [12.0, 9.0],
            "background": 2.0,
        },
        lambda check=False: cycle(
            sources(check),
            involutive(nudge, nudged, check=check),
        ),
        [Move.of(sources()), Move(nudge, nudged)],
        size=16,
    ),
    Model(
        "lamps",
        lamps,
        shape_of_lamps,
        faded,
        lambda size: {
            "k": 2,
            "place": [0.25 * shape_of_lamps(size)[0], 0.6 * shape_of_lamps(size)[0]],
            "power": [3.0, 3.0],
            "rate": 0.8,
        },
        lambda check=False: cycle(lamp_splits(check), mh(walk_lamps)),
        [Move.of(lamp_splits())],
        size=18,
    ),
    Model(
        "stars",
        stars,
        lambda n: (np.linspace(0, 10, n).tolist(),),
        spectrum,
        lambda n: {
            ("alpha", "is"): 1,
            ("alpha", "position"): 3.0,
            ("alpha", "brightness"): 3.0,
            ("beta", "is"): 2,
            ("beta", "position"): 7.0,
            ("beta", "brightness"): 2.0,
            ("gamma", "is"): 0,
            ("delta", "is"): 0,
        },
        lambda check=False: cycle(involutive(pick_star, appear, check=check), mh(walk_stars)),
        [Move(pick_star, appear)],
    ),
]
