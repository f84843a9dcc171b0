"""The memory of a sampler that is run again and again, each time with other values of the same choices."""

from __future__ import annotations

import math
from graphlib import CycleError, TopologicalSorter
from typing import Any, NamedTuple

import numpy as np

from gendsl.compiler import hir
from gendsl.compiler.hir.addresses import Addresses, array_of
from gendsl.compiler.hir.encode import Words, room
from gendsl.compiler.hir.failures import FailedText, NotClosed
from gendsl.compiler.hir.templates import Template
from gendsl.compiler.hir.types import Array, Joined, Number
from gendsl.compiler.llvm.native_draws import generator_address
from gendsl.compiler.llvm.native_layout import FAILED, TemplateWords, Word
from gendsl.compiler.run.closed_sampler import ClosedSampler, SamplerContext
from gendsl.compiler.run.drawn_choices import DrawnChoices, Known
from gendsl.compiler.run.given import Given

_TYPES: dict[str, set[type]] = {
    "f": {float, np.float64, int, np.int64}, "i": {int, np.int64}, "b": {bool, np.bool_}
}  # fmt: skip
"""What numbers of a kind are given as; a trace has the kind's own."""
_PLACES, _SPARSE = 1024, 32
"""How many places there are at most, in all, and for each choice: they are copied for each trace."""
_DTYPES = {"f": np.float64, "i": np.int64, "b": np.bool_}


class Made(NamedTuple):
    """What a program made.

    Attributes:
        log_prob: the log density of all choices.
        weight: that of the choices that were given.
        size: how many choices there are.
        choices: the choices.
        retval: what the program returned, where the text gives that.
        states: the states of the generator before and after.
    """

    log_prob: float
    weight: float
    size: int
    choices: DrawnChoices
    retval: Any
    states: tuple[Any, Any]


def check_called(closed: ClosedSampler) -> None:
    """
    Raises:
        NotClosed: each call of the sampler would take long, or may need more of the machine's stack than
            there is.
    """
    calls = {
        id(function): [id(one.function) for one in hir.walk(function.body) if isinstance(one, hir.Call)]
        for function in hir.functions(closed.main)
    }
    try:
        TopologicalSorter(calls).prepare()
    except CycleError:
        raise NotClosed("a function that calls itself") from None
    if closed.may_meet or any(
        template.calls is not None
        or template.is_of_paths
        or not template.parts
        or any(isinstance(part, Joined) for part in template.parts)
        for template in closed.lowered.templates
    ):
        raise NotClosed("addresses of which one may be another's, or below it")


class _Own(NamedTuple):
    """Which of the given choices are of a template, and where they lie."""

    template: Template
    which: list[int]
    places: np.ndarray


class CalledSampler(SamplerContext):
    """The memory of a sampler for choices that are given at the same addresses each time.

    Attributes:
        given: at which.
        known: what is known of addresses, for the choices of all runs.
        draws: whether choices may be drawn.
        is_spent: whether it takes more memory than what is made does, and is to be given back.
        arrays: the arrays that are given, by the numbers of templates and the places of choices.
    """

    closed: ClosedSampler
    most_places = 1 << 16

    def __init__(
        self, closed: ClosedSampler, args: tuple[Any, ...], given: Given, values: list[Any]
    ) -> None:
        """
        Raises:
            NotClosed: the arguments or choices are not of the types that the text is for.
        """
        self.given = given
        self.known = Known(closed.lowered.templates)
        self.own: list[_Own] = []
        self.arrays: dict[int, dict[int, Any]] = {}
        self.generator: Any = None
        self.draws, self.is_spent = True, False
        self.values: list[Any] = []
        self.kept = Words()
        first = closed.layout.result_word(2)
        self.returned = slice(first, closed.layout.result_word(len(closed.lowered.main.results)))
        flattened = given.flattened(values)
        addresses = Addresses(closed.lowered)
        where = [addresses.place(path, one) for path, one in zip(given.paths, flattened, strict=True)]
        self.where = [(template, indices) for template, indices, _ in where]
        super().__init__(closed, args, dict(zip(given.paths, flattened, strict=True)))
        self._locate()
        self.give(values)

    def _choices(self) -> None:
        super()._choices()
        if self.values:  # there is more room than before
            self._locate()
            self.give(self.values)

    def _locate(self) -> None:
        """Find where the choices lie."""
        found: dict[int, tuple[list[int], list[int]]] = {}
        for which, (template, indices) in enumerate(self.where):
            own = found.setdefault(template.number, ([], []))
            own[0].append(which)
            own[1].append(self.index(template, indices))
        templates = self.closed.lowered.templates
        self.own = [_Own(templates[number], which, np.array(at)) for number, (which, at) in found.items()]

    def give(self, values: list[Any]) -> None:
        """Give the choices other values.

        Raises:
            NotClosed: they are not of the types that the text is for.
        """
        flattened = self.given.flattened(values)
        self.kept, self.arrays = Words(), {}
        for template, which, places in self.own:
            own = flattened if len(which) == len(flattened) else [flattened[one] for one in which]
            if isinstance(template.type, Number):
                self._give_numbers(template, template.type.kind, places, own)
            else:
                self._give_arrays(template, places, own)
        self.values = values

    def _give_numbers(self, template: Template, kind: str, places: np.ndarray, own: list[Any]) -> None:
        if not _TYPES[kind].issuperset(map(type, own)):
            raise NotClosed("a value of another type than before")
        if template.weighs and not all(own):
            raise NotClosed("a factor that is given as False")
        try:
            found: np.ndarray = np.array(own, _DTYPES[kind])
        except OverflowError:
            raise NotClosed("an integer that is too large") from None
        self.columns[template.number][0][places] = (
            found.view(np.int64) if kind == "f" else found.astype(np.int64)
        )

    def _give_arrays(self, template: Template, places: np.ndarray, own: list[Any]) -> None:
        kind, columns = template.type, self.columns[template.number]
        assert isinstance(kind, Array)
        arrays = [array_of(one, kind) for one in own]
        if not all(type(one) is np.ndarray and one.dtype.type is _DTYPES[kind.kind] for one in arrays):
            raise NotClosed("a value of another type than before")
        shape = arrays[0].shape
        if len(shape) != kind.rank or any(one.shape != shape for one in arrays):
            raise NotClosed("arrays of several shapes")
        stacked = np.array(arrays)
        stacked.flags.writeable = False
        data, size = room(stacked.size), math.prod(shape)
        flat: np.ndarray = stacked.ravel()
        data[:] = flat.view(np.int64) if kind.kind == "f" else flat
        headers = np.full((len(arrays), 3), size, np.int64)
        headers[:, 2] = data.ctypes.data + 8 * size * np.arange(len(arrays))
        steps = [step // stacked.itemsize for step in stacked.strides[1:]]
        leaves = [headers.ctypes.data + 24 * np.arange(len(arrays)), 0, *shape, *steps]
        for column, leaf in zip(columns, leaves, strict=True):
            column[places] = leaf
        self.kept.memory += [data, headers]
        self.arrays[template.number] = dict(zip(places.tolist(), stacked, strict=True))

    def make(self, rng: np.random.Generator, *, draws: bool = True) -> Made:
        """Run the program: it draws the choices that are not given.

        Args:
            draws: whether there may be such.

        Raises:
            FailedText, NotClosed: today's runtime decides; the generator is as it was.
        """
        generator = rng.bit_generator
        self.draws = draws
        with generator.lock:
            before = generator.state
            if generator is not self.generator:
                self.words[Word.GENERATOR] = generator_address(generator)
                self.generator = generator
            try:
                if self.run_with_room(generator, before) == FAILED:
                    raise self.failure()
                return self._made((before, generator.state))
            except NotClosed:
                self.is_spent = True
                generator.state = before
                raise
            except FailedText:
                generator.state = before
                raise

    def _make_room(self) -> bool:
        if not self.draws:
            raise FailedText(0, "a choice that is not given")
        return super()._make_room()

    def _made(self, states: tuple[Any, Any]) -> Made:
        log_prob, weight = self.float_result(0), self.float_result(1)
        if not abs(log_prob) < np.inf:  # of what is impossible today's runtime says more
            raise FailedText(0, f"a log density of {log_prob}")
        now, size = self.words[Word.NOW], int(self.words[Word.VISITED])
        if not self.draws and size != self.count:
            raise FailedText(0, "a choice that is not given")
        if sum(map(math.prod, self.capacities)) > _PLACES + _SPARSE * size:
            raise NotClosed("indices that are far apart")
        for template, which, places in self.own:
            visited = self.stamps[template.number][TemplateWords.VISITED] == now
            if not visited[places].all():
                raise FailedText(0, "choices that the program does not make")
            if self.given.listed.isdisjoint(which):
                continue
            if int(visited.sum()) != len(places):
                raise FailedText(0, "choices of which a list gives a part")
        read, retval = self.closed.returned, None
        if read is not None:
            retval = read(iter(self.words[self.returned].tolist()))
        return Made(log_prob, weight, size, DrawnChoices(self, self.known, self.arrays), retval, states)
