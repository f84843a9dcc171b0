"""Where what a native text reads and writes lies in its context, an array of words of 64 bits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum, auto

from gendsl.compiler.hir import Input
from gendsl.compiler.hir.meetings import Meeting
from gendsl.compiler.hir.templates import Lowered
from gendsl.compiler.hir.types import leaves

FAILED, FULL, STOPPED, WAITING, PAUSED, NO_ROOM = 1, 2, 3, 4, 5, 6
"""What a text returns where it fails, where there is no room, where it was to stop, where the next step is
one of a kernel that is not compiled, where the state is to be kept before it goes on, and where there is no
room in the row for what a function of the trace gives.
"""


class Word(IntEnum):
    """The words that every context has.

    A choice at a place of a template is in the *current* trace where the first stamp there is CURRENT (of
    the model or of the auxiliary trace), and in the proposed one where the second, put there where it was
    visited, is PROPOSED. It was written where the third is NOW, and read where the fourth is 2 NOW or, if it
    was copied, 2 NOW + 1. So nothing has to be cleared.
    """

    NEXT = 0
    """The end of what the arena holds."""
    END = auto()
    """The end of the arena."""
    SITE = auto()
    """The number of the place that failed."""
    GENERATOR = auto()
    """The pointer to NumPy's bit generator."""
    NODES = auto()
    """How many calls of programs that call themselves have a number."""
    NODE_ROOM = auto()
    """How many may have one."""
    NOW = auto()
    CURRENT = auto()
    CURRENT_AUXILIARY = auto()
    BEFORE = auto()
    BEFORE_AUXILIARY = auto()
    """What the two words before this were before the proposed trace was made the current one."""
    PROPOSED = auto()
    PROPOSED_AUXILIARY = auto()
    VISITED = auto()
    """How many choices were visited or drawn now, of the model and of the auxiliary trace."""
    VISITED_AUXILIARY = auto()
    COUNT = auto()
    """How many choices the current trace has."""
    COUNT_AUXILIARY = auto()
    START = auto()
    """Where the arena starts."""
    WRITES = auto()
    """The pointer to what was written: for each (template, place, whether it is a copy, coordinates,
    rounding, derivatives, leaves)."""
    WRITE_COUNT = auto()
    WRITE_ROOM = auto()
    READS = auto()
    """The pointer to what was read: for each (template, place, coordinates)."""
    READ_COUNT = auto()
    READ_ROOM = auto()
    WRITES_ELSEWHERE = auto()
    WRITE_COUNT_ELSEWHERE = auto()
    READS_ELSEWHERE = auto()
    READ_COUNT_ELSEWHERE = auto()
    """The logs of the way back while those of the way there are in use, and the other way round."""
    COORDINATES = auto()
    """How many coordinates were read now."""
    HEAP = auto()
    """The end of what the memory of kept arrays holds."""
    HEAP_END = auto()
    HEAP_WANTED = auto()
    """How many bytes there was no room for in it; 0 where there was."""
    TOLD_AUXILIARY = auto()
    TOLD_WRITTEN = auto()
    TOLD_GONE = auto()
    """How many choices that do not stay as they are were read, copied or asked for: auxiliary ones, those
    that are written, and those that are gone."""
    ASKED = auto()
    """Whether a trace was asked for what may tell of discrete choices that are not read."""
    KEEPS = auto()
    """Whether the proposed trace has the choices of the current one: then it has no stamps of its own."""
    FAR = auto()
    """Whether a value came back as another that is not close, without what rounding may do."""
    ZERO = auto()
    """Where the density was zero: the template, and the place. Besides there may be the number of templates,
    times why there is no such density; see `WHYS`."""
    ZERO_PLACE = auto()
    COUNTER = auto()
    """The next instruction of the schedule."""
    SCHEDULE = auto()
    """The pointer to the schedule."""
    STEPS = auto()
    """How many steps of kernels were made."""
    STEP_LIMIT = auto()
    """After how many to stop, before the next one: what picks its kernel is done."""
    LAST_STEP = auto()
    """After how many to stop at once."""
    SWEEPS = auto()
    """How many times the whole schedule is still to be run."""
    TALLIES = auto()
    """The pointer to the tallies of the kernels."""
    LOG_DENSITY = auto()
    """That of the current trace."""
    PART = auto()
    """Of that the terms that have to do with the choice that is updated; NaN if they are not known."""
    COUNT_BEFORE = auto()
    LOG_DENSITY_BEFORE = auto()
    """What COUNT and LOG_DENSITY were before the last proposal was accepted."""
    LAST_RATIO = auto()
    LAST_MODEL = auto()
    LAST_AUX = auto()
    LAST_DET = auto()
    """The log acceptance ratio of the last step, and its terms."""
    ZEROS = auto()
    """The pointer to where densities were zero: for each (row of the tallies, template, place, how often, the
    step that was the first, the sweeps that were left then)."""
    ZERO_COUNT = auto()
    ZERO_ROOM = auto()
    RECORDED = auto()
    """The pointer to what is recorded of a draw, or 0 where nothing is; see `native_records`."""
    ROWS = auto()
    """The pointer to the rows that are recorded, one for each draw."""
    ROW_COUNT = auto()
    SWEEPS_A_DRAW = auto()
    SWEEPS_TO_DRAW = auto()
    """How many times the whole schedule is run for each draw, and is still to be run for the next."""
    FUNCTIONS = auto()
    """The pointer to what writes the values of functions of the trace into a row, or 0 where there is none;
    see `native_functions`."""
    FUNCTION_ROOMS = auto()
    """The pointer to how much room there is for each of their lists."""
    FUNCTION_STATUS = auto()
    """What it returned where the chain stopped."""
    SEEN = auto()
    """The pointer to bytes that say of which numbers of choices steps were looked at."""
    SEEN_SIZE = auto()
    FIRST = auto()
    """The first word that depends on the program."""


WRITE_WORDS, READ_WORDS = 6, 3
"""The words of an entry of each log; the leaves of what was written come behind."""
ROUNDING_AT = 4
"""The word of what was written that says how far rounding may have taken it."""
SLOPES_AT = 5
"""The word that is the pointer to a list of the derivatives of its floats."""
ZERO_WORDS = 6
WHYS = {"impossible": 0, "on_border": 1, "on_border_there": 2}
"""Why a step was rejected for a choice: its density is zero, or it lies, or would lie, on the border of its
support.
"""
TALLY_WORDS = 8
PROPOSED, ACCEPTED, WEIGHED, LOG_RATIO, LOG_AUX, LOG_DET, CYCLES, IMPOSSIBLE = range(TALLY_WORDS)
"""What is counted of a kernel, in a row: steps; those accepted; those rejected with a finite ratio, and the
sums of that and of its terms over them; the processor's cycles; those whose density was zero, or as good as.
"""


@dataclass(frozen=True)
class TemplateWords:
    """The words of a template.

    They are the pointers to the four stamps of each place, to the first coordinate of what was read there,
    and to a byte that says whether it is observed, which trace it is of, the number of leaves, whether its
    numbers are floats, whether it is counted, a pointer to stamps of where a choice of another template was
    made at or below the address, where that may be (see `meetings`), a pointer to the column of each leaf,
    for each index the capacity, and for each the index for which there was no room.
    """

    first: int
    columns: int
    rank: int

    CURRENT, VISITED, WRITTEN, READ, FOLLOWED, OBSERVED = range(6)
    TRACE, LEAVES, FLOATS, COUNTED, COVERED, COLUMNS = range(6, 12)

    def column(self, leaf: int) -> int:
        """The pointer to the numbers of a leaf."""
        return self.first + self.COLUMNS + leaf

    def stamps(self, which: int) -> int:
        """The pointer to stamps."""
        return self.first + which

    def capacity(self, axis: int) -> int:
        """How many places there are along an index."""
        return self.first + self.COLUMNS + self.columns + axis

    def wanted(self, axis: int) -> int:
        """The index for which there was no room, or -1."""
        return self.first + self.COLUMNS + self.columns + self.rank + axis

    @property
    def end(self) -> int:
        """The word behind."""
        return self.first + self.COLUMNS + self.columns + 2 * self.rank


class Layout:
    """The words of a program's context."""

    def __init__(self, lowered: Lowered, meetings: Sequence[Meeting] = ()) -> None:
        at = int(Word.FIRST)
        self.arguments = at
        at += len(lowered.main.parameters)
        self.inputs: list[int] = []
        for _, kind in lowered.inputs:
            self.inputs.append(at)
            at += 2 * len(leaves(kind))
        self.templates: list[TemplateWords] = []
        for template in lowered.templates:
            words = TemplateWords(at, len(leaves(template.type)), template.rank)
            self.templates.append(words)
            at = words.end
        self.widest = max((words.columns for words in self.templates), default=0)
        self.has_arrays = any("r" in leaves(template.type) for template in lowered.templates)
        self.program_templates = lowered.templates
        self.coordinates = lowered.coordinates
        self.meetings = meetings
        self.covered = {meeting.upper.number for meeting in meetings}
        self.results = at
        self.size = at + len(lowered.main.results) + 64

    @property
    def write_words(self) -> int:
        """The words of an entry of the log of what was written."""
        return WRITE_WORDS + self.widest

    def argument_word(self, leaf: int) -> int:
        """The word of a leaf of the arguments."""
        return self.arguments + leaf

    def input_word(self, given: Input) -> int:
        """The word of a leaf of an input."""
        return self.inputs[given.number] + 2 * given.leaf + given.tangents

    def result_word(self, leaf: int) -> int:
        """The word of a leaf of the result."""
        return self.results + leaf
