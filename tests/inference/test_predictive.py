"""New observations from the draws of a run: their distribution against exact ones, shapes, and errors."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from gendsl import (
    bernoulli,
    beta,
    binom,
    gen,
    iid,
    mvnormal,
    normal,
    poisson,
    sample,
    select,
    uniform_discrete,
)
from gendsl.errors import UnknownAddressError, ValueTypeError, ZeroProbabilityError
from gendsl.inference import Kernel, Run, load_run, mh
from gendsl.inference.running.chain import Chain
from gendsl.inference.running.columns import Columns
from tests.inference.test_executors import InTurn


def chi_square(values, probabilities):
    """How far counts are from what is expected, as a standard normal score; bins of few are put together."""
    values, probabilities = np.asarray(values), np.asarray(probabilities)
    expected = probabilities * len(values)
    observed = np.bincount(values, minlength=len(probabilities))[: len(probabilities)]
    large = expected >= 8
    if (rest := len(values) - expected[large].sum()) > 1:
        expected = np.append(expected[large], rest)
        observed = np.append(observed[large], len(values) - observed[large].sum())
    statistic = np.sum((observed - expected) ** 2 / expected)
    return stats.norm.isf(stats.chi2.sf(statistic, len(expected) - 1))


# --- the distribution ------------------------------------------------------------------------------------


@gen
def tosses():
    p = ~beta(2, 3)
    x = ~binom(10, p)


def exact_draw(trace, rng):
    """An independent draw of the posterior beta(9, 6)."""
    return trace.update({"p": rng.beta(9, 6)}).trace, None


@pytest.mark.slow
def test_it_is_the_beta_binomial_distribution():
    start = tosses.generate((), {"x": 7}, rng=1).trace
    run = sample(Kernel(exact_draw, "exact"), start, 2500, seed=1, progress=False)
    x = run.posterior_predictive(rng=2)["x"]
    assert x.shape == (2500,) and x.dtype.kind == "i"
    assert abs(chi_square(x, stats.betabinom.pmf(np.arange(11), 10, 9, 6))) < 3.5
    # what would come of the prior, of the mean of p, and of the observation, are far from it
    for mistake in (stats.betabinom(10, 2, 3), stats.binom(10, 0.6), stats.betabinom(10, 16, 9)):
        assert chi_square(x, mistake.pmf(np.arange(11))) > 6
    again = run.posterior_predictive(rng=2)["x"]
    np.testing.assert_array_equal(x, again)
    z = (np.corrcoef(x, run["p"])[0, 1] - math.sqrt(10 / 25)) * math.sqrt(2500)
    assert abs(z) < 4  # each from the p of its own draw: var E x' / var x' = 10 / (10 + 9 + 6)


@gen
def growing():
    k = ~uniform_discrete(1, 3)
    hits = [("b", j) @ ~bernoulli(0.3) for j in range(k)]
    y = ~poisson(1 + 2 * sum(hits))


def states():
    """Choices and posterior probability of each state, by enumeration."""
    found = {}
    for k in (1, 2, 3):
        for hits in itertools.product([False, True], repeat=k):
            prior = math.prod(0.3 if hit else 0.7 for hit in hits) / 3
            found[(k, hits)] = prior * stats.poisson.pmf(4, 1 + 2 * sum(hits))
    total = sum(found.values())
    return {state: p / total for state, p in found.items()}


def test_it_is_right_where_the_structure_changes():
    posterior = states()
    keys, weights = list(posterior), list(posterior.values())

    def draw(trace, rng):
        k, hits = keys[rng.choice(len(keys), p=weights)]
        init = {"k": k, **{("b", j): hit for j, hit in enumerate(hits)}}
        return growing.generate((), {"y": 4}, init=init).trace, None

    start = growing.generate((), {"y": 4}, rng=1).trace
    run = sample(Kernel(draw, "exact"), start, 2000, seed=1, progress=False)
    predicted = run.posterior_predictive({"y": "y", "rate": lambda trace: 1 + 2 * sum(
        trace["b", j] for j in range(trace["k"]))}, rng=2)  # fmt: skip
    counts = np.arange(25)
    exact = sum(p * stats.poisson.pmf(counts, 1 + 2 * sum(hits)) for (_, hits), p in posterior.items())
    assert abs(chi_square(predicted["y"], exact)) < 3.5
    assert chi_square(predicted["y"], stats.poisson.pmf(counts, exact @ counts)) > 6
    rates = [1 + 2 * sum(trace["b", j] for j in range(trace["k"])) for trace in run.traces]
    np.testing.assert_array_equal(predicted["rate"], rates)


# --- other arguments ---------------------------------------------------------------------------------------


@gen
def line(xs):
    slope = ~normal(0, 1)
    for i, x in enumerate(xs):
        level = ("level", i) @ ~normal(0, 0.1)
        ("y", i) @ ~normal(slope * x + level, 0.2)


def line_run(n=3, draws=400, **options):
    start = line.generate(([1.0] * n,), {"y": [2.0] * n}, rng=1).trace
    return sample(mh(select("slope")), start, draws, seed=1, progress=False, **options)


def test_other_arguments_are_other_covariates_and_more_points():
    run = line_run()
    wide = run.posterior_predictive(args=([1.0, 1.0, 1.0, 10.0, -10.0],), rng=3)["y"]
    assert wide.shape == (400, 5)
    slopes, levels = run["slope"], run["level"]
    z = (wide[:, :3] - slopes[:, None] - levels) / 0.2  # levels that a draw has are kept
    assert abs(z.mean()) * math.sqrt(z.size) < 4 and abs(z.std() - 1) < 0.1
    z = (wide[:, 3:] - slopes[:, None] * [10, -10]) / math.hypot(0.1, 0.2)  # those of new points are drawn
    assert abs(z.mean()) * math.sqrt(z.size) < 4 and abs(z.std() - 1) < 0.1


def test_arguments_that_draws_do_not_fit():
    run = line_run(draws=2)
    with pytest.raises(UnknownAddressError, match="line doesn't make a choice that a draw has") as caught:
        run.posterior_predictive(args=([1.0],))
    assert "fix: give arguments with which the model makes all of them" in str(caught.value)
    assert caught.value.__suppress_context__
    with pytest.raises(ValueTypeError, match="got args=3"):
        run.posterior_predictive(args=3)

    @gen
    def few(most):
        k = ~uniform_discrete(0, most)
        x = ~normal(k, 1)

    start = few.generate((5,), {"x": 1.0}, init={"k": 4}).trace
    with pytest.raises(ZeroProbabilityError, match="a draw has probability zero under few: 'k'"):
        sample(Kernel(lambda trace, rng: (trace, None), "stay"), start, 1).posterior_predictive(args=(2,))


# --- shapes ------------------------------------------------------------------------------------------------


@gen
def many(n):
    mu = ~normal(0, 1)
    for i in range(n):
        for j in range(2):
            ("y", i, j) @ ~normal(mu, 1)
    v = ~iid(normal(mu, 1), 3)
    w = ~mvnormal([0.0, 0.0], np.eye(2))
    name = ~bernoulli(0.5)


def test_the_shapes_are_those_of_observations():
    observed = {"y": np.zeros((4, 2)), "v": np.zeros(3), "name": True}
    start = many.generate((4,), observed, rng=1).trace
    run = sample(mh(select("mu")), start, 5, chains=2, seed=1, executor=InTurn(), progress=False)
    new = run.posterior_predictive(rng=1)
    assert {name: array.shape for name, array in new.items()} == {
        "name": (2, 5), "v": (2, 5, 3), "y": (2, 5, 4, 2)
    }  # fmt: skip
    assert new["name"].dtype.kind == "b" and len(np.unique(new["y"])) == 80
    (one,) = sample(mh("mu"), start, 5, seed=1, progress=False).posterior_predictive("name", rng=1).values()
    assert one.shape == (5,)
    part = run.part([[1, 3], [0]]).posterior_predictive(rng=1)["v"]
    assert [np.shape(each) for each in part] == [(2, 3), (1, 3)]


def test_missing_observations_stay_missing():
    """What was not observed is latent, and kept."""
    with pytest.warns(UserWarning, match="observations"):
        start = line.generate(([1.0] * 3,), {"y": [2.0]}, rng=1).trace
    run = sample(mh(select("slope")), start, 4, seed=1, progress=False)
    assert run.posterior_predictive(rng=1)["y"].shape == (4, 1)


def test_draws_that_are_latent_choices_and_no_traces(tmp_path):
    """As those of runs that were read from files are, and those of other processes."""
    run = line_run(draws=20, checkpoint=tmp_path)
    loaded = load_run(tmp_path, line)
    assert {type(draw) for draw in loaded.chains[0].traces.kept} == {dict}
    expected = Run([Chain(Columns(), list(run.traces), run.last)]).posterior_predictive(rng=5)["y"]
    np.testing.assert_array_equal(loaded.posterior_predictive(rng=5)["y"], expected)


def test_what_cannot_be_predicted():
    with pytest.raises(ValueTypeError, match="this run recorded slope only") as caught:
        line_run(draws=3, record="slope").posterior_predictive()
    assert "leave `record` of sample out" in str(caught.value)
    start = line.simulate(([1.0],), rng=1)
    run = sample(mh(select("slope")), start, 3, seed=1, progress=False)
    with pytest.raises(ValueTypeError, match="line has no observations to predict"):
        run.posterior_predictive()
    assert run.posterior_predictive({"first": ("y", 0)}, rng=1)["first"].shape == (3,)
    assert line_run(draws=0).posterior_predictive() == {}


def test_a_model_shows_in_notebooks_what_its_updates_cost():
    page = tosses._repr_html_()
    assert page == f"<pre>{tosses.explain()}</pre>" and "tosses, " in page and "x = ~binom(10, p)" in page

    @gen
    def tagged(n):
        for i in range(n):
            ("<b>", i) @ ~normal(0, 1)

    assert "<b>" not in tagged._repr_html_() and "&lt;b&gt;" in tagged._repr_html_()
