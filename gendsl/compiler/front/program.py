"""Lowering a whole program: the walk that is repeated until no fact about a type grows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from gendsl.compiler import hir
from gendsl.compiler.front import outside
from gendsl.compiler.front.binding import bound
from gendsl.compiler.front.containers import separate
from gendsl.compiler.front.frame import Frame, Program
from gendsl.compiler.front.functions import body
from gendsl.compiler.front.lines import line_at
from gendsl.compiler.front.names import Text
from gendsl.compiler.front.sources import origin_of
from gendsl.compiler.front.whole_language import WholeLanguage
from gendsl.compiler.hir.failures import NotClosed
from gendsl.compiler.hir.templates import MODEL, Lowered, Template
from gendsl.compiler.hir.types import Type, leaves
from gendsl.compiler.hir.values import Value

MOST_WALKS = 30


@dataclass(frozen=True)
class Entry:
    """A program that is lowered together with others.

    Attributes:
        name: what the others know it by.
        origin: its source.
        args: the types of its arguments, or their values where they are traces or known; of the line of a
            choice its template.
        named: the same for arguments by name.
        bound: the instance that it is a method of, alone in a tuple.
        constants: arguments by name that are known.
        chooses: whether it makes random choices.
        changes: whether it changes its arguments in place: each run is then given copies.
    """

    name: str
    origin: Any
    args: tuple[Any, ...]
    named: dict[str, Any] = field(default_factory=dict)
    bound: tuple[Any, ...] = ()
    constants: dict[str, Any] = field(default_factory=dict)
    chooses: bool = True
    changes: bool = False


Entries = Callable[["Lowering"], list[Entry]]
"""Entries that depend on what was lowered before them."""


class Lowering(Program):
    """One program being lowered, or several together."""

    language = WholeLanguage

    def lower(self, program: Any, args: list[Type]) -> Lowered:
        """The HIR of a `@gen` program for arguments of these types.

        Raises:
            NotClosed: it is not in the subset that the compiler reads.
        """
        self.covers = False
        changes = program.compiled.changes_arguments
        entry = Entry(MODEL, program.compiled.origin, tuple(args), bound=program.bound, changes=changes)
        return self.lower_together([entry])[MODEL]

    def lower_together(self, entries: Sequence[Entry | Entries]) -> dict[str, Lowered]:
        """The HIR of programs, by their names, each of which may be given the traces of those before it.

        Raises:
            NotClosed: one of them is not in the subset that the compiler reads.
        """
        for _ in range(MOST_WALKS):
            self.start()
            self.facts.changed = False
            program, walked = "", list[Entry]()
            try:
                for given in entries:
                    for entry in [given] if isinstance(given, Entry) else given(self):
                        program = entry.name
                        self.entries[entry.name] = self._walk(entry)
                        walked.append(entry)
                        if self.refused and not self.facts.changed:
                            raise self.refused[0]
            except RecursionError:
                raise NotClosed("expressions or calls that are nested too deeply") from None
            except NotClosed as reason:
                if self.facts.changed:  # it may come of what was not known yet
                    continue
                reason.program = program
                raise
            if not self.facts.changed:
                for entry in walked:
                    _check_ends(entry.name, self.entries[entry.name][0])
                return {entry.name: self._lowered(entry) for entry in walked}
        raise NotClosed("the types of its values do not settle")

    def _lowered(self, entry: Entry) -> Lowered:
        main, result, _ = self.entries[entry.name]
        types = [kind for kind in (*entry.args, *entry.named.values()) if isinstance(kind, Type)]
        return Lowered(
            main, types, self.inputs, list(self.templates.values()), result, self.facts,
            list(self.guards.values()), self.replays, self.coordinates, self.asked, self.returned,
        )  # fmt: skip

    def _walk(self, entry: Entry) -> tuple[hir.Function, Type, list[Value]]:
        origin, self.trace = entry.origin, entry.name
        function = origin.function
        main = hir.Function(self.function_name(function.__name__), origin=origin_of(function))
        text = Text(main)
        frame = Frame(self, text, main.body, origin.node, function, origin.filename, ("main", entry.name))
        frame.prefix = () if entry.chooses else None

        def given(kind: Any, parameter: str) -> Value:
            if isinstance(kind, Value):
                return kind
            if isinstance(kind, Template):
                indices = [frame.fresh("at", "i") for _ in range(kind.rank)]
                main.parameters.extend(indices)
                return line_at(self, kind, tuple(indices))
            variables = [frame.fresh(parameter, leaf) for leaf in leaves(kind)]
            main.parameters.extend(variables)
            return Value(kind, tuple(variables))

        args = [outside.constant(frame, one) for one in entry.bound]
        names = _parameter_names(origin.node, len(entry.args), len(args))
        own = [given(kind, name) for kind, name in zip(entry.args, names, strict=True)]
        named = {name: given(kind, name) for name, kind in entry.named.items()}
        named.update({name: outside.constant(frame, value, name) for name, value in entry.constants.items()})
        defaults = outside.defaults_of(frame, function)
        used = [separate(frame, one, i) for i, one in enumerate(own)] if entry.changes else own
        values = bound(frame, origin.node, defaults, [*args, *used], named, function.__name__)
        if values is None:
            raise NotClosed("the arguments do not fit the signature")
        self.argument_places[main] = {
            leaf: (i, j)
            for i, value in enumerate(own)
            if entry.args[i] is not value
            for j, leaf in enumerate(value.leaves)
        }
        frame.env.update(values)
        result = body(frame, origin.node, ("main", entry.name, "result"))
        main.results = list(leaves(result))
        return main, result, own


def _check_ends(name: str, main: hir.Function) -> None:
    """Refuse a program that fails whatever it is given, as the interpreter would make each step of it."""
    every = list(hir.walk(main.body))
    fails = [one for one in every if isinstance(one, hir.Fail)]
    if fails and not any(isinstance(one, hir.Return) for one in every):
        reason = NotClosed(f"it always comes to {fails[-1].reason}", fails[-1].line)
        reason.program = name
        raise reason


def _parameter_names(node: Any, count: int, skipped: int) -> list[str]:
    names = [a.arg for a in (*node.args.posonlyargs, *node.args.args)][skipped:]
    return [*names, *(f"argument_{i}" for i in range(len(names), count))][:count]
