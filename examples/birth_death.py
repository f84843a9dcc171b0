"""A birth/death move with the paper's mistake, found by the checks; and the move put right.

The flawed move (section 6 of the paper) lets a death remove any component but a birth add only a last
one, so a death in the middle can't be undone. The corrected birth draws where to put the new component.
With no data the posterior of k is its prior, 1 + Poisson(1), and the corrected move must reproduce it.

    python examples/birth_death.py
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from scipy.stats import poisson as poisson_law

from gendsl import (
    bernoulli,
    beta,
    check_involutive,
    continuous,
    copy,
    dirichlet,
    discrete,
    gen,
    inv_gamma,
    mixture_of_normals,
    normal,
    poisson,
    read,
    sample,
    transform,
    uniform_discrete,
    write,
)
from gendsl.inference import Run, involutive


@gen
def clusters(n):
    k = ~(1 + poisson(1))
    means = [("mu", j) @ ~normal(0, 10) for j in range(k)]
    variances = [("var", j) @ ~inv_gamma(1, 10) for j in range(k)]
    weights = ~dirichlet([2.0] * k)
    for i in range(n):
        ("x", i) @ ~mixture_of_normals(weights, means, variances)


def add_weight(weights, index, new):
    """The weights with a new one put in, the others scaled down to make room."""
    scaled = [w * (1 - new) for w in weights]
    return [*scaled[:index], new, *scaled[index:]]


def delete_weight(weights, index):
    """The weights without one, the others scaled up.

    By their own sum, which is 1 - weights[index] but for rounding: dividing by that instead would leave a
    little of each rounding in the sum of the weights, and death after death would multiply it.
    """
    rest = [*weights[:index], *weights[index + 1 :]]
    total = sum(rest)
    return [w / total for w in rest]


# --- the flawed move -------------------------------------------------------------------------------


@gen
def propose_flawed(trace):
    k = trace["k"]
    is_birth = ~bernoulli(1.0 if k == 1 else 0.5)
    if is_birth:
        new_mu = ~normal(0, 10)
        new_var = ~inv_gamma(1, 10)
        new_weight = ~beta(2, 2 * k)
    else:
        deletion_idx = ~uniform_discrete(0, k - 1)


@transform
def flawed(model_in, aux_in, *, model_out, aux_out):
    k = read(model_in["k"], discrete)
    weights = list(read(model_in["weights"], continuous))
    is_birth = read(aux_in["is_birth"], discrete)
    write(aux_out["is_birth"], not is_birth, discrete)
    if is_birth:
        write(model_out["k"], k + 1, discrete)
        copy(aux_in["new_mu"], model_out["mu", k])
        copy(aux_in["new_var"], model_out["var", k])
        new = read(aux_in["new_weight"], continuous)
        write(model_out["weights"], add_weight(weights, k, new), continuous)
        write(aux_out["deletion_idx"], k, discrete)
    else:
        idx = read(aux_in["deletion_idx"], discrete)
        write(model_out["k"], k - 1, discrete)
        copy(model_in["mu", idx], aux_out["new_mu"])
        copy(model_in["var", idx], aux_out["new_var"])
        for i in range(idx + 1, k):
            copy(model_in["mu", i], model_out["mu", i - 1])
            copy(model_in["var", i], model_out["var", i - 1])
        write(aux_out["new_weight"], weights[idx], continuous)
        write(model_out["weights"], delete_weight(weights, idx), continuous)


# --- the corrected move: a birth draws its place ---------------------------------------------------


@gen
def propose(trace):
    k = trace["k"]
    is_birth = ~bernoulli(1.0 if k == 1 else 0.5)
    if is_birth:
        idx = ~uniform_discrete(0, k)
        new_mu = ~normal(0, 10)
        new_var = ~inv_gamma(1, 10)
        new_weight = ~beta(2, 2 * k)
    else:
        idx = ~uniform_discrete(0, k - 1)


@transform
def birth_death(model_in, aux_in, *, model_out, aux_out):
    k = read(model_in["k"], discrete)
    weights = list(read(model_in["weights"], continuous))
    is_birth = read(aux_in["is_birth"], discrete)
    write(aux_out["is_birth"], not is_birth, discrete)
    idx = read(aux_in["idx"], discrete)
    copy(aux_in["idx"], aux_out["idx"])
    if is_birth:
        write(model_out["k"], k + 1, discrete)
        for i in range(idx, k):
            copy(model_in["mu", i], model_out["mu", i + 1])
            copy(model_in["var", i], model_out["var", i + 1])
        copy(aux_in["new_mu"], model_out["mu", idx])
        copy(aux_in["new_var"], model_out["var", idx])
        new = read(aux_in["new_weight"], continuous)
        write(model_out["weights"], add_weight(weights, idx, new), continuous)
    else:
        write(model_out["k"], k - 1, discrete)
        copy(model_in["mu", idx], aux_out["new_mu"])
        copy(model_in["var", idx], aux_out["new_var"])
        for i in range(idx + 1, k):
            copy(model_in["mu", i], model_out["mu", i - 1])
            copy(model_in["var", i], model_out["var", i - 1])
        write(aux_out["new_weight"], weights[idx], continuous)
        write(model_out["weights"], delete_weight(weights, idx), continuous)


def run(draws: int = 10_000, seed: int = 1, progress: bool = True) -> Run:
    """The draws of one chain on the model without data."""
    start = clusters.simulate((0,), rng=seed)
    kernel = involutive(propose, birth_death, check=True)
    return sample(kernel, start, draws, warmup=100, record="k", seed=seed, progress=progress)


def draw_figure(chain: Run, path: Path) -> None:
    """The share of each k among the draws, beside the prior."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    shares = chain.frequency("k")
    figure, axes = plt.subplots(figsize=(5.5, 3.6), layout="constrained")
    axes.bar(
        list(shares), [s.probability for s in shares.values()],
        yerr=[2 * s.standard_error for s in shares.values()], color="0.75", capsize=3,
        label="birth/death chain, ± 2 standard errors",
    )  # fmt: skip
    ks = np.arange(1, max(shares) + 1)
    axes.plot(ks, poisson_law.pmf(ks - 1, 1), "k_", markersize=22, label="prior, 1 + Poisson(1)")
    axes.set(xlabel="number of components k", ylabel="probability", xticks=ks)
    axes.set_ylim(0, 1.25 * axes.get_ylim()[1])  # room for the legend
    axes.legend(frameon=False, markerscale=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def main() -> None:
    """Check both moves, run the corrected one and compare it with the prior."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--draws", type=int, default=10_000)
    parser.add_argument("--figure", type=Path, default=Path("birth_death.png"))
    options = parser.parse_args()
    print("the flawed move:")
    print(check_involutive(clusters, (3,), propose_flawed, flawed, observed="x", n=200, rng=1))
    print("\nthe corrected move:")
    print(check_involutive(clusters, (3,), propose, birth_death, observed="x", n=200, rng=1))
    chain = run(options.draws)
    print(f"\n{chain}")
    for k, share in chain.frequency("k").items():
        exact = poisson_law.pmf(k - 1, 1)
        print(f"  p(k = {k}) = {share.probability:.4f} ± {share.standard_error:.4f}; exact {exact:.4f}")
    try:
        draw_figure(chain, options.figure)
        print(f"figure: {options.figure.resolve()}")
    except ImportError:
        print("no figure: matplotlib is not installed (pip install 'gendsl[plot]')")


if __name__ == "__main__":
    main()
