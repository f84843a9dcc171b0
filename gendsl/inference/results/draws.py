"""What chains drew: the traces of their draws, or what was recorded of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, overload

import numpy as np

from gendsl.errors import UnknownAddressError, ValueTypeError
from gendsl.inference.running.chain import Chain
from gendsl.inference.running.recording import AtAddress, as_recorder, quantity_name
from gendsl.inference.running.tally import Tallies, total
from gendsl.interface import Trace
from gendsl.runtime.saving import latent, whole_trace


class Draws(Sequence[Any]):
    """The traces of a chain's draws: whole ones, or latent choices that are made traces when asked for.

    Args:
        kept: a trace or such a dict for each draw.
        start: a trace with the same program, arguments and observations.
    """

    def __init__(self, kept: Sequence[Any], start: Any) -> None:
        self.kept = list(kept)
        self.start = start

    def __len__(self) -> int:
        return len(self.kept)

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> Draws: ...
    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return Draws(self.kept[index], self.start)
        return whole(self.kept[index], self.start)

    def append(self, trace: Trace) -> None:
        """Add a draw."""
        self.kept.append(trace)

    def at(self, recorder: Callable[[Any], Any]) -> list[Any]:
        """A quantity in every draw; a choice is looked up without making the trace."""
        path = recorder.address if isinstance(recorder, AtAddress) else None
        return [
            draw[path] if type(draw) is dict and path in draw else recorder(whole(draw, self.start))
            for draw in self.kept
        ]

    def choices(self) -> Iterator[dict[Any, Any]]:
        """The latent choices of every draw."""
        for draw in self.kept:
            yield draw if type(draw) is dict else latent(draw)


def whole(kept: Any, start: Any) -> Any:
    """The trace that was kept as it is or as its latent choices."""
    if type(kept) is not dict:
        return kept
    return whole_trace(start, kept)


class Sampled:
    """The draws of one chain or of several, as they are: what is made of them is asked of a `Run`.

    Attributes:
        chains: what became of each chain.
    """

    def __init__(
        self, chains: Sequence[Chain], names: Sequence[str] = (), seconds: float | None = None
    ) -> None:
        self.chains = list(chains)
        rows = next((chain.rows for chain in self.chains if chain.rows), None)
        self._names = [name for name in names if name] if rows is None else rows.names
        self._seconds = seconds

    @property
    def recorded(self) -> Any:
        """For each recorded quantity, its value in every draw, a list; of several chains, a list of lists."""
        columns = {name: self.by_chain(name) for name in self._names}
        return {name: c[0] for name, c in columns.items()} if len(self.chains) == 1 else columns

    @property
    def traces(self) -> Any:
        """The trace of every draw; empty if quantities were recorded. Of several chains, a list of these."""
        return self._each([chain.traces for chain in self.chains])

    @property
    def last(self) -> Any:
        """The trace that the chain stopped at, or a list of them; pass it to `sample` to go on."""
        return self._each([chain.last for chain in self.chains])

    @property
    def acceptance(self) -> Tallies:
        """What became of the proposals of each kernel after warm-up, by name, in all chains together."""
        return total([chain.acceptance for chain in self.chains])

    @property
    def comparisons(self) -> int:
        """How often a trace, an auxiliary program or a transform was compared with a second execution.

        What is not deterministic is found by these, and is an error. They take at most 5 % of the time, but
        for the first few. Those before a run was resumed don't count.
        """
        return sum(chain.comparisons for chain in self.chains)

    @property
    def ran(self) -> list[str]:
        """How the steps of each chain were run: as machine code, as Python text, or step by step, and why.

        "as machine code; 3 by the interpreter: line 12: math domain error" says that 3 steps were left to the
        reference interpreter, and why. Which way it is makes no difference to the draws.
        """
        return [chain.ran for chain in self.chains]

    @property
    def interrupted(self) -> bool:
        """Whether the run was stopped by a KeyboardInterrupt."""
        return any(chain.interrupted for chain in self.chains)

    @property
    def seconds(self) -> float:
        """How long the run took."""
        return max((c.seconds for c in self.chains), default=0.0) if self._seconds is None else self._seconds

    def _each(self, values: list[Any]) -> Any:
        return values[0] if len(values) == 1 else values

    def __len__(self) -> int:
        """The number of draws, in all chains together."""
        return sum(map(len, self.chains))

    def by_chain(self, name: Any) -> list[list[Any]]:
        """A recorded quantity, or the choice at an address, in every draw of each chain.

        Raises:
            UnknownAddressError: nothing of that name was recorded, or a draw has no such choice.
        """
        quantity = name if isinstance(name, str) else quantity_name(name)
        names = self._names
        if quantity in names:
            return [chain.rows.values(quantity) if chain.rows else [] for chain in self.chains]
        if not len(self):
            raise UnknownAddressError(f"the run has no draws of {quantity}", fix="sample some draws first")
        if names or not any(len(chain.traces) for chain in self.chains):
            raise UnknownAddressError(
                f"{quantity} was not recorded (recorded: {', '.join(names) or 'nothing'})",
                fix="name it in `record=`, or leave `record` out to keep whole traces",
            )
        recorder = as_recorder(name)
        return [values_of(chain.traces, recorder) for chain in self.chains]

    def latent_choices(self) -> list[list[dict[Any, Any]]]:
        """For each chain the latent choices of its draws by path, where whole traces were kept."""
        return [list(choices_of(chain)) for chain in self.chains]

    @property
    def names(self) -> list[str]:
        """The names of the recorded quantities; none if whole traces were kept."""
        return list(self._names)

    def __getitem__(self, name: Any) -> Any:
        """A recorded quantity, or the choice at an address, in every draw.

        An array of shape (draws, ...), or (chains, draws, ...) of several chains, where all values have one
        shape and all chains one length; else a list, or a list with an array or list for each chain.

        Raises:
            UnknownAddressError: nothing of that name was recorded, or a draw has no such choice.
        """
        columns = self._columns(name)
        if len(columns) == 1:
            return columns[0]
        one_shape = len({np.shape(c) for c in columns if isinstance(c, np.ndarray)}) == 1
        return np.array(columns) if one_shape and all(isinstance(c, np.ndarray) for c in columns) else columns

    def _columns(self, name: Any) -> list[Any]:
        """A quantity, or a choice, in every draw of each chain, as one array where that holds them."""
        quantity = name if isinstance(name, str) else quantity_name(name)
        if quantity in self._names:
            arrays = [chain.rows.array(quantity) if chain.rows else None for chain in self.chains]
            if all(array is not None for array in arrays):
                return arrays
        return [stacked(values) for values in self.by_chain(name)]

    def __contains__(self, name: Any) -> bool:
        """Whether a quantity was recorded, or where whole traces were kept, every draw has the choice."""
        try:
            self.by_chain(name)
        except UnknownAddressError:
            return False
        return True

    def __iter__(self) -> Iterator[Any]:
        """Not defined: it could go through names or through draws.

        Raises:
            ValueTypeError: always.
        """
        raise ValueTypeError(
            "a run can't be gone through",
            fix='go through run["k"] for the draws of a quantity, run.names for what was recorded, or '
            "run.traces for the traces that were kept",
        )

    def headline(self) -> str:
        """How many draws there are and how long they took."""
        rate = f" ({_rate(len(self) / self.seconds)}/s)" if self.seconds > 0 else ""
        stopped = ", interrupted" if self.interrupted else ""
        several = f" of {len(self.chains)} chains" if len(self.chains) > 1 else ""
        return f"{len(self)} draws{several} in {self.seconds:.1f} s{rate}{stopped}"


def _rate(per_second: float) -> str:
    return f"{per_second:.0f}" if per_second >= 10 else f"{per_second:.2g}"


def values_of(traces: Any, recorder: Callable[[Any], Any]) -> list[Any]:
    """A quantity in every trace."""
    return traces.at(recorder) if isinstance(traces, Draws) else [recorder(trace) for trace in traces]


def choices_of(chain: Chain) -> Iterator[dict[Any, Any]]:
    """The latent choices of every draw of a chain that kept whole traces."""
    return Draws(chain.traces.kept if isinstance(chain.traces, Draws) else chain.traces, chain.last).choices()


def stacked(values: list[Any]) -> Any:
    """The values as one array if they are numbers or arrays of one shape, else the list of them."""
    numeric = all(isinstance(v, (bool, int, float, np.generic, np.ndarray)) for v in values)
    if numeric and len({np.shape(v) for v in values}) <= 1:
        return np.array(values)
    return values
