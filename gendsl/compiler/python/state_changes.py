"""Steps that change one choice, and keep all others: only what has to do with it is scored; see `state` and
`gendsl.compiler.steps.changes`.
"""

from __future__ import annotations

from typing import Any

from gendsl.compiler.python.state_columns import Column, Phases


class ChangeState(Phases):
    """Looks at the one choice that was written."""

    def only_change(self, *columns: Column) -> tuple[int, int]:
        """Of which of some templates the one choice of the model is that was written, and where in the log.

        It is their number where that is not one of the current trace, or of none of these, or where more were
        written.
        """
        places = [place for place, one in enumerate(self.writes) if one.column.is_model]
        if len(places) == 1:
            one = self.writes[places[0]]
            if one.column in columns and one.column.has(one.index):
                return columns.index(one.column), places[0]
        return len(columns), 0

    def changed_indices(self, column: Column, place: int) -> Any:
        """The indices of a choice that was written."""
        return self.writes[place].index

    def keep_choices(self) -> None:
        """Note that the proposed trace has the choices of the current one."""
        self.keeps_choices, self.visits[0] = True, self.counts[0]
