"""Selected continuous choices of a trace as one point u of R^d, with the log density there and its gradient.

Each choice has a chart from its support: `value = support.constrain(u)`. With x(u) the choices that it gives,
all others as they are in the trace, the log density is

    log pi(u) = log p(x(u)) + sum over selected choices of log |det d coordinates(x_i) / d u_i|.

A support may depend on choices made before, selected ones too (y ~ uniform(0, x)). The charts are therefore
taken while the program runs: choice i is made from u_i by the support that it has there and then. The
derivative of all coordinates by u is block triangular in program order, so its determinant is the product
of those of the charts.

A point where the program makes other choices than the trace, or where the density is zero or can't be
computed, has log density -inf: moves in these coordinates keep to the structure that a trace has. The plain
program decides: where only autograd has no density or no finite gradient, the point has the density that it
has, and the slope 0. A leapfrog step is reversible and keeps volumes whatever that is: no part is left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isfinite
from typing import Any

import numpy as np
import numpy.typing as npt
from autograd.tracer import getval, isbox

from gendsl.address import Path, format_address
from gendsl.distributions import Distribution
from gendsl.distributions.base import ScalarFamily
from gendsl.errors import GenDSLError, LabelError, MissingChoiceError, NaNError, ParameterError
from gendsl.inference.continuous import of_shape, paths_of
from gendsl.inference.proposal import Proposal, check_kept_zero, propose_trace, propose_values
from gendsl.runtime.columns_of import column_of
from gendsl.runtime.executions import Execution
from gendsl.runtime.gradients import Differentiate, check_score, followed, old_column
from gendsl.runtime.impossible import ZeroProbability
from gendsl.runtime.lowering.tables import NotColumnsError
from gendsl.runtime.measures import same_measure
from gendsl.runtime.paths import ColumnPaths, NestPaths
from gendsl.runtime.records import Record
from gendsl.runtime.tape import Tape
from gendsl.runtime.trace import ReferenceTrace, check_kept_choice, definition
from gendsl.selection import Selection
from gendsl.supports import Real, RealArray, Repeated, Support
from gendsl.supports.scalar import Line

_MOVE = "a move in unconstrained coordinates"
Vector = npt.NDArray[np.float64]
Where = slice | int
"""Where the coordinates of a choice are in the vector: an index if its support is an interval."""


class OutsideError(Exception):
    """A point where the log density is -inf, and why."""


class _OtherStructure(BaseException):
    """Raised inside a body that makes other choices than the trace; no `except Exception` catches it."""


@dataclass(frozen=True, slots=True, eq=False)
class Point:
    """A point of R^d, and what the model says of it.

    Attributes:
        position: u, of shape (d,).
        log_density: log pi(u), in nats; -inf where the point can't be reached.
        gradient: its gradient, of shape (d,); zeros where log_density is -inf, or autograd finds none.
        values: the value of each selected choice.
        reason: why log_density is -inf, or why there is no gradient, or None.
    """

    position: Vector
    log_density: float
    gradient: Vector
    values: dict[Path, Any]
    reason: str | None = None


class Coordinates:
    """The selected choices of a trace in coordinates without bounds.

    Args:
        trace: the trace.
        selection: which choices; all continuous, none observed. `CONTINUOUS` takes all of these.
        skip_absent: leave out selected addresses that the trace doesn't have.
        jacobian: include the charts' determinants; without them the density is that of the choices.

    Attributes:
        paths: the addresses of the choices, in the order of the vector.
        where: for each of them, where its coordinates are in the vector.
        dim: d.
        position: where the trace is, of shape (d,).
        border: why the position is not finite, or None: a choice lies where its chart ends.

    Raises:
        UnknownAddressError: an address in the selection is not in the trace (without `skip_absent`).
        ObservedError: an observation is selected.
        LabelError: a selected choice is discrete.
    """

    def __init__(
        self,
        trace: ReferenceTrace,
        selection: Selection,
        *,
        skip_absent: bool = False,
        jacobian: bool = True,
    ) -> None:
        self.trace = trace
        self.jacobian = jacobian
        self.paths = paths_of(trace, selection, skip_absent=skip_absent)
        self.where: dict[Path, Where] = {}
        self.border: str | None = None
        self.supports: dict[Path, Support] = {}
        self._columns: dict[Any, Any] = {}
        self._seen: dict[Path, Record | None] = {}
        self._size: int | None = None
        parts: list[Any] = []
        at = 0
        records = trace.records
        with np.errstate(all="ignore"):
            for path in self.paths:
                record = records[path]
                support = record[0].support
                if support.discrete:
                    raise LabelError(
                        "a discrete choice is selected, and this moves continuous ones only",
                        address=path,
                        fix="select continuous choices; gibbs, single_site or mh move discrete ones: "
                        "cycle(nuts(select(...)), gibbs(...))",
                    )
                if isinstance(support, Line):
                    u = support.to_line(of_shape(support, record[1], path))
                    self.where[path] = at
                    finite = -inf < u < inf
                    parts.append((u,))
                else:
                    u = support.unconstrain(record[1])
                    self.where[path] = slice(at, at + support.dim)
                    finite = bool(np.isfinite(u).all())
                    parts.append(u)
                if not finite and self.border is None:
                    self.border = f"{format_address(path)} lies on the border of its support"
                self.supports[path] = support
                at += support.dim
        self.dim = at
        self.position: Vector = np.concatenate(parts) if parts else np.zeros(0)

    # --- the density ------------------------------------------------------------------------------

    def point(self, position: Vector) -> Point:
        """The density and its gradient at a position."""
        if not np.isfinite(position).all():
            return self._outside(position, "the position is not finite")
        try:
            with np.errstate(all="ignore"), Tape() as tape, followed():
                run = _Followed(self, position, tape)
                self._run(run)
                gradient = np.zeros(self.dim)
                if run.variables:
                    found = tape.gradients([variable for _, variable in run.variables])
                    for (where, _), part in zip(run.variables, found, strict=True):
                        gradient[where] = part
        except OutsideError as error:
            return self._without_gradient(position, str(error))
        if not np.isfinite(gradient).all():
            return self._without_gradient(position, "the gradient is not finite")
        return Point(position, run.score + run.log_abs_det, gradient, run.values)

    def start(self) -> Point:
        """The point of the trace itself.

        Raises:
            LostDerivativeError: the program does what autograd can't follow.
            NaNError: the gradient is NaN or infinite there.
        """
        point = self.point(self.position)
        if point.reason is None:
            return point
        if point.log_density == -inf:
            problem = "a chain can't start from this trace"
            fix = "and for a value at the end of its support"
        else:
            problem = "the log density has no gradient at this trace"
            fix = "also in the other branch of np.where, or in a `try` around math.sqrt(x): write `if`"
        fix = f"look for 0 * inf or inf - inf in what the program computes, {fix}"
        raise NaNError(f"{problem}: {point.reason}", location=definition(self.trace.gen_fn), fix=fix)

    def log_density(self, position: Vector) -> float:
        """log pi at a position, without the gradient."""
        try:
            run = self._placed(position)
        except OutsideError:
            return -inf
        return run.score + run.log_abs_det

    def _without_gradient(self, position: Vector, reason: str) -> Point:
        """The point where autograd finds none: the density is what the plain program says."""
        try:
            run = self._placed(position)
        except OutsideError:
            return self._outside(position, reason)
        return Point(position, run.score + run.log_abs_det, np.zeros(self.dim), run.values, reason)

    def _outside(self, position: Vector, reason: str) -> Point:
        return Point(position, -inf, np.zeros(self.dim), {}, reason)

    def _placed(self, position: Vector) -> _Placed:
        run = _Placed(self, position)
        with np.errstate(all="ignore"):
            self._run(run)
        return run

    def _run(self, run: _Placing) -> None:
        """Run the program at a position.

        Raises:
            OutsideError: the log density is -inf there.
        """
        trace = self.trace
        try:
            run.run(trace.gen_fn.called_with(trace.args))
            if run.failure is not None:
                raise run.failure
        except ZeroProbability as signal:
            check_kept_zero(self.trace, signal, _MOVE, self.where)
            raise OutsideError(signal.reason) from None
        except _OtherStructure as signal:
            raise OutsideError(f"the program makes other choices there: {signal}") from None
        except (ArithmeticError, ValueError) as error:
            if isinstance(error, GenDSLError) and not isinstance(error, (ParameterError, NaNError)):
                raise
            problem = error.problem if isinstance(error, GenDSLError) else f"{type(error).__name__}: {error}"
            raise OutsideError(problem) from None
        if not isfinite(run.score + run.log_abs_det):
            raise OutsideError("the log density is not finite")
        size = len(run.records) + run.plated
        if self._size is None:
            if run.position is self.position:
                self._size = size
                check_score(run.score, trace.log_prob)
            else:
                self._size = len(trace.records)
        if size != self._size:
            raise OutsideError("the program makes fewer choices there")

    def old(self, path: Path) -> Record:
        """The record of a choice in the trace.

        Raises:
            _OtherStructure: there is none.
        """
        try:
            record = self._seen[path]
        except KeyError:
            record = self._seen[path] = self.trace.records.get(path)
        if record is None:
            raise _OtherStructure(format_address(path))
        return record

    def kept_column(self, paths: ColumnPaths | NestPaths, family: Any) -> Any:
        """The values that choices of a plate have in the trace, none of them selected.

        Raises:
            NotColumnsError: they are no column.
            _OtherStructure: one of them is not there.
        """
        key = *paths.runs, family
        known = self._columns.get(key)
        if known is None:
            if not paths.disjoint(self.where.keys()):
                raise NotColumnsError
            known = column_of(self.trace, paths, family)
            if known is None:
                known = old_column([self.old(path) for path in paths], family)
            self._columns[key] = known
        return known

    # --- moving -----------------------------------------------------------------------------------

    def trace_at(self, values: dict[Path, Any]) -> ReferenceTrace:
        """The trace with these values of the selected choices.

        Raises:
            OutsideError: it has zero density, other choices, or values at which a chart ends.
        """
        with np.errstate(all="ignore"):
            trace = self._edited(values)
            records = trace.records
            for path in self.paths:
                distribution, value, _ = records[path]
                if not _has_point(distribution.support, value):
                    raise OutsideError(f"{format_address(path)} is rounded to the border of its support")
        return trace

    def _edited(self, values: dict[Path, Any]) -> ReferenceTrace:
        try:
            proposal = propose_values(self.trace, values)
        except ZeroProbability as signal:
            check_kept_zero(self.trace, signal, _MOVE, self.where)
            raise OutsideError(signal.reason) from None
        except MissingChoiceError as error:
            raise OutsideError(f"the program makes other choices there: {error.address}") from None
        except (ArithmeticError, ValueError) as error:
            if isinstance(error, GenDSLError) and not isinstance(error, (ParameterError, NaNError)):
                raise
            raise OutsideError(f"{type(error).__name__}: {error}") from None
        if proposal.removed:
            raise OutsideError("the program makes fewer choices there")
        if not isfinite(proposal.trace().log_prob):
            raise OutsideError("the log density is not finite")
        for path, (_, distribution) in proposal.remeasured.items():
            check_kept_choice(self.trace, path, distribution, _MOVE)
        return proposal.trace()

    def propose(self, position: Vector) -> Proposal:
        """The trace at a position, with the weight log pi there minus log pi at the trace's own.

        It costs what the selected choices influence, unless a chart depends on one of them.

        Raises:
            OutsideError: log pi is -inf there.
        """
        if len(self.paths) > 1:
            try:
                return self._proposed(position)
            except Exception:
                pass  # where a chart moves, the values weren't those of the position: look again
            run = self._placed(position)
            return self._weighed(self.trace_at(run.values), run.log_abs_det)
        return self._proposed(position)

    def _weighed(self, trace: ReferenceTrace, log_abs_det: float) -> Proposal:
        """A trace with its weight, given the log determinants of the charts there."""
        return propose_trace(trace, trace.log_prob - self.trace.log_prob + log_abs_det - self._log_abs_det())

    def _log_abs_det(self) -> float:
        if not self.jacobian:
            return 0.0
        total = 0.0
        for path, support in self.supports.items():
            total += float(support.log_abs_det(self.position[_as_slice(self.where[path])]))
        return total

    def _proposed(self, position: Vector) -> Proposal:
        """`propose` with the charts that the trace has.

        Raises:
            _MovingCharts: the choices have other charts at the position.
        """
        values = {}
        log_abs_det = 0.0
        with np.errstate(all="ignore"):
            for path, support in self.supports.items():
                u = position[_as_slice(self.where[path])]
                values[path] = _plain(support.constrain(u))
                if self.jacobian:
                    log_abs_det += float(support.log_abs_det(u))
        trace = self.trace_at(values)
        for path, support in self.supports.items():
            if trace.records[path][0].support != support:
                if len(self.paths) == 1:
                    raise OutsideError(f"the support of {format_address(path)} is another there")
                raise _MovingCharts
        return self._weighed(trace, log_abs_det)


def _is_flat(support: Support) -> bool:
    """Whether the chart is the identity."""
    return type(support) is RealArray or (type(support) is Repeated and type(support.component) is Real)


def _has_point(support: Support, value: Any) -> bool:
    """Whether a value has a point in its chart: it may lie at the end of it, if only by rounding."""
    if type(support) is Real:
        return True
    if isinstance(support, Line):
        return bool(-inf < support.to_line(value) < inf)
    return bool(np.isfinite(support.unconstrain(value)).all())


class _MovingCharts(Exception):
    """The support of a selected choice depends on another selected one."""


def _as_slice(where: Where) -> slice:
    return where if isinstance(where, slice) else slice(where, where + 1)


def _plain(value: Any) -> Any:
    """A value as a trace holds it: a float, or an array that owns its memory."""
    if isinstance(value, np.ndarray) and value.ndim:
        return np.array(value)
    return float(value)


class _Placing(Execution):
    """Selected choices are placed by a position, through the charts that they have; the others are kept.

    Attributes:
        values: the values of the selected choices.
        log_abs_det: the sum of the log determinants of their charts.
    """

    plated = 0

    def __init__(self, coordinates: Coordinates, position: Vector) -> None:
        Execution.__init__(self)
        self.coordinates = coordinates
        self.position = position
        self.values: dict[Path, Any] = {}
        self.log_abs_det = 0.0

    def kept(self, path: Path, distribution: Distribution) -> Any:
        """The value of a choice that isn't selected."""
        before, value, _ = self.coordinates.old(path)
        if type(before) is type(distribution) and isinstance(before, ScalarFamily):
            return value
        if not same_measure(before.support, distribution.support):
            check_kept_choice(self.coordinates.trace, path, distribution, _MOVE)
        return value

    def chart(self, path: Path, distribution: Distribution) -> tuple[Where | None, Support | None]:
        """Where a selected choice has its coordinates, and its support; None, None for any other choice."""
        where = self.coordinates.where.get(path)
        if where is None:
            return None, None
        support = distribution.support
        if support.discrete or isinstance(support, Line) != isinstance(where, int):
            raise _OtherStructure(f"{format_address(path)} has another support")
        if isinstance(where, slice) and support.dim != where.stop - where.start:
            raise _OtherStructure(f"{format_address(path)} has another support")
        return where, support


class _Placed(_Placing):
    """With plain numbers."""

    def choose(self, path: Path, distribution: Distribution) -> Record:
        where, support = self.chart(path, distribution)
        if where is None or support is None:
            value = self.kept(path, distribution)
        else:
            u = self.position[_as_slice(where)]
            value = self.values[path] = _plain(support.constrain(u))
            if self.coordinates.jacobian:
                self.log_abs_det += float(support.log_abs_det(u))
        score = float(distribution.logpdf(value))
        if score == -inf:
            raise self.fail(ZeroProbability(path, distribution, value))
        return distribution, value, score


class _Followed(_Placing, Differentiate):
    """With numbers that autograd follows."""

    def __init__(self, coordinates: Coordinates, position: Vector, tape: Tape) -> None:
        _Placing.__init__(self, coordinates, position)
        self.tape = tape
        self.variables: list[tuple[Where, Any]] = []

    def choose(self, path: Path, distribution: Distribution) -> Record:
        record = Differentiate.choose(self, path, distribution)
        if record[2] == -inf:
            raise self.fail(ZeroProbability(path, distribution, getval(record[1])))
        return record

    def value(self, path: Path, distribution: Distribution) -> Any:
        where, support = self.chart(path, distribution)
        if where is None or support is None:
            return self.kept(path, distribution)
        if isinstance(where, int):
            u = self.tape.variable(self.position.item(where))
            value = support.from_line(u)  # type: ignore[attr-defined]
            if self.coordinates.jacobian and type(support) is not Real:
                self.add_log_abs_det(support.log_slope(u))  # type: ignore[attr-defined]
        else:
            u = self.tape.variable(self.position[where])
            value = support.constrain(u)
            if self.coordinates.jacobian and not _is_flat(support):
                self.add_log_abs_det(support.log_abs_det(u))
        self.variables.append((where, u))
        self.values[path] = _plain(getval(value))
        return value

    def columns(self, paths: Any, family: Any) -> Any:
        return self.coordinates.kept_column(paths, family)

    def add_log_abs_det(self, term: Any) -> None:
        """Count the log determinant of a chart."""
        if isbox(term):
            self.tape.add(term)
        self.log_abs_det += float(getval(term))


