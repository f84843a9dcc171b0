"""Comparing the state of a chain, and its steps, with what the reference makes of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from gendsl.address import Path
from gendsl.choices import same_value
from gendsl.compiler.run.chain_state import ChainState
from gendsl.errors import NotDeterministicError
from gendsl.inference.infos import ComposedInfo
from gendsl.runtime.trace import definition
from gendsl.runtime.verify import values_of

_TOLERANCE = 1e-9


def are_close(one: float, other: float, size: float) -> bool:
    """Whether two log densities are equal but for rounding, where what they are made of is of some size."""
    return one == other or abs(one - other) <= _TOLERANCE * (1.0 + size)


def check_density(model: Any, found: float, now: float) -> None:
    """
    Raises:
        NotDeterministicError: the current trace has another log density as it is made of what there is
            outside of the model now.
    """
    if not are_close(found, now, abs(found) + abs(now)):
        raise NotDeterministicError(
            f"{model.name} has the log_prob {found} in the chain, and {now} with what it finds "
            "outside of itself now, which a kernel or a recorded function has changed",
            location=definition(model),
            fix="what changes while a chain runs may be used by proposals and transforms, and not by the "
            "model: give that what changes as an argument, and change it by trace.update(args=...)",
        )


def difference(
    state: ChainState,
    expected: Any,
    info: Any,
    generators: tuple[Any, Any],
    numbers: Sequence[tuple[float, float]],
) -> tuple[str, Path | None]:
    """In what the last step differs from what the reference made of it; nothing if in nothing.

    Args:
        state: the memory of the chain.
        expected, info: the trace that the reference came to, and what it told of the step.
        generators: that of the chain after the step, and that of the reference.
        numbers: what warm-ups found, of each number that of the chain and that of the reference.

    Returns:
        the difference in words, and the address where it is, if it is at one.
    """
    found, density = state.last_ratio(), state.log_density()
    size = abs(expected.log_prob) + abs(density)
    values, mine = dict(values_of(expected)), state.choices()
    ratio = _ratio(info)
    if not are_close(found, ratio, size + (abs(ratio) if math.isfinite(ratio) else 0.0)):
        return f"has the log acceptance ratio {found}, and the reference {ratio}", None
    if mine.keys() != values.keys():
        path = next(iter(mine.keys() ^ values.keys()))
        return f"has {len(mine)} choices after the step, and the reference {len(values)}", path
    drawn, expected_draws = (str(one.bit_generator.state) for one in generators)
    if drawn != expected_draws:
        return "draws other random numbers than the reference", None
    if not are_close(density, expected.log_prob, size):
        return f"has the log density {density}, and the reference {expected.log_prob}", None
    if not all(are_close(one, other, abs(other) + size) for one, other in numbers):
        return f"has found in warm-up {numbers}, in each pair the reference the second", None
    for at, value in values.items():
        if not same_value(value, mine[at], rtol=_TOLERANCE, atol=_TOLERANCE):
            return f"has {mine[at]!r} there, and the reference {value!r}", at
    return "", None


def _ratio(info: Any) -> float:
    """The log acceptance ratio of a step; of a kernel that was picked its own, or that of its weights.

    It is inf, as in the machine code, where the kernel is made of several, which have none in common.
    """
    if isinstance(info, ComposedInfo):
        ((_, picked),) = info.parts
        if picked.info.accepted:
            return float(picked.log_weight_ratio)
        info = picked.info
    return float(getattr(info, "log_accept_ratio", math.inf))
