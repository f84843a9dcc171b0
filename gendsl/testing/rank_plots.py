"""The plot of a calibration: histograms of ranks, and ECDFs less the uniform one. Needs matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import binom

from gendsl.errors import UnknownAddressError
from gendsl.testing import calibration

if TYPE_CHECKING:
    from gendsl.testing.calibration import Calibration

_SHOWN = 6
_BAND = "0.88"
_COLOUR = "#3b6ea5"


def plot_ranks(found: Calibration, names: Sequence[str] | str | None = None) -> Any:
    """A figure with two panels for each quantity; see `Calibration.plot`.

    Raises:
        UnknownAddressError: a name is none of a quantity.
        ImportError: matplotlib isn't installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install 'gendsl[plot]'") from error
    p_values = found.p_values
    if names is None:
        names = sorted(p_values, key=lambda name: p_values[name])[:_SHOWN]
    names = [names] if isinstance(names, str) else list(names)
    for name in names:
        if name not in p_values:
            known = ", ".join(p_values)
            raise UnknownAddressError(f"no quantity is named {name!r}", fix=f"one of: {known}")
    bins, simulations, draws = found.bins, found.simulations, found.draws
    low, high = binom.ppf([0.025, 0.975], simulations, 1.0 / bins)
    at = np.arange(1, draws + 1) / (draws + 1)
    band = np.quantile(calibration.largest_z(simulations, draws), 0.95) * np.sqrt(at * (1 - at) / simulations)
    figure = Figure(figsize=(7.0, 1.9 * len(names) + 0.4), layout="constrained")
    rows = figure.subplots(len(names), 2, squeeze=False)
    for name, (left, right) in zip(names, rows, strict=True):
        left.axhspan(low, high, color=_BAND, lw=0)
        left.axhline(simulations / bins, color="0.6", lw=0.8)
        left.bar((np.arange(bins) + 0.5) / bins, found.counts(name), 0.9 / bins, color=_COLOUR)
        left.set(title=f"{name}, p = {p_values[name]:.2g}", xlim=(0, 1), ylabel="simulations")
        right.fill_between(at, -band, band, color=_BAND, lw=0)
        right.axhline(0.0, color="0.6", lw=0.8)
        right.step(at, found.ecdf_z(name) * np.sqrt(at * (1 - at) / simulations), where="mid", color=_COLOUR)
        right.set(xlim=(0, 1), ylabel="ECDF − uniform")
        for axes in (left, right):
            axes.spines[["top", "right"]].set_visible(False)
            axes.title.set_size(9)
            axes.tick_params(labelsize=8)
    for axes in rows[-1]:
        axes.set_xlabel("rank, as a share of L + 1")
    return figure
