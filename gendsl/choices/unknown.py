"""What to tell a user who named an address that doesn't exist."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import numpy as np

from gendsl.address import Path, did_you_mean, format_address

__all__ = ["explain_unknown"]


def _shared(first: Path, second: Path) -> int:
    """How many components two paths begin with in common."""
    same = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False))
    return sum(1 for _ in same)


def explain_unknown(path: Path, known: Iterable[Path]) -> str:
    """What to tell a user who named `path`, which is not in `known` (the addresses that exist).

    Names the nearest one, or says that `path` is a namespace, lies below a choice, or is an index
    beyond the last one.
    """
    known = list(known)
    if not known:
        return "there are no addresses here"
    below = [p for p in known if len(p) > len(path) and p[: len(path)] == path]
    if below:
        name, example = format_address(path), format_address(below[0])
        return f"{name} is a namespace: name what is below it, such as {example}"
    above = [p for p in known if len(p) < len(path) and path[: len(p)] == p]
    if above:
        return f"{format_address(above[0])} is a choice, so nothing is below it"
    start = max(_shared(p, path) for p in known)
    if 0 < start < len(path) and isinstance(path[start], (int, np.integer)):
        parent = path[:start]
        children = dict.fromkeys(p[: start + 1] for p in known if p[:start] == parent)
        name, last, count = format_address(parent), format_address(list(children)[-1]), len(children)
        if count == 1:
            return f"{name} has one address below it, {last}"
        return f"{name} has {count} addresses below it; the last is {last}"
    names = [format_address(p) for p in dict.fromkeys(p[:1] for p in known)]
    shown = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    suggestion = did_you_mean(path, known, otherwise=f"the addresses here start with {shown}")
    assert suggestion is not None
    return suggestion
