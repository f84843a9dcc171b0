"""What functions of the trace read in chains of machine code is what they read step by step."""

import pickle

import numpy as np
import pytest

from gendsl import bernoulli, dirichlet, factor, gen, normal, sample, select
from gendsl.compiler.llvm.native import available
from gendsl.compiler.run.native_state import NativeState
from gendsl.compiler.run.python_state import PythonState
from gendsl.errors import UnknownAddressError
from gendsl.inference import cycle, gibbs, mh
from gendsl.inference.compiled import policy, thresholds
from gendsl.inference.compiled.machine import Machine
from gendsl.testing import running_on
from tests.inference.forms import AS

needs_llvm = pytest.mark.skipif(available() is not None, reason="there is no LLVM here")


@gen
def two_points(mu):
    for i in range(2):
        ("y", i) @ ~normal(mu, 1)
    return 2 * mu


@gen
def model():
    mu = ~normal(0, 2)
    weights = ~dirichlet([1.0] * 3)
    more = ~bernoulli(0.5)
    offsets = [("offset", j) @ ~normal(0, 1) for j in range(3 if more else 1)]
    twice = "points" @ ~two_points(mu + sum(offsets))
    return [twice, mu, *offsets]


@gen
def other_mean(trace):
    mu = ~normal(trace["mu"], 0.5)


@gen
def others(trace):
    more = ~bernoulli(0.5)
    for j in range(3 if more else 1):
        ("offset", j) @ ~normal(0, 1)
    weights = ~dirichlet([1.0] * 3)


KERNEL = cycle(mh(other_mean), mh(others))


def start():
    return model.generate((), {"points": {("y", 0): 1.0, ("y", 1): 2.0}}, rng=1).trace


def offsets_of(trace):
    return [trace["offset", j] for j in range(3) if ("offset", j) in trace]


READ = {
    "choices": lambda trace: [trace["mu"], *offsets_of(trace)],
    "weights": lambda trace: trace["weights"],
    "returned": lambda trace: trace.retval,
    "of a call": lambda trace: trace["points"],
    "what is there": lambda trace: [
        "mu" in trace,
        "offset" in trace,
        "points" in trace,
        ("offset", 1) in trace,
    ],
    "all choices": lambda trace: list(trace.choices.items()),
    "observed": lambda trace: list(trace.observed.items()),
    "log density": lambda trace: [trace.log_prob, trace.log_likelihood, trace.project(select("mu"))],
    "updated": lambda trace: trace.update({"mu": 0.5}).log_weight,
    "of a file": lambda trace: pickle.loads(pickle.dumps(trace)).retval,
}


def draws(what, runtime):
    with running_on(runtime):
        run = sample(KERNEL, start(), 60, record={"it": what}, seed=2, progress=False)
    return run.ran, run.by_chain("it")[0]


def flat(value):
    """The numbers and addresses of a value, in order."""
    if isinstance(value, (list, tuple, np.ndarray)):
        return [one for entry in value for one in flat(entry)]
    return [value]


@pytest.mark.parametrize("name", READ)
def test_a_function_reads_what_it_reads_step_by_step(name, form):
    ran, found = draws(READ[name], form)
    assert ran[0].startswith(AS[form])
    _, expected = draws(READ[name], "compiled")
    for one, other in zip(found, expected, strict=True):
        one, other = flat(one), flat(other)
        assert [type(value) for value in one] == [type(value) for value in other]
        assert one == pytest.approx(other, rel=1e-9, abs=1e-12) if type(one[0]) is float else one == other


def test_a_trace_that_a_function_keeps_stays_what_it_was(form):
    kept = []

    def keep(trace):
        kept.append(trace)
        return trace["mu"]

    with running_on(form):
        run = sample(KERNEL, start(), 30, record={"mu": keep}, seed=2, progress=False)
    assert run.ran[0].startswith(AS[form]) and len({trace["mu"] for trace in kept}) > 3
    for trace, mu in zip(kept, run["mu"], strict=True):
        assert trace["mu"] == mu == trace.retval[1]
        assert trace.log_prob == pytest.approx(model.assess((), trace.choices).log_prob)
    again = sample(KERNEL, kept[10], 5, record="mu", seed=1, progress=False)
    assert len(again["mu"]) == 5


def test_an_address_that_is_not_there_is_the_usual_error(form):
    with running_on(form), pytest.raises(UnknownAddressError, match="offset"):
        sample(KERNEL, start(), 30, record=lambda trace: trace["offset", 2], seed=2, progress=False)
    with running_on(form), pytest.raises(UnknownAddressError, match="namespace"):
        sample(KERNEL, start(), 30, record=lambda trace: trace["offset"], seed=2, progress=False)


@needs_llvm
def test_functions_are_read_from_machine_code_where_there_are_two_steps_a_draw():
    steps = 1 + thresholds.LEAST_WORK // (2 * thresholds.A_STEP)
    run = sample(cycle(mh(other_mean), mh(others)), start(), steps, record=offsets_of, seed=1, progress=False)
    assert run.ran == ["as machine code"]


@needs_llvm
def test_functions_of_values_are_read_from_machine_code_at_each_step():
    steps = 1 + thresholds.LEAST_WORK // thresholds.A_STEP
    kw = {"seed": 1, "progress": False}
    run = sample(mh(other_mean), start(), steps, record={"mu": lambda trace: trace["mu"]}, **kw)
    assert run.ran == ["as machine code"]
    given = sample(mh(other_mean), start(), steps, record={"mu": lambda trace: float(trace.retval[1])}, **kw)
    assert given.ran == ["as machine code"]
    np.testing.assert_allclose(run["mu"], given["mu"], rtol=1e-12)
    called = {"mu": lambda trace: trace.retval[1] + 0 * len(trace.choices)}
    more = sample(mh(other_mean), start(), steps, record=called, **kw)
    assert more.ran[0].endswith("; then step by step: whole traces are needed too often")
    assert "as machine code; recorded functions are called: mu: line" in more.ran[0]
    np.testing.assert_allclose(run["mu"], more["mu"], rtol=1e-12)


def test_a_function_that_reads_few_choices_is_given_no_others(monkeypatch, form):
    only_the_first = lambda machine, now: machine.closed.compared == 0  # each comparison looks at all choices
    monkeypatch.setattr(Machine, "is_due", only_the_first)
    monkeypatch.setattr(policy, "_give_functions", lambda *args, **options: None)  # they are called
    made = []
    for state in (NativeState, PythonState):
        choices = state.choices
        noted = lambda self, choices=choices: made.append(1) or choices(self)
        monkeypatch.setattr(state, "choices", noted)
    read = {
        "few": lambda trace: trace["mu"] + trace["offset", 0],
        "many": lambda trace: sum(trace["mu"] for _ in range(2 * thresholds.MOST_READ_SINGLY)),
    }
    counts, values = {}, {}
    with running_on(form):
        for name, function in read.items():
            made.clear()
            run = sample(KERNEL, start(), 40, record={name: function}, seed=1, progress=False)
            assert run.ran == [AS[form]]
            counts[name], values[name] = len(made), run[name]
    assert counts["few"] <= 2 and counts["many"] >= 40 and len(set(values["few"])) > 3


@gen
def spins(n):
    signs = [("s", i) @ ~bernoulli(0.5) for i in range(n)]
    "pairs" @ ~factor(0.5 * sum(1 for i in range(n - 1) if signs[i] == signs[i + 1]))


@needs_llvm
def test_a_sweep_of_updates_is_worth_a_run_of_the_program_for_what_is_recorded():
    """A draw whose log density is recorded takes a run, in the time of few of many updates."""
    sweep = spins.simulate((80,), rng=1)
    kw = {"record": {"lp": lambda trace: trace.log_prob}, "seed": 1, "progress": False}
    run = sample(gibbs("s"), sweep, 60, **kw)
    assert run.ran == ["as machine code"]
    with running_on("reference"):
        expected = sample(gibbs("s"), sweep, 60, **kw)
    np.testing.assert_allclose(run["lp"], expected["lp"], rtol=1e-12)
