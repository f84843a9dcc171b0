"""`@transform`: programs that read input traces and write output traces.

A transform runs on handles. `handle[address]` names an address; `read`, `write` and `copy` act on it and
record what was done in the run's inputs and outputs, from which the output traces and the Jacobian are
made. A continuous choice that is read comes back as a dual number (or array) that carries its derivative
with respect to the coordinates of the inputs.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, is_dataclass, replace
from types import CodeType
from typing import Any, NamedTuple, NoReturn

import numpy as np

from gendsl.address import Path, as_path, format_address
from gendsl.choices.unknown import explain_unknown
from gendsl.compiler.definition import FunctionNode
from gendsl.compiler.lift import Lifter, compile_lifted, lift_calls
from gendsl.compiler.render import render
from gendsl.compiler.source import Source, find_source
from gendsl.errors import (
    CoverageError,
    HandleError,
    LabelError,
    Location,
    ProtectedObservationError,
    ReadError,
    UnsupportedSyntaxError,
)
from gendsl.runtime.trace import ReferenceTrace
from gendsl.transforms.arrays import DualArray, seed_array
from gendsl.transforms.forward import Dual
from gendsl.transforms.functions import lifted as differentiable

NOT_A_CHOICE = 0
"""The coordinate of values that come from a return value: no choice's, so nothing may depend on it."""


class Label:
    """A claim about a choice, checked against its distribution: `discrete` or `continuous`."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


discrete = Label("discrete")
continuous = Label("continuous")


# --- what a run reads and writes -------------------------------------------------------------------


class Run:
    """One execution of a transform: its inputs and outputs, and the coordinates given out so far."""

    def __init__(self) -> None:
        self.inputs: list[Input] = []
        self.outputs: list[Output] = []
        self.next_coordinate = NOT_A_CHOICE + 1


class Input:
    """An input trace as a transform sees it.

    Attributes:
        seeds: for each continuous choice that was read, its traced value and first coordinate.
    """

    def __init__(self, run: Run, name: str, trace: ReferenceTrace, args: tuple[Any, ...]) -> None:
        self.run = run
        self.name = name
        self.trace = trace
        self.records = trace.records
        self.observed = trace.observed_paths
        self.args = args
        self.seeds: dict[Path, tuple[Any, int]] = {}

    def value(self, path: Path, label: Label | None) -> Any:
        """The value of a choice; a dual number where it is continuous and not observed."""
        try:
            record = self.records.get(path)
        except TypeError:
            as_path(path)  # explains what can't be an address
            raise
        if record is None:
            raise self.missing(path)
        support = record[0].support
        if label is not None:
            check_label(label, support.discrete, path)
        if support.discrete or path in self.observed:
            return record[1]
        seed = self.seeds.get(path)
        if seed is None:
            start = self.run.next_coordinate
            self.run.next_coordinate = start + support.dim
            if support.shape == ():
                seed = Dual(float(record[1]), {start: 1.0}), start
            else:
                seed = seed_array(np.asarray(record[1], dtype=float), start, support.embedding), start
            self.seeds[path] = seed
        value = seed[0]
        return value.copy() if type(value) is DualArray else value

    def missing(self, path: Path) -> ReadError:
        """The error for an address at which there is no choice."""
        if path in self.trace.calls:
            return ReadError(
                f"{self.name} has a traced call at this address, not a choice",
                address=path,
                fix=f"read the choices below it, or use {self.name}[{format_address(path)}].retval",
            )
        if self.trace.paths_below(path):
            return ReadError(
                f"this address of {self.name} is a namespace, not a choice",
                address=path,
                fix="read the choices below it, or copy the whole namespace",
            )
        return ReadError(
            f"{self.name} has no such choice",
            address=path,
            fix=explain_unknown(path, self.records),
        )


class Write(NamedTuple):
    """A value written to an output, with the line that wrote it."""

    value: Any
    label: Label | None
    code: CodeType
    lineno: int

    @property
    def location(self) -> Location:
        """The user's line."""
        return Location(self.code.co_filename, self.lineno, self.code.co_name)


class Copy(NamedTuple):
    """A choice copied to an output, with the line that copied it."""

    source: Input
    path: Path
    code: CodeType
    lineno: int

    @property
    def location(self) -> Location:
        """The user's line."""
        return Location(self.code.co_filename, self.lineno, self.code.co_name)


class Output:
    """An output trace as a transform sees it: what was written and copied to it so far."""

    def __init__(self, run: Run, name: str, protected: frozenset[Path]) -> None:
        self.run = run
        self.name = name
        self.protected = protected
        self.entries: dict[Path, Write | Copy] = {}

    def put(self, path: Path, entry: Write | Copy) -> None:
        """Record a write or copy to a path."""
        if path in self.protected:
            raise ProtectedObservationError(
                f"a transform writes to an observation of {self.name}, and observations are held fixed",
                address=path,
                fix="write to latent choices only",
            )
        before = self.entries.get(path)
        if before is not None:
            raise CoverageError(
                f"{self.name} is written twice at one address (first on line {before.lineno})",
                address=path,
                fix="write or copy to each output address exactly once",
            )
        self.entries[path] = entry


def check_label(label: Label, is_discrete: bool, path: Path, location: Location | None = None) -> None:
    """Raise `LabelError` unless the label says what the choice's distribution is."""
    if label is not discrete and label is not continuous:
        raise LabelError(
            f"{label!r} is no label", address=path, fix="use discrete or continuous, without quotes"
        )
    if (label is discrete) != is_discrete:
        actual = "discrete" if is_discrete else "continuous"
        raise LabelError(
            f"this choice is labelled {label} but its distribution is {actual}",
            address=path,
            location=location,
            fix=f"label it {actual}, or leave the label out",
        )


# --- handles ---------------------------------------------------------------------------------------


class Handle:
    """An address in a trace. It names a choice and is no value: `read` gives the value."""

    __slots__ = ("path", "state")

    def __init__(self, state: Any, path: Path) -> None:
        self.state = state
        self.path = path

    def __getitem__(self, address: Any) -> Any:
        path = address if type(address) is tuple else (address,)
        return type(self)(self.state, self.path + path if self.path else path)

    def __repr__(self) -> str:
        return f"{self.state.name}[{format_address(self.path)}]" if self.path else self.state.name

    def _no_value(self, *_: Any) -> NoReturn:
        reader = f"read({self!r})" if isinstance(self, InputHandle) else "the value that you wrote there"
        raise HandleError(
            f"{self!r} is an address, not a value",
            address=self.path or None,
            fix=f"use {reader}",
        )

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _no_value
    __bool__ = __float__ = __int__ = __index__ = __len__ = __iter__ = __array__ = _no_value
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __neg__ = __abs__ = _no_value
    __truediv__ = __rtruediv__ = __pow__ = __rpow__ = __mod__ = __rmod__ = __matmul__ = _no_value
    __hash__ = None  # type: ignore[assignment]


class InputHandle(Handle):
    """An address in an input trace."""

    __slots__ = ()
    state: Input

    @property
    def args(self) -> tuple[Any, ...]:
        """The arguments of the trace."""
        if self.path:
            raise HandleError(
                "only a whole trace has arguments", address=self.path, fix=f"use {self.state.name}.args"
            )
        return self.state.args

    @property
    def retval(self) -> Any:
        """What the program, or the call at this address, returned.

        Floats in it may be used to decide what to do, but not in what is written: how they depend on the
        choices is not known. `write` refuses what depends on them.
        """
        if not self.path:
            return _undifferentiated(self.state.trace.retval)
        calls = self.state.trace.calls
        if self.path not in calls:
            raise ReadError(
                f"{self.state.name} has no traced call at this address",
                address=self.path,
                fix=explain_unknown(self.path, calls),
            )
        return _undifferentiated(calls[self.path])

    def __contains__(self, address: Any) -> bool:
        return (self.path + as_path(address)) in self.state.trace


class OutputHandle(Handle):
    """An address in an output trace."""

    __slots__ = ()
    state: Output

    def __contains__(self, address: Any) -> bool:
        return bool(self._no_value())


def _undifferentiated(value: Any) -> Any:
    """A return value with its floats marked as depending on what is no choice."""
    if isinstance(value, float):
        return Dual(float(value), {NOT_A_CHOICE: 1.0})
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        tangent = np.zeros((*value.shape, NOT_A_CHOICE + 1))
        tangent[..., NOT_A_CHOICE] = 1.0
        return DualArray(value.copy(), tangent)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(_undifferentiated, value))
    if type(value) in (list, tuple, set, frozenset):
        return type(value)(map(_undifferentiated, value))
    if type(value) is dict:
        return {key: _undifferentiated(item) for key, item in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        changes = {f.name: _undifferentiated(getattr(value, f.name)) for f in fields(value) if f.init}
        return replace(value, **changes)
    return value


def read(source: Any, label: Label | None = None) -> Any:
    """The value at an address of an input trace.

    A continuous choice comes back as a number that carries its derivative; compute with it as with a
    float. An observation is a plain value.

    Args:
        source: `handle[address]` of an input trace.
        label: `discrete` or `continuous`, checked against the distribution at the address.

    Raises:
        ReadError: there is no choice at the address.
        LabelError: the label is wrong.
        HandleError: `source` is no address of an input trace.
    """
    if type(source) is not InputHandle:
        _refuse_handle(source, "read", "an input trace")
    return source.state.value(source.path, label)


def write(destination: Any, value: Any, label: Label | None = None) -> None:
    """Set the value at an address of an output trace.

    Args:
        destination: `handle[address]` of an output trace.
        value: the value, computed from what was read.
        label: `discrete` or `continuous`, checked against the distribution at the address.

    Raises:
        CoverageError: the address was written or copied to before.
        ProtectedObservationError: the address is observed.
        HandleError: `destination` is no address of an output trace, or `value` is a handle.
    """
    if type(destination) is not OutputHandle:
        _refuse_handle(destination, "write to", "an output trace")
    if isinstance(value, Handle):
        raise HandleError(
            f"{value!r} is an address, not a value",
            address=destination.path,
            fix="write the value that `read` gives, or use copy(source, destination)",
        )
    if type(value) is np.ndarray or type(value) is DualArray:
        value = value.copy()
    frame = sys._getframe(1)
    destination.state.put(destination.path, Write(value, label, frame.f_code, frame.f_lineno))


def copy(source: Any, destination: Any) -> None:
    """Copy a choice, or every choice in a namespace, from an input trace to an output trace.

    Copied coordinates are left out of the Jacobian, so this is cheaper than `read` and `write`.

    Args:
        source: `handle[address]` of an input trace.
        destination: `handle[address]` of an output trace.

    Raises:
        ReadError: there is neither a choice nor a namespace at the source.
        CoverageError: a destination was written or copied to before.
        ProtectedObservationError: a destination is observed.
        HandleError: the arguments are no such addresses.
    """
    if type(source) is not InputHandle:
        _refuse_handle(source, "copy from", "an input trace")
    if type(destination) is not OutputHandle:
        _refuse_handle(destination, "copy to", "an output trace")
    frame = sys._getframe(1)
    state, start, target = source.state, source.path, destination.path
    if start in state.records:
        destination.state.put(target, Copy(state, start, frame.f_code, frame.f_lineno))
        return
    below = state.trace.paths_below(start)
    if not below and start not in state.trace.calls:
        raise state.missing(start)
    for path in below:
        entry = Copy(state, path, frame.f_code, frame.f_lineno)
        destination.state.put(target + path[len(start) :], entry)


def _refuse_handle(thing: Any, verb: str, what: str) -> NoReturn:
    if isinstance(thing, Handle):
        problem = f"can't {verb} {thing!r}: it isn't {what}"
        fix = "input traces are read and copied from, output traces written and copied to"
    else:
        problem = f"can't {verb} {thing!r}: it is no address of {what}"
        fix = 'pass handle[address], such as model_in["k"], and not a value'
    raise HandleError(problem, fix=fix)


# --- the decorator ---------------------------------------------------------------------------------

_LIFTER = Lifter(differentiable)


@dataclass(frozen=True, eq=False)
class Transform:
    """A trace transform made by `@transform`.

    Attributes:
        inputs: names of the input traces.
        outputs: names of the output traces.
        parameters: the extra parameters, with their values.
    """

    origin: Source
    body: Callable[..., None]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    parameters: dict[str, Any]

    @property
    def name(self) -> str:
        """The name to show to people."""
        return self.origin.function.__qualname__.rpartition("<locals>.")[2]

    @property
    def __name__(self) -> str:
        return self.origin.function.__name__

    @property
    def location(self) -> Location:
        """Where it is defined."""
        return self.origin.location(self.origin.node)

    @property
    def source(self) -> str:
        """The generated code, as text."""
        node: FunctionNode = lift_calls(self.origin.node)
        return render(node)

    def __repr__(self) -> str:
        bound = ", ".join(f"{name}={value!r}" for name, value in self.parameters.items())
        return f"<transform {self.name}{f' with {bound}' if bound else ''}>"

    def __get__(self, instance: Any, owner: type | None = None) -> Transform:
        if instance is None:
            return self
        body = self.body
        return replace(self, body=lambda *a, **k: body(instance, *a, **k))

    def bind(self, **parameters: Any) -> Transform:
        """The transform with some of its extra parameters set."""
        for name in parameters:
            if name not in self.parameters:
                known = ", ".join(self.parameters) or "none"
                raise TypeError(
                    f"transform {self.name} has no extra parameter {name!r} (it has: {known}); extra "
                    "parameters are keyword-only and have a default"
                )
        return replace(self, parameters={**self.parameters, **parameters})

    def __call__(self, *inputs: Any, **keywords: Any) -> None:
        """Run as a part of another transform, on its handles or on deeper ones."""
        for handle in (*inputs, *(keywords.get(name) for name in self.outputs)):
            if not isinstance(handle, Handle):
                raise HandleError(
                    f"transform {self.name} was called with {handle!r}, which is no trace handle",
                    fix="inside a transform pass handles such as model_in['left']; to use a transform "
                    "on traces give it to involutive_mcmc",
                )
        self.body(*inputs, **{**self.parameters, **keywords})

    def run(
        self,
        inputs: Iterable[tuple[ReferenceTrace, tuple[Any, ...]]],
        protected: frozenset[Path],
    ) -> Run:
        """Run on input traces, each with the arguments to show for it.

        `protected` are the observations of the first output, the model.
        """
        run = Run()
        for name, (trace, args) in zip(self.inputs, inputs, strict=True):
            run.inputs.append(Input(run, name, trace, args))
        for index, name in enumerate(self.outputs):
            run.outputs.append(Output(run, name, protected if index == 0 else frozenset()))
        handles = [InputHandle(state, ()) for state in run.inputs]
        outputs = {state.name: OutputHandle(state, ()) for state in run.outputs}
        self.body(*handles, **outputs, **self.parameters)
        return run


def transform(function: Callable[..., None]) -> Transform:
    """Turn a Python function into a trace transform.

    Its positional parameters are the input traces (one or two), its keyword-only parameters without a
    default the output traces, and those with a default extra parameters, which `bind` sets.

    Raises:
        UnsupportedSyntaxError: the signature or the body can't be given a meaning.
        SourceUnavailableError: the source of the function can't be found.
    """
    source = find_source(function, "transform")
    positional: list[str] = []
    outputs: list[str] = []
    parameters: dict[str, Any] = {}
    for name, parameter in inspect.signature(source.function).parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            _refuse_signature(source, f"a transform can't take *{name}")
        elif parameter.kind is not parameter.KEYWORD_ONLY:
            positional.append(name)
        elif parameter.default is parameter.empty:
            outputs.append(name)
        else:
            parameters[name] = parameter.default
    if source.class_name is not None and positional[:1] == ["self"]:
        positional = positional[1:]
    if len(positional) not in (1, 2) or len(outputs) != len(positional):
        _refuse_signature(
            source,
            f"transform {source.function.__name__} has {len(positional)} input and {len(outputs)} "
            "output traces",
        )
    body = compile_lifted(source, _LIFTER)
    return Transform(source, body, tuple(positional), tuple(outputs), parameters)


def _refuse_signature(source: Source, problem: str) -> NoReturn:
    raise UnsupportedSyntaxError(
        problem,
        location=source.location(source.node),
        fix="write `def f(model_in, aux_in, *, model_out, aux_out)`, or `def f(model_in, *, model_out)`; "
        "extra parameters are keyword-only with a default",
    )


@dataclass(frozen=True)
class TransformPair:
    """Two transforms, each declared the inverse of the other."""

    forward: Transform
    backward: Transform

    @property
    def inverse(self) -> TransformPair:
        """The same pair, the other way round."""
        return TransformPair(self.backward, self.forward)


def pair(f: Transform, g: Transform) -> TransformPair:
    """Declare two transforms inverse to each other: g(f(x)) = x and f(g(y)) = y.

    Raises:
        HandleError: either is no transform, or their numbers of traces differ.
    """
    for candidate in (f, g):
        if not isinstance(candidate, Transform):
            raise HandleError(
                f"pair needs two transforms, got {candidate!r}", fix="decorate both with @transform"
            )
    if len(f.inputs) != len(g.outputs) or len(g.inputs) != len(f.outputs):
        raise HandleError(
            f"{f.name} maps {len(f.inputs)} traces to {len(f.outputs)}, but {g.name} maps "
            f"{len(g.inputs)} to {len(g.outputs)}",
            fix="the inputs of each must be the outputs of the other",
        )
    return TransformPair(f, g)
