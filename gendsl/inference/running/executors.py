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
import socket
import threading
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import cloudpickle
from threadpoolctl import threadpool_limits

import gendsl.inference.running.cached  # noqa: F401  (registers how what is cached travels)
from gendsl.errors import KernelError
from gendsl.inference.results.draws import Draws
from gendsl.inference.running.chain import Chain, Plan, run_chain
from gendsl.inference.running.chain_store import ChainStore
from gendsl.inference.running.folder import Folder
from gendsl.inference.running.line import Line
from gendsl.runtime.saving import latent
from gendsl.runtime.travel import Pickler, remember_texts, source_texts


@dataclass
class Job:
    """What travels to a worker.

    Attributes:
        plan: the chain.
        folder: where it is written to, or None.
        contacts: the addresses at which its progress is heard of, and the key to be let in with.
        home: the machine and process that it comes from.
        attempt: how often it was sent before.
    """

    plan: Plan
    folder: Folder | None
    contacts: Any
    home: tuple[str, int]
    attempt: int = 0


def packed(job: Job) -> bytes:
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
            line = held.enter_context(Line(job.contacts, job.home, job.attempt))
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


def unpacked(plan: Plan, future: Any) -> Chain:
    """The chain that a worker sent back, with traces of the caller's program."""
    error, data = future.result()
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
