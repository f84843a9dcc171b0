"""Worker processes on this machine, kept from one run to the next."""

from __future__ import annotations

import os
import signal
import threading
import time
from concurrent.futures import BrokenExecutor
from multiprocessing.util import Finalize
from typing import Any, NamedTuple

_PAUSE = 0.5  # seconds


class _Pool(NamedTuple):
    """Worker processes, and the process that started them."""

    owner: int
    size: int
    executor: Any


_KEPT: list[_Pool] = []  # one, or none


class Processes:
    """An executor of worker processes.

    They are loky's, and not its reusable executor: that is one for the whole program, and a process that is
    forked from it would wait for ever for the workers of its parent, whose results it never gets.

    Args:
        chains: how many chains are to run; there are no more workers than that, nor than processors.
    """

    def __init__(self, chains: int) -> None:
        import loky  # takes a while, and one chain doesn't need it

        self.size = max(1, min(chains, loky.cpu_count()))

    def submit(self, function: Any, *args: Any) -> Any:
        """Run a function in a worker; by new ones, if one was killed since the last run."""
        try:
            return self._executor().submit(function, *args)
        except BrokenExecutor:
            _KEPT.clear()
            return self._executor().submit(function, *args)

    def _executor(self) -> Any:
        import loky

        pool = _KEPT[0] if _KEPT else None
        if pool is None or pool.owner != os.getpid() or pool.size < self.size:
            owner = os.getpid()
            executor = loky.ProcessPoolExecutor(
                self.size, timeout=300, initializer=_begin_worker, initargs=(owner,)
            )
            if pool is not None and pool.owner == owner:
                pool.executor.shutdown(wait=False)
            pool = _Pool(owner, self.size, executor)
            _KEPT[:] = [pool]
            # before multiprocessing closes queues (10) and waits for children, in processes that it started
            Finalize(None, executor.shutdown, exitpriority=100)
        return pool.executor


def _begin_worker(owner: int) -> None:
    """Leave Ctrl-C, which a terminal sends to all processes, to the owner of the workers, and end with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(owner,), daemon=True).start()


def _end_with(owner: int) -> None:
    while os.getppid() == owner:  # of a process that was killed, nobody would tell the workers
        time.sleep(_PAUSE)
    os._exit(1)
