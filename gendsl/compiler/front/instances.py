"""What classes of the user's say of their instances: comparisons, operators, and attributes.

Comparisons are those of the methods of classes, of the fields of dataclasses, or of objects.
"""

from __future__ import annotations

import dataclasses
import inspect
import sys
from types import FunctionType, MemberDescriptorType
from typing import Any

import numpy as np

from gendsl.compiler import hir
from gendsl.compiler.front.frame import Frame
from gendsl.compiler.hir import Expr, Op
from gendsl.compiler.hir.failures import NotClosed
from gendsl.compiler.hir.types import Array, Dict, Generator, Iterator, List, Object, Set, Tuple, Type, Union
from gendsl.compiler.hir.values import NOTHING, Value, make_tuple
from gendsl.distributions import Distribution

_REFLECTED = {"lt": "__gt__", "le": "__ge__", "gt": "__lt__", "ge": "__le__"}


def overrides(cls: Any, name: str) -> bool:
    """Whether a class has a special method that is not that of every object."""
    return getattr(cls, name, None) is not getattr(object, name, None)


def asks_python(value: Value, *names: str) -> bool:
    """Whether an instance, or an object that exists when the text is made, has one of some special methods
    that are written in Python and are no library's: what it says may depend on what changes.
    """
    found = getattr(value.type, "value", None)
    cls = getattr(value.type, "cls", None) if found is None else type(found)
    methods = [getattr(cls, name, None) for name in names]
    return any(isinstance(one, FunctionType) and not _is_librarys(one) for one in methods)


def _is_librarys(function: FunctionType) -> bool:
    package = str(function.__globals__.get("__name__")).partition(".")[0]
    return package in ("gendsl", "numpy", "scipy") or package in sys.stdlib_module_names - {"__main__"}


def check_found(cls: Any, name: str, raw: Any) -> None:
    """Raise NotClosed for an attribute of a class that gives instances something else, as descriptors do."""
    if hasattr(type(raw), "__get__"):
        kind = type(raw).__name__
        raise NotClosed(f"the attribute {name} of {cls.__name__}, a {kind}, which says itself what it gives")


def check_missing(cls: Any, name: str) -> None:
    """Raise NotClosed for a class that gives its instances attributes that they don't have."""
    if hasattr(cls, "__getattr__"):
        raise NotClosed(f"the attribute {name} of {cls.__name__}, which has a __getattr__ of its own")


def setter(cls: Any, name: str) -> FunctionType | None:
    """The function that sets a property of instances of a class; None where it is an attribute of theirs.

    Raises:
        NotClosed: the class, or what it has there, does with what is set what only Python knows.
    """
    if overrides(cls, "__setattr__"):
        raise NotClosed(f"an attribute of {cls.__name__} is set, which has a __setattr__ of its own")
    raw = inspect.getattr_static(cls, name, None)
    if isinstance(raw, property):
        if not isinstance(raw.fset, FunctionType):
            raise NotClosed(f"an assignment to the property {name}")
        return raw.fset
    if hasattr(type(raw), "__set__") and not isinstance(raw, MemberDescriptorType):
        raise NotClosed(f"an assignment to {name} of {cls.__name__}, which says itself what it does with it")
    return None


def _goes_first(a: Value, b: Value, name: str) -> bool:
    """Whether a method of b comes before that of a: its class is derived from a's, and has one of its own."""
    first, second = (getattr(one.type, "cls", None) for one in (a, b))
    if not (isinstance(first, type) and isinstance(second, type) and issubclass(second, first)):
        return False
    methods = (next((vars(c)[name] for c in one.__mro__ if name in vars(c)), None) for one in (second, first))
    own, other = methods
    return own is not None and own is not other


def _class_of(value: Value) -> type | None:
    """The class of an instance that is no tuple; None for any other value."""
    if not isinstance(value.type, (Tuple, Object)):
        return None
    cls = value.type.cls
    return cls if isinstance(cls, type) and not issubclass(cls, tuple) else None


def may_be(value: Value, known: Any) -> bool:
    """Whether a value, which was given or made, may be an object that exists when the text is made."""
    kinds: dict[type, Any] = {List: (list, tuple), Dict: dict, Set: (set, frozenset), Array: np.ndarray}
    if type(value.type) in kinds:
        return isinstance(known, kinds[type(value.type)])
    if isinstance(value.type, (Tuple, Object)):
        cls = value.type.cls
        both_tuples = isinstance(known, tuple) and isinstance(cls, type) and issubclass(cls, tuple)
        return type(known) is cls or both_tuples
    return isinstance(value.type, (Iterator, Generator))


def _written(cls: type | None, name: str) -> bool:
    """Whether a class has a method that is written in Python, by the user."""
    method = getattr(cls, name, None)
    return isinstance(method, FunctionType) and method.__code__.co_filename != "<string>"


def _may_be_unimplemented(found: Value) -> bool:
    every = found.type.alternatives if isinstance(found.type, Union) else (found.type,)
    return any(getattr(one, "value", None) is NotImplemented for one in every)


def _answer(frame: Frame, found: Value, cls: Any) -> Value:
    if _may_be_unimplemented(found):
        raise frame.not_closed(f"a comparison of a {cls.__name__} that is not implemented")
    return found


def ordered(frame: Frame, name: str, a: Value, b: Value) -> Value | None:
    """A comparison by `__lt__` and the like; None where neither class has it."""
    first, second = _class_of(a), _class_of(b)
    if first is not second and None not in (first, second):
        return None
    if _written(first, f"__{name}__"):
        return _answer(frame, frame.language.call_method(frame, a, f"__{name}__", [b]), first)
    if _written(second, _REFLECTED[name]):
        return _answer(frame, frame.language.call_method(frame, b, _REFLECTED[name], [a]), second)
    if first is None or first is not second or not dataclasses.is_dataclass(first):
        return None
    if f"__{name}__" not in vars(first):  # that of another class compares the fields that this one has
        return None
    fields = [one.name for one in dataclasses.fields(first) if one.compare]
    mine, theirs = (
        make_tuple([frame.atoms(frame.language.attribute(frame, value, name)) for name in fields])
        for value in (a, b)
    )
    return frame.language.compared(frame, name, mine, theirs)


def says_its_order(type: Type) -> bool:
    """Whether values of a type may be instances of a class that says itself which of two comes first."""
    every = type.alternatives if isinstance(type, Union) else (type,)
    classes = (_class_of(Value(one)) for one in every)
    return any(_written(cls, "__lt__") or _written(cls, "__gt__") for cls in classes)


def says_what_is_equal(value: Value) -> bool:
    """Whether a value is an instance of a class with an `__eq__` of the user's."""
    cls = _class_of(value)
    return cls is not None and _written(cls, "__eq__")


def answered(frame: Frame, a: Value, b: Value) -> Value | None:
    """What an `__eq__` of the user's gives for two values, a truth value or not; None where there is none."""
    first = _class_of(a)
    if first is None or not _written(first, "__eq__") or _goes_first(a, b, "__eq__"):
        return None
    return _answer(frame, frame.language.call_method(frame, a, "__eq__", [b]), first)


def equal(frame: Frame, a: Value, b: Value) -> Expr | None:
    """Whether two instances are equal; None where that is not known of their classes."""
    first, second = _class_of(a), _class_of(b)
    if first is None or overrides(first, "__ne__") or _goes_first(a, b, "__eq__"):
        return None
    if _written(first, "__eq__"):
        return frame.language.truth(frame, answered(frame, a, b) or NOTHING)
    if second is not first:
        return None
    if getattr(first, "__eq__", None) is getattr(object, "__eq__", None):
        both = isinstance(a.type, Object) and isinstance(b.type, Object)
        return Op("same", (a.leaf, b.leaf), "b") if both else None
    if not dataclasses.is_dataclass(first) or "__eq__" not in vars(first):
        return None
    result: Expr = hir.TRUE
    for one in dataclasses.fields(first):
        if one.compare:
            mine, theirs = (frame.atoms(frame.language.attribute(frame, value, one.name)) for value in (a, b))
            result = hir.both(result, frame.atom(frame.language.equal_parts(frame, mine, theirs)))
    return result


_OF_KEYS = "__eq__", "__ne__", "__hash__"


def is_key_by_parts(type: Tuple) -> bool:
    """Whether instances of a class are equal, and hashed, as all their attributes are: named tuples, and
    dataclasses that are frozen.
    """
    cls: Any = type.cls
    if issubclass(cls, tuple):
        return cls.__eq__ is tuple.__eq__ and cls.__hash__ is tuple.__hash__
    told = vars(cls).get("__dataclass_params__")
    if told is None or not (told.frozen and told.eq) or any(_written(cls, name) for name in _OF_KEYS):
        return False
    fields = dataclasses.fields(cls)
    names = tuple(one.name for one in fields)
    return all(one.compare and one.hash is None for one in fields) and names == type.names


OPERATORS = {
    "add": "add", "sub": "sub", "mul": "mul", "truediv": "truediv", "floordiv": "floordiv", "mod": "mod",
    "pow": "pow", "matmul": "matmul", "bitand": "and", "bitor": "or", "bitxor": "xor", "lshift": "lshift",
    "rshift": "rshift",
}  # fmt: skip
"""The names of operations, without underscores, as methods have them."""


def operator_of(value: Value, method: str) -> FunctionType | None:
    """The method of an instance's class for an operator; None where it has none that is written in Python."""
    cls = getattr(value.type, "cls", None)
    function = getattr(cls, method, None) if isinstance(cls, type) else None
    return function if isinstance(function, FunctionType) else None


def arithmetic(frame: Frame, name: str, a: Value, b: Value) -> Value | None:
    """An operation that the class of one of two values has a method for; None where neither has."""
    method = OPERATORS.get(name)
    if method is None:
        return None
    if _goes_first(a, b, f"__r{method}__"):
        raise frame.not_closed(f"{name} of instances of which one's class is derived from the other's")
    for value, other, found in ((a, b, f"__{method}__"), (b, a, f"__r{method}__")):
        function = operator_of(value, found)
        if is_distribution(value) and function is getattr(Distribution, found, None):
            return frame.language.image_of_distribution(frame, found, value, other)
        if function and not isinstance(other.type, Array):
            return _given(frame, frame.language.call_method(frame, value, found, [other]), found)
    return None


def in_place(frame: Frame, name: str, old: Value, new: Value) -> Value | None:
    """What a name stands for after `old += new` and the like; None where the class has no method for it."""
    method = f"__i{OPERATORS.get(name)}__"
    if operator_of(old, method) is None:
        return None
    return _given(frame, frame.language.call_method(frame, old, method, [new]), method)


def _given(frame: Frame, found: Value, method: str) -> Value:
    if _may_be_unimplemented(found):
        raise frame.not_closed(f"a {method} that is not implemented for what it is given")
    return found


def is_distribution(value: Value) -> bool:
    """Whether a value is a distribution."""
    return is_family(value.type)


def is_family(type_: Type) -> bool:
    """Whether values of a type are distributions."""
    cls = getattr(type_, "cls", None)
    return isinstance(cls, type) and issubclass(cls, Distribution)
