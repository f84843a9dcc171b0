"""The Python text of HIR that front ends seldom make."""

from gendsl.compiler.hir import Const, Function, If, Leave, Loop, Op, Return, Set, Var
from gendsl.compiler.python.print_python import compile_python, print_python

N, T = Var("n", "i"), Var("t", "i")


def integer(value):
    return Const(value, "i")


def test_a_loop_whose_first_statement_leaves_the_loop_around_it():
    """That is no test of the inner loop, behind which the outer one goes on."""
    third = Op("eq", (Op("mod", (T, integer(3)), "i"), integer(0)), "b")
    inner = Loop([
        If(Op("gt", (T, N), "b"), [Leave(1)], []),
        Set([T], [Op("add", (T, integer(1)), "i")]),
        If(third, [Leave(2)], []),
    ], 2)  # fmt: skip
    outer = Loop([inner, Set([T], [Op("add", (T, integer(10)), "i")])], 1)
    text = print_python(Function("main", [N], ["i"], [Set([T], [integer(0)]), outer, Return([T])]))

    def expected(n):
        t = 0
        while True:
            while True:
                if t > n:
                    return t
                t += 1
                if t % 3 == 0:
                    break
            t += 10

    for n in (-1, 0, 1, 2, 14, 15, 40):
        assert compile_python(text, {})["main"](None, n) == expected(n)
