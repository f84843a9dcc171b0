"""What an expression evaluates first is what the program finds first: `:=` in tests, keys before values."""

import pytest

from gendsl import bernoulli, gen, normal
from tests.runtime.idioms import Programs

PROGRAMS = Programs()
written = PROGRAMS.written

XS = [0.5, -1.0, 0.25, 2.0]


@written((XS,), (XS[:2],), ([],), ([1.5, *XS],))
@gen
def compared_with_the_one_before(xs):
    a = ~normal(0, 1)
    last = a
    for i, x in enumerate(xs):
        if last < (last := x + a):
            ("up", i) @ ~normal(last, 1)
        else:
            ("down", i) @ ~normal(last, 2)
    if last > (last := 0.5) + 0.1:
        ("over",) @ ~normal(last, 1)
    return last


@written((XS,), (XS[:2],), ([],), ([1.5, *XS],))
@gen
def assigned_in_a_part_of_a_test(xs):
    a = ~normal(0, 1)
    if xs and (top := max(xs)) > a:
        ("top",) @ ~normal(top, 1)
    count, kept = 0, [a]
    for i, x in enumerate(xs):
        if x > a and (count := count + 1) > 1 and (kept := [x, count]):
            ("y", i) @ ~normal(count, 1)
        ("z", i) @ ~normal(kept[-1] + len(kept), 1)
    low = ("low" @ ~normal(0, 1)) if not xs or (least := min(xs)) < 0 else 1.0
    return low, count


@written((XS,), ([],))
@gen
def changed_after_a_test(xs):
    held = [("x", i) @ ~normal(0, 1) for i in range(3)]
    mine = [0.0]
    if xs and (mine := held):
        ("a",) @ ~normal(0, 1)
    mine.append(1.0)
    ("y",) @ ~normal(len(held) + len(mine), 1)


@written(2, 3)
@gen
def added_to_what_is_drawn(n):
    t = 1.0
    t += (t := ~normal(0, 1))
    i, counts = 0, [1.0, 2.0]
    counts[i] += (i := ~bernoulli(0.5))
    ("y",) @ ~normal(t + counts[0], 1)
    return t, counts, i


@written(2, 3)
@gen
def keys_and_values(n):
    table = {
        "a" @ ~bernoulli(0.5): "b" @ ~normal(0, 1),
        "c" @ ~bernoulli(0.5): "d" @ ~normal(0, 1),
        "e" @ ~bernoulli(0.5): "f" @ ~normal(0, 1),
    }
    ("y",) @ ~normal(sum(table.values()), 1)
    return table


@written(2, 3)
@gen
def said_only_if_it_fails(n):
    x = ~normal(0, 1)
    assert x > -100, "too low by %s" % ("by" @ ~normal(0, 1))
    assert ("z" @ ~normal(x, 1)) > -100
    return x


test_both_runtimes_agree = PROGRAMS.test_of_agreement(columns_from=[None, 2, 1000])


@pytest.mark.parametrize("name", ["compared_with_the_one_before", "assigned_in_a_part_of_a_test"])
def test_tests_that_assign_are_incremental(name):
    shown = PROGRAMS[name][0].explain()
    assert "Updates incrementally" in shown
    assert "executed whole" not in shown
