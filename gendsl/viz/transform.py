"""The picture of a move: its inputs and outputs, arrows between them, and the sparsity of its Jacobian.

Cusumano-Towner et al., "Automating Involutive MCMC", Figure 1f and the figure of section 5.1.
"""

from __future__ import annotations

import textwrap
from typing import Any

from matplotlib.patches import FancyArrowPatch, Rectangle
from matplotlib.path import Path as Curve

from gendsl.interface import check_count
from gendsl.viz.jacobian import draw_jacobian, jacobian_layout
from gendsl.viz.move import Key, Move, apply_move
from gendsl.viz.picture import (
    BLUE,
    GREEN,
    GREY,
    MONOSPACE,
    ORANGE,
    PALE_BLUE,
    PALE_GREEN,
    PALE_ORANGE,
    PALE_YELLOW,
    PLAIN,
    RED,
    Diagram,
    inch_axes,
    plain_width,
    text_width,
)
from gendsl.viz.slots import Slot, slots_of

_LINE, _SIZE, _PAD = 0.25, 8.0, 0.08  # inches, points, inches
_ACROSS = 2.2  # inches between inputs and outputs
_MARGIN, _TOP = 0.2, 0.62

_COLOURS = {"continuous": BLUE, "discrete": ORANGE, "copied": GREEN, "kept": GREY}
_FILLS = {"continuous": PALE_BLUE, "discrete": PALE_ORANGE, "copied": PALE_GREEN, "kept": "white"}


def plot_transform(f: Any, trace: Any, aux_trace: Any = None, *, most: int = 60) -> Any:
    """What a transform does at one pair of traces: the paper's Figure 1f for a move of your own.

    On the left are the choices of the input traces, on the right those of the outputs. An arrow goes from
    what was read to what was computed from it: for a continuous output these are the inputs with respect to
    which its derivative isn't zero, for a discrete one those that its expression in the source text names,
    directly or through variables. Copies by `copy` and implicit copies have arrows of their own. Beside it is
    the Jacobian in free coordinates: dark cells are derivatives that aren't zero, and the rows and columns of
    copies, which the determinant leaves out, are green.

    A Jacobian that is singular or not square is drawn, with what is wrong beneath.

    Args:
        f: a transform; of a pair, one direction: `pair.forward`.
        trace: a trace of the model.
        aux_trace: the auxiliary trace, made by `q.simulate((trace, *q_args))`; None for a transform of one
            trace.
        most: how many lines there may be; beyond it neighbours to which the same happens share one.

    Returns:
        A matplotlib figure; `figure.savefig("move.svg")`, or "move.png".

    Raises:
        HandleError: `f` is no transform of so many traces.
        ValueTypeError: `trace` or `aux_trace` is no trace.
        TransformError: the transform is wrong here; the subclass says how.
    """
    move = apply_move(f, trace, aux_trace)
    check_count("most", most, 1)
    slots = slots_of(move, most)
    left = _box_width(slots, move.before, move.names[0])
    right = _box_width(slots, move.after, move.names[1])
    arrows_width = left + _ACROSS + right
    sides = len(move.names[0])
    height = _LINE * (len(slots) + sides + 0.6 * (sides - 1))
    jacobian = jacobian_layout(move)
    key = _key_entries(move, slots)
    total = arrows_width + 0.6 + jacobian.width
    key_lines = _key_lines(key, total)
    body = max(height, jacobian.height)
    notes = _notes(move, total)
    down = _TOP + body + 0.36 + _LINE * len(key_lines) + 0.18 * len(notes) + _MARGIN
    figure = Diagram(figsize=(total + 2 * _MARGIN, down))
    title = inch_axes(figure, _MARGIN, _MARGIN * 0.7, total, 0.3)
    title.text(0, 0.15, move.name, va="center", size=11, weight="bold")
    axes = inch_axes(figure, _MARGIN, _TOP, arrows_width, height)
    _draw_move(axes, move, slots, left, right)
    draw_jacobian(figure, move, jacobian, _MARGIN + arrows_width + 0.6, _TOP)
    foot_height = _LINE * len(key_lines) + 0.18 * len(notes) + 0.16
    foot = inch_axes(figure, _MARGIN, _TOP + body + 0.2, total, foot_height)
    _draw_key(foot, key_lines)
    for i, line in enumerate(notes):
        foot.text(0, _LINE * len(key_lines) + 0.18 * i + 0.16, line, size=_SIZE, color=RED, va="center")
    return figure


def _box_width(slots: list[Slot], choices: dict[Key, Any], names: tuple[str, ...]) -> float:
    widths = [1.0, *(text_width(name, 9.0) + 0.1 for name in names)]
    for slot in slots:
        if not slot.paths or (slot.side, slot.paths[0]) in choices:
            text = f"{slot.label()}  {slot.value(choices)}"
            widths.append(text_width(text, _SIZE) + 2 * _PAD)
    return max(widths)


def _draw_move(axes: Any, move: Move, slots: list[Slot], left: float, right: float) -> None:
    place: dict[Key, float] = {}
    start, y, side = left + _ACROSS, 0.0, -1
    for slot in slots:
        if slot.side != side:
            y += _LINE * 0.6 if side >= 0 else 0.0
            side = slot.side
            _draw_names(axes, move, side, start, y)
            y += _LINE
        middle = y + _LINE / 2
        for path in slot.paths:
            place[side, path] = middle
        _draw_slot(axes, move, slot, left, right, middle)
        y += _LINE
    if side == 0 and len(move.names[0]) > 1:  # an auxiliary trace without choices
        _draw_names(axes, move, 1, start, y + _LINE * 0.6)
    drawn = set()
    for arrow in sorted(move.arrows, key=lambda arrow: arrow.kind == "continuous"):
        if arrow.source in place and arrow.target in place:
            ends = place[arrow.source], place[arrow.target], arrow.kind
            if ends not in drawn:
                drawn.add(ends)
                _draw_arrow(axes, left, start, *ends)


def _draw_names(axes: Any, move: Move, side: int, start: float, y: float) -> None:
    for x, names in ((0.0, move.names[0]), (start, move.names[1])):
        axes.text(x, y + _LINE / 2, names[side], va="center", size=9, weight="bold", family=MONOSPACE)


def _draw_slot(axes: Any, move: Move, slot: Slot, left: float, right: float, y: float) -> None:
    start = left + _ACROSS
    if not slot.paths:
        for x in (0.0, start):
            axes.text(x + _PAD, y, slot.label(), va="center", size=_SIZE, color=GREY, family=MONOSPACE)
        return
    key = slot.side, slot.paths[0]
    before, after = move.before.get(key), move.after.get(key)
    if before is not None:
        fill = PALE_YELLOW if before.read else "white"
        colour = RED if before.gone else ("0.45" if before.read else "0.7")
        _draw_box(axes, 0.0, left, y, slot, slot.value(move.before), fill, colour, before.gone)
    if after is not None:
        fill, colour = _FILLS[after.kind], _COLOURS[after.kind] if after.kind != "kept" else "0.7"
        _draw_box(axes, start, right, y, slot, slot.value(move.after), fill, colour, False)
        if after.kind == "kept" and before is not None:
            _draw_arrow(axes, left, start, y, y, "kept")


def _draw_box(
    axes: Any, x: float, width: float, y: float, slot: Slot, value: str, fill: str, line: str, gone: bool
) -> None:
    style = "--" if gone else "-"
    tall = _LINE * 0.78
    axes.add_patch(Rectangle((x, y - tall / 2), width, tall, fc=fill, ec=line, lw=0.9, ls=style, zorder=3))
    words = {"va": "center", "size": _SIZE, "family": MONOSPACE, "zorder": 4}
    axes.text(x + _PAD, y, slot.label(), color="black", **words)
    axes.text(x + width - _PAD, y, value, color="0.35", ha="right", **words)


def _draw_arrow(axes: Any, left: float, start: float, y0: float, y1: float, kind: str) -> None:
    points = [(left, y0), (left + 0.4 * _ACROSS, y0), (start - 0.4 * _ACROSS, y1), (start - 0.02, y1)]
    curve = Curve(points, [Curve.MOVETO, Curve.CURVE4, Curve.CURVE4, Curve.CURVE4])
    kept = kind == "kept"
    axes.add_patch(
        FancyArrowPatch(
            path=curve, arrowstyle="-|>,head_length=4,head_width=2", color=_COLOURS[kind],
            lw=0.8 if kept else 1.1, ls=(0, (1, 2)) if kept else "-", zorder=1 if kept else 2,
        )
    )  # fmt: skip


# --- the key, and what is wrong --------------------------------------------------------------------

_KEYS = {
    "read": "read",
    "gone": "gone afterwards",
    "continuous": "written, continuous: arrows are nonzero derivatives",
    "discrete": "written, discrete",
    "copied": "copied",
    "kept": "copied implicitly",
}


def _key_entries(move: Move, slots: list[Slot]) -> list[str]:
    shown = {(slot.side, path) for slot in slots for path in slot.paths}
    found: set[str] = {after.kind for key, after in move.after.items() if key in shown}
    found |= {"read" for key in move.reads if key in shown}
    found |= {"gone" for key, before in move.before.items() if before.gone and key in shown}
    return [entry for entry in _KEYS if entry in found]


def _key_lines(entries: list[str], width: float) -> list[list[tuple[float, str]]]:
    """The entries of the key, each with its place, on as many lines as they need."""
    lines: list[list[tuple[float, str]]] = [[]]
    x = 0.0
    for entry in entries:
        wide = plain_width(_KEYS[entry], _SIZE) + 0.6
        if lines[-1] and x + wide > width:
            lines.append([])
            x = 0.0
        lines[-1].append((x, entry))
        x += wide
    return lines


def _draw_key(axes: Any, lines: list[list[tuple[float, str]]]) -> None:
    looks = {"read": (PALE_YELLOW, "0.45", "-"), "gone": ("white", RED, "--"), "kept": ("white", GREY, ":")}
    for i, line in enumerate(lines):
        y = (i + 0.5) * _LINE
        for x, entry in line:
            fill, edge, style = looks.get(entry) or (_FILLS[entry], _COLOURS[entry], "-")
            axes.add_patch(Rectangle((x + 0.01, y - 0.06), 0.24, 0.12, fc=fill, ec=edge, ls=style, lw=0.9))
            axes.text(x + 0.32, y, _KEYS[entry], va="center", size=_SIZE, family=PLAIN)


def _notes(move: Move, width: float) -> list[str]:
    if move.problem is None:
        return []
    across = max(30, int(50 * width / plain_width("n" * 50, _SIZE)))
    return [line for part in move.problem.splitlines() for line in textwrap.wrap(part, across)]
