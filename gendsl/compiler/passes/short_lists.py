"""Lists of a known length whose items are asked for by their numbers are variables.

    xs = []                                x_0 = f(a)
    xs.append(f(a))                        x_1 = f(b)
    xs.append(f(b))             ->         u = x_0
    u = xs[0]                              v = x_1
    v = xs[1]

So what is unpacked from a generator, or put into a tuple for a while, is no list.
"""

from __future__ import annotations

from itertools import count

from gendsl.compiler import hir
from gendsl.compiler.hir import (
    Append,
    Body,
    Const,
    Expr,
    Function,
    Length,
    Load,
    New,
    Set,
    Statement,
    Store,
    Truncate,
    Var,
)
from gendsl.compiler.hir.list_uses import ListUses
from gendsl.compiler.passes.clean import clean_one


def clean(function: Function) -> None:
    """Clean a function, with variables for the items of its short lists."""
    clean_one(function)
    if _may_have_any(function) and _ShortLists(function).found:
        clean_one(function)


def _may_have_any(function: Function) -> bool:
    """Whether a list that one body makes and fills is asked for an item by its number, or for its length."""
    made: set[Expr] = set()
    asked: set[Expr] = set()
    changed: set[Expr] = set()
    for body in [function.body, *(b for one in hir.walk(function.body) for b in hir.bodies(one))]:
        here: set[Expr] = set()
        for one in body:
            if isinstance(one, New):
                here.add(one.target)
            elif isinstance(one, (Store, Truncate)) or (isinstance(one, Append) and one.list not in here):
                changed.add(one.list)
            elif isinstance(one, Length) or (isinstance(one, Load) and isinstance(one.index, Const)):
                asked.add(one.list)
        made |= here
    return bool((made & asked) - changed)


class _ShortLists:
    """Replaces the short lists of one function.

    Attributes:
        found: whether there is any.
    """

    def __init__(self, function: Function) -> None:
        self.uses = ListUses(function)
        self.names = {var.name for var in self.uses.sets}
        self.found = False
        for body in [function.body, *(b for one in hir.walk(function.body) for b in hir.bodies(one))]:
            for one in [one for one in body if isinstance(one, New)]:
                if self.uses.is_alone(one.target):
                    self._replace(body, one)

    def _replace(self, body: Body, made: New) -> None:
        """Replace a list, if all that is done with it is known."""
        ref, reads = made.target, self.uses.reads[made.target]
        start = next(at for at, one in enumerate(body) if one is made)
        appends = [one for one in reads if isinstance(one, Append)]
        last = max((at for at, one in enumerate(body) if any(one is more for more in appends)), default=start)
        before, after = body[start : last + 1], list(hir.walk(body[last + 1 :]))
        size = len(made.items) + len(appends)
        if sum(any(one is more for more in before) for one in appends) < len(appends):
            return
        for one in reads:
            if not isinstance(one, Append) and not (
                self._is_known(one, size) and any(one is more for more in after)
            ):
                return
        items: list[list[Var]] = []
        for at, one in enumerate(before, start):
            if one is made:
                body[at] = self._set([expr for item in made.items for expr in item], one)
                flat, width = body[at].targets, len(made.layout)  # type: ignore[attr-defined]
                items += [flat[k * width : (k + 1) * width] for k in range(len(made.items))]
            elif isinstance(one, Append) and any(one is more for more in appends):
                body[at] = self._set(one.item, one)
                items.append(body[at].targets)  # type: ignore[attr-defined]
        for inner in [body, *(b for one in after for b in hir.bodies(one))]:
            for at, one in enumerate(inner):
                if isinstance(one, Length) and one.list == ref:
                    inner[at] = Set([one.target], [Const(size, "i")], line=one.line)
                elif isinstance(one, Load) and one.list == ref:
                    inner[at] = Set(one.targets, [*items[_number(one.index)]], line=one.line)
        self.found = True

    @staticmethod
    def _is_known(one: Statement, size: int) -> bool:
        """Whether a statement asks for the length, or for an item that there is."""
        if isinstance(one, Load):
            return isinstance(one.index, Const) and 0 <= _number(one.index) < size
        return isinstance(one, Length)

    def _set(self, item: list[Expr] | tuple[Expr, ...], one: New | Append) -> Set:
        """What sets new variables to an item."""
        name = next(f"item{k}" for k in count(len(self.names)) if f"item{k}" not in self.names)
        targets = [Var(f"{name}_{leaf}", expr.kind) for leaf, expr in enumerate(item)]
        self.names.update([name, *(var.name for var in targets)])
        return Set(targets, list(item), line=one.line)


def _number(index: Expr) -> int:
    """The value of a constant."""
    assert isinstance(index, Const) and isinstance(index.value, int)
    return index.value
