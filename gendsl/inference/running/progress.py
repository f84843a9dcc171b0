"""The live display of a run: a line for each chain, on a terminal and in notebooks, and nowhere else.

    chain 0:  46%|█████▌      | 920/2000 [00:02<00:02, 412.31draw/s, k=3]
    chain 1:  44%|█████▏      | 871/2000 [00:02<00:02, 390.27draw/s, k=4]
    accepted, chain     0     1
      split_merge      2%    3%
      mh walk         33%   31%

The rate of a single kernel is in the lines of the chains.
"""

from __future__ import annotations

import io
import sys
import time
from typing import Any

from tqdm.std import tqdm

from gendsl.inference.running.chain import Plan, Report

_WIDTH = 88  # characters of a notebook's cell
_PAUSE = 0.2  # seconds between two updates of a notebook's cell, at least
_MOST = 16  # kernels of the table
_NAME = 32  # characters of a kernel's name


class Display:
    """Shows how far each chain is, and nothing if `shown` is false.

    A chain's line has its draws, draws per second and time left, and the watched quantity. The acceptance
    rates of several kernels are a table below, with a column for each chain.
    """

    def __init__(self, plans: list[Plan], *, shown: bool, watched: str | None = None) -> None:
        self.screen: _Terminal | _Cell | None = None
        self.lines: list[_Line] = []
        if shown:
            self.screen = _Cell() if _in_notebook() else _Terminal()
            self.lines = [_Line(plan, watched, self.screen) for plan in plans]
            self.screen.refresh()
        self.rates: dict[str, list[float | None]] = {}

    def show(self, number: int, report: Report) -> None:
        """Show a report."""
        if self.screen is None:
            return
        for name, rate in report.rates.items():
            column = self.rates.setdefault(name, [None] * len(self.lines))
            column[number] = rate if rate == rate else None
        several = len(self.rates) > 1
        self.lines[number].show(report, with_rates=not several)
        if several:
            self.screen.put_below(acceptance_table(self.rates))
        self.screen.refresh()

    def close(self) -> None:
        """Leave the lines as they are."""
        if self.screen is not None:
            for line in self.lines:
                line.stop_clock()
            self.screen.close()
            self.screen = None


def acceptance_table(rates: dict[str, list[float | None]]) -> list[str]:
    """The lines of a table of acceptance rates: a row for each kernel, a column for each chain."""
    names = [name if len(name) <= _NAME else f"{name[: _NAME - 1]}…" for name in rates]
    several = len(next(iter(rates.values()))) > 1
    head = "accepted, chain" if several else "accepted"
    width = max(len(head), *(len(name) + 2 for name in names))
    chains = range(len(next(iter(rates.values())))) if several else ()
    lines = [f"{head:<{width}}{''.join(f'{number:>6}' for number in chains)}"]
    for name, column in zip(names, rates.values(), strict=True):
        cells = ("-" if rate is None else f"{rate:.0%}" for rate in column)
        lines.append(f"  {name:<{width - 2}}{''.join(f'{cell:>6}' for cell in cells)}")
    more = len(lines) - 1 - _MOST
    return lines if more <= 0 else [*lines[: _MOST + 1], f"  … {more} more"]


class _Line:
    """The line of one chain: first of its warm-up, then of its draws."""

    def __init__(self, plan: Plan, watched: str | None, screen: _Terminal | _Cell) -> None:
        self.plan = plan
        self.watched = watched
        self.warming = plan.warmup > 0
        self.took: float | None = None
        self.bar = screen.bar(
            total=plan.warmup if self.warming else plan.draws,
            desc=f"chain {plan.number}{' warm-up' if self.warming else ''}",
            unit="step" if self.warming else "draw",
        )

    def show(self, report: Report, *, with_rates: bool) -> None:
        """Show a report."""
        bar, plan = self.bar, self.plan
        if self.took is not None:  # its time has passed
            return
        if self.warming and report.step > plan.warmup:
            self.warming = False
            bar.set_description_str(f"chain {plan.number}: ", refresh=False)
            bar.unit = "draw"
            bar.reset(total=plan.draws)
        done = report.step if self.warming else (report.step - plan.warmup) // plan.thin
        parts = [] if report.value is None else [f"{self.watched}={report.value}"]
        if with_rates:
            parts += [f"{name} {rate:.0%}" for name, rate in report.rates.items() if rate == rate]
        bar.set_postfix_str(", ".join(parts), refresh=False)
        if done < bar.n:  # a worker died, and another makes the chain again
            bar.reset()
        bar.n = done
        if report.seconds is not None:
            self.set_clock(report.seconds)  # waiting for a worker is no time of the chain's
        bar.refresh()
        if report.step >= plan.steps:
            self.took = bar.format_dict["elapsed"]

    def set_clock(self, seconds: float) -> None:
        """Let so much time have passed."""
        more = self.bar.format_dict["elapsed"] - seconds
        self.bar.start_t += more
        self.bar.last_print_t += more

    def stop_clock(self) -> None:
        """Let the time of a chain that is done be what it was then; others may have gone on for long."""
        if self.took is not None:
            self.set_clock(self.took)


class _Terminal:
    """Lines on a terminal, one below the other."""

    def __init__(self) -> None:
        self.bars: list[Any] = []
        self.below: list[Any] = []

    def bar(self, **options: Any) -> Any:
        """A new line."""
        self.bars.append(tqdm(position=len(self.bars), dynamic_ncols=True, **options))
        return self.bars[-1]

    def put_below(self, lines: list[str]) -> None:
        """Show a table below the lines of the chains."""
        while len(self.below) < len(lines):
            self.below.append(self.bar(bar_format="{desc}"))
        for bar, line in zip(self.below, lines, strict=True):
            width = bar.format_dict["ncols"]
            text = line if width is None else line[: width - 1]
            if text != bar.desc:
                bar.set_description_str(text)

    def refresh(self) -> None:
        """Nothing: every line shows itself."""

    def close(self) -> None:
        """Leave the lines as they are, and the cursor below them."""
        for bar in self.bars:
            bar.close()


class _Cell:
    """Lines in the output of a notebook's cell, which is replaced as a whole.

    Plain text is what every notebook, and every file that is made from one, shows as it was at the end.
    """

    def __init__(self) -> None:
        self.bars: list[Any] = []
        self.table: list[str] = []
        self.handle: Any = None
        self.due = 0.0

    def bar(self, **options: Any) -> Any:
        """A new line."""
        self.bars.append(_Text(**options))
        return self.bars[-1]

    def put_below(self, lines: list[str]) -> None:
        """Show a table below the lines of the chains."""
        self.table = lines

    def refresh(self) -> None:
        """Show the lines, unless they were shown a moment ago."""
        if time.perf_counter() >= self.due:
            self.show()
            self.due = time.perf_counter() + _PAUSE

    def show(self) -> None:
        """Show the lines."""
        from IPython.display import display

        shown = {"text/plain": "\n".join([*(bar.text for bar in self.bars), *self.table])}
        if self.handle is None:
            show: Any = display
            self.handle = show(shown, raw=True, display_id=True)
        else:
            self.handle.update(shown, raw=True)

    def close(self) -> None:
        """Leave the lines as they are."""
        self.show()
        for bar in self.bars:
            bar.close()


class _Text(tqdm):  # type: ignore[misc]
    """A line that is only text, as it was when it was last refreshed."""

    text = ""

    def __init__(self, **options: Any) -> None:
        super().__init__(file=io.StringIO(), ncols=_WIDTH, ascii=False, gui=True, **options)
        self.refresh()

    def display(self, msg: str | None = None, pos: int | None = None) -> bool:
        """Take the line down."""
        self.text = str(self)
        return True


def can_be_shown() -> bool:
    """Whether somebody looks: standard error is a terminal, or this is a notebook."""
    return sys.stderr.isatty() or _in_notebook()


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and "IPKernelApp" in getattr(shell, "config", {})
