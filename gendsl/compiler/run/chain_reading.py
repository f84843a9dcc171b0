"""What reads choices, and arrays of them, of the current trace of a chain of compiled kernels."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gendsl.compiler.hir.types import Array
from gendsl.compiler.run.chain_state import ChainState
from gendsl.compiler.run.choice_reader import choice_reader
from gendsl.compiler.run.recorded_draws import numbered_below


def reader(state: ChainState, path: tuple[Any, ...]) -> Callable[[], Any] | None:
    """What reads the choice at an address, or those numbered below it as an array; None if nothing does.

    It gives None where the current trace does not have them.
    """
    return choice_reader(state, path) or _array_reader(state, path)


def _array_reader(state: ChainState, path: tuple[Any, ...]) -> Callable[[], Any] | None:
    """What reads the choices that are numbered below an address, as an array."""
    template = numbered_below(state.templates, path)
    if template is None:
        return None

    def read() -> Any:
        indices, values = state.numbered(template)
        shape = tuple(int(axis.max()) + 1 for axis in indices) if len(values) else ()
        if not len(values) or math.prod(shape) != len(values):
            return None
        if isinstance(template.type, Array) and len({one.shape for one in values}) > 1:
            return None
        every = np.array(values)
        made = np.empty((*shape, *every.shape[1:]), every.dtype)
        made[tuple(indices)] = every
        return made

    return read
