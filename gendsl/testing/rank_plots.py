"""The plot of a calibration: histograms of ranks, and ECDFs less the uniform one. Needs matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import binom

_BAND = "0.88"
_COLOUR = "#3b6ea5"


class RanksOfOne(NamedTuple):
    """What is drawn of one quantity.

    Attributes:
        name: that of the quantity.
        counts: how many ranks lie in each bin, shape (bins,).
        z: the ECDF less the uniform one at 1, ..., L, in standard errors, shape (L,).
        p_value: that of its tests.
    """

    name: str
    counts: np.ndarray
    z: np.ndarray
    p_value: float


def plot_ranks(shown: Sequence[RanksOfOne], simulations: int, largest_z: np.ndarray) -> Any:
    """A figure with two panels for each quantity; see `Calibration.plot`.

    Args:
        shown: the quantities.
        simulations: how many ranks each has.
        largest_z: the largest |z| of each of many sets of as many uniform ranks.

    Raises:
        ImportError: matplotlib isn't installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install 'gendsl[plot]'") from error
    figure = Figure(figsize=(7.0, 1.9 * len(shown) + 0.4), layout="constrained")
    rows = figure.subplots(len(shown), 2, squeeze=False)
    for ranks, (left, right) in zip(shown, rows, strict=True):
        bins, draws = len(ranks.counts), len(ranks.z)
        low, high = binom.ppf([0.025, 0.975], simulations, 1.0 / bins)
        at = np.arange(1, draws + 1) / (draws + 1)
        deviation = np.sqrt(at * (1 - at) / simulations)
        band = np.quantile(largest_z, 0.95) * deviation
        left.axhspan(low, high, color=_BAND, lw=0)
        left.axhline(simulations / bins, color="0.6", lw=0.8)
        left.bar((np.arange(bins) + 0.5) / bins, ranks.counts, 0.9 / bins, color=_COLOUR)
        left.set(title=f"{ranks.name}, p = {ranks.p_value:.2g}", xlim=(0, 1), ylabel="simulations")
        right.fill_between(at, -band, band, color=_BAND, lw=0)
        right.axhline(0.0, color="0.6", lw=0.8)
        right.step(at, ranks.z * deviation, where="mid", color=_COLOUR)
        right.set(xlim=(0, 1), ylabel="ECDF − uniform")
        for axes in (left, right):
            axes.spines[["top", "right"]].set_visible(False)
            axes.title.set_size(9)
            axes.tick_params(labelsize=8)
    for axes in rows[-1]:
        axes.set_xlabel("rank, as a share of L + 1")
    return figure
