"""What a loop goes through, taken apart: `enumerate` counts, and `zip` goes through several things."""

from __future__ import annotations

import ast
from typing import NamedTuple

from gendsl.runtime.lowering.effects import Effects


class Over(NamedTuple):
    """What a loop goes through.

    Attributes:
        sources: for each source its expression, whether it counts, and its target.
        strict: whether all that don't count must have one length.
    """

    sources: list[tuple[ast.expr, bool, ast.expr]]
    strict: bool = False


def sources_of(iterable: ast.expr, target: ast.expr, effects: Effects) -> Over:
    """What a loop goes through, as far as it can be taken apart."""
    if isinstance(iterable, ast.Call) and isinstance(target, ast.Tuple):
        arguments = _positional(iterable, effects)
        if arguments is not None and not any(isinstance(p, ast.Starred) for p in (*arguments, *target.elts)):
            if effects.is_builtin(iterable.func, "enumerate") and len(arguments) in (1, 2):
                if len(target.elts) == 2:
                    zero = ast.copy_location(ast.Constant(0), iterable)
                    start = arguments[1] if len(arguments) == 2 else zero
                    inner = sources_of(arguments[0], target.elts[1], effects)
                    return Over([(start, True, target.elts[0]), *inner.sources], inner.strict)
            elif effects.is_builtin(iterable.func, "zip") and len(arguments) == len(target.elts) > 0:
                return _zipped(arguments, target.elts, _is_strict(iterable), effects)
    return Over([(iterable, False, target)])


def may_fail_later(iterable: ast.expr, effects: Effects) -> bool:
    """Whether what a loop goes through is computed, or compared, as the loop goes on."""
    match iterable:
        case ast.GeneratorExp():
            return True
        case ast.Call(function, arguments, _):
            if any(effects.is_builtin(function, name) for name in ("map", "filter")):
                return True
            if any(effects.is_builtin(function, name) for name in ("enumerate", "iter", "zip")):
                return _is_strict(iterable) or any(may_fail_later(a, effects) for a in arguments)
    return False


def _zipped(arguments: list[ast.expr], targets: list[ast.expr], strict: bool, effects: Effects) -> Over:
    """What `zip` of some arguments goes through; those that compare lengths otherwise stay as they are."""
    found = []
    for argument, target in zip(arguments, targets, strict=True):
        inner = sources_of(argument, target, effects)
        lengths = [counted for _, counted, _ in inner.sources].count(False)
        if inner.strict or (strict and lengths != 1):
            inner = Over([(argument, False, target)])
        found += inner.sources
    return Over(found, strict)


def _positional(iterable: ast.Call, effects: Effects) -> list[ast.expr] | None:
    """The arguments of a call, as if all were given by position; None where that can't be done."""
    match iterable:
        case ast.Call(_, arguments, []):
            return arguments
        case ast.Call(function, [argument], [ast.keyword("start", start)]):
            if effects.is_builtin(function, "enumerate"):
                return [argument, start]
        case ast.Call(function, arguments, [ast.keyword("strict", ast.Constant(bool()))]):
            if effects.is_builtin(function, "zip"):
                return arguments
    return None


def _is_strict(call: ast.Call) -> bool:
    """Whether a `zip` compares lengths, or may."""
    given = [k.value for k in call.keywords if k.arg in ("strict", None)]
    return any(not (isinstance(value, ast.Constant) and value.value is False) for value in given)
