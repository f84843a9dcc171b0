"""Plates of N observations that all depend on one parameter: one vectorised call, and little memory."""

from __future__ import annotations

import gc
import math
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
from harness import Line, Row, Scale

from gendsl import gen, normal

LOG_2PI = math.log(2.0 * math.pi)
MOST_BYTES = 40


@gen
def observations(n):
    mu = ~normal(0, 10)
    for i in range(n):
        ("x", i) @ ~normal(mu, 2)


@gen
def regression(xs):
    intercept = ~normal(0, 10)
    slope = ~normal(0, 10)
    for i, x in enumerate(xs):
        ("y", i) @ ~normal(intercept + slope * x, 2)


@gen
def several_regressors(rows):
    beta = np.array([("beta", j) @ ~normal(0, 10) for j in range(rows.shape[1])])
    for i in range(len(rows)):
        ("y", i) @ ~normal(rows[i] @ beta, 2)


def log_normal_density(x: np.ndarray, mean: Any, sd: float) -> float:
    """The vectorised expression: the sum of the log densities of x."""
    return -0.5 * float(np.sum(((x - mean) / sd) ** 2)) - len(x) * (math.log(sd) + 0.5 * LOG_2PI)


def log_prior(x: float) -> float:
    """log normal(0, 10) at x."""
    return -0.005 * x * x - math.log(10.0) - 0.5 * LOG_2PI


def shared_parameter(scale: Scale) -> list[Row]:
    """Another value for what all observations depend on."""
    means, slopes, coefficients = [], [], []
    for n in scale.sizes(100, 1000, 10_000, 100_000, 1_000_000):
        rng = np.random.default_rng(n)
        xs, noise = rng.standard_normal(n), 2.0 * rng.standard_normal(n)
        most = 1.2 if n >= 100_000 else None

        trace = observations.generate((n,), {"x": noise}, init={"mu": 0.0}).trace
        means.append(
            Row(
                "update of the mean of N observations", n, lambda trace=trace: trace.update({"mu": 0.1}),
                "NumPy", lambda x=noise: log_normal_density(x, 0.1, 2.0) + log_prior(0.1), most_ratio=most,
            )
        )  # fmt: skip

        y = 1.0 + 2.0 * xs + noise
        start = {"intercept": 1.0, "slope": 2.0}
        line = regression.generate((xs,), {"y": y}, init=start).trace
        slopes.append(
            Row(
                "update of the slope of N observations", n, lambda line=line: line.update({"slope": 2.1}),
                "NumPy", lambda y=y, xs=xs: log_normal_density(y, 1.0 + 2.1 * xs, 2.0) + log_prior(2.1),
                most_ratio=most,
            )
        )  # fmt: skip

        table, beta = rng.standard_normal((n, 3)), np.array([1.0, 2.1, -1.0])
        start = {"beta": {0: 1.0, 1: 2.0, 2: -1.0}}
        several = several_regressors.generate((table,), {"y": table @ beta + noise}, init=start).trace
        data = table @ beta + noise
        coefficients.append(
            Row(
                "update of one of three coefficients, N rows", n,
                lambda several=several: several.update({("beta", 1): 2.1}), "NumPy",
                lambda y=data, x=table, b=beta: log_normal_density(y, x @ b, 2.0) + log_prior(2.1),
                most_ratio=most,
            )
        )  # fmt: skip
    return [*means, *slopes, *coefficients]


# --- a million at once -----------------------------------------------------------------------------


def sample_and_score(n: int, rng: np.random.Generator) -> tuple[float, np.ndarray, float]:
    """A draw of the model by hand, and its log density."""
    mu = rng.normal(0.0, 10.0)
    x = rng.normal(mu, 2.0, n)
    return mu, x, log_normal_density(x, mu, 2.0) + log_prior(mu)


def copy_and_score(data: np.ndarray, rng: np.random.Generator) -> tuple[float, np.ndarray, float]:
    """A mean from the prior with data that are given, and the log density."""
    mu, x = rng.normal(0.0, 10.0), data.copy()
    return mu, x, log_normal_density(x, mu, 2.0) + log_prior(mu)


def whole_plate(scale: Scale) -> list[Row]:
    """simulate, and generate with the observations given."""
    rows = []
    for n in scale.sizes(1000, 1_000_000):
        rng = np.random.default_rng(n)
        data = rng.normal(1.0, 2.0, n)
        most = 3.0 if n == 1_000_000 else None

        def simulate(n=n, rng=rng):
            return observations.simulate((n,), rng=rng)

        def generate(n=n, rng=rng, data=data):
            return observations.generate((n,), {"x": data}, rng=rng)

        def sample_by_hand(n=n, rng=rng):
            return sample_and_score(n, rng)

        def score_by_hand(rng=rng, data=data):
            return copy_and_score(data, rng)

        rows += [
            Row("simulate a plate of N", n, simulate, "sample, score", sample_by_hand, most_ratio=most),
            Row("generate a plate of N", n, generate, "sample, score", sample_by_hand, most_ratio=most),
            Row("generate a plate of N", n, generate, "copy, score", score_by_hand),
        ]
    return rows


def bytes_kept(make: Callable[[], Any]) -> int:
    """The memory that the result of a call holds on to."""
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        kept = make()
        gc.collect()
        after = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    del kept
    return after - before


def memory(scale: Scale) -> list[Line]:
    """Bytes for each choice of a plate in a trace; NumPy's array of floats takes 8."""
    n = scale.sizes(1_000_000)[0]
    data = np.random.default_rng(1).normal(1.0, 2.0, n)
    observations.simulate((10,), rng=1)  # what is compiled at the first call is not kept by a trace

    def line(how: str, make: Callable[[], Any]) -> Line:
        each = bytes_kept(make) / n
        return Line(
            f"bytes kept per choice, {how}", n, value=f"{each:.3g} B",
            limit=f"<= {MOST_BYTES} B", ok=each <= MOST_BYTES,
        )  # fmt: skip

    return [
        line("simulate", lambda: observations.simulate((n,), rng=1)),
        line("generate", lambda: observations.generate((n,), {"x": data}, rng=1)),
    ]


GROUPS = {"shared-parameter": shared_parameter, "whole-plate": whole_plate, "memory": memory}
