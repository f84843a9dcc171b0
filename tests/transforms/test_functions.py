"""The functions that a transform calls in place of math's and numpy's."""

from __future__ import annotations

import math
import operator
import timeit
import types
from functools import partial

import numpy as np
import pytest
import scipy.special
import scipy.stats

from gendsl.errors import LostDerivativeError, ValueTypeError
from gendsl.transforms.arrays import DualArray, seed_array
from gendsl.transforms.forward import Dual, seed_scalar
from gendsl.transforms.functions import lifted

MATH = [name for name in dir(math) if isinstance(getattr(math, name), types.BuiltinFunctionType)]
MATH = [name for name in MATH if not name.startswith("_")]

DIFFERENTIABLE = {
    **{name: [(0.3,), (4.0,)] for name in ["sqrt", "log", "log2", "log10"]},
    **{name: [(-1.3,), (0.0,), (2.0,)] for name in ["exp", "exp2", "expm1", "sinh", "cosh", "tanh", "asinh"]},
    **{name: [(-1.3,), (0.4,)] for name in ["sin", "cos", "tan", "atan", "degrees", "radians"]},
    **{name: [(-1.3,), (0.4,)] for name in ["erf", "erfc"]},
    **{name: [(-0.6,), (0.3,)] for name in ["asin", "acos", "atanh"]},
    **{name: [(0.7,), (3.2,), (-0.6,)] for name in ["gamma", "lgamma"]},
    **{name: [(-2.0,), (0.6,)] for name in ["cbrt", "fabs"]},
    "log1p": [(-0.4,), (1e-4,), (2.0,)],
    "acosh": [(1.4,), (3.0,)],
    "pow": [(1.3, 0.7), (2.0, -1.5), (0.4, 2.0)],
    "atan2": [(1.3, 0.7), (-1.3, -0.7), (0.2, -3.0)],
    "hypot": [(1.3, -0.7)],
    "fma": [(1.3, 0.7, 0.2)],
}


@pytest.mark.parametrize("name", [name for name in DIFFERENTIABLE if name in MATH])
def test_math_function_has_its_derivative(name, check_derivative):
    function = getattr(math, name)
    replacement = lifted(function)
    assert replacement.__name__ == name
    for point in DIFFERENTIABLE[name]:
        check_derivative(function, *point, dual=replacement)
        check_derivative(function, *point, dual=replacement, first=5)
        if len(point) == 2:
            a, b = point
            check_derivative(lambda x: function(x, b), a, dual=lambda x: replacement(x, b))
            check_derivative(lambda y: function(a, y), b, dual=lambda y: replacement(a, y))
        assert replacement(*point) == function(*point)
        assert type(replacement(*point)) is float


def unlifted(function):
    return function


OTHERS = {
    "log with base": lambda m, a, b: m(math.log)(a, b),
    "log with plain base": lambda m, a, b: m(math.log)(a, 10) * b,
    "log of plain": lambda m, a, b: m(math.log)(3.0, b) * a,
    "hypot of three": lambda m, a, b: m(math.hypot)(a, 2.0, b),
    "hypot of one": lambda m, a, b: m(math.hypot)(-a) + b,
    "dist": lambda m, a, b: m(math.dist)([a, 1.0, b], (b, a, 3.0)),
    "fsum": lambda m, a, b: m(math.fsum)([a, b, a, 1.0, 2]),
    "fsum of a generator": lambda m, a, b: m(math.fsum)(x * x for x in (a, b)),
    "prod": lambda m, a, b: m(math.prod)([a, b, a, 2]),
    "prod with start": lambda m, a, b: m(math.prod)((x for x in (a, 3.0)), start=b),
    "fmod": lambda m, a, b: m(math.fmod)(a * 5, 2.0) + m(math.fmod)(-b * 5, 2),
    "remainder": lambda m, a, b: m(math.remainder)(a * 5, 2.0) * b,
    "ldexp": lambda m, a, b: m(math.ldexp)(a, 3) + b,
    "copysign": lambda m, a, b: m(math.copysign)(a, -2.0) + m(math.copysign)(-b, 1.0),
    "copysign of two": lambda m, a, b: m(math.copysign)(a, -b),
    "sumprod": lambda m, a, b: m(math.sumprod)([a, b], [b, 2.0]) if hasattr(math, "sumprod") else a,
    "pow of a negative base": lambda m, a, b: m(math.pow)(-a, 3) + m(math.pow)(-a, -2) + m(math.pow)(b, 0),
    "both the same": lambda m, a, b: m(math.atan2)(a, a) + m(math.pow)(b, b) + m(math.hypot)(a, a),
}


@pytest.mark.parametrize("name", OTHERS)
def test_math_functions_of_more(name, check_derivative):
    program = OTHERS[name]
    check_derivative(partial(program, unlifted), 1.3, 0.6, dual=partial(program, lifted))
    assert program(lifted, 1.3, 0.6) == program(unlifted, 1.3, 0.6)


LOSING = {
    **dict.fromkeys(("modf", "frexp", "ulp"), (1.5,)),
    **dict.fromkeys(("comb", "perm", "gcd", "lcm"), (4, 2)),
    "isqrt": (4,),
    "factorial": (4,),
    "nextafter": (1.5, 2.0),
}


@pytest.mark.parametrize("name", LOSING)
def test_math_function_that_loses_a_derivative(name):
    function = lifted(getattr(math, name))
    assert function(*LOSING[name]) == getattr(math, name)(*LOSING[name])
    with pytest.raises(LostDerivativeError, match=rf"math\.{name} would drop the derivative"):
        function(seed_scalar(1.5, 0), *LOSING[name][1:])


@pytest.mark.parametrize("name", ["floor", "ceil", "trunc"])
def test_math_whole_number(name):
    function = lifted(getattr(math, name))
    for value in (1.5, -1.5, 2.0):
        found = function(seed_scalar(value, 0))
        assert found == function(value) == getattr(math, name)(value) and type(found) is int


@pytest.mark.parametrize("name", ["isfinite", "isinf", "isnan", "isclose"])
def test_math_question(name):
    function = lifted(getattr(math, name))
    rest = (1.5 + 1e-12,) if name == "isclose" else ()
    assert function(seed_scalar(1.5, 0), *rest) is getattr(math, name)(1.5, *rest)
    assert lifted(math.isclose)(1.0, seed_scalar(1.05, 0), rel_tol=0.1) is True


def test_every_math_function_is_in_the_table():
    newer = {"signbit", "isnormal", "issubnormal", "fmax", "fmin", "sumprod", "fma"}
    tested = set(DIFFERENTIABLE) | set(LOSING) | {"isfinite", "isinf", "isnan", "isclose"}
    tested |= {"floor", "ceil", "trunc", "dist", "fsum", "prod", "fmod", "remainder", "ldexp", "copysign"}
    assert set(MATH) - tested - newer == set()
    assert all(lifted(getattr(math, name)) is not None for name in MATH)


def test_math_raises_what_math_raises():
    x = seed_scalar(-1.0, 0)
    for function in (math.sqrt, math.log, math.acosh, math.log1p, math.lgamma, math.gamma, math.atanh):
        with pytest.raises(ValueError) as actual:
            lifted(function)(x)
        with pytest.raises(ValueError) as expected:
            function(-1.0)
        assert str(actual.value) == str(expected.value)
    for arguments in ((x, 0.5), (0.0 * x, -1.0)):
        with pytest.raises(ValueError):
            lifted(math.pow)(*arguments)
    with pytest.raises(OverflowError):
        lifted(math.exp)(seed_scalar(1e4, 0))
    with pytest.raises(ZeroDivisionError):
        lifted(math.log)(seed_scalar(2.0, 0), 1.0)
    with pytest.raises(TypeError):
        lifted(math.sqrt)("2")
    with pytest.raises(ValueError, match="same number of dimensions"):
        lifted(math.dist)([x], [1.0, 2.0])
    with pytest.raises(LostDerivativeError, match=r"use the numpy\.\* function"):
        lifted(math.sqrt)(seed_array([1.0, 2.0], 0, np.eye(2)))
    for name, other in (("fmod", 5.0), ("remainder", 5.0)):
        with pytest.raises(LostDerivativeError, match=f"math.{name}"):
            lifted(getattr(math, name))(other, x)
    with pytest.raises(LostDerivativeError, match=r"math\.copysign"):
        lifted(math.copysign)(1.0, x)


def test_no_derivative_is_nan_or_inf_never_zero():
    zero = seed_scalar(0.0, 0)
    assert lifted(math.sqrt)(zero).tangent == {0: math.inf}
    for undefined in (
        lifted(math.fabs)(zero),
        lifted(math.hypot)(zero, 0.0),
        lifted(math.atan2)(zero, zero),
        lifted(math.copysign)(zero, 1.0),
        lifted(math.pow)(0.0, zero),
    ):
        assert math.isnan(undefined.tangent[0])
    assert lifted(math.tanh)(seed_scalar(800.0, 0)).tangent == {0: 0.0}  # underflow, not loss
    assert lifted(math.acosh)(seed_scalar(1.0, 0)).tangent == {0: math.inf}


def test_functions_that_need_no_replacement():
    def mine(x):
        return x

    class Unhashable:
        __hash__ = None

        def __call__(self):
            return 1

    builtins = (len, sum, min, max, abs, list, float)
    for function in (*builtins, mine, operator.mul, np.float64, Dual, Unhashable(), [1].append):
        assert lifted(function) is None
    assert lifted([]) is None


# --- numpy ----------------------------------------------------------------------------------------


@pytest.fixture
def x():
    return seed_scalar(2.0, 0)


@pytest.fixture
def y():
    return seed_scalar(3.0, 1)


LISTS = {
    "array": lambda m, a, b: m(np.array)([a, 0.3, b]),
    "array of rows": lambda m, a, b: m(np.array)([[a, 0.3], [b, a]]),
    "asarray": lambda m, a, b: m(np.asarray)((a, b), dtype=float),
    "stack": lambda m, a, b: m(np.stack)([m(np.array)([a, b]), [1.0, a]]),
    "concatenate": lambda m, a, b: m(np.concatenate)([[a], m(np.array)([b, 2.0]), [1]]),
    "hstack": lambda m, a, b: m(np.hstack)([a, [b, 1.0]]),
    "vstack": lambda m, a, b: m(np.vstack)([[a, b], [1.0, 2.0]]),
    "append": lambda m, a, b: m(np.append)([1.0, a], b),
    "sum": lambda m, a, b: m(np.sum)([a, b, a]),
    "mean": lambda m, a, b: m(np.mean)([a, b, a]),
    "prod": lambda m, a, b: m(np.prod)([a, b, a]),
    "max": lambda m, a, b: m(np.max)([a, b, 1.0]),
    "min": lambda m, a, b: m(np.min)([a, b, 5.0]),
    "std": lambda m, a, b: m(np.std)([a, b, 5.0]),
    "sort": lambda m, a, b: m(np.sort)([b, a, 2.5]),
    "dot": lambda m, a, b: m(np.dot)([a, b], [b, 2.0]),
    "outer": lambda m, a, b: m(np.outer)([a, b], [b, 2.0]),
    "cumsum": lambda m, a, b: m(np.cumsum)([a, b, a]),
    "where": lambda m, a, b: m(np.where)([True, False], [a, b], [b, a]),
    "where scalars": lambda m, a, b: m(np.where)(a < b, a, b),
    "clip": lambda m, a, b: m(np.clip)([a, b, 9.0], 0.0, a),
    "diag": lambda m, a, b: m(np.diag)([a, b]),
    "inv": lambda m, a, b: m(np.linalg.inv)([[a, 1.0], [0.5, b]]),
    "det": lambda m, a, b: m(np.linalg.det)([[a, b], [1.0, b]]),
    "slogdet": lambda m, a, b: m(np.linalg.slogdet)([[a, b], [1.0, b]])[1],
    "solve": lambda m, a, b: m(np.linalg.solve)([[a, b], [1.0, b]], [a, 2.0]),
    "norm": lambda m, a, b: m(np.linalg.norm)([a, b]),
    "einsum": lambda m, a, b: m(np.einsum)("i,i->", [a, b], [b, b]),
    "exp of a list": lambda m, a, b: m(np.exp)([a, b]),
    "maximum of lists": lambda m, a, b: m(np.maximum)([a, b], [b, 2.5]),
    "expit": lambda m, a, b: m(scipy.special.expit)(a) + m(scipy.special.expit)([a, b]),
    "logsumexp": lambda m, a, b: m(scipy.special.logsumexp)([a, b, 1.0]),
    "softmax": lambda m, a, b: m(scipy.special.softmax)([a, b, 1.0]),
    "full": lambda m, a, b: m(np.full)(3, a) * b,
    "full_like": lambda m, a, b: m(np.full_like)([1.0, 2.0], a) * b,
    "linspace": lambda m, a, b: m(np.linspace)(a, b, 4),
    "polyval": lambda m, a, b: m(np.polyval)([a, 1.0, b], b),
    "keyword": lambda m, a, b: m(np.sum)(a=[[a, b], [1.0, a]], axis=0),
    "keyword of a rearrangement": lambda m, a, b: m(np.diag)(v=[a, b]) + m(np.roll)(a=[a, b], shift=1),
    "scalars": lambda m, a, b: m(np.sum)(a) + m(np.mean)(b) + m(np.add)(a, b) + m(np.hypot)(a, b),
    "scalar and array": lambda m, a, b: m(np.multiply)(a, np.arange(3)) + m(np.add)(b, [1.0, a, 2.0]),
    "sqrt": lambda m, a, b: m(np.sqrt)(a) * m(np.log)(b),
    "object array": lambda m, a, b: m(np.exp)(np.array([a, b, 1.0], dtype=object).astype(object) * 0.5)
    if isinstance(a, Dual)
    else np.exp(np.array([a, b, 1.0]) * 0.5),
}


@pytest.mark.parametrize("name", LISTS)
def test_numpy_function_of_lists(name, check_derivative):
    program = LISTS[name]
    for first in (0, 6):
        check_derivative(partial(program, unlifted), 2.0, 3.0, dual=partial(program, lifted), first=first)
    np.testing.assert_array_equal(program(lifted, 2.0, 3.0), program(unlifted, 2.0, 3.0))


def test_no_list_of_duals_becomes_a_zero_jacobian(x, y):
    """The trap of tracing libraries: np.array([...]) on traced values must keep every derivative."""
    for make in (lifted(np.array), lifted(np.asarray), lifted(np.stack), np.array, np.asarray):
        result = make([x, y])
        assert result[0].tangent == {0: 1.0} and result[1].tangent == {1: 1.0}
    assert type(lifted(np.array)([x, y])) is DualArray
    objects = lifted(np.array)([x, 1.0], dtype=object)
    assert objects.dtype == object and objects[0].tangent == {0: 1.0}
    joined = lifted(np.array)([seed_array([1.0, 2.0], 0, np.eye(2)), [x, 3.0]], dtype=object)
    assert joined[1, 0].tangent == {0: 1.0}


def test_arrays_to_fill(x):
    with pytest.raises(LostDerivativeError, match="storing x in an array of floats"):
        lifted(np.zeros)(3)[0] = x
    filled = lifted(np.zeros)(3, dtype=object)
    filled[1] = x
    assert lifted(np.sum)(filled).tangent == {0: 1.0}
    assert lifted(np.array)(filled)[1].tangent == {0: 1.0}
    like = lifted(np.zeros_like)(seed_array([1.0, 2.0], 0, np.eye(2)))
    like[1] = x
    assert like[1].tangent == {0: 1.0}
    assert lifted(np.empty_like)([x, 1.0]).shape == (2,)
    assert lifted(np.zeros_like)([x, 1.0], dtype=int).dtype == int


NO_RULE = {
    "numpy.sign": lambda a: lifted(np.sign)([a, 1.0]),
    "numpy.floor": lambda a: lifted(np.floor)([a, 1.0]),
    "numpy.round": lambda a: lifted(np.round)([a, 1.0]),
    "numpy.unique": lambda a: lifted(np.unique)([a, 1.0]),
    "numpy.histogram": lambda a: lifted(np.histogram)([a, 1.0]),
    "numpy.bincount": lambda a: lifted(np.bincount)([1, 2], weights=[a, 1.0]),
    "numpy.arange": lambda a: lifted(np.arange)(a),
    "numpy.zeros": lambda a: lifted(np.zeros)(a),
    "numpy.array2string": lambda a: lifted(np.array2string)(lifted(np.array)([a, 1.0]), precision=17),
    "numpy.array_str": lambda a: np.array_str(lifted(np.array)([a, 1.0])),
    "numpy.linalg.svd": lambda a: lifted(np.linalg.svd)([[a, 1.0], [1.0, 2.0]]),
    "numpy.fft.fft": lambda a: lifted(np.fft.fft)([a, 1.0]),
    "scipy.special.comb": lambda a: lifted(scipy.special.comb)(a, 2),
    "scipy.special.zeta": lambda a: lifted(scipy.special.zeta)(a),
    "numpy.array(..., dtype": lambda a: lifted(np.array)([a, 1.0], dtype=int),
    "numpy.asarray(..., dtype": lambda a: lifted(np.asarray)([a, 1.0], dtype=np.float32),
    "numpy.max called like this": lambda a: lifted(np.max)([a, 1.0], fill=2),
}


@pytest.mark.parametrize("name", NO_RULE)
def test_numpy_function_without_a_rule(name, x):
    with pytest.raises(LostDerivativeError) as caught:
        NO_RULE[name](x)
    message = str(caught.value)
    assert name in message and "would drop the derivative" in message and "fix:" in message


def test_a_function_of_nobodys_is_named_alone(x):
    with pytest.raises(LostDerivativeError, match=r"^double \(vectorized\) would drop"):

        def double(v):
            return 2 * v

        np.frompyfunc(double, 1, 1)(seed_array([1.0, 2.0], 0, np.eye(2)))


def test_a_truth_value_is_no_number(x):
    assert lifted(np.logical_and)([x, 0.0], True).dtype == bool
    for ask in (np.logical_and, np.logical_or, np.logical_xor):
        for other in (None, np.array([None, 2.0]), float):  # objects, of which numpy gives one operand
            with pytest.raises(ValueTypeError, match="can't be combined"):
                ask(x, other)


def test_questions_of_lists(x, y):
    assert lifted(np.argmax)([x, y]) == 1
    assert list(lifted(np.argsort)([y, x])) == [1, 0]
    assert lifted(np.isscalar)(x) and not lifted(np.isscalar)([x])
    assert lifted(np.isfinite)([x, y]).all()
    assert lifted(np.allclose)([x, y], [2.0, 3.0])
    assert lifted(np.shape)([[x, y]]) == (1, 2)
    assert list(lifted(np.greater)([x, y], 2.5)) == [False, True]


def test_plain_arguments_are_left_alone():
    for function, args in (
        (np.array, ([1, 2],)),
        (np.sum, ([1, 2],)),
        (np.floor, (1.5,)),
        (np.zeros, (3, int)),
        (np.unique, ([2, 1, 2],)),
        (np.sqrt, (np.array([1.0, 4.0]),)),
    ):
        expected = function(*args)
        actual = lifted(function)(*args)
        np.testing.assert_array_equal(actual, expected)
        assert np.asarray(actual).dtype == np.asarray(expected).dtype
    out = np.zeros(2)
    assert lifted(np.add)([1.0, 2.0], 1.0, out=out) is out and out[1] == 3.0


def test_functions_of_libraries_never_drop_a_derivative_in_silence(x):
    for function in (
        scipy.stats.norm.logpdf,
        scipy.stats.beta(2, 3).cdf,
        lambda v: scipy.stats.multivariate_normal.logpdf(v, 0.0, 1.0),
        lambda v: np.random.default_rng(0).normal(v),
        lambda v: np.random.default_rng(0).normal(np.array([v, 1.0])),
        scipy.special.comb,
    ):
        with pytest.raises(TypeError):
            function(x, 2) if function is scipy.special.comb else function(x)


def test_the_cost_is_a_lookup(x):
    sqrt = lifted(math.sqrt)
    print(f"lookup: {timeit.timeit(lambda: lifted(math.sqrt), number=2000) / 2000 * 1e6:.2f} us")
    print(f"sqrt: {timeit.timeit(lambda: sqrt(x), number=2000) / 2000 * 1e6:.2f} us")
    assert lifted(math.sqrt) is sqrt
