"""Every example in a short form: it runs, agrees with its exact answer, and draws its figure."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import poisson as poisson_law

from gendsl import check_involutive, errors

EXAMPLES = Path(__file__).parent.parent.parent / "examples"


@pytest.fixture
def example(request):
    name = request.param
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def z_score(share, exact):
    return (share.probability - exact) / share.standard_error


@pytest.mark.parametrize("example", ["one_or_two_means"], indirect=True)
def test_one_or_two_means_agrees_with_quadrature(example, tmp_path):
    data, chain = example.run(draws=3000, seed=2, progress=False)
    exact = example.exact_probability_of_two(data)
    assert abs(z_score(chain.frequency("k")[2], exact)) < 4
    example.draw_figure(data, chain, exact, tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 10_000


@pytest.mark.parametrize("example", ["polar"], indirect=True)
def test_polar_agrees_with_quadrature(example, tmp_path):
    chain = example.run(draws=4000, seed=3, progress=False)
    assert abs(z_score(chain.frequency("polar")[True], example.exact_probability_of_polar())) < 4
    example.draw_figure(chain, tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 10_000


@pytest.mark.parametrize("example", ["birth_death"], indirect=True)
def test_birth_death_checks_find_the_flaw_and_the_corrected_move_keeps_the_prior(example, tmp_path):
    report = check_involutive(
        example.clusters, (3,), example.propose_flawed, example.flawed, observed="x", n=60, rng=1
    )
    assert not report.ok
    first = report.failures[0][1]
    assert isinstance(first, errors.InvolutionError)
    assert first.address[0] in ("mu", "var", "weights")
    assert first.location.filename == str(EXAMPLES / "birth_death.py")
    source = (EXAMPLES / "birth_death.py").read_text().splitlines()
    assert "model_out[" in source[first.location.lineno - 1]
    # every failing case is a death in the middle
    model, aux = report.first_case
    assert aux["is_birth"] is False and aux["deletion_idx"] < model["k"] - 1

    good = check_involutive(
        example.clusters, (3,), example.propose, example.birth_death, observed="x", n=60, rng=1
    )
    assert good.ok, str(good)
    chain = example.run(draws=4000, seed=4, progress=False)
    for k, share in chain.frequency("k").items():
        if share.probability > 0.05:
            assert abs(z_score(share, poisson_law.pmf(k - 1, 1))) < 4
    example.draw_figure(chain, tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 10_000


@pytest.mark.parametrize("example", ["birth_death"], indirect=True)
def test_birth_death_weights_sum_to_one_after_many_moves(example):
    """Rounding isn't carried on from move to move, not even by deaths of large components."""
    rng = np.random.default_rng(5)
    weights, furthest = [1.0], 0.0
    for _ in range(100_000):
        k = len(weights)
        if k == 1 or (k < 12 and rng.random() < 0.5):
            weights = example.add_weight(weights, int(rng.integers(k + 1)), rng.beta(2, 2 * k))
        else:
            weights = example.delete_weight(weights, int(rng.integers(k)))
        furthest = max(furthest, abs(sum(weights) - 1.0))
    assert furthest < 1e-12


@pytest.mark.parametrize("example", ["galaxies"], indirect=True)
def test_galaxies_runs_and_prints_its_results(example, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["galaxies.py", "--draws", "150"])
    example.main()
    out = capsys.readouterr().out
    for move in ("split_merge", "swap", "mh walk_means", "mh walk_variances", "mh walk_weights"):
        assert move in out
    assert "accepted 100.0%" in out  # the swap move
    assert "p(k = " in out and "±" in out
    assert (tmp_path / "galaxies.png").stat().st_size > 20_000


@pytest.mark.parametrize("example", ["galaxies"], indirect=True)
def test_galaxies_moves_pass_every_check(example):
    for q, f in (
        (example.split_or_merge, example.split_merge),
        (example.pick_cluster, example.swap),
    ):
        report = check_involutive(example.clusters, (5,), q, f, observed="x", n=150, rng=8)
        assert report.ok, str(report)


@pytest.mark.parametrize("example", ["galaxies"], indirect=True)
def test_galaxies_split_and_merge_parameters_are_inverse(example):
    rng = np.random.default_rng(0)
    for _ in range(50):
        before = (*rng.uniform(0.1, 1, 1), rng.normal(), rng.uniform(0.5, 3), *rng.uniform(0.05, 0.95, 3))
        after = example.merge_parameters(*example.split_parameters(*before))
        np.testing.assert_allclose(after, before, rtol=1e-9)
