"""Chains that an executor loses: made again once; else an error has what was drawn. Forked processes."""

import concurrent.futures as futures
import logging
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from gendsl import resume
from gendsl.errors import LostChainsError
from gendsl.inference.running import parallel
from gendsl.inference.running.processes import _KEPT
from tests.inference.test_executors import KERNEL, InTurn, model, run, same, start


class Losing(InTurn):
    """Cancels or breaks the first futures that it is asked for, as `cancel()` of another thread would."""

    def __init__(self, *losses):
        self.losses = list(losses)
        self.submitted = 0

    def submit(self, function, *args):
        self.submitted += 1
        loss = self.losses.pop(0) if self.losses else None
        if loss is None:
            return super().submit(function, *args)
        if isinstance(loss, RuntimeError):
            raise loss
        future = futures.Future()
        if loss == "cancelled":
            future.cancel()
            future.set_running_or_notify_cancel()
        else:
            future.set_exception(loss)
        return future


def test_a_chain_that_is_cancelled_by_others_is_made_again(caplog):
    alone = run(InTurn())
    losing = Losing(None, "cancelled", None, OSError("the worker is gone"))
    with caplog.at_level(logging.WARNING, "gendsl"):
        same(run(losing), alone)
    assert losing.submitted == 6
    first, second = (record.getMessage() for record in caplog.records)
    assert first == "chain 1 was lost by its executor (it was cancelled): it begins again"
    assert second.startswith("chain 3 was lost by its executor (its worker was lost (OSError: the worker is")


def test_cancelled_while_others_run():
    """One worker, whose queue is cancelled: what was waiting is sent again."""
    alone = run(InTurn(), draws=30)
    with futures.ThreadPoolExecutor(1) as pool:
        sent = []
        submit = pool.submit

        def keeping(*args):
            sent.append(submit(*args))
            if len(sent) == 4:
                assert sent[-1].cancel()
            return sent[-1]

        pool.submit = keeping
        same(run(pool, draws=30), alone)
    assert len(sent) == 5


@pytest.mark.parametrize(
    "first, second, reason",
    [
        ("cancelled", "cancelled", "it was cancelled, as it was before"),
        ("cancelled", RuntimeError("no more"), "it was cancelled, and the executor takes no more"),
        (OSError("gone"), OSError("gone"), r"its worker was lost \(OSError: gone\), as it was before"),
    ],
)
def test_a_chain_that_is_lost_again_is_an_error_with_what_was_drawn(first, second, reason):
    losing = Losing(None, first, None, None, second)
    with pytest.raises(LostChainsError, match=f"the executor lost chain 1: {reason}") as caught:
        run(losing)
    error = caught.value
    assert isinstance(error, RuntimeError) and "fix: see what ended it" in str(error)
    assert error.run.interrupted and [len(chain) for chain in error.run.chains] == [60, 0, 60, 60]
    whole = run(InTurn())
    np.testing.assert_array_equal(error.run["k"][0], whole["k"][0])
    assert error.run.chains[1].last.choices == start().choices


STEPS = []
"""One entry for each step that `dying` has begun."""


def dying(trace, rng):
    STEPS.append(1)
    if len(STEPS) == 803:
        raise SystemExit
    return KERNEL(trace, rng)


class Dying(Losing):
    """SystemExit stands for a killed worker process."""

    def submit(self, function, *args):
        try:
            return super().submit(function, *args)
        except SystemExit:
            return Losing(OSError("killed")).submit(function, *args)


def test_a_chain_with_files_goes_on_from_them(tmp_path, caplog):
    """Its worker is lost after it has written; the second goes on from there, and so does `resume`."""
    whole = run(InTurn(), draws=500, chains=2, checkpoint=tmp_path / "whole")
    STEPS.clear()
    with caplog.at_level(logging.WARNING, "gendsl"):
        again = run(Dying(), draws=500, chains=2, kernel=dying, checkpoint=tmp_path / "again")
    same_draws(again, whole)
    assert f"it goes on from {tmp_path / 'again'}" in caplog.text
    assert 1010 < len(STEPS) < 1010 + 300  # not all of it once more

    STEPS.clear()
    twice = Dying(None, None, OSError("killed"))
    with pytest.raises(LostChainsError, match="chain 1") as caught:
        run(twice, draws=500, chains=2, kernel=dying, checkpoint=tmp_path / "lost")
    drawn = caught.value.run
    written = len(drawn.chains[1])
    assert len(drawn.chains[0]) == 500 and 90 <= written < 300
    assert f"the draws so far are in {tmp_path / 'lost'}" in caught.value.__notes__[0]
    np.testing.assert_array_equal(drawn["mu", 0][1], whole["mu", 0][1][:written])
    STEPS.extend([1] * 1000)
    same_draws(resume(tmp_path / "lost", dying, model, executor=InTurn()), whole)


def same_draws(a, b):
    for name in ("k", ("mu", 0)):
        np.testing.assert_array_equal(a[name], b[name])


def test_chains_that_are_running_are_asked_for_what_they_have_drawn(monkeypatch):
    """One is lost twice while another, which would take minutes, is running."""

    class Half(Losing):
        def __init__(self, pool):
            super().__init__(None, "cancelled", "cancelled")
            self.pool = pool
            self.begun = threading.Event()

        def submit(self, function, *args):
            if self.submitted == 0:
                self.submitted += 1
                self.losses.pop(0)
                return self.pool.submit(function, *args)
            return super().submit(function, *args)

    def slow(trace, rng):
        time.sleep(0.005)
        return KERNEL(trace, rng)

    lost = parallel._Sent._lost

    def later(*args):
        time.sleep(0.5)
        return lost(*args)

    monkeypatch.setattr(parallel._Sent, "_lost", later)
    began = time.monotonic()
    with futures.ThreadPoolExecutor(1) as pool, pytest.raises(LostChainsError) as caught:
        run(Half(pool), draws=10**5, chains=2, kernel=slow, warmup=0)
    assert time.monotonic() - began < 30
    running, lost_one = caught.value.run.chains
    assert len(running) > 10 and running.interrupted and len(lost_one) == 0


def test_a_chain_that_was_given_up_is_told_to_stop():
    """A cancelled task of Dask runs on in its worker; it would write to the folder of its successor."""
    from gendsl.inference.running.chain import Report
    from gendsl.inference.running.line import Line, Switchboard

    home = "elsewhere", 0
    with Switchboard(elsewhere=False) as board:
        board.expect(3, 1)
        with Line(board.contacts, home, 0) as old, Line(board.contacts, home, 1) as new:
            end = time.monotonic() + 20
            while not old.report(3, Report(7, {})) and time.monotonic() < end:
                new.report(3, Report(5, {}))
                time.sleep(0.02)
            assert old.stopped and not new.stopped
            shown = dict(board.reports())
            while 3 not in shown and time.monotonic() < end:
                new.report(3, Report(5, {}))
                time.sleep(0.02)
                shown = dict(board.reports())
            assert shown[3].step == 5


# --- worker processes on this machine ----------------------------------------------------------------


@pytest.mark.statistical
def test_workers_are_kept_and_replaced_when_they_die():
    first = run(None, draws=5, chains=2)
    (pool,) = _KEPT
    for process in list(pool.executor._processes.values()):
        os.kill(process.pid, signal.SIGKILL)
    end = time.monotonic() + 30
    while not pool.executor._flags.broken and time.monotonic() < end:
        time.sleep(0.05)
    same(run(None, draws=5, chains=2), first)
    same(run(None, draws=5, chains=2), first)
    (other,) = _KEPT
    assert other.executor is not pool.executor


FORKING = """
import multiprocessing, os, sys
import loky
from tests.inference.test_executors import run

def draw():
    print(run(None, draws=5, chains=2)["k"].tolist(), flush=True)

if sys.argv[1] == "fork":
    draw()
    child = os.fork()
    if child == 0:
        draw()
        os._exit(0)
    os.waitpid(child, 0)
else:  # the parent has used loky for something else
    loky.get_reusable_executor(max_workers=1).submit(int).result()
    child = multiprocessing.get_context("fork").Process(target=draw)
    child.start()
    child.join()
    draw()
"""


@pytest.mark.statistical
@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
@pytest.mark.parametrize("how", ["fork", "multiprocessing"])
def test_a_forked_process_has_workers_of_its_own(how):
    """Its parent has some, whose results never reach it: it would wait for ever."""
    command = [sys.executable, "-W", "ignore", "-c", FORKING, how]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
        try:
            shown, _ = process.communicate(timeout=60)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
    lines = shown.splitlines()
    assert len(lines) == 2 and len(set(lines)) == 1


# --- Dask --------------------------------------------------------------------------------------------


@pytest.mark.statistical
def test_a_dask_cluster_is_restarted(tmp_path):
    """In the midst of a run: its chains are made again. Ctrl-C keeps what they have drawn."""
    from distributed import Client, LocalCluster

    alone = run(InTurn(), draws=200, warmup=0, chains=2)
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        marks = tmp_path / "marks"
        marks.mkdir()

        def marking(trace, rng):
            with open(marks / str(os.getpid()), "a") as file:
                file.write(".")
            time.sleep(0.01)
            return KERNEL(trace, rng)

        def when_they_run(do, steps):
            end = time.monotonic() + 60
            while sum(mark.stat().st_size for mark in marks.iterdir()) < steps and time.monotonic() < end:
                time.sleep(0.02)
            do()

        pool = client.get_executor()
        restarting = threading.Thread(target=when_they_run, args=(client.restart, 40))
        restarting.start()
        restarted = run(pool, draws=200, warmup=0, chains=2, kernel=marking)
        restarting.join()
        steps = sum(mark.stat().st_size for mark in marks.iterdir())
        assert steps > 2 * 200  # some were made twice
        same_draws(restarted, alone)

        interrupt = lambda: signal.raise_signal(signal.SIGINT)
        interrupting = threading.Thread(target=when_they_run, args=(interrupt, steps + 100))
        interrupting.start()
        stopped = run(pool, draws=10**5, warmup=0, chains=2, kernel=marking)
        interrupting.join()
        assert stopped.interrupted and all(len(chain) > 10 for chain in stopped.chains)
