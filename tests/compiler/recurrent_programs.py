"""Random functions of HIR whose loops go on from their last iteration."""

import random

from gendsl.compiler import hir
from gendsl.compiler.hir import (
    Append,
    Const,
    Fail,
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
from tests.compiler.lanes_programs import FLOATS, INT, XS, YS, ZS, F, N, R, f, i

T, TOTAL, ITEMS, OTHERS = Var("t", INT), Var("total", F), Var("items", R), Var("others", R)


class RandomRecurrence:
    """A function `main(n, xs, ys, zs)`: variables, flags and lists go from one iteration to the next."""

    def __init__(self, seed):
        self.random, self.count = random.Random(seed), 0

    def chance(self, p):
        return self.random.random() < p

    def fresh(self, kind):
        self.count += 1
        return Var(f"v{self.count}", kind)

    def number(self, scope, depth=0):
        floats = [var for var in scope if var.kind == F]
        if depth == 2 or self.chance(0.5):
            return self.random.choice([*floats, f(self.random.choice([0.0, 0.5, -1.5, 2.0]))])
        name = self.random.choice(["add", "sub", "mul", "truediv", "np_exp", "select"])
        if name == "np_exp":
            return Op(name, (self.number(scope, depth + 1),), F)
        args = tuple(self.number(scope, depth + 1) for _ in range(2))
        return Op("select", (self.test(scope), *args), F) if name == "select" else Op(name, args, F)

    def integer(self, scope):
        ints = [var for var in scope if var.kind == INT]
        found = self.random.choice([T, T, *ints, i(self.random.randint(-2, 2))])
        return Op("add", (found, i(self.random.randint(-2, 2))), INT) if self.chance(0.4) else found

    def test(self, scope):
        flags = [var for var in scope if var.kind == "b"]
        if flags and self.chance(0.5):
            test = self.random.choice(flags)
        elif self.chance(0.7):
            name = self.random.choice(["lt", "le", "gt", "ge", "eq", "ne"])
            ends = [self.integer(scope), self.random.choice([i(0), i(0), i(1), self.start])]
            self.random.shuffle(ends)
            test = Op(name, tuple(ends), "b")
        else:
            test = Op("gt", (self.number(scope, 1), f(0.0)), "b")
        return Op("not", (test,), "b") if self.chance(0.3) else test

    def item(self, scope):
        target = self.fresh(F)
        ref = self.random.choice([ITEMS, ITEMS, OTHERS, XS])
        if ref == XS:
            index = self.random.choice([T, T, i(0), Op("sub", (T, i(1)), INT)])
        else:
            index = self.random.choice(
                [i(-1), i(-1), i(-2), i(0), Op("sub", (T, self.start), INT), self.integer(scope)]
            )
        return [Load([target], ref, FLOATS, index)], target

    def statement(self, scope, depth):
        kind = self.random.choice(["item", "item", "set", "if", "if", "sum", "count", "fail", "merge"])
        if kind == "item":
            statements, target = self.item(scope)
            scope.append(target)
            return statements
        if kind == "set":
            target = self.fresh(self.random.choice([F, F, INT, "b"]))
            value = {F: self.number, INT: self.integer, "b": self.test}[target.kind](scope)
            others = [var for var in scope if var.kind == target.kind]
            if others and self.chance(0.3):
                target = self.random.choice(others)
            else:
                scope.append(target)
            return [Set([target], [value])]
        if kind == "sum":
            return [Set([TOTAL], [Op("add", (TOTAL, self.number(scope)), F)])]
        if kind == "count":
            target = self.fresh(INT)
            scope.append(target)
            return [Length(target, self.random.choice([ITEMS, OTHERS]), FLOATS)]
        if kind == "fail":
            return [If(Op("gt", (self.number(scope, 1), f(1e4)), "b"), [Fail("large")], [])]
        if depth == 2:
            return []
        sides = [self.body([*scope], depth + 1) for _ in range(2)]
        merged = self.fresh(F)
        for inner, (body, within) in enumerate(sides):
            value = self.random.choice([var for var in within if var.kind == F] or [f(0.25)])
            body.append(Set([merged], [value if inner or self.chance(0.5) else self.number(within)]))
        scope.append(merged)
        return [If(self.test(scope[:-1]), sides[0][0], sides[1][0])]

    def body(self, scope, depth=0):
        statements = []
        for _ in range(self.random.randint(1, 5 if depth == 0 else 2)):
            statements += self.statement(scope, depth)
        return statements, scope

    def main(self):
        start = self.random.choice([0, 0, 0, 1, 3])
        self.start = i(start)
        carried = [self.fresh(self.random.choice([F, F, INT, "b"])) for _ in range(self.random.randint(1, 3))]
        values = {F: f(0.7), INT: i(2), "b": Const(self.chance(0.5), "b")}
        before = [New(ITEMS, FLOATS, [(f(float(k)),) for k in range(self.random.randint(0, 2))])]
        before += [New(OTHERS, FLOATS, []), Set([TOTAL], [f(0.0)])]
        before += [Set([var], [values[var.kind]]) for var in carried]
        if self.chance(0.3):
            before.append(Append(ITEMS, FLOATS, (f(4.0),)))
        scope = [*carried]
        body, scope = self.body(scope)
        for ref in (ITEMS, OTHERS):
            if self.chance(0.6):
                at = self.random.randint(0, len(body))
                known = {var for one in body[:at] for var in hir.targets(one)} | set(carried)
                item = self.random.choice(
                    [var for var in scope if var.kind == F and var in known] or [f(1.0)]
                )
                body.insert(at, Append(ref, FLOATS, (item,)))
        if self.chance(0.5):
            more, scope = self.body(scope)
            body += more
        ends = []
        for var in carried:
            others = [other for other in scope if other.kind == var.kind and other not in carried[:1]]
            choice = [*others, *others, Const(True, "b") if var.kind == "b" else values[var.kind]]
            if not self.chance(0.1):
                any_number = var.kind == F and self.chance(0.2)
                ends.append((var, self.number(scope) if any_number else self.random.choice(choice)))
        if self.chance(0.5):
            body.append(Set([var for var, _ in ends], [value for _, value in ends]))
        else:
            body += [Set([var], [value]) for var, value in ends]
        after = [Length(Var("m", INT), ITEMS, FLOATS), Length(Var("k", INT), OTHERS, FLOATS)]
        results = [TOTAL, Var("m", INT), Var("k", INT)]
        results += [var for var in carried if self.chance(0.5)]
        result = Function("main", [N, XS, YS, ZS], [var.kind for var in results])
        result.body = [
            *before, For(T, self.start, N, i(1), body, 1, line=7), *after, Return([*results]),
        ]  # fmt: skip
        return result
