"""Lists and dicts of rows that nothing else holds, so that the entries of a row may be changed in place.

f = [[0.0] * m for _ in range(n)]       each row is a list of its own
f = [[0.0] * m] * n                     all rows are one list: what is put into one is in all of them
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import numpy as np

from gendsl.lang.names import arguments_of, loaded, root_name
from gendsl.lang.trees import located, walk
from gendsl.runtime.lowering.contents import Contents
from gendsl.runtime.lowering.emit import TOOLS
from gendsl.runtime.lowering.integers import counted, is_integer
from gendsl.runtime.lowering.sharing import Names

_READING = frozenset(("count", "get", "index", "items", "keys", "values"))
"""Methods of lists and dicts that leave them as they were, and give no list or dict of the same rows."""


def cell_of(name: str, node: ast.AST) -> tuple[ast.expr, ast.expr] | None:
    """The two keys in `name[key][inner]`, where that is what a node is."""
    match node:
        case ast.Subscript(value=ast.Subscript(value=ast.Name(id=found), slice=key), slice=inner):
            if found == name and not isinstance(key, ast.Slice) and not isinstance(inner, ast.Slice):
                return key, inner
    return None


def as_cell(key: ast.expr, inner: ast.expr) -> ast.expr:
    """What makes the key of `name[key][inner]` where code tells what it reads: (CELL, key, inner)."""
    mark = located(ast.copy_location(ast.Attribute(ast.Name(TOOLS, ast.Load()), "CELL", ast.Load()), key))
    return ast.copy_location(ast.Tuple([mark, key, inner], ast.Load()), key)


def is_cell(node: ast.expr) -> bool:
    """Whether an expression is one that `as_cell` has made, or a list of such."""
    match node:
        case ast.ListComp(elt=key):
            return is_cell(key)
        case ast.Tuple(elts=[ast.Attribute(value=ast.Name(id=tools), attr="CELL"), _, _]):
            return tools == TOOLS
    return False


def as_written(node: ast.expr) -> str:
    """What `as_cell` has made, or a list of such, as users have it: `[i][j]`, with the loops of the list."""
    match node:
        case ast.ListComp(elt=key, generators=generators):
            return f"{as_written(key)}{''.join(map(ast.unparse, generators))}"
        case ast.Tuple(elts=[_, key, inner]):
            return f"[{ast.unparse(key)}][{ast.unparse(inner)}]"
    raise TypeError(ast.dump(node))


class Rows(Contents):
    """What is known of the rows of one function's lists and dicts, and of the entries of its arrays."""

    _counted: set[str] | None = None

    def reached(self, node: ast.expr | None) -> tuple[Names, Names]:
        if isinstance(node, ast.Subscript) and self._is_number_of_array(node):
            return set(), set()
        return super().reached(node)

    def _is_number_of_array(self, node: ast.Subscript) -> bool:
        """Whether it is an entry, at an integer for each axis, of what surely is an array of numbers."""
        match node:
            case ast.Subscript(value=ast.Name(id=name), slice=ast.Tuple(elts=parts)):
                pass
            case _:
                return False
        if not self.of_name(f"axes: {len(parts)}", name, False, lambda: self._has_axes(name, len(parts))):
            return False
        if self._counted is None:
            self._counted = counted(self.source, self.is_builtin)
        return all(is_integer(part, self._counted) for part in parts)

    def _has_axes(self, name: str, axes: int) -> bool:
        """Whether a name is only bound to arrays of numbers that are made with so many axes."""
        values = self.bindings(name, *self.source.node.body)
        if not values or name in arguments_of(self.source.node):
            return False
        for value in values:
            match value:
                case ast.Call(args=[ast.Tuple(elts=sizes)], keywords=keywords):
                    made = self.function_of(value)
                    numbers = all(
                        word.arg == "dtype" and any(self.is_builtin(word.value, t) for t in ("int", "float"))
                        for word in keywords
                    )
                    known = any(made is maker for maker in (np.zeros, np.ones, np.empty))
                    starred = any(isinstance(size, ast.Starred) for size in sizes)
                    if not (known and numbers) or len(sizes) != axes or starred:
                        return False
                case _:
                    return False
        return True

    def has_own_rows(self, name: str) -> bool:
        """Whether each row of a list or a dict of a name is one that nothing else holds when it is put there,
        and the function changes rows only entry by entry."""
        return self.of_name("rows", name, False, lambda: self._makes_rows(name) and self._keeps_rows(name))

    def changes_rows(self, name: str) -> bool:
        """Whether the function changes entries of the rows of such a list or dict."""
        parts = self.source.parts
        changed = (t for part in parts if isinstance(part, ast.Assign) for t in part.targets)
        return self.has_own_rows(name) and self.of_name(
            "changed rows", name, False, lambda: any(cell_of(name, target) is not None for target in changed)
        )

    def only_cells(self, name: str, node: ast.AST) -> bool:
        """Whether a node names a list or a dict of rows only for single entries of these."""
        parts = walk(node)
        keys = [found[0] for part in parts if (found := cell_of(name, part)) is not None]
        # of a list, `f[some][0]` may be a row
        known = self.is_dict(name) or all(map(self._is_no_slice, keys))
        return known and sum(_is_named(name, part) for part in parts) == len(keys)

    def _is_no_slice(self, key: ast.expr) -> bool:
        match key:
            case ast.Constant() | ast.BinOp() | ast.UnaryOp():
                return True
            case ast.Name(id=name):
                values = self.bindings(name, *self.source.node.body)
                rest = [value for value in values if value is not None]
                known = len(values) - len(rest) == self._times_counted(name) and bool(values)
                return known and self.of_name(
                    "no slice", name, True, lambda: all(map(self._is_no_slice, rest))
                )
        return self.is_number(key)

    def _times_counted(self, name: str) -> int:
        """How often a name is the count in `for count, x in enumerate(xs)`."""
        found = 0
        for part in self.source.parts:
            if not isinstance(part, (ast.For, ast.comprehension)):
                continue
            match part.target, part.iter:
                case ast.Tuple(elts=[ast.Name(id=count), _]), ast.Call(func=function):
                    found += count == name and self.is_builtin(function, "enumerate")
        return found

    def changes(self, node: ast.AST) -> Iterator[tuple[str, bool, ast.AST]]:
        """What a statement changes in place: the local name, whether it is inside its value, and where."""
        raise TypeError("defined by Effects")

    def rows_changed(self, names: frozenset[str], statements: list[ast.stmt]) -> frozenset[str]:
        """The lists and dicts of rows of their own, of some, of which statements change the rows."""
        changes = (change for statement in statements for change in self.changes(statement))
        deep = {name for name, inside, _ in changes if inside and name in names}
        return frozenset(filter(self.has_own_rows, deep))

    def _makes_rows(self, name: str) -> bool:
        """Whether all that the name is bound to is a list or a dict with rows of its own."""
        values = self.bindings(name, *self.source.node.body)
        if not values or name in arguments_of(self.source.node):
            return False
        return all(value is not None and self._has_fresh_rows(value) for value in values)

    def _has_fresh_rows(self, node: ast.expr) -> bool:
        match node:
            case ast.ListComp(elt=row) | ast.DictComp(value=row):
                return self.is_fresh(row)
            case ast.List(elts=rows) | ast.Dict(values=rows):
                return all(map(self.is_fresh, rows)) and None not in getattr(node, "keys", ())
            case ast.BinOp(left, ast.Add(), right):
                return self._has_fresh_rows(left) and self._has_fresh_rows(right)
        return False

    def _keeps_rows(self, name: str) -> bool:
        """Whether all that is put into the container later is such a row, or an entry of one, and no other
        list or dict gets its rows unseen: as `f.copy()`, `f + g` and `g += f` do."""
        known: set[ast.AST] = set()
        for part in self.source.parts:
            match part:
                case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=found)) as target], value=row):
                    if found == name and self.is_fresh(row):
                        known.add(target)
                case ast.Assign(targets=[ast.Subscript() as target]):
                    if cell_of(name, target) is not None:
                        known.add(target)
                case ast.Call(func=ast.Attribute(value=ast.Name(id=found), attr="append"), args=[row]):
                    if found == name and self.is_fresh(row):
                        known |= {part, part.func}
        if any(self._may_share(name, part, known) for part in self.source.parts):
            return False
        changes = (change for statement in self.source.node.body for change in self.changes(statement))
        return all(changed != name or at in known for changed, _, at in changes)

    def _may_share(self, name: str, part: ast.AST, known: set[ast.AST]) -> bool:
        match part:
            case ast.Subscript() if not isinstance(part.ctx, ast.Load):
                return root_name(part) == name and part not in known
            case ast.Attribute(value=ast.Name(id=found), attr=method):
                return found == name and part not in known and method not in _READING
            case ast.BinOp(left, _, right):
                return _is_named(name, left) or _is_named(name, right)
            case ast.AugAssign(target=target, value=value):
                return _is_named(name, target) or _is_named(name, value)
            case ast.Call():
                return self._of_objects(part) and name in loaded(part)
        return False


def _is_named(name: str, node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id == name
