"""Run one chain: draws, recorded quantities, acceptance rates, progress."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from tqdm import tqdm

from gendsl.address import as_path, format_address
from gendsl.errors import UnknownAddressError, ValueTypeError
from gendsl.inference.compose import ComposedInfo
from gendsl.inference.kernel import KernelFunction, check_kernel, kernel_name, run_kernel
from gendsl.inference.summary import Share, frequency
from gendsl.interface import Rng, Trace, as_rng
from gendsl.runtime.trace import check_start

Recorder = Callable[[Trace], Any]


@dataclass
class Tally:
    """How often a kernel ran, was accepted, and failed a check."""

    proposed: int = 0
    accepted: int = 0
    failed_checks: int = 0

    @property
    def rate(self) -> float:
        """The share of proposals that were accepted; NaN if there were none."""
        return self.accepted / self.proposed if self.proposed else float("nan")


@dataclass
class Run:
    """The draws of one chain.

    Attributes:
        recorded: for each recorded quantity, its value in every draw.
        traces: the trace of every draw; empty if quantities were recorded.
        last: the trace the chain stopped at; pass it to `sample` to go on.
        acceptance: what became of the proposals of each kernel after warm-up, by name.
        interrupted: whether the run was stopped by a KeyboardInterrupt.
        seconds: how long the run took.
    """

    recorded: dict[str, list[Any]]
    traces: list[Trace]
    last: Trace
    acceptance: dict[str, Tally] = field(default_factory=dict)
    interrupted: bool = False
    seconds: float = 0.0

    def __len__(self) -> int:
        """The number of draws."""
        return len(self.traces) or min(map(len, self.recorded.values()), default=0)

    def __getitem__(self, name: Any) -> Any:
        """A recorded quantity, or the choice at an address, in every draw.

        An array of shape (draws, ...) where all values have one shape, else a list.

        Raises:
            UnknownAddressError: nothing of that name was recorded, or a draw has no such choice.
        """
        quantity = name if isinstance(name, str) else _quantity_name(name)
        if quantity in self.recorded:
            return _stacked(self.recorded[quantity])
        if self.recorded or not self.traces:
            known = ", ".join(self.recorded) or "nothing"
            raise UnknownAddressError(
                f"{quantity} was not recorded (recorded: {known})",
                fix="name it in `record=`, or leave `record` out to keep whole traces",
            )
        recorder = _recorder(name)
        return _stacked([recorder(trace) for trace in self.traces])

    def frequency(self, name: Any) -> dict[Any, Share]:
        """The share of draws with each value of a quantity, with Monte Carlo standard errors."""
        return frequency(self[name])

    def __str__(self) -> str:
        rate = len(self) / self.seconds if self.seconds > 0 else float("inf")
        stopped = ", interrupted" if self.interrupted else ""
        lines = [f"{len(self)} draws in {self.seconds:.1f} s ({rate:.0f}/s){stopped}"]
        width = max(map(len, self.acceptance), default=0)
        for name, tally in self.acceptance.items():
            line = f"  {name:<{width}}  accepted {tally.rate:6.1%} of {tally.proposed}"
            if tally.failed_checks:
                line += f", {tally.failed_checks} failed a check and were rejected"
            lines.append(line)
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<run of {len(self)} draws>"


def _stacked(values: list[Any]) -> Any:
    """The values as one array if they are numbers or arrays of one shape, else the list of them."""
    numeric = all(isinstance(v, (bool, int, float, np.generic, np.ndarray)) for v in values)
    if numeric and len({np.shape(v) for v in values}) <= 1:
        return np.array(values)
    return values


def sample(
    kernel: KernelFunction,
    trace: Trace,
    draws: int,
    *,
    warmup: int = 0,
    thin: int = 1,
    record: Any = None,
    seed: Rng = None,
    progress: bool = True,
) -> Run:
    """Run a chain of `kernel` from `trace`.

    Args:
        kernel: a callable (trace, rng) -> (trace, info).
        trace: where to start.
        draws: how many draws to keep.
        warmup: how many steps to run before the first draw; not kept, not counted in acceptance rates.
        thin: how many steps each draw takes.
        record: what to keep of a draw: an address, a function of the trace, a list of addresses, or a
            dict from names to addresses and functions. A function's quantity has the function's name; one
            that is given alone may return a dict, which names its own. If not given, whole traces are kept.
        seed: anything `numpy.random.default_rng` takes. One seed gives one chain.
        progress: show a progress bar, if standard error is a terminal.

    Returns:
        The draws. A KeyboardInterrupt ends the run early and returns those made so far.

    Raises:
        KernelError: `kernel` is no kernel.
        ZeroProbabilityError: the chain would start where the density is zero.
        ValueTypeError: a count is no whole number, `trace` is no trace, or `record` is ambiguous.
        UnknownAddressError: a recorded address is missing: where the chain starts (before any step is
            made), or in a draw.
    """
    check_kernel(kernel)
    if not isinstance(trace, Trace):
        raise ValueTypeError(
            f"sample starts from a trace, got {trace!r}",
            fix="pass model.generate(args, observations).trace",
        )
    check_start(trace)
    _check_count("draws", draws, 0)
    _check_count("warmup", warmup, 0)
    _check_count("thin", thin, 1)
    rng = as_rng(seed)
    recorders = _recorders(record)
    for recorder in recorders.values():
        if isinstance(recorder, _AtAddress):
            recorder(trace)
    run = Run({name: [] for name in recorders if name}, [], trace)
    rows: list[dict[str, Any]] = []  # of all quantities of a draw at once, so an interrupt can't part them
    started = time.perf_counter()
    bar = tqdm(
        total=warmup + draws * thin, disable=not (progress and sys.stderr.isatty()), unit="step", leave=False
    )
    try:
        with bar:
            for step in range(1, warmup + draws * thin + 1):
                run.last, info = run_kernel(kernel, run.last, rng)
                bar.update()
                if step > warmup:
                    _count(run.acceptance, kernel_name(kernel), info)
                    if (step - warmup) % thin == 0:
                        if recorders:
                            rows.append(_quantities(run.last, recorders, rows))
                        else:
                            run.traces.append(run.last)
    except KeyboardInterrupt:
        run.interrupted = True
    if rows:
        run.recorded = {name: [row[name] for row in rows] for name in rows[0]}
    run.seconds = time.perf_counter() - started
    return run


def _check_count(name: str, value: Any, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise ValueTypeError(
            f"sample got {name}={value!r}", fix=f"{name} must be a whole number, {least} or more"
        )


def _count(acceptance: dict[str, Tally], name: str, info: Any) -> None:
    for part, leaf in _leaves(name, info):
        tally = acceptance.setdefault(part, Tally())
        tally.proposed += 1
        tally.accepted += bool(getattr(leaf, "accepted", True))
        tally.failed_checks += bool(getattr(leaf, "check_failed", False))


def _leaves(name: str, info: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(info, ComposedInfo):
        for part, inner in info.parts:
            yield from _leaves(part, inner)
    else:
        yield name, info


def _quantities(
    trace: Trace, recorders: dict[str, Recorder], before: list[dict[str, Any]]
) -> dict[str, Any]:
    """What is recorded of one draw, which has the same names as every draw before it."""
    draw: dict[str, Any] = {}
    for name, recorder in recorders.items():
        value = recorder(trace)
        if name:
            draw[name] = value
        elif isinstance(value, dict):
            draw.update(value)
        else:
            draw[_function_name(recorder)] = value
    if before and draw.keys() != before[0].keys():
        raise ValueTypeError(
            f"draw {len(before)} has the quantities {_names(draw)}, and the draws before it have "
            f"{_names(before[0])}",
            fix="return the same names for every draw; what is missing can be None or float('nan')",
        )
    return draw


def _names(quantities: Mapping[str, Any]) -> str:
    return ", ".join(map(str, quantities)) or "none"


def _recorders(record: Any) -> dict[str, Recorder]:
    """What computes each quantity, by name; the name is "" where a function may name its own."""
    if record is None:
        return {}
    if isinstance(record, Mapping):
        return {str(name): _recorder(what) for name, what in record.items()}
    if not isinstance(record, list):
        return {"" if callable(record) else _quantity_name(record): _recorder(record)}
    recorders: dict[str, Recorder] = {}
    for what in record:
        name = _quantity_name(what)
        if name in recorders:
            raise ValueTypeError(
                f"two recorded quantities are named {name}",
                fix='name them in a dict: record={"mean": f, "spread": g}',
            )
        recorders[name] = _recorder(what)
    return recorders


def _quantity_name(what: Any) -> str:
    if callable(what):
        return _function_name(what)
    path = as_path(what)
    return str(path[0]) if len(path) == 1 else format_address(path)


def _function_name(function: Any) -> str:
    name = str(getattr(function, "__name__", "value"))
    return "value" if name == "<lambda>" else name


def _recorder(what: Any) -> Recorder:
    return what if callable(what) else _AtAddress(what)


class _AtAddress:
    """Records what is at an address of the trace."""

    def __init__(self, address: Any) -> None:
        self.address = as_path(address)

    def __call__(self, trace: Trace) -> Any:
        try:
            return trace[self.address]
        except UnknownAddressError as error:
            error.problem = f"a recorded address must exist in every draw: {error.problem}"
            if not trace.choices.submap(self.address):
                name = format_address(self.address)
                error.fix = (
                    f"{error.fix}; for a choice that comes and goes record a function: "
                    f"lambda trace: trace[{name}] if {name} in trace else float('nan')"
                )
            raise
