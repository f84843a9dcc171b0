"""Whole steps of moves as one text: the interpreter's decisions, values, ratios and random numbers."""

import os
from collections import Counter

import numpy as np
import pytest

from benchmarks.models import families
from gendsl import (
    bernoulli,
    continuous,
    copy,
    dirichlet,
    discrete,
    gen,
    normal,
    pair,
    read,
    transform,
    uniform,
    uniform_discrete,
    write,
)
from gendsl.compiler.hir.failures import FailedText, NotClosed
from gendsl.compiler.llvm.native_layout import Word
from gendsl.compiler.moves import Involution
from gendsl.compiler.run.closed_move import ClosedKernel
from gendsl.inference import involutive, involutive_mcmc
from gendsl.transforms.language import directions
from tests.compiler.closed_steps import (
    WAYS,
    AsMachineCode,
    AsPython,
    alike,
    compared,
    needs_llvm,
    values,
)

MOVES = {
    f"{model.name}-{move.f.name}": (model, move)
    for models in families().values()
    for model in models
    for move in model.moves
}
REFUSED = {"arma-switch_part"}
"""Moves that are not read yet: of addresses that are made of text."""


def compiled(trace, *moves, check=False):
    parts = [
        Involution(q.f.name, q.q, q.q_args, tuple(there for there, _ in directions(q.f)), check)
        for q in moves
    ]
    return ClosedKernel(trace.gen_fn, trace.args, parts)


def either(name, way, check):
    """A case with the marks of its way."""
    shown = f"{name}{'-checked' * check}"
    if way is AsPython:
        return pytest.param(name, way, check, id=f"{shown}-python")
    return pytest.param(name, *way.values, check, marks=way.marks, id=f"{shown}-native")


def outcomes(way, closed, trace, move, steps, check=False):
    """What became of steps, each from where the interpreter's chain is."""

    def step(trace, rng):
        return involutive_mcmc(trace, move.q, move.q_args, move.f, rng=rng, check=check)

    return Counter(what for what, *_ in compared(way, closed, trace, step, steps))


CASES = [(name, WAYS[place // 2 % 2], bool(place // 4 % 2)) for place, name in enumerate(MOVES) if place % 2]
"""Every second move in one of the two ways, checked or not; all in all of them with GENDSL_LONG=1."""
if os.environ.get("GENDSL_LONG"):
    CASES = [(name, way, check) for name in MOVES for way in WAYS for check in (False, True)]


@pytest.mark.parametrize(("name", "way", "check"), [either(*case) for case in CASES])
def test_moves_of_the_families(name, way, check):
    model, move = MOVES[name]
    trace = model.start()
    if name in REFUSED:
        try:
            closed = compiled(trace, move)
        except NotClosed:
            return
        outcomes(way, closed, trace, move, 10)  # it is read by now, and must be right
        return
    results = outcomes(way, compiled(trace, move, check=check), trace, move, 30, check)
    assert results.keys() <= {"accepted", "rejected", "raises"}, results
    assert results["accepted"] + results["rejected"] > 0


# --- what each part of a step is needed for -----------------------------------------------------------


@gen
def groups(n):
    k = ~uniform_discrete(1, 40)
    for j in range(k):
        ("mu", j) @ ~normal(0, 3)
    weights = ~dirichlet([1.0, 1.0, 1.0])
    for i in range(n):
        ("y", i) @ ~normal(weights[0], 1)


@gen
def more_or_fewer(trace):
    k = trace["k"]
    grow = ~bernoulli(1.0 if k == 1 else 0.0 if k == 40 else 0.7)
    if grow:
        new = ~normal(0, 1)


@transform
def grown_or_shrunk(model_in, aux_in, *, model_out, aux_out):
    k = read(model_in["k"], discrete)
    grow = read(aux_in["grow"], discrete)
    write(aux_out["grow"], not grow, discrete)
    if grow:
        write(model_out["k"], k + 1, discrete)
        write(model_out["mu", k], 2 * read(aux_in["new"], continuous), continuous)
    else:
        write(model_out["k"], k - 1, discrete)
        write(aux_out["new"], read(model_in["mu", k - 1], continuous) / 2, continuous)


@gen
def shares(trace):
    u = ~uniform(0.5, 1.5)


@transform
def rescaled(model_in, aux_in, *, model_out, aux_out):
    w = read(model_in["weights"], continuous)
    u = read(aux_in["u"], continuous)
    first = w[0] * u
    rest = (1 - first) / (1 - w[0])
    write(model_out["weights"], [first, w[1] * rest, w[2] * rest], continuous)
    write(aux_out["u"], 1 / u, continuous)


@transform
def forgets(model_in, aux_in, *, model_out, aux_out):
    copy(aux_in["u"], aux_out["u"])
    write(model_out["k"], read(model_in["k"], discrete), discrete)
    write(model_out["mu", 0], 3.0 * read(aux_in["u"], continuous), continuous)


@transform
def to_the_right(model_in, aux_in, *, model_out, aux_out):
    write(model_out["mu", 0], read(model_in["mu", 0]) + read(aux_in["u"]))
    copy(aux_in["u"], aux_out["u"])


@transform
def to_the_left(model_in, aux_in, *, model_out, aux_out):
    write(model_out["mu", 0], read(model_in["mu", 0]) - read(aux_in["u"]))
    copy(aux_in["u"], aux_out["u"])


class Move:
    def __init__(self, q, f, q_args=()):
        self.q, self.f, self.q_args = q, f, q_args


def start(n=3):
    return groups.generate((n,), {("y", i): 0.1 * i for i in range(n)}, rng=3).trace


@pytest.mark.parametrize("check", [False, True], ids=["", "checked"])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "move",
    [
        Move(more_or_fewer, grown_or_shrunk),
        Move(shares, rescaled),
        Move(shares, pair(to_the_right, to_the_left)),
    ],
    ids=["grows", "weights", "pair"],
)
def test_long_chains(way, move, check):
    """Growth beyond the first room, arrays that are kept and given up, and either of two transforms."""
    results = outcomes(way, compiled(start(), move, check=check), start(), move, 400, check)
    assert results.keys() == {"accepted", "rejected"}, results
    assert results["accepted"] > 20


@pytest.mark.parametrize("way", WAYS)
def test_what_is_wrong_fails(way):
    """A value that nothing tells any more is the reference's error, so the text fails."""
    move = Move(shares, forgets)
    results = outcomes(way, compiled(start(), move), start(), move, 20)
    assert results["raises"] > 0
    assert not any(result.startswith("fails") for result in results), results


# --- the way back ---------------------------------------------------------------------------------------


@gen
def pieces():
    x = ~uniform(0.5, 8)
    k = ~bernoulli(0.5)
    if k:
        m = ~normal(0, 1)
        shares = ~dirichlet([1.0, 1.0])


@gen
def counts():
    n = ~uniform_discrete(0, 9)
    k = ~bernoulli(0.5)
    if k:
        z = ~uniform_discrete(0, 9)
    else:
        v = ~uniform_discrete(0, 9)


@gen
def a_count(trace):
    w = ~uniform_discrete(0, 9)


@gen
def nothing(trace):
    pass


@gen
def a_number(trace):
    u = ~uniform(0.9, 1.1)


@gen
def what_is_missing(trace):
    if not trace["k"]:
        m = ~normal(0, 1)
        shares = ~dirichlet([1.0, 1.0])


def swapped(restored, written, reversed_=False):
    """A transform that moves two choices between the traces; on the way back some are not restored."""

    @transform
    def exchanged(model_in, aux_in, *, model_out, aux_out):
        k = read(model_in["k"], discrete)
        write(model_out["k"], not k, discrete)
        if k:
            write(aux_out["m"], read(model_in["m"], continuous), continuous)
            shares = read(model_in["shares"], continuous)
            write(aux_out["shares"], [shares[1], shares[0]] if reversed_ else shares, continuous)
        else:
            m = read(aux_in["m"], continuous)
            if restored:
                write(model_out["m"], written * m, continuous)
            write(model_out["shares"], read(aux_in["shares"], continuous), continuous)

    return Move(what_is_missing, exchanged)


def counted(forgotten=""):
    """A transform that exchanges a count of the model with an auxiliary one; something is left out."""

    @transform
    def exchanged(model_in, aux_in, *, model_out, aux_out):
        n, k = read(model_in["n"], discrete), read(model_in["k"], discrete)
        w = read(aux_in["w"], discrete)
        write(model_out["k"], not k, discrete)
        if not k or forgotten != "n":
            write(model_out["n"], 9 - n, discrete)
        if forgotten == "z":
            if k:
                read(model_in["z"], discrete)
                write(model_out["v"], 0, discrete)
            write(aux_out["w"], w, discrete)
        elif k:
            z = read(model_in["z"], discrete)
            if forgotten != "w":
                write(aux_out["w"], z, discrete)
            write(model_out["v"], w, discrete)
        else:
            write(aux_out["w"], read(model_in["v"], discrete), discrete)
            write(model_out["z"], w, discrete)

    return Move(a_count, exchanged)


@transform
def scaled(model_in, aux_in, *, model_out, aux_out):
    write(model_out["x"], read(model_in["x"], continuous) * read(aux_in["u"], continuous), continuous)
    copy(aux_in["u"], aux_out["u"])


@transform
def squared(model_in, aux_in, *, model_out, aux_out):
    write(model_out["x"], read(model_in["x"], continuous) ** 2, continuous)


@transform
def inverted_above(model_in, aux_in, *, model_out, aux_out):
    """An involution, whose image is often where the density is zero."""
    write(model_out["x"], 1 / read(model_in["x"], continuous), continuous)


@transform
def far_away(model_in, aux_in, *, model_out, aux_out):
    """It leads to where the density is zero, and there is no way back."""
    write(model_out["x"], 1 + 9 * read(model_in["x"], continuous), continuous)


WRONG = {
    "a sign": Move(a_number, scaled),
    "a determinant": Move(nothing, squared),
    "what is gone": swapped(restored=False, written=1),
    "a value": swapped(restored=True, written=1.001),
    "an array": swapped(restored=True, written=1, reversed_=True),
    "outside": Move(nothing, far_away),
}
FORGOTTEN = {"w": 0, "n": 0, "z": 1}
"""What is not written, and the value of k from which the way back is where it is not."""


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", WRONG)
def test_a_way_back_that_leads_elsewhere_fails(way, name):
    """Where the reference raises the text fails, and it would not without the check."""
    move = WRONG[name]
    trace = pieces.generate(init={"x": 1.0, "k": 1, "m": 0.4, "shares": [0.25, 0.75]}).trace
    results = outcomes(way, compiled(trace, move, check=True), trace, move, 20, check=True)
    assert results["raises"] > 0
    assert not any(result.startswith("fails") for result in results), results
    if name != "what is gone":
        assert outcomes(way, compiled(trace, move), trace, move, 3)["raises"] == 0


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", FORGOTTEN)
def test_a_count_that_does_not_come_back_fails(way, name):
    move, k = counted(name), FORGOTTEN[name]
    trace = counts.generate(init={"n": 3, "k": k, "z" if k else "v": 5}).trace
    assert outcomes(way, compiled(trace, move, check=True), trace, move, 1, check=True) == {"raises": 1}
    right = counted()
    results = outcomes(way, compiled(trace, right, check=True), trace, right, 20, check=True)
    assert results.keys() == {"accepted", "rejected"} or results == {"accepted": 20}


@pytest.mark.parametrize("way", WAYS)
def test_a_way_back_from_where_the_density_is_zero(way):
    move = Move(nothing, inverted_above)
    trace = pieces.generate(init={"x": 4.0, "k": 0}).trace
    results = outcomes(way, compiled(trace, move, check=True), trace, move, 20, check=True)
    assert results == {"rejected": 20}


@gen
def many(n):
    for i in range(n):
        ("x", i) @ ~normal(0, 1)


@gen
def step_sizes(trace):
    for i in range(trace.args[0]):
        ("u", i) @ ~normal(0, 0.1)


@transform
def all_moved(model_in, aux_in, *, model_out, aux_out):
    for i in range(model_in.args[0]):
        u = read(aux_in["u", i], continuous)
        write(model_out["x", i], read(model_in["x", i], continuous) + u, continuous)
        write(aux_out["u", i], -u, continuous)


@pytest.mark.parametrize("way", WAYS)
def test_a_large_jacobian(way):
    """Of more coordinates than there is room for at first."""
    trace, move = many.simulate((70,), rng=1), Move(step_sizes, all_moved)
    results = outcomes(way, compiled(trace, move), trace, move, 5)
    assert results.keys() <= {"accepted", "rejected"}, results


@needs_llvm
def test_a_failed_step_leaves_all_as_it_was():
    move = Move(shares, forgets)
    trace, rng = start(), np.random.default_rng(1)
    before = rng.bit_generator.state
    running = AsMachineCode(compiled(trace, move), trace, rng)
    with pytest.raises(FailedText):
        running.step()
    assert rng.bit_generator.state == before
    assert alike(running.choices(), values(trace))


@needs_llvm
def test_a_step_that_fails_late_is_gone_back_to():
    """The steps before it are made again, from the state that was kept, with the same random numbers."""

    @transform
    def breaks_at_five(model_in, aux_in, *, model_out, aux_out):
        k = read(model_in["k"], discrete)
        grow = read(aux_in["grow"], discrete)
        assert k != 5
        write(aux_out["grow"], not grow, discrete)
        if grow:
            write(model_out["k"], k + 1, discrete)
            write(model_out["mu", k], 2 * read(aux_in["new"], continuous), continuous)
        else:
            write(model_out["k"], k - 1, discrete)
            write(aux_out["new"], read(model_in["mu", k - 1], continuous) / 2, continuous)

    trace = groups.generate((0,), init={"k": 1}, rng=1).trace
    move = Move(more_or_fewer, breaks_at_five)
    rng, twin = np.random.default_rng(2), np.random.default_rng(2)
    running = AsMachineCode(compiled(trace, move), trace, rng)
    running.native.words[Word.SWEEPS] = 10_000
    failure = running.native.go_on()
    steps = int(running.native.words[Word.STEPS])
    for _ in range(steps):
        trace, _ = involutive_mcmc(trace, move.q, move.q_args, move.f, rng=twin)
    assert failure is not None
    assert trace["k"] == 5
    assert str(rng.bit_generator.state) == str(twin.bit_generator.state)
    assert alike(running.choices(), values(trace))


def test_the_text_of_a_step_reads_like_the_move():
    text = compiled(start(), Move(more_or_fewer, grown_or_shrunk)).text
    assert "def step_grown_or_shrunk_once(state):" in text
    assert "def step_grown_or_shrunk(state, " in text
    assert "log_ratio = log_model + log_aux + log_det" in text
    for name in ("state.k.read(())", "state.mu.write_pivot(k, 2", "    log_pivots = grown_or_shrunk(state)"):
        assert name in text


def test_kernels_say_what_they_are():
    assert involutive(shares, rescaled, check="reject").move.check
    assert involutive(shares, rescaled).move == Involution("rescaled", shares, (), (rescaled,))
    assert involutive(shares, pair(to_the_right, to_the_left)).move.maps == (to_the_right, to_the_left)
