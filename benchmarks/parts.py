"""What a step is made of: scalar choices one by one, and the operations on the model of Figure 1."""

from __future__ import annotations

import math

import figure1
import figure1_numpy as by_hand
import numpy as np
from harness import Row, Scale

from gendsl import gen, normal, select

POINTS = 100
MOST_US = 2


@gen
def normals(n):
    for i in range(n):
        ("x", i) @ ~normal(1.0, 2.0)


def normals_by_hand(n: int, rng: np.random.Generator) -> tuple[list[float], float]:
    """n scalar draws and their log density, in a bare loop."""
    values, score = [], 0.0
    mean, sd = 1.0, 2.0
    for _ in range(n):
        x = rng.normal(mean, sd)
        z = (x - mean) / sd
        score += -0.5 * z * z - math.log(sd) - 0.5 * by_hand.LOG_2PI
        values.append(x)
    return values, score


def generate_by_hand(data: np.ndarray, rng: np.random.Generator) -> by_hand.State:
    """Parameters from the prior, and the log likelihood of the data."""
    k = 1 + int(rng.poisson(1.0))
    means = rng.normal(0.0, 10.0, k).tolist()
    variances = (10.0 / rng.standard_gamma(1.0, k)).tolist()
    weights = rng.dirichlet([2.0] * k).tolist()
    likelihood = by_hand.log_likelihood(data, means, variances, weights)
    return by_hand.State(means, variances, weights, likelihood)


def set_mean_by_hand(state: by_hand.State, mean: float, data: np.ndarray) -> tuple[by_hand.State, float]:
    """The state with another first mean, and the change in log density."""
    means = [mean, *state.means[1:]]
    likelihood = by_hand.log_likelihood(data, means, state.vars, state.weights)
    prior = -0.005 * (mean * mean - state.means[0] * state.means[0])
    return state._replace(means=means, log_likelihood=likelihood), prior + likelihood - state.log_likelihood


def rows(scale: Scale) -> list[Row]:
    """One scalar choice; generate, update and regenerate."""
    rng = np.random.default_rng(1)
    data = figure1.data_points(POINTS, rng)
    state = figure1.start(data)
    trace = figure1.trace_of(state, data)
    n = scale.sizes(1000)[0]
    return [
        Row(
            "simulate and score N scalar choices, each", n, lambda: normals.simulate((n,), rng=rng),
            "bare loop", lambda: normals_by_hand(n, rng), n, most_us=MOST_US,
        ),
        Row(
            "generate Figure 1, N points", POINTS,
            lambda: figure1.model.generate((POINTS,), {"x": data}, rng=rng),
            "NumPy", lambda: generate_by_hand(data, rng),
        ),
        Row(
            "update of one mean of Figure 1, N points", POINTS, lambda: trace.update({("mu", 0): 10.5}),
            "NumPy", lambda: set_mean_by_hand(state, 10.5, data),
        ),
        Row(
            "regenerate of one mean of Figure 1, N points", POINTS,
            lambda: trace.regenerate(select(("mu", 0)), rng=rng),
            "NumPy", lambda: set_mean_by_hand(state, 10.0 * rng.standard_normal(), data),
        ),
    ]  # fmt: skip


GROUPS = {"parts": rows}
