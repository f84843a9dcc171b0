"""Transforms as one text: what they write and log |det J| are the interpreter's, or they are refused."""

import math
import os
from collections import Counter

import numpy as np
import pytest

from benchmarks.models import families, models
from benchmarks.models.model import Move
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
from gendsl.compiler.closed import FailedText
from gendsl.compiler.closed_transform import AUXILIARY, ClosedTransform, Given
from gendsl.compiler.front.program import MODEL
from gendsl.compiler.front.values import NotClosed
from gendsl.compiler.hir import Const, Function, Op, Return, Var
from gendsl.compiler.print_python import compile_python, print_python
from gendsl.distributions.base import measured
from gendsl.errors import GenDSLError
from gendsl.runtime.impossible import ZeroProbability
from gendsl.supports import Real
from gendsl.transforms.apply import image, output_values
from gendsl.transforms.language import directions
from tests.laws.modules import imported
from tests.transforms import test_programs, test_random_moves

LONG = os.environ.get("GENDSL_LONG", "") not in ("", "0")
MOVES = {
    f"{model.name}-{f.name}": (model, move._replace(f=f))
    for family in families()
    for model in models(family)
    for move in model.moves
    for f, _ in directions(move.f)
    if f.name not in ("birth_death", "split_merge")
}
REFUSED = {
    "amplitudes-beats", "summed-stepped", "with_matrix-matrix_of_other_size",
    "restaurant-reseated", "recursive-grown_or_pruned", "grammar-exchange_trees", "grammar-other_operator",
    "arma-switch_part", "exciting-excite_or_not",
}  # fmt: skip
"""Moves that are not read yet, for the constructs that the compiler refuses or leaves to the interpreter."""


def given(trace):
    records = dict(trace.records.items())
    supports = {path: measured(record[0]) for path, record in records.items() if not is_discrete(trace, path)}
    return Given(
        trace.args,
        {path: record[1] for path, record in records.items()},
        trace.observed_paths,
        {path: support for path, support in supports.items() if path not in trace.observed_paths},
    )


def is_discrete(trace, path):
    return measured(trace.records[path][0]).discrete


def outputs(found):
    """The supports of the continuous choices of the outputs."""
    traces = {MODEL: found.trace} | ({} if found.aux is None else {AUXILIARY: found.aux})
    return {
        (name, path): measured(trace.records[path][0])
        for name, trace in traces.items()
        for path in dict(trace.records.items())
        if not is_discrete(trace, path)
    }


def inputs(trace, aux, found):
    """The continuous choices of which the determinant is taken."""
    changed = [*found.run.outputs[0].entries, *found.removed]
    free = [path for path in changed if path in trace.records and path not in trace.observed_paths]
    places = [(MODEL, path) for path in free if not is_discrete(trace, path)]
    if aux is not None:
        places += [(AUXILIARY, path) for path in dict(aux.records.items()) if not is_discrete(aux, path)]
    return dict.fromkeys(places)


def compare(closed, trace, move, aux):
    """'equal', how a text differs from the interpreter, or that one of them raises."""
    try:
        found = image(move.f, trace, move.q, move.q_args, aux)
    except (GenDSLError, ZeroProbability):
        return "raises", None
    traces = {MODEL: given(trace)} | ({} if aux is None else {AUXILIARY: given(aux)})
    try:
        written = closed.run(traces)
        log_det = written.log_abs_det(inputs(trace, aux, found), outputs(found))
    except FailedText as failure:
        return f"fails: {failure}", None
    runs = zip(traces, found.run.outputs, strict=True)
    expected = {(name, path): v for name, out in runs for path, v in output_values(out).items()}
    if expected.keys() != written.values.keys():
        return f"wrong addresses: {expected.keys() ^ written.values.keys()}", None
    for place, value in expected.items():
        if not np.allclose(value, written.values[place], rtol=1e-12, atol=1e-12):
            return f"wrong value at {place}: {written.values[place]}, not {value}", None
    if log_det != pytest.approx(found.log_abs_det, rel=1e-9, abs=1e-9):
        return f"wrong determinant: {log_det}, not {found.log_abs_det}", None
    return "equal", found


def compare_moves(model, move, cases):
    rng = np.random.default_rng(1)
    trace = model.start()
    closed = ClosedTransform(move.f, model.program, trace.args, move.q, move.q_args)
    results = Counter()
    for _ in range(cases):
        aux = None if move.q is None else move.q.simulate((trace, *move.q_args), rng=rng)
        result, found = compare(closed, trace, move, aux)
        results[result] += 1
        if found is not None and math.isfinite(found.trace.log_prob) and rng.random() < 0.5:
            trace = found.trace
    return results


@pytest.mark.parametrize("name", MOVES)
def test_moves_of_the_families(name):
    model, move = MOVES[name]
    if name in REFUSED:
        try:
            results = compare_moves(model, move, 4)
        except NotClosed:
            return
        assert not any(result.startswith("wrong") for result in results), results
        return
    results = compare_moves(model, move, 16)
    assert results.keys() <= {"equal", "raises"} and results["equal"] > 0, results


def compare_random_move(seed):
    text, counts = test_random_moves.Writer(seed).source()
    with imported(text) as module:
        trace = test_random_moves.start(module, seed, counts)
        move = Move(module.auxiliary, module.move)
        closed = ClosedTransform(move.f, module.model, trace.args, move.q, ())
        rng = np.random.default_rng(seed)
        return Counter(compare(closed, trace, move, move.q.simulate((trace,), rng=rng))[0] for _ in range(4))


SEEDS = [*range(6), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(6, 80 if LONG else 16))]


@pytest.mark.parametrize("seed", SEEDS)
def test_random_moves_are_equal(seed):
    results = compare_random_move(seed)
    assert results.keys() <= {"equal", "raises"} and results["equal"] > 0, results


PARTS = [0, *(pytest.param(part, marks=pytest.mark.slow) for part in range(1, 8 if LONG else 2))]


@pytest.mark.parametrize("part", PARTS)
def test_random_transforms_are_equal_or_refused(part):
    results = Counter()
    program, q = test_programs.model, test_programs.auxiliary
    for seed in range(20 * part, 20 * (part + 1)):
        text = test_programs.written(np.random.default_rng(seed))
        names = {"read": read, "write": write, "copy": copy, "continuous": continuous, "discrete": discrete}
        f = test_programs.defined(text, f"<closed {seed}>", **names)
        move = Move(q, transform(f))
        trace = program.simulate((), rng=seed)
        try:
            closed = ClosedTransform(move.f, program, (), q, ())
        except NotClosed:
            results["refused"] += 1
            continue
        result, _ = compare(closed, trace, move, q.simulate((trace,), rng=seed))
        assert not result.startswith("wrong"), (result, text)
        results[result] += 1
    assert results["equal"] >= 4, results


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
    class Levels:
        program = levels

        @staticmethod
        def start():
            return levels.generate((2,), {"k": 3, ("y", 0): 0.3}, rng=1).trace

    return compare_moves(Levels, Move(draw, f), 6)


@pytest.mark.parametrize(
    "f", [through_helpers, by_lists, turned_round, to_observations], ids=lambda f: f.name
)
def test_ways_to_write_a_transform(f):
    assert results_of(f).keys() == {"equal"}


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
    trace = levels.generate((2,), {"k": 3, ("y", 0): 0.3}, rng=1).trace
    aux = draw.generate((trace,), {"j": 1}, rng=1).trace
    with pytest.raises(GenDSLError):
        image(f, trace, draw, (), aux)
    closed = ClosedTransform(f, levels, (2,), draw, ())
    with pytest.raises(FailedText):
        written = closed.run({MODEL: given(trace), AUXILIARY: given(aux)})
        changed = [place for place in written.values if place != (AUXILIARY, ("j",))]
        of_model = [place for place in changed if place[0] == MODEL]
        written.log_abs_det([*of_model, (AUXILIARY, ("u",))], dict.fromkeys(changed, Real()))


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
    trace = shares.simulate((2,), rng=1)
    rng = np.random.default_rng(2)

    move = Move(share, scaled_shares)
    closed = ClosedTransform(scaled_shares, shares, (2,), share, ())
    for _ in range(5):
        assert compare(closed, trace, move, share.simulate((trace,), rng=rng))[0] == "equal"


def test_what_a_program_returned_has_no_derivative():
    closed = ClosedTransform(lost, levels, (2,), draw, ())
    trace = levels.simulate((2,), rng=1)
    aux = draw.simulate((trace,), rng=2)
    written = closed.run({MODEL: given(trace), AUXILIARY: given(aux)})
    with pytest.raises(FailedText, match="no number"):
        places = [(MODEL, ("mu", aux["j"])), (AUXILIARY, ("u",))]
        written.log_abs_det(places, dict.fromkeys(places, Real()))


def test_the_text_has_the_names_of_the_user():
    text = ClosedTransform(through_helpers, levels, (2,), draw, ()).text
    assert "mu = " in text or "mu, d_mu = " in text
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
    assert any(result.startswith("wrong determinant") for result in results_of(f))


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
