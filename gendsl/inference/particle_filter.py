"""Particle filters: a model that grows step by step, with data that come in step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from gendsl.choices import choicemap
from gendsl.errors import ValueTypeError
from gendsl.inference.any_kernel import KernelFunction
from gendsl.inference.importance import importance_sampling
from gendsl.inference.kernel import check_kernel
from gendsl.inference.particles import Particles
from gendsl.inference.resampling import Scheme
from gendsl.inference.smc import SMCRun, Stages
from gendsl.interface import Rng, as_rng
from gendsl.runtime.generative import GenFunction
from gendsl.transforms.extending import extending_translator

Steps = Iterable[tuple[Any, ...]]
"""Steps of a filter: pairs (args, observations) or triples (args, observations, proposal_args)."""


def particle_filter(
    model: GenFunction,
    steps: Steps,
    particles: int = 1000,
    *,
    proposal: GenFunction | None = None,
    first_proposal: GenFunction | None = None,
    kernel: KernelFunction | None = None,
    move: str = "resampled",
    resampling: str | Scheme = "systematic",
    threshold: float = 0.5,
    record: Callable[[Particles], Any] | None = None,
    rng: Rng = None,
) -> SMCRun:
    """Filter a sequence of observations.

    The model is generated with the arguments and observations of the first step; at each later step every
    trace is extended by `update` to that step's arguments and new observations. A step of a model whose steps
    are a loop takes time that doesn't grow with their number: what has been is not visited again.

    Before a step the particles are resampled if their effective sample size is small; then a kernel, if one
    is given, moves each. The weights after a step multiply up to an unbiased estimate of the evidence of the
    observations so far.

    Args:
        model: the model, of which a trace with the arguments of one step becomes one of the next by new
            choices: `def hmm(t)` with a loop over `range(t)`.
        steps: for each step `(args, observations)`, the model's arguments and the observations that are new;
            or `(args, observations, proposal_args)`.
        particles: how many.
        proposal: a program called as `proposal(trace, *proposal_args)` at each step but the first, with the
            trace that is to be extended; its choices are values for new latent choices. The others are drawn
            from the prior.
        first_proposal: the same for the first step, called as `first_proposal(*proposal_args)`.
        kernel: what moves the particles, leaving the posterior of the steps so far invariant. It can see
            from `trace.args` which step it is.
        move: "resampled" to move the particles only where they have been resampled, "always" for every step.
        resampling: "systematic", "stratified", "residual", "multinomial", or a function.
        threshold: resample where the effective sample size is below this share of the particles; 1 resamples
            at every step, 0 never.
        record: what to keep of the weighted particles after each step: a function of them.
        rng: seed or generator.

    Raises:
        ZeroProbabilityError: all weights have become zero, at a step that the error names.
        ValueTypeError: there are no steps, or one is no such tuple.
    """
    if kernel is not None:
        check_kernel(kernel)
    if move not in ("resampled", "always"):
        raise ValueTypeError(f"got move={move!r}", fix='move is "resampled" or "always"')
    if not isinstance(steps, Iterable):
        raise ValueTypeError(
            f"the particle filter got steps={steps!r}", fix="give an iterable of steps (args, observations)"
        )
    rng = as_rng(rng)
    stages: Stages | None = None
    for number, step in enumerate(steps):
        args, observations, proposal_args = _parts(number, step)
        if stages is None:
            start = importance_sampling(
                model, args, observations, particles,
                proposal=first_proposal,
                proposal_args=proposal_args if first_proposal is not None else (),
                rng=rng,
            )  # fmt: skip
            stages = Stages(start, resampling, threshold, record, rng)
            stages.arrive(start)
            continue
        if stages.resample() or move == "always":
            stages.move(kernel)
        translator = extending_translator(
            args, observations,
            proposal=proposal, proposal_args=proposal_args if proposal is not None else (),
        )  # fmt: skip
        stages.arrive(stages.particles.translate(translator, rng=rng))
    if stages is None:
        raise ValueTypeError("the particle filter got no steps", fix="give at least one (args, observations)")
    return stages.finish()


def _parts(number: int, step: Any) -> tuple[tuple[Any, ...], Any, tuple[Any, ...]]:
    if not isinstance(step, tuple) or len(step) not in (2, 3) or not isinstance(step[0], tuple):
        raise ValueTypeError(
            f"step {number} of the particle filter is {step!r}",
            fix="give (args, observations), where args is a tuple: ((3,), {('y', 2): 0.5})",
        )
    if len(step) == 3 and not isinstance(step[2], tuple):
        raise ValueTypeError(
            f"the proposal_args of step {number} are {step[2]!r}", fix="write (x,) for a single argument"
        )
    return step[0], choicemap(step[1]), step[2] if len(step) == 3 else ()
