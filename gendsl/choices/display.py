"""How choice maps print: one line for `repr`, a tree for `str`, nested lists for notebooks."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from gendsl.address import Path, format_address

__all__ = ["html_tree", "nest", "one_line", "summary", "text_tree"]

_SIBLINGS = 40  # more than this many under one address are elided
_HEAD, _TAIL = 10, 3
_DEPTH = 30  # deeper levels are counted, not shown
_LINES = 1000  # of HTML; namespaces beyond it are counted
_WIDTH = 72
_ENTRIES = 8


class _Namespace(dict[Any, Any]):
    """The addresses below one address; a class of its own, because a choice's value may be a dict."""


def nest(items: Iterable[tuple[Path, Any]], kind: type[dict[Any, Any]]) -> dict[Any, Any]:
    """Nested dicts of `kind`, one level per component of the paths.

    A component that is itself a tuple is wrapped in a 1-tuple, so that it reads back as one component.
    """
    root = kind()
    for path, value in items:
        *above, last = ((c,) if isinstance(c, tuple) else c for c in path)
        node = root
        for component in above:
            node = node.setdefault(component, kind())
        node[last] = value
    return root


def summary(value: Any) -> str:
    """`value` on one line of at most 72 characters; of a long array or list its size and a few entries."""
    if isinstance(value, np.ndarray):
        text = _array_summary(value)
    elif isinstance(value, (list, tuple)) and len(value) > _ENTRIES:
        first, second, third, last = map(summary, (*value[:3], value[-1]))
        text = f"{type(value).__name__} of {len(value)}: {first}, {second}, {third}, …, {last}"
    else:
        text = " ".join(repr(value.item() if isinstance(value, np.generic) else value).split())
    return text if len(text) <= _WIDTH else text[: _WIDTH - 1] + "…"


def _array_summary(array: np.ndarray[Any, Any]) -> str:
    if array.size <= _ENTRIES:
        text = np.array2string(array, separator=", ", max_line_width=10_000)
        return f"array({' '.join(text.split())})"
    shape = "×".join(map(str, array.shape))
    if array.dtype.kind not in "biuf":
        return f"{array.dtype} array, {shape}"
    entries = array.flat[:3].tolist() + array.flat[-1:].tolist()
    first, second, third, last = (f"{e:.6g}" if isinstance(e, float) else str(e) for e in entries)
    return f"{array.dtype} array, {shape}: {first}, {second}, {third}, …, {last}"


def one_line(items: Iterable[tuple[Path, Any]]) -> str:
    """`choicemap({'k': 2, ('mu', 0): 1.5})`; the middle of a long map is left out."""
    entries = [f"{format_address(path)}: {summary(value)}" for path, value in items]
    if len(entries) > _SIBLINGS:
        left_out = len(entries) - _HEAD - _TAIL
        entries = [*entries[:_HEAD], f"… {left_out} more", *entries[-_TAIL:]]
    return f"choicemap({{{', '.join(entries)}}})"


def component_label(component: Any) -> str:
    """A component of an address, without quotes where it is a name."""
    if isinstance(component, str) and component.isidentifier():
        return component
    return repr(component.item() if isinstance(component, np.generic) else component)


def _count(node: _Namespace) -> int:
    """How many choices lie below; without recursion, as it is called where the tree is too deep."""
    total, nodes = 0, [node]
    while nodes:
        for child in nodes.pop().values():
            if isinstance(child, _Namespace):
                nodes.append(child)
            else:
                total += 1
    return total


def choices_text(count: int) -> str:
    """So many choices, in words."""
    return f"{count or 'no'} choice{'' if count == 1 else 's'}"


def _branches(node: _Namespace) -> Iterator[tuple[str, _Namespace | None]]:
    """What to show below one address: the text of each line, and the namespace below it if any."""
    keys = list(node)
    elided = keys[_HEAD:-_TAIL] if len(keys) > _SIBLINGS else []
    for position, key in enumerate(keys):
        if elided and position == _HEAD:
            yield f"… {len(elided)} more", None
        if elided and _HEAD <= position < len(keys) - _TAIL:
            continue
        component = key[0] if isinstance(key, tuple) else key
        value = node[key]
        if isinstance(value, _Namespace):
            yield component_label(component), value
        else:
            yield f"{component_label(component)}: {summary(value)}", None


def text_tree(items: Iterable[tuple[Path, Any]]) -> str:
    """A tree in box-drawing characters, one line per choice or namespace."""
    root = nest(items, _Namespace)
    assert isinstance(root, _Namespace)
    lines = [f"choicemap, {choices_text(_count(root))}"]
    _add_lines(root, "", 1, lines)
    return "\n".join(lines)


def _add_lines(node: _Namespace, indent: str, depth: int, lines: list[str]) -> None:
    branches = list(_branches(node))
    for position, (text, below) in enumerate(branches, start=1):
        last = position == len(branches)
        if below is not None and depth == _DEPTH:
            text = f"{text}: … {choices_text(_count(below))} below"
            below = None
        lines.append(f"{indent}{'└── ' if last else '├── '}{text}")
        if below is not None:
            _add_lines(below, indent + ("    " if last else "│   "), depth + 1, lines)


def html_tree(items: Iterable[tuple[Path, Any]]) -> str:
    """The same tree as nested HTML lists whose namespaces fold; past 1000 lines they are only counted."""
    root = nest(items, _Namespace)
    assert isinstance(root, _Namespace)
    return f"<div>choicemap, {choices_text(_count(root))}{_html_list(root, 1, [_LINES])}</div>"


def _html_list(node: _Namespace, depth: int, left: list[int]) -> str:
    """The list of what is below an address; `left` holds how many lines may still be shown."""
    parts = []
    branches = list(_branches(node))
    left[0] -= len(branches)
    for text, below in branches:
        if below is None:
            parts.append(f"<li><code>{html.escape(text)}</code></li>")
            continue
        label = f"<code>{html.escape(text)}</code> ({choices_text(_count(below))})"
        if depth == _DEPTH or left[0] <= 0:
            parts.append(f"<li>{label}</li>")
        else:
            inside = _html_list(below, depth + 1, left)
            parts.append(f"<li><details open><summary>{label}</summary>{inside}</details></li>")
    return f"<ul>{''.join(parts)}</ul>" if parts else ""
