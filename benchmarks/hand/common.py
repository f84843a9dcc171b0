"""What the moves written by hand share: a step, log densities, births and deaths, splits and merges.

A move makes the calls of the generator that gendsl's kernel makes, in the same order, so that chains of the
two from one seed are the same chain. What can be worked out on paper is, and what a step doesn't change is
kept: sums over the data, columns of a regression, prefix sums of a series.
"""

from __future__ import annotations

import math
from math import lgamma, log
from typing import Any

import numpy as np

LOG_2PI = math.log(2.0 * math.pi)
INF = math.inf


class Hand:
    """A move: `propose` draws and scores, `keep` makes what was proposed the state.

    Made from a trace of its model. The state is in attributes, and so is what is kept about it.

    Attributes:
        looks_at: what of the data, or of as many latent choices, a proposal is scored by, whatever the state:
            "all", a "part" that grows with their number, or a "few". The last two are moves that a hand
            makes incrementally.
    """

    new: Any = None
    looks_at = "all"

    def propose(self, rng: np.random.Generator) -> float:
        """The log acceptance ratio of a proposal, which waits in `new`; None there is the state itself."""
        raise NotImplementedError

    def keep(self) -> None:
        """Take the proposal for the state."""
        raise NotImplementedError

    def step(self, rng: np.random.Generator) -> tuple[bool, float]:
        """Whether the proposal was accepted, and its log ratio."""
        ratio = self.propose(rng)
        accepted = rng.random() < math.exp(min(ratio, 0.0))
        if accepted and self.new is not None:
            self.keep()
        return accepted, ratio


# --- draws and log densities ----------------------------------------------------------------------


def pick(rng: np.random.Generator, n: int) -> int:
    """One of 0, ..., n - 1."""
    return int(n * rng.random())


def index(rng: np.random.Generator, probabilities: list[float]) -> int:
    """An index with these probabilities."""
    u = rng.random()
    for i, p in enumerate(probabilities):
        u -= p
        if u < 0.0:
            return i
    return len(probabilities) - 1


def log_normal(x: float, mean: float, sd: float) -> float:
    z = (x - mean) / sd
    return -0.5 * z * z - log(sd) - 0.5 * LOG_2PI


def log_gamma(x: float, shape: float, scale: float) -> float:
    return (shape - 1.0) * log(x) - x / scale - shape * log(scale) - lgamma(shape) if x > 0.0 else -INF


def log_beta(x: float, a: float, b: float) -> float:
    if not 0.0 < x < 1.0:
        return -INF
    return (a - 1.0) * log(x) + (b - 1.0) * math.log1p(-x) + lgamma(a + b) - lgamma(a) - lgamma(b)


def log_normals(squares: float, n: int, sd: float) -> float:
    """Of n normal numbers with this standard deviation: `squares` is the sum of their squared deviations."""
    return -0.5 * squares / (sd * sd) - n * (log(sd) + 0.5 * LOG_2PI)


def gamma_walk(new: float, old: float, shape: float) -> float:
    """log q(old | new) - log q(new | old) of the walk to gamma(shape, old / shape)."""
    return (1.0 - 2.0 * shape) * log(new / old) + shape * (new / old - old / new)


def toward(rng: np.random.Generator, now: float, shape: float) -> float:
    """A draw of that walk."""
    return float(now / shape * rng.standard_gamma(shape))


def values(trace: Any, name: Any, n: int) -> list[Any]:
    """The choices (name, 0), ..., (name, n - 1)."""
    return [trace[name, j] for j in range(n)]


def array(trace: Any, name: Any, *shape: int) -> np.ndarray:
    """The choices (name, *index) of that shape."""
    return np.array([trace[(name, *i)] for i in np.ndindex(*shape)]).reshape(*shape, -1).squeeze(-1)


def prefix(numbers: Any) -> list[float]:
    """The sums of the first 0, 1, ..., n numbers."""
    return [0.0, *np.cumsum(numbers).tolist()]


def log_normal_ratio(x: float, sd: float, other: float) -> float:
    """log N(x; 0, sd) - log N(x; 0, other)."""
    return log(other / sd) - 0.5 * x * x * (1.0 / (sd * sd) - 1.0 / (other * other))


# --- components -----------------------------------------------------------------------------------


class Components(Hand):
    """k exchangeable components, tuples of numbers, with what is kept about them and the log likelihood.

    `rescored(without, with_)` gives what is kept and the log likelihood of the proposal, where these
    components go and those come; `proposed` are all components of it.
    """

    least, most = 0, 10**9
    components: list[Any]
    kept: Any
    log_likelihood: float

    def rescored(
        self, gone: tuple[Any, ...], come: tuple[Any, ...], proposed: list[Any]
    ) -> tuple[Any, float]:
        raise NotImplementedError

    def chance_of_more(self, k: int) -> float:
        """The probability that a component more, and not one less, is proposed."""
        return 1.0 if k <= self.least else 0.0 if k >= self.most else 0.5

    def score(self, gone: tuple[Any, ...], come: tuple[Any, ...], proposed: list[Any]) -> float:
        """The log ratio of likelihoods; the proposal is in `new`."""
        kept, log_likelihood = self.rescored(gone, come, proposed)
        self.new = proposed, kept, log_likelihood
        return log_likelihood - self.log_likelihood

    def keep(self) -> None:
        self.components, self.kept, self.log_likelihood = self.new


def inserted(components: list[Any], place: int, new: Any) -> list[Any]:
    """With a new one at its place, the one that was there at the end."""
    if place == len(components):
        return [*components, new]
    return [*components[:place], new, *components[place + 1 :], components[place]]


def removed(components: list[Any], place: int) -> list[Any]:
    """Without the one at a place, the last one there instead."""
    rest, last = components[:-1], components[-1]
    if place < len(rest):
        rest[place] = last
    return rest


class BirthDeath(Components):
    """A component is born at a random place, or a random one dies; the probabilities of places cancel."""

    def draw(self, rng: np.random.Generator) -> Any:
        """A new component."""
        raise NotImplementedError

    def log_weight(self, component: Any, k: int) -> float:
        """The log of prior over proposal of one component more than k, with the prior of k."""
        raise NotImplementedError

    def draw_place(self, rng: np.random.Generator, n: int) -> int:
        return pick(rng, n)

    def propose(self, rng: np.random.Generator) -> float:
        components, k = self.components, len(self.components)
        if rng.random() < self.chance_of_more(k):
            place, new = self.draw_place(rng, k + 1), self.draw(rng)
            proposed = inserted(components, place, new)
            chances = (1.0 - self.chance_of_more(k + 1)) / self.chance_of_more(k)
            return log(chances) + self.log_weight(new, k) + self.score((), (new,), proposed)
        place = self.draw_place(rng, k)
        old = components[place]
        chances = self.chance_of_more(k - 1) / (1.0 - self.chance_of_more(k))
        proposed = removed(components, place)
        return log(chances) - self.log_weight(old, k - 1) + self.score((old,), (), proposed)


class SplitMerge(Components):
    """A random component is split, the second part at a random place; or two are merged.

    `ordered`: the pair that merges is ordered by `key`, the first part has the lower one; `adjacent`: they
    are next to each other in that order.
    """

    least = 1
    ordered = adjacent = False

    def key(self, component: Any) -> float:
        return float(component[0])

    def draw(self, rng: np.random.Generator, one: Any) -> Any:
        """The auxiliary numbers of a split."""
        raise NotImplementedError

    def split(self, one: Any, u: Any) -> tuple[Any, Any]:
        raise NotImplementedError

    def merge(self, first: Any, second: Any) -> tuple[Any, Any]:
        """What `split` makes these two of: the component and the auxiliary numbers."""
        raise NotImplementedError

    def log_weight(self, one: Any, u: Any, first: Any, second: Any, k: int) -> float:
        """The log of prior over prior and q(u), with the Jacobian, of a split of one of k components."""
        raise NotImplementedError

    def log_chances(self, k: int) -> float:
        """The log probability of a merge, pair included, over that of a split, places included."""
        pairs = k + 1.0 if self.adjacent else 2.0 if self.ordered else 1.0
        return log(pairs * (1.0 - self.chance_of_more(k + 1)) / self.chance_of_more(k))

    def propose(self, rng: np.random.Generator) -> float:
        components, k = self.components, len(self.components)
        self.new = None
        if rng.random() < self.chance_of_more(k):
            j, place = pick(rng, k), pick(rng, k + 1)
            one = components[j]
            u = self.draw(rng, one)
            first, second = self.split(one, u)
            weight = self.log_weight(one, u, first, second, k)
            if weight == -INF or (self.adjacent and not self.are_adjacent(j, first, second)):
                return -INF
            proposed = components.copy()
            proposed[j] = first
            proposed = inserted(proposed, place, second)
            return self.log_chances(k) + weight + self.score((one,), (first, second), proposed)
        i, j = self.draw_pair(rng, k)
        first, second = components[i], components[j]
        one, u = self.merge(first, second)
        weight = self.log_weight(one, u, first, second, k - 1)
        if weight == -INF:
            return -INF
        proposed = removed(components, j)
        proposed[j if i == k - 1 else i] = one
        return -self.log_chances(k - 1) - weight + self.score((first, second), (one,), proposed)

    def draw_pair(self, rng: np.random.Generator, k: int) -> tuple[int, int]:
        key, components = self.key, self.components
        if self.adjacent:
            order, at = sorted(range(k), key=lambda j: key(components[j])), int(rng.integers(k - 1))
            return order[at], order[at + 1]
        i, j = int(rng.integers(k)), int(rng.integers(k - 1))
        j += j >= i
        return (j, i) if self.ordered and key(components[i]) > key(components[j]) else (i, j)

    def are_adjacent(self, j: int, first: Any, second: Any) -> bool:
        low, high = self.key(first), self.key(second)
        return not any(low < self.key(c) < high for i, c in enumerate(self.components) if i != j)


class Curve(Components):
    """The last entry of a component is its part of the means of all data, normal with one precision.

    What is kept are the residuals.
    """

    precision: float

    def start(self, residual: np.ndarray) -> None:
        """The state, from the residuals without components."""
        self.kept = residual
        self.kept, self.log_likelihood = self.rescored((), tuple(self.components), self.components)

    def rescored(
        self, gone: tuple[Any, ...], come: tuple[Any, ...], proposed: list[Any]
    ) -> tuple[Any, float]:
        residual = self.kept
        for component in gone:
            residual = residual + component[-1]
        for component in come:
            residual = residual - component[-1]
        return residual, -0.5 * self.precision * float(residual @ residual)


class AssignedSplitMerge(SplitMerge):
    """Where points have labels: those of a component that is split are shared out, those of two are joined.

    `labels` are those of the points; `new` holds those of the proposal, too.
    """

    labels: np.ndarray

    def to_second(self, points: np.ndarray, first: Any, second: Any) -> np.ndarray:
        """The probability of each of these points to go to the second part."""
        return np.full(len(points), 0.5)

    def log_ratio_of_labels(
        self, labels: np.ndarray, proposed: list[Any], points: np.ndarray, change: tuple[Any, ...]
    ) -> float:
        """The log ratio of all that depends on the labels.

        `change` has the one component and its two parts, which of `points` are the second's, and 1 for a
        split, -1 for a merge.
        """
        raise NotImplementedError

    def propose(self, rng: np.random.Generator) -> float:
        components, labels, k = self.components, self.labels, len(self.components)
        if rng.random() < self.chance_of_more(k):
            j, place = pick(rng, k), pick(rng, k + 1)
            one, sign = components[j], 1.0
            u = self.draw(rng, one)
            first, second = self.split(one, u)
            points = np.flatnonzero(labels == j)
            p = self.to_second(points, first, second)
            to_second = rng.random(len(points)) < p
            proposed = components.copy()
            proposed[j] = first
            proposed = inserted(proposed, place, second)
            new = np.where(labels == place, k, labels) if place < k else labels.copy()
            new[points] = np.where(to_second, place, k if place == j else j)
            smaller = k
        else:
            i, j = self.draw_pair(rng, k)
            first, second, sign = components[i], components[j], -1.0
            one, u = self.merge(first, second)
            points = np.flatnonzero((labels == i) | (labels == j))
            to_second = labels[points] == j
            p = self.to_second(points, first, second)
            proposed = removed(components, j)
            at = j if i == k - 1 else i
            proposed[at] = one
            new = np.where(labels == k - 1, j, labels)
            new[points] = at
            smaller = k - 1
        weight = self.log_chances(smaller) + self.log_weight(one, u, first, second, smaller)
        weight -= float(np.log(np.where(to_second, p, 1.0 - p)).sum())
        self.new = proposed, new
        change = one, first, second, to_second, sign
        return sign * weight + self.log_ratio_of_labels(new, proposed, points, change)

    def keep(self) -> None:
        self.components, self.labels = self.new
