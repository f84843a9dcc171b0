"""Hypothesis strategies for traces, so that what a test finds is shrunk to its smallest failing case.

A program is executed with hypothesis in the place of its random number generator: each choice, as the
program comes to it, is drawn from a strategy made from its distribution's support. So every trace is one
that the program can make, whatever its control flow, and a trace with fewer choices, and simpler values in
them, is a smaller example.

Needs hypothesis: `pip install 'gendsl[testing]'`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import currently_in_test_context, note
from hypothesis import strategies as st

from gendsl.address import Path
from gendsl.choices import MISSING, ChoiceMap, Constraints, choicemap
from gendsl.distributions import (
    Distribution,
    bernoulli,
    beta,
    categorical,
    dirichlet,
    gamma,
    normal,
    poisson,
    uniform,
    uniform_discrete,
)
from gendsl.errors import KernelError, ValueTypeError
from gendsl.interface import Choices
from gendsl.runtime.executions import Execution
from gendsl.runtime.generative import GenFunction
from gendsl.runtime.records import Record, as_given, as_score
from gendsl.runtime.trace import ReferenceTrace, check_args
from gendsl.selection import Selection, select
from gendsl.supports import Support
from gendsl.testing.moves import TracePair
from gendsl.testing.values import values

__all__ = ["choice_maps", "register", "selections", "trace_pairs", "traces", "values"]


class _Asking(Execution):
    """Given choices are taken, all others are asked for."""

    def __init__(self, given: Constraints, draw: st.DrawFn) -> None:
        super().__init__()
        self.given = given
        self.draw = draw

    def choose(self, path: Path, distribution: Distribution) -> Record:
        value = self.given.lookup(path)
        if value is MISSING:
            try:
                value = self.draw(values(distribution))
            except BaseException as error:  # a body's own `except` must not keep what hypothesis raises
                raise self.fail(error)  # noqa: B904
        value = as_given(value, distribution)
        return distribution, value, as_score(distribution.logpdf(value), distribution, value)


def _asked(
    draw: st.DrawFn, program: GenFunction, args: tuple[Any, ...], given: ChoiceMap, what: str
) -> dict[Path, Any]:
    """The choices of one run of a program."""
    constraints = Constraints(given)
    execution = _Asking(constraints, draw)
    execution.run(program.reference.called_with(args))
    execution.finish()
    constraints.check_used(execution.records, what)
    return {path: record[1] for path, record in execution.records.items()}


def _trace(
    draw: st.DrawFn, model: GenFunction, args: tuple[Any, ...], observations: Choices | Selection | None
) -> ReferenceTrace:
    given = choicemap(None if isinstance(observations, Selection) else observations)
    found = _asked(draw, model, args, given, "observations")
    if isinstance(observations, Selection):
        observations.check(found, "observations")
        seen = {path for path in found if path in observations}
    else:
        constraints = Constraints(given)
        seen = {path for path in found if constraints.lookup(path) is not MISSING}
    observed = {path: value for path, value in found.items() if path in seen}
    start = {path: value for path, value in found.items() if path not in seen}
    return model.generate(args, observed, init=start).trace  # type: ignore[return-value]


def _check_program(program: Any, what: str) -> None:
    if not isinstance(program, GenFunction):
        raise ValueTypeError(
            f"{what} must be a generative function, got {program!r}", fix="decorate it with @gen"
        )


@st.composite
def _traces(draw: st.DrawFn, model: GenFunction, args: tuple[Any, ...], observations: Any) -> ReferenceTrace:
    trace = _trace(draw, model, args, observations)
    if currently_in_test_context():
        note(f"trace of {model.name}: {trace.choices}")
    return trace


@st.composite
def _trace_pairs(
    draw: st.DrawFn,
    model: GenFunction,
    args: tuple[Any, ...],
    q: GenFunction | None,
    q_args: tuple[Any, ...],
    observations: Any,
) -> TracePair:
    trace = _trace(draw, model, args, observations)
    if q is None:
        return TracePair(trace)
    drawn = _asked(draw, q, (trace, *q_args), choicemap(), "")
    aux = q.generate((trace, *q_args), init=drawn).trace
    return TracePair(trace, aux, q_args)  # type: ignore[arg-type]


def traces(
    model: GenFunction, args: tuple[Any, ...] = (), observations: Choices | Selection | None = None
) -> st.SearchStrategy[ReferenceTrace]:
    """Traces of a model of positive and finite density, every choice drawn from its support.

    Args:
        model, args: the model and its arguments.
        observations: choices that are fixed to given values; or a selection of choices that are drawn as
            the others, and are marked as observed.

    Raises:
        ValueTypeError: the model is no `@gen` function, or `args` no tuple.
    """
    _check_program(model, "the model")
    return _traces(model, check_args(args, model.name), observations)


def trace_pairs(
    model: GenFunction,
    args: tuple[Any, ...],
    q: GenFunction | None,
    q_args: tuple[Any, ...] = (),
    *,
    observations: Choices | Selection | None = None,
) -> st.SearchStrategy[TracePair]:
    """Pairs of a model trace x and an auxiliary trace y of `q(x, *q_args)`, for `assert_involution`.

    Args:
        model, args, observations: as in `traces`.
        q, q_args: the auxiliary program, None for a transform of one trace; its arguments after the trace.

    Raises:
        ValueTypeError: the model is no `@gen` function, or `args` no tuple.
        KernelError: the auxiliary program is no `@gen` function.
    """
    _check_program(model, "the model")
    if q is not None and not isinstance(q, GenFunction):
        raise KernelError(f"the auxiliary program is {q!r}", fix="decorate it with @gen, or pass None")
    return _trace_pairs(model, check_args(args, model.name), q, q_args, observations)


# --- values of gendsl's own types ------------------------------------------------------------------


def choice_maps() -> st.SearchStrategy[ChoiceMap]:
    """Choice maps with addresses of one and two parts."""
    addresses = st.sampled_from(["k", "x", "y"]) | st.tuples(st.sampled_from(["mu", "z"]), st.integers(0, 4))
    numbers = st.integers(-9, 9) | st.floats(-1e6, 1e6) | st.booleans()
    return st.dictionaries(addresses, numbers, max_size=6).map(choicemap)


def selections() -> st.SearchStrategy[Selection]:
    """Selections of addresses and namespaces, and their combinations."""
    named = st.lists(st.sampled_from(["k", "x", "mu", ("mu", 0), ("z", ...)]), max_size=3)
    simple = named.map(lambda addresses: select(*addresses))
    return st.recursive(
        simple,
        lambda parts: st.one_of(
            parts.map(lambda s: ~s),
            st.tuples(parts, parts).map(lambda s: s[0] | s[1]),
            st.tuples(parts, parts).map(lambda s: s[0] & s[1]),
        ),
        max_leaves=4,
    )


def _distributions() -> st.SearchStrategy[Distribution]:
    number, positive = st.floats(-100, 100), st.floats(0.01, 100)
    whole, share = st.integers(-9, 9), st.floats(0.01, 0.99)
    weights = st.lists(st.integers(1, 20), min_size=1, max_size=4).map(lambda n: np.array(n) / sum(n))
    return st.one_of(
        st.builds(normal, number, positive),
        st.builds(bernoulli, share),
        st.builds(poisson, positive),
        st.builds(uniform_discrete, whole, whole.map(lambda n: n + 18)),
        st.builds(categorical, weights),
        st.builds(gamma, positive, positive),
        st.builds(beta, positive, positive),
        st.builds(uniform, number, number.map(lambda x: x + 201.0)),
        st.lists(positive, min_size=2, max_size=4).map(dirichlet),
    )


def register() -> None:
    """Let `hypothesis.strategies.from_type` know choice maps, selections, distributions and supports."""
    st.register_type_strategy(ChoiceMap, choice_maps())
    st.register_type_strategy(Selection, selections())
    st.register_type_strategy(Distribution, _distributions())
    st.register_type_strategy(Support, _distributions().map(lambda d: d.support))


register()
