"""Edits of one choice at a time in a loop that keeps a frame for each iteration; see `local`.

What depends on a choice is in its iteration, and in the next one where the loop carries it there, as in a
chain. What the next iteration carries on must not depend on it: it is then a choice, or something else. For

    x = 0.0
    for t in range(n):
        x = ("x", t) @ ~normal(x, 1)
        ("y", t) @ ~normal(x, NOISE)

one generated function holds a whole move, with the scores before it at hand in the frames:

    def move(f0, before, path, value, rng):
        t = ...
        frames = before.frames
        w1 = frames[t]
        d, x, a = w1[6]
        if t + 1 < len(frames): w2 = frames[t + 1]
        if rng is not None:
            value = d.sample(rng)
        ...
        f1 = template.copy()                       as much of the iteration as it takes
        f1[5] = value
        score = d.at(value)
        f1[6] = d, value, score
        e = call1(f0, f1)                          the distribution of a choice that depends on it
        ...
        if w2 is not None:
            f2 = template.copy()                   the next iteration, which gets f1[5] as f2[4]
            ...

What is not needed of a frame is not looked at: there are so many of them that each look takes its time.
"""

from __future__ import annotations

from math import inf
from typing import Any

from gendsl.runtime.blocks import CopyBlock, FragmentBlock
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
from gendsl.runtime.loops import LoopBlock
from gendsl.runtime.lowering.ir import POSITION
from gendsl.runtime.lowering.tables import NotColumnsError
from gendsl.runtime.records import PLAIN_FAMILIES
from gendsl.runtime.sites import SiteBlock
from gendsl.runtime.totals import HUGE
from gendsl.runtime.totals import change as changed_total

# --- generating ------------------------------------------------------------------------------------

_ITERATION = """\
    frames = before.frames
    w1 = frames[t]
    d, x, a = w1[{state}]
    number = families[type(d)]
    if number is None: raise NotLocalError
"""

_NEXT = """\
    w2 = f2 = None
    if t + 1 < len(frames): w2 = frames[t + 1]
"""

_FAMILY = """\
    if families[type(w1[{state}][0])] is None: raise NotLocalError
"""

_SCRATCH = """\
{indent}f{n} = template.copy()
{indent}f{n}[{position}] = {t}
"""

_DRAWN = """\
    if rng is not None: value = d.sample(rng)
    try:
"""

_MOVE = """\
        if type(value) is not number: value = as_plain(value, number)
        score = d.at(value)
        if not -inf < score < inf: raise NotColumnsError
        others = 0.0
        f1[{value}] = value
        f1[{state}] = record = d, value, score
"""

_MOVED = """\
{indent}e, y, was = w{n}[{state}]
{indent}d{i} = call{i}(f0, f{n})
{indent}if type(d{i}) is not type(e) or families[type(e)] is not type(y): raise NotColumnsError
{indent}now = d{i}.at(y)
{indent}if not -inf < now < inf: raise NotColumnsError
{indent}f{n}[{state}] = d{i}, y, now
{indent}others += now - was
"""

_RETURNED = """\
    except Exception:
        if rng is None: raise
        return (d, value, None), x, 0.0, 0.0, None
    return record, x, score - a, others, (t, w1, f1, {next})
"""

_DENSITY = """\
    def density(value):
        if type(value) is not number: raise NotColumnsError
        f1[{value}] = value
        total = d.at(value)
        if not -inf < total < inf:
            total = beyond(d, value)
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

_PUT = """\
def put(f0, before, moved):
    (_, value, _), was, _, _, (t, w1, f1, w2, f2) = moved
    frames, total, end = before.frames, before.total, t + 1
    n1 = w1.copy()
{first}\
    if not -huge < w1[0] < huge: raise NotColumnsError
    n1[0] = new = score(n1)
    total = changed(total, w1[0], new)
    if w2 is None:
        frames = frames.set(t, n1)
    else:
        n2, end = w2.copy(), t + 2
{second}\
        if not -huge < w2[0] < huge: raise NotColumnsError
        n2[0] = new = score(n2)
        total = changed(total, w2[0], new)
        frames = frames.set_two(t, n1, n2)
    readers = readers_after(site, f0, before, frames, range(t, end), was, value) if before.readers else {{}}
    leave(loop, f0, before, frames, total, readers)
"""


class _Followed:
    """What depends on some slots of an iteration, written out.

    Attributes:
        changed: those slots, and what depends on them.
        needed: the other slots that it takes.
        states: the states of the choices among these.
        move, density: the lines that score them, for `Form.move` and `Form.density`.

    Raises:
        NotLocalError: it is more than choices and deterministic code.
    """

    def __init__(self, loop: LoopBlock, changed: set[int], n: int, scope: dict[str, Any]) -> None:
        depth, indent = loop.depth, "        " if n == 1 else "            "
        self.n = n
        self.changed = set(changed)
        self.needed: set[int] = set()
        self.states: list[int] = []
        self.move: list[str] = []
        self.density: list[str] = []
        for i, block in enumerate(loop.body.blocks):
            if not any(read.depth == depth and read.slot in self.changed for read in block.uses):
                continue
            if isinstance(block, FragmentBlock):
                line = f"{indent}{code_of(block, i, f'f{n}', scope)}\n"
                self._take(slots_read(block.runner, depth), block.defs)
            elif isinstance(block, CopyBlock):
                assert block.source is not None
                line = f"{indent}f{n}[{block.slot}] = f{n}[{block.source[1]}]\n"
                self._take({block.source[1]}, [block.slot])
            else:
                if type(block) is not SiteBlock or block.splice or block.address is None:
                    raise NotLocalError
                if any(read.depth == depth and read.slot in self.changed for read in block.address_reads):
                    raise NotLocalError
                scope[f"call{i}"] = block.thing.call
                self.move.append(_MOVED.format(indent=indent, n=n, state=block.state, i=i))
                self.density.append(_ADDED.format(indent=indent, n=n, state=block.state, i=i))
                self.states.append(block.state)
                self._take(slots_read(block.thing, depth), [])
                continue
            self.move.append(line)
            self.density.append(line)

    def _take(self, slots: set[int], defs: list[int]) -> None:
        self.needed |= slots - self.changed
        self.changed.update(defs)

    def begin(self, indent: str) -> str:
        """The lines that make as much of the iteration as it takes."""
        n = self.n
        taken = "".join(f"{indent}f{n}[{slot}] = w{n}[{slot}]\n" for slot in sorted(self.needed))
        return _SCRATCH.format(n=n, indent=indent, position=POSITION, t="t" if n == 1 else "t + 1") + taken

    def kept(self, indent: str) -> str:
        """The lines that put what has changed into the iteration's frame."""
        slots = sorted({*self.changed, *self.states})
        return "".join(f"{indent}n{self.n}[{slot}] = f{self.n}[{slot}]\n" for slot in slots)


def frame_form(site: LocalSite) -> Form:
    """The functions for a site of a loop that keeps frames.

    Raises:
        NotLocalError: its choices aren't looked at by themselves.
    """
    loop, block = site.loop, site.block
    scope: dict[str, Any] = {
        "NotColumnsError": NotColumnsError, "NotLocalError": NotLocalError, "as_plain": as_plain,
        "beyond": beyond, "changed": changed_total, "families": PLAIN_FAMILIES, "huge": HUGE, "inf": inf,
        "leave": leave, "loop": loop, "readers_after": readers_after, "score": loop.body.score, "site": site,
        "template": loop.template,
    }  # fmt: skip
    here = _Followed(loop, {block.value}, 1, scope)
    states = {*here.states}
    iteration = [site.placing_own(scope), _ITERATION.format(state=block.state)]
    move = [_DRAWN, here.begin("        "), _MOVE.format(value=block.value, state=block.state)]
    density = [here.begin("    "), _DENSITY.format(value=block.value), *here.density]
    move += here.move
    here.states.append(block.state)
    into = [(into, out) for _, _, into, out in loop.carried if out in here.changed]
    second, following = "", "None, None"
    if into:
        there = _Followed(loop, {slot for slot, _ in into}, 2, scope)
        if any(out in there.changed for _, _, _, out in loop.carried):
            raise NotLocalError  # it goes on and on
        states |= {*there.states}
        handed = "".join(f"            f2[{slot}] = f1[{out}]\n" for slot, out in into)
        iteration.append(_NEXT)
        move += ["        if w2 is not None:\n", there.begin("            "), handed, *there.move]
        density[1:1] = ["    if w2 is not None:\n", there.begin("        ")]
        density += ["        if w2 is not None:\n", handed, *there.density]
        second, following = there.kept("        "), "w2, f2"
    iteration += [_FAMILY.format(state=state) for state in sorted(states - {block.state})]
    move.append(_RETURNED.format(next=following))
    density.append("        return total\n    return x, density\n")
    put = _PUT.format(first=here.kept("    "), second=second)
    return Form(
        generated("move", ["def move(f0, before, path, value, rng):\n", *iteration, *move], scope),
        generated("density", ["def density(f0, before, path):\n", *iteration, *density], scope),
        generated("put", [put], scope),
        bool(states),
    )
