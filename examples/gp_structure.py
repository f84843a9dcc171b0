"""Which covariance function? Structure learning for Gaussian processes (the paper's Figure 2).

A covariance function is a tree drawn from a probabilistic grammar: constant, linear, squared exponential
and periodic functions, joined by plus and times. A move walks to a random node, draws another subtree for it
and swaps the two, by three `copy` lines. On a grammar that is small enough to enumerate, the chain is
compared with the exact posterior; then chains from different starts are run on the airline series, whose last
two years they predict. How far the chains disagree is part of the answer.

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
    mixture,
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


ANY_PERIOD = log_normal(0, 1)
NEAR_A_YEAR = mixture([0.25, 0.75], [ANY_PERIOD, log_normal(0, 0.003)])


@gen
def tree_with(period_law, depth):
    """A tree from the grammar, its periods from a distribution."""
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
        period = ~period_law
        return Periodic(amplitude, length, period)
    left = ~tree_with(period_law, depth + 1)
    right = ~tree_with(period_law, depth + 1)
    return KINDS[kind](left, right)


@gen
def covariance_function(depth):
    """A tree from the grammar."""
    tree = ... @ ~tree_with(ANY_PERIOD, depth)
    return tree


@gen
def yearly_covariance_function(depth):
    """For proposals only: most periods are near a year. The acceptance ratio accounts for that."""
    tree = ... @ ~tree_with(NEAR_A_YEAR, depth)
    return tree


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
OPERATORS: dict[type, type] = {Plus: Times, Times: Plus}


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


# --- moves between trees of the same leaves: another operator, other brackets -----------------------


@gen
def pick_node(trace, walk):
    path = ~walk(trace["tree"], ())
    return path


@transform
def other_operator(model_in, aux_in, *, model_out, aux_out):
    """Plus becomes times, or times plus; a leaf stays as it is."""
    copy(aux_in["path"], aux_out["path"])
    kind = ("tree", *aux_in.retval, "kind")
    operator = KINDS[read(model_in[kind], discrete)]
    if operator in OPERATORS:
        write(model_out[kind], KINDS.index(OPERATORS[operator]), discrete)


@gen
def pick_brackets(trace, walk):
    """A node and a side; whether there is an operator on that side, which the node can change places with."""
    path = ~walk(trace["tree"], ())
    to_right = ~bernoulli(0.5)
    side = "left" if to_right else "right"
    node = subtree(trace["tree"], path)
    return path, side, isinstance(node, Plus) and isinstance(getattr(node, side), Plus)


@transform
def other_brackets(model_in, aux_in, *, model_out, aux_out):
    """(a + b) × c becomes a + (b × c), or the other way round; the same for any two operators."""
    path, side, possible = aux_in.retval
    copy(aux_in["path"], aux_out["path"])
    if not possible:
        copy(aux_in["to_right"], aux_out["to_right"])
        return
    write(aux_out["to_right"], not read(aux_in["to_right"], discrete), discrete)
    upper, other = ("tree", *path), OTHER[side]
    lower = (*upper, side)
    write(model_out[(*upper, "kind")], read(model_in[(*lower, "kind")], discrete), discrete)
    write(model_out[(*upper, other, "kind")], read(model_in[(*upper, "kind")], discrete), discrete)
    copy(model_in[(*lower, side)], model_out[(*upper, side)])
    copy(model_in[(*lower, other)], model_out[(*upper, other, side)])
    copy(model_in[(*upper, other)], model_out[(*upper, other, other)])


@gen
def walk_noise(trace, step):
    noise = ~log_normal(math.log(trace["noise"]), step)


def structure_moves(walk, grammar):
    """The two moves that change the tree."""
    replace = involutive(from_prior, swap_subtrees, (walk, grammar), name="replace a subtree")
    return cycle(replace, involutive(insert_or_remove, graft, (walk, grammar), name="insert or remove"))


def perturb(walk, step: float):
    return involutive(from_nearby, swap_subtrees, (walk, step), name=f"perturb a subtree by {step}")


def rearrange(walk):
    """The two moves that keep the leaves."""
    return cycle(
        involutive(pick_node, other_operator, (walk,), name="another operator"),
        involutive(pick_brackets, other_brackets, (walk,), name="other brackets"),
    )


KERNEL = cycle(
    structure_moves(walk_tree_uniformly, covariance_function),
    repeat(structure_moves(walk_tree_uniformly, yearly_covariance_function), 3),
    rearrange(walk_tree_uniformly),
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


def run(
    draws: int = 250, thin: int = 3, chains: int = 4, seed: int = 1, progress: bool = True
) -> tuple[Series, Run]:
    """The airline series, and the draws of chains on it that start from draws of the prior."""
    series = read_series()
    grid, ahead = Grid(series.times[: series.known]), Grid(series.times)
    args, observed = (grid, covariance_function), {"y": series.y}
    starts = [gaussian_process.generate(args, observed, rng=(seed, i)).trace for i in range(chains)]

    def record(trace):
        mean, sd = predictive(trace, ahead)
        tree = trace["tree"]
        return {
            "structure": structure(tree),
            "yearly cycle": has_yearly_cycle(tree),
            "changing cycle": has_changing_cycle(tree),
            "nodes": tree.size,
            "log density": trace.log_prob,
            "mean": mean,
            "sd": sd,
        }

    start = starts if chains > 1 else starts[0]
    warmup = draws * thin // 2
    return series, sample(
        KERNEL, start, draws, thin=thin, warmup=warmup, chains=chains, record=record, seed=seed,
        progress=progress,
    )  # fmt: skip


def shares(run: Run, name: str) -> dict[object, Share]:
    """The share of each value of a quantity, the largest first, with the error that the chains show.

    Of several chains it is the standard deviation of their shares over the square root of their number. It
    is right even where each chain stays in one part of the posterior; that of `Run.frequency`, from how much
    each chain moves, is too small then.
    """
    found = run.frequency(name)
    if len(run.chains) > 1:
        for value in found:
            p = [np.mean([v == value for v in draws]) for draws in run.by_chain(name)]
            found[value] = Share(float(np.mean(p)), float(np.std(p, ddof=1) / math.sqrt(len(p))))
    return dict(sorted(found.items(), key=lambda item: -item[1].probability))


def r_hat(run: Run, name: str) -> float:
    """sqrt((n - 1) / n + B / W), B the variance of the chains' means, W that within (Gelman, Rubin 1992)."""
    draws = np.array(run.by_chain(name), dtype=float)
    within = draws.var(axis=1, ddof=1).mean()
    return math.sqrt((draws.shape[1] - 1) / draws.shape[1] + draws.mean(axis=1).var(ddof=1) / within)


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
    means, sds = (np.concatenate(chain.by_chain(name)) for name in ("mean", "sd"))
    mean, sd = np.repeat(means, 20, axis=0), np.repeat(sds, 20, axis=0)
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

    largest = list(shares(chain, "structure").items())[:8]
    found.barh(
        range(len(largest)), [s.probability for _, s in largest],
        xerr=[2 * s.standard_error for _, s in largest], color="C0", ecolor="0.3", capsize=3,
    )  # fmt: skip
    found.set(xlabel="p(structure | y), ± 2 standard errors", title="airline series", xlim=(0, None))
    labels = [fill(str(name), 32, max_lines=2, placeholder=" …") for name, _ in largest]
    found.set_yticks(range(len(largest)), labels)

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


def print_disagreement(run: Run) -> None:
    """How far the chains are from having forgotten where they started."""
    print(
        "  many structures fit about as well, and chains go slowly from one to the next; the errors are\n"
        f"  from the differences between {len(run.chains)} chains. R-hat of the log density: "
        f"{r_hat(run, 'log density'):.2f}, of the number of nodes: {r_hat(run, 'nodes'):.2f}"
    )
    levels = [np.mean(draws) for draws in run.by_chain("log density")]
    for names, level in zip(run.by_chain("structure"), levels, strict=True):
        most = max(set(names), key=names.count)
        print(f"    a chain: log density {level:.1f}; {names.count(most) / len(names):.0%} {most}")


def main() -> None:
    """Compare with the exact answer on the small grammar, forecast the airline series, draw the figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--draws", type=int, default=250, help="of each chain")
    parser.add_argument("--chains", type=int, default=4)
    parser.add_argument("--small-draws", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--figure", type=Path, default=Path("gp_structure.png"))
    options = parser.parse_args()

    tiny = Grid(np.linspace(0, 3, 4))
    for q, f, extra in (
        (from_prior, swap_subtrees, (covariance_function,)),
        (insert_or_remove, graft, (covariance_function,)),
        (pick_node, other_operator, ()), (pick_brackets, other_brackets, ()),
    ):  # fmt: skip
        for walk in (walk_tree, walk_tree_uniformly):
            args, q_args = (tiny, covariance_function), (walk, *extra)
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

    series, chain = run(options.draws, chains=options.chains, seed=options.seed)
    print(f"\nthe airline series, without its last {HELD_OUT} months\n{chain}")
    for name, share in list(shares(chain, "structure").items())[:8]:
        print(f"  p({name} | y) = {share.probability:.3f} ± {share.standard_error:.3f}")
    for name in ("yearly cycle", "changing cycle"):
        share = shares(chain, name).get(True, Share(0.0, 0.0))
        print(f"  p({name} | y) = {share.probability:.3f} ± {share.standard_error:.3f}")
    if options.chains > 1:
        print_disagreement(chain)
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
