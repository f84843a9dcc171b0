"""Steps of moves of programs that call themselves are the interpreter's, however the structure changes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from gendsl import (
    bernoulli,
    continuous,
    copy,
    discrete,
    gen,
    mvnormal,
    normal,
    pair,
    poisson,
    read,
    sample,
    select,
    transform,
    uniform,
    uniform_discrete,
    write,
)
from gendsl.compiler.llvm.native_layout import Word
from gendsl.compiler.run.closed_move import ClosedKernel
from gendsl.errors import RecursionDepthError
from gendsl.inference import cycle, involutive, mh, mixture, repeat
from gendsl.inference.compiled import machine
from gendsl.testing import running_on
from tests.compiler.closed_steps import WAYS, alike, needs_llvm, values
from tests.compiler.test_closed_move import Move, compiled, outcomes
from tests.inference.test_machine import counted, noting


def same_chains(kernel, trace, monkeypatch, **asked):
    """The machine of a chain whose draws are those of the kernels themselves."""
    made = []
    monkeypatch.setattr(machine.Machine, "__init__", noting(made, machine.Machine.__init__))
    found = {}
    for runtime in ("native", "compiled"):
        with running_on(runtime):
            found[runtime] = sample(kernel, trace, seed=4, progress=False, **asked)
    assert counted(found["native"]) == counted(found["compiled"])
    for quantity in found["compiled"].names:
        np.testing.assert_allclose(found["native"][quantity], found["compiled"][quantity], rtol=1e-12)
    return made[0] if made else None


# --- a plant: a program whose calls are numbered, with no bound on their depth ------------------------------


@dataclass(frozen=True)
class Shoot:
    value: float
    shoots: list[Shoot]


@gen
def shoot():
    count = ~poisson(0.8)
    value = ~normal(0, 1)
    shoots = [("shoot", i) @ ~shoot() for i in range(count)]
    return Shoot(value, shoots)


def total(node):
    return node.value + sum([total(one) for one in node.shoots])


@gen
def plant(n):
    root = ~shoot()
    scale = ~normal(0, 1)
    for i in range(n):
        ("y", i) @ ~normal(total(root) + scale, 2)


def start(n=3):
    return plant.generate((n,), {("y", i): 1.0 + i for i in range(n)}, rng=5).trace


@gen
def another(trace):
    fresh = ~shoot()


@transform
def exchanged(model_in, aux_in, *, model_out, aux_out):
    copy(model_in["root"], aux_out["fresh"])
    copy(aux_in["fresh"], model_out["root"])


@gen
def one_of(trace):
    count = len(trace["root"].shoots)
    if count:
        at = ~uniform_discrete(0, count - 1)
        fresh = ~shoot()


@transform
def one_exchanged(model_in, aux_in, *, model_out, aux_out):
    if "at" in aux_in:
        at = read(aux_in["at"], discrete)
        copy(aux_in["at"], aux_out["at"])
        copy(model_in["root", "shoot", at], aux_out["fresh"])
        copy(aux_in["fresh"], model_out["root", "shoot", at])


@gen
def walk(node):
    """To a shoot, one of whose shoots is made anew."""
    stop = ~bernoulli(0.5 if node.shoots else 1.0)
    if stop:
        fresh = ~shoot()
    else:
        at = ~uniform_discrete(0, len(node.shoots) - 1)
        deeper = ~walk(node.shoots[at])


@gen
def walk_from_root(trace):
    down = ~walk(trace["root"])


@transform
def regrown_at(model_in, aux_in, *, model_out, aux_out):
    copy(aux_in["stop"], aux_out["stop"])
    if read(aux_in["stop"], discrete):
        copy(aux_in["fresh"], model_out)
        copy(model_in, aux_out["fresh"])
    else:
        at = read(aux_in["at"], discrete)
        copy(aux_in["at"], aux_out["at"])
        regrown_at(model_in["shoot", at], aux_in["deeper"], model_out=model_out["shoot", at],
                   aux_out=aux_out["deeper"])  # fmt: skip


@transform
def regrown(model_in, aux_in, *, model_out, aux_out):
    regrown_at(model_in["root"], aux_in["down"], model_out=model_out["root"], aux_out=aux_out["down"])


@transform
def turned(model_in, *, model_out):
    """The first shoot of the root goes to the end, and the others to the place before theirs."""
    count = read(model_in["root", "count"], discrete)
    if count >= 2:
        for i in range(count):
            copy(model_in["root", "shoot", (i + 1) % count], model_out["root", "shoot", i])


@transform
def turned_back(model_in, *, model_out):
    count = read(model_in["root", "count"], discrete)
    if count >= 2:
        for i in range(count):
            copy(model_in["root", "shoot", i], model_out["root", "shoot", (i + 1) % count])


@gen
def size(trace):
    u = ~normal(0, 0.3)


@transform
def doubled(model_in, aux_in, *, model_out, aux_out):
    """Tells the value of the root and of its first shoot by one auxiliary number, with a determinant."""
    u = read(aux_in["u"], continuous)
    write(aux_out["u"], -u, continuous)
    value = read(model_in["root", "value"], continuous)
    write(model_out["root", "value"], value * np.exp(u), continuous)
    if ("root", "shoot", 0, "value") in model_in:
        first = read(model_in["root", "shoot", 0, "value"], continuous)
        write(model_out["root", "shoot", 0, "value"], first * np.exp(-2 * u), continuous)


MOVES = {
    "exchanged": Move(another, exchanged),
    "one": Move(one_of, one_exchanged),
    "deep": Move(walk_from_root, regrown),
    "turned": Move(None, pair(turned, turned_back)),
    "values": Move(size, doubled),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", MOVES)
def test_moves_of_a_plant(name, way):
    move, trace = MOVES[name], start()
    if name == "turned":
        trace = plant.generate((1,), {("root", "count"): 3, ("y", 0): 1.0}, rng=8).trace
    results = outcomes(way, compiled(trace, move), trace, move, 200)
    assert results.keys() <= {"accepted", "rejected"}, results
    assert results["accepted"] > 15


@gen
def moved(node):
    value = ~normal(node.value, 0.5)
    for i, one in enumerate(node.shoots):
        ("shoot", i) @ ~moved(one)


@gen
def all_moved(trace):
    root = ~moved(trace["root"])
    scale = ~normal(trace["scale"], 0.3)


@gen
def root_moved(trace):
    """Passes through a call of the model that it does not make itself."""
    ("root", "value") @ ~normal(trace["root", "value"], 0.5)


KERNELS = {
    "walk": mh(all_moved),
    "root": mh(root_moved),
    "anew": mh(select("root")),
    "scale": mh(select("scale")),
    "cycle": cycle(
        mh(select("root", "scale")), involutive(another, exchanged), mh(all_moved),
        involutive(walk_from_root, regrown),
    ),
    "checked": cycle(*(involutive(one.q, one.f, check=True) for one in MOVES.values())),
    "picked": mixture(
        [
            repeat(mixture([involutive(walk_from_root, regrown), mh(select("root"))]), 3), mh(all_moved),
            mh(select("scale")),
        ],
        lambda trace: [1.0 + len(trace["root"].shoots), 1.0 + trace["root", "count"], 0.5],
    ),
}  # fmt: skip


@pytest.mark.slow
@needs_llvm
@pytest.mark.parametrize("name", KERNELS)
def test_chains_of_a_plant(name, monkeypatch):
    """The same chain as that of the kernels themselves, all of it by machine code."""
    quantities = ["scale", ("root", "count"), ("root", "value")]
    native = same_chains(KERNELS[name], start(), monkeypatch, draws=300, thin=2, record=quantities)
    assert not native.fallbacks


@pytest.mark.slow
@needs_llvm
def test_memory_stays_as_it_is(monkeypatch):
    """Calls at ever new addresses are numbered anew once there is no room for their numbers."""
    made = []
    monkeypatch.setattr(machine.Machine, "__init__", noting(made, machine.Machine.__init__))
    kernel = cycle(involutive(walk_from_root, regrown), mh(select("root")), involutive(one_of, one_exchanged))
    with running_on("native"):
        run = sample(kernel, start(), 100, thin=100, seed=2, record=("root", "count"), progress=False)
    (native,) = made
    assert run.ran == ["as machine code"]
    state = native.state
    assert state.node_room <= 4096
    assert state.numbered_at > 0
    nodes = [one for one in state.templates if one.has_nodes and one.trace == "model"]
    numbers = np.concatenate([state.columns[one.number][0] for one in nodes])
    numbers = numbers[numbers > 0]
    assert len(set(numbers.tolist())) == len(numbers) <= state.words[Word.NODES] <= state.node_room


def test_python_text_forgets_calls(monkeypatch):
    monkeypatch.setattr("gendsl.compiler.python.state.MOST_NEW_NODES", 20)
    move, trace = MOVES["deep"], start()
    closed, rng = compiled(trace, move), np.random.default_rng(3)
    state = closed.state(values(trace), trace.observed_paths, trace.log_prob, rng)
    for _ in range(300):
        closed.step_python(0, state)
        assert sum(len(column.values) for column in state.columns if column.is_node) < 400
    assert state.nodes > 500
    results = outcomes(WAYS[0], closed, trace, move, 100)
    assert results.keys() == {"accepted", "rejected"}


# --- two programs that call each other, with vectors, and a call of one that does not --------------------


@gen
def word(low):
    size = ~uniform_discrete(1, 3)
    at = ~mvnormal([low] * size, np.eye(size))
    longer = ~bernoulli(0.6)
    rest = None
    if longer:
        rest = ~gap(low + 1.0)
    return float(np.sum(at)) + (0.0 if rest is None else rest)


@gen
def gap(low):
    width = ~uniform(0, 1)
    after = ~word(low + width)
    return width + after


@gen
def centre(sd):
    mean = ~normal(0, sd)
    return 2 * mean


@gen
def text(n):
    first = ~word(0.0)
    second = ~word(1.0)
    middle = ~centre(2.0)
    for i in range(n):
        ("y", i) @ ~normal(first - second + middle, 3)


def text_start(n=2):
    return text.generate((n,), {("y", i): 1.0 - i for i in range(n)}, rng=2).trace


@gen
def other_word(trace):
    side = ~bernoulli(0.5)
    fresh = ~word(1.0 * side)
    drift = ~normal(0.1 * trace["middle"], 1)


@transform
def other_words(model_in, aux_in, *, model_out, aux_out):
    side = read(aux_in["side"], discrete)
    copy(aux_in["side"], aux_out["side"])
    name = "second" if side else "first"
    copy(model_in[name], aux_out["fresh"])
    copy(aux_in["fresh"], model_out[name])
    drift = read(aux_in["drift"], continuous)
    write(model_out["middle", "mean"], read(model_in["middle", "mean"], continuous) + drift, continuous)
    write(aux_out["drift"], -drift, continuous)


@transform
def words_exchanged(model_in, *, model_out):
    """Whole words, though their choices have densities that depend on the place."""
    copy(model_in["first"], model_out["second"])
    copy(model_in["second"], model_out["first"])


@gen
def pulled(low):
    size = ~uniform_discrete(1, 3)
    at = ~mvnormal([low] * size, 0.5 * np.eye(size))


@gen
def first_vector(trace):
    first = ~pulled(0.1 * trace["first"])


TEXT_MOVES = {"anew": Move(other_word, other_words), "exchanged": Move(None, words_exchanged)}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", TEXT_MOVES)
def test_programs_that_call_each_other(name, way):
    move, trace = TEXT_MOVES[name], text_start()
    results = outcomes(way, compiled(trace, move), trace, move, 150)
    assert results.keys() <= {"accepted", "rejected"}, results
    assert results["accepted"] > 10


TEXT_KERNELS = {
    "all": cycle(mh(select("first")), mh(select("second", "middle")), involutive(None, words_exchanged)),
    "vector": mh(first_vector),
}


@needs_llvm
@pytest.mark.parametrize("name", TEXT_KERNELS)
def test_chains_of_programs_that_call_each_other(name, monkeypatch):
    quantities = [("first", "size"), ("middle", "mean"), ("second", "longer")]
    native = same_chains(TEXT_KERNELS[name], text_start(), monkeypatch, draws=200, record=quantities)
    assert not native.fallbacks


SELECTIONS = {
    "below": (select(("root", "shoot")), True),
    "one": (select(("root", "shoot", 1)), True),
    "deep": (select(("root", "shoot", 0, "shoot", 0)), True),
    "values": (select(("root", "value"), "scale"), False),
    "wild": (select(("root", "shoot", ..., "value"), ("root", "shoot", 0)), True),
    "counts": (select(("root", "shoot", 0, "count"), ("root", "count")), True),
    "missing": (select(("root", "nothing"), "scale"), True),
}


@needs_llvm
@pytest.mark.parametrize("name", SELECTIONS)
def test_selections_of_some_calls(name, monkeypatch):
    selection, skips = SELECTIONS[name]
    kernel = cycle(mh(selection, skip_absent=skips), involutive(another, exchanged))
    quantities = ["scale", ("root", "count"), ("root", "value")]
    native = same_chains(kernel, start(), monkeypatch, draws=300, record=quantities)
    assert not native.fallbacks


def test_selections_by_python_text():
    """Both texts mean the same: a selection of some calls, step by step."""
    kernel = mh(select(("root", "shoot", 0)), skip_absent=True)
    trace, rng, twin = start(), np.random.default_rng(2), np.random.default_rng(2)
    closed = ClosedKernel(trace.gen_fn, trace.args, [kernel.move])
    regrow = involutive(another, exchanged)
    for _ in range(60):
        trace, _ = regrow(trace, rng)
        twin.bit_generator.state = rng.bit_generator.state
        state = closed.state(values(trace), trace.observed_paths, trace.log_prob, twin)
        accepted, *_ = closed.step_python(0, state)
        trace, info = kernel(trace, rng)
        assert accepted == info.accepted
        assert str(rng.bit_generator.state) == str(twin.bit_generator.state)
        assert alike(closed.choices(state), values(trace))


# --- what is said of zeros, and steps that are made again --------------------------------------------------


@gen
def ladder(left):
    last = ~bernoulli(0.5)
    height = ~uniform(0, left)
    if not last:
        above = ~ladder(left - height)


@gen
def climbed():
    foot = ~ladder(1.0)


@gen
def raised(trace):
    u = ~normal(0, 0.3)


@transform
def all_raised(model_in, aux_in, *, model_out, aux_out):
    """The heights of the first two; where the model has none of them, that of the first."""
    u = read(aux_in["u"], continuous)
    write(aux_out["u"], -u, continuous)
    write(model_out["foot", "height"], read(model_in["foot", "height"], continuous) + u, continuous)
    if ("foot", "above", "height") in model_in:
        above = read(model_in["foot", "above", "height"], continuous)
        write(model_out["foot", "above", "height"], above - 2 * u, continuous)


@needs_llvm
def test_where_the_density_is_zero_is_told_by_addresses(monkeypatch):
    monkeypatch.setattr("gendsl.compiler.run.native_state._FIRST_NODES", 4)
    monkeypatch.setattr("gendsl.compiler.run.native_state._NODES_AT_LEAST", 1)
    kernel = cycle(involutive(raised, all_raised), mh(select("foot")))
    native = same_chains(kernel, climbed.simulate(rng=3), monkeypatch, draws=500, record=("foot", "height"))
    assert native.state.told_zeros >= 2
    assert native.state.numbered_at > 0


@transform
def raised_up_to_four(model_in, aux_in, *, model_out, aux_out):
    above = ("foot", "above", "above", "above", "height") in model_in
    assert not above
    u = read(aux_in["u"], continuous)
    write(aux_out["u"], -u, continuous)
    write(model_out["foot", "height"], read(model_in["foot", "height"], continuous) + u, continuous)


@needs_llvm
def test_steps_before_one_that_fails_are_made_again(monkeypatch):
    """With the numbers that calls were given since."""
    monkeypatch.setattr("gendsl.compiler.run.native_state._FIRST_NODES", 4)
    found = []
    for runtime in ("native", "compiled"):
        with running_on(runtime), pytest.raises(AssertionError):
            sample(
                cycle(mh(select("foot")), involutive(raised, raised_up_to_four)), climbed.simulate(rng=3),
                400, record=lambda trace: found.append(trace["foot", "height"]) or 0.0, seed=6, progress=False
            )  # fmt: skip
    assert len(found) % 2 == 0
    np.testing.assert_allclose(found[: len(found) // 2], found[len(found) // 2 :], rtol=1e-12)


@gen
def endless(p):
    go = ~bernoulli(p)
    if go:
        more = ~endless(0.999999)


@gen
def endless_or_not():
    first = ~endless(0.5)


def _halted(seed):
    try:
        return endless_or_not.simulate((), rng=seed)
    except RecursionDepthError:
        return {("first", "go"): True}


@pytest.mark.parametrize("runtime", ["python", "compiled"])
def test_calls_that_do_not_end_are_the_users_error(runtime):
    trace = next(t for seed in range(9) if not (t := _halted(seed))["first", "go"])
    with running_on(runtime), pytest.raises(RecursionDepthError):
        sample(mh(select("first")), trace, 20, seed=1, progress=False)
