"""Which variables may have, hold or be part of objects that can change: instances of classes, sets, deques.

Lists, dicts and arrays are copied before they are changed, so that each statement leaves what others see as
it was. An object can't be copied by somebody who doesn't know its class, so a body that changes one has to
run as a whole. Whatever isn't known to be no such object counts as one.
"""

from __future__ import annotations

import ast
import collections
import dataclasses
import datetime
import decimal
import fractions
import functools
import inspect
import sys
from inspect import CO_GENERATOR
from types import FunctionType, MethodType
from typing import Any
from weakref import WeakKeyDictionary

from gendsl.distributions import Distribution
from gendsl.errors import SourceUnavailableError, UnsupportedSyntaxError, is_users_file
from gendsl.interface import GenerativeFunction
from gendsl.lang.names import root_name
from gendsl.lang.sites import is_choice, known_value
from gendsl.lang.source import Source, find_source
from gendsl.lang.trees import children, walk
from gendsl.runtime.lowering.overwrites import is_users
from gendsl.runtime.lowering.sharing import NEW_BUILTINS, NEW_METHODS, VIEWING_METHODS, Sharing

Origins = frozenset[Any]
"""The classes of which a value may hold instances; None among them where that is not known."""

NOTHING: Origins = frozenset()
UNKNOWN: Origins = frozenset((None,))

PURE_METHODS = frozenset((
    "_asdict", "_replace", "all", "any", "argmax", "argmin", "argsort", "astype", "bit_length", "capitalize",
    "clip", "conj", "copy", "count", "cumsum", "diagonal", "dot", "endswith", "find", "flatten", "format",
    "get", "imag", "index", "is_integer", "isdigit", "item", "items", "join", "keys", "logpdf", "lower",
    "max", "mean", "min", "ndim", "nonzero", "prod", "ravel", "real", "repeat", "replace", "request",
    "reshape", "round", "sample", "searchsorted", "shape", "size", "split", "squeeze", "startswith", "std",
    "strip", "sum", "support", "swapaxes", "take", "tolist", "trace", "transpose", "upper", "values", "var",
))  # fmt: skip
"""Methods that leave what they are called on as it was."""

CHANGING_METHODS = frozenset((
    "__setitem__", "add", "append", "appendleft", "clear", "discard", "extend", "extendleft", "fill",
    "insert", "itemset", "partition", "pop", "popitem", "popleft", "put", "remove", "resize", "reverse",
    "rotate", "setdefault", "setflags", "sort", "subtract", "update",
))  # fmt: skip
"""Methods of Python's containers and NumPy's arrays that change them."""

ITERATORS = frozenset(("enumerate", "filter", "iter", "map", "open", "reversed", "zip"))
_ENDLESS = frozenset(("count", "cycle", "repeat"))

_FIXED = (
    bool, bytes, complex, datetime.date, datetime.timedelta, decimal.Decimal, Distribution, float,
    fractions.Fraction, frozenset, int, range, slice, str, tuple,
)  # fmt: skip
_COPIED = dict, enumerate, filter, functools.partial, list, map, reversed, zip
_HOLDING = frozenset, tuple, *_COPIED
"""Classes whose instances don't change, or are copied before they do, but may hold objects that can."""

_ARRAYS = frozenset(("autograd", "cmath", "gendsl", "math", "numpy", "operator", "scipy", "statistics"))


class Objects(Sharing):
    """What the variables of one function may have to do with objects."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self._given: dict[str, list[ast.expr]] | None = None
        self._origins: dict[str, Origins] = {}
        self._still: dict[ast.AST, bool] = {}
        self._answers: dict[tuple[str, str], bool] = {}

    def origins(self, name: str) -> Origins:
        """The classes of the objects that a variable may have, hold or be part of; arguments have none."""
        if name not in self._origins:
            self._origins[name] = self._of_name(name, set())
        return self._origins[name]

    def returned_origins(self) -> Origins:
        """The same of what the function returns."""
        return self._union(self.returned(), set())

    def returned(self) -> list[ast.expr]:
        """The expressions that the function returns the value of."""
        return [n.value for n in self.source.parts if isinstance(n, ast.Return) and n.value]

    def _of_name(self, name: str, seen: set[str]) -> Origins:
        if name in seen or name not in self.source.bound:
            return NOTHING
        seen.add(name)
        inside = [n for n in self._functions if n.name == name]
        changing = UNKNOWN if not all(map(self.keeps_still, inside)) else NOTHING
        return changing | self._union(self.given(name), seen)

    @functools.cached_property
    def _functions(self) -> list[ast.FunctionDef]:
        """The functions that are defined inside this one."""
        parts = self.source.parts
        return [p for p in parts if isinstance(p, ast.FunctionDef) and p is not self.source.node]

    def keeps_still(self, function: ast.FunctionDef | ast.Lambda) -> bool:
        """Whether a function defined inside surely changes nothing but what it is given."""
        raise TypeError("defined by Effects")

    def given(self, name: str) -> list[ast.expr]:
        """The expressions that a variable gets its value from, and those that may be put into it."""
        if self._given is None:
            self._given = _given(self.source.node)
        return self._given.get(name, [])

    def _union(self, nodes: Any, seen: set[str]) -> Origins:
        return NOTHING.union(*(self._of(node, seen) for node in nodes))

    def _of(self, node: ast.AST, seen: set[str]) -> Origins:
        match node:
            case ast.Name():
                return self._of_name(node.id, seen)
            case ast.Constant() | ast.JoinedStr() | ast.Compare():
                return NOTHING
            case ast.Lambda():
                return NOTHING if self.keeps_still(node) else UNKNOWN
            case ast.UnaryOp(operand=ast.Call() as call) if is_choice(node) and self.is_drawn(call):
                return NOTHING
            case ast.UnaryOp(operand=ast.Call() as call) if is_choice(node):
                return self._of(call, seen) - UNKNOWN  # what a program gives are values
            case ast.Set() | ast.SetComp():
                return frozenset((set,))
            case ast.Subscript() | ast.Attribute():
                return self._of(node.value, seen)
            case ast.ListComp() | ast.GeneratorExp():
                return self._of(node.elt, seen)
            case ast.DictComp():
                return self._union((node.key, node.value), seen)
            case ast.Call():
                return self._of_call(node, seen)
        return self._union(children(node), seen)

    def _of_call(self, call: ast.Call, seen: set[str]) -> Origins:
        function = self.function_of(call)
        inside = [*call.args, *(keyword.value for keyword in call.keywords)]
        if function is None and isinstance(call.func, ast.Attribute):
            method = call.func.attr
            if method in NEW_METHODS:
                return NOTHING
            if method in VIEWING_METHODS or method in _HANDING_ON:
                return self._union((call.func.value, *inside), seen)
            function = self.found(call.func)
            if function is None:
                return self._union((call.func.value, *inside), seen) | UNKNOWN
        if function is None:
            return UNKNOWN
        name, module = getattr(function, "__name__", ""), getattr(function, "__module__", None) or ""
        if function is functools.partial and not all(map(_is_handed_on, inside)):
            return self._union(inside, seen) | UNKNOWN  # a list of its own, which the function may change
        if isinstance(function, type):
            if name in NEW_BUILTINS or issubclass(function, _FIXED) or function in _COPIED:
                return self._union(inside, seen) if issubclass(function, _HOLDING) else NOTHING
            array = _part(module) in _ARRAYS and not module.startswith("numpy.random")
            own = NOTHING if array or _is_frozen(function) else frozenset((function,))
            return self._union(inside, seen) | own
        inner = function_inside(function)
        if inner is not None and is_users(inner):
            shared = NOTHING if self.gives_new(function) else self._union(inside, seen)
            return shared | self._returned(inner)
        if _part(module) in ("builtins", "itertools", "functools"):
            return NOTHING if name in NEW_BUILTINS else self._union(inside, seen)
        array = _part(module) in _ARRAYS or _part(type(function).__module__) in _ARRAYS
        return NOTHING if array and not module.startswith("numpy.random") else UNKNOWN

    def _returned(self, function: FunctionType) -> Origins:
        """The classes of the objects that a function of the user's may make and return."""
        key = function_key(function)
        if key not in _RETURNED:
            _RETURNED[key] = NOTHING  # a recursive call returns what the others do
            try:
                _RETURNED[key] = type(self)(find_source(function, "transform")).returned_origins()
            except (SourceUnavailableError, UnsupportedSyntaxError):
                _RETURNED[key] = UNKNOWN
        return _RETURNED[key]

    def found(self, node: ast.expr) -> Any:
        """What `self.a`, or `x.a` of a global x, is as far as it is known before the function runs."""
        if not isinstance(node, ast.Attribute):
            return known_value(self.source, node) if isinstance(node, ast.Name) else None
        owner = node.value
        arguments = self.source.node.args.args
        is_self = isinstance(owner, ast.Name) and bool(arguments) and owner.id == arguments[0].arg
        found: Any = self._owner() if is_self and self.source.class_name else self.found(owner)
        if found is not None:
            found = inspect.getattr_static(found, node.attr, None)
        return found.__func__ if isinstance(found, (staticmethod, classmethod)) else found

    def _owner(self) -> Any:
        """The class whose method this is, if it is a module's."""
        function = self.source.function
        found: Any = function.__globals__.get(function.__qualname__.partition(".")[0])
        for name in function.__qualname__.split(".")[1:-1]:
            found = inspect.getattr_static(found, name, None)
        return found if isinstance(found, type) else None

    def is_iterator(self, node: ast.expr) -> bool:
        """Whether an expression makes something that can be gone through only once."""
        if isinstance(node, ast.GeneratorExp):
            return True
        if isinstance(node, ast.IfExp):
            return self.is_iterator(node.body) or self.is_iterator(node.orelse)
        if isinstance(node, ast.Attribute):
            return node.attr == "flat"
        if not isinstance(node, ast.Call):
            return False
        function = self.function_of(node)
        if getattr(function, "__module__", "") == "itertools":
            return True
        if function is None:
            return isinstance(node.func, ast.Attribute) and node.func.attr in _ITERATING_METHODS
        if isinstance(function, FunctionType):
            if is_users(function):
                return self.gives_iterator(function)
            return bool(function.__code__.co_flags & CO_GENERATOR) or "iter" in function.__name__
        if isinstance(function, type) and _part(function.__module__) != "builtins":
            return hasattr(function, "__next__")
        builtin = getattr(function, "__module__", "") in ("builtins", "io", "_io")
        return builtin and getattr(function, "__name__", "") in ITERATORS

    def gives_iterator(self, function: FunctionType) -> bool:
        """Whether what a function of the user's returns may be something to be gone through only once."""
        if function.__code__.co_flags & CO_GENERATOR:
            return True
        key = function_key(function)
        if key not in _ITERATES:
            _ITERATES[key] = False  # a recursive call returns what the others do
            try:
                inner = type(self)(find_source(function, "transform"))
                _ITERATES[key] = any(map(inner.is_iterator, inner.returned()))
            except (SourceUnavailableError, UnsupportedSyntaxError):
                pass
        return _ITERATES[key]

    def may_not_end(self, node: ast.expr) -> bool:
        """Whether what a loop goes through may have no end, so that only the loop itself can stop."""
        for part in walk(node):
            if not isinstance(part, ast.Call):
                continue
            function = self.function_of(part)
            name = getattr(function, "__name__", "")
            if getattr(function, "__module__", "") == "itertools" and name in _ENDLESS:
                return True
            if is_users(function) and self.gives_iterator(function):
                return True
            if isinstance(function, FunctionType) and function.__code__.co_flags & CO_GENERATOR:
                return True
            if function is iter and len(part.args) == 2:
                return True
            unknown = not isinstance(part.func, ast.Attribute) or part.func.attr not in PURE_METHODS
            if function is None and unknown:
                return True
        return False

    def changes_objects(self, origins: Origins, method: str) -> bool:
        """Whether a method may change the object that it is called on, of one of some classes."""
        for made in origins:
            function = inspect.getattr_static(made, method, None) if isinstance(made, type) else None
            if isinstance(function, (staticmethod, classmethod)):
                function = function.__func__
            if isinstance(function, FunctionType) and is_users(function):
                if not self.reads_only(function):
                    return True
            elif method not in PURE_METHODS:
                return True
        return False

    def misleads(self, name: str) -> bool:
        """Whether an object of a variable has a method that changes it, by the name of one that doesn't."""
        known = [made for made in self.origins(name) if made is not None and _written_by_users(made)]
        return any(
            hasattr(made, method) and self.changes_objects(frozenset((made,)), method)
            for made in known
            for method in PURE_METHODS
        )

    def misleads_perhaps(self, call: ast.Call) -> bool:
        """Whether a method of that kind is called on an object of which nothing is known."""
        method = call.func
        if not isinstance(method, ast.Attribute) or method.attr not in PURE_METHODS:
            return False
        root = root_name(method)
        return root in self.source.bound and None in self.origins(root)

    def fills_in(self, lookup: ast.expr) -> bool:
        """Whether looking a key up may add it, as in a defaultdict."""
        root = root_name(lookup)
        return (
            isinstance(lookup, ast.Subscript)
            and root is not None
            and any(
                made is not None
                and hasattr(made, "__missing__")
                and not issubclass(made, collections.Counter)
                for made in self.origins(root)
            )
        )

    def only_gathers(self, call: ast.AST) -> bool:
        """Whether a call makes a named tuple or a dataclass, which only keeps what it is given."""
        made = self.function_of(call) if isinstance(call, ast.Call) else None
        if not isinstance(made, type) or hasattr(made, "__post_init__"):
            return False
        makers = (made.__new__, made.__init__) if issubclass(made, tuple) else (made.__init__,)
        written = [inner for inner in map(function_inside, makers) if inner is not None]
        known = issubclass(made, tuple) or dataclasses.is_dataclass(made)
        return known and all(inner.__code__.co_filename.startswith("<") for inner in written)

    def may_change(self, name: str) -> bool:
        """Whether an object of a variable has a method that may change it, or isn't known."""
        return not all(made is not None and self._is_still(made) for made in self.origins(name))

    def _is_still(self, made: type) -> bool:
        """Whether no method of a class of the user's changes its instances once they are made."""
        for owner in made.__mro__[:-1]:
            if not _written_by_users(owner):
                return False
            for name, member in vars(owner).items():
                function = getattr(member, "fget", None) or getattr(member, "func", member)
                written = isinstance(function, FunctionType) and is_users(function)
                if written and name not in _MAKING and not self.reads_only(function):
                    return False
        return True

    def is_restless(self, name: str) -> bool:
        """Whether to read an object, to call it or to go through it may change it."""
        return any(
            made is not None and any(map(self.writes_arguments, _used(made))) for made in self.origins(name)
        )

    def writes_arguments(self, function: FunctionType) -> bool:
        """Whether it can be seen that a function of the user's changes what it didn't make."""
        raise TypeError("defined by Effects")

    def changes_itself(self, name: str) -> bool:
        """Whether `name += ...` may change an object that isn't copied first."""
        return any(
            made is None or not issubclass(made, (dict, set, bytearray)) for made in self.origins(name)
        )

    def reads_only(self, function: FunctionType) -> bool:
        """Whether a function of the user's surely neither changes its arguments nor keeps them to itself."""
        raise TypeError("defined by Effects")


_HANDING_ON = frozenset((
    "add", "append", "clear", "extend", "insert", "items", "keys", "pop", "popitem", "remove", "reverse",
    "setdefault", "sort", "update", "values",
))  # fmt: skip
"""Methods of lists and dicts whose values are entries, or nothing."""

_ITERATING_METHODS = frozenset((
    "__iter__", "__reversed__", "finditer", "iterrows", "itertuples", "iteritems", "iterdir", "glob", "rglob",
))  # fmt: skip

_RETURNED: WeakKeyDictionary[Any, Origins] = WeakKeyDictionary()
_ITERATES: WeakKeyDictionary[Any, bool] = WeakKeyDictionary()


_MAKING = frozenset(("__init__", "__new__", "__post_init__"))
_CHANGING = frozenset((
    "__delattr__", "__delitem__", "__init_subclass__", "__setattr__", "__setitem__", "__setstate__",
    *(f"__i{name}__" for name in (
        "add", "and", "concat", "floordiv", "lshift", "matmul", "mod", "mul", "or", "pow", "rshift", "sub",
        "truediv", "xor",
    )),
))  # fmt: skip
"""What assignments call."""


def _written_by_users(made: type) -> bool:
    """Whether a class is defined in a file of the user's."""
    if made.__module__.partition(".")[0] in sys.stdlib_module_names - {"__main__"}:
        return False
    file = getattr(sys.modules.get(made.__module__), "__file__", None)
    return made.__module__ == "__main__" or (file is not None and is_users_file(file))


def _used(made: type) -> list[FunctionType]:
    """The functions of the user's that run where an instance of a class is used without naming them."""
    found = []
    for owner in filter(_written_by_users, made.__mro__[:-1]):
        for name, member in vars(owner).items():
            function = getattr(member, "fget", None)
            if name.startswith("__") and name.endswith("__") and name not in _MAKING | _CHANGING:
                function = member
            if not isinstance(function, FunctionType) or function.__code__.co_filename == "<string>":
                continue  # "<string>": what a dataclass has been given
            if function.__globals__ is vars(sys.modules[owner.__module__]):
                found.append(function)
    return found


def _is_handed_on(argument: ast.expr) -> bool:
    """Whether an expression only hands on what a variable has, or makes a number."""
    made = (ast.List, ast.Tuple, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp, ast.Call)
    return not any(isinstance(part, made) for part in walk(argument))


def _is_frozen(made: type) -> bool:
    """Whether instances of a class are values: those of a frozen dataclass."""
    parameters = made.__dict__.get("__dataclass_params__")
    return parameters is not None and bool(parameters.frozen)


def function_inside(function: Any) -> FunctionType | None:
    """The Python function that a call of a function or of a generative function executes."""
    if isinstance(function, GenerativeFunction):
        function = getattr(function, "__wrapped__", None)
    if isinstance(function, MethodType):
        function = function.__func__
    return function if isinstance(function, FunctionType) else None


def function_key(function: FunctionType) -> Any:
    """What stands for a function in what is remembered: its code, unless what it calls is in its closure."""
    return function if function.__closure__ else function.__code__


def _part(module: str) -> str:
    return module.partition(".")[0].lstrip("_")


def _given(body: ast.AST) -> dict[str, list[ast.expr]]:
    """For each name the expressions that it gets its value from, and those that may be put into it."""
    found: dict[str, list[ast.expr]] = {}

    def give(target: ast.AST, value: ast.expr) -> None:
        if isinstance(target, (ast.Tuple, ast.List)):
            for element in target.elts:
                give(element, value)
            return
        root = root_name(target) if isinstance(target, ast.expr) else None
        if root is not None:
            found.setdefault(root, []).append(value)

    for part in walk(body):
        match part:
            case ast.Assign():
                for target in part.targets:
                    give(target, part.value)
            case ast.AnnAssign(value=ast.expr() as value) | ast.AugAssign(value=value):
                give(part.target, value)
            case ast.NamedExpr():
                give(part.target, part.value)
            case ast.For() | ast.comprehension():
                give(part.target, part.iter)
            case ast.withitem(optional_vars=ast.expr() as target):
                give(target, part.context_expr)
            case ast.Match():
                for case in part.cases:
                    for pattern in walk(case.pattern):
                        name = getattr(pattern, "name", None) or getattr(pattern, "rest", None)
                        if name:
                            found.setdefault(name, []).append(part.subject)
            case ast.Call(func=ast.Attribute() as method) if method.attr not in NEW_METHODS:
                for argument in (*part.args, *(keyword.value for keyword in part.keywords)):
                    give(method, argument)
    return found
