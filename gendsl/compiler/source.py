"""Find the syntax tree of a function, and be sure that it is that function's.

The whole file is parsed, so that line and column numbers are the user's own, and the definition is
looked up by name and first line. What was found is compiled once and its names compared with those of
the function that runs: a file edited since it was imported, or another text under the same file name
(`exec` on Python 3.13 reports `<string>` for many), is refused and not compiled in its place.
"""

from __future__ import annotations

import ast
import functools
import linecache
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Any

from gendsl.compiler.definition import FunctionNode, compile_definition
from gendsl.errors import Location, SourceUnavailableError, UnsupportedSyntaxError

_SAVE_IT = "save the code in a file and import it, or run it in an IPython or Jupyter cell"


@dataclass(frozen=True)
class Source:
    """A function with the syntax tree that it was compiled from."""

    function: FunctionType
    node: FunctionNode
    filename: str
    class_name: str | None  # the class whose body holds the definition: it mangles private names

    def location(self, node: ast.AST) -> Location:
        """Where a node of the tree stands in the user's file."""
        lineno = getattr(node, "lineno", self.node.lineno)
        columns = None
        if getattr(node, "end_lineno", None) == lineno:
            line = linecache.getline(self.filename, lineno).encode()
            start, end = node.col_offset, node.end_col_offset  # type: ignore[attr-defined]
            columns = (len(line[:start].decode()), len(line[:end].decode()))
        return Location(self.filename, lineno, self.function.__name__, columns)


@functools.lru_cache(maxsize=64)
def _definitions(text: str) -> dict[tuple[str, int], FunctionNode]:
    """Every function definition of a file by its name and the line of its first decorator or `def`."""
    found: dict[tuple[str, int], FunctionNode] = {}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, FunctionNode):
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            found[node.name, first] = node
    return found


def _text(function: FunctionType) -> str:
    filename = function.__code__.co_filename
    linecache.checkcache(filename)
    lines = linecache.getlines(filename, function.__globals__)
    if not lines:
        raise SourceUnavailableError(
            f"the source of {function.__qualname__} is not available (its file is {filename!r})",
            fix=_SAVE_IT,
        )
    return "".join(lines)


def _same_names(node: FunctionNode, class_name: str | None, function: FunctionType) -> bool:
    """Whether the tree, compiled anew, uses the names and strings that the running code uses."""
    running = function.__code__
    try:
        found = compile_definition(node, function, class_name)
    except SyntaxError:
        return False
    parameters = running.co_argcount + running.co_kwonlyargcount
    known = {*running.co_names, *running.co_varnames, *running.co_freevars, *running.co_cellvars}
    return (
        found.co_argcount + found.co_kwonlyargcount == parameters
        and found.co_varnames[:parameters] == running.co_varnames[:parameters]
        and found.co_freevars == running.co_freevars
        # a subset, since pytest adds names of its own when it rewrites asserts
        and {*found.co_names, *found.co_varnames, *found.co_cellvars} <= known
        and _strings(found) <= _strings(running)
    )


def _strings(code: CodeType) -> set[str]:
    """The string constants of a code object and of those inside it, f-strings and docstrings too."""
    strings: set[str] = set()
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            if constant.co_name.startswith("<"):  # comprehensions are inlined by some versions only
                strings |= _strings(constant)
        elif isinstance(constant, str):
            strings.add(constant)
    return strings


def find_source(function: Any, decorator: str) -> Source:
    """The source of a function that `decorator` is applied to.

    Raises:
        UnsupportedSyntaxError: not a plain Python function defined with `def`.
        SourceUnavailableError: its text can't be found, or isn't the text it was compiled from.
    """
    if isinstance(function, (staticmethod, classmethod)):
        kind = type(function).__name__
        raise UnsupportedSyntaxError(
            f"@{decorator} was applied to a {kind}", fix=f"write @{kind} above @{decorator}"
        )
    if not isinstance(function, FunctionType) or function.__name__ == "<lambda>":
        raise UnsupportedSyntaxError(
            f"@{decorator} needs a function defined with `def`, got {function!r}",
            fix=f"write `@{decorator}` directly above `def`, below any other decorator",
        )
    text = _text(function)
    try:
        definitions = _definitions(text)
    except SyntaxError as error:
        raise SourceUnavailableError(
            f"the file of {function.__qualname__} doesn't parse any more: {error}",
            fix="import the module again, so that the file and the running code agree",
        ) from None
    code = function.__code__
    node = definitions.get((code.co_name, code.co_firstlineno))
    scopes = function.__qualname__.split(".")
    class_name = scopes[-2] if len(scopes) > 1 and scopes[-2] != "<locals>" else None
    if node is None or not _same_names(node, class_name, function):
        raise SourceUnavailableError(
            f"the text of {function.__qualname__} in {code.co_filename!r} is not what is running: "
            "it was made by exec, or the file was edited since",
            fix=f"import the module again; or {_SAVE_IT}",
        )
    return Source(function, node, code.co_filename, class_name)
