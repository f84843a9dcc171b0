"""What Python text does with derivatives gives the bits of what machine code does with them."""

import copy
import random

import pytest

from gendsl.compiler.front import library_slopes
from gendsl.compiler.hir.failures import TextFailure
from gendsl.compiler.python import slopes_runtime

FAILURES = (AssertionError, TextFailure, ValueError, OverflowError)


def outcome(function, *args):
    """What a function returns, and its arguments then; that it fails, if it does."""
    given = copy.deepcopy(args)
    try:
        return function(*given), given
    except FAILURES:
        return "fails"


def both(name, *args):
    """What the two functions of a name do, which is the same; whether they fail."""
    quick = getattr(slopes_runtime.RUNS, name)
    expected = outcome(getattr(library_slopes, name), *args)
    assert outcome(lambda *given: quick(None, *given), *args) == expected, args
    return expected == "fails"


def slope(rng):
    return rng.choice([0.0, 1.0, -1.0, rng.gauss(0, 1), rng.gauss(0, 1) * 10.0 ** rng.randint(-60, 60)])


@pytest.mark.parametrize("seed", range(20))
def test_determinants(seed):
    rng, failed = random.Random(seed), 0
    for _ in range(100):
        n = rng.randint(0, 7)
        numbers = [*range(n), *[-1] * rng.randint(0, 3)]
        rng.shuffle(numbers)
        dense = rng.choice([0.15, 0.3, 0.6, 1.0])
        places = [-1, *range(len(numbers))]
        columns = [[(at, slope(rng)) for at in places if rng.random() < dense] for _ in range(n)]
        failed += both("log_abs_det", columns, numbers)
        both("sizes", columns, numbers, [rng.gauss(0, 1) for _ in numbers])
    assert 10 < failed < 90


@pytest.mark.parametrize("seed", range(5))
def test_sums(seed):
    rng = random.Random(seed)

    def pairs():
        return [(at, rng.gauss(0, 1)) for at in sorted(rng.sample(range(9), rng.randint(0, 6)))]

    for _ in range(200):
        assert not both("add", pairs(), rng.choice([0.0, 2.0, rng.gauss(0, 1)]), pairs())
        assert not both("ordered", [(rng.randint(0, 5), rng.gauss(0, 1)) for _ in range(rng.randint(1, 7))])


@pytest.mark.parametrize("wrong", [float("nan"), float("inf")])
def test_derivatives_that_are_none(wrong):
    assert both("log_abs_det", [[(0, wrong)]], [0])
