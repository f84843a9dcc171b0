"""Nested functions in lists and dicts, and handed on: what they hold of the functions around them."""

import math

import pytest

from gendsl import continuous, discrete, gamma, gen, normal, read, sample, transform, uniform_discrete, write
from gendsl.inference import cycle, involutive, mh, repeat
from gendsl.testing import running_on, runtimes

TIMES = [0.12 * i for i in range(25)]


def wave(a, period):
    return lambda t: a * math.sin(t / period)


def bump(centre, width=0.5):
    def height(t):
        far = (t - centre) / width
        return width * math.exp(-far * far)

    return height


def moved(function, by):
    return lambda t: function(t - by)


def all_of(functions, t):
    return sum(f(t) for f in functions)


def scaled(a, by):
    """What is set again before the function is made has one value after that."""
    a = abs(a)
    if by > 1:
        a = a + 1.0
    for _ in range(2):
        by = by * 0.9
    return lambda t: a * t - by


def after(a):
    """What is set in the same statement, or later, is not known where the function is made."""
    line = lambda t: a * t
    lines = [line]
    a = 2.0 * a
    return lines[0]


def by_its_own_name(a):
    f = a
    f = [lambda t: a * t if t > 1.0 else len(f) + t]
    return f[0]


@gen
def set_before(ts):
    k = ~uniform_discrete(1, 3)
    a = ~normal(0, 1)
    lines = [scaled(a, k), scaled(2.0, a)]
    for i, t in enumerate(ts):
        ("y", i) @ ~normal(lines[i % 2](t), 4)


@gen
def set_after(ts):
    k = ~uniform_discrete(1, 3)
    a = ~normal(0, 1)
    line = after(a * k)
    for i, t in enumerate(ts):
        ("y", i) @ ~normal(line(t), 4)


@gen
def named_by_itself(ts):
    k = ~uniform_discrete(1, 3)
    a = ~normal(0, 1)
    line = by_its_own_name(a * k)
    for i, t in enumerate(ts):
        ("y", i) @ ~normal(line(t), 4)


@gen
def appended(ts):
    k = ~uniform_discrete(1, 4)
    waves = []
    for j in range(k):
        height = ("height", j) @ ~normal(0, 1)
        waves.append(wave(height, 1.0 + j))
    for i, t in enumerate(ts):
        ("y", i) @ ~normal(sum(f(t) for f in waves), 4)


@gen
def with_defaults(ts):
    k = ~uniform_discrete(1, 4)
    lines = []
    for j in range(k):
        slope = ("slope", j) @ ~normal(0, 1)
        lines.append(lambda t, slope=slope, j=j: slope * t + j)
    for i, t in enumerate(ts):
        ("y", i) @ ~normal(lines[i % k](t), 4)


@gen
def comprehended(ts):
    k = ~uniform_discrete(1, 4)
    slopes = [("slope", j) @ ~normal(0, 1) for j in range(k)]
    curves = [lambda t, slope=slope: math.tanh(slope * t) for slope in slopes]
    for i, t in enumerate(ts):
        total = 0.0
        for curve in curves:
            total += curve(t)
        ("y", i) @ ~normal(total, 4)


@gen
def of_several_kinds(ts):
    k = ~uniform_discrete(0, 3)
    a = ~normal(0, 1)
    b = ~gamma(2, 1)
    curves = [bump(a, b), wave(a, b), math.cos, lambda t: a + b * t]
    named = {"wave": wave(a, b), "bump": bump(a)}
    for i, t in enumerate(ts):
        other = named["wave"](t) if i % 2 else named["bump"](t)
        ("y", i) @ ~normal(curves[k](t) + other, 4)


@gen
def numbers_of_several_types(ts):
    k = ~uniform_discrete(0, 1)
    a = ~normal(0, 1)
    waves = [wave(2, 1.5), wave(a, 3)]
    for i, t in enumerate(ts):
        ("y", i) @ ~normal(waves[k](t), 4)


@gen
def of_functions(ts):
    k = ~uniform_discrete(0, 1)
    a = ~normal(0, 1)
    b = ~gamma(2, 1)

    def one(t):
        return a * t

    def two(t):
        return one(t) * b

    curves = [one, two, moved(one, b), moved(wave(a, b), a)]
    for i, t in enumerate(ts):
        ("y", i) @ ~normal(curves[k + i % 3](t), 4)


@gen
def handed_on(ts):
    k = ~uniform_discrete(1, 3)
    waves = [wave(("height", j) @ ~normal(0, 1), 1.0 + j) for j in range(k)]
    for i, t in enumerate(ts):
        ("y", i) @ ~normal(all_of(waves, t), 4)


@gen
def lists_that_change(ts):
    """What is held is the list, not what is in it where the function is made."""
    k = ~uniform_discrete(1, 3)
    heights = []
    curves = [lambda t: sum(heights) * t, lambda t: len(heights) - t]
    for j in range(k):
        height = ("height", j) @ ~normal(0, 1)
        heights.append(height)
    for i, t in enumerate(ts):
        ("y", i) @ ~normal(curves[i % 2](t), 4)


@gen
def looked_up_late(ts):
    """All look up what a variable was last."""
    k = ~uniform_discrete(1, 3)
    a = ~normal(0, 1)
    lines = []
    for j in range(3):
        slope = a + 0.1 * j * k
        lines.append(lambda t: slope * t)
    for i, t in enumerate(ts):
        ("y", i) @ ~normal(lines[i % 3](t), 4)


@gen
def set_again(ts):
    k = ~uniform_discrete(1, 3)
    a = ~normal(0, 1)
    lines = [lambda t: a * t]
    if k > 1:
        a = 2.0 * a
    for i, t in enumerate(ts):
        ("y", i) @ ~normal(lines[0](t), 4)


def changed_before(a):
    a = a + 1.0
    return lambda t: a * t


@gen
def one_or_another(ts):
    """Functions of the same lines, of calls that each have a variable which is set twice."""
    k = ~uniform_discrete(0, 2)
    a = ~normal(0, 1)
    line = changed_before(a)
    if k == 1:
        line = changed_before(2.0 * a)
    for j in range(k - 1):
        line = changed_before(3.0 * a + j)
    for i, t in enumerate(ts):
        ("y", i) @ ~normal(line(t), 4)


CLOSED = (
    appended, with_defaults, comprehended, of_several_kinds, numbers_of_several_types, of_functions,
    handed_on, lists_that_change, set_before,
)  # fmt: skip
REFUSED = looked_up_late, set_again, set_after, named_by_itself


def chains(kernel, trace, draws, record):
    found = {}
    for runtime in runtimes():
        with running_on(runtime):
            run = sample(repeat(kernel, 5), trace, draws, record=record, seed=4, progress=False)
        found[runtime] = run
    return found


@pytest.mark.parametrize("model", [*CLOSED, *REFUSED, one_or_another], ids=lambda one: one.name)
def test_a_chain_is_the_same_on_all_runtimes(model):
    data = {("y", i): math.sin(2 * t) for i, t in enumerate(TIMES)}
    trace = model.generate((TIMES,), data, rng=3).trace
    names = [name for name in ("k", "a", "b") if name in trace]
    first, *others = chains(cycle(*map(mh, names)), trace, 60, "k").values()
    assert len(set(first["k"].tolist())) > 1
    for other in others:
        assert other["k"].tolist() == first["k"].tolist()
        assert other.last.log_prob == pytest.approx(first.last.log_prob, abs=1e-9)
    ran = [other.ran[0] for other in others[1:]]
    if model in REFUSED:
        assert all("uses a variable which may change" in one for one in ran)
    elif model in CLOSED:
        assert any(one.startswith("as machine code") for one in ran)


@gen
def steps():
    k = ~uniform_discrete(1, 3)
    for j in range(3):
        ("x", j) @ ~normal(0, 1 + k)


@gen
def shift(trace):
    u = ~normal(0, 0.5)


@transform
def by_functions(model_in, aux_in, *, model_out, aux_out):
    u = read(aux_in["u"], continuous)
    write(model_out["k"], 4 - read(model_in["k"], discrete), discrete)
    changes = []
    for j in range(3):
        x = read(model_in["x", j], continuous)
        changes.append(lambda t, x=x: x + t * (1 + x * 0.0))
    for j, change in enumerate(changes):
        write(model_out["x", j], change(u), continuous)
    write(aux_out["u"], -u, continuous)


@pytest.mark.parametrize("check", [False, True])
def test_derivatives_go_through_what_they_hold(check):
    trace = steps.simulate((), rng=2)
    kernel = involutive(shift, by_functions, check=check)
    first, *others = chains(kernel, trace, 60, "k").values()
    for other in others:
        assert other["k"].tolist() == first["k"].tolist()
        assert other.last.log_prob == pytest.approx(first.last.log_prob, abs=1e-9)
    assert any(other.ran[0].startswith("as machine code") for other in others)
