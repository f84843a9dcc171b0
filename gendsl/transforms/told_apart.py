"""Whether the output of a transform tells discrete choices apart that it reads.

A discrete choice that is read and then ignored is lost: all its values lead to one output, and each would
count as if it were the only one. Where the inverse is known the round trip finds that. Where it isn't, the
transform is run once more with another value of the choice, and all else as it was. If that has positive
probability too and leads to the same output, with the same derivatives, then the transform has no inverse.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import Any

import numpy as np

from gendsl.address import Path
from gendsl.choices import same_value
from gendsl.distributions import Distribution
from gendsl.errors import CoverageError
from gendsl.runtime.generative import GenFunction
from gendsl.runtime.impossible import ZeroProbability
from gendsl.runtime.trace import ReferenceTrace
from gendsl.transforms.apply import Image, Target, output_values, run_transform
from gendsl.transforms.arrays import DualArray
from gendsl.transforms.forward import Dual
from gendsl.transforms.language import Transform
from gendsl.transforms.outputs import Write
from gendsl.transforms.run import Run

_MOST = 4  # choices that are looked at in one trace


def check_told_apart(
    f: Transform,
    trace: ReferenceTrace,
    aux: ReferenceTrace | None,
    q: GenFunction | None,
    q_args: tuple[Any, ...],
    target: Target,
    there: Image,
    turn: int = 0,
) -> None:
    """Raise if f leads from another value of a discrete choice to the output that it led to.

    Some of the choices that may be lost are looked at; which, `turn` decides.

    Raises:
        CoverageError: with the choice and the two values.
    """
    found = list(_may_be_lost(there.run))
    for k in range(min(_MOST, len(found))):
        index, path = found[(turn * _MOST + k) % len(found)]
        distribution, value, _ = (trace, aux)[index].records[path]  # type: ignore[union-attr]
        other = _another(distribution, value)
        if other is None:
            continue
        try:
            second = _run_with(f, trace, aux, q, q_args, target, (index, path), other)
        except (Exception, ZeroProbability):  # the user's code may make nothing of the other value
            continue
        if second is not None and _same_outputs(there.run, second):
            name = there.run.inputs[index].name
            raise CoverageError(
                f"transform {f.name} leads to the same output from {value!r} and from {other!r} as the value "
                f"of a discrete choice of {name}, so nothing says which one to go back to",
                address=path,
                location=f.location,
                fix="write or copy it to the output, as an auxiliary (or backward) choice if the new trace "
                "has none for it",
            )


def _may_be_lost(run: Run) -> Iterator[tuple[int, Path]]:
    """The discrete choices that were looked at and not copied, each with the number of its input."""
    copied = {
        (id(entry.source), entry.path)
        for output in run.outputs
        for entry in output.entries.values()
        if not isinstance(entry, Write)
    }
    for index, state in enumerate(run.inputs):
        for path, support in state.supports.items():
            if support.discrete and path not in state.observed and (id(state), path) not in copied:
                yield index, path


def _another(distribution: Distribution, value: Any) -> Any:
    """Another value of positive probability; None if none is at hand."""
    values = distribution.support.values
    if values is None and type(value) is int:
        values = value + 1, value - 1
    for other in values or ():
        if not same_value(other, value) and distribution.logpdf(other) > -inf:
            return other
    return None


def _run_with(
    f: Transform,
    trace: ReferenceTrace,
    aux: ReferenceTrace | None,
    q: GenFunction | None,
    q_args: tuple[Any, ...],
    target: Target,
    changed: tuple[int, Path],
    other: Any,
) -> Run | None:
    """The run of f with another value of one choice; None if there are other choices then, too."""
    traces: list[ReferenceTrace | None] = [trace, aux]
    index, path = changed
    for i in range(index, 2):
        old = traces[i]
        if old is None:
            continue
        program, args = (trace.gen_fn, trace.args) if i == 0 else (q, (traces[0], *q_args))
        assert program is not None
        values = {p: record[1] for p, record in old.records.items()}
        if i == index:
            values[path] = other
        new = program.score(args, values, stop_at_zero=True)
        if len(new.records) != len(values):
            return None
        new.observed_paths = old.observed_paths
        traces[i] = new
    model = traces[0]
    assert model is not None
    return run_transform(f, model, traces[1], q_args, protected=target)


def _same_outputs(first: Run, second: Run) -> bool:
    for one, two in zip(first.outputs, second.outputs, strict=True):
        if one.entries.keys() != two.entries.keys():
            return False
        output_values(two)
        if not all(_same_entry(one.entries[path], two.entries[path]) for path in one.entries):
            return False
    return True


def _same_entry(one: Any, two: Any) -> bool:
    if type(one) is not type(two):
        return False
    if not isinstance(one, Write):
        return bool(one.path == two.path and one.source.name == two.source.name)
    return _same(one.value, two.value)


def _same(one: Any, two: Any) -> bool:
    """Whether two values are the same, with their derivatives by the same coordinates."""
    if type(one) is not type(two):
        return False
    if isinstance(one, Dual):
        return bool(one.value == two.value and one.tangent == two.tangent)
    if isinstance(one, DualArray):
        size = min(one.tangent.shape[-1], two.tangent.shape[-1])
        rest = one.tangent[..., size:].any() or two.tangent[..., size:].any()
        tangents = np.array_equal(one.tangent[..., :size], two.tangent[..., :size])
        return bool(np.array_equal(one.value, two.value) and tangents and not rest)
    if isinstance(one, (list, tuple)):
        return len(one) == len(two) and all(map(_same, one, two))
    return same_value(one, two)
