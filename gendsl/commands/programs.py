"""`gendsl explain` and `gendsl source`: what gendsl makes of a program."""

from __future__ import annotations

from gendsl.commands.find import find
from gendsl.errors import CommandError
from gendsl.interface import GenerativeFunction
from gendsl.transforms.language import Transform, TransformPair


def explain(place: str) -> int:
    """Print which parts of a model update incrementally, or what a transform does with the traces."""
    program = find(place)
    parts = (program.forward, program.backward) if isinstance(program, TransformPair) else (program,)
    if not all(isinstance(part, (GenerativeFunction, Transform)) for part in parts):
        raise CommandError(
            f"{place} is no @gen or @transform function, but {program!r}", fix="give the name of one"
        )
    print("\n\n".join(part.explain() for part in parts))
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
