"""Variables that an expression gives values to by `:=`, in parts of it that may not run among them."""

import ast

import pytest

from gendsl import gen, normal
from gendsl.runtime.lowering.conditional import assigned_at_once
from tests.runtime.idioms import Programs

PROGRAMS = Programs()
written = PROGRAMS.written


@written(([1.0],), ([],), ([0.5, 2.0],))
@gen
def never_assigned(xs):
    a = ~normal(0, 1)
    first = (x := xs[0]) if xs else a
    both = xs and (y := a)
    second, *rest = [first, (z := 2.0) if a > 0 else 1.0]
    ("y", 0) @ ~normal(first + second, 1)
    ("y", 1) @ ~normal(x + y if both else 0.0, 1)
    return z if a > 0 else rest


@written(([1.0],), ([],), ([0.5, 2.0],))
@gen
def assigned_before(xs):
    a = ~normal(0, 1)
    x, y, last, seen = 3.0, 1.0, 0.25, 0.5
    u = (x := xs[0]) if xs else a
    v = a > 0 and (y := u + 1)
    w = [(last := value + a) for value in xs if value > 0.7]
    within = 0 < a < (seen := 1.0)
    ("y", 0) @ ~normal(u + x + y + seen, 1)
    ("y", 1) @ ~normal(last, 1)
    return v, w, within


@written(([1.0, -1.0],), ([],), ([0.5, 2.0, 0.25],))
@gen
def carried_along(xs):
    a = ~normal(0, 1)
    best = -1.0
    for i, x in enumerate(xs):
        higher = x > best and (best := x + a)
        ("y", i) @ ~normal(best + bool(higher), 1)
    return best


@written(([1.0, -1.0],), ([],), ([0.5],))
@gen
def changed_afterwards(xs):
    held = [("a", i) @ ~normal(0, 1) for i in range(2)]
    kept = [0.0]
    xs and (kept := held)
    kept.append(1.0)
    ("y",) @ ~normal(len(held), 1)
    return held, kept


@written(([1.0, -1.0],), ([],), ([0.5],))
@gen
def beside_an_addition(xs):
    held = [("a", i) @ ~normal(0, 1) for i in range(2)]
    kept = [0.0]
    total = 0.0
    total += sum(kept := held) + len(xs)
    kept.append(1.0)
    ("y",) @ ~normal(total + len(held), 1)
    return held


@written(([1.0],), ([],), ([-0.5],))
@gen
def drawn_in_a_comprehension(xs):
    t = 0.5
    drawn = [(t := ~normal(x, 1)) for x in xs]
    last = 0.25
    more = [(last := ("more", i) @ ~normal(0, 1)) for i in range(2)]
    table = {i: ("table", i) @ ~normal((last := last + i), 1) for i in range(2)}
    ("y",) @ ~normal(t + last, 1)
    return drawn, more, table, t, last


test_both_runtimes_agree = PROGRAMS.test_of_agreement(columns_from=[None, 2, 1000])


@pytest.mark.parametrize("name", ["never_assigned", "assigned_before", "carried_along"])
def test_they_are_incremental(name):
    model, _ = PROGRAMS[name]
    assert "Updates incrementally" in model.explain()


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("m = 1", "m"),
        ("m, *k = c", "mk"),
        ("m = (k := 1) + 1", "mk"),
        ("m = c and (k := 1)", "m"),
        ("m = (k := 1) and (j := 2)", "mk"),
        ("m = (k := 1) if (j := 2) else 3", "mj"),
        ("m = 3 if c else (k := 1)", "m"),
        ("(k := 1) < (j := 2) < (i := 3)", "kj"),
        ("m = [(k := x) for x in (j := c) if (i := x)]", "mj"),
        ("m = c and [(k := x) for x in c]", "m"),
        ("m = lambda: (k := 1)", "m"),
        ("assert (k := 1), (j := 2)", "k"),
        ("m += (k := 1)", "mk"),
        ("m[(k := 1)] = c", "k"),
        ("m = c and (m := 1)", "m"),
    ],
)
def test_what_a_simple_statement_surely_assigns(text, names):
    (statement,) = ast.parse(text).body
    assert assigned_at_once(statement) == set(names)
