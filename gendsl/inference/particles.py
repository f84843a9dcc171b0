"""Weighted traces: what importance sampling, particle filters and SMC samplers give, and go on from."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp

from gendsl.address import Path, as_path
from gendsl.errors import ValueTypeError, ZeroProbabilityError
from gendsl.inference.any_kernel import KernelFunction, run_kernel
from gendsl.inference.kernel import check_kernel
from gendsl.inference.resampling import Scheme, as_scheme, multinomial_resampling
from gendsl.inference.results.summary import Frequency, Share
from gendsl.inference.running.recording import quantity_name
from gendsl.interface import Rng, Trace, as_rng
from gendsl.transforms.translators import TraceTranslator


class Estimate(NamedTuple):
    """An estimate of a posterior mean, with its standard error; arrays where the function's values are."""

    mean: Any
    standard_error: Any


class Rejuvenated(NamedTuple):
    """What `Particles.rejuvenate` returns: the moved particles, and the share of accepted moves."""

    particles: Particles
    acceptance: float


@dataclass(frozen=True)
class Particles:
    """Traces with weights. No operation changes them: each gives new particles.

    Averages under the normalised weights W_i estimate posterior means, with an error of order 1 / sqrt(size).
    The product of the average weights of all stages is an unbiased estimate of the evidence p(observations).
    A particle of weight 0 is not kept, but counts in `size`.

    Attributes:
        traces: the traces.
        log_weights: their log weights since the last resampling, shape (len(traces),).
        size: the number of particles N.
        log_evidence_before: the log of the part of the evidence estimate from before the last resampling.
        families: the number of the first particle that each descends from, shape (len(traces),).
        resamplings: how often they were resampled by multinomial resampling.
    """

    traces: tuple[Any, ...]
    log_weights: np.ndarray
    size: int
    log_evidence_before: float = 0.0
    families: np.ndarray = None  # type: ignore[assignment]
    resamplings: int = 0

    def __post_init__(self) -> None:
        set_field = object.__setattr__
        set_field(self, "traces", tuple(self.traces))
        set_field(self, "log_weights", np.asarray(self.log_weights, dtype=float))
        if self.families is None:
            set_field(self, "families", np.arange(len(self.traces)))
        if len(self.traces) != len(self.log_weights) or not np.isfinite(self.log_weights).all():
            raise ValueTypeError(
                f"{len(self.traces)} traces have the log weights {self.log_weights}",
                fix="give one finite log weight per trace, and leave traces of weight 0 out",
            )
        if not self.traces:
            raise ZeroProbabilityError(
                f"all {self.size} particles have weight zero",
                fix="use more particles or a better proposal; look for an impossible observation",
            )

    # --- weights ----------------------------------------------------------------------------------

    @property
    def weights(self) -> np.ndarray:
        """The normalised weights W_i, shape (len(traces),)."""
        weights = np.exp(self.log_weights - self.log_weights.max())
        return np.asarray(weights / weights.sum())

    @property
    def ess(self) -> float:
        """The effective sample size 1 / sum W_i^2: from 1 to `size`."""
        return float(1.0 / np.sum(self.weights**2))

    @property
    def log_evidence(self) -> float:
        """The log of the evidence estimate: that before the last resampling, and (1 / N) sum_i w_i since."""
        return self.log_evidence_before + float(logsumexp(self.log_weights)) - math.log(self.size)

    @property
    def log_evidence_error(self) -> float:
        """The standard error of `log_evidence`, from how the weight is shared among families.

        The relative variance of the evidence estimate is estimated by 1 - (N / (N - 1))^(r + 1) (1 - sum_k
        F_k^2), where F_k is the weight of all descendants of particle k and r counts multinomial resamplings:
        for these, times the squared evidence, it is unbiased (Lee and Whiteley 2018, "Variance estimation in
        the particle filter"). Other schemes make families less uneven by chance, so they are not counted,
        and the error is approximate. It is NaN where all particles descend from one.
        """
        shares = np.bincount(self.families, self.weights)
        if self.size < 2 or np.count_nonzero(shares) < 2:
            return math.nan
        log_factor = (self.resamplings + 1) * math.log(self.size / (self.size - 1))
        return math.sqrt(max(0.0, 1.0 - math.exp(log_factor) * (1.0 - float(np.sum(shares**2)))))

    # --- summaries --------------------------------------------------------------------------------

    def mean(self, what: Any) -> Estimate:
        """The weighted mean sum_i W_i f(trace_i) of a function of a trace, or of the choice at an address.

        The standard error is the root of sum_k (sum of W_i (f_i - mean) over the descendants i of particle
        k)^2: of independent particles that is the error of importance sampling, and resampled particles
        count as independent only where they descend from different ones. (Chan and Lai 2013, "A general
        theory of particle filters in hidden Markov models".) It is NaN where all descend from one; then
        compare independent filters.

        Args:
            what: a function of a trace that gives a number or an array, or an address.
        """
        values = np.asarray(self._values(what), dtype=float)
        weights = self.weights
        mean = np.tensordot(weights, values, axes=1)
        terms = weights.reshape(-1, *[1] * (values.ndim - 1)) * (values - mean)
        sums = np.zeros((int(self.families.max()) + 1, *values.shape[1:]))
        np.add.at(sums, self.families, terms)
        error = np.sqrt(np.sum(sums**2, axis=0))
        if len(np.unique(self.families)) < 2:
            error = np.full_like(error, np.nan)
        if values.ndim == 1:
            return Estimate(float(mean), float(error))
        return Estimate(mean, error)

    def frequency(self, what: Any) -> Frequency:
        """The posterior probability of each value of a function or of a choice, with its error.

        A dict from values to shares, which shows itself as a table.
        """
        values = self._values(what)
        try:
            distinct = sorted(set(values), key=lambda value: (str(type(value)), value))
        except TypeError:
            raise ValueTypeError(
                "the share of particles with each value can't be counted for arrays and lists",
                fix="use one entry, or a tuple: lambda trace: tuple(trace['z'])",
            ) from None
        shares = {}
        for value in distinct:
            hits = {id(trace): float(v == value) for trace, v in zip(self.traces, values, strict=True)}
            shares[value] = Share(*self.mean(lambda trace, hits=hits: hits[id(trace)]))
        return Frequency(shares, what if isinstance(what, str) else quantity_name(what))

    def sample_unweighted(self, n: int, *, rng: Rng = None) -> list[Any]:
        """n traces drawn with the probabilities W_i, independently."""
        if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 0:
            raise ValueTypeError(f"sample_unweighted got n={n!r}", fix="n must be a whole number, 0 or more")
        chosen = as_rng(rng).choice(len(self.traces), size=n, p=self.weights)
        return [self.traces[i] for i in chosen]

    def _values(self, what: Any) -> list[Any]:
        function = what if callable(what) else _At(as_path(what))
        known: dict[int, Any] = {}
        for trace in self.traces:
            if id(trace) not in known:
                known[id(trace)] = function(trace)
        return [known[id(trace)] for trace in self.traces]

    # --- going on ---------------------------------------------------------------------------------

    def resample(self, resampling: str | Scheme = "systematic", *, rng: Rng = None) -> Particles:
        """N particles of equal weight, drawn from these by a resampling scheme.

        The average weight goes into `log_evidence_before`, so `log_evidence` stays what it is.

        Args:
            resampling: "systematic", "stratified", "residual", "multinomial", or a function.
        """
        scheme = as_scheme(resampling)
        indices = np.asarray(scheme(self.weights, self.size, as_rng(rng)))
        if indices.shape != (self.size,):
            raise ValueTypeError(
                f"a resampling scheme gave {indices.shape} indices for {self.size} particles",
                fix="return as many indices as it was asked for",
            )
        return Particles(
            [self.traces[i] for i in indices],  # type: ignore[arg-type]
            np.zeros(self.size),
            self.size,
            self.log_evidence,
            self.families[indices],
            self.resamplings + (scheme is multinomial_resampling),
        )

    def rejuvenate(self, kernel: KernelFunction, *, rng: Rng = None) -> Rejuvenated:
        """One step of a kernel from each particle; the weights stay.

        Args:
            kernel: a kernel that leaves the particles' target invariant.
        """
        check_kernel(kernel)
        rng = as_rng(rng)
        moved, accepted = [], 0
        for trace in self.traces:
            trace, info = run_kernel(kernel, trace, rng)
            moved.append(trace)
            accepted += bool(getattr(info, "accepted", True))
        return Rejuvenated(self._with(moved, self.log_weights), accepted / len(moved))

    def translate(self, translator: TraceTranslator, *, rng: Rng = None) -> Particles:
        """Each particle translated, its weight multiplied by the translator's.

        Raises:
            ZeroProbabilityError: all weights are zero; names what a particle ran into.
        """
        if not isinstance(translator, TraceTranslator):
            raise ValueTypeError(
                f"{translator!r} is no trace translator", fix="write extending_translator(args, observations)"
            )
        rng = as_rng(rng)
        kept, traces, log_weights = [], [], []
        reason = None
        for i, trace in enumerate(self.traces):
            new, log_weight, info = translator(trace, rng=rng)
            if new is None:
                reason = info.reason
            else:
                kept.append(i)
                traces.append(new)
                log_weights.append(self.log_weights[i] + log_weight)
        check_alive(traces, self.size, reason)
        return self._with(traces, log_weights, kept)

    def reweight(self, log_factors: Any) -> Particles:
        """The same traces, each log weight with a term added; -inf takes a particle out."""
        log_weights = self.log_weights + np.asarray(log_factors, dtype=float)
        if np.isnan(log_weights).any() or (log_weights == np.inf).any():
            raise ValueTypeError("a log weight is NaN or infinite", fix="give finite log factors, or -inf")
        kept = np.flatnonzero(log_weights > -np.inf)
        check_alive(kept, self.size, None)
        return self._with([self.traces[i] for i in kept], log_weights[kept], kept)

    def _with(self, traces: Iterable[Any], log_weights: Any, kept: Any = None) -> Particles:
        families = self.families if kept is None else self.families[kept]
        return Particles(
            tuple(traces), log_weights, self.size, self.log_evidence_before, families, self.resamplings
        )

    def __len__(self) -> int:
        return self.size

    def __repr__(self) -> str:
        return f"<{self.size} particles, ess {self.ess:.1f}, log evidence {self.log_evidence:.6g}>"


class _At:
    """What is at an address of a trace."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __call__(self, trace: Trace) -> Any:
        return trace[self.path]


def check_alive(traces: Any, size: int, reason: str | None) -> None:
    """Raise unless a particle is left.

    Raises:
        ZeroProbabilityError: with the reason why one was lost.
    """
    if len(traces) == 0:
        raise ZeroProbabilityError(
            f"all {size} particles have weight zero" + (f": one is {reason}" if reason else ""),
            fix="use more particles or a better proposal; look for an impossible observation",
        )


def check_particle_count(particles: Any) -> int:
    """The number of particles, if it is one."""
    if isinstance(particles, bool) or not isinstance(particles, (int, np.integer)) or particles < 1:
        raise ValueTypeError(f"got particles={particles!r}", fix="give a whole number, 1 or more")
    return int(particles)


