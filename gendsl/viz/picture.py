"""Figures that show themselves in notebooks, text whose size is known, and the colours of all pictures."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

try:
    from matplotlib.figure import Figure
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath
except ImportError as error:
    raise ImportError("pictures need matplotlib: pip install 'gendsl[plot]'") from error

from gendsl.address import Path
from gendsl.choices.display import component_label
from gendsl.errors import ValueTypeError

BLUE, ORANGE, GREEN, GREY, RED = "#3b6ea5", "#b8640c", "#2f7d55", "#8a8a8a", "#b03a3a"
PALE_BLUE, PALE_ORANGE, PALE_GREEN, PALE_YELLOW = "#dce8f4", "#fbe6cf", "#d9efe2", "#fdf6d0"

MONOSPACE = "DejaVu Sans Mono"
"""A font that comes with matplotlib, and whose characters are all equally wide."""

PLAIN = "DejaVu Sans"
"""The font of all other text."""

_ADVANCE = 0.64  # of a character of that font in units of its size, with what rounding to pixels adds


class Picture(Figure):
    """A matplotlib figure without pyplot, which notebooks show as a PNG."""

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        width, height = self.get_size_inches()
        size = {"width": round(100 * width), "height": round(100 * height)}
        return self._saved("png", dpi=200), size

    def _saved(self, kind: str, **options: Any) -> bytes:
        buffer = io.BytesIO()
        self.savefig(buffer, format=kind, facecolor="white", **options)
        return buffer.getvalue()


class Diagram(Picture):
    """A figure of lines and text, which notebooks show as an SVG where they can."""

    def _repr_svg_(self) -> str:
        return self._saved("svg", metadata={"Date": None}).decode()


def plain_axes(axes: Any) -> Any:
    """Axes with only the two lines that carry ticks."""
    if not hasattr(axes, "spines"):
        raise ValueTypeError(f"axes={axes!r}", fix="give axes of matplotlib: axes=plt.subplots()[1]")
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=8)
    axes.title.set_size(10)
    return axes


def inch_axes(figure: Any, left: float, top: float, width: float, height: float) -> Any:
    """Axes without lines whose data are inches from a place given in inches, downwards."""
    across, down = figure.get_size_inches()
    edge = 0.05  # lines on the border have a width
    left, top, width, height = left - edge, top - edge, width + 2 * edge, height + 2 * edge
    axes = figure.add_axes((left / across, 1 - (top + height) / down, width / across, height / down))
    axes.set(xlim=(-edge, width - edge), ylim=(height - edge, -edge))
    axes.axis("off")
    return axes


def text_width(text: str, size: float) -> float:
    """The width of text in the font `MONOSPACE`, in inches; `size` is in points."""
    return len(text) * _ADVANCE * size / 72


def plain_width(text: str, size: float) -> float:
    """The width of text in matplotlib's own font, in inches; `size` is in points."""
    shape = TextPath((0, 0), text, size=size, prop=FontProperties(PLAIN))
    return 1.06 * float(shape.get_extents().width) / 72  # with what rounding to pixels adds


def shown_address(path: Path, most: int = 40) -> str:
    """An address without quotes and brackets, its middle cut out where it has more than `most` characters."""
    return shortened(", ".join(map(component_label, path)), most)


def shown_value(value: Any, most: int = 12) -> str:
    """A value in a few characters."""
    if isinstance(value, (float, np.floating)):
        return f"{value:.5g}"
    if isinstance(value, np.ndarray) and value.ndim:
        return f"array {'×'.join(map(str, value.shape))}"
    return shortened(" ".join(repr(value.item() if isinstance(value, np.generic) else value).split()), most)


def shortened(text: str, most: int) -> str:
    """A text with its middle cut out where it has more than `most` characters."""
    if len(text) <= most:
        return text
    tail = (most - 1) // 2
    return f"{text[: most - 1 - tail]}…{text[len(text) - tail :]}"
