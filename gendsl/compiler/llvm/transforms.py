"""What moves do with choices, in LLVM IR: reads, writes and copies, with derivatives, noted in two logs."""

from __future__ import annotations

from typing import Any

from gendsl.compiler import hir
from gendsl.compiler.hir import Var
from gendsl.compiler.hir.coordinates import DISCRETE, UNKNOWN, WEIGHTS
from gendsl.compiler.hir.types import Array, leaves
from gendsl.compiler.llvm.choices import Choices
from gendsl.compiler.llvm.native_layout import (
    READ_WORDS,
    SLOPES_AT,
    WHYS,
    WRITE_WORDS,
    TemplateWords,
    Word,
)
from gendsl.compiler.llvm.native_logs import LOG_TAG
from gendsl.compiler.llvm.text import TEMPLATE_TAG, TYPES, literal
from gendsl.compiler.python.state_columns import NO_COORDINATE


class Transforms(Choices):
    """Writes the statements of moves."""

    # --- reads ------------------------------------------------------------------------------------

    def _read(self, statement: hir.Read) -> None:
        template, line = statement.template, statement.line
        index = self.existing(template, statement.indices, line)
        if not statement.followed:
            there = self.is_current(template, index)
            self.fail_if(self.let(f"xor i1 {there}, true"), "a choice that is not given", line)
        values = self._leaves_at(template, index)
        first = str(NO_COORDINATE)
        if statement.followed:
            first = self._note_read(statement, index, values)
        if statement.tangents:
            values = self._with_slopes(statement, first, values)
        for target, value in zip(statement.targets, values, strict=True):
            self.add(f"store {TYPES[target.kind]} {value}, ptr {self.alloca(target)}")

    def _note_read(self, statement: hir.Read, index: str, values: list[str]) -> str:
        """Note in the log that a choice was read, if it is the first time; its first coordinate."""
        template, first = statement.template, Var(f".first{self.count}", "i")
        size = "0" if statement.is_pivot else self.dimension(template, values)
        missing = self.site("a choice that is not given", statement.line)
        self.operation("note_read", [first], [self.pointer(template), index, size, missing])
        return self.let(f"load i64, ptr {self.alloca(first)}")

    def _leaves_at(self, template: Any, index: str) -> list[str]:
        """The leaves of the value that a choice has."""
        kinds = enumerate(leaves(template.type))
        return [self.load_word(self.cell(template, leaf, index), kind, "!7") for leaf, kind in kinds]

    def _with_slopes(self, statement: hir.Read, first: str, values: list[str]) -> list[str]:
        """The leaves of a choice whose first coordinate is `first`: a number with that, floats of an array
        with their derivatives.
        """
        template = statement.template
        coordinates = self.layout.coordinates.get(template.number, UNKNOWN)
        known = self.let(f"icmp sge i64 {first}, 0")
        if not isinstance(template.type, Array):
            if len(values) > 1:
                self.fail_if("true", "a choice with several parts", statement.line)
            return [*values, str(NO_COORDINATE) if coordinates == DISCRETE else first]
        size = self._size(values)
        made = Var(f".slopes{self.count}", "r")
        into = self.make_list(made, size, size, 2)
        last = self.let(f"sub i64 {size}, 1")
        for number, pointer in self._entries(values, 1):
            found = Var(f".entry{self.count}", "r")
            slot = self.alloca(found)
            coordinate = self.let(f"add i64 {first}, {number}")
            self.add(f"store ptr {self._pairs(coordinate, known, statement.followed)}, ptr {slot}")
            if coordinates == WEIGHTS:  # the last is what the others leave
                is_last = self.let(f"icmp eq i64 {number}, {last}")
                with self.when(self.let(f"and i1 {is_last}, {known}")):
                    data = self.make_list(found, last, last, 2)
                    with self.each(last) as other:
                        self._put_pair(data, other, self.let(f"add i64 {first}, {other}"), "-1.0")
            pair = self.let(f"getelementptr i64, ptr {into}, i64 {self.let(f'mul i64 {number}, 2')}")
            self.store_word(pair, self.load_word(pointer, "f"), "f")
            self.store_word(self.header(pair, 1), self.let(f"load ptr, ptr {slot}"), "r")
        rank = (len(values) - 2) // 2
        ref = self.let(f"load ptr, ptr {self.alloca(made)}")
        return [ref, "0", *values[2 : 2 + rank], *self._contiguous(values)]

    def _pairs(self, coordinate: str, known: str, followed: bool) -> str:
        """The derivatives of a coordinate, if it is known; they are no numbers if none is followed."""
        made = Var(f".pairs{self.count}", "r")
        given = [self.flag(known), coordinate, "1.0"]
        if not followed:
            given = ["1", str(NO_COORDINATE), literal(float("nan"), "f")]
        self.operation("pairs", [made], given)
        return self.let(f"load ptr, ptr {self.alloca(made)}")

    def _put_pair(self, data: str, number: str, coordinate: str, slope: str) -> None:
        where = self.let(f"getelementptr i64, ptr {data}, i64 {self.let(f'mul i64 {number}, 2')}")
        self.store_word(where, coordinate, "i")
        self.store_word(self.header(where, 1), slope, "f")

    # --- writes -----------------------------------------------------------------------------------

    def _redraw(self, statement: hir.Redraw) -> None:
        template, line = statement.template, statement.line
        index = self.with_room(template, statement.indices, line)
        again = self.is_now(template, TemplateWords.VISITED, index)
        self.fail_if(again, "an address that is used twice", line)
        values = [self.expr(value, line) for value in statement.values]
        if isinstance(template.type, Array):
            values = self._fresh_array(template.type.kind, values, line)
        self._log_write(template, index, values, self.dimension(template, values))
        self.mark(template, TemplateWords.VISITED, index)
        self.count_visit(template)
        self.meet(template, index, statement.indices, line)

    def _write(self, statement: hir.Write) -> None:
        template, line = statement.template, statement.line
        values, slopes = [self.expr(value, line) for value in statement.values], "null"
        index = self.with_room(template, statement.indices, line)
        if statement.tangents:
            values, slopes = self._apart(template, values, line)
        elif isinstance(template.type, Array):
            values = self._fresh_array(template.type.kind, values, line)
        for value, kind in zip(values, leaves(template.type), strict=True):
            if kind == "f":
                self.fail_if(self.let(f"fcmp uno double {value}, 0.0"), "NaN is written", line)
        size = "0" if statement.is_pivot else self.dimension(template, values)
        self._log_write(template, index, values, size, slopes)

    def _apart(self, template: Any, values: list[str], line: int) -> tuple[list[str], str]:
        """The leaves of a value, and a list of the derivatives of each float, which are behind it."""
        made = Var(f".columns{self.count}", "r")
        if not isinstance(template.type, Array):
            if len(values) > 2:
                self.fail_if("true", "a choice with several parts", line)
            self.store_word(self.make_list(made, "1", "1", 1), values[1], "r")
            return values[:1], self.let(f"load ptr, ptr {self.alloca(made)}")
        size, floats = self._size(values), Var(f".written{self.count}", "r")
        numbers, slopes = (self.make_list(one, size, size, 1) for one in (floats, made))
        for number, pointer in self._entries(values, 2):
            value, slope = self.load_word(pointer, "f"), self.load_word(self.header(pointer, 1), "r")
            self.fail_if(self.let(f"fcmp uno double {value}, 0.0"), "NaN is written", line)
            self.store_word(self.let(f"getelementptr i64, ptr {numbers}, i64 {number}"), value, "f")
            self.store_word(self.let(f"getelementptr i64, ptr {slopes}, i64 {number}"), slope, "r")
        rank = (len(values) - 2) // 2
        ref, columns = (self.let(f"load ptr, ptr {self.alloca(one)}") for one in (floats, made))
        return [ref, "0", *values[2 : 2 + rank], *self._contiguous(values)], columns

    def _log_write(
        self, template: Any, index: str, values: list[str], size: str, slopes: str = "null"
    ) -> None:
        """Note in the log what is written to a choice, with so many columns of the Jacobian."""
        made = Var(f".entry{self.count}", "r")
        self.operation("note_written", [made], [self.pointer(template), index, "0", size])
        entry = self.let(f"load ptr, ptr {self.alloca(made)}")
        if slopes != "null":
            self.store_word(self.header(entry, SLOPES_AT), slopes, "r", LOG_TAG)
        for leaf, (value, kind) in enumerate(zip(values, leaves(template.type), strict=True)):
            self.store_word(self.header(entry, WRITE_WORDS + leaf), value, kind, LOG_TAG)

    def _copy(self, statement: hir.Copy) -> None:
        """Copy all choices whose first indices are given."""
        source, target, line = statement.source, statement.template, statement.line
        to = self.words_of(target)
        given = [self.expr(expr, line) for expr in statement.source_indices]
        first = [self.expr(expr, line) for expr in statement.indices]
        counted = self.alloca(statement.target)
        self.add(f"store i64 0, ptr {counted}")
        if self.layout.coordinates.get(source.number) != self.layout.coordinates.get(target.number):
            self.fail_if("true", "a copy between choices with other coordinates", line)
        for index, more in self._places_of(source, given, self.inside(self.words_of(source), given)):
            with self.when(self.is_current(source, index)):
                self.add_to(counted, "1")
                self.check_room(to, [*first, *more], line)
                place = self.row_major(to, [*first, *more])
                size = self.dimension(source, self._leaves_at(source, index))
                given = [self.pointer(source), index, self.pointer(target), place, size]
                self.operation("note_copied", [], given)

    # --- operations of the state ------------------------------------------------------------------

    def _primitive(self, statement: hir.Primitive) -> None:
        """An operation of the state."""
        line = statement.line
        if statement.name in WHYS:
            (template,) = statement.templates
            why, count = WHYS[statement.name], len(self.layout.templates)
            known = self.let(f"icmp ult i64 {self.word(Word.ZERO)}, {(why + 1) * count}")
            with self.when(self.let(f"xor i1 {known}, true")):
                self.set_word(Word.ZERO, str(why * count + template.number))
                indices = [self.expr(expr) for expr in statement.args]
                self.set_word(Word.ZERO_PLACE, self.row_major(self.words_of(template), indices))
            return
        if statement.name == "is_kept":
            (template,), (target,) = statement.templates, statement.targets
            index = self.row_major(
                self.words_of(template), [self.expr(expr, line) for expr in statement.args]
            )
            visited = self.is_now(template, TemplateWords.VISITED, index)
            same = self.let(f"xor i1 {self.is_now(template, TemplateWords.WRITTEN, index)}, true")
            self.add(f"store i1 {self.let(f'and i1 {visited}, {same}')}, ptr {self.alloca(target)}")
            return
        if statement.name == "is_observed":
            (template,), (target,) = statement.templates, statement.targets
            observed = self.is_observed(template, self.existing(template, statement.args, line))
            self.add(f"store i1 {observed}, ptr {self.alloca(target)}")
            return
        if statement.name == "any_of":
            (template,), (target,) = statement.templates, statement.targets
            self.add(f"store i1 false, ptr {self.alloca(target)}")
            for index, _ in self._places_of(template, [], "true"):
                with self.when(self.is_current(template, index)):
                    self.add(f"store i1 true, ptr {self.alloca(target)}")
            return
        if statement.name == "cover":
            (template,) = statement.templates
            index = self.with_room(template, statement.args, line)
            covered = self.is_now(template, TemplateWords.COVERED, index)
            self.fail_if(covered, "an address that is used twice", line)
            self.mark(template, TemplateWords.VISITED, index)
            return
        if statement.name == "alone":
            self.alone(statement.templates[0], statement.args, statement.line)
            return
        if statement.name == "list_site":
            (template,) = statement.templates
            index = self.row_major(self.words_of(template), [self.expr(e, line) for e in statement.args])
            self.operation("note_site", [], [self.pointer(template), index])
            return
        if statement.name in ("site_template", "site_indices"):
            self._site(statement)
            return
        if statement.name == "changed_indices":
            place, words = self.expr(statement.args[0]), self.layout.write_words
            self._indices(statement, self.moves.entry(Word.WRITES, place, words))
            return
        if statement.name == "only_change":
            self._only_change(statement)
            return
        if statement.name == "give_back":
            nodes = [self.expr(expr, statement.line) for expr in statement.args]
            auxiliary, template = statement.templates
            self._give_back_choices(auxiliary, template, nodes)
            return
        self.operation(statement.name, statement.targets, [self.expr(arg, line) for arg in statement.args])

    def _only_change(self, statement: hir.Primitive) -> None:
        """Of which template the one choice of the model is that was written, and the number of the entry."""
        (which, place), count = statement.targets, len(statement.templates)
        changes = self.variable("changes")
        for target, value in ((which, count), (place, 0)):
            self.add(f"store i64 {value}, ptr {self.alloca(target)}")
        with self.each(self.word(Word.WRITE_COUNT)) as number:
            written = self.moves.entry(Word.WRITES, number, self.layout.write_words)
            address, index = self.moves.load(written, 0), self.moves.load(written, 1)
            words = self.pointed(address)
            trace = self.moves.load(words, TemplateWords.TRACE, tag=TEMPLATE_TAG)
            with self.when(self.let(f"icmp eq i64 {trace}, 0")):
                self.add_to(changes, "1")
                found = self._number_of(address, statement.templates, str(count))
                there = self.moves.is_current(words, index)
                found = self.let(f"select i1 {there}, i64 {found}, i64 {count}")
                self.add(f"store i64 {found}, ptr {self.alloca(which)}")
                self.add(f"store i64 {number}, ptr {self.alloca(place)}")
        several = self.let(f"icmp ne i64 {self.let(f'load i64, ptr {changes}')}, 1")
        with self.when(several):
            self.add(f"store i64 {count}, ptr {self.alloca(which)}")

    def _number_of(self, address: str, templates: tuple[Any, ...], other: str) -> str:
        """Which of some templates has its words at an address; something else if none has."""
        found = other
        for number, template in enumerate(templates):
            same = self.let(f"icmp eq i64 {address}, {self.moves.template_pointer(template)}")
            found = self.let(f"select i1 {same}, i64 {number}, i64 {found}")
        return found

    def _site(self, statement: hir.Primitive) -> None:
        """Of which template a choice that is listed is, or its indices."""
        entry = self.moves.entry(Word.READS, self.expr(statement.args[0]), READ_WORDS)
        if statement.name == "site_indices":
            self._indices(statement, entry)
            return
        *others, _ = statement.templates
        which = self._number_of(self.moves.load(entry, 0), tuple(others), str(len(others)))
        self.add(f"store i64 {which}, ptr {self.alloca(statement.targets[0])}")

    def _indices(self, statement: hir.Primitive, entry: str) -> None:
        """The indices of the choice of an entry of a log."""
        (template,), rest = statement.templates, self.moves.load(entry, 1)
        for axis in reversed(range(template.rank)):
            capacity = self.word(self.words_of(template).capacity(axis))
            at = rest if axis == 0 else self.let(f"urem i64 {rest}, {capacity}")
            self.add(f"store i64 {at}, ptr {self.alloca(statement.targets[axis])}")
            rest = rest if axis == 0 else self.let(f"udiv i64 {rest}, {capacity}")

    def _give_back_choices(self, auxiliary: Any, template: Any, nodes: list[str]) -> None:
        """Let the auxiliary choices be those of the current trace that were written or are gone."""
        mine, theirs = nodes[: auxiliary.is_below], nodes[len(nodes) - template.is_below :]
        for index, more in self._places_of(template, theirs, "true"):
            indices = [*mine, *more]
            there = self.is_current(template, index)
            unvisited = self.let(f"xor i1 {self.moves.in_proposed(self.pointer(template), index)}, true")
            written = self.is_now(template, TemplateWords.WRITTEN, index)
            changed = self.let(f"and i1 {there}, {self.let(f'or i1 {unvisited}, {written}')}")
            with self.when(changed):
                self.fail_if(self.is_observed(template, index), "an observation that is gone")
                words = self.words_of(auxiliary)
                self.check_room(words, indices, 0)
                place = self.row_major(words, indices)
                for leaf in range(words.columns):
                    value = self.load_word(self.cell(template, leaf, index), "i", "!7")
                    self.store_word(self.cell(auxiliary, leaf, place), value, "i", "!7")
                self.mark(auxiliary, TemplateWords.WRITTEN, place)
                self.count_up(Word.COUNT_AUXILIARY)
