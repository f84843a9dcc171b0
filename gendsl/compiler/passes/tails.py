"""Functions whose branches end where they leave: what follows one that leaves is put into its other side.

A function that returns in the middle, or a loop that goes on with the next iteration there, is then a tree of
branches, each of which does a thing at its end:

    if a: return 1          if a: return 1
    x = 2              ->   else: x = 2
    return x                      return x

Whoever runs several iterations at once needs not keep in mind which of them have left. Blocks that are left
at the ends of branches only are no blocks any more. Functions are copied, so that others keep theirs.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence

from gendsl.compiler import hir
from gendsl.compiler.hir import Block, Body, Call, For, Function, If, Leave, Loop, Next, Return, Statement
from gendsl.compiler.passes.clean import ends

_MOST_TWICE, _MOST_IN_ALL = 24, 500
"""How many statements are written twice at most, where both sides of a branch may or may not leave: behind
one branch, and in a function."""


def with_tails(mains: Sequence[Function]) -> list[Function]:
    """Copies of functions, and of all that they call, whose branches end where they leave."""
    made = {id(one): copy.copy(one) for main in mains for one in hir.functions(main)}
    for function in made.values():
        function.body = _Nested(made).body(function.body, in_loop=False)
    return [made[id(main)] for main in mains]


class _Nested:
    def __init__(self, made: dict[int, Function]) -> None:
        self.made = made
        self.left = _MOST_IN_ALL

    def body(self, body: Body, *, in_loop: bool) -> Body:
        result: Body = []
        for position, one in enumerate(body):
            rest = body[position + 1 :]
            made = copy.copy(one)
            if isinstance(made, Call):
                made.function = self.made[id(made.function)]
            elif isinstance(made, If):
                if rest and self._is_left(made, in_loop=in_loop):
                    sides = self._with_rest(made, rest)
                    if sides is not None:
                        made.then, made.orelse = sides
                        rest = []
                made.then, made.orelse = (self.body(side, in_loop=in_loop) for side in hir.bodies(made))
                result.append(made)
                if not rest:
                    break
                continue
            elif isinstance(made, (For, Loop)):
                made.body = _without_tails(self.body(made.body, in_loop=True), made.label, Next)
            elif isinstance(made, Block):
                made.body = _without_tails(self.body(made.body, in_loop=in_loop), made.label, Leave)
                if not any(isinstance(s, Leave) and s.label == made.label for s in hir.walk(made.body)):
                    result += made.body
                    if ends(made.body):
                        break
                    continue
            result.append(made)
        return result

    def _is_left(self, branch: If, *, in_loop: bool) -> bool:
        """Whether a branch may leave what is around it, but for a loop by returning."""
        inside = {one.label for one in hir.walk([branch]) if isinstance(one, (For, Loop, Block))}
        return any(
            one.label not in inside
            if isinstance(one, (Leave, Next))
            else isinstance(one, Return) and not in_loop
            for one in hir.walk([branch])
        )

    def _with_rest(self, branch: If, rest: Body) -> tuple[Body, Body] | None:
        """The sides of a branch with what follows it; None where too much would be written twice."""
        if ends(branch.then):
            return branch.then, branch.orelse if ends(branch.orelse) else [*branch.orelse, *rest]
        if ends(branch.orelse):
            return [*branch.then, *rest], branch.orelse
        count = sum(1 for _ in hir.walk(rest))
        if count > min(_MOST_TWICE, self.left):
            return None
        self.left -= count
        return [*branch.then, *rest], [*branch.orelse, *rest]


def _without_tails(body: Body, label: int, kind: type[Leave] | type[Next]) -> Body:
    """A body that does not say that it goes on, at the ends of its branches, where it does anyway."""
    if not body:
        return body
    last: Statement = body[-1]
    if isinstance(last, kind) and last.label == label:
        return body[:-1]
    if isinstance(last, If):
        last.then, last.orelse = (_without_tails(side, label, kind) for side in hir.bodies(last))
    return body
