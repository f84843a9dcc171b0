"""Addresses that are choices, and those that are namespaces: none is both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from gendsl.address import Path, as_path, format_address
from gendsl.errors import AddressConflictError, DuplicateAddressError


def check_namespaces(records: Mapping[Path, Any], calls: Mapping[Path, Any]) -> None:
    """Raise `AddressConflictError` if an address is both a choice and a namespace or call."""
    for path in records:
        if len(path) != 1:
            break
    else:
        if not calls:
            return
    if () in records:
        as_path(())
    above = spaces = {path[:-1] for path in records}
    while above:
        above = {space[:-1] for space in above if len(space) > 1} - spaces
        spaces |= above
    if spaces.isdisjoint(records) and (not calls or calls.keys().isdisjoint(records)):
        return
    for space in (*spaces, *calls):
        if space in records:
            raise conflict(space)


def check_new(body: Any, frame: Any, made: Iterable[Path], called: Iterable[Path]) -> None:
    """Raise if something new in the frame of a compiled body is where something else is.

    Args:
        made, called: the addresses of the choices and calls that an edit has made.

    Raises:
        DuplicateAddressError, AddressConflictError
    """
    frames = (frame,)
    for path in made:
        count = 0
        for found, record in body.find(frames, path, 0, True):
            is_choice = record[0] is not None
            if found == path:
                count += is_choice
            if is_choice != (found == path):  # a choice below it, or a call at it
                raise conflict(path)
        if count > 1:
            raise duplicate("choices", path)
        for size in range(1, len(path)):
            if any(record[0] is not None for _, record in body.find(frames, path[:size], 0, False)):
                raise conflict(path[:size])
    for path in called:
        there = [record[0] is None for found, record in body.find(frames, path, 0, True) if found == path]
        if not all(there):
            raise conflict(path)
        if len(there) > 1:
            raise duplicate("calls", path)


def conflict(path: Path) -> AddressConflictError:
    """The error for an address that is both a choice and a namespace or call."""
    return AddressConflictError(
        "an address is both a choice and a namespace of other choices",
        address=path,
        fix=f"rename one of them, for instance the choice to {format_address((*path, 'value'))}",
    )


def duplicate(what: str, path: Path) -> DuplicateAddressError:
    """The error for two choices, or two calls, at one address."""
    if what == "calls":
        fix = "give each call its own address"
    else:
        fix = "give each its own address; in a loop, put the index into it: ('x', i)"
    return DuplicateAddressError(f"two {what} at one address", address=path, fix=fix)
