"""Bayesian networks with unknown edges: linear with normal noise, and noisy-or gates of yes and no."""

from __future__ import annotations

import numpy as np

from gendsl import (
    bernoulli,
    beta,
    continuous,
    copy,
    discrete,
    gamma,
    gen,
    normal,
    read,
    transform,
    uniform_discrete,
    write,
)
from gendsl.inference import cycle, involutive, mh, mixture, repeat

from .model import Model, Move

# --- linear networks; a node's parents come before it ------------------------------------------------


@gen
def linear(rows, nodes):
    weight = {}
    for child in range(nodes):
        for parent in range(child):
            edge = ("edge", parent, child) @ ~bernoulli(0.3)
            if edge:
                weight[parent, child] = ~normal(0, 1)
    sd = [("sd", i) @ ~gamma(5, 0.2) for i in range(nodes)]
    for r in range(rows):
        values = []
        for child in range(nodes):
            mean = 0.0
            for parent in range(child):
                if (parent, child) in weight:
                    mean += weight[parent, child] * values[parent]
            values.append(("x", r, child) @ ~normal(mean, sd[child]))


@gen
def pick_edge(trace):
    _, nodes = trace.args
    child = ~uniform_discrete(1, nodes - 1)
    parent = ~uniform_discrete(0, child - 1)
    if not trace["edge", parent, child]:
        strength = ~normal(0, 0.7)


@transform
def toggle_edge(model_in, aux_in, *, model_out, aux_out):
    copy(aux_in["child"], aux_out["child"])
    copy(aux_in["parent"], aux_out["parent"])
    child, parent = read(aux_in["child"], discrete), read(aux_in["parent"], discrete)
    there = read(model_in["edge", parent, child], discrete)
    write(model_out["edge", parent, child], not there, discrete)
    if there:
        copy(model_in["weight", parent, child], aux_out["strength"])
    else:
        copy(aux_in["strength"], model_out["weight", parent, child])


@gen
def two_parents(trace):
    _, nodes = trace.args
    child = ~uniform_discrete(1, nodes - 1)
    a = ~uniform_discrete(0, child - 1)
    b = ~uniform_discrete(0, child - 1)


@transform
def exchange_parents(model_in, aux_in, *, model_out, aux_out):
    """A node listens to b as it did to a, and the other way round."""
    for name in ("child", "a", "b"):
        copy(aux_in[name], aux_out[name])
    child = read(aux_in["child"])
    a, b = read(aux_in["a"]), read(aux_in["b"])
    if a == b:
        return
    for old, new in ((a, b), (b, a)):
        copy(model_in["edge", old, child], model_out["edge", new, child])
        if read(model_in["edge", old, child]):
            copy(model_in["weight", old, child], model_out["weight", new, child])


@gen
def walk_network(trace):
    _, nodes = trace.args
    for child in range(nodes):
        ("sd", child) @ ~gamma(40, trace["sd", child] / 40)
        for parent in range(child):
            if trace["edge", parent, child]:
                ("weight", parent, child) @ ~normal(trace["weight", parent, child], 0.1)


def linear_data(rows, rng):
    x = rng.normal(size=(rows, 4))
    x[:, 1] += 0.9 * x[:, 0]
    x[:, 3] += 0.7 * x[:, 1] - 0.7 * x[:, 2]
    return {("x", r, i): float(v) for (r, i), v in np.ndenumerate(x)}


# --- noisy-or: a node is on by itself, or through any of its parents that are on ----------------------


def on_probability(leak, strengths, row):
    """1 - (1 - leak) prod (1 - strength) over the parents that are on."""
    off = 1 - leak
    for parent, strength in strengths:
        if row[parent]:
            off *= 1 - strength
    return 1 - off


@gen
def noisy_or(cases, names):
    parents = {}
    for i, name in enumerate(names):
        parents.setdefault(name, [])
        for other in names[:i]:
            if ("arrow", other, name) @ ~bernoulli(0.4):
                strength = ("strength", other, name) @ ~beta(2, 2)
                parents[name].append((other, strength))
    leak = {name: ("leak", name) @ ~beta(1, 3) for name in names}
    for case in range(cases):
        row = {}
        for name in names:
            row[name] = ("on", case, name) @ ~bernoulli(on_probability(leak[name], parents[name], row))


def arrows(names):
    return [(other, name) for i, name in enumerate(names) for other in names[:i]]


@gen
def pick_arrow(trace):
    _, names = trace.args
    all_arrows = arrows(names)
    which = ~uniform_discrete(0, len(all_arrows) - 1)
    if not trace[("arrow", *all_arrows[which])]:
        fresh = ~beta(2, 2)
    return all_arrows[which]


@transform
def toggle_arrow(model_in, aux_in, *, model_out, aux_out):
    other, name = aux_in.retval
    copy(aux_in["which"], aux_out["which"])
    if read(model_in["arrow", other, name], discrete):
        write(model_out["arrow", other, name], False, discrete)
        copy(model_in["strength", other, name], aux_out["fresh"])
    else:
        write(model_out["arrow", other, name], True, discrete)
        copy(aux_in["fresh"], model_out["strength", other, name])


@gen
def pick_leak(trace):
    _, names = trace.args
    which = ~uniform_discrete(0, len(names) - 1)
    new = ~beta(1, 3)


@transform
def exchange_leak(model_in, aux_in, *, model_out, aux_out):
    names = model_in.args[1]
    name = names[read(aux_in["which"], discrete)]
    copy(aux_in["which"], aux_out["which"])
    write(model_out["leak", name], read(aux_in["new"], continuous), continuous)
    write(aux_out["new"], read(model_in["leak", name], continuous), continuous)


def symptoms(cases, rng):
    found = {}
    for case in range(cases):
        rain = bool(rng.random() < 0.4)
        sprinkler = bool(rng.random() < 0.3)
        wet = bool(rng.random() < (0.9 if rain or sprinkler else 0.1))
        found |= {("on", case, "rain"): rain, ("on", case, "sprinkler"): sprinkler, ("on", case, "wet"): wet}
    return found


MODELS = [
    Model(
        "linear",
        linear,
        lambda rows: (rows, 4),
        linear_data,
        lambda rows: {"sd": [1.0] * 4},
        lambda check=False: cycle(
            repeat(involutive(pick_edge, toggle_edge, check=check), 2),
            involutive(two_parents, exchange_parents, check=check),
            mh(walk_network),
        ),
        [Move(pick_edge, toggle_edge), Move(two_parents, exchange_parents)],
        size=8,
    ),
    Model(
        "noisy_or",
        noisy_or,
        lambda cases: (cases, ("rain", "sprinkler", "wet")),
        symptoms,
        lambda cases: {},
        lambda check=False: mixture(
            [
                involutive(pick_arrow, toggle_arrow, check=check),
                involutive(pick_leak, exchange_leak, check=check),
            ]
        ),
        [Move(pick_arrow, toggle_arrow), Move(pick_leak, exchange_leak)],
        size=8,
    ),
]
