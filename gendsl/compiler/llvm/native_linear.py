"""BLAS and LAPACK as machine code calls them: SciPy's, by the pointers that it has for Cython.

Machine code uses one thread of theirs. Its matrices are small, chains run beside one another, and results
do not depend on how many threads there are. How many OpenBLAS uses is a number that all threads of a process
share: it is one while any machine code runs that calls it, and then what it was.
"""

from __future__ import annotations

import ctypes
import functools
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_PREFIXES = "scipy_openblas", "openblas"
_SUFFIXES = "", "64_", "_64"


def pointer_in(capsule: Any) -> tuple[int, bytes]:
    """The function that a module has for Cython, and its type in C."""
    get_name = ctypes.pythonapi.PyCapsule_GetName
    get_name.restype, get_name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    signature = get_name(capsule)
    return get_pointer(capsule, signature), signature


def address(name: str) -> int:
    """Where a routine of BLAS or LAPACK lies."""
    from scipy.linalg import cython_blas, cython_lapack

    for module in (cython_blas, cython_lapack):
        if name in module.__pyx_capi__:
            return pointer_in(module.__pyx_capi__[name])[0]
    raise LookupError(f"scipy.linalg has no {name} for Cython")


class _Threads:
    """How many threads OpenBLAS uses, where it is SciPy's: one while anything runs that asks for it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.running, self.before = 0, 0
        self.functions = self._found()

    @staticmethod
    def _found() -> tuple[Callable[[], int], Callable[[int], None]] | None:
        """What tells and what sets the number; None if it is another library."""
        from scipy.linalg import cython_blas

        try:
            library = ctypes.CDLL(cython_blas.__file__)
        except OSError:
            return None
        for prefix in _PREFIXES:
            for suffix in _SUFFIXES:
                try:
                    return (
                        getattr(library, f"{prefix}_get_num_threads{suffix}"),
                        getattr(library, f"{prefix}_set_num_threads{suffix}"),
                    )
                except AttributeError:
                    continue
        return None

    def begin(self) -> None:
        if self.functions is None:
            return
        get, set_ = self.functions
        with self.lock:
            if self.running == 0:
                self.before = get()
                if self.before > 1:
                    set_(1)
            self.running += 1

    def end(self) -> None:
        if self.functions is None:
            return
        with self.lock:
            self.running -= 1
            if self.running == 0 and self.before > 1:
                self.functions[1](self.before)

    def after_fork(self) -> None:
        """In a new process nothing runs, whatever its parent's other threads did."""
        self.lock = threading.Lock()
        if self.running and self.functions is not None:
            self.functions[1](self.before)
        self.running = 0


@functools.cache
def _threads() -> _Threads:
    threads = _Threads()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=threads.after_fork)
    return threads


@contextmanager
def one_thread() -> Iterator[None]:
    """BLAS and LAPACK use one thread here, if they are OpenBLAS's."""
    threads = _threads()
    threads.begin()
    try:
        yield
    finally:
        threads.end()
