"""Moves that change one or two of many choices: their cost must not depend on how many there are.

Independent choices, of which an involutive move changes two; and a chain and a plate with one latent
choice and one observation per step, of which Metropolis-Hastings changes one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from harness import Row, Scale

from gendsl import (
    continuous,
    copy,
    gen,
    involutive_mcmc,
    normal,
    read,
    select,
    transform,
    uniform_discrete,
    write,
)
from gendsl.inference import mh, single_site

SIZES = 100, 1000, 10_000, 100_000, 1_000_000
NOISE = 0.5


class Chain:
    """A kernel, run from a trace on: each step starts from where the last one ended."""

    def __init__(self, kernel: Callable[[Any, np.random.Generator], Any], trace: Any, seed: int) -> None:
        self.kernel, self.trace, self.rng = kernel, trace, np.random.default_rng(seed)

    def step(self) -> None:
        self.trace = self.kernel(self.trace, self.rng)[0]


# --- two of N independent choices: one gains what the other loses ------------------------------------


@gen
def independent(n):
    for i in range(n):
        ("x", i) @ ~normal(0, 1)


@gen
def pick_two(trace):
    (n,) = trace.args
    i = ~uniform_discrete(0, n - 1)
    j = ~uniform_discrete(0, n - 2)
    amount = ~normal(0, 1)


@transform
def transfer(model_in, aux_in, *, model_out, aux_out):
    i, j, amount = (read(aux_in[name]) for name in ("i", "j", "amount"))
    copy(aux_in["i"], aux_out["i"])
    copy(aux_in["j"], aux_out["j"])
    write(aux_out["amount"], -amount, continuous)
    j += j >= i  # any other than i
    write(model_out["x", i], read(model_in["x", i], continuous) + amount, continuous)
    write(model_out["x", j], read(model_in["x", j], continuous) - amount, continuous)


def transfer_kernel(trace, rng):
    return involutive_mcmc(trace, pick_two, (), transfer, rng=rng)


class TransferByHand:
    """The same step on a list of numbers."""

    def __init__(self, x: np.ndarray, seed: int) -> None:
        self.x, self.rng = x.tolist(), np.random.default_rng(seed)

    def step(self) -> None:
        x, rng = self.x, self.rng
        i, j = int(len(x) * rng.random()), int((len(x) - 1) * rng.random())
        amount = rng.standard_normal()
        j += j >= i
        ratio = -amount * (x[i] - x[j] + amount)
        if ratio >= 0.0 or rng.random() < math.exp(ratio):
            x[i] += amount
            x[j] -= amount


def two_of_n(scale: Scale) -> list[Row]:
    """The full involutive step."""
    rows = []
    for n in scale.sizes(*SIZES):
        x = np.random.default_rng(n).standard_normal(n)
        chain = Chain(transfer_kernel, independent.generate((n,), init={"x": x}).trace, 1)
        by_hand = TransferByHand(x, 1)
        rows.append(
            Row(
                "involutive step on 2 of N independent choices", n, chain.step, "Python step", by_hand.step,
                most_us=60, most_growth=1.3,
            )
        )  # fmt: skip
    return rows


# --- one latent choice of a chain, of a plate --------------------------------------------------------


@gen
def random_walk(n):
    x = 0.0
    for t in range(n):
        x = ("x", t) @ ~normal(x, 1)
        ("y", t) @ ~normal(x, NOISE)


@gen
def plate(n):
    for t in range(n):
        x = ("x", t) @ ~normal(0, 1)
        ("y", t) @ ~normal(x, NOISE)


def one_site(trace, rng):
    """The same as `single_site` with a kernel that is made anew in every step."""
    (n,) = trace.args
    t = int(n * rng.random())
    return mh(select(("x", t)))(trace, rng)


def one_regenerate(trace, rng):
    """The same proposal, always taken."""
    (n,) = trace.args
    t = int(n * rng.random())
    return trace.regenerate(select(("x", t)), rng=rng)


class OneSiteByHand:
    """The same step on a list of latent values and one of observations."""

    def __init__(self, x: np.ndarray, y: np.ndarray, chained: bool, seed: int) -> None:
        self.x, self.y, self.chained = x.tolist(), y.tolist(), chained
        self.rng = np.random.default_rng(seed)

    def propose(self) -> tuple[int, float, float]:
        """Which value, the new one, and the log ratio of the densities of what depends on it."""
        x, rng = self.x, self.rng
        t = int(len(x) * rng.random())
        old, y = x[t], self.y[t]
        new = rng.standard_normal()
        if self.chained and t > 0:
            new += x[t - 1]
        ratio = ((y - old) ** 2 - (y - new) ** 2) / (2.0 * NOISE**2)
        if self.chained and t + 1 < len(x):
            ratio += 0.5 * ((x[t + 1] - old) ** 2 - (x[t + 1] - new) ** 2)
        return t, new, ratio

    def step(self) -> None:
        t, new, ratio = self.propose()
        if ratio >= 0.0 or self.rng.random() < math.exp(ratio):
            self.x[t] = new

    def regenerate(self) -> float:
        t, self.x[t], ratio = self.propose()
        return ratio


def site_rows(scale: Scale, model: Any, name: str) -> list[Row]:
    """The Metropolis-Hastings step on a latent choice drawn at random, proposed from the prior; the same with
    a kernel made in every step; and the regenerate alone: at every N."""
    steps, made, alone = [], [], []
    kernel = single_site(select("x"))
    for n in scale.sizes(*SIZES):
        rng = np.random.default_rng(n)
        x = rng.standard_normal(n)
        if model is random_walk:
            x = np.cumsum(x)
        y = x + NOISE * rng.standard_normal(n)
        trace = model.generate((n,), {"y": y}, init={"x": x}).trace
        by_hand = [OneSiteByHand(x, y, model is random_walk, seed=1) for _ in range(3)]
        steps.append(
            Row(
                f"single-site MH step on a {name} of N", n, Chain(kernel, trace, 1).step, "Python step",
                by_hand[0].step, most_us=25, most_growth=1.3,
            )
        )  # fmt: skip
        made.append(
            Row(
                f"the same on a {name}, mh made each time", n, Chain(one_site, trace, 1).step, "Python step",
                by_hand[1].step, most_growth=1.3,
            )
        )  # fmt: skip
        alone.append(
            Row(
                f"single-site regenerate on a {name} of N", n, Chain(one_regenerate, trace, 1).step,
                "Python step", by_hand[2].regenerate, most_growth=1.3,
            )
        )  # fmt: skip
    return [*steps, *made, *alone]


GROUPS = {
    "two-of-n": two_of_n,
    "chain": lambda scale: site_rows(scale, random_walk, "chain"),
    "plate": lambda scale: site_rows(scale, plate, "plate"),
}
