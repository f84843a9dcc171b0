"""The live display of a run: a line for each chain, on a terminal and in notebooks, and nowhere else."""

from __future__ import annotations

import sys
import warnings
from typing import Any

from gendsl.inference.chain import Plan, Report


class Display:
    """Shows how far each chain is, and nothing if `shown` is false.

    A chain's line has its draws, draws per second and time left, the watched quantity, and the acceptance
    rate of each kernel.
    """

    def __init__(self, plans: list[Plan], *, shown: bool, watched: str | None = None) -> None:
        self.lines = [_Line(plan, watched) for plan in plans] if shown else []

    def show(self, number: int, report: Report) -> None:
        """Show a report."""
        if self.lines:
            self.lines[number].show(report)

    def close(self) -> None:
        """Leave the lines as they are."""
        for line in self.lines:
            line.close()


class _Line:
    """The line of one chain: first of its warm-up, then of its draws."""

    def __init__(self, plan: Plan, watched: str | None) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of tqdm, where a notebook can't show bars
            from tqdm.auto import tqdm

        self.plan = plan
        self.watched = watched
        self.warming = plan.warmup > 0
        self.begun = False
        self.bar: Any = tqdm(
            total=plan.warmup if self.warming else plan.draws,
            desc=f"chain {plan.number}{' warm-up' if self.warming else ''}",
            unit="step" if self.warming else "draw",
            position=plan.number,
            dynamic_ncols=True,
        )

    def show(self, report: Report) -> None:
        """Show a report."""
        bar, plan = self.bar, self.plan
        if not self.begun:
            self.begun = True
            bar.unpause()  # the time until a worker began is no time per draw
        if self.warming and report.step > plan.warmup:
            self.warming = False
            bar.set_description_str(f"chain {plan.number}", refresh=False)
            bar.unit = "draw"
            bar.reset(total=plan.draws)
        done = report.step if self.warming else (report.step - plan.warmup) // plan.thin
        parts = [] if report.value is None else [f"{self.watched}={report.value}"]
        parts += [f"{name} {rate:.0%}" for name, rate in report.rates.items() if rate == rate]
        bar.set_postfix_str(", ".join(parts), refresh=False)
        if done < bar.n:  # a worker died, and another makes the chain again
            bar.reset()
        bar.n = done
        bar.refresh()

    def close(self) -> None:
        """Leave the line as it is."""
        self.bar.close()


def can_be_shown() -> bool:
    """Whether somebody looks: standard error is a terminal, or this is a notebook."""
    return sys.stderr.isatty() or _in_notebook()


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and "IPKernelApp" in getattr(shell, "config", {})
