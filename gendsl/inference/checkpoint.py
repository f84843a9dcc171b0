"""Runs in files: draws are written as they come, and a run that was killed goes on as if it hadn't been.

A folder holds, for each chain, where it starts and where it is (see `gendsl.runtime.saving` for the format of
a file), and its draws, one per line:

    run.json              what is to be done: counts, and the names of model, kernel and quantities, with the
                          files of the modules that they are in
    chain-0.start.json    arguments, observations, choices and the generator's state
    chain-0.state.json    steps made, choices, the generator's state, acceptance, how many of the draws count
    chain-0.draws.jsonl   the recorded quantities of a draw, or its latent choices, on each line, with its log
                          density and what each kernel had come to by then: runs, accepted, diverged

Draws are added to the end of their file and flushed to the disk; then the state is replaced by one that
counts them. Lines after those that count were written by a run that was killed before it had replaced the
state: they are written again, with the same draws.
"""

from __future__ import annotations

import json
import os
import time
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path as FilePath
from typing import Any

import numpy as np

import gendsl.runtime.saving as saving
from gendsl.errors import FileFormatError, KernelError, ValueTypeError, format_address
from gendsl.inference.by_name import files_of, found, function_name, variable_of
from gendsl.inference.chain import Chain, Plan
from gendsl.inference.kernel import kernel_name
from gendsl.inference.recording import AtAddress, Quantities, Recorder
from gendsl.inference.run import Draws
from gendsl.inference.steps import Steps
from gendsl.inference.tally import Tallies, Tally
from gendsl.interface import GenerativeFunction
from gendsl.runtime.arguments import private
from gendsl.runtime.encoding import decode, decode_choices, encode, encode_choices, program_name

RUN, START, STATE, DRAWS = "gendsl run", "gendsl chain start", "gendsl chain state", "gendsl draws"

LEAST_EVERY = 100
"""The fewest steps after which a chain's trace is made afresh and may be written."""

_SHARE = 0.05  # of the time, at most, is spent on writing
_PAUSE = 0.1  # seconds between two writings, at least


def steps_between(trace: Any) -> int:
    """After how many steps a chain's trace is made afresh: so many that it takes a small part of the time.

    It depends on nothing but the trace that the chain starts from: chains that are continued, or made again
    elsewhere, do so at the same steps.
    """
    return max(LEAST_EVERY, len(trace.records))


@dataclass(frozen=True)
class Folder:
    """The folder of a run. It travels to workers, who must see the same files."""

    path: FilePath

    def file(self, number: int, what: str) -> FilePath:
        """A file of a chain."""
        return self.path / f"chain-{number}.{what}"

    @property
    def run(self) -> FilePath:
        """The file that says what is to be done."""
        return self.path / "run.json"

    def store(self, plan: Plan) -> ChainStore:
        """What writes a chain.

        Raises:
            FileFormatError: this machine doesn't see the folder.
        """
        if not self.run.exists():
            raise FileFormatError(
                f"chain {plan.number} doesn't find {self.run}",
                fix="give checkpoint= a folder that all workers see, on a shared disk",
            )
        return ChainStore(self, plan)


def create(path: str | os.PathLike[str], plans: list[Plan]) -> Folder:
    """Make the folder of a new run.

    Raises:
        FileFormatError: there is a run in it already.
        ValueTypeError: a trace has something that can't be saved.
    """
    folder = Folder(FilePath(path).absolute())
    if folder.run.exists():
        raise FileFormatError(
            f"{os.fspath(path)} holds a run already",
            fix=f"go on with it: resume({os.fspath(path)!r}); or give another folder",
        )
    folder.path.mkdir(parents=True, exist_ok=True)
    first = plans[0]
    for plan in plans:
        if plan.trace.gen_fn != first.trace.gen_fn:
            raise ValueTypeError(
                "the chains of a run that is written to files must have one program",
                fix="make one run for each program",
            )
        saving.write_file(folder.file(plan.number, "start.json"), START, _start(plan))
    program = program_name(first.trace.gen_fn, must_be_found=False)
    kernel_at = variable_of(first.kernel, first.trace.gen_fn.__module__)
    record = [[name, _recorder_name(what)] for name, what in first.recorders.items()]
    description = {
        "gendsl": _version(),
        "program": program,
        "kernel": kernel_name(first.kernel),
        "kernel found at": kernel_at,
        "record": record,
        "files": files_of([program, kernel_at, *(how.get("function") for _, how in record)]),
        "chains": len(plans),
        "draws": first.draws,
        "warmup": first.warmup,
        "thin": first.thin,
    }
    saving.write_file(folder.run, RUN, description)
    return folder


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("gendsl")
    except PackageNotFoundError:
        return "unknown"


def _start(plan: Plan) -> Any:
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


# --- generators ------------------------------------------------------------------------------------


def encode_rng(rng: np.random.Generator) -> Any:
    """A generator: the kind and state of its bits, and what it spawns others from."""
    bits: Any = rng.bit_generator
    seed = bits.seed_seq
    state = None
    if type(seed) is np.random.SeedSequence:
        state = {name: encode(getattr(seed, name)) for name in _SEED}
    if getattr(np.random, type(bits).__name__, None) is not type(bits):
        raise ValueTypeError(
            f"a generator of {type(bits).__name__} can't be saved", fix="use np.random.default_rng(seed)"
        )
    return {"bits": type(bits).__name__, "state": encode(bits.state), "seed": state}


_SEED = ("entropy", "spawn_key", "pool_size", "n_children_spawned")


def decode_rng(encoded: Any) -> np.random.Generator:
    """The generator that `encode_rng` encoded."""
    kind = getattr(np.random, encoded["bits"], None)
    if not (isinstance(kind, type) and issubclass(kind, np.random.BitGenerator)):
        raise FileFormatError(f"NumPy has no bit generator {encoded['bits']!r}")
    seed = encoded["seed"]
    bits: Any = kind() if seed is None else kind(
        np.random.SeedSequence(**{name: decode(value) for name, value in seed.items()})
    )
    bits.state = decode(encoded["state"])
    return np.random.Generator(bits)


# --- one chain -------------------------------------------------------------------------------------


@dataclass
class Left:
    """Where a chain was left."""

    step: int
    trace: Any
    rng: np.random.Generator
    seconds: float
    acceptance: Tallies
    rows: list[Quantities]
    traces: Any
    steps: Steps


class ChainStore:
    """Writes one chain, and reads where it was left."""

    def __init__(self, folder: Folder, plan: Plan) -> None:
        self.folder = folder
        self.state = folder.file(plan.number, "state.json")
        self.draws = folder.file(plan.number, "draws.jsonl")
        self.start: Any = plan.trace
        self.written = 0  # draws
        self.size = 0  # bytes
        self.sum = 0  # the CRC-32 of these bytes
        self.has_steps = True  # whether what became of the steps is noted, as it wasn't always
        self.next = 0.0

    def position(self, plan: Plan) -> Left | None:
        """Where the chain was left; None if nothing has been written since it started."""
        if not self.state.exists():
            return None
        content = saving.read_file(self.state, STATE)
        draws, steps = read_draws(self.draws, content)
        self.has_steps = steps is not None
        self.written, self.size, self.sum = content["draws"], content["size"], int(content["crc32"], 16)
        trace = saving.whole_trace(plan.trace, decode_choices(content["choices"]))
        saving.check_density(trace, decode(content["log_prob"]), os.fspath(self.state))
        recorded = bool(plan.recorders)
        return Left(
            step=content["step"],
            trace=trace,
            rng=decode_rng(content["rng"]),
            seconds=content["seconds"],
            acceptance={name: Tally(**tally) for name, tally in content["acceptance"].items()},
            rows=[_row(draw) for draw in draws] if recorded else [],
            traces=[] if recorded else Draws([decode_choices(draw) for draw in draws], plan.trace),
            steps=steps or Steps(),
        )

    def due(self) -> bool:
        """Whether it is time to write."""
        return time.perf_counter() >= self.next

    def write(self, plan: Plan, step: int, chain: Chain) -> None:
        """Write where the chain is, with the draws that were made since."""
        began = time.perf_counter()
        trace = chain.last
        self._check(trace)
        lines = [_line(row) for row in chain.rows[self.written :]]
        kept = chain.traces.kept if isinstance(chain.traces, Draws) else chain.traces
        for draw in kept[self.written :]:
            self._check(draw)
            lines.append(saving.to_json(encode_choices(saving.latent(draw), "a draw")))
        if self.has_steps:
            noted = [encode(chain.steps.line(self.written + i)) for i in range(len(lines))]
            lines = [f"[{line},{saving.to_json(steps)}]" for line, steps in zip(lines, noted, strict=True)]
        self._append(lines)
        self.written += len(lines)
        content = {
            "step": step,
            "draws": self.written,
            "size": self.size,
            "crc32": f"{self.sum:08x}",
            "choices": encode_choices(saving.latent(trace)),
            "log_prob": encode(float(trace.log_prob)),
            "rng": encode_rng(plan.rng),
            "seconds": chain.seconds,
            "acceptance": {name: asdict(tally) for name, tally in chain.acceptance.items()},
        }
        saving.write_file(self.state, STATE, content)
        now = time.perf_counter()
        self.next = now + max(_PAUSE, (now - began) / _SHARE)

    def _check(self, trace: Any) -> None:
        start = self.start
        if private(trace.args, start.args) is not start.args or trace.gen_fn != start.gen_fn:
            raise KernelError(
                "a kernel changed the arguments or the program of the trace, which checkpoints take as fixed",
                fix="run it without checkpoint=, or make the arguments choices",
            )

    def _append(self, lines: list[str]) -> None:
        """Add lines after those that count; what a killed run left there is overwritten by the same."""
        first = {"format": DRAWS, "version": saving.VERSION, "steps": True}
        head = [] if self.size else [saving.to_json(first)]
        if not head and not lines:
            return
        data = "".join(f"{line}\n" for line in [*head, *lines]).encode()
        with open(self.draws, "r+b" if self.draws.exists() else "xb") as file:
            file.seek(self.size)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if head:
            saving.sync_folder(self.draws.parent)
        self.size += len(data)
        self.sum = zlib.crc32(data, self.sum)


def _line(row: Quantities) -> str:
    return saving.to_json({name: encode(value, f"the quantity {name}") for name, value in row.items()})


def _row(draw: Any) -> Quantities:
    return {name: decode(value) for name, value in draw.items()}


def read_draws(path: FilePath, state: Any) -> tuple[list[Any], Steps | None]:
    """The draws that a chain's state counts, encoded, and what became of their steps, None if not noted.

    Raises:
        FileFormatError: the file was cut off or changed.
    """
    if not state["size"]:
        return [], Steps()
    try:
        with open(path, "rb") as file:
            data = file.read(state["size"])
    except FileNotFoundError:
        raise saving.damaged(path) from None
    if len(data) != state["size"] or saving.checksum(data) != state["crc32"]:
        raise saving.damaged(path)
    first, *lines = data.decode().splitlines()
    head = json.loads(first)
    if head.get("format") != DRAWS or len(lines) != state["draws"]:
        raise saving.damaged(path)
    draws = [json.loads(line) for line in lines]
    if not head.get("steps"):
        return draws, None
    steps = Steps.read((decode(noted) for _, noted in draws), state["acceptance"])
    return [draw for draw, _ in draws], steps


# --- names for what can't be saved -----------------------------------------------------------------


def _recorder_name(what: Recorder) -> Any:
    if isinstance(what, AtAddress):
        return {"address": [encode(part, "an address") for part in what.address]}
    return {"function": function_name(what)}


def find_model(description: Any) -> Any:
    """The program of a run, by its name.

    Raises:
        FileFormatError: it isn't found.
    """
    place = description["program"]
    model = found(place, description.get("files", {}), f"the model of this run, {place},", "model")
    if not isinstance(model, GenerativeFunction):
        raise FileFormatError(
            f"{place} is {model!r}, and no generative function", fix="pass it: resume(path, model=...)"
        )
    return model


# --- going on --------------------------------------------------------------------------------------


def open_run(
    path: str | os.PathLike[str], kernel: Any = None, model: Any = None, record: Any = None
) -> tuple[Folder, list[Plan]]:
    """The folder of a run, and its chains as they started.

    Raises:
        FileFormatError: a file is damaged or foreign; or the model, the kernel or a recorded function isn't
            found, or isn't the one that the run was started with.
    """
    folder, description = open_folder(path)
    files = description.get("files", {})
    model = find_model(description) if model is None else model
    if kernel is None:
        what = f"the kernel of this run, {description['kernel']!r},"
        kernel = found(description["kernel found at"], files, what, "kernel")
    if kernel_name(kernel) != description["kernel"]:
        raise FileFormatError(
            f"the kernel of this run is {description['kernel']!r}, and not {kernel_name(kernel)!r}",
            fix="pass the kernel that the run was started with",
        )
    recorders = _recorders(description["record"], files, record)
    plans = []
    for number in range(description["chains"]):
        start = saving.read_file(folder.file(number, "start.json"), START)
        trace = read_start(folder, number, model)
        counts = {name: description[name] for name in ("draws", "warmup", "thin")}
        rng = decode_rng(start["rng"])
        plans.append(Plan(number, kernel, trace, rng, recorders, **counts, every=start["every"]))
    return folder, plans


def open_folder(path: str | os.PathLike[str]) -> tuple[Folder, Any]:
    """The folder of a run, and what is to be done."""
    folder = Folder(FilePath(path).absolute())
    if not folder.run.exists():
        raise FileFormatError(
            f"{os.fspath(path)} holds no run: it has no file {folder.run.name}",
            fix="give the folder that was passed as checkpoint= to sample",
        )
    return folder, saving.read_file(folder.run, RUN)


def read_start(folder: Folder, number: int, model: Any) -> Any:
    """The trace that a chain started from."""
    path = folder.file(number, "start.json")
    start = saving.read_file(path, START)
    observed = decode_choices(start["observed"])
    args = tuple(decode(arg) for arg in start["args"])
    trace = saving.remake(model, args, {**observed, **decode_choices(start["choices"])}, observed)
    saving.check_density(trace, decode(start["log_prob"]), os.fspath(path))
    return trace


def _recorders(
    described: Any, files: Mapping[str, str], given: Mapping[str, Recorder] | None
) -> dict[str, Recorder]:
    names = [name for name, _ in described]
    if given is not None:
        if list(given) != names:
            raise FileFormatError(
                f"this run records {_listed(names)}, and not {_listed(given)}",
                fix="pass the record= that the run was started with",
            )
        return dict(given)
    recorders: dict[str, Recorder] = {}
    for name, how in described:
        if "address" in how:
            recorders[name] = AtAddress(tuple(decode(part) for part in how["address"]))
            continue
        function = found(
            how["function"], files, f"the function that records {name or 'the quantities'}", "record"
        )
        if not callable(function):
            raise FileFormatError(
                f"what records {name or 'the quantities'} is {function!r}, and no function",
                fix="pass the record= that the run was started with: resume(path, record=...)",
            )
        recorders[name] = function
    return recorders


def _listed(names: Any) -> str:
    return ", ".join(format_address((name,)) for name in names) or "whole traces"


def read_chains(path: str | os.PathLike[str], model: Any = None) -> tuple[list[Chain], list[str]]:
    """What has been written of a run so far; it may be running."""
    folder, description = open_folder(path)
    names = [name for name, _ in description["record"]]
    chains = []
    for number in range(description["chains"]):
        state_path = folder.file(number, "state.json")
        start = last = None
        if model is not None or not names:
            model = find_model(description) if model is None else model
            start = last = read_start(folder, number, model)
        if not state_path.exists():
            chains.append(Chain([], [], last, interrupted=True))
            continue
        state = saving.read_file(state_path, STATE)
        draws, steps = read_draws(folder.file(number, "draws.jsonl"), state)
        if start is not None:
            last = saving.whole_trace(start, decode_choices(state["choices"]))
        chains.append(
            Chain(
                [_row(draw) for draw in draws] if names else [],
                [] if names else Draws([decode_choices(draw) for draw in draws], start),
                last,
                {name: Tally(**tally) for name, tally in state["acceptance"].items()},
                state["step"] < description["warmup"] + description["draws"] * description["thin"],
                state["seconds"],
                steps=steps or Steps(),
            )
        )
    return chains, names
