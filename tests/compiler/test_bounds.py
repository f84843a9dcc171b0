"""What the compiler makes is bounded: programs that would take minutes are refused, or written out less."""

import pytest

from gendsl import bernoulli, gen, normal
from gendsl.compiler import hir
from gendsl.compiler.front import emitter
from gendsl.compiler.hir.failures import NotClosed
from gendsl.compiler.passes import tails
from gendsl.compiler.run.closed import ClosedDensity
from tests.compiler.closed_outcomes import outcome


@gen
def grown(d):
    leaf = ~bernoulli(0.7)
    if leaf:
        c = ~normal(0, 1)
        return lambda x: c
    a = "a" @ ~grown(d + 1)
    b = "b" @ ~grown(d + 1)
    return lambda x: a(x) + b(x)


def test_functions_that_hold_functions_are_so_deep_at_most():
    assert "a nested function" in outcome(grown, (0,))


def first_of(x, k):
    total = 0.0
    for i in range(k):
        if x > i:
            total += 1.0
            if total > 3.0:
                continue
        if x > i + 0.2:
            total += 2.0
            if total > 5.0:
                continue
        if x > i + 0.4:
            total += 3.0
            if total > 7.0:
                continue
        total += 0.5
    return total


@gen
def of_branches(k):
    x = ~normal(0, 1)
    y = ~normal(first_of(x, k), 1)


def test_a_function_has_so_many_statements_at_most(monkeypatch):
    assert outcome(of_branches, (3,)) == "equal"
    monkeypatch.setattr(emitter, "MOST_STATEMENTS", 20)
    with pytest.raises(NotClosed, match="more than 20 statements"):
        ClosedDensity(of_branches, (3,))


def test_what_follows_branches_is_written_twice_so_often_at_most(monkeypatch):
    main = ClosedDensity(of_branches, (3,)).main

    def count(main):
        return sum(1 for one in hir.functions(main) for _ in hir.walk(one.body))

    (longer,) = tails.with_tails([main])
    monkeypatch.setattr(tails, "_MOST_IN_ALL", 8)
    (shorter,) = tails.with_tails([main])
    monkeypatch.setattr(tails, "_MOST_IN_ALL", 0)
    (least,) = tails.with_tails([main])
    assert count(least) <= count(main)
    assert count(least) < count(shorter) < count(longer)
