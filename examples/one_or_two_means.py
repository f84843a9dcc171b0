"""One cluster or two? The paper's walk-through (section 4.2), against the exact answer.

A split takes mu to (mu - u, mu + u), a merge takes the two means back. With known weights and variances
the posterior of k is a ratio of integrals over one and two means, so the chain can be compared with it.

    python examples/one_or_two_means.py
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from scipy.special import logsumexp
from scipy.stats import norm

from gendsl import (
    beta,
    continuous,
    copy,
    discrete,
    gen,
    mixture_of_normals,
    normal,
    read,
    sample,
    transform,
    uniform_discrete,
    write,
)
from gendsl.inference import Run, cycle, involutive, mh, mixture

PRIOR_SD = 10.0


@gen
def one_or_two(n):
    k = ~uniform_discrete(1, 2)
    means = [("mu", j) @ ~normal(0, PRIOR_SD) for j in range(k)]
    for i in range(n):
        ("x", i) @ ~mixture_of_normals([1 / k] * k, means, [1.0] * k)


@gen
def offset(trace):
    if trace["k"] == 1:
        u = ~beta(2, 2)


@transform
def split_merge(model_in, aux_in, *, model_out, aux_out):
    k = read(model_in["k"], discrete)
    if k == 1:
        write(model_out["k"], 2, discrete)
        mu = read(model_in["mu", 0], continuous)
        u = read(aux_in["u"], continuous)
        write(model_out["mu", 0], mu - u, continuous)
        write(model_out["mu", 1], mu + u, continuous)
    else:
        write(model_out["k"], 1, discrete)
        mu1 = read(model_in["mu", 0], continuous)
        mu2 = read(model_in["mu", 1], continuous)
        mu = (mu1 + mu2) / 2
        write(model_out["mu", 0], mu, continuous)
        write(aux_out["u"], mu2 - mu, continuous)


@transform
def swap(model_in, *, model_out):
    """Exchange the two means: a split makes only mu_0 < mu_1, so nothing else reaches the other order."""
    if read(model_in["k"], discrete) == 2:
        copy(model_in["mu", 0], model_out["mu", 1])
        copy(model_in["mu", 1], model_out["mu", 0])


@gen
def walk(trace):
    for j in range(trace["k"]):
        ("mu", j) @ ~normal(trace["mu", j], 0.4)


KERNEL = cycle(
    involutive(offset, split_merge, check=True),
    mixture([involutive(None, swap), mh(walk)]),
)


def simulated_data(n: int = 40, seed: int = 5) -> np.ndarray:
    """n points from two overlapping clusters, one standard deviation either side of 3."""
    rng = np.random.default_rng(seed)
    return 3.0 + rng.choice([-0.9, 0.9], size=n) + rng.normal(size=n)


def exact_probability_of_two(data: np.ndarray) -> float:
    """p(k = 2 | data), by integrating the means out on a grid."""
    grid = np.linspace(data.mean() - 6, data.mean() + 6, 601)
    step = grid[1] - grid[0]
    prior = norm.logpdf(grid, 0, PRIOR_SD)
    points = norm.logpdf(data[:, None], grid, 1.0)
    one = logsumexp(prior + points.sum(axis=0)) + np.log(step)
    two = np.logaddexp(points[:, :, None], points[:, None, :]) - np.log(2)
    two = logsumexp(prior[:, None] + prior + two.sum(axis=0)) + 2 * np.log(step)
    return float(1 / (1 + np.exp(one - two)))


def run(draws: int = 10_000, seed: int = 1, progress: bool = True) -> tuple[np.ndarray, Run]:
    """The data and the draws of one chain."""
    data = simulated_data()
    start, _ = one_or_two.generate((len(data),), {"x": data}, init={"k": 1, ("mu", 0): 3.0}, rng=seed)
    record = {"k": "k", "means": lambda trace: [trace["mu", j] for j in range(trace["k"])]}
    return data, sample(KERNEL, start, draws, warmup=500, record=record, seed=seed, progress=progress)


def draw_figure(data: np.ndarray, chain: Run, exact: float, path: Path) -> None:
    """The data with the sampled means, and p(k | x) beside the exact answer."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained", width_ratios=(2, 1))
    for k, color in ((1, "C0"), (2, "C1")):
        means = [m for draw in chain["means"] if len(draw) == k for m in draw]
        left.hist(means, bins=np.linspace(0, 6, 121), density=True, alpha=0.6, color=color,
                  label=f"means, k = {k}")  # fmt: skip
    left.plot(data, np.full_like(data, -0.05), "|", color="0.3", label="data")
    left.set(xlabel="x", ylabel="posterior density")
    left.legend(frameon=False)
    shares = chain.frequency("k")
    right.bar(
        list(shares), [s.probability for s in shares.values()],
        yerr=[2 * s.standard_error for s in shares.values()], color="0.75", capsize=4,
        label="chain, ± 2 standard errors",
    )  # fmt: skip
    right.plot([1, 2], [1 - exact, exact], "k_", markersize=40, label="exact")
    right.set(xticks=[1, 2], xlabel="k", ylabel="p(k | x)", ylim=(0, 1.25))
    right.legend(frameon=False, loc="upper right", markerscale=0.4)
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def main() -> None:
    """Run the chain, compare it with the exact answer and draw the figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--draws", type=int, default=10_000)
    parser.add_argument("--figure", type=Path, default=Path("one_or_two_means.png"))
    options = parser.parse_args()
    data, chain = run(options.draws)
    exact = exact_probability_of_two(data)
    share = chain.frequency("k")[2]
    print(chain)
    print(f"\np(k = 2 | x) = {share.probability:.4f} ± {share.standard_error:.4f}; exact {exact:.4f} "
          f"({(share.probability - exact) / share.standard_error:+.1f} standard errors)")  # fmt: skip
    try:
        draw_figure(data, chain, exact, options.figure)
        print(f"figure: {options.figure.resolve()}")
    except ImportError:
        print("no figure: matplotlib is not installed (pip install 'gendsl[plot]')")


if __name__ == "__main__":
    main()
