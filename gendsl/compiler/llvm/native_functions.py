"""Functions of a trace in machine code, which write what they give into a row; see `recorded_values`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from gendsl.compiler.hir import Function
from gendsl.compiler.llvm.native_layout import NO_ROOM, Word
from gendsl.compiler.llvm.print_llvm import LLVMPrinter
from gendsl.compiler.llvm.recorded_values import Constant, Either, Grid, Items, Kind, Sequences
from gendsl.compiler.llvm.text import ENTRY, result_type


class NativeFunctions:
    """Prints what writes them.

    For each list and array there are two words: how many items there is room for, and how many there were
    where that was too little.
    """

    def __init__(self, printer: LLVMPrinter) -> None:
        self.p = printer
        self.lists = 0

    def drive(self, functions: Sequence[Function], kinds: Sequence[Kind]) -> None:
        """The function that the chain calls with the row and the rooms; the status."""
        p, name = self.p, "gendsl_functions"
        given = "ptr %row, ptr %rooms"
        p.define(name, given, "{i32}", lambda: self._drive(functions, kinds))
        p.out += [
            f"define i32 @{ENTRY}(ptr %ctx, {given}) {{",
            f"  %found = call {{i32}} @{name}(ptr %ctx, {given})",
            "  %status = extractvalue {i32} %found, 0",
            "  ret i32 %status",
            "}",
        ]

    def _drive(self, functions: Sequence[Function], kinds: Sequence[Kind]) -> None:
        p = self.p
        self.place, self.missing = p.variable("place"), p.variable("missing")
        p.set_word(Word.NEXT, p.word(Word.START))
        for function, kind in zip(functions, kinds, strict=True):
            count = len(function.results)
            values = p.results_of(p.symbol(function), result_type(function), [], count)
            self._put(kind, list(zip(values, function.results, strict=True)))
        wrong = p.let(f"icmp ne i64 {p.let(f'load i64, ptr {self.missing}')}, 0")
        p.fail_if(wrong, status=NO_ROOM)
        p.add("ret {i32} zeroinitializer")

    def _write(self, value: str, type_: str = "i64") -> None:
        """The next word of the row."""
        at = self.p.let(f"load i64, ptr {self.place}")
        where = self.p.let(f"getelementptr i64, ptr %row, i64 {at}")
        self.p.add(f"store {type_} {value}, ptr {where}, !tbaa !8")
        self.p.add_to(self.place, "1")

    def _put(self, kind: Kind, leaves: list[tuple[str, str]]) -> None:
        """Write a value, of its leaves, behind what was written before."""
        p = self.p
        match kind:
            case Constant():
                pass
            case Items(items=items):
                for item in items:
                    self._put(item, leaves)  # each takes its own
            case Either(alternatives=alternatives):
                tag, _ = leaves.pop(0)
                self._write(tag)
                for number, one in enumerate(alternatives):
                    first = self.lists
                    begin = p.let(f"load i64, ptr {self.place}")
                    with p.when(p.let(f"icmp eq i64 {tag}, {number}")):
                        self._put(one, leaves)
                    end = p.let(f"add i64 {begin}, {self._size(one, first)}")
                    p.add(f"store i64 {end}, ptr {self.place}")
            case Sequences(item=item):
                header, _ = leaves.pop(0)
                count = p.let(f"load i64, ptr {header}, !tbaa !2")
                self._write(count)
                with self._room_for(count, item.fixed) as begin:
                    self._copy(header, p.let(f"mul i64 {count}, {item.fixed}"), "0", "1", begin)
            case Grid(rank=rank):
                header, start, *axes = (leaves.pop(0)[0] for _ in range(2 + 2 * rank))
                size = "1"
                for length in axes[:rank]:
                    self._write(length)
                    size = p.let(f"mul i64 {size}, {length}")
                with self._room_for(size, 1) as begin:
                    self._rows(header, start, axes[:rank], axes[rank:], begin)
            case _:
                value, leaf = leaves.pop(0)
                self._write(p.flag(value) if leaf == "b" else value, "double" if leaf == "f" else "i64")

    def _size(self, kind: Kind, first: int) -> str:
        """How many words a value takes, whose lists are those from a number on."""
        p, size = self.p, str(kind.fixed)
        for number, width in enumerate(kind.widths, first):
            size = p.let(f"add i64 {size}, {p.let(f'mul i64 {self._room(number)}, {width}')}")
        return size

    def _room(self, number: int) -> str:
        return self.p.let(f"load i64, ptr {self._at(2 * number)}, !tbaa !8")

    def _at(self, word: int) -> str:
        return self.p.let(f"getelementptr i64, ptr %rooms, i64 {word}")

    @contextmanager
    def _room_for(self, count: str, width: int) -> Iterator[str]:
        """What is done where there is room for so many items, from a word on; go on behind the room."""
        p, number = self.p, self.lists
        self.lists += 1
        begin, room = p.let(f"load i64, ptr {self.place}"), self._room(number)
        fits = p.let(f"icmp sle i64 {count}, {room}")
        p.add_to(self.missing, p.flag(p.let(f"xor i1 {fits}, true")))
        with p.when(p.let(f"xor i1 {fits}, true")):
            p.add(f"store i64 {count}, ptr {self._at(2 * number + 1)}, !tbaa !8")
        with p.when(fits):
            yield begin
        size = p.let(f"mul i64 {room}, {width}")
        p.add(f"store i64 {p.let(f'add i64 {begin}, {size}')}, ptr {self.place}")

    def _copy(self, header: str, count: str, start: str, stride: str, begin: str) -> None:
        """Write so many words of a list, from one on."""
        p = self.p
        with p.when(p.let(f"icmp sgt i64 {count}, 0")):
            where = p.let(f"getelementptr i64, ptr {header}, i64 2")
            data = p.let(f"load ptr, ptr {where}, !tbaa !2")
            with p.each(count) as i:
                from_ = p.let(f"add i64 {start}, {p.let(f'mul i64 {i}, {stride}')}")
                value = p.let(f"load i64, ptr {p.let(f'getelementptr i64, ptr {data}, i64 {from_}')}")
                to = p.let(f"add i64 {begin}, {i}")
                into = p.let(f"getelementptr i64, ptr %row, i64 {to}")
                p.add(f"store i64 {value}, ptr {into}")

    def _rows(self, header: str, start: str, lengths: list[str], strides: list[str], begin: str) -> None:
        """Write the entries of an array in the order of its axes."""
        p, (length, *lengths), (stride, *strides) = self.p, lengths, strides
        if not lengths:
            self._copy(header, length, start, stride, begin)
            return
        size = "1"
        for one in lengths:
            size = p.let(f"mul i64 {size}, {one}")
        with p.each(length) as i:
            from_ = p.let(f"add i64 {start}, {p.let(f'mul i64 {i}, {stride}')}")
            to = p.let(f"add i64 {begin}, {p.let(f'mul i64 {i}, {size}')}")
            self._rows(header, from_, lengths, strides, to)



