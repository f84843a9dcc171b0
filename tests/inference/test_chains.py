"""A chain: seeds, what is recorded, interruptions, acceptance rates, and Monte Carlo errors."""

import io
import math
import sys

import numpy as np
import pytest
from scipy.signal import lfilter

from gendsl import bernoulli, dirichlet, gen, normal, select, uniform_discrete
from gendsl.errors import KernelError, UnknownAddressError, ValueTypeError
from gendsl.inference import Run, cycle, mh, monte_carlo_error, sample
from gendsl.inference.running.chain import Chain
from gendsl.inference.running.columns import Columns


@gen
def model(n):
    k = ~uniform_discrete(1, 3)
    mu = [("mu", j) @ ~normal(0, 2) for j in range(k)]
    w = ~dirichlet([1.0, 2.0])
    for i in range(n):
        ("x", i) @ ~normal(sum(mu) / k, 1)


@gen
def walk(trace):
    ("mu", 0) @ ~normal(trace["mu", 0], 0.5)


def start(seed=1):
    return model.generate((2,), {"x": [0.5, 1.5]}, init={"k": 2}, rng=seed).trace


KERNEL = cycle(mh(select("k")), mh(walk), mh(select("w")))


# --- seeds -------------------------------------------------------------------------------------------


def test_one_seed_one_chain():
    runs = [sample(KERNEL, start(), 30, record=["k", ("mu", 0)], seed=seed) for seed in (1, 1, 2)]
    assert runs[0].recorded == runs[1].recorded
    assert runs[0].recorded != runs[2].recorded


def test_a_generator_is_a_seed_and_goes_on():
    rng = np.random.default_rng(1)
    first = sample(KERNEL, start(), 30, record=("mu", 0), seed=rng)
    second = sample(KERNEL, start(), 30, record=("mu", 0), seed=rng)
    assert first.recorded == sample(KERNEL, start(), 30, record=("mu", 0), seed=1).recorded
    assert first.recorded != second.recorded


def test_one_chain_on_every_python():
    """The numbers were computed once; they are the same on Python 3.11, 3.12 and 3.13."""
    run = sample(KERNEL, start(), 12, warmup=3, thin=2, record=["k", ("mu", 0), "w"], seed=2024)
    assert run["k"].tolist() == GOLDEN_K
    np.testing.assert_allclose(run["mu", 0], GOLDEN_MU, rtol=1e-9)
    np.testing.assert_allclose(run["w"].sum(axis=0), GOLDEN_W, rtol=1e-9)
    assert {name: tally.accepted for name, tally in run.acceptance.items()} == GOLDEN_ACCEPTED


GOLDEN_K = [1, 1, 1, 1, 2, 1, 1, 3, 3, 3, 3, 1]
GOLDEN_MU = [
    -0.15331956258369098, 0.903452296770106, 0.17374695961770492, 0.09073491739689538,
    1.4820546087803306, 1.1726609647780473, 1.4312511295205692, 1.7526094267064298,
    1.3146165641458583, 0.9769398054573506, 1.1192358381352303, 0.8094235890866421,
]  # fmt: skip
GOLDEN_W = [4.288446951101061, 7.7115530488989394]
GOLDEN_ACCEPTED = {"mh select('k')": 16, 'mh walk': 23, "mh select('w')": 24}


def test_resuming_from_the_last_trace():
    """With the generator handed on, two runs are one."""
    whole = sample(KERNEL, start(), 40, record=("mu", 0), seed=np.random.default_rng(5))
    rng = np.random.default_rng(5)
    first = sample(KERNEL, start(), 25, record=("mu", 0), seed=rng)
    second = sample(KERNEL, first.last, 15, record=("mu", 0), seed=rng)
    np.testing.assert_array_equal(whole["mu", 0], np.concatenate([first["mu", 0], second["mu", 0]]))
    assert whole.last.choices == second.last.choices
    assert second.last.observed == start().observed


# --- counts ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("draws", "warmup", "thin"), [(5, 0, 1), (5, 7, 1), (5, 2, 3), (0, 4, 2), (1, 0, 10)]
)
def test_draws_warmup_and_thin(draws, warmup, thin):
    steps = []

    def count(trace, rng):
        steps.append(trace["x"] + 1)
        return trace.update({"x": trace["x"] + 1.0})[0], None

    @gen
    def counter():
        x = ~normal(0, 1000)

    trace, _ = counter.generate((), init={"x": 0.0})
    run = sample(count, trace, draws, warmup=warmup, thin=thin, record="x", seed=1)
    assert len(steps) == warmup + draws * thin
    assert run["x"].tolist() == [warmup + thin * (i + 1) for i in range(draws)]
    assert len(run) == draws and run.last["x"] == warmup + draws * thin
    assert run.acceptance == {} or run.acceptance["count"].proposed == draws * thin
    assert not run.interrupted and run.seconds >= 0


def test_numpy_integers_are_counts():
    assert len(sample(KERNEL, start(), np.int64(3), warmup=np.int32(1), seed=1)) == 3


# --- what is recorded --------------------------------------------------------------------------------


def test_whole_traces():
    run = sample(KERNEL, start(), 20, seed=1)
    assert len(run) == len(run.traces) == 20 and run.recorded == {}
    assert run.traces[-1] is run.last
    assert run["k"].tolist() == [t["k"] for t in run.traces]
    assert run["mu", 0].shape == run[("mu", 0)].shape == (20,)
    assert run["w"].shape == (20, 2)
    assert "20 draws" in str(run) and repr(run) == "<run of 20 draws>"


def test_an_address():
    run = sample(KERNEL, start(), 20, record="k", seed=1)
    assert run.traces == [] and list(run.recorded) == ["k"]
    assert run["k"].tolist() == sample(KERNEL, start(), 20, seed=1)["k"].tolist()
    assert run[("k",)].tolist() == run["k"].tolist()


def test_a_path():
    run = sample(KERNEL, start(), 20, record=("mu", 0), seed=1)
    whole = sample(KERNEL, start(), 20, seed=1)
    assert list(run.recorded) == ["('mu', 0)"]
    np.testing.assert_array_equal(run["mu", 0], whole["mu", 0])
    np.testing.assert_array_equal(run["('mu', 0)"], whole["mu", 0])


@gen
def numbered(groups):
    theta = [("theta", j) @ ~normal(0, 1) for j in range(3)]
    for g in range(groups):
        for j in range(2):
            ("m", g, j) @ ~normal(0, 1)
    for g in range(groups):
        ("w", g) @ ~dirichlet([1.0, 2.0, 3.0])
    for name in ("a", "b"):
        ("named", name) @ ~normal(0, 1)
    ("gap", 0) @ ~normal(0, 1)
    ("gap", 2) @ ~normal(0, 1)
    for g in range(groups):
        ("z", g) @ ~uniform_discrete(0, 4)
    ("mixed", 0) @ ~normal(0, 1)
    ("mixed", 1) @ ~dirichlet([1.0, 2.0])


@pytest.mark.parametrize("runtime", ["compiled", "reference"])
def test_a_namespace_of_numbered_choices_is_an_array(runtime):
    program = numbered.reference if runtime == "reference" else numbered
    trace, kernel = program.simulate((4,), rng=1), mh(select("theta", "m", "z"))
    run = sample(kernel, trace, 10, record=["theta", "m", "w", "z"], seed=1)
    whole = sample(kernel, trace, 10, seed=1)
    assert run["theta"].shape == (10, 3) and run["m"].shape == (10, 4, 2) and run["w"].shape == (10, 4, 3)
    assert run["z"].shape == (10, 4) and run["z"].dtype == int
    for n, draw in enumerate(whole.traces):
        for j in range(3):
            assert run["theta"][n, j] == draw["theta", j] == whole["theta"][n, j]
        for g in range(4):
            assert run["z"][n, g] == draw["z", g] and np.array_equal(run["w"][n, g], draw["w", g])
            for j in range(2):
                assert run["m"][n, g, j] == draw["m", g, j]
    assert sample(kernel, trace, 3, record={"x": ("m", 1)}, seed=1)["x"].shape == (3, 2)


@pytest.mark.parametrize("address", ["named", "gap", "mixed"])
def test_a_namespace_that_is_no_array_is_refused(address):
    with pytest.raises(UnknownAddressError, match="this address is a namespace, not a choice") as error:
        sample(KERNEL, numbered.simulate((4,), rng=1), 10, record=[address], seed=1)
    assert f"lambda trace: trace.choices['{address}']" in str(error.value)


def test_a_namespace_that_grows_and_shrinks_is_a_list_of_arrays():
    run = sample(KERNEL, start(), 30, record=["mu", "k"], seed=1)
    assert isinstance(run["mu"], list)
    assert [len(mu) for mu in run["mu"]] == run["k"].tolist()


def total(trace):
    return sum(trace["mu", j] for j in range(trace["k"]))


def test_functions():
    whole = sample(KERNEL, start(), 20, seed=1)
    expected = [total(t) for t in whole.traces]
    for record, name in ((total, "total"), (lambda t: total(t), "value"), ([total, "k"], "total"),
                         ({"sum": total}, "sum"), (lambda t: {"a": total(t), "b": 1}, "a")):  # fmt: skip
        assert sample(KERNEL, start(), 20, record=record, seed=1)[name].tolist() == expected


def test_a_function_may_use_one_array_again_and_again():
    buffer, names = np.zeros(2), []

    def filled(trace):
        buffer[:] = trace["mu", 0], 1.0
        return buffer

    def grown(trace):
        names.append("mu")
        return names

    expected = sample(KERNEL, start(), 20, record=("mu", 0), seed=1)[("mu", 0)].tolist()
    assert len(set(expected)) > 1
    run = sample(KERNEL, start(), 20, record=[filled, grown], seed=1)
    assert run["filled"][:, 0].tolist() == expected
    assert [len(names) for names in run["grown"]] == [*range(1, 21)]
    run = sample(KERNEL, start(), 20, record=lambda trace: {"b": filled(trace)}, seed=1)
    assert run["b"][:, 0].tolist() == expected


def test_dicts_name_quantities():
    record = {"components": "k", "first": ("mu", 0), "sum": total, 7: "k"}
    run = sample(KERNEL, start(), 5, record=record, seed=1)
    assert list(run.recorded) == ["components", "first", "sum", "7"]
    assert all(len(values) == 5 for values in run.recorded.values())


def test_values_of_several_shapes_stay_a_list():
    record = {"mu": lambda t: np.array([t["mu", j] for j in range(t["k"])])}
    run = sample(KERNEL, start(), 30, record=record, seed=1)
    assert isinstance(run["mu"], list) and {len(m) for m in run["mu"]} > {2}


def test_a_missing_quantity_may_be_nan():
    record = {"second": lambda t: t["mu", 1] if t["k"] > 1 else math.nan}
    values = sample(KERNEL, start(), 60, record=record, seed=1)["second"]
    assert np.isnan(values).any() and not np.isnan(values).all()


def test_a_typo_is_found_before_the_first_step():
    def never(trace, rng):
        raise AssertionError("a step was made")

    for record in ("kk", ["k", "kk"], {"a": "kk"}, ("mu", 7)):
        with pytest.raises(UnknownAddressError, match="a recorded address must exist in every draw"):
            sample(never, start(), 10, record=record)


def test_an_unknown_quantity_of_a_run():
    run = sample(KERNEL, start(), 2, record=["k", ("mu", 0)], seed=1)
    with pytest.raises(UnknownAddressError, match=r"\('mu', 1\) was not recorded \(recorded: k, "):
        run["mu", 1]
    with pytest.raises(UnknownAddressError, match="the run has no draws of k"):
        Run([Chain(Columns(), [], start())])["k"]


def test_what_a_run_has_is_asked_by_name():
    run, whole = (sample(KERNEL, start(), 20, record=record, seed=1) for record in (["k"], None))
    assert "k" in run and ("mu", 0) not in run and "traces" not in run
    assert "k" in whole and ("mu", 0) in whole and ("mu", 99) not in whole
    with pytest.raises(ValueTypeError, match="a run can't be gone through") as error:
        list(run)
    assert "run.traces" in str(error.value) and "test_chains.py" in str(error.value)


def test_run_without_draws():
    run = sample(KERNEL, start(), 0, record=["k"], seed=1)
    assert len(run) == 0 and run["k"].shape == (0,)
    assert "0 draws" in str(run) and "inf" not in str(run)


# --- interruptions -----------------------------------------------------------------------------------


def interrupting(after):
    count = 0

    def step(trace, rng):
        nonlocal count
        count += 1
        if count == after:
            raise KeyboardInterrupt
        return mh(select("w"))(trace, rng)

    return step


@pytest.mark.parametrize("record", [None, "k", ["k", "w"]])
def test_an_interrupt_returns_the_draws_so_far(record):
    run = sample(interrupting(18), start(), 100, warmup=3, thin=2, record=record, seed=1)
    assert run.interrupted and len(run) == 7
    assert run["w" if record is None or "w" in record else "k"].shape[0] == 7
    assert "interrupted" in str(run)
    assert len(sample(KERNEL, run.last, 5, seed=2)) == 5


def test_an_interrupt_in_the_warmup():
    run = sample(interrupting(2), start(), 100, warmup=10, seed=1)
    assert run.interrupted and len(run) == 0 and run.acceptance == {}


def test_an_interrupt_while_a_draw_is_recorded():
    """A draw is kept with all its quantities or not at all."""
    calls = 0

    def late(trace):
        nonlocal calls
        calls += 1
        if calls == 4:
            raise KeyboardInterrupt
        return 1.0

    run = sample(KERNEL, start(), 10, record=["k", late], seed=1)
    assert run.interrupted and len(run) == 3
    assert [len(values) for values in run.recorded.values()] == [3, 3]


def test_other_errors_are_raised():
    def broken(trace, rng):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        sample(broken, start(), 10)


# --- progress ----------------------------------------------------------------------------------------


class Terminal(io.StringIO):
    def __init__(self, tty):
        super().__init__()
        self.tty = tty

    def isatty(self):
        return self.tty


@pytest.mark.parametrize(("tty", "progress", "shown"), [(True, True, True), (True, False, False),
                                                       (False, True, False)])  # fmt: skip
def test_progress_is_shown_on_a_terminal(monkeypatch, tty, progress, shown):
    terminal = Terminal(tty)
    monkeypatch.setattr(sys, "stderr", terminal)
    sample(KERNEL, start(), 5, seed=1, progress=progress)
    assert ("chain 0" in terminal.getvalue()) == shown


# --- tallies -----------------------------------------------------------------------------------------


def test_acceptance_counts_the_steps_after_warmup():
    run = sample(KERNEL, start(), 20, warmup=10, thin=3, seed=1)
    assert {name: tally.proposed for name, tally in run.acceptance.items()} == {
        "mh select('k')": 60, "mh walk": 60, "mh select('w')": 60
    }  # fmt: skip
    assert run.acceptance["mh select('w')"].rate == 1.0
    assert 0 < run.acceptance["mh walk"].rate < 1
    assert "mh walk         accepted" in str(run)


def test_the_rate_of_a_kernel_that_never_ran_is_nan():
    run = sample(KERNEL, start(), 0, seed=1)
    assert run.acceptance == {}


# --- Monte Carlo errors ------------------------------------------------------------------------------


def autoregression(rho, n, rng):
    """A stationary AR(1) chain with variance 1."""
    noise = rng.normal(size=n) * math.sqrt(1 - rho**2)
    noise[0] = rng.normal()
    return lfilter([1.0], [1.0, -rho], noise)


def test_monte_carlo_error_of_few_draws():
    assert math.isnan(monte_carlo_error([1.0, 2.0, 3.0]))
    assert monte_carlo_error([2.0] * 10) == 0.0


def test_frequency():
    run = sample(KERNEL, start(), 2000, record="k", seed=1)
    shares = run.frequency("k")
    assert list(shares) == sorted(shares) and sum(s.probability for s in shares.values()) == pytest.approx(1)
    for k, share in shares.items():
        assert share.probability == np.mean(run["k"] == k)
        assert share.standard_error == monte_carlo_error(run["k"] == k)


def test_frequency_of_values_without_an_order():
    values = iter(["a", None, ("b", 1), "a"])
    run = sample(KERNEL, start(), 4, record={"v": lambda trace: next(values)}, seed=1)
    shares = run.frequency("v")
    assert list(shares) == ["a", None, ("b", 1)] and shares["a"].probability == 0.5


def test_frequency_of_booleans_has_boolean_keys():
    @gen
    def coin():
        b = ~bernoulli(0.5)

    run = sample(mh(select("b")), coin.simulate(rng=1), 50, record="b", seed=1)
    assert set(run.frequency("b")) == {False, True}
    assert all(isinstance(key, bool) for key in run.frequency("b"))


def test_frequency_of_vectors_is_refused():
    run = sample(KERNEL, start(), 5, record="w", seed=1)
    with pytest.raises(ValueTypeError, match="can't be counted"):
        run.frequency("w")


def test_a_kernel_must_be_one():
    with pytest.raises(KernelError):
        sample(mh, start(), 3)


def test_nan_is_one_value_of_a_recorded_quantity():
    from gendsl.inference.results.summary import frequency

    shares = frequency([[1.0, math.nan, float("nan")], [1.0, np.nan, np.nan]])
    assert sum(share.probability for share in shares.values()) == pytest.approx(1.0)
    assert len(shares) == 2
