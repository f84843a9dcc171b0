"""Moves of the sums of sinusoids: residuals and each tone's signal are kept."""

from __future__ import annotations

from math import cos, log, pi, sin
from typing import Any

import numpy as np

from .common import (
    INF,
    LOG_2PI,
    BirthDeath,
    Curve,
    gamma_walk,
    log_normal,
    log_normal_ratio,
    pick,
    toward,
    values,
)


class Tones(Curve):
    """A component is (omega, a, b, signal)."""

    def __init__(self, trace: Any) -> None:
        (n,) = trace.args
        k = trace["k"]
        self.t = np.arange(float(n))
        self.precision = trace["sigma"] ** -2
        numbers = zip(*(values(trace, name, k) for name in ("omega", "a", "b")), strict=True)
        self.components = [self.component(*each) for each in numbers]
        self.start(np.array(values(trace, "y", n)))

    def component(self, omega: float, a: float, b: float) -> tuple[Any, ...]:
        angle = omega * self.t
        return omega, a, b, a * np.cos(angle) + b * np.sin(angle)


class ToneBirths(Tones, BirthDeath):
    most = 4

    def draw(self, rng: np.random.Generator) -> Any:
        return self.component(pi * rng.random(), 0.7 * rng.standard_normal(), 0.7 * rng.standard_normal())

    def log_weight(self, component: Any, k: int) -> float:
        _, a, b, _ = component
        return log_normal_ratio(a, 1.5, 0.7) + log_normal_ratio(b, 1.5, 0.7)


class Detune(Tones):
    """The prior of a and b doesn't change when they are turned."""

    def propose(self, rng: np.random.Generator) -> float:
        k = len(self.components)
        self.new = None
        if not k:
            return 0.0
        j, shift, turn = pick(rng, k), 0.02 * rng.standard_normal(), 0.2 * rng.standard_normal()
        omega, a, b, _ = old = self.components[j]
        if not 0.0 <= omega + shift <= pi:
            return -INF
        c, s = cos(turn), sin(turn)
        proposed = self.components.copy()
        proposed[j] = new = self.component(omega + shift, c * a - s * b, s * a + c * b)
        return self.score((old,), (new,), proposed)


class Amplitudes(Curve):
    """A component is (frequency, amplitude, phase, signal)."""

    def __init__(self, trace: Any) -> None:
        self.t, noise = trace.args
        self.precision, k = noise**-2, trace["extra"] + 1
        numbers = zip(*(values(trace, name, k) for name in ("frequency", "amplitude", "phase")), strict=True)
        self.components = [self.component(*each) for each in numbers]
        self.start(trace["y"])

    def component(self, frequency: float, amplitude: float, phase: float) -> tuple[Any, ...]:
        signal = frequency * self.t
        signal += phase
        np.cos(signal, out=signal)
        signal *= amplitude
        return frequency, amplitude, phase, signal

    @staticmethod
    def inside(*components: Any) -> bool:
        return all(0.0 <= c[0] <= pi and -pi <= c[2] <= pi for c in components)


class BreakTone(Amplitudes):
    """The second of two tones is the last, so that a break and a join have equal choices of a tone."""

    @staticmethod
    def log_break(k: int, one: Any, df: float, dp: float) -> float:
        """The prior of the amplitudes doesn't change; the Jacobian is 2 amplitude 2."""
        chances = log(0.5 if k > 1 else 0.25)  # of one tone more, and of a join over a break
        return chances - log(pi) - LOG_2PI + log(4.0 * one[1] / 8.0) + 8.0 * df - log_normal(dp, 0.0, 0.5)

    def propose(self, rng: np.random.Generator) -> float:
        components, k = self.components, len(self.components)
        self.new = None
        if rng.random() < (0.5 if k > 1 else 1.0):
            j, df, r, dp = (
                pick(rng, k),
                rng.standard_exponential() / 8.0,
                rng.random(),
                0.5 * rng.standard_normal(),
            )
            f, a, p, _ = one = components[j]
            first = self.component(f - df, a * r, p - dp)
            second = self.component(f + df, a * (1.0 - r), p + dp)
            if not self.inside(first, second):
                return -INF
            proposed = [*components, second]
            proposed[j] = first
            return self.log_break(k, one, df, dp) + self.score((one,), (first, second), proposed)
        j = pick(rng, k - 1)
        first, second = components[j], components[-1]
        df, dp = 0.5 * (second[0] - first[0]), 0.5 * (second[2] - first[2])
        if df < 0.0:
            return -INF
        one = self.component(0.5 * (first[0] + second[0]), first[1] + second[1], 0.5 * (first[2] + second[2]))
        proposed = components[:-1]
        proposed[j] = one
        return -self.log_break(k - 1, one, df, dp) + self.score((first, second), (one,), proposed)


class WalkTones(Amplitudes):
    def propose(self, rng: np.random.Generator) -> float:
        ratio, proposed = 0.0, []
        for f, a, p, _ in self.components:
            frequency = f + 0.02 * rng.standard_normal()
            amplitude, phase = toward(rng, a, 60.0), p + 0.1 * rng.standard_normal()
            ratio += gamma_walk(amplitude, a, 60.0) - (amplitude - a)
            proposed.append((frequency, amplitude, phase))
        if not self.inside(*proposed):
            return -INF
        proposed = [self.component(*each) for each in proposed]
        return ratio + self.score(tuple(self.components), tuple(proposed), proposed)


MOVES = [
    ("cosines_and_sines", 0, ToneBirths),
    ("cosines_and_sines", 1, Detune),
    ("amplitudes", 0, BreakTone),
    ("amplitudes", "walk_tones", WalkTones),
]
