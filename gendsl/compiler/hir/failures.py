"""Where a program has no text, and where a text has no answer."""

from __future__ import annotations

from os.path import basename

from gendsl.errors import is_users_file


class NotClosed(Exception):
    """A program, or a part of it, is not in the subset that the compiler reads.

    Attributes:
        reason: why, in a few words.
        line, filename: where.
        program: the name of the program that is read, where several are read together.
        about: what to call it.
        part: the part of an argument that is refused, as it is written after the name of the argument.
    """

    def __init__(self, reason: str, line: int = 0, filename: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line
        self.filename = filename
        self.program = self.about = self.part = ""

    def __str__(self) -> str:
        about = f"{self.about}: " if self.about else ""
        if not self.line or (self.filename and not is_users_file(self.filename)):
            return f"{about}{self.reason}"
        of = f" of {basename(self.filename)}" if self.filename else ""
        return f"{about}line {self.line}{of}: {self.reason}"


class TextFailure(Exception):
    """A text does not say what happens here: the reference interpreter decides."""


class FailedText(Exception):
    """A text came to a place where the reference interpreter decides."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"line {line}: {reason}" if line else reason)


PYTHON_FAILURES = (
    TextFailure, ArithmeticError, ValueError, IndexError, KeyError, MemoryError, RecursionError,
)  # fmt: skip
"""What a Python text raises where it fails."""
