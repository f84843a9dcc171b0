"""`run.summary()`: mean, spread, quantiles and how far they can be trusted, a row for each number."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

import numpy as np

from gendsl.address import as_path
from gendsl.errors import UnknownAddressError, ValueTypeError
from gendsl.inference.results.convergence import effective_draws, mean_and_deviation, r_hat, rectangle
from gendsl.inference.results.diagnosis import Finding, findings
from gendsl.inference.results.draws import Sampled
from gendsl.inference.results.scalars import Chains, label, present, scalars
from gendsl.inference.results.summary import monte_carlo_error
from gendsl.inference.results.tables import html_table, number, ratio, text_table, whole
from gendsl.inference.running.recording import quantity_name

_SHOWN = 60  # rows of the table as text


class SummaryRow(NamedTuple):
    """What the draws say of one number, of all chains together.

    Of a number that exists in some structures only, everything but `share` is given that it exists.

    Attributes:
        mean: the mean of the draws.
        mcse_mean: its Monte Carlo standard error; see `monte_carlo_error`.
        sd: the standard deviation of the draws.
        q05, median, q95: quantiles.
        ess_bulk, ess_tail: how many independent draws they are worth; see `effective_draws`.
        r_hat: whether the chains, or the halves of one, agree; see `r_hat`.
        share: the share of draws that have the number.
    """

    mean: float
    mcse_mean: float
    sd: float
    q05: float
    median: float
    q95: float
    ess_bulk: float
    ess_tail: float
    r_hat: float
    share: float


class Summary(Mapping[str, SummaryRow]):
    """A row for each number of a run, by its name; it shows itself as a table, with what is wrong below.

    `summary["k"].mean`, `summary["mu[0]"].r_hat`; for choices of whole traces their address will do, as in
    `summary["mu", 0]`.

    Attributes:
        problems: why numbers can't be trusted, a sentence for each kind of problem.
        remarks: what else is worth knowing.
        left_out: the recorded quantities that are no numbers.
    """

    def __init__(
        self, rows: Mapping[str, SummaryRow], found: Sequence[Finding], left_out: Sequence[str]
    ) -> None:
        self._rows = dict(rows)
        self.problems = [finding.text for finding in found if finding.is_problem]
        self.remarks = [finding.text for finding in found if not finding.is_problem]
        self.left_out = list(left_out)

    def __getitem__(self, name: Any) -> SummaryRow:
        keys = [name] if isinstance(name, str) else [quantity_name(name), label(as_path(name))]
        for key in keys:
            if key in self._rows:
                return self._rows[key]
        raise UnknownAddressError(
            f"the summary has no row {keys[-1]}",
            fix=f"its rows: {', '.join(list(self._rows)[:20]) or 'none'}",
        )

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def to_pandas(self) -> Any:
        """The rows as a pandas DataFrame.

        Raises:
            ImportError: pandas isn't installed.
        """
        try:
            import pandas
        except ImportError as error:
            raise ImportError("to_pandas needs pandas, which isn't installed: pip install pandas") from error
        rows = {name: row._asdict() for name, row in self._rows.items()}
        return pandas.DataFrame.from_dict(rows, orient="index", columns=SummaryRow._fields)

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        """The table's heads and rows; the share only where there is one below 1."""
        partial = any(row.share < 1.0 for row in self._rows.values())
        heads = ["", "mean", "error", "sd", "5%", "median", "95%", "ESS", "ESS tail", "R-hat"]
        cells = []
        for name, row in self._rows.items():
            numbers = [number(row.mean), number(row.mcse_mean, 4), *map(number, row[2:6])]
            numbers += [whole(row.ess_bulk), whole(row.ess_tail), ratio(row.r_hat)]
            cells.append([name, *numbers, *([f"{row.share:.1%}"] if partial else [])])
        return [*heads, *(["in draws"] if partial else [])], cells

    def _notes(self) -> list[str]:
        out = f"left out, as they are no numbers: {', '.join(self.left_out)}"
        problems = [f"warning: {text}" for text in self.problems]
        return [*problems, *self.remarks, *([out] if self.left_out else [])]

    def table(self) -> str:
        """The rows as text; of many the first."""
        heads, cells = self._cells()
        more = len(cells) - _SHOWN
        cut = [f"... and {more} more rows: summary.to_pandas(), or name them"] if more > 0 else []
        return "\n".join([text_table(heads, cells[:_SHOWN]), *cut])

    def __str__(self) -> str:
        return "\n".join([self.table(), *self._notes()])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        heads, cells = self._cells()
        notes = "".join(f"<p>{escape(note)}</p>" for note in self._notes())
        return f"<div>{html_table(heads, cells)}{notes}</div>"


def summarise(run: Sampled, names: Sequence[Any] | None = None) -> Summary:
    """See `Run.summary`."""
    numbers, others = scalars(run, names)
    if others and (names is not None or not numbers):
        raise ValueTypeError(
            f"{others[0]} isn't made of numbers, so it has no mean",
            fix=f"name others, summary(['mu']); run.frequency({others[0]!r}) counts what isn't numbers",
        )
    rows = {name: row_of(chains) for name, chains in numbers.items()}
    return Summary(rows, findings(run, numbers), others)


def row_of(chains: Chains) -> SummaryRow:
    """What the draws of one number say."""
    kept = [chain for chain in present(chains) if len(chain)]
    total = sum(map(len, chains))
    if not kept:
        return SummaryRow(*(float("nan"),) * 9, share=0.0)
    values = np.concatenate(kept)
    whole_chains = rectangle(kept)
    error = float("nan")
    if whole_chains is not None:
        error = monte_carlo_error(whole_chains) * (whole_chains.size / len(values)) ** 0.5
    with np.errstate(invalid="ignore"):  # of infinite draws
        mean, spread = mean_and_deviation(values, ddof=1)
        low, middle, high = np.quantile(values, [0.05, 0.5, 0.95]).tolist()
    return SummaryRow(
        mean,
        error,
        spread,
        low,
        middle,
        high,
        effective_draws(kept),
        effective_draws(kept, tail=True),
        r_hat(kept),
        len(values) / total,
    )
