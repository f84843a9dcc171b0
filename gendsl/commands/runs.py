"""`gendsl resume` and `gendsl summary`: runs that were written to a folder."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from gendsl.commands.find import find
from gendsl.errors import CommandError, FileFormatError
from gendsl.inference.chains import load_run, resume
from gendsl.inference.checkpoint import open_folder
from gendsl.inference.run import Run
from gendsl.inference.run_html import quantity_row

_HEADS = ["quantity", "mean", "std. error", "sd", "values"]


def _found(place: str | None) -> Any:
    return None if place is None else find(place)


def _check_script(path: str, what: str, place: str | None, given: str | None) -> None:
    """Raise where a run was started by a script, in whose names nothing can be looked up."""
    if given is None and place is not None and place.startswith("__main__:"):
        name = place.partition(":")[2]
        raise CommandError(
            f"the {what} of {path} is {name} in the script that started it",
            fix=f"say where that is: --{what} script.py:{name}",
        )


@contextmanager
def _named_by_options() -> Iterator[None]:
    """Lets an error that asks for something to be passed say how that is done here."""
    try:
        yield
    except FileFormatError as error:
        if error.fix is not None and error.fix.startswith("pass "):
            error.fix += "; on the command line by --model, --kernel or --record"
        raise


def resume_run(path: str, kernel: str | None, model: str | None, record: str | None, quiet: bool) -> int:
    """Go on with a run, and print what it comes to; 1 if it was interrupted again."""
    _, description = open_folder(path)
    _check_script(path, "model", description["program"], model)
    _check_script(path, "kernel", description["kernel found at"], kernel)
    with _named_by_options():
        run = resume(path, _found(kernel), _found(model), record=_found(record), progress=not quiet)
    print(run)
    if run.interrupted:
        print(f"interrupted; gendsl resume {path} goes on", file=sys.stderr)
        return 1
    _print_quantities(run, run.names)
    return 0


def summarise(path: str, model: str | None, quantities: list[str], full: bool) -> int:
    """Print how far a run is, the acceptance of its kernels, and what its quantities come to."""
    _, description = open_folder(path)
    if not description["record"]:
        _check_script(path, "model", description["program"], model)
    with _named_by_options():
        run = load_run(path, _found(model))
    print(f"{path}: {description['kernel']} on {description['program']}")
    for number, chain in enumerate(run.chains):
        state = "running, or stopped" if chain.interrupted else "complete"
        print(f"  chain {number}: {len(chain):,} of {description['draws']:,} draws, {state}")
    print(run)
    names = quantities or run.names
    if not names:
        print("whole traces were kept: name addresses in them by --quantity")
    elif full:
        print(f"\n{run.summary([_address(name) for name in names])}")
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
    rows = [_HEADS]
    for name in names:
        known = name if name in run.names else _address(name)
        try:
            rows.append(quantity_row(name, run.by_chain(known)))
        except KeyError as error:
            problem = getattr(error, "problem", None) or str(error)
            raise CommandError(f"{name}: {problem}", fix=getattr(error, "fix", None)) from error
    widths = [max(len(row[i]) for row in rows) for i in range(len(_HEADS))]
    print()
    for row in rows:
        cells = [row[0].ljust(widths[0]), *(row[i].rjust(widths[i]) for i in (1, 2, 3)), row[4]]
        print("  ".join(cells).rstrip())
