"""Lists of a known length are variables: what becomes of them, and what stays a list."""

import copy

import pytest

from gendsl.compiler import hir
from gendsl.compiler.hir import (
    Append,
    Const,
    For,
    Function,
    If,
    Length,
    Load,
    New,
    Op,
    Return,
    Set,
    Store,
    Var,
)
from gendsl.compiler.passes.short_lists import clean
from gendsl.compiler.python.print_python import compile_python, print_python

XS, A, B, X, Y, N, J, C = (
    Var(name, kind)
    for name, kind in (
        ("xs", "r"),
        ("a", "f"),
        ("b", "f"),
        ("x", "f"),
        ("y", "f"),
        ("n", "i"),
        ("i", "i"),
        ("c", "b"),
    )
)
F = ("f",)


def number(value):
    return Const(value, "i")


def appended(value):
    return Append(XS, F, (value,))


def item(target, index):
    return Load([target], XS, F, index if isinstance(index, Var) else number(index))


def total(*vars):
    return Op("add", vars, "f")


LAST = Function("last", [XS], ["f"], [item(Y, 1), Return([Y])])
CHOSEN = Op("select", (C, number(0), number(1)), "i")
MADE = [New(XS, F, [(A,)]), appended(total(A, B))]
SHORT = {
    "unpacked": [*MADE, item(X, 0), item(Y, 1), Return([total(X, Y)])],
    "counted": [*MADE, Length(N, XS, F), item(X, 1), Return([total(X, Op("float", (N,), "f"))])],
    "in_a_branch": [*MADE, If(C, [item(X, 0)], [item(X, 1)]), Return([X])],
    "in_a_loop": [
        Set([Y], [A]),
        For(J, number(0), number(3), number(1), [*MADE, item(X, 1), Set([Y], [total(Y, X)])], 1),
        Return([Y]),
    ],
}
LONG = {
    "by_a_variable": [*MADE, Set([J], [CHOSEN]), item(X, J), Return([X])],
    "too_far": [*MADE, item(X, 2), Return([X])],
    "from_the_end": [*MADE, item(X, -1), Return([X])],
    "grown_in_a_branch": [New(XS, F, [(A,)]), If(C, [appended(B)], []), Length(N, XS, F), item(X, 0),
                          Return([total(X, Op("float", (N,), "f"))])],
    "read_before": [New(XS, F, [(A,)]), Length(N, XS, F), appended(B), item(X, 0),
                    Return([total(X, Op("float", (N,), "f"))])],
    "changed": [*MADE, Store(XS, F, number(0), (B,)), item(X, 0), Return([X])],
    "handed_on": [*MADE, item(X, 0), hir.Call([Y], LAST, [XS]), Return([total(X, Y)])],
}  # fmt: skip


def of(body):
    return Function("f", [A, B, C], ["f"], copy.deepcopy(body))


def results(function):
    f = compile_python(print_python(function), {})["f"]
    return [outcome(f, c) for c in (True, False)]


def outcome(f, c):
    try:
        return f(None, 1.5, 0.25, c)
    except IndexError as error:
        return repr(error)


@pytest.mark.parametrize("name", [*SHORT, *LONG])
def test_short_lists_mean_the_same(name):
    function = of(({**SHORT, **LONG})[name])
    expected = results(function)
    clean(function)
    assert results(function) == expected
    lists = [one for one in hir.walk(function.body) if isinstance(one, (New, Append))]
    assert bool(lists) == (name in LONG)
