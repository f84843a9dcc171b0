"""Addresses that are choices, and those that are namespaces: none is both."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gendsl.address import Path, as_path, format_address
from gendsl.errors import AddressConflictError


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
            raise AddressConflictError(
                "an address is both a choice and a namespace of other choices",
                address=space,
                fix=f"rename one of them, for instance the choice to {format_address((*space, 'value'))}",
            )
