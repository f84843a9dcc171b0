"""How a run shows itself in notebooks: tables that need no style sheet."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gendsl.choices.display import summary
from gendsl.errors import ValueTypeError
from gendsl.inference.summary import frequency, monte_carlo_error
from gendsl.inference.tally import duration

if TYPE_CHECKING:
    from gendsl.inference.run import Run

_MOST = 20  # rows of a table
_VALUES = 8  # more distinct whole numbers than this have a mean and no table


def run_html(run: Run) -> str:
    """The first line of a run's text, its kernels, and its recorded quantities."""
    title = html.escape(str(run).splitlines()[0])
    return f"<div><p><strong>{title}</strong></p>{_kernels(run)}{_quantities(run)}</div>"


def _kernels(run: Run) -> str:
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
    return _table(heads, rows) if rows else ""


def _quantities(run: Run) -> str:
    rows = [quantity_row(name, run.by_chain(name)) for name in run.names[:_MOST]]
    if not rows:
        return ""
    return _table(["quantity", "mean", "standard error", "sd", "values"], rows, len(run.names) - len(rows))


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
    row = [name, f"{numbers.mean():.5g}", "" if math.isnan(error) else f"{error:.2g}", f"{numbers.std():.4g}"]
    return [*row, _shares(chains) if len(set(values)) <= _VALUES else ""]


def _shares(chains: Sequence[list[Any]]) -> str:
    try:
        shares = frequency([chain for chain in chains if len(chain)])
    except ValueTypeError:
        return ""
    return ", ".join(f"{value}: {share.probability:.3f}" for value, share in shares.items())


def _table(heads: Iterable[str], rows: list[list[str]], left_out: int = 0) -> str:
    more = len(rows) - _MOST
    left_out += max(more, 0)
    lines = ["".join(f"<th>{html.escape(head)}</th>" for head in heads)]
    lines += ["".join(f"<td>{html.escape(cell)}</td>" for cell in row) for row in rows[:_MOST]]
    if left_out:
        lines.append(f'<td colspan="{len(rows[0])}">… {left_out} more</td>')
    rows_html = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table style='border-spacing: 0.8em 0.15em'>{rows_html}</table>"

