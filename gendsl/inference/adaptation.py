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

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from gendsl.address import Path
from gendsl.compiler.moves import Entries, Rule, Walk, Warming
from gendsl.errors import GenDSLError, KernelError
from gendsl.inference import warmup_rules as rules
from gendsl.inference.any_kernel import Compilable, KernelFunction
from gendsl.inference.coordinates import Coordinates
from gendsl.inference.infos import Told
from gendsl.inference.kernel import Kernel
from gendsl.inference.metric import FoundMass, Mass, by_size
from gendsl.inference.structure import describe
from gendsl.interface import Trace
from gendsl.selection import Selection


class WarmUp(Protocol):
    """A kernel that changes itself as it runs."""

    def __call__(self, trace: Any, rng: np.random.Generator) -> tuple[Any, Any]:
        """One step."""

    def finish(self) -> KernelFunction:
        """The kernel with what was found, frozen."""


def start_warmup(kernel: KernelFunction, trace: Trace, steps: int, rng: np.random.Generator) -> Any:
    """What to call in place of a kernel during warm-up; the kernel itself if it has nothing to adapt."""
    start = getattr(kernel, "start_warmup", None)
    return kernel if start is None else start(trace, steps, rng)


def finish_warmup(warmup: Any) -> KernelFunction:
    """The kernel that a warm-up made by `start_warmup` ends with."""
    finish = getattr(warmup, "finish", None)
    kernel: KernelFunction = warmup if finish is None else finish()
    return kernel


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
        told: as `Kernel.told`.
    """

    step: Callable[[Any, np.random.Generator, Tuning], tuple[Any, Any]]
    selection: Selection
    skip_absent: bool
    target: float
    first: Callable[[Any, np.random.Generator, Tuning], float | None]
    move: Callable[[str, Tuning], Any] | None = None
    told: Callable[[Told], Any] | None = None


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
        told = method.told if known else None
        return cls(step, name, reversible=reversible, method=method, tuning=tuning, move=move, told=told)

    def tuned(self, tuning: Tuning) -> TunableKernel:
        """The same kernel with another tuning."""
        made = TunableKernel.make(self.method, tuning, self.name, self.reversible)
        found = describe([tuning.step_size, tuning.mass])
        made = replace(made, structure={**(self.structure or {}), "tuned": found})
        return made.from_recipe(TunableKernel.tuned, self, tuning)  # type: ignore[no-any-return]

    def start_warmup(self, trace: Any, steps: int, rng: np.random.Generator) -> Any:
        """A warm-up of about `steps` steps that finds what wasn't given."""
        return self if self.tuning.step_size is not None else TuningWarmUp(self, steps)


_RULE = Rule(
    rules.before_step,
    rules.after_step,
    rules.taken_in,
    rules.inverse_variance,
    least=rules.LEAST,
    step_size=rules.STEP_SIZE,
)


class TuningWarmUp(Compilable):
    """Finds the step size by dual averaging, and a diagonal mass from the variances of the chain.

    The rules are those of `gendsl.inference.warmup_rules`.

    Attributes:
        kernel: what is adapted.
        move: what a step is to the compiler; None where it can't be compiled.
        tuning: the masses that were found so far.
        numbers: those of the rule.
        windows: when it takes in coordinates, and when it takes over masses.
        variances: what was taken in.
    """

    def __init__(self, kernel: TunableKernel, steps: int) -> None:
        self.kernel, self.name, self.method = kernel, kernel.name, kernel.method
        self.tuning = kernel.tuning
        self.numbers = rules.rule_of(self.method.target)
        ends = rules.window_ends(steps) if self.tuning.adapts_mass else []
        self.windows = [float(first) for first, _ in ends[:1]] + [float(end) for _, end in ends]
        self.variances = Variances()
        self._trace: Any = None

    @cached_property
    def move(self) -> Warming | None:
        """What a step is to the compiler."""
        make = self.method.move
        walk = None if make is None else make(self.name, replace(self.tuning, step_size=1.0))
        if not isinstance(walk, Walk) or walk.mass is not None:
            return None
        return Warming(self.name, walk, _RULE, self)

    def __call__(self, trace: Any, rng: np.random.Generator) -> tuple[Any, Any]:
        """One step with what has been found so far."""
        self._trace = trace
        rules.before_step(self, self.numbers, rng)
        step_size = self.numbers[rules.STEP_SIZE] or 1.0  # with nothing to move, any
        trace, info = self.method.step(trace, rng, replace(self.tuning, step_size=step_size))
        self._trace = trace
        probability = info.accept_probability
        rules.after_step(self, self.numbers, self.windows, -1.0 if probability is None else probability)
        self._trace = None
        return trace, info

    def compare(self, step_size: float, bound: float, rng: np.random.Generator) -> int:
        """See `rules.compare`."""
        ratio = self.method.first(self._trace, rng, replace(self.tuning, step_size=step_size))
        return rules.NOTHING if ratio is None else rules.ABOVE if ratio > bound else rules.BELOW

    def take_in(self) -> None:
        """See `rules.take_in`."""
        method = self.method
        coordinates = Coordinates(self._trace, method.selection, skip_absent=method.skip_absent)
        if coordinates.border is None:
            for path, where in coordinates.where.items():
                self.variances.add(path, coordinates.position[where])

    def take_over(self) -> bool:
        """See `rules.take_over`."""
        mass = self.variances.mass()
        self.variances = Variances()
        if mass:
            before = FoundMass() if self.tuning.mass is None else self.tuning.mass
            self.tuning = replace(self.tuning, mass=before.joined(mass))
        return bool(mass)

    def entries(self, trace: Any) -> Entries:
        """What is known of choices, those of a trace among them; see `gendsl.compiler.moves.Found`."""
        found: dict[Path, dict[int, tuple[Any, Any]]] = {}
        with suppress(GenDSLError):  # which the next step raises
            coordinates = Coordinates(trace, self.method.selection, skip_absent=self.method.skip_absent)
            for path, where in coordinates.where.items():
                if size := np.size(coordinates.position[where]):
                    found[path] = {size: (None, None)}
        for path, entries in (self.tuning.mass or {}).items():
            for size, masses in by_size(entries).items():
                found.setdefault(path, {})[size] = masses, None
        for path, sizes in self.variances.moments.items():
            for size, moments in sizes.items():
                masses, _ = found.setdefault(path, {}).get(size, (None, None))
                found[path][size] = masses, moments
        return found

    def restart(self, found: Entries) -> None:
        """Take over what is known of choices."""
        self.variances, mass = Variances(), FoundMass()
        for path, sizes in found.items():
            masses = {size: masses for size, (masses, _) in sizes.items() if masses is not None}
            if masses:
                mass[path] = masses if len(masses) > 1 else next(iter(masses.values()))
            moments = {size: moments for size, (_, moments) in sizes.items() if moments is not None}
            if moments:
                self.variances.moments[path] = moments
        self.tuning = replace(self.tuning, mass=mass or None)

    def finish(self) -> TunableKernel:
        """The kernel with the averaged step size and the last mass.

        It has no step size where there was never anything to move.
        """
        return self.kernel.tuned(replace(self.tuning, step_size=rules.found(self.numbers)))


class Variances:
    """Running variances of the coordinates of each choice, by address.

    Choices and their dimensions may change from step to step: each dimension of each has its own count.

    Attributes:
        moments: by address and dimension the number of values, their mean, and the sum of squared
            differences from it.
    """

    def __init__(self) -> None:
        self.moments: dict[Path, dict[int, tuple[Any, Any, Any]]] = {}

    def add(self, path: Path, position: Any) -> None:
        """Take in the coordinates of a choice, of shape (dim,) or (); one weight has none."""
        position = np.array(position, dtype=float)
        if not position.size:
            return
        known = self.moments.setdefault(path, {})
        before = known.get(position.size, (0.0, 0.0, 0.0))
        known[position.size] = rules.taken_in(*before, position)

    def mass(self) -> dict[Path, Any]:
        """Inverse variances, of those of which there are enough values."""
        found: dict[Path, Any] = {}
        for path, every in self.moments.items():
            sizes = {}
            for size, (count, _, squares) in every.items():
                if count >= rules.LEAST:
                    sizes[size] = rules.inverse_variance(count, squares)
            if sizes:
                found[path] = sizes if len(sizes) > 1 else next(iter(sizes.values()))
        return found
