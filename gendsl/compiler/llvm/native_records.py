"""What is recorded of the draws of a chain, in machine code: a row of words for each draw.

    log density | of each row of the tallies: steps, accepted | each cell | of each column and each array: how
    many, numbers | what functions of the trace give

A *cell* is one choice, a *column* all that are numbered from 0 on, an *array* one choice that is one. The
table that says which they are has

    words of a row | tallies | cells | columns | arrays | of each of these: the word of the pointer to the
    first leaf, that of the pointer to the stamps, the place, and for how many numbers there is room.

A draw is not recorded where the current trace has no such choice, or not all up to the last of a column, or
where a function fails, or there is no room: then the chain stops, and Python says what there is. It stops
behind a draw where the trace has a number of choices of which no step was looked at, too.
"""

from __future__ import annotations

from collections.abc import Callable

from gendsl.compiler.llvm.native_layout import ACCEPTED, PROPOSED, TALLY_WORDS, Word
from gendsl.compiler.llvm.native_logs import LOG_TAG
from gendsl.compiler.llvm.native_tally import NativeTally
from gendsl.compiler.llvm.text import TEMPLATE_TAG

HEADER, ENTRY_WORDS = 5, 4


class NativeRecords(NativeTally):
    """Prints the operation."""

    def record(self) -> str:
        """Record a draw; 1 if the chain is to stop, else 0."""
        p = self.p
        table = p.word(Word.RECORDED, "r")
        width, tallies, cells, columns, arrays = (self.load(table, place) for place in range(HEADER))
        row = self.at(p.word(Word.ROWS, "r"), p.let(f"mul i64 {p.word(Word.ROW_COUNT)}, {width}"))
        place, missing = p.variable("place", first="1"), p.variable("missing")
        entry, stop = p.variable("entry", first=str(HEADER)), p.variable("stop")

        def put(value: str) -> None:
            self.store(row, p.let(f"load i64, ptr {place}"), value)
            p.add_to(place, "1")

        def given() -> tuple[Callable[[int], str], str, str, str]:
            """The leaves and stamps of the next entry, its place, and its room."""
            at = self.at(table, p.let(f"load i64, ptr {entry}"))
            p.add_to(entry, str(ENTRY_WORDS))
            first, stamps, place, room = (self.load(at, word) for word in range(ENTRY_WORDS))

            def leaf(number: int) -> str:
                word = p.let(f"add i64 {first}, {number}") if number else first
                return self.load("%ctx", word, "ptr", TEMPLATE_TAG)

            return leaf, self.load("%ctx", stamps, "ptr", TEMPLATE_TAG), place, room

        def is_here(stamps: str, at: str) -> str:
            return p.let(f"icmp eq i64 {self.load(stamps, at, 'i64', '!6')}, {p.word(Word.CURRENT)}")

        self.store(row, 0, p.word(Word.LOG_DENSITY))
        with p.each(tallies) as number:
            tally = self.entry(Word.TALLIES, number, TALLY_WORDS)
            put(self.load(tally, PROPOSED))
            put(self.load(tally, ACCEPTED))
        with p.each(cells):
            leaf, stamps, at, _ = given()
            put(self.load(leaf(0), at, "i64", "!7"))
            p.add_to(missing, p.flag(p.let(f"xor i1 {is_here(stamps, at)}, true")))
        with p.each(columns):
            leaf, stamps, _, size = given()
            numbers, first = leaf(0), p.let(f"add i64 {p.let(f'load i64, ptr {place}')}, 1")
            count, end = p.variable("count"), p.variable("end")
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
        if p.layout.has_arrays:
            with p.each(arrays):
                leaf, stamps, at, room = given()
                items, start, size, stride = (self.load(leaf(i), at, "i64", "!7") for i in range(4))
                fits = p.let(f"icmp sle i64 {size}, {room}")
                good = p.let(f"and i1 {is_here(stamps, at)}, {fits}")
                p.add_to(missing, p.flag(p.let(f"xor i1 {good}, true")))
                size = p.let(f"select i1 {good}, i64 {size}, i64 0")
                put(size)
                with p.when(p.let(f"icmp sgt i64 {size}, 0")):
                    header = p.pointed(items)
                    data = p.let(f"load ptr, ptr {self.at(header, 2)}, !tbaa !2")
                    with p.each(size) as i:
                        from_ = p.let(f"add i64 {start}, {p.let(f'mul i64 {i}, {stride}')}")
                        value = p.let(f"load i64, ptr {self.at(data, from_)}")
                        to = p.let(f"add i64 {p.let(f'load i64, ptr {place}')}, {i}")
                        self.store(row, to, value)
                p.add_to(place, room)
        functions = p.word(Word.FUNCTIONS, "r")
        with p.when(p.let(f"icmp ne ptr {functions}, null")):
            behind = self.at(row, p.let(f"load i64, ptr {place}"))
            arguments = f"ptr %ctx, ptr {behind}, ptr {p.word(Word.FUNCTION_ROOMS, 'r')}"
            status = p.let(f"zext i32 {p.let(f'call i32 {functions}({arguments})')} to i64")
            p.set_word(Word.FUNCTION_STATUS, status)
            p.add_to(missing, status)
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
