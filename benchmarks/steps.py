"""Steps of all moves of `hand/`, in chains: processor time of one step against that of the step by hand.

gendsl's side is `sample` with `repeat(kernel, 100)` and one address recorded at each draw, with the checks
that are always on; the other is a loop in Python over as many steps by hand. Both go on from where they are,
from equal starts. Run as a command this prints the processor time of the first steps of Figure 1:

    python benchmarks/steps.py gendsl 20000
    python benchmarks/steps.py hand 20000
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import hand
import models
import numpy as np
from hand.pair import Pair
from harness import Line, Row, Scale, mean_of, ranked
from threadpoolctl import threadpool_limits

from gendsl import pair as pair_of
from gendsl import sample
from gendsl.compiler.moves import Involution
from gendsl.inference import involutive, repeat

FAMILIES = (*hand.EXAMPLES, *models.FAMILIES)
EACH = 100
"""How many steps a draw takes."""
WARM_UP = 20
"""How many draws come before those that are measured: by then what is worth compiling is compiled."""
SEVERAL = 20
"""How many draws there are at least in a call of `sample` that is measured."""
CALL_SECONDS = 0.25
"""How long such a call takes: to make its last trace takes 16 ms, of 2,000 choices."""
COLD = 20_000
"""How many first steps are measured in a new process."""


class Chain:
    """Draws of a kernel of gendsl, of `EACH` steps, which go on from the last."""

    each = EACH

    def __init__(self, pair: Pair, size: int) -> None:
        self.trace = pair.start(size)
        self.kernel = repeat(pair.kernel, self.each) if self.each > 1 else pair.kernel
        self.rng = np.random.default_rng(1)
        self.record: dict[str, Any] = {"first": next(iter(self.trace.choices))}

    def __call__(self, draws: int) -> None:
        draws *= EACH // self.each
        run = sample(self.kernel, self.trace, draws, record=self.record, seed=self.rng, progress=False)
        self.trace = run.last


class EachStep(Chain):
    """The same with a draw for each step."""

    each = 1


class EachStepByFunction(EachStep):
    """The same where what is recorded is what a function of the trace gives."""

    def __init__(self, pair: Pair, size: int) -> None:
        super().__init__(pair, size)
        address = self.record["first"]
        self.record = {"first": lambda trace: trace[address]}


class Checked(Chain):
    """The same of an involutive move with `check=True`."""

    def __init__(self, pair: Pair, size: int) -> None:
        move = pair.kernel.move
        f = pair_of(*move.maps) if len(move.maps) > 1 else move.maps[0]
        super().__init__(pair._replace(kernel=involutive(move.q, f, move.q_args, check=True)), size)


class ByHand:
    """Steps by hand, which go on from the last."""

    baseline = "step by hand"

    def __init__(self, pair: Pair, size: int) -> None:
        self.move, self.rng = pair.by_hand(pair.start(size)), np.random.default_rng(1)

    def __call__(self, draws: int) -> None:
        step, rng = self.move.step, self.rng
        for _ in range(EACH * draws):
            step(rng)


class Compiled:
    """The chain that numba compiles, which goes on from the last step."""

    baseline = "numba chain"

    def __init__(self, pair: Pair, size: int) -> None:
        from hand.compiled import BY_NAME

        self.chain, self.rng = BY_NAME[pair.name](pair.start(size)).chain, np.random.default_rng(1)

    def __call__(self, draws: int) -> None:
        self.chain(self.rng, EACH * draws)


def row(pair: Pair, size: int, scale: Scale, other: type[ByHand] | type[Compiled]) -> Row:
    """As many draws a call as take gendsl about `CALL_SECONDS`, once what is learnt first is known."""
    chain, by_hand = Chain(pair, size), other(pair, size)
    for _ in range(WARM_UP if scale.round_seconds else 1):
        chain(1)
    draws = 1
    if scale.round_seconds:
        begin = time.process_time()
        chain(SEVERAL)
        seconds = (time.process_time() - begin) / SEVERAL
        draws = min(max(round(CALL_SECONDS / seconds), SEVERAL), 400)
    return Row(
        pair.name, size, lambda: chain(draws), other.baseline, lambda: by_hand(draws), EACH * draws, cpu=True
    )


def table(
    sized: list[tuple[Pair, int]], scale: Scale, other: type[ByHand] | type[Compiled]
) -> list[Row | Line]:
    """The ranked lines of moves with these sizes; BLAS has one thread: time that threads wait counts, too."""
    with threadpool_limits(1):
        lines = ranked((row(pair, min(size, scale.largest), scale, other) for pair, size in sized), scale)
    looks_at = {pair.name: "all" if pair.by_hand.looks_at == "all" else "part" for pair, _ in sized}
    for what, work in (("all", "looks at all data"), ("part", "looks at a part")):
        found = [line for line in lines if looks_at.get(line.work) == what]
        ratios = [line.us / line.baseline_us for line in found if line.us and line.baseline_us]
        if len(sized) > len(ratios) > 0:
            lines.append(mean_of(ratios, f"geometric mean where a hand {work}"))
    return [*lines]


def all_pairs(scale: Scale) -> list[Pair]:
    """All moves; in a quick run one of each family, with few data."""
    if scale.round_seconds:
        return [pair for family in FAMILIES for pair in hand.pairs(family)]
    return [hand.pairs(family)[0]._replace(sizes=(20, 50)) for family in FAMILIES]


def steps(which: int) -> Callable[[Scale], list[Row | Line]]:
    """The group of all moves with the first or second of their sizes."""

    def group(scale: Scale) -> list[Row | Line]:
        return table([(pair, pair.sizes[which]) for pair in all_pairs(scale)], scale, ByHand)

    return group


def compiled(scale: Scale) -> list[Row | Line]:
    """The group of the moves that are compiled by hand, where there is numba."""
    try:
        from hand.compiled import BY_NAME
    except ImportError:
        return []
    pairs = [pair for pair in all_pairs(scale) if pair.name in BY_NAME]
    if not scale.round_seconds:  # numba takes up to 20 seconds for each
        pairs = pairs[:1]
    return table([(pair, size) for pair in pairs for size in pair.sizes], scale, Compiled)


def at_every_step(pair: Pair, scale: Scale, chain: type[EachStep], what: str) -> Row:
    """Steps that are all recorded, against those of which every hundredth is."""
    size = min(pair.sizes[0], scale.largest)
    one, other = chain(pair, size), Chain(pair, size)
    for _ in range(WARM_UP if scale.round_seconds else 1):
        one(1)
        other(1)
    draws = 10 * SEVERAL if scale.round_seconds else 1  # beside which a call of `sample` takes little
    work = f"{pair.name}: {what} at every step"
    return Row(
        work, size, partial(one, draws), f"every {EACH}th", partial(other, draws), EACH * draws, cpu=True
    )


def recorded(scale: Scale) -> list[Row | Line]:
    """The group of chains that record what is at an address, or what a function gives, at every step."""
    pairs = [hand.pairs(family)[0] for family in (FAMILIES if scale.round_seconds else FAMILIES[:1])]
    ways = (EachStep, "an address"), (EachStepByFunction, "a function")
    return list(ranked((at_every_step(pair, scale, *way) for pair in pairs for way in ways), scale))


class Called:
    """Calls of a kernel of gendsl in a loop, which go on from the last."""

    def __init__(self, pair: Pair, size: int) -> None:
        self.trace, self.kernel, self.rng = pair.start(size), pair.kernel, np.random.default_rng(1)

    def __call__(self, draws: int) -> None:
        trace, kernel, rng = self.trace, self.kernel, self.rng
        for _ in range(EACH * draws):
            trace, _ = kernel(trace, rng)
        self.trace = trace


def in_a_loop(pair: Pair, scale: Scale) -> Row:
    """Calls of a kernel, against steps by hand."""
    size = min(pair.sizes[0], scale.largest)
    loop, by_hand = Called(pair, size), ByHand(pair, size)
    for _ in range(WARM_UP if scale.round_seconds else 1):
        loop(1)
    work = f"{pair.name}: called in a loop"
    return Row(work, size, partial(loop, 1), by_hand.baseline, partial(by_hand, 1), EACH, cpu=True)


def called(scale: Scale) -> list[Row | Line]:
    """The group of kernels that are called in a loop of the user's own."""
    pairs = [hand.pairs(family)[0] for family in (FAMILIES if scale.round_seconds else FAMILIES[:1])]
    return list(ranked((in_a_loop(pair, scale) for pair in pairs), scale))


def checked(scale: Scale) -> list[Row | Line]:
    """The group of involutive moves with `check=True`, against the same without."""
    every = [pair for family in FAMILIES for pair in hand.pairs(family)]
    moves = [pair for pair in every if isinstance(getattr(pair.kernel, "move", None), Involution)]

    def row(pair: Pair) -> Row:
        size = min(pair.sizes[0], scale.largest)
        with_checks, without = Checked(pair, size), Chain(pair, size)
        for _ in range(WARM_UP if scale.round_seconds else 1):
            with_checks(1)
            without(1)
        draws = SEVERAL if scale.round_seconds else 1
        return Row(
            f"{pair.name}, check=True", size, partial(with_checks, draws), "unchecked",
            partial(without, draws), EACH * draws, cpu=True,
        )  # fmt: skip

    return list(ranked(map(row, moves if scale.round_seconds else moves[:1]), scale))


# --- the first steps in a new process -------------------------------------------------------------


def first_steps(side: str, n: int) -> float:
    """The processor time of the first steps of Figure 1 with 100 points, from a state that is there."""
    sides: dict[str, Any] = {"gendsl": Chain, "hand": ByHand}
    chain = sides[side](hand.pairs("figure1")[0], 100)
    begin = time.process_time()
    chain(n // EACH)
    return time.process_time() - begin


def cold(scale: Scale) -> list[Row | Line]:
    """The group of first steps: where no machine code is kept, and again where it is.

    Python's own code of the modules is kept as an installed package has it; the first round makes it.
    """
    is_rough = not scale.round_seconds
    n, rounds = (1_000, 1) if is_rough else (min(COLD, 20 * scale.largest), 1 + min(scale.rounds, 3))
    best: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as modules:
        for number in range(rounds):
            with tempfile.TemporaryDirectory() as kept:
                told = {**os.environ, "GENDSL_CACHE": kept, "PYTHONPYCACHEPREFIX": modules}
                told.pop("PYTHONDONTWRITEBYTECODE", None)
                for name, side in (("empty", "gendsl"), ("kept", "gendsl"), ("hand", "hand")):
                    done = subprocess.run(
                        [sys.executable, __file__, side, str(n)],
                        capture_output=True, text=True, check=True, env=told,
                    )  # fmt: skip
                    if is_rough or number > 0:
                        best[name] = min(best.get(name, np.inf), 1e6 * float(done.stdout) / n)
    work = f"the first {n:,} steps of Figure 1 in a process"
    return [
        Line(work, 100, best["empty"], best["hand"], "steps by hand"),
        Line(f"{work}, again", 100, best["kept"], best["hand"], "steps by hand"),
    ]


GROUPS = {
    "steps": steps(0),
    "steps-10": steps(1),
    "steps-numba": compiled,
    "recorded": recorded,
    "called": called,
    "checked": checked,
    "cold": cold,
}

if __name__ == "__main__":
    print(first_steps(sys.argv[1], int(sys.argv[2])))
