"""Lower loops in loops as one loop over pairs, where that is all the same to their iterations; see `nests`.

It is where an iteration leaves nothing behind but its choices, and has array code: then the values of all
pairs are in the same columns, and what many of them read is one lookup. Others are lowered as they stand.
"""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from gendsl.lang.names import has_choice, loaded
from gendsl.lang.sites import known_value
from gendsl.lang.trees import clone, walk
from gendsl.runtime.lowering.effects import Effects
from gendsl.runtime.lowering.ir import ColumnSite, Fragment, Level, Loop
from gendsl.runtime.lowering.iterables import Over
from gendsl.runtime.lowering.lower_loops import LoopLowering
from gendsl.runtime.lowering.nests import Level as Written
from gendsl.runtime.lowering.nests import are_apart, levels_of
from gendsl.runtime.lowering.scope import OpaqueError
from gendsl.runtime.lowering.vectorise import columns_of

_OF_ROWS = frozenset((
    "across", "as_vectors", "assembled", "between", "chosen", "dot", "each_entry", "either", "law", "mapped",
    "parts", "reduced", "rows", "rowwise", "signed", "spread", "unpacked",
))  # fmt: skip
"""What array code does with rows and vectors: for pairs it would be done as often as there are pairs."""

_LEN, _RANGE = ast.Name("len", ast.Load()), ast.Name("range", ast.Load())
_MAKERS = np.zeros, np.ones, np.empty, np.full


class NestLowering(LoopLowering):
    """Lowers loops in loops."""

    def for_loop(self, node: ast.For) -> None:
        if not self.is_nest(node):
            super().for_loop(node)

    def is_nest(self, node: ast.stmt) -> bool:
        """Whether a statement is loops in loops that are one; then it has been lowered."""
        found = levels_of(node, self.effects) if has_choice(node) else None
        if found is None or found[2] & loaded(self.definition.node):
            return False
        levels, body, _ = found
        env, nodes, codes = dict(self.env), list(self.nodes), len(self.codes)
        levels = [self.over_entries(level) for level in levels]
        if not are_apart(levels, body, self.effects):
            return False  # what an inner loop goes through is such an entry
        at: ast.AST = node if isinstance(node, ast.For) else node.value  # type: ignore[attr-defined]
        sources = [source for level in levels for source in level.sources]
        own = [source for level in levels if isinstance(level.node, ast.For) for source in level.sources]
        targets = ast.copy_location(ast.Tuple([clone(target) for _, _, target in own], ast.Store()), at)
        statements = [statement for level in levels for statement in level.statements]
        try:
            self.loop(at, Over(sources), [*statements, *body], targets, nest=_nested(levels, at))
        except OpaqueError:
            pass
        else:
            loop = self.nodes[-1]
            assert isinstance(loop, Loop)
            loop.levels = _levels(levels, self.effects)
            if self.is_flat(loop, levels):
                return True
        self.env, self.nodes = env, nodes
        del self.codes[codes:]
        return False

    def over_entries(self, level: Written) -> Written:
        """A loop over the entries of lists and arrays of the body's own as one over their indices.

        Then a change of an entry is one of what is looked up, not of what the loop goes through.
        """
        sources, statements = [], []
        for expression, counted, target in level.sources:
            if not counted and isinstance(expression, ast.Name) and self.is_own_sequence(expression.id):
                name = self.temporary()
                size = ast.Call(clone(_LEN), [clone(expression)], [])
                over = ast.Call(clone(_RANGE), [size], [])
                entry = ast.Subscript(clone(expression), ast.Name(name, ast.Load()), ast.Load())
                statements.append(_at(ast.Assign([clone(target)], entry), expression))
                expression, target = _at(over, expression), _at(ast.Name(name, ast.Store()), target)
            sources.append((expression, counted, target))
        return Written(level.node, sources, level.strict, [*statements, *level.statements])

    def is_own_sequence(self, name: str) -> bool:
        """Whether a name is surely a list or an array that the body has made."""
        version = self.env.get(name)
        if version is None or version.kind not in ("list", "array") or version.unset:
            return False
        if name in self.parameters or not all(self.effects.is_builtin(f, f.id) for f in (_LEN, _RANGE)):
            return False
        made = self.effects.bindings(name, *self.definition.node.body)
        return bool(made) and all(map(self.makes_sequence, made))

    def makes_sequence(self, value: ast.expr | None) -> bool:
        """Whether an expression surely makes a list or an array."""
        match value:
            case ast.List() | ast.ListComp():
                return True
            case ast.Call():
                known = known_value(self.definition, value.func)
                return any(known is maker for maker in _MAKERS)
        return False

    def is_flat(self, loop: Loop, levels: list[Written]) -> bool:
        """Whether a loop over pairs does what the loops did."""
        if loop.outs or loop.carried or loop.stored or loop.exits:
            return False
        leads = sum(len(level.statements) for level in levels)
        if not all(isinstance(block, Fragment) for block in loop.body[:leads]):
            return False
        columns = columns_of(self.definition, loop)
        if columns is None:
            return False
        for step in columns.steps:
            called = {part.attr for part in walk(step.code.result) if isinstance(part, ast.Attribute)}
            if not called.isdisjoint(_OF_ROWS):
                return False
        if any(source.rows for source in loop.sources):
            return False
        if any(isinstance(step, ColumnSite) and step.rows for step in columns.steps):
            return False
        named = self.named_elements(loop)
        for gather in columns.gathers:
            known = any(
                (version.depth, version.slot) == gather.container and version.kind in ("list", "array")
                for version in self.env.values()
            )
            by = {load.slot for load in gather.code.loads if load.depth == loop.depth}
            if not known and not by.isdisjoint(named):
                return False
        last = {source.target for source in loop.sources[-len(loop.levels[-1].counted) :]}
        sites = [step for step in columns.steps if isinstance(step, ColumnSite)]
        return all(any(slot and slot[1] in last for _, slot in site.parts) for site in sites)

    def named_elements(self, loop: Loop) -> set[int]:
        """The variables of the outer loops that may be names: by those, array code looks nothing up."""
        numbers = [number for level in loop.levels[:-1] for number in level.distinct]
        return {source.target for source, number in zip(loop.sources, numbers, strict=False) if not number}


def _is_same(level: Written, names: list[str]) -> bool:
    """Whether what a loop goes through has none of the variables."""
    return loaded(*(expression for expression, _, _ in level.sources)).isdisjoint(names)


def _nested(levels: list[Written], at: ast.AST) -> ast.expr:
    """What the loops go through: of the outermost as it is, of the others a function of the variables."""
    names: list[str] = []
    parts: list[ast.expr] = []
    for level in levels:
        over: ast.expr = ast.Tuple([clone(expression) for expression, _, _ in level.sources], ast.Load())
        if names:
            arguments = [] if _is_same(level, names) else [ast.arg(name) for name in names]
            over = ast.Lambda(ast.arguments([], arguments, None, [], [], None, []), over)
        parts.append(over)
        names += _names(level)
    nested: ast.expr = _at(ast.Tuple(parts, ast.Load()), at)
    return nested


def _names(level: Written) -> list[str]:
    return [target.id for _, _, target in level.sources if isinstance(target, ast.Name)]


def _levels(levels: list[Written], effects: Effects) -> list[Level]:
    """What the runtime knows of the loops."""
    made: list[Level] = []
    names: list[str] = []
    lead = 0
    for level in levels:
        lead += len(level.statements)
        counted = [counted for _, counted, _ in level.sources]
        distinct = [counted or effects.is_range(expression) for expression, counted, _ in level.sources]
        made.append(Level(counted, distinct, level.strict, _is_same(level, names), lead, level.node))
        names += _names(level)
    return made


def _at(made: Any, at: ast.AST) -> Any:
    """A tree of which all that has no place yet stands at another's."""
    for part in walk(made):
        if "lineno" in part._attributes and not hasattr(part, "lineno"):
            ast.copy_location(part, at)
    return made
