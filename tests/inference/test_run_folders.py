"""A folder belongs to one run and one writer, and goes on with the kernel that it was started with."""

import concurrent.futures as futures
import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from filelock import FileLock

from gendsl import gen, load_run, normal, resume, sample, select
from gendsl.errors import FileFormatError, RunInUseError, ValueTypeError
from gendsl.inference import mh
from gendsl.inference.running import checkpoint, folder
from gendsl.inference.running.chain import Plan
from gendsl.inference.running.chain_store import ChainStore
from gendsl.inference.running.folder import Folder
from gendsl.runtime import files


@gen
def model(n):
    x = ~normal(0, 1)
    for i in range(n):
        ("y", i) @ ~normal(x, 1)


KERNEL = mh(select("x"))


def start():
    return model.generate((2,), {"y": [0.5, 1.0]}, rng=1).trace


def a_run(path, kernel=KERNEL, chains=1, **options):
    if chains > 1:
        options["executor"] = options.get("executor") or futures.ThreadPoolExecutor(chains)
    options = {"record": "x", "seed": 3, "progress": False, **options}
    return sample(kernel, start(), 250, chains=chains, checkpoint=path, **options)


def refuses(path, kernel=KERNEL, **options):
    with pytest.raises(FileFormatError) as caught:
        resume(path, kernel, model, progress=False, **options)
    return str(caught.value)


# --- one writer --------------------------------------------------------------------------------------


class Held:
    """A kernel that waits in its 120th step until it is let go."""

    name = "held"

    def __init__(self):
        self._steps, self._reached, self._go = 0, threading.Event(), threading.Event()

    def __call__(self, trace, rng):
        self._steps += 1
        if self._steps == 120:
            self._reached.set()
            assert self._go.wait(60)
        return KERNEL(trace, rng)


def test_a_second_writer_is_refused_at_once(tmp_path):
    path, held = tmp_path / "run", Held()
    with futures.ThreadPoolExecutor(1) as pool:
        running = pool.submit(a_run, path, held)
        assert held._reached.wait(60)
        began = time.monotonic()
        for attempt in (lambda: resume(path, held, model), lambda: a_run(path)):
            with pytest.raises(RunInUseError) as caught:
                attempt()
            assert str(caught.value).startswith(f"the run in {path} is being written by another process")
            assert "fix: wait until it has ended, or end it; load_run reads" in str(caught.value)
        assert time.monotonic() - began < 2
        assert len(load_run(path)) <= 250  # reading needs no lock
        held._go.set()
        whole = running.result()
    assert resume(path, held, model)["x"].tolist() == whole["x"].tolist() == a_run(None)["x"].tolist()


def test_a_run_in_the_run_of_one_folder_is_refused(tmp_path):
    """By the same thread, which would wait for itself."""

    def nested(trace, rng):
        with pytest.raises(RunInUseError):
            resume(tmp_path / "run", nested, model)
        return KERNEL(trace, rng)

    sample(nested, start(), 3, checkpoint=tmp_path / "run")


LEFT_BEHIND = """
import sys, time
from filelock import FileLock
with FileLock(sys.argv[1]):
    print("held", flush=True)
    time.sleep(float(sys.argv[2]))
"""


def left_behind(path, seconds):
    """A process that holds the lock of chain 0, as a worker does whose run was killed."""
    command = [sys.executable, "-c", LEFT_BEHIND, str(path / "chain-0.lock"), str(seconds)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "held\n"
    return process


def test_what_a_worker_left_beside_its_files_is_removed_by_the_next(tmp_path):
    """Though its process seems to live: whoever is ended while it is waited for was there at first."""
    path = tmp_path / "run"
    a_run(path)
    left = [f".chain-0.{name}.{machine}-1-{'0' * 16}.part"
            for machine in (files._MACHINE, "ffffffff") for name in CHAIN_FILES]  # fmt: skip
    for name in left:
        (path / name).write_text("")
    resume(path, KERNEL, model)
    assert not [name for name in os.listdir(path) if name.endswith(".part")]


@pytest.mark.slow
@pytest.mark.parametrize("chains", [1, 2])
def test_resume_waits_for_those_who_still_write_a_chain(tmp_path, monkeypatch, chains):
    path = tmp_path / "run"
    whole = a_run(path, chains=chains)
    assert checkpoint.WAIT == 10.0
    with futures.ThreadPoolExecutor(2) as pool:
        executor = pool if chains > 1 else None
        with left_behind(path, 1.0):
            gone_on = resume(path, KERNEL, model, executor=executor, progress=False)
        assert gone_on["x"].tolist() == whole["x"].tolist()
        monkeypatch.setattr(checkpoint, "WAIT", 0.3)
        process = left_behind(path, 60.0)
        with process:
            with pytest.raises(RunInUseError, match=rf"chain 0 in {path} is still, after 0 s, being written"):
                resume(path, KERNEL, model, executor=executor, progress=False)
            process.kill()


def test_the_lock_of_a_chain_is_held_by_who_writes_it(tmp_path):
    seen = []

    def looking(trace, rng):
        for name in ("run.lock", "chain-0.lock"):
            lock = FileLock(tmp_path / "run" / name, timeout=0)
            with futures.ThreadPoolExecutor(1) as pool, pytest.raises(TimeoutError):
                pool.submit(lock.acquire).result()
        seen.append(True)
        return KERNEL(trace, rng)

    sample(looking, start(), 3, checkpoint=tmp_path / "run")
    assert len(seen) == 3


def test_a_folder_that_was_given_to_another_run_is_left_alone(tmp_path, monkeypatch):
    """As a worker on another machine meets it that outlives its run."""
    path = tmp_path / "run"
    monkeypatch.setattr(checkpoint, "LEAST_EVERY", 10)

    calls = []

    def given_away(trace, rng):
        calls.append(1)
        if len(calls) == 1:
            for file in path.iterdir():
                file.unlink()
            a_run(path)
        return KERNEL(trace, rng)

    with pytest.raises(FileFormatError, match="was removed, or given to another run, while chain 0 was"):
        a_run(path, given_away)
    assert resume(path, KERNEL, model)["x"].tolist() == a_run(None)["x"].tolist()


# --- one run -----------------------------------------------------------------------------------------

CHAIN_FILES = ("start.json", "state.json", "draws.jsonl")


@pytest.mark.parametrize("name", CHAIN_FILES)
def test_a_file_of_another_run_is_refused(tmp_path, name):
    for path in ("a", "b"):
        a_run(tmp_path / path)
    file = tmp_path / "a" / f"chain-0.{name}"
    file.write_bytes((tmp_path / "b" / file.name).read_bytes())
    if name == "draws.jsonl":  # whose checksum is in the state
        state = files.read_file(tmp_path / "a" / "chain-0.state.json", folder.STATE, [2]).content
        state.update(crc32=files.checksum(file.read_bytes()), size=file.stat().st_size)
        files.write_file(tmp_path / "a" / "chain-0.state.json", folder.STATE, state, 2)
    for message in (refuses(tmp_path / "a"), load_refuses(tmp_path / "a")):
        assert message.startswith(f"{file} belongs to another run than run.json beside it")
        assert "fix: restore the files of one run from a copy" in message


def load_refuses(path):
    with pytest.raises(FileFormatError) as caught:
        load_run(path)
    return str(caught.value)


@pytest.mark.parametrize("name", CHAIN_FILES)
def test_a_file_of_another_chain_is_refused(tmp_path, name):
    path = tmp_path / "run"
    a_run(path, chains=2)
    swapped = [path / f"chain-{number}.{name}" for number in (0, 1)]
    data = [file.read_bytes() for file in swapped]
    for file, other in zip(swapped, reversed(data), strict=True):
        file.write_bytes(other)
    if name == "draws.jsonl":
        for number, file in enumerate(swapped):
            at = path / f"chain-{number}.state.json"
            state = files.read_file(at, folder.STATE, [2]).content
            state.update(crc32=files.checksum(file.read_bytes()), size=file.stat().st_size)
            files.write_file(at, folder.STATE, state, 2)
    assert load_refuses(path).startswith(f"{swapped[0]} is of chain 1, and not of chain 0")
    assert "is of chain" in refuses(path, executor=futures.ThreadPoolExecutor(1))


def test_every_file_has_the_run_s_identity_and_the_chain_s_number(tmp_path):
    path = tmp_path / "run"
    a_run(path, chains=2)
    identity = files.read_file(path / "run.json", folder.RUN, [2]).text("run")
    assert len(identity) == 32
    for number in (0, 1):
        for name, kind in (("start.json", folder.START), ("state.json", folder.STATE)):
            content = files.read_file(path / f"chain-{number}.{name}", kind, [2])
            assert (content.text("run"), content.count("chain")) == (identity, number)
        head = files.parse((path / f"chain-{number}.draws.jsonl").read_text().partition("\n")[0])
        assert (head["run"], head["chain"]) == (identity, number)
    a_run(tmp_path / "again", chains=2)
    assert files.read_file(tmp_path / "again" / "run.json", folder.RUN, [2]).text("run") != identity


def test_what_another_run_has_left_is_refused(tmp_path):
    path = tmp_path / "run"
    a_run(path, chains=2)
    (path / "run.json").unlink()
    before = {file.name: file.read_bytes() for file in path.iterdir()}
    with pytest.raises(FileFormatError) as caught:
        a_run(path)
    assert "has files of another run, chain-0.draws.jsonl, chain-0.state.json" in str(caught.value)
    assert "fix: remove them if they aren't needed, or give another folder" in str(caught.value)
    assert {file.name: file.read_bytes() for file in path.iterdir()} == before
    for file in path.glob("chain-*.[ds][tr]a[tw]*"):
        file.unlink()
    # starts without a run.json are of a run that was killed before it began
    assert sorted(file.name for file in path.glob("*.json*")) == ["chain-0.start.json", "chain-1.start.json"]
    a_run(path)
    assert sorted(file.name for file in path.glob("*start*")) == ["chain-0.start.json"]


def test_a_missing_start_is_refused(tmp_path):
    a_run(tmp_path / "run")
    (tmp_path / "run" / "chain-0.start.json").unlink()
    for message in (refuses(tmp_path / "run"), load_refuses(tmp_path / "run")):
        assert f"chain 0 of the run in {tmp_path}/run has no file chain-0.start.json" in message


@pytest.mark.parametrize("path", ["", 5, b""])
def test_what_is_no_path_is_refused(tmp_path, monkeypatch, path):
    monkeypatch.chdir(tmp_path)
    for call in (
        lambda: a_run(path),
        lambda: resume(path, KERNEL, model),
        lambda: load_run(path),
    ):
        with pytest.raises(ValueTypeError, match=r"(checkpoint=|resume|load_run) got (''|5|b'')") as caught:
            call()
        assert "fix: give the path of a folder, such as 'run/'" in str(caught.value)
    assert not os.listdir(tmp_path)


def test_a_file_in_place_of_the_folder_is_refused(tmp_path):
    (tmp_path / "run").write_text("")
    with pytest.raises(FileFormatError, match="run is a file"):
        a_run(tmp_path / "run")


def test_what_can_t_be_saved_leaves_no_files(tmp_path):
    with pytest.raises(ValueTypeError, match="an argument of the trace"):
        sample(KERNEL, held_thing.simulate((object(),), rng=1), 3, checkpoint=tmp_path / "run")
    assert not (tmp_path / "run").exists()


@gen
def held_thing(thing):
    x = ~normal(0, 1)


def test_a_worker_that_does_not_see_the_folder_says_so(tmp_path):
    plan = Plan(0, KERNEL, start(), np.random.default_rng(1), {}, 3)
    store = ChainStore(Folder(tmp_path / "nowhere"), plan)
    with pytest.raises(FileFormatError, match=f"chain 0 doesn't find {tmp_path}/nowhere/run.json"), store:
        pytest.fail("it has no lock to hold")


def test_errors_of_a_folder_name_the_user_s_line(tmp_path):
    a_run(tmp_path / "run")
    for attempt in (lambda: a_run(tmp_path / "run"), lambda: resume(tmp_path / "run")):
        with pytest.raises(FileFormatError) as caught:
            attempt()
        assert caught.value.location.filename == __file__
