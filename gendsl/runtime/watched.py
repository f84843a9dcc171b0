"""Which runtime runs a body: the compiled one, unless something wants to see it run as it is written.

A debugger and a coverage tool are shown whole bodies, line by line and with all their variables, as the
reference runtime executes them; the compiled one runs bodies piece by piece, and only the pieces that an
update needs. The environment variable GENDSL_RUNTIME, "reference" or "compiled", settles it for all.
"""

from __future__ import annotations

import os
import sys

_RUNTIME = os.environ.get("GENDSL_RUNTIME", "")


def is_forced() -> bool:
    """Whether GENDSL_RUNTIME says which runtime runs all bodies."""
    return bool(_RUNTIME)


def is_usual() -> bool:
    """Whether nothing says which runtime runs bodies, and nothing wants to see them run."""
    return not (_RUNTIME or runs_whole())


if sys.version_info >= (3, 12):

    def runs_whole() -> bool:
        """Whether bodies are to be executed whole."""
        if _RUNTIME:
            return _RUNTIME == "reference"
        return sys.gettrace() is not None or _is_monitored()

    def _is_monitored() -> bool:
        """Whether a debugger or a coverage tool has registered with `sys.monitoring`."""
        tool = sys.monitoring.get_tool
        return tool(sys.monitoring.DEBUGGER_ID) is not None or tool(sys.monitoring.COVERAGE_ID) is not None

elif _RUNTIME:

    def runs_whole() -> bool:
        """Whether bodies are to be executed whole."""
        return _RUNTIME == "reference"

else:  # there is no such registration: what traces is set, or None (each edit asks this, some twice)
    runs_whole = sys.gettrace  # type: ignore[assignment]
