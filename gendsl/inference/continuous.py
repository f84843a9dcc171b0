"""All continuous latent choices: what `nuts()` and its relatives move where no selection is given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gendsl.address import Path
from gendsl.distributions.base import measured
from gendsl.errors import ValueTypeError
from gendsl.runtime.trace import ReferenceTrace
from gendsl.selection import Selection
from gendsl.supports import Support


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


def of_shape(support: Support, value: Any, path: Path) -> Any:
    """The value of a choice; raises `ValueTypeError` for an array where its distribution promised numbers."""
    if support.shape == () and isinstance(value, np.ndarray) and value.ndim:
        raise ValueTypeError(
            f"the value is an array of shape {value.shape}, and its distribution's support, {support!r}, is "
            "one of numbers",
            address=path,
            fix=f"let `support` of the distribution be that of arrays, such as RealArray({value.shape})",
        )
    return value


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
