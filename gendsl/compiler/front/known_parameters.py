"""Parameters of choices that arguments, constants and other choices of a trace alone tell.

    s = ~gamma(2, 1)                                of every ("mu", j), also where there is none yet:
    for j in range(k):
        ("mu", j) @ ~normal(0, 2 * s)               0, 2 * trace["s"]

A variable that is set in one place, from numbers that are known in this way, has one value wherever it is
read; so has a parameter of a function that is called with the same numbers everywhere, and what a function
returns in one place. What lists hold is not followed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gendsl.compiler import hir
from gendsl.compiler.hir import Call, Choice, Const, Expr, Function, Input, Op, Return, Set, Statement, Var
from gendsl.compiler.hir.rewriting import variables_of

Key = tuple[int, Var]
"""A variable of a function, by the function's identity."""


class Definitions:
    """Where the functions of a program set their variables.

    Attributes:
        sources: what the variables in expressions that were told stand for: an argument of the program and
            a leaf of it, or the template of a choice and a leaf of that.
    """

    def __init__(self, main: Function, arguments: Mapping[Expr, tuple[int, int]]) -> None:
        self.main, self.arguments = main, arguments
        self.setters: dict[Key, list[Statement]] = {}
        self.calls: dict[int, list[tuple[Function, Sequence[Expr]]]] = {}
        self.sources: dict[Var, tuple[Any, int]] = {}
        for function in hir.functions(main):
            for one in hir.walk(function.body):
                for var in hir.targets(one):
                    self.setters.setdefault((id(function), var), []).append(one)
                if isinstance(one, Call):
                    self.calls.setdefault(id(one.function), []).append((function, one.args))

    def told(self, function: Function, expr: Expr) -> Expr | None:
        """An expression of a function in terms of `sources`; None if other things decide on it, too."""
        return self._told(function, expr, frozenset())

    def _told(self, function: Function, expr: Expr, within: frozenset[Key]) -> Expr | None:
        if isinstance(expr, (Const, Input)):
            return expr
        if isinstance(expr, Op):
            args = [self._told(function, arg, within) for arg in expr.args]
            known = tuple(arg for arg in args if arg is not None)
            return Op(expr.name, known, expr.kind) if len(known) == len(args) else None
        key = id(function), expr
        if key in within:  # a function that calls itself
            return None
        setters = self.setters.get(key, [])
        if expr in function.parameters:
            return None if setters else self._given(function, expr, within | {key})
        if len(setters) != 1 or expr.kind == "r":
            return None
        match setters[0]:
            case Set(targets=targets, values=values):
                return self._told(function, values[targets.index(expr)], within | {key})
            case Choice(targets=targets, template=template) if not (template.rank or template.weighs):
                return self._from(template, targets.index(expr), expr)
            case Call(targets=targets, function=called):
                returns = [one for one in hir.walk(called.body) if isinstance(one, Return)]
                if len(returns) == 1:
                    return self._told(called, returns[0].values[targets.index(expr)], within | {key})
        return None

    def _given(self, function: Function, var: Var, within: frozenset[Key]) -> Expr | None:
        """A parameter of a function."""
        if function is self.main:
            return self._from(*self.arguments[var], var) if var in self.arguments else None
        at = function.parameters.index(var)
        every = {self._told(caller, args[at], within) for caller, args in self.calls.get(id(function), [])}
        return every.pop() if len(every) == 1 else None

    def _from(self, source: Any, leaf: int, var: Var) -> Var:
        name = f"{source}.{leaf}" if isinstance(source, int) else f"{source.name}.{source.number}.{leaf}"
        self.sources[Var(name, var.kind)] = source, leaf
        return Var(name, var.kind)

    def deciding(self, told: Sequence[Expr]) -> list[Any]:
        """The templates of the choices that tell some expressions."""
        found = [self.sources[var][0] for var in sorted(variables_of(*told))]
        return list({one.number: one for one in found if not isinstance(one, int)}.values())
