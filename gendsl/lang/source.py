"""Find the syntax tree of a function, and be sure that it is that function's.

The whole file is parsed, so that line and column numbers are the user's own, and the definition is
looked up by name and first line. What was found is compiled and must be the code that runs: a file edited
since it was imported, or another text under the same file name (`exec` on Python 3.13 reports `<string>`
for many), is refused and not compiled in its place.
"""

from __future__ import annotations

import ast
import dis
import functools
import linecache
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from types import CodeType, FunctionType
from typing import Any, get_args

from gendsl.errors import Location, SourceUnavailableError, UnsupportedSyntaxError
from gendsl.lang.definition import FunctionNode, ScopeNode, compile_definition
from gendsl.lang.trees import STATEMENTS, walk

_Scopes = tuple[ScopeNode, ...]
_SAVE_IT = "save the code in a file and import it, or run it in an IPython or Jupyter cell"


@dataclass(frozen=True)
class Source:
    """A function with the syntax tree that it was compiled from.

    Attributes:
        scopes: the definitions that enclose it, outermost first.
        lines: its text, as it was when it was found: the file may have changed since.
    """

    function: FunctionType
    node: FunctionNode
    scopes: _Scopes
    lines: list[str]

    @property
    def class_name(self) -> str | None:
        """The class whose method this is, or None."""
        owner = self.scopes[-1] if self.scopes else None
        return owner.name if isinstance(owner, ast.ClassDef) else None

    @functools.cached_property
    def parts(self) -> list[ast.AST]:
        """The definition and all that is in it."""
        return walk(self.node)

    @functools.cached_property
    def bound(self) -> set[str]:
        """Every name that the definition, or anything inside it, may bind."""
        return bound_names(self.node)

    @property
    def filename(self) -> str:
        """The user's file."""
        return self.function.__code__.co_filename

    def location(self, node: ast.AST) -> Location:
        """Where a node of the tree stands in the user's file."""
        lineno = getattr(node, "lineno", self.node.lineno)
        columns = None
        if getattr(node, "end_lineno", None) == lineno:
            columns = node.col_offset, node.end_col_offset  # type: ignore[attr-defined]
        return Location(self.filename, lineno, self.function.__name__, columns)


_NAMED = (*get_args(ScopeNode), ast.MatchAs, ast.MatchStar, ast.ExceptHandler)


def bound_names(node: ast.AST) -> set[str]:
    """Every name that a definition, or anything inside it, may bind."""
    names: set[str] = set()
    for part in walk(node):
        if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load):
            names.add(part.id)
        elif isinstance(part, ast.arg):
            names.add(part.arg)
        elif isinstance(part, _NAMED) and part.name and part is not node:
            names.add(part.name)
        elif isinstance(part, ast.MatchMapping) and part.rest:
            names.add(part.rest)
        elif isinstance(part, ast.alias):
            names.add((part.asname or part.name).partition(".")[0])
    return names


# --- looking a definition up -----------------------------------------------------------------------


@dataclass(frozen=True)
class _File:
    """What is looked up in a parsed file.

    Attributes:
        definitions: each function definition, with those that enclose it, by its name and the line of its
            first decorator or `def`.
        imports: the names that the module itself imports. The compiler calls their attributes by other
            instructions than those of other objects.
        lines: its text.
    """

    definitions: dict[tuple[str, int], tuple[FunctionNode, _Scopes]]
    imports: tuple[str, ...]
    lines: list[str]


def _statements(node: ast.AST, scopes: _Scopes = ()) -> Iterator[tuple[ast.AST, _Scopes]]:
    """The statements below a node, each with the definitions that enclose it."""
    for name in STATEMENTS:
        for child in getattr(node, name, ()):
            yield child, scopes
            yield from _statements(child, (*scopes, child) if isinstance(child, ScopeNode) else scopes)


@functools.lru_cache(maxsize=64)
def _parse(text: str) -> _File:
    file = _File({}, (), text.split("\n"))
    imports: list[str] = []
    for node, scopes in _statements(ast.parse(text)):
        if isinstance(node, FunctionNode):
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            file.definitions[node.name, first] = node, scopes
        elif isinstance(node, (ast.Import, ast.ImportFrom)) and not scopes:
            names = [one.asname or one.name for one in node.names if one.name != "*"]
            imports += [name.partition(".")[0] for name in names]
    return replace(file, imports=tuple(imports))


def module_imports(text: str) -> tuple[str, ...]:
    """The names that a module itself imports."""
    return _parse(text).imports


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


# --- making sure of it -----------------------------------------------------------------------------


@functools.lru_cache(maxsize=4096)
def _is_text_of(running: CodeType, node: FunctionNode, scopes: _Scopes, imports: tuple[str, ...]) -> bool:
    """Whether a definition, among those that enclose it and in a module with imports, is what is running."""
    return _is_what_runs(compile_definition(node, scopes, running, imports), running, node)


def _is_what_runs(found: CodeType, running: CodeType, node: FunctionNode) -> bool:
    """Whether code compiled from the text is that of the function.

    pytest compiles more into functions that assert something; of those, all lines without an assert
    must do the same.
    """
    if found == running:
        return True
    if not any(name.startswith("@py") for name in (*running.co_names, *running.co_varnames)):
        return False
    asserted: set[int] = set()
    for part in walk(node):
        if isinstance(part, ast.Assert):
            asserted.update(range(part.lineno, (part.end_lineno or part.lineno) + 1))
    return list(_steps(found, asserted)) == list(_steps(running, asserted))


_ASIDE = ("NOP", "FOR_ITER", "SEND", "EXTENDED_ARG")  # these depend on the distance of a jump, or on indices


def _steps(code: CodeType, ignored: set[int]) -> Iterator[tuple[str, str, str]]:
    """What code does on lines that aren't ignored, jumps aside: they cross those lines."""
    for name in (*code.co_varnames[: code.co_argcount + code.co_kwonlyargcount], *code.co_freevars):
        yield "name", "str", name
    for step in dis.get_instructions(code):
        line = step.positions.lineno if step.positions is not None else None
        if line in ignored or "JUMP" in step.opname or step.opname in _ASIDE:
            continue
        if isinstance(step.argval, CodeType):
            yield from _steps(step.argval, ignored)
        elif isinstance(step.argval, tuple) and step.opname.count("_FAST") > 1:
            # two instructions in one, which the compiler makes where both indices are small
            parts = re.findall("[A-Z]+_FAST", step.opname)
            yield from ((part, "str", repr(name)) for part, name in zip(parts, step.argval, strict=True))
        else:
            yield step.opname, type(step.argval).__name__, repr(step.argval)


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
    if hasattr(function, "__wrapped__"):
        raise UnsupportedSyntaxError(
            f"@{decorator} was applied to what another decorator made of {function.__qualname__}",
            fix=f"write `@{decorator}` directly above `def`, below any other decorator",
        )
    return running_source(function)


def running_source(function: FunctionType) -> Source:
    """The source of a function defined with `def`, whatever name a decorator has given it.

    Raises:
        SourceUnavailableError: its text can't be found, or isn't the text it was compiled from.
    """
    text = _text(function)
    try:
        file = _parse(text)
    except SyntaxError as error:
        raise SourceUnavailableError(
            f"the file of {function.__qualname__} doesn't parse any more: {error}",
            fix="import the module again, so that the file and the running code agree",
        ) from None
    running = function.__code__
    node, scopes = file.definitions.get((running.co_name, running.co_firstlineno), (None, ()))
    if node is not None:
        # an interactive shell compiles each statement by itself, without the imports before it
        for imports in (file.imports, ()):
            if _is_text_of(running, node, scopes, imports):
                return Source(function, node, scopes, file.lines[node.lineno - 1 : node.end_lineno])
    raise SourceUnavailableError(
        f"the text of {function.__qualname__} in {running.co_filename!r} is not what is running: "
        "it was made by exec, or the file was edited since",
        fix=f"import the module again; or {_SAVE_IT}",
    )
