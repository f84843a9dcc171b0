"""The loops of NumPy's and SciPy's functions of numbers, called by pointer: they give these functions' bits.

Texts of kernels call the functions of C, or vector functions of their own, which differ in the last bits.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.special

from gendsl.compiler.hir.machine import LOOP
from gendsl.compiler.hir.operations import LOOPS

SYMBOL = "gendsl_ufunc_"
"""What the names of cells begin with: a cell has the addresses of a loop and of the data that it is given."""
_OTHER_NAMES = {
    "atan": "arctan", "asin": "arcsin", "acos": "arccos", "asinh": "arcsinh", "acosh": "arccosh",
    "atanh": "arctanh", "atan2": "arctan2",
}  # fmt: skip
_OF_SEVERAL = frozenset(["log1p", "expm1", "power", "mod", "floordiv", "div"])
"""Operations that stand for several functions: one of NumPy and one of SciPy, or an operator, too."""
_SAMPLE = np.concatenate([np.linspace(-3.0, 3.0, 61), [1e-8, 0.1, 0.9, 17.5, 40.0, 300.0]])
"""What a loop is tried with, one by one and as a whole."""
_RAISED = """
declare ptr @gendsl_python_PyErr_Occurred()
declare void @gendsl_python_PyErr_Clear()
define internal i1 @gendsl_raised() noinline {
  %error = call ptr @gendsl_python_PyErr_Occurred()
  %raised = icmp ne ptr %error, null
  br i1 %raised, label %clear, label %end
clear:
  call void @gendsl_python_PyErr_Clear()
  br label %end
end:
  ret i1 %raised
}"""
"""Whether an error of Python's was raised, which then is no more; its lock is held meanwhile."""
_Loop = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4)


class _UFunc(ctypes.Structure):
    """What a `numpy.ufunc` begins with: see `numpy/ufuncobject.h`."""

    _fields_ = (
        ("head", ctypes.c_char * object.__basicsize__),
        ("nin", ctypes.c_int), ("nout", ctypes.c_int), ("nargs", ctypes.c_int), ("identity", ctypes.c_int),
        ("functions", ctypes.POINTER(ctypes.c_void_p)), ("data", ctypes.POINTER(ctypes.c_void_p)),
        ("ntypes", ctypes.c_int),
    )  # fmt: skip


def text(counts: Mapping[str, int]) -> str:
    """The functions of these names, which take so many numbers and call loops."""
    lines = [*map(_caller, sorted(set(counts.values())))]
    if any(may_raise(symbol.removeprefix(LOOP)) for symbol in counts):
        lines.append(_RAISED)
    for symbol, count in counts.items():
        name = symbol.removeprefix(LOOP)
        parameters = ", ".join(f"double %x{i}" for i in range(count))
        lines.append(f"""@{SYMBOL}{name} = external global [2 x ptr]
define internal double @{symbol}({parameters}) alwaysinline {{
  %found = call double @gendsl_by_loop{count}(ptr @{SYMBOL}{name}, {parameters})
  ret double %found
}}""")
    return "\n".join(lines)


def may_raise(operation: str) -> bool:
    """Whether a function may raise an error of Python's, as SciPy's private ones may: Boost's on overflow."""
    name = operation.removeprefix("np_")
    return name in LOOPS and name.startswith("_")


def _caller(count: int) -> str:
    given = "".join(f", double %x{i}" for i in range(count))
    kept = "".join(
        f"\n  %p{i} = alloca double\n  store double %x{i}, ptr %p{i}\n"
        f"  %a{i} = getelementptr ptr, ptr %args, i64 {i}\n  store ptr %p{i}, ptr %a{i}"
        for i in range(count)
    )
    return f"""
define internal double @gendsl_by_loop{count}(ptr %cell{given}) noinline {{
  %args = alloca [{count + 1} x ptr]
  %steps = alloca [{count + 1} x i64]
  %n = alloca i64
  %result = alloca double
  store i64 1, ptr %n
  store [{count + 1} x i64] [{", ".join(["i64 8"] * (count + 1))}], ptr %steps{kept}
  %last = getelementptr ptr, ptr %args, i64 {count}
  store ptr %result, ptr %last
  %loop = load ptr, ptr %cell
  %behind = getelementptr ptr, ptr %cell, i64 1
  %data = load ptr, ptr %behind
  call void %loop(ptr %args, ptr %n, ptr %steps, ptr %data)
  %found = load double, ptr %result
  ret double %found
}}"""


def address(name: str) -> int:
    """The address of the cell of a function."""
    found = _cell(name)
    if found is None:
        raise LookupError(f"there is no loop of {name}")
    return ctypes.addressof(found)


def has_loop(operation: str) -> bool:
    """Whether an operation is a function whose loop gives its bits, here and in this release of NumPy."""
    return operation.startswith("np_") and _cell(operation.removeprefix("np_")) is not None


@functools.cache
def _cell(name: str) -> Any:
    """The addresses of a loop and its data, kept while the process runs; None if there is no such loop."""
    function = None if name in _OF_SEVERAL else _function(name)
    if function is None or function.nin > 4 or function.nout != 1:
        return None
    wanted = f"{'d' * function.nin}->d"
    if wanted not in function.types:
        return None
    inside = ctypes.cast(id(function), ctypes.POINTER(_UFunc)).contents
    if (inside.nin, inside.nout, inside.ntypes) != (function.nin, 1, function.ntypes):
        return None
    at = function.types.index(wanted)
    if not inside.functions or not inside.functions[at]:
        return None
    cell = (ctypes.c_void_p * 2)(inside.functions[at], inside.data[at] if inside.data else None)
    return cell if _gives_the_same(cell, function) else None


def _function(name: str) -> np.ufunc | None:
    if name in LOOPS:
        return LOOPS[name]  # type: ignore[no-any-return]
    plain = _OTHER_NAMES.get(name, name)
    found = getattr(np, plain, None) or getattr(scipy.special, plain, None)
    return found if isinstance(found, np.ufunc) else None


def _gives_the_same(cell: Any, function: np.ufunc) -> bool:
    """Whether a loop gives one by one what the function gives of arrays."""
    args = [np.roll(_SAMPLE, 7 * i) for i in range(function.nin)]
    with np.errstate(all="ignore"):
        is_given = [not _raises(function, parts) for parts in zip(*args, strict=True)]
        args = [one[is_given] for one in args]
        whole = function(*args)
        one_by_one = [function(*parts) for parts in zip(*args, strict=True)]
    loop, result = _Loop(cell[0]), np.empty(1)
    count, steps = np.array([1]), np.full(function.nin + 1, 8)
    found = []
    for parts in zip(*args, strict=True):
        kept = [np.array([part]) for part in parts]
        pointers = np.array([one.ctypes.data for one in (*kept, result)])
        loop(pointers.ctypes.data, count.ctypes.data, steps.ctypes.data, cell[1])
        found.append(result[0])
    bits = [np.array(one, float).view(np.int64) for one in (whole, one_by_one, found)]
    known = ~np.isnan(whole)
    return all(np.array_equal(one[known], bits[0][known]) for one in bits[1:])


def _raises(function: np.ufunc, parts: tuple[Any, ...]) -> bool:
    """Whether a function raises an error, as functions of Boost's do that overflow."""
    try:
        function(*parts)
    except OverflowError:
        return True
    return False
