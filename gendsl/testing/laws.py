"""The laws of the generative function interface, each as a function that asserts it at one trace.

A law takes a subject (the program, arguments to run it on, and what scores its choices), a trace of the
program and a generator, and compares what the program's operations return with the equations of
`gendsl.interface`, computed from the scores of the single choices.
"""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gendsl.address import Path, format_address
from gendsl.choices import ChoiceMap, choicemap
from gendsl.choices.values import same_value
from gendsl.errors import GenDSLError, ImproperError, MissingChoiceError, UnknownAddressError
from gendsl.interface import GenerativeFunction, Trace
from gendsl.runtime.records import is_factor
from gendsl.runtime.trace import ReferenceTrace
from gendsl.selection import Selection, select

Args = tuple[Any, ...]
NOWHERE = ("no such address", 1)


class Scored(NamedTuple):
    """The log density of each choice of a complete set, in program order, and the return value."""

    scores: dict[Path, float]
    retval: Any

    @property
    def log_prob(self) -> float:
        """The sum of the scores."""
        return sum(self.scores.values())


Oracle = Callable[[Args, ChoiceMap], tuple[Mapping[Any, float], Any]]
"""A second definition of a program: (args, choices) -> (log density by address in program order, value)."""


def alone(model: GenerativeFunction, args: Args, choices: ChoiceMap) -> Scored:
    """The scores of single choices as a new trace of the program has them.

    A `@gen` function is run by the reference runtime, which executes all of the body, and scored by the
    distributions themselves.
    """
    fresh = getattr(model, "reference", model).generate(args, choices).trace
    records = getattr(fresh, "records", None)
    if records is not None:
        scores = {path: float(d.logpdf(value)) for path, (d, value, _) in records.items()}
    else:
        scores = {path: fresh.project(select(path)) for path in fresh.choices}
    return Scored(scores, fresh.retval)


@dataclass(frozen=True)
class Subject:
    """A program under test.

    Attributes:
        model: the program.
        args: tuples of arguments that it can be run on.
        oracle: a second definition of it; without one its choices are scored one by one (see `alone`).
    """

    model: GenerativeFunction
    args: tuple[Args, ...]
    oracle: Oracle | None = None

    def score(self, args: Args, choices: ChoiceMap) -> Scored:
        """The scores of a complete set of choices."""
        if self.oracle is None:
            return alone(self.model, args, choices)
        scores, retval = self.oracle(args, choices)
        flat = {path if isinstance(path, tuple) else (path,): float(x) for path, x in scores.items()}
        return Scored(flat, retval)


# --- comparing -------------------------------------------------------------------------------------


def close(a: float, b: float) -> bool:
    """Whether two log probabilities agree, to 1e-9."""
    return a == b or math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9)


def same(a: Any, b: Any) -> bool:
    """Whether two values are equal, and of the same type where they are arrays, lists or tuples."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return type(a) is type(b) and np.array_equal(a, b)
    if isinstance(a, (list, tuple)):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    return same_value(a, b)


def total(scores: Mapping[Path, float], paths: Iterable[Path]) -> float:
    """The sum of the scores at some paths."""
    return sum(scores[path] for path in paths)


def _check(holds: bool, law: str) -> None:
    if not holds:
        raise AssertionError(law)


def _check_weight(found: float, expected: float, equation: str) -> None:
    _check(close(found, expected), f"{equation}: got {found!r}, and it is {expected!r}")


def _check_same(found: Any, expected: Any, what: str) -> None:
    _check(same(found, expected), f"{what}: got {found!r}, expected {expected!r}")


def _check_kept(trace: Trace, expected: Mapping[Path, Any], what: str) -> None:
    for path, value in expected.items():
        _check_same(trace[path], value, f"{format_address(path)}, {what}")


@contextmanager
def _refuses(kind: type[GenDSLError], path: Path, what: str) -> Iterator[None]:
    """Assert that an operation raises an error of this class about an address."""
    try:
        yield
    except kind as error:
        _check(error.address == path, f"{what}: the error names {error.address!r}, not {path!r}")
    else:
        raise AssertionError(f"{what} should raise {kind.__name__}")


def subset(choices: ChoiceMap, rng: np.random.Generator, share: float = 0.5) -> ChoiceMap:
    """Some of the choices, at random."""
    return choicemap({path: value for path, value in choices.items() if rng.random() < share})


def _latent(trace: Trace) -> ChoiceMap:
    seen = trace.observed
    return choicemap({path: value for path, value in trace.choices.items() if path not in seen})


def _without(choices: ChoiceMap, paths: Iterable[Path]) -> ChoiceMap:
    gone = set(paths)
    return choicemap({path: value for path, value in choices.items() if path not in gone})


def check_trace(subject: Any, args: Args, trace: Trace) -> dict[Path, float]:
    """A trace is that of its choices: log probability, return value, order. The scores of its choices."""
    found: Scored = subject.score(args, trace.choices)
    _check_same(list(trace.choices), list(found.scores), "the order of choices")
    _check_weight(trace.log_prob, found.log_prob, "log_prob is the sum of the choices' log densities")
    _check_same(trace.retval, found.retval, "the return value")
    _check_same(trace.args, args, "the arguments")
    _check(trace.gen_fn == subject.model, f"gen_fn is {trace.gen_fn!r}, not {subject.model!r}")
    for path, value in trace.choices.items():
        _check(path in trace, f"{format_address(path)} is a choice, but not in the trace")
        _check_same(trace[path], value, f"trace[{format_address(path)}] is its choice")
    return found.scores


def _factors(trace: Trace) -> set[Path]:
    """Where the factors of a trace are, which nothing draws."""
    records = trace.records if isinstance(trace, ReferenceTrace) else {}
    return {path for path, record in records.items() if is_factor(record)}


# --- the laws --------------------------------------------------------------------------------------


def simulate_law(subject: Any, trace: Any, rng: np.random.Generator) -> None:
    """log_prob is the sum of the densities of the choices; nothing is observed."""
    check_trace(subject, trace.args, trace)
    drawn = subject.model.simulate(trace.args, rng=rng)
    check_trace(subject, trace.args, drawn)
    _check(len(drawn.observed) == 0, "simulate observes nothing")


def assess_law(subject: Any, trace: Any, rng: np.random.Generator) -> None:
    """assess scores a complete set of choices, and accepts no other."""
    model, args = subject.model, trace.args
    log_prob, retval = model.assess(args, trace.choices)
    _check_weight(log_prob, trace.log_prob, "assess gives log p(t; x)")
    _check_same(retval, trace.retval, "assess gives the return value")
    for choices in (trace.choices.to_flat_dict(), trace.choices.to_dict()):
        _check_weight(model.assess(args, choices).log_prob, log_prob, "assess takes dicts, too")
    for last in [path for path in trace.choices if path not in _factors(trace)][-1:]:
        with _refuses(MissingChoiceError, last, "assess without a choice"):
            model.assess(args, _without(trace.choices, [last]))
    with _refuses(UnknownAddressError, NOWHERE, "assess with a surplus choice"):
        model.assess(args, choicemap({**trace.choices.to_flat_dict(), NOWHERE: 0.5}))


def propose_law(subject: Any, trace: Any, rng: np.random.Generator) -> None:
    """propose draws what simulate draws."""
    seed = int(rng.integers(1 << 30))
    drawn = subject.model.simulate(trace.args, rng=seed)
    factors = _factors(drawn)
    if factors:
        first = next(path for path in drawn.choices if path in factors)
        with _refuses(ImproperError, first, "propose of a program with a factor"):
            subject.model.propose(trace.args, rng=seed)
        return
    choices, log_prob, retval = subject.model.propose(trace.args, rng=seed)
    _check(choices == drawn.choices, "propose and simulate draw the same choices from one seed")
    _check_weight(log_prob, drawn.log_prob, "propose gives log p(t; x)")
    _check_same(retval, drawn.retval, "propose gives the return value")


def generate_law(subject: Any, trace: Any, rng: np.random.Generator) -> None:
    """The weight is log p(t; x) / q(t; u, x), with q the density of what wasn't given."""
    given = subset(trace.choices, rng)
    while True:
        seen = subset(given, rng)
        start = _without(given, seen)
        try:
            seed = int(rng.integers(1 << 30))
            made, weight = subject.model.generate(trace.args, seen, init=start, rng=seed)
            break
        except UnknownAddressError as error:  # drawn in another branch than this run takes
            _check(error.address in given, f"generate misses {error.address!r}, which was not given")
            given = _without(given, [error.address])  # type: ignore[list-item]
    scores = check_trace(subject, trace.args, made)
    _check_same(made.observed.to_flat_dict(), seen.to_flat_dict(), "the observations")
    _check_kept(made, given.to_flat_dict(), "which was given to generate")
    drawn = [path for path in scores if path not in given and path not in _factors(made)]
    expected = made.log_prob - total(scores, drawn)
    _check_weight(weight, expected, "generate: the weight is log p(t; x) / q(t; u, x)")
    rest = scores.keys() - set(drawn)
    _check_weight(weight, total(scores, rest), "generate: the weight is the log density of what is given")


def update_law(subject: Any, trace: Any, rng: np.random.Generator) -> None:
    """The weight is log p(t'; x') / (p(t; x) q(fresh)); discard leads back."""
    args, old = trace.args, trace
    before = check_trace(subject, args, old)
    new_args = subject.args[int(rng.integers(len(subject.args)))]
    given = subset(subject.model.simulate(new_args, rng=rng).choices, rng, rng.choice([0.1, 0.5, 1.0]))
    while True:
        try:
            new, weight, discard = old.update(given, args=new_args, rng=int(rng.integers(1 << 30)))
            break
        except UnknownAddressError as error:
            _check(error.address in given, f"update misses {error.address!r}, which was not given")
            given = _without(given, [error.address])  # type: ignore[list-item]
    after = check_trace(subject, new_args, new)
    fresh = [path for path in after if path not in given and path not in before]
    kept = {p: given[p] if p in given else old[p] for p in after if p not in fresh}
    _check_kept(new, kept, "after an update")
    drawn = [path for path in fresh if path not in _factors(new)]
    _check_weight(
        weight, new.log_prob - old.log_prob - total(after, drawn),
        "update: the weight is log p(t'; x') / (p(t; x) q(fresh))",
    )  # fmt: skip
    expected = {p: old[p] for p in before if p in given or p not in after}
    _check_same(list(discard), list(expected), "the addresses of discard")
    _check_same(discard.to_flat_dict(), expected, "discard")
    back, weight_back, discard_back = new.update(discard, args=args, rng=1)
    _check(back.choices == old.choices, "updating with the discarded choices leads back")
    _check_same(back.retval, old.retval, "the return value after an update and back")
    changed = {path for path in after if path in given or path in fresh}
    _check(set(discard_back) == changed, "the way back discards what was given or fresh")
    if math.isfinite(weight):
        _check_weight(weight + weight_back, -total(after, drawn), "update: the weights there and back cancel")


def update_nothing_law(subject: Any, trace: Any, rng: np.random.Generator) -> None:
    """An update with nothing new changes nothing and weighs nothing."""
    new, weight, discard = trace.update(rng=rng)
    _check(new.choices == trace.choices, "an update with nothing new keeps the choices")
    _check_same(new.retval, trace.retval, "the return value after an update with nothing new")
    _check_weight(weight, 0.0, "update: nothing new weighs nothing")
    _check(len(discard) == 0, "an update with nothing new discards nothing")
    with _refuses(UnknownAddressError, NOWHERE, "an update of a choice that isn't made"):
        trace.update({NOWHERE: 0.5})


def update_args_law(subject: Any, trace: Any, rng: np.random.Generator) -> None:
    """With new arguments alone, every choice that is still made keeps its value."""
    before = check_trace(subject, trace.args, trace)
    for new_args in subject.args:
        new, weight, discard = trace.update(args=new_args, rng=rng)
        after = check_trace(subject, new_args, new)
        _check_kept(new, {path: trace[path] for path in after if path in before}, "with new arguments")
        _check(set(discard) == before.keys() - after.keys(), "new arguments discard what is gone")
        fresh = after.keys() - before.keys() - _factors(new)
        _check_weight(
            weight, new.log_prob - trace.log_prob - total(after, fresh),
            "update: the weight is log p(t'; x') / (p(t; x) q(fresh))",
        )  # fmt: skip


def regenerate_law(subject: Any, trace: Any, rng: np.random.Generator) -> None:
    """The weight is log p(t') q(t; kept) / (p(t) q(t'; kept)): the change in density of what was kept."""
    before = check_trace(subject, trace.args, trace)
    new_args = subject.args[int(rng.integers(len(subject.args)))]
    selected = select(*subset(_latent(trace), rng))
    new, weight = trace.regenerate(selected, args=new_args, rng=rng)
    after = check_trace(subject, new_args, new)
    kept = [path for path in before if path in after and path not in selected]
    _check_kept(new, {path: trace[path] for path in kept}, "which was not selected")
    drawn = total(after, after.keys() - set(kept) - _factors(new))
    redrawn = total(before, before.keys() - set(kept) - _factors(trace))
    _check_weight(
        weight, (new.log_prob - drawn) - (trace.log_prob - redrawn),
        "regenerate: the weight is log p(t') q(t; kept) / (p(t) q(t'; kept))",
    )  # fmt: skip
    for path in before:
        if path in after and path in selected and isinstance(trace[path], float):
            more = 20 if new[path] == trace[path] else 0  # a discrete choice may come out as it was
            again = [new, *(trace.regenerate(selected, rng=rng).trace for _ in range(more))]
            moved = any(path not in t or t[path] != trace[path] for t in again)
            _check(moved, f"{format_address(path)} was selected, and kept its value")


def project_law(subject: Any, trace: Any, rng: np.random.Generator) -> None:
    """project sums the scores of the selected choices, and is additive."""
    scores = check_trace(subject, trace.args, trace)
    selected = select(*subset(trace.choices, rng))
    part = trace.project(selected)
    expected = total(scores, (path for path in scores if path in selected))
    _check_weight(part, expected, "project sums the log densities of what is selected")
    _check_weight(part + trace.project(~selected), trace.log_prob, "project is additive")
    _check(trace.project(select()) == 0.0, "the projection on nothing is 0")
    _check_weight(trace.project(Selection.all()), trace.log_prob, "the projection on everything is log_prob")


def round_trip_law(subject: Any, trace: Any, rng: np.random.Generator) -> None:
    """A trace's own choices make it again, as observations, as starting values or as an update."""
    model, args = subject.model, trace.args
    for again, weight in (
        model.generate(args, trace.choices),
        model.generate(args, init=trace.choices.to_flat_dict()),
        model.generate(args, trace.choices.to_dict()),
    ):
        _check(again.choices == trace.choices, "generate with all choices makes the same choices")
        _check_same(list(again.choices), list(trace.choices), "the order of choices")
        _check_same(again.retval, trace.retval, "the return value")
        _check_weight(weight, trace.log_prob, "generate with all choices weighs log p(t; x)")
        _check_weight(again.log_prob, trace.log_prob, "log_prob of a trace that was made again")
    other = model.simulate(args, rng=rng)
    updated = other.update(trace.choices).trace.choices
    _check(updated == trace.choices, "an update with all choices makes the same choices")


def _with_data(subject: Any, trace: Any, rng: np.random.Generator, share: float) -> tuple[Any, ChoiceMap]:
    """The trace with some of its choices observed."""
    seen = subset(trace.choices, rng, share)
    made = subject.model.generate(trace.args, seen, init=_without(trace.choices, seen)).trace
    return made, seen


def persistence_law(subject: Any, trace: Any, rng: np.random.Generator) -> None:
    """No operation changes a trace that exists."""
    old, seen = _with_data(subject, trace, rng, 0.2)
    args, flat, log_prob = trace.args, old.choices.to_flat_dict(), old.log_prob
    snapshot = copy.deepcopy((flat, old.retval, old.observed.to_flat_dict()))
    children = []
    latent = _latent(old)
    for new_args in subject.args:
        children.append(old.update(args=new_args, rng=rng).trace)
        children.append(old.regenerate(select(*subset(latent, rng)), args=new_args, rng=rng).trace)
        if children[-1].log_prob > -math.inf:
            children[-1].update(args=args, rng=rng)
    children.append(old.update(subset(old.choices, rng), rng=rng).trace)
    old.project(select(*subset(old.choices, rng)))
    for child in children:
        kept = {path for path in seen if path in child.choices}
        _check(set(child.observed) == kept, "an observation stays one")
    _check_same(old.choices.to_flat_dict(), snapshot[0], "the choices of an old trace")
    _check_same(list(old.choices), list(snapshot[0]), "the order of an old trace's choices")
    _check_same(old.retval, snapshot[1], "the return value of an old trace")
    _check_same(old.observed.to_flat_dict(), snapshot[2], "the observations of an old trace")
    _check(old.log_prob == log_prob, "an old trace's log_prob has changed")
    check_trace(subject, args, old)


def pickle_law(subject: Any, trace: Any, rng: np.random.Generator) -> None:
    """A pickled trace comes back whole, and works."""
    made, seen = _with_data(subject, trace, rng, 0.5)
    again = pickle.loads(pickle.dumps(made))
    for part in ("choices", "observed", "log_prob"):
        found, expected = getattr(again, part), getattr(made, part)
        _check(found == expected, f"a pickled trace's {part}: got {found!r}, expected {expected!r}")
    _check_same(again.retval, made.retval, "a pickled trace's return value")
    _check_same(again.args, made.args, "a pickled trace's arguments")
    _check_same(again.gen_fn.name, made.gen_fn.name, "a pickled trace's program")
    seed = int(rng.integers(1 << 30))
    selection = ~select(*seen) if len(seen) else Selection.all()
    mine, theirs = (t.regenerate(selection, rng=seed) for t in (made, again))
    _check(mine.trace.choices == theirs.trace.choices, "a pickled trace regenerates the same choices")
    _check(mine.log_weight == theirs.log_weight, "a pickled trace regenerates with the same weight")


def gradients_law(subject: Any, trace: Any, rng: np.random.Generator) -> None:
    """gradients agree with finite differences of assess."""
    flat = trace.choices.to_flat_dict()
    numbers = {path: value for path, value in flat.items() if isinstance(value, float)}
    if not numbers or not math.isfinite(trace.log_prob):
        return
    gradients = trace.gradients(select(*numbers))
    _check(set(gradients) == set(numbers), "gradients are of what was selected")
    some = rng.permutation(len(numbers))[:8]
    for path, value in [item for i, item in enumerate(numbers.items()) if i in some]:
        slopes = [_slope(subject, trace.args, flat, path, value, step) for step in (1e-4, 1e-6, 1e-8)]
        noise = 1e-12 * (1 + abs(trace.log_prob)) / 1e-6 / max(abs(value), 1e-3)
        found = gradients[path]
        agree = any(
            slope is None or math.isclose(found, slope, rel_tol=1e-4, abs_tol=1e-4 + noise)
            for slope in slopes
        )
        what = f"the gradient at {format_address(path)} is {found!r}, finite differences give {slopes!r}"
        _check(agree, what)


def _slope(
    subject: Any, args: Args, flat: dict[Path, Any], path: Path, value: float, step: float
) -> float | None:
    """The slope of log_prob in a choice by central differences; None where another branch begins near."""
    step *= max(abs(value), 1e-3)
    ends = []
    for x in (value - step, value + step):
        try:
            ends.append(subject.model.assess(args, {**flat, path: x}).log_prob)
        except (MissingChoiceError, UnknownAddressError):
            return None
    return float((ends[1] - ends[0]) / (2 * step)) if all(map(math.isfinite, ends)) else None


WEIGHT_LAWS = (
    simulate_law,
    assess_law,
    propose_law,
    generate_law,
    update_law,
    update_nothing_law,
    update_args_law,
    regenerate_law,
    project_law,
    round_trip_law,
    persistence_law,
)

LAWS = (*WEIGHT_LAWS, pickle_law, gradients_law)
