"""All continuous latent choices: what `nuts()` and its relatives move where no selection is given."""

from __future__ import annotations

from collections.abc import Sequence

from gendsl.address import Path
from gendsl.distributions.base import measured
from gendsl.runtime.trace import ReferenceTrace
from gendsl.selection import Selection


class _Continuous(Selection):
    """Every continuous choice that isn't observed, whatever the trace has."""

    __slots__ = ()

    def contains(self, path: Path) -> bool:
        return True

    def addresses(self) -> tuple[Path, ...]:
        return ()

    def __repr__(self) -> str:
        return "all continuous latent choices"

    def __reduce__(self) -> str:
        return "CONTINUOUS"  # there is one, and it is known by being that


CONTINUOUS = _Continuous()
"""What kernels in these coordinates move where no selection is given."""


def paths_of(trace: ReferenceTrace, selection: Selection, *, skip_absent: bool) -> Sequence[Path]:
    """The paths of the selected choices; of `CONTINUOUS`, of the continuous ones that aren't observed.

    Raises:
        UnknownAddressError: an address in the selection is not in the trace (without `skip_absent`).
        ObservedError: an observation is selected.
    """
    if selection is not CONTINUOUS:
        return trace.selected(selection, skip_absent=skip_absent)
    observed, records = trace.observed_paths, trace.records
    # found once for all traces with the same choices
    latent = trace.structure.get(CONTINUOUS, observed, True)
    if latent is None:
        latent = tuple(path for path in records if path not in observed)
        trace.structure.remember(CONTINUOUS, observed, True, latent)
    return tuple(path for path in latent if not measured(records[path][0]).discrete)
