"""Lists and arrays in LLVM IR: how they lie in memory, and the statements that make and change them."""

from __future__ import annotations

from collections.abc import Iterator

from gendsl.compiler.hir import Expr, Kind, Var
from gendsl.compiler.llvm.expressions import Expressions
from gendsl.compiler.llvm.native_layout import FULL
from gendsl.compiler.llvm.text import TAG, TYPES


class Lists(Expressions):
    """Writes what is done with lists and arrays."""

    def load_word(self, pointer: str, kind: Kind, tag: str | None = None) -> str:
        """A leaf in memory."""
        tag = tag or TAG[kind]
        if kind == "b":
            found = self.let(f"load i64, ptr {pointer}, !tbaa {tag}")
            return self.let(f"trunc i64 {found} to i1")
        return self.let(f"load {TYPES[kind]}, ptr {pointer}, !tbaa {tag}")

    def store_word(self, pointer: str, value: str, kind: Kind, tag: str | None = None) -> None:
        """Put a leaf into memory."""
        if kind == "b":
            value, type_ = self.let(f"zext i1 {value} to i64"), "i64"
        else:
            type_ = TYPES[kind]
        self.add(f"store {type_} {value}, ptr {pointer}, !tbaa {tag or TAG[kind]}")

    def allocate(self, words: str) -> str:
        """Room for words in the arena."""
        found = self.let(f"call ptr @gendsl_allocate(ptr %ctx, i64 {words})")
        self.fail_if(self.let(f"icmp eq ptr {found}, null"), status=FULL)
        return found

    def header(self, ref: str, place: int) -> str:
        """Where a word of the header of a list lies."""
        return ref if place == 0 else self.let(f"getelementptr i64, ptr {ref}, i64 {place}")

    def make_list(self, target: Var, count: str, capacity: str, width: int) -> str:
        """A new list; the pointer to its numbers."""
        given = f"ptr %ctx, i64 {count}, i64 {capacity}, i64 {width}"
        ref = self.let(f"call ptr @gendsl_new_list({given})")
        self.fail_if(self.let(f"icmp eq ptr {ref}, null"), status=FULL)
        self.add(f"store ptr {ref}, ptr {self.alloca(target)}")
        return self.header(ref, 3)

    def place(self, ref: str, index: Expr, layout: tuple[Kind, ...], line: int) -> str:
        """The pointer to an item, whose index may be negative."""
        at = self.inside_list(index, self.let(f"load i64, ptr {ref}, !tbaa !2"), line)
        data = self.let(f"load ptr, ptr {self.header(ref, 2)}, !tbaa !2")
        offset = at if len(layout) == 1 else self.let(f"mul i64 {at}, {len(layout)}")
        return self.let(f"getelementptr i64, ptr {data}, i64 {offset}")

    def inside_list(self, index: Expr, n: str, line: int) -> str:
        """An index of a list of n items, which may be negative; fails where there is no such item.

        What texts share asks for no item that is not there, and for the last ones by constants only.
        """
        at = self.expr(index, line)
        if self.is_shared:
            return self.let(f"add i64 {at}, {n}") if at.startswith("-") else at
        if not self.signs.is_natural(index):
            negative = self.let(f"icmp slt i64 {at}, 0")
            shifted = self.let(f"add i64 {at}, {n}")
            at = self.let(f"select i1 {negative}, i64 {shifted}, i64 {at}")
        self.fail_if(self.let(f"icmp uge i64 {at}, {n}"), "an index out of range", line)
        return at

    def put(self, pointer: str, layout: tuple[Kind, ...], item: tuple[Expr, ...], line: int) -> None:
        """Store an item."""
        values = [self.expr(leaf, line) for leaf in item]
        for i, (value, kind) in enumerate(zip(values, layout, strict=True)):
            self.store_word(self.header(pointer, i), value, kind)

    def _fill(
        self, target: Var, layout: tuple[Kind, ...], count: Expr, item: tuple[Expr, ...], line: int
    ) -> None:
        given = self.expr(count, line)
        negative = self.let(f"icmp slt i64 {given}, 0")
        n = self.let(f"select i1 {negative}, i64 0, i64 {given}")
        self.fail_if(self.let(f"icmp ugt i64 {n}, 1000000000"), "a list of more than 10^9 items", line)
        values = [self.expr(leaf, line) for leaf in item]
        data = self.make_list(target, n, n, len(layout))
        if not layout:
            return
        with self.each(n) as i:
            where = self.let(f"getelementptr i64, ptr {data}, i64 {self.let(f'mul i64 {i}, {len(layout)}')}")
            for place, (value, kind) in enumerate(zip(values, layout, strict=True)):
                self.store_word(self.header(where, place), value, kind)

    def _append(self, ref: str, layout: tuple[Kind, ...], item: tuple[Expr, ...], line: int) -> None:
        width = len(layout)
        values = [self.expr(leaf, line) for leaf in item]
        n, data = self.with_room_for(ref, 1, width)
        where = self.let(f"getelementptr i64, ptr {data}, i64 {self.let(f'mul i64 {n}, {width}')}")
        for i, (value, kind) in enumerate(zip(values, layout, strict=True)):
            self.store_word(self.header(where, i), value, kind)
        self.add(f"store i64 {self.let(f'add i64 {n}, 1')}, ptr {ref}, !tbaa !2")

    def with_room_for(self, ref: str, count: int, width: int) -> tuple[str, str]:
        """The length of a list, and its numbers, with room for so many items more, of so many words."""
        n = self.let(f"load i64, ptr {ref}, !tbaa !2")
        capacity = self.let(f"load i64, ptr {self.header(ref, 1)}, !tbaa !2")
        grow, ready = self.label("grow"), self.label("ready")
        last = self.let(f"add i64 {n}, {count - 1}") if count > 1 else n
        self.add(f"br i1 {self.let(f'icmp slt i64 {last}, {capacity}')}, label %{ready}, label %{grow}")
        self.start(grow)
        given = f"ptr %ctx, ptr {ref}, i64 {max(4, count)}, i64 {width}"
        full = self.let(f"icmp eq ptr {self.let(f'call ptr @gendsl_grown({given})')}, null")
        self.leave_or_go_on(full, ready, status=FULL)
        return n, self.let(f"load ptr, ptr {self.header(ref, 2)}, !tbaa !2")

    # --- arrays -----------------------------------------------------------------------------------

    def _size(self, leaves: list[str]) -> str:
        """The number of entries of an array."""
        rank, size = (len(leaves) - 2) // 2, "1"
        for length in leaves[2 : 2 + rank]:
            size = self.let(f"mul i64 {size}, {length}")
        return size

    def _entries(self, leaves: list[str], width: int) -> Iterator[tuple[str, str]]:
        """A loop over the entries of an array: (number, pointer to it), where each has a width of words."""
        rank = (len(leaves) - 2) // 2
        lengths, strides = leaves[2 : 2 + rank], leaves[2 + rank :]
        data = self.let(f"load ptr, ptr {self.header(leaves[0], 2)}, !tbaa !2")
        with self.each(self._size(leaves)) as number:
            rest, place = number, leaves[1]
            for length, stride in reversed(list(zip(lengths, strides, strict=True))):
                at = self.let(f"urem i64 {rest}, {length}") if rank > 1 else rest
                place = self.let(f"add i64 {place}, {self.let(f'mul i64 {at}, {stride}')}")
                rest = self.let(f"udiv i64 {rest}, {length}") if rank > 1 else rest
            offset = self.let(f"mul i64 {place}, {width}") if width > 1 else place
            yield number, self.let(f"getelementptr i64, ptr {data}, i64 {offset}")

    def _contiguous(self, leaves: list[str]) -> list[str]:
        """The strides of an array whose entries lie one behind another."""
        rank = (len(leaves) - 2) // 2
        found, step = [], "1"
        for length in reversed(leaves[2 : 2 + rank]):
            found.append(step)
            step = self.let(f"mul i64 {step}, {length}")
        return found[::-1]

    def _fresh_array(self, kind: Kind, values: list[str], line: int) -> list[str]:
        """The leaves of an array that is written, as one whose entries lie one behind another."""
        size = self._size(values)
        made = Var(f".written{self.count}", "r")
        into = self.make_list(made, size, size, 1)
        for number, pointer in self._entries(values, 1):
            value = self.load_word(pointer, kind)
            if kind == "f":
                self.fail_if(self.let(f"fcmp uno double {value}, 0.0"), "NaN is written", line)
            self.store_word(self.let(f"getelementptr i64, ptr {into}, i64 {number}"), value, kind)
        rank = (len(values) - 2) // 2
        ref = self.let(f"load ptr, ptr {self.alloca(made)}")
        return [ref, "0", *values[2 : 2 + rank], *self._contiguous(values)]
