"""Programs that files name: given by the caller, or looked up in modules where the caller trusts the file.

A name is `module:qualified.name`. Looking it up imports the module, which runs whatever the module says; so a
file alone is no reason to.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from gendsl.errors import FileFormatError, UntrustedFileError, ValueTypeError
from gendsl.interface import GenerativeFunction

Find = Callable[[str], Any]
"""What gives the program of a name."""


@dataclass(frozen=True)
class Programs:
    """The programs that a file may name, as far as the caller gives them.

    Attributes:
        given: programs, by their names in the file.
        trust: whether others are looked up by name, which imports their modules.
    """

    given: Mapping[str, GenerativeFunction] = field(default_factory=dict)
    trust: bool = False

    def __call__(self, name: str) -> Any:
        """The program of a name.

        Raises:
            UntrustedFileError: it isn't given.
            FileFormatError: files are trusted, and there is no such program.
        """
        if name in self.given:
            return self.given[name]
        if self.trust:
            return find_program(name)
        raise UntrustedFileError(
            f"the file names the program {name[:200]}, and reading a file imports nothing",
            fix=f"pass it, programs={{{name[:200]!r}: ...}}; or, if you trust the file, trust=True, which "
            "imports its module",
        )


NOTHING_GIVEN = Programs()


def given_programs(programs: Any, trust: Any) -> Programs:
    """The arguments `programs` and `trust` of what reads files.

    Raises:
        ValueTypeError: they are no dict from names to programs, and no bool.
    """
    if not isinstance(trust, bool):
        raise ValueTypeError(f"got trust={trust!r}", fix="give True or False")
    named = isinstance(programs, Mapping) and all(
        isinstance(name, str) and isinstance(program, GenerativeFunction)
        for name, program in programs.items()
    )
    if not named:
        raise ValueTypeError(
            f"got programs={programs!r}",
            fix='give a dict from the names in the file to @gen functions: programs={"module:part": part}',
        )
    return Programs(dict(programs), trust)


def check_model(model: Any, user: str) -> None:
    """Raise unless a model that may be given is one.

    Raises:
        ValueTypeError: it isn't.
    """
    if model is not None and not isinstance(model, GenerativeFunction):
        raise ValueTypeError(f"{user} got model={model!r}", fix="pass a @gen function")


def program_name(program: Any, what: str = "the trace", *, must_be_found: bool = True) -> str:
    """`module:qualified.name` of a program.

    Raises:
        ValueTypeError: no program is found by that name, and it must be.
    """
    name = f"{program.__module__}:{program.__qualname__}"
    if must_be_found and loaded_program(name) != program:
        raise ValueTypeError(
            f"{what} refers to {program!r}, which is not found by its name {name}",
            fix="define it at the top level of a module",
        )
    return name


def loaded_program(name: str) -> Any:
    """What has the name of a program that this process itself encoded, among its modules; or None."""
    module, _, qualname = name.partition(":")
    found: Any = sys.modules.get(module)
    for part in qualname.split("."):
        found = getattr(found, part, None)
    return found


def find_program(name: str) -> Any:
    """The program of a name that `program_name` gave. Its module is imported, which runs what it says.

    Raises:
        FileFormatError: there is none.
    """
    try:
        importlib.import_module(name.partition(":")[0])
    except (ImportError, ValueError, TypeError):
        found = None
    else:
        found = loaded_program(name)
    if not isinstance(found, GenerativeFunction):
        raise FileFormatError(f"there is no generative function {name}", fix="pass it: model=...")
    return found
