"""The folder of a run: whose it is, who writes there, and what is to be done.

    run.json              what is to be done: counts, and the names of model, kernel and quantities, with the
                          files of the modules that they are in; and the run's identity, a random number
    run.lock              held by the process that runs the chains
    chain-0.start.json    arguments, observations, choices and the generator's state
    chain-0.state.json    steps made, choices, the generator's state, acceptance, how many of the draws count
    chain-0.draws.jsonl   the recorded quantities of a draw, or its latent choices, on each line, with its log
                          density and what each kernel had come to by then: runs, accepted, diverged
    chain-0.lock          held by whoever writes the chain

Each file but the locks has the run's identity, and those of a chain its number.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path as FilePath
from reprlib import repr as short
from typing import Any

from gendsl.address import Path, as_path
from gendsl.errors import FileFormatError, InvalidAddressError, RunInUseError, ValueTypeError
from gendsl.runtime.encoding import decode
from gendsl.runtime.fields import Fields
from gendsl.runtime.files import read_file
from gendsl.runtime.program_names import NOTHING_GIVEN, Find

RUN, START, STATE, DRAWS = "gendsl run", "gendsl chain start", "gendsl chain state", "gendsl draws"

VERSION = 2
"""Of the files of runs. Those of version 1 don't say which run they belong to."""

VERSIONS = (1, VERSION)


@dataclass(frozen=True)
class Folder:
    """The folder of a run. It travels to workers, who must see the same files.

    Attributes:
        path: where it is.
        identity: that of the run; "" for runs of version 1.
        find: what gives programs that files name.
        wait: for how many seconds to wait until another has ended writing a chain.
    """

    path: FilePath
    identity: str = ""
    find: Find = NOTHING_GIVEN
    wait: float = 0.0

    def file(self, number: int, what: str) -> FilePath:
        """A file of a chain."""
        return self.path / f"chain-{number}.{what}"

    @property
    def run(self) -> FilePath:
        """The file that says what is to be done."""
        return self.path / "run.json"

    def locked(self) -> contextlib.AbstractContextManager[None]:
        """Holds the run's lock.

        Raises:
            RunInUseError: another process, or another thread of this one, runs it.
        """
        return _locked(self.path / "run.lock", 0.0, f"the run in {self.path}")

    def chain_locked(self, number: int) -> contextlib.AbstractContextManager[None]:
        """Holds a chain's lock.

        Raises:
            RunInUseError: another still writes it, and has gone on to for as long as is waited.
        """
        return _locked(self.file(number, "lock"), self.wait, f"chain {number} in {self.path}")

    def read(self, number: int, what: str, kind: str) -> Fields:
        """The content of a file of a chain.

        Raises:
            FileFormatError: it isn't there, is damaged, or belongs to another run or chain.
        """
        path = self.file(number, what)
        if not path.exists():
            raise FileFormatError(
                f"chain {number} of the run in {self.path} has no file {path.name}",
                fix="restore it from a copy",
            )
        fields = read_file(path, kind, VERSIONS if not self.identity else (VERSION,))
        self.check_owner(fields, number)
        return fields

    def check_owner(self, fields: Fields, number: int) -> None:
        """Raise unless a file is this run's, and this chain's.

        Raises:
            FileFormatError: it isn't.
        """
        if not self.identity:
            return
        if fields.text("run") != self.identity:
            raise FileFormatError(
                f"{fields.path} belongs to another run than {self.run.name} beside it",
                fix="restore the files of one run from a copy",
            )
        if fields.count("chain") != number:
            raise FileFormatError(
                f"{fields.path} is of chain {fields.count('chain')}, and not of chain {number}",
                fix="give it the name that it had",
            )


@contextlib.contextmanager
def _locked(path: FilePath, wait: float, what: str) -> Iterator[None]:
    from filelock import FileLock, Timeout  # with all of asyncio, which only runs in folders need

    lock = FileLock(path, timeout=wait, poll_interval=0.02)
    try:
        lock.acquire()
    except (Timeout, RuntimeError) as error:  # RuntimeError: this very thread holds it, by another lock
        if isinstance(error, NotImplementedError):  # the disk has no locks
            raise
        waited = f" still, after {wait:.0f} s," if wait else ""
        raise RunInUseError(
            f"{what} is{waited} being written by another process or thread",
            fix="wait until it has ended, or end it; load_run reads what is written so far; a new run needs "
            "a folder of its own",
        ) from None
    try:
        yield
    finally:
        lock.release()


def as_folder(path: Any, user: str) -> FilePath:
    """The path of a folder that was given to `sample` and the like.

    Raises:
        ValueTypeError: it is no path, or an empty one.
    """
    if not isinstance(path, (str, os.PathLike)) or not os.fspath(path):
        raise ValueTypeError(f"{user} got {path!r}", fix="give the path of a folder, such as 'run/'")
    return FilePath(path).absolute()


# --- what is to be done ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Recorded:
    """How a quantity is recorded: from an address, or by a function of this name, None if it had none."""

    name: str
    address: Path | None
    function: str | None


@dataclass(frozen=True)
class Description:
    """What a run's folder says is to be done.

    Attributes:
        gendsl: the version of gendsl that wrote it.
        program, kernel: the names of the model and the kernel.
        kernel_place: the variable that held the kernel, or None.
        structure: what the kernel is made of; see `gendsl.inference.structure`.
        record: what is recorded; nothing where whole traces are kept.
        files: the files of the modules that the names are in.
        chains, draws, warmup, thin: see `sample`.
    """

    version: int
    gendsl: str
    program: str
    kernel: str
    kernel_place: str | None
    structure: Any
    record: tuple[Recorded, ...]
    files: Mapping[str, str]
    chains: int
    draws: int
    warmup: int
    thin: int

    @property
    def steps(self) -> int:
        """How many steps each chain makes."""
        return self.warmup + self.draws * self.thin


def open_folder(
    path: Any, user: str = "gendsl", find: Find = NOTHING_GIVEN
) -> tuple[Folder, Description]:
    """The folder of a run, and what is to be done.

    Args:
        path: where it is.
        user: what it is opened for, which errors name.
        find: what gives programs that files name.

    Raises:
        FileFormatError: it holds no run, or run.json is damaged.
    """
    place = as_folder(path, user)
    folder = Folder(place, find=find)
    if not folder.run.exists():
        raise FileFormatError(
            f"{os.fspath(path)} holds no run: it has no file {folder.run.name}",
            fix="give the folder that was passed as checkpoint= to sample",
        )
    fields = read_file(folder.run, RUN, VERSIONS)
    files = fields.entry("files", dict) if "files" in fields else {}
    if any(type(file) is not str for file in files.values()):
        raise fields.error("a name in 'files' is no string")
    record = tuple(_recorded(fields, each) for each in fields.items("record"))
    if len({each.name for each in record}) < len(record):
        raise fields.error("two recorded quantities have one name")
    description = Description(
        fields.version,
        fields.text("gendsl"),
        fields.text("program"),
        fields.text("kernel"),
        fields.entry("kernel found at", str, type(None)),
        fields.entry("structure", dict) if fields.version > 1 else None,
        record,
        files,
        fields.count("chains", 1),
        fields.count("draws"),
        fields.count("warmup"),
        fields.count("thin", 1),
    )
    identity = fields.text("run") if fields.version > 1 else ""
    if fields.version > 1 and not identity:
        raise fields.error("the run has no identity")
    return Folder(place, identity, find), description


def _recorded(fields: Fields, entry: Any) -> Recorded:
    if type(entry) is not list or len(entry) != 2 or type(entry[0]) is not str:
        raise fields.error(f"{short(entry)[:60]} says nothing that is recorded")
    how = Fields(entry[1], fields.path)
    if "address" not in how:
        return Recorded(entry[0], None, how.entry("function", str, type(None)))
    address = tuple(how.decoded(lambda: [decode(part) for part in how.items("address")]))
    try:
        return Recorded(entry[0], as_path(address), None)
    except InvalidAddressError:
        raise fields.error(f"{short(address)[:60]} is no address") from None
