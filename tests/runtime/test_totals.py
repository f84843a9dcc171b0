"""Running totals against sums that are correctly rounded."""

import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gendsl.runtime.totals import ZERO, change, total_of, value

laws = settings(max_examples=200, deadline=None, derandomize=True)

numbers = st.floats(-1e15, 1e15)
terms = st.one_of(numbers, st.sampled_from([-math.inf, math.inf, math.nan, 0.0, -0.0, 5e-324]))


def same(a, b, tolerance=1e-12):
    return (math.isnan(a) and math.isnan(b)) or a == b or abs(a - b) <= tolerance * max(abs(a), abs(b))


def exact(values):
    """What `value` has to give: the sum by math.fsum, infinite and undefined as with a loop of +."""
    if all(map(math.isfinite, values)):
        return math.fsum(values)
    return sum(x for x in values if not math.isfinite(x))


@laws
@given(st.lists(terms, max_size=20))
def test_a_total_is_the_sum(values):
    assert same(value(total_of(values)), exact(values), 1e-15)


@laws
@given(st.lists(terms, min_size=1, max_size=8), st.data())
def test_changes_give_the_total_of_what_is_there(values, data):
    total = total_of(values)
    largest = sum(abs(x) for x in values if math.isfinite(x))
    for _ in range(data.draw(st.integers(1, 30))):
        i, new = data.draw(st.integers(0, len(values) - 1)), data.draw(terms)
        old_total, before = total, tuple(values)
        total = change(total, values[i], new)
        values[i] = new
        largest += abs(new) if math.isfinite(new) else 0.0
        for found, wanted in ((value(old_total), exact(before)), (value(total), exact(values))):
            assert same(found, wanted, 1e-15) or abs(found - wanted) <= 1e-25 * largest


@pytest.mark.parametrize("spread", [0, 1, 5, 12])
@pytest.mark.parametrize("start", [0.0, -1e6, 1e6])
def test_many_changes_stay_close_to_the_exact_sum(spread, start):
    rng = random.Random(spread)
    values = [start, *(rng.gauss(0, 1) for _ in range(99))]
    total = total_of(values)
    for step in range(30_000):
        i, new = rng.randrange(1, 100), rng.gauss(0, 10 ** rng.uniform(-spread, spread))
        total = change(total, values[i], new)
        values[i] = new
        if step % 1000 == 999:
            assert same(value(total), math.fsum(values))


@pytest.mark.slow
def test_a_million_changes_stay_close_to_the_exact_sum():
    rng = random.Random(1)
    values = [rng.gauss(0, 10 ** rng.uniform(-6, 6)) for _ in range(100)]
    total = total_of(values)
    for _ in range(10**6):
        i, new = rng.randrange(100), rng.gauss(0, 10 ** rng.uniform(-6, 6))
        total = change(total, values[i], new)
        values[i] = new
    assert same(value(total), math.fsum(values))


def test_small_terms_survive_a_large_one():
    total = total_of([0.1, 1e20])
    total = change(total, 0.1, 0.3)
    assert value(change(total, 1e20, 0.0)) == pytest.approx(0.3, rel=1e-11)


@pytest.mark.parametrize("large", [3.0, 1e5, -1e17, 1e25])
def test_small_terms_survive_large_ones_that_come_and_go(large):
    total = total_of([0.1, 0.7])
    total = change(change(total, 0.1, large), 0.7, -0.3 * large)
    total = change(change(total, large, 1e-9), -0.3 * large, 2e-9)
    assert value(total) == pytest.approx(3e-9, rel=1e-6, abs=1e-25 * abs(large))


def test_minus_infinities_are_counted():
    total = total_of([-math.inf, 1.0, -math.inf])
    assert total == (1.0, 0.0, 2)
    assert value(total) == -math.inf
    total = change(total, -math.inf, -math.inf)
    assert total[2] == 2
    total = change(change(total, -math.inf, 2.0), -math.inf, 3.0)
    assert total == (6.0, 0.0, 0) and value(total) == 6.0


@pytest.mark.parametrize(
    "values, expected",
    [
        ([math.inf, 1.0], math.inf),
        ([math.inf, math.inf], math.inf),
        ([-math.inf, math.inf], math.nan),
        ([math.nan, 1.0], math.nan),
        ([math.nan, -math.inf], math.nan),
        ([math.nan, math.inf], math.nan),
    ],
)
def test_what_is_no_finite_number_goes_away_again(values, expected):
    built = ZERO
    for x in values:
        built = change(built, 0.0, x)
    for total in (total_of(values), built):
        assert same(value(total), expected)
        for x in values:
            total = change(total, x, 0.5)
        assert value(total) == 1.0


def test_a_sum_that_overflows_is_undefined_until_it_is_made_afresh():
    values = [-1.5e308, -1.0]
    total = change(total_of(values), -1.0, -1.5e308)
    assert math.isnan(value(total)) or value(total) == -math.inf
    assert value(total_of([-1.5e308, -1.5e308])) == -math.inf
    total = change(total, -1.5e308, -1.0)
    assert math.isnan(value(total))
    assert value(change(total_of([-1.5e308, 1e308]), 1e308, -1.0)) == -1.5e308


def test_terms_may_be_numpy_floats():
    terms = np.random.default_rng(1).normal(size=1000)
    total = total_of(terms)
    assert value(total) == math.fsum(terms)
    assert value(total_of(iter(terms.tolist()))) == value(total)
    assert total_of([]) == ZERO and value(ZERO) == 0.0
