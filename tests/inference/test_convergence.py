"""Split R-hat and effective draws: against ArviZ, by hand, and on chains whose answer is known."""

import math

import numpy as np
import pytest
from scipy import stats

from gendsl.inference import effective_draws, r_hat
from gendsl.inference.results.convergence import entries, normal_scores, rectangle
from tests.inference.test_chains import autoregression


def cases():
    rng = np.random.default_rng(1)
    yield "independent", rng.normal(size=(4, 500))
    yield "one chain", autoregression(0.7, 1003, rng)[None]
    yield "slow", np.array([autoregression(0.98, 800, rng) for _ in range(3)])
    yield "alternating", np.array([autoregression(-0.9, 300, rng) for _ in range(4)])
    yield "apart", rng.normal(size=(4, 200)) + np.arange(4)[:, None]
    yield "of other spread", rng.normal(size=(4, 200)) * np.array([1, 1, 1, 5])[:, None]
    yield "heavy tails", rng.standard_cauchy((4, 1000))
    yield "counts", rng.poisson(3, (4, 400))
    yield "two values", (autoregression(0.9, 900, rng) > 0).reshape(3, 300)
    yield "short", rng.normal(size=(2, 9))
    yield "shortest", rng.normal(size=(5, 4))
    yield "trend", np.linspace(0, 1, 100) + rng.normal(size=(2, 100)) / 10
    yield "infinite", np.where(rng.random((2, 300)) < 0.1, np.inf, rng.normal(size=(2, 300)))
    for seed in range(8):
        yield f"random {seed}", np.random.default_rng(seed).normal(size=(3, 40 + seed)).cumsum(axis=1)


@pytest.mark.parametrize(("name", "chains"), list(cases()), ids=[name for name, _ in cases()])
def test_they_are_those_of_arviz(name, chains):
    arviz = pytest.importorskip("arviz")
    chains = np.asarray(chains, dtype=float)
    assert effective_draws(chains) == pytest.approx(float(arviz.ess(chains, method="bulk")), rel=1e-9)
    if name == "infinite":  # whose quantiles ArviZ interpolates
        return
    tail = float(arviz.ess(chains, method="tail", prob=(0.05, 0.95)))
    assert effective_draws(chains, tail=True) == pytest.approx(tail, rel=1e-9)
    if len(chains) > 1:
        assert r_hat(chains) == pytest.approx(float(arviz.rhat(chains, method="rank")), rel=1e-9)


def test_one_chain_is_compared_with_itself():
    drifting = np.linspace(0, 2, 400) + np.random.default_rng(1).normal(size=400)
    scores = stats.norm.ppf((stats.rankdata(drifting) - 3 / 8) / (400 + 1 / 4)).reshape(2, 200)
    within, between = scores.var(axis=1, ddof=1).mean(), 200 * scores.mean(axis=1).var(ddof=1)
    both = math.sqrt((199 / 200 * within + between / 200) / within)
    assert r_hat(drifting) == r_hat([drifting]) == pytest.approx(both) and both > 1.1
    steady = np.random.default_rng(1).normal(size=2000)
    assert r_hat(steady) < 1.005


def test_r_hat_by_hand():
    # the halves 1 2 | 3 4 have the scores -a -b | b a, at (rank - 3/8) / (4 + 1/4)
    a, b = 1.0491314, 0.2993069
    between, within = (a + b) ** 2 / 2, (a - b) ** 2 / 2
    assert r_hat([1, 2, 3, 4]) == pytest.approx(math.sqrt(1 / 2 + between / within), rel=1e-6)
    scores = normal_scores(np.array([[30.0, 10.0], [20.0, 40.0]]))
    np.testing.assert_allclose(scores, [[b, -a], [-b, a]], rtol=1e-6)
    equal = normal_scores(np.array([5.0, 5.0, 7.0]))
    assert equal[0] == equal[1] == pytest.approx(-0.3957, abs=1e-4)  # ranks 1.5, 1.5, 3


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9])
def test_effective_draws_of_an_autoregression(rho):
    """n (1 - rho) / (1 + rho) of the mean of n; on average over runs, to its Monte Carlo error."""
    rng, n, runs = np.random.default_rng(4), 2000, 40
    found = [effective_draws([autoregression(rho, n, rng) for _ in range(4)]) for _ in range(runs)]
    exact = 4 * n * (1 - rho) / (1 + rho)
    assert abs(np.mean(found) / exact - 1) < 0.06
    assert np.std(found) / exact < 0.2


def test_where_nothing_can_be_said():
    for chains in ([], [[]], [1.0, 2.0, 3.0], [[2.0] * 9] * 2, [1.0, 2.0, math.nan, 3.0, 4.0], [[], []]):
        assert math.isnan(r_hat(chains)) and math.isnan(effective_draws(chains))
        assert math.isnan(effective_draws(chains, tail=True))
    # two chains that each stay elsewhere can't be trusted, however long they are
    assert r_hat([[0] * 50, [1] * 50]) == math.inf
    assert effective_draws([[0] * 50, [1] * 50]) < 5
    assert math.isnan(effective_draws([0, 1] * 50, tail=True)) or effective_draws([0, 1] * 50, tail=True) > 50


def test_chains_of_different_lengths():
    rng = np.random.default_rng(5)
    chains = [rng.normal(size=n) for n in (400, 30, 390, 380)]
    kept = rectangle(chains)
    assert kept.shape == (3, 380)
    np.testing.assert_array_equal(kept[0], chains[0][20:])
    assert r_hat(chains) == r_hat(kept)
    assert effective_draws(chains) == pytest.approx(effective_draws(kept) * 1200 / 1140)
    assert rectangle([chains[0], []]).shape == (1, 400)
    assert rectangle([[1, 2, 3], [1, 2]]) is None


def test_entries():
    assert entries([[1, 1, 2, 1, 2, 2], [2, 2, 1]], 2) == 2
    assert entries([[1, 1, 2, 1, 2, 2], [2, 2, 1]], 1) == 2
    assert entries([[3, 3, 3]], 3) == 0 and entries([[]], 3) == 0
    assert entries([[math.nan, 1.0, math.nan]], math.nan) == 1
    assert entries([["ab", ("a", 1), "ab"]], "ab") == 1
