"""The shortest way to a record finds what looking through the blocks finds."""

import pytest

from gendsl import bernoulli, gen, normal, poisson
from gendsl.runtime.lookup import record_at
from gendsl.runtime.watched import runs_whole

pytestmark = pytest.mark.skipif(runs_whole(), reason="there are no blocks")


@gen
def point(sd):
    at = ~normal(0, sd)
    if at > 0:
        "up" @ ~bernoulli(0.5)
    return at


@gen
def tree(depth):
    value = ~normal(0, 1)
    if depth > 0:
        left = ~tree(depth - 1)
        right = ~tree(depth - 1)


@gen
def early(n):
    for i in range(n):
        x = ("x", i) @ ~normal(0, 1)
        if x > 1:
            return i
    last = ~normal(0, 1)


@gen
def everything(n):
    k = ~poisson(2)
    for i in range(n):
        ("x", i) @ ~normal(0, 1)
    for i in range(k):
        z = ("z", i) @ ~bernoulli(0.5)
        for j in range(1 + z):
            ("y", i, j) @ ~normal(z, 1)
    if k > 1:
        many = ~normal(0, 1)
    else:
        few = ~normal(0, 1)
    for i, name in enumerate(["a", "b"]):
        ("point", name) @ ~point(1.0 + i)
    ... @ ~point(3.0)
    walk = 0.0
    for t in range(3):
        walk = ("walk", t) @ ~normal(walk, 1)
    ("deep", 0, "down") @ ~tree(2)
    "early" @ ~early(4)


@pytest.mark.parametrize("seed", range(12))
def test_every_record(seed):
    trace = everything.simulate((40,), rng=seed)
    called = trace._called
    body, frames = called.linked.body, (called.frame,)
    paths = [path for path, _ in body.records(frames, ())]
    calls = [path for path, _ in body.calls(frames, ())]
    absent = [("x", 40), ("x", -1), ("x",), ("x", 0.5), ("x", "a"), ("y", 0), ("z", 0, 0), ("deep",)]
    for path in [*paths, *calls, *absent, (...,), ()]:
        expected = next((record for _, record in body.find(frames, path, 0, False)), None)
        found = record_at(body, frames, path)
        assert (found is None) == (expected is None), path
        if expected is not None:
            assert found[1] is expected[1] or found[1] == expected[1], path
            assert found[2] == expected[2], path
    assert all(record_at(body, frames, path) is not None for path in [*paths, *calls])
