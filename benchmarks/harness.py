"""What a row of the table is, and how it is measured.

A group of rows is measured together: gendsl and the hand-written version take turns, row by row and round
by round, so that what else the machine does falls on all of them. Each time is the least of its rounds,
for one unit of the work (one step, one choice). Where a row says so it is the processor's time, in all
threads.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

Work = Callable[..., Any]


@dataclass(frozen=True)
class Scale:
    """How much is measured.

    Attributes:
        largest: the largest N of any row.
        rounds: how many rounds a group gets, at most.
        round_seconds: how long the work of one row is repeated in a round, at least once.
        group_seconds: no further round is begun when a group has taken this long.
    """

    largest: int = 1_000_000
    rounds: int = 20
    round_seconds: float = 0.04
    group_seconds: float = 20.0

    def sizes(self, *sizes: int) -> list[int]:
        """Those of the sizes that are not too large; the largest allowed if all are."""
        return [n for n in sizes if n <= self.largest] or [self.largest]


ROW_SECONDS = 1.5
"""No further round of one row alone is begun when it has taken so long."""
FULL = Scale()
QUICK = Scale(largest=1000, rounds=2, round_seconds=0.0, group_seconds=2.0)


@dataclass(frozen=True)
class Row:
    """The same work done by gendsl and by hand.

    Attributes:
        work: what is measured; the same for the same work at several N.
        n: N.
        gendsl: the work, done by gendsl.
        baseline: what it is compared with.
        by_hand: the work, done by that.
        units: how many units of the work a call of either does.
        fresh: makes what a call of either is given, in time that doesn't count.
        warm_up: how often either is called before its time counts: what is compiled, cached or learnt in
            these calls is no part of the work.
        most_ratio: the limit on gendsl's time over the baseline's.
        most_us: the limit on gendsl's time for one unit, in microseconds.
        most_growth: the limit on gendsl's time at the largest N of this work over that at the smallest.
        cpu: whether the time is the processor's.
    """

    work: str
    n: int
    gendsl: Work
    baseline: str
    by_hand: Work
    units: int = 1
    fresh: Callable[[], Any] | None = None
    warm_up: int = 1
    most_ratio: float | None = None
    most_us: float | None = None
    most_growth: float | None = None
    cpu: bool = False


@dataclass(frozen=True)
class Line:
    """A line of the table, measured.

    Attributes:
        us, baseline_us: microseconds for one unit of the work; None where the line is about something else.
        value: what is compared with the limit, where that isn't the ratio.
        flat: whether the work must not grow with N.
    """

    work: str
    n: int
    us: float | None = None
    baseline_us: float | None = None
    baseline: str = ""
    value: str = ""
    limit: str = ""
    ok: bool | None = None
    flat: bool = False

    @property
    def ratio(self) -> str:
        if self.value or self.us is None or self.baseline_us is None:
            return self.value
        return f"{self.us / self.baseline_us:.3g}"


Group = Callable[[Scale], list[Row | Line]]


def seconds(row: Row, work: Work, calls: int) -> float:
    """The time of one call of the work, averaged over `calls` of them."""
    now = time.process_time if row.cpu else time.perf_counter
    if row.fresh is None:
        begin = now()
        for _ in range(calls):
            work()
        return (now() - begin) / calls
    total = 0.0
    for _ in range(calls):
        given = row.fresh()
        begin = now()
        work(given)
        total += now() - begin
    return total / calls


def times(rows: list[Row], scale: Scale) -> np.ndarray:
    """Microseconds for one unit of each row's work, by gendsl and by hand, of shape (rows, 2)."""
    begin = time.perf_counter()
    sides = [(row, (row.gendsl, row.by_hand)) for row in rows]
    for row, pair in sides:
        for work in pair:
            seconds(row, work, row.warm_up)
    calls = [
        [max(1, round(scale.round_seconds / seconds(row, work, 1))) for work in pair] for row, pair in sides
    ]
    best = np.full((len(rows), 2), np.inf)
    for _ in range(scale.rounds):
        for i, (row, pair) in enumerate(sides):
            for side, work in enumerate(pair):
                best[i, side] = min(best[i, side], seconds(row, work, calls[i][side]))
        if time.perf_counter() - begin > scale.group_seconds:
            break
    return 1e6 * best / np.array([[row.units] for row in rows])


def measure(group: Group, scale: Scale) -> Iterator[Line]:
    """The lines of a group; after those for several N of the same work, the one about its growth."""
    entries = group(scale)
    rows = [entry for entry in entries if isinstance(entry, Row)]
    found = dict(zip(map(id, rows), times(rows, scale).tolist() if rows else [], strict=True))
    for entry in entries:
        if isinstance(entry, Line):
            yield entry
            continue
        yield _line(entry, *found[id(entry)])
        same = [row for row in rows if row.work == entry.work]
        if entry.most_growth is not None and len(same) > 1 and entry is same[-1]:
            yield _growth(entry, same[0].n, found[id(entry)][0] / found[id(same[0])][0])


def ranked(rows: Iterable[Row], scale: Scale) -> list[Line]:
    """The lines of rows, the largest ratio first, and one with the geometric mean of the ratios.

    A row is made when the one before was measured, so that Python's collector does not go through what all
    the others have.
    """
    alone = replace(scale, group_seconds=ROW_SECONDS)
    found: list[tuple[float, Line]] = []
    for row in rows:
        ((us, baseline_us),) = times([row], alone).tolist()
        found.append((us / baseline_us, _line(row, us, baseline_us)))
    found.sort(key=lambda one: -one[0])
    lines = [line for _, line in found]
    return [*lines, mean_of([ratio for ratio, _ in found], "geometric mean of the ratios")]


def mean_of(ratios: list[float], work: str) -> Line:
    """A line with the geometric mean of ratios."""
    return Line(work, len(ratios), value=f"{np.exp(np.log(ratios).mean()):.3g}", baseline="of N moves")


def _line(row: Row, us: float, baseline_us: float) -> Line:
    limits, kept = [], True
    if row.most_us is not None:
        limits.append(f"<= {row.most_us:,.0f} us")
        kept = kept and us <= row.most_us
    if row.most_ratio is not None:
        limits.append(f"<= {row.most_ratio:g} x")
        kept = kept and us <= row.most_ratio * baseline_us
    ok = kept if limits else None
    flat = row.most_growth is not None
    return Line(row.work, row.n, us, baseline_us, row.baseline, limit=", ".join(limits), ok=ok, flat=flat)


def _growth(row: Row, smallest: int, growth: float) -> Line:
    assert row.most_growth is not None
    return Line(
        row.work,
        row.n,
        value=f"{growth:.3g}",
        baseline=f"itself at N = {smallest:,}",
        limit=f"<= {row.most_growth:g} x",
        ok=growth <= row.most_growth,
    )
