"""The laws of the generative function interface, each as a function that asserts it on one program.

Each takes a program, its arguments and a generator, and compares what gendsl returns with scores that
the program's oracle computes from the choices alone.
"""

from __future__ import annotations

import copy
import math
import pickle
from typing import Any

import numpy as np
import pytest

from gendsl import ChoiceMap, choicemap, select
from gendsl.errors import MissingChoiceError, UnknownAddressError
from tests.programs import Program, score

Args = tuple[Any, ...]


def close(a: float, b: float) -> bool:
    """Whether two log probabilities agree."""
    return a == b or math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9)


def same(a: Any, b: Any) -> bool:
    """Whether two return values are equal, arrays included."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return type(a) is type(b) and np.array_equal(a, b)
    if isinstance(a, (list, tuple)):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    return bool(a == b)


def subset(choices: ChoiceMap, rng: np.random.Generator, share: float = 0.5) -> ChoiceMap:
    """Some of the choices, at random."""
    return choicemap({path: value for path, value in choices.items() if rng.random() < share})


def check_trace(program: Program, args: Args, trace: Any) -> dict[Any, float]:
    """A trace's log probability, return value and order of choices are the oracle's. Its scores."""
    found = score(program, args, trace.choices)
    assert list(trace.choices) == list(found.scores)
    assert close(trace.log_prob, found.log_prob)
    assert same(trace.retval, found.retval)
    assert trace.args == args
    assert trace.gen_fn == program.model
    for path, value in trace.choices.items():
        assert path in trace
        assert same(trace[path], value)
    return found.scores


def total(scores: dict[Any, float], paths: Any) -> float:
    """The sum of the scores at some paths."""
    return sum(scores[path] for path in paths)


# --- the laws --------------------------------------------------------------------------------------


def simulate_law(program: Program, args: Args, rng: np.random.Generator) -> None:
    """log_prob is the sum of the densities of the choices; nothing is observed."""
    trace = program.model.simulate(args, rng=rng)
    check_trace(program, args, trace)
    assert len(trace.observed) == 0


def assess_law(program: Program, args: Args, rng: np.random.Generator) -> None:
    """assess scores a complete set of choices, and accepts no other."""
    trace = program.model.simulate(args, rng=rng)
    log_prob, retval = program.model.assess(args, trace.choices)
    assert close(log_prob, trace.log_prob)
    assert same(retval, trace.retval)
    assert close(program.model.assess(args, trace.choices.to_flat_dict()).log_prob, log_prob)
    assert close(program.model.assess(args, trace.choices.to_dict()).log_prob, log_prob)
    for last in list(trace.choices)[-1:]:
        with pytest.raises(MissingChoiceError) as missing:
            program.model.assess(args, trace.choices.without(select(last)))
        assert missing.value.address == last
    surplus = choicemap({**trace.choices.to_flat_dict(), ("nowhere", 1): 0.5})
    with pytest.raises(UnknownAddressError) as unknown:
        program.model.assess(args, surplus)
    assert unknown.value.address == ("nowhere", 1)


def propose_law(program: Program, args: Args, rng: np.random.Generator) -> None:
    """propose draws what simulate draws."""
    seed = int(rng.integers(1 << 30))
    trace = program.model.simulate(args, rng=seed)
    choices, log_prob, retval = program.model.propose(args, rng=seed)
    assert choices == trace.choices
    assert log_prob == trace.log_prob
    assert same(retval, trace.retval)


def generate_law(program: Program, args: Args, rng: np.random.Generator) -> None:
    """The weight is log p(t) / q(t; u), with q the density of what wasn't given."""
    given = subset(program.model.simulate(args, rng=rng).choices, rng)
    while True:
        seen = subset(given, rng)
        start = given.without(select(seen)) if len(seen) else given
        try:
            trace, weight = program.model.generate(args, seen, init=start, rng=int(rng.integers(1 << 30)))
            break
        except UnknownAddressError as error:  # drawn in another branch than this run takes
            assert error.address in given
            given = given.without(select(error.address))
    scores = check_trace(program, args, trace)
    assert trace.observed == seen
    assert all(same(trace[path], given[path]) for path in given)
    drawn = total(scores, (path for path in scores if path not in given))
    assert close(weight, trace.log_prob - drawn)
    assert close(weight, total(scores, given))


def update_law(program: Program, args: Args, rng: np.random.Generator) -> None:
    """The weight is log p(t') / (p(t) q(fresh)); discard leads back."""
    old = program.model.simulate(args, rng=rng)
    before = check_trace(program, args, old)
    new_args = program.args[int(rng.integers(len(program.args)))]
    given = subset(program.model.simulate(new_args, rng=rng).choices, rng, rng.choice([0.1, 0.5, 1.0]))
    while True:
        try:
            new, weight, discard = old.update(given, args=new_args, rng=int(rng.integers(1 << 30)))
            break
        except UnknownAddressError as error:
            assert error.address in given
            given = given.without(select(error.address))
    after = check_trace(program, new_args, new)
    fresh = [path for path in after if path not in given and path not in before]
    for path in after:
        if path not in fresh:
            assert same(new[path], given[path] if path in given else old[path])
    assert close(weight, new.log_prob - old.log_prob - total(after, fresh))
    expected = {p: old[p] for p in before if p in given or p not in after}
    assert list(discard) == list(expected)
    assert all(same(discard[path], value) for path, value in expected.items())
    back, weight_back, discard_back = new.update(discard, args=args, rng=1)
    assert back.choices == old.choices
    assert same(back.retval, old.retval)
    assert set(discard_back) == {path for path in after if path in given or path in fresh}
    if math.isfinite(weight):
        assert close(weight + weight_back, -total(after, fresh))


def update_nothing_law(program: Program, args: Args, rng: np.random.Generator) -> None:
    """An update with nothing new changes nothing and weighs nothing."""
    old = program.model.simulate(args, rng=rng)
    new, weight, discard = old.update(rng=rng)
    assert new.choices == old.choices
    assert same(new.retval, old.retval)
    assert abs(weight) < 1e-9
    assert len(discard) == 0
    with pytest.raises(UnknownAddressError) as unknown:
        old.update({("nowhere", 1): 0.5})
    assert unknown.value.address == ("nowhere", 1)


def update_args_law(program: Program, args: Args, rng: np.random.Generator) -> None:
    """With new arguments alone, every choice that is still made keeps its value."""
    old = program.model.simulate(args, rng=rng)
    before = check_trace(program, args, old)
    for new_args in program.args:
        new, weight, discard = old.update(args=new_args, rng=rng)
        after = check_trace(program, new_args, new)
        assert all(same(new[path], old[path]) for path in after if path in before)
        assert set(discard) == before.keys() - after.keys()
        fresh = after.keys() - before.keys()
        assert close(weight, new.log_prob - old.log_prob - total(after, fresh))


def regenerate_law(program: Program, args: Args, rng: np.random.Generator) -> None:
    """The weight is log p(t') q(t; kept) / (p(t) q(t'; kept)): the change in density of what was kept."""
    old = program.model.simulate(args, rng=rng)
    before = check_trace(program, args, old)
    new_args = program.args[int(rng.integers(len(program.args)))]
    selected = select(*subset(old.choices, rng))
    new, weight = old.regenerate(selected, args=new_args, rng=rng)
    after = check_trace(program, new_args, new)
    kept = [path for path in before if path in after and path not in selected]
    assert all(same(new[path], old[path]) for path in kept)
    drawn = total(after, after.keys() - set(kept))
    redrawn = total(before, before.keys() - set(kept))
    assert close(weight, (new.log_prob - drawn) - (old.log_prob - redrawn))
    for path in before:
        if path in after and path in selected and isinstance(old[path], float):
            assert new[path] != old[path]


def project_law(program: Program, args: Args, rng: np.random.Generator) -> None:
    """project sums the scores of the selected choices, and is additive."""
    trace = program.model.simulate(args, rng=rng)
    scores = check_trace(program, args, trace)
    selected = select(*subset(trace.choices, rng))
    part = trace.project(selected)
    assert close(part, total(scores, (path for path in scores if path in selected)))
    assert close(part + trace.project(~selected), trace.log_prob)
    assert trace.project(select()) == 0.0
    assert close(trace.project(select.all), trace.log_prob)


def round_trip_law(program: Program, args: Args, rng: np.random.Generator) -> None:
    """A trace's own choices make it again, as observations, as starting values or as an update."""
    trace = program.model.simulate(args, rng=rng)
    for again, weight in (
        program.model.generate(args, trace.choices),
        program.model.generate(args, init=trace.choices.to_flat_dict()),
        program.model.generate(args, trace.choices.to_dict()),
    ):
        assert again.choices == trace.choices
        assert list(again.choices) == list(trace.choices)
        assert same(again.retval, trace.retval)
        assert close(weight, trace.log_prob)
        assert close(again.log_prob, trace.log_prob)
    other = program.model.simulate(args, rng=rng)
    assert other.update(trace.choices).trace.choices == trace.choices


def persistence_law(program: Program, args: Args, rng: np.random.Generator) -> None:
    """No operation changes a trace that exists."""
    whole = program.model.simulate(args, rng=rng)
    seen = subset(whole.choices, rng, 0.2)
    old = program.model.generate(args, seen, init=whole.choices.without(select(*seen))).trace
    flat = old.choices.to_flat_dict()
    snapshot = copy.deepcopy((flat, old.retval, old.observed.to_flat_dict()))
    log_prob = old.log_prob
    children = []
    latent = choicemap({path: value for path, value in flat.items() if path not in seen})
    for new_args in program.args:
        children.append(old.update(args=new_args, rng=rng).trace)
        children.append(old.regenerate(select(*subset(latent, rng)), args=new_args, rng=rng).trace)
        if children[-1].log_prob > -math.inf:
            children[-1].update(args=args, rng=rng)
    children.append(old.update(subset(old.choices, rng), rng=rng).trace)
    old.project(select(*subset(old.choices, rng)))
    for child in children:
        assert set(child.observed) == {path for path in seen if path in child.choices}
    assert same(old.choices.to_flat_dict(), snapshot[0])
    assert list(old.choices) == list(snapshot[0])
    assert same(old.retval, snapshot[1])
    assert same(old.observed.to_flat_dict(), snapshot[2])
    assert old.log_prob == log_prob
    assert old.args == args
    check_trace(program, args, old)


def pickle_law(program: Program, args: Args, rng: np.random.Generator) -> None:
    """A pickled trace comes back whole, and works."""
    whole = program.model.simulate(args, rng=rng)
    seen = subset(whole.choices, rng)
    trace = program.model.generate(args, seen, init=whole.choices.without(select(*seen))).trace
    again = pickle.loads(pickle.dumps(trace))
    assert again.choices == trace.choices
    assert again.observed == trace.observed
    assert same(again.retval, trace.retval)
    assert again.log_prob == trace.log_prob
    assert again.args == args
    assert again.gen_fn.name == trace.gen_fn.name
    seed = int(rng.integers(1 << 30))
    selection = ~select(*seen) if len(seen) else select.all
    mine, theirs = (t.regenerate(selection, rng=seed) for t in (trace, again))
    assert mine.trace.choices == theirs.trace.choices
    assert mine.log_weight == theirs.log_weight


def gradients_law(program: Program, args: Args, rng: np.random.Generator) -> None:
    """gradients agree with finite differences of assess."""
    trace = program.model.simulate(args, rng=rng)
    flat = trace.choices.to_flat_dict()
    numbers = {path: value for path, value in flat.items() if isinstance(value, float)}
    if not numbers:
        return
    gradients = trace.gradients(select(*numbers))
    assert set(gradients) == set(numbers)
    some = rng.permutation(len(numbers))[:8]
    for path, value in [item for i, item in enumerate(numbers.items()) if i in some]:
        slopes = [_slope(program, args, flat, path, value, step) for step in (1e-4, 1e-6, 1e-8)]
        noise = 1e-12 * (1 + abs(trace.log_prob)) / 1e-6 / max(abs(value), 1e-3)
        assert any(
            slope is None or math.isclose(gradients[path], slope, rel_tol=1e-4, abs_tol=1e-4 + noise)
            for slope in slopes
        ), (path, gradients[path], slopes)


def _slope(
    program: Program, args: Args, flat: dict[Any, Any], path: Any, value: float, step: float
) -> float | None:
    """The slope of log_prob in a choice by central differences; None where another branch begins near."""
    step *= max(abs(value), 1e-3)
    ends = []
    for x in (value - step, value + step):
        try:
            ends.append(program.model.assess(args, {**flat, path: x}).log_prob)
        except (MissingChoiceError, UnknownAddressError):
            return None
    return (ends[1] - ends[0]) / (2 * step)


LAWS = (
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
    pickle_law,
    gradients_law,
)
