"""`@gen`: a Python function as a generative function, with all that one can be asked for in one module."""

from __future__ import annotations

import inspect
import itertools
import pickle
import reprlib
import sys
from collections.abc import Callable
from importlib import import_module
from math import inf
from types import FrameType, MethodType
from typing import Any, TypeVar, overload

import numpy as np

from gendsl.address import Path
from gendsl.choices import Constraints, choicemap
from gendsl.errors import (
    EXECUTION,
    ArgumentError,
    Location,
    NotClosedError,
    UnknownAddressError,
    UntracedChoiceError,
    ValueTypeError,
)
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
from gendsl.lang.render import is_to_be_shown
from gendsl.lang.sites import address_in_frame
from gendsl.runtime import column_loops, small
from gendsl.runtime.arguments import private, separate
from gendsl.runtime.at_once import body_at_once
from gendsl.runtime.compiled import CompiledTrace
from gendsl.runtime.executions import Assess, Execution, Generate, Given, Run, Simulate
from gendsl.runtime.groups import has_groups
from gendsl.runtime.guards import or_whole
from gendsl.runtime.impossible import blame_given, refuse_nan
from gendsl.runtime.link import Linked
from gendsl.runtime.lowering.build import Compiled, compile_function
from gendsl.runtime.lowering.explain import explain, explain_reference
from gendsl.runtime.paths import path_set
from gendsl.runtime.reexecutions import Update
from gendsl.runtime.trace import ReferenceTrace, at_definition, check_args
from gendsl.runtime.verify import watched
from gendsl.runtime.watched import runs_whole

_NOTHING: frozenset[Path] = frozenset()
_FEW_CALLS = 16
"""So often operations are called before something keeps count of them."""
_OPERATIONS = "gendsl.inference.compiled.operations"

_Execution = TypeVar("_Execution", bound=Execution)


class GenFunction(GenerativeFunction):
    """A generative function made by `@gen` from a Python function.

    Args:
        compiled: the compiled body.
        bound: the first argument of every call, alone in a tuple: `self` of a method, `cls` of a classmethod.
        kind: `classmethod` or `staticmethod` where `@gen` stands above one of these.

    Attributes:
        called: how often `simulate`, `generate` and `assess` were called; of others than methods.
    """

    called = 0

    def __init__(
        self,
        compiled: Compiled,
        bound: tuple[Any, ...] = (),
        kind: type | None = None,
        *,
        direct: bool = False,
    ) -> None:
        self.compiled = compiled
        self.direct = direct
        self.bound = bound
        self.kind = kind
        original = compiled.original
        self.__wrapped__ = MethodType(original, *bound) if bound else original  # for inspect and help()
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
        return self.compiled is other.compiled and self.direct == other.direct and same_objects

    def __hash__(self) -> int:
        return hash((id(self.compiled), self.direct, *map(id, self.bound)))

    def __get__(self, instance: Any, owner: type | None = None) -> GenFunction:
        if self.kind is classmethod:
            instance = type(instance) if owner is None else owner
        if instance is None or self.bound or self.kind is staticmethod:
            return self
        return GenFunction(self.compiled, (instance,), self.kind, direct=self.direct)

    def __reduce__(self) -> Any:
        where = self.__module__, self.__qualname__
        try:
            found = _find_function(*where, self.bound)
        except (AttributeError, ImportError):
            found = None
        if found != self.compiled_version:
            raise pickle.PicklingError(
                f"can't pickle {self!r}: it is not {self.__qualname__!r} of module {self.__module__!r}; "
                "define it at the top level of a module, or in a class there"
            )
        return _find_function, (*where, self.bound, self.direct)

    def __copy__(self) -> GenFunction:
        return self

    def __deepcopy__(self, memo: Any) -> GenFunction:
        return self  # as functions are: it can't change

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        _check_untraced(self.name)
        execution = Run(as_rng(None))
        retval = execution.run(CallRequest(self, args, kwargs))
        execution.finish()
        return retval

    # --- the two runtimes -------------------------------------------------------------------------

    @property
    def reference(self) -> GenFunction:
        """The same program on the reference runtime, which executes the whole body every time."""
        return GenFunction(self.compiled, self.bound, self.kind, direct=True)

    @property
    def is_reference(self) -> bool:
        """Whether it runs on the reference runtime."""
        return bool(self.direct or runs_whole())

    @property
    def compiled_version(self) -> GenFunction:
        """The same program on the compiled runtime."""
        return GenFunction(self.compiled, self.bound, self.kind)

    @property
    def linked(self) -> Linked | None:
        """The blocks of the body; None where it is executed whole."""
        if self.direct or runs_whole():
            return None
        return link(self.compiled)

    def called_with(self, args: tuple[Any, ...]) -> CallRequest:
        """The call that a trace's arguments make; a body that changes them in place gets copies."""
        return CallRequest(self, separate(args) if self.compiled.changes_arguments else args, {})

    # --- what executions call ---------------------------------------------------------------------

    def run_body(self, execution: Execution, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run the body in an execution and return its value."""
        compiled = self.compiled
        try:
            if execution.spread and compiled.is_spread:
                body = compiled.at_once.get(Update) or body_at_once(compiled, Update)
                if kwargs or self.bound:
                    return body(execution, *self.bound, *args, **kwargs)
                return body(execution, *args)
            return execution.body_of(compiled)(*self.bound, *args, **kwargs, __gendsl__=execution)
        except TypeError as error:
            if is_from_body(error):
                raise
            raise self.wrong_arguments(args, kwargs) from None

    def wrong_arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> ArgumentError:
        """The error for arguments that don't fit the signature."""
        return ArgumentError(
            f"{self.name}{inspect.signature(self)} can't be called with these arguments: "
            f"{_shown_call(args, kwargs)}",
            fix="give it the arguments of its signature; a proposal or auxiliary program gets the trace "
            "first",
        )

    def address_in(self, frame: FrameType) -> Any:
        """The address of the choice or call that a frame of this body is making, or None."""
        if frame.f_code.co_filename != self.compiled.origin.filename:
            return None
        positions = itertools.islice(frame.f_code.co_positions(), frame.f_lasti // 2, None)
        line, _, column, _ = next(positions)
        if line is None or column is None:
            return None
        return address_in_frame(self.compiled.sites, frame, line, column)

    # --- the interface ----------------------------------------------------------------------------

    @property
    def source(self) -> str:
        return self.compiled.rewritten if self.is_reference else self.compiled.source

    def source_of(self, operation: str, args: tuple[Any, ...] = ()) -> str:
        """The text that the compiler of closed programs makes for an operation, as Python.

        By itself it is not run: it shows what a closed program becomes, of which `sample` makes whole steps;
        see `Kernel.source_of`. Choices are looked up in `state`, numbers behind `#` are lines of the program,
        and where it calls `fail` the program raises.

        Args:
            operation: "assess", the log density of all choices; or "generate", which draws those that are not
                given, and returns the log density of all and the log weight, that of those that are given.
            args: arguments; the text is the same for all of their types.

        Raises:
            NotClosedError: the program is not closed; the error says why, and in which line.
            ArgumentError: there is no text for this operation, or the arguments don't fit.
        """
        from gendsl.compiler.hir.failures import NotClosed
        from gendsl.compiler.run.closed import ClosedDensity, ClosedText
        from gendsl.compiler.run.closed_sampler import ClosedSampler

        texts: dict[str, type[ClosedText]] = {"assess": ClosedDensity, "generate": ClosedSampler}
        if operation not in texts:
            raise ArgumentError(
                f"there is no text for the operation {operation!r}",
                fix='ask for that of "assess" or "generate"; `kernel.source_of("step", trace)` shows '
                "how a step changes a trace",
            )
        try:
            return texts[operation](self, check_args(args, self.name)).text
        except NotClosed as reason:
            filename = reason.filename or self.compiled.origin.filename
            raise NotClosedError(
                f"{self.name} is not closed: {reason.reason}",
                location=Location(filename, reason.line, self.name) if reason.line else None,
                fix="write this part with numbers, lists, tuples, dicts and functions of math and NumPy; or "
                "let the program run as it is",
            ) from None

    def explain(self) -> str:
        origin = self.compiled.origin
        if self.is_reference:
            return explain_reference(origin)
        told = explain(
            self.compiled.program,
            origin,
            lambda loop: loop.columns is not None,
            few=small.CHOICES if small.may_be_small(self.compiled) else 0,
            together=0 if self.linked is None or not has_groups(self.linked) else small.CHOICES,
            many=column_loops.FIXED,
        )
        how = import_module(_OPERATIONS).told_of(self) if self.called >= _FEW_CALLS else None
        return told if how is None else f"{told}\nsimulate, generate and assess run {how}"

    def simulate(self, args: tuple[Any, ...] = (), *, rng: Rng = None) -> ReferenceTrace:
        operations = self._operations()
        if operations is None:
            return self._simulate(args, rng=rng)
        call = operations.Call("simulate", args, (), rng)
        return operations.done(self, call, lambda: self._simulate(args, rng=rng))  # type: ignore[no-any-return]

    def generate(
        self,
        args: tuple[Any, ...] = (),
        observations: Choices | None = None,
        *,
        init: Choices | None = None,
        rng: Rng = None,
    ) -> Generated:
        operations = self._operations()
        if operations is None:
            return self._generate(args, observations, init=init, rng=rng)
        call, today = operations.Call("generate", args, (observations, init), rng), self._generate
        return operations.done(  # type: ignore[no-any-return]
            self, call, lambda: today(args, observations, init=init, rng=rng)
        )

    def assess(self, args: tuple[Any, ...], choices: Choices) -> Assessed:
        operations = self._operations()
        if operations is None:
            return self._assess(args, choices)
        call = operations.Call("assess", args, (choices,))
        return operations.done(self, call, lambda: self._assess(args, choices))  # type: ignore[no-any-return]

    def _operations(self) -> Any:
        """What runs operations as machine code that are called often; None as long as few were.

        It lies above this package, and takes long to import.
        """
        if self.direct or self.bound:
            return None
        self.called += 1
        return None if self.called < _FEW_CALLS else import_module(_OPERATIONS)

    @or_whole
    def _simulate(self, args: tuple[Any, ...] = (), *, rng: Rng = None) -> ReferenceTrace:
        return self._trace(Simulate(as_rng(rng)), args)

    @or_whole
    def _generate(
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
        try:
            trace = self._trace(execution, args)
        except Exception as error:
            blame_given(error, execution.records)
            raise
        execution.observations.check_used(trace.records, "observations")
        execution.init.check_used(trace.records, "init")
        trace.observed_paths = path_set(execution.observed, execution.observed_columns)
        if trace.log_prob == -inf:
            refuse_nan(trace)
        return Generated(trace, execution.weight)

    @or_whole
    def _assess(self, args: tuple[Any, ...], choices: Choices) -> Assessed:
        given = Constraints(choicemap(choices))
        trace = self._trace(Assess(given), args)
        given.check_used(trace.records, "choices")
        return Assessed(trace.log_prob, trace.retval)

    @or_whole
    def propose(self, args: tuple[Any, ...] = (), *, rng: Rng = None) -> Proposed:
        trace = self._trace(_proposing(Simulate(as_rng(rng))), args)
        return Proposed(trace.choices, trace.log_prob, trace.retval)

    @or_whole
    def score(
        self, args: tuple[Any, ...], values: dict[Path, Any] | Given, *, stop_at_zero: bool = False
    ) -> ReferenceTrace:
        """The trace of a complete set of choices; what is given in surplus is for the caller to find.

        Raises:
            MissingChoiceError: the program makes a choice that is not given.
            ZeroProbability: a choice has density zero (with `stop_at_zero`).
        """
        return self._trace(Assess(values, stop_at_zero=stop_at_zero), args)

    def watched(self, trace: ReferenceTrace) -> ReferenceTrace:
        """A trace that the whole body left, compared with a second execution where that is due."""
        return watched(trace)

    def fitted(self, trace: ReferenceTrace) -> ReferenceTrace:
        """A trace of this program in the form that costs least to edit; see `small`."""
        if self.direct or not small.may_be_small(self.compiled) or self.linked is None:
            return trace
        few = small.are_small(trace.args, trace.records, self.linked.plates)
        if few == (type(trace) is ReferenceTrace):
            return trace
        if few:
            return trace.whole()  # type: ignore[attr-defined, no-any-return]
        values = {path: record[1] for path, record in trace.records.items()}
        grown = CompiledTrace.start(self, self.linked, Assess(values), trace.args)
        grown.observed_paths = trace.observed_paths
        return grown

    def simulate_once(self, args: tuple[Any, ...], rng: np.random.Generator) -> ReferenceTrace:
        """As `simulate`, for a trace that is looked at and not edited, as an auxiliary program's is."""
        given = getattr(args[0], "gen_fn", None) if args else None
        if given is not None and not self.direct and getattr(given, "direct", False):
            return self.reference.simulate_once(args, rng)  # as the trace that it is given
        if self.compiled.runs_at_once and not (self.direct or runs_whole()):
            execution = Simulate(rng)
            execution.proposes = True
            return watched(self._at_once(execution, args))
        return watched(self._simulated(args, rng=rng))

    def score_once(
        self, args: tuple[Any, ...], values: dict[Path, Any] | Given, *, stop_at_zero: bool = False
    ) -> ReferenceTrace:
        """As `score`, for a trace that is looked at and not edited."""
        given = getattr(args[0], "gen_fn", None) if args else None
        if given is not None and not self.direct and getattr(given, "direct", False):
            return self.reference.score_once(args, values, stop_at_zero=stop_at_zero)
        at_once = self.compiled.runs_at_once and isinstance(values, dict)
        if at_once and not (self.direct or runs_whole()):
            execution = Assess(values, stop_at_zero=stop_at_zero)
            execution.proposes = True
            return self._at_once(execution, args)
        return self._scored(args, values, stop_at_zero)

    def _at_once(self, execution: Execution, args: tuple[Any, ...]) -> ReferenceTrace:
        """The trace that one call of the body leaves."""
        if type(args) is not tuple:
            args = check_args(args, self.name)
        compiled, kind = self.compiled, type(execution)
        execution.quick = True
        execution.function = self
        body = compiled.at_once.get(kind) or body_at_once(compiled, kind)
        try:
            retval = body(execution, *self.bound, *args) if self.bound else body(execution, *args)
        except TypeError as error:
            if is_from_body(error):
                raise
            raise self.wrong_arguments(args, {}) from None
        score = execution.score
        if not compiled.flat or execution.calls or execution.failure is not None or score != score:
            at_definition(self, execution.check_made)
        return ReferenceTrace(self, args, retval, execution, _NOTHING)

    @or_whole
    def _simulated(self, args: tuple[Any, ...], *, rng: np.random.Generator) -> ReferenceTrace:
        execution = _proposing(Simulate(rng))
        execution.quick = not self.is_reference
        return self._trace(execution, args, once=True)

    @or_whole
    def _scored(
        self, args: tuple[Any, ...], values: dict[Path, Any] | Given, stop_at_zero: bool
    ) -> ReferenceTrace:
        execution = _proposing(Assess(values, stop_at_zero=stop_at_zero))
        execution.quick = not self.is_reference
        return self._trace(execution, args, once=True)

    def _trace(self, execution: Execution, args: tuple[Any, ...], once: bool = False) -> ReferenceTrace:
        if type(args) is not tuple:
            args = check_args(args, self.name)
        if self.compiled.is_classmethod and not self.bound:
            raise ValueTypeError(
                f"{self.name} is not bound to its class", fix="write @gen above @classmethod, not below it"
            )
        if not once:
            args = private(args)
        linked = None if once and self.compiled.loopless else self.linked
        if linked is not None:
            trace = CompiledTrace.start(self, linked, execution, args, once=once)
            return trace if trace._count < 0 or trace._count > small.CHOICES else self.fitted(trace)
        retval = execution.run(self.called_with(args))
        at_definition(self, execution.finish)
        return ReferenceTrace(self, args, retval, execution, frozenset())


def _proposing(execution: _Execution) -> _Execution:
    """An execution of which the density that its draws have is asked for."""
    execution.proposes = True
    return execution


def is_from_body(error: TypeError) -> bool:
    """Whether an error is one of the body that was called, and not of the call."""
    return error.__traceback__ is None or error.__traceback__.tb_next is not None


def link(compiled: Compiled) -> Linked | None:
    """The blocks of a body, linked once; None if it is opaque."""
    if not hasattr(compiled, "_linked"):
        program = compiled.program
        # the dataclass is frozen for its users; this is the cache of a pure function of it
        object.__setattr__(compiled, "_linked", None if program.opaque else Linked(compiled, program))
    return compiled._linked  # type: ignore[attr-defined, no-any-return]


def _find_function(
    module: str, qualname: str, bound: tuple[Any, ...], direct: bool = False
) -> GenFunction:
    """The function of that name in its module: how a generative function is unpickled."""
    __import__(module)
    found: Any = sys.modules[module]
    owner = ""
    for part in qualname.split("."):
        private = part.startswith("__") and not part.endswith("__") and owner
        found = getattr(found, f"_{owner.lstrip('_')}{part}" if private else part)
        owner = part
    return GenFunction(found.compiled, bound, found.kind, direct=direct)


def _shown_call(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    shown = [reprlib.repr(a) for a in args] + [f"{name}={reprlib.repr(a)}" for name, a in kwargs.items()]
    return f"({', '.join(shown)})"


def _check_untraced(name: str) -> None:
    """Raise if the body of a `@gen` function is running: a call there must be traced."""
    step: FrameType | None = sys._getframe(2)
    while step is not None:
        if EXECUTION in step.f_code.co_varnames:
            raise UntracedChoiceError(
                f"{name}(...) was called without `~` inside the body of a @gen function",
                fix=f"trace the call: `addr @ ~{name}(...)`, or `... @ ~{name}(...)` to share addresses",
            )
        step = step.f_back


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
        debug: print the generated code. The environment variable GENDSL_DEBUG=1 prints that of all programs
            and transforms but gendsl's own.

    Raises:
        UnsupportedSyntaxError: the body can't be given a meaning; says where and what to write.
        SourceUnavailableError: the source of the function can't be found.
    """
    return (lambda f: _gen(f, debug)) if function is None else _gen(function, debug)


def _gen(function: Any, debug: bool | None) -> GenFunction:
    kind = type(function) if isinstance(function, (classmethod, staticmethod)) else None
    compiled = compile_function(function.__func__ if kind else function)
    made = GenFunction(compiled, kind=kind)
    if is_to_be_shown(compiled.origin.filename, debug):
        print(made.source)
    return made
