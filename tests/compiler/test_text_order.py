"""Closed programs as text: the order of strings, of the program and of the data."""

# ruff: noqa: B905, RUF007, SIM300 (strings compared in all ways)

import pytest

from gendsl import gen, normal, uniform_discrete
from gendsl.compiler.run.closed import ClosedDensity
from gendsl.compiler.run.closed_sampler import ClosedSampler
from tests.compiler.closed_outcomes import NATIVE, equal, outcome, raises_everywhere

LEVELS = ["medium", "low", "high"]


@gen
def effects(names, groups):
    beta = {}
    for i, name in enumerate(sorted(names)):
        beta[name] = ("beta", name) @ ~normal(i, 1)
    for i, (name, x) in enumerate(sorted(groups.items(), reverse=True)):
        ("group", name) @ ~normal(x * i, 1)
    first, last = min(names), max(names, default="")
    ("y", 0) @ ~normal(beta[first] - beta[last], 1)
    ("y", 1) @ ~normal(sum(a < b for a, b in zip(names, names[1:])) + ("m" <= first), 1)
    ("y", 2) @ ~normal(sum(i * beta[n] for i, n in enumerate(sorted(set(names)))), 1)


@gen
def constants(n):
    k = ~uniform_discrete(0, 2)
    for i, level in enumerate(sorted(LEVELS)):
        (level, "x") @ ~normal(i, 1)
    level = LEVELS[k]
    ordered = sorted([("b", 2), ("a", k), ("a", 0)], key=lambda pair: (pair[0], -pair[1]))
    ("y", 0) @ ~normal((level > "low") + 2 * (level <= "low") + 4 * ((level, 1) < ("low", 2)), 1)
    ("y", 1) @ ~normal(sum(i * pair[1] for i, pair in enumerate(ordered)), 1)
    ("y", 2) @ ~normal(["high", "low", "medium"].index(max(level, "low")), 1)
    words = ["pear", "fig", "apple", level]
    words.sort(key=len)
    words.sort()
    ("y", 3) @ ~normal(words.index(level), 1)


@gen
def of_strings(names):
    treated = 0
    for i, name in enumerate(names):
        effect = 2.0 * name.startswith("treat") + len(name) + name.count("a") + ("ol" in name)
        if name.isdigit() or name.endswith(("t", "x")):
            treated += 1
        ("y", i) @ ~normal(effect + (name.find("e") if name else 0.5), 1)
    z = ~normal(treated, 1)


@gen
def of_no_string(names):
    x = ~normal(0, 1)
    y = ~normal(names[0].count(1), 1)


def test_what_is_known_of_each_string():
    assert outcome(of_strings, (["treated", "control", "", "17", "tax", "treat"],)) == "equal"
    raises_everywhere(of_no_string, (["a"],), {("x",): 0.0})


DATA = [(["b", "a", "Z", "ab", ""], {"b": 1.0, "aa": 2.0}), (["z", "y", "é", "y"], {"q": 1.0})]


@pytest.mark.parametrize("rng", range(3))
def test_strings_in_order(rng):
    assert outcome(effects, DATA[0], rng=rng) == "equal"
    assert outcome(constants, (1,), rng=rng) == "equal"


def test_the_order_is_that_of_the_strings_at_hand():
    closed = ClosedDensity(effects, (["b", "a"], {"b": 1.0}))
    for args in [(["b", "a"], {"b": 1.0}), *DATA[:1], (["d", "A", "c"], {"C": 1.0, "B": 3.0})]:
        trace = effects.reference.simulate(args, rng=3)
        ways = [closed.assess_python, closed.assess_native] if NATIVE else [closed.assess_python]
        for way in ways:
            assert equal(way(args, dict(trace.choices.items())), trace.log_prob)


def test_samplers_know_the_order():
    import numpy as np

    sampler = ClosedSampler(effects, DATA[0])
    expected = effects.reference.simulate(DATA[0], rng=5)
    ways = [sampler.generate_python, sampler.generate_native] if NATIVE else [sampler.generate_python]
    for way in ways:
        assert equal(way(DATA[0], {}, np.random.default_rng(5)).log_prob, expected.log_prob)
