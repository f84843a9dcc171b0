"""`gendsl demo`: the examples that come with gendsl.

In a checkout they are where they are. An installation has them in `share/gendsl/examples` of its environment,
and not among the libraries: they are run as a user's own code is.
"""

from __future__ import annotations

import ast
import runpy
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path as FilePath

from gendsl.errors import CommandError

_PACKAGE = FilePath(__file__).resolve().parents[1]
_SHARED = FilePath("share", "gendsl", "examples")


def folders() -> list[FilePath]:
    """Where the examples may be, the likeliest place first."""
    beside = _PACKAGE.parent
    if (beside / "setup.cfg").is_file():
        return [beside / "examples"]
    try:
        listed = [file for file in files("gendsl") or () if file.match(f"{_SHARED.as_posix()}/*.py")]
    except PackageNotFoundError:
        listed = []
    recorded = [FilePath(str(file.locate())).resolve().parent for file in listed[:1]]
    return [*recorded, beside / _SHARED, FilePath(sys.prefix) / _SHARED]


def examples() -> dict[str, FilePath]:
    """The files of the examples, by name.

    Raises:
        CommandError: there are none.
    """
    folder = next((folder for folder in folders() if folder.is_dir()), None)
    if folder is None:
        raise CommandError("this installation has no examples", fix="install gendsl from its wheel or folder")
    return {path.stem: path for path in sorted(folder.glob("*.py"))}


def list_demos() -> int:
    """Print the name and the first line of each example."""
    found = examples()
    width = max(map(len, found))
    for name, path in found.items():
        docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        print(f"{name:<{width}}  {docstring.splitlines()[0] if docstring else ''}")
    return 0


def run_demo(name: str, options: Sequence[str]) -> int:
    """Run an example as `python examples/NAME.py OPTIONS` does."""
    found = examples()
    if name not in found:
        raise CommandError(f"there is no example {name!r}", fix=f"one of: {', '.join(found)}")
    path = str(found[name])
    arguments, sys.argv = sys.argv, [path, *options]
    try:
        runpy.run_path(path, run_name="__main__")
    except SystemExit as stop:
        if isinstance(stop.code, str):
            print(stop.code, file=sys.stderr)
            return 1
        return int(stop.code or 0)
    finally:
        sys.argv = arguments
    return 0
