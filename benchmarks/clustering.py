"""Steps of `examples/clustering.py` with N points: for one label, for one mean, a split or merge.

By hand a label is drawn from its conditional distribution, which takes one array expression; a mean takes the
density of its members, whose indices are at hand; and a split or merge has the ratio of a sampler of labels
alone, with means and weights integrated out on paper, which is the one that gendsl finds.
"""

from __future__ import annotations

import importlib.util
import itertools
import math
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
from harness import Row, Scale
from scipy.special import betaln, expit, log_expit

from gendsl import select
from gendsl.inference import gibbs, involutive, random_walk

EXAMPLE = Path(__file__).parents[1] / "examples" / "clustering.py"
NAME = "clustering_example"


def example() -> ModuleType:
    """The module examples/clustering.py."""
    if NAME not in sys.modules:
        spec = importlib.util.spec_from_file_location(NAME, EXAMPLE)
        assert spec is not None and spec.loader is not None
        sys.modules[NAME] = module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return sys.modules[NAME]


def towards_second(x: np.ndarray, first: float, second: float, rounds: int = 10) -> np.ndarray:
    """The log odds of the probabilities that the function of this name in the example gives."""
    left, right, prior = first, second, 0.0
    for step in range(rounds + 1):
        odds = np.clip(prior + (right - left) * (x - (left + right) / 2), -30, 30)
        if step < rounds:
            p = expit(odds)
            inside, outside = p.sum() + 1, (1 - p).sum() + 1
            left, right = ((1 - p) @ x + first) / outside, (p @ x + second) / inside
            prior = math.log(inside / outside)
    return odds


class ByHand:
    """The same state, and the same steps from it; none changes it."""

    def __init__(self, trace) -> None:
        self.module = module = example()
        self.labels, self.x = module.labels_and_points(trace)
        sticks = module.STICKS
        self.mu = np.array([trace["mu", j] for j in range(sticks)])
        self.log_weights = np.log(module.broken_off([trace["stick", j] for j in range(sticks - 1)]))
        self.members = [np.flatnonzero(self.labels == j) for j in range(sticks)]

    def label(self, i: int, rng: np.random.Generator) -> int:
        """Another label for point i, given all else."""
        logs = self.log_weights - 0.5 * (self.x[i] - self.mu) ** 2
        upto = np.cumsum(np.exp(logs - logs.max()))
        return int(upto.searchsorted(rng.random() * upto[-1]))

    def mean(self, j: int, scale: float, rng: np.random.Generator) -> bool:
        """Whether a random walk on mean j is accepted."""
        now, members = self.mu[j], self.x[self.members[j]]
        new = now + scale * rng.standard_normal()
        apart_now, apart = members - now, members - new
        log_ratio = -0.5 * (float(apart @ apart) - float(apart_now @ apart_now))
        log_ratio -= 0.5 * (new**2 - now**2) / self.module.SPREAD**2
        return math.log(rng.random()) < log_ratio

    def log_p(self, labels: np.ndarray, a: int, b: int) -> float:
        """log p(labels, x) with sticks and means integrated out, up to what only other clusters have."""
        module = self.module
        counts = np.bincount(labels, minlength=module.STICKS)
        beyond = len(labels) - np.cumsum(counts)
        log_p = float(betaln(1 + counts, module.ALPHA + beyond)[:-1].sum())
        for j in (a, b):
            precision = 1 / module.SPREAD**2 + counts[j]
            log_p += 0.5 * self.x[labels == j].sum() ** 2 / precision - 0.5 * math.log(precision)
        return log_p

    def split_or_merge(self, first: int, second: int, rng: np.random.Generator) -> float:
        """The log acceptance ratio of a proposal for two points."""
        module, labels, x = self.module, self.labels, self.x
        a, b = int(labels[first]), int(labels[second])
        to_split = a == b
        together = labels if to_split else np.where(labels == b, a, labels)
        free = 0.5 ** np.arange(module.STICKS) * (np.bincount(together, minlength=module.STICKS) == 0)
        free /= free.sum()
        if to_split:
            b = int(rng.choice(module.STICKS, p=free))
        shared = together == a
        shared[[first, second]] = False
        members = np.flatnonzero(shared)
        odds = towards_second(x[members], float(x[first]), float(x[second]))
        if to_split:
            joins = rng.random(len(members)) < expit(odds)
            apart = labels.copy()
            apart[members[joins]] = apart[second] = b
        else:
            joins, apart = labels[members] == b, labels
        log_q = float(log_expit(np.where(joins, odds, -odds)).sum()) + math.log(free[b])
        log_ratio = self.log_p(apart, a, b) - self.log_p(together, a, b) - log_q
        return log_ratio if to_split else -log_ratio


def trace_of(n: int):
    """A trace of n points in the clusters that they were drawn from."""
    module = example()
    x, labels, _ = module.many_points(n)
    return module.start(x, labels)


def clustering(scale: Scale) -> list[Row]:
    """Steps for one label, for one mean, and splits and merges."""
    module, rows, splits = example(), [], []
    for n in scale.sizes(1000, 10_000, 100_000):
        trace, rng = trace_of(n), np.random.default_rng(1)
        by_hand, one_label = ByHand(trace), gibbs(("z", n // 2))
        rows.append(
            Row(
                f"Gibbs step for one of N labels, {module.STICKS} clusters", n,
                lambda trace=trace, rng=rng, step=one_label: step(trace, rng), "NumPy, conditional",
                lambda by_hand=by_hand, rng=rng, n=n: by_hand.label(n // 2, rng), most_growth=1.3,
            )
        )  # fmt: skip
        width = 1 / math.sqrt(len(by_hand.members[3]))
        one_mean = random_walk(select(("mu", 3)), scale=width)
        rows.append(
            Row(
                "random walk on one mean", n,
                lambda trace=trace, rng=rng, step=one_mean: step(trace, rng), "NumPy, members known",
                lambda by_hand=by_hand, rng=rng, width=width: by_hand.mean(3, width, rng),
            )
        )  # fmt: skip
        if n <= 10_000:
            splits.append(split_or_merge(n, trace, by_hand))
    rows.extend(splits)
    return rows


def split_or_merge(n: int, trace, by_hand: ByHand) -> Row:
    """Proposals for ten pairs of points, the same ones on both sides."""
    module = example()
    step = involutive(module.propose, module.split_merge)
    pairs = []
    for seed in range(10):
        aux = module.propose.simulate((trace,), rng=np.random.default_rng(seed))
        pairs.append((aux["first"], aux["other"] + (aux["other"] >= aux["first"])))
    seeds, points, rng = itertools.cycle(range(10)), itertools.cycle(pairs), np.random.default_rng(1)

    def gendsl() -> None:
        step(trace, np.random.default_rng(next(seeds)))

    def hand() -> None:
        by_hand.split_or_merge(*next(points), rng)

    return Row("split or merge of clusters", n, gendsl, "NumPy, labels alone", hand)


GROUPS = {"clustering": clustering}
