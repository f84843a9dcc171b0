"""What one walk of a program makes: the functions of the text, the templates of choices, the inputs, and what
is noted of them. Facts about types stay for the next walk.

All modules that lower parts of a program write in these tables.
"""

from __future__ import annotations

import ast
import copy
import keyword
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from types import BuiltinMethodType, FunctionType, MethodType
from typing import Any

from gendsl.compiler import hir
from gendsl.compiler.front.known_parameters import Definitions
from gendsl.compiler.front.names import RESERVED
from gendsl.compiler.front.sources import FunctionSource, marked, returns_closure
from gendsl.compiler.hir import Expr, Input
from gendsl.compiler.hir.coordinates import DISCRETE, UNKNOWN
from gendsl.compiler.hir.facts import Facts
from gendsl.compiler.hir.failures import NotClosed
from gendsl.compiler.hir.key_paths import PATHS
from gendsl.compiler.hir.templates import LOG_DENSITY, MODEL, ArgumentsOf, Template, words_of
from gendsl.compiler.hir.types import FLOAT, NEVER, Array, Known, List, Number, SubTrace, Type, leaves
from gendsl.compiler.hir.values import Value
from gendsl.interface import GenerativeFunction


class Walk:
    """The tables of a program that is being lowered.

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
        of_kinds: the numbers of the templates whose choices have densities with respect to several measures,
            though their values are of one type.
        lines: what is done along lines of templates, by their numbers; see `front.lines`.
        ellipses: what is done along the ellipses of kernels, by their numbers; see `front.ellipses`.
        blocks: what is done of the blocks of kernels, by their numbers; see `front.blocks`.
        adapted: what is done of kernels that are adapted, by their numbers; see `front.warming`.
        covers: whether programs note which tuples the items of others begin with, in addresses that end with
            these, so that no choice is made below another one.
        tuples: the tuples in addresses, or the codes of their items, by their numbers.
        ahead: what lists depend on that are made at once, by their sites; see `front.ahead`.
        refused: why branches of this walk are not read; it ends with the first of these, unless types are
            known now that were not.
    """

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
        self.start()

    def start(self) -> None:
        """Forget what a walk made; what it learnt stays."""
        self.functions: dict[Hashable, hir.Function] = {}
        self.helpers: dict[Hashable, Any] = {}
        self.stack: list[Any] = []
        self.keys: list[Hashable] = []
        self.inputs: list[tuple[Any, Type]] = []
        self.templates: dict[Hashable, Template] = {}
        self.coordinates: dict[int, int] = {}
        self.of_kinds: set[int] = set()
        self.distributions: dict[int, list[tuple[Value, Type]]] = {}
        self.makers: dict[int, list[hir.Function]] = {}
        self.known: dict[str, Definitions] = {}
        self.argument_places: dict[hir.Function, dict[Expr, tuple[int, int]]] = {}
        self.asked: dict[tuple[int, int | None], tuple[Template, hir.Function, Template | None]] = {}
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
        self.ahead: dict[int, Any] = {}
        self.tuples: dict[Expr, Value | list[Expr]] = {}

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

    def fixed_parameters(self, template: Template) -> tuple[Expr, ...] | None:
        """The parameters of all choices of a template, where arguments, constants and other choices alone
        tell them, whether there is such a choice or not, in terms of their sources; None if more does.
        """
        noted = self.distributions.get(template.number, [])
        if not noted or any(other.type != noted[0][0].type for other, _ in noted):
            return None
        known = self.definitions(template)
        every = set()
        for (distribution, _), function in zip(noted, self.makers[template.number], strict=True):
            every.add(tuple(known.told(function, leaf) for leaf in distribution.leaves))
        first = every.pop()
        return None if every or None in first else first  # type: ignore[return-value]

    def deciding(self, template: Template, parameters: Sequence[Expr]) -> list[Template]:
        """The templates of the choices that tell the fixed parameters of those of a template."""
        return self.definitions(template).deciding(parameters)

    def definitions(self, template: Template) -> Definitions:
        """Where the program that makes the choices of a template sets its variables."""
        if template.trace not in self.known:
            main, *_ = self.entries[template.trace]
            self.known[template.trace] = Definitions(main, self.argument_places[main])
        return self.known[template.trace]

    def result_type(self, place: Hashable, node: Any) -> Type:
        """The type of the results of the function of the text with this definition."""
        return self.facts.canonical(self.facts.get((place, ("boxes", node) in self.facts.flags)))

    def returns_closure(self, function: FunctionType) -> bool:
        """Whether a function may return a function that is defined in it."""
        return returns_closure(self.sources[function].node)

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
        place = self.told(template)
        if place not in self.facts.flags:
            return ()
        alone = Value(kind, tuple(self.facts.convert(distribution, kind)))
        return tuple(self.facts.convert(alone, self.facts.grow(place, kind)))

    def told(self, template: Template) -> Hashable:
        """What the types of the distributions of a template's choices are known by."""
        return ("told", template.trace, template.parts, template.type)

    def note_coordinates(self, template: Template, coordinates: int) -> None:
        """Note the coordinates of a choice at a template."""
        before = self.coordinates.setdefault(template.number, coordinates)
        if before != coordinates:
            self.coordinates[template.number] = UNKNOWN
            if isinstance(template.type, Array) or DISCRETE in (before, coordinates):
                self.of_kinds.add(template.number)

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

    def text_column(self, key: Hashable, function: Callable[[list[str]], list[Any]], item: Type) -> Value:
        """A column of the table of strings, whose items are of a type, as an input of the text."""
        column = self.facts.column(key, function)
        if id(column) not in self.input_values:
            site = self.facts.site(("input", key))
            self.facts.grow_item(site, item)
            kind = List(self.facts.find(site), True)
            self.inputs.append((column, kind))
            self.input_values[id(column)] = Value(kind, (Input(len(self.inputs) - 1, 0, "r"),))
        return self.input_values[id(column)]

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

    def noted_items(self, found: dict[str, Any]) -> dict[str, Any]:
        """The items of a dict that outlives the text, such as the keywords of a partial, noted likewise."""
        self.guards.update({(id(found), name): (found, name, value) for name, value in found.items()})
        return found

    def noted_absent(self, found: Any, name: str) -> None:
        """Note that an object has no such attribute."""
        self.guards[id(found), name] = (found, f".{name}", None)

    def is_generative(self, found: Any) -> bool:
        """Whether an object is a generative function."""
        return isinstance(found, GenerativeFunction)
