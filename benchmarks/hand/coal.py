"""The moves of `examples/coal.py`, by those of `coal_numpy.py`."""

from __future__ import annotations

from bisect import bisect_left
from math import lgamma, log
from typing import Any

import coal_numpy as by_hand
import numpy as np
from effective_draws import example

from gendsl.inference import involutive

from .common import Hand, pick
from .pair import Pair

SCALE = 200.0


class Coal(Hand):
    def __init__(self, trace: Any) -> None:
        k = trace["k"]
        self.dates = trace["dates"].tolist()
        positions, heights = (
            [trace[name, j] for j in range(n)] for name, n in (("position", k), ("height", k + 1))
        )
        self.state = by_hand.state_at(positions, heights, self.dates)

    def draw(self, rng: np.random.Generator) -> Any:
        raise NotImplementedError

    def propose(self, rng: np.random.Generator) -> float:
        move = self.draw(rng)
        self.new = None
        if move is None:
            return 0.0
        self.new, ratio = by_hand.PROPOSE[type(move)](self.state, move, self.dates)
        return ratio

    def keep(self) -> None:
        self.state = self.new


class BirthOrDeath(Coal):
    looks_at = "few"

    def draw(self, rng: np.random.Generator) -> Any:
        return by_hand.draw_birth_or_death(self.state, rng)


class Height(Coal):
    looks_at = "few"

    def draw(self, rng: np.random.Generator) -> Any:
        return by_hand.draw_height(self.state, rng)


class Position(Coal):
    looks_at = "few"

    def draw(self, rng: np.random.Generator) -> Any:
        return by_hand.draw_position(self.state, rng)


class WithHeights(Coal):
    """Heights are from their posterior: the ratio is that of marginal likelihoods.

    The height of a segment of length d with n dates has the prior gamma(1, 1/200), the proposal gamma(1 + n,
    1 / (200 + d)): prior times likelihood over proposal is 200 n! / (200 + d)^(n + 1).
    """

    looks_at = "few"

    @staticmethod
    def log_marginal(n: int, length: float) -> float:
        return log(SCALE) + lgamma(n + 1.0) - (n + 1) * log(SCALE + length)

    def log_birth(self, k: int, left: float, at: float, right: float, n1: int, n2: int) -> float:
        before, after, days = at - left, right - at, by_hand.DAYS
        positions = log((2 * k + 2) * (2 * k + 3) * before * after / (right - left)) - 2.0 * log(days)
        death, birth = 1.0 - by_hand.probability_of_birth(k + 1), by_hand.probability_of_birth(k)
        steps = log(3.0 / (k + 1)) + log(death / birth * days / (k + 1))
        marginals = self.log_marginal(n1, before) + self.log_marginal(n2, after)
        return positions + steps + marginals - self.log_marginal(n1 + n2, right - left)

    @staticmethod
    def height(rng: np.random.Generator, n: int, length: float) -> float:
        return float(rng.standard_gamma(1.0 + n) / (SCALE + length))

    def propose(self, rng: np.random.Generator) -> float:
        positions, heights, counts = (list(part) for part in self.state)
        k = len(positions)
        if rng.random() < by_hand.probability_of_birth(k):
            at = by_hand.DAYS * rng.random()
            j = bisect_left(positions, at)
            left, right = by_hand.ends(positions, j)
            n1 = bisect_left(self.dates, at) - bisect_left(self.dates, left)
            n2 = counts[j] - n1
            heights[j : j + 1] = self.height(rng, n1, at - left), self.height(rng, n2, right - at)
            positions.insert(j, at)
            counts[j : j + 1] = n1, n2
            ratio = self.log_birth(k, left, at, right, n1, n2)
        else:
            j = pick(rng, k)
            at = positions.pop(j)
            left, right = by_hand.ends(positions, j)
            n1, n2 = counts[j : j + 2]
            heights[j : j + 2] = (self.height(rng, n1 + n2, right - left),)
            counts[j : j + 2] = (n1 + n2,)
            ratio = -self.log_birth(k - 1, left, at, right, n1, n2)
        self.new = by_hand.State(positions, heights, counts)
        return ratio


def pairs() -> list[Pair]:
    """Every move of coal.py."""
    module = example("coal")

    def start(size: int | None = None, seed: int = 1) -> Any:
        """More dates than there are, are those once more, moved a little."""
        dates = module.read_dates()
        n = size or len(dates)
        moved = np.random.default_rng(seed).uniform(-50.0, 50.0, n) * (np.arange(n) >= len(dates))
        found = np.sort(np.clip(np.resize(dates, n) + moved, 1.0, by_hand.DAYS - 1.0))
        return module.trace_of([14_000.0], [0.009 * n / 191, 0.0025 * n / 191], found)

    classes = {
        "birth_death": BirthOrDeath,
        "change_height": Height,
        "change_position": Position,
        "with_heights": WithHeights,
    }
    return [
        Pair(f"coal mining: {f.__name__}", involutive(q, f), classes[f.__name__], start, (191, 1910))
        for q, f in module.MOVES
    ]
