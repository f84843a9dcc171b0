"""Show generated code. Reading only: what runs is compiled from the tree, never from this text."""

from __future__ import annotations

import ast
import warnings

with warnings.catch_warnings():  # astor 0.8.1 uses names of `ast` that newer Pythons deprecate
    warnings.simplefilter("ignore", DeprecationWarning)
    import astor


def render(node: ast.AST) -> str:
    """The source text of a tree: astor's, or `ast.unparse`'s where astor's isn't the same program.

    astor can't render `match`, `except*` and `type` statements and drops type parameters, so its text
    is parsed again and compared with the tree.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            text = astor.to_source(node)
            faithful = ast.dump(ast.parse(text).body[0]) == ast.dump(node)
        except (AttributeError, SyntaxError, ValueError, TypeError, AssertionError):
            faithful = False
    return text if faithful else ast.unparse(node) + "\n"
