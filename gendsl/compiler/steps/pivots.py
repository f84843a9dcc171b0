"""Pivots of the Jacobian that are known when the text is made.

A transform that moves many numbers, each by a map of its own,

    for i in range(n):
        write(model_out["h", i], a + b * read(model_in["h", i], continuous), continuous)

reads each in one place, and all that it goes into is one number that is written. The row of what is read then
has one entry in the Jacobian J, d = dh' / dh. With M, which is J without that row and the column of h',

    log |det J| = log |d| + log |det M|.

So the text adds up log |d|, and keeps neither the row nor the column: no derivatives are listed, and none
is eliminated when the step is made. What else h' depends on does not matter, if only its derivatives are
numbers. In M other rows may have but one entry, as that of b here, if it is written, too.

What is read must have a row whenever what is written has a column: auxiliary choices do, and those of the
model that are written themselves.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping

from gendsl.compiler import hir
from gendsl.compiler.hir import (
    Body,
    Call,
    Const,
    Expr,
    Function,
    If,
    Kind,
    New,
    Op,
    Read,
    Return,
    Set,
    Var,
    Write,
)
from gendsl.compiler.hir.coordinates import NUMBER
from gendsl.compiler.hir.derivatives import ZERO
from gendsl.compiler.hir.rewriting import variables_of
from gendsl.compiler.hir.slopes import Slopes
from gendsl.compiler.steps.tangents import PAIR, set_in_one_place

_FAR = Const(math.inf, "f")


def take_out_pivots(main: Function, slopes: Slopes, coordinates: Mapping[int, int]) -> None:
    """Take out the pivots of a transform with tangents; it then returns the sum of their log |d|.

    Args:
        coordinates: those of the choices of each template, by its number.
    """
    found = _Pivots(main, slopes, coordinates)
    if not found.body(main.body, ()):
        return
    found.count()
    while found.body(main.body, ()):
        found.count()
    main.body.insert(0, Set([found.sum], [ZERO]))
    if not isinstance(main.body[-1], Return):
        main.body.append(Return([]))
    for one in hir.walk(main.body):
        if isinstance(one, Return):
            one.values = [found.sum]
    main.results = ["f"]


class _Pivots:
    """Finds them in one transform.

    Attributes:
        alone: the templates that are read in one place, and never copied.
        uses: in how many expressions each variable is.
        values: what variables stand for that are set in one place.
        sum: the variable for the sum of the logs.
    """

    def __init__(self, main: Function, slopes: Slopes, coordinates: Mapping[int, int]) -> None:
        self.main, self.slopes = main, slopes
        self.numbers = {number for number, of in coordinates.items() if of == NUMBER}
        every = [one for function in hir.functions(main) for one in hir.walk(function.body)]
        reads = Counter(one.template.number for one in every if isinstance(one, Read) and one.followed)
        copied = {one.source.number for one in every if isinstance(one, hir.Copy)}
        self.alone = {
            number
            for number, count in reads.items()
            if count == 1 and number not in copied and number in self.numbers
        }
        mine = list(hir.walk(main.body))
        self.steady = set_in_one_place(main)
        self.values = {
            one.targets[0]: one.values[0]
            for one in mine
            if isinstance(one, Set) and len(one.targets) == 1 and one.targets[0] in self.steady
        }
        self.names = {var.name for one in mine for var in hir.targets(one)}
        self.sum = self.named("log_pivots", "f")
        self.uses = Counter[Var]()
        self.count()

    def count(self) -> None:
        """Count the uses of variables."""
        self.uses = Counter(
            var
            for one in hir.walk(self.main.body)
            for expr in hir.expressions(one)
            for var in variables_of(expr)
        )

    def body(self, statements: Body, loops: tuple[hir.For, ...]) -> bool:
        """Take out pivots in a body, which is inside loops that run over numbers; whether there was one."""
        found = False
        for one in statements:
            match one:
                case hir.If(then=then, orelse=orelse):
                    found |= self.body(then, loops)
                    found |= self.body(orelse, loops)
                case hir.Block(body=inner):
                    found |= self.body(inner, loops)
                case hir.For(body=inner):
                    found |= self.body(inner, (*loops, one))
        for one in list(statements):
            if isinstance(one, Read) and self.is_read_once(one, loops):
                found |= self.take_out(one, statements)
        return found

    def is_read_once(self, read: Read, loops: tuple[hir.For, ...]) -> bool:
        """Whether no other read in the same step is of the same number."""
        if read.template.number not in self.alone or len(read.targets) != 2 or not read.tangents:
            return False
        if not all(self.steady.issuperset(variables_of(index)) for index in read.indices):
            return False
        inside = {var for loop in loops for one in hir.walk([loop]) for var in hir.targets(one)}
        varied = {self.varied(index, inside) for index in read.indices}
        return {loop.var for loop in loops} <= varied

    def varied(self, index: Expr, inside: set[Var]) -> Var | None:
        """The variable of a loop that an index differs with by a constant; None if it is not so simple.

        Args:
            inside: the variables that are set in the loops.
        """
        while isinstance(index, Var) and index in self.values:
            index = self.values[index]
        match index:
            case Var():
                return index
            case Op(name="add" | "sub", args=(first, second)):
                for one, other in ((first, second), (second, first)):
                    if not variables_of(other) & inside:
                        return self.varied(one, inside)
        return None

    def take_out(self, read: Read, statements: Body) -> bool:
        """Take out the pivot of what a statement reads, if it is one."""
        coordinate, start = read.targets[1], statements.index(read)
        rest = statements[start + 1 :]
        made = next((one for one in rest if isinstance(one, New) and coordinate in _pairs(one)), None)
        if made is None or self.uses[coordinate] != 1:
            return False
        column, factors = made.target, _pairs(made)
        write = next((one for one in rest if isinstance(one, Write) and column in one.values), None)
        if write is None or not self.has_row(read, write):
            return False
        stop = statements.index(write)
        within = statements[start + 1 : stop]
        if any(isinstance(one, (hir.Leave, hir.Next, Return)) for one in hir.walk(within)):
            return False
        about: Body = [one for one in within if isinstance(one, Call) and column in one.args]
        if self.uses[column] != len(about) + 1 or not all(self.is_sum(one, column) for one in about):
            return False
        if len(factors) != len(made.items):  # entries of one coordinate would be added up
            return False
        taken: Body = [*self.counted(factors.pop(coordinate)), *self.checked(factors.values(), about)]
        read.targets, read.tangents, read.is_pivot = read.targets[:1], False, True
        write.values, write.tangents, write.is_pivot = write.values[:1], False, True
        for one in taken:
            one.line = write.line
        gone = {id(one) for one in (made, *about)}
        statements[start + 1 : stop] = [*(one for one in within if id(one) not in gone), *taken]
        return True

    def has_row(self, read: Read, write: Write) -> bool:
        """Whether what is read has a row of the Jacobian as what is written has a column, a number each."""
        if write.template.number not in self.numbers or len(write.values) != 2:
            return False
        same = write.template is read.template and write.indices == read.indices
        return same or read.template.is_auxiliary

    def is_sum(self, one: hir.Statement, column: Expr) -> bool:
        """Whether a call only makes a list of derivatives from what it is given."""
        assert isinstance(one, Call)
        return one.function in (self.slopes.ordered, self.slopes.add) and column not in one.args[1:]

    def counted(self, pivot: Expr) -> Body:
        """What adds the log of a pivot to the sum."""
        log: Expr = Op("np_log", (Op("abs", (pivot,), "f"),), "f")
        if isinstance(pivot, Const):
            log = Const(math.log(abs(float(pivot.value or 0))), "f")
        return [] if log == ZERO else [Set([self.sum], [Op("add", (self.sum, log), "f")])]

    def checked(self, factors: Iterable[Expr], about: Body) -> Body:
        """What makes the sum no number where a derivative of what is written is none; see `move.involutive`.

        The step may end before the determinant is needed. So nothing fails here.
        """
        sums = [one.args[1:] for one in about if isinstance(one, Call) and one.function is self.slopes.add]
        made: Body = []

        def unless(finite: Expr) -> If:
            return If(finite, [], [Set([self.sum], [Const(math.nan, "f")])])

        for factor in dict.fromkeys([*factors, *(factor for factor, _ in sums)]):
            if not (isinstance(factor, Const) and math.isfinite(float(factor.value or 0))):
                made.append(unless(Op("lt", (Op("abs", (factor,), "f"), _FAR), "b")))
        for factor, pairs in sums:
            finite = self.named("is_finite", "b")
            looked: Body = [Call([finite], self.slopes.finite, [pairs]), unless(finite)]
            matters = Op("ne", (factor, ZERO), "b")
            made += looked if isinstance(factor, Const) else [If(matters, looked, [])]
        return made

    def named(self, name: str, kind: Kind) -> Var:
        """A new variable."""
        while name in self.names:
            name += "_"
        self.names.add(name)
        return Var(name, kind)


def _pairs(made: New) -> dict[Expr, Expr]:
    """The factors of coordinates in a list of derivatives; none if it is another list."""
    return dict(map(_pair, made.items)) if made.layout == PAIR else {}


def _pair(item: tuple[Expr, ...]) -> tuple[Expr, Expr]:
    coordinate, factor = item
    return coordinate, factor
