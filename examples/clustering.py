"""Which points belong together? A Dirichlet-process mixture with assignments, against all partitions.

Weights are broken off a stick (Sethuraman 1994), 20 times: more than ever have a point. One kernel draws
the cluster of a point given all else, which costs the number of clusters, however many points there are; the
other, in the spirit of Jain and Neal (2004), splits the cluster of two random points in two, or merges their
two clusters, and changes only their members. For six points the posterior of the partition is known: the
prior is conjugate, so that each of the 203 partitions has its probability. For 100 000 points what a step
costs is measured, and the clusters are found from a start where all points are in one.

    python examples/clustering.py
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy.special import expit, gammaln, logsumexp

from gendsl import (
    Distribution,
    beta,
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
    write,
)
from gendsl.inference import Run, cycle, gibbs, involutive, mh, repeat
from gendsl.supports import Boolean, Repeated

POINTS = np.array([-3.1, -2.2, -0.4, 0.5, 1.9, 2.8])
ALPHA = 1.0  # the concentration of the process
STICKS = 20
SPREAD = 5.0  # the prior sd of a cluster's mean; within a cluster it is 1

# --- the model -------------------------------------------------------------------------------------


def broken_off(sticks):
    """The weights: of what is left of a stick of length one, each breaks off a share; the last takes all."""
    shares = np.append(sticks, 1.0)
    return shares * np.append(1.0, np.cumprod(1.0 - shares[:-1]))


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


def mean_given(x: np.ndarray) -> tuple[float, float]:
    """Mean and sd of a cluster's mean given its members."""
    precision = 1 / SPREAD**2 + len(x)
    return float(x.sum()) / precision, 1 / math.sqrt(precision)


@gen
def sticks_given(labels):
    counts = np.bincount(labels, minlength=STICKS)
    beyond = counts.sum() - np.cumsum(counts)
    for j in range(STICKS - 1):
        ("stick", j) @ ~beta(1 + counts[j], ALPHA + beyond[j])


@gen
def draw_parameters(trace):
    labels, x = labels_and_points(trace)
    for j in range(STICKS):
        ("mu", j) @ ~normal(*mean_given(x[labels == j]))
    ... @ ~sticks_given(labels)


# --- split and merge -------------------------------------------------------------------------------


class coins(Distribution):
    """Independent tosses: entry i is True with the probability expit(logits[i])."""

    parameters = ("logits",)

    def __init__(self, logits):
        self.logits = logits

    @property
    def support(self):
        return Repeated(Boolean(), len(self.logits))

    def sample(self, rng):
        return rng.random(len(self.logits)) < expit(self.logits)

    def logpdf(self, x):
        """The sum of log expit(logits[i]) where x[i], and of log expit(-logits[i]) where not."""
        return -float(np.logaddexp(0.0, np.where(x, -self.logits, self.logits)).sum())


def towards_second(x: np.ndarray, first: float, second: float, rounds: int = 10) -> np.ndarray:
    """The log odds that each point goes with the second of two others, not with the first.

    They are those of a mixture of two clusters, fitted to all of these points by a few steps of the EM
    algorithm that start from the two. Which points are in which cluster now doesn't matter, so that they
    are the same for a split and for the merge that undoes it.
    """
    left, right, prior = first, second, 0.0
    for step in range(rounds + 1):
        odds = np.clip(prior + (right - left) * (x - (left + right) / 2), -30, 30)
        if step < rounds:
            p = expit(odds)
            inside, outside = p.sum() + 1, (1 - p).sum() + 1
            left, right = ((1 - p) @ x + first) / outside, (p @ x + second) / inside
            prior = math.log(inside / outside)
    return odds


@gen
def propose(trace):
    """Two points; if they share a cluster where a new one goes and who joins it; and new parameters."""
    labels, x = labels_and_points(trace)
    first = ~uniform_discrete(0, len(x) - 1)
    other = ~uniform_discrete(0, len(x) - 2)
    second = other + (other >= first)
    a, b = labels[[first, second]].tolist()
    to_split = a == b
    if to_split:
        chances = np.where(np.bincount(labels, minlength=STICKS) == 0, 0.5 ** np.arange(STICKS), 0.0)
        if not chances.any():
            return None
        b = "place" @ ~categorical(chances / chances.sum())
    shared = (labels == a) | (labels == b)
    shared[[first, second]] = False
    members = np.flatnonzero(shared)
    if to_split:
        joins = ~coins(towards_second(x[members], x[first], x[second]))
    else:
        joins = labels[members] == b
    moved = np.append(members[joins], second)
    after = labels.copy()
    after[moved] = b if to_split else a
    for j in (a, b):
        ("mu", j) @ ~normal(*mean_given(x[after == j]))
    ... @ ~sticks_given(after)
    return a, b, joins, moved.tolist()


@transform
def split_merge(model_in, aux_in, *, model_out, aux_out):
    copy(aux_in["first"], aux_out["first"])
    copy(aux_in["other"], aux_out["other"])
    if aux_in.retval is None:  # no stick is left for a new cluster
        return
    a, b, joins, moved = aux_in.retval
    to_split = "place" in aux_in
    for i in moved:
        write(model_out["z", i], b if to_split else a, discrete)
    if not to_split:
        write(aux_out["place"], b, discrete)
        write(aux_out["joins"], joins, discrete)
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


def start(x: np.ndarray, seed: int = 1):
    """A trace with the points observed, all in one cluster, the other means drawn from the prior."""
    init = {"z": np.zeros(len(x), int), ("mu", 0): float(x.mean()), "stick": np.full(STICKS - 1, 0.5)}
    return clusters.generate((len(x),), {"x": x}, init=init, rng=seed).trace


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
