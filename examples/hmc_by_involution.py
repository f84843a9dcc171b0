"""Hamiltonian Monte Carlo, written by a user: momentum as auxiliary program, leapfrog as transform.

HMC is an instance of involutive MCMC: draw a momentum, follow the leapfrog integrator, turn the momentum
round. Nothing says that the integrator preserves volume; log|det J| = 0 is found. Two mistakes that are
easily made, not turning round and whole steps of the momentum where half steps belong, are found by the
checks, as section 6 of the paper describes. The data are the bioassay of Racine et al. (1986), deaths of
animals at four doses, and posterior moments are compared with quadrature.

    python examples/hmc_by_involution.py
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from scipy.special import expit, log_expit

from gendsl import (
    binom,
    check_involutive,
    continuous,
    errors,
    gen,
    involutive_mcmc,
    mvnormal,
    read,
    sample,
    transform,
    write,
)
from gendsl.inference import Run, involutive, monte_carlo_error

DOSES = np.array([-0.86, -0.30, -0.05, 0.73])  # log of g/ml
DEATHS = np.array([0, 1, 3, 5])
ANIMALS = 5  # at each dose
DESIGN = np.column_stack([np.ones(4), DOSES])  # the rows are (1, dose)
PRIOR_VARIANCES = np.array([2.0, 10.0]) ** 2  # of level and slope

# --- the model -------------------------------------------------------------------------------------


@gen
def bioassay():
    theta = ~mvnormal(np.zeros(2), np.diag(PRIOR_VARIANCES))  # level and slope
    chances = expit(DESIGN @ theta)
    for i in range(len(DOSES)):
        ("deaths", i) @ ~binom(ANIMALS, chances[i])


# --- the move --------------------------------------------------------------------------------------

MASSES = np.array([1.0, 0.05])  # about one over the posterior variances


@gen
def draw_momentum(trace):
    momentum = ~mvnormal(np.zeros(2), np.diag(MASSES))


def force(theta, deaths):
    """The gradient of the log posterior density."""
    chances = 1 / (1 + np.exp(-(DESIGN @ theta)))
    return DESIGN.T @ (deaths - ANIMALS * chances) - theta / PRIOR_VARIANCES


@transform
def leapfrog(model_in, aux_in, *, model_out, aux_out, step=0.4, steps=5, first=0.5, last=0.5, turn=-1.0):
    """Follow the dynamics for `steps` steps, and turn round."""
    theta, momentum = read(model_in["theta"], continuous), read(aux_in["momentum"], continuous)
    deaths = np.array([read(model_in["deaths", i]) for i in range(len(DOSES))])
    momentum = momentum + first * step * force(theta, deaths)
    for _ in range(steps - 1):
        theta = theta + step * momentum / MASSES
        momentum = momentum + step * force(theta, deaths)
    theta = theta + step * momentum / MASSES
    momentum = momentum + last * step * force(theta, deaths)
    write(model_out["theta"], theta, continuous)
    write(aux_out["momentum"], turn * momentum, continuous)


no_turn = leapfrog.bind(turn=1.0)
no_half_steps = leapfrog.bind(first=1.0, last=0.0)
# (Whole steps at both ends would be reversible: a valid move, whose proposals are refused more often.)

KERNEL = involutive(draw_momentum, leapfrog)

# --- the exact answer ------------------------------------------------------------------------------

LEVELS, SLOPES = np.linspace(-5.98, 9.98, 400), np.linspace(-14.875, 69.875, 340)  # midpoints; 0 is no point


def posterior_on_grid() -> np.ndarray:
    """Posterior probabilities of the points of a grid, of shape (levels, slopes)."""
    eta = LEVELS[:, None, None] + SLOPES[:, None] * DOSES
    log_p = np.sum(DEATHS * log_expit(eta) + (ANIMALS - DEATHS) * log_expit(-eta), axis=-1)
    log_p -= 0.5 * (LEVELS[:, None] ** 2 / PRIOR_VARIANCES[0] + SLOPES**2 / PRIOR_VARIANCES[1])
    p = np.exp(log_p - log_p.max())
    return p / p.sum()


def quantities(level, slope) -> dict[str, np.ndarray]:
    """What is compared: moments, and the probability that most animals die of 1 g/ml."""
    return {
        "level": level,
        "slope": slope,
        "level²": level**2,
        "slope²": slope**2,
        "level · slope": level * slope,
        "P(level > 0)": (level > 0) * 1.0,
    }


def exact_means() -> dict[str, float]:
    p = posterior_on_grid()
    return {
        name: float(np.sum(p * value))
        for name, value in quantities(LEVELS[:, None], SLOPES[None, :]).items()
    }


# --- running it ------------------------------------------------------------------------------------


def start_trace():
    return bioassay.generate((), {"deaths": DEATHS}, init={"theta": np.array([0.0, 5.0])}).trace


def run(draws: int = 3000, seed: int = 1, progress: bool = True) -> tuple[Run, np.ndarray]:
    """The draws of one chain, and log|det J| of each of its steps."""
    log_dets = []

    def step(trace, rng):
        trace, info = KERNEL(trace, rng)
        log_dets.append(info.log_abs_det)
        return trace, info

    start, warmup = start_trace(), draws // 20
    chain = sample(step, start, draws, warmup=warmup, record="theta", seed=seed, progress=progress)
    return chain, np.array(log_dets)


def compare(chain: Run) -> dict[str, tuple[float, float, float]]:
    """The mean of each quantity in the chain, its standard error, and the exact mean."""
    exact = exact_means()
    return {
        name: (float(np.mean(draws)), monte_carlo_error(draws), exact[name])
        for name, draws in quantities(*chain["theta"].T).items()
    }


def mistake(f, seed: int = 1) -> errors.TransformError | None:
    """What a checked step with this transform says, or None."""
    try:
        involutive_mcmc(start_trace(), draw_momentum, (), f, check=True, rng=seed)
    except errors.TransformError as error:
        return error
    return None


def draw_figure(chain: Run, path: Path) -> None:
    """The draws and one trajectory on the posterior's contours; the slopes beside their exact density."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (plane, marginal) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    p = posterior_on_grid()
    plane.plot(*chain["theta"].T, ".", color="C0", markersize=2, alpha=0.5, label="draws")
    plane.contour(LEVELS, SLOPES, p.T, levels=p.max() * np.array([0.02, 0.1, 0.3, 0.6, 0.9]), colors="0.4",
                  linewidths=0.8)  # fmt: skip
    points = [theta := np.array([2.0, 20.0])]
    momentum = np.array([-1.0, -0.1]) + 0.5 * 0.4 * force(theta, DEATHS)
    for _ in range(5):
        points.append(theta := theta + 0.4 * momentum / MASSES)
        momentum = momentum + 0.4 * force(theta, DEATHS)
    plane.plot(*np.array(points).T, "o-", color="C3", markersize=4, label="one leapfrog trajectory")
    plane.set(xlabel="level", ylabel="slope", xlim=(-2, 5), ylim=(-3, 32))
    plane.legend(frameon=False, loc="upper left", markerscale=1.5)

    marginal.hist(chain["theta"][:, 1], bins=40, density=True, color="0.85", label="chain")
    marginal.plot(SLOPES, p.sum(axis=0) / (SLOPES[1] - SLOPES[0]), "k-", label="exact")
    marginal.set(xlabel="slope", ylabel="posterior density", xlim=(-3, 32))
    marginal.legend(frameon=False)
    for axes in (plane, marginal):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def main() -> None:
    """Check the move and its two mistakes, run the chain, compare it with quadrature, draw the figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--draws", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--figure", type=Path, default=Path("hmc_by_involution.png"))
    options = parser.parse_args()

    print(check_involutive(bioassay, (), draw_momentum, leapfrog, observed="deaths", n=25, rng=1))
    for what, f in (("without turning round", no_turn), ("without half steps", no_half_steps)):
        print(f"\n{what}:\n{mistake(f)}")
    chain, log_dets = run(options.draws, seed=options.seed)
    print(f"\n{chain}\n  largest |log|det J||: {np.max(np.abs(log_dets)):.1e}\n")
    for name, (mean, error, exact) in compare(chain).items():
        z = (mean - exact) / error
        print(f"  {name:<13} {mean:8.3f} ± {error:.3f}; exact {exact:8.3f}, {z:+.1f} standard errors")
    try:
        draw_figure(chain, options.figure)
        print(f"\nfigure: {options.figure.resolve()}")
    except ImportError:
        print("\nno figure: matplotlib is not installed (pip install 'gendsl[plot]')")


if __name__ == "__main__":
    main()
