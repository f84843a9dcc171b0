"""From a program to what it returned for a trace, or to the distribution of one of its choices: every choice
is read there.
"""

from __future__ import annotations

from collections.abc import Mapping

from gendsl.compiler import hir
from gendsl.compiler.density import makers, names_of
from gendsl.compiler.front.frame import Text
from gendsl.compiler.front.program import Lowered, Template
from gendsl.compiler.hir import (
    Body,
    Call,
    Choice,
    Expr,
    Fail,
    Function,
    If,
    Read,
    Return,
    Statement,
    Var,
    Visit,
)


def fill_all(lowered: Lowered, mains: Mapping[str, Function]) -> None:
    """Make the bodies of all replays of some programs, by their names."""
    for name, made in lowered.replays.items():
        fill(made, mains[name])
    for template, made in lowered.asked.values():
        fill_distribution(made, mains[template.trace], template)


def fill(replay: Function, main: Function) -> None:
    """Make the body of a replay that of a program, with its choices read from the trace.

    The program itself stays as it is.
    """
    hir.copied(main, "_replayed", _read, replay)


def _read(one: Statement) -> Body | None:
    match one:
        case (
            Choice(targets=targets, template=template, indices=indices)
            | Visit(targets=targets, template=template, indices=indices)
        ):
            return [Read(list(targets), template, indices, False, line=one.line)]
        case Read(targets=targets, template=template, indices=indices):
            # of the trace that the program was given: what was returned tells of discrete choices, but has
            # no derivatives
            told = one.followed and not any(target.kind in "fr" for target in targets)
            return [Read(list(targets), template, indices, told, line=one.line)]
        case hir.Keep():  # a note of a call
            return []
    return None


def fill_distribution(replay: Function, main: Function, template: Template) -> None:
    """Make the body of a replay that of a program that ends at a choice, and returns the parameters of its
    distribution.

    The first arguments are the indices of the choice, and those of the program follow.
    """

    def read(one: Statement) -> Body | None:
        return None if isinstance(one, Choice) and one.template is template else _read(one)

    kinds = list(replay.results)
    hir.copied(main, f"_{replay.name}", read, replay)
    making = makers(replay)
    for function in hir.functions(replay):
        if id(function) in making or function is replay:
            _Asked(function, making, template, kinds, is_main=function is replay)


class _Asked:
    """One function that returns whether it made the choice, the parameters, and what it returned before."""

    def __init__(
        self,
        function: Function,
        making: set[int],
        template: Template,
        kinds: list[hir.Kind],
        *,
        is_main: bool,
    ) -> None:
        self.names = Text(function, dict.fromkeys(names_of(function), 1))
        self.making, self.is_main, self.kinds = making, is_main, kinds
        self.rest = [] if is_main else list(function.results)
        self.wanted = [Var(self.names.fresh("wanted"), "i") for _ in range(template.rank)]
        function.parameters = [*self.wanted, *function.parameters]
        function.results = list(kinds) if is_main else ["b", *kinds, *self.rest]
        function.body = self._body(function.body)

    def _found(self, parameters: list[Expr]) -> Return:
        zeros = [hir.ZEROS[kind] for kind in self.rest]
        return Return(list(parameters) if self.is_main else [hir.TRUE, *parameters, *zeros])

    def _body(self, body: Body) -> Body:
        result: Body = []
        for one in body:
            match one:
                case Choice(targets=targets, template=template, indices=indices, line=line):
                    test: Expr = hir.TRUE
                    for index, wanted in zip(indices, self.wanted, strict=True):
                        same = hir.Op("eq", (index, wanted), "b")
                        test = same if test is hir.TRUE else hir.Op("and", (test, same), "b")
                    result.append(If(test, [self._found(list(one.parameters))], [], line=line))
                    result.append(Read(list(targets), template, indices, False, line=line))
                case Call() if id(one.function) in self.making:
                    made = Var(self.names.fresh("made"), "b")
                    parameters = [Var(self.names.fresh("parameter"), kind) for kind in self.kinds]
                    one.targets = [made, *parameters, *one.targets]
                    one.args = [*self.wanted, *one.args]
                    result += [one, If(made, [self._found(list(parameters))], [], line=one.line)]
                case Return():
                    if self.is_main:
                        result.append(Fail("a choice that the program does not make", line=one.line))
                    else:
                        zeros = [hir.ZEROS[kind] for kind in self.kinds]
                        result.append(Return([hir.FALSE, *zeros, *one.values], line=one.line))
                case _:
                    for name in ("body", "then", "orelse"):
                        if hasattr(one, name):
                            setattr(one, name, self._body(getattr(one, name)))
                    result.append(one)
        return result
