"""A model with data and kernels: what every family of this folder gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gendsl import GenerativeFunction, Trace
from gendsl.inference import ComponentKernel, Kernel


class Move(NamedTuple):
    """An involutive move: the auxiliary program `q(trace, *q_args)`, or None, and the transform."""

    q: Any
    f: Any
    q_args: tuple[Any, ...] = ()

    @classmethod
    def of(cls, kernel: ComponentKernel) -> Move:
        """The move that a kernel made by `birth_death` or `split_merge` makes."""
        return cls(kernel.q, kernel.f)


@dataclass(frozen=True)
class Model:
    """A program, its data and its moves.

    Attributes:
        name: what to call it.
        program: the `@gen` function.
        args: the arguments of the program where there are `size` data.
        observations: the observed choices where there are `size` data, from a generator.
        init: starting values of the other choices; those that are not given are drawn from the prior.
        kernel: the kernel, which checks every step or only what is checked always.
        moves: the involutive moves of the kernel, which `check_involutive` accepts.
        size: how many data are enough for a quick test.
    """

    name: str
    program: GenerativeFunction
    args: Callable[[int], tuple[Any, ...]]
    observations: Callable[[int, np.random.Generator], Mapping[Any, Any]]
    init: Callable[[int], Mapping[Any, Any]]
    kernel: Callable[[bool], Kernel]
    moves: Sequence[Move] = ()
    size: int = 20

    def start(self, size: int | None = None, seed: int = 1) -> Trace:
        """The trace that a chain starts from."""
        size = self.size if size is None else size
        rng = np.random.default_rng(seed)
        observations = self.observations(size, rng)
        return self.program.generate(self.args(size), observations, init=self.init(size), rng=rng).trace
