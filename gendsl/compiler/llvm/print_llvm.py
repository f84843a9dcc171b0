"""HIR as LLVM IR.

Every function takes the *context*, a pointer to words of 64 bits (`native_layout` says what lies where), and
returns a status and its results: 0, FAILED where the reference interpreter decides, or FULL where the arena
has to grow.

A list is a pointer to three words: its length, its capacity and a pointer to its numbers; an item of
several leaves takes as many words. Lists are made in an arena, which one pointer marks the end of. What a
loop's iteration or a function makes there is given back when it ends, unless something that lives longer
may refer to it.

What prints it is one class in layers, each of which needs only those below it: functions of LLVM IR
(`writer`), expressions, lists and arrays, where choices lie (`places`), choices, what moves do with choices
(`transforms`), statements and loops, and here functions and whole modules.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gendsl.compiler import hir
from gendsl.compiler.hir import Function
from gendsl.compiler.llvm.lanes import LanesPrinter
from gendsl.compiler.llvm.linear import DECLARATIONS, LinearPrinter
from gendsl.compiler.llvm.native_layout import Layout
from gendsl.compiler.llvm.native_schedule import NativeSchedule
from gendsl.compiler.llvm.statements import Statements
from gendsl.compiler.llvm.text import ENTRY, OF_TEXT, TYPES, module, result_type
from gendsl.compiler.llvm.writer import LONG, SHORT, Work
from gendsl.compiler.passes.axes import Axes
from gendsl.compiler.passes.signs import Signs


class LLVMPrinter(Statements):
    """Prints functions as LLVM IR."""

    def __init__(self, layout: Layout, axes: Axes) -> None:
        super().__init__(layout, axes)
        self.lanes = LanesPrinter(self)
        self.linear = LinearPrinter(self)

    def functions(self, mains: Sequence[Function]) -> None:
        """Functions, and all that they call, each once."""
        every = {id(one): one for main in mains for one in hir.functions(main)}
        known: set[int] = set()
        self.call_lines = _lines_of_calls(every.values())
        for function in every.values():
            self.call_line = self.call_lines.get(id(function), 0)
            if function.symbol and not self.is_shared:
                self._declare(function)
                known.add(id(function))
                continue
            called = {id(one.function) for one in hir.walk(function.body) if isinstance(one, hir.Call)}
            if called <= known:
                self.function(function, LONG if id(function) in self.axes.repeated else SHORT)
            else:  # it calls itself, maybe through others
                self.function(function, 0)
            known.add(id(function))
        self.lanes.functions(LONG)
        self.call_line = 0

    def in_lanes(self, loop: hir.For) -> None:
        self.lanes.loop(loop, self.axes.loops[id(loop)])

    # --- functions --------------------------------------------------------------------------------

    def _declare(self, function: Function) -> None:
        """A function that other machine code has."""
        given = ", ".join(["ptr", *(TYPES[var.kind] for var in function.parameters)])
        self.out.append(f"declare {result_type(function)} @{function.symbol}({given})\n")

    def function(self, function: Function, most: int) -> None:
        """A function, which is inlined if it has at most so many lines."""

        def emit() -> None:
            for i, var in enumerate(function.parameters):
                self.add(f"store {TYPES[var.kind]} %p{i}, ptr {self.alloca(var)}")
            if function.linear is not None:
                self.linear.begin(function, function.linear)
            if self.body(function.body):
                self.add("unreachable")

        self.function_ = function
        parameters = ", ".join(f"{TYPES[v.kind]} %p{i}" for i, v in enumerate(function.parameters))
        self.define(
            self.symbol(function),
            parameters,
            result_type(function),
            emit,
            most,
            work=self._work(function),
            signs=Signs(function),
        )

    def _work(self, function: Function) -> Work:
        """How much LLVM is to do for a function: a transform may be long, and has short loops mostly; so has
        what is done with derivatives.
        """
        if self.is_shared:
            return Work.MUCH
        every = list(hir.walk(function.body))
        if any(one is function for one, _, _ in self.axes.reasons):
            transforms = any(isinstance(one, (hir.Read, hir.Write, hir.Copy)) for one in every)
            return Work.MUCH if transforms else Work.MOST
        in_lanes = any(id(one) in self.axes.loops for one in every)
        return Work.MUCH if in_lanes or id(function) in self.axes.repeated else Work.LEAST

    def module(self) -> str:
        """All that was printed."""
        routines = [DECLARATIONS[name] for name in sorted(self.linear.called)]
        return module(self.declared, self.drawn, [*routines, *self.lanes.texts(), *self.out])

    def entry(self, main: Function) -> None:
        """The function that Python calls: arguments and results are words of the context."""
        self.out.append(f"define i32 @{ENTRY}(ptr %ctx) {{")
        self.out.append("entry:")
        given = []
        for i, var in enumerate(main.parameters):
            given.append(f"{TYPES[var.kind]} {self.word(self.layout.argument_word(i), var.kind)}")
        type_ = result_type(main)
        found = self.let(f"call {type_} @{OF_TEXT}{main.name}({', '.join(['ptr %ctx', *given])})")
        for i, kind in enumerate(main.results):
            value = self.let(f"extractvalue {type_} {found}, {i + 1}")
            where = self.let(f"getelementptr i64, ptr %ctx, i64 {self.layout.result_word(i)}")
            if kind == "b":
                value, kind = self.let(f"zext i1 {value} to i64"), "i"
            self.add(f"store {TYPES[kind]} {value}, ptr {where}, !tbaa !1")
        status = self.let(f"extractvalue {type_} {found}, 0")
        self.add(f"ret i32 {status}")
        self.out.append("}\n")


def _lines_of_calls(functions: Iterable[Function]) -> dict[int, int]:
    """For each function that is called in one line of the programs alone, that line."""
    lines: dict[int, set[int]] = {}
    for function in reversed(list(functions)):  # those that call come before those that they call
        around = lines.get(id(function), set())
        for statement in hir.walk(function.body):
            if isinstance(statement, hir.Call):
                here = {statement.line} if statement.line else around
                lines.setdefault(id(statement.function), set()).update(here)
    return {number: min(found) for number, found in lines.items() if len(found) == 1}


def print_llvm(main: Function, layout: Layout, axes: Axes) -> tuple[str, list[tuple[int, str]]]:
    """A function, and all that it calls, as LLVM IR; and what may fail where."""
    printer = LLVMPrinter(layout, axes)
    printer.functions([main])
    printer.moves.functions(printer.primitives)
    printer.entry(main)
    return printer.module(), printer.sites


def print_llvm_shared(
    mains: Sequence[Function], layout: Layout, axes: Axes
) -> tuple[str, list[tuple[int, str]]]:
    """Functions that several texts call, and all that they call, as LLVM IR; and what may fail where."""
    printer = LLVMPrinter(layout, axes)
    printer.is_shared = True
    printer.functions(mains)
    return printer.module(), printer.sites


def print_llvm_steps(
    steps: Sequence[Function | None],
    before: Sequence[Function | None],
    layout: Layout,
    rows: Sequence[int],
    axes: Axes,
    sites: Sequence[tuple[int, str]] = (),
) -> tuple[str, list[tuple[int, str]]]:
    """The steps of kernels, and what runs a schedule of them, as LLVM IR; and what may fail where.

    Args:
        before: for each step what computes its arguments once a run, if it has any.
        rows: for each step which row of the tallies it is counted in; the first of them if there are several.
        sites: what may fail where in functions that this text shares with others.
    """
    printer = LLVMPrinter(layout, axes)
    printer.sites += sites
    printer.functions([one for one in (*before, *steps) if one is not None])
    NativeSchedule(printer, rows).drive(steps, before)
    printer.moves.functions(printer.primitives)
    return printer.module(), printer.sites
