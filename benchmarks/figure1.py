"""The split/merge move of the paper's Figure 1 as gendsl programs, and states of it to measure from."""

from __future__ import annotations

import math

import numpy as np
from figure1_numpy import State, log_likelihood, step

from gendsl import (
    Trace,
    bernoulli,
    beta,
    continuous,
    dirichlet,
    discrete,
    gen,
    inv_gamma,
    mixture_of_normals,
    normal,
    poisson,
    read,
    transform,
    uniform_discrete,
    write,
)


@gen
def model(n):
    k = ~(1 + poisson(1))
    means = [("mu", j) @ ~normal(0, 10) for j in range(k)]
    variances = [("var", j) @ ~inv_gamma(1, 10) for j in range(k)]
    weights = ~dirichlet([2.0] * k)
    for i in range(n):
        ("x", i) @ ~mixture_of_normals(weights, means, variances)


@gen
def q(trace):
    k = trace["k"]
    split = ~bernoulli(1.0 if k == 1 else 0.5)
    if split:
        cluster_to_split = ~uniform_discrete(0, k - 1)
        u1 = ~beta(2, 2)
        u2 = ~beta(2, 2)
        u3 = ~beta(1, 1)
    else:
        cluster_to_merge = ~uniform_discrete(0, k - 2)


@transform
def f(model_in, aux_in, *, model_out, aux_out):
    k = read(model_in["k"], discrete)
    w = read(model_in["weights"], continuous)
    split = read(aux_in["split"], discrete)
    write(aux_out["split"], not split, discrete)
    if split:
        j = read(aux_in["cluster_to_split"], discrete)
        write(model_out["k"], k + 1, discrete)
        write(aux_out["cluster_to_merge"], j, discrete)
        u1, u2, u3 = (read(aux_in[u], continuous) for u in ("u1", "u2", "u3"))
        mu, var = read(model_in["mu", j], continuous), read(model_in["var", j], continuous)
        w1, w2 = w[j] * u1, w[j] * (1 - u1)
        write(model_out["weights"], [*w[:j], w1, *w[j + 1 :], w2], continuous)
        write(model_out["mu", j], mu - u2 * math.sqrt(var * w2 / w1), continuous)
        write(model_out["mu", k], mu + u2 * math.sqrt(var * w1 / w2), continuous)
        write(model_out["var", j], u3 * (1 - u2**2) * var * (w1 + w2) / w1, continuous)
        write(model_out["var", k], (1 - u3) * (1 - u2**2) * var * (w1 + w2) / w2, continuous)
    else:
        j = read(aux_in["cluster_to_merge"], discrete)
        write(model_out["k"], k - 1, discrete)
        write(aux_out["cluster_to_split"], j, discrete)
        mu1, var1 = read(model_in["mu", j], continuous), read(model_in["var", j], continuous)
        mu2, var2 = read(model_in["mu", k - 1], continuous), read(model_in["var", k - 1], continuous)
        w1, w2 = w[j], w[k - 1]
        total = w1 + w2
        mu = (w1 * mu1 + w2 * mu2) / total
        var = (w1 * (mu1**2 + var1) + w2 * (mu2**2 + var2)) / total - mu**2
        u2 = (mu - mu1) / math.sqrt(var * w2 / w1)
        write(aux_out["u1"], w1 / total, continuous)
        write(aux_out["u2"], u2, continuous)
        write(aux_out["u3"], var1 * w1 / ((1 - u2**2) * var * total), continuous)
        write(model_out["weights"], [*w[:j], total, *w[j + 1 : k - 1]], continuous)
        write(model_out["mu", j], mu, continuous)
        write(model_out["var", j], var, continuous)


def data_points(n: int, rng: np.random.Generator) -> np.ndarray:
    """n points from three normals that overlap a little, like the galaxies'."""
    centres = rng.choice([10.0, 20.0, 26.0], size=n, p=[0.2, 0.5, 0.3])
    return centres + 2.0 * rng.standard_normal(n)


def start(data: np.ndarray) -> State:
    """A state of three components near those of `data_points`."""
    means, variances, weights = [10.0, 20.0, 26.0], [4.0, 4.0, 4.0], [0.2, 0.5, 0.3]
    return State(means, variances, weights, log_likelihood(data, means, variances, weights))


def chain_states(data: np.ndarray, n: int, thin: int, rng: np.random.Generator) -> list[State]:
    """n states of a chain of split/merge steps, `thin` steps apart."""
    state = start(data)
    states = []
    for _ in range(n):
        for _ in range(thin):
            state, _ = step(state, data, rng)
        states.append(state)
    return states


def trace_of(state: State, data: np.ndarray) -> Trace:
    """The model's trace with the parameters of a state, the data observed."""
    k = len(state.means)
    init = {
        "k": k,
        "mu": dict(enumerate(state.means)),
        "var": dict(enumerate(state.vars)),
        "weights": np.array(state.weights),
    }
    return model.generate((len(data),), {"x": data}, init=init).trace


def state_of(trace: Trace, data: np.ndarray) -> State:
    """The parameters in a trace, with their log likelihood."""
    k = trace["k"]
    means, variances = ([trace[name, j] for j in range(k)] for name in ("mu", "var"))
    weights = trace["weights"].tolist()
    return State(means, variances, weights, log_likelihood(data, means, variances, weights))
