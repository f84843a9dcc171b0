"""Block models of graphs: a matrix of probabilities with an unknown number of blocks, and weighted edges."""

from __future__ import annotations

import numpy as np

from gendsl import (
    bernoulli,
    beta,
    categorical,
    copy,
    discrete,
    gamma,
    gen,
    poisson,
    read,
    transform,
    uniform_discrete,
    write,
)
from gendsl.inference import cycle, involutive, mh, repeat

from .model import Model, Move

MOST = 4

# --- a probability for each pair of blocks -----------------------------------------------------------


@gen
def blocks(n):
    k = ~uniform_discrete(1, MOST)
    p = {}
    for a in range(k):
        for b in range(a, k):
            p[a, b] = ~beta(1, 1)
    z = [("z", i) @ ~uniform_discrete(0, k - 1) for i in range(n)]
    for i in range(n):
        for j in range(i + 1, n):
            pair = (z[i], z[j]) if z[i] <= z[j] else (z[j], z[i])
            ("edge", i, j) @ ~bernoulli(p[pair])


@gen
def another_block(trace):
    """A new last block, or the last one goes if no node is in it."""
    (n,) = trace.args
    k = trace["k"]
    used = False
    for i in range(n):
        if trace["z", i] == k - 1:
            used = True
            break
    if k == 1 or used:
        more = ~bernoulli(1.0)
    else:
        more = ~bernoulli(0.5 if k < MOST else 0.0)
    if more:
        for a in range(k + 1):
            ("p", a) @ ~beta(1, 1)


@transform
def more_or_fewer(model_in, aux_in, *, model_out, aux_out):
    k = read(model_in["k"], discrete)
    more = read(aux_in["more"], discrete)
    if more and k == MOST:
        copy(aux_in["more"], aux_out["more"])
        copy(aux_in["p"], aux_out["p"])
        return
    write(aux_out["more"], not more, discrete)
    if more:
        write(model_out["k"], k + 1, discrete)
        for a in range(k + 1):
            copy(aux_in["p", a], model_out["p", a, k])
    else:
        write(model_out["k"], k - 1, discrete)
        for a in range(k):
            copy(model_in["p", a, k - 1], aux_out["p", a])


@gen
def node_and_block(trace):
    node = ~uniform_discrete(0, trace.args[0] - 1)
    block = ~uniform_discrete(0, trace["k"] - 1)


@transform
def change_block(model_in, aux_in, *, model_out, aux_out):
    node = read(aux_in["node"], discrete)
    write(aux_out["node"], node, discrete)
    copy(aux_in["block"], model_out["z", node])
    copy(model_in["z", node], aux_out["block"])


@gen
def refresh_probabilities(trace):
    """Each probability from its posterior given the blocks: counts in two dictionaries."""
    (n,) = trace.args
    k = trace["k"]
    yes, no = {}, {}
    for i in range(n):
        for j in range(i + 1, n):
            a, b = sorted((trace["z", i], trace["z", j]))
            table = yes if trace["edge", i, j] else no
            table[a, b] = table.get((a, b), 0) + 1
    for a in range(k):
        for b in range(a, k):
            ("p", a, b) @ ~beta(1 + yes.get((a, b), 0), 1 + no.get((a, b), 0))


def two_communities(n, rng):
    side = np.arange(n) % 2
    return {
        ("edge", i, j): bool(rng.random() < (0.8 if side[i] == side[j] else 0.15))
        for i in range(n)
        for j in range(i + 1, n)
    }


# --- counts between nodes, whose rates are in an array; nodes differ in how active they are ------------


@gen
def weighted(n, k):
    weights = np.full(k, 1 / k)
    labels = np.zeros(n, dtype=int)
    activity = np.ones(n)
    for i in range(n):
        labels[i] = ("label", i) @ ~categorical(weights)
        activity[i] = ("activity", i) @ ~gamma(5, 0.2)
    rates = np.zeros((k, k))
    for a in range(k):
        for b in range(a + 1):
            rates[a, b] = rates[b, a] = ("rate", a, b) @ ~gamma(2, 1)
    means = np.outer(activity, activity) * rates[labels][:, labels]
    for i in range(n):
        for j in range(i):
            ("count", i, j) @ ~poisson(means[i, j])


@gen
def two_nodes(trace):
    n, _ = trace.args
    i = ~uniform_discrete(0, n - 1)
    j = ~uniform_discrete(0, n - 2)
    j = j + 1 if j >= i else j
    return i, j


@transform
def swap_nodes(model_in, aux_in, *, model_out, aux_out):
    """Two nodes exchange their labels."""
    copy(aux_in["i"], aux_out["i"])
    copy(aux_in["j"], aux_out["j"])
    i, j = aux_in.retval
    copy(model_in["label", i], model_out["label", j])
    copy(model_in["label", j], model_out["label", i])


@gen
def relabel_one(trace, stride):
    n, k = trace.args
    for i in range(0, n, stride):
        ("label", i) @ ~uniform_discrete(0, k - 1)


@gen
def walk_rates(trace):
    _, k = trace.args
    for a in range(k):
        for b in range(a + 1):
            now = trace["rate", a, b]
            ("rate", a, b) @ ~gamma(10, now / 10)


def counts(n, rng):
    side = np.arange(n) % 2
    return {
        ("count", i, j): int(rng.poisson(3.0 if side[i] == side[j] else 0.7))
        for i in range(n)
        for j in range(i)
    }


def nodes(size):
    """How many nodes have about `size` pairs."""
    return max(int((2 * size) ** 0.5), 3)


MODELS = [
    Model(
        "blocks",
        blocks,
        lambda size: (nodes(size),),
        lambda size, rng: two_communities(nodes(size), rng),
        lambda size: {
            "k": 2,
            "p": {(0, 0): 0.8, (0, 1): 0.2, (1, 1): 0.8},
            "z": [i % 2 for i in range(nodes(size))],
        },
        lambda check=False: cycle(
            involutive(another_block, more_or_fewer, check=check),
            repeat(involutive(node_and_block, change_block, check=check), 3),
            mh(refresh_probabilities),
        ),
        [Move(another_block, more_or_fewer), Move(node_and_block, change_block)],
        size=15,
    ),
    Model(
        "weighted",
        weighted,
        lambda size: (nodes(size), 2),
        lambda size, rng: counts(nodes(size), rng),
        lambda size: {
            "label": [i % 2 for i in range(nodes(size))],
            "rate": {(0, 0): 3.0, (1, 0): 0.7, (1, 1): 3.0},
        },
        lambda check=False: cycle(
            involutive(two_nodes, swap_nodes, check=check), mh(relabel_one, (3,)), mh(walk_rates)
        ),
        [Move(two_nodes, swap_nodes)],
        size=15,
    ),
]
