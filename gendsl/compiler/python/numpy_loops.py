"""Loops over data as NumPy: functions that make all iterations at once, in Python text.

Which loops these are, and what each variable is over the iterations, is said by `axes`. What has one value
for all of them stays a number; what varies is an array. A branch that some iterations take is made for these,
of what they have, and so is each turn of a loop that some leave before others:

    for i in range(n):                      x = state.x.row(seen, start, stop)
        x = state.x[i]                      yes, no = lanes.sides(x > 0.0)
        if x > 0.0:                         y = None
            y = log(x)                ->    if yes is not None:
        else:                                   x_1 = lanes.pick(x, yes)
            y = 0.0                             y = lanes.put(y, yes, lanes.log(x_1), count)
        lp += y                             ...
                                            return stop, lp + lanes.total(y, count)

Nothing is changed before all is computed, and where anything fails nothing is: the loop as it was then says
what happens. So it stays in the text, for the iterations that are left. Nothing here knows a family, or a
model. The printer of a function is one module, as each kind of node concerns it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gendsl.compiler import hir
from gendsl.compiler.hir import (
    Append,
    Block,
    Body,
    Call,
    Const,
    Expr,
    Fail,
    For,
    Function,
    If,
    Input,
    Leave,
    Load,
    Loop,
    Next,
    Op,
    Return,
    Set,
    Statement,
    Store,
    Truncate,
    Var,
    Visit,
)
from gendsl.compiler.hir.failures import TextFailure
from gendsl.compiler.hir.meetings import Meeting
from gendsl.compiler.hir.rewriting import variables_of
from gendsl.compiler.hir.types import Number
from gendsl.compiler.passes.axes import Axes
from gendsl.compiler.passes.axes_facts import UNIFORM, VARYING, WIDE, Lanes, Path
from gendsl.compiler.passes.axes_variables import exposed, surely_set, term_of
from gendsl.compiler.passes.tails import with_tails
from gendsl.compiler.python.numpy_expressions import (
    WIDEST_VARIABLE,
    Level,
    NotArraysError,
    NumPyExpressions,
    may_raise,
)
from gendsl.compiler.python.numpy_runtime import array
from gendsl.compiler.python.print_python import PythonPrinter, input_name

_MOST_CHOSEN = 4
"""How many variables a branch sets at most that is made by choosing values."""


def print_at_once(*mains: Function, meetings: Iterable[Meeting] = ()) -> str:
    """Functions, and all that they call, as the Python text that runs: with loops over data as NumPy."""
    mains = tuple(with_tails(mains))
    functions = list({id(one): one for main in mains for one in hir.functions(main)}.values())
    loops = NumPyLoops(functions, Axes(mains, meetings, costs=False))
    printer = PythonPrinter({}, at_once=loops.calls)
    for function in functions:
        printer.function(function)
    return "\n".join([*printer.lines, *loops.lines])


class NumPyLoops:
    """The NumPy forms of the loops of functions.

    Attributes:
        calls: for each loop that has one, by its identity, what calls it, the name of the first iteration
            that is left, and the variables that may not be set where no iteration needs them.
        reasons: why others have none.
        lines: the functions that are called.
    """

    def __init__(self, functions: Sequence[Function], axes: Axes) -> None:
        self.axes, self.lines = axes, list[str]()
        self.calls: dict[int, tuple[str, str, list[str]]] = {}
        self.reasons: list[tuple[Function, For, str]] = []
        self.taken = {one.name for one in functions}
        self.clones: dict[tuple[int, tuple[int, ...]], tuple[str, list[str]]] = {}
        self.changed = set().union(*(_changed_inputs(one, axes) for one in functions))
        for function in functions:
            self.taken |= {var.name for var in function.parameters}
            self.taken |= {var.name for one in hir.walk(function.body) for var in hir.targets(one)}
        for function in functions:
            for loop in hir.walk(function.body):
                if isinstance(loop, For) and id(loop) in axes.loops:
                    try:
                        self._print(function, loop)
                    except NotArraysError as error:
                        self.reasons.append((function, loop, str(error)))

    def fresh(self, name: str) -> str:
        """A name that no function and no variable has."""
        made, number = name, 1
        while made in self.taken:
            made, number = f"{name}_{number}", number + 1
        self.taken.add(made)
        return made

    def given(self, ref: Expr, kind: str, part: str) -> str:
        """The name of the array of what is given from outside and never changed; none for another list."""
        if not isinstance(ref, Input) or ref in self.changed:
            return ""
        return f"{input_name(ref)}_{kind}{part.replace(', ', '_')}"

    def _print(self, function: Function, loop: For) -> None:
        wanted: dict[tuple[int, tuple[int, ...]], tuple[str, list[str]]] = {}
        name = self.fresh(f"{function.name}_{loop.line}_at_once" if loop.line else f"{function.name}_at_once")
        printer = _AtOnce(self, self.axes.loops[id(loop)], wanted)
        lines, given = printer.loop(name, loop)
        self.clones |= wanted
        for _, text in wanted.values():
            self.lines += text
        self.lines += lines
        first = self.fresh(f"{loop.var.name}_left")
        plain = PythonPrinter({})
        args = ", ".join(["state", first, plain.expr(loop.stop), *given])
        sums = [var.name for var in printer.sums]
        call = f"{', '.join([first, *sums])} = {name}({args})"
        surely = {var.name for var in (*function.parameters, *surely_set(function.body, loop))}
        self.calls[id(loop)] = call, first, [name for name in given if name not in surely]


class _AtOnce(NumPyExpressions):
    """Prints the function that makes all iterations of a loop, or what a function makes of all of them."""

    def __init__(
        self,
        loops: NumPyLoops,
        lanes: Lanes,
        wanted: dict[tuple[int, tuple[int, ...]], tuple[str, list[str]]],
    ) -> None:
        super().__init__(loops.fresh, lanes)
        self.all, self.lanes, self.wanted = loops, lanes, wanted
        self.divergent = set(lanes.divergent)
        self.results: list[Var] = []
        self.gone: list[tuple[int, Var | None]] = []
        self.after: list[str] = []
        self.sums: list[Var] = []

    # --- functions --------------------------------------------------------------------------------

    def loop(self, name: str, loop: For) -> tuple[list[str], list[str]]:
        """The lines of the function for a loop, and what it is given beside where to start and to stop."""
        self.whole = loop
        inside = {var for one in hir.walk(loop.body) for var in hir.targets(one)}
        read = exposed(loop.body)[0] - {loop.var}
        self.sums = sorted(self.lanes.sums, key=lambda var: var.name)
        outer = sorted(read - self.lanes.sums, key=lambda var: var.name)
        if inside & set(outer):
            raise NotArraysError("what an iteration reads may be set by one before")
        given = [var.name for var in (*self.sums, *outer)]
        self.start, self.stop, self.seen = map(self.fresh, ("start", "stop", "seen"))
        count = self.fresh("count")
        self.levels = [Level((), "lanes.ALL", count, {loop.var: loop.var.name})]
        self.indent = 1
        self.body(loop.body)
        body, self.lines = self.lines, []
        self.indent = 0
        self.line(f"@lanes.adding_to({len(self.sums)})")
        origin = f"  # line {loop.line} for all {loop.var.name} at once" if loop.line else ""
        self.line(f"def {name}({', '.join(['state', self.start, self.stop, *given])}):{origin}")
        self.indent = 1
        self.line(f"{count} = {self.stop} - {self.start}")
        if self.needs_index:
            self.line(f"{loop.var.name} = lanes.arange({self.start}, {self.stop})")
        if any(self.seen in text for text in body):
            self.line(f"{self.seen} = []")
        self.lines += body
        for text in self.after:
            self.line(text)
        if any(self.seen in text for text in body):
            self.line(f"state.see({self.seen})")
        self.line(f"return {', '.join([self.stop, *(var.name for var in self.sums)])}")
        self.lines.append("")
        return self.lines, given

    def clone(self, name: str, function: Function) -> list[str]:
        """The lines of a function that is called with what varies."""
        count = self.fresh("count")
        self.levels = [Level((), "lanes.ALL", count, {})]
        for var in function.parameters:
            if self.ranks.get(var, UNIFORM):
                self.levels[0].names[var] = var.name
        if self.lanes.returns_apart:
            self.results = [Var(self.fresh(f"result_{i}"), kind) for i, kind in enumerate(function.results)]
            for var in self.results:
                self.ranks[var], self.homes[var] = VARYING, ()
        parameters = ", ".join(["state", count, *(var.name for var in function.parameters)])
        self.line(f"def {name}({parameters}):  # {function.origin or function.name}, of all iterations")
        self.indent = 1
        if self.results and not all(isinstance(one, (If, Return)) for one in function.body[-1:]):
            raise NotArraysError(f"{function.name} returns in the middle")
        self.body(function.body)
        if self.results:
            self.line(f"return {', '.join(self.levels[0].names.get(var, 'None') for var in self.results)}")
        elif not function.body:
            self.line("return")
        self.lines.append("")
        return self.lines

    def _called(self, function: Function, ranks: tuple[int, ...], lanes: Lanes) -> str:
        """The name of what makes of all iterations what a function makes of one."""
        key = id(function), ranks
        for known in (self.all.clones, self.wanted):
            if key in known:
                return known[key][0]
        if function.linear is not None:
            raise NotArraysError(f"{function.name} is of matrices")
        name = self.fresh(f"{function.name}_of_all")
        self.wanted[key] = name, []
        printer = _AtOnce(self.all, lanes, self.wanted)
        printer.after = self.after
        lines = printer.clone(name, function)
        self.wanted[key] = name, lines
        return name

    # --- statements -------------------------------------------------------------------------------

    def statement(self, statement: Statement) -> None:
        if id(statement) in self.lanes.exits:
            raise NotArraysError("a loop ends early")
        match statement:
            case Set(targets=targets, values=values):
                self._assign(targets, values)
            case If():
                self._of_if(statement)
            case For() | Loop() | Block():
                self._of_loop(statement)
            case Leave(label=label):
                self._leave_loop(label)
            case Next(label=label):
                if self.gone and self.gone[-1] == (label, None):
                    super().statement(statement)
                else:
                    raise NotArraysError("it goes on from inside of another loop")
            case Return(values=values):
                self._return(values)
            case Call():
                self._call(statement)
            case Visit():
                self._visit(statement)
            case Load():
                self._load(statement)
            case Store() | Append() | Truncate():
                self._change(statement)
            case _:
                for var in hir.targets(statement):
                    self.target(var)
                varies = any(self.rank(expr) for expr in hir.expressions(statement) if expr.kind != "r")
                if varies and not isinstance(statement, (hir.New, hir.Fill)):
                    raise NotArraysError("a statement that has no form for all iterations")
                for var in hir.targets(statement):
                    if self.level.names.get(var, var.name) != var.name:
                        raise NotArraysError("a list of an outer branch is made")
                super().statement(statement)

    def _assign(self, targets: list[Var], values: list[Expr]) -> None:
        sums = self.lanes.sums
        if len(targets) == 1 and targets[0] in sums:
            (var,), term = targets, term_of(Set(targets, values), targets[0])
            assert term is not None
            self.line(f"{var.name} = {var.name} + lanes.total({self.expr(term)}, {self.level.count})")
            return
        if any(
            var.kind == "r"
            and (self.rank(var) or self.rank(value))
            and self.homes.get(var, ()) != self.level.path
            for var, value in zip(targets, values, strict=True)
        ):
            raise NotArraysError("one list or another")
        shown = [self._value(var, value) for var, value in zip(targets, values, strict=True)]
        pairs = list(zip(targets, values, strict=True))
        apart = not any(
            target in variables_of(value)
            for i, (target, _) in enumerate(pairs)
            for _, value in pairs[i + 1 :]
        )
        names = [self.target(var) for var in targets]
        if apart:
            for name, text in zip(names, shown, strict=True):
                self.line(f"{name} = {text}")
        else:
            self.line(f"{', '.join(names)} = {', '.join(shown)}")

    def _value(self, var: Var, value: Expr) -> str:
        if var.kind == "i" and self.rank(var):
            return self.small(value, WIDEST_VARIABLE, 0)
        return self.expr(value)

    def is_wide(self, expr: Expr) -> bool:
        """Whether an expression is integers that vary, and may have many bits."""
        return expr.kind == "i" and self.rank(expr) != UNIFORM

    def item(self, layout: tuple[str, ...], item: tuple[Expr, ...]) -> str:
        shown = [self._narrow(one) for one in item]
        return shown[0] if len(layout) == 1 else f"({', '.join(shown)}{',' if len(item) == 1 else ''})"

    def _narrow(self, expr: Expr) -> str:
        """An expression, whose integers have no more bits than those of arrays."""
        return self.small(expr, WIDEST_VARIABLE, 0) if self.is_wide(expr) else self.expr(expr)

    # --- branches and loops -----------------------------------------------------------------------

    def _of_if(self, branch: If) -> None:
        for side, other, text in (
            (branch.then, branch.orelse, "{}"),
            (branch.orelse, branch.then, "lanes.invert({})"),
        ):
            if side and id(side[0]) in self.lanes.exits:
                test = text.format(self.expr(branch.test))
                if self.level.path == () and self.whole is not None:
                    self.line(f"lanes.stop_where({test})", branch.line)
                else:
                    self.line(f"lanes.fail_where({test}, 'a loop that ends early')", branch.line)
                self.body(other)
                return
        if id(branch) not in self.divergent:
            self._if(branch, "if")
        elif len(branch.then) == 1 and isinstance(branch.then[0], Fail):
            self.line(f"lanes.fail_where({self.expr(branch.test)}, {branch.then[0].reason!r})", branch.line)
            self.body(branch.orelse)
        elif not self._choose(branch):
            self.branch(branch)

    def _if(self, statement: If, word: str) -> None:
        test, then, orelse = statement.test, statement.then, statement.orelse
        if not then:
            test, then, orelse = Op("not", (test,), "b"), orelse, []
        self.line(f"if {self.expr(test)}:", statement.line)
        self._inner(then)
        if orelse:
            self.line("else:")
            self._inner(orelse)

    def _choose(self, branch: If) -> bool:
        """Print a branch as a choice of values, if it does nothing but set few variables to what is cheap."""
        found = self._chosen(branch)
        if not found or len(found) > _MOST_CHOSEN:
            return False
        self._assign(list(found), list(found.values()))
        return True

    def _chosen(self, branch: If) -> dict[Var, Expr] | None:
        if may_raise(branch.test):
            return None
        sides: list[dict[Var, Expr]] = []
        for side in hir.bodies(branch):
            found: dict[Var, Expr] = {}
            for one in side:
                if isinstance(one, Set):
                    new = dict(zip(one.targets, one.values, strict=True))
                elif isinstance(one, If) and id(one) not in self.lanes.exits:
                    nested = self._chosen(one)
                    if nested is None:
                        return None
                    new = nested
                else:
                    return None
                for var, value in new.items():
                    outer = self.homes.get(var, ())[: len(self.level.path) + 1]
                    if var.kind == "r" or var in self.lanes.sums or len(outer) > len(self.level.path):
                        return None
                    if may_raise(value) or variables_of(value) & found.keys():
                        return None
                found |= new
            sides.append(found)
        result: dict[Var, Expr] = {}
        for var in {**sides[0], **sides[1]}:
            values = [side.get(var, var if var in self.level.names else None) for side in sides]
            known = [value for value in values if value is not None]
            result[var] = known[0] if len(known) == 1 else Op("select", (branch.test, *known), var.kind)
        return result

    def branch(self, branch: If) -> None:
        """Both sides of a branch, each for the iterations that take it."""
        test = self.expr(branch.test)
        yes, no = self.fresh("yes"), self.fresh("no")
        self.line(f"{yes}, {no} = lanes.sides({test})", branch.line)
        outer = self.level
        sides = [(yes, branch.then, 0), (no, branch.orelse, 1)]
        for var in self._changed(branch, branch.then + branch.orelse):
            if var not in outer.names:
                self.line(f"{self.target(var)} = None")
        for at, body, side in sides:
            if body:
                self.line(f"if {at} is not None:")
                self._some(at, body, (*outer.path, 2 * id(branch) + side), {})

    def _changed(self, around: Statement, body: Body) -> list[Var]:
        """The variables that vary and that some iterations set, of those that are known outside."""
        paths = [(*self.level.path, 2 * id(around) + side) for side in (0, 1)]
        found = {var for one in hir.walk(body) for var in hir.targets(one)}
        for one in hir.walk(body):
            if isinstance(one, Return):
                found.update(self.results)
            elif isinstance(one, Leave):
                found.update(var for label, var in self.gone if label == one.label and var is not None)
        outside = {
            var
            for var in found - self.lanes.sums
            if self.rank(var) and not any(self.homes.get(var, ())[: len(path)] == path for path in paths)
        }
        return sorted(outside, key=lambda var: var.name)

    def _some(self, at: str, body: Body, path: Path, fixed: dict[Var, str]) -> None:
        """A body for some of the iterations.

        Args:
            fixed: the values of variables that all of these have.
        """
        outer = self.level
        read, sure = exposed(body)
        changed = {
            var
            for one in hir.walk(body)
            for var in hir.targets(one)
            if self.homes.get(var, ())[: len(path)] != path
        }
        self.indent += 1
        level = Level(path, at, self.fresh("count"))
        self.line(f"{level.count} = lanes.size({at}, {outer.count})")
        for var in sorted(read | (changed - (sure or set())), key=lambda var: var.name):
            if self.ranks.get(var, UNIFORM) and var in outer.names and var not in fixed:
                name = level.names[var] = self.fresh(var.name)
                self.line(f"{name} = lanes.pick({self.name(var)}, {at})")
        self.levels.append(level)
        for var, value in fixed.items():
            self.line(f"{self.target(var)} = {value}")
        self.body(body)
        self.levels.pop()
        for var in level.changed:
            before = outer.names.get(var)
            name = self.target(var)
            if before is None:
                raise NotArraysError(f"{var.name} may not be set")
            self.line(f"{name} = lanes.put({before}, {at}, {level.names[var]}, {outer.count})")
        self.indent -= 1

    def _of_loop(self, loop: For | Loop | Block) -> None:
        if isinstance(loop, Block) and id(loop) in self.divergent:
            raise NotArraysError("a block that some iterations leave before others")
        if isinstance(loop, For) and self.rank(loop.var):
            raise NotArraysError("the variable of an inner loop is read behind it")
        if id(loop) not in self.divergent:
            self.gone.append((loop.label, None))
            super()._loop(loop)
            self.gone.pop()
            return
        if any(isinstance(one, Next) and one.label == loop.label for one in hir.walk(loop.body)):
            raise NotArraysError("it goes on from inside of another loop")
        gone = Var(self.fresh("gone"), "b")
        leaves = any(isinstance(one, Leave) and one.label == loop.label for one in hir.walk(loop.body))
        self.ranks[gone], self.homes[gone] = VARYING, self.level.path
        if leaves:
            self.line(f"{self.target(gone)} = False")
        for var in self._changed(loop, loop.body):
            if var not in self.level.names and var is not gone:
                self.line(f"{self.target(var)} = None")
        on = self.fresh("on")
        tests = [f"lanes.invert({self.name(gone)})"] if leaves else []
        if isinstance(loop, For):
            if loop.step != Const(1, "i") or self.rank(loop.start):
                raise NotArraysError("a loop that starts elsewhere in each iteration")
            stop = self.expr(loop.stop)
            if self.rank(loop.stop):
                tests.insert(0, f"({loop.var.name} < {stop})")
                stop = f"lanes.largest({stop})"
            start = "" if loop.start == Const(0, "i") else f"{self.expr(loop.start)}, "
            self.line(f"for {loop.var.name} in range({start}{stop}):", loop.line)
        else:
            self.line("while True:", loop.line)
        self.gone.append((loop.label, gone if leaves else None))
        self.indent += 1
        self.line(f"{on} = lanes.sides({' & '.join(tests) or 'True'})[0]")
        self.line(f"if {on} is None: break")
        self.indent -= 1
        path = (*self.level.path, 2 * id(loop))
        self._some(on, loop.body, path, {gone: "False"} if leaves else {})
        self.gone.pop()

    def _leave_loop(self, label: int) -> None:
        if not self.gone or self.gone[-1][0] != label:
            raise NotArraysError("a loop that is left from inside of another")
        var = self.gone[-1][1]
        if var is None:
            self.line("break")
        else:
            self.line(f"{self.target(var)} = True")

    def _return(self, values: list[Expr]) -> None:
        if self.whole is not None:
            raise NotArraysError("a loop ends early")
        if not self.results:
            found = [self._narrow(one) for one in values]
            self.line(f"return {', '.join(found)}" if values else "return")
            return
        if self.gone:
            raise NotArraysError("a function that returns inside of a loop")
        self._assign(self.results, values)

    # --- calls, choices and lists -----------------------------------------------------------------

    def _call(self, call: Call) -> None:
        found = self.lanes.called[id(call)]
        names = []
        if found is None:
            args = ["state", *map(self.expr, call.args)]
            name = call.function.name
        else:
            function, ranks, lanes = found
            name = self._called(function, ranks, lanes)
            args = ["state", self.level.count]
            for var, arg in zip(function.parameters, call.args, strict=True):
                is_integer = var.kind == "i" and lanes.ranks.get(var, UNIFORM)
                args.append(self.small(arg, WIDEST_VARIABLE, 0) if is_integer else self.expr(arg))
        names = [self.target(var) for var in call.targets]
        text = f"{name}({', '.join(args)})"
        self.line(f"{', '.join(names)} = {text}" if names else text, call.line)

    def _visit(self, visit: Visit) -> None:
        loop = self.whole
        if loop is None or self.level.path or not isinstance(visit.template.type, Number):
            raise NotArraysError("choices that not all iterations make")
        *leading, last = visit.indices
        first, stride = self._affine(last)
        if stride != Const(1, "i") or len(visit.targets) != 1:
            raise NotArraysError("choices whose last index does not count with the loop")
        more = "" if first == Const(0, "i") else f" + {PythonPrinter({}).expr(first, 12)}"
        given = [self.seen, f"{self.start}{more}", f"{self.stop}{more}", *map(self.expr, leading)]
        self.line(
            f"{self.target(visit.targets[0])} = state.{visit.template.name}.row({', '.join(given)})",
            visit.line,
        )

    def _affine(self, expr: Expr) -> tuple[Expr, Expr]:
        """An index as what it is where the loop's variable is 0, and by how much it grows with that."""
        zero, one = Const(0, "i"), Const(1, "i")
        if self.whole is not None and expr == self.whole.var and self.level.path == ():
            return zero, one
        if self.rank(expr) == UNIFORM:
            return expr, zero
        if isinstance(expr, Op) and expr.name in ("add", "sub", "mul"):
            (a, b), (c, d) = map(self._affine, expr.args)
            if expr.name != "mul":
                return _folded(expr.name, a, c), _folded(expr.name, b, d)
            if d == zero:
                return _folded("mul", a, c), _folded("mul", b, c)
            if b == zero:
                return _folded("mul", c, a), _folded("mul", d, a)
        raise NotArraysError("no index that grows evenly")

    def _load(self, load: Load) -> None:
        if self.rank(load.list) == WIDE:
            items = self.name(load.list)  # type: ignore[arg-type]
            if self.rank(load.index):
                index = self.expr(load.index)
                for part, var in enumerate(load.targets):
                    more = f", {part}" if len(load.layout) > 1 else ""
                    found = f"lanes.take_varying({items}, {index}, {self.level.count}{more})"
                    self.line(f"{self.target(var)} = {found}", load.line)
                return
            index = self.expr(load.index)
            names = ", ".join(map(self.target, load.targets))
            comma = "," if len(load.targets) == 1 and len(load.layout) != 1 else ""
            self.line(f"{names}{comma} = {items}[{index}]", load.line)
            return
        if not self.rank(load.index):
            super().statement(load)
            return
        if "r" in load.layout:
            raise NotArraysError("one list or another")
        items = self.expr(load.list, 14)
        try:
            first, stride = self._affine(load.index)
            assert self.whole is not None
            at = _folded("add", first, _folded("mul", stride, Var(self.start, "i")))
            plain = PythonPrinter({})
            how, where = "span", f"{plain.expr(at)}, {plain.expr(stride)}, {self.level.count}"
        except NotArraysError:
            how, where = "take", self.expr(load.index)
        for part, (var, kind) in enumerate(zip(load.targets, load.layout, strict=True)):
            more = f", {part}" if len(load.layout) > 1 else ""
            given = self.all.given(load.list, kind, more)
            text = f"lanes.{how}({given or items}, {where}, {kind!r}{'' if given else more})"
            self.line(f"{self.target(var)} = {text}", load.line)

    def _change(self, one: Store | Append | Truncate) -> None:
        ref = one.list
        if isinstance(one, Store) and one.keeps:
            shown = [self._narrow(leaf) for leaf in one.item]
            given = [self.expr(ref), self.expr(one.index), self.level.count, *shown]
            self.line(f"lanes.keep({', '.join(given)})", one.line)
            return
        if ref in self.lanes.collected or ref in self.lanes.stored:
            if self.level.path or self.gone or self.whole is None:
                raise NotArraysError("not all iterations change a list")
            assert isinstance(one, (Append, Store)) and isinstance(ref, Var)
            items = ref.name
            parts = []
            for leaf in one.item:  # what is kept till the end has a name of its own
                kept = self.fresh("kept")
                text = self.small(leaf, WIDEST_VARIABLE, 0) if leaf.kind == "i" else self.expr(leaf)
                self.line(f"{kept} = {text}", one.line)
                parts.append(kept)
            if isinstance(one, Append):
                self.after.append(f"lanes.extend({items}, {self.level.count}, {', '.join(parts)})")
                return
            uses = [
                use for use in hir.walk(self.whole.body) if isinstance(use, (Load, Store)) and use.list == ref
            ]
            if uses.index(one) < len(uses) - 1:
                raise NotArraysError("a list is changed, and read or changed again")
            first, stride = self._affine(one.index)
            if stride != Const(1, "i"):
                raise NotArraysError("places of a list that are not one behind another")
            at = PythonPrinter({}).expr(_folded("add", first, Var(self.start, "i")))
            self.line(f"lanes.check_span({items}, {at}, {self.level.count})")
            self.after.append(f"lanes.replace({items}, {at}, {self.level.count}, {', '.join(parts)})")
            return
        if isinstance(ref, Var) and self.rank(ref) == WIDE:
            if self.homes.get(ref, ()) != self.level.path:
                raise NotArraysError("a list is changed in some iterations")
            if isinstance(one, Store) and self.rank(one.index):
                raise NotArraysError("another place of a list is changed in each iteration")
        super().statement(one)


def _changed_inputs(function: Function, axes: Axes) -> set[Expr]:
    """The lists from outside that a function may change, or let others do so."""
    found: set[Expr] = set()
    for one in hir.walk(function.body):
        if isinstance(one, (Load, hir.Length)) or (
            isinstance(one, Call) and not axes.effects.of(one.function).changes
        ):
            continue
        found |= {
            part for expr in hir.expressions(one) for part in hir.parts(expr) if isinstance(part, Input)
        }
    return found


def arrays_of(text: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The arrays of lists from outside that a text names."""
    found: dict[str, Any] = {}
    for name, whole, kind, part in re.findall(r"\b((given_\d+_\d+)_([fib])(?:_(\d+))?)\b", text):
        items = given[whole]
        try:
            found[name] = array(items, kind, int(part) if part else None)
        except TextFailure:  # as numbers are large; then each loop finds that
            found[name] = [item[int(part)] for item in items] if part else items
    return found


def _folded(name: str, one: Expr, other: Expr) -> Expr:
    """A sum, difference or product of integers."""
    zero, unit = Const(0, "i"), Const(1, "i")
    if name == "mul":
        if zero in (one, other):
            return zero
        return other if one == unit else one if other == unit else Op("mul", (one, other), "i")
    if other == zero:
        return one
    return other if name == "add" and one == zero else Op(name, (one, other), "i")
