"""Which predictors belong in a regression? Add, drop and swap moves, against exact model probabilities.

A coefficient exists only while its predictor is included. The moves put in a coefficient drawn from its
distribution given all others, take one out, or swap one predictor for another; none has a Jacobian to work
out. The prior is conjugate, so the probability of each of the 2^p models is known: a multivariate t density
for each. The data are the heat of hardening cement (Woods, Steinour and Starke 1932; Hald 1952), with pairs
of predictors that stand in for each other, so that models without swaps between them are far apart.

    python examples/variable_selection.py
"""

from __future__ import annotations

import argparse
import itertools
import math
from pathlib import Path

import numpy as np
from scipy.special import logsumexp
from scipy.stats import multivariate_t

from gendsl import (
    bernoulli,
    categorical,
    check_involutive,
    copy,
    discrete,
    gen,
    inv_gamma,
    normal,
    read,
    sample,
    transform,
    uniform_discrete,
    write,
)
from gendsl.inference import Run, Share, cycle, involutive, mh, monte_carlo_error

DATA = Path(__file__).parent / "data" / "hald_cement.csv"
NAMES = ("aluminate", "tri-silicate", "ferrite", "di-silicate")
SHAPE, SCALE = 2.0, 0.1  # of the prior of the noise variance
TAU = 3.0  # the prior sd of a coefficient, in noise sds

# --- the model -------------------------------------------------------------------------------------


@gen
def regression(x):
    """y_i = sum_j b_j x_ij + noise, for columns of x and y with mean 0 and variance 1; it returns b."""
    variance = ~inv_gamma(SHAPE, SCALE)
    b = [0.0] * x.shape[1]
    for j in range(len(b)):
        included = ("included", j) @ ~bernoulli(0.5)
        if included:
            b[j] = ("coefficient", j) @ ~normal(0, TAU * math.sqrt(variance))
    for i in range(len(x)):
        ("y", i) @ ~normal(sum(b[j] * x[i, j] for j in range(len(b))), math.sqrt(variance))
    return b


def model_of(trace) -> tuple[int, ...]:
    return tuple(j for j in range(trace.args[0].shape[1]) if trace["included", j])


def given_others(trace, j: int, without: int) -> tuple[float, float]:
    """Mean and sd of coefficient j given y, the variance, and all coefficients but that of `without`."""
    (x,), b = trace.args, trace.retval
    projection, precision = 0.0, 1 / TAU**2  # in units of one over the variance
    for i in range(len(x)):
        residual = trace["y", i] - sum(b[k] * x[i, k] for k in range(len(b)) if k != without)
        projection += x[i, j] * residual
        precision += x[i, j] ** 2
    return projection / precision, math.sqrt(trace["variance"] / precision)


# --- moves between models --------------------------------------------------------------------------


@gen
def pick_to_add_or_drop(trace):
    j = ~uniform_discrete(0, trace.args[0].shape[1] - 1)
    if not trace["included", j]:
        coefficient = ~normal(*given_others(trace, j, without=j))


@transform
def add_or_drop(model_in, aux_in, *, model_out, aux_out):
    j = read(aux_in["j"], discrete)
    copy(aux_in["j"], aux_out["j"])
    drop = read(model_in["included", j], discrete)
    write(model_out["included", j], not drop, discrete)
    if drop:
        copy(model_in["coefficient", j], aux_out["coefficient"])
    else:
        copy(aux_in["coefficient"], model_out["coefficient", j])


@gen
def pick_to_swap(trace):
    now = [int(trace["included", j]) for j in range(trace.args[0].shape[1])]
    size = sum(now)
    if 0 < size < len(now):
        out = ~categorical([one / size for one in now])
        into = ~categorical([(1 - one) / (len(now) - size) for one in now])
        coefficient = ~normal(*given_others(trace, into, without=out))


@transform
def swap(model_in, aux_in, *, model_out, aux_out):
    if "out" in aux_in:
        out, into = read(aux_in["out"], discrete), read(aux_in["into"], discrete)
        write(aux_out["out"], into, discrete)
        write(aux_out["into"], out, discrete)
        write(model_out["included", out], False, discrete)
        write(model_out["included", into], True, discrete)
        copy(model_in["coefficient", out], aux_out["coefficient"])
        copy(aux_in["coefficient"], model_out["coefficient", into])


# --- moves within a model: each draws from the exact conditional distribution, so all are accepted -----


@gen
def draw_coefficients(trace):
    """All of them given y and the variance, the last first: precision is lower @ lower.T."""
    (x,), variance = trace.args, trace["variance"]
    now = list(model_of(trace))
    y = np.array([trace["y", i] for i in range(len(x))])
    precision = (x[:, now].T @ x[:, now] + np.eye(len(now)) / TAU**2) / variance
    lower = np.linalg.cholesky(precision)
    mean = np.linalg.solve(precision, x[:, now].T @ y / variance)
    deviations = []  # of those already drawn, the last first
    for a in reversed(range(len(now))):
        shift = sum(low * d for low, d in zip(lower[:a:-1, a], deviations, strict=True)) / lower[a, a]
        coefficient = ("coefficient", now[a]) @ ~normal(mean[a] - shift, 1 / lower[a, a])
        deviations.append(coefficient - mean[a])


@gen
def draw_variance(trace):
    (x,), b = trace.args, trace.retval
    squares = sum(b_j**2 for b_j in b) / TAU**2
    for i in range(len(x)):
        squares += (trace["y", i] - sum(b[j] * x[i, j] for j in range(len(b)))) ** 2
    variance = ~inv_gamma(SHAPE + (len(x) + len(model_of(trace))) / 2, SCALE + squares / 2)


BETWEEN = ((pick_to_add_or_drop, add_or_drop), (pick_to_swap, swap))
KERNEL = cycle(
    *(involutive(q, f) for q, f in BETWEEN),
    mh(draw_coefficients),
    mh(draw_variance),
)

# --- the exact answer ------------------------------------------------------------------------------


def exact_models(x: np.ndarray, y: np.ndarray) -> dict[tuple[int, ...], float]:
    """p(model | y) for every set of predictors, the largest first.

    With the coefficients and the variance integrated out, y is multivariate t with 2 a degrees of freedom
    and shape matrix b / a (I + tau^2 X X^T), X the included columns; a, b are SHAPE, SCALE.
    """
    n, p = x.shape
    models = [m for size in range(p + 1) for m in itertools.combinations(range(p), size)]
    log_p = np.array([
        multivariate_t.logpdf(
            y, shape=SCALE / SHAPE * (np.eye(n) + TAU**2 * x[:, m] @ x[:, m].T), df=2 * SHAPE
        )
        for m in models
    ])  # fmt: skip
    probabilities = np.exp(log_p - logsumexp(log_p)).tolist()
    return dict(sorted(zip(models, probabilities, strict=True), key=lambda item: -item[1]))


# --- running it ------------------------------------------------------------------------------------


def read_data() -> tuple[np.ndarray, np.ndarray]:
    """The predictors, shape (13, 4), and the heat, all with mean 0 and variance 1."""
    table = np.loadtxt(DATA, delimiter=",", skiprows=1)
    table = (table - table.mean(axis=0)) / table.std(axis=0)
    return table[:, :-1], table[:, -1]


def run(x: np.ndarray, y: np.ndarray, draws: int = 4000, seed: int = 1, progress: bool = True) -> Run:
    """One chain, from the model with no predictor."""
    start = regression.generate((x,), {"y": y}, init={"included": [False] * x.shape[1]}, rng=seed).trace
    return sample(
        KERNEL, start, draws, warmup=draws // 20, record={"model": model_of}, seed=seed, progress=progress
    )


def inclusion(chain: Run, exact: dict[tuple[int, ...], float]) -> dict[int, tuple[Share, float]]:
    """For each predictor, the share of draws with it, and its exact inclusion probability."""
    found = {}
    for j in range(max(map(len, exact))):
        hits = np.array([j in model for model in chain["model"]], dtype=float)
        found[j] = (
            Share(float(hits.mean()), monte_carlo_error(hits)),
            sum(p for model, p in exact.items() if j in model),
        )
    return found


def label(model: tuple[int, ...]) -> str:
    return ", ".join(NAMES[j] for j in model) or "none"


def draw_figure(chain: Run, exact: dict[tuple[int, ...], float], path: Path) -> None:
    """Model and inclusion probabilities of the chain, beside the exact ones."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (models, predictors) = plt.subplots(
        1, 2, figsize=(11, 3.8), width_ratios=(1.4, 1), layout="constrained"
    )
    shares, shown = chain.frequency("model"), list(exact)[:8]
    rows = [(label(model), shares.get(model, Share(0.0, 0.0)), exact[model]) for model in shown]
    bars = [(NAMES[j], share, p) for j, (share, p) in inclusion(chain, exact).items()]
    for axes, entries in ((models, rows), (predictors, bars)):
        axes.barh(
            [name for name, _, _ in entries], [s.probability for _, s, _ in entries],
            xerr=[2 * s.standard_error for _, s, _ in entries], color="0.75", capsize=3,
            label="chain, ± 2 standard errors",
        )  # fmt: skip
        axes.plot([p for _, _, p in entries], range(len(entries)), "k|", markersize=15, label="exact")
        axes.invert_yaxis()
        axes.set(xlim=(0, None))
        axes.tick_params(axis="y", length=0)
        axes.spines[["top", "right"]].set_visible(False)
    models.set(xlabel="p(model | y)")
    models.legend(frameon=False, loc="lower right", markerscale=0.6)
    predictors.set(xlabel="p(included | y)")
    figure.savefig(path, dpi=150)
    plt.close(figure)


def main() -> None:
    """Check the moves, run the chain, compare it with the exact answer and draw the figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--draws", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--figure", type=Path, default=Path("variable_selection.png"))
    options = parser.parse_args()

    x, y = read_data()
    for q, f in BETWEEN:
        print(check_involutive(regression, (x,), q, f, observed="y", n=40, rng=1))
    chain, exact = run(x, y, options.draws, options.seed), exact_models(x, y)
    print(f"\n{chain}\n")
    shares = chain.frequency("model")
    for model, p in [(model, p) for model, p in exact.items() if model in shares and p > 0.01]:
        share, error = shares[model]
        print(
            f"  p({label(model)} | y) = {share:.4f} ± {error:.4f}; exact {p:.4f}, "
            f"{(share - p) / error:+.1f} standard errors"
        )
    print()
    for j, ((share, error), p) in inclusion(chain, exact).items():
        print(
            f"  p({NAMES[j]} included | y) = {share:.4f} ± {error:.4f}; exact {p:.4f}"
            + (f", {(share - p) / error:+.1f} standard errors" if 0.02 < p < 0.98 else "")
        )
    try:
        draw_figure(chain, exact, options.figure)
        print(f"\nfigure: {options.figure.resolve()}")
    except ImportError:
        print("\nno figure: matplotlib is not installed (pip install 'gendsl[plot]')")


if __name__ == "__main__":
    main()
