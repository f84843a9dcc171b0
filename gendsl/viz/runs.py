"""Pictures of a run: a discrete quantity along its chains, and the acceptance of its kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.ticker import MaxNLocator

from gendsl.errors import ValueTypeError
from gendsl.inference.results.run import Run
from gendsl.inference.running.tally import duration
from gendsl.interface import check_count
from gendsl.viz.picture import BLUE, GREY, RED, Picture, plain_axes, shortened
from gendsl.viz.posterior import check_run, distinct

_POINTS = 20_000  # beyond this the line is pixels, also in an SVG


def plot_k_trace(run: Run, name: Any = "k", *, most: int = 8) -> Any:
    """A quantity in every draw of each chain, and beside it the share of its values in each chain.

    Args:
        run: the run.
        name: a recorded quantity, or an address; its values are numbers.
        most: how many chains to show.

    Returns:
        A matplotlib figure with a line of two panels for each chain.

    Raises:
        ValueTypeError: this is no run, has no draws, or the values are no numbers.
        UnknownAddressError: there is no such quantity.
    """
    check_run(run, "plot_k_trace")
    check_count("most", most, 1)
    columns = [_numbers(values, name) for values in run.by_chain(name)]
    shown = columns[:most]
    title = str(getattr(name, "__name__", name))
    figure = Picture(figsize=(8.0, 0.8 + (1.1 if len(shown) > 1 else 1.9) * len(shown)), layout="constrained")
    grid = figure.subplots(
        len(shown), 2, squeeze=False, sharey=True, sharex="col", width_ratios=(4, 1)
    )
    finite = [x[np.isfinite(x)] for x in columns]
    values = np.concatenate(finite)
    whole = values.size > 0 and bool((values == np.round(values)).all())
    for number, (column, (left, right)) in enumerate(zip(shown, grid, strict=True)):
        plain_axes(left).plot(
            column, drawstyle="steps-post", lw=0.7, color=BLUE, rasterized=len(column) > _POINTS
        )
        _shares(plain_axes(right), finite[number], values, whole)
        left.set_ylabel(title if len(shown) == 1 else f"{title}, chain {number}", size=9)
    if whole:
        for left in grid[:, 0]:
            left.yaxis.set_major_locator(MaxNLocator(integer=True, nbins=6, min_n_ticks=1))
    left, right = grid[-1]
    left.set_xlabel("draw", size=9)
    right.set_xlabel("share of draws", size=9)
    if len(columns) > len(shown):
        figure.suptitle(f"{len(shown)} of {len(columns)} chains", size=9, color=GREY)
    return figure


def _numbers(values: list[Any], name: Any) -> np.ndarray:
    try:
        column = np.array([np.nan if value is None else value for value in values], dtype=float)
    except (TypeError, ValueError):
        column = np.empty((0, 0))
    if column.ndim != 1:
        raise ValueTypeError(
            f"plot_k_trace draws a quantity that is a number in every draw, and {name!r} isn't",
            fix="record a number: record={'k': lambda trace: len(...)}",
        )
    return column


def _shares(axes: Any, column: np.ndarray, values: np.ndarray, whole: bool) -> None:
    if not column.size:
        return
    if whole and np.ptp(values) < 200:
        found, counts = np.unique(column, return_counts=True)
        axes.barh(found, counts / len(column), height=0.8, color=BLUE)
    else:
        counts, edges = np.histogram(column, bins=30, range=(values.min(), values.max()))
        axes.barh(edges[:-1], counts / len(column), height=np.diff(edges), align="edge", color=BLUE)


def plot_acceptance(run: Run, *, axes: Any = None) -> Any:
    """The acceptance rate of every kernel of a run, with a dot for each chain where there are several.

    Beside each bar stand the number of proposals, the time that one takes, and how many failed a check.

    Args:
        run: the run.
        axes: matplotlib axes to draw in; those of a new figure if not given.

    Returns:
        A matplotlib figure, that of `axes`.

    Raises:
        ValueTypeError: this is no run, or has no draws.
    """
    check_run(run, "plot_acceptance")
    tallies = run.acceptance
    if not tallies:
        raise ValueTypeError("no kernel ran after warm-up, so there are no acceptance rates", fix="draw more")
    names = list(tallies)
    labels = distinct([shortened(name, 32) for name in names])
    if axes is None:
        size = (6.6 + 0.085 * max(map(len, labels)), 0.34 * len(names) + 0.85)
        axes = Picture(figsize=size, layout="constrained").subplots()
    plain_axes(axes)
    places = range(len(names))
    rates = [100 * tally.rate for tally in tallies.values()]
    axes.barh(places, rates, color=BLUE, height=0.66, alpha=0.85)
    for place, name in zip(places, names, strict=True):
        _annotate(axes, place, tallies[name])
        if len(run.chains) > 1:
            each = [100 * c.acceptance[name].rate for c in run.chains if name in c.acceptance]
            axes.plot(each, [place] * len(each), ".", color="0.15", ms=4, zorder=4, clip_on=False)
    axes.set_yticks(places, labels)
    axes.invert_yaxis()
    axes.set(xlim=(0, 100), ylim=(len(names) - 0.4, -0.6))
    axes.set_xlabel("accepted, %", size=9)
    return axes.figure


def _annotate(axes: Any, place: int, tally: Any) -> None:
    text = f"{tally.rate:.1%} of {tally.proposed:,}"
    if tally.seconds:
        text += f", {duration(tally.seconds / tally.proposed)} each"
    beside = {"xycoords": ("axes fraction", "data"), "va": "center", "size": 8, "annotation_clip": False}
    axes.annotate(text, (1.02, place), color="0.25", **beside)
    if tally.failed_checks:
        failed = f"{tally.failed_checks:,} failed a check"
        axes.annotate(failed, (1.02, place + 0.36), color=RED, **{**beside, "size": 7})
