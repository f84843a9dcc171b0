"""Random functions of HIR: loops, branches, calls and lists that have several names."""

import copy
import random

from gendsl.compiler.hir import (
    Append,
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
    New,
    Next,
    Op,
    Return,
    Set,
    Store,
    Truncate,
    Var,
)
from gendsl.compiler.hir.failures import PYTHON_FAILURES
from gendsl.compiler.python.print_python import compile_python

NUMBERS, LISTS = ("f",), ("r",)
KINDS = {"number": "f", "index": "i", "list": "r", "lists": "r"}


class RandomProgram:
    """A function `main`, and others that it calls. What a scope has are variables with what they are."""

    def __init__(self, seed):
        self.random, self.count, self.functions = random.Random(seed), 0, []

    def fresh(self, scope, what):
        self.count += 1
        var = Var(f"{what}_{self.count}", KINDS[what])
        scope.append((var, what))
        return var

    def pick(self, scope, what):
        found = [var for var, kind in scope if kind == what]
        return self.random.choice(found) if found else None

    # --- expressions ------------------------------------------------------------------------------

    def number(self, scope, depth=0):
        chance, var = self.random.random(), self.pick(scope, "number")
        if chance < 0.35 or depth > 2:
            return var or Const(1.0, "f")
        if chance < 0.45:
            return Const(self.random.choice([0.0, 1.0, 2.0, -1.0, 0.5]), "f")
        name = self.random.choice(
            ["add", "mul", "sub", "truediv", "log", "sqrt", "exp", "abs", "select", "float"]
        )
        if name == "float":
            return Op("float", (self.pick(scope, "index") or Const(3, "i"),), "f")
        if name == "select":
            return Op(name, (self.test(scope, depth + 1), var or Const(1.5, "f"), Const(0.5, "f")), "f")
        first = self.number(scope, depth + 1)
        if name == "exp":
            return Op(name, (Op("np_minimum", (first, Const(3.0, "f")), "f"),), "f")
        if name in ("log", "sqrt", "abs"):
            return Op(name, (first if name == "abs" else self.positive(first),), "f")
        second = self.number(scope, depth + 1)
        return Op(name, (first, self.positive(second) if name == "truediv" else second), "f")

    def positive(self, expr):
        """Most often a positive number, as what fails shows little else."""
        if self.random.random() < 0.04:
            return expr
        return Op("add", (Op("abs", (expr,), "f"), Const(0.25, "f")), "f")

    def test(self, scope, depth=0):
        name = self.random.choice(["lt", "gt", "eq"])
        return Op(name, (self.number(scope, depth + 1), self.number(scope, depth + 1)), "b")

    def index(self, scope):
        known = self.pick(scope, "index") if self.random.random() < 0.1 else None
        return known or Const(self.random.choice([0, 0, 0, 1, -1]), "i")

    # --- statements -------------------------------------------------------------------------------

    def body(self, scope, depth, labels, end, size):
        inner = list(scope)
        return [one for _ in range(size) for one in self.statement(inner, depth, labels, end)]

    def statement(self, scope, depth, labels, end):
        made = self.random.choice([
            self.set, self.set, self.set, self.set_again, self.of_list, self.of_list, self.list, self.change,
            self.change, self.alias, self.nested, self.call, self.call,
        ])  # fmt: skip
        chance = self.random.random()
        if depth < 3 and chance < 0.1:
            made = self.branch
        elif depth < 3 and chance < 0.2:
            made = self.loop
        return made(scope, depth, labels, end)

    def set(self, scope, *_):
        value = self.number(scope)
        return [Set([self.fresh(scope, "number")], [value])]

    def set_again(self, scope, *_):
        var = self.pick(scope, "number")
        return [] if var is None else [Set([var], [self.number(scope)])]

    def of_list(self, scope, *_):
        ref, index = self.pick(scope, "list"), self.index(scope)
        if ref is None:
            return []
        if self.random.random() < 0.3:
            return [Length(self.fresh(scope, "index"), ref, NUMBERS)]
        return [Load([self.fresh(scope, "number")], ref, NUMBERS, index)]

    def list(self, scope, *_):
        items = [(self.number(scope),) for _ in range(2)]
        if self.random.random() < 0.7:
            return [New(self.fresh(scope, "list"), NUMBERS, items)]
        count = Const(self.random.choice([1, 2, 3]), "i")
        return [Fill(self.fresh(scope, "list"), NUMBERS, count, items[0])]

    def change(self, scope, *_):
        ref = self.pick(scope, "list")
        if ref is None:
            return []
        item = (self.number(scope),)
        ways = [
            Append(ref, NUMBERS, item),
            Store(ref, NUMBERS, self.index(scope), item),
            Truncate(ref, NUMBERS, Const(1, "i")),
        ]
        return self.random.choices(ways, [6, 3, 0.3])

    def alias(self, scope, *_):
        ref = self.pick(scope, "list")
        if ref is None:
            return []
        again = self.random.random() < 0.4
        return [Set([self.pick(scope, "list") if again else self.fresh(scope, "list")], [ref])]

    def nested(self, scope, *_):
        ref, refs, index = self.pick(scope, "list"), self.pick(scope, "lists"), self.index(scope)
        if ref is None:
            return []
        chance = self.random.random()
        if refs is None or chance < 0.3:
            return [New(self.fresh(scope, "lists"), LISTS, [(ref,), (self.pick(scope, "list"),)])]
        if chance < 0.8:
            return [Load([self.fresh(scope, "list")], refs, LISTS, index)]
        return [Append(refs, LISTS, (ref,))]

    def call(self, scope, *_):
        if not self.functions:
            return []
        function, parameters, results = self.random.choice(self.functions)
        args = [self.pick(scope, what) for what in parameters]
        for place, what in enumerate(parameters):
            if what == "number" and (args[place] is None or self.random.random() < 0.4):
                args[place] = self.number(scope)
        if None in args:
            return []
        return [Call([self.fresh(scope, what) for what in results], function, args)]

    def branch(self, scope, depth, labels, end):
        test = self.test(scope)
        arms = []
        for size in (self.random.randint(1, 4), self.random.choice([0, 0, 1, 3])):
            arm = self.body(scope, depth + 1, labels, end, size)
            chance = self.random.random()
            if chance < 0.08 and labels and size:
                arm.append(self.random.choice([Leave, Next])(self.random.choice(labels)))
            elif chance < 0.12 and size:
                arm.append(end(scope))
            elif chance < 0.13 and size:
                arm.append(Fail("no"))
            arms.append(arm)
        return [If(test, *arms)]

    def loop(self, scope, depth, labels, end, stop=None):
        self.count += 1
        label, inner = self.count, list(scope)
        stop = stop or self.pick(scope, "index") or Const(self.random.choice([0, 1, 2, 3]), "i")
        stop = Op("imin", (stop, Const(3, "i")), "i")  # as a list may grow in it
        start, step, var = Const(0, "i"), Const(1, "i"), self.fresh(inner, "index")
        if self.random.random() < 0.1:
            start, stop, step = Op("sub", (stop, step), "i"), Const(-1, "i"), Const(-1, "i")
        body = self.body(inner, depth + 1, [*labels, label], end, self.random.randint(2, 7))
        total = scope[0][0]
        if depth == 1:
            body.append(Set([total], [Op("add", (total, self.number(inner)), "f")]))
        return [For(var, start, stop, step, body, label)]

    # --- functions --------------------------------------------------------------------------------

    def function(self):
        parameters = self.random.choices(["number", "number", "list", "list", "lists", "index"], k=3)
        scope = []
        given = [self.fresh(scope, what) for what in ["number", *parameters]]
        results = self.random.choice([["number"], ["number", "number"], ["number", "list"]])
        if "list" not in parameters:
            results = ["number"]

        def end(inner):
            return Return([self.pick(inner, what) for what in results])

        body = [one for _ in range(self.random.randint(2, 6)) for one in self.statement(scope, 2, [], end)]
        kinds = [KINDS[what] for what in results]
        made = Function(f"function_{len(self.functions)}", given, kinds, [*body, end(scope)])
        self.functions.append((made, ["number", *parameters], results))

    def main(self):
        for _ in range(self.random.randint(0, 3)):
            self.function()
        scope = []
        total = self.fresh(scope, "number")
        whats = ["number", "number", "list", "list", "lists", "index"]
        given = [self.fresh(scope, what) for what in whats]

        def end(inner):
            return Return([total, self.pick(inner, "number")])

        body = [Set([total], [Const(0.0, "f")])]
        for _ in range(2):
            body += self.statement(scope, 1, [], end)
            body += self.loop(scope, 1, [], end, given[-1])
        return Function("main", given, ["f", "f"], [*body, end(scope)])


def arguments(source):
    """Arguments for `main`; lists may be one, or be in the list of lists."""
    first = [source.choice([0.5, 1.0, 2.0, -1.0]) for _ in range(source.randint(1, 3))]
    second = [1.0, 3.0] if source.random() < 0.7 else first
    lists = [first, second] if source.random() < 0.6 else [[1.0], [2.0, 0.0]]
    return [
        source.choice([0.3, 1.0, -2.0]),
        source.choice([1.0, 4.0]),
        first,
        second,
        lists,
        source.randint(0, 3),
    ]


def result_of(text, given):
    """What `main` returns and leaves in its arguments; or that it fails; None if it is no use."""
    args = copy.deepcopy(given)
    main = compile_python(text, {})["main"]
    try:
        found = main(None, *args)
    except PYTHON_FAILURES:
        return "failed"
    except UnboundLocalError:  # what a branch has not set
        return None
    return repr(found), _shape(args, {})


def _shape(what, seen):
    """Lists, with which of them are one."""
    if not isinstance(what, list):
        return repr(what)
    if id(what) in seen:
        return seen[id(what)]
    seen[id(what)] = len(seen)
    return [_shape(one, seen) for one in what]
