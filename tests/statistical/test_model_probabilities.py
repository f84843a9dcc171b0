"""Trans-dimensional samplers against model probabilities that are known exactly.

Each chain's share of a model must lie within four Monte Carlo standard errors of the exact probability.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp

from examples import one_or_two_means, polar
from gendsl import bernoulli, copy, gen, inv_gamma, log_normal, normal, read, sample, select, transform, write
from gendsl.inference import cycle, involutive, mh, mixture, repeat
from tests.statistical import broken

pytestmark = pytest.mark.statistical


def assert_agrees(chain, name, exact):
    """The shares of all values are within four standard errors of their exact probabilities."""
    shares = chain.frequency(name)
    assert set(shares) == set(exact)
    for value, probability in exact.items():
        share, error = shares[value]
        assert error < 0.012  # the comparison says something
        assert abs(share - probability) < 4 * error, (value, share, error, probability)


def probabilities(log_evidence):
    """The probability of each model, from log evidences that include its prior."""
    total = logsumexp(list(log_evidence.values()))
    return {model: math.exp(value - total) for model, value in log_evidence.items()}


# --- linear regression: which of two predictors are in the model -----------------------------------------

INPUTS = np.array([[0.2, 1.0], [-1.1, 0.4], [0.9, -0.7], [1.5, 0.1], [-0.4, -1.2], [0.3, 0.8], [-1.4, -0.4],
                   [0.0, 0.6]])  # fmt: skip
OUTPUTS = np.array([0.75, -0.55, 0.1, 1.0, -1.1, 1.05, -0.85, 0.7])
MODELS = list(itertools.product((False, True), repeat=2))
SPREAD, NOISE, PRIOR = 1.5, 0.6, (0.3, 0.5)


@gen
def known_noise(inputs):
    included = [("included", j) @ ~bernoulli(p) for j, p in enumerate(PRIOR)]
    slopes = [("slope", j) @ ~normal(0, SPREAD) if included[j] else 0.0 for j in range(2)]
    for i, x in enumerate(inputs):
        ("y", i) @ ~normal(slopes[0] * x[0] + slopes[1] * x[1], NOISE)


@gen
def unknown_noise(inputs):
    variance = ~inv_gamma(2.5, 1.0)
    included = [("included", j) @ ~bernoulli(p) for j, p in enumerate(PRIOR)]
    sd = math.sqrt(variance)
    slopes = [("slope", j) @ ~normal(0, SPREAD * sd) if included[j] else 0.0 for j in range(2)]
    for i, x in enumerate(inputs):
        ("y", i) @ ~normal(slopes[0] * x[0] + slopes[1] * x[1], sd)


@gen
def toggle(trace, centre, sd):
    j = ~(0 + bernoulli(0.6))
    if not trace["included", j]:
        u = ~normal(centre, sd)


@transform
def include_or_drop(model_in, aux_in, *, model_out, aux_out):
    j = read(aux_in["j"])
    copy(aux_in["j"], aux_out["j"])
    included = read(model_in["included", j])
    write(model_out["included", j], not included)
    if included:
        write(aux_out["u"], 2.0 * read(model_in["slope", j]) - 0.3)
    else:
        write(model_out["slope", j], (read(aux_in["u"]) + 0.3) / 2.0)


@gen
def walk_slopes(trace):
    for j in range(2):
        if trace["included", j]:
            ("slope", j) @ ~normal(trace["slope", j], 0.4)


@gen
def walk_variance(trace):
    variance = ~log_normal(math.log(trace["variance"]), 0.7)


@gen
def switch_predictor(trace):
    """A proposal that trades one predictor for the other where just one is included."""
    first, second = trace["included", 0], trace["included", 1]
    if first != second:
        ("included", 0) @ ~bernoulli(1.0 if second else 0.0)
        ("included", 1) @ ~bernoulli(1.0 if first else 0.0)
        ("slope", 0 if second else 1) @ ~normal(0.5, 0.5)


def prior_of(model):
    """log of the prior probability of a model."""
    return sum(math.log(p if on else 1 - p) for on, p in zip(model, PRIOR, strict=True))


def exact_with_known_noise():
    """Integrating the slopes out, y ~ N(0, noise² I + spread² X Xᵀ), with X the included columns."""
    evidence = {}
    for model in MODELS:
        x = INPUTS[:, list(model)]
        cov = NOISE**2 * np.eye(len(x)) + SPREAD**2 * x @ x.T
        evidence[model] = prior_of(model) + stats.multivariate_normal.logpdf(OUTPUTS, np.zeros(len(x)), cov)
    return probabilities(evidence)


def exact_with_unknown_noise():
    """Integrating the variance out too, y is multivariate t with 2a degrees of freedom, scale b / a."""
    evidence = {}
    for model in MODELS:
        x = INPUTS[:, list(model)]
        shape = 1.0 / 2.5 * (np.eye(len(x)) + SPREAD**2 * x @ x.T)
        law = stats.multivariate_t(np.zeros(len(x)), shape, df=5.0)
        evidence[model] = prior_of(model) + law.logpdf(OUTPUTS)
    return probabilities(evidence)


def included(trace):
    """Which predictors are in the model."""
    return trace["included", 0], trace["included", 1]


def regression_chain(model, kernel, draws, seed):
    """A chain on the regression data."""
    start, _ = model.generate(
        (INPUTS.tolist(),), {"y": OUTPUTS}, init={("included", 0): False, ("included", 1): False}, rng=seed
    )
    record = {"included": included}
    return sample(kernel, start, draws, warmup=200, record=record, seed=seed, progress=False)


KNOWN = cycle(involutive(toggle, include_or_drop, (0.7, 1.0)), mh(walk_slopes), mh(switch_predictor))


def test_which_predictors_with_known_noise():
    exact = exact_with_known_noise()
    assert all(0.005 < p < 0.9 for p in exact.values())
    chain = regression_chain(known_noise, KNOWN, 15_000, seed=1)
    assert_agrees(chain, "included", exact)
    assert all(0.02 < tally.rate < 0.98 for tally in chain.acceptance.values())


@pytest.mark.gendsl_long
def test_which_predictors_by_prior_proposals():
    one = mixture([mh(select(("included", j))) for j in range(2)], [1, 2])
    chain = regression_chain(known_noise, cycle(repeat(one, 4), mh(walk_slopes)), 16_000, seed=2)
    assert_agrees(chain, "included", exact_with_known_noise())


@pytest.mark.gendsl_long
def test_which_predictors_with_unknown_noise():
    kernel = cycle(involutive(toggle, include_or_drop, (0.7, 1.0), check=True), mh(walk_slopes),
                   mh(walk_variance))  # fmt: skip
    chain = regression_chain(unknown_noise, kernel, 12_000, seed=3)
    assert_agrees(chain, "included", exact_with_unknown_noise())


@pytest.mark.parametrize(
    "mistake",
    [broken.dropped_jacobian, broken.inverted_jacobian, broken.wrong_sign, broken.dropped_backward_auxiliary],
    ids=lambda mistake: mistake.__name__,
)
def test_a_mistake_gives_other_probabilities(mistake, monkeypatch):
    mistake(monkeypatch)
    chain = regression_chain(known_noise, KNOWN, 3000, seed=4)
    shares = chain.frequency("included")
    exact = exact_with_known_noise()
    assert any(
        abs(shares[model].probability - exact[model]) > 6 * shares[model].standard_error
        for model in exact
        if model in shares
    )


# --- by quadrature: one or two means, polar or cartesian ---------------------------------------------------


def test_one_or_two_means(monkeypatch):
    """The probability of two means, by integrating the means out on a grid.

    The chain is that of the example, without its checks: those change no draw.
    """
    moves = involutive(None, one_or_two_means.swap), mh(one_or_two_means.walk)
    kernel = cycle(involutive(one_or_two_means.offset, one_or_two_means.split_merge), mixture(list(moves)))
    monkeypatch.setattr(one_or_two_means, "KERNEL", kernel)
    data, chain = one_or_two_means.run(draws=8000, seed=3, progress=False)
    two = one_or_two_means.exact_probability_of_two(data)
    assert 0.05 < two < 0.95
    assert_agrees(chain, "k", {1: 1 - two, 2: two})


@pytest.mark.gendsl_long
def test_polar_or_cartesian():
    """The probability of the polar description, by integrating r and theta out."""
    chain = polar.run(draws=8000, seed=4, progress=False)
    exact = polar.exact_probability_of_polar()
    assert_agrees(chain, "polar", {True: exact, False: 1 - exact})
