"""What hypothesis calls when it is imported: `from_type` learns gendsl's types, if gendsl.testing is loaded.

It lies outside of the package so that importing hypothesis doesn't import gendsl. Where gendsl.testing is
imported after hypothesis, it registers its strategies itself.
"""

from __future__ import annotations

import sys


def register() -> None:
    """Register the strategies of gendsl's types."""
    if "gendsl.testing" in sys.modules:
        import gendsl.testing.strategies  # noqa: F401 # registers them, or is about to
