"""What is asked of a run: shares and their errors over chains, groups by structure, ArviZ, the summary."""

import math
import pickle
import re
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from gendsl import bernoulli, categorical, gen, iid, normal, sample, select, uniform_discrete
from gendsl.errors import UnknownAddressError, ValueTypeError
from gendsl.inference import (
    Kernel,
    Run,
    cycle,
    effective_draws,
    load_run,
    mh,
    mixture,
    monte_carlo_error,
    r_hat,
    resume,
)
from gendsl.inference.results.arviz_export import filled, observed_arrays, posterior_arrays, step_arrays
from gendsl.inference.results.summary import frequency
from gendsl.inference.running import chain_store, checkpoint
from gendsl.inference.running.chain import Chain
from gendsl.inference.running.columns import Columns
from gendsl.inference.running.tally import Tally
from tests.inference.test_chains import autoregression
from tests.inference.test_executors import InTurn


@gen
def model():
    k = ~uniform_discrete(1, 3)
    for j in range(k):
        ("mu", j) @ ~normal(0, 1)
    b = ~bernoulli(0.5)


KERNEL = cycle(mh(select("k")), mh(select("b")), mh(select(("mu", 0))))


def start():
    return model.simulate((), rng=1)


def means(trace):
    return np.array([trace["mu", j] for j in range(trace["k"])])


def made(*chains, name="x"):
    """A run whose chains recorded these values."""
    return Run([Chain(Columns([{name: value} for value in chain]), [], start()) for chain in chains])


# --- errors over chains ------------------------------------------------------------------------------


@pytest.mark.parametrize("rho", [-0.5, 0.0, 0.8, 0.99])
@pytest.mark.parametrize("m", [1, 4])
def test_the_error_is_the_spread_of_means(rho, m):
    """The asymptotic variance of the mean of m chains of n is (1 + rho) / (1 - rho) / (m n)."""
    rng, n, runs = np.random.default_rng(2), 5000, 50
    chains = [[autoregression(rho, n, rng) for _ in range(m)] for _ in range(runs)]
    errors = np.array([monte_carlo_error(each) for each in chains])
    exact = math.sqrt((1 + rho) / (1 - rho) / (n * m))
    # where 5000 draws are worth 25 independent ones they tell the error itself to a third or so
    assert np.abs(errors / exact - 1).mean() < (0.3 if rho > 0.9 else 0.08)
    z = np.array([np.mean(each) for each in chains]) / errors
    assert abs((z**2).mean() - 1) < 4 * math.sqrt(2 / runs)


def test_the_error_by_the_definition():
    """Term by term, without Fourier transforms."""
    rng = np.random.default_rng(3)
    chains = [autoregression(0.7, n, rng) for n in (60, 75)]
    ends = [x[-60:] - x[-60:].mean() for x in chains]
    between = np.var([x[-60:].mean() for x in chains], ddof=1)
    within = [np.mean([sum(x[i] * x[i + t] for i in range(60 - t)) / 60 for x in ends]) for t in range(60)]
    rho = [(c + between) / (within[0] + between) for c in within]
    tau, least = -1.0, math.inf
    for k in range(30):
        least = min(least, rho[2 * k] + rho[2 * k + 1])
        if least <= 0.0:
            break
        tau += 2.0 * least
    expected = math.sqrt((within[0] + between) * tau / 135)
    assert monte_carlo_error(chains) == pytest.approx(expected, rel=1e-9)


def test_the_error_sees_chains_that_disagree():
    rng = np.random.default_rng(1)
    stuck = [rng.normal(center, 0.1, 400) for center in (0.0, 5.0)]
    each = [monte_carlo_error(chain) for chain in stuck]
    assert monte_carlo_error(stuck) > 20 * max(each)


def test_the_error_by_hand():
    # autocovariances 9, 4.5, 0, -4.5, ...: the first two count, (2 * 13.5 - 9) / 6 = 3
    assert monte_carlo_error([0, 0, 0, 6, 6, 6]) == pytest.approx(math.sqrt(3))
    assert monte_carlo_error([range(1, 10), range(2, 11)]) == monte_carlo_error(
        np.array([range(1, 10), range(2, 11)])
    )
    assert monte_carlo_error([2.0] * 9) == 0.0
    assert math.isnan(monte_carlo_error([range(9), range(3)])) and math.isnan(monte_carlo_error([]))
    for bad in (math.nan, math.inf):
        assert math.isnan(monte_carlo_error([1.0, 2.0, bad, 1.0, 2.0]))


def test_the_error_of_draws_that_alternate():
    """Their mean is nearly exact, and how nearly such draws can't tell: tau is 1 / log10(n) or more."""
    assert monte_carlo_error([1, 2] * 50) == pytest.approx(0.5 / math.sqrt(100 * 2))


def test_shares_are_of_all_chains():
    shares = frequency([[1, 1, 2, 2], [2, 2, 2, 2, 2, 2]])
    assert shares[1].probability == 0.2 and shares[2].probability == 0.8
    run = sample(KERNEL, start(), 50, chains=3, record="k", seed=1, executor=InTurn())
    for k, share in run.frequency("k").items():
        assert share.probability == np.mean(run["k"] == k)
        assert share.standard_error == monte_carlo_error(run["k"] == k)


def test_a_value_that_is_never_left_has_no_error():
    """The share is 1 in every run of this length, and the probability isn't: an error of 0 would be wrong."""
    for chains in ([[2] * 100], [[2] * 100] * 4):
        ((value, share),) = frequency(chains).items()
        assert value == 2 and share.probability == 1.0 and math.isnan(share.standard_error)
    run = made([2] * 50, [2] * 50)
    assert math.isnan(run.frequency("x")[2].standard_error)
    assert math.isnan(run.per_structure("x")[2].standard_error)
    # chains that each stay elsewhere disagree, and that is seen
    assert frequency([[1] * 100, [2] * 100])[1].standard_error > 0.1


@pytest.mark.parametrize(
    "chains", [[[1, 2, 1, 2]], [[1, 2] * 8, [2, 1] * 8], [[1, 1, 2] * 12], [[1, 1, 2, 2, 1, 1, 2, 2, 1]]]
)
def test_the_error_of_a_share_is_never_zero(chains):
    for value, share in frequency(chains).items():
        assert share.standard_error == monte_carlo_error([[x == value for x in chain] for chain in chains])
        assert share.standard_error > 0.01


# --- groups ------------------------------------------------------------------------------------------


def test_draws_by_the_choices_there_are():
    run = sample(KERNEL, start(), 60, chains=2, seed=1, executor=InTurn())
    groups = run.per_structure()
    assert {len(paths) for paths in groups} == {3, 4, 5} and len(groups) == 3
    shares = [group.probability for group in groups.values()]
    assert shares == sorted(shares, reverse=True) and sum(shares) == pytest.approx(1)
    for paths, group in groups.items():
        k = len(paths) - 2
        assert group[:2] == run.frequency("k")[k] and len(group.run) == np.sum(run["k"] == k)
        assert all({t["k"] for t in chain.traces} == {k} for chain in group.run.chains)
        assert np.concatenate(group.run.by_chain(("mu", k - 1))).shape == (len(group.run),)


def test_draws_by_a_recorded_quantity():
    run = sample(KERNEL, start(), 80, record={"k": "k", "mu": means}, seed=1)
    groups = run.per_structure("k")
    for k, group in groups.items():
        assert group.run["mu"].shape == (np.sum(run["k"] == k), k)
        expected = [mu for draw, mu in zip(run["k"], run["mu"], strict=True) if draw == k]
        np.testing.assert_array_equal(group.run["mu"], expected)
    assert sum(len(group.run) for group in groups.values()) == 80
    with pytest.raises(ValueTypeError, match="whole traces weren't kept"):
        run.per_structure()
    with pytest.raises(UnknownAddressError, match="nothing was not recorded"):
        run.per_structure("nothing")


def test_draws_by_a_function_of_the_trace():
    run = sample(KERNEL, start(), 40, seed=1)
    groups = run.per_structure(lambda trace: (trace["k"], bool(trace["b"])))
    assert set(groups) <= {(k, b) for k in (1, 2, 3) for b in (False, True)} and len(groups) > 3


# --- ArviZ -------------------------------------------------------------------------------------------


def test_arrays_for_arviz():
    run = sample(
        KERNEL, start(), 30, chains=2, seed=1, executor=InTurn(),
        record={"k": "k", "b": "b", "mu": means, "name": lambda t: "ab"[t["k"] % 2]},
    )  # fmt: skip
    arrays = posterior_arrays(run)
    assert arrays["k"].shape == (2, 30) and arrays["mu"].shape == (2, 30, 3)
    np.testing.assert_array_equal(arrays["k"], run["k"])
    np.testing.assert_array_equal(np.isfinite(arrays["mu"]).sum(axis=2), run["k"])
    assert arrays["mu"][1, 7, 0] == run.by_chain("mu")[1][7][0]
    assert arrays["b"].dtype.kind == "b" and arrays["name"][0, 0] in "ab"
    assert list(posterior_arrays(run, ["k"])) == ["k"]


def test_arrays_of_whole_traces():
    run = sample(KERNEL, start(), 30, chains=2, seed=1, executor=InTurn())
    arrays = posterior_arrays(run)
    assert set(arrays) == {"k", "mu", "b"}
    np.testing.assert_array_equal(np.isfinite(arrays["mu"]).sum(axis=2), run["k"])
    np.testing.assert_array_equal(arrays["mu"][:, :, 0], run["mu", 0])


def test_what_arviz_can_t_hold():
    for values in (["a", 1], [{"a": 1}], [[1, 2], 3], [None, 1.0]):
        with pytest.raises(ValueTypeError, match="x isn't made of numbers, or of arrays"):
            made(values).to_arviz()
    with pytest.raises(ValueTypeError, match="chains of one length, and these have 2, 1 draws"):
        made([1, 2], [1]).to_arviz()
    assert posterior_arrays(made([1, 2], [3]).part([[0], [0]]))["x"].tolist() == [[1], [3]]
    with pytest.raises(ValueTypeError, match="so it has no mean"):
        made(["a", "b"] * 5).summary()


def test_the_summary():
    rng = np.random.default_rng(1)
    chains = [autoregression(0.6, 1000, rng) for _ in range(4)]
    row = made(*chains).summary()["x"]
    assert row.mean == pytest.approx(np.mean(chains))
    assert row.sd == pytest.approx(np.std(chains, ddof=1))
    assert (row.q05, row.median, row.q95) == tuple(np.quantile(chains, [0.05, 0.5, 0.95]))
    assert 0.7 * 1000 < row.ess_bulk < 1.4 * 1000  # n (1 - rho) / (1 + rho) of 4000
    assert row.mcse_mean == monte_carlo_error(chains) and row.r_hat < 1.02 and row.share == 1.0
    stuck = made(*(chain + center for center, chain in enumerate(chains)))
    assert stuck.summary()["x"].r_hat > 1.3


@pytest.mark.slow
def test_the_summary_agrees_with_arviz():
    arviz = pytest.importorskip("arviz")
    rng = np.random.default_rng(2)
    run = made(*([(x, 3 * y) for x, y in rng.normal(size=(500, 2)).cumsum(axis=1)] for _ in range(4)))
    table = arviz.summary(run.to_arviz(), round_to="none")
    summary = run.summary()
    assert list(summary) == list(table.index) == ["x[0]", "x[1]"]
    columns = ["mean", "sd", "ess_bulk", "r_hat"]
    if arviz.__version__.startswith("0."):  # later ones look at other quantiles
        columns.append("ess_tail")
    for name, row in summary.items():
        for column in columns:
            assert getattr(row, column) == pytest.approx(table.loc[name, column], rel=1e-9), (name, column)
        assert row.mcse_mean == pytest.approx(table.loc[name, "mcse_mean"], rel=0.05)


def test_the_object_for_arviz():
    arviz = pytest.importorskip("arviz")
    run = sample(KERNEL, start(), 20, chains=2, seed=1, executor=InTurn(), record=["k", means])
    data = run.to_arviz()
    posterior = data["posterior"]
    assert dict(posterior["k"].sizes) == {"chain": 2, "draw": 20}
    np.testing.assert_array_equal(posterior["k"].values, run["k"])
    assert posterior.attrs["inference_library"] == "gendsl"
    old = arviz.__version__.startswith("0.")
    assert type(data).__name__ == ("InferenceData" if old else "DataTree")


@gen
def observing(n):
    mu = ~normal(0, 1)
    for i in range(n):
        for j in range(2):
            ("y", i, j) @ ~normal(mu, 1)
        ("c", i) @ ~bernoulli(0.5)
    v = ~iid(normal(mu, 1), 3)
    kind = ~categorical([0.5, 0.5])


Y = np.arange(8.0).reshape(4, 2) / 8
SEEN = {"y": Y, ("c", 0): True, ("c", 3): False, "v": np.array([0.5, -0.5, 0.1]), "kind": 1}


def noted(kernel):
    """A kernel that keeps its infos and the traces it led to."""
    infos = []

    def step(trace, rng):
        trace, info = kernel(trace, rng)
        infos.append((info, trace))
        return trace, info

    return step, infos


def test_what_became_of_the_steps_of_each_draw():
    often = mh(select("mu"), name="often")
    once = mh(select("mu"), name="once")
    kernel, infos = noted(cycle(often, often, once))
    trace = observing.generate((4,), SEEN, rng=1).trace
    run = sample(kernel, trace, 40, warmup=7, thin=3, record="mu", seed=1)
    arrays, kernels = step_arrays(run)
    assert kernels == ["often", "once"] and set(arrays) == {"lp", "acceptance_rate"}
    assert arrays["acceptance_rate"].shape == (1, 40, 2)
    for draw in range(40):
        steps = infos[7 + 3 * draw : 10 + 3 * draw]
        for number, name in enumerate(kernels):
            accepted = [info.accepted for info, _ in steps for part, info in info_parts(info) if part == name]
            assert len(accepted) == (6 if name == "often" else 3)
            assert arrays["acceptance_rate"][0, draw, number] == pytest.approx(np.mean(accepted))
        assert arrays["lp"][0, draw] == steps[-1][1].log_prob
    odd = run.part([range(1, 40, 2)])
    for name, array in step_arrays(odd)[0].items():
        np.testing.assert_array_equal(array, arrays[name][:, 1::2])


def info_parts(info):
    return [(name, SimpleNamespace(accepted=part.accepted)) for name, part in info.parts]


def test_a_kernel_that_seldom_runs_and_one_that_diverges():
    def divergent(trace, rng):
        return trace, SimpleNamespace(accepted=bool(rng.random() < 0.5), divergences=int(rng.random() < 0.2))

    kernel = mixture([mh(select("b"), name="b"), Kernel(divergent, "divergent")], [0.2, 0.8])
    run = sample(kernel, start(), 50, chains=2, record="k", seed=2, executor=InTurn())
    arrays, kernels = step_arrays(run)
    rates = arrays["acceptance_rate"][:, :, kernels.index("b")]
    assert 60 < np.isnan(rates).sum() < 95 and set(rates[~np.isnan(rates)]) <= {0.0, 1.0}
    total = np.nansum(arrays["acceptance_rate"], axis=(0, 1))
    assert total.tolist() == [run.acceptance[name].accepted for name in kernels]
    assert arrays["diverging"].shape == (2, 50)
    assert arrays["diverging"].sum() == run.acceptance["divergent"].divergences > 0


def test_an_interrupted_run_has_as_many_notes_as_draws():
    left = [25]

    def interrupted(trace):
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        return trace["k"]

    run = sample(KERNEL, start(), 50, record={"k": interrupted}, seed=1)
    assert len(run) == 25 and step_arrays(run)[0]["lp"].shape == (1, 25)
    steps = run.chains[0].steps
    steps.add(0.0, run.acceptance)
    steps.cut(25)
    assert len(steps) == 25 and step_arrays(run)[0]["acceptance_rate"].shape == (1, 25, 3)


@pytest.mark.parametrize("record", ["mu", None])
def test_the_notes_of_a_run_in_files(tmp_path, monkeypatch, record):
    monkeypatch.setattr(chain_store, "_PAUSE", 0.0)
    monkeypatch.setattr(chain_store, "_SHARE", math.inf)
    monkeypatch.setattr(checkpoint, "steps_between", lambda trace: 4)
    trace = observing.generate((4,), SEEN, rng=1).trace
    kernel = mixture([mh(select("mu"), name="a"), mh(select("mu"), name="b")], [0.9, 0.1])
    options = {"record": record, "seed": 1, "checkpoint": tmp_path}
    whole = sample(kernel, trace, 30, **options)
    expected, kernels = step_arrays(whole)
    for run in (load_run(tmp_path, observing), resume(tmp_path, kernel, observing)):
        found, names = step_arrays(run)
        assert names == kernels and len(names) == 2
        for name, array in expected.items():
            np.testing.assert_array_equal(found[name], array)
        assert set(observed_arrays(run)) == {"y", "c", "v", "kind"}
    if record:
        assert observed_arrays(load_run(tmp_path)) == {}


def test_observations_as_arrays():
    trace = observing.generate((4,), SEEN, rng=1).trace
    run = sample(mh(select("mu")), trace, 5, chains=2, record="mu", seed=1, executor=InTurn())
    arrays = observed_arrays(run)
    np.testing.assert_array_equal(arrays["y"], Y)
    np.testing.assert_array_equal(arrays["c"], [1, np.nan, np.nan, 0])
    np.testing.assert_array_equal(arrays["v"], SEEN["v"])
    assert arrays["kind"] == 1 and arrays["kind"].shape == () and arrays["kind"].dtype.kind == "i"
    other = observing.generate((4,), {**SEEN, "kind": 0}, rng=1).trace
    assert observed_arrays(sample(mh(select("mu")), [trace, other], 5, seed=1, executor=InTurn())) == {}
    assert observed_arrays(sample(KERNEL, start(), 5, seed=1)) == {}


def test_observations_that_no_array_holds_are_left_out():
    for entries in ({(0,): [1, 2], (1,): 3}, {(10**9,): 1.0}, {(0,): 1.0, (0, 1): 2.0}, {(1,): "a"},
                    {(0,): np.zeros(2), (1,): np.zeros(3)}, {(): {"a": 1}}):  # fmt: skip
        assert filled(entries) is None
    assert filled({(0,): "a", (1,): "b"}).tolist() == ["a", "b"]
    np.testing.assert_array_equal(filled({(1,): np.ones(2), (0,): np.zeros(2)}), [[0, 0], [1, 1]])


def test_the_groups_for_arviz():
    pytest.importorskip("arviz")
    trace = observing.generate((4,), SEEN, rng=1).trace
    kernel = cycle(mh(select("mu"), name="first"), mh(select("mu"), name="second"))
    run = sample(kernel, trace, 6, chains=2, record="mu", seed=1, executor=InTurn())
    data = run.to_arviz()
    stats = data["sample_stats"]
    assert dict(stats["acceptance_rate"].sizes) == {"chain": 2, "draw": 6, "kernel": 2}
    assert stats["kernel"].values.tolist() == ["first", "second"]
    np.testing.assert_array_equal(stats["lp"].values, [chain.steps.log_prob for chain in run.chains])
    np.testing.assert_array_equal(data["observed_data"]["y"].values, Y)
    assert "chain" not in data["observed_data"]["y"].sizes
    clash = sample(kernel, trace, 6, record={"acceptance_rate": "mu", "kernel": "mu"}, seed=1).to_arviz()
    assert clash["posterior"]["acceptance_rate"].shape == (1, 6)
    assert clash["sample_stats"]["acceptance_rate"].shape == (1, 6, 2)


def test_arviz_is_optional(monkeypatch):
    monkeypatch.setitem(sys.modules, "arviz", None)
    with pytest.raises(ImportError, match=r"pip install 'gendsl\[arviz\]'"):
        made([1.0, 2.0]).to_arviz()
    assert made([1.0, 2.0]).summary()["x"].mean == 1.5


def test_the_summary_for_pandas(monkeypatch):
    pytest.importorskip("pandas")
    table = made(range(200), range(1, 201)).summary().to_pandas()
    assert table.loc["x", "mean"] == 100 and "r_hat" in table.columns
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="to_pandas needs pandas, which isn't installed"):
        made([1.0, 2.0]).summary().to_pandas()


# --- the summary where the structure changes -----------------------------------------------------------


def optional(trace):
    return trace["mu", 1] if trace["k"] > 1 else None


def test_numbers_that_only_some_draws_have():
    """Recorded as None, as the entries of arrays of different lengths, and as choices of whole traces."""
    options = {"chains": 2, "seed": 1, "executor": InTurn()}
    run = sample(KERNEL, start(), 400, record={"second": optional, "mu": means, "k": "k"}, **options)
    whole = sample(KERNEL, start(), 400, **options)
    summary, of_traces = run.summary(), whole.summary()
    assert list(summary) == ["second", "mu[0]", "mu[1]", "mu[2]", "k"]
    assert set(of_traces) == {"k", "b", "mu[0]", "mu[1]", "mu[2]"}
    have = [[draw[1] for draw in chain if len(draw) > 1] for chain in run.by_chain("mu")]
    row, values = summary["second"], np.concatenate(have)
    assert row.mean == pytest.approx(values.mean()) and row.share == np.mean(run["k"] >= 2)
    assert row.median == np.median(values)
    assert row.r_hat == r_hat(have) and row.ess_bulk == effective_draws(have)
    assert row == summary["mu[1]"] == of_traces["mu", 1] == whole.summary(["mu"])["mu[1]"]
    assert summary["mu[2]"].share == np.mean(run["k"] == 3) < summary["mu[0]"].share == 1.0
    assert f"{row.share:.1%}" in str(summary) and "in draws" in str(summary)
    assert "in draws" not in str(run.summary(["k"]))


def test_the_error_of_a_mean_given_the_structure():
    """Of a number that is there in about half of the draws: over runs it is the spread of means."""
    rng, runs, n = np.random.default_rng(3), 60, 2000
    means, errors = [], []
    for _ in range(runs):
        values = autoregression(0.8, n, rng)
        here = autoregression(0.9, n, rng) > 0
        row = made([float(v) if h else None for v, h in zip(values, here, strict=True)]).summary()["x"]
        means.append(row.mean)
        errors.append(row.mcse_mean)
    z = np.array(means) / errors
    assert abs((z**2).mean() - 1) < 4 * math.sqrt(2 / runs)


def test_a_number_that_one_chain_hardly_has():
    rng = np.random.default_rng(4)
    often, seldom = rng.normal(size=500), [*rng.normal(size=3), *[math.nan] * 497]
    row = made(often, seldom).summary()["x"]
    assert row.share == pytest.approx(503 / 1000) and row.ess_bulk > 400 and row.r_hat < 1.02
    assert row.mcse_mean == pytest.approx(1 / math.sqrt(503), rel=0.15)
    gone = made([None] * 9, [math.nan] * 9).summary()["x"]
    assert gone.share == 0.0 and math.isnan(gone.mean) and math.isnan(gone.r_hat)


def test_what_has_no_mean_is_left_out():
    rows = [{"x": float(i), "name": "ab"[i % 2], "key": (i % 3, 1)} for i in range(200)]
    run = Run([Chain(Columns(rows), [], None)])
    summary = run.summary()
    assert list(summary) == ["x", "key[0]", "key[1]"] and summary.left_out == ["name"]
    assert str(summary).endswith("left out, as they are no numbers: name")
    with pytest.raises(ValueTypeError, match=r"(?s)name isn't made of numbers.*run.frequency\('name'\)"):
        run.summary(["x", "name"])
    with pytest.raises(UnknownAddressError, match="the summary has no row y"):
        summary["y"]
    assert "y" not in summary and summary["key[0]"].mean < 1
    with pytest.raises(UnknownAddressError):
        run.summary(["y"])


@pytest.mark.slow
def test_a_summary_has_few_digits_and_few_rows():
    rng = np.random.default_rng(4)
    run = made(*([row.tolist() for row in rng.normal(size=(150, 80))] for _ in range(2)))
    text = str(run.summary())
    assert len(text.splitlines()) < 70 and "... and 20 more rows" in text
    assert max(len(digits.replace(".", "").lstrip("0")) for digits in re.findall(r"\d[\d.]*", text)) <= 6
    assert "<td>x[0]</td>" in run.summary()._repr_html_() and "60 more" in run.summary()._repr_html_()


# --- shares as a table ---------------------------------------------------------------------------------


def test_shares_show_themselves_as_a_table():
    run = made([1, 1, 2, 2, 2, 1] * 50, [2, 1, 2, 2, 2, 3] * 50)
    shares = run.frequency("x")
    assert isinstance(shares, dict) and shares == {k: shares[k] for k in (1, 2, 3)}
    assert repr(shares) == str(shares)
    heads, *lines = str(shares).splitlines()
    assert heads.split() == ["x", "share", "error", "entered"]
    first = lines[0].split()
    assert first[:2] == ["1", f"{shares[1].probability:.5g}"] and first[3] == "100"
    assert float(first[2]) == pytest.approx(shares[1].standard_error, rel=1e-3)
    assert shares.entries == {1: 100, 2: 149, 3: 50}
    assert shares._repr_html_().count("<tr>") == 4
    assert repr(shares[1]) == (
        f"Share(probability={shares[1].probability:.5g}, standard_error={shares[1].standard_error:.4g})"
    )
    assert pickle.loads(pickle.dumps(shares)) == shares
    assert str(Run([Chain(Columns(), [], start())], ["x"]).frequency("x")) == "no draws of x"
    assert "NaN" in str(made([2] * 9).frequency("x"))
    groups = run.per_structure("x")
    assert repr(groups[1]).startswith(f"Group(probability={shares[1].probability:.5g}, ")


# --- tallies -----------------------------------------------------------------------------------------


def test_tallies_add_up():
    run = sample(KERNEL, start(), 25, chains=2, thin=2, record="k", seed=1, executor=InTurn())
    for name, tally in run.acceptance.items():
        each = [chain.acceptance[name] for chain in run.chains]
        assert tally == each[0] + each[1] and tally.proposed == 100
        assert 0 < tally.seconds < run.seconds
    assert "100" in str(run) and "each" in str(run)
    assert Tally(4, 1, 2, 0.5, 3) + Tally(1, 1, 0, 0.25, 1) == Tally(5, 2, 2, 0.75, 4)


@pytest.mark.parametrize("exponent", [-1000, -600, 600, 1022])
def test_numbers_whose_squares_are_no_floats(exponent):
    plain = np.random.default_rng(1).uniform(-1, 1, (2, 200))
    shown = []
    for scale in (0, exponent):
        x = np.ldexp(plain, scale)
        run = made(*x.tolist())
        row = run.summary()["x"]
        assert "x" in run._repr_html_() and str(run) and run.diagnose()
        errors = [row.mcse_mean, monte_carlo_error(x)]
        shown.append((np.ldexp([row.mean, row.sd, *errors], -scale), (row.ess_bulk, row.ess_tail, row.r_hat)))
    (numbers, ratios), (extreme, extreme_ratios) = shown
    np.testing.assert_allclose(extreme, numbers, rtol=1e-12)
    assert extreme_ratios == ratios


def test_draws_that_are_all_alike_have_no_error():
    """Whatever rounding leaves of their variance."""
    for value in (0.1, 0.5, 1 / 3, 1.0):
        assert monte_carlo_error([value] * 100) == 0.0
        assert monte_carlo_error([[value] * 100, [value] * 100]) == 0.0
