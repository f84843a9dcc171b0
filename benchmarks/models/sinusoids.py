"""Sums of an unknown number of sinusoids: of amplitudes and phases, and of cosine and sine parts."""

from __future__ import annotations

import math

import numpy as np

from gendsl import (
    bernoulli,
    continuous,
    copy,
    discrete,
    exponential,
    gamma,
    gen,
    geometric,
    normal,
    product,
    read,
    transform,
    uniform,
    uniform_discrete,
    write,
)
from gendsl.inference import birth_death, cycle, involutive, mh

from .model import Model, Move

MOST = 4


def wave(n, rng):
    t = np.arange(n)
    return 1.5 * np.cos(0.9 * t) + 0.8 * np.sin(2.1 * t) + rng.normal(0, 0.5, n)


# --- cosine and sine parts, point by point -----------------------------------------------------------


@gen
def cosines_and_sines(n):
    k = ~uniform_discrete(0, MOST)
    tones = []
    for j in range(k):
        omega = ("omega", j) @ ~uniform(0, math.pi)
        a, b = ("a", j) @ ~normal(0, 1.5), ("b", j) @ ~normal(0, 1.5)
        tones.append((omega, a, b))
    sigma = ~gamma(3, 0.2)
    for t in range(n):
        signal = sum(a * math.cos(omega * t) + b * math.sin(omega * t) for omega, a, b in tones)
        ("y", t) @ ~normal(signal, sigma)


@gen
def new_tone(trace):
    omega = ~uniform(0, math.pi)
    a = ~normal(0, 0.7)
    b = ~normal(0, 0.7)


def tones(check=False):
    return birth_death("omega", "a", "b", propose=new_tone, most=MOST, check=check)


@gen
def detune(trace):
    k = trace["k"]
    if k > 0:
        j = ~uniform_discrete(0, k - 1)
        shift = ~normal(0, 0.02)
        turn = ~normal(0, 0.2)


@transform
def detuned(model_in, aux_in, *, model_out, aux_out):
    """A small change of one frequency, with the two parts turned by an angle."""
    if read(model_in["k"], discrete) == 0:
        return
    j = read(aux_in["j"], discrete)
    shift, turn = read(aux_in["shift"], continuous), read(aux_in["turn"], continuous)
    c, s = math.cos(turn), math.sin(turn)
    a, b = read(model_in["a", j], continuous), read(model_in["b", j], continuous)
    write(model_out["omega", j], read(model_in["omega", j], continuous) + shift, continuous)
    write(model_out["a", j], c * a - s * b, continuous)
    write(model_out["b", j], s * a + c * b, continuous)
    copy(aux_in["j"], aux_out["j"])
    write(aux_out["shift"], -shift, continuous)
    write(aux_out["turn"], -turn, continuous)


# --- amplitudes and phases, all points at once; one tone breaks into two ------------------------------


@gen
def amplitudes(t, noise):
    extra = ~geometric(0.5)
    k = extra + 1
    signal = np.zeros(len(t))
    for j in range(k):
        frequency = ("frequency", j) @ ~uniform(0, np.pi)
        amplitude = ("amplitude", j) @ ~exponential(1)
        phase = ("phase", j) @ ~uniform(-np.pi, np.pi)
        signal += amplitude * np.cos(frequency * t + phase)
    y = ~product(normal, signal, np.full(t.shape, noise))


@gen
def break_tone(trace):
    extra = trace["extra"]
    longer = ~bernoulli(0.5 if extra > 0 else 1.0)
    if longer:
        j = ~uniform_discrete(0, extra)
        df = ~exponential(8)
        r = ~uniform(0, 1)
        dp = ~normal(0, 0.5)
    else:
        j = ~uniform_discrete(0, extra - 1)


@transform
def beats(model_in, aux_in, *, model_out, aux_out):
    """A tone becomes two of nearby frequencies, the second the last; or a tone and the last become one."""
    extra = read(model_in["extra"], discrete)
    longer = read(aux_in["longer"], discrete)
    j = read(aux_in["j"], discrete)
    copy(aux_in["j"], aux_out["j"])
    write(aux_out["longer"], not longer, discrete)
    get = lambda name, i: read(model_in[name, i], continuous)  # noqa: E731
    if longer:
        new = extra + 1
        df, r, dp = (read(aux_in[name], continuous) for name in ("df", "r", "dp"))
        f, a, p = get("frequency", j), get("amplitude", j), get("phase", j)
        write(model_out["extra"], new, discrete)
        for i, sign, share in ((j, -1, r), (new, 1, 1 - r)):
            write(model_out["frequency", i], f + sign * df, continuous)
            write(model_out["amplitude", i], a * share, continuous)
            write(model_out["phase", i], p + sign * dp, continuous)
    else:
        f1, f2 = get("frequency", j), get("frequency", extra)
        a1, a2 = get("amplitude", j), get("amplitude", extra)
        p1, p2 = get("phase", j), get("phase", extra)
        write(model_out["extra"], extra - 1, discrete)
        write(model_out["frequency", j], (f1 + f2) / 2, continuous)
        write(model_out["amplitude", j], a1 + a2, continuous)
        write(model_out["phase", j], (p1 + p2) / 2, continuous)
        write(aux_out["df"], (f2 - f1) / 2, continuous)
        write(aux_out["r"], a1 / (a1 + a2), continuous)
        write(aux_out["dp"], (p2 - p1) / 2, continuous)


@gen
def walk_tones(trace):
    for j in range(trace["extra"] + 1):
        ("frequency", j) @ ~normal(trace["frequency", j], 0.02)
        ("amplitude", j) @ ~gamma(60.0, trace["amplitude", j] / 60.0)
        ("phase", j) @ ~normal(trace["phase", j], 0.1)


MODELS = [
    Model(
        "cosines_and_sines",
        cosines_and_sines,
        lambda n: (n,),
        lambda n, rng: {"y": wave(n, rng)},
        lambda n: {"k": 1, "omega": [0.9], "a": [1.5], "b": [0.0], "sigma": 0.8},
        lambda check=False: cycle(
            tones(check),
            involutive(detune, detuned, check=check),
        ),
        [Move.of(tones()), Move(detune, detuned)],
        size=10,
    ),
    Model(
        "amplitudes",
        amplitudes,
        lambda n: (np.arange(float(n)), 1.0),
        lambda n, rng: {"y": wave(n, rng)},
        lambda n: {"extra": 0, "frequency": [0.9], "amplitude": [1.5], "phase": [0.0]},
        lambda check=False: cycle(involutive(break_tone, beats, check=check), mh(walk_tones)),
        [Move(break_tone, beats)],
        size=10,
    ),
]
