"""One chain in files: its draws are written as they come, and where it was left is read.

Draws are added to the end of their file and flushed to the disk; then the state is replaced by one that
counts them. Lines after those that count were written by a run that was killed before it had replaced the
state: they are cut off and written again, with the same draws.
"""

from __future__ import annotations

import contextlib
import math
import os
import time
import zlib
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from gendsl.errors import FileFormatError, KernelError
from gendsl.inference.results.draws import Draws
from gendsl.inference.running.chain import Chain, Plan
from gendsl.inference.running.columns import Columns
from gendsl.inference.running.folder import DRAWS, STATE, VERSION, Folder
from gendsl.inference.running.generators import encode_rng, read_rng
from gendsl.inference.running.recording import Quantities
from gendsl.inference.running.steps import Steps
from gendsl.inference.running.tally import Tallies, Tally
from gendsl.runtime.arguments import private
from gendsl.runtime.encoding import decode, decode_choices, encode, encode_choices
from gendsl.runtime.fields import Fields
from gendsl.runtime.files import (
    checksum,
    damaged,
    parse,
    read_bytes,
    remove_parts,
    sync_folder,
    to_json,
    write_file,
)
from gendsl.runtime.saving import check_density, latent, whole_trace

_SHARE = 0.05  # of the time, at most, is spent on writing
_PAUSE = 0.1  # seconds between two writings, at least


@dataclass
class Left:
    """Where a chain was left."""

    step: int
    trace: Any
    rng: np.random.Generator
    seconds: float
    acceptance: Tallies
    rows: Columns
    traces: Any
    steps: Steps


class ChainStore:
    """Writes one chain, and reads where it was left. As a context it holds the chain's lock."""

    def __init__(self, folder: Folder, plan: Plan) -> None:
        self.folder = folder
        self.number = plan.number
        self.state = folder.file(plan.number, "state.json")
        self.draws = folder.file(plan.number, "draws.jsonl")
        self.start: Any = plan.trace
        self.run_file: tuple[int, int] | None = None
        self.lock = contextlib.ExitStack()
        self.written = 0  # draws
        self.size = 0  # bytes
        self.sum = 0  # the CRC-32 of these bytes
        self.next = 0.0

    def __enter__(self) -> ChainStore:
        """Hold the chain's lock.

        Raises:
            RunInUseError: another writes the chain.
            FileFormatError: this machine doesn't see the folder.
        """
        self.run_file = self._run_file()
        if self.run_file is None:
            raise FileFormatError(
                f"chain {self.number} doesn't find {self.folder.run}",
                fix="give checkpoint= a folder that all workers see, on a shared disk",
            )
        self.lock.enter_context(self.folder.chain_locked(self.number))
        remove_parts(self.folder.path, f"chain-{self.number}.", locked=True)
        return self

    def __exit__(self, *_: object) -> None:
        self.lock.close()

    def _run_file(self) -> tuple[int, int] | None:
        """Which file run.json is, and when it was written; None if there is none."""
        try:
            known = os.stat(self.folder.run)
        except FileNotFoundError:
            return None
        return known.st_ino, known.st_mtime_ns

    # --- reading -------------------------------------------------------------------------------------

    def position(self, plan: Plan) -> Left | None:
        """Where the chain was left; None if nothing has been written since it started."""
        if not self.state.exists():
            return None
        recorded = bool(plan.recorders)
        names = list(plan.recorders)
        state = ChainState.read(self.folder, plan.number)
        state.check_counts(plan.warmup, plan.draws, plan.thin)
        draws, steps = read_draws(self.folder, plan.number, state, names)
        self.written, self.size, self.sum = state.draws, state.size, int(state.crc32, 16)
        trace = state.trace(plan.trace)
        return Left(
            step=state.step,
            trace=trace,
            rng=read_rng(state.fields),
            seconds=state.seconds,
            acceptance=state.acceptance,
            rows=Columns(draws if recorded else ()),
            traces=[] if recorded else Draws(draws, plan.trace),
            steps=steps or Steps(),
        )

    # --- writing -------------------------------------------------------------------------------------

    def due(self) -> bool:
        """Whether it is time to write."""
        return time.perf_counter() >= self.next

    def write(self, plan: Plan, step: int, chain: Chain) -> None:
        """Write where the chain is, with the draws that were made since.

        Raises:
            FileFormatError: the folder is another's by now.
            OSError: the disk is full, or can't be written.
        """
        began = time.perf_counter()
        if self._run_file() != self.run_file:
            raise FileFormatError(
                f"{self.folder.path} was removed, or given to another run, while chain {self.number} was "
                "written there",
                fix="leave a folder alone while its run goes on",
            )
        trace = chain.last
        self._check(trace)
        lines = [_line(row) for row in chain.rows[self.written :]]
        kept = chain.traces.kept if isinstance(chain.traces, Draws) else chain.traces
        for draw in kept[self.written :]:
            self._check(draw)
            lines.append(to_json(encode_choices(latent(draw), "a draw")))
        noted = [encode(chain.steps.line(self.written + i)) for i in range(len(lines))]
        self._append([f"[{line},{to_json(steps)}]" for line, steps in zip(lines, noted, strict=True)])
        self.written += len(lines)
        content = {
            "run": self.folder.identity,
            "chain": self.number,
            "step": step,
            "draws": self.written,
            "size": self.size,
            "crc32": f"{self.sum:08x}",
            "choices": encode_choices(latent(trace)),
            "log_prob": encode(float(trace.log_prob)),
            "rng": encode_rng(plan.rng),
            "seconds": chain.seconds,
            "acceptance": {name: _encoded(tally) for name, tally in chain.acceptance.items()},
        }
        write_file(self.state, STATE, content, VERSION)
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
        """Put lines after those that count, in place of what a killed run left there."""
        head = []
        if not self.size:
            owner = {"run": self.folder.identity, "chain": self.number}
            head = [to_json({"format": DRAWS, "version": VERSION, **owner})]
        if not head and not lines:
            return
        data = "".join(f"{line}\n" for line in [*head, *lines]).encode()
        # what comes from elsewhere may have a link in place of the file, and what it leads to isn't gendsl's
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        with open(os.open(self.draws, flags, 0o666), "r+b") as file:
            file.truncate(self.size)
            file.seek(self.size)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if head:
            sync_folder(self.draws.parent)
        self.size += len(data)
        self.sum = zlib.crc32(data, self.sum)


def _encoded(tally: Tally) -> dict[str, Any]:
    counted = asdict(tally)
    return {name: encode(value) if type(value) is float else value for name, value in counted.items()}


def _line(row: Quantities) -> str:
    return to_json({name: encode(value, f"the quantity {name}") for name, value in row.items()})


# --- what is in the files --------------------------------------------------------------------------


@dataclass(frozen=True)
class ChainState:
    """The state of a chain, as its file has it."""

    fields: Fields
    choices: dict[Any, Any]
    step: int
    draws: int
    size: int
    crc32: str
    seconds: float
    acceptance: Tallies

    @staticmethod
    def read(folder: Folder, number: int) -> ChainState:
        """Read it.

        Raises:
            FileFormatError: the file is damaged, or another run's or chain's.
        """
        fields = folder.read(number, "state.json", STATE)
        crc32 = fields.text("crc32")
        if len(crc32) != 8 or set(crc32) - set("0123456789abcdef"):
            raise fields.error(f"'crc32' is {crc32[:60]}")
        tallies = fields.inner("acceptance")
        return ChainState(
            fields,
            fields.choices("choices", folder.find),
            fields.count("step"),
            fields.count("draws"),
            fields.count("size"),
            crc32,
            fields.seconds("seconds"),
            {name: _tally(tallies.inner(name)) for name in tallies.content},
        )

    def trace(self, start: Any) -> Any:
        """The trace that the chain was at, with what the trace has that it started from."""
        trace = self.fields.decoded(lambda: whole_trace(start, self.choices))
        log_density = self.fields.number("log_prob")
        check_density(trace, log_density, self.fields.path)
        if not math.isfinite(log_density):
            raise self.fields.error(f"the log density of a trace is {log_density}")
        return trace

    def check_counts(self, warmup: int, draws: int, thin: int) -> None:
        """Raise unless there are as many draws as steps make, and no more than are to be made.

        Raises:
            FileFormatError: there aren't.
        """
        if self.step > warmup + draws * thin or self.draws != max(0, self.step - warmup) // thin:
            raise self.fields.error(f"{self.draws} draws were made by step {self.step}")


def _tally(fields: Fields) -> Tally:
    """A tally; what the first files didn't count is as for a kernel that never ran."""
    empty = asdict(Tally())
    if unknown := fields.content.keys() - empty.keys():
        raise fields.error(f"{sorted(unknown)[0][:60]!r} is counted")
    counted: dict[str, Any] = {"seconds": fields.seconds("seconds")}
    for name, none in empty.items():
        if name in counted or (name not in fields and name not in ("proposed", "accepted", "failed_checks")):
            continue
        if type(none) is dict:
            reasons = fields.inner(name)
            counted[name] = {reason: reasons.count(reason) for reason in reasons.content}
        else:
            counted[name] = fields.count(name) if type(none) is int else fields.number(name)
    return Tally(**counted)


def read_draws(
    folder: Folder, number: int, state: ChainState, names: list[str]
) -> tuple[list[Any], Steps | None]:
    """The draws that a chain's state counts: dicts of quantities, or of choices where none are recorded.

    And what became of their steps; None where that was not noted, as in the first files of version 1.

    Raises:
        FileFormatError: the file was cut off or changed.
    """
    path = folder.file(number, "draws.jsonl")
    if not state.size:
        if state.draws:
            raise state.fields.error(f"{state.draws} draws take no bytes")
        return [], Steps()
    try:
        data = read_bytes(path, state.size)
    except FileNotFoundError:
        raise damaged(path) from None
    if checksum(data) != state.crc32:
        raise damaged(path)
    try:
        first, *lines = data.decode().removesuffix("\n").split("\n")
        head, rows = Fields(parse(first), path), [parse(line) for line in lines]
    except ValueError:
        raise damaged(path) from None
    if head.content.get("format") != DRAWS or len(lines) != state.draws:
        raise damaged(path)
    folder.check_owner(head, number)
    steps = None
    if folder.identity or head.content.get("steps"):
        if not all(type(row) is list and len(row) == 2 for row in rows):
            raise head.error("a line is no draw with what became of its steps")
        noted, rows = [steps for _, steps in rows], [row for row, _ in rows]
        try:
            steps = Steps.read((decode(each) for each in noted), state.acceptance)
        except (TypeError, ValueError, OverflowError) as error:
            raise head.error(f"what became of the steps of a draw is no list of counts ({error})") from None
    draws = head.decoded(lambda: [_draw(row, names, head, folder) for row in rows])
    if names and any(draw.keys() != draws[0].keys() for draw in draws):
        raise head.error("draws have different quantities")
    return draws, steps


def _draw(row: Any, names: list[str], head: Fields, folder: Folder) -> dict[Any, Any]:
    if not names:
        return decode_choices(row, folder.find)
    quantities = Fields(row, head.path).content
    if "" not in names and list(quantities) != names:
        raise head.error(f"a draw has the quantities {', '.join(quantities)}"[:100])
    return {name: decode(value, folder.find) for name, value in quantities.items()}
