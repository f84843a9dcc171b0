"""NumPy's and SciPy's functions that `library_linear` and `library_shapes` have as plain Python.

Each takes the arguments that its text names, those that are arrays with the numbers of axes that are given
here; others are refused.
"""

from __future__ import annotations

import functools
import inspect
import string
from typing import Any

import numpy as np
import scipy
import scipy.special

from gendsl.compiler import hir
from gendsl.compiler.front import library_linear, library_shapes
from gendsl.compiler.front.array_arguments import arguments
from gendsl.compiler.front.array_axes import axes_of, axis_of, permuted
from gendsl.compiler.front.array_calls_more import without_axis
from gendsl.compiler.front.array_calls_parts import squeezed
from gendsl.compiler.front.arrays import (
    as_array,
    filled,
    fitting,
    load,
    over,
    position,
    same_shape,
    save,
    shape_of,
    strides_of,
    view,
)
from gendsl.compiler.front.frame import Frame, is_never, only
from gendsl.compiler.front.numbers import Handler
from gendsl.compiler.hir import Const, Expr, Op
from gendsl.compiler.hir.types import Array, List, Tuple
from gendsl.compiler.hir.values import (
    NONE,
    NOTHING,
    Value,
    as_kind,
    is_known,
    is_number,
    items_of,
    kind_of,
    known,
    make_tuple,
    number,
    numpy_number,
    object_of,
)

_ONE = Const(1, "i")


def _text(
    function: Any, *, truths: bool = False, floats: bool = False, **ranks: int | tuple[int, ...]
) -> Handler:
    """A function that is called with arrays, and with numbers and constants as they are.

    Args:
        truths: whether it may be of truth values.
        floats: whether its arrays are of floats.
        ranks: of the arguments that are arrays, how many axes they may have; 0 for a number.
    """
    signature = inspect.signature(function)

    def handle(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
        names = tuple(signature.parameters)
        given = arguments(frame, names, args, named)
        for name, ranks_ in ranks.items():
            if name not in given:
                continue
            every = (ranks_,) if isinstance(ranks_, int) else ranks_
            if is_number(given[name]):
                if 0 not in every:
                    raise frame.not_closed(f"the argument {name} of a NumPy function, a number")
                continue
            value = as_array(frame, given[name], "f" if floats else None, what=name)
            if is_never(value):
                return NOTHING
            assert isinstance(value.type, Array)
            if value.type.rank not in every:
                raise frame.not_closed(f"the argument {name} of a NumPy function, of {value.type.rank} axes")
            if value.type.kind == "b" and not truths:
                raise frame.not_closed("a NumPy function of truth values")
            given[name] = value
        if any(name not in given for name, one in signature.parameters.items() if one.default is one.empty):
            raise frame.not_closed("a NumPy function with these arguments")
        return frame.language.call_function(frame, function, [], given)

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


def einsum(frame: Frame, pattern: str, arrays: list[Value]) -> Value:
    """`np.einsum`: the sums of products of entries, one index for each letter."""
    before, arrow, after = pattern.replace(" ", "").partition("->")
    inputs = before.split(",")
    letters = list(dict.fromkeys(letter for one in inputs for letter in one))
    if not arrow:
        counts = {letter: before.count(letter) for letter in letters}
        after = "".join(sorted(letter for letter in letters if counts[letter] == 1))
    if not all(letter.isalpha() for letter in letters) or len(inputs) != len(arrays):
        raise frame.not_closed(f"np.einsum of {pattern!r}")
    if len(set(after)) < len(after) or not set(after) <= set(letters):
        raise frame.not_closed(f"np.einsum of {pattern!r}")
    lengths: dict[str, Expr] = {}
    for one, value in zip(inputs, arrays, strict=True):
        assert isinstance(value.type, Array)
        if len(one) != value.type.rank or value.type.kind == "b":
            raise frame.not_closed(f"np.einsum of {pattern!r} with these arrays")
        for letter, n in zip(one, shape_of(value), strict=True):
            if letter in lengths and lengths[letter] != n:
                frame.fail_if(Op("ne", (lengths[letter], n), "b"), "np.einsum of axes of different lengths")
            lengths.setdefault(letter, n)
    kind = max((one.type.kind for one in arrays), key="bif".index)  # type: ignore[attr-defined]
    shape = [lengths[letter] for letter in after]
    made = filled(frame, kind, shape or [_ONE], hir.ZEROS[kind], ("einsum", pattern))
    order = [*after, *(letter for letter in letters if letter not in after)]

    def one_product(at: list[Expr]) -> None:
        where = dict(zip(order, at, strict=True))
        entries = [
            as_kind(load(frame, value, position(frame, value, [where[letter] for letter in one])).leaf, kind)
            for one, value in zip(inputs, arrays, strict=True)
        ]
        product = entries[0]
        for entry in entries[1:]:
            product = frame.op("mul", (product, entry), kind)
        place = position(frame, made, [where[letter] for letter in after] or [Const(0, "i")])
        save(frame, made, place, frame.op("add", (load(frame, made, place).leaf, product), kind))

    over(frame, [lengths[letter] for letter in order], one_product, ("einsum", pattern))
    return made if after else numpy_number(load(frame, made, made.leaves[1]).leaf)


def _einsum(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    only(frame, named, "optimize")
    if not args or not is_known(args[0]) or not isinstance(object_of(args[0]), str):
        raise frame.not_closed("np.einsum with these arguments")
    if any(map(is_number, args[1:])):
        raise frame.not_closed("np.einsum of numbers")
    arrays = [as_array(frame, one, what=("einsum", i)) for i, one in enumerate(args[1:])]
    return NOTHING if any(map(is_never, arrays)) else einsum(frame, object_of(args[0]), arrays)


def _tensordot(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = arguments(frame, ("a", "b", "axes"), args, named)
    arrays = [as_array(frame, given[name], what=name) for name in ("a", "b")]
    if any(map(is_never, arrays)):
        return NOTHING
    first, second = (one.type.rank for one in arrays)  # type: ignore[attr-defined]
    axes = given.get("axes", known(2))
    if is_known(axes) and type(object_of(axes)) is int:
        count = object_of(axes)
        pairs = [(first - count + i, i) for i in range(count)]
    else:
        pairs = list(zip(*(_integers(frame, one) for one in _parts(frame, axes)), strict=True))
    if any(not (0 <= i < first and 0 <= j < second) for i, j in pairs):
        raise frame.not_closed("np.tensordot along these axes")
    if len(pairs) == first == second:
        raise frame.not_closed("an array without axes")
    letters = iter(string.ascii_letters)
    mine = [next(letters) for _ in range(first)]
    met = {j: mine[i] for i, j in pairs}
    theirs = [met[j] if j in met else next(letters) for j in range(second)]
    left = [one for one in mine if one not in met.values()]
    right = [one for j, one in enumerate(theirs) if j not in met]
    return einsum(frame, f"{''.join(mine)},{''.join(theirs)}->{''.join(left + right)}", arrays)


def _parts(frame: Frame, value: Value) -> list[Value]:
    """The items of a display of two."""
    if isinstance(value.type, Tuple) or (is_known(value) and isinstance(object_of(value), tuple)):
        found = items_of(value)
        if len(found) == 2:
            return found
    raise frame.not_closed("np.tensordot along these axes")


def _integers(frame: Frame, value: Value) -> list[int]:
    found = items_of(value) if not is_number(value) else [value]
    if not all(is_known(one) and type(object_of(one)) is int for one in found):
        raise frame.not_closed("np.tensordot along these axes")
    return [object_of(one) for one in found]


# --- other shapes ------------------------------------------------------------------------------------


def _expand_dims(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = arguments(frame, ("a", "axis"), args, named)
    value = as_array(frame, given["a"], what="a")
    if is_never(value):
        return NOTHING
    shape, strides = shape_of(value), strides_of(value)
    where = object_of(given["axis"]) if is_known(given["axis"]) else None
    if type(where) is not int or not -len(shape) - 1 <= where <= len(shape):
        raise frame.not_closed("np.expand_dims along this axis")
    shape.insert(where % (len(shape) + 1), _ONE)
    strides.insert(where % (len(strides) + 1), Const(0, "i"))
    return view(value, value.leaves[1], shape, strides)


def _at_least(rank: int) -> Handler:
    """`np.atleast_1d` and `np.atleast_2d`."""

    def handle(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
        if len(args) != 1 or named:
            raise frame.not_closed("np.atleast_1d of several arrays")
        value = as_array(frame, make_tuple([args[0]]) if is_number(args[0]) else args[0], what="at least")
        if is_never(value):
            return NOTHING
        shape, strides = shape_of(value), strides_of(value)
        missing = max(0, rank - len(shape))
        one: list[Expr] = [_ONE] * missing
        none: list[Expr] = [Const(0, "i")] * missing
        return view(value, value.leaves[1], one + shape, none + strides)

    return handle


def _squeeze(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = arguments(frame, ("a", "axis"), args, named)
    value = as_array(frame, given["a"], what="a")
    if is_never(value):
        return NOTHING
    where = axes_of(frame, value, given.get("axis", NONE))
    if where is None:
        return squeezed(frame, value)
    for axis in reversed(where):
        value = without_axis(frame, value, axis)
    return value


def _swapaxes(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = arguments(frame, ("a", "axis1", "axis2"), args, named)
    value = as_array(frame, given["a"], what="a")
    if is_never(value):
        return NOTHING
    i, j = (axis_of(frame, value, given[name]) for name in ("axis1", "axis2"))
    order = list(range(len(shape_of(value))))
    order[i], order[j] = order[j], order[i]
    return permuted(value, order)


def _moveaxis(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = arguments(frame, ("a", "source", "destination"), args, named)
    value = as_array(frame, given["a"], what="a")
    if is_never(value):
        return NOTHING
    i, j = (axis_of(frame, value, given[name]) for name in ("source", "destination"))
    order = [axis for axis in range(len(shape_of(value))) if axis != i]
    order.insert(j, i)
    return permuted(value, order)


def _reshape(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = arguments(frame, ("a", "shape"), args, named)
    value = as_array(frame, given["a"], what="a")
    return (
        NOTHING
        if is_never(value)
        else frame.language.array_method(frame, value, "reshape", [given["shape"]], {})
    )


def _ravel(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    value = as_array(frame, arguments(frame, ("a",), args, named)["a"], what="a")
    return NOTHING if is_never(value) else frame.language.array_method(frame, value, "ravel", [], {})


def _ix(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    """`np.ix_`: indices that broadcast to all combinations."""
    vectors = [as_array(frame, one, what=("ix", i)) for i, one in enumerate(args)]
    if any(map(is_never, vectors)):
        return NOTHING
    if named or any(one.type.rank != 1 or one.type.kind != "i" for one in vectors):  # type: ignore[attr-defined]
        raise frame.not_closed("np.ix_ of these indices")
    return make_tuple([_along(one, i, len(vectors)) for i, one in enumerate(vectors)])


def _along(vector: Value, axis: int, rank: int) -> Value:
    """A vector as an array of several axes, along one of them."""
    shape: list[Expr] = [_ONE] * rank
    strides: list[Expr] = [Const(0, "i")] * rank
    (shape[axis],), (strides[axis],) = shape_of(vector), strides_of(vector)
    return view(vector, vector.leaves[1], shape, strides)


def _meshgrid(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    only(frame, named, "indexing")
    indexing = named.get("indexing", known("xy"))
    vectors = [as_array(frame, one, what=("mesh", i)) for i, one in enumerate(args)]
    if any(map(is_never, vectors)):
        return NOTHING
    if not is_known(indexing) or object_of(indexing) not in ("xy", "ij") or len(vectors) < 2:
        raise frame.not_closed("np.meshgrid with these arguments")
    if any(one.type.rank != 1 for one in vectors):  # type: ignore[attr-defined]
        raise frame.not_closed("np.meshgrid of these arrays")
    axes = list(range(len(vectors)))
    if object_of(indexing) == "xy":
        axes[:2] = 1, 0
    shape = [shape_of(vectors[axes.index(axis)])[0] for axis in range(len(vectors))]
    columns = [_along(one, axis, len(vectors)) for one, axis in zip(vectors, axes, strict=True)]
    made = [
        as_array(frame, fitting(frame, one, shape), copy=True, what=("mesh", i))
        for i, one in enumerate(columns)
    ]
    return make_tuple(made)


def _diag_indices_from(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    (value,) = args
    shape = shape_of(as_array(frame, value, what="a"))
    same_shape(frame, shape[:1], shape[1:2])
    return frame.language.call_numpy(frame, np.diag_indices, [number(shape[0])], {}) or NONE


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
        handler(frame, [a, indices, new], {})
        return NONE

    return handle


TEXTS: dict[Any, Handler] = {
    np.add.at: _at(library_shapes.add_at), np.subtract.at: _at(library_shapes.subtract_at),
    np.maximum.at: _at(library_shapes.maximum_at), np.minimum.at: _at(library_shapes.minimum_at),
    np.einsum: _einsum, np.tensordot: _tensordot, np.expand_dims: _expand_dims, np.atleast_1d: _at_least(1),
    np.atleast_2d: _at_least(2), np.squeeze: _squeeze, np.swapaxes: _swapaxes, np.moveaxis: _moveaxis,
    np.reshape: _reshape, np.ravel: _ravel, np.ix_: _ix, np.meshgrid: _meshgrid, np.diag_indices_from:
    _diag_indices_from,
    np.diag: _of_the_kind(_text(library_shapes.diag, truths=True, v=(1, 2)), "v"),
    np.triu: _of_the_kind(_text(library_shapes.triu, m=2), "m"),
    np.tril: _of_the_kind(_text(library_shapes.tril, m=2), "m"),
    np.triu_indices: _text(library_shapes.triu_indices), np.tril_indices: _text(library_shapes.tril_indices),
    np.triu_indices_from: _text(library_shapes.triu_indices_from, arr=2),
    np.tril_indices_from: _text(library_shapes.tril_indices_from, arr=2),
    np.tile: _of_the_kind(_text(library_shapes.tile, truths=True, A=1), "A"),
    np.delete: _text(library_shapes.delete, arr=1),
    np.digitize: _text(library_shapes.digitize, x=(0, 1), bins=1),
    np.isin: _text(library_shapes.isin, element=1, test_elements=1),
    np.array_equal: _text(library_shapes.array_equal, truths=True, a1=(1, 2, 3), a2=(1, 2, 3)),
    np.allclose: _text(library_shapes.allclose, a=(1, 2, 3), b=(0, 1, 2, 3)),
    np.ediff1d: _text(library_shapes.ediff1d, ary=1),
    np.gradient: _text(library_shapes.gradient, floats=True, f=1),
    np.quantile: _text(library_linear.quantile, floats=True, a=1, q=(0, 1)),
    np.percentile: _text(library_linear.percentile, floats=True, a=1, q=(0, 1)),
    np.kron: _text(library_linear.kron, floats=True, a=(1, 2), b=(1, 2)),
    np.cross: _text(library_linear.cross, floats=True, a=1, b=1),
    np.cov: _text(library_linear.cov, floats=True, m=(1, 2), y=1),
    np.corrcoef: _text(library_linear.corrcoef, floats=True, x=(1, 2), y=1),
    np.vander: _text(library_linear.vander, floats=True, x=1),
    np.linalg.matrix_power: _text(library_linear.matrix_power, floats=True, a=2),
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
