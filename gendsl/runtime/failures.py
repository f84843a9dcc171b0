"""Operations on compiled traces that may have met a second choice at one address.

Where a body is taken apart and some of its blocks are run, it is known only when all have run whether an
address is taken. The reference interpreter makes all choices in program order and finds it out at the second
one. So such an operation is done again from its start by the reference interpreter, with the same draws, and
the error that this raises, at the user's own line, is the one that the user sees.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gendsl.errors import AddressConflictError, DuplicateAddressError
from gendsl.runtime.executions import FRESH, Execution
from gendsl.runtime.lowering.build import Compiled

Beginning = tuple[Any, Any] | None
"""The generator of an operation that has not begun, and its state; None where it won't be done again."""


def beginning(compiled: Compiled, execution: Any) -> Beginning:
    """What `by_reference` needs to know of an operation that is about to begin.

    None where no two of the program's choices can have one address: it isn't done again then.
    """
    if compiled.disjoint:
        return None
    rng = getattr(execution, "rng", None)
    return rng, rng.bit_generator.state if isinstance(rng, np.random.Generator) else None


def by_reference(error: BaseException, execution: Any, begun: Beginning, old: Any = None) -> Execution | None:
    """The execution by which the reference interpreter does an operation again that has failed.

    None where what it would tell is the same, or the values that were given can't be had again.

    Args:
        old: the trace that is edited, if there is one.
    """
    if begun is None or not _is_doubtful(error, execution, old):
        return None
    rng, state = begun
    if state is not None:
        rng.bit_generator.state = state
    elif rng is FRESH and execution.rng is not FRESH:
        rng = np.random.default_rng(execution.rng.bit_generator.seed_seq)
    again: Execution | None = execution.afresh(rng)
    if again is not None:
        again.proposes = execution.proposes
    return again


def _is_doubtful(error: BaseException, execution: Any, old: Any) -> bool:
    """Whether an operation has failed at a second choice at one address, or may have gone on behind one."""
    if isinstance(error, (DuplicateAddressError, AddressConflictError)):
        return True
    if any(path in (execution.seen or ()) for path in execution.unfinished):
        return True
    return old is not None and (
        any(path in old.records and path not in execution.gone for path in execution.made)
        or any(path in old.calls for path in execution.called)
    )
