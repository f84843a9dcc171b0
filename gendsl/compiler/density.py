"""From a program to its log density: every choice is looked up in the state and scored."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto

from gendsl.compiler import hir
from gendsl.compiler.front.frame import Text
from gendsl.compiler.hir import (
    Body,
    Call,
    Choice,
    Const,
    Expr,
    Function,
    If,
    Op,
    Primitive,
    Return,
    Set,
    Statement,
    Var,
    Visit,
)

IMPOSSIBLE = Const(float("-inf"), "f")
"""The log density of what is impossible."""


def _is_choice(one: Statement) -> bool:
    return isinstance(one, Choice)


def makers(main: Function, makes: Callable[[Statement], bool] = _is_choice) -> set[int]:
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


class Zeros(Enum):
    """What is done where the density of a choice is zero."""

    ADDED = auto()
    """Nothing but to add -inf."""
    NOTED = auto()
    """It is noted which choice it is."""
    END = auto()
    """It is noted, and the program ends there."""


def score(main: Function, *, zeros: Zeros = Zeros.ADDED) -> Function:
    """Make a program, and every function that it calls, return the log density of its choices first.

    Functions are changed in place: each that makes choices has one more result.
    """
    scoring = makers(main)
    for function in hir.functions(main):
        if id(function) in scoring or function is main:
            _Scored(function, scoring, alone=function is main, zeros=zeros)
    return main


class _Scored:
    """One function that returns a log density."""

    def __init__(self, function: Function, scoring: set[int], *, alone: bool, zeros: Zeros) -> None:
        self.names = Text(function, dict.fromkeys(names_of(function), 1))
        self.lp = Var(self.names.fresh("lp"), "f")
        self.scoring, self.alone, self.zeros = scoring, alone, zeros
        function.results = ["f"] if alone else ["f", *function.results]
        self.results = function.results
        function.body = [Set([self.lp], [Const(0.0, "f")]), *self._body(function.body)]
        function.scores = True

    def _add(self, term: Var, line: int, zero: Body) -> Body:
        """Add a term to the log density."""
        added: Body = [Set([self.lp], [Op("add", (self.lp, term), "f")], line=line)]
        if self.zeros is Zeros.END:
            values: list[Expr] = [term, *(hir.ZEROS[kind] for kind in self.results[1:])]
            zero = [*zero, Return(values)]
        elif self.zeros is Zeros.ADDED or not zero:
            return added
        return [If(Op("eq", (term, IMPOSSIBLE), "b"), zero, []), *added]

    def _body(self, body: Body) -> Body:
        result: Body = []
        for statement in body:
            match statement:
                case Choice(targets=targets, template=template, indices=indices, line=line):
                    term = Var(self.names.fresh(f"lp_{template.name}"), "f")
                    result.append(Visit(targets, template, indices, line=line))
                    args = [*statement.parameters, *targets]
                    result.append(Call([term], statement.density, args, line=line))
                    result += self._add(term, line, [Primitive([], "impossible", indices, (template,))])
                case Visit(targets=[node], template=template, indices=indices, line=line):
                    given = Var(self.names.fresh("made"), "b")
                    result.append(hir.Given(given, template, indices, line=line))
                    none: Body = [Set([node], [Const(-1, "i")])]  # a call that makes no choices
                    result.append(If(given, [statement], none, line=line))
                case Call() if id(statement.function) in self.scoring:
                    term = Var(self.names.fresh(f"lp_{statement.function.name}"), "f")
                    statement.targets = [term, *statement.targets]
                    result += [statement, *self._add(term, statement.line, [])]
                case Return():
                    statement.values = [self.lp] if self.alone else [self.lp, *statement.values]
                    result.append(statement)
                case If():
                    statement.then, statement.orelse = (
                        self._body(statement.then),
                        self._body(statement.orelse),
                    )
                    result.append(statement)
                case hir.For() | hir.Loop() | hir.Block():
                    statement.body = self._body(statement.body)
                    result.append(statement)
                case _:
                    result.append(statement)
        return result


def names_of(function: Function) -> set[str]:
    """The names of the variables of a function."""
    found = {var.name for var in function.parameters}
    for statement in hir.walk(function.body):
        found.update(var.name for var in hir.targets(statement))
    return found
