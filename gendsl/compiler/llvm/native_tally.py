"""What is counted of the steps of kernels, in machine code."""

from __future__ import annotations

from gendsl.compiler.llvm.native_jacobian import NativeJacobian
from gendsl.compiler.llvm.native_layout import (
    ACCEPTED,
    CYCLES,
    IMPOSSIBLE,
    LOG_AUX,
    LOG_DET,
    LOG_RATIO,
    PROPOSED,
    TALLY_WORDS,
    WEIGHED,
    ZERO_WORDS,
    Word,
)
from gendsl.compiler.llvm.text import literal
from gendsl.compiler.moves import LOWEST


class NativeTally(NativeJacobian):
    """Prints these operations."""

    def tally(
        self, row: str, accepted: str, ratio: str, model: str, auxiliary: str, det: str, started: str
    ) -> None:
        """Count a step in a row of the tallies.

        Args:
            ratio: the log acceptance ratio; the next three are its terms.
            started: the processor's cycles before the step.
        """
        p, tally = self.p, self.entry(Word.TALLIES, row, TALLY_WORDS)

        def add(place: int, value: str) -> None:
            self.store(tally, place, p.let(f"add i64 {self.load(tally, place)}, {value}"))

        last = Word.LAST_RATIO, Word.LAST_MODEL, Word.LAST_AUX, Word.LAST_DET
        for word, term in zip(last, (ratio, model, auxiliary, det), strict=True):
            p.set_word(word, term, "f")
        add(PROPOSED, "1")
        add(ACCEPTED, p.flag(accepted))
        possible = p.let(f"fcmp ogt double {ratio}, {literal(LOWEST, 'f')}")
        with p.when(p.let(f"xor i1 {possible}, true")):
            add(IMPOSSIBLE, "1")
            self._note_zero(row)
        rejected = p.let(f"xor i1 {accepted}, true")
        told = p.let(f"fcmp olt double {ratio}, 0x7FF0000000000000")
        with p.when(p.let(f"and i1 {rejected}, {p.let(f'and i1 {possible}, {told}')}")):
            add(WEIGHED, "1")
            for place, term in ((LOG_RATIO, ratio), (LOG_AUX, auxiliary), (LOG_DET, det)):
                summed = p.let(f"fadd double {self.load(tally, place, 'double')}, {term}")
                self.store(tally, place, summed, "double")
        ended = p.let("call i64 @llvm.readcyclecounter()")
        add(CYCLES, p.let(f"sub i64 {ended}, {started}"))

    def _note_zero(self, row: str) -> None:
        """Count where the density was zero, among the first places where it was."""
        p = self.p
        known = p.variable("known")
        where = p.word(Word.ZERO), p.word(Word.ZERO_PLACE)
        with p.each(p.word(Word.ZERO_COUNT)) as place:
            entry = self.entry(Word.ZEROS, place, ZERO_WORDS)
            same = p.let(f"icmp eq i64 {self.load(entry, 0)}, {row}")
            for at, wanted in enumerate(where, 1):
                equal = p.let(f"icmp eq i64 {self.load(entry, at)}, {wanted}")
                same = p.let(f"and i1 {same}, {equal}")
            with p.when(same):
                self.store(entry, 3, p.let(f"add i64 {self.load(entry, 3)}, 1"))
                p.add(f"store i64 1, ptr {known}")
        is_new = p.let(f"icmp eq i64 {p.let(f'load i64, ptr {known}')}, 0")
        count = p.word(Word.ZERO_COUNT)
        fits = p.let(f"icmp slt i64 {count}, {p.word(Word.ZERO_ROOM)}")
        with p.when(p.let(f"and i1 {is_new}, {fits}")):
            entry = self.entry(Word.ZEROS, count, ZERO_WORDS)
            for at, value in enumerate((row, *where, "1", p.word(Word.STEPS), p.word(Word.SWEEPS))):
                self.store(entry, at, value)
            p.set_word(Word.ZERO_COUNT, p.let(f"add i64 {count}, 1"))
