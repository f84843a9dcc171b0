"""The picture of a trace: the tree of its addresses, with the value of each choice."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from matplotlib.patches import Rectangle

from gendsl.address import Path
from gendsl.choices.display import choices_text, component_label
from gendsl.distributions.base import measured
from gendsl.errors import ValueTypeError
from gendsl.interface import check_count
from gendsl.runtime.trace import ReferenceTrace
from gendsl.viz.picture import (
    BLUE,
    GREY,
    MONOSPACE,
    ORANGE,
    PALE_BLUE,
    PALE_ORANGE,
    Diagram,
    inch_axes,
    shortened,
    shown_value,
    text_width,
)

_LINE, _SIZE, _PAD, _GAP, _MARGIN = 0.25, 8.0, 0.08, 0.45, 0.2
_LABEL = 24  # characters
_OBSERVED = 8  # more observations than this in one namespace are cut
_TWIG: dict[str, Any] = {"color": "0.7", "lw": 0.8, "zorder": 1, "solid_capstyle": "butt"}


@dataclass
class _Node:
    """An address of the tree.

    Attributes:
        label: its last component.
        path: its whole path.
        below: the nodes below; none for a choice.
        left_out: how many choices this node stands for without showing them.
        elided: whether it stands for neighbours that are not shown.
        y: its line.
    """

    label: str
    path: Path
    below: list[_Node] = field(default_factory=list)
    left_out: int = 0
    elided: bool = False
    y: float = 0.0


def plot_trace_tree(trace: Any, *, most: int = 60, depth: int = 12) -> Any:
    """The tree of a trace's addresses: namespaces, and the choices with their values.

    Continuous choices are blue, discrete ones orange, observed ones grey.

    Args:
        trace: the trace.
        most: how many leaves to show, about; the largest namespaces are cut, and say how many more there are.
            Of more than 8 observations in one namespace five are shown in any case.
        depth: how many levels to show at most.

    Returns:
        A matplotlib figure; `figure.savefig("trace.svg")`, or "trace.png".

    Raises:
        ValueTypeError: `trace` is no trace of a @gen function.
    """
    if not isinstance(trace, ReferenceTrace):
        raise ValueTypeError(
            f"plot_trace_tree draws a trace, got {trace!r}", fix="pass model.simulate(args)"
        )
    check_count("most", most, 1)
    check_count("depth", depth, 1)
    root = _tree(trace, depth)
    _cut_observations(root, trace)
    _thin(root, most)
    leaves = _place(root, 0)
    columns = _columns(root, trace)
    starts = [sum(columns[:i]) + _GAP * i for i in range(len(columns))]
    width = max(starts[-1] + columns[-1], 4.6)
    height = max(leaves, 1) * _LINE
    figure = Diagram(figsize=(width + 2 * _MARGIN, height + 0.75 + 2 * _MARGIN))
    axes = inch_axes(figure, _MARGIN, _MARGIN, width, height + 0.75)
    title = f"{trace.gen_fn.name}: {choices_text(len(trace.records))}, log p = {trace.log_prob:.6g}"
    axes.text(0, 0.12, title, va="center", size=10, weight="bold")
    _draw(axes, root, trace, starts, 0, 0.35)
    _draw_key(axes, height + 0.6)
    return figure


def _tree(trace: ReferenceTrace, depth: int) -> _Node:
    root = _Node(trace.gen_fn.name, ())
    known: dict[Path, _Node] = {(): root}
    for path in trace.records:
        shown = path if len(path) <= depth else path[:depth]
        node = root
        for length in range(1, len(shown) + 1):
            start = path[:length]
            if start not in known:
                known[start] = _Node(shortened(component_label(start[-1]), _LABEL), start)
                node.below.append(known[start])
            node = known[start]
        if shown is not path:
            node.left_out += 1
    return root


def _leaves(node: _Node) -> int:
    return sum(map(_leaves, node.below)) if node.below else 1


def _choices(node: _Node) -> int:
    return sum(map(_choices, node.below)) if node.below else node.left_out or 1


def _nodes(root: _Node) -> list[_Node]:
    nodes = [root]
    for node in nodes:
        nodes += node.below
    return nodes


def _cut_observations(root: _Node, trace: ReferenceTrace) -> None:
    observed = trace.observed_paths
    for node in _nodes(root):
        if len(node.below) > _OBSERVED and all(child.path in observed for child in node.below):
            _keep(node, 5)


def _thin(root: _Node, most: int) -> None:
    """Cut namespaces, those with the most addresses directly below them first, until the tree is small."""
    while (surplus := _leaves(root) - most) > 0:
        widest = max(_nodes(root), key=lambda node: sum(not n.elided for n in node.below))
        size = sum(not n.elided for n in widest.below)
        if size <= 2:
            return
        _keep(widest, max(2, size // 2, size - surplus - 1) if size > 3 else 2)


def _keep(node: _Node, count: int) -> None:
    """Leave so many of the addresses directly below a node, the first ones and the last."""
    shown = [child for child in node.below if not child.elided]
    cut = [*shown[count - 1 : -1], *(child for child in node.below if child.elided)]
    gone = sum(map(_choices, cut))
    node.below = [*shown[: count - 1], _Node(f"… {gone} more", (), left_out=gone, elided=True), shown[-1]]


def _place(node: _Node, line: int) -> int:
    """Give every node its line; the number of lines used up to here."""
    if not node.below:
        node.y = line + 0.5
        return line + 1
    for child in node.below:
        line = _place(child, line)
    node.y = (node.below[0].y + node.below[-1].y) / 2
    return line


def _text(node: _Node, trace: ReferenceTrace) -> str:
    if node.below or node.elided or not node.path:
        return node.label
    if node.left_out:
        return f"{node.label}: … {node.left_out} below"
    return f"{node.label}: {shown_value(trace.records[node.path][1], 18)}"


def _columns(root: _Node, trace: ReferenceTrace) -> list[float]:
    """The width of each level, in inches."""
    widths, level = [], [root]
    while level:
        widths.append(max(text_width(_text(node, trace), _SIZE) for node in level) + 2 * _PAD)
        level = [child for node in level for child in node.below]
    return widths


def _draw(
    axes: Any, node: _Node, trace: ReferenceTrace, starts: list[float], level: int, top: float
) -> None:
    text = _text(node, trace)
    x, y, width = starts[level], top + node.y * _LINE, text_width(text, _SIZE) + 2 * _PAD
    fill, line = _look(node, trace)
    if not node.elided:
        tall = 0.78 * _LINE
        axes.add_patch(Rectangle((x, y - tall / 2), width, tall, fc=fill, ec=line, lw=0.8, zorder=3))
    colour = GREY if node.elided else "black"
    axes.text(x + _PAD, y, text, va="center", size=_SIZE, family=MONOSPACE, color=colour, zorder=4)
    if node.below:
        end = starts[level + 1]
        trunk = end - _GAP / 2
        ends = [top + child.y * _LINE for child in node.below]
        axes.plot([x + width, trunk], [y, y], **_TWIG)
        axes.plot([trunk, trunk], [ends[0], ends[-1]], **_TWIG)
        for child, height in zip(node.below, ends, strict=True):
            axes.plot([trunk, end], [height, height], **_TWIG)
            _draw(axes, child, trace, starts, level + 1, top)


def _look(node: _Node, trace: ReferenceTrace) -> tuple[str, str]:
    if node.path not in trace.records:
        return "white", "0.6"
    if node.path in trace.observed_paths:
        return "0.9", "0.6"
    if measured(trace.records[node.path][0]).discrete:
        return PALE_ORANGE, ORANGE
    return PALE_BLUE, BLUE


def _draw_key(axes: Any, y: float) -> None:
    looks = (("continuous", PALE_BLUE, BLUE), ("discrete", PALE_ORANGE, ORANGE), ("observed", "0.9", "0.6"))
    for i, (name, fill, line) in enumerate(looks):
        axes.add_patch(Rectangle((1.5 * i + 0.01, y - 0.06), 0.24, 0.12, fc=fill, ec=line, lw=0.8))
        axes.text(1.5 * i + 0.32, y, name, va="center", size=_SIZE)
