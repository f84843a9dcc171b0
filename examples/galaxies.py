"""How many clusters of galaxies? Split/merge on 82 velocities (the paper's Figure 1).

The model is a mixture of an unknown number k of normal distributions. A split/merge move changes k; a
swap move relabels; moves within a model change means, variances and weights. Run it:

    python examples/galaxies.py
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

import numpy as np

from gendsl import (
    bernoulli,
    beta,
    continuous,
    copy,
    dirichlet,
    discrete,
    gen,
    inv_gamma,
    log_normal,
    mixture_of_normals,
    normal,
    poisson,
    read,
    sample,
    transform,
    uniform_discrete,
    write,
)
from gendsl.inference import Run, cycle, involutive, mh, repeat

DATA = Path(__file__).parent / "data" / "galaxies.csv"

# --- the model -------------------------------------------------------------------------------------


@gen
def clusters(n):
    k = ~(1 + poisson(1))
    means = [("mu", j) @ ~normal(0, 10) for j in range(k)]
    variances = [("var", j) @ ~inv_gamma(1, 10) for j in range(k)]
    weights = ~dirichlet([2.0] * k)
    for i in range(n):
        ("x", i) @ ~mixture_of_normals(weights, means, variances)


# --- split one cluster in two, or merge two into one -----------------------------------------------


@gen
def split_or_merge(trace):
    k = trace["k"]
    split = ~bernoulli(1.0 if k == 1 else 0.5)
    if split:
        cluster_to_split = ~uniform_discrete(0, k - 1)
        u1 = ~beta(2, 2)
        u2 = ~beta(2, 2)
        u3 = ~beta(1, 1)
    else:
        cluster_to_merge = ~uniform_discrete(0, k - 2)


def split_parameters(w, mu, var, u1, u2, u3):
    """Two clusters with the weight, mean and variance of one, apart by u2 and shared out by u1, u3."""
    w1, w2 = w * u1, w * (1 - u1)
    mu1 = mu - u2 * math.sqrt(var * w2 / w1)
    mu2 = mu + u2 * math.sqrt(var * w1 / w2)
    var1 = u3 * (1 - u2**2) * var * w / w1
    var2 = (1 - u3) * (1 - u2**2) * var * w / w2
    return w1, mu1, var1, w2, mu2, var2


def merge_parameters(w1, mu1, var1, w2, mu2, var2):
    """The inverse of `split_parameters`."""
    w = w1 + w2
    mu = (w1 * mu1 + w2 * mu2) / w
    var = (w1 * (mu1**2 + var1) + w2 * (mu2**2 + var2)) / w - mu**2
    u1 = w1 / w
    u2 = (mu - mu1) / math.sqrt(var * w2 / w1)
    u3 = var1 * w1 / ((1 - u2**2) * var * w)
    return w, mu, var, u1, u2, u3


@transform
def split_merge(model_in, aux_in, *, model_out, aux_out):
    k = read(model_in["k"], discrete)
    weights = list(read(model_in["weights"], continuous))
    split = read(aux_in["split"], discrete)
    write(aux_out["split"], not split, discrete)
    if split:
        j = read(aux_in["cluster_to_split"], discrete)
        write(aux_out["cluster_to_merge"], j, discrete)
        write(model_out["k"], k + 1, discrete)
        mu = read(model_in["mu", j], continuous)
        var = read(model_in["var", j], continuous)
        u1, u2, u3 = (read(aux_in[u], continuous) for u in ("u1", "u2", "u3"))
        w1, mu1, var1, w2, mu2, var2 = split_parameters(weights[j], mu, var, u1, u2, u3)
        weights[j] = w1
        weights.append(w2)
        write(model_out["mu", j], mu1, continuous)
        write(model_out["mu", k], mu2, continuous)
        write(model_out["var", j], var1, continuous)
        write(model_out["var", k], var2, continuous)
    else:
        j, last = read(aux_in["cluster_to_merge"], discrete), k - 1
        write(aux_out["cluster_to_split"], j, discrete)
        write(model_out["k"], k - 1, discrete)
        mu1, mu2 = (read(model_in["mu", i], continuous) for i in (j, last))
        var1, var2 = (read(model_in["var", i], continuous) for i in (j, last))
        w2 = weights.pop()
        w, mu, var, u1, u2, u3 = merge_parameters(weights[j], mu1, var1, w2, mu2, var2)
        weights[j] = w
        write(model_out["mu", j], mu, continuous)
        write(model_out["var", j], var, continuous)
        for name, u in (("u1", u1), ("u2", u2), ("u3", u3)):
            write(aux_out[name], u, continuous)
    write(model_out["weights"], weights, continuous)


# --- swap a random cluster with the last: the same density under another labelling -------------------


@gen
def pick_cluster(trace):
    cluster = ~uniform_discrete(0, trace["k"] - 1)


@transform
def swap(model_in, aux_in, *, model_out, aux_out):
    last = read(model_in["k"], discrete) - 1
    j = read(aux_in["cluster"], discrete)
    copy(aux_in["cluster"], aux_out["cluster"])
    if j != last:
        for name in ("mu", "var"):
            copy(model_in[name, j], model_out[name, last])
            copy(model_in[name, last], model_out[name, j])
        weights = list(read(model_in["weights"], continuous))
        weights[j], weights[last] = weights[last], weights[j]
        write(model_out["weights"], weights, continuous)


# --- moves within a model: random walks on the scale of each parameter ------------------------------


@gen
def walk_means(trace):
    for j in range(trace["k"]):
        ("mu", j) @ ~normal(trace["mu", j], 0.5)


@gen
def walk_variances(trace):
    for j in range(trace["k"]):
        ("var", j) @ ~log_normal(math.log(trace["var", j]), 0.4)


@gen
def walk_weights(trace):
    weights = ~dirichlet(1 + 150 * trace["weights"])


KERNEL = cycle(
    repeat(involutive(split_or_merge, split_merge, check=True), 5),
    involutive(pick_cluster, swap, check=True),
    mh(walk_means),
    mh(walk_variances),
    mh(walk_weights),
)


# --- run it -----------------------------------------------------------------------------------------

GRID = np.linspace(5, 40, 500)


def density(trace, grid=GRID):
    """The density of the mixture of one draw, of shape (len(grid),)."""
    k = trace["k"]
    means = np.array([trace["mu", j] for j in range(k)])
    variances = np.array([trace["var", j] for j in range(k)])
    bumps = np.exp(-((grid[:, None] - means) ** 2) / (2 * variances)) / np.sqrt(2 * np.pi * variances)
    return bumps @ trace["weights"]


def run(draws: int = 5000, seed: int = 1, progress: bool = True) -> tuple[np.ndarray, Run]:
    """The velocities and the draws of one chain."""
    velocities = np.loadtxt(DATA, skiprows=1)
    start, _ = clusters.generate(
        (len(velocities),),
        {"x": velocities},
        init={"k": 1, ("mu", 0): 20.0, ("var", 0): 20.0},
        rng=seed,
    )
    record = {"k": "k", "density": density}
    return velocities, sample(
        KERNEL, start, draws, warmup=500, record=record, seed=seed, progress=progress
    )


def draw_figure(velocities: np.ndarray, chain: Run, path: Path) -> None:
    """The data with the posterior predictive density, p(k | x), and the trace of k."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (data, posterior, history) = plt.subplots(
        1, 3, figsize=(13, 3.8), width_ratios=(2, 1, 1.4), layout="constrained"
    )
    data.hist(velocities, bins=40, density=True, color="0.85", label=f"{len(velocities)} galaxies")
    data.plot(velocities, np.full_like(velocities, -0.006), "|", color="0.4", markersize=7)
    densities = chain["density"]
    low, high = np.quantile(densities, [0.05, 0.95], axis=0)
    data.fill_between(GRID, low, high, color="C0", alpha=0.25, lw=0, label="90 % interval")
    data.plot(GRID, densities.mean(axis=0), color="C0", label="posterior predictive density")
    data.set(xlabel="velocity (1000 km/s)", ylabel="density")
    data.legend(frameon=False)

    shares = chain.frequency("k")
    posterior.bar(
        list(shares), [s.probability for s in shares.values()],
        yerr=[2 * s.standard_error for s in shares.values()], color="C0", ecolor="0.3", capsize=3,
    )  # fmt: skip
    posterior.set(xlabel="number of clusters k", ylabel="p(k | x), ± 2 standard errors")
    posterior.set_ylim(bottom=0)
    posterior.xaxis.get_major_locator().set_params(integer=True)

    history.plot(chain["k"], drawstyle="steps-post", lw=0.6, color="C0")
    history.set(xlabel="draw", ylabel="k")
    history.yaxis.get_major_locator().set_params(integer=True)
    for axes in (data, posterior, history):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def main() -> None:
    """Run the chain, print its results and draw the figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--draws", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--figure", type=Path, default=Path("galaxies.png"))
    options = parser.parse_args()

    velocities, chain = run(options.draws, seed=options.seed)
    print(chain)
    print("\nposterior of the number of clusters, with Monte Carlo standard errors")
    for k, share in chain.frequency("k").items():
        print(f"  p(k = {k:2d} | x) = {share.probability:.4f} ± {share.standard_error:.4f}")
    try:
        draw_figure(velocities, chain, options.figure)
        print(f"\nfigure: {options.figure.resolve()}")
    except ImportError:
        print("\nno figure: matplotlib is not installed (pip install 'gendsl[plot]')")


if __name__ == "__main__":
    main()
