"""Compare a run of a transform with a second one: the same input must lead to the same output."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gendsl.address import Path
from gendsl.choices import same_value
from gendsl.errors import NotDeterministicError
from gendsl.runtime.verify import count_comparison, repeat_fix
from gendsl.transforms.outputs import Output
from gendsl.transforms.run import Run

Values = Callable[[Output], dict[Path, Any]]


def compare_runs(f: Any, run: Run, again: Callable[[], Run], values_of: Values) -> None:
    """Raise unless a second run of a transform writes what the first one wrote.

    Args:
        again: makes the second run.
        values_of: the plain values that a run gave to an output.

    Raises:
        NotDeterministicError: it writes something else, or raises an error.
    """
    # an error here is none of the second run's: a value of the first that can't be written
    written_first = [(output, values_of(output)) for output in run.outputs]
    count_comparison()
    try:
        second = again()
        outputs = [values_of(output) for output in second.outputs]
    except Exception as error:
        problem = f"one run goes through, a second one raises {type(error).__name__}: {error}"
        raise _not_deterministic(f, problem, getattr(error, "address", None)) from error
    for (output, written), values in zip(written_first, outputs, strict=True):
        for path, value in written.items():
            if path not in values:
                problem = f"one run writes to {output.name} here, a second one doesn't"
                raise _not_deterministic(f, problem, path)
            if not same_value(value, values[path]):
                problem = f"one run gives {output.name} {value!r} here, a second one {values[path]!r}"
                raise _not_deterministic(f, problem, path)
        for path in values:
            if path not in written:
                raise _not_deterministic(f, f"a second run writes to {output.name} here, one didn't", path)


def _not_deterministic(f: Any, problem: str, path: Any) -> NotDeterministicError:
    return NotDeterministicError(
        f"transform {f.name}: {problem}", address=path, location=f.location, fix=repeat_fix(f.origin)
    )
