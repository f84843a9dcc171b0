"""Forward mode: every float of a text gets its derivatives in what was read, its *tangents*.

A function with a parameter, a result or a variable `x` of floats has `d_x` behind it, a list of pairs: a
coordinate that was read, and the derivative in it; see `library_slopes`. Items of lists have the
tangents of each float behind that. Choices that are read bring tangents, and choices that are written take
them. The tangents of what a program returned for a trace are not numbers: it may decide what is done, but not
what is written. So what finds it has no tangents where there is no float in it.

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
from gendsl.compiler.rewriting import variables_of
from gendsl.compiler.types import Array, Type, leaves

PAIR: tuple[Kind, ...] = ("i", "f")
"""The layout of tangents: of each coordinate and the derivative in it."""
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


Form = dict[Var, Expr]
"""The differential of a number: the tangents of variables, with what each is multiplied by."""


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


def _binary(name: str, op: Op, has_x: bool, has_y: bool) -> tuple[Expr, Expr] | None:
    """The derivatives of an operation on two numbers in each; None if it is none of these.

    Args:
        has_x: whether the first has tangents; of one that has none the derivative is not asked for.
        has_y: whether the second has.
    """
    x, y = op.args
    match name:
        case "add":
            return ONE, ONE
        case "sub":
            return ONE, Const(-1.0, "f")
        case "mul":
            return y, x
        case "truediv" | "div":
            return over(ONE, y), minus(over(op, y)) if has_y else ZERO
        case "pow" | "power":
            first: Expr = ZERO
            if has_x:
                first = times(TWO, x) if y == TWO else times(y, _op(op.name, x, _op("sub", y, ONE)))
            return first, times(op, _op("log", x)) if has_y else ZERO
        case "mod" | "fmod" if not has_y:
            return ONE, ZERO
        case "hypot":
            return over(x, op), over(y, op)
        case "atan2":
            square = _op("add", _square(x), _square(y))
            return over(y, square), minus(over(x, square))
        case "maximum" | "minimum":
            is_first = Op("ge" if name == "maximum" else "le", (x, y), "b")
            return Op("select", (is_first, ONE, ZERO), "f"), Op("select", (is_first, ZERO, ONE), "f")
        case "logaddexp":
            weight = _op("np_exp", _op("sub", x, op))
            return weight, _op("sub", ONE, weight)
        case "copysign" if not has_y:
            return _op("copysign", ONE, times(x, y)), ZERO
    return None


def differentiate(main: Function, suffix: str, combined: Function) -> Function:
    """A function, and all that it calls, with tangents; the functions themselves stay as they are.

    Args:
        suffix: what the names of those that it calls end with then.
        combined: gives the tangents of a number whose differential is a dx + b dy, of a, dx, b and dy.
    """
    return _Tangents(suffix, combined).function(main, main.name)


class _Tangents:
    """Makes the functions of a text into those with tangents."""

    def __init__(self, suffix: str, combined: Function) -> None:
        self.suffix, self.combined = suffix, combined
        self.made: dict[int, Function] = {}

    def function(self, one: Function, name: str = "") -> Function:
        """A function with tangents."""
        if id(one) not in self.made:
            made = self.made[id(one)] = Function(name or f"{one.name}{self.suffix}", origin=one.origin)
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
        self.nothing: Var | None = None
        self.out: Body = []
        self.line = 0
        made.parameters = self.variables(one.parameters)
        made.results = list(kinds(tuple(one.results)))
        made.body = self.body(one.body)
        self.drop_unused(made)
        if self.nothing is not None:
            made.body.insert(0, hir.New(self.nothing, PAIR, []))

    def drop_unused(self, made: Function) -> None:
        """Read numbers without tangents where nothing needs these."""
        used = {
            var for s in hir.walk(made.body) for expr in hir.expressions(s) for var in variables_of(expr)
        }
        for statement in hir.walk(made.body):
            if isinstance(statement, hir.Read) and statement.tangents and len(statement.targets) == 2:
                value, tangents = statement.targets
                if (value.kind, tangents.kind) == ("f", "r") and tangents not in used:
                    statement.targets, statement.tangents = [value], False

    def partner(self, var: Var) -> Var:
        """The variable for the tangents of one."""
        if var not in self.partners:
            self.partners[var] = Var(self.text.fresh(f"d_{var.name}"), "r")
        return self.partners[var]

    def variables(self, given: list[Var]) -> list[Var]:
        """Variables, each of floats with that of its tangents."""
        return [v for var in given for v in ((var, self.partner(var)) if var.kind == "f" else (var,))]

    def leaves(self, given: list[Expr] | tuple[Expr, ...]) -> list[Expr]:
        """Expressions, each of floats with its tangents."""
        return [
            e for one in given for e in ((one, self.tangents(one)) if one.kind == "f" else (self.ref(one),))
        ]

    def ref(self, expr: Expr) -> Expr:
        """An expression with the lists from outside in it as those with tangents."""
        if isinstance(expr, Input) and expr.kind == "r":
            return Input(expr.number, expr.leaf, expr.kind, True)
        if isinstance(expr, Op) and any(arg.kind == "r" for arg in expr.args):
            return Op(expr.name, tuple(map(self.ref, expr.args)), expr.kind)
        return expr

    def tangents(self, expr: Expr) -> Expr:
        """The tangents of an expression of floats, computed before the statement that it is in."""
        terms = list(self.differential(expr).items())
        if not terms:
            if self.nothing is None:
                self.nothing = Var(self.text.fresh("nothing"), "r")
            return self.nothing
        found, factor = terms[0]
        if len(terms) == 1 and factor == ONE:
            return found
        if len(terms) == 1:
            terms.append((found, ZERO))
        for other, its_factor in terms[1:]:
            made = Var(self.text.fresh("d"), "r")
            given = [factor, found, its_factor, other]
            self.out.append(Call([made], self.every.combined, given, line=self.line))
            found, factor = made, ONE
        return found

    def differential(self, expr: Expr) -> Form:
        """The differential of an expression of floats."""
        match expr:
            case Const() | Input():
                return {}
            case Var():
                return {self.partner(expr): ONE}
        if expr.name == "detached":
            return {}
        if expr.name == "select":
            test, x, y = expr.args
            dx, dy = self.differential(x), self.differential(y)
            return {
                var: Op("select", (test, dx.get(var, ZERO), dy.get(var, ZERO)), "f") for var in {**dx, **dy}
            }
        forms = [self.differential(arg) if arg.kind == "f" else {} for arg in expr.args]
        if not any(forms):
            return {}
        name = expr.name.removeprefix("np_")
        factors: tuple[Expr, ...] | None = None
        if len(forms) == 1 and name in SLOPES:
            factors = (SLOPES[name](expr.args[0], expr),)
        elif len(forms) == 2:
            factors = _binary(name, expr, bool(forms[0]), bool(forms[1]))
        if factors is None:
            raise NotClosed(f"the derivative of {name}")
        result: Form = {}
        for factor, form in zip(factors, forms, strict=True):
            for var, inner in form.items():
                result[var] = plus(result.get(var, ZERO), times(factor, inner))
        return {var: factor for var, factor in result.items() if factor != ZERO}

    def body(self, statements: Body) -> Body:
        """Statements with tangents."""
        before, self.out = self.out, []
        for one in statements:
            self.line = one.line
            made = self.statement(one)
            self.out.append(made)
        result, self.out = self.out, before
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
            case Call(function=Function(is_discrete=True)):
                return copy.copy(one)
            case Call(targets=targets, function=function, args=args):
                made = self.every.function(function)
                return Call(self.variables(targets), made, self.leaves(args), line=line)
            case Return(values=values):
                return Return(self.leaves(values), line=line)
            case hir.Read(targets=targets, template=template, indices=indices, followed=followed):
                has = has_floats(template.type)
                return hir.Read(self.variables(targets), template, indices, followed, has, line=line)
            case hir.Write(template=template, indices=indices, values=values):
                has = has_floats(template.type)
                return hir.Write(template, indices, tuple(self.leaves(values)), has, line=line)
            case (
                hir.Leave()
                | hir.Next()
                | hir.Fail()
                | hir.Present()
                | hir.Count()
                | hir.Node()
                | hir.Extent()
                | hir.Copy()
                | hir.Primitive(name="ask")
            ):
                return copy.copy(one)
        raise NotClosed(f"the derivative of {type(one).__name__}")


def has_floats(type: Type) -> bool:
    """Whether the values of choices of a type have floats, and so tangents."""
    return "f" in leaves(type) or (isinstance(type, Array) and type.kind == "f")


def kinds(layout: tuple[Kind, ...]) -> tuple[Kind, ...]:
    """A layout with the tangents."""
    return tuple(k for kind in layout for k in ((kind, "r") if kind == "f" else (kind,)))
