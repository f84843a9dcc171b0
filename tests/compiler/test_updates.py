"""Steps that update choices one by one, as text: the interpreter's decisions, values and random numbers."""

from collections import Counter

import numpy as np
import pytest

from gendsl import (
    bernoulli,
    beta,
    binom,
    categorical,
    dirichlet,
    gamma,
    gen,
    iid,
    mvnormal,
    neg_binom,
    normal,
    ordered,
    poisson,
    product,
    select,
    student_t,
    uniform,
    uniform_discrete,
    wishart,
)
from gendsl.compiler.hir.failures import NotClosed
from gendsl.compiler.run.closed_move import ClosedKernel
from gendsl.distributions import Distribution
from gendsl.inference import gibbs, mh, single_site, slice_sampling
from gendsl.inference.compiled.moves import flattened
from gendsl.supports import FiniteSet, Integers
from tests.compiler.closed_steps import WAYS, AsPython, compared


def outcomes(way, kernel, trace, steps):
    """What became of steps, each from where the interpreter's chain is."""
    (part,) = flattened(kernel).parts
    closed = ClosedKernel(trace.gen_fn, trace.args, [part.move])
    results = Counter()
    for what, _, moves in compared(way, closed, trace, kernel, steps):
        results["same" if what in ("accepted", "rejected") else what] += 1
        results["moves"] += moves
    return +results


@gen
def clusters(n, k):
    mu = [("mu", j) @ ~normal(0, 10) for j in range(k)]
    s = ~gamma(2, 1)
    flag = ~bernoulli(0.3)
    c = ~poisson(3)
    for i in range(n):
        z = ("z", i) @ ~categorical([1 / k] * k)
        ("x", i) @ ~normal(mu[z] + (0.5 if flag else 0.0), s + 0.01 * c)


@gen
def bounded(n):
    a = ~uniform_discrete(1, 4)
    b = ~uniform_discrete(0, a)  # what its values are depends on a choice that is updated before it
    t = ~uniform(0, 3)
    u = ~uniform(-1, t)
    for i in range(n):
        v = ("v", i) @ ~bernoulli(0.3 + 0.1 * b)
        w = ("w", i) @ ~binom(a + b, 0.4)
        ("y", i) @ ~normal(a * v + 0.3 * w + u, 0.5 + t)


@gen
def several():
    k = ~poisson(2)
    for i in range(k + 1):
        ("x", i) @ ~normal(0, 1)
        ("n", i) @ ~neg_binom(2, 0.4)


@gen
def tree(depth):
    leaf = ~bernoulli(0.5 if depth < 4 else 0.99)
    v = ~uniform_discrete(0, 2)
    if not leaf:
        "left" @ ~tree(depth + 1)
        "right" @ ~tree(depth + 1)
    "y" @ ~normal(v, 1)


@gen
def named():
    for c in ("a", "b", "cc"):
        (c, "u") @ ~bernoulli(0.4)
        (c, "w", 0) @ ~normal(0, 1)
    for i in range(3):
        for j in range(i + 1):
            ("g", i, j) @ ~bernoulli(0.2)


@gen
def in_any_letters():
    for c in ("1st", "x²", "ü", "日本", "½", "a b"):
        (c, "u") @ ~bernoulli(0.4)
        größe = ("2 größen", c) @ ~normal(0, 1)
        (c, "²") @ ~normal(größe, 1)
    "1" @ ~normal(0, 1)
    "ﬁ" @ ~normal(0, 1)  # one letter, in Python's names the same as the two below
    "fi" @ ~normal(0, 1)


@gen
def far(scale):
    s = ~gamma(2, 1)
    ("x", 0) @ ~normal(3, scale * s)
    ("x", 1) @ ~normal(3, s)


class Die(Distribution):
    """Equally probable faces."""

    parameters = ("faces",)

    def __init__(self, faces):
        self.faces = faces

    @property
    def support(self):
        return Integers(1, self.faces)

    def sample(self, rng):
        return int(rng.integers(1, self.faces + 1))

    def logpdf(self, x):
        return -np.log(self.faces)


@gen
def dice():
    faces = ~uniform_discrete(2, 5)
    first = ~Die(faces)
    second = ~Die(first + 1)
    y = ~normal(first - second, 1)


class Steps(Distribution):
    """Some numbers, of which one may be given twice."""

    parameters = ("first", "rate")

    def __init__(self, first, rate):
        self.first = first
        self.rate = rate

    @property
    def support(self):
        return FiniteSet((self.first, 2.5, 4.0, 0.25))

    def sample(self, rng):
        return [self.first, 2.5, 4.0, 0.25][int(rng.integers(4))]

    def logpdf(self, x):
        return -self.rate * x


@gen
def steps(n):
    start = ~bernoulli(0.5)
    for i in range(n):
        s = ("s", i) @ ~Steps(2.5 if start else 1.0, 0.3)
        t = ("t", i) @ ~(3 - 2 * binom(3, 0.4))
        half = ("half", i) @ ~(0.5 * uniform_discrete(1, 3))
        ("y", i) @ ~normal(s + t, half)


PI, MATRIX = [0.5, 0.3, 0.2], np.array([[0.8, 0.1, 0.1], [0.2, 0.8, 0.0], [0.3, 0.3, 0.4]])
ROWS = MATRIX.tolist()


@gen
def states(n):
    # one address, with distributions of several types
    z = None
    for t in range(n):
        if t == 0:
            z = ("z", t) @ ~categorical(PI)
        else:
            z = ("z", t) @ ~categorical(MATRIX[z])
        ("y", t) @ ~normal(z, 1)


@gen
def states_in_lists(n):
    z = ("z", 0) @ ~uniform_discrete(1, 2)
    x = ("x", 0) @ ~normal(z, 1)
    for t in range(1, n):
        z = ("z", t) @ ~categorical(ROWS[z])
        x = ("x", t) @ ~student_t(4, 0.5 * x + z, 1)


@gen
def in_order(n):
    # which of the values of a choice are possible, others say: the density of some is zero
    for i in range(n):
        ("s", i) @ ~bernoulli(0.5)
    for i in range(1, n):
        ("t", i) @ ~uniform_discrete(0, 3)
    for i in range(2, n):
        ("bound", i) @ ~uniform(-1, 1)


@gen
def arrays(n):
    # the free coordinates of arrays are moved one by one
    s = ~gamma(2, 1)
    a = ~iid(normal(0, s), 3)
    b = ~mvnormal(np.array([1.0, -1.0]), np.array([[2.0, 1.2], [1.2, 1.0]]))
    w = ~dirichlet([1.0, 2.0, 1.5, 2.0])
    o = ~ordered(gamma(2, 1), 3)
    q = ~iid(iid(gamma(2, 1), 2), 2)
    p = ~product([normal(0, 1), gamma(s, 2), uniform(0, 3)])
    h = ~(2 * mvnormal(np.zeros(2), np.eye(2)) + 1)
    one = ~dirichlet([1.0, 2.0])
    for i in range(n):
        v = ("v", i) @ ~iid(beta(2, 1), 2)
        ("y", i) @ ~normal(a[i % 3] + b[0] * w[1] + o[1] * v[0] + one[0] * h[1], q[0, 1] + v[1] + p[2])
    c = ~iid(bernoulli(0.3), 2)
    m = ~wishart(4, np.eye(2))
    long = ~iid(normal(0, 1), 20)
    z = ~normal(long[:9].sum(), 0.1 + abs(long[19] + a[0]))


@gen
def either():
    # one value says in which order the others are made
    first = ~bernoulli(0.5)
    if first:
        a = ~categorical([0.2, 0.5, 0.3])
        b = ~uniform_discrete(0, a)
    else:
        b = ~uniform_discrete(0, 2)
        a = ~categorical([0.2, 0.5, 0.3] if b else [0.6, 0.4, 0.0])
    y = ~normal(a + b, 1)


RNG = np.random.default_rng(0)
TRACES = {
    "clusters": clusters.generate(
        (12, 3), {("x", i): float(RNG.normal([-2, 2, 5][i % 3], 0.5)) for i in range(12)}, rng=1
    ).trace,
    "bounded": bounded.generate((5,), {("y", i): 1.0 * i for i in range(5)}, rng=3).trace,
    "several": several.simulate((), rng=2),
    "tree": tree.simulate((0,), rng=5),
    "named": named.simulate((), rng=1),
    "in any letters": in_any_letters.simulate((), rng=1),
    "dice": dice.generate((), {"y": 1.0}, rng=1).trace,
    "either": either.generate((), {"y": 1.0}, rng=2).trace,
    "steps": steps.generate((3,), {("y", i): 2.0 * i for i in range(3)}, rng=1).trace,
    "arrays": arrays.generate((3,), {("y", i): 1.0 * i for i in range(3)}, rng=1).trace,
    "in order": in_order.simulate((4,), rng=1),
    "states": states.generate((6,), {("y", t): t / 3 for t in range(6)}, rng=2).trace,
    "states in lists": states_in_lists.simulate((6,), rng=2),
}
SAME = [
    ("clusters", gibbs("z")),
    ("clusters", gibbs("z", scan="random")),
    ("clusters", gibbs(select("z", "flag"))),  # z is gone through first
    ("clusters", gibbs(select("flag", ("z", 3), "z", ("z", 1)))),
    ("clusters", slice_sampling(select("mu", "s"))),
    ("clusters", slice_sampling(select("s", "c", "mu"), width=0.3, max_steps=3)),
    ("clusters", single_site(select("z", "s"))),
    ("bounded", gibbs(select("a", "b", "v"))),
    ("bounded", gibbs(select("w", "v"), scan="random")),
    ("bounded", slice_sampling(select("t", "u"), width=5.0)),
    ("bounded", slice_sampling(select("w", "a", "u"), scan="random")),
    ("bounded", single_site(select("a", "b", "t", "u"))),
    ("bounded", slice_sampling("q", skip_absent=True)),
    ("several", slice_sampling("n", width=2.5)),
    ("several", single_site("k")),
    ("several", single_site(select("k", "x"))),
    ("several", single_site(select(("n", 5)), skip_absent=True)),
    ("several", slice_sampling(select(("n", 5)), skip_absent=True)),
    ("tree", gibbs("v")),
    ("tree", gibbs(select((..., "v")))),
    ("tree", gibbs(select(("left", "left", "v")), skip_absent=True)),
    ("tree", single_site(select((..., "v"), "leaf"), skip_absent=True)),
    ("tree", single_site("left")),
    ("named", gibbs(select((..., "u"), "g"))),
    ("named", gibbs(select(("g", 2), ("b", "u")))),
    ("named", slice_sampling(select((..., "w")))),
    ("named", single_site(select(("g", ..., 0), ("cc", "w")))),
    ("named", mh(select(("g", ..., 1), ("a", "w", 0)))),
    ("dice", gibbs(select("first", "second"))),
    ("dice", slice_sampling(select("first", "second"))),
    ("dice", single_site(select("first", "faces"))),
    ("in order", gibbs(select("s", "t"))),
    ("states", gibbs("z")),
    ("states", single_site("z")),
    ("states in lists", gibbs("z", scan="random")),
    ("states in lists", slice_sampling("x")),
    ("states in lists", slice_sampling("z")),
    ("steps", gibbs(select("s", "start"))),
    ("steps", gibbs(select(("t", 1), "half", "start"), block=True)),
    ("clusters", gibbs(select(("z", 1), "flag", ("z", 5)), block=True)),  # the flag is made first
    ("bounded", gibbs(select("b", "a"), block=True)),
    ("bounded", gibbs(select("v", ("v", 2), "b"), block=True)),
    ("bounded", gibbs("q", block=True, skip_absent=True)),
    ("states", gibbs("z", block=True)),
    ("states in lists", gibbs(select(("z", 1), ("z", 2), ("z", 7)), block=True, skip_absent=True)),
    ("tree", gibbs(select((..., "v"), "v"), block=True, skip_absent=True)),
    ("named", gibbs(select((..., "u"), ("g", 2)), block=True)),
    ("in order", gibbs(select(("s", 1), ("t", 2), ("t", 3)), block=True)),
    ("either", gibbs(select("a", "b"), block=True)),
    ("steps", gibbs(select("t", "half", "s"), scan="random")),
    ("arrays", slice_sampling(select("w", "o", "h", "one"))),
    ("arrays", slice_sampling(select("a", "s", "p", "b"), width=0.3, max_steps=3)),
    ("arrays", slice_sampling(select(("v", 1), "v", "q"), scan="random", width=4.0, max_steps=1)),
    ("arrays", slice_sampling("long")),
    ("in any letters", gibbs(select((..., "u")))),
    ("in any letters", slice_sampling(select("2 größen", (..., "²"), "1", "ﬁ", "fi"))),
]  # fmt: skip
NOTHING = {"gibbs select('q')", "slice select('q')", "single_site select(('n', 5))", "slice select(('n', 5))"}
"""Those that have nothing to update in these traces."""


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("name", "kernel"), SAME, ids=lambda one: getattr(one, "name", one))
def test_steps(name, kernel, way):
    count = 25 if way is AsPython or name == "arrays" else 100
    results = outcomes(way, kernel, TRACES[name], count)
    assert results["same"] == count, results
    assert results["moves"] or kernel.name in NOTHING


RAISE = [
    ("several", gibbs("k")),  # infinitely many values
    ("several", gibbs("n")),
    ("tree", gibbs("leaf")),  # other choices
    ("bounded", slice_sampling("v")),  # no integers
    ("bounded", slice_sampling("q")),
    ("bounded", gibbs(select("v", ("w", 7)))),
    ("clusters", slice_sampling(select("mu", "x"))),  # observations
    ("clusters", single_site("x")),
    ("bounded", gibbs(select("a", ("v", 7)), block=True)),
    ("several", gibbs(select("k", "n"), block=True)),
]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("name", "kernel"), RAISE, ids=lambda one: getattr(one, "name", one))
def test_what_raises_is_left_to_the_interpreter(name, kernel, way):
    assert outcomes(way, kernel, TRACES[name], 5) == {"raises": 5}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("start", "scale"), [(1e-11, 1.0), (1e-11, 0.01), (1e-7, 1.0)])
def test_from_where_the_density_is_very_small(start, scale, way):
    observed = far.generate((scale,), {("x", 0): 1.0, ("x", 1): 2.0}, rng=1).trace
    trace = observed.update({"s": start})[0]
    assert trace.log_prob < -1e13
    results = outcomes(way, slice_sampling("s"), trace, 3)
    assert results["same"] == 3, results


@pytest.mark.parametrize("way", WAYS)
def test_an_address_that_is_gone_raises(way):
    results = outcomes(way, single_site(select((..., "v"), "leaf")), TRACES["tree"], 40)
    assert results["raises"] + results["same"] == 40
    assert 0 < results["raises"] < 40


@pytest.mark.parametrize("way", WAYS)
def test_a_value_that_decides_what_exists_fails(way):
    results = outcomes(way, slice_sampling("k"), TRACES["several"], 20)
    assert results["raises"] > 0
    assert results["raises"] + results["same"] == 20


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("name", "kernel", "why"),
    [
        ("either", gibbs(select("a", "b", "first"), block=True), "choices that are made in another order"),
        ("tree", gibbs(select("leaf", "v"), block=True, skip_absent=True), "a choice that is not given"),
    ],
    ids=lambda one: getattr(one, "name", one),
)
def test_blocks_whose_values_say_what_is_made_are_left_to_the_interpreter(name, kernel, why, way):
    results = outcomes(way, kernel, TRACES[name], 10)
    assert results.pop("moves", 0) <= 10
    assert all(what == "raises" or what.endswith(why) for what in results), results


@pytest.mark.parametrize(
    ("name", "kernel", "why"),
    [
        ("clusters", gibbs("mu"), "the values of a choice whose support is a Real"),
        ("clusters", gibbs(select(*(("z", 7 * i % 97) for i in range(97)))), "more than 64 addresses in"),
        ("arrays", slice_sampling("c"), "float as another value of a choice that is array"),
        ("arrays", gibbs("c", block=True), "the values of a choice whose support is a Repeated"),
        ("dice", gibbs(select("first", "second"), block=True), "a block with choices from Die"),
        ("arrays", slice_sampling("m"), "the coordinates of the array m"),
    ],
)
def test_what_has_no_text(name, kernel, why):
    (part,) = flattened(kernel).parts
    with pytest.raises(NotClosed, match=why):
        ClosedKernel(TRACES[name].gen_fn, TRACES[name].args, [part.move])


def test_the_text_reads_like_the_kernel():
    text = gibbs("z").source_of("step", TRACES["clusters"])
    for line in (
        "return lp - lp_before",
        "left = draw * total",
        "move_z(state, at, ",
    ):
        assert line in text, text
