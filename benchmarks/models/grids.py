"""Grids whose cells depend on their neighbours: two colours, several colours, heights."""

from __future__ import annotations

import math

import numpy as np

from gendsl import (
    bernoulli,
    beta,
    categorical,
    continuous,
    copy,
    discrete,
    gamma,
    gen,
    normal,
    poisson,
    read,
    transform,
    uniform_discrete,
    write,
)
from gendsl.inference import cycle, involutive, mh, repeat

from .model import Model, Move


def side_of(size):
    return max(math.isqrt(size), 2)


# --- two colours; the grid is a dict by (row, column) ------------------------------------------------


def neighbours(i, j):
    """Those that were drawn before, as they lie."""
    return [(i - 1, j), (i, j - 1)]


@gen
def two_colours(side):
    agree = ~beta(4, 1)
    x = {}
    for i in range(side):
        for j in range(side):
            before = [x[cell] for cell in neighbours(i, j) if cell in x]
            p = 0.5
            if before:
                share = sum(before) / len(before)
                p = agree * share + (1 - agree) * (1 - share)
            x[i, j] = ~bernoulli(p)
            ("seen", i, j) @ ~normal(1.0 if x[i, j] else 0.0, 0.6)


@gen
def a_cell(trace):
    side = trace.args[0]
    row = ~uniform_discrete(0, side - 1)
    column = ~uniform_discrete(0, side - 1)


@transform
def flip(model_in, aux_in, *, model_out, aux_out):
    copy(aux_in["row"], aux_out["row"])
    copy(aux_in["column"], aux_out["column"])
    i, j = read(aux_in["row"], discrete), read(aux_in["column"], discrete)
    write(model_out["x", i, j], not read(model_in["x", i, j], discrete), discrete)


@gen
def walk_agree(trace):
    a = trace["agree"]
    agree = ~beta(20 * a, 20 * (1 - a))


# --- several colours; the grid is a list of lists ----------------------------------------------------


@gen
def colours(rows, columns, k):
    strength = ~gamma(4, 0.3)
    rates = [("rate", c) @ ~gamma(2, 2) for c in range(k)]
    grid = [[0] * columns for _ in range(rows)]
    for r in range(rows):
        for c in range(columns):
            votes = [0.0] * k
            if r > 0:
                votes[grid[r - 1][c]] += strength
            if c > 0:
                votes[grid[r][c - 1]] += strength
            top = max(votes)
            odds = [math.exp(v - top) for v in votes]
            total = sum(odds)
            grid[r][c] = ("colour", r, c) @ ~categorical([o / total for o in odds])
            ("count", r, c) @ ~poisson(rates[grid[r][c]])
    return grid


@gen
def cell_and_colour(trace):
    rows, columns, k = trace.args
    index = ~uniform_discrete(0, rows * columns - 1)
    turn = ~uniform_discrete(1, k - 1)


@transform
def turn_colour(model_in, aux_in, *, model_out, aux_out):
    _, columns, k = model_in.args
    index, turn = read(aux_in["index"], discrete), read(aux_in["turn"], discrete)
    copy(aux_in["index"], aux_out["index"])
    write(aux_out["turn"], k - turn, discrete)
    r, c = divmod(index, columns)
    write(model_out["colour", r, c], (read(model_in["colour", r, c], discrete) + turn) % k, discrete)


@gen
def exchange_colours(trace):
    a = ~uniform_discrete(0, trace.args[2] - 1)
    b = ~uniform_discrete(0, trace.args[2] - 1)


@transform
def exchanged(model_in, aux_in, *, model_out, aux_out):
    """All cells of one colour get the other, and the rates are exchanged: the same picture."""
    copy(aux_in["a"], aux_out["a"])
    copy(aux_in["b"], aux_out["b"])
    a, b = read(aux_in["a"], discrete), read(aux_in["b"], discrete)
    if a == b:
        return
    rows, columns, _ = model_in.args
    copy(model_in["rate", a], model_out["rate", b])
    copy(model_in["rate", b], model_out["rate", a])
    other = {a: b, b: a}
    for r in range(rows):
        for c in range(columns):
            old = read(model_in["colour", r, c], discrete)
            write(model_out["colour", r, c], other.get(old, old), discrete)


@gen
def walk_rates(trace):
    strength = ~gamma(20, trace["strength"] / 20)
    for c in range(trace.args[2]):
        ("rate", c) @ ~gamma(20, trace["rate", c] / 20)


# --- heights: an array, each cell near the mean of those before it ------------------------------------


@gen
def heights(n, m):
    h = np.zeros((n, m))
    rough = ~gamma(3, 0.2)
    for i in range(n):
        for j in range(m):
            if i == 0 and j == 0:
                mean = 0.0
            elif i == 0:
                mean = h[i, j - 1]
            elif j == 0:
                mean = h[i - 1, j]
            else:
                mean = h[i - 1 : i + 1, j - 1 : j + 1].sum() / 3
            h[i, j] = ("h", i, j) @ ~normal(mean, rough)
    smooth = h.copy()
    smooth[1:-1] = (h[:-2] + h[1:-1] + h[2:]) / 3
    for i in range(n):
        for j in range(m):
            ("seen", i, j) @ ~normal(smooth[i, j], 0.3)


@gen
def a_patch(trace):
    n, m = trace.args
    i = ~uniform_discrete(0, n - 2)
    j = ~uniform_discrete(0, m - 2)
    u = ~normal(0, 0.15)
    v = ~normal(0, 0.15)


@transform
def tilt_patch(model_in, aux_in, *, model_out, aux_out):
    """Four cells go up together, and two of them against the other two."""
    i, j = read(aux_in["i"], discrete), read(aux_in["j"], discrete)
    copy(aux_in["i"], aux_out["i"])
    copy(aux_in["j"], aux_out["j"])
    u, v = read(aux_in["u"], continuous), read(aux_in["v"], continuous)
    for di in range(2):
        for dj in range(2):
            cell = i + di, j + dj
            up = u + v if di == dj else u - v
            write(
                model_out["h", cell[0], cell[1]],
                read(model_in["h", cell[0], cell[1]], continuous) + up,
                continuous,
            )
    write(aux_out["u"], -u, continuous)
    write(aux_out["v"], -v, continuous)


@gen
def walk_rough(trace):
    rough = ~gamma(30, trace["rough"] / 30)


def picture(size, rng):
    side = side_of(size)
    half = (np.arange(side) >= side / 2).astype(float)
    return half[:, None] * np.ones(side) + rng.normal(0, 0.4, (side, side))


def seen(size, rng):
    return {("seen", i, j): float(v) for (i, j), v in np.ndenumerate(picture(size, rng))}


MODELS = [
    Model(
        "two_colours",
        two_colours,
        lambda size: (side_of(size),),
        seen,
        lambda size: {"agree": 0.8},
        lambda check=False: cycle(repeat(involutive(a_cell, flip, check=check), 5), mh(walk_agree)),
        [Move(a_cell, flip)],
        size=16,
    ),
    Model(
        "colours",
        colours,
        lambda size: (side_of(size), side_of(size), 3),
        lambda size, rng: {
            ("count", i, j): int(rng.poisson(2 + 5 * max(v, 0.0)))
            for (i, j), v in np.ndenumerate(picture(size, rng))
        },
        lambda size: {"strength": 1.0, "rate": [2.0, 7.0, 3.0]},
        lambda check=False: cycle(
            repeat(involutive(cell_and_colour, turn_colour, check=check), 4),
            involutive(exchange_colours, exchanged, check=check),
            mh(walk_rates),
        ),
        [Move(cell_and_colour, turn_colour), Move(exchange_colours, exchanged)],
        size=16,
    ),
    Model(
        "heights",
        heights,
        lambda size: (side_of(size), side_of(size)),
        seen,
        lambda size: {
            "rough": 0.5,
            "h": {(i, j): 0.5 for i in range(side_of(size)) for j in range(side_of(size))},
        },
        lambda check=False: cycle(repeat(involutive(a_patch, tilt_patch, check=check), 3), mh(walk_rough)),
        [Move(a_patch, tilt_patch)],
        size=16,
    ),
]
