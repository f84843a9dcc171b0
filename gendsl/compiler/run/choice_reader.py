"""What reads the choice at an address, of the trace that a chain of compiled kernels is at, or was at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from gendsl.compiler.hir.addresses import Addresses
from gendsl.compiler.hir.failures import NotClosed
from gendsl.compiler.hir.key_paths import EMPTY
from gendsl.compiler.hir.templates import Template
from gendsl.compiler.run.compiled import Compiled


class Choices(Protocol):
    """What has the choices of a trace, by their templates."""

    @property
    def closed(self) -> Compiled: ...

    @property
    def templates(self) -> Sequence[Template]: ...

    def node_of(self, template: Template, indices: tuple[int, ...]) -> int | None:
        """The number of a call of a program that calls itself; None if it has none."""

    def value_of(self, template: Template, indices: tuple[int, ...]) -> Any:
        """The value of a choice; None if the trace has none there."""


def choice_reader(choices: Choices, path: tuple[Any, ...]) -> Callable[[], Any] | None:
    """What reads the choice at an address, in a time that doesn't depend on how many choices there are.

    It gives None where the trace does not have the choice; there is none where no trace has.
    """
    addresses = Addresses(choices.closed.lowered)
    try:
        every = addresses.find_all(path)
    except NotClosed:
        return None

    def here(template: Template, at: tuple[int, ...], nodes: list[int]) -> tuple[int, ...]:
        """Indices, with the nodes that the choices have in place of those of the table of addresses."""
        own = list(at)
        if template.is_below:
            own[0] = nodes[at[0]]
        for axis in template.path_axes:
            own[axis] = nodes[at[axis] - 1] + 1 if at[axis] != EMPTY else EMPTY
        return tuple(own)

    def read() -> Any:
        nodes: list[int] = []
        for number, at in addresses.nodes:  # in the order in which they were numbered
            template = choices.templates[number]
            node = choices.node_of(template, here(template, at, nodes))
            if node is None:
                return None
            nodes.append(node)
        for template, indices in every:
            value = choices.value_of(template, here(template, indices, nodes))
            if value is not None:
                return value
        return None

    return read
