"""Which choices a transform computed a discrete value from, as its source text says it.

Continuous values carry their derivatives, which say what they depend on. Discrete ones are plain numbers, so
the text is looked at: an expression that is written depends on the reads in it, and on those in what was
assigned to its names. What only decides whether it is written (the `if` around it) is not counted.
"""

from __future__ import annotations

import ast
import functools
import linecache
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from gendsl.address import Path
from gendsl.errors import frame_location, user_frame
from gendsl.lang.definition import FunctionNode
from gendsl.transforms.inputs import Input
from gendsl.transforms.labels import Label
from gendsl.transforms.outputs import Output, Write
from gendsl.transforms.run import Run


@dataclass(frozen=True)
class ReadEvent:
    """One execution of a `read`.

    Attributes:
        source: the number of the input, and the path.
        filename, lineno, columns: where it is in the text; columns None where it spans lines.
        written: how many addresses of each output had been written before.
    """

    source: tuple[int, Path]
    filename: str
    lineno: int
    columns: tuple[int, int] | None
    written: tuple[int, ...]


class WatchedInput(Input):
    """An input that takes down what is read, and where."""

    __slots__ = ("events", "run")

    def __init__(
        self, run: Run, name: str, trace: Any, args: tuple[Any, ...], events: list[ReadEvent]
    ) -> None:
        super().__init__(run.transform, run.next_coordinate, name, trace, args)
        self.run = run
        self.near = _nothing_at_hand  # so that every choice is asked for by `value`
        self.events = events

    def value(self, path: Path, label: Label | None) -> Any:
        value = super().value(path, label)
        frame = user_frame(sys._getframe(1))
        if frame is not None:
            place = frame_location(frame, frame.f_lineno, frame.f_lasti)
            written = tuple(len(output.entries) for output in self.run.outputs)
            number = self.run.position(self)
            here = place.filename, place.lineno, place.columns
            self.events.append(ReadEvent((number, path), *here, written))
        return value


def _nothing_at_hand(path: Path) -> None:
    return None


def discrete_sources(
    run: Run, events: list[ReadEvent], side: int, path: Path, entry: Write
) -> set[tuple[int, Path]]:
    """The choices that a write of a discrete value was computed from."""
    filename, lineno, _ = entry.line
    calls = _reads_for(tuple(linecache.getlines(filename)), lineno)
    position = list(run.outputs[side].entries).index(path)
    before = [e for e in events if e.filename == filename and e.written[side] <= position]
    last = _write_before(run.outputs[side], position, lineno)
    found: set[tuple[int, Path]] = set()
    for call in calls:
        here = [e for e in before if _is_at(e, call)]
        recent = [e for e in here if last is None or e.written[side] > last]
        found.update(e.source for e in recent or here)
    return found


def _write_before(output: Output, position: int, lineno: int) -> int | None:
    """The position of what the same line wrote before: in a loop, what was read since belongs to this."""
    lines = [entry.line[1] for entry in output.entries.values()][:position]
    return max((i for i, line in enumerate(lines) if line == lineno), default=None)


def _is_at(event: ReadEvent, call: ast.Call) -> bool:
    if not call.lineno <= event.lineno <= (call.end_lineno or call.lineno):
        return False
    return event.columns is None or (call.col_offset, call.end_col_offset) == event.columns


@functools.lru_cache(maxsize=256)
def _reads_for(lines: tuple[str, ...], lineno: int) -> list[ast.Call]:
    """The calls of `read` that the value written on a line is made from; none if the text isn't found."""
    try:
        tree = ast.parse("".join(lines))
    except SyntaxError:
        return []
    around = [
        node
        for node in ast.walk(tree)
        if isinstance(node, FunctionNode) and node.lineno <= lineno <= (node.end_lineno or 0)
    ]
    if not around:
        return []
    function = max(around, key=lambda node: node.lineno)
    assigned: dict[str, list[ast.expr]] = {}
    for node in ast.walk(function):
        for target, value in _assignments(node):
            for name in _changed(target):
                assigned.setdefault(name, []).append(value)
    waiting: list[ast.expr] = [
        value
        for node in ast.walk(function)
        if isinstance(node, ast.Call) and node.lineno <= lineno <= (node.end_lineno or 0)
        for value in _written(node)
    ]
    reads, known = [], set()
    while waiting:
        for node in _without_addresses(waiting.pop()):
            if isinstance(node, ast.Call) and _called(node) == "read":
                reads.append(node)
            elif isinstance(node, ast.Name) and node.id not in known:
                known.add(node.id)
                waiting += assigned.get(node.id, [])
    return reads


def _called(node: ast.Call) -> str | None:
    return getattr(node.func, "id", None) or getattr(node.func, "attr", None)


def _written(node: ast.Call) -> list[ast.expr]:
    if _called(node) != "write":
        return []
    return node.args[1:2] + [keyword.value for keyword in node.keywords if keyword.arg == "value"]


def _without_addresses(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of an expression, but not those inside a `read`: the address of a value isn't the value."""
    yield node
    if not (isinstance(node, ast.Call) and _called(node) == "read"):
        for child in ast.iter_child_nodes(node):
            yield from _without_addresses(child)


def _assignments(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    if isinstance(node, ast.Assign):
        for target in node.targets:
            yield from _matched(target, node.value)
    elif isinstance(node, (ast.AnnAssign, ast.AugAssign, ast.NamedExpr)) and node.value is not None:
        yield node.target, node.value
    elif isinstance(node, (ast.For, ast.comprehension)):
        yield node.target, node.iter


def _changed(target: ast.expr) -> Iterator[str]:
    """The names that an assignment changes: of `z[j] = ...` it is z."""
    if isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, (ast.Tuple, ast.List)):
        for part in target.elts:
            yield from _changed(part)
    elif isinstance(target, (ast.Subscript, ast.Attribute, ast.Starred)):
        yield from _changed(target.value)


def _matched(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    lists = (ast.Tuple, ast.List)
    if isinstance(target, lists) and isinstance(value, lists) and len(target.elts) == len(value.elts):
        for part, item in zip(target.elts, value.elts, strict=True):
            yield from _matched(part, item)
    else:
        yield target, value
