"""From a program to one that adds up terms of its choices: what all texts of it have in common.

Each function that makes choices, by itself or by what it calls, returns its sums before its results. What
becomes of a choice, and which terms it adds, is what `density`, `sampler` and `redraw` say.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from gendsl.compiler import hir
from gendsl.compiler.front.names import Text
from gendsl.compiler.hir import (
    IMPOSSIBLE,
    Body,
    Call,
    Choice,
    Const,
    Expr,
    Function,
    If,
    Kind,
    Op,
    Return,
    Set,
    Var,
    Visit,
)


def _is_choice(one: hir.Statement) -> bool:
    return isinstance(one, Choice)


def makers(main: Function, makes: Callable[[hir.Statement], bool] = _is_choice) -> set[int]:
    """The identities of the functions that make choices, or have other statements, by themselves or by what
    they call.
    """
    every = hir.functions(main)
    found: set[int] = set()
    for function in every:  # callees first, but for recursion
        if any(makes(s) for s in hir.walk(function.body)):
            found.add(id(function))
    changed = True
    while changed:
        changed = False
        for function in every:
            if id(function) in found:
                continue
            if any(isinstance(s, Call) and id(s.function) in found for s in hir.walk(function.body)):
                found.add(id(function))
                changed = True
    return found


def names_of(function: Function) -> set[str]:
    """The names of the variables of a function."""
    found = {var.name for var in function.parameters}
    for statement in hir.walk(function.body):
        found.update(var.name for var in hir.targets(statement))
    return found


class Sums(ABC):
    """One function that adds up terms.

    Attributes:
        function: the function, which is changed in place.
        making: the identities of the functions that make choices.
        alone: whether the sums are all that the function returns.
        sums: the variables of the sums.
        stops: whether it returns as soon as the first sum of what it calls is -inf.
    """

    stops: ClassVar[bool] = False

    def __init__(self, function: Function, making: set[int], summed: Sequence[str], *, alone: bool) -> None:
        self.function, self.making, self.summed, self.alone = function, making, summed, alone
        self.names = Text(function, dict.fromkeys(names_of(function), 1))
        self.sums = [self.fresh(name) for name in summed]
        kinds: list[Kind] = ["f"] * len(summed)
        self.rest: list[Expr] = [] if alone else [hir.ZEROS[kind] for kind in function.results]
        function.results = kinds if alone else [*kinds, *function.results]

    def rewrite(self) -> None:
        """Rewrite the function."""
        zeros: list[Expr] = [Const(0.0, "f")] * len(self.sums)
        self.function.body = [Set(list(self.sums), zeros), *self.body(self.function.body)]
        self.function.scores = True

    # --- what is different -------------------------------------------------------------------------

    @abstractmethod
    def choice(self, choice: Choice) -> Body:
        """What becomes of a choice."""

    def visit(self, visit: Visit) -> Body:
        """What becomes of a look at the number of a call of a program that calls itself."""
        return [visit]

    def called(self, call: Call) -> None:  # noqa: B027 (nothing, in most)
        """Change a call of a function that makes choices."""

    def other(self, statement: hir.Statement) -> None:  # noqa: B027
        """See any other statement."""

    # --- what it is made of ------------------------------------------------------------------------

    def fresh(self, name: str, kind: Kind = "f") -> Var:
        """A new variable."""
        return Var(self.names.fresh(name), kind)

    def add(self, place: int, term: Var, line: int) -> hir.Statement:
        """Add a term to a sum."""
        return Set([self.sums[place]], [Op("add", (self.sums[place], term), "f")], line=line)

    def scored(self, choice: Choice) -> tuple[Var, Call]:
        """The log density of a choice, and the call that computes it."""
        term = self.fresh(f"lp_{choice.template.name}")
        return term, Call([term], choice.density, [*choice.parameters, *choice.targets], line=choice.line)

    def stop(self) -> Return:
        """Return that the density is zero."""
        return Return([IMPOSSIBLE, *(hir.ZEROS["f"] for _ in self.sums[1:]), *self.rest])

    def body(self, statements: Body) -> Body:
        """The statements that take the place of some."""
        result: Body = []
        for statement in statements:
            match statement:
                case Choice():
                    result += self.choice(statement)
                case Visit():
                    result += self.visit(statement)
                case Call() if id(statement.function) in self.making:
                    result += self._call(statement)
                case Return():
                    statement.values = [*self.sums, *([] if self.alone else statement.values)]
                    result.append(statement)
                case If():
                    statement.then, statement.orelse = self.body(statement.then), self.body(statement.orelse)
                    result.append(statement)
                case hir.For() | hir.Loop() | hir.Block():
                    statement.body = self.body(statement.body)
                    result.append(statement)
                case _:
                    self.other(statement)
                    result.append(statement)
        return result

    def _call(self, call: Call) -> Body:
        self.called(call)
        terms = [self.fresh(f"{name}_{call.function.name}") for name in self.summed]
        call.targets = [*terms, *call.targets]
        stops: Body = [if_zero(terms[0], [self.stop()])] if self.stops else []
        return [call, *stops, *(self.add(place, term, call.line) for place, term in enumerate(terms))]


def if_zero(term: Var, body: Body) -> If:
    """Do something where a log density is -inf."""
    return If(Op("eq", (term, IMPOSSIBLE), "b"), body, [])


def not_finite(term: Var, line: int) -> If:
    """Fail where the log density of a draw is not finite."""
    finite = Op("isfinite", (term,), "b")
    fails = hir.Fail("a draw whose log density is not finite", line=line)
    return If(Op("not", (finite,), "b"), [fails], [], line=line)


def summed(
    main: Function, kind: type[Sums], names: Sequence[str], *more: Any, returns: bool = False
) -> Function:
    """Rewrite a program, and every function that it calls and that makes choices; it returns the sums alone.

    Args:
        kind: what rewrites a function.
        names: the names of the sums.
        more: what else that is made of.
        returns: whether behind the sums it returns what it did.
    """
    making = makers(main)
    for function in hir.functions(main):
        if id(function) in making or function is main:
            kind(function, making, names, *more, alone=function is main and not returns).rewrite()
    return main


def shorten(main: Function, is_last: Callable[[hir.Statement], bool]) -> Function:
    """Let a run along the current trace, which adds to lists, end behind the last of some statements."""
    needed = makers(main, is_last)
    *before, end = main.body
    if not isinstance(end, Return):
        return main

    def is_needed(statement: hir.Statement) -> bool:
        return any(
            is_last(one)
            or (isinstance(one, Call) and id(one.function) in needed)
            or (isinstance(one, Set) and any(target in end.values for target in one.targets))
            for one in hir.walk([statement])
        )

    while before and not is_needed(before[-1]):
        before.pop()
    main.body = [*before, end]
    return main
