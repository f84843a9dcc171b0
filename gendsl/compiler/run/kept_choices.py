"""The choices of the draws of a chain of machine code, where whole traces are kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gendsl.compiler.hir.templates import Template
from gendsl.compiler.hir.types import Array
from gendsl.compiler.run.native_choices import NativeChoices

if TYPE_CHECKING:
    from gendsl.compiler.run.chain_kernel import ChainKernel

_BLOCK = 4096
"""How many bytes of a column are kept together; those that are as in the draw before are kept once."""

_Blocks = tuple[bytes, ...]


class KeptChoices(NativeChoices):
    """The choices of a draw. What is as it was in the draw before is shared with that.

    Args:
        state: the memory of the chain, which is at the draw.
        rows: for each template the stamps of its places.
        before: the choices of the draw before; None for the first.

    Attributes:
        log_density: the log density of the draw's trace.
    """

    closed: ChainKernel
    stamp = 1

    def __init__(
        self,
        state: NativeChoices,
        rows: Sequence[np.ndarray],
        log_density: float,
        before: KeptChoices | None,
    ) -> None:
        self.closed, self.templates, self.capacities = state.closed, state.templates, state.capacities
        self.paths_known, self.log_density = state.paths_known, log_density
        if before is not None and before.capacities != self.capacities:
            before = None
        self.columns = list(state.columns)
        self._rows: list[_Blocks] = []  # for each template, which places are in the trace
        self._written: list[list[_Blocks]] = []  # for each the columns, if steps write them
        self._arrays: dict[int, np.ndarray] = {}  # for each template of arrays these, by place
        stamp, written = state.stamp, self.closed.written
        for template, row in zip(self.templates, rows, strict=True):
            number = template.number
            if template.is_auxiliary:
                self._rows.append(())
                self._written.append([])
                continue
            here = row == stamp
            self._rows.append(_shared(here, before._rows[number] if before else ()))
            if isinstance(template.type, Array):
                old = before._arrays[number] if before else None
                if before is None or before.columns[number] is not state.columns[number]:
                    old = _arrays(state, template, here, old)
                assert old is not None
                self._arrays[number] = old
            if number not in written:
                self._written.append([])
                continue
            self.columns[number] = []
            known = before._written[number] if before else [() for _ in state.columns[number]]
            pairs = zip(state.columns[number], known, strict=True)
            self._written.append([_shared(now, old) for now, old in pairs])

    def stamps_now(self, template: Template) -> np.ndarray:
        return np.frombuffer(b"".join(self._rows[template.number]), np.bool_)

    def columns_of(self, template: Template) -> list[np.ndarray]:
        written = self._written[template.number]
        return [np.frombuffer(b"".join(one), np.int64) for one in written] or self.columns[template.number]

    def place_of(self, template: Template, indices: tuple[int, ...]) -> int | None:
        return None if template.is_auxiliary else super().place_of(template, indices)

    def values_of(self, template: Template, places: Any) -> list[Any]:
        arrays = self._arrays.get(template.number)
        if arrays is None:
            return super().values_of(template, places)
        found: list[Any] = arrays[places].tolist()
        return found


def _shared(now: np.ndarray, before: _Blocks) -> _Blocks:
    """A column in blocks, those of another where they are the same."""
    data = now.tobytes()
    blocks = tuple(data[start : start + _BLOCK] for start in range(0, len(data), _BLOCK))
    if not before or blocks == before:
        return before or blocks
    return tuple(old if new == old else new for new, old in zip(blocks, before, strict=True))


def _arrays(
    state: NativeChoices, template: Template, here: np.ndarray, before: np.ndarray | None
) -> np.ndarray:
    """The arrays of a template by place, those of another where they are the same."""
    made, places = np.empty(len(here), object), np.flatnonzero(here)
    for place, value in zip(places.tolist(), state.values_of(template, places), strict=True):
        old = None if before is None else before[place]
        made[place] = old if old is not None and np.array_equal(value, old) else value
    return made
