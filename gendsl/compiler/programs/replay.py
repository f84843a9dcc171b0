"""From a program to what it returned for a trace, or to the distribution of one of its choices: every choice
is read there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import FunctionType

from gendsl.compiler import hir
from gendsl.compiler.front.names import Text
from gendsl.compiler.hir import (
    Body,
    Call,
    Choice,
    Expr,
    Fail,
    Function,
    If,
    Keep,
    Node,
    Primitive,
    Read,
    Return,
    Set,
    Statement,
    Var,
    Visit,
)
from gendsl.compiler.hir.templates import Lowered, Template
from gendsl.compiler.passes.needed import follow
from gendsl.compiler.programs.sums import makers, names_of


def fill_all(lowered: Lowered, mains: Mapping[str, Function]) -> None:
    """Make the bodies of all replays of some programs, by their names."""
    asked = [made for _, made, _ in lowered.asked.values()]
    every = [*lowered.replays.values(), *asked, *lowered.returned.values()]
    own = set(map(id, every))
    whole = [one for main in mains.values() for one in hir.functions(main) if id(one) not in own]
    for name, made in lowered.replays.items():
        fill(made, mains[name])
    for template, made, counted in lowered.asked.values():
        fill_distribution(made, mains[template.trace], template, counted)
    for (trace, called), made in lowered.returned.items():
        fill_returned(made, mains[trace], called)
    follow([one for made in every for one in hir.functions(made)], whole)


def fill(replay: Function, main: Function) -> None:
    """Make the body of a replay that of a program, with its choices read from the trace.

    The program itself stays as it is.
    """
    hir.copied(main, "_replayed", _read, replay)


def _read(one: Statement) -> Body | None:
    match one:
        case Choice(targets=targets, template=template, indices=indices):
            return [Read(list(targets), template, indices, False, line=one.line)]
        case Visit(targets=[node], template=template, indices=indices):
            return [Node(node, template, indices, line=one.line)]
        case Read(targets=targets, template=template, indices=indices):
            # of the trace that the program was given: what was returned tells of discrete choices, but has
            # no derivatives
            told = one.followed and not any(target.kind in "fr" for target in targets)
            return [Read(list(targets), template, indices, told, line=one.line)]
        case Keep() | Primitive(name="cover"):  # a note of a call, or of what there is a choice below
            return []
    return None


def fill_distribution(replay: Function, main: Function, template: Template, counted: Template | None) -> None:
    """Make the body of a replay that of a program that ends at a choice, and returns the parameters of its
    distribution.

    The first arguments are the indices of the choice, and what takes the place of a choice of an integer, if
    there is such a one; those of the program follow.
    """

    def wanted(one: Statement) -> bool:
        return isinstance(one, Choice) and one.template is template

    _fill_asked(replay, main, wanted, template.rank, counted)


def fill_returned(replay: Function, main: Function, called: Template | FunctionType) -> None:
    """Make the body of a replay that of a program that ends behind a call, and returns what that returned.

    The first arguments are the indices of the call, or its node, where the program that is called calls
    itself; those of the program follow.
    """

    def wanted(one: Statement) -> bool:
        if isinstance(called, Template):
            return isinstance(one, Keep) and one.template is called
        return isinstance(one, (Visit, Node)) and one.template.calls is called

    _fill_asked(replay, main, wanted, called.rank if isinstance(called, Template) else 1)


def _fill_asked(
    replay: Function,
    main: Function,
    wanted: Callable[[Statement], bool],
    rank: int,
    counted: Template | None = None,
) -> None:
    def read(one: Statement) -> Body | None:
        return None if wanted(one) and not isinstance(one, Visit) else _read(one)

    kinds = list(replay.results)
    hir.copied(main, f"_{replay.name}", read, replay)
    making = makers(replay, wanted)
    for function in hir.functions(replay):
        if id(function) in making or function is replay:
            _Asked(function, making, wanted, rank, kinds, counted, is_main=function is replay)


class _Asked:
    """One function that returns whether it made the choice or the call, the parameters of the choice or what
    the call returned, and what it returned before.
    """

    def __init__(
        self,
        function: Function,
        making: set[int],
        wanted: Callable[[Statement], bool],
        rank: int,
        kinds: list[hir.Kind],
        counted: Template | None,
        *,
        is_main: bool,
    ) -> None:
        self.names = Text(function, dict.fromkeys(names_of(function), 1))
        self.making, self.is_main, self.kinds = making, is_main, kinds
        self.rest = [] if is_main else list(function.results)
        self.is_wanted = wanted
        self.wanted = [Var(self.names.fresh("wanted"), "i") for _ in range(rank)]
        self.counted = counted
        self.number = [] if counted is None else [Var(self.names.fresh(counted.name), "i")]
        function.parameters = [*self.wanted, *self.number, *function.parameters]
        function.results = list(kinds) if is_main else ["b", *kinds, *self.rest]
        function.body = self._body(function.body)
        if is_main:
            self._end(function.body)

    @staticmethod
    def _end(body: Body) -> None:
        """Leave out what is behind the last place where it may end, but that it fails there."""
        while len(body) > 1 and not any(isinstance(one, Return) for one in hir.walk([body[-2]])):
            del body[-2]

    def _found(self, parameters: list[Expr]) -> Return:
        zeros = [hir.ZEROS[kind] for kind in self.rest]
        return Return(list(parameters) if self.is_main else [hir.TRUE, *parameters, *zeros])

    def _test(self, indices: tuple[Expr, ...]) -> Expr:
        """Whether these are the indices that are asked for."""
        test: Expr = hir.TRUE
        for index, wanted in zip(indices, self.wanted, strict=True):
            same = hir.Op("eq", (index, wanted), "b")
            test = same if test is hir.TRUE else hir.Op("and", (test, same), "b")
        return test

    def _body(self, body: Body) -> Body:
        result: Body = []
        called: tuple[Expr, ...] | None = None
        for one in body:
            match one:
                case Choice() | Read() if one.template is self.counted:
                    result.append(Set(list(one.targets), list(self.number), line=one.line))
                case Choice(targets=targets, template=template, indices=indices, line=line):
                    asked = self._found(list(one.told or one.parameters))
                    result.append(If(self._test(indices), [asked], [], line=line))
                    result.append(Read(list(targets), template, indices, False, line=line))
                case Keep(indices=indices):
                    called = indices
                case Node(target=node) if self.is_wanted(one):
                    called = (node,)
                    result.append(one)
                case Call() if id(one.function) in self.making or called is not None:
                    returned: list[Expr] = list(one.targets)
                    result.append(one)
                    if id(one.function) in self.making:
                        made = Var(self.names.fresh("made"), "b")
                        parameters = [Var(self.names.fresh("parameter"), kind) for kind in self.kinds]
                        one.targets = [made, *parameters, *one.targets]
                        one.args = [*self.wanted, *self.number, *one.args]
                        result.append(If(made, [self._found(list(parameters))], [], line=one.line))
                    if called is not None:
                        result.append(If(self._test(called), [self._found(returned)], [], line=one.line))
                        called = None
                case Return():
                    if self.is_main:
                        result.append(Fail("a choice that the program does not make", line=one.line))
                    else:
                        zeros = [hir.ZEROS[kind] for kind in self.kinds]
                        result.append(Return([hir.FALSE, *zeros, *one.values], line=one.line))
                case _:
                    for name in one.BODIES:
                        setattr(one, name, self._body(getattr(one, name)))
                    result.append(one)
        return result
