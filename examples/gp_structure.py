"""Which covariance function? Structure learning for Gaussian processes (the paper's Figure 2).

A covariance function is a tree drawn from a probabilistic grammar: constant, linear, squared exponential
and periodic functions, joined by plus and times. A move walks to a random node, draws another subtree for it
and swaps the two, by three `copy` lines. On a grammar that is small enough to enumerate, the chain is
compared with the exact posterior; then it is run on the airline series, whose last two years it predicts.

    python examples/gp_structure.py
"""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass, fields
from functools import cached_property, lru_cache
from pathlib import Path
from textwrap import fill
from typing import ClassVar

import numpy as np
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

from gendsl import (
    bernoulli,
    categorical,
    check_involutive,
    copy,
    discrete,
    gen,
    log_normal,
    mvnormal,
    normal,
    read,
    sample,
    transform,
    write,
)
from gendsl.inference import Run, Share, cycle, involutive, mh, repeat

DATA = Path(__file__).parent / "data" / "airline_passengers.csv"

# --- covariance functions --------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Grid:
    """Times, in years; a covariance function is evaluated between all of them."""

    times: np.ndarray


@dataclass(frozen=True)
class Constant:
    amplitude: float
    symbol: ClassVar[str] = "C"
    size: ClassVar[int] = 1

    def between(self, t, s):
        return np.full(np.broadcast_shapes(t.shape, s.shape), self.amplitude**2)


@dataclass(frozen=True)
class Linear:
    slope: float
    origin: float
    symbol: ClassVar[str] = "LIN"
    size: ClassVar[int] = 1

    def between(self, t, s):
        return self.slope * (t - self.origin) * (self.slope * (s - self.origin))


@dataclass(frozen=True)
class SquaredExponential:
    amplitude: float
    length: float
    symbol: ClassVar[str] = "SE"
    size: ClassVar[int] = 1

    def between(self, t, s):
        return self.amplitude**2 * np.exp(-0.5 * ((t - s) / self.length) ** 2)


@dataclass(frozen=True)
class Periodic:
    amplitude: float
    length: float
    period: float
    symbol: ClassVar[str] = "PER"
    size: ClassVar[int] = 1

    def between(self, t, s):
        return self.amplitude**2 * np.exp(-2 * (np.sin(math.pi * (t - s) / self.period) / self.length) ** 2)


@dataclass(frozen=True)
class Plus:
    left: Node
    right: Node
    symbol: ClassVar[str] = "+"

    @cached_property
    def size(self):
        return 1 + self.left.size + self.right.size


@dataclass(frozen=True)
class Times(Plus):
    symbol: ClassVar[str] = "×"


Node = Constant | Linear | SquaredExponential | Periodic | Plus | Times
KINDS = (Constant, Linear, SquaredExponential, Periodic, Plus, Times)


@lru_cache(maxsize=64)
def covariance(node: Node, grid: Grid) -> np.ndarray:
    """The covariances between all times of a grid. Subtrees that a move leaves alone are remembered."""
    if isinstance(node, Plus):
        left, right = covariance(node.left, grid), covariance(node.right, grid)
        return left * right if isinstance(node, Times) else left + right
    return node.between(grid.times[:, None], grid.times)


def with_noise(matrix: np.ndarray, noise: float) -> np.ndarray:
    """The covariances of observations. The jitter keeps them positive definite whatever rounding does."""
    jitter = 1e-9 * matrix.diagonal().max()
    return matrix + np.diag(np.full(len(matrix), noise**2 + jitter))


# --- the model -------------------------------------------------------------------------------------


@lru_cache
def kind_probabilities(depth: int, most: int = 5) -> tuple[float, ...]:
    """The root is plus or times with probability 1/2, a node below it less often, none at depth `most`."""
    branch = 0.5 * 0.6**depth if depth < most else 0.0
    leaf = (1 - branch) / 3.5
    return (leaf / 2, leaf, leaf, leaf, branch / 2, branch / 2)


@gen
def covariance_function(depth):
    """A tree from the grammar."""
    kind = ~categorical(kind_probabilities(depth))
    if KINDS[kind] is Constant:
        amplitude = ~log_normal(0, 1)
        return Constant(amplitude)
    if KINDS[kind] is Linear:
        slope = ~log_normal(math.log(0.3), 1)
        origin = ~normal(6, 6)
        return Linear(slope, origin)
    if KINDS[kind] is SquaredExponential:
        amplitude = ~log_normal(0, 1)
        length = ~log_normal(math.log(2), 1)
        return SquaredExponential(amplitude, length)
    if KINDS[kind] is Periodic:
        amplitude = ~log_normal(0, 1)
        length = ~log_normal(0, 1)
        period = ~log_normal(0, 1)
        return Periodic(amplitude, length, period)
    left = ~covariance_function(depth + 1)
    right = ~covariance_function(depth + 1)
    return KINDS[kind](left, right)


@gen
def gaussian_process(grid, grammar):
    tree = ~grammar(0)
    noise = ~log_normal(math.log(0.1), 1)
    y = ~mvnormal(np.zeros(len(grid.times)), with_noise(covariance(tree, grid), noise))


# --- the moves: walk to a node, draw another subtree, swap the two ----------------------------------


@gen
def walk_tree(node, path):
    """A walk that stops at every node with probability 1/2, and at a leaf."""
    leaf = not isinstance(node, Plus)
    done = ~bernoulli(1.0 if leaf else 0.5)
    if done:
        return path
    recurse_left = ~bernoulli(0.5)
    if recurse_left:
        left = ~walk_tree(node.left, (*path, "left"))
        return left
    right = ~walk_tree(node.right, (*path, "right"))
    return right


@gen
def walk_tree_uniformly(node, path):
    """A walk that ends at every node of the tree with the same probability."""
    done = ~bernoulli(1 / node.size)
    if done:
        return path
    recurse_left = ~bernoulli(node.left.size / (node.size - 1))
    if recurse_left:
        left = ~walk_tree_uniformly(node.left, (*path, "left"))
        return left
    right = ~walk_tree_uniformly(node.right, (*path, "right"))
    return right


@gen
def from_prior(trace, walk, grammar):
    path = ~walk(trace["tree"], ())
    new_subtree = ~grammar(len(path))
    return path


def subtree(node: Node, path: tuple[str, ...]) -> Node:
    for side in path:
        node = getattr(node, side)
    return node


@gen
def perturbed(node, step):
    """A tree of the same structure, its parameters a random walk's step away."""
    kind = ~categorical(np.eye(len(KINDS))[KINDS.index(type(node))])
    if isinstance(node, Plus):
        left = ~perturbed(node.left, step)
        right = ~perturbed(node.right, step)
    else:
        for field in fields(node):
            value = getattr(node, field.name)
            if field.name == "origin":
                "origin" @ ~normal(value, 6 * step)
            else:
                field.name @ ~log_normal(math.log(value), step)


@gen
def from_nearby(trace, walk, step):
    path = ~walk(trace["tree"], ())
    new_subtree = ~perturbed(subtree(trace["tree"], path), step)
    return path


@transform
def swap_subtrees(model_in, aux_in, *, model_out, aux_out):
    path = aux_in.retval
    copy(aux_in["path"], aux_out["path"])
    copy(model_in[("tree", *path)], aux_out["new_subtree"])
    copy(aux_in["new_subtree"], model_out[("tree", *path)])


# --- another move: put an operator above a node, or take one away -----------------------------------

OTHER = {"left": "right", "right": "left"}


@gen
def insert_or_remove(trace, walk, grammar):
    path = ~walk(trace["tree"], ())
    leaf = not isinstance(subtree(trace["tree"], path), Plus)
    insert = ~bernoulli(1.0 if leaf else 0.5)
    to_left = ~bernoulli(0.5)
    if insert:
        times = ~bernoulli(0.5)
        sibling = ~grammar(len(path) + 1)
    return path


@transform
def graft(model_in, aux_in, *, model_out, aux_out):
    """The subtree at a node goes one level down, with a sibling; or a node's child takes its place."""
    path = ("tree", *aux_in.retval)
    copy(aux_in["path"], aux_out["path"])
    insert = read(aux_in["insert"], discrete)
    write(aux_out["insert"], not insert, discrete)
    copy(aux_in["to_left"], aux_out["to_left"])
    side = "left" if read(aux_in["to_left"], discrete) else "right"
    other = OTHER[side]
    if insert:
        kind = Times if read(aux_in["times"], discrete) else Plus
        write(model_out[(*path, "kind")], KINDS.index(kind), discrete)
        copy(model_in[path], model_out[(*path, side)])
        copy(aux_in["sibling"], model_out[(*path, other)])
    else:
        kind = KINDS[read(model_in[(*path, "kind")], discrete)]
        write(aux_out["times"], kind is Times, discrete)
        copy(model_in[(*path, side)], model_out[path])
        copy(model_in[(*path, other)], aux_out["sibling"])


@gen
def walk_noise(trace, step):
    noise = ~log_normal(math.log(trace["noise"]), step)


def structure_moves(walk, grammar):
    """The two moves that change the tree."""
    replace = involutive(from_prior, swap_subtrees, (walk, grammar), name="replace a subtree")
    return cycle(replace, involutive(insert_or_remove, graft, (walk, grammar), name="insert or remove"))


def perturb(walk, step: float):
    return involutive(from_nearby, swap_subtrees, (walk, step), name=f"perturb a subtree by {step}")


KERNEL = cycle(
    repeat(structure_moves(walk_tree_uniformly, covariance_function), 2),
    *(perturb(walk_tree_uniformly, step) for step in (0.3, 0.05, 0.005)),
    mh(walk_noise, (0.1,)),
)

# --- a grammar that is small enough to enumerate ---------------------------------------------------

TYPICAL = (Constant(0.5), Linear(0.6, 1.0), SquaredExponential(1.0, 0.5), Periodic(0.5, 1.0, 1.0))
SMALL_NOISE = 0.3


@gen
def small_grammar(depth):
    """Trees of depth 2 at most, without parameters."""
    kind = ~categorical(kind_probabilities(depth, 2))
    if kind < len(TYPICAL):
        return TYPICAL[kind]
    left = ~small_grammar(depth + 1)
    right = ~small_grammar(depth + 1)
    return KINDS[kind](left, right)


@gen
def small_process(grid):
    tree = ~small_grammar(0)
    y = ~mvnormal(np.zeros(len(grid.times)), with_noise(covariance(tree, grid), SMALL_NOISE))


def all_trees(depth: int = 0) -> list[tuple[Node, float]]:
    """Every tree of the small grammar, with its log prior probability."""
    log_p = np.log(np.maximum(kind_probabilities(depth, 2), 1e-300))
    trees: list[tuple[Node, float]] = list(zip(TYPICAL, log_p.tolist(), strict=False))
    if depth < 2:
        below = all_trees(depth + 1)
        for kind in (4, 5):
            trees += [(KINDS[kind](a, b), log_p[kind] + p + q) for a, p in below for b, q in below]
    return trees


def exact_structures(grid: Grid, y: np.ndarray) -> dict[str, float]:
    """p(structure | y) under the small grammar, the largest first, by enumerating its 2596 trees."""
    trees = all_trees()
    log_p = np.array([
        log_prior + multivariate_normal.logpdf(y, cov=with_noise(covariance(tree, grid), SMALL_NOISE))
        for tree, log_prior in trees
    ])  # fmt: skip
    total: dict[str, float] = {}
    for (tree, _), p in zip(trees, np.exp(log_p - logsumexp(log_p)), strict=True):
        total[structure(tree)] = total.get(structure(tree), 0.0) + float(p)
    return dict(sorted(total.items(), key=lambda item: -item[1]))


# --- what is said about a tree ---------------------------------------------------------------------


def parts(node: Node, kind: type) -> list[Node]:
    """The terms of a sum (kind Plus), or the factors of a product (kind Times)."""
    return [*parts(node.left, kind), *parts(node.right, kind)] if type(node) is kind else [node]


def structure(node: Node) -> str:
    """The form of a tree: order doesn't matter, and constant factors, which only scale, are left out."""
    if not isinstance(node, Plus):
        return node.symbol
    inner = [structure(part) for part in parts(node, type(node))]
    if type(node) is Times:
        inner = [part for part in inner if part != "C"] or ["C"]
        inner = [f"({part})" if "+" in part and len(inner) > 1 else part for part in inner]
    return f" {node.symbol} ".join(sorted(inner))


def leaves(node: Node) -> list[Node]:
    return [*leaves(node.left), *leaves(node.right)] if isinstance(node, Plus) else [node]


def has_yearly_cycle(node: Node) -> bool:
    """Whether some periodic part repeats after a whole number of years, usually one."""
    periods = [leaf.period for leaf in leaves(node) if isinstance(leaf, Periodic)]
    return any(period > 0.5 and abs(period - round(period)) < 0.03 for period in periods)


def has_changing_cycle(node: Node) -> bool:
    """Whether a yearly cycle is multiplied by something that isn't constant."""
    if not isinstance(node, Plus):
        return False
    if isinstance(node, Times):
        factors = parts(node, Times)
        if any(has_yearly_cycle(f) for f in factors) and sum(structure(f) != "C" for f in factors) > 1:
            return True
    return has_changing_cycle(node.left) or has_changing_cycle(node.right)


# --- running it ------------------------------------------------------------------------------------

HELD_OUT = 24


@dataclass(frozen=True)
class Series:
    """The airline series; the models see the logarithms of all but the last months, standardised."""

    times: np.ndarray
    passengers: np.ndarray

    @property
    def known(self) -> int:
        return len(self.times) - HELD_OUT

    @cached_property
    def centre_and_scale(self) -> tuple[float, float]:
        seen = np.log(self.passengers[: self.known])
        return float(seen.mean()), float(seen.std())

    @property
    def y(self) -> np.ndarray:
        centre, scale = self.centre_and_scale
        return (np.log(self.passengers[: self.known]) - centre) / scale

    def in_thousands(self, y: np.ndarray) -> np.ndarray:
        centre, scale = self.centre_and_scale
        return np.exp(centre + scale * y)


def read_series() -> Series:
    passengers = np.loadtxt(DATA, delimiter=",", skiprows=1, usecols=2)
    return Series(np.arange(len(passengers)) / 12, passengers)


def predictive(trace, ahead: Grid) -> tuple[np.ndarray, np.ndarray]:
    """Means and standard deviations of observations at all times of `ahead`, which begins with the known."""
    y, noise = trace["y"], trace["noise"]
    n = len(y)
    matrix = with_noise(covariance(trace["tree"], ahead), noise)
    solved = np.linalg.solve(matrix[:n, :n], np.column_stack([y, matrix[:n, n:]]))
    mean = matrix[n:, :n] @ solved[:, 0]
    variance = matrix.diagonal()[n:] - np.sum(matrix[:n, n:] * solved[:, 1:], axis=0)
    return mean, np.sqrt(np.maximum(variance, noise**2))


def run(draws: int = 500, thin: int = 3, seed: int = 1, progress: bool = True) -> tuple[Series, Run]:
    """The airline series, and the draws of one chain on it."""
    series = read_series()
    grid, ahead = Grid(series.times[: series.known]), Grid(series.times)
    start = gaussian_process.generate((grid, covariance_function), {"y": series.y}, rng=seed).trace

    def record(trace):
        mean, sd = predictive(trace, ahead)
        tree = trace["tree"]
        return {
            "structure": structure(tree),
            "yearly cycle": has_yearly_cycle(tree),
            "changing cycle": has_changing_cycle(tree),
            "nodes": tree.size,
            "mean": mean,
            "sd": sd,
        }

    return series, sample(
        KERNEL, start, draws, thin=thin, warmup=draws * thin // 3, record=record, seed=seed, progress=progress
    )


def run_small(draws: int = 5000, seed: int = 1, walk=walk_tree, progress: bool = True) -> tuple[Run, dict]:
    """A chain on the small grammar, given every third month of three years, and the exact answer."""
    series = read_series()
    few = slice(0, 36, 3)
    grid, y = Grid(series.times[few]), series.y[few] - series.y[few].mean()
    start = small_process.generate((grid,), {"y": y}, rng=seed).trace
    kernel = structure_moves(walk, small_grammar)
    record = {"structure": lambda trace: structure(trace["tree"])}
    chain = sample(kernel, start, draws, warmup=draws // 20, record=record, seed=seed, progress=progress)
    return chain, exact_structures(grid, y)


def forecasts(chain: Run, rng: int = 0) -> np.ndarray:
    """Observations of the held-out months drawn from the posterior, standardised: (20 draws, months)."""
    mean, sd = (np.repeat(chain[name], 20, axis=0) for name in ("mean", "sd"))
    return mean + sd * np.random.default_rng(rng).standard_normal(mean.shape)


def draw_figure(series: Series, chain: Run, small: Run, exact: dict[str, float], path: Path) -> None:
    """The forecast, the most probable structures, and the small grammar beside its exact answer."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (forecast, found, check) = plt.subplots(
        1, 3, figsize=(14, 4), width_ratios=(1.7, 1, 1), layout="constrained"
    )
    n, years = series.known, 1949 + series.times
    forecast.plot(years[:n], series.passengers[:n], "k-", lw=0.9, label="passengers")
    forecast.plot(years[n:], series.passengers[n:], "ko", markersize=3.5, fillstyle="none", label="held out")
    low, middle, high = series.in_thousands(np.quantile(forecasts(chain), [0.05, 0.5, 0.95], axis=0))
    forecast.fill_between(years[n:], low, high, color="C0", alpha=0.25, lw=0, label="90 % interval")
    forecast.plot(years[n:], middle, color="C0", label="median forecast")
    forecast.set(xlabel="year", ylabel="passengers in a month (thousands)", xlim=(1949, 1961))
    forecast.legend(frameon=False, loc="upper left")

    shares = sorted(chain.frequency("structure").items(), key=lambda item: -item[1].probability)[:8]
    found.barh(
        [fill(name, 32) for name, _ in shares], [s.probability for _, s in shares],
        xerr=[2 * s.standard_error for _, s in shares], color="C0", ecolor="0.3", capsize=3,
    )  # fmt: skip
    found.set(xlabel="p(structure | y), ± 2 standard errors", title="airline series", xlim=(0, None))

    names, here = list(exact)[:8], small.frequency("structure")
    shown = [here.get(name, Share(0.0, 0.0)) for name in names]
    check.barh(
        names, [s.probability for s in shown], xerr=[2 * s.standard_error for s in shown],
        color="0.75", capsize=3, label="chain",
    )  # fmt: skip
    check.plot([exact[name] for name in names], range(len(names)), "k|", markersize=14, label="exact")
    check.set(xlabel="p(structure | y), ± 2 standard errors", title="small grammar", xlim=(0, None))
    check.legend(frameon=False, loc="lower right", markerscale=0.6)
    for axes in (forecast, found, check):
        axes.spines[["top", "right"]].set_visible(False)
    for axes in (found, check):
        axes.invert_yaxis()
        axes.tick_params(axis="y", length=0)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def main() -> None:
    """Compare with the exact answer on the small grammar, forecast the airline series, draw the figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--draws", type=int, default=500)
    parser.add_argument("--small-draws", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--figure", type=Path, default=Path("gp_structure.png"))
    options = parser.parse_args()

    tiny = Grid(np.linspace(0, 3, 4))
    for q, f in ((from_prior, swap_subtrees), (insert_or_remove, graft)):
        for walk in (walk_tree, walk_tree_uniformly):
            args, q_args = (tiny, covariance_function), (walk, covariance_function)
            report = check_involutive(gaussian_process, args, q, f, q_args=q_args, observed="y", n=40, rng=1)
            print(f"{walk.name}: {report}")

    small, exact = run_small(options.small_draws, seed=options.seed)
    print("\na grammar of 2596 trees, on 12 months")
    print(small)
    here = small.frequency("structure")
    for name in [name for name in exact if name in here][:8]:
        (share, error), p = here[name], exact[name]
        print(
            f"  p({name} | y) = {share:.4f} ± {error:.4f}; exact {p:.4f}, "
            f"{(share - p) / error:+.1f} standard errors"
        )

    series, chain = run(options.draws, seed=options.seed)
    print(f"\nthe airline series, without its last {HELD_OUT} months\n{chain}")
    print("  (many structures fit about as well, and chains go slowly from one to the next)")
    shares = sorted(chain.frequency("structure").items(), key=lambda item: -item[1].probability)
    for name, share in shares[:8]:
        print(f"  p({name} | y) = {share.probability:.3f} ± {share.standard_error:.3f}")
    for name in ("yearly cycle", "changing cycle"):
        share = chain.frequency(name).get(True, Share(0.0, 0.0))
        print(f"  p({name} | y) = {share.probability:.3f} ± {share.standard_error:.3f}")
    truth = series.passengers[series.known :]
    low, middle, high = series.in_thousands(np.quantile(forecasts(chain), [0.05, 0.5, 0.95], axis=0))
    a_year_before = series.passengers[series.known - 12 : series.known]
    naive = np.tile(a_year_before, HELD_OUT // 12)
    print(
        f"  held-out months inside their 90 % interval: {np.sum((low <= truth) & (truth <= high))} of "
        f"{HELD_OUT}\n  error of the median forecast, root mean square: "
        f"{np.sqrt(np.mean((middle - truth) ** 2)):.1f} thousand passengers "
        f"(the last year repeated: {np.sqrt(np.mean((naive - truth) ** 2)):.1f})"
    )
    try:
        draw_figure(series, chain, small, exact, options.figure)
        print(f"\nfigure: {options.figure.resolve()}")
    except ImportError:
        print("\nno figure: matplotlib is not installed (pip install 'gendsl[plot]')")


if __name__ == "__main__":
    main()
