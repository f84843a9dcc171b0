"""Warm-up in a chain of its own, for a kernel that is called by hand afterwards."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gendsl.errors import ValueTypeError
from gendsl.inference.any_kernel import KernelFunction
from gendsl.inference.kernel import check_kernel
from gendsl.inference.running.chain import Plan, warm_up
from gendsl.interface import Rng, Trace, as_rng
from gendsl.runtime.trace import check_start


class Adapted(NamedTuple):
    """What `adapt` returns: the kernel with what it found, and the trace that the chain came to."""

    kernel: KernelFunction
    trace: Trace


def adapt(kernel: KernelFunction, trace: Trace, *, steps: int = 1000, rng: Rng = None) -> Adapted:
    """Adapt a kernel in a chain of its own: `kernel, trace = adapt(nuts(select("x")), trace, rng=1)`.

    Args:
        kernel: a kernel, or kernels composed; what has nothing to adapt stays as it is.
        trace: where the chain starts.
        steps: how many steps it has.
        rng: seed or generator.

    Returns:
        The kernel, frozen: it has the step size and the mass that were found, in `kernel.tuning`; and the
        last trace, a good place to start from.

    Raises:
        ValueTypeError: `steps` is no positive whole number.
        ZeroProbabilityError: the trace has density zero.
    """
    check_kernel(kernel)
    check_start(trace)
    if isinstance(steps, bool) or not isinstance(steps, (int, np.integer)) or steps < 1:
        raise ValueTypeError(f"adapt got steps={steps!r}", fix="steps must be a whole number, 1 or more")
    return Adapted(*warm_up(Plan(0, kernel, trace, as_rng(rng), {}, draws=0, warmup=int(steps))))
