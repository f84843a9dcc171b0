"""Clustering: the moves on partitions, and the exact posterior that they are compared with."""

import importlib
import math
import os
import sys
from collections import Counter
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from scipy.special import betaln

from gendsl import bernoulli, check_involutive, select
from gendsl.inference import cycle, involutive, mh, monte_carlo_error
from gendsl.testing import assert_stationary, enumeration
from tests.statistical import broken


@pytest.fixture(scope="module")
def example(load_example):
    return load_example("clustering")


@pytest.fixture(scope="module")
def trace(example):
    """A trace with three clusters, of means and weights drawn given the labels."""
    return example.start(example.POINTS, np.array([0, 0, 0, 2, 2, 1]), seed=3)


def log_p_points(example, labels, x):
    """log p(x | labels), the means integrated out."""
    log_p = 0.0
    for j in set(labels):
        own = x[np.asarray(labels) == j]
        cov = np.eye(len(own)) + example.SPREAD**2
        log_p += stats.multivariate_normal.logpdf(own, np.zeros(len(own)), cov)
    return log_p


def log_p_labels(example, labels):
    """log p(labels), the sticks integrated out."""
    counts = np.bincount(labels, minlength=example.STICKS)
    beyond = len(labels) - np.cumsum(counts)
    return np.sum(betaln(1 + counts, example.ALPHA + beyond)[:-1] - betaln(1, example.ALPHA))


def log_p(example, labels, x):
    """log p(labels, x), the sticks and the means integrated out."""
    return log_p_labels(example, labels) + log_p_points(example, labels, x)


def test_there_are_as_many_partitions_as_bell_numbers_say(example):
    for n, bell in enumerate((1, 1, 2, 5, 15, 52, 203)):
        found = list(example.partitions(n))
        assert len(found) == len(set(found)) == bell


def test_exact_posterior_is_that_of_labels_with_sticks_and_means_integrated_out(example):
    """Summed over all labels of a partition, up to what is lost with the sticks after the last."""
    x = example.POINTS[[0, 2, 4]]
    found = Counter()
    for labels in product(range(example.STICKS), repeat=len(x)):
        numbers = {}
        blocks = tuple(numbers.setdefault(z, len(numbers)) for z in labels)
        found[blocks] += math.exp(log_p_labels(example, np.array(labels)))
    for blocks in found:
        found[blocks] *= math.exp(log_p_points(example, blocks, x))
    total = sum(found.values())
    exact = example.exact_posterior(x)
    assert sum(exact.values()) == pytest.approx(1.0)
    for blocks, p in exact.items():
        assert found[blocks] / total == pytest.approx(p, rel=1e-4)


def test_the_density_of_the_model(example, trace):
    mu, stick, labels = trace.choices["mu"], trace.choices["stick"], np.array(trace.retval[0])
    mu, stick = np.array(list(mu.values())), np.array(list(stick.values()))
    weights = stick * np.cumprod(np.append(1.0, 1.0 - stick[:-1]))
    expected = stats.norm.logpdf(mu, 0, 5).sum() + stats.beta.logpdf(stick, 1, 1).sum()
    expected += np.log(weights[labels]).sum() + stats.norm.logpdf(example.POINTS, mu[labels], 1).sum()
    assert trace.log_prob == pytest.approx(expected, rel=1e-12)
    assert sum(example.broken_off(stick)) == pytest.approx(1.0)


@pytest.mark.skipif(os.environ.get("GENDSL_RUNTIME") == "reference", reason="about the compiled runtime")
def test_a_label_and_a_mean_are_followed_to_what_they_concern(example):
    said = " ".join(example.clusters.explain().replace("|", " ").split())
    assert "choice: scored again when mu at [z] or z changes" in said
    assert "all iterations are scored at once when weights changes" in said
    assert "return: gathered when it is asked for" in said
    assert "opaque" not in said


def test_conditional_draws_are_always_accepted(example, trace):
    rng = np.random.default_rng(1)
    for program in (example.draw_parameters, example.draw_labels) * 5:
        trace, info = mh(program)(trace, rng)
        assert info.accepted and abs(info.log_accept_ratio) < 1e-9, program


def test_probabilities_are_turned_round_with_the_two_points(example):
    x = [-2.0, 0.3, 1.0, 4.0]
    chances = np.array(example.towards_second(x, -1.0, 3.0))
    np.testing.assert_allclose(chances, 1 - np.array(example.towards_second(x, 3.0, -1.0)), rtol=1e-9)
    assert np.all(np.diff(chances) > 0) and chances[0] < 0.5 < chances[-1]


def test_the_move_passes_every_check(example):
    report = check_involutive(
        example.clusters, (5,), example.propose, example.split_merge, observed="x", n=25, rng=1
    )
    assert report.ok, str(report)


def test_acceptance_ratio_is_that_of_a_sampler_of_labels_alone(example, trace):
    """Parameters are drawn given the labels, so they cancel, up to what is integrated out."""
    x, labels = example.POINTS, np.array(trace.retval[0])
    kernel = involutive(example.propose, example.split_merge)
    seen = Counter()
    for seed in range(40):
        aux = example.propose.simulate((trace,), rng=np.random.default_rng(seed))
        _, info = kernel(trace, np.random.default_rng(seed))
        a, b, second, members = aux.retval
        to_split = "place" in aux
        joins = np.array([aux["joins", i] if to_split else labels[i] == b for i in members], dtype=bool)
        after = labels.copy()
        if to_split:
            after[[second, *(i for i, one in zip(members, joins, strict=True) if one)]] = b
        else:
            after[[second, *members]] = a
        apart, together = (after, labels) if to_split else (labels, after)
        chances = np.array(example.towards_second(x[members].tolist(), x[aux["first"]], x[second]))
        free = [j for j in range(example.STICKS) if not np.any(together == j)]
        log_q = np.log(np.where(joins, chances, 1 - chances)).sum()
        log_q += -b * math.log(2) - math.log(sum(0.5**j for j in free))
        log_ratio = log_p(example, apart, x) - log_p(example, together, x) - log_q
        assert info.log_accept_ratio == pytest.approx(log_ratio if to_split else -log_ratio, abs=1e-8)
        seen[to_split] += 1
    assert len(seen) == 2 and min(seen.values()) > 2


# --- the labels of few points, exactly ---------------------------------------------------------------


class EnumeratedLabels(enumeration.EnumeratingRng):
    """What decides about labels comes out in every way; means and sticks are always the same draws.

    They are drawn given the labels, so that they have no part in the acceptance ratio, and labels alone are a
    Markov chain.
    """

    def __init__(self, forks):
        super().__init__(forks)
        self.parameters = np.random.default_rng(5)

    def standard_normal(self):
        return self.parameters.standard_normal()

    def standard_gamma(self, shape):
        return self.parameters.standard_gamma(shape)

    def beta(self, a, b):
        return self.parameters.beta(a, b)


@pytest.fixture
def three_sticks(load_example, monkeypatch):
    """The example with three sticks, so that few points have few labels."""
    example = load_example("clustering")
    example.STICKS = 3
    monkeypatch.setattr(enumeration, "EnumeratingRng", EnumeratedLabels)
    return example


def change_by_a_step(example, x):
    """max |pi K - pi| of the labels of some points, by everything that a split or merge can do."""
    kernel = involutive(example.propose, example.split_merge)
    states = list(product(range(example.STICKS), repeat=len(x)))
    number = {labels: i for i, labels in enumerate(states)}
    log_pi = np.array([log_p(example, np.array(labels), x) for labels in states])
    pi = np.exp(log_pi - log_pi.max())
    pi /= pi.sum()
    matrix = np.zeros((len(states), len(states)))
    for i, labels in enumerate(states):
        trace = example.start(x, np.array(labels), seed=i)
        for (after, _), p in enumeration.enumerate_outcomes(lambda rng, trace=trace: kernel(trace, rng)):
            matrix[i, number[tuple(after.retval[0])]] += p
    np.testing.assert_allclose(matrix.sum(axis=1), 1.0, atol=1e-12)
    assert np.diag(matrix).max() <= 1.0 and np.mean(np.diag(matrix)) < 0.9
    return np.abs(pi @ matrix - pi).max()


def test_splits_and_merges_keep_the_posterior_of_the_labels_exactly(three_sticks):
    assert change_by_a_step(three_sticks, np.array([-1.2, 0.3, 1.5])) < 1e-12


def tosses(example, monkeypatch, logpdf=bernoulli.logpdf, sample=bernoulli.sample):
    """Points are drawn, or are scored, by something else than the toss of a coin."""
    methods = {"logpdf": logpdf, "sample": sample}
    monkeypatch.setattr(example, "bernoulli", type("tosses", (bernoulli,), methods))


def uncounted_tosses(example, monkeypatch):
    tosses(example, monkeypatch, logpdf=lambda self, x: 0.0)


def tosses_counted_twice(example, monkeypatch):
    tosses(example, monkeypatch, logpdf=lambda self, x: 2 * bernoulli.logpdf(self, x))


def fair_tosses(example, monkeypatch):
    """Points go by their odds, and are scored as if they went by the toss of a fair coin."""
    tosses(example, monkeypatch, logpdf=lambda self, x: math.log(0.5))


def no_place(example, monkeypatch):
    """The probability of the place of a new cluster is left out."""

    def change(there, aux):
        split = "place" in aux
        place = (aux if split else there._source.aux).project(select("place"))
        return place if split else -place

    broken._reweighted(monkeypatch, lambda there, aux: change(there, aux) if moves(there, aux) else 0.0)


def moves(there, aux):
    """Whether a stick is left for a new cluster, so that something happens."""
    return "place" in aux or "place" in there._source.aux


def no_way_back(example, monkeypatch):
    """The probability of the auxiliary choices that undo the move is left out."""
    broken.dropped_backward_auxiliary(monkeypatch)


def other_odds(example, monkeypatch):
    """Points are drawn by odds that the way back doesn't have."""
    tosses(example, monkeypatch, sample=lambda self, rng: bernoulli(0.9 * self.p).sample(rng))


@pytest.mark.parametrize(
    "mistake",
    [
        uncounted_tosses, fair_tosses, no_place,
        *[
            pytest.param(mistake, marks=pytest.mark.gendsl_long)
            for mistake in (tosses_counted_twice, no_way_back, other_odds)
        ],
    ],
)  # fmt: skip
def test_a_wrong_ratio_is_seen(three_sticks, mistake, monkeypatch):
    mistake(three_sticks, monkeypatch)
    assert change_by_a_step(three_sticks, np.array([-1.2, 0.3, 1.5])) > 1e-3


# --- the benchmark, finding clusters, the command -----------------------------------------------------


def test_the_benchmark_by_hand_does_the_same_steps(example, monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "benchmarks")
    monkeypatch.setitem(sys.modules, "clustering_example", example)
    monkeypatch.delitem(sys.modules, "clustering")  # the example's name, until here
    benchmark = importlib.import_module("clustering")
    trace = benchmark.trace_of(120)
    by_hand, merges = benchmark.ByHand(trace), 0
    for seed in range(10):
        aux = example.propose.simulate((trace,), rng=np.random.default_rng(seed))
        if "place" not in aux:
            first, second = aux["first"], aux["other"] + (aux["other"] >= aux["first"])
            _, info = involutive(example.propose, example.split_merge)(trace, np.random.default_rng(seed))
            ratio = by_hand.split_or_merge(first, second, np.random.default_rng(1))
            assert info.log_accept_ratio == pytest.approx(ratio, rel=1e-9)
            merges += 1
    assert merges > 3
    rng = np.random.default_rng(1)
    drawn = np.bincount([by_hand.label(7, rng) for _ in range(400)], minlength=example.STICKS) / 400
    logs = np.array([trace.update({("z", 7): j}).trace.log_prob for j in range(example.STICKS)])
    p = np.exp(logs - logs.max())
    p /= p.sum()
    assert np.all(np.abs(drawn - p) < 4 * np.sqrt(p * (1 - p) / 400) + 1e-3)
    assert by_hand.mean(3, 1e-9, rng) and not by_hand.mean(3, 100.0, rng)


def test_split_and_merge_find_clusters(example):
    x, labels, means = example.many_points(300)
    trace, kernel = example.start(x), involutive(example.propose, example.split_merge)
    rng = np.random.default_rng(2)
    before = example.agreement(trace, labels, means)[0]
    for _ in range(30):
        trace, _ = cycle(kernel, mh(example.draw_parameters))(trace, rng)
    share, expected = example.agreement(trace, labels, means)
    assert before < 0.25 and 0.9 < expected < 1.0
    assert share > 0.6


def test_the_command_prints_its_result(example, run_main):
    out, size = run_main(example, "--draws", "6", "--points", "20", "--search", "20", "--steps", "1")
    assert "all passed" in out and "aabbbb" in out and "Gibbs, one label" in out
    assert size > 20_000


@pytest.mark.statistical
@pytest.mark.parametrize("name", ["Gibbs", "split/merge", "both"])
def test_chains_agree_with_all_partitions(example, name):
    exact = example.exact_posterior(example.POINTS)
    chain = example.run(example.kernels()[name], 400, seed=2, progress=False)["partition"]
    statistics = {f"{k} clusters": lambda blocks, k=k: max(blocks) + 1 == k for k in (1, 2, 3, 4)}
    for i, j in ((0, 1), (0, 5), (2, 3), (1, 4), (4, 5)):
        statistics[f"{i} and {j}"] = lambda blocks, i=i, j=j: blocks[i] == blocks[j]
    for likely in list(exact)[:5]:
        statistics[f"{likely}"] = lambda blocks, likely=likely: blocks == likely
    for what, f in statistics.items():
        draws = np.array([f(blocks) for blocks in chain], dtype=float)
        expected = sum(p for blocks, p in exact.items() if f(blocks))
        z = (draws.mean() - expected) / max(monte_carlo_error(draws), math.sqrt(expected / len(draws)) / 2)
        assert abs(z) < 4, (what, z, draws.mean(), expected)


@pytest.mark.statistical
def test_split_and_merge_are_stationary(example):
    report = assert_stationary(
        involutive(example.propose, example.split_merge),
        example.clusters,
        (4,),
        observed="x",
        chains=64,
        steps=20,
        draws=3000,
        rng=1,
        statistics={
            "clusters": lambda trace: len(set(trace.retval[0])),
            "one": lambda trace: len(set(trace.retval[0])) == 1,
            "first two": lambda trace: trace["z", 0] == trace["z", 1],
            "label": lambda trace: trace["z", 0] == 0,
            "first stick": lambda trace: trace["stick", 0],
            "first stick²": lambda trace: trace["stick", 0] ** 2,
            "first mean²": lambda trace: trace["mu", 0] ** 2,
            "mean of the first²": lambda trace: trace["mu", trace["z", 0]] ** 2,
            "mean of the first": lambda trace: trace["mu", trace["z", 0]] * trace["x", 0],
        },
    )
    assert report.moved > 0.1
