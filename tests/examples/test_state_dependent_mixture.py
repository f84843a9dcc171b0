"""A mixture of proposals whose weights depend on the state: exact by enumeration."""

import itertools

import numpy as np
import pytest

from gendsl.inference.kernel import accept
from gendsl.testing import assert_exact

X = {"x": np.array([0.2, 1.6, 1.1])}


@pytest.fixture(scope="module")
def example(load_example):
    return load_example("state_dependent_mixture")


def test_the_move_leaves_the_posterior_exactly_invariant(example):
    found = assert_exact(example.kernel(5.0), example.signal, (3,), X)
    assert len(found.traces) == 27
    assert found.imbalance < 1e-12


def test_without_the_correction_the_move_is_wrong(example):
    """The planted mistake: the site is picked by the state, and the choice at it moved as if it were not."""

    def uncorrected(trace, rng):
        draw = example.pick_and_propose.simulate((trace, 5.0), rng=rng)
        proposed, log_weight, _ = trace.update({("z", draw["site"]): draw["new"]})
        return (proposed if accept(log_weight, rng) else trace), None

    with pytest.raises(AssertionError, match="doesn't leave the posterior invariant"):
        assert_exact(uncorrected, example.signal, (3,), X)


def test_sites_next_to_an_edge_are_picked_more_often(example):
    found = example.near_edges(np.array([0, 0, 1, 1, 1]), 5.0)
    np.testing.assert_allclose(found, np.array([1, 5, 5, 1, 1]) / 13)
    np.testing.assert_allclose(example.near_edges(np.array([2, 2, 2]), 5.0), np.full(3, 1 / 3))


def test_forward_backward_agrees_with_enumeration(example):
    x = np.array([0.2, 1.6, 1.1, -0.5])
    marginals, changes = np.zeros((4, 3)), 0.0
    total = 0.0
    for z in itertools.product(range(3), repeat=4):
        p = np.exp(example.signal.assess((4,), {"z": list(z), "x": x}).log_prob)
        total += p
        changes += p * sum(a != b for a, b in itertools.pairwise(z))
        marginals[np.arange(4), list(z)] += p
    found = example.forward_backward(x)
    np.testing.assert_allclose(found[0], marginals / total, rtol=1e-10)
    assert found[1] == pytest.approx(changes / total, rel=1e-10)


def test_the_command_prints_its_result(example, run_main):
    out, size = run_main(example, "--draws", "30")
    assert "all passed" in out and out.count("number of changes") == 2
    assert size > 20_000


@pytest.mark.statistical
def test_the_chain_agrees_with_forward_backward(example):
    x = example.simulate_data()
    marginals, mean_changes = example.forward_backward(x)
    chain = example.run(x, draws=1000, seed=3, progress=False)
    counts = example.changes(chain)
    assert abs(counts.mean() - mean_changes) < 4 * example.monte_carlo_error(counts)
    for site in range(0, len(x), 5):
        level = chain["z"][:, site]
        difference = level.mean() - marginals[site] @ np.arange(3)
        assert abs(difference) < 4 * example.monte_carlo_error(level), site
