"""Gibbs sampling by enumeration: discrete choices are drawn from their conditional distribution.

For a choice z with finitely many values v, given all other choices r, the density p(v, r) is that of the
trace edited to z = v, and z is drawn with probabilities p(v, r) / sum_u p(u, r). Nothing is rejected. Each
value costs what depends on z.

A choice whose value decides which others exist has no such conditional distribution: with the others fixed
it could only go where nothing is new, and never back. That is an error, unless what comes and goes is part
of the same block.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gendsl.address import Path
from gendsl.compiler.moves import Updating
from gendsl.distributions import Distribution
from gendsl.errors import GenDSLError, KernelError, MissingChoiceError, NaNError
from gendsl.inference import lines
from gendsl.inference.kernel import Kernel
from gendsl.inference.lines import Line
from gendsl.inference.scan import (
    Scan,
    as_target,
    check_same_choices,
    check_scan,
    new_choice,
    shown,
    visited,
)
from gendsl.inference.structure import kernel_maker
from gendsl.runtime.impossible import ZeroProbability
from gendsl.runtime.trace import ReferenceTrace, check_start
from gendsl.selection import Selection

_MOST_STATES = 1_000_000  # of a block


@dataclass(frozen=True, slots=True)
class GibbsInfo:
    """What happened in one Gibbs step.

    Attributes:
        accepted: True, as nothing is proposed that could be rejected.
        visited: how many choices were updated.
        changed: how many of them have another value now.
    """

    accepted: bool
    visited: int
    changed: int


@kernel_maker
def gibbs(
    target: Any,
    *,
    block: bool = False,
    scan: Scan = "systematic",
    skip_absent: bool = False,
    name: str | None = None,
) -> Kernel:
    """A Gibbs kernel for discrete choices with finitely many values, by enumeration.

    Args:
        target: the choices: a selection, or an address (`gibbs("z")` is all choices at and below "z").
        block: update all of them at once, from their joint conditional distribution: the product of their
            supports is enumerated. The support of one may depend on the values of others, and so may
            whether it exists.
        scan: without `block`, whether a step updates every one in turn ("systematic", which is not
            reversible) or one picked at random ("random").
        skip_absent: leave out selected addresses that the current trace doesn't have; an error if not.
        name: the name under which it is counted.

    A step draws each visited choice z given all others r with probability p(z, r) / sum_u p(u, r). That takes
    len(support) - 1 edits of the trace; at most one, where all that depends on z is in its iteration of a
    plate in columns.

    Raises:
        KernelError: the target is no selection or address; and in a step, a choice doesn't have finitely
            many values, or its value decides which other choices exist.
    """
    selection = as_target(target, "gibbs")
    check_scan(scan, "gibbs")
    if not isinstance(block, bool):
        raise KernelError(f"gibbs got block={block!r}", fix="block is True or False")
    patterns = None if block else selection.plain_patterns()

    def step(trace: ReferenceTrace, rng: np.random.Generator) -> tuple[ReferenceTrace, GibbsInfo]:
        check_start(trace)
        if block:
            paths = trace.selected(selection, skip_absent=skip_absent)
            after = _update_block(trace, selection, paths, rng) if paths else trace
            changed = 0 if after is trace else _differing(trace, after, paths)
            return after, GibbsInfo(True, len(paths), changed)
        after, count, changed = visited(trace, selection, scan, skip_absent, rng, _visit)
        return after, GibbsInfo(True, count, changed)

    title = f"gibbs {selection!r}"
    return Kernel(
        step,
        name or title,
        reversible=block or scan == "random",
        move=None if patterns is None else Updating(title, patterns, _update, {}, scan, skip_absent),
    )


def _visit(trace: ReferenceTrace, path: Path, rng: np.random.Generator) -> tuple[ReferenceTrace, int]:
    line = Line(trace, path, "gibbs", undefined_is_zero=False)
    changed = _update(line, rng)
    return line.trace, changed


def _update(line: Line, rng: np.random.Generator) -> bool:
    """Draw the choice of a line given all others; whether it has another value now."""
    every = lines.values(line)
    weights = lines.log_weights(line, every)
    chosen = _draw(weights, rng)
    if lines.same(every[chosen], lines.current(line)):
        return False
    lines.move(line, every[chosen], weights[chosen])
    return True


def _draw(log_weights: list[float], rng: np.random.Generator) -> int:
    """An index i, with probability proportional to exp(log_weights[i])."""
    top = max(log_weights)
    if not top < math.inf or any(w != w for w in log_weights):
        raise NaNError(
            f"gibbs found the log densities {log_weights} relative to the current one",
            fix="look for a choice on the boundary of its support, where its density is infinite",
        )
    weights = [math.exp(w - top) for w in log_weights]
    total = math.fsum(weights)
    left = rng.random() * total
    reached = 0.0
    chosen = 0
    for i, weight in enumerate(weights):
        if weight > 0.0:
            chosen = i
            reached += weight
            lines.check_tie(left, reached, total)
            if left < reached:
                break
    return chosen


# --- blocks ------------------------------------------------------------------------------------------


def _update_block(
    trace: ReferenceTrace, selection: Selection, paths: Sequence[Path], rng: np.random.Generator
) -> ReferenceTrace:
    """The trace with all selected choices drawn given all others."""
    log_weights: list[float] = []
    states: list[dict[Path, Any]] = []
    # What is outside of every support stops an edit at the first choice that has no value yet, in the
    # order of execution, with the distribution that it has given the choices before it.
    open_ = {path: _outside(trace.records[path][1]) for path in paths}
    for path, outside in open_.items():
        _check_refused(trace.records[path][0], outside, path)
    pending: list[tuple[dict[Path, Any], dict[Path, Any]]] = [({}, open_)]
    while pending:
        chosen, unknown = pending.pop()
        try:
            edit = trace.edit({**unknown, **chosen}, stop_at_zero=True)
        except ZeroProbability as signal:
            path = signal.path
            if path not in unknown:
                continue  # impossible, whatever the values of the rest are
            rest = {p: value for p, value in unknown.items() if p != path}
            for value in lines.values_of(signal.distribution, path, "gibbs"):
                pending.append(({**chosen, path: value}, rest))
            _check_size(len(pending) + len(states), path)
            continue
        except MissingChoiceError as error:
            new = error.address or ()
            if new not in selection:
                raise new_choice(_cause(chosen, paths), error, "gibbs") from None
            pending.append((chosen, {**unknown, new: math.nan}))
            continue
        except Exception as error:
            if not unknown or (isinstance(error, GenDSLError) and error.address not in unknown):
                raise
            raise KernelError(
                f"gibbs can't find the values of {', '.join(map(shown, unknown))}: {error!r}",
                address=next(iter(unknown)),
                fix="the logpdf of a distribution must return -inf outside its support; an array that only "
                "some values of the block make can't be part of it, its entries as choices can",
            ) from error
        for path in unknown:
            if path in edit.trace.records:
                raise _takes_anything(edit.trace.records[path][0], path)
        for gone in edit.removed:
            if gone not in selection:
                check_same_choices(trace, edit, _cause(chosen, paths), "gibbs")
        states.append({path: value for path, value in chosen.items() if path in edit.trace.records})
        log_weights.append(edit.log_weight)
    values = states[_draw(log_weights, rng)]
    records = trace.records
    if values.keys() == set(paths) and all(lines.same(value, records[p][1]) for p, value in values.items()):
        return trace
    return trace.edit(values).trace


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


def _cause(chosen: dict[Path, Any], paths: Sequence[Path]) -> Path:
    """The choice of a block to name where its values decide what else exists."""
    return next(reversed(chosen), paths[0])


def _check_size(states: int, path: Path) -> None:
    if states > _MOST_STATES:
        raise KernelError(
            f"gibbs got a block with more than {_MOST_STATES} joint values",
            address=path,
            fix="update its choices one by one, without block=True, or in smaller blocks",
        )


def _differing(before: ReferenceTrace, after: ReferenceTrace, paths: Sequence[Path]) -> int:
    """How many choices have other values, or are gone."""
    changed = 0
    for path in paths:
        record = after.records.get(path)
        changed += record is None or not lines.same(before.records[path][1], record[1])
    return changed
