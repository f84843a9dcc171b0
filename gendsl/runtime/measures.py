"""The base measures of choices: those that an edit keeps must keep theirs."""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Any

from gendsl.address import Path
from gendsl.distributions import Distribution
from gendsl.distributions.base import ScalarFamily, measured
from gendsl.runtime.records import Records
from gendsl.supports import Support


def remeasured(
    trace: Any, records: Records, paths: Iterable[Path], changed: Container[Path]
) -> dict[Path, tuple[Distribution, Distribution]]:
    """The latent choices of a trace that an edit keeps, but with another base measure.

    Args:
        records: those after the edit.
        paths: where there may be such choices.
        changed: the paths of the choices that it doesn't keep.
    """
    found = {}
    old = trace.records
    for path in paths:
        before, record = old.get(path), records.get(path)
        if before is record or before is None or record is None:
            continue
        distribution = record[0]
        if distribution is before[0] or path in changed or path in trace.observed_paths:
            continue
        if type(distribution) is type(before[0]) and isinstance(distribution, ScalarFamily):
            continue  # which have one base measure each
        if not same_measure(measured(before[0]), measured(distribution)):
            found[path] = before[0], distribution
    return found


def same_measure(a: Support, b: Support) -> bool:
    """Whether densities on two supports are with respect to one base measure."""
    return a is b or (a.discrete, a.dim) == (b.discrete, b.dim)


def describe_measure(support: Support) -> str:
    """What kind of choice has this support."""
    if support.discrete:
        return "discrete"
    return "continuous" if support.dim == 1 else f"continuous ({support.dim}-dimensional)"
