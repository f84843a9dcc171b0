"""What a transform did at one pair of traces: what became of each address, and what depends on what."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from gendsl.address import Path
from gendsl.distributions.base import measured
from gendsl.errors import DimensionError, HandleError, SingularJacobianError, ValueTypeError
from gendsl.runtime.records import Records
from gendsl.runtime.trace import ReferenceTrace
from gendsl.transforms.apply import check_move, image, output_values
from gendsl.transforms.arrays import DualArray, as_dual_array
from gendsl.transforms.forward import Dual
from gendsl.transforms.inputs import Input
from gendsl.transforms.language import Transform, TransformPair
from gendsl.transforms.outputs import Copy, Output
from gendsl.transforms.run import Run
from gendsl.viz.discrete_flow import ReadEvent, WatchedInput, discrete_sources

Key = tuple[int, Path]
"""A choice: of the model (0) or of the auxiliary trace (1)."""

Kind = Literal["continuous", "discrete", "copied", "kept"]
"""How an output came about: written, copied by the transform, or kept, which is copied implicitly."""


@dataclass(frozen=True)
class Before:
    """A choice of an input trace: its value, and whether it is read, is observed, and is gone afterwards."""

    value: Any
    read: bool
    observed: bool
    gone: bool


@dataclass(frozen=True)
class After:
    """A choice of an output trace: its value, and how it came about."""

    value: Any
    kind: Kind


@dataclass(frozen=True)
class Arrow:
    """What an output was made from."""

    source: Key
    target: Key
    kind: Kind


@dataclass
class Sparsity:
    """Which derivatives are not zero.

    Attributes:
        rows, columns: the continuous inputs that don't stay as they are, and the continuous outputs that were
            written or copied to; each with its number of free coordinates.
        nonzero: of shape (row coordinates, column coordinates).
        copied: the rows and columns of copies, which are left out of the determinant.
    """

    rows: dict[Key, int]
    columns: dict[Key, int]
    nonzero: np.ndarray
    copied: tuple[set[Key], set[Key]]


@dataclass
class Move:
    """What a transform did.

    Attributes:
        name: of the transform.
        names: of the input and of the output traces.
        before, after: the choices of the inputs and of the outputs.
        arrows: what was made from what, without the implicit copies.
        sparsity: of the Jacobian.
        log_abs_det: log |det J|; None if there is none.
        problem: why there is none.
        reads: the choices that were read.
    """

    name: str
    names: tuple[tuple[str, ...], tuple[str, ...]]
    before: dict[Key, Before]
    after: dict[Key, After]
    arrows: list[Arrow]
    sparsity: Sparsity
    log_abs_det: float | None = None
    problem: str | None = None
    reads: set[Key] = field(default_factory=set)


def apply_move(f: Any, trace: Any, aux_trace: Any = None) -> Move:
    """Apply a transform to a model trace and an auxiliary trace, and take down what it does.

    A Jacobian that is singular or not square is taken down too, for the sake of the picture.

    Raises:
        HandleError: `f` is no transform of so many traces.
        ValueTypeError: `trace` or `aux_trace` is no trace of a @gen function.
        TransformError: the transform is wrong here; the subclass says how.
    """
    if isinstance(f, TransformPair):
        raise HandleError(
            f"{f.name} is a pair of transforms", fix="plot one direction: pair.forward or pair.backward"
        )
    for given in (trace,) if aux_trace is None else (trace, aux_trace):
        if not isinstance(given, ReferenceTrace):
            raise ValueTypeError(
                f"a transform is applied to traces, got {given!r}",
                fix="pass model.simulate(args) and q.simulate((trace, *q_args))",
            )
    q = None if aux_trace is None else aux_trace.gen_fn
    q_args: tuple[Any, ...] = () if aux_trace is None else aux_trace.args[1:]
    check_move(q, q_args, f)
    log_abs_det = problem = None
    try:
        log_abs_det = image(f, trace, q, q_args, aux_trace, stop_at_zero=False).log_abs_det
    except (DimensionError, SingularJacobianError) as error:
        problem = error.problem
    run, events = _watched_run(f, trace, aux_trace, q_args)
    edit = trace.edit(output_values(run.outputs[0]))
    outputs = [edit.trace]
    if q is not None:
        outputs.append(q.score((edit.trace, *q_args), output_values(run.outputs[1])))
    reads = {event.source for event in events}
    new = [output.records for output in outputs]
    before, after = _before(run, new, reads), _after(run, new)
    return Move(
        f.name, (f.inputs, f.outputs), before, after, _arrows(run, events, after),
        _sparsity(run, new, edit.removed), log_abs_det, problem, reads,
    )  # fmt: skip


def _watched_run(
    f: Transform, trace: ReferenceTrace, aux: ReferenceTrace | None, q_args: tuple[Any, ...]
) -> tuple[Run, list[ReadEvent]]:
    """A run of a transform whose reads are taken down."""
    run = Run(f)
    events: list[ReadEvent] = []
    given = [(trace, trace.args)] if aux is None else [(trace, trace.args), (aux, q_args)]
    for name, (source, args) in zip(f.inputs, given, strict=True):
        run.inputs.append(WatchedInput(run, name, source, args, events))
    keywords: dict[str, Any] = {**f.parameters}
    for side, name in enumerate(f.outputs):
        output = Output(f, name, () if side else trace.observed_paths)
        run.outputs.append(output)
        keywords[name] = output
    f.body(*run.inputs, **keywords)
    return run, events


def _before(run: Run, new: list[Records], reads: set[Key]) -> dict[Key, Before]:
    before = {}
    for side, state in enumerate(run.inputs):
        for path, record in state.records.items():
            observed = path in state.observed
            before[side, path] = Before(
                record[1], (side, path) in reads, observed, side == 0 and path not in new[0]
            )
    return before


def _after(run: Run, new: list[Records]) -> dict[Key, After]:
    after = {}
    for side, records in enumerate(new):
        entries = run.outputs[side].entries
        for path, record in records.items():
            kind: Kind = "kept"
            if path in entries:
                kind = "discrete" if measured(record[0]).discrete else "continuous"
                kind = "copied" if isinstance(entries[path], Copy) else kind
            after[side, path] = After(record[1], kind)
    return after


def _tangent(value: Any) -> np.ndarray:
    """The derivatives of a written value, of shape (entries, coordinates)."""
    value = as_dual_array(value)
    if type(value) is Dual:
        row = np.zeros((1, max(value.tangent, default=0) + 1))
        for coordinate, derivative in value.tangent.items():
            row[0, coordinate] = derivative
        return row
    if type(value) is DualArray:
        return value.tangent.reshape(-1, value.tangent.shape[-1])
    return np.zeros((np.size(value), 1))


def _owners(run: Run) -> dict[int, Key]:
    """The choice that each coordinate is of."""
    owners = {}
    for side, state in enumerate(run.inputs):
        for path, (_, start) in state.seeds.items():
            for offset in range(state.support(path).dim):
                owners[start + offset] = side, path
    return owners


def _arrows(run: Run, events: list[ReadEvent], after: dict[Key, After]) -> list[Arrow]:
    owners = _owners(run)
    arrows = []
    for side, output in enumerate(run.outputs):
        for path, entry in output.entries.items():
            kind = after[side, path].kind
            sources: Iterable[Key]
            if isinstance(entry, Copy):
                sources = [(run.position(entry.source), entry.path)]
            elif kind == "discrete":
                sources = sorted(discrete_sources(run, events, side, path, entry), key=repr)
            else:
                depends = _tangent(entry.value).any(axis=0)
                sources = dict.fromkeys(owners[c] for c in np.flatnonzero(depends).tolist() if c in owners)
            arrows += [Arrow(source, (side, path), kind) for source in sources]
    return arrows


def _rows(run: Run, removed: Iterable[Path]) -> dict[Key, int]:
    """The continuous inputs that don't stay as they are: see `gendsl.transforms.jacobian`."""
    model = run.inputs[0]
    changed = [path for path in run.outputs[0].entries if path in model.records]
    changed += [path for path in removed if path not in model.observed]
    keys: list[tuple[int, Path, Input]] = [(0, path, model) for path in changed]
    for side, state in enumerate(run.inputs[1:], 1):
        keys += [(side, path, state) for path in state.records if path not in state.observed]
    supports = {(side, path): state.support(path) for side, path, state in keys}
    return {key: s.dim for key, s in supports.items() if not s.discrete and s.dim}


def _sparsity(run: Run, new: list[Records], removed: Iterable[Path]) -> Sparsity:
    rows = _rows(run, removed)
    columns = {}
    for side, output in enumerate(run.outputs):
        for path in output.entries:
            support = measured(new[side][path][0])
            if not support.discrete and support.dim:
                columns[side, path] = support.dim
    first_row = _starts(rows)
    row_of = {}
    for side, state in enumerate(run.inputs):
        for path, (_, start) in state.seeds.items():
            if (side, path) in rows:
                for offset in range(rows[side, path]):
                    row_of[start + offset] = first_row[side, path] + offset
    nonzero = np.zeros((sum(rows.values()), sum(columns.values())), dtype=bool)
    copied: tuple[set[Key], set[Key]] = (set(), set())
    for (side, path), column in _starts(columns).items():
        entry, dim = run.outputs[side].entries[path], columns[side, path]
        if isinstance(entry, Copy):
            source = run.position(entry.source), entry.path
            if rows.get(source) == dim:
                at = np.arange(dim)
                nonzero[first_row[source] + at, column + at] = True
                copied[0].add(source)
                copied[1].add((side, path))
            continue
        tangent = _tangent(entry.value)[measured(new[side][path][0]).free_entries]
        for offset, coordinate in np.argwhere(tangent != 0).tolist():
            if coordinate in row_of:
                nonzero[row_of[coordinate], column + offset] = True
    return Sparsity(rows, columns, nonzero, copied)


def _starts(sizes: dict[Key, int]) -> dict[Key, int]:
    starts, start = {}, 0
    for key, size in sizes.items():
        starts[key] = start
        start += size
    return starts
