"""Measure gendsl against hand-written NumPy on the same work, and print one table of ratios.

    python benchmarks/run.py            # half a minute
    python benchmarks/run.py --quick    # a few seconds, rough numbers

Every row is measured in this run. gendsl and its reference take turns, round by round, so that what else
the machine does falls on both; each time is the least of its rounds, for one unit of the work (one step, one
choice), and the ratio is that of the two.
"""

from __future__ import annotations

import argparse
import math
import platform
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import autograd
import autograd.numpy as anp
import figure1
import figure1_numpy as by_hand
import numpy as np

from gendsl import gen, involutive_mcmc, normal, select
from gendsl.transforms.apply import image, output_values, run_transform
from gendsl.transforms.forward import Dual
from gendsl.transforms.functions import lifted
from gendsl.transforms.jacobian import log_abs_det

POINTS = 100
CHOICES = 1000
SQRT = lifted(math.sqrt)


class Row(NamedTuple):
    """A line of the table.

    Attributes:
        work: what is measured.
        gendsl: the work done by gendsl.
        reference_name: what does the work in comparison.
        reference: the same work done by it.
        units: how many units of work (random choices, steps, ...) a call of either does.
        target: what gendsl's time for one unit should be.
    """

    work: str
    gendsl: Callable[[], Any]
    reference_name: str
    reference: Callable[[], Any]
    units: int = 1
    target: str = "-"


# --- simulate and score scalar choices -------------------------------------------------------------


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


def scalar_rows(rng: np.random.Generator) -> list[Row]:
    """The cost of one scalar choice."""
    return [
        Row(
            f"simulate and score, per scalar choice of {CHOICES}",
            lambda: normals.simulate((CHOICES,), rng=rng),
            "bare loop",
            lambda: normals_by_hand(CHOICES, rng),
            CHOICES,
            "<= 2 us",
        )
    ]


# --- the Figure 1 step -----------------------------------------------------------------------------


def step_rows(data: np.ndarray, states: list[by_hand.State], rng: np.random.Generator) -> list[Row]:
    """One split/merge step from each of the same states, which a chain visited."""
    traces = [figure1.trace_of(state, data) for state in states]

    def steps(check: bool) -> None:
        for trace in traces:
            involutive_mcmc(trace, figure1.q, (), figure1.f, check=check, rng=rng)

    def steps_by_hand() -> None:
        for state in states:
            by_hand.step(state, data, rng)

    n = len(states)
    title = f"Figure 1 step at {len(data)} points"
    return [
        Row(title, lambda: steps(False), "NumPy step", steps_by_hand, n, "<= 500 us"),
        Row(f"{title}, check=True", lambda: steps(True), "unchecked", lambda: steps(False), n),
    ]


# --- Jacobians -------------------------------------------------------------------------------------


def split_map(v: Any, k: int, sqrt: Callable[[Any], Any]) -> list[Any]:
    """A split of component 0 of k in free coordinates.

    (k-1 weights, mu, var, u1, u2, u3) -> (k weights, 2 means, 2 variances); the weight that is left out on
    the way in is one that stays, and so are the k-2 others.
    """
    w, (mu, var, u1, u2, u3) = v[0], v[k - 1 :]
    w1, w2 = w * u1, w * (1 - u1)
    return [
        w1,
        w2,
        *v[1 : k - 1],
        mu - u2 * sqrt(var * w2 / w1),
        mu + u2 * sqrt(var * w1 / w2),
        u3 * (1 - u2**2) * var * (w1 + w2) / w1,
        (1 - u3) * (1 - u2**2) * var * (w1 + w2) / w2,
    ]


def jacobian_rows(k: int) -> list[Row]:
    """The Jacobian of a split of component 0 of k: of the map alone, and as a step takes it."""
    k_weights = [0.3, *[0.7 / (k - 1)] * (k - 1)]
    state = by_hand.State([float(j) for j in range(k)], [2.0] * k, k_weights, 0.0)
    trace = figure1.trace_of(state, np.array([]))
    draws = {"u1": 0.4, "u2": 0.3, "u3": 0.6}
    aux = figure1.q.generate((trace,), init={"split": True, "cluster_to_split": 0, **draws}).trace
    there = image(figure1.f, trace, figure1.q, (), aux)
    records = [there.trace.records, there.aux.records]
    point = [*k_weights[: k - 1], state.means[0], state.vars[0], *draws.values()]
    size = len(point)

    def forward() -> np.ndarray:
        seeds = [Dual(x, {i: 1.0}) for i, x in enumerate(point)]
        matrix = np.zeros((size, size))
        for row, entry in enumerate(split_map(seeds, k, SQRT)):
            for column, derivative in entry.tangent.items():
                matrix[row, column] = derivative
        return matrix

    def by_autograd() -> np.ndarray:
        return autograd.jacobian(lambda v: anp.array(split_map(v, k, anp.sqrt)))(np.array(point))

    def transform() -> float:
        run = run_transform(figure1.f, trace, aux, ())
        for output in run.outputs:
            output_values(output)
        return log_abs_det(run, records, {})

    def transform_by_autograd() -> float:
        return float(np.linalg.slogdet(by_autograd())[1])

    if not np.allclose(forward(), by_autograd(), rtol=1e-12):
        raise AssertionError("forward mode and autograd give two Jacobians")
    if not abs(transform() - transform_by_autograd()) < 1e-10:
        raise AssertionError(f"the log determinants differ: {transform()} and {transform_by_autograd()}")
    return [
        Row(f"{size}x{size} Jacobian", forward, "autograd.jacobian", by_autograd, target="15 to 30 us"),
        Row(
            f"run of the transform with its {size}x{size} log |det J|",
            transform,
            "autograd.jacobian, slogdet",
            transform_by_autograd,
        ),
    ]


# --- operations on the model -----------------------------------------------------------------------


def generate_by_hand(data: np.ndarray, rng: np.random.Generator) -> by_hand.State:
    """Parameters from the prior, and the log likelihood of the data."""
    k = 1 + int(rng.poisson(1.0))
    means = rng.normal(0.0, 10.0, k).tolist()
    variances = (10.0 / rng.standard_gamma(1.0, k)).tolist()
    weights = rng.dirichlet([2.0] * k).tolist()
    return by_hand.State(
        means, variances, weights, by_hand.log_likelihood(data, means, variances, weights)
    )


def set_mean_by_hand(state: by_hand.State, mean: float, data: np.ndarray) -> tuple[by_hand.State, float]:
    """The state with another first mean, and the change in log density."""
    means = [mean, *state.means[1:]]
    likelihood = by_hand.log_likelihood(data, means, state.vars, state.weights)
    prior = -0.005 * (mean * mean - state.means[0] * state.means[0])
    return state._replace(means=means, log_likelihood=likelihood), prior + likelihood - state.log_likelihood


def operation_rows(data: np.ndarray, rng: np.random.Generator) -> list[Row]:
    """generate, update and regenerate of the model of Figure 1."""
    n = len(data)
    state = figure1.start(data)
    trace = figure1.trace_of(state, data)
    observations, change, selection = {"x": data}, {("mu", 0): 10.5}, select(("mu", 0))
    return [
        Row(
            f"generate, {n} points",
            lambda: figure1.model.generate((n,), observations, rng=rng),
            "NumPy",
            lambda: generate_by_hand(data, rng),
        ),
        Row(
            f"update of one mean, {n} points",
            lambda: trace.update(change),
            "NumPy",
            lambda: set_mean_by_hand(state, 10.5, data),
        ),
        Row(
            f"regenerate of one mean, {n} points",
            lambda: trace.regenerate(selection, rng=rng),
            "NumPy",
            lambda: set_mean_by_hand(state, 10.0 * rng.standard_normal(), data),
        ),
    ]


# --- measuring -------------------------------------------------------------------------------------


def seconds(work: Callable[[], Any], calls: int) -> float:
    """The time of one call, averaged over `calls` of them."""
    begin = time.perf_counter()
    for _ in range(calls):
        work()
    return (time.perf_counter() - begin) / calls


def measure(rows: list[Row], rounds: int, round_seconds: float) -> list[tuple[float, float]]:
    """Seconds for one unit of each row's work, by gendsl and by the reference: the least of the rounds.

    A round goes through all rows, so that a spell in which the machine is busy costs each of them one
    round and not one of them all.
    """
    sides = [(row.gendsl, row.reference) for row in rows]
    calls = [[max(1, round(round_seconds / seconds(work, 1))) for work in pair] for pair in sides]
    best = np.full((len(rows), 2), np.inf)
    for _ in range(rounds):
        for i, pair in enumerate(sides):
            for side, work in enumerate(pair):
                best[i, side] = min(best[i, side], seconds(work, calls[i][side]))
    units = np.array([row.units for row in rows])
    return [(ours, theirs) for ours, theirs in (best / units[:, None]).tolist()]


def table(rows: list[Row], times: list[tuple[float, float]]) -> str:
    """The table of all rows."""
    cells = [("work", "gendsl", "reference", "", "ratio", "target")]
    for row, (ours, theirs) in zip(rows, times, strict=True):
        cells.append(
            (row.work, _time(ours), _time(theirs), row.reference_name, f"{ours / theirs:.3g}", row.target)
        )
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    left = (0, 3)
    lines = [
        "  ".join(
            cell.ljust(width) if column in left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in cells
    ]
    lines.insert(1, "-" * len(lines[0]))
    return "\n".join(line.rstrip() for line in lines)


def _time(seconds: float) -> str:
    return f"{seconds * 1e6:.3g} us" if seconds < 1e-3 else f"{seconds * 1e3:.3g} ms"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few and short rounds: rough numbers")
    quick = parser.parse_args().quick
    rng = np.random.default_rng(1)
    data = figure1.data_points(POINTS, rng)
    states = figure1.chain_states(data, 4 if quick else 40, 500, rng)
    rows = [
        *scalar_rows(rng),
        *step_rows(data, states, rng),
        *jacobian_rows(2),
        *jacobian_rows(3),
        *operation_rows(data, rng),
    ]
    rounds, round_seconds = (2, 0.0) if quick else (20, 0.08)
    versions = f"Python {platform.python_version()}, NumPy {np.__version__}"
    print(f"{versions}; each time is the least of {rounds} interleaved rounds")
    print(table(rows, measure(rows, rounds, round_seconds)))


if __name__ == "__main__":
    main()
