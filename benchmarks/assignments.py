"""A mixture of 100 clusters whose points have assigned clusters: x_i ~ normal(mu[z_i], 1).

Changing one assignment changes one point's density; changing one cluster's mean changes its members'. What
both are compared with is NumPy's density of all members of one cluster, whose indices are kept in an array;
and, for the mean, with finding them first.
"""

from __future__ import annotations

import math
from itertools import cycle

import numpy as np
from harness import Row, Scale

from gendsl import Trace, gen, normal, uniform_discrete

CLUSTERS = 100
LOG_2PI = math.log(2.0 * math.pi)


@gen
def clusters(n):
    mu = [("mu", j) @ ~normal(0, 10) for j in range(CLUSTERS)]
    for i in range(n):
        z = ("z", i) @ ~uniform_discrete(0, CLUSTERS - 1)
        ("x", i) @ ~normal(mu[z], 1)


class ByHand:
    """The log density of the members of one cluster, before and after a change of its mean."""

    def __init__(self, mu: np.ndarray, z: np.ndarray, x: np.ndarray) -> None:
        self.mu, self.z, self.x = mu, z, x
        self.members = [np.flatnonzero(z == j) for j in range(CLUSTERS)]

    def log_density(self, members: np.ndarray, mean: float) -> float:
        """Of x given its cluster's mean, and of the mean."""
        residuals = self.x[members] - mean
        likelihood = -0.5 * float(residuals @ residuals) - 0.5 * LOG_2PI * len(members)
        return likelihood - 0.005 * mean * mean - math.log(10.0) - 0.5 * LOG_2PI

    def known(self, j: int, mean: float) -> float:
        """With the members' indices at hand."""
        return self.log_density(self.members[j], mean)

    def found(self, j: int, mean: float) -> float:
        """With the members found among all points."""
        return self.log_density(np.flatnonzero(self.z == j), mean)


def trace_and_by_hand(n: int):
    """The trace of n points in clusters drawn from the model, and the same state by hand."""
    rng = np.random.default_rng(n)
    mu, z = 10.0 * rng.standard_normal(CLUSTERS), rng.integers(CLUSTERS, size=n)
    x = mu[z] + rng.standard_normal(n)
    return clusters.generate((n,), {"x": x}, init={"mu": mu, "z": z}).trace, ByHand(mu, z, x)


def assignment(scale: Scale) -> list[Row]:
    """Another cluster for one point."""
    rows = []
    for n in scale.sizes(1000, 10_000, 100_000):
        trace, by_hand = trace_and_by_hand(n)
        old = trace["z", n // 2]
        edits = cycle([{("z", n // 2): j} for j in range(CLUSTERS) if j != old])

        def update(trace=trace, edits=edits):
            return trace.update(next(edits))

        def score(by_hand=by_hand):
            return by_hand.known(7, 1.0)

        rows.append(
            Row(
                "update of one assignment z_i of N", n, update, "re-score of a cluster", score,
                most_ratio=3.0 if n == 100_000 else None, most_growth=1.3,
            )
        )  # fmt: skip
    return rows


def cluster_mean(scale: Scale) -> list[Row]:
    """Another mean for one of the clusters."""
    n = scale.sizes(100_000)[0]
    trace, by_hand = trace_and_by_hand(n)
    mean = by_hand.mu[7] + 0.1

    def update() -> None:
        trace.update({("mu", 7): mean})

    work = f"update of one of {CLUSTERS} cluster means"
    accepted = Accepted(trace, by_hand)
    return [
        Row(work, n, update, "members known", lambda: by_hand.known(7, mean), most_ratio=3.0),
        Row(work, n, update, "members searched", lambda: by_hand.found(7, mean)),
        Row("update of one mean after another", n, accepted.update, "members known", accepted.score),
    ]


class Accepted:
    """Updates of one mean after another, each of the trace that the last one made."""

    def __init__(self, trace: Trace, by_hand: ByHand) -> None:
        self.trace, self.by_hand = trace, by_hand
        self.updates = cycle([(j, float(by_hand.mu[j]) + d) for d in (0.1, 0.0) for j in range(CLUSTERS)])

    def update(self) -> None:
        j, mean = next(self.updates)
        self.trace = self.trace.update({("mu", j): mean}).trace

    def score(self) -> float:
        return self.by_hand.known(*next(self.updates))


GROUPS = {"assignment": assignment, "cluster-mean": cluster_mean}
