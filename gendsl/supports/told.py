"""What kind of values a choice has, told from one of them, where nothing else says so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gendsl.supports.array import RealArray
from gendsl.supports.base import Support
from gendsl.supports.discrete import Boolean, Integers
from gendsl.supports.product import Repeated
from gendsl.supports.scalar import Real


@dataclass(frozen=True)
class Anything(Support):
    """Values of any kind, each with measure one."""

    discrete = True
    shape = None

    def contains(self, value: Any) -> bool:
        return True


def support_told(value: Any) -> Support:
    """The largest support that a value is in: floats and arrays of them are continuous, others discrete."""
    if isinstance(value, (bool, np.bool_)):
        return Boolean()
    if isinstance(value, (int, np.integer)):
        return Integers()
    if isinstance(value, (float, np.floating)):
        return Real()
    if isinstance(value, np.ndarray) and value.dtype.kind in "fiub" and value.ndim:
        if value.dtype.kind == "f":
            return RealArray(value.shape)
        if value.ndim == 1:
            return Repeated(Boolean() if value.dtype.kind == "b" else Integers(), len(value))
    return Anything()
