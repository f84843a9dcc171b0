"""Scalars with tangents."""

from __future__ import annotations

import array
import copy
import functools
import math
import operator
import pickle
import time
from fractions import Fraction

import autograd
import autograd.numpy as anp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gendsl.errors import LostDerivativeError
from gendsl.transforms.forward import Dual, dual, seed_scalar

METHODS = {
    "sqrt": (0.3, 2.5, 1e6),
    "cbrt": (-2.0, 0.4, 9.0),
    "square": (-3.0, 0.7),
    "reciprocal": (-2.0, 0.3),
    "fabs": (-2.0, 0.3),
    "conjugate": (-2.0, 0.3),
    "exp": (-3.0, 0.2, 4.0),
    "exp2": (-3.0, 0.2, 4.0),
    "expm1": (-3.0, 1e-3, 4.0),
    "log": (0.1, 1.0, 30.0),
    "log2": (0.1, 1.0, 30.0),
    "log10": (0.1, 1.0, 30.0),
    "log1p": (-0.5, 1e-3, 30.0),
    "sin": (-2.0, 0.0, 5.0),
    "cos": (-2.0, 0.3, 5.0),
    "tan": (-1.0, 0.3, 2.5),
    "arcsin": (-0.9, 0.0, 0.8),
    "arccos": (-0.9, 0.0, 0.8),
    "arctan": (-4.0, 0.0, 0.8),
    "sinh": (-2.0, 0.0, 1.5),
    "cosh": (-2.0, 0.3, 1.5),
    "tanh": (-2.0, 0.0, 1.5),
    "arcsinh": (-2.0, 0.0, 1.5),
    "arccosh": (1.2, 3.0),
    "arctanh": (-0.8, 0.0, 0.7),
    "degrees": (-2.0, 0.7),
    "radians": (-200.0, 0.7),
    "rad2deg": (-2.0, 0.7),
    "deg2rad": (-200.0, 0.7),
}


@pytest.mark.parametrize(("name", "x"), [(name, x) for name, points in METHODS.items() for x in points])
def test_method_is_numpys_function_with_its_derivative(name, x, check_derivative):
    check_derivative(getattr(np, name), x, dual=lambda d: getattr(d, name)())
    check_derivative(getattr(np, name), x, dual=getattr(np, name))


BINARY = [operator.add, operator.sub, operator.mul, operator.truediv]
NUMBERS = [3, 2.5, True, np.float64(1.7), np.float32(0.5), np.int64(-2), Fraction(1, 4)]


@pytest.mark.parametrize("operation", BINARY)
@pytest.mark.parametrize("c", NUMBERS, ids=repr)
def test_arithmetic_with_plain_numbers(operation, c, check_derivative):
    check_derivative(lambda x: operation(x, float(c)), 1.3, dual=lambda x: operation(x, c))
    check_derivative(lambda x: operation(float(c), x), 1.3, dual=lambda x: operation(c, x))


@pytest.mark.parametrize("operation", [*BINARY, operator.pow, math.atan2, math.hypot])
def test_arithmetic_of_two(operation, check_derivative):
    named = {math.atan2: np.arctan2, math.hypot: np.hypot}
    check_derivative(operation, 1.3, 0.7, dual=named.get(operation))
    check_derivative(lambda x: operation(x, x), 1.3, dual=lambda x: named.get(operation, operation)(x, x))
    check_derivative(operation, 1.3, 0.7, dual=named.get(operation), first=4)


@pytest.mark.parametrize("c", [-3, -1, 0, 1, 2, 3, 2.0, -2.0, np.int64(3)], ids=repr)
@pytest.mark.parametrize("x", [-1.7, 0.6])
def test_whole_powers_of_either_sign(x, c, check_derivative):
    check_derivative(lambda d: d**c, x)


@pytest.mark.parametrize("c", [0.5, -1.5, 2.2])
def test_fractional_powers(c, check_derivative):
    check_derivative(lambda x: x**c, 1.7)
    check_derivative(lambda x: abs(c) ** x, 1.7)
    check_derivative(lambda x: abs(c) ** x, -0.7)


def test_powers_at_zero():
    zero = seed_scalar(0.0, 0)
    assert (zero**2).tangent == {0: 0.0}
    assert (zero**1).tangent == {0: 1.0}
    assert (zero**0).tangent == {0: 0.0}
    assert (zero**0.5).tangent == {0: math.inf}
    assert (0 ** seed_scalar(2.0, 0)).tangent == {0: 0.0}
    assert math.isnan((0**zero).tangent[0])
    with pytest.raises(ZeroDivisionError):
        zero**-1
    with pytest.raises(ZeroDivisionError):
        0 ** seed_scalar(-1.0, 0)


def test_a_power_whose_slope_overflows_is_not_zero():
    assert math.isinf((seed_scalar(1e-200, 0) ** -1).tangent[0])


def test_powers_that_are_not_real_raise():
    with pytest.raises(ValueError, match=r"fractional power is not real: -2\.0 \*\* 0\.5"):
        seed_scalar(-2.0, 0) ** 0.5
    with pytest.raises(ValueError, match="no derivative with respect to its exponent"):
        (-2.0) ** seed_scalar(3.0, 0)


def test_unary_operators(check_derivative):
    for operation in (operator.neg, operator.pos, operator.abs):
        check_derivative(operation, 1.3)
        check_derivative(operation, -1.3)
    check_derivative(lambda x: x % 1.5, 4.2)
    check_derivative(lambda x: x % 1.5, -0.2)


def test_no_derivative_is_nan_never_zero():
    zero = seed_scalar(0.0, 0)
    assert math.isnan(abs(zero).tangent[0])
    assert math.isnan(np.abs(zero).tangent[0])
    assert math.isnan(np.fabs(zero).tangent[0])
    assert math.isnan(np.hypot(zero, zero).tangent[0])
    assert math.isnan(np.arctan2(zero, zero).tangent[0])
    assert zero.sqrt().tangent == {0: math.inf}
    assert math.isnan((zero * zero).sqrt().tangent[0])
    assert seed_scalar(1.0, 0).arcsin().tangent == {0: math.inf}


def test_methods_follow_numpy_outside_the_domain():
    log = seed_scalar(-1.0, 0).log()
    assert math.isnan(log.value) and math.isnan(log.tangent[0])
    log = np.log(seed_scalar(0.0, 0))
    assert log.value == -math.inf and log.tangent[0] == math.inf
    assert seed_scalar(1e4, 0).exp().value == math.inf
    assert np.divide(seed_scalar(1.0, 0), 0.0).value == math.inf
    assert math.isnan(np.power(seed_scalar(-1.0, 0), 0.5).value)


def test_division_by_zero_raises_as_for_floats():
    with pytest.raises(ZeroDivisionError):
        seed_scalar(1.0, 0) / 0
    with pytest.raises(ZeroDivisionError):
        1 / seed_scalar(0.0, 0)


def test_tangents_are_sparse_and_never_changed():
    x, y = seed_scalar(2.0, 3), seed_scalar(5.0, 70)
    product = x * y
    assert product.tangent == {3: 5.0, 70: 2.0}
    assert (x + 1).tangent is x.tangent
    for result in (product + x, product - x, product * x, product / x, x + product, np.hypot(x, product)):
        assert set(result.tangent) == {3, 70}
    assert x.tangent == {3: 1.0} and y.tangent == {70: 1.0} and product.tangent == {3: 5.0, 70: 2.0}


def test_comparisons_look_at_values():
    x, y = seed_scalar(2.0, 0), seed_scalar(3.0, 1)
    assert x < y and x <= y and y > x and y >= x and x != y and (x == y) is False
    assert x == 2 and x == 2.0 and x != 1 and x < 2.5 and operator.lt(1, x)
    assert np.float64(1) < x and np.float64(2.0) == x
    assert x == seed_scalar(2.0, 9)
    assert x != "2.0" and x != None  # noqa: E711
    assert x and not dual(0.0, {0: 1.0})
    assert max(x, y) is y and min(x, y, 1) == 1 and sorted([y, x])[0] is x
    with pytest.raises(TypeError, match="not supported"):
        operator.lt(x, "a")


def test_builtins_that_keep_the_derivative():
    x, y = seed_scalar(2.0, 0), seed_scalar(3.0, 1)
    assert sum([x, y, 1]).tangent == {0: 1.0, 1: 1.0}
    assert pow(x, 2).tangent == {0: 4.0}


def test_printing():
    x = seed_scalar(2.0, 3)
    assert repr(x) == "Dual(2.0, {3: 1.0})"
    assert str(x) == f"{x}" == "{}".format(x) == repr(x)  # noqa: UP032
    with pytest.raises(ValueError):
        float(f"{x}")  # it shows its tangent, so it can't be read back as a number


def test_copies():
    x = seed_scalar(2.0, 3)
    for y in (copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert y.value == 2.0 and y.tangent == {3: 1.0}


LOST = {
    "float": (float, "float(x), storing x in an array of floats, or math.* where"),
    "complex": (complex, "complex(x)"),
    "round to digits": (lambda x: round(x, 2), "round(x, digits)"),
    "round to no digits": (lambda x: round(x, 0), "round(x, digits)"),
    "index": (lambda x: [1, 2, 3][x], "using x as an integer"),
    "range": (range, "using x as an integer"),
    "repeat": (lambda x: [0] * x, "using x as an integer"),
    "math.sqrt without lift": (math.sqrt, "float(x)"),
    "formatted": (lambda x: float(f"{x:.17g}"), "formatting x as '.17g'"),
    "formatted without a type": (lambda x: f"{x:>8}", "formatting x as '>8'"),
    "percent": (lambda x: "%.17g" % x, "float(x)"),  # noqa: UP031
    "format_float": (np.format_float_positional, "float(x)"),
    "array.array": (lambda x: array.array("d", [x]), "float(x)"),
    "rdivmod": (lambda x: divmod(5, x), "divmod(x, y)"),
    "modulus": (lambda x: 7 % x, "x % y"),
    "both divmod": (lambda x: divmod(x, x), "divmod(x, y)"),
    "both modulus": (lambda x: x % x, "x % y"),
    "np.float64": (np.float64, "float(x)"),
    "array store": (lambda x: np.zeros(3).__setitem__(0, x), "storing x in an array of floats"),
    "float array": (lambda x: np.array([x, 1.0], dtype=float), "storing x in an array of floats"),
    "np.floor": (np.floor, "numpy.floor"),
    "np.sign": (np.sign, "numpy.sign"),
    "np.rint": (np.rint, "numpy.rint"),
    "np.round": (np.round, "numpy.round"),
    "in place": (lambda x: np.add(np.zeros(2), x, out=np.zeros(2)), "numpy.add into an array of floats"),
}


@pytest.mark.parametrize("name", LOST)
def test_a_lost_derivative_raises(name):
    operation, text = LOST[name]
    with pytest.raises(LostDerivativeError) as caught:
        operation(seed_scalar(1.7, 0))
    message = str(caught.value)
    assert text in message
    assert "would drop the derivative" in message and "fix:" in message


WHOLE = {
    "int": int,
    "round": round,
    "round to None": lambda x: round(x, None),
    "floor": math.floor,
    "ceil": math.ceil,
    "trunc": math.trunc,
    "//": lambda x: x // 2,
    "// by a float": lambda x: x // 0.3,
    "of two": lambda x: (3 * x) // x,
    "r//": lambda x: 9 // x,
    "r// of a float": lambda x: 9.5 // x,
    "NumPy's //": lambda x: np.float64(9.0) // x,
    "// of NumPy's": lambda x: x // np.float64(0.3),
    "floor_divide": lambda x: np.floor_divide(x, 0.3),
    "array //": lambda x: (np.array([9.0, -5.0]) // x).tolist(),
    "integer array": lambda x: np.array([x], dtype=int).tolist(),
    "%d": lambda x: "%d" % x,  # noqa: UP031
}


@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.parametrize("value", [1.7, -1.7, 2.5, 3.0, 1e15])
def test_whole_numbers_have_no_derivative(name, value):
    """They are constant but for their jumps, where a comparison with a constant jumps, too."""
    found, expected = WHOLE[name](seed_scalar(value, 0)), WHOLE[name](value)
    assert found == expected and isinstance(expected, type(found))


def test_a_remainder_beside_its_whole_number_keeps_the_derivative():
    quotient, rest = divmod(seed_scalar(-1.7, 3), 0.5)
    assert (quotient, rest.value, rest.tangent) == (*divmod(-1.7, 0.5), {3: 1.0})
    x = seed_scalar(2.75, 3)
    fraction = x - math.floor(x)
    assert (fraction.value, fraction.tangent) == (0.75, {3: 1.0})


def test_whole_numbers_of_what_has_none():
    for function in (int, round, math.floor, math.ceil, math.trunc):
        with pytest.raises(ValueError, match="cannot convert float NaN to integer"):
            function(seed_scalar(math.nan, 0))
        with pytest.raises(OverflowError, match="cannot convert float infinity to integer"):
            function(seed_scalar(math.inf, 0))
    with pytest.raises(ZeroDivisionError):
        seed_scalar(1.0, 0) // 0
    with pytest.raises(TypeError, match="unsupported operand"):
        seed_scalar(1.0, 0) // "2"
    with pytest.raises(TypeError, match="unsupported operand"):
        "2" // seed_scalar(1.0, 0)


def test_what_to_do_instead_is_said():
    with pytest.raises(LostDerivativeError) as caught:
        np.zeros(3)[0] = seed_scalar(1.7, 0)
    for advice in ("np.array(list)", "np.zeros(n, dtype=object)", "math.floor(x)", "print(x)"):
        assert advice in caught.value.fix


# --- object arrays: what numpy makes of a list of Duals on its own --------------------------------


def test_object_arrays_keep_derivatives():
    x, y = seed_scalar(2.0, 0), seed_scalar(3.0, 1)
    array = np.array([x, y, 1.0], dtype=object)
    assert (array * 2)[1].tangent == {1: 2.0}
    assert array.sum().tangent == {0: 1.0, 1: 1.0}
    assert array.dot(array).tangent == {0: 4.0, 1: 6.0}
    assert array.mean().tangent == {0: 1 / 3, 1: 1 / 3}
    pair = np.array([x, y], dtype=object)
    for name in METHODS:
        if name not in ("arcsin", "arccos", "arctanh"):
            values = getattr(np, name)(pair)
            assert values[1].tangent == getattr(y, name)().tangent, name
    assert np.arctan2(pair, pair[::-1])[0].tangent == np.arctan2(x, y).tangent
    assert np.hypot(pair, pair[::-1])[0].tangent == np.hypot(x, y).tangent
    assert pair.std().tangent == pytest.approx({0: -0.5, 1: 0.5})
    filled = np.zeros(2, dtype=object)
    filled[0] = x
    filled += y
    assert filled[0].tangent == {0: 1.0, 1: 1.0} and filled[1].tangent == {1: 1.0}


# --- compositions ---------------------------------------------------------------------------------

UNARY_NODES = ["sin", "cos", "tanh", "exp", "log", "sqrt", "arctan", "neg", "square", "cube"]
BINARY_NODES = ["add", "sub", "mul", "div", "pow", "hypot"]


def _evaluate(tree, xs, m):
    if isinstance(tree, int):
        return xs[tree]
    if isinstance(tree, float):
        return tree
    name, *parts = tree
    args = [_evaluate(part, xs, m) for part in parts]
    if name == "neg":
        return -args[0]
    if name == "square":
        return args[0] ** 2
    if name == "cube":
        return args[0] * args[0] ** 2
    if name in ("log", "sqrt"):  # kept inside their domains
        return getattr(m, name)(0.5 + args[0] * args[0])
    if name == "exp":
        return m.exp(m.tanh(args[0]))
    if name == "add":
        return args[0] + args[1]
    if name == "sub":
        return args[0] - args[1]
    if name == "mul":
        return args[0] * args[1]
    if name == "div":
        return args[0] / (1.5 + m.sin(args[1]))
    if name == "pow":
        return (1.0 + args[0] ** 2) ** m.tanh(args[1])
    if name == "hypot":
        return m.sqrt(args[0] ** 2 + args[1] ** 2 + 0.1)
    return getattr(m, name)(args[0])


leaves = st.integers(0, 2) | st.floats(-2, 2).map(lambda x: round(x, 3))
trees = st.recursive(
    leaves,
    lambda inner: st.tuples(st.sampled_from(UNARY_NODES), inner)
    | st.tuples(st.sampled_from(BINARY_NODES), inner, inner),
    max_leaves=8,
)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(trees, st.lists(st.floats(-2, 2).map(lambda x: round(x, 3)), min_size=3, max_size=3))
def test_compositions_agree_with_autograd(tree, point):
    result = _evaluate(tree, [seed_scalar(x, i) for i, x in enumerate(point)], np)
    if not isinstance(result, Dual):
        return
    with np.errstate(all="ignore"):
        expected = autograd.grad(lambda xs: _evaluate(tree, xs, anp))(np.array(point))
    assert result.value == pytest.approx(float(_evaluate(tree, point, np)), rel=1e-12, abs=1e-300)
    actual = [result.tangent.get(i, 0.0) for i in range(3)]
    np.testing.assert_allclose(actual, expected, rtol=1e-9, atol=1e-9 * max(1.0, np.abs(expected).max()))


def split_move(w, mu, var, u1, u2, u3, sqrt):
    """The split of a normal component in two (Richardson and Green 1997)."""
    w1, w2 = w * u1, w * (1 - u1)
    mu1 = mu - u2 * sqrt(var * w2 / w1)
    mu2 = mu + u2 * sqrt(var * w1 / w2)
    var1 = u3 * (1 - u2**2) * var * (w1 + w2) / w1
    var2 = (1 - u3) * (1 - u2**2) * var * (w1 + w2) / w2
    return w1, w2, mu1, mu2, var1, var2


def test_the_split_move_has_the_jacobian_of_the_literature():
    w, mu, var, u1, u2, u3 = point = (0.4, 1.2, 2.3, 0.3, 0.6, 0.45)
    start = time.perf_counter()
    for _ in range(200):
        outputs = split_move(*(seed_scalar(x, i) for i, x in enumerate(point)), sqrt=Dual.sqrt)
    print(f"split move: {(time.perf_counter() - start) / 200 * 1e6:.1f} us")
    jacobian = np.array([[y.tangent.get(i, 0.0) for i in range(6)] for y in outputs])
    expected = autograd.jacobian(lambda xs: anp.array(split_move(*xs, sqrt=anp.sqrt)))(np.array(point))
    np.testing.assert_allclose(jacobian, expected, rtol=1e-12, atol=1e-14)
    # |J| = w |mu1 - mu2| var1 var2 / (u2 (1 - u2^2) u3 (1 - u3) var), Richardson and Green, equation (11)
    _, _, mu1, mu2, var1, var2 = (y.value for y in outputs)
    known = w * abs(mu1 - mu2) * var1 * var2 / (u2 * (1 - u2**2) * u3 * (1 - u3) * var)
    assert abs(np.linalg.det(jacobian)) == pytest.approx(known, rel=1e-12)


def test_a_cache_cannot_give_back_a_stale_derivative():
    @functools.lru_cache
    def cached(x):
        return 3 * x

    with pytest.raises(LostDerivativeError, match="hashing a number that was read"):
        cached(seed_scalar(2.0, 0))
