"""The hand-written step that gendsl is measured against is the same kernel, and the command runs."""

from __future__ import annotations

import importlib
import importlib.util
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks.models import FAMILIES
from gendsl import involutive_mcmc

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "benchmarks"


@pytest.fixture(scope="module")
def benchmarks():
    """The modules figure1_numpy and figure1 of the folder, which is no package: its command runs alone."""
    modules = []
    for name in ("figure1_numpy", "figure1"):
        spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        modules.append(module)
    yield modules
    for name in ("figure1_numpy", "figure1"):
        del sys.modules[name]


# --- the log acceptance ratio ----------------------------------------------------------------------


def both_ratios(benchmarks, state, data, seed):
    """The auxiliary draws and the two log acceptance ratios and proposals of one step from a state."""
    by_hand, figure1 = benchmarks
    trace = figure1.trace_of(state, data)
    aux = figure1.q.simulate((trace,), rng=seed)  # the draws that the step below makes first
    if aux["split"]:
        auxiliary = by_hand.Split(*(aux[name] for name in ("cluster_to_split", "u1", "u2", "u3")))
    else:
        auxiliary = by_hand.Merge(aux["cluster_to_merge"])
    new, info = involutive_mcmc(trace, figure1.q, (), figure1.f, rng=seed)
    proposal, ratio = by_hand.propose(state, auxiliary, data)
    return auxiliary, (proposal, ratio), (figure1.state_of(new, data), info)


def check_agreement(benchmarks, cases):
    """Check all cases; how many splits, merges within the support and merges out of it they were."""
    by_hand, _ = benchmarks
    counts = {"split": 0, "merge": 0, "out of support": 0}
    for seed, (state, data) in enumerate(cases):
        auxiliary, (proposal, ratio), (new, info) = both_ratios(benchmarks, state, data, seed)
        if ratio == -math.inf:
            counts["out of support"] += 1
            assert info.log_accept_ratio == -math.inf
            continue
        counts["split" if isinstance(auxiliary, by_hand.Split) else "merge"] += 1
        assert info.log_accept_ratio == pytest.approx(ratio, rel=1e-9, abs=1e-9), (state, auxiliary)
        if info.accepted:
            for mine, theirs in zip(proposal[:3], new[:3], strict=True):
                np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-9)
    return counts


@pytest.mark.parametrize("k", range(1, 7))
def test_log_acceptance_ratio_on_the_prior(benchmarks, k):
    by_hand, figure1 = benchmarks
    rng = np.random.default_rng(k)

    def cases():
        for n in rng.integers(1, 40, size=60).tolist():
            trace = figure1.model.generate((n,), init={"k": k}, rng=rng).trace
            data = np.array([trace["x", i] for i in range(n)])
            yield figure1.state_of(trace, data), data

    counts = check_agreement(benchmarks, cases())
    assert counts["split"] > 10
    assert k == 1 or (counts["merge"] > 5 and counts["out of support"] > 5)


def test_log_acceptance_ratio_along_a_chain(benchmarks):
    by_hand, figure1 = benchmarks
    rng = np.random.default_rng(10)
    data = figure1.data_points(100, rng)
    states = figure1.chain_states(data, 150, 20, rng)
    for i, state in enumerate(states[::2]):  # relabelled, so that some merges lead out of the support
        order = rng.permutation(len(state.means))
        shuffled = ([values[j] for j in order] for values in state[:3])
        states[2 * i] = by_hand.State(*shuffled, state.log_likelihood)
    counts = check_agreement(benchmarks, ((state, data) for state in states))
    assert min(counts.values()) > 5
    assert len({len(state.means) for state in states}) > 2


def test_log_likelihood_where_densities_underflow(benchmarks):
    by_hand, figure1 = benchmarks
    data = np.array([400.0, -3.0, 1000.0])
    parameters = [0.0, 5.0], [1.0, 0.5], [0.25, 0.75]
    first_component = -0.5 * float(data @ data) + 3 * math.log(0.25) - 1.5 * math.log(2 * math.pi)
    assert by_hand.log_likelihood(data, *parameters) == pytest.approx(first_component, rel=1e-12)
    state = by_hand.State(*parameters, by_hand.log_likelihood(data, *parameters))
    assert sum(check_agreement(benchmarks, [(state, data)] * 20).values()) == 20


def test_the_cached_log_likelihood_stays_true(benchmarks):
    by_hand, figure1 = benchmarks
    rng = np.random.default_rng(2)
    data = figure1.data_points(30, rng)
    for state in figure1.chain_states(data, 20, 20, rng):
        assert state.log_likelihood == by_hand.log_likelihood(data, *state[:3])
        assert math.fsum(state.weights) == pytest.approx(1.0, abs=1e-12)


# --- the Jacobian ----------------------------------------------------------------------------------


def free_coordinates_map(by_hand, k, j):
    """A split of component j of k: free coordinates and u1, u2, u3 -> free coordinates."""

    def split(v):
        means, variances, weights = v[:k], v[k : 2 * k], v[2 * k : 3 * k - 1]
        full = [*weights, 1.0 - sum(weights)]
        state = by_hand.State(list(means), list(variances), full, 0.0)
        new, _ = by_hand.propose_split(state, by_hand.Split(j, *v[3 * k - 1 :]), np.zeros(1))
        return np.array([*new.means, *new.vars, *new.weights[:-1]])

    return split


def jacobian_by_differences(function, v, step=1e-3):
    """The Jacobian by central differences, extrapolated twice to a step of 0: an error of step^6."""
    columns = []
    for i in range(len(v)):
        table = []
        for halving in range(3):
            e = np.zeros(len(v))
            e[i] = h = step * max(1.0, abs(v[i])) / 2**halving
            table.append((function(v + e) - function(v - e)) / (2 * h))
        once = [(4 * table[1] - table[0]) / 3, (4 * table[2] - table[1]) / 3]
        columns.append((16 * once[1] - once[0]) / 15)
    return np.stack(columns, axis=1)


@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_closed_form_jacobian_against_differences(benchmarks, k):
    by_hand, _ = benchmarks
    rng = np.random.default_rng(k)
    for j in range(k):
        means, variances = rng.normal(0, 10, k), rng.uniform(2, 20, k)
        weights = rng.dirichlet([20.0] * k)
        u = rng.uniform(0.2, 0.8, 3)
        v = np.array([*means, *variances, *weights[:-1], *u])
        numeric = np.linalg.slogdet(jacobian_by_differences(free_coordinates_map(by_hand, k, j), v))[1]
        closed = by_hand.log_abs_det_split(weights[j], variances[j], u[0], u[1])
        assert numeric == pytest.approx(closed, abs=1e-7)


def test_a_merge_undoes_a_split(benchmarks):
    by_hand, figure1 = benchmarks
    rng = np.random.default_rng(3)
    data = figure1.data_points(25, rng)
    state = figure1.start(data)
    for component in range(3):
        auxiliary = by_hand.Split(component, *rng.uniform(0.1, 0.9, 3))
        split, there = by_hand.propose(state, auxiliary, data)
        back, returned = by_hand.propose(split, by_hand.Merge(component), data)
        for before, after in zip(state, back, strict=True):
            np.testing.assert_allclose(after, before, rtol=1e-10)
        assert returned == pytest.approx(-there, abs=1e-9)


# --- the other moves by hand -------------------------------------------------------------------------


def load(name):
    """A module of the folder, which finds its neighbours as its command does."""
    return importlib.import_module(name)


@pytest.fixture
def folder(monkeypatch):
    """The folder on the path, its modules forgotten afterwards."""
    monkeypatch.syspath_prepend(FOLDER)
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        file = getattr(sys.modules[name], "__file__", None)
        if file is not None and FOLDER in Path(file).parents:
            del sys.modules[name]


def test_the_transfer_by_hand_has_the_same_ratio(folder):
    moves = load("local_moves")
    rng = np.random.default_rng(1)
    for seed in range(30):
        x = rng.standard_normal(5)
        trace = moves.independent.generate((5,), init={"x": x}).trace
        aux = moves.pick_two.simulate((trace,), rng=seed)
        i, j, amount = aux["i"], aux["j"], aux["amount"]
        j += j >= i
        _, info = involutive_mcmc(trace, moves.pick_two, (), moves.transfer, check=True, rng=seed)
        assert info.log_accept_ratio == pytest.approx(-amount * (x[i] - x[j] + amount), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", ["random_walk", "plate"])
def test_the_single_site_proposal_by_hand_has_the_same_ratio(folder, name):
    moves = load("local_moves")
    model, n = getattr(moves, name), 6
    rng = np.random.default_rng(2)
    x, y = rng.standard_normal((2, n))
    trace = model.generate((n,), {"y": y}, init={"x": x}).trace
    by_hand = moves.OneSiteByHand(x, y, model is moves.random_walk, seed=3)
    seen = set()
    for _ in range(40):
        t, new, ratio = by_hand.propose()
        prior = 0.5 * (new - x[t]) * (new + x[t] - 2 * (x[t - 1] if t > 0 and name == "random_walk" else 0.0))
        weight = trace.update({("x", t): new}).log_weight
        assert ratio == pytest.approx(weight + prior, rel=1e-9, abs=1e-9)  # proposed from its prior
        seen.add(t)
    assert seen == set(range(n))


def test_the_scores_by_hand_are_the_changes_of_the_traces(folder):
    """Each baseline of an update computes what the update's weight is made of."""
    assignments, columns = load("assignments"), load("columns")
    trace, by_hand = assignments.trace_and_by_hand(300)
    mean = by_hand.mu[7] + 0.1
    weight = trace.update({("mu", 7): mean}).log_weight
    for score in (by_hand.known, by_hand.found):
        assert score(7, mean) - score(7, by_hand.mu[7]) == pytest.approx(weight, rel=1e-9)

    xs, y = np.random.default_rng(4).standard_normal((2, 50))
    table = np.random.default_rng(6).standard_normal((50, 3))
    start = {("beta", 0): 0.5, ("beta", 1): 0.0, ("beta", 2): -1.0}
    several = columns.several_regressors.generate((table,), {"y": y}, init=start).trace
    for v in (0.0, 0.3):
        expected = columns.log_normal_density(y, table @ [0.5, v, -1.0], 2.0)
        expected += sum(map(columns.log_prior, (0.5, v, -1.0)))
        assert several.update({("beta", 1): v}).trace.log_prob == pytest.approx(expected, rel=1e-12)
    for model, args, data, site, mean in (
        (columns.observations, (50,), {"x": y}, "mu", lambda v: v),
        (columns.regression, (xs,), {"y": y}, "slope", lambda v: 1.0 + v * xs),
    ):
        latent = {"mu": 0.0} if site == "mu" else {"intercept": 1.0, "slope": 0.0}
        trace = model.generate(args, data, init=latent).trace
        other = 0.0 if site == "mu" else columns.log_prior(1.0)

        def log_prob(v, mean=mean, other=other):
            return columns.log_normal_density(y, mean(v), 2.0) + columns.log_prior(v) + other

        assert trace.log_prob == pytest.approx(log_prob(0.0), rel=1e-12)
        assert trace.update({site: 0.3}).trace.log_prob == pytest.approx(log_prob(0.3), rel=1e-12)


# --- the moves of hand/ --------------------------------------------------------------------------------

EXAMPLES = "figure1", "coal"


@pytest.mark.parametrize("family", [*EXAMPLES, *FAMILIES])
def test_a_chain_by_hand_is_the_same_chain(folder, family):
    """From equal seeds: the same draws, log ratios to 1e-9 and decisions, whatever is kept between steps."""
    for pair in load("hand").pairs(family):
        finite = 0
        for seed in (1, 2):
            trace = pair.start(seed=seed)
            move = pair.by_hand(trace)
            theirs, mine = np.random.default_rng(seed), np.random.default_rng(seed)
            for _ in range(20):
                trace, info = pair.kernel.step(trace, theirs)
                accepted, ratio = move.step(mine)
                expected = info.log_accept_ratio
                assert ratio == pytest.approx(expected, rel=1e-9, abs=1e-9), pair.name
                assert accepted == info.accepted, pair.name
                finite += ratio > -math.inf
        assert finite > 20, pair.name


@pytest.mark.parametrize("family", FAMILIES)
def test_every_involutive_move_is_written_by_hand(folder, family):
    load("hand")
    by_hand = {(name, which) for name, which, _ in load(f"hand.{family}").MOVES}
    for model in load("models").models(family):
        assert {(model.name, i) for i in range(len(model.moves))} <= by_hand


@pytest.mark.slow
def test_a_compiled_chain_is_the_same_chain(folder):
    pytest.importorskip("numba")
    compiled, hand = load("hand.compiled").BY_NAME, load("hand")
    all_pairs = [pair for family in ("figure1", *FAMILIES) for pair in hand.pairs(family)]
    pairs = [pair for pair in all_pairs if pair.name in compiled]
    assert len(pairs) == len(compiled)
    for pair in pairs:
        trace = pair.start()
        move = pair.by_hand(trace)
        theirs, mine = np.random.default_rng(1), np.random.default_rng(1)
        ratios = compiled[pair.name](trace).chain(theirs, 200)
        expected = [move.step(mine)[1] for _ in range(200)]
        np.testing.assert_allclose(ratios, expected, rtol=1e-9, atol=1e-9, err_msg=pair.name)


# --- the table -------------------------------------------------------------------------------------


class Clock:
    """A clock that only work moves."""

    now = 0.0

    def perf_counter(self):
        return self.now

    def taking(self, seconds):
        def work(*given):
            self.now += seconds

        return work


@pytest.fixture
def clock(folder, monkeypatch):
    clock = Clock()
    monkeypatch.setattr(load("harness"), "time", clock)
    return clock


def test_limits_are_on_time_ratio_and_growth(clock):
    harness = load("harness")

    def row(n, seconds, **limits):
        by_hand = clock.taking(1e-3)
        return harness.Row("work", n, clock.taking(seconds), "by hand", by_hand, most_growth=3, **limits)

    def group(scale):
        return [row(10, 2e-3, most_us=10_000), row(100, 20e-3, most_ratio=15), row(1000, 4e-3, units=4)]

    small, large, last, growth = harness.measure(group, harness.QUICK)
    assert (small.us, small.baseline_us) == pytest.approx((2000, 1000))
    assert (small.ratio, small.limit, small.ok) == ("2", "<= 10,000 us", True)
    assert (large.ratio, large.limit, large.ok) == ("20", "<= 15 x", False)
    assert (last.ratio, last.limit, last.ok) == ("4", "", None)
    assert last.us == pytest.approx(1000)
    assert (growth.n, growth.ratio, growth.limit, growth.ok) == (1000, "0.5", "<= 3 x", True)


def test_the_least_of_the_rounds_counts(clock):
    harness = load("harness")
    durations = iter([9.0, 9.0, 3.0, 2.0, 5.0])

    def slower_at_first():
        clock.now += next(durations)

    row = harness.Row("work", 1, slower_at_first, "by hand", clock.taking(1.0))
    scale = harness.Scale(rounds=3, round_seconds=0.0, group_seconds=100.0)
    assert harness.times([row], scale).tolist() == [[pytest.approx(2e6), pytest.approx(1e6)]]


def test_a_slow_group_gets_fewer_rounds(clock):
    harness = load("harness")
    row = harness.Row("work", 1, clock.taking(1.0), "by hand", clock.taking(1.0))
    harness.times([row], harness.Scale(rounds=100, round_seconds=0.0, group_seconds=9.0))
    assert clock.now == 10.0  # two calls of each before the rounds, and three rounds


def test_rows_are_ranked_by_ratio_with_their_geometric_mean(clock):
    harness = load("harness")
    by_hand = clock.taking(1.0)
    rows = [harness.Row(str(ratio), 1, clock.taking(ratio), "by hand", by_hand) for ratio in (2.0, 8.0, 4.0)]
    *lines, mean = harness.ranked(rows, harness.QUICK)
    assert [line.ratio for line in lines] == ["8", "4", "2"]
    assert (mean.ratio, mean.n) == ("4", 3)


def test_what_is_made_fresh_is_not_timed(clock):
    harness = load("harness")
    work = clock.taking(2.0)
    row = harness.Row("work", 1, work, "by hand", work, fresh=clock.taking(100.0))
    assert harness.seconds(row, work, 3) == 2.0


# --- the command -----------------------------------------------------------------------------------


def run(*options):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, str(FOLDER / "run.py"), *options],
        capture_output=True, text=True, check=False, env=environment, timeout=300,
    )  # fmt: skip


@pytest.mark.slow
def test_the_command_prints_one_table(tmp_path):
    names = run("--rows", "?").stderr.rpartition("there are ")[2].split(", ")
    again = {"steps-10", "steps-numba"}  # the same rows with more data, and beside other code
    assert again < set(map(str.strip, names))
    chosen = ",".join(name.strip() for name in names if name.strip() not in again)
    done = run("--quick", "--rows", chosen, "--plot", str(tmp_path / "plot.png"))
    assert done.returncode == 0, done.stderr
    _, header, rule, *rows, blank, verdict, figure = done.stdout.splitlines()
    assert header.split() == ["work", "N", "us", "baseline", "us", "baseline", "ratio", "limit", "ok?"]
    assert set(rule) == {"-"} and blank == ""
    for work in (
        "Figure 1, normal components", "coal mining: birth_death", "check=True", "2 of N independent",
        "on a chain", "on a plate", "one assignment", "cluster means", "mean of N observations",
        "simulate a plate", "generate a plate", "bytes kept", "decorate", "relative error",
        "geometric mean", "steps of Figure 1 in a process",
    ):  # fmt: skip
        assert any(work in row for row in rows), work
    limited = [row for row in rows if row.endswith(("yes", "NO"))]
    assert verdict.endswith(f"of {len(limited)} limits are kept")
    assert "figure" in figure and (tmp_path / "plot.png").stat().st_size > 20_000


@pytest.mark.slow
def test_rows_can_be_chosen():
    done = run("--quick", "--rows", "two-of-n,compile", "--largest", "50")
    assert done.returncode == 0, done.stderr
    rows = done.stdout.splitlines()[3:-2]
    assert [row.split("  ")[0] for row in rows] == [
        "involutive step on 2 of N independent choices",
        "decorate a body of N lines and run it",
    ]
    done = run("--rows", "two-of-m")
    assert done.returncode == 2
    assert "no rows named two-of-m; there are two-of-n, " in done.stderr
