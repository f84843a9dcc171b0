"""Runs in files: a run that is killed anywhere goes on exactly, and no damaged file is believed."""

import json
import math
import os
import subprocess
import sys

import numpy as np
import pytest

from gendsl import bernoulli, gamma, gen, mvnormal, normal, sample, select, uniform_discrete
from gendsl.errors import FileFormatError, KernelError, ValueTypeError
from gendsl.inference import cycle, load_run, mh, resume
from gendsl.inference.compiled import thresholds
from gendsl.inference.results.arviz_export import step_arrays
from gendsl.inference.running import chain_store, checkpoint, folder
from gendsl.inference.running.generators import decode_rng, encode_rng
from gendsl.runtime import files


@gen
def model(n, scale):
    k = ~uniform_discrete(1, 3)
    mu = [("mu", j) @ ~normal(0, 2) for j in range(k)]
    v = ~mvnormal(np.zeros(2), scale)
    for i in range(n):
        ("x", i) @ ~normal(sum(mu) / k + v[0], 1)


@gen
def walk(trace):
    ("mu", 0) @ ~normal(trace["mu", 0], 0.5)


KERNEL = cycle(mh(select("k")), mh(walk), mh(select("v")))
SCALE = np.asfortranarray([[1.0, 0.3], [0.3, 0.5]])


def means(trace):
    """Ragged: an array of the length k."""
    return np.array([trace["mu", j] for j in range(trace["k"])])


def start():
    return model.generate((2, SCALE), {"x": [0.5, 1.5]}, init={"k": 2}, rng=1).trace


RECORD = {"k": "k", "mu": means, "first": ("mu", 0), "log_prob": lambda t: t.log_prob}


@pytest.fixture
def hasty(monkeypatch):
    """Write at every step where the trace is made afresh, which is every fourth."""
    monkeypatch.setattr(checkpoint, "LEAST_EVERY", 4)
    monkeypatch.setattr(chain_store, "_PAUSE", 0.0)
    monkeypatch.setattr(chain_store, "_SHARE", math.inf)
    monkeypatch.setattr(checkpoint, "steps_between", lambda trace: 4)


def run(path=None, record=RECORD, draws=15, kernel=KERNEL, **options):
    return sample(kernel, start(), draws, warmup=7, thin=2, record=record, seed=5, checkpoint=path, **options)


def same(a, b):
    """Whether two runs have the same draws and the same tallies, bit by bit."""
    assert len(a) == len(b) and a.names == b.names
    for x, y in zip(a.chains, b.chains, strict=True):
        assert [_bits(row) for row in x.rows] == [_bits(row) for row in y.rows]
        assert [_bits(t.choices) for t in x.traces] == [_bits(t.choices) for t in y.traces]
        assert _bits(x.last.choices) == _bits(y.last.choices) and x.last.log_prob == y.last.log_prob
        tallies = [
            {name: (t.proposed, t.accepted, t.failed_checks) for name, t in chain.acceptance.items()}
            for chain in (x, y)
        ]
        assert tallies[0] == tallies[1]


def _bits(mapping):
    return {
        key: (type(v), v.dtype, v.tolist() if v.dtype == object else v.tobytes(), v.shape)
        if isinstance(v, np.ndarray)
        else (type(v), repr(v))
        for key, v in mapping.items()
    }


# --- going on ----------------------------------------------------------------------------------------


class Killed(BaseException):
    """Stands for SIGKILL: nothing after it is done."""


@pytest.mark.parametrize("record", [RECORD, None], ids=["recorded", "traces"])
def test_a_run_goes_on_from_any_point(tmp_path, monkeypatch, hasty, record):
    """It is killed before and in the midst of every writing, and so is what goes on with it."""
    whole = run(tmp_path / "whole", record)
    points = 0
    replace, append, sync = files.replace_file, chain_store.ChainStore._append, os.fsync

    def fragile(after):
        left = [after]

        def countdown():
            left[0] -= 1
            if left[0] < 0:
                raise Killed

        def replace_file(path, data):
            if left[0] == 0:  # a part of it is written beside its place
                part = f".{path.name}.{files._MACHINE}-{2**22 + 7}-{'0' * 16}.part"  # of no process
                (path.parent / part).write_bytes(data[: len(data) // 2])
            countdown()
            replace(path, data)

        def append_lines(self, lines):
            if left[0] == 0:  # a part of it is written
                with open(self.draws, "ab") as file:
                    file.write(("".join(lines)).encode()[:-3])
            countdown()
            append(self, lines)

        def fsync(descriptor):
            countdown()
            sync(descriptor)

        monkeypatch.setattr(os, "fsync", fsync)
        monkeypatch.setattr(files, "replace_file", replace_file)
        monkeypatch.setattr(chain_store.ChainStore, "_append", append_lines)

    for after in range(6, 56, 4):
        path = tmp_path / str(after)
        fragile(after)
        try:
            run(path, record)
            break
        except Killed:
            points += 1
        fragile(7)  # and killed again
        try:
            resume(path, KERNEL, model, record=record)
        except Killed:
            points += 1
        fragile(10**6)
        same(resume(path, KERNEL, model, record=record), whole)
        assert not list(path.glob("*.part")) and not list(path.glob(".*.part"))
    assert points > 10


@gen
def many(n):
    a = ~gamma(2, 1)
    for i in range(n):
        ("x", i) @ ~gamma(a, 1.3)


def test_a_kernel_that_spawns_generators_goes_on_with_the_same(tmp_path, monkeypatch, hasty):
    """Which ones a generator spawns depends on how many it has spawned, and not on the state of its bits."""

    def spawning(trace, rng):
        return KERNEL(trace, rng.spawn(1)[0])

    whole = run(tmp_path / "whole", kernel=spawning)
    write, left = chain_store.ChainStore.write, [4]

    def fragile(self, plan, step, chain):
        write(self, plan, step, chain)
        left[0] -= 1
        if not left[0]:
            raise Killed

    monkeypatch.setattr(chain_store.ChainStore, "write", fragile)
    with pytest.raises(Killed):
        run(tmp_path / "killed", kernel=spawning)
    monkeypatch.undo()
    same(resume(tmp_path / "killed", spawning, model, record=RECORD), whole)


def test_the_last_bits_are_the_same(tmp_path, monkeypatch, hasty):
    """The log density of a trace that came about by updates differs in them from one that is made afresh."""
    monkeypatch.setattr(checkpoint, "steps_between", lambda trace: 30)
    monkeypatch.setattr(thresholds, "LEAST_WORK", math.inf)  # machine code sums afresh
    kernel = cycle(mh(select("a")), mh(select(("x", 3))))
    trace = many.simulate((60,), rng=1)
    options = {"record": {"log_prob": lambda t: t.log_prob}, "seed": 1}
    whole = sample(kernel, trace, 300, checkpoint=tmp_path / "whole", **options)
    free = sample(kernel, trace, 300, **options)["log_prob"]
    if not many.is_reference:  # which sums afresh
        assert (whole["log_prob"] != free).any()  # so that this test says something
    np.testing.assert_allclose(whole["log_prob"], free, rtol=1e-12)
    write = chain_store.ChainStore.write
    for after in (3, 7):
        left = [after]

        def killed(self, plan, step, chain, left=left):
            left[0] -= 1
            if left[0] < 0:
                raise Killed
            write(self, plan, step, chain)

        monkeypatch.setattr(chain_store.ChainStore, "write", killed)
        with pytest.raises(Killed):
            sample(kernel, trace, 300, checkpoint=tmp_path / str(after), **options)
        monkeypatch.setattr(chain_store.ChainStore, "write", write)
        same(resume(tmp_path / str(after), kernel, many, record=options["record"]), whole)


def test_a_complete_run_is_read(tmp_path, hasty):
    whole = run(tmp_path / "run")
    same(resume(tmp_path / "run", KERNEL, model, record=RECORD), whole)


def test_the_checkpoint_makes_no_difference_beyond_rounding(tmp_path, hasty):
    written, free = run(tmp_path / "run"), run()
    assert written["k"].tolist() == free["k"].tolist()
    np.testing.assert_allclose(written["first"], free["first"], rtol=1e-12)


def test_several_chains(tmp_path, hasty):
    import concurrent.futures

    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        whole = run(tmp_path / "a", ["k"], chains=3, executor=pool)
        assert len(whole.chains) == 3
        run(tmp_path / "b", ["k"], chains=3, executor=pool)
        for name in ("chain-0.state.json", "chain-1.state.json", "chain-1.draws.jsonl"):
            (tmp_path / "b" / name).unlink()
        same(resume(tmp_path / "b", KERNEL, model, executor=pool), whole)


class _Stepping:
    """A kernel with a step size that its warm-up finds."""

    name = "stepping"

    def __init__(self, size=None):
        self.size = size

    def start_warmup(self, trace, steps, rng):
        return _Warming(rng.uniform())

    def __call__(self, trace, rng):
        return trace.update({("mu", 0): trace["mu", 0] * 0.9 + self.size * rng.normal()})[0], None


class _Warming:
    def __init__(self, size):
        self.size = size

    def __call__(self, trace, rng):
        self.size *= math.exp(0.1 * rng.normal())
        return _Stepping(self.size)(trace, rng)

    def finish(self):
        return _Stepping(self.size)


def test_what_a_warmup_finds_is_found_again(tmp_path, monkeypatch, hasty):
    kernel = _Stepping()
    whole = run(tmp_path / "whole", ["k", ("mu", 0)], kernel=kernel)
    write = chain_store.ChainStore.write
    for after in range(0, 9, 2):
        left = [after]

        def killed(self, plan, step, chain, left=left):
            left[0] -= 1
            if left[0] < 0:
                raise Killed
            write(self, plan, step, chain)

        path = tmp_path / str(after)
        monkeypatch.setattr(chain_store.ChainStore, "write", killed)
        with pytest.raises(Killed):
            run(path, ["k", ("mu", 0)], kernel=kernel)
        monkeypatch.setattr(chain_store.ChainStore, "write", write)
        same(resume(path, kernel, model), whole)


def as_version_1(path, *, noted):
    """Make of a folder what gendsl wrote before files said whose they are, or before steps were noted."""
    for kind, name in ((folder.RUN, "run"), (folder.START, "chain-0.start"), (folder.STATE, "chain-0.state")):
        content = files.read_file(path / f"{name}.json", kind, [2]).content
        for key in ("run", "chain", "structure"):
            content.pop(key, None)
        if kind == folder.STATE:
            lines = (path / "chain-0.draws.jsonl").read_text().splitlines()[1:]
            head = {"format": folder.DRAWS, "version": 1, **({"steps": True} if noted else {})}
            old = [json.dumps(head), *(line if noted else json.dumps(json.loads(line)[0]) for line in lines)]
            data = "".join(f"{line}\n" for line in old).encode()
            (path / "chain-0.draws.jsonl").write_bytes(data)
            content.update(size=len(data), crc32=files.checksum(data))
        files.write_file(path / f"{name}.json", kind, content, 1)


@pytest.mark.parametrize("noted", [True, False])
@pytest.mark.parametrize("record", [["k"], None], ids=["recorded", "traces"])
def test_a_run_of_the_earlier_format_is_read_and_not_gone_on_with(tmp_path, hasty, record, noted):
    whole = run(tmp_path / "run", record)
    as_version_1(tmp_path / "run", noted=noted)
    read = load_run(tmp_path / "run", model)
    same(read, whole)
    assert bool(step_arrays(read)[0]) == noted
    if record:
        assert load_run(tmp_path / "run")["k"].tolist() == whole["k"].tolist()
    message = refuses(tmp_path / "run")
    assert "was written by an earlier gendsl" in message and "which run they belong to" in message
    assert "fix: load_run reads what was recorded" in message


def test_an_interrupted_run_goes_on(tmp_path, hasty):
    whole = run(tmp_path / "whole")
    calls = 0

    def interrupting(trace, rng):
        nonlocal calls
        calls += 1
        if calls == 20:
            raise KeyboardInterrupt
        return KERNEL(trace, rng)

    stopped = run(tmp_path / "run", kernel=interrupting)
    assert stopped.interrupted and 0 < len(stopped) < len(whole)
    assert 0 < len(load_run(tmp_path / "run", model)) <= len(stopped)
    gone_on = resume(tmp_path / "run", interrupting, model, record=RECORD)
    assert gone_on["first"].tobytes() == whole["first"].tobytes()
    assert [_bits(row) for row in gone_on.chains[0].rows] == [_bits(row) for row in whole.chains[0].rows]


SCRIPT = """
import os, signal, sys, time
import numpy as np
from gendsl import gen, normal, sample, select, uniform_discrete, resume
from gendsl.inference import cycle, mh
from tests.inference.test_checkpoint import KERNEL, RECORD, model, start, same

def go(path):
    if os.path.exists(path + "/run.json"):
        return resume(path, KERNEL, model, record=RECORD, progress=False)
    return sample(KERNEL, start(), 900, warmup=20, record=RECORD, seed=5, checkpoint=path, progress=False)

folder = sys.argv[1]
go(folder + "/first")  # which compiles what the others run
began = time.perf_counter()
whole = go(folder + "/whole")
taken = time.perf_counter() - began
rng = np.random.default_rng(11)
kills = 0
while True:
    child = os.fork()
    if child == 0:
        go(folder + "/killed")
        os._exit(0)
    time.sleep(taken * rng.uniform(0.0, 0.45))
    os.kill(child, signal.SIGKILL)
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0:
        break
    kills += 1
    if kills > 60:
        break
same(go(folder + "/killed"), whole)
print(kills, "kills")
"""


@pytest.mark.statistical
def test_a_run_that_is_killed_time_and_again(tmp_path):
    """SIGKILL at random moments of one run: the draws are those of a run left alone."""
    command = [sys.executable, "-c", SCRIPT, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split()[0]) >= 2, done.stdout


# --- reading while it runs ---------------------------------------------------------------------------


def test_what_was_written_can_be_read_meanwhile(tmp_path, hasty):
    seen = []

    def looking(trace, rng):
        if (tmp_path / "run" / "run.json").exists():
            seen.append(len(load_run(tmp_path / "run")))
        return KERNEL(trace, rng)

    looking.name = "cycle"
    whole = run(tmp_path / "run", ["k"], kernel=looking)
    assert seen[0] == 0 and seen == sorted(seen) and len(set(seen)) > 3
    read = load_run(tmp_path / "run")
    assert read["k"].tolist() == whole["k"].tolist() and not read.interrupted
    assert read.acceptance == whole.acceptance


def test_whole_traces_are_read(tmp_path, hasty):
    whole = run(tmp_path / "run", None)
    read = load_run(tmp_path / "run", model)
    assert [t.choices for t in read.traces] == [t.choices for t in whole.traces]
    assert read.traces[3].observed == start().observed and read.last.args[0] == 2
    assert read["k"].tolist() == whole["k"].tolist()


def test_values_of_many_kinds_are_recorded_exactly(tmp_path, hasty):
    values = [
        1, 1.5, math.nan, -math.inf, True, None, "k", (1, ("a", 2.0)), [1, [2]], {"a": 1, 2: (3,)},
        np.float64(0.1), np.int32(4), np.arange(6).reshape(2, 3), np.array([0.1, math.nan]), {1, 2},
        np.array([True, False]), 1 + 2j, b"bytes", 2**70, -0.0,
    ]  # fmt: skip
    record = {"value": lambda trace: values[int(1e6 * trace["mu", 0]) % len(values)]}
    same(resume_after(tmp_path, record), run(tmp_path / "again", record))


def resume_after(tmp_path, record):
    run(tmp_path / "run", record)
    return resume(tmp_path / "run", KERNEL, model, record=record)


# --- what is refused ---------------------------------------------------------------------------------


def written(tmp_path):
    path = tmp_path / "run"
    run(path, ["k"], draws=2)
    return path


def refuses(path):
    with pytest.raises(FileFormatError) as caught:
        resume(path, KERNEL, model)
    return str(caught.value)


def refused(path, name, *, slow):
    """The message with which a run is refused that has one bad file; by `resume` if it may be slow."""
    if slow:
        return refuses(path)
    with pytest.raises(FileFormatError) as caught:
        if name == "chain-0.start.json":
            files.read_file(path / name, folder.START, [2])
        else:
            load_run(path)
    return str(caught.value)


STEPS = {"run.json": 1, "chain-0.draws.jsonl": 1, "chain-0.start.json": 7, "chain-0.state.json": 7}
FILES = ("run.json", "chain-0.start.json", "chain-0.state.json", "chain-0.draws.jsonl")


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_was_cut_off_anywhere_is_refused(tmp_path, hasty, name):
    path = written(tmp_path)
    data = (path / name).read_bytes()
    for size in range(0, len(data), STEPS[name]):
        (path / name).write_bytes(data[:size])
        message = refused(path, name, slow=size % 50 == 0)
        assert "damaged" in message or "no file of the format" in message, (size, message)
        assert name in message


@pytest.mark.parametrize("name", FILES)
def test_a_file_with_a_changed_byte_is_refused(tmp_path, hasty, name):
    path = written(tmp_path)
    data = (path / name).read_bytes()
    for place in range(0, len(data), STEPS[name] + 1):
        changed = bytearray(data)
        changed[place] ^= 1
        (path / name).write_bytes(bytes(changed))
        assert name in refused(path, name, slow=place % 50 == 0), place


@pytest.mark.parametrize("name", FILES[:3])
def test_foreign_files_are_refused(tmp_path, hasty, name):
    path = written(tmp_path)
    other = (path / FILES[(FILES.index(name) + 1) % 3]).read_bytes()
    for data in (b"", b"\x80\x04\x95pickle", b"[1, 2]", b"{}", b"null", b'{"format": "other"}', other):
        (path / name).write_bytes(data)
        assert "no file of the format" in refuses(path), data


def test_another_version_is_refused(tmp_path, hasty):
    path = written(tmp_path)
    content = json.loads((path / "run.json").read_text())
    content["version"] = 99
    (path / "run.json").write_text(json.dumps(content) + "\n")
    assert "has version 99 of the format 'gendsl run', and this gendsl reads version 1 and 2" in refuses(path)


def test_missing_draws_are_damage(tmp_path, hasty):
    path = written(tmp_path)
    (path / "chain-0.draws.jsonl").unlink()
    assert "chain-0.draws.jsonl is damaged" in refuses(path)


def test_a_folder_without_a_run(tmp_path):
    assert "holds no run" in refuses(tmp_path)
    with pytest.raises(FileFormatError, match="holds no run"):
        load_run(tmp_path / "nowhere")


def test_a_folder_with_a_run_is_not_overwritten(tmp_path, hasty):
    path = written(tmp_path)
    before = (path / "run.json").read_bytes()
    with pytest.raises(FileFormatError, match="holds a run already"):
        run(path)
    assert (path / "run.json").read_bytes() == before


def test_another_kernel_is_refused(tmp_path, hasty):
    path = written(tmp_path)
    with pytest.raises(FileFormatError, match="kernel of this run is 'cycle', and not \"mh"):
        resume(path, mh(select("k")), model)


@gen
def other(n, scale):
    k = ~uniform_discrete(1, 3)
    mu = [("mu", j) @ ~normal(0, 2.5) for j in range(k)]
    v = ~mvnormal(np.zeros(2), scale)
    for i in range(n):
        ("x", i) @ ~normal(sum(mu) / k + v[0], 1)


def test_another_model_is_refused(tmp_path, hasty):
    path = written(tmp_path)
    with pytest.raises(FileFormatError, match=r"had the log density .* and other now gives it"):
        resume(path, KERNEL, other)

    @gen
    def smaller(n, scale):
        k = ~uniform_discrete(1, 3)

    with pytest.raises(FileFormatError, match="smaller has no such choice as was saved"):
        resume(path, KERNEL, smaller)

    @gen
    def larger(n, scale):
        k = ~uniform_discrete(1, 3)
        b = ~bernoulli(0.5)

    with pytest.raises(FileFormatError, match="larger makes a choice that was not saved"):
        resume(path, KERNEL, larger)


def test_other_quantities_are_refused(tmp_path, hasty):
    path = written(tmp_path)
    with pytest.raises(FileFormatError, match=r"this run records 'k', and not 'k', \"\('mu', 0\)\""):
        resume(path, KERNEL, model, record=["k", ("mu", 0)])


def test_functions_that_have_no_name_must_be_passed(tmp_path, hasty):
    run(tmp_path / "run", {"k": lambda t: t["k"]})
    with pytest.raises(FileFormatError, match="the function that records k is not found"):
        resume(tmp_path / "run", KERNEL, model, trust=True)
    assert len(resume(tmp_path / "run", KERNEL, model, record={"k": lambda t: t["k"]})) == 15


def test_what_can_be_found_by_name_needn_t_be_passed_where_the_folder_is_trusted(tmp_path, hasty):
    run(tmp_path / "run", [means])
    read = resume(tmp_path / "run", trust=True)
    assert len(read) == 15 and isinstance(read["means"], list)


def test_a_kernel_without_a_name_must_be_passed(tmp_path, hasty):
    run(tmp_path / "run", ["k"], kernel=cycle(KERNEL, name="mine"))
    with pytest.raises(FileFormatError, match="the kernel of this run, 'mine', is not found"):
        resume(tmp_path / "run", trust=True)


def test_what_can_t_be_saved_is_an_error_at_once(tmp_path, hasty):
    with pytest.raises(ValueTypeError, match=r"the quantity it has a value of type builtins.object"):
        run(tmp_path / "a", {"it": lambda trace: object()})

    @gen
    def opaque(thing):
        x = ~normal(0, 1)

    trace = opaque.simulate((object(),), rng=1)
    with pytest.raises(ValueTypeError, match=r"an argument of the trace .* builtins.object"):
        sample(mh(select("x")), trace, 3, checkpoint=tmp_path / "b")


def test_arguments_that_change_are_an_error(tmp_path, hasty):
    def more(trace, rng):
        return trace.update(args=(2, np.eye(2)))[0], None

    with pytest.raises(KernelError, match="a kernel changed the arguments"):
        run(tmp_path / "run", ["k"], kernel=more)


def test_the_files_hold_no_code(tmp_path, hasty):
    path = written(tmp_path)
    assert sorted(os.listdir(path)) == sorted([*FILES, "run.lock", "chain-0.lock"])
    assert not (path / "run.lock").read_bytes()
    for name in FILES:
        for line in (path / name).read_text().splitlines():
            json.loads(line, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


def test_generators_are_saved_whole():
    for bits in (np.random.PCG64, np.random.PCG64DXSM, np.random.MT19937, np.random.Philox, np.random.SFC64):
        rng = np.random.Generator(bits(3)).spawn(2)[1]
        rng.integers(10), rng.spawn(1)
        text = json.dumps(encode_rng(rng))
        again = decode_rng(json.loads(text))
        assert again.normal() == rng.normal() and again.spawn(1)[0].random() == rng.spawn(1)[0].random()
        assert again.integers(2**31, dtype=np.uint32) == rng.integers(2**31, dtype=np.uint32)
