"""Loops with an `if` that goes the same way in all iterations are a loop in either arm of it."""

import ast

import numpy as np
import pytest

from gendsl import bernoulli, categorical, gen, normal, poisson, select, student_t, uniform_discrete
from gendsl.runtime.lowering.unswitch import unswitched
from tests.runtime.idioms import Programs, calls_of_an_update, slopes_are_right

pytestmark = pytest.mark.usefixtures("in_columns")

PROGRAMS = Programs()
LEFT = Programs()
X = np.linspace(-1.0, 2.0, 1000)


@PROGRAMS.written(5, 2, 9)
@gen
def noise(n):
    robust = ~bernoulli(0.5)
    a = ~normal(0, 1)
    for i in range(n):
        m = a * X[i]
        if robust:
            ("y", i) @ ~student_t(3, m, 1)
        else:
            ("y", i) @ ~normal(m, 1)


@PROGRAMS.written(5, 2, 9)
@gen
def shorter(n):
    robust = ~bernoulli(0.5)
    a = ~normal(0, 1)
    for i in range(n):
        if robust:
            ("y", i) @ ~student_t(3, a * X[i], 1)
        else:
            ("y", i) @ ~normal(a * X[i], 1)


@PROGRAMS.written(5, 2, 9)
@gen
def of_one_family(n):
    robust = ~bernoulli(0.5)
    wide = ~bernoulli(0.5)
    a = ~normal(0, 1)
    for i in range(n):
        if robust:
            if wide:
                ("y", i) @ ~normal(a * X[i], 4)
            else:
                ("y", i) @ ~normal(a * X[i], 3)
        else:
            ("u", i) @ ~normal(0, 1)
            if not wide:
                ("y", i) @ ~normal(a * X[i], 1)
            else:
                ("y", i) @ ~normal(a * X[i], 2)


@PROGRAMS.written(5, 2, 9)
@gen
def several(n):
    kind = ~uniform_discrete(0, 3)
    a = ~normal(0, 1)
    for i in range(n):
        x = X[i]
        if kind == 0:
            y = ("y", i) @ ~normal(a, 1)
        elif kind in (1, 2):
            y = ("y", i) @ ~normal(a * x, 1)
        else:
            y = ("y", i) @ ~student_t(3, a * x, 1)
        ("z", i) @ ~normal(y, 1)


@PROGRAMS.written(5, 2, 9)
@gen
def two_of_them(n):
    shift = ~bernoulli(0.5)
    wide = ~bernoulli(0.5)
    for i in range(n):
        if shift:
            m = ("m", i) @ ~normal(X[i], 1)
        else:
            m = 0.0
        if not wide:
            ("y", i) @ ~normal(m, 1)
        else:
            ("y", i) @ ~normal(m, 3)


@PROGRAMS.written(5, 2, 9)
@gen
def without_else(n):
    extra = ~categorical([0.3, 0.3, 0.4])
    total = 0.0
    kept = []
    for i in range(n):
        x = ("x", i) @ ~normal(0, 1)
        if extra > 1 or extra == 0:
            total = total + ("u", i) @ ~normal(x, 1)
            kept.append(total)
    y = ~normal(total, 1)
    return kept


@PROGRAMS.written(5, 2, 9)
@gen
def in_turn(n):
    hidden = ~bernoulli(0.5)
    x = 0.0
    for t in range(n):
        if hidden:
            x = ("x", t) @ ~normal(x, 1)
        ("y", t) @ ~normal(x, 1)
    return x


@PROGRAMS.written(3, 0, 6)
@gen
def over_drawn(n):
    on = ~bernoulli(0.5)
    for j in range(k := ~poisson(n)):
        if on:
            ("u", j) @ ~normal(k, 1)
    for i, x in enumerate(X[:n]):
        if on > -1:
            ("v", i) @ ~normal(x, 1)
        else:
            pass


@LEFT.written(5, 2, 9)
@gen
def changed_inside(n):
    on = ~bernoulli(0.5)
    for i in range(n):
        if on:
            ("y", i) @ ~normal(0, 1)
        on = not on
    return on


@LEFT.written(5, 2, 9)
@gen
def grows(n):
    seen = []
    for i in range(n):
        if seen:
            ("y", i) @ ~normal(seen[-1], 1)
        x = ("x", i) @ ~normal(0, 1)
        seen.append(x)


@LEFT.written(5, 2, 9)
@gen
def of_the_iteration(n):
    k = ~uniform_discrete(0, 4)
    for i in range(n):
        if k == i:
            ("y", i) @ ~normal(0, 1)
        else:
            ("y", i) @ ~normal(3, 1)


@LEFT.written(5, 2, 9)
@gen
def stops(n):
    on = ~bernoulli(0.5)
    for i in range(n):
        x = ("x", i) @ ~normal(0, 1)
        if x > 1:
            break
        if on:
            ("y", i) @ ~normal(x, 1)


@LEFT.written(5, 2, 9)
@gen
def caught(n):
    on = ~bernoulli(0.5)
    if n == 2:
        try:
            [][0]
        except IndexError as on:
            found = repr(on)
    for i in range(n if n != 2 else 0):
        if on:
            ("y", i) @ ~normal(0, 1)


@LEFT.written(5, 2, 9)
@gen
def maybe_unset(n):
    if n > 2:
        on = ~bernoulli(0.5)
    for i in range(n if n > 2 else 0):
        if on:
            ("y", i) @ ~normal(0, 1)
        else:
            ("y", i) @ ~normal(1, 1)


@LEFT.written(5, 2, 9)
@gen
def nothing_chosen(n):
    on = ~bernoulli(0.5)
    for i in range(n):
        if on:
            m = X[i]
        else:
            m = 0.0
        ("y", i) @ ~normal(m, 1)


test_both_runtimes_agree = PROGRAMS.test_of_agreement(columns_from=[None, 1])
test_no_part_is_opaque = PROGRAMS.test_of_blocks()
test_others_agree = LEFT.test_of_agreement(columns_from=[None, 1])


def loops_in(model):
    made = unswitched(model.compiled.origin)
    return sum(isinstance(part, ast.For) for part in made.parts) - sum(
        isinstance(part, ast.For) for part in model.compiled.origin.parts
    )


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("noise", 1),
        ("shorter", 1),
        ("of_one_family", 3),
        ("several", 2),
        ("two_of_them", 3),
        ("without_else", 1),
        ("in_turn", 1),
        ("over_drawn", 2),
    ],
)
def test_what_is_taken_apart(name, more):
    model, _ = PROGRAMS[name]
    assert loops_in(model) == more
    assert "branch on" in model.explain()


@pytest.mark.parametrize("name", LEFT)
def test_what_is_left_as_it_is(name):
    model, _ = LEFT[name]
    assert unswitched(model.compiled.origin) is model.compiled.origin


@pytest.mark.usefixtures("unwatched")
@pytest.mark.parametrize(
    ("model", "init", "path"),
    [
        (noise, {"robust": True}, "a"),
        (noise, {"robust": False}, "a"),
        (several, {"kind": 0}, "a"),
        (several, {"kind": 2}, "a"),
        (several, {"kind": 3}, "a"),
    ],
)
def test_either_loop_runs_at_once(model, init, path):
    few, many = (calls_of_an_update(model.generate((n,), init=init, rng=2).trace, path) for n in (100, 1000))
    assert many <= few + 100


@pytest.mark.parametrize("model", [noise, shorter, of_one_family], ids=lambda model: model.name)
@pytest.mark.parametrize("robust", [True, False])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n", [5, 100])
def test_gradients_are_those_of_the_arm_that_is_taken(model, robust, seed, n, monkeypatch):
    trace = model.generate((n,), init={"robust": robust, "a": 0.4}, rng=seed).trace
    assert slopes_are_right(trace, "a", monkeypatch)


@pytest.mark.parametrize("n", [5, 100])
def test_the_choices_that_both_arms_make_are_kept(n):
    trace = noise.generate((n,), init={"robust": True}, rng=3).trace
    other, log_weight, discard = trace.update({"robust": False})
    assert all(other["y", i] == trace["y", i] for i in range(n))
    assert list(discard) == [("robust",)]
    fresh = noise.reference.assess((n,), other.choices)
    assert other.log_prob == pytest.approx(fresh.log_prob, rel=1e-12)
    assert log_weight == pytest.approx(fresh.log_prob - trace.log_prob, rel=1e-9)
    again = other.regenerate(select("robust"), rng=1).trace
    assert noise.reference.assess((n,), again.choices).log_prob == pytest.approx(again.log_prob, rel=1e-12)
