"""What texts do with derivatives: read from its Python once, and compiled once for all of them.

Both are kept with the machine code of texts; see `native_cache`.
"""

from __future__ import annotations

import functools
import pickle
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from gendsl.compiler import hir
from gendsl.compiler.front import library_slopes
from gendsl.compiler.front.program import Entry, Lowering
from gendsl.compiler.hir.types import FLOAT, INT, List, Tuple, Type
from gendsl.compiler.llvm import native_cache
from gendsl.compiler.llvm.native_layout import Layout
from gendsl.compiler.llvm.print_llvm import print_llvm_shared
from gendsl.compiler.passes.axes import Axes
from gendsl.compiler.passes.invariants import simplify
from gendsl.compiler.python.slopes_runtime import SYMBOLS
from gendsl.compiler.steps.step_parts import Slopes
from gendsl.lang.source import find_source


class Shared(NamedTuple):
    """Functions as LLVM IR that several texts call, and what may fail where."""

    text: str
    sites: list[tuple[int, str]]


@functools.cache
def _kept() -> tuple[bytes, Shared]:
    """The functions, pickled, and their machine code; from an earlier process, if that is kept."""
    sources = list(_sources())
    if not sources:  # the compiler is no folder of files
        return _lowered()
    key = native_cache.key_of("slopes", sys.version, *sources)
    kept = native_cache.load(key)
    if kept is None:
        kept = pickle.dumps(_lowered())
        native_cache.store(key, kept)
    found: tuple[bytes, Shared] = pickle.loads(kept)
    return found


def _sources() -> Iterator[str]:
    """The text of the compiler, which decides what is made of these functions."""
    for path in sorted(Path(__file__).parents[1].rglob("*.py")):
        yield path.read_text(encoding="utf-8")


def _lowered() -> tuple[bytes, Shared]:
    """The functions, pickled, and their machine code."""
    lowering = Lowering(draws=False)
    facts = lowering.facts

    def listed(what: str, item: Type) -> List:
        site = facts.site(("slopes", what))
        facts.grow_item(site, item)
        return List(site)

    pairs = listed("pairs", Tuple((INT, FLOAT)))
    columns, numbers = listed("columns", pairs), listed("numbers", INT)
    types: dict[Any, tuple[Type, ...]] = {
        library_slopes.ordered: (pairs,),
        library_slopes.add: (pairs, FLOAT, pairs),
        library_slopes.log_abs_det: (columns, numbers),
        library_slopes.sizes: (columns, numbers, listed("coordinates", FLOAT)),
        library_slopes.finite: (pairs,),
    }
    entries = [
        Entry(function.__name__, find_source(function, "gen"), given, chooses=False)
        for function, given in types.items()
    ]
    every = lowering.lower_together(entries)
    mains = [every[entry.name].main for entry in entries]
    simplify(mains)
    for main in mains:
        for function in hir.functions(main):
            function.symbol = f"{SYMBOLS}{function.name}"
    code = print_llvm_shared(mains, Layout(every[entries[0].name]), Axes(mains))
    return pickle.dumps(mains), Shared(*code)


def slopes() -> Slopes:
    """The functions, for one text."""
    return Slopes(*pickle.loads(_kept()[0]))


def shared() -> Shared:
    """Their machine code, for all texts."""
    return _kept()[1]
