"""What statements of a text do: whether they may fail, which lists they read and change, what they cost.

As it is not known which references may be to one list, lists are told apart by what their items are made of:
a change of a list counts as one of all such lists, unless it is made by the same statements.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf

from gendsl.compiler import hir
from gendsl.compiler.hir import (
    Append,
    Block,
    Body,
    Call,
    Expr,
    Fail,
    Fill,
    For,
    Function,
    If,
    Input,
    Kind,
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
    Truncate,
    Var,
)
from gendsl.compiler.hir.rewriting import LOOP, WORTH, cost_of, may_fail, variables_of
from gendsl.compiler.hir.templates import MODEL

PURE = (
    Set, New, Fill, Length, Load, Store, Append, Truncate, If, For, Loop, Block, Leave, Next, Call, Fail,
    Return,
)  # fmt: skip
CHANGES = Store, Append, Truncate
_QUIET = hir.Visit, hir.Given, hir.Read, hir.Present, hir.Count, hir.Extent, hir.Draw, hir.Node
"""Statements that are not pure, and change no list."""
_QUIET_PRIMITIVES = frozenset(["impossible", "cover"])
_SMALL = 16
"""How many statements and operations a function has at most that is surely inlined."""

Layouts = frozenset[tuple[Kind, ...]]
"""Kinds of lists, by what their items are made of."""
ANY: Layouts = frozenset([("any",)])
"""All kinds of lists."""
NONE: Layouts = frozenset()


def _lists(layout: tuple[Kind, ...]) -> Layouts:
    return frozenset([tuple("i" if kind == "b" else kind for kind in layout)])


def meet(some: Layouts, others: Layouts) -> bool:
    """Whether some lists may be among others."""
    return bool(some & others) or (bool(some) and others >= ANY) or (bool(others) and some >= ANY)


@dataclass(frozen=True, slots=True)
class Effects:
    """What some statements do.

    Attributes:
        pure: whether they do nothing but compute, and change lists.
        fails: whether they may fail, or not end.
        reads: the lists that they may read.
        changes: the lists that they may change and have not made.
        cost: about what they cost.
    """

    pure: bool = True
    fails: bool = False
    reads: Layouts = NONE
    changes: Layouts = NONE
    cost: int = 0


UNKNOWN = Effects(False, True, ANY, ANY, LOOP)
_OF_A_CALL = Effects(True, True, NONE, NONE, LOOP)
"""What a call of a function by itself does besides all else that is in it: it may not end."""


def _calls(function: Function, other: Function) -> bool:
    return any(isinstance(one, Call) and one.function is other for one in hir.walk(function.body))


def _calls_itself_alone(function: Function) -> bool:
    """Whether a function calls itself, and none that it calls does."""
    if not _calls(function, function):
        return False
    return not any(one is not function and _calls(one, function) for one in hir.functions(function))


def _size(expr: Expr) -> int:
    """The number of operations in an expression."""
    return 1 + sum(map(_size, expr.args)) if isinstance(expr, Op) else 0


def _is_of(expr: Expr, known: set[Var]) -> bool:
    """Whether an expression is made of numbers and some variables."""
    if isinstance(expr, Op):
        return all(_is_of(arg, known) for arg in expr.args)
    return expr in known if isinstance(expr, Var) else not isinstance(expr, Input)


def _cost_beside(expr: Expr, known: set[Var]) -> int:
    """About what the evaluation of an expression costs beside what is made of known variables."""
    if not isinstance(expr, Op) or _is_of(expr, known):
        return 0
    own = cost_of(Op(expr.name, (), expr.kind))
    return own + sum(_cost_beside(arg, known) for arg in expr.args)


def read_by(statement: Statement) -> set[Var]:
    """The variables that a statement itself reads."""
    return variables_of(*hir.expressions(statement))


def set_by(statement: Statement) -> set[Var]:
    """The variables that a statement, and those inside of it, set, or whose lists they change."""
    found: set[Var] = set()
    for one in hir.walk([statement]):
        found.update(hir.targets(one))
        changed = changed_by(one)
        if changed is not None:
            found.add(changed)
    return found


def changed_by(statement: Statement) -> Var | None:
    """The variable of the list that a statement changes, if it is one."""
    if isinstance(statement, CHANGES) and isinstance(statement.list, Var):
        return statement.list
    return None


def made_by(
    body: Iterable[Statement], makes: Callable[[Function], Sequence[bool]] | None = None
) -> set[Var]:
    """The variables that have no values but lists that statements make.

    Args:
        makes: which results of a function are lists that it makes; none, if it is not given.
    """
    made: set[Var] = set()
    other: set[Var] = set()
    for statement in body:
        if isinstance(statement, Call) and makes is not None:
            for target, is_made in zip(statement.targets, makes(statement.function), strict=True):
                (made if is_made else other).add(target)
        else:
            (made if isinstance(statement, (New, Fill)) else other).update(hir.targets(statement))
    return made - other


def changes_items(functions: Iterable[Function]) -> bool:
    """Whether some functions may change a list that is an item of another: one that they have not made."""
    for function in functions:
        made = made_by(hir.walk(function.body)) - set(function.parameters)
        if any(isinstance(one, CHANGES) and one.list not in made for one in hir.walk(function.body)):
            return True
    return False


def left_by(statements: Iterable[Statement]) -> tuple[set[int], bool]:
    """The labels of what around statements they leave, or go on with; whether they return."""
    inside: set[int] = set()
    left: set[int] = set()
    returns = False
    for statement in statements:
        if isinstance(statement, (For, Loop, Block)):
            inside.add(statement.label)
        elif isinstance(statement, (Leave, Next)):
            left.add(statement.label)
        elif isinstance(statement, Return):
            returns = True
    return left - inside, returns


def may_leave(statement: Statement) -> bool:
    """Whether what comes after a statement may not be come to.

    Where a density is found to be zero nothing that comes after is looked at; but that is rare, and what is
    done all the same then does no harm: where it fails, the interpreter decides.
    """
    return any(left_by(_with_densities([statement])))


def has_density(statement: If) -> bool:
    """Whether a branch is where a value is in its support, which is rarely another one: elsewhere its density
    is zero.
    """
    match statement.orelse:
        case [Set(values=[hir.Const(value)])]:
            return statement.line == 0 and value == -inf
    return False


def _with_densities(body: Body) -> Iterator[Statement]:
    """All statements of a body but what is done where a density is zero, which is no line of a program."""
    for statement in body:
        match statement:
            case If(Op("eq", (Var(), hir.Const(value))), orelse=[], line=0) if value == -inf:
                continue
        yield statement
        for inner in hir.bodies(statement):
            yield from _with_densities(inner)


_LEFT_ALONE = frozenset(["impossible", "is_observed", "any_of"])
"""The operations of the state that change no choice of the templates that they are given."""


def templates_changed(functions: Iterable[Function]) -> set[int]:
    """The identities of the templates whose choices some functions may change."""
    changed: set[int] = set()
    for one in (one for function in functions for one in hir.walk(function.body)):
        if isinstance(one, (hir.Write, hir.Copy, hir.Redraw, hir.Keep)):
            changed.add(id(one.template))
        elif isinstance(one, hir.Primitive) and one.name not in _LEFT_ALONE:
            changed.update(map(id, one.templates))
    return changed


@dataclass(frozen=True, slots=True)
class Run:
    """What stays as it is while one step after another is made.

    Lists from outside, and those that are values of choices, are never changed by a text.

    Attributes:
        steps: the identities of the functions of steps, of which all that is in them is come to.
        templates: the identities of the templates whose choices no step writes.
        changing: the numbers of the inputs that steps change all the same.
        changed: the identities of the templates of which only observations stay as they are.
        changes_items: whether lists may be changed that are items of others.
        tables: whether what is done once in each iteration of a loop is looked for, or in all of them.
    """

    steps: set[int]
    templates: frozenset[int]
    changing: frozenset[int]
    changed: frozenset[int]
    changes_items: bool
    tables: bool

    def is_same(self, expr: Expr) -> bool:
        """Whether what an expression takes from outside stays as it is."""
        return all(one.number not in self.changing for one in hir.parts(expr) if isinstance(one, Input))


class TextEffects:
    """What the functions of a text do.

    Attributes:
        run: what stays as it is, if that is known.
        worth: what something costs at least that is worth to be done once.
    """

    def __init__(self, run: Run | None = None) -> None:
        self.run = run
        self.worth = WORTH if run is None else LOOP
        self.costs: dict[tuple[int, tuple[bool, ...]], int] = {}
        self.having: dict[tuple[str, int], bool] = {}
        self.effects: dict[int, Effects] = {}
        self.making: dict[int, tuple[bool, ...]] = {}
        self.functions: list[Function] = []

    def stays(self, statement: Statement) -> bool:
        """Whether a statement looks up a choice that stays as it is, or asks whether there is one."""
        if self.run is None or not isinstance(statement, (hir.Read, hir.Visit, hir.Given)):
            return False
        template = id(statement.template)
        if isinstance(statement, hir.Read) and (statement.followed or template in self.run.changed):
            return False  # each step notes what its transform reads; or it may be no observation
        return template in self.run.templates

    def cost(self, body: Body, constants: set[Var]) -> int:
        """About what some statements cost, if some variables are known when the text is made."""
        known, cost = set(constants), 0
        for statement in hir.walk(body):
            rest = [expr for expr in hir.expressions(statement) if not _is_of(expr, known)]
            cost += sum(_cost_beside(expr, known) for expr in rest)
            if isinstance(statement, Call):
                flags = tuple(_is_of(arg, known) for arg in statement.args)
                cost += self._cost_of_call(statement.function, flags)
            elif isinstance(statement, (For, Loop)):
                cost += LOOP
            elif isinstance(statement, Set) and not rest:
                known.update(statement.targets)
        return cost

    def _cost_of_call(self, function: Function, constant: tuple[bool, ...]) -> int:
        key = id(function), constant
        if key not in self.costs:
            self.functions.append(function)
            self.costs[key] = LOOP  # where it calls itself
            given = {var for var, one in zip(function.parameters, constant, strict=True) if one}
            self.costs[key] = self.cost(function.body, given)
        return self.costs[key]

    def has_loops(self, function: Function) -> bool:
        """Whether a function, or one that it calls, has loops or makes lists."""
        return self._has(function, "loops", lambda one: isinstance(one, (For, Loop, New, Fill)))

    def makes_lists(self, function: Function) -> bool:
        """Whether a function, or one that it calls, makes lists."""
        return self._has(function, "lists", lambda one: isinstance(one, (New, Fill)))

    def nests_lists(self, function: Function) -> bool:
        """Whether a function, or one that it calls, has lists with lists as items."""
        return self._has(
            function, "nested", lambda one: isinstance(one, (New, Fill, *CHANGES, Load)) and "r" in one.layout
        )

    def looks_outside(self, function: Function) -> bool:
        """Whether a function looks at something that is given from outside, or a choice that stays."""
        return self._has(function, "outside", self._looks_outside)

    def makes_choices(self, function: Function) -> bool:
        """Whether a function makes choices of the model, which it does for every trace."""
        return self._has(
            function, "choices", lambda one: isinstance(one, hir.Visit) and one.template.trace == MODEL
        )

    def _has(self, function: Function, what: str, is_one: Callable[[Statement], bool]) -> bool:
        """Whether a function, or one that it calls, has such a statement."""
        key = what, id(function)
        if key not in self.having:
            self.functions.append(function)
            self.having[key] = False  # where it calls itself
            self.having[key] = any(
                is_one(one) or (isinstance(one, Call) and self._has(one.function, what, is_one))
                for one in hir.walk(function.body)
            )
        return self.having[key]

    def _looks_outside(self, statement: Statement) -> bool:
        exprs = hir.expressions(statement)
        return self.stays(statement) or any(isinstance(p, Input) for expr in exprs for p in hir.parts(expr))

    def of(self, function: Function) -> Effects:
        """What a function does."""
        if id(function) not in self.effects:
            self.functions.append(function)  # whose id is in use as long as this is
            self.effects[id(function)] = UNKNOWN  # where it calls itself by way of another
            made = self.made_in(function)
            found = _OF_A_CALL if _calls_itself_alone(function) else None
            while found is not None:  # until it does what it was taken for
                self.effects[id(function)] = found
                more = replace(self.all_of(function.body, made), cost=LOOP)
                found = more if more != found else None
            self.effects[id(function)] = self.all_of(function.body, made)
        return self.effects[id(function)]

    def made_in(self, function: Function) -> set[Var]:
        """The variables of a function that have no values but lists that it, or what it calls, makes."""
        return self.made_by(function.body) - set(function.parameters)

    def made_by(self, body: Body) -> set[Var]:
        """The same of statements."""
        return made_by(hir.walk(body), self.makes)

    def makes(self, function: Function) -> tuple[bool, ...]:
        """Which results of a function are lists that were not there before."""
        if id(function) not in self.making:
            self.functions.append(function)
            self.making[id(function)] = (False,) * len(function.results)  # where it calls itself
            made = self.made_in(function)
            returned = [one.values for one in hir.walk(function.body) if isinstance(one, Return)]
            self.making[id(function)] = tuple(
                kind == "r" and all(values[place] in made for values in returned)
                for place, kind in enumerate(function.results)
            )
        return self.making[id(function)]

    def is_small(self, function: Function) -> bool:
        """Whether a function is inlined, and LLVM itself sees what in it is the same in all iterations."""
        every = list(hir.walk(function.body))
        if any(isinstance(one, (Call, For, Loop, New, Fill)) for one in every):
            return False
        return len(every) + sum(_size(expr) for one in every for expr in hir.expressions(one)) <= _SMALL

    def all_of(self, body: Body, made: set[Var]) -> Effects:
        """What statements do, where some variables are lists that they make themselves."""
        pure, fails, cost = True, False, 0
        reads: set[tuple[Kind, ...]] = set()
        changes: set[tuple[Kind, ...]] = set()
        for statement in hir.walk(body):
            kind = type(statement)
            for expr in hir.expressions(statement):
                cost += cost_of(expr)
                fails = fails or may_fail(expr)
            if kind is Call:
                called = self.of(statement.function)  # type: ignore[attr-defined]
                pure, fails = pure and called.pure, fails or called.fails
                cost += called.cost
                reads |= called.reads
                changes |= called.changes
            elif isinstance(statement, CHANGES):
                fails = True
                if statement.list not in made:
                    changes |= _lists(statement.layout)
            elif kind is Load:
                fails = True
                reads |= _lists(statement.layout)  # type: ignore[attr-defined]
            elif kind is Length:
                reads |= _lists(statement.layout)  # type: ignore[attr-defined]
            elif kind is Fail or kind is Loop:
                fails = True
                cost += LOOP if kind is Loop else 0
            elif kind in (New, Fill, For):
                fails = fails or kind is Fill
                cost += LOOP
            elif kind is hir.Read and self.stays(statement):
                fails = True
            elif not isinstance(statement, PURE):
                pure, fails = False, True
                quiet = isinstance(statement, _QUIET) or (
                    isinstance(statement, hir.Primitive) and statement.name in _QUIET_PRIMITIVES
                )
                if not quiet:
                    reads |= ANY
                    changes |= ANY
        return Effects(pure, fails, frozenset(reads), frozenset(changes), cost)
