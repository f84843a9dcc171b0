"""What is seen only as a body runs: it is then executed whole, and what was begun is begun again."""

import itertools
import operator

import numpy as np
import pytest

from gendsl import gen, normal, poisson, select
from gendsl.inference import mh
from tests.runtime.idioms import SEEDS, Programs

PROGRAMS = Programs()
written = PROGRAMS.written
ROWS = np.array([[1.0, 0.5], [0.5, 2.0], [1.5, -1.0], [0.2, 0.3], [1.0, 1.0]])


# --- totals that are kept -----------------------------------------------------------------------------


@written()
@gen
def totals(n):
    """Each entry of the list is the same array."""
    history = []
    total = np.zeros(2)
    for i in range(n):
        x = ("x", i) @ ~normal(0, 1)
        total += np.array([x, 1.0])
        history.append(total)
    ("y", 0) @ ~normal(history[0][0], 1)
    return [each.sum() for each in history]


@written()
@gen
def totals_from_a_number(n):
    """From the second iteration on, it is."""
    history = []
    total = 0.0
    for i in range(n):
        x = ("x", i) @ ~normal(0, 1)
        total += x * ROWS[i % 5]
        history.append(total)
    ("y", 0) @ ~normal(history[0][0], 1)
    return [each.sum() for each in history]


@written((3, 1.0), (2, np.ones(2)), (4, 2.0))
@gen
def totals_of_what_is_given(n, start):
    before = start
    total = start + 0.0
    for i in range(n):
        x = ("x", i) @ ~normal(0, 1)
        kept = total
        total += x
        ("y", i) @ ~normal(np.sum(kept), 1)
    return before, total


# --- functions that aren't known ------------------------------------------------------------------------


def shift(values, by):
    values += by
    return values.sum()


def shifted(values, by):
    return (values + by).sum()


class Helper:
    """Methods that aren't what NumPy's and Python's of those names are."""

    def take(self, values):
        values.append(1.0)
        return len(values)

    def dot(self, values):
        values[0] = 3.0
        return values.sum()

    def __eq__(self, other):
        return type(other) is Helper

    __hash__ = None


@written((3, shift), (2, shifted))
@gen
def results(n, function):
    x = ~normal(0, 1)
    eta = ROWS @ np.array([x, 1.0])
    y = ~normal(function(eta, x), 1)
    ("w", 0) @ ~normal(eta.sum() + function(eta, y), 1)
    return eta


@written((3, shift), (2, shifted))
@gen
def entries_of_lists(n, function):
    rows = [ROWS @ np.array([("x", i) @ ~normal(0, 1), 1.0]) for i in range(n)]
    for i in range(n):
        ("y", i) @ ~normal(function(rows[i], 1.0), 1)
        ("z", i) @ ~normal(rows[i].sum(), 1)
    return rows


@written((3, shift), (2, shifted))
@gen
def keys(n, function):
    x = ~normal(0, 1)
    rows = [ROWS * x, ROWS + x]
    top = max(rows, key=lambda row: function(row, 1.0))
    y = ~normal(top.sum(), 1)
    ordered = sorted((rows[0], rows[1] * y), key=lambda row: function(row, y))
    ("z", 0) @ ~normal(ordered[0].sum() + rows[0].sum(), 1)
    return rows


def _join(left, right):
    return left + right


@written((3, None), (2, np.isfinite))
@gen
def functions_that_are_called_or_not(n, function):
    values = [("x", i) @ ~normal(0, 1) for i in range(n)]
    kept = list(filter(function, values))
    sums = list(itertools.accumulate(kept))
    products = list(itertools.accumulate(kept, operator.mul)) + list(itertools.accumulate(kept, _join))
    y = ~normal(sum(products) + sums[-1], 1)
    return sums


@written((3, Helper()), (2, Helper()))
@gen
def methods_by_name(n, helper):
    values = []
    x = ~normal(0, 1)
    y = ~normal(helper.take(values) + x, 1)
    row = np.zeros(2)
    z = ~normal(row.sum() + y, 1)
    found = helper.dot(row)
    ("w", 0) @ ~normal(helper.take(values) + found + row.sum() + z, 1)
    return values, row


def zipped(*values):
    return list(zip(*values, strict=True))


@written((3, zip), (2, zipped))
@gen
def iterators(n, function):
    x = ~normal(0, 1)
    y = ~normal(0, 1)
    together = function([x, 1.0], [2.0, 3.0])
    first = [a + y for a, _ in together]
    z = ~normal(0, 1)
    second = [a + z for a, _ in together]
    ("w", 0) @ ~normal(sum(first) + sum(second), 1)
    return len(second)


@gen
def inner(eta, function):
    z = ~normal(function(eta, 1.0), 1)
    return z + eta.sum()


@written((3, shift), (2, shifted))
@gen
def called(n, function):
    for i in range(n):
        x = ("x", i) @ ~normal(0, 1)
        kept = ("in", i) @ ~inner(ROWS[0] * x, function)
        ("y", i) @ ~normal(kept, 1)


@gen
def keeps(eta, function):
    z = ~normal(function(eta, 1.0), 1)
    return z


@gen
def puts(values):
    x = ~normal(sum(values), 1)
    values.append(x)


@written((3, shift), (2, shifted))
@gen
def changed_by_a_program(n, function):
    x = ~normal(0, 1)
    eta = ROWS[0] * x
    y = "in" @ ~keeps(eta, function)
    ("w", 0) @ ~normal(eta.sum() + y, 1)
    w = "again" @ ~keeps(eta, function)
    ("w", 1) @ ~normal(eta.sum() + w, 1)
    return eta


@written((3, keeps, shift), (2, keeps, shifted))
@gen
def changed_by_a_program_that_is_given(n, program, function):
    x = ~normal(0, 1)
    eta = ROWS[0] * x
    y = "in" @ ~program(eta, function)
    ("w", 0) @ ~normal(eta.sum() + y, 1)
    return eta


@written((3, puts), (2, puts))
@gen
def put_in_by_a_program(n, function):
    x = ~normal(0, 1)
    values = sorted([x, 1.0])
    "in" @ ~function(values)
    ("w", 0) @ ~normal(sum(values), 1)
    "again" @ ~function(values)
    return values


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("seed", SEEDS)
def test_both_runtimes_agree(name, seed):
    PROGRAMS.agree(name, seed)


@pytest.mark.parametrize("name", PROGRAMS)
def test_both_runtimes_agree_where_loops_are_columns(name):
    PROGRAMS.agree(name, 7, columns_from=2)


# --- what is found out, and when -------------------------------------------------------------------------


def a_model():
    @gen
    def model(function):
        k = ~poisson(2)
        eta = ROWS @ np.array([k, 1.0])
        y = ~normal(function(eta, 1.0), 100)
        ("w", 0) @ ~normal(eta.sum() + y, 100)
        return k, eta

    return model


needs_blocks = pytest.mark.skipif(totals.is_reference, reason="the reference runtime has no blocks")


@needs_blocks
def test_functions_that_change_nothing_keep_a_body_incremental():
    model = a_model()
    trace = model.simulate((shifted,), rng=1)
    trace.update({"k": 1})
    assert model.compiled.program.opaque is None and model.linked is not None


def shift_where_large(values, by):
    if values[0] > 3:
        values += by
    return values.sum()


@needs_blocks
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("operation", ["update", "edit", "args"])
def test_an_edit_that_finds_it_out_gives_what_the_reference_gives(operation, seed):
    model = a_model()
    trace, _ = model.generate((shift_where_large,), {"y": 0.5}, init={"k": 1}, rng=seed)
    latent = {"k": 1, ("w", 0): trace["w", 0]}
    twin, _ = model.reference.generate((shift_where_large,), {"y": 0.5}, init=latent)
    assert model.compiled.program.opaque is None
    match operation:
        case "update":
            new, weight, _ = trace.update({"k": 4})
            other, expected, _ = twin.update({"k": 4})
        case "edit":
            new, weight, *_ = trace.edit({("k",): 4})
            other, expected, *_ = twin.edit({("k",): 4})
        case _:
            new, weight, _ = trace.update({"k": 2}, args=(shift,))
            other, expected, _ = twin.update({"k": 2}, args=(shift,))
    assert weight == pytest.approx(expected, rel=1e-12) and new.log_prob == pytest.approx(other.log_prob)
    assert new.choices == other.choices and new.observed == other.observed
    assert "function(eta, 1.0) changes what it is given" in model.compiled.program.opaque[0]
    back, weight, _ = trace.update({"k": 0})  # the old trace goes on, too
    assert np.array_equal(trace.retval[1], twin.retval[1]) and np.array_equal(back.retval[1], ROWS[:, 1])
    assert weight == pytest.approx(twin.update({"k": 0}).log_weight, rel=1e-12)
    assert model.linked is None


@needs_blocks
@pytest.mark.parametrize("seed", range(4))
def test_draws_are_those_that_were_drawn_before_it_was_found_out(seed):
    drawn = []
    for _ in range(2):  # the second model runs whole from the start
        model = a_model()
        if drawn:
            model.simulate((shift,), rng=0)
        rng = np.random.default_rng(seed)
        trace = model.simulate((shift,), rng=rng)
        drawn.append((trace.choices, rng.random()))
    assert drawn[0] == drawn[1]


def a_growing_model():
    @gen
    def model(function, size=0):
        k = ~poisson(4)
        new = [("new", i) @ ~normal(0, 1) for i in range(size)]
        eta = ROWS @ np.array([k, 1.0 + sum(new)])
        y = ~normal(function(eta, 1.0), 100)
        ("w", 0) @ ~normal(eta.sum() + y, 100)

    return model


def grow(trace, operation, rng):
    """The trace after an operation that draws k anew, or w, and what it says besides."""
    match operation:
        case "resample":
            new, *rest = trace.resample(select("k"), rng)
        case "regenerate":
            new, *rest = trace.regenerate(select("k"), rng=rng)
        case _:
            new, *rest = trace.update({"k": 9}, args=(shift_where_large, 1), rng=rng)
    return new, rest[0]


@needs_blocks
@pytest.mark.parametrize("kind", ["generator", "bits"])
@pytest.mark.parametrize("operation", ["resample", "regenerate", "update"])
def test_edits_draw_what_they_drew_before_it_was_found_out(operation, kind):
    """The draw decides whether it is found out: another one after it would leave some out."""
    found = 0
    for seed in range(10):
        results = []
        for whole in (False, True):
            model = a_growing_model()
            if whole:
                model.simulate((shift,), rng=0)
            start, _ = model.generate((shift_where_large,), {"y": 0.5, ("w", 0): 1.0}, init={"k": 1})
            bits = np.random.PCG64(seed)
            given = bits if kind == "bits" and operation != "resample" else np.random.Generator(bits)
            new, weight = grow(start, operation, given)
            results.append((new.choices, weight, np.random.Generator(bits).random()))
            found += not whole and model.linked is None
        assert results[0][0] == results[1][0] and results[0][2] == results[1][2]
        assert results[0][1] == pytest.approx(results[1][1], rel=1e-9)
    assert 3 < found <= 10


@needs_blocks
@pytest.mark.parametrize("operation", ["simulate", "regenerate", "update"])
def test_without_a_generator_the_draws_are_kept_too(operation, monkeypatch):
    made = np.random.default_rng
    for seed in range(10):
        results = []
        for whole in (False, True):
            model = a_growing_model()
            if whole:
                model.simulate((shift,), rng=0)
            start, _ = model.generate((shift_where_large,), {"y": 0.5, ("w", 0): 1.0}, init={"k": 1})
            seeds = itertools.count(seed, 1000)
            with monkeypatch.context() as patched:
                patched.setattr(np.random, "default_rng", lambda given=None: made(given or next(seeds)))
                if operation == "simulate":
                    new = model.simulate((shift_where_large,))
                else:
                    new, _ = grow(start, operation, None)
            results.append(new.choices)
        assert results[0] == results[1]


@needs_blocks
@pytest.mark.parametrize("bare", [False, True])
def test_a_body_that_catches_everything_does_not_catch_what_is_found(bare):
    @gen
    def careful(function):
        k = ~poisson(2)
        eta = ROWS @ np.array([k, 1.0])
        try:
            mean = function(eta, 1.0)
        except Exception:
            mean = 1e3
        y = ~normal(mean + eta.sum(), 1)
        return mean

    @gen
    def reckless(function):
        k = ~poisson(2)
        eta = ROWS @ np.array([k, 1.0])
        try:
            mean = function(eta, 1.0)
        except:  # noqa: E722
            mean = 1e3
        y = ~normal(mean + eta.sum(), 1)
        return mean

    model = reckless if bare else careful
    start, _ = model.generate((shift_where_large,), {"y": 0.5}, init={"k": 1})
    new, weight, _ = start.update({"k": 5})
    expected = model.reference.assess((shift_where_large,), new.choices)
    assert new.retval == expected.retval < 1e3 and new.log_prob == pytest.approx(expected.log_prob)
    assert weight == pytest.approx(new.log_prob - start.log_prob) and model.linked is None
    other = careful if bare else reckless
    assert other.simulate((shift,), rng=1).retval < 1e3


@needs_blocks
def test_a_chain_goes_on_when_it_is_found_out():
    model = a_model()
    trace, _ = model.generate((shift_where_large,), {"y": 3.0}, init={"k": 0}, rng=1)
    rng = np.random.default_rng(2)
    step = mh(select("k"))
    found = set()
    for _ in range(200):
        trace, _ = step(trace, rng)
        found.add(trace["k"])
        assert trace.log_prob == pytest.approx(model.reference.assess(trace.args, trace.choices).log_prob)
    assert max(found) > 2 and model.linked is None


# --- arguments ---------------------------------------------------------------------------------------


@gen
def imputed(y):
    mu = ~normal(0, 1)
    for i in range(len(y)):
        if np.isnan(y[i]):
            y[i] = ("missing", i) @ ~normal(mu, 1)
        ("y", i) @ ~normal(y[i] - mu, 1)
    return y


@gen
def sorted_in_place(y):
    first = y
    first.sort()
    mu = ~normal(first[0], 1)
    y += [mu]
    return y


@pytest.mark.parametrize("reference", [False, True])
def test_a_body_that_changes_an_argument_gets_a_copy_each_time(reference):
    model = imputed.reference if reference else imputed
    given = np.array([1.0, np.nan, 2.0])
    trace = model.simulate((given,), rng=1)
    assert np.isnan(trace.args[0][1]) and np.isnan(given[1])
    new, weight, discard = trace.update({("missing", 1): 3.0})
    assert new.retval[1] == 3.0 and new["missing", 1] == 3.0 and discard["missing", 1] == trace.retval[1]
    assert weight == pytest.approx(new.log_prob - trace.log_prob)
    assert new.log_prob == pytest.approx(model.assess((given,), new.choices).log_prob)
    new.gradients(select("mu"))
    assert np.isnan(new.args[0][1])


@pytest.mark.parametrize("reference", [False, True])
def test_lists_too(reference):
    model = sorted_in_place.reference if reference else sorted_in_place
    given = [3.0, 1.0, 2.0]
    trace = model.simulate((given,), rng=1)
    trace = trace.update({"mu": 0.5}).trace.update({"mu": 1.5}).trace
    assert trace.retval == [1.0, 2.0, 3.0, 1.5] and trace.args == ([3.0, 1.0, 2.0],) and given[0] == 3.0


def pushed(kept, x):
    kept.append(x)
    return sum(kept)


def test_what_was_changed_is_put_back_before_the_operation_is_done_again():
    shared = [0.0]

    @gen
    def model(f):
        x = ~normal(0, 1)
        y = ~normal(f(shared, x), 1)

    trace = model.simulate((pushed,), rng=1)
    assert shared == [0.0, trace["x"]]
