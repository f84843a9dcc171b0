"""The choices of a trace as machine code has them: of that which a chain is at, or of one that it left."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gendsl.compiler.hir.addresses import Paths
from gendsl.compiler.hir.decode import from_words, typed
from gendsl.compiler.hir.templates import Template
from gendsl.compiler.hir.types import Array, Below, Number, PathPart
from gendsl.compiler.run.choice_reader import choice_reader

if TYPE_CHECKING:
    from gendsl.compiler.run.chain_kernel import ChainKernel


class NativeChoices(ABC):
    """The choices of a trace, in the memory that machine code reads and writes.

    Attributes:
        closed: the text of the programs, or of steps.
        templates: the templates of the choices.
        capacities: for each how many places there are along each index.
        columns: for each the leaves of the choices, by place.
        paths_known: for each the paths of indices that were asked for.
    """

    closed: Any
    templates: list[Template]
    capacities: list[list[int]]
    columns: list[list[np.ndarray]]
    paths_known: list[dict[tuple[int, ...], Any]]

    @property
    @abstractmethod
    def stamp(self) -> int:
        """The stamp of what is in the trace."""

    @abstractmethod
    def stamps_now(self, template: Template) -> np.ndarray:
        """For each place of a template the stamp that says whether its choice is in the trace."""

    def columns_of(self, template: Template) -> list[np.ndarray]:
        """The leaves of the choices of a template, by place."""
        return self.columns[template.number]

    def current(self, template: Template) -> np.ndarray:
        """Which places of a template are in the current trace."""
        found: np.ndarray = self.stamps_now(template) == self.stamp
        return found

    def paths(self, *, of_trace: bool = False) -> Paths:
        """The addresses of places, or of those alone that are in the current trace."""
        calls: dict[int, tuple[Template, tuple[int, ...]]] = {}
        for template in self.templates:
            if template.has_nodes and not (of_trace and template.is_auxiliary):
                (column,) = self.columns_of(template)
                capacity = self.capacities[template.number]
                is_here = of_trace and not template.is_of_paths
                places = np.flatnonzero(self.current(template) if is_here else column)
                axes = np.unravel_index(places, capacity) if capacity else ()
                nodes = (column[places] - 1).tolist()
                for node, *indices in zip(nodes, *(axis.tolist() for axis in axes), strict=True):
                    calls[node] = template, tuple(indices)
        return Paths(self.closed.lowered, calls)

    def choices(self) -> dict[Any, Any]:
        """The choices of the current trace, by their paths."""
        found: dict[Any, Any] = {}
        paths = self.paths(of_trace=True)
        for template in self.templates:
            if template.is_auxiliary or template.calls is not None:
                continue
            places = np.flatnonzero(self.current(template))
            if len(places):
                capacity = self.capacities[template.number]
                indices = np.unravel_index(places, capacity) if capacity else ()
                rows = zip(*(axis.tolist() for axis in indices), strict=True) if capacity else [()]
                values = self.values_of(template, places)
                is_numbered = any(isinstance(part, (Below, PathPart)) for part in template.parts)
                known = {} if is_numbered else self.paths_known[template.number]  # those are numbered anew
                for at, value in zip(rows, values, strict=True):
                    path = known.get(at)
                    if path is None:
                        path = known[at] = paths.path(template, at)
                    found[path] = value
        return found

    def choice(self, path: tuple[Any, ...]) -> Any:
        """The value of a choice; None if there is none."""
        read = choice_reader(self, path)
        return None if read is None else read()

    def values_of(self, template: Template, places: Any) -> list[Any]:
        """The values of choices of a template."""
        columns, kind = self.columns_of(template), template.type
        if isinstance(kind, Number):
            values: list[Any] = typed(columns[0][places], kind.kind).tolist()
            return values
        assert isinstance(kind, Array)
        return [from_words(kind, row) for row in zip(*(c[places].tolist() for c in columns), strict=True)]

    def node_of(self, template: Template, indices: tuple[int, ...]) -> int | None:
        place = self.place_of(template, indices)
        node = 0 if place is None else int(self.columns_of(template)[0][place])
        return node - 1 if node else None

    def value_of(self, template: Template, indices: tuple[int, ...]) -> Any:
        place = self.place_of(template, indices)
        if place is None or self.stamps_now(template)[place] != self.stamp:
            return None
        return self.values_of(template, slice(place, place + 1))[0]

    def numbered(self, template: Template) -> tuple[Sequence[np.ndarray], Sequence[Any]]:
        places, capacity = np.flatnonzero(self.current(template)), self.capacities[template.number]
        indices = np.unravel_index(places, capacity) if capacity else ()
        return indices, self.values_of(template, places)

    def place_of(self, template: Template, indices: tuple[int, ...]) -> int | None:
        """Where a choice lies; None if there is no room for it."""
        place = 0
        for axis, (index, capacity) in enumerate(
            zip(indices, self.capacities[template.number], strict=True)
        ):
            if not 0 <= index < capacity:
                return None
            place = index if axis == 0 else place * capacity + index
        return place

    def indices_at(self, template: Template, place: int) -> tuple[int, ...]:
        """The indices of a place."""
        capacity = self.capacities[template.number]
        return tuple(int(index) for index in np.unravel_index(place, capacity)) if capacity else ()


class HeldChoices(NativeChoices):
    """The choices of a trace that a chain has left, or is to leave with its next step.

    What no step writes is shared with the chain, whose memory is made anew where that changes.

    Attributes:
        count: how many choices there are.
        log_density: the log density of the trace.
        nodes: how many calls of programs that call themselves had a number.
        arrays: the memory that arrays lie in.
        masks: for each template which choices are observed.
    """

    closed: ChainKernel

    def __init__(
        self,
        state: NativeChoices,
        rows: Sequence[np.ndarray],
        *,
        count: int,
        log_density: float,
        nodes: int,
        arrays: tuple[Any, ...],
        masks: Sequence[np.ndarray],
    ) -> None:
        """
        Args:
            state: the chain's.
            rows: for each template which choices are in the trace.
        """
        self.closed, self.templates, self.capacities = state.closed, state.templates, state.capacities
        self.paths_known, written = state.paths_known, state.closed.written
        self.rows = [row.copy() for row in rows]
        self.columns = [
            [column.copy() for column in columns] if number in written else columns
            for number, columns in enumerate(state.columns)
        ]
        self._stamp, self.count, self.log_density, self.nodes = state.stamp, count, log_density, nodes
        self.arrays, self.masks = arrays, list(masks)

    @property
    def stamp(self) -> int:
        return self._stamp

    def stamps_now(self, template: Template) -> np.ndarray:
        return self.rows[template.number]
