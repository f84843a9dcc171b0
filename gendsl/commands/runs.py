"""`gendsl resume` and `gendsl summary`: runs that were written to a folder."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from gendsl.commands.find import FUNCTIONS, KERNELS, MODELS, Kind, find, find_module, known
from gendsl.errors import CommandError, FileFormatError, KernelError, UntrustedFileError
from gendsl.inference.kernel import check_kernel
from gendsl.inference.results.run import Run
from gendsl.inference.results.run_html import quantity_row
from gendsl.inference.results.tables import text_table
from gendsl.inference.running.chains import load_run, resume
from gendsl.inference.running.folder import Description, open_folder
from gendsl.inference.running.named import Needed, needed
from gendsl.interface import GenerativeFunction

_HEADS = ["quantity", "mean", "std. error", "sd", "values"]


def _model(place: str | None) -> Any:
    """The model that is named, or None."""
    model = None if place is None else find(place, MODELS)
    if model is not None and not isinstance(model, GenerativeFunction):
        raise CommandError(f"{place} is no @gen function, but {model!r}", fix=_others(place, MODELS))
    return model


def _kernel(place: str | None) -> Any:
    """The kernel that is named, or None."""
    kernel = None if place is None else find(place, KERNELS)
    try:
        return None if kernel is None else check_kernel(kernel)
    except KernelError:
        raise CommandError(f"{place} is no kernel, but {kernel!r}", fix=_others(place, KERNELS)) from None


def _others(place: str | None, kind: Kind) -> str:
    return known(find_module(str(place).rpartition(":")[0]), kind)


@contextmanager
def _named_by_options(description: Description, wanted: list[Needed]) -> Iterator[None]:
    """Lets an error that asks for something to be passed say how that is done here."""
    try:
        yield
    except UntrustedFileError as error:
        if wanted:
            error.fix = _by_options(description, wanted)
        else:
            error.fix = "--trust imports its module, if you trust the folder"
        raise
    except FileFormatError as error:
        for option in ("model", "kernel", "record"):
            if error.fix is not None and f"{option}=" in error.fix:
                error.fix += f"; here by --{option} module:NAME or --{option} file.py:NAME"
        raise


def _by_options(description: Description, wanted: list[Needed]) -> str:
    """How what is wanted is given on the command line, and what is imported by --trust."""
    options, imported = [], []
    for option, _, place in wanted:
        module, _, name = (place or "module:NAME").partition(":")
        file = description.files.get(module)
        if module == "__main__":
            module = "file.py" if file is None else _relative(file)
        options.append(f"--{option} {module}:{name}")
        if place is not None:
            imported.append(module if file is None else _relative(file))
    listed = ", ".join(dict.fromkeys(imported))
    trusted = f"; or, if you trust the folder, --trust, which imports {listed}" if listed else ""
    return f"give {' '.join(dict.fromkeys(options))}{trusted}"


def _relative(file: str) -> str:
    """The path of a file from here, where there is one: not from one drive of Windows to another."""
    here = os.path.splitdrive(os.getcwd())[0] == os.path.splitdrive(file)[0]
    return os.path.relpath(file) if here else file


def _description(path: str) -> Description:
    """What a run's folder says is to be done."""
    if not os.path.isdir(path):
        raise CommandError(f"there is no folder {path}", fix="give the one that was checkpoint= of sample")
    return open_folder(path)[1]


def resume_run(
    path: str, kernel: str | None, model: str | None, record: str | None, *, trust: bool, quiet: bool
) -> int:
    """Go on with a run, and print what it comes to; 1 if it was interrupted again."""
    description = _description(path)  # says what is wrong with the folder, before what is wrong with names
    named = _kernel(kernel), _model(model)
    recorded = None if record is None else find(record, FUNCTIONS)
    wanted = needed(description, kernel=kernel is None, model=model is None, record=record is None)
    with _named_by_options(description, wanted):
        run = resume(path, *named, record=recorded, trust=trust, progress=not quiet)
    print(run)
    if run.interrupted:
        print(f"interrupted; gendsl resume {path} goes on", file=sys.stderr)
        return 1
    _print_quantities(run, run.names)
    return 0


def summarise(path: str, model: str | None, quantities: list[str], *, trust: bool, full: bool) -> int:
    """Print how far a run is, the acceptance of its kernels, and what its quantities come to."""
    description = _description(path)
    named = _model(model)
    with _named_by_options(description, needed(description, model=model is None)):
        run = load_run(path, named, trust=trust)
    print(f"{path}: {description.kernel} on {description.program}")
    for number, chain in enumerate(run.chains):
        state = "running, or stopped" if chain.interrupted else "complete"
        print(f"  chain {number}: {len(chain):,} of {description.draws:,} draws, {state}")
    print(run)
    names = quantities or run.names
    if not names:
        print("whole traces were kept: name addresses in them by --quantity")
    elif not len(run):
        print("there are no draws yet")
    elif full:
        print(f"\n{run.summary([_address(name) for name in names]).table()}")
    else:
        _print_quantities(run, names)
    return 0


def _address(name: str) -> Any:
    """An address as it is written on the command line: `mu,0` is ("mu", 0)."""
    parts = [int(part) if part.lstrip("-").isdigit() else part for part in name.split(",")]
    return tuple(parts) if len(parts) > 1 else name


def _print_quantities(run: Run, names: list[str]) -> None:
    if not names or not len(run):
        return
    rows = []
    for name in names:
        known = name if name in run.names else _address(name)
        try:
            rows.append(quantity_row(name, run.by_chain(known)))
        except KeyError as error:
            problem = getattr(error, "problem", None) or str(error)
            raise CommandError(f"{name}: {problem}", fix=getattr(error, "fix", None)) from error
    print(f"\n{text_table(_HEADS, rows, left=(0, 4))}")
