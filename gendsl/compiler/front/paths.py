"""Tuples in addresses whose lengths are known only when the text runs: `("mean", *at)` and `("mean", at)`.

Each has a number, by which a choice is found as by an index. The numbers are those of the nodes of a tree,
which all programs that are lowered together share: 0 is (), and any other tuple has the number that the state
gives to its last item below the tuple of those before it, as it gives one to the address of a call.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gendsl.compiler import hir
from gendsl.compiler.front.frame import Frame
from gendsl.compiler.front.lists import as_tuple, extend, list_of, pieces_of
from gendsl.compiler.front.names import Text
from gendsl.compiler.front.numbers import is_plain_tuple
from gendsl.compiler.hir import Const, Expr, Op, Var
from gendsl.compiler.hir.joined import is_readable
from gendsl.compiler.hir.key_paths import ABOVE, EMPTY, code_of, segments
from gendsl.compiler.hir.types import (
    Joined,
    Known,
    List,
    Nested,
    Number,
    OneOf,
    PathPart,
    Tuple,
    Type,
    Union,
    describe,
    index_count,
    is_unhashable,
    leaves,
)
from gendsl.compiler.hir.types import Text as TextType
from gendsl.compiler.hir.values import (
    NONE,
    Value,
    alternatives_of,
    is_never,
    items_of,
    number,
    number_leaf,
    object_of,
)

if TYPE_CHECKING:
    from gendsl.compiler.hir.templates import Template

_FEW_LENGTHS = 2
"""Of how many lengths a tuple may be that each has code of its own, where others are added to it."""


def _is_tuple(frame: Frame, type: Type) -> bool:
    """Whether a type is one of tuples, of whatever length."""
    if isinstance(type, List):
        return frame.program.facts.sequence(type.site) is tuple
    if isinstance(type, Known):
        return type.value.__class__ is tuple
    return isinstance(type, Tuple) and type.cls is tuple


def is_path(frame: Frame, value: Value, *, few: bool = False) -> bool:
    """Whether a value is a tuple that is found by its number, as its length is known only when the text runs.

    Args:
        few: whether that is so of a tuple that has one of a few lengths, too.
    """
    type = value.type
    if isinstance(type, Union):
        several = few or len(type.alternatives) > _FEW_LENGTHS
        some = several or any(isinstance(one, List) for one in type.alternatives)
        return some and all(_is_tuple(frame, one) for one in type.alternatives)
    return isinstance(type, List) and _is_tuple(frame, type)


def listed(frame: Frame, value: Value) -> Value:
    """A tuple that is of one of several lengths as one whose length is known only when the text runs."""
    if not isinstance(value.type, Union):
        return value
    key = ("items", frame.program.facts.canonical(value.type))
    if key not in frame.program.helpers:
        made, inner, given = _helper(frame, "items", key, value.type, "r", "the items of a tuple")
        frame.program.helpers[key] = made, None
        found = list_of(inner, frame.node, [], "items")
        extend(inner, frame.node, found, given)
        inner.emit(hir.Return([found.leaf]))
        frame.program.helpers[key] = made, found.type
    made, kind = frame.program.helpers[key]
    items = frame.fresh("items", "r")
    frame.emit(hir.Call([items], made, list(value.leaves)))
    return as_tuple(frame, Value(kind, (items,)))


def _helper(
    frame: Frame, name: str, key: Any, type: Type, result: str, origin: str
) -> tuple[hir.Function, Frame, Value]:
    """A function of a value of a type, what its body is made with, and the value there."""
    made = hir.Function(frame.program.function_name(name), results=[result], origin=origin)
    inner = Frame(frame.program, Text(made), made.body, frame.node, None, frame.filename, key)
    inner.line = 0
    given = Value(type, tuple(inner.fresh("at", kind) for kind in leaves(type)))
    made.parameters = [leaf for leaf in given.leaves if isinstance(leaf, Var)]
    return made, inner, given


def number_of(frame: Frame, value: Value) -> Expr:
    """The number of a tuple."""
    if isinstance(value.type, (Union, List)):
        at = frame.fresh("path", "i")
        type = value.type
        function = _switching(frame, type) if isinstance(type, Union) else _function(frame, type)
        frame.emit(hir.Call([at], function, list(value.leaves)))
        frame.program.tuples[at] = value
        return at
    assert is_plain_tuple(value.type)
    return number_of_codes(frame, [_code(frame, item) for item in items_of(value)])


def number_of_codes(frame: Frame, codes: list[Expr]) -> Expr:
    """The number of a tuple of a known length, of the codes of its items."""
    at: Expr = Const(EMPTY, "i")
    for code in codes:
        node = frame.fresh("node", "i")
        frame.emit(hir.Node(node, frame.program.paths(), (at, frame.atom(code, "key"))))
        at = frame.set(Op("add", (node, Const(1, "i")), "i"), "path")
    frame.program.tuples[at] = codes
    return at


def cover(frame: Frame, full: tuple[Any, ...], indices: tuple[Expr, ...]) -> None:
    """Note, where a choice is made whose address ends with the items of a tuple, what these begin with."""
    if not frame.program.covers or indices[-1] == Const(EMPTY, "i"):
        return
    first, template = indices[:-1], frame.program.template(full, Tuple(()), ABOVE)

    def covered(value: Value) -> Value:
        if isinstance(value.type, List):
            function = _function(frame, value.type, template)
            frame.emit(hir.Call([frame.fresh("path", "i")], function, [*first, value.leaf]))
        else:
            from_codes([_code(frame, item) for item in items_of(value)])
        return NONE

    def from_codes(codes: list[Expr]) -> None:
        at: Expr = Const(EMPTY, "i")
        for i in range(len(codes)):
            frame.emit(_covered(template, first, at))
            at = number_of_codes(frame, codes[: i + 1])

    given = frame.program.tuples[indices[-1]]
    if isinstance(given, list):
        from_codes(given)
    else:
        frame.switch(given, covered)


def _covered(template: Any, first: tuple[Expr, ...], at: Expr) -> hir.Statement:
    return hir.Primitive([], "cover", (*first, at), (template,))


def code_of_part(frame: Frame, part: Any, index: Expr | None) -> Expr | None:
    """The code of an item that is a part of an address, with its index if it has one; None if it is none."""
    if isinstance(part, str):
        frame.program.facts.note_key(part)
        return Const(code_of(part, frame.program.facts.text_number), "i")
    if part is None or part is ...:
        assert index is not None
        return _coded(index, is_text=part is ...)
    return None


def _coded(leaf: Expr, *, is_text: bool) -> Expr:
    double = Op("mul", (leaf, Const(2, "i")), "i")
    return Op("add", (double, Const(1, "i")), "i") if is_text else double


def _code(frame: Frame, item: Value) -> Expr:
    """The code of an item: a number that no other integer or string has."""
    facts = frame.program.facts
    match item.type:
        case Known(value=str() as text):
            facts.note_key(text)
            return Const(code_of(text, facts.text_number), "i")
        case Known(value=int() as found) if not isinstance(found, bool) and 0 <= found < 2**31:
            return Const(code_of(found, facts.text_number), "i")
        case Number("i"):
            return _coded(item.leaf, is_text=False)
        case TextType(options):
            for one in (...,) if options is None else options:
                facts.note_key(one)
            return _coded(item.leaf, is_text=True)
        case Union():
            codes = [_code(frame, one) for one in alternatives_of(item)]
            result = codes[-1]
            for i in range(len(codes) - 2, -1, -1):
                test = Op("eq", (item.leaves[0], Const(i, "i")), "b")
                result = Op("select", (test, codes[i], result), "i")
            return result
    if is_never(item):
        return Const(0, "i")
    raise frame.not_closed(f"{describe(item.type)} in a tuple in an address")


def _switching(frame: Frame, type: Union) -> hir.Function:
    """`path_of(*leaves)`: the number of a tuple that is of one of several lengths."""
    key = ("path", frame.program.facts.canonical(type))
    if key not in frame.program.helpers:
        made, inner, given = _helper(frame, "path_of", key, type, "i", "the number of a tuple in an address")
        frame.program.helpers[key] = made
        found = inner.switch(given, lambda one: number(number_of(inner, one)))
        inner.emit(hir.Return([number_leaf(found, "i")]))
    return frame.program.helpers[key]  # type: ignore[no-any-return]


def _function(frame: Frame, type: List, above: Any = None) -> hir.Function:
    """`path(items)`: the number of a tuple.

    Args:
        above: the template of what the tuple begins with, if that is noted; its other indices are then the
            first parameters.
    """
    kind: Type = frame.program.facts.item(type.site)
    key = ("path", kind, above)
    if key not in frame.program.helpers:
        made = hir.Function(
            frame.program.function_name("path"), results=["i"], origin="the number of a tuple in an address"
        )
        frame.program.helpers[key] = made
        text, layout = Text(made), leaves(kind)
        items, n, i = Var(text.fresh("items"), "r"), Var(text.fresh("n"), "i"), Var(text.fresh("i"), "i")
        at, node = Var(text.fresh("at"), "i"), Var(text.fresh("node"), "i")
        key_leaves = [Var(text.fresh("key"), one) for one in layout]
        code = _code(frame, Value(kind, tuple(key_leaves)))
        load: hir.Body = [hir.Load(list(key_leaves), items, layout, i)] if layout else []
        deeper: list[Expr] = [Op("add", (node, Const(1, "i")), "i")]
        step: hir.Body = [*load, hir.Node(node, frame.program.paths(), (at, code)), hir.Set([at], deeper)]
        first = [Var(text.fresh("at"), "i") for _ in range(above.rank - 1)] if above else []
        if above is not None:
            step.insert(0, _covered(above, tuple(first), at))
        made.parameters = [*first, items]
        made.body = [
            hir.Length(n, items, layout),
            hir.Set([at], [Const(EMPTY, "i")]),
            hir.For(i, Const(0, "i"), n, Const(1, "i"), step, 0),
            hir.Return([at]),
        ]
    return frame.program.helpers[key]  # type: ignore[no-any-return]


def walked(frame: Frame, at: Expr, calls: Sequence[Template], start: Expr | None) -> Expr:
    """The node of the call, of a program that calls itself, that the items of a tuple lead to one by one.

    Args:
        at: the number of the tuple.
        calls: the templates of the calls, each of one string: those below another call of the program, and
            those where the tuple begins.
        start: the node of the call below which it begins; None if it begins outside of all.
    """
    given = frame.program.tuples[at]
    node = frame.fresh("node", "i")
    frame.emit(hir.Set([node], [Const(_OUTSIDE, "i") if start is None else start]))
    if isinstance(given, list):
        for code in given:
            for statement in _step(frame, node, code, calls, frame.fresh("child", "i")):
                frame.emit(statement)
    else:
        items = listed(frame, given)
        assert isinstance(items.type, List)
        frame.emit(hir.Call([node], _walking(frame, items.type, calls), [node, items.leaf]))
    return node


_OUTSIDE = -1
"""In place of the node of a call, where a tuple begins outside of all calls of the program."""


def _step(frame: Frame, node: Var, code: Expr, calls: Sequence[Template], child: Var) -> hir.Body:
    """From one call to that below it with a code."""
    found: hir.Body = [hir.Fail("a call that the program never makes", line=frame.line)]
    for one in calls:
        here = Op("eq" if one.context is None else "ne", (node, Const(_OUTSIDE, "i")), "b")
        text = Const(code_of(one.own[0], frame.program.facts.text_number), "i")
        below = () if one.context is None else (node,)
        step: hir.Body = [hir.Node(child, one, below), hir.Set([node], [child])]
        test = Op("and", (here, Op("eq", (code, text), "b")), "b")
        found = [hir.If(test, step, found)]
    return found


def _walking(frame: Frame, type: List, calls: Sequence[Template]) -> hir.Function:
    """`walked(node, items)`: where the items of a tuple lead to."""
    kind: Type = frame.program.facts.item(type.site)
    key = ("walked", kind, tuple(one.number for one in calls))
    if key not in frame.program.helpers:
        made = hir.Function(
            frame.program.function_name("walked"), results=["i"], origin="the call that a tuple leads to"
        )
        frame.program.helpers[key] = made
        text, layout = Text(made), leaves(kind)
        items, n, i = Var(text.fresh("items"), "r"), Var(text.fresh("n"), "i"), Var(text.fresh("i"), "i")
        node, child, code = (Var(text.fresh(name), "i") for name in ("node", "child", "code"))
        key_leaves = [Var(text.fresh("key"), one) for one in layout]
        load: hir.Body = [hir.Load(list(key_leaves), items, layout, i)] if layout else []
        coded = hir.Set([code], [_code(frame, Value(kind, tuple(key_leaves)))])
        outside = Op("eq", (node, Const(_OUTSIDE, "i")), "b")
        made.parameters = [start := Var(text.fresh("start"), "i"), items]
        made.body = [
            hir.Length(n, items, layout),
            hir.Set([node], [start]),
            hir.For(
                i, Const(0, "i"), n, Const(1, "i"), [*load, coded, *_step(frame, node, code, calls, child)], 0
            ),
            hir.If(outside, [hir.Fail("a call that the program never makes", line=frame.line)], []),
            hir.Return([node]),
        ]
    return frame.program.helpers[key]  # type: ignore[no-any-return]


def noted(
    frame: Frame, parts: tuple[Any, ...], indices: tuple[Expr, ...], *, calls: bool = False
) -> tuple[tuple[Any, ...], tuple[Expr, ...]]:
    """An address of a program; where others like it have tuples whose lengths are not known, it gets them.

    Args:
        calls: whether it is that of a call.
    """
    facts, kind = frame.program.facts, (frame.program.trace, calls)
    if any(isinstance(part, PathPart) for part in parts):
        spread = [i for i, part in enumerate(parts) if part == PathPart(True)]
        if len(spread) > 1:
            raise frame.not_closed("an address with two tuples whose lengths are not known")
        if spread and len(parts) == 1:
            raise frame.not_closed("an address that is a tuple whose length is not known")
        for next_ in (parts[at + 1] for at in spread if at + 1 < len(parts)):
            if not isinstance(next_, str) or facts.may_be_key(next_):
                raise frame.not_closed("a tuple whose length is not known before what may be an item of it")
        facts.note_path(kind, parts)
        return parts, indices
    for known_kind, wanted in facts.paths:
        if known_kind == kind:
            found = fitted(frame, wanted, parts, indices)
            if found is not None:
                return wanted, found
    return parts, indices


def fitted(
    frame: Frame, wanted: tuple[Any, ...], parts: tuple[Any, ...], indices: tuple[Expr, ...]
) -> tuple[Expr, ...] | None:
    """The indices of an address as one of another form, with tuples in place of parts; None if it is none."""
    found = segments(wanted, parts, lambda one, given: one == given)
    if found is None:
        return None
    result: list[Expr] = []
    starts = [0]
    for part in parts:
        starts.append(starts[-1] + index_count(part))
    for part, start, end in found:
        if not isinstance(part, PathPart):
            result += indices[starts[start] : starts[end]]
            continue
        codes: list[Expr] = []
        for at in range(start, end):
            index = indices[starts[at]] if starts[at] < starts[at + 1] else None
            code = code_of_part(frame, parts[at], index)
            if code is None:
                return None
            codes.append(code)
        result.append(number_of_codes(frame, codes))
    return tuple(result)


def path(frame: Frame, address: Value, *, of_trace: bool = False) -> tuple[tuple[Any, ...], tuple[Expr, ...]]:
    """An address as the parts of a template, with None for each index, and the indices.

    Args:
        of_trace: whether it is looked up in a trace: then what is known of the strings in it is told.
    """
    spread: list[bool] = []
    if address.pieces or is_path(frame, address, few=of_trace):
        items, spread = map(list, zip(*pieces_of(address), strict=True))
    elif isinstance(address.type, (Tuple, Known)) and not (
        isinstance(address.type, Known) and not isinstance(object_of(address), tuple)
    ):
        items = items_of(address)
    else:
        items = [address]
    if not items:
        frame.fail("an empty address")
    parts: list[Any] = []
    indices: list[Expr] = []
    facts = frame.program.facts

    def add(item: Value) -> None:
        if not is_path(frame, item, few=of_trace):
            item = frame.without(item, is_unhashable)
        match item.type:
            case Known(value=str() as text):
                part, at = facts.as_joined(text)
                parts.append(part)
                indices.extend(Const(one, "i") for one in at)
            case Joined():
                if not is_readable(item.type):
                    raise frame.not_closed(f"{describe(item.type)} in an address: two may be one")
                facts.note_joined(item.type)
                parts.append(item.type)
                indices.extend(frame.atom(leaf, "at") for leaf in item.leaves)
            case Known(value=int() as at) if not isinstance(at, bool) and abs(at) < 2**31:
                parts.append(None)
                indices.append(Const(int(at), "i"))
            case Number("i"):
                parts.append(None)
                indices.append(frame.atom(item.leaf, "at"))
            case _ if is_never(item):
                parts.append(None)
                indices.append(Const(0, "i"))
            case TextType(options):
                parts.append(... if options is None or not of_trace else OneOf(options))
                indices.append(frame.atom(item.leaf, "at"))
            case Tuple(inner, cls) if cls is tuple:
                parts.append(Nested(len(inner)))
                for one in items_of(item):
                    add(one)
            case Known(value=tuple() as found) if type(found) is tuple:
                parts.append(Nested(len(found)))
                for one in items_of(item):
                    add(one)
            case _ if is_path(frame, item, few=of_trace):
                parts.append(PathPart(False))
                indices.append(number_of(frame, item))
            case _:
                raise frame.not_closed(f"{describe(item.type)} in an address")

    for i, item in enumerate(items):
        if spread and spread[i]:
            parts.append(PathPart(True))
            indices.append(number_of(frame, item))
        else:
            add(item)
    return tuple(parts), tuple(indices)
