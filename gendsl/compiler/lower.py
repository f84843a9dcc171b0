"""Lower a body to blocks: Python's control flow becomes branches, loops, calls and what is opaque.

A statement that can't be vouched for becomes a region, which is executed whole; where not even its
effects on other statements are known, the whole body is opaque. Each says why.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from gendsl.compiler.effects import Effects, exits, has_choice, loaded, root_name, stored
from gendsl.compiler.ir import (
    FIRST,
    ITEM,
    LENGTH,
    POSITION,
    RAW,
    WHOLE,
    Branch,
    Code,
    Copy,
    Exit,
    Fragment,
    Load,
    Loop,
    Node,
    Part,
    Program,
    Region,
    Return,
    Site,
    Source,
    Stored,
)
from gendsl.compiler.rewrite import rewrite_statements
from gendsl.compiler.sites import assigned_address, is_addressed, is_choice, is_splice, known_value
from gendsl.compiler.source import Source as Definition
from gendsl.interface import GenerativeFunction


class OpaqueError(Exception):
    """A statement, or the body (`whole`), can't be taken apart."""

    def __init__(self, reason: str, rewrite: str, node: ast.AST, *, whole: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.rewrite = rewrite
        self.node = node
        self.whole = whole


@dataclass(frozen=True)
class Version:
    """One version of a variable: where it lies, and what is known of its value.

    Attributes:
        kind: "list" or "array" where the body made it itself, so that it may change it; else "other".
        aliased: whether its value may be reachable by another way.
        unset: whether it may be unassigned.
        own: see `Load.own`; for a container that the enclosing loop is writing.
    """

    depth: int
    slot: int
    kind: str = "other"
    aliased: bool = False
    unset: bool = False
    own: int | None = None


_REMAKE = "build it in one statement, or by one `mu[i] = ...` or `.append(...)` in each iteration of a loop"


class Lowerer:
    """Lowers one function; its state is the scope that is being lowered.

    Attributes:
        env: the version of each variable that the next statement sees.
        nodes: the blocks so far.
        sizes: how many slots the frame of each depth has so far.
    """

    def __init__(self, definition: Definition) -> None:
        self.definition = definition
        self.effects = Effects(definition)
        self.env: dict[str, Version] = {}
        self.nodes: list[Node] = []
        self.sizes = [FIRST]
        self.codes: list[Code] = []
        self.loops: list[_Iteration] = []
        self.temporaries = 0
        arguments = definition.node.args
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        every += [a for a in (arguments.vararg, arguments.kwarg) if a is not None]
        self.parameters = [a.arg for a in every]
        self.locals = {*self.parameters, *stored(*definition.node.body)}

    # --- the body ---------------------------------------------------------------------------------

    def program(self) -> Program:
        """The lowered body."""
        parameters, body = self.parameters, self.definition.node.body
        opaque = self.effects.unknowable(body)
        if opaque is None:
            for name in parameters:
                self.env[name] = Version(0, self.new(), aliased=True)
            try:
                self.block(body)
            except OpaqueError as error:
                opaque = error.reason, error.rewrite, error.node
        if opaque is not None:
            return Program(parameters, [], 0, opaque, [])
        return Program(parameters, self.nodes, self.sizes[0], None, self.codes)

    @property
    def depth(self) -> int:
        """The depth of the frame that is being lowered."""
        return len(self.sizes) - 1

    def new(self) -> int:
        """A new slot of the current frame."""
        self.sizes[-1] += 1
        return self.sizes[-1] - 1

    def temporary(self) -> str:
        """A name that no user's variable has."""
        self.temporaries += 1
        return f"__gendsl_{self.temporaries}__"

    def block(self, statements: Iterable[ast.stmt]) -> bool:
        """Lower statements in order; whether control can reach their end."""
        for statement in statements:
            if not self.statement(statement):
                return False
        return True

    # --- statements -------------------------------------------------------------------------------

    def statement(self, node: ast.stmt) -> bool:
        """Lower one statement; whether control can go on after it."""
        if isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            return True
        choices, leaves = has_choice(node), exits(node)
        if not choices and not leaves:
            self.fragment(node)
            return True
        saved = dict(self.env), list(self.nodes), len(self.codes)
        try:
            return self.structured(node)
        except OpaqueError as error:
            if error.whole or leaves:
                raise OpaqueError(error.reason, error.rewrite, error.node, whole=True) from None
            self.env, self.nodes = saved[0], saved[1]
            del self.codes[saved[2] :]
            self.region(node, error)
            return True

    def structured(self, node: ast.stmt) -> bool:
        """Lower a statement with choices, or one that leaves its block."""
        match node:
            case ast.Return():
                value = node.value or ast.copy_location(ast.Constant(None), node)
                value = self.hoisted(value)
                self.nodes.append(Return(node, self.code(value, raw=True), _is_simple(value)))
                self.note_aliases(value)
                return False
            case ast.Break() | ast.Continue():
                self.leave_iteration(node)
                self.nodes.append(Exit(node, "break" if isinstance(node, ast.Break) else "continue"))
                return False
            case ast.If():
                return self.branch(node, node.test, node.body, node.orelse)
            case ast.For():
                self.for_loop(node)
                return True
            case ast.While():
                self.while_loop(node)
                return True
            case ast.Assign(targets=[target], value=ast.IfExp() as value) if not is_choice(value):
                arms = [
                    [ast.copy_location(ast.Assign([copy.deepcopy(target)], arm), node)]
                    for arm in (value.body, value.orelse)
                ]
                return self.branch(node, value.test, *arms)
            case ast.Assign() | ast.AnnAssign():
                self.assignment(node)
                return True
            case ast.AugAssign() | ast.Expr() | ast.Assert() | ast.Raise():
                changed = copy.copy(node)
                for field in ("value", "test", "msg", "exc", "cause"):
                    part = getattr(node, field, None)
                    if isinstance(part, ast.expr):
                        setattr(changed, field, self.hoisted(part))
                value = getattr(changed, "value", None)
                if self.loops and self.loops[-1].writes(node):
                    self.store(self.loops[-1], node, value.args[0])  # type: ignore[union-attr]
                elif not (isinstance(node, ast.Expr) and isinstance(value, ast.Name)):
                    self.fragment(changed)
                return True
        raise OpaqueError(
            f"choices inside `{_keyword(node)}`", "move the choices out of it, or into a @gen function", node
        )

    def assignment(self, node: ast.Assign | ast.AnnAssign) -> None:
        """`target = value`, where the value has choices in it."""
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        value = node.value
        assert value is not None
        address = assigned_address(targets[0]) if len(targets) == 1 else None
        if is_choice(value) and isinstance(value, ast.UnaryOp) and address is not None:
            new = self.site(value, address, value.operand, sugar=True)
        else:
            new = self.hoisted(value)
        if len(targets) == 1 and isinstance(targets[0], ast.Name) and isinstance(new, ast.Name):
            version = self.env[new.id]
            if new.id.startswith("__gendsl_"):  # a temporary becomes the variable
                self.bind(targets[0].id, version)
                return
        changed = ast.copy_location(ast.Assign(targets, new), node)
        iteration = self.loops[-1] if self.loops else None
        if iteration is not None and iteration.writes(node):
            self.store(iteration, node, new)
            return
        self.fragment(changed)

    def fragment(self, node: ast.stmt) -> None:
        """A deterministic statement, executed whole when anything it reads has changed."""
        if self.loops:
            iteration = self.loops[-1]
            if iteration.writes(node):
                value = node.value if isinstance(node, ast.Assign) else node.value.args[0]  # type: ignore
                self.store(iteration, node, value)
                return
        changed = self.effects.changed(node)
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            changed.setdefault(node.target.id, node)
            known = self.env.get(node.target.id)
            if known is not None and (known.kind == "number" or (known.kind == "other" and not known.aliased)):
                del changed[node.target.id]
        self.check_changes(changed)
        self.check_exposed(node)
        names = [name for name in dict.fromkeys((*stored(node), *changed)) if self.is_local(name)]
        compound = isinstance(node, (ast.If, ast.For, ast.While, ast.Try, ast.With, ast.Match))
        blank = tuple(n for n in names if compound and n not in self.env)
        result = ast.Tuple([ast.Name(name, ast.Load()) for name in names], ast.Load())
        extra = names if compound else list(changed)
        extra = [n for n in extra if n in self.env]
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            extra.append(node.target.id)
        owned = frozenset(changed) | ({node.target.id} if _augments_name(node) else set())
        code = self.code(result, [node], extra, owned, blank)
        defs = [self.new() for _ in names]
        self.nodes.append(Fragment(node, code, defs))
        self.note_aliases(node)
        for name, slot in zip(names, defs, strict=True):
            before = self.env.get(name)
            kind, aliased = "other", False
            if name in changed and before is not None:
                kind, aliased = before.kind, before.aliased
            elif isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
                kind = self.kind_of(node.value)
                aliased = kind == "other" and _shares(node.value)
            elif isinstance(node, ast.AugAssign) and before is not None and before.kind == "number":
                kind = "number" if self.kind_of(node.value) == "number" else "other"
            unset = compound and (before is None or before.unset)
            self.bind(name, Version(self.depth, slot, kind, aliased, unset))

    def region(self, node: ast.stmt, why: OpaqueError) -> None:
        """A statement with choices in it that is executed whole."""
        changed = self.effects.changed(node)
        self.check_changes(changed)
        self.check_exposed(node)
        names = [name for name in dict.fromkeys((*stored(node), *changed)) if self.is_local(name)]
        statements = rewrite_statements([node])
        names += [name for name in stored(*statements) if name not in names and not name.startswith("__gendsl_i")]
        blank = tuple(name for name in names if name not in self.env)
        result = ast.Tuple([ast.Name(name, ast.Load()) for name in names], ast.Load())
        extra = [name for name in names if name in self.env]
        augmented = {n.target.id for n in ast.walk(node) if _augments_name(n)}
        code = self.code(result, statements, extra, frozenset(changed) | augmented, blank, traced=True)
        defs = [self.new() for _ in names]
        self.nodes.append(Region(node, code, defs, self.new(), why.reason, why.rewrite))
        self.note_aliases(node)
        for name, slot in zip(names, defs, strict=True):
            before = self.env.get(name)
            kind, aliased = "other", False
            if name in changed and before is not None:
                kind, aliased = before.kind, before.aliased
            self.bind(name, Version(self.depth, slot, kind, aliased, before is None or before.unset))

    def kind_of(self, value: ast.expr) -> str:
        """Whether an expression makes a list or an array that nothing else holds."""
        if self.is_number(value):
            return "number"
        if not self.effects.is_fresh(value):
            return "other"
        array = isinstance(value, ast.Call) and not any(
            self.effects.is_builtin(value.func, name) for name in ("list", "dict")
        )
        return "array" if array else "list"

    def is_number(self, value: ast.expr) -> bool:
        """Whether an expression is surely a number, which nothing can change."""
        match value:
            case ast.Constant():
                return isinstance(value.value, (int, float))
            case ast.Name():
                version = self.env.get(value.id)
                return version is not None and version.kind == "number"
            case ast.UnaryOp():
                return self.is_number(value.operand)
            case ast.BinOp():
                return self.is_number(value.left) and self.is_number(value.right)
        return False

    # --- what may change what ---------------------------------------------------------------------

    def is_local(self, name: str) -> bool:
        return name in self.locals or name.startswith("__gendsl_")

    def bind(self, name: str, version: Version) -> None:
        self.env[name] = version

    def check_changes(self, changed: dict[str, ast.AST]) -> None:
        """Raise unless the values that a statement changes are the body's own and reachable by one name."""
        for name, at in changed.items():
            version = self.env.get(name)
            if version is None:
                continue  # made by the statement itself
            if version.own is not None:
                raise OpaqueError(f"{name} is changed in more than one way in a loop", _REMAKE, at, whole=True)
            if version.kind == "other":
                raise OpaqueError(
                    f"it changes {name} in place, which may be reachable by other names",
                    f"make a new value in place of changing {name}",
                    at,
                    whole=True,
                )
            if version.aliased:
                raise OpaqueError(
                    f"it changes {name} in place after another name or container got hold of it",
                    f"finish {name} before passing it on, or copy it",
                    at,
                    whole=True,
                )

    def check_exposed(self, node: ast.AST) -> None:
        """Raise if a call that isn't known to leave its arguments alone gets a list or array of the body's."""
        for name, at in self.effects.exposed(node).items():
            version = self.env.get(name)
            if version is not None and (version.kind != "other" or version.own is not None):
                raise OpaqueError(
                    f"it passes {name} to a call that may change it",
                    f"pass a copy, or tuple({name})",
                    at,
                    whole=True,
                )

    def note_aliases(self, node: ast.AST) -> None:
        """Mark the versions that a statement makes reachable by another way."""
        always, arrays = self.effects.aliased(node)
        for name in always | arrays:
            version = self.env.get(name)
            if version is not None and not version.aliased and (name in always or version.kind == "array"):
                self.bind(name, replace(version, aliased=True))

    # --- code -------------------------------------------------------------------------------------

    def code(
        self,
        result: ast.expr,
        statements: list[ast.stmt] | None = None,
        extra: Iterable[str] = (),
        copied: frozenset[str] = frozenset(),
        blank: tuple[str, ...] = (),
        *,
        traced: bool = False,
        raw: bool = False,
    ) -> Code:
        """Code for an expression, after statements if there are any, with loads for all that it reads.

        Args:
            extra: names to load though they are not read.
            copied: names whose values it changes.
            blank: names that it may leave unassigned.
            raw: hand containers on as they are where the expression is just a name.
        """
        statements = statements or []
        own = set(stored(*statements)) if statements else set(stored(result))
        first = statements if statements else [result]
        names = loaded(*first) | set(extra)
        if statements:
            names |= loaded(result) - own
        loads = []
        for name in sorted(names):
            version = self.env.get(name)
            if version is None:
                if name in self.locals and name not in own:
                    loads.append(Load(name, -1, -1, WHOLE, unset=True))
                continue
            mode, keys = WHOLE, []
            if raw and isinstance(result, ast.Name) and not statements:
                mode = RAW
            elif name not in copied and name not in own and name not in extra:
                mode, keys = self.mode_of(name, first, own)
            loads.append(
                Load(name, version.depth, version.slot, mode, keys, version.unset, version.own)
            )
        code = Code(self.depth, loads, statements, result, copied, blank, traced)
        self.codes.append(code)
        return code

    def mode_of(self, name: str, parts: list[ast.AST], own: set[str]) -> tuple[str, list[Code]]:
        """How code reads a variable: by index, if every use is `name[index]`, or only its length."""
        indices: list[ast.expr] = []
        lengths = 0
        for part in parts:
            found = _indices(name, part, self.effects)
            if found is None:
                return WHOLE, []
            indices += found[0]
            lengths += found[1]
        for index in indices:
            names = loaded(index)
            scoped = any(isinstance(n, (ast.Lambda, ast.NamedExpr, *_COMPREHENSIONS)) for n in ast.walk(index))
            if scoped or names & own or not all(n in self.env or not self.is_local(n) for n in names):
                return WHOLE, []
            if isinstance(index, ast.Slice) or name in names:
                return WHOLE, []
        if not indices:
            return (LENGTH, []) if lengths else (WHOLE, [])
        if lengths:
            return WHOLE, []
        return ITEM, [self.code(index) for index in indices]

    # --- choices and calls ------------------------------------------------------------------------

    def hoisted(self, expression: ast.expr) -> ast.expr:
        """An expression with its choices taken out, each into a temporary variable, in order."""
        if not has_choice(expression):
            return expression
        return _Hoist(self).visit(copy.deepcopy(expression))  # type: ignore[no-any-return]

    def site(
        self, node: ast.expr, address: ast.expr | None, operand: ast.expr, *, sugar: bool = False
    ) -> ast.Name:
        """Add the site of a choice or call; the temporary variable that holds its value."""
        splice = address is not None and is_splice(address)
        self.check_exposed(operand)
        arguments: list[Load | None] = []
        hands_on = False
        operand = copy.copy(operand)
        if isinstance(operand, ast.Call):
            called = known_value(self.definition, operand.func)
            hands_on = isinstance(called, GenerativeFunction) and not operand.keywords
            for argument in operand.args:
                version = self.env.get(argument.id) if isinstance(argument, ast.Name) else None
                if hands_on and version is not None and version.own is None and not version.unset:
                    arguments.append(Load(argument.id, version.depth, version.slot, RAW))  # type: ignore
                else:
                    arguments.append(None)
            if any(isinstance(argument, ast.Starred) for argument in operand.args):
                arguments = []
            operand.func = _callee(operand.func)
        raw = {load.name for load in arguments if load is not None}
        thing = self.code(operand)
        for load in thing.loads:
            if load.name in raw and load.mode == WHOLE and _bare_uses(load.name, operand):
                load.mode = RAW
        arguments = [
            load if load is None or any(t.name == load.name and t.mode == RAW for t in thing.loads) else None
            for load in arguments
        ]
        parts = code = None
        if address is not None and not splice:
            code = self.code(address)
            if isinstance(address, (ast.Tuple, ast.Constant)):
                elements = address.elts if isinstance(address, ast.Tuple) else [address]
                parts = [self.part(element) for element in elements]
        name = self.temporary()
        value, state = self.new(), self.new()
        self.nodes.append(Site(node, code, parts, thing, arguments, sugar, splice, value, state))
        self.bind(name, Version(self.depth, value, "other" if isinstance(operand, ast.Call) and hands_on else "number"))
        self.note_aliases(operand)
        return ast.copy_location(ast.Name(name, ast.Load()), node)

    def part(self, element: ast.expr) -> Part:
        """A component of an address, as far as it is known before the body runs."""
        if isinstance(element, ast.Constant):
            return element.value, None
        version = self.env.get(element.id) if isinstance(element, ast.Name) else None
        return None, None if version is None else (version.depth, version.slot)

    # --- branches ---------------------------------------------------------------------------------

    def branch(
        self, node: ast.stmt, test: ast.expr, body: list[ast.stmt], orelse: list[ast.stmt]
    ) -> bool:
        """`if`: both arms lowered over the same frame, and their variables joined."""
        test = self.hoisted(test)
        conditional = any(
            isinstance(part, (ast.BoolOp, ast.IfExp, ast.Lambda, ast.Compare, *_COMPREHENSIONS))
            and (not isinstance(part, ast.Compare) or len(part.ops) > 1)
            for part in ast.walk(test)
        )
        for part in list(ast.walk(test)):
            if isinstance(part, ast.NamedExpr):
                if conditional:
                    raise _unhoistable(part, "`:=` in a condition of several parts")
                name = part.target.id
                self.fragment(ast.copy_location(ast.Assign([ast.Name(name, ast.Store())], part.value), node))
                test = _replace(test, part, ast.copy_location(ast.Name(name, ast.Load()), part))
        code = self.code(test)
        start = self.env
        arms: list[list[Node]] = []
        ends: list[dict[str, Version] | None] = []
        for statements in (body, orelse):
            self.env = dict(start)
            outer, self.nodes = self.nodes, []
            goes_on = self.block(statements)
            arms.append(self.nodes)
            ends.append(self.env if goes_on else None)
            self.nodes = outer
        self.env, defs = self.joined(node, start, arms, ends)
        state = self.new()
        self.nodes.append(Branch(node, code, (arms[0], arms[1]), defs, state))
        return ends[0] is not None or ends[1] is not None

    def joined(
        self,
        node: ast.AST,
        start: dict[str, Version],
        arms: list[list[Node]],
        ends: list[dict[str, Version] | None],
    ) -> tuple[dict[str, Version], list[int]]:
        """The environment after a branch; copies into common slots are added to its arms."""
        first, second = ends
        if first is None or second is None:
            env = dict(first if first is not None else second if second is not None else start)
            if first is None and second is None:
                return env, []
            # the slots that the one way defines are read after the branch
            return env, [v.slot for n, v in env.items() if start.get(n) != v and v.depth == self.depth]
        env: dict[str, Version] = {}
        defs = []
        for name in dict.fromkeys((*first, *second)):
            one, other = first.get(name), second.get(name)
            if one is not None and other is not None and (one.depth, one.slot) == (other.depth, other.slot):
                env[name] = replace(one, aliased=one.aliased or other.aliased, unset=one.unset or other.unset)
                continue
            slot = self.new()
            defs.append(slot)
            for arm, version in zip(arms, (one, other), strict=True):
                if version is not None and version.own is not None:
                    raise OpaqueError(f"{name} is written in one arm only", _REMAKE, node, whole=True)
                arm.append(Copy(node, None if version is None else (version.depth, version.slot), slot))
            known = [v for v in (one, other) if v is not None]
            kinds = {v.kind for v in known}
            env[name] = Version(
                self.depth,
                slot,
                kinds.pop() if len(kinds) == 1 else "other",
                any(v.aliased for v in known),
                len(known) < 2 or any(v.unset for v in known),
            )
        return env, defs

    # --- loops ------------------------------------------------------------------------------------

    def for_loop(self, node: ast.For) -> None:
        if node.orelse:
            raise OpaqueError("`else` of a loop", "use a flag in place of the loop's `else`", node)
        iterable = self.hoisted(node.iter)
        self.loop(node, self.sources_of(iterable, node.target), node.body, node.target)

    def while_loop(self, node: ast.While) -> None:
        if node.orelse:
            raise OpaqueError("`else` of a loop", "use a flag in place of the loop's `else`", node)
        stop: list[ast.stmt] = [ast.copy_location(ast.Break(), node)]
        test: ast.stmt = ast.copy_location(ast.If(node.test, [ast.Pass()], stop), node)
        always = isinstance(node.test, ast.Constant) and bool(node.test.value)
        self.loop(node, [], node.body if always else [test, *node.body], None)

    def sources_of(self, iterable: ast.expr, target: ast.expr) -> list[tuple[ast.expr, bool, ast.expr]]:
        """What a loop goes through: for each source its expression, whether it counts, and its target."""
        if isinstance(iterable, ast.Call) and not iterable.keywords:
            arguments = iterable.args
            starred = any(isinstance(a, ast.Starred) for a in arguments)
            if isinstance(target, ast.Tuple) and not starred:
                if (
                    self.effects.is_builtin(iterable.func, "enumerate")
                    and 1 <= len(arguments) <= 2
                    and len(target.elts) == 2
                ):
                    zero = ast.copy_location(ast.Constant(0), iterable)
                    start = arguments[1] if len(arguments) == 2 else zero
                    inner = self.sources_of(arguments[0], target.elts[1])
                    return [(start, True, target.elts[0]), *inner]
                if self.effects.is_builtin(iterable.func, "zip") and len(arguments) == len(target.elts) > 0:
                    pairs = zip(arguments, target.elts, strict=True)
                    return [source for a, t in pairs for source in self.sources_of(a, t)]
        return [(iterable, False, target)]

    def loop(
        self,
        node: ast.AST,
        over: list[tuple[ast.expr, bool, ast.expr]],
        statements: list[ast.stmt],
        target: ast.expr | None,
        element: tuple[str, ast.expr, ast.expr | None] | None = None,
    ) -> Version | None:
        """Lower a loop, or with `element` (kind, value, key) a comprehension; its container, if it is one."""
        sources = []
        for expression, counted, _ in over:
            simple = isinstance(expression, ast.Name) and expression.id in self.env
            code = self.code(expression, raw=True)
            load = code.loads[0] if simple and code.loads[0].mode == RAW else None
            sources.append(Source(code, counted, -1, load))
        names = [] if element else stored(*statements, *([target] if target is not None else []))
        names = [name for name in names if self.is_local(name)]
        iteration = self.enter(node, statements, names, element)
        outer_env, outer_nodes, depth = dict(self.env), self.nodes, self.depth
        outside = self.env
        self.sizes.append(FIRST)
        self.nodes = []
        self.loops.append(iteration)
        try:
            self.env = dict(outside)
            carried_in = {}
            for written in iteration.stored:
                if written.base is not None:
                    version = outside[written.name]
                    self.env[written.name] = replace(version, depth=depth, slot=written.inside, own=-1)
            for name in names:
                if name in iteration.written:
                    continue
                before = outside.get(name)
                carried_in[name] = self.new()
                self.env[name] = Version(
                    depth + 1, carried_in[name], "other", False, before is None or before.unset
                )
            targets = self.bind_targets(over, sources, iteration)
            iteration.outs = {name: self.new() for name in carried_in}
            iteration.depth = depth + 1
            iteration.carried_in = carried_in
            if element is None:
                goes_on = self.block(statements)
            else:
                self.element(iteration, element)
                goes_on = True
            if goes_on:
                self.leave_iteration(node)
            body = self.nodes
            size = self.sizes[-1]
            inner_env = self.env
        finally:
            self.loops.pop()
            self.sizes.pop()
            self.env, self.nodes = outer_env, outer_nodes
        for name, inner in inner_env.items():
            outer = self.env.get(name)
            if outer is not None and (outer.depth, outer.slot) == (inner.depth, inner.slot) and inner.aliased:
                self.bind(name, replace(outer, aliased=True))
        return self.finish_loop(node, iteration, sources, body, size, targets, statements, element)

    def enter(
        self,
        node: ast.AST,
        statements: list[ast.stmt],
        names: list[str],
        element: tuple[str, ast.expr, ast.expr | None] | None,
    ) -> _Iteration:
        """What the iterations of a loop write, or the error why the loop can't be taken apart."""
        iteration = _Iteration()
        iteration.body = statements
        if element is not None:
            kind = "append" if element[0] == "list" else "key"
            made = Stored("", kind, None, -1, -1, -1, -1, new=list if kind == "append" else dict)
            iteration.add(made, None)
            return iteration
        changed: dict[str, ast.AST] = {}
        for statement in statements:
            for name, at in self.effects.changed(statement).items():
                changed.setdefault(name, at)
        for name, at in changed.items():
            version = self.env.get(name)
            if version is None or self.assigned_first(name, statements):
                continue
            found = [s for s in statements if name in self.effects.changed(s)]
            write = self.write_of(name, found[0]) if len(found) == 1 else None
            if version.kind == "other" or version.aliased or version.own is not None or name in names:
                raise OpaqueError(f"it changes {name} in place, which may be shared", _REMAKE, at)
            if write is None:
                raise OpaqueError(f"it changes {name} in a way that depends on the order", _REMAKE, at)
            always, _ = self.effects.aliased(ast.Module(statements, []))
            if name in always or any(name in self.effects.exposed(s) for s in statements):
                raise OpaqueError(f"it passes {name} on while it still changes it", _REMAKE, at)
            if version.depth != self.depth:
                raise OpaqueError(f"it writes {name} from two loops deep", "build one row in each", at)
            written = Stored(name, write, (version.depth, version.slot), -1, -1, self.new(), self.new())
            iteration.add(written, found[0])
        return iteration

    def assigned_first(self, name: str, statements: list[ast.stmt]) -> bool:
        """Whether each iteration makes the value of a name anew before anything else uses it."""
        for statement in statements:
            if isinstance(statement, (ast.Assign, ast.AnnAssign)):
                targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
                plain = any(isinstance(t, ast.Name) and t.id == name for t in targets)
                if plain and name not in loaded(statement):
                    return True
            if name in loaded(statement) or name in stored(statement):
                return False
        return False

    def write_of(self, name: str, node: ast.stmt) -> str | None:
        """How a statement writes one entry of a container: "append", "index" or None if it doesn't."""
        match node:
            case ast.Expr(
                value=ast.Call(
                    func=ast.Attribute(value=ast.Name(id=found), attr="append"), args=[_], keywords=[]
                )
            ) if found == name:
                version = self.env[name]
                return "append" if version.kind == "list" else None
            case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=found), slice=ast.Name())]) if (
                found == name
            ):
                return "index"
        return None

    def bind_targets(
        self, over: list[tuple[ast.expr, bool, ast.expr]], sources: list[Source], iteration: _Iteration
    ) -> dict[str, int]:
        """Give the loop variables their slots; the names that take one value after another, by slot."""
        targets: dict[str, int] = {}
        for position, ((_, _, target), source) in enumerate(zip(over, sources, strict=True)):
            source.target = self.new()
            version = Version(self.depth, source.target)
            if isinstance(target, ast.Name):
                self.env[target.id] = version
                targets[target.id] = position
                if source.counted or _is_range(source.code.result):
                    self.env[target.id] = replace(version, kind="number")
                continue
            if any(not isinstance(n, (ast.Name, ast.Tuple, ast.List, ast.Starred)) for n in _parts(target)):
                raise OpaqueError("a loop variable that is not a name", "loop over names", target)
            name = self.temporary()
            self.env[name] = version
            load = ast.copy_location(ast.Name(name, ast.Load()), target)
            iteration.unpacked = True
            self.fragment(ast.copy_location(ast.Assign([copy.deepcopy(target)], load), target))
        for written, statement in iteration.statements:
            if written.kind != "index" or statement is None:
                continue
            subscript = statement.targets[0]  # type: ignore[attr-defined]
            index = subscript.slice.id
            if index not in targets or index in stored(*iteration.body):
                raise OpaqueError(
                    f"{written.name} is written at an index that is not the loop's own", _REMAKE, subscript
                )
            written.index = targets[index]
            written.key = sources[targets[index]].target
        return targets

    def element(self, iteration: _Iteration, element: tuple[str, ast.expr, ast.expr | None]) -> None:
        """The element of a comprehension."""
        _, value, key = element
        written = iteration.stored[0]
        if key is not None:
            written.key = self.single(self.hoisted(key))
        written.value = self.single(self.hoisted(value))
        iteration.done.add(id(written))

    def single(self, expression: ast.expr) -> int:
        """The slot of the value of an expression."""
        if isinstance(expression, ast.Name):
            version = self.env.get(expression.id)
            if version is not None and version.depth == self.depth and version.own is None and not version.unset:
                return version.slot
        code = self.code(ast.Tuple([expression], ast.Load()))
        slot = self.new()
        self.nodes.append(Fragment(expression, code, [slot]))
        self.note_aliases(expression)
        return slot

    def store(self, iteration: _Iteration, node: ast.stmt, value: ast.expr) -> None:
        """A statement that writes this iteration's entry of a container."""
        written = iteration.written_by(node)
        if isinstance(value, ast.Name):
            always = {value.id}
            for name in always:
                version = self.env.get(name)
                if version is not None:
                    self.bind(name, replace(version, aliased=True))
        else:
            self.note_aliases(value)
        written.value = self.single(value)
        iteration.done.add(id(written))
        version = self.env[written.name]
        self.bind(written.name, replace(version, own=written.value))

    def leave_iteration(self, node: ast.AST) -> None:
        """Copy what the iteration leaves in its variables to where the next one, or what follows, looks."""
        if not self.loops:
            return  # pragma: no cover - break outside a loop is no Python
        iteration = self.loops[-1]
        if iteration.missing():
            raise OpaqueError("a container is written in some iterations only", _REMAKE, node)
        for name, slot in iteration.outs.items():
            version = self.env.get(name)
            source = None if version is None else (version.depth, version.slot)
            self.nodes.append(Copy(node, source, slot))
            if version is not None:
                iteration.kinds.setdefault(name, []).append(version)

    def finish_loop(
        self,
        node: ast.AST,
        iteration: _Iteration,
        sources: list[Source],
        body: list[Node],
        size: int,
        targets: dict[str, int],
        statements: list[ast.stmt],
        element: tuple[str, ast.expr, ast.expr | None] | None,
    ) -> Version | None:
        """Add the loop, without the variables that nothing carries, and bind what it leaves."""
        depth = self.depth
        read = _slots_read(body, depth + 1)
        needed = _names_outside(self.definition.node, node)
        carried, outs = [], []
        for name, slot in iteration.outs.items():
            before = self.env.get(name)
            first = None if before is None else (before.depth, before.slot)
            into = iteration.carried_in[name]
            is_carried = into in read
            if is_carried:
                carried.append((name, first, into, slot))
            if name in needed or is_carried:
                after = self.new()
                outs.append((after, slot, first))
                versions = iteration.kinds.get(name, [])
                unset = before is None or before.unset or any(v.unset for v in versions) or not versions
                self.bind(name, Version(depth, after, "other", False, unset))
            else:
                self.env.pop(name, None)
        keep = {slot for _, _, _, slot in carried} | {slot for _, slot, _ in outs}
        body = _without_copies(body, set(iteration.outs.values()) - keep)
        container = None
        for written in iteration.stored:
            if written.after < 0:
                written.inside, written.after = self.new(), self.new()
                container = Version(depth, written.after, "list")
            else:
                before = self.env[written.name]
                self.bind(written.name, Version(depth, written.after, before.kind))
        leaves = any(exits(s, True) or _breaks(s) for s in statements) or not sources
        self.nodes.append(
            Loop(
                node, sources, body, size, depth + 1, carried, outs, iteration.stored, targets, self.new(), leaves
            )
        )
        return container


class _Iteration:
    """What is known of a loop while its body is lowered."""

    def __init__(self) -> None:
        self.stored: list[Stored] = []
        self.statements: list[tuple[Stored, ast.stmt | None]] = []
        self.written: set[str] = set()
        self.outs: dict[str, int] = {}
        self.carried_in: dict[str, int] = {}
        self.kinds: dict[str, list[Version]] = {}
        self.done: set[int] = set()
        self.depth = 0
        self.unpacked = False
        self.body: list[ast.stmt] = []

    def add(self, written: Stored, statement: ast.stmt | None) -> None:
        self.stored.append(written)
        self.statements.append((written, statement))
        if written.name:
            self.written.add(written.name)

    def writes(self, node: ast.stmt) -> bool:
        return any(statement is node for _, statement in self.statements)

    def written_by(self, node: ast.stmt) -> Stored:
        return next(written for written, statement in self.statements if statement is node)

    def missing(self) -> bool:
        """Whether an iteration may end here without having written every container."""
        return any(id(written) not in self.done for written in self.stored)


_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class _Hoist(ast.NodeTransformer):
    """Takes the choices out of an expression whose parts are all evaluated, in order."""

    def __init__(self, lowerer: Lowerer) -> None:
        self.lowerer = lowerer

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        if not is_addressed(node):
            return self.generic_visit(node)
        assert isinstance(node.right, ast.UnaryOp)
        address = node.left if is_splice(node.left) else self.visit(node.left)
        return self.lowerer.site(node, address, self.visit(node.right.operand))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        if not is_choice(node):
            return self.generic_visit(node)
        return self.lowerer.site(node, None, self.visit(node.operand))

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.AST:
        if not (isinstance(node.value, ast.UnaryOp) and is_choice(node.value)):
            if has_choice(node.value):
                raise _unhoistable(node, "`:=` of an expression with choices in it")
            return node
        address = assigned_address(node.target)
        name = self.lowerer.site(node.value, address, self.visit(node.value.operand), sugar=True)
        self.lowerer.bind(node.target.id, self.lowerer.env[name.id])
        return ast.copy_location(ast.Name(node.target.id, ast.Load()), node)

    def visit_ListComp(self, node: ast.ListComp) -> ast.AST:
        return self._comprehension(node, "list", node.elt, None) if has_choice(node) else node

    def visit_DictComp(self, node: ast.DictComp) -> ast.AST:
        return self._comprehension(node, "dict", node.value, node.key) if has_choice(node) else node

    def _comprehension(
        self, node: ast.ListComp | ast.DictComp, kind: str, value: ast.expr, key: ast.expr | None
    ) -> ast.AST:
        generator = node.generators[0]
        if len(node.generators) > 1 or generator.ifs or generator.is_async:
            raise _unhoistable(node, "a comprehension with `if` or with two `for`")
        lowerer = self.lowerer
        iterable = self.visit(generator.iter)
        over = lowerer.sources_of(iterable, generator.target)
        version = lowerer.loop(node, over, [], generator.target, (kind, value, key))
        assert version is not None
        name = lowerer.temporary()
        lowerer.bind(name, version)
        return ast.copy_location(ast.Name(name, ast.Load()), node)

    def _conditional(self, node: ast.expr) -> ast.AST:
        if has_choice(node):
            raise _unhoistable(node, "a choice in an expression that is not always evaluated")
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        node.values[0] = self.visit(node.values[0])
        for value in node.values[1:]:
            self._conditional(value)
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        node.test = self.visit(node.test)
        self._conditional(node.body)
        self._conditional(node.orelse)
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        node.left = self.visit(node.left)
        node.comparators[0] = self.visit(node.comparators[0])
        for value in node.comparators[1:]:
            self._conditional(value)
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        return self._conditional(node)

    visit_GeneratorExp = visit_SetComp = visit_Lambda  # type: ignore[assignment]


def _unhoistable(node: ast.AST, what: str) -> OpaqueError:
    return OpaqueError(what, "make it a statement of its own: `if`, or a `for` with .append", node)


# --- small questions about syntax ------------------------------------------------------------------


def _is_simple(value: ast.expr) -> bool:
    """Whether an expression only gathers variables, so that it can't fail and can wait."""
    if isinstance(value, (ast.Name, ast.Constant)):
        return True
    return isinstance(value, (ast.Tuple, ast.List)) and all(map(_is_simple, value.elts))


def _keyword(node: ast.AST) -> str:
    return {"AsyncFor": "async for", "TryStar": "try"}.get(type(node).__name__, type(node).__name__.lower())


def _shares(value: ast.expr) -> bool:
    """Whether an expression may evaluate to an object that something else holds."""
    match value:
        case ast.Name() | ast.Subscript() | ast.Attribute():
            return True
        case ast.IfExp():
            return _shares(value.body) or _shares(value.orelse)
        case ast.BoolOp():
            return any(map(_shares, value.values))
        case ast.Tuple():
            return any(map(_shares, value.elts))
        case ast.NamedExpr():
            return _shares(value.value)
    return False


def _is_range(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range"


def _augments_name(node: ast.AST) -> bool:
    return isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name)


def _callee(function: ast.expr) -> ast.expr:
    """`f` as `__gendsl__.callee(f)`."""
    execution = ast.Name("__gendsl__", ast.Load())
    call = ast.Call(ast.Attribute(execution, "callee", ast.Load()), [function], [])
    for node in (execution, call.func, call):
        ast.copy_location(node, function)
    return call


def _parts(target: ast.expr) -> list[ast.AST]:
    return [n for n in ast.walk(target) if not isinstance(n, ast.expr_context)]


def _bare_uses(name: str, call: ast.expr) -> bool:
    """Whether every use of a name in a call is as an argument by itself."""
    assert isinstance(call, ast.Call)
    bare = sum(isinstance(a, ast.Name) and a.id == name for a in call.args)
    uses = sum(isinstance(n, ast.Name) and n.id == name for n in ast.walk(call))
    return bare == uses


def _indices(name: str, node: ast.AST, effects: Effects) -> tuple[list[ast.expr], int] | None:
    """The indices at which a name is read and how often its length is; None if it is used otherwise."""
    indices: list[ast.expr] = []
    lengths = 0
    pending: list[ast.AST] = [node]
    while pending:
        part = pending.pop()
        if isinstance(part, ast.Subscript) and isinstance(part.value, ast.Name) and part.value.id == name:
            if isinstance(part.slice, ast.Slice) or not isinstance(part.ctx, ast.Load):
                return None
            indices.append(part.slice)
            pending.append(part.slice)
            continue
        if isinstance(part, ast.Call) and effects.is_builtin(part.func, "len") and len(part.args) == 1:
            argument = part.args[0]
            if isinstance(argument, ast.Name) and argument.id == name:
                lengths += 1
                continue
        if isinstance(part, ast.Name) and part.id == name:
            return None
        if isinstance(part, ast.AugAssign) and root_name(part.target) == name:
            return None
        pending.extend(ast.iter_child_nodes(part))
    return indices, lengths


def _replace(tree: ast.expr, old: ast.expr, new: ast.expr) -> ast.expr:
    class Replace(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> ast.AST:
            return new if node is old else self.generic_visit(node)

    return Replace().visit(tree)  # type: ignore[no-any-return]


def _breaks(node: ast.stmt) -> bool:
    """Whether a statement of a loop's body may end the loop, or the iteration, itself."""
    return exits(node)


def _names_outside(function: ast.AST, loop: ast.AST) -> set[str]:
    """The names that are read anywhere in a function but inside one loop."""
    names: set[str] = set()
    pending: list[ast.AST] = list(function.body)  # type: ignore[attr-defined]
    while pending:
        node = pending.pop()
        if node is loop:
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            names.add(node.id)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
        pending.extend(ast.iter_child_nodes(node))
    return names


def codes_of(node: Node) -> list[Code]:
    """The pieces of code of a block itself, not of blocks inside it."""
    match node:
        case Fragment() | Return() | Region():
            return [node.code]
        case Site():
            return [code for code in (node.address, node.thing) if code is not None]
        case Branch():
            return [node.test]
        case Loop():
            return [source.code for source in node.sources]
    return []


def visit(nodes: list[Node], see: Callable[[Node], None]) -> None:
    """Call `see` on every block, outer ones first."""
    for node in nodes:
        see(node)
        if isinstance(node, Branch):
            visit(node.arms[0], see)
            visit(node.arms[1], see)
        elif isinstance(node, Loop):
            visit(node.body, see)


def _slots_read(nodes: list[Node], depth: int) -> set[int]:
    """The slots of the frame of one depth that blocks read, copies to the iteration's outs included."""
    found: set[int] = set()
    copies: list[tuple[int, int]] = []

    def see(node: Node) -> None:
        for code in codes_of(node):
            for load in _all_loads(code):
                if load.depth == depth:
                    found.add(load.slot)
                    if load.own is not None and load.own >= 0:
                        found.add(load.own)
        if isinstance(node, Copy) and node.source is not None and node.source[0] == depth:
            copies.append((node.source[1], node.slot))
        if isinstance(node, Site):
            found.update(load.slot for load in node.arguments if load is not None and load.depth == depth)
        if isinstance(node, Loop):
            for _, first, _, _ in node.carried:
                if first is not None and first[0] == depth:
                    found.add(first[1])
            for _, _, first in node.outs:
                if first is not None and first[0] == depth:
                    found.add(first[1])
            for written in node.stored:
                if written.base is not None and written.base[0] == depth:
                    found.add(written.base[1])
                if node.depth == depth:
                    found.update((written.value, written.key))

    visit(nodes, see)
    # a copy is read if what it copies to is; a copy to a slot of an inner frame always is
    found.update(source for source, slot in copies)
    return found


def _all_loads(code: Code) -> list[Load]:
    loads = list(code.loads)
    for load in code.loads:
        for key in load.keys:
            loads += _all_loads(key)
    return loads


def _without_copies(nodes: list[Node], unread: set[int]) -> list[Node]:
    """The blocks without copies to slots that nothing reads."""
    kept: list[Node] = []
    for node in nodes:
        if isinstance(node, Copy) and node.slot in unread:
            continue
        if isinstance(node, Branch):
            arms = _without_copies(node.arms[0], unread), _without_copies(node.arms[1], unread)
            node = Branch(node.node, node.test, arms, node.defs, node.state)
        kept.append(node)
    return kept


def lower(definition: Definition) -> Program:
    """The body of a `@gen` function as blocks."""
    return Lowerer(definition).program()


__all__ = ["POSITION", "lower", "visit"]
