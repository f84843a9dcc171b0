"""Expressions as array code: what they are in all iterations of a loop at once.

Where a name stands for another value in each iteration it is a column there, with one entry per iteration;
what doesn't change in the loop is evaluated once, as the user wrote it:

    mu[z] + 2 * t            ->   add(gather(mu, z), multiply(2, t))
    X[i] @ beta              ->   dot(rows(X, i), beta)
    -X[i] @ beta             ->   negative(dot(signed(rows(X, i)), beta))
    (X[i] - m) @ beta        ->   dot(rowwise("-", rows(X, i), m), beta)
    a if t > 0 else b        ->   choose(compare(">", t, 0), a, b)
    mu[t - 1] if t > 0 else b
        ->   apart(compare(">", t, 0), lambda t: gather(mu, subtract(t, 1)), lambda t: b, t)
    sum(b[j] * X[i, j] for j in range(3))
        ->   total(multiply(b[j], cells(X, i, j)) for j in each(range(3)))

Where the array code can't vouch for its result it raises, and the iterations run one by one.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gendsl.lang.sites import known_value
from gendsl.lang.source import Source
from gendsl.lang.trees import clone, located, walk
from gendsl.runtime.lowering.effects import Effects
from gendsl.runtime.lowering.emit import TOOLS
from gendsl.runtime.lowering.ir import Code, Gather, Load
from gendsl.runtime.lowering.vector_rows import REDUCED
from gendsl.runtime.lowering.vectors import ELEMENTWISE, NUMBERS, PAIRWISE, PLACES

_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply", ast.Div: "divide",
    ast.FloorDiv: "floor_divide", ast.Mod: "remainder", ast.Pow: "power",
}  # fmt: skip
_UNARY: dict[type[ast.unaryop], str] = {ast.USub: "negative", ast.UAdd: "positive", ast.Not: "inverted"}
_SIGNS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip
ROWWISE_SIGNS: dict[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**",
}  # fmt: skip
_COUNTED = {op: sign for op, sign in _SIGNS.items() if sign in ("<", "<=", ">", ">=")}
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_LOOKING_UP = frozenset((
    "cells", "chosen", "either", "entry", "fixed", "gather", "law", "rows", "same", "variant",
))  # fmt: skip
"""The tools that compute nothing."""
_SCOPED = (ast.Lambda, ast.NamedExpr, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Await)


class ScalarError(Exception):
    """What has no array code."""


@dataclass(frozen=True)
class Bound:
    """A name that array code itself gives a value.

    Attributes:
        column: whether it is a column.
        unset: whether it may have no value where it stands.
        uses: where a column may be one of rows, too: what it is used as is added, "number" or "row".
    """

    column: bool = False
    unset: bool = False
    uses: set[str] | None = None


class ArrayExpressions:
    """The array code of expressions in one loop.

    Attributes:
        varying, outer: the variables of an iteration, which are columns, and those from outside the loop.
        bound: the names that array code around the expression gives a value.
        gathers: the lookups in outer containers; `looked`: containers with the indices of those in the piece
            of code that is being lowered.
        numbers, rows: the loop variables that are read as numbers, and as rows of a matrix.
        computes: whether the expression being lowered does more than look up.
    """

    def __init__(self, definition: Source, effects: Effects, depth: int) -> None:
        self.definition = definition
        self.effects = effects
        self.depth = depth
        self.varying: dict[str, Load] = {}
        self.outer: dict[str, Load] = {}
        self.bound: dict[str, Bound] = {}
        self.gathers: list[Gather] = []
        self.looked: set[tuple[tuple[int, int], str]] = set()
        self.numbers: set[int] = set()
        self.rows: set[int] = set()
        self.computes = False

    def is_column(self, name: str) -> bool:
        """Whether a name is a column."""
        bound = self.bound.get(name)
        return name in self.varying if bound is None else bound.column

    def varies(self, node: ast.AST) -> bool:
        return any(map(self.is_column, names_in(node)))

    def inlined(self, node: ast.Call) -> ast.expr | None:
        """The array code of a call of a function of the user's; None if it is of no such function."""
        raise TypeError("defined by ArrayStatements")

    def operand(self, node: ast.expr) -> ast.expr:
        """The same where it must be a number in each iteration: an array that stays the same is no column."""
        made = self.vector(node)
        return made if self.varies(node) or isinstance(node, ast.Constant) else self.tool(node, "fixed", made)

    def vector(self, node: ast.expr) -> ast.expr:
        """An expression as array code."""
        if not self.varies(node):
            if any(self.bound[name].unset for name in names_in(node) & self.bound.keys()):
                raise ScalarError
            for part in walk(node):
                if isinstance(part, _SCOPED) and not isinstance(part, (ast.ListComp, ast.GeneratorExp)):
                    raise ScalarError
                if isinstance(part, ast.Call) and not self.effects.leaves_alone(part):
                    raise ScalarError  # evaluated once, it might not mean what it does each time
            return node
        node = unwatched(node)
        match node:
            case ast.Name(name):
                self.used(name, "number")
                return node
            case ast.BinOp(left, ast.MatMult(), right):
                return self.product(node, left, right)
            case ast.BinOp() if type(node.op) in _OPERATORS:
                operands = self.operand(node.left), self.operand(node.right)
                return self.tool(node, _OPERATORS[type(node.op)], *operands)
            case ast.UnaryOp(op=op) if type(op) in _UNARY:
                return self.tool(node, _UNARY[type(op)], self.vector(node.operand))
            case ast.Compare(left, [op], [right]) if type(op) in _SIGNS:
                sign = ast.Constant(_SIGNS[type(op)])
                return self.tool(node, "compare", sign, self.operand(left), self.operand(right))
            case ast.IfExp(test, then, otherwise) if self.varies(test):
                ends = lambda: self.operand(then), lambda: self.operand(otherwise)
                return self.chosen(node, test, ends, [then, otherwise])
            case ast.IfExp(test, then, otherwise):
                arms = self.operand(then), self.operand(otherwise)
                return ast.copy_location(ast.IfExp(self.vector(test), *arms), node)
            case ast.Subscript(container, ast.Tuple(indices)) if not self.varies(container):
                if any(isinstance(index, (ast.Slice, ast.Starred)) for index in indices):
                    raise ScalarError
                return self.tool(node, "cells", self.vector(container), *map(self.vector, indices))
            case ast.Subscript(container, index) if not (
                self.varies(container) or isinstance(index, ast.Slice)
            ):
                return self.lookup(node, "gather", container, index)
            case ast.Subscript(ast.Name() as row, index) if not isinstance(index, (ast.Slice, ast.Tuple)):
                return self.tool(node, "entry", self.row(row), self.vector(index))
            case ast.Subscript(ast.Subscript(container, first), second) if not (
                self.varies(container)
                or isinstance(first, (ast.Slice, ast.Tuple))
                or isinstance(second, (ast.Slice, ast.Tuple))
            ):
                table = self.table(self.vector(container), node)
                return self.tool(node, "cells", table, *map(self.vector, (first, second)))
            case ast.Call(args=[left, right], keywords=[]) if self.called(node.func) in PAIRWISE and not (
                isinstance(left, ast.Starred) or isinstance(right, ast.Starred)
            ):
                return self.tool(node, "pairwise", node.func, self.operand(left), self.operand(right))
            case ast.Call(args=[left, right], keywords=[]) if self.is_product(node.func):
                return self.product(node, left, right)
            case ast.Call(args=[values, value], keywords=[]) if self.called(node.func) in PLACES:
                if self.varies(values):
                    raise ScalarError
                side = ast.Constant(PLACES[self.called(node.func)])
                return self.tool(node, "place", self.vector(values), self.vector(value), side)
            case ast.Call(ast.Attribute(row, "dot"), [fixed], []) if self.varies(row):
                return self.product(node, row, fixed)
            case ast.Call(ast.Attribute(ast.BinOp(left, ast.Mult(), right), "sum"), [], []):
                return self.product(node, left, right)
            case ast.Call(args=[ast.BinOp(left, ast.Mult(), right)], keywords=[]) if (
                self.called(node.func) is np.sum
            ):
                return self.product(node, left, right)
            case ast.Call(args=[ast.GeneratorExp() | ast.ListComp() as each], keywords=[]) if (
                self.effects.is_builtin(node.func, "sum")
            ):
                return self.count(node, each) or self.total(node, each)
            case ast.Call(args=[row], keywords=[]) if self.called(node.func) in REDUCED:
                return self.tool(node, "reduced", node.func, self.row(row))
            case ast.Call(ast.Attribute(row, "sum" | "mean" as name), [], []) if self.varies(row):
                return self.tool(node, "reduced", ast.Constant(name), self.row(row))
            case ast.Call(args=[test, then, otherwise], keywords=[]) if self.called(node.func) is np.where:
                return self.tool(node, "choose", *map(self.operand, (test, then, otherwise)))
            case ast.Call(args=[argument], keywords=[]) if not isinstance(argument, ast.Starred):
                if self.called(node.func) in ELEMENTWISE:
                    return self.tool(node, "elementwise", node.func, self.vector(argument))
                if self.called(node.func) in NUMBERS:
                    return self.tool(node, "number", node.func, self.vector(argument))
        made = self.inlined(node) if isinstance(node, ast.Call) else None
        if made is None:
            raise ScalarError
        return made

    def used(self, name: str, what: str) -> None:
        """Note that a column is used as one of numbers, or of rows."""
        bound = self.bound.get(name)
        if bound is None:
            (self.rows if what == "row" else self.numbers).add(self.varying[name].slot)
        elif bound.uses is not None:
            bound.uses.add(what)
        elif what == "row":
            raise ScalarError

    def chosen(
        self,
        at: ast.AST,
        test: ast.expr,
        arms: tuple[Callable[[], ast.expr], Callable[[], ast.expr]],
        written: Sequence[ast.AST],
        several: str = "",
    ) -> ast.expr:
        """What one of two arms gives, in each iteration that which its test says.

        Where an arm might fail in iterations that don't take it, it is evaluated in the others alone.

        Args:
            arms: give the array code of each.
            written: what they are of.
            several: what the name of the tool ends with where an arm gives several values.
        """
        condition = self.operand(test)
        then, otherwise = arms[0](), arms[1]()
        if all(map(_is_plain, written)):
            return self.tool(at, "choose" + several, condition, then, otherwise)
        names = [name for name in sorted(names_in(*written)) if self.is_column(name)]
        functions = [function_of(at, names, arm) for arm in (then, otherwise)]
        columns = [ast.copy_location(ast.Name(name, ast.Load()), at) for name in names]
        return self.tool(at, "apart" + several, condition, *functions, *columns)

    def table(self, container: ast.expr, at: ast.AST) -> ast.expr:
        """What is looked up in: a list outside the loop, which is made a column, or a matrix, once."""
        name = container.id if isinstance(container, ast.Name) else ""
        load = None if name in self.bound else self.outer.get(name)
        if load is None:
            return container
        table = ast.Attribute(ast.Name(TOOLS, ast.Load()), "table", ast.Load())
        place = ast.Constant(load.depth), ast.Constant(load.slot)
        return located(ast.copy_location(ast.Call(table, [container, *place], []), at))

    def lookup(self, at: ast.expr, name: str, container: ast.expr, index: ast.expr) -> ast.expr:
        """`container[index]`, by one of the tools, noted as a lookup in the container.

        Unless a generator expression says which entry it is: of such a container all iterations are taken to
        look up any.
        """
        written = ast.dump(index)
        container, index = self.vector(container), self.vector(index)
        load = None
        if isinstance(container, ast.Name) and container.id not in self.bound:
            load = self.outer.get(container.id)
        if load is not None and load.mode == "item" and names_in(index).isdisjoint(self.bound):
            of = self.varying[index.id].slot if isinstance(index, ast.Name) else None
            # no more than the index reads: it is looked for anew when one of them changes
            names = names_in(index)
            loads = [x for x in (*self.varying.values(), *self.outer.values()) if x.name in names]
            code = Code(self.depth, [copy.copy(x) for x in loads], [], clone(index))
            slot = load.depth, load.slot
            if (slot, written) not in self.looked:
                self.gathers.append(Gather(slot, of, code))
            self.looked.add((slot, written))
        return self.tool(at, name, self.table(container, at), index)

    def called(self, function: ast.expr) -> Any:
        """The function that is called, if it is known; one that can be a key."""
        known = None if self.varies(function) else known_value(self.definition, function)
        for builtin in (abs, float, int, max, min, round):
            if self.effects.is_builtin(function, builtin.__name__):
                known = builtin
        return known if isinstance(known, Hashable) else None

    def is_product(self, function: ast.expr) -> bool:
        """Whether a function is the product of two vectors."""
        known = self.called(function)
        return known is np.dot or known is np.inner or known is np.matmul

    def count(self, node: ast.expr, each: ast.GeneratorExp | ast.ListComp) -> ast.expr | None:
        """`sum(c < x for c in values)`: how many values, the same in all iterations, are on one side of x.

        None where that isn't what is summed.
        """
        match each.elt, each.generators:
            case (
                ast.Compare(left, [op], [right]),
                [ast.comprehension(ast.Name(name), values, [], 0)],
            ) if not self.is_column(name) and not self.varies(values):
                sign = _COUNTED.get(type(op))
                value = right
                if isinstance(right, ast.Name) and right.id == name:
                    left, value, sign = right, left, _TURNED.get(sign or "")
                inside = any(isinstance(part, ast.Name) and part.id == name for part in walk(value))
                if sign is not None and isinstance(left, ast.Name) and left.id == name and not inside:
                    operands = self.vector(values), ast.Constant(sign), self.vector(value)
                    return self.tool(node, "count", *operands)
        return None

    def total(self, node: ast.expr, each: ast.GeneratorExp | ast.ListComp) -> ast.expr:
        """`sum(... for t in values)`, where each iteration adds up as many terms: term by term.

        The values are the same in all iterations, or the entries of rows of a matrix.
        """
        outside = self.bound
        generators = []
        for generator in each.generators:
            columns: set[str] = set()
            values = self.each(generator.iter, generator.target, columns)
            names = names_in(generator.target)
            known = {*self.varying, *(name for name, bound in self.bound.items() if not bound.unset)}
            if generator.is_async or not names.isdisjoint(known):
                raise ScalarError
            self.bound = {**self.bound, **{name: Bound(name in columns) for name in names}}
            if any(map(self.varies, generator.ifs)):
                raise ScalarError
            tests = [*map(self.vector, generator.ifs)]
            generators.append(ast.comprehension(generator.target, values, tests, 0))
        terms = ast.copy_location(ast.GeneratorExp(self.vector(each.elt), generators), node)
        self.bound = outside
        return self.tool(node, "total", terms)

    def each(self, values: ast.expr, target: ast.expr, columns: set[str]) -> ast.expr:
        """What a generator expression goes through; names in its target that become columns are added."""
        match values, target:
            case ast.Call(function, [*parts], [] | [ast.keyword("strict", ast.Constant())]), ast.Tuple(
                [*targets]
            ) if self.effects.is_builtin(function, "zip") and len(parts) == len(targets):
                given = [self.each(part, to, columns) for part, to in zip(parts, targets, strict=True)]
            case ast.Call(function, [part], []), ast.Tuple([ast.Name(), to]) if (
                self.effects.is_builtin(function, "enumerate")
            ):
                given = [self.each(part, to, columns)]
            case _, ast.Name(name) if self.varies(values):
                columns.add(name)
                return self.tool(values, "across", self.row(values))
            case _ if not self.varies(values):
                return self.tool(values, "each", self.vector(values))
            case _:
                raise ScalarError
        return ast.copy_location(ast.Call(function, given, values.keywords), values)

    def product(self, node: ast.expr, left: ast.expr, right: ast.expr) -> ast.expr:
        """The product of a row of a matrix, another in each iteration, and a vector that stays the same."""
        row, fixed = (left, right) if self.varies(left) else (right, left)
        if self.varies(fixed):
            raise ScalarError
        if isinstance(row, ast.UnaryOp) and isinstance(row.op, ast.USub):
            rows = self.tool(node, "signed", self.row(row.operand))
            return self.tool(node, "negative", self.tool(node, "dot", rows, self.vector(fixed)))
        return self.tool(node, "dot", self.row(row), self.vector(fixed))

    def row(self, node: ast.expr) -> ast.expr:
        """A row of a matrix, another in each iteration."""
        match node:
            case ast.Name(name) if self.is_column(name):
                self.used(name, "row")
                return node
            case ast.Subscript(container, ast.Tuple([index, ast.Slice(None, None, None)])) if not self.varies(
                container
            ):
                return self.tool(node, "rows", self.vector(container), self.vector(index))
            case ast.Subscript(container, ast.Tuple([index, ast.Slice() as part])) if not (
                self.varies(container) or self.varies(part)
            ):
                whole = self.tool(node, "rows", self.vector(container), self.vector(index))
                return self.tool(node, "parts", self.tool(node, "signed", whole), self.bounds(part))
            case ast.Subscript(container, index) if not (
                self.varies(container) or isinstance(index, (ast.Slice, ast.Tuple))
            ):
                return self.lookup(node, "rows", container, index)
            case ast.Subscript(whole, ast.Slice() as part) if not self.varies(part):
                return self.tool(node, "parts", self.row(whole), self.bounds(part))
            case ast.UnaryOp(ast.USub(), operand):
                return self.tool(node, "rowwise", ast.Constant("*"), self.row(operand), ast.Constant(-1))
            case ast.BinOp(left, op, right) if type(op) in ROWWISE_SIGNS and not (
                self.varies(left) and self.varies(right)
            ):
                given = [self.row(part) if self.varies(part) else self.vector(part) for part in (left, right)]
                return self.tool(node, "rowwise", ast.Constant(ROWWISE_SIGNS[type(op)]), *given)
        raise ScalarError

    def bounds(self, part: ast.Slice) -> ast.expr:
        """A slice, the same in all iterations, as a value."""
        ends = (part.lower, part.upper, part.step)
        given = [ast.Constant(None) if end is None else self.vector(end) for end in ends]
        return located(ast.copy_location(ast.Tuple(given, ast.Load()), part))

    def tool(self, at: ast.AST, name: str, *arguments: ast.expr) -> ast.expr:
        self.computes |= name not in _LOOKING_UP
        vectors = ast.Attribute(ast.Name(TOOLS, ast.Load()), "vectors", ast.Load())
        made = ast.Call(ast.Attribute(vectors, name, ast.Load()), list(arguments), [])
        for part in (made, made.func, vectors, vectors.value):
            ast.copy_location(part, at)
        return made


def names_in(*nodes: ast.AST) -> set[str]:
    """Every name in some syntax."""
    return {part.id for node in nodes for part in walk(node) if isinstance(part, ast.Name)}


def function_of(at: ast.AST, names: Iterable[str], body: ast.expr) -> ast.Lambda:
    """A lambda with these parameters."""
    arguments = ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, [])
    return located(ast.copy_location(ast.Lambda(arguments, body), at))


_PLAIN = (
    ast.Name, ast.Constant, ast.BinOp, ast.UnaryOp, ast.Compare, ast.IfExp, ast.Assign, ast.AnnAssign,
    ast.AugAssign, ast.If, ast.Pass, ast.Return,
)  # fmt: skip
_SAFE = ast.Add, ast.Sub, ast.Mult


def _is_plain(node: ast.AST) -> bool:
    """Whether an expression or a statement can't fail, whatever the numbers in it are."""
    return all(
        isinstance(part, _PLAIN)
        and (not isinstance(part, (ast.BinOp, ast.AugAssign)) or isinstance(part.op, _SAFE))
        for part in walk(node)
    )


def unwatched(node: ast.expr) -> ast.expr:
    """A call as it was before it was to be asked about what it does to its arguments."""
    match node:
        case ast.Call(ast.Attribute(ast.Name(name), "watched"), [_, function, *given], keywords) if (
            name == TOOLS
        ):
            return ast.copy_location(ast.Call(function, given, keywords), node)
    return node
