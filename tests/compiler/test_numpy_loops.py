"""Loops over data as NumPy in Python text: they mean what the loops mean, and fail where these fail."""

import math
import random
from collections import Counter

import numpy as np
import pytest

from benchmarks.models import families
from gendsl import gen, normal, uniform
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
    Load,
    Loop,
    Op,
    Return,
    Set,
    Store,
    Var,
)
from gendsl.compiler.hir.failures import FailedText
from gendsl.compiler.moves import Involution
from gendsl.compiler.passes.axes import Axes
from gendsl.compiler.passes.tails import with_tails
from gendsl.compiler.python import numpy_runtime
from gendsl.compiler.python.numpy_loops import NumPyLoops, arrays_of, print_at_once
from gendsl.compiler.python.numpy_runtime import Table, lanes
from gendsl.compiler.python.print_python import compile_python, print_python
from gendsl.compiler.python.whole_columns import Stamps, Values
from gendsl.compiler.run.closed import ClosedDensity
from gendsl.compiler.run.closed_move import ClosedKernel
from gendsl.inference import involutive_mcmc
from gendsl.transforms.language import directions
from tests.compiler.closed_steps import AsPython, compared
from tests.compiler.hir_programs import RandomProgram, result_of
from tests.compiler.hir_programs import arguments as some_arguments
from tests.compiler.lanes_programs import RandomLanes, agree, arguments, by_python
from tests.compiler.test_lanes import (
    PROGRAMS,
    XS,
    branches,
    chosen,
    lists,
    may_fail,
    out_of_reach,
    skipped,
    twice,
)

F, INT, B, R = "fibr"
N, XS_, OUT, AT, X, Y, TOTAL = (
    Var("n", INT), Var("xs", R), Var("out", R), Var("i", INT), Var("x", F), Var("y", F), Var("total", F),
)  # fmt: skip


@pytest.fixture
def at_once(monkeypatch):
    """All loops that can be NumPy are, however short; how many ran whole, in part, or not so."""
    monkeypatch.setattr(numpy_runtime, "SHORT", 1)
    monkeypatch.setattr(lanes, "SHORT", 1)
    ran, make = Counter(), numpy_runtime.at_once

    def counted(function):
        made = make(function)

        def run(state, start, stop, *given):
            result = made(state, start, stop, *given)
            first = result[0] if isinstance(result, tuple) else result
            ran["whole" if first == stop else "part" if first > start else "none"] += 1
            return result

        return run

    monkeypatch.setattr(numpy_runtime, "at_once", counted)
    return ran


def op(name, *args, kind=F):
    return Op(name, args, kind)


def f(value):
    return Const(value, F)


def i(value):
    return Const(value, INT)


def loop_of(*body, label=1):
    """A function of n and two lists, which loops over the first n items of one."""
    load = Load([X], XS_, (F,), AT)
    loop = For(AT, i(0), N, i(1), [load, *body], label)
    return Function("main", [N, XS_, OUT], [F], [Set([TOTAL], [f(0.0)]), loop, Return([TOTAL])])


def add(term):
    return Set([TOTAL], [op("add", TOTAL, term)])


def run(text, xs, out=()):
    """What a function of a text returns and leaves in a list; or that it fails."""
    left = list(out)
    with np.errstate(all="ignore"):
        found = by_python_of(text, xs, left)
    return found, left


def by_python_of(text, xs, out):
    from gendsl.compiler.hir.failures import PYTHON_FAILURES

    try:
        return compile_python(text, {})["main"](None, len(xs), list(xs), out)
    except PYTHON_FAILURES:
        return "failed"


def same(main, xs, out=()):
    """What a function does, which is the same in both forms."""
    expected, left = run(print_python(main), xs, out)
    found, changed = run(print_at_once(main), xs, out)
    assert (expected == "failed") == (found == "failed")
    if expected != "failed":
        assert found == pytest.approx(expected, rel=1e-12, nan_ok=True)
        assert changed == pytest.approx(left, rel=1e-12) and list(map(type, changed)) == list(map(type, left))
    return expected


GOOD = [0.3, 1.5, 2.5, 0.7, 3.0, 0.1]
J, GONE = Var("j", INT), Var("k", INT)
SQUARE = Function("square", [X], [F], [
    If(op("lt", X, f(1.0), kind=B), [Return([op("mul", X, X)])], []), Return([op("log", X)]),
])  # fmt: skip
BODIES = {
    "a sum": [add(op("exp", X))],
    "a branch": [
        If(op("gt", X, f(1.0), kind=B), [Set([Y], [op("log", X)])], [Set([Y], [op("sqrt", X)])]), add(Y),
    ],
    "a branch in a branch": [
        Set([Y], [X]),
        If(op("gt", X, f(0.5), kind=B), [
            Set([Y], [op("log", X)]),
            If(op("gt", X, f(2.0), kind=B), [Set([Y], [op("truediv", Y, X)])], []),
        ], []),
        add(Y),
    ],
    "values that change places": [
        Set([Y], [op("exp", X)]), Set([X, Y], [Y, X]), Set([Y, X], [op("mul", X, f(2.0)), Y]),
        add(op("sub", X, Y)),
    ],
    "a choice of values": [add(op("exp", op("select", op("gt", X, f(1.0), kind=B), X, op("neg", X))))],
    "a choice of which only one may be evaluated": [
        add(op("select", op("gt", X, f(1.0), kind=B), op("log", op("sub", X, f(1.0))), f(0.0))),
    ],
    "a call": [Call([Y], SQUARE, [X]), add(Y)],
    "an inner loop": [
        For(GONE, i(0), i(3), i(1), [add(op("exp", op("mul", X, op("float", GONE))))], 2),
    ],
    "a loop that some leave before others": [
        Set([Y], [op("sqrt", X)]),
        Loop([If(op("gt", Y, f(3.0), kind=B), [Leave(2)], []), Set([Y], [op("add", Y, f(0.75))])], 2),
        add(Y),
    ],
    "a loop with another end for each": [
        Set([GONE], [op("int_floor", X, kind=INT)]), Set([Y], [f(0.0)]),
        For(J, i(0), GONE, i(1), [Set([Y], [op("add", Y, op("exp", op("float", J)))])], 2),
        add(Y),
    ],
    "a list that is filled": [Store(OUT, (F,), AT, (op("sqrt", X),))],
    "a list that grows": [Append(OUT, (F,), (op("exp", X),))],
    "an item that is changed": [
        Load([Y], OUT, (F,), AT), Store(OUT, (F,), AT, (op("add", Y, op("exp", X)),)), add(Y),
    ],
    "integers": [
        Set([GONE], [op("int_trunc", op("mul", X, f(3.0)), kind=INT)]),
        Set([GONE], [op("mod", op("mul", GONE, i(7), kind=INT), i(4), kind=INT)]),
        add(op("float", GONE)),
    ],
    "a function that NumPy has not": [add(op("erf", X)), add(op("mod", X, f(0.7)))],
}  # fmt: skip


LISTS = {
    "a list that is filled": hir.Fill(OUT, (F,), N, (f(0.5),)),
    "an item that is changed": hir.Fill(OUT, (F,), N, (f(0.5),)),
    "a list that grows": hir.New(OUT, (F,), []),
}


@pytest.mark.parametrize("name", BODIES)
def test_a_construct_is_made_of_all_iterations(name, at_once):
    main = loop_of(*BODIES[name])
    if name in LISTS:
        main = with_list(main, LISTS[name])
    assert same(main, GOOD) != "failed"
    assert at_once == {"whole": 1}


def with_list(main, made):
    """A function that makes the list that it changes, and adds its last item."""
    last = [Load([Y], OUT, (F,), i(-1)), add(Y)]
    main.body[:] = [made, *main.body[:-1], *last, main.body[-1]]
    return main


@pytest.mark.parametrize(
    ("bad", "body"),
    [
        (0.0, [add(op("log", X))]),
        (-1.0, [add(op("sqrt", X))]),
        (0.0, [add(op("truediv", f(1.0), X))]),
        (1000.0, [add(op("exp", X))]),
        (math.inf, [add(op("sin", X))]),
        (0.0, [add(op("lgamma", X))]),
        (1e300, [add(op("pow", X, f(2.0)))]),
        (1e30, [Set([GONE], [op("int_floor", X, kind=INT)]), add(op("float", GONE))]),
        (math.nan, [Set([GONE], [op("int_floor", X, kind=INT)]), add(op("float", GONE))]),
        (9.0, [If(op("gt", op("exp", X), f(500.0), kind=B), [Fail("it is large")], [])]),
        (9.0, [Set([GONE], [op("int_floor", X, kind=INT)]), Load([Y], XS_, (F,), GONE), add(Y)]),
    ],
)
def test_a_failure_in_one_iteration_is_one_of_all(bad, body, at_once):
    assert same(loop_of(*body), [0.5, 1.5, 2.0, 0.25]) != "failed" and at_once == {"whole": 1}
    at_once.clear()
    for place in range(4):
        xs = [0.5, 1.5, 2.0, 0.25]
        xs[place] = bad
        expected = same(loop_of(*body), xs)
        assert expected == "failed" or bad == 1e30  # for Python's integers may have any number of bits
    assert at_once == {"none": 4}


def test_numbers_that_are_not_finite_are_no_failures(at_once):
    for xs in ([math.inf, 1.0], [math.nan, 1.0], [-math.inf, 1.0, math.nan]):
        same(loop_of(add(op("exp", X))), xs)
        same(loop_of(add(op("np_sqrt", op("mul", X, X)))), xs)
    assert at_once == {"whole": 6}


def test_a_list_is_not_changed_where_an_iteration_fails(at_once):
    body = [Store(OUT, (F,), AT, (op("sqrt", X),)), add(op("log", X))]
    main = with_list(loop_of(*body), hir.Fill(OUT, (F,), N, (f(0.5),)))
    assert same(main, [1.0, 2.0, 3.0]) == pytest.approx(math.sqrt(3.0) + math.log(6.0))
    assert same(main, [1.0, 2.0, 0.0, 3.0]) == "failed"
    short = with_list(loop_of(*body), hir.Fill(OUT, (F,), i(1), (f(0.5),)))
    assert same(short, [1.0, 2.0]) == "failed"  # there is no place for the second
    assert at_once == {"whole": 1, "none": 2}


def test_large_integers_are_left_to_python(at_once):
    k = Var("big", INT)
    main = loop_of(
        Set([k], [op("mul", op("int_floor", X, kind=INT), i(1 << 40), kind=INT)]),
        Set([k], [op("mul", k, k, kind=INT)]),
        add(op("float", op("mod", k, i(1000), kind=INT))),
    )
    assert same(main, [2.0, 5.0]) == float((2 << 40) ** 2 % 1000 + (5 << 40) ** 2 % 1000)
    assert at_once == {"none": 1}


def test_division_of_numpy_by_zero_is_no_error():
    main = loop_of(add(op("np_div", X, f(0.0))))
    assert run(print_python(main), [1.0])[0] == math.inf


def test_what_is_no_faster_stays_a_loop():
    inner = For(J, i(0), op("add", AT, i(1), kind=INT), i(1), [add(op("exp", op("float", J)))], 2)
    for body in ([inner], [add(op("mul", X, X))]):
        (main,) = with_tails([loop_of(*body)])
        assert id(main.body[1]) not in Axes([main], costs=False).loops


def test_few_iterations_run_one_by_one():
    text = print_at_once(loop_of(*BODIES["a branch"]))
    namespace = compile_python(text, {})
    namespace["main_at_once"] = None  # which is not called
    assert namespace["main"](None, 2, [0.25, math.e], []) == pytest.approx(1.5)
    with pytest.raises(TypeError):
        namespace["main"](None, 100, [1.0] * 100, [])


def test_what_only_some_loops_need_may_not_be_set(at_once):
    """Where a variable is only set if an iteration comes to reading it, the loop is as it was."""
    main = loop_of(If(op("gt", N, i(3), kind=B), [add(Y)], []), add(op("truediv", X, X)))
    main.body.insert(0, If(op("gt", N, i(3), kind=B), [Set([Y], [f(0.25)])], []))
    assert same(main, [1.0, 2.0]) == 2.0 and at_once == {}
    assert same(main, [1.0, 2.0, 3.0, 4.0]) == 5.0 and at_once == {"whole": 1}


def test_random_functions_mean_the_same(at_once):
    printed = 0
    for seed in range(150):
        main = RandomLanes(seed).main()
        (copy,) = with_tails([main])
        printed += len(NumPyLoops(hir.functions(copy), Axes([copy], costs=False)).calls)
        plain, text = print_python(main), print_at_once(main)
        for place in range(4):
            given = arguments(random.Random(4 * seed + place))
            expected = by_python(plain, given)
            if expected is None:  # it reads what is not set
                continue
            with np.errstate(all="ignore"):
                found = by_python(text, given)
            assert agree(expected, found, 1e6), (seed, place, given, expected, found)
    assert printed > 100 and at_once["whole"] > 5 * at_once["none"]


def test_tails_mean_the_same():
    for seed in range(80):
        main = RandomProgram(seed).main()
        plain, (changed,) = print_python(main), with_tails([main])
        text = print_python(changed)
        assert print_python(main) == plain
        for place in range(3):
            given = some_arguments(random.Random(3 * seed + place))
            expected = result_of(plain, given)
            if expected is not None:
                assert result_of(text, given) == expected, (seed, given)


# --- programs -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("program", "args"), PROGRAMS, ids=lambda one: getattr(one, "__name__", ""))
def test_a_density_is_what_it_was(program, args, at_once):
    for seed in range(1, 4):
        trace = program.reference.simulate(args, rng=seed)
        closed = ClosedDensity(program, trace.args)
        found = closed.assess_python(trace.args, dict(trace.choices.items()))
        assert found == pytest.approx(trace.log_prob, rel=1e-9)
    assert not at_once["none"] and (at_once["whole"] > 0) == (program not in IN_ORDER)


IN_ORDER = skipped, lists, chosen
"""Not all have a choice; an item at another place is replaced in each; not all add an item."""


def assessed(program, args, choices):
    """The log density by Python text, or that it fails."""
    try:
        return ClosedDensity(program, args).assess_python(args, choices)
    except FailedText as failure:
        return str(failure)


def test_what_is_impossible_for_one_of_them(at_once):
    choices = dict(out_of_reach.simulate((XS,), rng=np.random.default_rng(1)).choices)
    for at in (0, 5, len(XS) - 1):
        assert assessed(out_of_reach, (XS,), {**choices, ("w", at): -1.0}) == -math.inf
    assert at_once == {"whole": 3}


@pytest.mark.parametrize("bad", [*XS[:2], XS[10], XS[-1]])
def test_an_error_in_one_iteration_is_one_of_all(bad, at_once):
    choices = dict(may_fail.simulate((XS, 9.5), rng=np.random.default_rng(1)).choices)
    assert "division by zero" in assessed(may_fail, (XS, bad), choices)


@pytest.mark.parametrize(("stops", "fails"), [(3, 7), (7, 3), (4, 4)])
def test_what_comes_first_decides(stops, fails, at_once):
    """Where one iteration ends the function and one fails, that which comes first."""
    body = [
        If(op("gt", X, f(50.0), kind=B), [Return([f(-math.inf)])], []),
        add(op("log", X)),
        If(op("eq", X, f(9.0), kind=B), [Return([f(-1.0)])], []),
    ]
    xs = [1.0] * 10
    xs[fails], xs[stops] = 0.0, 100.0
    assert same(loop_of(*body), xs) == (-math.inf if stops <= fails else "failed")
    xs[fails] = 9.0
    xs[stops] = 100.0
    assert same(loop_of(*body), xs) == (-math.inf if stops <= fails else -1.0)
    assert at_once["part"] >= 1


def test_a_choice_that_is_missing_or_made_twice(at_once):
    choices = dict(branches.simulate((XS,), rng=np.random.default_rng(1)).choices)
    for at in (0, 7, len(XS) - 1):
        assert isinstance(
            assessed(branches, (XS,), {p: v for p, v in choices.items() if p != ("y", at)}), str
        )
    assert isinstance(assessed(twice, (11,), {("y", i): 0.5 for i in range(12)}), str)


def test_arrays_from_outside_are_made_once():
    @gen
    def line(xs):
        slope = ~normal(0, 1)
        for i in range(len(DATA)):
            ("y", i) @ ~normal(slope * DATA[i], xs)

    closed = ClosedDensity(line, (1.0,))
    names = [name for name in arrays_of(closed.running(), closed.python) if name.endswith("_f")]
    assert names and all(isinstance(closed.python[name], np.ndarray) for name in names)


DATA = [0.5 * i for i in range(40)]
MOVES = {
    f"{model.name}-{move.f.name}": (model, move)
    for name, models in families().items()
    if name in ("mixtures", "piecewise_regression", "change_points", "sinusoids", "point_processes")
    for model in models
    for move in model.moves
}


@pytest.mark.parametrize("name", MOVES)
def test_steps_are_the_interpreters(name, at_once):
    model, move = MOVES[name]
    trace = model.start(size=14)
    part = Involution(
        move.f.name, move.q, move.q_args, tuple(there for there, _ in directions(move.f)), False
    )
    closed = ClosedKernel(trace.gen_fn, trace.args, [part])

    def step(trace, rng):
        return involutive_mcmc(trace, move.q, move.q_args, move.f, rng=rng)

    found = Counter(what for what, *_ in compared(AsPython, closed, trace, step, 12))
    assert found["accepted"] + found["rejected"] == 12, found


def test_a_table_is_an_array_once():
    table = Table([(1, 0.5), (2, 1.5), (3, 2.5)])
    assert lanes.take(table, np.array([2, -3]), "f", 1).tolist() == [2.5, 0.5]
    assert lanes.span(table, 1, 1, 2, "i", 0).tolist() == [2, 3]
    assert lanes.array(table, "f", 1) is lanes.array(table, "f", 1)
    with pytest.raises(IndexError):
        lanes.span(table, 1, 1, 3, "i", 0)


# --- columns ------------------------------------------------------------------------------------------


def test_stamps_of_rows_are_those_of_each_choice():
    source = random.Random(1)
    for _ in range(200):
        stamps, each = Stamps(), {}
        for now in range(1, 12):
            first = source.choice([(), (), (1,), (2, 0)])
            start = source.randrange(6)
            stop = start + source.randint(1, 6)
            indices = [(*first, at) if first else at for at in range(start, stop)]
            if source.random() < 0.4:
                stamps.stamp_row(first, start, stop, now)
                each |= dict.fromkeys(indices, now)
            else:
                stamps[indices[0]] = each[indices[0]] = now
            if source.random() < 0.2:
                stamps = Stamps(stamps)
            asked = source.randint(1, now)
            known = [each.get(index, 0) == asked for index in indices]
            assert stamps.all_have(first, start, stop, asked) == all(known)
            assert stamps.any_has(first, start, stop, asked) == any(known)
            assert all(stamps[index] == stamp for index, stamp in each.items())


def test_rows_of_values_follow_the_values():
    values = Values("f", {i: float(i) for i in range(5)})
    assert values.row((), 0, 5).tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
    values[2], values[7] = 9.5, 1.0
    assert values.row((), 1, 4).tolist() == [1.0, 9.5, 3.0]
    values |= {5: 5.0, 6: 6.0}
    whole = Values("i", {(0, 0): 3, (0, 1): 4})
    assert whole.row((0,), 0, 2).tolist() == [3, 4]
    whole[0, 1] = 1 << 40
    with pytest.raises(numpy_runtime.TextFailure):
        whole.row((0,), 0, 2)


@gen
def bounded(n):
    for i in range(n):
        ("w", i) @ ~uniform(0.0, 1.0)


def test_a_choice_that_was_replaced_is_seen(at_once):
    choices = {("w", i): 0.5 for i in range(9)}
    assert assessed(bounded, (9,), choices) == 0.0
    assert assessed(bounded, (9,), {**choices, ("w", 4): 2.0}) == -math.inf


def test_sums_of_integers_with_bits_to_spare_are_computed_at_once(at_once):
    k = Var("big", INT)
    main = loop_of(
        Set([k], [op("mul", op("int_floor", X, kind=INT), i(1 << 8), kind=INT)]),
        add(op("float", op("add", k, k, kind=INT))),
    )
    assert same(main, [2.0**25, 3.0]) == 512.0 * (2**25 + 3)
    assert at_once == {"whole": 1}
