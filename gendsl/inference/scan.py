"""Kernels that update choices given all others: which of them a step visits, and the edits that it tries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from gendsl.address import Path
from gendsl.distributions import Distribution
from gendsl.errors import GenDSLError, KernelError, MissingChoiceError, ObservedError, ParameterError
from gendsl.inference.kernel import check_kernel
from gendsl.inference.proposal import Proposal, check_kept_zero, propose_values
from gendsl.interface import GenerativeFunction, Trace
from gendsl.runtime.impossible import ZeroProbability
from gendsl.runtime.trace import ReferenceTrace, check_kept_choice
from gendsl.selection import Selection, select
from gendsl.transforms.language import Transform

Scan = Literal["systematic", "random"]

Visit = Callable[[ReferenceTrace, Path, np.random.Generator], tuple[ReferenceTrace, int]]
"""One update of one choice: the next trace, and a count that the kernel adds up."""


def as_target(target: Any, maker: str) -> Selection:
    """The selection that a selection or an address stands for, as all kernels take them.

    Raises:
        KernelError: it is neither.
        InvalidAddressError: it can't be an address.
    """
    if isinstance(target, Selection):
        return target
    if isinstance(target, Transform) or (callable(target) and not isinstance(target, GenerativeFunction)):
        check_kernel(target)  # of what isn't called yet, it says so
    several = isinstance(target, (list, set, frozenset, dict))
    no_address = isinstance(target, (Distribution, Trace, GenerativeFunction)) or callable(target)
    if several or target is None or no_address:
        example = (", ".join(map(repr, target)) if several else "") or "'x'"
        raise KernelError(
            f"{maker} needs a selection or an address, got {target!r}",
            fix=f"write {maker}(select({example}))",
        )
    return select(target)


def check_scan(scan: Any, maker: str) -> None:
    """Raise unless `scan` is one of the two orders."""
    if scan not in ("systematic", "random"):
        raise KernelError(f"{maker} got scan={scan!r}", fix='scan is "systematic" or "random"')


def visited(
    trace: ReferenceTrace,
    selection: Selection,
    scan: Scan,
    skip_absent: bool,
    rng: np.random.Generator,
    visit: Visit,
) -> tuple[ReferenceTrace, int, int]:
    """Visit every selected choice in turn, or one picked at random.

    No visit makes or removes a selected choice, so the choices to pick from are the same afterwards.

    Returns:
        The next trace, the number of visits, and the sum of their counts.
    """
    paths = trace.selected(selection, skip_absent=skip_absent)
    if scan == "random" and paths:
        paths = (paths[int(rng.integers(len(paths)))],)
    total = 0
    for path in paths:
        trace, count = visit(trace, path, rng)
        total += count
    return trace, len(paths), total


def with_values(
    trace: ReferenceTrace, values: dict[Path, Any], maker: str, undefined_is_zero: bool = True
) -> Proposal | None:
    """The trace with other values of selected choices; None where the density is zero.

    With `undefined_is_zero` it is zero, too, where the body can't be computed: where a function has no value
    there (`math.sqrt(-1)`, 1 / 0) or a distribution doesn't take the parameter.

    Raises:
        KernelError: a value decides which other choices exist.
        LabelError: another choice, which keeps its value, has another base measure.
    """
    try:
        proposal = propose_values(trace, values)
    except ZeroProbability as signal:
        check_kept_zero(trace, signal, maker, values)
        return None
    except MissingChoiceError as error:
        raise new_choice(next(iter(values)), error, maker) from None
    except (ArithmeticError, ValueError) as error:
        wrong = isinstance(error, GenDSLError) and not isinstance(error, ParameterError)
        if wrong or not undefined_is_zero:
            raise
        return None
    if proposal.removed or proposal.remeasured:
        check_same_choices(trace, proposal, next(iter(values)), maker)
    return proposal


def check_same_choices(trace: ReferenceTrace, proposal: Proposal, path: Path, maker: str) -> None:
    """Raise where a new value of a choice removes others, or gives what it keeps another base measure.

    Raises:
        ObservedError, KernelError, LabelError
    """
    for gone in proposal.removed:
        if gone in trace.observed_paths:
            raise ObservedError(
                f"another value of {shown(path)} removes an observation from the trace",
                address=gone,
                fix="the choices that are observed must exist whatever the latent choices are",
            )
        raise changes_structure(path, gone, maker)
    for kept, (_, distribution) in proposal.remeasured.items():
        check_kept_choice(trace, kept, distribution, maker)


def changes_structure(path: Path, other: Path, maker: str) -> KernelError:
    """The error for a choice whose value decides whether another exists."""
    return KernelError(
        f"{maker} updates this choice given all others, and its value decides whether {shown(other)} exists",
        address=path,
        fix=f"use mh(select({shown(path)})), which draws what is new from the prior, or involutive(q, f)",
    )


def new_choice(path: Path, error: MissingChoiceError, maker: str) -> KernelError:
    """The same error, where the other choice would be new."""
    return changes_structure(path, error.address or (), maker)


def shown(path: Path) -> str:
    """A path as it is written in `select`."""
    return repr(path[0]) if len(path) == 1 else repr(path)
