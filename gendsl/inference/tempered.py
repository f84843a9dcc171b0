"""Tempered transitions: steps that climb out of one mode and down into another (Neal 1996).

Targets p_1, ..., p_n lead from the posterior p_0 to one that is easy to move in. From x a step runs the
kernels of p_1, ..., p_n and then of p_n, ..., p_1, through the states a_0 = x, a_1, ..., a_n on the way up
and b_n = a_n, after kernel n once more b_(n-1), ..., b_0 on the way down, and accepts b_0 with probability
min(1, alpha),

    alpha = prod_i p_(i+1)(a_i) / p_i(a_i)  prod_i p_i(b_i) / p_(i+1)(b_i),    i = 0, ..., n - 1.

Where the kernels are reversible with respect to their targets, this is reversible with respect to p_0
("Sampling from multimodal distributions using tempered transitions", section 3). No normalising constant of
a target is needed: each occurs above and below.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gendsl.errors import KernelError, MissingChoiceError, NaNError
from gendsl.inference.any_kernel import KernelFunction, kernel_name, run_kernel
from gendsl.inference.compose import ComposedKernel, Order
from gendsl.inference.kernel import Kernel, accept, check_kernel, check_reversible, check_target
from gendsl.inference.proposal import Proposal, propose_trace, propose_values
from gendsl.inference.smc import log_likelihood
from gendsl.inference.structure import kernel_maker
from gendsl.runtime.impossible import ZeroProbability
from gendsl.runtime.trace import ReferenceTrace, check_start

Change = Callable[[ReferenceTrace, int, int, tuple[Any, ...]], Proposal]
"""The trace of one target taken to another; the weight is the log of the ratio of their densities there.

The targets are numbered, 0 is the posterior; the tuple is its arguments.
"""


@dataclass(frozen=True, slots=True)
class TemperedInfo:
    """What happened in one tempered transition.

    Attributes:
        accepted: whether where it came down was accepted.
        log_accept_ratio: log alpha, before it is cut off at 0.
        parts: the name and the info of each kernel that ran, up and down.
        reason: why it was rejected without a draw, or None.
    """

    accepted: bool
    log_accept_ratio: float
    parts: tuple[tuple[str, Any], ...]
    reason: str | None = None

    @property
    def check_failed(self) -> bool:
        """Whether a check of any of the kernels failed."""
        return any(getattr(info, "check_failed", False) for _, info in self.parts)

    @property
    def divergences(self) -> int:
        """How many of their trajectories diverged."""
        return sum(getattr(info, "divergences", 0) for _, info in self.parts)


@kernel_maker
def tempered(
    kernel: Callable[..., Any],
    ladder: Sequence[Any],
    *,
    name: str | None = None,
) -> ComposedKernel:
    """Tempered transitions of the posterior, by way of a ladder of other targets.

    Args:
        kernel: with temperatures a function that, given beta, makes a kernel which is reversible with
            respect to that target: `lambda beta: tempered_mh(select("mu"), beta)`. With arguments a kernel,
            any reversible one, which is run on traces with these arguments.
        ladder: powers beta of the likelihood, decreasing from below 1 to above 0, for the targets
            p(t) L(t)^(beta - 1), L the density of the observations; or tuples of arguments of the model,
            which must have the same choices: `[(data, 2.0), (data, 4.0)]` for `model(data, temperature)`.
            The closer the targets, the more often a transition is accepted.
        name: the name under which its acceptance is counted.

    With arguments each step up or down costs what depends on them. With powers of the likelihood it costs a
    pass over the observations.

    Raises:
        KernelError: the ladder is neither, or a kernel isn't reversible, or is for another target (as all of
            gendsl's are but `tempered_mh`); and in a step, a tuple of arguments makes other choices.
    """
    parts: tuple[KernelFunction, ...]
    rungs = list(ladder) if isinstance(ladder, Sequence) and not isinstance(ladder, str) else []
    if rungs and all(type(rung) is tuple for rung in rungs):
        check_target(check_kernel(kernel), 1.0, "tempered with arguments")
        # one for each target, so that each is adapted by itself
        parts = tuple(replace(kernel) if isinstance(kernel, Kernel) else kernel for _ in rungs)
        change, targets = _by_arguments(rungs), tuple(rungs)
    elif rungs and all(isinstance(r, (float, np.floating)) and 0.0 < r < 1.0 for r in rungs):
        if isinstance(kernel, Kernel) or not callable(kernel):
            raise KernelError(
                f"tempered got {kernel!r}, which has one target for all temperatures",
                fix="give a function of beta: lambda beta: tempered_mh(select('x'), beta)",
            )
        betas = [float(rung) for rung in rungs]
        if betas != sorted(set(betas), reverse=True):
            raise KernelError(f"tempered got the temperatures {betas}", fix="give them in decreasing order")
        parts = tuple(check_kernel(kernel(beta)) for beta in betas)
        for part, beta in zip(parts, betas, strict=True):
            check_target(part, beta, "tempered")
        change, targets = _by_powers([1.0, *betas]), (1.0, *betas)
    else:
        raise KernelError(
            f"tempered got the ladder {ladder!r}",
            fix="give powers of the likelihood, [0.5, 0.2], or tuples of the model's arguments",
        )
    for part in parts:
        check_reversible(part, "tempered")
    shown = name or f"tempered {kernel_name(parts[0])}"

    def build(parts: tuple[KernelFunction, ...]) -> ComposedKernel:
        return ComposedKernel(
            lambda trace, rng: _transition(trace, parts, change, rng),
            shown,
            reversible=True,
            parts=parts,
            calls=(2.0,) * len(parts),
            rebuild=build,
            order=Order(targets=targets),
        )

    return build(parts)


def _transition(
    trace: ReferenceTrace, kernels: tuple[KernelFunction, ...], change: Change, rng: np.random.Generator
) -> tuple[ReferenceTrace, TemperedInfo]:
    check_start(trace)
    start = trace.args
    current, ratio = trace, 0.0
    parts: list[tuple[str, Any]] = []

    def run(kernel: KernelFunction) -> None:
        nonlocal current
        current, info = run_kernel(kernel, current, rng)
        parts.append((kernel_name(kernel), info))

    try:
        for rung, kernel in enumerate(kernels):
            proposal = change(current, rung, rung + 1, start)
            current, ratio = proposal.trace(), ratio + proposal.log_weight
            run(kernel)
        for rung in reversed(range(len(kernels))):
            run(kernels[rung])
            proposal = change(current, rung + 1, rung, start)
            current, ratio = proposal.trace(), ratio + proposal.log_weight
    except ZeroProbability:
        accept(-math.inf, rng)
        return trace, TemperedInfo(False, -math.inf, tuple(parts), "a target has density zero there")
    if ratio != ratio or ratio == math.inf:
        raise NaNError(f"the log acceptance ratio of a tempered transition is {ratio}")
    if accept(ratio, rng):
        return current, TemperedInfo(True, ratio, tuple(parts))
    return trace, TemperedInfo(False, ratio, tuple(parts))


def _by_powers(betas: list[float]) -> Change:
    """Targets p(t) L(t)^(beta - 1)."""

    def change(trace: ReferenceTrace, old: int, new: int, start: tuple[Any, ...]) -> Proposal:
        return propose_trace(trace, (betas[new] - betas[old]) * log_likelihood(trace))

    return change


def _by_arguments(rungs: list[tuple[Any, ...]]) -> Change:
    """The same program with other arguments."""

    def change(trace: ReferenceTrace, old: int, new: int, start: tuple[Any, ...]) -> Proposal:
        args = rungs[new - 1] if new else start
        problem = f"the model makes other choices with the arguments {args!r}"
        fix = "the arguments of a ladder change how likely choices are, not which there are"
        try:
            proposal = propose_values(trace, {}, args)
        except MissingChoiceError as error:
            raise KernelError(problem, address=error.address, fix=fix) from None
        for path in (*proposal.removed, *proposal.remeasured):
            raise KernelError(problem, address=path, fix=fix)
        return proposal

    return change
