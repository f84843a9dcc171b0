"""Statements, loops and calls as LLVM IR; see `print_llvm`."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager

from gendsl.compiler import hir
from gendsl.compiler.hir import Body, Const, Expr, Function, Kind, Var
from gendsl.compiler.hir.list_uses import list_of
from gendsl.compiler.hir.rewriting import variables_of
from gendsl.compiler.hir.types import leaves
from gendsl.compiler.llvm.native_layout import Layout, Word
from gendsl.compiler.llvm.text import OF_TEXT, TYPES, result_type
from gendsl.compiler.llvm.transforms import Transforms
from gendsl.compiler.passes.axes import Axes


def keeps_references(function: Function, known: dict[int, bool]) -> bool:
    """Whether a function may let what it is given refer to what it makes, or grow it."""
    if id(function) not in known:
        known[id(function)] = True  # of itself, if it is recursive
        known[id(function)] = _keeps(function.body, known)
    return known[id(function)]


def _keeps(body: Body, known: dict[int, bool]) -> bool:
    """Whether statements may let what lives longer than they do refer to what they make."""
    made: set[Var] = set()
    named: set[Var] = set()
    for statement in hir.walk(body):
        if isinstance(statement, (hir.New, hir.Fill)):
            made.add(statement.target)
        else:
            named.update(var for var in hir.targets(statement) if var.kind == "r")
        own, exprs = list_of(statement), list(hir.expressions(statement))
        named |= variables_of(*(exprs if own is None else exprs[1:]))
    alone = made - named  # so that what these hold lives no longer than they do
    for statement in hir.walk(body):
        match statement:
            case hir.Append(list=ref) if ref not in made:
                return True
            case hir.Append(layout=layout) if "r" in layout:
                return True
            case hir.Store(list=ref, layout=layout) if "r" in layout and ref not in alone:
                return True
            case hir.Keep(values=values) | hir.Redraw(values=values) | hir.Write(values=values) if any(
                v.kind == "r" for v in values
            ):
                return True
            case hir.Copy(template=template) if "r" in leaves(template.type):
                return True
            case hir.Call(function=function) if keeps_references(function, known):
                return True
    return False


class Statements(Transforms):
    """Writes statements.

    Attributes:
        axes: which loops run in lanes.
        function_: the function that is written.
        keeping: which functions may let what lives longer refer to what they make, by their identities.
    """

    def __init__(self, layout: Layout, axes: Axes) -> None:
        super().__init__(layout)
        self.axes = axes
        self.function_: Function | None = None
        self.keeping: dict[int, bool] = {}

    @abstractmethod
    def in_lanes(self, loop: hir.For) -> None:
        """Write a loop whose iterations run in lanes."""

    def body(self, body: Body) -> bool:
        """Print statements; whether control reaches their end."""
        return all(self.statement(statement) for statement in body)

    def statement(self, statement: hir.Statement) -> bool:
        """Print a statement; whether control reaches what follows."""
        line = statement.line
        match statement:
            case hir.Set(targets=targets, values=values):
                found = [self.expr(value, line) for value in values]
                for target, value in zip(targets, found, strict=True):
                    self.add(f"store {TYPES[target.kind]} {value}, ptr {self.alloca(target)}")
            case hir.New(target=target, layout=layout, items=items):
                count = len(items)
                data = self.make_list(target, str(count), str(max(count, 4)), len(layout))
                for i, item in enumerate(items):
                    self.put(self.header(data, i * len(layout)), layout, item, line)
            case hir.Fill(target=target, layout=layout, count=count, item=item):
                self._fill(target, layout, count, item, line)
            case hir.Length(target=target, list=ref):
                n = self.let(f"load i64, ptr {self.expr(ref, line)}, !tbaa !2")
                self.add(f"store i64 {n}, ptr {self.alloca(target)}")
            case hir.Load(targets=targets, list=ref, layout=layout, index=index):
                where = self.place(self.expr(ref, line), index, layout, line)
                found = [self.load_word(self.header(where, i), kind) for i, kind in enumerate(layout)]
                for target, value in zip(targets, found, strict=True):
                    self.add(f"store {TYPES[target.kind]} {value}, ptr {self.alloca(target)}")
            case hir.Store(list=ref, layout=layout, index=index, item=item):
                self.put(self.place(self.expr(ref, line), index, layout, line), layout, item, line)
            case hir.Append(list=ref, layout=layout, item=item):
                self._append(self.expr(ref, line), layout, item, line)
            case hir.Truncate(list=ref, count=count):
                self.add(f"store i64 {self.expr(count, line)}, ptr {self.expr(ref, line)}, !tbaa !2")
            case hir.If(test=test, then=then, orelse=orelse):
                return self._if(self.expr(test, line), then, orelse)
            case hir.For() if id(statement) in self.axes.loops:
                self.in_lanes(statement)
            case hir.For():
                self.plain_loop(statement)
            case hir.Loop():
                return self._loop(statement)
            case hir.Block(body=inner, label=label):
                after = self.label("after")
                self.loops[label] = (after, after)
                if self.body(inner):
                    self.add(f"br label %{after}")
                self.start(after)
            case hir.Leave(label=label):
                self.add(f"br label %{self.loops[label][0]}")
                return False
            case hir.Next(label=label):
                self.add(f"br label %{self.loops[label][1]}")
                return False
            case hir.Call(targets=targets, function=function, args=args):
                self.call(targets, function, args, line)
            case hir.Return(values=values):
                result = "zeroinitializer"
                for i, (expr, kind) in enumerate(zip(values, self.results(), strict=True)):
                    leaf = self.expr(expr, line)
                    result = self.let(
                        f"insertvalue {self.result_type} {result}, {TYPES[kind]} {leaf}, {i + 1}"
                    )
                self.add(f"ret {self.result_type} {result}")
                return False
            case hir.Fail(reason=reason):
                self.fail(reason, line)
                return False
            case hir.Visit():
                self._visit(statement)
            case hir.Given(template=template, indices=indices, target=target):
                self._given(template, indices, target, line)
            case hir.Present(template=template, indices=indices, target=target):
                self._given(template, indices, target, line)
            case hir.Count():
                self._count_below(statement)
            case hir.Node():
                self._node(statement)
            case hir.Extent(target=target, template=template, axis=axis):
                extent = self.word(self.words_of(template).capacity(axis))
                self.add(f"store i64 {extent}, ptr {self.alloca(target)}")
            case hir.Keep():
                self._keep(statement)
            case hir.Draw():
                self._draw(statement)
            case hir.Redraw():
                self._redraw(statement)
            case hir.Read():
                self._read(statement)
            case hir.Write():
                self._write(statement)
            case hir.Copy():
                self._copy(statement)
            case hir.Primitive():
                self._primitive(statement)
            case hir.NewNode(target=target):
                node = self.word(Word.NODES)
                where = self.let(f"getelementptr i64, ptr %ctx, i64 {Word.NODES:d}")
                self.add(f"store i64 {self.let(f'add i64 {node}, 1')}, ptr {where}, !tbaa !1")
                self.add(f"store i64 {node}, ptr {self.alloca(target)}")
            case _:
                raise TypeError(f"no machine code for {type(statement).__name__}")
        return True

    def results(self) -> list[Kind]:
        assert self.function_ is not None
        return self.function_.results

    def _if(self, test: str, then: Body, orelse: Body) -> bool:
        yes, no, after = self.label("then"), self.label("else"), self.label("after")
        self.add(f"br i1 {test}, label %{yes}, label %{no}")
        reached = False
        for label, body in ((yes, then), (no, orelse)):
            self.start(label)
            if self.body(body):
                self.add(f"br label %{after}")
                reached = True
        if reached:
            self.start(after)
        return reached

    # --- loops ------------------------------------------------------------------------------------------

    def plain_loop(self, statement: hir.For) -> None:
        """A loop, one iteration after another."""
        with self.counted(statement):
            self.is_open = self.body(statement.body)

    @contextmanager
    def counted(self, statement: hir.For) -> Iterator[None]:
        """A loop over integers, around what is printed of its body."""
        line, counter = statement.line, self.alloca(statement.var)
        start, stop, step = (self.expr(e, line) for e in (statement.start, statement.stop, statement.step))
        head, inside, next_, after = (self.label(hint) for hint in ("head", "loop", "next", "after"))
        position = self.alloca(Var(f".at{self.count}", "i"))
        self.loops[statement.label] = (after, next_)
        mark = self.marked(statement.body)
        self.add(f"store i64 {start}, ptr {position}")
        self.add(f"br label %{head}")
        self.start(head)
        i = self.let(f"load i64, ptr {position}")
        self.add(f"store i64 {i}, ptr {counter}")
        if isinstance(statement.step, Const):
            assert isinstance(statement.step.value, int)
            more = self.let(f"icmp {'slt' if statement.step.value > 0 else 'sgt'} i64 {i}, {stop}")
        else:
            up = self.let(f"icmp sgt i64 {step}, 0")
            below, above = self.let(f"icmp slt i64 {i}, {stop}"), self.let(f"icmp sgt i64 {i}, {stop}")
            more = self.let(f"select i1 {up}, i1 {below}, i1 {above}")
        self.add(f"br i1 {more}, label %{inside}, label %{after}")
        self.start(inside)
        self.is_open = True
        yield
        if self.is_open:
            self.add(f"br label %{next_}")
        self.is_open = True
        self.start(next_)
        self.give_back(mark)
        at = self.let(f"load i64, ptr {position}")
        self.add(f"store i64 {self.let(f'add i64 {at}, {step}')}, ptr {position}")
        self.add(f"br label %{head}")
        self.start(after)

    def _loop(self, statement: hir.Loop) -> bool:
        head, after = self.label("head"), self.label("after")
        next_ = self.label("next")
        self.loops[statement.label] = (after, next_)
        mark = self.marked(statement.body)
        self.add(f"br label %{head}")
        self.start(head)
        if self.body(statement.body):
            self.add(f"br label %{next_}")
        self.start(next_)
        self.give_back(mark)
        self.add(f"br label %{head}")
        left = any(isinstance(s, hir.Leave) and s.label == statement.label for s in hir.walk(statement.body))
        if left:
            self.start(after)
        return left

    def marked(self, body: Body) -> str | None:
        """The end of the arena before an iteration, if what it makes can be given back."""
        makes = any(isinstance(s, (hir.New, hir.Fill, hir.Append)) for s in hir.walk(body))
        calls = any(isinstance(s, hir.Call) and "r" in s.function.results for s in hir.walk(body))
        if not (makes or calls) or _keeps(body, self.keeping):
            return None
        made = {
            t
            for s in hir.walk(body)
            if isinstance(s, (hir.New, hir.Fill, hir.Load, hir.Call))
            for t in hir.targets(s)
        }
        for statement in hir.walk(body):
            for target in hir.targets(statement):
                if isinstance(statement, hir.Set) and target.kind == "r" and target not in made:
                    return None
        return self.word(Word.NEXT)

    def give_back(self, mark: str | None) -> None:
        if mark is not None:
            self.add(f"store i64 {mark}, ptr %ctx, !tbaa !1")

    # --- functions --------------------------------------------------------------------------------------

    def call(self, targets: list[Var], function: Function, args: list[Expr], line: int) -> None:
        """A call of a function of the text."""
        given = [f"{TYPES[arg.kind]} {self.expr(arg, line)}" for arg in args]
        self._called(targets, self.symbol(function), result_type(function), given)

    def symbol(self, function: Function) -> str:
        """What a function is called here."""
        return function.symbol or f"{OF_TEXT}{function.name}"
