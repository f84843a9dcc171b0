"""Autoregressions, written as they generate: an unknown order, moving averages, volatility with feedback."""

from __future__ import annotations

import math

import numpy as np

from gendsl import (
    bernoulli,
    beta,
    continuous,
    copy,
    discrete,
    exponential,
    gamma,
    gen,
    normal,
    pair,
    read,
    select,
    student_t,
    transform,
    uniform,
    uniform_discrete,
    write,
)
from gendsl.inference import birth_death, cycle, involutive, mh

from .model import Model, Move


def series(n, rng):
    """An autoregression of order 2."""
    y = [0.0, 0.0]
    for _ in range(n):
        y.append(0.6 * y[-1] - 0.3 * y[-2] + float(rng.normal(0, 0.7)))
    return {"y": y[2:]}


# --- how far back? -----------------------------------------------------------------------------------


@gen
def unknown_order(n):
    order = ~uniform_discrete(0, 4)
    phi = [("phi", lag) @ ~normal(0, 0.5) for lag in range(order)]
    sd = ~gamma(4, 0.2)
    past = []
    for t in range(n):
        mean = 0.0
        for lag, coefficient in enumerate(phi, start=1):
            if lag <= len(past):
                mean += coefficient * past[-lag]
        past.append(("y", t) @ ~normal(mean, sd))


@gen
def one_more_lag(trace):
    phi = ~normal(0, 0.3)


def lags(check=False):
    return birth_death("phi", propose=one_more_lag, number="order", most=4, insert="last", check=check)


@gen
def walk_phi(trace):
    sd = ~gamma(30, trace["sd"] / 30)
    for lag in range(trace["order"]):
        ("phi", lag) @ ~normal(trace["phi", lag], 0.1)


# --- an autoregression with a moving average, with or without either ----------------------------------


@gen
def arma(n):
    has_ar = ~bernoulli(0.5)
    has_ma = ~bernoulli(0.5)
    phi = ("phi" @ ~uniform(-1, 1)) if has_ar else 0.0
    theta = ("theta" @ ~uniform(-1, 1)) if has_ma else 0.0
    mu = ~normal(0, 1)
    sigma = ~gamma(4, 0.2)
    y_before, error = mu, 0.0
    for t in range(n):
        mean = mu + phi * (y_before - mu) + theta * error
        y = ("y", t) @ ~normal(mean, sigma)
        error = y - mean
        y_before = y


@gen
def which_part(trace):
    ma = ~bernoulli(0.5)
    if not trace["has_ma" if ma else "has_ar"]:
        u = ~uniform(-1, 1)


@transform
def switch_part(model_in, aux_in, *, model_out, aux_out):
    copy(aux_in["ma"], aux_out["ma"])
    part = "ma" if read(aux_in["ma"], discrete) else "ar"
    name = {"ma": "theta", "ar": "phi"}[part]
    has = read(model_in["has_" + part], discrete)
    write(model_out["has_" + part], not has, discrete)
    if has:
        copy(model_in[name], aux_out["u"])
    else:
        copy(aux_in["u"], model_out[name])


@transform
def exchange_parts(model_in, *, model_out):
    """What is an autoregression becomes a moving average."""
    ar, ma = read(model_in["has_ar"], discrete), read(model_in["has_ma"], discrete)
    write(model_out["has_ar"], ma, discrete)
    write(model_out["has_ma"], ar, discrete)
    if ar:
        copy(model_in["phi"], model_out["theta"])
    if ma:
        copy(model_in["theta"], model_out["phi"])


@gen
def walk_arma(trace):
    mu = ~normal(trace["mu"], 0.1)
    sigma = ~gamma(30, trace["sigma"] / 30)


# --- volatility that feeds on itself (GARCH), with normal or Student errors -----------------------------


@gen
def garch(returns_before, n):
    omega = ~exponential(5)
    a = ~beta(2, 8)
    b = ~beta(8, 2)
    heavy = ~bernoulli(0.5)
    df = 2 + ("df" @ ~gamma(2, 4)) if heavy else math.inf
    variance = sum(r * r for r in returns_before) / len(returns_before)
    last = returns_before[-1]
    for t in range(n):
        variance = omega + a * last**2 + b * variance
        scale = math.sqrt(variance)
        if df == math.inf:
            last = ("r", t) @ ~normal(0, scale)
        else:
            last = ("r", t) @ ~student_t(df, 0, scale)


@gen
def new_tail(trace):
    if not trace["heavy"]:
        extra = ~gamma(2, 4)


@transform
def toggle_tail(model_in, aux_in, *, model_out, aux_out):
    if read(model_in["heavy"]):
        write(model_out["heavy"], False)
        copy(model_in["df"], aux_out["extra"])
    else:
        write(model_out["heavy"], True)
        copy(aux_in["extra"], model_out["df"])


@gen
def how_much(trace):
    share = ~uniform(0, 0.3)


@transform
def from_a_to_b(model_in, aux_in, *, model_out, aux_out):
    """The odds of a fall and those of b rise, by one factor."""
    u = read(aux_in["share"], continuous)
    copy(aux_in["share"], aux_out["share"])
    for name, sign in (("a", -1), ("b", 1)):
        x = read(model_in[name], continuous)
        odds = x / (1 - x) * math.exp(sign * u)
        write(model_out[name], odds / (1 + odds), continuous)


@transform
def from_b_to_a(model_in, aux_in, *, model_out, aux_out):
    """The inverse."""
    u = read(aux_in["share"], continuous)
    copy(aux_in["share"], aux_out["share"])
    for name, sign in (("a", 1), ("b", -1)):
        x = read(model_in[name], continuous)
        odds = x / (1 - x) * math.exp(sign * u)
        write(model_out[name], odds / (1 + odds), continuous)


TRADE = pair(from_a_to_b, from_b_to_a)

MODELS = [
    Model(
        "unknown_order",
        unknown_order,
        lambda n: (n,),
        series,
        lambda n: {"order": 1, "phi": [0.5], "sd": 0.8},
        lambda check=False: cycle(lags(check), mh(walk_phi)),
        [Move.of(lags())],
    ),
    Model(
        "arma",
        arma,
        lambda n: (n,),
        series,
        lambda n: {"has_ar": True, "has_ma": False, "phi": 0.5, "mu": 0.0, "sigma": 0.8},
        lambda check=False: cycle(
            involutive(which_part, switch_part, check=check),
            involutive(None, exchange_parts, check=check),
            mh(walk_arma),
        ),
        [Move(which_part, switch_part), Move(None, exchange_parts)],
    ),
    Model(
        "garch",
        garch,
        lambda n: ((0.5, -0.7, 0.4), n),
        lambda n, rng: {"r": rng.normal(0, np.where(np.arange(n) % 10 < 5, 0.4, 1.2))},
        lambda n: {"omega": 0.1, "a": 0.2, "b": 0.7, "heavy": False},
        lambda check=False: cycle(
            involutive(new_tail, toggle_tail, check=check),
            involutive(how_much, TRADE, check=check),
            mh(select("omega")),
        ),
        [Move(new_tail, toggle_tail), Move(how_much, TRADE)],
    ),
]
