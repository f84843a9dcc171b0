"""Closed transforms: what a transform writes, and the log determinant of its Jacobian, by one text.

The text is run once for the values and once for each continuous coordinate that was read, which gives one row
of the Jacobian each; see `gendsl.compiler.tangents`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import nan
from typing import Any

import numpy as np

from gendsl.compiler import clean, replay, tangents
from gendsl.compiler.closed import PYTHON_FAILURES, Addresses, FailedText
from gendsl.compiler.encode import deep_layout, flat
from gendsl.compiler.front.program import MODEL, Below, Entry, Lowered, Lowering, Template, type_of
from gendsl.compiler.front.traces import ArgumentsOf, TraceOf, whole
from gendsl.compiler.front.values import NotClosed
from gendsl.compiler.print_python import compile_python, print_python
from gendsl.compiler.print_runtime import TextFailure
from gendsl.compiler.types import Array, leaves

AUXILIARY = "aux"
Path = tuple[Any, ...]
Place = tuple[str, Path]
"""A choice: the name of its program, and its address."""


@dataclass(frozen=True)
class Given:
    """A trace, as a text is given it.

    Attributes:
        args: the arguments of its program.
        choices: the values of its choices.
        fixed: the choices that have no coordinates: those that are observed, or discrete.
    """

    args: tuple[Any, ...]
    choices: Mapping[Path, Any]
    fixed: frozenset[Path]


@dataclass(frozen=True)
class Written:
    """What a transform leads to.

    Attributes:
        values: what it wrote or copied.
        copies: what was copied, and from where.
        rows: for each continuous coordinate that was read, the choice that it is one of, and the derivatives
            of what was written.
    """

    values: dict[Place, Any]
    copies: dict[Place, Place]
    rows: list[tuple[Place, dict[Place, list[float]]]]

    def log_abs_det(self, inputs: Iterable[Place]) -> float:
        """log |det J| for these continuous inputs.

        Raises:
            FailedText: their number differs from that of the outputs, or the determinant is no number.
        """
        rows = [place for place in inputs if place not in set(self.copies.values())]
        known: dict[Place, list[dict[Place, list[float]]]] = {}
        for place, derivatives in self.rows:
            known.setdefault(place, []).append(derivatives)
        outputs = [place for place, parts in self._parts().items() for _ in range(parts)]
        matrix = []
        for place in rows:
            for derivatives in known.get(place, []):
                row = [part for found in derivatives.values() for part in found]
                matrix.append(row)
        if len(matrix) != len(outputs) or len({place for place in rows if place not in known}):
            raise FailedText(0, f"{len(matrix)} coordinates go in, {len(outputs)} come out")
        if not matrix:
            return 0.0
        jacobian = np.array(matrix)
        found = float(np.linalg.slogdet(jacobian)[1]) if np.isfinite(jacobian).all() else nan
        if not np.isfinite(found):
            raise FailedText(0, "a determinant that is zero or no number")
        return found

    def _parts(self) -> dict[Place, int]:
        return {place: len(parts) for place, parts in self.rows[0][1].items()} if self.rows else {}


class _Run:
    """One execution of the text: the coordinates, and which of them is followed."""

    def __init__(self, followed: int) -> None:
        self.followed = followed
        self.starts: dict[Place, int] = {}
        self.count = 0
        self.owners: list[Place] = []

    def coordinates(self, place: Place, count: int) -> int:
        """The first of the coordinates of a choice."""
        if place not in self.starts:
            self.starts[place] = self.count
            self.count += count
            self.owners += [place] * count
        return self.starts[place]


class _Column:
    """The choices of a template: those that are given, and those that are written."""

    def __init__(self, template: Template, run: _Run, paths: _Paths) -> None:
        self.template, self.run, self.paths = template, run, paths
        self.kind = template.type.kind if isinstance(template.type, Array) else ""
        self.leaves = leaves(template.type)
        self.values: dict[Any, list[Any]] = {}
        self.fixed: set[Any] = set()
        self.written: dict[Any, tuple[list[Any], list[float]]] = {}
        self.copies: dict[Any, tuple[_Column, Any]] = {}

    def place(self, index: Any) -> Place:
        """The choice at an index."""
        return self.template.trace, self.paths.of(self.template, index)

    def has(self, index: Any) -> bool:
        """Whether there is one."""
        return index in self.values

    def read(self, index: Any) -> Any:
        """The leaves of the value, with tangents."""
        parts = self.values[index]
        if self.kind == "f":
            items = parts[0]
            at = -1 if index in self.fixed else self.run.coordinates(self.place(index), len(items))
            followed = self.run.followed
            pairs = [(value, 1.0 if at >= 0 and at + i == followed else 0.0) for i, value in enumerate(items)]
            return (pairs, *parts[1:])
        if self.leaves == ("f",):
            at = -1 if index in self.fixed else self.run.coordinates(self.place(index), 1)
            return parts[0], 1.0 if at >= 0 and at == self.run.followed else 0.0
        if "f" in self.leaves:
            raise TextFailure("a choice with several parts")
        return parts[0] if len(parts) == 1 else tuple(parts)

    def look(self, index: Any) -> Any:
        """The leaves of the value, with tangents that are not known."""
        parts = self.values[index]
        if self.kind == "f":
            return ([(value, nan) for value in parts[0]], *parts[1:])
        found = [leaf for part, kind in zip(parts, self.leaves, strict=True) for leaf in _lost(part, kind)]
        return found[0] if len(found) == 1 else tuple(found)

    def write(self, index: Any, *given: Any) -> None:
        """Set the value."""
        if index in self.written or index in self.copies:
            raise TextFailure("an address that is written twice")
        if self.kind:
            items, at, length, stride = given
            every = [items[at + i * stride] for i in range(length)]
            values = [item[0] if self.kind == "f" else item for item in every]
            self.written[index] = [values], [item[1] for item in every] if self.kind == "f" else []
        elif self.leaves == ("f",):
            self.written[index] = [given[0]], [given[1]]
        elif "f" in self.leaves or "r" in self.leaves:
            raise TextFailure("a choice with several parts")
        else:
            self.written[index] = list(given), []

    def copy(self, index: Any, source: _Column, at: Any) -> int:
        """Copy what is there, or what is there with more indices."""
        first, rank = _indices(at), self.template.rank
        found = [key for key in source.values if _indices(key)[: len(first)] == first]
        for key in found:
            more = (*_indices(index), *_indices(key)[len(first) :])
            there = more[0] if rank == 1 else more
            if there in self.written or there in self.copies:
                raise TextFailure("an address that is written twice")
            self.copies[there] = source, key
        return len(found)


def _indices(index: Any) -> tuple[Any, ...]:
    return index if isinstance(index, tuple) else (index,)


def _lost(part: Any, kind: str) -> tuple[Any, ...]:
    return (part, nan) if kind == "f" else (part,)


class _Paths:
    """Finds the address of a template with indices."""

    def __init__(self, lowered: Lowered, nodes: Mapping[tuple[int, tuple[int, ...]], int]) -> None:
        self.texts = {number: text for text, number in lowered.facts.texts.items()}
        self.templates = lowered.templates
        self.nodes = {node: key for key, node in nodes.items()}

    def of(self, template: Template, index: Any) -> Path:
        """The address."""
        rest = list(_indices(index))
        parts = list(template.parts)
        start: Path = ()
        if parts and isinstance(parts[0], Below):
            number, indices = self.nodes[rest.pop(0)]
            start = self.of(self.templates[number], indices)
            parts = parts[1:]
        own = [
            rest.pop(0) if part is None else self.texts[rest.pop(0)] if part is ... else part
            for part in parts
        ]
        return (*start, *own)


class _State:
    """The choices of the traces, for the text."""


class ClosedTransform:
    """A transform of the traces of a program and of an auxiliary program, for arguments of given types.

    Attributes:
        lowered: the transform in HIR, with the templates of both programs.
        text: it, with tangents, as Python text.
    """

    def __init__(self, f: Any, model: Any, args: tuple[Any, ...], q: Any, q_args: tuple[Any, ...]) -> None:
        lowering = Lowering()
        types = [type_of(lowering.facts, ("argument", i), arg) for i, arg in enumerate(args)]
        entries = [Entry(MODEL, model.compiled.origin, tuple(types), bound=model.bound)]
        names = [MODEL]
        if q is not None:
            own = [type_of(lowering.facts, (AUXILIARY, i), arg) for i, arg in enumerate(q_args)]
            given = (whole(TraceOf(MODEL, "trace")), *own)
            entries.append(Entry(AUXILIARY, q.compiled.origin, given, bound=q.bound))
            names.append(AUXILIARY)
        inputs = tuple(whole(TraceOf(name, "input")) for name in names)
        outputs = {
            output: whole(TraceOf(name, "output")) for output, name in zip(f.outputs, names, strict=True)
        }
        entries.append(
            Entry(
                "transform", f.origin, inputs, outputs, bound=f._bound, constants=f.parameters, chooses=False
            )
        )
        every = lowering.lower_together(entries)
        self.lowered = every[-1]
        for name, made in self.lowered.replays.items():
            replay.fill(made, every[names.index(name)].main)
        self.main = tangents.differentiate(self.lowered.main)
        clean.clean(self.main)
        self.text = print_python(self.main)

    @cached_property
    def _code(self) -> Any:
        return compile(self.text, "<gendsl text>", "exec")

    def run(self, given: Mapping[str, Given]) -> Written:
        """What the transform writes for traces.

        Raises:
            FailedText: the interpreter decides.
            NotClosed: a trace is not of the types that the text is for.
        """
        program = compile_python(self.text, self._inputs(given))[self.main.name]
        places = {name: self._places(name, trace) for name, trace in given.items()}
        first = self._once(program, given, places, -1)
        count, owners = first[0].count, first[0].owners
        rows = []
        for coordinate in range(count):
            run, columns = self._once(program, given, places, coordinate)
            if run.owners != owners:
                raise FailedText(0, "a transform that reads other choices each time")
            found = {}
            for column in columns:
                for index, (_, derivatives) in column.written.items():
                    if derivatives:
                        found[column.place(index)] = derivatives
            rows.append((owners[coordinate], found))
        values: dict[Place, Any] = {}
        copies: dict[Place, Place] = {}
        for column in first[1]:
            for index, (parts, _) in column.written.items():
                values[column.place(index)] = np.array(parts[0]) if column.kind else parts[0]
            for index, (source, key) in column.copies.items():
                copies[column.place(index)] = source.place(key)
                values[column.place(index)] = given[source.template.trace].choices[source.place(key)[1]]
        return Written(values, copies, rows)

    def _inputs(self, given: Mapping[str, Given]) -> dict[str, Any]:
        facts, found = self.lowered.facts, {}
        for number, (one, kind) in enumerate(self.lowered.inputs):
            if isinstance(one, ArgumentsOf):
                one = given[one.name].args[one.position]
            layout = deep_layout(facts, kind)
            for leaf, (value, (_, inner)) in enumerate(zip(flat(facts, one, kind), layout, strict=True)):
                found[f"given_{number}_{leaf}"] = _with_tangents(value, inner)
        return found

    def _places(self, name: str, trace: Given) -> tuple[Any, _Paths]:
        addresses = Addresses(self.lowered, name)
        found: dict[int, dict[Any, tuple[list[Any], bool]]] = {}
        for path, value in trace.choices.items():
            templates, indices = addresses.find(path)
            for template in templates:
                try:
                    parts = flat(self.lowered.facts, value, template.type)
                except NotClosed:
                    continue
                index = indices[0] if len(indices) == 1 else indices
                found.setdefault(template.number, {})[index] = parts, path in trace.fixed
                break
            else:
                raise NotClosed(f"a value of another type at {path!r}")
        for (number, indices), node in addresses.nodes.items():
            index = indices[0] if len(indices) == 1 else indices
            found.setdefault(number, {})[index] = [node], True
        return found, _Paths(self.lowered, addresses.nodes)

    def _once(
        self, program: Any, given: Mapping[str, Given], places: Mapping[str, Any], followed: int
    ) -> tuple[_Run, list[_Column]]:
        state, run = _State(), _Run(followed)
        columns = []
        for template in self.lowered.templates:
            if template.trace not in given:
                continue
            found, paths = places[template.trace]
            column = _Column(template, run, paths)
            for index, (parts, fixed) in found.get(template.number, {}).items():
                column.values[index] = parts
                if fixed:
                    column.fixed.add(index)
            columns.append(column)
            setattr(state, template.name, column)
        try:
            program(state)
        except PYTHON_FAILURES as error:
            raise FailedText(0, f"{type(error).__name__}: {error}") from error
        return run, columns


def _with_tangents(value: Any, layout: tuple[Any, ...]) -> Any:
    """A list of Python text with a tangent of zero behind each float."""
    if not isinstance(value, list) or not layout:
        return value
    if len(layout) == 1:
        kind, inner = layout[0]
        if kind == "f":
            return [(one, 0.0) for one in value]
        return [_with_tangents(one, inner) for one in value] if kind == "r" else value
    return [
        tuple(
            part
            for leaf, (kind, inner) in zip(item, layout, strict=True)
            for part in ((leaf, 0.0) if kind == "f" else (_with_tangents(leaf, inner),))
        )
        for item in value
    ]
