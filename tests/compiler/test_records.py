"""Dicts of data of several types, under strings: what lies under each string has a type of its own."""

import numpy as np
import pytest

from gendsl import gen, iid, normal
from gendsl.compiler.hir.failures import NotClosed
from gendsl.compiler.run.closed import ClosedDensity
from tests.compiler.closed_outcomes import outcome

RNG = np.random.default_rng(0)
DATA = {
    "x": RNG.normal(size=12), "group": RNG.integers(0, 4, 12), "n": 12, "groups": 4, "scale": 0.5,
    "design": RNG.normal(size=(12, 2)), "names": ["a", "b"], "is_shifted": True, "label": "abc", "none": None,
}  # fmt: skip


@gen
def by_group(data):
    mu = ~normal(0, 1)
    effects = [("effect", j) @ ~normal(mu, data["scale"]) for j in range(data["groups"])]
    for i in range(data["n"]):
        ("y", i) @ ~normal(effects[data["group"][i]] + data["x"][i], 1)


@gen
def at_once(data):
    slopes = ~iid(normal(0, 1), 2)
    effects = ~iid(normal(0, 1), data["groups"])
    mean = data["design"] @ slopes + effects[data["group"]] + (1.0 if data["is_shifted"] else 0.0)
    for i in range(data["n"]):
        ("y", data["label"], i) @ ~normal(mean[i], 1)


@gen
def looked_through(data):
    k = 0
    for name, value in data.items():
        if name == "n":
            k += value
    x = ~normal(k, 1)
    told = len(data) + ("n" in data) + ("m" in data) + data.get("scale", 1.0) + data.get("m", 2.0)
    y = ~normal(x + told + (data["none"] is None), 1)


@gen
def of_rows(rows):
    slope = ~normal(0, 1)
    for row in rows:
        ("y", row["id"], row["name"]) @ ~normal(slope * row["x"], 1)


LISTS = {
    "x": DATA["x"].tolist(), "group": DATA["group"].tolist(), "n": 12, "groups": 4, "scale": 0.5,
    "flags": [True, False], "names": ["a", "b"], "pairs": [[1, 2], [3]],
}  # fmt: skip


@gen
def of_parts(data):
    effects = [("effect", j) @ ~normal(0, 1) for j in range(data["sizes"]["groups"])]
    for i in range(data["sizes"]["n"]):
        ("y", i) @ ~normal(effects[data["known"]["group"][i]] + data["known"]["x"][i], data["scale"])


PARTS = {
    "nothing": None, "sizes": {"n": 12, "groups": 4}, "scale": 0.5,
    "known": {"group": LISTS["group"], "x": LISTS["x"], "weights": np.ones(3)},
}  # fmt: skip


@gen
def copied(data):
    other = dict(data)
    other["scale"] = 3
    total = other["scale"] + sum(len(value) for value in data.values() if isinstance(value, list))
    y = ~normal(total, 1)


ROWS = [{"id": i % 3, "name": "abc"[i // 3], "x": 0.5 * i} for i in range(9)]


GIVEN = {
    "arrays": (by_group, DATA), "lists": (by_group, LISTS), "at once": (at_once, DATA),
    "looked through": (looked_through, DATA), "rows": (of_rows, ROWS), "dicts": (of_parts, PARTS),
    "copied": (copied, LISTS),
}  # fmt: skip


@pytest.mark.parametrize("name", GIVEN)
def test_each_is_what_it_is(name):
    program, data = GIVEN[name]
    for seed in range(3):
        assert outcome(program, (data,), rng=seed) == "equal"


OTHER = {
    "a float for an integer": {"n": 12.0},
    "a number for an array": {"x": 1.0},
    "an array of other numbers": {"group": RNG.normal(size=12)},
    "another key": {"more": 1},
}


@pytest.mark.parametrize("what", OTHER)
def test_a_text_is_for_these_types(what):
    closed = ClosedDensity(by_group, (DATA,))
    trace = by_group.reference.simulate((DATA,), rng=1)
    choices = dict(trace.choices.items())
    assert closed.assess_python((DATA,), choices) == pytest.approx(trace.log_prob)
    with pytest.raises(NotClosed):
        closed.assess_python(({**DATA, **OTHER[what]},), choices)

