"""Loops whose iterations can run at once: the body as array code, next to the code of one iteration.

Every iteration is choices from families that have columns, and statements that arithmetic and lookups in
outer containers make of the loop variables and the choices. In array code a loop variable, a choice and an
assigned variable are columns, with one entry per iteration; see `array_expressions` and `array_statements`:

    ("x", i) @ ~normal(mu[z] + 2 * t, exp(s))   ->   normal, add(gather(mu, z), multiply(2, t)), exp(s)

Where the array code can't vouch for its result it raises, and the iterations run one by one.
"""

from __future__ import annotations

import ast
import copy

from gendsl.lang.names import stored
from gendsl.lang.source import Source
from gendsl.lang.trees import located
from gendsl.runtime.lowering.array_expressions import Bound, ScalarError
from gendsl.runtime.lowering.array_laws import ArrayLaws
from gendsl.runtime.lowering.effects import Effects
from gendsl.runtime.lowering.helpers import Helper
from gendsl.runtime.lowering.ir import (
    ITEM,
    Branch,
    Code,
    Columns,
    ColumnSite,
    ColumnValue,
    Copy,
    Fragment,
    Loop,
    Node,
    Site,
)
from gendsl.runtime.lowering.liveness import all_loads


def vectorise(definition: Source, body: list[Node], codes: list[Code], helpers: list[Helper]) -> None:
    """Give the loops of a body their array code, where they have one.

    Its pieces are added to `codes`, and the functions of the user's that it stands for to `helpers`.
    """
    effects = Effects(definition)
    for node in body:
        if isinstance(node, Loop):
            vectorise(definition, node.body, codes, helpers)
            node.columns = _columns(definition, effects, node, helpers)
            if node.columns is None:
                continue
            codes += [step.code for step in node.columns.steps]
            codes += [gather.code for gather in node.columns.gathers]
        elif isinstance(node, Branch):
            for arm in node.arms:
                vectorise(definition, arm, codes, helpers)


def _columns(definition: Source, effects: Effects, loop: Loop, helpers: list[Helper]) -> Columns | None:
    """The array code of a loop, or None. What turns out to be a vector is lowered as one the next time."""
    wanted: frozenset[int] = frozenset()
    while True:
        try:
            return _Vectoriser(definition, effects, loop, helpers, wanted).columns()
        except _VectorsError as error:
            if error.slots <= wanted:
                return None
            wanted |= error.slots
        except ScalarError:
            return None


class _VectorsError(Exception):
    """Some variables are vectors, and were lowered as numbers."""

    def __init__(self, slots: set[int]) -> None:
        super().__init__()
        self.slots = slots


def columns_of(definition: Source, loop: Loop) -> Columns | None:
    """The array code of a loop, or None."""
    return _columns(definition, Effects(definition), loop, [])


class _Vectoriser(ArrayLaws):
    """The array code of one loop.

    Attributes:
        known: the slots of an iteration that have columns so far.
        unlooked: the containers that are also read at indices which no lookup tells.
        wanted: the variables that are to be lowered as vectors.
    """

    def __init__(
        self, definition: Source, effects: Effects, loop: Loop, helpers: list[Helper], wanted: frozenset[int]
    ) -> None:
        super().__init__(definition, effects, loop.depth, helpers)
        self.loop = loop
        self.wanted = wanted
        self.known = {source.target for source in loop.sources} | {into for _, _, into, _ in loop.carried}
        self.unlooked: set[tuple[int, int]] = set()
        self.vectors = set()
        self.amounts = {
            slot[1]  # what is in an address is no array
            for node in loop.body
            if isinstance(node, Site)
            for _, slot in node.parts or ()
            if slot is not None and slot[0] == loop.depth
        }

    def columns(self) -> Columns:
        loop = self.loop
        if loop.exits or not loop.sources:
            raise ScalarError
        steps: list[ColumnSite | ColumnValue] = []
        for node in loop.body:
            match node:
                case Site():
                    steps.append(self.site(node))
                    self.known.add(node.value)
                case Fragment():
                    steps += self.fragment(node)
                    self.known.update(node.defs)
                case Copy():
                    pass
                case _:
                    raise ScalarError
        sites = [step for step in steps if isinstance(step, ColumnSite)]
        if not sites:
            raise ScalarError
        for i, site in enumerate(sites):
            if not all(_distinct(site, other) for other in sites[:i]):
                raise ScalarError
        leaves = self.leaves(steps)
        self.vectors.update(
            into
            for (_, _, into, _), slot in zip(loop.carried, leaves, strict=True)
            if slot in self.vectors
        )
        self.take_rows(steps)
        return Columns(steps, self.gathers, self.unlooked, leaves)

    def leaves(self, steps: list[ColumnSite | ColumnValue]) -> list[int]:
        """For each carried variable, the slot of the choice or the assigned variable that it is at the end.

        Raises:
            ScalarError: it is neither.
        """
        origins: dict[int, int] = {}
        for step in steps:
            if isinstance(step, ColumnSite):
                origins[step.value] = step.value
                continue
            origins[step.slot] = step.slot
            if isinstance(step.code.result, ast.Name):
                for load in step.code.loads:
                    same = load.depth == self.loop.depth and load.name == step.code.result.id
                    if same and load.slot in origins:
                        origins[step.slot] = origins[load.slot]
        for node in self.loop.body:
            match node:
                case Copy(source=(depth, slot), slot=to) if depth == self.loop.depth and slot in origins:
                    origins[to] = origins[slot]
        outs = [out for _, _, _, out in self.loop.carried]
        if not origins.keys() >= set(outs):
            raise ScalarError
        return [origins[out] for out in outs]

    def take_rows(self, steps: list[ColumnSite | ColumnValue]) -> None:
        """Let the variables that are read as rows of a matrix be columns of rows."""
        left = self.rows - self.vectors
        for source in self.loop.sources:
            source.rows = source.target in left
            left.discard(source.target)
        wanted: set[int] = set()
        for step in steps:
            if isinstance(step, ColumnValue) and step.slot in left:
                match step.code.result:
                    case ast.Call(ast.Attribute(attr="gather") as tool):
                        tool.attr = "rows"
                    case _:
                        wanted.add(step.slot)
                left.discard(step.slot)
        if wanted:
            raise _VectorsError(wanted)
        if left or (self.rows | self.vectors) & self.numbers:
            raise ScalarError

    # --- blocks -----------------------------------------------------------------------------------

    def site(self, node: Site) -> ColumnSite:
        if node.parts is None or node.address is None:
            raise ScalarError
        own = [i for i, (_, slot) in enumerate(node.parts) if slot is not None and slot[0] == self.loop.depth]
        unknown = [i for i, (constant, slot) in enumerate(node.parts) if slot is None and constant is None]
        if unknown or (len(own) != 1 and not (own and self.loop.levels)):
            raise ScalarError
        targets = [source.target for source in self.loop.sources]
        indices = {i: slot[1] for i, (_, slot) in enumerate(node.parts) if slot is not None and i in own}
        if not set(indices.values()) <= set(targets):
            raise ScalarError
        position = max(own, key=lambda i: targets.index(indices[i]))  # of loops in loops, the innermost's
        self.scope(node.address)
        self.note_unlooked(node.address)
        call = node.thing.result
        if node.thing.statements or not isinstance(call, ast.Call) or not isinstance(call.func, ast.Call):
            raise ScalarError
        self.scope(node.thing)
        self.computes = False
        function, family = self.called_by(call.func.args[0], call)
        lowered = self.lowered(family, call)
        result = ast.Tuple([function, *lowered.parameters], ast.Load())
        self.note_unlooked(node.thing)
        code = self.code(node.thing, ast.copy_location(result, call))
        (self.vectors if lowered.rows else self.amounts).add(node.value)
        return ColumnSite(
            code, node.value, node.state, family, position, indices[position], node.parts, self.computes,
            lowered.dtype, lowered.rows,
        )  # fmt: skip

    def fragment(self, node: Fragment) -> list[ColumnValue]:
        code = node.code
        if code.blank or code.traced:
            raise ScalarError
        changed = [name for statement in code.statements for name in self.effects.changed(statement)]
        if changed:
            raise ScalarError
        self.scope(code)
        results = code.result.elts if isinstance(code.result, ast.Tuple) else [code.result]
        if not results or len(results) != len(node.defs):
            raise ScalarError
        if not self.wanted.isdisjoint(node.defs):
            return self.of_vectors(node, results)
        self.bound = {
            name: Bound(unset=True)
            for name in stored(*code.statements)
            if name not in self.varying and name not in self.outer
        }
        made = [
            self.code(code, self.after(code.statements, lambda value=value: self.operand(value)))  # type: ignore[misc]
            for value in results
        ]
        self.bound = {}
        self.note_unlooked(code)
        return [ColumnValue(value, slot) for value, slot in zip(made, node.defs, strict=True)]

    def of_vectors(self, node: Fragment, results: list[ast.expr]) -> list[ColumnValue]:
        """The same of a statement that only gives a vector a name."""
        code, (slot, *others) = node.code, node.defs
        match code.statements, results:
            case [ast.Assign([ast.Name(name)], value)], [ast.Name(found)] if name == found and not others:
                made = self.code(code, self.vector_of(value))
            case _:
                raise ScalarError
        self.vectors.add(slot)
        self.note_unlooked(code)
        return [ColumnValue(made, slot)]

    def scope(self, code: Code) -> None:
        """Note which names of a piece of code are columns."""
        own = [load for load in code.loads if load.depth == self.loop.depth]
        if any(load.own is not None or load.depth < 0 for load in code.loads):
            raise ScalarError
        if any(load.unset and load.depth == self.loop.depth for load in code.loads):
            raise ScalarError  # outside it, a variable without a value is without one in all iterations
        inside = {written.inside for written in self.loop.stored}
        if any(load.depth == self.loop.depth - 1 and load.slot in inside for load in code.loads):
            raise ScalarError
        if any(load.slot not in self.known for load in own):
            raise ScalarError
        self.varying = {load.name: load for load in own}
        self.outer = {load.name: load for load in code.loads if load.depth < self.loop.depth}
        self.looked = set()

    def note_unlooked(self, code: Code) -> None:
        """Note the containers that a piece of code also reads at indices other than those looked up."""
        for load in all_loads(code):
            slot = load.depth, load.slot
            keys = {(slot, ast.dump(key.result)) for key in load.keys}
            if load.mode == ITEM and load.depth < self.loop.depth and not keys <= self.looked:
                self.unlooked.add(slot)

    def code(self, old: Code, result: ast.expr) -> Code:
        """Array code with the loads of the code it replaces."""
        loads = [copy.copy(load) for load in old.loads]
        return Code(old.depth, loads, [], located(result))


def _distinct(one: ColumnSite, other: ColumnSite) -> bool:
    """Whether no address of one site is an address of the other, or above or below one."""
    return any(
        a[1] is None and b[1] is None and a[0] != b[0] for a, b in zip(one.parts, other.parts, strict=False)
    )
