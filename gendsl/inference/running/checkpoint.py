"""Runs in files: draws are written as they come, and a run that was killed goes on as if it hadn't been.

`folder` has the files of a run's folder, `chain_store` what is in those of a chain, and `named` what becomes
of model, kernel and functions, which files only name.
"""

from __future__ import annotations

import contextlib
import math
import os
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import gendsl.runtime.saving as saving
from gendsl.errors import FileFormatError, ValueTypeError
from gendsl.inference.any_kernel import kernel_name
from gendsl.inference.results.draws import Draws
from gendsl.inference.running.by_name import files_of, function_name, variable_of
from gendsl.inference.running.chain import Chain, Plan
from gendsl.inference.running.chain_store import ChainState, read_draws
from gendsl.inference.running.columns import Columns
from gendsl.inference.running.folder import RUN, START, VERSION, Description, Folder, as_folder, open_folder
from gendsl.inference.running.generators import encode_rng, read_rng
from gendsl.inference.running.named import check_given, find_kernel, find_model, needed, recorders_of
from gendsl.inference.running.recording import AtAddress, Recorder
from gendsl.inference.running.steps import Steps
from gendsl.inference.structure import describe, difference
from gendsl.runtime.encoding import encode, encode_choices
from gendsl.runtime.fields import Fields
from gendsl.runtime.files import remove_parts, write_file
from gendsl.runtime.program_names import Find, Programs, loaded_program, program_name

LEAST_EVERY = 100
"""The fewest steps after which a chain's trace is made afresh and may be written."""

WAIT = 10.0
"""For how many seconds `resume` waits for processes of the run before that still write a chain."""


def steps_between(trace: Any) -> int:
    """After how many steps a chain's trace is made afresh: so many that it takes a small part of the time.

    It depends on nothing but the trace that the chain starts from: chains that are continued, or made again
    elsewhere, do so at the same steps.
    """
    return max(LEAST_EVERY, len(trace.records))


# --- a new run -------------------------------------------------------------------------------------


@contextlib.contextmanager
def create(path: Any, plans: list[Plan]) -> Iterator[Folder]:
    """Make the folder of a new run, and hold its lock. The chains start from what is in the files.

    Raises:
        FileFormatError: there is a run in it already, or what another has left.
        RunInUseError: there is one that is going on.
        ValueTypeError: a trace has something that can't be saved.
    """
    place = as_folder(path, "checkpoint=")
    first = plans[0]
    if any(plan.trace.gen_fn != first.trace.gen_fn for plan in plans):
        raise ValueTypeError(
            "the chains of a run that is written to files must have one program",
            fix="make one run for each program",
        )
    folder = Folder(place, secrets.token_hex(16), loaded_program)
    starts = [{"run": folder.identity, "chain": plan.number, **_start(plan)} for plan in plans]
    description = {"run": folder.identity, **_description(plans)}
    if place.exists() and not place.is_dir():
        raise FileFormatError(f"{os.fspath(path)} is a file", fix="give checkpoint= a folder")
    place.mkdir(parents=True, exist_ok=True)
    with folder.locked():
        _check_unused(folder, path)
        remove_parts(place)
        for started in place.glob("chain-*.start.json"):  # by a run that was killed before it began
            started.unlink()
        for plan, start in zip(plans, starts, strict=True):
            write_file(folder.file(plan.number, "start.json"), START, start, VERSION)
        write_file(folder.run, RUN, description, VERSION)
        for plan in plans:
            plan.trace = read_start(folder, plan.number, plan.trace.gen_fn)
        yield folder


def _check_unused(folder: Folder, path: Any) -> None:
    if folder.run.exists():
        raise FileFormatError(
            f"{os.fspath(path)} holds a run already",
            fix=f"go on with it: resume({os.fspath(path)!r}, kernel, model); or give another folder",
        )
    patterns = ("chain-*.state.json", "chain-*.draws.jsonl")
    left = [file.name for pattern in patterns for file in folder.path.glob(pattern)]
    if left:
        raise FileFormatError(
            f"{os.fspath(path)} has files of another run, {', '.join(sorted(left)[:3])}, and no "
            f"{folder.run.name} that tells which",
            fix="remove them if they aren't needed, or give another folder",
        )


def _description(plans: list[Plan]) -> dict[str, Any]:
    first = plans[0]
    program = program_name(first.trace.gen_fn, must_be_found=False)
    kernel_at = variable_of(first.kernel, first.trace.gen_fn.__module__)
    record = [(name, _recorder_name(what)) for name, what in first.recorders.items()]
    return {
        "gendsl": _version(),
        "program": program,
        "kernel": kernel_name(first.kernel),
        "kernel found at": kernel_at,
        "structure": describe_kernel(first.kernel),
        "record": record,
        "files": files_of([program, kernel_at, *(how.get("function") for _, how in record)]),
        "chains": len(plans),
        "draws": first.draws,
        "warmup": first.warmup,
        "thin": first.thin,
    }


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("gendsl")
    except PackageNotFoundError:
        return "unknown"


def describe_kernel(kernel: Any) -> dict[str, Any]:
    """What a kernel is made of, with its name; a kernel of the user's is a function or an object."""
    return {"name": kernel_name(kernel), "made of": describe(kernel)}


def _start(plan: Plan) -> dict[str, Any]:
    trace: Any = plan.trace
    what = "the trace that a chain starts from"
    return {
        "args": [encode(arg, f"an argument of {what}") for arg in trace.args],
        "observed": encode_choices(trace.observed, what),
        "choices": encode_choices(saving.latent(trace), what),
        "log_prob": encode(float(trace.log_prob)),
        "rng": encode_rng(plan.rng),
        "every": plan.every,
    }


def _recorder_name(what: Recorder) -> dict[str, Any]:
    if isinstance(what, AtAddress):
        return {"address": [encode(part, "an address") for part in what.address]}
    return {"function": function_name(what)}


# --- going on --------------------------------------------------------------------------------------


@contextlib.contextmanager
def reopen(
    path: Any, kernel: Any, model: Any, record: Mapping[str, Recorder] | None, programs: Programs
) -> Iterator[tuple[Folder, list[Plan]]]:
    """The folder of a run, whose lock is held, and its chains as they started.

    Raises:
        FileFormatError: a file is damaged or foreign; or the model, the kernel or a recorded function isn't
            the one that the run was started with.
        UntrustedFileError: one of them isn't given.
        RunInUseError: the run is going on.
    """
    folder, description = open_folder(path, "resume", programs)
    if description.version < VERSION:
        raise FileFormatError(
            f"{os.fspath(path)} was written by an earlier gendsl ({description.gendsl}), whose files don't "
            "say which run they belong to, nor what its kernel was made of: no run goes on from them",
            fix="load_run reads what was recorded; resume it with the gendsl that wrote it",
        )
    model = programs.given.get(description.program) if model is None else model
    wanted = needed(description, kernel=kernel is None, model=model is None, record=record is None)
    if not programs.trust:
        check_given(wanted, description, "resume", path)
    model = find_model(description) if model is None else model
    kernel = find_kernel(description) if kernel is None else kernel
    _check_kernel(kernel, description)
    recorders = recorders_of(description, record)
    folder = replace(folder, wait=WAIT)
    with folder.locked():
        remove_parts(folder.path)
        plans = []
        for number in range(description.chains):
            start = folder.read(number, "start.json", START)
            trace, rng = _start_trace(start, folder.find, model), read_rng(start)
            counts = description.draws, description.warmup, description.thin
            every = start.count("every", 1)
            plans.append(Plan(number, kernel, trace, rng, recorders, *counts, every=every))
        yield folder, plans


def _check_kernel(kernel: Any, description: Description) -> None:
    """Raise unless a kernel is the run's.

    Raises:
        FileFormatError: it isn't, with the first place where it differs.
    """
    fix = "pass the kernel that the run was started with, as it was before its warm-up"
    if kernel_name(kernel) != description.kernel:
        raise FileFormatError(
            f"the kernel of this run is {description.kernel!r}, and not {kernel_name(kernel)!r}", fix=fix
        )
    if differs := difference(description.structure, describe_kernel(kernel)):
        raise FileFormatError(f"the kernel of this run is made of other things: {differs}", fix=fix)


def read_start(folder: Folder, number: int, model: Any) -> Any:
    """The trace that a chain started from."""
    return _start_trace(folder.read(number, "start.json", START), folder.find, model)


def _start_trace(start: Fields, find: Find, model: Any) -> Any:
    observed = start.choices("observed", find)
    values = {**start.choices("choices", find), **observed}
    args = start.values("args", find)
    trace = start.decoded(lambda: saving.remake(model, args, values, observed))
    log_density = start.number("log_prob")
    saving.check_density(trace, log_density, start.path)
    if not math.isfinite(log_density):
        raise start.error(f"the log density of a trace is {log_density}")
    return trace


# --- reading ---------------------------------------------------------------------------------------


def read_chains(path: Any, model: Any, programs: Programs) -> tuple[list[Chain], list[str]]:
    """What has been written of a run so far; it may be running."""
    folder, description = open_folder(path, "load_run", programs)
    names = [each.name for each in description.record]
    model = programs.given.get(description.program) if model is None else model
    if model is None and not names:
        if not programs.trust:
            check_given(needed(description, model=True), description, "load_run", path)
        model = find_model(description)
    chains = []
    for number in range(description.chains):
        start = last = None if model is None else read_start(folder, number, model)
        if model is None:
            folder.read(number, "start.json", START)
        if not folder.file(number, "state.json").exists():
            chains.append(Chain(Columns(), [], last, interrupted=True))
            continue
        state = ChainState.read(folder, number)
        state.check_counts(description.warmup, description.draws, description.thin)
        draws, steps = read_draws(folder, number, state, names)
        if start is not None:
            last = state.trace(start)
        chains.append(
            Chain(
                Columns(draws if names else ()),
                [] if names else Draws(draws, start),
                last,
                state.acceptance,
                state.step < description.steps,
                state.seconds,
                steps=steps or Steps(),
            )
        )
    return chains, names
