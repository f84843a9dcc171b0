"""The operations of the state of moves, in machine code; `gendsl.compiler.python.state` says what they mean.

What was read and written is noted in two logs, in entries of several words; see `native_layout`.
"""

from __future__ import annotations

from gendsl.compiler.hir import Kind
from gendsl.compiler.llvm.native_layout import (
    FULL,
    READ_WORDS,
    ROUNDING_AT,
    WRITE_WORDS,
    TemplateWords,
    Word,
)
from gendsl.compiler.llvm.native_records import NativeRecords
from gendsl.compiler.llvm.operations import ARGUMENTS, OFTEN, RESULTS
from gendsl.compiler.llvm.text import TEMPLATE_TAG, TYPES
from gendsl.compiler.llvm.writer import Work
from gendsl.compiler.moves import TIE
from gendsl.compiler.python.choice_values import CANCEL, CLOSE

TINY = 10
"""How many lines an operation has that is inlined: a step calls it a few times, from many places."""
NOTHING_SELECTED = "-2"
"""The number of the template whose density was zero, where a move had nothing to do instead."""
NEVER_PICKED = "-3"
"""The same where a move led to where it is never picked."""
UNKNOWN = "0x7FF8000000000000"
"""NaN."""


class NativeMoves(NativeRecords):
    """Prints the operations."""

    # --- the operations -----------------------------------------------------------------------------

    def begin(self) -> None:
        p = self.p
        p.count_up(Word.NOW)
        for word in (
            Word.VISITED,
            Word.VISITED_AUXILIARY,
            Word.COUNT_AUXILIARY,
            Word.WRITE_COUNT,
            Word.READ_COUNT,
            Word.COORDINATES,
            Word.ASKED,
            Word.KEEPS,
        ):
            p.set_word(word, "0")
        p.set_word(Word.CURRENT_AUXILIARY, "-1")
        p.set_word(Word.ZERO, "-1")
        p.set_word(Word.NEXT, p.word(Word.START))
        self._propose()

    def _propose(self) -> None:
        """What is visited from now on is in the proposed traces."""
        for word in (Word.PROPOSED, Word.PROPOSED_AUXILIARY):
            self.p.set_word(word, self.p.now())

    def swap(self, one: int, other: int) -> None:
        """Exchange two words."""
        p = self.p
        first, second = p.word(one), p.word(other)
        p.set_word(one, second)
        p.set_word(other, first)

    def _swap_stamps(self, *, auxiliary: bool) -> None:
        layout = self.p.layout
        for template, words in zip(layout.program_templates, layout.templates, strict=True):
            if template.is_auxiliary == auxiliary:
                self.swap(words.stamps(TemplateWords.CURRENT), words.stamps(TemplateWords.VISITED))

    def _swap_model(self, *words: tuple[int, int]) -> None:
        """Exchange the stamps of the model, and words, where the proposed trace has its own."""
        keeps = self.p.let(f"icmp ne i64 {self.p.word(Word.KEEPS)}, 0")
        with self.p.when(self.p.let(f"xor i1 {keeps}, true")):
            self._swap_stamps(auxiliary=False)
            for one, other in words:
                self.swap(one, other)

    def drawn(self) -> None:
        p = self.p
        self._swap_stamps(auxiliary=True)
        p.set_word(Word.CURRENT_AUXILIARY, p.word(Word.NOW))
        p.set_word(Word.COUNT_AUXILIARY, p.word(Word.VISITED_AUXILIARY))
        p.set_word(Word.VISITED_AUXILIARY, "0")
        p.count_up(Word.NOW)
        self._propose()

    def turn(self) -> None:
        p = self.p
        current, keeps = p.word(Word.CURRENT), p.let(f"icmp ne i64 {p.word(Word.KEEPS)}, 0")
        there = p.let(f"select i1 {keeps}, i64 {current}, i64 {p.word(Word.PROPOSED)}")
        self._swap_model()
        p.set_word(Word.BEFORE, current)
        p.set_word(Word.BEFORE_AUXILIARY, p.word(Word.CURRENT_AUXILIARY))
        p.set_word(Word.CURRENT, there)
        p.set_word(Word.CURRENT_AUXILIARY, "-1")

    def turn_back(self) -> None:
        p = self.p
        self._swap_model()
        p.set_word(Word.CURRENT, p.word(Word.BEFORE))
        p.set_word(Word.CURRENT_AUXILIARY, p.word(Word.BEFORE_AUXILIARY))

    def go_there(self) -> None:
        p = self.p
        self.exchange()
        self._exchange_roles()
        p.count_up(Word.NOW)
        for word in (Word.WRITE_COUNT, Word.READ_COUNT, Word.COORDINATES, Word.ASKED):
            p.set_word(word, "0")

    def return_here(self) -> None:
        self._exchange_roles()
        self.exchange()

    def _exchange_roles(self) -> None:
        self._swap_stamps(auxiliary=True)
        self._swap_model((Word.CURRENT, Word.PROPOSED))
        for one, other in (
            (Word.CURRENT_AUXILIARY, Word.PROPOSED_AUXILIARY),
            (Word.COUNT, Word.VISITED),
            (Word.COUNT_AUXILIARY, Word.VISITED_AUXILIARY),
            (Word.WRITES, Word.WRITES_ELSEWHERE),
            (Word.WRITE_COUNT, Word.WRITE_COUNT_ELSEWHERE),
            (Word.READS, Word.READS_ELSEWHERE),
            (Word.READ_COUNT, Word.READ_COUNT_ELSEWHERE),
        ):
            self.swap(one, other)

    def is_far(self) -> str:
        p = self.p
        found = p.variable("far")
        with p.each(p.word(Word.WRITE_COUNT_ELSEWHERE)) as number:
            back = self.entry(Word.WRITES_ELSEWHERE, number, p.layout.write_words)
            self.store(back, ROUNDING_AT, "0")
            p.add_to(found, p.flag(self._differs(back, p.pointed(self.load(back, 0)))))
        far = p.let(f"icmp ne i64 {p.let(f'load i64, ptr {found}')}, 0")
        p.set_word(Word.FAR, p.flag(far))
        return far

    def came_back(self, log_det: str, log_det_back: str) -> None:
        p, now = self.p, self.p.now()
        auxiliary, far = p.variable("auxiliary"), p.let(f"icmp ne i64 {p.word(Word.FAR)}, 0")
        with p.each(p.word(Word.WRITE_COUNT_ELSEWHERE)) as number:
            back = self.entry(Word.WRITES_ELSEWHERE, number, p.layout.write_words)
            template = p.pointed(self.load(back, 0))
            with p.when(far):
                p.fail_if(self._differs(back, template), "a value that does not come back")
            p.add_to(auxiliary, self.load(template, TemplateWords.TRACE, tag=TEMPLATE_TAG))
        missing = p.let(f"icmp ne i64 {p.let(f'load i64, ptr {auxiliary}')}, {p.word(Word.COUNT_AUXILIARY)}")
        p.fail_if(missing, "an auxiliary choice that does not come back")
        with p.each(p.word(Word.WRITE_COUNT)) as number:
            written = self.entry(Word.WRITES, number, p.layout.write_words)
            template, index = p.pointed(self.load(written, 0)), self.load(written, 1)
            model = p.let(f"icmp eq i64 {self.load(template, TemplateWords.TRACE, tag=TEMPLATE_TAG)}, 0")
            current = self.stamp(template, TemplateWords.CURRENT, index)
            there = p.let(f"icmp eq i64 {current}, {p.word(Word.CURRENT)}")
            left = p.let(f"icmp ne i64 {self.stamp(template, TemplateWords.WRITTEN, index)}, {now}")
            with p.when(p.let(f"and i1 {model}, {p.let(f'and i1 {there}, {left}')}")):
                p.fail_if(self._differs(written, template), "a choice that does not come back")
        with p.each(p.word(Word.READ_COUNT)) as number:
            read = self.entry(Word.READS, number, READ_WORDS)
            template, index = p.pointed(self.load(read, 0)), self.load(read, 1)
            model = p.let(f"icmp eq i64 {self.load(template, TemplateWords.TRACE, tag=TEMPLATE_TAG)}, 0")
            gone = p.let(f"xor i1 {self.in_proposed(template, index)}, true")
            left = p.let(f"icmp ne i64 {self.stamp(template, TemplateWords.WRITTEN, index)}, {now}")
            lost = p.let(f"and i1 {model}, {p.let(f'and i1 {gone}, {left}')}")
            p.fail_if(lost, "a choice that is gone and does not come back")
        total = p.let(f"call double @llvm.fabs.f64(double {p.let(f'fadd double {log_det}, {log_det_back}')})")
        p.fail_if(p.let(f"fcmp ugt double {total}, {CANCEL:e}"), "determinants that do not cancel")

    def _differs(self, written: str, template: str) -> str:
        """Whether the value of an entry of a log is not as good as that which the choice has.

        Of arrays all that their memory holds must be the same, and where in it the entries lie.
        """
        p = self.p
        found = p.variable("differs")
        rounding = p.let(f"bitcast i64 {self.load(written, ROUNDING_AT)} to double")
        index, leaves = self.load(written, 1), self.load(template, TemplateWords.LEAVES, tag=TEMPLATE_TAG)
        floats = p.let(f"icmp ne i64 {self.load(template, TemplateWords.FLOATS, tag=TEMPLATE_TAG)}, 0")
        columns, values = self.at(template, TemplateWords.COLUMNS), self.at(written, WRITE_WORDS)
        column = self.load(columns, 0, "ptr", TEMPLATE_TAG)
        before, after = self.load(column, index, tag="!7"), self.load(values, 0)
        is_number = p.let(f"icmp eq i64 {leaves}, 1")
        with p.when(is_number):
            p.add_to(found, self._are_apart(before, after, floats, rounding))
        other = p.let(f"icmp ne i64 {before}, {after}")
        with p.when(p.let(f"and i1 {other}, {p.let(f'xor i1 {is_number}, true')}")):
            with p.each(leaves, "1") as leaf:
                column = self.load(columns, leaf, "ptr", TEMPLATE_TAG)
                apart = p.let(f"icmp ne i64 {self.load(column, index, tag='!7')}, {self.load(values, leaf)}")
                p.add_to(found, p.flag(apart))
            one, two = p.pointed(before), p.pointed(after)
            count, data, others = (
                self.load(one, 0, tag="!2"),
                *(self.load(x, 2, "ptr", "!2") for x in (one, two)),
            )
            apart = p.let(f"icmp ne i64 {count}, {self.load(two, 0, tag='!2')}")
            p.add_to(found, p.flag(apart))
            with p.each(p.let(f"select i1 {apart}, i64 0, i64 {count}")) as place:
                first, second = (p.let(f"load i64, ptr {self.at(each, place)}") for each in (data, others))
                p.add_to(found, self._are_apart(first, second, floats, rounding))
        return p.let(f"icmp ne i64 {p.let(f'load i64, ptr {found}')}, 0")

    def _are_apart(self, before: str, after: str, floats: str, rounding: str) -> str:
        """Whether two numbers, given as words, are not the same, or not close where they are floats."""
        p = self.p
        x, y = (p.let(f"bitcast i64 {word} to double") for word in (before, after))
        apart, size = (
            p.let(f"call double @llvm.fabs.f64(double {value})")
            for value in (p.let(f"fsub double {y}, {x}"), x)
        )
        most = p.let(f"fadd double {p.let(f'fmul double {CLOSE:e}, {size}')}, {rounding}")
        near = p.let(f"fcmp ole double {apart}, {most}")
        finite = p.let(f"fcmp olt double {size}, 0x7FF0000000000000")
        close = p.let(f"and i1 {floats}, {p.let(f'and i1 {near}, {finite}')}")
        same = p.let(f"icmp eq i64 {before}, {after}")
        return p.flag(p.let(f"xor i1 {p.let(f'or i1 {same}, {close}')}, true"))

    def exchange(self) -> None:
        p = self.p
        with p.each(p.word(Word.WRITE_COUNT)) as number:
            written = self.entry(Word.WRITES, number, p.layout.write_words)
            template, index = p.pointed(self.load(written, 0)), self.load(written, 1)
            with p.each(self.load(template, TemplateWords.LEAVES, tag=TEMPLATE_TAG)) as leaf:
                column = self.load(self.at(template, TemplateWords.COLUMNS), leaf, "ptr", TEMPLATE_TAG)
                mine = p.let(f"add i64 {leaf}, {WRITE_WORDS}")
                before, value = self.load(column, index, tag="!7"), self.load(written, mine)
                self.store(column, index, value, tag="!7")
                self.store(written, mine, before)

    def keep_choices(self) -> None:
        p = self.p
        p.set_word(Word.KEEPS, "1")
        p.set_word(Word.VISITED, p.word(Word.COUNT))

    # --- choices that are updated given all others --------------------------------------------------

    def ask(self) -> None:
        self.p.set_word(Word.ASKED, "1")

    def note_site(self, template: str, index: str) -> None:
        self.p.fail_if(self.is_observed(template, index), "an observation is selected")
        entry = self.new_entry(Word.READS, Word.READ_COUNT, Word.READ_ROOM, READ_WORDS)
        for place, value in enumerate((self.p.let(f"ptrtoint ptr {template} to i64"), index)):
            self.store(entry, place, value)

    def sites(self) -> str:
        return self.p.word(Word.READ_COUNT)

    def try_again(self) -> str:
        p = self.p
        p.count_up(Word.NOW)
        p.set_word(Word.VISITED, "0")
        p.set_word(Word.WRITE_COUNT, "0")
        self._propose()
        return p.word(Word.NEXT)

    def release(self, here: str) -> None:
        self.p.set_word(Word.NEXT, here)

    def same_choices(self) -> None:
        p = self.p
        other = p.let(f"icmp ne i64 {p.word(Word.VISITED)}, {p.word(Word.COUNT)}")
        p.fail_if(other, "other choices than before")

    def same_factors(self) -> None:
        p = self.p
        for template, words in zip(p.layout.program_templates, p.layout.templates, strict=True):
            if template.weighs:
                with p.each(self.size(words)) as index:
                    here = p.is_now(template, TemplateWords.VISITED, index)
                    there = p.is_current(template, index)
                    p.fail_if(p.let(f"xor i1 {here}, {there}"), "other factors than before")

    def kept_part(self) -> str:
        return self.p.word(Word.PART, "f")

    def keep_part(self, lp: str) -> None:
        self.p.set_word(Word.PART, lp, "f")

    def stay(self, lp: str) -> None:
        self.p.set_word(Word.LOG_DENSITY, lp, "f")
        self.keep_part(UNKNOWN)

    def nothing_selected(self) -> None:
        self._note(NOTHING_SELECTED)

    def never_picked(self) -> None:
        self._note(NEVER_PICKED)

    def _note(self, what: str) -> None:
        self.p.set_word(Word.ZERO, what)
        self.p.set_word(Word.ZERO_PLACE, "0")

    def node(self, template: str, index: str) -> str:
        """The number of a call, which is one less than the word that is kept for its address."""
        p = self.p
        cells = self.load(template, TemplateWords.COLUMNS, "ptr", TEMPLATE_TAG)
        with p.when(p.let(f"icmp eq i64 {self.load(cells, index, tag='!7')}, 0")):
            number = p.word(Word.NODES)
            p.fail_if(p.let(f"icmp sge i64 {number}, {p.word(Word.NODE_ROOM)}"), status=FULL)
            above = p.let(f"add i64 {number}, 1")
            p.set_word(Word.NODES, above)
            self.store(cells, index, above, tag="!7")
        return p.let(f"sub i64 {self.load(cells, index, tag='!7')}, 1")

    def keep_observed(self) -> None:
        p = self.p
        for template, words in zip(p.layout.program_templates, p.layout.templates, strict=True):
            if template.is_auxiliary or template.calls is not None:
                continue
            with p.each(self.size(words)) as index:
                there = p.is_current(template, index)
                unvisited = p.let(f"xor i1 {p.is_now(template, TemplateWords.VISITED, index)}, true")
                gone = p.let(f"and i1 {there}, {unvisited}")
                with p.when(gone):
                    p.fail_if(p.is_observed(template, index), "an observation that is gone")

    def forget_drawn(self) -> None:
        self.p.set_word(Word.COUNT_AUXILIARY, "0")

    def settle(self) -> None:
        p = self.p
        overwritten, new = p.variable("overwritten"), p.variable("new")
        with p.each(p.word(Word.WRITE_COUNT)) as number:
            written = self.entry(Word.WRITES, number, p.layout.write_words)
            there = self.check_written(written)
            counted = self.is_counted(p.pointed(self.load(written, 0)))
            p.add_to(overwritten, p.flag(p.let(f"and i1 {counted}, {there}")))
            absent = p.let(f"xor i1 {there}, true")
            p.add_to(new, p.flag(p.let(f"and i1 {counted}, {absent}")))
        gone = p.let(f"sub i64 {p.word(Word.COUNT)}, {p.word(Word.VISITED)}")
        changed = p.let(f"add i64 {gone}, {p.let(f'load i64, ptr {new}')}")
        changed = p.let(f"add i64 {changed}, {p.let(f'load i64, ptr {overwritten}')}")
        for count in (changed, p.word(Word.VISITED_AUXILIARY)):
            differs = p.let(f"icmp ne i64 {count}, {p.word(Word.COUNT_AUXILIARY)}")
            p.fail_if(differs, "what is proposed from here and back are not the same choices")

    def log_density(self) -> str:
        return self.p.word(Word.LOG_DENSITY, "f")

    def decide(self, ratio: str, scale: str, uniform: str) -> str:
        p = self.p
        p.fail_if(
            p.let(f"fcmp uge double {ratio}, 0x7FF0000000000000"), "a log acceptance ratio that is none"
        )
        p.declared.update(log=1, exp=1)
        log = p.let(f"call double @log(double {uniform})")
        distance = p.let(f"call double @llvm.fabs.f64(double {p.let(f'fsub double {log}, {ratio}')})")
        near = p.let(f"fmul double {TIE:e}, {p.let(f'fadd double 1.0, {scale}')}")
        p.fail_if(p.let(f"fcmp olt double {distance}, {near}"), "a tie")
        chance = p.let(f"call double @exp(double {ratio})")
        surely = p.let(f"fcmp oge double {ratio}, 0.0")
        return p.let(f"or i1 {surely}, {p.let(f'fcmp olt double {uniform}, {chance}')}")

    def commit(self, lp: str) -> None:
        p = self.p
        if p.layout.has_arrays:
            self.keep_arrays()
        self.exchange()
        self.turn()
        p.set_word(Word.COUNT_BEFORE, p.word(Word.COUNT))
        p.set_word(Word.LOG_DENSITY_BEFORE, p.word(Word.LOG_DENSITY))
        p.set_word(Word.COUNT, p.word(Word.VISITED))
        p.set_word(Word.LOG_DENSITY, lp, "f")

    def take_back(self) -> None:
        p = self.p
        self.turn_back()
        self.exchange()
        p.set_word(Word.COUNT, p.word(Word.COUNT_BEFORE))
        p.set_word(Word.LOG_DENSITY, p.word(Word.LOG_DENSITY_BEFORE))

    def keep_arrays(self) -> None:
        """Move the arrays that were written to the memory of those that are kept."""
        p = self.p
        with p.each(p.word(Word.WRITE_COUNT)) as number:
            written = self.entry(Word.WRITES, number, p.layout.write_words)
            template = p.pointed(self.load(written, 0))
            model = p.let(f"icmp eq i64 {self.load(template, TemplateWords.TRACE, tag=TEMPLATE_TAG)}, 0")
            several = p.let(f"icmp sgt i64 {self.load(template, TemplateWords.LEAVES, tag=TEMPLATE_TAG)}, 1")
            with p.when(p.let(f"and i1 {model}, {several}")):
                old = p.pointed(self.load(written, WRITE_WORDS))
                count, data = self.load(old, 0, tag="!2"), self.load(old, 2, "ptr", "!2")
                next_ = p.word(Word.HEAP)
                bytes_ = p.let(f"shl i64 {count}, 3")
                end = p.let(f"add i64 {p.let(f'add i64 {next_}, {bytes_}')}, 24")
                p.set_word(Word.HEAP_WANTED, bytes_)
                p.fail_if(p.let(f"icmp ugt i64 {end}, {p.word(Word.HEAP_END)}"), status=FULL)
                p.set_word(Word.HEAP_WANTED, "0")
                p.set_word(Word.HEAP, end)
                header = p.pointed(next_)
                fresh = self.at(header, 3)
                p.add(f"call void @llvm.memcpy.p0.p0.i64(ptr {fresh}, ptr {data}, i64 {bytes_}, i1 false)")
                self.store(header, 0, count, tag="!2")
                self.store(header, 1, count, tag="!2")
                self.store(header, 2, fresh, "ptr", "!2")
                self.store(written, WRITE_WORDS, next_)

    def functions(self, names: set[str]) -> None:
        """The operations as functions of the module, with those that they call, which are added."""
        p, known = self.p, set[str]()
        while left := sorted(names - known):
            name = left[0]
            known.add(name)
            kinds, given = RESULTS[name], ARGUMENTS.get(name, [])
            parameters = ", ".join(f"{TYPES[kind]} %p{place}" for place, kind in enumerate(given))

            def emit(name: str = name, kinds: list[Kind] = kinds, given: list[Kind] = given) -> None:
                found = getattr(self, name)(*(f"%p{place}" for place in range(len(given))))
                result = "zeroinitializer"
                if kinds:
                    result = p.let(
                        f"insertvalue {p.result_type} zeroinitializer, {TYPES[kinds[0]]} {found}, 1"
                    )
                p.add(f"ret {p.result_type} {result}")

            type_ = f"{{{', '.join(['i32', *(TYPES[kind] for kind in kinds)])}}}"
            work = Work.MUCH if name in OFTEN else Work.LEAST
            p.define(f"gendsl_{name}", parameters, type_, emit, TINY, work=work)
