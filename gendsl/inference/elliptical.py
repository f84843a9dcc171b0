"""Elliptical slice sampling for choices with normal priors (Murray, Adams and MacKay 2010, figure 2).

Where the selected choices f are N(m, S) given the rest, and L(f) is the density of everything else, draw
nu ~ N(0, S) and a level u ~ uniform(0, 1), and shrink an interval of angles until

    f' = m + (f - m) cos(angle) + nu sin(angle),    L(f') > u L(f).

The ellipse through f keeps the prior invariant, so that only L decides. Nothing is rejected, there is
nothing to tune, and strong correlations under the prior cost nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from gendsl.compiler.moves import Rotating, Wanted
from gendsl.inference import ellipses, lines
from gendsl.inference.ellipses import Ellipse
from gendsl.inference.kernel import Kernel
from gendsl.inference.scan import as_target
from gendsl.inference.structure import kernel_maker
from gendsl.runtime.trace import ReferenceTrace, check_start


@dataclass(frozen=True, slots=True)
class EllipticalInfo:
    """What happened in one step of elliptical slice sampling.

    Attributes:
        accepted: True, as nothing is proposed that could be rejected.
        angle: how far it went along the ellipse, in radians; 0 where it stayed.
        evaluations: how many edits of the trace that took.
    """

    accepted: bool
    angle: float
    evaluations: int


@kernel_maker
def elliptical_slice(target: Any, *, skip_absent: bool = False, name: str | None = None) -> Kernel:
    """An elliptical slice sampling kernel, which moves all selected choices at once.

    Args:
        target: the choices: a selection, or an address. Given everything else each has a `normal` or
            `mvnormal` distribution (or one made of normals: `iid`, `product`, scaled and shifted), which
            doesn't depend on another of them. Means and covariances are read from the trace.
        skip_absent: leave out selected addresses that the current trace doesn't have; an error if not.
        name: the name under which it is counted.

    Where the model raises an ArithmeticError or ValueError (math.sqrt of a negative number) L is zero.

    Raises:
        KernelError: the target is no selection or address; and in a step, a choice is not normal, its
            distribution depends on another selected choice, or its value decides which others exist.
        LabelError: in a step, another choice, which keeps its value, has another dimension or kind.
    """
    selection = as_target(target, "elliptical_slice")

    def step(trace: ReferenceTrace, rng: np.random.Generator) -> tuple[ReferenceTrace, EllipticalInfo]:
        check_start(trace)
        paths = trace.selected(selection, skip_absent=skip_absent)
        if not paths:
            return trace, EllipticalInfo(True, 0.0, 0)
        with np.errstate(all="ignore"):
            ellipse = Ellipse(trace, paths, "elliptical_slice", rng)
            angle, evaluations = _update(ellipse, rng)
        return ellipse.trace, EllipticalInfo(True, angle, evaluations)

    title, wanted = f"elliptical {selection!r}", Wanted.of(selection)
    return Kernel(
        step,
        name or title,
        reversible=True,
        move=None if wanted is None else Rotating(title, wanted, _update, skip_absent),
        told=lambda step: EllipticalInfo(True, step.log_model, step.counted),
    )


def _update(ellipse: Ellipse, rng: np.random.Generator) -> tuple[float, int]:
    """Move along an ellipse (Murray, Adams and MacKay 2010, figure 2); the angle, 0 where it stays, and at
    how many points the density was found.
    """
    evaluations = 0
    level = rng.random()
    angle = 2.0 * math.pi * rng.random()
    low, high = angle - 2.0 * math.pi, angle
    while angle != 0.0:
        weight = ellipses.log_weight(ellipse, angle)
        evaluations += 1
        lines.check_level(level, weight)
        if weight >= 0.0 or level < math.exp(weight):
            ellipses.move(ellipse)
            return angle, evaluations
        if angle < 0.0:
            low = angle
        else:
            high = angle
        angle = low + (high - low) * rng.random()
        if not low < angle < high:  # the slice is narrower than the distance between floats
            break
    return 0.0, evaluations
