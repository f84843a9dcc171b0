"""Proposals. A kernel proposes where to go, weighs it, accepts it, and takes the trace only then:

    proposal = propose_redraws(trace, selection, rng)
    if accept(proposal.log_weight, rng):
        trace = proposal.trace()

The runtimes have several forms of what is proposed; no other module of `gendsl.inference` knows them.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from gendsl.address import Path
from gendsl.distributions import Distribution
from gendsl.runtime.generative import GenFunction
from gendsl.runtime.impossible import ZeroProbability
from gendsl.runtime.local import LocalRedraw
from gendsl.runtime.records import Record
from gendsl.runtime.trace import Edit, ReferenceTrace, check_kept_choice
from gendsl.runtime.verify import compare_with_reference, is_due
from gendsl.selection import Selection
from gendsl.transforms.apply import image
from gendsl.transforms.checks import check_round_trip
from gendsl.transforms.language import Transform

_NONE: Mapping[Path, Any] = MappingProxyType({})


class Proposal:
    """A trace x' that a kernel may go to from a trace x, and the terms of the log acceptance ratio.

    Attributes:
        log_weight: log p(x') - log p(x), with p the density of the kernel's target; where choices were drawn
            from the prior, less the log density of drawing them, plus that of drawing what they were.
        removed: the choices that are gone, observations among them, but no factors.
        remeasured: the old and new distributions of latent choices that were kept, not given, and whose
            density is with respect to another base measure than it was.
        is_local: whether it is known, before x' is made, that it has the choices that x has.
        log_abs_det: log |det J| of the map that leads to x'; 0 where there is none.
        log_aux: log q_x'(y') of the auxiliary choices that lead back; 0 where there are none.
    """

    __slots__ = (
        "_source", "is_local", "log_abs_det", "log_aux", "log_weight", "remeasured", "removed"
    )  # fmt: skip

    def __init__(
        self, log_weight: float, source: Any, removed: Mapping[Path, Record] = _NONE,
        remeasured: Mapping[Path, tuple[Distribution, Distribution]] = _NONE, is_local: bool = False,
        log_abs_det: float = 0.0, log_aux: float = 0.0,
    ) -> None:  # fmt: skip
        self._source = source
        self.log_weight, self.log_abs_det, self.log_aux = log_weight, log_abs_det, log_aux
        self.removed, self.remeasured, self.is_local = removed, remeasured, is_local

    def trace(self) -> ReferenceTrace:
        """x'; where it waited for that, it is made when it is first asked for, and kept."""
        return self._source.trace  # type: ignore[no-any-return]


def propose_trace(trace: ReferenceTrace, log_weight: float) -> Proposal:
    """A trace that was made already."""
    return Proposal(log_weight, Edit(trace, log_weight, {}, {}))


def propose_values(
    trace: ReferenceTrace, values: dict[Path, Any], args: tuple[Any, ...] | None = None
) -> Proposal:
    """The trace with some choices given, all others kept, or other arguments; see `ReferenceTrace.edit`."""
    edit = trace.edit(values, args=args, stop_at_zero=True)
    return Proposal(edit.log_weight, edit, edit.removed, edit.remeasured)


def propose_redraws(
    trace: ReferenceTrace, selection: Selection, rng: np.random.Generator, skip_absent: bool = False
) -> Proposal:
    """The trace with the selected choices drawn anew from the prior; see `ReferenceTrace.resample`."""
    edit = trace.resample(selection, rng, skip_absent=skip_absent, stop_at_zero=True)
    return Proposal(edit.log_weight, edit, edit.removed, edit.remeasured)


def propose_redraw(trace: ReferenceTrace, path: Path, rng: np.random.Generator) -> Proposal:
    """The same for one choice."""
    edit = trace.redraw(path, rng, stop_at_zero=True)
    return Proposal(edit.log_weight, edit, edit.removed, edit.remeasured, type(edit) is LocalRedraw)


# --- maps ------------------------------------------------------------------------------------------

_Point = tuple[ReferenceTrace, GenFunction | None, tuple[Any, ...], ReferenceTrace | None]
"""The trace, the auxiliary program, its other arguments and its trace: what a map is applied to."""


def propose_image(f: Transform, inverse: Transform, at: _Point, check: bool) -> Proposal:
    """Where a transform leads.

    Args:
        check: whether `inverse` must lead back.

    Raises:
        ZeroProbability: it has density zero.
        TransformError: f is wrong at this point, or (with `check`) doesn't lead back.
    """
    trace, q, q_args, aux = at
    there = image(f, trace, q, q_args, aux)
    if check:
        check_round_trip(f, inverse, trace, aux, q_args, there)
        if is_due(there.trace):
            compare_with_reference(there.trace)
    log_aux = 0.0 if there.aux is None else there.aux.log_prob
    return Proposal(there.log_weight, there, log_abs_det=there.log_abs_det, log_aux=log_aux)


def check_kept_zero(
    old: ReferenceTrace, signal: ZeroProbability, move: str, given: Container[Path] = ()
) -> None:
    """Raise where a choice that a move keeps has density zero as it has another base measure now.

    Args:
        given: the paths of the choices that it does not keep.
    """
    path = signal.path
    if path in old.records and path not in given and path not in old.observed_paths:
        check_kept_choice(old, path, signal.distribution, move)
