"""The posterior of a model's structure: how often each was drawn, with Monte Carlo standard errors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from gendsl.address import Path
from gendsl.errors import ValueTypeError
from gendsl.inference.results.run import Run
from gendsl.interface import check_count
from gendsl.viz.picture import BLUE, GREY, Picture, plain_axes, shortened

_COLUMNS = 24  # more whole numbers than this are no columns


def check_run(run: Any, function: str) -> None:
    """Raise `ValueTypeError` unless this is a run with draws."""
    if not isinstance(run, Run):
        raise ValueTypeError(f"{function} draws a run, got {run!r}", fix="pass what gendsl.sample returns")
    if not len(run):
        raise ValueTypeError(f"{function} got a run without draws", fix="sample some draws first")


def plot_posterior_structure(
    run: Run,
    by: Any = None,
    *,
    most: int = 12,
    label: Callable[[Any], str] | None = None,
    axes: Any = None,
) -> Any:
    """The posterior probability of each discrete structure, with bars of two standard errors.

    Whole numbers (the number of components) are columns in their order; other structures are lines, the most
    frequent first.

    Args:
        run: the run.
        by: the quantity that is the structure, as in `run.per_structure`; if not given, which choices there
            are, which needs whole traces.
        most: how many structures to show; the rest are together in a last bar.
        label: what to call a structure; a function of its value.
        axes: matplotlib axes to draw in; those of a new figure if not given.

    Returns:
        A matplotlib figure, that of `axes`.

    Raises:
        ValueTypeError: this is no run, or has no draws.
        UnknownAddressError: there is no such quantity.
    """
    check_run(run, "plot_posterior_structure")
    check_count("most", most, 1)
    groups = run.per_structure(by)
    shares = [(key, group.probability, group.standard_error) for key, group in groups.items()]
    whole = all(type(key) is int for key, _, _ in shares) and by is not None and label is None
    if whole and max(groups) - min(groups) < _COLUMNS:
        return _draw_columns(sorted(shares), str(getattr(by, "__name__", by)), axes)
    if label is not None:
        names = [label(key) for key, _, _ in shares]
    elif by is None:
        names = distinct([_structure_name(key) for key, _, _ in shares])
    else:
        names = [str(key) for key, _, _ in shares]
    return _draw_lines(shares, names, most, axes)


def _new_axes(axes: Any, width: float, height: float) -> Any:
    return Picture(figsize=(width, height), layout="constrained").subplots() if axes is None else axes


def _draw_columns(shares: list[tuple[int, float, float]], name: str, axes: Any) -> Any:
    keys = [key for key, _, _ in shares]
    axes = plain_axes(_new_axes(axes, max(3.2, 0.4 * (keys[-1] - keys[0]) + 2.4), 3.0))
    errors = [2 * error for _, _, error in shares]
    axes.bar(keys, [p for _, p, _ in shares], yerr=errors, color=BLUE, ecolor="0.25", capsize=3, width=0.8)
    axes.set(xlabel=name, ylabel="posterior probability", xticks=range(keys[0], keys[-1] + 1))
    axes.set_ylim(bottom=0)
    return axes.figure


def _draw_lines(shares: list[tuple[Any, float, float]], names: list[str], most: int, axes: Any) -> Any:
    shown = shares[:most]
    rest = len(shares) - len(shown)
    labels = distinct([shortened(name, 44) for name in names[: len(shown)]])
    values = [p for _, p, _ in shown]
    errors: list[float] = [2 * error for _, _, error in shown]
    colours = [BLUE] * len(shown)
    if rest:
        labels.append(f"{rest} more")
        values.append(sum(p for _, p, _ in shares[len(shown) :]))
        errors.append(float("nan"))
        colours.append(GREY)
    axes = plain_axes(_new_axes(axes, 3.8 + 0.085 * max(map(len, labels)), 0.27 * len(labels) + 0.9))
    axes.barh(range(len(labels)), values, xerr=errors, color=colours, ecolor="0.25", capsize=2, height=0.72)
    axes.set_yticks(range(len(labels)), labels)
    axes.invert_yaxis()
    axes.set_xlim(left=0)
    axes.set_xlabel("posterior probability", size=9)
    return axes.figure


def _structure_name(paths: tuple[Path, ...]) -> str:
    """The names of the choices, with how often each occurs."""
    counts = Counter(str(path[0]) for path in paths)
    return ", ".join(name if n == 1 else f"{name} ×{n}" for name, n in counts.items()) or "no choices"


def distinct(names: list[str]) -> list[str]:
    """The names, numbered where several are the same."""
    counts, seen = Counter(names), Counter[str]()
    numbered = []
    for name in names:
        seen[name] += 1
        numbered.append(f"{name} ({seen[name]})" if counts[name] > 1 else name)
    return numbered
