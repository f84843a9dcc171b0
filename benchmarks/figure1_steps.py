"""The split/merge step of the paper's Figure 1, against the same step by hand."""

from __future__ import annotations

import figure1
import figure1_numpy as by_hand
import numpy as np
from harness import Row, Scale

from gendsl import involutive_mcmc

MOST_RATIO = {100: 2.0, 10_000: 1.1}
MOST_RATIO_NUMBA = 1.2
MOST_RATIO_CHECKED = 1.5
WARM_UP = 20_000
"""How many steps come first: each of some twenty moves is learnt when it has been made a hundred times."""


def compiled_likelihood() -> by_hand.Likelihood | None:
    """numba's version of the likelihood, where there is numba."""
    try:
        from figure1_numba import log_likelihood
    except ImportError:
        return None
    return log_likelihood


def step_rows(n: int, states: int, thin: int, warm_up: int) -> list[Row]:
    """One step from each of the same states, which a chain of such steps visited, `thin` steps apart."""
    calls = warm_up // states
    rng = np.random.default_rng(1)
    data = figure1.data_points(n, rng)
    visited = figure1.chain_states(data, states, thin, rng)
    traces = [figure1.trace_of(state, data) for state in visited]

    def steps(check: bool = False) -> None:
        for trace in traces:
            involutive_mcmc(trace, figure1.q, (), figure1.f, check=check, rng=rng)

    def steps_by_hand(likelihood: by_hand.Likelihood = by_hand.log_likelihood) -> None:
        for state in visited:
            by_hand.step(state, data, rng, likelihood)

    work = "Figure 1 step on N points"
    rows = [Row(work, n, steps, "NumPy step", steps_by_hand, states, None, calls, MOST_RATIO.get(n))]
    compiled = compiled_likelihood()
    if compiled is not None:
        most = MOST_RATIO_NUMBA if n == 10_000 else None
        rows.append(
            Row(work, n, steps, "numba step", lambda: steps_by_hand(compiled), states, most_ratio=most)
        )
    rows.append(
        Row(
            f"{work}, check=True", n, lambda: steps(check=True), "unchecked", steps, states,
            warm_up=calls, most_ratio=MOST_RATIO_CHECKED,
        )
    )  # fmt: skip
    return rows


def few_points(scale: Scale) -> list[Row]:
    return step_rows(100, 40, 500, WARM_UP) if scale.largest > 1000 else step_rows(100, 4, 500, 4)


def many_points(scale: Scale) -> list[Row]:
    n = scale.sizes(10_000)[0]
    return step_rows(n, 10, 50, WARM_UP) if scale.largest > 1000 else step_rows(n, 2, 50, 2)


GROUPS = {"figure1": few_points, "figure1-10000": many_points}
