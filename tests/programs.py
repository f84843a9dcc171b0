"""A family of programs, each with a second definition in plain Python that scores it.

The second definition, the oracle, is called with a function `choose(path, family, *parameters)` that
returns the value of a choice; it shares no code with gendsl, and its densities are SciPy's.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from gendsl import (
    bernoulli,
    beta,
    binom,
    categorical,
    dirichlet,
    exponential,
    gamma,
    gen,
    iid,
    inv_gamma,
    mixture_of_normals,
    multinomial,
    mvnormal,
    normal,
    poisson,
    product,
    student_t,
    uniform,
    uniform_discrete,
)

DENSITIES: dict[str, Callable[..., Any]] = {
    "bernoulli": stats.bernoulli.logpmf,
    "beta": stats.beta.logpdf,
    "binom": stats.binom.logpmf,
    "categorical": lambda x, probs: math.log(probs[x]) if 0 <= x < len(probs) else -math.inf,
    "dirichlet": lambda x, alpha: stats.dirichlet.logpdf(x / np.sum(x), alpha),
    "exponential": lambda x, rate: stats.expon.logpdf(x, scale=1 / rate),
    "gamma": lambda x, shape, scale: stats.gamma.logpdf(x, shape, scale=scale),
    "iid_bernoulli": lambda x, p: np.sum(stats.bernoulli.logpmf(np.asarray(x, dtype=int), p)),
    "iid_normal": lambda x, mean, sd: np.sum(stats.norm.logpdf(x, mean, sd)),
    "inv_gamma": lambda x, shape, scale: stats.invgamma.logpdf(x, shape, scale=scale),
    "laplace": stats.laplace.logpdf,
    "mixture": lambda x, weights, means, variances: np.log(
        sum(w * stats.norm.pdf(x, m, math.sqrt(v)) for w, m, v in zip(weights, means, variances, strict=True))
    ),
    "multinomial": stats.multinomial.logpmf,
    "mvnormal": stats.multivariate_normal.logpdf,
    "normal": stats.norm.logpdf,
    "normals": lambda x, means, sds: np.sum(stats.norm.logpdf(x, means, sds)),
    "one": lambda x: 0.0 if np.array_equal(x, [1.0]) else -math.inf,
    "poisson": stats.poisson.logpmf,
    "poisson_plus_one": lambda x, rate: stats.poisson.logpmf(x - 1, rate),
    "student_t": lambda x, df, loc, scale: stats.t.logpdf(x, df, loc, scale),
    "uniform": lambda x, low, high: stats.uniform.logpdf(x, low, high - low),
    "uniform_discrete": lambda x, low, high: stats.randint.logpmf(x, low, high + 1),
}

Choose = Callable[..., Any]


@dataclass(frozen=True)
class Program:
    """A program, arguments to run it on, and its oracle `oracle(choose, *args)`."""

    name: str
    model: Any
    args: tuple[tuple[Any, ...], ...]
    oracle: Callable[..., Any]

    def __repr__(self) -> str:
        return self.name

    def score(self, args: tuple[Any, ...], choices: Any) -> Scored:
        """The oracle's scores of a complete set of choices."""
        return score(self, args, choices)


class Scored(NamedTuple):
    """What the oracle finds: the score of each choice, in order, and the return value."""

    scores: dict[Any, float]
    retval: Any

    @property
    def log_prob(self) -> float:
        """The sum of the scores."""
        return sum(self.scores.values())


def score(program: Program, args: tuple[Any, ...], choices: Any) -> Scored:
    """The oracle's scores of a complete set of choices."""
    scores: dict[Any, float] = {}

    def choose(path: Any, family: str, *parameters: Any) -> Any:
        path = path if isinstance(path, tuple) else (path,)
        assert path not in scores, f"the oracle chooses {path} twice"
        value = choices[path]
        scores[path] = float(DENSITIES[family](value, *parameters))
        return value

    return Scored(scores, program.oracle(choose, *args))


# --- straight lines and branches -------------------------------------------------------------------


@gen
def straight_line(scale):
    a = ~normal(0, scale)
    b: float = ~gamma(2.0, math.exp(0.1 * a))
    ("c", "deep") @ ~student_t(5.0, a, b)
    if (n := ~poisson(b)) > 0:
        a = a / n
    return a + n


def straight_line_oracle(choose, scale):
    a = choose("a", "normal", 0, scale)
    b = choose("b", "gamma", 2.0, math.exp(0.1 * a))
    choose(("c", "deep"), "student_t", 5.0, a, b)
    n = choose("n", "poisson", b)
    return (a / n if n > 0 else a) + n


@gen
def branch(p):
    heads = ~bernoulli(p)
    if heads:
        x = ~normal(1, 1)
        y = "shared" @ ~normal(x, 2)
    else:
        z = ~categorical([0.2, 0.3, 0.5])
        y = "shared" @ ~uniform(-1, 1 + z)
    return [y, heads]


def branch_oracle(choose, p):
    heads = choose("heads", "bernoulli", p)
    if heads:
        x = choose("x", "normal", 1, 1)
        y = choose("shared", "normal", x, 2)
    else:
        z = choose("z", "categorical", [0.2, 0.3, 0.5])
        y = choose("shared", "uniform", -1, 1 + z)
    return [y, heads]


@gen
def without_choices(x):
    return [x, "nothing"]


# --- loops -----------------------------------------------------------------------------------------


@gen
def loop(n, inputs=None):
    slope = ~normal(0, 2)
    noise = ~inv_gamma(2.0, 1.0)
    for i in range(n):
        ("y", i) @ ~normal(slope * (i if inputs is None else inputs[i]), math.sqrt(noise))
    return {"slope": slope}


def loop_oracle(choose, n, inputs=None):
    slope = choose("slope", "normal", 0, 2)
    noise = choose("noise", "inv_gamma", 2.0, 1.0)
    for i in range(n):
        choose(("y", i), "normal", slope * (i if inputs is None else inputs[i]), math.sqrt(noise))
    return {"slope": slope}


@gen
def chain(n):
    state = "start" @ ~normal(0, 1)
    states = [state]
    for t in range(n):
        flip = ("flip", t) @ ~bernoulli(0.2)
        state = ("state", t) @ ~normal(-state if flip else 0.9 * state, 0.5)
        if t == 4:
            continue
        ("seen", t) @ ~normal(state, 0.1)
        states.append(state)
    return states


def chain_oracle(choose, n):
    state = choose("start", "normal", 0, 1)
    states = [state]
    for t in range(n):
        flip = choose(("flip", t), "bernoulli", 0.2)
        state = choose(("state", t), "normal", -state if flip else 0.9 * state, 0.5)
        if t == 4:
            continue
        choose(("seen", t), "normal", state, 0.1)
        states.append(state)
    return states


@gen
def while_loop(limit):
    total, n = 0.0, 0
    while True:
        step = ("step", n) @ ~exponential(1.0)
        total += step
        n += 1
        if total > limit or n == 6:
            break
    last = ~normal(total, 1)
    return n


def while_loop_oracle(choose, limit):
    total, n = 0.0, 0
    while n == 0 or (total <= limit and n < 6):
        total += choose(("step", n), "exponential", 1.0)
        n += 1
    choose("last", "normal", total, 1)
    return n


# --- structure that depends on choices ---------------------------------------------------------------


@gen
def clusters(n):
    k = ~(1 + poisson(1.0))
    means = [("mu", j) @ ~normal(0, 10) for j in range(k)]
    variances = [("var", j) @ ~inv_gamma(1, 10) for j in range(k)]
    weights = ("weights", k) @ ~dirichlet([2.0] * k)
    for i in range(n):
        ("x", i) @ ~mixture_of_normals(weights, means, variances)
    return k


def clusters_oracle(choose, n):
    k = choose("k", "poisson_plus_one", 1.0)
    means = [choose(("mu", j), "normal", 0, 10) for j in range(k)]
    variances = [choose(("var", j), "inv_gamma", 1, 10) for j in range(k)]
    # a Dirichlet of one component has density 1, and SciPy doesn't take it
    weights = choose(("weights", k), *(("dirichlet", [2.0] * k) if k > 1 else ("one",)))
    for i in range(n):
        choose(("x", i), "mixture", weights, means, variances)
    return k


@gen
def assignments(n):
    k = ~uniform_discrete(1, 3)
    mu = {}
    for j in range(3):
        if j < k:
            mu[j] = ~normal(3 * j, 1)
    for i in range(n):
        z = ("z", i) @ ~uniform_discrete(0, k - 1)
        ("x", i) @ ~normal(mu.get(z, 0.0), 0.5)


def assignments_oracle(choose, n):
    k = choose("k", "uniform_discrete", 1, 3)
    mu = {j: choose(("mu", j), "normal", 3 * j, 1) for j in range(k)}
    for i in range(n):
        z = choose(("z", i), "uniform_discrete", 0, k - 1)
        choose(("x", i), "normal", mu.get(z, 0.0), 0.5)


# --- calls -----------------------------------------------------------------------------------------


@gen
def tree(depth, scale=1.0):
    value = ~normal(0, scale)
    if depth > 0 and (grow := ~bernoulli(0.6)):
        left = ~tree(depth - 1, scale=scale / 2)
        right = "right" @ ~tree(depth - 1)
        return value + left + right
    return value


def tree_oracle(choose, depth, scale=1.0, at=()):
    value = choose((*at, "value"), "normal", 0, scale)
    if depth > 0 and choose((*at, "grow"), "bernoulli", 0.6):
        left = tree_oracle(choose, depth - 1, scale / 2, (*at, "left"))
        right = tree_oracle(choose, depth - 1, 1.0, (*at, "right"))
        return value + left + right
    return value


@gen
def even(n):
    x = ~normal(n, 1)
    if n > 0 and x > n - 1:
        return "odd" @ ~odd(n - 1)
    return x


@gen
def odd(n):
    y = ~exponential(1.0 + n)
    return ("down", n) @ ~even(n - 1) if n > 0 else y


def even_oracle(choose, n, at=()):
    x = choose((*at, "x"), "normal", n, 1)
    if n > 0 and x > n - 1:
        return odd_oracle(choose, n - 1, (*at, "odd"))
    return x


def odd_oracle(choose, n, at):
    y = choose((*at, "y"), "exponential", 1.0 + n)
    return even_oracle(choose, n - 1, (*at, "down", n)) if n > 0 else y


class Summary(NamedTuple):
    """What `group` returns: a value that its callers keep using."""

    mean: float
    members: tuple[Any, ...]


@gen
def group(size, *, centre=0.0, sd=1.0):
    mean = ~normal(centre, sd)
    members = tuple([("member", i) @ ~normal(mean, 1) for i in range(size)])
    return Summary(mean, members)


@gen
def hierarchy(sizes, sd):
    centre = ~normal(0, 5)
    groups = [("group", g) @ ~group(size, centre=centre, sd=sd) for g, size in enumerate(sizes)]
    spread = sum(abs(g.mean - centre) for g in groups)
    total = ~normal(spread, 1)
    return groups


def hierarchy_oracle(choose, sizes, sd):
    centre = choose("centre", "normal", 0, 5)
    groups = []
    for g, size in enumerate(sizes):
        mean = choose(("group", g, "mean"), "normal", centre, sd)
        members = [choose(("group", g, "member", i), "normal", mean, 1) for i in range(size)]
        groups.append(Summary(mean, tuple(members)))
    choose("total", "normal", sum(abs(g.mean - centre) for g in groups), 1)
    return groups


@gen
def parameters(scale):
    mu = ~normal(0, scale)
    sd = ~gamma(2.0, 1.0)
    return mu, sd


@gen
def spliced(scale, n):
    mu, sd = ... @ ~parameters(scale)
    "again" @ ~parameters(sd)
    for i in range(n):
        ("x", i) @ ~normal(mu, sd)
    return mu


def spliced_oracle(choose, scale, n):
    mu = choose("mu", "normal", 0, scale)
    sd = choose("sd", "gamma", 2.0, 1.0)
    choose(("again", "mu"), "normal", 0, sd)
    choose(("again", "sd"), "gamma", 2.0, 1.0)
    for i in range(n):
        choose(("x", i), "normal", mu, sd)
    return mu


class Regression:
    """A model with data of its own: a method as a program."""

    def __init__(self, inputs):
        self.inputs = inputs

    @gen
    def model(self, sd, *more):
        slope = ~normal(0, 1)
        for i, x in enumerate((*self.inputs, *more)):
            ("y", i) @ ~normal(slope * x, sd)
        return self.inputs


REGRESSION = Regression((1.0, -2.0))


def method_oracle(choose, sd, *more):
    slope = choose("slope", "normal", 0, 1)
    for i, x in enumerate((1.0, -2.0, *more)):
        choose(("y", i), "normal", slope * x, sd)
    return (1.0, -2.0)


# --- arrays ----------------------------------------------------------------------------------------


@gen
def vectors(sd):
    x = ~mvnormal(np.zeros(2), [[1.0, 0.5], [0.5, 2.0]])
    w = ~dirichlet([1.0, 2.0, 3.0])
    z = ~iid(normal(float(x[0]), sd), 3)
    p = ~product(normal(float(w[0]), 1.0), normal(float(w[1]), sd))
    return np.concatenate([x, w])


def vectors_oracle(choose, sd):
    x = choose("x", "mvnormal", np.zeros(2), [[1.0, 0.5], [0.5, 2.0]])
    w = choose("w", "dirichlet", [1.0, 2.0, 3.0])
    choose("z", "iid_normal", x[0], sd)
    choose("p", "normals", [w[0], w[1]], [1.0, sd])
    return np.concatenate([x, w])


@gen
def discrete_arrays(n):
    flags = ~iid(bernoulli(0.4), 3)
    counts = ~multinomial(n, [0.2, 0.3, 0.5])
    hits = ~binom(n, 0.3)
    if flags[0]:
        share = ~beta(1.0 + counts[0], 1.0 + hits)
    return int(np.sum(flags))


def discrete_arrays_oracle(choose, n):
    flags = choose("flags", "iid_bernoulli", 0.4)
    counts = choose("counts", "multinomial", n, [0.2, 0.3, 0.5])
    hits = choose("hits", "binom", n, 0.3)
    if flags[0]:
        choose("share", "beta", 1.0 + counts[0], 1.0 + hits)
    return int(np.sum(flags))


@gen
def other_distributions(held):
    x = ~held
    y = ~normal(x, 2.0)
    z = ~(3 - 2 * normal(0, 1))
    frozen = ~stats.norm(1.0, 2.0)
    ("mask", (0, "a"), -1) @ ~(poisson(2.0) if y > 0 else 1 + poisson(2.0))
    return ~(np.array([True, False]) & True)


def other_distributions_oracle(choose, held):
    x = choose("x", "normal", held.mean, held.sd)
    y = choose("y", "normal", x, 2.0)
    choose("z", "normal", 3.0, 2.0)
    choose("frozen", "normal", 1.0, 2.0)
    choose(("mask", (0, "a"), -1), "poisson" if y > 0 else "poisson_plus_one", 2.0)
    return np.array([False, True])


PROGRAMS = (
    Program("straight line", straight_line, ((1.0,), (2.5,)), straight_line_oracle),
    Program("branch", branch, ((0.5,), (0.7,)), branch_oracle),
    Program("without choices", without_choices, ((1.0,), ("a",)), lambda choose, x: [x, "nothing"]),
    Program("loop", loop, ((4,), (2,), (5, (0.5, 1.5, 2.0, -1.0, 0.0))), loop_oracle),
    Program("chain", chain, ((6,), (3,)), chain_oracle),
    Program("while loop", while_loop, ((2.0,), (4.0,)), while_loop_oracle),
    Program("clusters", clusters, ((4,), (2,)), clusters_oracle),
    Program("assignments", assignments, ((5,), (7,)), assignments_oracle),
    Program("tree", tree, ((3,), (2, 3.0)), tree_oracle),
    Program("mutual recursion", even, ((4,), (2,)), even_oracle),
    Program("hierarchy", hierarchy, (((2, 0, 3), 1.0), ((1, 4), 2.0)), hierarchy_oracle),
    Program("splice", spliced, ((2.0, 3), (1.0, 1)), spliced_oracle),
    Program("method", REGRESSION.model, ((1.0,), (0.5, 3.0)), method_oracle),
    Program("vectors", vectors, ((1.0,), (2.0,)), vectors_oracle),
    Program("discrete arrays", discrete_arrays, ((5,), (5,)), discrete_arrays_oracle),
    Program("other distributions", other_distributions, ((normal(0, 1),), (normal(2, 3),)),
            other_distributions_oracle),
)  # fmt: skip
