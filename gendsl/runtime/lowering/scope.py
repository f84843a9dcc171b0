"""The scope that is being lowered: which version of each variable a statement sees, and what is known."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import replace
from operator import is_not
from typing import Any

import numpy as np

from gendsl.lang.names import (
    COMPREHENSIONS,
    arguments_of,
    declared,
    loaded,
    read_elsewhere,
    root_name,
    stored,
)
from gendsl.lang.sites import known_value
from gendsl.lang.source import Source as Definition
from gendsl.lang.trees import walk
from gendsl.runtime.lowering.conditional import read_first
from gendsl.runtime.lowering.effects import Effects
from gendsl.runtime.lowering.emit import TOOLS
from gendsl.runtime.lowering.ir import FIRST, ITEM, LENGTH, RAW, WHOLE, Code, Load, Node
from gendsl.runtime.lowering.questions import with_questions
from gendsl.runtime.lowering.rows import is_cell
from gendsl.runtime.lowering.syntax import indices_read, is_request
from gendsl.runtime.lowering.versions import Version

_SCOPED = (ast.Lambda, ast.NamedExpr, *COMPREHENSIONS)
_MAKE_KEYS = ("abs", "enumerate", "int", "len", "max", "min", "range", "reversed", "sorted", "zip")


class OpaqueError(Exception):
    """A statement, or the body (`whole`), can't be taken apart."""

    def __init__(self, reason: str, rewrite: str, node: ast.AST, *, whole: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.rewrite = rewrite
        self.node = node
        self.whole = whole


REMAKE = "build it in one statement, or by one `mu[i] = ...` or `.append(...)` in each iteration of a loop"


class Scope:
    """The state of lowering one function.

    Attributes:
        env: the version of each variable that the next statement sees.
        nodes: the blocks so far.
        sizes: how many slots the frame of each depth has so far.
        loops: the loops that the next statement is in.
        entries: (container, index) -> the name of the entry that this iteration has put there, and whether
            it may stand for the lookup only where that is an index itself.
        whole: the slots that surely hold a Python integer, or an array of 64-bit integers.
    """

    def __init__(self, definition: Definition) -> None:
        self.definition = definition
        self.effects = Effects(definition)
        self.env: dict[str, Version] = {}
        self.nodes: list[Node] = []
        self.sizes = [FIRST]
        self.codes: list[Code] = []
        self.loops: list[Any] = []
        self.entries: dict[tuple[str, str], tuple[str, bool]] = {}
        self.whole: set[tuple[int, int] | None] = set()
        self.temporaries = 0
        arguments = definition.node.args
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        every += [a for a in (arguments.vararg, arguments.kwarg) if a is not None]
        self.parameters = [a.arg for a in every]
        body = definition.node.body
        self.locals = {*self.parameters, *stored(*body), *declared(body)}

    # --- the body ---------------------------------------------------------------------------------

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

    def is_local(self, name: str) -> bool:
        return name in self.locals or name.startswith("__gendsl_")

    def may_be_unset(self, name: str) -> bool:
        """Whether a variable may have no value at this point."""
        return name not in self.env or self.env[name].unset

    def bind(self, name: str, version: Version) -> None:
        """Let a name have a new version."""
        self.env[name] = version

    def kind_of(self, value: ast.expr) -> str:
        """Whether an expression makes a number, or a list or an array that nothing else holds."""
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
                if version is None:
                    return isinstance(known_value(self.definition, value), (int, float))
                return version.kind == "number"
            case ast.UnaryOp():
                return self.is_number(value.operand)
            case ast.BinOp():
                return self.is_number(value.left) and self.is_number(value.right)
            case ast.Call():
                made = ("len", "float", "int", "bool")
                return any(self.effects.is_builtin(value.func, name) for name in made)
            case ast.Subscript(ast.Name(id=name), index) if not isinstance(index, ast.Slice):
                version = self.env.get(name)
                if version is None or not self.effects.has_number_entries(name):
                    return False
                return version.kind == "list" or (version.kind == "array" and self.is_number(index))
        return False

    def may_be(self, name: str, *statements: ast.AST) -> list[ast.expr | None]:
        """The expressions whose values a variable may get in statements; not those that surely give numbers.

        What a variable gets that gets another value there itself counts, too.
        """
        rebound = set(stored(*statements))
        found: list[ast.expr | None] = []
        seen, pending = {name}, [name]
        while pending:
            for value in self.effects.bindings(pending.pop(), *statements):
                if value is None:
                    found.append(value)
                elif not (rebound.isdisjoint(loaded(value)) and self.is_number(value)):
                    found.append(value)
                    always, parts = self.effects.reached(value)
                    new = ((always | parts) & rebound) - seen
                    seen |= new
                    pending += new
        return found

    def is_whole(self, value: ast.expr) -> bool:
        """Whether an expression surely makes an array of 64-bit integers, as `np.zeros(n, int)` does."""
        if not isinstance(value, ast.Call):
            return False
        made = known_value(self.definition, value.func)
        if not any(made is known for known in (np.zeros, np.ones, np.empty)):
            return False
        named = [keyword.value for keyword in value.keywords if keyword.arg == "dtype"]
        for dtype in (*value.args[1:2], *named):
            known = known_value(self.definition, dtype)
            return self.effects.is_builtin(dtype, "int") or known is np.int64 or known is np.intp
        return False

    def shared(self, *values: ast.expr | None) -> tuple[str, bool]:
        """The kind of a value that one of some expressions gives, and whether something else may hold it."""
        found = [({""}, {""}) if value is None else self.effects.reached(value) for value in values]
        names = {name for always, parts in found for name in always | parts}
        versions = map(self.env.get, names)
        container = any(v is not None and v.kind in ("list", "array", "shared") for v in versions)
        aliased = not all(self.is_number(ast.Name(name, ast.Load())) for name in names)
        return ("shared" if container else "other"), aliased

    def given(self, name: str, *statements: ast.stmt) -> tuple[str, bool]:
        """The same of a variable after statements that may give it a value, or leave it as it is."""
        values = self.may_be(name, *statements)
        kind, aliased = self.shared(*values)
        if name in set().union(*self.effects.aliased(ast.Module([*statements], []))):
            made = any(value is not None and self.effects.is_fresh(value) for value in values)
            kind, aliased = "shared" if made else kind, True
        before = self.env.get(name)
        if before is not None and before.kind != "number" and before.aliased:
            aliased = True
            if before.kind != "other":
                kind = "shared"
        return kind, aliased

    def only_inside(self, node: ast.stmt, names: list[str]) -> set[str]:
        """The variables, of those that a statement assigns to, whose values nothing outside of it needs."""
        inside = {*names} - read_first([node])
        return inside - read_elsewhere(self.definition.node, node) if inside else inside

    def check_changes(self, changed: dict[str, ast.AST], node: ast.stmt) -> None:
        """Raise unless the values that a statement changes are the body's own and reachable by one name."""
        inside = {name for name, deep, _ in self.effects.changes(node) if deep}
        for name, at in changed.items():
            version = self.env.get(name)
            bound = self.effects.bindings(name, node)
            rows = version is not None and version.kind == "list" and self.effects.has_own_rows(name)
            if name in inside and (version is None or bound or not (rows or version.kind == "array")):
                raise OpaqueError(
                    f"it changes something inside {name}",
                    f"make the rows where {name} is made, `[[0.0] * m for _ in range(n)]`, or fill an array",
                    at,
                    whole=True,
                )
            if (bound or version is None) and not self.effects.all_fresh(bound):
                raise OpaqueError(
                    f"it changes {name} in place, which may be reachable by other names",
                    f"make a new value in place of changing {name}",
                    at,
                    whole=True,
                )
            if version is None:
                continue  # made by the statement itself
            if version.own is not None:
                raise OpaqueError(f"{name} is changed in more than one way in a loop", REMAKE, at, whole=True)
            if version.kind in ("other", "shared", "number"):
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
        """Raise if a call that may change its arguments gets a list, array or object of the body's."""
        for name, at in self.effects.exposed(node).items():
            version = self.env.get(name)
            if version is not None and version.kind == "number":
                continue
            if version is None:
                exposed = self.exposes_parts(name, at, node)
            else:
                itself = isinstance(at, ast.Call) and isinstance(at.func, ast.Name) and at.func.id == name
                own = version.kind in ("list", "array") or version.own is not None
                holds = self.effects.may_change(name) or self.effects.holds_containers(name)
                held = (itself and version.kind == "shared") or (
                    holds and not self.effects.only_gathers(at)
                )
                view = version.kind == "shared" and self.exposes_parts(name, at, node)
                exposed = own or held or view or self.effects.writes(at)
            if exposed:
                raise OpaqueError(
                    f"it passes {name} to a call that may change it",
                    f"pass tuple({name}), or a copy",
                    at,
                    whole=True,
                )

    def exposes_parts(self, name: str, at: ast.AST, node: ast.AST) -> bool:
        """Whether a call may change a variable that is part of a list or array of the body's."""
        names = self.effects.sources(name)
        if any(isinstance(n, ast.Lambda) and name in arguments_of(n) for n in walk(node)):
            names = names.union(*map(self.effects.sources, loaded(node)))
        writes, unknown = self.effects.writes(at), self.effects.is_unknown(at)
        for other in names - {name} if writes or unknown else ():
            version = self.env.get(other)
            own = version is not None and version.kind in ("list", "array", "shared")
            if own and (writes or self.effects.has_rows(other) or self.effects.holds_containers(other)):
                return True
        return False

    def guarded(self, node: ast.stmt) -> frozenset[str]:
        """The variables of augmented assignments whose values must not be lists or arrays.

        Raises:
            OpaqueError: one may be a list or array that something else holds, which would change too.
        """
        names: set[str] = set()
        for part in walk(node):
            if not isinstance(part, ast.AugAssign):
                continue
            if isinstance(part.target, ast.Name):
                name = part.target.id
                version = self.env.get(name)
                aliased = version is not None and version.kind != "number" and version.aliased
                inside = part is not node and self.shared(*self.may_be(name, node))[1]
                if version is not None and version.kind == "other":
                    inside |= self.effects.changes_itself(name) or self.effects.viewed(name, part)
                if inside or (aliased and version is not None and version.kind != "other"):
                    reason = f"it may change {name} in place after another name or container got hold of it"
                    raise OpaqueError(
                        reason, f"write `{name} = {name} ...` with an operator", part, whole=True
                    )
                if aliased:
                    names.add(name)
                continue
            root = root_name(part.target) or ""
            if self.may_change_entry(part):
                reason = f"it may change something inside {root}"
                raise OpaqueError(reason, "assign the entry anew, with an operator", part, whole=True)
        return frozenset(names)

    def may_change_entry(self, node: ast.AugAssign) -> bool:
        """Whether `rows[i] += ...` may change a list or an array that is an entry of a list."""
        root = root_name(node.target) or ""
        version = self.env.get(root)
        if version is None or version.kind != "list":
            return False
        added = (ast.List, ast.Tuple, ast.Set, ast.Dict, *COMPREHENSIONS)
        simple = not any(isinstance(part, (ast.Call, ast.NamedExpr)) for part in walk(node.target))
        known = simple or self.effects.holds_numbers(root)
        return isinstance(node.value, added) or self.effects.holds_containers(root) or not known

    def rows(self, statement: ast.AST) -> set[str]:
        """The lists of which `rows[i] += ...` may change an entry in place, where that is not known."""
        own = {name for name, version in self.env.items() if version.kind == "list"}
        return {
            root
            for part in walk(statement)
            if isinstance(part, ast.AugAssign) and isinstance(part.target, ast.Subscript)
            if (root := root_name(part.target)) in own and not self.effects.holds_numbers(root or "")
        }

    def note_aliases(self, node: ast.AST) -> None:
        """Mark the versions that a statement makes reachable by another way."""
        always, arrays = self.effects.aliased(node)
        for name in always | arrays:
            version = self.env.get(name)
            if version is not None and not version.aliased and (name in always or self.shows(name, node)):
                self.bind(name, replace(version, aliased=True))

    def shows(self, name: str, node: ast.AST) -> bool:
        """Whether a part of a list or an array that a statement holds changes with it: a row, or a view."""
        kind = self.env[name].kind
        rows = kind == "list" and self.effects.changes_rows(name)
        return not self.effects.only_cells(name, node) if rows else kind == "array"

    def note_parts(self, expression: ast.expr) -> None:
        """Mark the arrays that a loop goes through, of which its variable is a view, and what it may be."""
        always, parts = self.effects.entries(expression)
        for name in always | parts:
            version = self.env.get(name)
            if version is not None and (name in always or self.shows(name, expression)):
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
        guarded: frozenset[str] = frozenset(),
        traced: bool = False,
        raw: bool = False,
    ) -> Code:
        """Code for an expression, after statements if there are any, with loads for all that it reads.

        Args:
            extra: names to load though they are not read.
            copied: names whose values it changes.
            blank: names that it may leave unassigned.
            guarded: names whose values must not be lists or arrays.
            raw: hand containers on as they are where the expression is just a name.
        """
        statements = statements or []
        walrus = next((part for part in walk(result) if isinstance(part, ast.NamedExpr)), None)
        if not statements and walrus is not None:
            raise OpaqueError("`:=` in it", f"assign {walrus.target.id} in a statement of its own", walrus)
        for name, at in self.effects.changed(result).items() if not statements else ():
            raise OpaqueError(f"it changes {name} in the middle", "do so in a statement of its own", at)
        if not statements and not is_request(result):
            self.check_exposed(result)
        own = set(stored(*statements)) if statements else set(stored(result))
        first: list[ast.AST] = [*statements] or [result]
        names = read_first(statements) | (loaded(result) - own) if statements else loaded(result)
        names |= set(extra)
        loads = []
        for name in sorted(names):
            version = self.env.get(name)
            if version is None:
                if name in self.locals and name not in own:
                    loads.append(Load(name, -1, -1, WHOLE, unset=True))
                continue
            mode = WHOLE
            keys: list[Code] = []
            if raw and isinstance(result, ast.Name) and not statements:
                mode = RAW
            elif name not in copied and name not in own and name not in extra:
                mode, keys = self.mode_of(name, first, own)
            cells = bool(keys) and all(is_cell(key.result) for key in keys)
            loads.append(version.load(name, mode, keys, cells))
        asking = [self.with_questions(statement) for statement in statements]
        asks = bool(guarded) or any(map(is_not, asking, statements))
        if not statements:
            asked = self.with_questions(result)
            asks, result = asks or asked is not result, asked
        statements = [part for new in asking for part in (new if isinstance(new, list) else [new])]
        rows = self.effects.rows_changed(copied, statements) if copied else copied
        code = Code(self.depth, loads, statements, result, copied, blank, traced, guarded, asks, rows=rows)
        self.codes.append(code)
        return code

    def with_questions(self, tree: ast.AST) -> Any:
        """A statement or an expression with what it asks when it runs."""
        lists = {name for name, version in self.env.items() if version.kind == "list"}
        return with_questions(tree, self.effects, lists, self.rows(tree), self.is_number)

    def mode_of(self, name: str, parts: list[ast.AST], own: set[str]) -> tuple[str, list[Code]]:
        """How code reads a variable: by index, if every use is `name[index]`, or only its length."""
        indices: list[ast.expr] = []
        lengths = 0
        rows = self.effects.changes_rows(name)
        for part in parts:
            found = indices_read(name, part, self.effects, rows)
            if found is None:
                return WHOLE, []
            indices += found[0]
            lengths += found[1]
        for index in indices:
            names = loaded(index) - {TOOLS}
            if names & own or name in names or not all(n in self.env or not self.is_local(n) for n in names):
                return WHOLE, []
            if isinstance(index, ast.Starred):
                if not self.differs_by_iteration(index.value, names):
                    return WHOLE, []
            elif isinstance(index, ast.Slice) or any(isinstance(n, _SCOPED) for n in walk(index)):
                return WHOLE, []
        if not indices:
            return (LENGTH, []) if lengths else (WHOLE, [])
        if lengths:
            return WHOLE, []
        return ITEM, [self.key(index) for index in indices]

    def differs_by_iteration(self, keys: ast.expr, names: set[str]) -> bool:
        """Whether the keys that a comprehension reads are others in each iteration, and cheap to make again.

        Where all iterations read the same, to know which it is would cost more than it saves.
        """
        for part in walk(keys):
            if isinstance(part, (ast.Lambda, ast.NamedExpr, ast.Await)):
                return False
            if isinstance(part, ast.Call) and not any(
                self.effects.is_builtin(part.func, function) for function in _MAKE_KEYS
            ):
                return False
        versions = [self.env[name] for name in names if name in self.env]
        return self.depth > 0 and any(version.depth == self.depth for version in versions)

    def key(self, index: ast.expr) -> Code:
        """Code for an index, or for a list of those that a comprehension reads."""
        code = self.code(index.value if isinstance(index, ast.Starred) else index)
        code.several = isinstance(index, ast.Starred)
        return code
