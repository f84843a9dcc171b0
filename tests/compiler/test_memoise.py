"""What costs much and depends on an index alone is computed once for each; and again where it may differ."""

import numpy as np
import pytest

from gendsl import categorical, gen, mvnormal, normal, uniform_discrete
from gendsl.compiler import hir, memoise
from gendsl.compiler.closed import ClosedDensity
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
    assert "if not is_known" in text_of(model, (9, ROWS))


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
