"""Loops that go on from their last iteration: they are taken apart, and mean what they meant."""

import copy
import math
import random

import pytest

from gendsl import categorical, exponential, gamma, gen, normal, poisson, uniform
from gendsl.compiler.hir import For, Function, If, Load, New, Op, Return, Set, Var
from gendsl.compiler.hir.machine import LANES
from gendsl.compiler.hir.text_effects import TextEffects
from gendsl.compiler.passes import recurrences
from gendsl.compiler.passes.clean import clean_one
from gendsl.compiler.passes.peel import peel
from gendsl.compiler.python.print_python import print_python
from gendsl.compiler.run.closed import ClosedDensity
from gendsl.compiler.run.closed_move import ClosedKernel
from gendsl.inference import random_walk, sample
from gendsl.inference.compiled.moves import flattened
from gendsl.testing import running_on, runtimes
from tests.compiler.closed_outcomes import NATIVE, outcome, raises_everywhere
from tests.compiler.closed_steps import WAYS, compared
from tests.compiler.lanes_programs import FLOATS, XS, YS, ZS, ByMachine, N, agree, arguments, by_python, f, i
from tests.compiler.recurrent_programs import TOTAL, RandomRecurrence

SIZES = [0, 1, 2, LANES - 1, LANES, LANES + 1, 100]


@gen
def flagged(n):
    """The first one is known by a variable that has no value yet."""
    phi = ~normal(0, 0.5)
    previous = None
    for t in range(n):
        if previous is None:
            x = ("x", t) @ ~normal(0, 1)
        else:
            x = ("x", t) @ ~normal(math.sin(phi * previous), 1)
        previous = x


@gen
def numbered(n):
    """The first one is known by its number, and the variable is set in a branch."""
    phi = ~normal(0, 0.5)
    h = ("h", 0) @ ~normal(0, 1)
    for t in range(n):
        if t > 0:
            h = ("h", t) @ ~normal(phi * h, 1)
        ("r", t) @ ~normal(0, math.exp(h / 2))


@gen
def turned_round(n):
    phi = ~normal(0, 0.5)
    h = 0.3
    for t in range(n):
        if not t:
            state = ("h", t) @ ~normal(h, 1)
        elif t >= 1:
            state = ("h", t) @ ~normal(math.tanh(phi * h), 1)
        ("r", t) @ ~normal(0, math.exp(state / 2))
        h = state


@gen
def last_item(n):
    phi = ~normal(0, 0.5)
    x = [("x", 0) @ ~normal(0, 1)]
    for t in range(1, n):
        x.append(("x", t) @ ~normal(math.sin(phi * x[-1]), 1))
        ("y", t) @ ~normal(x[-1], math.exp(phi))


@gen
def numbered_item(n):
    phi = ~normal(0, 0.5)
    x = []
    for t in range(n):
        if t == 0:
            level = ("x", t) @ ~normal(0, 1)
        else:
            level = ("x", t) @ ~normal(math.sin(phi * x[t - 1] + len(x) / 100), 1)
        x.append(level)
        ("y", t) @ ~normal(x[len(x) - 1], math.exp(phi))
    "end" @ ~normal(sum(x) / (1 + len(x)), 1)


@gen
def two_before(n):
    """The first ones are made by a loop of their own."""
    phi = ~normal(0, 0.5)
    x = []
    for k in range(2):
        x.append(("x", k) @ ~normal(0, 1))
    for t in range(2, n):
        x.append(("x", t) @ ~normal(math.sin(phi * x[-1]) - x[t - 2] / 2, math.exp(phi)))


@gen
def data(ys):
    phi = ~normal(0, 0.5)
    last = 0.1
    for t, y in enumerate(ys):
        ("r", t) @ ~normal(phi * last, math.exp(phi + y))
        last = y


@gen
def pairs(ys, us):
    phi = ~normal(0, 0.5)
    last_y, last_u = 0.0, 1.0
    for t, (y, u) in enumerate(zip(ys, us, strict=False)):
        ("r", t) @ ~normal(phi * last_y + last_u, math.exp(phi + y))
        last_y = y
        last_u = math.exp(-u)
    "end" @ ~normal(last_y + last_u, 1)


@gen
def second_order(n):
    phi = ~normal(0, 0.5)
    a = b = 0.5
    for t in range(n):
        x = ("x", t) @ ~normal(math.sin(phi * a) - phi * b, math.exp(phi))
        a, b = x, a


@gen
def read_after(n):
    phi = ~normal(0, 0.5)
    x = 1.0
    for t in range(n):
        x = ("x", t) @ ~normal(math.sin(phi * x), math.exp(phi))
    "end" @ ~normal(x, 1)


@gen
def only_after(n):
    phi = ~normal(0, 0.5)
    last = -1.0
    for t in range(n):
        last = ("x", t) @ ~normal(math.sin(phi + t), math.exp(phi))
    "end" @ ~normal(last, 1)


@gen
def from_three(n):
    phi = ~normal(0, 0.5)
    x = ("x", 2) @ ~normal(0, 1)
    for t in range(3, n):
        if t == 3:
            mean = x
        else:
            mean = math.sin(phi * x)
        x = ("x", t) @ ~normal(mean, math.exp(phi))


@gen
def switching(n):
    """A path of states, each of which depends on the one before."""
    up = ~uniform(0.1, 0.9)
    z = 0
    for t in range(n):
        p = math.exp(-up) if z else up
        z = ("z", t) @ ~categorical([1 - p, p])
        ("y", t) @ ~normal(math.sin(z + up), math.exp(z))


def moved_on(phi, x):
    return math.sin(phi * x)


@gen
def helped(n):
    """What the next iteration needs is computed from what was looked up, by a helper."""
    phi = ~normal(0, 0.5)
    mean = 0.0
    for t in range(n):
        x = ("x", t) @ ~normal(mean, math.exp(phi))
        mean = moved_on(phi, x)


@gen
def looped(n):
    """A loop in a loop, each with a path of its own."""
    phi = ~normal(0, 0.5)
    for k in range(3):
        x = 0.5 * k
        for t in range(n):
            x = ("x", k, t) @ ~normal(math.sin(phi * x), math.exp(phi))
        ("end", k) @ ~normal(x, 1)


@gen
def going_on(n):
    """Paths one behind another."""
    phi = ~normal(0, 0.5)
    x = 0.5
    for k in range(2):
        for t in range(n):
            x = ("x", k, t) @ ~normal(math.sin(phi * x), math.exp(phi))


@gen
def counted(n):
    """Counts whose logarithms go on."""
    rate = ~gamma(2, 1)
    before = 0
    for t in range(n):
        count = ("c", t) @ ~poisson(rate * math.exp(math.sin(before)))
        before = count


@gen
def rows_of_a_path(n):
    """The chances of the first state are another list than those of all others."""
    stay = ~uniform(0.1, 0.9)
    before = None
    for t in range(n):
        if before is None:
            chances = [1 / 3] * 3
        else:
            chances = [stay if j == before else (1 - stay) / 2 for j in range(3)]
        state = ("z", t) @ ~categorical(chances)
        ("y", t) @ ~normal(math.sin(state + stay), math.exp(stay))
        before = state


@gen
def rows_by_number(n):
    stay = ~uniform(0.1, 0.9)
    state = 2
    for t in range(n):
        chances = [0.2, 0.3, 0.5] if t == 0 else [stay if j == state else (1 - stay) / 2 for j in range(3)]
        state = ("z", t) @ ~categorical(chances)


@gen
def rows_from_a_flag(n):
    """The flag is not what all others set before the loop."""
    stay = ~uniform(0.1, 0.9)
    flag, state = 5, 1
    for t in range(n):
        chances = [stay if j == state else (1 - stay) / 2 for j in range(3)] if flag == 2 else [0.2, 0.3, 0.5]
        state = ("z", t) @ ~categorical(chances)
        flag = 2


@gen
def rows_of_some(n):
    """The flag is set in some iterations only."""
    stay = ~uniform(0.1, 0.9)
    flag, state = 5, 1
    for t in range(n):
        chances = [stay if j == state else (1 - stay) / 2 for j in range(3)] if flag == 2 else [0.2, 0.3, 0.5]
        state = ("z", t) @ ~categorical(chances)
        if t % 3 == 1:
            ("w", t) @ ~normal(0, 1)
            flag = 2


@gen
def rows_of_others(n):
    """The flag is what all iterations set it to only where they don't set it to something else."""
    stay = ~uniform(0.1, 0.9)
    flag, state = 5, 1
    for t in range(n):
        chances = [stay if j == state else (1 - stay) / 2 for j in range(3)] if flag == 2 else [0.2, 0.3, 0.5]
        state = ("z", t) @ ~categorical(chances)
        flag = 2
        if t % 3 == 1:
            ("w", t) @ ~normal(0, 1)
            flag = 3


def numbers(n):
    return [math.sin(3.0 * k) for k in range(n)]


def of_size(n):
    return (n,)


PROGRAMS = {
    model.name: (model, made)
    for model, made in [
        (flagged, of_size), (numbered, of_size), (turned_round, of_size), (last_item, of_size),
        (numbered_item, of_size), (two_before, of_size), (data, lambda n: (numbers(n),)),
        (pairs, lambda n: (numbers(n), numbers(n + 2))), (second_order, of_size), (read_after, of_size),
        (only_after, of_size), (from_three, of_size), (switching, of_size), (helped, of_size),
        (looped, of_size), (going_on, of_size), (counted, of_size), (rows_of_a_path, of_size),
        (rows_by_number, of_size), (rows_from_a_flag, of_size), (rows_of_some, of_size),
        (rows_of_others, of_size),
    ]
}  # fmt: skip
IN_ORDER = {"switching", "rows_of_some", "rows_of_others"}
"""Programs that lanes would not make faster, or that they do not read."""


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_means_the_same(name):
    model, made = PROGRAMS[name]
    for n in SIZES:
        assert outcome(model, made(n), rng=n) == "equal"


@pytest.mark.skipif(not NATIVE, reason="the text is that of machine code")
@pytest.mark.parametrize("name", sorted(PROGRAMS.keys() - IN_ORDER))
def test_the_loops_run_in_lanes(name):
    model, made = PROGRAMS[name]
    closed = ClosedDensity(model, made(9))
    found = [why for _, loop, why in closed.axes.reasons if "goes on" in why or "before is changed" in why]
    assert not found, closed.text
    assert len(closed.axes.loops) >= 1


@pytest.mark.skipif(not NATIVE, reason="the text is that of machine code")
def test_a_path_is_two_loops_in_lanes():
    for model in (flagged, numbered, last_item, numbered_item, read_after):
        closed = ClosedDensity(model, (9,))
        loops = [line for line in closed.text.splitlines() if line.strip().startswith("for t")]
        assert len(loops) == 2 and all("in lanes" in line for line in loops), closed.text


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_steps_are_the_same(name, way):
    model, made = PROGRAMS[name]
    trace = model.reference.simulate(made(9), rng=2)
    kernel = random_walk(scale=0.3)
    closed = ClosedKernel(model, trace.args, [one.move for one in flattened(kernel).parts])
    found = [what for what, *_ in compared(way, closed, trace, kernel, 12)]
    assert set(found) <= {"accepted", "rejected"} or name in {*IN_ORDER, "counted"}


@pytest.mark.parametrize("name", ["numbered", "flagged", "numbered_item", "second_order"])
def test_chains_are_the_same_on_all_runtimes(name):
    """Where every third value is observed."""
    model, made = PROGRAMS[name]
    for n in (1, 9):
        chains = []
        for runtime in runtimes():
            with running_on(runtime):
                start = model.simulate(made(n), rng=3)
                observed = {path: x for k, (path, x) in enumerate(start.choices.items()) if k % 3 == 2}
                trace = model.generate(made(n), observed, rng=4).trace
                chains.append(
                    sample(random_walk("phi", scale=0.2), trace, 40, seed=5, progress=False, record=["phi"])
                )
        first, *others = [list(chain["phi"]) for chain in chains]
        for other in others:
            assert other == pytest.approx(first, rel=1e-12)


# --- what raises, and what has no density -------------------------------------------------------------


@gen
def out_of_reach(n, back):
    phi = ~normal(0, 0.5)
    x = [0.5]
    for t in range(n):
        x.append(("x", t) @ ~normal(math.sin(phi * x[-back]), math.exp(phi)))


@gen
def too_early(n, at):
    """It reads an item that there will be later."""
    phi = ~normal(0, 0.5)
    x = [0.5]
    for t in range(n):
        x.append(("x", t) @ ~normal(math.sin(phi * x[t + at]), math.exp(phi)))


@pytest.mark.parametrize(("model", "good", "bad"), [(out_of_reach, 1, 2), (too_early, 0, 1)])
def test_an_index_that_raises_is_not_accepted(model, good, bad):
    choices = {("phi",): 0.2, **{("x", t): 0.1 * t for t in range(9)}}
    closed = ClosedDensity(model, (9, good))
    assert math.isfinite(closed.assess_python((9, good), choices))
    assert outcome(model, (9, good)) == "equal"
    raises_everywhere(model, (9, bad), choices)


@gen
def before_the_first(n):
    """What is tested is the number of the next iteration, but of the iteration before."""
    phi = ~normal(0, 0.5)
    k, x = 0, [0.5]
    for t in range(n):
        mean = 0.5 if k > 0 else x[-2]
        x.append(("x", t) @ ~normal(math.sin(phi * mean), math.exp(phi)))
        k = t + 1


def test_an_item_before_the_first_is_not_accepted():
    raises_everywhere(before_the_first, (9,), {("phi",): 0.2, **{("x", t): 0.1 * t for t in range(9)}})


@gen
def positive(n):
    rate = ~gamma(2, 1)
    x = 1.0
    for t in range(n):
        x = ("x", t) @ ~exponential(rate * math.exp(math.sin(x)))
        ("y", t) @ ~normal(x, math.exp(rate))


@pytest.mark.parametrize("at", [0, 5, 11])
def test_a_choice_without_density_in_the_middle(at):
    choices = {("rate",): 0.5, **{("x", t): 0.5 for t in range(12)}, **{("y", t): 0.5 for t in range(12)}}
    choices["x", at] = -1.0
    closed = ClosedDensity(positive, (12,))
    for way in [closed.assess_python, closed.assess_native] if NATIVE else [closed.assess_python]:
        assert way((12,), choices) == -math.inf
    choices["x", at] = 0.5
    for way in [closed.assess_python, closed.assess_native] if NATIVE else [closed.assess_python]:
        assert math.isfinite(way((12,), choices))


def test_a_choice_that_is_missing_is_not_accepted():
    choices = {("phi",): 0.2, ("end",): 1.0, **{("x", t): 0.1 * t for t in range(9)}}
    assert math.isfinite(ClosedDensity(read_after, (9,)).assess_python((9,), choices))
    del choices["x", 6]
    raises_everywhere(read_after, (9,), choices)


@gen
def set_twice(n):
    """What the next iteration begins with is not what is looked up, though it has its name for a while."""
    phi = ~normal(0, 0.5)
    x = 0.5
    for t in range(n):
        y = x
        x = ("x", t) @ ~normal(math.sin(phi * y), math.exp(phi))
        ("y", t) @ ~normal(math.exp(x), 1)
        x = -x
        ("z", t) @ ~normal(math.exp(x) + y, 1)


@gen
def kept_on(n):
    """Some iterations leave the variable as it is: it is no recurrence of one iteration."""
    phi = ~normal(0, 0.5)
    x = 0.5
    for t in range(n):
        y = ("y", t) @ ~normal(math.sin(phi * x), math.exp(phi))
        if y > 0:
            x = y


@gen
def ends_early(n):
    phi = ~normal(0, 0.5)
    x = 0.5
    for t in range(n):
        x = ("x", t) @ ~normal(math.sin(phi * x), math.exp(phi))
        if x > 1:
            break


@gen
def goes_on_early(n):
    phi = ~normal(0, 0.5)
    x = 0.5
    for t in range(n):
        y = ("y", t) @ ~normal(math.sin(phi * x), math.exp(phi))
        if y > 0:
            continue
        ("z", t) @ ~normal(math.exp(y), 1)
        x = y


@gen
def numbers_before(n):
    """What is tested is the number of the iteration before, which is 0 in the second one, too."""
    phi = ~normal(0, 0.5)
    k, x = 0, 0.5
    for t in range(n):
        if k > 0:
            y = ("x", t) @ ~normal(math.sin(phi * x), math.exp(phi))
        else:
            y = x + 1.0
        ("r", t) @ ~normal(math.sin(x), math.exp(y))
        k = t
        x = y


@pytest.mark.parametrize("model", [set_twice, kept_on, ends_early, goes_on_early, numbers_before])
def test_what_looks_like_it(model):
    for n in SIZES:
        assert outcome(model, (n,), rng=n) == "equal"


# --- random functions ---------------------------------------------------------------------------------


def test_a_variable_that_is_set_twice_has_both_values(monkeypatch):
    """What the next iteration begins with is the second one."""
    monkeypatch.setattr(recurrences._Context, "_run_in_lanes", lambda *_: True)
    t, c, a, v = Var("t", "i"), Var("c", "f"), Var("a", "f"), Var("v", "f")
    main = Function("main", [N, XS, YS, ZS], ["f", "f"])
    body = [Load([a], XS, FLOATS, t)]
    for divisor, factor in ((3.0, c), (7.0, f(1.0))):
        body.append(Set([v], [Op("truediv", (a, f(divisor)), "f")]))
        body.append(Set([TOTAL], [Op("add", (TOTAL, Op("mul", (v, factor), "f")), "f")]))
    body.append(Set([c], [v]))
    before = [Set([TOTAL, c], [f(0.0), f(0.5)])]
    main.body = [*before, For(t, i(0), N, i(1), body, 1, line=7), Return([TOTAL, c])]
    expected = by_python(print_python(main), given := [3, [1.0, 2.0, 4.0], [], []])
    recurrences.take_apart([main])
    assert by_python(print_python(main), given) == pytest.approx(expected)


def test_the_first_iteration_reads_what_it_has_set(monkeypatch):
    monkeypatch.setattr(recurrences._Context, "_run_in_lanes", lambda *_: True)
    t, c, d, e = Var("t", "i"), Var("c", "f"), Var("d", "f"), Var("e", "f")
    main = Function("main", [N, XS, YS, ZS], ["f", "f"])
    body = [
        Set([TOTAL], [Op("add", (TOTAL, Op("mul", (c, e), "f")), "f")]),
        Load([c], XS, FLOATS, t),
        If(Op("eq", (t, i(0)), "b"), [Set([d], [c])], [Set([d], [Op("neg", (c,), "f")])]),
        Set([e], [d]),
    ]
    before = [Set([TOTAL, c, e], [f(0.0), f(0.5), f(2.0)])]
    main.body = [*before, For(t, i(0), N, i(1), body, 1, line=7), Return([TOTAL, c])]
    expected = by_python(print_python(main), given := [3, [1.0, 2.0, 4.0], [], []])
    recurrences.take_apart([main])
    assert sum(isinstance(one, For) for one in main.body) > 1
    assert by_python(print_python(main), given) == pytest.approx(expected)


@pytest.mark.parametrize("is_read", [False, True])
def test_what_is_set_beside_what_goes_on(is_read, monkeypatch):
    """It is what it was, and fails where it failed, whether anything reads it or not."""
    monkeypatch.setattr(recurrences._Context, "_run_in_lanes", lambda *_: True)
    t, c, a, u = Var("t", "i"), Var("c", "f"), Var("a", "f"), Var("u", "f")
    main = Function("main", [N, XS, YS, ZS], ["f", "f"])
    body = [
        Load([a], XS, FLOATS, t),
        Set([TOTAL], [Op("add", (TOTAL, Op("mul", (c, f(2.0)), "f")), "f")]),
        Set([c, u], [a, Op("truediv", (f(1.0), a), "f")]),
    ]
    if is_read:
        body.append(Set([TOTAL], [Op("add", (TOTAL, u), "f")]))
    before = [Set([TOTAL, c], [f(0.0), f(0.5)])]
    main.body = [*before, For(t, i(0), N, i(1), body, 1, line=7), Return([TOTAL, c])]
    recurrences.take_apart([main])
    assert sum(isinstance(one, For) for one in main.body) > 1
    assert by_python(print_python(main), [3, [1.0, 2.0, 4.0], [], []]) == [8.75 if is_read else 7.0, 4.0]
    assert by_python(print_python(main), [3, [1.0, 2.0, 0.0], [], []]) == "failed"


@gen
def same_items(n):
    """All items are the same number, so that the list's items have no parts."""
    a = ~normal(0, 1)
    x = []
    for t in range(n):
        x.append(0.5)
        ("y", t) @ ~normal(math.sin(a * x[-1]), 1)


@gen
def only_counted(n):
    a = ~normal(0, 1)
    x = []
    for t in range(n):
        x.append(None)
        ("y", t) @ ~normal(math.sin(a) + len(x), 1)


@pytest.mark.parametrize("model", [same_items, only_counted], ids=lambda one: one.__name__)
def test_lists_whose_items_have_no_parts(model):
    for n in SIZES:
        assert outcome(model, (n,), rng=n) == "equal"


def test_random_functions_mean_the_same(monkeypatch):
    """Whether their loops run in lanes then or not."""
    monkeypatch.setattr(recurrences._Context, "_run_in_lanes", lambda *_: True)
    apart = failed = 0
    for seed in range(400):
        main = RandomRecurrence(seed).main()
        before = print_python(main)
        changed = copy.deepcopy(main)
        clean_one(changed)
        recurrences.take_apart([changed])
        clean_one(changed)
        count = sum(isinstance(one, For) for one in changed.body)
        text = print_python(changed)
        apart += count > 1
        native = ByMachine(changed) if NATIVE and count > 1 and seed % 10 == 0 else None
        for place in range(6):
            given = arguments(random.Random(6 * seed + place))
            expected, found = by_python(before, given), by_python(text, given)
            assert expected is not None
            failed += expected == "failed"
            assert agree(expected, found, 1e6), (seed, given, expected, found, before, text)
            if native is not None:
                assert agree(expected, native(given), 1e6), (seed, given)
    assert apart > 100 and failed < 1500, (apart, failed)


# --- first iterations -----------------------------------------------------------------------------------

FLAG, AT, OF_TWO = Var("flag", "i"), Var("t", "i"), Var("of_two", "r")
IS_SET = Op("eq", (FLAG, i(2)), "b")
SETS_FLAG, IN_SOME = Set([FLAG], [i(2)]), Op("gt", (AT, i(4)), "b")


@pytest.mark.parametrize(
    ("sets", "is_flag"),
    [
        ([SETS_FLAG], True),
        ([If(IN_SOME, [SETS_FLAG], [])], False),
        ([SETS_FLAG, If(IN_SOME, [Set([FLAG], [i(3)])], [])], False),
        ([Set([FLAG], [AT])], False),
    ],
    ids=["all", "some", "others", "numbers"],
)
def test_what_all_iterations_set_to_one_number_is_known_in_all_but_the_first(sets, is_flag):
    lists = [New(OF_TWO, ("f",), [(f(number),)]) for number in (1.0, 2.0)]
    loop = For(AT, i(0), N, i(1), [If(IS_SET, lists[:1], lists[1:]), *sets], 1)
    main = Function("main", [N], ["i"], [Set([FLAG], [i(5)]), loop, Return([FLAG])])
    assert not peel(copy.deepcopy(main), TextEffects(), by_lists=False)
    assert peel(main, TextEffects()) == is_flag
