"""What `sample` returns: the draws of one chain or several, and what can be asked about them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gendsl.errors import ValueTypeError
from gendsl.inference.results import arviz_export
from gendsl.inference.results.diagnosis import Diagnosis, brief_findings, diagnose
from gendsl.inference.results.draws import Draws, Sampled, choices_of
from gendsl.inference.results.predictive import predicted_chains
from gendsl.inference.results.run_html import run_html
from gendsl.inference.results.summary import Frequency, Group, frequency, per_structure
from gendsl.inference.results.summary_table import Summary, summarise
from gendsl.inference.running.chain import Chain
from gendsl.inference.running.columns import Columns
from gendsl.inference.running.recording import quantity_name
from gendsl.inference.running.steps import Steps
from gendsl.inference.running.tally import duration
from gendsl.interface import Rng


class Run(Sampled):
    """The draws of one chain or of several.

    Attributes:
        chains: what became of each chain.

    With one chain, `run["k"]`, `run.recorded`, `run.traces` and `run.last` are of that chain. With several,
    `run["k"]` has the chains as its first axis, and the others are lists with an entry for each chain.
    """

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
            rows = chain.rows.part(draws) if chain.rows else Columns()
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
