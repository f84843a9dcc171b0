"""Transforms in the language of users, whose texts make the steps that the interpreter makes."""

# ruff: noqa: B905 (in the ways of users)

from collections import deque

import numpy as np
import pytest

from gendsl import continuous, discrete, gen, normal, read, transform, uniform_discrete, write
from gendsl.inference import involutive
from tests.compiler.closed_steps import needs_llvm
from tests.compiler.test_recursive_moves import same_chains


@gen
def vector(n):
    x = [("x", i) @ ~normal(0, 1) for i in range(n)]
    k = ~uniform_discrete(0, 2)
    for i in range(n):
        ("y", i) @ ~normal(x[i], 1)


@gen
def shifted_by(trace):
    u = ~normal(0, 0.3)


def shift(v, *, by=0.0, scale=1.0):
    return v * scale + by


@transform
def with_a_nested_function(model_in, aux_in, *, model_out, aux_out):
    u = read(aux_in["u"], continuous)
    total = 0.0

    def add(v):
        nonlocal total
        total += v
        return total

    xs = [read(model_in["x", i], continuous) for i in range(3)]
    opts = {"by": u}
    write(model_out["x", 0], shift(xs[0], **opts), continuous)
    add(u)
    add(u * 2)
    write(model_out["x", 1], xs[1] + total, continuous)
    write(aux_out["u"], -u, continuous)


@transform
def with_a_deque(model_in, aux_in, *, model_out, aux_out):
    u = read(aux_in["u"], continuous)
    q = deque()
    for i in range(3):
        q.append(read(model_in["x", i], continuous))
    q.rotate(0)
    a = q.popleft()
    q.append(a + u)
    write(model_out["x", 0], q.pop(), continuous)
    q[0] = q[0] - u * 2
    write(model_out["x", 1], q[0], continuous)
    write(aux_out["u"], -u, continuous)


@transform
def with_parts_of_an_array(model_in, aux_in, *, model_out, aux_out):
    u = read(aux_in["u"], continuous)
    xs = np.array([read(model_in["x", i], continuous) for i in range(3)])
    a, b = np.split(xs, [1])
    m = b.copy()
    mask = np.array([True, False])
    m[mask] = m[mask] + u
    write(model_out["x", 0], a[0] + u, continuous)
    write(model_out["x", 1], m[0], continuous)
    write(aux_out["u"], -u, continuous)


@transform
def with_names_in_order(model_in, aux_in, *, model_out, aux_out):
    u = read(aux_in["u"], continuous)
    vals = {f"x_{i}": read(model_in["x", i], continuous) for i in range(3)}
    names, items = zip(*sorted([("b", u), ("a", 2 * u)]))
    for i, s in enumerate(items):
        write(model_out["x", i], vals[f"x_{i}"] + s, continuous)
    write(aux_out["u"], -u, continuous)


@transform
def with_a_tuple(model_in, aux_in, *, model_out, aux_out):
    u = read(aux_in["u"], continuous)
    t = tuple(read(model_in["x", i], continuous) for i in range(3))
    t += (u,)
    *h, last = t
    write(model_out["x", 2], h[2] + last, continuous)
    write(aux_out["u"], -last, continuous)


@transform
def with_a_table_of_names(model_in, aux_in, *, model_out, aux_out):
    u = read(aux_in["u"], continuous)
    k = read(model_in["k"], discrete)
    i, name, sign = [(0, "u", 1), (1, None, 1), (None, "u", -1)][k]
    if i is not None and name is not None:
        write(model_out["x", i], read(model_in["x", i], continuous) + u, continuous)
        write(aux_out[name], -u, continuous)
    elif name is None:
        write(aux_out["u"], u, continuous)
    else:
        write(aux_out[name], sign * u, continuous)


MOVES = [
    with_a_nested_function, with_a_deque, with_parts_of_an_array, with_names_in_order, with_a_tuple,
    with_a_table_of_names,
]  # fmt: skip


@needs_llvm
@pytest.mark.parametrize("k", [0, 2])
@pytest.mark.parametrize("check", [False, True])
@pytest.mark.parametrize("move", MOVES, ids=lambda move: move.name)
def test_transforms_in_the_language_of_users(move, check, k, monkeypatch):
    start, _ = vector.generate((3,), {("y", i): 0.5 for i in range(3)}, init={"k": k}, rng=3)
    made = same_chains(
        involutive(shifted_by, move, check=check), start, monkeypatch, draws=100, record=[("x", 0), ("x", 1)]
    )
    assert sum(made.fallbacks.values()) <= 3, made.fallbacks
