"""`discrete` and `continuous`: what a transform says of the choices that it reads and writes."""

from __future__ import annotations

from typing import Any

from gendsl.address import Path
from gendsl.errors import LabelError, Location


class Label:
    """A claim about a choice, checked against its distribution: `discrete` or `continuous`."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> str:
        return self.name  # labels are told apart by identity: pickled, each is itself


discrete = Label("discrete")
continuous = Label("continuous")


def check_is_label(label: Any, path: Path) -> None:
    """Raise `LabelError` unless this is a label."""
    if label is not discrete and label is not continuous:
        raise LabelError(
            f"{label!r} is no label", address=path, fix="use discrete or continuous, without quotes"
        )


def check_label(label: Label, is_discrete: bool, path: Path, location: Location | None = None) -> None:
    """Raise `LabelError` unless the label says what the choice's distribution is."""
    check_is_label(label, path)
    if (label is discrete) != is_discrete:
        actual = "discrete" if is_discrete else "continuous"
        raise LabelError(
            f"this choice is labelled {label} but its distribution is {actual}",
            address=path,
            location=location,
            fix=f"label it {actual}, or leave the label out",
        )
