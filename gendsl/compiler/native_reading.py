"""What reads single choices, and arrays of them, of the current trace of a chain of compiled kernels."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from gendsl.compiler.addresses import Addresses
from gendsl.compiler.closed_sampler import _typed
from gendsl.compiler.front.program import Template
from gendsl.compiler.front.values import NotClosed
from gendsl.compiler.native_layout import Word, is_auxiliary
from gendsl.compiler.types import Number

if TYPE_CHECKING:
    from gendsl.compiler.native_state import NativeState


def reader(state: NativeState, path: tuple[Any, ...]) -> Callable[[], Any] | None:
    """What reads the choice at an address, or those numbered below it as an array; None if nothing does.

    It gives None where the current trace does not have them.
    """
    return choice_reader(state, path) or _array_reader(state, path)


def choice_reader(state: NativeState, path: tuple[Any, ...]) -> Callable[[], Any] | None:
    """What reads the choice at an address, in a time that doesn't depend on how many choices there are.

    It gives None where the current trace does not have the choice; there is none where no trace has.
    """
    addresses = Addresses(state.closed.lowered)
    try:
        every = addresses.find_all(path)
    except NotClosed:
        return None

    def place_of(template: Template, at: tuple[int, ...], node: int | None) -> int | None:
        """A place; below a call of a program that calls itself, the one whose node is given."""
        place = 0
        if node is not None:
            at = (node, *at[1:])
        for axis, (index, capacity) in enumerate(zip(at, state.capacities[template.number], strict=True)):
            if not 0 <= index < capacity:
                return None
            place = index if axis == 0 else place * capacity + index
        return place

    def read() -> Any:
        node: int | None = None
        for number, at in addresses.nodes:  # from the outermost call to the innermost one
            place = place_of(state.templates[number], at, node)
            node = -1 if place is None else int(state.columns[number][0][place]) - 1
        for template, indices in every:
            place, number = place_of(template, indices, node), template.number
            stamps = state.stamps[number][state.row(template, state.words)]
            if place is not None and stamps[place] == state.words[Word.CURRENT]:
                return state.values_of(template, slice(place, place + 1))[0]
        return None

    return read


def _array_reader(state: NativeState, path: tuple[Any, ...]) -> Callable[[], Any] | None:
    """What reads the choices that are numbered below an address, as an array."""
    size = len(path)
    found = [one for one in state.templates if not is_auxiliary(one) and one.parts[:size] == path]
    if len(found) != 1 or found[0].calls is not None or not isinstance(found[0].type, Number):
        return None
    (template,) = found
    if (
        any(part is not None for part in template.parts[size:])
        or template.rank != len(template.parts) - size
    ):
        return None

    def read() -> Any:
        places = np.flatnonzero(state.current(template))
        indices = np.unravel_index(places, state.capacities[template.number])
        shape = tuple(int(axis.max()) + 1 for axis in indices) if len(places) else ()
        if not len(places) or math.prod(shape) != len(places):
            return None
        column = state.columns[template.number][0]
        return _typed(column[places], template.type.kind).reshape(shape).copy()  # type: ignore[attr-defined]

    return read
