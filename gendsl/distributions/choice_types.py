"""What type checkers and editors take `~d` to be: the value of the choice, before which an address may stand.

In a `@gen` function `x = ~normal(0, 1)` is a float, and so is `x = ("x", 0) @ ~normal(0, 1)`; these classes
say so. They exist for type checkers only: when a program runs, values are plain floats, ints, bools and
arrays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    class RealChoice(float):
        """A float, before which an address may stand."""

        def __rmatmul__(self, address: object, /) -> float: ...

    class IntegerChoice(int):
        """An int, before which an address may stand."""

        def __rmatmul__(self, address: object, /) -> int: ...

    class BooleanChoice(bool):  # type: ignore[misc] # bool is final, and nothing else is one
        """A bool, before which an address may stand."""

        def __rmatmul__(self, address: object, /) -> bool: ...

    class ArrayChoice(np.ndarray[Any, np.dtype[Any]]):
        """An array, before which an address may stand."""

        def __rmatmul__(self, address: Any, /) -> np.ndarray[Any, np.dtype[Any]]: ...
