"""What tests in the body of a loop come to: what is said of them is so in each of the iterations meant."""

import random
from math import inf

import pytest

from gendsl import gen, normal, uniform_discrete
from gendsl.compiler.hir import Const, For, Op, Set, Var
from gendsl.compiler.passes.first_iterations import Iterations
from tests.compiler.closed_outcomes import outcome

AT, N, OLD, FLAG = Var("t", "i"), Var("n", "i"), Var("old", "i"), Var("flag", "b")
FLAGS = {FLAG: Const(True, "b")}
ORDERS = ["lt", "le", "gt", "ge", "eq", "ne"]
START = 2
VALUES = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "neg": lambda a: -a,
    "lt": lambda a, b: a < b, "le": lambda a, b: a <= b, "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b,
    "eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "not": lambda a: not a, "int": int, "bool": bool,
    "and": lambda a, b: a and b, "or": lambda a, b: a or b, "select": lambda test, a, b: a if test else b,
}  # fmt: skip


def integer(made, names, depth=0):
    chance = made.random()
    if chance < 0.6 or depth > 2:
        return made.choice([AT, AT, OLD, *names, Const(made.randrange(-2, 5), "i")])
    if chance < 0.65:
        return Op("int", (truth(made, names, depth + 1),), "i")
    if chance < 0.7:
        return Op("neg", (integer(made, names, depth + 1),), "i")
    if chance < 0.78:
        sides = integer(made, names, depth + 1), integer(made, names, depth + 1)
        return Op("select", (truth(made, names, depth + 1), *sides), "i")
    name = made.choice(["add", "sub", "sub", "mul"])
    return Op(name, (integer(made, names, depth + 1), integer(made, names, depth + 1)), "i")


def truth(made, names, depth=0):
    chance = made.random()
    if chance < 0.1:
        return FLAG
    if chance < 0.15:
        return Op("bool", (integer(made, names, depth + 1),), "b")
    if chance < 0.4 and depth < 3:
        name = made.choice(["not", "and", "or", "select"])
        count = {"not": 1, "select": 3}.get(name, 2)
        return Op(name, tuple(truth(made, names, depth + 1) for _ in range(count)), "b")
    return Op(made.choice(ORDERS), (integer(made, names, depth + 1), integer(made, names, depth + 1)), "b")


def value_of(expr, known):
    if isinstance(expr, Const):
        return expr.value
    if isinstance(expr, Var):
        return known[expr]
    return VALUES[expr.name](*(value_of(arg, known) for arg in expr.args))


@pytest.mark.parametrize(("first", "last"), [(0, 0), (0, inf), (1, inf)])
def test_a_test_that_is_decided_is_what_it_comes_to(first, last):
    decided = set()
    for seed in range(3000):
        made, names, body = random.Random(seed), [], []
        for place in range(made.randrange(3)):
            target = Var(f"made{place}", "i")
            body.append(Set([target], [integer(made, names)]))
            names.append(target)
        test = truth(made, names)
        loop = For(AT, Const(START, "i"), N, Const(1, "i"), body, 1)
        found = Iterations(loop, body, (first, last), FLAGS, {OLD}).decided(test)
        if found is None:
            continue
        decided.add((test.name if isinstance(test, Op) else "", found))
        for before in range(first, int(min(last, 6)) + 1):
            for old in (-3, 0, 1, 4):
                known = {AT: START + before, OLD: old, FLAG: True}
                for one in body:
                    known[one.targets[0]] = value_of(one.values[0], known)
                assert bool(value_of(test, known)) == found, (test, body, before, old)
    assert {(name, found) for name in (*ORDERS, "not", "and", "or") for found in (True, False)} <= decided


@pytest.mark.parametrize(
    ("name", "decided"),
    [
        ("lt", [True, None, False, False]), ("ge", [False, None, True, True]),
        ("le", [True, None, None, False]), ("gt", [False, None, None, True]),
        ("eq", [False, None, None, False]), ("ne", [True, None, None, True]),
    ],
)  # fmt: skip
def test_where_an_order_is_decided(name, decided):
    """Of iterations 2, 3, 4 and of 3, 4, 5 after it, the variable less 5, 3, 2 and 1."""
    loop = For(AT, Const(START, "i"), N, Const(1, "i"), [], 1)
    known = Iterations(loop, [], (0, 2), {}, set())
    assert [known.decided(Op(name, (AT, Const(k, "i")), "b")) for k in (5, 3, 2, 1)] == decided


def test_the_start_of_a_loop_is_what_it_was_before_the_loop():
    end = Op("select", (Op("lt", (OLD, Const(0, "i")), "b"), Op("add", (OLD, N), "i"), OLD), "i")
    of_its_own = Op("select", (Op("lt", (AT, Const(0, "i")), "b"), Op("neg", (AT,), "i"), AT), "i")
    made = Var("made", "i")
    body = [Set([made], [Op("sub", (AT, Const(5, "i")), "i")])]
    for start in (end, of_its_own, made):
        loop = For(AT, start, N, Const(1, "i"), body, 1)
        known = Iterations(loop, body, (0, 0), FLAGS, set())
        assert known.decided(Op("lt", (AT, N), "b")) is None
        assert known.decided(Op("lt", (made, AT), "b"))


@gen
def from_a_remainder(n):
    k = ~uniform_discrete(0, 3)
    items = [2.0] * (1 + k % n)
    ("y", 0) @ ~normal(sum(items[k % n :]), 1)
    ("y", 1) @ ~normal(sum(items[-k:]) + max(items[k // 2 - 1 :]), 1)


@pytest.mark.parametrize("seed", range(4))
def test_a_loop_over_what_is_left_of_a_list_from_an_item_counted_from_either_end(seed):
    assert outcome(from_a_remainder, (3,), rng=seed) == "equal"
