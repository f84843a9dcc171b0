"""Point processes: counts of a rate with bumps, clusters around hidden parents, events that cause events."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gendsl import (
    Distribution,
    bernoulli,
    beta,
    categorical,
    continuous,
    copy,
    discrete,
    exponential,
    gamma,
    gen,
    mixture,
    normal,
    poisson,
    product,
    read,
    transform,
    uniform,
    uniform_discrete,
    write,
)
from gendsl.inference import birth_death, cycle, involutive, mh, split_merge
from gendsl.inference import mixture as one_of_kernels
from gendsl.supports import Support

from .model import Model, Move

# --- counts in bins; the rate is a floor with bumps ---------------------------------------------------


@gen
def bumps(edges):
    k = ~poisson(1.5)
    middles = (edges[1:] + edges[:-1]) / 2
    rate = np.full(len(middles), ("floor" @ ~gamma(2, 0.5)))
    for j in range(k):
        at = ("at", j) @ ~uniform(edges[0], edges[-1])
        height = ("height", j) @ ~exponential(0.2)
        width = ("width", j) @ ~gamma(4, 0.2)
        rate += height * np.exp(-0.5 * ((middles - at) / width) ** 2)
    counts = ~product(poisson, rate * np.diff(edges))


@gen
def new_bump(trace):
    edges = trace.args[0]
    at = ~uniform(edges[0], edges[-1])
    height = ~exponential(0.3)
    width = ~gamma(4, 0.2)


def bump_births(check=False):
    return birth_death("at", "height", "width", propose=new_bump, check=check)


@gen
def gap_and_shares(trace, j):
    gap = ~exponential(2)
    share = ~beta(2, 2)
    log_ratio = ~normal(0, 0.3)


def two_bumps(one, u):
    """The heights add up to the old height; the widths have the old width as their geometric mean."""
    at, height, width = one["at"], one["height"], one["width"]
    factor = math.exp(u["log_ratio"])
    left = {"at": at - u["gap"], "height": height * u["share"], "width": width * factor}
    right = {"at": at + u["gap"], "height": height * (1 - u["share"]), "width": width / factor}
    return left, right


def one_bump(left, right):
    height = left["height"] + right["height"]
    one = {
        "at": (left["at"] + right["at"]) / 2,
        "height": height,
        "width": math.sqrt(left["width"] * right["width"]),
    }
    gap = (right["at"] - left["at"]) / 2
    log_ratio = math.log(left["width"] / right["width"]) / 2
    return one, {"gap": gap, "share": left["height"] / height, "log_ratio": log_ratio}


def bump_splits(check=False):
    return split_merge(
        "at",
        "height",
        "width",
        bijection=(two_bumps, one_bump),
        auxiliary=gap_and_shares,
        order="at",
        least=0,
        check=check,
    )


def rate_of_bumps(n):
    x = np.arange(n) + 0.5
    return 1 + 5 * np.exp(-0.5 * ((x - 0.3 * n) / 0.8) ** 2)


# --- clusters of points around parents that are not seen; a background --------------------------------


@dataclass
class Parent:
    x: float
    y: float
    weight: float


@gen
def clusters(n):
    k = ~uniform_discrete(0, 3)
    parents = []
    for j in range(k):
        parents.append(Parent(("x", j) @ ~uniform(0, 1), ("y", j) @ ~uniform(0, 1), 1.0))
    for parent in parents:
        parent.weight = 1 / (k + 1)
    spread = ~gamma(4, 0.02)
    for i in range(n):
        owner = ("owner", i) @ ~categorical([parent.weight for parent in parents] + [1 / (k + 1)])
        if owner == k:
            ("px", i) @ ~mixture([1.0], [uniform(-1, 2)])
            ("py", i) @ ~mixture([1.0], [uniform(-1, 2)])
        else:
            ("px", i) @ ~mixture([0.99, 0.01], [normal(parents[owner].x, spread), uniform(-1, 2)])
            ("py", i) @ ~mixture([0.99, 0.01], [normal(parents[owner].y, spread), uniform(-1, 2)])


@gen
def more_or_fewer(trace):
    """A last parent comes, to whom some orphans go; or the last one goes, and leaves his points orphans."""
    (n,) = trace.args
    k = trace["k"]
    more = ~bernoulli(0.5 if 0 < k < 3 else 1.0 if k == 0 else 0.0)
    if more:
        x = ~uniform(0, 1)
        y = ~uniform(0, 1)
        for i in range(n):
            if trace["owner", i] == k:
                far = math.hypot(trace["px", i] - x, trace["py", i] - y)
                ("adopt", i) @ ~bernoulli(0.9 if far < 0.3 else 0.05)


@transform
def parent_comes_or_goes(model_in, aux_in, *, model_out, aux_out):
    (n,) = model_in.args
    k = read(model_in["k"], discrete)
    more = read(aux_in["more"], discrete)
    write(aux_out["more"], not more, discrete)
    if more:
        write(model_out["k"], k + 1, discrete)
        copy(aux_in["x"], model_out["x", k])
        copy(aux_in["y"], model_out["y", k])
        for i in range(n):
            if read(model_in["owner", i], discrete) == k:  # an orphan: he is adopted, or an orphan still
                adopted = read(aux_in["adopt", i], discrete)
                write(model_out["owner", i], k if adopted else k + 1, discrete)
    else:
        write(model_out["k"], k - 1, discrete)
        copy(model_in["x", k - 1], aux_out["x"])
        copy(model_in["y", k - 1], aux_out["y"])
        for i in range(n):
            owner = read(model_in["owner", i], discrete)
            if owner >= k - 1:
                write(aux_out["adopt", i], owner == k - 1, discrete)
                write(model_out["owner", i], k - 1, discrete)


@gen
def nudge_parents(trace):
    spread = ~gamma(20, trace["spread"] / 20)
    for j in range(trace["k"]):
        ("x", j) @ ~normal(trace["x", j], 0.03)
        ("y", j) @ ~normal(trace["y", j], 0.03)


def points(n, rng):
    near = rng.random(n) < 0.6
    x = np.where(near, 0.3 + 0.07 * rng.normal(size=n), rng.random(n))
    y = np.where(near, 0.6 + 0.07 * rng.normal(size=n), rng.random(n))
    return {"px": x, "py": y}


# --- a process that excites itself (Hawkes), as a distribution of the times ----------------------------


class Increasing(Support):
    """Increasing positive times; only ever observed."""

    shape = None

    def contains(self, value):
        times = np.asarray(value)
        return bool(times.ndim == 1 and np.all(np.diff(times, prepend=0.0) > 0))

    def canonical(self, value):
        return np.asarray(value, dtype=float)


class hawkes(Distribution):
    """Events until `end` at the rate base + sum over events s before t of jump decay exp(-decay (t - s))."""

    parameters = ("base", "jump", "decay", "end")

    def __init__(self, base, jump, decay, end):
        self.base, self.jump, self.decay, self.end = base, jump, decay, end

    @property
    def support(self):
        return Increasing()

    def sample(self, rng):
        times, t, excited = [], 0.0, 0.0
        while True:
            bound = self.base + excited
            wait = rng.exponential(1 / bound)
            t += wait
            if t > self.end:
                return np.array(times)
            excited *= math.exp(-self.decay * wait)
            if rng.random() * bound < self.base + excited:
                times.append(t)
                excited += self.jump * self.decay

    def logpdf(self, times):
        total, excited, before = -self.base * self.end, 0.0, 0.0
        for t in times:
            excited *= math.exp(-self.decay * (t - before))
            total += math.log(self.base + self.jump * self.decay * excited)
            total -= self.jump * (1 - math.exp(-self.decay * (self.end - t)))
            excited += 1.0
            before = t
        return total


@gen
def exciting(end):
    base = ~gamma(2, 0.5)
    excites = ~bernoulli(0.5)
    jump, decay = 0.0, 1.0
    if excites:
        jump = ~beta(2, 2)
        decay = ~gamma(2, 1)
    times = ~hawkes(base, jump, decay, end)


@gen
def jump_and_decay(trace):
    if not trace["excites"]:
        jump = ~beta(1, 2)
        decay = ~gamma(2, 1)


@transform
def excite_or_not(model_in, aux_in, *, model_out, aux_out):
    """The mean rate base / (1 - jump) stays as it is."""
    base = read(model_in["base"], continuous)
    if read(model_in["excites"], discrete):
        jump = read(model_in["jump"], continuous)
        write(model_out["excites"], False, discrete)
        write(model_out["base"], base / (1 - jump), continuous)
        copy(model_in["jump"], aux_out["jump"])
        copy(model_in["decay"], aux_out["decay"])
    else:
        jump = read(aux_in["jump"], continuous)
        write(model_out["excites"], True, discrete)
        write(model_out["base"], base * (1 - jump), continuous)
        copy(aux_in["jump"], model_out["jump"])
        copy(aux_in["decay"], model_out["decay"])


@gen
def walk_base(trace):
    base = ~gamma(20, trace["base"] / 20)


def bursts(n, rng):
    return {
        "times": np.sort(
            np.concatenate([rng.uniform(0, n, n - n // 2), rng.uniform(0.4 * n, 0.5 * n, n // 2)])
        )
    }


MODELS = [
    Model(
        "bumps",
        bumps,
        lambda n: (np.arange(n + 1.0),),
        lambda n, rng: {"counts": rng.poisson(rate_of_bumps(n))},
        lambda n: {"k": 1, "at": [0.3 * n], "height": [5.0], "width": [0.8], "floor": 1.0},
        lambda check=False: one_of_kernels(
            [
                bump_births(check),
                bump_splits(check),
            ],
            lambda trace: [1, 1 + trace["k"]],
        ),
        [Move.of(bump_births()), Move.of(bump_splits())],
        size=8,
    ),
    Model(
        "clusters",
        clusters,
        lambda n: (n,),
        points,
        lambda n: {"k": 1, "x": [0.3], "y": [0.6], "owner": [1] * n},
        lambda check=False: cycle(
            involutive(more_or_fewer, parent_comes_or_goes, check=check), mh(nudge_parents)
        ),
        [Move(more_or_fewer, parent_comes_or_goes)],
        size=10,
    ),
    Model(
        "exciting",
        exciting,
        lambda n: (float(n),),
        bursts,
        lambda n: {"base": 0.8, "excites": False},
        lambda check=False: cycle(involutive(jump_and_decay, excite_or_not, check=check), mh(walk_base)),
        [Move(jump_and_decay, excite_or_not)],
    ),
]
