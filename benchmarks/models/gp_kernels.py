"""Kernels of Gaussian processes: a recursive grammar of tuples, and a sum of an unknown number of terms."""

from __future__ import annotations

import math

import numpy as np

from gendsl import (
    categorical,
    continuous,
    copy,
    discrete,
    gamma,
    gen,
    log_normal,
    mvnormal,
    normal,
    read,
    select,
    transform,
    uniform_discrete,
    write,
)
from gendsl.inference import birth_death, cycle, involutive, mh

from .model import Model, Move

# --- a grammar: constant, squared exponential, periodic, sum, product ---------------------------------

INNER = [0.1, 0.3, 0.2, 0.2, 0.2]
LEAVES = [0.2, 0.4, 0.4, 0.0, 0.0]


@gen
def expression(depth):
    kind = ~categorical(INNER if depth < 2 else LEAVES)
    if kind == 0:
        return ("constant", "size" @ ~log_normal(0, 0.5))
    elif kind == 1:
        return ("squared", "length" @ ~log_normal(0, 0.7))
    elif kind == 2:
        return ("periodic", "length" @ ~log_normal(0, 0.5), "period" @ ~log_normal(0.7, 0.5))
    left = ~expression(depth + 1)
    right = ~expression(depth + 1)
    return ("sum" if kind == 3 else "product", left, right)


def covariance(tree, s, t):
    match tree:
        case ("constant", size):
            return size
        case ("squared", length):
            return math.exp(-0.5 * ((s - t) / length) ** 2)
        case ("periodic", length, period):
            return math.exp(-2 * (math.sin(math.pi * (s - t) / period) / length) ** 2)
        case ("sum", left, right):
            return covariance(left, s, t) + covariance(right, s, t)
        case (_, left, right):
            return covariance(left, s, t) * covariance(right, s, t)


@gen
def grammar(times):
    tree = ~expression(0)
    noise = ~log_normal(-1, 0.3)
    n = len(times)
    K = [[covariance(tree, s, t) for t in times] for s in times]
    for i in range(n):
        K[i][i] += noise**2 + 1e-6
    y = ~mvnormal([0.0] * n, K)


@gen
def fresh_expression(trace):
    fresh = ~expression(0)


@transform
def exchange_trees(model_in, aux_in, *, model_out, aux_out):
    copy(model_in["tree"], aux_out["fresh"])
    copy(aux_in["fresh"], model_out["tree"])


@transform
def other_operator(model_in, *, model_out):
    """A sum at the root becomes a product, of the two the other way round."""
    kind = read(model_in["tree", "kind"], discrete)
    if kind >= 3:
        write(model_out["tree", "kind"], 7 - kind, discrete)
        copy(model_in["tree", "left"], model_out["tree", "right"])
        copy(model_in["tree", "right"], model_out["tree", "left"])


# --- a sum of terms, in arrays -----------------------------------------------------------------------

MOST = 3


@gen
def terms(t):
    k = ~uniform_discrete(1, MOST)
    distance = t[:, None] - t[None, :]
    K = np.zeros((len(t), len(t)))
    for j in range(k):
        kind = ("kind", j) @ ~uniform_discrete(0, 2)
        amplitude = ("amplitude", j) @ ~gamma(2, 0.5)
        length = ("length", j) @ ~log_normal(0.0, 0.7)
        if kind == 0:
            part = np.exp(-0.5 * (distance / length) ** 2)
        elif kind == 1:
            part = np.exp(-np.abs(distance) / length)
        else:
            part = np.cos(distance / length)
        K = K + amplitude**2 * part
    noise = ~gamma(3, 0.1)
    K[np.diag_indices(len(t))] += noise**2 + 1e-6
    y = ~mvnormal(np.zeros(len(t)), K)


@gen
def new_term(trace):
    kind = ~uniform_discrete(0, 2)
    amplitude = ~gamma(2, 0.5)
    length = ~log_normal(0.0, 0.7)


def term_births(check=False):
    return birth_death("kind", "amplitude", "length", propose=new_term, least=1, most=MOST, check=check)


@gen
def term_and_step(trace):
    j = ~uniform_discrete(0, trace["k"] - 1)
    turn = ~uniform_discrete(0, 2)
    log_length = ~normal(0, 0.3)
    log_amplitude = ~normal(0, 0.3)


@transform
def step_term(model_in, aux_in, *, model_out, aux_out):
    """A term changes its kind, its length and its amplitude."""
    j = read(aux_in["j"], discrete)
    copy(aux_in["j"], aux_out["j"])
    turn = read(aux_in["turn"], discrete)
    write(model_out["kind", j], (read(model_in["kind", j], discrete) + turn) % 3, discrete)
    write(aux_out["turn"], -turn % 3, discrete)
    for name in ("length", "amplitude"):
        u = read(aux_in[f"log_{name}"], continuous)
        write(model_out[name, j], read(model_in[name, j], continuous) * np.exp(u), continuous)
        write(aux_out[f"log_{name}"], -u, continuous)


@gen
def walk_noise(trace):
    noise = ~gamma(20, trace["noise"] / 20)


def smooth(n, rng):
    t = np.linspace(0, 4, n)
    return {"y": np.sin(2 * t) + 0.3 * t + rng.normal(0, 0.3, n)}


MODELS = [
    Model(
        "grammar",
        grammar,
        lambda n: (np.linspace(0, 4, n).tolist(),),
        smooth,
        lambda n: {},
        lambda check=False: cycle(
            involutive(fresh_expression, exchange_trees, check=check),
            involutive(None, other_operator, check=check),
            mh(select("noise")),
        ),
        [Move(fresh_expression, exchange_trees), Move(None, other_operator)],
        size=6,
    ),
    Model(
        "terms",
        terms,
        lambda n: (np.linspace(0, 4, n),),
        smooth,
        lambda n: {"k": 1, "kind": [0], "amplitude": [1.0], "length": [1.0], "noise": 0.3},
        lambda check=False: cycle(
            term_births(check),
            involutive(term_and_step, step_term, check=check),
            mh(walk_noise),
        ),
        [Move.of(term_births()), Move(term_and_step, step_term)],
        size=8,
    ),
]
