"""Tempered transitions as machine code: today's runtime's draws, counts and errors, and exact answers."""

import math
import weakref

import numpy as np
import pytest

from gendsl import (
    bernoulli,
    continuous,
    discrete,
    factor,
    gen,
    normal,
    read,
    sample,
    select,
    transform,
    uniform,
    uniform_discrete,
    write,
)
from gendsl.compiler.llvm.native import available
from gendsl.compiler.run.closed_move import ClosedKernel
from gendsl.compiler.steps import transitions
from gendsl.errors import KernelError
from gendsl.inference import (
    Kernel,
    cycle,
    gibbs,
    involutive,
    mh,
    mixture,
    random_walk,
    repeat,
    tempered,
    tempered_mh,
)
from gendsl.inference.compiled import kept_kernels, machine, texts
from gendsl.inference.compiled.moves import flattened
from gendsl.testing import running_on
from tests.compiler.closed_steps import WAYS, compared
from tests.inference.forms import AS

needs_llvm = pytest.mark.skipif(available() is not None, reason="there is no LLVM here")


@gen
def two(n, sd=1.0):
    mu = ~normal(0, 5)
    z = ~bernoulli(0.5)
    for i in range(n):
        ("y", i) @ ~normal(abs(mu) + z, sd)


@gen
def walk(trace):
    mu = ~normal(trace["mu"], 2.0)


@gen
def shift(trace):
    u = ~normal(0, 1)


@transform
def shifted(model_in, aux_in, *, model_out, aux_out):
    u = read(aux_in["u"], continuous)
    write(model_out["mu"], read(model_in["mu"], continuous) + u, continuous)
    write(model_out["z"], 1 - read(model_in["z"], discrete), discrete)
    write(aux_out["u"], -u, continuous)


def start():
    return two.generate((4, 1.0), {("y", i): 3.0 + 0.3 * i for i in range(4)}, rng=1).trace


BY_ARGUMENTS = [(4, 2.0), (4, 5.0)]
KERNELS = {
    "powers": tempered(lambda beta: tempered_mh(walk, beta), [0.5, 0.2, 0.05]),
    "powers of several": tempered(
        lambda beta: repeat(
            mixture([tempered_mh(walk, beta), tempered_mh(select("mu", "z"), beta)]), 2
        ), [0.4, 0.1],
    ),
    "arguments": tempered(mh(walk), BY_ARGUMENTS),
    "arguments of several": tempered(
        mixture([mh(walk), mh(select("z")), random_walk("mu", 1.5), involutive(shift, shifted)]), BY_ARGUMENTS
    ),
    "masses": tempered(random_walk("mu", {"mu": 0.7}), BY_ARGUMENTS),
    "in a cycle": cycle(tempered(mh(walk), BY_ARGUMENTS), mh(walk), tempered_mh(select("z"), 1.0)),
    "picked": mixture(
        [tempered(mh(walk), BY_ARGUMENTS), mh(select("z"))], lambda trace: [1.0 + trace["z"], 1.0]
    ),
    "warmed": tempered(random_walk("mu"), BY_ARGUMENTS),
}  # fmt: skip


def counts(run):
    return {
        name: (tally.proposed, tally.accepted, tally.weighed, tally.reasons)
        for name, tally in run.acceptance.items()
    }


@pytest.mark.parametrize("name", KERNELS)
def test_the_same_chain(name, form):
    asked = {"warmup": 20, "record": ["mu", "z"], "seed": 2, "progress": False}
    found = []
    for runtime in ("compiled", form):
        with running_on(runtime):
            found.append(sample(KERNELS[name], start(), 1000, **asked))
    expected, run = found
    assert run.ran == [AS[form]]
    assert run["z"].tolist() == expected["z"].tolist() and counts(run) == counts(expected)
    np.testing.assert_allclose(run["mu"], expected["mu"], rtol=1e-9)
    for kernel, tally in expected.acceptance.items():
        for part in ("log_ratio", "log_aux", "log_abs_det", "log_untold"):
            assert getattr(run.acceptance[kernel], part) == pytest.approx(getattr(tally, part), rel=1e-9)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ["powers", "powers of several", "arguments", "arguments of several"])
def test_every_step(way, name):
    kernel, trace = KERNELS[name], start()
    (part,) = flattened(kernel).parts
    closed = ClosedKernel(two, trace.args, [part.move])
    outcomes = {what for what, _, _ in compared(way, closed, trace, kernel, 60)}
    assert outcomes == {"accepted", "rejected"}


def test_a_kernel_of_another_target_is_the_same_chain(form):
    """Alone, it is for that target."""
    for kernel in (tempered_mh(walk, 0.3), tempered_mh(select("mu"), 0.3)):
        found = []
        for runtime in ("compiled", form):
            with running_on(runtime):
                found.append(sample(kernel, start(), 500, record="mu", seed=4, progress=False))
        assert found[1].ran == [AS[form]]
        np.testing.assert_allclose(found[1]["mu"], found[0]["mu"], rtol=1e-9)


@gen
def in_range(width):
    x = ~uniform(-width, width)
    y = ~normal(x * x, 20)


def test_a_target_in_which_the_density_is_zero(form):
    """Where a step leaves the posterior's range it comes back to where it was, and is counted so."""
    trace = in_range.generate((2.0,), {"y": 1.0}, rng=1).trace
    kernel = tempered(random_walk("x", 2.0), [(2.5,), (4.0,)])
    found = []
    for runtime in ("compiled", form):
        with running_on(runtime):
            found.append(sample(kernel, trace, 1000, record="x", seed=2, progress=False))
    assert found[1].ran == [AS[form]] and counts(found[0]) == counts(found[1])
    (tally,) = found[1].acceptance.values()
    assert tally.reasons["a target has density zero there"] > 50
    np.testing.assert_allclose(found[1]["x"], found[0]["x"], rtol=1e-9)


@gen
def of_size(n):
    for i in range(n):
        ("x", i) @ ~normal(0, 1)


def test_arguments_that_make_other_choices_are_the_users_error(form):
    trace = of_size.generate((2,), {("x", 1): 0.5}, rng=1).trace
    for n in (1, 3):
        with running_on(form), pytest.raises(KernelError, match="other choices"):
            sample(tempered(mh(select(("x", 0))), [(n,)]), trace, 10, seed=1, progress=False)


@pytest.mark.parametrize(
    "kernel",
    [
        tempered(gibbs("z", scan="random"), BY_ARGUMENTS),
        tempered(Kernel(lambda trace, rng: (trace, None), "own", reversible=True), BY_ARGUMENTS),
        tempered(mh(walk), [(4.0, 2.0)]),
        tempered(mh(walk), [(4,)]),
    ],
    ids=["lines", "own", "another type", "fewer"],
)
def test_what_does_not_fit_is_left_to_todays_runtime(kernel, form):
    found = []
    for runtime in ("compiled", form):
        with running_on(runtime):
            try:
                found.append(sample(kernel, start(), 30, record="mu", seed=2, progress=False))
            except TypeError:  # range(4.0)
                found.append(None)
    if found[0] is None:
        assert found[1] is None
    else:
        assert found[1].ran[0].startswith("step by step: ")
        assert found[1]["mu"].tolist() == found[0]["mu"].tolist()


@gen
def looks(trace):
    n, sd = trace.args
    mu = ~normal(trace["mu"], sd)


def test_programs_that_look_at_the_arguments_of_a_trace(form):
    found = []
    for runtime in ("compiled", form):
        with running_on(runtime):
            kernel = tempered(mh(looks), BY_ARGUMENTS)
            found.append(sample(kernel, start(), 200, record="mu", seed=2, progress=False))
    np.testing.assert_allclose(found[1]["mu"], found[0]["mu"], rtol=1e-9)


@needs_llvm
@pytest.mark.parametrize("name", ["arguments", "masses", "powers"])
def test_a_kernel_that_was_compiled_before(name, tmp_path, monkeypatch):
    """What is kept of it has no arguments; each target is given its own again."""
    folder = tmp_path / "kept"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("GENDSL_CACHE", str(folder))
    monkeypatch.setattr(texts, "_KNOWN", weakref.WeakKeyDictionary())
    kept, runs = [], []
    init = kept_kernels.KeptKernel.__init__
    monkeypatch.setattr(
        kept_kernels.KeptKernel, "__init__", lambda self, *given: kept.append(self) or init(self, *given)
    )
    with running_on("native"):
        for count in range(2):
            texts._KNOWN.clear()
            runs.append(sample(KERNELS[name], start(), 300, record="mu", seed=2, progress=False))
            assert len(kept) == count
    assert runs[0]["mu"].tolist() == runs[1]["mu"].tolist()


# --- exact answers ------------------------------------------------------------------------------------------


@gen
def valley(hardness):
    """Two modes, one of 0.6 and one of 0.3, with little between them."""
    k = ~uniform_discrete(0, 6)
    weights = [0.6, 1e-2, 1e-3, 1e-3, 1e-2, 0.3, 0.1]
    weight = ~factor(hardness * math.log(weights[k]))
    ("seen", 0) @ ~bernoulli([0.5, 0.1, 0.02, 0.02, 0.1, 0.6, 0.9][k])


@gen
def neighbour(trace):
    k = ~uniform_discrete(max(trace["k"] - 1, 0), min(trace["k"] + 1, 6))


EXACT = np.array([0.6, 1e-2, 1e-3, 1e-3, 1e-2, 0.3, 0.1]) * [0.5, 0.1, 0.02, 0.02, 0.1, 0.6, 0.9]
EXACT /= EXACT.sum()


def z_scores(kernel, seed):
    """How far shares of draws are from the posterior, in standard errors of means of batches."""
    trace = valley.generate((1.0,), {("seen", 0): True}, init={"k": 0}, rng=1).trace
    with running_on("native"):
        run = sample(kernel, trace, 40_000, record="k", seed=seed, progress=False)
    assert run.ran == ["as machine code"]
    draws = run["k"].reshape(40, -1)
    shares = np.array([[np.mean(batch == k) for k in (0, 5, 6)] for batch in draws])
    return (shares.mean(axis=0) - EXACT[[0, 5, 6]]) / (shares.std(axis=0, ddof=1) / math.sqrt(len(shares)))


EXACTLY = {
    "arguments": tempered(repeat(mh(neighbour), 5), [(0.6,), (0.3,), (0.1,)]),
    "powers": tempered(lambda beta: tempered_mh(select("k"), beta), [0.6, 0.2]),
}


@needs_llvm
@pytest.mark.parametrize("name", EXACTLY)
def test_the_posterior(name):
    assert np.abs(z_scores(EXACTLY[name], 3)).max() < 3.5


@needs_llvm
@pytest.mark.parametrize("name", EXACTLY)
def test_a_mistake_is_seen(name, monkeypatch):
    """Changes of target that count for less than they are."""
    monkeypatch.setattr(machine.Machine, "is_due", lambda self, now: False)  # which would see it at once
    monkeypatch.setattr(machine, "is_affordable", lambda seconds: False)
    added = transitions._added

    def too_little(weight, *terms):
        return added(transitions.Op("mul", (transitions.Const(0.2, "f"), weight), "f"), *terms)

    monkeypatch.setattr(transitions, "_added", too_little)
    kernel = {
        "arguments": lambda: tempered(repeat(mh(neighbour), 5), [(0.6,), (0.3,), (0.1,)]),
        "powers": lambda: tempered(lambda beta: tempered_mh(select("k"), beta), [0.6, 0.2]),
    }[name]()
    assert np.abs(z_scores(kernel, 3)).max() > 6
