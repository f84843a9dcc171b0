"""What kernels are to the compiler: moves, and the order in which they are made."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

from gendsl.compiler.moves import JUMP, PICK, REPEAT, RUN, Move, NotClosed
from gendsl.inference.kernel import Kernel, kernel_name

MOST_INSTRUCTIONS = 1 << 20


@dataclass(frozen=True)
class Part:
    """A kernel that makes a move.

    Attributes:
        kernel: the kernel.
        move: its move, for the compiler.
        name: under which it is counted.
    """

    kernel: Any
    move: Move
    name: str


def flattened(kernel: Any) -> tuple[list[Part], list[int], float]:
    """The moves of a kernel, the schedule of one step of it, and how many of them there are in that.

    Raises:
        NotClosed: a part of it is no move that can be compiled.
    """
    parts: dict[int, tuple[int, Part]] = {}
    words: list[int] = []

    def visit(one: Any) -> float:
        order = getattr(one, "order", None)
        if order is None:
            words.extend((RUN, _number(one)))
            return 1.0
        if order.bounds is None:
            count = 0.0
            for _ in range(order.times):
                for part in one.parts:
                    count += visit(part)
                    if len(words) > MOST_INSTRUCTIONS:
                        raise NotClosed("a kernel that makes too many steps at once")
            return count
        bounds = [struct.unpack("<q", struct.pack("<d", bound))[0] for bound in order.bounds]
        words.extend((PICK, len(bounds), *bounds))
        places = len(words)
        words.extend([0] * len(one.parts))
        ends: list[int] = []
        most = 0.0
        for number, part in enumerate(one.parts):
            words[places + number] = len(words)
            most = max(most, visit(part))
            words.extend((JUMP, 0))
            ends.append(len(words) - 1)
        for end in ends:
            words[end] = len(words)
        return most

    def _number(one: Any) -> int:
        if id(one) not in parts:
            move = getattr(one, "move", None)
            if not isinstance(one, Kernel) or move is None:
                raise NotClosed(f"{kernel_name(one)}, a kernel that is not compiled")
            parts[id(one)] = len(parts), Part(one, move, kernel_name(one))
        return parts[id(one)][0]

    count = visit(kernel)
    words.extend((REPEAT, 0))
    return [part for _, part in parts.values()], words, count
