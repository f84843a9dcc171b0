"""The particle filter of examples/hmm_smc.py against the forward algorithm, and that against a sum."""

import importlib.util
import itertools
import math
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from gendsl.testing import assert_exact

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def example():
    spec = importlib.util.spec_from_file_location("hmm_smc", ROOT / "examples" / "hmm_smc.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["hmm_smc"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    yield module
    del sys.modules["hmm_smc"]


def test_the_forward_algorithm_is_a_sum_over_paths(example):
    _, sounds = example.simulate(3)
    densities = [
        [math.prod(stats.norm(mean, example.NOISE).pdf(x) for mean, x in zip(at, sound, strict=True))
         for at in zip(example.EAST, example.NORTH, strict=True)]
        for sound in sounds
    ]  # fmt: skip
    last = np.zeros(example.PLACES)
    for path in itertools.product(range(example.PLACES), repeat=3):
        p = example.START[path[0]] * math.prod(example.MOVE[a][b] for a, b in itertools.pairwise(path))
        last[path[-1]] += p * math.prod(d[place] for d, place in zip(densities, path, strict=True))
    filtered, log_evidence = example.forward_algorithm(sounds)
    assert log_evidence[-1] == pytest.approx(math.log(last.sum()), rel=1e-12)
    np.testing.assert_allclose(filtered[-1], last / last.sum(), rtol=1e-9)
    np.testing.assert_allclose(np.sum(example.MOVE, axis=1), 1.0)


def test_the_rejuvenation_leaves_the_posterior_invariant(example):
    _, sounds = example.simulate(2)
    data = {("east", t): sounds[t, 0] for t in range(2)} | {("north", t): sounds[t, 1] for t in range(2)}
    assert_exact(example.rejuvenation(sounds), example.animal, (2,), data)


@pytest.mark.statistical
def test_the_filters_agree_with_the_forward_algorithm(example, tmp_path):
    places, sounds = example.simulate(8)
    filtered, _ = example.forward_algorithm(sounds)
    comparisons = [example.run(name, sounds, particles=30, runs=8, seed=2) for name in example.FILTERS]
    for found in comparisons:
        assert abs(found.z) < 4.5
    assert comparisons[1].ratios.std() < comparisons[0].ratios.std()
    assert np.max(np.abs(comparisons[-1].filtered() - filtered)) < 0.15
    assert np.nanmean([run.acceptance for run in comparisons[-1].runs]) > 0.05
    example.draw_figure(places, filtered, comparisons, tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 10_000
