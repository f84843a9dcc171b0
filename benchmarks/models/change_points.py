"""Change points: of a rate, of a mean, and as jumps that may come at any time."""

from __future__ import annotations

from bisect import bisect_right

import numpy as np

from gendsl import (
    bernoulli,
    categorical,
    continuous,
    copy,
    discrete,
    exponential,
    gamma,
    gen,
    normal,
    pair,
    poisson,
    read,
    transform,
    uniform,
    uniform_discrete,
    write,
)
from gendsl.inference import birth_death, cycle, involutive, mh, mixture, repeat

from .model import Model, Move

# --- levels between sorted change points; a birth and a death by hand, inverse to each other ----------

MOST = 6


@gen
def steps(times):
    k = ~categorical([0.2, 0.2, 0.2, 0.15, 0.1, 0.1, 0.05])
    where = []
    before = 0.0
    for j in range(k):
        before = ("where", j) @ ~uniform(before, 10.0)
        where.append(before)
    levels = [("level", j) @ ~normal(0, 3) for j in range(k + 1)]
    noise = ~exponential(2)
    for i, t in enumerate(times):
        segment = 0
        while segment < k and where[segment] <= t:
            segment += 1
        ("y", i) @ ~normal(levels[segment], noise)


@gen
def break_or_join(trace):
    """A break goes anywhere, a join takes one of the change points away."""
    k = trace["k"]
    if k == 0:
        birth = ~bernoulli(1)
    elif k == MOST:
        birth = ~bernoulli(0)
    else:
        birth = ~bernoulli(0.5)
    if birth:
        at = ~uniform(0, 10)
        jump = ~normal(0, 1.5)
    else:
        gone = ~uniform_discrete(0, k - 1)


@transform
def broken_or_joined(model_in, aux_in, *, model_out, aux_out):
    k = read(model_in["k"], discrete)
    birth = read(aux_in["birth"], discrete)
    write(aux_out["birth"], not birth, discrete)
    if birth:
        at = read(aux_in["at"], continuous)
        place = 0
        for j in range(k):
            if read(model_in["where", j], continuous) < at:
                place = j + 1
        write(model_out["k"], k + 1, discrete)
        write(aux_out["gone"], place, discrete)
        for j in range(place, k):
            copy(model_in["where", j], model_out["where", j + 1])
        for j in range(place + 1, k + 1):
            copy(model_in["level", j], model_out["level", j + 1])
        level, jump = read(model_in["level", place], continuous), read(aux_in["jump"], continuous)
        write(model_out["where", place], at, continuous)
        write(model_out["level", place], level - jump, continuous)
        write(model_out["level", place + 1], level + jump, continuous)
    else:
        place = read(aux_in["gone"], discrete)
        write(model_out["k"], k - 1, discrete)
        copy(model_in["where", place], aux_out["at"])
        left, right = (
            read(model_in["level", place], continuous),
            read(model_in["level", place + 1], continuous),
        )
        write(model_out["level", place], (left + right) / 2, continuous)
        write(aux_out["jump"], (right - left) / 2, continuous)
        for j in range(place + 1, k):
            copy(model_in["where", j], model_out["where", j - 1])
        for j in range(place + 2, k + 1):
            copy(model_in["level", j], model_out["level", j - 1])


@gen
def walk_levels(trace):
    noise = ~gamma(40, trace["noise"] / 40)
    for j in range(trace["k"] + 1):
        ("level", j) @ ~normal(trace["level", j], 0.2)


# --- counts whose rate jumps now and then: every time has a switch ------------------------------------


@gen
def jumps(n):
    rate = ("rate", 0) @ ~gamma(2, 2)
    for t in range(n):
        if t > 0:
            jump = ("jump", t) @ ~bernoulli(0.1)
            if jump:
                rate = ("rate", t) @ ~gamma(2, 2)
        ("count", t) @ ~poisson(rate)


@gen
def pick_time(trace):
    t = ~uniform_discrete(1, trace.args[0] - 1)
    if not trace["jump", t]:
        fresh = ~gamma(2, 2)


@transform
def toggle_jump(model_in, aux_in, *, model_out, aux_out):
    t = read(aux_in["t"], discrete)
    write(aux_out["t"], t, discrete)
    if read(model_in["jump", t], discrete):
        write(model_out["jump", t], False, discrete)
        copy(model_in["rate", t], aux_out["fresh"])
    else:
        write(model_out["jump", t], True, discrete)
        copy(aux_in["fresh"], model_out["rate", t])


def rates_of(trace):
    """The addresses of all rates that there are."""
    found = [("rate", 0)]
    t = 1
    while t < trace.args[0]:
        if trace["jump", t]:
            found.append(("rate", t))
        t += 1
    return found


@gen
def scale_rates(trace):
    for address in rates_of(trace):
        now = trace[address]
        address @ ~gamma(25, now / 25)


# --- change points in any order, sorted by the model; a pair of shifts --------------------------------


def mean_at(t, breaks, means):
    return means[bisect_right(breaks, t)]


@gen
def unordered(n):
    k = ~uniform_discrete(0, 4)
    found = [(("at", j) @ ~uniform(0, n), ("after", j) @ ~normal(0, 2)) for j in range(k)]
    found.sort()
    breaks = [at for at, _ in found]
    means = [0.0] + [mean for _, mean in found]
    for t in range(n):
        ("y", t) @ ~normal(mean_at(t, breaks, means), 0.5)


@gen
def new_break(trace):
    at = ~uniform(0, trace.args[0])
    after = ~normal(0, 2)


def break_births(check=False):
    return birth_death("at", "after", propose=new_break, most=4, check=check)


@gen
def how_far(trace):
    k = trace["k"]
    if k:
        which = ~uniform_discrete(0, k - 1)
        by = ~exponential(0.7)


@transform
def later(model_in, aux_in, *, model_out, aux_out):
    if read(model_in["k"]) > 0:
        which, by = read(aux_in["which"]), read(aux_in["by"])
        copy(aux_in["which"], aux_out["which"])
        copy(aux_in["by"], aux_out["by"])
        write(model_out["at", which], read(model_in["at", which]) + by)


@transform
def earlier(model_in, aux_in, *, model_out, aux_out):
    if read(model_in["k"]) > 0:
        which, by = read(aux_in["which"]), read(aux_in["by"])
        copy(aux_in["which"], aux_out["which"])
        copy(aux_in["by"], aux_out["by"])
        write(model_out["at", which], read(model_in["at", which]) - by)


SHIFT = pair(later, earlier)


def three_levels(n, rng):
    thirds = np.repeat([0.0, 2.0, -1.0], -(-n // 3))[:n]
    return thirds + rng.normal(0, 0.4, n)


MODELS = [
    Model(
        "steps",
        steps,
        lambda n: (np.linspace(0, 10, n),),
        lambda n, rng: {"y": three_levels(n, rng)},
        lambda n: {"k": 2, "where": [3.3, 6.7], "level": [0.0, 2.0, -1.0], "noise": 0.6},
        lambda check=False: cycle(
            repeat(involutive(break_or_join, broken_or_joined, check=check), 2), mh(walk_levels)
        ),
        [Move(break_or_join, broken_or_joined)],
    ),
    Model(
        "jumps",
        jumps,
        lambda n: (n,),
        lambda n, rng: {"count": rng.poisson(np.where(np.arange(n) < n / 2, 2, 8))},
        lambda n: {},
        lambda check=False: cycle(
            repeat(involutive(pick_time, toggle_jump, check=check), 3), mh(scale_rates)
        ),
        [Move(pick_time, toggle_jump)],
    ),
    Model(
        "unordered",
        unordered,
        lambda n: (n,),
        lambda n, rng: {"y": three_levels(n, rng)},
        lambda n: {"k": 1, "at": [n / 3], "after": [1.0]},
        lambda check=False: mixture(
            [
                break_births(check),
                involutive(how_far, SHIFT, check=check, name="shift"),
            ],
            lambda trace: [1.0, trace["k"]],
        ),
        [Move.of(break_births()), Move(how_far, SHIFT)],
    ),
]
