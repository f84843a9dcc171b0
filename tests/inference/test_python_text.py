"""Chains of closed kernels where there is no machine code: they run as Python text, and say so."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from gendsl import continuous, gen, normal, read, sample, transform, write
from gendsl.compiler.llvm import native
from gendsl.compiler.python.state import MoveState
from gendsl.compiler.run.python_state import PythonState
from gendsl.inference import cycle, involutive, random_walk
from gendsl.inference.compiled import policy, texts, thresholds
from gendsl.runtime import watched
from gendsl.selection import select
from gendsl.testing import running_on
from tests.inference.test_machine import counted, jump, move, often_left, run, start, step_size

MISSING = "llvmlite is not installed"


@gen
def steps(n):
    """A branch in its loop keeps that from being one of columns."""
    drift = ~normal(0, 1)
    levels = []
    for i in range(n):
        if i == 0:
            level = ("level", i) @ ~normal(0, 2)
        else:
            level = ("level", i) @ ~normal(levels[-1] + drift, 1)
        levels.append(level)
        ("y", i) @ ~normal(level, 1)


@gen
def shift(trace):
    u = ~normal(0, 0.3)


@transform
def shifted_drift(model_in, aux_in, *, model_out, aux_out):
    drift, u = read(model_in["drift"], continuous), read(aux_in["u"], continuous)
    write(model_out["drift"], drift + u, continuous)
    write(aux_out["u"], -u, continuous)


@transform
def shifted_level(model_in, aux_in, *, model_out, aux_out):
    level, u = read(model_in["level", 3], continuous), read(aux_in["u"], continuous)
    write(model_out["level", 3], level + u, continuous)
    write(aux_out["u"], -u, continuous)


def levels(n=6):
    return steps.generate((n,), {("y", i): 0.5 * i for i in range(n)}, rng=3).trace


@pytest.fixture
def nothing_said(monkeypatch):
    """Nothing says on which runtime chains run, and whatever pays off is worth it."""
    monkeypatch.setattr(watched, "_RUNTIME", "")
    monkeypatch.delenv("GENDSL_NATIVE", raising=False)
    monkeypatch.setattr(thresholds, "LEAST_WORK", 1)


@pytest.fixture
def no_llvm(nothing_said, monkeypatch):
    monkeypatch.setattr(native, "available", lambda: MISSING)


def drawn(kernel, trace, runtime=None, **given):
    asked = {"record": ["drift"], "seed": 5, "progress": False, "thin": 2, **given}
    if runtime is None:
        return sample(kernel, trace, 100, **asked)
    with running_on(runtime):
        return sample(kernel, trace, 100, **asked)


def decided(kernel, trace, steps=10**6):
    return policy.decide(kernel, trace, np.random.default_rng(1), steps, 100, {})


def test_without_llvm_python_text_runs(no_llvm):
    kernel = involutive(shift, shifted_drift)
    result, expected = drawn(kernel, levels()), drawn(kernel, levels(), "compiled")
    assert result.ran == [f"as Python text (no machine code: {MISSING})"]
    np.testing.assert_allclose(result["drift"], expected["drift"], rtol=1e-12)
    assert len(set(result["drift"])) > 10
    assert counted(result) == counted(expected)


def test_it_runs_where_machine_code_is_switched_off(nothing_said, monkeypatch):
    monkeypatch.setenv("GENDSL_NATIVE", "0")
    result = drawn(involutive(shift, shifted_drift), levels())
    assert result.ran == ["as Python text (no machine code: GENDSL_NATIVE says so)"]
    assert drawn(involutive(shift, shifted_drift), levels(), "compiled").ran[0].startswith("step by step: ")


def test_so_does_a_warm_up(no_llvm):
    kernel = random_walk(select("drift"))
    result, expected = (drawn(kernel, levels(), runtime, warmup=150) for runtime in (None, "compiled"))
    assert result.ran == [f"as Python text (no machine code: {MISSING})"]
    np.testing.assert_allclose(result["drift"], expected["drift"], rtol=1e-9)


def test_what_is_faster_otherwise_runs_step_by_step(no_llvm, monkeypatch):
    """It is known before the first step, and the reason says also that there is no machine code."""
    long, short = (levels(n) for n in (1000, 6))
    found = decided(involutive(shift, shifted_level), long)
    assert (found.machine, found.reason) == (None, f"{policy.FEW_DEPEND}; no machine code: {MISSING}")
    for kernel, trace in (
        (involutive(shift, shifted_drift), long),
        (involutive(shift, shifted_level), short),
        (random_walk(select("mu"), scale=0.1), start(40)),
        (move, start(40)),
    ):
        assert decided(kernel, trace).machine is not None
    monkeypatch.setattr(thresholds, "LEAST_WORK", 10**6)
    assert decided(involutive(shift, shifted_drift), short, 10**4).reason.startswith("so few steps take less")


def test_an_interrupt_in_the_middle_of_a_step(monkeypatch):
    """The chain is then at its last whole step, from which it can go on."""
    kernel, whole = cycle(move, jump), run(cycle(move, jump), "python", draws=120, record=["mu", "k"])
    calls, turn = [], MoveState.turn

    def interrupted(self):
        calls.append(1)
        turn(self)
        if len(calls) == 75:
            raise KeyboardInterrupt

    monkeypatch.setattr(MoveState, "turn", interrupted)
    rng = np.random.default_rng(11)
    with running_on("python"):
        first = sample(kernel, start(), 120, record=["mu", "k"], seed=rng, progress=False)
        done = len(first["mu"])
        assert first.interrupted and 10 < done < 100
        assert first.last["mu"] == first["mu"][-1] and first.last["k"] == first["k"][-1]
        rest = sample(kernel, first.last, 120 - done, record=["mu", "k"], seed=rng, progress=False)
    np.testing.assert_allclose([*first["mu"], *rest["mu"]], whole["mu"], rtol=1e-12)
    np.testing.assert_array_equal([*first["k"], *rest["k"]], whole["k"])


def test_a_step_that_fails_in_the_middle_leaves_all_as_it_was(monkeypatch):
    """Whatever it has exchanged, counted and drawn by then."""
    kernel = cycle(involutive(step_size, often_left), move, jump)
    expected = run(kernel, "compiled", draws=150, record=["mu", "k"])
    for name in ("drawn", "exchange", "turn", "rows", "commit"):
        original = getattr(MoveState, name)

        def failing(self, *args, original=original):
            made = original(self, *args)
            if int(1e6 * self.lp) % 5 == 0:  # the same where the step is made again
                raise ZeroDivisionError("planted")
            return made

        with monkeypatch.context() as patch:
            patch.setattr(MoveState, name, failing)
            patch.setattr("gendsl.inference.compiled.thresholds.MOST_FALLBACKS", 1.0)
            result = run(kernel, "python", draws=150, record=["mu", "k"])
        assert "by the interpreter: " in result.ran[0] and "planted" in result.ran[0]
        np.testing.assert_allclose(result["mu"], expected["mu"], rtol=1e-12)
        np.testing.assert_array_equal(result["k"], expected["k"])
        assert counted(result) == counted(expected)


def test_a_text_is_kept_for_both_forms(monkeypatch, tmp_path):
    """A kernel whose machine code was used before runs as Python text all the same."""
    if native.available() is not None:
        pytest.skip("there is no LLVM here")
    folder = tmp_path / "kept"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("GENDSL_CACHE", str(folder))
    kernel, ran = cycle(move, jump), []
    for runtime in ("native", "native", "python"):
        if runtime == "native":
            texts._KNOWN.clear()
        ran.append(run(kernel, runtime, draws=60, record="mu"))
    for one in ran[1:]:
        np.testing.assert_allclose(one["mu"], ran[0]["mu"], rtol=1e-12)
    assert ran[1].ran != ran[2].ran


def test_chains_beside_one_another_share_no_state():
    kernel = random_walk(select("mu"))
    found = {}
    asked = {"warmup": 80, "chains": 3, "seed": 4, "record": "mu", "progress": False}
    for threads in (1, 3):
        with running_on("python"), ThreadPoolExecutor(threads) as executor:
            found[threads] = sample(kernel, start(), 60, executor=executor, **asked)
    np.testing.assert_array_equal(found[1]["mu"], found[3]["mu"])
    assert all(ran.startswith("as Python text") for ran in found[3].ran)


def test_the_state_is_kept_after_few_steps(monkeypatch):
    """So that few are made again where one fails."""
    made, snapshot = [], PythonState._snapshot
    monkeypatch.setattr(PythonState, "_snapshot", lambda self: made.append(1) or snapshot(self))
    run(move, "python", draws=10, thin=50, record="mu")
    assert len(made) >= 500 // PythonState.steps_again - 5


def test_a_choice_is_found_by_indices_in_a_tuple():
    """As the text of a program that calls itself has them."""
    with running_on("python"):
        state = decided(involutive(shift, shifted_drift), levels()).machine.state.current
    column = next(one for one in state.columns if one.is_model and one.template.rank == 1)
    assert column._below((3,)) == column._below(3) == [3]


def test_a_walk_with_other_steps_has_the_text_of_the_first_and_its_own_steps():
    def chain(runtime, step_size):
        with running_on(runtime):
            walk = random_walk(select("drift"), step_size)
            return sample(walk, levels(), 200, record="drift", seed=2, progress=False)["drift"]

    short, far = (chain("python", step_size) for step_size in (0.1, 2.0))
    np.testing.assert_allclose(far, chain("reference", 2.0), rtol=1e-12)
    assert not np.array_equal(short, far)
