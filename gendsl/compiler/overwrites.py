"""Which of its arguments a function of Python's or of an array library changes in place."""

from __future__ import annotations

import ast
import inspect
from functools import cache

import numpy as np

from gendsl.compiler.names import root_name
from gendsl.compiler.sites import known_value
from gendsl.compiler.source import Source

CHANGING_FUNCTIONS = frozenset((
    "at", "copyto", "delattr", "delitem", "fill_diagonal", "heapify", "heappop", "heappush", "heappushpop",
    "heapreplace", "iadd", "iand", "iconcat", "imul", "insort", "insort_left", "insort_right", "ior", "isub",
    "ixor", "next", "place", "put", "put_along_axis", "putmask", "setattr", "setitem", "shuffle",
))  # fmt: skip
"""Functions that change their first argument."""


def overwritten(source: Source, call: ast.Call) -> list[ast.expr]:
    """The arguments that a call changes, and with `inplace=True` what its method is called on."""
    function = known_value(source, call.func)
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    name = getattr(call.func, "attr", getattr(call.func, "id", ""))
    is_method = owner is not None and root_name(owner) in source.bound
    if name in CHANGING_FUNCTIONS and not is_method:
        return call.args[:1] or [keyword.value for keyword in call.keywords]
    copies = not call.args[1:] and all(keyword.arg != "copy" for keyword in call.keywords)
    if function is np.nan_to_num and not copies:
        return call.args[:1]
    found: list[ast.expr] = []
    if isinstance(function, np.ufunc):
        found += call.args[int(function.nin) :]
    elif is_method:  # `x.cumsum(0, None, y)`
        found += call.args[_position_of_out(name) - 1 :]
    elif function is not None and function is getattr(np, name, None):  # `np.cumsum(x, 0, None, y)`
        found += call.args[_position_of_out(name) :]
    for keyword in call.keywords:
        value, given = keyword.value, keyword.arg or ""
        if given == "out":
            found += value.elts if isinstance(value, ast.Tuple) else [value]
        elif given.startswith(("inplace", "overwrite")) and getattr(value, "value", True):
            found += [*call.args, owner] if is_method and owner is not None else call.args
    return found


@cache
def _position_of_out(name: str) -> int:
    """Which argument of NumPy's function of a name is the place for its result; many if none is."""
    try:
        names = list(inspect.signature(getattr(np, name)).parameters)
    except (AttributeError, TypeError, ValueError):  # there is none, or it doesn't say
        return 1 << 20
    return names.index("out") if "out" in names else 1 << 20
