"""Which points belong together? A Dirichlet-process mixture with assignments, against all partitions.

Weights are broken off a stick (Sethuraman 1994), 20 times: more than ever have a point. One kernel draws
the cluster of a point given all else, which costs the number of clusters, however many points there are; the
other, in the spirit of Jain and Neal (2004), splits the cluster of two random points in two, or merges their
two clusters, and changes only their members. For six points the posterior of the partition is known: the
prior is conjugate, so that each of the 203 partitions has its probability. What a step costs is measured for
up to 100 000 points, and the clusters of 10 000 are found from a start where all are in one.

    python examples/clustering.py
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy.special import gammaln, logsumexp, softmax

from gendsl import (
    bernoulli,
    beta,
    categorical,
    check_involutive,
    copy,
    discrete,
    gen,
    normal,
    read,
    sample,
    select,
    transform,
    uniform_discrete,
    write,
)
from gendsl.inference import Run, Share, cycle, gibbs, involutive, mh, random_walk, repeat

POINTS = np.array([-3.1, -2.2, -0.4, 0.5, 1.9, 2.8])
ALPHA = 1.0  # the concentration of the process
STICKS = 20
SPREAD = 5.0  # the prior sd of a cluster's mean; within a cluster it is 1

# --- the model -------------------------------------------------------------------------------------


def broken_off(sticks):
    """The weights: of what is left of a stick of length one, each breaks off a share; the last takes all."""
    weights, left = [], 1.0
    for share in sticks:
        weights.append(left * share)
        left *= 1.0 - share
    return [*weights, left]


@gen
def clusters(n):
    mu = [("mu", j) @ ~normal(0, SPREAD) for j in range(STICKS)]
    stick = [("stick", j) @ ~beta(1, ALPHA) for j in range(STICKS - 1)]
    weights = broken_off(stick)
    labels, points = [], []
    for i in range(n):
        z = ("z", i) @ ~categorical(weights)
        x = ("x", i) @ ~normal(mu[z], 1)
        labels.append(z)
        points.append(x)
    return labels, points


def labels_and_points(trace) -> tuple[np.ndarray, np.ndarray]:
    labels, points = trace.retval
    return np.array(labels), np.array(points)


# --- means and weights given the labels, which they are drawn from exactly --------------------------


def mean_given(own):
    """Mean and sd of a cluster's mean given its members."""
    precision = 1 / SPREAD**2 + len(own)
    return sum(own) / precision, 1 / math.sqrt(precision)


@gen
def sticks_given(labels):
    counts = [0] * STICKS
    for z in labels:
        counts[z] += 1
    for j in range(STICKS - 1):
        ("stick", j) @ ~beta(1 + counts[j], ALPHA + sum(counts[j + 1 :]))


@gen
def draw_parameters(trace):
    labels, x = trace.retval
    for j in range(STICKS):
        ("mu", j) @ ~normal(*mean_given([y for z, y in zip(labels, x, strict=True) if z == j]))
    ... @ ~sticks_given(labels)


@gen
def draw_labels(trace):
    """All of them at once, given the weights and means (Ishwaran and James 2001, blocked Gibbs sampler)."""
    _, x = trace.retval
    weights = broken_off([trace["stick", j] for j in range(STICKS - 1)])
    for i in range(len(x)):
        odds = [w * math.exp(-((x[i] - trace["mu", j]) ** 2) / 2) for j, w in enumerate(weights)]
        total = sum(odds)
        ("z", i) @ ~categorical([p / total for p in odds])


# --- split and merge -------------------------------------------------------------------------------


def sigmoid(odds: float) -> float:
    return 1 / (1 + math.exp(-min(max(odds, -30.0), 30.0)))


def towards_second(x, first: float, second: float, rounds: int = 10) -> list[float]:
    """The probability that each point goes with the second of two others, not with the first.

    They are those of a mixture of two clusters, fitted to all of these points by a few steps of the EM
    algorithm that start from the two. Which points are in which cluster now doesn't matter, so that they
    are the same for a split and for the merge that undoes it.
    """
    left, right, prior = first, second, 0.0
    for _ in range(rounds):
        inside, outside, right_sum, left_sum = 1.0, 1.0, second, first
        for y in x:
            p = sigmoid(prior + (right - left) * (y - (left + right) / 2))
            inside, right_sum = inside + p, right_sum + p * y
            outside, left_sum = outside + 1 - p, left_sum + (1 - p) * y
        left, right, prior = left_sum / outside, right_sum / inside, math.log(inside / outside)
    return [sigmoid(prior + (right - left) * (y - (left + right) / 2)) for y in x]


@gen
def propose(trace):
    """Two points; if they share a cluster where a new one goes and who joins it; and new parameters."""
    labels, x = trace.retval
    first = ~uniform_discrete(0, len(x) - 1)
    other = ~uniform_discrete(0, len(x) - 2)
    second = other + (other >= first)
    a, b = labels[first], labels[second]
    members = [i for i in range(len(x)) if labels[i] in (a, b) and i not in (first, second)]
    after = list(labels)
    if a == b:
        free = [0.0 if j in labels else 0.5**j for j in range(STICKS)]
        total = sum(free)
        if total == 0:
            return None
        b = "place" @ ~categorical([p / total for p in free])
        after[second] = b
        chances = towards_second([x[i] for i in members], x[first], x[second])
        for i, p in zip(members, chances, strict=True):
            joins = ("joins", i) @ ~bernoulli(p)
            after[i] = b if joins else a
    else:
        for i in (second, *members):
            after[i] = a
    for j in (a, b):
        ("mu", j) @ ~normal(*mean_given([y for z, y in zip(after, x, strict=True) if z == j]))
    ... @ ~sticks_given(after)
    return a, b, second, members


@transform
def split_merge(model_in, aux_in, *, model_out, aux_out):
    copy(aux_in["first"], aux_out["first"])
    copy(aux_in["other"], aux_out["other"])
    if aux_in.retval is None:  # no stick is left for a new cluster
        return
    a, b, second, members = aux_in.retval
    if "place" in aux_in:
        write(model_out["z", second], b, discrete)
        for i in members:
            write(model_out["z", i], b if read(aux_in["joins", i], discrete) else a, discrete)
    else:
        write(aux_out["place"], b, discrete)
        write(model_out["z", second], a, discrete)
        for i in members:
            write(aux_out["joins", i], read(model_in["z", i], discrete) == b, discrete)
            write(model_out["z", i], a, discrete)
    for address in (("mu", a), ("mu", b), "stick"):
        copy(aux_in[address], model_out[address])
        copy(model_in[address], aux_out[address])


def kernels(check=False):
    """Three ways to the same posterior."""
    parameters, split_or_merge = mh(draw_parameters), involutive(propose, split_merge, check=check)
    return {
        "Gibbs": cycle(gibbs("z"), parameters),
        "split/merge": cycle(repeat(split_or_merge, 5), parameters),
        "both": cycle(gibbs("z"), split_or_merge, parameters),
    }


# --- the exact answer ------------------------------------------------------------------------------


def partitions(n: int) -> Iterator[tuple[int, ...]]:
    """All partitions of n points: the block of each, blocks numbered in order of their first points."""
    if n == 0:
        yield ()
        return
    for blocks in partitions(n - 1):
        for block in range(max(blocks, default=-1) + 2):
            yield (*blocks, block)


def exact_posterior(x: np.ndarray) -> dict[tuple[int, ...], float]:
    """p(partition | x) for all partitions, the largest first.

    The Dirichlet process gives a partition into blocks of sizes c the probability
    alpha^blocks Gamma(alpha) / Gamma(alpha + n) prod (c - 1)!, and the points of a block are jointly normal
    with mean 0 and covariance 1 + spread^2. That there are STICKS clusters at most changes these
    probabilities by 4 n exp(-(STICKS - 1) / alpha) in all, or less (Ishwaran and James 2001, theorem 2).
    """
    found = {}
    for blocks in partitions(len(x)):
        log_p = 0.0
        for block in range(max(blocks) + 1):
            own = x[np.array(blocks) == block]
            size, precision = len(own), 1 / SPREAD**2 + len(own)
            log_p += math.log(ALPHA) + gammaln(size) - math.log(SPREAD) - 0.5 * math.log(precision)
            log_p += 0.5 * own.sum() ** 2 / precision
        found[blocks] = log_p
    log_total = logsumexp(list(found.values()))
    return {b: math.exp(v - log_total) for b, v in sorted(found.items(), key=lambda item: -item[1])}


def partition_of(trace) -> tuple[int, ...]:
    """The blocks of the points, numbered in order of their first points."""
    numbers: dict[int, int] = {}
    return tuple(numbers.setdefault(z, len(numbers)) for z in trace.retval[0])


# --- running it ------------------------------------------------------------------------------------


def start(x: np.ndarray, labels: np.ndarray | None = None, seed: int = 1):
    """A trace with the points observed, all in one cluster if not told where, all else drawn given that."""
    labels = np.zeros(len(x), int) if labels is None else labels
    trace = clusters.generate((len(x),), {"x": x}, init={"z": labels}, rng=seed).trace
    return mh(draw_parameters)(trace, seed)[0]


def run(kernel, draws: int = 4000, seed: int = 1, progress: bool = True) -> Run:
    """One chain for the six points."""
    record = {"partition": partition_of}
    return sample(
        kernel, start(POINTS), draws, warmup=draws // 20, record=record, seed=seed, progress=progress
    )


def many_points(n: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points of eight clusters of different sizes, their labels, and the clusters' means."""
    rng = np.random.default_rng(seed)
    means, shares = np.linspace(-14, 14, 8), np.array([4, 2, 1, 3, 2, 4, 1, 3]) / 20
    labels = rng.choice(8, size=n, p=shares)
    return rng.normal(means[labels], 1), labels, means


def find_clusters(x: np.ndarray, steps: int, seed: int = 1) -> Run:
    """A chain from a start in one cluster: ten splits or merges to each draw of all labels."""
    parameters = mh(draw_parameters)
    kernel = cycle(
        repeat(cycle(involutive(propose, split_merge), parameters), 10), mh(draw_labels), parameters
    )
    begin = time.perf_counter()
    record = {
        "sizes": lambda trace: np.bincount(trace.retval[0], minlength=STICKS),
        "seconds": lambda trace: time.perf_counter() - begin,
    }
    return sample(kernel, start(x), steps, record=record, seed=seed)


def agreement(trace, labels: np.ndarray, means: np.ndarray) -> tuple[float, float]:
    """The share of points with the label that is most common in their cluster.

    Beside it what is to be expected of labels that are drawn with the means and shares of `labels` known.
    """
    found, x = labels_and_points(trace)
    table = np.zeros((STICKS, len(means)))
    np.add.at(table, (found, labels), 1)
    known = softmax(np.log(np.bincount(labels, minlength=len(means))) - (x[:, None] - means) ** 2 / 2, axis=1)
    return table.max(axis=1).sum() / len(x), float(known[np.arange(len(x)), labels].mean())


STEPS = {
    "Gibbs, one label": gibbs(("z", 0)),
    "random walk, one mean": random_walk(select(("mu", 3)), scale=0.01),
    "split or merge": involutive(propose, split_merge),
}


def costs(n: int, rounds: int = 30) -> dict[str, float]:
    """Milliseconds of a step of each kind at n points: the median of some, from the clusters they are of."""
    x, labels, _ = many_points(n)
    trace, rng, found = start(x, labels), np.random.default_rng(1), {}
    for name, step in STEPS.items():
        taken = []
        for _ in range(rounds if name != "split or merge" else 2):
            begin = time.perf_counter()
            step(trace, rng)
            taken.append(time.perf_counter() - begin)
        found[name] = 1000 * float(np.median(taken))
    return found


# --- what is shown ---------------------------------------------------------------------------------


def letters(blocks: tuple[int, ...]) -> str:
    """The block of each point as a letter."""
    return "".join("abcdef"[block] for block in blocks)


def in_errors(share: Share, exact: float) -> str:
    """The difference from the exact value in standard errors; nothing where no error can be told."""
    return f"{(share.probability - exact) / share.standard_error:+.1f}" if share.standard_error > 0 else "?"


def print_partitions(chains: dict[str, Run], exact: dict[tuple[int, ...], float], most: int = 10) -> None:
    """The largest probabilities, and the shares that the chains give them."""
    print("probabilities of partitions; in brackets the difference in Monte Carlo standard errors\n")
    header = "".join(f"  {name:22s}" for name in chains)
    print(f"  {'blocks':8s} {'exact':>6s} {header}".rstrip())
    shares = {name: chain.frequency("partition") for name, chain in chains.items()}
    for blocks, p in list(exact.items())[:most]:
        line = f"  {letters(blocks):8s} {p:.4f} "
        for found in shares.values():
            share = found.get(blocks, Share(0.0, 0.0))
            line += f"  {share.probability:.4f} ± {share.standard_error:.4f} ({in_errors(share, p)})"
        print(line)


def draw_figure(
    chains: dict[str, Run],
    exact: dict[tuple[int, ...], float],
    measured: dict[int, dict[str, float]],
    found,
    path: Path,
) -> None:
    """Partitions of the six points, what a step costs, and the clusters of many points."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, middle, right) = plt.subplots(
        1, 3, figsize=(14, 3.9), width_ratios=(1.2, 0.9, 1.2), layout="constrained"
    )
    shown = list(exact)[:10]
    left.bar(range(len(shown)), [exact[b] for b in shown], color="0.87", label="exact")
    for i, (name, chain) in enumerate(chains.items()):
        shares = chain.frequency("partition")
        at = [shares.get(blocks, Share(0.0, 0.0)) for blocks in shown]
        left.errorbar(
            np.arange(len(shown)) + 0.25 * (i - 1), [s.probability for s in at],
            yerr=[2 * s.standard_error for s in at], fmt="o", ms=3, lw=1, label=f"{name}, ± 2 s.e.",
        )  # fmt: skip
    left.set_xticks(range(len(shown)), map(letters, shown), rotation=60, fontsize=8)
    left.set(ylabel="p(partition | x)", title="six points")
    left.legend(frameon=False, fontsize=8)

    for name in STEPS:
        middle.loglog(list(measured), [m[name] for m in measured.values()], "o-", ms=4, label=name)
    middle.set(xlabel="number of points", ylabel="milliseconds per step", title="cost of a step")
    middle.legend(frameon=False, fontsize=8)

    z, x = labels_and_points(found)
    grid = np.linspace(x.min(), x.max(), 400)
    counts = np.bincount(z, minlength=STICKS)
    right.hist(x, bins=150, density=True, color="0.87")
    for j in np.flatnonzero(counts > 0).tolist():
        bump = np.exp(-((grid - found["mu", j]) ** 2) / 2) / math.sqrt(2 * math.pi)
        right.plot(grid, counts[j] / len(x) * bump, lw=1)
    right.set(xlabel="x", ylabel="density", title=f"{len(x):,} points, {np.sum(counts > 0)} clusters")
    for axes in (left, middle, right):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def main() -> None:
    """Check the move, compare the chains with the exact answer, measure, and draw the figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--draws", type=int, default=1500, help="of each chain for the six points")
    parser.add_argument("--points", type=int, default=100_000, help="that steps are measured at, at most")
    parser.add_argument("--search", type=int, default=10_000, help="points whose clusters are searched for")
    parser.add_argument("--steps", type=int, default=8, help="of that search, ten splits or merges each")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--figure", type=Path, default=Path("clustering.png"))
    options = parser.parse_args()

    print(check_involutive(clusters, (5,), propose, split_merge, observed="x", n=30, rng=1), "\n")
    exact = exact_posterior(POINTS)
    chains = {name: run(kernel, options.draws, options.seed) for name, kernel in kernels().items()}
    for name, chain in chains.items():
        print(f"{name}: {chain}")
    print_partitions(chains, exact)

    sizes = sorted({min(n, options.points) for n in (1000, 10_000, 100_000)} | {options.points})
    measured = {n: costs(n) for n in sizes}
    print("\nmilliseconds per step" + "".join(f"{n:>12,d}" for n in sizes) + " points")
    for name in STEPS:
        print(f"{name:21s}" + "".join(f"{measured[n][name]:12.2f}" for n in sizes))

    x, labels, means = many_points(options.search, options.seed)
    chain = find_clusters(x, options.steps, options.seed)
    print(f"\n{options.search:,} points of {len(means)} clusters, from a start with one:\n{chain}")
    print("  step seconds  clusters, the largest first")
    for step, (counts, seconds) in enumerate(zip(chain["sizes"], chain["seconds"], strict=True), 1):
        print(f"  {step:4d} {seconds:7.1f}  {', '.join(map(str, sorted(counts[counts > 0])[::-1]))}")
    share, expected = agreement(chain.last, labels, means)
    print(f"  {share:.1%} of the points are with most of their own; {expected:.1%} were the clusters known")
    try:
        draw_figure(chains, exact, measured, chain.last, options.figure)
        print(f"figure: {options.figure.resolve()}")
    except ImportError:
        print("no figure: matplotlib is not installed (pip install 'gendsl[plot]')")


if __name__ == "__main__":
    main()
