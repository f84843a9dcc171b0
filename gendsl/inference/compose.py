"""Kernels made of kernels. Each leaves the posterior invariant because its parts do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gendsl.errors import KernelError
from gendsl.inference.kernel import Kernel, KernelFunction, check_kernel, kernel_name, run_kernel


@dataclass(frozen=True, slots=True)
class ComposedInfo:
    """What happened in the parts of a composed step, in order: the name and the info of each."""

    parts: tuple[tuple[str, Any], ...]

    @property
    def accepted(self) -> bool:
        """Whether any part accepted a proposal."""
        return any(getattr(info, "accepted", False) for _, info in self.parts)


def _run_all(kernels: Iterable[KernelFunction], trace: Any, rng: np.random.Generator) -> tuple[Any, Any]:
    parts = []
    for kernel in kernels:
        trace, info = run_kernel(kernel, trace, rng)
        parts.append((kernel_name(kernel), info))
    return trace, ComposedInfo(tuple(parts))


def cycle(*kernels: KernelFunction, name: str = "cycle") -> Kernel:
    """All kernels, one after the other, in every step.

    Raises:
        KernelError: there are none, or one isn't a kernel.
    """
    parts = _checked(kernels, "cycle")
    return Kernel(lambda trace, rng: _run_all(parts, trace, rng), name)


def repeat(kernel: KernelFunction, times: int, *, name: str | None = None) -> Kernel:
    """One kernel, several times in every step.

    Raises:
        KernelError: `times` is no positive whole number, or `kernel` is no kernel.
    """
    check_kernel(kernel)
    if isinstance(times, bool) or not isinstance(times, (int, np.integer)) or times < 1:
        raise KernelError(f"repeat got times={times!r}", fix="times must be a whole number, 1 or more")
    return Kernel(
        lambda trace, rng: _run_all((kernel,) * times, trace, rng),
        name or f"repeat {kernel_name(kernel)}",
    )


def mixture(
    kernels: Sequence[KernelFunction], weights: Sequence[float] | None = None, *, name: str = "mixture"
) -> Kernel:
    """One kernel per step, picked at random with fixed probabilities.

    The probabilities don't depend on the state, so that each kernel's invariance is enough. To choose a
    move depending on the state, make the choice in the auxiliary program of an involutive move.

    Args:
        kernels: the kernels to pick from.
        weights: their probabilities, up to a factor; equal if not given.

    Raises:
        KernelError: there are no kernels, or the weights don't fit.
    """
    parts = _checked(kernels, "mixture")
    try:
        probs = np.ones(len(parts)) if weights is None else np.asarray(weights, dtype=float)
    except (TypeError, ValueError):
        probs = np.full(0, np.nan)  # no numbers: refused below, as weights of a wrong length are
    if probs.shape != (len(parts),) or not np.all(np.isfinite(probs) & (probs >= 0)) or probs.sum() <= 0:
        raise KernelError(
            f"mixture of {len(parts)} kernels got weights {weights!r}",
            fix="give one non-negative finite number per kernel, not all zero",
        )
    bounds = np.cumsum(probs / probs.sum())[:-1]

    def step(trace: Any, rng: np.random.Generator) -> tuple[Any, Any]:
        chosen = int(np.searchsorted(bounds, rng.random(), side="right"))
        return _run_all((parts[chosen],), trace, rng)

    return Kernel(step, name)


def _checked(kernels: Iterable[Any], what: str) -> tuple[KernelFunction, ...]:
    try:
        parts = tuple(kernels)
    except TypeError:
        raise KernelError(f"{what} got {kernels!r}", fix=f"pass a list: {what}([a, b])") from None
    if not parts:
        raise KernelError(f"{what} got no kernels", fix="give it at least one")
    return tuple(check_kernel(kernel) for kernel in parts)
