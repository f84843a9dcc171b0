"""Keeping a whole trace, and going back to it, in machine code; `python.state` says what it is."""

from __future__ import annotations

from collections.abc import Iterator

from gendsl.compiler.llvm.native_layout import TemplateWords, Word
from gendsl.compiler.llvm.places import Places

_SAVED = (Word.START, Word.CURRENT, Word.COUNT, Word.LOG_DENSITY)
"""The words that are kept with a trace."""


class NativeSaved:
    """Prints these operations."""

    def __init__(self, printer: Places) -> None:
        self.p = printer

    def at(self, pointer: str, offset: int | str) -> str:
        """The pointer to a word."""
        return self.p.let(f"getelementptr i64, ptr {pointer}, i64 {offset}")

    def size(self, words: TemplateWords) -> str:
        """How many places a template has."""
        size = "1"
        for axis in range(words.rank):
            size = self.p.let(f"mul i64 {size}, {self.p.word(words.capacity(axis))}")
        return size

    def _current(self) -> Iterator[tuple[str, str]]:
        """The stamps of the current trace and the columns, of each template of the model: (pointer, size)."""
        layout = self.p.layout
        for template, words in zip(layout.program_templates, layout.templates, strict=True):
            if template.is_auxiliary:
                continue
            size = self.size(words)
            yield self.p.word(words.stamps(TemplateWords.CURRENT), "r"), size
            for leaf in range(0 if template.has_nodes else words.columns):  # calls keep their numbers
                yield self.p.word(words.column(leaf), "r"), size

    def _copied(self, to: str, from_: str, size: str) -> None:
        bytes_ = self.p.let(f"shl i64 {size}, 3")
        self.p.add(f"call void @llvm.memcpy.p0.p0.i64(ptr {to}, ptr {from_}, i64 {bytes_}, i1 false)")

    def save(self) -> str:
        """Copy the current trace to the arena, of which steps then use what is behind."""
        p = self.p
        words = str(len(_SAVED))
        for _, size in self._current():
            words = p.let(f"add i64 {words}, {size}")
        saved = p.allocate(words)
        for place, word in enumerate(_SAVED):
            p.add(f"store i64 {p.word(word)}, ptr {self.at(saved, place)}")
        at = self.at(saved, len(_SAVED))
        for column, size in self._current():
            self._copied(at, column, size)
            at = self.at(at, size)
        p.set_word(Word.START, p.word(Word.NEXT))
        return saved

    def go_back(self, saved: str) -> None:
        p = self.p
        for place, word in list(enumerate(_SAVED))[1:]:
            p.set_word(word, p.let(f"load i64, ptr {self.at(saved, place)}"))
        p.set_word(Word.CURRENT_AUXILIARY, "-1")
        at = self.at(saved, len(_SAVED))
        for column, size in self._current():
            self._copied(column, at, size)
            at = self.at(at, size)

    def give_up(self, saved: str) -> None:
        self.p.set_word(Word.START, self.p.let(f"load i64, ptr {saved}"))
