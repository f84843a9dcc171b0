"""The choices of components in traces: what birth/death and split/merge moves look at, copy and write.

These functions look into records, which the compiler does not read; so it knows what each of them means
(`gendsl.compiler.front.components`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from gendsl.address import Path, as_path, format_address
from gendsl.distributions import Distribution
from gendsl.errors import KernelError, Location
from gendsl.runtime.records import is_factor
from gendsl.runtime.trace import ReferenceTrace
from gendsl.supports import Simplex
from gendsl.transforms.forward import Dual
from gendsl.transforms.labels import discrete
from gendsl.transforms.statements import carry, write

Values = dict[Any, Any]
"""Values of choices by their relative addresses, as a user writes them."""

_ROUNDING = 1e-6
"""How far the sum of weights may be from one to count as rounding."""


def trace_of(model_in: Any) -> ReferenceTrace:
    """The trace that is the input of a transform."""
    return model_in.state.trace  # type: ignore[no-any-return]


def distribution_in(trace: ReferenceTrace, address: Path) -> Distribution:
    """The distribution of a choice."""
    return trace.records[address][0]


def are_weights(model_in: Any, address: Path) -> bool:
    """Whether the support of a choice of an input trace is a simplex."""
    return type(model_in.state.support(address)) is Simplex


def value_of(x: Any) -> Any:
    """A number without its derivative."""
    return x.value if type(x) is Dual else x


# --- the choices of a component --------------------------------------------------------------------


def key_of(path: Path) -> Any:
    """A relative address as a user writes it: "mu", or ("component", "mu")."""
    return path[0] if len(path) == 1 else path


def choices_of(trace: ReferenceTrace, namespaces: tuple[Path, ...], j: int) -> list[tuple[Path, Path]]:
    """The choices of component j: (its address without j, its address in the trace).

    Its factors are none of them: the model makes those of any component.
    """
    found = []
    for space in namespaces:
        path = (*space, j)
        if path in trace.records:
            found.append((space, path))
            continue
        below = trace.paths_below(path)
        found.extend(((*space, *full[len(path) :]), full) for full in below)
        if not below and path not in trace.calls:
            raise KernelError(
                f"there are components 0 to {j} or more, and the trace has no choice of number {j} under "
                f"{format_address(space)}",
                address=path,
                fix="the components of a model with k of them are numbered 0 to k - 1, in every namespace",
            )
    return [(path, full) for path, full in found if not is_factor(trace.records[full])]


def choices_below(trace: ReferenceTrace, prefix: Path) -> list[tuple[Path, Path]]:
    """The choices in a namespace: (its address without the prefix, its address)."""
    return [(path[len(prefix) :], path) for path in trace.paths_below(prefix)]


def prior_in(
    trace: ReferenceTrace, namespaces: tuple[Path, ...], k: int, number: Any
) -> list[tuple[Path, Distribution]]:
    """The address and distribution of each choice of a component, as the k that there are have them.

    Args:
        number: what is known of how many there may be, a `gendsl.inference.components.Number`.
    """
    if k == 0:
        if number.address is None:
            raise KernelError(
                "there is no component to see the prior of one from",
                fix="give `propose`, a program that draws a component",
            )
        k = 2 if number.may_be(trace, 2) else 1  # two show whether they have the same prior
        grown: Any = trace.update({number.address: k}, rng=0).trace
        trace = grown  # of which only the distributions are looked at
    records = trace.records
    first = [(path, records[full][0]) for path, full in choices_of(trace, namespaces, 0)]
    if k > 1:
        second = [(path, records[full][0]) for path, full in choices_of(trace, namespaces, 1)]
        if first != second:
            raise KernelError(
                "the choices of components 0 and 1 have different distributions, so their prior can't be "
                "seen from a trace",
                fix="give `propose`: a @gen program that calls the model's own program for a component",
            )
    return first


def check_component(trace: ReferenceTrace, namespaces: tuple[Path, ...], j: int) -> None:
    """Raise unless a trace has choices of component j, or a call without any, in each namespace."""
    choices_of(trace, namespaces, j)


def check_parts(
    trace: ReferenceTrace,
    proposed: ReferenceTrace,
    prefix: Path,
    namespaces: tuple[Path, ...],
    others: tuple[Path, ...] | None,
    k: int,
    refuse: Callable[[Path], Exception],
) -> None:
    """Raise unless each choice below a prefix of a proposal may be one of a component's.

    Args:
        trace: a trace with k components, of which the first shows what choices each has.
        namespaces: those of the components.
        others: what else the proposal may choose; None if anything.
        refuse: the error for a choice, from its address without the prefix.
    """
    known = {path for path, _ in choices_of(trace, namespaces, 0)} if k else set()
    for full in proposed.paths_below(prefix):
        path = full[len(prefix) :]
        if any(path[: len(space)] == space for space in namespaces):
            if any(_is_above(path, at) or _is_above(at, path) for at in known):
                raise refuse(path)
        elif others is not None and path not in others:
            raise refuse(path)


def _is_above(space: Path, path: Path) -> bool:
    """Whether a path lies below another."""
    return len(space) < len(path) and path[: len(space)] == space


class _Named(dict[Any, Any]):
    """What the user's functions are given: values by address, and an error that says which there are."""

    __slots__ = ("fix", "what")

    def __init__(self, pairs: Iterable[tuple[Any, Any]], what: str, fix: str) -> None:
        super().__init__(pairs)
        self.what, self.fix = what, fix

    def __missing__(self, key: Any) -> Any:
        near = [one for one in self if isinstance(one, tuple) and one[-1] == key]
        fix = f"write its whole address, {near[0]!r}" if len(near) == 1 else self.fix
        raise KernelError(f"{self.what} has no {key!r}, but {sorted(self, key=repr)!r}", fix=fix)


def named_values(pairs: Iterable[tuple[Any, Any]], what: str, fix: str) -> Values:
    """A dict, whose error for an address that is not in it tells what it is and what to do."""
    return _Named(pairs, what, fix)


def write_named(values: Values, target: Any, prefix: Path) -> None:
    """Write values by their addresses below a prefix."""
    for key, value in values.items():
        write(target[(*prefix, *as_path(key))], value)


def write_component(
    values: Any,
    needed: Values,
    model_out: Any,
    j: int,
    namespaces: tuple[Path, ...],
    vectors: tuple[Path, ...],
    what: str,
    where: Location | None,
) -> None:
    """Write the values of a component by their relative addresses, all but its entries of vectors.

    Args:
        needed: those of a component there was, which tell what choices one has.
        what, where: which of the user's functions gave the values, and where it is.
    """
    if not isinstance(values, Mapping) or any(key not in values for key in needed):
        shown = sorted(values, key=repr) if isinstance(values, Mapping) else values
        raise KernelError(
            f"{what} returned a component with {shown!r}, and a component has {sorted(needed, key=repr)!r}",
            location=where,
            fix="return a dict with every choice of a component",
        )
    for key, value in values.items():
        path = as_path(key)
        if path in vectors:
            continue
        space = next((space for space in namespaces if path[: len(space)] == space), None)
        if space is None:
            raise KernelError(
                f"{what} returned a component with {key!r}, which is in none of its namespaces",
                address=path,
                location=where,
                fix="return the choices that a component has",
            )
        write(model_out[(*space, j, *path[len(space) :])], value)


def copy_all(source: Any, destination: Any) -> None:
    """Copy the choices at or below an address of an input trace, of which there may be none."""
    frame = sys._getframe(1)
    state, start = source.state, source.path
    record = state.find(start)
    if state.trace.paths_below(start) if record is None else not is_factor(record):
        carry(source, destination, (frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name))


def vector_of(values: Sequence[Any], weights: bool) -> list[Any]:
    """The entries of a vector to be written, and whether they are weights, on a simplex.

    Weights that a move scales up by 1 / (1 - w), time after time, stop to sum to one: a rounding error is
    scaled up with them, and grows like a random walk on the log scale. So theirs is taken out here.
    """
    if not weights:
        return list(values)
    total = sum([value_of(x) for x in values])
    if not abs(total - 1.0) < _ROUNDING:  # no rounding error: a mistake, which the support will tell
        return list(values)
    return [x / total for x in values]


# --- allocations -----------------------------------------------------------------------------------


def labels_of(trace: ReferenceTrace, address: Path, k: int) -> np.ndarray:
    """The number of the component of each data point, of k components.

    Raises:
        KernelError: one of them is no number of a component. As an index -1 would be the last one, and truth
            values a mask.
    """
    labels, paths = _labels_and_paths(trace, address)
    if not labels.size or (labels.dtype.kind in "iu" and 0 <= labels.min() <= labels.max() < k):
        return labels
    values = labels.tolist() if paths is None else [trace.records[path][1] for path in paths]
    at = next(i for i, value in enumerate(values) if not _is_number_of_component(value, k))
    raise KernelError(
        f"allocations are numbers of components, here 0 to {k - 1}, and one of them is {values[at]!r}",
        address=address if paths is None else paths[at],
        fix="count components from 0 and make each allocation by uniform_discrete(0, k - 1) or categorical, "
        "at an address that has no other choices below",
    )


def _is_number_of_component(value: Any, k: int) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and 0 <= int(value) < k


def write_labels(
    trace: ReferenceTrace, model_out: Any, address: Path, old: np.ndarray, new: np.ndarray
) -> None:
    """Write the allocations of a trace that change from `old` to `new`."""
    at = np.flatnonzero(old != new)
    if not len(at):
        return
    paths = _labels_and_paths(trace, address)[1]
    if paths is None:
        write(model_out[address], new, discrete)
    else:
        for i in at.tolist():
            write(model_out[paths[i]], int(new[i]), discrete)


def _labels_and_paths(trace: ReferenceTrace, address: Path) -> tuple[np.ndarray, list[Path] | None]:
    """The allocations; and the addresses, where each is a choice."""
    record = trace.records.get(address)
    if record is not None:
        return np.asarray(record[1]), None
    paths = trace.paths_below(address)
    if not paths:
        raise KernelError(
            "the trace has no allocations", address=address,
            fix="allocations are choices (*address, i) for each data point, or one vector of integers there",
        )  # fmt: skip
    paths = in_order(paths, len(address))
    records = trace.records
    return np.array([records[path][1] for path in paths]), paths


def in_order(paths: list[Path], size: int) -> list[Path]:
    """Addresses in the order of the numbers after `size` parts, where these are 0, 1, ... in any order."""
    numbers = [path[size] for path in paths if len(path) == size + 1]
    if numbers == list(range(len(paths))) or set(numbers) != set(range(len(paths))):
        return paths
    return sorted(paths, key=lambda path: path[size])


def empty_components(trace: ReferenceTrace, address: Path, k: int) -> list[int]:
    """The components that no data point is allocated to, in order. The cost is O(data points)."""
    counts = np.bincount(labels_of(trace, address, k), minlength=k)
    return np.flatnonzero(counts == 0).tolist()
