"""Cost against N: a curve for each work that is measured at several N, beside that of its baseline."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness import Line

BY_HAND: dict[str, Any] = {"ls": (0, (4, 3)), "lw": 1, "mfc": "none", "alpha": 0.7}


def draw(lines: list[Line], path: Path) -> None:
    """Draw, on logarithmic axes, the work that must not grow with N on the left, all other on the right."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 2, figsize=(12, 6.5), sharey=True, layout="constrained")
    panels[0].set(title="changes a constant number of choices", ylabel="microseconds")
    panels[1].set(title="depends on all N")
    for axes, flat in zip(panels, (True, False), strict=True):
        for i, (work, points) in enumerate(several_sizes(lines, flat).items()):
            sizes = [point.n for point in points]
            style: dict[str, Any] = {"color": f"C{i}", "marker": "os^vD"[i % 5], "ms": 5}
            axes.plot(sizes, [point.us for point in points], label=work, **style)
            axes.plot(sizes, [point.baseline_us for point in points], **BY_HAND, **style)
        axes.plot([], [], color="0.4", marker="o", label="by hand, the same colours", **BY_HAND)
        axes.set(xscale="log", yscale="log", xlabel="N")
        axes.grid(color="0.92")
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False, fontsize="small", loc="upper center", bbox_to_anchor=(0.5, -0.12))
    figure.savefig(path, dpi=150)
    plt.close(figure)


def several_sizes(lines: list[Line], flat: bool) -> dict[str, list[Line]]:
    """The lines by work, of those that are measured at more than one N; against their first baseline."""
    found: dict[str, list[Line]] = {}
    for line in lines:
        if line.us is not None and line.flat is flat:
            same = found.setdefault(line.work, [])
            if all(line.n != other.n for other in same):
                same.append(line)
    return {work: points for work, points in found.items() if len(points) > 1}
