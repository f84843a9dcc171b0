"""What is the same in all iterations of a loop is computed before it.

    for i in range(n):                                value = check_mixture(weights, parts)
        value = check_mixture(weights, parts)         table = mixture_logpdf_once(value)
        x = state.x[i]                          ->    for i in range(n):
        lp += mixture_logpdf(value, x)                    x = state.x[i]
                                                          lp += mixture_logpdf_each(value, x, table)

What is done once and what is done each time is what `staging` takes the body of a loop apart into. What may
fail is only done before a loop that has an iteration, and where the first surely comes to it: the text would
have failed a little later, and all that it did is discarded anyway.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gendsl.compiler import hir
from gendsl.compiler.hir import Body, Call, Const, For, Function, If, Op
from gendsl.compiler.hir.meetings import Meeting
from gendsl.compiler.hir.rewriting import LOOP
from gendsl.compiler.hir.text_effects import TextEffects, made_by, read_by
from gendsl.compiler.passes.clean import clean_one
from gendsl.compiler.passes.collapse import collapse
from gendsl.compiler.passes.counted_loops import count
from gendsl.compiler.passes.fusion import fuse
from gendsl.compiler.passes.list_copies import elide_copies
from gendsl.compiler.passes.memoise import memoise
from gendsl.compiler.passes.peel import peel
from gendsl.compiler.passes.recurrences import take_apart
from gendsl.compiler.passes.short_lists import clean
from gendsl.compiler.passes.staging import Apart, Names, Stages


def simplify(
    mains: Sequence[Function], meetings: Iterable[Meeting] = (), *, for_parts: bool = False
) -> None:
    """Clean functions, and all that they call.

    Loops that count become loops over ranges. Then loops over all entries of arrays become one loop each,
    loops are merged that one list after another goes through, what is the same in all iterations is taken
    out of loops, what is the same for each index in lists is computed once for it, and loops that go on from
    their last iteration are taken apart.

    Args:
        meetings: where a choice of one template may have the address of one of another.
        for_parts: whether `blankets` looks for parts of the functions: loops had better stay whole then.
    """
    effects = TextEffects()
    every = {id(one): one for main in mains for one in hir.functions(main)}
    for function in every.values():
        clean(function)
        count(function)
    copies = elide_copies(mains, effects)
    for function in copies:
        clean(function)
    if copies:
        every = {id(one): one for main in mains for one in hir.functions(main)}
    for function in every.values():
        if collapse(function):
            clean_one(function)
        if fuse(function, effects):
            clean_one(function)
        if not function.symbol and peel(function, effects, by_lists=not for_parts):
            clean_one(function)
    move_out(mains)
    memoise(mains)
    take_apart(mains, meetings)


def move_out(mains: Sequence[Function]) -> None:
    """Compute what is the same in all iterations of loops before them, in all that functions call, too."""
    known = Stages()
    done: set[int] = set()
    left = [*mains]
    changed: list[Function] = []
    while left:  # callers first, as what they call is taken apart
        function = left.pop()
        if id(function) in done:
            continue
        done.add(id(function))
        known.functions.append(function)
        if _moved_in(known, function):
            changed.append(function)
        for statement in hir.walk(function.body):
            if isinstance(statement, Call):
                left.append(statement.function)
    for parts in known.parts.values():
        if parts is not None:
            changed += parts.once, parts.each
    for function in changed:
        clean_one(function)


def _moved_in(known: Stages, function: Function) -> bool:
    """Whether anything was moved out of the loops of a function, the outer ones first."""
    names = Names(function)
    moved, seen = False, set[int]()
    left = [function.body]
    while left:
        body = left.pop()
        at = 0
        while at < len(body):
            statement = body[at]
            if isinstance(statement, For) and id(statement) not in seen:
                seen.add(id(statement))
                once = _taken_out(known, names, function, statement)
                if once:
                    moved = True
                    ahead = "lt" if statement.step == Const(1, "i") else "gt"
                    test = Op(ahead, (statement.start, statement.stop), "b")
                    body.insert(at, If(test, once, [], line=statement.line))
                    continue  # with what is there now
            left += hir.bodies(statement)
            at += 1
    return moved


def _taken_out(known: Stages, names: Names, function: Function, loop: For) -> Body:
    """What is taken out of a loop, which is changed in place, if that is worth it."""
    if loop.step not in (Const(1, "i"), Const(-1, "i")):
        return []
    within = {id(one) for one in hir.walk(loop.body)}
    inside = {loop.var, *(var for one in hir.walk(loop.body) for var in hir.targets(one))}
    outside, read = set(function.parameters), read_by(loop)
    for statement in hir.walk(function.body):
        if id(statement) not in within and statement is not loop:
            outside.update(hir.targets(statement))
            read |= read_by(statement)
    made = made_by(hir.walk(loop.body)) - outside
    changed = known.all_of(loop.body, made).changes
    apart = Apart(known, names, [loop], outside - inside, changed, outside | read | {loop.var})
    once, each = apart.taken(loop.body, sure=True)
    if known.all_of(once, made).cost < LOOP:
        return []
    loop.body = each
    return once
