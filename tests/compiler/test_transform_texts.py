"""The transforms of steps, as Python text: what they write and log |det J|, or they are refused."""

import math
import os
import random
from collections import Counter
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from gendsl import (
    bernoulli,
    categorical,
    continuous,
    copy,
    dirichlet,
    discrete,
    gen,
    normal,
    read,
    transform,
    uniform,
    uniform_discrete,
    write,
)
from gendsl.compiler import hir
from gendsl.compiler.front import library_slopes
from gendsl.compiler.hir import Const, Function, Op, Return, Set, Var, derivatives
from gendsl.compiler.hir.failures import NotClosed
from gendsl.compiler.hir.slopes import Slopes
from gendsl.compiler.hir.types import FLOAT
from gendsl.compiler.python.print_python import compile_python, print_python
from gendsl.compiler.steps import tangents
from gendsl.inference import involutive
from tests.compiler.closed_steps import WAYS, AsPython
from tests.compiler.test_closed_move import Move, compiled, outcomes
from tests.laws.modules import imported
from tests.transforms import random_moves, test_programs

LONG = os.environ.get("GENDSL_LONG", "") not in ("", "0")


def steps_of(trace, move, cases):
    """What became of steps, as Python text."""
    return outcomes(AsPython, compiled(trace, move), trace, move, cases)


def random_move(seed):
    """The steps of a move that is put together at random."""
    text, counts = random_moves.Writer(seed).source()
    with imported(text) as module:
        trace = random_moves.start(module, seed, counts)
        return steps_of(trace, Move(module.auxiliary, module.move), 4)


SEEDS = [*range(6), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(6, 80 if LONG else 16))]


@pytest.mark.parametrize("seed", SEEDS)
def test_random_moves_are_equal(seed):
    results = random_move(seed)
    assert results.keys() <= {"accepted", "rejected", "raises"} and len(results) > ("raises" in results), (
        results
    )


PARTS = [0, *(pytest.param(part, marks=pytest.mark.slow) for part in range(1, 16 if LONG else 4))]


@pytest.mark.parametrize("part", PARTS)
def test_random_transforms_are_equal_or_refused(part):
    results = Counter()
    program, q = test_programs.model, test_programs.auxiliary
    for seed in range(10 * part, 10 * (part + 1)):
        text = test_programs.written(np.random.default_rng(seed))
        names = {"read": read, "write": write, "copy": copy, "continuous": continuous, "discrete": discrete}
        f = test_programs.defined(text, f"<closed {seed}>", **names)
        try:
            results += steps_of(program.simulate((), rng=seed), Move(q, transform(f)), 2)
        except NotClosed:
            results["refused"] += 1
    assert results["accepted"] + results["rejected"] >= 4, results


# --- what transforms may say -------------------------------------------------------------------------


@gen
def levels(n):
    k = ~uniform_discrete(1, 5)
    for j in range(k):
        ("mu", j) @ ~normal(0, 1)
        ("part", j, "sd") @ ~normal(0, 2)
    for i in range(n):
        ("y", i) @ ~normal(0, 1)
    return [float(j) for j in range(k)], k


@gen
def draw(trace):
    j = ~uniform_discrete(0, trace["k"] - 1)
    u = ~normal(0, 1)
    return j, u


@transform
def through_helpers(model_in, aux_in, *, model_out, aux_out):
    def moved(handle, x):
        write(handle, x)

    j, _ = aux_in.retval
    copy(aux_in["j"], aux_out["j"])
    u, mu = read(aux_in["u"]), read(model_in["mu", j])
    moved(model_out["mu", j], mu * math.cos(0.3) - u * math.sin(0.3))
    moved(aux_out["u"], mu * math.sin(0.3) + u * math.cos(0.3))


@transform
def by_lists(model_in, aux_in, *, model_out, aux_out):
    k = read(model_in["k"])
    copy(aux_in["j"], aux_out["j"])
    copy(aux_in["u"], aux_out["u"])
    every = [read(model_in["mu", j]) for j in range(k)]
    total = sum(every)
    for j, x in enumerate(every):
        write(model_out["mu", j], x + 0.5 * total if j else math.exp(x) * x)


@transform
def turned_round(model_in, aux_in, *, model_out, aux_out):
    k = model_in.retval[1]
    copy(aux_in["u"], aux_out["u"])
    copy(aux_in["j"], aux_out["j"])
    for j in range(k):
        copy(model_in["part", j], model_out["part", k - 1 - j])
        copy(model_in["mu", j], model_out["mu", k - 1 - j])


@transform
def lost(model_in, aux_in, *, model_out, aux_out):
    j, u = aux_in.retval
    copy(aux_in["j"], aux_out["j"])
    write(model_out["mu", j], read(model_in["mu", j]) + u)
    write(aux_out["u"], -read(aux_in["u"]))


@transform
def to_observations(model_in, aux_in, *, model_out, aux_out):
    copy(aux_in["j"], aux_out["j"])
    write(aux_out["u"], read(model_in["y", 0]) - read(aux_in["u"]))


def results_of(f):
    return steps_of(levels.generate((2,), {"k": 3, ("y", 0): 0.3}, rng=1).trace, Move(draw, f), 6)


@pytest.mark.parametrize(
    "f", [through_helpers, by_lists, turned_round, to_observations], ids=lambda f: f.name
)
def test_ways_to_write_a_transform(f):
    assert results_of(f).keys() <= {"accepted", "rejected"}


@gen
def ten():
    for j in range(10):
        ("x", j) @ ~normal(0, 1)


@gen
def factor(trace):
    u = ~normal(0, 1)


@transform
def of_many_terms(model_in, aux_in, *, model_out, aux_out):
    """The differential of the sum has more terms than are kept, and some are of the same coordinate."""
    x0, x1, x2, x3, x4 = (read(model_in["x", j]) for j in range(5))
    x5, x6, x7, x8, x9 = (read(model_in["x", 5 + j]) for j in range(5))
    u = read(aux_in["u"])
    total = x0 + 2 * x1 - x2 * x3 + x4 / (2 + x5 * x5) + math.exp(x6) * x7 - x8 + x9 * u
    shifted = total * read(model_in["x", 2]) - u
    write(model_out["x", 0], total)
    write(aux_out["u"], shifted * total + read(model_in["x", 0]))
    for j in range(1, 10):
        write(model_out["x", j], read(model_in["x", j]) * (1 + 0.1 * u) + 0.01 * shifted * j)


@transform
def carried(model_in, aux_in, *, model_out, aux_out):
    """What is set in several places, before and behind what uses it."""
    u = read(aux_in["u"])
    a, b = read(model_in["x", 0]), read(model_in["x", 1])
    doubled = a * b
    for j in range(2, 10):
        a, b = b + 0.1 * a * u, a - math.sin(b)
        before, held = a, a * b
        if j % 2:
            a = a * read(model_in["x", j])
            doubled = doubled + a * before
        x = read(model_in["x", j]) + 0.5 * held
        write(model_out["x", j], a * x + before if b > 0 else held * x - doubled)
    write(aux_out["u"], u + before * doubled)
    i = 0
    while i < 2:
        x = read(model_in["x", i])
        a = a + x * b
        write(model_out["x", i], x * a if u > 0 else x - b)
        b = b * before
        i += 1


@pytest.mark.parametrize("f", [of_many_terms, carried], ids=lambda f: f.name)
def test_differentials_hold_where_they_are_used(f):
    results = Counter()
    for seed in range(5):
        results += steps_of(ten.simulate((), rng=seed), Move(factor, f), 4)
    assert results["accepted"] + results["rejected"] == 20, results


@transform
def copied_twice(model_in, aux_in, *, model_out, aux_out):
    copy(aux_in["j"], aux_out["j"])
    copy(aux_in["u"], model_out["mu", 0])
    copy(aux_in["u"], aux_out["u"])


@transform
def copied_and_kept(model_in, aux_in, *, model_out, aux_out):
    copy(aux_in["j"], aux_out["j"])
    copy(model_in["mu", 0], aux_out["u"])
    write(model_out["mu", 1], read(model_in["mu", 1]) + read(aux_in["u"]))


@transform
def not_a_number(model_in, aux_in, *, model_out, aux_out):
    copy(aux_in["j"], aux_out["j"])
    write(aux_out["u"], read(aux_in["u"]) * math.nan)


@transform
def observation(model_in, aux_in, *, model_out, aux_out):
    copy(aux_in["j"], aux_out["j"])
    u = read(aux_in["u"])
    write(model_out["y", 0], u)
    write(aux_out["u"], read(model_in["mu", 0]))


@transform
def written_twice(model_in, aux_in, *, model_out, aux_out):
    copy(aux_in["j"], aux_out["j"])
    write(aux_out["u"], read(aux_in["u"]))
    copy(aux_in["u"], aux_out["u"])


@transform
def labelled(model_in, aux_in, *, model_out, aux_out):
    copy(aux_in["j"], aux_out["j"])
    write(aux_out["u"], read(aux_in["u"], discrete))


@transform
def absent(model_in, aux_in, *, model_out, aux_out):
    copy(aux_in["j"], aux_out["j"])
    copy(aux_in["u"], aux_out["u"])
    copy(model_in["none", 0], model_out["mu", 0])


WRONG = [copied_twice, copied_and_kept, not_a_number, observation, written_twice, absent]


@pytest.mark.parametrize("f", WRONG, ids=lambda f: f.name)
def test_where_the_interpreter_raises_a_text_fails(f):
    assert results_of(f) == {"raises": 6}


def test_a_transform_that_always_raises_is_refused():
    with pytest.raises(NotClosed, match="it always comes to the label discrete for a continuous choice"):
        results_of(labelled)


@gen
def shares(n):
    weights = ~dirichlet([1.0, 2.0, 3.0])
    ("z", 0) @ ~categorical(weights)


@gen
def share(trace):
    u = ~uniform(0, 1)
    return u


@transform
def scaled_shares(model_in, aux_in, *, model_out, aux_out):
    """On the simplex nothing changes by the factor, and beside it everything does."""
    first, second, third = read(model_in["weights"])
    u = read(aux_in["u"])
    total = first + second + third
    moved = second * u
    write(model_out["weights"], [(first + moved) * total, (second - moved) * total, third * total])
    write(aux_out["u"], moved / (first + moved))


def test_simplexes_have_one_coordinate_less():
    results = steps_of(shares.simulate((2,), rng=1), Move(share, scaled_shares), 5)
    assert results.keys() <= {"accepted", "rejected"}


def test_what_a_program_returned_has_no_derivative():
    assert results_of(lost) == {"raises": 6}


@gen
def draw_some(trace):
    j = ~uniform_discrete(0, trace["k"] - 1)
    u = ~normal(0, 1)
    lower = [i for i in range(trace["k"]) if trace["mu", i] ** 2 < trace["mu", j] ** 2 + 1]
    return (j, lower) if trace["mu", j] * math.exp(-(u**2)) > -10 else None


@transform
def negative_where_returned(model_in, aux_in, *, model_out, aux_out):
    copy(aux_in["j"], aux_out["j"])
    copy(aux_in["u"], aux_out["u"])
    if aux_in.retval is not None:
        j, lower = aux_in.retval
        for i in lower:
            write(model_out["mu", i], -read(model_in["mu", i]) * (1 if i == j else 1.0))


def test_what_was_returned_without_floats_is_found_without_tangents():
    trace = levels.generate((2,), {"k": 3, ("y", 0): 0.3}, rng=1).trace
    results = steps_of(trace, Move(draw_some, negative_where_returned), 6)
    assert results.keys() <= {"accepted", "rejected"}
    text = involutive(draw_some, negative_where_returned).source_of("step", trace)
    assert "draw_some_returned(state)" in text and "returned_slopes" not in text
    text = involutive(draw, through_helpers).source_of("step", trace)  # it returns a float, too
    assert "draw_returned_slopes(state)" in text


def test_the_text_has_the_names_of_the_user():
    text = compiled(levels.simulate((2,), rng=1), Move(draw, through_helpers)).text
    assert "mu = " in text and "mu, at_mu = " in text
    assert "def through_helpers(" in text and "def draw_returned_slopes(" in text


def test_derivatives_of_numbers_are_numbers():
    text = compiled(levels.simulate((2,), rng=1), Move(draw, through_helpers)).text
    transform = text[text.index("def through_helpers(") :]
    transform = transform[: transform.index("\ndef ")]
    assert transform.count("ordered(") == 2 and " add(" not in transform


PAIRS, A, DX = Var("pairs", "r"), Var("a", "f"), Var("dx", "r")
forgets = Function("forgets", [PAIRS, A, DX], [], [Return([])])


def signs_changed(factors):
    return factors and (factors[0], derivatives.minus(factors[1]))


@pytest.mark.parametrize("mistake", ["slope", "sign", "product", "sum"])
def test_a_planted_mistake_is_found(mistake, monkeypatch):
    if mistake == "sign":
        plain = tangents.of_two
        monkeypatch.setattr(tangents, "of_two", lambda *given: signs_changed(plain(*given)))
    elif mistake == "slope":
        monkeypatch.setitem(derivatives.SLOPES, "exp", lambda x, y: x)
    elif mistake == "sum":
        wrong = tangents.differentiate
        monkeypatch.setattr(
            tangents, "differentiate", lambda *given: wrong(*given[:2], replace(given[2], add=forgets))
        )
    else:
        monkeypatch.setattr(tangents, "times", lambda x, y: y)
    with pytest.raises(AssertionError):
        assert results_of(by_lists).keys() <= {"accepted", "rejected"}


# --- derivatives -------------------------------------------------------------------------------------

UNARY = {
    **dict.fromkeys(derivatives.SLOPES, 0.4), "acosh": 1.7, "ndtri": 0.3, "log": 2.5, "sqrt": 2.0,
    "gammaln": 1.3, "lgamma": 1.3, "abs": -0.7,
}  # fmt: skip
BINARY = {
    "add": (0.3, 1.2), "sub": (0.3, 1.2), "mul": (0.3, 1.2), "truediv": (0.3, 1.2), "np_div": (0.3, -1.2),
    "pow": (1.3, 2.2), "np_power": (1.3, 2.2), "hypot": (0.3, 1.2), "atan2": (0.3, -1.2),
    "np_maximum": (0.3, 1.2), "np_minimum": (0.3, 1.2), "np_logaddexp": (0.3, 1.2),
}  # fmt: skip
_NUMPY_ONLY = {"gammaln", "expit", "logit", "ndtr", "ndtri"}


SLOPES = Slopes(*(Function(name) for name in ("ordered", "add", "log_abs_det", "sizes", "finite")))


def value_and_slopes(main, given):
    """f(x) and its slopes, by the text."""
    made = tangents.differentiate(main, "_slopes", SLOPES)
    text = compile_python(print_python(made), {})
    for name in ("add", "ordered"):
        text[name] = lambda _, *given, name=name: getattr(library_slopes, name)(*given)
    f = text["f"]
    value, pairs = f(None, *(part for i, x in enumerate(given) for part in (x, [(i, 1.0)])))
    found = dict(pairs)
    slopes = [found.get(direction, 0.0) for direction in range(len(given))]
    return value, slopes, lambda *x: f(None, *(part for one in x for part in (one, [])))[0]


def check_slopes(main, given):
    _, slopes, f = value_and_slopes(main, given)
    for direction, slope in enumerate(slopes):
        h = 1e-6
        up, down = ([x + s * h * (i == direction) for i, x in enumerate(given)] for s in (1, -1))
        assert slope == pytest.approx((f(*up) - f(*down)) / (2 * h), rel=1e-7, abs=1e-8), direction


@pytest.mark.parametrize("name", [*UNARY, *BINARY])
def test_slopes_are_those_of_differences(name):
    given = BINARY[name] if name in BINARY else (UNARY[name],)
    variables = tuple(Var(f"x{i}", "f") for i in range(len(given)))
    operation = Op(f"np_{name}" if name in _NUMPY_ONLY else name, variables, "f")
    check_slopes(Function("f", list(variables), ["f"], [Return([operation])]), given)


def test_what_is_set_again_has_the_differential_of_before():
    x, u, v, y = (Var(name, "f") for name in "xuvy")

    def product(one, other):
        return Op("mul", (one, other), "f")

    body = [
        Set([v], [product(x, u)]),
        Set([y], [product(v, x)]),
        Set([v], [product(v, product(y, u))]),
        Return([Op("sub", (product(y, y), v), "f")]),
    ]
    check_slopes(Function("f", [x, u], ["f"], body), (0.7, -1.3))


def test_what_is_asked_of_numbers_has_no_differential():
    """Whatever is computed of a test, or of an integer, where there is no derivative of that here."""
    x = Var("x", "f")
    positive = Op("float", (Op("gt", (x, Const(0.0, "f")), "b"),), "f")
    of_whole = Op("np_psi", (Op("float", (Op("int_trunc", (x,), "i"),), "f"),), "f")
    body = [Return([Op("add", (Op("mul", (x, positive), "f"), of_whole), "f")])]
    made = tangents.differentiate(Function("f", [x], ["f"], body), "_slopes", SLOPES)
    assert "np_psi" in print_python(made)


def test_what_is_looked_up_for_the_next_iteration_has_no_derivative():
    x, y, template = Var("x", "f"), Var("y", "f"), SimpleNamespace(name="a", type=FLOAT, parts=("a",))
    i, n, one = Var("i", "i"), Const(3, "i"), Const(1, "i")
    body = [
        Set([y], [x]),
        hir.For(i, Const(0, "i"), n, one, [Set([x], [y]), hir.Read([y], template, (), False)], 1),
        Return([x]),
    ]
    text = print_python(tangents.differentiate(Function("f", [x], ["f"], body), "_slopes", SLOPES))
    assert "[(-1, nan)]" in text


def test_what_has_no_derivative_here_is_refused():
    main = Function("f", [Var("x", "f")], ["f"], [Return([Op("np_psi", (Var("x", "f"),), "f")])])
    with pytest.raises(NotClosed, match="the derivative of psi"):
        tangents.differentiate(main, "_slopes", SLOPES)
    assert hir.functions(main) == [main] and Const(0.0, "f") == derivatives.ZERO


@gen
def far(trace, by, factor):
    u = ~normal(by, 1)


@transform
def by_arguments(model_in, aux_in, *, model_out, aux_out):
    mu, u = read(model_in["mu", 0]), read(aux_in["u"])
    by, factor = aux_in.args
    (n,) = model_in.args
    write(model_out["mu", 0], by + factor * (u - by) + 0.0 * len(aux_in.args) * n)
    write(aux_out["u"], by + (mu - by) / factor)


@pytest.mark.parametrize("way", WAYS)
def test_arguments_of_the_auxiliary_program_come_without_the_trace(way):
    trace, move = levels.simulate((2,), rng=1), Move(far, by_arguments, (0.5, 2.0))
    assert outcomes(way, compiled(trace, move), trace, move, 8).keys() <= {"accepted", "rejected"}


@transform
def by_arguments_of_an_output(model_in, aux_in, *, model_out, aux_out):
    write(model_out["mu", 0], read(aux_in["u"]))
    write(aux_out["u"], read(model_in["mu", 0]) + 0.0 * model_out.args[0])


def test_outputs_have_no_arguments():
    with pytest.raises(NotClosed, match="the attribute args of a trace"):
        compiled(levels.simulate((2,), rng=1), Move(far, by_arguments_of_an_output, (0.5, 2.0)))


# --- where there is no derivative --------------------------------------------------------------------


@gen
def scaled(k):
    a = ~normal(0, 1)


@gen
def a_difference(trace, edge):
    u = ~normal(0, 1)
    up = ~bernoulli(0.5)


def edge_of(name, x):
    if name == "abs":
        return abs(x)
    if name == "np_abs":
        return np.abs(np.array([x, 1.0]))[0]
    return math.copysign(x, 1.0) if name == "copysign" else 0.0


@transform
def with_an_edge(model_in, aux_in, *, model_out, aux_out):
    a, u, up = read(model_in["a"]), read(aux_in["u"]), read(aux_in["up"], discrete)
    x = model_in.args[0] * u
    moved = u + edge_of(aux_in.args[0], x)
    if aux_in.args[0] == "times zero":
        moved += math.atan2(x, x) * 0.0
    write(model_out["a"], a + (moved if up else -moved))
    write(aux_out["u"], u)
    write(aux_out["up"], not up, discrete)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ["abs", "np_abs", "copysign", "times zero"])
def test_where_there_is_no_derivative_steps_fail(name, way):
    """A function without a derivative there is one though it is multiplied by zero."""
    for k, expected in ((2.0, {"accepted", "rejected"}), (0.0, {"raises"})):
        trace, move = scaled.simulate((k,), rng=1), Move(a_difference, with_an_edge, (name,))
        assert outcomes(way, compiled(trace, move), trace, move, 8).keys() == expected


# --- what is done with derivatives -------------------------------------------------------------------


def some_slopes(rng):
    return {i: rng.gauss(0, 1) for i in range(8) if rng.random() < 0.5}


def test_derivatives_are_added():
    rng = random.Random(1)
    for _ in range(300):
        x, y, a = some_slopes(rng), some_slopes(rng), rng.choice([0.0, 1.0, -2.0])
        found = sorted(x.items())
        library_slopes.add(found, a, sorted(y.items()))
        assert found == sorted(found) and len(found) == len(dict(found))
        assert dict(found).keys() == (x.keys() | y.keys() if a else x.keys())
        for i in range(8):
            assert dict(found).get(i, 0.0) == pytest.approx(x.get(i, 0.0) + a * y.get(i, 0.0), abs=1e-15)
    found = [(1, 3.0)]
    library_slopes.add(found, 0.0, [(1, math.nan)])
    assert found == [(1, 3.0)]


def test_derivatives_are_put_in_order():
    rng = random.Random(2)
    for _ in range(300):
        given = [(rng.randrange(-1, 5), rng.gauss(0, 1)) for _ in range(rng.randrange(1, 9))]
        found = list(given)
        library_slopes.ordered(found)
        assert [i for i, _ in found] == sorted({i for i, _ in given})
        for i, slope in found:
            assert slope == pytest.approx(sum(x for j, x in given if j == i), abs=1e-14)


@pytest.mark.parametrize("density", [0.2, 0.4, 1.0])
def test_determinants_are_numpys(density):
    """Of matrices with coordinates among the others that are no rows, and whose entries don't matter."""
    rng, regular = np.random.default_rng(2), 0
    for case in range(400):
        n, others = int(rng.integers(1, 9)), int(rng.integers(0, 3))
        matrix = rng.normal(size=(n, n + others)) * (rng.random((n, n + others)) < density)
        place = rng.permutation(n + others)
        if case % 2:
            matrix[range(n), place[rng.permutation(n)]] = rng.normal(size=n)
        numbers = [-1] * (n + others)
        for row, coordinate in enumerate(place[:n]):
            numbers[coordinate] = row
        columns = [[(int(i), float(one[i])) for i in np.flatnonzero(one)] for one in matrix]
        expected = float(np.linalg.slogdet(matrix[:, place[:n]])[1])
        if expected < -20:
            with pytest.raises(AssertionError):
                library_slopes.log_abs_det(columns, numbers)
        else:
            regular += 1
            found = library_slopes.log_abs_det(columns, numbers)
            assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert regular > 100


def test_derivatives_that_are_no_numbers_have_no_determinant():
    for slope, coordinate in ((math.nan, 0), (math.inf, 0), (1.0, -1)):
        with pytest.raises(AssertionError):
            library_slopes.log_abs_det([[(coordinate, slope)]], [0])
    assert library_slopes.log_abs_det([], [-1, -1]) == 0.0


# --- many coordinates --------------------------------------------------------------------------------


@gen
def path(n):
    x = 0.0
    for i in range(n):
        x = ("x", i) @ ~normal(0.9 * x, 1)
    slope = ~normal(0, 1)


@gen
def tilt(trace):
    by = ~normal(0, 0.1)
    up = ~bernoulli(0.5)


@transform
def tilted(model_in, aux_in, *, model_out, aux_out):
    by, up, slope = read(aux_in["by"]), read(aux_in["up"], discrete), read(model_in["slope"])
    write(aux_out["up"], not up, discrete)
    write(aux_out["by"], by)
    scale = math.exp(by if up else -by)
    before, before_now = 0.0, 0.0
    for i in range(model_in.args[0]):
        x = read(model_in["x", i])
        now = 0.9 * before_now + (x - 0.9 * before) * scale + slope * 0.0
        write(model_out["x", i], now)
        before, before_now = x, now
    write(model_out["slope"], slope)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("n", [1, 2, 30, 300])
def test_a_whole_path_that_is_stretched(n, way):
    """The Jacobian of 2 + n coordinates is triangular."""
    trace, move = path.simulate((n,), rng=1), Move(tilt, tilted)
    results = outcomes(way, compiled(trace, move), trace, move, 4)
    assert results.keys() <= {"accepted", "rejected"} and sum(results.values()) == 4


@transform
def mixed(model_in, aux_in, *, model_out, aux_out):
    """Two coordinates are turned, and all others change with them; what is kept is of the last iteration."""
    by, up, slope = read(aux_in["by"]), read(aux_in["up"], discrete), read(model_in["slope"])
    write(aux_out["up"], not up, discrete)
    angle = 0.3 if up else -0.3
    turned = by * math.cos(angle) - slope * math.sin(angle), by * math.sin(angle) + slope * math.cos(angle)
    write(aux_out["by"], turned[0])
    write(model_out["slope"], turned[1])
    last, sign = 0.0, 1.0 if up else -1.0
    for i in range(model_in.args[0]):
        x = read(model_in["x", i])
        pair = [x, by if up else turned[0]]
        if i % 2 == 0:
            last = pair[1]
        write(model_out["x", i], x + sign * sum(pair[1:]) * (1.0 + (slope if up else turned[1])) + 0.0 * last)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("n", [1, 2, 30])
def test_rows_and_columns_that_are_eliminated(n, way):
    trace, move = path.simulate((n,), rng=1), Move(tilt, mixed)
    results = outcomes(way, compiled(trace, move), trace, move, 4)
    assert results.keys() <= {"accepted", "rejected"} and sum(results.values()) == 4


@transform
def one_number(model_in, aux_in, *, model_out, aux_out):
    write(model_out["weights"], 0.5 * read(aux_in["u"]), continuous)
    write(aux_out["u"], read(aux_in["u"]))


def test_a_number_is_no_simplex():
    with pytest.raises(NotClosed, match="makes no choice of its type"):
        steps_of(shares.simulate((2,), rng=1), Move(share, one_number), 5)
