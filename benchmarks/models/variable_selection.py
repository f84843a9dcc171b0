"""Which predictors matter: switches with coefficients below, a list of columns, and interactions as pairs."""

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
    inv_gamma,
    normal,
    pair,
    poisson,
    product,
    read,
    transform,
    uniform_discrete,
    write,
)
from gendsl.inference import cycle, involutive, mh, mixture

from .model import Model, Move

PREDICTORS = 5


def predictors(n):
    """The table of predictors, the same at each call."""
    return np.random.default_rng(5).normal(size=(n, PREDICTORS)).round(3)


# --- a dict of coefficients of those that are in -----------------------------------------------------


@gen
def spike_and_slab(rows, p):
    coefficients = {}
    for j in range(p):
        included = ("in", j) @ ~bernoulli(0.3)
        if included:
            coefficients[j] = ("beta", j) @ ~normal(0, 2)
    intercept = ~normal(0, 3)
    variance = ~inv_gamma(3, 2)
    sd = math.sqrt(variance)
    for i, row in enumerate(rows):
        mean = intercept
        for j, b in coefficients.items():
            mean += b * row[j]
        ("y", i) @ ~normal(mean, sd)


@gen
def pick_predictor(trace):
    _, p = trace.args
    j = ~uniform_discrete(0, p - 1)
    if not trace["in", j]:
        value = ~normal(0, 1)


@transform
def toggle(model_in, aux_in, *, model_out, aux_out):
    j = read(aux_in["j"], discrete)
    inside = read(model_in["in", j], discrete)
    write(model_out["in", j], not inside, discrete)
    write(aux_out["j"], j, discrete)
    if inside:
        copy(model_in["beta", j], aux_out["value"])
    else:
        copy(aux_in["value"], model_out["beta", j])


@gen
def pick_two(trace):
    p = trace.args[1]
    first = ~uniform_discrete(0, p - 1)
    second = ~uniform_discrete(0, p - 1)


@transform
def swap(model_in, aux_in, *, model_out, aux_out):
    """Of two predictors of which one is in, the other is in, with minus the coefficient."""
    copy(aux_in["first"], aux_out["first"])
    copy(aux_in["second"], aux_out["second"])
    a, b = read(aux_in["first"], discrete), read(aux_in["second"], discrete)
    inside = (read(model_in["in", a], discrete), read(model_in["in", b], discrete))
    if inside[0] == inside[1]:
        return
    old, new = (a, b) if inside[0] else (b, a)
    write(model_out["in", old], False, discrete)
    write(model_out["in", new], True, discrete)
    write(model_out["beta", new], -read(model_in["beta", old], continuous), continuous)


@gen
def walk_coefficients(trace):
    intercept = ~normal(trace["intercept"], 0.2)
    for j in range(trace.args[1]):
        if trace["in", j]:
            ("beta", j) @ ~normal(trace["beta", j], 0.15)


# --- a list of columns; add and drop are two transforms ----------------------------------------------


@gen
def subset(X):
    n, p = X.shape
    chosen = [j for j in range(p) if (("use", j) @ ~bernoulli(0.4))]
    beta = np.array([("slope", j) @ ~normal(0, 2) for j in chosen])
    mean = X[:, chosen] @ beta if chosen else np.zeros(n)
    sd = ~gamma(3, 0.3)
    y = ~product(normal, mean, np.repeat(sd, n))


def unused(trace):
    return [j for j in range(trace.args[0].shape[1]) if not trace["use", j]]


@gen
def column_and_slope(trace):
    p = trace.args[0].shape[1]
    column = ~uniform_discrete(0, p - 1)
    if trace["use", column]:
        return "drop"
    slope = ~normal(0, 1)
    return "add"


@transform
def add_or_drop(model_in, aux_in, *, model_out, aux_out):
    column = read(aux_in["column"])
    copy(aux_in["column"], aux_out["column"])
    match aux_in.retval:
        case "add":
            write(model_out["use", column], True)
            copy(aux_in["slope"], model_out["slope", column])
        case "drop":
            write(model_out["use", column], False)
            copy(model_in["slope", column], aux_out["slope"])


@gen
def a_factor(trace):
    log_factor = ~gamma(2, 0.05)


@transform
def stretch(model_in, aux_in, *, model_out, aux_out):
    f = math.exp(read(aux_in["log_factor"], continuous))
    copy(aux_in["log_factor"], aux_out["log_factor"])
    for j in range(PREDICTORS):
        if read(model_in["use", j], discrete):
            write(model_out["slope", j], read(model_in["slope", j], continuous) * f, continuous)


@transform
def shrink(model_in, aux_in, *, model_out, aux_out):
    f = math.exp(-read(aux_in["log_factor"], continuous))
    copy(aux_in["log_factor"], aux_out["log_factor"])
    for j in range(PREDICTORS):
        if read(model_in["use", j], discrete):
            write(model_out["slope", j], read(model_in["slope", j], continuous) * f, continuous)


SCALE = pair(stretch, shrink)


# --- interactions of two predictors, counts as outcomes ----------------------------------------------


@gen
def interactions(rows):
    p = 3
    theta = {}
    for a in range(p):
        theta[a, a] = ~normal(0, 0.5)
        for b in range(a + 1, p):
            if ("inter", a, b) @ ~bernoulli(0.2):
                theta[a, b] = ~normal(0, 0.5)
    for i, row in enumerate(rows):
        eta = 0.5
        for (a, b), value in theta.items():
            eta += value * row[a] * (1.0 if a == b else row[b])
        ("count", i) @ ~poisson(math.exp(min(eta, 8.0)))


@gen
def pick_pair(trace):
    a = ~uniform_discrete(0, 1)
    b = ~uniform_discrete(a + 1, 2)
    if not trace["inter", a, b]:
        value = ~normal(0, 0.3)


@transform
def toggle_pair(model_in, aux_in, *, model_out, aux_out):
    a, b = read(aux_in["a"], discrete), read(aux_in["b"], discrete)
    copy(aux_in["a"], aux_out["a"])
    copy(aux_in["b"], aux_out["b"])
    there = read(model_in["inter", a, b], discrete)
    write(model_out["inter", a, b], not there, discrete)
    if there:
        copy(model_in["theta", a, b], aux_out["value"])
    else:
        copy(aux_in["value"], model_out["theta", a, b])


@gen
def walk_main_effects(trace):
    for a in range(3):
        ("theta", a, a) @ ~normal(trace["theta", a, a], 0.15)


def outcomes(n, rng):
    X = predictors(n)
    return {"y": 1.5 * X[:, 0] - X[:, 2] + rng.normal(0, 1, n)}


MODELS = [
    Model(
        "spike_and_slab",
        spike_and_slab,
        lambda n: (predictors(n).tolist(), PREDICTORS),
        outcomes,
        lambda n: {
            "in": [True, False, True, False, False],
            ("beta", 0): 1.5,
            ("beta", 2): -1.0,
            "variance": 1.0,
        },
        lambda check=False: cycle(
            mixture(
                [involutive(pick_predictor, toggle, check=check), involutive(pick_two, swap, check=check)],
                [0.7, 0.3],
            ),
            mh(walk_coefficients),
        ),
        [Move(pick_predictor, toggle), Move(pick_two, swap)],
        size=8,
    ),
    Model(
        "subset",
        subset,
        lambda n: (predictors(n),),
        outcomes,
        lambda n: {
            "use": [True, False, True, False, False],
            ("slope", 0): 1.5,
            ("slope", 2): -1.0,
            "sd": 1.0,
        },
        lambda check=False: cycle(
            involutive(column_and_slope, add_or_drop, check=check),
            involutive(a_factor, SCALE, check=check, name="scale"),
        ),
        [Move(column_and_slope, add_or_drop), Move(a_factor, SCALE)],
        size=8,
    ),
    Model(
        "interactions",
        interactions,
        lambda n: (predictors(n)[:, :3].tolist(),),
        lambda n, rng: {"count": rng.poisson(np.exp(0.5 + 0.4 * predictors(n)[:, 0]))},
        lambda n: {"theta": {(0, 0): 0.4, (1, 1): 0.0, (2, 2): 0.0}},
        lambda check=False: cycle(involutive(pick_pair, toggle_pair, check=check), mh(walk_main_effects)),
        [Move(pick_pair, toggle_pair)],
        size=10,
    ),
]
