"""A body in which choices are made by statements of its own, without a call.

    i = ~uniform_discrete(0, n - 1)   ->   path = ("i",)
                                           family, low, high = uniform_discrete, 0, n - 1
                                           if family is <uniform_discrete>:
                                               ... draw, score and keep
                                           else:
                                               value = __gendsl__.makers[family](...)
                                           i = value

    x = [("x", j) @ ~normal(0, 1) for j in range(k)]  ->  list = []
                                                          for j in range(k):
                                                              ... as above
                                                              list.append(value)
                                                          x = list

Those are the choices that are a statement, or its value, or what it appends to a list. Which statements
make one is the caller's to say. All others are made as `rewrite` has it. An error arises on the line where
it would, but maybe in a function of another name, and with variables of other names in it.
"""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from gendsl.errors import EXECUTION
from gendsl.lang.definition import as_function, compile_definition
from gendsl.lang.names import COMPREHENSIONS, stored
from gendsl.lang.rewrite import Rewriter, rewrite, rewritten
from gendsl.lang.sites import (
    assigned_address,
    is_addressed,
    is_braced,
    is_choice,
    is_splice,
    target_indices,
)
from gendsl.lang.source import Source
from gendsl.lang.trees import children, clone, located, walk
from gendsl.runtime.lowering.methods import Constants, assign, load, own

MOST = 16
"""How many choices of a body are made so: each takes about a millisecond to compile."""

_Statement = ast.Assign | ast.AnnAssign | ast.Expr | ast.Return


@dataclass(frozen=True)
class Making:
    """The statements that make choices.

    Attributes:
        from_family: those that make a choice from a family of ours, given which of its parameters are
            constants, and whether no other `~` can have its address. Its other parameters are in variables
            of their names, its address in `path`. Its value is left in `value`.
        others: those that make a choice from what is in `distribution`; `sugar` says whether an assignment
            gives it its address. None where that is done as `rewrite` has it.
        called: those that make one from what calling `kind` gives, given with how many arguments, which are
            in `argument_0` and so on.
        first: those that the body begins with.
    """

    from_family: Callable[[Any, dict[str, float], bool], list[ast.stmt]]
    others: list[ast.stmt] | None
    first: list[ast.stmt]
    called: Callable[[int], list[ast.stmt]] | None = None


class _Spreader(Rewriter):
    def __init__(self, source: Source, making: Making, constants: Constants) -> None:
        super().__init__(source)
        self.making = making
        self.constants = constants
        self.left = MOST
        self.lists = 0

    # --- choices ----------------------------------------------------------------------------------

    def _spread(self, node: _Statement) -> list[ast.AST] | None:
        """The statements for one whose value is a choice; None if that is made in another way."""
        if isinstance(node.value, ast.ListComp) and self._unrolls(node.value):
            return self._unrolled(node, node.value)
        appended = _appended(node)
        made = self._made(node.value if appended is None else appended, node)
        if made is None:
            return None
        if appended is None:
            node.value = load("value")
        else:
            node.value.args[0] = load("value")  # type: ignore[union-attr]
        return [*made, self.generic_visit(node)]  # in whose targets there may be choices, too

    def _made(self, value: ast.expr | None, node: _Statement) -> list[ast.stmt] | None:
        """The statements that make the choice which an expression makes."""
        address: ast.expr | None = None
        operand: Any = None
        if isinstance(value, ast.BinOp) and is_addressed(value) and not is_splice(value.left):
            address, operand = value.left, value.right.operand  # type: ignore[attr-defined]
        elif isinstance(value, ast.UnaryOp) and is_choice(value):
            targets = getattr(node, "targets", None) or [getattr(node, "target", None)]
            if len(targets) == 1 and targets[0] is not None:
                address, operand = self._address_of(targets[0], value), value.operand
        path = None if address is None else _path(address)
        if path is None or self.nested or not self.left:
            return None
        assert value is not None
        sugar = "braces" if is_braced(value) else isinstance(value, ast.UnaryOp)
        family = self.family(operand)
        if family is None:
            made = self._any(value, operand, path, sugar)
        else:
            made = self._of_family(family, value, operand, path, sugar)
        if made is not None:
            self.left -= 1
            _place(made, value)
        return made

    def _address_of(self, target: ast.expr, value: ast.UnaryOp) -> ast.expr | None:
        """The address that a target gives a choice, if it may be evaluated before that."""
        found = target_indices(target)
        address = assigned_address(target)
        if found is None or address is None or not self._is_stable(found[1], value):
            return None
        return clone(address)

    def _of_family(
        self, family: Any, value: ast.expr, operand: Any, path: ast.expr, sugar: bool | str
    ) -> list[ast.stmt]:
        made: list[ast.stmt] = [assign("path", self.visit(path))]
        arguments = [self.visit(argument) for argument in operand.args]
        made.append(assign("family", operand.func))
        constants = _constants(dict(zip(family.parameters, operand.args, strict=True)))
        named = zip(family.parameters, arguments, strict=True)
        made += [assign(name, argument) for name, argument in named if name not in constants]
        makers = ast.Attribute(ast.Name(EXECUTION, ast.Load()), "makers", ast.Load())
        given = [ast.Name(EXECUTION, ast.Load()), load("path"), ast.Constant(sugar)]
        given += [ast.Constant(constants[p]) if p in constants else load(p) for p in family.parameters]
        call = ast.Call(ast.Subscript(makers, load("family"), ast.Load()), given, [])
        known = self.constants.load(family)
        is_family = ast.Compare(load("family"), [ast.Is()], [known])
        made_here = self.making.from_family(family, constants, self._is_alone(path))
        choice = ast.If(is_family, made_here, [assign("value", call)])
        for part in walk(choice):  # what fails to be made is the distribution, not the choice
            is_making = isinstance(part, ast.Call) and getattr(part.func, "id", None) == known.id
            ast.copy_location(part, operand if is_making else value)
        return [*made, choice]

    @cached_property
    def heads(self) -> list[Any] | None:
        """The constants with which the addresses in the body begin; None if they don't all."""
        assert self.inlines is not None
        heads = []
        for site in rewrite(self.inlines)[1]:
            address = site.address
            head = address.elts[0] if isinstance(address, ast.Tuple) and address.elts else address
            if not isinstance(head, ast.Constant):
                return None
            heads.append(head.value)
        return heads

    def _is_alone(self, path: ast.expr) -> bool:
        """Whether no other `~` of the body can have an address that begins as a constant one does."""
        parts = children(path)
        if self.heads is None or not all(isinstance(part, ast.Constant) for part in parts):
            return False
        return self.heads.count(parts[0].value) == 1  # type: ignore[attr-defined]

    def _any(
        self, value: ast.expr, operand: ast.expr, path: ast.expr, sugar: bool | str
    ) -> list[ast.stmt] | None:
        if self.making.others is None:
            return None
        first: list[ast.stmt] = [assign("path", self.visit(path)), assign("sugar", ast.Constant(sugar))]
        if self.making.called is None or not _is_plain_call(operand):
            first.append(assign("distribution", self._callable(operand)))
            return [*first, *_placed_at(value, self.making.others)]
        assert isinstance(operand, ast.Call)
        first.append(assign("kind", operand.func))
        first += [assign(f"argument_{i}", self.visit(part)) for i, part in enumerate(operand.args)]
        return [*first, *_placed_at(operand, self.making.called(len(operand.args)))]

    def _callable(self, expression: ast.expr) -> ast.expr:
        """E' of the operand of a `~`: a class is called as it is."""
        made = super()._callable(expression)
        if isinstance(made, ast.Call) and isinstance(made.func, ast.Call):
            (function,) = made.func.args
            if isinstance(function, ast.Name):
                kind = ast.Call(self.constants.load(type), [clone(function)], [])
                is_class = ast.Compare(kind, [ast.Is()], [self.constants.load(type)])
                made.func = ast.IfExp(is_class, clone(function), made.func)
                _place([made.func], function)
        return made

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        operand = node.right.operand if is_addressed(node) else None  # type: ignore[attr-defined]
        if not isinstance(operand, ast.Call) or self.nested or not is_splice(node.left):
            return super().visit_BinOp(node)
        call = self._method("spliced", [operand.func, *operand.args], node)
        call.keywords = operand.keywords
        return self.generic_visit(call)

    # --- comprehensions -----------------------------------------------------------------------------

    def _unrolls(self, node: ast.ListComp) -> bool:
        """Whether a comprehension that makes choices may be a loop."""
        parts = walk(node)
        if self.nested or not any(map(is_choice, parts)) or any(g.is_async for g in node.generators):
            return False
        if any(isinstance(part, (ast.Lambda, ast.NamedExpr, ast.Await)) for part in parts):
            return False
        targets = [part for generator in node.generators for part in walk(generator.target)]
        inner = [part for part in parts if isinstance(part, COMPREHENSIONS) and part is not node]
        names = {part.id for part in targets if isinstance(part, ast.Name)}
        apart = all(names.isdisjoint(stored(g.target)) for part in inner for g in part.generators)
        return apart and all(isinstance(part, (ast.Name, ast.Tuple)) for part in targets)

    def _unrolled(self, node: _Statement, comprehension: ast.ListComp) -> list[ast.AST]:
        """The loop that a comprehension is, and the statement with the list."""
        name = f"list_{self.lists}"
        self.lists += 1
        _rename(comprehension, self.lists)
        append = ast.Call(ast.Attribute(load(name), "append", ast.Load()), [comprehension.elt], [])
        body: list[ast.stmt] = [ast.Expr(append)]
        for generator in reversed(comprehension.generators):
            for test in reversed(generator.ifs):
                body = [ast.If(test, body, [])]
            body = [ast.For(generator.target, generator.iter, body, [])]
        made = [assign(name, ast.List([], ast.Load())), *body]
        _place(made, comprehension)
        node.value = load(name)
        return [*self.visit_all(made), self.generic_visit(node)]

    # --- statements ---------------------------------------------------------------------------------

    def visit_Assign(self, node: ast.Assign) -> Any:
        return self._spread(node) or super().visit_Assign(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        return self._spread(node) or super().visit_AnnAssign(node)

    def visit_Expr(self, node: ast.Expr) -> Any:
        return self._spread(node) or self.generic_visit(node)

    def visit_Return(self, node: ast.Return) -> Any:
        return self._spread(node) or self.generic_visit(node)


def _place(nodes: Iterable[ast.AST], at: ast.AST) -> None:
    """Let parts that stand nowhere stand where another does."""
    for node in nodes:
        for part in walk(node):
            if not hasattr(part, "lineno"):
                ast.copy_location(part, at)


def _placed_at(at: ast.AST, statements: Iterable[ast.stmt]) -> list[ast.stmt]:
    """Copies of statements, all in one place."""
    made = [*map(clone, statements)]
    for statement in made:
        for part in walk(statement):
            ast.copy_location(part, at)
    return made


def _appended(node: _Statement) -> ast.expr | None:
    """What a statement `name.append(...)` appends."""
    match node:
        case ast.Expr(ast.Call(ast.Attribute(ast.Name(), "append"), [value], [])):
            return value
    return None


def _is_plain_call(operand: ast.expr) -> bool:
    """Whether an expression calls what a name says, with arguments by position."""
    if not isinstance(operand, ast.Call) or not isinstance(operand.func, ast.Name) or operand.keywords:
        return False
    return bool(operand.args) and not any(isinstance(argument, ast.Starred) for argument in operand.args)


def _path(address: ast.expr) -> ast.expr | None:
    """The path that an address surely is; None for one that has to be looked at."""
    parts = address.elts if isinstance(address, ast.Tuple) else [address]
    if not parts or any(isinstance(part, ast.Starred) or is_splice(part) for part in parts):
        return None
    if isinstance(address, ast.Tuple):
        return address
    return ast.Tuple([address], ast.Load()) if isinstance(address, ast.Constant) else None


_ARITHMETIC = ast.UnaryOp, ast.UAdd, ast.USub, ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.Div


def _is_arithmetic(part: ast.AST) -> bool:
    """Whether a part of an expression is a number, or arithmetic."""
    return isinstance(part, _ARITHMETIC) or type(getattr(part, "value", None)) in (int, float)


def _constants(parameters: dict[str, ast.expr]) -> dict[str, float]:
    """The parameters that are numbers, as they are written: 0.5, -1, 1 / 200."""
    found = {}
    for name, node in parameters.items():
        if all(map(_is_arithmetic, walk(node))):
            with contextlib.suppress(ArithmeticError):  # raised again where the choice is made
                found[name] = eval(compile(located(ast.Expression(clone(node))), "<constant>", "eval"), {})
    return found


def _rename(comprehension: ast.ListComp, number: int) -> None:
    """Give the variables of a comprehension names that no others have, as they are its own."""
    generators = comprehension.generators
    names = {name: own(f"{name}_{number}") for g in generators for name in stored(g.target)}
    inside: list[ast.AST] = [comprehension.elt, generators[0].target, *generators[0].ifs, *generators[1:]]
    for part in (part for node in inside for part in walk(node)):
        if isinstance(part, ast.Name):
            part.id = names.get(part.id, part.id)


def _as_known(node: Any, constants: Constants) -> dict[str, Any]:
    """The objects that some generated code refers to."""
    used = {part.id for part in walk(node) if isinstance(part, ast.Name)}
    return {name: value for name, value in constants.objects.items() if name in used}


def spread(source: Source, making: Making, constants: Constants) -> Callable[..., Any]:
    """The body with choices made by statements, called with the execution as its first argument."""
    node = rewritten(source, _Spreader(source, making, constants), first=True)
    node.body[:0] = _placed_at(node.body[0], making.first)
    known = _as_known(node, constants)
    code = compile_definition(node, source.scopes, source.function.__code__, known=tuple(known))
    return as_function(code, source.function, known)


def spread_statements(
    source: Source, statements: list[ast.stmt], making: Making, constants: Constants
) -> tuple[list[ast.stmt], dict[str, Any]]:
    """The same of some statements of a body, and the objects that they refer to."""
    spreader = _Spreader(source, making, constants)
    made = [*_placed_at(statements[0], making.first), *spreader.visit_all([*map(clone, statements)])]
    return [*map(located, made)], _as_known(ast.Module(made, []), constants)

