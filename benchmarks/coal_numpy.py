"""The moves of Green's change-point sampler (1995, section 4), written by hand for this one posterior.

The model is that of `examples/coal.py`: k ~ poisson(3) up to 30; steps at positions s_1 < ... < s_k, whose
density is (2k + 1)! / L^(2k + 1) prod_j (s_(j+1) - s_j) with s_0 = 0 and s_(k+1) = L; k + 1 heights
~ gamma(1, rate 200); and dates that are a Poisson process with height h_j from s_j to s_(j+1), so that their
log likelihood is sum_j (n_j log h_j - h_j (s_(j+1) - s_j)), n_j of them in that segment.

A move changes one or two segments, and so do the ratios below: nothing is computed that doesn't change. The
numbers n_j are kept in the state; a new step finds how many dates lie before it by bisection.

**The Jacobian of a birth**, of (h, u) -> (h1, h2). With a = (s - l) / (r - l) and q = (1 - u) / u, the
new heights are h1 = h q^(a - 1) and h2 = h q^a, so h2 / h1 = q and log h is a mean of log h1 and log h2 with
weights a and 1 - a. In logarithms (log h, log q) -> (log h - (1 - a) log q, log h + a log q) has determinant
a + (1 - a) = 1, and d log q / du = -1 / (u (1 - u)), so that

    |det J| = h1 h2 / (h u (1 - u)) = (h1 + h2)^2 / h,   as u = h1 / (h1 + h2).
"""

from __future__ import annotations

import math
from bisect import bisect, bisect_left
from itertools import pairwise
from typing import NamedTuple

import numpy as np

DAYS = 40_907.0
MOST = 30


class State(NamedTuple):
    """Positions of the k steps, and the k + 1 heights and numbers of dates between them."""

    positions: list[float]
    heights: list[float]
    counts: list[int]


class Birth(NamedTuple):
    """Where the new step is, and u = h1 / (h1 + h2)."""

    at: float
    u: float


class Death(NamedTuple):
    """Which step goes."""

    j: int


class Height(NamedTuple):
    """Which segment's height is multiplied by exp(log_factor)."""

    j: int
    log_factor: float


class Position(NamedTuple):
    """Which step moves, and where to, between its neighbours."""

    j: int
    at: float


def state_at(positions: list[float], heights: list[float], dates: list[float]) -> State:
    """The state with these steps and heights."""
    before = [0, *(bisect_left(dates, s) for s in positions), len(dates)]
    return State(positions, heights, [b - a for a, b in pairwise(before)])


def probability_of_birth(k: int) -> float:
    """The probability that a birth, and not a death, is proposed at k steps."""
    return 1.0 if k == 0 else 0.0 if k == MOST else 0.5


def ends(positions: list[float], j: int) -> tuple[float, float]:
    """The ends of segment j."""
    return positions[j - 1] if j > 0 else 0.0, positions[j] if j < len(positions) else DAYS


# --- the auxiliary draws ---------------------------------------------------------------------------


def draw_birth(state: State, rng: np.random.Generator) -> Birth:
    return Birth(DAYS * rng.random(), rng.random())


def draw_death(state: State, rng: np.random.Generator) -> Death:
    return Death(int(len(state.positions) * rng.random()))


def draw_birth_or_death(state: State, rng: np.random.Generator) -> Birth | Death:
    birth = rng.random() < probability_of_birth(len(state.positions))
    return draw_birth(state, rng) if birth else draw_death(state, rng)


def draw_height(state: State, rng: np.random.Generator) -> Height:
    return Height(int(len(state.heights) * rng.random()), rng.random() - 0.5)


def draw_position(state: State, rng: np.random.Generator) -> Position | None:
    k = len(state.positions)
    if k == 0:
        return None
    j = int(k * rng.random())
    left, right = ends(state.positions, j)[0], ends(state.positions, j + 1)[1]
    return Position(j, left + (right - left) * rng.random())


# --- the proposals, each with its log acceptance ratio -----------------------------------------------


def log_birth_ratio(
    k: int, left: float, at: float, right: float, h: float, h1: float, h2: float, n1: int, n2: int
) -> float:
    """The log acceptance ratio of a birth at k steps that breaks a segment with height h.

    Of the prior, in this order: k, the positions, the heights; then the likelihood; then the auxiliary
    draws, death over birth, where the 1 / (k + 1) of a death cancels the k + 1 of the prior of k; then the
    Jacobian.
    """
    before, after = at - left, right - at
    prior = (
        math.log(3.0 * (2 * k + 2) * (2 * k + 3) * before * after / (right - left))
        - 2.0 * math.log(DAYS)
        + math.log(200.0)
        - 200.0 * (h1 + h2 - h)
        - math.log(k + 1)
    )
    likelihood = n1 * math.log(h1 / h) + n2 * math.log(h2 / h) - h1 * before - h2 * after + h * (right - left)
    death, birth = 1.0 - probability_of_birth(k + 1), probability_of_birth(k)
    auxiliary = math.log(death / birth * DAYS / (k + 1))
    return prior + likelihood + auxiliary + math.log((h1 + h2) ** 2 / h)


def propose_birth(state: State, birth: Birth, dates: list[float]) -> tuple[State, float]:
    """The state after a birth, and the log acceptance ratio."""
    at, u = birth
    positions, heights, counts = (list(part) for part in state)
    j = bisect(positions, at)
    left, right = ends(positions, j)
    h, log_odds, share = heights[j], math.log((1.0 - u) / u), (at - left) / (right - left)
    h1, h2 = h * math.exp((share - 1.0) * log_odds), h * math.exp(share * log_odds)
    n1 = bisect_left(dates, at) - bisect_left(dates, left)
    n2 = counts[j] - n1
    ratio = log_birth_ratio(len(positions), left, at, right, h, h1, h2, n1, n2)
    positions.insert(j, at)
    heights[j : j + 1] = h1, h2
    counts[j : j + 1] = n1, n2
    return State(positions, heights, counts), ratio


def propose_death(state: State, death: Death, dates: list[float]) -> tuple[State, float]:
    """The state after a death, and the log acceptance ratio: that of the birth back, negated."""
    j = death.j
    positions, heights, counts = (list(part) for part in state)
    at = positions.pop(j)
    left, right = ends(positions, j)
    (h1, h2), (n1, n2) = heights[j : j + 2], counts[j : j + 2]
    share = (at - left) / (right - left)
    h = h1**share * h2 ** (1.0 - share)
    heights[j : j + 2] = (h,)
    counts[j : j + 2] = (n1 + n2,)
    ratio = log_birth_ratio(len(positions), left, at, right, h, h1, h2, n1, n2)
    return State(positions, heights, counts), -ratio


def propose_height(state: State, change: Height, dates: list[float]) -> tuple[State, float]:
    """The state with another height, and the log acceptance ratio; its Jacobian is exp(log_factor)."""
    j, log_factor = change
    left, right = ends(state.positions, j)
    heights = list(state.heights)
    h = heights[j]
    heights[j] = new = h * math.exp(log_factor)
    ratio = (state.counts[j] + 1) * log_factor - (new - h) * (right - left + 200.0)
    return state._replace(heights=heights), ratio


def propose_position(state: State, change: Position, dates: list[float]) -> tuple[State, float]:
    """The state with a step moved between its neighbours, and the log acceptance ratio."""
    j, at = change
    positions, counts = list(state.positions), list(state.counts)
    old = positions[j]
    left, right = ends(positions, j)[0], ends(positions, j + 1)[1]
    positions[j] = at
    moved = bisect_left(dates, at) - bisect_left(dates, old)
    counts[j] += moved
    counts[j + 1] -= moved
    h1, h2 = state.heights[j], state.heights[j + 1]
    prior = math.log((at - left) * (right - at) / ((old - left) * (right - old)))
    likelihood = moved * math.log(h1 / h2) - (h1 - h2) * (at - old)
    return State(positions, state.heights, counts), prior + likelihood


# --- steps -----------------------------------------------------------------------------------------

Move = Birth | Death | Height | Position
PROPOSE = {Birth: propose_birth, Death: propose_death, Height: propose_height, Position: propose_position}
DRAW = (draw_birth_or_death, draw_birth_or_death, draw_height, draw_position)


def decide(state: State, move: Move, dates: list[float], rng: np.random.Generator) -> State:
    """The next state, once the auxiliary draws are made."""
    proposal, ratio = PROPOSE[type(move)](state, move, dates)
    return proposal if ratio >= 0.0 or rng.random() < math.exp(ratio) else state


def step(state: State, dates: list[float], rng: np.random.Generator) -> State:
    """One move, picked at random: half of them change the number of steps."""
    move = DRAW[int(4 * rng.random())](state, rng)
    return state if move is None else decide(state, move, dates, rng)
