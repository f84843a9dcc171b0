"""Tuples in addresses that lead through calls of a program that calls itself: `trace[(*path, "split")]`."""

# ruff: noqa: RUF005 (tuples made in all ways)

import pytest

from gendsl import (
    bernoulli,
    continuous,
    copy,
    discrete,
    gamma,
    gen,
    normal,
    poisson,
    read,
    sample,
    select,
    transform,
    uniform,
    write,
)
from gendsl.compiler.hir.failures import NotClosed
from gendsl.compiler.run.closed_move import ClosedKernel
from gendsl.inference import cycle, involutive, random_walk, single_site
from gendsl.testing import running_on, runtimes
from tests.compiler.closed_steps import WAYS
from tests.compiler.test_closed_move import Move, compiled, outcomes

DEEPEST = 4


@gen
def tree(depth):
    split = ~bernoulli(0.6 / (1 + depth) if depth < DEEPEST else 0.0)
    if split:
        cut = ~uniform(0, 1)
        left = ~tree(depth + 1)
        right = ~tree(depth + 1)
        return cut * left + (1 - cut) * right
    value = ~normal(0, 1)
    return value


@gen
def model(n):
    root = "tree" @ ~tree(0)
    sd = ~gamma(2, 0.3)
    for i in range(n):
        ("y", i) @ ~normal(root, sd)


@gen
def walk(trace, path, depth):
    """To a leaf, or to where the walk stops."""
    if not trace[(*path, "split")]:
        if depth < DEEPEST:
            cut = ~uniform(0, 1)
            shift = ~normal(0, 1)
        return
    stop = ~bernoulli(0.4)
    if not stop:
        right = ~bernoulli(0.5)
        "down" @ ~walk(trace, (*path, "right" if right else "left"), depth + 1)


@gen
def walk_from_root(trace):
    "down" @ ~walk(trace, ("tree",), 0)


@transform
def grown_or_pruned(model_in, aux_in, *, model_out, aux_out):
    path, at, depth = ("tree",), ("down",), 0
    while read(model_in[(*path, "split")], discrete) and not read(aux_in[(*at, "stop")], discrete):
        copy(aux_in[(*at, "stop")], aux_out[(*at, "stop")])
        right = read(aux_in[(*at, "right")], discrete)
        copy(aux_in[(*at, "right")], aux_out[(*at, "right")])
        path = (*path, "right" if right else "left")
        at = (*at, "down")
        depth += 1
    if read(model_in[(*path, "split")], discrete):
        inner = [read(model_in[(*path, side, "split")], discrete) for side in ("left", "right")]
        if any(inner):
            copy(aux_in[(*at, "stop")], aux_out[(*at, "stop")])
            return
        a = read(model_in[(*path, "left", "value")], continuous)
        b = read(model_in[(*path, "right", "value")], continuous)
        write(model_out[(*path, "split")], False, discrete)
        write(model_out[(*path, "value")], (a + b) / 2, continuous)
        copy(model_in[(*path, "cut")], aux_out[(*at, "cut")])
        write(aux_out[(*at, "shift")], (b - a) / 2, continuous)
    elif depth < DEEPEST:
        value = read(model_in[(*path, "value")], continuous)
        shift = read(aux_in[(*at, "shift")], continuous)
        write(model_out[(*path, "split")], True, discrete)
        copy(aux_in[(*at, "cut")], model_out[(*path, "cut")])
        for side, sign in (("left", -1), ("right", 1)):
            write(model_out[(*path, side, "split")], False, discrete)
            write(model_out[(*path, side, "value")], value + sign * shift, continuous)
        write(aux_out[(*at, "stop")], True, discrete)


@gen
def sides(trace):
    """A list of sides in place of calls, as far as there are splits."""
    path = ()
    for i in range(3):
        if not trace[("tree", *path, "split")]:
            break
        right = ("right", i) @ ~bernoulli(0.5)
        path = path + ("right" if right else "left",)
    return path


@transform
def turned(model_in, aux_in, *, model_out, aux_out):
    """The sides of the node above the last exchanged: subtrees are copied whole."""
    path = above = ()
    for i in range(3):
        if not read(model_in[("tree", *path, "split")], discrete):
            break
        above = path
        path = path + ("right" if read(aux_in["right", i], discrete) else "left",)
    for i in range(len(path)):
        right = read(aux_in["right", i], discrete)
        write(aux_out["right", i], right if i < len(above) else not right, discrete)
    if path:
        copy(model_in[("tree", *above, "left")], model_out[("tree", *above, "right")])
        copy(model_in[("tree", *above, "right")], model_out[("tree", *above, "left")])


def start():
    given = {("y", i): 0.3 * i for i in range(4)}
    return model.generate((4,), given, init={("tree", "split"): False, "sd": 0.7}, rng=1).trace


@pytest.mark.slow
@pytest.mark.parametrize("check", [False, True], ids=["unchecked", "checked"])
@pytest.mark.parametrize("way", WAYS)
def test_steps_that_go_down_by_a_tuple(way, check):
    trace, move = start(), Move(walk_from_root, grown_or_pruned)
    results = outcomes(way, compiled(trace, move, check=check), trace, move, 150, check)
    assert results.keys() == {"accepted", "rejected"}, results
    assert min(results.values()) > 10


@pytest.mark.slow
def test_one_seed_gives_the_same_chain():
    move = involutive(walk_from_root, grown_or_pruned)
    kernel = cycle(move, involutive(sides, turned), random_walk("sd", 0.2), single_site(select("tree")))
    chains = {}
    for runtime in runtimes():
        with running_on(runtime):
            run = sample(kernel, start(), 200, seed=3, progress=False)
        if runtime in ("native", "python"):
            assert run.ran[0].startswith("as ") and "interpreter" not in run.ran[0], run.ran
        chains[runtime] = [(dict(trace.choices), trace.log_prob) for trace in run.traces]
    reference = chains.pop("reference")
    assert max(len(path) for choices, _ in reference for path in choices) > 4
    for runtime, chain in chains.items():
        for (choices, log_prob), (others, other) in zip(chain, reference, strict=True):
            assert choices == pytest.approx(others, rel=1e-9), runtime
            assert log_prob == pytest.approx(other, rel=1e-9), runtime


@gen
def bush(depth):
    count = ~poisson(0.5)
    for i in range(count):
        ("shoot", i) @ ~bush(depth + 1)


@gen
def down_the_bush(trace):
    path = ("root",)
    while trace[(*path, "count")]:
        path = (*path, "shoot", 0)
    u = ~normal(0, 1)


@gen
def bushes(n):
    "root" @ ~bush(0)


@gen
def flat(n):
    ("a", "x") @ ~normal(0, 1)
    ("b", "x") @ ~normal(0, 1)


@gen
def along_names(trace):
    path = ()
    for _ in range(trace.args[0]):
        path = (*path, "a")
    if len(path) == 1:
        u = ~normal(trace[(*path, "x")], 1)


@transform
def kept(model_in, aux_in, *, model_out, aux_out):
    if "u" in aux_in:
        copy(aux_in["u"], aux_out["u"])


@pytest.mark.parametrize(
    ("program", "auxiliary", "reason"),
    [
        (
            bushes,
            down_the_bush,
            r"calls at 'root' and \('shoot', ...\): make each",
        ),
        (flat, along_names, r"may be one of \('a', 'x'\): begin the addresses"),
    ],
    ids=["numbered calls", "no tuple in the program"],
)
def test_what_is_refused_says_what_to_do(program, auxiliary, reason):
    trace = program.simulate((1,), rng=1)
    with pytest.raises(NotClosed, match=reason):
        ClosedKernel(program, (1,), [involutive(auxiliary, kept).move])
    for runtime in runtimes():
        with running_on(runtime):
            sample(involutive(auxiliary, kept), trace, 5, seed=1, progress=False)
