"""Show generated code. Reading only: what runs is compiled from the tree, never from this text."""

from __future__ import annotations

import ast
import copy
import warnings

from gendsl.compiler.definition import FunctionNode

with warnings.catch_warnings():  # astor 0.8.1 uses names of `ast` that newer Pythons deprecate
    warnings.simplefilter("ignore", DeprecationWarning)
    import astor


def render(definition: FunctionNode) -> str:
    """The source text of a definition: astor's, or `ast.unparse`'s where astor's isn't the same program.

    astor can't render `match`, `except*` and `type` statements and drops type parameters, so its text
    is parsed again and compared with the tree.
    """
    node = copy.copy(definition)
    node.decorator_list = []  # they aren't part of what runs
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            text: str = astor.to_source(node)
            faithful = ast.dump(ast.parse(text).body[0]) == ast.dump(node)
        except Exception:  # astor fails in many ways on syntax that it doesn't know
            faithful = False
    return text if faithful else ast.unparse(node) + "\n"
