"""Closed programs as text: tuples whose lengths are known only when the text runs are no lists."""

# ruff: noqa: RUF005, SIM300 (tuples used in all ways)

import numpy as np
import pytest

from gendsl import gen, normal, uniform_discrete
from gendsl.compiler.hir.failures import NotClosed
from gendsl.compiler.run.closed import ClosedDensity
from tests.compiler.closed_outcomes import outcome, raises_everywhere

LONG = tuple(float(i) for i in range(20))


@gen
def compared(n):
    x = [("x", i) @ ~uniform_discrete(0, 1) for i in range(n)]
    t = tuple(x)
    ("y", 0) @ ~normal((t == x) + 2 * (t == tuple(x)) + 4 * (list(t) == x) + 8 * (t != x), 1)
    ("y", 1) @ ~normal((t == (0, 1)) + 2 * (t == ()) + 4 * ((1, 0) == t) + 8 * (x == (0, 1)), 1)
    ("y", 2) @ ~normal((t in [(0, 0), (1, 1)]) + 2 * (t[1:] == x[1:]) + 4 * (t[1:] == tuple(x[1:])), 1)
    ("y", 3) @ ~normal((t == 1) + 2 * (t is None) + 4 * (t == "a") + len(t) + sum(t) + t.count(1), 1)


@gen
def of_what_class(n):
    x = [("x", i) @ ~uniform_discrete(0, 1) for i in range(n)]
    t = tuple(x)
    ("y", 0) @ ~normal(isinstance(t, tuple) + 2 * isinstance(t, list) + 4 * isinstance(x, list), 1)
    ("y", 1) @ ~normal((type(t) is tuple) + 2 * (type(x) is list) + 4 * isinstance(t[:1], tuple), 1)
    ("y", 2) @ ~normal(isinstance(LONG, tuple) + 2 * (LONG == list(LONG)), 1)


@gen
def changed(n):
    x = [("x", i) @ ~uniform_discrete(0, 1) for i in range(n)]
    t = tuple(x)
    u = t
    t += (5,)
    v = t
    v *= 2
    for i in range(n):
        v = v + (i, *t)
        u = (*u, i * 1.0) if i > 1 else (*u,)
    ("y", 0) @ ~normal(len(u) + sum(u) + 10 * len(t) + 100 * len(v) + sum(v), 1)
    w = LONG
    w += tuple(x)
    ("y", 1) @ ~normal(len(w) + 10 * len(LONG) + isinstance(w, tuple) + (w * 2)[-1], 1)


def gathered(*values):
    return isinstance(values, tuple) + (values == (0, 1))


@gen
def in_order(n):
    x = [("x", i) @ ~uniform_discrete(0, 1) for i in range(n + 2)]
    t, u, v = tuple(x[:n]), tuple(x[1:]), x[2:]
    ("y", 0) @ ~normal((t < u) + 2 * (t <= u) + 4 * (u > t) + 8 * (x >= v) + 16 * (t <= t) + int("3"), 1)
    every = sorted([x, v, x[1:], [], [2.0]])
    ("y", 1) @ ~normal(sum(i * len(one) for i, one in enumerate(every)) + max(t, u)[0] + min([x, v])[0], 1)


@gen
def given(t):
    x = ~normal(0, 1)
    y = ~normal((t == list(t)) + 2 * isinstance(t, tuple) + gathered(*t) + x, 1)


@pytest.mark.parametrize("program", [compared, of_what_class, changed, in_order])
@pytest.mark.parametrize("rng", range(6))
def test_tuples_of_unknown_length(program, rng):
    assert outcome(program, (2,), rng=rng) == "equal"


def test_long_tuples_of_the_data():
    assert outcome(given, (LONG,)) == "equal"
    assert outcome(given, (list(LONG),)) == "equal"
    closed = ClosedDensity(given, (LONG,))
    with pytest.raises(NotClosed):
        closed.assess_python((list(LONG),), {("x",): 0.0, ("y",): 0.0})


@gen
def adds_a_list(n):
    x = [("x", i) @ ~normal(0, 1) for i in range(n)]
    y = tuple(x) + [1]


@gen
def appends(n):
    x = [("x", i) @ ~normal(0, 1) for i in range(n)]
    tuple(x).append(1)


@gen
def replaces(n):
    x = [("x", i) @ ~normal(0, 1) for i in range(n)]
    t = tuple(x)
    t[0] = 1.0


@pytest.mark.parametrize("program", [adds_a_list, appends, replaces])
def test_what_tuples_do_not_do_fails(program):
    raises_everywhere(program, (2,), {("x", 0): 0.0, ("x", 1): 0.0})


@gen
def of_several_axes(n):
    a = np.arange(6.0).reshape(2, 3)
    at = tuple([("i", j) @ ~uniform_discrete(0, 1) for j in range(n)])
    y = ~normal(a[at], 1)


@gen
def one_or_the_other(n):
    x = [("x", i) @ ~uniform_discrete(0, 1) for i in range(n)]
    z = tuple(x) if x[0] else x
    y = ~normal(1.0 * (z == x), 1)


def test_what_is_not_told_apart_is_refused():
    assert outcome(of_several_axes, (2,)).startswith("refused")
    assert outcome(one_or_the_other, (2,)).startswith("refused")


@gen
def keys_in_order(n):
    who = [("who", i) @ ~uniform_discrete(0, 2) for i in range(n)]
    rate = {(a, b): a + 10.0 * b for a in range(3) for b in range(a, 3)}
    seen = {tuple(sorted([who[0], who[1]], reverse=True)): 1.0}
    for i in range(n):
        for j in range(i + 1, n):
            pair = tuple(sorted((who[i], who[j])))
            ("y", i, j) @ ~normal(rate[pair] + rate[tuple(sorted([who[j], who[i]]))], 1)
            ("z", *pair, i, j) @ ~normal(seen.get(tuple(reversed(pair)), 0.0), 1)


@gen
def grown_meanwhile(n):
    x = [("x", i) @ ~uniform_discrete(0, 1) for i in range(n)]
    made = [x[0], x[1]]
    if x[0]:
        made.append(5)
    other = [1, 2]
    alias = other
    alias.append(x[1])
    third = []
    for value in (1, x[0], 3):
        if value == 0:
            break
        third.append(value)
    t, u, v = tuple(made), tuple(other), tuple(third)
    ("y", 0) @ ~normal(len(t) + 10 * len(u) + 100 * len(v) + sum(t) + sum(u) + sum(v), 1)


@pytest.mark.parametrize("program", [keys_in_order, grown_meanwhile])
@pytest.mark.parametrize("rng", range(6))
def test_tuples_of_lists_made_item_by_item(program, rng):
    assert outcome(program, (4,), rng=rng) == "equal"


@gen
def list_with_a_list_or_tuple(n):
    a = ~normal(0, 1)
    one = [0.0 for i in range(n)]
    two = [1.0 for i in range(n)]
    three = tuple(float(i) for i in range(n))
    mixed = two if a > 9 else three
    more = one if a > 9 else mixed
    z = ~normal(1.0 * isinstance(one, tuple) + 2.0 * isinstance(more, list) + 4 * isinstance(mixed, list), 1)


def test_what_is_either_stays_so_where_more_may_be_it():
    assert outcome(list_with_a_list_or_tuple, (3,)).startswith(("equal", "refused"))


@gen
def pairs_of_times(times, sizes):
    m = ~normal(0, 1)
    total = 0.0
    for t, size in zip(times, sizes, strict=True):
        for i, u in enumerate(times):
            total += size * i * abs(t - u) * m
            if u > 3:
                break
        else:
            total -= m
    for i, t in enumerate(times):
        a = ("a", i) @ ~normal(m * t, 1.0)
        total += a * max(times) - sum(times) + sizes[1]
    _, *rest = times
    ("y", len(rest)) @ ~normal(total + sum(rest) + sorted(times)[2], 1)


def numbers(n):
    return tuple(i / 2 - 1 for i in range(n)), tuple(3 * i % 7 for i in range(n))


@pytest.mark.parametrize("n", [3, 4, 5, 6, 12])
def test_loops_over_tuples_of_numbers(n):
    assert outcome(pairs_of_times, numbers(n)) == "equal"


def test_a_loop_over_a_tuple_of_numbers_is_written_once():
    sizes = [len(ClosedDensity(pairs_of_times, numbers(n)).text.splitlines()) for n in (6, 12)]
    assert sizes[1] < 1.4 * sizes[0]  # but for what takes the items of the tuple one by one


@gen
def chosen_by_a_key(players, n):
    skill = {}
    for player in players:
        skill[player] = ("skill", player) @ ~normal(0, 1)
    best = max(("ann", "bob", "cat"), key=lambda player: skill[player])
    worst = min(players, key=lambda player: skill[player], default="nobody")
    y = ~normal(skill[best] - 2 * skill[worst] + max((1, 2.5, n), key=lambda v: -v), 1)


def test_the_least_and_the_greatest_of_a_tuple_by_a_key():
    for seed in range(3):
        assert outcome(chosen_by_a_key, (("ann", "bob", "cat"), 3), rng=seed) == "equal"
        assert outcome(chosen_by_a_key, (["cat", "bob", "ann"], 0), rng=seed) == "equal"
