"""Runs for ArviZ."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from gendsl.address import format_address
from gendsl.errors import ValueTypeError
from gendsl.inference.results.draws import Sampled
from gendsl.interface import Trace

_RATE = "acceptance_rate"
_MOST_MISSING = 9  # for each observation, in an array of them


def to_arviz(run: Sampled, names: Sequence[Any] | None = None) -> Any:
    """See `Run.to_arviz`."""
    posterior = posterior_arrays(run, names)
    stats, kernels = step_arrays(run)
    return _made(run, posterior, stats, kernels, observed_arrays(run))


def _made(
    run: Sampled,
    posterior: dict[str, Any],
    stats: dict[str, Any],
    kernels: list[str],
    observed: dict[str, Any],
) -> Any:
    """What ArviZ makes of these groups."""
    arviz = _arviz()
    attributes = {"inference_library": "gendsl", "sampling_time": run.seconds}
    groups = {"posterior": posterior, "sample_stats": stats, "observed_data": observed}
    groups = {group: arrays for group, arrays in groups.items() if arrays}
    named = {}
    if _RATE in stats and _RATE not in posterior:  # names of axes go by those of variables, in every group
        named = {"coords": {"kernel": kernels}, "dims": {_RATE: ["kernel"]}}
    if int(arviz.__version__.partition(".")[0]) < 1:
        return arviz.from_dict(**groups, posterior_attrs=attributes, **named)
    return arviz.from_dict(groups, attrs={"posterior": attributes}, **named)


def _arviz() -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # of 0.23, about what 1.0 changes
            import arviz
    except ImportError as error:
        raise ImportError(
            "to_arviz needs ArviZ, which isn't installed: pip install 'gendsl[arviz]'"
        ) from error
    return arviz


def posterior_arrays(run: Sampled, names: Sequence[Any] | None = None) -> dict[str, Any]:
    """For each quantity an array of shape (chains, draws, ...).

    Raises:
        ValueTypeError: a quantity is nothing that an array can hold, or chains have different lengths.
        UnknownAddressError: a name isn't that of a quantity.
    """
    if len({len(chain) for chain in run.chains}) > 1:
        lengths = ", ".join(str(len(chain)) for chain in run.chains)
        raise ValueTypeError(
            f"ArviZ needs chains of one length, and these have {lengths} draws",
            fix="cut them: n = min(map(len, run.chains)); "
            "run.part([range(n)] * len(run.chains)).to_arviz()",
        )
    if names is None and not run.names:
        return _choices(run)
    wanted = run.names if names is None else list(names)
    return {_variable(name): _array(_variable(name), run.by_chain(name)) for name in wanted}


def _variable(name: Any) -> str:
    return name if isinstance(name, str) else format_address(name)


def _array(name: str, columns: list[list[Any]]) -> Any:
    """Values as one array, ragged ones filled up with NaN."""
    values = [value for column in columns for value in column]
    shape = len(columns), len(columns[0])
    if all(isinstance(value, str) for value in values):
        return np.array(values, dtype=object).reshape(shape)
    try:
        arrays = [np.asarray(value) for value in values]
    except ValueError:  # a list of lists of different lengths
        arrays = [np.empty(0, dtype=object)]
    if any(array.dtype.kind not in "biufc" for array in arrays) or len({a.ndim for a in arrays}) > 1:
        raise ValueTypeError(
            f"{name} isn't made of numbers, or of arrays with one number of axes, so ArviZ can't hold it",
            fix="record numbers, or name the quantities to take: to_arviz(['k', 'mu'])",
        )
    shapes = {array.shape for array in arrays}
    if len(shapes) <= 1:
        stacked = np.array(arrays)
        return stacked.reshape(shape + stacked.shape[1:])
    largest = tuple(np.max(list(shapes), axis=0))
    kind = np.result_type(float, *{array.dtype for array in arrays})
    filled = np.full((len(arrays), *largest), np.nan, dtype=kind)
    for place, array in zip(filled, arrays, strict=True):
        place[tuple(slice(size) for size in array.shape)] = array
    return filled.reshape(*shape, *largest)


def _choices(run: Sampled) -> dict[str, Any]:
    """The latent choices of whole traces: those whose addresses differ in a last index are one variable."""
    draws = run.latent_choices()
    sizes: dict[Any, int | None] = {}
    for chain in draws:
        for choices in chain:
            for path in choices:
                if len(path) > 1 and type(path[-1]) is int and path[-1] >= 0:
                    sizes[path[:-1]] = max(sizes.get(path[:-1]) or 0, path[-1] + 1)
                else:
                    sizes.setdefault(path, None)
    arrays = {}
    for path, size in sizes.items():
        name = ".".join(map(str, path))
        if size is None:
            columns = [[choices.get(path, np.nan) for choices in chain] for chain in draws]
        else:
            columns = [
                [[choices.get((*path, i), np.nan) for i in range(size)] for choices in chain]
                for chain in draws
            ]
        arrays[name] = _array(name, columns)
    return arrays


def step_arrays(run: Sampled) -> tuple[dict[str, Any], list[str]]:
    """What became of the steps of each draw, arrays of shape (chains, draws, ...), and the kernels' names.

    Empty where a chain has no such notes, as one has that an older version wrote to a file.
    """
    chains = run.chains
    if any(len(chain.steps) != len(chain) for chain in chains) or not len(run):
        return {}, []
    kernels = list(dict.fromkeys(name for chain in chains for name in chain.steps.counts))
    counts = np.array([[chain.steps.of_draws(name) for name in kernels] for chain in chains])
    proposed, accepted, diverged = np.moveaxis(counts, (2, 1), (0, 3))  # each: chains, draws, kernels
    arrays = {"lp": np.array([chain.steps.log_prob for chain in chains])}
    arrays[_RATE] = np.divide(accepted, proposed, out=np.full(proposed.shape, np.nan), where=proposed > 0)
    if diverged.any():
        arrays["diverging"] = diverged.any(axis=2)
    return arrays, kernels


def observed_arrays(run: Sampled) -> dict[str, Any]:
    """The observations that all chains have: those whose addresses differ in their indices are one array."""
    traces = [chain.last for chain in run.chains]
    if any(not isinstance(trace, Trace) for trace in traces):
        return {}
    first, *others = (trace.observed for trace in traces)
    if any(other != first for other in others):
        return {}
    variables: dict[Any, dict[tuple[int, ...], Any]] = {}
    for path, value in first.items():
        length = len(path)
        while length > 1 and type(path[length - 1]) is int and path[length - 1] >= 0:
            length -= 1
        variables.setdefault(path[:length], {})[path[length:]] = value
    arrays = {}
    for path, entries in variables.items():
        array = filled(entries)
        if array is not None:
            arrays[".".join(map(str, path))] = array
    return arrays


def filled(entries: dict[tuple[int, ...], Any]) -> Any:
    """Values by index as one array, with NaN where there is none; None where no array holds them."""
    values = list(entries.values())
    strings = all(isinstance(value, str) for value in values)
    if not strings and any(isinstance(value, (list, tuple, dict)) for value in values):
        return None
    arrays = [np.array(value, dtype=object) if strings else np.asarray(value) for value in values]
    if len({array.shape for array in arrays}) > 1 or any(a.dtype.kind not in "biufcO" for a in arrays):
        return None
    if len({len(index) for index in entries}) > 1:
        return None
    shape = tuple((np.max(list(entries), axis=0) + 1).tolist())
    missing = np.prod(shape, dtype=float) - len(entries)
    if missing > _MOST_MISSING * len(entries) or (strings and missing):
        return None
    kind = np.result_type(*{array.dtype for array in arrays}, *([float] if missing else []))
    filled = np.full((*shape, *arrays[0].shape), np.nan if missing else 0, dtype=kind)
    for index, array in zip(entries, arrays, strict=True):
        filled[index] = array
    return filled
