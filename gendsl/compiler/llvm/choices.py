"""Statements of programs that make choices, in LLVM IR; where choices lie is in `places`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gendsl.compiler import hir
from gendsl.compiler.hir import Expr, Var
from gendsl.compiler.hir.meetings import Meeting
from gendsl.compiler.llvm.native_draws import NATIVE
from gendsl.compiler.llvm.native_layout import Layout, TemplateWords, Word
from gendsl.compiler.llvm.native_moves import NativeMoves
from gendsl.compiler.llvm.places import Places
from gendsl.compiler.llvm.text import TYPES


class Choices(Places):
    """Writes the statements of programs that make choices.

    Attributes:
        moves: what writes the operations of the state.
    """

    def __init__(self, layout: Layout) -> None:
        super().__init__(layout)
        self.moves = NativeMoves(self)

    def _places_of(self, template: Any, given: list[str], inside: str) -> Iterator[tuple[str, list[str]]]:
        """A loop over the places whose first indices are given: (place, the other indices)."""
        words = self.words_of(template)
        capacities = [self.word(words.capacity(axis)) for axis in range(len(given), template.rank)]
        if not capacities:
            with self.when(inside):
                yield self.row_major(words, given), []
            return
        size = "1"
        for capacity in capacities:
            size = self.let(f"mul i64 {size}, {capacity}")
        with self.each(self.let(f"select i1 {inside}, i64 {size}, i64 0")) as number:
            rest, more = number, []
            for capacity in reversed(capacities):
                more.append(self.let(f"urem i64 {rest}, {capacity}"))
                rest = self.let(f"udiv i64 {rest}, {capacity}")
            more.reverse()
            yield self.row_major(words, [*given, *more]), more

    def count_visit(self, template: Any) -> None:
        """Count a choice that is visited or drawn."""
        if template.counted:
            self.count_up(Word.VISITED_AUXILIARY if template.is_auxiliary else Word.VISITED)

    def meet(self, template: Any, place: str, indices: tuple[Expr, ...], line: int) -> None:
        """Fail where a choice that is made now has the address of another one, or is above or below it."""
        if template.number in self.layout.covered:
            covered = self.is_now(template, TemplateWords.COVERED, place)
            self.fail_if(covered, "an address that is used twice", line)
        for meeting, there in self._meeting(template, indices, line):
            made = self.is_now(meeting.upper, TemplateWords.VISITED, there)
            self.fail_if(made, "an address that is used twice", line)
            self.mark(meeting.upper, TemplateWords.COVERED, there)

    def alone(self, template: Any, indices: tuple[Expr, ...], line: int) -> None:
        """Fail where the current trace has a choice of another template at an address."""
        for meeting, there in self._meeting(template, indices, line):
            if meeting.is_same and meeting.upper.calls is None:
                before = self.is_current(meeting.upper, there)
                self.fail_if(before, "a choice of one template that is one of another before", line)

    def _meeting(
        self, template: Any, indices: tuple[Expr, ...], line: int
    ) -> Iterator[tuple[Meeting, str]]:
        """What is done where a choice meets another one: how, and the place of that."""
        for meeting in self.layout.meetings:
            if meeting.lower is not template:
                continue
            mine = [self.expr(expr, line) for expr in indices]
            theirs = [str(at) if is_constant else mine[at] for is_constant, at in meeting.indices]
            test = self.inside(self.words_of(meeting.upper), theirs)
            for at, number in meeting.tests:
                test = self.let(f"and i1 {test}, {self.let(f'icmp eq i64 {mine[at]}, {number}')}")
            with self.when(test):
                yield meeting, self.row_major(self.words_of(meeting.upper), theirs)

    # --- statements -------------------------------------------------------------------------------

    def _visit(self, statement: hir.Visit) -> None:
        template, line = statement.template, statement.line
        if template.weighs:  # a factor is given by the program itself
            index = self.with_room(template, statement.indices, line)
            self.put_leaves(template, index, [("true", "b")])
        else:
            index = self.existing(template, statement.indices, line)
            self._fail_unless_given(template, index, line)
        if not template.is_of_paths:
            again = self.is_now(template, TemplateWords.VISITED, index)
            self.fail_if(again, "a choice that is made twice", line)
            self.mark(template, TemplateWords.VISITED, index)
        self.count_visit(template)
        self.meet(template, index, statement.indices, line)
        self.set_leaves(template, index, statement.targets)

    def _fail_unless_given(self, template: Any, index: str, line: int) -> None:
        """Fail where neither the current trace has a choice, nor a move has written it."""
        there = self.is_current(template, index)
        none, look, go = self.label("none"), self.label("look"), self.label("visit")
        self.add(f"br i1 {there}, label %{go}, label %{look}, !prof !21")
        self.start(look)
        written = self.is_now(template, TemplateWords.WRITTEN, index)
        self.add(f"br i1 {written}, label %{go}, label %{none}")
        self.start(none)
        self.fail("a choice that is not given", line)
        self.start(go)

    def _given(self, template: Any, indices: tuple[Expr, ...], target: Var, line: int) -> None:
        place, found = self.words_of(template), [self.expr(expr, line) for expr in indices]
        inside = self.inside(place, found)
        index = self.let(f"select i1 {inside}, i64 {self.row_major(place, found)}, i64 0")
        there = self.is_current(template, index)
        self.add(f"store i1 {self.let(f'and i1 {inside}, {there}')}, ptr {self.alloca(target)}")

    def _keep(self, statement: hir.Keep) -> None:
        template, line = statement.template, statement.line
        index = self.with_room(template, statement.indices, line)
        taken = [
            self.is_current(template, index), self.is_now(template, TemplateWords.WRITTEN, index)
        ]  # fmt: skip
        self.fail_if(self.let(f"or i1 {taken[0]}, {taken[1]}"), "an address that is used twice", line)
        self.mark(template, TemplateWords.WRITTEN, index)
        self.mark(template, TemplateWords.VISITED, index)
        self.count_visit(template)
        self.meet(template, index, statement.indices, line)
        values = [(self.expr(value, line), value.kind) for value in statement.values]
        self.put_leaves(template, index, values)

    def _node(self, statement: hir.Node) -> None:
        """The number of a call, which is one less than the word that is kept for its address."""
        template, line = statement.template, statement.line
        index = self.with_room(template, statement.indices, line)
        if statement.made:
            again = self.is_now(template, TemplateWords.VISITED, index)
            self.fail_if(again, "an address that is used twice", line)
            self.mark(template, TemplateWords.VISITED, index)
        self.operation("node", [statement.target], [self.pointer(template), index])

    def _count_below(self, statement: hir.Count) -> None:
        """How many choices there are whose first indices are given."""
        template = statement.template
        given = [self.expr(expr, statement.line) for expr in statement.indices]
        counted = self.alloca(statement.target)
        self.add(f"store i64 0, ptr {counted}")
        for index, _ in self._places_of(template, given, self.inside(self.words_of(template), given)):
            with self.when(self.is_current(template, index)):
                self.add_to(counted, "1")

    def _draw(self, statement: hir.Draw) -> None:
        """A call of NumPy's own sampler; `native_draws` says how it is called."""
        name, args = statement.name, [self.expr(arg, statement.line) for arg in statement.args]
        self.drawn.add(name)
        generator = self.word(Word.GENERATOR, "r")
        typed = [f"{TYPES[arg.kind]} {value}" for arg, value in zip(statement.args, args, strict=True)]
        symbol = f"@gendsl_random_{NATIVE[name]}"
        if name == "integers":
            last = self.let(f"sub i64 {self.let(f'sub i64 {args[1]}, {args[0]}')}, 1")
            out = self.alloca(Var(f".drawn{self.count}", "i"))
            given = f"ptr {generator}, i64 {args[0]}, i64 {last}, i64 1, i1 zeroext false, ptr {out}"
            self.add(f"call void {symbol}({given})")
            found = self.let(f"load i64, ptr {out}")
        elif name == "binomial":
            found = self.let(f"call i64 @gendsl_binomial(ptr {generator}, {typed[1]}, {typed[0]})")
        else:
            if name == "uniform":
                typed[1] = f"double {self.let(f'fsub double {args[1]}, {args[0]}')}"
            type_ = TYPES[statement.target.kind]
            found = self.let(f"call {type_} {symbol}({', '.join([f'ptr {generator}', *typed])})")
        self.add(f"store {TYPES[statement.target.kind]} {found}, ptr {self.alloca(statement.target)}")

    def uniform(self) -> str:
        """A uniform number between 0 and 1."""
        drawn = Var(f".uniform{self.count}", "f")
        self._draw(hir.Draw(drawn, "random", ()))
        return self.let(f"load double, ptr {self.alloca(drawn)}")
