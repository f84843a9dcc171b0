"""Kernels that are called in a loop of the user's own are compiled, and make the same steps as before."""

from __future__ import annotations

import copy
import gc
import pickle
import threading
import weakref

import numpy as np
import pytest

from gendsl import (
    categorical,
    continuous,
    gamma,
    gen,
    mvnormal,
    normal,
    pair,
    poisson,
    read,
    sample,
    select,
    transform,
    uniform_discrete,
    write,
)
from gendsl.errors import CompilerWarning, ParameterError
from gendsl.inference import (
    cycle,
    elliptical_slice,
    gibbs,
    involutive,
    involutive_mcmc,
    mh,
    mixture,
    random_walk,
    repeat,
    single_site,
    slice_sampling,
    tempered_mh,
)
from gendsl.inference.compiled import by_hand, policy, thresholds
from gendsl.inference.kernel import Kernel
from gendsl.testing import running_on
from tests.laws.modules import imported
from tests.transforms import random_moves

needs_machine_code = pytest.mark.skipif(
    policy.why_no_machine_code() is not None, reason="there is no machine code here"
)
CALLS = 8
"""After how many calls kernels are compiled in these tests."""


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    """Kernels are compiled after few calls, and nothing is known of earlier ones."""
    monkeypatch.setattr(thresholds, "LEAST_CALLS", CALLS)
    monkeypatch.setattr(thresholds, "LEAST_WORK", 0)
    monkeypatch.setattr(by_hand, "_HANDS", by_hand._Hands())


@gen
def model(n):
    k = ~uniform_discrete(1, 4)
    mus = [("mu", j) @ ~normal(0, 3) for j in range(k)]
    scale = ~gamma(2, 1)
    for i in range(n):
        z = ("z", i) @ ~categorical([1 / k] * k)
        ("x", i) @ ~normal(mus[z], scale)


@gen
def walk(trace):
    for j in range(trace["k"]):
        ("mu", j) @ ~normal(trace["mu", j], 0.5)


@gen
def offset(trace):
    u = ~normal(0, 1)


@transform
def shift(model_in, aux_in, *, model_out, aux_out):
    mu, u = read(model_in["mu", 0], continuous), read(aux_in["u"], continuous)
    write(model_out["mu", 0], mu + u, continuous)
    write(aux_out["u"], -u, continuous)


DATA = np.random.default_rng(0).normal([-2.0] * 6 + [2.0] * 6)


def start(seed=1):
    trace, _ = model.generate((len(DATA),), {"x": DATA}, init={"k": 2}, rng=seed)
    return trace


def walked(step, trace, calls, seed):
    """What a loop gives: all traces and what the kernels told."""
    rng = np.random.default_rng(seed)
    traces, infos = [], []
    for number in range(calls):
        trace, info = step(number)(trace, rng)
        traces.append(trace)
        infos.append(info)
    return traces, infos, rng.bit_generator.state


def is_compiled():
    return bool(by_hand._HANDS.running)


def same(one, other):
    """Whether two infos are the same but for rounding."""
    assert type(one) is type(other)
    if hasattr(one, "parts"):
        assert [name for name, _ in one.parts] == [name for name, _ in other.parts]
        return all(same(a, b) for (_, a), (_, b) in zip(one.parts, other.parts, strict=True))
    for name in getattr(one, "__slots__", None) or vars(one):
        mine, theirs = getattr(one, name), getattr(other, name)
        if hasattr(mine, "accepted"):
            assert same(mine, theirs)
        elif isinstance(mine, float):
            assert mine == pytest.approx(theirs, rel=1e-9, abs=1e-9, nan_ok=True), name
        else:
            assert mine == theirs, name
    return True


KERNELS = {
    "program": mh(walk),
    "selection": mh(select("scale")),
    "one of several": single_site(select("mu", "z")),
    "random walk": random_walk(select("scale", "mu"), 0.3),
    "involutive": involutive(offset, shift, check=True),
    "gibbs": gibbs("z"),
    "gibbs of one": gibbs("z", scan="random"),
    "slice": slice_sampling(select("mu", "scale"), width=1.0),
    "slice of one": slice_sampling(select("mu"), scan="random"),
    "tempered": tempered_mh(select("scale"), 0.5),
    "cycle": cycle(mh(walk), gibbs("z"), random_walk("scale", 0.2)),
    "mixture": mixture([mh(walk), gibbs("z")], [0.3, 0.7]),
    "by state": mixture([mh(walk), random_walk("scale", 0.2)], lambda trace: [trace["k"], 1]),
    "repeat": repeat(mh(walk), 3),
}


@needs_machine_code
@pytest.mark.parametrize("name", KERNELS)
def test_the_same_steps_are_made_and_told(name):
    kernel = KERNELS[name]
    with running_on("compiled"):
        expected, infos, bits = walked(lambda _: kernel, start(), 60, 3)
    assert not is_compiled()
    traces, told, own = walked(lambda _: kernel, start(), 60, 3)
    assert is_compiled() and own == bits
    assert sum(type(trace).__name__ == "LookedAt" for trace in traces) > 10
    for one, other in zip(told, infos, strict=True):
        assert same(one, other)
    for trace, other in zip(traces, expected, strict=True):  # old ones are what they were
        assert dict(trace.choices) == pytest.approx(dict(other.choices), rel=1e-9, abs=1e-9)
        assert trace.log_prob == pytest.approx(other.log_prob, rel=1e-9)


@needs_machine_code
def test_traces_are_as_others_are():
    """What can be asked of one, before and after the next step."""
    kernel = cycle(mh(walk), gibbs("z"))
    traces, _, _ = walked(lambda _: kernel, start(), 40, 3)
    for trace in (traces[-1], traces[-5]):
        assert type(trace).__name__ == "LookedAt"
        again = model.reference.score(trace.args, dict(trace.choices))
        assert trace["k"] == 2 and trace.retval == again.retval and len(trace.choices) == len(again.choices)
        assert ("mu", 1) in trace and ("mu", 2) not in trace and "w" not in trace
        assert trace.log_prob == pytest.approx(again.log_prob, rel=1e-12)
        assert len(trace.observed) == len(DATA)
        moved, weight, _ = trace.update({"scale": 1.5})
        assert moved["scale"] == 1.5 and weight == pytest.approx(moved.log_prob - trace.log_prob)
        thawed = pickle.loads(pickle.dumps(trace))
        assert dict(thawed.choices) == dict(trace.choices)
        assert sample(kernel, trace, 5, seed=1).last["k"] == 2
    assert traces[-1].choices != traces[-5].choices


@needs_machine_code
def test_going_back_to_a_trace_that_was_left():
    """As a user does who decides alone whether a step is kept; and taking turns with several traces."""
    kernel = mh(walk)

    def loop(rng):
        trace, other, found = start(1), start(2), []
        for number in range(80):
            after, _ = kernel(trace, rng)
            if rng.random() < 0.5:
                trace = after
            if number > 60:
                other, _ = kernel(other, rng)
            found.append((trace["mu", 0], trace["mu", 1], other["mu", 0], trace.log_prob))
        return found

    with running_on("compiled"):
        expected = loop(np.random.default_rng(5))
    assert np.allclose(loop(np.random.default_rng(5)), expected, rtol=1e-9)
    assert is_compiled(), by_hand._HANDS.called[kernel].refused


@needs_machine_code
def test_other_traces_are_read_and_too_many_give_it_up():
    kernel = mh(walk)

    def loop(rng, often):
        trace, found = start(1), []
        for number in range(200):
            trace, _ = kernel(trace, rng)
            if number > 40 and number % often == 0:  # edited in between, in another way
                trace = trace.update({"scale": rng.gamma(2.0)})[0]
            found.append((trace["mu", 0], trace["scale"], trace.log_prob))
        return found

    for often, is_kept in ((10, True), (2, False)):
        with running_on("compiled"):
            expected = loop(np.random.default_rng(5), often)
        by_hand._HANDS.called.clear()
        by_hand._HANDS.running.clear()
        assert np.allclose(loop(np.random.default_rng(5), often), expected, rtol=1e-9)
        assert is_compiled() == is_kept
    why = "other traces are given, or more than choices is asked of them, too often"
    assert kernel.explain(start()).endswith(f"; in a loop of your own step by step: {why}")


@needs_machine_code
@pytest.mark.parametrize("often", [10, 1])
def test_runs_of_the_program_that_are_asked_for_too_often_give_it_up(often):
    kernel, trace, rng = mh(walk), start(), np.random.default_rng(5)
    for number in range(300):
        trace, _ = kernel(trace, rng)
        if number % often == 0:
            assert trace.retval is None and len(trace.choices) == 2 * len(DATA) + 4
    assert is_compiled() == (often == 10)


@needs_machine_code
def test_chains_that_take_turns_are_compiled():
    kernel, rng = mh(walk), np.random.default_rng(5)
    traces = [start(seed) for seed in range(3)]
    for number in range(300):
        traces[number % 3], _ = kernel(traces[number % 3], rng)
    (running,) = by_hand._HANDS.running
    assert running.calls > 200 and running.strays < 5


@needs_machine_code
def test_a_mistake_of_the_compiler_is_a_warning_and_ends_no_loop(monkeypatch):
    def chain(kernel):
        trace, rng, found = start(), np.random.default_rng(5), []
        for _ in range(4 * CALLS):
            trace, _ = kernel(trace, rng)
            found.append(trace["z", 0])
        return found

    expected = chain(gibbs("z"))
    monkeypatch.setattr("gendsl.compiler.llvm.native.Native.__init__", lambda self, code: [][0])
    kernel = gibbs("z")
    with pytest.warns(CompilerWarning, match="IndexError"):
        assert chain(kernel) == expected
    assert "the compiler failed (IndexError" in by_hand.told_of(kernel, model)


@needs_machine_code
def test_another_thread_that_reads_a_trace_as_the_next_step_is_made(monkeypatch):
    kernel, rng, trace = gibbs("z"), np.random.default_rng(5), start()
    for _ in range(40):
        trace, _ = kernel(trace, rng)
    (running,) = by_hand._HANDS.running
    before, read = trace["z", 0], running.machine.choice

    def as_a_step_is_made(path):
        monkeypatch.setattr(running.machine, "choice", read)
        after, _ = kernel(trace, rng)
        while after["z", 0] == before:
            after, _ = kernel(after, rng)
        return read(path)

    monkeypatch.setattr(running.machine, "choice", as_a_step_is_made)
    assert trace["z", 0] == before


@needs_machine_code
def test_several_kernels_that_take_turns_share_a_state():
    parts = [mh(walk), gibbs("z"), random_walk("scale", 0.2)]
    walked(lambda number: parts[number % 3], start(), 60, 1)
    (running,) = by_hand._HANDS.running
    assert len(running.numbers) == 3 and running.strays == 0
    assert cycle(*parts).explain(start()).count("; in a loop of your own as machine code") == 3
    assert "in a loop" not in mh(walk).explain(start())


@needs_machine_code
def test_one_that_is_not_compiled_among_them():
    """Plain Python, or a selection of the user's own, between two that are."""

    def nudge(trace, rng):
        return trace.update({"scale": trace["scale"] * 1.0})[0], None

    parts = [mh(walk), mh(walk), mh(walk), mh(walk), mh(walk), mh(walk), Kernel(nudge, "nudge")]
    with running_on("compiled"):
        expected, _, _ = walked(lambda number: parts[number % 7], start(), 140, 3)
    traces, _, _ = walked(lambda number: parts[number % 7], start(), 140, 3)
    assert is_compiled()
    assert [trace["mu", 0] for trace in traces] == pytest.approx([trace["mu", 0] for trace in expected])


LEVEL = [0.0]
TABLE = np.zeros(3)


@gen
def outside(n):
    m = ~normal(0, 1)
    for i in range(n):
        ("x", i) @ ~normal(m + LEVEL[0] + TABLE[i], 1)


@needs_machine_code
@pytest.mark.parametrize("place", [LEVEL, TABLE], ids=["a list", "an array"])
def test_what_is_outside_may_change_between_calls(place):
    kernel = random_walk("m", 0.5)
    trace, _ = outside.generate((3,), {"x": np.full(3, 0.2)}, rng=1)

    def loop():
        now, rng, infos = trace, np.random.default_rng(2), []
        try:
            for number in range(60):
                place[0] = 3.0 if 30 <= number < 45 else 0.0
                if number in (30, 45):
                    now = outside.generate((3,), {"x": np.full(3, 0.2)}, init={"m": now["m"]})[0]
                now, info = kernel(now, rng)
                infos.append(info.log_accept_ratio)
        finally:
            place[0] = 0.0
        return infos

    with running_on("compiled"):
        expected = loop()
    assert loop() == pytest.approx(expected, rel=1e-9)


class Width:
    def __init__(self, value):
        self.value = value
        self.factor = one_of


def one_of(value):
    return value


def half_of(value):
    return value / 2


@gen
def by_first(trace, given):
    u = ~normal(0, given[0])


@gen
def by_object(trace, given):
    u = ~normal(0, given.factor(given.value))


def at_first(*values):
    """Changes the first item: to the first value, then to the second one, and so on."""
    return [lambda given, value=value: given.__setitem__(0, value) for value in values]


ARGUMENTS = {
    "a list": (by_first, lambda: [0.1], at_first(1.0, 3.0)),
    "an array": (by_first, lambda: np.array([0.1]), at_first(1.0, 3.0)),
    "a dict": (by_first, lambda: {0: 0.1}, at_first(1.0, 3.0)),
    "a longer list": (by_first, lambda: [0.1], [lambda given: given.insert(0, 2.0)]),
    "another type": (by_first, lambda: [1], at_first(0.5, 2)),
    "what is no number": (by_first, lambda: [1.0], at_first("1.0", 2.0)),
    "an attribute": (by_object, lambda: Width(0.1), [lambda given: setattr(given, "value", 2.0)]),
    "of another type": (by_object, lambda: Width(1), [lambda given: setattr(given, "value", 0.5)]),
    "a function": (by_object, lambda: Width(1.0), [lambda given: setattr(given, "factor", half_of)]),
    "there is none": (by_object, lambda: Width(1.0), [lambda given: delattr(given, "value")]),
}


@needs_machine_code
@pytest.mark.parametrize("called", ["a kernel", "involutive_mcmc"])
@pytest.mark.parametrize("what", ARGUMENTS)
def test_what_an_auxiliary_program_is_given_may_change_between_calls(what, called):
    q, make, changes = ARGUMENTS[what]

    def loop():
        given = make()
        now, rng, seen, kernel = start(), np.random.default_rng(2), [], involutive(q, shift, (given,))
        for number in range(100):
            if number % 40 == 30 and number // 40 < len(changes):
                changes[number // 40](given)
            try:
                if called == "a kernel":
                    now, info = kernel(now, rng)
                else:
                    now, info = involutive_mcmc(now, q, (given,), shift, rng=rng)
                seen.append((info.accepted, info.log_accept_ratio, now["mu", 0]))
            except (ParameterError, AttributeError) as error:
                seen.append((f"{type(error)}: {error}", 0.0, 0.0))
        return seen, rng.random()

    with running_on("compiled"):
        expected, bits = loop()
    assert not is_compiled()
    found, own = loop()
    assert own == bits
    for one, other in zip(found, expected, strict=True):
        assert one[0] == other[0] and one[1:] == pytest.approx(other[1:], rel=1e-9)


@gen
def root():
    x = ~normal(1, 1)
    y = ~normal(np.sqrt(x) if x > -1 else fails(x), 1)


def fails(x):
    raise ValueError(f"no root of {x:.1f}")


@gen
def far(trace):
    x = ~normal(trace["x"], 1.5)


@needs_machine_code
def test_errors_are_the_users_and_leave_all_as_it_was():
    kernel = mh(far)

    def loop():
        trace, _ = root.generate((), {"y": 1.0}, init={"x": 1.0}, rng=1)
        rng, seen = np.random.default_rng(0), []
        for _ in range(100):
            try:
                trace, info = kernel(trace, rng)
                seen.append((trace["x"], info.accepted))
            except ValueError as error:
                seen.append((trace["x"], str(error).partition("(")[0]))
        return seen

    with running_on("compiled"), np.errstate(all="ignore"):
        expected = loop()
    with np.errstate(all="ignore"):
        found = loop()
    assert is_compiled() and any(isinstance(told, str) for _, told in expected[20:])
    assert [told for _, told in found] == [told for _, told in expected]
    assert [x for x, _ in found] == pytest.approx([x for x, _ in expected])


@gen
def tree(depth):
    v = ~normal(0, 1)
    if depth < 4 and v > 0:
        left = ~tree(depth + 1)
        right = ~tree(depth + 1)
    y = ~normal(v, 0.5)


@gen
def arrays(n):
    w = ~mvnormal(np.zeros(2), np.eye(2))
    k = ~poisson(2)
    for j in range(k):
        v = ("v", j) @ ~mvnormal(w, np.eye(2))
    y = ~normal(w[0] + k, 1)


CHANGES = select("k", "v")
OTHERS = {
    "tree": (tree, (0,), {"y": 0.3}, mh(select("v", ("left", "v"), ("left", "left")), skip_absent=True)),
    "arrays": (arrays, (1,), {"y": 2.0}, cycle(mh(CHANGES, skip_absent=True), slice_sampling("w"))),
    "ellipse": (arrays, (1,), {"y": 2.0}, elliptical_slice("w")),
    "block": (arrays, (1,), {"y": 2.0}, cycle(elliptical_slice("w"), mh(CHANGES, skip_absent=True))),
}


@pytest.mark.slow
@needs_machine_code
@pytest.mark.parametrize("name", OTHERS)
def test_others_with_traces_that_are_kept(name):
    program, args, observed, kernel = OTHERS[name]
    first, _ = program.generate(args, observed, rng=4)
    with running_on("compiled"):
        expected, infos, bits = walked(lambda _: kernel, first, 250, 3)
    traces, told, own = walked(lambda _: kernel, first, 250, 3)
    assert is_compiled() and own == bits
    for trace, other in zip(traces, expected, strict=True):
        mine, theirs = dict(trace.choices), dict(other.choices)
        assert mine.keys() == theirs.keys()
        for path, value in mine.items():
            assert np.allclose(value, theirs[path], rtol=1e-9)
        assert trace.log_prob == pytest.approx(other.log_prob, rel=1e-9)
    assert all(same(one, other) for one, other in zip(told, infos, strict=True))


@needs_machine_code
def test_threads_have_their_own():
    kernel, found = mh(walk), {}

    def loop(seed):
        found[seed] = [trace["mu", 0] for trace in walked(lambda _: kernel, start(seed), 80, seed)[0]]

    threads = [threading.Thread(target=loop, args=(seed,)) for seed in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for seed in (1, 2):
        with running_on("compiled"):
            expected, _, _ = walked(lambda _: kernel, start(seed), 80, seed)
        assert found[seed] == pytest.approx([trace["mu", 0] for trace in expected])


@pytest.mark.slow
@needs_machine_code
def test_neither_kernels_nor_traces_are_kept():
    kernel = mh(walk)
    traces, _, _ = walked(lambda _: kernel, start(), 40, 3)
    left = weakref.ref(traces[-5])
    del traces
    gc.collect()
    assert left() is None
    new_trace = start()
    made = mh(select("scale"))
    new = weakref.ref(made)
    for seed in range(3):
        made(new_trace, np.random.default_rng(seed))
    del made
    gc.collect()
    assert new() is None


def made_in_a_loop(as_pair):
    """References to the programs of a loop of `involutive_mcmc`, and to what the loop was given."""

    @gen
    def local(n):
        mu = ("mu", 0) @ ~normal(0, 3)
        y = ~normal(mu, 1)

    @transform
    def moved(model_in, aux_in, *, model_out, aux_out):
        mu, u = read(model_in["mu", 0], continuous), read(aux_in["u"], continuous)
        write(model_out["mu", 0], mu + u, continuous)
        write(aux_out["u"], -u, continuous)

    given, f = np.ones(1), pair(moved, moved) if as_pair else moved
    trace, rng = local.generate((1,), {"y": 1.0}, rng=1).trace, np.random.default_rng(1)
    for _ in range(4 * CALLS):
        trace, _ = involutive_mcmc(trace, by_first, (given,), f, rng=rng)
    assert is_compiled()
    return [weakref.ref(one) for one in (local, moved, f, given)]


@pytest.mark.slow
@needs_machine_code
@pytest.mark.parametrize("as_pair", [False, True], ids=["transform", "pair"])
def test_programs_that_are_made_anew_are_not_kept(as_pair):
    """But for the last ones, whose kernels run as machine code."""
    left = made_in_a_loop(as_pair)
    by_hand._HANDS.running.clear()
    gc.collect()
    assert [one() for one in left] == [None] * 4


@needs_machine_code
def test_copies_and_other_generators():
    """Each call may have a generator of its own; a copy of a trace is one."""
    kernel = mh(walk)
    trace = start()
    for seed in range(60):
        trace, _ = kernel(trace, seed)
    with running_on("compiled"):
        other = start()
        for seed in range(60):
            other, _ = kernel(other, seed)
    assert trace["mu", 0] == pytest.approx(other["mu", 0]) and is_compiled()
    twin = copy.copy(trace)
    after, _ = kernel(twin, 7)
    assert after["mu", 1] == pytest.approx(kernel(other, 7)[0]["mu", 1])


def test_chains_are_what_they_are():
    """A chain has decided how it runs: what is called by hand before it changes nothing."""
    kernel = mh(walk)
    with running_on("compiled"):
        expected = sample(kernel, start(), 30, record=("mu", 0), seed=1)
    found = sample(kernel, start(), 30, record=("mu", 0), seed=1)
    assert np.array_equal(found["mu", 0], expected["mu", 0]) and not is_compiled()


def test_few_calls_or_those_that_do_not_go_on_compile_nothing():
    kernel = mh(walk)
    walked(lambda _: kernel, start(), CALLS - 2, 3)
    assert not is_compiled()
    trace, always = start(), gibbs("z")
    for seed in range(4 * CALLS):
        always(trace, seed)
    with running_on("reference"):
        walked(lambda _: kernel, start(), 4 * CALLS, 3)
    with running_on("compiled"):
        walked(lambda _: kernel, start(), 4 * CALLS, 3)
    assert not is_compiled()


@needs_machine_code
@pytest.mark.parametrize("seed", range(6))
def test_involutions_put_together_at_random(seed):
    text, counts = random_moves.Writer(seed).source()
    with imported(text) as module:
        first, check = random_moves.start(module, seed, counts), (False, True, "reject")[seed % 3]

        def step(trace, rng):
            return involutive_mcmc(trace, module.auxiliary, (), module.move, check=check, rng=rng)

        with running_on("compiled"):
            expected, infos, bits = walked(lambda _: step, first, 60, 3)
        traces, told, own = walked(lambda _: step, first, 60, 3)
        assert is_compiled() and own == bits
        assert all(same(one, other) for one, other in zip(told, infos, strict=True))
        for trace, other in zip(traces, expected, strict=True):
            mine, theirs = dict(trace.choices), dict(other.choices)
            assert mine.keys() == theirs.keys()
            assert all(np.allclose(value, theirs[path], rtol=1e-9) for path, value in mine.items())


class Halves(np.random.Generator):
    """A generator whose uniform numbers are all 0.5."""

    def random(self, *args, **kwargs):
        return 0.5


@needs_machine_code
def test_generators_of_other_classes_are_asked():
    kernel, trace = mh(walk), start()
    for seed in range(2 * CALLS):
        trace, _ = kernel(trace, seed)
    assert is_compiled()
    for seed in range(20):
        after, info = kernel(trace, Halves(np.random.PCG64(seed)))
        assert info.accepted == (info.log_accept_ratio > np.log(0.5)) == (after is not trace)


@needs_machine_code
def test_traces_with_other_arguments_and_of_other_programs_take_turns():
    """Each has machine code of its own, and none is read anew."""
    kernel, rng = random_walk(select("m"), 0.5), np.random.default_rng(4)
    traces = [outside.generate((n,), {"x": np.zeros(n)}, rng=1)[0] for n in (2, 3)]
    traces.append(arrays_of_one.generate((), {"x": 0.3}, rng=1)[0])
    with running_on("compiled"):
        expected = [trace["m"] for trace in taken_in_turn(kernel, traces, np.random.default_rng(4))]
    assert [one["m"] for one in taken_in_turn(kernel, traces, rng)] == pytest.approx(expected)
    assert len(by_hand._HANDS.running) == 3
    assert all(one.calls > 50 and one.strays < 3 for one in by_hand._HANDS.running)


@gen
def arrays_of_one():
    m = ~normal(0, 1)
    x = ~normal(m, 1)


def taken_in_turn(kernel, traces, rng):
    traces = list(traces)
    for number in range(300):
        traces[number % 3], _ = kernel(traces[number % 3], rng)
    return traces
