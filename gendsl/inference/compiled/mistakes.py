"""Mistakes of the compiler itself: a warning, and a reason to go on without it."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from gendsl.compiler.hir.failures import NotClosed
from gendsl.errors import CompilerWarning, GenDSLError, warn_user

_LOG = logging.getLogger(__name__)


@contextmanager
def as_refusals(what: str) -> Iterator[None]:
    """Let errors in compiling something be reasons why it is not compiled.

    An error that gendsl raises on purpose is the user's: he sees it where a program that is not compiled
    comes there. Any other is a mistake of the compiler, which ends no chain, as it can run otherwise.

    Args:
        what: what is compiled, in words.

    Raises:
        NotClosed: there was an error.
    """
    try:
        yield
    except NotClosed:
        raise
    except GenDSLError as error:
        _LOG.debug("%s is not compiled", what, exc_info=True)
        raise NotClosed(error.problem) from error
    except Exception as error:  # of any type
        reason = f"the compiler failed ({type(error).__name__}: {error})"
        _LOG.debug("the compiler failed for %s", what, exc_info=True)
        warn_user(
            CompilerWarning(
                f"{reason}: a mistake in gendsl, and not in your program; {what} goes on without it, slower, "
                "with the same result. Please report it, with the program"
            )
        )
        raise NotClosed(reason) from error
