"""Metropolis-Hastings: prior proposals on a selection, and a proposal program of the user's."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Container, Mapping
from math import inf, log
from typing import Any

import numpy as np

from gendsl.address import Path, as_path, format_address
from gendsl.choices.unknown import explain_unknown
from gendsl.compiler.moves import Proposing, Resampling, Wanted
from gendsl.distributions import Distribution
from gendsl.distributions.scipy_frozen import find_distribution
from gendsl.errors import (
    CoverageError,
    KernelError,
    MissingChoiceError,
    NaNError,
    ObservedError,
    UnknownAddressError,
)
from gendsl.inference.frozen import frozen
from gendsl.inference.infos import Told
from gendsl.inference.kernel import Kernel, accept
from gendsl.inference.proposal import (
    Proposal,
    check_kept_zero,
    propose_redraw,
    propose_redraws,
    propose_values,
)
from gendsl.inference.scan import as_target
from gendsl.inference.structure import kernel_maker
from gendsl.runtime.generative import GenFunction, gen
from gendsl.runtime.impossible import ZeroProbability
from gendsl.runtime.trace import (
    ReferenceTrace,
    check_kept_choice,
    check_start,
    definition,
)
from gendsl.selection import Selection
from gendsl.transforms.extending import check_proposed_measures

_SEEDS = 2**62  # how many streams of random numbers a function that picks a selection may be given

Choose = Callable[..., Selection]
"""A function of a trace, or of a trace and a random number generator, that says what to propose anew."""


@frozen
class MHInfo:
    """What happened in one Metropolis-Hastings step.

    Attributes:
        accepted: whether the proposal was accepted.
        log_accept_ratio: the log of the acceptance ratio, before it is cut off at 0.
        reason: why the proposal was rejected without a draw, or None.
        log_aux_ratio: the terms of it that are no densities of the model: log q(x | x') - log q(x' | x) of a
            proposal program, log n - log n' of `single_site`.
    """

    accepted: bool
    log_accept_ratio: float
    reason: str | None = None
    log_aux_ratio: float = 0.0


Decide = Callable[..., tuple[ReferenceTrace, MHInfo]]
"""What accepts or rejects, with the arguments of `decide`."""


def decide(
    trace: ReferenceTrace, proposal: Proposal, ratio: float, rng: np.random.Generator, aux: float = 0.0
) -> tuple[ReferenceTrace, MHInfo]:
    """Accept a proposal with its log acceptance ratio, or stay; `aux` is what of it is no model density."""
    if ratio != ratio or ratio == inf:
        proposed = proposal.trace().log_prob
        raise NaNError(
            f"the log acceptance ratio is {ratio}: log p went from {trace.log_prob} to {proposed}",
            fix="start from a trace of positive, finite density",
        )
    if accept(ratio, rng):
        return proposal.trace(), MHInfo(True, ratio, None, aux)
    return trace, MHInfo(False, ratio, None, aux)


def _told(step: Told) -> MHInfo:
    aux = 0.0 if step.reason is not None else step.log_aux
    return MHInfo(step.accepted, step.log_ratio, step.reason, aux)


@kernel_maker
def mh(
    target: Any,
    proposal_args: tuple[Any, ...] = (),
    *,
    skip_absent: bool = False,
    name: str | None = None,
) -> Kernel:
    """A Metropolis-Hastings kernel.

    Args:
        target: a selection or an address, whose choices are proposed anew from the prior, given what comes
            before them; a proposal program `proposal(trace, *proposal_args)`, whose choices are new values
            for the model's choices at the same addresses; or a function `(trace) -> selection` or
            `(trace, rng) -> selection` that says in every step which choices to propose anew.
        proposal_args: the arguments of the proposal program after the trace.
        skip_absent: leave out selected addresses that the current trace doesn't have, as is right where
            the model's structure changes; an error if not, since it may be a typo.
        name: the name under which its acceptance is counted.

    For a selection the log acceptance ratio is the weight of `regenerate`. For a proposal program it is

        log p(x') - log p(x) + log q(x | x') - log q(x' | x),

    where q(x | x') is the density of proposing the overwritten values from the new trace. A program that
    changes which choices exist must propose every new one.

    A function must pick the same selection from the proposed trace, with the same random numbers: where it
    picks another, the proposal is rejected, as there is no such way back. Picking one of k choices is
    right, and a proposal that changes k is mostly rejected; `single_site` corrects for k instead. The
    function may use the generator it is given and no other randomness.

    Raises:
        KernelError: the target is none of these.
    """
    return mh_deciding(decide, target, proposal_args, skip_absent, name)


def mh_deciding(
    decide: Decide,
    target: Any,
    proposal_args: tuple[Any, ...],
    skip_absent: bool,
    name: str | None,
    *,
    power: float = 1.0,
) -> Kernel:
    """`mh` whose proposals are decided on by a function of the two traces and the log acceptance ratio.

    Args:
        power: of the likelihood, in the target for which it decides.
    """
    if isinstance(target, GenFunction):
        if type(proposal_args) is not tuple:
            raise KernelError(f"proposal_args must be a tuple, got {proposal_args!r}", fix="write (x,)")
        step = _proposal_step(target, lambda trace: (trace, *proposal_args), decide)
        move = Proposing(target.__name__, target, proposal_args, power=power)
        return Kernel(step, name or f"mh {target.name}", reversible=True, move=move, told=_told)
    if proposal_args:
        raise KernelError("proposal_args were given with a selection", fix="leave them out")
    is_selection = isinstance(target, Selection)
    if not is_selection and (inspect.isroutine(target) or inspect.ismethod(target)):
        step = _chosen_step(target, _takes_generator(target), skip_absent, decide)
        return Kernel(step, name or f"mh {target.__name__}", reversible=True)
    selection = as_target(target, "mh")
    wanted = Wanted.of(selection)
    step = _prior_step(selection, skip_absent, decide)
    shown = f"mh {selection!r}"
    known = None if wanted is None else Resampling(shown, wanted, skip_absent, power=power)
    return Kernel(step, name or shown, reversible=True, move=known, told=_told)


@kernel_maker
def single_site(selection: Any, *, skip_absent: bool = False, name: str | None = None) -> Kernel:
    """Metropolis-Hastings on one of the selected choices, picked uniformly at random, from the prior.

    Where the proposal changes how many choices n are selected, the log acceptance ratio is the weight of
    `regenerate` and log n - log n'. A step costs what its choice changes, however many are selected; only
    where a step makes or removes selected choices they are counted again.

    Args:
        selection: the choices to pick from, each of which has an address of its own: a selection, or the
            address of a namespace.
        skip_absent: do nothing while the trace has none of them; an error if not.
        name: the name under which its acceptance is counted.

    Raises:
        KernelError: it is neither.
    """
    selection = as_target(selection, "single_site")

    def step(trace: ReferenceTrace, rng: np.random.Generator) -> tuple[ReferenceTrace, MHInfo]:
        check_start(trace)
        paths = trace.selected(selection, skip_absent=skip_absent)
        count = len(paths)
        if not count:
            return trace, MHInfo(False, -inf, "the trace has none of the selected choices")
        path = paths[int(count * rng.random())]
        try:
            proposal = propose_redraw(trace, path, rng)
        except ZeroProbability as signal:
            return _rejected(trace, rng, signal, "the move")
        aux = 0.0
        if not proposal.is_local:
            _check_kept(trace, proposal, "the move")
            if proposal.trace().structure is not trace.structure:
                aux = log(count / len(proposal.trace().selected(selection, skip_absent=True)))
        return decide(trace, proposal, proposal.log_weight + aux, rng, aux)

    title, wanted = f"single_site {selection!r}", Wanted.of(selection)
    return Kernel(
        step,
        name or title,
        reversible=True,
        move=None if wanted is None else Resampling(title, wanted, skip_absent, picks=True),
        told=_told,
    )


@kernel_maker
def independent(
    proposal: GenFunction | Mapping[Any, Any],
    proposal_args: tuple[Any, ...] = (),
    *,
    name: str | None = None,
) -> Kernel:
    """Metropolis-Hastings with proposals that don't depend on where the chain is.

    The log acceptance ratio is log p(x') - log p(x) + log q(x) - log q(x'). It mixes well where q is close
    to the posterior and has heavier tails; without them the chain may stay where p / q is large.

    Args:
        proposal: the distribution of each choice's new value, by address: `{"x": student_t(4, 1, 2)}`; or
            a proposal program `proposal(*proposal_args)`, which isn't given the trace.
        proposal_args: the arguments of the proposal program.
        name: the name under which its acceptance is counted.

    Raises:
        KernelError: the proposal is neither.
    """
    if isinstance(proposal, GenFunction):
        if type(proposal_args) is not tuple:
            raise KernelError(f"proposal_args must be a tuple, got {proposal_args!r}", fix="write (x,)")
        return Kernel(
            _proposal_step(proposal, lambda trace: proposal_args),
            name or f"independent {proposal.name}",
            reversible=True,
            move=Proposing(proposal.__name__, proposal, proposal_args, sees_trace=False),
            told=_told,
        )
    if not isinstance(proposal, Mapping) or not proposal:
        raise KernelError(
            f"independent needs distributions by address or a proposal program, got {proposal!r}",
            fix='write independent({"x": normal(0, 1)}), or decorate the proposal with @gen',
        )
    if proposal_args:
        raise KernelError("proposal_args were given without a proposal program", fix="leave them out")
    distributions: dict[Path, Distribution] = {}
    for address, given in proposal.items():
        distribution = find_distribution(given)
        if distribution is None:
            raise KernelError(
                f"independent got {given!r} for {format_address(as_path(address))}",
                fix="give a distribution: normal(0, 1)",
            )
        distributions[as_path(address)] = distribution
    shown = f"independent {', '.join(map(format_address, distributions))}"
    program, values = _proposed_at(tuple(distributions)), tuple(distributions.values())
    return Kernel(
        _proposal_step(program, lambda trace: (values,)),
        name or shown,
        reversible=True,
        move=Proposing(shown, program, (values,), sees_trace=False),
        told=_told,
    )


def _proposed_at(paths: tuple[Path, ...]) -> GenFunction:
    """The proposal program of distributions at these addresses."""

    @gen
    def proposed_independently(distributions):  # type: ignore[no-untyped-def]
        for path, distribution in zip(paths, distributions, strict=True):
            path @ ~distribution

    return proposed_independently


def _takes_generator(choose: Choose) -> bool:
    """Whether a function that picks a selection takes a generator beside the trace."""
    try:
        parameters = inspect.signature(choose).parameters.values()
    except (TypeError, ValueError):
        parameters = ()  # type: ignore[assignment]
    places = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    count = sum(p.default is p.empty and p.kind in places for p in parameters)
    if count not in (1, 2):
        raise KernelError(
            f"mh got the function {choose!r}",
            fix="a function that picks a selection takes (trace) or (trace, rng); a proposal program is "
            "decorated with @gen",
        )
    return count == 2


def _placed(proposal: GenFunction) -> str:
    """The name of a proposal program, with the place where it is defined."""
    place = definition(proposal)
    return f"{proposal.name} ({place.filename}:{place.lineno})"


def _prior_step(selection: Selection, skip_absent: bool, decide: Decide) -> Any:
    def step(trace: ReferenceTrace, rng: np.random.Generator) -> tuple[ReferenceTrace, MHInfo]:
        check_start(trace)
        if skip_absent and not trace.has_any(selection):
            return trace, MHInfo(False, -inf, "the trace has none of the selected choices")
        try:
            proposal = propose_redraws(trace, selection, rng, skip_absent)
        except ZeroProbability as signal:
            return _rejected(trace, rng, signal, "the move")
        if proposal.removed or proposal.remeasured:
            _check_kept(trace, proposal, "the move")
        return decide(trace, proposal, proposal.log_weight, rng)

    return step


def _chosen_step(choose: Choose, takes_generator: bool, skip_absent: bool, decide: Decide) -> Any:
    """A step that proposes what a function picks.

    Its random numbers w are drawn in advance, whatever the trace is. Given w the selection S(x, w) is a
    function of the trace, and a proposal x' is accepted only if S(x', w) = S(x, w): both ways then have the
    density that `regenerate` takes into account, so the step is reversible for every w, and on average.
    """

    def picked(trace: ReferenceTrace, seed: int | None) -> Selection:
        if seed is None:
            selection = choose(trace)
        else:
            selection = choose(trace, np.random.Generator(np.random.PCG64(seed)))
        if not isinstance(selection, Selection):
            raise KernelError(
                f"{choose.__name__} returned {selection!r}, which is no selection",
                fix="return select(address); a proposal program is decorated with @gen",
            )
        return selection

    def step(trace: ReferenceTrace, rng: np.random.Generator) -> tuple[ReferenceTrace, MHInfo]:
        check_start(trace)
        seed = int(rng.integers(_SEEDS)) if takes_generator else None
        selection = picked(trace, seed)
        try:
            proposal = propose_redraws(trace, selection, rng, skip_absent)
        except ZeroProbability as signal:
            return _rejected(trace, rng, signal, "the move")
        _check_kept(trace, proposal, "the move")
        if picked(proposal.trace(), seed) != selection:
            accept(-inf, rng)
            return trace, MHInfo(False, -inf, "another selection would be picked from the proposed trace")
        return decide(trace, proposal, proposal.log_weight, rng)

    return step


def _proposal_step(
    program: GenFunction,
    args_at: Callable[[ReferenceTrace], tuple[Any, ...]],
    decide: Decide = decide,
) -> Any:
    def step(trace: ReferenceTrace, rng: np.random.Generator) -> tuple[ReferenceTrace, MHInfo]:
        check_start(trace)
        forward = program.simulate_once(args_at(trace), rng)
        values = {path: record[1] for path, record in forward.records.items()}
        _check_proposed(program, trace, values)
        try:
            proposal = propose_values(trace, values)
            new = proposal.trace()
            for path in values:
                if path not in new.records:
                    raise UnknownAddressError(
                        f"{program.name} proposes a choice that the model doesn't make",
                        address=path,
                        location=definition(program),
                        fix=f"{explain_unknown(path, new.records)}; a proposal has no choices of its "
                        "own: a move that needs some is involutive(q, f)",
                    )
            check_proposed_measures(program, forward, new)
            _check_kept(trace, proposal, program.name)
            overwritten = {path: trace.records[path][1] for path in values if path in trace.records}
            overwritten.update({p: record[1] for p, record in proposal.removed.items()})
            backward = _reverse_score(program, args_at(new), overwritten)
        except ZeroProbability as signal:
            return _rejected(trace, rng, signal, program.name, forward.records)
        except MissingChoiceError as error:
            raise CoverageError(
                f"{_placed(program)} leads to a trace with a choice that it doesn't propose",
                address=error.address,
                location=error.location,
                fix="propose every choice that is new in the trace",
            ) from None
        ratio = proposal.log_weight + backward - forward.log_prob
        return decide(trace, proposal, ratio, rng, backward - forward.log_prob)

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


def _reverse_score(proposal: GenFunction, args: tuple[Any, ...], values: dict[Any, Any]) -> float:
    """log q of proposing `values`, or an error where the proposal can't propose just these."""
    try:
        backward = proposal.score_once(args, values, stop_at_zero=True)
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


def _check_kept(trace: ReferenceTrace, proposal: Proposal, move: str) -> None:
    """Raise where a proposal removes an observation, or gives what it keeps another base measure."""
    for path in proposal.removed:
        if path in trace.observed_paths:
            raise ObservedError(
                "a proposal removes an observation from the trace",
                address=path,
                fix="the choices that are observed must exist whatever the latent choices are",
            )
    for path, (_, distribution) in proposal.remeasured.items():
        check_kept_choice(trace, path, distribution, move)


def _rejected(
    trace: ReferenceTrace,
    rng: np.random.Generator,
    signal: ZeroProbability,
    move: str,
    given: Container[Path] = (),
) -> tuple[ReferenceTrace, MHInfo]:
    """The step of a move that leads to where the density is zero."""
    check_kept_zero(trace, signal, move, given)
    accept(-inf, rng)
    return trace, MHInfo(False, -inf, signal.reason)
