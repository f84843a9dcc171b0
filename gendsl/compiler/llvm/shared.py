"""What texts share: functions as LLVM IR, compiled once for all of them."""

from __future__ import annotations

import functools
from importlib.resources import files
from typing import NamedTuple

SLOPES = "slopes.ll"
"""The file with what is done with derivatives, which `run.write_slopes` writes."""
_SITE = "; may fail: line "


class Shared(NamedTuple):
    """Functions as LLVM IR that several texts call, and what may fail where."""

    text: str
    sites: list[tuple[int, str]]


@functools.cache
def shared() -> Shared:
    """What texts do with derivatives; see `hir.slopes`."""
    return read(files(__package__).joinpath(SLOPES).read_text(encoding="utf-8"))


def read(text: str) -> Shared:
    """The functions of a file that `written` made."""
    lines = text.splitlines(keepends=True)
    told = [line.removeprefix(_SITE).rstrip("\n") for line in lines if line.startswith(_SITE)]
    sites = [(int(number), reason) for number, _, reason in (one.partition(": ") for one in told)]
    return Shared("".join(line for line in lines if not line.startswith(";")), sites)


def written(what: str, shared: Shared) -> str:
    """Functions that texts share, as they are kept in a file; the sites come first, in their order."""
    sites = [f"{_SITE}{line}: {reason}\n" for line, reason in shared.sites]
    return "".join([f"; {what}\n", *sites, shared.text])
