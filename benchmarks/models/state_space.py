"""State-space models: a local level, a moving object in the plane, stochastic volatility."""

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
    mvnormal,
    normal,
    read,
    transform,
    truncated_normal,
    uniform,
    uniform_discrete,
    write,
)
from gendsl.inference import cycle, involutive, mh, repeat

from .model import Model, Move

# --- a local level, with a slope or without ----------------------------------------------------------


@gen
def local_level(n):
    drifts = ~bernoulli(0.5)
    slope = ("slope" @ ~normal(0, 0.3)) if drifts else 0.0
    step, noise = ("sd", "step") @ ~exponential(2), ("sd", "noise") @ ~exponential(2)
    levels = []
    for t in range(n):
        if t == 0:
            level = ("level", t) @ ~normal(0, 2)
        else:
            level = ("level", t) @ ~normal(levels[-1] + slope, step)
        levels.append(level)
        ("y", t) @ ~normal(level, noise)
    return levels


@gen
def propose_slope(trace):
    if not trace["drifts"]:
        tilt = ~normal(0, 0.2)


@transform
def tilt_levels(model_in, aux_in, *, model_out, aux_out):
    """A slope comes, and the levels are tilted by it about their middle; or it goes, as do the tilts."""
    drifts = read(model_in["drifts"], discrete)
    n = model_in.args[0]
    if drifts:
        slope = read(model_in["slope"], continuous)
        write(aux_out["tilt"], slope, continuous)
        sign = -1
    else:
        slope = read(aux_in["tilt"], continuous)
        write(model_out["slope"], slope, continuous)
        sign = 1
    write(model_out["drifts"], not drifts, discrete)
    for t in range(n):
        level = read(model_in["level", t], continuous)
        write(model_out["level", t], level + sign * slope * (t - (n - 1) / 2), continuous)


@gen
def walk_level(trace):
    t = ~uniform_discrete(0, trace.args[0] - 1)
    u = ~normal(0, 0.4)


@transform
def one_level(model_in, aux_in, *, model_out, aux_out):
    t = read(aux_in["t"])
    copy(aux_in["t"], aux_out["t"])
    write(model_out["level", t], read(model_in["level", t]) + read(aux_in["u"]))
    write(aux_out["u"], -read(aux_in["u"]))


@gen
def walk_sds(trace):
    for which in ("step", "noise"):
        ("sd", which) @ ~gamma(20, trace["sd", which] / 20)


# --- position and velocity in the plane, in arrays ---------------------------------------------------

DT = 0.5
F = np.kron(np.array([[1.0, DT], [0.0, 1.0]]), np.eye(2))  # state: x, y, velocity of x, of y
Q = np.kron(np.array([[DT**3 / 3, DT**2 / 2], [DT**2 / 2, DT]]), np.eye(2)) * 0.1
R = 0.25 * np.eye(2)


@gen
def tracking(n):
    state = np.zeros(4)
    path = np.zeros((n, 4))
    for t in range(n):
        state = ("state", t) @ ~mvnormal(F @ state, Q if t else np.eye(4))
        path[t] = state
        ("seen", t) @ ~mvnormal(path[t, :2], R)
    return path[-1]


@gen
def push(trace):
    n = trace.args[0]
    first = ~uniform_discrete(0, n - 1)
    force = ~mvnormal(np.zeros(2), 0.02 * np.eye(2))


@transform
def pushed(model_in, aux_in, *, model_out, aux_out):
    """From one time on all velocities are changed by the same force, and the positions with them."""
    n = model_in.args[0]
    first = read(aux_in["first"], discrete)
    copy(aux_in["first"], aux_out["first"])
    force = read(aux_in["force"], continuous)
    write(aux_out["force"], -force, continuous)
    for t in range(first, n):
        state = read(model_in["state", t], continuous)
        moved = np.concatenate([state[:2] + DT * (t - first) * force, state[2:] + force])
        write(model_out["state", t], moved, continuous)


@gen
def block_of_states(trace):
    n = trace.args[0]
    for t in range(n):
        if t % 3 == 0:
            ("state", t) @ ~mvnormal(trace["state", t], 0.002 * np.eye(4))


# --- stochastic volatility; parameters of an autoregression as a small class --------------------------


class Autoregression:
    def __init__(self, mean, phi, sd):
        self.mean, self.phi, self.sd = mean, phi, sd

    def stationary_sd(self):
        return self.sd / math.sqrt(1 - self.phi**2)

    def next_mean(self, h):
        return self.mean + self.phi * (h - self.mean)


@gen
def volatility(n):
    process = Autoregression(
        "mean" @ ~normal(-1, 1), "phi" @ ~truncated_normal(0.8, 0.2, -0.99, 0.99), "sd" @ ~gamma(4, 0.1)
    )
    h = ("h", 0) @ ~normal(process.mean, process.stationary_sd())
    for t in range(n):
        if t > 0:
            h = ("h", t) @ ~normal(process.next_mean(h), process.sd)
        ("r", t) @ ~normal(0, math.exp(h / 2))


@gen
def shift_and_scale(trace):
    shift = ~normal(0, 0.3)
    log_scale = ~normal(0, 0.1)


@transform
def whole_path(model_in, aux_in, *, model_out, aux_out):
    """All log volatilities are scaled about their mean and shifted, the parameters with them."""
    (n,) = model_in.args
    shift, log_scale = read(aux_in["shift"], continuous), read(aux_in["log_scale"], continuous)
    mean, sd = read(model_in["mean"], continuous), read(model_in["sd"], continuous)
    scale = math.exp(log_scale)
    write(model_out["mean"], mean + shift, continuous)
    write(model_out["sd"], sd * scale, continuous)
    for t in range(n):
        h = read(model_in["h", t], continuous)
        write(model_out["h", t], mean + shift + (h - mean) * scale, continuous)
    write(aux_out["shift"], -shift, continuous)
    write(aux_out["log_scale"], -log_scale, continuous)


@gen
def propose_phi(trace):
    phi = ~uniform(0.5, 0.99)
    i = 0
    while i < trace.args[0]:
        ("h", i) @ ~normal(trace["h", i], 0.1)
        i += 2


MODELS = [
    Model(
        "local_level",
        local_level,
        lambda n: (n,),
        lambda n, rng: {"y": np.cumsum(rng.normal(0.1, 0.4, n)) + rng.normal(0, 0.4, n)},
        lambda n: {
            "drifts": False,
            "level": [0.1 * t for t in range(n)],
            ("sd", "step"): 0.5,
            ("sd", "noise"): 0.5,
        },
        lambda check=False: cycle(
            involutive(propose_slope, tilt_levels, check=check),
            repeat(involutive(walk_level, one_level, check=check), 3),
            mh(walk_sds),
        ),
        [Move(propose_slope, tilt_levels), Move(walk_level, one_level)],
        size=8,
    ),
    Model(
        "tracking",
        tracking,
        lambda n: (n,),
        lambda n, rng: {"seen": np.cumsum(rng.normal(0.3, 0.3, (n, 2)), axis=0)},
        lambda n: {
            "state": np.hstack([0.3 * np.arange(1, n + 1)[:, None] * [1.0, 1.0], np.full((n, 2), 0.6)])
        },
        lambda check=False: cycle(involutive(push, pushed, check=check), mh(block_of_states)),
        [Move(push, pushed)],
        size=6,
    ),
    Model(
        "volatility",
        volatility,
        lambda n: (n,),
        lambda n, rng: {"r": rng.normal(0, 0.3 + 0.7 * (np.arange(n) % 10 > 5))},
        lambda n: {"mean": -1.0, "phi": 0.8, "sd": 0.5, "h": [-1.0] * n},
        lambda check=False: cycle(involutive(shift_and_scale, whole_path, check=check), mh(propose_phi)),
        [Move(shift_and_scale, whole_path)],
        size=12,
    ),
]
