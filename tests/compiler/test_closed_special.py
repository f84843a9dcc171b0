"""Closed programs as text: functions of scipy.special, and NumPy's arrays without axes."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.special as sp

from gendsl import factor, gen, normal, uniform_discrete
from gendsl.compiler.hir.operations import LOOPS
from tests.compiler.closed_outcomes import outcome

A, HALF = np.array([0.3, 1.2, 2.5]), Fraction(1, 2)


@gen
def many_functions(a):
    x = ~normal(0, 1)
    y = abs(x) + 0.5
    found = sp.kv(1.5, y) + sp.iv(0, y) + sp.jv(2, y) + sp.hyp2f1(1, 2, 3, sp.expit(x)) + sp.exp1(y)
    found += sp.zeta(y + 1.5) + sp.binom(5.5, y) + sp.multigammaln(y + 3, 2)
    found += sp.stdtr(3, x) + sp.owens_t(x, y) + sp.voigt_profile(x, y, 0.5) + sp.log_expit(x)
    found += sp.dawsn(x) + sp.huber(1.0, x)
    found += float(np.sum(sp.kv(1.5, a) + sp.gammainc(a, y) + sp.boxcox(a, x) + sp.binom(6, [1, 2, 7])))
    for one in a:
        found += sp.ellipk(sp.expit(one * x)) * sp.pdtr(2.0, one)
    "found" @ ~factor(found)


def test_functions_of_scipy_special():
    assert outcome(many_functions, (A,)) == "equal"


@gen
def of_numpy(a):
    x, z = ("x" @ ~normal(0, 1)), ("z" @ ~uniform_discrete(0, 2))
    found = np.fmax(x, z) + np.fmin(a, x).sum() + np.fmod(x, 0.7) + np.reciprocal(x) + np.trunc(a * x).sum()
    found += np.degrees(x) + np.deg2rad(z) + np.float_power(abs(x), 1.5) + np.heaviside(x, 0.5)
    found += np.logaddexp2(x, z) + np.nextafter(x, 2.0) + np.spacing(x) + np.radians(a).sum()
    "found" @ ~factor(float(found))


@gen
def of_integers(a):
    z = ~uniform_discrete(0, 2)
    y = ~normal(np.fmod(z + 3, 2), 1)


def test_functions_of_numpy_with_loops_of_their_own():
    assert outcome(of_numpy, (A,)) == "equal"
    assert str(outcome(of_integers, (A,))).endswith("np.fmod of integers")


def test_there_are_hundreds_of_them():
    """Those that take integers otherwise are not: their loops for floats give something else."""
    assert len(LOOPS) > 150 and {"kv", "hyp2f1", "stdtr"} <= LOOPS.keys()
    assert not {"eval_hermite", "yn", "shichi"} & LOOPS.keys()


@gen
def as_a_scalar(a):
    x, z = ("x" @ ~normal(0, 1)), ("z" @ ~uniform_discrete(0, 2))
    b = np.asarray(x, dtype=float)
    c = np.array(z)
    r = b * 2 + [1.0, 2.0, 3.0][c] + b.ndim + b.size + len(b.shape) + b[()] + b.sum() + c.astype(float) / 3
    r += np.ndim(b) + np.size(b) + np.isscalar(b) + np.isscalar(x) + np.round(b, 1) + (b * a).sum() + b.item()
    r += 1.0 if isinstance(b, np.ndarray) else 2.0
    r += 1.0 if isinstance(b + 0.0, np.ndarray) else 2.0
    r += 1.0 if isinstance(b, float) else 2.0
    one, other = np.broadcast_arrays(x, z)
    many, same = np.broadcast_arrays(a, x)
    r += one + other + (many * same).sum() + sum(v for v in range(c)) + max(b, 0.5)
    y = ~normal(float(r), 1)


@gen
def scalars(a):
    x = ~normal(0, 1)
    either = x if x > 0 else None
    found = np.isscalar(either) + 2 * np.isscalar(HALF) + 4 * np.isscalar("a") + 8 * np.isscalar((1, 2))
    y = ~normal(x + found, 1)


def test_what_a_scalar_is():
    assert [outcome(scalars, (A,), rng=seed) for seed in range(4)] == ["equal"] * 4


@gen
def changed_in_place(a):
    x = ~normal(0, 1)
    b = np.asarray(x)
    c = b
    b += 1
    y = ~normal(float(c), 1)


@gen
def one_or_the_other(a):
    x = ~normal(0, 1)
    b = np.asarray(x) if x > 0 else x
    y = ~normal(1.0 if isinstance(b, float) else 2.0, 1)


@gen
def as_a_key(a):
    z = ~uniform_discrete(0, 2)
    y = ~normal({np.asarray(z): 1.0}[z], 1)


@gen
def rounded(a):
    x = ~normal(0, 1)
    y = ~normal(round(np.asarray(x)), 1)


def test_an_array_without_axes_is_taken_for_a_number():
    assert outcome(as_a_scalar, (A,)) == "equal"


@pytest.mark.parametrize("model", [changed_in_place, one_or_the_other], ids=lambda one: one.name)
def test_but_for_what_numbers_do_not_do(model):
    assert str(outcome(model, (A,))).startswith("refused: ")


@pytest.mark.parametrize("model", [as_a_key, rounded], ids=lambda one: one.name)
def test_or_do_otherwise(model):
    assert "ndarray" in str(outcome(model, (A,)))
