"""From a program to its log density: every choice is looked up in the state and scored."""

from __future__ import annotations

from gendsl.compiler import hir
from gendsl.compiler.front.frame import Text
from gendsl.compiler.hir import Body, Call, Choice, Const, Function, Op, Return, Set, Statement, Var, Visit


def makers(main: Function) -> set[int]:
    """The identities of the functions that make choices, by themselves or by what they call."""
    every = hir.functions(main)
    found: set[int] = set()
    for function in every:  # callees first, but for recursion
        if any(isinstance(s, Choice) for s in hir.walk(function.body)):
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


def score(main: Function) -> Function:
    """Make a program, and every function that it calls, return the log density of its choices first.

    Functions are changed in place: each that makes choices has one more result.
    """
    scoring = makers(main)
    for function in hir.functions(main):
        if id(function) in scoring or function is main:
            _score_function(function, scoring, alone=function is main)
    return main


def _score_function(function: Function, scoring: set[int], *, alone: bool) -> None:
    names = Text(function, dict.fromkeys(names_of(function), 1))
    lp = Var(names.fresh("lp"), "f")

    def add(term: Var, line: int) -> Statement:
        return Set([lp], [Op("add", (lp, term), "f")], line=line)

    def rewrite(body: Body) -> Body:
        result: Body = []
        for statement in body:
            match statement:
                case Choice(targets=targets, template=template, indices=indices, line=line):
                    term = Var(names.fresh(f"lp_{template.name}"), "f")
                    result.append(Visit(targets, template, indices, line=line))
                    args = [*statement.parameters, *targets]
                    result.append(Call([term], statement.density, args, line=line))
                    result.append(add(term, line))
                case Visit(targets=[node], template=template, indices=indices, line=line):
                    given = Var(names.fresh("made"), "b")
                    result.append(hir.Given(given, template, indices, line=line))
                    none: Body = [Set([node], [Const(-1, "i")])]  # a call that makes no choices
                    result.append(hir.If(given, [statement], none, line=line))
                case Call() if id(statement.function) in scoring:
                    term = Var(names.fresh(f"lp_{statement.function.name}"), "f")
                    statement.targets = [term, *statement.targets]
                    result += [statement, add(term, statement.line)]
                case Return():
                    statement.values = [lp] if alone else [lp, *statement.values]
                    result.append(statement)
                case hir.If():
                    statement.then, statement.orelse = rewrite(statement.then), rewrite(statement.orelse)
                    result.append(statement)
                case hir.For() | hir.Loop() | hir.Block():
                    statement.body = rewrite(statement.body)
                    result.append(statement)
                case _:
                    result.append(statement)
        return result

    function.body = [Set([lp], [Const(0.0, "f")]), *rewrite(function.body)]
    function.results = ["f"] if alone else ["f", *function.results]
    function.scores = True


def names_of(function: Function) -> set[str]:
    """The names of the variables of a function."""
    found = {var.name for var in function.parameters}
    for statement in hir.walk(function.body):
        found.update(var.name for var in hir.targets(statement))
    return found
