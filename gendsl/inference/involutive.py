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
from gendsl.inference.infos import Told
from gendsl.inference.kernel import Kernel, accept
from gendsl.inference.proposal import Proposal, propose_image
from gendsl.inference.structure import kernel_maker
from gendsl.interface import Rng, as_rng
from gendsl.runtime.compiled import CompiledTrace
from gendsl.runtime.generative import GenFunction
from gendsl.runtime.impossible import ZeroProbability
from gendsl.runtime.trace import ReferenceTrace, check_start
from gendsl.transforms.apply import check_move
from gendsl.transforms.checks import check_departure
from gendsl.transforms.language import Transform, TransformPair, directions

Check = bool | Literal["reject"]

_MOST_KERNELS = 16
"""How many kernels of one transform are kept that were made where `involutive_mcmc` was called."""

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
    _check_trace(trace)
    return _kernel_of(q, f, q_args, check)(trace, as_rng(rng))


def _kernel_of(
    q: GenFunction | None, f: Transform | TransformPair, q_args: tuple[Any, ...], check: Check
) -> Kernel:
    """The kernel of a move, one for the same objects: where it is called often, it is machine code."""
    key = (id(q), check, *map(id, q_args))  # the kernel keeps them alive
    kernel = f.kernels.get(key)
    if kernel is None:
        if len(f.kernels) >= _MOST_KERNELS:
            f.kernels.clear()
        kernel = f.kernels[key] = _kernel(q, f.without_kernels(), q_args, check, f.__name__)
    return kernel


def _kernel(
    q: GenFunction | None, f: Transform | TransformPair, q_args: tuple[Any, ...], check: Check, name: str
) -> Kernel:
    def step(trace: Any, rng: np.random.Generator) -> tuple[Any, InvolutiveInfo]:
        return _step(trace, q, q_args, f, check, rng)

    maps = tuple(there for there, _ in directions(f)) if isinstance(f, TransformPair) else (f,)
    move = Involution(f.__name__, q, q_args, maps, bool(check))
    return Kernel(step, name, reversible=True, move=move, told=_told)


def _check_trace(trace: Any) -> None:
    if type(trace) is not CompiledTrace and not isinstance(trace, ReferenceTrace):
        raise KernelError(
            f"involutive_mcmc needs a trace, got {trace!r}",
            fix="start from model.generate(args, observations).trace",
        )


def _step(
    trace: Any,
    q: GenFunction | None,
    q_args: tuple[Any, ...],
    f: Transform | TransformPair,
    check: Check,
    rng: np.random.Generator,
) -> tuple[ReferenceTrace, InvolutiveInfo]:
    """`involutive_mcmc` of a valid move, as it is run step by step."""
    _check_trace(trace)
    check_start(trace)
    aux = None if q is None else q.simulate_once((trace, *q_args), rng)
    if isinstance(f, Transform):
        inverse = f
    else:
        f, inverse = directions(f)[rng.random() >= 0.5]
    try:
        try:
            proposal = propose_image(f, inverse, (trace, q, q_args, aux), bool(check))
        except ZeroProbability as signal:
            if check:
                check_departure(f, inverse, trace, q, q_args, aux, signal)
            accept(-np.inf, rng)
            return trace, InvolutiveInfo(False, -np.inf, reason=signal.reason)
        ratio, log_aux = _log_ratio(f, proposal, aux)
    except _REJECTED as error:
        if check != "reject":
            raise
        f.failures.note(f.name, error)
        accept(-np.inf, rng)
        reason = error.problem if isinstance(error, GenDSLError) else f"{type(error).__name__}: {error}"
        return trace, InvolutiveInfo(False, -np.inf, reason=reason, check_failed=True)
    accepted = accept(ratio, rng)
    info = InvolutiveInfo(accepted, ratio, proposal.log_weight, log_aux, proposal.log_abs_det)
    return proposal.trace() if accepted else trace, info


def _log_ratio(f: Transform, proposal: Proposal, aux: ReferenceTrace | None) -> tuple[float, float]:
    """The log acceptance ratio, and the auxiliary part of it."""
    log_aux = 0.0 if aux is None else proposal.log_aux - aux.log_prob
    ratio = proposal.log_weight + log_aux + proposal.log_abs_det
    if ratio != ratio or ratio == np.inf:
        raise MoveNaNError(
            f"the log acceptance ratio of transform {f.name} is {ratio}: model {proposal.log_weight}, "
            f"auxiliary {log_aux}, Jacobian {proposal.log_abs_det}",
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
    return _kernel(q, f, q_args, check, name or f.__name__)


def _told(step: Told) -> InvolutiveInfo:
    if step.reason is not None:
        return InvolutiveInfo(False, -np.inf, reason=step.reason)
    return InvolutiveInfo(step.accepted, step.log_ratio, step.log_model, step.log_aux, step.log_abs_det)
