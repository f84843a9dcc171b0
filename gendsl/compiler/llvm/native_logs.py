"""The two logs of moves, of what was read and of what was written, in machine code; see `native_layout`."""

from __future__ import annotations

from gendsl.compiler.hir import Var
from gendsl.compiler.llvm.native_layout import FULL, READ_WORDS, WRITE_WORDS, TemplateWords, Word
from gendsl.compiler.llvm.native_saved import NativeSaved
from gendsl.compiler.llvm.text import TAG, TEMPLATE_TAG
from gendsl.compiler.python.state_columns import NO_COORDINATE

LOG_TAG = "!8"


class NativeLogs(NativeSaved):
    """Prints what is noted of reads and writes."""

    def load(self, pointer: str, offset: int | str = 0, type_: str = "i64", tag: str = LOG_TAG) -> str:
        """A word."""
        return self.p.let(f"load {type_}, ptr {self.at(pointer, offset)}, !tbaa {tag}")

    def store(
        self, pointer: str, offset: int | str, value: str, type_: str = "i64", tag: str = LOG_TAG
    ) -> None:
        """Set a word."""
        self.p.add(f"store {type_} {value}, ptr {self.at(pointer, offset)}, !tbaa {tag}")

    def entry(self, log: Word, number: str, words: int) -> str:
        """The pointer to an entry of a log."""
        return self.at(self.p.word(log, "r"), self.p.let(f"mul i64 {number}, {words}"))

    def stamp(self, template: str, which: int, index: str) -> str:
        """A stamp of a choice of a template, whose words are pointed to."""
        stamps = self.load(template, which, "ptr", TEMPLATE_TAG)
        return self.load(stamps, index, "i64", "!6")

    def new_entry(self, log: Word, count: Word, room: Word, words: int) -> str:
        """The pointer to a new entry of a log; full where there is no room."""
        p = self.p
        number = p.word(count)
        p.fail_if(p.let(f"icmp sge i64 {number}, {p.word(room)}"), status=FULL)
        p.set_word(count, p.let(f"add i64 {number}, 1"))
        return self.entry(log, number, words)

    def template_pointer(self, template: object) -> str:
        """The address of the words of a template."""
        where = self.at("%ctx", self.p.words_of(template).first)
        return self.p.let(f"ptrtoint ptr {where} to i64")

    def is_current(self, template: str, index: str) -> str:
        """Whether a choice of a template, whose words are pointed to, is in the current trace."""
        p, stamp = self.p, self.stamp(template, TemplateWords.CURRENT, index)
        model = p.let(f"icmp eq i64 {self.load(template, TemplateWords.TRACE, tag=TEMPLATE_TAG)}, 0")
        current, auxiliary = p.word(Word.CURRENT), p.word(Word.CURRENT_AUXILIARY)
        return p.let(f"icmp eq i64 {stamp}, {p.let(f'select i1 {model}, i64 {current}, i64 {auxiliary}')}")

    def in_proposed(self, template: str, index: str) -> str:
        """Whether a choice of a template, whose words are pointed to, is in the proposed trace."""
        p = self.p
        model = p.let(f"icmp eq i64 {self.load(template, TemplateWords.TRACE, tag=TEMPLATE_TAG)}, 0")
        keeps = p.let(f"and i1 {model}, {p.let(f'icmp ne i64 {p.word(Word.KEEPS)}, 0')}")
        own = p.let(
            f"select i1 {model}, i64 {p.word(Word.PROPOSED)}, i64 {p.word(Word.PROPOSED_AUXILIARY)}"
        )
        which = p.let(f"select i1 {keeps}, i64 {TemplateWords.CURRENT}, i64 {TemplateWords.VISITED}")
        stamps = self.load(template, which, "ptr", TEMPLATE_TAG)
        wanted = p.let(f"select i1 {keeps}, i64 {p.word(Word.CURRENT)}, i64 {own}")
        return p.let(f"icmp eq i64 {self.load(stamps, index, 'i64', '!6')}, {wanted}")

    def pairs(self, count: str, coordinate: str, slope: str) -> str:
        """A list of derivatives: of one coordinate, or of none."""
        p, made = self.p, Var(f".made{self.p.count}", "r")
        data = p.make_list(made, count, "1", 2)
        self.store(data, 0, coordinate, tag=TAG["i"])
        self.store(data, 1, slope, "double", TAG["f"])
        return p.let(f"load ptr, ptr {p.alloca(made)}")

    def is_observed(self, template: str, index: str) -> str:
        """Whether a choice of a template, whose words are pointed to, is an observation."""
        mask = self.load(template, TemplateWords.OBSERVED, "ptr", TEMPLATE_TAG)
        where = self.p.let(f"getelementptr i8, ptr {mask}, i64 {index}")
        return self.p.let(f"icmp ne i8 {self.p.let(f'load i8, ptr {where}, !tbaa !9')}, 0")

    # --- the operations -----------------------------------------------------------------------------

    def note_read(self, template: str, index: str, size: str, missing: str) -> str:
        p = self.p
        p.fail_at(p.let(f"xor i1 {self.is_current(template, index)}, true"), missing)
        stamps = self.load(template, TemplateWords.READ, "ptr", TEMPLATE_TAG)
        twice = p.let(f"shl i64 {p.now()}, 1")
        with p.when(p.let(f"icmp ult i64 {self.load(stamps, index, tag='!6')}, {twice}")):
            self.store(stamps, index, twice, tag="!6")
            self._log_read(template, index, size)
        return self.stamp(template, TemplateWords.FOLLOWED, index)

    def note_copied(self, source: str, index: str, target: str, place: str, size: str) -> None:
        p = self.p
        self._note_source(source, index, size)
        entry = self.note_written(target, place, "1", size)
        columns = self.at(source, TemplateWords.COLUMNS)
        with p.each(self.load(source, TemplateWords.LEAVES, tag=TEMPLATE_TAG)) as leaf:
            column = self.load(columns, leaf, "ptr", TEMPLATE_TAG)
            mine = p.let(f"add i64 {leaf}, {WRITE_WORDS}")
            self.store(entry, mine, self.load(column, index, tag="!7"))

    def _note_source(self, template: str, index: str, size: str) -> None:
        """Note that a choice was copied."""
        p = self.p
        stamps = self.load(template, TemplateWords.READ, "ptr", TEMPLATE_TAG)
        twice, stamp = p.let(f"shl i64 {p.now()}, 1"), self.load(stamps, index, tag="!6")
        again, continuous = p.let(f"icmp ugt i64 {stamp}, {twice}"), p.let(f"icmp sgt i64 {size}, 0")
        p.fail_if(p.let(f"and i1 {again}, {continuous}"), "a continuous choice that is copied twice")
        self.store(stamps, index, p.let(f"add i64 {twice}, 1"), tag="!6")
        with p.when(p.let(f"icmp ult i64 {stamp}, {twice}")):
            self._log_read(template, index, size)

    def _log_read(self, template: str, index: str, size: str) -> None:
        """A new entry of the log of what was read or copied, where the choice is no observation."""
        p = self.p
        firsts = self.load(template, TemplateWords.FOLLOWED, "ptr", TEMPLATE_TAG)
        self.store(firsts, index, str(NO_COORDINATE), tag="!6")
        with p.when(p.let(f"xor i1 {self.is_observed(template, index)}, true")):
            first = p.word(Word.COORDINATES)
            self.store(firsts, index, first, tag="!6")
            p.set_word(Word.COORDINATES, p.let(f"add i64 {first}, {size}"))
            entry = self.new_entry(Word.READS, Word.READ_COUNT, Word.READ_ROOM, READ_WORDS)
            for place, value in enumerate((p.let(f"ptrtoint ptr {template} to i64"), index, size)):
                self.store(entry, place, value)

    def note_written(self, template: str, index: str, copied: str, size: str) -> str:
        """The pointer to the new entry, in which the leaves are still missing."""
        p, now = self.p, self.p.now()
        stamps = self.load(template, TemplateWords.WRITTEN, "ptr", TEMPLATE_TAG)
        again = p.let(f"icmp eq i64 {self.load(stamps, index, tag='!6')}, {now}")
        p.fail_if(again, "an address that is written twice")
        p.fail_if(self.is_observed(template, index), "an observation that is written")
        self.store(stamps, index, now, tag="!6")
        entry = self.new_entry(Word.WRITES, Word.WRITE_COUNT, Word.WRITE_ROOM, p.layout.write_words)
        words = p.let(f"ptrtoint ptr {template} to i64"), index, copied, size, "0", "0"
        for place, value in enumerate(words):
            self.store(entry, place, value)
        return entry
