"""What adds statements to a body of the text, and gives its variables their names."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from gendsl.compiler import hir
from gendsl.compiler.front.names import RESERVED, Name, Text
from gendsl.compiler.hir import Body, Const, Expr, Op, Statement, Var
from gendsl.compiler.hir.failures import NotClosed
from gendsl.compiler.hir.values import Value, line_of
from gendsl.errors import is_users_file

MOST_STATEMENTS = 15_000
"""How many statements a function of the text has at most: more take minutes to compile."""


class Emitter:
    """A body of the text, and the place that it is lowered from.

    Attributes:
        out: the body that statements are added to.
        live: whether control reaches the next statement.
        line, filename: the place in the source.
        call_line: the line of the call, for a body from another file; 0 for one of the library's.
    """

    def __init__(self, text: Text, out: Body, filename: str) -> None:
        self.text, self.out, self.filename = text, out, filename
        self.live = True
        self.line = 0
        self.call_line: int | None = None if is_users_file(filename) else 0

    @property
    def shown_line(self) -> int:
        """The line that a comment of the text gives: that of the call, for a body from another file; 0 for a
        function of the library's.
        """
        return self.line if self.call_line is None else self.call_line

    def emit(self, statement: Statement) -> None:
        """Add a statement, if control reaches it."""
        if self.live:
            statement.line = self.shown_line
            self.out.append(statement)
            self.text.count += 1
            if self.text.count > MOST_STATEMENTS:
                most = f"{MOST_STATEMENTS:,} statements"
                raise NotClosed(f"a function of more than {most}, inlined calls included")

    def fresh(self, name: Name, kind: str) -> Var:
        """A new variable, named after one of the user's."""
        while isinstance(name, tuple):  # (an object, its attribute), or (what it is for, where)
            name = name[-1] if isinstance(name[-1], str) else name[0] if isinstance(name[0], str) else "t"
        hint = str(name)
        hint = hir.identifier(hint).strip("_") or "t"
        if hint in RESERVED:
            hint = f"{hint}_"
        if not hint.isidentifier():
            hint = f"t_{hint}"
        return Var(self.text.fresh(hint), kind)

    def set(self, expr: Expr, name: Name = "t") -> Var:
        """A new variable with the value of an expression."""
        var = self.fresh(name, expr.kind)
        self.emit(hir.Set([var], [expr]))
        return var

    def op(self, name: str, args: Iterable[Expr], kind: str) -> Expr:
        """An operation; where it may fail it is evaluated here and now."""
        expr = Op(name, tuple(args), kind)
        integer = kind == "i" and name in ("add", "sub", "mul", "neg", "abs")
        if (name in hir.NEVER_FAIL or name.startswith("np_")) and not integer:
            return expr if _size(expr) < 12 else self.set(expr)
        if integer or name in ("index_of",):
            return expr if _size(expr) < 6 else self.set(expr)
        return self.set(expr)

    def atom(self, expr: Expr, name: Name = "t") -> Expr:
        """An expression that may be used more than once."""
        return self.set(expr, name) if isinstance(expr, Op) else expr

    def atoms(self, value: Value, name: Name = "t") -> Value:
        """A value whose leaves may be used more than once."""
        if not any(isinstance(leaf, Op) for leaf in value.leaves):
            return value
        return Value(value.type, tuple(self.atom(leaf, name) for leaf in value.leaves))

    def fail(self, reason: str, error: type[BaseException] | None = None) -> None:
        """The program raises here: an error of this class, or one of which it is not known."""
        self.emit(hir.Fail(reason))
        self.live = False

    def fail_if(self, test: Expr, reason: str, error: type[BaseException] | None = None) -> None:
        """The program raises here where a test holds."""
        if isinstance(test, Const):
            if test.value:
                self.fail(reason, error)
            return
        stop = hir.Fail(reason)
        stop.line = self.shown_line
        self.emit(hir.If(test, [stop], []))

    def fail_unless(self, test: Expr, reason: str, error: type[BaseException] | None = None) -> None:
        """The program raises here where a test does not hold."""
        if isinstance(test, Const):
            if not test.value:
                self.fail(reason, error)
            return
        self.fail_if(Op("not", (test,), "b"), reason, error)

    def not_closed(self, reason: str, node: ast.AST | None = None) -> NotClosed:
        """The error for what the compiler does not read."""
        return NotClosed(reason, self.line if node is None else line_of(node), self.filename)


def _size(expr: Expr) -> int:
    return 1 + sum(map(_size, expr.args)) if isinstance(expr, Op) else 1
