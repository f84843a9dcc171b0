"""How a run shows itself in notebooks: tables that need no style sheet."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gendsl.choices.display import summary
from gendsl.errors import ValueTypeError
from gendsl.inference.results.convergence import mean_and_deviation
from gendsl.inference.results.diagnosis import brief_findings
from gendsl.inference.results.draws import Sampled
from gendsl.inference.results.summary import frequency, monte_carlo_error
from gendsl.inference.results.tables import MOST, html_table, number
from gendsl.inference.running.tally import duration

_VALUES = 8  # more distinct whole numbers than this have a mean and no table


def run_html(run: Sampled) -> str:
    """The first line of a run's text, its kernels, its recorded quantities, and what can't be trusted."""
    title = html.escape(run.headline())
    texts = [f"{'warning: ' if f.is_problem else ''}{f.text}" for f in brief_findings(run)]
    notes = "".join(f"<p>{html.escape(text)}</p>" for text in texts)
    return f"<div><p><strong>{title}</strong></p>{_kernels(run)}{_quantities(run)}{notes}</div>"


def _kernels(run: Sampled) -> str:
    acceptance = run.acceptance
    heads, rows = ["kernel", "accepted", "proposals", "time of one"], []
    for name, tally in acceptance.items():
        each = duration(tally.seconds / tally.proposed) if tally.proposed and tally.seconds else ""
        rows.append([name, f"{tally.rate:.1%}", f"{tally.proposed:,}", each])
    for head, counts in (
        ("failed checks", [tally.failed_checks for tally in acceptance.values()]),
        ("diverged", [tally.divergences for tally in acceptance.values()]),
    ):
        if any(counts):
            heads.append(head)
            rows = [[*row, f"{count:,}"] for row, count in zip(rows, counts, strict=True)]
    return html_table(heads, rows) if rows else ""


def _quantities(run: Sampled) -> str:
    rows = [quantity_row(name, run.by_chain(name)) for name in run.names[:MOST]]
    if not rows:
        return ""
    heads = ["quantity", "mean", "standard error", "sd", "values"]
    return html_table(heads, rows, len(run.names) - len(rows))


def quantity_row(name: str, chains: Sequence[list[Any]]) -> list[str]:
    """A quantity's name, mean, Monte Carlo standard error and standard deviation, and shares of its values.

    Of what is no number, or changes its shape, only its last value.
    """
    values = [value for chain in chains for value in chain]
    if not values:
        return [name, "", "", "", "no draws"]
    if not all(isinstance(v, (bool, int, float, np.generic)) and np.isreal(v) for v in values):
        return [name, "", "", "", f"last: {summary(values[-1])}"]
    numbers = np.array(values, dtype=float)
    error = monte_carlo_error([np.array(chain, dtype=float) for chain in chains if len(chain)])
    mean, deviation = mean_and_deviation(numbers)
    row = [name, number(mean), "" if math.isnan(error) else number(error, 4), number(deviation)]
    return [*row, _shares(chains) if len(set(values)) <= _VALUES else ""]


def _shares(chains: Sequence[list[Any]]) -> str:
    try:
        shares = frequency([chain for chain in chains if len(chain)])
    except ValueTypeError:
        return ""
    return ", ".join(f"{value}: {share.probability:.4f}" for value, share in shares.items())
