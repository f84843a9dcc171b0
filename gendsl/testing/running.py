"""The ways to run a program, and how to choose one: for tests that all of them must pass."""

from __future__ import annotations

from contextlib import AbstractContextManager

from gendsl.errors import ValueTypeError
from gendsl.runtime.watched import RUNTIMES, chosen


def runtimes() -> tuple[str, ...]:
    """The names of the ways to run a program.

    "reference" executes the whole body every time. It comes first: all others agree with it, and one seed
    gives the same chain. A trace that is simulated is the same, too, but where a loop of 8 iterations or more
    draws from one of a few vectors (`categorical(rows[i % 3])`): these are drawn vector by vector.
    "compiled" is the incremental runtime, which runs programs if nothing else is said. "native" and "python"
    are the same but for chains of kernels that can be compiled: these run as machine code, or as the Python
    text that takes its place where there is none, however short they are.

        @pytest.mark.parametrize("runtime", runtimes())
        def test_the_model(runtime):
            with running_on(runtime):
                trace = model.simulate((10,), rng=1)
    """
    return RUNTIMES


def running_on(runtime: str) -> AbstractContextManager[None]:
    """A context in which all programs run on one runtime, in all threads of this process.

    It takes the place of what the environment variable GENDSL_RUNTIME says, and of the choice of "reference"
    for debuggers and coverage tools. Contexts can be nested.

    Args:
        runtime: one of `runtimes()`.

    Raises:
        ValueTypeError: there is no such runtime.
    """
    if runtime not in RUNTIMES:
        names = ", ".join(map(repr, RUNTIMES))
        raise ValueTypeError(f"there is no runtime {runtime!r}", fix=f"name one of {names}")
    return chosen(runtime)
