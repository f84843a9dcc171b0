"""Edits of one choice at a time in a loop that keeps a frame for each iteration; see `local`.

What depends on a choice is in its iteration, and in the next one where the loop carries it there, as in a
chain. What the next iteration carries on must not depend on it: it is then a choice, or something else. For

    x = 0.0
    for t in range(n):
        x = ("x", t) @ ~normal(x, 1)
        ("y", t) @ ~normal(x, NOISE)

one generated function holds a whole move, with the scores before it at hand in the frames:

    def move(f0, frames, t, value, rng):
        w1 = frames[t]
        d, _, before = w1[6]
        more = t + 1 < len(frames)
        if more: w2 = frames[t + 1]                the next iteration, which gets f1[5] as f2[4]
        if rng is not None:
            value = d.sample(rng)
        ...
        f1 = w1.copy()
        f1[5] = value
        ...
        f1[6] = d, value, score
        e = call1(f0, f1)                          the distribution of a choice that depends on it
        ...
"""

from __future__ import annotations

from functools import partial
from math import inf
from typing import Any

from gendsl.compiler.vectors import NotColumnsError
from gendsl.runtime.blocks import CopyBlock, FragmentBlock
from gendsl.runtime.generated import generated
from gendsl.runtime.local_sites import (
    Form,
    LocalSite,
    Moved,
    NotLocalError,
    beyond,
    code_of,
    leave,
    readers_after,
)
from gendsl.runtime.loop_parts import Iterations
from gendsl.runtime.loops import LoopBlock
from gendsl.runtime.reads import Frame
from gendsl.runtime.records import PLAIN_FAMILIES
from gendsl.runtime.sites import SiteBlock
from gendsl.runtime.totals import HUGE
from gendsl.runtime.totals import change as changed_total


def _put(site: LocalSite, frame: Frame, before: Iterations, t: int, moved: Moved) -> None:
    """See `Form.put`.

    Raises:
        NotColumnsError: the score of an iteration is so large that the others have no digits left beside it.
    """
    loop, frames, total = site.loop, before.frames, before.total
    for s, (was, now) in enumerate(moved[3], t):
        old, new = was[0], loop.body.score(now)
        if not -HUGE < old < HUGE:
            raise NotColumnsError
        now[0] = new
        frames = frames.set(s, now)
        if new != old:
            total = changed_total(total, old, new)
    readers = readers_after(site, frame, before, t, moved[3]) if before.readers else {}
    leave(loop, frame, before, frames, total, readers)


# --- generating ------------------------------------------------------------------------------------

_ITERATION = """\
    w1 = frames[t]
    d, x, before = w1[{state}]
    number = families[type(d)]
    if number is None: raise NotLocalError
"""

_NEXT = """\
    more = t + 1 < len(frames)
    if more: w2 = frames[t + 1]
"""

_FAMILY = """\
    if families[type(w1[{state}][0])] is None: raise NotLocalError
"""

_MOVE = """\
    if rng is not None: value = d.sample(rng)
    try:
        if type(value) is not number: raise NotColumnsError
        f1 = w1.copy()
        f1[{value}] = value
        score = d.at(value)
        if not (-inf < score < inf and -inf < before < inf): raise NotColumnsError
        f1[{state}] = record = d, value, score
        others = 0.0
"""

_MOVED = """\
{indent}e, y, was = w{n}[{state}]
{indent}d{i} = call{i}(f0, f{n})
{indent}if type(d{i}) is not type(e) or families[type(e)] is not type(y): raise NotColumnsError
{indent}now = d{i}.at(y)
{indent}if not (-inf < now < inf and -inf < was < inf): raise NotColumnsError
{indent}f{n}[{state}] = d{i}, y, now
{indent}others += now - was
"""

_RETURNED = """\
    except Exception:
        if rng is None: raise
        return (d, value, None), 0.0, 0.0, (), None
    return record, score - before, others, {frames}, None
"""

_DENSITY = """\
    f1 = w1.copy()
    def density(x):
        if type(x) is not number: raise NotColumnsError
        f1[{value}] = x
        total = d.at(x)
        if not -inf < total < inf:
            total = beyond(d, x)
            if total == -inf: return total
"""

_ADDED = """\
{indent}e, y, _ = w{n}[{state}]
{indent}d{i} = call{i}(f0, f{n})
{indent}if type(d{i}) is not type(e) or families[type(e)] is not type(y): raise NotColumnsError
{indent}score = d{i}.at(y)
{indent}if not -inf < score < inf:
{indent}    score = beyond(d{i}, y)
{indent}total += score
"""


def frame_form(site: LocalSite) -> Form:
    """The functions for a site of a loop that keeps frames.

    Raises:
        NotLocalError: its choices aren't looked at by themselves.
    """
    loop, block = site.loop, site.block
    scope: dict[str, Any] = {
        "NotColumnsError": NotColumnsError, "NotLocalError": NotLocalError, "beyond": beyond,
        "families": PLAIN_FAMILIES, "inf": inf,
    }  # fmt: skip
    iteration = [_ITERATION.format(state=block.state)]
    move = [_MOVE.format(value=block.value, state=block.state)]
    density = [_DENSITY.format(value=block.value)]
    changed = {block.value}
    iteration += _follow(loop, changed, 1, "        ", scope, move, density)
    into = [(into, out) for _, _, into, out in loop.carried if out in changed]
    frames = "((w1, f1),)"
    if into:
        handed = "".join(f"            f2[{slot}] = f1[{out}]\n" for slot, out in into)
        move.append(f"        if more:\n            f2 = w2.copy()\n{handed}")
        density.insert(0, "    if more: f2 = w2.copy()\n")
        density.append(f"        if more:\n{handed}")
        after = {slot for slot, _ in into}
        iteration += _follow(loop, after, 2, "            ", scope, move, density)
        if any(out in after for _, _, _, out in loop.carried):
            raise NotLocalError  # it goes on and on
        iteration.append(_NEXT)
        frames = "((w1, f1), (w2, f2)) if more else ((w1, f1),)"
    move.append(_RETURNED.format(frames=frames))
    density.append("        return total\n    return x, density\n")
    return Form(
        generated("move", ["def move(f0, frames, t, value, rng):\n", *iteration, *move], scope),
        generated("density", ["def density(f0, frames, t):\n", *iteration, *density], scope),
        partial(_put, site),
    )


def _follow(
    loop: LoopBlock,
    changed: set[int],
    n: int,
    indent: str,
    scope: dict[str, Any],
    move: list[str],
    density: list[str],
) -> list[str]:
    """Write out what depends on the slots that have changed in iteration `n`, and add what it changes.

    Returns the lines that look at the families of the choices that depend on it: before anything is drawn.
    """
    depth = loop.depth
    families = []
    for i, block in enumerate(loop.body.blocks):
        if not any(read.depth == depth and read.slot in changed for read in block.uses):
            continue
        if isinstance(block, FragmentBlock):
            line = code_of(block, i, f"f{n}", scope)
            changed.update(block.defs)
        elif isinstance(block, CopyBlock):
            assert block.source is not None
            line = f"f{n}[{block.slot}] = f{n}[{block.source[1]}]"
            changed.add(block.slot)
        else:
            if type(block) is not SiteBlock or block.splice or block.address is None:
                raise NotLocalError
            if any(read.depth == depth and read.slot in changed for read in block.address_reads):
                raise NotLocalError
            scope[f"call{i}"] = block.thing.call
            families.append(_FAMILY.format(state=block.state))
            move.append(_MOVED.format(indent=indent, n=n, state=block.state, i=i))
            density.append(_ADDED.format(indent=indent, n=n, state=block.state, i=i))
            continue
        move.append(f"{indent}{line}\n")
        density.append(f"{indent}{line}\n")
    return families
