"""Where what a native text reads and writes lies in its context, an array of words of 64 bits."""

from __future__ import annotations

from dataclasses import dataclass

from gendsl.compiler.front.program import Lowered
from gendsl.compiler.types import leaves

NEXT, END, SITE, GENERATOR, NODES = 0, 1, 2, 3, 4
"""The end of what the arena holds, the end of the arena, the number of the place that failed, the pointer to
NumPy's bit generator, and how many calls there are of programs that call themselves.
"""
_FIRST = 5
FAILED, FULL = 1, 2
"""What a text returns where it fails, and where the arena is full."""
ABSENT, PRESENT, VISITED, DRAWN = 0, 1, 2, 3
"""Whether a choice is in the state, and whether the text came to it, or put it there."""


@dataclass(frozen=True)
class TemplateWords:
    """The words of a template: a pointer to the column of each leaf, one to the stamps, for each index the
    capacity, and for each the index for which there was no room.
    """

    first: int
    columns: int
    rank: int

    def column(self, leaf: int) -> int:
        """The pointer to the numbers of a leaf."""
        return self.first + leaf

    @property
    def stamps(self) -> int:
        """The pointer to the stamps, one byte for each place."""
        return self.first + self.columns

    def capacity(self, axis: int) -> int:
        """How many places there are along an index."""
        return self.first + self.columns + 1 + axis

    def wanted(self, axis: int) -> int:
        """The index for which there was no room, or -1."""
        return self.first + self.columns + 1 + self.rank + axis

    @property
    def end(self) -> int:
        """The word behind."""
        return self.first + self.columns + 1 + 2 * self.rank


class Layout:
    """The words of a program's context."""

    def __init__(self, lowered: Lowered) -> None:
        at = _FIRST
        self.arguments = at
        at += len(lowered.main.parameters)
        self.inputs: list[int] = []
        for _, kind in lowered.inputs:
            self.inputs.append(at)
            at += len(leaves(kind))
        self.templates: list[TemplateWords] = []
        for template in lowered.templates:
            words = TemplateWords(at, len(leaves(template.type)), template.rank)
            self.templates.append(words)
            at = words.end
        self.results = at
        self.size = at + len(lowered.main.results) + 64

    def argument_word(self, leaf: int) -> int:
        """The word of a leaf of the arguments."""
        return self.arguments + leaf

    def input_word(self, number: int, leaf: int) -> int:
        """The word of a leaf of an input."""
        return self.inputs[number] + leaf

    def result_word(self, leaf: int) -> int:
        """The word of a leaf of the result."""
        return self.results + leaf
