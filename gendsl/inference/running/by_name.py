"""Programs, kernels and functions by the names that they have in modules, also from another program.

A name is `module:qualified.name`. Beside it the file of the module is noted, so that what a script defines,
or a module out of reach, is found where that file still is. No code is kept: it is imported as it is then.
"""

from __future__ import annotations

import ast
import importlib
import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path as FilePath
from types import ModuleType
from typing import Any

from gendsl.errors import FileFormatError

_SCRIPT = "__main__"


def variable_of(value: Any, module: str) -> str | None:
    """`module:name` of the variable that holds something, in a module or in `__main__`; or None."""
    for place in (module, _SCRIPT):
        for name, found in vars(sys.modules.get(place, object)).items():
            if found is value:
                return f"{place}:{name}"
    return None


def function_name(function: Any) -> str | None:
    """`module:qualified.name` of a function that is found by it; or None."""
    place = f"{getattr(function, '__module__', None)}:{getattr(function, '__qualname__', None)}"
    return place if _named(place) is function else None


def files_of(places: Iterable[str | None]) -> dict[str, str]:
    """The files of the modules in which named things are."""
    files = {}
    for place in places:
        module = "" if place is None else place.partition(":")[0]
        file = getattr(sys.modules.get(module), "__file__", None)
        if file is not None and os.path.exists(file):
            files[module] = os.path.abspath(file)
    return files


def found(place: str | None, files: Mapping[str, str], what: str, option: str) -> Any:
    """What is at `module:name`, in a module that can be imported, or else in the file that it was in.

    Args:
        place: the name, or None if there is none.
        files: the files of modules, as `files_of` found them.
        what: what is looked for, for errors.
        option: how it can be given instead, as an argument of `resume`.

    Raises:
        FileFormatError: it isn't there, with the reason.
    """
    value = _named(place)
    if value is not None:
        return value
    give = f"pass it: resume(path, {option}=...)"
    if place is None:
        raise FileFormatError(
            f"{what} is not found: no variable of a module held it",
            fix=f"{give}; or make it a variable of the model's module",
        )
    module, _, name = place.partition(":")
    if "<locals>" in name:
        raise FileFormatError(f"{what} is not found: it was made inside a function, {name}", fix=give)
    where = "a script" if module == _SCRIPT else f"module {module}"
    file = files.get(module)
    if file is None:
        session = "a notebook or an interactive session" if module == _SCRIPT else where
        raise FileFormatError(f"{what} is not found: it was {name} in {session}", fix=give)
    if not os.path.isfile(file):
        raise FileFormatError(
            f"{what} is not found: it was {name} in {where}, in the file {file}, which is gone", fix=give
        )
    if module == _SCRIPT and not _can_be_imported(file):
        raise FileFormatError(
            f"{what} is {name} in the script {file}, which can't be imported without running it",
            fix=f'put what it runs under `if __name__ == "__main__":`, or {give}',
        )
    loaded = load_file(file, None if module == _SCRIPT else module)
    value = _attribute(loaded, name)
    if value is None:
        raise FileFormatError(f"{what} is not found: {file} has no {name} any more", fix=give)
    return value


def load_file(path: str | os.PathLike[str], module: str | None = None) -> ModuleType:
    """The module of a file, under its name, or that which it has when it is imported from its folder.

    The folder that the name starts from is added to `sys.path`: the module may import its neighbours, as a
    script does, and other processes import it, too.

    Raises:
        FileFormatError: another module has this name.
    """
    file = FilePath(path).resolve()
    name = file.stem if module is None else module
    levels = len(name.split(".")) - (file.stem != "__init__")
    folder = os.fspath(file.parents[levels])
    if folder not in sys.path:
        sys.path.insert(0, folder)
    importlib.invalidate_caches()
    loaded = importlib.import_module(name)
    if FilePath(getattr(loaded, "__file__", None) or "").resolve() != file:
        raise FileFormatError(
            f"{os.fspath(path)} has the name of another module, {name}", fix="rename the file"
        )
    return loaded


def _named(place: str | None) -> Any:
    """What is at `module:name` among the modules that can be imported; None if there is nothing."""
    if place is None:
        return None
    module, _, name = place.partition(":")
    try:
        return _attribute(importlib.import_module(module), name)
    except (ImportError, ValueError):
        return None


def _attribute(module: ModuleType, name: str) -> Any:
    value: Any = module
    for part in name.split("."):
        value = getattr(value, part, None)
    return value


def _can_be_imported(file: str) -> bool:
    """Whether a script says what it does only when it is run."""
    with open(file, encoding="utf-8") as script:
        tree = ast.parse(script.read())
    return any(
        isinstance(node, ast.If)
        and any(isinstance(part, ast.Name) and part.id == "__name__" for part in ast.walk(node.test))
        for node in tree.body
    )
