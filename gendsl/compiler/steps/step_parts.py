"""What steps are made of: functions of the text, with what they are called with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from gendsl.compiler.hir import Body, Call, Const, Expr, Function, Op, Var


@dataclass(frozen=True)
class Called:
    """A function of the text, and what it is called with."""

    function: Function
    args: tuple[Expr, ...] = ()

    def into(self, *targets: Var) -> Call:
        """A call whose first results are variables; the others are not used."""
        kinds = self.function.results[len(targets) :]
        rest = [Var(f"unused_{place}", kind) for place, kind in enumerate(kinds)]
        return Call([*targets, *rest], self.function, list(self.args))


@dataclass(frozen=True)
class Auxiliary:
    """An auxiliary program: what draws its choices and scores them, and what scores those written."""

    draw: Called
    score: Called


@dataclass(frozen=True)
class Power:
    """A power of the likelihood in the target of a proposal.

        log alpha is larger by (beta - 1) (log L(x') - log L(x))

    Attributes:
        likelihood: the log density of the observations of the current trace.
        beta: the power.
    """

    likelihood: Called
    beta: float

    HERE: ClassVar[Var] = Var("lp_observed", "f")
    THERE: ClassVar[Var] = Var("lp_observed_there", "f")

    @property
    def here(self) -> Body:
        """What finds the likelihood of the current trace."""
        return [self.likelihood.into(self.HERE)]

    @property
    def there(self) -> Body:
        """The same of the proposed trace, which is the current one now."""
        return [self.likelihood.into(self.THERE)]

    @property
    def term(self) -> Expr:
        """What is added."""
        return Op("mul", (Const(self.beta - 1.0, "f"), Op("sub", (self.THERE, self.HERE), "f")), "f")

    @property
    def size(self) -> Expr:
        """The size of what that was computed from."""
        return Op("add", (Op("abs", (self.HERE,), "f"), Op("abs", (self.THERE,), "f")), "f")
