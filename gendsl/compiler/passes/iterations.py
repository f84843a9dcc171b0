"""The iterations of a loop in which an index is that of a choice: where it is, or by an index of them.

    def iterations_with(left):                               heads, nexts, found = iterations_with(left)
        heads, nexts, found = [], [], []                     entry = heads[at] if at < len(heads) else -1
        for e in reversed(range(m)):                         while entry >= 0:
            key = left[e]                                        e = found[entry]
            ...                                                  entry = nexts[entry]
            nexts.append(heads[key])                             ...
            found.append(e)
            heads[key] = len(found) - 1
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gendsl.compiler import hir
from gendsl.compiler.hir import (
    Append,
    Block,
    Body,
    Call,
    Const,
    Expr,
    For,
    Function,
    If,
    Leave,
    Length,
    Load,
    Loop,
    New,
    Next,
    Op,
    Return,
    Set,
    Statement,
    Store,
    Var,
)
from gendsl.compiler.hir.rewriting import variables_of
from gendsl.compiler.passes.of_data import NOTED
from gendsl.compiler.passes.reach import Key
from gendsl.compiler.passes.staging import Names

_ZERO, _ONE, _NONE = Const(0, "i"), Const(1, "i"), Const(-1, "i")
_TIMES, _LEAST = 4, 1000
"""How many numbers have entries of their own at most: so many for an iteration, and so many."""


class Iterations:
    """Those of one loop.

    Attributes:
        at: the indices of the choice.
    """

    def __init__(self, names: Names, labels: Iterator[int], loop: For, at: Sequence[Var]) -> None:
        self.names, self.labels, self.loop, self.at = names, labels, loop, at

    def at_keys(self, keys: Sequence[Key]) -> tuple[Body, list[Var]]:
        """The iterations that keys say: statements that find them, and the variables that these set."""
        body: Body = []
        places = []
        for key in keys:
            place = Var(self.names.new(self.loop.var.name), "i")
            body.append(Set([place], [key.place(self.at).expr()], line=self.loop.line))
            places.append(place)
        return body, places

    def runs(self, place: Var, others: Sequence[Var]) -> Expr:
        """Whether the loop has an iteration, and it is none of some others."""
        loop = self.loop
        test = hir.both(Op("le", (loop.start, place), "b"), Op("lt", (place, loop.stop), "b"))
        for other in others:
            test = hir.both(test, Op("ne", (place, other), "b"))
        return test

    def of_index(
        self, axis: int, noting: Sequence[tuple[Body, set[Var]]], var: Var, body: Body
    ) -> Body:
        """Run statements for the iterations that an index of them has.

        Args:
            axis: of which of the indices of the choice.
            noting: what notes the numbers that an index is in an iteration, and from what; see `of_data`.
            var: the loop's variable in the statements.
        """
        loop, line = self.loop, self.loop.line
        made = self._index(noting)
        lists = [Var(self.names.new(name), "r") for name in ("heads", "nexts", "iterations")]
        heads, nexts, iterations = lists
        entry, size = Var(self.names.new("entry"), "i"), Var(self.names.new("size"), "i")
        at, bucket = self.at[axis], Var(self.names.new("bucket"), "i")
        label = next(self.labels)
        return [
            Call(list(lists), made, list(made.parameters), line=line),
            Length(size, heads, ("i",)),
            Set([entry, bucket], [_NONE, self._bucket(at)]),
            If(
                hir.both(Op("le", (_ZERO, bucket), "b"), Op("lt", (bucket, size), "b")),
                [Load([entry], heads, ("i",), bucket)],
                [],
            ),
            Loop(
                [
                    If(Op("lt", (entry, _ZERO), "b"), [Leave(label)], []),
                    Load([var], iterations, ("i",), entry),
                    Load([entry], nexts, ("i",), entry),
                    *body,
                ],
                label,
                line=loop.line,
            ),
        ]

    def _bucket(self, key: Expr) -> Expr:
        """Where the entries of a number are: those of large ones together, so that the table is not large."""
        count = Op("imax", (Op("sub", (self.loop.stop, self.loop.start), "i"), _ZERO), "i")
        most = Op("add", (Op("mul", (Const(_TIMES, "i"), count), "i"), Const(_LEAST, "i")), "i")
        return Op("imin", (key, most), "i")

    def _index(self, noting: Sequence[tuple[Body, set[Var]]]) -> Function:
        """The function that makes the index: for each number the first entry, for each entry the next."""
        loop, names = self.loop, self.names
        outside = variables_of(loop.start, loop.stop).union(*(given for _, given in noting))
        parameters = sorted(outside)
        heads, nexts, iterations = (Var(names.new(name), "r") for name in ("heads", "nexts", "iterations"))
        back, count = (Var(names.new(name), "i") for name in ("back", "count"))

        def put(one: Statement) -> Body | None:
            if isinstance(one, Append) and one.list == NOTED:
                return self._put(one.item[0], heads, nexts, iterations)
            return None

        body: Body = [Set([loop.var], [Op("sub", (Op("sub", (loop.stop, _ONE), "i"), back), "i")])]
        for noted, _ in noting:
            end = next(self.labels)  # another index is noted there, where this one's iteration ends before
            own = hir.copied_body(noted, lambda one: self._ended(one, end))  # noqa: B023
            relabel(own, self.labels)
            body.append(Block(hir.copied_body(own, put), end))
        count_of = Op("imax", (Op("sub", (loop.stop, loop.start), "i"), _ZERO), "i")
        every: Body = [
            *(New(one, ("i",), []) for one in (heads, nexts, iterations)),
            Set([count], [count_of]),
            For(back, _ZERO, count, _ONE, body, next(self.labels)),
            Return([heads, nexts, iterations]),
        ]
        made = Function(names.new("iterations_of"), parameters, ["r", "r", "r"], every)
        made.origin, made.repeats = "an index of iterations", True
        return made

    def _ended(self, one: Statement, end: int) -> Body | None:
        is_next = isinstance(one, Next) and one.label == self.loop.label
        return [Leave(end)] if is_next else None

    def _put(self, index: Expr, heads: Var, nexts: Var, iterations: Var) -> Body:
        """Let an index have the iteration for a number, once."""
        key, size, head, last, number, grow = (
            Var(self.names.new(name), "i") for name in ("key", "size", "head", "last", "number", "grow")
        )
        one_more = Op("add", (key, _ONE), "i")
        is_new = Op("or", (Op("lt", (head, _ZERO), "b"), Op("ne", (last, self.loop.var), "b")), "b")
        add: Body = [
            Append(nexts, ("i",), (head,)),
            Append(iterations, ("i",), (self.loop.var,)),
            Length(number, iterations, ("i",)),
            Store(heads, ("i",), key, (Op("sub", (number, _ONE), "i"),)),
        ]
        find: Body = [
            Length(size, heads, ("i",)),
            For(grow, size, one_more, _ONE, [Append(heads, ("i",), (_NONE,))], next(self.labels)),
            Load([head], heads, ("i",), key),
            Set([last], [_NONE]),
            If(Op("ge", (head, _ZERO), "b"), [Load([last], iterations, ("i",), head)], []),
            If(is_new, add, []),
        ]
        return [Set([key], [self._bucket(index)]), If(Op("ge", (key, _ZERO), "b"), find, [])]


def relabel(body: Body, labels: Iterator[int]) -> None:
    """Give the loops of a copy labels of their own."""
    named: dict[int, int] = {}
    for one in hir.walk(body):
        if isinstance(one, (For, Loop, Block)):
            named[one.label] = one.label = next(labels)
        elif isinstance(one, (Leave, Next)):
            one.label = named.get(one.label, one.label)
