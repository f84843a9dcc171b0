"""How the statements of a loop write entries of a container.

x[t] = ...                              one entry
x[t, 0] = ...; x[t, 1] = ...            several, one after the other
for j in range(m): x[t, j] = ...        those that an inner loop writes
if t == 0: x[t] = ...                   what one arm or the other writes
else: x[t] = ...
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import NamedTuple

from gendsl.lang.names import has_choice
from gendsl.lang.trees import clone, walk
from gendsl.runtime.lowering.rows import cell_of

Changes = Callable[[ast.AST], bool]
"""Whether a statement, or an expression, changes the container."""


class Write(NamedTuple):
    """How statements write entries of a container.

    Attributes:
        kind: as in `Stored`.
        indices: how many indices name an entry of an array.
        rows: whether it is an entry of a row, `f[i][j]`.
        optional: whether they may write none.
        joined: whether it is one of several statements that writes the entry, in the arms of a branch.
        late: whether an arm of a branch looks something up after it has written there.
        key: for "index", the index.
    """

    kind: str
    indices: int = 1
    rows: bool = False
    optional: bool = False
    joined: bool = False
    late: bool = False
    key: str = ""


def write_of(name: str, statements: list[ast.stmt], changes: Changes) -> Write | None:
    """How statements that change a container write its entries; None if they do it in no such way."""
    writes = [_write(name, statement, changes) for statement in statements]
    first, *others = writes
    if first is None or not others:
        return first
    if any(w is None or "append" in (w.kind, first.kind) or not _is_alike(w, first) for w in others):
        return None
    return Write("nested", first.indices, first.rows, all(w is not None and w.optional for w in writes))


def leaves(statement: ast.stmt, changes: Changes) -> Iterator[ast.stmt]:
    """The statements that write entries of a container, of one that has them in the arms of branches."""
    if isinstance(statement, ast.If):
        for inner in filter(changes, (*statement.body, *statement.orelse)):
            yield from leaves(inner, changes)
    else:
        yield statement


def key_of(target: ast.AST) -> ast.expr:
    """The key at which an entry is written: of a row's, that of the row and its own."""
    assert isinstance(target, ast.Subscript)
    if isinstance(target.value, ast.Subscript):
        keys: list[ast.expr] = [clone(target.value.slice), clone(target.slice)]
        return ast.copy_location(ast.Tuple(keys, ast.Load()), target)
    return target.slice


def times_named(name: str, *nodes: ast.AST) -> int:
    """How often a name stands in some syntax."""
    return sum(isinstance(part, ast.Name) and part.id == name for node in nodes for part in walk(node))


def _is_alike(one: Write, other: Write) -> bool:
    return (one.indices, one.rows) == (other.indices, other.rows)


def _write(name: str, statement: ast.stmt, changes: Changes) -> Write | None:
    """How one statement that changes a container writes its entries."""
    match statement:
        case ast.Expr(
            value=ast.Call(func=ast.Attribute(value=ast.Name(id=found), attr="append"), args=[_], keywords=[])
        ) if found == name:
            return Write("append")
        case ast.For(iter=iterable, body=body, orelse=[]) if not changes(iterable):
            inner = write_of(name, [*filter(changes, body)], changes)
            if inner is None or inner.kind == "append":
                return None
            return Write("nested", inner.indices, inner.rows)
        case ast.If(test=test) if not changes(test):
            return _in_arms(name, statement, changes)
        case ast.Assign(targets=[target]):
            return _at(name, target)
    return None


def _at(name: str, target: ast.expr) -> Write | None:
    """How an assignment to a target writes one entry."""
    match target:
        case ast.Subscript(value=ast.Name(id=found), slice=index) if found == name:
            if _is_plain_index(index):
                indices = len(index.elts) if isinstance(index, ast.Tuple) else 1
                return Write("index", indices, key=ast.dump(index))
        case _:
            cell = cell_of(name, target)
            if cell is not None and all(map(_is_plain_index, cell)):
                return Write("index", rows=True, key=", ".join(map(ast.dump, cell)))
    return None


def _in_arms(name: str, node: ast.If, changes: Changes) -> Write | None:
    """How a branch writes entries, in one of its arms or in either."""
    found: list[Write] = []
    late = False
    for arm in (node.body, node.orelse):
        changing = [statement for statement in arm if changes(statement)]
        if not changing:
            continue
        write = write_of(name, changing, changes)
        if write is None:
            return None
        found.append(write)
        late = late or write.late or any(times_named(name, s) for s in arm[arm.index(changing[-1]) + 1 :])
    first, *others = found
    optional = not others or any(write.optional for write in found)
    if "append" in {write.kind for write in found}:
        known = not optional and all(write.kind == "append" for write in found)
        return Write("append", joined=True) if known else None
    if not all(_is_alike(first, other) for other in others):
        return None
    if all(write.kind == "index" for write in found):
        key = first.key if all(write.key == first.key for write in found) else ""
        return Write("index", first.indices, first.rows, optional, True, late, key)
    return Write("nested", first.indices, first.rows, optional)


def _is_plain_index(index: ast.expr) -> bool:
    """Whether an index is only names, numbers and lookups of them: to evaluate it again changes nothing."""
    plain = (
        ast.Name, ast.Constant, ast.Tuple, ast.BinOp, ast.UnaryOp, ast.Subscript, ast.operator, ast.unaryop,
        ast.expr_context,
    )  # fmt: skip
    return all(isinstance(part, plain) for part in walk(index)) and not has_choice(index)
