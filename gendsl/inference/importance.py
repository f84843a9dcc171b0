"""Importance sampling: traces from the prior, or from a proposal, weighted for the posterior."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from gendsl.address import Path, format_address
from gendsl.choices import MISSING, ChoiceMap, Constraints, choicemap
from gendsl.errors import KernelError, NaNError, ObservedError
from gendsl.inference.compiled import operations
from gendsl.inference.particles import Particles, check_alive, check_particle_count
from gendsl.interface import Choices, Rng, as_rng
from gendsl.runtime.executions import Generate
from gendsl.runtime.generative import GenFunction
from gendsl.runtime.impossible import ZeroProbability
from gendsl.runtime.records import other_shape
from gendsl.runtime.trace import definition
from gendsl.transforms.extending import check_proposal, check_proposed_measures


class Drawn(NamedTuple):
    """What `importance_resampling` returns."""

    trace: Any
    log_evidence: float


def importance_sampling(
    model: GenFunction,
    args: tuple[Any, ...] = (),
    observations: Choices | None = None,
    particles: int = 1000,
    *,
    proposal: GenFunction | None = None,
    proposal_args: tuple[Any, ...] = (),
    rng: Rng = None,
) -> Particles:
    """Traces weighted for the posterior, and an unbiased estimate of the evidence.

    The choices of each trace are proposed, or else drawn from the prior, and its weight is

        w = p(t; x) / (q(proposed) p(drawn)),

    the density of the observations given the rest, where nothing is proposed. The average weight estimates
    the evidence.

    Args:
        model, args, observations: the model; the observations hold in every trace.
        particles: how many.
        proposal, proposal_args: a program called as `proposal(*proposal_args)`, whose choices are values for
            latent choices of the model at the same addresses. It should have heavier tails than the
            posterior.
        rng: seed or generator.

    Raises:
        ZeroProbabilityError: all weights are zero.
        LabelError, UnknownAddressError, ObservedError: the proposal proposes what isn't there to propose.
    """
    size = check_particle_count(particles)
    traces, log_weights, reason = [], [], None
    for trace, log_weight, why in _weighted(model, args, observations, size, proposal, proposal_args, rng):
        if trace is None:
            reason = why
        else:
            traces.append(trace)
            log_weights.append(log_weight)
    check_alive(traces, size, reason)
    return Particles(tuple(traces), np.array(log_weights), size)


def importance_resampling(
    model: GenFunction,
    args: tuple[Any, ...] = (),
    observations: Choices | None = None,
    particles: int = 1000,
    *,
    proposal: GenFunction | None = None,
    proposal_args: tuple[Any, ...] = (),
    rng: Rng = None,
) -> Drawn:
    """One trace drawn from weighted ones by their weights, and the estimate of the log evidence.

    As the number of particles grows, the trace's distribution tends to the posterior. Only one trace is kept
    at a time. The arguments are those of `importance_sampling`.
    """
    size, rng = check_particle_count(particles), as_rng(rng)
    chosen, total, reason = None, -math.inf, None
    for trace, log_weight, why in _weighted(model, args, observations, size, proposal, proposal_args, rng):
        if trace is None:
            reason = why
            continue
        total = float(np.logaddexp(total, log_weight))
        if math.log1p(-rng.random()) <= log_weight - total:
            chosen = trace
    check_alive([] if chosen is None else [chosen], size, reason)
    return Drawn(chosen, total - math.log(size))


Weighted = tuple[Any, float, str | None]


def _weighted(
    model: Any,
    args: tuple[Any, ...],
    observations: Choices | None,
    size: int,
    proposal: GenFunction | None,
    proposal_args: tuple[Any, ...],
    rng: Rng,
) -> Iterator[Weighted]:
    """Traces with their log weights; None and the reason where the weight is 0."""
    if not isinstance(model, GenFunction):
        raise KernelError(f"importance sampling needs a model, got {model!r}", fix="decorate it with @gen")
    check_proposal(proposal, proposal_args)
    rng, observed = as_rng(rng), choicemap(observations)
    operations.expect(model, size)
    for _ in range(size):
        log_forward = 0.0
        if proposal is None:
            trace, log_weight = model.generate(args, observed, rng=rng)
        else:
            forward = proposal.simulate_once(proposal_args, rng)
            init = {path: record[1] for path, record in forward.records.items()}
            found = _generate(model, args, observed, proposal, init, rng)
            if isinstance(found, ZeroProbability):
                yield None, -math.inf, f"out of support at {format_address(found.path)}"
                continue
            trace, log_weight = found
            check_proposed_measures(proposal, forward, trace)
            log_forward = forward.log_prob
        if log_weight == -math.inf:
            path, value = next(iter(trace.impossible.items()))
            record: Any = trace.records[path]  # type: ignore[attr-defined]
            lengths = other_shape(record[0], value)
            reason = f"out of support at {format_address(path)}" + (f": {lengths}" if lengths else "")
            yield None, -math.inf, reason
            continue
        log_weight -= log_forward
        if not log_weight < math.inf:
            raise NaNError(
                f"the log weight of a trace is {log_weight}",
                fix="a density is infinite: look for a choice on the boundary of its support",
            )
        yield trace, log_weight, None


def _generate(
    model: GenFunction,
    args: tuple[Any, ...],
    observed: ChoiceMap,
    proposal: GenFunction,
    init: dict[Path, Any],
    rng: np.random.Generator,
) -> Any:
    """A trace with observed and proposed choices, and its log weight; or why it has probability zero.

    A program may fail where a proposed value is out of its support (a negative standard deviation). So where
    it fails, it is run again with the same random numbers, up to the first choice of probability zero.
    """
    given = Constraints(observed)
    for path in init:
        if given.lookup(path) is not MISSING:
            raise ObservedError(
                f"{proposal.name} proposes an observation", address=path, location=definition(proposal),
                fix="propose latent choices only",
            )  # fmt: skip
    state = rng.bit_generator.state
    start = ChoiceMap._from_flat(init)
    try:
        return model.generate(args, observed, init=start, rng=rng)
    except Exception:
        rng.bit_generator.state = state
        execution = _UpToZero(Constraints(observed), Constraints(start), rng)
        try:
            model._trace(execution, args)
        except ZeroProbability as signal:
            return signal
        raise


class _UpToZero(Generate):
    """A run that ends at a choice of probability zero."""

    def choose(self, path: Path, distribution: Any) -> Any:
        record = super().choose(path, distribution)
        if record[2] == -math.inf:
            raise self.fail(ZeroProbability(path, distribution, record[1]))
        return record
