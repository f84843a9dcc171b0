"""Checks that a move is an involution, on random test cases.

Cusumano-Towner et al., "Automating Involutive MCMC", Algorithm 5.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from gendsl.address import Path
from gendsl.errors import Location, SupportError, TransformError, ValueTypeError
from gendsl.interface import Rng, as_rng
from gendsl.runtime.generative import GenFunction
from gendsl.runtime.impossible import ZeroProbability
from gendsl.runtime.records import Records
from gendsl.runtime.trace import ReferenceTrace
from gendsl.selection import Selection, select
from gendsl.transforms.apply import check_move, image
from gendsl.transforms.checks import check_departure, check_round_trip
from gendsl.transforms.language import Transform, TransformPair, directions
from gendsl.transforms.numeric import check_derivatives

_RARE = 0.02  # the share of the prior on which a mistake is to be found
_POWER = 0.98  # with this probability at least

CASES = math.ceil(math.log(1.0 - _POWER) / math.log(1.0 - _RARE))
"""How many cases find a mistake on 2 % of the prior with probability 0.98."""


@dataclass(frozen=True)
class CheckReport:
    """What random test cases found out about a move.

    Attributes:
        name: the transform's name.
        cases: how many test cases were run.
        failures: the number of the case and the error, for each that failed. Where every proposal left the
            support it is one error, which says so.
        departures: how many proposals led out of the support, and back; a sampler rejects them.
        first_case: the model's and the auxiliary choices of the first failure.
        proposals: how many proposals were tried: one in each case, or two where the move is a pair of
            transforms.
    """

    name: str
    cases: int
    failures: tuple[tuple[int, TransformError], ...]
    departures: int
    first_case: tuple[Any, Any] | None
    proposals: int

    @property
    def departed(self) -> float:
        """The share of the proposals that led out of the support, and back."""
        return self.departures / self.proposals

    @property
    def power(self) -> float:
        """The probability that n cases meet a mistake that the move makes on 2 % of the prior: 1 - 0.98^n."""
        return -math.expm1(self.cases * math.log1p(-_RARE))

    @property
    def ok(self) -> bool:
        """Whether every case passed."""
        return not self.failures

    def __bool__(self) -> bool:
        return self.ok

    @property
    def address(self) -> Path | None:
        """The address of the first failure."""
        return self.failures[0][1].address if self.failures else None

    @property
    def location(self) -> Location | None:
        """The user's line of the first failure."""
        return self.failures[0][1].location if self.failures else None

    def raise_if_failed(self) -> None:
        """Raise the first failure, if there is one."""
        if self.failures:
            raise self.failures[0][1]

    def __str__(self) -> str:
        if self.ok:
            return (
                f"{self.name}: {self.cases} random cases, all passed{self._outside()}\n"
                f"  so many find a mistake on {_RARE:.0%} of the prior with probability {self.power:.2g}"
            )
        case, error = self.failures[0]
        if self.departures == self.proposals:
            outcome = f"none of {self.cases} random cases can be accepted"
        else:
            failed = len({number for number, _ in self.failures})
            outcome = f"{failed} of {self.cases} random cases failed{self._outside()}"
        lines = [f"{self.name}: {outcome}; the first, case {case}:"]
        lines += [f"  {type(error).__name__}: {error}".replace("\n", "\n  ")]
        if self.first_case is not None:
            model, aux = self.first_case
            lines += ["  model trace:", *(f"    {line}" for line in str(model).splitlines())]
            lines += ["  auxiliary trace:", *(f"    {line}" for line in str(aux).splitlines())]
        return "\n".join(lines)

    __repr__ = __str__

    def _outside(self) -> str:
        if not self.departures:
            return ""
        return f" ({self.departures} led out of the support, and back: {self.departed:.0%} of the proposals)"


def _cases(
    model: GenFunction, args: tuple[Any, ...], observed: Selection | None, n: int, rng: np.random.Generator
) -> Iterator[ReferenceTrace]:
    for _ in range(n):
        trace = model.simulate(args, rng=rng)
        if observed is not None:
            trace.observed_paths = frozenset(path for path in trace.records if path in observed)
        yield trace


def check_involutive(
    model: GenFunction,
    args: tuple[Any, ...],
    q: GenFunction | None,
    f: Transform | TransformPair,
    *,
    q_args: tuple[Any, ...] = (),
    observed: Any = None,
    n: int = CASES,
    rng: Rng = None,
) -> CheckReport:
    """Test an involutive move on random traces from the prior (Algorithm 5 of the paper).

    Each case draws a model trace and an auxiliary trace, applies the transform, and checks support,
    dimension, coverage, round trip and determinants; and the derivatives against finite differences. A
    proposal may leave the support and come back; where every one leaves it, the move fails.

    Args:
        model, args: the model and its arguments.
        q, q_args: the auxiliary program (None for a transform of one trace) and its arguments after the
            model trace.
        f: the transform; or a pair of transforms, each of which is then tried in every case.
        observed: a selection, or addresses, of what will be observed; simulated, but held fixed.
        n: the number of cases. A mistake that the move makes on a share s of the prior is met by one of
            them with probability 1 - (1 - s)^n; the 194 of the default meet one on 2 % with probability 0.98.
        rng: seed or generator.

    Raises:
        UnknownAddressError: `observed` names an address that no test case has.

    Returns:
        A report, true if every case passed; printing it names the first failing address, its value
        before and after, and the line.
    """
    if not isinstance(model, GenFunction):
        raise ValueTypeError(f"check_involutive needs a model, got {model!r}", fix="decorate it with @gen")
    check_move(q, q_args, f)
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 1:
        raise ValueTypeError(f"check_involutive got n={n!r}", fix="n must be a whole number, 1 or more")
    rng = as_rng(rng)
    if observed is not None and not isinstance(observed, Selection):
        observed = select(*observed) if isinstance(observed, (list, set)) else select(observed)
    failures: list[tuple[int, TransformError]] = []
    failed_at: tuple[Any, Any] | None = None
    outside: list[tuple[int, ZeroProbability]] = []
    outside_at: tuple[Any, Any] | None = None
    proposals = 0
    known: Records = {}
    for case, trace in enumerate(_cases(model, args, observed, n, rng)):
        known.update(trace.records)
        aux = None if q is None else q.simulate((trace, *q_args), rng=rng)
        choices = trace.choices, None if aux is None else aux.choices
        for there, back in directions(f):
            proposals += 1
            try:
                left = check_at(there, back, trace, q, q_args, aux, rng)
            except TransformError as error:
                failures.append((case, error))
                failed_at = failed_at or choices
            else:
                if left is not None:
                    outside.append((case, left))
                    outside_at = outside_at or choices
    if observed is not None:
        observed.check(known, "observed")
    if len(outside) == proposals:
        case, left = outside[0]
        failures, failed_at = [(case, _never_inside(f, left, proposals))], outside_at
    return CheckReport(f.name, n, tuple(failures), len(outside), failed_at, proposals)


def _never_inside(f: Transform | TransformPair, left: ZeroProbability, proposals: int) -> SupportError:
    """What is the matter where every proposal was outside the support."""
    return SupportError(
        f"transform {f.name} led to states of probability zero in all of {proposals} proposals, so a sampler "
        f"would reject every one; in the first, {left}",
        address=left.path,
        location=directions(f)[0][0].location,
        fix="map into the support; if it is left only where a choice is extreme, try more cases, n=",
    )

def check_at(
    f: Transform,
    inverse: Transform,
    trace: ReferenceTrace,
    q: GenFunction | None,
    q_args: tuple[Any, ...],
    aux: ReferenceTrace | None,
    rng: np.random.Generator,
) -> ZeroProbability | None:
    """Check a move at one pair of traces; where it leaves the support, what is outside."""
    try:
        there = image(f, trace, q, q_args, aux)
    except ZeroProbability as signal:
        check_departure(f, inverse, trace, q, q_args, aux, signal)
        return signal
    check_round_trip(f, inverse, trace, aux, q_args, there)
    check_derivatives(f, trace, aux, q_args, there.run, rng)
    return None
