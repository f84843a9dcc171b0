"""NumPy arrays: views share the list of numbers that they look at, operations are loops.

- this module: the parts of an array, arrays of other values, elementwise operations, other shapes
- `array_places`: subscripts; `array_calls`: attributes, methods and functions
- `library_sums` and its like: NumPy's functions in Python, lowered as a user's functions are

Views and operations share the parts of an array, so this is one module.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from gendsl.compiler import hir
from gendsl.compiler.front.frame import Frame
from gendsl.compiler.front.lists import append, list_of, writable
from gendsl.compiler.front.numbers import BINARY, negation
from gendsl.compiler.hir import Const, Expr, Op, both
from gendsl.compiler.hir.types import (
    NEVER,
    Array,
    Iterator,
    Known,
    List,
    Number,
    Tuple,
    Union,
    describe,
)
from gendsl.compiler.hir.values import (
    NOTHING,
    Value,
    as_kind,
    is_never,
    is_number,
    items_of,
    kind_of,
    known,
    may_be_flag,
    number,
    number_leaf,
    numpy_number,
    object_of,
)

_ZERO, _ONE = Const(0, "i"), Const(1, "i")
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


def times(frame: Frame, a: Expr, b: Expr) -> Expr:
    if a == _ONE:
        return b
    if b == _ONE:
        return a
    if isinstance(a, Const) and isinstance(b, Const):
        return Const(a.value * b.value, "i")  # type: ignore[operator]
    return frame.atom(Op("mul", (a, b), "i"), "n")


def plus(frame: Frame, a: Expr, b: Expr) -> Expr:
    if a == _ZERO:
        return b
    if b == _ZERO:
        return a
    if isinstance(a, Const) and isinstance(b, Const):
        return Const(a.value + b.value, "i")  # type: ignore[operator]
    return Op("add", (a, b), "i")


def size_of(frame: Frame, value: Value) -> Expr:
    """The number of entries."""
    return _product(frame, shape_of(value))


def _product(frame: Frame, numbers: list[Expr]) -> Expr:
    result: Expr = _ONE
    for n in numbers:
        result = times(frame, result, n)
    return result


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
        size = times(frame, size, n)
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
            place = plus(frame, place, index)
        elif stride != _ZERO:
            place = plus(frame, place, Op("mul", (index, stride), "i"))
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
        return mapped(frame, [value], kind, lambda leaves: leaves[0], what=("copy", what))
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
    assert isinstance(value.type, List)
    inner = frame.program.facts.item(value.type.site)
    n = frame.atom(frame.language.length(frame, value), "n")
    if inner == NEVER:
        return filled(frame, kind or "f", [n], Const(0.0, "f"), what)
    if isinstance(inner, Union):
        numbers = [one for one in inner.alternatives if is_number(Value(one))]
        inner = numbers[0] if numbers else inner
    probe = Value(inner)
    if isinstance(inner, Number) or (isinstance(inner, Known) and is_number(probe)):
        found = kind or kind_of(probe)
        if kind is None and found != "f" and frame.program.records:
            frame.fail_if(Op("eq", (n, _ZERO), "b"), "an array of an empty list, which is one of floats")
        made = filled(frame, found, [n], hir.ZEROS[found], what)
        over(
            frame,
            [n],
            lambda at: save(
                frame, made, at[0], number_leaf(_entry(frame, frame.language.item(frame, value, at[0])))
            ),
            ("from", what),
        )
        return made
    if isinstance(inner, (List, Array)) or (isinstance(inner, Tuple) and inner.cls is tuple):
        frame.fail_if(Op("eq", (n, _ZERO), "b"), "an array of no rows")
        first = as_array(frame, frame.language.item(frame, value, _ZERO), kind, what=("first", what))
        if is_never(first):
            return NOTHING
        assert isinstance(first.type, Array)
        made = filled(
            frame, first.type.kind, [n, *shape_of(first)], hir.ZEROS[first.type.kind], ("rows", what)
        )

        def fill(at: list[Expr]) -> None:
            one = as_array(frame, frame.language.item(frame, value, at[0]), kind, what=("row", what))
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
    assert isinstance(value.type, Array)
    made = list_of(frame, frame.here, [], ("tolist", value.type.rank))

    def add(at: list[Expr]) -> None:
        inner = row(frame, value, at[0])
        append(frame, made, number(inner.leaf) if is_number(inner) else to_list(frame, inner))

    over(frame, shape_of(value)[:1], add, ("tolist", value.type.rank))
    return made


# --- elementwise -------------------------------------------------------------------------------------


def broadcast(frame: Frame, arrays: list[Value]) -> tuple[list[Expr], list[Value]]:
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


def mapped(
    frame: Frame, arrays: list[Value], kind: str, function: Callable[[list[Expr]], Expr], what: Any = None
) -> Value:
    """A new array of what a function makes of the entries of arrays."""
    shape, views = broadcast(frame, arrays)
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
    return mapped(frame, [value], kind or value.type.kind, lambda leaves: function(leaves[0]))


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


def absolute(leaf: Expr) -> Expr:
    """The absolute value of an entry; a truth value is its own."""
    return leaf if leaf.kind == "b" else Op("abs", (leaf,), leaf.kind)


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
        if "f" in (x.kind, y.kind):
            frame.fail("a bit operation on floats")
            return hir.ZEROS["i"]
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
        if y == Const(0.5, "f"):  # which differs where x is -0.0 or minus infinity
            return Op("np_sqrt", (x,), "f")
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


def check_flags(frame: Frame, name: str, values: Iterable[Value]) -> None:
    """Refuse arithmetic of NumPy's of what may be truth values, for which that is another one."""
    types = [value.type for value in values]
    may_be = [may_be_flag(one) or getattr(one, "kind", None) == "b" for one in types]
    if name in ("add", "sub", "mul", "pow") and all(may_be) and any(map(may_be_flag, types)):
        raise frame.not_closed("arithmetic of NumPy's of numbers that may be truth values")


def binary(frame: Frame, name: str, a: Value, b: Value) -> Value:
    """An operation of two values, one of which is an array."""
    if is_never(a) or is_never(b):
        return NOTHING
    check_flags(frame, name, (a, b))
    if name == "matmul":
        return frame.language.call_numpy(frame, np.matmul, [a, b], {}) or NOTHING
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

    return mapped(frame, arrays, _kind_of_result(frame, name, kinds), one, name)


def in_place(frame: Frame, value: Value, operator: ast.operator, new: Value) -> None:
    """`value op= new`: the entries of the array itself change."""
    assert isinstance(value.type, Array)
    name = BINARY[type(operator)][0]
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
    other = fitting(frame, new, shape_of(value))

    def with_entry(at: list[Expr]) -> None:
        y = load(frame, other, position(frame, other, at)).leaf
        _change(frame, value, at, lambda x: of_entries(frame, name, x, y))

    over(frame, shape_of(value), with_entry, "in place")


def _change(frame: Frame, value: Value, at: list[Expr], function: Callable[[Expr], Expr]) -> None:
    place = position(frame, value, at)
    save(frame, value, place, function(load(frame, value, place).leaf))


def fitting(frame: Frame, value: Value, shape: list[Expr]) -> Value:
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


# --- other shapes ------------------------------------------------------------------------------------


def row(frame: Frame, value: Value, at: Any) -> Value:
    """`value[at]` along the first axis, within its length."""
    assert isinstance(value.type, Array)
    at = Const(at, "i") if isinstance(at, int) else at
    offset = frame.atom(plus(frame, value.leaves[1], times(frame, at, strides_of(value)[0])), "at")
    if value.type.rank == 1:
        return load(frame, value, offset)
    return view(value, offset, shape_of(value)[1:], strides_of(value)[1:])


def flat(frame: Frame, value: Value) -> Value:
    """All entries as an array of one axis; a copy unless it has one."""
    assert isinstance(value.type, Array)
    if value.type.rank == 1:
        return value
    return reshaped(frame, value, [size_of(frame, value)], copy=True)


def reshaped(
    frame: Frame, value: Value, shape: list[Expr], *, copy: bool = False, raveled: bool = False
) -> Value:
    """The entries in another shape: a view, where one stride goes through all; else it fails.

    What the program was given, and so does not change, may be copied: whether NumPy makes a view or a copy
    depends on how entries lie in memory there, and nobody can tell as long as nothing is changed.

    Args:
        raveled: whether a view must have its entries one behind another.
    """
    assert isinstance(value.type, Array)
    frame.fail_if(Op("ne", (_product(frame, shape), size_of(frame, value)), "b"), "a shape of another size")
    if copy:
        return _in_shape(frame, as_array(frame, value, copy=True, what="reshaped"), shape, _ONE)
    if _is_fresh(value):
        return _in_shape(frame, value, shape, _ONE)
    stride, is_line = _line(frame, value)
    if raveled:
        few = Op("le", (size_of(frame, value), _ONE), "b")  # whatever the stride is
        is_line = Op("and", (is_line, Op("or", (few, Op("eq", (stride, _ONE), "b")), "b")), "b")

    if not value.type.frozen:
        frame.fail_if(negation(is_line), "entries that do not lie one behind another")
        return _in_shape(frame, value, shape, stride)

    def copied() -> Value:
        made = reshaped(frame, value, shape, copy=True)
        assert isinstance(made.type, Array)
        return Value(replace(made.type, frozen=True), made.leaves)

    return frame.branch(is_line, lambda: _in_shape(frame, value, shape, stride), copied)


def _in_shape(frame: Frame, value: Value, shape: list[Expr], stride: Expr) -> Value:
    """The entries that one stride goes through in another shape, as a view."""
    strides: list[Expr] = []
    for n in reversed(shape):
        strides.insert(0, stride)
        stride = times(frame, stride, n)
    return view(value, value.leaves[1], shape, strides)


def _line(frame: Frame, value: Value) -> tuple[Expr, Expr]:
    """The stride that goes through all entries of an array, and whether there is one."""
    (*lengths, n), (*strides, stride) = shape_of(value), strides_of(value)
    size = n
    is_line: Expr = hir.TRUE
    for n, step in zip(reversed(lengths), reversed(strides), strict=True):  # axes of one entry do not count
        alone = Op("eq", (size, _ONE), "b")
        fits = Op("eq", (step, Op("mul", (stride, size), "i")), "b")
        fits = Op("or", (alone, Op("or", (Op("eq", (n, _ONE), "b"), fits), "b")), "b")
        is_line = both(is_line, fits)
        stride = frame.atom(Op("select", (alone, step, stride), "i"), "stride")
        size = times(frame, size, n)
    return stride, frame.atom(is_line, "is_line")


def _is_fresh(value: Value) -> bool:
    """Whether entries surely lie one behind another."""
    size: Expr = _ONE
    for n, stride in zip(reversed(shape_of(value)), reversed(strides_of(value)), strict=True):
        if stride != size:
            return False
        size = n if size == _ONE else Op("mul", (n, size), "i")
    return True


def library_call(frame: Frame, function: Any, args: list[Value]) -> Value:
    return NOTHING if any(map(is_never, args)) else frame.language.call_function(frame, function, args, {})
