"""Chains elsewhere: the same draws whatever runs them, errors and interrupts come back, workers die."""

import concurrent.futures as futures
import functools
import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import cloudpickle
import numpy as np
import pytest

from gendsl import (
    continuous,
    discrete,
    gamma,
    gen,
    normal,
    read,
    sample,
    select,
    transform,
    uniform_discrete,
    write,
)
from gendsl.errors import KernelError, ValueTypeError
from gendsl.inference import cycle, involutive, mh
from gendsl.inference.running import executors


@gen
def model(n):
    k = ~uniform_discrete(1, 3)
    mu = [("mu", j) @ ~normal(0, 2) for j in range(k)]
    for i in range(n):
        ("x", i) @ ~normal(sum(mu) / k, 1)


@gen
def walk(trace):
    ("mu", 0) @ ~normal(trace["mu", 0], 0.5)


KERNEL = cycle(mh(select("k")), mh(walk))


def start(seed=1, k=2):
    return model.generate((2,), {"x": [0.5, 1.5]}, init={"k": k}, rng=seed).trace


class InTurn(futures.Executor):
    """Runs what it is given at once, here."""

    def submit(self, function, *args):
        future = futures.Future()
        future.set_result(function(*args))
        return future


def run(executor, draws=60, chains=4, record=("k", ("mu", 0)), kernel=KERNEL, **options):
    options = {"seed": 3, "warmup": 5, **options}
    record = list(record) if record else None
    return sample(kernel, start(), draws, chains=chains, record=record, executor=executor, **options)


def same(a, b):
    for name in ("k", ("mu", 0)):
        np.testing.assert_array_equal(a[name], b[name])
    for mine, theirs in zip(a.chains, b.chains, strict=True):
        assert mine.last.choices == theirs.last.choices and mine.last.log_prob == theirs.last.log_prob
        for name, tally in mine.acceptance.items():
            assert tally.proposed == theirs.acceptance[name].proposed
            assert tally.accepted == theirs.acceptance[name].accepted


# --- one seed, one set of draws ----------------------------------------------------------------------


def test_the_executor_makes_no_difference():
    alone = run(InTurn())
    assert alone["k"].shape == (4, 60) and len(alone) == 240
    assert len({tuple(chain) for chain in alone["mu", 0].tolist()}) == 4
    for workers in (1, 3):
        with futures.ThreadPoolExecutor(workers) as pool:
            same(run(pool), alone)
    rng = np.random.default_rng(3)
    same(run(InTurn(), seed=rng), alone)
    assert not np.array_equal(run(InTurn(), seed=rng)["mu", 0], alone["mu", 0])


def test_chains_don_t_depend_on_how_many_there_are():
    two, four = run(InTurn(), chains=2), run(InTurn())
    np.testing.assert_array_equal(two["mu", 0], four["mu", 0][:2])


def test_one_chain_is_the_same_here_and_elsewhere():
    rngs = np.random.default_rng(8), np.random.default_rng(8)
    here = run(None, chains=1, seed=rngs[0])
    there = run(InTurn(), chains=1, seed=rngs[1])
    same(here, there)
    assert here["k"].shape == (60,) and rngs[0].random() == rngs[1].random()


@gen
def many(n):
    a = ~gamma(2, 1)
    for i in range(n):
        ("x", i) @ ~gamma(a, 1.3)


def test_a_chain_that_goes_on_is_the_same_here_and_elsewhere():
    """The trace that it goes on from came about by many updates, and is made afresh wherever it runs."""
    kernel = mh(select(("x", 3)), name="x")
    trace = many.simulate((60,), rng=1)
    options = {"record": {"log_prob": lambda t: t.log_prob}, "seed": 1}
    for seed in range(4):
        trace = sample(kernel, trace, 400, record="a", seed=seed).last
        here, there = (sample(kernel, trace, 20, executor=at, **options) for at in (None, InTurn()))
        np.testing.assert_array_equal(here["log_prob"], there["log_prob"])


@pytest.mark.slow
def test_whole_traces_come_back_as_traces_of_the_caller_s_program():
    recorded, whole = run(InTurn()), run(InTurn(), record=None)
    np.testing.assert_array_equal(whole["mu", 0], recorded["mu", 0])
    trace = whole.traces[2][-1]
    assert trace.gen_fn is model and trace.args == (2,) and trace.observed == start().observed
    assert trace.choices == whole.last[2].choices
    assert len(whole.traces[1][10:20]) == 10 and "240 draws of 4 chains" in str(whole)
    same(sample(KERNEL, whole.last, 5, seed=1, executor=InTurn()),
         sample(KERNEL, recorded.last, 5, seed=1, executor=InTurn()))  # fmt: skip


@pytest.mark.slow
def test_each_chain_has_a_start():
    starts = [start(seed, k) for seed, k in ((1, 1), (2, 2), (3, 3))]
    stay = mh(select("nothing"), skip_absent=True)
    run = sample(stay, starts, 2, record="k", executor=InTurn(), seed=1)
    assert run["k"].tolist() == [[1, 1], [2, 2], [3, 3]]
    assert sample(stay, starts, 2, chains=3, executor=InTurn())["k"].shape == (3, 2)
    for wrong, chains in ((starts, 2), ([], 1), (starts, 4)):
        with pytest.raises(ValueTypeError, match=f"got {len(wrong)} traces to start from, for {chains}"):
            sample(stay, wrong, 2, chains=chains)
    with pytest.raises(ValueTypeError, match="sample starts from a trace"):
        sample(stay, [start(), 3], 2)
    with pytest.raises(ValueTypeError, match="chains must be a whole number"):
        sample(stay, start(), 2, chains=0)


def test_a_generator_that_can_t_spawn():
    class Bits(np.random.bit_generator.ISeedSequence):
        def generate_state(self, n_words, dtype=np.uint32):
            return np.arange(n_words, dtype=dtype)

    rng = np.random.Generator(np.random.PCG64(Bits()))
    with pytest.raises(ValueTypeError, match="can't be spawned"):
        run(InTurn(), seed=rng)


# --- errors and interrupts ---------------------------------------------------------------------------


def failing(after):
    def fail(trace, rng):
        if rng.random() < 1 / after:
            raise ZeroDivisionError("in the kernel")
        return trace, None

    return fail


def test_an_error_of_a_chain_is_raised_with_its_place():
    kernel = failing(50)
    with futures.ThreadPoolExecutor(2) as pool, pytest.raises(ZeroDivisionError, match="in the") as caught:
        run(pool, draws=10**6, kernel=kernel)
    note = "".join(caught.value.__notes__)
    assert "in chain" in note and "in fail" in note


def test_what_can_t_travel_is_an_error_at_once():
    lock = threading.Lock()

    def locked(trace, rng):
        with lock:
            return trace, None

    with pytest.raises(KernelError, match=r"chain 0 can't be sent to another process: cannot pickle"):
        run(InTurn(), kernel=locked)


INTERRUPTED = """
import os, pathlib, sys
from gendsl import sample
from tests.inference.test_executors import slow, start

begun = pathlib.Path(sys.argv[1])

def marking(trace, rng):
    (begun / str(os.getpid())).touch()
    return slow(trace, rng)

for draws in (10**6, 5):
    run = sample(marking, start(), draws, chains=2, record="k", seed=1)
    print(run.interrupted, [len(chain) for chain in run.chains], flush=True)
"""


@pytest.mark.statistical
def test_ctrl_c_stops_worker_processes_and_keeps_their_draws(tmp_path):
    """A terminal sends it to all processes of a run. The same workers make the next run."""
    command = [sys.executable, "-c", INTERRUPTED, tmp_path]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
        end = time.monotonic() + 60
        while len(list(tmp_path.iterdir())) < 2 and time.monotonic() < end:
            time.sleep(0.05)
        time.sleep(1)  # for some draws of both
        os.killpg(process.pid, signal.SIGINT)
        try:
            shown, _ = process.communicate(timeout=60)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
    first, second = shown.splitlines()
    assert first.startswith("True") and first != "True [0, 0]" and second == "False [5, 5]"


ORPHANED = """
import os, socket, time
from gendsl.inference.running.line import Line
home = socket.gethostname(), os.getpid()
if os.fork() == 0:
    with Line(("127.0.0.1", 1, b"nobody listens"), home):
        print("begun", flush=True)
        time.sleep(60)
    os._exit(0)
time.sleep(60)
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="makes its worker by fork")
def test_a_worker_ends_when_the_run_that_started_it_is_killed():
    """It would write to the folder of a checkpoint while `resume` does."""
    with subprocess.Popen([sys.executable, "-c", ORPHANED], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "begun\n"
        process.kill()
        began = time.monotonic()
        process.communicate(timeout=30)  # the pipe is closed when the worker has ended, too
        assert time.monotonic() - began < 20


def slow(trace, rng):
    time.sleep(0.01)
    return KERNEL(trace, rng)


def test_an_interrupt_returns_the_draws_of_all_chains():
    timer = threading.Timer(1.5, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with futures.ThreadPoolExecutor(2) as pool:
        stopped = run(pool, draws=10**5, kernel=slow, chains=3, warmup=0)
    assert stopped.interrupted and [chain.interrupted for chain in stopped.chains] == [True] * 3
    lengths = [len(chain) for chain in stopped.chains]
    assert min(lengths[:2]) > 3 and lengths[2] == 0, lengths  # the third hadn't begun
    columns = stopped["k"]
    assert isinstance(columns, list) and [len(c) for c in columns] == lengths
    whole = run(InTurn(), draws=max(lengths), chains=3, warmup=0)
    np.testing.assert_array_equal(columns[0], whole["k"][0, : lengths[0]])


def test_blas_has_one_thread_while_chains_run():
    from threadpoolctl import threadpool_info

    def threads(trace):
        return max([pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"] or [1])

    before = threads(None)
    with futures.ThreadPoolExecutor(2) as pool:
        seen = sample(KERNEL, start(), 2, chains=3, record={"threads": threads}, executor=pool)
    assert np.all(seen["threads"] == 1) and threads(None) == before and not executors._LIMITS


# --- programs that have no name to be found by -------------------------------------------------------


def closures(size):
    def power(x):
        return np.exp(np.log(x) * 2) if x > 0 else x

    @gen
    def prior(depth):
        x = ~normal(0, size)
        if 0 < depth < 4:
            "next" @ ~prior(depth + 1)
        return power(x)

    @gen
    def aux(trace):
        u = ~normal(0, size)
        up = ~uniform_discrete(0, 1)

    @transform
    def shift(model_in, aux_in, *, model_out, aux_out, scale=1.0):
        u, up = read(aux_in["u"], continuous), read(aux_in["up"], discrete)
        write(aux_out["up"], 1 - up, discrete)
        write(aux_out["u"], u, continuous)
        sign = 1 if up else -1
        x = read(model_in["x"], continuous)
        write(model_out["x"], x + sign * scale * power(np.exp(u)), continuous)

    return prior, aux, shift


class Component:
    """Methods that are programs travel with their object."""

    def __init__(self, size):
        self.size = size

    @gen
    def prior(self):
        x = ~normal(0, self.size)

    @gen
    def aux(self, trace):
        u = ~normal(0, Component(self.size).size)

    @transform
    def flip(self, model_in, aux_in, *, model_out, aux_out):
        write(model_out["x"], read(model_in["x"], continuous) + read(aux_in["u"], continuous), continuous)
        write(aux_out["u"], -read(aux_in["u"], continuous), continuous)


def test_closures_travel():
    prior, aux, shift = closures(0.7)
    start = prior.generate((0,), init={"x": 0.3}, rng=1).trace
    kernel = involutive(aux, shift.bind(scale=0.1), check=True)
    copied, other = cloudpickle.loads(cloudpickle.dumps((kernel, start)))
    assert other.gen_fn != prior and other.gen_fn.source == prior.source and other.choices == start.choices
    a, b = sample(kernel, start, 40, record="x", seed=1), sample(copied, other, 40, record="x", seed=1)
    np.testing.assert_array_equal(a["x"], b["x"])
    assert 0 < a.acceptance[next(iter(a.acceptance))].accepted < 40
    simulated = [function.simulate((1,), rng=4).choices for function in (prior, other.gen_fn)]
    assert simulated[0] == simulated[1] and len(simulated[0]) == 4


def remembering(calls):
    """A program that calls what remembers its results, as scripts have it."""

    @functools.lru_cache(maxsize=8)
    def fibonacci(n):
        calls.append(n)
        return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)

    class Scale:
        @functools.cached_property
        def twice(self):
            return 2.0 * fibonacci(3)

    @gen
    def prior():
        x = ~normal(0, Scale().twice)

    return fibonacci, Scale, prior


def test_functions_and_properties_that_remember_travel():
    fibonacci, Scale, prior = remembering([])
    assert fibonacci(6) == 8 and Scale().twice == 4.0
    again, OtherScale, other = cloudpickle.loads(cloudpickle.dumps((fibonacci, Scale, prior)))
    assert again is not fibonacci and again.cache_info().currsize == 0
    assert again(6) == 8 and again.cache_info().currsize == 7 and again.cache_parameters()["maxsize"] == 8
    scale = OtherScale()
    assert scale.twice == 4.0 and vars(scale) == {"twice": 4.0}
    assert other.simulate((), rng=1).choices == prior.simulate((), rng=1).choices
    assert cloudpickle.loads(cloudpickle.dumps(cached_here)) is cached_here  # it has a name


@functools.lru_cache
def cached_here(n):
    return n


def test_methods_travel():
    it = Component(0.5)
    kernel, trace = involutive(it.aux, it.flip, check=True), it.prior.simulate((), rng=1)
    copied, other = cloudpickle.loads(cloudpickle.dumps((kernel, trace)))
    a, b = sample(kernel, trace, 30, record="x", seed=1), sample(copied, other, 30, record="x", seed=1)
    np.testing.assert_array_equal(a["x"], b["x"])
    assert other.gen_fn.compiled is Component.prior.compiled  # this one has a name


def test_programs_that_travel_together_stay_one():
    prior, aux, _ = closures(1.0)
    trace = prior.simulate((0,), rng=1)
    one, two, third, others = cloudpickle.loads(cloudpickle.dumps((prior, trace, prior.reference, aux)))
    assert one == two.gen_fn and third.compiled is one.compiled and third.is_reference and others != one


SCRIPT = '''
import numpy as np
from gendsl import *
from gendsl.inference import *

SIZE = 0.8

def twice(x):
    return np.log(np.exp(x) ** 2)

@gen
def tree(depth):
    x = ~normal(0, SIZE)
    if depth < 3:
        return x + ("left" @ ~other(depth + 1))
    return x

@gen
def other(depth):
    y = ~normal(1, SIZE)
    return y + ("right" @ ~tree(depth + 1))

@gen
def aux(trace):
    u = ~normal(0, 0.5)

@transform
def move(model_in, aux_in, *, model_out, aux_out):
    u = read(aux_in["u"], continuous)
    write(aux_out["u"], -u, continuous)
    write(model_out["x"], read(model_in["x"], continuous) + twice(u) / 2, continuous)

class Box:
    def __init__(self, value):
        self.value = value

def boxed(trace):
    return Box(trace["x"])

def main():
    @gen
    def local(trace):
        x = ~normal(trace["x"], 0.1 * SIZE)
    start = tree.generate((0,), init={"x": -0.2}, rng=1).trace
    kernel = cycle(involutive(aux, move, check=True), mh(local))
    record = {"x": "x", "box": boxed}
    here = [sample(kernel, start, 30, record=record, seed=rng) for rng in np.random.default_rng(2).spawn(2)]
    there = sample(kernel, start, 30, record=record, seed=2, chains=2)
    for mine, theirs in zip(here, there.chains):
        assert mine["x"].tolist() == [row["x"] for row in theirs.rows]
        assert isinstance(theirs.rows[0]["box"], Box) and theirs.last.gen_fn is tree
    print("the same")
'''


@pytest.mark.statistical
@pytest.mark.parametrize("kind", ["script", "notebook"])
def test_programs_of_scripts_and_notebooks_travel(tmp_path, kind):
    file = tmp_path / "program.py"
    file.write_text(SCRIPT + "\nif __name__ == '__main__':\n    main()\n")
    command = [sys.executable, str(file)]
    if kind == "notebook":
        cells = f"""
            from IPython.core.interactiveshell import InteractiveShell
            import __main__
            shell = InteractiveShell.instance(user_module=__main__)
            shell.history_manager.enabled = False
            text = open({str(file)!r}).read().partition("if __name__")[0]
            for cell in [*text.split("\\n\\n"), "main()"]:
                if cell.strip():
                    shell.run_cell(cell).raise_error()
        """
        command = [sys.executable, "-c", textwrap.dedent(cells)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout.strip().endswith("the same"), done.stderr


# --- processes ---------------------------------------------------------------------------------------


def process_id(trace):
    return os.getpid()


@pytest.mark.statistical
def test_processes_make_the_same_draws():
    """The default: two of loky, on two processors; one and four of them; the standard library."""
    import loky

    alone = run(InTurn())
    same(run(None), alone)
    for workers in (1, 4):
        pool = loky.ProcessPoolExecutor(workers)
        same(run(pool), alone)
        pool.shutdown(kill_workers=True)
    with futures.ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        same(run(pool), alone)
    elsewhere = sample(KERNEL, start(), 2, chains=2, record=[process_id])
    assert os.getpid() not in elsewhere["process_id"]


@pytest.mark.statistical
def test_a_dask_cluster_loses_a_worker(tmp_path):
    """Killed in the midst of its chains: others make these again, and the draws are those of a quiet run."""
    from distributed import Client, LocalCluster

    alone = run(InTurn(), draws=300, warmup=0)
    options = {"n_workers": 3, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        pool = client.get_executor()
        same(run(pool, draws=300, warmup=0), alone)
        marks = tmp_path / "marks"
        marks.mkdir()

        def marking(trace, rng):
            """Leaves the number of its process, and is slow enough to be killed."""
            with open(marks / str(os.getpid()), "a") as file:
                file.write(".")
            time.sleep(0.01)
            return KERNEL(trace, rng)

        killed = []

        def kill():
            while not killed:
                for mark in list(marks.iterdir()):
                    if mark.stat().st_size > 100:
                        os.kill(int(mark.name), signal.SIGKILL)
                        killed.append(int(mark.name))
                        return
                time.sleep(0.02)

        killer = threading.Thread(target=kill)
        killer.start()
        disturbed = run(pool, draws=300, warmup=0, kernel=marking)
        killer.join()
        assert killed and not disturbed.interrupted
        assert sum(mark.stat().st_size for mark in marks.iterdir()) > 4 * 300  # some was made twice
        np.testing.assert_array_equal(disturbed["mu", 0], alone["mu", 0])
        assert [last.log_prob for last in disturbed.last] == [last.log_prob for last in alone.last]
