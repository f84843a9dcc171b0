"""What costs much and depends on an index alone is computed once for each; and again where it may differ."""

import math
import re

import numpy as np
import pytest

from gendsl import categorical, gen, mvnormal, normal, uniform_discrete
from gendsl.compiler import hir
from gendsl.compiler.passes import axes, memoise
from gendsl.compiler.run.closed import ClosedDensity
from tests.compiler.closed_outcomes import NATIVE, outcome, raises_everywhere

MEANS = [[0.0, 1.0], [2.0, -1.0], [5.0, 5.0]]
COVS = [[[1.0, 0.1], [0.1, 2.0]], [[3.0, 0.0], [0.0, 1.0]], [[2.0, -0.5], [-0.5, 2.0]]]
WEIGHTS = [0.2, 0.5, 0.3]


@gen
def mixture(n, means, covs):
    for i in range(n):
        c = ("z", i) @ ~categorical(WEIGHTS)
        ("y", i) @ ~mvnormal(means[c], covs[c])


@gen
def learnt_mixture(n, k, covs):
    means = [("mean", j) @ ~mvnormal(np.zeros(2), np.eye(2)) for j in range(k)]
    for i in range(n):
        c = ("z", i) @ ~categorical([1 / k] * k)
        ("y", i) @ ~mvnormal(means[c], covs[c])


def scaled(row, x):
    """A list of numbers, and their sum."""
    found = []
    for a in row:
        assert a < 100.0
        found.append(a * x)
    return found, sum(found)


def total(row):
    """A number that is found by way of a list."""
    return scaled(row, 2.0)[0][-1] + len(sorted(row))


@gen
def numbers_alone(n, rows):
    for i in range(n):
        c = ("z", i) @ ~categorical(WEIGHTS)
        ("y", i) @ ~normal(total(rows[c]), 1)


@gen
def of_records(n, rows):
    data = [(rows[j], 1.0 + j) for j in range(3)]
    for i in range(n):
        c = ("z", i) @ ~categorical(WEIGHTS)
        found, whole = scaled(data[c][0], data[c][1])
        ("y", i) @ ~normal(found[0] + whole + found[-1], 1)


@gen
def of_dicts(n, rows):
    data = [{"row": rows[j], "by": 1.0 + j} for j in range(3)]
    for i in range(n):
        c = ("z", i) @ ~categorical(WEIGHTS)
        found, whole = scaled(data[c]["row"], data[c]["by"])
        ("y", i) @ ~normal(found[0] + whole + found[-1], 1)


@gen
def changed_rows(n, rows):
    own = [list(row) for row in rows]
    for i in range(n):
        c = ("z", i) @ ~categorical(WEIGHTS)
        ("y", i) @ ~normal(total(own[c]), 1)
        own[c][0] += 1.0


@gen
def other_rows(n, rows):
    own = [list(row) for row in rows]
    for i in range(n):
        c = ("z", i) @ ~categorical(WEIGHTS)
        ("y", i) @ ~normal(total(own[c]), 1)
        own[c] = own[c - 1]


@gen
def changed_results(n, rows):
    for i in range(n):
        c = ("z", i) @ ~categorical(WEIGHTS)
        found, whole = scaled(rows[c], 2.0)
        found[0] += 1.0
        ("y", i) @ ~normal(found[0] + whole, 1)


@gen
def kept_results(n, rows):
    kept = []
    for i in range(n):
        c = ("z", i) @ ~categorical(WEIGHTS)
        found, whole = scaled(rows[c], 2.0)
        kept.append(found)
        ("y", i) @ ~normal(whole, 1)
    for one in kept:
        one[0] += 1.0
    ("s", 0) @ ~normal(sum([one[0] for one in kept]), 1)


@gen
def of_two_indices(n, rows):
    before = 0
    for i in range(n):
        c = ("z", i) @ ~categorical(WEIGHTS)
        found, whole = scaled(rows[c], rows[before][0])
        ("y", i) @ ~normal(found[0] + whole, 1)
        before = c


@gen
def carried(n, rows):
    z = 0
    for i in range(n):
        row = rows[z]
        z = ("z", i) @ ~categorical(WEIGHTS)
        found, whole = scaled(row, 1.0)
        ("y", i) @ ~normal(found[0] + whole, 1)


def one_more(row, x):
    return sum([a + x for a in row])


@gen
def into_itself(n, rows):
    for i in range(n):
        c = ("z", i) @ ~categorical(WEIGHTS)
        x = rows[c][0]
        x = one_more(rows[c], x)
        ("y", i) @ ~normal(x, 1)


@gen
def grown_outside(n, rows):
    x = 0.0
    for i in range(n):
        c = ("z", i) @ ~categorical(WEIGHTS)
        x = one_more(rows[c], x) % 7.0
        ("y", i) @ ~normal(x, 1)


@gen
def in_branches(n, rows):
    for i in range(n):
        c = ("z", i) @ ~categorical(WEIGHTS)
        row = rows[c]
        if c == 1:
            row = rows[c - 1]
            c = 2
        if i % 2:
            ("y", i) @ ~normal(total(row) + total(rows[c]), 1)


@gen
def in_inner_loops(n, rows):
    for i in range(2):
        base = ("x", i) @ ~normal(0, 1)
        for j in range(n):
            c = ("z", i, j) @ ~categorical(WEIGHTS)
            d = 0
            for k in range(2):
                found, whole = scaled(rows[c], base)
                more, _ = scaled(rows[d], 2.0)
                ("y", i, j, k) @ ~normal(found[0] + whole + more[0], 1)
                d = c


@gen
def from_the_end(n, rows):
    for i in range(n):
        c = ("z", i) @ ~uniform_discrete(-3, 2)
        found, whole = scaled(rows[c], 1.0)
        ("y", i) @ ~normal(found[0] + whole, 1)


@gen
def far_apart(n, many):
    for i in range(n):
        c = ("z", i) @ ~uniform_discrete(0, 999)
        found, whole = scaled([many[c], 1.0], 1.0)
        ("y", i) @ ~normal(found[0] + whole + total([many[c]]), 1)


def in_one_group(rows, labels):
    """A table in a function that is called in a loop."""
    whole = 0.0
    for c in labels:
        found, one = scaled(rows[c], 0.25)
        whole += found[0] + one
    return whole


@gen
def many_groups(n, rows):
    labels = [("z", i) @ ~categorical(WEIGHTS) for i in range(n)]
    for i in range(n):
        ("y", i) @ ~normal(in_one_group(rows, labels) + i, 1)


ROWS = [[1.0, 2.0], [3.0, -1.0], [0.5, 0.25]]
KEPT = [numbers_alone, of_records, carried, in_inner_loops, from_the_end, many_groups]
"""Programs of which something is computed once for each index."""
OTHERS = [
    changed_rows, other_rows, changed_results, kept_results, of_two_indices, into_itself, grown_outside,
]  # fmt: skip
"""Programs of which nothing may be."""


@pytest.mark.parametrize("rows", [ROWS, np.array(ROWS), [np.array(row) for row in ROWS]], ids=str)
@pytest.mark.parametrize("model", [*KEPT, *OTHERS, of_dicts, in_branches], ids=lambda model: model.__name__)
def test_what_is_kept_is_what_would_be_computed(model, rows):
    for n in (0, 1, 2, 7, 30):
        for rng in (1, 2):
            assert outcome(model, (n, rows), rng=rng).startswith(("equal", "refused", "raised")), n
    assert outcome(model, (30, ROWS)) == "equal"


def text_of(model, args):
    return ClosedDensity(model, model.reference.simulate(args, rng=1).args).text


@pytest.mark.parametrize("model", KEPT, ids=lambda model: model.__name__)
def test_what_depends_on_an_index_alone_is_kept(model):
    assert "known = [" in text_of(model, (9, ROWS))


@pytest.mark.parametrize("model", OTHERS, ids=lambda model: model.__name__)
def test_what_may_be_another_is_not(model):
    assert "if not is_known" not in text_of(model, (9, ROWS))


@pytest.mark.parametrize("covs", [COVS, np.array(COVS), [np.array(cov) for cov in COVS]], ids=str)
@pytest.mark.parametrize("n", [0, 1, 5, 40])
def test_a_covariance_is_factorised_once_for_each_label(covs, n):
    means = [np.array(mean) for mean in MEANS]
    covs = covs if isinstance(covs, np.ndarray) else [np.array(cov) for cov in covs]
    for model, args in ((mixture, (n, means, covs)), (learnt_mixture, (n, 3, covs))):
        assert outcome(model, args) == "equal"
        assert "if not is_known" in text_of(model, args)


def test_there_are_as_few_factorisations_as_labels():
    means, covs = [np.array(mean) for mean in MEANS], [np.array(cov) for cov in COVS]
    trace = mixture.reference.simulate((50, means, covs), rng=3)
    closed = ClosedDensity(mixture, trace.args)
    calls = []
    inner = closed.python["check_mvnormal"]
    closed.python["check_mvnormal"] = lambda *given: calls.append(1) or inner(*given)
    found = closed.assess_python(trace.args, dict(trace.choices.items()))
    assert found == pytest.approx(trace.log_prob)
    assert len(calls) == len({trace["z", i] for i in range(50)})


@pytest.mark.parametrize("n", [3, 20])
def test_a_bad_item_only_counts_where_it_is_come_to(n):
    """A matrix that is no covariance, for a label that no observation has, or one has."""
    means, covs = [np.array(mean) for mean in MEANS], [np.array(cov) for cov in COVS]
    choices = {("y", i): np.array([0.1 * i, 1.0]) for i in range(n)}
    choices |= {("z", i): i % 2 for i in range(n)}
    bad = [*covs[:2], -np.eye(2)]
    expected = mixture.reference.assess((n, means, covs), choices)[0]
    closed = ClosedDensity(mixture, (n, means, bad))
    for way in [closed.assess_python, closed.assess_native] if NATIVE else [closed.assess_python]:
        assert way((n, means, bad), choices) == pytest.approx(expected, rel=1e-12)
    raises_everywhere(mixture, (n, means, bad), {**choices, ("z", n - 1): 2})


@pytest.mark.parametrize("bad", [3, 7, -4])
def test_an_index_out_of_range_raises(bad):
    choices = {("y", i): 0.5 for i in range(9)} | {("z", i): i % 3 for i in range(9)}
    raises_everywhere(from_the_end_wide, (9, ROWS), {**choices, ("z", 8): bad})
    raises_everywhere(from_the_end_wide, (9, []), choices)


@gen
def from_the_end_wide(n, rows):
    for i in range(n):
        c = ("z", i) @ ~uniform_discrete(-9, 9)
        found, whole = scaled(rows[c], 1.0)
        ("y", i) @ ~normal(found[0] + whole, 1)


def test_more_indices_than_there_is_room_for_are_computed_each_time():
    many = [0.01 * j for j in range(1000)]
    assert memoise.MOST < 1000
    assert outcome(far_apart, (600, many)) == "equal"


def integer(name):
    return hir.Var(name, "i")


def loaded(target, index):
    return hir.Load([integer(target)], hir.Var("rows", "r"), ("i",), integer(index))


def called(target, some, other):
    """A call of a function of two integers that makes a list."""
    x, y = integer("x"), integer("y")
    body = [hir.New(hir.Var("made", "r"), ("i",), [(x,)]), hir.Return([y])]
    function = hir.Function("costly", [x, y], ["i"], body)
    return hir.Call([integer(target)], function, [integer(some), integer(other)])


def loop(counter, body, label):
    return hir.For(integer(counter), hir.Const(0, "i"), integer("n"), hir.Const(1, "i"), body, label)


def keeps(*body):
    """Whether anything is kept of a loop that sets z, an index, and x, which depends on it, first."""
    rows, n = hir.Var("rows", "r"), integer("n")
    whole = loop("i", [loaded("z", "i"), loaded("x", "z"), *body], 1)
    main = hir.Function("main", [rows, n], ["i"], [whole, hir.Return([n])])
    return memoise.memoise([main]) == [main]


def test_an_index_that_is_set_meanwhile_is_another():
    assert keeps(called("y", "x", "z"))
    assert not keeps(loaded("z", "i"), called("y", "x", "z"))


def test_an_index_that_an_iteration_of_an_inner_loop_sets_is_another_in_the_next():
    assert keeps(loop("j", [called("y", "x", "z"), loaded("w", "j")], 2))
    assert not keeps(loop("j", [called("y", "x", "z"), loaded("x", "z"), loaded("z", "j")], 2))


def test_what_is_looked_up_is_not_put_in_place_of_what_a_call_is_given():
    assert not keeps(called("x", "x", "z"))
    assert not keeps(called("z", "x", "z"))


# --- functions that give no lists, whose loops may run in lanes ---------------------------------------


def climbed(x, scale):
    """Numbers of all kinds, found by a loop; it fails for a negative x."""
    assert x >= 0.0
    total, count = 0.0, 0
    while total < x:
        total += scale / (1.0 + 0.1 * count)
        count += 1
    return total, count, count > 2


def steps_to(x):
    """An integer, by a loop."""
    count = 0
    while count * 0.5 < x:
        count += 1
    return count


def not_a_number_at_first(x):
    if x < 1.0:
        return math.inf - math.inf
    return climbed(x, 1.0)[0]


def checked(x):
    assert steps_to(x) < 50


@gen
def of_all_kinds(n, xs):
    for i in range(n):
        c = ("z", i) @ ~categorical(WEIGHTS)
        x, count, many = climbed(xs[c], 1.0)
        ("y", i) @ ~normal(x + count if many else -x, 1.0)


@gen
def of_integers(n, xs):
    for i in range(n):
        c = ("z", i) @ ~categorical(WEIGHTS)
        ("y", i) @ ~normal(steps_to(xs[c]), 1.0)


@gen
def of_no_number(n, xs):
    for i in range(n):
        c = ("z", i) @ ~categorical(WEIGHTS)
        x = not_a_number_at_first(xs[c])
        ("y", i) @ ~normal(0.5 if x != x else x, 1.0)


@gen
def of_no_result(n, xs):
    for i in range(n):
        c = ("z", i) @ ~categorical(WEIGHTS)
        checked(xs[c])
        ("y", i) @ ~normal(xs[c], 1.0)


@gen
def of_keys(n, xs):
    values = {3 * j - 1: xs[j] for j in range(3)}
    for i in range(n):
        c = ("z", i) @ ~categorical(WEIGHTS)
        ("y", i) @ ~normal(values[3 * c - 1], 1.0)


@gen
def of_both_ends(n, xs):
    for i in range(n):
        c = ("z", i) @ ~uniform_discrete(-3, 2)
        ("y", i) @ ~normal(climbed(xs[c], 0.5)[0], 1.0)


@gen
def of_large_indices(n, xs):
    for i in range(n):
        c = ("z", i) @ ~uniform_discrete(0, 999)
        ("y", i) @ ~normal(climbed(xs[c % 3] + 0.001 * c, 0.5)[0], 1.0)


@gen
def of_some(n, xs):
    """It is asked in branches, twice with the same arguments, and with others that have the same name."""
    for i in range(n):
        c = ("z", i) @ ~categorical(WEIGHTS)
        x = xs[c]
        mean = 0.0
        if i % 3:
            mean = steps_to(x) + steps_to(c) + 0.1
        x = xs[-1 - c]
        if c != 1:
            mean = mean + steps_to(x) + 2.0 * steps_to(c)
        ("y", i) @ ~normal(mean, 1.0)


@gen
def of_what_changes(n, xs):
    own = list(xs)
    for i in range(n):
        c = ("z", i) @ ~categorical(WEIGHTS)
        ("y", i) @ ~normal(found_in(own, c), 1.0)
        own[c] = own[c] + 0.5


def found_in(xs, c):
    count = 0
    while count * 0.5 < xs[c]:
        count += 1
    return 0.5 * count


@gen
def of_two(n, xs):
    before = 0
    for i in range(n):
        c = ("z", i) @ ~categorical(WEIGHTS)
        ("y", i) @ ~normal(climbed(xs[c], 1.0 + before)[0], 1.0)
        before = c


XS = [0.5, 3.0, 7.25]
NUMBERS = [
    of_all_kinds, of_integers, of_no_number, of_no_result, of_keys, of_both_ends, of_large_indices, of_some,
]  # fmt: skip


@pytest.fixture(params=[False, True], ids=["as it pays", "always in lanes"])
def lanes(request, monkeypatch):
    if request.param:
        monkeypatch.setattr(axes, "saved", lambda *_: 1.0)


@pytest.mark.parametrize("model", [*NUMBERS, of_what_changes, of_two], ids=lambda model: model.__name__)
def test_numbers_that_are_kept_are_what_would_be_computed(model, lanes):
    for n in (1, 2, 3, 4, 5, 7, 8, 9, 30, 600):
        for rng in (1, 2):
            assert outcome(model, (n, XS), rng=rng) == "equal", n


@pytest.mark.parametrize("model", NUMBERS, ids=lambda model: model.__name__)
def test_loops_that_keep_numbers_run_in_lanes(model, lanes, monkeypatch):
    monkeypatch.setattr(axes, "saved", lambda *_: 1.0)
    assert re.search(r"\.?known\w*\[place\w*\]", text := text_of(model, (30, XS))), text
    closed = ClosedDensity(model, (30, XS))
    found = axes.Axes([closed.main])
    assert found.loops, found.reasons


@pytest.mark.parametrize("model", [of_what_changes, of_two], ids=lambda model: model.__name__)
def test_numbers_that_may_be_others_are_not_kept(model):
    kept = re.findall(r"(climbed|found_in)\w*\(state.*\n *if place", text := text_of(model, (30, XS)))
    assert not kept, text


@pytest.mark.parametrize("n", [1, 9, 30])
def test_a_number_that_fails_only_counts_where_it_is_come_to(n, lanes):
    """A function that fails for a label that no observation has, or one has."""
    choices = {("y", i): 0.5 for i in range(n)} | {("z", i): i % 2 for i in range(n)}
    for bad in ([0.5, 3.0, -1.0], [0.5, 3.0]):
        expected = of_all_kinds.reference.assess((n, bad), choices)[0]
        closed = ClosedDensity(of_all_kinds, (n, bad))
        for way in [closed.assess_python, closed.assess_native] if NATIVE else [closed.assess_python]:
            assert way((n, bad), choices) == pytest.approx(expected, rel=1e-12)
        for at in (0, n // 2, n - 1):
            raises_everywhere(of_all_kinds, (n, bad), {**choices, ("z", at): 2})


@pytest.mark.parametrize("bad", [3, 7, 300, 10**6, -4])
def test_an_index_of_numbers_out_of_range_raises(bad, lanes):
    choices = {("y", i): 0.5 for i in range(9)} | {("z", i): i % 3 for i in range(9)}
    raises_everywhere(of_any_index, (9, XS), {**choices, ("z", 4): bad})


@gen
def of_any_index(n, xs):
    for i in range(n):
        c = ("z", i) @ ~uniform_discrete(-(10**7), 10**7)
        ("y", i) @ ~normal(found_in(xs, c), 1.0)


def test_calls_with_the_same_arguments_share_a_table():
    text = text_of(of_some, (30, XS))
    looked = re.findall(r"(known\w*)\[place\w*\]\n.*\n *\w+ = (steps_to\w*\(state, \w+\))", text)
    assert len(looked) == 4 and len(set(looked)) == 3, text


def test_numbers_are_computed_once_for_each_label_in_order():
    trace = of_integers.reference.simulate((50, XS), rng=3)
    closed = ClosedDensity(of_integers, trace.args)
    calls = []
    inner = closed.python["steps_to"]
    closed.python["steps_to"] = lambda *given: calls.append(1) or inner(*given)
    found = closed.assess_python(trace.args, dict(trace.choices.items()))
    assert found == pytest.approx(trace.log_prob)
    assert len(calls) <= len({trace["z", i] for i in range(50)})


def test_calls_whose_arguments_were_set_anew_share_no_table():
    x = integer("x")
    function = hir.Function("costly", [x], ["i"], [loop("j", [], 2), hir.Return([x])])
    other = hir.Load([x], hir.Var("others", "r"), ("i",), integer("z"))
    calls = [hir.Call([integer(name)], function, [x]) for name in "ab"]
    whole = loop("i", [loaded("z", "i"), loaded("x", "z"), calls[0], other, calls[1]], 1)
    given = [hir.Var("rows", "r"), hir.Var("others", "r"), integer("n")]
    main = hir.Function("main", given, ["i"], [whole, hir.Return([integer("n")])])
    assert memoise.memoise([main]) == [main]
    assert sum(isinstance(one, hir.Fill) for one in main.body) == 2


@pytest.mark.parametrize("labels", [[-3, 2, -2, 2], [2, -3, 2, -3], [-3, 1, -2]], ids=str)
def test_indices_from_the_end_are_not_taken_for_others(labels, lanes):
    n = len(labels)
    choices = {("y", i): 0.5 for i in range(n)} | {("z", i): label for i, label in enumerate(labels)}
    expected = of_both_ends.reference.assess((n, XS), choices)[0]
    closed = ClosedDensity(of_both_ends, (n, XS))
    for way in [closed.assess_python, closed.assess_native] if NATIVE else [closed.assess_python]:
        assert way((n, XS), choices) == pytest.approx(expected, rel=1e-12)
