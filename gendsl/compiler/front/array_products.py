"""Products of arrays, and what NumPy's and SciPy's linear algebra makes of matrices."""

from __future__ import annotations

import string
from typing import Any

import numpy as np

from gendsl.compiler import hir
from gendsl.compiler.front import library_products
from gendsl.compiler.front.array_arguments import (
    ONE,
    arguments,
    as_integers,
    attribute,
    count,
    given_arguments,
    vector,
)
from gendsl.compiler.front.arrays import (
    as_array,
    filled,
    flat,
    library_call,
    load,
    over,
    position,
    save,
    shape_of,
    strides_of,
    view,
)
from gendsl.compiler.front.frame import Frame, only
from gendsl.compiler.front.numbers import Handler
from gendsl.compiler.hir import Const, Expr, Op
from gendsl.compiler.hir.types import Array, Tuple
from gendsl.compiler.hir.values import (
    NONE,
    NOTHING,
    Value,
    as_kind,
    is_known,
    is_never,
    is_number,
    items_of,
    kind_of,
    known,
    make_tuple,
    number,
    number_leaf,
    numpy_number,
    object_of,
)


def _of_matrices(function: Any, text: Any, *names: str) -> Handler:
    """A function of vectors and matrices, which is a text."""

    def handle(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
        given = arguments(frame, names, args, named)
        if len(given) != len(names):
            raise frame.not_closed("a NumPy function with these arguments")
        arrays = [as_array(frame, given[name], what=name) for name in names]
        if all(getattr(one.type, "kind", "f") == "b" for one in arrays):
            raise frame.not_closed(f"{function.__name__} of truth values")
        if any(getattr(one.type, "rank", 1) > 2 for one in arrays):
            raise frame.not_closed(f"{function.__name__} of an array of more than two axes")
        return text(frame, *arrays) if text is _product else library_call(frame, text, arrays)

    return handle


def _product(frame: Frame, a: Value, b: Value) -> Value:
    """`a @ b` of vectors and matrices; of integers an integer, or an array of these."""
    if is_never(a) or is_never(b):
        return NOTHING
    assert isinstance(a.type, Array) and isinstance(b.type, Array)
    if "f" in (a.type.kind, b.type.kind):
        return library_call(frame, library_products.matmul, [a, b])
    left, right = "ij"[2 - a.type.rank :], "jk"[: b.type.rank]
    pattern = f"{left},{right}->{(left + right).replace('j', '')}"
    factors = [as_array(frame, one, "i", what=("factor", i)) for i, one in enumerate((a, b))]
    return einsum(frame, pattern, factors)


def _trace(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    """`np.trace`: the sum of the diagonal."""
    a = as_array(frame, given_arguments(frame, ("a",), args, named)["a"], what="a")
    if is_never(a):
        return NOTHING
    if not isinstance(a.type, Array) or a.type.rank != 2:
        raise frame.not_closed("np.trace of an array of more than two axes")
    diagonal = frame.language.call_numpy(frame, np.diag, [a], {}) or NOTHING
    return frame.language.call_numpy(frame, np.sum, [diagonal], {}) or NOTHING


def _slogdet(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = arguments(frame, ("a",), args, named)
    return library_call(frame, library_products.slogdet, [as_array(frame, given["a"], "f", what="matrix")])


def _convolve(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = arguments(frame, ("a", "v", "mode"), args, named)
    vectors = [vector(frame, given[name], name) for name in ("a", "v")]
    mode = given.get("mode", known("full"))
    kinds = {getattr(one.type, "kind", "f") for one in vectors}
    if "b" in kinds:
        raise frame.not_closed("np.convolve of truth values")
    modes = {
        "full": library_products.convolve, "same": library_products.convolve_same, "valid":
        library_products.convolve_valid,
    }  # fmt: skip
    if not is_known(mode) or object_of(mode) not in modes:
        raise frame.not_closed("np.convolve in this mode")
    found = library_call(frame, modes[object_of(mode)], vectors)
    return as_integers(frame, found) if kinds == {"i"} else found


def _polyval(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = arguments(frame, ("p", "x"), args, named)
    p, x = vector(frame, given["p"], "p"), given["x"]
    if not is_number(x):
        x = as_array(frame, x, what="x")
    if is_never(p) or is_never(x):
        return NOTHING
    kinds = {p.type.kind, kind_of(x) if is_number(x) else x.type.kind}  # type: ignore[attr-defined]
    x = number(number_leaf(x, "f")) if is_number(x) else as_array(frame, x, "f", what="x")
    found = library_call(frame, library_products.polyval, [as_array(frame, p, "f", what="p"), x])
    return as_integers(frame, found) if kinds == {"i"} else found


def _outer_product(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    """`np.outer`: of the entries of arrays of any shape."""
    given = arguments(frame, ("a", "b"), args, named)
    arrays = [
        as_array(frame, make_tuple([given[name]]) if is_number(given[name]) else given[name], what=name)
        for name in ("a", "b")
    ]
    if any(map(is_never, arrays)):
        return NOTHING
    return _of_pairs(frame, np.multiply, *(flat(frame, one) for one in arrays))


def _vdot(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    """`np.vdot`: of all entries of arrays of any shape."""
    given = arguments(frame, ("a", "b"), args, named)
    arrays = [as_array(frame, given[name], what=name) for name in ("a", "b")]
    if any(map(is_never, arrays)):
        return NOTHING
    if all(getattr(one.type, "kind", "f") == "b" for one in arrays):
        raise frame.not_closed("np.vdot of truth values")
    return _product(frame, *(flat(frame, one) for one in arrays))


def _inner(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    """`np.inner`: the products of the rows of the one with those of the other."""
    given = arguments(frame, ("a", "b"), args, named)
    b = as_array(frame, given["b"], what="b")
    if is_never(b):
        return NOTHING
    return frame.language.call_numpy(frame, np.matmul, [given["a"], attribute(frame, b, "T")], {}) or NONE


def _outer(function: Any) -> Handler:
    """`np.add.outer(a, b)` and the like, of vectors."""

    def handle(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
        given = arguments(frame, ("a", "b"), args, named)
        return _of_pairs(frame, function, *(vector(frame, given[one], one) for one in ("a", "b")))

    return handle


def _of_pairs(frame: Frame, function: Any, a: Value, b: Value) -> Value:
    """A function of each entry of one vector with each of another."""
    if is_never(a) or is_never(b):
        return NOTHING
    shape, strides = shape_of(a), strides_of(a)
    column = view(a, a.leaves[1], [shape[0], Const(1, "i")], [strides[0], Const(0, "i")])
    return frame.language.call_numpy(frame, function, [column, b], {}) or NOTHING


def _matrix(frame: Frame, value: Value, what: str, ranks: tuple[int, ...] = (2,)) -> Value:
    """An argument that is an array of floats with one of some numbers of axes."""
    made = as_array(frame, value, "f", what=what)
    if not is_never(made) and (not isinstance(made.type, Array) or made.type.rank not in ranks):
        raise frame.not_closed(f"the argument {what} of a NumPy function, with other axes")
    return made


def _eigvalsh(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = given_arguments(frame, ("a",), args, named)
    return library_call(frame, library_products.eigvalsh, [_matrix(frame, given["a"], "a")])


_SINGULAR_VALUES = object()
"""Stands for what is not computed of a fit."""


def _lstsq(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = given_arguments(frame, ("a", "b", "rcond"), args, named)
    if given.get("rcond", NONE).type != NONE.type:
        raise frame.not_closed("np.linalg.lstsq with a bound for singular values")
    a, b = _matrix(frame, given["a"], "a"), _matrix(frame, given["b"], "b", (1, 2))
    found = library_call(frame, library_products.least_squares, [a, b])
    left = library_call(frame, library_products.residuals, [a, b, found])
    if is_never(found) or is_never(left):
        return NOTHING
    return make_tuple([found, left, count(shape_of(a)[1]), known(_SINGULAR_VALUES)])


def _pinv(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = given_arguments(frame, ("a",), args, named)
    return library_call(frame, library_products.pinv, [_matrix(frame, given["a"], "a")])


def _polyfit(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = given_arguments(frame, ("x", "y", "deg"), args, named)
    x, y = (_matrix(frame, given[name], name, (1,)) for name in ("x", "y"))
    return library_call(frame, library_products.polyfit, [x, y, given["deg"]])


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
    made = filled(frame, kind, shape or [ONE], hir.ZEROS[kind], ("einsum", pattern))
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


_OF_MATRICES: dict[Any, tuple[Any, ...]] = {
    np.dot: (_product, "a", "b"),
    np.matmul: (_product, "a", "b"),
    np.linalg.cholesky: (library_products.cholesky, "a"),
    np.linalg.solve: (library_products.solve, "a", "b"),
    np.linalg.inv: (library_products.inv, "a"),
    np.linalg.det: (library_products.det, "a"),
}
_OF_PAIRS = (
    np.add, np.subtract, np.multiply, np.divide, np.power, np.floor_divide, np.mod, np.minimum, np.maximum,
    np.hypot, np.arctan2, np.logaddexp, np.equal, np.not_equal, np.less, np.less_equal, np.greater,
    np.greater_equal, np.logical_and, np.logical_or,
)  # fmt: skip
FUNCTIONS: dict[Any, Handler] = {
    **{function: _of_matrices(function, *given) for function, given in _OF_MATRICES.items()},
    np.outer: _outer_product, np.vdot: _vdot, np.inner: _inner, np.convolve: _convolve,
    **{function.outer: _outer(function) for function in _OF_PAIRS},
    np.polyval: _polyval,
    np.linalg.eigvalsh: _eigvalsh, np.linalg.lstsq: _lstsq, np.linalg.pinv: _pinv, np.polyfit: _polyfit,
    np.trace: _trace, np.einsum: _einsum, np.tensordot: _tensordot, np.linalg.slogdet: _slogdet,
}  # fmt: skip
