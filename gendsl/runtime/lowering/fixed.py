"""Loops whose number of iterations no choice decides: those over the data, mostly.

    for i in range(n):                              as many as an argument says
        ("y", i) @ ~normal(a + b * t[i], 1)
    for j in range(k):                              as many as there are components: not one of these

A trace keeps what the first kind does as long as its arguments stay the same. What is found here decides on
the form in which something is kept, and never on what is computed.
"""

from __future__ import annotations

from collections.abc import Iterable

from gendsl.runtime.lowering.ir import (
    LENGTH,
    Branch,
    Code,
    Copy,
    Exit,
    Filled,
    Fragment,
    Loop,
    Node,
    Region,
    Return,
    Site,
    Source,
    Stored,
)
from gendsl.runtime.lowering.liveness import all_loads


def mark_fixed(body: list[Node]) -> None:
    """Mark the loops at the top of a body whose number of iterations no choice decides."""
    found = _Decided()
    for node in body:
        if isinstance(node, Branch) and any(map(_leaves, node.arms)):
            return  # whether what comes after it runs may depend on a choice
        found.visit(node)


class _Decided:
    """The slots of a body, as far as it has been visited, that choices decide on.

    Attributes:
        values: those whose values they decide on.
        lengths: those containers whose lengths they decide on.
    """

    def __init__(self) -> None:
        self.values: set[int] = set()
        self.lengths: set[int] = set()

    def visit(self, node: Node) -> None:
        match node:
            case Site():
                self._both((node.value, node.state))
            case Loop():
                node.fixed = self._is_fixed(node)
                self._loop(node, node.fixed)
            case Filled():
                if self._any_decided(node.code):
                    self.values.update(node.defs)
                    if not self._is_fixed(node.loop):
                        self.lengths.update(node.defs)
            case Fragment():
                if self._any_decided(node.code):
                    self._both(node.defs)
            case Copy(source=(_, slot)):
                if slot in self.values:
                    self.values.add(node.slot)
                if slot in self.lengths:
                    self.lengths.add(node.slot)
            case Branch() | Region():
                self._both(node.defs)

    def _both(self, slots: Iterable[int]) -> None:
        self.values.update(slots)
        self.lengths.update(slots)

    def _loop(self, loop: Loop, fixed: bool) -> None:
        self.values.update(out for out, _, _ in loop.outs)
        self.lengths.update(out for out, _, _ in loop.outs)
        for stored in loop.stored:
            self.values.add(stored.after)
            if not (fixed and _has_one_each(stored)) or (stored.base and stored.base[1] in self.lengths):
                self.lengths.add(stored.after)

    def _is_fixed(self, loop: Loop) -> bool:
        counts = [source for source in loop.sources if not source.counted]
        return bool(counts) and not loop.exits and not any(map(self._is_decided, counts))

    def _is_decided(self, source: Source) -> bool:
        """Whether choices decide on how many things there are to go through."""
        if source.load is not None:
            return source.load.slot in self.lengths
        return self._any_decided(source.code)

    def _any_decided(self, code: Code) -> bool:
        return any(
            load.depth == 0 and load.slot in (self.lengths if load.mode is LENGTH else self.values)
            for load in all_loads(code)
        )


def _has_one_each(stored: Stored) -> bool:
    """Whether each iteration adds one entry to a container, or writes one that was there."""
    return not stored.optional and stored.kind in ("append", "index")


def _leaves(nodes: list[Node]) -> bool:
    """Whether something among the blocks ends the body."""
    return any(
        isinstance(node, Return | Exit) or (isinstance(node, Branch) and any(map(_leaves, node.arms)))
        for node in nodes
    )
