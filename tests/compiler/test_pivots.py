"""Pivots of Jacobians that are known when the text is made: what is taken out, and the determinants."""

import math
from collections import Counter

import numpy as np
import pytest

from gendsl import (
    bernoulli,
    continuous,
    copy,
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
from tests.compiler.closed_steps import WAYS, AsPython
from tests.compiler.test_closed_move import Move, compiled, outcomes


@gen
def levels(n):
    k = ~uniform_discrete(1, 4)
    a = ~normal(0, 1)
    s = ~normal(0, 1)
    for i in range(k):
        ("h", i) @ ~normal(0, 2)
        ("g", i) @ ~normal(0, 1)
        for j in range(2):
            ("m", i, j) @ ~normal(0, 1)
    for i in range(n):
        ("y", i) @ ~normal(a, 1)
    return a


@gen
def noises(trace):
    u = ~normal(0, 0.5)
    w = ~normal(0, 0.5)
    for i in range(trace["k"]):
        ("e", i) @ ~normal(0, 0.1)


def others(aux_in, aux_out, *names):
    for name in names:
        copy(aux_in[name], aux_out[name])


@transform
def all_together(model_in, aux_in, *, model_out, aux_out):
    k = read(model_in["k"], discrete)
    u, w = read(aux_in["u"], continuous), read(aux_in["w"], continuous)
    a = read(model_in["a"], continuous)
    write(model_out["a"], a * math.exp(w) + u, continuous)
    for i in range(k):
        h = read(model_in["h", i], continuous)
        write(model_out["h", i], u + (h - a) * math.exp(w), continuous)
    write(aux_out["u"], -u, continuous)
    write(aux_out["w"], -w, continuous)
    others(aux_in, aux_out, "e")


@transform
def each_by_itself(model_in, aux_in, *, model_out, aux_out):
    others(aux_in, aux_out, "u", "w")
    for i in range(read(model_in["k"], discrete)):
        h, g, e = (read(at, continuous) for at in (model_in["h", i], model_in["g", i], aux_in["e", i]))
        write(model_out["h", i], math.sinh(h) + e * g, continuous)
        write(aux_out["e", i], -3.0 * e, continuous)


@transform
def of_two_indices(model_in, aux_in, *, model_out, aux_out):
    others(aux_in, aux_out, "u", "w", "e")
    for i in range(read(model_in["k"], discrete)):
        for j in range(1, 3):
            m = read(model_in["m", i, j - 1], continuous)
            write(model_out["m", i, j - 1], m**3 + m, continuous)


@transform
def in_branches(model_in, aux_in, *, model_out, aux_out):
    others(aux_in, aux_out, "w", "e")
    u = read(aux_in["u"], continuous)
    write(aux_out["u"], -2.0 * u, continuous)
    for i in range(read(model_in["k"], discrete)):
        if i % 2:
            write(model_out["h", i], read(model_in["h", i], continuous) * (1.0 + u * u), continuous)
        else:
            g = read(model_in["g", i], continuous)
            write(model_out["g", i], g * 0.5 if g > 0 else 3.0 * g, continuous)


@transform
def what_is_drawn_is_put_elsewhere(model_in, aux_in, *, model_out, aux_out):
    others(aux_in, aux_out, "w", "e")
    u, a = read(aux_in["u"], continuous), read(model_in["a"], continuous)
    write(model_out["a"], math.exp(u), continuous)
    write(aux_out["u"], math.log(abs(a)) + a, continuous)


@transform
def summed_up(model_in, aux_in, *, model_out, aux_out):
    """Each goes into all that come later."""
    others(aux_in, aux_out, "u", "w", "e")
    total = 0.0
    for i in range(read(model_in["k"], discrete)):
        h = read(model_in["h", i], continuous)
        total += 2.0 * h
        write(model_out["h", i], total, continuous)


@transform
def mixed(model_in, aux_in, *, model_out, aux_out):
    """Each goes into another, too."""
    others(aux_in, aux_out, "u", "w", "e")
    for i in range(read(model_in["k"], discrete)):
        h, g = read(model_in["h", i], continuous), read(model_in["g", i], continuous)
        write(model_out["h", i], h + 2.0 * g, continuous)
        write(model_out["g", i], 3.0 * g - h, continuous)


@transform
def read_twice(model_in, aux_in, *, model_out, aux_out):
    others(aux_in, aux_out, "u", "e")
    w = read(aux_in["w"], continuous)
    for i in range(read(model_in["k"], discrete)):
        w = w + 0.5 * read(model_in["h", i], continuous)
    for i in range(read(model_in["k"], discrete)):
        h = read(model_in["h", i], continuous)
        write(model_out["h", i], h + w, continuous)
    write(aux_out["w"], w, continuous)


@transform
def one_statement_for_two(model_in, aux_in, *, model_out, aux_out):
    """A number is read by one statement at two times, and goes into two others."""
    others(aux_in, aux_out, "e")
    if read(model_in["k"], discrete) > 1:
        for i in range(2):
            u, w = read(aux_in["u"], continuous), read(aux_in["w"], continuous)
            write(model_out["h", i], (1.0 + i) * u + (2.0 - i) * w, continuous)
        write(aux_out["u"], read(model_in["h", 0], continuous), continuous)
        write(aux_out["w"], read(model_in["h", 1], continuous), continuous)
    else:
        others(aux_in, aux_out, "u", "w")


@transform
def one_for_two(model_in, aux_in, *, model_out, aux_out):
    """A number is read by one statement at two times."""
    others(aux_in, aux_out, "w", "e")
    if read(model_in["k"], discrete) > 1:
        for i in range(2):
            u = read(aux_in["u"], continuous)
            if i:
                write(aux_out["u"], u * 2.0, continuous)
            else:
                write(model_out["h", 0], read(model_in["h", 0], continuous) * 3.0 + u, continuous)
    else:
        write(aux_out["u"], read(aux_in["u"], continuous), continuous)


@transform
def at_the_same_place_each_time(model_in, aux_in, *, model_out, aux_out):
    """No square matrix, but for k = 2."""
    others(aux_in, aux_out, "w", "e")
    for i in range(2):
        write(model_out["h", i], (1.0 + i) * read(aux_in["u"], continuous), continuous)
    write(aux_out["u"], read(model_in["h", 0], continuous), continuous)


@transform
def not_written_always(model_in, aux_in, *, model_out, aux_out):
    others(aux_in, aux_out, "u", "w", "e")
    for i in range(read(model_in["k"], discrete)):
        h = read(model_in["h", i], continuous)
        if h > 0:
            continue
        write(model_out["h", i], 2.0 * h, continuous)


@transform
def to_others_of_the_model(model_in, aux_in, *, model_out, aux_out):
    """What is read stays, if it isn't of an odd component: then the numbers of rows and columns differ."""
    others(aux_in, aux_out, "u", "w", "e")
    for i in range(read(model_in["k"], discrete)):
        write(model_out["g", i], 2.0 * read(model_in["h", i], continuous), continuous)
    if read(model_in["k"], discrete) % 2:
        for i in range(read(model_in["k"], discrete)):
            write(model_out["h", i], 0.5 * read(model_in["g", i], continuous), continuous)


@transform
def flat(model_in, aux_in, *, model_out, aux_out):
    """The derivative is zero, often."""
    others(aux_in, aux_out, "u", "w", "e")
    for i in range(read(model_in["k"], discrete)):
        h = read(model_in["h", i], continuous)
        write(model_out["h", i], max(2.0 * h, -2.0), continuous)


@transform
def steep(model_in, aux_in, *, model_out, aux_out):
    """Another derivative is no number, at times."""
    others(aux_in, aux_out, "w", "e")
    u = read(aux_in["u"], continuous)
    large = 1e200 if read(model_in["a"], continuous) > 0 else 1.0
    write(aux_out["u"], -u, continuous)
    for i in range(read(model_in["k"], discrete)):
        h = read(model_in["h", i], continuous)
        write(model_out["h", i], math.atan(u * large * large) + h, continuous)


@transform
def unknown(model_in, aux_in, *, model_out, aux_out):
    """What the model returned has no derivative, and goes into what is written."""
    others(aux_in, aux_out, "u", "w", "e")
    a = model_in.retval
    for i in range(read(model_in["k"], discrete)):
        write(model_out["h", i], a + read(model_in["h", i], continuous), continuous)


@transform
def calls_itself(model_in, aux_in, *, model_out, aux_out, i=0):
    """What is drawn is read at each call, by one statement."""
    k = read(model_in["k"], discrete)
    if i == 0:
        others(aux_in, aux_out, "e")
        if k > 1:
            for j, name in enumerate(("u", "w")):
                write(aux_out[name], read(model_in["h", j], continuous), continuous)
        else:
            others(aux_in, aux_out, "u", "w")
    if k > 1 and i < 2:
        u, w = read(aux_in["u"], continuous), read(aux_in["w"], continuous)
        write(model_out["h", i], (1.0 + i) * u + (2.0 - i) * w, continuous)
        calls_itself(model_in, aux_in, model_out=model_out, aux_out=aux_out, i=i + 1)


@transform
def unknown_at_times(model_in, aux_in, *, model_out, aux_out):
    """The same in a list of derivatives, which does not matter where it is multiplied by zero."""
    others(aux_in, aux_out, "w", "e")
    u = read(aux_in["u"], continuous)
    a = model_in.retval if u > 0 else u
    write(aux_out["u"], -u, continuous)
    for i in range(read(model_in["k"], discrete)):
        write(model_out["h", i], i * a + read(model_in["h", i], continuous), continuous)


@transform
def sigmoid(model_in, aux_in, *, model_out, aux_out):
    """A derivative overflows, at times, which is not that of the pivot."""
    others(aux_in, aux_out, "w", "e")
    u = read(aux_in["u"], continuous)
    write(aux_out["u"], -u, continuous)
    for i in range(read(model_in["k"], discrete)):
        h = read(model_in["h", i], continuous)
        write(model_out["h", i], h + 1.0 / (1.0 + np.exp(-5000.0 * u)), continuous)


@transform
def overflows_in_a_list(model_in, aux_in, *, model_out, aux_out):
    """The same, of what a list of derivatives is multiplied by."""
    others(aux_in, aux_out, "w", "e")
    u = read(aux_in["u"], continuous)
    write(aux_out["u"], -u, continuous)
    t = 0.0
    for _ in range(2):
        t = t + u
    for i in range(read(model_in["k"], discrete)):
        h = read(model_in["h", i], continuous)
        write(model_out["h", i], h + 1.0 / (1.0 + np.exp(-5000.0 * t)), continuous)


@gen
def bounded():
    k = ~uniform_discrete(1, 4)
    a = ~normal(0, 1)
    for i in range(k):
        ("h", i) @ ~uniform(-1, 1)
    return a


@transform
def out_of_bounds(model_in, aux_in, *, model_out, aux_out):
    """What has no derivative does not matter where the density is zero."""
    others(aux_in, aux_out, "u", "w", "e")
    for i in range(read(model_in["k"], discrete)):
        write(model_out["h", i], 9.0 + model_in.retval + read(model_in["h", i], continuous), continuous)


@gen
def few():
    k = ~uniform_discrete(1, 4)
    for i in range(k):
        ("x", i) @ ~normal(0, 1)


@gen
def drawn(trace):
    go = ~bernoulli(0.5)
    if go:
        u = ~normal(0, 1)


@transform
def copied_and_read(model_in, aux_in, *, model_out, aux_out):
    """The new component is another function of what is copied: it has no row."""
    k = read(model_in["k"], discrete)
    copy(aux_in["go"], aux_out["go"])
    if read(aux_in["go"], discrete):
        copy(aux_in["u"], aux_out["u"])
        if k < 4:
            write(model_out["k"], k + 1, discrete)
            write(model_out["x", k], 2.0 * read(aux_in["u"], continuous), continuous)


@transform
def read_and_left(model_in, aux_in, *, model_out, aux_out):
    """What is drawn is lost, if not written somewhere."""
    go = read(aux_in["go"], discrete)
    write(aux_out["go"], False, discrete)
    x = read(model_in["x", 0], continuous)
    for _ in range(1):
        if go:
            u = read(aux_in["u"], continuous)
            if x > 0:
                continue
            write(model_out["x", 0], 2.0 * u, continuous)


@transform
def scaled(model_in, aux_in, *, model_out, aux_out):
    others(aux_in, aux_out, "u", "w", "e")
    for i in range(read(model_in["k"], discrete)):
        write(model_out["h", i], 2.0 * read(model_in["h", i], continuous), continuous)


@transform
def scaled_back(model_in, aux_in, *, model_out, aux_out):
    others(aux_in, aux_out, "u", "w", "e")
    every = [read(model_in["h", i], continuous) for i in range(read(model_in["k"], discrete))]
    for i, h in enumerate(every):
        write(model_out["h", i], 0.5 * h, continuous)


CASES = {
    all_together: 4, each_by_itself: 2, of_two_indices: 1, in_branches: 3, what_is_drawn_is_put_elsewhere: 1,
    summed_up: 0, mixed: 0, read_twice: 0, one_statement_for_two: 0, one_for_two: 0,
    at_the_same_place_each_time: 0, not_written_always: 0, to_others_of_the_model: 0, flat: 1, steep: 2,
    unknown: 1, sigmoid: 2, overflows_in_a_list: 1, unknown_at_times: 1, calls_itself: 0,
    pair(scaled, scaled_back): 1,
}  # fmt: skip
"""How many statements read what has no row of the Jacobian any more; as many write what has no column."""
OF_FEW = {copied_and_read: 0, read_and_left: 0}


def taken_out(closed):
    """How many are read and written without row and column."""
    return closed.text.count(".read_pivot("), closed.text.count(".write_pivot(")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("f", CASES, ids=lambda f: f.name)
def test_steps_are_those_of_the_interpreter(f, way):
    move, observed = Move(noises, f), {("y", i): 0.1 * i for i in range(2)}
    for k in range(1, 5):
        trace = levels.generate((2,), observed | {"k": k}, rng=k).trace
        closed = compiled(trace, move)
        outcomes(way, closed, trace, move, 12)
        assert taken_out(closed) == (CASES[f], CASES[f])


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("f", OF_FEW, ids=lambda f: f.name)
def test_what_may_have_no_row_is_left_in(f, way):
    move, found = Move(drawn, f), Counter()
    for seed in range(4):
        trace = few.simulate((), rng=seed)
        closed = compiled(trace, move)
        found += outcomes(way, closed, trace, move, 12)
        assert taken_out(closed) == (OF_FEW[f], OF_FEW[f])
    assert found["raises"] > 0 < found["accepted"], found


@pytest.mark.parametrize("way", WAYS)
def test_where_the_density_is_zero_no_determinant_is_needed(way):
    trace, move = bounded.simulate((), rng=1), Move(noises, out_of_bounds)
    closed = compiled(trace, move)
    assert outcomes(way, closed, trace, move, 12) == {"rejected": 12}
    assert taken_out(closed) == (1, 1)


def test_a_determinant_by_hand():
    """log |det J| of `all_together` is (k + 1) w; it is nowhere else in the step."""
    trace = levels.generate((2,), {("y", i): 0.1 * i for i in range(2)} | {"k": 3}, rng=5).trace
    rng, twin = np.random.default_rng(3), np.random.default_rng(3)
    w = noises.simulate((trace,), rng=twin)["w"]
    *_, log_det = AsPython(compiled(trace, Move(noises, all_together)), trace, rng).step()
    assert log_det == pytest.approx(4 * w, rel=1e-12)
