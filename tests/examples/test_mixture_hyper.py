"""Richardson and Green's mixture: its prior, its moves and its conditional draws are right, and it runs."""

import importlib.util
import math
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from gendsl import check_involutive, sample
from gendsl.inference import birth_death, mh, split_merge

PATH = Path(__file__).parents[2] / "examples" / "mixture_hyper.py"


@pytest.fixture(scope="module")
def example():
    spec = importlib.util.spec_from_file_location("mixture_hyper", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def trace(example):
    return sample(example.kernel(check=True), example.start(), 20, seed=1, progress=False).last


def test_the_prior_is_that_of_the_paper(example):
    y = example.VELOCITIES
    assert (len(y), y.min(), y.max()) == (82, 9.172, 34.279)
    assert math.isclose(example.MIDRANGE, (9.172 + 34.279) / 2)
    assert math.isclose(example.RANGE, 34.279 - 9.172)
    assert math.isclose(example.H, 10 / (34.279 - 9.172) ** 2)
    assert (example.ALPHA, example.G) == (2.0, 0.2)
    assert sum(example.PUBLISHED.values()) == pytest.approx(1.0, abs=0.006)


def test_the_density_of_the_model(example):
    mu, var, weights, rate = [20.0, 10.0], [2.0, 1.0], [0.7, 0.3], 0.5
    z, y = [0, 1, 0], np.array([19.0, 9.0, 21.5])
    choices = {"k": 2, "rate": rate, "weights": weights, "mu": mu, "var": var, "z": np.array(z), "y": y}
    expected = -math.log(30) + stats.gamma.logpdf(rate, 0.2, scale=1 / example.H)
    expected += stats.norm.logpdf(mu, example.MIDRANGE, example.RANGE).sum()
    # 1 / var is gamma with shape 2 and this rate; the density is of var
    precision = 1 / np.array(var)
    expected += (stats.gamma.logpdf(precision, 2, scale=1 / rate) + 2 * np.log(precision)).sum()
    expected += 2 * math.log(0.7) + math.log(0.3)
    expected += stats.norm.logpdf(y, np.array(mu)[z], np.sqrt(np.array(var)[z])).sum()
    assert example.mixture.assess((3,), choices).log_prob == pytest.approx(expected, rel=1e-12)


def test_split_keeps_the_first_two_moments_and_merge_undoes_it(example):
    one, u = {"weights": 0.4, "mu": 3.0, "var": 2.0}, {"u1": 0.3, "u2": 0.6, "u3": 0.2}
    first, second = example.split(one, u)
    w = np.array([first["weights"], second["weights"]])
    mu, var = np.array([first["mu"], second["mu"]]), np.array([first["var"], second["var"]])
    assert w.sum() == pytest.approx(0.4) and w @ mu == pytest.approx(0.4 * 3)
    assert w @ (mu**2 + var) == pytest.approx(0.4 * (9 + 2))
    merged, back = example.merge(first, second)
    assert merged == pytest.approx(one) and back == pytest.approx(u)


def test_conditional_draws_are_always_accepted(example, trace):
    rng = np.random.default_rng(2)
    for program in example.CONDITIONAL:
        for _ in range(5):
            trace, info = mh(program)(trace, rng)
            assert info.accepted and abs(info.log_accept_ratio) < 1e-9, program


def test_the_moves_are_involutions(example):
    moves = (
        split_merge(
            "mu", "var", bijection=(example.split, example.merge), auxiliary=example.three_numbers,
            pairs="adjacent", order="mu", vectors=["weights"], allocations="z", allocate=example.to_second,
        ),
        birth_death(
            "mu", "var", propose=example.empty_component, allocations="z",
            vectors={"weights": (example.make_room, example.close_up)},
        ),
    )  # fmt: skip
    for move in moves:
        report = check_involutive(example.mixture, (6,), move.q, move.f, observed="y", n=25, rng=1)
        assert report.ok, str(report)


def test_the_sampler_by_hand_keeps_the_prior_where_there_is_one_point(example):
    p, _ = example.posterior_by_partitions(np.array([20.0]), 30)
    assert p == pytest.approx(np.array([0.0, *[1 / 30] * 30]))


def test_it_runs_and_prints_its_results(example, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["mixture_hyper.py", "--draws", "60", "--warmup", "10"])
    example.main()
    out = capsys.readouterr().out
    assert "split_merge" in out and "birth_death" in out and "published 0.1" in out
    assert (tmp_path / "mixture_hyper.png").stat().st_size > 10_000
