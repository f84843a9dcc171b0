"""What is asked of any kernel, also one of the user's own, without knowing how kernels are made or run."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from gendsl.errors import KernelError, Location, is_users_file
from gendsl.interface import Trace

KernelFunction = Callable[[Any, np.random.Generator], tuple[Any, Any]]


class Compilable:
    """A kernel, or the warm-up of one, that may say what its step does, for the compiler.

    Attributes:
        name: the name under which its acceptance is counted.
        move: what a step does; None where it can't be compiled.
    """

    name: str
    move: Any


def kernel_name(kernel: Any) -> str:
    """The name under which a kernel's acceptance is counted."""
    return getattr(kernel, "name", None) or getattr(kernel, "__name__", None) or type(kernel).__name__


def run_kernel(kernel: KernelFunction, trace: Any, rng: np.random.Generator) -> tuple[Any, Any]:
    """One step of a kernel that may be the user's own, with its result checked."""
    result = kernel(trace, rng)
    if type(result) is tuple and len(result) == 2 and type(result[0]) is type(trace):
        # the usual case; asking an abstract class for its instances takes longer
        if result[0].gen_fn is trace.gen_fn:
            return result
    elif not (isinstance(result, tuple) and len(result) == 2 and isinstance(result[0], Trace)):
        raise KernelError(
            f"kernel {kernel_name(kernel)} returned {result!r}",
            fix="a kernel returns the pair (trace, info), where trace is the next one of the same model",
            location=definition_of(kernel),
        )
    after = result[0].gen_fn
    if after != trace.gen_fn and not _are_one_program(after, trace.gen_fn):
        raise KernelError(
            f"kernel {kernel_name(kernel)} was given a trace of {trace.gen_fn.name} and returned one of "
            f"{after.name}",
            fix="return a trace of the model of the trace that it was given: trace.update(...), "
            "trace.regenerate(...), or trace itself",
            location=definition_of(kernel),
        )
    return result


def _are_one_program(one: Any, other: Any) -> bool:
    """Whether two generative functions are one program on two runtimes."""
    return bool(getattr(one, "reference", one) == getattr(other, "reference", other))


def definition_of(kernel: Any) -> Location | None:
    """Where the user wrote a kernel of his own; None for others."""
    function = getattr(kernel, "step", kernel) if isinstance(kernel, Compilable) else kernel
    if not inspect.isfunction(function):
        function = vars(type(function)).get("__call__")
    code = getattr(function, "__code__", None)
    if code is None or not is_users_file(code.co_filename):
        return None
    return Location(code.co_filename, code.co_firstlineno, code.co_name)
