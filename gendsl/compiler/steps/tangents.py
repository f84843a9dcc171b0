"""Forward mode: every float of a text gets its derivatives in what was read, its *tangents*.

    d f(x, y) = f_x dx + f_y dy

The differential of a variable that is set in one place is known there as a sum of few others, with what each
is multiplied by: those of the coordinates that were read, mostly, which have numbers. The factors are
variables as well, and nothing is stored. Where a number leaves the function, is kept in a list or written to
a choice, and where a variable is set in several places, its tangents are made: `d_x` behind `x`, a list of
pairs of a coordinate and the derivative in it; see `library_slopes`. Parameters, results and the items of
lists have theirs. The tangents of what a program returned for a trace are not numbers: it may decide what is
done, but not what is written. So what finds it has no tangents where there is no float in it.

Where a derivative is no number, as that of the square root at 0, the text fails, or the tangent is not a
number, which whoever takes the determinant must see.
"""

from __future__ import annotations

import copy
import math
from collections import Counter
from typing import Any

from gendsl.compiler import hir
from gendsl.compiler.front.names import Text
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
from gendsl.compiler.hir.derivatives import ONE, SLOPES, ZERO, of_two, plus, times
from gendsl.compiler.hir.failures import NotClosed
from gendsl.compiler.hir.rewriting import variables_of
from gendsl.compiler.hir.slopes import Slopes
from gendsl.compiler.hir.types import Array, Type, leaves
from gendsl.compiler.passes.short_lists import clean
from gendsl.compiler.python.state_columns import NO_COORDINATE

PAIR: tuple[Kind, ...] = ("i", "f")
"""The layout of tangents: of each coordinate and the derivative in it."""
Form = dict[Var, Expr]
"""The differential of a number: numbers of coordinates, and tangents, with what each is multiplied by."""
MOST_TERMS = 8
"""How many terms the differential of a variable may have; of those with more, the tangents are made."""
_UNKNOWN = Const(NO_COORDINATE, "i"), Const(math.nan, "f")
"""The tangents of what no derivative is known in."""


def differentiate(main: Function, suffix: str, slopes: Slopes) -> Function:
    """A function, and all that it calls, with tangents; the functions themselves are only cleaned.

    Args:
        suffix: what the names of those that it calls end with then.
    """
    for function in hir.functions(main):
        clean(function)
    return _Tangents(suffix, slopes).function(main, main.name)


class _Tangents:
    """Makes the functions of a text into those with tangents."""

    def __init__(self, suffix: str, slopes: Slopes) -> None:
        self.suffix, self.slopes = suffix, slopes
        self.made: dict[int, Function] = {}

    def function(self, one: Function, name: str = "") -> Function:
        """A function with tangents."""
        if id(one) not in self.made:
            made = self.made[id(one)] = Function(name or f"{one.name}{self.suffix}", origin=one.origin)
            _Function(self, one, made)
        return self.made[id(one)]


def set_in_one_place(function: Function) -> set[Var]:
    """The variables that are set by one statement, which comes before all that use them.

    What one of them is set to there holds wherever it is used: an `If` or a loop that sets a variable for
    what comes after it is no such statement.
    """
    counts = Counter(function.parameters)
    found = set(function.parameters)

    def body(statements: Body, known: frozenset[Var]) -> None:
        for one in statements:
            for expr in hir.expressions(one):
                found.difference_update(variables_of(expr) - known)
            targets = hir.targets(one)
            inner = known | {*targets} if isinstance(one, hir.For) else known
            for within in hir.bodies(one):
                body(within, inner)
            counts.update(targets)
            known |= {*targets}

    for one in hir.walk(function.body):
        found.update(hir.targets(one))
    body(function.body, frozenset(function.parameters))
    return {var for var in found if counts[var] == 1}


class _Function:
    """One function that gets tangents.

    Attributes:
        steady: the variables that are set in one place, and what stands for their differentials.
        forms: the differentials of these, where they are known as sums.
        made: the variables that were made for what derivatives need.
    """

    def __init__(self, every: _Tangents, one: Function, made: Function) -> None:
        self.every = every
        names = {var.name for var in one.parameters}
        names |= {var.name for s in hir.walk(one.body) for var in hir.targets(s)}
        self.text = Text(one, dict.fromkeys(names, 1))
        self.partners: dict[Var, Var] = {}
        self.steady = set_in_one_place(one)
        self.forms: dict[Var, Form] = {}
        self.made: set[Var] = set()
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
        """Leave out what was made for tangents that nothing needs."""
        used: set[Var] = set()
        statements = list(hir.walk(made.body))
        unused: set[int] = set()
        for statement in reversed(statements):  # what uses a factor comes after it
            match statement:
                case (Set(targets=[target]) | hir.New(target=target)) if target in self.made - used:
                    unused.add(id(statement))
                    continue
                case hir.Read(targets=[_, coordinate], tangents=True) if coordinate in self.made - used:
                    del statement.targets[1]
                    statement.tangents = False
            for expr in hir.expressions(statement):
                used |= variables_of(expr)
        for body in (made.body, *(body for one in statements for body in hir.bodies(one))):
            body[:] = [one for one in body if id(one) not in unused]

    def partner(self, var: Var) -> Var:
        """The variable for the tangents of one."""
        if var not in self.partners:
            self.partners[var] = Var(self.text.fresh(f"d_{var.name}"), "r")
            if var in self.steady:
                self.steady.add(self.partners[var])
        return self.partners[var]

    def variables(self, given: list[Var]) -> list[Var]:
        """Variables, each of floats with that of its tangents."""
        return [v for var in given for v in ((var, self.partner(var)) if var.kind == "f" else (var,))]

    def leaves(self, given: list[Expr] | tuple[Expr, ...]) -> list[Expr]:
        """Expressions, each of floats with its tangents."""
        found: list[Expr] = []
        for one in given:
            if one.kind == "f":
                value = self.atom(one)
                found += value, self.tangents(self.form_of(value))
            else:
                found.append(self.ref(one))
        return found

    def ref(self, expr: Expr) -> Expr:
        """An expression with the lists from outside in it as those with tangents."""
        if isinstance(expr, Input) and expr.kind == "r":
            return Input(expr.number, expr.leaf, expr.kind, True)
        if isinstance(expr, Op) and any(arg.kind == "r" for arg in expr.args):
            return Op(expr.name, tuple(map(self.ref, expr.args)), expr.kind)
        return expr

    def tangents(self, form: Form) -> Expr:
        """The tangents of a number with a differential, made before the statement that needs them."""
        terms: list[tuple[Expr, ...]] = [(var, factor) for var, factor in form.items() if var.kind == "i"]
        sums = [(var, factor) for var, factor in form.items() if var.kind == "r"]
        if not form:
            if self.nothing is None:
                self.nothing = Var(self.text.fresh("nothing"), "r")
            return self.nothing
        if not terms and len(sums) == 1 and sums[0][1] == ONE:
            return sums[0][0]
        made = Var(self.text.fresh("d"), "r")
        self.out.append(hir.New(made, PAIR, terms, line=self.line))
        if len(terms) > 1:
            self.out.append(Call([], self.every.slopes.ordered, [made], line=self.line))
        for var, factor in sums:
            self.out.append(Call([], self.every.slopes.add, [made, factor, var], line=self.line))
        return made

    def form_of(self, atom: Expr) -> Form:
        """The differential of a variable, or of what has none."""
        if not isinstance(atom, Var):
            return {}
        return self.forms[atom] if atom in self.forms else {self.partner(atom): ONE}

    def is_constant(self, expr: Expr) -> bool:
        """Whether an expression has no differential."""
        if expr.kind != "f":
            return True
        if isinstance(expr, Op):
            return expr.name == "detached" or all(self.is_constant(arg) for arg in expr.args)
        return not isinstance(expr, Var) or not self.forms.get(expr, True)

    def atom(self, expr: Expr) -> Expr:
        """What has the value of an expression: a variable that is set now, if there is a differential."""
        if not isinstance(expr, Op) or self.is_constant(expr):
            return expr
        name = self.named("t")
        self.set_one(name, expr)
        return name

    def named(self, name: str, kind: Kind = "f") -> Var:
        """A new variable that is set in one place."""
        made = Var(self.text.fresh(name), kind)
        self.steady.add(made)
        self.made.add(made)
        return made

    def set_one(self, target: Var, value: Expr) -> None:
        """Set a variable, and keep its differential, or its tangents."""
        if target not in self.steady:  # it may be used by what it is set to
            value = self.atom(value)
        operation = value if isinstance(value, Op) and not self.is_constant(value) else None
        if operation is not None and operation.name != "select":  # of that only one part may be evaluated
            atoms = [self.atom(arg) if arg.kind == "f" else arg for arg in operation.args]
            value = operation = Op(operation.name, tuple(atoms), "f")
            self.out.append(Set([target], [value], line=self.line))
            forms = [self.form_of(atom) if atom.kind == "f" else {} for atom in atoms]
            form = self.chained(operation, target, forms)
        else:
            form = self.form_of(value) if operation is None else self.differential(value)
            self.out.append(Set([target], [value], line=self.line))
        if target in self.steady and len(form) <= MOST_TERMS:
            names = {of: of.name.removeprefix("at_" if of.kind == "i" else "d_") for of in form}
            self.forms[target] = {
                self.kept(of): self.fixed(f"{target.name}_by_{names[of]}", factor)
                for of, factor in form.items()
            }
        else:
            self.out.append(Set([self.partner(target)], [self.tangents(form)], line=self.line))

    def kept(self, of: Var) -> Var:
        """Tangents of a variable that may be set again: those that there are now."""
        if of in self.steady:
            return of
        made = self.named(of.name, of.kind)
        self.out.append(Set([made], [of], line=self.line))
        return made

    def fixed(self, name: str, factor: Expr) -> Expr:
        """What something is multiplied by, as a variable that is set now if it is computed or may change."""
        if isinstance(factor, Const) or factor in self.steady:
            return factor
        made = self.named(name)
        self.out.append(Set([made], [factor], line=self.line))
        return made

    def differential(self, expr: Expr) -> Form:
        """The differential of an expression of floats, by what it is made of."""
        if not isinstance(expr, Op):
            return self.form_of(expr)
        if self.is_constant(expr):
            return {}
        if expr.name == "select":
            test, x, y = expr.args
            dx, dy = self.differential(x), self.differential(y)
            return {
                var: Op("select", (test, dx.get(var, ZERO), dy.get(var, ZERO)), "f") for var in {**dx, **dy}
            }
        forms = [self.differential(arg) if arg.kind == "f" else {} for arg in expr.args]
        return self.chained(expr, None, forms)

    def chained(self, expr: Op, target: Var | None, forms: list[Form]) -> Form:
        """The differential of an operation, from those of its arguments.

        Args:
            target: the variable that is set to it; without one nothing can be computed beforehand.
        """
        value: Expr = expr if target is None else target
        name = expr.name.removeprefix("np_")
        factors: tuple[Expr, ...] | None = None
        if len(forms) == 1 and name in SLOPES:
            factors = (SLOPES[name](expr.args[0], value),)
        elif len(forms) == 2:
            factors = of_two(name, expr, value, bool(forms[0]), bool(forms[1]))
        if factors is None:
            raise NotClosed(f"the derivative of {name}")
        result: Form = {}
        for factor, form in zip(factors, forms, strict=True):
            if target is not None and len(form) > 1:
                factor = self.fixed(f"{target.name}_slope", factor)
            for var, inner in form.items():
                term = times(factor, inner)
                if term == ZERO and not isinstance(inner, Const):  # of what fails there is no product
                    term = Op("mul", (factor, inner), "f")
                result[var] = plus(result.get(var, ZERO), term)
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

    def set(self, targets: list[Var], values: list[Expr], line: int) -> hir.Statement:
        """What sets variables."""
        if len(targets) == 1 and targets[0].kind == "f":
            self.set_one(targets[0], values[0])
            return self.out.pop()
        if len(targets) > 1 and self.steady.issuperset(targets):  # none is used by what the others are
            for target, value in zip(targets, values, strict=True):
                self.out.append(self.set([target], [value], line))
            return self.out.pop()
        return Set(self.variables(targets), self.leaves(values), line=line)

    def read(
        self, target: Var, template: Any, indices: tuple[Expr, ...], followed: bool, line: int
    ) -> hir.Statement:
        """What reads a number, with the number of its coordinate."""
        if not followed:
            self.out.append(hir.Read([target], template, indices, False, line=line))
            partner = self.partner(target)
            if target in self.steady:  # else what is before it may use it, in the next iteration
                self.made.add(partner)
            return hir.New(partner, PAIR, [_UNKNOWN], line=line)
        coordinate = Var(self.text.fresh(f"at_{target.name}"), "i")
        self.made.add(coordinate)
        made = hir.Read([target, coordinate], template, indices, True, True, line=line)
        if target in self.steady:
            self.steady.add(coordinate)
            self.forms[target] = {coordinate: ONE}
            return made
        self.out.append(made)
        return hir.New(self.partner(target), PAIR, [(coordinate, ONE)], line=line)

    def statement(self, one: hir.Statement) -> hir.Statement:
        """A statement with tangents."""
        line = one.line
        match one:
            case Set(targets=targets, values=values):
                return self.set(targets, values, line)
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
            case hir.Read(targets=[target], template=template, indices=indices, followed=followed) if (
                target.kind == "f"
            ):
                return self.read(target, template, indices, followed, line)
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
