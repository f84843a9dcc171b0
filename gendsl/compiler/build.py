"""From a decorated function to the body that an execution runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

from gendsl.compiler.definition import as_function, compile_definition
from gendsl.compiler.fence import check_syntax
from gendsl.compiler.render import render
from gendsl.compiler.rewrite import rewrite
from gendsl.compiler.sites import Site
from gendsl.compiler.source import FunctionNode, find_source


@dataclass(frozen=True, eq=False)
class Compiled:
    """A compiled `@gen` function.

    Attributes:
        original: the function as the user wrote it.
        body: the rewritten function; called with the execution as keyword `__gendsl__`.
        sites: its choices and calls.
        class_name: the class it was defined in, if any.
    """

    original: FunctionType
    body: Callable[..., Any]
    node: FunctionNode = field(repr=False)
    sites: list[Site] = field(repr=False)
    class_name: str | None

    @property
    def source(self) -> str:
        """The generated code, as text."""
        return render(self.node)


def compile_function(function: Any) -> Compiled:
    """Compile the function that `@gen` decorates.

    Raises:
        UnsupportedSyntaxError: its body can't be given a meaning.
        SourceUnavailableError: its source can't be found.
    """
    source = find_source(function, "gen")
    check_syntax(source)
    node, sites = rewrite(source)
    code = compile_definition(node, source.function, source.class_name)
    body = as_function(code, source.function)
    return Compiled(source.function, body, node, sites, source.class_name)
