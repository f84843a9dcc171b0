"""NumPy's own samplers, as machine code calls them: the functions that its generators call, with the pointer
to the bit generator.

They are exported by the shared library of `numpy.random`; where they are not, as on Windows, there is no
machine code for what draws.
"""

from __future__ import annotations

import ctypes
import functools
from typing import Any

from gendsl.compiler.hir.draw_methods import METHODS
from gendsl.compiler.hir.failures import NotClosed

_OTHER = {"random": "standard_uniform", "integers": "bounded_uint64_fill"}
NATIVE: dict[str, str] = {name: _OTHER.get(name, name) for name in METHODS}
"""The function for each method of a generator, without NumPy's prefix `random_`."""

_LLVM = {"f": "double", "i": "i64"}
_BINOMIAL = """declare i64 @gendsl_random_binomial(ptr, double, i64, ptr)
define internal i64 @gendsl_binomial(ptr %generator, double %p, i64 %n) noinline {
  %known = alloca [32 x i64]
  store i64 0, ptr %known
  %drawn = call i64 @gendsl_random_binomial(ptr %generator, double %p, i64 %n, ptr %known)
  ret i64 %drawn
}"""
"""A draw from what NumPy knows nothing of yet: it keeps what it computes of n and p."""


def _declaration(name: str) -> str:
    if name == "integers":
        return f"declare void @gendsl_random_{NATIVE[name]}(ptr, i64, i64, i64, i1 zeroext, ptr)"
    if name == "binomial":
        return _BINOMIAL
    method = METHODS[name]
    parameters = ", ".join(["ptr", *(_LLVM[parameter.kind] for parameter in method.parameters)])
    return f"declare {_LLVM[method.result]} @gendsl_random_{NATIVE[name]}({parameters})"


DECLARATIONS: dict[str, str] = {name: _declaration(name) for name in METHODS}
"""The declaration of each function in LLVM IR."""


@functools.cache
def _library() -> ctypes.CDLL:
    from numpy.random import _generator

    return ctypes.CDLL(_generator.__file__)


@functools.cache
def address(name: str) -> int:
    """Where a function of NumPy's lies.

    Raises:
        NotClosed: NumPy's library does not export it.
    """
    try:
        function = getattr(_library(), f"random_{name}")
    except AttributeError:
        raise NotClosed(f"NumPy does not export random_{name}") from None
    found = ctypes.cast(function, ctypes.c_void_p).value
    assert found is not None
    return found


_POINTER = ctypes.pythonapi.PyCapsule_GetPointer
_POINTER.restype, _POINTER.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


def generator_address(generator: Any) -> int:
    """The address of NumPy's C interface of a bit generator, as its `ctypes` has it, which takes longer."""
    found: int = _POINTER(generator.capsule, b"BitGenerator")
    return found
