"""What a program that proposes draws, and the choices of the model at the same addresses, in a text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import FunctionType
from typing import NamedTuple

from gendsl.compiler import hir
from gendsl.compiler.front.names import Text
from gendsl.compiler.front.program import Lowering
from gendsl.compiler.front.subtrees import each_call
from gendsl.compiler.hir import Body, Expr, Function, Primitive, Var
from gendsl.compiler.hir.failures import NotClosed
from gendsl.compiler.hir.templates import MODEL, NO_VALUE, Template
from gendsl.compiler.hir.types import PathPart


class Pair(NamedTuple):
    """A template of a program that proposes, and that of the model at the same addresses.

    Attributes:
        through: the calls of programs that call themselves that the address in the model passes through, and
            that in the program does not.
    """

    drawn: Template
    through: tuple[Template, ...]
    model: Template


class Proposals:
    """The choices of a program that proposes, paired with those of the model.

    Raises:
        NotClosed: the model makes no such choices.
    """

    def __init__(self, lowering: Lowering, name: str) -> None:
        self.lowering, self.name = lowering, name
        self.functions: dict[tuple[str, FunctionType | None, FunctionType | None], Function] = {}
        self.models: dict[int, Template] | None = None

    def proposed(self, one: hir.Statement) -> Template | None:
        """The template of the model of which a statement of the program draws a choice that is proposed."""
        if not isinstance(one, hir.Choice):
            return None
        if self.models is None:
            self.models = {pair.drawn.number: pair.model for pair in self._pairs(None, None)}
        return self.models.get(one.template.number)

    def propose(self) -> Body:
        """Copies what was drawn to the proposed trace of the model."""
        return self._top("propose")

    def give_back(self) -> Body:
        """Lets the auxiliary choices be those of the model that were written or are gone."""
        return self._top("give_back")

    def _top(self, what: str) -> Body:
        made = Function("top")
        self._fill(what, made, None, None)
        return made.body

    def _pairs(self, mine: FunctionType | None, theirs: FunctionType | None) -> Iterator[Pair]:
        """The pairs below a call in the program and one in the model."""
        for drawn in self.lowering.templates_of(self.name):
            if drawn.context is not mine or drawn.type == NO_VALUE:
                continue
            found = list(self._matches(drawn, drawn.own, theirs, ()))
            if len(found) != 1 and any(isinstance(part, PathPart) for part in drawn.own):
                raise NotClosed("a proposal at an address with a tuple of any length")
            if len(found) != 1:
                raise NotClosed(f"a proposal at {drawn.own!r}, where the model makes no such choice")
            (pair,) = found
            coordinates = self.lowering.coordinates
            if not drawn.has_nodes and coordinates[drawn.number] != coordinates[pair.model.number]:
                raise NotClosed(f"a proposal at {drawn.own!r} with other coordinates")
            yield pair

    def _matches(
        self,
        drawn: Template,
        own: tuple[object, ...],
        theirs: FunctionType | None,
        through: tuple[Template, ...],
    ) -> Iterator[Pair]:
        for one in self.lowering.templates_of(MODEL):
            if one.context is not theirs or one.type == NO_VALUE:
                continue
            if one.own == own and one.has_nodes == drawn.has_nodes and one.type == drawn.type:
                yield Pair(drawn, through, one)
            elif one.has_nodes and one.own == own[: len(one.own)] and all(type(p) is str for p in one.own):
                yield from self._matches(drawn, own[len(one.own) :], one.calls, (*through, one))

    def _fill(
        self, what: str, made: Function, mine: FunctionType | None, theirs: FunctionType | None
    ) -> None:
        """Make the body of what is done below a call in the program and one in the model, whose nodes are the
        parameters.
        """
        text = Text(made)

        def fresh(name: str, kind: hir.Kind) -> Var:
            return Var(text.fresh(name), kind)

        my_node = () if mine is None else (fresh("drawn", "i"),)
        their_node = () if theirs is None else (fresh("model", "i"),)
        made.parameters = [*my_node, *their_node]
        for pair in self._pairs(mine, theirs):
            node: tuple[Expr, ...] = their_node
            for call in pair.through:
                inner = fresh("node", "i")
                made.body.append(hir.Node(inner, call, node))
                node = (inner,)
            if pair.drawn.has_nodes:
                made.body += self._below(what, pair, my_node, node, fresh)
            elif what == "propose":
                copied = fresh("copied", "i")
                made.body.append(hir.Copy(copied, pair.model, node, pair.drawn, my_node))
            else:
                made.body.append(Primitive([], "give_back", (*my_node, *node), (pair.drawn, pair.model)))
        if mine is not None or theirs is not None:
            made.body.append(hir.Return([]))

    def _below(
        self,
        what: str,
        pair: Pair,
        my_node: tuple[Expr, ...],
        their_node: tuple[Expr, ...],
        fresh: Callable[[str, hir.Kind], Var],
    ) -> Body:
        """What is done below the calls of a pair: those that the program made, or those of the model."""
        function = self._function(what, pair.drawn.calls, pair.model.calls)

        def inside(indices: tuple[Expr, ...]) -> Body:
            first = my_node if what == "propose" else their_node
            rest = indices[len(first) :]
            mine, theirs = fresh("node", "i"), fresh("node", "i")
            return [
                hir.Node(mine, pair.drawn, (*my_node, *rest)),
                hir.Node(theirs, pair.model, (*their_node, *rest)),
                hir.Call([], function, [mine, theirs]),
            ]

        of, first = (pair.drawn, my_node) if what == "propose" else (pair.model, their_node)
        return each_call(fresh, self.lowering.new_label, of, first, inside)

    def _function(self, what: str, mine: FunctionType | None, theirs: FunctionType | None) -> Function:
        key = what, mine, theirs
        if key not in self.functions:
            assert mine is not None
            name = self.lowering.function_name(f"{what}_{mine.__name__}")
            self.functions[key] = Function(name, origin=f"below calls of {mine.__name__}")
            self._fill(what, self.functions[key], mine, theirs)
        return self.functions[key]
