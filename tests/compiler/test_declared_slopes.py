"""What texts do with derivatives: what is kept and declared of it is what the compiler makes."""

from importlib.resources import files

from gendsl.compiler import llvm
from gendsl.compiler.hir.slopes import slopes
from gendsl.compiler.hir.text_effects import TextEffects
from gendsl.compiler.llvm.shared import SLOPES, read, shared
from gendsl.compiler.run import write_slopes


def test_what_is_done_with_derivatives_is_what_the_compiler_makes():
    """If it is not: python -m gendsl.compiler.run.write_slopes"""
    made = write_slopes.made()
    assert (files(llvm) / SLOPES).read_text(encoding="utf-8") == made
    assert read(made) == shared() and len(shared().sites) > 10


def test_declarations_of_what_is_done_with_derivatives_tell_what_it_does():
    effects = TextEffects()
    declared = slopes()
    for function in write_slopes.lowered()[0]:
        told = getattr(declared, function.name)
        assert told.symbol == function.symbol
        assert [one.kind for one in told.parameters] == [one.kind for one in function.parameters]
        assert told.results == function.results
        mine, real = effects.of(told), effects.of(function)
        assert (mine.pure, mine.fails) == (real.pure, real.fails) == (True, True)
        assert effects.has_loops(told) and not effects.is_small(told)
        assert effects.makes_lists(told) == any(kind == "r" for kind in function.results)
        own = {("i",), ("f",)} if function.name in ("log_abs_det", "sizes") else set()  # lists that it makes
        assert real.reads - own <= mine.reads <= real.reads
        assert mine.changes == real.changes - own
