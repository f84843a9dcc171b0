"""Sequential Monte Carlo samplers: particles led through a sequence of targets, models or temperatures.

At each stage every particle is translated to the next target and weighted; where the weights have become too
uneven they are resampled; then kernels of that target move them. (Del Moral, Doucet and Jasra 2006,
"Sequential Monte Carlo samplers".)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logsumexp

from gendsl.errors import KernelError, ValueTypeError
from gendsl.inference.any_kernel import KernelFunction
from gendsl.inference.importance import importance_sampling
from gendsl.inference.kernel import Kernel, TemperedKernel, check_kernel, check_target
from gendsl.inference.mh import decide, mh_deciding
from gendsl.inference.particles import Particles
from gendsl.inference.proposal import Proposal
from gendsl.inference.resampling import Scheme, as_scheme
from gendsl.inference.structure import kernel_maker
from gendsl.interface import Choices, Rng, as_rng
from gendsl.runtime.generative import GenFunction
from gendsl.runtime.records import factors
from gendsl.runtime.trace import ReferenceTrace
from gendsl.selection import Selection
from gendsl.transforms.translators import TraceTranslator

_SMALLEST_STEP = 1e-6


@dataclass(frozen=True)
class SMCRun:
    """What a particle filter or an SMC sampler did.

    Attributes:
        particles: the particles at the end; their weighted averages estimate posterior means.
        log_evidences: the estimate of the log evidence after each stage, shape (stages,).
        ess: the effective sample size after each stage, before resampling, shape (stages,).
        resampled: whether the particles were resampled after that stage, shape (stages,).
        acceptance: the share of accepted moves after each stage; NaN where there were none.
        recorded: what `record` made of the weighted particles of each stage, before resampling.
        temperatures: those of the stages of `tempered_smc`, the last 1; empty otherwise.
    """

    particles: Particles
    log_evidences: np.ndarray
    ess: np.ndarray
    resampled: np.ndarray
    acceptance: np.ndarray
    recorded: list[Any]
    temperatures: np.ndarray

    @property
    def log_evidence(self) -> float:
        """The estimate of the log evidence of the last target."""
        return float(self.log_evidences[-1])

    def __str__(self) -> str:
        times = int(self.resampled.sum())
        return (
            f"{self.particles.size} particles, {len(self.ess)} stages, resampled {times} times, least ess "
            f"{self.ess.min():.1f}; log evidence {self.log_evidence:.6g}"
        )

    def __repr__(self) -> str:
        return f"<{self}>"


class Stages:
    """The particles of a run in progress, and what has happened so far."""

    def __init__(
        self,
        particles: Particles,
        resampling: str | Scheme,
        threshold: float,
        record: Callable[[Particles], Any] | None,
        rng: np.random.Generator,
    ) -> None:
        if not isinstance(threshold, (int, float)) or not 0.0 <= threshold <= 1.0:
            raise ValueTypeError(
                f"got threshold={threshold!r}",
                fix="give the share of the number of particles, from 0 (never resample) to 1 (always)",
            )
        self.particles = particles
        self.scheme = as_scheme(resampling)
        self.threshold = threshold
        self.record = record
        self.rng = rng
        self.log_evidences: list[float] = []
        self.ess: list[float] = []
        self.resampled: list[bool] = []
        self.acceptance: list[float] = []
        self.recorded: list[Any] = []
        self.temperatures: list[float] = []

    def arrive(self, particles: Particles) -> None:
        """Note the weighted particles of a new stage."""
        self.particles = particles
        self.log_evidences.append(particles.log_evidence)
        self.ess.append(particles.ess)
        self.resampled.append(False)
        self.acceptance.append(math.nan)
        if self.record is not None:
            self.recorded.append(self.record(particles))

    def resample(self) -> bool:
        """Resample if the effective sample size is below the threshold; whether that was done."""
        if self.threshold < 1.0 and self.particles.ess >= self.threshold * self.particles.size:
            return False
        self.particles = self.particles.resample(self.scheme, rng=self.rng)
        self.resampled[-1] = True
        return True

    def move(self, kernel: KernelFunction | None) -> None:
        """One step of a kernel of this stage's target, if there is one."""
        if kernel is not None:
            self.particles, self.acceptance[-1] = self.particles.rejuvenate(kernel, rng=self.rng)

    def finish(self) -> SMCRun:
        """The run."""
        return SMCRun(
            self.particles,
            np.array(self.log_evidences),
            np.array(self.ess),
            np.array(self.resampled, dtype=bool),
            np.array(self.acceptance),
            self.recorded,
            np.array(self.temperatures),
        )


def smc(
    particles: Particles,
    translators: Iterable[TraceTranslator],
    *,
    kernels: KernelFunction | Sequence[KernelFunction | None] | None = None,
    resampling: str | Scheme = "systematic",
    threshold: float = 0.5,
    record: Callable[[Particles], Any] | None = None,
    rng: Rng = None,
) -> SMCRun:
    """Lead particles through a sequence of targets.

    Args:
        particles: particles of the first target: those of `importance_sampling`.
        translators: what leads from each target to the next.
        kernels: what moves the particles of each new target, after resampling if there is any: one kernel
            that leaves all of them invariant, or one for each translator (None for no move).
        resampling: "systematic", "stratified", "residual", "multinomial", or a function.
        threshold: resample after a stage whose effective sample size is below this share of the particles; 1
            resamples always, 0 never.
        record: what to keep of the weighted particles of each stage, the first included: a function of them.
        rng: seed or generator.

    Returns:
        A run, whose first stage are the particles it started from.

    Raises:
        ZeroProbabilityError: all weights have become zero.
    """
    if not isinstance(particles, Particles):
        raise ValueTypeError(
            f"smc starts from particles, got {particles!r}",
            fix="give those of the first target: importance_sampling(model, args, observations, n)",
        )
    if not isinstance(translators, Iterable):
        raise ValueTypeError(
            f"smc needs trace translators, got {translators!r}",
            fix="give a list of them, such as [extending_translator(args, observations)]",
        )
    translators = list(translators)
    each: list[Any]
    if kernels is None or callable(kernels):
        each = [kernels] * len(translators)
    else:
        each = list(kernels)
    if len(each) != len(translators):
        raise KernelError(
            f"smc got {len(each)} kernels for {len(translators)} translators",
            fix="give one kernel for each translator's target, or one for all",
        )
    for kernel in each:
        if kernel is not None:
            check_kernel(kernel)
    stages = Stages(particles, resampling, threshold, record, as_rng(rng))
    stages.arrive(particles)
    stages.resample()
    for translator, kernel in zip(translators, each, strict=True):
        stages.arrive(stages.particles.translate(translator, rng=stages.rng))
        stages.resample()
        stages.move(kernel)
    return stages.finish()


# --- temperatures ----------------------------------------------------------------------------------


def log_likelihood(trace: Any) -> float:
    """The sum of the log densities of a trace's observations."""
    if not hasattr(trace, "log_likelihood"):
        raise ValueTypeError(
            f"log_likelihood needs a trace, got {trace!r}", fix="pass model.generate(args, data).trace"
        )
    return float(trace.log_likelihood)


def tempered_smc(
    model: GenFunction,
    args: tuple[Any, ...] = (),
    observations: Choices | None = None,
    particles: int = 1000,
    *,
    kernel: Callable[[float], KernelFunction] | None = None,
    temperatures: Sequence[float] | None = None,
    ladder: float = 0.5,
    resampling: str | Scheme = "systematic",
    threshold: float = 0.5,
    record: Callable[[Particles], Any] | None = None,
    rng: Rng = None,
) -> SMCRun:
    """From the prior to the posterior, by powers of the likelihood.

    The targets are proportional to p(t) L(t)^(beta - 1), where L is the product of the densities of the
    observations: the latent choices' own density at beta = 0, where the particles are drawn, and the
    posterior at 1. From beta to beta' a particle's log weight grows by (beta' - beta) log L(t).

    Args:
        model, args, observations: the model.
        particles: how many.
        kernel: what moves the particles: a function that, given beta, makes a kernel that leaves *that*
            target invariant: `lambda beta: tempered_mh(select("mu"), beta)`.
        temperatures: the values of beta after 0, increasing, the last 1. If not given they are found on the
            way: each as large as leaves a conditional effective sample size of `ladder` times the particles
            (Zhou, Johansen and Aston 2016, "Toward automatic model comparison"). The evidence estimate then
            has a small bias, since the particles that choose a temperature are also weighted by it.
        ladder: see there.
        resampling, threshold, record, rng: as in `smc`.

    Raises:
        ZeroProbabilityError: all weights have become zero.
        ValueTypeError: the temperatures don't increase to 1.
        KernelError: the kernel for a temperature is one of gendsl's for another target.
    """
    rng = as_rng(rng)
    given = None if temperatures is None else _checked_temperatures(temperatures)
    if not 0.0 < ladder < 1.0:
        raise ValueTypeError(f"got ladder={ladder!r}", fix="give a share between 0 and 1")
    if kernel is not None and (isinstance(kernel, Kernel) or not callable(kernel)):
        raise KernelError(
            f"tempered_smc got the kernel {kernel!r}, which has one target for all temperatures",
            fix="give a function of beta: lambda beta: tempered_mh(select('x'), beta)",
        )
    start = importance_sampling(model, args, observations, particles, rng=rng)
    size = start.size
    stages = Stages(start, resampling, threshold, record, rng)
    # the weights at beta = 0 are equal but for factors, and those of importance sampling are for beta = 1
    first = np.array([factors(trace.records.values()) for trace in start.traces])
    stages.particles = Particles(start.traces, first, size, families=start.families)
    beta, step = 0.0, 0
    while beta < 1.0:
        now = stages.particles
        likelihoods = np.array([log_likelihood(trace) for trace in now.traces])
        if given is not None:
            following = given[step]
        else:
            following = next_temperature(beta, now.log_weights, likelihoods, ladder)
        stages.arrive(now.reweight((following - beta) * likelihoods))
        stages.temperatures.append(following)
        beta, step = following, step + 1
        stages.resample()
        if kernel is not None:
            moving = check_kernel(kernel(beta))
            check_target(moving, beta, "tempered_smc")
            stages.move(moving)
    return stages.finish()


def _checked_temperatures(temperatures: Sequence[float]) -> list[float]:
    given = [float(beta) for beta in temperatures]
    if not given or given[-1] != 1.0 or given[0] <= 0.0 or any(np.diff(given) <= 0.0):
        raise ValueTypeError(
            f"temperatures={temperatures!r} don't lead from the prior to the posterior",
            fix="give increasing powers of the likelihood, above 0, the last of them 1",
        )
    return given


def next_temperature(
    beta: float, log_weights: np.ndarray, likelihoods: np.ndarray, ladder: float
) -> float:
    """The temperature beta' up to 1 at which the share of the conditional effective sample size is `ladder`.

    That share is (sum_i W_i u_i)^2 / sum_i W_i u_i^2, with u_i = L_i^(beta' - beta). The step is at least
    1e-6, so that an end is reached.
    """
    log_weights = log_weights - logsumexp(log_weights)

    def share(after: float) -> float:
        log_factors = (after - beta) * likelihoods
        first = logsumexp(log_weights + log_factors)
        second = logsumexp(log_weights + 2.0 * log_factors)
        return float(np.exp(2.0 * first - second))

    if share(1.0) >= ladder:
        return 1.0
    low, high = beta, 1.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if share(middle) >= ladder else (low, middle)
    return min(1.0, max(high, beta + _SMALLEST_STEP))


@kernel_maker
def tempered_mh(
    target: Selection | GenFunction,
    beta: float,
    proposal_args: tuple[Any, ...] = (),
    *,
    skip_absent: bool = False,
    name: str | None = None,
) -> Kernel:
    """`mh`, for the target p(t) L(t)^(beta - 1), where L is the likelihood of the observations.

    The log acceptance ratio is that of `mh` minus (1 - beta) (log L(t') - log L(t)). Finding L takes time
    that grows with the trace.

    Args:
        target, proposal_args, skip_absent, name: as in `mh`.
        beta: the power of the likelihood, above 0 and at most 1.

    Raises:
        KernelError: the target is neither a selection nor a proposal program.
        ValueTypeError: beta is out of range.
    """
    if isinstance(beta, bool) or not isinstance(beta, (int, float)) or not 0.0 < beta <= 1.0:
        raise ValueTypeError(f"tempered_mh got beta={beta!r}", fix="give a number above 0, at most 1")

    def tempered(
        trace: ReferenceTrace, proposal: Proposal, ratio: float, rng: np.random.Generator, aux: float = 0.0
    ) -> Any:
        if beta < 1.0:
            ratio -= (1.0 - beta) * (log_likelihood(proposal.trace()) - log_likelihood(trace))
        return decide(trace, proposal, ratio, rng, aux)

    kernel = mh_deciding(tempered, target, proposal_args, skip_absent, name, power=float(beta))
    shown = name or f"{kernel.name} at {beta:.3g}"
    return TemperedKernel(
        kernel.step, shown, reversible=kernel.reversible, move=kernel.move, told=kernel.told, beta=float(beta)
    )


__all__ = ["SMCRun", "Stages", "log_likelihood", "next_temperature", "smc", "tempered_mh", "tempered_smc"]
