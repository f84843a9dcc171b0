"""Choices of loops that are edited by themselves: which they are, and how one is found by its address.

They are found once, when a body is linked. No two sites of it begin their addresses alike (else there are
none), so the first component of an address says which loop and which site; the iteration is one subtraction
away where one component counts the iterations and the others are constants.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any, NamedTuple

from gendsl.address import Path
from gendsl.compiler.vectors import NotColumnsError
from gendsl.runtime.blocks import Block, FragmentBlock, ReturnBlock, Sequence
from gendsl.runtime.loop_parts import Iterations
from gendsl.runtime.loops import LoopBlock
from gendsl.runtime.reads import Frame
from gendsl.runtime.sites import SiteBlock
from gendsl.runtime.totals import Total


class NotLocalError(NotColumnsError):
    """A choice can't be looked at by itself, whatever its value is."""


Visited = tuple[tuple[Frame, Frame], ...]
Terms = tuple[tuple[int, float, float], ...]
Moved = tuple[tuple[Any, Any, float | None], float, float, Visited, Terms]
"""What becomes of iterations when a choice has another value:

- the record of the choice; its score is None where only the blocks can tell what depends on a value that was
  drawn, and then nothing else is here;
- the changes of its own log density, and of those that depend on it;
- the iterations from its own on, each before and after;
- where iterations are columns, the number of each site concerned with its score before and after.
"""


class Form(NamedTuple):
    """The functions for one site, over iterations that are kept in one way.

    Attributes:
        move: what becomes of iterations (frame, iterations, t, value, rng) with a value, or one drawn by rng.
        density: the value of the choice (frame, iterations, t), and the density as a function of another.
        moved: the iterations (loop, frame, iterations, total, t, moved, most) after a move, with their total;
            `most` is how large a score may be whose change is still seen in the total.

    Raises:
        NotLocalError: this is not the way for any value.
        Exception: it isn't for this one; nothing has happened.
    """

    move: Callable[..., Any]
    density: Callable[..., tuple[Any, Callable[[Any], float]]]
    moved: Callable[..., tuple[Any, Total]]


class LocalSite:
    """The choices of one site of a loop.

    Attributes:
        loop, block: the loop and the site in it.
        forms: kind of iterations (columns or frames) -> the functions for them, made when first needed.
    """

    __slots__ = ("_constants", "_length", "_position", "_source", "block", "forms", "loop")

    def __init__(self, loop: LoopBlock, block: SiteBlock) -> None:
        self.loop = loop
        self.block = block
        self.forms: dict[type, Form] = {}
        parts = block.parts or ()
        variable = [i for i, (_, slot) in enumerate(parts) if slot is not None]
        constants = [(i, part[0]) for i, part in enumerate(parts) if i and i not in variable]
        self._constants = constants  # but the first, which has led here
        self._length = -1  # no address is found directly
        if len(variable) == 1 and all(constant is not None for _, constant in constants):
            depth, slot = parts[variable[0]][1]  # type: ignore[misc]
            if depth == loop.depth and slot in loop.targets:
                self._length, self._position = len(parts), variable[0]
                self._source = loop.targets[slot]

    def place(self, frame: Frame, iterations: Iterations, path: Path) -> int:
        """The iteration that makes the choice at a path; one that the loop doesn't get to if none does.

        Raises:
            NotColumnsError: it isn't found.
        """
        if len(path) != self._length:
            return self._looked_for(frame, iterations, path)
        for i, constant in self._constants:
            if path[i] != constant:
                raise NotColumnsError
        component, value = path[self._position], iterations.values[self._source]
        if type(component) is int:
            if type(value) is range and value.step == 1:
                return component - value.start
            if type(value) is int:
                return component - value
        found = self.loop.iterations_at(iterations, self._source, component)
        if len(found) != 1:
            raise NotColumnsError
        return found[0]

    def _looked_for(self, frame: Frame, iterations: Iterations, path: Path) -> int:
        """The same for an address of any kind."""
        found = self.loop.positions(iterations, (frame,), path, 0, False)
        if found is None or len(found) != 1:
            raise NotColumnsError
        (t,) = found
        if self.block.path((), (frame, iterations.frames[t])) != path:
            raise NotColumnsError
        return t


def sites_of(body: Sequence) -> dict[Any, LocalSite]:
    """The sites whose choices are edited by themselves, by the first components of their addresses.

    What the loop leaves behind must be read by nothing that would have to run again.
    """
    if body.leaves_early:
        return {}
    found: dict[Any, LocalSite] = {}
    for head, mask in body.by_head.items():
        loop = body.by_bit.get(mask)
        if isinstance(loop, LoopBlock) and loop.keeps_apart:
            readers = 0
            for written in loop.stored:
                readers |= loop.readers.get(written.after, 0)
            site = loop.body.by_bit.get(loop.body.by_head.get(head, 0))
            gathered = all(_only_gathers(block) for bit, block in body.by_bit.items() if bit & readers)
            if type(site) is SiteBlock and site.address is not None and gathered:
                found[head] = LocalSite(loop, site)
    return found


def _only_gathers(block: Block) -> bool:
    """Whether a block makes its value when it is asked for."""
    return isinstance(block, ReturnBlock) and block.later


def code_of(block: FragmentBlock, i: int, frame: str, scope: dict[str, Any]) -> str:
    """The line of a generated function that runs deterministic code, block i, on a frame of its loop."""
    scope[f"code{i}"] = block.runner.call
    call = f"code{i}(f0, {frame})"
    return "".join(f"{frame}[{slot}], " for slot in block.defs) + f"= {call}" if block.defs else call


def beyond(distribution: Any, value: Any) -> float:
    """The log density where the short formula doesn't give a finite one: -inf.

    Raises:
        NotColumnsError: it is anything else.
    """
    if distribution.logpdf(value) != -inf:
        raise NotColumnsError
    return -inf
