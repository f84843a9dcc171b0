"""The law that two runtimes agree: each edit is made on both, and what can be seen of a trace is compared.

The two may draw from a generator in different order, so choices that the first draws are given to the
second; a weight then differs by their score, which the second says.
"""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gendsl import choicemap, select
from gendsl.errors import GenDSLError

_OTHER_SEEDS = 500  # how often a failure that depends on what is drawn is looked for


def reference_of(model: Any) -> Any:
    """The same program on the reference runtime."""
    return getattr(model, "reference", model)


def close(a: float, b: float, *parts: float) -> bool:
    """Whether two numbers agree, to 1e-9 relative to 1 + their size, or that of what they are sums of."""
    size = max((abs(x) for x in (a, *parts) if math.isfinite(x)), default=0.0)
    return a == b or abs(a - b) <= 1e-9 * (1 + size) or (a != a and b != b)


def alike(a: Any, b: Any) -> bool:
    """Whether two values have the same type and agree."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        same_kind = a.dtype == b.dtype and a.shape == b.shape
        return same_kind and all(map(alike, a.ravel().tolist(), b.ravel().tolist()))
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(alike, a, b))
    if isinstance(a, dict):
        return alike([*a], [*b]) and all(alike(a[key], b[key]) for key in a)
    if isinstance(a, (float, np.floating)):
        return close(float(a), float(b))
    return bool(a == b)


def attempt(operation: Callable[[], Any]) -> Any:
    """What an operation returns, or the exception that it raises."""
    try:
        return operation()
    except Exception as error:
        return error


def same_failure(a: Any, b: Any) -> bool:
    """Whether two operations failed in the same way: the same class, at the same address and line."""
    if type(a) is not type(b):
        return False
    if isinstance(a, GenDSLError):
        return a.address == b.address and _line(a) == _line(b)
    return True


def _line(error: GenDSLError) -> Any:
    """The line of the program that an error names, if it names one."""
    location = error.location
    generated = location is not None and location.filename.startswith("<generated")
    return (location.filename, location.lineno) if generated else None


@dataclass
class Twins:
    """A trace and its twin on the reference runtime, with a copy of what the trace was when it was made."""

    trace: Any
    twin: Any
    snapshot: Any = field(init=False)

    def __post_init__(self) -> None:
        self.compare()
        self.snapshot = copy.deepcopy(self.visible())

    def visible(self) -> Any:
        """What must stay as it is."""
        trace = self.trace
        choices, observed = trace.choices.to_flat_dict(), trace.observed.to_flat_dict()
        return choices, observed, trace.retval, trace.log_prob, trace.args

    def check_unchanged(self) -> None:
        """The trace is what it was when it was made."""
        for now, before in zip(self.visible(), self.snapshot, strict=True):
            assert alike(now, before), f"an old trace changed: {before} became {now}"
        self.compare()

    def compare(self) -> None:
        """Everything that can be seen of the two is the same."""
        trace, twin = self.trace, self.twin
        for name in ("choices", "observed", "impossible"):
            mine, theirs = getattr(trace, name), getattr(twin, name)
            assert list(mine) == list(theirs), f"{name} at {list(mine)}, not {list(theirs)}"
            for path, value in theirs.items():
                assert alike(mine[path], value), f"{name}{path} is {mine[path]!r}, not {value!r}"
        assert alike(trace.retval, twin.retval), f"retval {trace.retval!r}, not {twin.retval!r}"
        assert close(trace.log_prob, twin.log_prob), f"log_prob {trace.log_prob}, not {twin.log_prob}"
        assert alike(trace.args, twin.args), "args"
        for path, value in twin.choices.items():
            assert path in trace and alike(trace[path], value), f"trace[{path}]"
            assert path[:1] in trace
        for path, value in getattr(twin, "calls", {}).items():
            assert path in trace and alike(trace[path], value), f"call {path}: {trace[path]}, not {value}"
        assert ("nowhere", 1) not in trace

    def check_scores(self, rng: np.random.Generator) -> None:
        """Parts of the score agree, and a fresh score of all choices."""
        trace, twin = self.trace, self.twin
        for path in twin.choices:
            selection = select(path)
            if rng.random() < 0.3:
                part, other = trace.project(selection), twin.project(selection)
                assert close(part, other), f"the score at {path} is {part}, not {other}"
        selection = select(*[path for path in twin.choices if rng.random() < 0.5])
        for each in (selection, ~selection, select.all):
            assert close(trace.project(each), twin.project(each)), f"project({each})"
        mine = trace.gen_fn.assess(trace.args, trace.choices)
        assert close(mine.log_prob, twin.log_prob), f"assess: {mine.log_prob}, not {twin.log_prob}"
        assert alike(mine.retval, twin.retval), f"assess: {mine.retval}, not {twin.retval}"
        paths = list(twin.choices)
        lacking = paths[int(rng.integers(len(paths)))] if paths else ("nowhere", 1)
        for wrong in (
            {path: value for path, value in twin.choices.items() if path != lacking},
            {**twin.choices.to_flat_dict(), ("nowhere", 1): 0.5},
        ):
            error = attempt(lambda wrong=wrong: trace.gen_fn.assess(trace.args, wrong))
            other = attempt(lambda wrong=wrong: twin.gen_fn.assess(twin.args, wrong))
            if isinstance(other, Exception) or isinstance(error, Exception):
                assert same_failure(error, other), f"assess: {error!r}, not {other!r}"

    # --- edits: each returns the new pair, or None where both fail ---------------------------------

    def update(self, given: Any, args: Any, seed: int) -> Twins | None:
        """`trace.update` on both."""
        flat = choicemap(given).to_flat_dict()
        mine = attempt(lambda: self.trace.update(given, args=args, rng=seed))
        if isinstance(mine, Exception):
            return fails(mine, lambda seed: self.twin.update(given, args=args, rng=seed))
        new, weight, discard = mine
        fresh = {p: v for p, v in new.choices.items() if p not in flat and p not in self.twin.choices}
        theirs = replayed(lambda: self.twin.update({**flat, **fresh}, args=args))
        pair = Twins(new, theirs.trace)
        pair.check_drawn(fresh)
        expected = theirs.log_weight - theirs.trace.project(select(*fresh))
        parts = self.twin.log_prob, new.log_prob
        assert close(weight, expected, *parts), f"update: weight {weight}, not {expected}"
        assert type(weight) is float
        lost, expected = discard.to_flat_dict(), theirs.discard.to_flat_dict()
        assert lost.keys() == expected.keys() and all(alike(lost[p], expected[p]) for p in lost), (
            f"discard {lost}, not {expected}"
        )
        return pair

    def regenerate(self, selection: Any, args: Any, seed: int) -> Twins | None:
        """`trace.regenerate` on both; the weight is the change in the score of what was kept."""
        mine = attempt(lambda: self.trace.regenerate(selection, args=args, rng=seed))
        if isinstance(mine, Exception):
            return fails(mine, lambda seed: self.twin.regenerate(selection, args=args, rng=seed))
        new, weight = mine
        old = self.twin.choices
        drawn = {p: v for p, v in new.choices.items() if p in selection or p not in old}
        pair = replay(new, self.twin)
        pair.check_drawn(drawn)
        for path, value in drawn.items():
            assert path not in old or type(value) is not float or value != old[path], f"{path} wasn't drawn"
        kept = [path for path in pair.twin.choices if path not in drawn]
        assert all(alike(old[path], new[path]) for path in kept), "a choice that was to be kept changed"
        expected = pair.twin.project(select(*kept)) - self.twin.project(select(*kept))
        if expected != expected:
            raise AssertionError(f"regenerate: weight {weight}, where the reference has none")
        parts = self.twin.log_prob, new.log_prob
        assert close(weight, expected, *parts), f"regenerate: weight {weight}, not {expected}"
        return pair

    def check_drawn(self, fresh: dict[Any, Any]) -> None:
        """Choices that were drawn are likely under the distributions that they have, and not copies."""
        for path, value in fresh.items():
            least = -math.inf if isinstance(value, np.ndarray) else -60
            assert self.twin.project(select(path)) > least, f"{path} was drawn from another distribution"
        numbers = [value for value in fresh.values() if type(value) is float]
        assert len(set(numbers)) == len(numbers), "one draw was used twice"

    def pickled(self) -> Twins:
        """The trace as it comes back from a pickle."""
        return Twins(pickle.loads(pickle.dumps(self.trace)), self.twin)


def replayed(operation: Callable[[], Any]) -> Any:
    """What the reference does with the draws of the other runtime; it must not fail."""
    found = attempt(operation)
    if isinstance(found, Exception):
        raise AssertionError(f"only the reference fails: {type(found).__name__}: {found}") from found
    return found


def replay(new: Any, old: Any) -> Twins:
    """A new trace with a twin that the reference makes of its choices; `old` is the twin it was made of."""
    seen = {p: v for p, v in new.choices.items() if p in old.observed}
    rest = {p: v for p, v in new.choices.items() if p not in seen}
    reference = reference_of(new.gen_fn)
    return Twins(new, replayed(lambda: reference.generate(new.args, seen, init=rest)).trace)


def fails(error: Exception, operation: Callable[[int], Any]) -> None:
    """The reference fails in the same way, if not always then for some of its draws."""
    for seed in range(_OTHER_SEEDS):
        other = attempt(lambda seed=seed: operation(seed))
        if same_failure(error, other):
            return
    shown = f"{type(other).__name__}: {other}" if isinstance(other, Exception) else "succeeds"
    message = f"{type(error).__name__}: {error}; but the reference: {shown}"
    raise AssertionError(message) from error


def simulated(model: Any, args: Any, seed: int) -> Twins | None:
    """Twins that begin with a draw of the program; None where it fails."""
    mine = attempt(lambda: model.simulate(args, rng=seed))
    if isinstance(mine, Exception):
        return fails(mine, lambda seed: reference_of(model).simulate(args, rng=seed))
    theirs = replayed(lambda: reference_of(model).generate(args, init=mine.choices))
    pair = Twins(mine, theirs.trace)
    pair.check_drawn(mine.choices.to_flat_dict())
    return pair


def generated(model: Any, args: Any, observations: Any, init: Any, seed: int) -> Twins | None:
    """Twins made by `generate` from some choices; None where it fails."""
    mine = attempt(lambda: model.generate(args, observations, init=init, rng=seed))
    reference = reference_of(model)
    if isinstance(mine, Exception):
        return fails(mine, lambda seed: reference.generate(args, observations, init=init, rng=seed))
    new, weight = mine
    given = {**choicemap(observations).to_flat_dict(), **choicemap(init).to_flat_dict()}
    fresh = {path: value for path, value in new.choices.items() if path not in given}
    start = {**choicemap(init).to_flat_dict(), **fresh}
    theirs = replayed(lambda: reference.generate(args, observations, init=start))
    pair = Twins(new, theirs.trace)
    pair.check_drawn(fresh)
    expected = theirs.log_weight - theirs.trace.project(select(*fresh))
    assert close(weight, expected, new.log_prob), f"generate: weight {weight}, not {expected}"
    return pair


def possible(pair: Twins) -> bool:
    """Whether edits of a trace have a finite weight."""
    return math.isfinite(pair.twin.log_prob)
