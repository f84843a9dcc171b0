"""Elliptical slice sampling for choices with normal priors (Murray, Adams and MacKay 2010, figure 2).

Where the selected choices f are N(m, S) given the rest, and L(f) is the density of everything else, draw
nu ~ N(0, S) and a level u ~ uniform(0, 1), and shrink an interval of angles until

    f' = m + (f - m) cos(angle) + nu sin(angle),    L(f') > u L(f).

The ellipse through f keeps the prior invariant, so that only L decides. Nothing is rejected, there is
nothing to tune, and strong correlations under the prior cost nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gendsl.address import Path
from gendsl.distributions import Distribution, iid, mvnormal, normal, product
from gendsl.distributions.arithmetic import affine
from gendsl.errors import KernelError, NaNError
from gendsl.inference.kernel import Kernel
from gendsl.inference.scan import as_target, edited, shown
from gendsl.inference.structure import kernel_maker
from gendsl.runtime.records import Record
from gendsl.runtime.trace import Edit, ReferenceTrace, check_start


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
    """
    selection = as_target(target, "elliptical_slice")

    def step(trace: ReferenceTrace, rng: np.random.Generator) -> tuple[ReferenceTrace, EllipticalInfo]:
        check_start(trace)
        paths = trace.selected(selection, skip_absent=skip_absent)
        if not paths:
            return trace, EllipticalInfo(True, 0.0, 0)
        with np.errstate(all="ignore"):
            return _move(trace, paths, rng)

    return Kernel(step, name or f"elliptical {selection!r}", reversible=True)


def _move(
    trace: ReferenceTrace, paths: Sequence[Path], rng: np.random.Generator
) -> tuple[ReferenceTrace, EllipticalInfo]:
    records = [trace.records[path] for path in paths]
    means = [normal_mean(record[0], path) for path, record in zip(paths, records, strict=True)]
    now = [record[1] - mean for record, mean in zip(records, means, strict=True)]
    other = [record[0].sample(rng) - mean for record, mean in zip(records, means, strict=True)]
    level = rng.random()
    angle = 2.0 * math.pi * rng.random()
    low, high = angle - 2.0 * math.pi, angle
    evaluations = 0
    while angle != 0.0:
        c, s = math.cos(angle), math.sin(angle)
        values = {path: m + a * c + b * s for path, m, a, b in zip(paths, means, now, other, strict=True)}
        evaluations += 1
        edit = edited(trace, values, "elliptical_slice")
        if edit is not None:
            weight = _rest_weight(trace, edit, paths, records)
            if weight >= 0.0 or level < math.exp(weight):
                return edit.trace, EllipticalInfo(True, angle, evaluations)
        if angle < 0.0:
            low = angle
        else:
            high = angle
        angle = low + (high - low) * rng.random()
        if not low < angle < high:  # the slice is narrower than the distance between floats
            break
    return trace, EllipticalInfo(True, 0.0, evaluations)


def _rest_weight(
    trace: ReferenceTrace, edit: Edit, paths: Sequence[Path], records: list[Record]
) -> float:
    """log L(f') - log L(f): the change in log density but for that of the prior of f.

    Raises:
        KernelError: the prior itself has changed.
        NaNError: L is infinite.
    """
    after = edit.trace.records
    weight = edit.log_weight
    for path, (distribution, _, score) in zip(paths, records, strict=True):
        found, _, new_score = after[path]
        if found is not distribution and found != distribution:
            rest = ", ".join(shown(other) for other in paths if other != path)
            raise KernelError(
                f"the distribution of a selected choice depends on other selected choices ({rest[:200]}): it "
                f"went from {distribution!r} to {found!r}",
                address=path,
                fix="update them by kernels of their own, cycle(elliptical_slice(a), elliptical_slice(b)), "
                "or write them as one mvnormal, or as noise that is scaled and added: x = mean + sd * z, "
                "z ~ normal(0, 1)",
            )
        weight -= new_score - score
    if weight != weight or weight == math.inf:
        raise NaNError(
            f"the log density went from {trace.log_prob} to {edit.trace.log_prob}",
            fix="look for a choice on the boundary of its support, where its density is infinite",
        )
    return weight


def normal_mean(distribution: Distribution, path: Path) -> Any:
    """The mean of a distribution that is normal, in the shape of its values.

    Raises:
        KernelError: it isn't.
    """
    mean = _mean(distribution)
    if mean is None:
        raise KernelError(
            f"elliptical_slice needs choices with normal distributions, and this one's is {distribution!r}",
            address=path,
            fix="leave it out of the selection and update it by slice_sampling, hmc or mh",
        )
    return mean


def _mean(distribution: Distribution) -> Any:
    kind = type(distribution)
    if kind is normal or kind is mvnormal:
        return distribution.mean  # type: ignore[attr-defined]
    if isinstance(distribution, affine):
        mean = _mean(distribution.dist)
        return None if mean is None else distribution.scale * mean + distribution.shift
    if isinstance(distribution, iid):
        mean = _mean(distribution.dist)
        return None if mean is None else np.broadcast_to(mean, distribution.support.shape or ())
    if isinstance(distribution, product):
        means = [_mean(component) for component in distribution.components]
        return None if any(mean is None for mean in means) else np.array(means)
    return None
