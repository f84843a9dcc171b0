"""Closed programs as text: NumPy's scalars, whose operations do not all mean what Python's mean."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from gendsl import bernoulli, choicemap, gen, iid, normal, uniform_discrete
from gendsl.compiler.hir.failures import FailedText
from gendsl.compiler.run.closed import ClosedDensity
from tests.compiler.closed_outcomes import NATIVE, outcome, raises_everywhere

HALF, SIDE = np.float64(0.5), np.bool_(True)
OFFSETS = np.array([1.0, 2.0, -1.0])


@gen
def truths(x, flags):
    """The sum of two of NumPy's truth values is one, that of Python's a number."""
    a = ~normal(0, 1)
    z = ~iid(bernoulli(0.5), 2)
    ("x", 0) @ ~normal((OFFSETS[0] > 0) + (OFFSETS[1] > 0), 1)
    ("x", 1) @ ~normal((np.exp(a) > 0) + (OFFSETS.sum() == 2), 1)
    ("x", 2) @ ~normal((a < HALF) + (a > HALF - 9), 1)
    ("x", 3) @ ~normal((a < 0.5) + (a > -9), 1)
    ("x", 4) @ ~normal(flags[0] + flags[1] + z[0] + z[1] * SIDE, 1)
    ("x", 5) @ ~normal(((x > 0) + (x > -1)).sum(), 1)
    ("x", 6) @ ~normal((x.sum() > 0) * (x.sum() > -1) + 1, 1)
    ("x", 7) @ ~normal((OFFSETS.max() > 0) + (a > -9) + (a > -9), 1)
    ("x", 8) @ ~normal((float(OFFSETS[0]) > 0) + (OFFSETS.tolist()[1] > 0) + (OFFSETS[1].item() > 0), 1)
    ("x", 9) @ ~normal(sum(np.array([True, True, False])) + np.sum([True, True]), 1)
    ("x", 10) @ ~normal(1 if (OFFSETS[0] > 0) is True else 2, 1)
    ("x", 11) @ ~normal(1 if (a < 9) is True else 2, 1)
    ("x", 12) @ ~normal(~(OFFSETS[0] > 0) + 3, 1)
    ("x", 13) @ ~normal((abs(OFFSETS[2]) > 0) + (-OFFSETS[0] < 0) + (max(OFFSETS[0], HALF) > 0), 1)
    ("x", 14) @ ~normal((OFFSETS > 0).sum() + ((OFFSETS > 0) + (OFFSETS < 5)).sum(), 1)
    ("x", 15) @ ~normal(((OFFSETS > 0) * np.array([True, False, True])).mean(), 1)
    ("x", 16) @ ~normal(((OFFSETS[0] > 0) / (OFFSETS[1] > 0)) + np.cumsum(OFFSETS > 0)[-1], 1)


@gen
def classes(n):
    values = [OFFSETS[0], 1.0, OFFSETS.argmax(), n, OFFSETS[0] > 0, True]
    for i in range(1):
        found = [
            isinstance(values[0], float), type(OFFSETS[0]) is float, isinstance(OFFSETS[0], np.float64),
            isinstance(OFFSETS.argmax(), int), isinstance(OFFSETS.argmax(), np.integer), isinstance(n, int),
            isinstance(OFFSETS[0] > 0, bool), isinstance(OFFSETS[0] > 0, np.bool_), type(n) is int,
        ]  # fmt: skip
        ("x", i) @ ~normal(sum(2.0**k for k, one in enumerate(found) if one), 1)


def test_numpys_truth_values_are_not_pythons():
    assert outcome(truths, (OFFSETS, np.array([True, True]))) == "equal"


def test_what_is_a_number_of_numpys():
    assert outcome(classes, (3,)).startswith(("equal", "refused"))


@gen
def may_be_either(n):
    a = ~normal(0, 1)
    b = OFFSETS[0] if n else 1.0
    ("x", 0) @ ~normal((b > 0) + (b > -1), 1)


@pytest.mark.parametrize("n", [0, 1])
def test_what_may_be_either_is_refused(n):
    assert outcome(may_be_either, (n,)).startswith("refused")


@gen
def difference_of_truths(n):
    a = ~normal((OFFSETS[0] > 0) - (OFFSETS[1] > 0), 1)


@gen
def negative_of_a_truth(n):
    a = ~normal(-(OFFSETS[0] > 0), 1)


@gen
def negative_power(n):
    a = ~normal(np.arange(3)[2] ** -1, 1)


@gen
def truth_as_an_index(n):
    a = ~normal([1.0, 2.0][OFFSETS[0] > 0], 1)


@gen
def difference_of_masks(n):
    a = ~normal(((OFFSETS > 0) - (OFFSETS > 1)).sum(), 1)


@pytest.mark.parametrize(
    "program",
    [difference_of_truths, negative_of_a_truth, negative_power, truth_as_an_index, difference_of_masks],
)
def test_where_numpys_numbers_raise_a_text_fails(program):
    raises_everywhere(program, (1,), {("a",): 0.0})


@gen
def large_powers(n):
    k = ~uniform_discrete(0, 6)
    y = ~normal((k + 2) ** 70 % 3 + (k - 1) ** 64 + 2**-1, 1)


@gen
def powers(n, base):
    k = ~uniform_discrete(0, 70)
    y = ~normal(base**k % 7 + k**3, 1)


@gen
def minus_one_to_a_large_power(n):
    k = ~uniform_discrete(10**17, 10**17 + 1)
    y = ~normal((-1) ** k, 1)


def test_integers_to_a_large_power_are_those_of_python_or_the_text_fails():
    """They were floats, of which the last digits are lost."""
    cases = [(large_powers, (1,), k) for k in range(7)]
    cases += [(powers, (1, base), k) for base in (0, 1, -1, 2, -2, 3, -3, 10) for k in range(71)]
    cases += [(minus_one_to_a_large_power, (1,), 10**17 + k) for k in range(2)]
    densities = {}
    exact = failed = 0
    for model, args, k in cases:
        density = densities.setdefault(model, ClosedDensity(model, args))
        choices = {("k",): k, ("y",): 0.5}
        expected = model.reference.assess(args, choicemap({"k": k, "y": 0.5}))[0]
        assert density.assess_python(args, choices) == pytest.approx(expected, rel=1e-12)
        if NATIVE:
            try:
                assert density.assess_native(args, choices) == pytest.approx(expected, rel=1e-12)
                exact += 1
            except FailedText:
                largest = abs(args[1]) ** k if model is powers else (k + 2) ** 70
                assert largest >= 2**63
                failed += 1
    assert not NATIVE or (exact > 300 and failed > 20)


class Sub(np.ndarray):
    pass


class Scaled(list):
    by = 2.0


@gen
def of_a_kind_of_list(ys):
    ("x", 0) @ ~normal(sum(ys), 1)


@gen
def of_an_array(ys):
    ("x", 0) @ ~normal((ys * 1.1).sum(), 1)


def test_what_is_nearly_a_list_or_an_array_is_refused():
    ys = Scaled([1.0, 2.0])
    ys.width = 5.0
    assert outcome(of_a_kind_of_list, (ys,)).startswith("refused")
    for array in (np.float32([1.0, 2.0]), np.uint8([200, 100]), np.array(2.0), OFFSETS.view(Sub)):
        assert outcome(of_an_array, (array,)).startswith("refused")
    assert outcome(of_an_array, (np.array([1.0, 2.0]),)) == "equal"


MIXED = [0.5, 1, True, np.float64(2.0)]


@gen
def of_several_kinds(i):
    a = ~normal(1 if isinstance(MIXED[i], int) else 2, 1)


@gen
def types_of_several_kinds(i):
    a = ~normal(len(type(MIXED[i]).__name__), 1)


@gen
def carried(i):
    total = 0
    for _ in range(i):
        total = total + 0.5
    a = ~normal(1 if isinstance(total, float) else 2, 1)


@pytest.mark.parametrize("program", [of_several_kinds, types_of_several_kinds, carried])
def test_numbers_of_several_kinds_have_no_known_class(program):
    for i in range(4):
        assert outcome(program, (i,)).startswith(("equal", "refused"))


@gen
def one_or_another(n):
    found = (OFFSETS[0] > 0) or False
    a = ~normal(found + (n > 0), 1)
    both = (OFFSETS[0] > 0) and (OFFSETS[1] > 0)
    b = ~normal((0 < OFFSETS[0] < 2) + both, 1)


def test_or_gives_one_of_its_operands():
    assert outcome(one_or_another, (1,)).startswith(("equal", "refused"))


@gen
def remainders(a, b):
    y = ~normal(a % b + 10 * (a // b) + 100 * (-a % b) + 1000 * (-a // b), 1)


@pytest.mark.parametrize("args", [(7.5, 2.0), (7.5, -2.0), (6.0, 1.5)])
def test_remainders_of_floats(args):
    assert outcome(remainders, args) == "equal"


@gen
def compared_with_none(n):
    a = ~normal(0, 1)
    found = [(a > 50) is None, None is (a > 50), (a < 50) is None, (a > 50) is not None]
    ("x", 0) @ ~normal(sum(2.0**k for k, one in enumerate(found) if one), 1)


def test_a_truth_value_is_not_none():
    assert outcome(compared_with_none, (3,)) == "equal"


@gen
def zeros():
    a = ~bernoulli(0.5)
    first = 0.0 if a else -0.0
    second = -0.0
    if a:
        second = 0.0
    ("x", 0) @ ~normal(math.atan2(first, -1.0) + 10 * math.copysign(1.0, second), 1)
    ("x", 1) @ ~normal(math.copysign(1.0, min(0.0, -0.0)) + 10 * math.copysign(1.0, max(-0.0, 0.0)), 1)


@pytest.mark.parametrize("rng", range(4))
def test_a_zero_keeps_its_sign(rng):
    assert outcome(zeros, (), rng=rng) == "equal"


@gen
def divided(pairs, nothing):
    for i, (a, b) in enumerate(pairs):
        floor = np.float64(a) // b
        ("x", i) @ ~normal(max(-9.0, min(a // b, 9.0)) + 100 * math.copysign(1.0, a // b), 1)
        ("y", i) @ ~normal(max(-9.0, min(floor, 9.0)) + 100 * math.copysign(1.0, floor), 1)
        ("z", i) @ ~normal(max(-9.0, min((np.array([a]) // nothing)[0], 9.0)), 1)


def test_the_floor_of_a_quotient_is_pythons():
    """By an infinite number, of a zero with a sign, and by NumPy's zero."""
    numbers, divisors = [-3.0, -0.0, 0.0, 0.5, 7.5, 1e300], [math.inf, -math.inf, 2.0, -2.0, 0.1, -1e-300]
    pairs = [(a, b) for a in numbers for b in divisors]
    with np.errstate(all="ignore"):
        assert outcome(divided, (pairs[:12] + pairs[18:], 0.5)) == "equal"
        assert outcome(divided, ([(a, b) for a, b in pairs if a != 0], 0.0)) == "equal"


@gen
def signs_and_places(missing):
    a = ~normal(0, 1)
    zero = -abs(a) * 0.0
    row = np.array([zero, 1.0])
    ("x", 0) @ ~normal(math.copysign(1.0, row.cumsum()[0]), 1)
    ("x", 1) @ ~normal(math.copysign(1.0, np.cumprod(row)[0]), 1)
    ("x", 2) @ ~normal(math.copysign(1.0, np.sign(zero)) + 10 * math.copysign(1.0, np.sign(row)[0]), 1)
    ("x", 3) @ ~normal(np.searchsorted(row, missing * a) + 10 * np.searchsorted(row, missing, "right"), 1)


def test_numpys_sums_keep_the_sign_of_a_zero_and_its_sign_has_none():
    assert outcome(signs_and_places, (2.0,)) == "equal"


def test_where_nan_would_be_put_is_for_the_reference():
    assert outcome(signs_and_places, (math.nan,)).startswith(("equal", "failed"))


@gen
def truths_multiplied(a):
    k = ~uniform_discrete(0, 2)
    above, below = a > k, a < 2.5
    x = ~normal(above @ below, 1)


@gen
def matrix_of_truths_multiplied(a):
    k = ~uniform_discrete(0, 2)
    x = ~normal(((a[:, None] > a) @ (a > k)) @ a, 1)


@gen
def cube_multiplied(a):
    k = ~uniform_discrete(0, 2)
    x = ~normal((np.ones((2, 2, 3)) @ a).sum() * k, 1)


@gen
def truths_and_numbers_multiplied(a):
    k = ~uniform_discrete(0, 2)
    above = a > k
    x = ~normal((above @ a) + (np.array([1, 2, 3]) @ above) + ((a[:, None] > a) @ a)[2], 1)


@pytest.mark.parametrize("rng", range(3))
@pytest.mark.parametrize("model", [truths_multiplied, matrix_of_truths_multiplied, cube_multiplied])
def test_products_that_are_none_of_numbers_are_refused(model, rng):
    assert outcome(model, (np.array([1.0, 2.0, 3.0]),), rng=rng).startswith("refused")


@pytest.mark.parametrize("rng", range(3))
def test_truth_values_times_numbers_are_numbers(rng):
    assert outcome(truths_and_numbers_multiplied, (np.array([1.0, 2.0, 3.0]),), rng=rng) == "equal"


@gen
def class_of_a_product(a):
    b = ~normal(0, 1)
    x = ~normal(isinstance(a @ a * b, np.floating) + 2 * isinstance(a @ a, float), 1)


def test_a_product_of_vectors_is_a_number_of_numpys():
    assert outcome(class_of_a_product, (np.ones(3),)) == "equal"


OF_NUMBERS = {
    "abs": abs, "floor": math.floor, "ceil": math.ceil, "trunc": math.trunc, "round": round,
    "isnan": math.isnan, "isfinite": math.isfinite, "radians": math.radians, "exp": math.exp,
    "np_exp": np.exp, "np_abs": np.abs, "np_floor": np.floor, "np_sign": np.sign, "int": int, "float": float,
    "divmod": lambda u: divmod(u, 2)[1], "hypot": lambda u: math.hypot(1.0, u),
    "np_maximum": lambda u: np.maximum(2.0, u), "comb": lambda u: math.comb(5, round(u)),
    "isclose": lambda u: math.isclose(u, 1.5),
}  # fmt: skip
OTHERS = {"None": None, "a string": "ab", "a list": [1.0, 2.0]}
"""Values of which most of these functions raise TypeError."""


@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("name", OF_NUMBERS)
def test_functions_of_what_may_be_no_number(name, other):
    """Where it is one they are called; a list is one to some of NumPy's only."""
    function, args = OF_NUMBERS[name], ([OTHERS[other]],)

    @gen
    def called(values):
        k = ~bernoulli(0.5)
        z = ~normal(2.5, 0.1)
        u = z if k else values[0]
        y = ~normal(1.0 * np.sum(function(u)), 1)

    assert assessed(called, args, {"k": True, "z": 2.5, "y": 0.5}) == "equal"
    assessed(called, args, {"k": False, "z": 2.5, "y": 0.5})


@pytest.mark.parametrize("value", [1.5, "aba"])
def test_methods_of_what_may_have_none(value):
    @gen
    def called():
        k = ~bernoulli(0.5)
        u = value if k else [1.0, 2.0]
        y = ~normal(len(u.split("b")), 1)

    assert [assessed(called, (), {"k": k, "y": 0.5}) for k in (True, False)] == (
        ["equal", "failed"] if value == "aba" else ["failed", "failed"]
    )


def assessed(model, args, values):
    """Whether texts give the log density of some choices, or fail where the reference raises."""
    choices = choicemap(values)
    try:
        expected, _ = model.reference.assess(args, choices)
    except (TypeError, ValueError, AttributeError):
        raises_everywhere(model, args, dict(choices.items()))
        return "failed"
    closed = ClosedDensity(model, args)
    for way in [closed.assess_python, closed.assess_native] if NATIVE else [closed.assess_python]:
        assert way(args, dict(choices.items())) == pytest.approx(expected, rel=1e-12)
    return "equal"


PLACE, THIRD, AMOUNT, ROUNDS = 3 + 4j, Fraction(1, 3), Decimal("2.5"), range(3)


def test_functions_of_constants_that_are_no_floats():
    @gen
    def called():
        parts = (abs(PLACE), float(THIRD), abs(THIRD), math.floor(THIRD), round(THIRD), math.exp(THIRD),
                 int(AMOUNT), len(tuple(ROUNDS)), tuple("ab")[1] == "b")  # fmt: skip
        y = ~normal(sum(one * 10.0**i for i, one in enumerate(map(float, parts))), 1)

    assert assessed(called, (), {"y": 0.5}) == "equal"


def test_signs_and_bits_of_integers():
    @gen
    def signed(n):
        k = ~uniform_discrete(0, 6)
        y = ~normal(~k + 2 * -k + 4 * +k + (~n & 3), 1)

    assert outcome(signed, (5,)) == "equal"


@gen
def rounded_to_none(x):
    a = ~normal(0, 1)
    ("y", 0) @ ~normal(round(x, None) + 2 * round(x, ndigits=None), 1)
    ("y", 1) @ ~normal(round(a, None) + round(x, 2), 1)


def test_no_digits_are_those_that_are_left_out():
    assert outcome(rounded_to_none, (2.3449,)) == "equal"
