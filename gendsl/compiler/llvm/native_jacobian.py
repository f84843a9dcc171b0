"""The rows and columns of the Jacobian of a move, in machine code; see `python.state_jacobian`."""

from __future__ import annotations

from gendsl.compiler.hir import Var
from gendsl.compiler.hir.coordinates import DISCRETE
from gendsl.compiler.llvm.native_layout import (
    READ_WORDS,
    ROUNDING_AT,
    SLOPES_AT,
    TemplateWords,
    Word,
)
from gendsl.compiler.llvm.native_logs import NativeLogs
from gendsl.compiler.llvm.text import TAG, TEMPLATE_TAG
from gendsl.compiler.python.choice_values import ROUNDING
from gendsl.compiler.python.state_columns import NO_COORDINATE

_TOLD = Word.TOLD_AUXILIARY, Word.TOLD_WRITTEN, Word.TOLD_GONE


class NativeJacobian(NativeLogs):
    """Prints what a step does with derivatives."""

    def rows(self) -> str:
        p = self.p
        overwritten, new, columns = (p.variable(name) for name in ("overwritten", "new", "columns"))
        with p.each(p.word(Word.WRITE_COUNT)) as number:
            written = self.entry(Word.WRITES, number, p.layout.write_words)
            there = self.check_written(written)
            template = p.pointed(self.load(written, 0))
            model = p.let(f"icmp eq i64 {self.load(template, TemplateWords.TRACE, tag=TEMPLATE_TAG)}, 0")
            model = p.let(f"and i1 {model}, {self.is_counted(template)}")
            p.add_to(overwritten, p.flag(p.let(f"and i1 {model}, {there}")))
            absent = p.let(f"xor i1 {there}, true")
            p.add_to(new, p.flag(p.let(f"and i1 {model}, {absent}")))
            p.add_to(columns, self._coordinates_of(written))
        for word in _TOLD:
            p.set_word(word, "0")
        told = [p.variable("told") for _ in _TOLD]
        made, (numbers, ref) = p.variable("rows"), self._new_list(p.word(Word.COORDINATES))
        with p.each(p.word(Word.COORDINATES)) as coordinate:
            self.store(numbers, coordinate, str(NO_COORDINATE), tag=TAG["i"])
        self._tell_asked()
        with p.each(p.word(Word.READ_COUNT)) as number:
            read = self.entry(Word.READS, number, READ_WORDS)
            template, index, size = p.pointed(self.load(read, 0)), self.load(read, 1), self.load(read, 2)
            changed = self._tell(template, index, told)
            copy_stamp = p.let(f"add i64 {p.let(f'shl i64 {p.now()}, 1')}, 1")
            copied = p.let(f"icmp eq i64 {self.stamp(template, TemplateWords.READ, index)}, {copy_stamp}")
            continuous = p.let(f"icmp sgt i64 {size}, 0")
            stays = p.let(
                f"and i1 {p.let(f'xor i1 {changed}, true')}, {p.let(f'and i1 {copied}, {continuous}')}"
            )
            p.fail_if(stays, "a continuous choice that is copied, and stays")
            follows = p.let(f"and i1 {changed}, {p.let(f'xor i1 {copied}, true')}")
            first = self.stamp(template, TemplateWords.FOLLOWED, index)
            with p.each(p.let(f"select i1 {follows}, i64 {size}, i64 0")) as coordinate:
                row, at = p.let(f"load i64, ptr {made}"), p.let(f"add i64 {first}, {coordinate}")
                self.store(numbers, at, row, tag=TAG["i"])
                p.add_to(made, "1")
        gone = p.let(f"sub i64 {p.word(Word.COUNT)}, {p.word(Word.VISITED)}")
        gone = p.let(f"add i64 {gone}, {p.let(f'load i64, ptr {new}')}")
        expected = [p.word(Word.COUNT_AUXILIARY), p.let(f"load i64, ptr {overwritten}"), gone]
        for word, where, value in zip(_TOLD, told, expected, strict=True):
            count = p.let(f"add i64 {p.word(word)}, {p.let(f'load i64, ptr {where}')}")
            differs = p.let(f"icmp ne i64 {count}, {value}")
            p.fail_if(differs, "a choice that does not stay is neither read nor copied")
        count = p.let(f"load i64, ptr {made}")
        differs = p.let(f"icmp ne i64 {count}, {p.let(f'load i64, ptr {columns}')}")
        p.fail_if(differs, "the numbers of coordinates that go in and come out differ")
        return ref

    def _new_list(self, count: str) -> tuple[str, str]:
        """A list of so many numbers or lists: the pointer to them, and that to the list."""
        p = self.p
        made = Var(f".made{p.count}", "r")
        data = p.make_list(made, count, count, 1)
        return data, p.let(f"load ptr, ptr {p.alloca(made)}")

    def _tell(self, template: str, index: str, told: list[str]) -> str:
        """Count a choice that does not stay as it is: auxiliary, written or gone; whether it is one."""
        p, now = self.p, self.p.now()
        auxiliary = p.let(f"icmp ne i64 {self.load(template, TemplateWords.TRACE, tag=TEMPLATE_TAG)}, 0")
        model = p.let(f"xor i1 {auxiliary}, true")
        is_written = p.let(f"icmp eq i64 {self.stamp(template, TemplateWords.WRITTEN, index)}, {now}")
        counted = self.is_counted(template)
        is_gone = p.let(f"and i1 {counted}, {p.let(f'xor i1 {self.in_proposed(template, index)}, true')}")
        model_written = p.let(f"and i1 {model}, {p.let(f'and i1 {counted}, {is_written}')}")
        left = p.let(f"xor i1 {is_written}, true")
        model_gone = p.let(f"and i1 {model}, {p.let(f'and i1 {left}, {is_gone}')}")
        for where, test in zip(told, (auxiliary, model_written, model_gone), strict=True):
            p.add_to(where, p.flag(test))
        return p.let(f"or i1 {auxiliary}, {p.let(f'or i1 {is_written}, {is_gone}')}")

    def is_counted(self, template: str) -> str:
        """Whether what a template has counts among the choices."""
        return self.p.let(f"icmp ne i64 {self.load(template, TemplateWords.COUNTED, tag=TEMPLATE_TAG)}, 0")

    def _tell_asked(self) -> None:
        """Count the discrete choices that are not read, if a trace was asked."""
        p, nothing = self.p, self.p.let(f"icmp eq i64 {self.p.word(Word.ASKED)}, 0")
        for template, words in zip(p.layout.program_templates, p.layout.templates, strict=True):
            if template.calls is not None or p.layout.coordinates.get(template.number) != DISCRETE:
                continue
            count = p.let(f"select i1 {nothing}, i64 0, i64 {self.size(words)}")
            p.operation("tell_unread", [], [p.pointer(template), count])

    def tell_unread(self, template: str, count: str) -> None:
        """Count the choices of a template, which has so many places, that are not read."""
        p = self.p
        told = [p.variable("told") for _ in _TOLD]
        with p.each(count) as at:
            read = self.stamp(template, TemplateWords.READ, at)
            unread = p.let(f"icmp ult i64 {read}, {p.let(f'shl i64 {p.now()}, 1')}")
            unseen = p.let(f"xor i1 {self.is_observed(template, at)}, true")
            wanted = p.let(f"and i1 {self.is_current(template, at)}, {p.let(f'and i1 {unread}, {unseen}')}")
            with p.when(wanted):
                self._tell(template, at, told)
        for word, where in zip(_TOLD, told, strict=True):
            p.set_word(word, p.let(f"add i64 {p.word(word)}, {p.let(f'load i64, ptr {where}')}"))

    def check_written(self, written: str) -> str:
        """Fail unless the program makes a choice that was written; whether the current trace has it."""
        p = self.p
        template, index = p.pointed(self.load(written, 0)), self.load(written, 1)
        missing = p.let(f"xor i1 {self.in_proposed(template, index)}, true")
        p.fail_if(missing, "a choice is written that the program does not make")
        current = self.stamp(template, TemplateWords.CURRENT, index)
        return p.let(f"icmp eq i64 {current}, {p.word(Word.CURRENT)}")

    def columns_written(self) -> str:
        p = self.p
        total, at = p.variable("total"), p.variable("at")
        with p.each(p.word(Word.WRITE_COUNT)) as number:
            p.add_to(total, self._coordinates_of(self.entry(Word.WRITES, number, p.layout.write_words)))
        columns, ref = self._new_list(p.let(f"load i64, ptr {total}"))
        with p.each(p.word(Word.WRITE_COUNT)) as number:
            written = self.entry(Word.WRITES, number, p.layout.write_words)
            slopes = self.load(written, SLOPES_AT, "ptr")
            with p.each(self._coordinates_of(written)) as coordinate:
                data = self.load(slopes, 2, "ptr", "!2")
                place = p.let(f"load i64, ptr {at}")
                self.store(columns, place, self.load(data, coordinate, "ptr", TAG["r"]), "ptr", TAG["r"])
                p.add_to(at, "1")
        return ref

    def _coordinates_of(self, written: str) -> str:
        """How many columns of the Jacobian what was written has."""
        p = self.p
        copied = p.let(f"icmp ne i64 {self.load(written, 2)}, 0")
        return p.let(f"select i1 {copied}, i64 0, i64 {self.load(written, 3)}")

    def coordinates(self) -> str:
        p = self.p
        values, ref = self._new_list(p.word(Word.COORDINATES))
        with p.each(p.word(Word.READ_COUNT)) as number:
            read = self.entry(Word.READS, number, READ_WORDS)
            template, index = p.pointed(self.load(read, 0)), self.load(read, 1)
            first = self.stamp(template, TemplateWords.FOLLOWED, index)
            column = self.load(self.at(template, TemplateWords.COLUMNS), 0, "ptr", TEMPLATE_TAG)
            word = self.load(column, index, tag="!7")
            is_number = p.let(f"icmp eq i64 {self.load(template, TemplateWords.LEAVES, tag=TEMPLATE_TAG)}, 1")
            with p.each(self.load(read, 2)) as coordinate:
                at = p.let(f"add i64 {first}, {coordinate}")
                with p.when(is_number):
                    self.store(values, at, p.let(f"bitcast i64 {word} to double"), "double", TAG["f"])
                with p.when(p.let(f"xor i1 {is_number}, true")):
                    data = self.load(p.pointed(word), 2, "ptr", "!2")
                    entry = p.let(f"load double, ptr {self.at(data, coordinate)}, !tbaa {TAG['f']}")
                    self.store(values, at, entry, "double", TAG["f"])
        return ref

    def note_rounding(self, sizes: str) -> None:
        p, place = self.p, self.p.variable("place")
        data = self.load(sizes, 2, "ptr", "!2")
        with p.each(p.word(Word.WRITE_COUNT)) as number:
            written = self.entry(Word.WRITES, number, p.layout.write_words)
            largest = p.variable("largest", "f", "0.0")
            with p.each(self._coordinates_of(written)):
                found = self.load(data, p.let(f"load i64, ptr {place}"), "double", TAG["f"])
                before = p.let(f"load double, ptr {largest}")
                more = p.let(f"fcmp ogt double {found}, {before}")
                larger = p.let(f"select i1 {more}, double {found}, double {before}")
                p.add(f"store double {larger}, ptr {largest}")
                p.add_to(place, "1")
            found = p.let(f"load double, ptr {largest}")
            finite = p.let(f"fcmp olt double {found}, 0x7FF0000000000000")
            rounding = p.let(f"fmul double {ROUNDING:e}, {found}")
            kept = p.let(f"select i1 {finite}, double {rounding}, double 0.0")
            self.store(written, ROUNDING_AT, p.let(f"bitcast double {kept} to i64"))
