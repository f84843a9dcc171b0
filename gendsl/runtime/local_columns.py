"""Edits of one choice at a time in a plate in columns; see `local`.

All that depends on the choice is in its iteration, so one generated function holds a whole move. For

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

Where values are given there is nothing to wait for, and a third does both, for some choices of the site.
"""

from __future__ import annotations

from math import inf
from textwrap import indent
from typing import Any

from gendsl.compiler.ir import ITEM, POSITION
from gendsl.compiler.ir import LENGTH as OF_LENGTH
from gendsl.compiler.tables import NotColumnsError
from gendsl.runtime.blocks import FragmentBlock
from gendsl.runtime.column_frames import EXTREME, ColumnFrames
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
    leave,
    readers_after,
    slots_read,
)
from gendsl.runtime.records import PLAIN_FAMILIES
from gendsl.runtime.sites import SiteBlock
from gendsl.runtime.totals import change as changed_total

# --- generating ------------------------------------------------------------------------------------

_ITERATION = """\
    store = before.frames
    values, columns, shared = store.values, store.columns, store.shared
"""

_SCRATCH = """\
    w = template.copy()
    w[{position}] = t
"""

_DISTRIBUTION = """\
    d{i} = call{i}(f0, w)
    if type(d{i}) is not family{i}: raise NotColumnsError
"""

_SHARED = """\
    d{i} = shared.get({i})
    if d{i} is None:
        d{i} = call{i}(f0, template)
        if type(d{i}) is not family{i}: raise NotColumnsError
        shared[{i}] = d{i}
"""

_BEFORE = """\
    a{i} = d{i}.at(x{i})
    if not -{extreme} < a{i} < {extreme}: raise NotColumnsError
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
        d = call{i}(f0, w)
        if type(d) is not family{i}: raise NotColumnsError
        b{i} = d.at(x{i})
        if not -inf < b{i} < inf: raise NotColumnsError
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
    readers = readers_after(site, f0, before, frames, range(t, t + 1), was, value) if before.readers else {{}}
    leave(loop, f0, before, frames, {total}, readers)
"""

# what is outside may be another than when the store was made, where no iteration had read it
_FRAMES = """\
    frames = ColumnFrames(
        loop, {outer}, store.values, store.size, ({columns},), ({totals},), store.arrays
    )
    frames.shared = store.shared
"""

_EDIT = """\
def edit(f0, before, given, was, records):
{iteration}\
    {columns}, = columns
    {totals}, = store.totals
    weight = 0.0
{shared}\
    for path, value in given:
        if type(value) is not number: value = as_plain(value, number)
{moved}\
        weight += {change}
        was[path] = x{own}
        records[path] = d{own}, value, b{own}
{changed}\
{frames}\
    leave(loop, f0, before, frames, {total}, {{}})
    return weight
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
        d = call{i}(f0, w)
        if type(d) is not family{i}: raise NotColumnsError
        score = d.at(x{i})
        if not -inf < score < inf:
            score = beyond(d, x{i})
        total += score
"""


class _Depending:
    """What it takes to score a choice, and those that depend on it.

    Attributes:
        steps: the choice, and those that depend on it.
        code: the deterministic code that depends on it, by its place among the blocks.
        needed: the slots of an iteration that these read.
        first: the code that doesn't depend on it and gives some of these.
    """

    def __init__(self, loop: ColumnLoopBlock, own: Step, site: SiteBlock) -> None:
        depth = loop.depth
        changed = {own.slot}
        self.steps = [own]
        self.code: dict[int, FragmentBlock] = {}
        self.first: dict[int, FragmentBlock] = {}
        sites = iter(loop.sites)
        reading: list[Any] = [site.thing]
        for at, (block, is_site) in enumerate(loop.blocks):
            step = next(sites) if is_site else None
            if not any(read.depth == depth and read.slot in changed for read in block.uses):
                continue
            if step is not None and step is not own:
                self.steps.append(step)
                reading.append(block.thing)
            elif isinstance(block, FragmentBlock):
                self.code[at] = block
                reading.append(block.runner)
                changed.update(block.defs)
        self.needed = {slot for runner in reading for slot in slots_read(runner, depth)}
        for at, (block, is_site) in reversed([*enumerate(loop.blocks)]):
            if not is_site and not isinstance(block, FragmentBlock):
                raise NotLocalError
            if not is_site and at not in self.code and not self.needed.isdisjoint(block.defs):
                self.first[at] = block
                self.needed.update(slots_read(block.runner, depth))
        if any(PLAIN_FAMILIES[step.family] is None for step in self.steps):
            raise NotLocalError


def _is_shared(loop: ColumnLoopBlock, block: Any) -> bool:
    """Whether the distribution of a choice is one for all iterations, for as long as their scope is."""
    return all(
        read.depth < loop.depth and read.mode is not ITEM and read.mode is not OF_LENGTH
        and loop.outer[read.depth, read.slot].whole
        for read in block.thing.reads
    )  # fmt: skip


def column_form(site: LocalSite) -> Form:
    """The functions for a site of a plate in columns.

    Raises:
        NotLocalError: its choices aren't looked at by themselves.
    """
    loop: Any = site.loop
    own = next(step for step in loop.sites if step.site is site.block)
    about = _Depending(loop, own, site.block)
    scope: dict[str, Any] = {
        "ColumnFrames": ColumnFrames, "NotColumnsError": NotColumnsError, "as_plain": as_plain,
        "beyond": beyond, "changed": changed_total, "inf": inf, "leave": leave, "loop": loop,
        "number": PLAIN_FAMILIES[own.family], "readers_after": readers_after, "site": site,
        "template": loop.template,
    }  # fmt: skip
    scope |= {f"family{step.number}": step.family for step in about.steps}
    shared = _is_shared(loop, site.block)
    i = own.number
    iteration = [site.placing(scope)]
    if not shared or about.needed or about.code:
        iteration.append(_SCRATCH.format(position=POSITION))
    found = [f"    {code_of(block, at, 'w', scope)}\n" for at, block in sorted(about.first.items())]
    distribution = (_SHARED if shared else _DISTRIBUTION).format(i=i)
    earlier = [_BEFORE.format(i=i, extreme=EXTREME)]
    given = f"        w[{own.slot}] = value\n" if own.slot in about.needed else ""
    later = [_NOW.format(i=i, given=given)]
    density = [_DENSITY.format(i=i, given=given)]
    steps = iter(loop.sites)
    for at, (block, is_site) in enumerate(loop.blocks):
        step: Any = next(steps) if is_site else None
        if step in about.steps:
            scope[f"call{step.number}"] = block.thing.call
        if at in about.code:
            line = code_of(block, at, "w", scope)
            earlier.append(f"    {line}\n")
            later.append(f"        {line}\n")
            density.append(f"        {line}\n")
        elif step in about.steps[1:]:
            i = step.number
            earlier += [_DISTRIBUTION.format(i=i), _BEFORE.format(i=i, extreme=EXTREME)]
            later.append(_AFTER.format(i=i))
            density.append(_ADDED.format(i=i))
    i = own.number
    affected = [step.number for step in about.steps]
    others = " + ".join(f"(b{i} - a{i})" for i in affected[1:]) or "0.0"
    terms = ", ".join(f"a{i}, b{i}" for i in affected)
    looked = [_ITERATION, *iteration, *_variables(loop, about, scope), *found, distribution]
    move = [*looked, *earlier, _DRAWN.format(i=i), *later]
    move.append(_RETURNED.format(i=i, others=others, terms=terms))
    density.append(f"        return total\n    return x{i}, density\n")
    exchanged = f"    x{i}, c{i} = c{i}.exchanged(t, value)\n"
    inner = [*iteration, *_variables(loop, about, scope, exchanged), *found, "" if shared else distribution]
    texts = _texts(loop, own, affected)
    edit = _EDIT.format(
        iteration=_ITERATION, shared=distribution if shared else "", own=i, **texts,
        moved=indent("".join((*inner, *earlier)), "    ") + "".join(later),
        change=f"b{i} - a{i} + ({others})",
        changed=indent(texts["changes"], "    "),
    )  # fmt: skip
    return Form(
        generated("move", ["def move(f0, before, path, value, rng):\n", *move], scope),
        generated("density", ["def density(f0, before, path):\n", *looked, *density], scope),
        generated("put", [_PUT.format(own=i, terms=terms, **texts)], scope),
        len(affected) > 1,
        generated("edit", [edit], scope),
    )


def _variables(loop: Any, about: _Depending, scope: dict[str, Any], own: str | None = None) -> list[str]:
    """The lines that give an iteration its loop variables and choices, as far as they are needed.

    Args:
        own: the line that finds the value of the choice itself, if not in its column.
    """
    lines = []
    for i, source in enumerate(loop.sources):
        if source.target in about.needed:
            scope[f"element{i}"] = source.element
            element = f"values[{i}][t] if type(values[{i}]) is range else element{i}(values[{i}], t)"
            lines.append(f"    w[{source.target}] = {f'values[{i}] + t' if source.counted else element}\n")
    for step in loop.sites:
        i, is_read = step.number, step.slot in about.needed
        if is_read or step in about.steps:
            found = own if own is not None and step is about.steps[0] else f"    x{i} = columns[{i}][t]\n"
            lines.append(found + (f"    w[{step.slot}] = x{i}\n" if is_read else ""))
    return lines


def _texts(loop: Any, own: Step, affected: list[int]) -> dict[str, str]:
    """The parts of the functions that put something into the columns."""
    numbers = range(len(loop.sites))
    (slots,) = loop.reads
    sums = (" + ".join(f"p{i}[{k}]" for i in numbers) for k in range(3))
    texts = {
        "outer": "({" + ", ".join(f"{slot}: f0[{slot}]" for slot in slots) + "},)",  # as `outer_of` has it
        "columns": ", ".join(f"c{i}" for i in numbers),
        "totals": ", ".join(f"p{i}" for i in numbers),
    }
    return texts | {
        "changes": "".join(f"    if a{i} != b{i}: p{i} = changed(p{i}, a{i}, b{i})\n" for i in affected),
        "frames": _FRAMES.format(**texts),
        "total": "p0" if len(numbers) == 1 else f"({', '.join(sums)})",
    }
