"""What `module:name` or `file.py:name` on the command line stands for."""

from __future__ import annotations

import importlib
import os
from pathlib import Path as FilePath
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

from gendsl.errors import CommandError, FileFormatError
from gendsl.inference.kernel import Kernel
from gendsl.inference.running.by_name import load_file
from gendsl.interface import GenerativeFunction
from gendsl.transforms.language import Transform, TransformPair


class Kind(NamedTuple):
    """What is looked for: what such things are called, and their classes."""

    plural: str
    classes: tuple[type, ...]


PROGRAMS = Kind("programs and transforms", (GenerativeFunction, Transform, TransformPair))
MODELS = Kind("models", (GenerativeFunction,))
KERNELS = Kind("kernels", (Kernel,))
FUNCTIONS = Kind("functions", (FunctionType,))


def find(place: str, kind: Kind = PROGRAMS) -> Any:
    """The thing at `module:name` or `file.py:name`; the name may have dots.

    Args:
        place: where it is.
        kind: what is looked for, which errors list.

    Raises:
        CommandError: there is no such module, file or name.
    """
    module, colon, name = _split(place)
    if not colon or not name:
        raise CommandError(
            f"{place!r} names a module and nothing in it",
            fix=f"write {place}:name; {known(find_module(place), kind)}",
        )
    found: Any = find_module(module)
    for part in name.split("."):
        if not hasattr(found, part):
            raise CommandError(f"{module} has no {name}", fix=known(found, kind))
        found = getattr(found, part)
    return found


def find_module(module: str) -> ModuleType:
    """A module by its name, or by the path of its file; the current folder is looked in.

    Raises:
        CommandError: there is none.
    """
    if module.endswith(".py") or os.sep in module:
        return _load(FilePath(module))
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not (module == error.name or module.startswith(f"{error.name}.")):
            raise  # a module that it imports
        raise CommandError(
            f"there is no module {module!r}", fix="give the path of its file: folder/file.py:name"
        ) from None
    except (TypeError, ValueError):
        raise CommandError(f"{module!r} is no name of a module", fix="write module:name") from None


def find_or_module(place: str) -> Any:
    """As `find`; without a name, the module."""
    return find(place) if _split(place)[1] else find_module(place)


def _split(place: str) -> tuple[str, str, str]:
    module, colon, name = place.rpartition(":")
    if not colon or os.sep in name or name.endswith(".py"):  # the colon of a drive
        return place, "", ""
    return module, colon, name


def _load(path: FilePath) -> ModuleType:
    """The module of a file, under the name that it has when it is imported from its folder."""
    if not path.is_file():
        raise CommandError(f"there is no file {os.fspath(path)}", fix="give a Python file or a module")
    try:
        return load_file(path)
    except FileFormatError as error:
        raise CommandError(error.problem, fix=error.fix) from None


def known(found: Any, kind: Kind) -> str:
    """The things of a kind that a module or a class has, as advice; of functions, those that it defines."""
    names = [
        name
        for name in dir(found)
        if isinstance(thing := getattr(found, name, None), kind.classes)
        and (kind is not FUNCTIONS or thing.__module__ == getattr(found, "__name__", None))
    ]
    return f"its {kind.plural}: {', '.join(names[:20])}" if names else "look at the spelling"
