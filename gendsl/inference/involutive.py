"""Involutive MCMC: Algorithm 3 of Cusumano-Towner et al., "Automating Involutive MCMC".

From a trace x of the model, draw y ~ q_x; map (x', y') = f(x, y); accept x' with probability min(1, alpha),

    alpha = p(x') q_x'(y') / (p(x) q_x(y)) |det J_f(x, y)|.

Where f is an involution this leaves p invariant.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from gendsl.compiler.moves import Involution
from gendsl.errors import GenDSLError, KernelError, MoveNaNError, NaNError, ParameterError, TransformError
from gendsl.inference.frozen import frozen
from gendsl.inference.kernel import Kernel, Told, accept
from gendsl.inference.structure import kernel_maker
from gendsl.interface import Rng, as_rng
from gendsl.runtime.compiled import CompiledTrace
from gendsl.runtime.generative import GenFunction
from gendsl.runtime.impossible import ZeroProbability
from gendsl.runtime.trace import ReferenceTrace, check_start
from gendsl.runtime.verify import compare_with_reference, is_due
from gendsl.transforms.apply import Image, check_move, image
from gendsl.transforms.checks import check_departure, check_round_trip
from gendsl.transforms.language import Transform, TransformPair, directions
from gendsl.transforms.moves import Scored, trace_of
from gendsl.transforms.planned import (
    Step,
    check_plan,
    comes_back,
    comes_back_from_zero,
    learn_way_back,
    planned_image,
)

Check = bool | Literal["reject"]

_REJECTED = (TransformError, NaNError, ParameterError, ArithmeticError, ValueError)
"""What check="reject" rejects: a wrong transform, and arithmetic that fails at the point proposed."""


@frozen
class InvolutiveInfo:
    """What happened in one involutive step.

    Attributes:
        accepted: whether the proposal was accepted.
        log_accept_ratio: log alpha, before it is cut off at 0.
        log_model_ratio: log p(x') - log p(x).
        log_aux_ratio: log q_x'(y') - log q_x(y).
        log_abs_det: log |det J|.
        reason: why the proposal was rejected without a draw, or None.
        check_failed: whether a check failed (with check="reject").
    """

    accepted: bool
    log_accept_ratio: float
    log_model_ratio: float = 0.0
    log_aux_ratio: float = 0.0
    log_abs_det: float = 0.0
    reason: str | None = None
    check_failed: bool = False


def involutive_mcmc(
    trace: Any,
    q: GenFunction | None,
    q_args: tuple[Any, ...],
    f: Transform | TransformPair,
    *,
    check: Check = False,
    rng: Rng = None,
) -> tuple[ReferenceTrace, InvolutiveInfo]:
    """One step of involutive MCMC from a trace.

    Args:
        trace: the current trace x of the model.
        q, q_args: the auxiliary program, called as `q(trace, *q_args)`; None for a transform of one trace.
        f: the transform, its own inverse; or a pair of transforms inverse to each other, of which a step
            applies either with probability 1/2.
        check: True checks support, round trip and determinants in this step and raises where one fails;
            "reject" rejects the proposal instead, which leaves the posterior invariant whatever f is (the
            paper's lemma in section 6), and does so too where f or the model raises an ArithmeticError or
            ValueError (math.sqrt of a negative number); the first failures of f in a process are logged, and
            then one line for every 100, as warnings of the logger "gendsl", and a run counts all. Dimension,
            coverage, labels and observations are checked in any case.
        rng: seed or generator.

    Returns:
        The next trace (the same object where the proposal was rejected) and an `InvolutiveInfo`.

    Raises:
        TransformError: f is wrong at this point; the subclass says how.
    """
    _validate_move(q, q_args, f, check)
    return _step(trace, q, q_args, f, check, as_rng(rng))


def _step(
    trace: Any,
    q: GenFunction | None,
    q_args: tuple[Any, ...],
    f: Transform | TransformPair,
    check: Check,
    rng: np.random.Generator,
) -> tuple[ReferenceTrace, InvolutiveInfo]:
    """`involutive_mcmc` of a valid move."""
    if type(trace) is not CompiledTrace and not isinstance(trace, ReferenceTrace):
        raise KernelError(
            f"involutive_mcmc needs a trace, got {trace!r}",
            fix="start from model.generate(args, observations).trace",
        )
    check_start(trace)
    aux = None if q is None else q.simulate_once((trace, *q_args), rng)
    if isinstance(f, Transform):
        inverse = f
    else:
        f, inverse = directions(f)[rng.random() >= 0.5]
    try:
        try:
            there = _proposal(f, trace, q, q_args, aux, bool(check) and f is inverse)
        except ZeroProbability as signal:
            if check and not comes_back_from_zero(f, inverse, trace, q, q_args, aux):
                check_departure(f, inverse, trace, q, q_args, aux, signal)
            accept(-np.inf, rng)
            reason = signal.reason
            return trace, InvolutiveInfo(False, -np.inf, reason=reason)
        if check:
            there = _checked(f, inverse, trace, q, q_args, aux, there)
        ratio, log_aux = _log_ratio(f, there, aux)
    except _REJECTED as error:
        if check != "reject":
            raise
        f.failures.note(f.name, error)
        accept(-np.inf, rng)
        reason = error.problem if isinstance(error, GenDSLError) else f"{type(error).__name__}: {error}"
        return trace, InvolutiveInfo(False, -np.inf, reason=reason, check_failed=True)
    accepted = accept(ratio, rng)
    info = InvolutiveInfo(accepted, ratio, there.log_weight, log_aux, there.log_abs_det)
    if not isinstance(there, Image):
        there.planned.line.moves.note(accepted)
    if not accepted:
        return trace, info
    if not isinstance(there, Scored):
        return there.trace, info
    new = trace_of(f, trace, there)
    if check and is_due(new):
        compare_with_reference(new)
    return new, info


def _proposal(
    f: Transform,
    trace: Any,
    q: GenFunction | None,
    q_args: tuple[Any, ...],
    aux: ReferenceTrace | None,
    check: bool,
) -> Image | Step | Scored:
    """f(trace, aux), by a plan where there is one."""
    if f.plans.off:
        return image(f, trace, q, q_args, aux)
    found = planned_image(f, trace, q, q_args, aux, may_wait=True, check=check)
    if type(found) is not bool and not f.plans.is_due():
        if type(found) is Step and found.planned.line.moves.is_wanted():
            f.plans.learn_move(f, trace, q, q_args, aux, found)
        return found
    there = image(f, trace, q, q_args, aux)
    if type(found) is not bool:
        check_plan(f, found, there, trace, q)
    elif found:
        f.plans.learn(f, trace, aux, there)
    return there


def _checked(
    f: Transform,
    inverse: Transform,
    trace: Any,
    q: GenFunction | None,
    q_args: tuple[Any, ...],
    aux: ReferenceTrace | None,
    there: Image | Step | Scored,
) -> Image | Step | Scored:
    """`there` = f(trace, aux), if `inverse` takes it back; raises if not."""
    waits = isinstance(there, Scored)
    due = f.plans.is_run() if isinstance(there, Scored) else is_due(there.trace)
    if not isinstance(there, Image):
        if isinstance(there, Scored) and there.came_back and not due:
            return there
        back = False if due else comes_back(inverse, trace, aux, there)
        if back:
            if isinstance(there, Scored) and f is inverse and there.planned.line.moves.wants_way_back():
                learn_way_back(f, trace, q, q_args, aux, there.move)
            return there
        by_plan = there
        there = image(f, trace, q, q_args, aux)
        check_plan(f, by_plan, there, trace, q)
        check_round_trip(f, inverse, trace, aux, q_args, there)
        if back is None:  # now it is known that there is a way back
            returned = image(inverse, there.trace, q, q_args, there.aux)
            inverse.plans.learn(inverse, there.trace, there.aux, returned)
    else:
        check_round_trip(f, inverse, trace, aux, q_args, there)
    if is_due(there.trace) if waits else due:
        compare_with_reference(there.trace)
    return there


def _log_ratio(f: Transform, there: Image | Step | Scored, aux: ReferenceTrace | None) -> tuple[float, float]:
    """The log acceptance ratio, and the auxiliary part of it."""
    log_aux = 0.0
    if aux is not None:
        after = there.log_aux if isinstance(there, Scored) else there.aux.log_prob  # type: ignore[union-attr]
        log_aux = after - aux.log_prob
    ratio = there.log_weight + log_aux + there.log_abs_det
    if ratio != ratio or ratio == np.inf:
        raise MoveNaNError(
            f"the log acceptance ratio of transform {f.name} is {ratio}: model {there.log_weight}, auxiliary "
            f"{log_aux}, Jacobian {there.log_abs_det}",
            location=f.location,
            fix="a density is infinite: look for a choice on the boundary of its support",
        )
    return ratio, log_aux


def _validate_move(q: Any, q_args: Any, f: Any, check: Any) -> None:
    usual = type(q) is GenFunction and type(q_args) is tuple and type(check) is bool
    if usual and type(f) is Transform and len(f.inputs) == 2:
        return
    check_move(q, q_args, f)
    if not isinstance(check, bool) and not (isinstance(check, str) and check == "reject"):
        raise KernelError(f"an involutive move got check={check!r}", fix='check is True, False or "reject"')


@kernel_maker
def involutive(
    q: GenFunction | None,
    f: Transform | TransformPair,
    q_args: tuple[Any, ...] = (),
    *,
    check: Check = False,
    name: str | None = None,
) -> Kernel:
    """The kernel of an involutive move; see `involutive_mcmc`.

    Args:
        name: the name under which its acceptance is counted; the transform's if not given.
    """
    _validate_move(q, q_args, f, check)

    def step(trace: Any, rng: np.random.Generator) -> tuple[Any, InvolutiveInfo]:
        return _step(trace, q, q_args, f, check, rng)

    maps = tuple(there for there, _ in directions(f)) if isinstance(f, TransformPair) else (f,)
    move = Involution(f.__name__, q, q_args, maps, bool(check))
    return Kernel(step, name or f.__name__, reversible=True, move=move, told=_told)


def _told(step: Told) -> InvolutiveInfo:
    if step.reason is not None:
        return InvolutiveInfo(False, -np.inf, reason=step.reason)
    return InvolutiveInfo(step.accepted, step.log_ratio, step.log_model, step.log_aux, step.log_abs_det)
