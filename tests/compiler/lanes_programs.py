"""Random functions of HIR that loop over data, and what becomes of them as machine code."""

import math
import random
from types import SimpleNamespace

import numpy as np

from gendsl.compiler import hir
from gendsl.compiler.hir import (
    Append,
    Block,
    Call,
    Const,
    Fail,
    Fill,
    For,
    Function,
    If,
    Leave,
    Length,
    Load,
    Loop,
    New,
    Next,
    Op,
    Return,
    Set,
    Store,
    Var,
)
from gendsl.compiler.hir.encode import Words, room
from gendsl.compiler.hir.failures import PYTHON_FAILURES
from gendsl.compiler.llvm.native import Native, code_of
from gendsl.compiler.llvm.native_layout import FULL, Layout, Word
from gendsl.compiler.llvm.print_llvm import print_llvm
from gendsl.compiler.passes.axes import Axes
from gendsl.compiler.python.print_python import compile_python

F, INT, B, R = "fibr"
FLOATS, INTEGERS = ("f",), ("i",)
N, XS, YS, ZS, OUT = Var("n", INT), Var("xs", R), Var("ys", R), Var("zs", R), Var("out", R)
ROWS = Var("rows", R)
TOTAL, OTHER = Var("total", F), Var("other", F)
FUNCTIONS = ["exp", "log", "log1p", "sin", "cos", "sqrt", "np_exp", "np_log", "np_sqrt", "tanh", "lgamma"]


def i(value):
    return Const(value, INT)


def f(value):
    return Const(value, F)


class RandomLanes:
    """A function `main(n, xs, ys, zs)`, and functions that it calls.

    It loops over the first n items of the lists: floats, floats, and small integers. What is set before the
    loop is only read in it, but for sums and a list that each iteration adds to. With rows
    there is a list of lists.
    """

    def __init__(self, seed, *, rows=False):
        self.rows = rows
        self.random, self.count, self.functions, self.labels = random.Random(seed), 0, [], 0

    def chance(self, p):
        return self.random.random() < p

    def fresh(self, kind):
        self.count += 1
        return Var(f"{kind}{self.count}", kind)

    def pick(self, scope, kind):
        found = [var for var in scope if var.kind == kind]
        return self.random.choice(found) if found else None

    # --- expressions ------------------------------------------------------------------------------

    def number(self, scope, depth=0):
        chance, var = self.random.random(), self.pick(scope, F)
        if chance < 0.3 or depth > 2:
            return var or f(1.5)
        if chance < 0.4:
            return f(self.random.choice([0.0, 1.0, -1.0, 0.5, 3.0]))
        if chance < 0.5:
            return Op("float", (self.integer(scope, depth + 1),), F)
        if chance < 0.62:
            return Op(
                "select",
                (self.test(scope, depth + 1), self.number(scope, depth + 1), self.number(scope, depth + 1)),
                F,
            )
        if chance < 0.8:
            return self.function_of(self.random.choice(FUNCTIONS), self.number(scope, depth + 1))
        name = self.random.choice(
            ["add", "sub", "mul", "truediv", "np_div", "np_maximum", "np_minimum", "mod", "neg", "abs"]
        )
        first = self.number(scope, depth + 1)
        if name in ("neg", "abs"):
            return Op(name, (first,), F)
        second = self.number(scope, depth + 1)
        if name in ("truediv", "mod") and self.chance(0.95):
            second = self.positive(second)
        return Op(name, (first, second), F)

    def function_of(self, name, arg):
        if name.endswith("exp"):
            low = -800.0 if self.chance(0.1) else -30.0
            arg = Op("np_maximum", (Op("np_minimum", (arg, f(30.0)), F), f(low)), F)
        elif name not in ("sin", "cos", "tanh") and self.chance(0.97):
            arg = self.positive(arg)
        elif name in ("sin", "cos") and self.chance(0.9):
            arg = Op("np_maximum", (Op("np_minimum", (arg, f(1e4)), F), f(-1e4)), F)
        return Op(name, (arg,), F)

    def positive(self, expr):
        size = Op("np_minimum", (Op("abs", (expr,), F), f(1e6)), F)
        return Op("add", (size, f(0.25)), F)

    def integer(self, scope, depth=0):
        chance, var = self.random.random(), self.pick(scope, INT)
        if chance < 0.5 or depth > 2:
            return var or i(2)
        if chance < 0.6:
            return i(self.random.choice([0, 1, 2, -1, 3]))
        first, second = self.integer(scope, depth + 1), self.integer(scope, depth + 1)
        name = self.random.choice(["add", "sub", "imin", "imax", "mod", "floordiv", "mul", "bitand", "int"])
        if name == "int":
            return Op(name, (self.test(scope, depth + 1),), INT)
        if name in ("mod", "floordiv"):
            second = i(self.random.choice([2, 3, -2]))
        if name == "mul":
            second = i(self.random.choice([0, 2, -1]))
        return Op(name, (first, second), INT)

    def test(self, scope, depth=0):
        chance, var = self.random.random(), self.pick(scope, B)
        if chance < 0.15 and var is not None:
            return var
        if chance < 0.3 and depth < 2:
            name = self.random.choice(["and", "or", "not"])
            count = 1 if name == "not" else 2
            return Op(name, tuple(self.test(scope, depth + 1) for _ in range(count)), B)
        name = self.random.choice(["lt", "gt", "le", "ge", "eq", "ne"])
        make = self.number if self.chance(0.7) else self.integer
        return Op(name, (make(scope, depth + 1), make(scope, depth + 1)), B)

    def index(self, scope):
        """An index of the list of integers, which has four items; now and then none."""
        if self.chance(0.03):
            return self.integer(scope)
        return Op("mod", (self.integer(scope), i(4)), INT)

    # --- statements -------------------------------------------------------------------------------

    def body(self, scope, own, depth, ends, size):
        """Statements; they may set again only what is their own."""
        inner, mine = list(scope), list(own)
        return [one for _ in range(size) for one in self.statement(inner, mine, depth, ends)]

    def statement(self, scope, own, depth, ends):
        chance = self.random.random()
        if depth < 3 and chance < 0.16:
            return self.branch(scope, own, depth, ends)
        if depth < 3 and chance < 0.24:
            return self.loop(scope, own, depth, ends)
        if depth < 3 and chance < 0.28:
            return self.once(scope, own, depth, ends)
        if chance < 0.34 and self.functions:
            return self.call(scope, own)
        if chance < 0.56:
            return self.of_list(scope, own)
        if chance < 0.65 and own:
            var = self.random.choice(own)
            make = {F: self.number, INT: self.integer, B: self.test}.get(var.kind)
            return [] if make is None else [Set([var], [make(scope)])]
        if chance < 0.72:
            return [self.added(scope)]
        kind = self.random.choice([F, F, F, INT, B])
        var, make = self.fresh(kind), {F: self.number, INT: self.integer, B: self.test}[kind]
        found = [Set([var], [make(scope)])]
        scope.append(var)
        own.append(var)
        return found

    def added(self, scope):
        total = self.random.choice([TOTAL, OTHER])
        return Set([total], [Op("add", (total, self.number(scope)), F)])

    def of_rows(self, scope, own):
        """A list that is another in each iteration, and what is read of it."""
        made, size, item = self.fresh(R), self.fresh(INT), self.fresh(F)
        refs = [var for var in scope if var.kind == R and var not in (ZS, ROWS)]
        if self.chance(0.6) or not refs:
            found = [Load([made], ROWS, ("r",), Op("mod", (self.integer(scope), i(4)), INT))]
        elif self.chance(0.5):
            sides = [[Set([made], [self.random.choice(refs)])] for _ in range(2)]
            if self.chance(0.3):
                sides[0] = [New(made, FLOATS, [(f(0.25),), (f(4.0),)])]
            found = [If(self.test(scope), *sides)]
        else:
            chosen = [self.random.choice(refs) for _ in range(2)]
            found = [Set([made], [Op("select", (self.test(scope), *chosen), R)])]
        mine = [var for var in own if var.kind == R]
        if mine and self.chance(0.3):
            found.append(Append(self.random.choice(mine), FLOATS, (self.number(scope),)))
        scope.append(made)
        used = [Load([item], made, FLOATS, self.small(scope)), Set([TOTAL], [Op("add", (TOTAL, item), F)])]
        if self.chance(0.8):
            used = [If(Op("gt", (size, i(1)), B), used, [])]
        more = Set([TOTAL], [Op("add", (TOTAL, Op("float", (size,), F)), F)])
        return [*found, Length(size, made, FLOATS), *used, *self.statement(scope, own, 3, []), more]

    def of_list(self, scope, own):
        if self.rows and ROWS in scope and self.chance(0.4):
            return self.of_rows(scope, own)
        ref = self.pick(own, R) if self.chance(0.6) else self.readable(scope)
        if ref is None or self.chance(0.15):
            made = self.fresh(R)
            items = [(self.number(scope),) for _ in range(self.random.randint(1, 3))]
            found = [New(made, FLOATS, items)]
            if self.chance(0.3):
                found = [Fill(made, FLOATS, i(self.random.randint(1, 3)), items[0])]
            scope.append(made)
            own.append(made)
            return found
        if ref in own and self.chance(0.45):
            if self.chance(0.5):
                return [Append(ref, FLOATS, (self.number(scope),))]
            return [Store(ref, FLOATS, self.small(scope), (self.number(scope),))]
        if self.chance(0.2):
            var = self.fresh(INT)
            scope.append(var)
            return [Length(var, ref, INTEGERS if ref == ZS else FLOATS)]
        if ref == ZS:
            var = self.fresh(INT)
            scope.append(var)
            return [Load([var], ref, INTEGERS, self.index(scope))]
        var = self.fresh(F)
        scope.append(var)
        return [Load([var], ref, FLOATS, self.small(scope))]

    def readable(self, scope):
        """A list of numbers."""
        return self.pick([var for var in scope if var != ROWS], R)

    def small(self, scope):
        return Op("mod", (self.integer(scope), i(2)), INT) if self.chance(0.6) else i(0)

    def branch(self, scope, own, depth, ends):
        arms = []
        for size in (self.random.randint(1, 4), self.random.choice([0, 0, 1, 3])):
            arm = self.body(scope, own, depth + 1, ends, size)
            if size and ends and self.chance(0.2):
                arm.append(self.random.choice(ends)(scope))
            elif size and self.chance(0.03):
                arm.append(Fail("no"))
            arms.append(arm)
        return [If(self.test(scope), *arms)]

    def loop(self, scope, own, depth, ends):
        self.labels += 1
        label, var = self.labels, self.fresh(INT)
        jumps = [lambda _: Leave(label), lambda _: Next(label)]
        inner = [*scope, var]
        if self.chance(0.3):
            body = self.body(inner, own, depth + 1, [*ends, *jumps], self.random.randint(1, 5))
            step = Set([var], [Op("add", (var, i(1)), INT)])
            stop = If(Op("ge", (var, self.bound(scope)), B), [Leave(label)], [])
            return [Set([var], [i(0)]), Loop([stop, step, *body], label)]
        body = self.body(inner, own, depth + 1, [*ends, *jumps], self.random.randint(1, 5))
        if self.chance(0.15):
            return [For(var, i(2), i(-1), i(-1), body, label)]
        return [For(var, i(self.random.choice([0, 0, 1])), self.bound(scope), i(1), body, label)]

    def bound(self, scope):
        return (
            Op("imin", (self.integer(scope), i(3)), INT) if self.chance(0.5) else i(self.random.randint(0, 3))
        )

    def once(self, scope, own, depth, ends):
        self.labels += 1
        label = self.labels
        body = self.body(scope, own, depth + 1, [*ends, lambda _: Leave(label)], self.random.randint(2, 5))
        return [Block(body, label)]

    def call(self, scope, own):
        function, kinds = self.random.choice(self.functions)
        make = {F: self.number, INT: self.integer, B: self.test, R: self.readable}
        args = [make[kind](scope) for kind in kinds]
        if any(arg is None or arg == ZS for arg in args):
            return []
        targets = [self.fresh(kind) for kind in function.results]
        scope += targets
        own += targets
        return [Call(targets, function, args)]

    # --- functions --------------------------------------------------------------------------------

    def function(self):
        kinds = self.random.choices([F, F, INT, B, R], k=self.random.randint(1, 3))
        given = [self.fresh(kind) for kind in kinds]
        results = self.random.choice([[F], [F, INT], [F, B]])
        own = [var for var in given if var.kind != R]
        first = [self.fresh(kind) for kind in results]

        def end(inner):
            make = {F: self.number, INT: self.integer, B: self.test}
            return Return([make[kind](inner) for kind in results])

        made = [Set([var], [{F: f(0.5), INT: i(1), B: Const(True, B)}[var.kind]]) for var in first]
        scope = [*given, *first]
        body = []
        for _ in range(self.random.randint(1, 4)):
            body += self.statement(scope, own, 2, [end])
        body = [one for one in body if not _adds(one)]
        function = Function(
            f"helper{len(self.functions)}", given, results, [*made, *body, end([*given, *first])]
        )
        self.functions.append((function, kinds))

    def main(self):
        for _ in range(self.random.randint(0, 3)):
            self.function()
        a, c = self.fresh(F), self.fresh(INT)
        at, x, z = self.fresh(INT), self.fresh(F), self.fresh(INT)
        self.labels += 1
        label = self.labels
        scope = [a, c, at, x, z, YS, ZS, *([ROWS] if self.rows else [])]
        body = [Load([x], XS, FLOATS, at), Load([z], ZS, INTEGERS, Op("mod", (at, i(4)), INT))]
        again = [lambda _: Next(label)]
        inner, own = list(scope), []
        for _ in range(self.random.randint(2, 7)):
            body += self.statement(inner, own, 0, again)
        known = [var for var in inner if var in scope]
        body.append(self.added(known))
        if self.chance(0.5):
            body.append(Append(OUT, FLOATS, (self.number(known),)))
        loop = For(at, i(self.random.choice([0, 0, 0, 1])), N, i(1), body, label)
        first, size = self.fresh(F), self.fresh(INT)
        head = [
            Set([TOTAL, OTHER], [f(0.5), f(0.0)]), Set([c], [i(2)]), Load([a], YS, FLOATS, i(0)),
            New(OUT, FLOATS, []),
        ]  # fmt: skip
        if self.rows:
            refs, least = [self.fresh(R) for _ in range(4)], self.random.choice([0, 1, 2])
            for count, row in enumerate(refs, start=least):
                head.append(New(row, FLOATS, [(f(0.5 * count - k),) for k in range(count)]))
            head.append(New(ROWS, ("r",), [(row,) for row in refs]))
        tail = [
            Length(size, OUT, FLOATS),
            Set([first], [f(0.0)]),
            If(Op("gt", (size, i(0)), B), [Load([first], OUT, FLOATS, i(-1))], []),
            Return([TOTAL, OTHER, first, size]),
        ]
        return Function("main", [N, XS, YS, ZS], [F, F, F, INT], [*head, loop, *tail])


def _adds(statement):
    """Whether a statement of a helper adds to what only the main function has."""
    return any(
        isinstance(one, Set) and (TOTAL in one.targets or OTHER in one.targets)
        for one in hir.walk([statement])
    )


def arguments(source):
    """Arguments for `main`."""
    n = source.choice([0, 1, 3, 7, 8, 9, 16, 21])
    xs = [source.choice([0.3, -2.0, 1.0, 0.0, 5.5, -700.0, 1e5]) for _ in range(n)]
    return [
        n,
        xs,
        [source.choice([0.4, 2.0, -3.0]) for _ in range(3)],
        [source.randint(-2, 5) for _ in range(4)],
    ]


def by_python(text, given):
    """What `main` returns as Python text, or that it fails; None if it reads what is not set."""
    main = compile_python(text, {})["main"]
    try:
        found = main(None, given[0], *(list(one) for one in given[1:]))
    except PYTHON_FAILURES:
        return "failed"
    except UnboundLocalError:
        return None
    return list(found)


class ByMachine:
    """A function `main` as machine code."""

    def __init__(self, main):
        lowered = SimpleNamespace(main=main, inputs=[], templates=[], coordinates={})
        self.layout, self.results = Layout(lowered), main.results
        self.text = print_llvm(main, self.layout, Axes([main]))[0]
        self.native = Native(code_of(self.text))

    def __call__(self, given):
        words, memory, arena = room(self.layout.size), Words(), room(1 << 16)
        n, xs, ys, zs = given
        leaves = [
            n,
            memory.list(xs, (("f", ()),)),
            memory.list(ys, (("f", ()),)),
            memory.list(zs, (("i", ()),)),
        ]
        for at, leaf in enumerate(leaves):
            words[self.layout.argument_word(at)] = leaf
        words[Word.NEXT] = arena.ctypes.data
        words[Word.END] = arena.ctypes.data + 8 * len(arena)
        status = self.native.entry(words.ctypes.data)
        assert status != FULL
        if status:
            return "failed"
        found = []
        for at, kind in enumerate(self.results):
            word = words[self.layout.result_word(at) :][:1]
            found.append(float(word.view(np.float64)[0]) if kind == "f" else int(word[0]))
        return found


def agree(one, other, size):
    """Whether two outcomes are the same but for rounding in sums of terms of about a size."""
    if isinstance(one, str) or isinstance(other, str):
        return one == other
    return all(
        a == b or (math.isnan(a) and math.isnan(b)) or abs(a - b) <= 1e-9 * (size + abs(a))
        for a, b in zip(one, other, strict=True)
    )
