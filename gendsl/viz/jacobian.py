"""The picture of a Jacobian's sparsity: which output coordinate depends on which input coordinate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.collections import PolyCollection

from gendsl.viz.move import Key, Move, Sparsity
from gendsl.viz.picture import BLUE, GREEN, GREY, MONOSPACE, inch_axes, shown_address, text_width

_CELL, _SMALLEST, _SIZE = 0.2, 0.13, 7.0  # inches, inches, points
_LARGEST = 5.0  # inches
_LABELLED = 60  # with more choices than this there are no labels
_RULE: dict[str, Any] = {"color": "0.8", "lw": 0.6, "zorder": 1}


@dataclass
class Layout:
    """How a Jacobian is drawn.

    Attributes:
        rows, columns: the height of each row's and the width of each column's choice, in cells.
        cells: what each cell holds: 0 nothing, 1 a derivative, 2 a copy.
        cell: the size of a cell, in inches.
        left, top: the room for labels, in inches; 0 where there are none.
    """

    rows: dict[Key, int]
    columns: dict[Key, int]
    cells: np.ndarray
    cell: float
    left: float
    top: float
    width: float
    height: float


def jacobian_layout(move: Move) -> Layout:
    """How the Jacobian of a move is drawn; one cell for each choice where there are too many coordinates."""
    sparsity = move.sparsity
    rows, columns, cells = sparsity.rows, sparsity.columns, _cells(sparsity)
    if max(cells.shape) > _LARGEST / _SMALLEST:
        down = np.repeat(np.arange(len(rows)), list(rows.values()))
        across = np.repeat(np.arange(len(columns)), list(columns.values()))
        blocks = np.zeros((len(rows), len(columns)), dtype=int)
        np.maximum.at(blocks, np.ix_(down, across), cells)
        cells = blocks
        rows, columns = dict.fromkeys(rows, 1), dict.fromkeys(columns, 1)
    most = max(*cells.shape, 1)
    labelled = max(len(rows), len(columns)) <= _LABELLED
    cell = max(_SMALLEST, min(_CELL, _LARGEST / most)) if labelled else _LARGEST / most
    left = max((text_width(_label(key, sparsity.rows), _SIZE) for key in rows), default=0.0) + 0.1
    top = max((text_width(_label(key, sparsity.columns), _SIZE) for key in columns), default=0.0) + 0.1
    if not labelled:
        left = top = 0.2
    title = max(text_width(line, 9.0) for line in _title(move))
    width = max(left + cell * cells.shape[1], title)
    height = 0.5 + top + cell * cells.shape[0] + 0.1
    return Layout(rows, columns, cells, cell, left, top, width, height)


def _title(move: Move) -> list[str]:
    sparsity = move.sparsity
    copies = sum(sparsity.rows[key] for key in sparsity.copied[0])
    down, across = (size - copies for size in sparsity.nonzero.shape)
    if not sparsity.rows and not sparsity.columns:
        return ["Jacobian: no continuous choice changes", "log |det J| = 0"]
    if not down and not across:
        return [f"Jacobian: {copies} copied, left out", "log |det J| = 0"]
    kind = "log |det J|: none" if move.log_abs_det is None else f"log |det J| = {move.log_abs_det:.5g}"
    left_out = f" ({copies} copied left out)" if copies else ""
    return [f"Jacobian, {down} × {across}{left_out}", kind]


def _cells(sparsity: Sparsity) -> np.ndarray:
    cells = sparsity.nonzero.astype(int)
    rows, columns = (
        np.array([key in copied for key, size in sizes.items() for _ in range(size)], dtype=bool)
        for sizes, copied in zip((sparsity.rows, sparsity.columns), sparsity.copied, strict=True)
    )
    cells[rows[:, None] & columns & sparsity.nonzero] = 2
    return cells


def _label(key: Key, sizes: dict[Key, int]) -> str:
    size = sizes[key]
    return shown_address(key[1], 32) + (f" ({size})" if size > 1 else "")


def draw_jacobian(figure: Any, move: Move, layout: Layout, left: float, top: float) -> None:
    """Draw it with its upper left corner at a place given in inches."""
    axes = inch_axes(figure, left, top, layout.width, layout.height)
    for i, line in enumerate(_title(move)):
        weight = "bold" if i == 0 else "normal"
        axes.text(0, 0.125 + 0.2 * i, line, va="center", size=9, weight=weight)
    if not layout.cells.size:
        return
    x0, y0, cell = layout.left, 0.5 + layout.top, layout.cell
    down, across = layout.cells.shape
    _draw_cells(axes, layout, x0, y0)
    words = {"size": _SIZE, "family": MONOSPACE}
    labelled = max(len(layout.rows), len(layout.columns)) <= _LABELLED
    ink = {False: "black", True: GREEN}
    start = 0
    for key, size in layout.rows.items():
        if labelled:
            colour = ink[key in move.sparsity.copied[0]]
            y = y0 + cell * (start + size / 2)
            text = _label(key, move.sparsity.rows)
            axes.text(x0 - 0.05, y, text, ha="right", va="center", color=colour, **words)
            axes.plot([x0, x0 + cell * across], [y0 + cell * (start + size)] * 2, **_RULE)
        start += size
    start = 0
    for key, size in layout.columns.items():
        if labelled:
            colour = ink[key in move.sparsity.copied[1]]
            x = x0 + cell * (start + size / 2)
            text = _label(key, move.sparsity.columns)
            axes.text(x, y0 - 0.05, text, ha="center", va="bottom", rotation=90, color=colour, **words)
            axes.plot([x0 + cell * (start + size)] * 2, [y0, y0 + cell * down], **_RULE)
        start += size
    frame = [x0, x0 + cell * across, x0 + cell * across, x0, x0]
    axes.plot(frame, [y0, y0, y0 + cell * down, y0 + cell * down, y0], color="0.3", lw=0.9, zorder=4)
    if not labelled:
        axes.text(x0, y0 - 0.05, f"{len(layout.columns)} outputs", va="bottom", color=GREY, size=8)
        axes.text(
            x0 - 0.05, y0, f"{len(layout.rows)} inputs", va="top", ha="right", rotation=90, color=GREY, size=8
        )


def _draw_cells(axes: Any, layout: Layout, x0: float, y0: float) -> None:
    cell = layout.cell
    gap = 0.06 * cell
    for kind, colour in ((1, BLUE), (2, GREEN)):
        squares = [
            [
                (x0 + cell * (j + (a > 0)) + (-gap if a > 0 else gap),
                 y0 + cell * (i + (b > 0)) + (-gap if b > 0 else gap))
                for a, b in ((0, 0), (1, 0), (1, 1), (0, 1))
            ]
            for i, j in np.argwhere(layout.cells == kind).tolist()
        ]  # fmt: skip
        axes.add_collection(PolyCollection(squares, facecolors=colour, linewidths=0, zorder=2))
