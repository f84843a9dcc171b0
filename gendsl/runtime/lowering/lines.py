"""A body's lines with notes beside them, at most 100 columns wide."""

from __future__ import annotations

import ast
import textwrap
from dataclasses import dataclass, field

from gendsl.lang.source import Source
from gendsl.lang.trees import walk

WIDTH = 100
_CODE = 50  # what stands in the first column; a note to a longer line begins below it


@dataclass
class Listing:
    """The lines of a function, and notes on some of them.

    Attributes:
        definition: the function.
        notes: line number -> what is said of it, in order; each a first line and an indented rest.
    """

    definition: Source
    notes: dict[int, list[str]] = field(default_factory=dict)

    def note(self, line: int, text: str) -> None:
        """Say something of a line, once."""
        notes = self.notes.setdefault(line, [])
        if text not in notes:
            notes.append(text)

    def __str__(self) -> str:
        lines = self._lines()
        margin = min(len(text) - len(text.lstrip()) for _, text in lines)
        shown = [(number, text[margin:]) for number, text in lines]
        digits = len(str(shown[-1][0]))
        width = min(max(len(text) for _, text in shown), _CODE)
        room = WIDTH - digits - width - 5
        out: list[str] = []
        waiting: list[str] = []  # the rest of a note goes beside the lines on which its statement goes on
        continued = self._continued()
        for number, text in shown:
            if number not in continued or number in self.notes:
                out += [f"{'':{digits}} | {'':{width}}  {rest}" for rest in waiting]
                waiting = []
            waiting += [line for note in self.notes.get(number, ()) for line in _wrapped(note, room)]
            beside = waiting.pop(0) if waiting and len(text) <= width else ""
            out.append(f"{number:{digits}} | {_cut(text, WIDTH - digits - 3):{width}}  {beside}".rstrip())
        out += [f"{'':{digits}} | {'':{width}}  {rest}" for rest in waiting]
        return "\n".join(out)

    def _lines(self) -> list[tuple[int, str]]:
        """The lines of the definition with their numbers, without its documentation and blank lines."""
        node = self.definition.node
        assert node.end_lineno is not None
        numbers = set(range(node.lineno, node.end_lineno + 1))
        if ast.get_docstring(node) is not None:
            first = node.body[0]
            assert first.end_lineno is not None
            numbers -= set(range(max(first.lineno, node.lineno + 1), first.end_lineno + 1))
        lines = self.definition.lines
        found = [(number, lines[number - node.lineno].expandtabs().rstrip()) for number in sorted(numbers)]
        return [(number, text) for number, text in found if text]

    def _continued(self) -> set[int]:
        """The lines on which what an earlier line began goes on: the rest of a statement, or of its head."""
        node = self.definition.node
        found: set[int] = set()
        for part in (node, *(n for n in walk(node) if isinstance(n, ast.stmt))):
            inner = _inner(part)
            assert part.end_lineno is not None
            end = inner[0].lineno - 1 if inner else part.end_lineno
            found.update(range(part.lineno + 1, end + 1))
        return found


def _inner(node: ast.AST) -> list[ast.stmt]:
    """The statements directly inside a compound statement, in order."""
    found: list[ast.stmt] = []
    for _, value in ast.iter_fields(node):
        for item in value if isinstance(value, list) else ():
            if isinstance(item, ast.stmt):
                found.append(item)
            elif isinstance(item, (ast.ExceptHandler, ast.match_case)):
                found += item.body
    return found


def _wrapped(note: str, room: int) -> list[str]:
    return textwrap.wrap(note, room, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def _cut(text: str, room: int) -> str:
    return text if len(text) <= room else text[: room - 3] + "..."
