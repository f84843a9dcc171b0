"""HIR as Python text: what `source_of` shows, what a debugger steps through, and what runs where there is
no LLVM.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import CodeType
from typing import TYPE_CHECKING, Any

from gendsl.compiler import hir
from gendsl.compiler.hir import Body, Const, Expr, Function, Input, Op, Var
from gendsl.compiler.hir.operations import NAMES
from gendsl.compiler.hir.slopes import SYMBOLS
from gendsl.compiler.passes.clean import ends
from gendsl.compiler.python.numpy_runtime import lanes
from gendsl.compiler.python.slopes_runtime import RUNS

if TYPE_CHECKING:
    from gendsl.compiler.passes.axes import Axes

TEXT = "<gendsl text>"
"""What tracebacks call a text."""
_INFIX = {
    "add": ("+", 11), "sub": ("-", 11), "mul": ("*", 12), "truediv": ("/", 12), "floordiv": ("//", 12),
    "mod": ("%", 12), "lt": ("<", 6), "le": ("<=", 6), "gt": (">", 6), "ge": (">=", 6), "eq": ("==", 6),
    "ne": ("!=", 6), "and": ("and", 4), "or": ("or", 3), "bitand": ("&", 9), "bitor": ("|", 7), "bitxor":
    ("^", 8),
    "lshift": ("<<", 10), "rshift": (">>", 10), "same": ("is", 6),
}  # fmt: skip
_CALLS = {
    "float": "float", "detached": "float", "bool": "bool", "int": "int", "int_trunc": "int", "int_floor":
    "floor", "int_ceil": "ceil", "int_round": "round", "imin": "min", "imax": "max", "abs": "abs", "pow":
    "power",
}  # fmt: skip


def literal(value: Any) -> str:
    """A number as Python text."""
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if value != value else "inf" if value > 0 else "-inf"
    return repr(value)


def input_name(given: Input) -> str:
    """The name of an object from outside."""
    return f"given_{given.number}_{given.leaf}{'_d' if given.tangents else ''}"


def drawn(name: str, args: list[str]) -> str:
    """A call of a method of the generator."""
    call = f"state.rng.{name}({', '.join(args)})"
    return f"int({call})" if name == "integers" else call


class PythonPrinter:
    """Prints functions as Python text."""

    def __init__(
        self,
        notes: Mapping[str, str],
        axes: Axes | None = None,
        at_once: Mapping[int, tuple[str, str, list[str]]] | None = None,
    ) -> None:
        self.notes, self.axes, self.at_once = notes, axes, at_once or {}
        self.lines: list[str] = []
        self.indent = 0
        self.loops: list[tuple[int, str]] = []
        self.crossed: set[str] = set()
        self.comment = 0

    def line(self, text: str, at: int = 0, note: str = "") -> None:
        """Add a line, with the user's line as a comment where that changes, and a note."""
        written = "    " * self.indent + text
        comment = [note] if note else []
        if at and at != self.comment and len(written) < 90:
            comment.insert(0, str(at))
            self.comment = at
        self.lines.append(f"{written}  # {', '.join(comment)}" if comment else written)

    # --- expressions ------------------------------------------------------------------------------

    def expr(self, expr: Expr, outer: int = 0) -> str:
        """An expression, in brackets where what is around binds more tightly."""
        match expr:
            case Const(value=value):
                text = literal(value)
                return f"({text})" if text.startswith("-") and outer > 11 else text
            case Var(name=name):
                return name
            case Input():
                return input_name(expr)
        name, args = expr.name, expr.args
        if name == "np_div" and isinstance(args[1], Const) and args[1].value:
            name = "truediv"
        if name in _INFIX:
            sign, level = _INFIX[name]
            if level == 6 and any(isinstance(a, Op) and _INFIX.get(a.name, ("", 0))[1] == 6 for a in args):
                left, right = self.expr(args[0], 7), self.expr(args[1], 7)
            else:
                left, right = self.expr(args[0], level), self.expr(args[1], level + 1)
            text = f"{left} {sign} {right}"
            return f"({text})" if level < outer else text
        if name == "neg":
            text = f"-{self.expr(args[0], 13)}"
            return f"({text})" if outer > 11 else text
        if name == "not":
            text = f"not {self.expr(args[0], 5)}"
            return f"({text})" if outer > 5 else text
        if name == "select":
            text = f"{self.expr(args[1], 3)} if {self.expr(args[0], 3)} else {self.expr(args[2], 2)}"
            return f"({text})" if outer > 1 else text
        if name == "range_length":
            return f"len(range({', '.join(map(self.expr, args))}))"
        called = _CALLS.get(name, name)
        return f"{called}({', '.join(self.expr(arg) for arg in args)})"

    def index(self, indices: tuple[Expr, ...]) -> str:
        """The indices of a choice."""
        found = ", ".join(map(self.expr, indices))
        return found if len(indices) == 1 else f"({found})"

    def item(self, layout: tuple[str, ...], item: tuple[Expr, ...]) -> str:
        """An item of a list."""
        if len(layout) == 1:
            return self.expr(item[0])
        return f"({', '.join(map(self.expr, item))}{',' if len(item) == 1 else ''})" if item else "()"

    # --- statements -------------------------------------------------------------------------------

    def function(self, function: Function) -> None:
        """A function; of one that is only declared, where it is."""
        if function.symbol:
            name = function.symbol.removeprefix(SYMBOLS)
            self.lines += [f"{function.name} = slopes.{name}  # {function.origin}", ""]
            return
        self.crossed = set()
        self.comment = 0
        parameters = ", ".join(["state", *(var.name for var in function.parameters)])
        head = f"def {function.name}({parameters}):"
        self.line(f"{head}  # {function.origin}" if function.origin else head)
        self.indent += 1
        start = len(self.lines)
        for name in self._not_set(function):
            self.line(f"{name} = None")
        if function.linear is not None:
            self._linear(function.linear, [var.name for var in function.parameters])
        self.body(function.body)
        if len(self.lines) == start:
            self.line("pass")
        self.indent -= 1
        self.lines.append("")

    def _not_set(self, function: Function) -> list[str]:
        """The variables that may not be set where a loop is tried at once."""
        loops = [self.at_once[id(one)] for one in hir.walk(function.body) if id(one) in self.at_once]
        return sorted({name for _, _, unset in loops for name in unset})

    def _linear(self, linear: hir.Linear, parameters: list[str]) -> None:
        """What BLAS and LAPACK compute in place of what follows."""
        flags = [f"{name}={value}" for name, value in linear.flags]
        given = ", ".join([repr(linear.name), repr(linear.ranks), *parameters, *flags])
        self.line(f"if by_lapack := lapack({given}): return by_lapack  # where it is large")

    def body(self, body: Body) -> None:
        for statement in body:
            self.statement(statement)

    def _inner(self, body: Body) -> None:
        self.indent += 1
        start = len(self.lines)
        self.body(body)
        if len(self.lines) == start:
            self.line("pass")
        self.indent -= 1

    def statement(self, statement: hir.Statement) -> None:
        """A statement."""
        at = statement.line
        match statement:
            case hir.Set(targets=targets, values=values):
                self._set(targets, values, at)
            case hir.New(target=target, layout=layout, items=items):
                self.line(f"{target.name} = [{', '.join(self.item(layout, item) for item in items)}]", at)
            case hir.Fill(target=target, layout=layout, count=count, item=item):
                self.line(f"{target.name} = [{self.item(layout, item)}] * {self.expr(count, 13)}", at)
            case hir.Length(target=target, list=ref):
                self.line(f"{target.name} = len({self.expr(ref)})", at)
            case hir.Load(targets=targets, list=ref, index=index, layout=layout):
                names = ", ".join(var.name for var in targets)
                comma = "," if len(targets) == 1 and len(layout) != 1 else ""
                self.line(f"{names}{comma} = {self.expr(ref, 14)}[{self.expr(index)}]", at)
            case hir.Store(list=ref, index=index, layout=layout, item=item):
                self.line(f"{self.expr(ref, 14)}[{self.expr(index)}] = {self.item(layout, item)}", at)
            case hir.Append(list=ref, layout=layout, item=item):
                self.line(f"{self.expr(ref, 14)}.append({self.item(layout, item)})", at)
            case hir.Truncate(list=ref, count=count):
                self.line(f"del {self.expr(ref, 14)}[{self.expr(count)}:]", at)
            case hir.Call(targets=targets, function=function, args=args):
                call = f"{function.name}({', '.join(['state', *map(self.expr, args)])})"
                names = ", ".join(var.name for var in targets)
                self.line(f"{names} = {call}" if targets else call, at)
            case hir.Visit(targets=targets, template=template, indices=indices):
                names = ", ".join(var.name for var in targets)
                where = ", ".join(map(self.expr, indices)) or "()"
                self.line(f"{names} = state.{template.name}[{where}]", at)
            case hir.Read(targets=targets, template=template, indices=indices, followed=followed):
                names = ", ".join(var.name for var in targets)
                how = "read" if followed else "look"
                how = f"{how}_pivot" if statement.is_pivot else how
                how = f"{how}_slopes" if statement.tangents else how
                self.line(f"{names} = state.{template.name}.{how}({self.index(indices)})", at)
            case hir.Present(target=target, template=template, indices=indices):
                self.line(f"{target.name} = state.{template.name}.has({self.index(indices)})", at)
            case hir.Count(target=target, template=template, indices=indices):
                self.line(f"{target.name} = state.{template.name}.count_below({self.index(indices)})", at)
            case hir.Node(target=target, template=template, indices=indices, made=made):
                how = "call" if made else "node"
                self.line(f"{target.name} = state.{template.name}.{how}({self.index(indices)})", at)
            case hir.Extent(target=target, template=template, axis=axis):
                self.line(f"{target.name} = state.{template.name}.extent({axis})", at)
            case hir.Write(template=template, indices=indices, values=values):
                given = ", ".join([self.index(indices), *map(self.expr, values)])
                how = "write_slopes" if statement.tangents else "write"
                how = "write_pivot" if statement.is_pivot else how
                self.line(f"state.{template.name}.{how}({given})", at)
            case hir.Copy(target=target, template=template, indices=indices, source=source):
                here = f"state.{source.name}, {self.index(statement.source_indices)}"
                self.line(f"{target.name} = state.{template.name}.copy({self.index(indices)}, {here})", at)
            case hir.Given(target=target, template=template, indices=indices):
                where = ", ".join(map(self.expr, indices)) or "()"
                tested = f"({where})" if len(indices) > 1 else where
                self.line(f"{target.name} = {tested} in state.{template.name}", at)
            case hir.Keep(template=template, indices=indices, values=values):
                where = ", ".join(map(self.expr, indices)) or "()"
                self.line(f"state.{template.name}[{where}] = {', '.join(map(self.expr, values)) or None}", at)
            case hir.Redraw(template=template, indices=indices, values=values):
                given = ", ".join([self.index(indices), *map(self.expr, values)])
                self.line(f"state.{template.name}.redraw({given})", at)
            case hir.Draw(target=target, name=name, args=args):
                self.line(f"{target.name} = {drawn(name, [self.expr(arg) for arg in args])}", at)
            case hir.NewNode(target=target):
                self.line(f"{target.name} = state.new_node()", at)
            case hir.Primitive(targets=targets, name=name, args=args):
                call = f"state.{name}({', '.join(self._primitive(statement))})"
                names = ", ".join(var.name for var in targets)
                meaning = f"  # {self.notes[name]}" if name in self.notes else ""
                self.line((f"{names} = {call}" if targets else call) + meaning, at)
            case hir.Choice(targets=targets, template=template):
                self.line(f"{', '.join(var.name for var in targets)} = choice({template.parts})", at)
            case hir.Return(values=values):
                found = ", ".join(map(self.expr, values))
                self.line(f"return {found}" if values else "return", at)
            case hir.Fail(reason=reason):
                self.line(f"fail({reason!r})", at)
            case hir.If():
                self._if(statement, "if")
            case hir.For() | hir.Loop() | hir.Block():
                self._loop(statement)
            case hir.Leave(label=label):
                self._leave(label, "left")
            case hir.Next(label=label):
                self._leave(label, "next")

    def _primitive(self, statement: hir.Primitive) -> list[str]:
        """The arguments of an operation of the state."""
        return [
            *(f"state.{template.name}" for template in statement.templates),
            *map(self.expr, statement.args),
        ]

    def _set(self, targets: list[Var], values: list[Expr], at: int) -> None:
        from gendsl.compiler.hir.rewriting import variables_of

        pairs = list(zip(targets, values, strict=True))
        independent = not any(
            target in variables_of(value)
            for i, (target, _) in enumerate(pairs)
            for _, value in pairs[i + 1 :]
        )
        if independent:
            for target, value in pairs:
                self.line(self._assignment(target, value), at)
            return
        names = ", ".join(target.name for target, _ in pairs)
        self.line(f"{names} = {', '.join(self.expr(value, 2) for _, value in pairs)}", at)

    def _assignment(self, target: Var, value: Expr) -> str:
        match value:
            case Op(name="add" | "sub" | "mul" as name, args=(first, second)) if first == target:
                return f"{target.name} {_INFIX[name][0]}= {self.expr(second)}"
        return f"{target.name} = {self.expr(value)}"

    def _if(self, statement: hir.If, word: str) -> None:
        test, then, orelse = statement.test, statement.then, statement.orelse
        if not then and orelse:
            test, then, orelse = Op("not", (test,), "b"), orelse, []
        if isinstance(test, Op) and test.name == "not" and orelse:
            test, then, orelse = test.args[0], orelse, then
        if len(then) == 1 and isinstance(then[0], hir.Fail) and not orelse and word == "if":
            self.line(f"if {self.expr(test)}: fail({then[0].reason!r})", statement.line)
            return
        self.line(f"{word} {self.expr(test)}:", statement.line)
        self._inner(then)
        if not orelse:
            return
        if ends(then) and word == "if":
            self.body(orelse)
            return
        if len(orelse) == 1 and isinstance(orelse[0], hir.If):
            self._if(orelse[0], "elif")
            return
        self.line("else:")
        self._inner(orelse)

    def _loop(self, statement: hir.For | hir.Loop | hir.Block) -> None:
        label = statement.label
        crossed = {kind for kind in ("left", "next") if self._crosses(statement.body, label, kind)}
        for kind in sorted(crossed):
            self.line(f"{kind}_{label} = False")
        self.crossed |= {f"{kind}_{label}" for kind in crossed}
        body = statement.body
        match statement:
            case hir.For(var=var, start=start, stop=stop, step=step):
                parts = [stop] if start == Const(0, "i") and step == Const(1, "i") else [start, stop]
                if step != Const(1, "i"):
                    parts.append(step)
                if id(statement) in self.at_once:
                    call, left, unset = self.at_once[id(statement)]
                    at = Var(left, "i")
                    count = stop if start == Const(0, "i") else Op("sub", (stop, at), "i")
                    self.line(f"{left} = {self.expr(start)}")
                    known = f" and None not in [{', '.join(unset)}]" if unset else ""
                    self.line(f"if {self.expr(count, 7)} >= lanes.SHORT{known}: {call}")
                    parts = [at, stop]
                note = "" if self.axes is None else self.axes.note(statement)
                head = f"for {var.name} in range({', '.join(map(self.expr, parts))}):"
                self.line(head, statement.line, note)
            case hir.Loop():
                first = body[0] if body else None
                if (
                    isinstance(first, hir.If)
                    and not first.orelse
                    and len(first.then) == 1
                    and isinstance(first.then[0], hir.Leave)
                    and first.then[0].label == label
                ):
                    test = first.test
                    shown = (
                        test.args[0]
                        if isinstance(test, Op) and test.name == "not"
                        else Op("not", (test,), "b")
                    )
                    self.line(f"while {self.expr(shown)}:", statement.line)
                    body = body[1:]
                else:
                    self.line("while True:", statement.line)
            case _:
                self.line("while True:  # once")
        self.loops.append((label, "block" if isinstance(statement, hir.Block) else "loop"))
        self.indent += 1
        start_line = len(self.lines)
        self.body(body)
        if isinstance(statement, hir.Block) and not ends(body):
            self.line("break")
        if len(self.lines) == start_line:
            self.line("pass")
        self.indent -= 1
        self.loops.pop()
        # what was left from inside goes on leaving
        for outer, _ in reversed(self.loops):
            for kind in ("left", "next"):
                if f"{kind}_{outer}" in self.crossed and self._mentions(statement.body, outer, kind):
                    innermost = self.loops[-1][0] == outer
                    self.line(f"if {kind}_{outer}:")
                    self.indent += 1
                    if innermost:
                        self.line(f"{kind}_{outer} = False")
                    self.line("continue" if innermost and kind == "next" else "break")
                    self.indent -= 1

    def _mentions(self, body: Body, label: int, kind: str) -> bool:
        wanted = hir.Leave if kind == "left" else hir.Next
        return any(isinstance(s, wanted) and s.label == label for s in hir.walk(body))

    def _crosses(self, body: Body, label: int, kind: str) -> bool:
        """Whether a loop is left, or goes on, from inside of another loop in it."""
        for statement in hir.walk(body):
            if isinstance(statement, (hir.For, hir.Loop, hir.Block)) and self._mentions(
                statement.body, label, kind
            ):
                return True
        return False

    def _leave(self, label: int, kind: str) -> None:
        if self.loops and self.loops[-1][0] == label:
            self.line("break" if kind == "left" else "continue")
            return
        self.line(f"{kind}_{label} = True")
        self.line("break")


def print_python(*mains: Function, notes: Mapping[str, str] | None = None, axes: Axes | None = None) -> str:
    """Functions, and all that they call, as Python text.

    Args:
        notes: comments for the operations of the state, by name.
        axes: which loops run in lanes as machine code, for comments.
    """
    printer = PythonPrinter(notes or {}, axes)
    for function in _functions(mains):
        printer.function(function)
    return "\n".join(printer.lines)


def name_apart(mains: Sequence[Function]) -> None:
    """Give functions, and all that they call, names that no variable and no other function has."""
    functions = _functions(mains)
    taken = {var.name for f in functions for var in f.parameters}
    taken |= {var.name for f in functions for s in hir.walk(f.body) for var in hir.targets(s)}
    taken |= {*NAMES, "lanes"}
    for function in functions:
        while function.name in taken:
            function.name += "_"
        taken.add(function.name)


def _functions(mains: Sequence[Function]) -> list[Function]:
    return list({id(one): one for main in mains for one in hir.functions(main)}.values())


def compiled_python(text: str) -> CodeType:
    """What Python makes of a text."""
    return compile(text, TEXT, "exec")


def run_python(code: CodeType, given: dict[str, Any]) -> dict[str, Any]:
    """The functions of a text, with what it is given."""
    namespace: dict[str, Any] = {**NAMES, "lanes": lanes, "slopes": RUNS, **given}
    exec(code, namespace)
    return namespace


def compile_python(text: str, given: dict[str, Any]) -> dict[str, Any]:
    """The functions of a text, at once."""
    return run_python(compiled_python(text), given)
