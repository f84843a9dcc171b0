"""Moves of the state-space models: what a move leaves as it is, is worked out on paper."""

from __future__ import annotations

from math import exp, log, sqrt
from typing import Any

import numpy as np

from .common import Hand, array, gamma_walk, log_normal_ratio, pick, toward, values

# --- a local level --------------------------------------------------------------------------------


class TiltLevels(Hand):
    """Steps less the slope stay as they are: the first level and the data are all that changes.

    `product` is that of the residuals of the data with the times, counted from their middle.
    """

    looks_at = "few"

    def __init__(self, trace: Any) -> None:
        (n,) = trace.args
        level = array(trace, "level", n)
        times = np.arange(n) - 0.5 * (n - 1)
        self.product = float((array(trace, "y", n) - level) @ times)
        self.squares, self.start, self.first = float(times @ times), 0.5 * (n - 1), level.tolist()[0]
        self.slope = trace["slope"] if trace["drifts"] else None
        self.precision = trace["sd", "noise"] ** -2

    def propose(self, rng: np.random.Generator) -> float:
        if self.slope is None:
            slope = 0.2 * rng.standard_normal()
            tilt, weight = slope, log_normal_ratio(slope, 0.3, 0.2)
            now: float | None = slope
        else:
            tilt, weight, now = -self.slope, -log_normal_ratio(self.slope, 0.3, 0.2), None
        first = self.first - tilt * self.start
        self.new = now, first, self.product - tilt * self.squares
        data = tilt * (tilt * self.squares - 2.0 * self.product)
        return weight - (first * first - self.first**2) / 8.0 - 0.5 * self.precision * data

    def keep(self) -> None:
        self.slope, self.first, self.product = self.new


class OneLevel(Hand):
    """A level is scored with its neighbours and its datum."""

    looks_at = "few"

    def __init__(self, trace: Any) -> None:
        (n,) = trace.args
        self.level, self.y = values(trace, "level", n), values(trace, "y", n)
        self.slope = trace["slope"] if trace["drifts"] else 0.0
        self.between, self.noise = trace["sd", "step"] ** -2, trace["sd", "noise"] ** -2

    def propose(self, rng: np.random.Generator) -> float:
        level = self.level
        t, u = pick(rng, len(level)), 0.4 * rng.standard_normal()
        x = level[t] + 0.5 * u
        slope = self.noise * (self.y[t] - x)
        slope += self.between * (level[t - 1] + self.slope - x) if t else -0.25 * x
        if t + 1 < len(level):
            slope += self.between * (level[t + 1] - self.slope - x)
        self.new = t, level[t] + u
        return float(u * slope)

    def keep(self) -> None:
        self.level[self.new[0]] = self.new[1]


class WalkSds(Hand):
    looks_at = "few"

    def __init__(self, trace: Any) -> None:
        (n,) = trace.args
        level = array(trace, "level", n)
        steps = np.diff(level) - (trace["slope"] if trace["drifts"] else 0.0)
        errors = array(trace, "y", n) - level
        self.sums = [(n - 1, float(steps @ steps)), (n, float(errors @ errors))]
        self.sds = [trace["sd", which] for which in ("step", "noise")]

    def propose(self, rng: np.random.Generator) -> float:
        ratio, self.new = 0.0, []
        for old, (n, squares) in zip(self.sds, self.sums, strict=True):
            new = toward(rng, old, 20.0)
            self.new.append(new)
            ratio += gamma_walk(new, old, 20.0) - 2.0 * (new - old) - n * log(new / old)
            ratio -= 0.5 * squares * (new**-2 - old**-2)
        return ratio

    def keep(self) -> None:
        self.sds = self.new


# --- a moving object ------------------------------------------------------------------------------

DT = 0.5
MOTION = np.kron([[1.0, DT], [0.0, 1.0]], np.eye(2))
PRECISION = np.linalg.inv(0.1 * np.array([[DT**3 / 3, DT**2 / 2], [DT**2 / 2, DT]]))
BOTH = np.kron(PRECISION, np.eye(2))


class Tracking(Hand):
    """`noise` are the steps of the states less what is expected, those of the first its values."""

    def __init__(self, trace: Any) -> None:
        (n,) = trace.args
        self.states = np.array(values(trace, "state", n))
        self.seen = np.array(values(trace, "seen", n))


class Push(Tracking):
    """All steps but the first one stay as expected, so that noise changes at one time alone."""

    looks_at = "part"

    def __init__(self, trace: Any) -> None:
        super().__init__(trace)
        states = self.states
        self.noise = np.vstack([states[:1], states[1:] - states[:-1] @ MOTION.T]).tolist()
        self.residual = np.ascontiguousarray((self.seen - states[:, :2]).T)
        self.times = DT * np.arange(len(states))
        self.squares = np.cumsum(self.times**2).tolist()

    def propose(self, rng: np.random.Generator) -> float:
        n = len(self.times)
        first = pick(rng, n)
        force = sqrt(0.02) * rng.standard_normal(2)
        self.new = first, force
        f, g = force.tolist()
        x, y, vx, vy = self.noise[first]
        size = f * f + g * g
        along, across = (PRECISION[1, 1], PRECISION[0, 1]) if first else (1.0, 0.0)
        ratio = -(f * (across * x + along * vx) + g * (across * y + along * vy) + 0.5 * along * size)
        a, b = (self.residual[:, first:] @ self.times[: n - first]).tolist()
        return float(ratio + 4.0 * (f * a + g * b - 0.5 * size * self.squares[n - 1 - first]))

    def keep(self) -> None:
        first, force = self.new
        noise = self.noise[first]
        noise[2] += force[0]
        noise[3] += force[1]
        self.residual[:, first:] -= force[:, None] * self.times[: len(self.times) - first]


class BlockOfStates(Tracking):
    def __init__(self, trace: Any) -> None:
        super().__init__(trace)
        self.moved = -(-len(self.states) // 3)
        self.score = self.log_density(self.states)

    def log_density(self, states: np.ndarray) -> float:
        noise = states[1:] - states[:-1] @ MOTION.T
        errors = self.seen - states[:, :2]
        steps = np.vdot(noise @ BOTH, noise)
        return float(-0.5 * (states[0] @ states[0] + steps + 4.0 * np.vdot(errors, errors)))

    def propose(self, rng: np.random.Generator) -> float:
        states = self.states.copy()
        states[::3] += sqrt(0.002) * rng.standard_normal((self.moved, 4))
        score = self.log_density(states)
        self.new = states, score
        return score - self.score

    def keep(self) -> None:
        self.states, self.score = self.new


# --- stochastic volatility ------------------------------------------------------------------------


class WholePath(Hand):
    """The density of the standardised path and the Jacobian of the scaling of it cancel."""

    def __init__(self, trace: Any) -> None:
        (n,) = trace.args
        self.h, self.squares = array(trace, "h", n), array(trace, "r", n) ** 2
        self.mean, self.sd = trace["mean"], trace["sd"]
        self.log_likelihood = self.score(self.h)

    def score(self, h: np.ndarray) -> float:
        return float(-0.5 * (h.sum() + self.squares @ np.exp(-h)))

    def propose(self, rng: np.random.Generator) -> float:
        shift, log_scale = 0.3 * rng.standard_normal(), 0.1 * rng.standard_normal()
        scale, old = exp(log_scale), self.mean
        mean, sd = old + shift, self.sd * scale
        h = self.h - old
        h *= scale
        h += mean
        log_likelihood = self.score(h)
        self.new = h, mean, sd, log_likelihood
        prior = 4.0 * log_scale - (sd - self.sd) / 0.1 - 0.5 * shift * (mean + old + 2.0)
        return prior + log_likelihood - self.log_likelihood

    def keep(self) -> None:
        self.h, self.mean, self.sd, self.log_likelihood = self.new


class ProposePhi(WholePath):
    def __init__(self, trace: Any) -> None:
        super().__init__(trace)
        self.phi, self.half = trace["phi"], -(-len(self.h) // 2)
        self.log_path = self.score_path(self.h, self.phi)

    def score_path(self, h: np.ndarray, phi: float) -> float:
        z = h - self.mean
        steps, rest = z[1:] - phi * z[:-1], 1.0 - phi * phi
        squares = float(z[0] ** 2 * rest + steps @ steps)
        return 0.5 * log(rest) - 0.5 * squares / self.sd**2 - 0.5 * ((phi - 0.8) / 0.2) ** 2

    def propose(self, rng: np.random.Generator) -> float:
        phi = 0.5 + 0.49 * rng.random()
        h = self.h.copy()
        h[::2] += 0.1 * rng.standard_normal(self.half)
        log_path, log_likelihood = self.score_path(h, phi), self.score(h)
        self.new = h, phi, log_path, log_likelihood
        return log_path - self.log_path + log_likelihood - self.log_likelihood

    def keep(self) -> None:
        self.h, self.phi, self.log_path, self.log_likelihood = self.new


MOVES = [
    ("local_level", 0, TiltLevels),
    ("local_level", 1, OneLevel),
    ("local_level", "walk_sds", WalkSds),
    ("tracking", 0, Push),
    ("tracking", "block_of_states", BlockOfStates),
    ("volatility", 0, WholePath),
    ("volatility", "propose_phi", ProposePhi),
]
