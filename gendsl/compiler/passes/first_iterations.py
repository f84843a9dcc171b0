"""What tests in the body of a loop come to in some of its iterations, as in all but the first.

    previous = None
    for t in range(n):                         previous = None
        if previous is None:                   for t in range(n):
            x = f(0.0)                  ->         if previous is None:  # only where t == 0
        else:
            x = f(previous)
        previous = x

Integers are compared as sums of variables that stay what they are during an iteration.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from functools import cached_property

from gendsl.compiler import hir
from gendsl.compiler.hir import Body, Const, Expr, For, Op, Set, Var

_COMPARED: dict[str, Callable[[float, float], bool | None]] = {
    "lt": lambda low, high: True if high < 0 else False if low >= 0 else None,
    "ge": lambda low, high: True if low >= 0 else False if high < 0 else None,
    "le": lambda low, high: True if high <= 0 else False if low > 0 else None,
    "gt": lambda low, high: True if low > 0 else False if high <= 0 else None,
    "eq": lambda low, high: True if low == high == 0 else False if low > 0 or high < 0 else None,
    "ne": lambda low, high: False if low == high == 0 else True if low > 0 or high < 0 else None,
}  # fmt: skip
"""Whether a difference that is between two numbers is less than 0, and so on, if that is known."""
_SAME = "int", "bool"
"""Operations that leave an integer what it is, as far as it is compared with 0."""
_MOST = 12
"""How deep definitions are looked into."""

Sum = tuple[dict[Var, int], int]
"""A sum of variables, each so many times, and of a number."""


class Iterations:
    """What is known in some iterations of a loop.

    Args:
        body: that of the loop.
        between: which ones: how many there are before the first of them, and before the last.
        flags: the variables that have these values whenever they are read then.
        carried: the other variables that may be read before they are set.
    """

    def __init__(
        self,
        loop: For,
        body: Body,
        between: tuple[float, float],
        flags: Mapping[Var, Const],
        carried: set[Var],
    ) -> None:
        self.loop, self.between, self.flags = loop, between, flags
        self.sets = Counter(var for one in hir.walk(body) for var in hir.targets(one))
        for one in hir.walk(body):
            if isinstance(one, (For, hir.Loop)):  # what is set in there has several values
                self.sets.update([var for inner in hir.walk([one]) for var in hir.targets(inner)] * 2)
        self.sets.update([*carried] * 2)
        self.definitions = {
            target: value
            for one in hir.walk(body)
            if isinstance(one, Set)
            for target, value in zip(one.targets, one.values, strict=True)
            if self.sets[target] == 1
        }

    def decided(self, test: Expr, depth: int = 0) -> bool | None:
        """What a test comes to, if it is always the same."""
        if depth > _MOST:
            return None
        if isinstance(test, Const):
            return bool(test.value)
        if isinstance(test, Var):
            if test in self.flags:
                return bool(self.flags[test].value)
            found = self.definitions.get(test)
            return None if found is None else self.decided(found, depth + 1)
        if not isinstance(test, Op):
            return None
        args = test.args
        if test.name in ("not", "and", "or", "select"):
            return self._of_parts(test.name, [self.decided(arg, depth + 1) for arg in args])
        if test.name == "bool":
            compare, difference = _COMPARED["ne"], self.sum_of(args[0])
        elif test.name in _COMPARED and all(arg.kind in "ib" for arg in args):
            compare, difference = _COMPARED[test.name], self.sum_of(Op("sub", args, "i"))
        else:
            return None
        range_ = None if difference is None else self._range(difference)
        return None if range_ is None else compare(*range_)

    @staticmethod
    def _of_parts(name: str, parts: list[bool | None]) -> bool | None:
        match name, parts:
            case "not", [known]:
                return None if known is None else not known
            case "and", _:
                return False if False in parts else None if None in parts else True
            case "or", _:
                return True if True in parts else None if None in parts else False
            case _, [None, one, other]:
                return one if one == other else None
            case _, [test, one, other]:
                return one if test else other
        return None

    def sum_of(self, expr: Expr, depth: int = 0) -> Sum | None:
        """An integer as a sum, if it is one of variables that stay what they are."""
        if depth > _MOST:
            return None
        if isinstance(expr, Const) and isinstance(expr.value, int):
            return {}, int(expr.value)
        if isinstance(expr, Var):
            if expr in self.flags:
                return self.sum_of(self.flags[expr], depth + 1)
            found = self.definitions.get(expr) if expr.kind in "ib" else None
            known = None if found is None else self.sum_of(found, depth + 1)
            if known is None and expr.kind == "i" and self.sets[expr] <= 1:
                known = {expr: 1}, 0
            return known
        if not isinstance(expr, Op) or expr.kind not in "ib":
            return None
        if expr.name == "select":
            test = self.decided(expr.args[0], depth + 1)
            return None if test is None else self.sum_of(expr.args[1 if test else 2], depth + 1)
        if expr.kind == "b" or expr.name in _SAME:
            known_as = self.decided(expr, depth + 1) if expr.kind == "b" else None
            if known_as is not None:
                return {}, int(known_as)
            return self.sum_of(expr.args[0], depth + 1) if expr.name == "int" else None
        parts = [self.sum_of(arg, depth + 1) for arg in expr.args]
        found_parts = [part for part in parts if part is not None]
        if len(found_parts) < len(parts):
            return None
        match expr.name, found_parts:
            case "add", [one, other]:
                return _added(one, other, 1)
            case "sub", [one, other]:
                return _added(one, other, -1)
            case "neg", [one]:
                return _added(({}, 0), one, -1)
            case "mul", [one, ({**none}, times)] | [({**none}, times), one] if not none:
                return _added(({}, 0), one, times)
        return None

    @cached_property
    def _start(self) -> Sum | None:
        """The first value of the loop's variable as a sum, if all of it is as it was before the loop."""
        made = {self.loop.var, *self.sets, *self.flags}
        return None if made.intersection(hir.parts(self.loop.start)) else self.sum_of(self.loop.start)

    def _range(self, difference: Sum) -> tuple[float, float] | None:
        """Between which numbers a sum is, if that is known."""
        times = difference[0].get(self.loop.var, 0)
        start = self._start if times else ({}, 0)
        if start is None:
            return None
        rest = _added(difference, ({self.loop.var: 1}, 0), -times)
        variables, number = _added(rest, start, times)
        if variables:
            return None
        ends = [number + times * end if times else number for end in self.between]
        return min(ends), max(ends)


def _added(one: Sum, other: Sum, times: int) -> Sum:
    found = dict(one[0])
    for var, number in other[0].items():
        found[var] = found.get(var, 0) + times * number
    return {var: number for var, number in found.items() if number}, one[1] + times * other[1]
