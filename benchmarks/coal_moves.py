"""One move of the change-point sampler of `examples/coal.py`: a birth, a death, a height, a position."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import coal_numpy as by_hand
import numpy as np
from harness import Row, Scale

from gendsl import involutive_mcmc

EXAMPLE = Path(__file__).parents[1] / "examples" / "coal.py"
MOST_US = 40
WARM_UP = 20_000
"""How many moves of a kind come first: plans of them are learnt when they have been made some times."""

Draw = Callable[[by_hand.State, np.random.Generator], Any]


def example() -> ModuleType:
    """The module examples/coal.py."""
    if "coal" not in sys.modules:
        spec = importlib.util.spec_from_file_location("coal", EXAMPLE)
        assert spec is not None and spec.loader is not None
        sys.modules["coal"] = module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return sys.modules["coal"]


def visited_states(dates: list[float], n: int, thin: int) -> list[by_hand.State]:
    """n states with one step or more, of a chain of the moves by hand, at least `thin` moves apart."""
    rng = np.random.default_rng(1)
    state = by_hand.state_at([14_000.0], [0.009, 0.0025], dates)
    states: list[by_hand.State] = []
    while len(states) < n:
        for _ in range(thin):
            state = by_hand.step(state, dates, rng)
        if state.positions:
            states.append(state)
    return states


def rows(scale: Scale) -> list[Row]:
    """A move from each of the same states."""
    coal = example()
    dates = coal.read_dates()
    data, rng = dates.tolist(), np.random.default_rng(2)
    n, warm_up = (40, WARM_UP // 40) if scale.largest > 1000 else (4, 4)
    states = visited_states(data, n, 200)
    traces = [coal.trace_of(state.positions, state.heights, dates) for state in states]

    def row(kind: str, move: tuple[Any, Any], draw: Draw, wanted: Callable[[Any], bool]) -> Row:
        q, f = move
        seeds = [next(s for s in range(100) if wanted(q.simulate((trace,), rng=s))) for trace in traces]

        def generators() -> list[np.random.Generator]:
            """One for each state, whose first draws propose this kind of move."""
            return [np.random.default_rng(seed) for seed in seeds]

        def moves(generators: list[np.random.Generator]) -> None:
            for trace, generator in zip(traces, generators, strict=True):
                involutive_mcmc(trace, q, (), f, rng=generator)

        def moves_by_hand(_: list[np.random.Generator]) -> None:
            for state in states:
                by_hand.decide(state, draw(state, rng), data, rng)

        return Row(
            f"coal-mining {kind} move, N dates", len(dates), moves, "Python move", moves_by_hand, n,
            fresh=generators, warm_up=warm_up, most_us=MOST_US,
        )  # fmt: skip

    birth_death, height, position = coal.GREENS
    return [
        row("birth", birth_death, by_hand.draw_birth, lambda aux: aux["birth"]),
        row("death", birth_death, by_hand.draw_death, lambda aux: not aux["birth"]),
        row("height", height, by_hand.draw_height, lambda aux: True),
        row("position", position, by_hand.draw_position, lambda aux: True),
    ]


GROUPS = {"coal": rows}
