"""Clusters of unknown number: a fixed number of sticks, as many as needed, the Chinese restaurant."""

from __future__ import annotations

import math

import numpy as np

from gendsl import (
    beta,
    categorical,
    continuous,
    copy,
    discrete,
    gamma,
    gen,
    normal,
    poisson,
    read,
    select,
    transform,
    uniform_discrete,
    write,
)
from gendsl.inference import cycle, involutive, mh, repeat

from .model import Model, Move

STICKS = 5


def two_groups(n, rng):
    return {"x": rng.normal(np.where(np.arange(n) % 2 == 0, -2.0, 2.0), 0.6)}


# --- a fixed number of sticks ------------------------------------------------------------------------


def stick_weights(fractions):
    """The lengths of the pieces that the fractions break off, and of the rest."""
    weights, rest = [], 1.0
    for fraction in fractions:
        weights.append(rest * fraction)
        rest *= 1 - fraction
    return [*weights, rest]


@gen
def sticks(n):
    alpha = ~gamma(2, 0.5)
    v = [("v", j) @ ~beta(1, alpha) for j in range(STICKS - 1)]
    mu = [("mu", j) @ ~normal(0, 3) for j in range(STICKS)]
    weights = stick_weights(v)
    for i in range(n):
        z = ("z", i) @ ~categorical(weights)
        ("x", i) @ ~normal(mu[z], 0.6)


@gen
def two_sticks(trace):
    j = ~uniform_discrete(0, STICKS - 2)


@transform
def exchange_sticks(model_in, aux_in, *, model_out, aux_out):
    """A cluster and the next one exchange their numbers; their pieces of the stick keep their lengths."""
    j = read(aux_in["j"], discrete)
    copy(aux_in["j"], aux_out["j"])
    copy(model_in["mu", j], model_out["mu", j + 1])
    copy(model_in["mu", j + 1], model_out["mu", j])
    for i in range(model_in.args[0]):
        z = read(model_in["z", i], discrete)
        if z == j:
            write(model_out["z", i], j + 1, discrete)
        elif z == j + 1:
            write(model_out["z", i], j, discrete)
    if j + 1 < STICKS - 1:
        first, second = read(model_in["v", j], continuous), read(model_in["v", j + 1], continuous)
        new_first = (1 - first) * second
        write(model_out["v", j], new_first, continuous)
        write(model_out["v", j + 1], first / (1 - new_first), continuous)
    else:
        write(model_out["v", j], 1 - read(model_in["v", j], continuous), continuous)


@gen
def some_labels(trace):
    n = trace.args[0]
    start = n // 2
    for i in range(start, min(start + 2, n)):
        ("z", i) @ ~uniform_discrete(0, STICKS - 1)


@gen
def walk_sticks(trace):
    alpha = ~gamma(10, trace["alpha"] / 10)
    for j in range(STICKS):
        ("mu", j) @ ~normal(trace["mu", j], 0.2)
        if j < STICKS - 1:
            v = trace["v", j]
            ("v", j) @ ~beta(1 + 10 * v, 1 + 10 * (1 - v))


# --- sticks broken until nearly nothing is left -------------------------------------------------------


@gen
def as_needed(n):
    rest = 1.0
    weights = []
    rates = []
    while rest > 0.1:
        j = len(weights)
        v = ("v", j) @ ~beta(2, 2)
        weights.append(rest * v)
        rates.append(("rate", j) @ ~gamma(2, 3))
        rest -= rest * v
    weights = np.array(weights) / sum(weights)
    for i in range(n):
        z = ("z", i) @ ~categorical(weights)
        ("count", i) @ ~poisson(rates[z])


def number_of_sticks(trace):
    j = 0
    while ("v", j) in trace.choices:
        j += 1
    return j


@gen
def a_label(trace):
    i = ~uniform_discrete(0, trace.args[0] - 1)
    label = ~uniform_discrete(0, number_of_sticks(trace) - 1)


@transform
def exchange_label(model_in, aux_in, *, model_out, aux_out):
    i = read(aux_in["i"])
    copy(aux_in["i"], aux_out["i"])
    copy(aux_in["label"], model_out["z", i])
    copy(model_in["z", i], aux_out["label"])


@gen
def walk_rates(trace):
    for j in range(number_of_sticks(trace)):
        ("rate", j) @ ~gamma(10, trace["rate", j] / 10)


# --- the Chinese restaurant process, table by table ---------------------------------------------------


@gen
def restaurant(n, alpha):
    counts = []
    means = []
    for i in range(n):
        total = i + alpha
        z = ("z", i) @ ~categorical([c / total for c in counts] + [alpha / total])
        if z == len(counts):
            counts.append(0)
            means.append(("mean", z) @ ~normal(0, 3))
        counts[z] += 1
        ("x", i) @ ~normal(means[z], 0.6)
    return counts


@gen
def move_last(trace):
    """The last guest goes to any table or to a new one; one who sits alone leaves the last table."""
    n, _ = trace.args
    tables = trace.retval
    last = trace["z", n - 1]
    alone = tables[last] == 1
    others = len(tables) - 1 if alone else len(tables)
    table = ~uniform_discrete(0, others)
    if table == others and not alone:
        dish = ~normal(0, 3)
    elif table == others:
        nudge = ~normal(0, 0.5)
    return alone, others


@transform
def last_moved(model_in, aux_in, *, model_out, aux_out):
    n = model_in.args[0]
    alone, others = aux_in.retval
    old = read(model_in["z", n - 1], discrete)
    table = read(aux_in["table"], discrete)
    if table == others and alone:  # stays alone, with another mean
        nudge = read(aux_in["nudge"], continuous)
        copy(aux_in["table"], aux_out["table"])
        write(model_out["mean", old], read(model_in["mean", old], continuous) + nudge, continuous)
        write(aux_out["nudge"], -nudge, continuous)
        return
    write(model_out["z", n - 1], table, discrete)
    write(aux_out["table"], old, discrete)
    if table == others:
        copy(aux_in["dish"], model_out["mean", table])
    elif alone:
        copy(model_in["mean", old], aux_out["dish"])


@gen
def reseat(trace):
    """Some guest who didn't open a table, and a table that is open when he comes."""
    n, _ = trace.args
    opened, seen = [], set()
    for i in range(n):
        opened.append(trace["z", i] not in seen)
        seen.add(trace["z", i])
    movable = [i for i in range(n) if not opened[i]]
    if not movable:
        return None
    which = ~uniform_discrete(0, len(movable) - 1)
    i = movable[which]
    so_far = sum(opened[:i])
    table = ~uniform_discrete(0, so_far - 1)
    return i


@transform
def reseated(model_in, aux_in, *, model_out, aux_out):
    i = aux_in.retval
    if i is not None:
        copy(aux_in["which"], aux_out["which"])
        copy(aux_in["table"], model_out["z", i])
        copy(model_in["z", i], aux_out["table"])


@gen
def walk_dishes(trace):
    for j, count in enumerate(trace.retval):
        ("mean", j) @ ~normal(trace["mean", j], 0.5 / math.sqrt(count))


MODELS = [
    Model(
        "sticks",
        sticks,
        lambda n: (n,),
        two_groups,
        lambda n: {
            "alpha": 1.0,
            "v": [0.5] * 4,
            "mu": [-2.0, 2.0, 0.0, 1.0, -1.0],
            "z": [i % 2 for i in range(n)],
        },
        lambda check=False: cycle(
            involutive(two_sticks, exchange_sticks, check=check), mh(some_labels), mh(walk_sticks)
        ),
        [Move(two_sticks, exchange_sticks)],
        size=12,
    ),
    Model(
        "as_needed",
        as_needed,
        lambda n: (n,),
        lambda n, rng: {"count": rng.poisson(np.where(np.arange(n) % 2 == 0, 2.0, 9.0))},
        lambda n: {},
        lambda check=False: cycle(
            repeat(involutive(a_label, exchange_label, check=check), 4), mh(select("v")), mh(walk_rates)
        ),
        [Move(a_label, exchange_label)],
        size=8,
    ),
    Model(
        "restaurant",
        restaurant,
        lambda n: (n, 1.0),
        two_groups,
        lambda n: {"z": [i % 2 for i in range(n)], "mean": [-2.0, 2.0]},
        lambda check=False: cycle(
            involutive(move_last, last_moved, check=check),
            repeat(involutive(reseat, reseated, check=check), 2),
            mh(walk_dishes),
        ),
        [Move(move_last, last_moved), Move(reseat, reseated)],
        size=10,
    ),
]
