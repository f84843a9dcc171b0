"""The functions of the text that make, search and change dicts; `tables` says how these lie in memory."""

from __future__ import annotations

from typing import Any

from gendsl.compiler import hir
from gendsl.compiler.front.frame import Frame
from gendsl.compiler.front.names import Text
from gendsl.compiler.front.numbers import NAN_IN_CONTAINER
from gendsl.compiler.hir import Const, Expr, Op, Var

PARTS = ("r", "r")
"""The leaves of the one item of a dict: its entries, and the table."""
FIRST = Const(0, "i")
NO_KEY = "a key that is not there"


def _hash(key: list[Expr]) -> Expr:
    result: Expr = Const(0, "i")
    for leaf in key:
        bits = (
            Op("bits", (leaf,), "i")
            if leaf.kind == "f"
            else Op("int", (leaf,), "i")
            if leaf.kind == "b"
            else leaf
        )
        result = Op("mix", (result, bits), "i")
    return result


def _helper(
    frame: Frame, name: str, layout: tuple[Any, ...], origin: str, results: list[str]
) -> tuple[hir.Function, Text | None]:
    """A function for dicts of a layout, and what its body is to be made with if it is not made yet."""
    memo = frame.program.helpers
    if (name, layout) in memo:
        known: hir.Function = memo[name, layout]
        return known, None
    function = hir.Function(frame.program.function_name(name), results=results, origin=origin)
    function.on_dict = name, 0 if name == "new_dict" else len(layout[0])
    memo[name, layout] = function
    return function, Text(function)


def maker(frame: Frame, layout: tuple[str, ...]) -> hir.Function:
    """`new_dict()`: an empty dict."""
    function, text = _helper(frame, "new_dict", layout, "an empty dict", ["r"])
    if text is not None:
        entries, table, made = (Var(text.fresh(hint), "r") for hint in ("entries", "table", "dict"))
        function.body = [
            hir.New(entries, layout, []),
            hir.Fill(table, ("i",), Const(8, "i"), (Const(-1, "i"),)),
            hir.New(made, PARTS, [(entries, table)]),
            hir.Return([made]),
        ]
    return function


def getter(frame: Frame, key: tuple[str, ...], layout: tuple[str, ...]) -> hir.Function:
    """`get(dict, *key)`: the leaves of the value of a key; fails where there is no such key."""
    origin = "the value of a key in a dict"
    function, text = _helper(frame, "get", (key, layout), origin, list(layout[len(key) :]))
    if text is not None:
        dict_, entries, table = (Var(text.fresh(hint), "r") for hint in ("dict", "entries", "table"))
        given, at = [Var(text.fresh("key"), kind) for kind in key], Var(text.fresh("at"), "i")
        other = [Var(text.fresh("t"), kind) for kind in layout]
        function.parameters = [dict_, *given]
        function.body = [
            hir.Load([entries, table], dict_, PARTS, FIRST),
            hir.Call([at], finder(frame, key, layout), [entries, table, *given]),
            hir.If(Op("lt", (at, FIRST), "b"), [hir.Fail(NO_KEY)], []),
            *([hir.Load(list(other), entries, layout, at)] if layout else []),
            hir.Return(list(other[len(key) :])),
        ]
    return function


def setter(frame: Frame, key: tuple[str, ...], layout: tuple[str, ...]) -> hir.Function:
    """`put(dict, *key, *value)`: give a key a value; the key stays the one that came first."""
    function, text = _helper(frame, "put", (key, layout), "a key of a dict is given a value", [])
    if text is not None:
        dict_, entries, table = (Var(text.fresh(hint), "r") for hint in ("dict", "entries", "table"))
        given = [Var(text.fresh("key"), kind) for kind in key]
        new = [Var(text.fresh("value"), kind) for kind in layout[len(key) :]]
        old, at = [Var(text.fresh("t"), kind) for kind in layout], Var(text.fresh("at"), "i")
        function.parameters = [dict_, *given, *new]
        found: hir.Body = [
            hir.Load(list(old), entries, layout, at),
            hir.Store(entries, layout, at, (*old[: len(key)], *new)),
        ]
        added: hir.Body = [
            hir.Append(entries, layout, (*given, *new)),
            hir.Call([], rebuilder(frame, key, layout), [dict_]),
        ]
        function.body = [
            hir.Load([entries, table], dict_, PARTS, FIRST),
            hir.Call([at], finder(frame, key, layout), [entries, table, *given]),
            hir.If(Op("ge", (at, FIRST), "b"), found if layout else [], added),
            hir.Return([]),
        ]
    return function


def finder(frame: Frame, key: tuple[str, ...], layout: tuple[str, ...]) -> hir.Function:
    """`find(entries, table, *key)`: the position of the entry of a key, or -1."""
    function, text = _helper(frame, "find", (key, layout), "the entry of a key in a dict", ["i"])
    if text is None:
        return function
    entries, table = Var(text.fresh("entries"), "r"), Var(text.fresh("table"), "r")
    given = [Var(text.fresh("key"), kind) for kind in key]
    function.parameters = [entries, table, *given]
    size, place, at, label = (
        Var(text.fresh("size"), "i"),
        Var(text.fresh("place"), "i"),
        Var(text.fresh("at"), "i"),
        0,
    )
    other = [Var(text.fresh("t"), kind) for kind in layout]
    same: Expr = hir.TRUE
    for mine, theirs in zip(given, other, strict=False):
        test = Op("eq", (mine, theirs), "b")
        same = test if same is hir.TRUE else Op("and", (same, test), "b")
    load: list[hir.Statement] = [hir.Load(list(other), entries, layout, at)] if layout else []
    step = Op("bitand", (Op("add", (place, Const(1, "i")), "i"), Op("sub", (size, Const(1, "i")), "i")), "i")
    start = Op("bitand", (_hash(list(given)), Op("sub", (size, Const(1, "i")), "i")), "i")
    floats = [one for one in given if one.kind == "f"]
    function.body = [
        *(hir.If(Op("isnan", (one,), "b"), [hir.Fail(NAN_IN_CONTAINER)], []) for one in floats),
        hir.Length(size, table, ("i",)),
        hir.Set([place], [start]),
        hir.Loop(
            [
                hir.Load([at], table, ("i",), place),
                hir.If(Op("lt", (at, FIRST), "b"), [hir.Return([Const(-1, "i")])], []),
                *load,
                hir.If(same, [hir.Return([at])], []),
                hir.Set([place], [step]),
            ],
            label,
        ),
    ]
    return function


def rebuilder(
    frame: Frame, key: tuple[str, ...], layout: tuple[str, ...], *, whole: bool = False
) -> hir.Function:
    """`enter(dict)`: put the last entry into the table, or all of them into a larger one where it is full."""
    name = "rebuild" if whole else "enter"
    function, text = _helper(frame, name, (key, layout), "the table of a dict", [])
    if text is None:
        return function
    dict_, entries, table = (Var(text.fresh(hint), "r") for hint in ("dict", "entries", "table"))
    function.parameters = [dict_]
    n, size, i, place, at = (Var(text.fresh(hint), "i") for hint in ("n", "size", "i", "place", "at"))
    other = [Var(text.fresh("t"), kind) for kind in layout]
    mask = Op("sub", (size, Const(1, "i")), "i")

    def insert(label: int) -> hir.Body:
        return [
            *([hir.Load(list(other), entries, layout, i)] if layout else []),
            hir.Set([place], [Op("bitand", (_hash(list(other[: len(key)])), mask), "i")]),
            hir.Loop(
                [
                    hir.Load([at], table, ("i",), place),
                    hir.If(Op("lt", (at, FIRST), "b"), [hir.Leave(label)], []),
                    hir.Set([place], [Op("bitand", (Op("add", (place, Const(1, "i")), "i"), mask), "i")]),
                ],
                label,
            ),
            hir.Store(table, ("i",), place, (i,)),
        ]

    grown: hir.Body = [hir.Set([size], [Op("mul", (size, Const(4, "i")), "i")])]
    fresh: hir.Body = [
        *([] if whole else grown),
        hir.Fill(table, ("i",), size, (Const(-1, "i"),)),
        hir.Store(dict_, PARTS, FIRST, (entries, table)),
        hir.For(i, FIRST, n, Const(1, "i"), insert(2), 1),
    ]
    last: hir.Body = [hir.Set([i], [Op("sub", (n, Const(1, "i")), "i")]), *insert(3)]
    full = Op("gt", (Op("mul", (n, Const(2, "i")), "i"), size), "b")
    function.body = [
        hir.Load([entries, table], dict_, PARTS, FIRST),
        hir.Length(n, entries, layout),
        hir.Length(size, table, ("i",)),
        *(fresh if whole else [hir.If(full, fresh, last)]),
        hir.Return([]),
    ]
    return function
