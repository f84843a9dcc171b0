"""Simulation-based calibration: ranks of prior draws among posterior draws that a kernel makes.

Latent choices and data are drawn from the model, the data are kept, and a chain is run for them from
another draw of the prior. Where the kernel samples the posterior, the rank of what the data were made from
among L draws of the chain is uniform on 0, ..., L, for every quantity. (Talts, Betancourt, Simpson, Vehtari
and Gelman 2018, "Validating Bayesian inference algorithms with simulation-based calibration", algorithms 1
and 2.) `log_prob` is among the quantities, without which a chain that ignores the data looks calibrated
(Modrák et al. 2023, "Simulation-based calibration checking with data-dependent test quantities").
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import chi2

from gendsl.errors import UnknownAddressError
from gendsl.inference.any_kernel import KernelFunction, run_kernel
from gendsl.inference.kernel import check_kernel
from gendsl.inference.results.summary import monte_carlo_error
from gendsl.interface import Rng, Trace, as_rng, check_count, check_model
from gendsl.runtime.generative import GenFunction
from gendsl.selection import Selection, select
from gendsl.testing.rank_plots import RanksOfOne, plot_ranks
from gendsl.testing.statistics import as_functions, look, values_of

Quantities = Mapping[str, Callable[[Trace], float]]

_PER_BIN = 10  # simulations expected in a bin of the histogram, at the least
_ENVELOPES = 2000  # simulated sets of uniform ranks that the largest |z| of the ECDF is compared with
_SHOWN = 6  # quantities that a plot has where none is named
_PILOT_CHAINS, _PILOT_STEPS = 4, 400
_LONGEST_THINNING = 200


@dataclass(frozen=True, eq=False)
class Calibration:
    """The ranks of what data were made from among posterior draws.

    Attributes:
        ranks: for each quantity its ranks, shape (simulations,); NaN in no place.
        draws: L, the number of draws of each chain; a rank is one of 0, ..., L.
        thin: the steps of the kernel from one draw to the next.
    """

    ranks: dict[str, np.ndarray]
    draws: int
    thin: int

    @property
    def simulations(self) -> int:
        """The number of simulated data sets."""
        return len(next(iter(self.ranks.values())))

    @property
    def bins(self) -> int:
        """The number of bins of equal width: the most that have 10 simulations each, and divide L + 1."""
        most = max(2, min(self.draws + 1, self.simulations // _PER_BIN))
        return next((n for n in range(most, 1, -1) if (self.draws + 1) % n == 0), self.draws + 1)

    def counts(self, name: str) -> np.ndarray:
        """How many ranks of a quantity lie in each bin, shape (bins,)."""
        return np.bincount(self.ranks[name] * self.bins // (self.draws + 1), minlength=self.bins)

    def chi_square(self, name: str) -> float:
        """The p-value of Pearson's chi-square test that the bins are equally likely."""
        expected = self.simulations / self.bins
        return float(chi2.sf(np.sum((self.counts(name) - expected) ** 2) / expected, self.bins - 1))

    def ecdf_z(self, name: str) -> np.ndarray:
        """The ranks' empirical distribution function less the uniform one, in standard errors, shape (L,)."""
        return np.asarray(_ecdf_z(self.ranks[name][None, :], self.draws)[0])

    def ecdf(self, name: str) -> float:
        """The p-value of the largest |z| of the ECDF, by simulating uniform ranks."""
        largest = largest_z(self.simulations, self.draws)
        above = np.count_nonzero(largest >= np.max(np.abs(self.ecdf_z(name))) - 1e-12)
        return float((1 + above) / (1 + len(largest)))

    @property
    def p_values(self) -> dict[str, float]:
        """For each quantity the p-value of the chi-square and the ECDF test together (Bonferroni)."""
        return {name: min(1.0, 2 * min(self.chi_square(name), self.ecdf(name))) for name in self.ranks}

    @property
    def p_value(self) -> float:
        """The p-value of all quantities together (Bonferroni)."""
        return min(1.0, len(self.ranks) * min(self.p_values.values()))

    def assert_calibrated(self, *, false_alarm: float = 1e-2) -> Calibration:
        """Raise unless the ranks are uniform, as far as can be told.

        Args:
            false_alarm: the probability of failing a kernel that is right, over all quantities.

        Raises:
            AssertionError: they are not; the message lists the worst quantities.
        """
        if not self.p_value >= false_alarm:
            raise AssertionError(f"the kernel is not calibrated: {self}")
        return self

    def plot(self, names: Any = None) -> Any:
        """A figure with, for each quantity, the histogram of its ranks and its ECDF less the uniform one.

        Grey bands hold 95 % of what uniform ranks give, for each bin alone, and for the whole of an ECDF.

        Args:
            names: the quantities to show; those with the smallest p-values, six at most, if not given.

        Raises:
            UnknownAddressError: a name is none of a quantity.
            ImportError: matplotlib isn't installed (`pip install 'gendsl[plot]'`).
        """
        p_values = self.p_values
        if names is None:
            names = sorted(p_values, key=lambda name: p_values[name])[:_SHOWN]
        names = [names] if isinstance(names, str) else list(names)
        for name in names:
            if name not in p_values:
                known = ", ".join(p_values)
                raise UnknownAddressError(f"no quantity is named {name!r}", fix=f"one of: {known}")
        shown = [RanksOfOne(name, self.counts(name), self.ecdf_z(name), p_values[name]) for name in names]
        return plot_ranks(shown, self.simulations, largest_z(self.simulations, self.draws))

    def __str__(self) -> str:
        lines = [
            f"{self.simulations} simulations, ranks among {self.draws} draws (thinned by {self.thin}), "
            f"{len(self.ranks)} quantities, p = {self.p_value:.2g}; the worst:"
        ]
        p_values = self.p_values
        for name in sorted(p_values, key=lambda name: p_values[name])[:8]:
            z = self.ecdf_z(name)
            worst = int(np.argmax(np.abs(z)))
            lines.append(
                f"  {name}: mean rank {np.mean(self.ranks[name]) / self.draws:.3f} of L, "
                f"ECDF z = {z[worst]:+.1f} at {(worst + 1) / (self.draws + 1):.2f}, p = {p_values[name]:.2g}"
            )
        return "\n".join(lines)

    __repr__ = __str__


def _ecdf_z(ranks: np.ndarray, draws: int) -> np.ndarray:
    """z of P(rank < i) for i = 1, ..., L; ranks of shape (sets, simulations)."""
    simulations = ranks.shape[1]
    counts = np.stack([np.bincount(row, minlength=draws + 1) for row in ranks])
    at = np.arange(1, draws + 1) / (draws + 1)
    share = np.cumsum(counts, axis=1)[:, :-1] / simulations
    return np.asarray((share - at) / np.sqrt(at * (1.0 - at) / simulations))


def largest_z(simulations: int, draws: int) -> np.ndarray:
    """The largest |z| of the ECDF of each of many sets of uniform ranks."""
    ranks = np.random.default_rng(0).integers(0, draws + 1, (_ENVELOPES, simulations))
    return np.asarray(np.max(np.abs(_ecdf_z(ranks, draws)), axis=1))


def simulation_based_calibration(
    kernel: KernelFunction,
    model: GenFunction,
    args: tuple[Any, ...] = (),
    *,
    observed: Any,
    quantities: Quantities | None = None,
    simulations: int = 500,
    draws: int = 19,
    warmup: int | None = None,
    thin: int | None = None,
    rng: Rng = 0,
) -> Calibration:
    """Ranks of prior draws among the draws of a kernel for data made from them.

    In contrast to `assert_stationary`, chains don't start from the posterior: this tests, too, that they
    get there in `warmup` steps.

    Args:
        kernel: a callable (trace, rng) -> (trace, info).
        model, args: the model.
        observed: the choices that are data: a selection, an address or a list of addresses.
        quantities: functions of a trace. If not given, every latent number of the model, and `log_prob`. A
            number that a trace doesn't have counts as minus infinity; ties are broken at random.
        simulations: the number of data sets.
        draws: L, the number of draws of each chain, after thinning.
        warmup: the steps before the first draw; ten times `thin` if not given.
        thin: the steps from one draw to the next, enough to make draws nearly independent. If not given,
            twice the longest integrated autocorrelation time in a few chains of 400 steps, at most 200.
        rng: seed or generator.

    Returns:
        The ranks, with tests of their uniformity and a plot.

    Raises:
        ValueTypeError: a number of simulations, draws or steps is no whole number, or too small.
        UnknownAddressError: `observed` names an address that the model doesn't make.
    """
    check_kernel(kernel)
    check_model(model, "simulation_based_calibration")
    for name, number, least in (
        ("simulations", simulations, 20), ("draws", draws, 1),
        ("warmup", 0 if warmup is None else warmup, 0), ("thin", 1 if thin is None else thin, 1),
    ):  # fmt: skip
        check_count(name, number, least)
    rng = as_rng(rng)
    data = observed if isinstance(observed, Selection) else (
        select(*observed) if isinstance(observed, (list, set)) else select(observed)
    )  # fmt: skip
    functions = None if quantities is None else as_functions(quantities, "quantities")

    def measure(trace: Trace) -> dict[str, float]:
        if functions is not None:
            return values_of(functions, trace)
        latent = look(trace, ~data)
        return {**latent, "log_prob": trace.log_prob}

    pilot = [model.simulate(args, rng=rng) for _ in range(50)]
    data.check({path for trace in pilot for path in trace.choices}, "observed")
    if thin is None:
        thin = _thinning(kernel, model, args, data, measure, rng)
    warmup = 10 * thin if warmup is None else warmup
    truths: list[dict[str, float]] = []
    chains: list[list[dict[str, float]]] = []
    for _ in range(simulations):
        truth, trace = _problem(model, args, data, rng)
        truths.append(measure(truth))
        for _ in range(warmup):
            trace, _ = run_kernel(kernel, trace, rng)
        chain = []
        for _ in range(draws):
            for _ in range(thin):
                trace, _ = run_kernel(kernel, trace, rng)
            chain.append(measure(trace))
        chains.append(chain)
    names = list(dict.fromkeys(name for truth in truths for name in truth))
    varied = [name for name in names if len({truth.get(name) for truth in truths}) > 1]
    return Calibration({name: _ranks(name, truths, chains, rng) for name in varied}, draws, thin)


def _problem(
    model: GenFunction, args: tuple[Any, ...], data: Selection, rng: np.random.Generator
) -> tuple[Trace, Trace]:
    """A draw of the model, and another trace with the same data."""
    truth = model.simulate(args, rng=rng)
    return truth, model.generate(args, truth.choices.restrict(data), rng=rng).trace


def _ranks(
    name: str,
    truths: list[dict[str, float]],
    chains: list[list[dict[str, float]]],
    rng: np.random.Generator,
) -> np.ndarray:
    truth = np.array([t.get(name, -math.inf) for t in truths])[:, None]
    drawn = np.array([[draw.get(name, -math.inf) for draw in chain] for chain in chains])
    below, ties = np.sum(drawn < truth, axis=1), np.sum(drawn == truth, axis=1)
    return np.asarray(below + rng.integers(0, ties + 1))


def _thinning(
    kernel: KernelFunction,
    model: GenFunction,
    args: tuple[Any, ...],
    data: Selection,
    measure: Callable[[Trace], dict[str, float]],
    rng: np.random.Generator,
) -> int:
    """Twice the integrated autocorrelation time that short chains show, of the slowest quantity."""
    times: dict[str, list[float]] = {}
    for _ in range(_PILOT_CHAINS):
        _, trace = _problem(model, args, data, rng)
        rows = []
        for _ in range(_PILOT_STEPS):
            trace, _ = run_kernel(kernel, trace, rng)
            rows.append(measure(trace))
        for name in rows[0]:
            values = np.array([row.get(name, math.nan) for row in rows])
            variance = np.var(values)
            if variance > 0.0:  # NaN, where a choice comes and goes, is not
                time = monte_carlo_error(values) ** 2 * len(values) / variance
                times.setdefault(name, []).append(float(time))
    longest = max((sum(each) / len(each) for each in times.values()), default=1.0)
    return min(_LONGEST_THINNING, math.ceil(2.0 * longest)) if longest > 1.5 else 1
