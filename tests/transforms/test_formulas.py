"""A line of arithmetic as one function: the values, derivatives and errors of its operations one by one."""

import ast
import math
import operator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gendsl import continuous, gen, normal, read, transform, write
from gendsl.errors import GenDSLError, HandleError, traceback_location
from gendsl.transforms import formulas as formulas_module
from gendsl.transforms.access import Accessor
from gendsl.transforms.apply import image
from gendsl.transforms.forward import Dual, dual

LIFTER = Accessor()
FUNCTIONS = sorted(formulas_module.SLOPES_AS_TEXT)
OPERATORS = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}  # fmt: skip


def step_by_step(node, names, arguments):
    """What the dual numbers themselves make of a formula."""
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name):
            return arguments[int(name[1:])]
        case ast.UnaryOp(operand=operand):
            return -step_by_step(operand, names, arguments)
        case ast.Call(func=function, args=[argument]):
            function = LIFTER.lift(getattr(math, names[int(function.id[1:])]))
            return function(step_by_step(argument, names, arguments))
        case ast.BinOp(left, op, right):
            operands = step_by_step(left, names, arguments), step_by_step(right, names, arguments)
            return OPERATORS[type(op)](*operands)


def outcome(function):
    try:
        return function()
    except (ArithmeticError, ValueError, TypeError, GenDSLError) as error:
        return type(error), str(error)


def both(text, arguments):
    names, _, body = text.partition(" | ")
    names = names.split()
    functions = [getattr(math, name) for name in names]
    fused = outcome(lambda: LIFTER.formulas[text](*functions, *arguments))
    tree = ast.parse(body, mode="eval").body
    return fused, outcome(lambda: step_by_step(tree, names, arguments))


@st.composite
def bodies(draw, depth=4):
    """A formula of x0, ..., x3, constants and f0(...), its functions."""
    names = []

    def part(depth):
        kind = draw(st.sampled_from("nnc" if depth == 0 else "nbbbbufp"))
        if kind == "n":
            return f"x{draw(st.integers(0, 3))}"
        if kind == "c":
            return repr(draw(st.sampled_from([1, 2, 3, 0.5, 2.5, 0])))
        if kind == "u":
            return f"(-{part(depth - 1)})"
        if kind == "f":
            name = draw(st.sampled_from(FUNCTIONS))
            if name not in names:
                names.append(name)
            i = names.index(name)
            return f"f{i}({part(depth - 1)})"
        op = draw(st.sampled_from(["**"] if kind == "p" else ["+", "-", "*", "/"]))
        return f"({part(depth - 1)} {op} {part(depth - 1)})"

    body = f"((({part(depth)} + x0) + x1) + (x2 + x3))"
    return f"{' '.join(names)} | {body}"


numbers = st.one_of(
    st.floats(-3.0, 3.0), st.floats(0.1, 3.0), st.sampled_from([0.0, -0.0, 1.0, math.inf, math.nan, 1e30]),
)  # fmt: skip
arguments = st.tuples(
    *[
        st.one_of(
            numbers.map(lambda x, i=i: dual(x, {i + 1: 1.0})),
            numbers.map(lambda x, i=i: dual(x, {1: 0.5, i + 2: -2.0})),
            numbers,
            st.integers(-2, 4),
        )
        for i in range(4)
    ]
)


@pytest.mark.slow
@settings(max_examples=600, deadline=None)
@given(bodies(), arguments)
def test_a_formula_is_what_its_operations_are(text, values):
    """To the last digit, but for the derivatives, which are multiplied in another order."""
    fused, steps = both(text, values)
    assert type(fused) is type(steps)
    if type(steps) is not Dual:
        assert fused == steps or (fused != fused and steps != steps)
        return
    assert fused.value == steps.value or (fused.value != fused.value and steps.value != steps.value)
    assert fused.tangent.keys() == steps.tangent.keys()
    if fused.tangent == steps.tangent or any(d != d for d in steps.tangent.values()):
        return  # the operations one by one
    slopes = by_occurrence(text, values)
    for i, d in fused.tangent.items():
        terms = [slope * values[j].tangent.get(i, 0.0) for j, slope in slopes]
        size = sum(map(abs, terms))
        if 1e-100 < size < 1e100:  # beyond, another order may overflow
            assert d == pytest.approx(math.fsum(terms), rel=0, abs=1e-12 * size)


def by_occurrence(text, values):
    """(j, slope with respect to one occurrence of xj) for those that are traced: nothing cancels in it."""
    names, _, body = text.partition(" | ")
    tree = ast.parse(body, mode="eval").body
    separate, owners = [], []
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id[0] == "x":
            owners.append(int(node.id[1:]))
            node.id = f"x{len(separate)}"
            value = values[owners[-1]]
            separate.append(dual(value.value, {len(separate): 1.0}) if type(value) is Dual else value)
    tangent = step_by_step(tree, names.split(), separate).tangent
    return [(owners[k], slope) for k, slope in tangent.items()]


def shared(function, *functions):
    """A formula whose first two arguments depend on one coordinate."""
    return lambda x0, x1, x2, x3: function(*functions, x0, x1 + x0 / 2, x2, x3)


POINTS = [
    "x0 - x1 * f0(x2 * x3 / x1)", "x0 * (1 - x1**2) * x2 * (x3 + x1) / x3", "x0 ** (x1 - 1) * x2 + x3",
    "x0 ** -0.5 + x1 ** 3 * x2 - x3", "-(x0 - x1) / -(x2 * x3)", "2 ** x0 * x1 + x2 - x3 ** 0",
]  # fmt: skip


@pytest.mark.parametrize("body", POINTS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives_against_differences(body, name, check_derivative, monkeypatch):
    text = f"{name} | {body}" if "f0" in body else f" | {body}"
    functions = [getattr(math, name)] if "f0" in body else []
    made = LIFTER.formulas[text]
    plain = eval(f"lambda x0, x1, x2, x3: {body}", {"f0": getattr(math, name)})
    reached = []
    monkeypatch.setitem(made.__globals__, "steps", lambda *args: reached.append(args))
    last = 6.2 if name == "acosh" else 2.2  # which is defined from 1 on, where others end
    check_derivative(shared(plain), 0.7, 1.3, 0.4, last, dual=shared(made, *functions))
    assert not reached  # nothing fell back on the operations one by one


@pytest.mark.parametrize(
    ("was", "wrong"),
    [
        ("0.5 / {y}", "0.5 * {y}"),
        ("-{g} * {z} / {y}", "{g} * {z} / {y}"),
        ('"-": ("{g}", "-{g}")', '"-": ("{g}", "{g}")'),
        ("log({x})", "log({z})"),
        ("total[i] + s{i} * d if", "s{i} * d if"),
    ],
)
def test_planted_mistakes_are_seen(was, wrong, check_derivative):
    with open(formulas_module.__file__) as file:
        source = file.read()
    assert was in source
    namespace = {"__name__": "planted", "__file__": formulas_module.__file__}
    exec(compile(source.replace(was, wrong), formulas_module.__file__, "exec"), namespace)
    table = namespace["Formulas"](LIFTER.lift)

    def check_all():
        for body in POINTS:
            functions = [math.sqrt] if "f0" in body else []
            made = table[f"sqrt | {body}" if functions else f" | {body}"]
            plain = eval(f"lambda x0, x1, x2, x3: {body}", {"f0": math.sqrt})
            check_derivative(shared(plain), 0.7, 1.3, 0.4, 2.2, dual=shared(made, *functions))

    with pytest.raises(AssertionError):
        check_all()


def test_a_function_that_is_another_by_now():
    made = LIFTER.formulas["sqrt | x0 * x1 - f0(x0)"]
    x, y = dual(4.0, {1: 1.0}), dual(3.0, {2: 1.0})
    assert made(math.sqrt, x, y).value == 10.0
    assert made(lambda x: x * x, x, y).value == -4.0
    assert made(lambda x: x * x, x, y).tangent == {1: -5.0, 2: 4.0}


def test_what_are_no_numbers_is_computed_as_it_is():
    made = LIFTER.formulas[" | x0 + x1 * 2 + x0"]
    assert made([1], [2, 3]) == [1, 2, 3, 2, 3, 1]
    np.testing.assert_array_equal(made(np.ones(2), 1.0), [4.0, 4.0])
    assert made(1, 2) == 6 and type(made(1, 2)) is int
    assert type(made(True, 2)) is int


# --- in a transform ----------------------------------------------------------------------------------


@gen
def model():
    x = ~normal(0, 1)
    y = ~normal(0, 1)


@transform
def bend(model_in, *, model_out):
    x, y = read(model_in["x"], continuous), read(model_in["y"], continuous)
    write(model_out["x"], x * math.exp(y) + y / 2 - 1, continuous)
    write(model_out["y"], y + (
        x * math.exp(y) + y / 2 - 1
    ) ** 2, continuous)  # fmt: skip


def test_lines_of_arithmetic_are_formulas():
    assert bend.source.count("formulas[") == 2
    formula = "formulas['exp | (((x0 * f0(x1)) + (x1 / 2)) - 1)'](math.exp, x, y)"
    assert formula in bend.source.replace("\n", "")


def test_determinant_of_formulas():
    """(x, y) -> (x e^y + y / 2 - 1, y + that^2) has the determinant e^y."""
    trace = model.generate((), init={"x": 0.3, "y": -0.8}).trace
    assert image(bend, trace, None, (), None).log_abs_det == pytest.approx(-0.8)


@transform
def spreads(model_in, *, model_out):
    x = read(model_in["x"], continuous)
    base = (2.0 + x * x, 10)
    write(model_out["x"], math.log(*base) + x * 3 + 1)
    write(model_out["y"], read(model_in["y"], continuous))


def test_a_spread_argument_is_no_part_of_a_formula():
    there = image(spreads, model.generate((), init={"x": 2.0, "y": 0.0}).trace, None, (), None)
    assert there.trace["x"] == pytest.approx(math.log10(6.0) + 7.0)
    assert there.log_abs_det == pytest.approx(math.log(4.0 / 6.0 / math.log(10.0) + 3.0))


@transform
def falls(model_in, *, model_out):
    x = read(model_in["x"], continuous)
    write(model_out["x"], x - 1 + math.sqrt(-x * x - 1))
    write(model_out["y"], read(model_in["y"], continuous))


@transform
def divides(model_in, *, model_out):
    x = read(model_in["x"], continuous)
    write(model_out["x"], 2 * x + x / (x - x))
    write(model_out["y"], read(model_in["y"], continuous))


@transform
def adds_handles(model_in, *, model_out):
    x = model_in["x"]
    write(model_out["x"], 1.0 + x * 2 - 1)


@pytest.mark.parametrize(
    ("f", "kind", "text", "line"),
    [
        (falls, ValueError, r"math domain error|expected a nonnegative input", 2),
        (divides, ZeroDivisionError, "division by zero", 2),
        (adds_handles, HandleError, r"model_in\['x'\] is an address, not a value", 2),
    ],
)
def test_errors_are_those_of_the_operations(f, kind, text, line):
    trace = model.simulate(rng=1)
    with pytest.raises(kind, match=text) as caught:
        image(f, trace, None, (), None)
    location = traceback_location(caught.value.__traceback__)
    assert location.filename == __file__
    assert location.lineno == f.origin.node.lineno + line
