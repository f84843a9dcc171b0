"""The step of a particle filter: a trace with other arguments and more observations, and its weight."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gendsl.address import Path
from gendsl.choices import MISSING, ChoiceMap, Constraints, choicemap
from gendsl.choices.unknown import explain_unknown
from gendsl.errors import CoverageError, KernelError, LabelError, ObservedError, UnknownAddressError
from gendsl.interface import Choices
from gendsl.runtime.generative import GenFunction
from gendsl.runtime.measures import describe_measure, same_measure
from gendsl.runtime.observed import extended
from gendsl.runtime.records import Record
from gendsl.runtime.trace import (
    ReferenceTrace,
    check_args,
    check_kept_choice,
    definition,
)
from gendsl.transforms.translators import TraceTranslator, Translated, TranslationInfo


class _Extending(TraceTranslator):
    def __init__(
        self,
        args: tuple[Any, ...] | None,
        observations: ChoiceMap,
        proposal: GenFunction | None,
        proposal_args: tuple[Any, ...],
    ) -> None:
        self.args = None if args is None else check_args(args, "the model")
        self.observations = observations
        self.proposal, self.proposal_args = proposal, proposal_args
        self.name = "extend" if proposal is None else proposal.name

    def _translate(
        self, trace: ReferenceTrace, aux_choices: Choices | None, rng: np.random.Generator
    ) -> Translated:
        if aux_choices is not None:
            raise KernelError(f"translator {self.name} has no auxiliary program", fix="leave `aux` out")
        values, forward = self.observations, None
        if self.proposal is not None:
            forward = self.proposal.simulate_once((trace, *self.proposal_args), rng)
            proposed = {path: record[1] for path, record in forward.records.items()}
            self._check_proposed(self.proposal, trace, proposed)
            values = ChoiceMap._from_flat({**values._flat, **proposed})
        try:
            new, weight, removed, remeasured = trace.edit(values, args=self.args, rng=rng, stop_at_zero=True)
        except UnknownAddressError as error:
            if forward is not None and error.address in forward.records:
                raise unknown_proposed(self.proposal, error.address, ()) from None
            raise
        self._check_kept(trace, new, removed)
        for path, (_, distribution) in remeasured.items():
            check_kept_choice(trace, path, distribution, "the extension of the trace")
        log_forward = 0.0
        if forward is not None:
            check_proposed_measures(self.proposal, forward, new)
            log_forward = forward.log_prob
        new = _observing(trace, new, self.observations)
        return Translated(new, weight - log_forward, TranslationInfo(weight, -log_forward))

    def _check_proposed(self, proposal: GenFunction, trace: ReferenceTrace, values: dict[Path, Any]) -> None:
        observed = Constraints(self.observations) if values else None
        for path in values:
            if observed is not None and observed.lookup(path) is not MISSING:
                raise ObservedError(
                    f"{proposal.name} proposes an observation", address=path, location=definition(proposal),
                    fix="propose latent choices only",
                )  # fmt: skip
            if path in trace.records:
                raise CoverageError(
                    f"{proposal.name} proposes a choice that the trace has already",
                    address=path, location=definition(proposal),
                    fix="propose choices that are new; to move others, run a kernel on the particles",
                )  # fmt: skip

    def _check_kept(self, trace: ReferenceTrace, new: ReferenceTrace, removed: dict[Path, Record]) -> None:
        """Raise if a latent choice of the old trace is gone or overwritten: its density can't be weighed."""
        observed = trace.observed_paths
        for path in removed:
            if path not in observed:
                raise CoverageError(
                    "a latent choice of the old trace is gone from the extended one", address=path,
                    fix="use general_translator, with a backward program that says how it is distributed",
                )  # fmt: skip
        for path in _given(self.observations, trace):
            if path not in observed:
                raise ObservedError(
                    "an observation is given for a latent choice of the old trace", address=path,
                    fix="observe new choices; to turn a latent choice into data use general_translator",
                )  # fmt: skip


def unknown_proposed(proposal: Any, path: Path | None, known: Any) -> UnknownAddressError:
    """The error for a proposed choice that the model doesn't make."""
    return UnknownAddressError(
        f"{proposal.name} proposes a choice that the model doesn't make",
        address=path,
        location=definition(proposal),
        fix=explain_unknown(path or (), known) if known else "a proposal has no choices of its own",
    )


def check_proposed_measures(proposal: Any, forward: ReferenceTrace, made: ReferenceTrace) -> None:
    """Raise unless the model makes each proposed choice, with the base measure that it is proposed with.

    Where one density is with respect to counting and the other to Lebesgue measure, or they are over spaces
    of different dimensions, their ratio means nothing.
    """
    for path, record in forward.records.items():
        in_model = made.records.get(path)
        if in_model is None:
            raise unknown_proposed(proposal, path, made.records)
        source, target = record[0].support, in_model[0].support
        if not same_measure(source, target):
            raise LabelError(
                f"{proposal.name} proposes a {describe_measure(source)} choice, and in the model it is "
                f"{describe_measure(target)}",
                address=path,
                location=definition(proposal),
                fix="propose it from a distribution over the same space",
            )


def _given(observations: ChoiceMap, trace: ReferenceTrace) -> Iterator[Path]:
    """The choices of a trace that a choice map gives a value, the entries of lists and arrays too."""
    sequences = None
    for path in observations:
        if path in trace.records:
            yield path
            continue
        sequences = sequences or Constraints(observations)
        for below in trace.paths_below(path):
            if sequences.lookup(below) is not MISSING:
                yield below


def _observing(old: ReferenceTrace, new: ReferenceTrace, observations: ChoiceMap) -> ReferenceTrace:
    """A trace just made from `old`, with some of its choices counted as observations."""
    if new is not old:
        new.observed_paths = extended(new.observed_paths, _given(observations, new))
    return new


def extending_translator(
    args: tuple[Any, ...] | None = None,
    observations: Choices | None = None,
    *,
    proposal: GenFunction | None = None,
    proposal_args: tuple[Any, ...] = (),
) -> TraceTranslator:
    """A translator to the same model with other arguments and more data: the step of a particle filter.

    All latent choices are kept. New ones are proposed, or else drawn from the prior; the weight is

        p(t'; x') / (p(t; x) q(proposed; t) p(drawn)),

    the densities of the new observations, where nothing is proposed and no parameter changes. It takes time
    that depends on what is new, not on the size of the trace.

    Args:
        args: the new arguments x' of the model; the old ones if not given.
        observations: new observations; they hold from then on. Those of the old trace hold still, and one
            that is given again is replaced.
        proposal, proposal_args: a program called as `proposal(trace, *proposal_args)`, whose choices are
            values for new choices of the model at the same addresses.

    Raises:
        KernelError: the proposal is no program.
    """
    check_proposal(proposal, proposal_args)
    return _Extending(args, choicemap(observations), proposal, proposal_args)


def check_proposal(proposal: Any, proposal_args: Any) -> None:
    """Raise unless these are a proposal program, or None, and its arguments."""
    if proposal is not None and not isinstance(proposal, GenFunction):
        raise KernelError(f"the proposal is {proposal!r}", fix="decorate it with @gen, or leave it out")
    if type(proposal_args) is not tuple:
        raise KernelError(f"proposal_args must be a tuple, got {proposal_args!r}", fix="write (x,)")
