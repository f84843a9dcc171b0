"""The texts of kernels that were compiled, of which the last few of each are kept."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from gendsl.compiler.moves import NotClosed
from gendsl.inference.moves import Part
from gendsl.runtime.arguments import private
from gendsl.runtime.change import is_same

if TYPE_CHECKING:
    from gendsl.compiler.closed_move import ClosedKernel


class _Compiled(NamedTuple):
    """What was made of kernels for a program and arguments, or why nothing was.

    It lives as long as the first of the kernels.
    """

    kernels: tuple[weakref.ref[Any], ...]
    model: Any
    args: tuple[Any, ...]
    closed: ClosedKernel | None
    reason: str

    def is_of(self, kernels: Sequence[Any], model: Any, args: tuple[Any, ...]) -> bool:
        """Whether it is what would be made of these."""
        return (
            len(kernels) == len(self.kernels)
            and all(known() is one for known, one in zip(self.kernels, kernels, strict=True))
            and model == self.model
            and len(args) == len(self.args)
            and all(map(_are_same, self.args, private(args, self.args)))
            and (self.closed is None or self.closed.changed() is None)
        )


MOST_KEPT = 4
"""How many texts of kernels are kept, of other programs and arguments, the last ones."""

_KNOWN: weakref.WeakKeyDictionary[Any, list[_Compiled]] = weakref.WeakKeyDictionary()


def known(parts: Sequence[Part], model: Any, args: tuple[Any, ...]) -> ClosedKernel | None:
    """The text of kernels for a program and arguments, if it was one of the last that were used.

    Raises:
        NotClosed: it was found that there is none.
    """
    kernels = [part.kernel for part in parts]
    kept = _KNOWN.get(kernels[0], [])
    found = next((one for one in kept if one.is_of(kernels, model, args)), None)
    if found is None:
        return None
    _keep(kernels[0], found)
    if found.closed is None:
        raise NotClosed(found.reason)
    return found.closed


def compiled(parts: Sequence[Part], model: Any, args: tuple[Any, ...]) -> ClosedKernel:
    """The text of kernels for a program and arguments.

    Raises:
        NotClosed: there is none.
    """
    closed = known(parts, model, args)
    if closed is None:
        from gendsl.compiler.closed_move import ClosedKernel  # with the compiler, which takes long to import

        reason = ""
        try:
            closed = ClosedKernel(model, args, [part.move for part in parts])
        except NotClosed as error:
            reason = str(error)
        kernels = tuple(weakref.ref(part.kernel) for part in parts)
        _keep(parts[0].kernel, _Compiled(kernels, model, args, closed, reason))
    if closed is None:
        raise NotClosed(reason)
    return closed


def _keep(kernel: Any, used: _Compiled) -> None:
    """Keep a text that is used, with the last ones."""
    _KNOWN[kernel] = [used, *(one for one in _KNOWN.get(kernel, ()) if one is not used)][:MOST_KEPT]


def _are_same(known: Any, given: Any) -> bool:
    """Whether an argument, made private with one that is known at hand, is that one as it is now."""
    return known is given or is_same(known, given)
