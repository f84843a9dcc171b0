"""Lowering a whole program: its functions, what it finds outside of itself, and the walk that is repeated
until no fact about a type grows.

A walk, its sources and what it finds outside share their tables, so this is one module.
"""

from __future__ import annotations

import ast
import builtins
import copy
import dataclasses
import functools
import inspect
import keyword
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from types import BuiltinMethodType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from gendsl.compiler import hir
from gendsl.compiler.front import cells
from gendsl.compiler.front.argument_types import LONGEST_TUPLE, NUMPYS, type_of
from gendsl.compiler.front.binding import bound
from gendsl.compiler.front.calls import call_function
from gendsl.compiler.front.containers import separate
from gendsl.compiler.front.expressions import expression
from gendsl.compiler.front.families import constant_distribution
from gendsl.compiler.front.frame import Frame
from gendsl.compiler.front.instances import check_missing
from gendsl.compiler.front.known_parameters import Definitions
from gendsl.compiler.front.language import Language
from gendsl.compiler.front.linear import linear
from gendsl.compiler.front.lines import line_at
from gendsl.compiler.front.names import RESERVED, Text
from gendsl.compiler.front.sources import FunctionSource, lambda_source, marked, origin_of, returns_closure
from gendsl.compiler.front.statements import statements
from gendsl.compiler.front.traces import TraceOf
from gendsl.compiler.hir import Const, Expr, Input, Var
from gendsl.compiler.hir.coordinates import UNKNOWN
from gendsl.compiler.hir.facts import Facts, depth
from gendsl.compiler.hir.failures import NotClosed
from gendsl.compiler.hir.key_paths import PATHS
from gendsl.compiler.hir.rewriting import replaced, variables_of
from gendsl.compiler.hir.templates import LOG_DENSITY, MODEL, ArgumentsOf, Lowered, Template, words_of
from gendsl.compiler.hir.types import (
    FLOAT,
    NEVER,
    Known,
    List,
    Number,
    SubTrace,
    Type,
    index_count,
    leaves,
)
from gendsl.compiler.hir.values import NONE, NOTHING, Value, is_known, known, make_tuple, numpy_number
from gendsl.distributions import Distribution
from gendsl.errors import GenDSLError
from gendsl.interface import GenerativeFunction
from gendsl.lang.source import find_source
from gendsl.supports import Support

MOST_WALKS = 30
DEEPEST_TYPE = 8
_SCALARS = (bool, int, float, str, bytes, type(None), type(Ellipsis))


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


class Lowering:
    """One program being lowered.

    Attributes:
        functions: (function, types of arguments) -> the function of the text.
        helpers: functions of the text that no user wrote.
        stack: the Python functions whose bodies are being lowered.
        draws: whether choices are to be drawn, too.
        samples: whether what draws them is made.
        charts: whether their unconstrained coordinates are needed.
        turns: whether it is needed how they move along ellipses.
        records: whether it is for functions of a trace whose values are recorded: what they compute has the
            bits that Python gives it, and the log density of the trace is known.
        lines: what is done along lines of templates, by their numbers; see `front.lines`.
        ellipses: what is done along the ellipses of kernels, by their numbers; see `front.ellipses`.
        blocks: what is done of the blocks of kernels, by their numbers; see `front.blocks`.
        adapted: what is done of kernels that are adapted, by their numbers; see `front.warming`.
        covers: whether programs note which tuples the items of others begin with, in addresses that end with
            these, so that no choice is made below another one.
        tuples: the tuples in addresses, or the codes of their items, by their numbers.
        refused: why branches of this walk are not read; it ends with the first of these, unless types are
            known now that were not.
    """

    language = Language

    def __init__(
        self, *, draws: bool = False, charts: bool = False, turns: bool = False, records: bool = False
    ) -> None:
        self.draws, self.charts, self.turns, self.records = draws, charts, turns, records
        self.samples, self.covers = draws and not records, True
        self.facts = Facts()
        self.sources: dict[Any, FunctionSource] = {}
        self.fields: dict[type, list[str]] = {}
        self.constants: dict[int, Any] = {}
        self.loops: dict[int, tuple[ast.For | ast.While, str]] = {}
        self.given_traces: dict[Hashable, Any] = {}
        self.factories: dict[Hashable, Any] = {}
        self._start()

    def _start(self) -> None:
        """Forget what a walk made; what it learnt stays."""
        self.functions: dict[Hashable, hir.Function] = {}
        self.helpers: dict[Hashable, Any] = {}
        self.stack: list[Any] = []
        self.keys: list[Hashable] = []
        self.inputs: list[tuple[Any, Type]] = []
        self.templates: dict[Hashable, Template] = {}
        self.coordinates: dict[int, int] = {}
        self.distributions: dict[int, list[tuple[Value, Type]]] = {}
        self.makers: dict[int, list[hir.Function]] = {}
        self.known: dict[str, Definitions] = {}
        self.argument_places: dict[hir.Function, dict[Expr, tuple[int, int]]] = {}
        self.asked: dict[int, tuple[Template, hir.Function]] = {}
        self.guards: dict[Hashable, tuple[Any, str, Any]] = {}
        self.names: dict[str, int] = {}
        self.labels = 10
        self.count: dict[Any, int] = {}
        self.trace = MODEL
        self.entries: dict[str, tuple[hir.Function, Type, list[Value]]] = {}
        self.replays: dict[str, hir.Function] = {}
        self.input_values: dict[Hashable, Value] = {}
        self.results: dict[tuple[str, Template | FunctionType], set[Type]] = {}
        self.returned: dict[tuple[str, Template | FunctionType], hir.Function] = {}
        self.lines: dict[int, Any] = {}
        self.ellipses: dict[int, Any] = {}
        self.blocks: dict[int, Any] = {}
        self.adapted: dict[int, Any] = {}
        self.refused: list[NotClosed] = []
        self.tuples: dict[Expr, Value | list[Expr]] = {}

    # --- the program ------------------------------------------------------------------------------

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
            self._start()
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

        args = [self.constant(frame, one) for one in entry.bound]
        names = _parameter_names(origin.node, len(entry.args), len(args))
        own = [given(kind, name) for kind, name in zip(entry.args, names, strict=True)]
        named = {name: given(kind, name) for name, kind in entry.named.items()}
        named.update({name: self.constant(frame, value, name) for name, value in entry.constants.items()})
        defaults = self.defaults(frame, function)
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
        result = self._body(frame, origin.node, ("main", entry.name, "result"))
        main.results = list(leaves(result))
        return main, result, own

    # --- traces that programs are given ---------------------------------------------------------------

    @property
    def is_recorded(self) -> bool:
        """Whether what is being lowered is a function whose values are recorded, and not the program."""
        return self.records and self.trace != MODEL

    def log_density(self) -> Value:
        """The log density of the trace whose functions are recorded."""
        if LOG_DENSITY not in self.input_values:
            self.inputs.append((LOG_DENSITY, FLOAT))
            self.input_values[LOG_DENSITY] = Value(FLOAT, (Input(len(self.inputs) - 1, 0, "f"),))
        return self.input_values[LOG_DENSITY]

    def templates_of(self, name: str) -> list[Template]:
        """The templates of the choices of a program that was lowered before."""
        return [template for template in self.templates.values() if template.trace == name]

    def arguments_of(self, name: str) -> list[Value]:
        """The arguments of the program that a trace is of."""
        result = []
        for position, value in enumerate(self.entries[name][2]):
            if isinstance(value.type, (SubTrace, Known)):
                result.append(value)
                continue
            key = (ArgumentsOf, name, position)
            if key not in self.input_values:
                number = len(self.inputs)
                self.inputs.append((ArgumentsOf(name, position), value.type))
                parts = tuple(Input(number, leaf, kind) for leaf, kind in enumerate(leaves(value.type)))
                self.input_values[key] = Value(value.type, parts)
            result.append(self.input_values[key])
        return result

    def replay_of(self, name: str) -> tuple[Type, hir.Function, list[Expr]]:
        """What a trace's program returned: the type, a function that gives it, and what to call that with."""
        main, result, _ = self.entries[name]
        if name not in self.replays:
            self.replays[name] = hir.Function(
                self.function_name(f"{main.name}_returned"),
                results=list(main.results),
                origin=f"what {main.name} returned",
            )
        self.replays[name].is_discrete = self.facts.is_discrete(result)
        given = [leaf for value in self.arguments_of(name) for leaf in value.leaves]
        return result, self.replays[name], given

    def trace_given(self, name: str) -> Any:
        """The trace of a program, as auxiliary programs are given it."""
        return self.given_traces.setdefault(name, TraceOf(name, "trace"))

    def distribution_at(
        self, frame: Frame, template: Template, indices: tuple[Expr, ...], *, is_given: bool = False
    ) -> Value:
        """The distribution of a choice of a trace: what its program has there.

        Args:
            is_given: whether the program in which this is asked is given the trace; else it is the state,
                whose choices have other values while they are updated than what is read of a trace.
        """
        fixed = self.fixed_parameters(template)
        if fixed is not None and (is_given or not self.deciding(template, fixed)):
            return self._fixed_distribution(frame, template, fixed)
        noted = self.distributions[template.number]
        _, kind = noted[0]
        if any(other != kind for _, other in noted):
            self.facts.flag(self._told(template))  # from the next walk on they are of one type
            kind = self.facts.canonical(self.facts.get(self._told(template)))
            if kind == NEVER:
                raise frame.not_closed("the distribution of a choice, of one type or another")
        if template.number not in self.asked:
            name, origin = f"distribution_of_{template.name}", f"the distribution of {template.name}"
            made = hir.Function(self.function_name(name), results=list(leaves(kind)), origin=origin)
            self.asked[template.number] = template, made
        given = [leaf for value in self.arguments_of(template.trace) for leaf in value.leaves]
        targets = [frame.fresh("parameter", leaf) for leaf in leaves(kind)]
        frame.emit(hir.Call(list(targets), self.asked[template.number][1], [*indices, *given]))
        return Value(kind, tuple(targets))

    def fixed_parameters(self, template: Template) -> tuple[Expr, ...] | None:
        """The parameters of all choices of a template, where arguments, constants and other choices alone
        tell them, whether there is such a choice or not, in terms of their sources; None if more does.
        """
        noted = self.distributions.get(template.number, [])
        if not noted or any(other.type != noted[0][0].type for other, _ in noted):
            return None
        known = self._known(template)
        every = set()
        for (distribution, _), function in zip(noted, self.makers[template.number], strict=True):
            every.add(tuple(known.told(function, leaf) for leaf in distribution.leaves))
        first = every.pop()
        return None if every or None in first else first  # type: ignore[return-value]

    def deciding(self, template: Template, parameters: Sequence[Expr]) -> list[Template]:
        """The templates of the choices that tell the fixed parameters of those of a template."""
        return self._known(template).deciding(parameters)

    def _known(self, template: Template) -> Definitions:
        """Where the program that makes the choices of a template sets its variables."""
        if template.trace not in self.known:
            main, *_ = self.entries[template.trace]
            self.known[template.trace] = Definitions(main, self.argument_places[main])
        return self.known[template.trace]

    def _fixed_distribution(self, frame: Frame, template: Template, parameters: Sequence[Expr]) -> Value:
        read: dict[int, list[Var]] = {}
        for one in self.deciding(template, parameters):
            read[one.number] = [frame.fresh(one.label, kind) for kind in leaves(one.type)]
            frame.emit(hir.Read(list(read[one.number]), one, ()))
        sources = self._known(template).sources
        numbers: dict[Var, Expr] = {}
        for var in variables_of(*parameters):
            source, leaf = sources[var]
            if isinstance(source, int):
                numbers[var] = self.arguments_of(template.trace)[source].leaves[leaf]
            else:
                numbers[var] = read[source.number][leaf]
        found = [frame.atom(replaced(parameter, numbers)) for parameter in parameters]
        return Value(self.distributions[template.number][0][0].type, tuple(found))

    def _body(self, frame: Frame, node: Any, place: Hashable) -> Type:
        """Lower the body of a function of the text; the type of its result."""
        def returned(value: Value) -> None:
            if ("boxes", node) in self.facts.flags:
                value = frame.boxed(value, self.facts.site(("box", node)))
            kind = self.facts.grow((place, ("boxes", node) in self.facts.flags), value.type)
            if depth(kind) > DEEPEST_TYPE:
                self.facts.flag(("boxes", node))
            frame.emit(hir.Return(list(self.facts.convert(value, kind))))
            frame.live = False

        frame.returned = returned
        if isinstance(node, ast.Lambda):
            returned(expression(frame, node.body))
        else:
            cells.start(frame)
            statements(frame, node.body)
            if frame.live:
                returned(NONE)
        return self.result_type(place, node)

    def result_type(self, place: Hashable, node: Any) -> Type:
        """The type of the results of the function of the text with this definition."""
        return self.facts.canonical(self.facts.get((place, ("boxes", node) in self.facts.flags)))

    def lower_function(
        self, frame: Frame, key: Hashable, function: Any, source: FunctionSource, types: dict[str, Type]
    ) -> hir.Function:
        """The function of the text for a Python function and types of arguments."""
        name = getattr(function, "__name__", "program")
        made = hir.Function(self.function_name(name), origin=origin_of(function))
        self.functions[key] = made
        self.count[function] = self.count.get(function, 0) + 1
        inner = Frame(self, Text(made), made.body, source.node, function, source.filename, key)
        for parameter, kind in types.items():
            variables = [inner.fresh(parameter, leaf) for leaf in leaves(kind)]
            made.parameters += variables
            inner.env[parameter] = Value(kind, tuple(variables))
        self._finish(made, inner, source.node, key, function)
        made.linear = linear(function, types, made.results)
        return made

    def _finish(self, made: hir.Function, inner: Frame, node: Any, key: Hashable, function: Any) -> None:
        self.stack.append(function)
        self.keys.append(key)
        result = self._body(inner, node, (key, "result"))
        self.stack.pop()
        self.keys.pop()
        made.results = list(leaves(result))

    def lower_program(
        self, frame: Frame, key: Hashable, program: Any, types: dict[str, Type], prefix: tuple[Any, ...]
    ) -> hir.Function:
        """The function of the text for a `@gen` program that another calls below an address prefix."""
        origin = program.compiled.origin
        made = hir.Function(self.function_name(origin.function.__name__), origin=origin_of(origin.function))
        self.functions[key] = made
        inner = Frame(self, Text(made), made.body, origin.node, origin.function, origin.filename, key)
        inner.prefix = prefix
        indices = [inner.fresh("at", "i") for part in prefix for _ in range(index_count(part))]
        made.parameters += indices
        inner.prefix_indices = tuple(indices)
        for parameter, kind in types.items():
            variables = [inner.fresh(parameter, leaf) for leaf in leaves(kind)]
            made.parameters += variables
            inner.env[parameter] = Value(kind, tuple(variables))
        self._finish(made, inner, origin.node, key, origin.function)
        return made

    def stack_has(self, key: Hashable) -> bool:
        """Whether the function of the text for a key is being lowered."""
        return key in self.keys

    def instances(self, function: Any) -> int:
        """How many functions of the text stand for a Python function."""
        return self.count.get(function, 0)

    def function_name(self, name: str) -> str:
        """A name for a function of the text."""
        name = hir.identifier(name).strip("_") or "function"
        name = name if name.isidentifier() else f"f_{name}"
        name = f"{name}_" if name in RESERVED else name
        count = self.names.get(name, 0)
        self.names[name] = count + 1
        return name if not count else f"{name}_{count}"

    def new_label(self) -> int:
        """A label for a loop or a block."""
        self.labels += 1
        return self.labels

    def note_call(self, called: Template | FunctionType, result: Type) -> None:
        """Note what a call returns: one of a template, or one of a program that calls itself."""
        if result != NEVER:
            self.results.setdefault((self.trace, called), set()).add(result)

    def returned_at(
        self, frame: Frame, trace: str, called: Template | FunctionType, indices: tuple[Expr, ...]
    ) -> Value | None:
        """What a call of a trace's program returned; None if that is not known.

        Args:
            called: the template of the call, or the program, if it calls itself.
            indices: those of the call's address, or its node.
        """
        results = self.results.get((trace, called), set())
        if len(results) != 1:
            if results:
                raise frame.not_closed("what a call returned, of one type or another")
            return None
        (result,) = results
        key = trace, called
        if key not in self.returned:
            name = called.name if isinstance(called, Template) else called.__name__
            made = hir.Function(
                self.function_name(f"{name}_returned"),
                results=list(leaves(result)),
                origin=f"what a call of {name} returned",
            )
            self.returned[key] = made
        self.returned[key].is_discrete = self.facts.is_discrete(result)
        given = [leaf for value in self.arguments_of(trace) for leaf in value.leaves]
        targets = [frame.fresh("value", kind) for kind in leaves(result)]
        frame.emit(hir.Call(list(targets), self.returned[key], [*indices, *given]))
        return Value(result, tuple(targets))

    def template(
        self, parts: tuple[Any, ...], kind: Type, calls: Any = None, *, weighs: bool = False
    ) -> Template:
        """The address template of choices of a type, or of calls of a program that calls itself."""
        key = (self.trace, parts, kind, calls, weighs)
        if key not in self.templates:
            strings = [word for part in parts for word in words_of(part)]
            name = "_".join(map(hir.identifier, strings)) or "x"
            name = name if name.isidentifier() else f"x_{name}"
            taken = {template.name for template in self.templates.values()} | hir.STATE
            while name in taken or keyword.iskeyword(name):
                name = f"{name}_"
            self.templates[key] = Template(
                len(self.templates), parts, kind, name, calls, self.trace, weighs
            )
        return self.templates[key]

    def paths(self) -> Template:
        """The template of the numbers of tuples in addresses: (that of all items but the last, the last)."""
        key = (PATHS, (None, None))
        if key not in self.templates:
            made = Template(len(self.templates), (None, None), Number("i"), "paths", PATHS, PATHS)
            while made.name in {template.name for template in self.templates.values()}:
                made = replace(made, name=f"{made.name}_")
            self.templates[key] = made
        return self.templates[key]

    def note_distribution(
        self, function: hir.Function, template: Template, distribution: Value, kind: Type
    ) -> tuple[Expr, ...]:
        """Note the distribution of a choice, and its type with numbers in place of constants.

        Args:
            function: the function of the text that makes the choice.

        Returns:
            The leaves of the distribution, of the type that holds all distributions that choices of the
            template have, where these are of several types and one is asked for.
        """
        self.distributions.setdefault(template.number, []).append((distribution, kind))
        self.makers.setdefault(template.number, []).append(function)
        place = self._told(template)
        if place not in self.facts.flags:
            return ()
        alone = Value(kind, tuple(self.facts.convert(distribution, kind)))
        return tuple(self.facts.convert(alone, self.facts.grow(place, kind)))

    def _told(self, template: Template) -> Hashable:
        """What the types of the distributions of a template's choices are known by."""
        return ("told", template.trace, template.parts, template.type)

    def note_coordinates(self, template: Template, coordinates: int) -> None:
        """Note the coordinates of a choice at a template."""
        before = self.coordinates.setdefault(template.number, coordinates)
        if before != coordinates:
            self.coordinates[template.number] = UNKNOWN

    def object_fields(self, cls: type, name: str | None = None) -> list[str]:
        """The attributes of objects of a class, in the order in which they were met."""
        names = self.fields.setdefault(cls, [])
        if name is not None and name not in names:
            names.append(name)
            self.facts.changed = True
        return names

    def without_else(self, node: ast.For | ast.While) -> tuple[ast.For | ast.While, str]:
        """A loop without its `else`, whose `break` sets a variable; that variable."""
        if id(node) not in self.loops:
            name = f".left {id(node)}"
            plain = copy.deepcopy(node)
            plain.orelse = []
            plain.copy_of = node  # type: ignore[union-attr]
            plain.body = [part for old in plain.body for part in marked(old, name)]
            self.loops[id(node)] = plain, name
        return self.loops[id(node)]

    # --- sources ----------------------------------------------------------------------------------

    def source(self, frame: Frame, function: FunctionType) -> FunctionSource:
        """The syntax tree of a function."""
        if function not in self.sources:
            try:
                if function.__name__ == "<lambda>":
                    found = lambda_source(function)
                else:
                    source = find_source(function, "gen")
                    found = FunctionSource(source.node, source.filename)
            except (GenDSLError, OSError, SyntaxError) as error:
                raise frame.not_closed(f"the source of {function.__qualname__} is not available") from error
            self.sources[function] = found
        return self.sources[function]

    def returns_closure(self, function: FunctionType) -> bool:
        """Whether a function may return a function that is defined in it."""
        return returns_closure(self.sources[function].node)

    def defaults(self, frame: Frame, function: FunctionType) -> dict[str, Value]:
        """The defaults of the parameters of a function."""
        code = function.__code__
        names = code.co_varnames[: code.co_argcount]
        given = function.__defaults__ or ()
        found = dict(zip(names[len(names) - len(given) :], given, strict=True))
        found.update(function.__kwdefaults__ or {})
        for name in ("__defaults__", "__kwdefaults__"):
            if getattr(function, name) is not None:
                self.noted(function, name)
        return {name: self.constant(frame, value) for name, value in found.items()}

    # --- what a program finds outside of itself ------------------------------------------------------

    def outside(self, frame: Frame, name: str) -> Value:
        """What a free or global name, or one of Python's own, means."""
        function = frame.function
        around: Frame | None = frame
        while function is None and around is not None:
            around = around.outer
            function = around.function if around is not None else None
        if function is None:
            raise frame.not_closed(f"the name {name}")
        free = function.__code__.co_freevars
        if name in free:
            cell = (function.__closure__ or ())[free.index(name)]
            try:
                found = cell.cell_contents
            except ValueError:
                frame.fail(f"{name} has no value yet")
                return NOTHING
            self.guards[id(cell), "cell"] = (cell, "cell_contents", found)
            return self.constant(frame, found, name)
        if name in function.__globals__:
            found = function.__globals__[name]
            self.guards[id(function.__globals__), name] = (function.__globals__, name, found)
            return self.constant(frame, found, name)
        if hasattr(builtins, name):
            self.guards[id(function.__globals__), name] = (function.__globals__, name, None)  # not hidden
            return known(getattr(builtins, name))
        frame.fail(f"the name {name} is not defined")
        return NOTHING

    def constant(self, frame: Frame, found: Any, name: str = "") -> Value:
        """An object that exists when the text is made: a constant of the text, or data that it is given."""
        if isinstance(found, np.generic):
            if type(found) not in NUMPYS:
                raise frame.not_closed(f"a number of type {type(found).__name__}")
            return numpy_number(Const(found.item(), NUMPYS[type(found)]))
        if isinstance(found, _SCALARS):
            return known(found)
        if isinstance(found, tuple) and type(found) is tuple:
            if len(found) > LONGEST_TUPLE:
                return self.given(frame, found)
            items = [self.constant(frame, one) for one in found]
            return known(found) if all(map(is_known, items)) else make_tuple(items)
        if isinstance(found, (list, np.ndarray)) or type(found) in (dict, set):
            return self.given(frame, found)
        if isinstance(found, Distribution) and not isinstance(found, type):
            return constant_distribution(self, frame, found)
        if isinstance(found, Support):
            names = (
                [f.name for f in dataclasses.fields(found)]
                if dataclasses.is_dataclass(found)
                else vars(found)
            )
            values = [self.constant(frame, getattr(found, name)) for name in names]
            return make_tuple(values, type(found), tuple(names))
        if isinstance(found, tuple) and hasattr(found, "_fields"):
            return make_tuple([self.constant(frame, one) for one in found], type(found), tuple(found._fields))
        return known(found)

    def given(self, frame: Frame, found: Any) -> Value:
        """Data of outside as an input of the text."""
        if id(found) not in self.input_values:
            kind = type_of(self.facts, ("input", id(found)), found)
            number = len(self.inputs)
            self.inputs.append((found, kind))
            parts = tuple(Input(number, place, leaf) for place, leaf in enumerate(leaves(kind)))
            self.input_values[id(found)] = Value(kind, parts)
        return self.input_values[id(found)]

    def text_column(self, key: Hashable, function: Callable[[list[str]], list[int]]) -> Value:
        """A column of the table of strings, as an input of the text."""
        column = self.facts.column(key, function)
        if id(column) not in self.input_values:
            site = self.facts.site(("input", key))
            self.facts.grow_item(site, Number("i"))
            kind = List(self.facts.find(site), True)
            self.inputs.append((column, kind))
            self.input_values[id(column)] = Value(kind, (Input(len(self.inputs) - 1, 0, "r"),))
        return self.input_values[id(column)]

    def attribute_of_constant(self, frame: Frame, found: Any, name: str) -> Value:
        """An attribute of a known object."""
        if isinstance(found, ModuleType):
            if not hasattr(found, name):
                frame.fail(f"module {found.__name__} has no attribute {name}")
                return NOTHING
            return self.constant(frame, self.noted(found, name))
        if isinstance(found, type):
            if not hasattr(found, name):
                frame.fail(f"{found.__name__} has no attribute {name}")
                return NOTHING
            return self.constant(frame, self.noted(found, name))
        try:
            raw = inspect.getattr_static(found, name)
        except AttributeError:
            check_missing(type(found), name)
            frame.fail(f"{type(found).__name__} has no attribute {name}")
            return NOTHING
        if isinstance(raw, (property, functools.cached_property)) and hasattr(type(found), name):
            self.noted(type(found), name)
        if isinstance(raw, property):
            return call_function(frame, raw.fget, [known(found)], {})  # type: ignore[arg-type]
        if isinstance(raw, functools.cached_property):
            return call_function(frame, raw.func, [known(found)], {})  # type: ignore[arg-type]
        return self.constant(frame, self.noted(found, name), name)

    def noted(self, found: Any, name: str) -> Any:
        """An attribute of an object, which is noted as one that is to stay what it is."""
        value = getattr(found, name)
        if isinstance(value, MethodType):  # made anew each time, but for its function
            self.guards[id(found), name] = (found, f".{name}.__func__", value.__func__)
            return value
        anew = isinstance(value, BuiltinMethodType) or self.is_generative(value)
        if not anew or getattr(found, name) is value:
            self.guards[id(found), name] = (found, f".{name}", value)
        return value

    def is_generative(self, found: Any) -> bool:
        """Whether an object is a generative function."""
        return isinstance(found, GenerativeFunction)

    def try_constant(self, frame: Frame, node: ast.expr) -> Known | None:
        """An expression that is a name, or attributes of one, as a known object."""
        if isinstance(node, (ast.Name, ast.Attribute, ast.Constant, ast.Tuple)):
            value = expression(frame, node)
            if isinstance(value.type, Known):
                return value.type
        return None


def _parameter_names(node: Any, count: int, skipped: int) -> list[str]:
    names = [a.arg for a in (*node.args.posonlyargs, *node.args.args)][skipped:]
    return [*names, *(f"argument_{i}" for i in range(len(names), count))][:count]
