"""Tables of what runs say, as text and for notebooks, with numbers of four to six digits."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

MOST = 20
"""Rows of a table in a notebook; further ones are counted."""


def number(value: Any, digits: int = 5) -> str:
    """A number with as many significant digits; anything else as Python writes it."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else f"{value:.{digits}g}"
    return str(value)


def whole(value: float) -> str:
    """A count that is no whole number, such as that of effective draws."""
    return f"{value:.0f}" if math.isfinite(value) and value >= 1000 else number(float(value), 4)


def ratio(value: float) -> str:
    """R-hat, whose third decimal counts."""
    return f"{value:.3f}" if value < 1000.0 else number(float(value))


def text_table(heads: Sequence[str], rows: Iterable[Sequence[str]], left: Sequence[int] = (0,)) -> str:
    """Rows below their heads; the columns that are named to the left, the others to the right."""
    lines = [list(heads), *map(list, rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(heads))]
    shown = []
    for line in lines:
        cells = [
            cell.ljust(width) if i in left else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        shown.append("  ".join(cells).rstrip())
    return "\n".join(shown)


def html_table(heads: Iterable[str], rows: list[list[str]], left_out: int = 0) -> str:
    """The same for a notebook, without a style sheet; of many rows the first."""
    left_out += max(len(rows) - MOST, 0)
    lines = ["".join(f"<th>{html.escape(head)}</th>" for head in heads)]
    lines += ["".join(f"<td>{html.escape(cell)}</td>" for cell in row) for row in rows[:MOST]]
    if left_out:
        lines.append(f'<td colspan="{len(rows[0])}">… {left_out} more</td>')
    rows_html = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table style='border-spacing: 0.8em 0.15em'>{rows_html}</table>"
