"""From a decorated function to the body that an execution runs."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import FunctionType
from typing import Any

from gendsl.interface import GenerativeFunction
from gendsl.lang.definition import FunctionNode, as_function, compile_definition
from gendsl.lang.fence import check_syntax
from gendsl.lang.lift import lift_assignments, lift_calls
from gendsl.lang.names import reads_builtin
from gendsl.lang.render import render
from gendsl.lang.rewrite import rewrite
from gendsl.lang.sites import Site, is_choice, without_braces
from gendsl.lang.source import Source, find_source
from gendsl.lang.trees import walk
from gendsl.runtime.lowering.disjoint import is_disjoint
from gendsl.runtime.lowering.effects import Effects
from gendsl.runtime.lowering.emit import render_pieces
from gendsl.runtime.lowering.ir import Program
from gendsl.runtime.lowering.light import is_light, programs_called
from gendsl.runtime.lowering.lower import lower
from gendsl.runtime.lowering.plates import Plate, lift_plates
from gendsl.runtime.lowering.unswitch import unswitched


@dataclass(frozen=True, eq=False)
class Compiled:
    """A compiled `@gen` function.

    Attributes:
        origin: the function as the user wrote it, with its syntax tree.
        checked: how many proposals of moves on it were to be checked, and of how many one is, later on.
    """

    origin: Source = field(repr=False)
    checked: list[int] = field(default_factory=lambda: [0, 64], repr=False)

    @property
    def original(self) -> FunctionType:
        """The function as the user wrote it."""
        return self.origin.function

    @cached_property
    def is_classmethod(self) -> bool:
        """Whether `@classmethod` stands above `@gen`."""
        decorators = self.origin.node.decorator_list
        return any(isinstance(d, ast.Name) and d.id == "classmethod" for d in decorators)

    @cached_property
    def _parts(self) -> tuple[FunctionNode, list[Site]]:
        return rewrite(self.origin)

    @property
    def node(self) -> FunctionNode:
        """The rewritten definition."""
        return self._parts[0]

    @property
    def sites(self) -> list[Site]:
        """Its choices and calls."""
        return self._parts[1]

    @cached_property
    def body(self) -> Callable[..., Any]:
        """What the reference runtime runs; called with the execution as keyword `__gendsl__`."""
        return _compile(self.origin, self.node)

    @property
    def rewritten(self) -> str:
        """The rewritten function, which the reference runtime executes, as text."""
        return render(self.node)

    @property
    def source(self) -> str:
        """The generated code, as text: the rewritten function, and the pieces that updates execute."""
        # lowered for reading only, unless it has run: before that, what it calls may not exist yet
        program = self.__dict__.get("program") or lower(self.origin)
        if program.opaque is not None:
            return self.rewritten
        return f"{self.rewritten}\n\n{render_pieces(program)}"

    @cached_property
    def program(self) -> Program:
        """The body as blocks."""
        return lower(self.origin)

    def execute_whole(self, reason: str, rewrite: str, node: ast.AST) -> None:
        """Have the body executed whole from now on: a part of it can't be vouched for after all."""
        opaque = Program(self.program.parameters, [], 0, (reason, rewrite, node), [], None)
        # frozen for its users
        self.__dict__.update(program=opaque, _linked=None, changes_arguments=True, runs_at_once=False)

    @cached_property
    def changes_arguments(self) -> bool:
        """Whether the body may change an argument of its own, as far as one can see."""
        return Effects(self.origin).changes_arguments()

    @cached_property
    def asks(self) -> bool:
        """Whether it may turn out as it runs that the body, or one that it calls, is to be executed whole."""
        return not _all_called(self, self._never_asks, set())

    def _never_asks(self, called: Compiled) -> bool:
        program = called.program
        return not any(code.asks for code in program.codes) and (called is self or program.opaque is None)

    @cached_property
    def disjoint(self) -> bool:
        """Whether no two choices or calls can have one address, in this body and in each that it calls."""
        return _all_called(self, lambda c: c.program.opaque is None and is_disjoint(c.program), set())

    @cached_property
    def loopless(self) -> bool:
        """Whether no choice is made in a loop, nor by what it calls: then one run costs least as a whole."""
        return _all_called(self, _has_no_loop, set())

    @cached_property
    def runs_at_once(self) -> bool:
        """Whether all that it takes to run it, where the trace won't be edited, is to call the body once."""
        return self.loopless and self.is_spread and not self.changes_arguments and not self.is_classmethod

    @cached_property
    def is_spread(self) -> bool:
        """Whether its choices may be made by statements of its own: it doesn't look at its variables."""
        return reads_builtin(self.origin, _LOOKS_BACK) is None

    @cached_property
    def at_once(self) -> dict[type, Callable[..., Any]]:
        """The body with choices made by statements, for each class of executions; see `runtime.at_once`."""
        return {}

    @cached_property
    def flat(self) -> bool:
        """Whether the addresses in the body are single constants: then none can be a namespace of others."""
        return all(
            isinstance(address, ast.Constant)
            or (isinstance(address, ast.Tuple) and list(map(type, address.elts)) == [ast.Constant])
            for address in (site.address for site in self.sites)
        )

    @cached_property
    def inlined(self) -> Callable[..., Any]:
        """The body with the choices from gendsl's own families made in one call each."""
        node, _ = rewrite(self.origin, inline=True)
        return _compile(self.origin, node)

    @cached_property
    def light(self) -> bool:
        """Whether a run costs little beside its choices, in this body and in what it calls."""
        return _all_called(self, lambda compiled: is_light(compiled.origin), set())

    @cached_property
    def differentiable(self) -> Callable[..., Any]:
        """The body with its calls lifted, for executions that substitute what is called."""
        return self._differentiable[0]

    @property
    def plates(self) -> list[Plate]:
        """The loops of `differentiable` that can run at once, by the numbers that it gives them."""
        return self._differentiable[1]

    @cached_property
    def _differentiable(self) -> tuple[Callable[..., Any], list[Plate]]:
        lifted = replace(self.origin, node=lift_calls(unswitched(self.origin).node))
        node = lift_assignments(rewrite(lifted)[0], lifted.function)
        plates = lift_plates(node, self.program)
        return _compile(lifted, node), plates


_LOOKS_BACK = dir, eval, exec, locals, super, vars
"""Functions that look at the variables of who calls them; `super()` at the first argument."""

_LOOPS = ast.For, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp


def _all_called(compiled: Compiled, holds: Callable[[Compiled], bool], seen: set[int]) -> bool:
    """Whether something holds of a program and of all that it calls; `seen` are those looked at already."""
    seen.add(id(compiled))
    if not holds(compiled):
        return False
    for called in programs_called(compiled.origin):
        if called is None:
            return False
        inner = getattr(called, "compiled", None)
        if isinstance(inner, Compiled):
            if id(inner) not in seen and not _all_called(inner, holds, seen):
                return False
        elif isinstance(called, GenerativeFunction):
            return False
    return True


def _has_no_loop(compiled: Compiled) -> bool:
    loops = (node for node in walk(compiled.origin.node) if isinstance(node, _LOOPS))
    return not any(is_choice(part) for loop in loops for part in walk(loop))


def _compile(source: Source, node: FunctionNode) -> FunctionType:
    code = compile_definition(node, source.scopes, source.function.__code__)
    return as_function(code, source.function)


def compile_function(function: Any) -> Compiled:
    """Compile the function that `@gen` decorates.

    Raises:
        UnsupportedSyntaxError: its body can't be given a meaning.
        SourceUnavailableError: its source can't be found.
    """
    source = without_braces(find_source(function, "gen"))
    check_syntax(source)
    return Compiled(source)
