"""The choices that a sampler has left, of which the next run of it changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gendsl.compiler.hir.addresses import Addresses
from gendsl.compiler.hir.decode import from_arena
from gendsl.compiler.hir.failures import NotClosed
from gendsl.compiler.hir.templates import Template
from gendsl.compiler.hir.types import Array
from gendsl.compiler.llvm.native_layout import TemplateWords, Word
from gendsl.compiler.run.native_choices import NativeChoices

if TYPE_CHECKING:
    from gendsl.compiler.run.called_sampler import CalledSampler
    from gendsl.compiler.run.closed_sampler import ClosedSampler

_MOST_FOUND = 10_000
"""So many addresses that were asked for are kept with where their choices are."""


class DrawnChoices(NativeChoices):
    """The choices of one run, copied from the memory of the sampler; arrays are made there and then."""

    closed: ClosedSampler
    stamp = 1

    def __init__(self, sampler: CalledSampler) -> None:
        self.closed, self.templates = sampler.closed, sampler.closed.lowered.templates
        self.capacities, self.paths_known = sampler.capacities, sampler.paths_known
        self.found = sampler.places_found
        now = sampler.words[Word.NOW]
        self._rows: list[np.ndarray] = [stamps[TemplateWords.VISITED] == now for stamps in sampler.stamps]
        self._arrays: dict[int, dict[int, Any]] = {}
        for template in self.templates:
            if isinstance(template.type, Array):
                self._arrays[template.number] = self._made(template, template.type, sampler)
        self.columns = [[column.copy() for column in columns] for columns in sampler.columns]

    def _made(self, template: Template, kind: Array, sampler: CalledSampler) -> dict[int, Any]:
        """The arrays of a template, by place; those that were given are at hand."""
        arrays = dict(sampler.arrays.get(template.number, {}))
        drawn = np.flatnonzero(self._rows[template.number])
        if arrays:
            drawn = np.array([place for place in drawn.tolist() if place not in arrays], np.int64)
        if len(drawn):
            columns = [column[drawn] for column in sampler.columns[template.number]]
            made = from_arena(kind, columns, sampler.arena)
            arrays.update(zip(drawn.tolist(), made, strict=True))
        return arrays

    def stamps_now(self, template: Template) -> np.ndarray:
        return self._rows[template.number]

    def values_of(self, template: Template, places: Any) -> list[Any]:
        arrays = self._arrays.get(template.number)
        if arrays is None:
            return super().values_of(template, places)
        if isinstance(places, slice):
            places = np.arange(places.start, places.stop)
        return [arrays[place] for place in places.tolist()]

    def choice(self, path: tuple[Any, ...]) -> Any:
        every = self.found.get(path)
        if every is None:
            try:
                every = Addresses(self.closed.lowered).find_all(path)
            except NotClosed:
                every = []
            if len(self.found) >= _MOST_FOUND:
                self.found.clear()
            self.found[path] = every
        for template, indices in every:
            value = self.value_of(template, indices)
            if value is not None:
                return value
        return None
