"""The law suite on a user's own program: at random traces, or at one that hypothesis drew."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from gendsl.errors import ValueTypeError
from gendsl.interface import GenerativeFunction, Rng, Trace, as_rng, check_count
from gendsl.testing.laws import WEIGHT_LAWS, Args, Oracle, Subject, gradients_law, pickle_law


def assert_laws(
    model: GenerativeFunction,
    args: Args = (),
    *,
    other_args: Iterable[Args] = (),
    oracle: Oracle | None = None,
    pickled: bool = True,
    differentiable: bool = True,
    cases: int = 10,
    rng: Rng = 0,
) -> None:
    """Assert that a generative function obeys the laws of its interface, at random traces.

    The weights of generate, update, regenerate, project and assess are compared with their equations in
    `GenerativeFunction` and `Trace`; round trips lead back; old traces stay as they are; wrong addresses
    are refused; pickled traces work; gradients agree with finite differences.

    Args:
        model, args: the program, a `@gen` function or a `GenerativeFunction` of another kind.
        other_args: more tuples of arguments, for updates that change them.
        oracle: a second definition of the program, `oracle(args, choices)`, which returns the log density
            of each choice by its address, in program order, and the return value. Without one the single
            choices are scored by their distributions, in a run of the whole body.
        pickled: whether traces can be pickled.
        differentiable: whether the program can be differentiated in its choices of type float.
        cases: how many traces each law is tried at.
        rng: seed or generator.

    Raises:
        AssertionError: a law doesn't hold; says which, and what was found.
    """
    subject = _subject(model, args, other_args, oracle)
    check_count("cases", cases, 1)
    rng = as_rng(rng)
    for law in WEIGHT_LAWS + (pickle_law,) * pickled + (gradients_law,) * differentiable:
        for case in range(cases):
            trace = model.simulate(subject.args[case % len(subject.args)], rng=rng)
            _obey(law, subject, trace, rng)


def assert_weight_laws(
    trace: Trace, *, other_args: Iterable[Args] = (), oracle: Oracle | None = None, rng: Rng = 0
) -> None:
    """Assert that the weight laws hold at a trace, such as one from `gendsl.testing.strategies.traces`.

    Args:
        trace: the trace; what is observed stays so.
        other_args, oracle: as in `assert_laws`.
        rng: seed or generator of what the laws draw.

    Raises:
        AssertionError: a law doesn't hold; says which, and what was found.
    """
    if not isinstance(trace, Trace):
        raise ValueTypeError(f"expected a trace, got {trace!r}", fix="draw it from traces(model, args)")
    subject = _subject(trace.gen_fn, trace.args, other_args, oracle)
    for law in WEIGHT_LAWS:
        _obey(law, subject, trace, as_rng(rng))


def _subject(model: Any, args: Args, other_args: Iterable[Args], oracle: Oracle | None) -> Subject:
    if not isinstance(model, GenerativeFunction):
        raise ValueTypeError(f"expected a generative function, got {model!r}", fix="decorate it with @gen")
    return Subject(model, (args, *other_args), oracle)


def _obey(law: Callable[..., None], subject: Subject, trace: Trace, rng: np.random.Generator) -> None:
    try:
        law(subject, trace, rng)
    except AssertionError as error:
        name = law.__name__.replace("_", " ")
        doc = (law.__doc__ or "").strip()
        raise AssertionError(
            f"{subject.model.name} breaks the {name} ({doc})\n  {error}\n"
            f"  at {trace.choices.to_flat_dict()!r}"
        ) from error
