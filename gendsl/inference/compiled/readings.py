"""What is recorded of the trace that a chain of compiled kernels is at."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any
from weakref import WeakMethod

from gendsl.address import Path
from gendsl.compiler.hir.failures import FailedText, NotClosed
from gendsl.compiler.llvm.recorded_values import is_same as is_same_value
from gendsl.compiler.run.chain_reading import reader
from gendsl.compiler.run.chain_state import ChainState
from gendsl.compiler.run.choice_reader import choice_reader
from gendsl.compiler.run.native_state import NativeState
from gendsl.compiler.run.recorded_draws import RecordedDraws, entry_at
from gendsl.errors import RuntimeMismatchError
from gendsl.inference.compiled import thresholds
from gendsl.inference.running.recording import is_read
from gendsl.runtime.trace import definition
from gendsl.runtime.verify import MISMATCH_FIX, count_comparison

if TYPE_CHECKING:
    from gendsl.compiler.run.recorded_functions import RecordedFunctions


class Readings:
    """Reads what is recorded: choices from the memory of the chain, functions as machine code where they are.

    Args:
        state: the memory of the chain.
        model: the program that it is a chain of.
        look: what a recorder gives of the trace itself; a weak reference, for the memory of chains is freed
            where they end.

    Attributes:
        functions: the recorded functions that machine code gives the values of, if there are any.
        why_called: why Python calls them, where it does.
        calls: how often it did as machine code failed, by the reason.
        compares: whether the next values are to be compared with what Python gives.
        draws: of how many draws machine code gave them.
    """

    def __init__(self, state: ChainState, model: Any, look: WeakMethod[Callable[[Any], Any]]) -> None:
        self.state, self.model, self.look = state, model, look
        self.functions: RecordedFunctions | None = None
        self.why_called = ""
        self.calls: dict[str, int] = {}
        self.compares, self.draws = True, 0
        self._values: dict[str, Any] | None = None
        self._readers: dict[Any, Any] = {}
        self._choice_readers: dict[Path, Any] = {}

    @property
    def gives_functions(self) -> bool:
        """Whether machine code gives the values of recorded functions, and not only of addresses."""
        return self.functions is not None and not all(map(is_read, self.functions.recorders.values()))

    def give(self, functions: RecordedFunctions) -> None:
        """Let machine code give the values of recorded functions."""
        self.functions, self._values, self.compares = functions, None, True

    def call(self, reason: str) -> None:
        """Call recorded functions in Python from now on, for a reason."""
        self.functions, self._values, self.why_called = None, {}, reason

    def let_go(self) -> None:
        """Let go of what was read, before the chain goes on."""
        self._values = None

    def check_outside(self) -> None:
        """Call functions in Python from now on if their text is not for what is outside, or often fails."""
        if self.functions is None:
            return
        changed = self.functions.text.outside.changed()
        if changed is not None:
            self.call(f"{changed} is not what it was")
        elif sum(self.calls.values()) > thresholds.FIRST_STEPS + thresholds.MOST_FALLBACKS * self.draws:
            self.call("machine code fails too often")

    def look_outside(self) -> None:
        """Take over what was changed outside of recorded functions; call them if that can't be."""
        if self.functions is not None:
            try:
                self.functions.look_outside()
            except NotClosed as error:
                self.call(str(error))

    def quantity(self, recorder: Any) -> Any:
        """What is recorded of the trace."""
        functions = self.functions
        if functions is not None:
            values = self._values_of_functions(functions)
            for name, one in functions.recorders.items():
                if one is recorder and name in values:
                    return values[name]
        return self._read(recorder)

    def _read(self, recorder: Any) -> Any:
        """What is recorded of the trace, where Python says what that is."""
        if recorder not in self._readers:
            self._readers[recorder] = reader(self.state, recorder.address) if is_read(recorder) else None
        read = self._readers[recorder]
        value = None if read is None else read()
        if value is not None:
            return value
        look = self.look()
        assert look is not None  # whoever reads has the chain
        return look(recorder)

    def _values_of_functions(self, functions: RecordedFunctions) -> dict[str, Any]:
        """What recorded functions give of the current trace; nothing where Python is to say it."""
        if self._values is None:
            self.draws += 1
            try:
                self._values = functions.read()
            except FailedText as failure:
                self.calls[str(failure)] = self.calls.get(str(failure), 0) + 1
                self._values = {}
            if self.compares and self._values:
                self._compare(functions, self._values)
        return self._values

    def _compare(self, functions: RecordedFunctions, values: dict[str, Any]) -> None:
        """Compare what machine code gives of recorded functions with what they give themselves.

        Raises:
            RuntimeMismatchError: that is something else, and was the same before.
        """
        self.compares = False
        for name, recorder in functions.recorders.items():
            expected = self._read(recorder)
            if is_same_value(values[name], expected):
                continue
            changed = functions.text.outside.changed()
            problem = f"machine code gives {values[name]!r}, and the function {expected!r}"
            if changed is None and functions.text.compared:
                raise RuntimeMismatchError(
                    f"the recorded {name}: {problem}",
                    location=definition(self.model),
                    fix=f"{MISMATCH_FIX}; with GENDSL_RUNTIME=compiled it is not used",
                )
            self.call(problem if changed is None else f"{changed} is not what it was")
            values.clear()
            return
        functions.text.compared += 1
        count_comparison()

    def choice(self, path: Path) -> Any:
        """The value of a choice of the current trace; None if it has none there."""
        try:
            read = self._choice_readers[path]
        except KeyError:
            if len(self._choice_readers) >= thresholds.MOST_READERS:  # addresses below calls may be many
                self._choice_readers.clear()
            read = self._choice_readers[path] = choice_reader(self.state, path)
        return None if read is None else read()

    def beyond_rows(self, recorders: Mapping[str, Any]) -> dict[str, Any]:
        """Of what is recorded the addresses of choices that rows can't hold: below calls, or of matrices."""
        if not isinstance(self.state, NativeState):
            return {}
        addresses = {name: one for name, one in recorders.items() if is_read(one)}
        found = {name: entry_at(self.state, one.address) for name, one in addresses.items()}
        return {name: addresses[name] for name, (entry, may_be) in found.items() if may_be and entry is None}

    def in_rows(self, recorders: Mapping[str, Any]) -> RecordedDraws | None:
        """What records draws in machine code; None where Python says what there is."""
        if not isinstance(self.state, NativeState) or not recorders:
            return None
        names, given = list(recorders), {} if self.functions is None else self.functions.recorders
        left = {place: recorders[name] for place, name in enumerate(names) if name not in given}
        if not all(map(is_read, left.values())):
            return None
        paths = {place: one.address for place, one in left.items()}
        return RecordedDraws.of(self.state, paths, self.functions, list(map(names.index, given)))
