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
from dataclasses import dataclass
from typing import Any

import numpy as np

from gendsl.address import Path
from gendsl.compiler.moves import Blocking, Updating, Wanted
from gendsl.errors import KernelError, NaNError
from gendsl.inference import blocks, lines
from gendsl.inference.blocks import Block, differing, values
from gendsl.inference.infos import Told
from gendsl.inference.kernel import Kernel
from gendsl.inference.lines import Line
from gendsl.inference.scan import (
    Scan,
    as_target,
    check_scan,
    visited,
)
from gendsl.inference.structure import kernel_maker
from gendsl.runtime.trace import ReferenceTrace, check_start


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
        LabelError: in a step, another choice, which keeps its value, has another dimension or kind.
    """
    selection = as_target(target, "gibbs")
    check_scan(scan, "gibbs")
    if not isinstance(block, bool):
        raise KernelError(f"gibbs got block={block!r}", fix="block is True or False")

    def step(trace: ReferenceTrace, rng: np.random.Generator) -> tuple[ReferenceTrace, GibbsInfo]:
        check_start(trace)
        if block:
            paths = trace.selected(selection, skip_absent=skip_absent)
            found = Block(trace, selection, paths)
            if paths:
                _update_block(found, rng)
            changed = 0 if found.trace is trace else differing(trace, found.trace, paths)
            return found.trace, GibbsInfo(True, len(paths), changed)
        after, count, changed = visited(trace, selection, scan, skip_absent, rng, _visit)
        return after, GibbsInfo(True, count, changed)

    title, wanted = f"gibbs {selection!r}", Wanted.of(selection)
    move: Blocking | Updating | None = None
    if wanted is not None and block:
        move = Blocking(title, wanted, _update_block, values, skip_absent)
    elif wanted is not None:
        move = Updating(title, wanted, _update, {}, scan, skip_absent)
    told = None if block else _told
    return Kernel(step, name or title, reversible=block or scan == "random", move=move, told=told)


def _told(step: Told) -> GibbsInfo:
    return GibbsInfo(True, step.visited, step.counted)


def _visit(trace: ReferenceTrace, path: Path, rng: np.random.Generator) -> tuple[ReferenceTrace, int]:
    line = Line(trace, path, "gibbs", undefined_is_zero=False)
    changed = _update(line, rng)
    return line.trace, changed


def _update(line: Line, rng: np.random.Generator) -> int:
    """Draw the choice of a line given all others; 1 if it has another value now, 0 if not."""
    every = lines.values(line)
    weights = lines.log_weights(line, every)
    chosen = _draw(weights, rng)
    if lines.same(every[chosen], lines.current(line)):
        return 0
    lines.move(line, every[chosen], weights[chosen])
    return 1


def _update_block(block: Block, rng: np.random.Generator) -> None:
    """Draw the choices of a block given all others."""
    weights = blocks.log_weights(block)
    blocks.move(block, _draw(weights, rng))


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
