"""Tuples in addresses whose lengths are known only when the text runs: what they are in templates, and the
codes of their items.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gendsl.compiler.hir.joined import may_be_one
from gendsl.compiler.hir.types import Nested, PathPart

PATHS = "paths"
"""What stands for a trace in the template of the tuples' numbers."""
ABOVE = "above"
"""What stands for a called program in the templates of what tuples begin with."""
EMPTY = 0
"""The number of the empty tuple; that of any other is the number of its node, and one."""


def code_of(key: int | str, text_number: Callable[[str], int]) -> int:
    """The code of an item of a tuple."""
    return 2 * text_number(key) + 1 if isinstance(key, str) else 2 * key


def key_of(code: int, texts: dict[int, str]) -> int | str:
    """The item with a code."""
    return texts[code // 2] if code % 2 else code // 2


def is_key(part: Any) -> bool:
    """Whether a part of an address may be an item of a tuple."""
    return type(part) in (int, str, np.int64)


def has_path(parts: Sequence[Any]) -> bool:
    """Whether there is a tuple whose length is not known among the parts of a template."""
    return any(isinstance(part, PathPart) for part in parts)


def shown(parts: Sequence[Any]) -> str:
    """The parts of a template as a user may have written them."""
    tuples = {PathPart(True): "*at", PathPart(False): "at"}
    written = [repr(part) if isinstance(part, str) else tuples.get(part, "...") for part in parts]
    return written[0] if len(written) == 1 else f"({', '.join(written)})"


def segments(
    wanted: tuple[Any, ...], path: tuple[Any, ...], fits: Callable[[Any, Any], bool], *, whole: bool = True
) -> list[tuple[Any, int, int]] | None:
    """How the parts of a template lie in an address: of each where it starts and ends there; None if not.

    Args:
        fits: whether a part of an address is one of a template.
        whole: whether nothing of the address may be left.
    """

    def from_(i: int, at: int) -> list[tuple[Any, int, int]] | None:
        if i == len(wanted):
            return [] if at == len(path) or not whole else None
        part = wanted[i]
        if not isinstance(part, PathPart):
            if at == len(path) or not fits(part, path[at]):
                return None
            rest = from_(i + 1, at + 1)
            return None if rest is None else [(part, at, at + 1), *rest]
        if not part.spread:
            if at == len(path) or not isinstance(path[at], Nested):
                return None
            end = at + 1 + path[at].count
            if any(isinstance(one, Nested) for one in path[at + 1 : end]) or end > len(path):
                return None
            rest = from_(i + 1, end)
            return None if rest is None else [(part, at + 1, end), *rest]
        for end in range(at, len(path) + 1):
            if any(isinstance(one, Nested) for one in path[at:end]):
                return None
            rest = from_(i + 1, end)
            if rest is not None:
                return [(part, at, end), *rest]
        return None

    return from_(0, 0)


def apart(one: Sequence[Any], other: Sequence[Any], may_be_key: Callable[[str], bool]) -> bool:
    """Whether addresses of two templates are never the same, nor one below the other."""
    for i, (a, b) in enumerate(zip(one, other, strict=False)):
        spread = PathPart(True)
        if spread in (a, b):
            rests = [all_[i + 1 :] for all_, part in ((one, a), (other, b)) if part == spread]
            if not all(rest and isinstance(rest[0], str) and not may_be_key(rest[0]) for rest in rests):
                return False
            if a == b:
                return apart(rests[0], rests[1], may_be_key)
            ((rest,), fixed) = rests, (other if a == spread else one)[i:]
            if fixed[0] == rest[0]:
                return apart(rest, fixed, may_be_key)
            if isinstance(fixed[0], str):
                return not may_be_key(fixed[0])
            return isinstance(fixed[0], (Nested, PathPart))
        if a != b:
            if isinstance(a, PathPart) or isinstance(b, PathPart):
                return not any(isinstance(part, Nested) for part in (a, b))
            if not may_be_one(a, b):
                return True
    return False
