"""Dicts: insertion-ordered maps from numbers, strings, or tuples and frozen instances of them, with a hash
table by open addressing.

A dict is a reference to a list of one item: the list of its entries (the leaves of the key, then those of
the value) and the table, a list of integers whose length is a power of two: the position of an entry, or
-1. A key that is deleted leaves by a rebuilt table, as rarely as programs delete.
"""

from __future__ import annotations

import ast
from collections import Counter
from typing import Any

from gendsl.compiler import hir
from gendsl.compiler.front import library_counters, texts
from gendsl.compiler.front.frame import Frame
from gendsl.compiler.front.instances import asks_python, is_key_by_parts
from gendsl.compiler.front.lists import writable
from gendsl.compiler.front.numbers import negation, to_integer
from gendsl.compiler.front.table_functions import (
    FIRST,
    NO_KEY,
    PARTS,
    finder,
    getter,
    maker,
    rebuilder,
    setter,
)
from gendsl.compiler.hir import Const, Expr, Op, Var
from gendsl.compiler.hir.failures import NotClosed
from gendsl.compiler.hir.types import (
    NEVER,
    Closure,
    Dict,
    Iterator,
    Joined,
    Known,
    List,
    Number,
    Tuple,
    Type,
    Union,
    describe,
    goes_once,
    is_unhashable,
    leaves,
)
from gendsl.compiler.hir.types import Text as TextType
from gendsl.compiler.hir.values import (
    NONE,
    NOTHING,
    Value,
    alternatives_of,
    is_never,
    items_of,
    known,
    make_tuple,
    number,
    number_leaf,
)


def make(frame: Frame, node: ast.AST, what: Any = None, missing: Any = None) -> Value:
    """A new dict, made at a node; `missing` is as in its type."""
    site = frame.site(node, ("dict", what))
    var = frame.fresh("dict", "r")
    frame.emit(hir.Call([var], maker(frame, entry_layout(frame, site)), []))
    return Value(Dict(site, missing=missing), (var,))


def _types(frame: Frame, site: int) -> tuple[Type, Type]:
    facts = frame.program.facts
    return facts.item(site, "key"), facts.item(site, "value")


def entry_layout(frame: Frame, site: int) -> tuple[str, ...]:
    """The kinds of the leaves of an entry."""
    key, value = _types(frame, site)
    return (*leaves(key), *leaves(value))


def _parts(frame: Frame, value: Value) -> tuple[Var, Var]:
    entries, table = frame.fresh("entries", "r"), frame.fresh("table", "r")
    frame.emit(hir.Load([entries, table], value.leaf, PARTS, FIRST))
    return entries, table


def length(frame: Frame, value: Value) -> Expr:
    """The number of entries."""
    assert isinstance(value.type, Dict)
    entries, _ = _parts(frame, value)
    var = frame.fresh("n", "i")
    frame.emit(hir.Length(var, entries, entry_layout(frame, value.type.site)))
    return var


def _checked_key(frame: Frame, type: Type) -> None:
    match type:
        case Number() | TextType() | Joined():
            return
        case Tuple(items) if is_key_by_parts(type) and not any(isinstance(item, Joined) for item in items):
            for item in items:
                _checked_key(frame, item)
            return
        case Union(alternatives):  # an alternative that a key has not has zeros for leaves
            for one in alternatives:
                _checked_key(frame, one)
            classes = {one.cls for one in alternatives if isinstance(one, Tuple)}
            if sum(issubclass(cls, tuple) for cls in classes) > 1:
                raise frame.not_closed("tuples of several classes as keys of a dict: two may be equal")
            return
    if isinstance(type, Known) and asks_python(Value(type), "__eq__", "__hash__"):
        raise frame.not_closed(f"{describe(type)}, which says itself what is equal to it, as a key of a dict")
    if isinstance(type, List) and frame.program.facts.sequence(type.site) is tuple:
        raise frame.not_closed("a tuple as a key of a dict, whose length only a run tells")
    if type != NEVER and (leaves(type) or isinstance(type, Tuple)):
        raise frame.not_closed(f"{describe(type)} as a key of a dict")


def _as_key(frame: Frame, key: Value) -> Value:
    """A key without the alternatives of its type that no key can have."""
    if isinstance(key.type, Tuple) and key.type.cls is tuple:
        items = items_of(key)
        if any(isinstance(item.type, Union) for item in items):
            return make_tuple([_as_key(frame, item) for item in items])
    return frame.without(key, is_unhashable)


def _known_key(frame: Frame, value: Value, key: Value) -> Type | None:
    """The type of the keys of a dict, of which one is now looked for; None if there are none yet."""
    assert isinstance(value.type, Dict)
    site, facts = value.type.site, frame.program.facts
    if facts.item(site, "key") == NEVER or is_never(key):
        return None
    _checked_key(frame, key.type)  # before it is learnt that the dict has such keys
    try:
        kind = facts.grow_item(site, key.type, "key")
    except NotClosed as error:
        raise frame.not_closed(error.reason) from None
    _checked_key(frame, kind)
    texts.check_alternatives(frame, kind)
    return kind


def find(frame: Frame, value: Value, key: Value) -> Expr:
    """The position of the entry of a key, or -1."""
    assert isinstance(value.type, Dict)
    key = texts.as_alternative(frame, _as_key(frame, key), _types(frame, value.type.site)[0])
    kind = _known_key(frame, value, key)
    if kind is None:
        return Const(-1, "i")
    entries, table = _parts(frame, value)
    var = frame.fresh("at", "i")
    given = list(frame.program.facts.convert(key, kind))
    function = finder(frame, leaves(kind), entry_layout(frame, value.type.site))
    frame.emit(hir.Call([var], function, [entries, table, *given]))
    return var


def item(frame: Frame, value: Value, key: Value) -> Value:
    """`value[key]`; fails where there is no such key, or has what a `defaultdict` or `Counter` has there."""
    assert isinstance(value.type, Dict)
    if value.type.missing is not None:
        key = frame.atoms(key)
        at = frame.atom(find(frame, value, key), "at")
        return frame.branch(
            Op("ge", (at, FIRST), "b"),
            lambda: at_position(frame, value, at)[1],
            lambda: _missing(frame, value, key),
        )
    under = frame.program.facts.value_under(value.type.site, key.type)
    key = texts.as_alternative(frame, _as_key(frame, key), _types(frame, value.type.site)[0])
    kind = _known_key(frame, value, key)
    if kind is None or is_never(Value(under)):
        frame.fail_if(hir.TRUE, NO_KEY, KeyError)
        return NOTHING
    if frame.handler(KeyError) is not None:
        at = find(frame, value, key)
        frame.fail_if(Op("lt", (at, FIRST), "b"), NO_KEY, KeyError)
        return narrowed(frame, at_position(frame, value, at)[1], under)
    facts, site = frame.program.facts, value.type.site
    item_type = facts.grow_item(site, under, "value")
    targets = [frame.fresh("t", leaf) for leaf in leaves(item_type)]
    function = getter(frame, leaves(kind), entry_layout(frame, site))
    frame.emit(hir.Call(list(targets), function, [value.leaf, *facts.convert(key, kind)]))
    return narrowed(frame, Value(item_type, tuple(targets)), under)


def narrowed(frame: Frame, value: Value, type: Type) -> Value:
    """A value that is known to be of a type that its own has among others; as it is where that is no news."""
    facts = frame.program.facts
    mine, type = facts.canonical(value.type), facts.canonical(type)
    if isinstance(type, Known):
        return Value(type, ())
    if mine == type or isinstance(type, Union):
        return value
    if isinstance(mine, Union):
        return narrowed(frame, alternatives_of(value)[facts.alternative(type, mine)], type)
    if not isinstance(mine, Number) or not isinstance(type, Number):
        return value
    leaf = frame.atom(number_leaf(value))
    if mine.kind == "f" != type.kind:
        is_large = Op("ge", (Op("abs", (leaf,), "f"), Const(2.0**53, "f")), "b")
        frame.fail_if(is_large, "a large integer among floats")
        leaf = to_integer(frame, leaf, "trunc").leaf
    if type.kind == "b" != mine.kind:
        leaf = Op("ne", (leaf, FIRST), "b")
    return Value(type, (leaf,))


def _missing(frame: Frame, value: Value, key: Value) -> Value:
    """What `value[key]` is where there is no such key."""
    assert isinstance(value.type, Dict)
    if value.type.missing is Counter:
        return known(0)
    if value.type.frozen:
        frame.fail("a key that a defaultdict gets, which the program was given")
        return NOTHING
    missing = value.type.missing
    factory = missing.at_hand(frame) if isinstance(missing, Factory) else known(missing)
    new = frame.atoms(frame.language.call(frame, factory, [], {}))
    store(frame, value, key, new)
    return new


def equal(frame: Frame, a: Value, b: Value) -> Expr:
    """Whether two dicts have the same keys with equal values, in whatever order."""
    assert isinstance(a.type, Dict) and isinstance(b.type, Dict)
    if Counter in (a.type.missing, b.type.missing):
        raise frame.not_closed("== of a Counter")
    same = frame.set(Op("eq", (length(frame, a), length(frame, b)), "b"), "same")

    def check(pair: Value) -> None:
        key, mine = (frame.atoms(one) for one in items_of(pair))
        at = frame.atom(find(frame, b, key), "at")

        def theirs() -> Value:
            return number(frame.language.equal_parts(frame, mine, at_position(frame, b, at)[1]))

        there = frame.branch(Op("ge", (at, FIRST), "b"), theirs, lambda: number(hir.FALSE))
        inner: hir.Body = [hir.Set([same], [hir.FALSE])]
        frame.emit(hir.If(negation(there.leaf), inner, []))

    frame.language.each(frame, frame.here, Value(Iterator("items", (a.type,)), a.leaves), check)
    return same


def at_position(frame: Frame, value: Value, at: Expr) -> tuple[Value, Value]:
    """The key and the value of the entry at a position."""
    assert isinstance(value.type, Dict)
    key, kind = _types(frame, value.type.site)
    if key == NEVER:
        return NOTHING, NOTHING
    entries, _ = _parts(frame, value)
    targets = [frame.fresh("t", k) for k in (*leaves(key), *leaves(kind))]
    if targets:
        frame.emit(hir.Load(list(targets), entries, entry_layout(frame, value.type.site), at))
    split = len(leaves(key))
    return Value(key, tuple(targets[:split])), Value(kind, tuple(targets[split:]))


def store(frame: Frame, value: Value, key: Value, new: Value) -> None:
    """`value[key] = new`."""
    assert isinstance(value.type, Dict)
    site, facts = value.type.site, frame.program.facts
    if is_never(key) or is_never(new):
        return
    writable(frame, value)
    of_key = key.type
    key = texts.as_alternative(frame, _as_key(frame, key), facts.item(site, "key"))
    _checked_key(frame, key.type)
    kind = facts.grow_item(site, key.type, "key")
    item_type = facts.grow_value(site, of_key, new.type)
    _checked_key(frame, kind)
    texts.check_alternatives(frame, kind)
    given = (*facts.convert(key, kind), *facts.convert(new, item_type))
    function = setter(frame, leaves(kind), entry_layout(frame, site))
    frame.emit(hir.Call([], function, [value.leaf, *given]))


def remove(frame: Frame, value: Value, key: Value) -> Value:
    """`del value[key]`, or `value.pop(key)`; fails where there is no such key."""
    assert isinstance(value.type, Dict)
    writable(frame, value)
    at = frame.atom(find(frame, value, key), "at")
    frame.fail_if(Op("lt", (at, Const(0, "i")), "b"), NO_KEY, KeyError)
    found = at_position(frame, value, at)[1]
    layout = entry_layout(frame, value.type.site)
    entries, _ = _parts(frame, value)
    n, i = frame.fresh("n", "i"), frame.fresh("i", "i")
    frame.emit(hir.Length(n, entries, layout))
    last = frame.set(Op("sub", (n, Const(1, "i")), "i"), "last")
    body: hir.Body = []
    frame.emit(hir.For(i, at, last, Const(1, "i"), body, frame.program.new_label()))
    with frame.into(body):
        old = [frame.fresh("t", k) for k in layout]
        if old:
            frame.emit(hir.Load(list(old), entries, layout, Op("add", (i, Const(1, "i")), "i")))
            frame.emit(hir.Store(entries, layout, i, tuple(old)))
    frame.emit(hir.Truncate(entries, layout, last))
    kind = _types(frame, value.type.site)[0]
    frame.emit(hir.Call([], rebuilder(frame, leaves(kind), layout, whole=True), [value.leaf]))
    return found


def clear(frame: Frame, value: Value) -> None:
    """`value.clear()`."""
    assert isinstance(value.type, Dict)
    writable(frame, value)
    layout = entry_layout(frame, value.type.site)
    found, _ = _parts(frame, value)
    frame.emit(hir.Truncate(found, layout, FIRST))
    kind = _types(frame, value.type.site)[0]
    frame.emit(hir.Call([], rebuilder(frame, leaves(kind), layout, whole=True), [value.leaf]))


def entries(frame: Frame, value: Value, what: str) -> tuple[Expr, Any]:
    """The number of entries, and a function that gives the key, the value or both at a position."""

    def at(i: Expr) -> Value:
        key, kept = at_position(frame, value, i)
        if what == "keys":
            return key
        return kept if what == "values" else make_tuple([key, kept])

    return length(frame, value), at


def method(frame: Frame, value: Value, name: str, args: list[Value]) -> Value:
    """A method of a dict."""
    assert isinstance(value.type, Dict)
    match name, args:
        case "get", [key, *rest]:
            otherwise = rest[0] if rest else NONE
            at = frame.atom(find(frame, value, key), "at")
            return frame.branch(
                Op("ge", (at, FIRST), "b"),
                lambda: at_position(frame, value, at)[1],
                lambda: otherwise,
            )
        case "setdefault", [key, default]:
            key = frame.atoms(key)
            at = frame.atom(find(frame, value, key), "at")
            default = frame.atoms(default)

            def add() -> Value:
                store(frame, value, key, default)
                return default

            return frame.branch(Op("ge", (at, FIRST), "b"), lambda: at_position(frame, value, at)[1], add)
        case "pop", [key]:
            return remove(frame, value, key)
        case "pop", [key, otherwise]:
            key = frame.atoms(key)
            at = frame.atom(find(frame, value, key), "at")
            there = Op("ge", (at, FIRST), "b")
            return frame.branch(there, lambda: remove(frame, value, key), lambda: otherwise)
        case "popitem", []:
            last = frame.atom(Op("sub", (length(frame, value), Const(1, "i")), "i"), "last")
            frame.fail_if(Op("lt", (last, FIRST), "b"), NO_KEY, KeyError)
            entry = make_tuple([frame.atoms(one) for one in at_position(frame, value, last)])
            remove(frame, value, items_of(entry)[0])
            return entry
        case "copy", []:
            return copied(frame, value, value.type.missing)
        case "update", [more] if isinstance(more.type, Dict) and value.type.missing is not Counter:
            update(frame, frame.here, value, more)
            return NONE
        case "update" | "subtract", [more] if value.type.missing is Counter:
            counts = isinstance(more.type, Dict)
            if not counts and goes_once(more.type):
                raise frame.not_closed(f"{name} of a Counter with an iterator")
            function = (_COUNTED if counts else _EACH_COUNTED)[name]
            return frame.language.call_function(frame, function, [value, more], {})
        case "most_common", [] | [_] if value.type.missing is Counter:
            return frame.language.most_common(frame, value, args)
        case "total", [] if value.type.missing is Counter:
            kept = Value(Iterator("values", (value.type,)), value.leaves)
            return frame.language.call(frame, known(sum), [kept], {})
        case "clear", []:
            clear(frame, value)
            return NONE
    raise frame.not_closed(f"the method {name} of a dict with these arguments")


_COUNTED: dict[str, Any] = {"update": library_counters.add_counts, "subtract": library_counters.take_counts}
_EACH_COUNTED: dict[str, Any] = {"update": library_counters.count_all, "subtract": library_counters.take_all}


def copied(frame: Frame, value: Value, missing: Any = None) -> Value:
    """A copy of a dict."""
    made = make(frame, frame.here, "copy", missing)
    update(frame, frame.here, made, value)
    return made


def check_united(frame: Frame, a: Value, b: Value) -> None:
    """Raise NotClosed for counters, of which it is the greater number that is kept."""
    if Counter in (a.type.missing, b.type.missing):  # type: ignore[attr-defined]
        raise frame.not_closed("`|` of counters")


def united(frame: Frame, a: Value, b: Value) -> Value:
    """`a | b` of two dicts."""
    check_united(frame, a, b)
    made = copied(frame, a, a.type.missing)  # type: ignore[attr-defined]
    frame.unrolled += ("second",)
    update(frame, frame.here, made, b)
    frame.unrolled = frame.unrolled[:-1]
    return made


def update(frame: Frame, node: ast.AST, value: Value, more: Value) -> None:
    """`value.update(more)` of two dicts."""

    def add(pair: Value) -> None:
        key, kept = items_of(pair)
        store(frame, value, key, kept)

    frame.language.each(frame, node, Value(Iterator("items", (more.type,)), more.leaves), add)


class Factory:
    """What a `defaultdict` calls that is a nested function, which looks up what it uses when it is called.

    It may be called where that is sure to be what it was, and what it will be: in the text of the function
    that made it, of variables with one value.
    """

    def __init__(self) -> None:
        self.value = NOTHING
        self.refused = ""

    def at_hand(self, frame: Frame) -> Value:
        """The nested function, where it is called."""
        assert isinstance(self.value.type, Closure)
        made_in: Frame = self.value.type.frame
        if self.refused and made_in.text is not frame.text:
            raise frame.not_closed(self.refused)
        return self.value
