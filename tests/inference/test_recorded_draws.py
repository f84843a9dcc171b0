"""Draws that machine code records are those that Python reads one after another."""

import math

import numpy as np
import pytest

from gendsl import (
    bernoulli,
    categorical,
    continuous,
    dirichlet,
    gen,
    multinomial,
    mvnormal,
    normal,
    poisson,
    read,
    sample,
    select,
    transform,
    uniform,
    write,
)
from gendsl.compiler.llvm.native_layout import Word
from gendsl.compiler.run.native_state import NativeState
from gendsl.errors import UnknownAddressError
from gendsl.inference import birth_death, cycle, involutive, mh, mixture, repeat, resume
from gendsl.inference.compiled import machine
from gendsl.inference.compiled.machine import Machine
from gendsl.inference.compiled.policy import why_no_machine_code
from gendsl.inference.running.recording import AtAddress
from gendsl.testing import running_on

pytestmark = pytest.mark.skipif(why_no_machine_code() is not None, reason="there is no machine code")


@gen
def peaks(n):
    k = ~poisson(3)
    heights = [("height", j) @ ~normal(0, 2) for j in range(k)]
    noisy = ~bernoulli(0.5)
    centre = ~uniform(0, 10)
    for i in range(n):
        ("y", i) @ ~normal(sum(heights) * math.exp(-((i - centre) ** 2)), 2.0 if noisy else 1.0)


@gen
def walk(trace):
    for j in range(trace["k"]):
        ("height", j) @ ~normal(trace["height", j], 0.5)


@gen
def turned(trace):
    noisy = ~bernoulli(0.4)


@gen
def walk_centre(trace):
    centre = ~uniform(max(0, trace["centre"] - 1), min(10, trace["centre"] + 1))


@gen
def push(trace):
    u = ~normal(0, 5)


@transform
def pushed(model_in, aux_in, *, model_out, aux_out):
    """Often out of the support of the centre."""
    u = read(aux_in["u"], continuous)
    write(model_out["centre"], read(model_in["centre"], continuous) + u, continuous)
    write(aux_out["u"], -u, continuous)


DATA = {("y", i): 2.0 * (i == 3) for i in range(8)}
START = peaks.generate((8,), DATA, rng=3, init={"k": 2}).trace
MOVES = birth_death("height"), mh(walk), mh(turned), involutive(push, pushed)
ALL = {"k": "k", "noisy": "noisy", "centre": "centre", "first": ("y", 0)}


def recorded_and_read(monkeypatch, kernel, start, draws, **options):
    """A run whose draws machine code records, and the same whose draws are read one after another."""
    runs = []
    for way in ("recorded", "read"):
        with monkeypatch.context() as patch:
            if way == "read":
                patch.setattr(Machine, "recorded", lambda *_: None)
            at_once = []
            draw = Machine.draw
            patch.setattr(Machine, "draw", lambda *args: at_once.append(args) or draw(*args))
            runs.append(sample(kernel, start, draws, seed=1, progress=False, **options))
            assert (len(at_once) > 0) == (way == "recorded"), runs[-1].ran
            assert len(at_once) < draws / 5
    return runs


def assert_equal(one, other):
    (mine,), (theirs,) = one.chains, other.chains
    assert len(mine) == len(theirs) == len(mine.steps) == len(theirs.steps)
    for row, same in zip(mine.rows, theirs.rows, strict=True):
        assert row.keys() == same.keys()
        for name in row:
            assert type(row[name]) is type(same[name])
            np.testing.assert_array_equal(row[name], same[name], strict=True)
    assert mine.steps.log_prob == theirs.steps.log_prob
    assert list(mine.steps.counts) == list(theirs.steps.counts)
    for name, counts in mine.steps.counts.items():
        assert counts.columns() == theirs.steps.counts[name].columns()
    assert mine.last.choices == theirs.last.choices
    for name, tally in mine.acceptance.items():
        same = theirs.acceptance[name]
        assert (tally.proposed, tally.accepted, tally.reasons) == (same.proposed, same.accepted, same.reasons)
        assert tally.log_ratio == pytest.approx(same.log_ratio, rel=1e-12)


@pytest.mark.parametrize("thin", [1, 3])
@pytest.mark.parametrize("moves", [cycle(*MOVES), mixture(list(MOVES)), repeat(cycle(*MOVES), 5), MOVES[3]])
def test_recorded_draws_are_those_that_are_read(monkeypatch, moves, thin):
    runs = recorded_and_read(monkeypatch, moves, START, 2000, record=ALL, thin=thin, warmup=50)
    assert_equal(*runs)
    assert runs[0].acceptance  # proposals out of the support were counted with why
    assert any(tally.reasons for tally in runs[0].acceptance.values())


def test_choices_numbered_below_an_address(monkeypatch):
    """Their number changes, and there is more room for them now and then."""

    @gen
    def many(n):
        k = ~poisson(30)
        for j in range(k):
            ("x", j) @ ~normal(0, 1)
        y = ~normal(k, 10)

    start = many.generate((1,), {"y": 90.0}, rng=1, init={"k": 1}).trace
    runs = recorded_and_read(monkeypatch, birth_death("x", least=1), start, 3000, record={"x": "x", "k": "k"})
    assert_equal(*runs)
    lengths = [len(x) for x in runs[0]["x"]]
    assert lengths == list(runs[0]["k"]) and max(lengths) > 40 and min(lengths) < 20


@gen
def shares(n):
    k = ~(1 + poisson(9))
    weights = ~dirichlet([1.0] * k)
    order = ~multinomial(20, [1 / k] * k)
    for i in range(n):
        ("z", i) @ ~categorical(weights)


@gen
def other_shares(trace):
    k = ~(1 + poisson(4 + trace["k"] / 2))
    weights = ~dirichlet([1.0] * k)
    order = ~multinomial(20, [1 / k] * k)


@gen
def topics(words, k):
    shapes = [("phi", j) @ ~dirichlet(np.ones(3)) for j in range(k)]
    pairs = [[("pair", i, j) @ ~mvnormal(np.zeros(2), np.eye(2)) for j in range(2)] for i in range(2)]
    ragged = [("part", j) @ ~dirichlet(np.ones(2 + j)) for j in range(k)]
    for i in range(len(words)):
        ("w", i) @ ~categorical(0.5 * shapes[i % k] + 0.5 * shapes[0])
    "y" @ ~normal(sum(pairs[i][j][0] * (i + 1) for i in range(2) for j in range(2)) + ragged[-1][0], 1)


@pytest.mark.parametrize("way", ["native", "python"])
def test_vectors_numbered_below_an_address(way):
    words = [0, 1, 2, 2, 1]
    observed = {("w", i): w for i, w in enumerate(words)} | {"y": 1.5}
    found = {}
    for name in ("reference", way):
        with running_on(name):
            trace = topics.generate((words, 2), observed, rng=1).trace
            kernel = mh(select("phi", "pair"))
            run = sample(kernel, trace, 40, seed=2, record=["phi", "pair"], progress=False)
        found[name] = run.chains[0].rows
    assert "step by step" not in run.ran[0]
    assert {row["phi"].shape for row in found[way]} == {(2, 3)}
    assert {row["pair"].shape for row in found[way]} == {(2, 2, 2)}
    for mine, theirs in zip(found[way], found["reference"], strict=True):
        for name in ("phi", "pair"):
            np.testing.assert_allclose(mine[name], theirs[name], rtol=1e-12)
    with running_on(way), pytest.raises(UnknownAddressError, match="must exist in every draw"):
        sample(kernel, trace, 3, seed=2, record="part", progress=False)  # vectors of two lengths


def test_arrays_whose_lengths_change(monkeypatch):
    start = shares.generate((3,), {("z", 0): 0, ("z", 1): 0, ("z", 2): 1}, rng=1, init={"k": 2}).trace
    record = {"k": "k", "weights": "weights", "order": "order", "z": "z"}
    runs = recorded_and_read(monkeypatch, mh(other_shares), start, 3000, record=record)
    assert_equal(*runs)
    sizes = [len(weights) for weights in runs[0]["weights"]]
    assert sizes == runs[0]["k"].tolist() and max(sizes) > 12 and min(sizes) < 5


def test_a_choice_that_is_gone_is_the_same_error(monkeypatch):
    """What is missing in a draw ends the run there, as where draws are read."""
    for what in (("height", 2), "height"):
        found = []
        for way in ("recorded", "read"):
            with monkeypatch.context() as patch:
                if way == "read":
                    patch.setattr(Machine, "recorded", lambda *_: None)
                start = peaks.generate((8,), DATA, rng=3, init={"k": 3}).trace
                with pytest.raises(UnknownAddressError) as error:
                    sample(cycle(*MOVES), start, 5000, record={"it": what}, seed=1, progress=False)
                found.append(str(error.value))
        assert found[0] == found[1]


def test_steps_that_fail_are_made_by_the_interpreter(monkeypatch):
    """The text of this move fails now and then: a division by zero that the program handles."""

    @gen
    def plain():
        n = ~poisson(6)
        x = ~normal(0, 1)

    @gen
    def other(trace):
        try:
            rate = 1 / trace["n"]
        except ZeroDivisionError as error:  # it is looked at
            rate = float(len(error.args))
        n = ~poisson(6)
        x = ~normal(rate, 1)

    start = plain.simulate((), rng=1)
    options = {"record": {"n": "n", "x": "x"}, "thin": 4}
    recorded, read_singly = recorded_and_read(monkeypatch, mh(other), start, 3000, **options)
    assert_equal(recorded, read_singly)
    assert "by the interpreter" in recorded.ran[0]


def test_only_addresses_are_recorded_by_machine_code(monkeypatch):
    """A function of the trace is called, for each draw."""
    seen = []
    run = sample(
        cycle(*MOVES), START, 400, record={"k": "k", "f": lambda t: seen.append(t["k"]) or t["k"]}, seed=1,
        progress=False,
    )  # fmt: skip
    assert len(seen) == 400 and list(run["f"]) == list(run["k"]) == seen


def test_new_structures_are_looked_at_first(monkeypatch):
    """The chain stops behind the draws that have another number of choices than those looked at."""
    sizes = []
    compare = Machine.compare
    monkeypatch.setattr(
        Machine,
        "compare",
        lambda self, tallies: sizes.append(len(self.state.choices())) or compare(self, tallies),
    )
    monkeypatch.setattr(machine, "is_affordable", lambda _: True)
    moves = cycle(birth_death("height"), mh(walk))  # of which no steps were looked at yet
    run = sample(moves, START, 3000, record={"k": "k"}, seed=1, progress=False)
    assert {len(DATA) + 3 + k for k in run["k"].tolist()} <= set(sizes)


@pytest.mark.slow
@pytest.mark.parametrize("steps", [40, 1000, 20_000])
def test_an_interrupted_run_has_the_draws_that_led_to_its_last_trace(monkeypatch, steps):
    call, interrupts = NativeState._call, []

    def interrupted(self):
        status = call(self)
        if self.words[Word.STEPS] >= steps and self.words[Word.RECORDED] and not interrupts:
            interrupts.append(steps)
            raise KeyboardInterrupt
        return status

    whole = sample(mh(walk_centre), START, 100_000, record={"c": "centre"}, seed=1, progress=False)
    some_steps = Machine._some_steps

    def few_steps(self):
        self.steps_at_once = 7  # so that draws that are made at once take several calls
        return some_steps(self)

    monkeypatch.setattr(NativeState, "_call", interrupted)
    monkeypatch.setattr(Machine, "_some_steps", few_steps)
    run = sample(mh(walk_centre), START, 100_000, record={"c": "centre"}, seed=1, progress=False)
    assert run.interrupted and steps / 3 < len(run) <= steps + 50_000
    assert run["c"].tolist() == whole["c"][: len(run)].tolist()
    assert len(run.chains[0].steps) == len(run) and run["c"][-1] == run.last["centre"]


def test_resumed_runs_are_the_same(monkeypatch, tmp_path):
    """What is recorded at once ends where the chain is written."""
    options = {"record": {"k": "k", "c": "centre"}, "seed": 1, "progress": False}
    whole = sample(cycle(*MOVES), START, 4000, **options)
    kept = sample(cycle(*MOVES), START, 4000, checkpoint=tmp_path / "run", **options)
    assert list(whole["k"]) == list(kept["k"]) and list(whole["c"]) == list(kept["c"])
    again = resume(
        tmp_path / "run", cycle(*MOVES), peaks, record={"k": AtAddress("k"), "c": AtAddress("centre")}
    )
    assert list(again["c"]) == list(kept["c"])
