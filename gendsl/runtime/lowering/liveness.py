"""Which slots blocks read, and what is left of them when nothing reads some."""

from __future__ import annotations

from collections.abc import Callable

from gendsl.runtime.lowering.ir import (
    Branch,
    Code,
    Copy,
    Exit,
    Fragment,
    Load,
    Loop,
    Node,
    Region,
    Return,
    Site,
)


def codes_of(node: Node) -> list[Code]:
    """The pieces of code of a block itself, not of blocks inside it."""
    match node:
        case Fragment() | Return() | Region():
            return [node.code]
        case Site():
            return [code for code in (node.address, node.thing) if code is not None]
        case Branch():
            return [node.test]
        case Loop():
            return [source.code for source in node.sources]
    return []


def visit(nodes: list[Node], see: Callable[[Node], None]) -> None:
    """Call `see` on every block, outer ones first."""
    for node in nodes:
        see(node)
        if isinstance(node, Branch):
            visit(node.arms[0], see)
            visit(node.arms[1], see)
        elif isinstance(node, Loop):
            visit(node.body, see)


def slots_read(nodes: list[Node], depth: int) -> set[int]:
    """The slots of the frame of one depth that blocks read, copies to the iteration's outs included."""
    found: set[int] = set()
    copies: list[tuple[int, int]] = []

    def see(node: Node) -> None:
        for code in codes_of(node):
            for load in all_loads(code):
                if load.depth == depth:
                    found.add(load.slot)
                elif load.depth + 1 == depth and load.own is not None:
                    found.update(slot for slot in (load.own, load.own_key) if slot >= 0)
        if isinstance(node, Copy) and node.source is not None and node.source[0] == depth:
            copies.append((node.source[1], node.slot))
        if isinstance(node, Site):
            found.update(load.slot for load in node.arguments if load is not None and load.depth == depth)
        if isinstance(node, Loop):
            for _, first, _, _ in node.carried:
                if first is not None and first[0] == depth:
                    found.add(first[1])
            for _, _, first in node.outs:
                if first is not None and first[0] == depth:
                    found.add(first[1])
            for written in node.stored:
                if written.base is not None and written.base[0] == depth:
                    found.add(written.base[1])
                if node.depth == depth:
                    found.update((written.value, written.key))

    visit(nodes, see)
    # a copy is read if what it copies to is; a copy to a slot of an inner frame always is
    found.update(source for source, slot in copies)
    return found


def sure_slots(nodes: list[Node]) -> set[tuple[int, int]]:
    """The slots, with the depths of their frames, that blocks read whichever branches are taken."""
    sure: set[tuple[int, int]] = set()
    for node in nodes:
        if isinstance(node, Branch):
            sure |= sure_slots(node.arms[0]) & sure_slots(node.arms[1])
        elif isinstance(node, Loop):
            sure |= sure_slots(node.body)
        sure.update((load.depth, load.slot) for code in codes_of(node) for load in all_loads(code))
        if _continues(node):
            break
    return sure


def _continues(node: Node) -> bool:
    """Whether a block may go to the next iteration of the loop around it."""
    if isinstance(node, Exit):
        return node.status == "continue"
    return isinstance(node, Branch) and any(map(_continues, (*node.arms[0], *node.arms[1])))


def levels(load: Load) -> list[Load]:
    """A load, and those of what inner loops have written of the container."""
    return [load] if load.inner is None else [load, *levels(load.inner)]


def all_loads(code: Code) -> list[Load]:
    loads = []
    for load in code.loads:
        loads += levels(load)
        for key in load.keys:
            loads += all_loads(key)
    return loads


def without_copies(nodes: list[Node], unread: set[int]) -> list[Node]:
    """The blocks without copies to slots that nothing reads."""
    kept: list[Node] = []
    for node in nodes:
        if isinstance(node, Copy) and node.slot in unread:
            continue
        if isinstance(node, Branch):
            arms = without_copies(node.arms[0], unread), without_copies(node.arms[1], unread)
            node = Branch(node.node, node.test, arms, node.defs, node.state)
        kept.append(node)
    return kept


