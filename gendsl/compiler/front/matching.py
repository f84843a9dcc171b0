"""`match`, and which values fit a pattern."""

from __future__ import annotations

import ast

from gendsl.compiler import hir
from gendsl.compiler.front import container_operators, objects
from gendsl.compiler.front.expressions import attribute, condition, expression
from gendsl.compiler.front.frame import Frame
from gendsl.compiler.front.operators import equal, identical
from gendsl.compiler.hir import both
from gendsl.compiler.hir.types import Array, List, Tuple, Union
from gendsl.compiler.hir.values import NONE, Value, is_known, items_of, known, object_of


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
        case ast.MatchOr(patterns=patterns) if not any(isinstance(p, ast.MatchAs) for p in patterns):
            tests = [_matches(frame, p, subject, names) for p in patterns]
            return container_operators.any_of(frame, tests)
        case ast.MatchSequence(patterns=patterns) if not any(isinstance(p, ast.MatchStar) for p in patterns):
            subject = frame.opened(subject)
            if isinstance(subject.type, (Union, List, Array)):
                raise frame.not_closed("a pattern of a sequence of unknown length", pattern)
            if not isinstance(subject.type, Tuple) and not (
                is_known(subject) and isinstance(object_of(subject), tuple)
            ):
                return hir.FALSE
            if isinstance(subject.type, Tuple) and not issubclass(subject.type.cls, tuple):
                return hir.FALSE
            items = items_of(subject)
            if len(items) != len(patterns):
                return hir.FALSE
            result: hir.Expr = hir.TRUE
            for inner, item in zip(patterns, items, strict=True):
                result = both(result, _matches(frame, inner, item, names))
            return result
        case ast.MatchClass(cls=cls, patterns=patterns, kwd_attrs=attributes, kwd_patterns=inner_patterns):
            return _matches_class(frame, subject, cls, patterns, attributes, inner_patterns, names)
    raise frame.not_closed("a pattern of this kind", pattern)


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
        raise frame.not_closed("a pattern of a class of NumPy's", cls)
    if not found:
        return hir.FALSE
    if patterns and kind in (float, int, bool, str, list, tuple, dict):
        return _matches(frame, patterns[0], subject, names)
    places = [*getattr(kind, "__match_args__", ())[: len(patterns)], *attributes]
    result: hir.Expr = hir.TRUE
    for name, inner in zip(places, [*patterns, *inner_patterns], strict=True):
        result = both(result, _matches(frame, inner, attribute(frame, subject, name), names))
    return result
