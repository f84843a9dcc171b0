"""numpy's functions that go between entries of an array: interpolation, quantiles, the trapezoidal rule."""

from __future__ import annotations

from typing import Any

import numpy as np

from gendsl.transforms.arrays import DualArray, as_dual_array
from gendsl.transforms.rules import ArrayRules, present
from gendsl.transforms.ufuncs import no_rule, plain

RULES = ArrayRules()


def _array(x: Any) -> Any:
    x = as_dual_array(x)
    return x if type(x) is DualArray else np.asarray(x, dtype=float)


@RULES.of(np.interp)
def _interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Any:
    """f_j + (f_{j+1} - f_j) (x - x_j) / (x_{j+1} - x_j) for x_j <= x < x_{j+1}."""
    if period is not None:
        raise no_rule("numpy.interp with a period")
    x, xp, fp = _array(x), _array(xp), _array(fp)
    at, knots = plain(x), plain(xp)
    last = len(knots) - 1
    if last < 1:
        raise no_rule("numpy.interp between fewer than two points")
    j = np.clip(np.searchsorted(knots, at, side="right") - 1, 0, last - 1)
    between = fp[j] + (fp[j + 1] - fp[j]) * ((x - xp[j]) / (xp[j + 1] - xp[j]))
    inside = np.where(at >= knots[last], fp[last] if right is None else right, between)
    if right is not None:
        inside = np.where(at == knots[last], fp[last], inside)
    return np.where(at < knots[0], fp[0] if left is None else left, inside)


@RULES.of(*present("trapezoid trapz", np))
def _trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    """The sum over j of (x_{j+1} - x_j) (y_j + y_{j+1}) / 2."""
    y = np.moveaxis(_array(y), axis, -1)
    if x is not None:
        x = _array(x)
        dx = np.diff(x if np.ndim(x) == 1 else np.moveaxis(x, axis, -1))
    return np.sum(dx * (y[..., 1:] + y[..., :-1]), axis=-1) / 2.0


@RULES.of(np.quantile)
def _quantile(
    a: Any, q: Any, axis: int | None = None, *, method: str = "linear", keepdims: bool = False
) -> Any:
    """The entry at position q (n - 1) of the n in order, linearly between the two beside it."""
    if method != "linear":
        raise no_rule(f"numpy.quantile with method={method!r}")
    if np.ndim(q) or type(as_dual_array(q)) is DualArray:
        raise no_rule("numpy.quantile at several q, or at one with a derivative")
    if not 0.0 <= q <= 1.0:
        raise ValueError("Quantiles must be in the range [0, 1]")
    a = _array(a)
    ordered = np.sort(a.ravel() if axis is None else np.moveaxis(a, axis, -1))
    position = q * (ordered.shape[-1] - 1)
    j = int(position)
    following = min(j + 1, ordered.shape[-1] - 1)
    result = ordered[..., j] + (ordered[..., following] - ordered[..., j]) * (position - j)
    if not keepdims:
        return result
    return np.reshape(result, (1,) * a.ndim) if axis is None else np.expand_dims(result, axis)


@RULES.of(np.percentile)
def _percentile(a: Any, q: Any, axis: int | None = None, **options: Any) -> Any:
    """The quantile at q / 100."""
    return _quantile(a, q / 100.0, axis, **options)
