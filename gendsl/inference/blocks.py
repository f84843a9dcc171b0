"""Blocks: discrete choices of a trace take joint values, while all other choices stay as they are.

Kernels that update several choices at once are written in terms of these functions. They look into traces,
which the compiler does not read; so it knows what each of them means (`gendsl.compiler.front.blocks`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gendsl.address import Path
from gendsl.distributions import Distribution
from gendsl.errors import GenDSLError, KernelError, MissingChoiceError
from gendsl.inference import lines
from gendsl.inference.lines import Line
from gendsl.inference.proposal import check_kept_zero, propose_values
from gendsl.inference.scan import changes_structure, check_same_choices, shown
from gendsl.runtime.impossible import ZeroProbability
from gendsl.runtime.trace import ReferenceTrace
from gendsl.selection import Selection

MOST_STATES = 1_000_000
"""How many joint values a block may have."""


class Block:
    """A trace, and the choices of it that take joint values, until they are moved to some.

    Attributes:
        trace: the trace.
        paths: the addresses of the choices.
        states: the joint values, by addresses, once their densities were asked for.
    """

    def __init__(self, trace: ReferenceTrace, selection: Selection, paths: Sequence[Path]) -> None:
        self.trace, self.selection, self.paths = trace, selection, paths
        self.states: list[dict[Path, Any]] = []

    def log_weights(self) -> list[float]:
        """The log density at all joint values, less that of the trace."""
        log_weights: list[float] = []
        trace, selection, paths, states = self.trace, self.selection, self.paths, self.states
        # What is outside of every support stops an edit at the first choice that has no value yet, in the
        # order of execution, with the distribution that it has given the choices before it.
        open_ = {path: _outside(trace.records[path][1]) for path in paths}
        for path, outside in open_.items():
            _check_refused(trace.records[path][0], outside, path)
        pending: list[tuple[dict[Path, Any], dict[Path, Any]]] = [({}, open_)]
        while pending:
            chosen, unknown = pending.pop()
            try:
                proposal = propose_values(trace, {**unknown, **chosen})
            except ZeroProbability as signal:
                path = signal.path
                if path not in unknown:
                    check_kept_zero(trace, signal, "gibbs", chosen)
                    continue  # impossible, whatever the values of the rest are
                rest = {p: value for p, value in unknown.items() if p != path}
                for value in lines.values_of(signal.distribution, path, "gibbs"):
                    pending.append(({**chosen, path: value}, rest))
                _check_size(len(pending) + len(states), path)
                continue
            except MissingChoiceError as error:
                new = error.address or ()
                if new not in selection:
                    raise _decides(paths, new) from None
                pending.append((chosen, {**unknown, new: math.nan}))
                continue
            except Exception as error:
                if not unknown or (isinstance(error, GenDSLError) and error.address not in unknown):
                    raise
                raise KernelError(
                    f"gibbs can't find the values of {', '.join(map(shown, unknown))}: {error!r}",
                    address=next(iter(unknown)),
                    fix="the logpdf of a distribution must return -inf outside its support; an array that "
                    "only some values of the block make can't be part of it, its entries as choices can",
                ) from error
            records = proposal.trace().records
            for path in unknown:
                if path in records:
                    raise _takes_anything(records[path][0], path)
            for gone in proposal.removed:
                if gone in trace.observed_paths:
                    check_same_choices(trace, proposal, paths[0], "gibbs")
                elif gone not in selection:
                    raise _decides(paths, gone)
            states.append({path: value for path, value in chosen.items() if path in records})
            log_weights.append(proposal.log_weight)
        return log_weights

    def move(self, place: int) -> None:
        """Let the choices have some of the joint values."""
        values, records = self.states[place], self.trace.records
        same = values.keys() == set(self.paths)
        if not (same and all(lines.same(value, records[path][1]) for path, value in values.items())):
            self.trace = propose_values(self.trace, values).trace()


def values(line: Line) -> Sequence[Any]:
    """The values of a choice of a block, given those before it."""
    return lines.values(line)


def log_weights(block: Block) -> list[float]:
    """log p(x') - log p(x) of the trace with the choices at all joint values, which may be NaN or infinite.

    Raises:
        KernelError: there are too many, or one of the choices doesn't have finitely many values.
    """
    return block.log_weights()


def move(block: Block, place: int) -> None:
    """Let the choices have some of the joint values, by the place among the log weights."""
    block.move(place)


def _outside(value: Any) -> Any:
    """What no support contains, in the shape of a value."""
    return np.full(value.shape, math.nan) if isinstance(value, np.ndarray) else math.nan


def _check_refused(distribution: Distribution, outside: Any, path: Path) -> None:
    """Raise where a distribution takes a value outside its support for a possible one."""
    try:
        score = distribution.logpdf(outside)
    except Exception:
        return  # the edit meets it too, and tells
    if score != -math.inf:
        raise _takes_anything(distribution, path)


def _takes_anything(distribution: Distribution, path: Path) -> KernelError:
    return KernelError(
        "gibbs finds the values of a block by asking for one outside the support, and "
        f"{distribution!r} takes NaN for a possible value",
        address=path,
        fix="the logpdf of a distribution must return -inf outside its support",
    )


def _decides(paths: Sequence[Path], other: Path) -> KernelError:
    """The error for a block whose values decide whether another choice exists."""
    if len(paths) == 1:
        return changes_structure(paths[0], other, "gibbs")
    return KernelError(
        "gibbs updates a block of choices given all others, and their values decide whether "
        f"{shown(other)} exists",
        address=other,
        fix=f"select {shown(other)}, too, with skip_absent=True, if it has finitely many values; or use mh, "
        "which draws what is new from the prior, or involutive(q, f)",
    )


def _check_size(states: int, path: Path) -> None:
    if states > MOST_STATES:
        raise KernelError(
            f"gibbs got a block with more than {MOST_STATES} joint values",
            address=path,
            fix="update its choices one by one, without block=True, or in smaller blocks",
        )


def differing(before: ReferenceTrace, after: ReferenceTrace, paths: Sequence[Path]) -> int:
    """How many choices have other values, or are gone."""
    changed = 0
    for path in paths:
        record = after.records.get(path)
        changed += record is None or not lines.same(before.records[path][1], record[1])
    return changed
