"""Questions that code asks when it runs, where the analysis can't tell whether something changes in place.

    eta = link(eta)             eta = watched(..., link, eta)       does link leave eta as it was?
    rows[i] += x                alone(rows[i], ...)                 is rows[i] a number, or a list?
    thing.sample()              still(..., thing, "sample").sample()    is it a distribution, or an urn?
    found = search(text)        found = settled(..., search(text))  is it an iterator?
    start = [0.5, 0.5] * w      start = listed([0.5, 0.5] * w, ...) is it a list, or an array?
    start *= w                  start *= w; listed(start, ...)      is it a list still?

Where the answer is no, the body is executed whole from then on.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any

from gendsl.errors import EXECUTION
from gendsl.lang.names import root_name
from gendsl.lang.trees import Transformer, clone, walk
from gendsl.runtime.lowering.effects import Effects
from gendsl.runtime.lowering.emit import TOOLS
from gendsl.runtime.lowering.objects import CHANGING_METHODS, PURE_METHODS

IsNumber = Callable[[ast.expr], bool]


def with_questions(
    tree: Any, effects: Effects, lists: set[str], rows: set[str], is_number: IsNumber
) -> Any:
    """A statement, as the statements to put in its place, or an expression, with what it is to ask.

    Args:
        lists: the variables that are taken to have lists.
        rows: the variables of which an entry may be a list, though nothing shows that it is.
        is_number: whether an expression surely gives a number, which no call can change.
    """
    questions = _Questions(effects, lists, rows, is_number)
    return questions.visit(clone(tree)) if any(map(questions.asks, walk(tree))) else tree


def _given(target: ast.expr, value: ast.expr | None) -> Iterator[tuple[str, ast.expr]]:
    """The names to which an assignment gives the values of expressions, with these."""
    match target, value:
        case ast.Name(name), ast.expr():
            yield name, value
        case (ast.Tuple(names) | ast.List(names)), (ast.Tuple(values) | ast.List(values)):
            if len(names) == len(values) and not any(isinstance(e, ast.Starred) for e in (*names, *values)):
                for pair in zip(names, values, strict=True):
                    yield from _given(*pair)


def _is_own(call: ast.Call) -> bool:
    """Whether a call is of gendsl's own, or the request of a choice."""
    return any(isinstance(n, ast.Name) and n.id in (TOOLS, EXECUTION) for n in walk(call.func))


def _is_watched(call: ast.Call, effects: Effects, is_number: Callable[[ast.expr], bool]) -> bool:
    if _is_own(call) or not effects.may_change_arguments(call):
        return False
    return not all(map(is_number, (*call.args, *(keyword.value for keyword in call.keywords))))


def _may_iterate(call: ast.Call, effects: Effects) -> bool:
    method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    unknown = effects.function_of(call) is None and method not in PURE_METHODS | CHANGING_METHODS
    return unknown and not _is_own(call) and not effects.leaves_alone(call)


class _Questions(Transformer):
    def __init__(self, effects: Effects, lists: set[str], rows: set[str], is_number: IsNumber) -> None:
        self.effects = effects
        self.lists = lists
        self.rows = rows
        self.is_number = is_number

    def asks(self, part: ast.AST) -> bool:
        """Whether a part of the statement or expression asks something itself."""
        effects, is_number = self.effects, self.is_number
        match part:
            case ast.AugAssign(target=ast.Subscript() as target):
                return root_name(target) in self.rows
            case ast.AugAssign(target=ast.Name(name)):
                kept = name in self.lists and effects.has_parts_kept(name)
                return kept and effects.may_become_array(part, is_number)
            case ast.Assign() | ast.AnnAssign() if self.listed(part):
                return True
            case ast.Assign(value=value) | ast.AnnAssign(value=value) if isinstance(value, ast.Call):
                return _may_iterate(value, effects) or _is_watched(value, effects, is_number)
            case ast.Call():
                return _is_watched(part, effects, is_number) or effects.misleads_perhaps(part)
        return False

    def listed(self, node: ast.Assign | ast.AnnAssign) -> dict[ast.expr, str]:
        """The values of an assignment that must be lists, with the names that they get."""
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        given = _given(targets[0], node.value) if len(targets) == 1 else ()
        return {
            value: name
            for name, value in given
            if self.effects.is_list_or_array(value, self.is_number) and self.effects.has_parts_kept(name)
        }

    def where(self, call: ast.expr) -> ast.Tuple:
        """Where a call is, how it is written, and which of its arguments are the body's own."""
        assert isinstance(call, ast.Call)
        arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
        own = [ast.Constant(i) for i, a in enumerate(arguments) if self.effects.is_given(a)]
        if any(isinstance(argument, ast.Starred) for argument in call.args):
            own = []
        parts = ast.Constant(call.lineno), ast.Constant(ast.unparse(call)), ast.Tuple([*own], ast.Load())
        return ast.Tuple([*parts], ast.Load())

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        asks = self.asks(node)
        self.generic_visit(node)
        if not asks:
            return node
        if isinstance(node.target, ast.Name):
            name = ast.Constant(node.target.id)
            value = ast.Name(node.target.id, ast.Load())
            return [node, _placed(ast.Expr(_tool("listed", value, name, ast.Constant(node.lineno))), node)]
        entry = clone(node.target)
        entry.ctx = ast.Load()
        arguments = [entry, ast.Constant(ast.unparse(entry)), ast.Constant(node.lineno)]
        return [_placed(ast.Expr(_tool("alone", *arguments)), node), node]

    def visit_Assign(self, node: ast.Assign | ast.AnnAssign) -> ast.AST:
        listed = self.listed(node)
        if listed:
            self.generic_visit(node)
            node.value = _with_lists(node.value, listed, node.lineno)
            return node
        settled = isinstance(node.value, ast.Call) and _may_iterate(node.value, self.effects)
        where = self.where(node.value) if settled and node.value is not None else None
        self.generic_visit(node)
        if where is not None and node.value is not None:
            node.value = _placed(_tool("settled", where, node.value), node.value)
        return node

    visit_AnnAssign = visit_Assign

    def visit_Call(self, node: ast.Call) -> Any:
        watched = _is_watched(node, self.effects, self.is_number)
        unknown = self.effects.misleads_perhaps(node)
        if not watched and not unknown:
            return self.generic_visit(node)
        where = self.where(node)
        if unknown and isinstance(node.func, ast.Attribute):
            name = ast.Constant(node.func.attr)
            node.func.value = _placed(_tool("still", where, node.func.value, name), node.func.value)
        if not watched:
            return self.generic_visit(node)
        passed = self.effects.passed(node) if self.effects.leaves_alone(node) else []
        self.generic_visit(node)
        if passed:  # it calls what it is passed, maybe later
            for i, argument in enumerate(node.args):
                if argument in passed:
                    node.args[i] = _placed(_tool("watching", where, argument), argument)
            for keyword in node.keywords:
                if keyword.value in passed:
                    keyword.value = _placed(_tool("watching", where, keyword.value), keyword.value)
            return node
        made = _tool("watched", where, node.func, *node.args)
        made.keywords = node.keywords
        return _placed(made, node)


def _with_lists(value: Any, listed: dict[ast.expr, str], line: int) -> Any:
    """What an assignment gives its targets, with the question at what must be lists."""
    if value in listed:
        name = ast.Constant(listed[value])
        return _placed(_tool("listed", value, name, ast.Constant(line)), value)
    if isinstance(value, (ast.Tuple, ast.List)):
        value.elts = [_with_lists(part, listed, line) for part in value.elts]
    return value


def _tool(name: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(ast.Attribute(ast.Name(TOOLS, ast.Load()), name, ast.Load()), [*arguments], [])


def _placed(made: Any, at: ast.AST) -> Any:
    for part in walk(made):
        if not hasattr(part, "lineno"):
            ast.copy_location(part, at)
    return made
