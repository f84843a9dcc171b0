"""NumPy's and SciPy's functions that `library_linear` and `library_shapes` have as plain Python.

Each takes the arguments that its text names, those that are arrays with the numbers of axes that are given
here; others are refused.
"""

from __future__ import annotations

import functools
import inspect
from typing import Any

import numpy as np
import scipy
import scipy.special

from gendsl.compiler.front import library_linear, library_shapes
from gendsl.compiler.front.array_arguments import arguments, as_integers
from gendsl.compiler.front.array_axes import reduced
from gendsl.compiler.front.arrays import as_array
from gendsl.compiler.front.frame import Frame
from gendsl.compiler.front.numbers import Handler
from gendsl.compiler.hir.types import Array, List
from gendsl.compiler.hir.values import NONE, NOTHING, Value, is_never, is_number, kind_of, make_tuple


def _text(
    function: Any,
    *,
    truths: bool = False,
    floats: bool = False,
    whole: bool = False,
    **ranks: int | tuple[int, ...],
) -> Handler:
    """A function that is called with arrays, and with numbers and constants as they are.

    Args:
        truths: whether it may be of truth values.
        floats: whether its arrays are of floats.
        whole: whether it gives integers of integers, but as floats.
        ranks: of the arguments that are arrays, how many axes they may have; 0 for a number.
    """
    signature = inspect.signature(function)

    def handle(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
        names = tuple(signature.parameters)
        given, kinds = arguments(frame, names, args, named), set[str]()
        for name, ranks_ in ranks.items():
            if name not in given:
                continue
            every = (ranks_,) if isinstance(ranks_, int) else ranks_
            if is_number(given[name]):
                if 0 not in every:
                    raise frame.not_closed(f"the argument {name} of a NumPy function, a number")
                continue
            value = as_array(frame, given[name], what=name)
            if is_never(value):
                return NOTHING
            assert isinstance(value.type, Array)
            kinds.add(value.type.kind)
            if value.type.rank not in every:
                raise frame.not_closed(f"the argument {name} of a NumPy function, of {value.type.rank} axes")
            if value.type.kind == "b" and not truths:
                raise frame.not_closed("a NumPy function of truth values")
            given[name] = as_array(frame, value, "f", what=name) if floats else value
        if any(name not in given for name, one in signature.parameters.items() if one.default is one.empty):
            raise frame.not_closed("a NumPy function with these arguments")
        found = frame.language.call_function(frame, function, [], given)
        return as_integers(frame, found) if whole and kinds == {"i"} else found

    return handle


def _of_the_kind(handler: Handler, name: str) -> Handler:
    """A function whose result has entries of the kind of an argument's."""

    def handle(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
        first = args[0] if args else named[name]
        value = as_array(frame, make_tuple([first]) if is_number(first) else first, what="first")
        found = handler(frame, [value, *args[1:]], {key: one for key, one in named.items() if key != name})
        if is_never(found) or is_never(value):
            return NOTHING
        return as_array(frame, found, value.type.kind, what="of the kind")  # type: ignore[attr-defined]

    return handle


# --- sums of products --------------------------------------------------------------------------------


# --- other shapes ------------------------------------------------------------------------------------


def _at(text: Any) -> Handler:
    """`np.add.at(a, indices, values)`, of a vector."""
    handler = _text(text, a=1, indices=1, b=(0, 1))

    def handle(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
        if len(args) != 3 or named or any(map(is_never, args)):
            raise frame.not_closed(f"np.{text.__name__} with these arguments")
        a, indices, new = args
        if not isinstance(a.type, Array) or not isinstance(indices.type, (Array, List)):
            raise frame.not_closed(f"np.{text.__name__} with these arguments")
        indices = as_array(frame, indices, what="indices")
        kind = kind_of(new) if is_number(new) else getattr(as_array(frame, new, what="new").type, "kind", "f")
        if getattr(indices.type, "kind", "i") != "i" or "bif".index(kind) > "bif".index(a.type.kind):
            raise frame.not_closed(f"np.{text.__name__} with these arguments")
        if isinstance(new.type, Array):  # which may be what is changed
            new = as_array(frame, new, copy=True, what="new")
        handler(frame, [a, indices, new], {})
        return NONE

    return handle


def _quantiles(text: Any) -> Handler:
    """`np.quantile(a, q, axis)`: one of all entries or along axes, or several of a vector."""
    of_vector = _text(text, floats=True, a=1, q=(0, 1))

    def handle(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
        given = arguments(frame, ("a", "q", "axis"), args, named)
        q = given.get("q", NONE)
        if not is_number(q):
            return of_vector(frame, args, named)
        value = as_array(frame, given["a"], "f", what="of quantiles")
        return reduced(frame, text, value, given.get("axis", NONE), q, least=1)

    return handle


FUNCTIONS: dict[Any, Handler] = {
    np.add.at: _at(library_shapes.add_at), np.subtract.at: _at(library_shapes.subtract_at),
    np.maximum.at: _at(library_shapes.maximum_at), np.minimum.at: _at(library_shapes.minimum_at),
    np.diag: _of_the_kind(_text(library_shapes.diag, truths=True, v=(1, 2)), "v"),
    np.triu: _of_the_kind(_text(library_shapes.triu, m=2), "m"),
    np.tril: _of_the_kind(_text(library_shapes.tril, m=2), "m"),
    np.triu_indices: _text(library_shapes.triu_indices),
    np.tril_indices: _text(library_shapes.tril_indices),
    np.triu_indices_from: _text(library_shapes.triu_indices_from, arr=2),
    np.tril_indices_from: _text(library_shapes.tril_indices_from, arr=2),
    np.argwhere: _text(library_shapes.argwhere, truths=True, a=(1, 2, 3)),
    np.tile: _of_the_kind(_text(library_shapes.tile, truths=True, A=1), "A"),
    np.delete: _text(library_shapes.delete, arr=1),
    np.digitize: _text(library_shapes.digitize, x=(0, 1), bins=1),
    np.isin: _text(library_shapes.isin, element=1, test_elements=1),
    np.array_equal: _text(library_shapes.array_equal, truths=True, a1=(1, 2, 3), a2=(1, 2, 3)),
    np.allclose: _text(library_shapes.allclose, a=(1, 2, 3), b=(0, 1, 2, 3)),
    np.ediff1d: _text(library_shapes.ediff1d, ary=1),
    np.gradient: _text(library_shapes.gradient, floats=True, f=1),
    np.quantile: _quantiles(library_linear.quantile),
    np.percentile: _quantiles(library_linear.percentile),
    np.kron: _text(library_linear.kron, floats=True, whole=True, a=(1, 2), b=(1, 2)),
    np.cross: _text(library_linear.cross, floats=True, whole=True, a=1, b=1),
    np.cov: _text(library_linear.cov, floats=True, m=(1, 2), y=1),
    np.corrcoef: _text(library_linear.corrcoef, floats=True, x=(1, 2), y=1),
    np.vander: _text(library_linear.vander, floats=True, whole=True, x=1),
    np.linalg.matrix_power: _text(library_linear.matrix_power, floats=True, whole=True, a=2),
    scipy.special.softmax: _text(library_linear.softmax, floats=True, x=(1, 2, 3)),
    scipy.special.log_softmax: _text(library_linear.log_softmax, floats=True, x=(1, 2, 3)),
}  # fmt: skip


@functools.cache
def texts_of_scipy_linalg() -> dict[Any, Handler]:
    """Those of scipy.linalg, which takes long to import, and which programs that call one have imported."""
    linalg = scipy.linalg
    return {
        linalg.solve_triangular: _text(library_linear.solve_triangular, floats=True, a=2, b=(1, 2)),
        linalg.cholesky: _text(library_linear.cholesky, floats=True, a=2),
        linalg.cho_factor: _text(library_linear.cho_factor, floats=True, a=2),
        linalg.cho_solve: _text(library_linear.cho_solve, floats=True, b=(1, 2)),
        linalg.solve: _text(library_linear.solve, floats=True, a=2, b=(1, 2)),
        linalg.inv: _text(library_linear.inv, floats=True, a=2),
        linalg.det: _text(library_linear.det, floats=True, a=2),
        linalg.toeplitz: _text(library_linear.toeplitz, floats=True, c=1),
    }
