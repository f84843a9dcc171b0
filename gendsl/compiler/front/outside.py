"""What a program finds outside of itself: global and free names, objects that exist when the text is made,
and sources of functions.
"""

from __future__ import annotations

import ast
import builtins
import dataclasses
import functools
import inspect
from array import array
from collections import deque
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from gendsl.compiler.front.argument_types import LONGEST_TUPLE, NUMPYS, type_of
from gendsl.compiler.front.frame import Frame
from gendsl.compiler.front.instances import check_missing
from gendsl.compiler.front.sources import FunctionSource, lambda_source
from gendsl.compiler.hir import Const, Input
from gendsl.compiler.hir.encode import missing_of
from gendsl.compiler.hir.types import Known, leaves
from gendsl.compiler.hir.values import NOTHING, Value, is_known, known, make_tuple, numpy_number
from gendsl.distributions import Distribution
from gendsl.errors import GenDSLError
from gendsl.lang.source import running_source
from gendsl.supports import Support

_SCALARS = (bool, int, float, str, bytes, type(None), type(Ellipsis))
_CONTAINERS = (list, dict, set, bytearray, array, deque)
"""What others may change, and is of a class that texts are given no values of, such as `Counter`."""


def source_of(frame: Frame, function: FunctionType) -> FunctionSource:
    """The syntax tree of a function."""
    if function not in frame.program.sources:
        try:
            if function.__code__.co_name == "<lambda>":
                found = lambda_source(function)
            else:
                read = running_source(function)
                found = FunctionSource(read.node, read.filename)
        except (GenDSLError, OSError, SyntaxError) as error:
            raise frame.not_closed(f"the source of {function.__qualname__} is not available") from error
        frame.program.sources[function] = found
    frame.program.noted(function, "__code__")  # which IPython's autoreload replaces
    return frame.program.sources[function]


def defaults_of(frame: Frame, function: FunctionType) -> dict[str, Value]:
    """The defaults of the parameters of a function."""
    code = function.__code__
    names = code.co_varnames[: code.co_argcount]
    given = function.__defaults__ or ()
    found = dict(zip(names[len(names) - len(given) :], given, strict=True))
    found.update(frame.program.noted_items(function.__kwdefaults__ or {}))
    for name in ("__defaults__", "__kwdefaults__"):
        if getattr(function, name) is not None:
            frame.program.noted(function, name)
    return {name: constant(frame, value) for name, value in found.items()}


def free_name(frame: Frame, name: str) -> Value:
    """What a free or global name, or one of Python's own, means."""
    function, guards = frame.function, frame.program.guards
    around: Frame | None = frame
    while function is None and around is not None:
        around = around.outer
        function = around.function if around is not None else None
    if function is None:
        raise frame.not_closed(f"the name {name}")
    free = function.__code__.co_freevars
    if name in free:
        cell = (function.__closure__ or ())[free.index(name)]
        try:
            found = cell.cell_contents
        except ValueError:
            frame.fail(f"{name} has no value yet")
            return NOTHING
        guards[id(cell), "cell"] = (cell, "cell_contents", found)
        return constant(frame, found, name)
    if name in function.__globals__:
        found = function.__globals__[name]
        guards[id(function.__globals__), name] = (function.__globals__, name, found)
        return constant(frame, found, name)
    if hasattr(builtins, name):
        guards[id(function.__globals__), name] = (function.__globals__, name, None)  # not hidden
        return known(getattr(builtins, name))
    frame.fail(f"the name {name} is not defined")
    return NOTHING


def constant(frame: Frame, found: Any, name: str = "") -> Value:
    """An object that exists when the text is made: a constant of the text, or data that it is given."""
    if isinstance(found, np.generic):
        if type(found) not in NUMPYS:
            raise frame.not_closed(f"a number of type {type(found).__name__}")
        return numpy_number(Const(found.item(), NUMPYS[type(found)]))
    if isinstance(found, _SCALARS):
        return known(found)
    if isinstance(found, tuple) and type(found) is tuple:
        if len(found) > LONGEST_TUPLE:
            return given(frame, found)
        items = [constant(frame, one) for one in found]
        return known(found) if all(map(is_known, items)) else make_tuple(items)
    if isinstance(found, (list, np.ndarray)) or type(found) in (dict, set) or missing_of(found) is not None:
        return given(frame, found)
    if isinstance(found, Distribution) and not isinstance(found, type):
        return frame.language.constant_distribution(frame, found)
    if isinstance(found, Support):
        names = (
            [f.name for f in dataclasses.fields(found)]
            if dataclasses.is_dataclass(found)
            else vars(found)
        )
        values = [constant(frame, getattr(found, name)) for name in names]
        return make_tuple(values, type(found), tuple(names))
    if isinstance(found, tuple) and hasattr(found, "_fields"):
        return make_tuple([constant(frame, one) for one in found], type(found), tuple(found._fields))
    if isinstance(found, _CONTAINERS):
        raise frame.not_closed(f"{name or 'a value'}, a {type(found).__name__} from outside of the program")
    return known(found)


def given(frame: Frame, found: Any) -> Value:
    """Data of outside as an input of the text."""
    program = frame.program
    if id(found) not in program.input_values:
        kind = type_of(program.facts, ("input", id(found)), found)
        number = len(program.inputs)
        program.inputs.append((found, kind))
        parts = tuple(Input(number, place, leaf) for place, leaf in enumerate(leaves(kind)))
        program.input_values[id(found)] = Value(kind, parts)
    return program.input_values[id(found)]


def attribute_of_constant(frame: Frame, found: Any, name: str) -> Value:
    """An attribute of a known object."""
    if isinstance(found, ModuleType):
        if not hasattr(found, name):
            frame.fail(f"module {found.__name__} has no attribute {name}")
            return NOTHING
        return constant(frame, frame.program.noted(found, name))
    if isinstance(found, type):
        if not hasattr(found, name):
            frame.fail(f"{found.__name__} has no attribute {name}")
            return NOTHING
        return constant(frame, frame.program.noted(found, name))
    try:
        raw = inspect.getattr_static(found, name)
    except AttributeError:
        check_missing(type(found), name)
        frame.fail(f"{type(found).__name__} has no attribute {name}")
        return NOTHING
    if isinstance(raw, (property, functools.cached_property)) and hasattr(type(found), name):
        frame.program.noted(type(found), name)
    if isinstance(raw, property):
        return frame.language.call_function(frame, raw.fget, [known(found)], {})  # type: ignore[arg-type]
    if isinstance(raw, functools.cached_property):
        return frame.language.call_function(frame, raw.func, [known(found)], {})  # type: ignore[arg-type]
    return constant(frame, frame.program.noted(found, name), name)


def try_constant(frame: Frame, node: ast.expr) -> Known | None:
    """An expression that is a name, or attributes of one, as a known object."""
    if isinstance(node, (ast.Name, ast.Attribute, ast.Constant, ast.Tuple)):
        value = frame.language.expression(frame, node)
        if isinstance(value.type, Known):
            return value.type
    return None
