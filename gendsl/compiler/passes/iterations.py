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
    Op,
    Return,
    Set,
    Store,
    Var,
)
from gendsl.compiler.hir.rewriting import variables_of
from gendsl.compiler.passes.indices import Linear
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
        self,
        keys: Sequence[Key],
        computes: Sequence[tuple[Body, set[Var]] | None],
        var: Var,
        body: Body,
    ) -> Body:
        """Run statements for the iterations that an index of them has.

        Args:
            computes: for each key what computes its index, and from what; None where it is the loop's
                variable with a sign, and something added.
            var: the loop's variable in the statements.
        """
        loop, line = self.loop, self.loop.line
        made = self._index(keys, computes)
        lists = [Var(self.names.new(name), "r") for name in ("heads", "nexts", "iterations")]
        heads, nexts, iterations = lists
        entry, size = Var(self.names.new("entry"), "i"), Var(self.names.new("size"), "i")
        at, bucket = self.at[keys[0].axis], Var(self.names.new("bucket"), "i")
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

    def _index(
        self, keys: Sequence[Key], computes: Sequence[tuple[Body, set[Var]] | None]
    ) -> Function:
        """The function that makes the index: for each number the first entry, for each entry the next."""
        loop = self.loop
        outside = variables_of(loop.start, loop.stop)
        slices: Body = []
        exprs: list[Expr] = []
        for key, found in zip(keys, computes, strict=True):
            if found is not None:
                assert key.computed is not None
                unset = sorted(variables_of(key.computed) - {loop.var} - found[1])
                nothing: list[Expr] = [_NONE if var.kind == "i" else hir.ZEROS[var.kind] for var in unset]
                slices.append(Set(list(unset), nothing))
                slices += hir.copied_body(found[0])
                outside |= found[1]
                exprs.append(key.computed)
            else:
                moved = Linear.of({loop.var: key.sign}, 0).plus(key.offset)
                exprs.append(moved.expr())
                outside |= variables_of(moved.expr()) - {loop.var}
        parameters = sorted(outside)
        names = self.names
        heads, nexts, iterations = (Var(names.new(name), "r") for name in ("heads", "nexts", "iterations"))
        back, count, size, head, number = (
            Var(names.new(name), "i") for name in ("back", "count", "size", "head", "number")
        )
        key_vars = [Var(names.new("key"), "i") for _ in keys]
        body: Body = [
            Set([loop.var], [Op("sub", (Op("sub", (loop.stop, _ONE), "i"), back), "i")]),
            *slices,
        ]
        for number_of, (var, expr) in enumerate(zip(key_vars, exprs, strict=True)):
            body.append(Set([var], [self._bucket(expr)]))
            is_new: Expr = Op("ge", (var, _ZERO), "b")
            for other in key_vars[:number_of]:
                is_new = hir.both(is_new, Op("ne", (var, other), "b"))
            grow = Var(names.new("grow"), "i")
            body.append(
                If(
                    is_new,
                    [
                        Length(size, heads, ("i",)),
                        For(
                            grow, size, Op("add", (var, _ONE), "i"), _ONE,
                            [Append(heads, ("i",), (_NONE,))], next(self.labels),
                        ),
                        Load([head], heads, ("i",), var),
                        Append(nexts, ("i",), (head,)),
                        Append(iterations, ("i",), (loop.var,)),
                        Length(number, iterations, ("i",)),
                        Store(heads, ("i",), var, (Op("sub", (number, _ONE), "i"),)),
                    ],
                    [],
                )
            )  # fmt: skip
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
