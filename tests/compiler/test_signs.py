"""Which integers are never negative: those of which it is said never are, whatever is run."""

import random

import pytest

from gendsl.compiler.hir import (
    Call,
    Const,
    For,
    Function,
    If,
    Length,
    Load,
    New,
    Op,
    Return,
    Set,
    Var,
)
from gendsl.compiler.passes.signs import Signs

A, B, C, AT, N = (Var(name, "i") for name in "abcin")
ITEMS = Var("items", "r")


def i(value):
    return Const(value, "i")


def op(name, *args, kind="i"):
    return Op(name, args, kind)


def natural(*body, parameters=()):
    return Signs(Function("f", list(parameters), ["i"], [*body, Return([A])])).natural


def assigned(value):
    """What is known of b and c where b is a loop's variable, and c has the value."""
    return C in natural(For(B, i(0), N, i(1), [Set([C], [value])], 1), parameters=[N])


LESS_ONE = op("sub", B, i(1))
VALUES = [
    (B, True), (i(3), True), (i(-1), False), (N, False), (LESS_ONE, False), (op("neg", B), False),
    (op("add", B, i(1)), True), (op("add", B, i(-1)), False), (op("add", B, N), False),
    (op("mul", B, B), True), (op("mul", N, N), False), (op("floordiv", B, i(2)), True),
    (op("floordiv", B, i(-2)), False), (op("mod", B, i(3)), True), (op("mod", B, i(-3)), False),
    (op("mod", N, i(3)), False), (op("imin", B, i(7)), True), (op("imin", B, N), False),
    (op("imax", N, i(0)), True), (op("imax", N, LESS_ONE), False),
    (op("select", op("lt", N, B, kind="b"), B, i(0)), True),
    (op("select", op("lt", N, B, kind="b"), N, i(0)), False),
    (op("int", op("lt", N, B, kind="b")), True), (op("int", Const(-0.5, "f")), False),
    (op("range_length", N, B, i(1)), True), (op("abs", N), False),
]  # fmt: skip


@pytest.mark.parametrize(("value", "is_natural"), VALUES, ids=str)
def test_values(value, is_natural):
    assert assigned(value) == is_natural


def test_all_values_of_a_variable_count():
    set_to = [Set([A], [i(2)]), Set([A], [op("add", A, i(1))])]
    assert A in natural(*set_to)
    assert A not in natural(*set_to, If(op("lt", N, i(0), kind="b"), [], [Set([A], [N])]), parameters=[N])


def test_what_depends_on_one_another_is_natural_together_or_not_at_all():
    loop = [Set([B], [op("add", A, i(1))]), Set([A], [op("mul", B, i(2))])]
    first = [Set([A, B], [i(0), i(0)])]
    assert {A, B} <= natural(*first, For(AT, i(0), i(3), i(1), loop, 1))
    assert not {A, B} & natural(*first, For(AT, i(0), i(3), i(1), [*loop, Set([B], [op("neg", A)])], 1))


def test_loops_lengths_and_what_is_not_seen():
    assert AT in natural(For(AT, i(2), N, i(3), [], 1), parameters=[N])
    assert AT not in natural(For(AT, i(-1), N, i(1), [], 1), parameters=[N])
    assert AT not in natural(For(AT, i(5), N, i(-1), [], 1), parameters=[N])
    assert AT not in natural(For(AT, i(0), N, B, [], 1), parameters=[N])
    assert AT not in natural(For(AT, i(0), N, i(1), [Set([AT], [i(-1)])], 1), parameters=[N])
    made = New(ITEMS, ("i",), [(i(-1),)])
    assert A in natural(made, Length(A, ITEMS, ("i",)))
    assert A not in natural(made, Load([A], ITEMS, ("i",), i(0)))
    other = Function("g", [], ["i"], [Return([i(-1)])])
    assert A not in natural(Set([A], [i(0)]), Call([A], other, []))
    assert A not in natural(Set([A], [i(0)]), parameters=[A])


@pytest.mark.parametrize("seed", range(60))
def test_no_variable_of_a_random_function_is_below_zero_that_is_natural(seed):
    """Straight lines and branches that a loop runs several times, on numbers of either sign."""
    rng = random.Random(seed)
    names = [A, B, C]

    def value():
        leaf = lambda: rng.choice([*names, AT, i(rng.randrange(-1, 4))])
        kind = rng.choice(["add", "sub", "mul", "imin", "imax", "leaf", "leaf", "mod"])
        if kind == "leaf":
            return leaf()
        return op(kind, leaf(), i(rng.choice([-2, 3])) if kind == "mod" else leaf())

    def statements(depth):
        for _ in range(3):
            if depth and rng.random() < 0.3:
                yield If(op("lt", *rng.sample(names, 2), kind="b"), [*statements(0)], [*statements(0)])
            else:
                yield Set([rng.choice(names)], [value()])

    first = Set(names, [i(rng.randrange(-1, 3)) for _ in names])
    body = [first, For(AT, i(0), i(4), i(1), [*statements(1)], 1)]
    known, lowest, now = natural(*body), {}, {}

    def of(expr):
        if isinstance(expr, Const):
            return expr.value
        if isinstance(expr, Var):
            return now[expr]
        x, y = map(of, expr.args)
        return {"add": x + y, "sub": x - y, "mul": x * y, "imin": min(x, y), "imax": max(x, y), "lt": x < y,
                "mod": x % y if y else 0}[expr.name]  # fmt: skip

    def run(some):
        for one in some:
            if isinstance(one, Set):
                now.update(zip(one.targets, [of(value) for value in one.values], strict=True))
                lowest.update({var: min(now[var], lowest.get(var, 0)) for var in one.targets})
            elif isinstance(one, If):
                run(one.then if of(one.test) else one.orelse)
            else:
                for at in range(4):
                    now[AT] = at
                    run(one.body)

    run(body)
    assert all(lowest.get(var, 0) >= 0 for var in known)
