"""Bayesian regression trees: recursive programs with nodes as objects, and nodes numbered as in a heap."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gendsl import (
    bernoulli,
    categorical,
    continuous,
    copy,
    discrete,
    gamma,
    gen,
    normal,
    read,
    transform,
    uniform,
    uniform_discrete,
    write,
)
from gendsl.inference import cycle, involutive, mh, repeat

from .model import Model, Move

# --- recursion: a tree is a leaf, or a branch with two trees ------------------------------------------


@dataclass(frozen=True)
class Leaf:
    value: float


@dataclass(frozen=True)
class Branch:
    cut: float
    left: Leaf | Branch
    right: Leaf | Branch


def predict(node, x):
    if isinstance(node, Leaf):
        return node.value
    return predict(node.left if x < node.cut else node.right, x)


def branch_chance(depth):
    return 0.0 if depth >= 4 else 0.7 * 0.6**depth


@gen
def tree(low, high, depth):
    branch = ~bernoulli(branch_chance(depth))
    if not branch:
        value = ~normal(0, 2)
        return Leaf(value)
    cut = ~uniform(low, high)
    left = ~tree(low, cut, depth + 1)
    right = ~tree(cut, high, depth + 1)
    return Branch(cut, left, right)


@gen
def recursive(xs):
    root = ~tree(0.0, 10.0, 0)
    sd = ~gamma(5, 0.1)
    for i, x in enumerate(xs):
        ("y", i) @ ~normal(predict(root, x), sd)


@gen
def walk_to(node, low, high, depth):
    """To a leaf, or to a branch with two leaves; what is needed to make a branch of a leaf."""
    if isinstance(node, Leaf):
        here = ~bernoulli(1.0)
        grow = ~bernoulli(1.0 if depth < 4 else 0.0)
        if grow:
            cut = ~uniform(low, high)
            u = ~normal(0, 1)
        return
    cherry = isinstance(node.left, Leaf) and isinstance(node.right, Leaf)
    here = ~bernoulli(0.5 if cherry else 0.0)
    if here:
        grow = ~bernoulli(0.0)
    else:
        go_left = ~bernoulli(0.5)
        if go_left:
            left = ~walk_to(node.left, low, node.cut, depth + 1)
        else:
            right = ~walk_to(node.right, node.cut, high, depth + 1)


@gen
def grow_or_prune(trace):
    at = ~walk_to(trace["root"], 0.0, 10.0, 0)


@transform
def at_node(node_in, aux_in, *, node_out, aux_out):
    """Goes down as the walk did; a leaf gets two leaves, or two leaves are one again."""
    copy(aux_in["here"], aux_out["here"])
    if not read(aux_in["here"], discrete):
        copy(aux_in["go_left"], aux_out["go_left"])
        side = "left" if read(aux_in["go_left"], discrete) else "right"
        at_node(node_in[side], aux_in[side], node_out=node_out[side], aux_out=aux_out[side])
    elif read(aux_in["grow"], discrete):
        assert not read(node_in["branch"], discrete)
        value, u = read(node_in["value"], continuous), read(aux_in["u"], continuous)
        write(aux_out["grow"], False, discrete)
        write(node_out["branch"], True, discrete)
        copy(aux_in["cut"], node_out["cut"])
        for side, sign in (("left", -1), ("right", 1)):
            write(node_out[side, "branch"], False, discrete)
            write(node_out[side, "value"], value + sign * u, continuous)
    elif read(node_in["branch"], discrete):
        assert not (read(node_in["left", "branch"], discrete) or read(node_in["right", "branch"], discrete))
        left, right = read(node_in["left", "value"], continuous), read(node_in["right", "value"], continuous)
        write(aux_out["grow"], True, discrete)
        write(node_out["branch"], False, discrete)
        copy(node_in["cut"], aux_out["cut"])
        write(node_out["value"], (left + right) / 2, continuous)
        write(aux_out["u"], (right - left) / 2, continuous)
    else:
        copy(aux_in["grow"], aux_out["grow"])


@transform
def grown_or_pruned(model_in, aux_in, *, model_out, aux_out):
    at_node(model_in["root"], aux_in["at"], node_out=model_out["root"], aux_out=aux_out["at"])


@gen
def step_leaves(node):
    if isinstance(node, Leaf):
        value = ~normal(node.value, 0.3)
    else:
        left = ~step_leaves(node.left)
        right = ~step_leaves(node.right)


@gen
def walk_leaves(trace):
    root = ~step_leaves(trace["root"])
    sd = ~gamma(20, trace["sd"] / 20)


# --- a heap: node h has the children 2 h + 1 and 2 h + 2 ----------------------------------------------

NODES = 15  # three levels of branches


@gen
def heap(rows):
    nodes = {}
    waiting = [0]
    while waiting:
        h = waiting.pop()
        if ("split", h) @ ~bernoulli(0.5 if h < NODES // 2 else 0.0):
            column = ("column", h) @ ~uniform_discrete(0, 1)
            cut = ("cut", h) @ ~normal(0, 1)
            nodes[h] = (column, cut)
            waiting += [2 * h + 2, 2 * h + 1]
        else:
            nodes[h] = ("mean", h) @ ~normal(0, 2)
    for i, row in enumerate(rows):
        h = 0
        while isinstance(nodes[h], tuple):
            column, cut = nodes[h]
            h = 2 * h + (1 if row[column] < cut else 2)
        ("y", i) @ ~normal(nodes[h], 0.7)


def leaves_and_cherries(trace):
    """The numbers of the leaves, and of branches that have two of them."""
    leaves, cherries = [], []
    for h in range(NODES):
        if ("split", h) not in trace.choices:
            continue
        if not trace["split", h]:
            leaves.append(h)
        elif not (trace["split", 2 * h + 1] or trace["split", 2 * h + 2]):
            cherries.append(h)
    return leaves, cherries


def one_of(numbers):
    """Probabilities of all nodes: equal for these, zero for the rest."""
    probabilities = [0.0] * NODES
    for h in numbers:
        probabilities[h] = 1 / len(numbers)
    return probabilities


@gen
def pick_leaf_or_cherry(trace):
    leaves, cherries = leaves_and_cherries(trace)
    leaves = [h for h in leaves if h < NODES // 2]
    split = ~bernoulli(1.0 if not cherries else 0.0 if not leaves else 0.5)
    if split:
        node = ~categorical(one_of(leaves))
        column = ~uniform_discrete(0, 1)
        cut = ~normal(0, 1)
        u = ~normal(0, 0.7)
    else:
        node = ~categorical(one_of(cherries))


@transform
def split_or_join(model_in, aux_in, *, model_out, aux_out):
    h = read(aux_in["node"], discrete)
    copy(aux_in["node"], aux_out["node"])
    left, right = 2 * h + 1, 2 * h + 2
    is_split = read(model_in["split", h], discrete)
    if read(aux_in["split"], discrete):
        assert not is_split
        write(aux_out["split"], False, discrete)
        write(model_out["split", h], True, discrete)
        write(model_out["split", left], False, discrete)
        write(model_out["split", right], False, discrete)
        copy(aux_in["column"], model_out["column", h])
        copy(aux_in["cut"], model_out["cut", h])
        mean, u = read(model_in["mean", h], continuous), read(aux_in["u"], continuous)
        write(model_out["mean", left], mean - u, continuous)
        write(model_out["mean", right], mean + u, continuous)
    else:
        assert is_split and not any(read(model_in["split", child], discrete) for child in (left, right))
        write(aux_out["split"], True, discrete)
        write(model_out["split", h], False, discrete)
        copy(model_in["column", h], aux_out["column"])
        copy(model_in["cut", h], aux_out["cut"])
        a, b = read(model_in["mean", left], continuous), read(model_in["mean", right], continuous)
        write(model_out["mean", h], (a + b) / 2, continuous)
        write(aux_out["u"], (b - a) / 2, continuous)


@gen
def walk_heap(trace):
    leaves, _ = leaves_and_cherries(trace)
    for h in leaves:
        ("mean", h) @ ~normal(trace["mean", h], 0.3)


def plane(n):
    """Points of the plane, the same at each call."""
    return np.random.default_rng(2).normal(size=(n, 2)).round(3).tolist()


MODELS = [
    Model(
        "recursive",
        recursive,
        lambda n: (np.linspace(0.5, 9.5, n).tolist(),),
        lambda n, rng: {"y": np.where(np.linspace(0.5, 9.5, n) < 6, -1.0, 1.5) + rng.normal(0, 0.5, n)},
        lambda n: {},
        lambda check=False: cycle(
            repeat(involutive(grow_or_prune, grown_or_pruned, check=check), 2), mh(walk_leaves)
        ),
        [Move(grow_or_prune, grown_or_pruned)],
        size=12,
    ),
    Model(
        "heap",
        heap,
        lambda n: (plane(n),),
        lambda n, rng: {"y": [(-1.0 if row[0] < 0 else 1.0) + rng.normal(0, 0.5) for row in plane(n)]},
        lambda n: {},
        lambda check=False: cycle(
            repeat(involutive(pick_leaf_or_cherry, split_or_join, check=check), 2), mh(walk_heap)
        ),
        [Move(pick_leaf_or_cherry, split_or_join)],
        size=12,
    ),
]
