"""Functions of LLVM IR: values, variables, blocks, loops, words of the context, and failures."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum

from gendsl.compiler.hir import Kind, Var
from gendsl.compiler.llvm.native_layout import FAILED, Layout, Word
from gendsl.compiler.llvm.text import TEMPLATE_TAG, TYPES
from gendsl.compiler.passes.signs import Signs

SHORT, LONG = 20, 100
"""How many lines a function has that is inlined everywhere; and one that is inlined if it is called in loops.
LLVM works on an inlined function once for each caller.
"""


NOTHING_KNOWN = Signs()


class Work(Enum):
    """How much LLVM does for a function, as attributes of it; see `native`."""

    MOST = " hot"
    """What it does for loops over data in order, too."""
    MUCH = ""
    """Good machine code: for what runs in lanes, or many times in a step."""
    LEAST = ' "brief"'
    """Machine code in little time: for what runs once in a step."""


def _symbol(name: str) -> str:
    """A name of a function, which is quoted if LLVM doesn't take it as it is."""
    if name.isascii():
        return name
    shown = (chr(one) if one < 128 else f"\\{one:02X}" for one in name.encode())
    return f'"{"".join(shown)}"'


class Writer:
    """Writes functions, one at a time.

    Attributes:
        layout: where things lie in the context.
        out: the lines.
        loops: for each loop of the function, by its label, the blocks after it and of its next iteration.
        sites: the line and reason of each place where a function may fail.
        declared: functions of numbers that are called, with how many they take.
        drawn: the methods of generators that are called.
        call_lines: for each function that is called in one line of the programs alone, that line.
        call_line: that of the function that is written, for what has no line itself; 0 of others.
        signs: what is known of the integers of the function that is written.
        is_shared: whether it writes what several texts call.
        is_exact: whether functions of numbers are called as they are, and nothing else gives their values.
    """

    is_shared = is_exact = False
    call_line = 0

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.out: list[str] = []
        self.count = 0
        self.allocas: dict[Var, str] = {}
        self.loops: dict[int, tuple[str, str]] = {}
        self.sites: list[tuple[int, str]] = []
        self.call_lines: dict[int, int] = {}
        self.declared: dict[str, int] = {}
        self.drawn: set[str] = set()
        self.result_type = ""
        self.signs = Signs()
        self.block = ""
        self.failing: list[tuple[str, str]] = []
        self.leaving: list[tuple[str, str]] = []

    # --- values and variables ---------------------------------------------------------------------

    def add(self, text: str) -> None:
        """Add an instruction."""
        self.out.append(f"  {text}")

    def new(self) -> str:
        """A new name of a value."""
        self.count += 1
        return f"%v{self.count}"

    def label(self, hint: str = "b") -> str:
        """A new name of a block."""
        self.count += 1
        return f"{hint}{self.count}"

    def let(self, text: str) -> str:
        """A new value."""
        name = self.new()
        self.add(f"{name} = {text}")
        return name

    def alloca(self, var: Var) -> str:
        """Where a variable lies."""
        if var not in self.allocas:
            self.allocas[var] = f"%x{len(self.allocas)}"
        return self.allocas[var]

    def variable(self, name: str, kind: Kind = "i", first: str = "0") -> str:
        """Where a new variable lies, which has a value first."""
        where = self.alloca(Var(f".{name}{len(self.allocas)}", kind))
        self.add(f"store {TYPES[kind]} {first}, ptr {where}")
        return where

    def add_to(self, where: str, value: str) -> None:
        """Add to an integer variable."""
        before = self.let(f"load i64, ptr {where}")
        self.add(f"store i64 {self.let(f'add i64 {before}, {value}')}, ptr {where}")

    def flag(self, test: str) -> str:
        """A truth value as an integer."""
        return self.let(f"zext i1 {test} to i64")

    def pointed(self, address: str) -> str:
        """The pointer of an address."""
        return self.let(f"inttoptr i64 {address} to ptr")

    # --- blocks -----------------------------------------------------------------------------------

    def start(self, label: str) -> None:
        """Start a block."""
        self.out.append(f"{label}:")
        self.block = label

    @contextmanager
    def each(self, count: str, first: str = "0") -> Iterator[str]:
        """A loop over the integers from one to below another."""
        counter = self.alloca(Var(f".each{self.count}", "i"))
        head, inside, after = self.label("head"), self.label("each"), self.label("after")
        self.add(f"store i64 {first}, ptr {counter}")
        self.add(f"br label %{head}")
        self.start(head)
        i = self.let(f"load i64, ptr {counter}")
        self.add(f"br i1 {self.let(f'icmp slt i64 {i}, {count}')}, label %{inside}, label %{after}")
        self.start(inside)
        yield i
        self.add(f"store i64 {self.let(f'add i64 {i}, 1')}, ptr {counter}")
        self.add(f"br label %{head}")
        self.start(after)

    @contextmanager
    def when(self, test: str) -> Iterator[None]:
        """What is done where a test holds."""
        yes, after = self.label("when"), self.label("after")
        self.add(f"br i1 {test}, label %{yes}, label %{after}")
        self.start(yes)
        yield
        self.add(f"br label %{after}")
        self.start(after)

    # --- words of the context ---------------------------------------------------------------------

    def word(self, index: int, kind: Kind = "i") -> str:
        """A word of the context."""
        where = self.let(f"getelementptr i64, ptr %ctx, i64 {int(index)}")
        tag = self._tag(index)
        if kind == "b":
            return self.let(f"trunc i64 {self.let(f'load i64, ptr {where}, !tbaa {tag}')} to i1")
        return self.let(f"load {TYPES[kind]}, ptr {where}, !tbaa {tag}")

    def _tag(self, index: int) -> str:
        return "!1" if index < Word.FIRST else TEMPLATE_TAG

    def set_word(self, index: int, value: str, kind: Kind = "i") -> None:
        """Set a word of the context."""
        where = self.let(f"getelementptr i64, ptr %ctx, i64 {int(index)}")
        self.add(f"store {TYPES[kind]} {value}, ptr {where}, !tbaa {self._tag(index)}")

    def count_up(self, index: int) -> None:
        """Add one to a word of the context."""
        self.set_word(index, self.let(f"add i64 {self.word(index)}, 1"))

    def now(self) -> str:
        """The stamp of what is done now."""
        return self.word(Word.NOW)

    # --- functions and failures -------------------------------------------------------------------

    def define(
        self,
        name: str,
        parameters: str,
        result: str,
        emit: Callable[[], None],
        most: int = SHORT,
        *,
        work: Work = Work.LEAST,
        signs: Signs = NOTHING_KNOWN,
    ) -> None:
        """A function that gets the context and other parameters; it is inlined if it has few lines.

        Args:
            work: what LLVM is to do for it.
            signs: what is known of its integers.
        """
        self.allocas, self.loops, self.result_type = {}, {}, result
        self.failing, self.leaving, self.block, self.signs = [], [], "entry", signs
        mark, self.out = self.out, []
        emit()
        self._ends()
        inside, self.out = self.out, mark
        # so that what is read of it in a loop may be read before, even if an iteration would not come to it
        size = Word.FIRST if self.is_shared else self.layout.size
        context = f"ptr align 8 dereferenceable({8 * size}) %ctx"
        given = f"{context}, {parameters}" if parameters else context
        inlined = "alwaysinline" if len(inside) <= most else "noinline"
        linkage = "" if self.is_shared else "internal "
        self.out.append(f"define {linkage}{result} @{_symbol(name)}({given}) {inlined}{work.value} {{")
        self.out.append("entry:")
        for var, where in self.allocas.items():
            self.add(f"{where} = alloca {TYPES[var.kind]}")
            self.add(f"store {TYPES[var.kind]} zeroinitializer, ptr {where}")
        self.out += inside
        self.out.append("}\n")

    def _called(self, targets: list[Var], name: str, type_: str, given: list[str]) -> None:
        """Call a function that returns a status and results, and return the status if it is one."""
        values = self.results_of(name, type_, given, len(targets))
        for target, value in zip(targets, values, strict=True):
            self.add(f"store {TYPES[target.kind]} {value}, ptr {self.alloca(target)}")

    def results_of(self, name: str, type_: str, given: list[str], count: int) -> list[str]:
        """The results of a function that returns a status before them; return the status if it is one."""
        found = self.let(f"call {type_} @{_symbol(name)}({', '.join(['ptr %ctx', *given])})")
        status = self.let(f"extractvalue {type_} {found}, 0")
        good = self.label("ok")
        self.leaving.append((self.block, status))
        self.add(f"br i1 {self.let(f'icmp ne i32 {status}, 0')}, label %leave, label %{good}, !prof !20")
        self.start(good)
        return [self.let(f"extractvalue {type_} {found}, {i + 1}") for i in range(count)]

    def fail_if(self, test: str, reason: str = "", line: int = 0, status: int = FAILED) -> None:
        """Return a status where a test holds."""
        self.leave_or_go_on(test, self.label("ok"), reason, line, status)

    def leave_or_go_on(
        self, test: str, good: str, reason: str = "", line: int = 0, status: int = FAILED
    ) -> None:
        """Return a status where a test holds; go on in a block that starts here."""
        self.add(f"br i1 {test}, label %{self._end_of(reason, line, status)}, label %{good}, !prof !20")
        self.start(good)

    def fail(self, reason: str, line: int, status: int = FAILED) -> None:
        """Return a status."""
        self.add(f"br label %{self._end_of(reason, line, status)}")

    def _end_of(self, reason: str, line: int, status: int) -> str:
        """The block, one for each function, that is gone to where it returns a status."""
        if status != FAILED:
            self.leaving.append((self.block, str(status)))
            return "leave"
        self.failing.append((self.block, self.site(reason, line)))
        return "failed"

    def site(self, reason: str, line: int) -> str:
        """The number of a place that may fail."""
        self.sites.append((line or self.call_line, reason))
        return str(len(self.sites) - 1)

    def fail_at(self, test: str, site: str) -> None:
        """Fail at a place that a caller knows where a test holds."""
        self.failing.append((self.block, site))
        good = self.label("ok")
        self.add(f"br i1 {test}, label %failed, label %{good}, !prof !20")
        self.start(good)

    def _ends(self) -> None:
        """The blocks that a function ends with where it returns a status other than 0."""
        if self.failing:
            incoming = ", ".join(f"[{site}, %{block}]" for block, site in self.failing)
            self.start("failed")
            site = self.let(f"phi i64 {incoming}")
            where = self.let(f"getelementptr i64, ptr %ctx, i64 {Word.SITE:d}")
            self.add(f"store i64 {site}, ptr {where}, !tbaa !1")
            self.leaving.append(("failed", str(FAILED)))
            self.add("br label %leave")
        if self.leaving:
            incoming = ", ".join(f"[{status}, %{block}]" for block, status in self.leaving)
            self.start("leave")
            status = self.let(f"phi i32 {incoming}")
            found = self.let(f"insertvalue {self.result_type} zeroinitializer, i32 {status}, 0")
            self.add(f"ret {self.result_type} {found}")
