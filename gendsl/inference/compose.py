"""Kernels made of kernels. Each leaves the posterior invariant because its parts do."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any

import numpy as np

from gendsl.distributions import Distribution
from gendsl.errors import KernelError
from gendsl.inference.adaptation import finish_warmup, start_warmup
from gendsl.inference.any_kernel import KernelFunction, kernel_name, run_kernel
from gendsl.inference.infos import ComposedInfo, PickedInfo
from gendsl.inference.kernel import Kernel, accept, check_kernel, check_reversible
from gendsl.inference.structure import kernel_maker

Weights = Sequence[float] | Callable[[Any], Sequence[float]]


@dataclass(frozen=True)
class Order:
    """The order in which a composed kernel runs its parts.

    Attributes:
        times: how often all of them are run, one after the other.
        bounds: where one part is picked: the numbers between 0 and 1 that its shares end at, but the last.
        weights: the function of the trace that returns the shares, where they depend on it.
        targets: where they are run up and down again, each for another target: the powers of the likelihood
            in these, that of the posterior first, or the arguments of the model for each.
    """

    times: int = 1
    bounds: tuple[float, ...] | None = None
    weights: Callable[[Any], Sequence[float]] | None = None
    targets: tuple[Any, ...] | None = None

    @property
    def is_one_step(self) -> bool:
        """Whether they are parts of one step, which decides whether what they did is kept."""
        return self.weights is not None or self.targets is not None


@dataclass(frozen=True, eq=False, repr=False)
class ComposedKernel(Kernel):
    """A kernel made of others, which are adapted with it.

    Attributes:
        parts: the kernels.
        calls: how often each is called in a step, on average.
        rebuild: makes the same composition of other parts.
        order: the order in which they run; None where only the kernel itself knows it.
    """

    parts: tuple[KernelFunction, ...] = field(kw_only=True)
    calls: tuple[float, ...] = field(kw_only=True)
    rebuild: Callable[[tuple[KernelFunction, ...]], ComposedKernel] = field(kw_only=True)
    order: Order | None = field(default=None, kw_only=True)

    _edits = False

    def start_warmup(self, trace: Any, steps: int, rng: np.random.Generator) -> Any:
        """A warm-up of about `steps` steps of the parts that can be adapted; itself if none can."""
        calls: dict[int, float] = {}
        for part, count in zip(self.parts, self.calls, strict=True):
            calls[id(part)] = calls.get(id(part), 0.0) + count
        started = _one_by_one(
            self.parts, lambda part: start_warmup(part, trace, max(1, round(steps * calls[id(part)])), rng)
        )
        if all(a is b for a, b in zip(started, self.parts, strict=True)):
            return self
        return ComposedWarmUp(self.remade(started))

    def remade(self, parts: tuple[KernelFunction, ...]) -> ComposedKernel:
        """The same composition of other parts."""
        made = replace(self.rebuild(parts), structure=self.structure)
        recipe = self.recipe
        first = recipe.args[0] if recipe is not None and recipe.make is ComposedKernel.remade else self
        return made.from_recipe(ComposedKernel.remade, first, parts)  # type: ignore[no-any-return]


class ComposedWarmUp:
    """A composition whose parts change as it runs."""

    def __init__(self, kernel: ComposedKernel) -> None:
        self.kernel = kernel
        self.name, self.parts, self.order = kernel.name, kernel.parts, kernel.order

    def __call__(self, trace: Any, rng: np.random.Generator) -> tuple[Any, Any]:
        """One step."""
        return self.kernel(trace, rng)

    def finish(self) -> ComposedKernel:
        """The composition of the parts with what they found, frozen."""
        return self.kernel.remade(_one_by_one(self.kernel.parts, finish_warmup))


def _one_by_one(
    parts: tuple[KernelFunction, ...], change: Callable[[KernelFunction], Any]
) -> tuple[KernelFunction, ...]:
    """The parts changed; what was one kernel in two places still is."""
    changed: dict[int, Any] = {}
    for part in parts:
        if id(part) not in changed:
            changed[id(part)] = change(part)
    return tuple(changed[id(part)] for part in parts)


def _run_all(kernels: Iterable[KernelFunction], trace: Any, rng: np.random.Generator) -> tuple[Any, Any]:
    parts = []
    seconds = []
    before = perf_counter()
    for kernel in kernels:
        trace, info = run_kernel(kernel, trace, rng)
        parts.append((kernel_name(kernel), info))
        now = perf_counter()
        seconds.append(now - before)
        before = now
    return trace, ComposedInfo(tuple(parts), tuple(seconds))


def _all_reversible(parts: Iterable[KernelFunction]) -> bool | None:
    """Whether all parts are reversible; None if that isn't known."""
    known = [getattr(part, "reversible", None) for part in parts]
    return False if False in known else None if None in known else True


@kernel_maker
def cycle(*kernels: KernelFunction, name: str = "cycle") -> ComposedKernel:
    """All kernels, one after the other, in every step.

    It is reversible where its parts are and their order backwards is the same: cycle(a, b, a).

    Raises:
        KernelError: there are none, or one isn't a kernel.
    """
    parts = _checked(kernels, "cycle")

    def build(parts: tuple[KernelFunction, ...]) -> ComposedKernel:
        symmetric = all(a is b for a, b in zip(parts, reversed(parts), strict=True))
        return ComposedKernel(
            lambda trace, rng: _run_all(parts, trace, rng),
            name,
            reversible=_all_reversible(parts) if symmetric else False,
            parts=parts,
            calls=(1.0,) * len(parts),
            rebuild=build,
            order=Order(),
        )

    return build(parts)


@kernel_maker
def repeat(kernel: KernelFunction, times: int, *, name: str | None = None) -> ComposedKernel:
    """One kernel, several times in every step. It is reversible where the kernel is.

    Raises:
        KernelError: `times` is no positive whole number, or `kernel` is no kernel.
    """
    check_kernel(kernel)
    if isinstance(times, bool) or not isinstance(times, (int, np.integer)) or times < 1:
        raise KernelError(f"repeat got times={times!r}", fix="times must be a whole number, 1 or more")
    shown = name or f"repeat {kernel_name(kernel)}"

    def build(parts: tuple[KernelFunction, ...]) -> ComposedKernel:
        return ComposedKernel(
            lambda trace, rng: _run_all(parts * int(times), trace, rng),
            shown,
            reversible=_all_reversible(parts),
            parts=parts,
            calls=(float(times),),
            rebuild=build,
            order=Order(int(times)),
        )

    return build((kernel,))


@kernel_maker
def mixture(
    kernels: Sequence[KernelFunction], weights: Weights | None = None, *, name: str = "mixture"
) -> ComposedKernel:
    """One kernel per step, picked at random.

    With fixed weights the invariance of each kernel is enough. With weights w(x) that depend on the state it
    is not: kernel i is run with probability w_i(x) (scaled to add up to 1), and where it leads, x', is
    accepted with probability min(1, w_i(x') / w_i(x)). The flow from x to x' by kernel i is then
    pi(x) K_i(x, x') min(w_i(x), w_i(x')), the same both ways where K_i is reversible, which is required.

    Args:
        kernels: the kernels to pick from.
        weights: their probabilities, up to a factor; equal if not given; or a function of the trace that
            returns them: `lambda trace: [trace["k"], 1]`.

    Raises:
        KernelError: there are no kernels, the weights don't fit, or they depend on the state and a kernel
            isn't reversible.
    """
    _refuse_distributions(kernels, weights)
    parts = _checked(kernels, "mixture")
    if callable(weights):
        for part in parts:
            check_reversible(part, "a mixture with weights that depend on the state")
        return _mixture_by_state(parts, weights, name)
    shares = _shares([1.0] * len(parts) if weights is None else weights, len(parts), "")
    bounds = np.cumsum(shares)[:-1]

    def build(parts: tuple[KernelFunction, ...]) -> ComposedKernel:
        def step(trace: Any, rng: np.random.Generator) -> tuple[Any, Any]:
            chosen = int(np.searchsorted(bounds, rng.random(), side="right"))
            return _run_all((parts[chosen],), trace, rng)

        calls = tuple(shares.tolist())
        order = Order(bounds=tuple(bounds.tolist()))
        return ComposedKernel(
            step,
            name,
            reversible=_all_reversible(parts),
            parts=parts,
            calls=calls,
            rebuild=build,
            order=order,
        )

    return build(parts)


def _refuse_distributions(*given: Any) -> None:
    """Raise where the distribution of the same name was meant, which `import *` of both modules hides."""
    listed = [part for parts in given if isinstance(parts, (list, tuple)) for part in parts]
    if any(isinstance(part, Distribution) for part in listed):
        raise KernelError(
            "mixture got distributions, and this one makes a kernel of kernels",
            fix="the distribution is gendsl.mixture(weights, distributions); where both are needed: "
            "`from gendsl.inference import mixture as mixture_of_kernels`",
        )


def _mixture_by_state(
    parts: tuple[KernelFunction, ...], weights: Callable[[Any], Sequence[float]], name: str
) -> ComposedKernel:
    count = len(parts)

    def shares_at(trace: Any) -> np.ndarray:
        return _shares(weights(trace), count, " from its function of the trace")

    def build(parts: tuple[KernelFunction, ...]) -> ComposedKernel:
        def step(trace: Any, rng: np.random.Generator) -> tuple[Any, Any]:
            shares = shares_at(trace)
            chosen = int(np.searchsorted(np.cumsum(shares)[:-1], rng.random(), side="right"))
            after, ran = _run_all((parts[chosen],), trace, rng)
            ((part, info),) = ran.parts
            ratio, kept = 0.0, True
            # Where an accepted step changes nothing, some runtimes give the same trace, and some a new one.
            if after is not trace or not _is_rejected(info):
                ratio = _log(shares_at(after)[chosen]) - _log(shares[chosen])
                kept = accept(ratio, rng)
            accepted = kept and bool(getattr(info, "accepted", True))
            picked = PickedInfo(accepted, ratio, info)
            return after if kept else trace, ComposedInfo(((part, picked),), ran.seconds)

        return ComposedKernel(
            step,
            name,
            reversible=True,
            parts=parts,
            calls=(1.0 / count,) * count,
            rebuild=build,
            order=Order(weights=weights),
        )

    return build(parts)


def _is_rejected(info: Any) -> bool:
    """Whether a step says that nothing that it proposed was accepted."""
    if isinstance(info, ComposedInfo):
        return all(_is_rejected(inner) for _, inner in info.parts)
    return not getattr(info, "accepted", True)


def _log(share: float) -> float:
    return math.log(share) if share > 0.0 else -math.inf


def _shares(weights: Any, count: int, source: str) -> np.ndarray:
    """Weights as probabilities, one for each of `count` kernels.

    Raises:
        KernelError: they aren't that.
    """
    try:
        shares = np.asarray(weights, dtype=float)
    except (TypeError, ValueError):
        shares = np.full(0, np.nan)  # no numbers: refused below, as weights of a wrong length are
    if shares.shape != (count,) or not np.all(np.isfinite(shares) & (shares >= 0)) or shares.sum() <= 0:
        raise KernelError(
            f"mixture of {count} kernels got weights {weights!r}{source}",
            fix="give one non-negative finite number per kernel, not all zero",
        )
    normalised: np.ndarray = shares / shares.sum()
    return normalised


def _checked(kernels: Iterable[Any], what: str) -> tuple[KernelFunction, ...]:
    try:
        parts = tuple(kernels)
    except TypeError:
        raise KernelError(f"{what} got {kernels!r}", fix=f"pass a list: {what}([a, b])") from None
    if not parts:
        raise KernelError(f"{what} got no kernels", fix="give it at least one")
    return tuple(check_kernel(kernel) for kernel in parts)
