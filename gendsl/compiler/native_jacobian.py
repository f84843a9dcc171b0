"""The Jacobian of a move and its determinant, in machine code; `gendsl.compiler.state` says what is done."""

from __future__ import annotations

from collections.abc import Sequence

from gendsl.compiler.front.coordinates import DISCRETE
from gendsl.compiler.llvm_text import TEMPLATE_TAG
from gendsl.compiler.native_layout import (
    FULL,
    READ_WORDS,
    ROUNDING_AT,
    ROW_WORDS,
    TemplateWords,
    Word,
)
from gendsl.compiler.native_logs import LOG_TAG, NativeLogs
from gendsl.compiler.state import ROUNDING


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
            p.add_to(overwritten, p.flag(p.let(f"and i1 {model}, {there}")))
            absent = p.let(f"xor i1 {there}, true")
            p.add_to(new, p.flag(p.let(f"and i1 {model}, {absent}")))
            copied = p.let(f"icmp ne i64 {self.load(written, 2)}, 0")
            p.add_to(columns, p.let(f"select i1 {copied}, i64 0, i64 {self.load(written, 3)}"))
        told = [p.variable(name) for name in ("told_auxiliary", "told_written", "told_gone")]
        made = p.variable("rows")
        self._tell_asked(told)
        with p.each(p.word(Word.READ_COUNT)) as number:
            read = self.entry(Word.READS, number, READ_WORDS)
            template, index, size = p.pointed(self.load(read, 0)), self.load(read, 1), self.load(read, 2)
            changed = self._tell(told, template, index)
            copy_stamp = p.let(f"add i64 {p.let(f'shl i64 {p.now()}, 1')}, 1")
            copied = p.let(f"icmp eq i64 {self.stamp(template, TemplateWords.READ, index)}, {copy_stamp}")
            continuous = p.let(f"icmp sgt i64 {size}, 0")
            stays = p.let(
                f"and i1 {p.let(f'xor i1 {changed}, true')}, {p.let(f'and i1 {copied}, {continuous}')}"
            )
            p.fail_if(stays, "a continuous choice that is copied, and stays")
            follows = p.let(f"and i1 {changed}, {p.let(f'xor i1 {copied}, true')}")
            with p.each(p.let(f"select i1 {follows}, i64 {size}, i64 0")) as coordinate:
                row = p.let(f"load i64, ptr {made}")
                p.set_word(Word.ROW_COUNT, row)  # what there was no room for is found by it
                p.fail_if(p.let(f"icmp sge i64 {row}, {p.word(Word.ROW_ROOM)}"), status=FULL)
                into = self.entry(Word.ROWS, row, ROW_WORDS)
                for place, value in enumerate((self.load(read, 0), index, coordinate)):
                    self.store(into, place, value)
                p.add_to(made, "1")
        gone = p.let(f"sub i64 {p.word(Word.COUNT)}, {p.word(Word.VISITED)}")
        gone = p.let(f"add i64 {gone}, {p.let(f'load i64, ptr {new}')}")
        expected = [p.word(Word.COUNT_AUXILIARY), p.let(f"load i64, ptr {overwritten}"), gone]
        for where, value in zip(told, expected, strict=True):
            differs = p.let(f"icmp ne i64 {p.let(f'load i64, ptr {where}')}, {value}")
            p.fail_if(differs, "a choice that does not stay is neither read nor copied")
        count = p.let(f"load i64, ptr {made}")
        differs = p.let(f"icmp ne i64 {count}, {p.let(f'load i64, ptr {columns}')}")
        p.fail_if(differs, "the numbers of coordinates that go in and come out differ")
        p.set_word(Word.ROW_COUNT, count)
        return count

    def _tell(self, told: Sequence[str], template: str, index: str) -> str:
        """Count a choice that does not stay as it is: auxiliary, written or gone; whether it is one."""
        p, now = self.p, self.p.now()
        auxiliary = p.let(f"icmp ne i64 {self.load(template, TemplateWords.TRACE, tag=TEMPLATE_TAG)}, 0")
        model = p.let(f"xor i1 {auxiliary}, true")
        is_written = p.let(f"icmp eq i64 {self.stamp(template, TemplateWords.WRITTEN, index)}, {now}")
        visited = self.stamp(template, TemplateWords.VISITED, index)
        is_gone = p.let(f"icmp ne i64 {visited}, {p.word(Word.PROPOSED)}")
        model_written = p.let(f"and i1 {model}, {is_written}")
        left = p.let(f"xor i1 {is_written}, true")
        model_gone = p.let(f"and i1 {model}, {p.let(f'and i1 {left}, {is_gone}')}")
        for where, test in zip(told, (auxiliary, model_written, model_gone), strict=True):
            p.add_to(where, p.flag(test))
        return p.let(f"or i1 {auxiliary}, {p.let(f'or i1 {is_written}, {is_gone}')}")

    def _tell_asked(self, told: Sequence[str]) -> None:
        """Count the discrete choices that are not read, if a trace was asked."""
        p, nothing = self.p, self.p.let(f"icmp eq i64 {self.p.word(Word.ASKED)}, 0")
        for template, words in zip(p.layout.program_templates, p.layout.templates, strict=True):
            if template.calls is not None or p.layout.coordinates.get(template.number) != DISCRETE:
                continue
            with p.each(p.let(f"select i1 {nothing}, i64 0, i64 {self.size(words)}")) as at:
                _, read = p.stamp(template, TemplateWords.READ, at)
                unread = p.let(f"icmp ult i64 {read}, {p.let(f'shl i64 {p.now()}, 1')}")
                unseen = p.let(f"xor i1 {p.is_observed(template, at)}, true")
                wanted = p.let(f"and i1 {p.is_current(template, at)}, {p.let(f'and i1 {unread}, {unseen}')}")
                with p.when(wanted):
                    self._tell(told, p.pointed(self.template_pointer(template)), at)

    def check_written(self, written: str) -> str:
        """Fail unless the program makes a choice that was written; whether the current trace has it."""
        p = self.p
        template, index = p.pointed(self.load(written, 0)), self.load(written, 1)
        visited = self.stamp(template, TemplateWords.VISITED, index)
        model = p.let(f"icmp eq i64 {self.load(template, TemplateWords.TRACE, tag=TEMPLATE_TAG)}, 0")
        proposed, auxiliary = p.word(Word.PROPOSED), p.word(Word.PROPOSED_AUXILIARY)
        now = p.let(f"select i1 {model}, i64 {proposed}, i64 {auxiliary}")
        missing = p.let(f"icmp ne i64 {visited}, {now}")
        p.fail_if(missing, "a choice is written that the program does not make")
        current = self.stamp(template, TemplateWords.CURRENT, index)
        return p.let(f"icmp eq i64 {current}, {p.word(Word.CURRENT)}")

    def follow(self, row: str) -> None:
        p = self.p
        followed = self.entry(Word.ROWS, row, ROW_WORDS)
        p.set_word(Word.FOLLOWED, p.let(f"ptrtoint ptr {followed} to i64"))
        start = self.at(p.word(Word.MATRIX, "r"), p.let(f"mul i64 {row}, {p.word(Word.ROW_COUNT)}"))
        p.set_word(Word.MATRIX_AT, p.let(f"ptrtoint ptr {start} to i64"))

    def note_rounding(self, size: str) -> None:
        p, matrix, place = self.p, self.p.word(Word.MATRIX, "r"), self.p.variable("place")
        with p.each(p.word(Word.WRITE_COUNT)) as number:
            written = self.entry(Word.WRITES, number, p.layout.write_words)
            copied = p.let(f"icmp ne i64 {self.load(written, 2)}, 0")
            largest = p.variable("largest", "f", "0.0")
            with p.each(p.let(f"select i1 {copied}, i64 0, i64 {self.load(written, 3)}")):
                column, total = p.let(f"load i64, ptr {place}"), p.variable("total", "f", "0.0")
                with p.each(size) as row:
                    at = self.at(matrix, p.let(f"add i64 {p.let(f'mul i64 {row}, {size}')}, {column}"))
                    slope = p.let(f"load double, ptr {at}, !tbaa {LOG_TAG}")
                    term = p.let(f"fmul double {slope}, {self._coordinate(row)}")
                    size_ = p.let(f"call double @llvm.fabs.f64(double {term})")
                    summed = p.let(f"fadd double {p.let(f'load double, ptr {total}')}, {size_}")
                    p.add(f"store double {summed}, ptr {total}")
                found, before = (p.let(f"load double, ptr {where}") for where in (total, largest))
                more = p.let(f"fcmp ogt double {found}, {before}")
                larger = p.let(f"select i1 {more}, double {found}, double {before}")
                p.add(f"store double {larger}, ptr {largest}")
                p.add_to(place, "1")
            found = p.let(f"load double, ptr {largest}")
            finite = p.let(f"fcmp olt double {found}, 0x7FF0000000000000")
            rounding = p.let(f"fmul double {ROUNDING:e}, {found}")
            kept = p.let(f"select i1 {finite}, double {rounding}, double 0.0")
            self.store(written, ROUNDING_AT, p.let(f"bitcast double {kept} to i64"))

    def _coordinate(self, row: str) -> str:
        """The value of the coordinate that a row of the Jacobian follows."""
        p, value = self.p, self.p.variable("coordinate", "f", "0.0")
        followed = self.entry(Word.ROWS, row, ROW_WORDS)
        template = p.pointed(self.load(followed, 0))
        column = self.load(self.at(template, TemplateWords.COLUMNS), 0, "ptr", TEMPLATE_TAG)
        word = self.load(column, self.load(followed, 1), tag="!7")
        is_number = p.let(f"icmp eq i64 {self.load(template, TemplateWords.LEAVES, tag=TEMPLATE_TAG)}, 1")
        with p.when(is_number):
            p.add(f"store double {p.let(f'bitcast i64 {word} to double')}, ptr {value}")
        with p.when(p.let(f"xor i1 {is_number}, true")):
            data = self.load(p.pointed(word), 2, "ptr", "!2")
            entry = p.let(f"load double, ptr {self.at(data, self.load(followed, 2))}")
            p.add(f"store double {entry}, ptr {value}")
        return p.let(f"load double, ptr {value}")

    def log_abs_det(self, size: str) -> str:
        """Gauss's elimination with the largest entry of each column as the pivot."""
        p, matrix = self.p, self.p.word(Word.MATRIX, "r")
        total = p.variable("total", "f", "0.0")

        def entry(row: str, column: str) -> str:
            return self.at(matrix, p.let(f"add i64 {p.let(f'mul i64 {row}, {size}')}, {column}"))

        def number(where: str) -> str:
            return p.let(f"load double, ptr {where}, !tbaa {LOG_TAG}")

        with p.each(size) as k:
            best, pivot = p.variable("best", "f", "-1.0"), p.variable("pivot")
            with p.each(size, k) as row:
                value = p.let(f"call double @llvm.fabs.f64(double {number(entry(row, k))})")
                finite = p.let(f"fcmp olt double {value}, 0x7FF0000000000000")
                p.fail_if(p.let(f"xor i1 {finite}, true"), "a derivative that is no number")
                with p.when(p.let(f"fcmp ogt double {value}, {p.let(f'load double, ptr {best}')}")):
                    p.add(f"store double {value}, ptr {best}")
                    p.add(f"store i64 {row}, ptr {pivot}")
            largest, from_ = p.let(f"load double, ptr {best}"), p.let(f"load i64, ptr {pivot}")
            p.fail_if(p.let(f"fcmp ole double {largest}, 0.0"), "a determinant that is zero")
            p.declared["log"] = 1
            log = p.let(f"call double @log(double {largest})")
            summed = p.let(f"fadd double {p.let(f'load double, ptr {total}')}, {log}")
            p.add(f"store double {summed}, ptr {total}")
            with p.when(p.let(f"icmp ne i64 {from_}, {k}")), p.each(size, k) as column:
                one, other = entry(k, column), entry(from_, column)
                first, second = number(one), number(other)
                p.add(f"store double {second}, ptr {one}, !tbaa {LOG_TAG}")
                p.add(f"store double {first}, ptr {other}, !tbaa {LOG_TAG}")
            top = number(entry(k, k))
            behind = p.let(f"add i64 {k}, 1")
            with p.each(size, behind) as row:
                factor = p.let(f"fdiv double {number(entry(row, k))}, {top}")
                with p.when(p.let(f"fcmp une double {factor}, 0.0")), p.each(size, behind) as column:
                    where = entry(row, column)
                    taken = p.let(f"fmul double {factor}, {number(entry(k, column))}")
                    left = p.let(f"fsub double {number(where)}, {taken}")
                    p.add(f"store double {left}, ptr {where}, !tbaa {LOG_TAG}")
        return p.let(f"load double, ptr {total}")
