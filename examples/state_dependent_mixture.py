"""Which choice to move depends on the state: the paper's general pattern, in ten lines.

A signal has three levels and changes seldom; it is seen with noise. Moves at the edges of segments are the
ones that are accepted, so the auxiliary program picks a site near an edge more often than another, and the
probability of picking it is different on the way back. The correction for this comes out by itself: the
program is run on both traces. Compared with the exact answer of the forward-backward algorithm, and with
picking every site equally often.

    python examples/state_dependent_mixture.py
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from gendsl import (
    categorical,
    check_involutive,
    copy,
    discrete,
    gen,
    normal,
    read,
    sample,
    transform,
    uniform_discrete,
)
from gendsl.inference import Run, involutive, monte_carlo_error, repeat

N = 40
LEVELS = 3
START = np.full(LEVELS, 1 / LEVELS)
STEP = np.full((LEVELS, LEVELS), 0.12) + 0.64 * np.eye(LEVELS)  # from one site to the next
NOISE = 0.8

# --- the model -------------------------------------------------------------------------------------


@gen
def signal(n):
    levels, probabilities = [], START
    for i in range(n):
        level = ("z", i) @ ~categorical(probabilities)
        ("x", i) @ ~normal(level, NOISE)
        levels.append(level)
        probabilities = STEP[level]
    return levels


# --- the move --------------------------------------------------------------------------------------


def near_edges(z, weight: float) -> list[float]:
    """Probabilities of the sites; one that differs from a neighbour counts `weight` times as much."""
    weights = [1.0] * len(z)
    for i in range(1, len(z)):
        if z[i] != z[i - 1]:
            weights[i - 1] = weights[i] = weight
    total = sum(weights)
    return [w / total for w in weights]


@gen
def pick_and_propose(trace, weight):
    site = ~categorical(near_edges(trace.retval, weight))
    new = ~uniform_discrete(0, LEVELS - 1)


@transform
def swap(model_in, aux_in, *, model_out, aux_out):
    site = read(aux_in["site"], discrete)
    copy(aux_in["site"], aux_out["site"])
    copy(aux_in["new"], model_out["z", site])
    copy(model_in["z", site], aux_out["new"])


def kernel(weight: float = 5.0):
    """One move; with weight 1 every site is picked equally often."""
    return involutive(pick_and_propose, swap, (weight,), name=f"swap, edges {weight:g} times as often")


# --- the exact answer ------------------------------------------------------------------------------


def forward_backward(x: np.ndarray) -> tuple[np.ndarray, float]:
    """p(z[i] = level | x), of shape (n, levels), and the mean number of changes of level."""
    likelihood = np.exp(-0.5 * ((x[:, None] - np.arange(LEVELS)) / NOISE) ** 2)
    ahead, behind = np.ones_like(likelihood), np.ones_like(likelihood)
    for i in range(len(x)):
        ahead[i] = likelihood[i] * (START if i == 0 else ahead[i - 1] @ STEP)
        ahead[i] /= ahead[i].sum()
    for i in range(len(x) - 2, -1, -1):
        behind[i] = STEP @ (likelihood[i + 1] * behind[i + 1])
        behind[i] /= behind[i].sum()
    marginals = ahead * behind / np.sum(ahead * behind, axis=1, keepdims=True)
    pairs = ahead[:-1, :, None] * STEP * (likelihood * behind)[1:, None, :]
    pairs /= pairs.sum(axis=(1, 2), keepdims=True)
    return marginals, float(np.sum(pairs * (1 - np.eye(LEVELS))))


# --- running it ------------------------------------------------------------------------------------


def simulate_data(seed: int = 7) -> np.ndarray:
    trace = signal.simulate((N,), rng=seed)
    return np.array([trace["x", i] for i in range(N)])


def run(x: np.ndarray, weight: float = 5.0, draws: int = 1500, seed: int = 1, progress: bool = True) -> Run:
    """One chain from a level signal, 20 moves from draw to draw."""
    start = signal.generate((len(x),), {"x": x}, init={"z": np.ones(len(x), dtype=int)}).trace
    moves = repeat(kernel(weight), 20)
    record = {"z": lambda trace: np.array(trace.retval)}
    return sample(moves, start, draws, warmup=draws // 10, record=record, seed=seed, progress=progress)


def changes(chain: Run) -> np.ndarray:
    """The number of changes of level in every draw."""
    return np.sum(np.diff(chain["z"], axis=1) != 0, axis=1)


def draw_figure(x: np.ndarray, chain: Run, path: Path) -> None:
    """The data with the mean level, the chain's beside the exact one; and the numbers of changes."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.6), width_ratios=(2, 1), layout="constrained")
    marginals, mean_changes = forward_backward(x)
    z = chain["z"]
    error = np.array([monte_carlo_error(column) for column in z.T])
    left.plot(x, ".", color="0.6", label="data")
    left.plot(marginals @ np.arange(LEVELS), "k-", lw=1, label="exact mean of the level")
    left.errorbar(np.arange(len(x)), z.mean(axis=0), yerr=2 * error, fmt="o", color="C0", markersize=2.5,
                  lw=1, label="chain, ± 2 standard errors")  # fmt: skip
    left.set(xlabel="site", ylabel="level")
    left.legend(frameon=False, ncols=3, loc="upper center", bbox_to_anchor=(0.5, 1.16))
    counts = changes(chain)
    values, shares = np.unique(counts, return_counts=True)
    right.bar(values, shares / len(counts), color="C0", alpha=0.6, label="chain")
    right.axvline(mean_changes, color="k", label=f"exact mean, {mean_changes:.2f}")
    right.set(xlabel="number of changes", ylabel="posterior probability")
    right.xaxis.get_major_locator().set_params(integer=True)
    right.legend(frameon=False, ncols=2, loc="upper center", bbox_to_anchor=(0.5, 1.16))
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def main() -> None:
    """Check the move, run it with and without preference for edges, compare both with the exact answer."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--draws", type=int, default=1500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--figure", type=Path, default=Path("state_dependent_mixture.png"))
    options = parser.parse_args()

    x = simulate_data()
    marginals, mean_changes = forward_backward(x)
    means = marginals @ np.arange(LEVELS)
    report = check_involutive(signal, (9,), pick_and_propose, swap, q_args=(5.0,), observed="x", rng=1)
    print(report)
    for weight in (1.0, 5.0):
        chain = run(x, weight, options.draws, options.seed)
        counts = changes(chain)
        rows = [("number of changes", counts, mean_changes)]
        rows += [(f"level at site {i}", chain["z"][:, i], means[i]) for i in range(0, N, 5)]
        print(f"\n{chain}")
        for name, values, exact in rows:
            mean, error = values.mean(), monte_carlo_error(values)
            apart = f", {(mean - exact) / error:+.1f} standard errors" if error else ""
            print(f"  {name:<17} {mean:.3f} ± {error:.3f}; exact {exact:.3f}{apart}")
    try:
        draw_figure(x, chain, options.figure)
        print(f"\nfigure: {options.figure.resolve()}")
    except ImportError:
        print("\nno figure: matplotlib is not installed (pip install 'gendsl[plot]')")


if __name__ == "__main__":
    main()
