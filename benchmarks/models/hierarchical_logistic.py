"""Logistic regression with groups: varying intercepts, slopes that are shared or not, and arrays."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import expit

from gendsl import (
    bernoulli,
    binom,
    continuous,
    discrete,
    gamma,
    gen,
    half_cauchy,
    half_normal,
    mvnormal,
    normal,
    product,
    read,
    select,
    transform,
    write,
)
from gendsl.inference import cycle, involutive, mh, repeat

from .model import Model, Move

GROUPS = 4


def covariates(n):
    """A number and a group for each of n subjects, the same at each call."""
    rng = np.random.default_rng(3)
    return rng.normal(size=n).round(3), rng.integers(GROUPS, size=n)


def sigmoid(eta):
    if eta >= 0:
        return 1 / (1 + math.exp(-eta))
    e = math.exp(eta)
    return e / (1 + e)


# --- an intercept for each group ---------------------------------------------------------------------


@gen
def varying_intercepts(x, group):
    mean = ~normal(0, 1.5)
    spread = ~half_normal(1)
    slope = ~normal(0, 1)
    alpha = [("alpha", g) @ ~normal(mean, spread) for g in range(GROUPS)]
    for i in range(len(x)):
        eta = alpha[group[i]] + slope * x[i]
        ("y", i) @ ~bernoulli(sigmoid(eta))


@gen
def walk_spread(trace):
    spread = ~gamma(10, trace["spread"] / 10)


@gen
def shift_by(trace):
    shift = ~normal(0, 0.4)


@transform
def shift_all(model_in, aux_in, *, model_out, aux_out):
    """The mean and all intercepts move together."""
    shift = read(aux_in["shift"], continuous)
    write(aux_out["shift"], -shift, continuous)
    write(model_out["mean"], read(model_in["mean"], continuous) + shift, continuous)
    for g in range(GROUPS):
        write(model_out["alpha", g], read(model_in["alpha", g], continuous) + shift, continuous)


# --- one slope for all, or one for each group? -------------------------------------------------------


def group_of_names(n):
    return ["abcd"[g] for g in covariates(n)[1]]


@gen
def pooled_or_not(data):
    pooled = ~bernoulli(0.5)
    base = ~normal(0, 1)
    if pooled:
        slopes = dict.fromkeys("abcd", ("slope", "all") @ ~normal(0, 1))
    else:
        slopes = {name: ("slope", name) @ ~normal(0, 1) for name in "abcd"}
    for i, (x, name) in enumerate(data):
        p = sigmoid(base + slopes[name] * x)
        ("y", i) @ ~bernoulli(p)


@gen
def offsets(trace):
    if trace["pooled"]:
        d = [("d", i) @ ~normal(0, 0.5) for i in range(3)]


@transform
def pool(model_in, aux_in, *, model_out, aux_out):
    """The slope of all is the mean of the groups' slopes; the offsets are those of the first three."""
    if read(model_in["pooled"], discrete):
        write(model_out["pooled"], False, discrete)
        slope = read(model_in["slope", "all"], continuous)
        rest = 0.0
        for i, name in enumerate("abc"):
            d = read(aux_in["d", i], continuous)
            write(model_out["slope", name], slope + d, continuous)
            rest += d
        write(model_out["slope", "d"], slope - rest, continuous)
    else:
        write(model_out["pooled"], True, discrete)
        own = [read(model_in["slope", name], continuous) for name in "abcd"]
        slope = sum(own) / 4
        write(model_out["slope", "all"], slope, continuous)
        for i in range(3):
            write(aux_out["d", i], own[i] - slope, continuous)


@gen
def walk_base(trace):
    base = ~normal(trace["base"], 0.4)
    if trace["pooled"]:
        ("slope", "all") @ ~normal(trace["slope", "all"], 0.4)


# --- arrays: several coefficients, trials, all outcomes at once --------------------------------------


@gen
def arrays(X, group, trials):
    _, p = X.shape
    beta = ~mvnormal(np.zeros(p), np.eye(p))
    tau = ~half_cauchy(1)
    raw = np.empty(GROUPS)
    for g in range(GROUPS):
        raw[g] = ("raw", g) @ ~normal(0, 1)
    eta = X @ beta + (tau * raw)[group]
    y = ~product(binom, trials, expit(eta))


@gen
def step_of_beta(trace):
    step = ~mvnormal(np.zeros(2), 0.1 * np.eye(2))
    log_tau = ~normal(0, 0.3)


@transform
def step_beta(model_in, aux_in, *, model_out, aux_out):
    step, factor = read(aux_in["step"], continuous), read(aux_in["log_tau"], continuous)
    write(model_out["beta"], read(model_in["beta"], continuous) + step, continuous)
    write(model_out["tau"], read(model_in["tau"], continuous) * np.exp(factor), continuous)
    write(aux_out["step"], -step, continuous)
    write(aux_out["log_tau"], -factor, continuous)


def design(n):
    x, group = covariates(n)
    return np.column_stack([np.ones(n), x]), group, np.full(n, 3)


def outcomes(n, rng):
    x, group = covariates(n)
    return {"y": rng.random(n) < expit(0.5 + x + 0.5 * (group - 1.5))}


MODELS = [
    Model(
        "varying_intercepts",
        varying_intercepts,
        lambda n: tuple(v.tolist() for v in covariates(n)),
        outcomes,
        lambda n: {"spread": 0.7},
        lambda check=False: cycle(
            mh(walk_spread),
            mh(select("slope")),
            involutive(shift_by, shift_all, check=check),
            mh(select(("alpha", 0), ("alpha", 1))),
            mh(select(("alpha", 2), ("alpha", 3))),
        ),
        [Move(shift_by, shift_all)],
    ),
    Model(
        "pooled_or_not",
        pooled_or_not,
        lambda n: (list(zip(covariates(n)[0].tolist(), group_of_names(n), strict=True)),),
        outcomes,
        lambda n: {"pooled": True, ("slope", "all"): 1.0, "base": 0.5},
        lambda check=False: cycle(involutive(offsets, pool, check=check), repeat(mh(walk_base), 2)),
        [Move(offsets, pool)],
    ),
    Model(
        "arrays",
        arrays,
        design,
        lambda n, rng: {"y": rng.binomial(3, expit(0.5 + covariates(n)[0]))},
        lambda n: {"beta": [0.5, 1.0], "tau": 0.5, "raw": [0.0] * GROUPS},
        lambda check=False: cycle(involutive(step_of_beta, step_beta, check=check), mh(select("raw"))),
        [Move(step_of_beta, step_beta)],
        size=12,
    ),
]
