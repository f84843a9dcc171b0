"""The same move twice: as a kernel of gendsl, and by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from gendsl import Trace
from gendsl.inference import Kernel

from .common import Hand


class Pair(NamedTuple):
    """A kernel of gendsl, and the class that makes its steps by hand, from a trace.

    `start(size, seed)` is the trace that chains of it start from, where it is measured with one of `sizes`.
    """

    name: str
    kernel: Kernel
    by_hand: type[Hand]
    start: Callable[..., Trace]
    sizes: tuple[int, int] = (100, 1000)
