"""What a transform does with the traces, line by line."""

from __future__ import annotations

import ast
import textwrap
from typing import Any

from gendsl.lang.sites import known_value
from gendsl.lang.trees import walk
from gendsl.runtime.lowering.explain import head, joined
from gendsl.runtime.lowering.lines import WIDTH, Listing
from gendsl.transforms.definition import Definition
from gendsl.transforms.labels import continuous, discrete
from gendsl.transforms.statements import copy, read, write

_READ = {
    continuous: "reads a number with its derivative",
    discrete: "reads a plain value",
    None: "reads a choice",
}
_WRITTEN = {
    continuous: "writes rows of the Jacobian",
    discrete: "writes a plain value",
    None: "writes a choice",
}


def explain(f: Definition) -> str:
    """The body with what is said of each line beside it, below what holds for all of it."""
    listing = Listing(f.origin)
    for node in walk(f.origin.node):
        note = _said(f, node)
        if note is not None:
            listing.note(node.lineno, note)  # type: ignore[attr-defined]
    model_in, model_out = f.inputs[0], f.outputs[0]
    about = (
        f"Maps {joined(f.inputs)} to {joined(f.outputs)}. What it neither writes nor copies stays in "
        f"{model_out} as it is in {model_in}; what is new in {model_out} must be written or copied"
        + (f", and so must all of {f.outputs[1]}." if len(f.outputs) > 1 else ".")
    )
    if f.parameters:
        shown = joined(f"{name} = {value!r}" for name, value in f.parameters.items())
        about += f" Parameters, which `bind` sets: {shown}."
    lines = textwrap.wrap(about, WIDTH, break_long_words=False, break_on_hyphens=False)
    return "\n".join([head(f.origin), *lines, "", str(listing)])


def _said(f: Definition, node: ast.AST) -> str | None:
    """What a part of the body does with the traces; None where that is nothing."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in f.inputs:
        asked = {"args": "looks at arguments", "retval": "looks at a return value: to decide, not to write"}
        return asked.get(node.attr)
    if not isinstance(node, ast.Call):
        return None
    function = known_value(f.origin, node.func)
    if function is read:
        return _READ.get(_label(f, node, 1), _READ[None])
    if function is write:
        return _WRITTEN.get(_label(f, node, 2), _WRITTEN[None])
    if function is copy:
        return "copies, with no row of the Jacobian"
    return f"runs the transform {function.name} here" if isinstance(function, Definition) else None


def _label(f: Definition, call: ast.Call, position: int) -> Any:
    """The label that a call has, as far as it is known before the body runs."""
    given = call.args[position:] or [keyword.value for keyword in call.keywords if keyword.arg == "label"]
    return known_value(f.origin, given[0]) if given else None
