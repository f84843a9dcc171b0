"""What kernels are to the compiler: moves, and the order in which they are made."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

from gendsl.compiler.moves import JUMP, PICK, REPEAT, RUN, NotClosed, Picked, Several, Step
from gendsl.inference.kernel import Kernel, kernel_name

MOST_INSTRUCTIONS = 1 << 20
_COMPILED = (
    "what is compiled: involutive, birth_death, split_merge, mh of a program or a selection, independent of "
    "a program, random_walk"
)


@dataclass(frozen=True)
class Part:
    """A kernel that the schedule of a chain runs.

    Attributes:
        kernel: the kernel.
        move: its step, for the compiler.
        names: what is counted of it: itself, or what it picks from with weights that depend on the state.
    """

    kernel: Any
    move: Step
    names: tuple[str, ...]

    @property
    def name(self) -> str:
        """What to call it."""
        return kernel_name(self.kernel)


def flattened(kernel: Any) -> tuple[list[Part], list[int], float]:
    """The parts of a kernel, the schedule of one step of it, and how many moves there are in that.

    Raises:
        NotClosed: a part of it is no move that can be compiled.
    """
    parts: dict[int, tuple[int, Part]] = {}
    steps: dict[int, Step] = {}
    words: list[int] = []

    def visit(one: Any) -> float:
        order = getattr(one, "order", None)
        if order is None or order.weights is not None:
            words.extend((RUN, _number(one)))
            return _count(one)
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
            picks = getattr(one, "order", None) is not None
            names = tuple(map(kernel_name, one.parts if picks else (one,)))
            parts[id(one)] = len(parts), Part(one, _step(one, steps), names)
        return parts[id(one)][0]

    count = visit(kernel)
    words.extend((REPEAT, 0))
    return [part for _, part in parts.values()], words, count


def _step(kernel: Any, known: dict[int, Step]) -> Step:
    """A kernel as one step; those of kernels that are known already are the same."""
    if id(kernel) not in known:
        order = getattr(kernel, "order", None)
        if order is None:
            known[id(kernel)] = _move(kernel)
        else:
            name, parts = kernel_name(kernel), tuple(_step(part, known) for part in kernel.parts)
            if order.weights is None:
                known[id(kernel)] = Several(name, parts, order.times, order.bounds)
            else:  # of its parts, one that is made of others is a kernel without a ratio of its own
                alone = (Several(part.name, (part,)) if isinstance(part, Picked) else part for part in parts)
                known[id(kernel)] = Picked(name, tuple(alone), order.weights)
    return known[id(kernel)]


def _move(kernel: Any) -> Step:
    """What a kernel that is made of no others does."""
    move = getattr(kernel, "move", None)
    if not isinstance(kernel, Kernel) or move is None:
        step = getattr(kernel, "step", kernel)
        is_ours = getattr(step, "__module__", "").startswith("gendsl.")
        why = "has no compiled form" if is_ours else "is plain Python"
        raise NotClosed(f"{kernel_name(kernel)} {why}, and one such kernel is enough; {_COMPILED}")
    return move  # type: ignore[no-any-return]


def _count(kernel: Any) -> float:
    """How many moves there are in a step of a kernel, or at most."""
    order = getattr(kernel, "order", None)
    if order is None:
        return 1.0
    counts = list(map(_count, kernel.parts))
    return order.times * sum(counts) if order.bounds is None and order.weights is None else max(counts)
