"""Operations of moves that have no map: updates of choices given all others, and proposals; see `state`."""

from __future__ import annotations

from math import nan
from typing import Any

from gendsl.compiler.hir.failures import TextFailure
from gendsl.compiler.python.choice_values import index_of, indices_of
from gendsl.compiler.python.state_columns import Column, Phases


class UpdateState(Phases):
    """Lists and tries choices that are updated, and gives back those that a proposal changes.

    Attributes:
        lp: the log density of the current trace.
        part: of that the terms that have to do with the choice that is updated; NaN if they are not known.
    """

    lp: float
    part = nan

    def list_site(self, column: Column, *indices: int) -> None:
        """List a choice that is to be updated."""
        index = index_of(indices)
        if index in column.observed:
            raise TextFailure("an observation is selected")
        self.reads.append((column, index))

    def sites(self) -> int:
        """How many choices are listed."""
        return len(self.reads)

    def site_template(self, *given: Any) -> int:
        """Of which of some templates a choice that is listed is."""
        *columns, site = given
        return columns.index(self.reads[site][0])

    def site_indices(self, column: Column, site: int) -> Any:
        """The indices of a choice that is listed."""
        return self.reads[site][1]

    def try_again(self) -> int:
        """Forget what was proposed, and try something else from the current trace."""
        self.now += 1
        self.visits, self.writes = [0, 0], []
        self.proposed = [self.now, self.now]
        return 0

    def release(self, here: int) -> None:
        """Let go of the memory that was used since something was tried."""

    def same_choices(self) -> None:
        """Fail unless the program has made the choices of the current trace, and no others."""
        if self.visits[0] != self.counts[0]:
            raise TextFailure("other choices than before")

    def same_factors(self) -> None:
        """Fail unless it has made the factors of the current trace, and no others, where that stays."""
        if any(column.differs() for column in self.columns if column.template.weighs):
            raise TextFailure("other factors than before")

    def keep_arrays(self) -> None:
        """Give arrays that are written memory that is kept."""

    def kept_part(self) -> float:
        """The terms of the current trace that have to do with the choice; NaN if they are not known."""
        return self.part

    def keep_part(self, lp: float) -> None:
        """Keep the terms of the current trace that have to do with the choice, or forget them: NaN."""
        self.part = lp

    def stay(self, lp: float) -> None:
        """Keep what is tried, which has this log density, in the current trace."""
        self.lp, self.part = lp, nan

    def keep_observed(self) -> None:
        """Fail where an observation is gone."""
        for column in self.columns:
            for index in column.observed:
                if column.has(index) and column.visited[index] != self.now:
                    raise TextFailure("an observation that is gone")

    def forget_drawn(self) -> None:
        """There are no auxiliary choices any more, until some are given back."""
        self.counts[1] = 0

    def give_back(self, auxiliary: Column, column: Column, *nodes: int) -> None:
        """Let the auxiliary choices of a template be those that would lead back: what was written or is gone.

        They are given to the program that proposes, at the addresses that they have in the model. Below calls
        of programs that call themselves these are the choices of one call: its number in the program that
        proposes, if that calls itself, and its number in the model.
        """
        first = nodes[len(nodes) - column.is_below :]
        for key in column._below(first):
            if self.in_proposed(column, key) and column.written[key] != self.now:
                continue
            if key in column.observed:
                raise TextFailure("an observation that is gone")
            index = index_of((*nodes[: auxiliary.is_below], *indices_of(key)[len(first) :]))
            auxiliary.values[index] = column.values[key]
            auxiliary.written[index] = self.now
            self.counts[1] += 1

    def settle(self) -> None:
        """Fail unless all that was written is a choice of the program, and all that led back was used."""
        told = [0, 0]
        for one in self.writes:
            if not self.in_proposed(one.column, one.index):
                raise TextFailure("a choice is written that the program does not make")
            told[one.column.has(one.index)] += one.column.counted
        new, overwritten = told
        gone = self.counts[0] + new - self.visits[0]
        if not overwritten + gone == self.counts[1] == self.visits[1]:
            raise TextFailure("what is proposed from here and back are not the same choices")
