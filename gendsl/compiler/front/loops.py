"""Loops of programs: in the text, or unrolled where what they go over is known and short; see `iteration`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from gendsl.compiler import hir
from gendsl.compiler.front import ahead, library_deque, tables
from gendsl.compiler.front.frame import Frame, Join, LoopFrame
from gendsl.compiler.front.iteration import Sequence, sequence
from gendsl.compiler.front.names import Name
from gendsl.compiler.front.objects import object_attribute, object_layout
from gendsl.compiler.hir import Const, Expr, Op
from gendsl.compiler.hir.types import (
    Dict,
    Iterator,
    Known,
    List,
    Object,
    Union,
)
from gendsl.compiler.hir.values import (
    Value,
    alternatives_of,
    number,
    number_leaf,
    parts_of,
)

LONGEST_UNROLLED = 64


def loop_over(
    frame: Frame,
    node: ast.AST,
    value: Value,
    names: Iterable[Name],
    lower: Callable[[Value], None],
    *,
    forgotten: Iterable[Name] = (),
    target: str = "i",
    fixed: bool = False,
) -> None:
    """Lower `for item in value: lower(item)`.

    Args:
        names: the variables that iterations hand on; `forgotten` are those that they set before they read
            them.
        target: what the loop's own counter is called.
        fixed: whether it goes over the items that a list has now, whatever is added to it meanwhile.
    """
    value = frame.opened(value)
    names = list(names)
    if isinstance(value.type, Union):
        _over_union(frame, node, value, names, lower, forgotten, target, fixed)
        return
    found, start = sequence(frame, value), len(frame.out)
    if found.fixed or (isinstance(found.count, int) and found.count == 0):
        assert isinstance(found.count, int)
        if found.count > LONGEST_UNROLLED:
            raise frame.not_closed(f"a loop over a tuple of {found.count} items", node)
        _unrolled(frame, node, found, lower)
    elif ("grows", frame.place(node)) in frame.program.facts.flags:
        _growing(frame, node, value, names, lower, forgotten)
    else:
        _counting(frame, node, value, found, names, lower, forgotten, target, fixed)
    ahead.check(frame, node, value.type, names, frame.out[start:])


def _counting(
    frame: Frame,
    node: ast.AST,
    value: Value,
    found: Sequence,
    names: Iterable[Name],
    lower: Callable[[Value], None],
    forgotten: Iterable[Name],
    target: str,
    fixed: bool,
) -> None:
    """A loop whose number of iterations is known before them."""
    visit = found.visit or (lambda i, one: one(found.at(i)))
    stop = Const(found.count, "i") if isinstance(found.count, int) else found.count
    var = frame.fresh(target, "i")

    def make(body: hir.Body, label: int) -> hir.Statement:
        return hir.For(var, Const(0, "i"), stop, Const(1, "i"), body, label)

    resized = ("resized", frame.place(node))
    watched = _watched(frame, value)
    sizes = [_size(frame, one) for one in watched] if resized in frame.program.facts.flags else []

    def check() -> None:
        for one, size in zip(watched, sizes, strict=False):
            changed = Op("ne", (_size(frame, one), size), "b")
            frame.fail_if(changed, "a dict or a deque that changes its size in a loop over it")

    def once() -> None:
        check()
        visit(var, lower)

    loop = frame.loop(node, make, names, once, forgotten=forgotten)
    check()
    if found.grows and not fixed and _changes_length(frame, loop, found.grows):
        frame.program.facts.flag(("grows", frame.place(node)))
    if any(_may_resize(frame, loop, one) for one in watched):
        frame.program.facts.flag(resized)


def _growing(
    frame: Frame,
    node: ast.AST,
    value: Value,
    names: Iterable[Name],
    lower: Callable[[Value], None],
    forgotten: Iterable[Name],
) -> None:
    """A loop over a list that grows meanwhile."""
    counter = ("position in", id(node), frame.unrolled)
    frame.env[counter] = number(Const(0, "i"))
    facts_place = (frame.place(node, "loop"), counter)
    frame.program.facts.grow(facts_place, number(Const(0, "i")).type)

    def as_loop(body: hir.Body, label: int) -> hir.Statement:
        return hir.Loop(body, label)

    def step() -> None:
        at = frame.env[counter].leaf
        now = sequence(frame, value)
        count = Const(now.count, "i") if isinstance(now.count, int) else now.count
        frame.emit(hir.If(Op("ge", (at, count), "b"), [hir.Leave(frame.loops[-1].label)], []))
        if now.visit is not None:
            raise frame.not_closed("a generator over a list that grows meanwhile")
        one = now.at(at)
        frame.env[counter] = number(Op("add", (at, Const(1, "i")), "i"))
        lower(one)

    frame.loop(node, as_loop, [*names, counter], step, forgotten=forgotten)
    frame.env.pop(counter, None)


def _watched(frame: Frame, value: Value) -> list[Value]:
    """The dicts and deques that a loop over a value goes over: they must not change their sizes meanwhile."""
    value = frame.opened(value)
    match value.type:
        case Dict():
            return [value]
        case Object(cls=cls) if cls is library_deque.Deque:
            return [value]
        case Iterator():
            return [found for part in parts_of(value) for found in _watched(frame, part)]
    return []


def _size(frame: Frame, value: Value) -> Expr:
    """What is another number where a dict has changed its size, or a deque its items."""
    if isinstance(value.type, Object):
        return number_leaf(object_attribute(frame, value, "changes"), "i")
    return tables.length(frame, value)


def _changes_length(frame: Frame, loop: hir.Statement, values: tuple[Value, ...]) -> bool:
    """Whether a loop may change the length of one of some lists."""
    return _do(hir.bodies(loop), _length_changes(frame, values))


def _length_changes(frame: Frame, values: tuple[Value, ...]) -> Callable[[hir.Statement], bool]:
    """A test of statements: whether one may change the length of one of some lists."""
    find = frame.program.facts.find
    sites = {find(value.type.site) for value in values if isinstance(value.type, List)}

    def changes(statement: hir.Statement) -> bool:
        match statement:
            case hir.Append(site=site) | hir.Truncate(site=site):
                return site >= 0 and find(site) in sites
        return False

    return changes


def count_made(frame: Frame, value: Value) -> int | None:
    """How many items a list has that statements before have made one by one; None where none have."""
    places = [i for i, one in enumerate(frame.out) if isinstance(one, hir.New) and one.target == value.leaf]
    if not places:
        return None
    made, *rest = frame.out[places[-1] :]
    assert isinstance(made, hir.New)
    since = list(_in_a_row(rest))
    one_by_one = [one for one in since if isinstance(one, hir.Append) and one.list == value.leaf]
    others = [one for one in since if one not in one_by_one]
    return None if _do([others], _length_changes(frame, (value,))) else len(made.items) + len(one_by_one)


def _in_a_row(body: hir.Body) -> Iterable[hir.Statement]:
    """Statements one after the other, with those in blocks that none leaves early in place of the blocks."""
    for one in body:
        inside = one.body if isinstance(one, hir.Block) else []
        if inside and not any(isinstance(inner, hir.Leave) for inner in hir.walk(inside)):
            yield from _in_a_row(inside)
        else:
            yield one


def _may_resize(frame: Frame, loop: hir.Statement, value: Value) -> bool:
    """Whether a loop may change the size of a dict or a deque: it does so to one of this layout."""
    if isinstance(value.type, Object):
        whole = object_layout(frame, value.type.site, library_deque.Deque)
        return _do(hir.bodies(loop), lambda one: isinstance(one, hir.Store) and one.layout == whole)
    assert isinstance(value.type, Dict)
    entry = tables.entry_layout(frame, value.type.site)

    def changes(statement: hir.Statement) -> bool:
        match statement:
            case hir.Append(layout=layout) | hir.Truncate(layout=layout):
                return layout == entry
            case hir.Store(layout=layout):
                return layout == ("r", "r")
        return False

    return _do(hir.bodies(loop), changes)


def _do(bodies: Iterable[hir.Body], test: Callable[[hir.Statement], bool]) -> bool:
    """Whether a test holds for one of some statements, or of those in a function that they call."""
    seen: set[int] = set()

    def found(body: hir.Body) -> bool:
        for statement in hir.walk(body):
            if test(statement):
                return True
            if isinstance(statement, hir.Call) and id(statement.function) not in seen:
                seen.add(id(statement.function))
                if found(statement.function.body):
                    return True
        return False

    return any(map(found, bodies))


def _over_union(
    frame: Frame,
    node: ast.AST,
    value: Value,
    names: Iterable[Name],
    lower: Callable[[Value], None],
    forgotten: Iterable[Name],
    target: str,
    fixed: bool,
) -> None:
    choices = alternatives_of(value)
    tag = frame.atom(value.leaves[0])
    names = list(names)

    def from_(i: int) -> Value | None:
        def this() -> None:
            frame.unrolled += (("alternative", i),)
            loop_over(frame, node, choices[i], names, lower, forgotten=forgotten, target=target, fixed=fixed)
            frame.unrolled = frame.unrolled[:-1]

        if i == len(choices) - 1:
            this()
            return None
        return frame.branch(Op("eq", (tag, Const(i, "i")), "b"), this, lambda: from_(i + 1))

    if frame.loops and frame.loops[-1].unrolled is not None:
        raise frame.not_closed("a loop over a value of several types inside an unrolled loop", node)
    from_(0)


def _unrolled(frame: Frame, node: ast.AST, found: Sequence, lower: Callable[[Value], None]) -> None:
    """Iterations one after another, each with types of its own."""
    assert isinstance(found.count, int)
    after, body = Join(), hir.Block([], frame.program.new_label())
    frame.emit(body)
    out, frame.out = frame.out, body.body
    for i in range(found.count):
        if not frame.live:
            break
        once, block = Join(), hir.Block([], frame.program.new_label())
        frame.emit(block)
        inside, frame.out = frame.out, block.body
        outer_unrolled = frame.unrolled
        frame.unrolled = (*outer_unrolled, (id(node), i))
        frame.loops.append(LoopFrame(block.label, node, {}, unrolled=once, after=after))
        frame.loops[-1].carried[None] = (Known(body.label), [])  # where `break` leaves to
        if found.limit is not None:
            ended: hir.Body = []
            frame.emit(hir.If(Op("le", (found.limit, Const(i, "i")), "b"), ended, []))
            with frame.into(ended):
                after.add(frame)
                frame.emit(hir.Leave(body.label))
        (found.visit or (lambda i, one: one(found.at(i))))(i, lower)
        once.add(frame)
        frame.loops.pop()
        frame.unrolled = outer_unrolled
        frame.out = inside
        once.resolve(frame)
    after.add(frame)
    frame.out = out
    after.resolve(frame)


def each(frame: Frame, node: ast.AST, value: Value, lower: Callable[[Value], None]) -> None:
    """Lower something for each item that a value has now; it changes no variables of the program."""
    loop_over(frame, node, value, [], lower, fixed=True)


def break_label(loop: LoopFrame) -> int:
    """Where a `break` of an unrolled loop leaves to."""
    marker = loop.carried[None][0]
    assert isinstance(marker, Known)
    return int(marker.value)


def break_out(frame: Frame, node: ast.Break) -> None:
    loop = frame.loops[-1]
    if loop.unrolled is not None:
        assert loop.after is not None
        loop.after.add(frame)
        frame.emit(hir.Leave(break_label(loop)))
    else:
        frame.carry()
        frame.emit(hir.Leave(loop.label))
    frame.live = False
