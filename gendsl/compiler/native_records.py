"""What is recorded of the draws of a chain, in machine code: a row of words for each draw.

    log density | of each row of the tallies: steps, accepted | each cell | of each column: how many, numbers

A *cell* is one choice, a *column* all that are numbered from 0 on. The table that says which they are has

    words of a row | tallies | cells | columns | of each cell and each column: the word of the pointer to the
    numbers, that of the pointer to the stamps, and the place, or how many places there are.

A draw is not recorded where the current trace has no such choice, or not all up to the last of a column: then
the chain stops, and Python says what there is. It stops behind a draw where the trace has a number of choices
of which no step was looked at, too.
"""

from __future__ import annotations

from gendsl.compiler.native_layout import ACCEPTED, PROPOSED, TALLY_WORDS, Word
from gendsl.compiler.native_logs import LOG_TAG
from gendsl.compiler.native_tally import NativeTally

HEADER, ENTRY_WORDS = 4, 3


class NativeRecords(NativeTally):
    """Prints the operation."""

    def record(self) -> str:
        """Record a draw; 1 if the chain is to stop, else 0."""
        p = self.p
        table = p.word(Word.RECORDED, "r")
        width, tallies, cells, columns = (self.load(table, place) for place in range(HEADER))
        row = self.at(p.word(Word.ROWS, "r"), p.let(f"mul i64 {p.word(Word.ROW_COUNT)}, {width}"))
        place, missing = p.variable("place", first="1"), p.variable("missing")
        entry, stop = p.variable("entry", first=str(HEADER)), p.variable("stop")

        def put(value: str) -> None:
            self.store(row, p.let(f"load i64, ptr {place}"), value)
            p.add_to(place, "1")

        def given() -> tuple[str, str, str]:
            """The numbers and stamps of the next entry, and its last word."""
            at = self.at(table, p.let(f"load i64, ptr {entry}"))
            p.add_to(entry, str(ENTRY_WORDS))
            numbers, stamps = (self.load("%ctx", self.load(at, word), "ptr", "!23") for word in range(2))
            return numbers, stamps, self.load(at, 2)

        def is_here(stamps: str, at: str) -> str:
            return p.let(f"icmp eq i64 {self.load(stamps, at, 'i64', '!6')}, {p.word(Word.CURRENT)}")

        self.store(row, 0, p.word(Word.LOG_DENSITY))
        with p.each(tallies) as number:
            tally = self.entry(Word.TALLIES, number, TALLY_WORDS)
            put(self.load(tally, PROPOSED))
            put(self.load(tally, ACCEPTED))
        with p.each(cells):
            numbers, stamps, at = given()
            put(self.load(numbers, at, "i64", "!7"))
            p.add_to(missing, p.flag(p.let(f"xor i1 {is_here(stamps, at)}, true")))
        with p.each(columns):
            numbers, stamps, size = given()
            count, end = p.variable("count"), p.variable("end")
            first = p.let(f"add i64 {p.let(f'load i64, ptr {place}')}, 1")
            with p.each(size) as at:
                self.store(row, p.let(f"add i64 {first}, {at}"), self.load(numbers, at, "i64", "!7"))
                with p.when(is_here(stamps, at)):
                    p.add_to(count, "1")
                    p.add(f"store i64 {p.let(f'add i64 {at}, 1')}, ptr {end}")
            found = p.let(f"load i64, ptr {count}")
            gap = p.let(f"icmp ne i64 {found}, {p.let(f'load i64, ptr {end}')}")
            none = p.let(f"icmp eq i64 {found}, 0")
            p.add_to(missing, p.flag(p.let(f"or i1 {gap}, {none}")))
            put(found)
            p.add_to(place, size)
        whole = p.let(f"icmp eq i64 {p.let(f'load i64, ptr {missing}')}, 0")
        p.add_to(stop, p.flag(p.let(f"xor i1 {whole}, true")))
        with p.when(whole):
            p.count_up(Word.ROW_COUNT)
            choices = p.word(Word.COUNT)
            with p.when(p.let(f"icmp ult i64 {choices}, {p.word(Word.SEEN_SIZE)}")):
                where = p.let(f"getelementptr i8, ptr {p.word(Word.SEEN, 'r')}, i64 {choices}")
                seen = p.let(f"load i8, ptr {where}, !tbaa {LOG_TAG}")
                p.add_to(stop, p.flag(p.let(f"icmp eq i8 {seen}, 0")))
        return p.let(f"load i64, ptr {stop}")
