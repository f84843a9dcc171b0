"""Piecewise regression with an unknown number of knots: hinges, interpolation, a design matrix."""

from __future__ import annotations

import math

import numpy as np

from gendsl import (
    bernoulli,
    continuous,
    copy,
    discrete,
    gamma,
    gen,
    half_normal,
    normal,
    poisson,
    product,
    read,
    transform,
    uniform,
    uniform_discrete,
    write,
)
from gendsl.inference import birth_death, cycle, involutive, mh, split_merge

from .model import Model, Move


def bent_line(n, rng, sd=0.3):
    x = np.linspace(0.0, 10.0, n)
    return np.where(x < 4, 0.5 * x, 2.0 - 0.8 * (x - 4)) + rng.normal(0, sd, n)


# --- a line with hinges, in plain loops --------------------------------------------------------------


@gen
def hinges(xs):
    intercept = ~normal(0, 2)
    slope = ~normal(0, 1)
    k = ~uniform_discrete(0, 5)
    knots = [("knot", j) @ ~uniform(0, 10) for j in range(k)]
    bends = [("bend", j) @ ~normal(0, 1) for j in range(k)]
    sd = ~half_normal(1)
    for i, x in enumerate(xs):
        mean = intercept + slope * x
        for knot, bend in zip(knots, bends, strict=True):
            if x > knot:
                mean += bend * (x - knot)
        ("y", i) @ ~normal(mean, sd)


@gen
def new_hinge(trace):
    knot = ~uniform(0, 10)
    bend = ~normal(0, 0.6)


def hinge_births(check=False):
    return birth_death("knot", "bend", propose=new_hinge, most=5, check=check)


@gen
def two_bends(trace, j):
    left = ~gamma(2, 0.4)
    share = ~uniform(0, 1)


def cut_hinge(one, u):
    """The knots are equally far from the old one; the bends add up to the old bend."""
    return (
        {"knot": one["knot"] - u["left"], "bend": one["bend"] * u["share"]},
        {"knot": one["knot"] + u["left"], "bend": one["bend"] * (1 - u["share"])},
    )


def join_hinges(first, second):
    total = first["bend"] + second["bend"]
    half = (second["knot"] - first["knot"]) / 2
    return {"knot": first["knot"] + half, "bend": total}, {"left": half, "share": first["bend"] / total}


def hinge_splits(check=False):
    return split_merge(
        "knot",
        "bend",
        bijection=(cut_hinge, join_hinges),
        auxiliary=two_bends,
        order="knot",
        most=5,
        check=check,
    )


@gen
def walk_line(trace):
    intercept = ~normal(trace["intercept"], 0.1)
    slope = ~normal(trace["slope"], 0.05)
    sd = ~gamma(50, trace["sd"] / 50)


# --- heights at sorted knots, interpolated by NumPy --------------------------------------------------


@gen
def interpolated(x):
    k = ~poisson(1.5)
    inner, last = [], 0.0
    for j in range(k):
        last = ("knot", j) @ ~uniform(last, 10.0)
        inner.append(last)
    heights = np.zeros(k + 2)
    for j in range(k + 2):
        heights[j] = ("height", j) @ ~normal(0, 3)
    curve = np.interp(x, np.array([0.0, *inner, 10.0]), heights)
    for i in range(len(x)):
        ("y", i) @ ~normal(curve[i], 0.4)


@gen
def add_or_remove(trace):
    k = trace["k"]
    add = ~bernoulli(0.5 if k > 0 else 1.0)
    if add:
        gap = ~uniform_discrete(0, k)
        part = ~uniform(0, 1)
        lift = ~normal(0, 0.5)
    else:
        j = ~uniform_discrete(0, k - 1)


def between(left, right, part):
    return left + (right - left) * part


@transform
def knot_added_or_removed(model_in, aux_in, *, model_out, aux_out):
    k = read(model_in["k"], discrete)
    knots = [0.0] + [read(model_in["knot", j], continuous) for j in range(k)] + [10.0]
    if read(aux_in["add"], discrete):
        gap = read(aux_in["gap"], discrete)
        part, lift = read(aux_in["part"], continuous), read(aux_in["lift"], continuous)
        line = between(read(model_in["height", gap]), read(model_in["height", gap + 1]), part)
        write(aux_out["add"], False, discrete)
        write(aux_out["j"], gap, discrete)
        write(model_out["k"], k + 1, discrete)
        write(model_out["knot", gap], between(knots[gap], knots[gap + 1], part), continuous)
        write(model_out["height", gap + 1], line + lift, continuous)
        for j in range(gap, k):
            copy(model_in["knot", j], model_out["knot", j + 1])
        for j in range(gap + 1, k + 2):
            copy(model_in["height", j], model_out["height", j + 1])
        return
    j = read(aux_in["j"], discrete)
    left, middle, right = knots[j : j + 3]
    part = (middle - left) / (right - left)
    line = between(read(model_in["height", j]), read(model_in["height", j + 2]), part)
    write(aux_out["add"], True, discrete)
    write(aux_out["gap"], j, discrete)
    write(aux_out["part"], part, continuous)
    write(aux_out["lift"], read(model_in["height", j + 1]) - line, continuous)
    write(model_out["k"], k - 1, discrete)
    for i in range(j + 1, k):
        copy(model_in["knot", i], model_out["knot", i - 1])
    for i in range(j + 2, k + 2):
        copy(model_in["height", i], model_out["height", i - 1])


@gen
def walk_heights(trace):
    j = 0
    while ("height", j) in trace.choices:
        ("height", j) @ ~normal(trace["height", j], 0.15)
        j += 1


# --- a design matrix of hinges, all points at once ---------------------------------------------------


def design(x, knots):
    columns = [np.ones_like(x), x]
    columns += [np.maximum(x - knot, 0.0) for knot in knots]
    return np.column_stack(columns)


@gen
def least_squares(x):
    k = ~uniform_discrete(0, 3)
    knots = [("knot", j) @ ~uniform(0, 10) for j in range(k)]
    line = [("line", side) @ ~normal(0, 2) for side in ("intercept", "slope")]
    beta = np.array(line + [("beta", j) @ ~normal(0, 1) for j in range(k)])
    log_sd = ~normal(-1, 0.5)
    mean = design(x, knots) @ beta
    y = ~product(normal, mean, np.full(len(x), math.exp(log_sd)))


@gen
def new_column(trace):
    knot = ~uniform(0, 10)
    beta = ~normal(0, 1)


def column_births(check=False):
    return birth_death("knot", "beta", propose=new_column, most=3, check=check)


@gen
def walk_design(trace):
    log_sd = ~normal(trace["log_sd"], 0.1)
    for side in ("intercept", "slope"):
        ("line", side) @ ~normal(trace["line", side], 0.05)


def grid(n):
    return (np.linspace(0.0, 10.0, n),)


MODELS = [
    Model(
        "hinges",
        hinges,
        lambda n: (np.linspace(0.0, 10.0, n).tolist(),),
        lambda n, rng: {"y": bent_line(n, rng)},
        lambda n: {"k": 1, "knot": [4.0], "bend": [-1.2], "intercept": 0.0, "slope": 0.5, "sd": 0.4},
        lambda check=False: cycle(
            hinge_births(check),
            hinge_splits(check),
            mh(walk_line),
        ),
        [Move.of(hinge_births()), Move.of(hinge_splits())],
        size=10,
    ),
    Model(
        "interpolated",
        interpolated,
        grid,
        lambda n, rng: {"y": bent_line(n, rng)},
        lambda n: {"k": 1, "knot": [4.0], "height": [0.0, 2.0, -2.8]},
        lambda check=False: cycle(
            involutive(add_or_remove, knot_added_or_removed, check=check), mh(walk_heights)
        ),
        [Move(add_or_remove, knot_added_or_removed)],
        size=12,
    ),
    Model(
        "least_squares",
        least_squares,
        grid,
        lambda n, rng: {"y": bent_line(n, rng, 0.8)},
        lambda n: {
            "k": 1,
            "knot": [4.0],
            ("line", "intercept"): 0.0,
            ("line", "slope"): 0.5,
            ("beta", 0): -1.2,
        },
        lambda check=False: cycle(column_births(check), mh(walk_design)),
        [Move.of(column_births())],
        size=12,
    ),
]
