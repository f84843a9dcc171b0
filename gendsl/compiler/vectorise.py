"""Loops whose iterations can run at once: the body as array code, next to the code of one iteration.

Every iteration is choices from families that have columns, and assignments that arithmetic and lookups in
outer containers make of the loop variables and the choices. In array code a loop variable, a choice and an
assigned variable are columns, with one entry per iteration; what doesn't change in the loop is evaluated
once, as the user wrote it:

    ("x", i) @ ~normal(mu[z] + 2 * t, exp(s))   ->   normal, add(gather(mu, z), multiply(2, t)), exp(s)
    ("y", i) @ ~normal(X[i] @ beta, 1)          ->   normal, dot(rows(X, i), beta), 1
    ("w", i) @ ~normal(a if t > 0 else b, 1)    ->   normal, choose(compare(">", t, 0), a, b), 1
    ("v", i) @ ~normal(sum(b[j] * X[i, j] for j in range(3)), 1)
        ->   normal, total(multiply(b[j], cells(X, i, j)) for j in each(range(3))), 1

Where the array code can't vouch for its result it raises, and the iterations run one by one.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Hashable
from typing import Any

import numpy as np

from gendsl.compiler.conditional import values_after
from gendsl.compiler.effects import Effects
from gendsl.compiler.emit import TOOLS
from gendsl.compiler.ir import (
    Branch,
    Code,
    Columns,
    ColumnSite,
    ColumnValue,
    Copy,
    Fragment,
    Gather,
    Load,
    Loop,
    Node,
    Site,
)
from gendsl.compiler.sites import known_value
from gendsl.compiler.source import Source
from gendsl.compiler.trees import clone, located, walk
from gendsl.compiler.vectors import ELEMENTWISE, NUMBERS, PAIRWISE, PLACES
from gendsl.distributions.columns import COLUMN_DTYPES, VECTORS

_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply", ast.Div: "divide",
    ast.FloorDiv: "floor_divide", ast.Mod: "remainder", ast.Pow: "power",
}  # fmt: skip
_UNARY: dict[type[ast.unaryop], str] = {ast.USub: "negative", ast.UAdd: "positive", ast.Not: "inverted"}
_SIGNS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip
_COUNTED = {op: sign for op, sign in _SIGNS.items() if sign in ("<", "<=", ">", ">=")}
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_SCOPED = (ast.Lambda, ast.NamedExpr, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Await)


class _ScalarError(Exception):
    """An expression that has no array code."""


def vectorise(definition: Source, body: list[Node], codes: list[Code]) -> None:
    """Give the loops of a body their array code, where they have one; its pieces are added to `codes`."""
    effects = Effects(definition)
    for node in body:
        if isinstance(node, Loop):
            vectorise(definition, node.body, codes)
            try:
                node.columns = _Vectoriser(definition, effects, node).columns()
            except _ScalarError:
                continue
            codes += [step.code for step in node.columns.steps]
            codes += [gather.code for gather in node.columns.gathers]
        elif isinstance(node, Branch):
            for arm in node.arms:
                vectorise(definition, arm, codes)


class _Vectoriser:
    """The array code of one loop.

    Attributes:
        known: the slots of an iteration that have columns so far.
        gathers: the lookups in outer containers.
        numbers, rows: the loop variables that are read as numbers, and as rows of a matrix.
        computes: whether the expression being lowered does more than look up.
        bound: the names that a generator expression around the expression gives a value; `entries`: those
            of them that are columns.
    """

    def __init__(self, definition: Source, effects: Effects, loop: Loop) -> None:
        self.definition = definition
        self.effects = effects
        self.loop = loop
        self.known = {source.target for source in loop.sources}
        self.gathers: list[Gather] = []
        self.numbers: set[int] = set()
        self.rows: set[int] = set()
        self.computes = False
        self.varying: dict[str, Load] = {}
        self.outer: dict[str, Load] = {}
        self.bound: frozenset[str] = frozenset()
        self.entries: frozenset[str] = frozenset()

    def columns(self) -> Columns:
        loop = self.loop
        if loop.carried or loop.exits or not loop.sources:
            raise _ScalarError
        steps: list[ColumnSite | ColumnValue] = []
        for node in loop.body:
            match node:
                case Site():
                    steps.append(self.site(node))
                    self.known.add(node.value)
                case Fragment():
                    steps += self.fragment(node)
                    self.known.update(node.defs)
                case Copy():
                    pass
                case _:
                    raise _ScalarError
        sites = [step for step in steps if isinstance(step, ColumnSite)]
        if not sites:
            raise _ScalarError
        for i, site in enumerate(sites):
            if not all(_distinct(site, other) for other in sites[:i]):
                raise _ScalarError
        self.take_rows(steps)
        return Columns(steps, self.gathers)

    def take_rows(self, steps: list[ColumnSite | ColumnValue]) -> None:
        """Let the variables that are read as rows of a matrix be columns of rows."""
        left = set(self.rows)
        for source in self.loop.sources:
            source.rows = source.target in left
            left.discard(source.target)
        for step in steps:
            if isinstance(step, ColumnValue) and step.slot in left:
                looked_up = step.code.result
                if not isinstance(looked_up, ast.Call) or not isinstance(looked_up.func, ast.Attribute):
                    raise _ScalarError
                if looked_up.func.attr != "gather":
                    raise _ScalarError
                looked_up.func.attr = "rows"
                left.discard(step.slot)
        if left or self.rows & self.numbers:
            raise _ScalarError

    # --- blocks -----------------------------------------------------------------------------------

    def site(self, node: Site) -> ColumnSite:
        if node.parts is None or node.address is None:
            raise _ScalarError
        own = [i for i, (_, slot) in enumerate(node.parts) if slot is not None and slot[0] == self.loop.depth]
        unknown = [i for i, (constant, slot) in enumerate(node.parts) if slot is None and constant is None]
        if len(own) != 1 or unknown:
            raise _ScalarError
        index = node.parts[own[0]][1]
        assert index is not None
        if index[1] not in {source.target for source in self.loop.sources}:
            raise _ScalarError
        self.scope(node.address)
        call = node.thing.result
        if node.thing.statements or not isinstance(call, ast.Call) or not isinstance(call.func, ast.Call):
            raise _ScalarError
        self.scope(node.thing)
        self.computes = False
        function = call.func.args[0]
        family: Any = known_value(self.definition, function)
        has_columns = isinstance(family, type) and family in COLUMN_DTYPES
        if not has_columns:
            raise _ScalarError
        given = dict(zip(family.parameters, call.args, strict=False))
        given.update({keyword.arg or "": keyword.value for keyword in call.keywords})
        if len(call.args) + len(call.keywords) != len(given) or set(given) != set(family.parameters):
            raise _ScalarError
        parameters = [given[name] for name in family.parameters]
        if family in VECTORS and any(map(self.varies, parameters)):
            raise _ScalarError
        lower = self.vector if family in VECTORS else self.operand
        result = ast.Tuple([function, *map(lower, parameters)], ast.Load())
        code = self.code(node.thing, ast.copy_location(result, call))
        return ColumnSite(code, node.value, node.state, family, own[0], index[1], node.parts, self.computes)

    def fragment(self, node: Fragment) -> list[ColumnValue]:
        code = node.code
        if code.copied or code.blank or code.traced:
            raise _ScalarError
        self.scope(code)
        results = code.result.elts if isinstance(code.result, ast.Tuple) else [code.result]
        if code.statements:
            known = frozenset((*self.varying, *self.outer))
            values = values_after(code.statements, known) or {}
            results = [values.get(getattr(name, "id", "")) for name in results]  # type: ignore[misc]
        if not results or len(results) != len(node.defs) or None in results:
            raise _ScalarError
        return [
            ColumnValue(self.code(code, self.operand(value)), slot)
            for value, slot in zip(results, node.defs, strict=True)
        ]

    def scope(self, code: Code) -> None:
        """Note which names of a piece of code are columns."""
        own = [load for load in code.loads if load.depth == self.loop.depth]
        if any(load.own is not None or load.unset or load.depth < 0 for load in code.loads):
            raise _ScalarError
        inside = {written.inside for written in self.loop.stored}
        if any(load.depth == self.loop.depth - 1 and load.slot in inside for load in code.loads):
            raise _ScalarError
        if any(load.slot not in self.known for load in own):
            raise _ScalarError
        self.varying = {load.name: load for load in own}
        self.outer = {load.name: load for load in code.loads if load.depth < self.loop.depth}

    def code(self, old: Code, result: ast.expr) -> Code:
        """Array code with the loads of the code it replaces."""
        loads = [copy.copy(load) for load in old.loads]
        return Code(old.depth, loads, [], located(result))

    # --- expressions ------------------------------------------------------------------------------

    def varies(self, node: ast.expr) -> bool:
        names = {part.id for part in walk(node) if isinstance(part, ast.Name)}
        return not (names.isdisjoint(self.varying) and names.isdisjoint(self.entries))

    def operand(self, node: ast.expr) -> ast.expr:
        """The same where it must be a number in each iteration: an array that stays the same is no column."""
        made = self.vector(node)
        return made if self.varies(node) or isinstance(node, ast.Constant) else self.tool(node, "fixed", made)

    def vector(self, node: ast.expr) -> ast.expr:
        """An expression as array code."""
        if not self.varies(node):
            for part in walk(node):
                if isinstance(part, _SCOPED) and not isinstance(part, (ast.ListComp, ast.GeneratorExp)):
                    raise _ScalarError
                if isinstance(part, ast.Call) and not self.effects.leaves_alone(part):
                    raise _ScalarError  # evaluated once, it might not mean what it does each time
            return node
        node = _unwatched(node)
        match node:
            case ast.Name(name):
                if name not in self.entries:
                    self.numbers.add(self.varying[name].slot)
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
                return self.tool(node, "choose", *map(self.operand, (test, then, otherwise)))
            case ast.IfExp(test, then, otherwise):
                arms = self.operand(then), self.operand(otherwise)
                return ast.copy_location(ast.IfExp(self.vector(test), *arms), node)
            case ast.Subscript(container, ast.Tuple(indices)) if not self.varies(container):
                if any(isinstance(index, (ast.Slice, ast.Starred)) for index in indices):
                    raise _ScalarError
                return self.tool(node, "cells", self.vector(container), *map(self.vector, indices))
            case ast.Subscript(container, index) if not (
                self.varies(container) or isinstance(index, ast.Slice)
            ):
                return self.lookup(node, "gather", container, index)
            case ast.Subscript(ast.Subscript(container, first), second) if not (
                self.varies(container)
                or isinstance(first, (ast.Slice, ast.Tuple))
                or isinstance(second, (ast.Slice, ast.Tuple))
            ):
                return self.tool(node, "cells", *map(self.vector, (container, first, second)))
            case ast.Call(args=[left, right], keywords=[]) if self.called(node.func) in PAIRWISE and not (
                isinstance(left, ast.Starred) or isinstance(right, ast.Starred)
            ):
                return self.tool(node, "pairwise", node.func, self.operand(left), self.operand(right))
            case ast.Call(args=[left, right], keywords=[]) if self.is_product(node.func):
                return self.product(node, left, right)
            case ast.Call(args=[values, value], keywords=[]) if self.called(node.func) in PLACES:
                if self.varies(values):
                    raise _ScalarError
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
            case ast.Call(args=[argument], keywords=[]) if not isinstance(argument, ast.Starred):
                if self.called(node.func) in ELEMENTWISE:
                    return self.tool(node, "elementwise", node.func, self.vector(argument))
                if self.called(node.func) in NUMBERS:
                    return self.tool(node, "number", node.func, self.vector(argument))
        raise _ScalarError

    def lookup(self, at: ast.expr, name: str, container: ast.expr, index: ast.expr) -> ast.expr:
        """`container[index]`, by one of the tools, noted as a lookup in the container.

        Unless a generator expression says which entry it is: of such a container all iterations are taken to
        look up any.
        """
        container, index = self.vector(container), self.vector(index)
        load = self.outer.get(container.id) if isinstance(container, ast.Name) else None
        is_known = not any(isinstance(part, ast.Name) and part.id in self.bound for part in walk(index))
        if load is not None and load.mode == "item" and is_known:
            of = self.varying[index.id].slot if isinstance(index, ast.Name) else None
            # no more than the index reads: it is looked for anew when one of them changes
            names = {part.id for part in walk(index) if isinstance(part, ast.Name)}
            loads = [x for x in (*self.varying.values(), *self.outer.values()) if x.name in names]
            code = Code(self.loop.depth, [copy.copy(x) for x in loads], [], clone(index))
            self.gathers.append(Gather((load.depth, load.slot), of, code))
        if load is not None and name == "gather":
            table = ast.Attribute(ast.Name(TOOLS, ast.Load()), "table", ast.Load())
            place = ast.Constant(load.depth), ast.Constant(load.slot)
            container = located(ast.copy_location(ast.Call(table, [container, *place], []), at))
        return self.tool(at, name, container, index)

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
            ) if name not in self.varying and not self.varies(values):
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
        outside = self.bound, self.entries
        generators = []
        for generator in each.generators:
            columns: set[str] = set()
            values = self.each(generator.iter, generator.target, columns)
            names = {part.id for part in walk(generator.target) if isinstance(part, ast.Name)}
            if generator.is_async or not names.isdisjoint({*self.varying, *self.bound}):
                raise _ScalarError
            self.bound |= names
            self.entries |= columns
            if any(map(self.varies, generator.ifs)):
                raise _ScalarError
            tests = [*map(self.vector, generator.ifs)]
            generators.append(ast.comprehension(generator.target, values, tests, 0))
        terms = ast.copy_location(ast.GeneratorExp(self.vector(each.elt), generators), node)
        self.bound, self.entries = outside
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
                raise _ScalarError
        return ast.copy_location(ast.Call(function, given, values.keywords), values)

    def product(self, node: ast.expr, left: ast.expr, right: ast.expr) -> ast.expr:
        """The product of a row of a matrix, another in each iteration, and a vector that stays the same."""
        row, fixed = (left, right) if self.varies(left) else (right, left)
        if self.varies(fixed):
            raise _ScalarError
        return self.tool(node, "dot", self.row(row), self.vector(fixed))

    def row(self, node: ast.expr) -> ast.expr:
        """A row of a matrix, another in each iteration."""
        match node:
            case ast.Name(name) if name in self.varying:
                self.rows.add(self.varying[name].slot)
                return node
            case ast.Subscript(container, ast.Tuple([index, ast.Slice(None, None, None)])) if not self.varies(
                container
            ):
                return self.tool(node, "rows", self.vector(container), self.vector(index))
            case ast.Subscript(container, index) if not (
                self.varies(container) or isinstance(index, (ast.Slice, ast.Tuple))
            ):
                return self.lookup(node, "rows", container, index)
        raise _ScalarError

    def tool(self, at: ast.expr, name: str, *arguments: ast.expr) -> ast.expr:
        self.computes |= name not in ("gather", "cells", "rows", "fixed")
        vectors = ast.Attribute(ast.Name(TOOLS, ast.Load()), "vectors", ast.Load())
        made = ast.Call(ast.Attribute(vectors, name, ast.Load()), list(arguments), [])
        for part in (made, made.func, vectors, vectors.value):
            ast.copy_location(part, at)
        return made


def _unwatched(node: ast.expr) -> ast.expr:
    """A call as it was before it was to be asked about what it does to its arguments."""
    match node:
        case ast.Call(ast.Attribute(ast.Name(name), "watched"), [_, function, *given], keywords) if (
            name == TOOLS
        ):
            return ast.copy_location(ast.Call(function, given, keywords), node)
    return node


def _distinct(one: ColumnSite, other: ColumnSite) -> bool:
    """Whether no address of one site is an address of the other, or above or below one."""
    return any(
        a[1] is None and b[1] is None and a[0] != b[0] for a, b in zip(one.parts, other.parts, strict=False)
    )
