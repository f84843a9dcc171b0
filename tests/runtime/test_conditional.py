"""What statements under conditions give to variables, in plates: at once where both arms do, and the same."""

import ast
import cProfile
import math
import pstats

import numpy as np
import pytest

from gendsl import gen, normal, poisson, select, uniform_discrete
from gendsl.runtime.lowering.conditional import assigned_surely
from gendsl.runtime.lowering.conditional import read_first as names_read_first
from gendsl.runtime.lowering.ir import Loop
from tests.runtime.idioms import SEEDS, Programs

PROGRAMS = Programs()
written = PROGRAMS.written

XS = [0.5, -1.25, 0.0, 2.0, -0.5]


@written((XS,), (XS[:3],), (np.array(XS),), ([1, 0, 2],), ([math.nan, 1.0],), ([True, False],))
@gen
def both_arms(xs):
    a = ~normal(0, 1)
    b = ~normal(0, 1)
    for i in range(len(xs)):
        if xs[i] > 0.25:
            m = a * xs[i]
            s = 1.0
        else:
            m = b
            s = 2
        ("y", i) @ ~normal(m, s)
    for i, x in enumerate(xs):
        if x < 0:
            m = -x
        elif x == 0:
            m = a
        else:
            m = b + x
            m = m * 2
        ("z", i) @ ~normal(m, 1)


@written((XS,), (XS[:3],), (np.array(XS),), ([1, 0, 2],))
@gen
def one_arm(xs):
    a = ~normal(0, 1)
    for i, x in enumerate(xs):
        k = ("k", i) @ ~poisson(1)
        m = a
        if k > 1:
            m = m + x
            m: float = m * a
        if x > 0:
            pass
        else:
            m = m - 1
        ("y", i) @ ~normal(m, 1)


@written((XS,), (XS[:3],), (np.array(XS),))
@gen
def what_no_expression_says(xs):
    a = ~normal(0, 1)
    for i, x in enumerate(xs):
        u = ("u", i) @ ~normal(x, 1)
        m = a * 2
        if u > 0:
            q = 1.0
            if u > 0.5:
                m = sum([abs(v) for v in XS]) + q
            r = m + q
            m = 0.5
        else:
            q = 0.0
            r = 0.0
            m = 0.0
        ("y", i) @ ~normal(r + m + q, 1)


@written((XS,), (XS[:3],), (np.array(XS),))
@gen
def arms_within_arms(xs):
    a = ~normal(0, 1)
    for i, x in enumerate(xs):
        if x > -1:
            q = a
            if x > 0:
                if x > 1:
                    q = q + 5.0
                elif i > 0:
                    q = 2.0
        else:
            q = 0.0
        ("y", i) @ ~normal(q, 1)


@written((XS, True), (XS[:3], False), (XS, 0))
@gen
def a_condition_outside(xs, linear):
    a = ~normal(0, 1)
    flip = ~uniform_discrete(0, 1)
    for i in range(len(xs)):
        if linear:
            m = a * xs[i]
        else:
            m = a
        if flip:
            m = -m
        ("y", i) @ ~normal(m, 1)


@written((XS,), (XS[:3],))
@gen
def kept_from_before(xs):
    """An iteration in which no arm assigns has what the last one had."""
    m = ~normal(0, 1)
    for i in range(len(xs)):
        if xs[i] > 0:
            m = 0.5 * xs[i]
        ("y", i) @ ~normal(m, 1)
    for i in range(len(xs)):
        if xs[i] > 0:
            last = m
            t = 1.0
        elif xs[i] < 0:
            last = xs[i]
        else:
            t = last = 0.0
        ("z", i) @ ~normal(last, 1)
    return t


@written((XS,), (XS[:3],))
@gen
def read_first(xs):
    m = ~normal(0, 1)
    for i in range(len(xs)):
        if xs[i] > 0:
            m = 0.5 * m
        else:
            m = xs[i] + m
        ("y", i) @ ~normal(m, 1)


@written((XS,), (XS[:2],))
@gen
def fails_in_the_other_arm(xs):
    a = ~normal(0, 1)
    for i in range(len(xs)):
        if xs[i] > 0:
            m = math.log(xs[i])
        else:
            m = a / 2
        ("y", i) @ ~normal(m, 1)


@written((XS,), (XS[:3],))
@gen
def with_loops_inside(xs):
    a = ~normal(0, 1)
    for i in range(len(xs)):
        if xs[i] > 0:
            m = 0.0
            for j in range(3):
                m += a * j
        else:
            m = sum(xs[i] * j for j in range(2))
        ("y", i) @ ~normal(m, 1)
    return m


@written((XS,), (XS[:3],))
@gen
def unassigned_again(xs):
    a = ~normal(0, 1)
    m = 2.0
    for i in range(len(xs)):
        if xs[i] > 0:
            m = a
            t = m
            del m
            m = t + 1
        else:
            m = 1.0
        ("y", i) @ ~normal(m, 1)


@written((XS,), (XS[:3],))
@gen
def added_to_first(xs):
    m = ~normal(0, 1)
    for i in range(len(xs)):
        if xs[i] > 0:
            m += 1.0
            t = 2.0
            m = t / 2
        else:
            t = 0.5
            m = 1.0
        ("y", i) @ ~normal(m + t, 1)


@written((XS,), (XS[:3],))
@gen
def lists_in_arms(xs):
    mu = [("mu", j) @ ~normal(0, 1) for j in range(2)]
    for i in range(len(xs)):
        if xs[i] > 0:
            used = mu
        else:
            used = [1.0, 2.0]
        ("y", i) @ ~normal(used[0] + used[1], 1)


AT_ONCE = {
    "both_arms", "one_arm", "a_condition_outside", "fails_in_the_other_arm", "arms_within_arms",
    "what_no_expression_says", "with_loops_inside",
}  # fmt: skip
CHAINS_AT_ONCE = {"added_to_first", "read_first"}
WHOLE = {"unassigned_again"}
CHAINS = {"added_to_first", "kept_from_before", "read_first"}


@pytest.mark.parametrize("columns_from", [2, 1000])
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("seed", SEEDS)
def test_both_runtimes_agree(name, seed, columns_from, in_columns):
    PROGRAMS.agree(name, seed, columns_from=columns_from)


@pytest.mark.parametrize("name", PROGRAMS)
def test_which_run_at_once_and_which_are_chains(name):
    model, _ = PROGRAMS[name]
    loops = [node for node in model.compiled.program.body if isinstance(node, Loop)]
    if name in WHOLE:
        assert not loops
        return
    last = loops[-1]
    assert (last.columns is not None) == (name in AT_ONCE | CHAINS_AT_ONCE)
    assert bool(last.carried) == (name in CHAINS)


@pytest.mark.parametrize("name", ["both_arms", "a_condition_outside"])
def test_a_change_outside_takes_as_many_calls_however_many_iterations_there_are(name, unwatched):
    model, _ = PROGRAMS[name]
    made = []
    for n in (60, 600):
        xs = np.random.default_rng(1).normal(size=n)
        trace = model.simulate((xs,) if name == "both_arms" else (xs, True), rng=2)
        for _ in range(3):
            trace = trace.update({"a": 0.5}).trace
        profile = cProfile.Profile()
        profile.enable()
        trace.update({"a": 0.25})
        profile.disable()
        made.append(pstats.Stats(profile).total_calls)
    assert made[1] < made[0] + 60


def test_gradients():
    model, _ = PROGRAMS["both_arms"]
    xs = np.random.default_rng(1).normal(size=60)
    trace = model.simulate((xs,), rng=2)
    for path, slope in trace.gradients(select("a", "b")).items():
        moved = [trace.update({path: trace[path] + d}).trace.log_prob for d in (1e-6, -1e-6)]
        assert slope == pytest.approx((moved[0] - moved[1]) / 2e-6, rel=1e-5, abs=1e-4)


def statements_of(text):
    return ast.parse(text).body


SURE = [
    ("m = 1", "m"),
    ("m: int = 1", "m"),
    ("m: int", ""),
    ("if c:\n m = 1\nelse:\n m = 2; k = 3", "m"),
    ("if c:\n m = 1", ""),
    ("if c:\n m = 1\nelif d:\n m = 2", ""),
    ("if c:\n m = 1\nelif d:\n m = 2\nelse:\n m = 3", "m"),
    ("if c:\n m = 1\n del m\nelse:\n m = 2", ""),
    ("if c:\n m += 1\nelse:\n m = 2", ""),
    ("if c:\n for m in d: pass\nelse:\n m = 2", ""),
    ("for m in d: pass", ""),
]


@pytest.mark.parametrize(("text", "names"), SURE, ids=[repr(text) for text, _ in SURE])
def test_what_is_surely_assigned(text, names):
    (statement,) = statements_of(text)
    assert assigned_surely(statement) == set(names)


FIRST = [
    ("if c:\n m = 1\nk = m", "c m"),
    ("for j in c:\n m = j\n", "c"),
    ("for j in j:\n m += j", "j m"),
    ("for j in c:\n k = m\n m = j", "c m"),
    ("for j in c:\n if j:\n  m = 1\n else:\n  m = 2\n k = m", "c"),
    ("for j in c: pass\nelse:\n k = j", "c j"),
    ("for j in c: pass\nk = j", "c j"),
    ("for a[i] in c: pass", "a c i"),
    ("for j, k in c:\n m = j + k", "c"),
]


@pytest.mark.parametrize(("text", "names"), FIRST, ids=[repr(text) for text, _ in FIRST])
def test_what_may_be_read_before_it_is_assigned(text, names):
    assert names_read_first(statements_of(text)) == set(names.split())
