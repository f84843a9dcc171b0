"""Which of its arguments a function of Python's or of an array library changes in place."""

from __future__ import annotations

import ast
import inspect
from functools import cache
from types import FunctionType
from typing import Any

import numpy as np

from gendsl.errors import is_users_file
from gendsl.lang.names import root_name
from gendsl.lang.sites import known_value
from gendsl.lang.source import Source

CHANGING_FUNCTIONS = frozenset((
    "at", "copyto", "delattr", "delitem", "fill_diagonal", "heapify", "heappop", "heappush", "heappushpop",
    "heapreplace", "iadd", "iand", "iconcat", "ifloordiv", "ilshift", "imatmul", "imod", "imul", "insort",
    "insort_left", "insort_right", "ior", "ipow", "irshift", "isub", "itruediv", "ixor", "next", "place",
    "put", "put_along_axis", "putmask", "setattr", "setitem", "shuffle",
))  # fmt: skip
"""Functions that change their first argument."""

_ARRAYS = "numpy", "scipy"

_WITHOUT_SIGNATURE = {
    "busday_count": 5, "busday_offset": 6, "concat": 2, "concatenate": 2, "dot": 2, "is_busday": 4
}  # fmt: skip
"""Which argument is the place for the result of NumPy's functions that say so from NumPy 2.4 on only."""


def overwritten(source: Source, call: ast.Call) -> list[ast.expr]:
    """The arguments that a call changes, and with `inplace=True` what its method is called on."""
    function = known_value(source, call.func)
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    name = getattr(call.func, "attr", getattr(call.func, "id", ""))
    is_method = owner is not None and root_name(owner) in source.bound
    if name.strip("_") in CHANGING_FUNCTIONS and not is_method:
        return call.args[:1] or [keyword.value for keyword in call.keywords]
    copies = not call.args[1:] and all(keyword.arg != "copy" for keyword in call.keywords)
    if function is np.nan_to_num and not copies:
        return call.args[:1]
    found: list[ast.expr] = []
    if isinstance(function, np.ufunc):
        found += call.args[int(function.nin) :]
    elif is_method:  # `x.cumsum(0, None, y)`
        found += call.args[_position_of_out(name) - 1 :]
    named = [(keyword.arg or "", keyword.value) for keyword in call.keywords]
    module = getattr(function, "__module__", None) or ""
    if module.partition(".")[0] in _ARRAYS:  # `np.cumsum(x, 0, None, y)`
        named += zip(_parameters(function), call.args, strict=False)
    for given, value in named:
        if given in ("out", "output"):
            found += value.elts if isinstance(value, ast.Tuple) else [value]
        elif given.startswith(("inplace", "overwrite")) and getattr(value, "value", True):
            found += [*call.args, owner] if is_method and owner is not None else call.args
    return found


@cache
def _position_of_out(name: str) -> int:
    """Which argument of NumPy's method of a name is the place for its result; many if none is."""
    names = _parameters(getattr(np, name, None))
    return names.index("out") if "out" in names else 1 << 20


@cache
def _parameters(function: Any) -> list[str]:
    """The names of a function's parameters that can be given by position, as far as it says what they are."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        before = _WITHOUT_SIGNATURE.get(getattr(function, "__name__", ""))
        return [] if before is None else [*map(str, range(before)), "out"]
    positional = inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD
    return [parameter.name for parameter in parameters if parameter.kind in positional]


def is_users(function: Any) -> bool:
    """Whether it is a Python function in a file of the user's."""
    return isinstance(function, FunctionType) and is_users_file(function.__code__.co_filename)
