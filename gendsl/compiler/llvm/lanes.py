"""Loops whose iterations run in lanes, as LLVM IR: see `axes` for which these are.

What is uniform is printed as everywhere else. What varies is a vector, with one entry for each lane; what is
consecutive is kept as its value in the first lane. The *mask* says which lanes are active: its entries are -1
or 0. Lanes go through a divergent branch one side after the other, each with the mask of those that take it,
if there are any; those that leave a loop, a block or a function before the others are not active until they
meet again. So nothing is computed that no lane comes to, and where any active lane fails, the text fails.

    before:  for i in range(n):                  here:  for i in range(0, n, LANES):
                 y = state.y[i]                             mask = i + lane < n
                 lp += normal_logpdf(mean, sd, y)           y = state.y[i:i + LANES]
                                                            lp[lane] += normal_logpdf(mean, sd, y) if mask

A vector is loaded whole, with what lies behind the last item: see `native_layout.room`.
"""

from __future__ import annotations

import copy
from collections.abc import Callable

from gendsl.compiler import hir
from gendsl.compiler.hir import Body, Const, Expr, Var
from gendsl.compiler.hir.machine import LANES
from gendsl.compiler.hir.rewriting import substitute
from gendsl.compiler.hir.text_effects import read_by
from gendsl.compiler.llvm.lane_functions import LaneFunctions
from gendsl.compiler.llvm.lane_values import COUNTING, VECTORS
from gendsl.compiler.llvm.statements import Statements
from gendsl.compiler.llvm.text import TYPES
from gendsl.compiler.llvm.vector_math import BITS, FLOATS, INTEGERS
from gendsl.compiler.passes.axes_facts import CONSECUTIVE, VARYING, WIDE, Lanes, Path
from gendsl.compiler.passes.axes_variables import term_of


class LanesPrinter(LaneFunctions):
    """Prints loops, and the functions that they call, in lanes.

    Attributes:
        exit_lane: the first lane that comes to what only one does, or the number of lanes.
        exits: where lanes end the loop: the number, where it is kept which did, what they do then, and where
            the values are that this needs.
    """

    def __init__(self, to: Statements) -> None:
        super().__init__(to)
        self.exit_lane = ""
        self.exits: list[tuple[int, str, list[hir.Statement], dict[Var, Var]]] = []

    # --- bodies -------------------------------------------------------------------------------------

    def body(self, body: Body) -> None:
        """Print statements; lanes that leave are not active at their end."""
        end = self.to.label("end")
        for at, statement in enumerate(body):
            if not self.statement(statement):
                self.to.start(end)  # which nothing may come to
                return
            if at + 1 < len(body) and self._narrows(statement):
                on = self.to.label("on")
                self.to.add(f"br i1 {self._any(self.mask())}, label %{on}, label %{end}")
                self.to.start(on)
        self.to.add(f"br label %{end}")
        self.to.start(end)

    def _narrows(self, statement: hir.Statement) -> bool:
        """Whether fewer lanes may be active after a statement than before."""
        inside = {
            one.label for one in hir.walk([statement]) if isinstance(one, (hir.For, hir.Loop, hir.Block))
        }
        return any(
            isinstance(one, hir.Return)
            or (isinstance(one, (hir.Leave, hir.Next)) and one.label not in inside)
            for one in hir.walk([statement])
        )

    def statement(self, statement: hir.Statement) -> bool:
        """Print a statement; whether what follows in the body may be come to, by any lane."""
        line, path, rank = statement.line, self.lanes.paths.get(id(statement), ()), self.lanes.rank
        if id(statement) in self.lanes.exits:
            self._exit(self.lanes.exits[id(statement)])
            return True
        match statement:
            case hir.Set(targets=targets, values=values):
                self._assignment(targets, values, path, line)
            case hir.New(target=target, layout=layout, items=items) if rank(target) == WIDE:
                count = len(items)
                data = self.to.make_list(target, str(count), str(max(count, 4)), len(layout) * LANES)
                for i, item in enumerate(items):
                    self._put_wide(data, str(i), layout, item, line)
            case hir.Fill(target=target, layout=layout, count=count, item=item) if rank(target) == WIDE:
                self._fill(target, layout, count, item, line)
            case hir.Length(target=target, list=ref) if rank(ref) == VARYING:
                self._set(target, self.own_list(ref, line)[0], path)
            case hir.Load(list=ref) if rank(ref) == VARYING:
                self._load_own(statement, path)
            case hir.Load(list=ref, index=index) if rank(ref) == WIDE or rank(index):
                self._load(statement, path)
            case hir.Store(keeps=True):
                self._keep(statement)
            case hir.Store(list=ref) if rank(ref) == WIDE:
                self._store(statement)
            case hir.Store(list=ref) if ref in self.lanes.stored:
                self._replace(statement)
            case hir.Append(list=ref) if ref in self.lanes.collected:
                self._collect(statement)
            case hir.Append(list=ref, layout=layout, item=item) if rank(ref) == WIDE:
                self._append(self.to.expr(ref, line), layout, item, line)
            case hir.If():
                return self._if(statement)
            case hir.For():
                self._for(statement)
            case hir.Loop() | hir.Block():
                return self._loop(statement)
            case hir.Leave(label=label) if label in self.gone:
                self._go(self.gone[label][0])
            case hir.Next(label=label) if label in self.gone:
                self._go(self.gone[label][1])
            case hir.Leave(label=label):
                self.to.add(f"br label %{self.to.loops[label][0]}")
                return False
            case hir.Next(label=label):
                self.to.add(f"br label %{self.to.loops[label][1]}")
                return False
            case hir.Call():
                self._call(statement, path)
            case hir.Return(values=values):
                return self._return(values, line)
            case hir.Visit():
                self._visit(statement, path)
            case hir.Fail(reason=reason):
                self.to.fail(reason, line)
                return False
            case _:  # all that it is about is uniform
                self.to.statement(statement)
                self._also_varying(statement, path)
        return True

    def _assignment(self, targets: list[Var], values: list[Expr], path: Path, line: int) -> None:
        found: list[Callable[[], None]] = []
        for target, value in zip(targets, values, strict=True):
            found.append(self._assigned(target, value, path, line))
        for assign in found:  # all at once
            assign()

    def _assigned(self, target: Var, value: Expr, path: Path, line: int) -> Callable[[], None]:
        rank = self.lanes.rank(target)
        if target in self.lanes.sums:
            term = term_of(hir.Set([target], [value]), target)
            assert term is not None
            more = self.vector(term, line)
            added = self._let(f"fadd {FLOATS} {self.load(target)}, {more}")
            return lambda: self.assign(target, added, blended=True)
        if rank == VARYING:
            vector = self.vector(value, line)
            return lambda: self._set(target, vector, path)
        found = self.first(value, line) if rank == CONSECUTIVE and self.lanes.rank(value) else None
        found = found or self.to.expr(value, line)
        return lambda: self.to.add(f"store {TYPES[target.kind]} {found}, ptr {self.to.alloca(target)}")

    # --- branches and loops -------------------------------------------------------------------------

    def _if(self, statement: hir.If) -> bool:
        to, line = self.to, statement.line
        yes, no, after = to.label("then"), to.label("else"), to.label("after")
        if id(statement) not in self.lanes.divergent:
            test = to.expr(statement.test, line)
            to.add(f"br i1 {test}, label %{yes}, label %{no}")
            for label, body in ((yes, statement.then), (no, statement.orelse)):
                to.start(label)
                self.body(body)
                to.add(f"br label %{after}")
            to.start(after)
            return True
        before = self.mask()
        test = self.vector(statement.test, line)
        chosen = self._let(f"select {BITS} {test}, {INTEGERS} {before}, {INTEGERS} zeroinitializer")
        others = self._let(f"select {BITS} {test}, {INTEGERS} zeroinitializer, {INTEGERS} {before}")
        there = to.alloca(Var(f".then{to.count}", "B"))
        to.add(f"store {INTEGERS} {chosen}, ptr {there}")
        self._side(chosen, statement.then, yes, there)
        back = to.alloca(Var(f".else{to.count}", "B"))
        to.add(f"store {INTEGERS} {others}, ptr {back}")
        self._side(others, statement.orelse, no, back)
        if self._narrows(statement):
            left = [self._let(f"load {INTEGERS}, ptr {where}") for where in (there, back)]
            self._set_mask(self._let(f"or {INTEGERS} {left[0]}, {left[1]}"))
        else:
            self._set_mask(before)
        return True

    def _side(self, mask: str, body: Body, label: str, end: str) -> None:
        """One side of a branch, if any lane takes it; the lanes that come to its end are kept."""
        if not body:
            return
        after = self.to.label("after")
        self.to.add(f"br i1 {self._any(mask)}, label %{label}, label %{after}")
        self.to.start(label)
        self._set_mask(mask)
        self.body(body)
        self.to.add(f"store {INTEGERS} {self.mask()}, ptr {end}")
        self.to.add(f"br label %{after}")
        self.to.start(after)

    def _go(self, gone: Var) -> None:
        """The active lanes leave, and are not active until all that leave there meet again."""
        where = self.to.alloca(gone)
        before = self._let(f"load {INTEGERS}, ptr {where}")
        self.to.add(f"store {INTEGERS} {self._let(f'or {INTEGERS} {before}, {self.mask()}')}, ptr {where}")
        self._stop()

    def _meet(self, gone: Var) -> None:
        """The lanes that left are active again."""
        where = self.to.alloca(gone)
        more = self._let(f"load {INTEGERS}, ptr {where}")
        self._set_mask(self._let(f"or {INTEGERS} {self.mask()}, {more}"))
        self.to.add(f"store {INTEGERS} zeroinitializer, ptr {where}")

    def _gone(self, label: int) -> tuple[Var, Var]:
        """Where the lanes are kept that have left a loop, and an iteration."""
        found = Var(f".left{self.to.count}", "B"), Var(f".next{self.to.count}", "B")
        for var in found:
            self.to.add(f"store {INTEGERS} zeroinitializer, ptr {self.to.alloca(var)}")
        self.gone[label] = found
        return found

    def _for(self, statement: hir.For) -> None:
        to, line = self.to, statement.line
        if id(statement) not in self.lanes.divergent:
            with to.counted(statement):
                self._count(statement)
                self.body(statement.body)
            return
        left, next_ = self._gone(statement.label)
        start, step = to.expr(statement.start, line), to.expr(statement.step, line)
        stop = self.vector(statement.stop, line)
        position = to.variable("at", "i")
        to.add(f"store i64 {start}, ptr {position}")
        head, inside, after = to.label("head"), to.label("loop"), to.label("after")
        mark = to.marked(statement.body)
        to.add(f"br label %{head}")
        to.start(head)
        i = self._let(f"load i64, ptr {position}")
        to.add(f"store i64 {i}, ptr {to.alloca(statement.var)}")
        everywhere = self._spread(i, "i")
        if isinstance(statement.step, Const):
            assert isinstance(statement.step.value, int)
            test = "slt" if statement.step.value > 0 else "sgt"
            more = self._let(f"icmp {test} {INTEGERS} {everywhere}, {stop}")
        else:
            up = self._let(f"icmp sgt i64 {step}, 0")
            below = self._let(f"icmp slt {INTEGERS} {everywhere}, {stop}")
            above = self._let(f"icmp sgt {INTEGERS} {everywhere}, {stop}")
            more = self._let(f"select i1 {up}, {BITS} {below}, {BITS} {above}")
        mask = self.mask()
        ended = self._let(f"select {BITS} {more}, {INTEGERS} zeroinitializer, {INTEGERS} {mask}")
        before = self._let(f"load {INTEGERS}, ptr {to.alloca(left)}")
        to.add(f"store {INTEGERS} {self._let(f'or {INTEGERS} {before}, {ended}')}, ptr {to.alloca(left)}")
        on = self._let(f"select {BITS} {more}, {INTEGERS} {mask}, {INTEGERS} zeroinitializer")
        self._set_mask(on)
        to.add(f"br i1 {self._any(on)}, label %{inside}, label %{after}")
        to.start(inside)
        self._count(statement)
        self.body(statement.body)
        self._meet(next_)
        to.give_back(mark)
        to.add(f"store i64 {self._let(f'add i64 {i}, {step}')}, ptr {position}")
        to.add(f"br label %{head}")
        to.start(after)
        self._meet(left)

    def _count(self, statement: hir.For) -> None:
        """The counter of a loop, where it varies."""
        self._also_varying(statement, self.lanes.paths[id(statement.body[0])] if statement.body else ())

    def _loop(self, statement: hir.Loop | hir.Block) -> bool:
        to, is_loop = self.to, isinstance(statement, hir.Loop)
        is_divergent = id(statement) in self.lanes.divergent
        head, after, next_ = to.label("head"), to.label("after"), to.label("next")
        if is_divergent:
            left, again = self._gone(statement.label)
        else:
            to.loops[statement.label] = (after, next_ if is_loop else after)
        mark = to.marked(statement.body) if is_loop else None
        to.add(f"br label %{head}")
        to.start(head)
        self.body(statement.body)
        if not is_loop:
            to.add(f"br label %{after}")
        elif is_divergent:
            self._meet(again)
            to.give_back(mark)
            to.add(f"br i1 {self._any(self.mask())}, label %{head}, label %{after}")
        else:
            to.add(f"br label %{next_}")
            to.start(next_)
            to.give_back(mark)
            to.add(f"br label %{head}")
        to.start(after)
        if is_divergent:
            self._meet(left)
            if not is_loop:
                self._meet(again)
        return True

    # --- loops over data ----------------------------------------------------------------------------

    def loop(self, statement: hir.For, lanes: Lanes) -> None:
        """A loop in blocks of as many iterations as there are lanes, if it has so many."""
        if not lanes.may_be_short:
            self._blocks(statement, lanes)
            return
        to = self.to
        start, stop = to.expr(statement.start, statement.line), to.expr(statement.stop, statement.line)
        least = self._let(f"sub i64 {stop}, {LANES}")
        many, few, after = to.label("many"), to.label("few"), to.label("after")
        to.add(f"br i1 {self._let(f'icmp sle i64 {start}, {least}')}, label %{many}, label %{few}")
        for label, write in ((many, self._blocks), (few, self._one_by_one)):
            to.start(label)
            write(statement, lanes)
            to.add(f"br label %{after}")
        to.start(after)

    def _one_by_one(self, statement: hir.For, lanes: Lanes) -> None:
        self.to.plain_loop(statement)

    def _blocks(self, statement: hir.For, lanes: Lanes) -> None:
        to, line = self.to, statement.line
        kept = self.lanes, self.gone, self.exits
        self.lanes, self.gone, self.exits = lanes, {}, []
        start, stop = to.expr(statement.start, line), to.expr(statement.stop, line)
        for var in sorted(lanes.sums, key=lambda var: var.name):
            to.add(f"store {FLOATS} zeroinitializer, ptr {self._place(var)}")
        position = to.variable("at", "i")
        self.exit_lane = to.variable("first", "i")
        to.add(f"store i64 {start}, ptr {position}")
        head, inside, after = to.label("head"), to.label("lanes"), to.label("after")
        mark = to.marked(statement.body)
        gone = self._gone(statement.label)
        to.add(f"br label %{head}")
        to.start(head)
        i = self._let(f"load i64, ptr {position}")
        to.add(f"store i64 {i}, ptr {to.alloca(statement.var)}")
        to.add(f"br i1 {self._let(f'icmp slt i64 {i}, {stop}')}, label %{inside}, label %{after}")
        to.start(inside)
        left = self._let(f"sub i64 {stop}, {i}")
        self._set_mask(self._kept(self._let(f"icmp slt {INTEGERS} {COUNTING}, {self._spread(left, 'i')}")))
        to.add(f"store i64 {LANES}, ptr {self.exit_lane}")
        self.body(statement.body)
        to.add(f"store {INTEGERS} zeroinitializer, ptr {to.alloca(gone[1])}")
        if self.exits:
            self._take_exits()
        to.give_back(mark)
        to.add(f"store i64 {self._let(f'add i64 {i}, {LANES}')}, ptr {position}")
        to.add(f"br label %{head}")
        to.start(after)
        for var in sorted(lanes.sums, key=lambda var: var.name):
            total = self._total(self.load(var))
            before = to.expr(var)
            to.add(f"store double {self._let(f'fadd double {before}, {total}')}, ptr {to.alloca(var)}")
        self.lanes, self.gone, self.exits = kept

    def _exit(self, body: list[hir.Statement]) -> None:
        """Note that the first of the active lanes comes to this, if no lane before it comes to the like."""
        if not body:
            return
        to = self.to
        number = self._let(f"zext i{LANES} {self._number(self.mask())} to i64")
        lane = self._let(f"call i64 @llvm.cttz.i64(i64 {number}, i1 true)")
        before = self._let(f"load i64, ptr {self.exit_lane}")
        with to.when(self._let(f"icmp slt i64 {lane}, {before}")):
            to.add(f"store i64 {lane}, ptr {self.exit_lane}")
            which = to.alloca(Var(".exit", "i"))
            to.add(f"store i64 {len(self.exits)}, ptr {which}")
            named: dict[Var, Var] = {}
            for one in body:
                for var in sorted(read_by(one), key=lambda var: var.name):
                    if var in named:
                        continue
                    named[var] = Var(f".exit{to.count}", var.kind)
                    value = self._let(f"extractelement {VECTORS[var.kind]} {self.vector(var, 0)}, i64 {lane}")
                    to.add(f"store {TYPES[var.kind]} {value}, ptr {to.alloca(named[var])}")
        self.exits.append((len(self.exits), which, body, named))
        if isinstance(body[-1], hir.Return):
            self._stop()

    def _take_exits(self) -> None:
        """Do what only the first lane does that comes to such, if there is one."""
        to = self.to
        lane = self._let(f"load i64, ptr {self.exit_lane}")
        out, on = to.label("exit"), to.label("on")
        to.add(f"br i1 {self._let(f'icmp slt i64 {lane}, {LANES}')}, label %{out}, label %{on}, !prof !20")
        to.start(out)
        for number, which, body, named in self.exits:
            found = self._let(f"load i64, ptr {which}")
            this, other = to.label("exit"), to.label("other")
            to.add(f"br i1 {self._let(f'icmp eq i64 {found}, {number}')}, label %{this}, label %{other}")
            to.start(this)
            for one in body:
                changed = copy.copy(one)
                substitute(changed, dict(named))
                to.statement(changed)
            if not isinstance(body[-1], hir.Return):
                to.add(f"br label %{on}")
            to.start(other)
        to.add("unreachable")
        to.start(on)
