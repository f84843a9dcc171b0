"""Numbers that are integers in some executions and truth values in others, where that makes a difference."""

import numpy as np
import pytest

from gendsl import bernoulli, gen, normal, poisson
from tests.compiler.closed_outcomes import outcome


@gen
def used(look, n):
    flag = n > 2 if n > 1 else 1
    z = ~normal(look(flag), 1)


LOOKS = {
    "is True": lambda flag: 1.0 if flag is True else 2.0,
    "is False": lambda flag: 1.0 if flag is False else 2.0,
    "index": lambda flag: np.arange(4.0)[flag].sum(),
    "index of an axis": lambda flag: np.eye(2)[:, flag].sum(),
    "index beside another": lambda flag: np.eye(2)[0, flag].sum(),
    "indices": lambda flag: np.arange(2.0)[[flag, flag]].sum(),
    "index that bits are computed for": lambda flag: np.arange(4.0)[flag & flag].sum(),
    "sum": lambda flag: np.add(flag, flag) * 1.0,
    "product": lambda flag: np.multiply(flag, flag) + 1.0,
    "sum with an array": lambda flag: (np.array([True, False]) + flag).sum(),
}
SAME = {
    "number": lambda flag: flag / 2 + flag // 1 + flag**2 + (flag & 1) - flag,
    "item of a list": lambda flag: [1.0, 2.0][flag] + (3.0, 4.0)[flag],
    "index that is computed": lambda flag: np.arange(4.0)[flag + 1],
    "sum with numbers": lambda flag: (np.array([1.0, 0.0]) + flag).sum() + (np.array([1, 2]) * flag).sum(),
    "sum of a list": lambda flag: sum([flag, flag]) + np.sum([flag, flag]),
    "equal": lambda flag: 1.0 * (flag == True) + (flag in [1]) + (not flag),  # noqa: E712
}


@pytest.mark.parametrize("name", LOOKS)
def test_what_differs_is_refused(name):
    for n in (1, 2, 3):
        told = outcome(used, (LOOKS[name], n))
        assert told.startswith(("refused", "raised")), told


@pytest.mark.parametrize("name", SAME)
def test_what_is_the_same_is_computed(name):
    for n in (1, 2, 3):
        assert outcome(used, (SAME[name], n)) == "equal"


@gen
def of_either():
    a = ~bernoulli(0.5)
    b = "b" @ ~(poisson(1) if a else bernoulli(0.5))
    w = np.ones(3)
    w[b] = 5.0
    x = ~normal(w.sum(), 1)


def test_a_choice_from_one_family_or_another():
    assert outcome(of_either, ()).startswith("refused")
