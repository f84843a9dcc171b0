"""Run chains: in this process or in others, kept in memory or in files."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gendsl.errors import UnknownAddressError, ValueTypeError
from gendsl.inference.any_kernel import KernelFunction
from gendsl.inference.kernel import check_kernel
from gendsl.inference.results.run import Run
from gendsl.inference.running import checkpoint as files
from gendsl.inference.running.chain import Chain, Plan, run_chain
from gendsl.inference.running.chain_store import ChainStore
from gendsl.inference.running.folder import Folder
from gendsl.inference.running.parallel import run_parallel
from gendsl.inference.running.progress import Display, can_be_shown
from gendsl.inference.running.recording import AtAddress, Recorder, as_recorder, as_recorders, quantity_name
from gendsl.interface import GenerativeFunction, Rng, Trace, as_rng
from gendsl.runtime.program_names import check_model, given_programs
from gendsl.runtime.trace import ReferenceTrace, check_start

StrPath = str | os.PathLike[str]


def sample(
    kernel: KernelFunction,
    trace: Trace | Sequence[Trace],
    draws: int,
    *,
    warmup: int = 0,
    thin: int = 1,
    chains: int = 1,
    record: Any = None,
    seed: Rng = None,
    executor: Any = None,
    progress: Any = True,
    checkpoint: StrPath | None = None,
) -> Run:
    """Run one chain or several of `kernel`.

    One chain runs in this process, several in processes of their own, unless an executor is given. One seed
    gives the same draws whatever the executor and the number of workers, and the first chains are the same
    however many there are, from two on.

    Args:
        kernel: a callable (trace, rng) -> (trace, info). What it adapts, it adapts during warm-up.
        trace: where to start; or a list of traces, one for each chain.
        draws: how many draws to keep of each chain.
        warmup: how many steps to run before the first draw; not kept, not counted in acceptance rates.
        thin: how many steps each draw takes.
        chains: how many chains to run.
        record: what to keep of a draw: an address, a function of the trace, a list of addresses, or a
            dict from names to addresses and functions. Of choices at ("mu", 0), ("mu", 1), ... the address
            "mu" gives an array. A function's quantity has the function's name; one
            that is given alone may return a dict, which names its own. If not given, whole traces are kept.
        seed: anything `numpy.random.default_rng` takes. One chain uses this generator; of several each has
            one that is spawned from it.
        executor: where chains run: anything with the interface of `concurrent.futures.Executor`, such as
            `dask.distributed.Client(...).get_executor()`. If not given, processes on this machine, one for
            each chain but no more than there are processors. BLAS uses one thread in each.
        progress: show how far each chain is, if standard error is a terminal, or in a notebook; an address or
            a function of the trace is shown beside it.
        checkpoint: a folder that the draws are written to as they come, so that `resume` can go on with a run
            that was killed, and make the very draws that it would have made. Its traces are made afresh every
            now and then, so that draws can differ in the last bits from those without it. On several machines
            it must be on a disk that they share.

    Returns:
        The draws. A KeyboardInterrupt ends the run early and returns those made so far.

    Raises:
        KernelError: `kernel` is no kernel, or something can't be sent to another process.
        ZeroProbabilityError: a chain would start where the density is zero.
        ValueTypeError: a count is no whole number, `trace` is no trace, `record` is ambiguous, or something
            can't be saved.
        UnknownAddressError: a recorded address is missing: where a chain starts (before any step is
            made), or in a draw; or `progress` names no choice.
        FileFormatError: there is a run in the checkpoint's folder, or what another has left.
        RunInUseError: there is a run in it that is going on.
    """
    check_kernel(kernel)
    _check_executor(executor)
    starts = _starts(trace, chains)
    for start in starts:
        check_start(start)
    _check_count("draws", draws, 0)
    _check_count("warmup", warmup, 0)
    _check_count("thin", thin, 1)
    recorders = as_recorders(record)
    for recorder in recorders.values():
        if isinstance(recorder, AtAddress):
            for start in starts:
                recorder(start)
    rng = as_rng(seed)
    watched = _watched(progress, starts)
    plans = [
        Plan(number, kernel, start, own, recorders, int(draws), int(warmup), int(thin), watched)
        for number, (start, own) in enumerate(zip(starts, _generators(rng, len(starts)), strict=True))
    ]
    if checkpoint is not None:
        for plan in plans:
            if not isinstance(plan.trace, ReferenceTrace):
                raise ValueTypeError(
                    f"{plan.trace!r} can't be saved, so neither can a run", fix="leave checkpoint= out"
                )
            plan.every = files.steps_between(plan.trace)
    with contextlib.nullcontext() if checkpoint is None else files.create(checkpoint, plans) as folder:
        started = time.perf_counter()
        done = _run(plans, executor, folder, progress)
    if len(done) == 1:
        rng.bit_generator.state = done[0].rng_state or rng.bit_generator.state
    return Run(done, list(recorders), time.perf_counter() - started)


def resume(
    path: StrPath,
    kernel: KernelFunction | None = None,
    model: GenerativeFunction | None = None,
    *,
    record: Any = None,
    programs: Mapping[str, GenerativeFunction] = {},
    trust: bool = False,
    executor: Any = None,
    progress: Any = True,
) -> Run:
    """Go on with a run that was written to a folder by `sample(..., checkpoint=path)`.

    Its draws are exactly those that the run would have made if it hadn't been stopped. A run that is complete
    is read. Nothing that the folder names is imported or run: only what is given here is.

    Args:
        path: the folder.
        kernel: the kernel of the run, as it was given to `sample`, before any warm-up. It must be made in the
            same way, of the same numbers, selections and functions.
        model: the program of the run.
        record: what the run records, as it was given to `sample`; needed only where it has functions.
        programs: the programs among the model's arguments, by the names that they have in the files:
            `{"module:part": part}`. The model may be among them.
        trust: whether to look up what isn't given by the names that it has in the folder: it runs the code
            that the files name. A kernel has the name of the variable that held it, in the model's module or
            in the script that started the run. A module that can't be imported by its name is imported from
            the file that it was in then, whose folder is added to `sys.path`; a script only if it has an
            `if __name__ == "__main__":`, without which importing it would run it.
        executor, progress: as for `sample`; they needn't be what they were.

    Raises:
        UntrustedFileError: the kernel, the model, a recorded function or a program among the arguments isn't
            given; says what to write.
        FileFormatError: a file is damaged or belongs to another run; the kernel, the model or what is
            recorded isn't what the run was started with; or the run was written by an earlier gendsl.
        RunInUseError: the run is going on, or a process of it that was left behind still writes after 10 s.
        OSError: a file can't be read or written.
    """
    given = None if record is None else as_recorders(record)
    check_model(model, "resume")
    if kernel is not None:
        check_kernel(kernel)
    with files.reopen(path, kernel, model, given, given_programs(programs, trust)) as (folder, plans):
        check_kernel(plans[0].kernel)
        watched = _watched(progress, [plan.trace for plan in plans])
        for plan in plans:
            plan.watched = watched
        return Run(_run(plans, executor, folder, progress), list(plans[0].recorders))


def load_run(
    path: StrPath,
    model: GenerativeFunction | None = None,
    *,
    programs: Mapping[str, GenerativeFunction] = {},
    trust: bool = False,
) -> Run:
    """What has been written so far of a run in a folder; it may be running meanwhile.

    Nothing that the folder names is imported or run.

    Args:
        path: the folder that was given as `checkpoint` to `sample`.
        model: the program of the run; needed only for whole traces.
        programs: the programs among its arguments and recorded quantities, by the names that they have in the
            files: `{"module:part": part}`. The model may be among them.
        trust: whether to look up what isn't given by its name: it runs the code that the files name.

    Raises:
        UntrustedFileError: the model, or a program among the arguments, isn't given; says what to write.
        FileFormatError: a file is damaged or foreign, or belongs to another run.
        OSError: a file can't be read.
    """
    check_model(model, "load_run")
    return Run(*files.read_chains(path, model, given_programs(programs, trust)))


def _run(plans: list[Plan], executor: Any, folder: Folder | None, progress: Any) -> list[Chain]:
    named = None if progress is True or progress is False else quantity_name(progress)
    display = Display(plans, shown=progress is not False and can_be_shown(), watched=named)
    try:
        if len(plans) == 1 and executor is None:
            with contextlib.nullcontext() if folder is None else ChainStore(folder, plans[0]) as store:
                return [run_chain(plans[0], display.show, store)]
        return run_parallel(plans, executor, folder, display)
    except Exception as error:
        if folder is not None:
            error.add_note(f"the draws so far are in {folder.path}; gendsl.resume goes on with them")
        raise
    finally:
        display.close()


def _check_executor(executor: Any) -> None:
    if executor is None or (callable(getattr(executor, "submit", None)) and not isinstance(executor, type)):
        return
    raise ValueTypeError(
        f"executor={executor!r}, which has no submit(function, *args)",
        fix="leave it out for processes on this machine, or give an executor: "
        "concurrent.futures.ThreadPoolExecutor(4), Client(...).get_executor() of dask.distributed",
    )


def _watched(progress: Any, starts: list[Any]) -> Recorder | None:
    """What is shown beside the progress of a chain, or None."""
    if progress is True or progress is False:
        return None
    watched = as_recorder(progress)
    if isinstance(watched, AtAddress) and not any(watched.address[:1] in start for start in starts):
        # further components may come and go
        raise UnknownAddressError(
            "the progress display can't show this: there is no such choice where the chains start",
            address=watched.address,
            fix="give the address of a choice, or a function of the trace",
        )
    return watched


def _starts(trace: Any, chains: Any) -> list[Any]:
    """Where each chain starts."""
    _check_count("chains", chains, 1)
    several = isinstance(trace, (list, tuple)) and not hasattr(trace, "_fields")
    starts = list(trace) if several else [trace] * int(chains)
    for start in starts:
        if not isinstance(start, Trace):
            raise ValueTypeError(
                f"sample starts from a trace, got {start!r}",
                fix="pass model.generate(args, observations).trace",
            )
        if start.gen_fn != starts[0].gen_fn:
            raise ValueTypeError(
                f"chains would start from traces of {starts[0].gen_fn.name} and of {start.gen_fn.name}",
                fix="start all chains of a run from traces of one model",
            )
    if not starts or (several and chains not in (1, len(starts))):
        raise ValueTypeError(
            f"sample got {len(starts)} traces to start from, for {chains} chains",
            fix="give one trace for all chains, or a list with one for each",
        )
    return starts


def _generators(rng: np.random.Generator, chains: int) -> list[np.random.Generator]:
    if chains == 1:
        return [rng]
    try:
        return rng.spawn(chains)
    except TypeError:
        raise ValueTypeError(
            f"the generators of {chains} chains can't be spawned from {rng!r}",
            fix="give an integer as seed, or np.random.default_rng(seed)",
        ) from None


def _check_count(name: str, value: Any, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise ValueTypeError(
            f"sample got {name}={value!r}", fix=f"{name} must be a whole number, {least} or more"
        )
