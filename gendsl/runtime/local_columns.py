"""Edits of one choice at a time in a plate in columns; see `local`.

All that depends on the choice is in its iteration, so one generated function holds a whole move. For

    for i in range(n):
        x = ("x", i) @ ~normal(0, 1)
        ("y", i) @ ~normal(x, NOISE)

it makes the iteration as it is, and once more with the other value:

    def move(f0, store, t, value, rng):
        values, columns = store.values, store.columns
        w = template.copy()
        w[2] = t
        w[4] = values[0] + t
        x0 = w[5] = columns[0][t]
        x1 = w[7] = columns[1][t]
        d0 = call0(f0, w)                          the choice's distribution
        if rng is not None:
            value = d0.sample(rng)
        ...
        f = w.copy()
        f[5] = value
        a0, b0 = d0.at(x0), d0.at(value)           its score, before and after
        d, e = call1(f0, w), call1(f0, f)
        a1, b1 = d.at(x1), e.at(x1)                that of a choice that depends on it
        ...

and another puts the value and the scores into the columns and their totals:

    def put(f0, before, t, moved):
        store = before.frames
        c0, c1 = store.columns
        p0, p1 = store.totals
        _, own, _, _, (a0, b0, a1, b1) = moved
        p0 = changed(p0, a0, b0)
        ...
"""

from __future__ import annotations

from math import inf
from typing import Any

from gendsl.compiler.ir import POSITION
from gendsl.compiler.vectors import NotColumnsError
from gendsl.runtime.blocks import FragmentBlock
from gendsl.runtime.column_frames import EXTREME, ColumnFrames
from gendsl.runtime.column_loops import ColumnLoopBlock
from gendsl.runtime.generated import generated
from gendsl.runtime.local_sites import Form, LocalSite, NotLocalError, beyond, code_of, leave, readers_after
from gendsl.runtime.records import PLAIN_FAMILIES
from gendsl.runtime.totals import change as changed_total

# --- generating ------------------------------------------------------------------------------------

_ITERATION = """\
    values, columns = store.values, store.columns
    w = template.copy()
    w[{position}] = t
"""

_DISTRIBUTION = """\
    d{i} = call{i}(f0, w)
    if type(d{i}) is not family{i}: raise NotColumnsError
"""

_MOVE = """\
    if rng is not None: value = d{i}.sample(rng)
    try:
        if type(value) is not number: raise NotColumnsError
        f = w.copy()
        f[{slot}] = value
        a{i}, b{i} = d{i}.at(x{i}), d{i}.at(value)
        if not (-{extreme} < a{i} < {extreme} and -inf < b{i} < inf): raise NotColumnsError
"""

_MOVED = """\
        d, e = call{i}(f0, w), call{i}(f0, f)
        if type(d) is not family{i} or type(e) is not family{i}: raise NotColumnsError
        a{i}, b{i} = d.at(x{i}), e.at(x{i})
        if not (-{extreme} < a{i} < {extreme} and -inf < b{i} < inf): raise NotColumnsError
"""

_RETURNED = """\
    except Exception:
        if rng is None: raise
        return (d{i}, value, None), 0.0, 0.0, (), None
    return (d{i}, value, b{i}), b{i} - a{i}, {others}, ((w, f),), ({terms})
"""

# what is outside may be another than when the store was made, where no iteration had read it
_PUT = """\
def put(f0, before, t, moved):
    store = before.frames
    record, _, _, visited, ({terms}) = moved
    {columns}, = store.columns
    {totals}, = store.totals
    c{own} = c{own}.set(t, record[1])
{changes}\
    frames = ColumnFrames(
        loop, {outer}, store.values, store.size, ({columns},), ({totals},), store.arrays
    )
    readers = readers_after(site, f0, before, t, visited) if before.readers else {{}}
    leave(loop, f0, before, frames, frames.total(), readers)
"""

_DENSITY = """\
    def density(x):
        if type(x) is not number: raise NotColumnsError
        w[{slot}] = x
        total = d{i}.at(x)
        if not -inf < total < inf:
            total = beyond(d{i}, x)
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


def column_form(site: LocalSite) -> Form:
    """The functions for a site of a plate in columns.

    Raises:
        NotLocalError: its choices aren't looked at by themselves.
    """
    loop: Any = site.loop
    own = next(step for step in loop.sites if step.site is site.block)
    scope: dict[str, Any] = {
        "NotColumnsError": NotColumnsError, "beyond": beyond, "inf": inf, "template": loop.template,
        "number": PLAIN_FAMILIES[own.family],
    }  # fmt: skip
    iteration = [_ITERATION.format(position=POSITION)]
    for i, source in enumerate(loop.sources):
        scope[f"element{i}"] = source.element
        element = f"values[{i}][t] if type(values[{i}]) is range else element{i}(values[{i}], t)"
        iteration.append(f"    w[{source.target}] = {f'values[{i}] + t' if source.counted else element}\n")
    for step in loop.sites:
        iteration.append(f"    x{step.number} = w[{step.slot}] = columns[{step.number}][t]\n")
    move = [_MOVE.format(i=own.number, slot=own.slot, extreme=EXTREME)]
    density = [_DENSITY.format(i=own.number, slot=own.slot)]
    affected = [own.number]
    changed = {(loop.depth, own.slot)}
    sites = iter(loop.sites)
    for at, (block, is_site) in enumerate(loop.blocks):
        depends = any((read.depth, read.slot) in changed for read in block.uses)
        if is_site:
            step = next(sites)
            i = step.number
            scope[f"call{i}"], scope[f"family{i}"] = block.thing.call, step.family
            if step is own:
                iteration.append(_DISTRIBUTION.format(i=i))
            elif depends:
                move.append(_MOVED.format(i=i, extreme=EXTREME))
                density.append(_ADDED.format(i=i))
                affected.append(i)
            if i in affected and PLAIN_FAMILIES[step.family] is None:
                raise NotLocalError
        elif isinstance(block, FragmentBlock):
            before, after = (code_of(block, at, f, scope) for f in "wf")
            if depends:
                changed.update((loop.depth, slot) for slot in block.defs)
                move.append(f"        {before}\n        {after}\n")
                density.append(f"        {before}\n")
            else:
                iteration.append(f"    {before}\n")
        else:
            raise NotLocalError
    others = " + ".join(f"(b{i} - a{i})" for i in affected[1:]) or "0.0"
    terms = ", ".join(f"a{i}, b{i}" for i in affected)
    move.append(_RETURNED.format(i=own.number, others=others, terms=terms))
    density.append(f"        return total\n    return x{own.number}, density\n")
    numbers = range(len(loop.sites))
    put = _PUT.format(
        own=own.number, terms=terms, outer=_outer(loop),
        columns=", ".join(f"c{i}" for i in numbers), totals=", ".join(f"p{i}" for i in numbers),
        changes="".join(f"    p{i} = changed(p{i}, a{i}, b{i})\n" for i in affected),
    )  # fmt: skip
    scope |= {
        "ColumnFrames": ColumnFrames, "changed": changed_total, "leave": leave, "loop": loop,
        "readers_after": readers_after, "site": site,
    }  # fmt: skip
    return Form(
        generated("move", ["def move(f0, store, t, value, rng):\n", *iteration, *move], scope),
        generated("density", ["def density(f0, store, t):\n", *iteration, *density], scope),
        generated("put", [put], scope),
    )


def _outer(loop: ColumnLoopBlock) -> str:
    """What `outer_of` gives for a loop of the program's own body, written out."""
    (slots,) = loop.reads
    return "({" + ", ".join(f"{slot}: f0[{slot}]" for slot in slots) + "},)"
