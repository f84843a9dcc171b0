"""Lists that have one name where it is seen that they need no other, and what is set before loops."""

import random

import pytest

from gendsl.compiler import hir
from gendsl.compiler.hir import (
    Append,
    Const,
    Fill,
    For,
    Function,
    If,
    Length,
    New,
    Next,
    Op,
    Return,
    Set,
    Var,
)
from gendsl.compiler.passes.loops import name_lists, set_surely
from gendsl.compiler.python.print_python import name_apart, print_python
from tests.compiler.hir_programs import RandomProgram, arguments, result_of


def test_random_functions_mean_the_same():
    changed = compared = 0
    for seed in range(400):
        before, after = RandomProgram(seed).main(), RandomProgram(seed).main()
        name_lists(after)
        for one in (before, after):
            name_apart([one])
        plain, text = print_python(before), print_python(after)
        if plain == text:
            continue
        changed += 1
        for place in range(3):
            given = arguments(random.Random(3 * seed + place))
            expected = result_of(plain, given)
            if expected is not None:
                compared += 1
                assert result_of(text, given) == expected, (seed, plain, text)
    assert changed > 200 and compared > 500


AT, N, COUNT, X = Var("at", "i"), Var("n", "i"), Var("count", "i"), Var("x", "i")
ROW, MADE, OTHER = Var("row", "r"), Var("made", "r"), Var("other", "r")


def a_list(target, *items):
    return New(target, ("i",), [(Const(item, "i"),) for item in items])


def function(*body):
    return Function("f", [N], ["i"], [*body, Return([COUNT])])


def names_of(made):
    return {one.target for one in hir.walk(made.body) if isinstance(one, (New, Fill))}


def counted(ref):
    return Length(COUNT, ref, ("i",))


def test_a_list_has_the_name_that_it_gets():
    made = function(a_list(MADE, 1), Append(MADE, ("i",), (N,)), Set([ROW], [MADE]), counted(ROW))
    name_lists(made)
    assert names_of(made) == {ROW} and not any(isinstance(one, Set) for one in hir.walk(made.body))


def test_a_name_of_a_list_that_stays_is_left_out():
    made = function(
        If(Op("lt", (N, Const(2, "i")), "b"), [a_list(ROW, 1)], [a_list(ROW, 1, 2)]),
        Set([OTHER], [ROW]),
        counted(OTHER),
    )
    name_lists(made)
    assert names_of(made) == {ROW} and not any(isinstance(one, Set) for one in hir.walk(made.body))


def loop(*body):
    return For(AT, Const(0, "i"), N, Const(1, "i"), [*body], 1)


KEPT = {
    "the iteration may end before": (
        a_list(ROW),
        loop(a_list(MADE, 1), If(Op("lt", (AT, N), "b"), [Next(1)], []), Set([ROW], [MADE])),
        counted(ROW),
    ),
    "the name is read meanwhile": (
        a_list(ROW, 1, 2),
        a_list(MADE, 3),
        Length(X, ROW, ("i",)),
        Append(MADE, ("i",), (X,)),
        Set([ROW], [MADE]),
        counted(ROW),
    ),
    "the list is used by its own name later": (
        a_list(ROW),
        a_list(MADE, 3),
        Set([ROW], [MADE]),
        If(Op("lt", (N, Const(3, "i")), "b"), [a_list(ROW, 1, 2, 3)], []),
        Length(X, MADE, ("i",)),
        counted(ROW),
    ),
    "the other name is of the list that was": (
        a_list(ROW, 1),
        Set([OTHER], [ROW]),
        a_list(ROW, 1, 2),
        Append(ROW, ("i",), (N,)),
        counted(OTHER),
    ),
    "the other name is read in the next iteration": (
        loop(
            a_list(ROW, 1),
            If(Op("lt", (Const(0, "i"), AT), "b"), [counted(OTHER)], []),
            Set([OTHER], [ROW]),
        ),
    ),
}


@pytest.mark.parametrize("body", KEPT.values(), ids=KEPT)
def test_names_that_are_needed_stay(body):
    made = function(*hir.copied_body([*body]))
    name_lists(made)
    assert [str(one) for one in hir.walk(made.body)] == [str(one) for one in hir.walk(function(*body).body)]


def branch(*body):
    return If(Op("lt", (Const(0, "i"), N), "b"), [*body], [])


def test_what_is_set_before_a_loop_is_set_surely():
    made = function(Set([COUNT], [N]), branch(Set([X], [N])), loop(Set([COUNT], [X])))
    set_surely(made)
    assert [str(one) for one in made.body[1].orelse] == [str(Set([X], [Const(0, "i")]))]


@pytest.mark.parametrize(
    "body",
    [
        (Set([X], [N]), branch(Set([X], [Const(1, "i")])), loop(), Set([COUNT], [X])),
        (branch(Set([N], [Const(1, "i")])), loop(), Set([COUNT], [N])),
        (branch(Set([X], [N])), Set([COUNT], [N]), loop(Set([COUNT], [X]))),
    ],
)
def test_what_may_have_been_set_before_stays(body):
    made = function(*body)
    set_surely(made)
    assert not any(one.orelse for one in hir.walk(made.body) if isinstance(one, If))
