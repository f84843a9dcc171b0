"""Forward mode: every float of a text gets its derivative along one direction, its *tangent*.

A function with a parameter, a result or a variable `x` of floats has `d_x` behind it; items of lists have the
tangent of each float behind that. Choices that are read bring tangents, and choices that are written take
them. The tangents of what a program returned for a trace are not numbers: it may decide what is done, but not
what is written.

    d f(x, y) = f_x dx + f_y dy

Where a derivative is no number, as that of the square root at 0, the text fails, or the tangent is not a
number, which whoever takes the determinant must see.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable

from gendsl.compiler import hir
from gendsl.compiler.front.frame import Text
from gendsl.compiler.front.values import NotClosed
from gendsl.compiler.hir import (
    Body,
    Call,
    Const,
    Expr,
    Function,
    Input,
    Kind,
    Op,
    Return,
    Set,
    Var,
)
from gendsl.compiler.types import leaves

ZERO, ONE, TWO = Const(0.0, "f"), Const(1.0, "f"), Const(2.0, "f")
_TWO_OVER_ROOT_PI = Const(2.0 / math.sqrt(math.pi), "f")
_ROOT_TWO_PI_INVERSE = Const(1.0 / math.sqrt(2.0 * math.pi), "f")


def _op(name: str, *args: Expr) -> Expr:
    return Op(name, args, "f")


def plus(x: Expr, y: Expr) -> Expr:
    """x + y, without what is zero."""
    return y if x == ZERO else x if y == ZERO else _op("add", x, y)


def times(x: Expr, y: Expr) -> Expr:
    """x y, without what is zero or one."""
    if ZERO in (x, y):
        return ZERO
    return y if x == ONE else x if y == ONE else _op("mul", x, y)


def minus(x: Expr) -> Expr:
    """-x."""
    return ZERO if x == ZERO else _op("neg", x)


def over(x: Expr, y: Expr) -> Expr:
    """x / y."""
    return ZERO if x == ZERO else _op("truediv", x, y)


def _square(x: Expr) -> Expr:
    return _op("mul", x, x)


Slope = Callable[[Expr, Op], Expr]
"""The derivative of a function of one number, from the number and the operation itself."""

SLOPES: dict[str, Slope] = {
    "exp": lambda x, y: y,
    "expm1": lambda x, y: _op("exp", x),
    "exp2": lambda x, y: times(Const(math.log(2.0), "f"), y),
    "log": lambda x, y: over(ONE, x),
    "log1p": lambda x, y: over(ONE, plus(ONE, x)),
    "log2": lambda x, y: over(Const(1.0 / math.log(2.0), "f"), x),
    "log10": lambda x, y: over(Const(1.0 / math.log(10.0), "f"), x),
    "sqrt": lambda x, y: over(Const(0.5, "f"), y),
    "cbrt": lambda x, y: over(Const(1.0 / 3.0, "f"), _square(y)),
    "sin": lambda x, y: _op("cos", x),
    "cos": lambda x, y: minus(_op("sin", x)),
    "tan": lambda x, y: plus(ONE, _square(y)),
    "asin": lambda x, y: over(ONE, _op("sqrt", _op("sub", ONE, _square(x)))),
    "acos": lambda x, y: minus(over(ONE, _op("sqrt", _op("sub", ONE, _square(x))))),
    "atan": lambda x, y: over(ONE, plus(ONE, _square(x))),
    "sinh": lambda x, y: _op("cosh", x),
    "cosh": lambda x, y: _op("sinh", x),
    "tanh": lambda x, y: _op("sub", ONE, _square(y)),
    "asinh": lambda x, y: over(ONE, _op("sqrt", plus(ONE, _square(x)))),
    "acosh": lambda x, y: over(ONE, _op("sqrt", _op("sub", _square(x), ONE))),
    "atanh": lambda x, y: over(ONE, _op("sub", ONE, _square(x))),
    "erf": lambda x, y: times(_TWO_OVER_ROOT_PI, _op("exp", minus(_square(x)))),
    "erfc": lambda x, y: minus(times(_TWO_OVER_ROOT_PI, _op("exp", minus(_square(x))))),
    "lgamma": lambda x, y: _op("np_psi", x),
    "gammaln": lambda x, y: _op("np_psi", x),
    "expit": lambda x, y: times(y, _op("sub", ONE, y)),
    "logit": lambda x, y: over(ONE, times(x, _op("sub", ONE, x))),
    "ndtr": lambda x, y: times(_ROOT_TWO_PI_INVERSE, _op("exp", times(Const(-0.5, "f"), _square(x)))),
    "ndtri": lambda x, y: over(
        ONE, times(_ROOT_TWO_PI_INVERSE, _op("exp", times(Const(-0.5, "f"), _square(y))))
    ),
    "neg": lambda x, y: Const(-1.0, "f"),
    "abs": lambda x, y: _op("copysign", ONE, x),
    "float": lambda x, y: ONE,
}  # fmt: skip


def _binary(name: str, op: Op, dx: Expr, dy: Expr) -> Expr | None:
    """The tangent of an operation on two numbers; None if it is none of these."""
    x, y = op.args
    match name:
        case "add":
            return plus(dx, dy)
        case "sub":
            return dx if dy == ZERO else minus(dy) if dx == ZERO else _op("sub", dx, dy)
        case "mul":
            return plus(times(dx, y), times(x, dy))
        case "truediv" | "div":
            if dy == ZERO:
                return over(dx, y)
            return over(_op("sub", dx, times(op, dy)), y)
        case "pow" | "power":
            first: Expr = ZERO
            if dx != ZERO:
                if y == TWO:
                    return times(times(TWO, x), dx)
                first = times(times(y, _op(op.name, x, _op("sub", y, ONE))), dx)
            return first if dy == ZERO else plus(first, times(times(op, _op("log", x)), dy))
        case "mod" | "fmod":
            if dy == ZERO:
                return dx
        case "hypot":
            return over(plus(times(x, dx), times(y, dy)), op)
        case "atan2":
            return over(_op("sub", times(y, dx), times(x, dy)), _op("add", _square(x), _square(y)))
        case "maximum":
            return Op("select", (Op("ge", (x, y), "b"), dx, dy), "f")
        case "minimum":
            return Op("select", (Op("le", (x, y), "b"), dx, dy), "f")
        case "logaddexp":
            weight = _op("np_exp", _op("sub", x, op))
            return plus(times(weight, dx), times(_op("sub", ONE, weight), dy))
        case "copysign":
            if dy == ZERO:
                return times(dx, _op("copysign", ONE, times(x, y)))
    return None


def differentiate(main: Function, suffix: str = "", *, passed: bool = False) -> Function:
    """A function, and all that it calls, with tangents; the functions themselves stay as they are.

    Args:
        suffix: what the names of the new functions end with.
        passed: whether the function itself has been run on the same values, and has not failed. Then there is
            nothing to check, and what has no tangents need not be written or copied.
    """
    return _Tangents(suffix, passed).function(main)


class _Tangents:
    """Makes the functions of a text into those with tangents."""

    def __init__(self, suffix: str, passed: bool) -> None:
        self.suffix, self.passed = suffix, passed
        self.made: dict[int, Function] = {}

    def function(self, one: Function) -> Function:
        """A function with tangents."""
        if id(one) not in self.made:
            made = self.made[id(one)] = Function(f"{one.name}{self.suffix}", origin=one.origin)
            _Function(self, one, made)
        return self.made[id(one)]


class _Function:
    """One function that gets tangents."""

    def __init__(self, every: _Tangents, one: Function, made: Function) -> None:
        self.every = every
        names = {var.name for var in one.parameters}
        names |= {var.name for s in hir.walk(one.body) for var in hir.targets(s)}
        self.text = Text(one, dict.fromkeys(names, 1))
        self.partners: dict[Var, Var] = {}
        made.parameters = self.variables(one.parameters)
        made.results = list(kinds(tuple(one.results)))
        made.body = self.body(one.body)

    def partner(self, var: Var) -> Var:
        """The variable for the tangent of one."""
        if var not in self.partners:
            self.partners[var] = Var(self.text.fresh(f"d_{var.name}"), "f")
        return self.partners[var]

    def variables(self, given: list[Var]) -> list[Var]:
        """Variables, each of floats with that of its tangent."""
        return [v for var in given for v in ((var, self.partner(var)) if var.kind == "f" else (var,))]

    def leaves(self, given: list[Expr] | tuple[Expr, ...]) -> list[Expr]:
        """Expressions, each of floats with its tangent."""
        return [
            e for one in given for e in ((one, self.tangent(one)) if one.kind == "f" else (self.ref(one),))
        ]

    def ref(self, expr: Expr) -> Expr:
        """An expression with the lists from outside in it as those with tangents."""
        if isinstance(expr, Input) and expr.kind == "r":
            return Input(expr.number, expr.leaf, expr.kind, True)
        if isinstance(expr, Op) and any(arg.kind == "r" for arg in expr.args):
            return Op(expr.name, tuple(map(self.ref, expr.args)), expr.kind)
        return expr

    def tangent(self, expr: Expr) -> Expr:
        """The tangent of an expression of floats."""
        match expr:
            case Const() | Input():
                return ZERO
            case Var():
                return self.partner(expr)
        if expr.name == "detached":
            return ZERO
        if expr.name == "select":
            test, x, y = expr.args
            dx, dy = self.tangent(x), self.tangent(y)
            return ZERO if dx == dy == ZERO else Op("select", (test, dx, dy), "f")
        tangents = [self.tangent(arg) if arg.kind == "f" else ZERO for arg in expr.args]
        if all(tangent == ZERO for tangent in tangents):
            return ZERO
        name = expr.name.removeprefix("np_")
        if len(tangents) == 1 and name in SLOPES:
            return times(SLOPES[name](expr.args[0], expr), tangents[0])
        found = _binary(name, expr, *tangents) if len(tangents) == 2 else None
        if found is None:
            raise NotClosed(f"the derivative of {name}")
        return found

    def body(self, statements: Body) -> Body:
        """Statements with tangents."""
        result: Body = []
        for one in statements:
            if self.every.passed and isinstance(one, hir.Copy):
                result.append(Set([one.target], [Const(1, "i")], line=one.line))
            elif not (self.every.passed and _only_checks(one)):
                result.append(self.statement(one))
        return result

    def statement(self, one: hir.Statement) -> hir.Statement:
        """A statement with tangents."""
        line = one.line
        match one:
            case Set(targets=targets, values=values):
                return Set(self.variables(targets), self.leaves(values), line=line)
            case hir.New(target=target, layout=layout, items=items):
                pairs = [tuple(self.leaves(item)) for item in items]
                return hir.New(target, kinds(layout), pairs, line=line)
            case hir.Fill(target=target, layout=layout, count=count, item=item):
                return hir.Fill(target, kinds(layout), count, tuple(self.leaves(item)), line=line)
            case hir.Length(target=target, list=ref, layout=layout):
                return hir.Length(target, self.ref(ref), kinds(layout), line=line)
            case hir.Load(targets=targets, list=ref, layout=layout, index=index):
                return hir.Load(self.variables(targets), self.ref(ref), kinds(layout), index, line=line)
            case hir.Store(list=ref, layout=layout, index=index, item=item):
                return hir.Store(self.ref(ref), kinds(layout), index, tuple(self.leaves(item)), line=line)
            case hir.Append(list=ref, layout=layout, item=item, site=site):
                return hir.Append(self.ref(ref), kinds(layout), tuple(self.leaves(item)), site, line=line)
            case hir.Truncate(list=ref, layout=layout, count=count, site=site):
                return hir.Truncate(self.ref(ref), kinds(layout), count, site, line=line)
            case hir.If(test=test, then=then, orelse=orelse):
                return hir.If(self.ref(test), self.body(then), self.body(orelse), line=line)
            case hir.For(var=var, start=start, stop=stop, step=step, body=body, label=label):
                return hir.For(var, start, stop, step, self.body(body), label, line=line)
            case hir.Loop(body=body, label=label):
                return hir.Loop(self.body(body), label, line=line)
            case hir.Block(body=body, label=label):
                return hir.Block(self.body(body), label, line=line)
            case Call(targets=targets, function=function, args=args):
                made = self.every.function(function)
                return Call(self.variables(targets), made, self.leaves(args), line=line)
            case Return(values=values):
                return Return(self.leaves(values), line=line)
            case hir.Read(targets=targets, template=template, indices=indices, followed=followed):
                return hir.Read(self.variables(targets), template, indices, followed, True, line=line)
            case hir.Write(template=template, indices=indices, values=values):
                return hir.Write(template, indices, tuple(self.leaves(values)), True, line=line)
            case hir.Copy():
                copied = copy.copy(one)
                copied.tangents = True
                return copied
            case (
                hir.Leave()
                | hir.Next()
                | hir.Fail()
                | hir.Present()
                | hir.Count()
                | hir.Node()
                | hir.Extent()
                | hir.Primitive(name="ask")
            ):
                return copy.copy(one)
        raise NotClosed(f"the derivative of {type(one).__name__}")


def _only_checks(one: hir.Statement) -> bool:
    """Whether a statement does nothing but fail, or write what has no tangents."""
    match one:
        case hir.If(then=then, orelse=orelse):
            return all(map(_only_checks, then)) and all(map(_only_checks, orelse))
        case hir.Write(template=template):
            found = getattr(template.type, "kind", None)
            return found != "f" and "f" not in leaves(template.type)
    return isinstance(one, hir.Fail)


def kinds(layout: tuple[Kind, ...]) -> tuple[Kind, ...]:
    """A layout with the tangents."""
    return tuple(k for kind in layout for k in ((kind, "f") if kind == "f" else (kind,)))
