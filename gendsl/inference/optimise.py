"""The mode of a posterior, found by scipy.optimize in unconstrained coordinates."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gendsl.errors import KernelError, NaNError, ValueTypeError
from gendsl.inference.coordinates import Coordinates, OutsideError
from gendsl.inference.scan import as_target
from gendsl.interface import check_count
from gendsl.runtime.trace import ReferenceTrace, check_start
from gendsl.selection import Selection, select

_BARRIER = 1e100  # what stands for an infinite value, of which no line search can make sense


class Maximum(NamedTuple):
    """What `maximise` returns.

    Attributes:
        trace: the trace at the mode.
        log_prob: what was maximised, there.
        converged: whether the gradient in unconstrained coordinates is (nearly) zero there. A mode on the
            border of a support is approached until it is.
        message: what the optimiser says.
        evaluations: how often the gradient was computed.
    """

    trace: ReferenceTrace
    log_prob: float
    converged: bool
    message: str
    evaluations: int


def maximise(
    trace: ReferenceTrace,
    selection: Any = None,
    *,
    jacobian: bool = False,
    tolerance: float = 1e-8,
    iterations: int = 1000,
) -> Maximum:
    """A local mode of the posterior of selected continuous choices x, the others fixed as they are.

    It maximises log p(x, rest), the density with respect to the base measure of the choices: that is the MAP
    estimate of textbooks, x* = argmax p(x | data, rest). Unconstrained coordinates only serve to search
    without bounds; a mode of p(x) is found at the same x in whatever coordinates. With `jacobian` it
    maximises instead

        log p(x(u), rest) + log |det d x / d u|,

    the density of the unconstrained coordinates u that gradient-based kernels sample from: another point, and
    one that depends on the charts, but never on the border, and the right centre of a normal approximation in
    these coordinates. Neither is the posterior mean.

    Args:
        trace: where the search starts; the mode that is found depends on it.
        selection: the choices that are moved, a selection or an address; all continuous choices that are not
            observed if not given.
        jacobian: which of the two densities.
        tolerance: the search ends where no entry of the gradient is larger.
        iterations: how many there are at most.

    Raises:
        ZeroProbabilityError: the density is zero at the start.
        LabelError: a selected choice is discrete.
        KernelError: `selection` is no selection or address, or there is nothing to move.
    """
    check_start(trace)
    check_count("iterations", iterations, 1)
    if not isinstance(tolerance, (int, float)) or not tolerance >= 0:
        raise ValueTypeError(f"tolerance={tolerance!r}", fix="give a number, 0 or more, such as 1e-8")
    if selection is None:
        selection = _continuous(trace)
    selection = as_target(selection, "maximise")
    coordinates = Coordinates(trace, selection, jacobian=jacobian)
    if not coordinates.dim:
        raise KernelError(
            "maximise found no continuous choice to move", fix="select latent continuous choices"
        )
    if coordinates.border is not None:
        raise KernelError(
            f"maximise can't start here: {coordinates.border}", fix="start from other values, with `init`"
        )
    best = coordinates.start()
    evaluations = 1

    def downhill(position: Any) -> tuple[float, Any]:
        nonlocal best, evaluations
        point = coordinates.point(np.array(position))
        evaluations += 1
        if point.reason is not None:
            return _BARRIER, np.zeros(coordinates.dim)
        if point.log_density > best.log_density:
            best = point
        return -point.log_density, -point.gradient

    from scipy.optimize import minimize  # takes a while to import

    found = minimize(
        downhill, coordinates.position, jac=True, method="L-BFGS-B",
        options={"gtol": tolerance, "ftol": 1e-15, "maxiter": iterations},
    )  # fmt: skip
    converged = bool(np.abs(best.gradient).max() <= max(1e-4, tolerance))
    try:
        there = coordinates.trace_at(best.values)
    except OutsideError as error:
        raise NaNError(
            f"the search left the support: {error}", fix="start nearer to the mode, or with jacobian=True"
        ) from None
    return Maximum(there, best.log_density, converged, str(found.message), evaluations)


def _continuous(trace: ReferenceTrace) -> Selection:
    observed = trace.observed_paths
    return select(
        *(
            path
            for path, record in trace.records.items()
            if path not in observed and not record[0].support.discrete
        )
    )
