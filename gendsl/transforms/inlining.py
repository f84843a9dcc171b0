"""Generated lines of arithmetic without the variables that are used once, or never.

    d1 = x * y
    d2 = d1 + z          ->         m = abs((x * y) + z)
    d3 = z * z
    m = abs(d2)

A variable costs a store, a load and the bytes of their instructions, of which the lines of a few moves have
more than the processor keeps at hand.
"""

from __future__ import annotations

import re
from collections import Counter

_INNER = re.compile(r"\b[dmy]\d+\b")
_ASSIGNED = re.compile(r"([dmy]\d+) = (.*)")
_LONGEST = 400
"""How long an expression may become: it has at most 133 parentheses then, and Python takes 200."""


def inlined(lines: list[str]) -> list[str]:
    """The lines, in which what is assigned to a value `y1`, slope `d1` or minor `m1` that is used once is a
    part of where it is used, and slopes that are never used are gone.

    Each is assigned once, unconditionally, before it is used. Operations keep their order, and their digits.
    """
    lines = _without_unused_slopes(lines)
    uses = Counter(name for line in lines for name in _INNER.findall(line))
    held: dict[str, str] = {}
    kept = []
    for line in lines:
        line = _INNER.sub(lambda found: held.get(found.group(), found.group()), line)
        assigned = _ASSIGNED.fullmatch(line)
        if assigned is not None and uses[assigned[1]] == 2 and len(assigned[2]) < _LONGEST:
            held[assigned[1]] = f"({assigned[2]})"
        else:
            kept.append(line)
    return kept


def _without_unused_slopes(lines: list[str]) -> list[str]:
    used: set[str] = set()
    kept = []
    for line in reversed(lines):
        assigned = _ASSIGNED.fullmatch(line)
        if assigned is None or line[0] == "y" or assigned[1] in used:
            used.update(_INNER.findall(line if assigned is None else assigned[2]))
            kept.append(line)
    return kept[::-1]
