"""What kernels are to the compiler: moves, and the order in which they are made."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

import numpy as np

from gendsl.compiler.hir.failures import NotClosed
from gendsl.compiler.moves import (
    JUMP,
    PICK,
    REPEAT,
    RUN,
    Blocking,
    Picked,
    Several,
    Step,
    Transition,
    Updating,
    all_within,
)
from gendsl.inference.any_kernel import Compilable, kernel_name

MOST_INSTRUCTIONS = 1 << 20
_COMPILED = (
    "what is compiled: involutive, birth_death, split_merge, mh of a program or a selection, independent, "
    "random_walk, single_site, gibbs, slice_sampling, elliptical_slice, tempered_mh"
)


@dataclass(frozen=True)
class Part:
    """A kernel that the schedule of a chain runs.

    Attributes:
        kernel: the kernel.
        move: its step, for the compiler; None where it is called, with the trace.
        names: what is counted of it: itself, or what it picks from with weights that depend on the state.
    """

    kernel: Any
    move: Step | None
    names: tuple[str, ...]

    @property
    def name(self) -> str:
        """What to call it."""
        return kernel_name(self.kernel)


@dataclass(frozen=True)
class Flat:
    """A kernel, taken apart.

    Attributes:
        parts: what it is made of.
        schedule: one step of it, in instructions (see `gendsl.compiler.moves`).
        moves: how many steps of parts that are compiled there are in that, or at most.
        calls: how many of others.
        often: how often each part is run in one step, on average.
    """

    parts: list[Part]
    schedule: list[int]
    moves: float
    calls: float
    often: list[float]

    @property
    def called(self) -> list[Part]:
        """The parts that are not compiled."""
        return [part for part in self.parts if part.move is None]


def flattened(kernel: Any) -> Flat:
    """The parts of a kernel, and the schedule of one step of it.

    Raises:
        NotClosed: no part of it is a move that can be compiled, or it is picked among some with weights that
            depend on the state.
    """
    parts: dict[int, tuple[int, Part]] = {}
    steps: dict[int, Step] = {}
    words: list[int] = []
    often: list[float] = []

    def visit(one: Any, share: float) -> np.ndarray:
        order = getattr(one, "order", None)
        if order is None or order.is_one_step:
            number = _number(one)
            words.extend((RUN, number))
            often[number] += share
            is_compiled = list(parts.values())[number][1].move is not None
            return np.array([_count(one), 0.0] if is_compiled else [0.0, 1.0])
        if order.bounds is None:
            count = np.zeros(2)
            for _ in range(order.times):
                for part in one.parts:
                    count += visit(part, share)
                    if len(words) > MOST_INSTRUCTIONS:
                        raise NotClosed("a kernel that makes too many steps at once")
            return count
        bounds = [struct.unpack("<q", struct.pack("<d", bound))[0] for bound in order.bounds]
        words.extend((PICK, len(bounds), *bounds))
        places = len(words)
        words.extend([0] * len(one.parts))
        ends: list[int] = []
        most = np.zeros(2)
        shares = share * np.diff([0.0, *order.bounds, 1.0])
        for number, part in enumerate(one.parts):
            words[places + number] = len(words)
            most = np.maximum(most, visit(part, shares[number]))
            words.extend((JUMP, 0))
            ends.append(len(words) - 1)
        for end in ends:
            words[end] = len(words)
        return most

    def _number(one: Any) -> int:
        if id(one) not in parts:
            order = getattr(one, "order", None)
            picks = order is not None and order.weights is not None
            names = tuple(map(kernel_name, one.parts if picks else (one,)))
            step = None
            try:
                step = _step(one, steps) if order is not None or is_compiled(one) else None
            except NotClosed:
                if picks:
                    raise
            parts[id(one)] = len(parts), Part(one, step, names)
            often.append(0.0)
        return parts[id(one)][0]

    moves, calls = visit(kernel, 1.0).tolist()
    words.extend((REPEAT, 0))
    found = Flat([part for _, part in parts.values()], words, moves, calls, often)
    if len(found.called) == len(found.parts):
        raise NotClosed(f"{why_called(found.parts[0].kernel)}; {_COMPILED}")
    return found


def check_all_compiled(flat: Flat, least: int) -> None:
    """Raise `NotClosed` where a kernel that is not compiled comes more often than after so many steps."""
    if flat.moves < least * flat.calls:
        why = why_called(flat.called[0].kernel)
        often = f"one such kernel among fewer than {least} steps is enough"
        raise NotClosed(f"{why}, and {often}; {_COMPILED}")


def is_compiled(kernel: Any) -> bool:
    """Whether a kernel, or its warm-up, that is made of no others says what it does, for the compiler."""
    return isinstance(kernel, Compilable) and kernel.move is not None


def why_called(kernel: Any) -> str:
    """Why a kernel is not compiled."""
    step = getattr(kernel, "step", kernel)
    is_ours = getattr(step, "__module__", "").startswith("gendsl.")
    return f"{kernel_name(kernel)} {'has no compiled form' if is_ours else 'is plain Python'}"


def is_of_many_values(part: Part) -> bool:
    """Whether a step gives several choices several values, one after the other."""
    return any(isinstance(one, (Updating, Blocking)) for one in all_within(part.move))


def moves_within(part: Part) -> list[Step]:
    """The moves that a step makes, which are made of no others."""
    every = all_within(part.move)
    return [one for one in every if not isinstance(one, (Several, Picked, Transition))]


def _step(kernel: Any, known: dict[int, Step]) -> Step:
    """A kernel as one step; those of kernels that are known already are the same."""
    if id(kernel) not in known:
        order = getattr(kernel, "order", None)
        if order is None:
            known[id(kernel)] = _move(kernel)
        else:
            name, parts = kernel_name(kernel), tuple(_step(part, known) for part in kernel.parts)
            if order.targets is not None:
                has_powers = type(order.targets[0]) is float
                args = () if has_powers else order.targets
                known[id(kernel)] = Transition(name, parts, order.targets if has_powers else None, args)
            elif order.weights is None:
                known[id(kernel)] = Several(name, parts, order.times, order.bounds)
            else:  # of its parts, one that is made of others is a kernel without a ratio of its own
                alone = (Several(part.name, (part,)) if isinstance(part, Picked) else part for part in parts)
                known[id(kernel)] = Picked(name, tuple(alone), order.weights)
    return known[id(kernel)]


def _move(kernel: Any) -> Step:
    """What a kernel that is made of no others does."""
    if not is_compiled(kernel):
        among = "it is picked among others with weights that depend on the state"
        raise NotClosed(f"{why_called(kernel)}, and {among}; {_COMPILED}")
    return kernel.move  # type: ignore[no-any-return]


def _count(kernel: Any) -> float:
    """How many moves there are in a step of a kernel, or at most."""
    order = getattr(kernel, "order", None)
    if order is None:
        return 1.0
    counts = list(map(_count, kernel.parts))
    if order.targets is not None:
        return 2.0 * sum(counts)
    return order.times * sum(counts) if order.bounds is None and order.weights is None else max(counts)
