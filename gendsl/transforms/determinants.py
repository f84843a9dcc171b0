"""|det| of small matrices by a formula for their pattern, made when the pattern has come a few times.

The entries of a small Jacobian change with every step, but hardly where they are: a move has a few branches,
and each of them puts the same nonzero entries into the same places. Such a pattern has one formula, Laplace's
expansion along the row or column with the fewest entries, again and again, in which no minor is made twice:

    e0 .  .                     m0 = e2 * e4 - e3 * e5
    .  e2 e3    ->
    .  e5 e4                    abs(e0 * m0)

It divides by nothing, so no entry is too small for a pivot, and is as accurate as the entries are: what one
operation rounds off counts as a change of one entry.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from math import hypot
from typing import Any

from gendsl.transforms.returned import NOT_A_CHOICE

Pattern = tuple[tuple[int, ...], ...]
"""The rows, then for each column the rows in which it has entries."""

LARGEST = 1e25
SMALLEST = 1e-50
"""Within these bounds of entries and determinant, nothing of a matrix of ten rows overflows, and what is lost
to underflow is less than what rounding takes."""

_SEEN = 8
"""How often a pattern comes before its formula is made, which takes as long as hundreds of eliminations."""

MOST_PRODUCTS = 120
"""How many products a formula has at most; beyond that elimination is faster."""

_KEPT = 512

_seen: dict[Pattern, int] = {}
_formulas: dict[Pattern, Callable[..., float] | None] = {}


def known_determinant(pattern: Pattern, entries: list[float]) -> float | None:
    """|det| of the matrix of a pattern with these nonzero entries, column by column.

    None where the pattern has no formula (yet), or the formula might not be accurate.
    """
    formula = _formulas.get(pattern)
    if formula is None:
        _note(pattern)
        return None
    if not hypot(*entries) < LARGEST:  # nor if one is NaN
        return None
    det = formula(*entries)
    return det if det > SMALLEST else None


def determinant_of_few(rows: Sequence[int], columns: Sequence[dict[int, float]]) -> float | None:
    """|det| of one or two columns, of which most small moves have no more, in as many rows.

    None where a column has an entry in another row, or the determinant might not be accurate.
    """
    if len(rows) == 1:
        (first,) = columns
        if len(first) != 1:
            return None
        det = abs(first.get(rows[0], 0.0))
    else:
        a, b = rows
        first, second = columns
        if (a in first) + (b in first) + (a in second) + (b in second) != len(first) + len(second):
            return None
        det = abs(first.get(a, 0.0) * second.get(b, 0.0) - first.get(b, 0.0) * second.get(a, 0.0))
    return det if SMALLEST < det < LARGEST else None  # nor if one is NaN


def _note(pattern: Pattern) -> None:
    """Count a pattern that has no formula, and make one if it has come often enough."""
    if pattern in _formulas:
        return  # it is to have none
    times = _seen.get(pattern, 0) + 1
    if times == 1 and len(_seen) >= _KEPT:
        _seen.clear()
    _seen[pattern] = times
    if times >= _SEEN:
        if len(_formulas) >= _KEPT:
            _formulas.clear()
        _formulas[pattern] = formula_of(pattern)
        _seen.pop(pattern, None)


def formula_of(pattern: Pattern) -> Callable[..., float] | None:
    """The function from the entries of a pattern to |det|; None if it would be too long, or there is none."""
    rows, *columns = pattern
    if any(NOT_A_CHOICE in column for column in columns):
        return None  # it depends on a return value, which is an error
    expansion = Expansion(columns)
    _, result = expansion.minor(rows, tuple(range(len(columns))))
    if expansion.products > MOST_PRODUCTS:
        return None
    given = ", ".join(f"e{i}" for i in range(expansion.size))
    lines = [f"def formula({given}):", *(f"    {line}" for line in expansion.lines)]
    code = "\n".join([*lines, f"    return abs({result})"])
    namespace: dict[str, Any] = {}
    exec(compile(code, os.path.join(os.path.dirname(__file__), "<determinant>"), "exec"), namespace)
    return namespace["formula"]  # type: ignore[no-any-return]


class Expansion:
    """The minors of a pattern as lines of code, each made once.

    Attributes:
        lines: assignments to m0, m1, ... (from `first` on).
        products: how many products are in them.
        size: how many entries the pattern has.
        used: those on which the minors depend, without signs.
    """

    def __init__(
        self, columns: list[tuple[int, ...]], entries: Sequence[str] | None = None, first: int = 0
    ) -> None:
        """Begin with no minors.

        Args:
            columns: for each the rows in which it has entries.
            entries: what stands for these, column after column; e0, e1, ... if not given.
            first: the number of the first minor.
        """
        self.first = first
        self.lines: list[str] = []
        self.products = 0
        self.size = 0
        self.used: set[str] = set()
        self.entries: dict[tuple[int, int], str] = {}
        self.known: dict[tuple[tuple[int, ...], tuple[int, ...]], tuple[int, str]] = {}
        for column, rows in enumerate(columns):
            for row in rows:
                self.entries[row, column] = f"e{self.size}" if entries is None else entries[self.size]
                self.size += 1

    def minor(self, rows: tuple[int, ...], columns: tuple[int, ...]) -> tuple[int, str]:
        """The sign, and the product or variable, that make the determinant of some rows and columns."""
        if not rows:
            return 1, "1.0"
        found = self.known.get((rows, columns))
        if found is None:
            found = self.known[rows, columns] = self._expanded(rows, columns)
        return found

    def _expanded(self, rows: tuple[int, ...], columns: tuple[int, ...]) -> tuple[int, str]:
        lines = [[(i, j) for j in range(len(columns))] for i in range(len(rows))]
        lines += [[(i, j) for i in range(len(rows))] for j in range(len(columns))]
        present = [[(i, j) for i, j in line if (rows[i], columns[j]) in self.entries] for line in lines]
        terms = []
        for i, j in min(present, key=len):
            if self.products > MOST_PRODUCTS:
                break
            sign, rest = self.minor(rows[:i] + rows[i + 1 :], columns[:j] + columns[j + 1 :])
            if rest == "0.0":
                continue
            entry = self.entries[rows[i], columns[j]]
            if entry.startswith("-"):
                sign, entry = -sign, entry[1:]
            self.used.add(entry)
            if entry != "1.0" and rest != "1.0":
                self.products += 1
                entry = f"{entry} * {rest}"
            elif entry == "1.0":
                entry = rest
            terms.append((sign * (-1) ** (i + j), entry))
        if len(terms) < 2:
            return terms[0] if terms else (1, "0.0")
        first, text = terms[0]
        for sign, term in terms[1:]:
            text += f" {'+' if sign == first else '-'} {term}"
        name = f"m{self.first + len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        return first, name
