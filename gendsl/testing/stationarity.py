"""Statistical tests that a kernel leaves the posterior invariant: the joint-distribution test.

Latent choices and data are drawn from the model. From there the chain alternates one step of the kernel,
which holds the data fixed, with a fresh draw of the data given the latent choices. If the kernel leaves
the posterior invariant for every data set, each state of the chain is a draw from the model, from the
first step on; so averages along chains must agree with averages over independent draws of the model.
(Geweke 2004, "Getting it right: joint distribution tests of posterior simulators".)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gendsl.errors import ValueTypeError
from gendsl.inference.any_kernel import KernelFunction, run_kernel
from gendsl.inference.kernel import accept, check_kernel
from gendsl.interface import Rng, Trace, as_rng, check_count, check_model
from gendsl.runtime.generative import GenFunction
from gendsl.runtime.reexecutions import Regenerate
from gendsl.runtime.small import CHOICES
from gendsl.runtime.trace import ReferenceTrace
from gendsl.selection import Selection, select
from gendsl.testing.scores import Score, compare
from gendsl.testing.statistics import Table, as_functions, data_names, look, values_of

Statistics = Mapping[str, Callable[[Trace], float]]

CHAINS, STEPS = 64, 400
_STARTS, _SHORTER = 8, 4  # how many times more chains, of how many times fewer steps, look again
_PILOT = 2000  # draws that fix the scale of each choice
_NAMED = 100  # of these, how many are asked which of their choices are data


@dataclass(frozen=True)
class StationarityReport:
    """The scores of all statistics, the least likely first.

    Attributes:
        scores: one for each statistic.
        moved: the share of steps that led to another trace.
        stale: how many chains end in a trace whose log_prob is not that of its choices.
    """

    scores: tuple[Score, ...]
    moved: float
    stale: int = 0

    @property
    def worst(self) -> Score:
        """The statistic that is least likely."""
        return self.scores[0]

    @property
    def p_value(self) -> float:
        """The probability that a kernel that is right has a statistic as unlikely as the worst here.

        Bonferroni's bound: the number of statistics times the smallest p-value.
        """
        return min(1.0, len(self.scores) * self.worst.p_value)

    def __str__(self) -> str:
        lines = [
            f"{self.moved:.0%} of steps moved; {len(self.scores)} statistics, p = {self.p_value:.2g}; "
            "the worst:"
        ]
        for score in self.scores[:8]:
            lines.append(
                f"  {score.name}: {score.mean:.4f} along the chains, {score.expected:.4f} in the model, "
                f"z = {score.z:+.1f}, p = {score.p_value:.2g}"
            )
            if score.note:
                lines.append(f"    ({score.note})")
        return "\n".join(lines)


def stationarity(
    kernel: KernelFunction,
    model: GenFunction,
    args: tuple[Any, ...] = (),
    *,
    observed: Any = None,
    statistics: Statistics | None = None,
    chains: int = CHAINS,
    steps: int = STEPS,
    draws: int = 20_000,
    rng: Rng = 0,
) -> StationarityReport:
    """Compare averages along chains of a kernel with averages over draws of the model.

    Args:
        kernel: a callable (trace, rng) -> (trace, info).
        model, args: the model.
        observed: the choices that are data: a selection, an address or a list of addresses.
        statistics: functions of a trace. If not given, moments of the normal score of every choice that is
            a number or an array of a fixed shape, products of two, and indicator functions: whether the
            choice exists, has each of its few values, lies in its lowest or highest tenth.
        chains, steps: how many chains, and the steps of each. The standard errors come from the spread
            between chains, so there should be 64 or more.
        draws: the number of independent draws of the model.
        rng: seed or generator.

    Raises:
        ValueTypeError: fewer than 8 chains, 1 step or 100 draws; or a statistic is no number.
        UnknownAddressError: `observed` names an address that the model doesn't make.
        AssertionError: the kernel changed an observation.
    """
    check_kernel(kernel)
    check_model(model, "this test")
    for name, number, least in (("chains", chains, 8), ("steps", steps, 1), ("draws", draws, 100)):
        check_count(name, number, least)
    functions = None if statistics is None else as_functions(statistics, "statistics")
    rng = as_rng(rng)
    data = _selection(observed)
    pilot = [model.simulate(args, rng=rng) for _ in range(_NAMED)]
    # draws that nobody edits: the reference runtime's are the same, and small ones are made sooner
    source = model.reference if all(len(trace.choices) <= CHOICES for trace in pilot) else model
    if statistics is None:
        pilot += [source.simulate(args, rng=rng) for _ in range(_PILOT - _NAMED)]
    if data is not None:
        data.check({path for trace in pilot for path in trace.choices}, "observed")

    def seen_in(trace: Trace) -> dict[str, float]:
        return look(trace) if functions is None else values_of(functions, trace)

    fresh = Table([seen_in(source.simulate(args, rng=rng)) for _ in range(draws)])
    seen: list[dict[str, float]] = []
    moved = stale = 0
    for _ in range(chains):
        trace = model.simulate(args, rng=rng)
        if data is not None:
            trace.observed_paths = frozenset(path for path in trace.records if path in data)
        for step in range(steps):
            if data is not None:
                trace = _with_new_data(trace, data, rng)
            after, _ = run_kernel(kernel, trace, rng)
            if step == 0 and after.observed != trace.observed:
                was, now = trace.observed, after.observed
                raise AssertionError(f"the kernel changed an observation: {was} to {now}")
            moved += after is not trace
            trace = after
            seen.append(seen_in(trace))
        stale += not _is_current(trace)
    along = Table(seen)
    if functions is None:
        scales, names = Table([look(trace) for trace in pilot]).scales(), data_names(pilot[:_NAMED], data)
        expected, found = fresh.scored(scales, _PILOT, names), along.scored(scales, _PILOT, names)
    else:
        expected, found = fresh.columns, along.columns
    scores = [
        compare(name, found[name].reshape(chains, steps).mean(axis=1), values)
        for name, values in expected.items()
    ]
    scores.sort(key=lambda score: (score.p_value, -abs(score.z)))
    return StationarityReport(tuple(scores), moved / (chains * steps), stale)


def assert_stationary(
    kernel: KernelFunction,
    model: GenFunction,
    args: tuple[Any, ...] = (),
    *,
    false_alarm: float = 1e-4,
    **options: Any,
) -> StationarityReport:
    """Assert that a kernel leaves the posterior invariant, as far as statistics can tell.

    With the default numbers of chains and steps a kernel that mixes in a few steps fails where a second
    moment is off by 10 %. With a fixed `rng` (0 if not given) the outcome is always the same; over all
    seeds a kernel that is right fails with a probability of `false_alarm` or less. That bound is
    Bonferroni's over all statistics, which are tested as `gendsl.testing.scores` says; the t-tests
    among them are approximate, and better the more chains there are. They are misled where a kernel seldom
    leaves some states, and by chance none of the chains starts in them: what looks wrong for that reason is
    judged by eight times as many chains, of a quarter of the steps.

    To leave the posterior invariant is not enough for a sampler: its moves must be irreducible together, too,
    that is get from every state to every other. A split and merge that keeps the mean of what it splits
    leaves the prior invariant and passes; alone, it never reaches states of another mean. Chains that start
    from exact draws of the model, as here, can't show that; those of `sample` from different starts do.

    In a report a z of 7 can stand beside a p-value that passes. Then a line below it says why, and p decides.

    Args:
        false_alarm: the probability of failing a kernel that is right.
        options: those of `stationarity`.

    Raises:
        AssertionError: a statistic is off, the kernel never moved, changed an observation, or returned a
            trace whose log_prob is not that of its choices; the message lists the worst statistics.
    """
    if not isinstance(false_alarm, (int, float)) or not 0 < false_alarm < 1:
        raise ValueTypeError(f"false_alarm={false_alarm!r}", fix="give a probability, such as 1e-4")
    options["rng"] = as_rng(options.get("rng", 0))
    report = stationarity(kernel, model, args, **options)
    if _may_be_unlucky(report, false_alarm):
        many = _STARTS * options.get("chains", CHAINS)
        fewer = max(1, options.get("steps", STEPS) // _SHORTER)
        report = stationarity(kernel, model, args, **{**options, "chains": many, "steps": fewer})
    if report.moved == 0.0:
        raise AssertionError("the kernel never moved, so this test says nothing")
    if not report.p_value >= false_alarm:
        raise AssertionError(f"the kernel is not stationary: {report}")
    if report.stale:
        raise AssertionError(
            f"{report.stale} chains end in a trace whose log_prob is not that of its choices: the kernel "
            "returns traces with stale scores"
        )
    return report


def _may_be_unlucky(report: StationarityReport, false_alarm: float) -> bool:
    """Whether states that no chain was in may explain why a test fails.

    A t-test believes the spread between chains. Where a kernel seldom leaves some states, and none of the
    chains starts in them, the spread says nothing of these.
    """
    worst = report.worst
    missed = (1.0 - worst.unseen) ** worst.chains
    if report.moved == 0.0 or report.stale:
        return False
    return report.p_value < false_alarm < len(report.scores) * missed


def _selection(observed: Any) -> Selection | None:
    if observed is None or isinstance(observed, Selection):
        return observed
    return select(*observed) if isinstance(observed, (list, set)) else select(observed)


def _with_new_data(trace: ReferenceTrace, data: Selection, rng: np.random.Generator) -> ReferenceTrace:
    """The trace with its data drawn anew given its latent choices.

    Where latent choices depend on data, this is a Metropolis-Hastings step.
    """
    execution = Regenerate(trace.records, data, rng)
    renewed = trace.rerun(execution)
    return renewed if accept(execution.weight, rng) else trace


def _is_current(trace: Trace) -> bool:
    """Whether a trace's log_prob is that of its choices."""
    scored = trace.gen_fn.assess(trace.args, trace.choices).log_prob
    return math.isclose(trace.log_prob, scored, rel_tol=1e-6, abs_tol=1e-6)
