"""What an involutive move does at one pair of traces, as assertions for property tests.

Cusumano-Towner et al., "Automating Involutive MCMC", section 6: support, coverage, dimension, round trip
and determinants; and the derivatives against finite differences.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from gendsl.address import Path
from gendsl.choices import ChoiceMap
from gendsl.errors import GenDSLError, HandleError, ValueTypeError
from gendsl.runtime.generative import GenFunction
from gendsl.runtime.trace import ReferenceTrace
from gendsl.transforms.apply import check_move
from gendsl.transforms.language import Transform, TransformPair, directions, pair
from gendsl.transforms.random_cases import check_at

_NEARBY = 1e-3  # how far off, in free coordinates, a failure at a point is looked for
_NEIGHBOURS = 3


@dataclass(frozen=True, eq=False)
class TracePair:
    """A trace of a model and one of an auxiliary program: what an involutive move starts from.

    Attributes:
        trace: the trace of the model, x.
        aux: the trace of the auxiliary program, y ~ q(x, *q_args); None for a move without one.
        q_args: the arguments of the auxiliary program after the model trace.
    """

    trace: ReferenceTrace
    aux: ReferenceTrace | None = None
    q_args: tuple[Any, ...] = ()

    @property
    def q(self) -> GenFunction | None:
        """The auxiliary program."""
        return None if self.aux is None else self.aux.gen_fn

    def __repr__(self) -> str:
        aux = "None" if self.aux is None else _shown(self.aux.choices)
        return f"TracePair(model={_shown(self.trace.choices)}, aux={aux})"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """What hypothesis prints of a counterexample."""
        printer.text(repr(self))


def _shown(choices: ChoiceMap) -> str:
    """Choices as a dict that `generate` takes."""
    return repr({path[0] if len(path) == 1 else path: value for path, value in choices.items()})


def assert_involution(case: TracePair, f: Transform) -> None:
    """Assert that f takes a pair of traces to another and back, with determinants that cancel.

    Checked are coverage, labels, dimension, that observations are untouched, f(f(x, y)) = (x, y), that
    log|det J| there and back cancel, and the derivatives against finite differences. Where f leads out of
    the support it is enough that it leads back, for a sampler rejects that proposal.

    A set of probability zero doesn't count: a failure at a point (x = 0, two equal means) is one only if
    f fails, too, at points with the same discrete choices and continuous ones 0.001 away.

    Raises:
        TransformError: f is wrong here; the error names the address, the values and the line.
    """
    if isinstance(f, TransformPair):
        raise HandleError("assert_involution got a pair of transforms", fix="use assert_bijection(case, f)")
    _assert(case, f)


def assert_bijection(case: TracePair, f: Transform | TransformPair, g: Transform | None = None) -> None:
    """Assert that each of two transforms undoes the other at a pair of traces.

    Args:
        case: the pair of traces.
        f, g: the two transforms, or f = pair(forward, backward). Both orders are checked, each as in
            `assert_involution`.

    Raises:
        TransformError: one of them is wrong here.
    """
    if g is not None:
        if isinstance(f, TransformPair):
            raise HandleError("assert_bijection got a pair and another transform", fix="leave the other out")
        f = pair(f, g)
    elif not isinstance(f, TransformPair):
        raise HandleError("assert_bijection got one transform", fix="give its inverse, too, or a pair(f, g)")
    _assert(case, f)


def _assert(case: TracePair, f: Transform | TransformPair) -> None:
    if not isinstance(case, TracePair):
        raise ValueTypeError(
            f"expected a pair of traces, got {case!r}", fix="draw it from trace_pairs(model, args, q)"
        )
    check_move(case.q, case.q_args, f)
    for there, back in directions(f):
        try:
            _check(case, there, back)
        except Exception as error:
            if all(_passes(near, there, back) for near in _neighbours(case)):
                continue
            raise error from error.__cause__


def _check(case: TracePair, there: Transform, back: Transform) -> None:
    check_at(there, back, case.trace, case.q, case.q_args, case.aux, np.random.default_rng(0))


def _passes(case: TracePair | None, there: Transform, back: Transform) -> bool:
    if case is None:
        return False
    try:
        _check(case, there, back)
    except Exception:  # whatever goes wrong at a neighbour, it isn't the point alone that is bad
        return False
    return True


def _neighbours(case: TracePair) -> Iterator[TracePair | None]:
    """Pairs with the same discrete choices and continuous ones nearby; None where there is no such pair."""
    rng = np.random.default_rng(0)
    for _ in range(_NEIGHBOURS):
        near = None
        with contextlib.suppress(GenDSLError, ArithmeticError, ValueError):
            trace = _moved(case.trace, rng, case.trace.args)
            aux = None if case.aux is None else _moved(case.aux, rng, (trace, *case.q_args))
            near = TracePair(trace, aux, case.q_args)
        yield near


def _moved(trace: ReferenceTrace, rng: np.random.Generator, args: tuple[Any, ...]) -> ReferenceTrace:
    """The trace with every latent continuous choice moved a little, in its unconstrained coordinates."""
    values: dict[Path, Any] = {}
    for path, (distribution, value, _) in trace.records.items():
        if path in trace.observed_paths:
            continue
        values[path] = value
        support = distribution.support
        if not support.discrete and support.dim:
            u = np.asarray(support.unconstrain(value), dtype=float)
            step = _NEARBY * rng.standard_normal(u.shape)
            if np.isfinite(u).all():
                values[path] = support.constrain(u + step * np.maximum(1.0, np.abs(u)))
    return trace.gen_fn.generate(args, trace.observed, init=values, rng=rng).trace  # type: ignore[return-value]
