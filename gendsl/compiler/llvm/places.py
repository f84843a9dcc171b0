"""Where the choices of traces lie in LLVM IR, and what they are marked with."""

from __future__ import annotations

from typing import Any

from gendsl.compiler.hir import Expr, Kind, Var
from gendsl.compiler.hir.coordinates import DISCRETE, NUMBER, TRIANGLE, UNKNOWN, WEIGHTS
from gendsl.compiler.llvm.lists import Lists
from gendsl.compiler.llvm.native_layout import FULL, Layout, TemplateWords, Word
from gendsl.compiler.llvm.operations import ARGUMENTS, RESULTS
from gendsl.compiler.llvm.text import TYPES


class Places(Lists):
    """Writes what finds the places of choices, and reads and sets what lies there.

    Attributes:
        primitives: the names of the operations of the state that are called.
    """

    def __init__(self, layout: Layout) -> None:
        super().__init__(layout)
        self.primitives: set[str] = set()

    def operation(self, name: str, targets: list[Var], given: list[str]) -> None:
        """A call of an operation of the state."""
        self.primitives.add(name)
        typed = [f"{TYPES[kind]} {one}" for kind, one in zip(ARGUMENTS.get(name, []), given, strict=True)]
        type_ = f"{{{', '.join(['i32', *(TYPES[kind] for kind in RESULTS[name])])}}}"
        self._called(targets, f"gendsl_{name}", type_, typed)

    # --- places -----------------------------------------------------------------------------------

    def words_of(self, template: Any) -> TemplateWords:
        """The words of a template."""
        found: TemplateWords = self.layout.templates[template.number]
        return found

    def pointer(self, template: Any) -> str:
        """The pointer to the words of a template."""
        return self.let(f"getelementptr i64, ptr %ctx, i64 {self.words_of(template).first}")

    def row_major(self, place: TemplateWords, indices: list[str]) -> str:
        """The place of a choice, of its indices."""
        index = "0"
        for axis, at in enumerate(indices):
            capacity = self.word(place.capacity(axis))
            index = at if axis == 0 else self.let(f"add i64 {self.let(f'mul i64 {index}, {capacity}')}, {at}")
        return index

    def inside(self, place: TemplateWords, indices: list[str]) -> str:
        """Whether there is a place for each index."""
        found = "true"
        for axis, at in enumerate(indices):
            fits = self.let(f"icmp ult i64 {at}, {self.word(place.capacity(axis))}")
            found = fits if axis == 0 else self.let(f"and i1 {found}, {fits}")
        return found

    def existing(self, template: Any, indices: tuple[Expr, ...], line: int) -> str:
        """The place of a choice that is to be there; fails if there is no such place."""
        place, found = self.words_of(template), [self.expr(expr, line) for expr in indices]
        if found:
            outside = self.let(f"xor i1 {self.inside(place, found)}, true")
            self.fail_if(outside, "a choice that is not given", line)
        return self.row_major(place, found)

    def with_room(self, template: Any, indices: tuple[Expr, ...], line: int) -> str:
        """The place of a choice that may be new; full where there is no such place yet."""
        place, found = self.words_of(template), [self.expr(expr, line) for expr in indices]
        self.check_room(place, found, line)
        return self.row_major(place, found)

    def check_room(self, place: TemplateWords, indices: list[str], line: int) -> None:
        """Full where there is no such place yet."""
        for axis, at in enumerate(indices):
            self.fail_if(self.let(f"icmp slt i64 {at}, 0"), "a negative index in an address", line)
            self.set_word(place.wanted(axis), at)
            self.fail_if(self.let(f"icmp sge i64 {at}, {self.word(place.capacity(axis))}"), status=FULL)

    def cell(self, template: Any, leaf: int, index: str) -> str:
        """Where a leaf of a choice lies."""
        column = self.word(self.words_of(template).column(leaf), "r")
        return self.let(f"getelementptr i64, ptr {column}, i64 {index}")

    def put_leaves(self, template: Any, index: str, values: list[tuple[str, Kind]]) -> None:
        """Set the value of a choice."""
        for leaf, (value, kind) in enumerate(values):
            self.store_word(self.cell(template, leaf, index), value, kind, "!7")

    def set_leaves(self, template: Any, index: str, targets: list[Var]) -> None:
        """Set variables to the value of a choice."""
        for leaf, target in enumerate(targets):
            value = self.load_word(self.cell(template, leaf, index), target.kind, "!7")
            self.add(f"store {TYPES[target.kind]} {value}, ptr {self.alloca(target)}")

    def dimension(self, template: Any, leaves: list[str]) -> str:
        """The number of coordinates of a value."""
        coordinates = self.layout.coordinates.get(template.number, UNKNOWN)
        if coordinates in (DISCRETE, NUMBER):
            return str(int(coordinates == NUMBER))
        if coordinates == TRIANGLE:
            rows = leaves[2]
            square = self.let(f"mul i64 {rows}, {self.let(f'add i64 {rows}, 1')}")
            return self.let(f"lshr i64 {square}, 1")
        size = self._size(leaves)
        return self.let(f"sub i64 {size}, 1") if coordinates == WEIGHTS else size

    # --- marks ------------------------------------------------------------------------------------

    def stamp(self, template: Any, which: int, index: str) -> tuple[str, str]:
        """Where a stamp of a choice lies, and what it is."""
        stamps = self.word(self.words_of(template).stamps(which), "r")
        where = self.let(f"getelementptr i64, ptr {stamps}, i64 {index}")
        return where, self.let(f"load i64, ptr {where}, !tbaa !6")

    def mark(self, template: Any, which: int, index: str) -> None:
        """Give a choice the stamp of what is done now."""
        where, _ = self.stamp(template, which, index)
        self.add(f"store i64 {self.now()}, ptr {where}, !tbaa !6")

    def is_current(self, template: Any, index: str) -> str:
        """Whether a choice is in the current trace."""
        _, stamp = self.stamp(template, TemplateWords.CURRENT, index)
        current = Word.CURRENT_AUXILIARY if template.is_auxiliary else Word.CURRENT
        return self.let(f"icmp eq i64 {stamp}, {self.word(current)}")

    def is_now(self, template: Any, which: int, index: str) -> str:
        """Whether a choice has the stamp of what is done now."""
        return self.let(f"icmp eq i64 {self.stamp(template, which, index)[1]}, {self.now()}")

    def is_observed(self, template: Any, index: str) -> str:
        """Whether a choice is an observation."""
        mask = self.word(self.words_of(template).stamps(TemplateWords.OBSERVED), "r")
        where = self.let(f"getelementptr i8, ptr {mask}, i64 {index}")
        return self.let(f"icmp ne i8 {self.let(f'load i8, ptr {where}, !tbaa !9')}, 0")
