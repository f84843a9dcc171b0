"""Ranges and columns of tables in place of lists and arrays; data of another length than their choices."""

import math

import numpy as np
import pytest

from gendsl import (
    bernoulli,
    categorical,
    dirichlet,
    gen,
    iid,
    multinomial,
    mvnormal,
    normal,
    poisson,
    product,
    sample,
)
from gendsl.choices.values import as_entries
from gendsl.errors import PartialObservationWarning, UnknownAddressError, ZeroProbabilityError
from gendsl.inference import importance_sampling, mh, nuts, random_walk
from gendsl.supports import FiniteSet

try:
    import pandas as pd
except ImportError:
    pd = None

BOTH = pytest.mark.parametrize("runtime", [lambda model: model, lambda model: model.reference])


@gen
def in_a_loop(n):
    rate = ~normal(0, 1)
    for i in range(n):
        ("y", i) @ ~normal(rate, 1)


@gen
def in_one(n):
    rate = ~normal(0, 1)
    y = ~iid(normal(rate, 1), n)


@gen
def by_family(n):
    rate = ~normal(0, 1)
    y = ~product(normal, [rate] * n, 1.0)


@gen
def correlated(n):
    rate = ~normal(0, 1)
    y = ~mvnormal([rate] * n, np.eye(n))


@gen
def counts_in_a_loop(n):
    rate = ~normal(0, 1)
    for i in range(n):
        ("y", i) @ ~poisson(math.exp(rate))


@gen
def counts_in_one(n):
    rate = ~normal(0, 1)
    y = ~iid(poisson(math.exp(rate)), n)


@gen
def all_counts(n):
    rate = ~normal(0, 1)
    y = ~multinomial(6, [1 / n] * n)


@gen
def shares(n):
    rate = ~normal(0, 1)
    y = ~dirichlet([1.0] * n)


@gen
def flags(n):
    rate = ~normal(0, 1)
    for i in range(n):
        ("y", i) @ ~bernoulli(1 / (1 + math.exp(rate)))


@gen
def table(n):
    rate = ~normal(0, 1)
    for i in range(n):
        for j in range(2):
            ("y", i, j) @ ~normal(rate, 1)


@gen
def rows(n):
    rate = ~normal(0, 1)
    for i in range(n):
        ("y", i) @ ~iid(normal(rate, 1), 2)


class OneOf:
    """A distribution of strings."""

    support = FiniteSet(("a", "b"))

    def sample(self, rng):
        return "ab"[rng.integers(2)]

    def logpdf(self, x):
        return math.log(0.5) if x in ("a", "b") else -math.inf


@gen
def names(n):
    rate = ~normal(0, 1)
    for i in range(n):
        ("y", i) @ ~OneOf()


class Column:
    """A column of some other library's."""

    def __init__(self, entries):
        self.entries = entries

    def __len__(self):
        return len(self.entries)

    def to_numpy(self):
        return np.array(self.entries)


FORMS = {
    "range": lambda: ([0, 1, 2], range(3)),
    "range by twos": lambda: ([1, 3, 5], range(1, 7, 2)),
    "another library": lambda: ([3, 1, 2], Column([3, 1, 2])),
}
if pd is not None:
    FORMS |= {
        "Series": lambda: ([1.0, 2.0, 3.0], pd.Series([1.0, 2.0, 3.0])),
        "another index": lambda: ([1.0, 2.0, 3.0], pd.Series([1.0, 2.0, 3.0], index=[7, 1, 0])),
        "a column": lambda: ([3, 1, 2], pd.DataFrame({"a": [3, 1, 2], "b": "xyz"}).sort_values("b")["a"]),
        "Index": lambda: ([1, 2, 3], pd.Index([1, 2, 3])),
        "Int64": lambda: ([3, 0, 2], pd.array([3, 0, 2])),
        "Series of Int64": lambda: ([3, 0, 2], pd.Series([3, 0, 2], dtype="Int64")),
        "Float64": lambda: ([1.0, 2.0, 3.0], pd.array([1.0, 2.0, 3.0])),
        "category": lambda: ([1, 2, 1], pd.Series([1, 2, 1], dtype="category")),
        "objects": lambda: ([1, 2, 1], pd.Series([1, 2, 1], dtype=object)),
    }
REAL, COUNTS = (in_a_loop, in_one, by_family, correlated), (counts_in_a_loop, counts_in_one)
CASES = [(model, name) for name in FORMS for model in REAL + COUNTS]
CASES = [(model, name) for model, name in CASES if model in REAL or type(FORMS[name]()[0][0]) is int]


@BOTH
@pytest.mark.parametrize(("model", "name"), CASES, ids=lambda case: getattr(case, "name", case))
def test_a_column_is_what_the_list_of_its_entries_is(model, name, runtime):
    program = runtime(model)
    expected, column = FORMS[name]()
    one, _ = program.generate((3,), {"y": expected}, rng=1)
    two, _ = program.generate((3,), {"y": column}, rng=1)
    assert two.choices == one.choices and two.observed == one.observed and two.log_prob == one.log_prob
    assert list(map(type, two.choices.values())) == list(map(type, one.choices.values()))
    for given in (
        program.generate((3,), None, init={"y": column}, rng=1).trace,
        program.simulate((3,), rng=2).update({"y": column, "rate": one["rate"]}).trace,
    ):
        assert given.choices == one.choices and not given.observed
    first, second = (program.assess((3,), {"y": given, "rate": 0.5}) for given in (column, expected))
    assert first == second
    with_list, with_column = (
        importance_sampling(program, (3,), {"y": given}, 20, rng=1) for given in (expected, column)
    )
    assert with_list.log_evidence == with_column.log_evidence
    run = sample(nuts("rate", 0.3), two, 3, seed=1)
    assert len(run) == 3


@BOTH
def test_columns_of_other_kinds(runtime):
    pytest.importorskip("pandas")
    cases = [
        (flags, [True, False, True], pd.Series([True, False, True])),
        (flags, [True, False, True], pd.array([True, False, True])),
        (names, ["a", "b", "a"], pd.Series(["a", "b", "a"])),
        (names, ["a", "b", "a"], pd.array(["a", "b", "a"], dtype="string")),
        (names, ["a", "b", "a"], pd.Series(["a", "b", "a"], dtype="category")),
        (all_counts, [1, 2, 3], pd.array([1, 2, 3])),
        (shares, [0.2, 0.3, 0.5], pd.Series([0.2, 0.3, 0.5])),
        (table, [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], pd.DataFrame({"a": [1, 3, 5], "b": [2.0, 4.0, 6.0]})),
        (rows, [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], pd.DataFrame({"a": [1, 3, 5], "b": [2.0, 4.0, 6.0]})),
    ]
    for model, expected, column in cases:
        given = np.array(expected), column
        one, two = (runtime(model).generate((3,), {"y": y}, rng=1).trace for y in given)
        assert two.choices == one.choices and two.log_prob == one.log_prob
        assert list(map(type, two.choices.values())) == list(map(type, one.choices.values()))
        assert len(two.observed) == len(two.choices) - 1


def test_a_missing_entry_is_nan_and_one_of_strings_is_no_string():
    pytest.importorskip("pandas")
    assert np.array_equal(as_entries(pd.array([1, None, 3])), [1.0, math.nan, 3.0], equal_nan=True)
    assert np.array_equal(as_entries(pd.Series([1.5, None])), [1.5, math.nan], equal_nan=True)
    first, second = as_entries(pd.Series(["a", None], dtype="string"))
    assert first == "a" and math.isnan(second)


def test_an_empty_column_stands_for_no_choice():
    of_pandas = [] if pd is None else [pd.Series([], dtype=float), pd.array([], "Int64")]
    for column in (range(0), Column([]), *of_pandas):
        trace, _ = in_a_loop.generate((0,), {"y": column}, rng=1)
        assert not trace.observed
        in_one.generate((0,), {"y": column}, rng=1)


def test_a_value_of_a_users_own_stays_what_it_is():
    """Only where a choice is an array, or has its entries at indices, a range is a list of numbers."""

    class Span:
        support = FiniteSet((range(2), range(3)))

        def sample(self, rng):
            return range(2)

        def logpdf(self, x):
            return math.log(0.5)

    @gen
    def spans():
        s = ~Span()

    assert spans.generate((), {"s": range(3)}).trace["s"] == range(3)


# --- lengths -----------------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("given", [[0.5, 0.5], range(2)])
def test_too_few_for_a_loop_says_both_lengths(given, runtime):
    with pytest.warns(PartialObservationWarning, match=r"'y' has 2 entries for 3 choices; the program makes"):
        runtime(in_a_loop).generate((3,), {"y": given}, rng=1)


@BOTH
@pytest.mark.parametrize("given", [[0.5] * 5, np.zeros(5), range(5)])
def test_too_many_for_a_loop_say_both_lengths(given, runtime):
    program = runtime(in_a_loop)
    trace = program.simulate((1,), rng=1)
    for call, n in (
        (lambda: program.generate((3,), {"y": given}, rng=1), "3 choices"),
        (lambda: program.generate((3,), None, init={"y": given}, rng=1), "3 choices"),
        (lambda: program.assess((3,), {"y": given, "rate": 0.5}), "3 choices"),
        (lambda: trace.update({"y": given}), "1 choice"),
    ):
        with pytest.raises(UnknownAddressError, match=rf"; 'y' has 5 entries for {n}\n"):
            call()


@BOTH
def test_rows_of_another_length_say_both_lengths(runtime):
    program = runtime(table)
    with pytest.raises(UnknownAddressError, match=r"; \('y', 0\) has 3 entries for 2 choices\n"):
        program.generate((2,), {"y": np.zeros((2, 3))}, rng=1)
    with pytest.warns(PartialObservationWarning, match=r": \('y', 1\) has 1 entry for 2 choices;"):
        program.generate((2,), {"y": [[0.0, 0.1], [0.2]]}, rng=1)
    with pytest.raises(UnknownAddressError, match=r"address given in observations\n"):  # none is for a choice
        program.generate((0,), {"y": np.zeros((2, 3))}, rng=1)


@BOTH
@pytest.mark.parametrize("length", [2, 4])
@pytest.mark.parametrize("model", [in_one, by_family, correlated, shares, all_counts], ids=lambda m: m.name)
def test_an_array_of_another_length_says_both(model, length, runtime):
    y = [1, 5, 0, 0][:length] if model is all_counts else [0.5, 0.5, 0.0, 0.0][:length]
    trace, weight = runtime(model).generate((3,), {"y": y}, rng=1)
    assert weight == -math.inf
    text = f"a value of length {length} is given for a choice whose values have length 3, so the density is"
    for kernel in (nuts("rate", 0.1), random_walk("rate", 0.1), mh("rate")):
        with pytest.raises(ZeroProbabilityError, match=text) as caught:
            sample(kernel, trace, 2, seed=1)
        assert caught.value.address == ("y",)
    with pytest.raises(ZeroProbabilityError, match=f"out of support at 'y': a value of length {length} is"):
        importance_sampling(runtime(model), (3,), {"y": y}, 3, rng=1)


def test_a_matrix_of_another_shape_says_both():
    @gen
    def matrix():
        x = ~normal(0, 1)
        y = ~iid(mvnormal([0.0, 0.0], np.eye(2)), 3)

    trace, _ = matrix.generate((), {"y": np.zeros((2, 2))}, rng=1)
    with pytest.raises(ZeroProbabilityError, match=r"a value of shape \(2, 2\) is .* have shape \(3, 2\)"):
        sample(mh("x"), trace, 2, seed=1)


def test_other_values_outside_are_shown():
    @gen
    def classes():
        x = ~normal(0, 1)
        y = ~categorical([0.5, 0.5])

    trace, _ = classes.generate((), {"y": 2}, rng=1)
    with pytest.raises(ZeroProbabilityError, match=r"2 is outside the support of categorical\(.*\), so the"):
        sample(mh("x"), trace, 2, seed=1)
