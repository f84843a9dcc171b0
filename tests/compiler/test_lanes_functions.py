"""Functions of HIR that loop over data: which variables and lists an iteration needs of those before it."""

import pytest

from gendsl.compiler.hir import (
    Append,
    Call,
    Fail,
    Fill,
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
)
from gendsl.compiler.hir.machine import LANES
from gendsl.compiler.passes import axes
from tests.compiler.closed_outcomes import NATIVE
from tests.compiler.lanes_programs import FLOATS, OTHER, OUT, TOTAL, XS, YS, ZS, ByMachine, N, agree, f, i

pytestmark = pytest.mark.skipif(not NATIVE, reason="no machine code here")
AT, X, V, W, ROUND = Var("i", "i"), Var("x", "f"), Var("v", "f"), Var("w", "f"), Var("round", "i")
MANY = LANES + 3
GIVEN = [MANY, [0.1 * place - 0.3 for place in range(MANY)], [0.4, 2.0, -3.0], [1, 0, 3, 2]]


def op(name, *args, kind="f"):
    return Op(name, args, kind)


def test(name, *args):
    return Op(name, args, "b")


test.__test__ = False


def adds(expr, total=TOTAL):
    return Set([total], [op("add", total, expr)])


def over_data(*body):
    """A loop over the items x of a list."""
    return For(AT, i(0), N, i(1), [Load([X], XS, FLOATS, AT), *body], 1)


def main(*body):
    """A function that returns two totals."""
    first = Set([TOTAL, OTHER, V], [f(0.0), f(0.0), f(0.0)])
    return Function("main", [N, XS, YS, ZS], ["f", "f"], [first, *body, Return([TOTAL, OTHER])])


def in_lanes(function, monkeypatch, given=GIVEN):
    """How many loops of a function are in lanes; what it returns is what it was."""
    monkeypatch.setattr(axes, "saved", lambda *_: 1.0)
    found = ByMachine(function)(given)
    with monkeypatch.context() as patch:
        patch.setattr(axes.Axes, "of_loop", _none)
        expected = ByMachine(function)(given)
    assert agree(expected, found, 1e3), (expected, found)
    return len(axes.Axes([function]).loops)


def _none(*_):
    raise axes.NotLanesError("not now")


@pytest.mark.parametrize("jump", [Leave, Next])
def test_a_variable_is_read_later_though_it_is_set_where_that_is_not_come_to(jump, monkeypatch):
    loop = over_data(Set([V], [op("exp", X)]))
    left = If(test("eq", ROUND, i(1)), [jump(2)], [])
    rounds = For(ROUND, i(0), i(3), i(1), [adds(V), loop, left, Set([V], [f(5.0)])], 2)
    assert in_lanes(main(rounds, adds(V, OTHER)), monkeypatch) == 0


# --- lists, sums and counters --------------------------------------------------------------------------

PAIRS = ("f", "f")
NAME, COUNT, EXP = Var("name", "r"), Var("count", "i"), op("exp", X)
POSITIVE = test("gt", X, f(0.1))


def filled(layout=FLOATS):
    return Fill(OUT, layout, N, tuple(f(1.5) for _ in layout))


def read_back(layout=FLOATS):
    """What is in the list, each item by another weight."""
    targets = [V, W][: len(layout)]
    return over_data(
        Load(targets, OUT, layout, AT), *(adds(op("mul", one, X)) for one in targets), adds(V, OTHER)
    )


def last(name="last"):
    """A function that reads the last item of a list."""
    items, item = Var("items", "r"), Var("item", "f")
    return Function(name, [items], ["f"], [Load([item], items, FLOATS, i(-1)), Return([item])])


OWN = [Load([V], OUT, FLOATS, AT), Store(OUT, FLOATS, AT, (op("add", V, EXP),))]
BOTH = [Load([V, W], OUT, PAIRS, AT), Store(OUT, PAIRS, AT, (op("add", W, EXP), op("mul", V, X)))]
IN_LANES = {
    "each replaces its own item": lambda: [filled(), over_data(*OWN), read_back()],
    "some replace their own item": lambda: [filled(), over_data(If(POSITIVE, OWN, [])), read_back()],
    "each replaces its pair": lambda: [filled(PAIRS), over_data(*BOTH), read_back(PAIRS)],
    "some replace their pair": lambda: [filled(PAIRS), over_data(If(POSITIVE, BOTH, [])), read_back(PAIRS)],
    "each adds a pair": lambda: [
        New(OUT, PAIRS, []), over_data(Append(OUT, PAIRS, (EXP, X))), read_back(PAIRS),
    ],
    "those that go on add": lambda: [
        filled(), over_data(If(test("lt", X, f(0.1)), [Next(1)], []), Append(OUT, FLOATS, (EXP,))),
        Load([V], OUT, FLOATS, i(-1)), adds(V), read_back(),
    ],
    "those that go on add pairs": lambda: [
        filled(PAIRS), over_data(If(test("lt", X, f(0.1)), [Next(1)], []), Append(OUT, PAIRS, (EXP, X))),
        Load([V, W], OUT, PAIRS, i(-1)), adds(V), adds(W, OTHER),
    ],
    "each adds to what is there": lambda: [
        New(OUT, FLOATS, [(f(1.0),)]), over_data(Append(OUT, FLOATS, (EXP,))), read_back(),
    ],
    "a list that has another name later": lambda: [
        New(OUT, FLOATS, []), over_data(Append(OUT, FLOATS, (EXP,))), Set([NAME], [OUT]), read_back(),
    ],
}  # fmt: skip
IN_ORDER = {
    "another item": lambda: [
        filled(), over_data(Load([V], OUT, FLOATS, op("sub", AT, i(1), kind="i")), OWN[1]), read_back(),
    ],
    "another item is replaced": lambda: [
        filled(), over_data(Load([V], OUT, FLOATS, i(0)), Store(OUT, FLOATS, i(0), (op("mul", V, EXP),))),
        read_back(),
    ],
    "by another name": lambda: [
        filled(), Set([NAME], [OUT]),
        over_data(Load([V], NAME, FLOATS, i(-1)), Load([W], NAME, FLOATS, i(0)), OWN[1], adds(W)),
        read_back(),
    ],
    "another list": lambda: [
        Fill(NAME, FLOATS, N, (f(1.0),)), filled(), Set([OUT], [NAME]),
        over_data(Load([V], NAME, FLOATS, i(0)), OWN[1]), read_back(),
    ],
    "made before, in a branch": lambda: [
        Fill(NAME, FLOATS, N, (f(1.0),)), filled(), If(test("gt", N, i(2)), [Set([OUT], [NAME])], []),
        over_data(Load([V], NAME, FLOATS, i(0)), OWN[1]), read_back(),
    ],
    "added by another name": lambda: [
        New(OUT, FLOATS, [(f(1.0),)]), Set([NAME], [OUT]),
        over_data(Load([V], NAME, FLOATS, i(-1)), Append(OUT, FLOATS, (op("mul", V, EXP),))), read_back(),
    ],
    "added, and read by a function": lambda: [
        New(OUT, FLOATS, [(f(1.0),)]), Set([NAME], [OUT]),
        over_data(Call([V], last(), [NAME]), Append(OUT, FLOATS, (op("mul", V, EXP),))), read_back(),
    ],
    "some add": lambda: [
        filled(), over_data(If(POSITIVE, [Append(OUT, FLOATS, (EXP,))], [])),
        Length(COUNT, OUT, FLOATS), adds(op("float", COUNT)), read_back(),
    ],
    "each adds two": lambda: [
        filled(), over_data(Append(OUT, FLOATS, (EXP,)), Append(OUT, FLOATS, (X,))),
        Length(COUNT, OUT, FLOATS), adds(op("float", COUNT)), read_back(),
        Load([V], OUT, FLOATS, i(-2)), adds(V),
    ],
    "how many there are": lambda: [
        filled(),
        over_data(Append(OUT, FLOATS, (EXP,)), Length(COUNT, OUT, FLOATS), adds(op("float", COUNT))),
    ],
    "each adds some": lambda: [
        New(OUT, FLOATS, []), over_data(For(ROUND, i(0), i(2), i(1), [Append(OUT, FLOATS, (EXP,))], 2)),
        read_back(),
    ],
    "by another name, in a loop": lambda: [
        filled(), Set([NAME], [OUT]),
        For(ROUND, i(0), i(2), i(1), [over_data(Load([V], NAME, FLOATS, i(0)), OWN[1], adds(V))], 2),
    ],
    "added to itself": lambda: [over_data(adds(op("mul", TOTAL, EXP)))],
    "what there is so far": lambda: [over_data(adds(EXP), adds(TOTAL, OTHER))],
    "two at once": lambda: [
        over_data(Set([TOTAL, OTHER], [op("add", TOTAL, EXP), op("add", TOTAL, X)])),
    ],
    "less by what there is": lambda: [over_data(Set([TOTAL], [op("sub", EXP, TOTAL)]))],
    "the last of all": lambda: [over_data(Set([V], [EXP])), adds(V)],
    "the last of some": lambda: [over_data(If(POSITIVE, [Set([V], [EXP])], [])), adds(V)],
    "how often": lambda: [
        Set([COUNT], [i(0)]), over_data(adds(EXP), Set([COUNT], [op("add", COUNT, i(1), kind="i")])),
        adds(op("float", COUNT)),
    ],
    "the last counter": lambda: [over_data(adds(EXP)), adds(op("float", AT))],
    "a counter that is set": lambda: [
        over_data(Set([AT], [i(0)]), Load([V], XS, FLOATS, AT), adds(op("mul", V, EXP))),
    ],
    "each second one": lambda: [
        For(AT, i(0), N, i(2), [Load([X], XS, FLOATS, AT), adds(EXP)], 1),
    ],
    "a loop that ends early": lambda: [over_data(If(test("gt", X, f(0.3)), [Leave(1)], []), adds(EXP))],
    "a list that is longer for some": lambda: [
        over_data(
            New(NAME, FLOATS, [(EXP,)]), If(POSITIVE, [Append(NAME, FLOATS, (X,))], []),
            Length(COUNT, NAME, FLOATS), adds(op("float", COUNT)), Load([V], NAME, FLOATS, i(-1)), adds(V),
        ),
    ],
    "one list or another": lambda: [
        over_data(
            New(NAME, FLOATS, [(EXP,)]), If(POSITIVE, [New(NAME, FLOATS, [(X,), (X,)])], []),
            Length(COUNT, NAME, FLOATS), adds(op("float", COUNT)),
        ),
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", IN_LANES)
def test_a_loop_in_lanes_is_what_it_was(name, monkeypatch):
    for n in (1, 3, LANES, MANY):
        given = [n, GIVEN[1][:n], *GIVEN[2:]]
        assert in_lanes(main(*IN_LANES[name]()), monkeypatch, given) == 1


@pytest.mark.parametrize("name", IN_ORDER)
def test_what_needs_the_iteration_before_runs_in_order(name, monkeypatch):
    assert in_lanes(main(*IN_ORDER[name]()), monkeypatch) == 0


@pytest.mark.parametrize(
    "places", [(None, None), (0, 5), (5, 0), (MANY - 2, 2), (2, MANY - 2), (None, MANY - 1), (7, None)]
)
def test_the_first_iteration_that_returns_ends_the_loop(places, monkeypatch):
    xs = [0.1 * place for place in range(MANY)]
    for place, x in zip(places, (7.0, 8.0), strict=True):
        if place is not None:
            xs[place] = x
    sevens = If(test("eq", X, f(7.0)), [Return([op("mul", X, f(2.0)), f(1.0)])], [])
    eights = If(test("lt", X, f(7.5)), [adds(EXP)], [Return([f(3.0), X])])
    quotient = op("truediv", EXP, op("mul", op("sub", X, f(7.0)), op("sub", X, f(8.0))))
    function = main(over_data(sevens, eights, adds(quotient, OTHER)))
    assert in_lanes(function, monkeypatch, [MANY, xs, *GIVEN[2:]]) == 1


@pytest.mark.parametrize("place", [0, 7, MANY - 1])
def test_where_one_iteration_fails_all_do(place, monkeypatch):
    loop = over_data(If(test("gt", X, f(7.0)), [Fail("no")], []), adds(EXP))
    assert in_lanes(main(loop), monkeypatch) == 1
    xs = [*GIVEN[1][:place], 9.0, *GIVEN[1][place + 1 :]]
    assert ByMachine(main(loop))([MANY, xs, *GIVEN[2:]]) == "failed"


@pytest.mark.parametrize(("start", "step"), [(0, 1), (2, 1), (3, -1), (4, -2)])
def test_an_inner_loop_begins_anywhere(start, step, monkeypatch):
    """In each iteration it ends elsewhere."""
    stop = Load([Var("stop", "i")], ZS, ("i",), op("mod", AT, i(4), kind="i"))
    inner = For(ROUND, i(start), stop.targets[0], i(step), [adds(op("mul", X, op("float", ROUND)))], 2)
    assert in_lanes(main(over_data(stop, inner)), monkeypatch) == 1


@pytest.mark.parametrize(("first", "result"), [(2**62, "known"), (2**63 - 4, "failed")])
def test_an_integer_that_only_later_lanes_have_too_large(first, result, monkeypatch):
    """A function that returns it says so, though it is small enough in the first lane."""
    k, given = Var("k", "i"), [LANES, *GIVEN[1:]]
    later = Function("later", [k], ["i"], [Return([op("add", k, i(first), kind="i")])])
    more = op("float", op("sub", ROUND, i(first), kind="i"))
    loop = over_data(Call([ROUND], later, [AT]), adds(op("mul", EXP, more)))
    assert in_lanes(main(loop), monkeypatch, given) == 1
    assert (ByMachine(main(loop))(given) == "failed") == (result == "failed")


LIST, ARG = Var("list", "r"), Var("arg", "f")
MADE = (op("exp", ARG),)


@pytest.mark.parametrize("again", [New(LIST, FLOATS, [MADE]), Fill(LIST, FLOATS, i(2), MADE)])
def test_a_list_that_a_function_is_given_and_makes_anew(again, monkeypatch):
    """Before that it is the caller's, which all lanes have in common."""
    first, second = Var("first", "f"), Var("second", "f")
    reads = [Load([one], LIST, FLOATS, i(0)) for one in (first, second)]
    end = Return([op("add", first, op("mul", second, f(100.0)))])
    helper = Function("helper", [LIST, ARG], ["f"], [reads[0], again, reads[1], end])
    assert in_lanes(main(over_data(Call([V], helper, [YS, X]), adds(V))), monkeypatch) == 0
