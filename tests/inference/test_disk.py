"""Full disks, kills and threads: no file is half written, nothing is left beside it, runs go on exactly."""

import concurrent.futures as futures
import errno
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from gendsl import gen, load_run, load_trace, normal, resume, sample, select
from gendsl.errors import RunInUseError
from gendsl.inference import mh
from gendsl.inference.running import chain_store, checkpoint
from gendsl.runtime import files

posix = pytest.mark.skipif(os.name != "posix", reason="signals and quotas of POSIX")


@gen
def model(n):
    x = ~normal(0, 1)
    for i in range(n):
        ("y", i) @ ~normal(x, 1)


KERNEL = mh(select("x"))


def start():
    return model.generate((2,), {"y": [0.5, 1.0]}, rng=1).trace


def a_run(path, draws=400, chains=1, kernel=KERNEL, **options):
    return sample(kernel, start(), draws, chains=chains, record="x", seed=3, progress=False, checkpoint=path,
                  **options)  # fmt: skip


def beside(folder):
    """What is in a folder that no finished writing leaves."""
    return [name for name in os.listdir(folder) if name.endswith(".part")]


# --- traces ------------------------------------------------------------------------------------------


def test_a_trace_is_not_saved_in_place_of_a_folder(tmp_path):
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "folder", f"{tmp_path}/folder/", ""):
        with pytest.raises(IsADirectoryError, match="a file can't be saved in place of a folder"):
            start().save(path)
    with pytest.raises(FileNotFoundError, match=r"No such file or directory: '.*nowhere/trace.json'"):
        start().save(tmp_path / "nowhere" / "trace.json")
    assert os.listdir(tmp_path) == ["folder"] and not os.listdir(tmp_path / "folder")


def test_a_folder_that_may_not_be_listed_can_be_saved_to(tmp_path, monkeypatch):
    def listdir(folder):
        raise PermissionError(errno.EACCES, "Permission denied", str(folder))

    monkeypatch.setattr(os, "listdir", listdir)
    start().save(tmp_path / "trace.json")
    assert load_trace(tmp_path / "trace.json", model).choices == start().choices


def test_threads_save_to_one_place(tmp_path):
    path, errors = tmp_path / "trace.json", []
    traces = [model.simulate((n,), rng=n) for n in range(1, 5)]

    def save(trace):
        try:
            for _ in range(25):
                trace.save(path)
                load_trace(path, model)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=save, args=(trace,)) for trace in traces]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors and os.listdir(tmp_path) == ["trace.json"]
    assert load_trace(path, model).log_prob in [trace.log_prob for trace in traces]


KILLED = """
import os, signal, sys
from tests.inference.test_disk import start

def killed(descriptor):
    os.kill(os.getpid(), signal.SIGKILL)

os.fsync = killed
start().save(sys.argv[1])
"""


@posix
def test_what_a_killed_process_leaves_is_removed_by_the_next(tmp_path):
    path = tmp_path / "trace.json"
    done = subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    assert done.returncode == -signal.SIGKILL
    (left,) = os.listdir(tmp_path)
    assert left.startswith(".trace.json.") and left.endswith(".part")
    mine = f".trace.json.{files._MACHINE}-{os.getpid()}-{'0' * 16}.part"  # of a thread that is at it
    others = [mine, f".trace.json.ffffffff-1-{'0' * 16}.part", f".other.json{left[11:]}", ".trace.json.part"]
    for name in others:
        (tmp_path / name).write_text("")
    start().save(path)
    assert sorted(os.listdir(tmp_path)) == sorted(["trace.json", *others])


def test_a_failed_writing_leaves_nothing(tmp_path, monkeypatch):
    path = tmp_path / "trace.json"
    start().save(path)
    before = path.read_bytes()

    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=f"No space left on device: '{path}'"):
        model.simulate((3,), rng=1).save(path)
    assert path.read_bytes() == before and os.listdir(tmp_path) == ["trace.json"]


# --- runs --------------------------------------------------------------------------------------------


@pytest.fixture
def hasty(monkeypatch):
    """Write often."""
    monkeypatch.setattr(checkpoint, "LEAST_EVERY", 50)
    monkeypatch.setattr(chain_store, "_PAUSE", 0.0)
    monkeypatch.setattr(chain_store, "_SHARE", 1e9)


QUOTA = """
import errno, resource, sys
from gendsl.inference.running import chain_store, checkpoint
from tests.inference.test_disk import a_run, beside

path, most = sys.argv[1], int(sys.argv[2])
checkpoint.LEAST_EVERY, chain_store._PAUSE, chain_store._SHARE = 50, 0.0, 1e9
if most:
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
try:
    a_run(path)
except OSError as error:
    assert error.errno in (errno.EFBIG, errno.ENOSPC), error
    assert not beside(path), beside(path)
    assert "gendsl.resume goes on with them" in error.__notes__[0]
    print("full")
"""


@posix
def test_a_run_that_reaches_its_quota_goes_on_when_there_is_space(tmp_path, hasty):
    """The system refuses to make a file longer, in the midst of a line."""
    command = [sys.executable, "-c", QUOTA, str(tmp_path / "run"), "9000"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout == "full\n", done.stderr
    so_far = load_run(tmp_path / "run", model)
    assert 50 < len(so_far) < 400
    whole = a_run(tmp_path / "whole")
    assert resume(tmp_path / "run", KERNEL, model)["x"].tobytes() == whole["x"].tobytes()
    written = [(tmp_path / name / "chain-0.draws.jsonl").stat().st_size for name in ("run", "whole")]
    assert written[0] == written[1]


SMALL_DISK = """
set -e
mount -t tmpfs -o size=48k none "$1"
"$2" -c "$3" "$1/run" 0
cp -r "$1/run" "$4"
umount "$1"
"""


@pytest.mark.slow
@posix
def test_a_run_that_fills_the_disk_goes_on_when_there_is_space(tmp_path, hasty):
    """A disk of 48 kB, where the system lets a user mount one; whatever of a run's files finds it full."""
    alone = ["unshare", "--map-root-user", "--user", "--mount"]
    try:
        probe = ["sh", "-c", f"mount -t tmpfs none {tmp_path}"]
        allowed = not subprocess.run([*alone, *probe], capture_output=True, check=False).returncode
    except FileNotFoundError:
        allowed = False
    if not allowed:
        pytest.skip("no disk can be mounted here")
    (tmp_path / "disk").mkdir()
    program = QUOTA.replace("a_run(path)", "a_run(path, 1200)")
    script = ["sh", "-c", SMALL_DISK, "sh", tmp_path / "disk", sys.executable, program, tmp_path / "run"]
    done = subprocess.run([*alone, *script], capture_output=True, text=True, check=False)
    assert done.stdout == "full\n", done.stderr
    assert not beside(tmp_path / "run") and 50 < len(load_run(tmp_path / "run", model)) < 1200
    whole = a_run(tmp_path / "whole", 1200)
    assert resume(tmp_path / "run", KERNEL, model)["x"].tobytes() == whole["x"].tobytes()


PARENT = """
import sys, time
from gendsl.inference.running import chain_store, checkpoint
from tests.inference.test_disk import a_run, slow_for_ever

checkpoint.LEAST_EVERY, chain_store._PAUSE = 50, 0.0
a_run(sys.argv[1], chains=2, kernel=slow_for_ever)
"""


def slow_for_ever(trace, rng):
    """A kernel that another process runs at 500 steps a second."""
    if os.environ.get("GENDSL_SLOW"):
        time.sleep(0.002)
    return KERNEL(trace, rng)


@pytest.mark.slow
@posix
def test_a_run_of_several_processes_whose_main_process_is_killed_goes_on(tmp_path, hasty):
    """At once: its workers may still be writing, and hold the locks of their chains for a moment."""
    pool = futures.ThreadPoolExecutor(2)
    whole = a_run(tmp_path / "whole", chains=2, kernel=slow_for_ever, executor=pool)
    path = tmp_path / "run"
    environment = {**os.environ, "GENDSL_SLOW": "1"}
    with subprocess.Popen([sys.executable, "-c", PARENT, str(path)], env=environment) as process:
        while not all((path / f"chain-{n}.state.json").exists() for n in (0, 1)):
            assert process.poll() is None
            time.sleep(0.01)
        with pytest.raises(RunInUseError):
            resume(path, slow_for_ever, model)
        process.kill()
    assert 0 < len(load_run(path)) < 800
    gone_on = resume(path, slow_for_ever, model, executor=pool, progress=False)
    assert gone_on["x"].tobytes() == whole["x"].tobytes()
    assert not beside(path)
