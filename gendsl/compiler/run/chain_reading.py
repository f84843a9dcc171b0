"""What reads single choices, and arrays of them, of the current trace of a chain of compiled kernels."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from gendsl.compiler.hir.addresses import Addresses
from gendsl.compiler.hir.failures import NotClosed
from gendsl.compiler.hir.key_paths import EMPTY
from gendsl.compiler.hir.templates import Template
from gendsl.compiler.run.chain_state import ChainState
from gendsl.compiler.run.recorded_draws import numbered_below

if TYPE_CHECKING:
    from gendsl.compiler.run.native_choices import NativeChoices


def reader(state: ChainState, path: tuple[Any, ...]) -> Callable[[], Any] | None:
    """What reads the choice at an address, or those numbered below it as an array; None if nothing does.

    It gives None where the current trace does not have them.
    """
    return choice_reader(state, path) or _array_reader(state, path)


def choice_reader(state: ChainState | NativeChoices, path: tuple[Any, ...]) -> Callable[[], Any] | None:
    """What reads the choice at an address, in a time that doesn't depend on how many choices there are.

    It gives None where the current trace does not have the choice; there is none where no trace has.
    """
    addresses = Addresses(state.closed.lowered)
    try:
        every = addresses.find_all(path)
    except NotClosed:
        return None

    def here(template: Template, at: tuple[int, ...], nodes: list[int]) -> tuple[int, ...]:
        """Indices, with the nodes that the state has in place of those of the table of addresses."""
        own = list(at)
        if template.is_below:
            own[0] = nodes[at[0]]
        for axis in template.path_axes:
            own[axis] = nodes[at[axis] - 1] + 1 if at[axis] != EMPTY else EMPTY
        return tuple(own)

    def read() -> Any:
        nodes: list[int] = []
        for number, at in addresses.nodes:  # in the order in which they were numbered
            template = state.templates[number]
            node = state.node_of(template, here(template, at, nodes))
            if node is None:
                return None
            nodes.append(node)
        for template, indices in every:
            value = state.value_of(template, here(template, indices, nodes))
            if value is not None:
                return value
        return None

    return read


def _array_reader(state: ChainState, path: tuple[Any, ...]) -> Callable[[], Any] | None:
    """What reads the choices that are numbered below an address, as an array."""
    template = numbered_below(state.templates, path)
    if template is None:
        return None

    def read() -> Any:
        indices, values = state.numbers_of(template)
        shape = tuple(int(axis.max()) + 1 for axis in indices) if len(values) else ()
        if not len(values) or math.prod(shape) != len(values):
            return None
        made = np.empty(shape, values.dtype)
        made[tuple(indices)] = values
        return made

    return read
