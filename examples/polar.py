"""A point in polar or in cartesian coordinates: a deterministic move between two parametrisations.

The model describes a point either by (r, theta) or by (x, y), and its first coordinate is observed with
noise. The move rewrites one description as the other; its Jacobian, r or 1/r, is found automatically. The
posterior probability of the description is compared with numerical integration.

    python examples/polar.py
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

import numpy as np
from scipy.integrate import simpson
from scipy.stats import gamma as gamma_law
from scipy.stats import norm

from gendsl import (
    bernoulli,
    continuous,
    discrete,
    gamma,
    gen,
    normal,
    read,
    sample,
    select,
    transform,
    uniform,
    write,
)
from gendsl.inference import Run, cycle, involutive, mh

NOISE = 0.5
OBSERVED = 1.2


@gen
def point():
    polar = ~bernoulli(0.5)
    if polar:
        r = ~gamma(2, 1)
        theta = ~uniform(-math.pi, math.pi)
        x = r * math.cos(theta)
    else:
        x = ~normal(0, 1)
        y = ~normal(0, 2)
    z = ~normal(x, NOISE)


@transform
def switch(model_in, *, model_out):
    polar = read(model_in["polar"], discrete)
    write(model_out["polar"], not polar, discrete)
    if polar:
        r, theta = read(model_in["r"], continuous), read(model_in["theta"], continuous)
        write(model_out["x"], r * math.cos(theta), continuous)
        write(model_out["y"], r * math.sin(theta), continuous)
    else:
        x, y = read(model_in["x"], continuous), read(model_in["y"], continuous)
        write(model_out["r"], math.sqrt(x**2 + y**2), continuous)
        write(model_out["theta"], math.atan2(y, x), continuous)


def draw_again(trace, rng):
    """Draw the coordinates of the current description anew from the prior."""
    coordinates = select("r", "theta") if trace["polar"] else select("x", "y")
    return mh(coordinates, name="draw again")(trace, rng)


KERNEL = cycle(involutive(None, switch, check=True), draw_again)


def exact_probability_of_polar() -> float:
    """p(polar | z), by numerical integration over r and theta."""
    r, theta = np.linspace(0, 40, 4001), np.linspace(-math.pi, math.pi, 200, endpoint=False)
    over_theta = norm.pdf(OBSERVED, r[:, None] * np.cos(theta), NOISE).mean(axis=1)
    polar = simpson(gamma_law.pdf(r, 2) * over_theta, x=r)
    cartesian = norm.pdf(OBSERVED, 0, math.sqrt(1 + NOISE**2))
    return float(polar / (polar + cartesian))


def coordinates(trace) -> tuple[float, float]:
    """The point in cartesian coordinates."""
    if trace["polar"]:
        return trace["r"] * math.cos(trace["theta"]), trace["r"] * math.sin(trace["theta"])
    return trace["x"], trace["y"]


def run(draws: int = 20_000, seed: int = 1, progress: bool = True) -> Run:
    """The draws of one chain."""
    start, _ = point.generate((), {"z": OBSERVED}, rng=seed)
    record = {"polar": "polar", "point": lambda trace: np.array(coordinates(trace))}
    return sample(KERNEL, start, draws, warmup=100, record=record, seed=seed, progress=progress)


def draw_figure(chain: Run, path: Path) -> None:
    """The sampled points, by the description they were drawn in."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(8, 4), layout="constrained", sharex=True, sharey=True)
    for panel, polar, name in ((axes[0], True, "polar"), (axes[1], False, "cartesian")):
        points = chain["point"][chain["polar"] == polar]
        panel.plot(*points.T, ".", ms=1.5, alpha=0.4, color="C0")
        panel.axvline(OBSERVED, color="0.3", lw=0.8, ls="--")
        panel.set(title=f"{name}, {len(points) / len(chain):.1%} of draws", xlabel="x", aspect="equal")
        panel.set(xlim=(-4, 6), ylim=(-6, 6))
        panel.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("y")
    figure.savefig(path, dpi=150)
    plt.close(figure)


def main() -> None:
    """Run the chain, compare it with the exact answer and draw the figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--draws", type=int, default=20_000)
    parser.add_argument("--figure", type=Path, default=Path("polar.png"))
    options = parser.parse_args()
    chain = run(options.draws)
    exact = exact_probability_of_polar()
    share = chain.frequency("polar")[True]
    print(chain)
    print(f"\np(polar | z) = {share.probability:.4f} ± {share.standard_error:.4f}; exact {exact:.4f} "
          f"({(share.probability - exact) / share.standard_error:+.1f} standard errors)")  # fmt: skip
    try:
        draw_figure(chain, options.figure)
        print(f"figure: {options.figure.resolve()}")
    except ImportError:
        print("no figure: matplotlib is not installed (pip install 'gendsl[plot]')")


if __name__ == "__main__":
    main()
