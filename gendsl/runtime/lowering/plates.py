"""Plates in the body that derivatives run: loops that have array code run it first, if it can be vouched for.

    for i in range(n):               ->   if not __gendsl__.plate(0, lambda: (range(n),), lambda i: (...)):
        ("y", i) @ ~normal(a * x[i], 1)       for i in range(n): ...

A lambda for each step gives the parameters of a choice of all iterations, or a variable, with the array code
of `vectorise`; its arguments are the loop variables, choices and variables that it reads, as columns.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

from gendsl.distributions.columns import COLUMN_DTYPES
from gendsl.errors import EXECUTION
from gendsl.lang.definition import FunctionNode
from gendsl.lang.trees import Transformer, clone, located, walk
from gendsl.runtime.lowering.emit import TOOLS
from gendsl.runtime.lowering.ir import Branch, Code, ColumnSite, Level, Loop, Node, Program
from gendsl.runtime.lowering.liveness import all_loads


@dataclass(frozen=True)
class PlateStep:
    """A choice or a variable of all iterations.

    Attributes:
        slot: which column it makes.
        reads: the columns that its code is called with.
        outer: the variables of the body that it reads, by name, with where they lie.
        site: what is known of the choice; None for a variable.
    """

    slot: int
    reads: tuple[int, ...]
    outer: tuple[tuple[str, int], ...]
    site: ColumnSite | None


@dataclass(frozen=True)
class Plate:
    """A loop whose iterations can run at once.

    Attributes:
        place: the line and the column where the loop is.
        sources: for each thing that it goes through, whether it is the start of a count, its column, and
            whether that is one of rows.
        steps: what an iteration does.
        levels: of loops in loops that are one, what each of them is; what `first` gives is for all of them.
    """

    place: tuple[int, int]
    sources: tuple[tuple[bool, int, bool], ...]
    steps: tuple[PlateStep, ...]
    levels: tuple[Level, ...] = ()


def lift_plates(node: FunctionNode, program: Program) -> list[Plate]:
    """Give the loops of a body their array code, in place; the plates that it names by their number."""
    if program.opaque is not None:
        return []
    loops: dict[tuple[int, int], list[Loop]] = {}
    for loop in _loops(program.body):
        loops.setdefault((loop.node.lineno, loop.node.col_offset), []).append(loop)  # type: ignore[attr-defined]
    lifter = _LiftPlates(loops)
    node.body = [part for statement in node.body for part in lifter.lifted(statement)]
    located(node)
    return lifter.plates


def _loops(body: list[Node]) -> list[Loop]:
    """The loops that are in no other loop, in order."""
    found = []
    for node in body:
        if isinstance(node, Branch):
            found += [loop for arm in node.arms for loop in _loops(arm)]
        elif isinstance(node, Loop) and isinstance(node.node, ast.For):
            found.append(node)
    return found


def _is_plain(loop: Loop) -> bool:
    """Whether the loop leaves nothing behind but its choices, at addresses that its own variables make."""
    if loop.columns is None or loop.outs or loop.stored or loop.carried:
        return False
    if any(source.code.statements for source in loop.sources):
        return False
    sites = [step for step in loop.columns.steps if isinstance(step, ColumnSite)]
    if not all(site.family in COLUMN_DTYPES for site in sites):
        return False
    own = {(loop.depth, source.target) for source in loop.sources} if loop.levels else set()
    return all(
        slot is None or slot in own
        for site in sites
        for i, (_, slot) in enumerate(site.parts)
        if i != site.position
    )


class _LiftPlates(Transformer):
    """Lifts the loops at some places: several at one are a loop that was taken apart, in order."""

    def __init__(self, loops: dict[tuple[int, int], list[Loop]]) -> None:
        self.loops = loops
        self.plates: list[Plate] = []

    def lifted(self, statement: ast.stmt) -> list[ast.stmt]:
        found = self.visit(statement)
        return found if isinstance(found, list) else [found]

    def _scope(self, node: ast.AST) -> ast.AST:
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = visit_ClassDef = _scope
    visit_While = _scope

    def visit_For(self, node: ast.For) -> Any:
        found = self.loops.get((node.lineno, node.col_offset))
        loop = found.pop(0) if found else None
        if loop is None or node.orelse or not _is_plain(loop) or loop.columns is None:
            return node
        steps, arguments = [], []
        for step in loop.columns.steps:
            loads = [load for load in step.code.loads if load.depth == loop.depth]
            names = dict.fromkeys(load.name for load in loads)
            slots = {load.name: load.slot for load in loads}
            site = step if isinstance(step, ColumnSite) else None
            slot = step.value if isinstance(step, ColumnSite) else step.slot
            outer = tuple({(load.name, load.slot) for load in all_loads(step.code) if load.depth == 0})
            steps.append(PlateStep(slot, tuple(slots[name] for name in names), outer, site))
            arguments.append(_function(list(names), _expression(step.code)))
        if loop.levels:
            first = _function([], _expression(loop.sources[0].code))
        else:
            iterables = [_expression(source.code) for source in loop.sources]
            first = _function([], ast.Tuple(iterables, ast.Load()))
        number = ast.Constant(len(self.plates))
        call = ast.Call(_attribute(EXECUTION, "plate"), [number, first, *arguments], [])
        guarded = ast.If(ast.UnaryOp(ast.Not(), call), [node], [])
        for part in (*walk(first), *(p for a in arguments for p in walk(a)), guarded.test, call,
                     *walk(call.func), number, guarded):  # fmt: skip
            if "lineno" in part._attributes and not hasattr(part, "lineno"):
                ast.copy_location(part, node)
        place = node.lineno, node.col_offset
        sources = tuple((source.counted, source.target, source.rows) for source in loop.sources)
        self.plates.append(Plate(place, sources, tuple(steps), tuple(loop.levels)))
        return guarded


def _function(names: list[str], body: ast.expr) -> ast.Lambda:
    arguments = ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, [])
    return ast.Lambda(arguments, body)


def _attribute(name: str, attribute: str) -> ast.Attribute:
    return ast.Attribute(ast.Name(name, ast.Load()), attribute, ast.Load())


def _expression(code: Code) -> ast.expr:
    """The result of a piece of code, its calls lifted."""
    lifted: ast.expr = _LiftTools().visit(clone(code.result))
    return lifted


class _LiftTools(Transformer):
    """Array code calls the execution's tools, and everything else goes through its `lift`."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        function = node.func
        if isinstance(function, ast.Lambda):
            return node
        if isinstance(function, ast.Attribute):
            root = function.value.value if isinstance(function.value, ast.Attribute) else function.value
            if isinstance(root, ast.Name) and root.id == TOOLS:
                root.id = EXECUTION
                return node
        node.func = ast.Call(_attribute(EXECUTION, "lift"), [function], [])
        return node
