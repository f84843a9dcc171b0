"""Where numpy asks numbers and arrays with derivatives what its functions do on them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np


class Dispatched:
    """What has numpy's functions by rules of their own.

    The rules are about numbers and arrays, and come after both: `gendsl.transforms.array_functions`, where
    they are all known, sets how one is applied.

    Attributes:
        apply_ufunc: applies an elementwise function.
        apply_function: applies a function of whole arrays.
    """

    __slots__ = ()
    apply_ufunc: ClassVar[Callable[..., Any]]
    apply_function: ClassVar[Callable[..., Any]]

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """numpy's hook for np.exp(x), np.float64(2.0) * x, array * x, ..."""
        return self.apply_ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """numpy's hook for np.sum(x), np.concatenate([x, y]), ..."""
        return self.apply_function(function, args, kwargs)
