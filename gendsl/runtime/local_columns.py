"""Edits of one choice at a time in a loop in columns; see `local`.

All that depends on the choice is in its iteration, and in the next one where a chain hands it on, so one
generated function holds a whole move. For

    for i in range(n):
        x = ("x", i) @ ~normal(0, 1)
        ("y", i) @ ~normal(x, NOISE)

it makes as much of the iteration as it takes, and scores with one value and with the other:

    def move(f0, before, path, value, rng):
        t = ...
        store = before.frames
        values, columns, shared = store.values, store.columns, store.shared
        w = template.copy()
        w[2] = t
        x0 = w[5] = columns[0][t]
        x1 = columns[1][t]
        d0 = shared.get(0)                         the choice's distribution, the same in all iterations
        ...
        d1 = call1(f0, w)                          that of a choice that depends on it
        a0, a1 = d0.at(x0), d1.at(x1)              their scores before
        if rng is not None:
            value = d0.sample(rng)
        ...
        w[5] = value
        b0 = d0.at(value)                          and after
        d1 = call1(f0, w)
        b1 = d1.at(x1)
        ...

and another puts the value and the scores into the columns and their totals:

    def put(f0, before, moved):
        store = before.frames
        (_, value, _), was, _, _, (t, a0, b0, a1, b1) = moved
        c0, c1 = store.columns
        p0, p1 = store.totals
        if a0 != b0: p0 = changed(p0, a0, b0)
        ...

Where values are given there is nothing to wait for, and a third does both, for some choices of the site; for
one alone where an index is to know of it. It sees to the plates that look the choices up, too.
In a chain, where w[4] = columns[0][t - 1] is what the iteration receives, `move` goes on with as much of the
next iteration as receives the choice, v, if there is a next one, with scores a0n, b0n, ...
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from textwrap import indent as indented
from typing import TYPE_CHECKING, Any

from gendsl.runtime.blocks import CopyBlock, FragmentBlock
from gendsl.runtime.change import UNSET
from gendsl.runtime.column_frames import EXTREME
from gendsl.runtime.column_loops import ColumnLoopBlock
from gendsl.runtime.column_steps import Step
from gendsl.runtime.generated import generated
from gendsl.runtime.local_sites import (
    Form,
    LocalSite,
    NotLocalError,
    as_plain,
    beyond,
    code_of,
    leaving,
    outer_text,
    readers_after,
    slots_read,
    total_text,
)
from gendsl.runtime.lowering.ir import ITEM, POSITION
from gendsl.runtime.lowering.ir import LENGTH as OF_LENGTH
from gendsl.runtime.lowering.tables import NotColumnsError
from gendsl.runtime.records import PLAIN_FAMILIES
from gendsl.runtime.totals import change as changed_total
from gendsl.runtime.totals import value as total_value

if TYPE_CHECKING:
    from gendsl.runtime.local_lookups import Plate

# --- generating ------------------------------------------------------------------------------------

_ITERATION = """\
    store = before.frames
    values, columns, shared = store.values, store.columns, store.shared
"""

_SCRATCH = """\
{indent}{w} = template.copy()
{indent}{w}[{position}] = {t}
"""

_DISTRIBUTION = """\
{indent}d{i} = call{site}(f0, {w})
{indent}if type(d{i}) is not family{site}: raise NotColumnsError
"""

_SHARED = """\
    d{i} = shared.get({i})
    if d{i} is None:
        d{i} = call{i}(f0, template)
        if type(d{i}) is not family{i}: raise NotColumnsError
        shared[{i}] = d{i}
"""

_BEFORE = """\
{indent}a{i} = d{i}.at(x{i})
{indent}if not -{extreme} < a{i} < {extreme}: raise NotColumnsError
"""

_DRAWN = """\
    if rng is not None: value = d{i}.sample(rng)
    try:
        if type(value) is not number: value = as_plain(value, number)
"""

_NOW = """\
{given}\
        b{i} = d{i}.at(value)
        if not -inf < b{i} < inf: raise NotColumnsError
"""

_AFTER = """\
{indent}d = call{site}(f0, {w})
{indent}if type(d) is not family{site}: raise NotColumnsError
{indent}b{i} = d.at(x{i})
{indent}if not -inf < b{i} < inf: raise NotColumnsError
"""

_RETURNED = """\
    except Exception:
        if rng is None: raise
        return (d{i}, value, None), x{i}, 0.0, 0.0, None
    return (d{i}, value, b{i}), x{i}, b{i} - a{i}, {others}, (t, {terms})
"""

_PUT = """\
def put(f0, before, moved):
    store = before.frames
    (_, value, _), was, _, _, (t, {terms}) = moved
    {columns}, = store.columns
    {totals}, = store.totals
    c{own} = c{own}.set(t, value)
{changes}\
{frames}\
    readers = readers_after(site, f0, before, frames, {visited}, was, value) if before.readers else {{}}
{leaving}\
"""

# what is outside may be another than when the store was made, where no iteration had read it
_FRAMES = """\
    frames = store.over({outer}, ({columns},), ({totals},), store.shared)
"""

_EDIT = """\
def edit(f0, before, given, was, records):
{iteration}\
    {columns}, = columns
    {totals}, = store.totals
    weight = 0.0
{shared}\
{begun}\
    for path, value in given:
        if type(value) is not number: value = as_plain(value, number)
{moved}\
        others = {others}
{plates}\
        weight += b{own} - a{own} + others
        was[path] = x{own}
        records[path] = d{own}, value, b{own}
{changed}\
{frames}\
    readers = {{}}
    if before.readers: readers = readers_after(site, f0, before, frames, range(t, t + 1), x{own}, value)
{leaving}\
{put}\
    return weight
"""

# what is left of a change when the next is taken away must have digits, too
_NOT_EXTREME = """\
        if not -{extreme} < others < {extreme} and len(given) > 1: raise NotColumnsError
"""

_DENSITY = """\
    def density(value):
        if type(value) is not number: raise NotColumnsError
{given}\
        total = d{i}.at(value)
        if not -inf < total < inf:
            total = beyond(d{i}, value)
            if total == -inf: return total
"""

_ADDED = """\
{indent}d = call{site}(f0, {w})
{indent}if type(d) is not family{site}: raise NotColumnsError
{indent}score = d.at(x{i})
{indent}if not -inf < score < inf:
{indent}    score = beyond(d, x{i})
{indent}total += score
"""


class _Depending:
    """What depends on some slots of an iteration, written out.

    Attributes:
        w, mark: what the iteration is called, and what the names of its scores end with.
        own: the choice that is edited, if it is made in this iteration.
        changed: those slots, and what depends on them.
        steps: the choices whose distributions do.
        needed: the other slots that these read.
    """

    def __init__(
        self, loop: ColumnLoopBlock, changed: set[int], own: Step | None, w: str, mark: str
    ) -> None:
        depth = loop.depth
        self.loop = loop
        self.w, self.mark = w, mark
        self.own = own
        self.changed = {*changed}
        self.steps: list[Step] = []
        self._code: dict[int, FragmentBlock] = {}
        self._first: dict[int, FragmentBlock] = {}
        reading: list[Any] = [] if own is None or own.site is None else [own.site.thing]
        for at, (block, step) in enumerate(_with_steps(loop)):
            if not any(read.depth == depth and read.slot in self.changed for read in block.uses):
                continue
            if step is not None and step is not own:
                self.steps.append(step)
                reading.append(block.thing)
            elif isinstance(block, FragmentBlock):
                self._code[at] = block
                reading.append(block.runner)
                self.changed.update(block.defs)
        self.needed = {slot for runner in reading for slot in slots_read(runner, depth)}
        for at, (block, step) in reversed([*enumerate(_with_steps(loop))]):
            if step is None and not isinstance(block, (FragmentBlock, CopyBlock)):
                raise NotLocalError
            gives = isinstance(block, FragmentBlock) and not self.needed.isdisjoint(block.defs)
            if gives and at not in self._code:
                self._first[at] = block
                self.needed.update(slots_read(block.runner, depth))
        if any(PLAIN_FAMILIES[step.family] is None for step in self.steps):
            raise NotLocalError

    def first(
        self, t: str, before: str, indent: str, scope: dict[str, Any], found: str | None = None
    ) -> list[str]:
        """The lines that make as much of iteration t as doesn't depend on the slots.

        Args:
            before: what the iteration receives of column {i}.
            found: the line that finds the value of the choice itself, if not in its column.
        """
        loop, w = self.loop, self.w
        lines = []
        if self.needed or self._code:
            lines.append(_SCRATCH.format(indent=indent, w=w, position=POSITION, t=t))
        for i, source in enumerate(loop.sources):
            if source.target in self.needed:
                scope[f"element{i}"] = source.element
                element = f"values[{i}][{t}] if type(values[{i}]) is range else element{i}(values[{i}], {t})"
                element = f"values[{i}] + {t}" if source.counted else element
                lines.append(f"{indent}{w}[{source.target}] = {element}\n")
        for step in loop.sites:
            is_read, x = step.slot in self.needed, f"x{step.number}{self.mark}"
            if is_read or step in self.steps or step is self.own:
                line = found if step is self.own else None
                lines.append(line or f"{indent}{x} = columns[{step.number}][{t}]\n")
            if is_read:
                lines.append(f"{indent}{w}[{step.slot}] = {x}\n")
        for carried in loop.handed:
            if carried.into in self.needed - self.changed:
                start = "UNSET" if carried.first is None else f"f0[{carried.first[1]}]"
                received = before.format(i=carried.number, start=start)
                lines.append(f"{indent}{w}[{carried.into}] = {received}\n")
        lines += [f"{indent}{code_of(block, at, w, scope)}\n" for at, block in sorted(self._first.items())]
        return lines

    def scored(self, texts: list[str], indent: str, scope: dict[str, Any]) -> list[str]:
        """The lines that execute what depends on the slots, with some for each of the choices."""
        lines = []
        for at, (block, step) in enumerate(_with_steps(self.loop)):
            if at in self._code:
                lines.append(f"{indent}{code_of(self._code[at], at, self.w, scope)}\n")
            elif step in self.steps:
                assert step is not None
                scope[f"call{step.number}"], scope[f"family{step.number}"] = block.thing.call, step.family
                i = f"{step.number}{self.mark}"
                about = {"i": i, "site": step.number, "w": self.w, "indent": indent, "extreme": EXTREME}
                lines += [text.format(**about) for text in texts]
        return lines


def _with_steps(loop: ColumnLoopBlock) -> Iterator[tuple[Any, Step | None]]:
    """The blocks of a loop's body, and of the choices the steps."""
    sites = iter(loop.sites)
    for block, is_site in loop.blocks:
        yield block, next(sites) if is_site else None


def _is_shared(loop: ColumnLoopBlock, block: Any) -> bool:
    """Whether the distribution of a choice is one for all iterations, for as long as their scope is."""
    return all(
        read.depth < loop.depth and read.mode is not ITEM and read.mode is not OF_LENGTH
        and loop.outer[read.depth, read.slot].whole
        for read in block.thing.reads
    )  # fmt: skip


def column_form(site: LocalSite, plates: list[Plate]) -> Form:
    """The functions for a site of a loop in columns.

    Args:
        plates: those that look its choices up, to which only `edit` sees.

    Raises:
        NotLocalError: its choices aren't looked at by themselves.
    """
    loop: Any = site.loop
    own = next(step for step in loop.sites if step.site is site.block)
    here = _Depending(loop, {own.slot}, own, "w", "")
    handed = [carried for carried in loop.handed if carried.slot in here.changed]
    there = _Depending(loop, {carried.into for carried in handed}, None, "v", "n")
    if not there.changed.isdisjoint(carried.slot for carried in loop.handed):
        raise NotLocalError  # it goes on and on
    i = own.number
    scope: dict[str, Any] = {
        "NotColumnsError": NotColumnsError,
        "UNSET": UNSET, "as_plain": as_plain, "beyond": beyond, "changed": changed_total, "inf": inf,
        "loop": loop, "number": PLAIN_FAMILIES[own.family], "readers_after": readers_after, "site": site,
        "template": loop.template, "total_value": total_value, f"call{i}": site.block.thing.call,
        f"family{i}": own.family,
    }  # fmt: skip
    if scope["number"] is None:
        raise NotLocalError
    about = {"i": i, "site": i, "w": "w", "indent": "    ", "extreme": EXTREME}
    placing, received = site.placing_own(scope), "columns[{i}][t - 1] if t else {start}"
    shared = _is_shared(loop, site.block)
    distribution = (_SHARED if shared else _DISTRIBUTION).format(**about)
    iteration = [_ITERATION, placing, *here.first("t", received, "    ", scope), distribution]
    given = f"        w[{own.slot}] = value\n" if own.slot in here.needed else ""
    scores = [_DISTRIBUTION, _BEFORE]
    earlier = [_BEFORE.format(**about), *here.scored(scores, "    ", scope)]
    later = [_NOW.format(i=i, given=given), *here.scored([_AFTER], "        ", scope)]
    density = [_DENSITY.format(i=i, given=given), *here.scored([_ADDED], "        ", scope)]
    kept = {carried.number: carried.slot for carried in handed if carried.slot != own.slot}
    following = ""
    if there.steps:
        start = there.first("t + 1", "columns[{i}][t]", "        ", scope)
        following = "".join(["    v = None\n", "    if t + 1 < store.size:\n", *start])
        was, now = (
            "".join(
                f"{indent}v[{carried.into}] = {f'w[{carried.slot}]' if carried.number in kept else choice}\n"
                for carried in handed
            )
            for indent, choice in (("        ", f"x{i}"), ("            ", "value"))
        )
        terms = "".join(f"    a{step.number}n = b{step.number}n = 0.0\n" for step in there.steps)
        earlier += [terms, following, was, *there.scored(scores, "        ", scope)]
        again = "        if v is not None:\n" + now
        later += [again, *there.scored([_AFTER], "            ", scope)]
        density += [again, *there.scored([_ADDED], "            ", scope)]
    affected = [str(i), *(str(step.number) for step in here.steps)]
    affected += [f"{step.number}n" for step in there.steps]
    others = " + ".join(f"(b{k} - a{k})" for k in affected[1:]) or "0.0"
    terms = ", ".join([*(f"a{k}, b{k}" for k in affected), *(f"w[{slot}]" for slot in kept.values())])
    returned = _RETURNED.format(i=i, others=others, terms=terms)
    move = [*iteration, *earlier, _DRAWN.format(i=i), *later, returned]
    density.append(f"        return total\n    return x{i}, density\n")
    texts = _texts(loop, own, affected, [*kept])
    visited = "range(t, min(t + 2, store.size))" if handed else "range(t, t + 1)"
    edit = None
    if not handed:
        found = here.first(
            "t", received, "    ", scope, f"    x{i}, c{i} = c{i}.exchanged(t, value)\n"
        )
        inner = "".join([site.placing(scope), *found, "" if shared else distribution, *earlier])
        told = "".join(plate.found + plate.moved(f"x{i}", "value") for plate in plates)
        for plate in plates:
            scope |= plate.scope
        text = _EDIT.format(
            iteration=_ITERATION, shared=distribution if shared else "", **texts, others=others,
            begun=indented("".join(plate.begun for plate in plates), "    "),
            moved=indented(inner, "    ") + "".join(later),
            plates=indented(told, "        ") + (_NOT_EXTREME.format(extreme=EXTREME) if plates else ""),
            changed=indented(texts["changes"], "    "),
            put=indented("".join(plate.put for plate in plates), "    "),
        )  # fmt: skip
        edit = generated("edit", [text], scope)
    return Form(
        generated("move", ["def move(f0, before, path, value, rng):\n", *move], scope),
        generated("density", ["def density(f0, before, path):\n", *iteration, following, *density], scope),
        generated("put", [_PUT.format(visited=visited, **texts)], scope),
        len(affected) > 1,
        edit,
    )


def _texts(loop: Any, own: Step, affected: list[str], kept: list[int]) -> dict[str, str]:
    """The parts of the functions that put something into the columns.

    Args:
        affected: what the names of the scores that change end with.
        kept: the columns of variables that change, which `move` tells after the scores.
    """
    numbers = range(len(loop.sites))
    changes = [f"    c{i} = c{i}.set(t, k{i})\n" for i in kept]
    for k in affected:
        p = f"p{k.removesuffix('n')}"
        changes.append(f"    if a{k} != b{k}: {p} = changed({p}, a{k}, b{k})\n")
    texts = {
        "outer": outer_text(loop),
        "columns": ", ".join(f"c{i}" for i in loop.column_of.values()),
        "totals": ", ".join(f"p{i}" for i in numbers),
    }
    return texts | {
        "own": str(own.number),
        "terms": ", ".join([*(f"a{k}, b{k}" for k in affected), *(f"k{i}" for i in kept)]),
        "changes": "".join(changes),
        "frames": _FRAMES.format(**texts),
        "leaving": leaving(loop, total_text(loop)),
    }
