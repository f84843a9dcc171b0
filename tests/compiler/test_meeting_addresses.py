"""Steps of moves of programs with choices that may have one address, or be below one another."""

import numpy as np
import pytest

from gendsl import (
    bernoulli,
    continuous,
    copy,
    discrete,
    gamma,
    gen,
    mvnormal,
    normal,
    poisson,
    read,
    sample,
    select,
    transform,
    write,
)
from gendsl.compiler.hir.failures import NotClosed
from gendsl.errors import LabelError
from gendsl.inference import cycle, involutive, mh
from gendsl.testing import running_on
from tests.compiler.closed_steps import WAYS, needs_llvm
from tests.compiler.test_closed_move import Move, compiled, outcomes
from tests.compiler.test_recursive_moves import same_chains

# --- one address, and values of two types ------------------------------------------------------------------


@gen
def typed(n):
    whole = ~bernoulli(0.5)
    if whole:
        x = ~poisson(2)
    else:
        x = ~normal(1, 1)
    for i in range(n):
        ("y", i) @ ~normal(x, 2)


@gen
def other_value(trace):
    if trace["whole"]:
        value = ~normal(0, 2)
    else:
        count = ~poisson(3)


@transform
def other_type(model_in, aux_in, *, model_out, aux_out):
    whole = read(model_in["whole"], discrete)
    write(model_out["whole"], not whole, discrete)
    if whole:
        copy(model_in["x"], aux_out["count"])
        copy(aux_in["value"], model_out["x"])
    else:
        copy(model_in["x"], aux_out["value"])
        copy(aux_in["count"], model_out["x"])


def typed_start():
    return typed.generate((2,), {("y", i): 1.0 + i for i in range(2)}, rng=3).trace


# --- one address, and a number or a vector ----------------------------------------------------------------


@gen
def shaped(n):
    wide = ~bernoulli(0.5)
    if wide:
        x = ~mvnormal(np.ones(2), np.eye(2))
    else:
        x = ~normal(1, 1)
    for i in range(n):
        ("y", i) @ ~normal(np.sum(x), 2)


@gen
def other_value_of_shape(trace):
    if trace["wide"]:
        value = ~normal(0, 2)
    else:
        pair = ~mvnormal(np.zeros(2), np.eye(2))


@transform
def other_shape(model_in, aux_in, *, model_out, aux_out):
    wide = read(model_in["wide"], discrete)
    write(model_out["wide"], not wide, discrete)
    if wide:
        copy(model_in["x"], aux_out["pair"])
        write(model_out["x"], read(aux_in["value"], continuous) + 1.0, continuous)
    else:
        write(aux_out["value"], read(model_in["x"], continuous) - 1.0, continuous)
        copy(aux_in["pair"], model_out["x"])


def shaped_start():
    return shaped.generate((2,), {("y", i): 1.0 + i for i in range(2)}, rng=3).trace


# --- names of the data, one of which may be that of another choice -----------------------------------------


@gen
def named(names, n):
    total = 0.0
    for name in names:
        total += name @ ~normal(0, 1)
    sd = ~gamma(2, 1)
    more = ~bernoulli(0.5)
    if more:
        extra = ~normal(0, 1)
    for i in range(n):
        ("y", i) @ ~normal(total, sd)


@gen
def by(trace):
    u = ~normal(0, 0.4)


@transform
def first_and_sd(model_in, aux_in, *, model_out, aux_out):
    u = read(aux_in["u"], continuous)
    write(aux_out["u"], -u, continuous)
    write(model_out["sd"], read(model_in["sd"], continuous) * np.exp(u), continuous)


def named_start(names=("b", "a")):
    return named.generate((list(names), 2), {("y", i): 1.0 + i for i in range(2)}, rng=3).trace


# --- a choice, or choices below its address -----------------------------------------------------------------


@gen
def nested(both):
    deep = ~bernoulli(0.5)
    if deep:
        first = ("a", "b") @ ~normal(0, 1)
        for i in range(2):
            ("z", i) @ ~normal(first, 1)
    if not deep or both:
        a = ~normal(0, 1)
        z = ~normal(0, 1)


@gen
def spread(trace):
    if not trace["deep"]:
        u = ~normal(0, 1)


@transform
def folded(model_in, aux_in, *, model_out, aux_out):
    deep = read(model_in["deep"], discrete)
    write(model_out["deep"], not deep, discrete)
    if deep:
        copy(model_in["a", "b"], model_out["a"])
        left, right = read(model_in["z", 0], continuous), read(model_in["z", 1], continuous)
        write(model_out["z"], (left + right) / 2, continuous)
        write(aux_out["u"], (right - left) / 2, continuous)
    else:
        copy(model_in["a"], model_out["a", "b"])
        z, u = read(model_in["z"], continuous), read(aux_in["u"], continuous)
        write(model_out["z", 0], z - u, continuous)
        write(model_out["z", 1], z + u, continuous)


def nested_start(both=False):
    return nested.generate((both,), init={"deep": False, "a": 0.5, "z": 0.4}, rng=3).trace


MOVES = {
    "typed": (typed_start, Move(other_value, other_type)),
    "shaped": (shaped_start, Move(other_value_of_shape, other_shape)),
    "named": (named_start, Move(by, first_and_sd)),
    "nested": (nested_start, Move(spread, folded)),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", MOVES)
def test_steps(name, way):
    start, move = MOVES[name]
    results = outcomes(way, compiled(start(), move), start(), move, 150)
    assert results.keys() <= {"accepted", "rejected"}, results
    assert results["accepted"] > 10


@pytest.mark.parametrize("way", WAYS)
def test_two_choices_at_or_below_one_address_are_the_users_error(way):

    trace, move = nested_start(True), Move(spread, folded)
    results = outcomes(way, compiled(trace, move), trace, move, 20)
    assert results == {"raises": 20}


@gen
def walk_named(trace):
    sd = ~gamma(20, trace["sd"] / 20)


KERNELS = {
    "typed": (
        typed_start, cycle(mh(select("whole", "x")), mh(select("x")), involutive(other_value, other_type)),
    ),
    "named": (named_start, cycle(mh(select("a", "sd")), involutive(by, first_and_sd), mh(walk_named))),
    "nested": (nested_start, cycle(mh(select("deep", "a", "z")), involutive(spread, folded))),
}  # fmt: skip


@needs_llvm
@pytest.mark.parametrize("name", KERNELS)
def test_chains(name, monkeypatch):
    start, kernel = KERNELS[name]
    quantity = {"typed": "x", "named": "a", "nested": "deep"}[name]
    native = same_chains(kernel, start(), monkeypatch, draws=200, record=quantity)
    assert not native.fallbacks


@needs_llvm
def test_what_is_not_selected_can_not_keep_a_value_of_another_type():
    kernel = cycle(mh(select("whole")), mh(select("x")))
    with running_on("native"), pytest.raises(LabelError):
        sample(kernel, typed_start(), 60, seed=4, record="whole", progress=False)


@gen
def above_or_of_two_types(counts):
    deep = ~bernoulli(0.5)
    if not deep:
        x = ~normal(0, 1)
    elif counts:
        x = ("x", 0) @ ~poisson(2)
    else:
        x = ("x", 0) @ ~normal(1, 1)
    y = ~normal(x, 1)


@needs_llvm
@pytest.mark.parametrize("counts", [False, True])
def test_a_choice_that_gives_way_to_one_below_it_is_not_one_of_another_type(counts, monkeypatch):
    start = above_or_of_two_types.generate((counts,), {"y": 0.5}, init={"deep": False}, rng=1).trace
    native = same_chains(mh(select("deep")), start, monkeypatch, draws=100, record="deep")
    assert not native.fallbacks


@gen
def empty():
    return 0.0


@gen
def called(names):
    for name in names:
        name @ ~empty()
    sd = ~gamma(2, 1)


def test_calls_that_may_meet_choices_are_refused():
    trace = called.simulate((["a"],), rng=1)
    with pytest.raises(NotClosed, match="an address that may be below one call or another"):
        compiled(trace, Move(by, first_and_sd))


@gen
def with_a_part(part_first):
    has_part = ~bernoulli(0.5)
    if has_part and part_first:
        part = ("a", "b") @ ~normal(0, 1)
    a = ~normal(0, 1)
    if has_part and not part_first:
        part = ("a", "b") @ ~normal(0, 1)


@gen
def part_of(trace):
    if not trace["has_part"]:
        u = ~normal(0, 1)


@transform
def with_or_without_part(model_in, aux_in, *, model_out, aux_out):
    has_part = read(model_in["has_part"], discrete)
    write(model_out["has_part"], not has_part, discrete)
    if has_part:
        copy(model_in["a", "b"], aux_out["u"])
    else:
        copy(aux_in["u"], model_out["a", "b"])


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("part_first", [False, True])
def test_a_choice_below_one_that_stays_is_the_users_error(part_first, way):
    trace = with_a_part.generate((part_first,), rng=3, init={"has_part": False}).trace
    move = Move(part_of, with_or_without_part)
    results = outcomes(way, compiled(trace, move), trace, move, 10)
    assert results == {"raises": 10}
