"""One generated function for the update of a sequence that is updated often.

`Sequence.update` asks each block in turn, which costs several calls for each choice that is scored again.
What follows writes the same steps out, for the sequence at hand:

    if todo & 4:                                       the third block, a choice
        state = f1[6]
        ...
        d = call2(f0, f1)                              the user's expression, at the user's line
        score = d.at(state[1])
        execution.weight += score - state[2]
        f1[6] = d, state[1], score

Only what is common is written out: deterministic code, and choices of one number that keep their address.
Everything else is left to the block's own `update`, which is what this must agree with.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import TYPE_CHECKING, Any

from gendsl.distributions import Distribution
from gendsl.runtime.change import UNSET, difference
from gendsl.runtime.generated import generated
from gendsl.runtime.lowering.ir import ITEM, POSITION
from gendsl.runtime.lowering.ir import LENGTH as OF_LENGTH
from gendsl.runtime.reads import Read, is_dirty
from gendsl.runtime.records import PLAIN_FAMILIES, as_score

if TYPE_CHECKING:
    from gendsl.runtime.blocks import Block, Sequence
    from gendsl.runtime.column_loops import ColumnLoopBlock
    from gendsl.runtime.sites import SiteBlock

AFTER = 8
"""How many updates a sequence has behind it when its own function is made."""

_SITE = """\
    if todo & {bit}:
        state = f[{state}]
        kind = type(state[0])
        number = families[kind]
        if number is None{moved}:
            todo |= block{i}.update(execution, old, new, changes, touched if hit & {bit} else None)
        elif hit & {bit}:
            execution.site = block{i}
            execution.place = path = {path}
            d = {thing} if {dirty} else state[0]
            if type(d) is kind:
                record = execution.revisit(path, d, state)
                execution.site = None
                if record is not state:
                    f[{state}] = record
                    change = difference(state[1], record[1])
                    if change is not None:
                        f[{value}] = record[1]
                        c[{value}] = change
                        todo |= {readers}
            else:
                todo |= block{i}.update(execution, old, new, changes, touched)
        elif {dirty}:
            execution.site, execution.place, execution.frames = block{i}, None, new
            d = {thing}
            score = None
            if type(d) is kind and type(state[1]) is number:
                try:
                    score = d.at(state[1])
                except OverflowError:
                    pass  # an integer beyond all floats, which the block scores
            if type(score) is float and -inf < score < inf:
                execution.weight += score - state[2]
                f[{state}] = d, state[1], score
                execution.site = None
            else:
                todo |= block{i}.update(execution, old, new, changes, None)
"""

_FRAGMENT = """\
    if todo & {bit}{when}:
        values = call{i}({frames})
"""

_DEFINED = """\
        if values[{k}] is not f[{slot}]:
            change = difference(f[{slot}], values[{k}])
            if change is not None:
                f[{slot}] = values[{k}]
                c[{slot}] = change
                todo |= {readers}
"""

_COPY = """\
    if todo & {bit} and {source} in c{depth}:
        f[{slot}] = f{depth}[{source}]
        c[{slot}] = c{depth}[{source}]
        todo |= {readers}
"""

_OTHER = """\
    if todo & {bit}:
        todo |= block{i}.update(execution, old, new, changes, touched if hit & {bit} else None)
"""


def fused_update(sequence: Sequence) -> Callable[..., str | None]:
    """The function that does what `Sequence.update` does for a sequence that nothing leaves early."""
    depth = sequence.depth
    frames = ", ".join(f"f{d}" for d in range(depth + 1))
    scope: dict[str, Any] = {
        "families": PLAIN_FAMILIES, "difference": difference, "is_dirty": is_dirty, "inf": inf
    }  # fmt: skip
    lines = [
        "def update(execution, old, new, changes, touched, todo, hit):\n",
        f"    {frames}, = new\n",
        "    {}, = changes\n".format(", ".join(f"c{d}" for d in range(depth + 1))),
        f"    f, c = f{depth}, c{depth}\n",
    ]
    for i, block in enumerate(sequence.blocks):
        scope[f"block{i}"] = block
        lines.append(block.written_out(i, frames, scope))
    lines.append(f"    return {sequence.final!r}\n")
    return generated("update", lines, scope)  # type: ignore[no-any-return]


def written_out_site(block: SiteBlock, i: int, frames: str, scope: dict[str, Any]) -> str:
    """The update of a choice."""
    if block.splice or block.address is None:
        return written_out_other(i)
    scope[f"call{i}"], scope[f"reads{i}"] = block.thing.call, block.thing.reads
    moved = ""
    if block.address_reads:
        scope[f"address{i}"] = block.address_reads
        moved = f" or {_dirty(block.address_reads, f'address{i}')}"
    return _SITE.format(
        i=i, bit=1 << i, state=block.state, value=block.value, moved=moved, path=_path(block, i),
        thing=f"call{i}({frames})", dirty=_dirty(block.thing.reads, f"reads{i}"),
        readers=block.readers.get(block.value, 0),
    )  # fmt: skip


def written_out_fragment(
    block: Block, i: int, frames: str, scope: dict[str, Any], runner: Any, defs: list[int]
) -> str:
    """The update of deterministic code."""
    scope[f"call{i}"], scope[f"reads{i}"] = runner.call, runner.reads
    when = "" if runner.always else f" and ({_dirty(runner.reads, f'reads{i}')})"
    text = _FRAGMENT.format(i=i, bit=1 << i, when=when, frames=frames)
    for k, slot in enumerate(defs):
        text += _DEFINED.format(k=k, slot=slot, readers=block.readers.get(slot, 0))
    return text


def written_out_copy(block: Block, i: int, source: tuple[int, int] | None, slot: int) -> str:
    """The update of a variable's version where ways of control join."""
    if source is None:
        return ""
    return _COPY.format(
        bit=1 << i, depth=source[0], source=source[1], slot=slot, readers=block.readers.get(slot, 0)
    )


def written_out_other(i: int) -> str:
    """The update of any block."""
    return _OTHER.format(i=i, bit=1 << i)


def fused_score(states: list[int]) -> Callable[[Any], float]:
    """The function that adds up the scores of blocks with these states."""
    terms = " + ".join(f"f[{slot}][2]" for slot in states)
    return eval(f"lambda f: {terms or '0.0'}")  # type: ignore[no-any-return]


_STORED = """\
    x = columns[{i}][t]
    d = call{i}({frames})
    score = d.at(x) if families[type(d)] is type(x) else None
    if type(score) is not float or not -inf < score < inf:
        score = score_of(d, x)
    f[{value}] = x
    f[{state}] = d, x, score
    total += score
"""


def fused_frame(loop: ColumnLoopBlock) -> Callable[..., Any]:
    """The function that makes the frame of an iteration from columns; see `ColumnFrames`."""
    depth = loop.depth
    frames = ", ".join(f"f{d}" for d in range(depth + 1))
    scope: dict[str, Any] = {
        "UNSET": UNSET, "families": PLAIN_FAMILIES, "inf": inf, "template": loop.template,
        "score_of": _score_of,
    }  # fmt: skip
    lines = [
        "def frame(outer, values, columns, t):\n",
        "    {}, = outer\n".format(", ".join(f"f{d}" for d in range(depth))),
        f"    f = f{depth} = template.copy()\n    f[{POSITION}] = t\n",
    ]
    for i, source in enumerate(loop.sources):
        scope[f"element{i}"] = source.element
        element = f"values[{i}][t] if type(values[{i}]) is range else element{i}(values[{i}], t)"
        element = f"values[{i}] + t" if source.counted else element
        lines.append(f"    f[{source.target}] = {element}\n")
    for carried in loop.handed:
        start = "UNSET" if carried.first is None else "f{}[{}]".format(*carried.first)
        lines.append(f"    f[{carried.into}] = columns[{carried.number}][t - 1] if t else {start}\n")
    lines.append("    total = 0.0\n")
    number = 0
    for i, (block, is_site) in enumerate(loop.blocks):
        if is_site:
            scope[f"call{number}"] = block.thing.call
            lines.append(_STORED.format(i=number, frames=frames, value=block.value, state=block.state))
            number += 1
        else:
            lines.append(block.written_out_run(i, frames, scope))
    lines.append("    f[0] = total\n    return f\n")
    return generated("frame", lines, scope)  # type: ignore[no-any-return]


def written_out_run(block: Block, i: int, frames: str, scope: dict[str, Any]) -> str:
    """The run of any block."""
    scope[f"block{i}"] = block
    return f"    block{i}.run(None, ({frames},))\n"


def written_out_call(i: int, frames: str, scope: dict[str, Any], runner: Any, defs: list[int]) -> str:
    """The run of deterministic code."""
    scope[f"code{i}"] = runner.call
    given = "".join(f"f[{slot}], " for slot in defs)
    return f"    {given + '= ' if given else ''}code{i}({frames})\n"


def _score_of(distribution: Distribution, value: Any) -> float:
    """The log density of a stored choice, away from the hot path."""
    score = distribution.logpdf(value)
    return score if type(score) is float else as_score(score, distribution, value)


def _dirty(reads: list[Read], name: str) -> str:
    """The condition that code with these reads has to run again; `name` is what the list is called."""
    terms: list[str] = []  # changed at all, which is enough where the whole value is read
    careful: list[str] = []
    for read in reads:
        of = careful if read.mode is ITEM or read.mode is OF_LENGTH else terms
        term = f"{read.slot} in c{read.depth}"
        if term not in of:
            of.append(term)
    if careful:
        terms.append(f"(({' or '.join(careful)}) and is_dirty({name}, new, changes))")
    return f"({' or '.join(terms)})" if terms else "False"


def _path(block: SiteBlock, i: int) -> str:
    """The expression for the address of a choice."""
    parts = block.parts
    known = parts is not None and all(
        slot is not None or type(constant) in (str, int) for constant, slot in parts
    )
    if not known or not parts:
        return f"block{i}.path(execution.prefix, new)"
    entries = "".join(
        f"{constant!r}, " if slot is None else f"f{slot[0]}[{slot[1]}], " for constant, slot in parts
    )
    return f"(execution.prefix + ({entries}) if execution.prefix else ({entries}))"
