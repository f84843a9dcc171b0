"""The rules of warm-up: how it comes to a step size, and when to masses.

A rule has its numbers in a list, and asks of the kernel that is adapted what the first functions give. The
compiler reads the rules from this text, and knows what each of those functions means
(`gendsl.compiler.front.warming`). A step of a warm-up is

    before_step, a step with numbers[STEP_SIZE], after_step.

The phases are Stan's (Stan Reference Manual, "HMC algorithm parameters"): a short one for the step size
alone; windows, each twice as long as the one before, at whose ends the mass becomes the inverse of the
variances in the window; and a last one for the step size alone.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

GAMMA, OFFSET, POWER = 0.05, 10.0, 0.75
"""The constants of dual averaging."""
GRID = 4096.0
"""A probability is learnt from as a multiple of 1 / GRID. Its last digits depend on the order in which a
density was added up; what is learnt from these would make steps longer or shorter, and so their probabilities
others: after some hundred steps two ways to run one chain would have come to different places.
"""
EDGE = math.log(0.8)
"""The log acceptance ratio that the first step size is chosen for (Hoffman and Gelman 2014 have log 1/2)."""
LEAST = 10.0
"""Of how many values a variance is taken."""

DONE, WINDOW, TARGET, MU, COUNT, SHORTFALL, LOG_AVERAGED, STEP_SIZE, FOUND = range(9)
"""The numbers of a rule: how many steps were made; how many windows are over; the acceptance probability that
the step size is chosen for; of dual averaging mu, the number of steps, the mean shortfall, the log of the
average, and the step size now, 0 where it is still to be begun; and the average that was found before it was
begun anew, 0 if it never was.
"""
NOTHING, BELOW, ABOVE = -1, 0, 1
"""What `compare` gives."""


def rule_of(target: float) -> list[float]:
    """The numbers of a rule that starts."""
    return [0.0, 0.0, target, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]


# --- what a rule asks of the kernel --------------------------------------------------------------------


def compare(kernel: Any, step_size: float, bound: float, rng: np.random.Generator) -> int:
    """Whether the log acceptance ratio of a move from the trace is above a bound: ABOVE or BELOW.

    It is NOTHING where there is nothing to move.
    """
    compared: int = kernel.compare(step_size, bound, rng)
    return compared


def take_in(kernel: Any) -> None:
    """Take in the coordinates of the trace, unless one of them is infinite."""
    kernel.take_in()


def take_over(kernel: Any) -> bool:
    """Let the masses be the inverse variances of what was taken in, and forget that.

    It says whether any was found; those of which there are too few values stay as they are.
    """
    is_found: bool = kernel.take_over()
    return is_found


# --- the rules ---------------------------------------------------------------------------------------------


def before_step(kernel: Any, numbers: list[float], rng: np.random.Generator) -> None:
    """Find a step size to begin with, if there is none."""
    if numbers[STEP_SIZE] == 0.0:
        start = first_step_size(kernel, rng)
        if start > 0.0:
            begin(numbers, start)


def after_step(kernel: Any, numbers: list[float], windows: list[float], probability: float) -> None:
    """Learn from a step.

    Args:
        windows: the first step of the first window; then, for each, the step behind its last. Empty if there
            are none.
        probability: with which the step was accepted; below 0 where there was nothing to move.
    """
    numbers[DONE] += 1.0
    if numbers[STEP_SIZE] == 0.0:
        return  # nothing to move, nothing to learn
    done, window = numbers[DONE], int(numbers[WINDOW])
    is_open = window + 1 < len(windows)
    if probability >= 0.0:
        learn(numbers, math.floor(GRID * probability + 0.5) / GRID)
        if is_open and done > windows[0]:
            take_in(kernel)
    if is_open and done >= windows[window + 1]:
        numbers[WINDOW] += 1.0
        if take_over(kernel):
            numbers[FOUND] = math.exp(numbers[LOG_AVERAGED])
            numbers[STEP_SIZE] = 0.0


def begin(numbers: list[float], start: float) -> None:
    """Begin dual averaging with a step size."""
    numbers[MU] = math.log(10.0 * start)
    numbers[STEP_SIZE] = start
    numbers[LOG_AVERAGED] = math.log(start)
    numbers[SHORTFALL] = 0.0
    numbers[COUNT] = 0.0


def learn(numbers: list[float], probability: float) -> None:
    """Dual averaging: the step size comes to where the mean acceptance probability is the target.

    After step t with mean shortfall h of the acceptance probability so far,

        log step_size = mu - sqrt(t) h / gamma,

    and the result is an average of these in which later ones weigh more (Hoffman and Gelman 2014, "The
    No-U-Turn sampler", section 3.2.1 and algorithm 6, with its constants).
    """
    numbers[COUNT] += 1.0
    t = numbers[COUNT]
    weight = 1.0 / (t + OFFSET)
    numbers[SHORTFALL] += weight * (numbers[TARGET] - probability - numbers[SHORTFALL])
    log_step = numbers[MU] - math.sqrt(t) / GAMMA * numbers[SHORTFALL]
    log_step = min(max(log_step, -700.0), 700.0)
    numbers[LOG_AVERAGED] += t**-POWER * (log_step - numbers[LOG_AVERAGED])
    numbers[STEP_SIZE] = math.exp(log_step)


def found(numbers: list[float]) -> float | None:
    """The step size that was found, if one was."""
    if numbers[STEP_SIZE] > 0.0:
        return math.exp(numbers[LOG_AVERAGED])
    return numbers[FOUND] or None


def first_step_size(kernel: Any, rng: np.random.Generator) -> float:
    """A step size at which one step is accepted with probability about 0.8; 0 if nothing can be moved.

    It is doubled or halved until the log acceptance ratio crosses log 0.8 (Hoffman and Gelman 2014,
    algorithm 4).
    """
    size = 1.0
    start = compare(kernel, size, EDGE, rng)
    if start == NOTHING:
        return 0.0
    for _ in range(60):
        size = 2.0 * size if start == ABOVE else 0.5 * size
        if compare(kernel, size, EDGE, rng) != start:
            break
    return size


def taken_in(count: Any, mean: Any, squares: Any, x: Any) -> tuple[Any, Any, Any]:
    """The number, the mean and the sum of squared differences of values with one more (Welford 1962)."""
    count = count + 1.0
    difference = x - mean
    mean = mean + difference / count
    return count, mean, squares + difference * (x - mean)


def inverse_variance(count: Any, squares: Any) -> Any:
    """An inverse variance, shrunk towards 1000 where there are few values, as Stan does."""
    variance = squares / (count - 1.0)
    return 1.0 / ((count * variance + 5e-3) / (count + 5.0))


def window_ends(steps: int) -> list[tuple[int, int]]:
    """The windows in which variances are gathered: the first step of each, and the step after its last.

    Of 150 steps or more, the first 75 and the last 50 belong to no window; of fewer 15 % and 10 %. The first
    window has 25 steps, the last takes what is left.
    """
    if steps < 20:
        return []
    first, last, size = 75, 50, 25
    if steps < first + last + size:
        first, last = int(0.15 * steps), int(0.1 * steps)
        size = steps - first - last
    windows = []
    start, end = first, steps - last
    while start < end:
        stop = start + size
        if stop + 2 * size > end:
            stop = end
        windows.append((start, stop))
        start, size = stop, 2 * size
    return windows
