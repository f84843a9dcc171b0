"""Closed transforms: what a transform writes, and the log determinant of its Jacobian, by one text.

The text is run once for the values and once for each continuous coordinate that was read, which gives one row
of the Jacobian each; see `gendsl.compiler.tangents`.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import nan
from typing import Any

import numpy as np

from gendsl.compiler import clean, replay, tangents
from gendsl.compiler.addresses import Addresses, Paths
from gendsl.compiler.closed import PYTHON_FAILURES, FailedText
from gendsl.compiler.encode import deep_layout, flat, with_tangents
from gendsl.compiler.front.program import MODEL, Entry, Lowering, Template, type_of
from gendsl.compiler.front.traces import ArgumentsOf, TraceOf, whole
from gendsl.compiler.print_python import compile_python, print_python
from gendsl.compiler.print_runtime import TextFailure
from gendsl.compiler.types import Array, leaves
from gendsl.supports import Support

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
        observed: the choices that may not be changed.
        supports: those of the choices that have coordinates: the continuous ones that are not observed.
    """

    args: tuple[Any, ...]
    choices: Mapping[Path, Any]
    observed: Container[Path]
    supports: Mapping[Path, Support]


@dataclass(frozen=True)
class Written:
    """What a transform leads to.

    Attributes:
        values: what it wrote or copied.
        copies: what was copied, and from where.
        read: the choices that were read and have coordinates.
        rows: for each free coordinate that was read, the choice that it is one of, and the derivatives of
            the entries of what was written.
    """

    values: dict[Place, Any]
    copies: dict[Place, Place]
    read: frozenset[Place]
    rows: list[tuple[Place, dict[Place, list[float]]]]

    def log_abs_det(self, inputs: Iterable[Place], outputs: Mapping[Place, Support]) -> float:
        """log |det J|, in free coordinates.

        Args:
            inputs: the continuous choices that do not stay as they are.
            outputs: the supports of the continuous choices of the outputs.

        Raises:
            FailedText: the numbers of coordinates differ, or the determinant is zero or no number.
        """
        given = set(inputs)
        free = {place: support.free_entries for place, support in outputs.items() if place in self.values}
        columns = [place for place in free if place not in self.copies]
        copied = [self.copies[place] for place in free if place in self.copies]
        if len(set(copied)) < len(copied) or not given.issuperset(copied):
            raise FailedText(0, "a continuous choice that is copied twice, or that stays where it is, too")
        rows = [place for place in given if place not in copied]
        known: dict[Place, list[dict[Place, list[float]]]] = {}
        for place, derivatives in self.rows:
            known.setdefault(place, []).append(derivatives)
        unread = [place for place in rows if place not in self.read]
        matrix = [
            [found[place][entry] for place in columns for entry in free[place]]
            for row in rows
            for found in known.get(row, [])
        ]
        size = sum(len(free[place]) for place in columns)
        if unread or len(matrix) != size:
            raise FailedText(0, f"{len(matrix)} coordinates go in, {size} come out, not read: {unread}")
        if not matrix:
            return 0.0
        jacobian = np.array(matrix)
        found = float(np.linalg.slogdet(jacobian)[1]) if np.isfinite(jacobian).all() else nan
        if not np.isfinite(found):
            raise FailedText(0, "a determinant that is zero or no number")
        return found


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

    def __init__(self, template: Template, run: _Run, paths: Paths) -> None:
        self.template, self.run, self.paths = template, run, paths
        self.kind = template.type.kind if isinstance(template.type, Array) else ""
        self.leaves = leaves(template.type)
        self.values: dict[Any, list[Any]] = {}
        self.supports: dict[Any, Support] = {}
        self.observed: Container[Path] = ()
        self.written: dict[Any, tuple[list[Any], list[float]]] = {}
        self.copies: dict[Any, tuple[_Column, Any]] = {}

    def place(self, index: Any) -> Place:
        """The choice at an index."""
        return self.template.trace, self.paths.path(self.template, _indices(index))

    def has(self, index: Any) -> bool:
        """Whether there is one."""
        return index in self.values

    def read_slopes(self, index: Any) -> Any:
        """The leaves of the value, with tangents."""
        parts = self.values[index]
        if self.kind == "f":
            return (list(zip(parts[0], self._slopes(index, len(parts[0])), strict=True)), *parts[1:])
        if self.leaves == ("f",):
            return parts[0], self._slopes(index, 1)[0]
        if "f" in self.leaves:
            raise TextFailure("a choice with several parts")
        return parts[0] if len(parts) == 1 else tuple(parts)

    def _slopes(self, index: Any, size: int) -> list[float]:
        """The derivatives of the entries of a value along the coordinate that is followed."""
        support = self.supports.get(index)
        if support is None:
            return [0.0] * size
        at = self.run.followed - self.run.coordinates(self.place(index), support.dim)
        slopes: list[float] = support.embedding[:, at].tolist() if 0 <= at < support.dim else [0.0] * size
        return slopes

    def look_slopes(self, index: Any) -> Any:
        """The leaves of the value, with tangents that are not known."""
        parts = self.values[index]
        if self.kind == "f":
            return ([(value, nan) for value in parts[0]], *parts[1:])
        found = [leaf for part, kind in zip(parts, self.leaves, strict=True) for leaf in _lost(part, kind)]
        return found[0] if len(found) == 1 else tuple(found)

    def write_slopes(self, index: Any, *given: Any) -> None:
        """Set the value."""
        self._check_free(index)
        if self.kind:
            items, at, length, stride = given
            every = [items[at + i * stride] for i in range(length)]
            values = [item[0] if self.kind == "f" else item for item in every]
            _check_numbers(values)
            self.written[index] = [values], [item[1] for item in every] if self.kind == "f" else []
        elif self.leaves == ("f",):
            _check_numbers(given[:1])
            self.written[index] = [given[0]], [given[1]]
        elif "f" in self.leaves or "r" in self.leaves:
            raise TextFailure("a choice with several parts")
        else:
            self.written[index] = list(given), []

    def _check_free(self, index: Any) -> None:
        """Fail where a choice was written before, or may not be."""
        if index in self.written or index in self.copies:
            raise TextFailure("an address that is written twice")
        if self.place(index)[1] in self.observed:
            raise TextFailure("an observation that is written")

    def _below(self, at: Any) -> list[Any]:
        """The places whose first indices are these."""
        first = _indices(at)
        return [key for key in self.values if _indices(key)[: len(first)] == first]

    def count_below(self, at: Any) -> int:
        """How many choices have these first indices."""
        return len(self._below(at))

    def count(self, index: Any, source: _Column, at: Any) -> int:
        """Copy what is there, or what is there with more indices."""
        first, rank = _indices(at), self.template.rank
        found = source._below(at)
        for key in found:
            more = (*_indices(index), *_indices(key)[len(first) :])
            there = more[0] if rank == 1 else more
            self._check_free(there)
            self.copies[there] = source, key
        return len(found)


def _check_numbers(values: Iterable[float]) -> None:
    if any(value != value for value in values):
        raise TextFailure("NaN is written")


def _indices(index: Any) -> tuple[Any, ...]:
    return index if isinstance(index, tuple) else (index,)


def _index(indices: tuple[int, ...]) -> Any:
    return indices[0] if len(indices) == 1 else indices


def _lost(part: Any, kind: str) -> tuple[Any, ...]:
    return (part, nan) if kind == "f" else (part,)


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
            given = (whole(lowering.trace_given(MODEL)), *own)
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
        replay.fill_all(self.lowered, {name: one.main for name, one in zip(names, every, strict=False)})
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
            for index in (*column.written, *column.copies):
                if column.place(index) in values:  # as a choice of another type
                    raise FailedText(0, "an address that is written twice")
            for index, (parts, _) in column.written.items():
                values[column.place(index)] = np.array(parts[0]) if column.kind else parts[0]
            for index, (source, key) in column.copies.items():
                copies[column.place(index)] = source.place(key)
                values[column.place(index)] = given[source.template.trace].choices[source.place(key)[1]]
        return Written(values, copies, frozenset(first[0].starts), rows)

    def _inputs(self, given: Mapping[str, Given]) -> dict[str, Any]:
        facts, found = self.lowered.facts, {}
        for number, (one, kind) in enumerate(self.lowered.inputs):
            if isinstance(one, ArgumentsOf):
                one = given[one.name].args[one.position]
            layout = deep_layout(facts, kind)
            for leaf, (value, (_, inner)) in enumerate(zip(flat(facts, one, kind), layout, strict=True)):
                found[f"given_{number}_{leaf}"] = value
                found[f"given_{number}_{leaf}_d"] = with_tangents(value, inner)
        return found

    def _places(self, name: str, trace: Given) -> tuple[Any, Paths]:
        addresses = Addresses(self.lowered, name)
        found: dict[int, dict[Any, tuple[list[Any], Support | None]]] = {}
        for path, value in trace.choices.items():
            template, indices, parts = addresses.place(path, value)
            found.setdefault(template.number, {})[_index(indices)] = parts, trace.supports.get(path)
        calls = {}
        for (number, indices), node in addresses.nodes.items():
            found.setdefault(number, {})[_index(indices)] = [node], None
            calls[node] = self.lowered.templates[number], indices
        return found, Paths(self.lowered, calls)

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
            column.observed = given[template.trace].observed
            for index, (parts, support) in found.get(template.number, {}).items():
                column.values[index] = parts
                if support is not None:
                    column.supports[index] = support
            columns.append(column)
            setattr(state, template.name, column)
        try:
            program(state)
        except PYTHON_FAILURES as error:
            raise FailedText(0, f"{type(error).__name__}: {error}") from error
        return run, columns
