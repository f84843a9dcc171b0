"""Handles: what a transform writes `handle[address]` of, to name an address of a trace.

An input or output of a run is the handle of its whole trace; `handle[address]` is a deeper one. `read`,
`write` and `copy` act on handles (see `gendsl.transforms.statements`), and nothing else does: a handle is
no value.
"""

from __future__ import annotations

from typing import Any, NoReturn

from gendsl.address import Path, as_path, format_address
from gendsl.errors import HandleError, LostDerivativeError
from gendsl.transforms.arrays import DualArray
from gendsl.transforms.forward import Dual


class Handle:
    """An address in a trace. It names a choice and is no value: `read` gives the value.

    Attributes:
        path: the address; () is the whole trace.
        state: the input or output of the run whose address it is.
    """

    __slots__ = ()
    path: Path
    state: Any

    def __getitem__(self, address: Any) -> Any:
        path = address if type(address) is tuple else (address,)
        try:
            hash(path)
        except TypeError:
            _refuse_address(path)
        return self._at(self.path + path)

    def _at(self, path: Path) -> Handle:
        raise TypeError(f"{type(self).__name__} must define _at")

    def _value_by(self) -> str:
        """What gives the value at the address."""
        return "the value that you wrote there"

    def __repr__(self) -> str:
        return f"{self.state.name}[{format_address(self.path)}]" if self.path else self.state.name

    def _no_value(self, *_: Any, **__: Any) -> NoReturn:
        if not self.path:
            problem = f"{self!r} is a whole trace, not a value"
            raise HandleError(problem, fix=f"name an address: {self!r}['x']")
        raise HandleError(
            f"{self!r} is an address, not a value",
            address=self.path,
            fix=f"use {self._value_by()}",
        )

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _no_value
    __bool__ = __float__ = __int__ = __index__ = __len__ = __iter__ = __array__ = _no_value
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __neg__ = __abs__ = _no_value
    __truediv__ = __rtruediv__ = __pow__ = __rpow__ = __mod__ = __rmod__ = __matmul__ = _no_value
    __floordiv__ = __rfloordiv__ = __and__ = __rand__ = __or__ = __ror__ = __xor__ = __invert__ = _no_value
    __round__ = __floor__ = __ceil__ = __trunc__ = __complex__ = __hash__ = _no_value


def _refuse_address(path: Path) -> NoReturn:
    """Say why `path` can't be an address."""
    for component in path:
        if isinstance(component, Handle):
            component._no_value()
        if type(component) is Dual or type(component) is DualArray:
            raise LostDerivativeError(
                "a continuous value is part of an address",
                fix="build addresses from discrete values: read(..., discrete)",
            )
    as_path(path)
    raise AssertionError("a path that can't be hashed has a component that can't")  # pragma: no cover
