"""Closed programs as text: strings that are made of values as keys of dicts, and compared."""

import pytest

from gendsl import bernoulli, gen, normal
from tests.compiler.closed_outcomes import outcome


@gen
def named(n):
    mu = {"sigma": 2.0}
    for i in range(n):
        mu[f"mu_{i}"] = f"mu_{i}" @ ~normal(0, 1)
    flip = ~bernoulli(0.5)
    first = mu["mu_0"] + mu[f"mu_{n - 1}"] + mu["mu_1" if flip else "mu_0"]
    there = ("mu_7" in mu) + 2 * (f"mu_{n}" in mu) + 4 * ("tau" in mu) + 8 * ("mu_01" in mu)
    y = ~normal(first + there + len(mu) + mu.get("mu_9", 5.0), mu["sigma"])
    for i, (name, value) in enumerate(mu.items()):
        ("z", name) @ ~normal(value + i, 1)
    mu["mu_0"] = 7.0
    del mu["mu_1"]
    w = ~normal(sum(mu.values()) + len(mu) + mu.pop(f"mu_{n - 1}"), 1)


@gen
def by_groups(names):
    effect = {}
    for name in names:
        effect["b_" + name] = ("b", name) @ ~normal(0, 1)
    same = ("b_" + names[1] == "b_a") + 2 * (f"x{len(names)}" == "x2") + 4 * ("b_" + names[0] == "c_a")
    y = ~normal(effect["b_" + names[0]] + effect["b_a"] + same + 8 * (f"x{len(names)}" != f"x{same}"), 1)


@gen
def keys_of_both_kinds(n):
    table = {0: 1.0, "total": 2.0}
    for key, value in table.items():
        ("x", key) @ ~normal(value, 1)
        flipped = (key, "flip") @ ~bernoulli(0.5)


@pytest.mark.parametrize("rng", range(4))
def test_strings_made_of_values_as_keys(rng):
    assert outcome(named, (3,), rng=rng) == "equal"
    assert outcome(by_groups, (["a", "b"],), rng=rng) == "equal"
    assert outcome(keys_of_both_kinds, (3,), rng=rng) == "equal"


@gen
def beside_strings_of_the_data(names):
    table = {}
    for name in names:
        table[name] = ("b", name) @ ~normal(0, 1)
    for i in range(2):
        table[f"x{i}"] = 1.0
    y = ~normal(sum(table.values()), 1)


@gen
def not_to_be_told_apart(names):
    table = {}
    for i in range(12):
        for j in range(12):
            table[f"{i}{j}"] = 1.0 * i
    y = ~normal(table["111"], 1)


@gen
def in_two_ways(names):
    table = {}
    for i in range(12):
        table[f"x_{i}"] = 1.0
        table[f"x_{i:02d}"] = 2.0
    y = ~normal(sum(table.values()), 1)


@gen
def one_of_two(names):
    table = {"sd": 1.0, **{f"mu_{i}": 1.0 for i in range(2)}}
    keys = ["mu_1", "sd"]
    y = ~normal(sum(key in table for key in keys), 1)


@pytest.mark.parametrize(
    "program", [beside_strings_of_the_data, not_to_be_told_apart, in_two_ways, one_of_two]
)
def test_strings_that_may_be_one_are_refused(program):
    assert outcome(program, (["a", "x1"],)).startswith("refused")
