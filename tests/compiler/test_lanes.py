"""Loops over data whose iterations run at once: which these are, and that they mean what they meant."""

import ctypes
import math
import random

import numpy as np
import pytest
from scipy import special

from gendsl import (
    bernoulli,
    binom,
    exponential,
    gamma,
    gen,
    laplace,
    mixture,
    normal,
    poisson,
    select,
    student_t,
    uniform,
    uniform_discrete,
)
from gendsl.compiler.hir import For
from gendsl.compiler.hir.machine import LANES
from gendsl.compiler.llvm import native, vector_math
from gendsl.compiler.llvm.vector_math import FLOATS, INTEGERS
from gendsl.compiler.passes import axes
from gendsl.compiler.run.closed import ClosedDensity
from gendsl.inference import cycle, mh, sample, single_site
from gendsl.testing import running_on
from tests.compiler.closed_outcomes import NATIVE, outcome
from tests.compiler.lanes_programs import ByMachine, RandomLanes, agree, arguments

pytestmark = pytest.mark.skipif(not NATIVE, reason="there is no machine code here")
XS = [0.3, -1.2, 2.5, 0.0, 1.1, -0.4, 0.9, 3.0, -2.2, 0.7, 0.1, -0.6, 1.9, 0.5, -1.5, 2.1, 0.2, -0.8, 1.3]
GROUPS = [0, 2, 1, 1, 0, 2, 2, 0, 1, 0, 2, 1, 0, 0, 1, 2, 1, 0, 2]
RAGGED = [[1.0], [0.5, -0.5, 2.0], [], [0.1, 0.2], [1.5] * 5, [], [3.0], [0.4] * 4, [-1.0, 1.0], [2.0], [0.3]]


def softened(x, scale):
    """A helper that returns early for some, and goes through a loop for others."""
    if x < 0:
        return -math.log1p(-x / scale)
    total = 0.0
    for j in range(3):
        if j * 0.5 > x:
            break
        total += math.exp(-j * x)
    return total


@gen
def branches(xs):
    a = ~normal(0, 1)
    for i in range(len(xs)):
        x = xs[i]
        if x > a:
            shift = math.exp(-x)
            if x > 2:
                shift = shift + 1.0
        elif x == 0.0:
            shift = math.sin(a)
        else:
            shift = math.log(x * x)
        ("y", i) @ ~normal(shift, 1)


@gen
def skipped(xs):
    """Some have no choice, and what would fail is not come to."""
    a = ~normal(0, 1)
    for i, x in enumerate(xs):
        if x <= 0.0:
            continue
        ("y", i) @ ~normal(math.log(x) + math.sqrt(x), math.exp(a))


@gen
def helped(xs, scale):
    a = ~normal(0, 1)
    for i, x in enumerate(xs):
        ("y", i) @ ~normal(softened(x + a, scale), 1)


@gen
def ragged(groups):
    """Inner loops of other lengths in each iteration."""
    a = ~normal(0, 1)
    for i in range(len(groups)):
        total = 0.0
        for x in groups[i]:
            if x > 2.5:
                continue
            total += math.exp(a * x)
        ("y", i) @ ~normal(total, 1)


@gen
def until(xs):
    """A loop that ends elsewhere in each iteration."""
    a = ~normal(0, 1)
    for i, x in enumerate(xs):
        steps, value = 0, math.exp(x)
        while value > 0.5 and steps < 9:
            value = value * 0.5 + 0.01 * math.sin(a)
            steps += 1
        ("y", i) @ ~normal(value + steps, 1)


@gen
def lists(xs, groups):
    """Lists that are made in each iteration, whose items vary or do not, read and changed at any place."""
    k = ~uniform_discrete(1, 3)
    mu = [("mu", j) @ ~normal(0, 1) for j in range(3)]
    for i in range(len(xs)):
        terms = [math.exp(-((xs[i] - mu[j]) ** 2)) for j in range(k)]
        terms.append(0.25)
        terms[groups[i] % len(terms)] = math.sin(xs[i])
        terms[0] += 1.0
        plain = [1.0, 2.0, 3.0]
        ("y", i) @ ~normal(sum(terms) + terms[-1] + plain[groups[i]] + mu[groups[i] - 1], 1)


@gen
def collected(xs):
    a = ~normal(0, 1)
    rates = [math.exp(a * x) for x in xs]
    pairs = [(math.log(r), r) for r in rates]
    for i in range(len(xs)):
        ("y", i) @ ~normal(pairs[i][0] + pairs[i][1], 1)
    z @ ~normal(rates[-1], 1)


@gen
def chosen(xs):
    """Some items are not collected, as the iteration goes on before that."""
    a = ~normal(0, 1)
    rates, marks = [], []
    for i, x in enumerate(xs):
        rate = math.exp(x)
        if x < 0:
            if x > -1:
                continue
            rate = 0.5
        rates.append(rate + a)
        y = ("y", i) @ ~normal(rate, 1)
        if y < x:
            continue
        marks.append((y, i, x > 1))
    total = 0.0
    for rate in rates:
        total = 0.5 * total + rate
    for y, i, is_large in marks:
        total = 0.5 * total + y + i + is_large
    z @ ~normal(total + len(rates) + len(marks), 1)


@gen
def integers(xs, groups):
    a = ~normal(0, 1)
    for i in range(len(xs)):
        n = groups[i] * 3 - i
        m = n // 2 + n % 3 - (-n) // 4 + abs(n) + min(n, 2) + max(i, n)
        odd = n % 2 == 1 and not m > 5
        ("y", i) @ ~normal(math.exp(a / (1 + abs(m))) + n**2 + (1 if odd else 0) + int(a > 0), 1)


@gen
def before(xs):
    """What lies before the first is the last, as in Python."""
    a = ~normal(0, 1)
    for i in range(len(xs)):
        ("y", i) @ ~normal(math.exp(-abs(xs[i - 1])) + xs[i - 3] * a, 1)


@gen
def table(rows, columns):
    a = ~normal(0, 1)
    for i in range(rows):
        for j in range(columns):
            ("y", i, j) @ ~normal(math.exp(-a * a * (i + j)), 1)


@gen
def counts(xs):
    a = ~normal(0, 1)
    for i, x in enumerate(xs):
        ("n", i) @ ~poisson(math.exp(a + 0.1 * x))
        ("on", i) @ ~bernoulli(1 / (1 + math.exp(-x - a)))


@gen
def of_many_families(xs):
    s = ~gamma(2, 1)
    w = ~uniform(0.1, 0.9)
    for i, x in enumerate(xs):
        ("t", i) @ ~student_t(3, x, s)
        ("m", i) @ ~mixture([w, 1 - w], [laplace(x, s), normal(-x, 1 + s)])


@gen
def far(xs):
    """Numbers that underflow, for some."""
    a = ~normal(0, 1)
    for i, x in enumerate(xs):
        ("y", i) @ ~normal(math.exp(-400 * x * x) + math.exp(-745 + x), math.exp(a))


@gen
def out_of_reach(xs):
    """Of the second some are impossible."""
    a = ~normal(0, 1)
    for i, x in enumerate(xs):
        ("y", i) @ ~normal(math.exp(a), 1)
        ("w", i) @ ~exponential(math.exp(x))


@gen
def looked_up(xs, groups):
    """Items of lists that vary, at places that vary: of one number, of two, and from the end."""
    a = ~normal(0, 1)
    for i in range(len(xs)):
        terms = [math.exp(a * xs[i]), xs[i], a]
        pairs = [(xs[i], a), (math.sin(xs[i]), xs[i] * a), (0.5, xs[i])]
        one, two = pairs[groups[i]]
        ("y", i) @ ~normal(terms[groups[i]] - 2 * terms[-1 - groups[i]] + one - 3 * two, 1)


def decayed(distance, length):
    return np.exp(distance / length - 1.0)


@gen
def matrices(xs, rest):
    """Matrices: of what is known to lie row by row, row by row elsewhere; parts of them, and other orders."""
    a = ~normal(0, 1)
    d = np.abs(xs[:, None] - xs[None, :])
    grown = decayed(-0.5 * d**2, 2.0 + a * a) + np.where(d > 1.0, a, d.T)
    part = np.exp(grown[1:, ::2]) - grown[:-1, ::2]
    cube = np.exp(-(d[:, :, None] - np.array([a, 0.5])) ** 2) * 2.0
    mixed = np.sin(d.T / 3.0) + np.log1p(decayed(d, rest[:, None]) * rest)
    for i in range(len(xs) - 1):
        ("y", i) @ ~normal(grown[i].sum() + part[i].sum() + cube[i].sum() + mixed[:, i].sum(), 1)


z = "z"
MATRICES = (np.array(XS), np.array(XS) ** 2 + 1.0)
PROGRAMS = [
    (branches, (XS,)), (skipped, (XS,)), (helped, (XS, 2.0)), (ragged, (RAGGED,)), (until, (XS,)),
    (lists, (XS, GROUPS)), (collected, (XS,)), (chosen, (XS,)), (integers, (XS, GROUPS)),
    (before, (XS,)), (table, (3, 11)),
    (counts, (XS,)), (of_many_families, (XS,)), (far, (XS,)), (out_of_reach, (XS,)),
    (looked_up, (XS, GROUPS)), (matrices, MATRICES),
]  # fmt: skip


# --- lists of which each lane has its own -------------------------------------------------------------


@gen
def rows_of(table, ys):
    """A regression on the rows of a table, of any length."""
    b = [("b", j) @ ~normal(0, 1) for j in range(5)]
    for i, row in enumerate(table):
        mean = math.exp(-b[0] * b[0])
        for j in range(len(row)):
            mean += b[j] * row[j] + row[-1]
        ("y", i) @ ~normal(mean, 1)


class Part:
    def __init__(self, centre, weights):
        self.centre, self.weights = centre, weights

    def share(self, at):
        return math.exp(self.weights[at] - self.weights[-1])


@gen
def parts_of(groups):
    """Objects with lists, that an assignment looks up; None where there is none."""
    parts = []
    for j in range(3):
        parts.append(Part(("mu", j) @ ~normal(0, 1), [("w", j, c) @ ~normal(0, 1) for c in range(2)]))
    nothing = None
    for i, group in enumerate(groups):
        part = nothing if group == 2 else parts[group]
        mean = 0.0 if part is None else part.centre * part.share(group)
        ("y", i) @ ~normal(mean, math.exp(mean))


def length_of(row, x):
    """Helpers that are given a list, and one that gives one of two."""
    return math.exp(-len(row) * x * x)


def longer(row, other):
    return row if len(row) > len(other) else other


@gen
def handed_on(table, xs):
    a = ~normal(0, 1)
    for i in range(len(table)):
        row = longer(table[i], table[i - 1])
        mean = length_of(row, xs[i])
        if len(row) > 0:
            mean += row[0] * a
        ("y", i) @ ~normal(mean, 1)


@gen
def chosen_and_changed(xs):
    """One of two lists, of which one then grows, and what is chosen grows with it."""
    a = ~normal(0, 1)
    for i, x in enumerate(xs):
        one, other = [a, 0.5], [math.exp(a)]
        row = one if x > 0 else other
        one.append(2.5)
        ("y", i) @ ~normal(math.exp(-len(row)) + row[-1], 1)
        one[0] = 7.0
        ("z", i) @ ~normal(math.exp(-x * x) + row[0], 1)


@gen
def changed_as_chosen(xs):
    """What is chosen is changed, and the list that it is with it."""
    a = ~normal(0, 1)
    for i, x in enumerate(xs):
        one, other = [a, 0.5], [math.exp(a)]
        row = one if x > 0 else other
        row.append(math.exp(-x * x))
        ("y", i) @ ~normal(row[-1] + one[-1] + len(other), 1)


@gen
def made_apart(xs):
    """A list that is made here or there, of what is the same in all iterations, and then changed."""
    a = ~normal(0, 1)
    for i, x in enumerate(xs):
        row = [a] if x > 0 else [0.5, a]
        row.append(2.5)
        ("y", i) @ ~normal(math.exp(-x * x) + row[0] + len(row), 1)


@gen
def made_wide_apart(xs):
    """A list that is made here or there, of what varies."""
    a = ~normal(0, 1)
    for i, x in enumerate(xs):
        row = [x] if x > 0 else [0.5, a]
        ("y", i) @ ~normal(math.exp(-x * x) + row[0] + len(row), 1)


TABLES = [(rows_of, (RAGGED, XS)), (parts_of, (GROUPS,)), (handed_on, (RAGGED, XS))]
ALIASES = [
    (chosen_and_changed, (XS,)), (changed_as_chosen, (XS,)), (made_apart, (XS,)), (made_wide_apart, (XS,))
]  # fmt: skip


@pytest.mark.parametrize(("program", "args"), TABLES, ids=lambda one: getattr(one, "__name__", ""))
def test_lanes_read_lists_of_their_own(program, args, always):
    assert loops(program, args)[0] >= 1
    for seed in range(1, 4):
        assert outcome(program, args, rng=seed) == "equal"


@pytest.mark.parametrize(("program", "args"), ALIASES, ids=lambda one: getattr(one, "__name__", ""))
def test_lists_that_change_after_one_of_them_is_chosen(program, args, always):
    for seed in range(1, 4):
        assert outcome(program, args, rng=seed) == "equal"


@gen
def beyond(table):
    a = ~normal(0, 1)
    for i, row in enumerate(table):
        ("y", i) @ ~normal(math.exp(-row[1] * a), 1)


@pytest.mark.parametrize("at", [0, 6, LANES, 2 * LANES])
def test_an_index_out_of_the_range_of_one_row(at, always):
    table = [[0.5, 1.0, 2.0][: 3 - i % 2] for i in range(2 * LANES + 1)]
    choices = dict(beyond.simulate((table,), rng=np.random.default_rng(1)).choices)
    reference, machine = assessed(beyond, (table,), choices)
    assert machine == pytest.approx(reference, rel=1e-12)
    table[at] = [0.5]
    assert assessed(beyond, (table,), choices) == ["IndexError", "FailedText"]


@gen
def products(counts, size):
    a = ~normal(0, 1)
    for i, count in enumerate(counts):
        ("y", i) @ ~normal(math.exp(-a) + (count * size) % 7, 1)


@pytest.mark.parametrize("size", [3, -5, 1 << 20, 1 << 33])
def test_products_of_integers_of_any_size(size, always):
    """Products of lanes are those of Python, and fail where they have more than 64 bits."""
    for largest in (0, 1 << 31, -(1 << 31), (1 << 32) + 5, 1 << 40):
        counts = [*range(-4, LANES), largest]
        choices = dict(products.simulate((counts, size), rng=np.random.default_rng(1)).choices)
        reference, machine = assessed(products, (counts, size), choices)
        assert loops(products, (counts, size))[0] == 1
        if abs(largest * size) < 1 << 63:
            assert machine == pytest.approx(reference, rel=1e-12)
        else:
            assert machine == "FailedText"


@gen
def pairs(n):
    """Pairs whose second counts on from the first."""
    a = ~normal(0, 1)
    for i in range(n):
        for j in range(i + 1, n):
            ("edge", i, j) @ ~normal(math.exp(-a * (j - i)), 1)


@gen
def pairs_from_below(n):
    a = ~normal(0, 1)
    for i in range(-3, n):
        for j in range(i + 1, n):
            ("edge", i, j) @ ~normal(math.exp(-a * (j - i)), 1)


def test_counters_of_loops_around_are_not_negative(always):
    assert loops(pairs, (12,))[0] == 1
    assert outcome(pairs, (12,)) == "equal"
    assert loops(pairs_from_below, (12,))[0] == 0


def loops(program, args):
    """The loops of a program that run in lanes, and why the others over data do not."""
    closed = ClosedDensity(program, args)
    found = axes.Axes([closed.main])
    return len(found.loops), [why for _, _, why in found.reasons]


@pytest.fixture
def always(monkeypatch):
    """All loops that may run in lanes do."""
    monkeypatch.setattr(axes, "saved", lambda *_: 1.0)


@pytest.mark.parametrize(("program", "args"), PROGRAMS, ids=lambda one: getattr(one, "__name__", ""))
def test_a_loop_in_lanes_is_what_it_was(program, args, always):
    count, reasons = loops(program, args)
    assert count, reasons
    for seed in range(1, 4):
        assert outcome(program, args, rng=seed) == "equal"


@pytest.mark.parametrize("size", range(2 * LANES + 2))
def test_any_number_of_iterations(size, always):
    for program in (branches, lists, collected) if size else (branches,):
        args = (XS[:size], GROUPS[:size]) if program is lists else (XS[:size],)
        assert outcome(program, args) == "equal"


def assessed(program, args, choices):
    """What the log density is by the reference, and as machine code; or what is raised."""
    closed, found = ClosedDensity(program, args), []
    for assess in (program.reference.assess, closed.assess_native):
        try:
            value = assess(args, choices)
            found.append(getattr(value, "log_prob", value) if not isinstance(value, tuple) else value[0])
        except Exception as error:  # which is asked for
            found.append(type(error).__name__)
    return found


def test_what_is_impossible_for_one_of_them(always):
    choices = dict(out_of_reach.simulate((XS,), rng=np.random.default_rng(1)).choices)
    for at in (0, 5, LANES, len(XS) - 1):
        reference, machine = assessed(out_of_reach, (XS,), {**choices, ("w", at): -1.0})
        assert reference == machine == -math.inf


@gen
def may_fail(xs, bad):
    a = ~normal(0, 1)
    for i in range(len(xs)):
        value = 1.0 / (xs[i] - bad) if i != 3 else 2.0
        ("y", i) @ ~normal(math.log(value * value) + a, 1)


@pytest.mark.parametrize("bad", [*XS[:2], XS[10], XS[-1]])
def test_an_error_in_one_iteration_is_one_of_all(bad, always):
    choices = dict(may_fail.simulate((XS, 9.5), rng=np.random.default_rng(1)).choices)
    reference, machine = assessed(may_fail, (XS, bad), choices)
    assert reference == "ZeroDivisionError" and machine == "FailedText"


def test_an_error_of_an_iteration_that_does_not_come_to_it_is_none(always):
    choices = dict(may_fail.simulate((XS, 9.5), rng=np.random.default_rng(1)).choices)
    reference, machine = assessed(may_fail, (XS, XS[3]), choices)
    assert machine == pytest.approx(reference, rel=1e-12)


def test_a_choice_that_is_missing_or_made_twice(always):
    choices = dict(branches.simulate((XS,), rng=np.random.default_rng(1)).choices)
    for at in (0, 7, LANES, len(XS) - 1):
        less = {path: value for path, value in choices.items() if path != ("y", at)}
        assert isinstance(assessed(branches, (XS,), less)[1], str)


@gen
def twice(n):
    for i in range(n):
        ("y", i) @ ~normal(math.exp(-i), 1)
        ("y", i + 1) @ ~normal(math.exp(-i), 1)


def test_an_address_that_is_used_twice(always):
    choices = {("y", i): 0.5 for i in range(12)}
    assert loops(twice, (11,))[0] == 1
    assert all(isinstance(one, str) for one in assessed(twice, (11,), choices))


# --- choices that lie anywhere ----------------------------------------------------------------------

PLACES = [3, 17, 0, 8, 2, 11, 5, 13, 30, 1, 21, 19, 4, 7, 40, 6, 9, 12, 35]
EDGES = [(i * 7 % 5, i * 3 % 11) for i in range(LANES * 2 + 3)]


@gen
def anywhere(places):
    """Choices whose indices are looked up, some of them in some iterations alone."""
    a = ~normal(0, 1)
    for i in places:
        y = ("y", i) @ ~normal(math.exp(-a * i / 50), 1)
        if y > 0.3:
            ("on", 2 * i + 1) @ ~bernoulli(math.exp(-y * y))


@gen
def of_edges(edges):
    a = ~normal(0, 1)
    for i, j in edges:
        ("edge", i, j) @ ~normal(math.exp(-a * abs(i - j)), 1)


@gen
def of_groups(groups):
    """The inner loop is the one over data, though both look their indices up."""
    a = ~normal(0, 1)
    for name, members in groups:
        b = ("b", name) @ ~normal(a, 1)
        for i in members:
            ("y", i) @ ~gamma(math.exp(b), 1)


MEMBERS = [(2, PLACES[:9]), (0, PLACES[9:]), (5, [22, 24])]


@pytest.mark.parametrize(
    ("program", "args"), [(anywhere, (PLACES,)), (of_edges, (EDGES,)), (of_groups, (MEMBERS,))]
)
def test_choices_that_lie_anywhere(program, args, always):
    count, reasons = loops(program, args)
    assert count == 1, reasons
    for seed in range(1, 6):
        assert outcome(program, args, rng=seed) == "equal"


@pytest.mark.parametrize("size", range(2 * LANES + 2))
def test_any_number_of_choices_that_lie_anywhere(size, always):
    assert outcome(anywhere, (PLACES[:size],)) == "equal"


@pytest.mark.parametrize("at", [0, 5, LANES, len(PLACES) - 1])
def test_one_that_is_missing_twice_or_impossible(at, always):
    choices = {("y", i): -0.5 for i in PLACES} | {"a": 0.1}
    less = {path: value for path, value in choices.items() if path != ("y", PLACES[at])}
    assert assessed(anywhere, (PLACES,), less)[1] == "FailedText"
    for again in (0, LANES - 1, LANES + 2):
        if again != at:
            places = list(PLACES)
            places[at] = places[again]
            assert assessed(anywhere, (places,), choices)[1] == "FailedText"
    assert assessed(anywhere, ([*PLACES[:at], -1],), choices)[1] == "FailedText"
    positive = {("y", i): 0.5 for _, members in MEMBERS for i in members} | {("b", n): 0.1 for n in (0, 2, 5)}
    one = MEMBERS[1][1][at % 10]
    reference, machine = assessed(of_groups, (MEMBERS,), {**positive, "a": 0.2, ("y", one): -1.0})
    assert reference == machine == -math.inf


def test_steps_that_write_choices_that_lie_anywhere(always):
    start = anywhere.simulate((PLACES,), rng=2)
    kernel = cycle(single_site(select("y", "on")), mh(select("a")))
    found = []
    for runtime in ("reference", "native"):
        with running_on(runtime):
            run = sample(kernel, start, 60, seed=4, progress=False)
            found.append([dict(trace.choices) for trace in run.traces])
    for reference, machine in zip(*found, strict=True):
        assert machine == pytest.approx(reference, rel=1e-9)
    assert len({len(one) for one in found[0]}) > 1


# --- which loops -------------------------------------------------------------------------------------


@gen
def goes_on(xs):
    a = ~normal(0, 1)
    state = 0.0
    for i, x in enumerate(xs):
        state = math.exp(-abs(a * state)) + x
        ("y", i) @ ~normal(state, 1)


@gen
def few(xs):
    k = ~uniform_discrete(1, 4)
    for j in range(k):
        ("mu", j) @ ~normal(math.exp(-j), 1)


@gen
def grows(xs):
    """A list that is read while it grows."""
    a = ~normal(0, 1)
    found = [1.0]
    for i, x in enumerate(xs):
        found.append(math.exp(-abs(x)) + found[-1] * a)
        ("y", i) @ ~normal(found[i], 1)


@gen
def marks(xs, groups):
    """A list that is made before is changed at places that vary."""
    a = ~normal(0, 1)
    seen = [0.0, 0.0, 0.0]
    for i, x in enumerate(xs):
        seen[groups[i]] += math.exp(-x * x)
        ("y", i) @ ~normal(seen[groups[i]] + a, 1)


@pytest.mark.parametrize(
    ("program", "args"),
    [(goes_on, (XS,)), (few, (XS,)), (grows, (XS,)), (marks, (XS, GROUPS))],
)
def test_what_needs_the_iteration_before_runs_in_order(program, args):
    assert loops(program, args)[0] == 0
    assert outcome(program, args) == "equal"


@gen
def gathers(xs, groups):
    """Lookups at places that vary, and one exponential for all."""
    a = ~normal(0, 1)
    scale = math.exp(a)
    for i in range(len(xs)):
        place = groups[groups[groups[i]]]
        while place < 3 and xs[place] < a:
            place += 1
        ("y", i) @ ~normal(xs[place] + xs[groups[i]], scale)


def test_what_lanes_do_not_make_faster_runs_in_order():
    count, reasons = loops(gathers, (XS, GROUPS))
    assert count == 0 and "lanes would save nothing" in reasons
    assert loops(branches, (XS,))[0] == 1


@gen
def counts(rows):
    """Effects in a dict, and counts, whose density has another form where they are above 10^5."""
    effects = {}
    for a in range(2):
        effects[a, a] = ~normal(0, 0.5)
        effects[a, a + 1] = ~normal(0, 0.5)
    for i, row in enumerate(rows):
        eta = 0.5
        for (a, b), effect in effects.items():
            eta += effect * row[a] * (1.0 if a == b else row[b])
        ("count", i) @ ~poisson(math.exp(min(eta, 8.0)))


@gen
def hits(trials):
    """Whose density has another form where there are many trials and both hits and misses: of two tests."""
    a = ~normal(0, 1)
    for i, n in enumerate(trials):
        ("hits", i) @ ~binom(n, 1 / (1 + math.exp(a - 0.1 * i)))


@pytest.mark.parametrize("program", [counts, hits], ids=lambda one: one.__name__)
def test_what_surely_is_rare_does_not_keep_a_loop_out_of_lanes(program):
    rng = np.random.default_rng(1)
    given = (rng.normal(size=(20, 3)) if program is counts else rng.integers(1, 30, 20)).tolist()
    assert loops(program, (given,))[0] == 1
    assert outcome(program, (given,)) == "equal"


# --- random functions ---------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [False, True])
def test_random_functions_mean_the_same(rows, monkeypatch):
    monkeypatch.setattr(axes, "saved", lambda *_: 1.0)
    counted = differing = 0
    for seed in range(40):
        main = RandomLanes(seed, rows=rows).main()
        (loop,) = (one for one in main.body if isinstance(one, For))
        if id(loop) not in axes.Axes([main]).loops:
            continue
        counted += 1
        in_lanes = ByMachine(main)
        with monkeypatch.context() as patch:
            patch.setattr(axes.Axes, "of_loop", _none)
            plain = ByMachine(main)
        differing += in_lanes.text != plain.text
        for place in range(4):
            given = arguments(random.Random(4 * seed + place))
            expected, found = plain(given), in_lanes(given)
            assert agree(expected, found, 1e6), (seed, place, given, expected, found)
    assert counted > 25 and differing == counted


def _none(*_):
    raise axes.NotLanesError("not now")


# --- functions of numbers -----------------------------------------------------------------------------

RANDOM = np.random.default_rng(1)
SPECIAL = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    math.inf,
    -math.inf,
    math.nan,
    5e-324,
    1e-300,
    1e300,
    -745.0,
    710.0,
    1e6,
    0.5,
]
POINTS = {
    "exp": np.concatenate([RANDOM.uniform(-745, 709, 3000), RANDOM.normal(0, 1, 3000)]),
    "log": np.concatenate([np.exp(RANDOM.uniform(-740, 700, 3000)), RANDOM.uniform(0.5, 2, 3000)]),
    "log1p": np.concatenate([RANDOM.uniform(-1, 2, 3000), np.exp(RANDOM.uniform(-700, 600, 3000))]),
    "sin": np.concatenate([RANDOM.uniform(-10, 10, 3000), np.arange(1, 2000) * math.pi / 2, [2e5, -3e8]]),
    "cos": np.concatenate([RANDOM.uniform(-10, 10, 3000), np.arange(1, 2000) * math.pi / 2, [2e5, -3e8]]),
    "lgamma": np.concatenate(
        [np.exp(RANDOM.uniform(-600, 30, 2000)), np.arange(1, 500), [1 + 1e-9, 2 - 1e-9]]
    ),
    "gendsl_special_expit": np.concatenate([RANDOM.uniform(-40, 40, 2000), RANDOM.uniform(-700, 700, 500)]),
}
EXACT = {
    "exp": math.exp, "log": math.log, "log1p": math.log1p, "sin": math.sin, "cos": math.cos,
    "lgamma": math.lgamma, "gendsl_special_expit": special.expit,
}  # fmt: skip
UNITS = {"lgamma": 5, "gendsl_special_expit": 3}


def compiled(symbol):
    """A function of arrays: its values by vector code, and where that leaves a lane, as in a loop."""
    import llvmlite.binding as llvm

    extra = ", i32 0" if "special" in symbol else ""
    both, name = f"{{{FLOATS}, {INTEGERS}}}", vector_math.name_of(symbol)
    active = vector_math.splat("-1", "i64")
    text = f"""
{vector_math.DECLARATIONS}
declare double @{symbol}(double{extra.replace(" 0", "")}) nounwind
{vector_math.function(symbol, 1, extra)}
define void @run(ptr %x, ptr %y, ptr %left) {{
  %given = load {FLOATS}, ptr %x, align 8
  %both = call {both} @{name}({FLOATS} %given, {INTEGERS} {active})
  %some = extractvalue {both} %both, 0
  %mask = extractvalue {both} %both, 1
  %all = call {FLOATS} @{name}_one_by_one({FLOATS} %given, {FLOATS} %some, {INTEGERS} %mask)
  store {FLOATS} %all, ptr %y, align 8
  store {INTEGERS} %mask, ptr %left, align 8
  ret void
}}
"""
    if "special" in symbol:
        native._symbol(symbol.removeprefix("gendsl_special_"))
    machine = native._machine()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(text), machine)
    engine.finalize_object()
    run = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3)(engine.get_function_address("run"))

    def values(points):
        given = np.zeros(-(-len(points) // LANES) * LANES)
        given[: len(points)] = points
        found, left = np.zeros_like(given), np.zeros(len(given), np.int64)
        for at in range(0, len(given), LANES):
            run(*(array[at:].ctypes.data for array in (given, found, left)))
        return found[: len(points)], left[: len(points)] != 0

    values.engine = engine
    return values


@pytest.mark.parametrize("symbol", POINTS)
def test_functions_on_lanes_are_as_exact_as_others(symbol):
    function = compiled(symbol)
    found, left = function(POINTS[symbol])
    expected = np.array([EXACT[symbol](x) for x in POINTS[symbol]])
    size = np.maximum(np.abs(expected), 1.0) if symbol == "lgamma" else np.abs(expected)
    units = np.abs(found - expected) / np.spacing(np.maximum(size, 2.3e-308))
    assert units.max() <= UNITS.get(symbol, 1)
    assert (found[left] == expected[left]).all()
    assert 0.5 < 1 - left.mean() <= 1  # most are computed at once


@pytest.mark.parametrize("symbol", POINTS)
def test_numbers_of_all_kinds(symbol):
    points = np.array(SPECIAL if symbol != "lgamma" else [x for x in SPECIAL if x not in (-math.inf, 5e-324)])
    found, _ = compiled(symbol)(points)
    with np.errstate(all="ignore"):
        of_arrays = {"lgamma": special.gammaln, "gendsl_special_expit": special.expit}.get(symbol)
        expected = (of_arrays or getattr(np, symbol))(points)
    np.testing.assert_allclose(found, expected, rtol=4e-16, atol=4e-16 if symbol == "lgamma" else 0)


def test_what_is_far_below_has_the_exponential_0_without_the_c_library():
    points = np.array([-746.1, -800.0, -1e300, -math.inf, -745.0, -709.0, -707.0, math.nan, 710.0])
    found, left = compiled("exp")(points)
    assert left.tolist() == [False] * 4 + [True, True, False, True, True]
    assert found[:7].tolist() == [math.exp(x) for x in points[:7]]


def test_the_text_says_how_a_loop_runs():
    assert "for i in range(n):  # in lanes\n" in ClosedDensity(branches, (XS,)).text
    assert "in order: an iteration goes on from state" in ClosedDensity(goes_on, (XS,)).text


def test_the_entries_of_a_matrix_are_those_of_one_loop():
    text = ClosedDensity(matrices, MATRICES).text
    body = text[text.index("def matrices(") :].split("\n\n")[0].splitlines()
    exps = [body[at - 2] for at, line in enumerate(body) if "] = 2.0 * np_exp(" in line or "np_exp(-" in line]
    assert exps and all("in lanes" in head for head in exps)
    helper = text[text.index("def decayed(") :].split("\n\n")[0]
    assert "for j in range(distance_3):  # in lanes" in helper
