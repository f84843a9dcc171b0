"""Which addresses of a trace have nothing but observations, by their strings.

A text is made for these, too: no kernel changes an observation, so that what depends on observations alone is
computed once a run (`per_run`), also where a kernel may draw choices anew whose addresses it is not told.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

Strings = tuple[str | None, ...]
"""The strings of addresses that differ in nothing else, and None for each other part."""
NONE: frozenset[Strings] = frozenset()


def observed_alone(paths: Iterable[Any], observed: Collection[Any]) -> frozenset[Strings]:
    """The strings of addresses all of which are observed, where some are.

    Args:
        paths: the addresses of all choices of a trace, and
        observed: those of its observations.
    """
    if not observed:
        return NONE
    return _strings_of(list(observed)) - _strings_of([path for path in paths if path not in observed])


def _strings_of(paths: list[Any]) -> frozenset[Strings]:
    found: set[Strings] = set()
    for length in set(map(len, paths)):
        alike = [path for path in paths if len(path) == length]
        columns = [(set(map(type, column)), column) for column in zip(*alike, strict=True)]
        if all(str not in types or (len(types) == 1 and len(set(column)) == 1) for types, column in columns):
            alike = alike[:1]  # as all differ in no string
        found.update(tuple(part if type(part) is str else None for part in path) for path in alike)
    return frozenset(found)
