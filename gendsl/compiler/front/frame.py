"""Activations: the variables of one call of a function, and how branches and loops bring them together."""

from __future__ import annotations

import ast
from collections.abc import Callable, Generator, Hashable, Iterable
from contextlib import contextmanager
from dataclasses import dataclass
from types import FunctionType
from typing import Any, ClassVar

from gendsl.compiler import hir
from gendsl.compiler.front.emitter import Emitter
from gendsl.compiler.front.language import Language
from gendsl.compiler.front.names import Name, Text
from gendsl.compiler.front.scopes import cells_of, mangled, scope_of
from gendsl.compiler.front.walk import Walk
from gendsl.compiler.hir import Body, Const, Expr, Op, Statement, Var
from gendsl.compiler.hir.failures import NotClosed
from gendsl.compiler.hir.types import NEVER, Box, Never, Type, Union, describe, goes_once, leaves
from gendsl.compiler.hir.values import NOTHING, UNSET, Value, alternatives_of, known, narrowed

Env = dict[Name, Value]
_UNSET = known(UNSET)


@dataclass(eq=False)
class LoopFrame:
    """A loop that is being lowered: the variables that its iterations hand on."""

    label: int
    place: Hashable
    carried: dict[Name, tuple[Type, list[Var]]]
    unrolled: Join | None = None
    after: Join | None = None


@dataclass(eq=False)
class Point:
    """How far the lowering of a body has come."""

    out: Body
    length: int
    env: Env
    unrolled: tuple[Hashable, ...]
    comprehended: set[str]
    loops: int
    made: tuple[int, int, int, int]


class Join:
    """The points of a body from which control meets, and the variables there."""

    def __init__(self) -> None:
        self.points: list[tuple[hir.Set, Env, Value]] = []

    def add(self, frame: Frame, result: Value = NOTHING, owner: Frame | None = None) -> None:
        """Note that control goes on from here, in the activation `owner`, if that is another one."""
        if frame.live:
            meeting = hir.Set([], [])
            frame.emit(meeting)
            self.points.append((meeting, dict((owner or frame).env), result))

    def resolve(self, frame: Frame) -> Value:
        """Go on where all points meet; the joined result."""
        frame.live = bool(self.points)
        if not self.points:
            return NOTHING
        if len(self.points) == 1:
            frame.env = self.points[0][1]
            return self.points[0][2]
        names = dict.fromkeys(name for _, env, _ in self.points for name in env)
        frame.env = {
            name: self._meet(frame, name, [env.get(name, _UNSET) for _, env, _ in self.points])
            for name in names
        }
        return self._meet(frame, "result", [result for *_, result in self.points])

    def _meet(self, frame: Frame, name: Name, values: list[Value]) -> Value:
        first = values[0]
        if all(v is first or (v.type == first.type and v.leaves == first.leaves) for v in values[1:]):
            return first
        facts = frame.program.facts
        joined: Type = NEVER
        for value in values:
            joined = facts.join(joined, value.type)
        kinds = leaves(joined)
        converted = [facts.convert(value, joined) for value in values]
        result: list[Expr] = []
        for i, kind in enumerate(kinds):
            column = [found[i] for found in converted]
            if all(leaf == column[0] for leaf in column):
                result.append(column[0])
                continue
            var = frame.fresh(name, kind)
            for (meeting, *_), leaf in zip(self.points, column, strict=True):
                meeting.targets.append(var)
                meeting.values.append(leaf)
            result.append(var)
        return Value(joined, tuple(result))


@dataclass(eq=False)
class Handler:
    """Where control goes if an error of one of some classes is raised.

    Attributes:
        owner: the activation that handles them.
        label: of the block to leave; None where the interpreter is to decide what happens.
    """

    errors: tuple[type[BaseException], ...]
    owner: Frame
    label: int | None
    join: Join


class Program(Walk):
    """The program that activations are of: what a walk makes, and the functions that lower parts of it."""

    language: ClassVar[Language[Frame]]


class Frame(Emitter):
    """One activation of a Python function.

    Attributes:
        env: the variables, as the next statement sees them.
        language: what modules call that come after theirs; see `front.language`.
        activation: tells the facts of this activation from those of others.
        here: the node that is being lowered.
        comprehended: the variables of the comprehensions around it.
        outer: the activation that a nested function was defined in.
        again: whether a loop around its call may come to it again.
        yielded: the list of what it has yielded, if it is a generator function.
        handlers: those of the errors that are raised here: the first that is of an error's class counts.
        prefix: the address prefix of its choices; None where it may make none.
    """

    def __init__(
        self,
        program: Program,
        text: Text,
        out: Body,
        node: Any,
        function: FunctionType | None,
        filename: str,
        activation: Hashable,
        outer: Frame | None = None,
    ) -> None:
        super().__init__(text, out, filename)
        self.program = program
        self.language = program.language
        self.node = node
        self.function = function
        self.activation = activation
        self.outer = outer
        self.env: Env = {}
        self.here: Any = node
        self.comprehended: set[str] = set()
        self.loops: list[LoopFrame] = []
        self.again = False
        self.unrolled: tuple[Hashable, ...] = ()
        self.returned: Callable[[Value], None] | None = None
        self.yielded: Value | None = None
        self.handlers: list[Handler] = []
        self.prefix: tuple[Any, ...] | None = None
        self.prefix_indices: tuple[Expr, ...] = ()
        own, outside = scope_of(node)
        self.locals, self.globals = set(own), outside
        self.cells = cells_of(node)

    def place(self, node: ast.AST, what: Hashable = None) -> Hashable:
        """The key of a fact about a node in this activation."""
        return (self.activation, id(node), self.unrolled, what)

    def site(self, node: ast.AST, what: Hashable = None) -> int:
        """The site of what a node makes."""
        return self.program.facts.site(self.place(node, what))

    def private(self, name: str) -> str:
        """The name of an attribute, as Python mangles private ones in the text of a class."""
        frame: Frame | None = self
        while frame is not None and frame.function is None:
            frame = frame.outer
        function = None if frame is None else frame.function
        return name if function is None else mangled(name, function.__code__.co_qualname)

    # --- variables --------------------------------------------------------------------------------

    def bind(self, name: Name, value: Value) -> None:
        """Let a variable have a value; what is computed for it gets its name in the text."""
        if goes_once(value.type):
            raise self.not_closed("an iterator that is kept, and can be gone through once only")
        if name in self.globals or name in self.cells:
            self.language.assign_cell(self, str(name), value)
            return
        parts = [self.set(leaf, name) if isinstance(leaf, Op) else leaf for leaf in value.leaves]
        self.env[name] = Value(self.program.facts.canonical(value.type), tuple(parts))

    def look_up(self, name: str) -> Value | None:
        """The value of a local variable, or of one of the functions around; None for a global name."""
        found = self._find(name)
        return None if found is None else self.language.cell_value(self, found, name)

    def _find(self, name: str) -> Value | None:
        """The same, or the cell that holds it."""
        if name in self.locals and name not in self.globals:
            if name not in self.env:
                self.fail(f"{name} has no value here")
                return NOTHING
            return self.value_of(name)
        if self.outer is not None:
            if name in self.outer.comprehended:
                return self.outer.env[name]
            return self.outer._find(name)
        return None

    def value_of(self, name: Name) -> Value:
        """The value of a variable; where it has none, the text fails."""
        value = self.env[name]
        if value.type == _UNSET.type:
            self.fail(f"{name} has no value here")
            return NOTHING
        if isinstance(value.type, Union) and _UNSET.type in value.type.alternatives:
            kept = [one for one in alternatives_of(value) if one.type != _UNSET.type]
            tag = value.type.alternatives.index(_UNSET.type)
            self.fail_if(Op("eq", (value.leaves[0], Const(tag, "i")), "b"), f"{name} has no value here")
            if len(kept) == 1:
                return kept[0]
            value = narrowed(value, [one.type for one in kept])
        return value

    # --- errors -----------------------------------------------------------------------------------

    def handler(self, error: type[BaseException] | None) -> Handler | None:
        """What goes on where an error of a class is raised; None if the interpreter decides."""
        for one in self.handlers:
            if error is not None and issubclass(error, one.errors):
                return None if one.label is None else one
        return None

    def fail(self, reason: str, error: type[BaseException] | None = None) -> None:
        handler = self.handler(error)
        if handler is None or handler.label is None:
            super().fail(reason)
            return
        handler.join.add(self, owner=handler.owner)
        self.emit(hir.Leave(handler.label))
        self.live = False

    def fail_if(self, test: Expr, reason: str, error: type[BaseException] | None = None) -> None:
        if isinstance(test, Const) or self.handler(error) is None:
            super().fail_if(test, reason, error)
            return
        body: Body = []
        self.emit(hir.If(test, body, []))
        with self.into(body):
            self.fail(reason, error)

    @contextmanager
    def handling(self, handlers: list[Handler]) -> Generator[None]:
        """Let errors be handled by these for a while; without any the interpreter decides."""
        before, self.handlers = self.handlers, handlers
        try:
            yield
        finally:
            self.handlers = before

    # --- branches and loops -----------------------------------------------------------------------

    @contextmanager
    def into(self, body: Body) -> Generator[None]:
        """Add statements to another body for a while; the variables are those of before at the end."""
        out, env, live = self.out, self.env, self.live
        self.out, self.env = body, dict(env)
        try:
            yield
        finally:
            self.out, self.env, self.live = out, env, live

    def branch(
        self, test: Expr, then: Callable[[], Value | None], orelse: Callable[[], Value | None]
    ) -> Value:
        """`if test: then() else: orelse()`; the joined result."""
        if isinstance(test, Const):
            return (then() if test.value else orelse()) or NOTHING
        meeting, statement = Join(), hir.If(test, [], [])
        self.emit(statement)
        for body, lower in ((statement.then, then), (statement.orelse, orelse)):
            with self.into(body):
                result = lower()
                meeting.add(self, result or NOTHING)
        return meeting.resolve(self)

    def choose(self, test: Expr, then: Callable[[], Value], orelse: Callable[[], Value]) -> Value:
        """As `branch`, for expressions: without a branch where neither side has statements."""
        if isinstance(test, Const):
            return then() if test.value else orelse()
        test = self.atom(test)
        mark = len(self.out)
        live = self.live
        result = self.branch(test, then, orelse)
        if not live or not self.live or len(self.out) <= mark:
            return result
        statement = self.out[mark]
        if not (isinstance(statement, hir.If) and statement.test is test):
            return result
        sides = statement.then, statement.orelse
        if any(len(side) != 1 or not isinstance(side[0], hir.Set) for side in sides):
            return result
        first, second = sides[0][0], sides[1][0]
        assert isinstance(first, hir.Set) and isinstance(second, hir.Set)
        if first.targets != second.targets or len(first.targets) > 2:
            return result
        joined = {
            target: Op("select", (test, x, y), target.kind)
            for target, x, y in zip(first.targets, first.values, second.values, strict=True)
        }
        if any(value.leaves and any(leaf in joined for leaf in value.leaves) for value in self.env.values()):
            return result
        del self.out[mark:]
        found = tuple(joined.get(leaf, leaf) if isinstance(leaf, Var) else leaf for leaf in result.leaves)
        return Value(result.type, found)

    def opened(self, value: Value) -> Value:
        """What a box holds; any other value as it is."""
        if not isinstance(value.type, Box):
            return value
        kind = self.program.facts.item(value.type.site)
        if isinstance(kind, Never):
            return NOTHING
        targets = [self.fresh("t", leaf) for leaf in leaves(kind)]
        if targets:
            self.emit(hir.Load(list(targets), value.leaf, leaves(kind), Const(0, "i")))
        return Value(kind, tuple(targets))

    def boxed(self, value: Value, site: int) -> Value:
        """A box with a value."""
        facts = self.program.facts
        if isinstance(value.type, Box):
            return Value(facts.join(Box(site), value.type), value.leaves)
        kind = facts.grow_item(site, value.type)
        var = self.fresh("box", "r")
        self.emit(hir.New(var, leaves(kind), [facts.convert(value, kind)]))
        return Value(Box(facts.find(site)), (var,))

    def switch(self, value: Value, lower: Callable[[Value], Value]) -> Value:
        """The result for whichever alternative of a union the value has.

        Where the value has one that the compiler does not read, the reference interpreter decides.
        """
        value = self.opened(value)
        if not isinstance(value.type, Union):
            return lower(value)
        value = self.atoms(value)
        choices = alternatives_of(value)
        tag = value.leaves[0]
        refused: list[NotClosed] = []

        def one(i: int) -> Value:
            point = self.point()
            try:
                if isinstance(choices[i].type, Box):
                    return self.switch(choices[i], lower)
                return lower(choices[i])
            except NotClosed as refusal:
                refused.append(refusal)
                if len(refused) == len(choices):
                    raise refused[0] from None
                self.back(point)
                self.fail(refusal.reason)
                return NOTHING

        def from_(i: int) -> Value:
            if i == len(choices) - 1:
                return one(i)
            test = Op("eq", (tag, Const(i, "i")), "b")
            return self.branch(test, lambda: one(i), lambda: from_(i + 1))

        return from_(0)

    def without(self, value: Value, is_refused: Callable[[Type], bool]) -> Value:
        """A value without the alternatives of its type that are refused where it is used, as those of another
        field of a dict that is used as a record. Where it has one of them, the reference interpreter decides.
        """
        if not isinstance(value.type, Union) or not any(map(is_refused, value.type.alternatives)):
            return value

        def of_one(one: Value) -> Value:
            if is_refused(one.type):
                raise self.not_closed(f"{describe(one.type)} where there can be none")
            return one

        return self.atoms(self.switch(value, of_one))

    def point(self) -> Point:
        """How far the lowering has come."""
        program = self.program
        made = (len(program.stack), len(program.keys), len(program.functions), len(program.helpers))
        comprehended, loops = set(self.comprehended), len(self.loops)
        return Point(self.out, len(self.out), dict(self.env), self.unrolled, comprehended, loops, made)

    def back(self, point: Point) -> None:
        """Forget what was lowered since a point; what was learnt about types stays."""
        program = self.program
        self.out = point.out
        del self.out[point.length :]
        self.env, self.unrolled, self.live = point.env, point.unrolled, True
        self.comprehended.intersection_update(point.comprehended)
        del self.loops[point.loops :]
        stack, keys, functions, helpers = point.made
        del program.stack[stack:]
        del program.keys[keys:]
        for table, count in ((program.functions, functions), (program.helpers, helpers)):
            for key in list(table)[count:]:
                del table[key]

    def each_alternative(self, value: Value, lower: Callable[[Value], None]) -> None:
        """Lower statements for whichever alternative of a union the value has."""

        def one(alternative: Value) -> Value:
            lower(alternative)
            return NOTHING

        self.switch(value, one)

    def loop(
        self,
        node: ast.AST,
        make: Callable[[Body, int], Statement],
        names: Iterable[Name],
        lower: Callable[[], None],
        *,
        forgotten: Iterable[Name] = (),
    ) -> Statement:
        """A loop whose body `lower` adds; `names` are handed from iteration to iteration, `forgotten` are
        not.
        """
        facts = self.program.facts
        place = self.place(node, "loop")
        carried: dict[Name, tuple[Type, list[Var]]] = {}
        entry = dict(self.env)
        for name in names:
            before = entry.get(name, _UNSET)
            joined = facts.grow((place, name), before.type)
            variables = [self.fresh(name, kind) for kind in leaves(joined)]
            carried[name] = joined, variables
            if variables:
                self.emit(hir.Set(list(variables), list(facts.convert(before, joined))))
            entry[name] = Value(joined, tuple(variables))
        for name in forgotten:
            entry.pop(name, None)
        label = self.program.new_label()
        body: Body = []
        statement = make(body, label)
        self.emit(statement)
        self.env = entry
        self.loops.append(LoopFrame(label, place, carried))
        with self.into(body):
            lower()
            if self.live:
                self.carry()
        self.loops.pop()
        for name, (joined, _) in carried.items():
            known_now = facts.get((place, name))
            if known_now != joined:  # what follows is lowered for the type that the next walk will see
                self.env[name] = Value(known_now, tuple(self.fresh(name, kind) for kind in leaves(known_now)))
        return statement

    def carry(self) -> None:
        """Hand the variables of the innermost loop on to its next iteration, or to what follows it."""
        loop, facts = self.loops[-1], self.program.facts
        targets: list[Var] = []
        values: list[Expr] = []
        for name, (joined, variables) in loop.carried.items():
            value = self.env.get(name, _UNSET)
            if facts.grow((loop.place, name), value.type) != joined:
                continue  # it is lowered again
            for var, leaf in zip(variables, facts.convert(value, joined), strict=True):
                if leaf != var:
                    targets.append(var)
                    values.append(leaf)
        if targets:
            self.emit(hir.Set(targets, values))


def fresh_name(frame: Frame, what: str) -> Any:
    """The name of a variable that no other activation of the same call uses."""
    name: Any = (what, id(frame.here), frame.unrolled)
    while name in frame.env:
        name = ("inner", name)
    return name


def only(frame: Frame, named: dict[str, Value], *allowed: str) -> None:
    """Refuse arguments by name that a function is not read with."""
    extra = set(named) - set(allowed)
    if extra:
        raise frame.not_closed(f"the argument {', '.join(sorted(extra))}")
