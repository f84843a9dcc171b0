"""Loops over the rows and columns of a matrix are one loop over its entries where it lies row after row."""

import math

import numpy as np
import pytest

from gendsl import gen, normal
from gendsl.compiler import hir
from gendsl.compiler.hir import (
    Const,
    Fail,
    Fill,
    For,
    Function,
    If,
    Leave,
    Load,
    Next,
    Op,
    Return,
    Set,
    Store,
    Var,
)
from gendsl.compiler.passes.collapse import collapse
from gendsl.compiler.python.print_python import compile_python, print_python
from gendsl.compiler.run.closed import ClosedDensity
from tests.compiler.closed_outcomes import outcome

XS = np.random.default_rng(1).normal(size=(4, 3))
N, M, S, R = Var("n", "i"), Var("m", "i"), Var("s", "i"), Var("xs", "r")
AT, J, T, Y, TOTAL = Var("i", "i"), Var("j", "i"), Var("t", "i"), Var("y", "f"), Var("total", "f")
ZERO, ONE = Const(0, "i"), Const(1, "i")


def depths(program, args):
    """How deep the loops of a program are nested, each outer one."""
    closed = ClosedDensity(program, args)
    assert outcome(program, args) == "equal"
    return [_depth(one) for one in closed.main.body if isinstance(one, For)]


def _depth(loop):
    inside = [one for one in hir.walk(loop.body) if isinstance(one, For)]
    return 1 + max(map(_depth, inside), default=0)


@gen
def entries(xs):
    a = ~normal(0, 1)
    ys = np.exp(-0.5 * (xs - a) ** 2)
    ys = ys * a + xs
    y = ~normal(ys.sum(), 1)


@gen
def of_one(xs):
    a = ~normal(0, 1)
    between = xs[:, None] - xs[None, :]
    ys = a * np.exp(-0.5 * (between / 2.0) ** 2)
    y = ~normal((ys + between).sum(), 1)


@gen
def added_up(xs):
    """The shape of what a loop adds to is that of what it starts from."""
    total = np.zeros((len(xs), len(xs)))
    for k in range(3):
        a = ("a", k) @ ~normal(0, 1)
        total = total + a * np.exp(-np.abs(xs[:, None] - xs[None, :]))
        total += np.eye(len(xs))
    y = ~normal(total[0, -1] + total.max(), 1)


@gen
def of_three_axes(n):
    a = ~normal(0, 1)
    xs = np.full((n, 2, n), a)
    y = ~normal((xs * 2.0 + 1.0)[n - 1, 1, 0] + xs.sum(), 1)


@gen
def turned(xs):
    """The columns of one are the rows of the other."""
    a = ~normal(0, 1)
    ys = xs + a
    zs = ys.T * 2.0 + np.exp(ys.T)
    y = ~normal(zs[2, 1] + (zs * np.arange(4)).sum(), 1)


@gen
def parts(xs):
    a = ~normal(0, 1)
    ys = xs[1:, 1:] * a + xs[:-1, :-1]
    y = ~normal(ys.sum() + (ys + ys[0]).sum(), 1)


def test_an_expression_of_matrices_is_one_loop():
    assert depths(of_one, (XS[:, 0].copy(),)) == [2, 1]  # the differences, and all that is made of them


@pytest.mark.parametrize("program", [entries, of_one, added_up, of_three_axes, turned, parts])
def test_matrices_are_what_they_were(program):
    sizes = [XS, XS[:1], XS[:, :1]] if program in (entries,) else [XS]
    args = {added_up: [XS[:, 0], XS[:1, 0]], of_one: [XS[:, 1], XS[:1, 1]], of_three_axes: [1, 3]}.get(
        program, sizes
    )
    for one in args:
        assert outcome(program, (one,)) == "equal"


ACROSS, ALONG = np.arange(4.0), np.arange(3.0)


@gen
def sources(k):
    picture = np.zeros((4, 3))
    for j in range(k):
        a = ("a", j) @ ~normal(0, 1)
        picture += a * np.outer(np.exp(-((ACROSS - a) ** 2)), np.exp(-((ALONG - a) ** 2)))
    y = ~normal(picture.sum(), 1)


def test_what_is_done_to_an_outer_product_is_one_loop_over_its_entries():
    """Only the product itself, and what is added to another array, go through rows and columns."""
    assert outcome(sources, (2,)) == "equal"
    every = [
        one
        for function in hir.functions(ClosedDensity(sources, (2,)).main)
        for one in hir.walk(function.body)
    ]
    nests = [
        one for one in every if isinstance(one, For) and any(isinstance(inner, For) for inner in one.body)
    ]
    assert len([one for one in nests if len(one.body) == 1]) == 2


# --- functions of HIR -----------------------------------------------------------------------------------


def add(one, other):
    return Op("add", (one, other), "i")


def mul(one, other):
    return Op("mul", (one, other), "i")


def nest(index, *, checked=(N, M), columns=M, more=(), label=2, least=ZERO):
    """total = 2 total + xs[index], for all i and j; with the nest's text before and after."""
    checks = [If(Op("lt", (var, least), "b"), [Fail("no")], []) for var in checked]
    twice = Op("add", (Op("mul", (TOTAL, Const(2.0, "f")), "f"), Y), "f")
    body = [Load([Y], R, ("f",), index), *more, Set([TOTAL], [twice])]
    loop = For(AT, ZERO, N, ONE, [For(J, ZERO, columns, ONE, body, label)], 1)
    start = Set([TOTAL], [Const(0.0, "f")])
    return Function("main", [N, M, S, R], ["f"], [*checks, start, loop, Return([TOTAL])])


def compared(*args, **kwargs):
    """Whether a nest becomes one loop; it means the same."""
    before, after = nest(*args, **kwargs), nest(*args, **kwargs)
    found = collapse(after)
    plain, text = print_python(before), print_python(after)
    assert (plain != text) == found
    xs = [math.sin(k) for k in range(40)]
    for n, m, s in ((3, 4, 4), (2, 3, 5), (1, 1, 1), (0, 3, 3), (3, 0, 0), (4, 1, 7), (1, 5, 0)):
        mains = [compile_python(one, {})["main"] for one in (plain, text)]
        assert mains[0](None, n, m, s, xs) == mains[1](None, n, m, s, xs), text
    return found


ENTRY = add(mul(AT, M), J)


@pytest.mark.parametrize(
    "index", [ENTRY, add(J, mul(M, AT)), add(S, ENTRY), add(add(mul(AT, M), S), J), add(ENTRY, mul(S, ONE))]
)
def test_the_entries_of_a_matrix_are_gone_through_in_one_loop(index):
    assert compared(index)


@pytest.mark.parametrize(
    "index",
    [
        add(mul(AT, S), J),  # another stride
        add(mul(J, M), AT),  # by columns
        add(mul(J, N), AT),
        add(ENTRY, AT),
        add(ENTRY, J),
        mul(ENTRY, J),
        AT,
        J,
        mul(AT, M),
    ],
)
def test_other_places_are_gone_through_as_they_are(index):
    assert not compared(index)


def test_indices_that_something_else_asks_for_stay():
    assert not compared(ENTRY, more=[If(Op("gt", (J, ONE), "b"), [Next(2)], [])])
    assert not compared(ENTRY, more=[Set([T], [AT])])


def test_loops_that_are_left_stay():
    far = Op("gt", (TOTAL, Const(2.0, "f")), "b")
    for left in (Leave(2), Leave(1), Next(2), Next(1)):
        assert not compared(ENTRY, more=[If(far, [left], [])])


def test_one_column():
    one = nest(add(S, add(AT, J)), columns=ONE)
    assert collapse(one) and "for i in range(n)" in print_python(one)
    assert not compared(add(AT, J))


def test_lengths_that_may_be_negative_stay():
    """The product of two negative numbers is positive."""
    assert not collapse(nest(ENTRY, checked=(N,)))
    assert not collapse(nest(ENTRY, checked=(M,)))
    assert not collapse(nest(ENTRY, checked=(N, M), least=Const(-5, "i")))
    assert collapse(nest(add(mul(AT, Const(3, "i")), J), checked=(N,), columns=Const(3, "i")))
    assert not collapse(nest(add(mul(AT, Const(-3, "i")), J), checked=(N,), columns=Const(-3, "i")))


def test_the_lengths_of_lists_and_of_matrices_look_alike():
    """What is made and what goes through it are as long, in whichever order the lengths are multiplied."""
    made = Var("ys", "r")
    body = [
        *nest(ENTRY).body[:2],
        Fill(made, ("f",), mul(M, N), (Const(0.0, "f"),)),
        For(AT, ZERO, N, ONE, [For(J, ZERO, M, ONE, [Store(made, ("f",), ENTRY, (Const(1.0, "f"),))], 2)], 1),
        Return([Const(0.0, "f")]),
    ]
    function = Function("main", [N, M, S, R], ["f"], body)
    assert collapse(function)
    fill, loop = function.body[2:4]
    assert fill.count == loop.stop
