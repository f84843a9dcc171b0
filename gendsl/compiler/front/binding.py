"""The arguments of calls, and the parameters that they are for.

`f(*values)` and `f(**mapping)` of a list and of a dict are told by what these have when the text runs.
"""

from __future__ import annotations

import ast
from types import FunctionType
from typing import Any

from gendsl.compiler import hir
from gendsl.compiler.front import tables
from gendsl.compiler.front.comprehensions import iterable, list_comprehension
from gendsl.compiler.front.containers import item, length
from gendsl.compiler.front.frame import Frame
from gendsl.compiler.front.lists import append, as_tuple, copied, extend, list_of
from gendsl.compiler.front.loops import each
from gendsl.compiler.front.numbers import is_plain_tuple
from gendsl.compiler.front.operators import equal
from gendsl.compiler.hir import Const, Expr, Op
from gendsl.compiler.hir.types import Array, Closure, Dict, Iterator, Known, List, Method, Rest, Set, describe
from gendsl.compiler.hir.values import NONE, Value, is_never, is_number, items_of, known, make_tuple

MAPPING = "**"
"""Stands among the arguments by name for a dict with more of them."""


def arguments(
    frame: Frame, node: ast.Call, *, lazy: bool = False, shown: bool = False
) -> tuple[list[Value], dict[str, Value]]:
    """The values of the arguments of a call.

    Args:
        lazy: generators are not gone through yet.
        shown: a list that is shown as the first argument is only gone through, so that it may be a tuple.
    """
    args: list[Value] = []
    for part in node.args:
        if args and has_rest(args):
            value = None if isinstance(part, ast.Starred) else frame.atoms(_expression(frame, part))
            if value is None or not is_number(value):
                raise frame.not_closed("arguments behind a star whose length is not known", node)
            append(frame, items_of(args[-1])[0], value)
            continue
        if shown and part is node.args[0] and is_plain_display(part):
            items = [frame.atoms(_expression(frame, one)) for one in part.elts]  # type: ignore[attr-defined]
            args.append(make_tuple(items))
            continue
        if isinstance(part, ast.Starred):
            args += _starred(frame, node, part)
            continue
        if isinstance(part, ast.GeneratorExp):
            args.append(iterable(frame, part) if lazy else list_comprehension(frame, part))
            continue
        args.append(frame.atoms(_expression(frame, part)))
    named: dict[str, Value] = {}
    for keyword in node.keywords:
        for name, value in _by_name(frame, keyword):
            if name in named:
                if name == MAPPING:
                    raise frame.not_closed("** twice in a call", node)
                frame.fail(f"the argument {name} is given twice")
            named[name] = value
    return args, named


def _expression(frame: Frame, node: ast.expr) -> Value:
    return frame.language.expression(frame, node)


def is_plain_display(node: ast.expr) -> bool:
    """Whether an expression shows the items of a list."""
    return isinstance(node, ast.List) and not any(isinstance(one, ast.Starred) for one in node.elts)


def _starred(frame: Frame, node: ast.Call, part: ast.Starred) -> list[Value]:
    """The arguments of `*part`."""
    starred = part.value
    if isinstance(starred, (ast.List, ast.Tuple)):  # a display, of which nobody else sees the list
        return arguments(frame, ast.copy_location(ast.Call(node.func, starred.elts, []), node))[0]
    value = _expression(frame, starred)
    if is_plain_tuple(value.type):
        return items_of(value)
    if not isinstance(value.type, (List, Array, Iterator)):
        raise frame.not_closed("a star argument whose length is not known", node)
    given = list_of(frame, part, [], "rest")
    extend(frame, part, given, value)
    return [make_tuple([given], Rest)]


def _by_name(frame: Frame, keyword: ast.keyword) -> list[tuple[str, Value]]:
    """The arguments by name of a keyword, or of `**mapping`."""
    if keyword.arg is not None:
        return [(keyword.arg, frame.atoms(_expression(frame, keyword.value)))]
    shown = keyword.value
    if isinstance(shown, ast.Dict):
        keys = [one.value if isinstance(one, ast.Constant) else None for one in shown.keys]
        if all(isinstance(key, str) for key in keys):
            return [
                (str(key), frame.atoms(_expression(frame, one)))
                for key, one in zip(keys, shown.values, strict=True)
            ]
    value = _expression(frame, shown)
    if is_never(value):
        return []
    if not isinstance(value.type, Dict) or value.type.missing is not None:
        raise frame.not_closed(f"** of {describe(value.type)} in a call", shown)
    return [(MAPPING, tables.copied(frame, value))]


# --- what is told when the text runs -------------------------------------------------------------------


def has_rest(args: list[Value]) -> bool:
    """Whether the last of the arguments by place is a list of more of them."""
    return bool(args) and getattr(args[-1].type, "cls", None) is Rest


def check_spread(
    frame: Frame, function: Value, args: list[Value], named: dict[str, Value]
) -> list[Value]:
    """The arguments by place; lists and dicts of them are refused where the parameters are not those of a
    user's function.
    """
    if not has_rest(args) and MAPPING not in named:
        return args
    found = getattr(function.type, "value", None) if isinstance(function.type, Known) else None
    if isinstance(function.type, Method):
        found = function.type.function
    module = str(getattr(found, "__module__", "")).partition(".")[0]
    own = isinstance(found, FunctionType) and module not in ("numpy", "scipy", "gendsl", "collections")
    if found is zip and MAPPING not in named:
        return args
    if found == "union" and isinstance(function.type, Method) and isinstance(function.type.owner, Set):
        return args
    alone = len(args) == 1 and not {MAPPING, "default"} & named.keys()
    if found in (max, min) and alone:  # they take one list, too
        (given,) = items_of(args[0])
        few = Op("lt", (frame.language.length(frame, given), Const(2, "i")), "b")
        frame.fail_if(few, f"{found.__name__} of one value, which is none of several")
        return [given]
    if not own and not isinstance(function.type, Closure):
        what = "a star argument whose length is not known" if has_rest(args) else "** of a dict in a call"
        raise frame.not_closed(what)
    return args


def bound(
    frame: Frame, node: Any, defaults: dict[str, Value], args: list[Value], named: dict[str, Value], name: str
) -> dict[str, Value] | None:
    """The parameters of a function with the values that a call gives them; None where they don't fit."""
    arguments = node.args
    positional = [a.arg for a in (*arguments.posonlyargs, *arguments.args)]
    rest = items_of(args[-1])[0] if has_rest(args) else None
    args = args[:-1] if rest is not None else args
    mapping = named.get(MAPPING)
    named = {key: value for key, value in named.items() if key != MAPPING}
    found: dict[str, Value] = dict(zip(positional, args, strict=False))
    more = args[len(positional) :]
    if more and arguments.vararg is None:
        return None
    every = [*positional, *(a.arg for a in arguments.kwonlyargs)]
    only_placed = {a.arg for a in arguments.posonlyargs}
    others: dict[str, Value] = {}
    for key, value in named.items():
        if key in found and not (key in only_placed and arguments.kwarg is not None):
            return None
        if key in every and key not in only_placed:
            found[key] = value
        elif arguments.kwarg is not None:
            others[key] = value
        else:
            return None
    if rest is not None:
        _from_list(frame, rest, positional, defaults, found, more, arguments.vararg)
    elif arguments.vararg is not None:
        found[arguments.vararg.arg] = make_tuple(more)
    extra: Value | None = None
    if arguments.kwarg is not None:
        extra = found[arguments.kwarg.arg] = tables.make(frame, frame.here, ("arguments", name))
        for key, value in others.items():
            tables.store(frame, extra, known(key), value)
    if mapping is not None:
        _from_dict(frame, mapping, [key for key in every if key not in only_placed], defaults, found, extra)
    for key in every:
        if key not in found:
            if key not in defaults:
                return None
            found[key] = defaults[key]
    return found


def _from_list(
    frame: Frame,
    rest: Value,
    positional: list[str],
    defaults: dict[str, Value],
    found: dict[str, Value],
    before: list[Value],
    vararg: ast.arg | None,
) -> None:
    """Give parameters the items of a list, in order."""
    open_ = [key for key in positional if key not in found]
    start = positional.index(open_[0]) if open_ else len(positional)
    open_ = [key for key in positional[start:] if key not in found]
    if any(key in found for key in positional[start:]):  # by name: the items must end before it
        vararg_here = None
        open_ = positional[start : next(i for i in range(start, len(positional)) if positional[i] in found)]
    else:
        vararg_here = vararg
    n = frame.atom(length(frame, rest), "n")
    least = sum(key not in defaults for key in open_)
    frame.fail_if(Op("lt", (n, Const(least, "i")), "b"), "too few arguments")
    if vararg_here is None:
        frame.fail_if(Op("gt", (n, Const(len(open_), "i")), "b"), "too many arguments")
    for i, key in enumerate(open_):
        at = Const(i, "i")
        if key not in defaults:
            found[key] = frame.atoms(item(frame, rest, at))
        else:
            found[key] = _one_or(
                frame, Op("gt", (n, at), "b"), lambda at=at: item(frame, rest, at), defaults[key]
            )
    if vararg is None:
        return
    made = list_of(frame, frame.here, [], "placed")
    for value in before:
        append(frame, made, value)
    if vararg_here is not None:
        stop, step = n, Const(1, "i")
        extend(frame, frame.here, made, copied(frame, frame.here, rest, Const(len(open_), "i"), stop, step))
    found[vararg.arg] = as_tuple(frame, made)


def _from_dict(
    frame: Frame,
    mapping: Value,
    names: list[str],
    defaults: dict[str, Value],
    found: dict[str, Value],
    extra: Value | None,
) -> None:
    """Give parameters the values of a dict, by its keys; the others are `extra`."""
    used: Expr = Const(0, "i")
    for key in names:
        at = frame.atom(tables.find(frame, mapping, known(key)), "at")
        there = Op("ge", (at, Const(0, "i")), "b")
        if key in found:
            frame.fail_if(there if not isinstance(at, Const) else hir.FALSE, f"{key} is given twice")
            continue
        if isinstance(at, Const):  # a dict to which nothing was added so far
            continue
        if key not in defaults:
            frame.fail_unless(there, f"{key} is not given")
        used = frame.atom(Op("add", (used, Op("int", (there,), "i")), "i"), "used")
        found[key] = _one_or(
            frame,
            there,
            lambda at=at: tables.at_position(frame, mapping, at)[1],
            defaults.get(key),
        )
    if extra is None:
        unknown = Op("ne", (used, tables.length(frame, mapping)), "b")
        frame.fail_if(unknown, "an argument that the function does not take")
        return

    def add(pair: Value) -> None:
        one, value = items_of(pair)
        one = frame.atoms(one)
        mine: Expr = hir.FALSE
        for key in names:
            mine = frame.atom(Op("or", (mine, equal(frame, one, known(key))), "b"))

        def store() -> Value:
            before = Op("ge", (tables.find(frame, extra, one), Const(0, "i")), "b")
            frame.fail_if(before, "an argument that is given twice")
            tables.store(frame, extra, one, value)
            return NONE

        frame.branch(mine, lambda: NONE, store)

    each(frame, frame.here, Value(Iterator("items", (mapping.type,)), mapping.leaves), add)


def _one_or(frame: Frame, test: Expr, one: Any, otherwise: Value | None) -> Value:
    """What there is where a test holds, else a default."""
    if otherwise is None:
        return frame.atoms(one())
    return frame.atoms(frame.branch(test, one, lambda: otherwise))
