"""Handles: what a transform writes `handle[address]` of, to name an address of a trace.

An input or output of a run is the handle of its whole trace; `handle[address]` is a deeper one. `read`,
`write` and `copy` act on handles (see `gendsl.transforms.statements`), and nothing else does: a handle is
no value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from gendsl.address import Path, as_path, format_address
from gendsl.choices.unknown import explain_unknown
from gendsl.errors import HandleError, LostDerivativeError, ReadError
from gendsl.transforms.arrays import DualArray
from gendsl.transforms.forward import Dual
from gendsl.transforms.returned import undifferentiated

if TYPE_CHECKING:
    from gendsl.transforms.run import Input, Output


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

    def __repr__(self) -> str:
        return f"{self.state.name}[{format_address(self.path)}]" if self.path else self.state.name

    def _no_value(self, *_: Any, **__: Any) -> NoReturn:
        if not self.path:
            problem = f"{self!r} is a whole trace, not a value"
            raise HandleError(problem, fix=f"name an address: {self!r}['x']")
        reader = f"read({self!r})" if isinstance(self, InputHandle) else "the value that you wrote there"
        raise HandleError(
            f"{self!r} is an address, not a value",
            address=self.path,
            fix=f"use {reader}",
        )

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _no_value
    __bool__ = __float__ = __int__ = __index__ = __len__ = __iter__ = __array__ = _no_value
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __neg__ = __abs__ = _no_value
    __truediv__ = __rtruediv__ = __pow__ = __rpow__ = __mod__ = __rmod__ = __matmul__ = _no_value
    __floordiv__ = __rfloordiv__ = __and__ = __rand__ = __or__ = __ror__ = __xor__ = __invert__ = _no_value
    __round__ = __floor__ = __ceil__ = __trunc__ = __complex__ = __hash__ = _no_value


class InputHandle(Handle):
    """An address in an input trace."""

    __slots__ = ()
    state: Input

    def _at(self, path: Path) -> Handle:
        return DeeperInput(self.state, path)

    @property
    def retval(self) -> Any:
        """What the program, or the call at this address, returned.

        Floats in it may be used to decide what to do, but not in what is written: how they depend on the
        choices is not known. `write` refuses what depends on them.
        """
        self.state.asked = True
        if not self.path:
            return undifferentiated(self.state.trace.retval)
        calls = self.state.trace.calls
        if self.path not in calls:
            chosen = self.state.find(self.path) is not None
            raise ReadError(
                f"{self.state.name} has no traced call at this address",
                address=self.path,
                fix=f"it is a choice: read({self!r})" if chosen else explain_unknown(self.path, calls),
            )
        return undifferentiated(calls[self.path])

    def __contains__(self, address: Any) -> bool:
        self.state.asked = True
        return self[address].path in self.state.trace


class OutputHandle(Handle):
    """An address in an output trace."""

    __slots__ = ()
    state: Output

    def _at(self, path: Path) -> Handle:
        return DeeperOutput(self.state, path)

    def __setitem__(self, address: Any, value: Any) -> NoReturn:
        raise HandleError(
            f"values are not assigned to {self!r}", fix=f"call write({self[address]!r}, value)"
        )

    def __contains__(self, address: Any) -> bool:
        raise HandleError(
            f"`in {self!r}` can't be asked: {self.state.name} is an output trace",
            fix=f"ask it of an input trace, such as `in {self.state.transform.inputs[0]}`",
        )


class DeeperInput(InputHandle):
    """An address in an input trace that isn't all of it."""

    __slots__ = ("path", "state")

    def __init__(self, state: Input, path: Path) -> None:
        self.state = state
        self.path = path

    @property
    def args(self) -> NoReturn:
        """Refused: only a whole trace has arguments."""
        raise HandleError(
            "only a whole trace has arguments", address=self.path, fix=f"use {self.state.name}.args"
        )


class DeeperOutput(OutputHandle):
    """An address in an output trace that isn't all of it."""

    __slots__ = ("path", "state")

    def __init__(self, state: Output, path: Path) -> None:
        self.state = state
        self.path = path


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
