"""The memory of chains as machine code: what grows, what is put back, and what does not fit."""

import math
import time

import numpy as np
import pytest

from gendsl import (
    bernoulli,
    continuous,
    copy,
    gen,
    iid,
    normal,
    poisson,
    read,
    sample,
    transform,
    uniform_discrete,
    write,
)
from gendsl.compiler.llvm.native import available
from gendsl.compiler.run import native_state
from gendsl.inference import cycle, involutive, mh, mixture, repeat
from gendsl.inference.compiled import machine, thresholds
from gendsl.testing import running_on

pytestmark = pytest.mark.skipif(available() is not None, reason="there is no LLVM here")


@pytest.fixture
def made(monkeypatch):
    """The machines that were made."""
    found, start = [], machine.Machine.__init__

    def noted(self, *args, **kwargs):
        start(self, *args, **kwargs)
        found.append(self)

    monkeypatch.setattr(machine.Machine, "__init__", noted)
    return found


def assert_same(kernel, trace, made, draws=60, seed=1, **given):
    """The chain as machine code is the one without, to the last random number; its machine."""
    runs, states = {}, {}
    for runtime in ("native", "compiled"):
        rng = np.random.default_rng(seed)
        with running_on(runtime):
            runs[runtime] = sample(kernel, trace, draws, seed=rng, progress=False, **given).chains[0]
        states[runtime] = rng.bit_generator.state
    (used,) = made
    native, expected = runs["native"], runs["compiled"]
    assert states["native"] == states["compiled"]
    for one, other in zip(native.traces, expected.traces, strict=True):
        assert one.records.keys() == other.records.keys()
        for path in other.records:
            np.testing.assert_allclose(one[path], other[path], rtol=1e-10, atol=1e-12)
    for name, tally in expected.acceptance.items():
        mine = native.acceptance[name]
        assert (mine.proposed, mine.accepted, mine.weighed) == (
            tally.proposed, tally.accepted, tally.weighed
        )  # fmt: skip
    return used


# --- observed choices, and others like them that come and go -----------------------------------------


@gen
def series():
    k = ~uniform_discrete(2, 60)
    s = ~normal(0, 1)
    for j in range(k):
        ("y", j) @ ~normal(s, 1)


@gen
def one_more(trace):
    k = trace["k"]
    up = ~bernoulli(1.0 if k == 2 else 0.0 if k == 60 else 0.5)
    if up:
        new = ~normal(0.2, 1.1)


@transform
def longer(model_in, aux_in, *, model_out, aux_out):
    k = read(model_in["k"])
    if read(aux_in["up"]):
        write(model_out["k"], k + 1)
        write(model_out["y", k], read(aux_in["new"]))
        write(aux_out["up"], False)
    else:
        write(model_out["k"], k - 1)
        write(aux_out["new"], read(model_in["y", k - 1]))
        write(aux_out["up"], True)


@gen
def a_little(trace):
    k = trace["k"]
    u = ~normal(0, 0.5)


@transform
def last_moved(model_in, aux_in, *, model_out, aux_out):
    k, u = read(model_in["k"]), read(aux_in["u"])
    if k > 2:
        write(model_out["y", k - 1], read(model_in["y", k - 1]) + u)
        write(aux_out["u"], -u)
    else:
        copy(aux_in["u"], aux_out["u"])


@transform
def often_left(model_in, aux_in, *, model_out, aux_out):
    """Far away, so that it is rejected; and often left to the interpreter."""
    s, u = read(model_in["s"], continuous), read(aux_in["u"], continuous)
    write(model_out["s"], s + 1000.0 + u + 1e-9 * math.sqrt(max(u, -0.4) + 0.4), continuous)
    write(aux_out["u"], -u, continuous)


@pytest.mark.parametrize("seed", [0, 1, 3])
def test_choices_at_places_that_were_not_there(seed, made):
    """They are put back before a step that fails, although all of their kind were observed at first."""
    trace = series.generate((), {("y", 0): 0.5, ("y", 1): 0.1}, init={"k": 2}, rng=1).trace
    grows = repeat(cycle(involutive(one_more, longer), involutive(a_little, last_moved)), 4)
    kernel = cycle(grows, involutive(a_little, often_left))
    assert assert_same(kernel, trace, made, seed=seed, thin=3).fallbacks


# --- growth -------------------------------------------------------------------------------------------


@gen
def matrix():
    k = ~poisson(9.0)
    for i in range(k):
        for j in range(k):
            ("m", i, j) @ ~normal(0.1 * i, 1 + 0.1 * j)


@gen
def row_and_column(trace):
    k = trace["k"]
    up = ~bernoulli(0.5 if k else 1.0)
    if up:
        for i in range(k + 1):
            ("m", i, k) @ ~normal(0.0, 1.2)
            if i < k:
                ("m", k, i) @ ~normal(0.0, 1.2)


@transform
def larger(model_in, aux_in, *, model_out, aux_out):
    k = read(model_in["k"])
    if read(aux_in["up"]):
        write(model_out["k"], k + 1)
        write(aux_out["up"], False)
        for i in range(k + 1):
            copy(aux_in["m", i, k], model_out["m", i, k])
            if i < k:
                write(model_out["m", k, i], read(aux_in["m", k, i]))
    else:
        write(model_out["k"], k - 1)
        write(aux_out["up"], True)
        for i in range(k):
            copy(model_in["m", i, k - 1], aux_out["m", i, k - 1])
            if i < k - 1:
                write(aux_out["m", k - 1, i], read(model_in["m", k - 1, i]))


@pytest.mark.slow
def test_two_indices_grow(made, monkeypatch):
    """The places of choices with two indices are others where there is room for more.

    There is more room without choices being read as objects, which takes long if there are many.
    """
    monkeypatch.delattr(native_state.NativeState, "_reload")
    trace = matrix.generate((), init={"k": 2}, rng=3).trace
    used = assert_same(involutive(row_and_column, larger), trace, made, draws=400, seed=4)
    assert max(max(capacity, default=0) for capacity in used.state.capacities) > 8
    assert not used.fallbacks


@gen
def far():
    k = ~poisson(3.0)
    ("x", 10**k) @ ~normal(0, 1)


@gen
def elsewhere(trace):
    k = ~poisson(3.0)
    ("x", 10**k) @ ~normal(0.2, 1)


@gen
def nearby(trace):
    ("x", 10 ** trace["k"]) @ ~normal(0.1, 1)


def test_indices_too_far_apart_for_memory(made):
    """The chain goes on without machine code, from within a sweep."""
    trace = far.generate((), init={"k": 1}, rng=3).trace
    kernel = repeat(mixture([mh(elsewhere), cycle(mh(nearby), mh(elsewhere))], [0.3, 0.7]), 3)
    used = assert_same(kernel, trace, made, draws=300, seed=11)
    assert "far apart" in used.beyond


def test_too_much_memory(made, monkeypatch):
    monkeypatch.setattr(native_state, "_LARGEST", 100)
    monkeypatch.setattr(native_state, "_FIRST_HEAP", 64)
    trace = vector.simulate((80,), rng=2)
    used = assert_same(mh(another, (80,)), trace, made, draws=30)
    assert "more memory than a text may use" in used.fallbacks


@gen
def vector(n):
    x = ~iid(normal(0, 1), n)


@gen
def another(trace, n):
    x = ~iid(normal(0.1, 1), n)


def test_arrays_larger_than_their_memory(made, monkeypatch):
    monkeypatch.setattr(native_state, "_FIRST_HEAP", 64)
    monkeypatch.setattr(native_state, "_HEAP_A_WORD", 2)
    trace = vector.simulate((300,), rng=2)
    used = assert_same(mh(another, (300,)), trace, made, draws=100)
    assert not used.fallbacks


def test_arrays_do_not_pile_up(made):
    """Those that are no longer in the trace are forgotten, however many steps are made."""
    with running_on("native"):
        sample(mh(another, (100,)), vector.simulate((100,), rng=2), 40, thin=1000, seed=1, progress=False)
    (used,) = made
    assert used.state.heap_size <= native_state._FIRST_HEAP


# --- long sweeps ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("given", [{"draws": 1, "warmup": 60000}, {"draws": 2, "thin": 40000}])
def test_python_has_its_turn(given, made, monkeypatch):
    """An interrupt is seen, and progress told, within a warm-up and within a draw."""
    trace = series.generate((), {("y", 0): 0.5, ("y", 1): 0.1}, rng=1).trace
    kernel = repeat(involutive(one_more, longer), 3)
    calls = []
    go_on = native_state.NativeState.go_on

    def noted(self, **limits):
        before = time.perf_counter()
        found = go_on(self, **limits)
        calls.append(time.perf_counter() - before)
        return found

    monkeypatch.setattr(native_state.NativeState, "go_on", noted)
    monkeypatch.setattr(thresholds, "MOST_SECONDS", 0.001)
    with running_on("native"):
        sample(kernel, trace, seed=1, progress=False, **given)
    assert len(calls) > 20
