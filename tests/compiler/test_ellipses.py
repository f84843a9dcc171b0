"""Steps along ellipses, as text: the interpreter's decisions, values and random numbers."""

import math
from collections import Counter

import numpy as np
import pytest

from gendsl import bernoulli, beta, gamma, gen, iid, mvnormal, normal, product, select, student_t, uniform
from gendsl.compiler.hir.failures import NotClosed
from gendsl.compiler.run.closed_move import ClosedKernel
from gendsl.inference import elliptical_slice
from gendsl.inference.compiled.moves import flattened
from tests.compiler.closed_steps import WAYS, AsPython, compared


def outcomes(way, kernel, trace, steps):
    """What became of steps, each from where the interpreter's chain is."""
    (part,) = flattened(kernel).parts
    closed = ClosedKernel(trace.gen_fn, trace.args, [part.move])
    results = Counter()
    for what, _, moves in compared(way, closed, trace, kernel, steps):
        results[what] += 1
        results["moves"] += moves
    return +results


MEAN, COVARIANCE = np.array([1.0, -1.0]), np.array([[2.0, 1.2], [1.2, 1.0]])


@gen
def forms(n):
    # all forms of what is normal, some with distributions that other choices decide
    s = ~gamma(2, 1)
    far = ~bernoulli(0.4)
    a = ~normal(0, 3)
    b = ~(2 * normal(1, s) - 3)
    c = ~iid(normal(s, 2), 3)
    d = ~product(normal, [1.0, 2.0, 3.0], s)
    e = ~mvnormal(MEAN * s, COVARIANCE)
    f = ~(2 * mvnormal(MEAN, s * COVARIANCE) + 1)
    g = ~iid(mvnormal(MEAN, COVARIANCE), 2)
    h = ~product([normal(0, 1), normal(s, 2)])
    for i in range(n):
        if far:
            ("x", i) @ ~normal(0.0, 10.0)
        else:
            ("x", i) @ ~(1 + normal(s, 1))
    o = ~(normal(0, 1) if far else normal(1, s))
    for i in range(n):
        ("y", i) @ ~normal(a + b + c[1] * d[2] + e[0] + f[1] * g[1, 0] + h[0] + o, 1 + abs(0.1 * e[1]))


@gen
def chained(n):
    x = 0.0
    for t in range(n):
        x = ("x", t) @ ~normal(0.9 * x, 1)
        ("z", t) @ ~normal(0, 1)
        ("y", t) @ ~normal(x + ("w", t) @ ~normal(0, 2), 0.5)


@gen
def tree(depth):
    leaf = ~bernoulli(0.5 if depth < 4 else 0.99)
    v = ~normal(0, depth + 1)
    if not leaf:
        "left" @ ~tree(depth + 1)
        "right" @ ~tree(depth + 1)
    "y" @ ~normal(v, 1)


@gen
def bounded():
    # where the density is zero, or the body raises, is nothing of the slice
    a = ~normal(0, 1)
    u = ~uniform(-1.0, 1.0 + a * a)
    b = ~normal(0, 1)
    c = ~normal(0, 2)
    y = ~normal(a, math.sqrt(b))
    m = ~student_t(3, c, 1)


@gen
def existing():
    x = ~normal(0, 1)
    if x > 0:
        z = ~normal(0, 1)


TRACES = {
    "forms": forms.generate((4,), {("y", i): 1.0 * i for i in range(4)}, rng=1).trace,
    "chained": chained.generate((5,), {("y", t): 0.3 * t for t in range(5)}, rng=1).trace,
    "tree": tree.simulate((0,), rng=5),
    "bounded": bounded.generate((), {"y": 0.5}, init={"b": 0.5}, rng=1).trace,
    "existing": existing.generate((), init={"x": 0.01}, rng=1).trace,
}
SAME = [
    *(("forms", elliptical_slice(select(*names))) for names in ("a", "bx", "cd", "ef", "gh", "o")),
    ("forms", elliptical_slice(select("x", "a", ("x", 1), "d", "f"))),  # they are drawn in this order
    ("forms", elliptical_slice(select("a", "b", "c", "d", "e", "f", "g", "h", "o"))),
    ("chained", elliptical_slice(select("z", "w"))),
    ("chained", elliptical_slice(select(("x", 2), ("w", 1)))),
    ("chained", elliptical_slice(select(("x", 7)), skip_absent=True)),
    ("tree", elliptical_slice(select((..., "v"), "v"))),
    ("tree", elliptical_slice(select(("left", "v"), ("right", "v")), skip_absent=True)),
    ("bounded", elliptical_slice(select("a", "c"))),
]
NOTHING = {"elliptical select(('x', 7))"}
"""Those that have nothing to update in these traces."""


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("name", "kernel"), SAME, ids=lambda one: getattr(one, "name", one))
def test_steps(name, kernel, way):
    count = 10 if way is AsPython else 40
    results = outcomes(way, kernel, TRACES[name], count)
    assert results["accepted"] == count, results
    assert results["moves"] or kernel.name in NOTHING


RAISE = [
    ("chained", elliptical_slice("x")),  # the distribution of one depends on the one before
    ("chained", elliptical_slice("y")),  # observations
    ("chained", elliptical_slice(select("z", ("w", 7)))),
]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("name", "kernel"), RAISE, ids=lambda one: getattr(one, "name", one))
def test_what_raises_is_left_to_the_interpreter(name, kernel, way):
    assert outcomes(way, kernel, TRACES[name], 5) == {"raises": 5}


@pytest.mark.parametrize("way", WAYS)
def test_a_value_that_decides_what_exists_raises(way):
    results = outcomes(way, elliptical_slice("x"), TRACES["existing"], 10)
    assert results["raises"] and set(results) <= {"raises", "accepted", "moves"}, results


@pytest.mark.parametrize("way", WAYS)
def test_where_the_body_raises_the_density_is_zero(way):
    results = outcomes(way, elliptical_slice(select("b", "c")), TRACES["bounded"], 40)
    failed = {what for what in results if what.startswith("fails")}
    assert len(failed) == 1 and results["accepted"], results
    assert results["accepted"] + sum(results[what] for what in failed) == 40


@pytest.mark.parametrize(
    ("name", "kernel", "why"),
    [
        ("bounded", elliptical_slice("m"), "what is not normal, but"),
        ("bounded", elliptical_slice(select("a", "u")), "what is not normal, but"),
        ("tree", elliptical_slice("leaf"), "what is not normal, but bool"),
    ],
)
def test_what_has_no_text(name, kernel, why):
    (part,) = flattened(kernel).parts
    with pytest.raises(NotClosed, match=why):
        ClosedKernel(TRACES[name].gen_fn, TRACES[name].args, [part.move])


def test_the_text_reads_like_the_kernel():
    text = elliptical_slice("a").source_of("step", TRACES["bounded"])
    for line in ("angle = 6.283185307179586 * ", "return mean + now * c + other * s", "while True:"):
        assert line in text, text


@gen
def at_the_end():
    a = ~normal(0, 1)
    y = ~beta(0.5 if a > 0.0 else 1.0, 1)


@pytest.mark.parametrize("way", WAYS)
def test_where_the_density_is_infinite_the_interpreter_raises(way):
    trace = at_the_end.generate((), {"y": 0.0}, init={"a": -0.3}, rng=1).trace
    results = outcomes(way, elliptical_slice("a"), trace, 20)
    assert results["raises"] and results["accepted"], results
    assert set(results) <= {"raises", "accepted", "moves"}, results
