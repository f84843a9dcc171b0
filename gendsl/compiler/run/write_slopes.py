"""Makes `llvm/slopes.ll` of `library_slopes`: what texts do with derivatives, read from its Python.

What is made depends on the compiler alone, so that it need not be made by each user:

    python -m gendsl.compiler.run.write_slopes

A test says when it is to be made again.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gendsl.compiler import hir, llvm
from gendsl.compiler.front import library_slopes
from gendsl.compiler.front.program import Entry, Lowering
from gendsl.compiler.hir.slopes import SYMBOLS
from gendsl.compiler.hir.types import FLOAT, INT, List, Tuple, Type
from gendsl.compiler.llvm.native_layout import Layout
from gendsl.compiler.llvm.print_llvm import print_llvm_shared
from gendsl.compiler.llvm.shared import SLOPES, Shared, written
from gendsl.compiler.passes.axes import Axes
from gendsl.compiler.passes.invariants import simplify
from gendsl.lang.source import find_source


def lowered() -> tuple[list[hir.Function], Shared]:
    """The functions, and the LLVM IR of them and of all that they call."""
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
    return mains, Shared(*print_llvm_shared(mains, Layout(every[entries[0].name]), Axes(mains)))


def made() -> str:
    """The file, as it is to be."""
    return written("Made of library_slopes.py by gendsl.compiler.run.write_slopes.", lowered()[1])


if __name__ == "__main__":
    Path(llvm.__file__).with_name(SLOPES).write_text(made(), encoding="utf-8")
