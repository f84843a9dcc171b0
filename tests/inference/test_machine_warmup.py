"""Warm-ups as machine code, where they run so: the steps, and what is found, are today's runtime's."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from gendsl import dirichlet, gamma, gen, half_normal, iid, mvnormal, normal, sample, select, uniform_discrete
from gendsl.compiler.llvm.native import available
from gendsl.compiler.run.closed_move import ClosedKernel
from gendsl.errors import RuntimeMismatchError, UnknownAddressError
from gendsl.inference import (
    adapt,
    cycle,
    mh,
    mixture,
    nuts,
    random_walk,
    repeat,
    resume,
    slice_sampling,
    warmup_rules,
)
from gendsl.inference.adaptation import TuningWarmUp, start_warmup
from gendsl.inference.compiled import machine, thresholds
from gendsl.inference.metric import by_size
from gendsl.testing import running_on
from tests.inference.forms import AS

needs_llvm = pytest.mark.skipif(available() is not None, reason="there is no LLVM here")


@gen
def growing(n):
    k = ~uniform_discrete(1, 12)
    sd = ~gamma(2, 1)
    mu = []
    for j in range(k):
        mu.append(("mu", j) @ ~normal(0, 5))
    w = ~dirichlet(np.ones(3))
    v = ~mvnormal(np.zeros(2), np.eye(2))
    for i in range(n):
        ("y", i) @ ~normal(mu[i % k] + w[0] + v[1], sd)


def start(k=1, n=12):
    rng = np.random.default_rng(0)
    data = {("y", i): float(rng.normal(3 * (i % 2), 2)) for i in range(n)}
    return growing.generate((n,), data, init={"k": k}, rng=1).trace


@gen
def resizing(n):
    """With vectors that are longer or shorter as k is another."""
    k = ~uniform_discrete(1, 4)
    w = ~dirichlet(np.full(k, 2.0))
    sd = ~gamma(2, 1)
    shifts = [("b", j) @ ~iid(normal(0, 2), k) for j in range(2)]
    for i in range(n):
        ("y", i) @ ~normal(shifts[i % 2][i % k] + w[0], sd)


RESIZED = "vectors whose lengths change"
JUMP = mh(select("k", "mu"), skip_absent=True)
KERNELS = {
    "one": random_walk(select("sd", "w")),
    "everything": cycle(random_walk(), JUMP),
    "cycle": cycle(
        random_walk(select("sd", "w", "v")), random_walk(select("mu"), skip_absent=True), JUMP,
        slice_sampling("sd"),
    ),
    "picked": mixture([
        random_walk(select("sd", "mu"), skip_absent=True), JUMP, repeat(random_walk(select("w")), 3),
    ], [2, 1, 2]),
    "picked by the state": mixture(
        [random_walk(select("sd", "mu"), skip_absent=True), JUMP], lambda trace: [trace["k"], 1.0]
    ),
    RESIZED: cycle(random_walk(), mh(select("k", "w", "b"))),
}  # fmt: skip


def start_of(name):
    if name != RESIZED:
        return start()
    data = np.random.default_rng(0).normal(size=12)
    return resizing.generate((12,), {"y": data}, init={"k": 1}, rng=1).trace


@pytest.fixture
def finished(monkeypatch):
    """The warm-ups that have ended."""
    found = []
    finish = TuningWarmUp.finish
    monkeypatch.setattr(TuningWarmUp, "finish", lambda self: found.append(self) or finish(self))
    return found


def tunings(warmups):
    """What warm-ups found, in numbers."""
    found = []
    for one in warmups:
        mass = {path: by_size(entries) for path, entries in (one.tuning.mass or {}).items()}
        found.append((one.kernel.name, one.numbers, mass))
    return sorted(found, key=lambda tuning: tuning[0])


def assert_alike(found, expected, rtol):
    for (name, numbers, mass), (other, wanted, masses) in zip(found, expected, strict=True):
        assert name == other and mass.keys() == masses.keys()
        np.testing.assert_allclose(numbers, wanted, rtol=rtol, atol=rtol)
        for path, entries in mass.items():
            assert entries.keys() == masses[path].keys()
            for size, each in entries.items():
                np.testing.assert_allclose(each, masses[path][size], rtol=rtol)


@pytest.mark.parametrize("name", KERNELS)
def test_the_same_warm_up(name, finished, form):
    runs = {}
    for runtime in ("compiled", form):
        finished.clear()
        with running_on(runtime):
            run = sample(
                KERNELS[name], start_of(name), 40, warmup=1000, record=["k", "sd"], seed=3, progress=False
            )
        runs[runtime] = run, tunings(finished), run.ran
    (run, found, ran), (other, expected, _) = runs[form], runs["compiled"]
    assert len(ran) == 1 and ran[0].startswith(AS[form]) and "step by step" not in ran[0]
    if name == RESIZED:
        assert any(len(mass.get(("b", 0), ())) > 2 for _, _, mass in found)
    else:
        assert ran == [AS[form]]
    assert_alike(found, expected, 1e-10)
    assert run["k"].tolist() == other["k"].tolist()
    np.testing.assert_allclose(run["sd"], other["sd"], rtol=1e-10)
    for name, tally in other.acceptance.items():
        counted = run.acceptance[name]
        assert (counted.proposed, counted.accepted) == (tally.proposed, tally.accepted)


@pytest.mark.parametrize("name", KERNELS)
def test_every_step_from_an_equal_state(name, monkeypatch, form):
    """Each is compared with one of today's runtime, which starts where it does; over all windows."""
    monkeypatch.setattr(machine.Machine, "is_due", lambda self, now: True)
    monkeypatch.setattr(thresholds, "MOST_SECONDS", 0.0)
    counted = []
    difference = machine.difference

    def compared(state, expected, info, generators, numbers):
        counted.append(len(numbers))
        assert all(abs(one - other) <= 1e-11 * (1 + abs(other)) for one, other in numbers)
        return difference(state, expected, info, generators, numbers)

    monkeypatch.setattr(machine, "difference", compared)
    with running_on(form):
        sample(KERNELS[name], start_of(name), 1, warmup=300, seed=5, progress=False)
    assert len(counted) > 100 and any(counted)


def test_a_difference_is_an_error(monkeypatch, form):
    """Where the interpreter learns something else."""
    monkeypatch.setattr(thresholds, "FIRST_COMPARED", 1000)
    monkeypatch.setattr(thresholds, "CHEAP", 10.0)
    kernel, rule = random_walk(select("sd")), warmup_rules.after_step

    def other(one, numbers, windows, probability):
        rule(one, numbers, windows, 0.5 * probability)

    with running_on(form), pytest.raises(RuntimeMismatchError, match="has found in warm-up"):
        monkeypatch.setattr(warmup_rules, "after_step", other)  # the text is of the function itself
        sample(kernel, start(), 1, warmup=100, seed=1, progress=False)


@needs_llvm
def test_a_repetition_has_equal_bits(finished):
    kernel = KERNELS["cycle"]
    asked = {"warmup": 400, "record": ["k", "sd"], "seed": 3, "progress": False}
    first = sample(kernel, start(), 600, **asked)
    assert first.ran == ["as machine code"]
    seen = [one.numbers for one in finished]
    again = sample(kernel, start(), 600, **asked)
    assert again["k"].tolist() == first["k"].tolist() and again["sd"].tolist() == first["sd"].tolist()
    assert [one.numbers for one in finished] == [*seen, *seen]


@needs_llvm
def test_a_chain_that_is_ended_in_its_warm_up_is_resumed(tmp_path, monkeypatch):
    """It warms up again, from where it started."""
    kernel, folder = KERNELS["everything"], tmp_path / "run"
    asked = {"warmup": 900, "record": ["k", "sd"], "seed": 3, "progress": False}
    whole = sample(kernel, start(), 200, checkpoint=tmp_path / "whole", **asked)
    sweep, swept = machine.Machine.sweep, []

    def ended(self, times, tallies):
        swept.append(times)
        if sum(swept) > 300:
            raise KeyboardInterrupt
        sweep(self, times, tallies)

    monkeypatch.setattr(machine.Machine, "sweep", ended)
    part = sample(kernel, start(), 200, checkpoint=folder, **asked)
    assert part.interrupted and len(part["sd"]) == 0
    monkeypatch.setattr(machine.Machine, "sweep", sweep)
    found = resume(folder, kernel, growing, progress=False)
    assert found.ran == whole.ran == ["as machine code"]
    assert found["k"].tolist() == whole["k"].tolist() and found["sd"].tolist() == whole["sd"].tolist()


@pytest.mark.slow
@needs_llvm
def test_chains_in_threads():
    kernel = KERNELS["everything"]
    asked = {"warmup": 800, "chains": 2, "record": ["k", "sd"], "seed": 3, "progress": False}
    found = []
    for count in (1, 2):
        with ThreadPoolExecutor(count) as threads:
            found.append(sample(kernel, start(), 500, executor=threads, **asked))
    alone, together = found
    assert alone.ran == together.ran == ["as machine code"] * 2  # in warm-up, too, or it would say so
    assert alone["sd"].tolist() == together["sd"].tolist()


def test_a_kernel_that_is_not_compiled_adapts_between(finished, form):
    """Its warm-up is its own, and what machine code has found is not lost where it is called."""
    kernel = cycle(repeat(random_walk(select("sd", "w")), 20), nuts(select("v")))
    with running_on(form):
        run = sample(kernel, start(), 5, warmup=40, record="sd", seed=3, progress=False)
    assert run.ran[0].startswith(f"{AS[form]} but for")
    walked, other = finished
    assert walked.numbers[warmup_rules.DONE] == 800.0 and other.numbers[warmup_rules.DONE] == 40.0
    assert set(walked.tuning.mass) == {("sd",), ("w",)} and set(other.tuning.mass) == {("v",)}


@gen
def resized():
    k = ~uniform_discrete(2, 4)
    w = ~dirichlet(np.ones(k))
    y = ~normal(w[0], 0.5)


def test_a_choice_whose_dimension_changes_is_left_to_todays_runtime(finished, form):
    """What was found before is kept."""
    kernel = cycle(random_walk(select("w")), mh(select("k", "w")))
    trace = resized.generate((), {"y": 0.5}, init={"k": 2}, rng=1).trace
    runs = []
    for runtime in ("compiled", form):
        finished.clear()
        with running_on(runtime):
            run = sample(kernel, trace, 5, warmup=60, record="k", seed=3, progress=False)
        runs.append((run, tunings(finished)))
    (expected, wanted), (run, found) = runs
    assert run["k"].tolist() == expected["k"].tolist()
    for (_, numbers, _), (_, expected, _) in zip(found, wanted, strict=True):
        np.testing.assert_allclose(numbers, expected, rtol=1e-6)


@gen
def shared():
    k = ~uniform_discrete(1, 3)
    w = ~dirichlet(np.full(k, 2.0))
    sd = ~half_normal(1.0)
    y = ~normal(w[0], sd)


@pytest.mark.parametrize("moved", [("w",), ("w", "sd")])
@pytest.mark.parametrize("k", [1, 2])
def test_one_weight_has_no_coordinate_to_learn_from(k, moved, finished, form):
    """Its slot, if it had one, would be that of all coordinates when there are more weights."""
    kernel = cycle(random_walk(select(*moved)), mh(select("k", "w")))
    trace = shared.generate((), {"y": 0.5}, init={"k": k}, rng=1).trace
    runs = []
    for runtime in ("compiled", form):
        finished.clear()
        with running_on(runtime):
            run = sample(kernel, trace, 40, warmup=200, record=["k", "sd"], seed=3, progress=False)
        (one,) = finished
        runs.append((run, one.numbers, one.tuning.mass))
    (expected, numbers, masses), (run, found, mass) = runs
    assert run["k"].tolist() == expected["k"].tolist()
    np.testing.assert_allclose(run["sd"], expected["sd"], rtol=1e-6)
    np.testing.assert_allclose(found, numbers, rtol=1e-6)
    assert mass.keys() == masses.keys()


@gen
def bounded():
    x = ~half_normal(1)
    y = ~normal(x, 1)


def test_the_error_is_the_users_own(form):
    with running_on(form), pytest.raises(UnknownAddressError):
        sample(random_walk(select("nothing")), start(), 5, warmup=50, seed=1, progress=False)


@needs_llvm
def test_short_warm_ups_are_not_compiled():
    """Whatever ran before, as what a warm-up finds is to have the same bits."""
    kernel = random_walk(select("x"))
    trace = bounded.generate((), {"y": 1.0}, rng=1).trace
    for _ in range(3):
        run = sample(kernel, trace, 5000, warmup=900, record="x", seed=1, progress=False)
    assert 900 * (thresholds.A_STEP + 2) < thresholds.LEAST_WORK
    assert run.ran == [
        "as machine code; in warm-up step by step: so few steps take less time than compiling them"
    ]


def test_the_text_is_used_again(monkeypatch, form):
    made = []
    init = ClosedKernel.__init__
    monkeypatch.setattr(ClosedKernel, "__init__", lambda self, *args: made.append(args) or init(self, *args))
    kernel, trace = random_walk(select("x")), bounded.generate((), {"y": 1.0}, rng=1).trace
    with running_on(form):
        for seed in range(3):
            sample(kernel, trace, 50, warmup=100, seed=seed, progress=False)
    assert len(made) == 2  # that of the warm-ups, and that of the draws


def test_a_warm_up_can_be_copied_at_any_time():
    warmup = start_warmup(random_walk(select("x")), None, 100, None)
    assert warmup.numbers == warmup_rules.rule_of(0.3)
    kernel = adapt(random_walk(select("x")), bounded.generate((), {"y": 1.0}, rng=1).trace, steps=30, rng=1)
    assert pickle.loads(pickle.dumps(kernel.trace)).choices == kernel.trace.choices


@pytest.mark.parametrize("name", ["one", "cycle", "nothing to adapt"])
def test_a_kernel_is_adapted_alone_as_in_a_run(form, finished, monkeypatch, name):
    kernel = JUMP if name == "nothing to adapt" else KERNELS[name]
    with running_on("reference"):
        there = adapt(kernel, start(), steps=150, rng=3)
    expected = tunings(finished)
    finished.clear()
    compiled, sweep = [], machine.Machine.sweep
    noted = lambda self, steps, tallies: compiled.append(steps) or sweep(self, steps, tallies)
    monkeypatch.setattr(machine.Machine, "sweep", noted)
    with running_on(form):
        here = adapt(kernel, start(), steps=150, rng=3)
    assert sum(compiled) > 100  # the others are compared
    assert_alike(tunings(finished), expected, 1e-6)
    assert bool(finished) == (here.kernel is not kernel) == (kernel is not JUMP)
    assert here.trace.choices.keys() == there.trace.choices.keys()
    for address, value in there.trace.choices.items():
        np.testing.assert_allclose(here.trace[address], value, rtol=1e-6)
