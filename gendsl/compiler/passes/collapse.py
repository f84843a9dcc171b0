"""Loops over the rows and columns of arrays that lie one row after another are one loop over all entries.

    for i in range(n):
        for j in range(m):                               for i in range(n * m):
            ys[i * m + j] = exp(xs[i * m + j])    ->         ys[i] = exp(xs[i])

So what is done to each entry of a matrix may be one loop with what is done to it next, and run in lanes. The
indices must be asked for in that one form only, and neither length be negative. Products of lengths have one
name each, so that equal sizes look alike.
"""

from __future__ import annotations

from collections import Counter

from gendsl.compiler import hir
from gendsl.compiler.hir import (
    Body,
    Const,
    Expr,
    Fail,
    Fill,
    For,
    Function,
    If,
    Input,
    Leave,
    Length,
    Next,
    Op,
    Set,
    Var,
)
from gendsl.compiler.hir.rewriting import rewrite, variables_of
from gendsl.compiler.passes.clean import clean_one
from gendsl.compiler.passes.staging import Names

_ZERO, _ONE = Const(0, "i"), Const(1, "i")


def collapse(function: Function) -> bool:
    """Make nests of loops over all entries one loop each, the inner ones first; whether there are any."""
    if not any(isinstance(one, For) and _inner_of(one) for one in hir.walk(function.body)):
        return False
    sets = _set_counts(function)
    if _name_products(function.body, sets, {}, Names(function)):
        clean_one(function)
        sets = _set_counts(function)
    collapsing = _Collapse(sets)
    collapsing.body(function.body, frozenset(), {})
    return collapsing.found


def _set_counts(function: Function) -> Counter[Var]:
    counts = Counter(function.parameters)
    for one in hir.walk(function.body):
        counts.update(hir.targets(one))
    return counts


def _name_products(body: Body, sets: Counter[Var], known: dict[Expr, Var], names: Names) -> bool:
    """Let products that are computed again, and sizes, be variables; whether there are any."""
    found, at = False, 0
    while at < len(body):
        one = body[at]
        if isinstance(one, Set) and len(one.targets) == 1:
            product = _as_product(one.values[0], sets)
            if product in known:
                one.values, found = [known[product]], True
            elif product is not None and sets[one.targets[0]] == 1:
                known[product] = one.targets[0]
        elif isinstance(one, Fill):
            product = _as_product(one.count, sets)
            if product is not None:
                found = True
                if product not in known:
                    known[product] = Var(names.new("size"), "i")
                    body.insert(at, Set([known[product]], [product], line=one.line))
                    at += 1
                one.count = known[product]
        for inner in hir.bodies(one):
            found = _name_products(inner, sets, dict(known), names) or found
        at += 1
    return found


def _as_product(expr: Expr, sets: Counter[Var]) -> Op | None:
    """A product of two integers that never change, in one order of them."""
    if not isinstance(expr, Op) or expr.name != "mul" or expr.kind != "i":
        return None
    if not all(isinstance(arg, Const) or _is_steady(arg, sets) for arg in expr.args):
        return None
    return Op("mul", tuple(sorted(expr.args, key=repr)), "i")


def _is_steady(expr: Expr, sets: Counter[Var]) -> bool:
    """Whether an expression is what is given from outside, or a variable that is set once."""
    return isinstance(expr, Input) or (isinstance(expr, Var) and sets[expr] == 1)


def _inner_of(loop: For) -> For | None:
    """The loop that is all that another one does."""
    inner = loop.body[0] if len(loop.body) == 1 else None
    return inner if isinstance(inner, For) else None


class _OtherUseError(Exception):
    """An index is asked for in another form."""


class _Collapse:
    """Makes nests of one function one loop each.

    Attributes:
        sets: how often each variable is set.
        found: whether there was a nest.
    """

    def __init__(self, sets: Counter[Var]) -> None:
        self.sets, self.found = sets, False

    def body(self, body: Body, natural: frozenset[Expr], known: dict[Expr, Var]) -> None:
        """Make the nests in a body one loop each.

        Args:
            natural: the variables, and what is given, that surely are not negative.
            known: the variables that are products, by these.
        """
        for at, one in enumerate(body):
            if isinstance(one, If) and not one.orelse and [*map(type, one.then)] == [Fail]:
                match one.test:
                    case Op(name="lt", args=(length, limit)) if limit == _ZERO:
                        natural |= {length} if _is_steady(length, self.sets) else set()
            elif isinstance(one, Length) and self.sets[one.target] == 1:
                natural |= {one.target}
            elif isinstance(one, Fill):
                one.count = self._size(one.count, known)
            elif isinstance(one, Set) and len(one.targets) == 1 and self.sets[one.targets[0]] == 1:
                product = _as_product(one.values[0], self.sets)
                if product is not None:
                    known[product] = one.targets[0]
                if self._is_natural(one.values[0], natural):
                    natural |= {one.targets[0]}
            for inner in hir.bodies(one):
                self.body(inner, natural, dict(known))
            if isinstance(one, For):
                merged = self._merged(one, natural, known)
                if merged is not None:
                    body[at], self.found = merged, True

    def _size(self, expr: Expr, known: dict[Expr, Var]) -> Expr:
        """A number of entries, as all that are as many are told."""
        product = _as_product(expr, self.sets)
        return expr if product is None else known.get(product, product)

    def _merged(self, loop: For, natural: frozenset[Expr], known: dict[Expr, Var]) -> For | None:
        """The one loop that a nest is, if it can be."""
        inner = _inner_of(loop)
        if inner is None or any(one.start != _ZERO or one.step != _ONE for one in (loop, inner)):
            return None
        if not all(self._is_natural(one.stop, natural) for one in (loop, inner)):
            return None
        if self.sets[loop.var] != 1 or self.sets[inner.var] != 1:
            return None
        labels = loop.label, inner.label
        if any(isinstance(one, (Leave, Next)) and one.label in labels for one in hir.walk(inner.body)):
            return None
        form = _Form(loop.var, inner.var, inner.stop)
        try:
            for one in hir.walk(inner.body):
                for expr in hir.expressions(one):
                    form.rewritten(expr)
        except _OtherUseError:
            return None
        for one in hir.walk(inner.body):
            rewrite(one, form.rewritten)
        stop = self._size(_product(loop.stop, inner.stop), known)
        return For(loop.var, _ZERO, stop, _ONE, inner.body, loop.label, line=loop.line)

    def _is_natural(self, expr: Expr, natural: frozenset[Expr]) -> bool:
        match expr:
            case Const(value=int() as value):
                return value >= 0
            case Var() | Input():
                return expr in natural
            case Op(name="mul", args=(one, other)):
                return self._is_natural(one, natural) and self._is_natural(other, natural)
        return False


class _Form:
    """Expressions of two indices that are asked for as `row * columns + column` only, with one index."""

    def __init__(self, row: Var, column: Var, columns: Expr) -> None:
        self.row, self.column = row, column
        self.scaled: list[Expr] = [Op("mul", (row, columns), "i"), Op("mul", (columns, row), "i")]
        if columns == _ONE:
            self.scaled.append(row)

    def rewritten(self, expr: Expr) -> Expr:
        """An expression, of the one index: the row's."""
        if not variables_of(expr) & {self.row, self.column}:
            return expr
        if not isinstance(expr, Op):
            raise _OtherUseError
        if expr.name != "add" or expr.kind != "i":
            return Op(expr.name, tuple(map(self.rewritten, expr.args)), expr.kind)
        terms = _terms(expr)
        scaled = next((one for one in terms if one in self.scaled), None)
        if scaled is None or self.column not in terms:
            return Op("add", tuple(map(self.rewritten, expr.args)), "i")
        terms.remove(scaled)
        terms.remove(self.column)
        result: Expr = self.row
        for term in terms:
            result = Op("add", (self.rewritten(term), result), "i")
        return result


def _terms(expr: Expr) -> list[Expr]:
    """What is added up."""
    if isinstance(expr, Op) and expr.name == "add" and expr.kind == "i":
        return [term for arg in expr.args for term in _terms(arg)]
    return [expr]


def _product(one: Expr, other: Expr) -> Expr:
    if isinstance(one, Const) and isinstance(other, Const):
        return Const(one.value * other.value, "i")  # type: ignore[operator]
    return other if one == _ONE else one if other == _ONE else Op("mul", (one, other), "i")
