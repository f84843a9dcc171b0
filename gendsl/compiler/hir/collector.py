"""Python's garbage collector waits while a text is made.

Nearly all that is made then lasts until the text is done. The collector would look through it, and through
all that the user has, several times, for a seventh of the time that a text takes.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def waiting() -> Iterator[None]:
    """Where it was on it is on again at the end, whatever happens."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
