"""Statements as array code: expressions in whose scope what they assign has its value.

    t = b * x                ->   (lambda t: ...)(multiply(b, x))
    if x > 0: m = t          ->   (lambda m: ...)(choose(compare(">", x, 0), t, m))
    for j in range(3):       ->   (lambda eta: ...)(*fold(lambda eta, j: (add(eta, ...),), (eta,),
        eta += b[j] * X[i, j]                             ((j,) for j in each(range(3)))))
    mean(x, b)               ->   (lambda x, b, np: ...)(x, b, *helper(0, mean))

Everything that the statements evaluate is evaluated, in their order, so that nothing that fails is missed. A
loop must go through the same in all iterations of the loop around it, or through the entries of rows of a
matrix.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from gendsl.lang.names import is_idle, stored
from gendsl.lang.source import Source
from gendsl.lang.trees import clone, located, walk
from gendsl.runtime.lowering.array_expressions import ArrayExpressions, Bound, ScalarError, function_of
from gendsl.runtime.lowering.conditional import assigned_surely
from gendsl.runtime.lowering.effects import Effects
from gendsl.runtime.lowering.emit import TOOLS
from gendsl.runtime.lowering.helpers import Helper, helper_of

_LEAVES = ast.Return, ast.Break, ast.Continue
_DEEPEST = 4
"""How deep calls of functions are taken apart: each of their statements may have some."""

End = Callable[[], ast.expr]
"""The array code of what is wanted after some statements."""


class ArrayStatements(ArrayExpressions):
    """The array code of statements in one loop.

    Attributes:
        helpers: the functions of the user's that array code of the whole program stands for.
        inside: those that are being lowered.
    """

    def __init__(self, definition: Source, effects: Effects, depth: int, helpers: list[Helper]) -> None:
        super().__init__(definition, effects, depth)
        self.helpers = helpers
        self.inside: list[Helper] = []

    def after(self, statements: list[ast.stmt], end: End, *, returns: bool = False) -> ast.expr:
        """The array code of what is wanted after statements; of what they return, where they may."""
        if not statements:
            return end()
        first, rest = statements[0], statements[1:]

        def then() -> ast.expr:
            return self.after(rest, end, returns=returns)

        match first:
            case ast.AnnAssign(ast.Name(name), value=ast.expr() as value):
                return self.assigned(first, name, value, then)
            case ast.Assign([ast.Name(name), *others], value):
                again = ast.Assign(others, ast.Name(name, ast.Load()))
                more = [located(ast.copy_location(again, first))] if others else []
                rest = [*more, *rest]
                return self.assigned(first, name, value, then)
            case ast.Assign([ast.Tuple([*targets])], ast.Tuple([*values])) if all(
                isinstance(target, ast.Name) for target in targets
            ):
                return self.exchanged(first, [t.id for t in targets], values, then)  # type: ignore[attr-defined]
            case ast.Assign([ast.Tuple([*targets])], value) if all(isinstance(t, ast.Name) for t in targets):
                return self.unpacked(first, [t.id for t in targets], value, then)  # type: ignore[attr-defined]
            case ast.AugAssign(ast.Name(name), op, value):
                operation = ast.BinOp(ast.Name(name, ast.Load()), op, value)
                return self.assigned(first, name, located(ast.copy_location(operation, first)), then)
            case ast.If() if returns and any(isinstance(part, ast.Return) for part in walk(first)):
                return self.returned(first, rest, end)
            case ast.If():
                return self.after_branch(first, then)
            case ast.For():
                return self.after_loop(first, then)
            case ast.Return(ast.expr() as value) if returns:
                return self.operand(value)
            case _ if is_idle(first):
                return then()
        raise ScalarError

    def is_known(self, name: str) -> bool:
        """Whether a variable surely has a value."""
        bound = self.bound.get(name)
        return name in self.varying or name in self.outer if bound is None else not bound.unset

    def value_of(self, name: str, at: ast.AST) -> ast.expr:
        """The array code of a variable."""
        return self.operand(ast.copy_location(ast.Name(name, ast.Load()), at))

    def bind(
        self,
        at: ast.AST,
        bound: dict[str, Bound],
        values: list[ast.expr],
        then: End,
        lost: Iterable[str] = (),
    ) -> ast.expr:
        """What is wanted where names have the values of array code, and others, `lost`, may have none."""
        outside = self.bound
        self.bound = {**outside, **{name: Bound(unset=True) for name in lost}, **bound}
        body = then()
        self.bound = outside
        return ast.copy_location(ast.Call(function_of(at, bound, body), values, []), at)

    def assigned(self, at: ast.stmt, name: str, value: ast.expr, then: End) -> ast.expr:
        """What is wanted after `name = value`."""
        varies = self.varies(value)
        made = self.operand(value) if varies else self.vector(value)
        result = self.bind(at, {name: Bound(varies)}, [made], then)
        match result:  # where it is the variable itself, there is no need of it
            case ast.Call(ast.Lambda(body=ast.Name(found))) if found == name:
                return made
            case ast.Call(ast.Lambda(body=ast.Call(ast.Attribute(attr="fixed"), [ast.Name(found)]) as fixed)):
                if found == name:
                    fixed.args = [made]
                    return made if isinstance(made, ast.Constant) else fixed
        return result

    def exchanged(self, at: ast.stmt, names: list[str], values: list[ast.expr], then: End) -> ast.expr:
        """What is wanted after `x, y = y, x`."""
        starred = any(isinstance(value, ast.Starred) for value in values)
        if starred or not len(names) == len(set(names)) == len(values):
            raise ScalarError
        made = [self.operand(value) if self.varies(value) else self.vector(value) for value in values]
        bound = {name: Bound(self.varies(value)) for name, value in zip(names, values, strict=True)}
        result = self.bind(at, bound, made, then)
        match result:
            case ast.Call(ast.Lambda(body=ast.Name(found))) if found in names:
                if all(isinstance(value, (ast.Name, ast.Constant)) for value in made):
                    return made[names.index(found)]  # there is nothing to evaluate
        return result

    def unpacked(self, at: ast.stmt, names: list[str], value: ast.expr, then: End) -> ast.expr:
        """What is wanted after `x, y = row`."""
        if len(set(names)) != len(names) or not self.varies(value):
            raise ScalarError
        made = self.tool(at, "unpacked", self.row(value), ast.Constant(len(names)))
        bound = dict.fromkeys(names, Bound(column=True))
        return self.bind(at, bound, [ast.Starred(made, ast.Load())], then)

    # --- branches ---------------------------------------------------------------------------------

    def returned(self, node: ast.If, rest: list[ast.stmt], end: End) -> ast.expr:
        """What statements return that begin with one in which some return."""
        arms = [node.body, node.orelse]
        if not any(map(_returns, arms)):
            raise ScalarError  # what follows would be there twice
        first, second = ([*arm, *([] if _returns(arm) else rest)] for arm in arms)
        return self.either(
            node,
            node.test,
            (lambda: self.after(first, end, returns=True), lambda: self.after(second, end, returns=True)),
            [*first, *second],
        )

    def either(
        self, at: ast.AST, test: ast.expr, ends: tuple[End, End], written: list[ast.stmt], several: str = ""
    ) -> ast.expr:
        """What one of two arms gives, by a test."""
        if self.varies(test):
            return self.chosen(at, test, ends, written, several)
        then, otherwise = ends[0](), ends[1]()
        return ast.copy_location(ast.IfExp(self.vector(test), then, otherwise), at)

    def after_branch(self, node: ast.If, then: End) -> ast.expr:
        """What is wanted after an `if`."""
        names = stored(*node.body, *node.orelse)
        sure = assigned_surely(node)
        kept = [name for name in names if name in sure or self.is_known(name)]
        columns = {*kept} if self.varies(node.test) else set[str]()

        def end() -> ast.expr:
            columns.update(filter(self.is_column, kept))
            return ast.Tuple([self.value_of(name, node) for name in kept], ast.Load())

        ends = lambda: self.after(node.body, end), lambda: self.after(node.orelse, end)
        made = self.either(node, node.test, ends, [*node.body, *node.orelse], "_all")
        bound = {name: Bound(name in columns) for name in kept}
        return self.bind(node, bound, [ast.Starred(made, ast.Load())], then, set(names) - set(kept))

    # --- loops ------------------------------------------------------------------------------------

    def after_loop(self, node: ast.For, then: End) -> ast.expr:
        """What is wanted after a loop.

        It carries the variables that had a value before. The others, and its own, may have none after it.
        """
        if node.orelse or any(isinstance(part, _LEAVES) for part in walk(node)):
            raise ScalarError
        names, targets = stored(*node.body), stored(node.target)
        kept = [name for name in names if self.is_known(name) and name not in targets]
        places = [part for part in walk(node.target) if isinstance(part, ast.Name)]
        if len(places) != len(targets) or not kept:
            raise ScalarError
        entries: set[str] = set()
        values = self.each(node.iter, node.target, entries)
        starts = [self.value_of(name, node) for name in kept]
        columns = set(filter(self.is_column, kept))
        before = None
        while columns != before:  # what becomes a column in one round is one in the next
            before = set(columns)
            state = {name: Bound(name in columns) for name in kept}
            state |= {name: Bound(name in entries) for name in targets}

            def end() -> ast.expr:
                columns.update(filter(self.is_column, kept))
                return ast.Tuple([self.value_of(name, node) for name in kept], ast.Load())

            step = self.bind(node, state, [], lambda: self.after(node.body, end), set(names) - set(kept))
        assert isinstance(step, ast.Call)
        entry = ast.Tuple([ast.Name(name, ast.Load()) for name in targets], ast.Load())
        each = ast.GeneratorExp(entry, [ast.comprehension(clone(node.target), values, [], 0)])
        made = self.tool(node, "fold", step.func, ast.Tuple(starts, ast.Load()), each)
        bound = {name: Bound(name in columns) for name in kept}
        return self.bind(
            node, bound, [ast.Starred(made, ast.Load())], then, {*names, *targets} - set(kept)
        )

    # --- functions of the user's ------------------------------------------------------------------

    def inlined(self, node: ast.Call) -> ast.expr | None:
        """The array code of a call of a function of the user's; None if it is of no such function."""
        helper = self.helper(node.func)
        given = None if helper is None else helper.arguments(node)
        if helper is None or given is None:
            return None
        if helper in self.inside or len(self.inside) == _DEEPEST:
            raise ScalarError
        uses = {name: set[str]() for name, value in given.items() if self.varies(value)}
        omitted = helper.omitted(given)
        around = self.definition, self.effects, self.varying, self.outer, self.bound
        body = helper.source.node.body
        self.definition, self.effects = helper.source, Effects(helper.source)
        self.varying, self.outer = {}, {}
        self.bound = {name: Bound(unset=True) for name in stored(*body)}
        self.bound |= {name: Bound(name in uses, uses=uses.get(name)) for name in given}
        self.bound |= {name: Bound() for name in (*omitted, *helper.outside)}
        self.inside.append(helper)
        try:
            result = self.after(body, _nothing, returns=True)
        finally:
            self.inside.pop()
            self.definition, self.effects, self.varying, self.outer, self.bound = around
        arguments = [self.argument(value, uses.get(name)) for name, value in given.items()]
        number = ast.Constant(self.helpers.index(helper))
        found = ast.Attribute(ast.Name(TOOLS, ast.Load()), "helper", ast.Load())
        names = [ast.Constant(name) for name in omitted]
        outside = ast.Starred(ast.Call(found, [number, node.func, *names], []), ast.Load())
        function = function_of(node, [*given, *omitted, *helper.outside], clone(result))
        return located(ast.copy_location(ast.Call(function, [*arguments, outside], []), node))

    def helper(self, function: ast.expr) -> Helper | None:
        """What is known of a function of the user's, if array code can stand for it."""
        known = self.called(function)
        for helper in self.helpers:
            if helper.source.function is known:
                return helper
        made = helper_of(known)
        if made is not None:
            self.helpers.append(made)
        return made

    def argument(self, value: ast.expr, uses: set[str] | None) -> ast.expr:
        """The array code of an argument, by what it is used as."""
        if uses is None:
            return self.vector(value)
        if "row" in uses:
            if "number" in uses:
                raise ScalarError
            return self.row(value)
        return self.operand(value)


def _returns(statements: list[ast.stmt]) -> bool:
    """Whether statements surely end with a `return`."""
    match statements[-1] if statements else None:
        case ast.Return():
            return True
        case ast.If(body=body, orelse=orelse):
            return _returns(body) and _returns(orelse)
    return False


def _nothing() -> ast.expr:
    """The end of a function that returns nothing."""
    raise ScalarError
