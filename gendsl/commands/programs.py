"""`gendsl explain` and `gendsl source`: what gendsl makes of a program."""

from __future__ import annotations

from gendsl.commands.find import find
from gendsl.errors import CommandError
from gendsl.interface import GenerativeFunction
from gendsl.transforms.language import Transform


def explain(place: str) -> int:
    """Print which parts of a model update incrementally, which don't, and why."""
    model = find(place)
    if not isinstance(model, GenerativeFunction):
        raise CommandError(f"{place} is no @gen function, but {model!r}", fix="give the name of a model")
    print(model.explain())
    return 0


def source(place: str) -> int:
    """Print the code that was generated for a model or a transform."""
    program = find(place)
    if not isinstance(program, (GenerativeFunction, Transform)):
        raise CommandError(
            f"{place} is no @gen or @transform function, but {program!r}", fix="give the name of one"
        )
    print(program.source)
    return 0
