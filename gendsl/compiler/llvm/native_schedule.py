"""What runs the schedule of a chain in machine code, step after step, and counts what becomes of them."""

from __future__ import annotations

from collections.abc import Sequence

from gendsl.compiler.hir import Expr, Function, Var
from gendsl.compiler.llvm.native_layout import (
    STOPPED,
    WAITING,
    Word,
)
from gendsl.compiler.llvm.statements import Statements
from gendsl.compiler.llvm.text import ENTRY, TYPES
from gendsl.compiler.moves import JUMP, PICK, REPEAT, RUN
from gendsl.compiler.steps.move import RESULTS


class NativeSchedule:
    """Prints the function that Python calls."""

    def __init__(self, printer: Statements, rows: Sequence[int]) -> None:
        self.p, self.m, self.rows = printer, printer.moves, rows

    def drive(self, steps: Sequence[Function | None], before: Sequence[Function | None]) -> None:
        """The function that Python calls: it runs the schedule; the status."""
        p, name = self.p, "gendsl_schedule"
        p.define(name, "", "{i32}", lambda: self._drive(steps, before))
        p.out += [
            f"define i32 @{ENTRY}(ptr %ctx) {{",
            f"  %found = call {{i32}} @{name}(ptr %ctx)",
            "  %status = extractvalue {i32} %found, 0",
            "  ret i32 %status",
            "}",
        ]

    def _drive(self, steps: Sequence[Function | None], before: Sequence[Function | None]) -> None:
        p = self.p
        ready = [None if one is None else p.variable("ready") for one in before]
        schedule = p.word(Word.SCHEDULE, "r")
        head, other = p.label("head"), p.label("other")
        instructions = {
            RUN: p.label("run"),
            PICK: p.label("pick"),
            JUMP: p.label("jump"),
            REPEAT: p.label("end"),
        }
        p.add(f"br label %{head}")
        p.start(head)
        counter = p.word(Word.COUNTER)
        code, argument = self.m.load(schedule, counter), self.m.load(schedule, p.let(f"add i64 {counter}, 1"))
        self._switch(code, other, instructions)
        p.start(other)
        p.add("unreachable")
        p.start(instructions[JUMP])
        p.set_word(Word.COUNTER, argument)
        p.add(f"br label %{head}")
        p.start(instructions[REPEAT])
        p.set_word(Word.COUNTER, "0")
        left = p.let(f"sub i64 {p.word(Word.SWEEPS)}, 1")
        p.set_word(Word.SWEEPS, left)
        done, stop = p.label("done"), Var(".stop", "i")
        p.add(f"store i64 0, ptr {p.alloca(stop)}")
        with p.when(p.let(f"icmp ne i64 {p.word(Word.RECORDED)}, 0")):
            to_draw = p.let(f"sub i64 {p.word(Word.SWEEPS_TO_DRAW)}, 1")
            p.set_word(Word.SWEEPS_TO_DRAW, to_draw)
            with p.when(p.let(f"icmp eq i64 {to_draw}, 0")):
                p.set_word(Word.SWEEPS_TO_DRAW, p.word(Word.SWEEPS_A_DRAW))
                p.operation("record", [stop], [])
        on = p.let(f"icmp eq i64 {p.let(f'load i64, ptr {p.alloca(stop)}')}, 0")
        on = p.let(f"and i1 {on}, {p.let(f'icmp sgt i64 {left}, 0')}")
        p.add(f"br i1 {on}, label %{head}, label %{done}")
        p.start(done)
        p.add("ret {i32} zeroinitializer")
        p.start(instructions[PICK])
        self._pick(schedule, counter, argument)
        p.add(f"br label %{head}")
        p.start(instructions[RUN])
        p.fail_if(p.let(f"icmp eq i64 {p.word(Word.STEPS)}, {p.word(Word.STEP_LIMIT)}"), status=STOPPED)
        started = p.let("call i64 @llvm.readcyclecounter()")
        places = {number: p.label("kernel") for number in range(len(steps))}
        self._switch(argument, other, places)
        for number, step in enumerate(steps):
            p.start(places[number])
            if step is None:
                p.add(f"ret {{i32}} {{i32 {WAITING}}}")
                continue
            given = self._given(number, before[number], ready[number])
            self._run(number, step, given, started)
            p.set_word(Word.COUNTER, p.let(f"add i64 {counter}, 2"))
            p.count_up(Word.STEPS)
            p.fail_if(p.let(f"icmp eq i64 {p.word(Word.STEPS)}, {p.word(Word.LAST_STEP)}"), status=STOPPED)
            p.add(f"br label %{head}")

    def _switch(self, value: str, other: str, places: dict[int, str]) -> None:
        cases = " ".join(f"i64 {number}, label %{label}" for number, label in places.items())
        self.p.add(f"switch i64 {value}, label %{other} [{cases}]")

    def _pick(self, schedule: str, counter: str, count: str) -> None:
        """Go on at the place that a uniform number picks among the bounds."""
        p, chosen = self.p, self.p.variable("chosen")
        uniform = p.uniform()
        bounds = self.m.at(schedule, p.let(f"add i64 {counter}, 2"))
        with p.each(count) as number:
            below = p.let(f"fcmp ole double {self.m.load(bounds, number, 'double')}, {uniform}")
            p.add_to(chosen, p.flag(below))
        place = p.let(f"add i64 {count}, {p.let(f'load i64, ptr {chosen}')}")
        p.set_word(Word.COUNTER, self.m.load(bounds, place))

    def _given(self, number: int, once: Function | None, ready: str | None) -> list[Expr]:
        """The arguments of a step, computed where it is made for the first time; their lists stay."""
        if once is None or ready is None:
            return []
        p = self.p
        given = [Var(f".same{number}_{place}", kind) for place, kind in enumerate(once.results)]
        missing = p.let(f"icmp eq i64 {p.let(f'load i64, ptr {ready}')}, 0")
        with p.when(missing):
            p.set_word(Word.NEXT, p.word(Word.START))
            p.call(list(given), once, [], 0)
            p.set_word(Word.START, p.word(Word.NEXT))
            p.add(f"store i64 1, ptr {ready}")
        return list(given)

    def _run(self, number: int, step: Function, given: list[Expr], started: str) -> None:
        """A step of a kernel, and what is counted of it."""
        p = self.p
        results = [Var(f".result{place}", kind) for place, kind in enumerate(step.results)]
        p.call(results, step, given, 0)
        values = [p.let(f"load {TYPES[one.kind]}, ptr {p.alloca(one)}") for one in results]
        accepted, *terms = values[: len(RESULTS)]
        row = str(self.rows[number])
        for chosen in values[len(RESULTS) :]:
            row = p.let(f"add i64 {row}, {chosen}")
        p.operation("tally", [], [row, accepted, *terms, started])
