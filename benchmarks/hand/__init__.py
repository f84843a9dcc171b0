"""Moves of the models of `benchmarks/models`, written by hand in NumPy and plain Python from the mathematics.

A module for each family has a list `MOVES` of (model, move, class): the model's name, the number of the
involutive move or the name of the proposal program of `mh`, and the class that makes the move, from a trace.
"""

from __future__ import annotations

import importlib
from typing import Any, NamedTuple

from gendsl.inference import Kernel, involutive, mh


class Pair(NamedTuple):
    """The same move twice: a kernel of gendsl, and the class that makes it by hand.

    `start(size, seed)` is the trace that chains of it start from.
    """

    name: str
    kernel: Kernel
    by_hand: Any
    start: Any


def pairs(family: str, models: Any) -> list[Pair]:
    """The moves of a family that are written by hand; `models` is the package of models."""
    module = importlib.import_module(f".{family}", __package__)
    programs = importlib.import_module(f".{family}", models.__name__)
    by_name = {model.name: model for model in models.models(family)}
    found = []
    for name, which, by_hand in module.MOVES:
        model = by_name[name]
        if isinstance(which, str):
            kernel, label = mh(getattr(programs, which)), which
        else:
            kernel, label = involutive(*model.moves[which]), model.moves[which].f.__name__
        found.append(Pair(f"{family}: {name}, {label}", kernel, by_hand, model.start))
    return found
