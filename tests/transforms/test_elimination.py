"""The determinant of a small move from its entries, against the one from the matrix."""

import math
from contextlib import contextmanager

import numpy as np
import pytest

from gendsl import (
    continuous,
    copy,
    dirichlet,
    discrete,
    gen,
    multinomial,
    normal,
    poisson,
    read,
    transform,
    write,
)
from gendsl.errors import DimensionError, LabelError, LostDerivativeError, SingularJacobianError
from gendsl.transforms import apply as apply_module
from gendsl.transforms import elimination
from gendsl.transforms import jacobian as jacobian_module
from gendsl.transforms.apply import image


@gen
def model(n, k):
    count = ~poisson(3)
    for i in range(n):
        ("x", i) @ ~normal(0, 1)
    w = ~dirichlet([2.0] * k)


@gen
def q(trace, m):
    for i in range(m):
        ("u", i) @ ~normal(0, 1)


@contextmanager
def only(way):
    """Determinants are taken in one way: by "elimination", or from a "matrix"."""
    def refuse(*_):
        raise AssertionError("another way was taken")

    with pytest.MonkeyPatch.context() as patch:
        if way == "matrix":
            take(patch, lambda *_: None)
        else:
            patch.setattr(jacobian_module, "_log_abs_det", refuse)
        yield


def take(patch, small):
    """Use another `small_log_abs_det`."""
    for module in (jacobian_module, apply_module):
        patch.setattr(module, "small_log_abs_det", small)


def both_ways(f, n, m, k, seed):
    trace = model.simulate((n, k), rng=seed)
    aux = q.simulate((trace, m), rng=seed)
    found = []
    for way in ("elimination", "matrix"):
        with only(way):
            found.append(image(f, trace, q, (m,), aux).log_abs_det)
    return found


def a_move(seed):
    """A random move of at most ten coordinates: copies, permutations, sparse mixtures, weights."""
    rng = np.random.default_rng(seed)
    n, m, k = int(rng.integers(1, 5)), int(rng.integers(1, 4)), int(rng.integers(2, 4))
    inputs = [("x", i) for i in range(n)] + [("u", i) for i in range(m)]
    outputs = [inputs[i] for i in rng.permutation(len(inputs))]
    copied = {source for source in inputs if rng.random() < 0.3}
    slopes = rng.normal(size=(len(inputs), len(inputs))) * (rng.random((len(inputs),) * 2) < 0.4)
    slopes += np.diag(rng.normal(size=len(inputs)) + 2.0)
    with_weights = bool(rng.random() < 0.5)

    @transform
    def f(model_in, aux_in, *, model_out, aux_out):
        values = [read(model_in[p]) if p[0] == "x" else read(aux_in[p]) for p in inputs]
        copy(model_in["count"], model_out["count"])
        for source, target, row in zip(inputs, outputs, slopes.tolist(), strict=True):
            here = model_in if source[0] == "x" else aux_in
            there = model_out if target[0] == "x" else aux_out
            if source in copied:
                copy(here[source], there[target])
            else:
                write(there[target], sum(s * v for s, v in zip(row, values, strict=True) if s), continuous)
        if with_weights:
            w = read(model_in["w"])
            rest = [w[j] * (1.0 + 0.1 * w[0]) for j in range(k - 1)]
            write(model_out["w"], [*rest, 1.0 - sum(rest)])

    return f, n, m, k


@pytest.mark.parametrize("seed", range(80))
def test_both_ways_give_one_determinant(seed):
    f, n, m, k = a_move(seed)
    eliminated, matrix = both_ways(f, n, m, k, seed)
    assert eliminated == pytest.approx(matrix, rel=1e-10, abs=1e-10)


MISTAKES = {
    "a row stays live": ("live.discard(only)", "pass"),
    "the last pivot only": ("log_det += math.log(abs(slope))", "log_det = math.log(abs(slope))"),
    "the wrong entry": ("only, slope = row, d", "only, slope = row, max(tangent.values())"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_planted_mistakes_are_seen(mistake, monkeypatch):
    was, wrong = MISTAKES[mistake]
    with open(elimination.__file__) as file:
        source = file.read()
    assert source.count(was) == 1
    namespace = {"__name__": "planted"}
    exec(compile(source.replace(was, wrong), "planted", "exec"), namespace)
    take(monkeypatch, namespace["small_log_abs_det"])
    wrong_moves = 0
    for seed in range(80):
        f, n, m, k = a_move(seed)
        trace = model.simulate((n, k), rng=seed)
        aux = q.simulate((trace, m), rng=seed)
        found = image(f, trace, q, (m,), aux).log_abs_det
        with only("matrix"):
            wrong_moves += abs(found - image(f, trace, q, (m,), aux).log_abs_det) > 1e-9
    assert wrong_moves > 5


def test_not_more_than_it_is_good_for(monkeypatch):
    monkeypatch.setattr(elimination, "SMALL", 1)
    f, n, m, k = a_move(0)
    trace = model.simulate((n, k), rng=0)
    with pytest.raises(AssertionError, match="another way was taken"), only("elimination"):
        image(f, trace, q, (m,), q.simulate((trace, m), rng=0))


def writes(write_it):
    @transform
    def f(model_in, aux_in, *, model_out, aux_out):
        u, x = read(aux_in["u", 0]), read(model_in["x", 0])
        read(model_in["count"])
        write_it(model_in, model_out, aux_in, aux_out, u, x)

    trace = model.generate((2, 3), init={"x": [0.5, 2.0]}, rng=1).trace
    return image(f, trace, q, (1,), q.simulate((trace, 1), rng=2))


@pytest.mark.parametrize(
    ("what", "error"),
    [
        (lambda m, n, a, b, u, x: (write(b["u", 0], u), write(n["count"], 2, continuous)), LabelError),
        (lambda m, n, a, b, u, x: (write(b["u", 0], u), write(n["count"], u)), LabelError),
        (lambda m, n, a, b, u, x: (write(b["u", 0], x, discrete), write(n["x", 0], u)), LabelError),
        (lambda m, n, a, b, u, x: (write(b["u", 0], u), write(n["w"], read(m["w"]), discrete)), LabelError),
        (lambda m, n, a, b, u, x: (write(b["u", 0], u), copy(m["x", 1], n["count"])), LabelError),
        (lambda m, n, a, b, u, x: (write(b["u", 0], u), write(n["x", 0], 1.5)), SingularJacobianError),
        (lambda m, n, a, b, u, x: (write(b["u", 0], u), write(n["x", 0], u)), SingularJacobianError),
        (lambda m, n, a, b, u, x: (copy(m["x", 1], b["u", 0]), write(n["x", 0], u)), SingularJacobianError),
    ],
)  # fmt: skip
def test_what_is_wrong_is_found_by_the_other_way(what, error):
    with pytest.raises(error):
        writes(what)


def test_what_was_asked_for_may_tell_of_what_is_not_read():
    @transform
    def f(model_in, aux_in, *, model_out, aux_out):
        assert "count" in model_in
        write(model_out["count"], 2)
        write(aux_out["u", 0], -read(aux_in["u", 0]))

    trace = model.generate((2, 3), init={"count": 1}, rng=1).trace
    with only("elimination"):
        assert image(f, trace, q, (1,), q.simulate((trace, 1), rng=2)).log_abs_det == 0.0


def test_a_discrete_vector_of_traced_numbers():
    @gen
    def counted():
        x = ~normal(0, 1)
        counts = ~multinomial(3, [0.5, 0.5])

    @transform
    def f(model_in, *, model_out):
        x = read(model_in["x"])
        a, b = read(model_in["counts"], discrete)
        write(model_out["counts"], [a * x, b * x])

    trace = counted.generate((), init={"x": 1.0}, rng=1).trace
    with pytest.raises(LabelError, match="computed from continuous choices"):
        image(f, trace, None, (), None)


@gen
def growing():
    count = ~poisson(2)
    for i in range(count):
        ("x", i) @ ~normal(0, 1)


def grow_or_shrink(write_it):
    @transform
    def f(model_in, aux_in, *, model_out, aux_out):
        read(model_in["count"])
        write_it(model_in, model_out, aux_in, aux_out)

    trace = growing.generate((), init={"count": 2}, rng=1).trace
    return image(f, trace, q, (1,), q.simulate((trace, 1), rng=2))


@pytest.mark.parametrize(
    "what",
    [
        lambda m, n, a, b: (write(n["count"], 3), copy(a["u", 0], n["x", 2]), copy(a["u", 0], b["u", 0])),
        lambda m, n, a, b: (write(n["count"], 3), copy(m["x", 0], n["x", 2]), copy(a["u", 0], b["u", 0])),
        lambda m, n, a, b: (write(n["count"], 1), copy(a["u", 0], b["u", 0])),
        lambda m, n, a, b: (write(n["count"], 1), write(b["u", 0], 2 * read(a["u", 0]))),
        lambda m, n, a, b: (write(n["count"], 1), read(m["x", 1]), copy(a["u", 0], b["u", 0])),
    ],
    ids=["copied twice", "copied and kept", "removed", "removed, with another written", "read and removed"],
)
def test_more_go_in_than_come_out(what):
    """Or the other way round, though what is neither read nor copied twice would match."""
    with pytest.raises(DimensionError):
        grow_or_shrink(what)


def test_what_depends_on_a_return_value():
    """However often its pattern has come."""
    @gen
    def returns():
        x = ~normal(0, 1)
        return 2.0 * x

    @transform
    def f(model_in, *, model_out):
        write(model_out["x"], read(model_in["x"]) + model_in.retval, continuous)

    for _ in range(20):
        with pytest.raises(LostDerivativeError):
            image(f, returns.simulate(rng=1), None, (), None)


def test_a_slope_beyond_all_floats():
    @transform
    def f(model_in, aux_in, *, model_out, aux_out):
        for i in range(2):
            write(model_out["x", i], read(model_in["x", i]) * 1e-200, continuous)
        copy(aux_in["u", 0], aux_out["u", 0])

    trace = model.simulate((2, 3), rng=1)
    found = image(f, trace, q, (1,), q.simulate((trace, 1), rng=2)).log_abs_det
    assert found == pytest.approx(-400 * math.log(10))
