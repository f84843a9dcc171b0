"""Moves of the models of `benchmarks/models` and of examples, by hand, in NumPy and plain Python.

A module for each family has a list `MOVES` of (model, move, class): the model's name, the number of the
involutive move or the name of the proposal program of `mh`, and the class that makes the move, from a trace.
`figure1.py` and `coal.py` are about the examples. Nothing here knows how gendsl runs a program.
"""

from __future__ import annotations

import importlib

import models
from models.model import Model

from gendsl.inference import involutive, mh

from .pair import Pair

EXAMPLES = "figure1", "coal"
SIZES = {"gp_kernels": (20, 200)}
"""How many data moves are measured with, where a step costs more than a multiple of their number."""


def pairs(family: str) -> list[Pair]:
    """The moves of a family, or of an example, that are written by hand."""
    module = importlib.import_module(f".{family}", __package__)
    if family in EXAMPLES:
        found: list[Pair] = module.pairs()
        return found
    programs = importlib.import_module(f"models.{family}")
    by_name = {model.name: model for model in models.models(family)}
    return [_pair(family, programs, by_name[name], which, by_hand) for name, which, by_hand in module.MOVES]


def _pair(family: str, programs: object, model: Model, which: int | str, by_hand: type) -> Pair:
    if isinstance(which, str):
        kernel, label = mh(getattr(programs, which)), which
    else:
        kernel, label = involutive(*model.moves[which]), model.moves[which].f.__name__
    sizes = SIZES.get(family, (100, 1000))
    return Pair(f"{model.name}, {label}", kernel, by_hand, model.start, sizes)
