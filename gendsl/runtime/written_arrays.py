"""The entries of a container that a loop fills as array code has them: a column, or one of rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gendsl.runtime.columns import Column
from gendsl.runtime.lowering.tables import NotColumnsError, as_column, as_rows
from gendsl.runtime.writers import STORES, Writers


class AsArrays(Writers):
    """A container as arrays, made once; where its loop is kept as columns, they are there."""

    __slots__ = ("_column",)

    _column: Any

    def made(self) -> Any:
        """The list, dict or array itself."""
        raise TypeError("defined by Written")

    def column(self) -> Any:
        column = self._as_array(as_column)
        if type(column) is np.ndarray and column.ndim > 1:
            raise NotColumnsError
        return column

    def as_rows(self) -> Any:
        rows = self._as_array(as_rows)
        if type(rows) is range or rows.ndim != 2:
            raise NotColumnsError
        return rows

    def _as_array(self, convert: Callable[[Any], Any]) -> Any:
        """All entries as array code has them: the column that holds them, or what `convert` makes."""
        if self._column is None:
            frames = self.frames
            column = None
            if self._is_filled() and type(frames) in STORES:
                column = frames.column(self.value)
            self._column = convert(self.made()) if column is None else column.array()
        return self._column

    def _is_filled(self) -> bool:
        """Whether entry t is that of iteration t, and there is no other."""
        base = self.base
        if self.kind == "append":
            return type(base) is list and not base
        if self.count != (0, 1):
            return False
        return not len(base) if type(base) is dict else type(base) is list and len(base) == len(self.frames)

    def _fills_at_once(self, made: Any) -> bool:
        """Put all entries into an array, if they are a column of which it holds every element as it is."""
        frames = self.frames
        if self.count is None or type(made) is not np.ndarray or made.ndim > 1 or type(frames) not in STORES:
            return False
        column = frames.column(self.value)
        if type(column) is not Column or not len(column) or not np.can_cast(column.dtype, made.dtype):
            return False
        first, step = self.count
        end = first + step * len(column)
        if end - step >= len(made):
            return False  # an error, where it is put in by itself
        made[first:end:step] = column.array()
        return True
