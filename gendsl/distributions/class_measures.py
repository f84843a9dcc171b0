"""The measure that all distributions of a user's class have, where the code of its support says so.

    @property
    def support(self):
        return Interval(self.low, self.high)

Whatever the ends are, that is a set of real numbers. To make the support of each distribution only to learn
this would take longer than what a move asks of them.
"""

from __future__ import annotations

import dis
import math
from types import FunctionType
from typing import Any

from gendsl.supports import Boolean, Circle, Integers, Interval, Positive, Real, Support

_LINE = Real()
_INTEGERS = Integers(-math.inf, math.inf)
_BOOLEANS = Boolean()
_MEASURES: dict[Any, Support] = {
    Boolean: _BOOLEANS, Circle: _LINE, Integers: _INTEGERS, Interval: _LINE, Positive: _LINE, Real: _LINE,
}  # fmt: skip
"""Class of supports -> one with the kind, the dimension, the shape and the values' type of all of them."""

_ARGUMENTS = frozenset((
    "BINARY_OP", "KW_NAMES", "LOAD_ATTR", "LOAD_CONST", "LOAD_GLOBAL", "LOAD_SMALL_INT", "PRECALL",
    "PUSH_NULL", "UNARY_NEGATIVE",
))  # fmt: skip
"""The instructions of arguments that are computed from attributes, constants and global names."""


def measure_of_class(kind: type) -> Support | None:
    """What all supports of a class's distributions are alike in; None where that isn't surely known.

    Only what the class itself defines is looked at.
    """
    support = kind.__dict__.get("support")
    if isinstance(support, Support):
        return _MEASURES.get(type(support))
    if isinstance(support, property) and type(support.fget) is FunctionType:
        return _MEASURES.get(_class_returned(support.fget))
    return None


def _class_returned(function: FunctionType) -> Any:
    """What a function calls, with simple arguments, and returns the result of; None if it does anything else.

    That is the first global name in it, if there is no other call and nothing is got from that name.
    """
    code = [i for i in dis.get_instructions(function) if i.opname not in ("RESUME", "CACHE")]
    first = next((n for n, i in enumerate(code) if i.opname == "LOAD_GLOBAL"), None)
    if first is None or any(i.opname != "PUSH_NULL" for i in code[:first]) or len(code) < first + 3:
        return None
    *arguments, call, end = code[first + 1 :]
    if not call.opname.startswith("CALL") or end.opname != "RETURN_VALUE":
        return None
    if arguments and arguments[0].opname in ("LOAD_ATTR", "LOAD_METHOD"):
        return None
    if any(i.opname not in _ARGUMENTS and not i.opname.startswith("LOAD_FAST") for i in arguments):
        return None
    return function.__globals__.get(code[first].argval)
