"""What `sample` returns: the draws of one chain or several, and what can be asked about them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, overload

import numpy as np

from gendsl.errors import UnknownAddressError, ValueTypeError
from gendsl.inference.results import arviz_export
from gendsl.inference.results.diagnosis import Diagnosis, brief_findings, diagnose
from gendsl.inference.results.predictive import predicted_chains
from gendsl.inference.results.run_html import run_html
from gendsl.inference.results.summary import Frequency, Group, frequency, per_structure
from gendsl.inference.results.summary_table import Summary, summarise
from gendsl.inference.running.chain import Chain
from gendsl.inference.running.recording import AtAddress, as_recorder, quantity_name
from gendsl.inference.running.steps import Steps
from gendsl.inference.running.tally import Tallies, duration, total
from gendsl.interface import Rng, Trace
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


class Run:
    """The draws of one chain or of several.

    Attributes:
        chains: what became of each chain.

    With one chain, `run["k"]`, `run.recorded`, `run.traces` and `run.last` are of that chain. With several,
    `run["k"]` has the chains as its first axis, and the others are lists with an entry for each chain.
    """

    def __init__(
        self, chains: Sequence[Chain], names: Sequence[str] = (), seconds: float | None = None
    ) -> None:
        self.chains = list(chains)
        rows = next((chain.rows for chain in self.chains if chain.rows), None)
        self._names = [name for name in names if name] if rows is None else list(rows[0])
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
            return [[row[quantity] for row in chain.rows] for chain in self.chains]
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
        columns = [stacked(values) for values in self.by_chain(name)]
        if len(columns) == 1:
            return columns[0]
        one_shape = len({np.shape(c) for c in columns if isinstance(c, np.ndarray)}) == 1
        return np.array(columns) if one_shape and all(isinstance(c, np.ndarray) for c in columns) else columns

    def frequency(self, name: Any) -> Frequency:
        """The share of draws with each value of a quantity, with Monte Carlo standard errors.

        A dict from values to shares, which shows itself as a table with how often the chains came to each
        value from another one.

        The errors are by `monte_carlo_error`. One is NaN, and not 0, for a value that no chain ever left:
        draws that are all alike don't tell how long the chains would have stayed (as in the R package
        posterior, `mcse_mean`).
        """
        return frequency(self.by_chain(name), name if isinstance(name, str) else quantity_name(name))

    def per_structure(self, by: Any = None) -> dict[Any, Group]:
        """The draws grouped by their discrete structure, the most frequent first.

        Args:
            by: the quantity that is the structure: the name of a recorded one, an address, or a function of
                the trace. If not given, which choices there are; this needs whole traces.

        Returns:
            For each structure its share of the draws, with a standard error, and the run of its draws:
            `run.per_structure("k")[2].run["mu"]`.

        Raises:
            UnknownAddressError: there is no such quantity.
            ValueTypeError: `by` isn't given and quantities were recorded.
        """
        if by is not None:
            keys = self.by_chain(by)
        elif self._names:
            raise ValueTypeError(
                "whole traces weren't kept, so which choices there were isn't known",
                fix="name the recorded quantity that is the structure: run.per_structure('k')",
            )
        else:
            known: dict[frozenset[Any], tuple[Any, ...]] = {}  # the order of the choices makes no difference
            keys = [
                [known.setdefault(frozenset(draw), tuple(draw)) for draw in choices_of(chain)]
                for chain in self.chains
            ]
        return per_structure(keys, self.part)

    def part(self, chosen: list[list[int]]) -> Run:
        """The run of some draws of each chain, given by their numbers."""
        chains = []
        for chain, draws in zip(self.chains, chosen, strict=True):
            rows = [chain.rows[i] for i in draws] if chain.rows else []
            kept = chain.traces.kept if isinstance(chain.traces, Draws) else chain.traces
            traces = Draws([kept[i] for i in draws], chain.last) if len(kept) else []
            steps = chain.steps.part(draws) if len(chain.steps) == len(chain) else Steps()
            outcome = chain.last, chain.acceptance, chain.interrupted, chain.seconds
            made = Chain(rows, traces, *outcome, steps=steps, comparisons=chain.comparisons, ran=chain.ran)
            chains.append(made)
        return Run(chains, self._names, self.seconds)

    def to_arviz(self, names: Sequence[Any] | None = None) -> Any:
        """The draws for ArviZ: a DataTree with ArviZ 1, an InferenceData with an older one.

        posterior: Numbers and arrays of one shape are as they are; arrays whose shape changes from draw to
        draw are filled up with NaN. Where whole traces were kept, the choices ("mu", 0), ("mu", 1), ... are a
        variable mu with NaN where there is no such choice.

        sample_stats: `lp`, the log density of each draw's trace; `acceptance_rate` of shape (chains, draws,
        kernels), the share of its proposals that each kernel accepted in the steps of the draw, NaN where it
        made none; and where `hmc` or `nuts` met divergences `diverging`, whether one was in these steps.

        observed_data: the observations, ("x", 0), ("x", 1), ... as one array x with NaN where nothing is
        observed. Left out are those that no array of numbers or strings holds, all of them where chains have
        different ones, and those of a run that `load_run` read without its model.

        Args:
            names: which quantities to take; all if not given.

        Raises:
            ImportError: ArviZ isn't installed.
            ValueTypeError: a quantity is nothing that an array can hold, or chains have different lengths.
        """
        self._check_draws("to_arviz")
        return arviz_export.to_arviz(self, as_names(names))

    def summary(self, names: Sequence[Any] | None = None) -> Summary:
        """Mean, Monte Carlo error, standard deviation, quantiles, effective draws and R-hat of each number.

        A `Summary`: a mapping from names to rows that shows itself as a table, with what can't be trusted
        below. Of arrays and of whole traces each entry and each choice has a row. What exists in some
        structures only, as the choice ("mu", 2) where there are three, is summarised over the draws that have
        it, with their share.

        Args:
            names: which quantities, or addresses of choices or namespaces of whole traces; all if not given.

        Raises:
            UnknownAddressError: there is no such quantity.
            ValueTypeError: a quantity that is named has no mean, or none has one.
        """
        self._check_draws("summary")
        return summarise(self, as_names(names))

    def _check_draws(self, what: str) -> None:
        if not len(self):
            raise ValueTypeError(f"{what} got a run without draws", fix="sample some draws first")

    def diagnose(self) -> Diagnosis:
        """What can't be trusted in this run, and why moves were rejected, in sentences.

        Every number is looked at, as by `summary`; and for each kernel the terms of the log acceptance ratio
        are averaged over its rejected proposals: the model's, those of auxiliary densities, the determinant.
        """
        return diagnose(self)

    def posterior_predictive(
        self, record: Any = None, *, args: tuple[Any, ...] | None = None, rng: Rng = None
    ) -> dict[str, Any]:
        """New observations from each draw: x' ~ p(x' | latent choices of the draw).

        The latent choices are kept, and the program draws everything else anew. With `args` it is run with
        other arguments: more data points, or other covariates; latent choices that it then makes besides are
        drawn, too.

        Args:
            record: what to keep of each new trace, as for `sample`: an address, a function of the trace, a
                list or a dict of them. If not given, the choices at addresses that differ from those of
                observations in their indices only.
            args: the program's arguments, a tuple; those of the run if not given.
            rng: seed or generator.

        Returns:
            For each name what was drawn, of the shape that `run[name]` has: (draws, ...), or (chains, draws,
            ...) of several chains, where all have one shape, else lists. Observations ("x", 0), ("x", 1), ...
            are one array x.

        Raises:
            ValueTypeError: whole traces weren't kept, or there are no observations.
            UnknownAddressError: with `args` the program doesn't make a choice of a draw; or what is to be
                recorded doesn't exist.
            ZeroProbabilityError: with `args` the latent choices of a draw are impossible.
        """
        new = Run(predicted_chains(self, record, args, rng))
        return {name: new[name] for name in new.names}

    def headline(self) -> str:
        """How many draws there are and how long they took."""
        rate = f" ({_rate(len(self) / self.seconds)}/s)" if self.seconds > 0 else ""
        stopped = ", interrupted" if self.interrupted else ""
        several = f" of {len(self.chains)} chains" if len(self.chains) > 1 else ""
        return f"{len(self)} draws{several} in {self.seconds:.1f} s{rate}{stopped}"

    def __str__(self) -> str:
        lines = [self.headline()]
        acceptance = self.acceptance
        width = max(map(len, acceptance), default=0)
        for name, tally in acceptance.items():
            line = f"  {name:<{width}}  accepted {tally.rate:6.1%} of {tally.proposed}"
            if tally.seconds:
                line += f", {duration(tally.seconds / tally.proposed)} each"
            if tally.failed_checks:
                line += f", {tally.failed_checks} failed a check and were rejected"
            if tally.divergences:
                line += f", {tally.divergences} diverged"
            lines.append(line)
        for finding in brief_findings(self):
            lines.append(f"  {'warning: ' if finding.is_problem else ''}{finding.text}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return run_html(self)

    def __repr__(self) -> str:
        several = f" in {len(self.chains)} chains" if len(self.chains) > 1 else ""
        return f"<run of {len(self)} draws{several}>"


def as_names(names: Any) -> Sequence[Any] | None:
    """Names of quantities; a string is one name, and not one for each letter."""
    if names is None or (isinstance(names, Sequence) and not isinstance(names, str)):
        return names
    if isinstance(names, str):
        return [names]
    raise ValueTypeError(f"names={names!r}", fix='give a list of quantities: ["k", ("mu", 0)]')


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
