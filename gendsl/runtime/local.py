"""The density of a trace along the values of one choice, without a trace for each of them.

A kernel that asks for the density at many values of a choice (Gibbs sampling at each of them, slice sampling
at some) needs the new trace of one only. Where the choice is made in an iteration of a plate in columns whose
choices nothing outside reads, what depends on it is in that iteration. One generated function finds what
doesn't depend on the value, and gives another one that takes a value and scores the rest:

    def local(f0, values, columns, t):
        f1 = template.copy()
        ...
        d = call0(f0, f1)                      the choice's distribution
        x1 = f1[5] = columns[1][t]             a choice that depends on it
        def density(x):
            f1[4] = x
            return d.at(x) + call1(f0, f1).at(x1)
        return density

Anything out of the ordinary (another family, a value of another type, an infinite or undefined density) is
left to edits of the trace, which know what to do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import inf
from typing import TYPE_CHECKING, Any

from gendsl.address import Path
from gendsl.compiler.ir import POSITION
from gendsl.compiler.vectors import NotColumnsError
from gendsl.errors import RuntimeMismatchError
from gendsl.runtime.blocks import FragmentBlock, ReturnBlock
from gendsl.runtime.column_edits import site_of
from gendsl.runtime.column_frames import ColumnFrames
from gendsl.runtime.column_loops import ColumnLoopBlock
from gendsl.runtime.records import PLAIN_FAMILIES
from gendsl.runtime.trace import definition
from gendsl.runtime.verify import MISMATCH_FIX

if TYPE_CHECKING:
    from gendsl.runtime.compiled import CompiledTrace

_TOLERANCE = 1e-9


class LocalDensity:
    """log p(x') - log p(x) of a trace as a function of the value of one choice.

    Args:
        trace: the trace x.
        path: the choice.
        density: the log density of what depends on the choice, at a value of it.
    """

    __slots__ = ("_start", "density", "path", "trace")

    def __init__(self, trace: CompiledTrace, path: Path, density: Callable[[Any], float], value: Any) -> None:
        self.trace = trace
        self.path = path
        self.density = density
        self._start = density(value)

    def __call__(self, value: Any) -> float | None:
        """The log weight of the edit that gives the choice a value; None if only an edit can tell."""
        try:
            return self.density(value) - self._start
        except Exception:  # an edit meets it again, and says where
            return None

    def at_all(self, values: Iterable[Any]) -> list[float] | None:
        """The log weights of some values; None if only edits can tell."""
        density, start = self.density, self._start
        try:
            return [density(value) - start for value in values]
        except Exception:  # as above
            return None

    def edited(self, value: Any) -> Any:
        """The trace with a value.

        Raises:
            RuntimeMismatchError: its density isn't the one that was found.
        """
        edit = self.trace.edit({self.path: value}, stop_at_zero=True)
        weight = self.density(value) - self._start
        size = abs(self._start) + abs(weight)
        if not abs(edit.log_weight - weight) <= _TOLERANCE * (1.0 + size):
            raise RuntimeMismatchError(
                f"{self.trace.gen_fn.name}: the log density changes by {edit.log_weight}, and was expected "
                f"to change by {weight}",
                address=self.path,
                location=definition(self.trace.gen_fn),
                fix=MISMATCH_FIX,
            )
        return edit.trace


def local_density(trace: CompiledTrace, path: Path) -> LocalDensity | None:
    """The density of a trace along one choice; None where there is no short way to it."""
    called = trace._called
    linked, frame = called.linked, called.frame
    body = linked.body
    if not linked.disjoint or body.leaves_early:
        return None
    loop = body.by_bit.get(body.routed((path,), 0))
    if type(loop) is not ColumnLoopBlock:
        return None
    store: Any = frame[loop.state][0].frames
    if type(store) is not ColumnFrames or not _nobody_reads(loop, body.by_bit):
        return None
    visited = loop._visited(frame[loop.state][0], path, 0)
    if visited is None or len(visited) != 1:
        return None
    (t,) = visited
    try:
        number = site_of(loop, path, 0)
        density = _maker(loop, number)(frame, store.values, store.columns, t)
        return LocalDensity(trace, path, density, store.columns[number][t])
    except Exception:  # an edit meets it again, and says what it is
        return None


def _nobody_reads(loop: ColumnLoopBlock, by_bit: dict[int, Any]) -> bool:
    """Whether what a loop leaves behind decides on no choice."""
    mask = 0
    for slot in (*(written.after for written in loop.stored), *(after for after, _, _ in loop.outs)):
        mask |= loop.readers.get(slot, 0)
    while mask:
        bit = mask & -mask
        mask ^= bit
        if not isinstance(by_bit[bit], ReturnBlock):
            return False
    return True


# --- generating ------------------------------------------------------------------------------------

_SCORED = """\
        d = call{i}(f0, f1)
        if type(d) is not family{i}: raise NotColumnsError
        score = d.at(x{i})
        if not -inf < score < inf:
            score = beyond(d, x{i})
        total += score
"""

_DENSITY = """\
    if type(d{i}) is not family{i}: raise NotColumnsError
    def density(x):
        if type(x) is not number: raise NotColumnsError
        f1[{value}] = x
        total = d{i}.at(x)
        if not -inf < total < inf:
            total = beyond(d{i}, x)
            if total == -inf: return total
"""


def _maker(loop: ColumnLoopBlock, number: int) -> Callable[..., Any]:
    """The function that gives the density along the choice of a site; made once."""
    made = loop.local.get(number)
    if made is None:
        made = loop.local[number] = _made(loop, number)
    return made


def _made(loop: ColumnLoopBlock, number: int) -> Callable[..., Any]:
    step = loop.sites[number]
    scope: dict[str, Any] = {
        "NotColumnsError": NotColumnsError, "beyond": _beyond, "inf": inf, "template": loop.template,
        "number": PLAIN_FAMILIES[step.family],
    }  # fmt: skip
    if loop.depth != 1 or scope["number"] is None:
        raise NotColumnsError
    before = ["def local(f0, values, columns, t):\n", f"    f1 = template.copy()\n    f1[{POSITION}] = t\n"]
    for i, source in enumerate(loop.sources):
        scope[f"element{i}"] = source.element
        element = f"values[{i}] + t" if source.counted else f"element{i}(values[{i}], t)"
        before.append(f"    f1[{source.target}] = {element}\n")
    for other in loop.sites:
        if other is not step:
            before.append(f"    x{other.number} = f1[{other.slot}] = columns[{other.number}][t]\n")
    after: list[str] = []
    changed = {(loop.depth, step.slot)}
    sites = iter(loop.sites)
    for i, (block, is_site) in enumerate(loop.blocks):
        dependent = any((read.depth, read.slot) in changed for read in block.uses)
        if not is_site:
            scope[f"block{i}"] = block
            if not isinstance(block, FragmentBlock):
                raise NotColumnsError
            if dependent:
                changed.update((loop.depth, slot) for slot in block.defs)
                after.append(f"        block{i}.run(None, (f0, f1))\n")
            else:
                before.append(f"    block{i}.run(None, (f0, f1))\n")
            continue
        site = next(sites)
        scope[f"call{site.number}"], scope[f"family{site.number}"] = block.thing.call, site.family
        if site is step:
            before.append(f"    d{number} = call{number}(f0, f1)\n")
        elif dependent:
            if PLAIN_FAMILIES[site.family] is None:
                raise NotColumnsError
            after.append(_SCORED.format(i=site.number))
    density = _DENSITY.format(i=number, value=step.slot)
    exec("".join([*before, density, *after, "        return total\n", "    return density\n"]), scope)
    return scope["local"]  # type: ignore[no-any-return]


def _beyond(distribution: Any, value: Any) -> float:
    """The log density where the short formula doesn't give a finite one: -inf.

    Raises:
        NotColumnsError: it is anything else.
    """
    if distribution.logpdf(value) != -inf:
        raise NotColumnsError
    return -inf
