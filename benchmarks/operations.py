"""Operations that a loop of a user's own calls: `simulate`, `generate` and `assess`, with all that a call
takes besides, from the dicts that it is given to the trace that it gives.

The other side is the same by hand, in NumPy where data are independent and in Python where they follow one
another: draws and log densities, without traces, addresses and checks. Of the models of the families it is
what the same call takes today's runtime.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from harness import Line, Row, Scale
from models import families

from gendsl import categorical, gamma, gen, normal
from gendsl.testing import running_on

N = 100
WARM_UP = 1_000
LOG_2PI = math.log(2 * math.pi)
K = 3
MEANS = 3.0 * np.arange(K)
STAY = 0.8


@gen
def regression(xs):
    slope = ~normal(0, 2)
    intercept = ~normal(0, 2)
    noise = ~gamma(2, 1)
    for i in range(len(xs)):
        ("y", i) @ ~normal(intercept + slope * xs[i], noise)
    return slope


@gen
def states(n):
    z, means = 0, [3.0 * j for j in range(K)]
    for t in range(n):
        z = ("z", t) @ ~categorical([STAY if j == z else (1 - STAY) / (K - 1) for j in range(K)])
        ("y", t) @ ~normal(means[z], 1)


def log_normal(x: Any, mean: Any, sd: Any) -> Any:
    z = (x - mean) / sd
    return -0.5 * z * z - np.log(sd) - 0.5 * LOG_2PI


class Regression:
    """The regression by hand."""

    def __init__(self, xs: np.ndarray) -> None:
        self.xs, self.rng = xs, np.random.default_rng(1)

    def prior(self) -> tuple[float, float, float]:
        rng = self.rng
        return 2 * rng.standard_normal(), 2 * rng.standard_normal(), rng.standard_gamma(2.0)

    def simulate(self) -> tuple[Any, ...]:
        slope, intercept, noise = self.prior()
        return slope, intercept, noise, self.rng.normal(intercept + slope * self.xs, noise)

    def log_likelihood(self, slope: float, intercept: float, noise: float, y: np.ndarray) -> float:
        return float(log_normal(y, intercept + slope * self.xs, noise).sum())

    def generate(self, y: np.ndarray) -> tuple[Any, float]:
        prior = self.prior()
        return prior, self.log_likelihood(*prior, y)

    def assess(self, slope: float, intercept: float, noise: float, y: np.ndarray) -> float:
        log_prior = float(log_normal(slope, 0, 2) + log_normal(intercept, 0, 2)) + math.log(noise) - noise
        return log_prior + self.log_likelihood(slope, intercept, noise, y)


class States:
    """The hidden states by hand."""

    def __init__(self, n: int) -> None:
        self.n, self.rng = n, np.random.default_rng(1)
        leave = (1 - STAY) / (K - 1)
        self.rows = [[STAY if j == z else leave for j in range(K)] for z in range(K)]

    def path(self) -> list[int]:
        found, z = [], 0
        for u in self.rng.random(self.n).tolist():
            row, z = self.rows[z], 0
            while z < K - 1 and u >= row[z]:
                u -= row[z]
                z += 1
            found.append(z)
        return found

    def simulate(self) -> tuple[Any, Any]:
        path = self.path()
        return path, self.rng.normal(MEANS[path], 1.0)

    def generate(self, y: np.ndarray) -> tuple[Any, float]:
        path = self.path()
        return path, float(log_normal(y, MEANS[path], 1.0).sum())

    def assess(self, path: list[int], y: np.ndarray) -> float:
        steps = zip([0, *path], path, strict=False)
        return sum(math.log(self.rows[a][b]) for a, b in steps) + float(log_normal(y, MEANS[path], 1.0).sum())


def written(
    name: str, program: Any, args: tuple[Any, ...], hand: Any, rest: Callable[[Any], Any]
) -> Iterator[Row]:
    """The operations on a program, by gendsl and by hand."""
    rng = np.random.default_rng(1)
    trace = program.simulate(args, rng=rng)
    y = np.array(list(trace.choices["y"].values()))
    choices = {path: value for path, value in trace.choices.items() if path[0] != "y"} | {"y": y}
    works: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
        "simulate": (lambda: program.simulate(args, rng=rng), hand.simulate),
        "generate": (lambda: program.generate(args, {"y": y}, rng=rng), lambda: hand.generate(y)),
        "assess": (lambda: program.assess(args, choices), lambda: hand.assess(*rest(trace), y)),
    }
    expected = program.reference.assess(args, choices).log_prob
    assert math.isclose(hand.assess(*rest(trace), y), expected, rel_tol=1e-9)
    for operation, (work, by_hand) in works.items():
        yield Row(f"{operation}: {name}", N, work, "NumPy", by_hand, warm_up=WARM_UP, cpu=True)


def of_families() -> Iterator[Row]:
    """`generate` of each model of the families, with its data and starting values."""
    for models in families().values():
        for model in models:
            size = 5 * model.size
            args, rng = model.args(size), np.random.default_rng(1)
            given, init = dict(model.observations(size, rng)), dict(model.init(size))

            work = partial(model.program.generate, args, given, init=init, rng=1)
            today = partial(by_todays_runtime, work)
            yield Row(f"generate: {model.name}", size, work, "today's", today, warm_up=WARM_UP, cpu=True)


def by_todays_runtime(work: Callable[[], Any]) -> Any:
    """Do some work without machine code."""
    with running_on("compiled"):
        return work()


def rows(scale: Scale) -> list[Row | Line]:
    """Operations on two models against NumPy, and on those of the families against today's runtime."""
    xs = np.linspace(-1.0, 1.0, N)

    def parameters(trace: Any) -> tuple[Any, ...]:
        return trace["slope"], trace["intercept"], trace["noise"]

    def path(trace: Any) -> tuple[Any, ...]:
        return ([trace["z", t] for t in range(N)],)

    return [
        *written("regression", regression, (xs,), Regression(xs), parameters),
        *written("states", states, (N,), States(N), path),
        *(of_families() if scale.round_seconds else ()),
    ]


GROUPS = {"operations": rows}
