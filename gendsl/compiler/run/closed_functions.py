"""The text of functions of a trace whose values are recorded, and its machine code.

It is made apart from that of the kernels, which need not be made again for another function: templates are
those of the kernels' text, and what it is given lies behind their words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from gendsl.compiler import hir
from gendsl.compiler.front import exact
from gendsl.compiler.front.argument_types import types_of_arguments
from gendsl.compiler.front.program import Entry, Lowering
from gendsl.compiler.front.traces import trace_given, whole
from gendsl.compiler.hir import Input, collector
from gendsl.compiler.hir.copies import read_again
from gendsl.compiler.hir.encode import Words, deep_layout, flat
from gendsl.compiler.hir.facts import TextColumn
from gendsl.compiler.hir.failures import NotClosed
from gendsl.compiler.hir.outside import Outside
from gendsl.compiler.hir.templates import LOG_DENSITY, MODEL, ArgumentsOf, Lowered, Template
from gendsl.compiler.hir.types import PathPart, leaves
from gendsl.compiler.llvm.native import Native, code_of
from gendsl.compiler.llvm.native_functions import NativeFunctions
from gendsl.compiler.llvm.native_layout import Layout, TemplateWords, Word
from gendsl.compiler.llvm.print_llvm import LLVMPrinter
from gendsl.compiler.llvm.recorded_values import kind_of
from gendsl.compiler.llvm.ufunc_loops import has_loop
from gendsl.compiler.passes.axes import Axes
from gendsl.compiler.passes.clean import clean_one
from gendsl.compiler.programs import replay
from gendsl.compiler.python.print_python import name_apart
from gendsl.compiler.run.compiled import Found
from gendsl.lang.source import find_source

_NOWHERE = TemplateWords(0, 0, 0)
"""The words of a template that no function looks at."""


def value_at(trace: Any, function: Any) -> Any:
    """What a function gives of a trace."""
    return function(trace)


class _Layout(Layout):
    """The words of a kernel's context, with those that functions are given behind them."""

    def __init__(self, kernel: Layout, lowered: Lowered, templates: Sequence[TemplateWords]) -> None:
        self.program_templates, self.templates = lowered.templates, list(templates)
        self.coordinates: dict[int, int] = {}
        self.meetings, self.covered = [], set[int]()
        self.first = at = kernel.size
        self.inputs: list[int] = []
        for found, kind in lowered.inputs:
            if found is LOG_DENSITY:
                self.inputs.append(int(Word.LOG_DENSITY))
                continue
            self.inputs.append(at)
            at += 2 * len(leaves(kind))
        self.widest, self.has_arrays = kernel.widest, kernel.has_arrays
        self.arguments = self.results = self.size = at


class ClosedFunctions:
    """The text of some functions of the traces of a program, for the state of a kernel.

    Attributes:
        kinds: of what their values are.
        compared: how many values were compared with those that the functions give themselves.
    """

    compared = 0

    @collector.waiting()
    def __init__(
        self,
        kernel: Layout,
        texts: dict[str, int],
        model: Any,
        args: tuple[Any, ...],
        functions: Mapping[str, Any],
    ) -> None:
        """
        Args:
            kernel: where in memory the kernel's text has the choices of the program.
            texts: the kernel's table of strings, which gets those of the functions, too.

        Raises:
            NotClosed: one of them is not in the subset that the compiler reads, or its values would not be
                given back as what they are.
        """
        if kernel.meetings:
            raise NotClosed("the program makes choices that may have the address of others")
        lowering, source = Lowering(draws=True, records=True), find_source(value_at, "gen")
        lowering.facts.texts = texts
        types = tuple(types_of_arguments(lowering.facts, model, args))
        trace = whole(trace_given(lowering, MODEL))
        entries = [Entry(MODEL, model.compiled.origin, types, bound=model.bound)]
        entries += [
            Entry(f"function{number}", source, (trace,), constants={"function": one}, chooses=False)
            for number, one in enumerate(functions.values())
        ]
        names = {entry.name: name for entry, name in zip(entries[1:], functions, strict=True)}
        try:
            every = lowering.lower_together(entries)
        except NotClosed as reason:
            reason.about = names.get(reason.program, "")
            raise
        self.lowered, self.args = every[MODEL], args
        replay.fill_all(self.lowered, {name: lowered.main for name, lowered in every.items()})
        made: dict[int, hir.Function] = {}
        self.functions, self.kinds = [], []
        for entry, name in names.items():
            try:
                self.kinds.append(kind_of(lowering.facts, every[entry].result))
                self.functions.append(hir.copied(every[entry].main, "", read_again, made=made))
                exact.check(self.functions[-1:], has_loop)
            except NotClosed as reason:
                reason.about = name
                raise
        for function in {id(f): f for one in self.functions for f in hir.functions(one)}.values():
            clean_one(function)
        name_apart(self.functions)
        looked_at = _looked_at(self.functions)
        words = [
            _words_of(one, kernel) if id(one) in looked_at else _NOWHERE for one in self.lowered.templates
        ]
        self.layout = _Layout(kernel, self.lowered, words)
        printer = LLVMPrinter(self.layout, Axes([]))
        printer.is_exact = True
        printer.functions(self.functions)
        NativeFunctions(printer).drive(self.functions, self.kinds)
        printer.moves.functions(printer.primitives)
        self.sites, self.text = printer.sites, printer.module()
        self.outside, self.found = Outside(self.lowered.guards), Found()

    @cached_property
    def has_density(self) -> bool:
        """Whether they ask for the log density, whose last bits depend on how a chain runs."""
        return any(found is LOG_DENSITY for found, _ in self.lowered.inputs)

    @cached_property
    def native(self) -> Native:
        """The machine code."""
        return Native(code_of(self.text))

    @cached_property
    def widths(self) -> list[int]:
        """Of each list or array that the functions give, how many words an item takes."""
        return [width for kind in self.kinds for width in kind.widths]

    def found_outside(self) -> tuple[Any, ...]:
        """What stands for what there is now in the objects from outside that may change: equal if that is.

        Raises:
            NotClosed: one of them is not of the type that the text is for.
        """
        found = [(one, kind) for one, kind in self.lowered.inputs if not _stays(one)]
        return self.found.look(self.lowered.facts, found)

    def given(self, memory: Words) -> np.ndarray:
        """The words behind those of the kernel, for what the functions find outside of themselves now.

        Raises:
            NotClosed: it is not of the types that the text is for.
        """
        words, facts = np.zeros(self.layout.size - self.layout.first, np.int64), self.lowered.facts
        inputs = [(number, *given) for number, given in enumerate(self.lowered.inputs)]
        for number, found, kind in sorted(inputs, key=lambda given: isinstance(given[1], TextColumn)):
            if found is LOG_DENSITY:
                continue
            value = self.args[found.position] if isinstance(found, ArgumentsOf) else found
            parts, layout = flat(facts, value, kind), deep_layout(facts, kind)
            for leaf, (part, (word, inner)) in enumerate(zip(parts, layout, strict=True)):
                at = self.layout.input_word(Input(number, leaf, word)) - self.layout.first
                words[at] = memory.word(part, word, inner)
        return words


def _stays(found: Any) -> bool:
    """Whether an input is a copy, or a text's own, and so none of the user's that may change."""
    return found is LOG_DENSITY or isinstance(found, (ArgumentsOf, TextColumn))


def _looked_at(functions: Sequence[hir.Function]) -> set[int]:
    """The identities of the templates that functions look at.

    Raises:
        NotClosed: their addresses have tuples, whose numbers are others in the kernels' text.
    """
    found: dict[int, Template] = {}
    for function in {id(f): f for one in functions for f in hir.functions(one)}.values():
        for statement in hir.walk(function.body):
            template = getattr(statement, "template", None)
            if template is not None:
                found[id(template)] = template
    for template in found.values():
        if any(isinstance(part, PathPart) for part in template.parts):
            raise NotClosed(f"the choices at {template.parts!r}, with a tuple in the address")
    return set(found)


def _words_of(template: Template, kernel: Layout) -> TemplateWords:
    """The words of the template of a kernel's text that is this one."""

    def said(one: Template) -> Any:
        return one.parts, one.type, one.trace, one.calls, one.weighs

    for one in kernel.program_templates:
        if said(one) == said(template):
            return kernel.templates[one.number]
    raise NotClosed(f"the choices at {template.parts!r}, which the kernels do not have")


Made = ClosedFunctions | NotClosed
"""The text of functions, or why there is none."""
