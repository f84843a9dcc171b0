"""Templates whose choices may have one address, or be below one another: where a program makes both, it is an
error, so a text that makes one of them checks that it has not made the other.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from gendsl.compiler.hir.failures import NotClosed
from gendsl.compiler.hir.joined import may_be_one
from gendsl.compiler.hir.key_paths import ABOVE, apart, has_path, shown
from gendsl.compiler.hir.templates import Lowered, Template
from gendsl.compiler.hir.types import Joined, index_count


@dataclass(frozen=True)
class Meeting:
    """Two templates of which a choice of one may be at the address of one of the other, or below it.

    Attributes:
        upper: the one whose address is above, or the same.
        lower: the other.
        indices: the indices of the upper choice: the number of an index of the lower one, or a constant.
        tests: which index of the lower choice must be which number.
    """

    upper: Template
    lower: Template
    indices: tuple[tuple[bool, int], ...]
    tests: tuple[tuple[int, int], ...]

    @property
    def is_same(self) -> bool:
        """Whether it is one address."""
        return len(self.upper.parts) == len(self.lower.parts)


def meetings(lowered: Lowered) -> list[Meeting]:
    """The pairs of templates that may meet; those of one address stand there both ways.

    Raises:
        NotClosed: a call may meet a choice or another call, which is not checked.
    """
    found = []
    for first, second in itertools.combinations(lowered.templates, 2):
        if (first.trace, first.context) != (second.trace, second.context):
            continue
        if first.own == second.own and ABOVE in (first.calls, second.calls):
            upper, lower = (first, second) if first.calls == ABOVE else (second, first)
            made = _meeting(upper, lower, lowered.facts.text_number)
            assert made is not None
            found.append(made)
            continue
        upper, lower = sorted((first, second), key=lambda one: len(one.parts))
        is_shorter = len(upper.parts) < len(lower.parts)
        if upper.calls is not None and not upper.has_nodes and is_shorter and upper.calls != ABOVE:
            continue  # what is below a call
        if first.own != second.own and (has_path(first.own) or has_path(second.own)):
            if not apart(first.own, second.own, lowered.facts.may_be_key):
                raise NotClosed(
                    "addresses with tuples whose lengths are not known, which may be one, or one below the "
                    f"other, {shown(first.own)} and {shown(second.own)}: begin each with a string of its "
                    'own, as in ("split", *at) and ("mean", *at)'
                )
            continue
        made = _meeting(upper, lower, lowered.facts.text_number)
        if made is None:
            continue
        if upper.calls is not None or lower.calls is not None:
            raise NotClosed("addresses of calls of which one may be another, or below it")
        found.append(made)
        if made.is_same:
            back = _meeting(lower, upper, lowered.facts.text_number)
            assert back is not None
            found.append(back)
    return found


def _meeting(upper: Template, lower: Template, number: Callable[[str], int]) -> Meeting | None:
    """How two templates may meet; None if they never do."""
    both = zip(upper.own, lower.own, strict=False)
    if any(one != other and not may_be_one(one, other) for one, other in both):
        return None
    indices: list[tuple[bool, int]] = [(False, 0)] if upper.is_below else []
    tests: list[tuple[int, int]] = []
    for one, (other, place) in zip(upper.own, _places(lower), strict=False):
        if one == other:
            indices += ((False, place + nth) for nth in range(index_count(one)))
        elif isinstance(one, Joined) or isinstance(other, Joined):
            raise NotClosed("addresses of strings that are made of values in two ways, and may be one")
        elif isinstance(one, str):
            tests.append((place, number(one)))
        else:
            indices.append((True, number(str(other))))
    return Meeting(upper, lower, tuple(indices), tuple(tests))


def _places(template: Template) -> Iterator[tuple[object, int]]:
    """The parts of a template below the call, with the numbers of their indices."""
    place = int(template.is_below)
    for part in template.own:
        yield part, place
        place += index_count(part)


def upper_index(meeting: Meeting, indices: Sequence[object]) -> list[object] | None:
    """The indices of the upper choice, of those of the lower one; None where they don't meet."""
    if any(indices[place] != number for place, number in meeting.tests):
        return None
    return [number if is_constant else indices[number] for is_constant, number in meeting.indices]
