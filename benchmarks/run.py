"""Measure gendsl against hand-written NumPy and Python on the same work, and print one table of ratios.

    python benchmarks/run.py                          # every row
    python benchmarks/run.py --plot                   # and cost against N, in benchmarks/cost_against_n.png
    python benchmarks/run.py --rows steps,cold        # some groups of rows
    python benchmarks/run.py --quick                  # small N and few rounds: rough numbers in seconds

Every ratio is of two times of this run, taken in turns.
"""

from __future__ import annotations

import argparse
import dataclasses
import platform
from pathlib import Path

import assignments
import clustering
import columns
import compiling
import drift
import gradient_kernels
import local_moves
import numpy as np
import operations
import particle_filter
import parts
import plot
import steps
import sweeps
from harness import FULL, QUICK, Group, Line, measure

GROUPS: dict[str, Group] = {
    **local_moves.GROUPS,
    **assignments.GROUPS,
    **columns.GROUPS,
    **clustering.GROUPS,
    **compiling.GROUPS,
    **drift.GROUPS,
    **gradient_kernels.GROUPS,
    **operations.GROUPS,
    **parts.GROUPS,
    **particle_filter.GROUPS,
    **steps.GROUPS,
    **sweeps.GROUPS,
}
PLOT = Path(__file__).with_name("cost_against_n.png")
HEADER = "work", "N", "us", "baseline us", "baseline", "ratio", "limit", "ok?"
WIDTHS = 46, 9, 10, 11, 21, 8, 12, 3
LEFT = "work", "baseline"


def format_line(cells: tuple[str, ...]) -> str:
    """The cells of a line, each in its column."""
    return "  ".join(
        cell.ljust(width) if column in LEFT else cell.rjust(width)
        for column, cell, width in zip(HEADER, cells, WIDTHS, strict=True)
    ).rstrip()


def cells(line: Line) -> tuple[str, ...]:
    """What the table shows of a line."""
    ok = {None: "", True: "yes", False: "NO"}[line.ok]
    times = (_microseconds(line.us), _microseconds(line.baseline_us))
    return line.work, f"{line.n:,}", *times, line.baseline, line.ratio, line.limit, ok


def _microseconds(us: float | None) -> str:
    if us is None:
        return ""
    return f"{us:.3g}" if us < 1000 else f"{us:,.0f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small N and few rounds: rough numbers")
    parser.add_argument("--largest", type=int, metavar="N", help="the largest N of any row")
    parser.add_argument("--rows", help=f"some of: {', '.join(GROUPS)}")
    parser.add_argument("--plot", type=Path, nargs="?", const=PLOT, help="draw cost against N in this file")
    options = parser.parse_args()
    names = options.rows.split(",") if options.rows else list(GROUPS)
    unknown = sorted(set(names) - set(GROUPS))
    if unknown:
        parser.error(f"no rows named {', '.join(unknown)}; there are {', '.join(GROUPS)}")
    scale = QUICK if options.quick else FULL
    if options.largest:
        scale = dataclasses.replace(scale, largest=options.largest)

    print(f"Python {platform.python_version()}, NumPy {np.__version__}; each time is the least of its rounds")
    header = format_line(HEADER)
    print(f"{header}\n{'-' * len(header)}")
    lines = []
    for name in names:
        for line in measure(GROUPS[name], scale):
            print(format_line(cells(line)), flush=True)
            lines.append(line)
    limited = [line for line in lines if line.ok is not None]
    print(f"\n{sum(bool(line.ok) for line in limited)} of {len(limited)} limits are kept")
    if options.plot:
        plot.draw(lines, options.plot)
        print(f"figure: {options.plot.resolve()}")


if __name__ == "__main__":
    main()
