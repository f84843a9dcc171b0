"""Which runtime runs a body: the compiled one, unless something wants to see it run as it is written.

A debugger and a coverage tool are shown whole bodies, line by line and with all their variables, as the
reference runtime executes them; the compiled one runs bodies piece by piece, and only the pieces that an
update needs. The environment variable GENDSL_RUNTIME, "reference" or "compiled", settles it for all, and
`gendsl.testing.running_on` for a while.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from gendsl.errors import ValueTypeError

RUNTIMES = ("reference", "compiled", "native", "python")
"""The names of the runtimes, the one that all others must agree with first.

"native" is "compiled" where every chain of a kernel that can be compiled runs as machine code, however short
it is; "python" is the same with the Python text that runs where there is no machine code.
"""

_RUNTIME = os.environ.get("GENDSL_RUNTIME", "")
_chosen: str | None = None
"""The runtime that `running_on` has set, or None."""


@contextmanager
def chosen(name: str) -> Iterator[None]:
    """All bodies run on the runtime of that name, in all threads, while the context is open."""
    global _chosen
    before, _chosen = _chosen, name
    try:
        yield
    finally:
        _chosen = before


if _RUNTIME not in ("", *RUNTIMES):
    raise ValueTypeError(
        f"the environment variable GENDSL_RUNTIME is {_RUNTIME!r}",
        fix='set it to "reference", "compiled", "native" or "python", or not at all',
    )


def wanted() -> str:
    """The name of the runtime that everything is to run on; none where nothing is said about it."""
    return _chosen or _RUNTIME


def is_switched_off() -> bool:
    """Whether there is to be no machine code, so that what runs is as where it can't be made."""
    return os.environ.get("GENDSL_NATIVE") == "0"


def is_forced() -> bool:
    """Whether GENDSL_RUNTIME says which runtime runs all bodies."""
    return bool(_RUNTIME) and _chosen is None


def is_usual() -> bool:
    """Whether nothing says which runtime runs bodies, and nothing wants to see them run."""
    if _chosen is not None:
        return _chosen != "reference"
    return not (_RUNTIME or runs_whole())


def runs_whole() -> bool:
    """Whether bodies are to be executed whole."""
    if _chosen is not None:
        return _chosen == "reference"
    if _RUNTIME:
        return _RUNTIME == "reference"
    return sys.gettrace() is not None or (_HAS_MONITORING and _is_monitored())


_HAS_MONITORING = sys.version_info >= (3, 12)

if sys.version_info >= (3, 12):

    def _is_monitored() -> bool:
        """Whether a debugger or a coverage tool has registered with `sys.monitoring`."""
        tool = sys.monitoring.get_tool
        return tool(sys.monitoring.DEBUGGER_ID) is not None or tool(sys.monitoring.COVERAGE_ID) is not None

else:

    def _is_monitored() -> bool:
        """There is no `sys.monitoring` yet."""
        return False
