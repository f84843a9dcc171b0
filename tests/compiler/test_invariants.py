"""What is the same in all iterations of a loop is computed before it, and nothing else is."""

import random

import numpy as np
import pytest

from gendsl import gen, mixture, mvnormal, normal, student_t, uniform_discrete
from gendsl.compiler import hir
from gendsl.compiler.hir import (
    Append,
    Call,
    Const,
    Fail,
    For,
    Function,
    If,
    Leave,
    Length,
    Load,
    New,
    Next,
    Op,
    Return,
    Set,
    Store,
    Var,
    text_effects,
)
from gendsl.compiler.hir.failures import PYTHON_FAILURES
from gendsl.compiler.passes import clean, invariants, staging
from gendsl.compiler.python.print_python import compile_python, name_apart, print_python
from gendsl.compiler.run.closed import ClosedDensity
from gendsl.inference import mh
from tests.compiler.closed_outcomes import outcome, raises_everywhere
from tests.compiler.hir_programs import RandomProgram, arguments, result_of

A, B, T, X, Y, TOTAL = (Var(name, "f") for name in ("a", "b", "t", "x", "y", "total"))
AT, J, N = Var("i", "i"), Var("j", "i"), Var("n", "i")
XS, YS, ROWS, ROW = (Var(name, "r") for name in ("xs", "ys", "rows", "row"))
ZERO, ONE = Const(0, "i"), Const(1, "i")


def log(expr):
    return Op("log", (expr,), "f")


def plus(*exprs):
    first, *others = exprs
    return first if not others else Op("add", (first, plus(*others)), "f")


def counted(*body, var=AT, stop=N, label=1):
    return For(var, ZERO, stop, ONE, list(body), label)


def function(*body, parameters=(A, B, XS, N), results=(TOTAL,), name="main"):
    whole = [Set([TOTAL], [Const(0.0, "f")]), *body, Return(list(results))]
    return Function(name, list(parameters), [one.kind for one in results], whole)


def added(*exprs):
    return Set([TOTAL], [plus(TOTAL, *exprs)])


def moved(main):
    """The text, with what is the same before loops."""
    invariants.simplify([main])
    name_apart([main])
    return print_python(main)


def inside(text, head="for i in range(n):"):
    """The body of the last loop of a text that begins like this."""
    lines = [line.partition("  #")[0] for line in text.splitlines()]
    *_, start = (at for at, line in enumerate(lines) if line.strip() == head)
    depth = len(lines[start]) - len(lines[start].lstrip())
    found = []
    for line in lines[start + 1 :]:
        if line.strip() and len(line) - len(line.lstrip()) <= depth:
            break
        found.append(line)
    return "\n".join(found)


def run(text, *args):
    try:
        return compile_python(text, {})["main"](None, *args)
    except PYTHON_FAILURES:
        return "failed"


# a function that fails for what is not positive, and one that makes a list
CHECKED = Function("checked", [A], ["f"], [Set([T], [log(A)]), Return([T])])
MADE = Function(
    "made",
    [A, N],
    ["r"],
    [New(ROW, ("f",)), counted(Append(ROW, ("f",), (plus(A, A),)), var=J, label=9), Return([ROW])],
)


def test_a_call_and_the_operations_around_it():
    main = function(counted(Set([X], [log(A)]), Call([Y], MADE_SUM, [A, N]), added(X, Y)))
    text = moved(main)
    assert "log" not in inside(text)
    assert "made_sum" not in inside(text)
    assert run(text, 2.0, 1.0, [], 3) == pytest.approx(3 * np.log(2.0) + 3 * 12.0)


MADE_SUM = Function(
    "made_sum",
    [A, N],
    ["f"],
    [
        Call([ROW], MADE, [A, N]),
        Set([TOTAL], [Const(0.0, "f")]),
        counted(Load([X], ROW, ("f",), J), added(X), var=J, label=8),
        Return([TOTAL]),
    ],
)


def test_nothing_fails_where_there_is_no_iteration():
    text = moved(function(counted(Call([X], CHECKED, [A]), Call([Y], MADE_SUM, [X, N]), added(Y))))
    assert "made_sum" not in inside(text)
    assert run(text, -1.0, 1.0, [], 0) == 0.0
    assert run(text, -1.0, 1.0, [], 1) == "failed"


def below(one, other):
    return Op("lt", (one, other), "b")


@pytest.mark.parametrize(
    "before",
    [
        If(below(B, TOTAL), [Leave(1)], []),
        If(below(B, TOTAL), [Next(1)], []),
        If(below(B, TOTAL), [Return([Const(-1.0, "f")])], []),
    ],
)
def test_what_may_fail_stays_behind_what_may_leave(before):
    text = moved(function(counted(before, Set([X], [log(A)]), added(X))))
    assert "log" in inside(text)
    assert run(text, -1.0, -1.0, [], 2) != "failed"


@pytest.mark.parametrize("leaving", [Leave(1), Next(1), Return([Const(-1.0, "f")])])
def test_a_call_that_may_fail_stays_behind_what_may_leave(leaving):
    text = moved(function(counted(If(below(B, TOTAL), [leaving], []), Call([X], CHECKED, [A]), added(X, X))))
    assert "checked" in inside(text)
    assert run(text, -1.0, -1.0, [], 2) != "failed"


def test_what_can_not_fail_is_moved_from_there():
    quiet = Op("np_log", (A,), "f")
    leaving = If(below(B, TOTAL), [Leave(1)], [])
    assert "log" not in inside(moved(function(counted(leaving, Set([X], [quiet]), added(X)))))


def test_what_may_fail_stays_in_a_branch_that_is_not_always_taken():
    text = moved(function(counted(If(below(B, TOTAL), [Set([X], [log(A)]), added(X)], []), added(B))))
    assert "log" in inside(text)
    assert run(text, -1.0, 3.0, [], 1) == 3.0


def test_a_branch_that_is_the_same_each_time_is_moved_with_its_condition():
    main = function(counted(If(below(B, A), [Set([X], [log(B)])], [Set([X], [log(A)])]), added(X)))
    text = moved(main)
    assert "log" not in inside(text)
    assert run(text, -1.0, 3.0, [], 2) == "failed"
    assert run(text, 2.0, -3.0, [], 2) == "failed"
    assert run(text, -2.0, 3.0, [], 0) == 0.0


def test_a_lazy_operand_is_not_moved_where_it_may_fail():
    chosen = Op("select", (below(TOTAL, B), B, log(A)), "f")
    text = moved(function(counted(added(chosen))))
    assert run(text, -1.0, 9.0, [], 1) == 9.0


def test_what_a_later_statement_changes_stays():
    changed = [Set([X], [log(A)]), added(X), Set([A], [plus(A, B)])]
    text = moved(function(counted(*changed)))
    assert "log" in inside(text)
    assert run(text, 1.0, 1.0, [], 3) == pytest.approx(np.log(6.0))


def test_what_the_iteration_before_has_set_stays():
    body = [If(below(Const(0.0, "f"), TOTAL), [added(X)], []), Set([X], [log(plus(A, B))])]
    text = moved(function(Set([X], [Const(0.0, "f")]), counted(*body, added(Const(1.0, "f")))))
    assert run(text, 1.0, 1.0, [], 1) == 1.0
    assert run(text, 1.0, 1.0, [], 2) == 2.0 + np.log(2.0)


def test_what_is_set_twice_is_read_in_between():
    body = [Call([X], CHECKED, [A]), added(X), Call([X], CHECKED, [B]), added(X)]
    text = moved(function(counted(*body)))
    assert run(text, 2.0, 3.0, [], 2) == pytest.approx(2 * np.log(6.0))


def test_what_is_read_before_it_is_set_stays():
    """In the first iteration of the inner loop it is what the last of the outer one has left."""
    inner = counted(If(below(TOTAL, B), [added(X, X)], []), Call([X], CHECKED, [B]), var=J, stop=ONE, label=2)
    body = [Set([B], [plus(B, A)]), If(below(A, B), [inner], [Call([X], CHECKED, [A])])]
    first = Set([X], [Const(0.0, "f")])
    expected = run(print_python(function(first, counted(*body))), 1.0, -0.5, [], 4)
    assert run(moved(function(first, counted(*body))), 1.0, -0.5, [], 4) == expected


def test_what_an_outer_loop_sets_is_computed_for_each_of_its_iterations():
    outer = counted(
        Set([B], [Op("float", (J,), "f")]),
        counted(If(below(TOTAL, B), [added(Y)], []), Set([Y], [log(plus(A, B))]), label=2),
        var=J,
        label=3,
    )
    main = function(Set([Y], [Const(0.0, "f")]), outer)
    reference = run(print_python(function(Set([Y], [Const(0.0, "f")]), outer)), 1.0, 0.0, [], 3)
    assert run(moved(main), 1.0, 0.0, [], 3) == reference


# --- lists ------------------------------------------------------------------------------------------

SUM = Function(
    "sum_of",
    [XS],
    ["f"],
    [
        Set([TOTAL], [Const(0.0, "f")]),
        Length(N, XS, ("f",)),
        counted(Load([X], XS, ("f",), J), added(X), var=J, label=7),
        Return([TOTAL]),
    ],
)
KEEP = Function("keep", [XS], ["r"], [New(ROW, ("r",), [(XS,)]), Load([YS], ROW, ("r",), ZERO), Return([YS])])


def test_a_list_that_stays_is_read_before():
    text = moved(function(counted(Call([Y], SUM, [XS]), added(Y))))
    assert "sum_of" not in inside(text)
    assert run(text, 0.0, 0.0, [1.0, 2.0], 2) == 6.0


@pytest.mark.parametrize(
    "change",
    [
        [Append(XS, ("f",), (B,))],
        [Store(XS, ("f",), ZERO, (B,))],
        [Set([YS], [XS]), Append(YS, ("f",), (B,))],
        [Call([YS], KEEP, [XS]), Append(YS, ("f",), (B,))],
        [Call([], Function("grow", [XS, B], [], [Append(XS, ("f",), (B,)), Return([])]), [XS, B])],
    ],
)
def test_a_list_that_changes_is_read_each_time(change):
    text = moved(function(counted(Call([Y], SUM, [XS]), added(Y), *change)))
    assert "sum_of" in inside(text)
    plain = function(counted(Call([Y], SUM, [XS]), added(Y), *change))
    args = 0.0, 4.0, [1.0, 2.0], 3
    assert run(text, 0.0, 4.0, [1.0, 2.0], 3) == run(print_python(plain), *args)


def test_lists_of_other_items_do_not_matter():
    main = function(
        counted(Call([Y], SUM, [XS]), added(Y), Append(YS, ("i",), (AT,))), parameters=(XS, YS, N)
    )
    assert "sum_of" not in inside(moved(main))


def test_a_list_that_is_made_each_time_and_only_read_is_made_once():
    text = moved(function(counted(Call([ROW], MADE, [A, N]), Load([X], ROW, ("f",), AT), added(X))))
    assert "made" not in inside(text)
    assert run(text, 1.0, 0.0, [], 3) == 6.0


@pytest.mark.parametrize(
    "use",
    [
        [Append(ROW, ("f",), (Op("float", (AT,), "f"),))],
        [Append(ROWS, ("r",), (ROW,))],
        [New(YS, ("r",), [(ROW,)]), Load([ROWS], YS, ("r",), ZERO), Append(ROWS, ("f",), (B,))],
        [Set([YS], [ROW]), Append(YS, ("f",), (Op("float", (AT,), "f"),))],
        [Call([YS], KEEP, [ROW]), Append(YS, ("f",), (Op("float", (AT,), "f"),))],
        [Set([TOTAL], [Op("select", (Op("same", (ROW, XS), "b"), A, B), "f")])],
    ],
)
def test_a_list_that_is_made_each_time_and_kept_or_changed_is_made_each_time(use):
    body = counted(Call([ROW], MADE, [A, N]), *use, Length(J, ROW, ("f",)), added(Op("float", (J,), "f")))
    text = moved(function(body, parameters=(A, B, XS, ROWS, N)))
    assert "made(" in inside(text)


def test_a_list_that_is_made_each_time_and_changed_by_what_is_the_same_is_made_once():
    change, size = Append(ROW, ("f",), (B,)), Length(J, ROW, ("f",))
    text = moved(function(counted(Call([ROW], MADE, [A, N]), change, size, added(Op("float", (J,), "f")))))
    assert "row.append" not in inside(text)
    assert run(text, 1.0, 4.0, [1.0, 2.0], 3) == 12.0


def test_the_last_list_is_not_read_after_the_loop():
    main = function(
        counted(Call([ROW], MADE, [A, N]), Load([X], ROW, ("f",), ZERO), added(X)),
        Append(ROW, ("f",), (B,)),
        results=(TOTAL, ROW),
    )
    assert "made(" in inside(moved(main))


def test_a_list_is_made_in_one_place():
    """All that sets or changes it, and what reads it in between."""
    read = [Load([X], ROW, ("f",), ONE), Append(ROW, ("f",), (plus(A, B),)), Length(J, ROW, ("f",))]
    main = function(counted(New(ROW, ("f",), [(log(A),)]), *read, added(Op("float", (J,), "f"))))
    text = moved(main)
    assert run(text, 2.0, 1.0, [], 2) == "failed"
    fine = [Append(ROW, ("f",), (plus(A, B),)), Load([X], ROW, ("f",), ONE), Length(J, ROW, ("f",))]
    text = moved(function(counted(New(ROW, ("f",), [(log(A),)]), *fine, added(X, Op("float", (J,), "f")))))
    assert "append" not in inside(text)
    assert run(text, 2.0, 1.0, [], 2) == 10.0


def test_a_list_that_grows_where_it_is_read_is_made_in_one_place():
    """What another name of it is read for is what there was before it grew."""
    body = [
        New(ROW, ("f",), [(log(A),)]),
        Set([YS], [ROW]),
        Append(ROW, ("f",), (log(B),)),
        Call([Y], SUM, [YS]),
        Append(ROW, ("f",), (A,)),
        added(Y),
    ]
    plain = run(print_python(function(counted(*body))), 2.0, 3.0, [], 2)
    assert run(moved(function(counted(*body))), 2.0, 3.0, [], 2) == plain


def test_a_list_that_a_called_function_changes_is_read_each_time():
    fill = Function("fill", [XS, B], ["f"], [Append(XS, ("f",), (B,)), Call([Y], SUM, [XS]), Return([Y])])
    text = moved(function(counted(Call([Y], fill, [XS, B]), added(Y))))
    assert run(text, 0.0, 1.0, [1.0], 3) == 2.0 + 3.0 + 4.0


def test_a_list_from_before_that_is_made_again_is_one_of_before():
    """The list that the loop changes first is that of the caller."""
    body = [Call([Y], SUM, [YS]), added(Y), Append(XS, ("f",), (B,)), New(XS, ("f",), [(A,)])]
    main = function(Set([YS], [XS]), counted(*body))
    assert run(moved(main), 0.0, 1.0, [1.0], 3) == 1.0 + 2.0 + 2.0


# --- parts of functions, and tables -----------------------------------------------------------------

DENSITY = Function(
    "density",
    [XS, A, X],
    ["f"],
    [
        Set([TOTAL], [Const(0.0, "f")]),
        Length(N, XS, ("f",)),
        counted(
            Load([Y], XS, ("f",), J),
            Set([B], [log(Y)]),
            added(Op("mul", (B, X), "f"), Op("truediv", (A, Y), "f")),
            var=J,
            label=6,
        ),
        Return([TOTAL]),
    ],
    origin="density",
)


def test_a_function_is_taken_apart():
    text = moved(function(counted(Call([Y], DENSITY, [XS, A, Op("float", (AT,), "f")]), added(Y))))
    assert "density_each(" in inside(text)
    each = text[text.index("def density_each") : text.index("def main")]
    assert "log" not in each
    assert "/" not in each
    expected = sum(np.log(y) * i + 3.0 / y for i in range(3) for y in (1.0, 2.0))
    assert run(text, 3.0, 0.0, [1.0, 2.0], 3) == pytest.approx(expected)
    assert run(text, 3.0, 0.0, [1.0, 0.0], 3) == "failed"
    assert run(text, 3.0, 0.0, [1.0, 0.0], 0) == 0.0


def test_what_may_fail_is_not_in_the_table_of_a_loop_that_may_be_left():
    leaving = [
        Load([Y], XS, ("f",), J),
        If(below(X, Y), [Leave(6)], []),
        Set([B], [log(Y)]),
        added(B, X),
    ]
    main = Function(
        "inner",
        [XS, X],
        ["f"],
        [
            Set([TOTAL], [Const(0.0, "f")]),
            Length(N, XS, ("f",)),
            counted(*leaving, var=J, label=6),
            Return([TOTAL]),
        ],
    )
    text = moved(function(counted(Call([Y], main, [XS, Op("float", (AT,), "f")]), added(Y))))
    assert run(text, 0.0, 0.0, [5.0, -1.0], 2) == 0.0
    called = Call([B], CHECKED, [Y])  # a statement of its own, and not only an expression
    main.body[2].body[2:3] = [called, added(B)]
    text = moved(function(counted(Call([Y], main, [XS, Op("float", (AT,), "f")]), added(Y))))
    assert run(text, 0.0, 0.0, [5.0, -1.0], 2) == 0.0


def apart(*inner, results=(TOTAL,), after=()):
    """A function that goes through a list, called in a loop with that list and a number."""
    loop = counted(Load([Y], XS, ("f",), J), *inner, var=J, label=6)
    body = [Set([TOTAL], [Const(0.0, "f")]), Length(N, XS, ("f",)), loop, *after, Return(list(results))]
    made = Function("inner", [XS, A, X], ["f"], body)
    return function(
        counted(Call([T], made, [XS, A, Op("float", (AT,), "f")]), Set([TOTAL], [plus(TOTAL, T)]))
    )


def test_a_table_of_what_only_some_branches_set():
    chosen = If(below(A, Y), [Set([B], [log(Y)])], [])
    main = apart(chosen, If(below(A, Y), [added(Op("mul", (B, X), "f"))], [added(X)]))
    text = moved(main)
    assert "table" in text
    assert run(text, 2.0, 0.0, [1.0, 3.0], 3) == pytest.approx(3.0 + 3.0 * np.log(3.0))
    assert run(text, 2.0, 0.0, [3.0, -1.0], 3) == pytest.approx(3.0 + 3.0 * np.log(3.0))


def test_what_the_last_iteration_leaves_is_not_in_a_table():
    main = apart(Set([B], [log(Y)]), added(Op("mul", (B, X), "f")), after=[added(B)])
    text = moved(main)
    assert run(text, 0.0, 0.0, [2.0, 3.0], 2) == pytest.approx(np.log(6.0) + 2 * np.log(3.0))


def test_lists_are_not_in_a_table():
    main = apart(Call([ROW], MADE, [Y, N]), Load([B], ROW, ("f",), J), added(Op("mul", (B, X), "f")))
    assert run(moved(main), 0.0, 0.0, [2.0, 3.0], 2) == 10.0


def test_an_argument_that_fails_is_evaluated_though_nothing_reads_it():
    ignoring = Function("ignoring", [A, X, B], ["f"], [Set([T], [log(A)]), Return([plus(T, X)])])
    ignoring.body.insert(0, Call([Y], MADE_SUM, [A, ONE]))
    call = Call([Y], ignoring, [A, Op("float", (AT,), "f"), log(plus(B, TOTAL))])
    text = moved(function(counted(call, added(Y))))
    assert "ignoring_each" in text
    assert run(text, 1.0, -1.0, [], 2) == "failed"
    assert run(text, 1.0, 1.0, [], 2) == 1.0


def test_an_item_that_fails_is_evaluated_though_nothing_reads_the_list():
    main = function(New(ROW, ("f",), [(log(A),)]))
    clean.clean_one(main)
    assert run(print_python(main), -1.0, 1.0, [], 2) == "failed"


def test_a_recursive_function_is_left_alone():
    recursive = Function("again", [A, N], ["f"])
    recursive.body = [
        If(Op("lt", (N, ONE), "b"), [Return([log(A)])], []),
        Call([X], recursive, [A, Op("sub", (N, ONE), "i")]),
        Return([plus(X, A)]),
    ]
    text = moved(function(counted(Call([Y], recursive, [A, AT]), added(Y))))
    assert "again(" in inside(text)


def test_a_loop_that_counts_down():
    last = Op("sub", (N, ONE), "i")
    loop = For(AT, last, Const(-1, "i"), Const(-1, "i"), [Call([Y], SUM, [XS]), added(Y, log(A))], 1)
    text = moved(function(loop))
    assert "sum_of" not in inside(text, "for i in range(n - 1, -1, -1):")
    assert run(text, 1.0, 0.0, [1.0, 2.0], 2) == 6.0
    assert run(text, -1.0, 0.0, [1.0, 2.0], 0) == 0.0


def test_a_loop_with_other_steps_is_left_alone():
    loop = For(AT, ZERO, N, Var("k", "i"), [Call([Y], SUM, [XS]), added(Y)], 1)
    assert "sum_of" in inside(
        moved(function(loop, parameters=(XS, N, Var("k", "i")))), "for i in range(0, n, k):"
    )


def test_a_failure_is_moved_only_where_it_is_come_to():
    body = [If(below(B, A), [Fail("no")], []), Call([Y], SUM, [XS]), added(Y)]
    text = moved(function(counted(*body)))
    assert run(text, 2.0, 1.0, [1.0], 1) == "failed"
    assert run(text, 2.0, 1.0, [1.0], 0) == 0.0


def test_what_only_hands_on_what_it_is_given_is_not_called():
    second = Function("second_of", [A, B], ["f"], [Return([B])])
    handed_on = function(Call([Y], second, [B, A]), added(Y))
    clean.clean_one(handed_on)
    assert "second_of" not in print_python(handed_on)
    fails = function(Call([Y], second, [log(A), B]), added(Y))
    clean.clean_one(fails)
    assert "second_of(state, log(a), b)" in print_python(fails)


# --- random functions -------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["as it is", "whatever it costs", "nothing twice"])
def test_random_functions_mean_the_same(way, monkeypatch):
    if way != "as it is":
        monkeypatch.setattr(text_effects, "WORTH", 0)
        monkeypatch.setattr(invariants, "LOOP", 0)
        monkeypatch.setattr(text_effects, "_SMALL", -1)
    if way == "nothing twice":
        monkeypatch.setattr(staging.Apart, "_is_cheap", lambda *_: False)
    differing = 0
    for seed in range(250):
        before, after = (RandomProgram(seed).main() for _ in range(2))
        for one in hir.functions(before):
            clean.clean_one(one)
        name_apart([before])
        plain, text = print_python(before), moved(after)
        differing += plain != text
        if plain == text:
            continue
        for place in range(3):
            given = arguments(random.Random(3 * seed + place))
            expected = result_of(plain, given)
            if expected is not None:
                assert result_of(text, given) == expected, f"{seed}: {given}\n{plain}\n{text}"
    assert differing > 60


# --- programs ---------------------------------------------------------------------------------------


@gen
def parts(n, weights):
    k = ~uniform_discrete(1, 3)
    means = [("mu", j) @ ~normal(0, 3) for j in range(k)]
    for i in range(n):
        ("x", i) @ ~mixture(weights[:k] if k == 3 else [1 / k] * k, [student_t(4, mu, 2.0) for mu in means])


def test_a_mixture():
    assert outcome(parts, (4, [0.2, 0.3, 0.5])) == "equal"
    text = ClosedDensity(parts, (4, [0.2, 0.3, 0.5])).text
    assert "check_mixture" not in inside(text)
    assert "lgamma" not in text[text.index("def mixture_logpdf_each") :].split("\ndef ")[0]


@gen
def weights_that_do_not_sum_to_one(n):
    a = ~normal(0, 1)
    for i in range(n):
        ("x", i) @ ~mixture([0.5, 0.6], [normal(a, 1), normal(0, 1)])


def test_a_wrong_parameter_matters_only_where_there_is_a_choice():
    assert outcome(weights_that_do_not_sum_to_one, (0,)) == "equal"
    raises_everywhere(weights_that_do_not_sum_to_one, (2,), {("a",): 0.5, ("x", 0): 0.1, ("x", 1): 0.2})


@gen
def weights_that_change(n):
    weights = [1.0, 0.0]
    for i in range(n):
        x = ("x", i) @ ~mixture(weights, [normal(0, 1), normal(5, 2)])
        weights[1] += 0.5 / (i + 1)
        weights[0] = 1 - weights[1]
        if i == 1:
            break


@gen
def rows_that_are_kept(n):
    a = ~normal(0, 1)
    rows = []
    for i in range(n):
        row = [a * a, np.sqrt(a * a + 1), np.exp(a)]
        ("x", i) @ ~normal(sum(row), 1)
        rows.append(row)
    for i, row in enumerate(rows):
        row[0] += i
    for i in range(n):
        ("y", i) @ ~normal(sum(rows[i]), 1)


@gen
def arrays_that_are_changed(n):
    a = ~normal(0, 1)
    for i in range(n):
        row = np.exp(np.zeros(3) + a)
        view = row[1:]
        view[0] = i
        ("x", i) @ ~normal(row.sum(), 1)


@pytest.mark.parametrize("program", [weights_that_change, rows_that_are_kept, arrays_that_are_changed])
def test_programs_with_lists_that_change(program):
    assert outcome(program, (4,)) == "equal"


COVARIANCE = np.array([[1.0, 0.3], [0.3, 0.8]])


@gen
def labelled(n, cov):
    mu = [("mu", j) @ ~mvnormal(np.zeros(2), np.eye(2)) for j in range(2)]
    for i in range(n):
        z = ("z", i) @ ~uniform_discrete(0, 1)
        ("x", i) @ ~mvnormal(mu[z], cov)


@gen
def step_of_labelled(trace):
    for j in range(2):
        ("mu", j) @ ~mvnormal(trace["mu", j], 0.1 * np.eye(2))


def test_a_matrix_is_taken_apart_once_though_a_density_before_may_be_zero():
    trace = labelled.simulate((3, COVARIANCE), rng=1)
    text = mh(step_of_labelled).source_of("step", trace)
    parts = {part.partition("(")[0]: part for part in text.split("\ndef ")}
    loop = inside("def " + parts["labelled"])
    each_time = [name for name in parts if "mvnormal" in name and f"{name}(state" in loop]
    assert len(each_time) == 2
    assert not any(part in parts[name] for name in each_time for part in ("check_covariance", "log("))
    assert outcome(labelled, (3, COVARIANCE)) == "equal"
    assert outcome(labelled, (0, -COVARIANCE)) == "equal"
