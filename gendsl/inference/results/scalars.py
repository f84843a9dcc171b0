"""The numbers of a run: what was recorded, and the choices of whole traces, one series of numbers for each.

Where the structure changes from draw to draw, a number is missing in the draws that don't have it: NaN. That
holds for the choice ("mu", 2) where there are two, for the third entry of an array that has two, and for None
and NaN as recorded values.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from gendsl.address import Path, as_path
from gendsl.inference.results.draws import Sampled
from gendsl.inference.running.recording import quantity_name
from gendsl.runtime.saving import latent

Chains = list[np.ndarray]
"""A number in each draw of each chain, NaN where it is missing."""

_NUMBERS = "biuf"


def label(path: Path) -> str:
    """An address as the name of a number: `mu[0]` for ("mu", 0), `node.left[2]` for ("node", "left", 2)."""
    name = ""
    for component in path:
        if type(component) is int or isinstance(component, np.integer):
            name += f"[{component}]"
        else:
            name += f".{component}" if name else str(component)
    return name


def scalars(
    run: Sampled, names: Sequence[Any] | None = None, most: int | None = None
) -> tuple[dict[str, Chains], list[str]]:
    """The numbers of a run by their names, and the names of quantities that are none.

    Args:
        run: the run.
        names: which quantities, or addresses of choices or namespaces; all if not given.
        most: how many numbers at most; all if not given.

    Raises:
        UnknownAddressError: there is no such quantity.
    """
    found: dict[str, Chains] = {}
    others: list[str] = []
    for name, columns in _quantities(run, names):
        entries = _of_one_shape(name, columns) or _of_any_shape(name, columns)
        if entries is None:
            others.append(name)
            continue
        found.update(itertools.islice(entries, None if most is None else most - len(found)))
        if most is not None and len(found) >= most:
            break
    return found, others


def few_scalars(run: Sampled, most: int) -> dict[str, Chains]:
    """Of whole traces the numbers at some addresses: the first of those that the last draw has.

    They are looked up one by one, without a dict of all choices of every draw.
    """
    kept = [getattr(chain.traces, "kept", chain.traces) for chain in run.chains]
    last: Any = next((chain[-1] for chain in reversed(kept) if len(chain)), {})
    paths = itertools.islice(last if type(last) is dict else latent(last), most)
    found: dict[str, Chains] = {}
    for path in paths:
        columns = [[_at(draw, path) for draw in chain] for chain in kept]
        name = label(path)
        found.update(_of_one_shape(name, columns) or _of_any_shape(name, columns) or ())
    return dict(itertools.islice(found.items(), most))


def _at(draw: Any, path: Path) -> Any:
    """A choice of a trace or of a dict of choices, None if there is none."""
    if path in draw:
        return draw[path]
    return None


def _quantities(run: Sampled, names: Sequence[Any] | None) -> Iterator[tuple[str, list[list[Any]]]]:
    """Name and values of each quantity, None where a draw doesn't have it."""
    if run.names:
        for name in run.names if names is None else names:
            yield name if isinstance(name, str) else quantity_name(name), run.by_chain(name)
        return
    draws = run.latent_choices()
    known: dict[Any, None] = {}
    for chain in draws:
        for choices in chain:
            known.update(dict.fromkeys(choices))
    for name in [None] if names is None else names:
        if callable(name):
            yield quantity_name(name), run.by_chain(name)
            continue
        above = () if name is None else as_path(name)
        paths = [path for path in known if path[: len(above)] == above]
        if not paths and name is not None:  # what a call returned, or an observation; or there is no such
            yield label(above), run.by_chain(name)
        for path in paths:
            yield label(path), [[choices.get(path) for choices in chain] for chain in draws]


def _of_one_shape(name: str, columns: list[list[Any]]) -> Iterator[tuple[str, Chains]] | None:
    """Each entry of a quantity whose values all have one shape; None if it is no such."""
    try:
        arrays = [np.array(column) for column in columns if len(column)]
    except ValueError:  # arrays of different shapes
        return None
    if len({array.shape[1:] for array in arrays}) != 1 or any(a.dtype.kind not in _NUMBERS for a in arrays):
        return None
    arrays = [np.array(column, dtype=float).reshape(-1, *arrays[0].shape[1:]) for column in columns]
    indices = np.ndindex(arrays[0].shape[1:])
    return ((_entry(name, index), [array[(slice(None), *index)] for array in arrays]) for index in indices)


def _of_any_shape(name: str, columns: list[list[Any]]) -> Iterator[tuple[str, Chains]] | None:
    """Each entry of a quantity of arrays, numbers, or None where it is missing; None if it is no such."""
    try:
        arrays = [[None if value is None else np.asarray(value) for value in column] for column in columns]
    except ValueError:  # a list of lists of different lengths
        return None
    there = [array for column in arrays for array in column if array is not None]
    if len({array.ndim for array in there}) != 1:
        return None
    if any(array.dtype.kind not in _NUMBERS and array.size for array in there):
        return None
    shape = tuple(max(sizes) for sizes in zip(*(array.shape for array in there), strict=True))
    indices = np.ndindex(shape)
    return ((_entry(name, index), [_series(column, index) for column in arrays]) for index in indices)


def _entry(name: str, index: tuple[int, ...]) -> str:
    """`mu[0]`, `covariance[1, 2]`."""
    return f"{name}[{', '.join(map(str, index))}]" if index else name


def _series(column: list[Any], index: tuple[int, ...]) -> np.ndarray:
    """One entry in each draw; NaN where there is none."""
    series = np.full(len(column), np.nan)
    for draw, array in enumerate(column):
        if array is not None and all(i < n for i, n in zip(index, array.shape, strict=True)):
            series[draw] = array[index]
    return series


def present(chains: Chains) -> Chains:
    """The draws of each chain that have the number."""
    return [chain[~np.isnan(chain)] for chain in chains]
