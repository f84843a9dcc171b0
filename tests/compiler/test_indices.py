"""What is known of indices where they are used."""

import pytest

from gendsl.compiler.hir import Const, Fail, For, Function, If, Op, Set, Var
from gendsl.compiler.passes.indices import Indices

ROW, COLUMN, M, N, T, U = (Var(name, "i") for name in "ijmntu")
ZERO, ONE, TWO = (Const(value, "i") for value in range(3))


def op(name, *args, kind="i"):
    return Op(name, args, kind)


def known(*body):
    """What is known in a loop over i, and j within, that ends by setting u."""
    last = Set([U], [T])
    inner = For(COLUMN, ZERO, M, ONE, [*body, last], 2)
    function = Function("f", [M, N], body=[For(ROW, ZERO, N, ONE, [inner], 1)])
    return Indices(function), last


def fails_if(name, left, right):
    return If(op(name, left, right, kind="b"), [Fail("it fails")], [])


@pytest.mark.parametrize(
    "index, least",
    [
        (ROW, 0),
        (op("sub", ROW, ONE), -1),
        (op("sub", op("sub", N, ONE), ROW), 0),
        (op("sub", N, ROW), 1),
        (op("sub", op("sub", N, TWO), ROW), -1),
        (op("add", ROW, COLUMN), 0),
        (M, None),
        (op("sub", N, op("mul", TWO, ROW)), None),
    ],
)
def test_the_least_that_an_index_is(index, least):
    indices, last = known()
    assert indices.least(last, indices.linear(index)) == least


def test_a_branch_tells():
    last = Set([U], [T])
    branch = If(op("gt", ROW, ZERO, kind="b"), [last], [])
    function = Function("f", [N], body=[For(ROW, ZERO, N, ONE, [branch], 1)])
    indices = Indices(function)
    assert indices.least(last, indices.linear(op("sub", ROW, ONE))) == 0
    assert indices.least(last, indices.linear(op("sub", ROW, TWO))) == -1


def test_what_has_not_failed_tells():
    place = op("sub", COLUMN, ONE)
    indices, last = known(Set([T], [place]))
    assert not indices.is_within(last, T, M)
    indices, last = known(Set([T], [place]), fails_if("lt", T, ZERO), fails_if("ge", T, M))
    assert indices.is_within(last, T, M)
    assert not indices.is_within(last, op("add", T, TWO), M)


def test_what_is_set_again_is_not_known():
    again = Set([T], [op("sub", COLUMN, TWO)])
    checks = fails_if("lt", T, ZERO), fails_if("ge", T, M)
    indices, last = known(Set([T], [COLUMN]), *checks, again)
    assert indices.least(last, indices.linear(T)) is None
    assert not indices.is_within(last, T, M)
