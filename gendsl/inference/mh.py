"""Metropolis-Hastings: prior proposals on a selection, and a proposal program of the user's."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from gendsl.address import Path, format_address
from gendsl.choices.unknown import explain_unknown
from gendsl.errors import (
    CoverageError,
    KernelError,
    LabelError,
    MissingChoiceError,
    NaNError,
    ObservedError,
    UnknownAddressError,
)
from gendsl.inference.kernel import Kernel, accept
from gendsl.runtime.executions import ZeroProbability
from gendsl.runtime.generative import GenFunction
from gendsl.runtime.records import Record
from gendsl.runtime.trace import (
    ReferenceTrace,
    check_kept_choice,
    check_start,
    definition,
    describe_measure,
    same_measure,
)
from gendsl.selection import Selection


@dataclass(frozen=True, slots=True)
class MHInfo:
    """What happened in one Metropolis-Hastings step.

    Attributes:
        accepted: whether the proposal was accepted.
        log_accept_ratio: the log of the acceptance ratio, before it is cut off at 0.
        reason: why the proposal was rejected without a draw, or None.
    """

    accepted: bool
    log_accept_ratio: float
    reason: str | None = None


def mh(
    target: Selection | GenFunction,
    proposal_args: tuple[Any, ...] = (),
    *,
    skip_absent: bool = False,
    name: str | None = None,
) -> Kernel:
    """A Metropolis-Hastings kernel.

    Args:
        target: a selection, whose choices are proposed anew from the prior, given what comes before them;
            or a proposal program `proposal(trace, *proposal_args)`, whose choices are new values for the
            model's choices at the same addresses.
        proposal_args: the arguments of the proposal program after the trace.
        skip_absent: leave out selected addresses that the current trace doesn't have, as is right where
            the model's structure changes; an error if not, since it may be a typo.
        name: the name under which its acceptance is counted.

    For a selection the log acceptance ratio is the weight of `regenerate`. For a proposal program it is

        log p(x') - log p(x) + log q(x | x') - log q(x' | x),

    where q(x | x') is the density of proposing the overwritten values from the new trace. A program that
    changes which choices exist must propose every new one.

    Raises:
        KernelError: the target is neither.
    """
    if isinstance(target, Selection):
        if proposal_args:
            raise KernelError("proposal_args were given with a selection", fix="leave them out")
        return Kernel(_prior_step(target, skip_absent), name or f"mh {target!r}")
    if isinstance(target, GenFunction):
        if type(proposal_args) is not tuple:
            raise KernelError(f"proposal_args must be a tuple, got {proposal_args!r}", fix="write (x,)")
        return Kernel(_proposal_step(target, proposal_args), name or f"mh {target.name}")
    raise KernelError(
        f"mh needs a selection or a proposal program, got {target!r}",
        fix="write mh(select('x')), or decorate the proposal with @gen",
    )


def _placed(proposal: GenFunction) -> str:
    """The name of a proposal program, with the place where it is defined."""
    place = definition(proposal)
    return f"{proposal.name} ({place.filename}:{place.lineno})"


def _prior_step(selection: Selection, skip_absent: bool) -> Any:
    def step(trace: ReferenceTrace, rng: np.random.Generator) -> tuple[ReferenceTrace, MHInfo]:
        check_start(trace)
        if skip_absent and not trace.has_any(selection):
            return trace, MHInfo(False, -inf, "the trace has none of the selected choices")
        try:
            proposed, log_weight, removed, remeasured = trace.resample(
                selection, rng, skip_absent=skip_absent, stop_at_zero=True
            )
        except ZeroProbability as signal:
            return _rejected(trace, rng, signal)
        _keep_observations(trace, removed)
        for path, (_, distribution) in remeasured.items():
            check_kept_choice(trace, path, distribution, "the move")
        return _decide(trace, proposed, log_weight, rng)

    return step


def _proposal_step(proposal: GenFunction, args: tuple[Any, ...]) -> Any:
    def step(trace: ReferenceTrace, rng: np.random.Generator) -> tuple[ReferenceTrace, MHInfo]:
        check_start(trace)
        forward = proposal.simulate((trace, *args), rng=rng)
        values = {path: record[1] for path, record in forward.records.items()}
        _check_proposed(proposal, trace, values)
        try:
            proposed, log_weight, removed, remeasured = trace.edit(values, stop_at_zero=True)
            for path in values:
                if path not in proposed.records:
                    raise UnknownAddressError(
                        f"{proposal.name} proposes a choice that the model doesn't make",
                        address=path,
                        location=definition(proposal),
                        fix=f"{explain_unknown(path, proposed.records)}; a proposal has no choices of its "
                        "own: a move that needs some is involutive(q, f)",
                    )
            _check_measures(proposal, forward, proposed)
            _keep_observations(trace, removed)
            for path, (_, distribution) in remeasured.items():
                check_kept_choice(trace, path, distribution, proposal.name)
            overwritten = {path: trace.records[path][1] for path in values if path in trace.records}
            overwritten.update({p: record[1] for p, record in removed.items()})
            backward = _reverse_score(proposal, (proposed, *args), overwritten)
        except ZeroProbability as signal:
            return _rejected(trace, rng, signal)
        except MissingChoiceError as error:
            raise CoverageError(
                f"{_placed(proposal)} leads to a trace with a choice that it doesn't propose",
                address=error.address,
                location=error.location,
                fix="propose every choice that is new in the trace",
            ) from None
        ratio = log_weight + backward - forward.log_prob
        return _decide(trace, proposed, ratio, rng)

    return step


def _check_proposed(proposal: GenFunction, trace: ReferenceTrace, values: dict[Any, Any]) -> None:
    for path in values:
        if path in trace.observed_paths:
            raise ObservedError(
                f"{proposal.name} proposes an observation, and observations are held fixed",
                address=path,
                location=definition(proposal),
                fix="propose latent choices only",
            )


def _check_measures(proposal: GenFunction, forward: ReferenceTrace, proposed: ReferenceTrace) -> None:
    """Raise unless each choice is proposed with the base measure that it has in the model.

    Where one density is with respect to counting and the other to Lebesgue measure, or they are over
    spaces of different dimensions, their ratio means nothing.
    """
    for path, record in forward.records.items():
        source, target = record[0].support, proposed.records[path][0].support
        if not same_measure(source, target):
            raise LabelError(
                f"{proposal.name} proposes a {describe_measure(source)} choice, and in the model it is "
                f"{describe_measure(target)}",
                address=path,
                location=definition(proposal),
                fix="propose it from a distribution over the same space",
            )


def _reverse_score(proposal: GenFunction, args: tuple[Any, ...], values: dict[Any, Any]) -> float:
    """log q of proposing `values`, or an error where the proposal can't propose just these."""
    try:
        backward = proposal.score(args, values, stop_at_zero=True)
    except MissingChoiceError as error:
        raise CoverageError(
            f"{proposal.name} is not reversible: run from its own result, it proposes a choice that it "
            "did not change",
            address=error.address,
            location=error.location,
            fix="propose the same addresses there and back, or use involutive_mcmc",
        ) from None
    for path in values:
        if path not in backward.records:
            raise CoverageError(
                f"{proposal.name} is not reversible: run from its own result, it doesn't propose a choice "
                "that it changed or removed",
                address=path,
                location=definition(proposal),
                fix="propose the same addresses there and back, or use involutive_mcmc",
            )
    return backward.log_prob


def _keep_observations(trace: ReferenceTrace, removed: dict[Path, Record]) -> None:
    for path in removed:
        if path in trace.observed_paths:
            raise ObservedError(
                "a proposal removes an observation from the trace",
                address=path,
                fix="the choices that are observed must exist whatever the latent choices are",
            )


def _rejected(
    trace: ReferenceTrace, rng: np.random.Generator, signal: ZeroProbability
) -> tuple[ReferenceTrace, MHInfo]:
    accept(-inf, rng)
    return trace, MHInfo(False, -inf, f"out of support at {format_address(signal.path)}")


def _decide(
    trace: ReferenceTrace, proposed: ReferenceTrace, ratio: float, rng: np.random.Generator
) -> tuple[ReferenceTrace, MHInfo]:
    if ratio != ratio or ratio == inf:
        raise NaNError(
            f"the log acceptance ratio is {ratio}: log p went from {trace.log_prob} to {proposed.log_prob}",
            fix="start from a trace of positive, finite density",
        )
    if accept(ratio, rng):
        return proposed, MHInfo(True, ratio)
    return trace, MHInfo(False, ratio)
