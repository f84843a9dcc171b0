"""The transforms of steps, as Python text: what they write and log |det J|, or they are refused."""

import math
import os
from collections import Counter

import numpy as np
import pytest

from gendsl import (
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
from gendsl.compiler import hir, tangents
from gendsl.compiler.front.values import NotClosed
from gendsl.compiler.hir import Const, Function, Op, Return, Var
from gendsl.compiler.print_python import compile_python, print_python
from tests.compiler.closed_steps import AsPython
from tests.compiler.test_closed_move import Move, compiled, outcomes
from tests.laws.modules import imported
from tests.transforms import test_programs, test_random_moves

LONG = os.environ.get("GENDSL_LONG", "") not in ("", "0")


def steps_of(trace, move, cases):
    """What became of steps, as Python text."""
    return outcomes(AsPython, compiled(trace, move), trace, move, cases)


def random_move(seed):
    """The steps of a move that is put together at random."""
    text, counts = test_random_moves.Writer(seed).source()
    with imported(text) as module:
        trace = test_random_moves.start(module, seed, counts)
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


WRONG = [copied_twice, copied_and_kept, not_a_number, observation, written_twice, labelled, absent]


@pytest.mark.parametrize("f", WRONG, ids=lambda f: f.name)
def test_where_the_interpreter_raises_a_text_fails(f):
    assert results_of(f) == {"raises": 6}


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


def test_the_text_has_the_names_of_the_user():
    text = compiled(levels.simulate((2,), rng=1), Move(draw, through_helpers)).text
    assert "mu = " in text and "mu, d_mu = " in text
    assert "def through_helpers(" in text and "def draw_returned(" in text


@pytest.mark.parametrize("mistake", ["slope", "sign", "product"])
def test_a_planted_mistake_is_found(mistake, monkeypatch):
    if mistake == "sign":
        monkeypatch.setattr(tangents, "plus", lambda x, y: tangents._op("sub", x, y))
    elif mistake == "slope":
        monkeypatch.setitem(tangents.SLOPES, "exp", lambda x, y: x)
    else:
        monkeypatch.setattr(tangents, "times", lambda x, y: y)
    f = through_helpers if mistake == "sign" else by_lists
    with pytest.raises(AssertionError):
        results_of(f)


# --- derivatives -------------------------------------------------------------------------------------

UNARY = {
    **dict.fromkeys(tangents.SLOPES, 0.4), "acosh": 1.7, "ndtri": 0.3, "log": 2.5, "sqrt": 2.0,
    "gammaln": 1.3, "lgamma": 1.3, "abs": -0.7,
}  # fmt: skip
BINARY = {
    "add": (0.3, 1.2), "sub": (0.3, 1.2), "mul": (0.3, 1.2), "truediv": (0.3, 1.2), "np_div": (0.3, -1.2),
    "pow": (1.3, 2.2), "np_power": (1.3, 2.2), "hypot": (0.3, 1.2), "atan2": (0.3, -1.2),
    "np_maximum": (0.3, 1.2), "np_minimum": (0.3, 1.2), "np_logaddexp": (0.3, 1.2),
}  # fmt: skip
_NUMPY_ONLY = {"gammaln", "expit", "logit", "ndtr", "ndtri"}


def value_and_slopes(name, given):
    """f(x) and its slopes, by the text."""
    variables = [Var(f"x{i}", "f") for i in range(len(given))]
    main = Function("f", list(variables), ["f"], [Return([Op(name, tuple(variables), "f")])])
    made = tangents.differentiate(main)
    f = compile_python(print_python(made), {})["f"]
    slopes = []
    for direction in range(len(given)):
        pairs = [part for i, x in enumerate(given) for part in (x, float(i == direction))]
        value, slope = f(None, *pairs)
        slopes.append(slope)
    return value, slopes, lambda *x: f(None, *(part for one in x for part in (one, 0.0)))[0]


@pytest.mark.parametrize("name", [*UNARY, *BINARY])
def test_slopes_are_those_of_differences(name):
    given = BINARY[name] if name in BINARY else (UNARY[name],)
    _, slopes, f = value_and_slopes(f"np_{name}" if name in _NUMPY_ONLY else name, given)
    for direction, slope in enumerate(slopes):
        h = 1e-6
        up, down = ([x + s * h * (i == direction) for i, x in enumerate(given)] for s in (1, -1))
        assert slope == pytest.approx((f(*up) - f(*down)) / (2 * h), rel=1e-7, abs=1e-8), direction


def test_what_has_no_derivative_here_is_refused():
    main = Function("f", [Var("x", "f")], ["f"], [Return([Op("np_psi", (Var("x", "f"),), "f")])])
    with pytest.raises(NotClosed, match="the derivative of psi"):
        tangents.differentiate(main)
    assert hir.functions(main) == [main] and Const(0.0, "f") == tangents.ZERO
