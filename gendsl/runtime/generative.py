"""`@gen`: a Python function as a generative function."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from types import TracebackType
from typing import Any, overload

from gendsl.choices import Constraints, choicemap
from gendsl.compiler.build import Compiled, compile_function
from gendsl.compiler.sites import address_in_frame
from gendsl.errors import UnknownAddressError
from gendsl.interface import (
    Assessed,
    CallRequest,
    Choices,
    Generated,
    GenerativeFunction,
    Proposed,
    Rng,
    as_rng,
)
from gendsl.runtime.executions import Assess, Execution, Generate, Run, Simulate
from gendsl.runtime.trace import ReferenceTrace, check_args


class GenFunction(GenerativeFunction):
    """A generative function made by `@gen` from a Python function.

    Args:
        compiled: the compiled body.
        bound: arguments that come before those given in a call: `self`, for a method.
    """

    def __init__(self, compiled: Compiled, bound: tuple[Any, ...] = ()) -> None:
        self.compiled = compiled
        self.bound = bound
        self.__wrapped__ = compiled.original  # for inspect.signature and help()
        self.__name__ = compiled.original.__name__
        self.__qualname__ = compiled.original.__qualname__
        self.__module__ = compiled.original.__module__
        self.__doc__ = compiled.original.__doc__

    @property
    def name(self) -> str:
        return self.__qualname__.rpartition("<locals>.")[2]

    def __repr__(self) -> str:
        return f"<gen function {self.name}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, GenFunction):
            return NotImplemented
        same_objects = len(self.bound) == len(other.bound) and all(
            mine is theirs for mine, theirs in zip(self.bound, other.bound, strict=True)
        )
        return self.compiled is other.compiled and same_objects

    def __hash__(self) -> int:
        return hash((id(self.compiled), *map(id, self.bound)))

    def __get__(self, instance: Any, owner: type | None = None) -> GenFunction:
        return self if instance is None else GenFunction(self.compiled, (instance, *self.bound))

    def __reduce__(self) -> Any:
        return _find_function, (self.__module__, self.__qualname__, self.bound)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return Run(as_rng(None)).run(CallRequest(self, args, kwargs))

    # --- what executions call ---------------------------------------------------------------------

    def run_body(self, execution: Execution, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run the body in an execution and return its value."""
        body = execution.body_of(self.compiled)
        return body(*self.bound, *args, **kwargs, __gendsl__=execution)

    def address_of(self, traceback: TracebackType) -> Any:
        """The address of the choice that an error in this body came from, or None."""
        filename = self.compiled.original.__code__.co_filename
        found = None
        step: TracebackType | None = traceback
        while step is not None:
            frame = step.tb_frame
            if frame.f_code.co_filename == filename:
                positions = list(frame.f_code.co_positions())[step.tb_lasti // 2]
                line, _, column, _ = positions
                if line is not None and column is not None:
                    address = address_in_frame(self.compiled.sites, frame, line, column)
                    found = found if address is None else address
            step = step.tb_next
        return found

    # --- the interface ----------------------------------------------------------------------------

    @property
    def source(self) -> str:
        return self.compiled.source

    def explain(self) -> str:
        return (
            f"{self.name} runs on the direct runtime: every operation executes the whole body once.\n"
            f"  choices and traced calls in the body: {len(self.compiled.sites)}\n"
            "  update incrementally: none"
        )

    def simulate(self, args: tuple[Any, ...] = (), *, rng: Rng = None) -> ReferenceTrace:
        return self._trace(Simulate(as_rng(rng)), args)

    def generate(
        self,
        args: tuple[Any, ...] = (),
        observations: Choices | None = None,
        *,
        init: Choices | None = None,
        rng: Rng = None,
    ) -> Generated:
        observed, start = choicemap(observations), choicemap(init)
        both = next((path for path in start if path in observed), None)
        if both is not None:
            raise UnknownAddressError(
                "an address is given both as an observation and as a starting value",
                address=both,
                fix="leave it out of `init`",
            )
        execution = Generate(Constraints(observed), Constraints(start), as_rng(rng))
        trace = self._trace(execution, args)
        execution.observations.check_used(trace.records, "observations")
        execution.init.check_used(trace.records, "init")
        trace.observed_paths = frozenset(execution.observed)
        return Generated(trace, execution.weight)

    def assess(self, args: tuple[Any, ...], choices: Choices) -> Assessed:
        given = Constraints(choicemap(choices))
        trace = self._trace(Assess(given), args)
        given.check_used(trace.records, "choices")
        return Assessed(trace.log_prob, trace.retval)

    def propose(self, args: tuple[Any, ...] = (), *, rng: Rng = None) -> Proposed:
        trace = self.simulate(args, rng=rng)
        return Proposed(trace.choices, trace.log_prob, trace.retval)

    def _trace(self, execution: Execution, args: tuple[Any, ...]) -> ReferenceTrace:
        args = check_args(args, self.name)
        retval = execution.run(CallRequest(self, args, {}))
        execution.finish()
        return ReferenceTrace(self, args, retval, execution, frozenset())


def _find_function(module: str, qualname: str, bound: tuple[Any, ...]) -> GenFunction:
    """The function of that name in its module: how a generative function is unpickled."""
    __import__(module)
    found: Any = sys.modules[module]
    for part in qualname.split("."):
        found = getattr(found, part)
    return GenFunction(found.compiled, bound)


@overload
def gen(function: Callable[..., Any], /) -> GenFunction: ...
@overload
def gen(*, debug: bool = ...) -> Callable[[Callable[..., Any]], GenFunction]: ...


def gen(
    function: Callable[..., Any] | None = None, /, *, debug: bool | None = None
) -> GenFunction | Callable[[Callable[..., Any]], GenFunction]:
    """Turn a Python function into a generative function.

    In its body, `addr @ ~d` makes a random choice from the distribution `d` at an address, `name = ~d`
    does so at the address `name`, and `addr @ ~f(x)` calls another generative function, whose choices
    then lie below `addr`.

    Args:
        debug: print the generated code; the environment variable GENDSL_DEBUG=1 does so too.

    Raises:
        UnsupportedSyntaxError: the body can't be given a meaning; says where and what to write.
        SourceUnavailableError: the source of the function can't be found.
    """
    if function is None:
        return lambda f: gen(f) if debug is None else _gen(f, debug)
    return _gen(function, os.environ.get("GENDSL_DEBUG", "") not in ("", "0") if debug is None else debug)


def _gen(function: Callable[..., Any], debug: bool) -> GenFunction:
    compiled = compile_function(function)
    if debug:
        print(compiled.source)
    return GenFunction(compiled)
