"""Functions whose code is generated for one program."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

_FILENAME = f"{__file__}: a generated function"  # an error that says where it arose passes over gendsl's own


def generated(name: str, lines: Iterable[str], scope: dict[str, Any]) -> Any:
    """The function of a name that some lines define, in a scope that is its own."""
    exec(compile("".join(lines), _FILENAME, "exec"), scope)
    return scope[name]
