"""Random walks as texts: the interpreter's decisions, values, ratios and random numbers."""

import math
import os
from collections import Counter

import numpy as np
import pytest

from benchmarks.models import families
from gendsl import (
    Distribution,
    bernoulli,
    beta,
    cauchy,
    continuous,
    dirichlet,
    discrete,
    exponential,
    factor,
    flat,
    gamma,
    gen,
    half_normal,
    iid,
    inv_gamma,
    laplace,
    lkj,
    mixture_of_normals,
    mvnormal,
    normal,
    ordered,
    poisson,
    product,
    read,
    sample,
    select,
    transform,
    truncated_normal,
    uniform,
    uniform_discrete,
    von_mises,
    write,
)
from gendsl.compiler.hir.failures import NotClosed
from gendsl.compiler.moves import Several
from gendsl.compiler.run.closed_move import ClosedKernel
from gendsl.errors import GenDSLError
from gendsl.inference import cycle, involutive, mixture, random_walk, repeat
from gendsl.inference.compiled import machine, texts
from gendsl.supports import Interval, Ordered, Positive, RealArray, Simplex
from gendsl.testing import running_on
from tests.compiler.closed_steps import WAYS, AsPython, compared, needs_llvm, values
from tests.conformance.idioms import GROUPS

LONG = os.environ.get("GENDSL_LONG", "") not in ("", "0")


def outcomes(way, trace, kernel, steps):
    """What became of steps, each from where the interpreter's chain is."""
    closed = ClosedKernel(trace.gen_fn, trace.args, [kernel.move])
    observed = trace.observed_paths

    def afresh(trace):
        """A trace by the interpreter, whose choices are in the order of the program."""
        made = trace.gen_fn.reference.score(trace.args, values(trace))
        made.observed_paths = observed
        return made

    return Counter(
        "zero" if what == "rejected" and info.reason is not None else what
        for what, info, _ in compared(way, closed, trace, kernel, steps, afresh=afresh)
    )


@gen
def mean(n):
    mu = ~normal(0, 3)
    for i in range(n):
        ("y", i) @ ~normal(mu, 1)


@gen
def charts():
    p = ~gamma(2, 1)
    b = ~beta(2, 3)
    t = ~truncated_normal(0, 1, -math.inf, 1.5)
    s = ~truncated_normal(1, 2, 0.5, math.inf)
    r = ~truncated_normal(1, 2, -math.inf, math.inf)
    angle = ~von_mises(0.5, 2)
    u = ~uniform(-2, 5)
    f = ~flat(0)
    g = ~flat()
    h = ~half_normal(2)
    i = ~inv_gamma(3, 2)
    c = ~cauchy(0, 1)
    m = ~mixture_of_normals([0.3, 0.7], [-1, 1], [1, 2])
    "y" @ ~normal(p + f + g * angle + h * i, 1 + b + s)


@gen
def images():
    s = ~gamma(2, 1)
    a = ~(2.0 * normal(0, 1) + 1)
    b = ~(10 * beta(2, 2))
    c = ~(1 + gamma(2, 1))
    d = ~(-3.0 * gamma(2, 1))
    e = ~(s * uniform(0, 1) + 1)
    f = ~(s * gamma(2, 1))
    "y" @ ~normal(a + b + c + d + e + f, 1)


@gen
def chained():
    x = ~uniform(0.5, 4)
    y = ~uniform(0, x)
    z = ~truncated_normal(0, 1, y, y + x)
    "d" @ ~normal(y * z, 0.5)


@gen
def several(n):
    k = ~uniform_discrete(1, 4)
    sd = ~gamma(2, 1)
    for j in range(k):
        ("mu", j) @ ~normal(0, 3)
    mu = [("extra", j) @ ~normal(0, 1) for j in range(2)]
    z = ~poisson(3)
    for i in range(n):
        ("y", i) @ ~normal(mu[i % 2], sd)


class triangle(Distribution):
    """Of the user's own."""

    def __init__(self, low, high):
        self.low, self.high = low, high

    def logpdf(self, x):
        return math.log(2 * (x - self.low)) - 2 * math.log(self.high - self.low)

    def sample(self, rng):
        return self.low + (self.high - self.low) * math.sqrt(rng.random())

    @property
    def support(self):
        return Interval(self.low, self.high)


@gen
def own():
    a = ~gamma(2, 1)
    x = ~triangle(-a, 2.0)
    "d" @ ~normal(x, 0.3)


@gen
def steers():
    x = ~normal(0, 1)
    if x > 0:
        ("more", 0) @ ~normal(0, 1)
    y = ~normal(0, 1)
    d = ~normal(x + y, 1)


@gen
def turns():
    x = ~normal(0, 1)
    for j in range(2) if x > 0 else range(1, -1, -1):
        ("a", j) @ ~normal(j * 3 + x, 1)


@gen
def inner(scale):
    low = ~normal(0, scale)
    return low + ("wide" @ ~gamma(2, scale))


@gen
def outer(n):
    first = "first" @ ~inner(1.0)
    for j in range(n):
        ("rest", j) @ ~inner(2.0 + j)
    y = ~normal(first, 1)


@gen
def call_at_the_end():
    x = ~normal(0, 1)
    y = ~normal(x, 1)
    "last" @ ~inner(1.0)


@gen
def grid(n, m):
    total = 0.0
    for i in range(n):
        for j in range(m):
            total += ("x", i, j) @ ~normal(i, 1 + j)
    y = ~normal(total, 1)


@gen
def tree(depth):
    x = ~normal(0, 1)
    if depth:
        left = "left" @ ~tree(depth - 1)
        right = "right" @ ~tree(depth - 1)
        x = x + left - right
    return x


@gen
def grown(depth):
    total = "root" @ ~tree(depth)
    y = ~normal(total, 1)


@gen
def weighted():
    x = ~normal(0, 1)
    "w" @ ~factor(-x * x)
    y = ~normal(0, math.exp(x))


def of(program, args=(), data=None, seed=1, **more):
    return lambda: program.generate(args, data or {}, rng=seed, **more).trace


@gen
def vectors(n):
    m = ~mvnormal([0.0, 1.0, 2.0], [[1.0, 0.3, 0.0], [0.3, 2.0, 0.1], [0.0, 0.1, 1.0]])
    for j in range(2):
        ("s", j) @ ~iid(gamma(2, 1), 2 + j)
    b = ~product(uniform, [0.0, -1.0], [1.0, 3.0])
    a = ~(mvnormal([0.0, 1.0], [[1.0, 0.3], [0.3, 2.0]]) * 2.0 + 1.0)
    p = ~product([uniform(0.0, 1.0 + j) for j in range(3)])
    e = ~iid(normal(0, 1), 0)
    x = ~normal(0, 1)
    for i in range(n):
        ("y", i) @ ~normal(m[0] + b[1] + p[2] + a[0] + x, 1)


class plane(Distribution):
    """Of the user's own, on matrices."""

    def __init__(self, n, scale):
        self.n, self.scale = n, scale

    def logpdf(self, x):
        return -np.sum(x * x) / self.scale - np.sum(x)

    def sample(self, rng):
        return rng.standard_normal((self.n, 2))

    @property
    def support(self):
        return RealArray((self.n, 2))


@gen
def matrices():
    x = ~plane(3, 2.0)
    "d" @ ~normal(x[0, 0] + 2 * x[1, 1] - x[2, 0], 1)


class falling(Distribution):
    """Of the user's own, on ordered vectors."""

    def __init__(self, n):
        self.n = n

    def logpdf(self, x):
        return -np.sum(x) - x[0] * x[1]

    def sample(self, rng):
        return np.sort(rng.random(self.n))

    @property
    def support(self):
        return Ordered(Positive(), self.n)


class corner(Distribution):
    """Of the user's own, on weights."""

    def __init__(self, n, a):
        self.n, self.a = n, a

    def logpdf(self, x):
        return self.a * math.log(x[0] + 1e-300)

    def sample(self, rng):
        return rng.dirichlet(np.ones(self.n))

    @property
    def support(self):
        return Simplex(self.n)


@gen
def weights_and_orders():
    k = ~uniform_discrete(2, 4)
    a = ~gamma(3, 1)
    w = ~dirichlet([a] * k)
    one = ~dirichlet([1.0])
    for j in range(2):
        ("o", j) @ ~ordered(normal(j, a), 3)
    p = ~ordered(gamma(2, 1), 2)
    b = ~ordered(uniform(0, a), 2)
    f = ~falling(3)
    c = ~corner(3, a)
    x = ~normal(0, 1)
    "d" @ ~normal(w[0] + p[1] - b[0] + x + f[1] * c[2], 0.5)


@gen
def moving_vectors():
    s = ~gamma(3, 1)
    v = ~iid(uniform(0, s), 3)
    w = ~product(truncated_normal, v, 1.0, 0.0, v + s)
    "d" @ ~normal(v[0] + w[1], 0.3)


DATA = {("y", i): 0.3 * i for i in range(4)}
@gen
def products(scale):
    p = ~product(normal(0, 1), normal(scale, 2), laplace(0, 1))
    q = ~product(normal(p[0], 1), gamma(scale, 2), beta(2, 1), uniform(-scale, scale))
    r = ~product(gamma(2, 1), gamma(scale, 2), exponential(1))
    d = ~normal(p.sum() + q[1] * r[2] - r[0] + q[3], 1)
    return d


CASES = {
    "mean": (of(mean, (4,), DATA), random_walk(select("mu"), 0.8)),
    "all of a mean": (of(mean, (4,), DATA), random_walk(scale=0.8)),
    "charts": (of(charts, (), {"y": 1.0}, init={"f": 0.5, "g": 0.1}), random_walk(scale=0.3)),
    "some charts": (
        of(charts, (), {"y": 1.0}, init={"f": 0.5, "g": 0.1}),
        random_walk(select("f", "b", "u", "angle"), 0.9),
    ),
    "images": (of(images, (), {"y": 3.0}), random_walk(scale=0.3)),
    "supports that move": (of(chained, (), {"d": 0.4}), random_walk(scale=0.7)),
    "a support that moves": (of(chained, (), {"d": 0.4}), random_walk(select("x"), 0.7)),
    "indices": (of(several, (4,), DATA), random_walk(select("mu"), 0.5)),
    "order": (of(several, (4,), DATA), random_walk(select("extra", ("mu", 0), "sd", "mu"), 0.3)),
    "wild": (of(several, (4,), DATA), random_walk(select(("mu", ...), "sd"), 0.4)),
    "not there": (of(several, (4,), DATA, init={"k": 1}), random_walk(("mu", 3), 0.4, skip_absent=True)),
    "some not there": (
        of(several, (4,), DATA, init={"k": 2}),
        random_walk(select(("mu", 3), ("mu", 1)), 0.4, skip_absent=True),
    ),
    "one prefix": (
        of(outer, (3,), {"y": 0.4}),
        random_walk(select("first", ("rest", ..., "wide"), ("rest", ..., "low")), 0.4),
    ),
    "scales of a grid": (
        of(grid, (2, 3), {"y": 0.4}),
        random_walk("x", {("x", 1, 2): 0.1, ("x", 0, 1): 2.0, ("x", 1, 0): 0.7}),
    ),
    "own": (of(own, (), {"d": 0.4}), random_walk(scale=0.6)),
    "calls": (of(outer, (3,), {"y": 0.4}), random_walk(scale=0.6)),
    "a call at the end": (of(call_at_the_end, (), {"y": 0.4}), random_walk(select("last", "x"), 0.6)),
    "in calls": (of(outer, (3,), {"y": 0.4}), random_walk(select(("rest", 1), ("first", "wide")), 0.6)),
    "trees": (of(grown, (2,), {"y": 0.4}), random_walk(scale=0.4)),
    "in trees": (
        of(grown, (2,), {"y": 0.4}), random_walk(select(("root", "right"), ("root", "left", "x")), 0.4)
    ),
    "factors": (of(weighted, (), {"y": 0.4}), random_walk(scale=1.4)),
    "scales": (of(several, (4,), DATA), random_walk(select("sd", "mu"), {"sd": 0.1, ("mu", 1): 2.0})),
    "a scale of one of them": (of(vectors, (4,), DATA), random_walk(select("b", "x"), {"x": 0.5})),
    "vector": (of(several, (4,), DATA), random_walk(select("sd", "extra"), [0.1, 1.0, 2.0])),
    "vectors": (of(vectors, (4,), DATA), random_walk(scale=0.3)),
    "some vectors": (of(vectors, (4,), DATA), random_walk(select("b", ("s", 1), "x"), 0.3)),
    "a vector without entries": (of(vectors, (4,), DATA), random_walk(select("e", "x"), 1.3)),
    "scales of vectors": (
        of(vectors, (4,), DATA),
        random_walk(
            select("b", "s", "m", "x"),
            {("s", 1): 0.1, "m": [0.3, 0.2, 0.9], "b": [1.0, 3.0], ("s", 0): [0.2, 0.2], "x": 0.4},
        ),
    ),
    "a vector for vectors": (
        of(vectors, (4,), DATA), random_walk(select("x", ("s", 0), "m"), np.linspace(0.2, 1.2, 6))
    ),
    "matrices": (of(matrices, (), {"d": 0.4}), random_walk(scale=0.7)),
    "products of several kinds": (of(products, (1.5,), {"d": 0.4}), random_walk(scale=0.4)),
    "some products": (of(products, (1.5,), {"d": 0.4}), random_walk("q", [0.2, 0.5, 0.3, 0.4])),
    "weights and orders": (of(weights_and_orders, (), {"d": 0.4}), random_walk(scale=0.15)),
    "some weights": (
        of(weights_and_orders, (), {"d": 0.4}), random_walk(select("p", "w", ("o", 1), "x", "one", "c"), 0.3),
    ),
    "scales of weights": (
        of(weights_and_orders, (), {"d": 0.4}, init={"k": 3}),
        random_walk(select("c", "w", "x"), {"w": [0.3, 0.1], "c": 0.2, "x": 0.5}),
    ),
    "vectors whose supports move": (of(moving_vectors, (), {"d": 2.0}), random_walk(scale=0.4)),
    "matrix": (
        of(several, (4,), DATA),
        random_walk(select("extra", "sd"), np.array([[0.5, 0.3, 0.1], [0.3, 0.6, 0.0], [0.1, 0.0, 0.7]])),
    ),
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", CASES)
def test_the_same_steps(name, way):
    start, kernel = CASES[name]
    results = outcomes(way, start(), kernel, 150)
    assert results.keys() <= {"accepted", "rejected", "zero"}, results
    if name != "not there":
        assert results["accepted"] > 10
        assert results["rejected"] > 10


MODELS = {model.name: model for models in families().values() for model in models}


@pytest.mark.parametrize(
    ("name", "way"),
    [
        pytest.param(
            name, *(way.values if hasattr(way, "values") else (way,)), marks=getattr(way, "marks", ())
        )
        for place, name in enumerate(MODELS)
        for way in (WAYS[place % 2],)
    ],
)
def test_models_of_the_families(name, way):
    """All continuous choices of a model at once, every second one in one of the two ways."""
    results = outcomes(way, MODELS[name].start(), random_walk(scale=0.05), 8)
    left = {result for result in results if not result.endswith("a choice that the trace does not have")}
    assert left <= {"accepted", "rejected", "zero"}, results


@pytest.mark.parametrize("group", sorted(GROUPS))
def test_programs_of_this_repository_are_walked_alike_or_refused(group):
    """All continuous choices of programs at once, by Python text; of every twelfth, or all in long tests."""
    found = Counter()
    for model, (args, *_) in [*GROUPS[group]().values()][:: 1 if LONG else 12]:
        try:
            trace = model.simulate(args, rng=1)
            results = outcomes(AsPython, trace, random_walk(scale=0.2), 3)
        except NotClosed:
            continue
        except (GenDSLError, ArithmeticError, TypeError, ValueError):  # of the program, which raises
            continue
        found.update(results)
    assert found["raises"] == 0


# --- where the reference rejects, or raises ---------------------------------------------------------------


@gen
def bounded():
    x = ~uniform(0, 1)
    y = ~uniform(0, 1)
    "d" @ ~normal(x - y, 0.1)


@gen
def far_apart():
    x = ~gamma(2, 1)
    "d" @ ~uniform(0, x)


@gen
def of_kinds():
    z = ~bernoulli(0.5)
    x = ~normal(0, 1)
    n = ~poisson(2)
    w = ~lkj(2, 1.0)
    "d" @ ~normal(x, 1)


@gen
def correlation():
    w = ~lkj(2, 1.0)
    "d" @ ~poisson(1.5 + w[0, 1])


@gen
def unit():
    s = ~iid(gamma(2, 1), 2)
    "d" @ ~uniform(0, s[0] + s[1])


@gen
def only_whole():
    n = ~poisson(3)


@gen
def whole():
    n = ~poisson(3)
    "d" @ ~normal(n, 1)


ANY = {"accepted", "rejected", "zero"}
ODD = {
    "on the border": (of(bounded, (), {"d": 0.1}, init={"x": 0.0}), random_walk(scale=0.3), {"zero"}),
    "rounded to the border": (of(bounded, (), {"d": 0.9}), random_walk(scale=40.0), ANY),
    "out of bounds": (of(far_apart, (), {"d": 2.0}), random_walk(scale=0.7), ANY),
    "an entry on the border": (
        of(vectors, (0,), init={"b": [0.0, 1.0]}), random_walk(select("x", "b"), 0.3), {"zero"},
    ),
    "an entry rounded to the border": (of(vectors, (4,), DATA), random_walk("b", 30.0), ANY),
    "entries out of bounds": (of(unit, (), {"d": 0.5}), random_walk("s", 1.0), ANY),
    "weights on the border": (
        of(weights_and_orders, (), {"d": 0.4}, init={"k": 2, "c": [1.0, 0.0, 0.0]}),
        random_walk(select("c"), 0.3), {"zero"},
    ),
    "weights rounded to the border": (
        of(weights_and_orders, (), {"d": 0.4}),
        random_walk(select("c"), 1000.0),
        ANY - {"accepted"},
    ),
    "only a vector without entries": (of(vectors, (4,), DATA), random_walk(select("e"), 1.3), {"zero"}),
    "a mass of several entries": (
        of(vectors, (4,), DATA), random_walk(select("m", "x"), {"m": [0.3, 0.2]}), {"raises"}
    ),
    "nothing at all": (of(only_whole), random_walk(scale=0.7), {"zero"}),
    "nothing": (of(whole, (), {"d": 2.0}), random_walk(scale=0.7), {"zero"}),
    "discrete": (of(of_kinds), random_walk(select("x", "z"), 0.7), {"raises"}),
    "observed": (of(bounded, (), {"d": 0.1}), random_walk(select("x", "d"), 0.3), {"raises"}),
    "observed by all": (of(bounded, (), {"d": 0.1, "x": 0.3}), random_walk(scale=0.3), ANY - {"zero"}),
    "not there": (of(several, (4,), DATA, init={"k": 2}), random_walk(select(("mu", 3)), 0.4), {"raises"}),
    "a factor": (of(weighted, (), {"y": 0.4}), random_walk(select("x", "w"), 0.4), {"raises"}),
    "a mass of another dimension": (
        of(several, (4,), DATA, init={"k": 2}), random_walk(select("mu"), [1.0, 2.0, 3.0]), {"raises"}
    ),
    "a matrix of another dimension": (
        of(several, (4,), DATA, init={"k": 2}), random_walk(select("mu"), np.eye(3)), {"raises"}
    ),
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ODD)
def test_odd_steps(name, way):
    start, kernel, expected = ODD[name]
    results = outcomes(way, start(), kernel, 150)
    assert results.keys() == expected, results


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ["structure", "order", "what is not read", "nothing that is read"])
def test_what_is_left_to_the_interpreter(name, way):
    """Where the program makes other choices than the trace has, or in another order."""
    start, kernel = {
        "structure": (of(steers, (), {"d": 0.4}), random_walk(select("x", "y"), 0.8)),
        "order": (of(turns, (), {}), random_walk(scale=0.8)),
        "what is not read": (of(of_kinds), random_walk(scale=0.8)),
        "nothing that is read": (of(correlation, (), {"d": 1}), random_walk(scale=0.8)),
    }[name]
    results = outcomes(way, start(), kernel, 100)
    assert any(result.startswith("fails") for result in results), results


def test_what_is_refused():
    trace = of(of_kinds)()
    with pytest.raises(NotClosed, match="coordinates of"):
        ClosedKernel(trace.gen_fn, trace.args, [random_walk(select("w"), 0.3).move])
    assert random_walk("x").move is None  # it has no step size yet


# --- whole chains -----------------------------------------------------------------------------------------


@gen
def one_more_or_less(trace):
    k = trace["k"]
    grow = ~bernoulli(1.0 if k == 1 else 0.0 if k == 4 else 0.5)
    if grow:
        new = ~normal(0, 3)


@transform
def grown_or_shrunk(model_in, aux_in, *, model_out, aux_out):
    k = read(model_in["k"], discrete)
    grow = read(aux_in["grow"], discrete)
    write(aux_out["grow"], not grow, discrete)
    if grow:
        write(model_out["k"], k + 1, discrete)
        write(model_out["mu", k], read(aux_in["new"], continuous), continuous)
    else:
        write(model_out["k"], k - 1, discrete)
        write(aux_out["new"], read(model_in["mu", k - 1], continuous), continuous)


@gen
def clusters(n):
    k = ~uniform_discrete(1, 4)
    mu = [("mu", j) @ ~normal(0, 3) for j in range(k)]
    sd = ~gamma(2, 1)
    for i in range(n):
        ("y", i) @ ~mixture_of_normals([1 / k] * k, mu, [sd] * k)


jump = involutive(one_more_or_less, grown_or_shrunk)
CHAINS = {
    "cycle": (cycle(jump, random_walk("mu", 0.4), random_walk("sd", 0.5)), {}),
    "all": (cycle(jump, random_walk(scale=0.4)), {}),
    "warm-up": (cycle(jump, random_walk("mu"), random_walk("sd")), {"warmup": 300}),
    "warm-up of all": (cycle(jump, random_walk()), {"warmup": 300}),
    "not there": (cycle(jump, random_walk(("mu", 2), 0.4, skip_absent=True)), {}),
    "scales": (cycle(jump, random_walk(select("mu", "sd"), {("mu", 1): 0.1, "sd": 0.7})), {}),
    "picked": (mixture([random_walk("mu", 0.4), repeat(jump, 2)], lambda trace: [trace["k"], 1.5]), {}),
}


RECORDED = ["k", "sd", ("mu", 0)]


def noting(made, init):
    def noted(self, *args, **named):
        made.append(self)
        init(self, *args, **named)

    return noted


@needs_llvm
@pytest.mark.parametrize("name", CHAINS)
def test_the_same_chain(name, monkeypatch):
    made = []
    monkeypatch.setattr(machine.Machine, "__init__", noting(made, machine.Machine.__init__))
    kernel, asked = CHAINS[name]
    trace = clusters.generate((4,), DATA, rng=3).trace
    found = {}
    for runtime in ("native", "compiled"):
        with running_on(runtime):
            found[runtime] = sample(
                kernel, trace, 400, seed=6, record=["k", "sd", ("mu", 0)], progress=False, **asked
            )
    *_, native = made  # behind that of the warm-up
    assert not native.fallbacks
    counts = [
        {name: (tally.proposed, tally.accepted, tally.weighed, tally.reasons)
         for name, tally in one.chains[0].acceptance.items()}
        for one in found.values()
    ]  # fmt: skip
    assert counts[0] == counts[1]
    for name in RECORDED:
        np.testing.assert_allclose(found["native"][name], found["compiled"][name], rtol=1e-9)
    for name, one in found["native"].chains[0].acceptance.items():
        other = found["compiled"].chains[0].acceptance[name]
        for part in ("log_ratio", "log_aux", "log_abs_det"):
            assert getattr(one, part) == pytest.approx(getattr(other, part), rel=1e-9, abs=1e-9)


@pytest.mark.slow
@needs_llvm
def test_tunings_share_a_text(monkeypatch):
    """Each run has a warm-up of its own, which finds other values for the same text."""
    made, compiled = [], []
    monkeypatch.setattr(machine.Machine, "__init__", noting(made, machine.Machine.__init__))
    monkeypatch.setattr(ClosedKernel, "__init__", noting(compiled, ClosedKernel.__init__))
    trace = clusters.generate((4,), DATA, rng=3).trace
    kernel = cycle(random_walk("sd"), repeat(mixture([jump, random_walk()]), 2))
    asked = {"draws": 200, "warmup": 200, "record": RECORDED, "progress": False}
    found = {}
    for runtime in ("native", "compiled"):
        with running_on(runtime):
            found[runtime] = [sample(kernel, trace, seed=seed, **asked) for seed in range(3)]
    assert len(made) == 6
    assert len(compiled) == 2
    assert len({one.closed.values["walk0"][0] for one in made[1::2]}) == 3
    for native, other in zip(*found.values(), strict=True):
        for name in RECORDED:
            np.testing.assert_allclose(native[name], other[name], rtol=1e-9)


@needs_llvm
def test_texts_of_other_masses_are_others(monkeypatch):
    """Whether masses go by address is in the text; which there are is not."""
    compiled = []
    monkeypatch.setattr(ClosedKernel, "__init__", noting(compiled, ClosedKernel.__init__))
    trace = several.generate((4,), DATA, rng=3).trace
    first, which = random_walk(select("sd", "extra")), select("sd", "extra")
    by_address = [{"sd": 0.1}, {"sd": 0.2, ("extra", 1): 2.0}, {("extra", 0): 2.0}]
    for count, scales in enumerate(([0.3, 0.5], [[0.1, 0.3, 0.2], [0.2, 0.3, 0.4]], by_address), 1):
        for scale in scales:
            kernel, found = first.tuned(random_walk(which, scale).tuning), []
            for runtime in ("native", "compiled"):
                with running_on(runtime):
                    found.append(sample(kernel, trace, 50, record="sd", seed=1, progress=False)["sd"])
            np.testing.assert_allclose(*found, rtol=1e-9)
        assert len(compiled) == count


def test_which_steps_have_one_text():
    one, other, third = (random_walk(at, size).move for at, size in [("mu", 1.0), ("mu", 2.0), ("sd", 1.0)])
    twice = texts._Compiled((), (one, one, Several("s", (jump.move,), 2)), None, (), frozenset(), None, "")
    again = Several("s", (jump.move,), 2)
    assert twice.is_like([other, other, again])
    for steps in [(one, other, again), (third, third, again), (one, one), (one, one, again, again)]:
        assert not twice.is_like(steps)
    for last in (Several("s", (jump.move,), 3), Several("s", (jump.move, one), 2), one):
        assert not twice.is_like([one, one, last])


@pytest.mark.slow
@needs_llvm
def test_the_masses_of_vectors_are_found():
    """What warm-up finds of vectors, each entry of which has a mass, and one choice none yet."""
    trace = vectors.generate((4,), DATA, rng=3).trace
    asked = {"draws": 300, "warmup": 200, "record": ["m", ("s", 1), "x"], "progress": False}
    found = {}
    for runtime in ("native", "compiled"):
        with running_on(runtime):
            found[runtime] = sample(random_walk(), trace, seed=6, **asked)
    assert found["native"].ran == ["as machine code"]
    for name in asked["record"]:
        np.testing.assert_allclose(found["native"][name], found["compiled"][name], rtol=1e-9)


@needs_llvm
def test_why_steps_are_rejected_is_told():
    """A choice may be rejected for one reason or another, each of which is counted by itself."""
    counts = []
    for runtime in ("native", "compiled"):
        with running_on(runtime):
            trace = bounded.generate((), {"d": 0.9}, rng=1).trace
            result = sample(random_walk(scale=40.0), trace, 300, seed=2, record="x", progress=False)
        (tally,) = result.chains[0].acceptance.values()
        counts.append((tally.accepted, tally.weighed, tally.reasons))
    assert counts[0] == counts[1]
    assert any("rounded to the border" in reason for reason in counts[0][2])


@gen
def grows():
    k = ~uniform_discrete(1, 30)
    for j in range(k):
        ("mu", j) @ ~normal(0, 3)
    x = ~beta(2, 1)


@gen
def one_more_of_thirty(trace):
    k = trace["k"]
    grow = ~bernoulli(1.0 if k == 1 else 0.0 if k == 30 else 0.5)
    if grow:
        new = ~normal(0, 3)


@needs_llvm
def test_reasons_stay_apart_when_there_is_more_room():
    """A choice comes to its border, and where its density is zero, before and after there is more memory."""
    counts = []
    kernel = cycle(involutive(one_more_of_thirty, grown_or_shrunk), random_walk("x", 600.0))
    for runtime in ("native", "compiled"):
        with running_on(runtime):
            trace = grows.generate((), init={"k": 1, "x": 0.5}, rng=1).trace
            result = sample(kernel, trace, 1000, seed=2, record="k", progress=False)
        assert max(result["k"].ravel()) > 8
        counts.append(result.chains[0].acceptance["random walk select('x')"].reasons)
    assert counts[0] == counts[1]
    assert len(counts[0]) == 2
