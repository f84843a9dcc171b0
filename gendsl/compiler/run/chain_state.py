"""The state of a chain of compiled kernels, whatever form their text has: what runs it, and goes back in it.

A run of the schedule ends where it is done, where a step fails, or where there is no room. In the last two
cases the state and the generator are put back to where they were last kept, and the same steps are made again
up to the one that did not succeed. What that would have done is then for the reference interpreter to say, or
there is more room.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Container, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np

from gendsl.compiler.hir.failures import FailedText, NotClosed
from gendsl.compiler.hir.templates import Template
from gendsl.compiler.llvm.native_layout import (
    FAILED,
    FULL,
    PAUSED,
    STOPPED,
    TALLY_WORDS,
    WAITING,
    ZERO_WORDS,
    Word,
)
from gendsl.compiler.moves import KEPT, PICK

if TYPE_CHECKING:
    from gendsl.compiler.run.chain_kernel import ChainKernel

NO_LIMIT = -1
_MOST_ZEROS = 64
"""Of how many places it is counted how often the density was zero there."""
OFTEN = 3
"""Where in the row of a place stands how often the density was zero there."""
FIRST_ZERO = "the first step whose density is zero there, of which the reference interpreter tells why"
_MANY = 1 << 62
OTHER_THAN_OBSERVED = "a choice that is no observation, where all were when the text was made"


class KeptDraw(Protocol):
    """The choices of a draw that is kept."""

    def choices(self) -> dict[Any, Any]:
        """The choices, by their paths."""

    def choice(self, path: tuple[Any, ...]) -> Any:
        """The value of a choice; None if there is none."""


class ChainState(ABC):
    """The state of a chain.

    Attributes:
        form: what the text is, in words.
        steps_again: after how many steps the state is kept, to be gone back to where a later step fails.
        words: what `gendsl.compiler.llvm.native_layout` says, of which those are used that are no pointers.
        schedule: the instructions; see `gendsl.compiler.moves`.
        capacities: for each template how many places there are along each index.
        tallies: what is counted of each kernel, a row for each.
        zeros: where the density was zero, a row for each.
        told_zeros: how many places are known where the density was zero; the chains that go on from one
            another share them.
        why_zero: why it was, in words, for each of them.
        kept: the lists of warm-ups that steps change, by the numbers of these.
        recorded: what draws are recorded by, while they are; see `recorded_draws`.
        waits: whether the next step is one of a kernel that is not compiled, which is to be made before it
            goes on.
        is_stopped: whether it was stopped after as many steps as it was told.
    """

    form: ClassVar[str]
    steps_again: ClassVar[int]

    def __init__(self, closed: ChainKernel, size: int) -> None:
        self.closed = closed
        self.templates, self.words = closed.lowered.templates, np.zeros(size, np.int64)
        self.tallies = np.zeros((closed.row_count, TALLY_WORDS), np.int64)
        self.zeros = np.zeros((_MOST_ZEROS, ZERO_WORDS), np.int64)
        self.words[Word.ZERO_ROOM] = len(self.zeros)
        self.capacities: list[list[int]] = []
        self.told_zeros = 0
        self.why_zero: list[str] = []
        self.kept: dict[int, list[Any]] = {}
        self.origin: Any = None
        self.recorded: Any = None
        self.waits = self.is_stopped = False

    def start(self, generator: Any, schedule: Sequence[int]) -> None:
        """Start a chain: nothing of it has been counted yet."""
        words, self.generator, self.schedule = self.words, generator, np.array(schedule, np.int64)
        self.origin = None
        self.tallies[:], self.zeros[:, OFTEN], self.zeros[self.told_zeros :] = 0, 0, 0
        words[Word.STEP_LIMIT] = words[Word.LAST_STEP] = NO_LIMIT
        words[Word.COUNTER] = words[Word.STEPS] = words[Word.SWEEPS] = 0
        words[Word.ZERO_COUNT] = self.told_zeros

    @abstractmethod
    def renew(self) -> None:
        """Take over what there is outside of the text now; what warm-ups have found is forgotten."""

    def draw_from(self, generator: Any) -> None:
        """Draw from another bit generator from now on."""
        self.generator, self.origin = generator, None

    def prepare(self) -> None:  # noqa: B027 (Python text needs nothing)
        """Make all that the first step needs."""

    @abstractmethod
    def load(self, choices: Mapping[Any, Any], observed: Container[Any], log_density: float) -> None:
        """Make a trace the current one.

        Raises:
            NotClosed: it is not of the types that the text is for.
        """

    # --- what warm-ups find -----------------------------------------------------------------------

    def remember(self, trace: Any) -> None:
        """Take over what warm-ups have found, with room for the choices of the current trace.

        Raises:
            NotClosed: a text can't have it.
        """
        self.origin = None
        self._found_so_far()
        for number, memory in self.closed.memories.items():
            self.kept[number] = []
            for place, value in enumerate(memory.values(trace, self.capacities), memory.first):
                data = self._give(place, value)
                if len(self.kept[number]) < len(KEPT):
                    self.kept[number].append(data)

    def _found_so_far(self) -> None:  # noqa: B027 (for Python text it is forgotten by itself)
        """Forget what was given so before."""

    @abstractmethod
    def _give(self, place: int, value: Any) -> Any:
        """Give the text the value of an input; the data of it, if that is a list."""

    def tell(self) -> None:
        """Tell warm-ups what they have found."""
        for number, memory in self.closed.memories.items():
            memory.tell([self._as_floats(one) for one in self.kept[number]])

    @abstractmethod
    def _as_floats(self, data: Any) -> np.ndarray:
        """The data of a list that is kept, as an array of floats."""

    # --- the current trace ------------------------------------------------------------------------

    @abstractmethod
    def choices(self) -> dict[Any, Any]:
        """The choices of the current trace, by their paths."""

    @abstractmethod
    def kept_draw(self, before: Any, observed: Container[Any]) -> KeptDraw:
        """The choices of the current trace, a draw that is kept, with those that are observed.

        Args:
            before: those of the draw before, with which it shares what is the same; None for the first.
        """

    @abstractmethod
    def node_of(self, template: Template, indices: tuple[int, ...]) -> int | None:
        """The number of a call of a program that calls itself; None if it has none."""

    @abstractmethod
    def value_of(self, template: Template, indices: tuple[int, ...]) -> Any:
        """The value of a choice of the current trace; None if it has none there."""

    @abstractmethod
    def numbered(self, template: Template) -> tuple[Sequence[np.ndarray], Sequence[Any]]:
        """The indices of all choices of a template in the current trace, for each axis, and the choices."""

    def log_density(self) -> float:
        """The log density of the current trace."""
        return float(self.words[Word.LOG_DENSITY : Word.LOG_DENSITY + 1].view(np.float64)[0])

    def last_ratio(self) -> float:
        """The log acceptance ratio of the last step."""
        return float(self.words[Word.LAST_RATIO : Word.LAST_RATIO + 1].view(np.float64)[0])

    def set_float(self, word: int, value: float) -> None:
        """Set a word to a float."""
        self.words[word : word + 1].view(np.float64)[0] = value

    # --- running ----------------------------------------------------------------------------------

    def go_on(self, limit: int = NO_LIMIT, last: int = NO_LIMIT) -> FailedText | None:
        """Run the sweeps that are left, or a part of them; why a step failed, if one did.

        Then everything is as it was before that step.

        Args:
            limit: after how many steps to stop, before the next one; what picks its kernel is done.
            last: after how many steps to stop at once.
        """
        words = self.words
        while True:
            if self.origin is None or words[Word.STEPS] - self.origin.words[Word.STEPS] >= self.steps_again:
                self.origin = self._snapshot()
            start, before = self.origin, (int(words[Word.STEPS]), int(words[Word.SWEEPS]))
            words[Word.STEP_LIMIT], words[Word.LAST_STEP] = limit, last
            if self.recorded is not None:
                self.recorded.go_on()
            try:
                status = self._call()
            except BaseException:  # an interrupt in the middle of a step
                self._again(start, *before)
                raise
            self.waits, self.is_stopped = status == WAITING, status == STOPPED
            if words[Word.ZERO_COUNT] > self.told_zeros:
                self._before_zero(start)
                return FailedText(0, FIRST_ZERO)
            if status == PAUSED:
                continue
            if status not in (FAILED, FULL):
                return None
            failure = self._failure() if status == FAILED else None
            wanted = None if failure is not None else self._wanted()
            self._again(start, int(words[Word.STEPS]), int(words[Word.SWEEPS]))
            if failure is not None:
                return failure
            try:
                self._make_room(wanted)
            except NotClosed as reason:
                return FailedText(0, str(reason))

    def _again(self, start: Any, steps: int, sweeps: int) -> None:
        """Go back, and make steps again until there are so many.

        They are made one at a time: of what kernels are given, which lies in the arena to the end of a call,
        there is then never more beside a step than there was, so that there is room for it.
        """
        words = self.words
        self._restore(start)
        words[Word.LAST_STEP], words[Word.SWEEPS], words[Word.RECORDED] = NO_LIMIT, _MANY, 0
        for limit in range(min(int(start.words[Word.STEPS]) + 1, steps), steps + 1):
            words[Word.STEP_LIMIT] = limit
            if self._call() != STOPPED:
                raise RuntimeError(f"step {limit - 1} of a chain that was made once was not made again")
        words[Word.SWEEPS], self.origin = sweeps, None

    def _before_zero(self, start: Any) -> None:
        """Go back to before the first step that met a density of zero at a place where none did before."""
        zero = self.zeros[self.told_zeros].copy()
        zero[OFTEN] = 0
        self._again(start, zero[4], zero[5])
        self.zeros[self.told_zeros] = zero
        self.told_zeros += 1
        self.words[Word.ZERO_COUNT] = self.told_zeros

    @abstractmethod
    def _call(self) -> int:
        """Run the schedule, to where the words say; the status."""

    @abstractmethod
    def _snapshot(self) -> Any:
        """What is needed to make the same steps again; its `words` are a copy of those now."""

    @abstractmethod
    def _restore(self, snapshot: Any) -> None:
        """Go back to where that was made."""

    @abstractmethod
    def _failure(self) -> FailedText:
        """Why the last step failed."""

    def _wanted(self) -> Any:
        """What there was no room for; a form that never says so needs neither this nor what follows."""
        raise NotImplementedError

    def _make_room(self, wanted: Any) -> None:
        """Make room for that.

        Raises:
            NotClosed: it would be too much; then nothing is changed.
        """
        raise NotImplementedError

    def kernel(self) -> int:
        """The kernel whose turn it is, after a step that failed."""
        return int(self.schedule[self.words[Word.COUNTER] + 1])

    def forget(self) -> None:
        """Never go back to before now: someone else has used the generator."""
        self.origin = None

    def skip(self) -> None:
        """Go on behind the step that failed, which was made in another way."""
        self.words[Word.COUNTER] += 2
        self.words[Word.STEPS] += 1


def followed(schedule: np.ndarray, at: int, random: Callable[[], float]) -> int:
    """The place to which an instruction leads that is no step."""
    code, argument = schedule[at : at + 2].tolist()
    if code != PICK:
        return int(argument)
    bounds = schedule[at + 2 : at + 2 + argument].view(np.float64)
    chosen = int((bounds <= random()).sum())
    return int(schedule[at + 2 + argument + chosen])
