"""When did the rate of coal-mining disasters change? Change points of a Poisson process.

The 191 dates are a Poisson process whose rate is a step function with an unknown number k of steps (Green
1995, section 4). A birth or death of a step changes k, as in Green's paper or with heights drawn from their
posterior; other moves shift a step or change a height. The heights can be integrated out, and the steps are
then a Markov chain, so p(k | dates) is known by quadrature and the chain is compared with it.

    python examples/coal.py
"""

from __future__ import annotations

import argparse
import math
from bisect import bisect
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.special import gammaln, logsumexp
from scipy.stats import poisson as poisson_law

from gendsl import (
    Distribution,
    bernoulli,
    beta,
    categorical,
    check_involutive,
    continuous,
    copy,
    discrete,
    gamma,
    gen,
    read,
    sample,
    transform,
    uniform,
    uniform_discrete,
    write,
)
from gendsl.inference import Run, involutive, mixture, repeat
from gendsl.supports import Support

DATA = Path(__file__).parent / "data" / "coal_dates.csv"
DAYS = 40_907.0  # 1851 to 1962
MOST = 30
PRIOR_OF_K = poisson_law.pmf(np.arange(MOST + 1), 3) / poisson_law.cdf(MOST, 3)

# --- the model -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Times(Support):
    """Any number of times from 0 to `end`, in increasing order."""

    end: float
    shape = None

    def contains(self, value):
        times = self.canonical(value)
        return bool(times.ndim == 1 and np.all(np.diff(times, prepend=0.0, append=self.end) >= 0.0))

    def canonical(self, value):
        return np.asarray(value, dtype=float)


class poisson_process(Distribution):
    """The times of events up to `end`, at rate `heights[j]` from `positions[j - 1]` to `positions[j]`."""

    parameters = ("positions", "heights", "end")

    def __init__(self, positions, heights, end):
        self.positions, self.heights, self.end = positions, heights, end

    @property
    def support(self):
        return Times(self.end)

    def sample(self, rng):
        edges = [0.0, *self.positions, self.end]
        counts = rng.poisson(self.heights * np.diff(edges))
        return np.sort(rng.uniform(np.repeat(edges[:-1], counts), np.repeat(edges[1:], counts)))

    def logpdf(self, times):
        """sum_i log rate(time_i) - integral of the rate, from the number of events in each segment."""
        total, left, before = 0.0, 0.0, 0
        rights, upto = [*self.positions, self.end], times.searchsorted(self.positions).tolist()
        for height, right, n in zip(self.heights, rights, [*upto, len(times)], strict=True):
            total += (n - before) * math.log(height) - height * (right - left)
            left, before = right, n
        return total


number_of_steps = categorical(PRIOR_OF_K)


@gen
def step_function():
    """k steps at the even-numbered order statistics of 2k + 1 uniform positions, and the heights between.

    The first is the second smallest of the 2k + 1, that of n uniform numbers from 0 to 1 has the distribution
    beta(2, n - 1); those after it are the even-numbered of the 2k - 1 that are left, which are uniform over
    the rest of the line, and so on.
    """
    k = ~number_of_steps
    positions, last = [], 0.0
    for j in range(k):
        last = ("position", j) @ ~(last + (DAYS - last) * beta(2, 2 * (k - j)))
        positions.append(last)
    heights = [("height", j) @ ~gamma(1, 1 / 200) for j in range(k + 1)]
    return positions, heights


@gen
def disasters():
    positions, heights = ... @ ~step_function()
    dates = ~poisson_process(positions, heights, DAYS)


# --- birth and death of a step ---------------------------------------------------------------------


@gen
def propose_birth_or_death(trace):
    k = trace["k"]
    birth = ~bernoulli(1.0 if k == 0 else 0.0 if k == MOST else 0.5)
    if birth:
        at = ~uniform(0, DAYS)
        u = ~uniform(0, 1)
    else:
        j = ~uniform_discrete(0, k - 1)


@transform
def birth_death(model_in, aux_in, *, model_out, aux_out):
    """A birth breaks segment j at a new step; a death joins the two segments on either side of step j.

    The two heights have the ratio (1 - u) / u; the one is their geometric mean, weighted by length.
    """
    k = read(model_in["k"], discrete)
    edges = [0.0, *(read(model_in["position", i], continuous) for i in range(k)), DAYS]
    birth = read(aux_in["birth"], discrete)
    write(aux_out["birth"], not birth, discrete)
    if birth:
        at, u = read(aux_in["at"], continuous), read(aux_in["u"], continuous)
        j = bisect(edges, at) - 1
        left, right = edges[j], edges[j + 1]
        share, ratio = (at - left) / (right - left), (1 - u) / u
        before = read(model_in["height", j], continuous) * ratio ** (share - 1)
        write(model_out["k"], k + 1, discrete)
        write(aux_out["j"], j, discrete)
        copy(aux_in["at"], model_out["position", j])
        write(model_out["height", j], before, continuous)
        write(model_out["height", j + 1], before * ratio, continuous)
        for i in range(j, k):
            copy(model_in["position", i], model_out["position", i + 1])
            copy(model_in["height", i + 1], model_out["height", i + 2])
    else:
        j = read(aux_in["j"], discrete)
        left, at, right = edges[j : j + 3]
        before = read(model_in["height", j], continuous)
        share, ratio = (at - left) / (right - left), read(model_in["height", j + 1], continuous) / before
        write(model_out["k"], k - 1, discrete)
        copy(model_in["position", j], aux_out["at"])
        write(aux_out["u"], 1 / (1 + ratio), continuous)
        write(model_out["height", j], before * ratio ** (1 - share), continuous)
        for i in range(j + 1, k):
            copy(model_in["position", i], model_out["position", i - 1])
            copy(model_in["height", i + 1], model_out["height", i])


# --- the same with new heights that suit the data --------------------------------------------------


def height_between(dates, left, right):
    """The posterior of the height of a segment: gamma(1 + number of dates, 1 / (200 + length))."""
    first, last = dates.searchsorted((left, right)).tolist()
    return gamma(1 + last - first, 1 / (200 + right - left))


@gen
def propose_with_heights(trace):
    k, dates = trace["k"], trace["dates"]
    edges = [0.0, *(trace["position", i] for i in range(k)), DAYS]
    birth = ~bernoulli(1.0 if k == 0 else 0.0 if k == MOST else 0.5)
    if birth:
        at = ~uniform(0, DAYS)
        j = bisect(edges, at) - 1
        before = ~height_between(dates, edges[j], at)
        after = ~height_between(dates, at, edges[j + 1])
    else:
        j = ~uniform_discrete(0, k - 1)
        joined = ~height_between(dates, edges[j], edges[j + 2])


@transform
def with_heights(model_in, aux_in, *, model_out, aux_out):
    """A birth breaks segment j at a new step, a death joins two: the proposed takes the place of the old.

    The heights come from their posterior given the steps, so whether a step is accepted doesn't depend on
    them: 31 % of these moves are, of those of `birth_death` 19 %.
    """
    k = read(model_in["k"], discrete)
    birth = read(aux_in["birth"], discrete)
    write(aux_out["birth"], not birth, discrete)
    if birth:
        edges = [0.0, *(read(model_in["position", i], continuous) for i in range(k))]
        j = bisect(edges, read(aux_in["at"], continuous)) - 1
        write(model_out["k"], k + 1, discrete)
        write(aux_out["j"], j, discrete)
        copy(aux_in["at"], model_out["position", j])
        copy(aux_in["before"], model_out["height", j])
        copy(aux_in["after"], model_out["height", j + 1])
        copy(model_in["height", j], aux_out["joined"])
        for i in range(j, k):
            copy(model_in["position", i], model_out["position", i + 1])
            copy(model_in["height", i + 1], model_out["height", i + 2])
    else:
        j = read(aux_in["j"], discrete)
        write(model_out["k"], k - 1, discrete)
        copy(model_in["position", j], aux_out["at"])
        copy(model_in["height", j], aux_out["before"])
        copy(model_in["height", j + 1], aux_out["after"])
        copy(aux_in["joined"], model_out["height", j])
        for i in range(j + 1, k):
            copy(model_in["position", i], model_out["position", i - 1])
            copy(model_in["height", i + 1], model_out["height", i])


# --- another height for a segment ------------------------------------------------------------------


@gen
def propose_factor(trace):
    j = ~uniform_discrete(0, trace["k"])
    log_factor = ~uniform(-0.5, 0.5)


@transform
def change_height(model_in, aux_in, *, model_out, aux_out):
    j = read(aux_in["j"], discrete)
    copy(aux_in["j"], aux_out["j"])
    log_factor = read(aux_in["log_factor"], continuous)
    write(aux_out["log_factor"], -log_factor, continuous)
    height = read(model_in["height", j], continuous)
    write(model_out["height", j], height * math.exp(log_factor), continuous)


# --- another position for a step, anywhere between its neighbours ----------------------------------


@gen
def propose_position(trace):
    k = trace["k"]
    if k > 0:
        j = ~uniform_discrete(0, k - 1)
        left = trace["position", j - 1] if j > 0 else 0.0
        right = trace["position", j + 1] if j + 1 < k else DAYS
        at = ~uniform(left, right)


@transform
def change_position(model_in, aux_in, *, model_out, aux_out):
    if read(model_in["k"], discrete) > 0:
        j = read(aux_in["j"], discrete)
        copy(aux_in["j"], aux_out["j"])
        copy(aux_in["at"], model_out["position", j])
        copy(model_in["position", j], aux_out["at"])


GREENS = (
    (propose_birth_or_death, birth_death),
    (propose_factor, change_height),
    (propose_position, change_position),
)
MOVES = (*GREENS, (propose_with_heights, with_heights))


def greens_kernel(check: bool = True):
    """One of Green's moves, picked at random: half of them change the number of steps."""
    return mixture([involutive(q, f, check=check) for q, f in GREENS], [0.5, 0.25, 0.25])


def kernel(check: bool = True):
    """One move, picked at random: four of five change the number of steps, which mixes slowest."""
    return mixture([involutive(q, f, check=check) for q, f in MOVES], [0.05, 0.05, 0.1, 0.8])


# --- the exact posterior of k ----------------------------------------------------------------------


def exact_posterior_of_k(dates: np.ndarray, width: float = 50.0) -> np.ndarray:
    """p(k | dates) for k = 0, ..., 30, by integrating out heights and positions.

    A segment of length d with n events has the marginal likelihood 200 n! / (200 + d)^(n + 1), and the
    positions have the prior density (2k + 1)! / DAYS^(2k + 1) times the product of all lengths d. So
    the integral over them is a power of one matrix on a grid: the midpoints of pieces at most `width` days
    long, none of which has a date inside. (Half the width moves no probability by more than 3e-4.)
    """
    gaps = zip([0.0, *dates], [*dates, DAYS], strict=True)
    edges = np.concatenate([np.linspace(a, b, 1 + math.ceil((b - a) / width)) for a, b in gaps])
    pieces = np.diff(edges)
    at, log_piece = (edges[:-1] + pieces / 2)[pieces > 0], np.log(pieces[pieces > 0])

    def log_segment(left, right):
        """log of length times marginal likelihood, -inf unless left < right."""
        d = np.maximum(right - left, 0.0)
        n = np.searchsorted(dates, right) - np.searchsorted(dates, left)
        with np.errstate(divide="ignore", invalid="ignore"):
            value = np.log(d) + math.log(200) + gammaln(n + 1) - (n + 1) * np.log(200 + d)
        return np.where(d > 0, value, -np.inf)

    between, last = log_segment(at[:, None], at), log_segment(at, DAYS)
    up_to = log_segment(0.0, at)  # the integral over all steps before one at each point
    integrals = [float(log_segment(0.0, DAYS))]
    for _ in range(MOST):
        integrals.append(logsumexp(up_to + log_piece + last))
        up_to = logsumexp((up_to + log_piece)[:, None] + between, axis=0)
    k = np.arange(MOST + 1)
    log_p = integrals + gammaln(2 * k + 2) - (2 * k + 1) * math.log(DAYS) + np.log(PRIOR_OF_K)
    return np.exp(log_p - logsumexp(log_p))


# --- running it ------------------------------------------------------------------------------------

GRID = np.linspace(0.0, DAYS, 401)


def rate(trace) -> np.ndarray:
    """The rate at every point of GRID, disasters per year."""
    k = trace["k"]
    heights = np.array([trace["height", j] for j in range(k + 1)])
    return 365.25 * heights[np.searchsorted([trace["position", j] for j in range(k)], GRID)]


def read_dates() -> np.ndarray:
    """The dates in days, in increasing order."""
    return np.loadtxt(DATA, delimiter=",", skiprows=1, usecols=1)


def trace_of(positions, heights, dates: np.ndarray):
    """The model's trace with these steps, the dates observed."""
    init = {"k": len(positions), "position": positions, "height": heights}
    return disasters.generate((), {"dates": dates}, init=init).trace


def run(draws: int = 5000, moves: int = 10, seed: int = 1, progress: bool = True) -> tuple[np.ndarray, Run]:
    """The dates and the draws of one chain, `moves` moves apart."""
    dates = read_dates()
    start = trace_of([], [len(dates) / DAYS], dates)
    record = {"k": "k", "rate": rate}
    every = repeat(kernel(), moves)
    return dates, sample(every, start, draws, warmup=500, record=record, seed=seed, progress=progress)


def draw_figure(dates: np.ndarray, chain: Run, exact: np.ndarray, path: Path) -> None:
    """The disasters by year with the posterior of the rate, and p(k | dates) beside the exact answer."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.8), width_ratios=(2, 1), layout="constrained")
    years = 1851 + dates / 365.25
    left.hist(years, bins=np.arange(1851, 1964), color="0.85", label="disasters in a year")
    left.plot(years, np.full_like(years, -0.15), "|", color="0.4", markersize=7)
    low, high = np.quantile(chain["rate"], [0.05, 0.95], axis=0)
    grid = 1851 + GRID / 365.25
    left.fill_between(grid, low, high, color="C0", alpha=0.25, lw=0, label="90 % interval")
    left.plot(grid, chain["rate"].mean(axis=0), color="C0", label="posterior mean of the rate")
    left.set(xlabel="year", ylabel="disasters per year")
    left.legend(frameon=False)

    shares = chain.frequency("k")
    right.bar(
        list(shares), [s.probability for s in shares.values()],
        yerr=[2 * s.standard_error for s in shares.values()], color="0.75", capsize=3,
        label="chain, ± 2 standard errors",
    )  # fmt: skip
    ks = np.arange(max(shares) + 1)
    right.plot(ks, exact[ks], "k_", markersize=16, label="exact")
    right.set(xlabel="number of steps k", ylabel="p(k | dates)", xticks=ks)
    right.set_ylim(0, 1.3 * right.get_ylim()[1])  # room for the legend
    right.legend(frameon=False, markerscale=0.6)
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def main() -> None:
    """Check the moves, run the chain, compare it with the exact answer and draw the figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--draws", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--figure", type=Path, default=Path("coal.png"))
    options = parser.parse_args()
    for q, f in MOVES:
        print(check_involutive(disasters, (), q, f, observed="dates", n=100, rng=1))
    dates, chain = run(options.draws, seed=options.seed)
    exact = exact_posterior_of_k(dates)
    print(f"\n{chain}\n\nposterior of the number of steps, with Monte Carlo standard errors")
    for k, share in chain.frequency("k").items():
        print(f"  p(k = {k:2d} | dates) = {share.probability:.4f} ± {share.standard_error:.4f}; "
              f"exact {exact[k]:.4f}")  # fmt: skip
    try:
        draw_figure(dates, chain, exact, options.figure)
        print(f"figure: {options.figure.resolve()}")
    except ImportError:
        print("no figure: matplotlib is not installed (pip install 'gendsl[plot]')")


if __name__ == "__main__":
    main()
