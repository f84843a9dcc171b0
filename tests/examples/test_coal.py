"""The change-point sampler of examples/coal.py, held against quadrature and against hand-written moves."""

import importlib.util
import math
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import poisson as poisson_law

from gendsl import check_involutive, iid, involutive_mcmc, piecewise_uniform, poisson, sample
from gendsl.inference.results.summary import frequency
from gendsl.testing import assert_stationary

ROOT = Path(__file__).parents[2]


def load(name, folder):
    spec = importlib.util.spec_from_file_location(name, ROOT / folder / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def coal():
    return load("coal", "examples")


@pytest.fixture(scope="module")
def by_hand():
    return load("coal_numpy", "benchmarks")


def assert_shares(shares, exact, threshold=4.0):
    """Each common value's share agrees with its exact probability; they are common enough to say so."""
    common = [k for k, p in enumerate(exact) if p > 0.03]
    assert len(common) > 3
    for k in common:
        probability, error = shares[k]
        assert abs(probability - exact[k]) < threshold * error, (k, probability, error, exact[k])


# --- the densities ---------------------------------------------------------------------------------


def test_the_first_position_is_the_second_smallest(coal):
    """Of as many uniform ones as there are with k steps."""
    first = [coal.step_function.generate((), {"k": 3}, rng=i).trace["position", 0] for i in range(1000)]
    smallest_two = np.sort(np.random.default_rng(1).uniform(0, coal.DAYS, (4000, 7)))[:, 1]
    assert np.mean(first) == pytest.approx(smallest_two.mean(), abs=4 * 1.5 * np.std(first) / 1000**0.5)


def test_positions_have_the_density_of_even_numbered_order_statistics(coal):
    positions = [5000.0, 21_000.0, 30_000.0]
    choices = {"k": 3, "position": positions, "height": [0.01] * 4}
    log_prob = coal.step_function.assess((), choices).log_prob
    lengths = np.diff([0.0, *positions, coal.DAYS])
    expected = math.log(coal.PRIOR_OF_K[3]) + math.lgamma(8) - 7 * math.log(coal.DAYS) + np.log(lengths).sum()
    expected += 4 * (math.log(200) - 200 * 0.01)
    assert log_prob == pytest.approx(expected, rel=1e-12)


def test_the_process_is_a_poisson_number_of_independent_dates(coal):
    """A Poisson process is a Poisson number of events, each with a density proportional to the rate."""
    positions, heights = [1000.0, 30_000.0], np.array([0.01, 0.002, 0.004])
    dates = coal.read_dates()
    masses = heights * np.diff([0.0, *positions, coal.DAYS])
    each = piecewise_uniform([0.0, *positions, coal.DAYS], masses / masses.sum())
    expected = poisson(masses.sum()).logpdf(len(dates)) + iid(each, len(dates)).logpdf(dates)
    process = coal.poisson_process(positions, heights.tolist(), coal.DAYS)
    assert process.logpdf(dates) == pytest.approx(expected + math.lgamma(len(dates) + 1), rel=1e-12)


def test_draws_of_the_process_have_its_rate(coal):
    process = coal.poisson_process([1000.0, 30_000.0], [0.01, 0.0, 0.004], coal.DAYS)
    rng = np.random.default_rng(2)
    draws = [process.sample(rng) for _ in range(2000)]
    assert all(process.support.contains(dates) for dates in draws)
    counts = np.array([np.histogram(dates, [0, 1000, 30_000, coal.DAYS])[0] for dates in draws])
    means = np.array([10.0, 0.0, 0.004 * 10_907])
    np.testing.assert_allclose(counts.mean(axis=0), means, atol=4 * (means.max() / 2000) ** 0.5)
    assert process.support.contains([2, 3])
    assert not process.support.contains([3.0, 2.0])
    assert not process.support.contains([-1.0, 2.0])


# --- the exact posterior ---------------------------------------------------------------------------


def test_the_posterior_by_matrices_agrees_with_adaptive_quadrature(coal):
    """The odds of one step against none, with few dates so that none is negligible."""
    dates = np.array([3000.0, 7000.0, 7500.0, 9000.0, 30_000.0])

    def segment(left, right):
        n, d = np.searchsorted(dates, right) - np.searchsorted(dates, left), right - left
        return 200 * math.factorial(n) / (200 + d) ** (n + 1)

    def both(s):
        return 6 / coal.DAYS**3 * s * (coal.DAYS - s) * segment(0, s) * segment(s, coal.DAYS)

    one = quad(both, 0, coal.DAYS, points=dates, limit=200)[0] * coal.PRIOR_OF_K[1]
    none = segment(0, coal.DAYS) * coal.PRIOR_OF_K[0]
    p = coal.exact_posterior_of_k(dates)
    assert p.sum() == pytest.approx(1.0)
    assert p[1] / p[0] == pytest.approx(one / none, rel=1e-3)


def test_a_finer_grid_changes_little(coal):
    dates = coal.read_dates()
    coarse, fine = coal.exact_posterior_of_k(dates, 100.0), coal.exact_posterior_of_k(dates, 50.0)
    np.testing.assert_allclose(coarse, fine, atol=1e-3)


# --- the moves -------------------------------------------------------------------------------------


def test_every_move_passes_every_check(coal):
    for q, f in coal.MOVES:
        report = check_involutive(coal.disasters, (), q, f, observed="dates", n=150, rng=1)
        assert report.ok, str(report)


def test_without_dates_the_moves_keep_the_prior(coal):
    start = coal.step_function.simulate(rng=1)
    chain = sample(coal.greens_kernel(check=False), start, 20_000, record="k", seed=1, progress=False)
    assert_shares(chain.frequency("k"), poisson_law.pmf(np.arange(31), 3))


def test_the_moves_are_stationary(coal):
    """From draws of the model, with the dates drawn anew at every step, the model is what is seen."""
    report = assert_stationary(
        coal.kernel(check=False),
        coal.disasters,
        observed="dates",
        statistics={
            "k": lambda trace: trace["k"],
            "k²": lambda trace: trace["k"] ** 2,
            "first height": lambda trace: trace["height", 0],
            "its square": lambda trace: trace["height", 0] ** 2,
            "first position": lambda trace: trace["position", 0] if trace["k"] else 0.0,
            "dates": lambda trace: len(trace["dates"]),
        },
        steps=100,
        draws=4000,
        rng=2,
    )
    assert report.moved > 0.2


def test_the_chain_agrees_with_the_exact_posterior(coal, tmp_path, monkeypatch):
    """Without its checks, which change no draw."""
    monkeypatch.setattr(coal, "kernel", partial(coal.kernel, check=False))
    dates, chain = coal.run(draws=1500, seed=3, progress=False)
    exact = coal.exact_posterior_of_k(dates)
    assert_shares(chain.frequency("k"), exact)
    rate = chain["rate"].mean(axis=0)
    assert 2.5 < rate[50] < 3.7 and 0.5 < rate[-50] < 1.5  # 124 disasters in the first 40 years, 67 after
    coal.draw_figure(dates, chain, exact, tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 10_000


def test_the_command_prints_its_result(coal, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["coal.py", "--draws", "20"])
    coal.main()
    out = capsys.readouterr().out
    assert out.count("all passed") == 4
    assert "birth_death" in out and "p(k = " in out and "exact" in out
    assert (tmp_path / "coal.png").stat().st_size > 10_000


# --- the moves written by hand ---------------------------------------------------------------------


def test_the_hand_written_chain_agrees_with_the_exact_posterior(coal, by_hand):
    dates = coal.read_dates()
    data, rng = dates.tolist(), np.random.default_rng(4)
    state = by_hand.state_at([14_000.0], [0.009, 0.0025], data)
    ks = []
    for _ in range(60_000):
        state = by_hand.step(state, data, rng)
        ks.append(len(state.positions))
    assert state.counts == by_hand.state_at(state.positions, state.heights, data).counts
    assert_shares(frequency([ks]), coal.exact_posterior_of_k(dates))


def auxiliary(by_hand, aux):
    """The hand-written form of the auxiliary draws of a move."""
    if "birth" in aux:
        return by_hand.Birth(aux["at"], aux["u"]) if aux["birth"] else by_hand.Death(aux["j"])
    if "log_factor" in aux:
        return by_hand.Height(aux["j"], aux["log_factor"])
    return by_hand.Position(aux["j"], aux["at"]) if "j" in aux else None


def test_acceptance_ratios_agree_with_the_hand_written_ones(coal, by_hand):
    dates = coal.read_dates()
    data, rng = dates.tolist(), np.random.default_rng(5)
    state = by_hand.state_at([], [0.005], data)
    seen = dict.fromkeys(by_hand.PROPOSE, 0)
    for i in range(400):
        for _ in range(5):
            state = by_hand.step(state, data, rng)
        q, f = coal.GREENS[i % 3]
        trace = coal.trace_of(state.positions, state.heights, dates)
        move = auxiliary(by_hand, q.simulate((trace,), rng=i))  # the draws that the step below makes first
        if move is None:
            continue
        new, info = involutive_mcmc(trace, q, (), f, rng=i)
        proposal, ratio = by_hand.PROPOSE[type(move)](state, move, data)
        seen[type(move)] += 1
        assert info.log_accept_ratio == pytest.approx(ratio, rel=1e-9, abs=1e-9), (state, move)
        if info.accepted:
            assert new["k"] == len(proposal.positions)
            for name, values in (("position", proposal.positions), ("height", proposal.heights)):
                found = [new[name, j] for j in range(len(values))]
                np.testing.assert_allclose(found, values, rtol=1e-12)
    assert min(seen.values()) > 30
