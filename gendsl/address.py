"""Addresses: every random choice has a path, a non-empty tuple of hashable components."""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Iterable
from typing import Any

from gendsl.errors import InvalidAddressError, format_address

__all__ = ["Path", "as_path", "did_you_mean", "format_address", "nearest"]

Path = tuple[Any, ...]

_NEAREST_CANDIDATES = 5_000  # how many addresses a "did you mean" looks through


def as_path(address: Any) -> Path:
    """The path that an address stands for: a tuple is itself, anything else a path of length 1.

    Raises:
        InvalidAddressError: the address is empty, `...`, or has an unhashable component.
    """
    path = address if type(address) is tuple else (address,)
    if not path:
        raise InvalidAddressError(
            "() is not an address", fix="use at least one component, such as 'x' or ('x', 0)"
        )
    for component in path:
        try:
            hash(component)
        except TypeError:
            raise InvalidAddressError(
                f"{component!r} of type {type(component).__name__} can't be part of an address: "
                "it is not hashable",
                fix="build addresses from strings, numbers and tuples",
            ) from None
        if component is ...:
            raise InvalidAddressError(
                "... can't be part of an address", fix="`... @ ~f(x)` splices; it names no address"
            )
        if isinstance(component, slice):
            raise InvalidAddressError(
                "a slice can't be part of an address",
                fix="name one choice at a time, or a whole namespace by its prefix",
            )
    return path


def _text(path: Path) -> str:
    """A path without quotes and brackets, which would make short names look alike, and without case."""
    return " ".join(map(str, path)).casefold()


def nearest(path: Path, candidates: Iterable[Path]) -> Path | None:
    """The candidate that most resembles `path` as text, or None where nothing does."""
    names = {_text(c): c for c in itertools.islice(candidates, _NEAREST_CANDIDATES)}
    matches = difflib.get_close_matches(_text(path), names, n=1, cutoff=0.6)
    return names[matches[0]] if matches else None


def did_you_mean(path: Path, candidates: Iterable[Path], otherwise: str | None = None) -> str | None:
    """The sentence `did you mean 'mu'?` for an unknown address, or `otherwise`."""
    candidates = list(itertools.islice(candidates, _NEAREST_CANDIDATES))
    prefixes = {c[:n]: None for c in candidates for n in range(1, len(c) + 1)}
    match = nearest(path, prefixes)
    return otherwise if match is None else f"did you mean {format_address(match)}?"
