"""The law of agreement fails where a second runtime makes a mistake.

The second runtime is the reference with one mistake planted into the traces that it returns.
"""

import numpy as np
import pytest

from gendsl import ChoiceMap, choicemap
from gendsl.errors import UnknownAddressError
from tests.laws.agreement import reference_of
from tests.laws.edits import GENERATED_ARGS, Session, random_edits, vary_generated
from tests.laws.modules import imported
from tests.laws.source_text import random_source


class Flawed:
    """A program, or a trace of one, that passes everything on; what `edited` returns takes its place."""

    def __init__(self, inner, edited=None, **given):
        self._inner, self._edited = inner, edited
        self.__dict__.update(given)

    def __getattr__(self, name):
        return getattr(self._inner, name)

    def __getitem__(self, address):
        return self._inner[address]

    def __contains__(self, address):
        return address in self._inner

    def __reduce__(self):
        return type(self), (self._inner, self._edited)

    # a program

    @property
    def reference(self):
        return self._inner

    def simulate(self, args, *, rng):
        return type(self)(self._inner.simulate(args, rng=rng), self._edited)

    def generate(self, args, observations, *, init, rng=None):
        trace, weight = self._inner.generate(args, observations, init=init, rng=rng)
        return type(self)(trace, self._edited), weight

    # a trace

    def update(self, choices=None, *, args=None, rng=None):
        given = choicemap(choices)
        trace, weight, discard = self._inner.update(given, args=args, rng=rng)
        return self._edited(self._inner, given, type(self)(trace, self._edited), weight, discard)

    def regenerate(self, selection, *, args=None, rng=None):
        trace, weight = self._inner.regenerate(selection, args=args, rng=rng)
        given = choicemap({path: value for path, value in trace.choices.items() if path in selection})
        return self._edited(self._inner, given, type(self)(trace, self._edited), weight, choicemap({}))[:2]


def rescored(old, given, new):
    """The changes of score at choices that were kept, by path."""
    kept = [path for path in new.records if path in old.records and path not in given]
    return {path: new.records[path][2] - old.records[path][2] for path in kept}


def forget_a_dependent(old, given, new, weight, discard):
    """One choice whose distribution changed keeps its score."""
    changes = [change for change in rescored(old, given, new).values() if abs(change) > 1e-6]
    if changes and np.isfinite(changes[-1]):
        weight -= changes[-1]
        new.log_prob = new.log_prob - changes[-1]
    return new, weight, discard


def wrong_weight_only(old, given, new, weight, discard):
    """The weight leaves out the last dependent, the score doesn't."""
    changes = [change for change in rescored(old, given, new).values() if abs(change) > 1e-6]
    return new, weight - changes[-1] if changes else weight, discard


def weigh_what_was_drawn(old, given, new, weight, discard):
    """Fresh choices count towards the weight."""
    fresh = [r[2] for path, r in new.records.items() if path not in old.records and path not in given]
    return new, weight + sum(fresh), discard


def stale_retval(old, given, new, weight, discard):
    """What the body returns isn't evaluated again."""
    new.retval = old.retval
    return new, weight, discard


def forget_the_removed(old, given, new, weight, discard):
    """Choices that are no longer made aren't in the discard."""
    return new, weight, choicemap({p: v for p, v in discard.items() if p in new.records})


def new_choices_last(old, given, new, weight, discard):
    """Choices that the old trace doesn't have come last."""
    first = {p: v for p, v in new.choices.items() if p in old.records}
    new.choices = ChoiceMap._from_flat({**first, **new.choices.to_flat_dict()})
    return new, weight, discard


def keep_the_removed(old, given, new, weight, discard):
    """Choices that are no longer made are still found."""
    new.choices = ChoiceMap._from_flat({**new.choices.to_flat_dict(), **old.choices.to_flat_dict()})
    return new, weight, discard


def numpy_numbers(old, given, new, weight, discard):
    """Numbers come out of a column as NumPy's."""
    flat = {p: np.float64(v) if type(v) is float else v for p, v in new.choices.items()}
    new.choices = ChoiceMap._from_flat(flat)
    return new, weight, discard


def forget_observations(old, given, new, weight, discard):
    """The new trace has no observations."""
    new.observed = choicemap({})
    return new, weight, discard


def change_the_old_trace(old, given, new, weight, discard):
    """An entry of the old trace is overwritten."""
    for path, record in new.records.items():
        if path in old.records and old.records[path][1] is not record[1]:
            old.records[path] = record
            break
    return new, weight, discard


def draw_from_the_old_distribution(old, given, new, weight, discard):
    """A choice is drawn with the parameters that it had before the update."""
    shifted = {
        path: value + 40.0 for path, value in new.choices.items()
        if type(value) is float and (path not in old.records or path in given)
    }  # fmt: skip
    if not shifted or old.records.keys() == new.records.keys():
        return new, weight, discard
    return Flawed(new._inner.update(shifted).trace, new._edited), weight, discard


def accept_anything(old, given, new, weight, discard):
    """Handled in `Careless`: nothing is edited here."""
    return new, weight, discard


class Careless(Flawed):
    """A runtime that ignores addresses that no choice asks for."""

    def update(self, choices=None, *, args=None, rng=None):
        given = choicemap(choices).to_flat_dict()
        while True:
            try:
                return super().update(given, args=args, rng=rng)
            except UnknownAddressError as error:
                del given[error.address]


MISTAKES = [
    forget_a_dependent, wrong_weight_only, weigh_what_was_drawn, stale_retval, forget_the_removed,
    new_choices_last, keep_the_removed, numpy_numbers, forget_observations, change_the_old_trace,
    draw_from_the_old_distribution, accept_anything,
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.__name__)
def test_agreement_notices(mistake):
    failed = 0
    runtime = Careless if mistake is accept_anything else Flawed
    for seed in range(30):
        with imported(random_source(seed)) as module:
            model = runtime(reference_of(module.program), mistake)
            try:
                Session(model, GENERATED_ARGS, vary_generated).run(random_edits(seed, 16), seed)
            except AssertionError:
                failed += 1
    assert failed >= 2


@pytest.mark.slow
def test_without_a_mistake_it_holds():
    for seed in range(30):
        with imported(random_source(seed)) as module:
            model = Flawed(reference_of(module.program), accept_anything)
            Session(model, GENERATED_ARGS, vary_generated).run(random_edits(seed), seed)
