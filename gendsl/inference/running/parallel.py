"""The chains of a run by an executor: sent to it, sent again where it loses them, collected."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import threading
import time
from concurrent.futures import CancelledError
from dataclasses import replace
from typing import Any

from gendsl.errors import LostChainsError
from gendsl.inference.results.run import Run
from gendsl.inference.running.chain import Chain, Plan, report_of
from gendsl.inference.running.chain_store import ChainStore
from gendsl.inference.running.checkpoint import WAIT
from gendsl.inference.running.columns import Columns
from gendsl.inference.running.executors import Job, one_blas_thread, packed, unpacked, work
from gendsl.inference.running.folder import Folder
from gendsl.inference.running.line import Switchboard
from gendsl.inference.running.processes import Processes
from gendsl.inference.running.progress import Display
from gendsl.inference.running.recording import reader_of

_LOG = logging.getLogger("gendsl")
_POLL = 0.05  # seconds
_PATIENCE = 10.0  # seconds, for chains that were told to stop
_CANCELLED = CancelledError, asyncio.CancelledError


def run_parallel(
    plans: list[Plan], executor: Any, folder: Folder | None, display: Display
) -> list[Chain]:
    """Run chains by an executor; by processes on this machine if it is None.

    A KeyboardInterrupt ends them early.

    Raises:
        KernelError: a kernel, a model or a recorder can't travel.
        LostChainsError: the executor has lost a chain twice, or takes no more.
        Exception: what a chain raised; the others are then stopped.
    """
    if executor is None:
        executor = Processes(len(plans))
    elsewhere = not isinstance(executor, Processes) and not type(executor).__module__.startswith(
        ("concurrent.", "loky.")
    )
    # the chains of a thread pool run in this process
    with Switchboard(elsewhere=elsewhere) as board, one_blas_thread():
        home = socket.gethostname(), os.getpid()
        jobs = [Job(plan, folder, board.contacts, home) for plan in plans]
        chains = _Sent(jobs, executor, board).collect(display)
    for plan, chain in zip(plans, chains, strict=True):
        if not chain.interrupted:  # its last report may be lost
            seconds = chain.seconds * (1 - plan.warmup / plan.steps) if plan.steps else 0.0
            read = reader_of(chain.last)
            display.show(plan.number, report_of(plan, plan.steps, chain.acceptance, read, seconds))
    return chains


class _Sent:
    """The chains of a run that an executor was given.

    One that it loses, because it was cancelled by something else or its worker died, is sent again, once: it
    goes on from what it has written to files, or starts again, and makes the same draws.
    """

    def __init__(self, jobs: list[Job], executor: Any, board: Switchboard) -> None:
        self.jobs = jobs
        self.executor = executor
        self.board = board
        self.changed = threading.Event()
        self.interrupted = False
        payloads = [packed(job) for job in jobs]  # before any is sent
        self.futures = [self._submit(payload) for payload in payloads]

    def _submit(self, payload: bytes) -> Any:
        future = self.executor.submit(work, payload)
        future.add_done_callback(lambda _: self.changed.set())
        return future

    def collect(self, display: Display) -> list[Chain]:
        """Wait for all chains; they end early after a KeyboardInterrupt.

        Raises:
            LostChainsError: the executor has lost a chain twice, or takes no more.
            Exception: what a chain raised, without waiting for the others.
        """
        try:
            going_on = True
            while going_on:
                try:
                    self.changed.wait(_POLL)
                    self.changed.clear()
                    for number, report in self.board.reports():
                        display.show(number, report)
                    going_on = self._is_going_on()
                except KeyboardInterrupt:
                    if self.interrupted:
                        raise
                    self.interrupted = True
                    self._stop()
            sent = list(zip(self.jobs, self.futures, strict=True))
            for job, future in sent:
                if _has_failed(future):
                    unpacked(job.plan, future)
            return [self._result(job, future) for job, future in sent]
        except BaseException:
            self.board.stop()
            for future in self.futures:
                future.cancel()
            raise

    def _stop(self) -> None:
        """Tell all chains to stop. One that has begun is let end: Dask would throw away what it has drawn."""
        self.board.stop()
        for job, future in zip(self.jobs, self.futures, strict=True):
            if job.plan.number not in self.board.begun:
                future.cancel()

    def _is_going_on(self) -> bool:
        """Whether there is something to wait for; chains that were lost are sent again."""
        if any(map(_has_failed, self.futures)):
            return False
        losses = [None if self.interrupted else _loss(future) for future in self.futures]
        for i, loss in enumerate(losses):
            if loss is not None:
                self._send_again(i, loss)
        return any(losses) or not all(future.done() for future in self.futures)

    def _send_again(self, i: int, loss: BaseException) -> None:
        job = self.jobs[i]
        number = job.plan.number
        if job.attempt > 0:
            raise self._lost(number, f"{_reason(loss)}, as it was before", loss)
        folder = None if job.folder is None else replace(job.folder, wait=WAIT)  # for who wrote it until now
        job = self.jobs[i] = replace(job, folder=folder, attempt=1)
        self.board.expect(number, job.attempt)
        again = "begins again" if job.folder is None else f"goes on from {job.folder.path}"
        _LOG.warning("chain %d was lost by its executor (%s): it %s", number, _reason(loss), again)
        try:
            self.futures[i] = self._submit(packed(job))
        except Exception as error:  # executors are of many kinds
            raise self._lost(number, f"{_reason(loss)}, and the executor takes no more", error) from error

    def _result(self, job: Job, future: Any) -> Chain:
        loss = _loss(future)
        if loss is None:
            return unpacked(job.plan, future)
        if self.interrupted and isinstance(loss, _CANCELLED):  # by this run
            return _written(job)
        raise self._lost(job.plan.number, _reason(loss), loss)

    def _lost(self, number: int, reason: str, cause: BaseException) -> LostChainsError:
        error = LostChainsError(
            f"the executor lost chain {number}: {reason}",
            fix="see what ended it (a client or pool that was closed, a cluster that was restarted, too "
            "little memory). What was drawn until then is the `run` of this error",
        )
        error.run = self._so_far()
        error.__cause__ = cause
        return error

    def _so_far(self) -> Run:
        """What was drawn of every chain. Those that are running are stopped, and given time to send it."""
        self._stop()
        deadline = time.monotonic() + _PATIENCE
        while time.monotonic() < deadline and not all(future.done() for future in self.futures):
            time.sleep(_POLL)
        chains = [
            unpacked(job.plan, future)
            if future.done() and _loss(future) is None and not _has_failed(future)
            else _written(job)
            for job, future in zip(self.jobs, self.futures, strict=True)
        ]
        return Run(chains, list(self.jobs[0].plan.recorders))


def _loss(future: Any) -> BaseException | None:
    """What happened to a chain that ended without a result or an error of its own; None if nothing did."""
    if not future.done():
        return None
    if future.cancelled():
        return CancelledError("it was cancelled")
    error: BaseException | None = future.exception()
    return error if isinstance(error, (Exception, *_CANCELLED)) else None


def _reason(loss: BaseException) -> str:
    if isinstance(loss, _CANCELLED):
        return "it was cancelled"
    return f"its worker was lost ({type(loss).__name__}: {loss})"


def _has_failed(future: Any) -> bool:
    """Whether a chain raised an error, so that the others needn't be waited for."""
    if not future.done() or _loss(future) is not None:
        return False
    return future.exception() is not None or future.result()[0] is not None


def _written(job: Job) -> Chain:
    """A chain that was lost: what is in its files, or nothing if it isn't written to files."""
    plan = job.plan
    left = None if job.folder is None else ChainStore(job.folder, plan).position(plan)
    if left is None:
        return Chain(Columns(), [], plan.trace, interrupted=True)
    return Chain(left.rows, left.traces, left.trace, left.acceptance, True, left.seconds, steps=left.steps)
