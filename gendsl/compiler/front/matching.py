"""`match`, and which values fit a pattern."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence

from gendsl.compiler import hir
from gendsl.compiler.front import container_operators, library_deque, objects, tables
from gendsl.compiler.front.containers import length
from gendsl.compiler.front.expressions import attribute, condition, expression
from gendsl.compiler.front.frame import Frame
from gendsl.compiler.front.operators import equal, identical
from gendsl.compiler.front.unpacking import unpacked
from gendsl.compiler.hir import Const, Op, both
from gendsl.compiler.hir.types import Array, Dict, List, Number, Object, Text, Tuple, Union, describe
from gendsl.compiler.hir.values import (
    NONE,
    NOTHING,
    Value,
    alternatives_of,
    is_known,
    is_never,
    items_of,
    known,
    make_tuple,
    number,
    object_of,
)

_NO_SEQUENCES = Number, Text, Dict, Tuple, Object


def match_statement(frame: Frame, node: ast.Match) -> None:
    subject = frame.atoms(expression(frame, node.subject))

    def against(one: Value) -> Value:
        _match_from(frame, node, one, 0)
        return NONE

    frame.switch(subject, against)


def _match_from(frame: Frame, node: ast.Match, subject: Value, i: int) -> None:
    """The cases from the i-th on, of a value of one type."""
    if i == len(node.cases):
        return
    case = node.cases[i]
    names: dict[str, Value] = {}
    test = _matches(frame, case.pattern, subject, names)

    def then() -> None:
        for name, value in names.items():
            frame.bind(name, value)
        if case.guard is None:
            frame.language.block(frame, case.body)
            return
        frame.branch(
            condition(frame, case.guard),
            lambda: frame.language.block(frame, case.body),
            lambda: _match_from(frame, node, subject, i + 1),
        )

    frame.branch(test, then, lambda: _match_from(frame, node, subject, i + 1))


def _matches(frame: Frame, pattern: ast.pattern, subject: Value, names: dict[str, Value]) -> hir.Expr:
    """Whether a value fits a pattern, and the names that it gives values to."""
    match pattern:
        case ast.MatchValue(value=value):
            return equal(frame, subject, expression(frame, value))
        case ast.MatchSingleton(value=constant):
            return identical(frame, subject, known(constant))
        case ast.MatchAs(pattern=inner, name=name):
            test = hir.TRUE if inner is None else _matches(frame, inner, subject, names)
            if name is not None:
                names[name] = subject
            return test
        case ast.MatchOr(patterns=patterns):
            return _matches_one(frame, subject, patterns, names)
        case ast.MatchSequence(patterns=patterns):
            return _matches_sequence(frame, pattern, frame.opened(subject), patterns, names)
        case ast.MatchMapping(keys=keys, patterns=patterns, rest=None):
            return _matches_mapping(frame, pattern, frame.opened(subject), keys, patterns, names)
        case ast.MatchClass(cls=cls, patterns=patterns, kwd_attrs=attributes, kwd_patterns=inner_patterns):
            return _matches_class(frame, subject, cls, patterns, attributes, inner_patterns, names)
    raise frame.not_closed("a pattern of this kind", pattern)


def _where(
    frame: Frame, fits: hir.Expr, inner: Callable[[dict[str, Value]], hir.Expr], names: dict[str, Value]
) -> hir.Expr:
    """Whether a test holds, and then a pattern fits: elsewhere there may be nothing that it could look at."""
    bound: dict[str, Value] = {}

    def matched() -> Value:
        test = inner(bound)
        return make_tuple([number(test), *bound.values()])

    fits = frame.atom(fits)
    found = frame.branch(fits, matched, lambda: NOTHING)
    if is_never(found):
        return hir.FALSE
    test, *values = items_of(found)
    names.update(zip(bound, values, strict=True))
    return both(fits, test.leaf)


def _matches_one(
    frame: Frame, subject: Value, patterns: list[ast.pattern], names: dict[str, Value]
) -> hir.Expr:
    """Whether a value fits one of some patterns, of which the first that it fits gives values to names."""
    bound: dict[str, Value] = {}
    test = frame.atom(_matches(frame, patterns[0], subject, bound))
    if len(patterns) == 1:
        names.update(bound)
        return test
    if test == hir.FALSE:
        return _matches_one(frame, subject, patterns[1:], names)
    if not bound:  # as in all of them
        tests = [test, *(_matches(frame, one, subject, names) for one in patterns[1:])]
        return container_operators.any_of(frame, tests)
    others: dict[str, Value] = {}

    def by_others() -> Value:
        fits = _matches_one(frame, subject, patterns[1:], others)
        return make_tuple([number(fits), *(others.get(name, NOTHING) for name in bound)])

    found = frame.branch(test, lambda: make_tuple([number(hir.TRUE), *bound.values()]), by_others)
    fits, *values = items_of(found)
    names.update(zip(bound, values, strict=True))
    return fits.leaf


def _matches_sequence(
    frame: Frame,
    pattern: ast.pattern,
    subject: Value,
    patterns: list[ast.pattern],
    names: dict[str, Value],
) -> hir.Expr:
    if isinstance(subject.type, Union):
        tuples = [i for i, one in enumerate(subject.type.alternatives) if isinstance(one, Tuple)]
        plain = Number, Text, Dict, Tuple
        if len(tuples) == 1 and all(isinstance(one, plain) for one in subject.type.alternatives):
            subject = frame.atoms(subject)
            is_one = Op("eq", (subject.leaves[0], Const(tuples[0], "i")), "b")
            one = alternatives_of(subject)[tuples[0]]
            return _where(
                frame, is_one, lambda found: _matches_sequence(frame, pattern, one, patterns, found), names
            )
    is_deque = isinstance(subject.type, Object) and subject.type.cls is library_deque.Deque
    if isinstance(subject.type, (Union, Array)) or is_deque:
        raise frame.not_closed(f"a pattern of a sequence for a {describe(subject.type)}", pattern)
    stars = [i for i, one in enumerate(patterns) if isinstance(one, ast.MatchStar)]
    least = len(patterns) - len(stars)
    fits: hir.Expr
    if isinstance(subject.type, List):
        n = frame.atom(length(frame, subject), "n")
        fits = Op("ge" if stars else "eq", (n, Const(least, "i")), "b")
    else:
        is_tuple = isinstance(subject.type, Tuple) and issubclass(subject.type.cls, tuple)
        constant = object_of(subject) if is_known(subject) else None
        if not is_tuple and not isinstance(constant, tuple):
            if isinstance(constant, Sequence) and not isinstance(constant, str):
                raise frame.not_closed("a pattern of a sequence that is a constant", pattern)
            if not (is_known(subject) or is_never(subject) or isinstance(subject.type, _NO_SEQUENCES)):
                raise frame.not_closed(f"a pattern of a sequence for a {describe(subject.type)}", pattern)
            return hir.FALSE
        count = len(items_of(subject))
        fits = Const(count >= least if stars else count == least, "b")

    def of_items(found: dict[str, Value]) -> hir.Expr:
        test: hir.Expr = hir.TRUE
        items = unpacked(frame, subject, len(patterns), stars[0] if stars else None)
        for inner, item in zip(patterns, items, strict=True):
            if not isinstance(inner, ast.MatchStar):
                test = both(test, _matches(frame, inner, item, found))
            elif inner.name is not None:
                found[inner.name] = item
        return test

    return _where(frame, fits, of_items, names)


def _matches_mapping(
    frame: Frame,
    pattern: ast.pattern,
    subject: Value,
    keys: list[ast.expr],
    patterns: list[ast.pattern],
    names: dict[str, Value],
) -> hir.Expr:
    has_defaults = isinstance(subject.type, Dict) and subject.type.missing is not None
    if isinstance(subject.type, Union) or has_defaults:
        raise frame.not_closed("a pattern of a mapping of several types, or with defaults", pattern)
    if not isinstance(subject.type, Dict):
        if is_known(subject) and isinstance(object_of(subject), Mapping):
            raise frame.not_closed("a pattern of a mapping that is a constant", pattern)
        return hir.FALSE
    fits: hir.Expr = hir.TRUE
    for node, inner in zip(keys, patterns, strict=True):
        key = frame.atoms(expression(frame, node))

        def of_item(found: dict[str, Value], key: Value = key, inner: ast.pattern = inner) -> hir.Expr:
            return _matches(frame, inner, tables.item(frame, subject, key), found)

        there = Op("ge", (tables.find(frame, subject, key), Const(0, "i")), "b")
        fits = both(fits, _where(frame, there, of_item, names))
    return fits


def _matches_class(
    frame: Frame,
    subject: Value,
    cls: ast.expr,
    patterns: list[ast.pattern],
    attributes: list[str],
    inner_patterns: list[ast.pattern],
    names: dict[str, Value],
) -> hir.Expr:
    wanted = expression(frame, cls)
    subject = frame.opened(subject)
    if not is_known(wanted) or isinstance(subject.type, Union):
        raise frame.not_closed("a pattern of a class that is not known", cls)
    kind = object_of(wanted)
    found = objects.is_instance(frame, subject.type, kind)
    if found is None:
        raise frame.not_closed(f"a pattern of {kind.__name__} for {describe(subject.type)}", cls)
    if not found:
        return hir.FALSE
    if patterns and kind in (float, int, bool, str, list, tuple, dict):
        return _matches(frame, patterns[0], subject, names)
    places = [*getattr(kind, "__match_args__", ())[: len(patterns)], *attributes]
    result: hir.Expr = hir.TRUE
    for name, inner in zip(places, [*patterns, *inner_patterns], strict=True):
        result = both(result, _matches(frame, inner, attribute(frame, subject, name), names))
    return result
