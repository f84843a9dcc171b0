"""What is logged of proposals that are rejected because a check failed, as `check="reject"` does."""

from __future__ import annotations

import logging

_LOG = logging.getLogger("gendsl")

_IN_FULL = 3  # failures that are logged with all that is known of them
_EVERY = 100  # of the later ones one in so many is, by a line


class FailureLog:
    """The failed checks of one transform in this process: the first in full, then a line for every 100.

    Attributes:
        failed: how many checks have failed.
    """

    __slots__ = ("failed",)

    def __init__(self) -> None:
        self.failed = 0

    def note(self, name: str, error: Exception) -> None:
        """Count a failure of the transform of that name, and log it if it is due."""
        self.failed += 1
        if self.failed <= _IN_FULL:
            _LOG.warning("transform %s failed a check, the proposal is rejected: %s", name, error)
            if self.failed == _IN_FULL:
                _LOG.warning(
                    "transform %s has failed %d checks; from here on there is a line for every %d, and a run "
                    "counts all of them", name, self.failed, _EVERY,
                )  # fmt: skip
        elif self.failed % _EVERY == 0:
            last = f"{type(error).__name__}: {error}".partition("\n")[0]
            _LOG.warning("transform %s has failed %d checks; the last: %s", name, self.failed, last)
