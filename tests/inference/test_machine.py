"""Chains as machine code: the draws, counts and errors of the kernels that they are made of."""

import math
import os
import re
import time
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks.models import families, models
from gendsl import (
    bernoulli,
    categorical,
    continuous,
    copy,
    dirichlet,
    discrete,
    factor,
    gamma,
    gen,
    mixture_of_normals,
    neg_binom,
    normal,
    read,
    sample,
    student_t,
    transform,
    uniform,
    uniform_discrete,
    write,
)
from gendsl.compiler.llvm import native
from gendsl.compiler.llvm.native import available
from gendsl.compiler.llvm.native_layout import Word
from gendsl.compiler.moves import Proposing
from gendsl.compiler.run import closed_move
from gendsl.errors import (
    CoverageError,
    InvolutionError,
    KernelError,
    ObservedError,
    RuntimeMismatchError,
    UnknownAddressError,
)
from gendsl.inference import Kernel, cycle, gibbs, independent, involutive, mh, mixture, random_walk, repeat
from gendsl.inference.compiled import comparison, machine, policy, texts, thresholds
from gendsl.inference.running.chain import remade
from gendsl.inference.running.recording import AtAddress
from gendsl.selection import select
from gendsl.testing import running_on
from tests.inference.forms import AS, FORMS

needs_llvm = pytest.mark.skipif(available() is not None, reason="there is no LLVM here")


@gen
def walk(n):
    mu = ~normal(0, 2)
    k = ~bernoulli(0.4)
    for j in range(3 if k else 1):
        ("x", j) @ ~normal(mu, 1)
    for i in range(n):
        ("y", i) @ ~normal(mu, 1)


@gen
def step_size(trace):
    u = ~normal(0, 0.5)


@transform
def shifted(model_in, aux_in, *, model_out, aux_out):
    mu, u = read(model_in["mu"], continuous), read(aux_in["u"], continuous)
    write(model_out["mu"], mu + u, continuous)
    write(aux_out["u"], -u, continuous)


@gen
def two_more(trace):
    if not trace["k"]:
        a = ~normal(0, 2)
        b = ~normal(0, 2)


@transform
def toggled(model_in, aux_in, *, model_out, aux_out):
    k = read(model_in["k"], discrete)
    write(model_out["k"], not k, discrete)
    if k:
        write(aux_out["a"], read(model_in["x", 1], continuous), continuous)
        write(aux_out["b"], read(model_in["x", 2], continuous), continuous)
    else:
        write(model_out["x", 1], read(aux_in["a"], continuous), continuous)
        write(model_out["x", 2], read(aux_in["b"], continuous), continuous)


def start(n=4):
    return walk.generate((n,), {("y", i): 0.3 * i for i in range(n)}, rng=5).trace


move = involutive(step_size, shifted)
jump = involutive(two_more, toggled)


def by_number(trace):
    """Weights that depend on the state."""
    return [1.0 + trace["k"], 2.0 if trace["mu"] < 0 else 0.5]


KERNELS = {
    "alone": move,
    "cycle": cycle(move, jump),
    "repeat": repeat(cycle(move, jump, move), 3),
    "mixture": mixture([move, jump, cycle(jump, move)], [0.5, 0.25, 0.25]),
    "second": cycle(move, mixture([move, jump]), repeat(mixture([jump, move, jump]), 2)),
    "nested": cycle(mixture([move, mixture([jump, move])]), repeat(jump, 2)),
    "checked": cycle(
        involutive(step_size, shifted, check=True), involutive(two_more, toggled, check="reject"), jump
    ),
    "weights": cycle(move, mixture([jump, move], by_number), repeat(mixture([move, jump], by_number), 2)),
    "weights of several": mixture([repeat(jump, 3), mixture([move, jump], by_number)], by_number),
    "weights of zero": mixture([jump, move], lambda trace: [0 if trace["k"] else 1, 2]),
    "independent": cycle(independent({"mu": normal(0.5, 1), ("x", 0): student_t(4, 0.5, 1)}), jump),
}


def run(kernel, runtime, **given):
    with running_on(runtime):
        return sample(kernel, start(), seed=11, progress=False, **given)


def counted(result):
    return {
        name: (tally.proposed, tally.accepted, tally.weighed, tally.reasons)
        for name, tally in result.chains[0].acceptance.items()
    }


@pytest.mark.parametrize("name", KERNELS)
def test_the_same_chain(name, monkeypatch, form):
    made = []
    monkeypatch.setattr(machine.Machine, "__init__", noting(made, machine.Machine.__init__))
    asked = {"draws": 300, "warmup": 20, "thin": 2, "record": ["mu", "k", ("x", 0)]}
    native = run(KERNELS[name], form, **asked)
    expected = run(KERNELS[name], "compiled", **asked)
    assert len(made) == 1
    for quantity in ("k", "mu"):
        np.testing.assert_allclose(native[quantity], expected[quantity], rtol=1e-12)
    assert counted(native) == counted(expected)
    steps, others = native.chains[0].steps, expected.chains[0].steps
    np.testing.assert_allclose(steps.log_prob, others.log_prob, rtol=1e-9)
    for kernel in counted(native):
        tally, other = native.chains[0].acceptance[kernel], expected.chains[0].acceptance[kernel]
        assert tally.log_ratio == pytest.approx(other.log_ratio, rel=1e-8)
        assert tally.log_aux == pytest.approx(other.log_aux, rel=1e-8, abs=1e-8)


def noting(made, function):
    def noted(self, *args, **kwargs):
        made.append(self)
        return function(self, *args, **kwargs)

    return noted


def test_whole_traces_and_functions(form):
    native = run(KERNELS["cycle"], form, draws=50)
    expected = run(KERNELS["cycle"], "compiled", draws=50)
    for one, other in zip(native.chains[0].traces, expected.chains[0].traces, strict=True):
        assert one["mu"] == pytest.approx(other["mu"], rel=1e-12)
        assert one.observed_paths == other.observed_paths
    of_function = run(KERNELS["cycle"], form, draws=50, record=lambda trace: trace["mu"] ** 2)
    np.testing.assert_allclose(
        of_function[of_function.names[0]], [t["mu"] ** 2 for t in expected.chains[0].traces], rtol=1e-12
    )


def test_arrays_of_numbered_choices(form):
    native = run(move, form, draws=30, record=["x", "mu"])
    expected = run(move, "compiled", draws=30, record=["x", "mu"])
    np.testing.assert_allclose(native["x"], expected["x"], rtol=1e-12)


def stay(trace, rng):
    """A kernel of the user's own."""
    return trace, None


def by_hand(trace, rng):
    """Another kernel of the user's own: one that jumps."""
    new, log_weight = trace.update({"mu": float(rng.normal(0, 2))}, rng=0)[:2]
    log_prior = [-0.125 * one["mu"] ** 2 for one in (trace, new)]
    accepted = np.log(rng.random()) < log_weight + log_prior[0] - log_prior[1]
    return (new if accepted else trace), SimpleNamespace(accepted=bool(accepted))


def number_by_hand(trace, rng):
    """One that changes which choices there are."""
    new, log_weight = trace.regenerate(select("k"), rng=rng)[:2]
    accepted = np.log(rng.random()) < log_weight
    return (new if accepted else trace), SimpleNamespace(accepted=bool(accepted))


chosen = mh(lambda trace: select("mu"), name="chosen")
OTHERS = {
    "at the end": (cycle(move, jump, by_hand), "by_hand"),
    "at the start": (cycle(by_hand, move, jump), "by_hand"),
    "between": (cycle(move, number_by_hand, jump, move), "number_by_hand"),
    "alone in a repetition": (cycle(move, repeat(stay, 2), jump), "stay"),
    "one of gendsl's": (cycle(move, chosen, jump), "chosen"),
    "picked": (mixture([move, by_hand, jump], [1.0, 2.0, 1.0]), "by_hand"),
    "picked, most often": (mixture([number_by_hand, move], [9.0, 1.0]), "number_by_hand"),
    "two": (cycle(by_hand, move, Kernel(stay, "own", reversible=True), jump), "by_hand, own"),
    "all but one": (cycle(by_hand, chosen, number_by_hand, move), "by_hand, chosen, number_by_hand"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_kernels_that_are_not_compiled_are_called_between_those_that_are(name, form):
    kernel, shown = OTHERS[name]
    result = run(kernel, form, draws=200, record=["mu", "k"])
    assert result.ran == [f"{AS[form]} but for {shown}"]
    expected = run(kernel, "compiled", draws=200, record=["mu", "k"])
    np.testing.assert_array_equal(result["k"], expected["k"])
    np.testing.assert_allclose(result["mu"], expected["mu"], rtol=1e-12)
    for one, tally in expected.chains[0].acceptance.items():
        other = result.chains[0].acceptance[one]
        assert (tally.proposed, tally.accepted, tally.reasons) == (
            other.proposed, other.accepted, other.reasons
        )  # fmt: skip
    assert result.chains[0].acceptance.keys() == expected.chains[0].acceptance.keys()
    assert len(set(result["mu"])) > 10


def test_the_first_compiled_step_of_a_sweep_is_compared(monkeypatch, form):
    found = run(cycle(by_hand, move), form, draws=30, record="mu")
    assert found.comparisons > 0
    monkeypatch.setattr(comparison, "are_close", lambda *args: False)
    with pytest.raises(RuntimeMismatchError, match=f"shifted: the {FORMS[form]}"):
        run(cycle(by_hand, involutive(step_size, shifted)), form, draws=30, record="mu")


def test_a_kernel_that_raises_leaves_its_own_error(form):
    def wrong(trace, rng):
        return trace if trace["mu"] < 0.5 else None, None

    with pytest.raises(KernelError, match="kernel wrong returned"):
        run(cycle(move, wrong), form, draws=100, record="mu")


def test_a_kernel_that_changes_the_arguments_ends_the_machine_code(form):
    def longer(trace, rng):
        return (trace.update({("y", 4): 1.0}, args=(5,), rng=0).trace if trace.args == (4,) else trace), None

    kernel = cycle(move, longer)
    result, expected = (run(kernel, runtime, draws=20, record="mu") for runtime in (form, "compiled"))
    assert result.ran == [
        f"{AS[form]} but for longer; then step by step: a kernel that changes the arguments of the model"
    ]
    np.testing.assert_allclose(result["mu"], expected["mu"], rtol=1e-12)
    assert result.last.args == expected.last.args == (5,)


@pytest.mark.parametrize(
    ("kernel", "why"),
    [
        (cycle(move, stay), "stay is plain Python, and one such kernel among fewer than 10 steps is enough"),
        (cycle(repeat(move, 9), chosen), "chosen has no compiled form, and one such kernel among fewer"),
        (cycle(stay, chosen), "stay is plain Python; "),
        (mixture([move, chosen], by_number), "chosen has no compiled form, and it is picked among others"),
    ],
)
@needs_llvm
def test_kernels_that_are_not_compiled_and_come_often(kernel, why):
    """A trace for each takes longer than the steps between."""
    found = policy.decide(kernel, start(), np.random.default_rng(1), 10**5, 100, {})
    assert found.machine is None
    assert found.reason.startswith(why)
    assert "what is compiled: " in found.reason
    rare = cycle(repeat(move, 10), chosen)
    assert policy.decide(rare, start(), np.random.default_rng(1), 10**5, 100, {}).machine is not None


def test_the_reason_names_the_kernel_and_the_line(form):
    with running_on(form):
        kernel = cycle(move, involutive(of_this_process, shifted))
        found = policy.decide(kernel, start(), np.random.default_rng(1), 100, 1, {})
    assert found.machine is None
    assert found.reason.startswith("kernel shifted: line ")
    assert found.reason.endswith(" of test_machine.py: a call of getpid")


@gen
def of_this_process(trace):
    u = ~normal(0 * os.getpid(), 0.5)


@pytest.mark.parametrize(
    ("weights", "why"),
    [
        (lambda trace: [trace.log_prob, 1.0], "log_prob"),
        (lambda trace: {0: 1.0, 1: 2.0}, "kernel mixture: an array of dict"),
        (lambda trace: [os.getpid(), 1.0], " of test_machine.py: a call of getpid"),
    ],
)
def test_weights_that_are_not_compiled(weights, why, form):
    with running_on(form):
        kernel = mixture([move, jump], weights)
        found = policy.decide(kernel, start(), np.random.default_rng(1), 100, 1, {})
    assert found.machine is None
    assert why in found.reason


def test_a_kernel_that_is_picked_may_fail(form):
    """The whole mixture then makes the step, from where it started."""
    kernel = cycle(move, mixture([involutive(step_size, often_left), repeat(jump, 2)], by_number))
    native, expected = run(kernel, form, draws=800), run(kernel, "compiled", draws=800)
    assert "by the interpreter: line" in native.ran[0]
    assert counted(native) == counted(expected)
    for one, other in zip(native.chains[0].traces, expected.chains[0].traces, strict=True):
        assert values_of(one) == pytest.approx(values_of(other), rel=1e-12)


def values_of(trace):
    return {path: record[1] for path, record in trace.records.items()}


def test_weights_that_are_none_are_the_users_error(form):
    with pytest.raises(KernelError, match="mixture of 2 kernels got weights"):
        run(
            mixture([move, jump], lambda trace: [1.0 - 2 * trace["k"], 1.0]), form, draws=500, record="mu"
        )


def test_weights_that_change_outside_end_it(form):
    global SCALE
    kernel = mixture([move, jump], lambda trace: [SCALE, 1.0])
    with running_on(form):
        found = policy.decide(kernel, start(), np.random.default_rng(3), 100, 1, {})
    try:
        SCALE = 2.0
        assert found.machine.why_given_up() == "SCALE is not what it was"
    finally:
        SCALE = 1.0


def test_a_name_that_hides_one_of_pythons_own_later_ends_it(form):
    kernel = mixture([move, jump], lambda trace: [max(1.0, 0.5), 1.0])
    with running_on(form):
        found = policy.decide(kernel, start(), np.random.default_rng(3), 100, 1, {})
    assert found.machine.why_given_up() is None
    try:
        globals()["max"] = min
        assert found.machine.closed.changed() == "max"
    finally:
        del globals()["max"]


@gen
def rooted():
    x = ~uniform(0, 1)
    y = ~normal(0, 0.1 + math.sqrt(x))


@transform
def root_shifted(model_in, aux_in, *, model_out, aux_out):
    x, u = read(model_in["x"], continuous), read(aux_in["u"], continuous)
    write(model_out["x"], x + u, continuous)
    write(aux_out["u"], -u, continuous)


def test_a_program_ends_where_a_density_is_zero(form):
    """What comes behind need not make sense then, and no step is left to the interpreter for it."""
    kernel, found = involutive(step_size, root_shifted), []
    for runtime in (form, "compiled"):
        with running_on(runtime):
            found.append(sample(kernel, rooted.simulate((), rng=1), 400, record="x", seed=3, progress=False))
    assert found[0].ran == [AS[form]]
    np.testing.assert_allclose(found[0]["x"], found[1]["x"], rtol=1e-12)
    assert counted(found[0]) == counted(found[1])


def test_what_a_recorder_changes_ends_it_at_once(form):
    """What the text took for constant is looked at whenever other code may have run."""
    global SCALE
    kernel = mixture([move, jump], lambda trace: [SCALE, 1.0])
    seen = []

    def changes(trace):
        global SCALE
        seen.append(trace["mu"])
        if len(seen) == 20:
            SCALE = 2.0
        return trace["mu"]

    try:
        with running_on(form):
            result = sample(kernel, start(), 40, record=changes, seed=1, progress=False)
        (ran,) = result.ran
        assert ran.startswith(AS[form]) and ran.endswith("; then step by step: SCALE is not what it was")
        SCALE, count = 1.0, len(seen)
        assert count == 40
        seen.clear()
        with running_on("compiled"):
            expected = sample(kernel, start(), 40, record=changes, seed=1, progress=False)
        np.testing.assert_allclose(result["changes"], expected["changes"], rtol=1e-12)
    finally:
        SCALE = 1.0


def test_what_is_constant_is_not_looked_at_for_every_draw(monkeypatch, form):
    looked = []
    changed = closed_move.ClosedKernel.changed
    monkeypatch.setattr(thresholds, "LOOK_EVERY", 1e9)
    monkeypatch.setattr(closed_move.ClosedKernel, "changed", lambda self: looked.append(1) or changed(self))
    run(move, form, draws=200, record="mu")
    assert len(looked) < 60  # the first steps are compared, which runs other code


def test_short_chains_are_not_compiled():
    kernel = involutive(step_size, shifted)
    found = policy.decide(kernel, start(), np.random.default_rng(1), 100, 1, {})
    assert found.machine is None
    assert found.reason == "so few steps take less time than compiling them"


@gen
def colours(n):
    z = [("z", i) @ ~uniform_discrete(0, 2) for i in range(n)]
    for i in range(n):
        for j in range(i):
            ("edge", i, j) @ ~bernoulli(0.6 if z[i] == z[j] else 0.2)


@needs_llvm
def test_a_step_that_updates_many_choices_is_more_work():
    observed = {("edge", i, j): (i + j) % 3 == 0 for i in range(12) for j in range(i)}
    trace, rng = colours.generate((12,), observed, rng=1).trace, np.random.default_rng(1)
    read_ = {"z": AtAddress("z")}
    steps = thresholds.LEAST_WORK // (thresholds.A_STEP * 12)
    assert policy.decide(gibbs("z"), trace, rng, steps, 1, read_).machine is not None
    assert policy.decide(gibbs("z", scan="random"), trace, rng, steps, 1, read_).machine is None


@needs_llvm
def test_many_short_chains_are_compiled():
    """The work of one kernel counts together, and a text that there is already is used for fewer steps."""
    kernel, rng, read_ = involutive(step_size, shifted), np.random.default_rng(1), {"mu": AtAddress("mu")}
    steps = math.ceil(thresholds.LEAST_WORK / (thresholds.A_STEP + len(start().records)) / 3)
    found = [policy.decide(kernel, start(), rng, steps, 1, read_) for _ in range(4)]
    assert [one.machine is not None for one in found] == [False, False, True, True]
    assert policy.decide(kernel, start(), rng, 100, 1, read_).machine is not None
    assert policy.decide(kernel, start(), rng, 2, 1, read_).machine is None


def test_texts_of_several_programs_are_kept(form):
    """A kernel that is run on traces of several arguments in turns is compiled once for each."""
    kernel = involutive(step_size, shifted)
    texts_of = [[policy_of(kernel, start(n), form).closed for n in (2, 3, 4)] for _ in range(3)]
    assert texts_of[0] == texts_of[1] == texts_of[2]
    for n in range(5, 9):
        policy_of(kernel, start(n), form)
    assert len(texts._KNOWN[kernel]) == thresholds.MOST_TEXTS


def test_a_slow_last_draw_is_gone_on_from(monkeypatch, form):
    """A trace that was made to be shown is as good as any: the next call takes the memory over."""
    monkeypatch.setattr("gendsl.inference.running.chain.REPORT_EVERY", 0.0)
    kernel, loads = involutive(step_size, shifted), []
    load = machine.Machine.load
    monkeypatch.setattr(machine.Machine, "load", lambda self, trace: loads.append(trace) or load(self, trace))
    with running_on(form):
        run = sample(kernel, start(), 3, record="mu", seed=1, progress=False)
        for _ in range(3):
            run = sample(kernel, run.last, 3, record="mu", seed=1, progress=False)
    assert len(loads) == 1


@pytest.mark.parametrize(("few", "most"), [(2, 3), (5, 4)])
def test_large_traces_are_not_compiled(few, most, monkeypatch):
    """Of more of those in which all choices but a few are observed: here all but three or five are."""
    monkeypatch.setattr(thresholds, "MOST_CHOICES", 3)
    monkeypatch.setattr(thresholds, "MOST_CHOICES_OF_FEW", 4)
    monkeypatch.setattr(thresholds, "FEW", few)
    found = policy.decide(move, start(), np.random.default_rng(1), 10**6, 1, {"mu": AtAddress("mu")})
    assert found.reason == f"the trace has more than {most} choices"


@needs_llvm
def test_larger_traces_are_compiled_where_few_choices_are_not_observed(monkeypatch):
    monkeypatch.setattr(thresholds, "MOST_CHOICES", 3)
    found = policy.decide(move, start(), np.random.default_rng(1), 10**6, 1, {"mu": AtAddress("mu")})
    assert found.machine is not None


@needs_llvm
@pytest.mark.parametrize(("steps", "reason"), [(100, "more than 20 choices"), (10**6, None)])
def test_larger_traces_are_compiled_where_steps_score_parts(steps, reason, monkeypatch):
    for name in ("MOST_CHOICES", "MOST_CHOICES_OF_LOOPS"):
        monkeypatch.setattr(thresholds, name, 20)
    for name, number in (("FEW", 0), ("LOADED_IN_A_STEP", 0.1), ("LEAST_WORK", 1)):
        monkeypatch.setattr(thresholds, name, number)
    trace = labels.generate((30,), {("y", i): 0.3 * i for i in range(30)}, rng=1).trace
    for kernel in (involutive(a_label, relabelled), repeat(involutive(a_label, relabelled, check=True), 2)):
        found = policy.decide(kernel, trace, np.random.default_rng(1), steps, 1, {"z": AtAddress(("z", 3))})
        assert (found.machine is None) == (reason is not None)
        assert reason is None or reason in found.reason
    if reason is None:
        both = cycle(involutive(a_label, relabelled), random_walk(select(("z", 1)), scale=0.1))
        found = policy.decide(both, trace, np.random.default_rng(1), steps, 1, {"z": AtAddress(("z", 3))})
        assert "more than 20 choices" in found.reason


@gen
def labels(n):
    for i in range(n):
        z = ("z", i) @ ~normal(0, 1)
        ("y", i) @ ~normal(z, 1)


@gen
def a_label(trace):
    i = ~uniform_discrete(0, trace.args[0] - 1)
    u = ~normal(0, 0.5)


@transform
def relabelled(model_in, aux_in, *, model_out, aux_out):
    i, u = read(aux_in["i"], discrete), read(aux_in["u"], continuous)
    copy(aux_in["i"], aux_out["i"])
    write(model_out["z", i], read(model_in["z", i], continuous) + u, continuous)
    write(aux_out["u"], -u, continuous)


@gen
def as_far_as_all(trace):
    u = ~normal(0, 0.5 + sum([trace["y", i] ** 2 for i in range(trace.args[0])]))


@needs_llvm
def test_larger_traces_are_compiled_for_programs_with_loops(monkeypatch):
    """They take longer to go through all choices; all kernels have to propose by such programs."""
    monkeypatch.setattr(thresholds, "MOST_CHOICES", 3)
    monkeypatch.setattr(thresholds, "FEW", 0)
    looping = involutive(as_far_as_all, shifted)
    given = start(), np.random.default_rng(1), 10**6, 1, {"mu": AtAddress("mu")}
    assert policy.decide(looping, *given).machine is not None
    for kernel in (cycle(looping, move), cycle(looping, random_walk(select("mu"), scale=0.1))):
        assert policy.decide(kernel, *given).reason == "the trace has more than 3 choices"
    monkeypatch.setattr(thresholds, "MOST_CHOICES_OF_LOOPS", 4)
    assert policy.decide(looping, *given).reason == "the trace has more than 4 choices"


@transform
def shifted_by_process(model_in, aux_in, *, model_out, aux_out):
    mu, u = read(model_in["mu"], continuous), read(aux_in["u"], continuous)
    write(model_out["mu"], mu + u + 0 * os.getpid(), continuous)
    write(aux_out["u"], -u, continuous)


def test_what_is_refused_is_read_once(monkeypatch, form):
    kernel, calls, original = involutive(step_size, shifted_by_process), [], closed_move.ClosedKernel

    def counted_(*args):
        calls.append(args)
        return original(*args)

    monkeypatch.setattr(closed_move, "ClosedKernel", counted_)
    with running_on(form):
        first, again = (policy.decide(kernel, start(), np.random.default_rng(1), 9, 1, {}) for _ in range(2))
    assert first.machine is again.machine is None
    assert first.reason == again.reason != ""
    assert len(calls) == 1


def test_a_difference_is_an_error(monkeypatch, form):
    """A planted mistake: the log density that is kept is not that of the trace."""

    def wrong(self, word, value):
        self.words[word : word + 1].view(np.float64)[0] = value + 1e-3 * (word == Word.LOG_DENSITY)

    monkeypatch.setattr("gendsl.compiler.run.chain_state.ChainState.set_float", wrong)
    with pytest.raises(RuntimeMismatchError, match=f"the {FORMS[form]} of a step has the log acceptance"):
        run(move, form, draws=100, record="mu")


@transform
def breaks(model_in, aux_in, *, model_out, aux_out):
    mu, u = read(model_in["mu"], continuous), read(aux_in["u"], continuous)
    write(model_out["mu"], mu + u * (1.0 / (u < 0.9)), continuous)
    write(aux_out["u"], -u, continuous)


@transform
def often_left(model_in, aux_in, *, model_out, aux_out):
    """The slope of the root at 0 is no number, which the interpreter finds to be multiplied by zero."""
    mu, u = read(model_in["mu"], continuous), read(aux_in["u"], continuous)
    write(model_out["mu"], mu + u + 1e-9 * math.sqrt(max(u, -0.5) + 0.5), continuous)
    write(aux_out["u"], -u, continuous)


def test_steps_are_left_to_the_interpreter(form):
    """It makes every step that the machine code can't, and all of them where there are too many."""
    native = run(cycle(involutive(step_size, often_left), move, jump), form, draws=2000, record="mu")
    expected = run(cycle(involutive(step_size, often_left), move, jump), "compiled", draws=2000, record="mu")
    np.testing.assert_allclose(native["mu"], expected["mu"], rtol=1e-12)
    assert counted(native) == counted(expected)
    (chain,) = native.chains
    assert 0.0 < sum(tally.seconds for tally in chain.acceptance.values()) <= chain.seconds


@transform
def shifted_one_way(model_in, aux_in, *, model_out, aux_out):
    mu, u = read(model_in["mu"], continuous), read(aux_in["u"], continuous)
    write(model_out["mu"], mu + u, continuous)
    write(aux_out["u"], -u if u > -0.9 else u, continuous)


@gen
def far_away(trace):
    u = ~normal(0, 1e8)
    v = ~dirichlet([1.0, 1.0, 2.0])


@transform
def by_a_detour(model_in, aux_in, *, model_out, aux_out):
    """All is right, but what comes back is the difference of numbers that are 1e8 times as large."""
    mu, u, v = (
        read(model_in["mu"], continuous),
        read(aux_in["u"], continuous),
        read(aux_in["v"], continuous),
    )
    write(model_out["mu"], u - mu, continuous)
    write(aux_out["u"], u, continuous)
    write(aux_out["v"], [v[1], v[0], v[2]], continuous)


def detours(runtime, transform_):
    """A chain of checked steps."""
    kernel = involutive(far_away, transform_, check="reject")
    wide = walk.simulate((0,), rng=1)
    with running_on(runtime):
        return sample(kernel, wide, 400, record="mu", seed=1, progress=False)


def test_rounding_on_the_way_back_is_no_mistake(form):
    """What comes back may differ by as much as what it was computed from can leave of rounding."""
    native, expected = (detours(runtime, by_a_detour) for runtime in (form, "compiled"))
    assert native.ran == [AS[form]]
    assert counted(native) == counted(expected)
    np.testing.assert_allclose(native["mu"], expected["mu"], rtol=1e-12)


@transform
def by_a_wrong_detour(model_in, aux_in, *, model_out, aux_out):
    mu, u, v = (
        read(model_in["mu"], continuous),
        read(aux_in["u"], continuous),
        read(aux_in["v"], continuous),
    )
    write(model_out["mu"], u - mu, continuous)
    write(aux_out["u"], u + 1e-3, continuous)
    write(aux_out["v"], [v[1], v[0], v[2]], continuous)


def test_a_mistake_beyond_rounding_is_seen(form):
    native, expected = (detours(runtime, by_a_wrong_detour) for runtime in (form, "compiled"))
    assert counted(native) == counted(expected)
    (tally,) = native.chains[0].acceptance.values()
    assert tally.failed_checks > 390


def test_a_check_that_fails_is_the_references(form):
    """With "reject" it is counted, with True an error, and without the check nobody notices."""
    asked = {"draws": 2000, "record": "mu"}
    native = run(involutive(step_size, shifted_one_way, check="reject"), form, **asked)
    expected = run(involutive(step_size, shifted_one_way, check="reject"), "compiled", **asked)
    np.testing.assert_allclose(native["mu"], expected["mu"], rtol=1e-12)
    assert counted(native) == counted(expected)
    (tally,), (other,) = (one.chains[0].acceptance.values() for one in (native, expected))
    assert tally.failed_checks == other.failed_checks > 10
    assert native.ran[0].startswith(f"{AS[form]}; ")
    assert run(involutive(step_size, shifted_one_way), form, **asked).ran == [AS[form]]
    with pytest.raises(InvolutionError):
        run(involutive(step_size, shifted_one_way, check=True), form, **asked)


def test_the_error_is_the_users_own(form):
    """A step that fails is made by the interpreter, so the traceback has the user's line."""
    with pytest.raises(ZeroDivisionError) as caught:
        run(involutive(step_size, breaks), form, draws=2000, record="mu")
    assert any(entry.path.name == "test_machine.py" for entry in caught.traceback)


@gen
def bounded():
    x = ~uniform(0, 1)


@transform
def past_the_end(model_in, aux_in, *, model_out, aux_out):
    x, u = read(model_in["x"], continuous), read(aux_in["u"], continuous)
    write(model_out["x"], x + u, continuous)
    write(aux_out["u"], -u, continuous)


def test_where_the_density_is_zero_is_counted(form):
    with running_on(form):
        result = sample(
            involutive(step_size, past_the_end), bounded.simulate((), rng=1), 500, seed=2, record="x",
            progress=False,
        )  # fmt: skip
    (tally,) = result.chains[0].acceptance.values()
    (reason,) = tally.reasons
    assert "x" in reason
    assert tally.reasons[reason] + tally.weighed + tally.accepted == 500


def test_kernels_are_counted_in_their_order(form):
    """Also where the first step that the reference is asked about is one of a later kernel."""
    kernel = cycle(mh(select("x")), involutive(step_size, past_the_end))
    for runtime in (form, "compiled"):
        with running_on(runtime):
            result = sample(kernel, bounded.simulate((), rng=1), 500, seed=2, record="x", progress=False)
        assert list(result.acceptance) == ["mh select('x')", "past_the_end"]


def test_calls_that_go_on_know_where_the_density_is_zero(monkeypatch, form):
    """The reference is asked for the reason once, and not at the first such step of every call."""
    kernel, asked = involutive(step_size, past_the_end), []
    plain = machine.run_kernel
    monkeypatch.setattr(machine, "run_kernel", lambda *given: asked.append(given) or plain(*given))
    trace, counts = bounded.simulate((), rng=1), []
    for _ in range(3):
        with running_on(form):
            result = sample(kernel, trace, 500, seed=2, record="x", progress=False)
        with running_on("compiled"):
            other = sample(kernel, trace, 500, seed=2, record="x", progress=False)
        counts.append(len(asked))
        assert counted(result) == counted(other)
        trace = result.last
    assert counts == [counts[0]] * 3 and counts[0] > 0


SCALE = 1.0


@gen
def scaled():
    x = ~normal(0, SCALE)


def test_what_changes_outside_ends_it(form):
    """A name that the program finds outside of itself is another object."""
    global SCALE
    step = involutive(step_size, past_the_end)
    with running_on(form):
        decision = policy.decide(step, scaled.simulate((), rng=1), np.random.default_rng(3), 100, 1, {})
        try:
            SCALE = 2.0
            assert decision.machine.why_given_up() == "SCALE is not what it was"
        finally:
            SCALE = 1.0
        assert decision.machine.why_given_up() is None


def test_a_family_through_sample(form):
    (model,) = [one for one in models("mixtures") if one.name == "normals"]
    kernel = repeat(cycle(*(involutive(one.q, one.f, one.q_args) for one in model.moves)), 5)
    trace = model.start(30)
    found = {}
    for runtime in (form, "compiled"):
        with running_on(runtime):
            found[runtime] = sample(kernel, trace, 100, seed=4, record=["k", ("mu", 0)], progress=False)
    assert counted(found[form]) == counted(found["compiled"])
    np.testing.assert_array_equal(found[form]["k"], found["compiled"]["k"])


def leaves(kernel):
    """The kernels that a kernel is made of."""
    return [leaf for part in kernel.parts for leaf in leaves(part)] if hasattr(kernel, "parts") else [kernel]


PROPOSALS = {
    f"{model.name}-{kernel.name}": (model, kernel)
    for several in families().values()
    for model in several
    for kernel in leaves(model.kernel(False))
    if isinstance(getattr(kernel, "move", None), Proposing)
}


@pytest.mark.parametrize("name", PROPOSALS if os.environ.get("GENDSL_LONG") else list(PROPOSALS)[::4])
def test_proposals_of_the_families(name, monkeypatch, form):
    """The same chain as that of the kernel itself, of which the machine code makes nearly all steps."""
    model, kernel = PROPOSALS[name]
    made = []
    monkeypatch.setattr(machine.Machine, "__init__", noting(made, machine.Machine.__init__))
    found = {}
    for runtime in (form, "compiled"):
        with running_on(runtime):
            found[runtime] = sample(kernel, model.start(), 60, seed=3, progress=False)
    (native,) = made
    assert sum(native.fallbacks.values()) <= 3, native.fallbacks
    assert counted(found[form]) == counted(found["compiled"])
    for one, other in zip(found[form].chains[0].traces, found["compiled"].chains[0].traces, strict=True):
        assert one.log_prob == pytest.approx(other.log_prob, rel=1e-9, abs=1e-9)
        expected = {path: record[1] for path, record in other.records.items()}
        assert one.records.keys() == expected.keys()
        for path, value in expected.items():
            np.testing.assert_allclose(one[path], value, rtol=1e-9, atol=1e-12)


@gen
def anew():
    mu = ~normal(0.3, 1)


@gen
def more_or_fewer(trace):
    """Toggles k, and proposes the choices that are new."""
    k = ~bernoulli(1.0 - trace["k"])
    if k:
        ("x", 1) @ ~normal(0.2, 1.5)
        ("x", 2) @ ~normal(trace["mu"], 2)


@gen
def too_few(trace):
    k = ~bernoulli(0.5)


def test_proposals_that_change_which_choices_exist(form):
    kernel = cycle(mh(more_or_fewer), independent(anew))
    native = run(kernel, form, draws=400, record=["k", "mu"])
    expected = run(kernel, "compiled", draws=400, record=["k", "mu"])
    assert counted(native) == counted(expected)
    assert 0 < native["k"].mean() < 1
    np.testing.assert_allclose(native["mu"], expected["mu"], rtol=1e-12)


def test_a_proposal_that_is_wrong_is_the_users_error(form):
    with pytest.raises(CoverageError, match="too_few"):
        run(mh(too_few), form, draws=100, record="mu")


@gen
def weighed(n):
    shares = ~dirichlet([1.0, 2.0, 3.0])
    z = ~categorical([0.3, 0.4, 0.3])
    sd = ~gamma(2, 1)
    penalty = ~factor(-sd * z)
    for j in range(z):
        ("c", j) @ ~normal(0, sd)
        if z == 2:
            ("more", j) @ ~factor(0.25)
    for i in range(n):
        ("y", i) @ ~normal(shares[z], sd)


def weighed_start():
    return weighed.generate((3,), {("y", i): 0.2 * i for i in range(3)}, rng=2).trace


@gen
def grid():
    for i in range(2):
        for j in range(3):
            x = ("x", i, j) @ ~normal(0, 1)
            ("y", i, j, "of") @ ~normal(x, 1)


def grid_start():
    seen = {("y", i, j, "of"): 0.5 * i - j for i in range(2) for j in range(3)}
    return grid.generate((), seen, rng=2).trace


@gen
def between(low):
    x = ~uniform(low, low + 1)


@gen
def calling():
    low = ~normal(0, 1)
    part = "part" @ ~between(low)
    last = ~normal(0, 1)


SELECTIONS = {
    "zero in a call": (lambda: calling.simulate((), rng=1), select("low", "last"), {}),
    "two indices": (grid_start, select(("x", 1, 2), ("x", 0, 1)), {}),
    "one": (start, select("mu"), {}),
    "structure": (start, select("k", "mu"), {}),
    "wild": (start, select(("x", ...)), {}),
    "absent": (start, select(("x", 2), ("x", 1)), {"skip_absent": True}),
    "sometimes": (start, select(("x", 1)), {"skip_absent": True}),
    "array": (weighed_start, select("shares"), {}),
    "factors": (weighed_start, select("z"), {}),
    "scale": (weighed_start, select("sd", "c"), {"skip_absent": True}),
}


@pytest.mark.parametrize("name", SELECTIONS)
def test_choices_drawn_anew(name, monkeypatch, form):
    made = []
    monkeypatch.setattr(machine.Machine, "__init__", noting(made, machine.Machine.__init__))
    first, selection, options = SELECTIONS[name]
    kernel = cycle(mh(selection, **options), jump) if first is start else mh(selection, **options)
    found = {}
    for runtime in (form, "compiled"):
        with running_on(runtime):
            found[runtime] = sample(kernel, first(), 300, seed=6, progress=False)
    (native,) = made
    assert not native.fallbacks
    assert counted(found[form]) == counted(found["compiled"])
    assert sum(tally.accepted for tally in found[form].chains[0].acceptance.values()) > 20
    for one, other in zip(found[form].chains[0].traces, found["compiled"].chains[0].traces, strict=True):
        assert one.log_prob == pytest.approx(other.log_prob, rel=1e-9, abs=1e-9)
        expected = {path: record[1] for path, record in other.records.items()}
        assert one.records.keys() == expected.keys()
        for path, value in expected.items():
            np.testing.assert_allclose(one[path], value, rtol=1e-12)


def test_choices_drawn_anew_are_gone_back_to(form):
    """Where a later step fails, and what its transform does not write was drawn anew before."""
    kernel = cycle(mh(select("k")), mh(select("x"), skip_absent=True), involutive(step_size, often_left))
    asked = {"draws": 1000, "record": ["mu", "k", ("x", 0)]}
    native, expected = run(kernel, form, **asked), run(kernel, "compiled", **asked)
    assert counted(native) == counted(expected)
    for name in expected.names:
        np.testing.assert_allclose(native[name], expected[name], rtol=1e-12)


@pytest.mark.parametrize(
    ("selection", "error"), [(select("nothing"), UnknownAddressError), (select(("y", 0)), ObservedError)]
)
def test_a_selection_that_is_wrong_is_the_users_error(selection, error, form):
    with pytest.raises(error):
        run(mh(selection), form, draws=10, record="mu")


@transform
def toggled_by_numbers(model_in, aux_in, *, model_out, aux_out):
    k = read(model_in["k"], discrete)
    write(model_out["k"], 1 - k, discrete)
    if k:
        write(aux_out["a"], read(model_in["x", 1], continuous), continuous)
        write(aux_out["b"], read(model_in["x", 2], continuous), continuous)
    else:
        write(model_out["x", 1], read(aux_in["a"], continuous), continuous)
        write(model_out["x", 2], read(aux_in["b"], continuous), continuous)


def test_zero_and_one_are_truth_values(form):
    kernel = involutive(two_more, toggled_by_numbers)
    native = run(kernel, form, draws=200, record="k")
    expected = run(kernel, "compiled", draws=200, record="k")
    assert native.ran == [AS[form]]
    assert native["k"].dtype == expected["k"].dtype
    np.testing.assert_array_equal(native["k"], expected["k"])


def test_a_run_says_how_it_ran(form):
    assert run(move, form, draws=20, record="mu").ran == [AS[form]]
    left = run(cycle(involutive(step_size, often_left), move, jump), form, draws=300, record="mu")
    assert "by the interpreter: line" in left.ran[0]
    with running_on("compiled"):
        assert sample(move, start(), 5, seed=1, progress=False).ran[0].startswith("step by step: ")


def test_the_text_of_a_step():
    text = cycle(move, jump).source_of("step", start())
    for line in (
        "def step_shifted(state):",
        "def step_toggled(state):",
        "def shifted(state):",
        "state.mu.write_pivot((), ",
    ):
        assert line in text
    assert "every_step" not in text
    with pytest.raises(KernelError, match="has no text of 'assess'"):
        move.source_of("assess", start())
    with pytest.raises(KernelError, match="no text of a step of random walk"):
        random_walk("mu").source_of("step", start())


@gen
def by_the_clock(trace):
    now = time.time()
    mu = ~normal(trace["mu"], 1 + 0 * now)


def as_it_was(trace, rng):
    return trace, None


def test_a_kernel_says_what_is_closed(monkeypatch):
    monkeypatch.setattr(native, "available", lambda: None)
    lines = cycle(move, mh(by_the_clock), as_it_was).explain(start()).splitlines()
    assert lines[0] == "cycle, on traces of walk"
    assert re.fullmatch(r"  shifted: closed, a text of \d+ lines", lines[1])
    assert re.fullmatch(
        r"  mh by_the_clock: step by step: .*line \d+ of test_machine.py: a call of time", lines[2]
    )
    assert lines[3] == "  as_it_was: is called with the trace"
    alone = random_walk("mu").explain(start())
    assert "random walk select('mu') has no compiled form; what is compiled: " in alone


def test_a_kernel_says_that_there_is_no_machine_code(monkeypatch):
    monkeypatch.setattr(native, "available", lambda: "there is no llvmlite")
    said = "  no machine code: there is no llvmlite; what is closed is Python text, where that is faster\n"
    assert said in move.explain(start())


def test_how_much_runs_at_once_follows_the_clock(monkeypatch, form):
    """Pieces grow while they are short, and shrink where they take longer than Python may be kept waiting."""
    running, tick = policy_of(cycle(move, jump), start(), form), [0.0, 0.001]

    def clock():
        tick[0] += tick[1]
        return tick[0]

    monkeypatch.setattr(machine, "time", SimpleNamespace(perf_counter=clock))
    for times, found in ((1, 2), (2, 4), (3, 4), (4, 8)):
        running.sweep(times, {})
        assert running.at_once == found
    tick[1], before = 1.0, running.steps_at_once
    running.sweep(8, {})
    assert running.at_once == 4
    assert running.steps_at_once == before // 2


def test_what_was_compiled_is_kept(form):
    """For the same kernels, program and arguments; other arguments have another text."""
    first, again, other = (policy_of(cycle(move, jump), start(n), form) for n in (4, 4, 5))
    assert first.closed is again.closed
    assert first.closed is not other.closed


@gen
def around(centres):
    mu = ~normal(0, 2)
    for i in range(len(centres)):
        ("y", i) @ ~normal(mu + centres[i], 1)


def test_what_was_compiled_is_kept_for_lists_as_they_are(form):
    """Whoever runs a program keeps a copy of a list that is given: the same numbers are the same list."""
    kernel, centres = involutive(step_size, shifted), [0.1 * i for i in range(300)]
    trace = around.generate((centres,), {("y", i): 1.0 for i in range(300)}, init={"mu": 0.0}, rng=1).trace
    moved = trace.update({"mu": 1.0}, rng=1).trace
    first, again = policy_of(kernel, trace, form), policy_of(kernel, moved, form)
    assert first.closed is again.closed
    with running_on(form):
        last = sample(kernel, trace, 5, record="mu", seed=1, progress=False).last
    assert policy_of(kernel, last, form).closed is first.closed
    centres[7] = 5.0
    other = around.generate((centres,), {("y", i): 1.0 for i in range(300)}, init={"mu": 0.0}, rng=1).trace
    assert policy_of(kernel, other, form).closed is not first.closed


def test_a_chain_that_goes_on_is_the_same_from_a_trace_made_afresh(form):
    kernel = cycle(move, jump)
    with running_on(form):
        begun = sample(kernel, start(), 30, record="mu", seed=1, progress=False).last
        assert begun.scored_from is not None
        runs = [
            sample(kernel, trace, 30, record="mu", seed=2, progress=False)
            for trace in (begun, begun, remade(begun))
        ]
    assert remade(begun).scored_from is None
    for run in runs[1:]:
        assert run["mu"].tobytes() == runs[0]["mu"].tobytes()
        assert run.last.log_prob == runs[0].last.log_prob


@gen
def by_value(n):
    mu = {j: ("mu", j) @ ~normal(0, 3) for j in range(2)}
    place = {value: j for j, value in mu.items()}
    for i in range(n):
        ("y", i) @ ~normal(mu[i % 2] + place[mu[0]], 1)


@gen
def flipped(trace):
    there = ~bernoulli(0.5)


@transform
def swapped(model_in, aux_in, *, model_out, aux_out):
    copy(aux_in["there"], aux_out["there"])
    if read(aux_in["there"]):
        copy(model_in["mu", 0], model_out["mu", 1])
        copy(model_in["mu", 1], model_out["mu", 0])


def test_a_move_that_changes_nothing_is_accepted_as_any_other_is(form):
    """Some runtimes give the trace as it was, others a new one; the random numbers are the same."""
    trace_of = {"reference": by_value.reference, "compiled": by_value, form: by_value}
    kernel = mixture([involutive(flipped, swapped), repeat(involutive(flipped, swapped), 2)], by_first)
    states = []
    for runtime, program in trace_of.items():
        rng = np.random.default_rng(3)
        with running_on(runtime):
            trace = program.generate((3,), {("y", i): 0.2 * i for i in range(3)}, rng=1).trace
            result = sample(kernel, trace, 80, record=[("mu", 0)], seed=rng, progress=False)
        states.append((rng.bit_generator.state, counted(result), result[result.names[0]].tobytes()))
    assert states[0] == states[1] == states[2]


def by_first(trace):
    return [1.0, 2.0 if trace["mu", 0] > 0 else 1.5]


@gen
def counts(n):
    for i in range(n):
        ("a", i) @ ~uniform_discrete(0, 9)
        ("b", i) @ ~neg_binom(3, 0.4)
        ("c", i) @ ~mixture_of_normals([0.5, 0.5], [-1, 1], [1, 1])


@gen
def all_anew(trace):
    for i in range(40):
        ("a", i) @ ~uniform_discrete(0, 9)
    for i in range(40):
        ("b", i) @ ~neg_binom(3, 0.4)
    for i in range(40):
        ("c", i) @ ~mixture_of_normals([0.5, 0.5], [-1, 1], [1, 1])


def test_a_proposal_draws_in_loops_what_it_draws_at_once(form):
    trace, states = counts.simulate((40,), rng=1), []
    for runtime in (form, "compiled"):
        rng = np.random.default_rng(5)
        with running_on(runtime):
            result = sample(mh(all_anew), trace, 40, record=[("a", 0), ("b", 39)], seed=rng, progress=False)
        states.append((rng.bit_generator.state, counted(result), result[result.names[1]].tobytes()))
        assert (result.ran == [AS[form]]) == (runtime == form)
    assert states[0] == states[1]


@gen
def penalised():
    mu = ~normal(0, 1)
    "first" @ ~factor(-8e307 * abs(mu))
    "second" @ ~factor(-8e307 * abs(mu) if mu > 0 else 0.0)


@gen
def new_mu(trace):
    mu = ~normal(0, 1.5)


def test_a_density_that_is_as_good_as_zero_is_counted_as_zero(form):
    """A ratio of -1e308 is finite, but sums of such are not; so it is a reason, and is not summed."""
    trace = penalised.generate((), {}, init={"mu": 0.0}, rng=1).trace
    counts = []
    for runtime in (form, "compiled"):
        with running_on(runtime):
            result = sample(mh(new_mu), trace, 300, record="mu", seed=1, progress=False)
        counts.append(counted(result))
    assert result.ran != [AS[form]]
    assert counts[0] == counts[1]
    ((proposed, accepted, weighed, reasons),) = counts[0].values()
    assert (proposed, accepted, weighed) == (300, 0, 0)
    assert reasons["the density there is zero"] > 200


def test_short_calls_share_the_time_for_comparisons(monkeypatch, form):
    """After the first steps, calls that go on from one another are compared as a long one would be."""
    monkeypatch.setattr(thresholds, "SAMPLED", 1e-9)
    monkeypatch.setattr(thresholds, "CHEAP", math.inf)
    kernel, trace = involutive(step_size, shifted), start()
    with running_on(form):
        run = sample(kernel, trace, 50, record="mu", seed=1, progress=False)
        closed = policy_of(kernel, trace, form).closed
        compared = closed.compared
        for _ in range(5):
            run = sample(kernel, run.last, 5, record="mu", seed=1, progress=False)
    assert policy_of(kernel, trace, form).closed is closed
    assert closed.compared == compared >= thresholds.FIRST_COMPARED


@pytest.mark.parametrize(("seconds", "more"), [(1e-3, 1), (10.0, 0)])
def test_a_chain_from_another_trace_takes_no_long_comparison_again(monkeypatch, form, seconds, more):
    """The first step of each chain is compared where that takes little; of each text in any case."""
    monkeypatch.setattr(thresholds, "CHEAP", 0.0)
    kernel, trace = involutive(step_size, shifted), start()
    with running_on(form):
        closed = policy_of(kernel, trace, form).closed
        assert closed.compared == 0
        sample(kernel, trace, 2, record="mu", seed=1, progress=False)
        compared = closed.compared
        assert compared >= 1
        closed.seconds = seconds
        sample(kernel, start(), 2, record="mu", seed=1, progress=False)
    assert closed.compared == compared + more


def policy_of(kernel, trace, form):
    with running_on(form):
        return policy.decide(kernel, trace, np.random.default_rng(1), 100, 1, {}).machine


@gen
def chosen_effects(x):
    kept = [("kept", j) @ ~bernoulli(0.5) for j in range(len(x))]
    for j in np.flatnonzero(np.array(kept)):
        ("effect", j) @ ~normal(np.subtract.outer(x, x)[j, 0], 1)


def test_indices_that_numpy_made_are_parts_of_addresses(form):
    """And a method of an object of C, which is made anew each time it is looked up, is what it was."""
    start = chosen_effects.simulate((np.arange(3.0),), rng=1)
    kernel = repeat(cycle(mh(select(("kept", 1), "effect"), skip_absent=True), mh(select("kept"))), 5)
    found = {}
    for way in (form, "reference"):
        with running_on(way):
            run = sample(kernel, start, 40, record={"n": ("kept", 0)}, seed=1, progress=False)
            found[way] = run.recorded["n"]
            if way == form:
                assert run.ran == [AS[form]]
    assert found[form] == found["reference"]
