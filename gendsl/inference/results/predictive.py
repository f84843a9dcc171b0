"""New observations from the draws of a run: the posterior predictive distribution."""

from __future__ import annotations

from typing import Any

import numpy as np

from gendsl.address import Path, format_address
from gendsl.choices import ChoiceMap
from gendsl.errors import UnknownAddressError, ValueTypeError, ZeroProbabilityError
from gendsl.inference.results.arviz_export import filled
from gendsl.inference.results.draws import Sampled
from gendsl.inference.running.chain import Chain
from gendsl.inference.running.columns import Columns
from gendsl.inference.running.recording import Quantities, as_recorders, quantities, reader_of
from gendsl.interface import Rng, Trace, as_rng
from gendsl.runtime.saving import latent


def predicted_chains(run: Sampled, record: Any, args: tuple[Any, ...] | None, rng: Rng) -> list[Chain]:
    """The quantities of a new trace for each draw; see `Run.posterior_predictive`."""
    if run.names:
        raise ValueTypeError(
            f"new observations need all latent choices of each draw, and this run recorded "
            f"{', '.join(run.names)} only",
            fix="leave `record` of sample out, with thin= for fewer draws",
        )
    if args is not None and type(args) is not tuple:
        raise ValueTypeError(f"posterior_predictive got args={args!r}", fix="give a tuple: args=(100,)")
    recorders, generator = as_recorders(record), as_rng(rng)
    chains = []
    names: set[Path] = set()
    of: Trace | None = None  # the trace that the names are of; that of all draws, mostly
    for chain in run.chains:
        rows = Columns()
        for start, choices in _draws(chain):
            if not recorders and start is not of:
                names, of = _observed_names(start), start
            trace = _new_trace(start, choices, start.args if args is None else args, generator)
            rows.append(
                quantities(recorders, rows, reader_of(trace))
                if recorders
                else _observations(trace, names, choices)
            )
        chains.append(Chain(rows, [], chain.last))
    return chains


def _draws(chain: Chain) -> list[tuple[Trace, dict[Path, Any]]]:
    """For each draw a trace with its program, arguments and observed addresses, and its latent choices."""
    kept = getattr(chain.traces, "kept", chain.traces)
    start = getattr(chain.traces, "start", chain.last)
    return [(start, draw) if type(draw) is dict else (draw, latent(draw)) for draw in kept]


def _new_trace(
    start: Trace, choices: dict[Path, Any], args: tuple[Any, ...], rng: np.random.Generator
) -> Trace:
    """A trace with these latent choices, and all others drawn by the program."""
    try:
        new, weight = start.gen_fn.generate(args, ChoiceMap._from_flat(choices), rng=rng)
    except UnknownAddressError as error:
        raise UnknownAddressError(
            f"with the arguments {args!r} {start.gen_fn.name} doesn't make a choice that a draw has",
            address=error.address,
            fix="give arguments with which the model makes all of them: more data points, and not fewer",
        ) from None
    if not weight > -np.inf:
        paths = ", ".join(format_address(path) for path in list(new.impossible)[:3])
        raise ZeroProbabilityError(
            f"with the arguments {args!r} a draw has probability zero under {start.gen_fn.name}: {paths}",
            fix="give arguments that allow the latent choices that were drawn",
        )
    return new


def _without_indices(path: Path) -> Path:
    """An address without the whole numbers at its end: ("x",) for ("x", 3)."""
    length = len(path)
    while length > 1 and type(path[length - 1]) is int and path[length - 1] >= 0:
        length -= 1
    return path[:length]


def _observed_names(start: Trace) -> set[Path]:
    names = {_without_indices(path) for path in start.observed}
    if not names:
        raise ValueTypeError(
            f"{start.gen_fn.name} has no observations to predict",
            fix="name what you want of the new traces: run.posterior_predictive('x')",
        )
    return names


def _observations(new: Trace, names: set[Path], choices: dict[Path, Any]) -> Quantities:
    """What was drawn at addresses that differ from those of observations in their indices only."""
    found: dict[Path, dict[tuple[int, ...], Any]] = {name: {} for name in names}
    for path, value in new.choices.items():
        name = _without_indices(path)
        if name in names and path not in choices:
            found[name][path[len(name) :]] = value
    ordered = {".".join(map(str, name)): entries for name, entries in found.items()}
    return {name: _as_array(entries) for name, entries in sorted(ordered.items())}


def _as_array(entries: dict[tuple[int, ...], Any]) -> Any:
    """Values by index as one array; as they are where no array holds them."""
    if not entries:
        return np.empty(0)
    array = filled(entries)
    if array is None:
        return list(entries.values())
    return array.item() if array.shape == () else array
