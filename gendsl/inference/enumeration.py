"""Exact posteriors by enumeration: every value of every latent choice, where there are finitely many."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logsumexp

from gendsl.address import Path, as_path
from gendsl.choices import MISSING, ChoiceMap, Constraints, choicemap
from gendsl.distributions import Distribution
from gendsl.errors import EnumerationError, ValueTypeError, ZeroProbabilityError
from gendsl.interface import Choices
from gendsl.runtime.executions import Execution
from gendsl.runtime.generative import GenFunction
from gendsl.runtime.impossible import ZeroProbability
from gendsl.runtime.records import Record, as_given, as_score


@dataclass(frozen=True)
class Enumeration:
    """All traces of positive probability that agree with the observations, with their probabilities.

    Attributes:
        traces: the traces, with values in the order of the choices' supports, the last choice fastest.
        log_probs: log p(latent choices, observations) of each, shape (n,).
        log_evidence: log p(observations), the log of their sum.
    """

    traces: tuple[Any, ...]
    log_probs: np.ndarray
    log_evidence: float

    @property
    def probabilities(self) -> np.ndarray:
        """The posterior probability of each trace, shape (n,)."""
        return np.exp(self.log_probs - self.log_evidence)

    @property
    def best(self) -> Any:
        """The most probable trace; the first of those."""
        return self.traces[int(np.argmax(self.log_probs))]

    def mean(self, what: Any) -> Any:
        """The posterior mean of a function of a trace, or of the choice at an address."""
        values = np.asarray([_value(what, trace) for trace in self.traces], dtype=float)
        mean = np.tensordot(self.probabilities, values, axes=1)
        return float(mean) if mean.ndim == 0 else mean

    def marginal(self, what: Any) -> dict[Any, float]:
        """The posterior probability of each value of a function of a trace, or of a choice.

        Raises:
            UnknownAddressError: a trace has no choice at the address.
            ValueTypeError: a value can't be told from others, as an array can't.
        """
        totals: dict[Any, float] = {}
        for trace, probability in zip(self.traces, self.probabilities.tolist(), strict=True):
            value = _value(what, trace)
            try:
                totals[value] = totals.get(value, 0.0) + probability
            except TypeError:
                raise ValueTypeError(
                    f"the probability of {value!r} can't be summed up: it is not hashable",
                    fix="use one entry, or a tuple: lambda trace: tuple(trace['z'])",
                ) from None
        return totals

    def __repr__(self) -> str:
        return f"<enumeration of {len(self.traces)} traces, log evidence {self.log_evidence:.6g}>"


def _value(what: Any, trace: Any) -> Any:
    return what(trace) if callable(what) else trace[as_path(what)]


def enumerate_posterior(
    model: GenFunction,
    args: tuple[Any, ...] = (),
    observations: Choices | None = None,
    *,
    most: int = 1_000_000,
) -> Enumeration:
    """The exact posterior of a model whose latent choices are discrete, with finitely many values each.

    Which choices there are may depend on others. The model is run once for each trace; values of probability
    zero are left out as soon as they come up.

    Args:
        model, args, observations: the model; only the observations may be continuous or unbounded.
        most: the largest number of traces.

    Raises:
        EnumerationError: a latent choice has infinitely many values, or there are too many traces.
        ZeroProbabilityError: the observations have probability zero.
        UnknownAddressError: an observation is not made by the program.
    """
    if not isinstance(model, GenFunction):
        raise ValueTypeError(f"enumerate_posterior needs a model, got {model!r}", fix="decorate it with @gen")
    given = choicemap(observations)
    traces: list[Any] = []
    log_probs: list[float] = []
    ways: list[_Way] = []
    while True:
        execution = _Enumerate(Constraints(given), ways)
        try:
            model._trace(execution, args)
        except ZeroProbability:  # an observation is impossible, or all values of a choice are
            pass
        else:
            execution.observations.check_used(execution.records, "observations")
            values = {way.path: way.value for way in ways}
            trace = model.generate(args, given, init=ChoiceMap._from_flat(values)).trace
            if len(traces) == most:
                raise EnumerationError(
                    f"{model.name} has more than {most} traces",
                    fix="observe more choices, or use fewer values; or give a larger `most`",
                )
            traces.append(trace)
            log_probs.append(trace.log_prob)
        while ways and not ways[-1].advance():
            ways.pop()
        if not ways:
            break
    if not traces:
        raise ZeroProbabilityError(
            "the observations have probability zero", fix="look for a wrong or missing observation (NaN?)"
        )
    return Enumeration(tuple(traces), np.array(log_probs), float(logsumexp(log_probs)))


class _Way:
    """A latent choice, with the values of positive probability that are still to come."""

    __slots__ = ("left", "path", "value")

    def __init__(self, path: Path, values: list[Any]) -> None:
        self.path = path
        self.left = values[::-1]
        self.value = self.left.pop()

    def advance(self) -> bool:
        """Go to the next value; False if there is none."""
        if not self.left:
            return False
        self.value = self.left.pop()
        return True


class _Enumerate(Execution):
    """A run that takes the values of the ways so far, and the first value of every choice after them."""

    def __init__(self, observations: Constraints, ways: list[_Way]) -> None:
        super().__init__()
        self.observations = observations
        self.ways = ways
        self.depth = 0

    def afresh(self, rng: Any) -> _Enumerate:
        return _Enumerate(self.observations, self.ways)

    def choose(self, path: Path, distribution: Distribution) -> Record:
        value = self.observations.lookup(path)
        if value is not MISSING:
            value = as_given(value, distribution)
            score = _score(distribution, value)
            if score == -math.inf:
                raise self.fail(ZeroProbability(path, distribution, value))
            return distribution, value, score
        if self.depth == len(self.ways):
            values = [v for v in _values(distribution, path) if _score(distribution, v) > -math.inf]
            if not values:
                raise self.fail(ZeroProbability(path, distribution, value))
            self.ways.append(_Way(path, values))
        value = as_given(self.ways[self.depth].value, distribution)
        self.depth += 1
        return distribution, value, _score(distribution, value)


def _score(distribution: Distribution, value: Any) -> float:
    score = distribution.logpdf(value)
    return score if type(score) is float else as_score(score, distribution, value)


def _values(distribution: Distribution, path: Path) -> Any:
    support = distribution.support
    values = support.values if support.discrete else None
    if values is None:
        kind = "infinitely many values" if support.discrete else "a continuum of values"
        raise EnumerationError(
            f"{distribution!r} has {kind}, or too many, and is not observed",
            address=path,
            fix="observe it, or give it finitely many values; or sample",
        )
    return values
