"""Hidden Markov models with an unknown number of states: without a path, with one, with a matrix to learn."""

from __future__ import annotations

import math

import numpy as np

from gendsl import (
    Distribution,
    bernoulli,
    beta,
    categorical,
    continuous,
    copy,
    dirichlet,
    discrete,
    gamma,
    gen,
    normal,
    poisson,
    read,
    transform,
    uniform_discrete,
    write,
)
from gendsl.inference import birth_death, cycle, involutive, mh, repeat, split_merge
from gendsl.supports import Real, Repeated

from .model import Model, Move


def two_states(n, rng):
    """A series that stays for a while around -1.5 or 1.5."""
    state, y = 0, []
    for _ in range(n):
        if rng.random() < 0.2:
            state = 1 - state
        y.append(float(rng.normal(-1.5 if state == 0 else 1.5, 0.6)))
    return {"y": y}


# --- the forward algorithm, as a distribution of the whole series ------------------------------------


def log_normal_density(x, mean, sd):
    z = (x - mean) / sd
    return -0.5 * z * z - math.log(sd) - 0.5 * math.log(2 * math.pi)


class hidden_series(Distribution):
    """n observations of a chain that stays in its state, or goes to any other."""

    parameters = ("means", "stay", "sd", "n")

    def __init__(self, means, stay, sd, n):
        self.means, self.stay, self.sd, self.n = means, stay, sd, n

    @property
    def support(self):
        return Repeated(Real(), self.n)

    def sample(self, rng):
        k = len(self.means)
        state, y = int(rng.integers(k)), np.empty(self.n)
        for t in range(self.n):
            if t and k > 1 and rng.random() > self.stay:
                state = (state + 1 + int(rng.integers(k - 1))) % k
            y[t] = rng.normal(self.means[state], self.sd)
        return y

    def logpdf(self, y):
        """The forward algorithm, its numbers scaled at every step."""
        k = len(self.means)
        leave = (1 - self.stay) / (k - 1) if k > 1 else 0.0
        stay = self.stay if k > 1 else 1.0
        p = [1 / k] * k
        total = 0.0
        for t in range(self.n):
            if t > 0:
                everything = sum(p)
                p = [leave * (everything - p_j) + stay * p_j for p_j in p]
            logs = [log_normal_density(y[t], mean, self.sd) for mean in self.means]
            highest = max(logs)
            p = [p_j * math.exp(log - highest) for p_j, log in zip(p, logs, strict=True)]
            scale = sum(p)
            total += highest + math.log(scale)
            p = [p_j / scale for p_j in p]
        return total


@gen
def summed(n):
    k = ~uniform_discrete(1, 5)
    means = [("mean", j) @ ~normal(0, 2) for j in range(k)]
    stay = ~beta(4, 1)
    sd = ~gamma(5, 0.15)
    y = ~hidden_series(means, stay, sd, n)


@gen
def new_state(trace):
    mean = ~normal(0, 2)


def states(check=False):
    return birth_death("mean", propose=new_state, least=1, most=5, check=check)


@gen
def step_in_all(trace):
    for j in range(trace["k"]):
        ("step", j) @ ~normal(0, 0.2)
    factor = ~normal(0, 0.1)


@transform
def stepped(model_in, aux_in, *, model_out, aux_out):
    for j in range(read(model_in["k"], discrete)):
        step = read(aux_in["step", j], continuous)
        write(model_out["mean", j], read(model_in["mean", j], continuous) + step, continuous)
        write(aux_out["step", j], -step, continuous)
    factor = read(aux_in["factor"], continuous)
    write(model_out["sd"], read(model_in["sd"], continuous) * math.exp(factor), continuous)
    write(aux_out["factor"], -factor, continuous)


# --- with a path, states split and merged with their times --------------------------------------------


@gen
def with_path(n):
    k = ~uniform_discrete(1, 4)
    mean = {j: ("mean", j) @ ~normal(0, 2) for j in range(k)}
    previous = None
    for t in range(n):
        if previous is None:
            chances = [1 / k] * k
        else:
            chances = [0.2 / k + (0.8 if j == previous else 0.0) for j in range(k)]
        state = ("state", t) @ ~categorical(chances)
        ("y", t) @ ~normal(mean[state], 0.8)
        previous = state


@gen
def half_distance(trace, j):
    u = ~normal(0, 1.5)
    return {"u": u}


def apart(one, u):
    return {"mean": one["mean"] - u["u"]}, {"mean": one["mean"] + u["u"]}


def together(first, second):
    m1, m2 = first["mean"], second["mean"]
    return {"mean": 0.5 * (m1 + m2)}, {"u": 0.5 * (m2 - m1)}


def paths(check=False):
    return split_merge(
        "mean", bijection=(apart, together), auxiliary=half_distance, allocations="state", most=4, check=check
    )


@gen
def one_time(trace):
    """A new state for one time, from its density given all else."""
    (n,) = trace.args
    t = ~uniform_discrete(0, n - 1)
    k = trace["k"]
    weights = []
    for j in range(k):
        w = math.exp(max(-0.5 * ((trace["y", t] - trace["mean", j]) / 0.8) ** 2, -30.0))
        for other in (t - 1, t + 1):
            if 0 <= other < n:
                w *= 0.2 / k + (0.8 if trace["state", other] == j else 0.0)
        weights.append(w)
    total = sum(weights)
    new = ~categorical([w / total for w in weights])


@transform
def set_state(model_in, aux_in, *, model_out, aux_out):
    t = read(aux_in["t"], discrete)
    copy(aux_in["t"], aux_out["t"])
    copy(aux_in["new"], model_out["state", t])
    copy(model_in["state", t], aux_out["new"])


@gen
def walk_path_means(trace):
    for j in range(trace["k"]):
        ("mean", j) @ ~normal(trace["mean", j], 0.2)


# --- counts, with a matrix of transitions that grows by a row and a column -----------------------------


@gen
def with_matrix(n):
    k = ~uniform_discrete(1, 4)
    rates = [("rate", j) @ ~gamma(2, 2) for j in range(k)]
    rows = [("row", j) @ ~dirichlet([1.0] * k) for j in range(k)]
    s = 0
    for t in range(n):
        s = ("s", t) @ ~categorical(rows[s])
        ("count", t) @ ~poisson(rates[s])


def visited(trace, state):
    n = trace.args[0]
    return any(trace["s", t] == state for t in range(n))


@gen
def grow_or_shrink(trace):
    """A new last state, or the last one goes, which it can where no time is spent in it."""
    k = trace["k"]
    can_shrink = k > 1 and not visited(trace, k - 1)
    grow = ~bernoulli(1.0 if not can_shrink else 0.0 if k == 4 else 0.5)
    if grow and k < 4:
        rate = ~gamma(2, 2)
        row = ~dirichlet([1.0] * (k + 1))
        for j in range(k):
            ("to", j) @ ~beta(1, k)


@transform
def matrix_of_other_size(model_in, aux_in, *, model_out, aux_out):
    k = read(model_in["k"], discrete)
    grow = read(aux_in["grow"], discrete)
    if grow and k == 4:
        write(aux_out["grow"], grow, discrete)
    elif grow:
        write(aux_out["grow"], False, discrete)
        write(model_out["k"], k + 1, discrete)
        copy(aux_in["rate"], model_out["rate", k])
        copy(aux_in["row"], model_out["row", k])
        for j in range(k):
            to = read(aux_in["to", j], continuous)
            row = read(model_in["row", j], continuous)
            write(model_out["row", j], [p * (1 - to) for p in row] + [to], continuous)
    else:
        last = k - 1
        write(aux_out["grow"], True, discrete)
        write(model_out["k"], last, discrete)
        copy(model_in["rate", last], aux_out["rate"])
        copy(model_in["row", last], aux_out["row"])
        for j in range(last):
            *row, to = read(model_in["row", j], continuous)
            rest = sum(row)
            write(model_out["row", j], [p / rest for p in row], continuous)
            write(aux_out["to", j], to, continuous)


@gen
def one_label(trace):
    i = ~uniform_discrete(0, trace.args[0] - 1)
    ("s", i) @ ~uniform_discrete(0, trace["k"] - 1)


@transform
def exchange(model_in, aux_in, *, model_out, aux_out):
    i = read(aux_in["i"], discrete)
    write(aux_out["i"], i, discrete)
    copy(model_in["s", i], aux_out["s", i])
    copy(aux_in["s", i], model_out["s", i])


def size_alone(n):
    return (n,)


MODELS = [
    Model(
        "summed",
        summed,
        size_alone,
        two_states,
        lambda n: {"k": 2, "mean": [-1.5, 1.5], "stay": 0.8, "sd": 0.7},
        lambda check=False: cycle(
            states(check),
            involutive(step_in_all, stepped, check=check),
        ),
        [Move.of(states()), Move(step_in_all, stepped)],
        size=12,
    ),
    Model(
        "with_path",
        with_path,
        size_alone,
        two_states,
        lambda n: {"k": 1, "mean": [0.0]},
        lambda check=False: cycle(
            paths(check),
            repeat(involutive(one_time, set_state, check=check), 3),
            mh(walk_path_means),
        ),
        [Move.of(paths()), Move(one_time, set_state)],
        size=8,
    ),
    Model(
        "with_matrix",
        with_matrix,
        size_alone,
        lambda n, rng: {"count": [int(rng.poisson(2.0 if t % 6 < 3 else 6.0)) for t in range(n)]},
        lambda n: {"k": 2, "rate": [2.0, 6.0], "row": [[0.6, 0.4], [0.4, 0.6]]},
        lambda check=False: cycle(
            involutive(grow_or_shrink, matrix_of_other_size, check=check),
            repeat(involutive(one_label, exchange, check=check), 4),
        ),
        [Move(grow_or_shrink, matrix_of_other_size), Move(one_label, exchange)],
        size=12,
    ),
]
