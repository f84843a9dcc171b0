"""The texts of kernels that were compiled, of which the last few of each are kept."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from gendsl.compiler.hir.failures import NotClosed
from gendsl.compiler.hir.observations import Strings, observed_alone
from gendsl.compiler.moves import Step, all_within, are_alike
from gendsl.inference.compiled import thresholds
from gendsl.inference.compiled.looked_at import LookedAt
from gendsl.inference.compiled.mistakes import as_refusals
from gendsl.inference.compiled.moves import Part
from gendsl.runtime.arguments import private
from gendsl.runtime.change import is_same

if TYPE_CHECKING:
    from gendsl.compiler.run.chain_kernel import ChainKernel
    from gendsl.compiler.run.closed_move import ClosedKernel


class _Compiled(NamedTuple):
    """What was made of kernels for a program and arguments, or why nothing was.

    It lives as long as the first of the kernels, or that which this was made of in warm-up.
    """

    kernels: tuple[weakref.ref[Any], ...]
    steps: tuple[Step | None, ...]
    model: Any
    args: tuple[Any, ...]
    observed: frozenset[Strings]
    closed: ChainKernel | None
    reason: str

    def is_of(self, kernels: Sequence[Any]) -> bool:
        """Whether it was made of these."""
        return len(kernels) == len(self.kernels) and all(
            known() is one for known, one in zip(self.kernels, kernels, strict=True)
        )

    def is_like(self, steps: Sequence[Step | None]) -> bool:
        """Whether these steps have the same text, of other values."""
        mine, theirs = ([one for step in every for one in all_within(step)] for every in (self.steps, steps))
        return (
            [step is None for step in steps] == [step is None for step in self.steps]
            and len(mine) == len(theirs)
            and all(map(are_alike, mine, theirs))
            and _repeated(mine) == _repeated(theirs)
        )

    def is_for(self, model: Any, args: tuple[Any, ...], observed: frozenset[Strings]) -> bool:
        """Whether it is what would be made for these."""
        return bool(
            model == self.model
            and observed == self.observed
            and len(args) == len(self.args)
            and all(map(_are_same, self.args, private(args, self.args)))
            and (self.closed is None or (self.closed.changed() is None and self.closed.fits()))
        )


def _repeated(steps: Sequence[Step]) -> list[int]:
    """For each step where it comes first."""
    first: dict[int, int] = {}
    return [first.setdefault(id(one), place) for place, one in enumerate(steps)]


_KNOWN: weakref.WeakKeyDictionary[Any, list[_Compiled]] = weakref.WeakKeyDictionary()


def known(parts: Sequence[Part], trace: Any) -> ChainKernel | None:
    """The text of kernels for the program and arguments of a trace, if it was one of the last that were used.

    Raises:
        NotClosed: it was found that there is none.
    """
    kernels, steps = [part.kernel for part in parts], [part.move for part in parts]
    kept = _KNOWN.get(_origin(kernels[0]), [])
    if not kept:
        return None
    asked = trace.gen_fn, trace.args, observed_of(trace)
    found = next((one for one in kept if one.is_of(kernels) and one.is_for(*asked)), None)
    if found is None:
        alike = next((one for one in kept if one.is_like(steps) and one.is_for(*asked)), None)
        if alike is None:
            return None
        closed, reason = None, alike.reason
        if alike.closed is not None:
            try:
                closed = alike.closed.retuned(steps)
            except NotClosed as error:
                reason = str(error)
        found = _made(parts, asked, closed, reason)
    _keep(kernels[0], found)
    if found.closed is None:
        raise NotClosed(found.reason)
    return found.closed


def observed_of(trace: Any) -> frozenset[Strings]:
    """The strings of the addresses of a trace that have nothing but observations."""
    if isinstance(trace, LookedAt) and trace.left_observed is not None:
        return trace.left_observed  # where others had some, too, the chain would not have come there
    paths = trace.choices if trace.scored_from is None else trace.scored_from
    return observed_alone(paths, trace.observed_paths)


def compiled(parts: Sequence[Part], trace: Any, *, as_text: bool = False) -> ChainKernel:
    """The text of kernels for the program and arguments of a trace.

    Args:
        as_text: whether it is to run as Python text, so that no machine code is made of it.

    Raises:
        NotClosed: there is none.
    """
    closed = known(parts, trace)
    if closed is None:
        from gendsl.inference.compiled.kept_kernels import (
            kernel_of,  # with the compiler, which takes long to import
        )

        asked, reason = (trace.gen_fn, trace.args, observed_of(trace)), ""
        model, args, observed = asked
        try:
            with as_refusals(f"a chain of {model.name}"):
                closed = kernel_of(model, args, [part.move for part in parts], observed, as_text=as_text)
        except NotClosed as error:
            reason = str(error)
        _keep(parts[0].kernel, _made(parts, asked, closed, reason))
    if closed is None:
        raise NotClosed(reason)
    return closed


def compiled_text(parts: Sequence[Part], trace: Any) -> ClosedKernel:
    """The text of kernels for the program and arguments of a trace, to run as Python.

    Raises:
        NotClosed: there is none.
    """
    from gendsl.inference.compiled.kept_kernels import with_text  # with the compiler

    return with_text(compiled(parts, trace, as_text=True))


def _made(
    parts: Sequence[Part],
    asked: tuple[Any, tuple[Any, ...], frozenset[Strings]],
    closed: ChainKernel | None,
    reason: str,
) -> _Compiled:
    kernels, steps = tuple(weakref.ref(part.kernel) for part in parts), tuple(part.move for part in parts)
    return _Compiled(kernels, steps, *asked, closed, reason)


def _origin(kernel: Any) -> Any:
    """What a kernel has in common with those that warm-up makes of it; of most kernels themselves."""
    return getattr(kernel, "method", kernel)


def _keep(kernel: Any, used: _Compiled) -> None:
    """Keep a text that is used, with the last ones."""
    origin = _origin(kernel)
    others = (one for one in _KNOWN.get(origin, ()) if one is not used)
    _KNOWN[origin] = [used, *others][: thresholds.MOST_TEXTS]


def _are_same(known: Any, given: Any) -> bool:
    """Whether an argument, made private with one that is known at hand, is that one as it is now."""
    return known is given or is_same(known, given)
