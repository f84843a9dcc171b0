"""What a function computes that its results do not need is left out, where it is known not to fail.

A program that has been scored is followed once more for what it returned, or for the parameters of one
choice: of the sums that only scores need, nothing is left, nor of the tests whether parameters are in their
domains. A test stays if it is of anything that is still needed, such as an index.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from gendsl.compiler import hir
from gendsl.compiler.hir import (
    Block,
    Body,
    Call,
    Fail,
    For,
    Function,
    If,
    Leave,
    Loop,
    Next,
    Set,
    Statement,
    Var,
)
from gendsl.compiler.hir.rewriting import variables_of
from gendsl.compiler.hir.text_effects import NONE, TextEffects, made_by
from gendsl.compiler.passes.clean import clean_one
from gendsl.compiler.passes.counted_loops import count
from gendsl.compiler.passes.lookups import look_up

_ONLY_COMPUTE = (
    hir.New, hir.Fill, hir.Length, hir.Load, hir.Present, hir.Count, hir.Given, hir.Extent,
)  # fmt: skip
"""Statements that do nothing but to set their targets."""


def follow(made: Iterable[Function], scored: Iterable[Function]) -> None:
    """Leave out what runs along the current trace do not need, which was scored, and did not fail.

    Args:
        made: the functions of these runs.
        scored: those of the programs themselves, which stay as they are.
    """
    whole, effects = {id(one) for one in scored}, TextEffects()
    for one in {id(one): one for one in made if id(one) not in whole}.values():
        clean_one(one)  # as a list with two names is kept
        count(one)
        keep_needed(one, effects)
        look_up(one, effects)


def keep_needed(function: Function, effects: TextEffects, kept: Collection[int] = ()) -> None:
    """Leave out what neither the results of a function nor its effects need.

    A list that it makes itself may have other names. Where it is needed under one of these, so is the
    statement that gave it this name, and with that the list.

    Args:
        kept: the identities of statements that are needed, as they may fail.
    """
    found = _Needed(effects, made_by(hir.walk(function.body)) - set(function.parameters), kept)
    while found.more(function.body):
        pass
    function.body = found.kept(function.body)


class _Needed:
    """The statements that are needed, and the variables that these use: both only grow."""

    def __init__(self, effects: TextEffects, made: set[Var], kept_anyway: Collection[int]) -> None:
        self.effects, self.made, self.kept_anyway = effects, made, kept_anyway
        self.statements: dict[int, Statement] = {}
        self.labels: set[int] = set()
        self.live: set[Var] = set()

    def more(self, body: Body) -> bool:
        """Look at the statements of a body once more; whether any more are needed."""
        before = len(self.statements), len(self.live)
        self._any(body)
        return before != (len(self.statements), len(self.live))

    def kept(self, body: Body) -> Body:
        """What is needed of a body."""
        result: Body = []
        for one in body:
            if id(one) not in self.statements:
                continue
            if isinstance(one, Set) and id(one) not in self.kept_anyway:
                pairs = [(t, v) for t, v in zip(one.targets, one.values, strict=True) if t in self.live]
                one.targets, one.values = [t for t, _ in pairs], [v for _, v in pairs]
            for name in one.BODIES:
                setattr(one, name, self.kept(getattr(one, name)))
            result.append(one)
        return result

    def _any(self, body: Body) -> bool:
        """Whether any statement of a body is needed."""
        found = False
        for one in reversed(body):
            if self._is_needed(one):
                self.statements[id(one)] = one
                found = True
                if isinstance(one, Set):
                    for target, value in zip(one.targets, one.values, strict=True):
                        if target in self.live or id(one) in self.kept_anyway:
                            self.live |= variables_of(value)
                else:
                    self.live.update(*map(variables_of, hir.expressions(one)))
        return found

    def _is_needed(self, one: Statement) -> bool:
        match one:
            case Leave(label=label) | Next(label=label):
                return label in self.labels
            case For() | Loop() | Block():
                if not self._any(one.body):
                    return False
                self.labels.add(one.label)
                return True
            case If():
                is_kept = id(one) in self.kept_anyway
                if _is_test(one) and not is_kept and not self._is_of_needed(one):
                    return False
                return any([self._any(one.then), self._any(one.orelse), is_kept])
            case _ if id(one) in self.kept_anyway:
                return True
            case Call():
                return bool(self.live & set(one.targets)) or self.effects.of(one.function).changes != NONE
            case hir.Read(followed=True) | hir.Node(made=True):
                return True
            case hir.Append(list=ref) | hir.Store(list=ref) | hir.Truncate(list=ref):
                return ref in self.live or ref not in self.made
            case Set() | hir.Read() | hir.Node():
                return not self.live.isdisjoint(hir.targets(one))
        return not isinstance(one, _ONLY_COMPUTE) or not self.live.isdisjoint(hir.targets(one))

    def _is_of_needed(self, test: If) -> bool:
        """Whether a test is of what is needed, or of nothing that is computed."""
        variables = variables_of(test.test)
        return not variables or not self.live.isdisjoint(variables)


def _is_test(one: If) -> bool:
    """Whether nothing but a failure depends on what a branch tests."""
    sides = one.then, one.orelse
    return all(isinstance(inner, Fail) for side in sides for inner in side) and any(sides)
