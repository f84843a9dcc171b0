"""Versions of variables: what each assignment makes, and what is known of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from gendsl.runtime.lowering.ir import Code, Load


@dataclass(frozen=True)
class Version:
    """One version of a variable: where it lies, and what is known of its value.

    Attributes:
        kind: "list" or "array" where the body made it itself, so that it may change it; "number" where it
            surely is one; "shared" where it may be such a list or array, or part of one; else "other".
        aliased: whether its value may be reachable by another way.
        unset: whether it may be unassigned.
        counts: whether it surely is an integer that isn't negative, as the loop's own index is.
        own, own_key, inner: see `Load`; for a container that the enclosing loop is writing.
    """

    depth: int
    slot: int
    kind: str = "other"
    aliased: bool = False
    unset: bool = False
    own: int | None = None
    own_key: int = -1
    inner: Version | None = None
    counts: bool = False

    @property
    def innermost(self) -> Version:
        """The version that tells what the innermost of the loops that write a container has written."""
        return self if self.inner is None else self.inner.innermost

    def put(self, **fields: Any) -> Version:
        """The same with other fields of the innermost."""
        if self.inner is None:
            return replace(self, **fields)
        return replace(self, inner=self.inner.put(**fields))

    def load(self, name: str, mode: str, keys: list[Code], cells: bool) -> Load:
        """What reads it."""
        inner = None if self.inner is None else self.inner.load(name, mode, [], False)
        at = self.depth, self.slot
        return Load(name, *at, mode, keys, self.unset, self.own, self.own_key, cells, inner)


def joined_kind(versions: Iterable[Version]) -> tuple[str, bool]:
    """The kind of a variable that may have one of several versions, and whether it may be aliased."""
    known = list(versions)
    kinds = {version.kind for version in known}
    aliased = any(version.aliased for version in known)
    if len(kinds) == 1:
        return kinds.pop(), aliased
    return ("shared" if kinds & {"list", "array", "shared"} else "other"), aliased
