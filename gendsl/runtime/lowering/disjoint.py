"""Bodies in which no two choices or calls can have one address, whatever values they have."""

from __future__ import annotations

from typing import Any

from gendsl.runtime.lowering import ir


def is_disjoint(program: ir.Program) -> bool:
    """Whether no two choices or calls of a body can have one address, or one above the other.

    So it is if no two sites share the first component of their addresses, and each site's has a loop
    variable that takes no value twice for every loop around it.
    """
    heads: set[Any] = set()

    def apart(nodes: list[ir.Node], around: list[set[tuple[int, int]]]) -> bool:
        for node in nodes:
            match node:
                case ir.Site():
                    if node.address is None and not node.splice:
                        continue  # no choice
                    if node.splice or not node.parts or node.parts[0][0] is None:
                        return False
                    head = node.parts[0][0]
                    slots = {slot for _, slot in node.parts}
                    if head in heads or any(slots.isdisjoint(targets) for targets in around):
                        return False
                    heads.add(head)
                case ir.Branch():
                    if not (apart(node.arms[0], around) and apart(node.arms[1], around)):
                        return False
                case ir.Loop():
                    if not apart(node.body, [*around, *_distinct(node)]):
                        return False
                case ir.Region():
                    return False
        return True

    return apart(program.body, [])


def _distinct(loop: ir.Loop) -> list[set[tuple[int, int]]]:
    """The variables that take no value twice, of a loop or of each of those that it is."""
    if not loop.levels:
        return [{(loop.depth, source.target) for source in loop.sources if source.distinct}]
    sources = iter(loop.sources)
    return [
        {(loop.depth, source.target) for distinct, source in zip(level.distinct, sources) if distinct}  # noqa: B905
        for level in loop.levels
    ]
