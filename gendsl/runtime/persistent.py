"""Vectors that never change: a new version shares all but O(log n) of its memory with the old one.

The elements are in leaves of 32, the leaves in a tree of nodes of 32, all of them plain lists that nobody
changes once a vector holds them (Bagwell's trie, as in Clojure, without a tail). To copy one of them counts a
reference to each of its elements, which takes the longer the more lie far apart: so they are not wider.
Every node but those on the right edge is full, so an index past the end finds a list too short: IndexError.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, Generic, TypeVar

T = TypeVar("T")
Node = list[Any]

_BITS = 5
_WIDTH = 1 << _BITS
_IN_NODE = _WIDTH - 1


class PersistentVector(Generic[T]):
    """A sequence whose every change is a new sequence; indices are from 0 to len - 1."""

    __slots__ = ("_root", "_shift", "_size")

    _root: Node
    _shift: int  # of the root's index within an element's: 0 for a leaf, then 5, 10, 15, ...
    _size: int

    @staticmethod
    def of(elements: Iterable[T] = ()) -> PersistentVector[T]:
        level: Node = list(elements)
        size = len(level)
        shift = 0
        while len(level) > _WIDTH:
            level = [level[start : start + _WIDTH] for start in range(0, len(level), _WIDTH)]
            shift += _BITS
        return _vector(level, shift, size)

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, i: int) -> T:
        if i < 0:
            raise IndexError(i)
        shift = self._shift
        node = self._root[i >> shift]
        while shift:
            shift -= _BITS
            node = node[i >> shift & _IN_NODE]
        return node  # type: ignore[no-any-return]

    def set(self, i: int, element: T) -> PersistentVector[T]:
        if i < 0:
            raise IndexError(i)
        shift = self._shift
        root = node = self._root.copy()
        k = i >> shift
        while shift:
            child = node[k] = node[k].copy()
            node = child
            shift -= _BITS
            k = i >> shift & _IN_NODE
        node[k] = element
        new: PersistentVector[T] = _new(PersistentVector)
        new._root = root
        new._shift = self._shift
        new._size = self._size
        return new

    def set_two(self, i: int, first: T, second: T) -> PersistentVector[T]:
        """With two elements from index i on."""
        new = self.set(i, first)
        i += 1
        if not i & _IN_NODE:
            return new.set(i, second)
        node, shift = new._root, new._shift
        while shift:
            node = node[i >> shift & _IN_NODE]
            shift -= _BITS
        node[i & _IN_NODE] = second  # in a leaf that is the new vector's own
        return new

    def set_many(self, changes: Mapping[int, T] | Iterable[tuple[int, T]]) -> PersistentVector[T]:
        """All the changes at once, the last one winning where an index comes twice."""
        pairs = list(changes.items() if isinstance(changes, Mapping) else changes)
        for i, _ in pairs:
            if not 0 <= i < self._size:
                raise IndexError(i)
        if len(pairs) * 8 > self._size:
            elements = list(self)
            for i, element in pairs:
                elements[i] = element
            return PersistentVector.of(elements)
        root = self._root.copy()
        own = {id(root)}  # the nodes that are this version's alone; they live as long as root does
        for i, element in pairs:
            node, shift = root, self._shift
            while shift:
                k = (i >> shift) & _IN_NODE
                child = node[k]
                if id(child) not in own:
                    child = node[k] = child.copy()
                    own.add(id(child))
                node = child
                shift -= _BITS
            node[i & _IN_NODE] = element
        return _vector(root, self._shift, self._size)

    def append(self, element: T) -> PersistentVector[T]:
        return self._with([element])

    def extend(self, elements: Iterable[T]) -> PersistentVector[T]:
        added = list(elements)
        if len(added) * 8 > self._size:
            return PersistentVector.of([*self, *added])
        vector, start = self, 0
        while start < len(added):
            room = _WIDTH - (vector._size & _IN_NODE)
            vector = vector._with(added[start : start + room])
            start += room
        return vector

    def _with(self, added: list[T]) -> PersistentVector[T]:
        """With elements at the end that fit into the last leaf, or into a new one if that is full."""
        size, shift = self._size, self._shift
        if size == _WIDTH << shift:
            return _vector([self._root, _branch(added, shift)], shift + _BITS, size + len(added))
        if not shift:
            return _vector(self._root + added, 0, size + len(added))
        root = node = self._root.copy()
        while True:
            k = (size >> shift) & _IN_NODE
            below = shift - _BITS
            if k == len(node):
                node.append(_branch(added, below))
                break
            if not below:
                node[k] = node[k] + added  # extend would leave room for more
                break
            child = node[k] = node[k].copy()
            node, shift = child, below
        return _vector(root, self._shift, size + len(added))

    def truncate(self, size: int) -> PersistentVector[T]:
        """The first `size` elements."""
        if not 0 <= size <= self._size:
            raise IndexError(size)
        if size == self._size:
            return self
        if size == 0:
            return PersistentVector.of()
        root, shift, last = self._root, self._shift, size - 1
        while shift and last >> shift == 0:
            root, shift = root[0], shift - _BITS
        top = shift
        root = node = root[: (last >> shift) + 1]
        while shift:
            below = shift - _BITS
            width = (last >> below) & _IN_NODE
            child = node[-1] = node[-1][: width + 1]
            node, shift = child, below
        return _vector(root, top, size)

    def __iter__(self) -> Iterator[T]:
        return _elements(self._root, self._shift)

    def iterate(self, start: int) -> Iterator[T]:
        """The elements from index `start` on; getting there costs O(log n)."""
        if start >= self._size:
            return iter(())
        if start < 0:
            raise IndexError(start)
        parts: list[Iterator[T]] = []
        node, shift = self._root, self._shift
        while shift:
            k = (start >> shift) & _IN_NODE
            if k + 1 < len(node):
                parts.append(_elements(node[k + 1 :], shift))
            node, shift = node[k], shift - _BITS
        parts.append(iter(node[start & _IN_NODE :]))
        return chain.from_iterable(reversed(parts))

    def __reduce__(self) -> tuple[Any, ...]:
        return PersistentVector.of, (list(self),)

    def __repr__(self) -> str:
        return f"PersistentVector.of({list(self)!r})"


_new: Any = object.__new__


def _vector(root: Node, shift: int, size: int) -> PersistentVector[Any]:
    vector: PersistentVector[Any] = _new(PersistentVector)
    vector._root, vector._shift, vector._size = root, shift, size
    return vector


def _branch(leaf: Node, shift: int) -> Node:
    """The leaf as the only one of a node with this shift."""
    while shift:
        leaf = [leaf]
        shift -= _BITS
    return leaf


def _elements(node: Iterable[Any], shift: int) -> Iterator[Any]:
    while shift:
        node = chain.from_iterable(node)
        shift -= _BITS
    return iter(node)
