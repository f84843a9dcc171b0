"""k exchangeable components, numbered 0..k-1: what birth/death and split/merge moves know of them.

The choices of component j lie under one or several namespaces, at `(*namespace, j)` or below. Beside them a
model may have vectors with an entry for each component, and allocations: the number of a component for
each data point.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gendsl.address import Path, as_path, format_address
from gendsl.distributions import Distribution
from gendsl.errors import (
    CoverageError,
    GenDSLError,
    InvolutionError,
    KernelError,
    Location,
    is_users_file,
)
from gendsl.inference import component_choices
from gendsl.inference.component_choices import distribution_in
from gendsl.inference.involutive import Check, involutive
from gendsl.inference.kernel import Kernel
from gendsl.runtime.generative import GenFunction
from gendsl.runtime.trace import ReferenceTrace, definition
from gendsl.runtime.travel import register
from gendsl.supports import FiniteSet, Support
from gendsl.transforms.language import Transform, TransformPair
from gendsl.transforms.outputs import Copy, Write
from gendsl.transforms.run import Run


@dataclass(frozen=True, eq=False, repr=False)
class ComponentKernel(Kernel):
    """The kernel of a move made by `birth_death` or `split_merge`.

    Attributes:
        q: its auxiliary program, called with the trace.
        f: its transform. `involutive(kernel.q, kernel.f)` and `check_involutive` take the two.
    """

    q: GenFunction
    f: ComponentTransform


@dataclass(frozen=True)
class Place:
    """Where one of k + 1 components is, and how the k others are numbered without it.

    Attributes:
        index: its number.
        others: k, how many others there are.
        swap: whether the last of the others takes this number when the component is gone, so that at most
            one is renumbered; if not, all beyond `index` move down by one and stay in order.
    """

    index: int
    others: int
    swap: bool

    def insert(self, values: Sequence[Any], new: Any) -> list[Any]:
        """The entries of all components, from those of the others and that of the component."""
        result = list(values)
        if not self.swap:
            result.insert(self.index, new)
        elif self.index == self.others:
            result.append(new)
        else:
            result.append(result[self.index])
            result[self.index] = new
        return result

    def remove(self, values: Sequence[Any]) -> tuple[list[Any], Any]:
        """The inverse of `insert`: the entries of the others, and that of the component."""
        result = list(values)
        if not self.swap:
            removed = result.pop(self.index)
        else:
            removed = result[self.index]
            last = result.pop()
            if self.index < self.others:
                result[self.index] = last
        return result, removed

    def number(self, j: int) -> int:
        """The number, among all, of the one that is number j among the others."""
        if self.swap:
            return self.others if j == self.index else j
        return j + 1 if j >= self.index else j

    def number_without(self, j: int) -> int:
        """The inverse of `number`."""
        if self.swap:
            return self.index if j == self.others else j
        return j - 1 if j > self.index else j

    @property
    def renumbered(self) -> Iterable[tuple[int, int]]:
        """The others whose number changes: (number among the others, number among all)."""
        if self.swap:
            return [(self.index, self.others)] if self.index < self.others else []
        return [(j, j + 1) for j in range(self.index, self.others)]


class one_of(Distribution):
    """One of some integers, with equal probabilities."""

    parameters = ("numbers",)
    __slots__ = ("numbers",)

    def __init__(self, numbers: Sequence[int]) -> None:
        self.numbers = tuple(numbers)

    def sample(self, rng: np.random.Generator) -> int:
        return self.numbers[int(rng.integers(len(self.numbers)))]

    def logpdf(self, x: Any) -> float:
        """-log n for each of the n numbers."""
        return -float(np.log(len(self.numbers))) if x in self.numbers else -np.inf

    @property
    def support(self) -> Support:
        return FiniteSet(self.numbers)


# --- what the makers of moves are given ------------------------------------------------------------


@dataclass(frozen=True)
class Number:
    """How many components a trace has, and may have.

    Attributes:
        address: that of the choice, or None where `function` computes the number from the trace.
        least, most: bounds beside the support of the choice.
        move: what is bounded, for errors.
    """

    address: Path | None
    function: Callable[[Any], Any] | None
    least: float
    most: float
    move: str

    def of(self, trace: ReferenceTrace) -> int:
        """k, for a trace.

        Raises:
            KernelError: there is no such number; or there are more components than the move may lead to, so
                it couldn't lead there back.
        """
        if self.address is not None:
            if self.address not in trace:
                raise KernelError(
                    f"{self.move} asks for the number of components at {format_address(self.address)}, "
                    "where the trace has no choice",
                    address=self.address,
                    fix=f'say where it is: {self.move}(..., number="n")',
                )
            k = int(trace[self.address])
        else:
            assert self.function is not None
            k = int(self.function(trace))
        if k > self.most:
            raise KernelError(
                f"the trace has {k} components, and {self.move} was given most={self.most:g}: from there it "
                "could neither add one nor take one away",
                address=self.address,
                fix=f"start from a trace with at most {self.most:g}, or give a larger most= (other kernels "
                "of the chain must keep to it, too)",
            )
        return k

    def may_be(self, trace: ReferenceTrace, k: int) -> bool:
        """Whether the move may lead to k components."""
        if not self.least <= k <= self.most:
            return False
        return self.address is None or distribution_in(trace, self.address).support.contains(k)


def as_number(move: str, number: Any, least: float, most: float) -> Number:
    """The `Number` that the arguments of a move stand for."""
    for name, bound in (("least", least), ("most", most)):
        if isinstance(bound, bool) or not isinstance(bound, (int, float)) or bound != bound:
            raise KernelError(f"{move} got {name}={bound!r}", fix=f"{name} is a number of components")
    if not 0 <= least < most:
        raise KernelError(
            f"{move} got least={least!r} and most={most!r}", fix="0 <= least < most, or k could never change"
        )
    if callable(number):
        return Number(None, number, least, most, move)
    return Number(as_path(number), None, least, most, move)


def as_namespaces(move: str, namespaces: tuple[Any, ...]) -> tuple[Path, ...]:
    """The namespaces as paths."""
    paths = tuple(map(as_path, namespaces))
    if not paths:
        raise KernelError(
            f"{move} was given no namespace", fix=f'name those of the components: {move}("mu", "sigma")'
        )
    for i, path in enumerate(paths):
        for other in paths[:i]:
            if path[: len(other)] == other or other[: len(path)] == path:
                raise KernelError(
                    f"{move}: of the namespaces {format_address(other)} and {format_address(path)} one holds "
                    "the other",
                    fix="name each choice of a component once",
                )
    return paths


def as_order(order: Any, spaces: tuple[Path, ...]) -> tuple[Path, Path]:
    """The address of the choice that components are ordered by: before the component's number, and after it.

    Args:
        order: its address without the number: a namespace, or a choice below one of `spaces`.
    """
    path = as_path(order)
    above = max((space for space in spaces if path[: len(space)] == space), key=len, default=path)
    return above, path[len(above) :]


def check_probability(move: str, name: str, value: Any) -> Callable[[Any], Any]:
    """A function of the trace that gives a probability, from such a function or a number."""
    if callable(value):
        return value  # type: ignore[no-any-return]
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0.0 < value < 1.0:
        raise KernelError(
            f"{move} got {name}={value!r}",
            fix="a probability between 0 and 1 (at the ends of the range of k it is set right), or a "
            "function of the trace that gives one",
        )
    return lambda trace: value


def chance_of_more(may_grow: bool, may_shrink: bool, chance: Callable[[Any], Any], trace: Any) -> float:
    """The probability of the way that adds a component: 1 or 0 where only one way is open."""
    if not (may_grow and may_shrink):
        return 1.0 if may_grow else 0.0
    p = float(chance(trace))
    if not 0.0 < p < 1.0:
        raise KernelError(
            f"the probability of adding a component is {p}, and both ways are open here",
            fix="a move that is never proposed can't be undone: keep it between 0 and 1",
        )
    return p


def as_others(others: Any) -> tuple[Transform, Transform]:
    if not isinstance(others, TransformPair):
        raise KernelError(f"a move got others={others!r}", fix="write others=pair(grow, shrink)")
    for f in (others.forward, others.backward):
        if "place" not in f.parameters or len(f.inputs) != 2:
            raise KernelError(
                f"transform {f.name} is not told where the component is", location=f.location,
                fix=f"write def {f.name}(model_in, aux_in, *, model_out, aux_out, place=None)",
            )  # fmt: skip
    return others.forward, others.backward


# --- what errors point at --------------------------------------------------------------------------


Giver = Callable[[Run, int, Path, Write | Copy], Location | None]
"""Which of the user's functions gave an entry of a run: of output 0 or 1, at a path; None if none did."""


@dataclass(frozen=True, eq=False, repr=False)
class ComponentTransform(Transform):
    """A transform made here of a user's functions, which is what its errors point at.

    Attributes:
        where: the line that made the move.
        giver: which function gave an entry; what none of them gave was given by the move itself.
    """

    where: Location | None
    giver: Giver

    @property
    def location(self) -> Location:
        """The line that made the move."""
        return super().location if self.where is None else self.where

    def run(self, inputs: Any, protected: Any, there: Run | None = None) -> Run:
        run = super().run(inputs, protected, there)
        generated = (self.origin.filename, component_choices.__file__)
        for number, output in enumerate(run.outputs):
            for path, entry in output.entries.items():
                if entry.line[0] in generated:
                    place = self.giver(run, number, path, entry) or self.location
                    entry.line = place.filename, place.lineno, place.function
        return run


def pointing(f: Transform, where: Location | None, giver: Giver) -> ComponentTransform:
    """A transform whose errors point at what it was made of."""
    return ComponentTransform(f.origin, f.body, f.inputs, f.outputs, f.parameters, where, giver)


def _reduce(f: ComponentTransform) -> Any:
    plain = Transform(f.origin, f.body, f.inputs, f.outputs, f.parameters)
    return pointing, (plain, f.where, f.giver)


register(ComponentTransform, _reduce)


def defined_at(function: Any) -> Location | None:
    """Where a function or program of the user's is defined; None if that isn't known."""
    if isinstance(function, GenFunction):
        place = definition(function)
        return place if is_users_file(place.filename) else None
    function = getattr(function, "func", function)  # of a partial
    code = getattr(function, "__code__", None)
    if code is None or not is_users_file(code.co_filename):
        return None
    return Location(code.co_filename, code.co_firstlineno, code.co_name)


# --- the kernel ------------------------------------------------------------------------------------


def component_kernel(
    q: GenFunction, f: ComponentTransform, check: Check, name: str, coverage: str, inverse: str
) -> ComponentKernel:
    """The kernel of a generated move. Errors that point into this library point at the user's line instead.

    Args:
        coverage: what to do where an address is neither written nor copied.
        inverse: what to do where the way back leads elsewhere.
    """
    kernel = involutive(q, f, check=check, name=name)
    generated = (f.origin.filename, component_choices.__file__)

    def step(trace: Any, rng: np.random.Generator) -> tuple[Any, Any]:
        try:
            return kernel.step(trace, rng)
        except GenDSLError as error:
            if error.location is None or error.location.filename in generated:
                error.location = f.where
            if isinstance(error, CoverageError) and "neither writes nor copies" in error.problem:
                error.fix = coverage
            if isinstance(error, InvolutionError):
                hint = error.fix if error.fix is not None and "sign" in error.fix else None
                error.fix = inverse if hint is None else f"{inverse}; {hint}"
            raise

    known = {"move": kernel.move, "told": kernel.told}
    return ComponentKernel(step, name, q, f, reversible=kernel.reversible, **known)
