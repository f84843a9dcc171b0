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
"""

from __future__ import annotations

from math import inf
from typing import Any

from gendsl.compiler.ir import POSITION
from gendsl.compiler.vectors import NotColumnsError
from gendsl.runtime.blocks import FragmentBlock
from gendsl.runtime.column_frames import EXTREME, ColumnFrames, outer_of
from gendsl.runtime.column_loops import ColumnLoopBlock
from gendsl.runtime.generated import generated
from gendsl.runtime.local_sites import Form, LocalSite, Moved, NotLocalError, beyond, code_of
from gendsl.runtime.reads import Frame
from gendsl.runtime.records import PLAIN_FAMILIES
from gendsl.runtime.totals import Total
from gendsl.runtime.totals import change as changed_total


def moved(
    loop: ColumnLoopBlock, frame: Frame, store: ColumnFrames, total: Total, t: int, to: Moved, most: float
) -> tuple[ColumnFrames, Total]:
    """The columns after a move, with their total; scores that are too large are none of a move's.

    Raises:
        TypeError: the column can't hold the value.
    """
    record, _, _, _, terms = to
    columns, totals = [*store.columns], [*store.totals]
    number = terms[0][0]
    columns[number] = columns[number].set(t, record[1])
    for i, before, after in terms:
        if before != after:
            totals[i] = changed_total(totals[i], before, after)
    # what was outside when the store was made may have changed since, where no iteration had read it
    outer = outer_of(loop.reads, (frame,))
    new = ColumnFrames(loop, outer, store.values, store.size, tuple(columns), tuple(totals), store.arrays)
    return new, new.total()


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
        return (d{i}, value, None), 0.0, 0.0, (), ()
    return (d{i}, value, b{i}), b{i} - a{i}, {others}, ((w, f),), ({terms},)
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
        element = f"values[{i}] + t" if source.counted else f"element{i}(values[{i}], t)"
        iteration.append(f"    w[{source.target}] = {element}\n")
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
    terms = ", ".join(f"({i}, a{i}, b{i})" for i in affected)
    move.append(_RETURNED.format(i=own.number, others=others, terms=terms))
    density.append(f"        return total\n    return x{own.number}, density\n")
    return Form(
        generated("move", ["def move(f0, store, t, value, rng):\n", *iteration, *move], scope),
        generated("density", ["def density(f0, store, t):\n", *iteration, *density], scope),
        moved,
    )
