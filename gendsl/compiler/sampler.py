"""From a program to its sampler: a choice that the state has is scored, any other is drawn and kept.

The log density of all choices, and the *weight*, that of those that the state had, are the first results:
log p(t; x) and log p(t; x) / q(t; u, x) with q the prior for what is not given, as `generate` has them.
"""

from __future__ import annotations

from gendsl.compiler import hir
from gendsl.compiler.density import makers, names_of
from gendsl.compiler.front.frame import Text
from gendsl.compiler.hir import (
    Body,
    Call,
    Choice,
    Const,
    Expr,
    Fail,
    Function,
    Given,
    If,
    Keep,
    NewNode,
    Op,
    Return,
    Set,
    Statement,
    Var,
    Visit,
)


def sample(main: Function) -> Function:
    """Make a program, and every function that it calls, draw the choices that are not given.

    Functions are changed in place: each that makes choices has two more results, the log density and the
    weight. What the program returns is dropped.
    """
    return _rewritten(main, ["lp", "weight"])


def simulate(main: Function) -> Function:
    """Make a program, and every function that it calls, draw all choices.

    Functions are changed in place: each that makes choices has one more result, the log density. What the
    program returns is dropped.
    """
    return _rewritten(main, ["lp"])


def _rewritten(main: Function, sums: list[str]) -> Function:
    making = makers(main)
    for function in hir.functions(main):
        _Rewriter(function, making, sums, alone=function is main).rewrite()
    return main


class _Rewriter:
    """One function, and the variables that its results are summed in."""

    def __init__(self, function: Function, making: set[int], sums: list[str], *, alone: bool) -> None:
        self.function = function
        self.making = making
        self.alone = alone
        self.makes = alone or id(function) in making
        self.names = Text(function, dict.fromkeys(names_of(function), 1))
        self.sum_names = sums
        self.sums = [self._fresh(name) for name in sums]

    def _fresh(self, name: str, kind: str = "f") -> Var:
        return Var(self.names.fresh(name), kind)

    def rewrite(self) -> None:
        """Rewrite the function."""
        function = self.function
        function.body = self._body(function.body)
        if self.makes:
            zeros: list[Expr] = [Const(0.0, "f")] * len(self.sums)
            sums: list[hir.Kind] = ["f"] * len(self.sums)
            function.body = [Set(list(self.sums), zeros), *function.body]
            function.results = sums if self.alone else [*sums, *function.results]
            function.scores = True

    def _add(self, total: Var, term: Var, line: int) -> Statement:
        return Set([total], [Op("add", (total, term), "f")], line=line)

    def _body(self, body: Body) -> Body:
        result: Body = []
        for statement in body:
            line = statement.line
            match statement:
                case Choice():
                    result += self._choice(statement)
                case Visit(targets=targets, template=template, indices=indices):
                    result += self._node(targets[0], template, indices, line)
                case Call() if id(statement.function) in self.making:
                    name = statement.function.name
                    terms = [self._fresh(f"{one}_{name}") for one in self.sum_names]
                    statement.targets = [*terms, *statement.targets]
                    result.append(statement)
                    result += [self._add(*pair, line) for pair in zip(self.sums, terms, strict=True)]
                case Return() if self.makes:
                    statement.values = [*self.sums, *([] if self.alone else statement.values)]
                    result.append(statement)
                case If():
                    statement.then = self._body(statement.then)
                    statement.orelse = self._body(statement.orelse)
                    result.append(statement)
                case hir.For() | hir.Loop() | hir.Block():
                    statement.body = self._body(statement.body)
                    result.append(statement)
                case _:
                    result.append(statement)
        return result

    def _choice(self, choice: Choice) -> Body:
        targets, template, indices, line = choice.targets, choice.template, choice.indices, choice.line
        if choice.undrawn is not None:
            raise choice.undrawn
        assert choice.sampler is not None
        given = self._fresh(f"{template.name}_given", "b")
        term = self._fresh(f"lp_{template.name}")
        fails = Fail("a draw whose log density is not finite", line=line)
        finite = Op("isfinite", (term,), "b")
        draw: Body = [
            Call(list(targets), choice.sampler, list(choice.parameters), line=line),
            Keep(template, indices, list(targets), line=line),
        ]
        score = Call([term], choice.density, [*choice.parameters, *targets], line=line)
        if len(self.sums) == 1:
            check = If(Op("not", (finite,), "b"), [fails], [], line=line)
            return [*draw, score, check, self._add(self.sums[0], term, line)]
        weigh = self._add(self.sums[1], term, line)
        drawn: Body = [weigh] if choice.weighs else [If(Op("not", (finite,), "b"), [fails], [], line=line)]
        return [
            Given(given, template, indices, line=line),
            If(
                given,
                [Visit(targets, template, indices, line=line)],
                draw,
                line=line,
            ),
            score,
            If(given, [self._add(self.sums[1], term, line)], drawn, line=line),
            self._add(self.sums[0], term, line),
        ]

    def _node(self, target: Var, template: object, indices: tuple[Expr, ...], line: int) -> Body:
        """The number of a call of a program that calls itself: that of the state, or a new one."""
        given = self._fresh("node_given", "b")
        keep: list[Statement] = [NewNode(target, line=line), Keep(template, indices, [target], line=line)]
        visit = Visit([target], template, indices, line=line)
        return [Given(given, template, indices, line=line), If(given, [visit], keep, line=line)]
