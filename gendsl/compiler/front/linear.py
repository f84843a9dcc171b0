"""Which functions of the library BLAS and LAPACK compute, too, and where these are faster: of large matrices.

What such a function means is what its text says; `llvm.linear` and `hir.linear_python` say how the same is
computed by BLAS and LAPACK. Those differ in the last bits, as they add in another order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gendsl.compiler import hir
from gendsl.compiler.front import library_linear, library_products
from gendsl.compiler.hir.types import Array, Known, Type

_OPERATIONS: dict[Callable[..., Any], tuple[str, tuple[tuple[int, ...], ...]]] = {
    library_products.cholesky: ("cholesky", ((2,),)),
    library_products.factored: ("factored", ((2,),)),
    library_products.substituted: ("substituted", ((2, 1), (2, 2))),
    library_products.matmul: ("product", ((2, 1), (2, 2))),
    library_linear.substituted: ("triangular", ((2, 1), (2, 2))),
}
"""The operation that each function is, and the numbers of axes that its arrays of floats may have."""


def linear(function: Any, types: dict[str, Type], results: list[hir.Kind]) -> hir.Linear | None:
    """What computes the same as a function, called with values of these types; None if nothing does."""
    if function not in _OPERATIONS:
        return None
    name, possible = _OPERATIONS[function]
    given = list(types.values())
    ranks = tuple(one.rank for one in given if isinstance(one, Array) and one.kind == "f")
    flags: dict[str, bool] = {}
    for what, one in types.items():
        if isinstance(one, Known) and isinstance(one.value, bool):
            flags[what] = one.value
        elif not isinstance(one, Array):
            return None
    array = ("r", "i", *("i", "i") * ranks[-1]) if ranks else ()
    wanted = (*array, "r", "i", "i", "i", "f") if name == "factored" else array
    if ranks not in possible or tuple(results) != wanted:
        return None
    return hir.Linear(name, ranks, tuple(flags.items()))
