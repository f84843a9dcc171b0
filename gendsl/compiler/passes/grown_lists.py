"""Lists that get an item in each iteration, and what reads them before all items are there."""

from __future__ import annotations

from collections.abc import Sequence

from gendsl.compiler import hir
from gendsl.compiler.hir import Append, Body, Const, Expr, Fail, For, If, Length, Load, New, Op, Set, Var
from gendsl.compiler.hir.text_effects import changed_by, made_by
from gendsl.compiler.passes.first_iterations import Iterations
from gendsl.compiler.passes.staging import Names

_ZERO = Const(0, "i")


def grown_by(body: Body) -> list[Append]:
    """What each iteration adds to lists that it reads, too."""
    made = made_by(hir.walk(body))
    read = {one.list for one in hir.walk(body) if isinstance(one, (Load, Length))}
    return [one for one in body if isinstance(one, Append) and one.list in read - made]


class Reading:
    """What reads a list that has only so many items there.

    Args:
        known: what is known in the first iteration, in all, and in all but the first.
    """

    def __init__(self, ref: Expr, count: Expr, names: Names, known: Sequence[Iterations]) -> None:
        self.ref, self.count, self.names, self.known = ref, count, names, known

    def read(self, body: Body, is_later: bool) -> Body:
        """What some statements become.

        Args:
            is_later: whether the first iteration does not come to them.
        """
        result: Body = []
        for one in body:
            if isinstance(one, If):
                first = self.known[0].decided(one.test)
                one.then = self.read(one.then, is_later or first is False)
                one.orelse = self.read(one.orelse, is_later or first is True)
            elif isinstance(one, (For, hir.Loop, hir.Block)):
                one.body = self.read(one.body, is_later)
            if isinstance(one, Length) and one.list == self.ref:
                result.append(Set([one.target], [self.count], line=one.line))
            elif isinstance(one, Load) and one.list == self.ref:
                result += self._load(one, self.known[2 if is_later else 1])
            else:
                result.append(one)
        return result

    def _load(self, one: Load, known: Iterations) -> Body:
        index, from_end = one.index, sum_of(self.count, one.index)
        is_negative = Op("lt", (index, _ZERO), "b")
        decided = known.decided(is_negative)
        place: Expr = from_end if decided else index
        if decided is None:
            place = Op("select", (is_negative, from_end, index), "i")
        at = Var(self.names.new("place"), "i")
        result: Body = [Set([at], [place], line=one.line)]
        for name, low, high in (("le", _ZERO, place), ("lt", place, self.count)):
            if not known.decided(Op(name, (low, high), "b")):
                ends = tuple(at if end is place else end for end in (low, high))
                outside = Op("not", (Op(name, ends, "b"),), "b")
                result.append(If(outside, [Fail("an index out of range", line=one.line)], []))
        return [*result, Load(one.targets, one.list, one.layout, at, line=one.line)]


def sum_of(one: Expr, other: Expr) -> Expr:
    """A sum of integers, with one number in it."""
    if isinstance(one, Const) and isinstance(other, Const):
        return Const(one.value + other.value, "i")  # type: ignore[operator]
    if other == _ZERO:
        return one
    has_number = isinstance(one, Op) and one.name == "add" and isinstance(one.args[1], Const)
    if has_number and isinstance(other, Const):
        assert isinstance(one, Op)
        return sum_of(one.args[0], sum_of(one.args[1], other))
    return Op("add", (one, other), "i")


def items_before(body: Body, loop: For, ref: Expr) -> int | None:
    """How many items a list has before a loop, if it is made in the same body as that."""
    if loop not in body:
        found = [items_before(inner, loop, ref) for one in body for inner in hir.bodies(one)]
        return next((count for count in found if count is not None), None)
    count: int | None = None
    for one in body[: body.index(loop)]:
        if isinstance(one, New) and one.target == ref:
            count = len(one.items)
        elif isinstance(one, Append) and one.list == ref and count is not None:
            count += 1
        elif any(ref in (changed_by(inner), *hir.targets(inner)) for inner in hir.walk([one])):
            return None
    return count
