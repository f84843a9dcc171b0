"""One run of a transform: what it reads and writes, and the coordinates that it gives out."""

from __future__ import annotations

from gendsl.transforms.definition import Definition
from gendsl.transforms.inputs import Input
from gendsl.transforms.outputs import Output
from gendsl.transforms.returned import NOT_A_CHOICE


class Run:
    """One execution of a transform: its inputs and outputs, and the coordinates given out so far.

    The inputs and outputs don't refer to their run. What refers to itself that way is left to the garbage
    collector, and to collect a run took about as long as to make one.

    Attributes:
        next_coordinate: the first coordinate that no choice has yet, alone in a list that the inputs share.
    """

    __slots__ = ("inputs", "next_coordinate", "outputs", "transform")

    def __init__(self, transform: Definition) -> None:
        self.transform = transform
        self.inputs: list[Input] = []
        self.outputs: list[Output] = []
        self.next_coordinate = [NOT_A_CHOICE + 1]

    @property
    def asked(self) -> bool:
        """Whether an input was asked for what may tell of choices that are not read."""
        return any(state.asked for state in self.inputs)

    def position(self, state: Input) -> int:
        """Which of the inputs one is. (They can't be compared, as handles have no values.)"""
        return next(i for i, other in enumerate(self.inputs) if other is state)
