"""How many components? Richardson and Green's mixture with a hierarchical prior, on 82 galaxy velocities.

The model and the moves are those of Richardson and Green (1997, JRSS B 59, 731-792): points are allocated to
components; split/merge shares the points of one out anew, birth/death adds and removes empty components,
and all else is drawn from its conditional distribution, by proposals that are accepted with probability one.
Components have no order here; theirs are in order of their means, with k! times the density, which is the
same mixture, so that k has the same posterior. It is compared with their Table 1, and with a sampler of
another kind, written by hand, which has no jumps: it moves through partitions of the points.

    python examples/mixture_hyper.py
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

import numpy as np
from scipy.special import gammaln, logsumexp

from gendsl import (
    beta,
    categorical,
    dirichlet,
    gamma,
    gen,
    inv_gamma,
    normal,
    sample,
    uniform_discrete,
)
from gendsl.inference import Run, birth_death, cycle, mh, monte_carlo_error, split_merge

DATA = Path(__file__).parent / "data" / "galaxies.csv"
VELOCITIES = np.loadtxt(DATA, skiprows=1)
MOST = 30
MIDRANGE, RANGE = (VELOCITIES.max() + VELOCITIES.min()) / 2, float(np.ptp(VELOCITIES))
ALPHA, G, H = 2.0, 0.2, 10 / RANGE**2

PUBLISHED = dict(zip(range(3, 15), (
    0.061, 0.128, 0.182, 0.199, 0.160, 0.109, 0.071, 0.040, 0.023, 0.013, 0.006, 0.003,
), strict=True))  # fmt: skip
"""p(k | y) in Table 1 of Richardson and Green (1997), galaxy data; the same numbers are used by Drton and
Plummer (2017, JRSS B 79, 323-380)."""

# --- the model -------------------------------------------------------------------------------------


@gen
def mixture(n):
    k = ~uniform_discrete(1, MOST)
    rate = ~gamma(G, 1 / H)
    weights = ~dirichlet([1.0] * k)
    mu = [("mu", j) @ ~normal(MIDRANGE, RANGE) for j in range(k)]
    var = [("var", j) @ ~inv_gamma(ALPHA, rate) for j in range(k)]
    for i in range(n):
        z = ("z", i) @ ~categorical(weights)
        ("y", i) @ ~normal(mu[z], math.sqrt(var[z]))
    return mu, var


# --- split and merge: the weight, mean and variance of one component are those of the two ------------


@gen
def three_numbers(trace, component):
    u1 = ~beta(2, 2)
    u2 = ~beta(2, 2)
    u3 = ~beta(1, 1)
    return {"u1": u1, "u2": u2, "u3": u3}


def split(one, u):
    w, mu, var = one["weights"], one["mu"], one["var"]
    u1, u2, u3 = u["u1"], u["u2"], u["u3"]
    rest = (1 - u2**2) * var
    left = mu - u2 * math.sqrt(var * (1 - u1) / u1)
    right = mu + u2 * math.sqrt(var * u1 / (1 - u1))
    first = {"weights": w * u1, "mu": left, "var": u3 * rest / u1}
    second = {"weights": w * (1 - u1), "mu": right, "var": (1 - u3) * rest / (1 - u1)}
    return first, second


def merge(first, second):
    w = first["weights"] + second["weights"]
    u1 = first["weights"] / w
    gap = second["mu"] - first["mu"]
    mu = u1 * first["mu"] + (1 - u1) * second["mu"]
    within = u1 * first["var"] + (1 - u1) * second["var"]
    var = within + u1 * (1 - u1) * gap**2
    u2 = gap * math.sqrt(u1 * (1 - u1) / var)
    return {"weights": w, "mu": mu, "var": var}, {"u1": u1, "u2": u2, "u3": first["var"] * u1 / within}


def to_second(trace, points, first, second):
    """The probability that each point belongs to the second component, not to the first."""
    chances = []
    for i in points:
        y = trace["y", i]
        logs = [
            math.log(c["weights"]) - 0.5 * math.log(c["var"]) - (y - c["mu"]) ** 2 / (2 * c["var"])
            for c in (first, second)
        ]
        chances.append(1 / (1 + math.exp(min(max(logs[0] - logs[1], -30), 30))))
    return chances


# --- birth and death of an empty component ---------------------------------------------------------


@gen
def empty_component(trace):
    mu = ~normal(MIDRANGE, RANGE)
    var = ~inv_gamma(ALPHA, trace["rate"])
    weights = ~beta(1, trace["k"])


def make_room(others, new):
    return [w * (1 - new) for w in others]


def close_up(others, old):
    return [w / (1 - old) for w in others]


# --- draws from conditional distributions ----------------------------------------------------------


@gen
def draw_weights(trace):
    sizes = [0] * trace["k"]
    for i in range(trace.args[0]):
        sizes[trace["z", i]] += 1
    weights = ~dirichlet([1 + size for size in sizes])


@gen
def draw_means(trace):
    (_, var), (n,) = trace.retval, trace.args
    for j in range(trace["k"]):
        own = [trace["y", i] for i in range(n) if trace["z", i] == j]
        precision = 1 / RANGE**2 + len(own) / var[j]
        mean = (MIDRANGE / RANGE**2 + sum(own) / var[j]) / precision
        ("mu", j) @ ~normal(mean, 1 / math.sqrt(precision))


@gen
def draw_variances(trace):
    (mu, _), (n,) = trace.retval, trace.args
    for j in range(trace["k"]):
        squares = [(trace["y", i] - mu[j]) ** 2 for i in range(n) if trace["z", i] == j]
        ("var", j) @ ~inv_gamma(ALPHA + len(squares) / 2, trace["rate"] + sum(squares) / 2)


@gen
def draw_allocations(trace):
    (mu, var), weights = trace.retval, trace["weights"]
    for i in range(trace.args[0]):
        odds = [
            w / math.sqrt(v) * math.exp(-((trace["y", i] - m) ** 2) / (2 * v))
            for w, m, v in zip(weights, mu, var, strict=True)
        ]
        total = sum(odds)
        ("z", i) @ ~categorical([p / total for p in odds])


@gen
def draw_rate(trace):
    _, var = trace.retval
    rate = ~gamma(G + ALPHA * len(var), 1 / (H + sum(1 / v for v in var)))


CONDITIONAL = (draw_weights, draw_means, draw_variances, draw_allocations, draw_rate)


def kernel(check=False):
    """One sweep of all moves."""
    return cycle(
        *map(mh, CONDITIONAL),
        split_merge(
            "mu", "var", bijection=(split, merge), auxiliary=three_numbers, pairs="adjacent", order="mu",
            vectors=["weights"], allocations="z", allocate=to_second, check=check,
        ),
        birth_death(
            "mu", "var", propose=empty_component, vectors={"weights": (make_room, close_up)},
            allocations="z", check=check,
        ),
    )  # fmt: skip


# --- another sampler for the same posterior, without jumps -----------------------------------------


def posterior_by_partitions(y, sweeps, seed=1, fresh=3):
    """p(k | y) for k = 0, ..., 30 and its standard errors, from a chain on partitions of the points.

    Given k, a partition into t blocks of sizes c has probability k! / (k - t)! Gamma(k) / Gamma(k + n)
    prod_b c_b!, the weights and the empty components integrated out; so p(k | partition) is exact, and is
    averaged along a chain that gives points to blocks one by one (Neal 2000, algorithm 8; Miller and
    Harrison 2018, JASA 113). Means, precisions and their rate are drawn from their conditional distributions.
    """
    rng, n, ks = np.random.default_rng(seed), len(y), np.arange(MOST + 1)
    with np.errstate(divide="ignore"):
        log_p = np.array([  # p(k) k! / (k - t)! Gamma(k) / Gamma(k + n) for t and k
            np.where((ks >= max(t, 1)), gammaln(ks + 1) - gammaln(np.maximum(ks - t, 0) + 1)
                     + gammaln(np.maximum(ks, 1)) - gammaln(ks + n), -np.inf)
            for t in range(MOST + 1)
        ])  # fmt: skip
    log_v = logsumexp(log_p, axis=1)
    p_of_k = np.exp(log_p - log_v[:, None])
    new_block = np.append(np.exp(np.diff(log_v)), 0.0) / fresh
    blocks = [[float(np.mean(y)), 1 / float(np.var(y) or 1.0), n]]  # mean, precision, size
    block_of = [blocks[0]] * n
    rate, values = 1.0, y.tolist()
    p = np.empty((sweeps, MOST + 1))
    for sweep in range(sweeps):
        means = rng.normal(MIDRANGE, RANGE, (n, fresh)).tolist()
        precisions = rng.gamma(ALPHA, 1 / rate, (n, fresh)).tolist()
        uniforms = rng.random(n).tolist()
        for i, x in enumerate(values):
            block = block_of[i]
            block[2] -= 1
            candidates = [[m, s, 0] for m, s in zip(means[i], precisions[i], strict=True)]
            if block[2] == 0:
                blocks = [b for b in blocks if b is not block]
                candidates[0] = block
            odds = new_block[len(blocks)]
            everyone, total, upto = blocks + candidates, 0.0, []
            for m, s, size in everyone:
                density = math.sqrt(s) * math.exp(-0.5 * s * (x - m) ** 2)
                total += density * (size + 1 if size else odds)
                upto.append(total)
            at = uniforms[i] * total
            chosen = everyone[next(b for b, bound in enumerate(upto) if at <= bound)]
            if chosen[2] == 0:
                blocks = [*blocks, chosen]
            chosen[2] += 1
            block_of[i] = chosen
        for block in blocks:
            own = y[[b is block for b in block_of]]
            precision = 1 / RANGE**2 + block[1] * len(own)
            mean = (MIDRANGE / RANGE**2 + block[1] * own.sum()) / precision
            block[0] = rng.normal(mean, 1 / math.sqrt(precision))
            spread = rate + ((own - block[0]) ** 2).sum() / 2
            block[1] = rng.gamma(ALPHA + len(own) / 2, 1 / spread)
        rate = rng.gamma(G + ALPHA * len(blocks), 1 / (H + sum(b[1] for b in blocks)))
        p[sweep] = p_of_k[len(blocks)]
    kept = p[sweeps // 10 :]
    return kept.mean(axis=0), np.array([monte_carlo_error(column) for column in kept.T])


# --- running it ------------------------------------------------------------------------------------

GRID = np.linspace(5, 40, 400)


def density(trace, grid=GRID):
    """The density of the mixture of one draw, of shape (len(grid),)."""
    mu, var = (np.array([trace[name, j] for j in range(trace["k"])]) for name in ("mu", "var"))
    bumps = np.exp(-((grid[:, None] - mu) ** 2) / (2 * var)) / np.sqrt(2 * np.pi * var)
    return bumps @ trace["weights"]


def start(k=5, seed=1):
    """A trace with the velocities observed, the components at their quantiles."""
    at = np.quantile(VELOCITIES, (np.arange(k) + 0.5) / k)
    z = np.abs(VELOCITIES[:, None] - at).argmin(axis=1)
    init = {"k": k, "mu": at, "var": np.ones(k), "weights": np.full(k, 1 / k), "z": z, "rate": 1.0}
    return mixture.generate((len(VELOCITIES),), {"y": VELOCITIES}, init=init, rng=seed).trace


def run(draws=20_000, warmup=500, seed=1, progress=True) -> Run:
    """The draws of one chain, a sweep apart."""
    record = {"k": "k", "density": density}
    return sample(kernel(), start(), draws, warmup=warmup, record=record, seed=seed, progress=progress)


def draw_figure(chain: Run, path: Path) -> None:
    """The data with the predictive density, and p(k | y) beside the published one."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.8), width_ratios=(1.6, 1), layout="constrained")
    left.hist(VELOCITIES, bins=40, density=True, color="0.85", label=f"{len(VELOCITIES)} galaxies")
    left.plot(VELOCITIES, np.full_like(VELOCITIES, -0.006), "|", color="0.4", markersize=7)
    densities = np.asarray(chain["density"])
    low, high = np.quantile(densities, [0.05, 0.95], axis=0)
    left.fill_between(GRID, low, high, color="C0", alpha=0.25, lw=0, label="90 % interval")
    left.plot(GRID, densities.mean(axis=0), color="C0", label="predictive density")
    left.set(xlabel="velocity (1000 km/s)", ylabel="density")
    left.legend(frameon=False)

    shares = chain.frequency("k")
    right.bar(
        list(shares), [s.probability for s in shares.values()],
        yerr=[2 * s.standard_error for s in shares.values()], color="0.75", capsize=2,
        label="chain, ± 2 standard errors",
    )  # fmt: skip
    right.plot(list(PUBLISHED), list(PUBLISHED.values()), "k_", markersize=12, label="Richardson and Green")
    right.set(xlabel="number of components k", ylabel="p(k | y)", xlim=(0.4, 15.6))
    right.set_ylim(0, 1.3 * right.get_ylim()[1])  # room for the legend
    right.legend(frameon=False, markerscale=0.6)
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def in_errors(difference, error) -> str:
    """A difference in standard errors; nothing where no error can be told."""
    return f"{difference / error:+.1f}" if error > 0 else "?"


def main() -> None:
    """Run the chain and the sampler by hand, compare them with the published table, draw the figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--draws", type=int, default=20_000)
    parser.add_argument("--warmup", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--figure", type=Path, default=Path("mixture_hyper.png"))
    options = parser.parse_args()
    chain = run(options.draws, options.warmup, seed=options.seed)
    by_hand, errors = posterior_by_partitions(VELOCITIES, options.draws, seed=options.seed)
    print(f"{chain}\n\nposterior of the number of components, with Monte Carlo standard errors; in brackets")
    print("the difference from the published value, and from the sampler by hand, in standard errors")
    shares = chain.frequency("k")
    for k, published in PUBLISHED.items():
        if k in shares:
            p, error = shares[k]
            print(f"  p(k = {k:2d} | y) = {p:.4f} ± {error:.4f}   published {published:.3f} "
                  f"({in_errors(p - published, error)})   by partitions {by_hand[k]:.4f} ± {errors[k]:.4f} "
                  f"({in_errors(p - by_hand[k], math.hypot(error, errors[k]))})")  # fmt: skip
    try:
        draw_figure(chain, options.figure)
        print(f"figure: {options.figure.resolve()}")
    except ImportError:
        print("no figure: matplotlib is not installed (pip install 'gendsl[plot]')")


if __name__ == "__main__":
    main()
