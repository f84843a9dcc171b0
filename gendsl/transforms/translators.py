"""Trace translators: traces of one program turned into traces of another, with importance weights.

A translator takes a trace t of a program p (with arguments and observations) to a trace t' of p'. If t is
properly weighted for p, then t' with the weight multiplied is for p': E[w g(t')] is unchanged but for the
ratio of the evidences. Backwards, a translator and its inverse have log weights that sum to 0.

(Cusumano-Towner et al., "Automating Involutive MCMC", the discussion; Cusumano-Towner et al. 2018,
"Incremental inference for probabilistic programs"; Del Moral et al. 2006, "Sequential Monte Carlo samplers".)
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any, NamedTuple

import numpy as np

from gendsl.choices import Constraints, choicemap
from gendsl.errors import (
    KernelError,
    MoveNaNError,
)
from gendsl.interface import Choices, Rng, as_rng
from gendsl.runtime.generative import GenFunction, gen
from gendsl.runtime.impossible import ZeroProbability
from gendsl.runtime.trace import (
    ReferenceTrace,
    check_args,
    check_start,
)
from gendsl.transforms.apply import Image, Target, check_move, image, image_elsewhere
from gendsl.transforms.checks import check_round_trip
from gendsl.transforms.language import Transform, TransformPair
from gendsl.transforms.told_apart import check_told_apart

_ALL = 16  # translations by a translator are looked at, and then of every doubling one


@dataclass(frozen=True, slots=True)
class TranslationInfo:
    """What the weight of a translated trace is made of.

    Attributes:
        log_model_ratio: log p'(t') - log p(t), less the log density of choices drawn from the prior.
        log_aux_ratio: the backward log density minus the forward one.
        log_abs_det: log |det J|.
        reason: why the weight is 0, or None.
        aux: the trace of the auxiliary choices that lead back, or None.
    """

    log_model_ratio: float = 0.0
    log_aux_ratio: float = 0.0
    log_abs_det: float = 0.0
    reason: str | None = None
    aux: ReferenceTrace | None = None


class Translated(NamedTuple):
    """A translated trace with its log weight; no trace (None) where the weight is 0."""

    trace: ReferenceTrace | None
    log_weight: float
    info: TranslationInfo


class TraceTranslator:
    """What turns a trace into a trace of another program, or of the same with more data.

    Called as `translator(trace, rng=...)` it gives a `Translated`.
    """

    name: str

    def __call__(self, trace: Any, *, aux: Choices | None = None, rng: Rng = None) -> Translated:
        """The translated trace, and its log weight.

        Args:
            trace: a trace of positive density.
            aux: the auxiliary choices, where they are not to be drawn: with those of another translation's
                `info.aux.choices` an inverse leads back to where that started.
            rng: seed or generator.

        Raises:
            ZeroProbabilityError: `trace` has density 0 or infinity.
            TransformError: the transform is wrong at this point; the subclass says how.
        """
        if not isinstance(trace, ReferenceTrace):
            raise KernelError(
                f"translator {self.name} was called with {trace!r}, which is no trace",
                fix="start from model.generate(args, observations).trace",
            )
        check_start(trace)
        try:
            translated = self._translate(trace, aux, as_rng(rng))
        except ZeroProbability as signal:
            reason = signal.reason
            return Translated(None, -inf, TranslationInfo(-inf, reason=reason))
        weight = translated.log_weight
        if weight != weight or weight == inf:
            info = translated.info
            raise MoveNaNError(
                f"the log weight of translator {self.name} is {weight}: model {info.log_model_ratio}, "
                f"auxiliary {info.log_aux_ratio}, Jacobian {info.log_abs_det}",
                fix="a density is infinite: look for a choice on the boundary of its support",
            )
        return translated

    def _translate(
        self, trace: ReferenceTrace, aux_choices: Choices | None, rng: np.random.Generator
    ) -> Translated:
        raise TypeError(f"{type(self).__name__} must define _translate")

    def inverse(self, trace: Any) -> TraceTranslator:
        """The translator back to the program, arguments and observations of `trace`.

        Run on a translated trace, with the auxiliary choices that lead back, it has minus the log weight.

        Raises:
            KernelError: the translator has no inverse: its transform is no `pair`.
        """
        raise KernelError(f"translator {self.name} has no inverse", fix="only one made of a pair has")

    def __repr__(self) -> str:
        return f"<translator {self.name}>"


# --- to another model ------------------------------------------------------------------------------


@gen
def _nothing(*args: Any) -> None:
    """An auxiliary program without choices."""


def _auxiliary(
    name: str,
    q: GenFunction | None,
    args: tuple[Any, ...],
    choices: Choices | None,
    rng: np.random.Generator,
) -> ReferenceTrace | None:
    """The auxiliary trace: drawn, or that of given choices."""
    if choices is None:
        return None if q is None else q.simulate_once(args, rng)
    if q is None:
        raise KernelError(f"translator {name} has no auxiliary program", fix="leave `aux` out")
    given = Constraints(choicemap(choices))
    aux = q.score_once(args, given)
    given.check_used(aux.records, "aux")
    return aux


def _weighted(there: Image, aux: ReferenceTrace | None) -> Translated:
    """new - old + backward - forward + log |det J|."""
    log_aux = 0.0
    if aux is not None and there.aux is not None:
        log_aux = there.aux.log_prob - aux.log_prob
    info = TranslationInfo(there.log_weight, log_aux, there.log_abs_det, aux=there.aux)
    return Translated(there.trace, there.log_weight + log_aux + there.log_abs_det, info)


class _General(TraceTranslator):
    def __init__(
        self,
        f: Transform | TransformPair,
        target: Target,
        forward: GenFunction | None,
        forward_args: tuple[Any, ...],
        backward: GenFunction | None,
        backward_args: tuple[Any, ...],
        check: bool,
    ) -> None:
        if forward is not None or backward is not None:
            forward, backward = forward or _nothing, backward or _nothing
        check_move(forward, forward_args, f)
        check_move(backward, backward_args, f)
        if check:
            _check_has_inverse(f)
        self.f = f
        self.target = target
        self.forward, self.forward_args = forward, forward_args
        self.backward, self.backward_args = backward, backward_args
        self.check = check
        self.done = 0  # translations
        self.name = f.forward.name if isinstance(f, TransformPair) else f.name

    def _translate(
        self, trace: ReferenceTrace, aux_choices: Choices | None, rng: np.random.Generator
    ) -> Translated:
        aux = _auxiliary(self.name, self.forward, (trace, *self.forward_args), aux_choices, rng)
        f = self.f.forward if isinstance(self.f, TransformPair) else self.f
        there = image_elsewhere(
            f, trace, aux, self.forward_args, self.target, self.backward, self.backward_args
        )
        if self.check and isinstance(self.f, TransformPair):
            check_round_trip(
                f, self.f.backward, trace, aux, self.backward_args, there, elsewhere=True
            )
        else:
            self._tell_apart(f, trace, aux, there)
        return _weighted(there, aux)

    def _tell_apart(
        self, f: Transform, trace: ReferenceTrace, aux: ReferenceTrace | None, there: Image
    ) -> None:
        """Look at some discrete choices of the first translations, and of fewer and fewer later on."""
        self.done += 1
        if self.done <= _ALL or self.done & (self.done - 1) == 0:
            check_told_apart(
                f, trace, aux, self.forward, self.forward_args, self.target, there, self.done
            )

    def inverse(self, trace: Any) -> TraceTranslator:
        _check_has_inverse(self.f)
        assert isinstance(self.f, TransformPair)
        target = Target(trace.gen_fn, trace.args, trace.observed)
        return _General(
            self.f.inverse, target, self.backward, self.backward_args, self.forward, self.forward_args,
            self.check,
        )  # fmt: skip


def _check_has_inverse(f: Any) -> None:
    if not isinstance(f, TransformPair):
        raise KernelError(
            f"transform {f.name} leads to another model, and its inverse is not known",
            fix=f"write a transform that goes back, and give pair({f.name}, back)",
        )


def _target(model: Any, args: Any, observations: Choices | None) -> Target:
    if not isinstance(model, GenFunction):
        raise KernelError(f"a translator leads to {model!r}, which is no model", fix="decorate it with @gen")
    return Target(model, check_args(args, model.name), choicemap(observations))


def general_translator(
    f: Transform | TransformPair,
    model: GenFunction,
    args: tuple[Any, ...] = (),
    observations: Choices | None = None,
    *,
    forward: GenFunction | None = None,
    forward_args: tuple[Any, ...] = (),
    backward: GenFunction | None = None,
    backward_args: tuple[Any, ...] = (),
    check: bool = False,
) -> TraceTranslator:
    """A translator to another model, with auxiliary choices on both sides.

    From a trace t of p it draws u ~ q(.; t), maps (t', u') = f(t, u), and weighs t' by

        p'(t') q'(u'; t') / (p(t) q(u; t)) |det J_f(t, u)|.

    The transform sees both old traces and writes both new ones: `f(model_in, aux_in, *, model_out, aux_out)`.
    Nothing is copied implicitly: every latent choice of the new trace must be written or copied, whatever
    the old one has at that address, and every latent choice of the old one must be used, a discrete one at
    least be read. So a choice that happens to have the same address in both models is never taken over by
    accident, and none is lost. Of the first translations, and of fewer and fewer later on, it is also found
    if a discrete choice that is read makes no difference to the output.

    Args:
        f: the transform; or the pair of it and its inverse, which can be checked and inverted.
        model, args, observations: what the new traces are traces of. The observations hold there; those of
            the old trace can be read, as constants.
        forward, forward_args: the program q of u, called as `forward(trace, *forward_args)`; None for no u.
        backward, backward_args: the program q' of u', called as `backward(new_trace, *backward_args)`. Its
            choices say how to get back; it is only scored.
        check: make the round trip by the inverse at every step, and raise where it fails. Where the new trace
            is out of the support the weight is 0, and no round trip is made.

    Raises:
        KernelError: these are no parts of a translator, or `check` is asked for without an inverse.

    The translator raises CoverageError where the output doesn't tell the value of a choice.
    """
    target = _target(model, args, observations)
    return _General(f, target, forward, forward_args, backward, backward_args, check)


def deterministic_translator(
    f: Transform | TransformPair,
    model: GenFunction,
    args: tuple[Any, ...] = (),
    observations: Choices | None = None,
    *,
    check: bool = False,
) -> TraceTranslator:
    """A translator to another model by a bijection f between latent choices: `f(model_in, *, model_out)`.

    The weight of t' = f(t) is p'(t') / p(t) |det J_f(t)|; see `general_translator`.
    """
    return _General(f, _target(model, args, observations), None, (), None, (), check)


# --- to the same model -----------------------------------------------------------------------------


class _Symmetric(TraceTranslator):
    def __init__(
        self, q: GenFunction | None, f: Transform | TransformPair, q_args: tuple[Any, ...], check: bool
    ) -> None:
        check_move(q, q_args, f)
        self.q, self.f, self.q_args, self.check = q, f, q_args, check
        self.name = f.forward.name if isinstance(f, TransformPair) else f.name

    def _translate(
        self, trace: ReferenceTrace, aux_choices: Choices | None, rng: np.random.Generator
    ) -> Translated:
        aux = _auxiliary(self.name, self.q, (trace, *self.q_args), aux_choices, rng)
        f = self.f.forward if isinstance(self.f, TransformPair) else self.f
        back = self.f.backward if isinstance(self.f, TransformPair) else self.f
        there = image(f, trace, self.q, self.q_args, aux)
        if self.check:
            check_round_trip(f, back, trace, aux, self.q_args, there)
        return _weighted(there, aux)

    def inverse(self, trace: Any) -> TraceTranslator:
        f = self.f.inverse if isinstance(self.f, TransformPair) else self.f
        return _Symmetric(self.q, f, self.q_args, self.check)


def symmetric_translator(
    q: GenFunction | None,
    f: Transform | TransformPair,
    q_args: tuple[Any, ...] = (),
    *,
    check: bool = False,
) -> TraceTranslator:
    """A translator to the same model, by one auxiliary program for both directions.

    The arguments and observations stay, and so does what f doesn't mention, as in an involutive move. The
    weight is the acceptance ratio of that move,

        p(t') q(u'; t') / (p(t) q(u; t)) |det J_f(t, u)|,

    and the translated trace is taken whatever it is.

    Args:
        q, q_args: the auxiliary program, called as `q(trace, *q_args)`; None for a transform of one trace.
        f: the transform: its own inverse, or the first of a pair.
        check: make the round trip at every step, and raise where it fails.
    """
    return _Symmetric(q, f, q_args, check)
