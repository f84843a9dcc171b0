"""The split/merge step of the paper's Figure 1, written by hand in NumPy for this one kernel.

This is what gendsl is measured against, so it does what an expert would do: the likelihood is vectorised
over the data, everything else is arithmetic on Python floats, the acceptance ratio is simplified on paper,
the likelihood of the current state is kept, and nothing is computed that the step doesn't need.

The model (variances, not standard deviations, in the mixture):

    k - 1 ~ poisson(1),  mu_j ~ normal(0, 10),  var_j ~ inv_gamma(1, 10),  weights ~ dirichlet([2] * k),
    x_i ~ mixture of normals, i = 0, ..., n - 1.

A split (the only move where k = 1, else chosen with probability 1/2) picks one of the k components, with
weight w, mean mu and variance var, draws u1, u2 ~ beta(2, 2) and u3 ~ beta(1, 1), and leaves two:

    w1 = w u1,                    w2 = w (1 - u1),
    mu1 = mu - u2 sqrt(var w2 / w1),   mu2 = mu + u2 sqrt(var w1 / w2),
    var1 = u3 (1 - u2^2) var w / w1,   var2 = (1 - u3) (1 - u2^2) var w / w2,

the first in the place of the old one, the second as the last. A merge picks one of the others, uniformly, and
merges it with the last by the inverse map.

**The Jacobian of a split**, of (w, mu, var, u1, u2, u3) -> (w1, w2, mu1, mu2, var1, var2). Since w2 / w1 is
(1 - u1) / u1, the means and variances don't depend on w, and the determinant is the product of

- (w, u1) -> (w1, w2):  |u1 (-w) - w (1 - u1)| = w;
- (mu, var, u2, u3) -> (mu1, mu2, var1, var2) at a fixed u1. Write D = u2 sqrt(var) and
  A = (1 - u2^2) var, so that mu1 = mu - D r, mu2 = mu + D / r with r = sqrt((1 - u1) / u1), and
  var1 = u3 A / u1, var2 = (1 - u3) A / (1 - u1). This is a chain of three maps:
    - (var, u2) -> (D, A):  |u2 / (2 sqrt(var)) (-2 u2 var) - sqrt(var) (1 - u2^2)| = sqrt(var);
    - (mu, D) -> (mu1, mu2):  1 / r + r = 1 / sqrt(u1 (1 - u1));
    - (A, u3) -> (var1, var2):  |-u3 A / (u1 (1 - u1)) - (1 - u3) A / (u1 (1 - u1))| = A / (u1 (1 - u1)).

Together

    |det J| = w (1 - u2^2) var^(3/2) / (u1 (1 - u1))^(3/2).

The weights sum to one, and so have one free coordinate less than entries, on both sides. Where k > 1, leave
a weight that the move doesn't touch out of both sides: the determinant is the one above. Where k = 1, the
free coordinates are (mu, var, u1, u2, u3) -> (w1, mu1, mu2, var1, var2), and u1 -> w1 has derivative w = 1:
the determinant is again the one above.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

LOG_2PI = math.log(2.0 * math.pi)
UNDERFLOW = 1e-280  # a density below this has lost digits to the subnormal numbers


class State(NamedTuple):
    """Means, variances and weights of the components, and the log likelihood of the data under them."""

    means: list[float]
    vars: list[float]
    weights: list[float]
    log_likelihood: float


Likelihood = Callable[[np.ndarray, list[float], list[float], list[float]], float]


class Split(NamedTuple):
    """The auxiliary draws of a split: which component, and how to take it apart."""

    component: int
    u1: float
    u2: float
    u3: float


class Merge(NamedTuple):
    """The auxiliary draw of a merge: which component to merge with the last."""

    component: int


def log_likelihood(
    data: np.ndarray, means: list[float], variances: list[float], weights: list[float]
) -> float:
    """Sum over the data of log sum_j w_j exp(-(x - mu_j)^2 / (2 var_j)) / sqrt(2 pi var_j)."""
    parameters = np.array((means, [-0.5 / v for v in variances]))[..., None]
    terms = data - parameters[0]
    terms *= terms
    terms *= parameters[1]
    densities = np.dot([w / math.sqrt(v) for w, v in zip(weights, variances, strict=True)], np.exp(terms))
    if np.minimum.reduce(densities) > UNDERFLOW:
        return float(np.add.reduce(np.log(densities))) - 0.5 * LOG_2PI * len(data)
    terms += np.log(weights)[:, None] - 0.5 * np.log(variances)[:, None]
    top = terms.max(axis=0)
    return float(np.sum(np.log(np.exp(terms - top).sum(axis=0)) + top)) - 0.5 * LOG_2PI * len(data)


def draw_auxiliary(k: int, rng: np.random.Generator) -> Split | Merge:
    """The auxiliary draws of a step from a state of k components."""
    if k == 1 or rng.random() < 0.5:
        return Split(int(k * rng.random()), rng.beta(2.0, 2.0), rng.beta(2.0, 2.0), rng.random())
    return Merge(int((k - 1) * rng.random()))


def log_abs_det_split(w: float, var: float, u1: float, u2: float) -> float:
    """log |det J| of a split, derived above."""
    return math.log(w * (1.0 - u2 * u2)) + 1.5 * math.log(var / (u1 * (1.0 - u1)))


def log_split_ratio(
    k: int,
    w: float,
    mu: float,
    var: float,
    mu1: float,
    mu2: float,
    var1: float,
    var2: float,
    u1: float,
    u2: float,
) -> float:
    """The log acceptance ratio of a split of one of k components, without the likelihood.

    Of the prior, in this order: k, the means, the variances (density 10 v^-2 exp(-10 / v)) and the weights
    (density Gamma(2k) prod w); then the auxiliary draws, log q(merge) - log q(split), where the choice of
    one of k components is on both sides and cancels; then the Jacobian.
    """
    shares = u1 * (1.0 - u1)
    prior = (
        -math.log(k)
        - 0.005 * (mu1 * mu1 + mu2 * mu2 - mu * mu)
        - 0.5 * LOG_2PI
        - 2.0 * math.log(var1 * var2 / var)
        - 10.0 * (1.0 / var1 + 1.0 / var2 - 1.0 / var)
        + math.log(2 * k * (2 * k + 1) * w * shares)
    )
    auxiliary = -math.log((72.0 if k == 1 else 36.0) * shares * u2 * (1.0 - u2))
    return prior + auxiliary + log_abs_det_split(w, var, u1, u2)


def propose_split(
    state: State, auxiliary: Split, data: np.ndarray, likelihood: Likelihood = log_likelihood
) -> tuple[State, float]:
    """The state after a split, and the log acceptance ratio."""
    j, u1, u2, u3 = auxiliary
    mu, var, w = state.means[j], state.vars[j], state.weights[j]
    distance = u2 * math.sqrt(var)
    within = (1.0 - u2 * u2) * var
    odds = math.sqrt((1.0 - u1) / u1)
    mu1, mu2 = mu - distance * odds, mu + distance / odds
    var1, var2 = u3 * within / u1, (1.0 - u3) * within / (1.0 - u1)
    means, variances, weights = [*state.means, mu2], [*state.vars, var2], [*state.weights, w * (1.0 - u1)]
    means[j], variances[j], weights[j] = mu1, var1, w * u1
    new = State(means, variances, weights, likelihood(data, means, variances, weights))
    ratio = log_split_ratio(len(state.means), w, mu, var, mu1, mu2, var1, var2, u1, u2)
    return new, ratio + new.log_likelihood - state.log_likelihood


def propose_merge(
    state: State, auxiliary: Merge, data: np.ndarray, likelihood: Likelihood = log_likelihood
) -> tuple[State, float]:
    """The state after a merge, and the log acceptance ratio.

    A split puts the smaller mean first; a merge of two components in the other order has no reverse.
    """
    j = auxiliary.component
    mu1, mu2 = state.means[j], state.means[-1]
    if mu1 >= mu2:
        return state, -math.inf
    var1, var2 = state.vars[j], state.vars[-1]
    w1, w2 = state.weights[j], state.weights[-1]
    w = w1 + w2
    u1 = w1 / w
    mu = u1 * mu1 + (1.0 - u1) * mu2
    between = (mu2 - mu1) ** 2 * u1 * (1.0 - u1)
    var = u1 * var1 + (1.0 - u1) * var2 + between
    means, variances, weights = state.means[:-1], state.vars[:-1], state.weights[:-1]
    means[j], variances[j], weights[j] = mu, var, w
    new = State(means, variances, weights, likelihood(data, means, variances, weights))
    ratio = log_split_ratio(len(means), w, mu, var, mu1, mu2, var1, var2, u1, math.sqrt(between / var))
    return new, new.log_likelihood - state.log_likelihood - ratio


def propose(
    state: State, auxiliary: Split | Merge, data: np.ndarray, likelihood: Likelihood = log_likelihood
) -> tuple[State, float]:
    """The state that the auxiliary draws lead to, and the log acceptance ratio."""
    if type(auxiliary) is Split:
        return propose_split(state, auxiliary, data, likelihood)
    return propose_merge(state, auxiliary, data, likelihood)


def step(
    state: State, data: np.ndarray, rng: np.random.Generator, likelihood: Likelihood = log_likelihood
) -> tuple[State, float]:
    """One step of the kernel: the next state, and the log acceptance ratio of the proposal."""
    proposal, ratio = propose(state, draw_auxiliary(len(state.means), rng), data, likelihood)
    if ratio >= 0.0 or rng.random() < math.exp(ratio):
        return proposal, ratio
    return state, ratio
