"""`@transform`: programs that read input traces and write output traces; and pairs of them.

A transform runs on handles (see `gendsl.transforms.handles`). The functions that it calls are replaced by
versions that differentiate, so one run gives the output values and their derivatives.
"""

from __future__ import annotations

import ast
import functools
import inspect
import pickle
import sys
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn, overload

from gendsl.address import Path
from gendsl.errors import HandleError, UnsupportedSyntaxError, ValueTypeError, too_deep
from gendsl.lang.lift import compile_lifted
from gendsl.lang.render import is_to_be_shown, render
from gendsl.lang.source import Source, find_source
from gendsl.lang.trees import children
from gendsl.runtime.trace import ReferenceTrace
from gendsl.runtime.travel import empty, register, remember_texts, source_texts, travels_whole
from gendsl.runtime.verify import Schedule
from gendsl.transforms.access import Accessor
from gendsl.transforms.definition import Definition
from gendsl.transforms.explained import explain
from gendsl.transforms.failures import FailureLog
from gendsl.transforms.functions import lost_in
from gendsl.transforms.handles import Handle
from gendsl.transforms.inputs import Input
from gendsl.transforms.labels import continuous, discrete
from gendsl.transforms.outputs import Output
from gendsl.transforms.run import Run
from gendsl.transforms.statements import copy, read, write

__all__ = [
    "Transform",
    "TransformPair",
    "continuous",
    "copy",
    "discrete",
    "pair",
    "read",
    "transform",
    "write",
]


_LIFTER = Accessor()


@dataclass(frozen=True, eq=False)
class Transform(Definition):
    """A trace transform made by `@transform`.

    Attributes:
        watch: when a run is compared with a second one.
        failures: the checks that failed where its proposals were then rejected.
        kernels: those of `involutive_mcmc` that propose by it.
    """

    watch: Schedule = field(default_factory=Schedule, init=False, repr=False)
    failures: FailureLog = field(default_factory=FailureLog, init=False, repr=False)
    kernels: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)

    @property
    def source(self) -> str:
        """The generated code, as text."""
        return render(_LIFTER.rewrite(self.origin))

    def explain(self) -> str:
        """What each line does with the traces: what is read, written and copied."""
        return explain(self)

    def __repr__(self) -> str:
        bound = ", ".join(f"{name}={value!r}" for name, value in self.parameters.items())
        return f"<transform {self.name}{f' with {bound}' if bound else ''}>"

    def __get__(self, instance: Any, owner: type | None = None) -> Transform:
        if instance is None:
            return self
        return replace(self, body=functools.partial(self.body, instance))

    def __reduce__(self) -> Any:
        module, qualname = self.origin.function.__module__, self.origin.function.__qualname__
        try:
            found = _find_transform(module, qualname, (), {})
        except (AttributeError, ImportError):
            found = None
        if found is None or found.origin is not self.origin:
            raise pickle.PicklingError(
                f"can't pickle {self!r}: it is not {qualname!r} of module {module!r}; "
                "define it at the top level of a module, or in a class there"
            )
        return _find_transform, (module, qualname, self._bound, self.parameters)

    @property
    def _bound(self) -> tuple[Any, ...]:
        """The instance whose method it is, alone in a tuple."""
        return self.body.args if isinstance(self.body, functools.partial) else ()

    def without_kernels(self) -> Transform:
        """This transform, for its kernels: what knows them by weak references, and has what they are made
        of, must not come back to them by it.
        """
        made = object.__new__(Transform)
        vars(made).update({**vars(self), "kernels": {}})
        return made

    def bind(self, **parameters: Any) -> Transform:
        """The transform with some of its extra parameters set."""
        for name in parameters:
            if name not in self.parameters:
                known = ", ".join(self.parameters) or "none"
                raise ValueTypeError(
                    f"transform {self.name} has no extra parameter {name!r} (it has: {known})",
                    fix="an extra parameter is keyword-only and has a default: `*, model_out, scale=1.0`",
                )
        return replace(self, parameters={**self.parameters, **parameters})

    def __call__(self, *inputs: Any, **keywords: Any) -> None:
        """Run as a part of another transform, on its handles or on deeper ones."""
        given = [*inputs, *(keywords[name] for name in self.inputs if name in keywords)]
        if len(given) != len(self.inputs):
            raise HandleError(
                f"transform {self.name} has {len(self.inputs)} input traces and was given {len(given)}",
                fix=self._how_to_call(),
            )
        for name in self.outputs:
            if name not in keywords:
                raise HandleError(
                    f"transform {self.name} was called without {name}=", fix=self._how_to_call()
                )
            given.append(keywords[name])
        for handle in given:
            if not isinstance(handle, Handle):
                raise HandleError(
                    f"transform {self.name} was called with {handle!r}, which is no trace handle",
                    fix="inside a transform pass handles such as model_in['left']; to use a transform "
                    "on traces give it to involutive_mcmc",
                )
        self.body(*inputs, **{**self.parameters, **keywords})

    def _how_to_call(self) -> str:
        outputs = (f"{name}={name}" for name in self.outputs)
        return f"call it as {self.name}({', '.join((*self.inputs, *outputs))})"

    def run(
        self,
        inputs: Iterable[tuple[ReferenceTrace, tuple[Any, ...]]],
        protected: Container[Path],
        there: Run | None = None,
    ) -> Run:
        """Run on input traces, each with the arguments to show for it.

        `protected` are the observations of the first output, the model. `there` is the run that the inputs
        are the outputs of, and whose inputs the outputs should be, where this is the way back.
        """
        run = Run(self)
        for name, (trace, args) in zip(self.inputs, inputs):  # noqa: B905 (of one length; hot)
            run.inputs.append(Input(self, run.next_coordinate, name, trace, args))
        keywords = self.parameters.copy()
        for name in self.outputs:
            keywords[name] = output = Output(self, name, protected)
            run.outputs.append(output)
            protected = ()
        if there is not None:
            for state, made in zip(run.inputs, there.outputs, strict=True):
                state.supports = made.supports
        try:
            self.body(*run.inputs, **keywords)
        except RecursionError as error:
            raise too_deep(error, f"transform {self.name}") from None
        except (TypeError, ValueError, AttributeError, SystemError) as error:
            found = lost_in(error)
            if found is None:
                raise
            raise found from error
        return run


def _find_transform(
    module: str, qualname: str, bound: tuple[Any, ...], parameters: dict[str, Any]
) -> Transform:
    """The transform of that name in its module, with other parameters: how one is unpickled."""
    __import__(module)
    found: Any = sys.modules[module]
    for part in qualname.split("."):
        found = vars(found)[part] if isinstance(found, type) else getattr(found, part)
    made: Transform = found.__get__(*bound) if bound else found
    return replace(made, parameters={**made.parameters, **parameters})


def _reduce(transform: Transform) -> Any:
    """How cloudpickle takes a transform along: by name, or as the function that it was made from."""
    if not travels_whole(transform.origin.function.__module__):
        try:
            return transform.__reduce__()
        except pickle.PicklingError:
            pass  # made in a function: it has no name to be found by
    state = (transform.origin, transform.inputs, transform.outputs, transform.parameters)
    texts = source_texts([transform.origin.filename])
    return empty, (Transform,), (*state, transform._bound, texts), None, None, _fill


def _fill(transform: Transform, state: Any) -> None:
    origin, inputs, outputs, parameters, bound, texts = state
    remember_texts(texts)
    body: Any = compile_lifted(origin, _LIFTER)
    if bound:
        body = functools.partial(body, *bound)
    for name, value in vars(Transform(origin, body, inputs, outputs, parameters)).items():
        object.__setattr__(transform, name, value)  # frozen for everybody else


register(Transform, _reduce)


@overload
def transform(function: Callable[..., None], /) -> Transform: ...
@overload
def transform(*, debug: bool = ...) -> Callable[[Callable[..., None]], Transform]: ...


def transform(
    function: Callable[..., None] | None = None, /, *, debug: bool | None = None
) -> Transform | Callable[[Callable[..., None]], Transform]:
    """Turn a Python function into a trace transform.

    Its positional parameters are the input traces (one or two), its keyword-only parameters without a
    default the output traces, and those with a default extra parameters, which `bind` sets.

    Args:
        debug: print the generated code. The environment variable GENDSL_DEBUG=1 prints that of all programs
            and transforms but gendsl's own.

    Raises:
        UnsupportedSyntaxError: the signature or the body can't be given a meaning.
        SourceUnavailableError: the source of the function can't be found.
    """
    return (lambda f: _transform(f, debug)) if function is None else _transform(function, debug)


def _transform(function: Callable[..., None], debug: bool | None) -> Transform:
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
    _check_body(source)
    body = compile_lifted(source, _LIFTER)
    made = Transform(source, body, tuple(positional), tuple(outputs), parameters)
    if is_to_be_shown(source.filename, debug):
        print(made.source)
    return made


def _refuse_signature(source: Source, problem: str) -> NoReturn:
    raise UnsupportedSyntaxError(
        problem,
        location=source.location(source.node),
        fix="write `def f(model_in, aux_in, *, model_out, aux_out)`, or `def f(model_in, *, model_out)`; "
        "extra parameters are keyword-only with a default",
    )


def _check_body(source: Source) -> None:
    """Refuse a body that wouldn't run when it is called, or whose result would be lost."""
    if isinstance(source.node, ast.AsyncFunctionDef):
        raise UnsupportedSyntaxError(
            "a transform can't be async", location=source.location(source.node), fix="use a plain `def`"
        )
    stack: list[ast.AST] = list(source.node.body)
    while stack:
        node = stack.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            continue
        problem = fix = ""
        if isinstance(node, ast.Return) and node.value is not None:
            if not (isinstance(node.value, ast.Constant) and node.value.value is None):
                problem = "what a transform returns is lost"
                fix = "write it: `write(model_out[address], value)`; a plain `return` ends a transform"
        elif isinstance(node, (ast.Yield, ast.YieldFrom)):
            problem, fix = "a transform can't be a generator", "write(model_out[address], value)"
        if problem:
            raise UnsupportedSyntaxError(problem, location=source.location(node), fix=fix)
        stack.extend(children(node))


@dataclass(frozen=True)
class TransformPair:
    """Two transforms, each declared the inverse of the other."""

    forward: Transform
    backward: Transform
    kernels: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def name(self) -> str:
        """The name to show to people."""
        return f"{self.forward.name} and {self.backward.name}"

    @property
    def __name__(self) -> str:
        return self.name

    def __reduce__(self) -> Any:
        return TransformPair, (self.forward, self.backward)  # kernels are made again where they are called

    def without_kernels(self) -> TransformPair:
        """This pair, for its kernels; see `Transform.without_kernels`."""
        return TransformPair(self.forward, self.backward)

    @property
    def inverse(self) -> TransformPair:
        """The same pair, the other way round."""
        return TransformPair(self.backward, self.forward)


def pair(f: Transform, g: Transform) -> TransformPair:
    """Declare two transforms inverse to each other: g(f(x)) = x and f(g(y)) = y.

    An involutive move made from a pair applies either, with probability 1/2 each. That is the involution
    (x, y, direction) -> (f(x, y) or g(x, y), other direction), so neither need be its own inverse.

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


def directions(f: Transform | TransformPair) -> tuple[tuple[Transform, Transform], ...]:
    """The maps that a move may apply, each with its inverse: an involution is its own."""
    if isinstance(f, Transform):
        return ((f, f),)
    return ((f.forward, f.backward), (f.backward, f.forward))
