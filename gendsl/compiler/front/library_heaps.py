"""What functions of `heapq` do with lists, in plain Python; see `front`. The source is Python's own."""

from __future__ import annotations

from typing import Any


def push(heap: Any, item: Any) -> None:
    """`heappush(heap, item)`."""
    heap.append(item)
    _move_down(heap, 0, len(heap) - 1)


def pop(heap: Any) -> Any:
    """`heappop(heap)`."""
    last = heap.pop()
    if not heap:
        return last
    item = heap[0]
    heap[0] = last
    _move_up(heap, 0)
    return item


def order(heap: Any) -> None:
    """`heapify(heap)`."""
    n = len(heap)
    for i in range(n // 2):
        _move_up(heap, n // 2 - 1 - i)


def replace(heap: Any, item: Any) -> Any:
    """`heapreplace(heap, item)`."""
    first = heap[0]
    heap[0] = item
    _move_up(heap, 0)
    return first


def push_and_pop(heap: Any, item: Any) -> Any:
    """`heappushpop(heap, item)`."""
    if heap and heap[0] < item:
        first = heap[0]
        heap[0] = item
        _move_up(heap, 0)
        return first
    return item


def _move_down(heap: Any, start: int, at: int) -> None:
    item = heap[at]
    while at > start:
        above = (at - 1) >> 1
        parent = heap[above]
        if not item < parent:
            break
        heap[at] = parent
        at = above
    heap[at] = item


def _move_up(heap: Any, at: int) -> None:
    end, start, item = len(heap), at, heap[at]
    child = 2 * at + 1
    while child < end:
        right = child + 1
        if right < end and not heap[child] < heap[right]:
            child = right
        heap[at] = heap[child]
        at = child
        child = 2 * at + 1
    heap[at] = item
    _move_down(heap, start, at)
