"""Exact tests of a kernel on a model with finitely many states: pi K = pi, by enumeration."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from gendsl.inference.any_kernel import KernelFunction, run_kernel
from gendsl.inference.kernel import check_kernel
from gendsl.interface import Choices, GenerativeFunction, Trace, check_model
from gendsl.testing.enumeration import enumerate_outcomes

State = tuple[Any, ...]


@dataclass(frozen=True)
class Transitions:
    """What a kernel does on every state of a model.

    Attributes:
        traces: one trace for each state of positive posterior probability.
        posterior: their probabilities pi given the observations, shape (n,).
        matrix: the probability K[i, j] of going from state i to state j in one step, shape (n, n).
        log_evidence: log of the probability of the observations.
    """

    traces: tuple[Trace, ...]
    posterior: np.ndarray
    matrix: np.ndarray
    log_evidence: float

    @property
    def error(self) -> float:
        """The largest entry of |pi K - pi|."""
        return float(np.max(np.abs(self.posterior @ self.matrix - self.posterior)))

    @property
    def imbalance(self) -> float:
        """The largest |pi_i K_ij - pi_j K_ji|: zero where the kernel is reversible."""
        flow = self.posterior[:, None] * self.matrix
        return float(np.max(np.abs(flow - flow.T)))

    @property
    def moves(self) -> bool:
        """Whether the kernel ever leaves a state."""
        return bool(np.max(self.matrix - np.diag(np.diag(self.matrix))) > 0.0)


def _state(trace: Trace) -> State:
    """The choices of a trace as something hashable; their order doesn't matter."""
    return tuple(sorted(((path, _hashable(value)) for path, value in trace.choices.items()), key=repr))


def _hashable(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.shape, tuple(value.ravel().tolist())
    return value


def transitions(
    kernel: KernelFunction,
    model: GenerativeFunction,
    args: tuple[Any, ...] = (),
    observations: Choices | None = None,
) -> Transitions:
    """The posterior and the transition matrix of a kernel, by running it in every possible way.

    Every random choice of the model, and every random number that the kernel uses, must have finitely
    many outcomes (see `enumerate_outcomes`).

    Raises:
        AssertionError: the kernel leads out of the posterior's support, changes an observation, or
            returns a trace whose log probability is not that of its choices.
    """
    check_kernel(kernel)
    check_model(model, "this test")
    found: dict[State, Trace] = {}
    evidence = 0.0
    for (trace, weight), probability in enumerate_outcomes(
        lambda rng: model.generate(args, observations, rng=rng)
    ):
        if weight > -math.inf:
            found.setdefault(_state(trace), trace)
            evidence += probability * math.exp(weight)
    if not found:
        raise AssertionError("the observations have probability zero")
    number = {state: i for i, state in enumerate(found)}
    traces = tuple(found.values())
    posterior = np.exp(np.array([trace.log_prob for trace in traces]) - math.log(evidence))
    _check(abs(posterior.sum() - 1.0) < 1e-9, f"the posterior adds up to {posterior.sum()}")
    matrix = np.zeros((len(traces), len(traces)))
    for i, start in enumerate(traces):
        for (end, _), probability in enumerate_outcomes(partial(run_kernel, kernel, start)):
            j = number.get(_state(end))
            _check(j is not None, f"the kernel leads to a state of probability zero:\n{end}")
            assert j is not None
            _check(
                math.isclose(end.log_prob, traces[j].log_prob, rel_tol=1e-9, abs_tol=1e-9),
                f"the kernel returned a trace with log_prob {end.log_prob}; its choices have "
                f"{traces[j].log_prob}:\n{end}",
            )
            _check(end.observed == start.observed, f"the kernel changed what is observed:\n{end}")
            matrix[i, j] += probability
    return Transitions(traces, posterior, matrix, math.log(evidence))


def assert_exact(
    kernel: KernelFunction,
    model: GenerativeFunction,
    args: tuple[Any, ...] = (),
    observations: Choices | None = None,
    *,
    tolerance: float = 1e-12,
) -> Transitions:
    """Assert that a kernel leaves the posterior of a discrete model exactly invariant: pi K = pi.

    Args:
        kernel: a callable (trace, rng) -> (trace, info).
        model, args: the model; each of its choices must have finitely many values.
        observations: choices that are held fixed.
        tolerance: the largest |pi K - pi| allowed.

    Returns:
        The states, the posterior and the transition matrix.

    Raises:
        AssertionError: it doesn't, or it never moves; the message names the state that is worst off.
    """
    found = transitions(kernel, model, args, observations)
    rows = found.matrix.sum(axis=1)
    _check(bool(np.all(np.abs(rows - 1.0) < 1e-9)), f"a row of the transition matrix adds up to {rows}")
    _check(found.moves or len(found.traces) == 1, "the kernel never moves, so this test says nothing")
    change = found.posterior @ found.matrix - found.posterior
    worst = int(np.argmax(np.abs(change)))
    _check(
        found.error <= tolerance,
        f"the kernel doesn't leave the posterior invariant: one step takes the probability of a state "
        f"from {found.posterior[worst]:.12g} to {found.posterior[worst] + change[worst]:.12g}:\n"
        f"{found.traces[worst]}",
    )
    return found


def _check(holds: bool, problem: str) -> None:
    if not holds:
        raise AssertionError(problem)
