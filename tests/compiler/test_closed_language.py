"""Closed programs as text: the language as people write it, construct by construct."""

import itertools

import numpy as np
import pytest

from gendsl import bernoulli, gen, normal
from tests.compiler.closed_outcomes import outcome


@gen
def arithmetic_of_one_type_or_another(n):
    """A value that may be None or a number: where it is None, Python raises, and the reference decides."""
    seen = None
    for i in range(n):
        if i > 0:
            seen = seen + ("x", i) @ ~normal(0, 1) if seen is not None else 0.5
        else:
            seen = ("x", i) @ ~normal(0, 1)
    best = max([seen, 1.0])
    "y" @ ~normal(best + seen, 1)


def by_kind(tree):
    match tree:
        case ("leaf", value):
            return value
        case ("sum", left, right):
            return by_kind(left) + by_kind(right)
        case (_, left, right):
            return by_kind(left) * by_kind(right)


@gen
def tree(depth):
    if depth == 0 or "stops" @ ~bernoulli(0.5):
        return ("leaf", "value" @ ~normal(0, 1))
    kind = ~bernoulli(0.5)
    left = ~tree(depth - 1)
    right = ~tree(depth - 1)
    return ("sum" if kind else "product", left, right)


@gen
def of_trees(n):
    trees = [("tree", i) @ ~tree(2) for i in range(n)]
    values = np.array([by_kind(one) for one in trees])
    for i in range(n):
        ("y", i) @ ~normal(values[i], 1)


@gen
def pairs(n):
    x = [("x", i) @ ~normal(0, 1) for i in range(n)]
    for i, (a, b) in enumerate(itertools.pairwise(x)):
        ("d", i) @ ~normal(b - a, 1)
    for a, b in itertools.pairwise((1.0, 2.0, 4.0)):
        ("e", int(a)) @ ~normal(b - a, 1)


PROGRAMS = [
    (arithmetic_of_one_type_or_another, (3,)), (of_trees, (4,)), (pairs, (4,)), (pairs, (0,)), (pairs, (1,)),
]  # fmt: skip


@pytest.mark.parametrize("program, args", PROGRAMS, ids=lambda one: getattr(one, "__name__", repr(one)))
def test_constructs_mean_what_python_means(program, args):
    assert [outcome(program, args, rng=seed) for seed in range(4)] == ["equal"] * 4
