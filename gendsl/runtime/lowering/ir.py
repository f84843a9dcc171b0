"""The intermediate representation: a body as blocks over the slots of a frame.

A *frame* holds what one execution of a body, or of one iteration of a loop, computed: a list of slots.
Each assignment makes a new version of a variable, in a slot of its own, so that a slot never changes
while a body runs and every use names the version it means. Slots of the body's own frame have depth 0,
those of a loop's iterations depth 1, and so on.

Expressions and deterministic statements stay syntax trees (`Code`); what they need is in their loads.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gendsl.errors import Location

SCORE, STATUS, POSITION, RETVAL, FIRST = 0, 1, 2, 3, 4
"""The slots every frame has: the sum of its scores, how it ended, which iteration it is, what it returns."""

WHOLE, ITEM, LENGTH, RAW = "whole", "item", "length", "raw"
"""How a load reads its variable: all of it, by index, only its length, or to hand it on as it is."""


@dataclass
class Load:
    """One variable that a piece of code reads.

    Attributes:
        name: the user's name for it.
        depth, slot: where its version lies.
        mode: WHOLE, ITEM, LENGTH or RAW.
        keys: for ITEM, code for each index that is read.
        unset: whether the version may be unassigned.
        own: for a container that the enclosing loop is writing, the slot of what this iteration has
            written so far (-1: nothing yet); None for any other variable.
        own_key: the slot of the key at which it has, if that may be another one at each update.
        cells: whether it reads only single entries of rows.
        inner: of a container of which a loop in the enclosing loop writes entries, too: those that this one
            has written.
    """

    name: str
    depth: int
    slot: int
    mode: str
    keys: list[Code] = field(default_factory=list)
    unset: bool = False
    own: int | None = None
    own_key: int = -1
    cells: bool = False
    inner: Load | None = None


@dataclass
class Code:
    """An expression, or statements and the names they define, to run on the frames of its scope.

    Attributes:
        depth: the depth of the frame it runs in; it is called with the frames of depth 0 to `depth`.
        loads: what it reads.
        statements: what runs first.
        result: what it returns.
        copied: names whose values it changes, and so copies first.
        rows: those of lists and dicts of which it also changes what they hold.
        blank: names that it may leave unassigned.
        guarded: names whose values it would change in place if they were lists or arrays.
        traced: whether it makes choices, through the execution it is called with.
        asks: whether it asks when it runs if it may: if something changes in place that others hold.
        several: whether it gives a list of keys, in place of one.
    """

    depth: int
    loads: list[Load]
    statements: list[ast.stmt]
    result: ast.expr
    copied: frozenset[str] = frozenset()
    blank: tuple[str, ...] = ()
    traced: bool = False
    guarded: frozenset[str] = frozenset()
    asks: bool = False
    several: bool = False
    rows: frozenset[str] = frozenset()
    index: int = -1


@dataclass
class Node:
    """A block. `node` is the syntax that it came from."""

    node: ast.AST


@dataclass
class Fragment(Node):
    """Deterministic code that defines variables."""

    code: Code
    defs: list[int]


@dataclass
class Copy(Node):
    """A new version of a variable where ways of control join; None for a version that doesn't exist."""

    source: tuple[int, int] | None
    slot: int


@dataclass
class Return(Node):
    """The value that the body returns; ends it."""

    code: Code
    lazy: bool


@dataclass
class Exit(Node):
    """`break` or `continue`."""

    status: str


Part = tuple[Any, tuple[int, int] | None]
"""A component of an address: a constant and None, or None and the slot of the variable that it is, if any."""


@dataclass
class Site(Node):
    """`address @ ~thing`: a choice, a traced call, or, where `thing` is neither, an ordinary value.

    Attributes:
        address: code for the address, or None if it has none.
        parts: the components of the address, where it is a tuple or a constant.
        thing: code for the operand.
        arguments: for each positional argument of a traced call the load that it hands on as it is, or None.
        sugar: whether an assignment's target gives the address.
        splice: whether the address is `...`.
        value, state: the slots of its value and of its record.
    """

    address: Code | None
    parts: list[Part] | None
    thing: Code
    arguments: list[Load | None]
    sugar: bool
    splice: bool
    value: int
    state: int


@dataclass
class Branch(Node):
    """`if`: one of two sequences over the same frame. `defs` are the slots that join its ways."""

    test: Code
    arms: tuple[list[Node], list[Node]]
    defs: list[int]
    state: int


@dataclass
class Stored:
    """A container that each iteration of a loop writes one entry of.

    Attributes:
        name: the user's name for it.
        kind: "append", "index" (at the loop's own index, or at the value of a slot), "key" (of a dict that
            the loop makes) or "nested" (the entries of a dict, which a loop in the iteration has made, or
            several statements).
        base: what it was before the loop: depth and slot, or None for a new list or dict.
        value, key: the slots of an iteration's frame that hold the entry (for "nested", the dict) and its
            key.
        inside: the slot, beside the loop, of the container as the loop's body sees it.
        after: the slot of the container after the loop.
        index, shift: for "index", which of the loop's targets is the index, and what is added to it; -1 for
            another index.
        indices: how many indices of an array name an entry.
        rows: whether it writes the entries of rows, `f[i][j] = ...`; a key is then a pair.
        optional: whether an iteration may leave it as it was: its entry is unset then.
        joined: whether the arms of a branch write it.
        within: whether its entries are those of a container that the loop around this one writes; it is a
            dict, and the base that of what that loop's iteration has written before.
        of_rows: for such a one whether that container's entries are those of its rows.
        plain: whether a nested loop looks entries up that it writes: then all that is written surely is one
            entry, at an index that counts from the start.
        new: for no base, what it is: list or dict.
        where: the user's line that writes it, for errors; the loop's if there are several.
    """

    name: str
    kind: str
    base: tuple[int, int] | None
    value: int
    key: int
    inside: int
    after: int
    index: int = -1
    shift: int = 0
    indices: int = 1
    rows: bool = False
    optional: bool = False
    joined: bool = False
    within: bool = False
    of_rows: bool = False
    plain: bool = False
    new: type = list
    where: Location | None = None

    @property
    def may_move(self) -> bool:
        """Whether an iteration may come to write at another key than it did, or at more or fewer keys."""
        return self.kind in ("key", "nested") or (self.kind == "index" and self.index < 0)


@dataclass
class ColumnSite:
    """A choice of all iterations at once: `code` gives its family and parameters, as columns.

    Attributes:
        value, state: as in its `Site`.
        family: the family that it had when the body was lowered.
        dtype, rows: the type of its column, and whether its values are vectors, which are rows of it.
        computes: whether its parameters are computed from columns, not only looked up.
        position, index: which component of its address is a loop variable, and the slot of that.
    """

    code: Code
    value: int
    state: int
    family: Any
    position: int
    index: int
    parts: list[Part]
    computes: bool
    dtype: np.dtype[Any]
    rows: bool = False


@dataclass
class ColumnValue:
    """A variable of all iterations at once."""

    code: Code
    slot: int


@dataclass
class Gather:
    """A lookup by index in a container outside a loop; `of` is the slot whose value is the index, if any."""

    container: tuple[int, int]
    of: int | None
    code: Code


@dataclass
class Columns:
    """The body of a loop as array code, and the lookups in it; see `compiler.vectorise`.

    Attributes:
        unlooked: the containers that are also read at other keys than those of the lookups.
        leaves: for each carried variable of the loop, the slot of the choice or of the assigned variable
            whose value an iteration leaves in it.
    """

    steps: list[ColumnSite | ColumnValue]
    gathers: list[Gather]
    unlooked: set[tuple[int, int]]
    leaves: list[int]


@dataclass
class Source:
    """What a loop goes through: `enumerate`, `zip` and plain iterables are one or several sources.

    Attributes:
        code: code for the iterable, or for the start of a count.
        counted: whether it is the count of an `enumerate`.
        target: the slot of the loop variable, in the iteration's frame.
        distinct: whether it surely gives no value twice: a count, or a range.
        load: where the iterable is just a variable, its load.
        rows: whether array code takes it as a matrix, row by row.
    """

    code: Code
    counted: bool
    target: int
    load: Load | None = None
    distinct: bool = False
    rows: bool = False


@dataclass
class Level:
    """One of several loops, each in the other, that are lowered as one loop over pairs; see `compiler.nests`.

    Attributes:
        counted: for each source whether it is the count of an `enumerate`.
        distinct: for each whether it surely gives no value twice.
        strict: whether all that it goes through must have one length.
        same: whether what it goes through has no variable of the loops around it.
        lead: how many blocks at the start of a body are those of this loop and the ones around it.
        node: the loop, or the part of a comprehension.
    """

    counted: list[bool]
    distinct: list[bool]
    strict: bool
    same: bool
    lead: int
    node: ast.For | ast.comprehension


@dataclass
class Loop(Node):
    """A loop, or a comprehension. Without carried variables its iterations are independent: a plate.

    Attributes:
        sources: what it goes through; none for `while`.
        body: the blocks of one iteration, over a frame of `size` slots.
        carried: for each carried variable: its name, where its first value lies (or None), the slot in
            which an iteration receives it and the slot in which it leaves it.
        outs: for each variable read after the loop: the slot beside the loop, the iteration's slot, and
            where the value lies if there is no iteration (or None).
        stored: the containers it writes.
        names: slot -> name of the loop variables that are indices, for routing addresses.
        strict: whether all that it goes through must have one length.
        columns: its body as array code, if it has one.
        fixed: whether surely no choice decides how many iterations there are; found of loops at the top.
        levels: of loops in loops that are one, what each of them is. The sources are those of all of them,
            and have one code, which gives what the outermost goes through and functions for the others.
    """

    sources: list[Source]
    body: list[Node]
    size: int
    depth: int
    carried: list[tuple[str, tuple[int, int] | None, int, int]]
    outs: list[tuple[int, int, tuple[int, int] | None]]
    stored: list[Stored]
    targets: dict[str, int]
    state: int
    exits: bool
    strict: bool = False
    columns: Columns | None = None
    fixed: bool = False
    levels: list[Level] = field(default_factory=list)

    @property
    def is_data(self) -> bool:
        """Whether it may be kept as columns, and no choice decides how many iterations there are."""
        return self.fixed and self.columns is not None


@dataclass
class Filled(Fragment):
    """Deterministic code that only fills containers, an entry in each iteration of a loop.

    The code makes all the entries at once; the loop says the same, iteration by iteration, so that a change
    can be followed to the entries that it concerns.
    """

    loop: Loop
    state: int


@dataclass
class Region(Node):
    """Opaque: statements that are executed whole, as the reference runtime executes them."""

    code: Code
    defs: list[int]
    state: int
    reason: str
    rewrite: str


@dataclass
class Group(Node):
    """Statements that are executed as a whole while they make few choices; see `compiler.groups`.

    Attributes:
        code: all of them, with the functions of `codes` for the keys that it reads.
        heads: the first components of the addresses of their choices.
    """

    code: Code
    codes: list[Code]
    defs: list[int]
    state: int
    heads: frozenset[Any]


@dataclass
class Program:
    """A lowered body.

    Attributes:
        parameters: the names of its parameters, in the order of their slots from FIRST on.
        body: its blocks, over a frame of `size` slots.
        opaque: why it can't be lowered (reason, what to write, where), or None; then `body` is empty.
        codes: every piece of code, in the order of `Code.index`.
        grouping: which of its statements may be executed as a whole; None if none.
        helpers: the functions of the user's that its array code stands for.
    """

    parameters: list[str]
    body: list[Node]
    size: int
    opaque: tuple[str, str, ast.AST] | None
    codes: list[Code]
    grouping: Any
    helpers: list[Any] = field(default_factory=list)
