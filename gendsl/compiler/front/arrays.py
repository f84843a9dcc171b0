"""NumPy arrays: views share the list of numbers that they look at, operations are loops.

What NumPy's functions do beyond that is written in Python, in `library`, and lowered as a user's functions
are.

Views, operations and NumPy's names for them share the parts of an array, so this is one module.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import numpy as np

from gendsl.compiler import hir
from gendsl.compiler.front import library
from gendsl.compiler.front.frame import Frame, is_never
from gendsl.compiler.front.numbers import ELEMENTWISE, both
from gendsl.compiler.front.values import (
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
    number_leaf,
    numpy_number,
    object_of,
)
from gendsl.compiler.hir import Const, Expr, Op
from gendsl.compiler.types import (
    NEVER,
    Array,
    Iterator,
    Known,
    List,
    Method,
    Number,
    Tuple,
    Union,
    describe,
)

_ZERO, _ONE = Const(0, "i"), Const(1, "i")
_DTYPES: dict[Any, str] = {
    float: "f", int: "i", bool: "b", np.float64: "f", np.int64: "i", np.intp: "i", np.bool_: "b", "float":
    "f",
    "int": "i", "float64": "f", "int64": "i", "bool": "b",
}  # fmt: skip
MOST_AXES = 4


# --- the parts of an array ---------------------------------------------------------------------------


def shape_of(value: Value) -> list[Expr]:
    """The length of each axis."""
    assert isinstance(value.type, Array)
    return list(value.leaves[2 : 2 + value.type.rank])


def strides_of(value: Value) -> list[Expr]:
    """The stride of each axis, in numbers."""
    assert isinstance(value.type, Array)
    return list(value.leaves[2 + value.type.rank :])


def view(value: Value, offset: Expr, shape: list[Expr], strides: list[Expr]) -> Value:
    """Another look at the numbers of an array."""
    assert isinstance(value.type, Array)
    return Value(
        Array(value.type.kind, len(shape), value.type.frozen), (value.leaves[0], offset, *shape, *strides)
    )


def _times(frame: Frame, a: Expr, b: Expr) -> Expr:
    if a == _ONE:
        return b
    if b == _ONE:
        return a
    if isinstance(a, Const) and isinstance(b, Const):
        return Const(a.value * b.value, "i")  # type: ignore[operator]
    return frame.atom(Op("mul", (a, b), "i"), "n")


def _plus(frame: Frame, a: Expr, b: Expr) -> Expr:
    if a == _ZERO:
        return b
    if b == _ZERO:
        return a
    if isinstance(a, Const) and isinstance(b, Const):
        return Const(a.value + b.value, "i")  # type: ignore[operator]
    return Op("add", (a, b), "i")


def size_of(frame: Frame, value: Value) -> Expr:
    """The number of entries."""
    size: Expr = _ONE
    for n in shape_of(value):
        size = _times(frame, size, n)
    return size


def filled(frame: Frame, kind: str, shape: list[Expr], fill: Expr, what: Any = None) -> Value:
    """A new array with equal entries."""
    if len(shape) > MOST_AXES:
        raise frame.not_closed(f"an array of more than {MOST_AXES} axes")
    shape = [frame.atom(n, "n") for n in shape]
    for n in shape:
        if not isinstance(n, Const):
            frame.fail_if(Op("lt", (n, _ZERO), "b"), "a negative length")
    strides: list[Expr] = []
    size: Expr = _ONE
    for n in reversed(shape):
        strides.insert(0, size)
        size = _times(frame, size, n)
    var = frame.fresh("numbers", "r")
    frame.emit(hir.Fill(var, (kind,), size, (as_kind(fill, kind),)))
    return Value(Array(kind, len(shape)), (var, _ZERO, *shape, *strides))


def load(frame: Frame, value: Value, at: Expr) -> Value:
    """The number at a place of the list of an array."""
    assert isinstance(value.type, Array)
    var = frame.fresh("t", value.type.kind)
    frame.emit(hir.Load([var], value.leaves[0], (value.type.kind,), at))
    return numpy_number(var)


def save(frame: Frame, value: Value, at: Expr, new: Expr) -> None:
    """Put a number at a place of the list of an array."""
    from gendsl.compiler.front.containers import writable

    assert isinstance(value.type, Array)
    writable(frame, value)
    kind = value.type.kind
    if kind == "i" and new.kind == "f":
        new = frame.op("int_trunc", (new,), "i")
    frame.emit(hir.Store(value.leaves[0], (kind,), at, (as_kind(new, kind),)))


def over(frame: Frame, shape: list[Expr], lower: Callable[[list[Expr]], None], what: Any = None) -> None:
    """Loops over all indices of a shape, the last axis fastest."""

    def from_(axis: int, at: list[Expr]) -> None:
        if axis == len(shape):
            lower(at)
            return
        var = frame.fresh("ijkl"[axis % 4], "i")

        def make(body: hir.Body, label: int) -> hir.Statement:
            return hir.For(var, _ZERO, shape[axis], _ONE, body, label)

        frame.unrolled += (("axis", axis, what),)
        frame.loop(frame.here, make, [], lambda: from_(axis + 1, [*at, var]))
        frame.unrolled = frame.unrolled[:-1]

    from_(0, [])


def position(frame: Frame, value: Value, at: list[Expr]) -> Expr:
    """The place of an entry in the list of an array; the indices are within the shape."""
    place = value.leaves[1]
    for index, stride in zip(at, strides_of(value), strict=True):
        if stride == _ONE:
            place = _plus(frame, place, index)
        elif stride != _ZERO:
            place = _plus(frame, place, Op("mul", (index, stride), "i"))
    return frame.atom(place, "at")


# --- from and to other values ------------------------------------------------------------------------


def is_arraylike(value: Value) -> bool:
    """Whether NumPy takes a value for an array of numbers."""
    if isinstance(value.type, (Array, List)):
        return True
    if isinstance(value.type, Tuple):
        return value.type.cls is tuple
    return isinstance(value.type, Known) and isinstance(object_of(value), tuple)


def as_array(
    frame: Frame, value: Value, kind: str | None = None, *, copy: bool = False, what: Any = None
) -> Value:
    """A value as an array: itself if it is one, or a new one."""
    if is_never(value):
        return NOTHING
    if isinstance(value.type, Array):
        if not copy and kind in (None, value.type.kind):
            return value
        kind = kind or value.type.kind
        return _mapped(frame, [value], kind, lambda leaves: leaves[0], what=("copy", what))
    if isinstance(value.type, Iterator):
        raise frame.not_closed("an array of an iterator")
    if isinstance(value.type, List):
        return _from_list(frame, value, kind, what)
    if is_number(value):
        raise frame.not_closed("an array of one number, without axes")
    if not is_arraylike(value):
        raise frame.not_closed(f"an array of {describe(value.type)}")
    items = items_of(value)
    if not items:
        return filled(frame, kind or "f", [_ZERO], Const(0.0, "f"), what)
    if all(map(is_number, items)):
        found = kind or max((kind_of(item) for item in items), key="bif".index)
        made = filled(frame, found, [Const(len(items), "i")], hir.ZEROS[found], what)
        for i, item in enumerate(items):
            save(frame, made, Const(i, "i"), number_leaf(item))
        return made
    rows = [as_array(frame, item, kind, what=(what, i)) for i, item in enumerate(items)]
    return _stacked(frame, rows, what)


def _stacked(frame: Frame, rows: list[Value], what: Any = None) -> Value:
    """Arrays of one shape as the rows of a new one."""
    kinds = [row.type.kind for row in rows]  # type: ignore[attr-defined]
    kind = max(kinds, key="bif".index)
    shape = shape_of(rows[0])
    made = filled(frame, kind, [Const(len(rows), "i"), *shape], hir.ZEROS[kind], ("stacked", what))
    for i, one in enumerate(rows):
        same_shape(frame, shape, shape_of(one))
        target = row(frame, made, Const(i, "i"))
        copy_into(frame, target, one, ("row", what, i))
    return made


def same_shape(frame: Frame, a: list[Expr], b: list[Expr]) -> None:
    """Fail unless two shapes are equal."""
    if len(a) != len(b):
        raise frame.not_closed("arrays of different numbers of axes")
    for x, y in zip(a, b, strict=True):
        if x != y:
            frame.fail_if(Op("ne", (x, y), "b"), "arrays of different shapes")


def _from_list(frame: Frame, value: Value, kind: str | None, what: Any) -> Value:
    from gendsl.compiler.front.containers import item, length

    assert isinstance(value.type, List)
    inner = frame.program.facts.item(value.type.site)
    n = frame.atom(length(frame, value), "n")
    if inner == NEVER:
        return filled(frame, kind or "f", [n], Const(0.0, "f"), what)
    if isinstance(inner, Union):
        numbers = [one for one in inner.alternatives if is_number(Value(one))]
        inner = numbers[0] if numbers else inner
    probe = Value(inner)
    if isinstance(inner, Number) or (isinstance(inner, Known) and is_number(probe)):
        found = kind or kind_of(probe)
        made = filled(frame, found, [n], hir.ZEROS[found], what)
        over(
            frame,
            [n],
            lambda at: save(frame, made, at[0], number_leaf(_entry(frame, item(frame, value, at[0])))),
            ("from", what),
        )
        return made
    if isinstance(inner, (List, Array)) or (isinstance(inner, Tuple) and inner.cls is tuple):
        frame.fail_if(Op("eq", (n, _ZERO), "b"), "an array of no rows")
        first = as_array(frame, item(frame, value, _ZERO), kind, what=("first", what))
        if is_never(first):
            return NOTHING
        assert isinstance(first.type, Array)
        made = filled(
            frame, first.type.kind, [n, *shape_of(first)], hir.ZEROS[first.type.kind], ("rows", what)
        )

        def fill(at: list[Expr]) -> None:
            one = as_array(frame, item(frame, value, at[0]), kind, what=("row", what))
            same_shape(frame, shape_of(first), shape_of(one))
            copy_into(frame, row(frame, made, at[0]), one, ("row", what))

        over(frame, [n], fill, ("rows", what))
        return made
    raise frame.not_closed(f"an array of a list of {describe(inner)}")


def _entry(frame: Frame, value: Value) -> Value:
    """An item of a list as an entry of an array of numbers; of another type the reference makes the array."""

    def of_one(one: Value) -> Value:
        if not is_number(one):
            frame.fail(f"{describe(one.type)} as an entry of an array")
            return NOTHING
        return one

    found = frame.switch(value, of_one)
    return known(0) if is_never(found) else found


def copy_into(frame: Frame, target: Value, source: Value, what: Any = None) -> None:
    """Copy the entries of an array into another of the same shape."""
    over(
        frame,
        shape_of(target),
        lambda at: save(
            frame, target, position(frame, target, at), load(frame, source, position(frame, source, at)).leaf
        ),
        ("into", what),
    )


def to_list(frame: Frame, value: Value) -> Value:
    """`value.tolist()`."""
    from gendsl.compiler.front.containers import append, list_of

    assert isinstance(value.type, Array)
    made = list_of(frame, frame.here, [], ("tolist", value.type.rank))

    def add(at: list[Expr]) -> None:
        inner = row(frame, value, at[0])
        append(frame, made, number(inner.leaf) if is_number(inner) else to_list(frame, inner))

    over(frame, shape_of(value)[:1], add, ("tolist", value.type.rank))
    return made


# --- elementwise -------------------------------------------------------------------------------------


def _broadcast(frame: Frame, arrays: list[Value]) -> tuple[list[Expr], list[Value]]:
    """The shape that arrays broadcast to, and each as a view of that shape."""
    rank = max(value.type.rank for value in arrays)  # type: ignore[attr-defined]
    if len(arrays) == 1:
        return shape_of(arrays[0]), arrays
    shape: list[Expr] = []
    for axis in range(rank):
        lengths: list[Expr] = []
        for value in arrays:
            mine = shape_of(value)
            at = axis - (rank - len(mine))
            if at >= 0 and mine[at] not in lengths:
                lengths.append(mine[at])
        lengths = [n for n in lengths if n != _ONE] or [_ONE]
        n = lengths[0]
        for other in lengths[1:]:
            wrong = both(
                Op("ne", (n, other), "b"), both(Op("ne", (n, _ONE), "b"), Op("ne", (other, _ONE), "b"))
            )
            frame.fail_if(wrong, "arrays that do not broadcast")
            n = frame.atom(Op("select", (Op("eq", (n, _ONE), "b"), other, n), "i"), "n")
        shape.append(n)
    views = []
    for value in arrays:
        mine, strides = shape_of(value), strides_of(value)
        missing = rank - len(mine)
        steps: list[Expr] = [_ZERO] * missing
        for axis, (n, stride) in enumerate(zip(mine, strides, strict=True)):
            if n == shape[missing + axis] and not (isinstance(n, Const) and n.value == 1):
                steps.append(stride)
            elif n == _ONE:
                steps.append(_ZERO)
            else:
                steps.append(
                    frame.atom(Op("select", (Op("eq", (n, _ONE), "b"), _ZERO, stride), "i"), "stride")
                )
        views.append(view(value, value.leaves[1], shape, steps))
    return shape, views


def _mapped(
    frame: Frame, arrays: list[Value], kind: str, function: Callable[[list[Expr]], Expr], what: Any = None
) -> Value:
    """A new array of what a function makes of the entries of arrays."""
    shape, views = _broadcast(frame, arrays)
    made = filled(frame, kind, shape, hir.ZEROS[kind], ("mapped", what))

    def one(at: list[Expr]) -> None:
        entries = [load(frame, each, position(frame, each, at)).leaf for each in views]
        save(frame, made, position(frame, made, at), function(entries))

    over(frame, shape, one, ("mapped", what))
    return made


def elementwise(
    frame: Frame, value: Value, function: Callable[[Expr], Expr], kind: str | None = None
) -> Value:
    """A function of each entry."""
    assert isinstance(value.type, Array)
    return _mapped(frame, [value], kind or value.type.kind, lambda leaves: function(leaves[0]))


def unary(frame: Frame, operator: type[ast.unaryop], value: Value) -> Value:
    """`-value`, `+value`, `~value`."""
    assert isinstance(value.type, Array)
    kind = value.type.kind
    if operator is ast.Invert:
        if kind == "f":
            frame.fail("~ of an array of floats")
            return NOTHING
        if kind == "b":
            return elementwise(frame, value, lambda leaf: Op("not", (leaf,), "b"))
        return elementwise(frame, value, lambda leaf: Op("sub", (Const(-1, "i"), leaf), "i"))
    if kind == "b":
        frame.fail("the negative of truth values")
        return NOTHING
    if operator is ast.UAdd:
        return as_array(frame, value, copy=True)
    return elementwise(frame, value, lambda leaf: Op("neg", (leaf,), leaf.kind))


def of_entries(frame: Frame, name: str, x: Expr, y: Expr) -> Expr:
    """An operation on two entries, as NumPy does it."""
    if name in ("lt", "le", "gt", "ge", "eq", "ne"):
        kind = max(x.kind, y.kind, key="bif".index)
        if kind == "b" and name not in ("eq", "ne"):
            kind = "i"
        return Op(name, (as_kind(x, kind), as_kind(y, kind)), "b")
    if name in ("bitand", "bitor", "bitxor"):
        if x.kind == y.kind == "b":
            return Op({"bitand": "and", "bitor": "or", "bitxor": "ne"}[name], (x, y), "b")
        return frame.op(name, (as_kind(x, "i"), as_kind(y, "i")), "i")
    if x.kind == y.kind == "b" and name in ("add", "mul"):
        return Op("or" if name == "add" else "and", (x, y), "b")
    if x.kind == y.kind == "b" and name == "sub":
        frame.fail("the difference of NumPy's truth values")
        return hir.FALSE
    if x.kind == y.kind == "b" and name != "truediv":
        raise frame.not_closed("NumPy computes with truth values in 8 bits")
    if name == "truediv":
        return Op("np_div", (as_kind(x, "f"), as_kind(y, "f")), "f")
    kind = "f" if "f" in (x.kind, y.kind) else "i"
    x, y = as_kind(x, kind), as_kind(y, kind)
    if name == "pow":
        if y == Const(2, "i") or y == Const(2.0, "f"):
            x = frame.atom(x)
            return Op("mul", (x, x), kind)
        return Op("np_power", (x, y), "f") if kind == "f" else frame.op("ipow", (x, y), "i")
    if kind == "f" and name in ("mod", "floordiv"):
        return Op(f"np_{name}", (x, y), "f")
    return frame.op(name, (x, y), kind)


def _kind_of_result(frame: Frame, name: str, kinds: list[str]) -> str:
    if name in ("lt", "le", "gt", "ge", "eq", "ne"):
        return "b"
    if name == "truediv":
        return "f"
    if name in ("bitand", "bitor", "bitxor"):
        return "b" if kinds == ["b", "b"] else "i"
    if name in ("add", "mul", "sub") and kinds == ["b", "b"]:
        return "b"
    return max(*kinds, "i", key="bif".index)


def binary(frame: Frame, name: str, a: Value, b: Value) -> Value:
    """An operation of two values, one of which is an array."""
    if is_never(a) or is_never(b):
        return NOTHING
    if name == "matmul":
        return _library(
            frame, library.matmul, [as_array(frame, a, what="left"), as_array(frame, b, what="right")]
        )
    scalars: dict[int, Expr] = {}
    arrays: list[Value] = []
    for i, value in enumerate((a, b)):
        if is_number(value):
            scalars[i] = frame.atom(number_leaf(value))
        else:
            arrays.append(as_array(frame, value, what=("operand", i)))
    kinds = [scalars[i].kind if i in scalars else arrays[min(i, len(arrays) - 1)].type.kind for i in (0, 1)]  # type: ignore[attr-defined]

    def one(entries: list[Expr]) -> Expr:
        left = list(entries)
        x = scalars[0] if 0 in scalars else left.pop(0)
        y = scalars[1] if 1 in scalars else left.pop(0)
        return of_entries(frame, name, x, y)

    return _mapped(frame, arrays, _kind_of_result(frame, name, kinds), one, name)


def in_place(frame: Frame, value: Value, operator: ast.operator, new: Value) -> None:
    """`value op= new`: the entries of the array itself change."""
    from gendsl.compiler.front.numbers import _BINARY

    assert isinstance(value.type, Array)
    name = _BINARY[type(operator)][0]
    if is_number(new):
        leaf = frame.atom(number_leaf(new))
        kind = _kind_of_result(frame, name, [value.type.kind, leaf.kind])
    else:
        new = as_array(frame, new, what="in place")
        kind = _kind_of_result(frame, name, [value.type.kind, new.type.kind])  # type: ignore[attr-defined]
        if isinstance(new.type, Array):  # it may look at the same numbers
            new = as_array(frame, new, copy=True, what="in place")
    if "bif".index(kind) > "bif".index(value.type.kind):
        frame.fail("the result of an operation in place does not fit into the array")
        return
    if name == "matmul":
        raise frame.not_closed("`@=`")
    if is_number(new):
        over(
            frame, shape_of(value),
            lambda at: _change(frame, value, at, lambda x: of_entries(frame, name, x, leaf)), "in place",
        )  # fmt: skip
        return
    other = _fitting(frame, new, shape_of(value))

    def with_entry(at: list[Expr]) -> None:
        y = load(frame, other, position(frame, other, at)).leaf
        _change(frame, value, at, lambda x: of_entries(frame, name, x, y))

    over(frame, shape_of(value), with_entry, "in place")


def _change(frame: Frame, value: Value, at: list[Expr], function: Callable[[Expr], Expr]) -> None:
    place = position(frame, value, at)
    save(frame, value, place, function(load(frame, value, place).leaf))


def _fitting(frame: Frame, value: Value, shape: list[Expr]) -> Value:
    """An array as a view of a shape that it broadcasts to."""
    mine, strides = shape_of(value), strides_of(value)
    missing = len(shape) - len(mine)
    if missing < 0:
        raise frame.not_closed("an array with more axes than the one it is stored in")
    steps: list[Expr] = [_ZERO] * missing
    for n, stride, wanted in zip(mine, strides, shape[missing:], strict=True):
        if n == wanted:
            steps.append(stride)
            continue
        frame.fail_if(
            both(Op("ne", (n, wanted), "b"), Op("ne", (n, _ONE), "b")), "arrays that do not broadcast"
        )
        steps.append(frame.atom(Op("select", (Op("eq", (n, _ONE), "b"), _ZERO, stride), "i"), "stride"))
    return view(value, value.leaves[1], shape, steps)


# --- subscripts --------------------------------------------------------------------------------------


class Place:
    """What a subscript of an array means: a number, a view, or entries that an array of indices picks."""

    def __init__(self, kind: str, value: Value, at: Any = None) -> None:
        self.kind = kind
        self.value = value
        self.at = at


def _index(frame: Frame, index: Expr, n: Expr) -> Expr:
    """An index from -n to n - 1 as one from 0 to n - 1."""
    if isinstance(index, Const):
        assert isinstance(index.value, int)
        if index.value < 0:
            shifted = frame.atom(Op("add", (n, index), "i"), "at")
            frame.fail_if(Op("lt", (shifted, _ZERO), "b"), "an index out of range")
            return shifted
        frame.fail_if(Op("ge", (index, n), "b"), "an index out of range")
        return index
    index = frame.atom(index, "at")
    shifted = frame.atom(
        Op("select", (Op("lt", (index, _ZERO), "b"), Op("add", (index, n), "i"), index), "i"), "at"
    )
    frame.fail_if(
        Op("or", (Op("lt", (shifted, _ZERO), "b"), Op("ge", (shifted, n), "b")), "b"), "an index out of range"
    )
    return shifted


def _parts(node: ast.expr) -> list[ast.expr]:
    return list(node.elts) if isinstance(node, ast.Tuple) else [node]


def place(frame: Frame, value: Value, node: ast.expr) -> Place:
    """What `value[node]` means."""
    from gendsl.compiler.front.containers import slice_bounds
    from gendsl.compiler.front.expressions import expression

    assert isinstance(value.type, Array)
    parts: list[Any] = []
    for part in _parts(node):
        if isinstance(part, ast.Slice):
            parts.append(part)
            continue
        found = frame.atoms(expression(frame, part))
        if (
            isinstance(found.type, (Tuple, Known))
            and not is_number(found)
            and len(_parts(node)) == 1
            and not (isinstance(found.type, Known) and not isinstance(object_of(found), tuple))
        ):
            parts += items_of(found)  # a[(i, j)]
        else:
            parts.append(found)
    count = sum(not (isinstance(p, Value) and p.type in (NONE.type, Known(...))) for p in parts)
    for i, part in enumerate(parts):
        if isinstance(part, Value) and part.type == Known(...):
            parts[i : i + 1] = [ast.Slice(None, None, None)] * (value.type.rank - count)
            break
    else:
        parts += [ast.Slice(None, None, None)] * (value.type.rank - count)
    picking = [i for i, p in enumerate(parts) if isinstance(p, Value) and isinstance(p.type, (Array, List))]
    if picking:
        return _picked(frame, value, parts, picking)
    offset = value.leaves[1]
    shape: list[Expr] = []
    strides: list[Expr] = []
    axis = 0
    for part in parts:
        if isinstance(part, Value) and part.type == NONE.type:
            shape.append(_ONE)
            strides.append(_ZERO)
            continue
        if axis >= value.type.rank:
            frame.fail("too many indices of an array")
            return Place("number", value, _ZERO)
        n, stride = shape_of(value)[axis], strides_of(value)[axis]
        axis += 1
        if isinstance(part, ast.Slice):
            if part.lower is None and part.upper is None and part.step is None:
                shape.append(n)
                strides.append(stride)
                continue
            start, stop, step = slice_bounds(frame, part, n)
            offset = _plus(frame, offset, _times(frame, start, stride))
            if step == _ONE:
                length = frame.atom(Op("imax", (Op("sub", (stop, start), "i"), _ZERO), "i"), "n")
            else:
                length = frame.atom(Op("range_length", (start, stop, step), "i"), "n")
            shape.append(length)
            strides.append(_times(frame, step, stride))
            continue
        if is_never(part):
            return Place("number", value, _ZERO)
        if not is_number(part) or kind_of(part) == "f":
            frame.fail("an index that is no integer")
            return Place("number", value, _ZERO)
        if kind_of(part) == "b":
            raise frame.not_closed("a truth value as an index of an array")
        at = _index(frame, number_leaf(part, "i"), n)
        offset = _plus(frame, offset, _times(frame, at, stride))
    offset = frame.atom(offset, "at")
    if not shape:
        return Place("number", value, offset)
    return Place("view", view(value, offset, shape, strides))


def _picked(frame: Frame, value: Value, parts: list[Any], picking: list[int]) -> Place:
    assert isinstance(value.type, Array)
    full = [
        isinstance(p, ast.Slice) and p.lower is None and p.upper is None and p.step is None for p in parts
    ]
    indices = [as_array(frame, parts[i], what=("indices", i)) for i in picking]
    if any(is_never(one) for one in indices):
        return Place("number", value, _ZERO)
    kinds = [one.type.kind for one in indices]  # type: ignore[attr-defined]
    if "f" in kinds:
        frame.fail("an index that is no integer")
        return Place("number", value, _ZERO)
    if kinds == ["b"]:
        mask = indices[0]
        rank = mask.type.rank  # type: ignore[attr-defined]
        if picking == [0] and rank == value.type.rank and len(parts) <= value.type.rank:
            same_shape(frame, shape_of(mask), shape_of(value))
            return Place("mask", value, mask)
        if rank == 1 and all(full[i] for i in range(len(parts)) if i not in picking):
            indices = [_positions(frame, mask)]
        else:
            raise frame.not_closed("a mask beside other indices")
    elif "b" in kinds:
        raise frame.not_closed("a mask beside other indices")
    ints = [i for i, p in enumerate(parts) if i not in picking and isinstance(p, Value)]
    if len(picking) == 1 and all(full[i] for i in range(len(parts)) if i not in picking and i not in ints):
        if ints:
            raise frame.not_closed("an array of indices beside an index")
        return Place("axis", value, (picking[0], indices[0]))
    if len(picking) == len(parts) == value.type.rank:
        return Place("points", value, indices)
    raise frame.not_closed("arrays of indices in this combination")


def _positions(frame: Frame, mask: Value) -> Value:
    """The positions of the entries of a mask that hold."""
    return _library(frame, library.positions, [mask])


def at_place(frame: Frame, value: Value, found: Place) -> Value:
    """The value of a subscript."""
    match found.kind:
        case "number":
            return load(frame, value, found.at)
        case "view":
            return found.value
        case "mask":
            return _library(frame, library.compress, [_flat(frame, found.at), _flat(frame, value)])
        case "axis":
            axis, indices = found.at
            return _gathered(frame, value, axis, indices)
    shape, views = _broadcast(frame, found.at)
    assert isinstance(value.type, Array)
    made = filled(frame, value.type.kind, shape, hir.ZEROS[value.type.kind], "points")
    over(
        frame,
        shape,
        lambda at: save(
            frame, made, position(frame, made, at), load(frame, value, _point(frame, value, views, at)).leaf
        ),
        "points",
    )
    return made


def _point(frame: Frame, value: Value, views: list[Value], at: list[Expr]) -> Expr:
    indices = [
        _index(frame, load(frame, one, position(frame, one, at)).leaf, n)
        for one, n in zip(views, shape_of(value), strict=True)
    ]
    return position(frame, value, indices)


def _gathered(frame: Frame, value: Value, axis: int, indices: Value) -> Value:
    """The entries along an axis at an array of indices: a copy."""
    assert isinstance(value.type, Array) and isinstance(indices.type, Array)
    shape = shape_of(value)
    inner = [*shape[:axis], *shape_of(indices), *shape[axis + 1 :]]
    made = filled(frame, value.type.kind, inner, hir.ZEROS[value.type.kind], "gathered")
    rank = indices.type.rank

    def one(at: list[Expr]) -> None:
        index = load(frame, indices, position(frame, indices, at[axis : axis + rank])).leaf
        where = [*at[:axis], _index(frame, index, shape[axis]), *at[axis + rank :]]
        save(frame, made, position(frame, made, at), load(frame, value, position(frame, value, where)).leaf)

    over(frame, inner, one, "gathered")
    return made


def subscript(frame: Frame, value: Value, node: ast.expr) -> Value:
    """`value[node]`."""
    return at_place(frame, value, place(frame, value, node))


def put_at(frame: Frame, value: Value, found: Place, new: Value) -> None:
    """Assign to a subscript."""
    if is_never(new):
        return
    if isinstance(new.type, Union):
        frame.each_alternative(new, lambda one: put_at(frame, value, found, one))
        return
    match found.kind:
        case "number":
            if not is_number(new):
                raise frame.not_closed(f"{describe(new.type)} as an entry of an array")
            save(frame, value, found.at, number_leaf(new))
            return
        case "view":
            target = found.value
            if is_number(new):
                leaf = frame.atom(number_leaf(new))
                over(
                    frame,
                    shape_of(target),
                    lambda at: save(frame, target, position(frame, target, at), leaf),
                    "put",
                )
                return
            source = as_array(frame, new, what="put")
            if isinstance(new.type, Array):  # it may look at the same numbers
                source = as_array(frame, source, copy=True, what="put")
            copy_into(frame, target, _fitting(frame, source, shape_of(target)), "put")
            return
        case "mask" if is_number(new):
            leaf = frame.atom(number_leaf(new))
            mask = found.at

            def one(at: list[Expr]) -> None:
                inner: hir.Body = []
                frame.emit(hir.If(load(frame, mask, position(frame, mask, at)).leaf, inner, []))
                with frame.into(inner):
                    save(frame, value, position(frame, value, at), leaf)

            over(frame, shape_of(value), one, "mask")
            return
        case "axis" | "points":
            _put_picked(frame, value, found, new)
            return
    raise frame.not_closed("an assignment to entries that arrays of indices pick")


def _put_picked(frame: Frame, value: Value, found: Place, new: Value) -> None:
    """Assign to the entries that arrays of indices pick; of one that is picked twice the last stays."""
    if found.kind == "points":
        shape, views = _broadcast(frame, found.at)
    else:
        axis, indices = found.at
        rank = indices.type.rank
        lengths = shape_of(value)
        shape = [*lengths[:axis], *shape_of(indices), *lengths[axis + 1 :]]
    source = None if is_number(new) else _fitting(frame, as_array(frame, new, what="put"), shape)
    leaf = frame.atom(number_leaf(new)) if source is None else _ZERO

    def each(at: list[Expr]) -> None:
        if found.kind == "points":
            where = _point(frame, value, views, at)
        else:
            index = load(frame, indices, position(frame, indices, at[axis : axis + rank])).leaf
            full = [*at[:axis], _index(frame, index, lengths[axis]), *at[axis + rank :]]
            where = position(frame, value, full)
        entry = leaf if source is None else load(frame, source, position(frame, source, at)).leaf
        save(frame, value, where, entry)

    over(frame, shape, each, "put")


def assign(frame: Frame, value: Value, node: ast.expr, new: Value) -> None:
    """`value[node] = new`."""
    put_at(frame, value, place(frame, value, node), new)


def put(frame: Frame, value: Value, indices: list[Value], new: Value) -> None:
    """`value[indices] = new`, with the indices at hand."""
    put_at(frame, value, _at_values(frame, value, indices), new)


def at_indices(frame: Frame, value: Value, indices: list[Value]) -> Value:
    """`value[indices]`, with the indices at hand."""
    return at_place(frame, value, _at_values(frame, value, indices))


def _at_values(frame: Frame, value: Value, indices: list[Value]) -> Place:
    assert isinstance(value.type, Array)
    offset = value.leaves[1]
    for axis, index in enumerate(indices):
        if not is_number(index) or kind_of(index) != "i":
            raise frame.not_closed(f"{describe(index.type)} as an index of an array")
        if axis >= value.type.rank:
            frame.fail("too many indices of an array")
            return Place("number", value, _ZERO)
        at = _index(frame, number_leaf(index, "i"), shape_of(value)[axis])
        offset = _plus(frame, offset, _times(frame, at, strides_of(value)[axis]))
    offset = frame.atom(offset, "at")
    if len(indices) == value.type.rank:
        return Place("number", value, offset)
    return Place(
        "view", view(value, offset, shape_of(value)[len(indices) :], strides_of(value)[len(indices) :])
    )


def row(frame: Frame, value: Value, at: Any) -> Value:
    """`value[at]` along the first axis, within its length."""
    assert isinstance(value.type, Array)
    at = Const(at, "i") if isinstance(at, int) else at
    offset = frame.atom(_plus(frame, value.leaves[1], _times(frame, at, strides_of(value)[0])), "at")
    if value.type.rank == 1:
        return load(frame, value, offset)
    return view(value, offset, shape_of(value)[1:], strides_of(value)[1:])


def _flat(frame: Frame, value: Value) -> Value:
    """All entries as an array of one axis; a copy unless it has one."""
    assert isinstance(value.type, Array)
    if value.type.rank == 1:
        return value
    return reshaped(frame, value, [size_of(frame, value)], copy=True)


def reshaped(frame: Frame, value: Value, shape: list[Expr], *, copy: bool = False) -> Value:
    """The entries in another shape: a view, where the entries lie one behind another; else it fails."""
    assert isinstance(value.type, Array)
    source = as_array(frame, value, copy=True, what="reshaped") if copy else value
    if not _is_fresh(frame, source):  # NumPy's result would be a copy, in which changes are not seen
        step: Expr = _ONE
        for n, stride in zip(reversed(shape_of(source)), reversed(strides_of(source)), strict=True):
            if stride != step:
                frame.fail_if(Op("ne", (stride, step), "b"), "entries that do not lie one behind another")
            step = _times(frame, step, n)
    strides: list[Expr] = []
    size: Expr = _ONE
    for n in reversed(shape):
        strides.insert(0, size)
        size = _times(frame, size, n)
    frame.fail_if(Op("ne", (size, size_of(frame, value)), "b"), "a shape of another size")
    return view(source, source.leaves[1], shape, strides)


def _is_fresh(frame: Frame, value: Value) -> bool:
    """Whether entries surely lie one behind another."""
    size: Expr = _ONE
    for n, stride in zip(reversed(shape_of(value)), reversed(strides_of(value)), strict=True):
        if stride != size:
            return False
        size = n if size == _ONE else Op("mul", (n, size), "i")
    return True


# --- attributes, methods and functions -----------------------------------------------------------------


def attribute(frame: Frame, value: Value, name: str) -> Value:
    """`value.name` of an array."""
    assert isinstance(value.type, Array)
    match name:
        case "shape":
            return make_tuple([_count(n) for n in shape_of(value)])
        case "size":
            return _count(size_of(frame, value))
        case "ndim":
            return known(value.type.rank)
        case "T":
            return view(value, value.leaves[1], shape_of(value)[::-1], strides_of(value)[::-1])
    return Value(Method(value.type, name), value.leaves)


def _count(n: Expr) -> Value:
    return known(n.value) if isinstance(n, Const) else number(n)


def _library(frame: Frame, function: Any, args: list[Value]) -> Value:
    from gendsl.compiler.front import calls

    return NOTHING if any(map(is_never, args)) else calls.call_function(frame, function, args, {})


_METHODS: dict[str, Any] = {
    name: getattr(np, name)
    for name in (
        "sum", "prod", "min", "max", "mean", "var", "std", "any", "all", "argmin", "argmax", "cumsum",
        "cumprod", "dot", "clip", "searchsorted", "repeat", "transpose",
        "diagonal",
    )
}  # fmt: skip


def method(frame: Frame, value: Value, name: str, args: list[Value], named: dict[str, Value]) -> Value:
    """A method of an array."""
    assert isinstance(value.type, Array)
    match name, args:
        case "tolist", []:
            return to_list(frame, value)
        case "copy", [] if not named:
            return as_array(frame, value, copy=True)
        case "item", [] if not named:
            frame.fail_if(Op("ne", (size_of(frame, value), _ONE), "b"), "item() of several entries")
            return number(load(frame, value, value.leaves[1]).leaf)
        case "flatten", [] if not named:
            return reshaped(frame, value, [size_of(frame, value)], copy=True)
        case "ravel", [] if not named:
            return value if value.type.rank == 1 else reshaped(frame, value, [size_of(frame, value)])
        case "astype", [dtype] if not named:
            return as_array(frame, value, _dtype(frame, dtype), copy=True)
        case "reshape", _ if not named:
            return _reshape(frame, value, args)
        case "sort", [] if not named:
            ordered = _library(frame, library.sort, [value])
            copy_into(frame, value, ordered, "sort")
            return NONE
        case "fill", [new]:
            put_at(frame, value, Place("view", value), new)
            return NONE
    if name in _METHODS:
        found = call(frame, _METHODS[name], [value, *args], named)
        if found is not None:
            return found
    raise frame.not_closed(f"the method {name} of an array")


def _reshape(frame: Frame, value: Value, args: list[Value]) -> Value:
    parts = items_of(args[0]) if len(args) == 1 and not is_number(args[0]) else args
    lengths = [number_leaf(part, "i") for part in parts]
    unknown = [i for i, n in enumerate(lengths) if n == Const(-1, "i")]
    if len(unknown) == 1:
        rest: Expr = _ONE
        for i, n in enumerate(lengths):
            if i not in unknown:
                rest = _times(frame, rest, n)
        lengths[unknown[0]] = frame.op("floordiv", (size_of(frame, value), rest), "i")
    return reshaped(frame, value, lengths)


def _dtype(frame: Frame, value: Value) -> str:
    if is_known(value) and isinstance(object_of(value), (type, str)) and object_of(value) in _DTYPES:
        return _DTYPES[object_of(value)]
    raise frame.not_closed("an array of this dtype")


def _shape(frame: Frame, value: Value) -> list[Expr]:
    from gendsl.compiler.front.containers import index_leaf

    parts = [value] if is_number(value) else items_of(value)
    return [index_leaf(frame, part) for part in parts]


def _arguments(
    frame: Frame, names: tuple[str, ...], args: list[Value], named: dict[str, Value]
) -> dict[str, Value]:
    """The arguments of one of NumPy's functions by name; one that is not in its list is refused."""
    if len(args) > len(names):
        raise frame.not_closed("a NumPy function with so many arguments")
    found = dict(zip(names, args, strict=False))
    for name, value in named.items():
        if name not in names or name in found:
            raise frame.not_closed(f"the argument {name} of a NumPy function")
        found[name] = value
    return found


def _make(fill: float) -> Callable[..., Value]:
    def handle(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
        given = _arguments(frame, ("shape", "dtype"), args, named)
        kind = _dtype(frame, given["dtype"]) if "dtype" in given else "f"
        return filled(frame, kind, _shape(frame, given["shape"]), as_kind(Const(fill, "f"), kind))

    return handle


def _full(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = _arguments(frame, ("shape", "fill_value", "dtype"), args, named)
    leaf = number_leaf(given["fill_value"])
    kind = _dtype(frame, given["dtype"]) if "dtype" in given else leaf.kind
    return filled(frame, kind, _shape(frame, given["shape"]), frame.atom(leaf))


def _like(fill: float) -> Callable[..., Value]:
    def handle(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
        given = _arguments(frame, ("a", "dtype"), args, named)
        model = as_array(frame, given["a"], what="like")
        kind = _dtype(frame, given["dtype"]) if "dtype" in given else model.type.kind  # type: ignore[attr-defined]
        return filled(frame, kind, shape_of(model), as_kind(Const(fill, "f"), kind))

    return handle


def _full_like(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = _arguments(frame, ("a", "fill_value", "dtype"), args, named)
    model = as_array(frame, given["a"], what="like")
    kind = _dtype(frame, given["dtype"]) if "dtype" in given else model.type.kind  # type: ignore[attr-defined]
    return filled(frame, kind, shape_of(model), number_leaf(given["fill_value"], kind))


def _diagonal(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    """The diagonal of a matrix, as a view that is not to be written to."""
    (value,) = args
    if named or not isinstance(value.type, Array) or value.type.rank != 2:
        raise frame.not_closed("np.diagonal with these arguments")
    rows, columns = shape_of(value)
    strides = strides_of(value)
    count = frame.atom(Op("imin", (rows, columns), "i"))
    step = frame.atom(Op("add", (strides[0], strides[1]), "i"))
    found = view(value, value.leaves[1], [count], [step])
    return Value(Array(value.type.kind, 1, True), found.leaves)


def _norm(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    if len(args) != 1 or named:
        raise frame.not_closed("np.linalg.norm with these arguments")
    value = as_array(frame, args[0], "f", what="norm")
    return _library(frame, library.norm, [_flat(frame, value)])


def _array(copy: bool) -> Callable[..., Value]:
    def handle(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
        given = _arguments(frame, ("object", "dtype"), args, named)
        kind = (
            _dtype(frame, given["dtype"]) if "dtype" in given and given["dtype"].type != NONE.type else None
        )
        return as_array(frame, given["object"], kind, copy=copy)

    return handle


def _arange(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = _arguments(frame, ("start", "stop", "step"), args, named)
    if len(given) == 1:
        given = {"start": known(0), "stop": given["start"]}
    step = given.get("step", known(1))
    if any(kind_of(one) == "f" for one in (given["start"], given["stop"], step)):
        return _library(frame, library.arange_floats, [given["start"], given["stop"], step])
    return _library(frame, library.arange, [given["start"], given["stop"], step])


def _where(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = _arguments(frame, ("condition", "x", "y"), args, named)
    if len(given) == 1:
        return make_tuple([_positions(frame, as_array(frame, given["condition"]))])
    if all(is_number(one) for one in given.values()):
        from gendsl.compiler.front.numbers import truth

        x, y = number_leaf(given["x"]), number_leaf(given["y"])
        kind = max(x.kind, y.kind, key="bif".index)
        return numpy_number(
            Op("select", (truth(frame, given["condition"]), as_kind(x, kind), as_kind(y, kind)), kind)
        )
    return _several(frame, [given[name] for name in ("condition", "x", "y")], _where_kind, _where_entry)


def _where_kind(kinds: list[str]) -> str:
    return max(kinds[1:], key="bif".index)


def _where_entry(frame: Frame, leaves: list[Expr]) -> Expr:
    kind = _where_kind([leaf.kind for leaf in leaves])
    return Op("select", (as_kind(leaves[0], "b"), as_kind(leaves[1], kind), as_kind(leaves[2], kind)), kind)


def _several(
    frame: Frame,
    values: list[Value],
    kind: Callable[[list[str]], str],
    entry: Callable[[Frame, list[Expr]], Expr],
) -> Value:
    """A function of the entries of values, some of which are numbers."""
    scalars: dict[int, Expr] = {}
    arrays: dict[int, Value] = {}
    for i, value in enumerate(values):
        if is_never(value):
            return NOTHING
        if is_number(value):
            scalars[i] = frame.atom(number_leaf(value))
        else:
            arrays[i] = as_array(frame, value, what=("several", i))
    kinds = [scalars[i].kind if i in scalars else arrays[i].type.kind for i in range(len(values))]  # type: ignore[attr-defined]
    if not arrays:
        return numpy_number(entry(frame, [scalars[i] for i in range(len(values))]))

    def one(entries: list[Expr]) -> Expr:
        left = dict(zip(arrays, entries, strict=True))
        return entry(frame, [scalars[i] if i in scalars else left[i] for i in range(len(values))])

    return _mapped(frame, list(arrays.values()), kind(kinds), one, "several")


def _function(name: str) -> Callable[..., Value]:
    """One of NumPy's elementwise functions that give floats."""

    def handle(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
        from gendsl.compiler.front.numbers import call_elementwise

        if named:
            raise frame.not_closed(f"the argument {next(iter(named))} of a NumPy function")
        if any(isinstance(value.type, Union) for value in args):
            raise frame.not_closed("a NumPy function of a value of several types")
        if all(map(is_number, args)):
            return call_elementwise(frame, name, args)

        def entry(frame: Frame, leaves: list[Expr]) -> Expr:
            if any(leaf.kind == "b" for leaf in leaves):
                raise frame.not_closed("NumPy computes with truth values in 16 bits")
            return Op(name, tuple(as_kind(leaf, "f") for leaf in leaves), "f")

        return _several(frame, args, lambda _: "f", entry)

    return handle


def _extreme(name: str) -> Callable[..., Value]:
    """`np.maximum` and `np.minimum`."""

    def handle(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
        if named or len(args) != 2:
            raise frame.not_closed("these arguments of a NumPy function")

        def kind(kinds: list[str]) -> str:
            return max(kinds, key="bif".index)

        def entry(frame: Frame, leaves: list[Expr]) -> Expr:
            k = kind([leaf.kind for leaf in leaves])
            x, y = (as_kind(leaf, k) for leaf in leaves)
            if k == "f":
                return Op(f"np_{name}", (x, y), "f")
            if k == "b":
                return Op("or" if name == "maximum" else "and", (x, y), "b")
            return Op("imax" if name == "maximum" else "imin", (x, y), "i")

        return _several(frame, args, kind, entry)

    return handle


def _entrywise(name: str, kind: str | None = None) -> Callable[..., Value]:
    """An operation that NumPy has as a function: `np.add`, `np.isnan`, `np.abs`."""

    def handle(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
        if named:
            raise frame.not_closed(f"the argument {next(iter(named))} of a NumPy function")
        if len(args) == 2:
            if all(map(is_number, args)):
                return numpy_number(of_entries(frame, name, *(frame.atom(number_leaf(a)) for a in args)))
            return binary(frame, name, *args)

        def entry(frame: Frame, leaves: list[Expr]) -> Expr:
            leaf = leaves[0]
            if kind == "b":
                return Op(name, (as_kind(leaf, "f"),), "b")
            if name == "sign":
                zero = hir.ZEROS[leaf.kind]
                one, minus = as_kind(Const(1.0, "f"), leaf.kind), as_kind(Const(-1.0, "f"), leaf.kind)
                below = Op("select", (Op("lt", (leaf, zero), "b"), minus, leaf), leaf.kind)
                return Op("select", (Op("gt", (leaf, zero), "b"), one, below), leaf.kind)
            if name == "not":
                return Op("not", (as_kind(leaf, "b"),), "b")
            return Op(name, (leaf,), leaf.kind)

        return _several(frame, args, lambda kinds: kind or kinds[0], entry)

    return handle


_REDUCED: dict[Any, tuple[Any, Any]] = {
    np.sum: (library.sum_all, library.sum_axis), np.prod: (library.prod_all, library.prod_axis),
    np.max: (library.max_all, library.max_axis), np.min: (library.min_all, library.min_axis),
    np.mean: (library.mean_all, library.mean_axis), np.any: (library.any_all, library.any_axis),
    np.all: (library.all_all, library.all_axis), np.argmax: (library.argmax, None), np.argmin:
    (library.argmin, None),
    np.var: (library.var_all, None), np.std: (library.std_all, None),
    np.amax: (library.max_all, library.max_axis), np.amin: (library.min_all, library.min_axis),
}  # fmt: skip


_COUNTING = (np.sum, np.prod, np.mean, np.var, np.std)
"""Reductions for which a truth value counts as 0 or 1."""


def _reduce(frame: Frame, function: Any, args: list[Value], named: dict[str, Value]) -> Value:
    """A sum, an extreme, a mean: of all entries, or along one axis."""
    whole, along = _REDUCED[function]
    given = _arguments(frame, ("a", "axis"), args, named)
    if is_never(given["a"]):
        return NOTHING
    if is_number(given["a"]):
        if "axis" in given:
            raise frame.not_closed("a reduction of a number along an axis")
        given["a"] = make_tuple([given["a"]])
    value = as_array(frame, given["a"], what="reduced")
    if getattr(value.type, "kind", "f") == "b" and function in _COUNTING:
        value = as_array(frame, value, "i", what="counted")
    axis = given.get("axis", NONE)
    if not is_known(axis):
        raise frame.not_closed("an axis that is not a constant")
    if is_never(value):
        return NOTHING
    assert isinstance(value.type, Array)
    where = object_of(axis)
    if where is None or value.type.rank == 1:
        return _library(frame, whole, [_flat(frame, value)])
    if along is None or value.type.rank != 2 or not isinstance(where, int):
        raise frame.not_closed("a reduction along this axis")
    if where % 2 == 0:
        value = attribute(frame, value, "T")
    return _library(frame, along, [value])


def _concatenate(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = _arguments(frame, ("arrays",), args, named)
    if not isinstance(given["arrays"].type, (Tuple, Known)):
        return _concatenate_display(frame, given["arrays"])
    parts = [as_array(frame, part, what=("part", i)) for i, part in enumerate(items_of(given["arrays"]))]
    result = parts[0]
    for i, part in enumerate(parts[1:]):
        frame.unrolled += (("concatenate", i),)
        result = _library(frame, library.concatenate, [result, part])
        frame.unrolled = frame.unrolled[:-1]
    return result


def _concatenate_display(frame: Frame, value: Value) -> Value:
    return _library(frame, library.concatenate_rows, [value])


def _stack(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = _arguments(frame, ("arrays",), args, named)
    return as_array(frame, given["arrays"], what="stack")


def _column_stack(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = _arguments(frame, ("tup",), args, named)
    made = as_array(frame, given["tup"], what="columns")
    if made.type.rank != 2:  # type: ignore[attr-defined]
        raise frame.not_closed("column_stack of these arrays")
    return attribute(frame, made, "T")


_Texts = dict[Any, tuple[Any, tuple[str, ...]]]
_TEXTS: _Texts = {
    np.cumsum: (library.cumsum, ("a",)), np.cumprod: (library.cumprod, ("a",)), np.dot: (library.matmul,
    ("a", "b")),
    np.matmul: (library.matmul, ("a", "b")), np.outer: (library.outer, ("a", "b")),
    np.sort: (library.sort, ("a",)), np.argsort: (library.argsort, ("a",)), np.diag: (library.diag, ("v",)),
    np.trace: (library.trace, ("a",)), np.linalg.cholesky: (library.cholesky, ("a",)),
    np.linalg.solve: (library.solve, ("a", "b")), np.linalg.inv: (library.inv, ("a",)),
    np.linalg.det: (library.det, ("a",)), np.flatnonzero: (library.positions, ("a",)),
    np.vdot: (library.matmul, ("a", "b")), np.inner: (library.matmul, ("a", "b")),
}  # fmt: skip
"""NumPy's functions that `library` has as Python text, and their arguments, all of which are arrays."""
_OF_TRUTHS = (np.sort, np.argsort, np.diag, np.flatnonzero)
"""Those of them that compute nothing with the entries."""


def _diff(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    if not args or not set(named) <= {"prepend", "append"}:
        raise frame.not_closed("np.diff with these arguments")
    value = as_array(frame, args[0], what="diff")
    if len(args) > 1 or (named and getattr(value.type, "rank", 1) != 1):
        raise frame.not_closed("np.diff with these arguments")
    for name, end in named.items():
        more = as_array(frame, make_tuple([end]) if is_number(end) else end, what=name)
        kinds = [one.type.kind for one in (more, value)]  # type: ignore[attr-defined]
        value = _library(frame, library.concatenate, [more, value] if name == "prepend" else [value, more])
        value = as_array(frame, value, "f" if "f" in kinds else "i", what=("diff", name))
    return _library(frame, library.diff, [value])


def _searchsorted(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = _arguments(frame, ("a", "v", "side"), args, named)
    side = given.get("side", known("left"))
    if not is_known(side):
        raise frame.not_closed("a side that is not a constant")
    left = object_of(side) == "left"
    a = as_array(frame, given["a"], what="sorted")
    if is_number(given["v"]):
        return _library(frame, library.search_left if left else library.search_right, [a, given["v"]])
    v = as_array(frame, given["v"], what="wanted")
    return _library(frame, library.search_all_left if left else library.search_all_right, [a, v])


def _bincount(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = _arguments(frame, ("x", "weights", "minlength"), args, named)
    x = as_array(frame, given["x"], what="counted")
    least = given.get("minlength", known(0))
    if "weights" in given and given["weights"].type != NONE.type:
        return _library(
            frame, library.bincount_weights, [x, as_array(frame, given["weights"], what="weights"), least]
        )
    return _library(frame, library.bincount, [x, least])


def _slogdet(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = _arguments(frame, ("a",), args, named)
    return _library(frame, library.slogdet, [as_array(frame, given["a"], "f", what="matrix")])


def _linspace(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = _arguments(frame, ("start", "stop", "num"), args, named)
    return _library(frame, library.linspace, [given["start"], given["stop"], given.get("num", known(50))])


def _eye(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = _arguments(frame, ("N",), args, named)
    return _library(frame, library.eye, [given["N"]])


def _clip(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = _arguments(frame, ("a", "a_min", "a_max"), args, named)
    lower = _extreme("maximum")(frame, [given["a"], given["a_min"]], {})
    return _extreme("minimum")(frame, [lower, given["a_max"]], {})


def _append(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = _arguments(frame, ("arr", "values"), args, named)
    new = given["values"]
    if is_number(new):
        new = make_tuple([new])
    return _concatenate(frame, [make_tuple([given["arr"], new])], {})


def _repeat(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = _arguments(frame, ("a", "repeats"), args, named)
    if not is_number(given["repeats"]):
        raise frame.not_closed("np.repeat with an array of counts")
    if is_number(given["a"]):
        leaf = frame.atom(number_leaf(given["a"]))
        return filled(frame, leaf.kind, [number_leaf(given["repeats"], "i")], leaf)
    return _library(frame, library.repeat, [as_array(frame, given["a"]), given["repeats"]])


def _logsumexp(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = _arguments(frame, ("a",), args, named)
    return _library(frame, library.logsumexp, [_flat(frame, as_array(frame, given["a"], "f"))])


def _transpose(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = _arguments(frame, ("a",), args, named)
    return attribute(frame, as_array(frame, given["a"]), "T")


def _interp(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = _arguments(frame, ("x", "xp", "fp"), args, named)
    points = [as_array(frame, given[name], "f", what=name) for name in ("xp", "fp")]
    if is_number(given["x"]):
        return _library(frame, library.interp, [given["x"], *points])
    return _library(frame, library.interp_all, [as_array(frame, given["x"], "f", what="x"), *points])


def _diag_indices(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = _arguments(frame, ("n",), args, named)
    made = _library(frame, library.arange, [known(0), given["n"], known(1)])
    return make_tuple([made, made])


def _fill_diagonal(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = _arguments(frame, ("a", "val"), args, named)
    indices = _diag_indices(frame, [number(shape_of(given["a"])[0])], {})
    put_at(frame, given["a"], Place("points", given["a"], items_of(indices)), given["val"])
    return NONE


def _cast(kind: str) -> Callable[..., Value]:
    def handle(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
        (value,) = args
        if is_number(value):
            leaf = number_leaf(value)
            if kind == "i" and leaf.kind == "f":
                leaf = frame.op("int_trunc", (leaf,), "i")
            return numpy_number(as_kind(leaf, kind))
        return as_array(frame, value, kind, copy=True)

    return handle


def _functions() -> dict[Any, Callable[..., Value]]:
    import scipy.special

    found: dict[Any, Callable[..., Value]] = {
        function: _function(name) for function, name in ELEMENTWISE.items()
    }
    found.update({
        np.zeros: _make(0.0), np.ones: _make(1.0), np.empty: _make(0.0), np.full: _full, np.zeros_like:
        _like(0.0),
        np.ones_like: _like(1.0), np.empty_like: _like(0.0), np.array: _array(True), np.asarray:
        _array(False),
        np.arange: _arange, np.where: _where, np.maximum: _extreme("maximum"), np.minimum:
        _extreme("minimum"),
        np.concatenate: _concatenate, np.hstack: _concatenate, np.stack: _stack, np.vstack: _stack,
        np.column_stack: _column_stack, np.diff: _diff,
        np.full_like: _full_like, np.diagonal: _diagonal, np.linalg.norm: _norm,
        np.searchsorted: _searchsorted,
        np.bincount: _bincount,
        np.linalg.slogdet: _slogdet, np.linspace: _linspace, np.eye: _eye, np.identity: _eye, np.clip: _clip,
        np.append: _append, np.repeat: _repeat, np.transpose: _transpose, np.float64: _cast("f"), np.int64:
        _cast("i"),
        np.abs: _entrywise("abs"), np.absolute: _entrywise("abs"), np.fabs: _entrywise("abs"),
        np.isnan: _entrywise("isnan", "b"), np.isfinite: _entrywise("isfinite", "b"),
        np.isinf: _entrywise("isinf", "b"), np.sign: _entrywise("sign"), np.add: _entrywise("add"),
        np.subtract: _entrywise("sub"), np.multiply: _entrywise("mul"), np.divide: _entrywise("truediv"),
        np.power: _entrywise("pow"), np.negative: _entrywise("neg"), np.logical_not: _entrywise("not", None),
        np.logical_and: _entrywise("bitand"), np.logical_or: _entrywise("bitor"), np.mod: _entrywise("mod"),
        scipy.special.logsumexp: _logsumexp, np.square: _square,
        np.interp: _interp, np.diag_indices: _diag_indices, np.fill_diagonal: _fill_diagonal,
    })  # fmt: skip
    return found


def _square(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    (value,) = args
    return _entrywise("mul")(frame, [value, value], named)


_FUNCTIONS = _functions()


def call(frame: Frame, function: Any, args: list[Value], named: dict[str, Value]) -> Value | None:
    """A call of one of NumPy's functions; None for any other."""
    from gendsl.compiler.front import families

    checked = families.parameter_check(frame, function, args, named)
    if checked is not None:
        return checked
    found = _called(frame, function, args, named)
    return None if found is None else _numpys(found)


def _numpys(value: Value) -> Value:
    """What a function of NumPy's gives: numbers in it are NumPy's."""
    match value.type:
        case Number():
            return numpy_number(value.leaf)
        case Tuple(_, cls, names):
            return make_tuple([_numpys(one) for one in items_of(value)], cls, names)
    return value


def _called(frame: Frame, function: Any, args: list[Value], named: dict[str, Value]) -> Value | None:
    if function in _REDUCED:
        return _reduce(frame, function, args, named)
    if function in _TEXTS:
        text, names = _TEXTS[function]
        given = _arguments(frame, names, args, named)
        if len(given) != len(names):
            raise frame.not_closed("a NumPy function with these arguments")
        arrays = [as_array(frame, given[name], what=name) for name in names]
        if all(getattr(one.type, "kind", "f") == "b" for one in arrays) and function not in _OF_TRUTHS:
            if function not in (np.cumsum, np.cumprod):
                raise frame.not_closed(f"{function.__name__} of truth values")
            arrays = [as_array(frame, one, "i", what="counted") for one in arrays]
        return _library(frame, text, arrays)
    handler = _FUNCTIONS.get(function)
    if handler is None:
        return None
    if any(map(is_never, args)):
        return NOTHING
    if isinstance(function, np.ufunc) and len(args) != function.nin:
        raise frame.not_closed(f"{function.__name__} of {len(args)} arguments: what is behind its own is out")
    return handler(frame, args, named)
