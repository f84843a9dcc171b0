"""What statements do to the values they touch: what they change, keep and hand on."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from gendsl.distributions import Distribution
from gendsl.errors import SourceUnavailableError, UnsupportedSyntaxError
from gendsl.lang.names import (
    arguments_of,
    base_of,
    binds,
    has_choice,
    levels,
    loaded,
    reads_builtin,
    root_name,
    stored,
)
from gendsl.lang.source import Source, find_source
from gendsl.lang.trees import walk
from gendsl.runtime.lowering.objects import (
    CHANGING_METHODS,
    ITERATORS,
    PURE_METHODS,
    function_inside,
    function_key,
)
from gendsl.runtime.lowering.overwrites import CHANGING_FUNCTIONS, is_users, overwritten
from gendsl.runtime.lowering.rows import Rows
from gendsl.runtime.lowering.sharing import NEW_METHODS

_IMPURE_BUILTINS = next, setattr, delattr, eval, exec, locals, globals, vars, super, input, open
_CONSUMERS = (
    "all", "any", "dict", "frozenset", "list", "max", "min", "set", "sorted", "sum", "tuple",
)  # fmt: skip
"""Builtins that go through a whole iterable before they return."""
_UNKNOWABLE = eval, exec, locals, globals, vars, super, dir, breakpoint


class Effects(Rows):
    """What the statements of one function may do to the values they touch."""

    def unknowable(self, body: list[ast.stmt]) -> tuple[str, str, ast.AST] | None:
        """Why no statement of a body can be taken by itself, or None."""
        parts = [part for statement in body for part in walk(statement)]
        for part in parts:
            if isinstance(part, (ast.FunctionDef, ast.ClassDef)):
                return f"it defines {part.name} inside", "define it outside", part
            if isinstance(part, ast.Global):
                return "`global`", "pass values in and out as arguments and return values", part
            if isinstance(part, ast.Nonlocal):
                return "`nonlocal`", "pass values in and out as arguments and return values", part
            if isinstance(part, ast.Delete):
                return "`del`", "leave the name, or build the container without the entry", part
            if isinstance(part, (ast.Yield, ast.YieldFrom, ast.Await)):
                return "it is a generator", "return a list", part
            if isinstance(part, ast.Name) and part.id == "__class__":
                return "`__class__` reaches every variable", "do without `__class__`", part
            if isinstance(part, ast.Attribute) and part.attr == "set_trace":
                return "a debugger reaches every variable", "do without `set_trace`", part
        called = reads_builtin(self.source, _UNKNOWABLE)
        if called is not None:
            name = ast.unparse(called)
            return f"`{name}` reaches every variable", f"do without `{name}`", called
        return self._late(parts) or self._iterator(parts)

    def _late(self, parts: list[ast.AST]) -> tuple[str, str, ast.AST] | None:
        """A lambda or generator that may look a variable up when it has another value, or change one."""
        late = [part for part in parts if isinstance(part, (ast.Lambda, ast.GeneratorExp))]
        used = self._used_at_once(parts) if late else set()
        for part in late:
            what = "a lambda" if isinstance(part, ast.Lambda) else "a generator"
            if isinstance(part, ast.Lambda) and self.changed(part.body):
                return "a lambda that changes something", "do it in a statement", part
            if part in used:
                continue
            read = loaded(part.body) - arguments_of(part) if isinstance(part, ast.Lambda) else loaded(part)
            for name in sorted(read & self.source.bound):
                places = [n for n in self.source.parts if binds(n, name)]
                looped = any(
                    isinstance(loop, (ast.For, ast.While)) and any(n in places for n in walk(loop))
                    for loop in self.source.parts
                )
                later = any(getattr(n, "lineno", 0) >= part.lineno for n in places)
                if len(places) != 1 or looped or later:
                    reason = f"{what} that reads {name}, which it finds when it is called"
                    return reason, f"bind it, `lambda ..., {name}={name}: ...`, or use a function", part
        return None

    def _used_at_once(self, parts: list[ast.AST]) -> set[ast.AST]:
        """The arguments of calls that return only after they have used what they were given."""
        found: set[ast.AST] = set()
        for part in (part for part in parts if isinstance(part, ast.Call)):
            method = part.func.attr if isinstance(part.func, ast.Attribute) else ""
            function = self.function_of(part)
            name = getattr(function, "__name__", "")
            lazy = name in ITERATORS or (isinstance(function, type) and name not in _CONSUMERS)
            if is_users(function) and not self.gives_new(function):
                lazy = True
            if method in ("sort", "join", "extend", "update") or (self.leaves_alone(part) and not lazy):
                found.update((*part.args, *(k.value for k in part.keywords)))
        pending = list(found)
        while pending:  # sum(map(lambda ...)): used up together with what it is in
            argument = pending.pop()
            if isinstance(argument, ast.Call) and self.is_iterator(argument):
                found.update(argument.args)
                pending += argument.args
        return found

    def _iterator(self, parts: list[ast.AST]) -> tuple[str, str, ast.AST] | None:
        """An iterator that a variable or a container gets: going through it changes it."""
        for part in parts:
            kept: list[ast.expr | None] = []
            if isinstance(part, ast.Assign):
                unpacked = all(isinstance(target, (ast.Tuple, ast.List)) for target in part.targets)
                kept = [] if unpacked else [part.value]
            elif isinstance(part, (ast.AnnAssign, ast.NamedExpr)):
                kept = [part.value]
            elif isinstance(part, (ast.List, ast.Tuple, ast.Set)):
                kept = list(part.elts)
            elif isinstance(part, ast.Dict):
                kept = list(part.values)
            elif isinstance(part, ast.Call) and self.puts_into(part):
                kept = [] if part.func.attr in ("extend", "update") else list(part.args)  # type: ignore[attr-defined]
            for value in kept:
                if value is not None and self.is_iterator(value):
                    return "an iterator in a variable", "make a list of it", value
        return None

    def outlives(self, node: ast.AST) -> bool:
        """Whether choices in a statement's lambdas and generators may be made after it was executed."""
        used_up = {
            argument
            for call in walk(node)
            if isinstance(call, ast.Call) and any(self.is_builtin(call.func, name) for name in _CONSUMERS)
            for argument in call.args
        }
        return any(
            isinstance(part, (ast.Lambda, ast.GeneratorExp)) and part not in used_up and has_choice(part)
            for part in walk(node)
        )

    def changes(self, node: ast.AST) -> Iterator[tuple[str, bool, ast.AST]]:
        """What a statement changes in place: the local name, whether it is inside its value, and where."""

        def change(target: ast.expr, at: ast.AST, own: int) -> Iterator[tuple[str, bool, ast.AST]]:
            root = base_of(target)
            names = {root.id} if isinstance(root, ast.Name) else set()
            if not isinstance(root, ast.Name) and not self.is_iterator(root):
                names = _union(self.reached(root))  # of `(a if c else b)[0]` and `a.ravel()[0]`
            for name in names & self.source.bound:
                yield name, levels(target) > own, at

        for part in walk(node):
            if isinstance(part, (ast.Subscript, ast.Attribute)):
                if not isinstance(part.ctx, ast.Load) or self.fills_in(part):
                    yield from change(part, part, 1)
            elif isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load) and self.is_restless(part.id):
                yield part.id, False, part
            elif isinstance(part, ast.Call):
                if isinstance(part.func, ast.Attribute):
                    method = part.func.attr
                    root = root_name(part.func)
                    if root in self.source.bound and not self._pure_method(part, root):
                        yield from change(part.func, part, 1)
                    elif root is None and method in CHANGING_METHODS:
                        yield from change(part.func.value, part, 0)
                    elif root is None:  # the method of something that a call gives
                        for name in _union(self.reached(part.func.value)) & self.source.bound:
                            if self.changes_objects(self.origins(name), method):
                                yield name, True, part
                for argument in overwritten(self.source, part):
                    yield from change(argument, part, 0)

    def changes_arguments(self) -> bool:
        """Whether the function may change an argument of its own, as far as one can see."""
        names: set[str] = set()
        for statement in self.source.node.body:
            names |= self.changed(statement).keys()
            names |= {name for name, at in self.exposed(statement).items() if self.writes(at)}
            for part in walk(statement):
                if isinstance(part, ast.AugAssign) and isinstance(part.target, ast.Name):
                    names.add(part.target.id)
        return any(self.may_be_given(name) for name in names)

    def changed(self, node: ast.AST) -> dict[str, ast.AST]:
        """The local names whose values a statement changes in place, with where it does."""
        names: dict[str, ast.AST] = {}
        for name, _, at in self.changes(node):
            names.setdefault(name, at)
        return names

    def _pure_method(self, call: ast.Call, root: str) -> bool:
        """Whether a method leaves what it is called on as it was, as far as its name and class tell.

        What the body hasn't made itself, such as `self`, has no methods that change it but those of
        lists, dicts, sets and arrays: a body that changed its arguments would mean something else each time.
        """
        assert isinstance(call.func, ast.Attribute)
        method = call.func.attr
        origins = self.origins(root)
        if origins:
            return not self.changes_objects(origins, method)
        made = any(isinstance(value, ast.Call) for value in self.bindings(root, *self.source.node.body))
        return method in PURE_METHODS if made else method not in CHANGING_METHODS

    def aliased(self, node: ast.AST) -> tuple[set[str], set[str]]:
        """The local names whose values a statement, or an expression that is kept, makes reachable otherwise.

        The second set are those of which it may do so if they are arrays, which have views.
        """
        names: set[str] = set()
        arrays: set[str] = set()

        def keep(*values: ast.expr | None) -> None:
            for value in values:
                always, parts = self.reached(value)
                names.update(always)
                arrays.update(parts)

        if isinstance(node, ast.expr):
            keep(node)
        for part in walk(node):
            match part:
                case ast.Assign() | ast.AnnAssign() | ast.NamedExpr() | ast.Return():
                    keep(part.value)
                case ast.AugAssign() if not isinstance(part.value, ast.Name):
                    keep(part.value)
                case ast.For():
                    always, parts = self.entries(part.iter)
                    names |= always
                    arrays |= parts
                case ast.withitem():
                    keep(part.context_expr)
                case ast.Match():
                    keep(part.subject)
                case ast.Lambda():
                    names |= loaded(part)
                case ast.Call() if not self.leaves_alone(part):
                    keep(*part.args, *(k.value for k in part.keywords))
        return names, arrays

    def has_parts_kept(self, name: str) -> bool:
        """Whether a variable's value is changed in place while parts of it may be kept elsewhere."""
        body = ast.Module(self.source.node.body, [])
        added = (part.target for part in self.source.parts if isinstance(part, ast.AugAssign))
        changed = name in self.changed(body) or any(binds(target, name) for target in added)
        return changed and name in self.aliased(body)[1]

    def exposed(self, node: ast.AST) -> dict[str, ast.AST]:
        """The local names that a statement hands to calls that may change their values."""
        found: dict[str, ast.AST] = {}
        called = {part.func for part in walk(node) if isinstance(part, ast.Call)}
        for part in walk(node):
            if isinstance(part, ast.Call) and not self.puts_into(part):
                alone, writes = self.leaves_alone(part), self.writes(part)
                unknown = self.is_unknown(part)
                if alone and not writes and not unknown:
                    found.update(dict.fromkeys(self._changed_by_name(part), part))
                    continue
                itself = [] if isinstance(part.func, (ast.Attribute, ast.Lambda)) else [part.func]
                for argument in (*part.args, *(k.value for k in part.keywords), *itself):
                    inside = argument.value if isinstance(argument, ast.Starred) else argument
                    always, parts = self.reached(inside)
                    if alone and not writes:  # what it is given to call gets parts only
                        always, parts = set(), always | parts
                    found.update(dict.fromkeys(always, part))
                    held = {n for n in parts if self.holds_containers(n) or self.origins(n)}
                    if writes:  # a row of an array, too
                        held |= {name for name in parts if self.has_views(name)}
                    elif unknown:
                        held |= {name for name in parts if self.has_rows(name)}
                    found.update(dict.fromkeys(held, part))
            elif isinstance(part, ast.Attribute) and part.attr in CHANGING_METHODS and part not in called:
                found.update(dict.fromkeys(self.reached(part.value)[0], part))
        return found

    def _changed_by_name(self, call: ast.Call) -> set[str]:
        """What a function of the user's may change by a method with the name of one that changes nothing."""
        inner = function_inside(self.function_of(call))
        if inner is None or not is_users(inner):
            return set()
        given = self._all([*call.args, *(k.value for k in call.keywords)])
        return {name for name in _union(given) if self.misleads(name)}

    def puts_into(self, call: ast.Call) -> bool:
        """Whether a call is of a container's method: that keeps what it is given, and doesn't change it."""
        method = isinstance(call.func, ast.Attribute) and root_name(call.func) in self.source.bound
        return method and call.func.attr in ("append", "extend", "insert", "add", "setdefault")  # type: ignore[attr-defined]

    def may_change_arguments(self, call: ast.Call) -> bool:
        """Whether a call may change what it is given, for all that is known of it."""
        if self.puts_into(call) or self.only_gathers(call):
            return False
        if not self.leaves_alone(call) or self.writes(call) or self.is_unknown(call):
            return True
        root = root_name(call.func)  # the method of something that need not be a list, an array or a text
        return self.function_of(call) is None and not self.all_fresh(
            self.bindings(root or "", *self.source.node.body) or [None]
        )

    def leaves_alone(self, call: ast.Call) -> bool:
        """Whether a call surely neither changes nor keeps its arguments, unless in what it returns."""
        function = self.function_of(call)
        if function is None:
            method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
            return method in NEW_METHODS and root_name(call.func) in self.source.bound
        name = getattr(function, "__name__", "")
        module = (getattr(function, "__module__", None) or "").partition(".")[0]
        if name in CHANGING_FUNCTIONS or any(function is builtin for builtin in _IMPURE_BUILTINS):
            return False
        if module in ("copy", "dataclasses"):
            return True
        if isinstance(function, type):
            return issubclass(function, Distribution) or function.__module__ in (
                "builtins",
                "collections",
                "itertools",
            )
        inner = function_inside(function)
        if inner is not None and is_users(inner):
            return is_pure(inner)
        if isinstance(function, np.ufunc):
            return True
        return module in (
            "_bisect", "_operator", "_statistics", "autograd", "builtins", "cmath", "gendsl", "math", "numpy",
            "operator", "scipy", "statistics",
        )  # fmt: skip

    def keeps_still(self, function: ast.FunctionDef | ast.Lambda) -> bool:
        """Whether a function defined inside surely changes nothing but what it is given."""
        if function not in self._still:
            self._still[function] = True  # a call of itself is as good as the rest
            self._still[function] = self._keeps_still(function)
        return self._still[function]

    def _keeps_still(self, function: ast.FunctionDef | ast.Lambda) -> bool:
        if isinstance(function, ast.Lambda):
            body: list[ast.AST] = [function.body]
            own = set()
        else:
            body = [*function.body]
            own = {n for n in stored(*body) if self.all_fresh(self.bindings(n, *function.body))}
        own |= {a.arg for a in function.args.args} - {a.arg for a in _with_defaults(function.args)}
        if any(isinstance(n, (ast.Nonlocal, ast.Global)) for part in body for n in walk(part)):
            return False
        return all((self.changed(part).keys() | self.exposed(part).keys()) <= own for part in body)

    def reads_only(self, function: FunctionType) -> bool:
        """Whether a function of the user's surely neither changes its arguments nor keeps them to itself."""
        return is_pure(function)

    def writes_arguments(self, function: FunctionType) -> bool:
        """Whether it can be seen that a function of the user's changes what it didn't make."""
        return writes_arguments(function)

    def changes_yielded(self, function: FunctionType) -> bool:
        """Whether a generator function of the user's may change what it has yielded."""
        return not _known(_YIELDS, function, _yields_values)

    def gives_new(self, function: Any) -> bool:
        """Whether what a function of the user's returns surely shares nothing with its arguments."""
        inner = function_inside(function)
        return inner is not None and returns_new(inner)


# --- functions of the user's -----------------------------------------------------------------------

_Answers = WeakKeyDictionary[Any, bool]
_PURE: _Answers = WeakKeyDictionary()
_NEW: _Answers = WeakKeyDictionary()
_WRITES: _Answers = WeakKeyDictionary()
_YIELDS: _Answers = WeakKeyDictionary()


def is_pure(function: FunctionType) -> bool:
    """Whether a function of the user's surely neither changes its arguments nor keeps them to itself."""
    return _known(_PURE, function, _reads_only)


def writes_arguments(function: FunctionType) -> bool:
    """Whether it can be seen that a function of the user's changes what it didn't make."""
    return not _known(_WRITES, function, lambda source: not _writes(source))


def returns_new(function: FunctionType) -> bool:
    """Whether what a function of the user's returns surely shares nothing with its arguments."""
    return _known(_NEW, function, _shares_nothing)


def _known(answers: _Answers, function: FunctionType, find: Callable[[Source], bool]) -> bool:
    key = function_key(function)
    if key not in answers:
        before = set(answers)
        answers[key] = True  # a recursive call is as good as the rest
        try:
            found = find(find_source(function, "transform"))
        except (SourceUnavailableError, UnsupportedSyntaxError):
            found = False
        for other in [] if found else set(answers) - before:  # they may have counted on it
            answers.pop(other, None)
        answers[key] = found
    return answers[key]


def _with_defaults(arguments: ast.arguments) -> list[ast.arg]:
    """The arguments that have a default, which stays from call to call."""
    count = len(arguments.defaults)
    return (arguments.args[-count:] if count else []) + arguments.kwonlyargs


def _made_inside(effects: Effects) -> set[str]:
    """The names that only ever have lists, dicts and arrays that the function has made."""
    node = effects.source.node
    names = set(stored(*node.body)) - arguments_of(node)
    return {name for name in names if effects.all_fresh(effects.bindings(name, *node.body))}


def _rebound(effects: Effects) -> set[str]:
    """The variables that only ever have values which nothing else holds, or numbers."""
    node = effects.source.node
    names = set(stored(*node.body)) - arguments_of(node)
    return {
        name
        for name in names
        if not any(v is None or _union(effects.reached(v)) for v in effects.bindings(name, *node.body))
    }


def _reads_only(source: Source) -> bool:
    effects = Effects(source)
    body = source.node.body
    if effects.unknowable(body) is not None:
        return False
    made = _made_inside(effects)
    augmented: set[str] = set()
    for statement in body:
        if any(inside or name not in made for name, inside, _ in effects.changes(statement)):
            return False
        for part in walk(statement):
            if isinstance(part, ast.AugAssign) and isinstance(part.target, ast.Name):
                augmented.add(part.target.id)
            if isinstance(part, ast.Call) and not effects.leaves_alone(part):
                method = part.func.attr if isinstance(part.func, ast.Attribute) else ""
                pure = method in PURE_METHODS and root_name(part.func) in source.bound
                if not pure and root_name(part.func) not in made:
                    return False
    return augmented <= _rebound(effects)


def _writes(source: Source) -> bool:
    effects = Effects(source)
    made, rebound = _made_inside(effects), _rebound(effects)
    for statement in source.node.body:
        if any(name not in made for name, _, _ in effects.changes(statement)):
            return True
        for part in walk(statement):
            if isinstance(part, ast.AugAssign) and isinstance(part.target, ast.Name):
                if part.target.id not in rebound:
                    return True
            elif effects.writes(part):
                return True
    return False


def _yields_values(source: Source) -> bool:
    """Whether what a generator function has yielded surely stays as it is."""
    effects, body = Effects(source), source.node.body
    parts = [part for statement in body for part in walk(statement)]
    changed = {name for statement in body for name, _, _ in effects.changes(statement)}
    for part in parts:
        if isinstance(part, ast.AugAssign) and isinstance(part.target, ast.Name):
            changed.add(part.target.id)
    changed -= {name for name in _rebound(effects) if not effects.all_fresh(effects.bindings(name, *body))}
    yielded = [part.value for part in parts if isinstance(part, (ast.Yield, ast.YieldFrom))]
    names = {name for value in yielded for name in _union(effects.reached(value))}
    return not any(effects.sources(name) & changed for name in names)


def _shares_nothing(source: Source) -> bool:
    effects = Effects(source)
    body = source.node.body
    returned = [part for statement in body for part in walk(statement) if isinstance(part, ast.Return)]
    kept, _ = effects.aliased(ast.Module([s for s in body if not isinstance(s, ast.Return)], []))
    if effects.unknowable(body) is not None or kept & arguments_of(source.node):
        return False
    new = _rebound(effects)
    return all(_union(effects.reached(part.value)) <= new for part in returned)


def _union(found: tuple[set[str], set[str]]) -> set[str]:
    return found[0] | found[1]
