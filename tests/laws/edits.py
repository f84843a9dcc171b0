"""Random sequences of edits, made on two runtimes at once.

An edit is a kind and a seed: what it changes depends on the trace that it meets.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from gendsl import choicemap, select
from tests.laws.agreement import Twins, attempt, generated, possible, reference_of, simulated

Args = tuple[Any, ...]
Edit = tuple[str, int]

GENERATED_ARGS: tuple[Args, ...] = (
    (0.5, 2, [0.3, -1.0, 0.7], [[1.0], [], [0.5, 2.0]]),
    (-1.0, 0, (), ()),
    (0.25, 3, np.array([1.0, 2.0]), [[0.1]]),
    (0.75, 5, [0.2, 0.1, -0.4, 0.9, 1.5], [[], [0.1, 0.2], [0.3]]),
)


class Session:
    """A program on two runtimes, and the traces that its edits have led to.

    Args:
        model: the program.
        pool: arguments to run it on; the first are those to begin with.
        vary: makes other arguments of some; without it, arguments are those of the pool.
    """

    def __init__(self, model: Any, pool: Sequence[Args], vary: Any = None) -> None:
        self.model = model
        self.pool = pool
        self.vary = vary
        self.pairs: list[Twins] = []
        self.log: list[str] = []

    def start(self, rng: np.random.Generator) -> None:
        """Begin with a trace drawn from the program, often with observations."""
        pair = simulated(self.model, self.pool[0], int(rng.integers(1 << 30)))
        if pair is not None and rng.random() < 0.5:
            seen, rest = {}, {}
            for path, value in pair.twin.choices.items():
                (seen if rng.random() < 0.3 else rest)[path] = value
            pair = generated(self.model, self.pool[0], seen, rest, 1)
        if pair is not None:
            self.pairs.append(pair)

    def run(self, edits: Sequence[Edit], seed: int) -> None:
        """Draw a first trace and edit it; a failure shows what was done."""
        try:
            self.start(np.random.default_rng(seed))
            self.edit(edits)
        except Exception as error:
            error.add_note("\n".join(self.log))
            raise

    def edit(self, edits: Sequence[Edit]) -> None:
        """Make edits one after another, each on the last trace or on an older one."""
        for number, (kind, seed) in enumerate(edits):
            if not self.pairs:
                return
            rng = np.random.default_rng((seed, number))  # the same edit twice draws other numbers
            base = self.pairs[-1]
            if rng.random() < 0.2:
                base = self.pairs[int(rng.integers(len(self.pairs)))]
            self.log.append(f"{kind} {seed} on trace {self.pairs.index(base)}")
            pair = KINDS[kind](self, base, rng)
            if pair is not None and (possible(pair) or rng.random() < 0.1):
                self.pairs.append(pair)
            base.compare()
        rng = np.random.default_rng(0)
        for pair in self.pairs:
            pair.check_unchanged()
            pair.check_scores(rng)

    # --- what an edit is made of ------------------------------------------------------------------

    def other_args(self, args: Args, rng: np.random.Generator) -> Args:
        """Other arguments, or equal ones."""
        roll = rng.random()
        if roll < 0.15:
            return copy.deepcopy(args)
        if self.vary is None or roll < 0.25:
            return self.pool[int(rng.integers(len(self.pool)))]
        return self.vary(args, rng)

    def some_args(self, base: Twins, rng: np.random.Generator, share: float) -> Args | None:
        """Other arguments, or None, which leaves them."""
        return self.other_args(base.trace.args, rng) if rng.random() < share else None

    def update(self, base: Twins, given: Any, args: Args | None, rng: np.random.Generator) -> Twins | None:
        """An update, with the choices written in one of the ways that are accepted."""
        seed = int(rng.integers(1 << 30))
        self.log.append(f"    update({given}, args={args}, rng={seed})")
        if rng.random() < 0.3:
            given = choicemap(given)
        elif rng.random() < 0.3:
            given = choicemap(given).to_dict()
        return base.update(given, args, seed)


def new_value(base: Twins, path: Any, rng: np.random.Generator) -> Any:
    """Another value for a choice: nearly always one that is possible."""
    distribution, value, _ = base.twin.records[path]
    if rng.random() < 0.2 and isinstance(value, (int, float)):
        return not value if isinstance(value, bool) else value + type(value)(rng.choice([-1, 1]))
    return distribution.sample(rng)


def some_paths(base: Twins, rng: np.random.Generator, most: int = 3) -> list[Any]:
    """A few of the choices: any, or one of each of a few names, which gives those that stand alone a turn."""
    paths = list(base.twin.choices)
    count = min(len(paths), int(rng.integers(1, most + 1)))
    if rng.random() < 0.5:
        named: dict[Any, list[Any]] = {}
        for path in paths:
            named.setdefault(path[0], []).append(path)
        names = list(named)[: int(rng.integers(1, len(named) + 1))] if named else []
        return [named[name][int(rng.integers(len(named[name])))] for name in names[-count:]]
    return [paths[i] for i in sorted(rng.choice(len(paths), count, replace=False))] if paths else []


# --- the kinds of edit -----------------------------------------------------------------------------


def change(session: Session, base: Twins, rng: np.random.Generator) -> Twins | None:
    """New values for one to three choices; what is missing then is drawn."""
    given = {path: new_value(base, path, rng) for path in some_paths(base, rng)}
    return session.update(base, given, session.some_args(base, rng, 0.15), rng)


def change_structure(session: Session, base: Twins, rng: np.random.Generator) -> Twins | None:
    """A new value of a discrete choice, sometimes with every choice that it brings."""
    whole = [p for p, v in base.twin.choices.items() if isinstance(v, (int, np.integer))]
    if not whole:
        return change(session, base, rng)
    path = whole[int(rng.integers(len(whole)))]
    given = {path: new_value(base, path, rng)}
    target = attempt(lambda: base.twin.update(given, rng=rng).trace)
    if not isinstance(target, Exception) and rng.random() < 0.5:
        given.update({p: v for p, v in target.choices.items() if p not in base.twin.choices})
    return session.update(base, given, None, rng)


def change_args(session: Session, base: Twins, rng: np.random.Generator) -> Twins | None:
    """Other arguments alone."""
    return session.update(base, {}, session.other_args(base.trace.args, rng), rng)


def become_another(session: Session, base: Twins, rng: np.random.Generator) -> Twins | None:
    """Many or all choices of another trace; those that nothing asks for fail, and are left out."""
    args = session.some_args(base, rng, 0.4)
    seed = int(rng.integers(1 << 30))
    reference = reference_of(session.model)
    other = attempt(lambda: reference.simulate(base.trace.args if args is None else args, rng=seed))
    if isinstance(other, Exception):
        return None
    share = rng.choice([0.3, 0.7, 1.0])
    given = {path: value for path, value in other.choices.items() if rng.random() < share}
    for _ in range(len(given) + 1):
        pair = session.update(base, given, args, np.random.default_rng(seed))
        error = attempt(lambda: base.twin.update(given, args=args, rng=seed))
        if pair is not None or getattr(error, "address", None) not in given:
            return pair
        del given[error.address]
    return None


def selection_of(base: Twins, rng: np.random.Generator) -> Any:
    """A selection of latent choices: single ones, namespaces, patterns, complements."""
    paths = some_paths(base, rng)
    if not paths:
        return select()
    path = paths[0]
    selection = [
        select(path), select(path), select(*paths), select(path[0]), select((path[0], ...)) if path[1:] else
        select(path), ~select(path), ~select(*paths), select.all, select(path) | select(paths[-1][0]),
        select(path[:1]) & ~select(path),
    ][int(rng.integers(10))]  # fmt: skip
    seen = base.twin.observed
    return selection & ~select(*seen) if len(seen) and rng.random() < 0.9 else selection


def regenerate(session: Session, base: Twins, rng: np.random.Generator) -> Twins | None:
    """Choices drawn anew, sometimes with other arguments."""
    selection = selection_of(base, rng)
    args, seed = session.some_args(base, rng, 0.25), int(rng.integers(1 << 30))
    session.log.append(f"    regenerate({selection}, args={args}, rng={seed})")
    return base.regenerate(selection, args, seed)


def nothing(session: Session, base: Twins, rng: np.random.Generator) -> Twins | None:
    """An update to what is there already."""
    given = {path: base.twin.choices[path] for path in some_paths(base, rng) if rng.random() < 0.5}
    return session.update(base, given, copy.deepcopy(base.trace.args) if rng.random() < 0.5 else None, rng)


def go_back(session: Session, base: Twins, rng: np.random.Generator) -> Twins | None:
    """A change and its undoing, by the discard."""
    given = {path: new_value(base, path, rng) for path in some_paths(base, rng, 2)}
    there = session.update(base, given, None, rng)
    if there is None or not possible(there):
        return None
    choices = base.twin.choices
    discard = {p: v for p, v in choices.items() if p in given or p not in there.twin.choices}
    back = session.update(there, discard, None, rng)
    assert back is not None and back.twin.choices == choices
    session.pairs.append(there)
    return back


def mistake(session: Session, base: Twins, rng: np.random.Generator) -> Twins | None:
    """An edit that can't be made, or leads nowhere."""
    paths = some_paths(base, rng, 2)
    bad = [("nowhere", 1), (*paths[0], "below") if paths else "x", paths[0][:1] if paths else "y"]
    match int(rng.integers(4)):
        case 0:
            given = {bad[int(rng.integers(3))]: 0.5}
            if paths and len(paths) > 1 and (*paths[0], "below") not in given:
                given = {paths[1]: new_value(base, paths[1], rng), **given}
            return attempt_to(lambda: session.update(base, given, None, rng))
        case 1:
            given = {path: 9 if isinstance(base.twin.choices[path], int) else 30.0 for path in paths}
            return session.update(base, given, None, rng)
        case 2:
            return session.update(base, dict.fromkeys(paths, -7), None, rng)
    return base.regenerate(select(bad[int(rng.integers(2))], *paths), None, 1)


def attempt_to(operation: Callable[[], Any]) -> Any:
    """What an operation returns; None where the choices given to it contradict each other already."""
    result = attempt(operation)
    if isinstance(result, AssertionError):
        raise result
    return None if isinstance(result, Exception) else result


def observe(session: Session, base: Twins, rng: np.random.Generator) -> Twins | None:
    """A new trace that has some choices of this one as observations, some as starting values."""
    seen, start = {}, {}
    for path, value in base.twin.choices.items():
        roll = rng.random()
        if roll < 0.6:
            (seen if roll < 0.3 else start)[path] = value
    return generated(session.model, base.trace.args, seen, start, int(rng.integers(1 << 30)))


def pickled(session: Session, base: Twins, rng: np.random.Generator) -> Twins | None:
    """The trace as it comes back from a pickle."""
    return base.pickled()


def look(session: Session, base: Twins, rng: np.random.Generator) -> None:
    """Parts of the score."""
    base.check_scores(rng)


KINDS: dict[str, Callable[[Session, Twins, np.random.Generator], Twins | None]] = {
    function.__name__: function
    for function in (change, change_structure, change_args, become_another, regenerate, nothing, go_back,
                     mistake, observe, pickled, look)
}  # fmt: skip
_WEIGHTED = [*KINDS, *["change", "change_structure", "change_args", "regenerate"] * 3]


def edits(most: int = 8) -> st.SearchStrategy[list[Edit]]:
    """Sequences of edits."""
    return st.lists(st.tuples(st.sampled_from(_WEIGHTED), st.integers(0, 9999)), min_size=1, max_size=most)


def random_edits(seed: int, count: int = 8) -> list[Edit]:
    """A sequence of edits, without hypothesis: for long hunts."""
    rng = np.random.default_rng(seed)
    return [(_WEIGHTED[int(rng.integers(len(_WEIGHTED)))], int(rng.integers(10_000))) for _ in range(count)]


def vary_generated(args: Args, rng: np.random.Generator) -> Args:
    """Arguments of a generated program with one thing changed."""
    x, n, xs, xss = args
    match int(rng.integers(8)):
        case 0:
            x = x + float(rng.normal())
        case 1 | 2:
            n = min(max(n + int(rng.choice([-1, 1])), 0), 5)
        case 3 | 4 if len(xs):
            values = list(xs)
            values[int(rng.integers(len(values)))] = float(rng.normal())
            xs = np.array(values) if isinstance(xs, np.ndarray) else type(xs)(values)
        case 5:
            xs = [*xs, float(rng.normal())] if len(xs) < 4 else list(xs[:-1])
        case 6:
            xss = [[*row] for row in xss]
            if xss and rng.random() < 0.7:
                row = xss[int(rng.integers(len(xss)))]
                row.pop() if row and rng.random() < 0.5 else row.append(float(rng.normal()))
            else:
                xss.append([0.5])
        case _:
            xs, xss = [float(rng.normal()) for _ in range(int(rng.integers(5)))], [[0.5], [1.0, 2.0]]
    return x, n, xs, xss
