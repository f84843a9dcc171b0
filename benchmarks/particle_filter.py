"""A step of a particle filter for a hidden Markov model, against a loop over particles written by hand."""

from __future__ import annotations

import math

import numpy as np
from harness import Row, Scale

from gendsl import categorical, gen, normal
from gendsl.inference import extending_translator, importance_sampling

PARTICLES = 100
START, MOVE = [0.7, 0.3], [[0.8, 0.2], [0.3, 0.7]]
ROWS = [START, *MOVE]
NOISE = 0.8


@gen
def hmm(n):
    z = -1
    for t in range(n):
        z = ("z", t) @ ~categorical(ROWS[z + 1])
        ("y", t) @ ~normal(z, NOISE)


def filtered(moments: int, ys: list[float]):
    """Particles after some moments, none of them resampled."""
    rng = np.random.default_rng(1)
    particles = importance_sampling(hmm, (moments,), {"y": ys[:moments]}, PARTICLES, rng=rng)
    return particles.resample(rng=rng)


class ByHand:
    """The same particles as lists of states, and one step of each with NumPy's random numbers."""

    def __init__(self, moments: int, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.states = self.rng.integers(2, size=(PARTICLES, moments)).tolist()
        self.cumulative = np.cumsum(MOVE, axis=1)

    def step(self, y: float) -> tuple[list[list[int]], np.ndarray]:
        """States one longer, and log weights, shape (PARTICLES,); the old states stay as they are."""
        longer, log_weights = [], np.empty(PARTICLES)
        constant = -math.log(NOISE) - 0.5 * math.log(2.0 * math.pi)
        for i, states in enumerate(self.states):
            z = int(np.searchsorted(self.cumulative[states[-1]], self.rng.random(), side="right"))
            residual = (y - z) / NOISE
            log_weights[i] = constant - 0.5 * residual * residual
            longer.append([*states, z])
        return longer, log_weights


def filter_steps(scale: Scale) -> list[Row]:
    """One extension of every particle, at several numbers of moments before it."""
    rng = np.random.default_rng(2)
    rows = []
    for moments in scale.sizes(10, 100, 1000):
        ys = rng.normal(0.5, 1.0, moments + 1).tolist()
        particles, by_hand = filtered(moments, ys), ByHand(moments, 3)
        translator = extending_translator((moments + 1,), {("y", moments): ys[-1]})
        rows.append(
            Row(
                "a particle filter's step, N moments before",
                moments,
                lambda particles=particles, translator=translator: particles.translate(translator, rng=rng),
                "loop over particles",
                lambda by_hand=by_hand, y=ys[-1]: by_hand.step(y),
                units=PARTICLES,
                most_growth=2,
            )
        )
    return rows


GROUPS = {"particle-filter": filter_steps}
