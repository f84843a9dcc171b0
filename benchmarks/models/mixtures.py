"""Mixtures with an unknown number of components: normal, Student, Laplace, multivariate normal.

The first three have no assignments of points to components, the last two have.
"""

from __future__ import annotations

import math

import numpy as np

from gendsl import (
    bernoulli,
    beta,
    categorical,
    continuous,
    copy,
    dirichlet,
    discrete,
    gamma,
    gen,
    inv_gamma,
    laplace,
    mixture,
    mixture_of_normals,
    mvnormal,
    normal,
    read,
    student_t,
    transform,
    uniform_discrete,
    write,
)
from gendsl.inference import birth_death, cycle, involutive, mh, split_merge

from .model import Model, Move

MOST = 5


def two_groups(n, rng):
    """Points around -2 and 2."""
    return {"y": rng.normal(np.where(np.arange(n) % 3 == 0, -2.0, 2.0), 0.7)}


# --- normal components, split and merged by hand -----------------------------------------------------


@gen
def normals(n):
    k = ~uniform_discrete(1, MOST)
    means, variances = [], []
    for j in range(k):
        means.append(("mu", j) @ ~normal(0, 4))
        variances.append(("var", j) @ ~inv_gamma(3, 2))
    weights = ~dirichlet([2.0] * k)
    for i in range(n):
        ("y", i) @ ~mixture_of_normals(weights, means, variances)


@gen
def split_or_merge(trace):
    """Component j is split into j and a new last one, or j and the last one are merged."""
    k = trace["k"]
    chance = 0.5
    if k == 1:
        chance = 1.0
    elif k == MOST:
        chance = 0.0
    split = ~bernoulli(chance)
    if split:
        j = ~uniform_discrete(0, k - 1)
        share = ~beta(2, 2)
        distance = ~beta(2, 2)
        spread = ~beta(1, 1)
    else:
        j = ~uniform_discrete(0, k - 2)


@transform
def split_merge_by_moments(model_in, aux_in, *, model_out, aux_out):
    """The two have together the weight, mean and variance of the one."""
    k = read(model_in["k"], discrete)
    split = read(aux_in["split"], discrete)
    j = read(aux_in["j"], discrete)
    weights = list(read(model_in["weights"], continuous))
    write(aux_out["split"], not split, discrete)
    write(aux_out["j"], j, discrete)
    if split:
        w, mean, var = weights[j], read(model_in["mu", j], continuous), read(model_in["var", j], continuous)
        u = read(aux_in["share"], continuous)
        d = read(aux_in["distance"], continuous)
        s = read(aux_in["spread"], continuous)
        sd = math.sqrt(var)
        write(model_out["k"], k + 1, discrete)
        weights[j] = w * u
        weights.append(w * (1 - u))
        write(model_out["weights"], weights, continuous)
        write(model_out["mu", j], mean - d * sd * math.sqrt((1 - u) / u), continuous)
        write(model_out["mu", k], mean + d * sd * math.sqrt(u / (1 - u)), continuous)
        write(model_out["var", j], s * (1 - d**2) * var / u, continuous)
        write(model_out["var", k], (1 - s) * (1 - d**2) * var / (1 - u), continuous)
    else:
        last = k - 1
        w1, w2 = weights[j], weights.pop()
        m1, m2 = read(model_in["mu", j], continuous), read(model_in["mu", last], continuous)
        v1, v2 = read(model_in["var", j], continuous), read(model_in["var", last], continuous)
        w = w1 + w2
        u = w1 / w
        mean = u * m1 + (1 - u) * m2
        inside = u * v1 + (1 - u) * v2
        var = inside + u * (1 - u) * (m2 - m1) ** 2
        weights[j] = w
        write(model_out["k"], last, discrete)
        write(model_out["weights"], weights, continuous)
        write(model_out["mu", j], mean, continuous)
        write(model_out["var", j], var, continuous)
        write(aux_out["share"], u, continuous)
        write(aux_out["distance"], (m2 - m1) * math.sqrt(u * (1 - u) / var), continuous)
        write(aux_out["spread"], u * v1 / inside, continuous)


@gen
def walk_one_mean(trace):
    j = ~uniform_discrete(0, trace["k"] - 1)
    step = ~normal(0, 0.4)


@transform
def step_mean(model_in, aux_in, *, model_out, aux_out):
    j = read(aux_in["j"])
    copy(aux_in["j"], aux_out["j"])
    step = read(aux_in["step"])
    write(model_out["mu", j], read(model_in["mu", j]) + step)
    write(aux_out["step"], -step)


# --- Student components, by the library's split and merge --------------------------------------------


@gen
def students(n, df):
    k = ~uniform_discrete(1, MOST)
    location = {}
    scale = {}
    for j in range(k):
        location[j] = ~normal(0, 4)
        scale[j] = ~gamma(2, 0.5)
    components = [student_t(df, location[j], scale[j]) for j in range(k)]
    for i in range(n):
        ("y", i) @ ~mixture([1 / k] * k, components)


@gen
def gap_and_factor(trace, j):
    gap = ~gamma(2, 0.6)
    log_factor = ~normal(0, 0.4)


def apart(one, u):
    middle, size, factor = one["location"], one["scale"], np.exp(u["log_factor"])
    return (
        {"location": middle - u["gap"], "scale": size * factor},
        {"location": middle + u["gap"], "scale": size / factor},
    )


def together(first, second):
    product = first["scale"] * second["scale"]
    one = {"location": 0.5 * (first["location"] + second["location"]), "scale": np.sqrt(product)}
    return one, {
        "gap": 0.5 * (second["location"] - first["location"]),
        "log_factor": 0.5 * np.log(first["scale"] / second["scale"]),
    }


def student_splits(check=False):
    return split_merge(
        "location",
        "scale",
        bijection=(apart, together),
        auxiliary=gap_and_factor,
        order="location",
        most=MOST,
        check=check,
    )


@gen
def walk_locations_and_scales(trace):
    for j in range(trace["k"]):
        ("location", j) @ ~normal(trace["location", j], 0.2)
        old = trace["scale", j]
        ("scale", j) @ ~gamma(30, old / 30)


# --- Laplace components with weights, by the library's birth and death -------------------------------


@gen
def laplaces(n):
    k = ~uniform_discrete(1, MOST)
    weights = ~dirichlet(np.ones(k))
    parts = []
    for j in range(k):
        centre = ("centre", j) @ ~normal(0.0, 4.0)
        width = ("width", j) @ ~gamma(2.0, 0.5)
        parts.append(laplace(centre, width))
    blend = mixture(weights, parts)
    for i in range(n):
        ("y", i) @ ~blend


@gen
def new_laplace(trace):
    weights = ~beta(1, trace["k"])
    centre = ~normal(0.0, 3.0)
    width = ~gamma(2.0, 0.5)


def make_room(weights, new):
    return [w * (1 - new) for w in weights]


def close_gap(weights, old):
    return [w / (1 - old) for w in weights]


def laplace_births(check=False):
    return birth_death(
        "centre",
        "width",
        propose=new_laplace,
        most=MOST,
        vectors={"weights": (make_room, close_gap)},
        check=check,
    )


@gen
def walk_laplaces(trace):
    k = trace["k"]
    for name, step in (("centre", 0.2), ("width", None)):
        for j in range(k):
            now = trace[name, j]
            if step is None:
                (name, j) @ ~gamma(20, now / 20)
            else:
                (name, j) @ ~normal(now, step)


# --- normal components with assignments --------------------------------------------------------------


@gen
def assigned_normals(n):
    k = ~uniform_discrete(1, MOST)
    mu = [("mu", j) @ ~normal(0, 4) for j in range(k)]
    sigma = ~gamma(4, 0.2)
    for i in range(n):
        z = ("z", i) @ ~categorical([1 / k] * k)
        ("y", i) @ ~normal(mu[z], sigma)


@gen
def relabel(trace):
    (n,) = trace.args
    i = ~uniform_discrete(0, n - 1)
    label = ~uniform_discrete(0, trace["k"] - 1)


@transform
def exchange_label(model_in, aux_in, *, model_out, aux_out):
    i = read(aux_in["i"], discrete)
    copy(aux_in["i"], aux_out["i"])
    copy(aux_in["label"], model_out["z", i])
    copy(model_in["z", i], aux_out["label"])


@gen
def offset(trace, j):
    u = ~normal(0, 1.5)
    return {"u": u}


def two_means(one, u):
    return {"mu": one["mu"] - u["u"]}, {"mu": one["mu"] + u["u"]}


def one_mean(first, second):
    return {"mu": (first["mu"] + second["mu"]) / 2}, {"u": (second["mu"] - first["mu"]) / 2}


def towards_second(trace, points, first, second):
    """The probability of each point to go to the second of two means."""
    sigma = trace["sigma"]
    chances = []
    for i in points:
        y = trace["y", int(i)]
        a = math.exp(-0.5 * ((y - first["mu"]) / sigma) ** 2)
        b = math.exp(-0.5 * ((y - second["mu"]) / sigma) ** 2)
        chances.append(0.1 + 0.8 * (b / (a + b) if a + b > 0 else 0.5))
    return np.array(chances)


def assigned_splits(check=False):
    return split_merge(
        "mu",
        bijection=(two_means, one_mean),
        auxiliary=offset,
        allocations="z",
        allocate=towards_second,
        most=MOST,
        check=check,
    )


@gen
def walk_sigma_and_means(trace):
    sigma = ~gamma(50, trace["sigma"] / 50)
    for j in range(trace["k"]):
        ("mu", j) @ ~normal(trace["mu", j], 0.15)


# --- points of the plane: multivariate normal components with assignments ----------------------------


def covariance(sx, sy, rho):
    return np.array([[sx * sx, rho * sx * sy], [rho * sx * sy, sy * sy]])


@gen
def blobs(n):
    k = ~uniform_discrete(1, 4)
    shape = covariance(1.0, 0.8, 0.3)
    wide = 9 * np.eye(2)
    centres = [("centre", j) @ ~mvnormal(np.zeros(2), wide) for j in range(k)]
    labels = []
    for i in range(n):
        labels.append(("z", i) @ ~uniform_discrete(0, k - 1))
    for i, z in enumerate(labels):
        ("point", i) @ ~mvnormal(centres[z], shape)


def blob_data(n, rng):
    around = np.where(rng.random((n, 1)) < 0.5, [[-2.0, 0.0]], [[2.0, 1.0]])
    return {"point": around + rng.normal(size=(n, 2)) @ np.linalg.cholesky(covariance(1.0, 0.8, 0.3)).T}


@gen
def nudge_centre(trace):
    j = ~uniform_discrete(0, trace["k"] - 1)
    step = ~mvnormal([0.0, 0.0], [[0.1, 0.0], [0.0, 0.1]])


@transform
def move_centre(model_in, aux_in, *, model_out, aux_out):
    j = read(aux_in["j"], discrete)
    copy(aux_in["j"], aux_out["j"])
    step = read(aux_in["step"], continuous)
    centre = read(model_in["centre", j], continuous)
    write(model_out["centre", j], centre + step, continuous)
    write(aux_out["step"], -step, continuous)


@gen
def other_labels(trace):
    for i in range(trace.args[0]):
        if i % 4 == 0:
            ("z", i) @ ~uniform_discrete(0, trace["k"] - 1)


@gen
def new_blob(trace):
    centre = ~mvnormal(np.zeros(2), 9 * np.eye(2))


def blob_births(check=False):
    return birth_death("centre", propose=new_blob, least=1, most=4, allocations="z", check=check)


def size_alone(n):
    return (n,)


MODELS = [
    Model(
        "normals",
        normals,
        size_alone,
        two_groups,
        lambda n: {"k": 2, "mu": [-2.0, 2.0], "var": [1.0, 1.0], "weights": [0.4, 0.6]},
        lambda check=False: cycle(
            involutive(split_or_merge, split_merge_by_moments, check=check),
            involutive(walk_one_mean, step_mean, check=check),
        ),
        [Move(split_or_merge, split_merge_by_moments), Move(walk_one_mean, step_mean)],
    ),
    Model(
        "students",
        students,
        lambda n: (n, 4.0),
        two_groups,
        lambda n: {"k": 2, "location": [-2.0, 2.0], "scale": [0.7, 0.7]},
        lambda check=False: cycle(
            student_splits(check),
            mh(walk_locations_and_scales),
        ),
        [Move.of(student_splits())],
    ),
    Model(
        "laplaces",
        laplaces,
        size_alone,
        two_groups,
        lambda n: {"k": 2, "weights": [0.4, 0.6], "centre": [-2.0, 2.0], "width": [0.5, 0.5]},
        lambda check=False: cycle(laplace_births(check), mh(walk_laplaces)),
        [Move.of(laplace_births())],
    ),
    Model(
        "assigned_normals",
        assigned_normals,
        size_alone,
        two_groups,
        lambda n: {"k": 2, "mu": [-2.0, 2.0], "sigma": 0.7, "z": [int(i % 3 != 0) for i in range(n)]},
        lambda check=False: cycle(
            assigned_splits(check),
            involutive(relabel, exchange_label, check=check),
            mh(walk_sigma_and_means),
        ),
        [Move.of(assigned_splits()), Move(relabel, exchange_label)],
    ),
    Model(
        "blobs",
        blobs,
        size_alone,
        blob_data,
        lambda n: {"k": 2, "centre": [[-2.0, 0.0], [2.0, 1.0]], "z": [i % 2 for i in range(n)]},
        lambda check=False: cycle(
            blob_births(check),
            involutive(nudge_centre, move_centre, check=check),
            mh(other_labels),
        ),
        [Move.of(blob_births()), Move(nudge_centre, move_centre)],
        size=12,
    ),
]
