"""Runs for ArviZ, and the summary that it makes of them."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from gendsl.address import format_address
from gendsl.errors import ValueTypeError

if TYPE_CHECKING:
    from gendsl.inference.run import Run


def to_arviz(run: Run, names: Sequence[Any] | None = None) -> Any:
    """See `Run.to_arviz`."""
    arviz = _arviz()
    posterior = posterior_arrays(run, names)
    attributes = {"inference_library": "gendsl", "sampling_time": run.seconds}
    if int(arviz.__version__.partition(".")[0]) < 1:
        return arviz.from_dict(posterior=posterior, posterior_attrs=attributes)
    return arviz.from_dict({"posterior": posterior}, attrs={"posterior": attributes})


def summary(run: Run, names: Sequence[Any] | None = None) -> Any:
    """See `Run.summary`."""
    arviz = _arviz()
    posterior = posterior_arrays(run, names)
    for name, array in posterior.items():
        if array.dtype.kind not in "biuf":
            raise ValueTypeError(
                f"{name} isn't made of numbers, so it has no mean", fix="name the quantities: summary(['mu'])"
            )
    data = to_arviz(run, names)
    with warnings.catch_warnings(), _without_remarks(arviz):
        # of quantities that never change, which have no R-hat
        warnings.simplefilter("ignore", RuntimeWarning)
        warnings.simplefilter("ignore", UserWarning)
        return arviz.summary(data, round_to="none")


@contextmanager
def _without_remarks(arviz: Any) -> Iterator[None]:
    """ArviZ logs that one chain, or one of three draws, has no R-hat; the NaN says so."""
    log = getattr(arviz, "_log", logging.getLogger("arviz"))  # 0.x doesn't register its own

    def is_news(record: logging.LogRecord) -> bool:
        return not record.getMessage().startswith("Shape validation failed")

    log.addFilter(is_news)
    try:
        yield
    finally:
        log.removeFilter(is_news)


def _arviz() -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # of 0.23, about what 1.0 changes
            import arviz
    except ImportError as error:
        raise ImportError(
            "to_arviz and summary need ArviZ, which isn't installed: pip install 'gendsl[arviz]'"
        ) from error
    return arviz


def posterior_arrays(run: Run, names: Sequence[Any] | None = None) -> dict[str, Any]:
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


def _choices(run: Run) -> dict[str, Any]:
    """The latent choices of whole traces: those whose addresses differ in a last index are one variable."""
    from gendsl.inference.run import choices_of

    draws = [list(choices_of(chain)) for chain in run.chains]
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
