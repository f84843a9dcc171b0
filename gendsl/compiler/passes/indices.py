"""Indices as sums of variables with whole factors, and what is known of them where they are used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from gendsl.compiler import hir
from gendsl.compiler.hir import Const, Expr, Fail, For, Function, If, Length, Op, Statement, Var, Visit
from gendsl.compiler.hir.rewriting import variables_of
from gendsl.compiler.passes.axes_variables import values_of

_NEGATED = {"lt": "ge", "ge": "lt", "gt": "le", "le": "gt", "eq": "ne", "ne": "eq"}
_TURNED = {"lt": "gt", "gt": "lt", "ge": "le", "le": "ge", "eq": "eq", "ne": "ne"}

_MOST_CASES = 4


@dataclass(frozen=True)
class Linear:
    """A sum of expressions with whole factors, and a number."""

    terms: tuple[tuple[Expr, int], ...]
    number: int

    @staticmethod
    def of(terms: Mapping[Expr, int], number: int) -> Linear:
        """The same for the same sum, whatever the order."""
        return Linear(tuple(sorted(((x, c) for x, c in terms.items() if c), key=repr)), number)

    def plus(self, other: Linear, factor: int = 1) -> Linear:
        """The sum with so many times another."""
        terms = Counter(dict(self.terms))
        for x, c in other.terms:
            terms[x] += factor * c
        return Linear.of(terms, self.number + factor * other.number)

    def factor(self, var: Expr) -> int:
        """How many times it has an expression as a term."""
        return dict(self.terms).get(var, 0)

    def without(self, var: Expr) -> Linear:
        """The rest, beside the term of an expression."""
        return Linear(tuple(term for term in self.terms if term[0] != var), self.number)

    def expr(self) -> Expr:
        """The expression that it is."""
        found: Expr | None = None
        for x, c in sorted(self.terms, key=lambda term: term[1] < 0):
            size: Expr = x if abs(c) == 1 else Op("mul", (Const(abs(c), "i"), x), "i")
            if found is None:
                found = size if c > 0 else Op("neg", (size,), "i")
            else:
                found = Op("add" if c > 0 else "sub", (found, size), "i")
        if found is None:
            return Const(self.number, "i")
        if not self.number:
            return found
        name = "add" if self.number > 0 else "sub"
        return Op(name, (found, Const(abs(self.number), "i")), "i")


class Indices:
    """What is known of indices in a function.

    Attributes:
        loops: its loops, by their variables.
        lengths: the variables that are how many items a list has, and nothing else.
        around: the statements that each statement is in, from the outside, by its identity.
        facts: the tests of which it is known how they come out where it is come to, with that: of branches
            that it is in, and of those before where the program fails.
    """

    def __init__(self, function: Function) -> None:
        self.loops = {one.var: one for one in hir.walk(function.body) if isinstance(one, For)}
        self.sets = Counter(function.parameters)
        self.around: dict[int, tuple[Statement, ...]] = {}
        self.facts: dict[int, tuple[tuple[Expr, bool], ...]] = {}
        for one in hir.walk(function.body):
            self.sets.update(hir.targets(one))
        self._place(function.body, (), ())
        lengths = (one.target for one in hir.walk(function.body) if isinstance(one, Length))
        self.lengths = {target for target in lengths if self.sets[target] == 1}
        self.values = {
            var: value
            for var, value in values_of(function).items()
            if all(self.sets[x] == 1 for x in variables_of(value))
        }

    def _place(
        self, body: hir.Body, around: tuple[Statement, ...], facts: tuple[tuple[Expr, bool], ...]
    ) -> None:
        for one in body:
            self.around[id(one)], self.facts[id(one)] = around, facts
            for name in one.BODIES:
                more = self._facts_of(one.test, name == "then") if isinstance(one, If) else ()
                self._place(getattr(one, name), (*around, one), (*facts, *more))
            if isinstance(one, If) and not one.orelse and all(isinstance(x, Fail) for x in one.then):
                facts = (*facts, *self._facts_of(one.test, False))

    def _facts_of(self, test: Expr, holds: bool) -> tuple[tuple[Expr, bool], ...]:
        """What is known where a test has come out so, and stays so: of variables that are not set again."""
        return tuple(fact for fact in _taken_apart(test, holds) if self.is_steady(fact[0]))

    def is_steady(self, expr: Expr) -> bool:
        """Whether an expression has the same value wherever all of its variables are set."""
        return all(self.sets[var] == 1 for var in variables_of(expr))

    def linear(self, expr: Expr) -> Linear:
        """An index as a sum."""
        match expr:
            case Const(int(value)):
                return Linear((), value)
            case Var() if expr in self.values and expr.kind == "i":
                return self.linear(self.values[expr])
            case Op("add", (one, other), "i"):
                return self.linear(one).plus(self.linear(other))
            case Op("sub", (one, other), "i"):
                return self.linear(one).plus(self.linear(other), -1)
            case Op("neg", (one,), "i"):
                return Linear((), 0).plus(self.linear(one), -1)
            case Op("mul", (one, other), "i"):
                factors = self.linear(one), self.linear(other)
                for factor, rest in (factors, factors[::-1]):
                    if not factor.terms:
                        return Linear((), 0).plus(rest, factor.number)
        return Linear.of({expr: 1}, 0)

    def is_counted(self, loop: For) -> bool:
        """Whether a loop's variable counts up by one, and nothing else sets it, nor its bounds meanwhile."""
        bounds = self.is_steady(loop.start) and self.is_steady(loop.stop)
        return bounds and loop.step == Const(1, "i") and self.sets[loop.var] == 1

    # --- what is known where a statement is come to -------------------------------------------------

    def is_within(self, one: Statement, place: Expr, width: Expr | None) -> bool:
        """Whether a place is one of so many where a statement is come to."""
        if width is None:
            return False
        tests = (Op("lt", (place, hir.ZEROS["i"]), "b"), False), (Op("ge", (place, width), "b"), False)
        if all(test in self.facts[id(one)] for test in tests):
            return True
        index = self.linear(place)
        low, high = self.least(one, index), self.least(one, self.linear(width).plus(index, -1))
        return low is not None and low >= 0 and high is not None and high >= 1

    def least(self, one: Statement, index: Linear) -> int | None:
        """A number that an index is not below where a statement is come to, if one is known."""
        known = [
            index.plus(left.plus(right, -1), -1).plus(Linear((), int(name == "gt")))
            for name, left, right in self._comparisons(one)
            if name in ("gt", "ge", "eq")
        ]
        found = [rest.number for rest in known if not rest.terms]
        by_loops = self._least_by_loops(one, index)
        return max([*found, by_loops] if by_loops is not None else found, default=None)

    def _least_by_loops(self, one: Statement, index: Linear) -> int | None:
        lowest = dict(self._lowest(one))
        for _ in range(8):
            for var, c in index.terms:
                loop = self.loops.get(var)  # type: ignore[arg-type]
                if loop is None or not self.is_counted(loop):
                    continue
                if c > 0 and var in lowest:
                    index = index.without(var).plus(Linear((), c * lowest[var]))
                elif c > 0:
                    index = index.without(var).plus(self.linear(loop.start), c)
                else:
                    index = index.without(var).plus(self._stop_inside(loop).plus(Linear((), -1)), c)
                break
            else:
                break
        for part, c in index.terms:
            low = self._least_of(part) if c > 0 else None
            if low is not None:
                index = index.without(part).plus(Linear((), c * low))
        return None if index.terms else index.number

    def _stop_inside(self, loop: For) -> Linear:
        """Where a loop stops, for what is in it: that has some iteration."""
        stop = loop.stop
        match loop.start, self.values.get(stop, stop) if isinstance(stop, Var) else stop:
            case Const(0), Op("range_length", (first, end, Const(1 | -1 as step))):
                times = int(step)
                return Linear((), 0).plus(self.linear(end), times).plus(self.linear(first), -times)
            case Const(0), Op("imax", (size, Const(0)) | (Const(0), size)):
                return self.linear(size)
        return self.linear(loop.stop)

    def _least_of(self, part: Expr) -> int | None:
        """A number that a part of an index is not below anywhere, if one is known."""
        match part:
            case Const(int(value)):
                return value
            case Var() if part in self.lengths:
                return 0
            case Var() if part in self.values and isinstance(self.values[part], Op):
                return self._least_of(self.values[part])
            case Op("imin" | "imax" as name, args):
                known = list(map(self._least_of, args))
                found = [low for low in known if low is not None]
                if name == "imax":
                    return max(found, default=None)
                return min(found) if len(found) == len(known) else None
        return None

    def possible(self, one: Statement, expr: Expr) -> list[tuple[Expr, Expr]]:
        """What an index may be that is another one where it is negative, each with the test that tells."""
        found = []
        for test, index in _cases(expr, self.values):
            left: Expr = hir.TRUE
            known = [(part, self._is_negative(one, part)) for part in _all_of(test)]
            for part, _ in (each for each in known if each[1] is None):
                left = hir.both(left, part)
            if all(holds is not False for _, holds in known):
                found.append((left, index))
        return found if len(found) <= _MOST_CASES else [(hir.TRUE, expr)]

    def _is_negative(self, one: Statement, test: Expr) -> bool | None:
        """Whether a test whether an index is negative holds where a statement is come to, if it is known."""
        match test:
            case Op("not", (other,)):
                known = self._is_negative(one, other)
                return None if known is None else not known
            case Op("lt", (index, Const(0, "i"))):
                least = self.least(one, self.linear(index))
                return False if least is not None and least >= 0 else None
        return None

    def _lowest(self, one: Statement) -> Iterator[tuple[Var, int]]:
        """Numbers that variables of loops are not below where a statement is come to."""
        found: dict[Var, int] = {}
        for var, loop in self.loops.items():
            if isinstance(loop.start, Const) and isinstance(loop.start.value, int):
                found[var] = loop.start.value
        for name, left, right in self._comparisons(one):
            index = left.plus(right, -1)
            match index.terms:
                case ((Var() as var, 1),) if var in self.loops:
                    least = int(name == "gt") - index.number
                    if name in ("gt", "ge", "eq"):
                        found[var] = max(found.get(var, least), least)
                    elif name == "ne" and found.get(var) == least:
                        found[var] = least + 1
        yield from found.items()

    def _comparisons(self, one: Statement) -> Iterator[tuple[str, Linear, Linear]]:
        """Comparisons of indices that hold where a statement is come to, either way round."""
        for test, holds in self.facts[id(one)]:
            match test:
                case Op(name, (left, right)) if name in _TURNED and left.kind == "i" == right.kind:
                    name = name if holds else _NEGATED[name]
                    yield name, self.linear(left), self.linear(right)
                    yield _TURNED[name], self.linear(right), self.linear(left)

    def only_value(self, one: Statement, var: Var) -> int | None:
        """The number that a loop's variable is where a statement is come to, if it is one alone."""
        start = self.linear(self.loops[var].start)
        low = dict(self._lowest(one)).get(var, None if start.terms else start.number)
        for name, left, right in self._comparisons(one):
            index = left.plus(right, -1)
            if index.factor(var) != 1 or len(index.terms) != 1:
                continue
            value = -index.number
            if name == "eq":
                return value
            if name in ("lt", "le") and value - (name == "lt") == low:
                return low
        return None


def name_places(function: Function) -> None:
    """Let indices of choices that are numbers be the loops' variables that have these numbers there."""
    indices = Indices(function)
    for one in hir.walk(function.body):
        if not isinstance(one, Visit):
            continue
        named: list[Expr] = list(one.indices)
        for axis, index in enumerate(named):
            around = [outer for outer in indices.around[id(one)] if isinstance(outer, For)]
            for outer in filter(indices.is_counted, around):
                if isinstance(index, Const) and indices.only_value(one, outer.var) == index.value:
                    named[axis] = outer.var
        one.indices = tuple(named)


def _taken_apart(test: Expr, holds: bool) -> Iterator[tuple[Expr, bool]]:
    match test:
        case Op("not", (other,)):
            yield from _taken_apart(other, not holds)
        case Op("and", args) if holds:
            for arg in args:
                yield from _taken_apart(arg, holds)
        case Op("or", args) if not holds:
            for arg in args:
                yield from _taken_apart(arg, holds)
        case Op("bool", (other,)) if other.kind == "i":
            yield Op("ne", (other, Const(0, "i")), "b"), holds
        case _:
            yield test, holds


def _all_of(test: Expr) -> Iterator[Expr]:
    """The tests that must all hold."""
    if isinstance(test, Op) and test.name == "and":
        for arg in test.args:
            yield from _all_of(arg)
    elif test != hir.TRUE:
        yield test


def _cases(expr: Expr, values: Mapping[Var, Expr]) -> list[tuple[Expr, Expr]]:
    """What an index is, each with what holds there; itself, where that depends on no test."""
    match expr:
        case Var() if isinstance(values.get(expr), Op) and _has_select(values[expr], values):
            return _cases(values[expr], values)
        case Op("select", (test, one, other), "i"):
            no = Op("not", (test,), "b")
            sides = ((test, one), (no, other))
            return [(hir.both(at, more), x) for at, side in sides for more, x in _cases(side, values)]
        case Op(name, args, kind):
            combined: list[tuple[Expr, tuple[Expr, ...]]] = [(hir.TRUE, ())]
            for arg in args:
                combined = [
                    (hir.both(test, more), (*found, x))
                    for test, found in combined
                    for more, x in _cases(arg, values)
                ]
            return [(test, Op(name, found, kind)) for test, found in combined]
    return [(hir.TRUE, expr)]


def _has_select(expr: Expr, values: Mapping[Var, Expr]) -> bool:
    return any(isinstance(one, Op) and one.name == "select" for one in hir.parts(expr)) or any(
        isinstance(one, Var) and isinstance(values.get(one), Op) and _has_select(values[one], values)
        for one in hir.parts(expr)
        if one is not expr
    )
