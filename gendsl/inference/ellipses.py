"""Ellipses: normal choices of a trace move together around their means, while all others stay as they are.

With f the choices, m their means and nu another draw from their distributions, an ellipse has the points

    f' = m + (f - m) cos(angle) + (nu - m) sin(angle).

Kernels that move along one are written in terms of these functions. They look into traces, which the compiler
does not read; so it knows what each of them means (`gendsl.compiler.front.ellipses`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gendsl.address import Path
from gendsl.distributions import Distribution, iid, mvnormal, normal, product
from gendsl.distributions.arithmetic import affine
from gendsl.errors import KernelError, NaNError
from gendsl.inference.proposal import Proposal
from gendsl.inference.scan import shown, with_values
from gendsl.runtime.records import Record
from gendsl.runtime.trace import ReferenceTrace


class Ellipse:
    """A trace, and the choices of it that move, until they are moved to a point.

    Attributes:
        trace: the trace.
        paths: the addresses of the choices.
        maker: the kernel, for errors.
    """

    def __init__(
        self, trace: ReferenceTrace, paths: Sequence[Path], maker: str, rng: np.random.Generator
    ) -> None:
        self.trace, self.paths, self.maker = trace, paths, maker
        self._records = [trace.records[path] for path in paths]
        means = [normal_mean(record[0], path) for path, record in zip(paths, self._records, strict=True)]
        self._points = [
            (mean, record[1] - mean, record[0].sample(rng) - mean)
            for mean, record in zip(means, self._records, strict=True)
        ]
        self._last: Proposal | None = None

    def weight(self, angle: float) -> float:
        """log L(f') - log L(f), with L the density but for that of these choices; -inf where it is zero."""
        c, s = math.cos(angle), math.sin(angle)
        points = zip(self.paths, self._points, strict=True)
        values = {path: mean + now * c + other * s for path, (mean, now, other) in points}
        self._last = with_values(self.trace, values, self.maker)
        if self._last is None:
            return -math.inf
        return rest_weight(self.trace, self._last, self.paths, self._records)

    def move(self) -> None:
        """Let the choices be where the density was found last."""
        assert self._last is not None
        self.trace = self._last.trace()


def log_weight(ellipse: Ellipse, angle: float) -> float:
    """log L(f') - log L(f) at an angle, with L the density but for that of the choices that move.

    It is -inf where the density is zero.

    Raises:
        KernelError: their own distributions are others there.
        NaNError: it is NaN or infinite.
    """
    return ellipse.weight(angle)


def move(ellipse: Ellipse) -> None:
    """Let the choices be where the density was found last."""
    ellipse.move()


def rest_weight(
    trace: ReferenceTrace, proposal: Proposal, paths: Sequence[Path], records: list[Record]
) -> float:
    """log L(f') - log L(f): the change in log density but for that of the prior of f.

    Raises:
        KernelError: the prior itself has changed.
        NaNError: L is infinite.
    """
    after = proposal.trace().records
    weight = proposal.log_weight
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
            f"the log density went from {trace.log_prob} to {proposal.trace().log_prob}",
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
