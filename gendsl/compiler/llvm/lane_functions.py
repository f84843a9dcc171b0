"""Functions that are called in lanes, in LLVM IR; see `lanes`."""

from __future__ import annotations

from abc import abstractmethod

from gendsl.compiler import hir
from gendsl.compiler.hir import Body, Expr, Function, Var
from gendsl.compiler.llvm.lane_lists import LaneLists
from gendsl.compiler.llvm.lane_values import VECTORS
from gendsl.compiler.llvm.statements import Statements
from gendsl.compiler.llvm.text import OF_TEXT, TYPES
from gendsl.compiler.llvm.vector_math import INTEGERS
from gendsl.compiler.llvm.writer import Work
from gendsl.compiler.passes.axes_facts import CONSECUTIVE, VARYING, Lanes, Path
from gendsl.compiler.passes.signs import Signs


class LaneFunctions(LaneLists):
    """Writes functions, and calls of them.

    Attributes:
        names: of the functions that were called, by their identities and the ranks of their arguments.
        waiting: those that are still to be written.
        returned: where the results are kept, where some lanes return before others.
        gone: for the loops and blocks that lanes leave, by their labels, which lanes have left it, or an
            iteration.
    """

    def __init__(self, to: Statements) -> None:
        super().__init__(to)
        self.names: dict[tuple[int, tuple[int, ...]], str] = {}
        self.waiting: list[tuple[Function, tuple[int, ...], Lanes]] = []
        self.returned: list[Var] = []
        self.gone: dict[int, tuple[Var, Var]] = {}

    @abstractmethod
    def body(self, body: Body) -> None:
        """Write statements."""

    def _call(self, call: hir.Call, path: Path) -> None:
        found = self.lanes.called[id(call)]
        if found is None:
            self.to.statement(call)
            self._also_varying(call, path)
            return
        function, ranks, lanes = found
        given = [f"{INTEGERS} {self.mask()}"]
        for arg, rank in zip(call.args, ranks, strict=True):
            if rank == VARYING:
                type_ = self._memory(arg.kind)
                value = self.vector(arg, call.line)
                given.append(f"{type_} {self._kept(value) if arg.kind == 'b' else value}")
            elif rank == CONSECUTIVE:
                given.append(f"i64 {self.first(arg, call.line)}")
            else:
                given.append(f"{TYPES[arg.kind]} {self.to.expr(arg, call.line)}")
        name, type_ = self._name(function, ranks, lanes), _result_type(function, lanes)
        results = self.to.results_of(name, type_, given, len(call.targets))
        for target, rank, value in zip(call.targets, lanes.results, results, strict=True):
            if rank == VARYING:
                self._set(target, self._bits(value) if target.kind == "b" else value, path)
            elif self.lanes.rank(target) == VARYING:
                value = self._count_from(value) if rank == CONSECUTIVE else self._spread(value, target.kind)
                self._set(target, value, path)
            else:
                self.to.add(f"store {TYPES[target.kind]} {value}, ptr {self.to.alloca(target)}")

    def _name(self, function: Function, ranks: tuple[int, ...], lanes: Lanes) -> str:
        key = id(function), ranks
        if key not in self.names:
            self.names[key] = f"{OF_TEXT}{function.name}.lanes{len(self.names)}"
            self.waiting.append((function, ranks, lanes))
        return self.names[key]

    def functions(self, most: int) -> None:
        """Print the functions that were called in lanes, and those that these call."""
        while self.waiting:
            function, ranks, lanes = self.waiting.pop()
            self.to.call_line = self.to.call_lines.get(id(function), 0)
            self._define(function, ranks, lanes, most)

    def _define(self, function: Function, ranks: tuple[int, ...], lanes: Lanes, most: int) -> None:
        parameters = [f"{INTEGERS} %mask"]
        for i, (var, rank) in enumerate(zip(function.parameters, ranks, strict=True)):
            type_ = self._memory(var.kind) if rank == VARYING else TYPES[var.kind]
            parameters.append(f"{type_} %p{i}")

        def emit() -> None:
            self._set_mask("%mask")
            for i, (var, rank) in enumerate(zip(function.parameters, ranks, strict=True)):
                if rank == VARYING:
                    self.to.add(f"store {self._memory(var.kind)} %p{i}, ptr {self._place(var)}")
                    if var.kind == "r":
                        self.look_at(var, f"%p{i}", blended=False)
                else:
                    self.to.add(f"store {TYPES[var.kind]} %p{i}, ptr {self.to.alloca(var)}")
                    if lanes.rank(var) == VARYING:  # it is set to something else later
                        value = self._count_from(f"%p{i}") if rank else self._spread(f"%p{i}", var.kind)
                        self.assign(var, value, blended=False)
            self.body(function.body)
            if lanes.returns_apart:
                self._end()
            else:
                self.to.add("unreachable")

        self.lanes, self.gone = lanes, {}
        self.returned = [Var(f".result{i}", kind) for i, kind in enumerate(function.results)]
        name = self.names[id(function), ranks]
        self.to.define(
            name, ", ".join(parameters), _result_type(function, lanes), emit, most,
            work=Work.MUCH, signs=Signs(function),
        )  # fmt: skip

    def _return(self, values: list[Expr], line: int) -> bool:
        if self.lanes.returns_apart:
            vectors = [self.vector(value, line) for value in values]
            for var, one in zip(self.returned, vectors, strict=True):
                self.assign(var, one, blended=True)
            self._stop()
            return True
        given = []
        for value, rank in zip(values, self.lanes.results, strict=True):
            if rank == VARYING:
                vector = self.vector(value, line)
                given.append((self._memory(value.kind), self._kept(vector) if value.kind == "b" else vector))
            elif rank == CONSECUTIVE and self.lanes.rank(value) == CONSECUTIVE:
                given.append(("i64", self.first(value, line)))
            else:
                given.append((TYPES[value.kind], self.to.expr(value, line)))
        self._give(given)
        return False

    def _end(self) -> None:
        given = []
        for var in self.returned:
            type_ = self._memory(var.kind)
            given.append((type_, self._let(f"load {type_}, ptr {self._place(var)}")))
        self._give(given)

    def _give(self, values: list[tuple[str, str]]) -> None:
        type_, result = self.to.result_type, "zeroinitializer"
        for i, (kind, value) in enumerate(values):
            result = self._let(f"insertvalue {type_} {result}, {kind} {value}, {i + 1}")
        self.to.add(f"ret {type_} {result}")


def _result_type(function: Function, lanes: Lanes) -> str:
    """What a function in lanes returns: the status and the results."""
    types = [
        (INTEGERS if kind == "b" else VECTORS[kind]) if rank == VARYING else TYPES[kind]
        for kind, rank in zip(function.results, lanes.results, strict=True)
    ]
    return f"{{{', '.join(['i32', *types])}}}"
