"""Runs of statements at the top of a body that may be executed as a whole, where they make few choices.

    k = ~poisson(3)                                         one block for the three of them
    mu = [("mu", j) @ ~normal(0, 10) for j in range(k)]     while k is small,
    w = ~dirichlet([1.0] * k)
    for i in range(n):                                      beside the loop over the data
        ("x", i) @ ~mixture_of_normals(w, mu, sigma)

Running such a block again costs a microsecond or two for each of its choices; following a change through
its parts costs some tens whatever the number of choices. A group defines the slots that its statements
define where they are blocks of their own, so that a frame can pass from the one form to the other.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gendsl.lang.rewrite import rewrite_statements
from gendsl.lang.source import Source
from gendsl.lang.trees import walk
from gendsl.runtime.lowering.ir import Code, Copy, Fragment, Group, Loop, Node, Site
from gendsl.runtime.lowering.light import is_light_statement, programs_called

if TYPE_CHECKING:
    from gendsl.runtime.lowering.scope import Scope
    from gendsl.runtime.lowering.versions import Version


@dataclass(frozen=True)
class Member:
    """A statement that may be in a group.

    Attributes:
        choices: how many choices it makes outside its loops.
        loops: its loops, and how many choices each of their iterations makes.
        heads: the first components of the addresses of its choices.
    """

    choices: int
    loops: tuple[tuple[Loop, int], ...]
    heads: frozenset[Any]


@dataclass(frozen=True)
class Statement:
    """A statement at the top of a body, as it was lowered.

    Attributes:
        before, after: the variables' versions.
        nodes: its blocks.
        member: what a group has to know of it; None if it can be in none.
        state: the slot of a group that it is the first of.
    """

    node: ast.stmt
    before: dict[str, Version]
    after: dict[str, Version]
    nodes: list[Node]
    member: Member | None
    state: int


class Grouping:
    """The statements of a body, and the groups that can be made of them."""

    def __init__(self, scope: Scope, statements: list[Statement]) -> None:
        self.scope = scope
        self.statements = statements

    def group(self, first: int, last: int) -> Group:
        """The statements from `first` to before `last` as one block."""
        scope, run = self.scope, self.statements[first:last]
        before, after = run[0].before, run[-1].after
        names = [
            name for name, version in after.items()
            if not name.startswith("__gendsl_")
            and (name not in before or before[name].slot != version.slot)
        ]  # fmt: skip
        nodes = [statement.node for statement in run]
        changed = frozenset(name for node in nodes for name in scope.effects.changed(node))
        result = ast.Tuple([ast.Name(name, ast.Load()) for name in names], ast.Load())
        scope.env = dict(before)
        start = len(scope.codes)
        code = scope.code(
            result,
            rewrite_statements(nodes, inlines=scope.definition),
            [name for name in names if name in before],
            changed,
            tuple(name for name in names if after[name].unset),
            traced=True,
        )
        codes: list[Code] = scope.codes[start:]
        del scope.codes[start:]
        heads = frozenset().union(*(s.member.heads for s in run if s.member is not None))
        return Group(run[0].node, code, codes, [after[name].slot for name in names], run[0].state, heads)


def as_member(source: Source, statement: ast.stmt, nodes: list[Node]) -> Member | None:
    """What a group has to know of a statement that was lowered to these blocks; None if it can be in none."""
    choices, loops, heads = 0, [], set()
    for node in nodes:
        if isinstance(node, Loop) and not node.exits:
            found = _heads(node.body)
            loops.append((node, sum(isinstance(inner, Site) for inner in node.body)))
        else:
            found = _heads([node])
            choices += isinstance(node, Site)
        if found is None:
            return None
        heads |= found
    if any(isinstance(part, ast.AugAssign) for part in walk(statement)):
        return None
    if not is_light_statement(source, statement) or (heads and _calls_programs(source, statement)):
        return None
    return Member(choices, tuple(loops), frozenset(heads))


def _heads(nodes: list[Node]) -> set[Any] | None:
    """The first components of the addresses of blocks; None if they aren't known, or there are others."""
    heads = set()
    for node in nodes:
        match node:
            case Fragment() | Copy():
                pass
            case Site(splice=False, parts=[(head, None), *_]) if head is not None:
                heads.add(head)
            case _:
                return None
    return heads


def _calls_programs(source: Source, statement: ast.stmt) -> bool:
    return any(
        called is None or getattr(called, "compiled", None) is not None
        for called in programs_called(source, [statement])
    )
