"""The hand-written step that gendsl is measured against is the same kernel, and the command runs."""

from __future__ import annotations

import importlib.util
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

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


# --- the command -----------------------------------------------------------------------------------


def test_the_command_prints_one_table():
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, str(FOLDER / "run.py"), "--quick"],
        capture_output=True, text=True, check=False, env=environment, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    _, header, rule, *rows = done.stdout.splitlines()
    assert header.split() == ["work", "gendsl", "reference", "ratio", "target"]
    assert set(rule) == {"-"}
    assert len(rows) == 10
    for row in rows:
        assert row.count(" us") + row.count(" ms") >= 2
