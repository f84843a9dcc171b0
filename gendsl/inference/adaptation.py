"""Warm-up: step sizes and mass matrices are found while a chain runs in, and then stay as they are.

A kernel that adapts while it runs isn't a kernel: its steps depend on the past. So what is adapted is kept
out of kernels. A kernel that can be adapted has the method

    start_warmup(trace, steps, rng) -> warm-up

where a warm-up is called like a kernel, `(trace, rng) -> (trace, info)`, about `steps` times, changes itself
from step to step, and has the method

    finish() -> kernel

which gives the kernel with what it found, frozen. A kernel of kernels does both by asking its parts. The
functions `start_warmup` and `finish_warmup` here do so for any kernel, whether it can be adapted or not.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from gendsl.address import Path
from gendsl.errors import KernelError, ValueTypeError
from gendsl.inference.coordinates import Coordinates
from gendsl.inference.kernel import Kernel, KernelFunction, check_kernel, run_kernel
from gendsl.inference.metric import FoundMass, Mass
from gendsl.inference.structure import describe
from gendsl.interface import Rng, Trace, as_rng
from gendsl.runtime.trace import check_start
from gendsl.selection import Selection


class WarmUp(Protocol):
    """A kernel that changes itself as it runs."""

    def __call__(self, trace: Any, rng: np.random.Generator) -> tuple[Any, Any]:
        """One step."""

    def finish(self) -> KernelFunction:
        """The kernel with what was found, frozen."""


class Adapted(NamedTuple):
    """What `adapt` returns: the kernel with what it found, and the trace that the chain came to."""

    kernel: KernelFunction
    trace: Trace


def start_warmup(kernel: KernelFunction, trace: Trace, steps: int, rng: np.random.Generator) -> Any:
    """What to call in place of a kernel during warm-up; the kernel itself if it has nothing to adapt."""
    start = getattr(kernel, "start_warmup", None)
    return kernel if start is None else start(trace, steps, rng)


def finish_warmup(warmup: Any) -> KernelFunction:
    """The kernel that a warm-up made by `start_warmup` ends with."""
    finish = getattr(warmup, "finish", None)
    kernel: KernelFunction = warmup if finish is None else finish()
    return kernel


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
    rng = as_rng(rng)
    warmup = start_warmup(kernel, trace, int(steps), rng)
    for _ in range(steps):
        trace, _ = run_kernel(warmup, trace, rng)
    return Adapted(finish_warmup(warmup), trace)


# --- kernels that can be adapted -------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Tuning:
    """What is adapted.

    Attributes:
        step_size: in unconstrained coordinates, in units of the mass; None if it is still to be found.
        mass: see `gendsl.inference.metric`.
        adapts_mass: whether warm-up finds the mass, too.
    """

    step_size: float | None
    mass: Mass = None
    adapts_mass: bool = True


@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class Method:
    """What warm-up has to know of a kind of kernel.

    Attributes:
        step: one step with a tuning, whose info has `accept_probability`.
        selection, skip_absent: what it moves.
        target: the acceptance probability that the step size is chosen for.
        first: log acceptance ratio of a move of one step from a trace; None if there is nothing to move.
        move: what a step with a tuning is to the compiler, by the name of the kernel; None where it can't be
            compiled.
    """

    step: Callable[[Any, np.random.Generator, Tuning], tuple[Any, Any]]
    selection: Selection
    skip_absent: bool
    target: float
    first: Callable[[Any, np.random.Generator, Tuning], float | None]
    move: Callable[[str, Tuning], Any] | None = None


@dataclass(frozen=True, eq=False, repr=False)
class TunableKernel(Kernel):
    """A kernel with a step size and a mass, given or found in warm-up.

    Attributes:
        tuning: the step size and the mass that it has.
    """

    method: Method = field(kw_only=True)
    tuning: Tuning = field(kw_only=True)

    @classmethod
    def make(cls, method: Method, tuning: Tuning, name: str, reversible: bool | None) -> TunableKernel:
        """The kernel of a method with a tuning."""

        def step(trace: Any, rng: np.random.Generator) -> tuple[Any, Any]:
            if tuning.step_size is None:
                # what is wrong with the selection no step size mends
                Coordinates(trace, method.selection, skip_absent=method.skip_absent)
                raise KernelError(
                    f"kernel {name} has no step size yet",
                    fix="find one: sample(kernel, trace, draws, warmup=1000), or "
                    "kernel, trace = adapt(kernel, trace); or give one",
                )
            return method.step(trace, rng, tuning)

        known = method.move is not None and tuning.step_size is not None
        move = method.move(name, tuning) if known else None  # type: ignore[misc]
        return cls(step, name, reversible=reversible, method=method, tuning=tuning, move=move)

    def tuned(self, tuning: Tuning) -> TunableKernel:
        """The same kernel with another tuning."""
        made = TunableKernel.make(self.method, tuning, self.name, self.reversible)
        found = describe([tuning.step_size, tuning.mass])
        made = replace(made, structure={**(self.structure or {}), "tuned": found})
        return made.from_recipe(TunableKernel.tuned, self, tuning)  # type: ignore[no-any-return]

    def start_warmup(self, trace: Any, steps: int, rng: np.random.Generator) -> Any:
        """A warm-up of about `steps` steps that finds what wasn't given."""
        return self if self.tuning.step_size is not None else TuningWarmUp(self, steps)


class TuningWarmUp:
    """Finds the step size by dual averaging, and a diagonal mass from the variances of the chain.

    The phases are Stan's (Stan Reference Manual, "HMC algorithm parameters"): a short one for the step size
    alone; windows, each twice as long as the one before, at whose ends the mass becomes the inverse of the
    variances in the window; and a last one for the step size alone.
    """

    def __init__(self, kernel: TunableKernel, steps: int) -> None:
        self.kernel = kernel
        self.name = kernel.name
        self.tuning = kernel.tuning
        self.ends = window_ends(steps) if self.tuning.adapts_mass else []
        self.first = self.ends[0][0] if self.ends else 0
        self.averaging: DualAveraging | None = None
        self.variances = Variances()
        self.found: float | None = None
        self.done = 0

    def __call__(self, trace: Any, rng: np.random.Generator) -> tuple[Any, Any]:
        """One step with what has been found so far."""
        method = self.kernel.method
        if self.averaging is None:
            start = first_step_size(method, trace, rng, self.tuning)
            if start is None:
                self.done += 1  # nothing to move, nothing to learn
                return method.step(trace, rng, replace(self.tuning, step_size=1.0))
            self.averaging = DualAveraging(start, method.target)
        trace, info = method.step(trace, rng, replace(self.tuning, step_size=self.averaging.step_size))
        probability = info.accept_probability
        if probability is not None:
            self.averaging.update(probability)
            if self.ends and self.done >= self.first:
                self._look(trace)
        self.done += 1
        if self.ends and self.done >= self.ends[0][1]:
            self.ends.pop(0)
            mass = self.variances.mass()
            self.variances = Variances()
            if mass:
                before = FoundMass() if self.tuning.mass is None else self.tuning.mass
                self.tuning = replace(self.tuning, mass=before.joined(mass))
                self.found, self.averaging = self.averaging.averaged, None
        return trace, info

    def _look(self, trace: Any) -> None:
        method = self.kernel.method
        coordinates = Coordinates(trace, method.selection, skip_absent=method.skip_absent)
        if coordinates.border is None:
            for path, where in coordinates.where.items():
                self.variances.add(path, coordinates.position[where])

    def finish(self) -> TunableKernel:
        """The kernel with the averaged step size and the last mass.

        It has no step size where there was never anything to move.
        """
        step_size = self.found if self.averaging is None else self.averaging.averaged
        return self.kernel.tuned(replace(self.tuning, step_size=step_size))


# --- the step size ---------------------------------------------------------------------------------


class DualAveraging:
    """The step size at which the mean acceptance probability is the target.

    After step t with mean shortfall h of the acceptance probability so far,

        log step_size = mu - sqrt(t) h / gamma,

    and the result is an average of these in which later ones weigh more (Hoffman and Gelman 2014, "The
    No-U-Turn sampler", section 3.2.1 and algorithm 6, with its constants).
    """

    GAMMA, OFFSET, POWER = 0.05, 10.0, 0.75

    def __init__(self, start: float, target: float) -> None:
        self.mu = math.log(10.0 * start)
        self.target = target
        self.step_size = start
        self.log_averaged = math.log(start)
        self.shortfall = 0.0
        self.count = 0

    def update(self, accept_probability: float) -> None:
        """Learn from a step with the present step size."""
        self.count += 1
        t = self.count
        weight = 1.0 / (t + self.OFFSET)
        self.shortfall += weight * (self.target - accept_probability - self.shortfall)
        log_step = self.mu - math.sqrt(t) / self.GAMMA * self.shortfall
        log_step = min(max(log_step, -700.0), 700.0)
        self.log_averaged += t**-self.POWER * (log_step - self.log_averaged)
        self.step_size = math.exp(log_step)

    @property
    def averaged(self) -> float:
        """The step size found."""
        return math.exp(self.log_averaged)


def first_step_size(method: Method, trace: Any, rng: np.random.Generator, tuning: Tuning) -> float | None:
    """A step size at which one step is accepted with probability about 0.8; None if nothing can be moved.

    It is doubled or halved until the log acceptance ratio crosses log 0.8 (Hoffman and Gelman 2014,
    algorithm 4, which uses 1/2).
    """
    size, edge = 1.0, math.log(0.8)
    ratio = method.first(trace, rng, replace(tuning, step_size=size))
    if ratio is None:
        return None
    grow = ratio > edge
    for _ in range(60):
        size = 2.0 * size if grow else 0.5 * size
        ratio = method.first(trace, rng, replace(tuning, step_size=size))
        if ratio is None or (ratio > edge) != grow:
            break
    return size


# --- the mass --------------------------------------------------------------------------------------


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


class Variances:
    """Running variances of the coordinates of each choice (Welford 1962), by address.

    Choices and their dimensions may change from step to step: each dimension of each has its own count.
    """

    LEAST = 10

    def __init__(self) -> None:
        self.moments: dict[Path, dict[int, list[Any]]] = {}

    def add(self, path: Path, position: Any) -> None:
        """Take in the coordinates of a choice, of shape (dim,) or ()."""
        position = np.array(position, dtype=float)
        by_size = self.moments.setdefault(path, {})
        moments = by_size.get(position.size)
        if moments is None:
            by_size[position.size] = [1, position, np.zeros_like(position)]
            return
        moments[0] += 1
        difference = position - moments[1]
        moments[1] = moments[1] + difference / moments[0]
        moments[2] = moments[2] + difference * (position - moments[1])

    def mass(self) -> dict[Path, Any]:
        """Inverse variances, shrunk towards 1000 where there are few draws, as Stan does."""
        found: dict[Path, Any] = {}
        for path, by_size in self.moments.items():
            sizes = {}
            for size, (count, _, squares) in by_size.items():
                if count >= self.LEAST:
                    variance = squares / (count - 1)
                    sizes[size] = 1.0 / ((count * variance + 5e-3) / (count + 5.0))
            if sizes:
                found[path] = sizes if len(sizes) > 1 else next(iter(sizes.values()))
        return found
