"""Loops over the calls of programs that call themselves, in a text."""

from __future__ import annotations

from collections.abc import Callable

from gendsl.compiler import hir
from gendsl.compiler.hir import Body, Const, Expr, Kind, Var
from gendsl.compiler.hir.templates import Template


def each_call(
    fresh: Callable[[str, Kind], Var],
    label: Callable[[], int],
    template: Template,
    first: tuple[Expr, ...],
    inside: Callable[[tuple[Expr, ...]], Body],
) -> Body:
    """What is done for each call of the current trace at a template.

    Args:
        fresh: makes a variable.
        label: makes a label for a loop.
        template: that of the calls.
        first: the first indices of the calls.
        inside: what is done, from all indices.
    """
    more = [fresh("at", "i") for _ in range(len(first), template.rank)]
    indices = (*first, *more)
    made = fresh("made", "b")
    body: Body = [hir.Present(made, template, indices), hir.If(made, inside(indices), [])]
    for axis, var in reversed(list(enumerate(more, len(first)))):
        extent = fresh("extent", "i")
        loop = hir.For(var, hir.ZEROS["i"], extent, Const(1, "i"), body, label())
        body = [hir.Extent(extent, template, axis), loop]
    return body
