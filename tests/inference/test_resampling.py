"""Resampling schemes: the expected numbers of copies, exactly."""

import itertools
import math

import numpy as np
import pytest

from gendsl import errors
from gendsl.inference import Particles
from gendsl.inference.resampling import (
    SCHEMES,
    as_scheme,
    multinomial_resampling,
    residual_resampling,
    stratified_resampling,
    systematic_resampling,
)
from gendsl.testing import enumerate_outcomes

WEIGHTS = [
    [0.5, 0.3, 0.2],
    [0.0, 0.61, 0.0, 0.39],
    [1.0],
    [0.25, 0.25, 0.25, 0.25],
    [0.05, 0.9, 0.05, 0.0],
]


class Fixed:
    """A generator whose uniform numbers are given."""

    def __init__(self, numbers):
        self.numbers = numbers

    def random(self, size=None):
        return self.numbers[0] if size is None else np.array(self.numbers)


def copies(indices, size):
    return np.bincount(indices, minlength=size)


def pieces(weights, n, shift):
    """[0, 1) cut where the particle at (shift + u) / n may change: midpoints and lengths."""
    ends = np.cumsum(weights)
    cuts = np.unique(np.clip(np.concatenate([[0.0, 1.0], n * ends - shift]), 0.0, 1.0))
    return [(0.5 * (a + b), b - a) for a, b in itertools.pairwise(cuts)]


def expected_by_multinomials(scheme, weights, n):
    """By running through all outcomes of the multinomial numbers."""
    return sum(p * copies(indices, len(weights)) for indices, p in enumerate_outcomes(
        lambda rng: scheme(np.array(weights), n, rng)))  # fmt: skip


def expected_systematic(scheme, weights, n):
    cuts = sorted({piece for shift in range(n) for piece in _edges(weights, n, shift)})
    mean = np.zeros(len(weights))
    for a, b in itertools.pairwise(cuts):
        mean += (b - a) * copies(scheme(np.array(weights), n, Fixed([0.5 * (a + b)])), len(weights))
    return mean


def _edges(weights, n, shift):
    return np.clip(np.concatenate([[0.0, 1.0], n * np.cumsum(weights) - shift]), 0.0, 1.0).tolist()


def expected_stratified(scheme, weights, n):
    """The strata are independent, so one is averaged over while the others stay at their middle."""
    middle = copies(scheme(np.array(weights), n, Fixed([0.5] * n)), len(weights)).astype(float)
    mean = middle.copy()
    for i in range(n):
        average = np.zeros(len(weights))
        for at, length in pieces(weights, n, i):
            numbers = [0.5] * n
            numbers[i] = at
            average += length * copies(scheme(np.array(weights), n, Fixed(numbers)), len(weights))
        mean += average - middle
    return mean


EXACT = {
    "multinomial": (multinomial_resampling, expected_by_multinomials),
    "residual": (residual_resampling, expected_by_multinomials),
    "systematic": (systematic_resampling, expected_systematic),
    "stratified": (stratified_resampling, expected_stratified),
}


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("n", [1, 3, 5])
def test_the_expected_number_of_copies_is_n_times_the_weight(name, weights, n):
    scheme, expected = EXACT[name]
    np.testing.assert_allclose(expected(scheme, weights, n), n * np.array(weights), atol=1e-12)


@pytest.mark.parametrize(("name", "wrong"), [
    ("systematic", lambda w, n, rng: systematic_resampling(w, n, Fixed([0.0]))),
    ("stratified", lambda w, n, rng: stratified_resampling(w**2 / np.sum(w**2), n, rng)),
    ("residual", lambda w, n, rng: np.repeat(np.arange(len(w)), [n - int(sum(np.floor(n * w[1:]))),
                                                                  *np.floor(n * w[1:]).astype(int)])),
])  # fmt: skip
def test_biased_schemes_are_found(name, wrong):
    _, expected = EXACT[name]
    weights = [0.47, 0.33, 0.2]
    assert np.max(np.abs(expected(wrong, weights, 5) - 5 * np.array(weights))) > 0.05


@pytest.mark.parametrize("name", ["residual", "systematic", "stratified"])
def test_copies_are_near_their_mean(name):
    rng = np.random.default_rng(1)
    for _ in range(50):
        weights = rng.dirichlet(np.full(7, 0.5))
        counts = copies(SCHEMES[name](weights, 20, rng), 7)
        if name == "residual":
            assert (counts >= np.floor(20 * weights - 1e-9)).all()
        elif name == "systematic":
            assert (np.abs(counts - 20 * weights) < 1 + 1e-9).all()
        else:
            assert (np.abs(counts - 20 * weights) < 2 + 1e-9).all()
        assert counts.sum() == 20


@pytest.mark.parametrize("name", SCHEMES)
def test_no_particle_without_weight_is_drawn(name):
    weights = np.array([0.0, 0.1, 0.0, 0.2, 0.7 - 1e-16, 0.0])
    for u in (0.0, 0.5, np.nextafter(1.0, 0.0)):
        rng = np.random.default_rng(2) if name in ("multinomial", "residual") else Fixed([u] * 9)
        indices = SCHEMES[name](weights, 9, rng)
        assert len(indices) == 9 and set(indices) <= {1, 3, 4}


def test_names_of_schemes():
    assert as_scheme("residual") is residual_resampling and as_scheme(systematic_resampling)
    with pytest.raises(errors.ValueTypeError, match="no resampling scheme") as caught:
        as_scheme("systematik")
    assert "multinomial, residual, stratified, systematic" in caught.value.fix


# --- resampling of particles -------------------------------------------------------------------------


def particles():
    return Particles(("a", "b", "c"), np.log([0.2, 0.5, 2.0]), 4)


def test_resampling_keeps_the_evidence_and_evens_the_weights():
    before = particles()
    assert before.log_evidence == pytest.approx(math.log(2.7 / 4))
    assert before.ess == pytest.approx(2.7**2 / (0.04 + 0.25 + 4.0))
    after = before.resample("residual", rng=1)
    assert len(after.traces) == after.size == 4
    assert after.log_evidence == pytest.approx(before.log_evidence, rel=1e-12)
    assert after.ess == pytest.approx(4.0) and (after.log_weights == 0.0).all()
    assert [("a", "b", "c")[k] for k in after.families] == list(after.traces)
    assert before.traces == ("a", "b", "c")


def test_the_evidence_goes_on_after_resampling():
    after = particles().resample(rng=1).reweight(np.log([1.0, 2.0, 3.0, 4.0]))
    assert after.log_evidence == pytest.approx(math.log(2.7 / 4) + math.log(2.5))


def test_a_scheme_of_the_users_own():
    assert particles().resample(lambda weights, n, rng: [0] * n).traces == ("a",) * 4
    with pytest.raises(errors.ValueTypeError, match="indices for 4 particles"):
        particles().resample(lambda weights, n, rng: [0])
