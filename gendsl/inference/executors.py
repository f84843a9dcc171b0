"""Chains in other processes: how they travel, and come back.

Only bytes and one function of this module go through an executor, so that any with the interface of
`concurrent.futures` will do. A chain's plan is pickled by cloudpickle; what comes back are plain values: of
traces their choices, which become traces of the caller's own program again.
"""

from __future__ import annotations

import contextlib
import io
import os
import pickle
import signal
import socket
import threading
import traceback
from collections.abc import Iterator
from concurrent.futures import CancelledError
from dataclasses import dataclass
from typing import Any

import cloudpickle
from threadpoolctl import threadpool_limits

import gendsl.inference.cached  # noqa: F401  (registers how what is cached travels)
from gendsl.errors import KernelError
from gendsl.inference.chain import Chain, Plan, report_of, run_chain
from gendsl.inference.chain_store import ChainStore
from gendsl.inference.folder import Folder
from gendsl.inference.line import Line, Switchboard
from gendsl.inference.progress import Display
from gendsl.inference.run import Draws
from gendsl.runtime.saving import latent
from gendsl.runtime.travel import Pickler, remember_texts, source_texts

_POLL = 0.05  # seconds


@dataclass
class Job:
    """What travels to a worker.

    Attributes:
        plan: the chain.
        folder: where it is written to, or None.
        contacts: the addresses at which its progress is heard of, and the key to be let in with.
        home: the machine and process that it comes from.
    """

    plan: Plan
    folder: Folder | None
    contacts: Any
    home: tuple[str, int]


def run_parallel(
    plans: list[Plan], executor: Any, folder: Folder | None, display: Display
) -> list[Chain]:
    """Run chains by an executor; by processes on this machine if it is None.

    A KeyboardInterrupt ends them early.

    Raises:
        KernelError: a kernel, a model or a recorder can't travel.
        Exception: what a chain raised; the others are then stopped.
    """
    if executor is None:
        executor = _processes(len(plans))
    elsewhere = not type(executor).__module__.startswith(("concurrent.", "loky."))
    # the chains of a thread pool run in this process
    with Switchboard(elsewhere=elsewhere) as board, one_blas_thread():
        home = socket.gethostname(), os.getpid()
        payloads = [_packed(Job(plan, folder, board.contacts, home)) for plan in plans]
        futures = [executor.submit(work, payload) for payload in payloads]
        chains = _collect(plans, futures, board, display)
    for plan, chain in zip(plans, chains, strict=True):
        if not chain.interrupted:  # its last report may be lost
            seconds = chain.seconds * (1 - plan.warmup / plan.steps) if plan.steps else 0.0
            display.show(plan.number, report_of(plan, plan.steps, chain.acceptance, chain.last, seconds))
    return chains


def _processes(chains: int) -> Any:
    """Worker processes on this machine, kept for the next run."""
    import loky  # takes a while, and one chain doesn't need it

    return loky.get_reusable_executor(
        max_workers=max(1, min(chains, loky.cpu_count())), timeout=300, initializer=_ignore_interrupts
    )


def _ignore_interrupts() -> None:
    """Leave Ctrl-C, which a terminal sends to all processes, to the one that asked for the run."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _collect(plans: list[Plan], futures: list[Any], board: Switchboard, display: Display) -> list[Chain]:
    changed = threading.Event()
    for future in futures:
        future.add_done_callback(lambda _: changed.set())
    interrupted = False
    try:
        while not all(future.done() for future in futures):
            try:
                changed.wait(_POLL)
                changed.clear()
                for number, report in board.reports():
                    display.show(number, report)
                if any(map(_has_failed, futures)):
                    break
            except KeyboardInterrupt:
                if interrupted:
                    raise
                interrupted = True
                board.stop()
                for future in futures:
                    future.cancel()
        pairs = list(zip(plans, futures, strict=True))
        for plan, future in pairs:
            if _has_failed(future):  # an error is raised without waiting for the other chains
                _unpacked(plan, future)
        return [_unpacked(plan, future) for plan, future in pairs]
    except BaseException:
        board.stop()
        for future in futures:
            future.cancel()
        raise


def _has_failed(future: Any) -> bool:
    """Whether a chain raised an error, so that the others needn't be waited for."""
    if not future.done() or future.cancelled():
        return False
    return future.exception() is not None or future.result()[0] is not None


def _packed(job: Job) -> bytes:
    """A job as bytes, with the text of the functions that are taken along."""
    file = io.BytesIO()
    pickler = Pickler(file)
    try:
        pickler.dump(job)
    except Exception as error:  # pickling calls methods of the user's classes, which may raise anything
        raise KernelError(
            f"chain {job.plan.number} can't be sent to another process: {error}",
            fix="see that the kernel, the model, its arguments and what is recorded hold no open files or "
            "locks; or run one chain, in this process",
        ) from error
    return pickle.dumps((source_texts(pickler.filenames), file.getvalue()))


def work(payload: bytes) -> tuple[bytes | None, bytes | None]:
    """Run the chain of a packed job: what an executor is given to do.

    Returns:
        The error that the chain raised and its result, pickled; one of them is None.
    """
    try:
        texts, data = pickle.loads(payload)
        remember_texts(texts)
        job: Job = pickle.loads(data)
        away = (socket.gethostname(), os.getpid()) != job.home
        with contextlib.ExitStack() as held:
            held.enter_context(one_blas_thread() if away else contextlib.nullcontext())
            line = held.enter_context(Line(job.contacts, job.home))
            store = None if job.folder is None else held.enter_context(ChainStore(job.folder, job.plan))
            chain = run_chain(job.plan, line.report, store)
        return None, cloudpickle.dumps(_portable(chain, job.plan))
    except Exception as error:  # it is raised again where the run was asked for
        where = "".join(traceback.format_exception(error))
        return cloudpickle.dumps((_portable_error(error), where)), None


def _portable_error(error: Exception) -> Exception:
    try:
        pickle.loads(cloudpickle.dumps(error))
    except Exception:  # a class of the user's whose constructor isn't as pickle expects
        return RuntimeError(f"{type(error).__qualname__}: {error}")
    return error


def _portable(chain: Chain, plan: Plan) -> Chain:
    """A chain without its program: of traces only the latent choices, where the rest is as at the start."""
    start: Any = plan.trace

    def kept(trace: Any) -> Any:
        if type(trace) is dict or not _is_of(trace, start):
            return trace
        return latent(trace)

    draws = chain.traces.kept if isinstance(chain.traces, Draws) else chain.traces
    chain.traces = [kept(draw) for draw in draws]
    chain.last = kept(chain.last)
    return chain


def _is_of(trace: Any, start: Any) -> bool:
    """Whether a trace differs from another in nothing but its latent choices."""
    return (
        getattr(trace, "observed_paths", None) is not None
        and trace.gen_fn == start.gen_fn
        and trace.args is start.args
        and (trace.observed_paths is start.observed_paths or trace.observed_paths == start.observed_paths)
    )


def _unpacked(plan: Plan, future: Any) -> Chain:
    """The chain that a worker sent back, with traces of the caller's program."""
    try:
        error, data = future.result()
    except CancelledError:
        return Chain([], [], plan.trace, interrupted=True)
    if error is not None:
        raised, where = pickle.loads(error)
        raised.add_note(f"in chain {plan.number}, where it ran:\n{where}")
        raise raised
    chain: Chain = pickle.loads(data)
    draws = Draws([*chain.traces, chain.last], plan.trace)
    chain.last = draws[-1]
    chain.traces = draws[:-1] if len(draws) > 1 else []
    return chain


# --- threads of BLAS -------------------------------------------------------------------------------

_LOCK = threading.Lock()
_LIMITS: list[Any] = []  # the limit that holds in this process, once for each chain that needs it


@contextlib.contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let BLAS use one thread: workers don't get in each other's way, and matrices round the same everywhere.

    The limit is the process's own, so that the last of its chains to end takes it away.
    """
    with _LOCK:
        _LIMITS.append(_LIMITS[0] if _LIMITS else threadpool_limits(limits=1))
    try:
        yield
    finally:
        with _LOCK:
            limit = _LIMITS.pop()
            if not _LIMITS:
                limit.restore_original_limits()
