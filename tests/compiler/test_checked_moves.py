"""Chains of moves with check=True on all runtimes: what is impossible, and what comes back."""

import math

import pytest

from gendsl import (
    bernoulli,
    continuous,
    discrete,
    gen,
    normal,
    pair,
    read,
    sample,
    transform,
    uniform,
    write,
)
from gendsl.errors import GenDSLError
from gendsl.inference import involutive, repeat
from gendsl.testing import running_on, runtimes

N = 40
U_AT, V_AT = 6, 5
"""The first iterations, of the same lanes, whose choices may be out of reach: that of v comes first."""


@gen
def bounded(n):
    a = ~uniform(0, 4)
    b = ~uniform(0, 4)
    for i in range(n):
        ("u", i) @ ~uniform(0, a)
        ("v", i) @ ~uniform(0, b)
        ("y", i) @ ~normal(math.sin(a * i), math.exp(b))


@gen
def shift(trace):
    d = ~normal(0, 0.5)


@transform
def both_shifted(model_in, aux_in, *, model_out, aux_out):
    d = read(aux_in["d"], continuous)
    write(model_out["a"], read(model_in["a"], continuous) + d, continuous)
    write(model_out["b"], read(model_in["b"], continuous) + d, continuous)
    write(aux_out["d"], -d, continuous)


def data():
    low = {("u", i): 0.1 for i in range(N)} | {("v", i): 0.1 for i in range(N)}
    low |= {("u", U_AT): 1.2, ("v", V_AT): 1.0, ("u", 21): 1.25, ("v", 30): 1.1}
    return low | {("y", i): math.cos(i) for i in range(N)}


def chains(kernel, trace, draws, record):
    """By each runtime: what was recorded, why steps had no ratio, and the last log density."""
    found = {}
    for runtime in runtimes():
        with running_on(runtime):
            run = sample(repeat(kernel, 20), trace(), draws, record=record, seed=7, progress=False)
        tally = run.acceptance[kernel.name]
        found[runtime] = run[record].tolist(), tally.reasons, tally.accepted, run.last.log_prob
    return found


@pytest.mark.parametrize("check", [False, True])
def test_the_first_choice_that_is_impossible_is_told(check):
    kernel = involutive(shift, both_shifted, check=check, name="both")

    def trace():
        return bounded.generate((N,), data(), init={"a": 2.0, "b": 1.9}, rng=1).trace

    text = kernel.source_of("step", trace())
    assert "in lanes" in text and "changes the state" not in text
    expected, *others = chains(kernel, trace, 40, "a").values()
    numbers, reasons, accepted, log_prob = expected
    assert accepted > 20
    for at in (("u", U_AT), ("v", V_AT)):
        assert sum(count for why, count in reasons.items() if repr(at) in why) > 5
    for other in others:
        assert other[:3] == (numbers, reasons, accepted)
        assert other[3] == pytest.approx(log_prob, abs=1e-9)


@gen
def path():
    turned = ~bernoulli(0.5)
    a = ~normal(0, 1)
    for i in range(6):
        ("h", i) @ ~normal(0.1 * i, 1)


@gen
def stretch(trace):
    w = ~normal(0, 0.2)
    u = ~normal(0, 0.2)


@transform
def stretched(model_in, aux_in, *, model_out, aux_out):
    w, u = read(aux_in["w"], continuous), read(aux_in["u"], continuous)
    for i in range(6):
        h = read(model_in["h", i], continuous)
        write(model_out["h", i], (h - u) * math.exp(w) - u, continuous)
    write(aux_out["w"], -w, continuous)
    write(aux_out["u"], -u, continuous)


def test_what_rounding_takes_far_is_no_mistake():
    """A zero comes back as a number of 1e-17: far by its own size, and near by that of what it is made of."""
    kernel = involutive(stretch, stretched, check=True, name="stretched")
    assert "read_pivot" in kernel.source_of("step", path.simulate((), rng=1))

    def trace():
        return path.generate(init={("h", i): 0.0 for i in range(6)}, rng=1).trace

    found = chains(kernel, trace, 30, ("h", 2))
    assert found["reference"][2] > 100
    for other in found.values():
        assert other[:3] == found["reference"][:3]
    with running_on("native"):
        run = sample(repeat(kernel, 20), trace(), 30, record="a", seed=7, progress=False)
    assert run.ran == ["as machine code"]


@transform
def doubled(model_in, *, model_out):
    for i in range(6):
        write(model_out["h", i], 2.0 * read(model_in["h", i], continuous), continuous)
    write(model_out["turned"], not read(model_in["turned"], discrete), discrete)


@transform
def nearly_halved(model_in, *, model_out):
    for i in range(6):
        factor = 0.5 if i < 4 else 0.50000001
        write(model_out["h", i], factor * read(model_in["h", i], continuous), continuous)
    write(model_out["turned"], not read(model_in["turned"], discrete), discrete)


@pytest.mark.parametrize("runtime", runtimes())
def test_a_way_back_that_leads_beside_it_is_an_error(runtime):
    kernel = involutive(None, pair(doubled, nearly_halved), check=True, name="doubled")
    trace = path.simulate((), rng=1)
    with running_on(runtime), pytest.raises(GenDSLError, match=r"'h', [45]|determinant"):
        sample(repeat(kernel, 20), trace, 3, record="a", seed=7, progress=False)
