"""Text as if it were a module that was imported, so that `@gen` finds its source and pickle its functions."""

from __future__ import annotations

import itertools
import linecache
import sys
import types
from collections.abc import Iterator
from contextlib import contextmanager

_numbers = itertools.count()


@contextmanager
def imported(text: str) -> Iterator[types.ModuleType]:
    """The module of a text, while the block runs."""
    name = f"generated_program_{next(_numbers)}"
    module = types.ModuleType(name)
    filename = f"<{name}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    sys.modules[name] = module
    try:
        exec(compile(text, filename, "exec"), module.__dict__)
        yield module
    finally:
        del sys.modules[name], linecache.cache[filename]
