"""Show generated code. Reading only: what runs is compiled from the tree, never from this text.

`GENDSL_DEBUG=1` in the environment prints that of each of the user's programs when it is decorated.
"""

from __future__ import annotations

import ast
import copy
import os
import warnings

from gendsl.errors import is_users_file
from gendsl.lang.definition import FunctionNode

with warnings.catch_warnings():  # astor 0.8.1 uses names of `ast` that newer Pythons deprecate
    warnings.simplefilter("ignore", DeprecationWarning)
    import astor


def is_to_be_shown(filename: str, debug: bool | None) -> bool:
    """Whether to print the generated code of a program.

    Args:
        filename: the file that defines it; gendsl's own programs are shown only where `debug` says so.
        debug: what its decorator was told; None where it was told nothing.
    """
    if debug is not None:
        return debug
    return os.environ.get("GENDSL_DEBUG", "") not in ("", "0") and is_users_file(filename)


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
