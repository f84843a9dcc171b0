"""The choices that a sampler has left, of which the next run of it changes nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gendsl.compiler.hir.addresses import Addresses
from gendsl.compiler.hir.decode import from_arena
from gendsl.compiler.hir.failures import NotClosed
from gendsl.compiler.hir.templates import Template
from gendsl.compiler.hir.types import Array
from gendsl.compiler.llvm.native_layout import TemplateWords, Word
from gendsl.compiler.run.closed_sampler import ClosedSampler, SamplerContext
from gendsl.compiler.run.native_choices import NativeChoices

_MOST_FOUND = 10_000
"""So many addresses that were asked for are kept with where their choices are."""


class Known:
    """What is known of addresses, for the choices of all runs of a sampler.

    Attributes:
        paths: for each template the paths of indices that were asked for.
        places: for addresses that were asked for where their choices may be.
    """

    def __init__(self, templates: Sequence[Template]) -> None:
        self.paths: list[dict[tuple[int, ...], Any]] = [{} for _ in templates]
        self.places: dict[tuple[Any, ...], list[tuple[Template, tuple[int, ...]]]] = {}


class DrawnChoices(NativeChoices):
    """The choices of one run, copied from the memory of the sampler; arrays are made there and then.

    Args:
        given: the arrays that were given, by the numbers of templates and the places of choices.
    """

    closed: ClosedSampler
    stamp = 1

    def __init__(self, sampler: SamplerContext, known: Known, given: Mapping[int, Mapping[int, Any]]) -> None:
        self.closed, self.templates = sampler.closed, sampler.closed.lowered.templates
        self.capacities, self.paths_known, self.known = sampler.capacities, known.paths, known
        now = sampler.words[Word.NOW]
        self._rows: list[np.ndarray] = [stamps[TemplateWords.VISITED] == now for stamps in sampler.stamps]
        self._arrays: dict[int, dict[int, Any]] = {}
        for template in self.templates:
            if isinstance(template.type, Array):
                arrays = dict(given.get(template.number, {}))
                self._arrays[template.number] = self._made(template, template.type, sampler, arrays)
        self.columns = [[column.copy() for column in columns] for columns in sampler.columns]

    def _made(
        self, template: Template, kind: Array, sampler: SamplerContext, arrays: dict[int, Any]
    ) -> dict[int, Any]:
        """The arrays of a template, by place, of which some are there."""
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
        every = self.known.places.get(path)
        if every is None:
            try:
                every = Addresses(self.closed.lowered).find_all(path)
            except NotClosed:
                every = []
            if len(self.known.places) >= _MOST_FOUND:
                self.known.places.clear()
            self.known.places[path] = every
        for template, indices in every:
            value = self.value_of(template, indices)
            if value is not None:
                return value
        return None
