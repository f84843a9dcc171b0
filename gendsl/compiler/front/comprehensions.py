"""Comprehensions and generator expressions."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from gendsl.compiler.front import lists, sets, tables
from gendsl.compiler.front.argument_types import LONGEST_TUPLE
from gendsl.compiler.front.frame import Frame
from gendsl.compiler.front.narrowing import apply_narrowings, narrowings
from gendsl.compiler.front.operators import truth
from gendsl.compiler.hir.types import (
    Generator,
)
from gendsl.compiler.hir.values import (
    Value,
)
from gendsl.lang import trees


def comprehension(
    frame: Frame, generators: list[ast.comprehension], add: Callable[[], None], first: Value | None = None
) -> None:
    """The loops of a comprehension around `add()`; a handler of errors would not have its variables."""
    with frame.handling([]):
        _comprehension(frame, generators, add, first)


def _comprehension(
    frame: Frame, generators: list[ast.comprehension], add: Callable[[], None], first: Value | None = None
) -> None:
    if not generators:
        add()
        return
    generator, *rest = generators
    if generator.is_async:
        raise frame.not_closed("an asynchronous comprehension", generator.iter)
    value = first if first is not None else iterable(frame, generator.iter)
    names = [part.id for part in trees.walk(generator.target) if isinstance(part, ast.Name)]
    saved = {name: frame.env.pop(name) for name in names if name in frame.env}
    added = [name for name in names if name not in frame.comprehended]
    frame.comprehended.update(added)

    def lower(item: Value) -> None:
        frame.language.assign(frame, generator.target, item)

        def tests(i: int) -> None:
            if i == len(generator.ifs):
                _comprehension(frame, rest, add)
                return
            test = truth(frame, frame.language.expression(frame, generator.ifs[i]))
            narrowing = narrowings(frame, generator.ifs[i], True)

            def then() -> None:
                apply_narrowings(frame, narrowing)
                tests(i + 1)

            frame.branch(test, then, lambda: None)

        tests(0)

    walrus = _walrus_names([*rest, *generator.ifs])
    target = names[0] if len(names) == 1 else "i"
    hint = f"{target}_at" if not _counts(generator.iter) else target
    frame.language.loop_over(frame, generator.iter, value, walrus, lower, forgotten=names, target=hint)
    frame.comprehended.difference_update(added)
    for name in names:
        frame.env.pop(name, None)
    frame.env.update(saved)


def _counts(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range"


def _walrus_names(nodes: list[Any]) -> list[str]:
    return [p.target.id for node in nodes for p in trees.walk(node) if isinstance(p, ast.NamedExpr)]


def list_comprehension(frame: Frame, node: ast.ListComp | ast.GeneratorExp) -> Value:
    first = iterable(frame, node.generators[0].iter)
    made = lists.list_of(frame, node, [])
    if _walrus_names([node.elt]):
        raise frame.not_closed("`:=` inside a comprehension", node)
    comprehension(
        frame,
        node.generators,
        lambda: lists.append(frame, made, frame.language.expression(frame, node.elt)),
        first,
    )
    return made


def dict_comprehension(frame: Frame, node: ast.DictComp) -> Value:
    first = iterable(frame, node.generators[0].iter)
    made = tables.make(frame, node)

    def add() -> None:
        key = frame.atoms(frame.language.expression(frame, node.key))
        tables.store(frame, made, key, frame.language.expression(frame, node.value))

    comprehension(frame, node.generators, add, first)
    return made


def set_comprehension(frame: Frame, node: ast.SetComp) -> Value:
    first = sets.unordered(iterable(frame, node.generators[0].iter))
    made = sets.make(frame, node)

    def add() -> None:
        sets.add(frame, made, frame.atoms(frame.language.expression(frame, node.elt)))

    comprehension(frame, node.generators, add, first)
    return made


def generator(frame: Frame, node: ast.GeneratorExp) -> Value:
    raise frame.not_closed("a generator that is kept", node)


def iterable(frame: Frame, node: ast.expr) -> Value:
    """The value of an expression that is gone through here and now: a generator is not kept."""
    if isinstance(node, ast.List) and _shows_strings(node):  # nobody else sees the list
        return frame.language.expression(frame, ast.copy_location(ast.Tuple(node.elts, ast.Load()), node))
    if not isinstance(node, ast.GeneratorExp):
        return frame.language.expression(frame, node)
    alone = len(node.generators) == 1 and not node.generators[0].is_async
    if not alone or any(isinstance(part, (ast.NamedExpr, ast.Lambda)) for part in trees.walk(node)):
        raise frame.not_closed("a generator with several loops, or with functions or `:=`", node)
    source = frame.atoms(frame.language.expression(frame, node.generators[0].iter))
    return Value(Generator(node, frame, source.type), source.leaves)


def _shows_strings(node: ast.List) -> bool:
    """Whether a display is of a few items, of which some have strings, which may be parts of addresses."""
    if len(node.elts) > LONGEST_TUPLE or any(isinstance(one, ast.Starred) for one in node.elts):
        return False
    parts = [one.elts if isinstance(one, (ast.Tuple, ast.List)) else [one] for one in node.elts]
    return any(isinstance(one, ast.Constant) and isinstance(one.value, str) for part in parts for one in part)


def spread(frame: Frame, node: ast.Starred) -> Value:
    """What has a star in a display or a call: a generator is gone through at once."""
    shown = node.value
    if isinstance(shown, ast.GeneratorExp):
        return list_comprehension(frame, shown)
    return frame.language.expression(frame, shown)


def visit_generated(
    frame: Frame, node: ast.GeneratorExp, item: Value, lower: Callable[[Value], None]
) -> None:
    """Lower something for the item of a generator expression that comes of an item of what it goes over."""
    with frame.handling([]):
        _visit_generated(frame, node, item, lower)


def _visit_generated(
    frame: Frame, node: ast.GeneratorExp, item: Value, lower: Callable[[Value], None]
) -> None:
    (clause,) = node.generators
    names = [part.id for part in trees.walk(clause.target) if isinstance(part, ast.Name)]
    saved = {name: frame.env.pop(name) for name in names if name in frame.env}
    added = [name for name in names if name not in frame.comprehended]
    frame.comprehended.update(added)

    def leave() -> None:
        frame.comprehended.difference_update(added)
        for name in names:
            frame.env.pop(name, None)
        frame.env.update(saved)

    def tests(i: int) -> None:
        if i == len(clause.ifs):
            found = frame.atoms(frame.language.expression(frame, node.elt))
            leave()
            lower(found)
            return
        test = truth(frame, frame.language.expression(frame, clause.ifs[i]))
        narrowing = narrowings(frame, clause.ifs[i], True)

        def then() -> None:
            apply_narrowings(frame, narrowing)
            tests(i + 1)

        frame.branch(test, then, leave)

    frame.language.assign(frame, clause.target, item)
    tests(0)
