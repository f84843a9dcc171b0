"""`collections.deque` as a plain class, which the front end lowers as it does a user's."""

from __future__ import annotations

from typing import Any


class Deque:
    """A list that is changed at both ends.

    Attributes:
        changes: how often its length or order may have changed: a loop over it must not see that.
    """

    def __init__(self, iterable: Any = (), maxlen: Any = None) -> None:
        assert maxlen is None or maxlen >= 0
        self._values = [one for one in iterable]  # noqa: C416 (which may be anything)
        self.maxlen = maxlen
        self.changes = 0
        if maxlen is not None and len(self._values) > maxlen:
            del self._values[: len(self._values) - maxlen]

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, index: Any) -> Any:
        return self._values[index]

    def __setitem__(self, index: Any, new: Any) -> None:
        self._values[index] = new

    def __contains__(self, value: Any) -> bool:
        return value in self._values

    def append(self, new: Any) -> None:
        self.changes += 1
        self._values.append(new)
        if self.maxlen is not None and len(self._values) > self.maxlen:
            self._values.pop(0)

    def appendleft(self, new: Any) -> None:
        self.changes += 1
        self._values.insert(0, new)
        if self.maxlen is not None and len(self._values) > self.maxlen:
            self._values.pop()

    def extend(self, iterable: Any) -> None:
        for one in [*iterable]:
            self.append(one)

    def extendleft(self, iterable: Any) -> None:
        for one in [*iterable]:
            self.appendleft(one)

    def pop(self) -> Any:
        self.changes += 1
        return self._values.pop()

    def popleft(self) -> Any:
        self.changes += 1
        return self._values.pop(0)

    def rotate(self, n: Any = 1) -> None:
        self.changes += 1
        count = len(self._values)
        if count > 0:
            start = (count - n) % count
            self._values = self._values[start:] + self._values[:start]

    def insert(self, index: Any, new: Any) -> None:
        assert self.maxlen is None or len(self._values) < self.maxlen
        self.changes += 1
        self._values.insert(index, new)

    def remove(self, value: Any) -> None:
        self.changes += 1
        self._values.remove(value)

    def clear(self) -> None:
        self.changes += 1
        self._values.clear()

    def reverse(self) -> None:
        self._values.reverse()

    def count(self, value: Any) -> int:
        return self._values.count(value)

    def index(self, value: Any) -> int:
        return self._values.index(value)

    def copy(self) -> Any:
        return Deque(self._values, self.maxlen)
