"""Lists and choices that are read, made and changed in lanes, in LLVM IR; see `lanes`."""

from __future__ import annotations

from collections.abc import Sequence

from gendsl.compiler import hir
from gendsl.compiler.hir import Const, Expr, Kind, Op, Var
from gendsl.compiler.hir.machine import LANES
from gendsl.compiler.hir.rewriting import replaced, variables_of
from gendsl.compiler.hir.templates import Template
from gendsl.compiler.llvm.lane_values import COUNTING, VECTORS, LaneValues
from gendsl.compiler.llvm.native_layout import TemplateWords, Word
from gendsl.compiler.llvm.text import TAG
from gendsl.compiler.llvm.vector_math import BITS, GATHERED, INTEGERS, POINTERS, splat
from gendsl.compiler.passes.axes_facts import CONSECUTIVE, UNIFORM, WIDE, Path


class LaneLists(LaneValues):
    """Writes what is done with lists and choices."""

    def _wide_place(self, data: str, at: str, width: int, leaf: int) -> str:
        """Where a leaf of an item of a wide list lies."""
        offset = self._let(f"mul i64 {at}, {width * LANES}")
        if leaf:
            offset = self._let(f"add i64 {offset}, {leaf * LANES}")
        return self._let(f"getelementptr i64, ptr {data}, i64 {offset}")

    def _read(self, pointer: str, kind: Kind, tag: str | None = None) -> str:
        """A vector in memory."""
        type_ = INTEGERS if kind in "ib" else VECTORS[kind]
        found = self._let(f"load {type_}, ptr {pointer}, align 8, !tbaa {tag or TAG[kind]}")
        if kind == "b":
            return self._let(f"icmp ne {INTEGERS} {found}, zeroinitializer")
        return found

    def _write(self, pointer: str, value: str, kind: Kind) -> None:
        if kind == "b":
            value = self._let(f"zext {BITS} {value} to {INTEGERS}")
        type_ = INTEGERS if kind in "ib" else VECTORS[kind]
        self.to.add(f"store {type_} {value}, ptr {pointer}, align 8, !tbaa {TAG[kind]}")

    def _put_wide(
        self, data: str, at: str, layout: tuple[Kind, ...], item: Sequence[Expr], line: int
    ) -> None:
        for leaf, (expr, kind) in enumerate(zip(item, layout, strict=True)):
            value = self.vector(expr, line)
            self._write(self._wide_place(data, at, len(layout), leaf), value, kind)

    def _fill(
        self, target: Var, layout: tuple[Kind, ...], count: Expr, item: Sequence[Expr], line: int
    ) -> None:
        given = self.to.expr(count, line)
        negative = self._let(f"icmp slt i64 {given}, 0")
        n = self._let(f"select i1 {negative}, i64 0, i64 {given}")
        self.to.fail_if(self._let(f"icmp ugt i64 {n}, 100000000"), "a list of more than 10^8 items", line)
        values = [self.vector(leaf, line) for leaf in item]
        data = self.to.make_list(target, n, n, len(layout) * LANES)
        with self.to.each(n) as i:
            for leaf, (value, kind) in enumerate(zip(values, layout, strict=True)):
                self._write(self._wide_place(data, i, len(layout), leaf), value, kind)

    def _append(self, ref: str, layout: tuple[Kind, ...], item: Sequence[Expr], line: int) -> None:
        values = [self.vector(leaf, line) for leaf in item]
        n, data = self.to.with_room_for(ref, 1, len(layout) * LANES)
        for leaf, (value, kind) in enumerate(zip(values, layout, strict=True)):
            self._write(self._wide_place(data, n, len(layout), leaf), value, kind)
        self.to.add(f"store i64 {self._let(f'add i64 {n}, 1')}, ptr {ref}, !tbaa !2")

    def _collect(self, append: hir.Append) -> None:
        """Each active lane adds an item to a list, in their order: most often these are the first ones."""
        line, width = append.line, len(append.layout)
        values = [self.vector(leaf, line) for leaf in append.item]
        ref = self.to.expr(append.list, line)
        n, data = self.to.with_room_for(ref, LANES, width)
        if append.list in self.lanes.passed_over:
            self._collect_some(append, values, ref, n, data)
            return
        if width == 1:
            self._write(self._let(f"getelementptr i64, ptr {data}, i64 {n}"), values[0], append.layout[0])
        else:
            for lane in range(LANES):
                at = self._let(f"mul i64 {self._let(f'add i64 {n}, {lane}')}, {width}")
                for leaf, (value, kind) in enumerate(zip(values, append.layout, strict=True)):
                    place = self._let(
                        f"getelementptr i64, ptr {data}, i64 {self._let(f'add i64 {at}, {leaf}')}"
                    )
                    one = self._let(f"extractelement {VECTORS[kind]} {value}, i64 {lane}")
                    self.to.store_word(place, one, kind)
        more = self._active_count()
        self.to.add(f"store i64 {self._let(f'add i64 {n}, {more}')}, ptr {ref}, !tbaa !2")

    def _collect_some(self, append: hir.Append, values: Sequence[str], ref: str, n: str, data: str) -> None:
        """Each active lane adds an item to a list that has room, whichever lanes these are."""
        position, width = self.to.variable("at", "i"), len(append.layout)
        self.to.add(f"store i64 {n}, ptr {position}")
        with self._lanes_of(self.mask()) as lane:
            at = self._let(f"load i64, ptr {position}")
            first = self._let(f"mul i64 {at}, {width}")
            for leaf, (value, kind) in enumerate(zip(values, append.layout, strict=True)):
                place = self._let(
                    f"getelementptr i64, ptr {data}, i64 {self._let(f'add i64 {first}, {leaf}')}"
                )
                one = self._let(f"extractelement {VECTORS[kind]} {value}, i64 {lane}")
                self.to.store_word(place, one, kind)
            self.to.add(f"store i64 {self._let(f'add i64 {at}, 1')}, ptr {position}")
        self.to.add(f"store i64 {self._let(f'load i64, ptr {position}')}, ptr {ref}, !tbaa !2")

    def _replace(self, store: hir.Store) -> None:
        """Each active lane replaces its item of a list."""
        line, width = store.line, len(store.layout)
        values = [self.vector(leaf, line) for leaf in store.item]
        ref, at = self.to.expr(store.list, line), self.first(store.index, line)
        n = self._let(f"load i64, ptr {ref}, !tbaa !2")
        outside = self._let(f"icmp uge {INTEGERS} {self._count_from(at)}, {self._spread(n, 'i')}")
        self._fail_if(outside, "an index out of range", line)
        data = self._data(ref)
        if width == 1:
            where = self._let(f"getelementptr i64, ptr {data}, i64 {at}")
            self._write_some(where, values[0], store.layout[0])
            return
        with self._lanes_of(self.mask()) as lane:
            place = self._let(f"mul i64 {self._let(f'add i64 {at}, {lane}')}, {width}")
            for leaf, (value, kind) in enumerate(zip(values, store.layout, strict=True)):
                where = self._let(
                    f"getelementptr i64, ptr {data}, i64 {self._let(f'add i64 {place}, {leaf}')}"
                )
                self.to.store_word(
                    where, self._let(f"extractelement {VECTORS[kind]} {value}, i64 {lane}"), kind
                )

    def _write_some(self, where: str, value: str, kind: Kind) -> None:
        """Replace items one behind the other in the active lanes, and nothing else: what lies behind the end
        of a list is not its own.
        """
        to = self.to
        every, some, after = to.label("every"), to.label("some"), to.label("after")
        mask = self.mask()
        is_full = self._let(f"icmp eq i{LANES} {self._number(mask)}, -1")
        to.add(f"br i1 {is_full}, label %{every}, label %{some}")
        to.start(every)
        self._write(where, value, kind)
        to.add(f"br label %{after}")
        to.start(some)
        if kind == "b":
            value, kind = self._let(f"zext {BITS} {value} to {INTEGERS}"), "i"
        given = f"{VECTORS[kind]} {value}, ptr {where}, i32 8, {BITS} {self._bits(mask)}"
        to.add(f"call void @llvm.masked.store.v{LANES}{GATHERED[kind]}.p0({given}), !tbaa {TAG[kind]}")
        to.add(f"br label %{after}")
        to.start(after)

    def _write_active(self, where: str, value: str, kind: Kind) -> None:
        """Replace a vector in memory, all of which is the lanes' own, in those that are active."""
        before, active, type_ = self._read(where, kind), self._bits(self.mask()), VECTORS[kind]
        kept = self._let(f"select {BITS} {active}, {type_} {value}, {type_} {before}")
        self._write(where, kept, kind)

    def _active_count(self) -> str:
        count = self._let(f"call i{LANES} @llvm.ctpop.i{LANES}(i{LANES} {self._number(self.mask())})")
        return self._let(f"zext i{LANES} {count} to i64")

    def _load_affine(self, ref: str, index: Expr, kind: Kind, n: str, line: int) -> str:
        """The items of a list at steps of one length: most often of 1."""
        to = self.to
        after = {var: Op("add", (var, Const(1, "i")), "i") for var in self._counting(index)}
        first, second = to.expr(index, line), to.expr(replaced(index, after), line)
        step = self._let(f"sub i64 {second}, {first}")
        for value, most in ((first, 1 << 60), (step, 1 << 40)):  # so that there is no overflow
            moved = self._let(f"add i64 {value}, {most}")
            to.fail_if(self._let(f"icmp uge i64 {moved}, {2 * most}"), "an index out of range", line)
        near, far, after_ = to.label("near"), to.label("far"), to.label("after")
        natural, one = self._let(f"icmp sge i64 {first}, 0"), self._let(f"icmp eq i64 {step}, 1")
        to.add(f"br i1 {self._let(f'and i1 {natural}, {one}')}, label %{near}, label %{far}")
        to.start(near)
        outside = self._let(f"icmp uge {INTEGERS} {self._count_from(first)}, {self._spread(n, 'i')}")
        self._fail_if(outside, "an index out of range", line)
        where = self._let(f"getelementptr i64, ptr {self._data(ref)}, i64 {first}")
        together, end = self._read(where, kind), to.block
        to.add(f"br label %{after_}")
        to.start(far)
        steps = self._let(f"mul {INTEGERS} {COUNTING}, {self._spread(step, 'i')}")
        at = self._let(f"add {INTEGERS} {self._spread(first, 'i')}, {steps}")
        places = self._index(at, index, self._spread(n, "i"), line)
        apart = self._gather(self._places(self._data(ref), places), kind)
        other = to.block
        to.add(f"br label %{after_}")
        to.start(after_)
        type_ = VECTORS[kind]
        return self._let(f"phi {type_} [{together}, %{end}], [{apart}, %{other}]")

    def _counting(self, expr: Expr) -> set[Var]:
        """The variables in an expression that are consecutive."""
        return {var for var in variables_of(expr) if self.lanes.rank(var) == CONSECUTIVE}

    def _index(self, at: str, index: Expr, lengths: str, line: int) -> str:
        """An index of lists in all lanes, which may be negative; 0 where a lane is not active."""
        if not self.to.signs.is_natural(index):
            negative = self._let(f"icmp slt {INTEGERS} {at}, zeroinitializer")
            shifted = self._let(f"add {INTEGERS} {at}, {lengths}")
            at = self._let(f"select {BITS} {negative}, {INTEGERS} {shifted}, {INTEGERS} {at}")
        outside = self._let(f"icmp uge {INTEGERS} {at}, {lengths}")
        self._fail_if(outside, "an index out of range", line)
        return self._let(
            f"select {BITS} {self._bits(self.mask())}, {INTEGERS} {at}, {INTEGERS} zeroinitializer"
        )

    def _load(self, load: hir.Load, path: Path) -> None:
        line, layout, width = load.line, load.layout, len(load.layout)
        ref, index = self.to.expr(load.list, line), load.index
        is_wide, rank = self.lanes.rank(load.list) == WIDE, self.lanes.rank(index)
        if is_wide and rank == UNIFORM:
            n = self._let(f"load i64, ptr {ref}, !tbaa !2")
            at = self.to.inside_list(index, n, line)
            data = self._data(ref)
            for leaf, (target, kind) in enumerate(zip(load.targets, layout, strict=True)):
                found = self._read(self._wide_place(data, at, width, leaf), kind)
                self._set(target, found, path)
            return
        n = self._let(f"load i64, ptr {ref}, !tbaa !2")
        if not is_wide and rank == CONSECUTIVE and width == 1 and self.to.signs.is_natural(index):
            at = self.first(index, line)
            outside = self._let(f"icmp uge {INTEGERS} {self._count_from(at)}, {self._spread(n, 'i')}")
            self._fail_if(outside, "an index out of range", line)
            where = self._let(f"getelementptr i64, ptr {self._data(ref)}, i64 {at}")
            self._set(load.targets[0], self._read(where, layout[0]), path)
            return
        if not is_wide and width == 1 and self.lanes.is_affine(index):
            self._set(load.targets[0], self._load_affine(ref, index, layout[0], n, line), path)
            return
        places = self._index(self.vector(index, line), index, self._spread(n, "i"), line)
        data = self._data(ref)
        for leaf, (target, kind) in enumerate(zip(load.targets, layout, strict=True)):
            offsets = places
            step = width * LANES if is_wide else width
            if step != 1:
                offsets = self._let(f"mul {INTEGERS} {offsets}, {splat(str(step), 'i64')}")
            add = leaf * LANES if is_wide else leaf
            if is_wide:
                more = f"<{', '.join(f'i64 {add + lane}' for lane in range(LANES))}>"
                offsets = self._let(f"add {INTEGERS} {offsets}, {more}")
            elif add:
                offsets = self._let(f"add {INTEGERS} {offsets}, {splat(str(add), 'i64')}")
            self._set(target, self._gather(self._places(data, offsets), kind), path)

    def _load_own(self, load: hir.Load, path: Path) -> None:
        """The items of lists that lanes have each their own of."""
        line, width = load.line, len(load.layout)
        lengths, data = self.own_list(load.list, line)
        places = self._index(self.vector(load.index, line), load.index, lengths, line)
        if width != 1:
            places = self._let(f"mul {INTEGERS} {places}, {splat(str(width), 'i64')}")
        for leaf, (target, kind) in enumerate(zip(load.targets, load.layout, strict=True)):
            at = self._let(f"add {INTEGERS} {places}, {splat(str(leaf), 'i64')}") if leaf else places
            self._set(target, self._gather(self.behind(data, at), kind), path)

    def _data(self, ref: str) -> str:
        return self._let(f"load ptr, ptr {self.to.header(ref, 2)}, !tbaa !2")

    def _places(self, data: str, offsets: str) -> str:
        """Places of a list's items, one for each lane."""
        return self._let(f"getelementptr i64, ptr {data}, {INTEGERS} {offsets}")

    def _gather(self, pointers: str, kind: Kind) -> str:
        """What lies at several places, one for each lane; 0 where a lane is not active."""
        return self.gathered(pointers, kind, self._bits(self.mask()))

    def _store(self, store: hir.Store) -> None:
        line, width = store.line, len(store.layout)
        assert isinstance(store.list, Var)
        ref = self.to.expr(store.list, line)
        n = self._let(f"load i64, ptr {ref}, !tbaa !2")
        values = [self.vector(leaf, line) for leaf in store.item]
        if self.lanes.rank(store.index) == UNIFORM:
            at, data = self.to.inside_list(store.index, n, line), self._data(ref)
            for leaf, (value, kind) in enumerate(zip(values, store.layout, strict=True)):
                where = self._wide_place(data, at, width, leaf)
                self._write_active(where, value, kind)
            return
        places = self._index(self.vector(store.index, line), store.index, self._spread(n, "i"), line)
        data = self._data(ref)
        with self._lanes_of(self.mask()) as lane:
            at = self._let(f"extractelement {INTEGERS} {places}, i64 {lane}")
            for leaf, (value, kind) in enumerate(zip(values, store.layout, strict=True)):
                where = self._wide_place(data, at, width, leaf)
                where = self._let(f"getelementptr i64, ptr {where}, i64 {lane}")
                one = self._let(f"extractelement {VECTORS[kind]} {value}, i64 {lane}")
                self.to.store_word(where, one, kind)

    def _keep(self, store: hir.Store) -> None:
        """Each active lane replaces an item of a list that all share; those of one index have one item."""
        line, width = store.line, len(store.layout)
        ref = self.to.expr(store.list, line)
        n = self._let(f"load i64, ptr {ref}, !tbaa !2")
        values = [self.vector(leaf, line) for leaf in store.item]
        places = self._index(self.vector(store.index, line), store.index, self._spread(n, "i"), line)
        data = self._data(ref)
        with self._lanes_of(self.mask()) as lane:
            at = self._let(f"mul i64 {self._let(f'extractelement {INTEGERS} {places}, i64 {lane}')}, {width}")
            for leaf, (value, kind) in enumerate(zip(values, store.layout, strict=True)):
                where = self._let(f"getelementptr i64, ptr {data}, i64 {self._let(f'add i64 {at}, {leaf}')}")
                one = self._let(f"extractelement {VECTORS[kind]} {value}, i64 {lane}")
                self.to.store_word(where, one, kind)

    # --- choices ------------------------------------------------------------------------------------

    def _visit(self, visit: hir.Visit, path: Path) -> None:
        """The values of choices: in one place after another if their last index counts with the lanes."""
        if self.lanes.apart[id(visit)]:
            self._visit_apart(visit, path)
            return
        to, template, line = self.to, visit.template, visit.line
        place = to.words_of(template)
        given = [to.expr(index, line) for index in visit.indices[:-1]]
        first = self.first(visit.indices[-1], line)
        capacity = self._spread(to.word(place.capacity(len(given))), "i")
        at = self._count_from(first)
        outside = self._let(f"icmp uge {INTEGERS} {at}, {capacity}")
        if template.weighs:  # a factor is given by the program itself
            with self._lanes_of(self._where(outside)) as lane:
                last = self._let(f"extractelement {INTEGERS} {at}, i64 {lane}")
                to.check_room(place, [*given, last], line)
            to.check_room(place, given, line)
        else:
            self._fail_if(outside, "a choice that is not given", line)
            if given:
                to.fail_if(
                    self._let(f"xor i1 {to.inside(place, given)}, true"), "a choice that is not given", line
                )
        index = to.row_major(place, [*given, first])
        if not template.weighs:
            self._fail_unless_given(template, index, line)
        now = to.now()
        again = self._stamped(template, TemplateWords.VISITED, index, now)
        self._fail_if(again, "a choice that is made twice", line)
        where, before = self._stamps(template, TemplateWords.VISITED, index)
        active, stamp = self._bits(self.mask()), self._spread(now, "i")
        marked = self._let(f"select {BITS} {active}, {INTEGERS} {stamp}, {INTEGERS} {before}")
        to.add(f"store {INTEGERS} {marked}, ptr {where}, align 8, !tbaa !6")
        if template.counted:
            word = Word.VISITED_AUXILIARY if template.is_auxiliary else Word.VISITED
            to.set_word(word, self._let(f"add i64 {to.word(word)}, {self._active_count()}"))
        for leaf, target in enumerate(visit.targets):
            where = to.cell(template, leaf, index)
            if template.weighs:
                active, one = self._bits(self.mask()), self._spread("1", "i")
                before = self._let(f"load {INTEGERS}, ptr {where}, align 8, !tbaa !7")
                put = self._let(f"select {BITS} {active}, {INTEGERS} {one}, {INTEGERS} {before}")
                to.add(f"store {INTEGERS} {put}, ptr {where}, align 8, !tbaa !7")
            self._set(target, self._read(where, target.kind, "!7"), path)

    def _fail_unless_given(self, template: Template, index: str, line: int) -> None:
        """Fail where neither the current trace has one of these choices, nor a move has written it."""
        to = self.to
        current = to.word(Word.CURRENT_AUXILIARY if template.is_auxiliary else Word.CURRENT)
        there = self._stamped(template, TemplateWords.CURRENT, index, current)
        missing = self._where(self._let(f"xor {BITS} {there}, {splat('true', 'i1')}"))
        look, go = to.label("look"), to.label("visit")
        to.add(f"br i1 {self._any(missing)}, label %{look}, label %{go}")
        to.start(look)
        written = self._stamped(template, TemplateWords.WRITTEN, index, to.now())
        none = self._let(f"select {BITS} {written}, {INTEGERS} zeroinitializer, {INTEGERS} {missing}")
        to.fail_if(self._any(none), "a choice that is not given", line)
        to.add(f"br label %{go}")
        to.start(go)

    def _visit_apart(self, visit: hir.Visit, path: Path) -> None:
        """The values of choices that lie anywhere: what lanes visit is noted for one after another, so that
        it is found if two of them come to one choice.
        """
        to, template, line = self.to, visit.template, visit.line
        place, index = to.words_of(template), ""
        every = [self.vector(expr, line) for expr in visit.indices]
        if template.weighs:
            with self._lanes_of(self.mask()) as lane:
                one = [self._let(f"extractelement {INTEGERS} {at}, i64 {lane}") for at in every]
                to.check_room(place, one, line)
        for axis, at in enumerate(every):
            capacity = self._spread(to.word(place.capacity(axis)), "i")
            if not template.weighs:
                outside = self._let(f"icmp uge {INTEGERS} {at}, {capacity}")
                self._fail_if(outside, "a choice that is not given", line)
            if index:
                at = self._let(f"add {INTEGERS} {self._let(f'mul {INTEGERS} {index}, {capacity}')}, {at}")
            index = at

        def without(which: int, stamp: str) -> str:
            places = self._places(to.word(place.stamps(which), "r"), index)
            found = self.gathered(places, "i", self._bits(self.mask()), "!6")
            return self._where(self._let(f"icmp ne {INTEGERS} {found}, {self._spread(stamp, 'i')}"))

        if not template.weighs:
            current = to.word(Word.CURRENT_AUXILIARY if template.is_auxiliary else Word.CURRENT)
            missing = without(TemplateWords.CURRENT, current)
            look, go = to.label("look"), to.label("visit")
            to.add(f"br i1 {self._any(missing)}, label %{look}, label %{go}")
            to.start(look)
            none = self._let(f"and {INTEGERS} {missing}, {without(TemplateWords.WRITTEN, to.now())}")
            to.fail_if(self._any(none), "a choice that is not given", line)
            to.add(f"br label %{go}")
            to.start(go)
        now = to.now()
        visited = self._places(to.word(place.stamps(TemplateWords.VISITED), "r"), index)
        with self._lanes_of(self.mask()) as lane:
            where = self._let(f"extractelement {POINTERS} {visited}, i64 {lane}")
            before = self._let(f"load i64, ptr {where}, align 8, !tbaa !6")
            again = self._let(f"icmp eq i64 {before}, {now}")
            to.fail_if(again, "a choice that is made twice", line)
            to.add(f"store i64 {now}, ptr {where}, align 8, !tbaa !6")
        if template.counted:
            word = Word.VISITED_AUXILIARY if template.is_auxiliary else Word.VISITED
            to.set_word(word, self._let(f"add i64 {to.word(word)}, {self._active_count()}"))
        for leaf, target in enumerate(visit.targets):
            places = self._places(to.word(place.column(leaf), "r"), index)
            if template.weighs:
                with self._lanes_of(self.mask()) as lane:
                    where = self._let(f"extractelement {POINTERS} {places}, i64 {lane}")
                    to.store_word(where, "true", "b", "!7")
            self._set(target, self.gathered(places, target.kind, self._bits(self.mask()), "!7"), path)

    def _stamps(self, template: object, which: int, index: str) -> tuple[str, str]:
        stamps = self.to.word(self.to.words_of(template).stamps(which), "r")
        where = self._let(f"getelementptr i64, ptr {stamps}, i64 {index}")
        return where, self._let(f"load {INTEGERS}, ptr {where}, align 8, !tbaa !6")

    def _stamped(self, template: object, which: int, index: str, stamp: str) -> str:
        """Where choices have a stamp."""
        return self._let(
            f"icmp eq {INTEGERS} {self._stamps(template, which, index)[1]}, {self._spread(stamp, 'i')}"
        )
