"""What is known when the text is made is not computed by it."""

import random

import pytest

from gendsl.compiler import hir
from gendsl.compiler.hir import FALSE, TRUE, Const, Fail, For, Function, If, Op, Return, Set, Var
from gendsl.compiler.passes.clean import clean_one
from gendsl.compiler.passes.fold import fold
from gendsl.compiler.python.print_python import compile_python, print_python
from tests.compiler.hir_programs import RandomProgram, arguments, result_of

X, Y, N, M, AT, T = Var("x", "f"), Var("y", "f"), Var("n", "i"), Var("m", "i"), Var("i", "i"), Var("t", "b")
ZERO, ONE, TWO = Const(0, "i"), Const(1, "i"), Const(2, "i")


def op(name, *args, kind="i"):
    return Op(name, args, kind)


def test(name, *args):
    return Op(name, args, "b")


test.__test__ = False
QUOTIENT = op("truediv", X, Y, kind="f")
FLOAT = op("add", X, Const(0.0, "f"), kind="f")


def folded(expr, *, stop=N, start=ZERO, set_twice=()):
    """What becomes of an expression in a loop over i."""
    loop = For(AT, start, stop, ONE, [Set([Var("found", expr.kind)], [expr])], 1)
    function = Function("main", [X, Y, N, M, T], [], [loop, Return([])])
    fold(
        function, dict.fromkeys([X, Y, N, M, T, AT, Var("found", expr.kind)], 1) | dict.fromkeys(set_twice, 2)
    )
    return loop.body[0].values[0]


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        (op("add", ZERO, op("mul", M, ONE)), M),
        (op("sub", M, ZERO), M),
        (op("mul", op("add", M, N), ZERO), ZERO),
        (op("mul", op("floordiv", M, N), ZERO), op("mul", op("floordiv", M, N), ZERO)),
        (op("imax", M, M), M),
        (FLOAT, FLOAT),  # -0.0 + 0.0 is 0.0
        (test("eq", M, M), TRUE),
        (test("ne", op("mod", M, N), op("mod", M, N)), test("ne", op("mod", M, N), op("mod", M, N))),
        (test("eq", X, X), test("eq", X, X)),  # NaN is not what it is
        (test("lt", ONE, TWO), TRUE),
        (test("lt", AT, ZERO), FALSE),
        (test("ge", AT, N), FALSE),
        (test("lt", AT, N), TRUE),
        (test("lt", AT, M), test("lt", AT, M)),
        (test("lt", AT, ONE), test("lt", AT, ONE)),
        (op("select", test("lt", AT, ZERO), op("add", AT, N), AT), AT),
        (op("select", TRUE, X, QUOTIENT, kind="f"), op("select", TRUE, X, QUOTIENT, kind="f")),
        (op("select", T, X, X, kind="f"), X),
        (
            op("select", T, Const(0.0, "f"), Const(-0.0, "f"), kind="f"),
            op("select", T, Const(0.0, "f"), Const(-0.0, "f"), kind="f"),
        ),
        (test("and", T, test("ge", AT, N)), FALSE),
        (test("or", test("ge", AT, N), T), T),
        (test("and", test("gt", QUOTIENT, X), FALSE), test("and", test("gt", QUOTIENT, X), FALSE)),
        (test("not", test("ge", AT, N)), TRUE),
    ],
)
def test_an_expression_is_a_shorter_one(expr, expected):
    assert repr(folded(expr)) == repr(expected)


def test_a_counter_is_known_only_where_it_counts_up_from_no_less_than_0():
    assert folded(test("lt", AT, ZERO), start=Const(-1, "i")) != FALSE
    assert folded(test("lt", AT, ZERO), start=M) != FALSE
    assert folded(test("lt", AT, ZERO), set_twice=[AT]) != FALSE
    assert folded(test("lt", AT, N), set_twice=[N]) != TRUE


def test_a_check_is_made_once():
    def check(var):
        return If(test("lt", var, ZERO), [Fail("no")], [])

    function = Function("main", [N, M], [], [check(N), check(M), If(T, [check(N)], [check(M)]), check(N)])
    fold(function, {N: 1, M: 2, T: 1})
    kept = print_python(Function("main", [N, M, T], ["i"], [*function.body, Return([N])]))
    assert kept.count("if n < 0") == 1 and kept.count("if m < 0") == 2


SIZE, STRIDE, A, B = Var("size", "i"), Var("stride", "i"), Var("a", "i"), Var("b", "i")


def cleaned(*body):
    """The text of a function that returns two numbers, once it is clean."""
    function = Function("main", [N, M, T], ["i", "i"], [*body, Return([A, B])])
    clean_one(function)
    return print_python(function)


def wider(size, other):
    """How long an axis is that two arrays have: 1 is as long as the other."""
    return op("select", test("eq", size, ONE), other, size)


def test_what_a_loop_always_sets_to_one_number_is_that():
    again = [Set([SIZE], [wider(A, N)]), Set([STRIDE], [wider(B, N)]), Set([A], [SIZE]), Set([B], [STRIDE])]
    loop = For(AT, ZERO, M, ONE, again, 1)
    text = cleaned(Set([A], [N]), Set([B], [N]), loop)
    assert "return n, n" in text and "for" not in text


@pytest.mark.parametrize(
    "again",
    [
        [Set([A], [wider(A, M)])],  # not n where n is 1
        [Set([A], [wider(A, N)]), Set([B], [wider(B, A)]), Set([A], [op("add", A, ONE)])],
        [Set([A], [B]), Set([B], [op("mul", B, TWO)])],  # what follows from b is given up with b
        [Set([N], [op("add", N, ONE)]), Set([A], [N])],
    ],
)
def test_what_may_be_set_to_something_else_is_not_known(again):
    text = cleaned(Set([A], [N]), Set([B], [N]), For(AT, ZERO, M, ONE, again, 1))
    for n, m in ((1, 3), (2, 2), (5, 0)):
        given = {"a": n, "b": n, "n": n, "m": m}
        for _ in range(m):
            for one in again:
                values = [eval(str(expression(value)), dict(given)) for value in one.values]
                given |= {target.name: value for target, value in zip(one.targets, values, strict=True)}
        assert compile_python(text, {})["main"](None, n, m, True) == (given["a"], given["b"]), text


def test_the_zeros_of_floats_are_two_numbers():
    zero = Set([X], [Const(0.0, "f")])
    loop = For(AT, ZERO, N, ONE, [Set([X], [Const(-0.0, "f")])], 1)
    function = Function("main", [N], ["f"], [zero, loop, Return([X])])
    clean_one(function)
    assert "-0.0" in print_python(function)


def expression(expr):
    """An expression of integers as Python's."""
    if isinstance(expr, Const):
        return expr.value
    if isinstance(expr, Var):
        return expr.name
    parts = [f"({expression(arg)})" for arg in expr.args]
    if expr.name == "select":
        return f"{parts[1]} if {parts[0]} else {parts[2]}"
    return {"eq": "==", "add": "+", "mul": "*"}[expr.name].join(parts)


def test_a_stride_that_is_0_on_an_axis_with_one_index_is_the_stride():
    def stride(length, step):
        return op("select", test("eq", length, ONE), ZERO, step)

    assert folded(op("mul", AT, stride(N, ONE))) == AT
    assert folded(op("mul", AT, stride(N, M))) == op("mul", AT, M)
    for expr, changes in (
        (op("mul", AT, stride(M, M)), {}),
        (op("mul", M, stride(N, M)), {}),
        (op("mul", AT, stride(N, M)), {"start": ONE}),
        (op("mul", AT, stride(N, M)), {"set_twice": [N]}),
    ):
        assert repr(folded(expr, **changes)) == repr(expr)


def test_random_functions_mean_the_same():
    compared = 0
    for seed in range(300):
        before, after = RandomProgram(seed).main(), RandomProgram(seed).main()
        for one in hir.functions(after):
            clean_one(one)
        plain, text = print_python(before), print_python(after)
        for place in range(3):
            given = arguments(random.Random(3 * seed + place))
            expected = result_of(plain, given)
            if expected is not None:
                compared += 1
                assert result_of(text, given) == expected, f"{seed}: {given}\n{plain}\n{text}"
    assert compared > 500


def branch(*, then, orelse, test_=None):
    """What becomes of a branch that sets y."""
    body = [If(test_ or test("gt", X, Y), [Set([Y], [then])], [Set([Y], [orelse])]), Return([Y])]
    function = Function("main", [X, Y, N], ["f"], body)
    fold(function, {X: 1, Y: 3, N: 1})
    return function.body[0]


def test_a_branch_between_two_values_that_cost_nothing_is_an_expression():
    found = branch(then=op("add", Y, X, kind="f"), orelse=Y)
    assert repr(found.values) == repr(
        [op("select", test("gt", X, Y), op("add", Y, X, kind="f"), Y, kind="f")]
    )


@pytest.mark.parametrize("value", [QUOTIENT, op("log", X, kind="f"), op("exp", X, kind="f")])
def test_what_may_fail_or_costs_something_is_computed_where_it_is_needed(value):
    assert isinstance(branch(then=value, orelse=Y), If)


@pytest.mark.parametrize("x", [-1.5, -0.0, 0.0, 2.5, float("inf"), float("nan")])
@pytest.mark.parametrize("y", [0.0, 2.5, float("nan")])
def test_floats_that_are_known_are_compared_as_python_does(x, y):
    expected = {"eq": x == y, "ne": x != y, "lt": x < y, "le": x <= y, "gt": x > y, "ge": x >= y}
    for name, value in expected.items():
        assert folded(test(name, Const(x, "f"), Const(y, "f"))) == (TRUE if value else FALSE)
