"""Forward-mode differentiation of arrays: a float array with the tangent of each entry.

A `DualArray` is to `Dual` what an array is to a number: `value` of some shape, and `tangent` of shape
(*value.shape, n), with tangent[..., i] = d value / d coordinate i for the n >= 1 coordinates that were known
when it was made. Arrays of different n combine: coordinates that one of them doesn't know have derivative 0.

It behaves as the array does: arithmetic, numpy's functions, indexing, and item assignment, also through
slices and reshaped views, which share memory with the array they come from. An entry is a `Dual`. It never
turns into a plain array on its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from gendsl.errors import ValueTypeError
from gendsl.transforms.dispatch import Dispatched
from gendsl.transforms.forward import Dual, dual, lost, real

_KEEP_ARRAY = (
    "use it as an array: arithmetic, indexing and numpy.* functions accept it. To fill another array, start "
    "from np.zeros_like(x) or np.zeros(n, dtype=object), or build a list and call np.array(list)"
)


# --- tangents ------------------------------------------------------------------------------------


def padded(tangent: np.ndarray, n: int) -> np.ndarray:
    """`tangent` over n coordinates: zeros for those that it doesn't know."""
    known = tangent.shape[-1]
    if known >= n:
        return tangent
    wider = np.zeros((*tangent.shape[:-1], n))
    wider[..., :known] = tangent
    return wider


def _record(n: int) -> np.dtype[np.void]:
    return np.dtype((np.void, 8 * n))


def records(tangent: np.ndarray) -> np.ndarray:
    """Each entry's tangent as one opaque item, so that an array of tangents has the shape of the value.

    Whatever only moves entries about (indexing, reshaping, joining) is then one call for all coordinates,
    and gives a view of the tangents exactly where it gives a view of the values.
    """
    return tangent.view(_record(tangent.shape[-1]))[..., 0]


def floats(items: np.ndarray) -> np.ndarray:
    """The inverse of `records`, of shape (*items.shape, n)."""
    return items[..., np.newaxis].view(np.float64)


def scalar(value: Any, row: np.ndarray) -> Dual:
    """One entry of an array. Its zeros are left out, unless it has nothing else."""
    return _from_dense(float(value), row.tolist())


def _from_dense(value: float, dense: list[float]) -> Dual:
    # All zeros are kept: they may be the 0 in 0 * inf, which an empty tangent would hide.
    return dual(value, {i: d for i, d in enumerate(dense) if d} or dict(enumerate(dense)))


def finish(value: Any, tangent: np.ndarray) -> Any:
    """A result: a `Dual` if it is a number, else a `DualArray`; NaN has no derivative."""
    value = np.asarray(value, dtype=np.float64)
    undefined = np.isnan(value)
    if undefined.any():
        tangent = np.where(undefined[..., np.newaxis], np.nan, tangent)
    if value.ndim == 0:
        return scalar(value, tangent)
    return DualArray(value, tangent)


def split(x: Any) -> tuple[np.ndarray, np.ndarray | None]:
    """Value and tangent of anything that numpy would take for an array; tangent None for a plain one."""
    x = as_dual_array(x)
    if type(x) is DualArray:
        return x.value, x.tangent
    plain = np.asarray(x)
    if plain.dtype.kind == "O" and all(real(entry) is not None for entry in plain.flat):
        plain = plain.astype(np.float64)  # np.zeros(n, dtype=object) before anything was stored in it
    if plain.dtype.kind not in "biuf":
        raise ValueTypeError(
            f"{x!r} can't be combined with numbers that carry derivatives",
            fix="use real numbers and arrays of them",
        )
    return plain, None


def width(parts: list[tuple[np.ndarray, np.ndarray | None]]) -> int:
    """The number of coordinates of a combination."""
    widths: list[int] = [tangent.shape[-1] for _, tangent in parts if tangent is not None]
    return max(widths)


# --- conversion ----------------------------------------------------------------------------------


def holds_dual(thing: Any) -> bool:
    """Whether a number, array or nested list carries derivatives."""
    kind = type(thing)
    if kind is Dual or kind is DualArray:
        return True
    if isinstance(thing, (list, tuple)):
        return any(map(holds_dual, thing))
    if isinstance(thing, np.ndarray) and thing.dtype == object:
        return any(map(holds_dual, thing.flat))
    return False


def as_dual_array(thing: Any) -> Any:
    """A `Dual`, or a nested list or object array with some in it, as a `DualArray`.

    Anything else is returned as it is.

    Raises:
        ValueTypeError: derivatives are mixed with what isn't a number.
    """
    if type(thing) is DualArray or not holds_dual(thing):
        return thing
    if type(thing) is Dual:
        return _collect([thing]).reshape(())
    if isinstance(thing, np.ndarray):
        flat = _collect(list(thing.flat))
        return flat.reshape((*thing.shape, *flat.shape[1:]))
    return _collect(thing)


def _collect(items: list[Any] | tuple[Any, ...]) -> DualArray:
    """Numbers, or arrays of one shape, joined along a new first axis."""
    numbers = [x if type(x) is Dual else real(x) for x in items]
    if any(x is None for x in numbers):
        parts = [split(x) for x in items]
        n = width(parts)
        tangents = [np.zeros((*v.shape, n)) if t is None else padded(t, n) for v, t in parts]
        return DualArray(np.stack([v for v, _ in parts]), np.stack(tangents))
    n = 1 + max((i for x in numbers if type(x) is Dual for i in x.tangent), default=0)
    tangent = np.zeros((len(numbers), n))
    for row, x in enumerate(numbers):
        if type(x) is Dual:
            for i, d in x.tangent.items():
                tangent[row, i] = d
    return DualArray(np.array([x.value if type(x) is Dual else x for x in numbers]), tangent)


def seed_array(value: Any, offset: int, embedding: np.ndarray) -> DualArray:
    """The array whose free coordinates are the coordinates offset, offset + 1, ...

    Args:
        value: the array; it is copied.
        embedding: d value.ravel() / d coordinates, of shape (value size, dim). The last weight of a simplex
            has dim = size - 1 entries of -1 in it.
    """
    array = np.array(value, dtype=np.float64, order="C")
    tangent = np.zeros((array.size, max(offset + embedding.shape[1], 1)))
    tangent[:, offset : offset + embedding.shape[1]] = embedding
    return DualArray(array, tangent.reshape((*array.shape, tangent.shape[1])))


# --- the array -----------------------------------------------------------------------------------


def _by_numpy(function: Callable[..., Any]) -> Callable[..., Any]:
    """The method of arrays that does what numpy's function does."""

    def method(self: DualArray, *args: Any, **kwargs: Any) -> Any:
        return function(self, *args, **kwargs)

    method.__name__ = function.__name__
    method.__doc__ = f"numpy.{function.__name__} of this array."
    return method


def short(entries: list[Any]) -> DualArray:
    """The vector of these `Dual`s; arrays are made of it when one is needed."""
    vector = DualArray.__new__(DualArray)
    vector._entries = entries
    vector._value = vector._tangent = vector._parent = vector._view = None
    return vector


class DualArray(Dispatched, NDArrayOperatorsMixin):
    """A float array and its tangent: tangent[..., i] = d value / d coordinate i."""

    # A view keeps the array that it looks into and how it does, and takes its tangent from there: then both
    # see the same tangents even after an assignment has brought in new coordinates.
    #
    # A short vector is the list of its entries, and no array, until something other than its entries is
    # asked for; so are slices of it. The list is never changed: what assigns makes arrays first, of the
    # vector and of all that it is a slice of, and a slice of what has become an array becomes one too.
    __slots__ = ("_entries", "_parent", "_tangent", "_value", "_view")
    _entries: list[Any] | None
    _value: np.ndarray | None
    _tangent: np.ndarray | None
    _parent: DualArray | None
    _view: Callable[[np.ndarray], np.ndarray] | None

    def __init__(self, value: Any, tangent: Any) -> None:
        array = self._value = np.asarray(value, dtype=np.float64, order="C")
        dense = np.asarray(tangent, dtype=np.float64, order="C")
        if dense.shape[:-1] != array.shape or dense.ndim == 0 or dense.shape[-1] == 0:
            raise ValueError(f"a tangent of shape {dense.shape} for a value of shape {array.shape}")
        self._tangent = dense
        self._entries = self._parent = self._view = None

    def _listed(self) -> list[Any] | None:
        """The entries, while they are a list."""
        parent = self._parent
        if parent is not None and self._entries is not None and parent._listed() is None:
            self._entries = None
        return self._entries

    @property
    def value(self) -> np.ndarray:
        """The array without its derivatives."""
        value = self._value
        if value is not None:
            return value
        if self._parent is not None and self._view is not None:
            value = self._view(self._parent.value)
        else:
            assert self._entries is not None
            dense = _collect(self._entries)
            value, self._tangent = dense._value, dense._tangent
        self._value, self._entries = value, None
        assert value is not None
        return value

    @property
    def tangent(self) -> np.ndarray:
        """d value / d coordinates, of shape (*value.shape, n)."""
        if self._parent is None or self._view is None:
            if self._value is None:
                self.value  # noqa: B018 (it makes the arrays)
            assert self._tangent is not None
            return self._tangent
        return floats(self._view(records(self._parent.tangent)))

    def derive(self, rearrange: Callable[[np.ndarray], Any]) -> Any:
        """The result of a function that only moves entries: a view where numpy gives one, else a copy."""
        value = rearrange(self.value)
        if not isinstance(value, np.ndarray):
            item = np.asarray(rearrange(records(self.tangent)))
            return scalar(value, floats(item))
        if not np.may_share_memory(value, self.value):
            return DualArray(value, floats(rearrange(records(self.tangent))))
        view = DualArray.__new__(DualArray)
        view._value, view._tangent, view._parent, view._view = value, None, self, rearrange
        view._entries = None
        return view

    def _grow(self, n: int) -> None:
        root = self
        while root._parent is not None:
            root = root._parent
        root._tangent = padded(root.tangent, n)

    def __repr__(self) -> str:
        return f"DualArray({self.value!r}, {self.tangent!r})"

    # --- indexing --------------------------------------------------------------------------------

    def __getitem__(self, key: Any) -> Any:
        listed = self._entries if self._parent is None else self._listed()
        if listed is not None:
            if type(key) is int and -len(listed) <= key < len(listed):
                return listed[key]
            if type(key) is slice:
                view = short(listed[key])
                view._parent, view._view = self, lambda array: array[key]
                return view
        if type(key) is int and self.value.ndim == 1:
            return scalar(self.value[key], self.tangent[key])
        if holds_dual(key):
            raise lost("using x as an index")
        return self.derive(lambda array: array[key])

    def __setitem__(self, key: Any, item: Any) -> None:
        if holds_dual(key):
            raise lost("using x as an index")
        value, tangent = split(item)
        self.value[key] = value
        n = self.tangent.shape[-1]
        if tangent is None:
            items = np.zeros((), dtype=_record(n))
        else:
            n = max(n, tangent.shape[-1])
            self._grow(n)
            items = records(np.ascontiguousarray(padded(tangent, n)))
        records(self.tangent)[key] = items

    def __iter__(self) -> Iterator[Any]:
        listed = self._entries if self._parent is None else self._listed()
        if listed is not None:
            return iter(listed)
        if self.value.ndim == 1:
            return map(_from_dense, self.value.tolist(), self.tangent.tolist())
        return (self[i] for i in range(len(self)))

    def __len__(self) -> int:
        listed = self._listed()
        return len(self.value if listed is None else listed)

    def __contains__(self, item: Any) -> bool:
        return bool(np.any(self == item))

    def __bool__(self) -> bool:
        return bool(self.value)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.value.shape

    @property
    def ndim(self) -> int:
        return 1 if self._listed() is not None else self.value.ndim

    @property
    def size(self) -> int:
        return self.value.size

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.value.dtype

    # --- shape and copies ------------------------------------------------------------------------

    @property
    def T(self) -> DualArray:
        return self.transpose()

    def transpose(self, *axes: Any) -> DualArray:
        return self._array(lambda array: array.transpose(*axes))

    def reshape(self, *shape: Any, order: Any = "C") -> DualArray:
        return self._array(lambda array: array.reshape(*shape, order=order))

    def ravel(self, order: Any = "C") -> DualArray:
        return self._array(lambda array: array.ravel(order))

    def squeeze(self, axis: Any = None) -> DualArray:
        return self._array(lambda array: array.squeeze(axis))

    def swapaxes(self, axis1: int, axis2: int) -> DualArray:
        return self._array(lambda array: array.swapaxes(axis1, axis2))

    def flatten(self, order: Any = "C") -> DualArray:
        return self._array(lambda array: array.flatten(order))

    def copy(self, order: Any = "C") -> DualArray:
        listed = self._listed()
        if listed is not None:
            return short(listed)
        return DualArray(self.value.copy(), self.tangent.copy())

    def __copy__(self) -> DualArray:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> DualArray:
        return self.copy()

    def _array(self, rearrange: Callable[[np.ndarray], np.ndarray]) -> DualArray:
        result: DualArray = self.derive(rearrange)
        return result

    def astype(self, dtype: Any, *args: Any, **kwargs: Any) -> Any:
        """A copy; `dtype` can be float64, or object for an array of `Dual`s."""
        if np.dtype(dtype) == object:
            return self.__array__(object)
        if np.dtype(dtype) != np.float64:
            raise lost(f"x.astype({dtype!r})", _KEEP_ARRAY)
        return self.copy()

    def tolist(self) -> Any:
        """The entries as (nested) lists of `Dual`s."""
        return self.__array__(object).tolist()

    def item(self, *index: Any) -> Dual:
        """One entry."""
        entry: Dual = self.__array__(object).item(*index)
        return entry

    def fill(self, value: Any) -> None:
        self[...] = value

    def sort(self, axis: int = -1) -> None:
        self[...] = np.sort(self, axis=axis)

    # --- what numpy's functions do ---------------------------------------------------------------

    sum = _by_numpy(np.sum)
    mean = _by_numpy(np.mean)
    prod = _by_numpy(np.prod)
    cumsum = _by_numpy(np.cumsum)
    cumprod = _by_numpy(np.cumprod)
    var = _by_numpy(np.var)
    std = _by_numpy(np.std)
    max = _by_numpy(np.max)
    min = _by_numpy(np.min)
    clip = _by_numpy(np.clip)
    round = _by_numpy(np.round)
    dot = _by_numpy(np.dot)
    trace = _by_numpy(np.trace)
    diagonal = _by_numpy(np.diagonal)
    take = _by_numpy(np.take)
    repeat = _by_numpy(np.repeat)
    argmax = _by_numpy(np.argmax)
    argmin = _by_numpy(np.argmin)
    argsort = _by_numpy(np.argsort)
    searchsorted = _by_numpy(np.searchsorted)
    nonzero = _by_numpy(np.nonzero)
    any = _by_numpy(np.any)
    all = _by_numpy(np.all)

    # --- what would drop the derivative ----------------------------------------------------------

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """An array of `Dual`s if objects are asked for; never an array of floats."""
        if dtype is None or np.dtype(dtype) != object:
            raise lost("turning x into a plain array, or storing it in one,", _KEEP_ARRAY)
        entries = np.empty(self.size, dtype=object)
        rows = self.tangent.reshape(self.size, self.tangent.shape[-1])
        for i, value in enumerate(self.value.ravel()):
            entries[i] = scalar(value, rows[i])
        return entries.reshape(self.shape)

    def __float__(self) -> NoReturn:
        raise lost("float(x), or math.* of an array,", "take the entry x[0], or use the numpy.* function")

    def __int__(self) -> NoReturn:
        raise lost("int(x)", _KEEP_ARRAY)

    def __index__(self) -> NoReturn:
        raise lost("using x as an integer (an index, a size, a count)", _KEEP_ARRAY)

    def __complex__(self) -> NoReturn:
        raise lost("complex(x)", _KEEP_ARRAY)

    def __round__(self, digits: int | None = None) -> NoReturn:
        raise lost("round(x)", _KEEP_ARRAY)
