"""What the folder of a run only names: its model, its kernel, and functions that record.

The caller gives them. Only where the folder is trusted they are looked up, which imports their modules.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from gendsl.errors import FileFormatError, UntrustedFileError, format_address
from gendsl.inference.running.by_name import found
from gendsl.inference.running.folder import Description, Recorded
from gendsl.inference.running.recording import AtAddress, Recorder
from gendsl.interface import GenerativeFunction


class Needed(NamedTuple):
    """What a folder only names: the option of `resume` for it, what it is, and `module:name` or None."""

    option: str
    what: str
    place: str | None


def needed(
    description: Description, *, kernel: bool = False, model: bool = False, record: bool = False
) -> list[Needed]:
    """What has to be given, of what isn't yet: the kernel, the model, functions that record."""
    wanted = []
    if kernel:
        at = description.kernel_place
        wanted.append(Needed("kernel", f"the kernel {at or repr(description.kernel)}", at))
    if model:
        wanted.append(Needed("model", f"the model {description.program}", description.program))
    for each in description.record if record else ():
        if each.address is None:
            named = each.function or "that has no name"
            wanted.append(Needed("record", f"the function {named}, which records", each.function))
    return wanted


def check_given(wanted: list[Needed], description: Description, user: str, path: Any) -> None:
    """Raise if something has to be given, with the call to write."""
    if not wanted:
        return
    options = {each.option for each in wanted}
    shown = repr(os.fspath(path))
    if user == "load_run":
        call = f"load_run({shown}, model)"
    else:
        record = f", record={_as_given(description.record)}" if "record" in options else ""
        call = f"resume({shown}, kernel, model{record})"
    modules = sorted({each.place.partition(":")[0] for each in wanted if each.place})
    files = [description.files.get(module, module) for module in modules]
    imports = f", which imports {', '.join(files)}" if files else ""
    raise UntrustedFileError(
        f"{os.fspath(path)} only names {', '.join(each.what for each in wanted)}, and reading a folder "
        "imports nothing",
        fix=f"pass what the run was started with: {call}; or, if you trust the folder, "
        f"{user}({shown}, trust=True){imports}",
    )


def _as_given(record: tuple[Recorded, ...]) -> str:
    """How `record` was likely written."""
    entries = {
        each.name: format_address(each.address)
        if each.address is not None
        else (each.function or "function").rpartition(":")[2].rpartition(".")[2]
        for each in record
    }
    if list(entries) == [""]:
        return entries[""]
    return "{" + ", ".join(f"{name!r}: {how}" for name, how in entries.items()) + "}"


def find_model(description: Description) -> Any:
    """The program of a run, by its name, which imports its module.

    Raises:
        FileFormatError: it isn't found.
    """
    place = description.program
    model = found(place, description.files, f"the model of this run, {place},", "model")
    if not isinstance(model, GenerativeFunction):
        raise FileFormatError(
            f"{place} is {model!r}, and no generative function", fix="pass it: resume(path, model=...)"
        )
    return model


def find_kernel(description: Description) -> Any:
    """The kernel of a run, by the name of the variable that held it, which imports its module.

    Raises:
        FileFormatError: it isn't found.
    """
    what = f"the kernel of this run, {description.kernel!r},"
    return found(description.kernel_place, description.files, what, "kernel")


def recorders_of(description: Description, given: Mapping[str, Recorder] | None) -> dict[str, Recorder]:
    """What computes each quantity of a run: as it is given, or by the names of functions.

    Raises:
        FileFormatError: other quantities are given, or a function isn't found.
    """
    names = [each.name for each in description.record]
    if given is not None:
        if list(given) != names:
            raise FileFormatError(
                f"this run records {_listed(names)}, and not {_listed(given)}",
                fix="pass the record= that the run was started with",
            )
        for each, recorder in zip(description.record, given.values(), strict=True):
            _check_recorder(each, recorder)
        return dict(given)
    recorders: dict[str, Recorder] = {}
    for each in description.record:
        name = each.name
        if each.address is not None:
            recorders[name] = AtAddress(each.address)
            continue
        what = f"the function that records {name or 'the quantities'}"
        function = found(each.function, description.files, what, "record")
        if not callable(function):
            raise FileFormatError(
                f"what records {name or 'the quantities'} is {function!r}, and no function",
                fix="pass the record= that the run was started with: resume(path, record=...)",
            )
        recorders[name] = function
    return recorders


def _check_recorder(known: Recorded, given: Recorder) -> None:
    """Raise unless a quantity is recorded as it was, as far as addresses and names of functions tell."""
    address = given.address if isinstance(given, AtAddress) else None
    name = (known.function or "").rpartition(":")[2]
    if address != known.address or (name and getattr(given, "__qualname__", None) != name):
        was = format_address(known.address) if known.address is not None else name or "by another function"
        raise FileFormatError(
            f"this run records {known.name or 'its quantities'} otherwise: it was {was}",
            fix="pass the record= that the run was started with",
        )


def _listed(names: Any) -> str:
    return ", ".join(format_address((name,)) for name in names) or "whole traces"
