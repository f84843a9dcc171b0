"""NumPy arrays: views share the list of numbers that they look at, operations are loops."""

from __future__ import annotations

import ast
from typing import Any

from gendsl.compiler.front.frame import Frame
from gendsl.compiler.front.values import Value


def call(frame: Frame, function: Any, args: list[Value], named: dict[str, Value]) -> Value | None:
    """A call of one of NumPy's functions; None for any other."""
    from gendsl.compiler.front import families

    return families.parameter_check(frame, function, args, named)
