"""HIR: the typed, structured form of a closed program, between its Python source and the printers.

Expressions have no effects and are made of numbers and references; whatever has an effect, or reads what can
change, is a statement, so that the order of a body is the order of its statements. Every expression has a
*kind*: "f" a float of 64 bits, "i" an integer of 64 bits, "b" a truth value, "r" a reference to a list.

An operation means what Python's operator or `math`'s function of that name means, errors included: where
Python raises, the text fails and the reference interpreter decides what the user sees. Integers that leave
64 bits fail as well. The names that begin with "np_" follow NumPy, which gives an infinity or a NaN in
place of an error.

The kinds of nodes and what goes through them are one module, as each new kind concerns all of it.
"""

from __future__ import annotations

import copy
import functools
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

Kind = str


class Const(NamedTuple):
    """A number that is known when the text is made; None is the reference to nothing."""

    value: float | int | bool | None
    kind: Kind


class Var(NamedTuple):
    """A variable of a function of the text."""

    name: str
    kind: Kind


class Input(NamedTuple):
    """A leaf of one of the objects that a program finds outside of itself.

    Attributes:
        tangents: whether every float that a list holds has its tangents, which are none, behind it.
    """

    number: int
    leaf: int
    kind: Kind
    tangents: bool = False


class Op(NamedTuple):
    """An operation on numbers."""

    name: str
    args: tuple[Expr, ...]
    kind: Kind


Expr = Const | Var | Input | Op
ZEROS: dict[Kind, Const] = {
    "f": Const(0.0, "f"),
    "i": Const(0, "i"),
    "b": Const(False, "b"),
    "r": Const(None, "r"),
}
TRUE, FALSE = Const(True, "b"), Const(False, "b")
IMPOSSIBLE = Const(float("-inf"), "f")
"""The log density of what is impossible."""
NEVER_FAIL = frozenset([
    "add", "sub", "mul", "neg", "lt", "le", "gt", "ge", "eq", "ne", "and", "or", "not", "select", "float",
    "bool", "abs", "imin", "imax", "copysign", "isnan", "isinf", "isfinite", "same", "detached",
])  # fmt: skip
"""Operations that never fail, but where the result is an integer of more than 64 bits."""


@dataclass(eq=False, slots=True, kw_only=True)
class Statement:
    """A statement; `line` is the line of the user's file that it comes from, 0 for none.

    Every kind of statement says what is made of it by `expressions`, `targets` and `bodies`:

    Attributes:
        ONE: the attributes that are an expression.
        MANY: those that are several.
        SETS: the one that is the variable, or the variables, that are set.
        BODIES: those that are bodies.
    """

    line: int = 0
    ONE: ClassVar[tuple[str, ...]] = ()
    MANY: ClassVar[tuple[str, ...]] = ()
    SETS: ClassVar[str] = ""
    BODIES: ClassVar[tuple[str, ...]] = ()


Body = list[Statement]


@dataclass(eq=False, slots=True)
class Set(Statement):
    """`targets = values`, all at once."""

    MANY = ("values",)
    SETS = "targets"

    targets: list[Var]
    values: list[Expr]


@dataclass(eq=False, slots=True)
class New(Statement):
    """A new list; every item has one number or reference for each kind of the layout."""

    SETS = "target"

    target: Var
    layout: tuple[Kind, ...]
    items: list[tuple[Expr, ...]] = field(default_factory=list)


@dataclass(eq=False, slots=True)
class Fill(Statement):
    """A new list of `count` equal items; a negative count gives an empty list.

    Attributes:
        keeps: whether it is a table of what is computed once for each index: what is not found there is
            computed, and put there.
    """

    ONE = ("count",)
    MANY = ("item",)
    SETS = "target"

    target: Var
    layout: tuple[Kind, ...]
    count: Expr
    item: tuple[Expr, ...]
    keeps: bool = False


@dataclass(eq=False, slots=True)
class Length(Statement):
    """The number of items of a list."""

    ONE = ("list",)
    SETS = "target"

    target: Var
    list: Expr
    layout: tuple[Kind, ...]


@dataclass(eq=False, slots=True)
class Load(Statement):
    """The item of a list at an index from -n to n - 1; fails elsewhere."""

    ONE = ("list", "index")
    SETS = "targets"

    targets: list[Var]
    list: Expr
    layout: tuple[Kind, ...]
    index: Expr


@dataclass(eq=False, slots=True)
class Store(Statement):
    """Replace the item of a list at an index from -n to n - 1; fails elsewhere.

    Attributes:
        keeps: whether the item depends on the index alone, and is computed again by what does not find it:
            then iterations of a loop may store it in any order, and look it up before others have.
    """

    ONE = ("list", "index")
    MANY = ("item",)

    list: Expr
    layout: tuple[Kind, ...]
    index: Expr
    item: tuple[Expr, ...]
    keeps: bool = False


@dataclass(eq=False, slots=True)
class Append(Statement):
    """Add an item to the end of a list; `site` is where the list was made."""

    ONE = ("list",)
    MANY = ("item",)

    list: Expr
    layout: tuple[Kind, ...]
    item: tuple[Expr, ...]
    site: int = -1


@dataclass(eq=False, slots=True)
class Truncate(Statement):
    """Take the last items of a list away until `count` are left; `site` is where the list was made."""

    ONE = ("list", "count")

    list: Expr
    layout: tuple[Kind, ...]
    count: Expr
    site: int = -1


@dataclass(eq=False, slots=True)
class If(Statement):
    """A branch."""

    ONE = ("test",)
    BODIES = ("then", "orelse")

    test: Expr
    then: Body
    orelse: Body


@dataclass(eq=False, slots=True)
class For(Statement):
    """`for var in range(start, stop, step)`; the three are evaluated once, and the step is not 0."""

    ONE = ("start", "stop", "step")
    SETS = "var"
    BODIES = ("body",)

    var: Var
    start: Expr
    stop: Expr
    step: Expr
    body: Body
    label: int


@dataclass(eq=False, slots=True)
class Loop(Statement):
    """A loop that ends where a statement leaves it."""

    BODIES = ("body",)

    body: Body
    label: int


@dataclass(eq=False, slots=True)
class Block(Statement):
    """Statements that run once, and that a statement among them may leave."""

    BODIES = ("body",)

    body: Body
    label: int


@dataclass(eq=False, slots=True)
class Leave(Statement):
    """Go on behind the loop or the block with this label."""

    label: int


@dataclass(eq=False, slots=True)
class Next(Statement):
    """Go on with the next iteration of the loop with this label."""

    label: int


@dataclass(eq=False, slots=True)
class Call(Statement):
    """Call a function of the text; it may have several results."""

    MANY = ("args",)
    SETS = "targets"

    targets: list[Var]
    function: Function
    args: list[Expr]


@dataclass(eq=False, slots=True)
class Return(Statement):
    """End the function with these results."""

    MANY = ("values",)

    values: list[Expr]


@dataclass(eq=False, slots=True)
class Fail(Statement):
    """The program raises here, or does what the text does not express: the reference interpreter decides."""

    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class Chart:
    """The unconstrained coordinates of what a distribution draws; without functions if it is discrete.

    Attributes:
        to_line: of a number (parameters, x) -> the coordinate, and the log slope of the chart there; of an
            array (parameters, x, list) -> the sum of log slopes, and whether all coordinates are finite.
            These are added to the list.
        from_line: of a number (parameters, coordinate) -> x, the log slope, and whether x has a coordinate
            itself; of an array (parameters, an array of that shape, list, place) -> the same for what the
            list has from that place on.
        is_array: whether it is that of an array.
        fewer: how many coordinates of an array there are less than entries.
    """

    to_line: Function | None = None
    from_line: Function | None = None
    is_array: bool = False
    fewer: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Normal:
    """What is done of a choice that is normal where it moves along an ellipse around its mean.

    Attributes:
        start: (parameters, value, another draw, list): adds a point to the list for each entry, its mean, and
            how far from it the entry and that of the other draw are.
        tell: (parameters, list): adds all numbers that the distribution is made of.
        at_angle: (value, list, place, cos, sin) -> the value at an angle, of the points from a place on.
    """

    start: Function
    tell: Function
    at_angle: Function


@dataclass(eq=False, slots=True)
class Choice(Statement):
    """A random choice: `targets` is its value, at `address` with these indices.

    Attributes:
        density: the log density as a function of the parameters and the value.
        parameters: the leaves of the distribution.
        sampler: a draw as a function of the parameters; None where nothing is, or can be, drawn.
        weighs: whether it counts towards the weight where it is not given, as a factor does.
        undrawn: the refusal that says why nothing can be drawn, if it can't.
        chart: its coordinates, or the refusal that says why they are not known; None where none are needed.
        normal: how it moves along an ellipse, or the refusal that says why it can't; None where it needs not.
        told: the leaves of the distribution, of one type for all that choices of the template have, where
            they are of several types and one is asked for.
        kept: the log density for moves that may keep it, which fails where it would have another base
            measure; None where that can't be.
    """

    MANY = ("indices", "parameters", "told")
    SETS = "targets"

    targets: list[Var]
    template: Any
    indices: tuple[Expr, ...]
    density: Function
    parameters: tuple[Expr, ...]
    sampler: Function | None = None
    weighs: bool = False
    undrawn: Exception | None = None
    chart: Chart | Exception | None = None
    normal: Normal | Exception | None = None
    told: tuple[Expr, ...] = ()
    kept: Function | None = None


@dataclass(eq=False, slots=True)
class Visit(Statement):
    """The value of a choice in the state; fails where there is none, or where it was visited before."""

    MANY = ("indices",)
    SETS = "targets"

    targets: list[Var]
    template: Any
    indices: tuple[Expr, ...]


@dataclass(eq=False, slots=True)
class Read(Statement):
    """The value of a choice of a trace that a program is given; fails where there is none.

    Attributes:
        followed: whether derivatives are known in it.
        tangents: whether every float among the targets has its tangents behind it.
        is_pivot: whether its row of the Jacobian is taken out already; see `pivots`.
    """

    MANY = ("indices",)
    SETS = "targets"

    targets: list[Var]
    template: Any
    indices: tuple[Expr, ...]
    followed: bool = True
    tangents: bool = False
    is_pivot: bool = False


@dataclass(eq=False, slots=True)
class Draw(Statement):
    """A random number by one call of a method of NumPy's Generator; see `front.draws`."""

    MANY = ("args",)
    SETS = "target"

    target: Var
    name: str
    args: tuple[Expr, ...]


@dataclass(eq=False, slots=True)
class Present(Statement):
    """Whether a trace that a program is given has a choice."""

    MANY = ("indices",)
    SETS = "target"

    target: Var
    template: Any
    indices: tuple[Expr, ...]


@dataclass(eq=False, slots=True)
class Count(Statement):
    """How many choices of a template a trace that a program is given has, whose first indices are given."""

    MANY = ("indices",)
    SETS = "target"

    target: Var
    template: Any
    indices: tuple[Expr, ...]


@dataclass(eq=False, slots=True)
class Given(Statement):
    """Whether the state has a choice."""

    MANY = ("indices",)
    SETS = "target"

    target: Var
    template: Any
    indices: tuple[Expr, ...]


@dataclass(eq=False, slots=True)
class Node(Statement):
    """The number of the call at an address of a program that calls itself: the one that it has, or a new one.

    It is a number for the address, whether a trace has choices below it or not.

    Attributes:
        made: whether the program makes the call here; then it fails where it was made before.
    """

    MANY = ("indices",)
    SETS = "target"

    target: Var
    template: Any
    indices: tuple[Expr, ...]
    made: bool = False


@dataclass(eq=False, slots=True)
class Extent(Statement):
    """A number above all indices along an axis that choices or calls of a template have."""

    SETS = "target"

    target: Var
    template: Any
    axis: int


@dataclass(eq=False, slots=True)
class Write(Statement):
    """Set a choice of an output trace; fails where it was set before.

    Attributes:
        tangents: whether every float among the values has its tangents behind it, the columns of the
            Jacobian.
        is_pivot: whether its column is taken out already; see `pivots`.
    """

    MANY = ("indices", "values")

    template: Any
    indices: tuple[Expr, ...]
    values: tuple[Expr, ...]
    tangents: bool = False
    is_pivot: bool = False


@dataclass(eq=False, slots=True)
class Copy(Statement):
    """Set choices of an output trace to those of an input trace.

    There may be fewer indices than the templates have: then all choices are copied whose first indices are
    `source_indices`, to the same further indices. `target` is how many there were.
    """

    MANY = ("indices", "source_indices")
    SETS = "target"

    target: Var
    template: Any
    indices: tuple[Expr, ...]
    source: Any
    source_indices: tuple[Expr, ...]


@dataclass(eq=False, slots=True)
class Keep(Statement):
    """Put a choice into the state, or note a call; fails where there is one, full where there is no room."""

    MANY = ("indices", "values")

    template: Any
    indices: tuple[Expr, ...]
    values: list[Expr]


@dataclass(eq=False, slots=True)
class Redraw(Statement):
    """Propose a value that was drawn for a choice, whether there is one or not; fails for an observation."""

    MANY = ("indices", "values")

    template: Any
    indices: tuple[Expr, ...]
    values: list[Expr]


@dataclass(eq=False, slots=True)
class NewNode(Statement):
    """The number of a call of a program that calls itself, one more than that of the call before."""

    SETS = "target"

    target: Var


STATE = frozenset([
    "alone", "any_of", "ask", "asked", "before", "before_last", "begin", "came_back", "changed_indices",
    "columns", "columns_written", "commit", "coordinates", "counts", "cover", "current", "decide", "drawn",
    "elsewhere", "exchange", "followed", "forget_drawn", "forget_nodes", "give_back", "give_up", "go_back",
    "go_there", "impossible", "in_proposed", "is_far", "is_kept", "is_observed", "keep_arrays",
    "keep_choices", "keep_observed", "keep_part", "keeps_choices", "kept_part", "list_site", "log_density",
    "lp", "never_picked", "new_node", "nodes", "nodes_kept", "note_rounding", "nothing_selected", "now",
    "on_border", "on_border_there", "only_change", "proposed", "reads", "release", "return_here", "rng",
    "rows", "same", "same_choices", "same_factors", "save", "settle", "site_indices", "site_template",
    "sites", "stay", "take_back", "try_again", "turn", "turn_back", "visits", "writes", "zero",
])  # fmt: skip
"""The names of the state's own operations and parts, which no template has."""


@dataclass(eq=False, slots=True)
class Primitive(Statement):
    """An operation of the state; `gendsl.compiler.python.state` says what each does.

    Attributes:
        templates: those that it is about.
    """

    MANY = ("args",)
    SETS = "targets"

    targets: list[Var]
    name: str
    args: tuple[Expr, ...] = ()
    templates: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class Linear:
    """What BLAS and LAPACK compute in place of a function's own statements, where its matrices are large.

    Attributes:
        name: the operation; `gendsl.compiler.front.linear` has all of them.
        ranks: how many axes each of its arrays of floats has, which are its first parameters.
        flags: its constants, by name.
    """

    name: str
    ranks: tuple[int, ...]
    flags: tuple[tuple[str, bool], ...] = ()


@dataclass(eq=False, slots=True)
class Function:
    """A function of the text.

    Attributes:
        name: the user's name for it, made unique.
        parameters: its variables that are given.
        results: the kinds of its results.
        origin: what the user calls it and where it stands, for a comment.
        scores: whether it, or a function that it calls, makes random choices.
        symbol: what it is called in machine code that all texts share; empty for those that are only of one.
        linear: what computes the same faster where matrices are large.
        is_discrete: whether it is known to have no effect, and no float in its results, so that derivatives
            have no part in what it does.
        repeats: whether it does nothing but what has been done of the program before, where it did not fail.
        on_dict: what it does with a dict, and how many numbers a key is, if it is a function of dicts.
    """

    name: str
    parameters: list[Var] = field(default_factory=list)
    results: list[Kind] = field(default_factory=list)
    body: Body = field(default_factory=list)
    origin: str = ""
    scores: bool = False
    symbol: str = ""
    linear: Linear | None = None
    is_discrete: bool = False
    repeats: bool = False
    on_dict: tuple[str, int] = ("", 0)


def bodies(statement: Statement) -> list[Body]:
    """The bodies inside a statement."""
    return [getattr(statement, name) for name in statement.BODIES]


def walk(body: Body) -> Iterator[Statement]:
    """All statements of a body, those inside others included."""
    left = [iter(body)]
    while left:
        for statement in left[-1]:
            yield statement
            if statement.BODIES:
                left += [iter(getattr(statement, name)) for name in reversed(statement.BODIES)]
                break
        else:
            left.pop()


def parts(expr: Expr) -> Iterator[Expr]:
    """An expression, and all that it is made of."""
    yield expr
    if isinstance(expr, Op):
        for arg in expr.args:
            yield from parts(arg)


def expressions(statement: Statement) -> list[Expr]:
    """The expressions that a statement itself evaluates."""
    if type(statement) is New:
        return [expr for item in statement.items for expr in item]
    found = [getattr(statement, name) for name in statement.ONE]
    for name in statement.MANY:
        found += getattr(statement, name)
    return found


def targets(statement: Statement) -> list[Var]:
    """The variables that a statement itself sets."""
    if not statement.SETS:
        return []
    found = getattr(statement, statement.SETS)
    return found if type(found) is list else [found]


def _concerned(main: Function) -> set[int]:
    """The identities of the functions that have to do with choices, by themselves or by what they call."""
    about = (Choice, Visit, Keep, Redraw, Read, Write, Copy, Present, Count, Given, NewNode, Node, Extent)
    every = functions(main)
    found = {id(one) for one in every if any(isinstance(s, about) for s in walk(one.body))}
    more = True
    while more:  # as functions may call themselves
        callers = {
            id(one)
            for one in every
            if any(isinstance(s, Call) and id(s.function) in found for s in walk(one.body))
        }
        more = not callers <= found
        found |= callers
    return found


Change = Callable[[Statement], Body | None]
"""What becomes of a statement, in a copy of a function; None where it stays as it is."""


def copied_body(
    body: Body,
    change: Change = lambda one: None,
    function: Callable[[Function], Function] = lambda one: one,
) -> Body:
    """Copies of statements, with others in place of some.

    Args:
        change: what becomes of a statement.
        function: what is called in place of a function.
    """
    copies: Body = []
    for one in body:
        changed = change(one)
        if changed is not None:
            copies += changed
            continue
        one = copy.copy(one)
        if isinstance(one, Call):
            one.function = function(one.function)
        elif isinstance(one, Choice):
            one.density = function(one.density)
            one.sampler = None if one.sampler is None else function(one.sampler)
        for name in one.BODIES:
            setattr(one, name, copied_body(getattr(one, name), change, function))
        for name in ("items", one.SETS, *one.MANY):
            found = getattr(one, name, None) if name else None
            if isinstance(found, list):
                setattr(one, name, list(found))
        copies.append(one)
    return copies


def copied(
    main: Function,
    suffix: str,
    change: Change,
    into: Function | None = None,
    made: dict[int, Function] | None = None,
) -> Function:
    """A copy of a function, and of all that it calls, with other statements in place of some.

    Functions that have nothing to do with choices, and call none that has, are not copied.

    Args:
        suffix: what the names of the copies end with.
        into: the function to fill, if there is one already.
        made: the copies that there are already, by the `id` of what they are copies of; new ones are added.
    """
    made = {} if made is None else made
    concerned = _concerned(main)

    def function(one: Function, into: Function | None = None) -> Function:
        if id(one) not in concerned and one is not main:
            return one
        if id(one) not in made:
            into = into or Function(f"{one.name}{suffix}", origin=one.origin, scores=one.scores)
            made[id(one)] = into
            into.parameters, into.results = list(one.parameters), list(one.results)
            into.body = copied_body(one.body, change, function)
        return made[id(one)]

    return function(main, into)


@functools.lru_cache(maxsize=4096)
def identifier(name: str) -> str:
    """A name made of characters that may be in one of Python's, in the form in which Python keeps them."""
    kept = unicodedata.normalize("NFKC", name)
    return "".join(c if f"_{c}".isidentifier() else "_" for c in kept)


def functions(main: Function) -> list[Function]:
    """A function and all that it calls, callees first."""
    order: list[Function] = []
    seen: set[int] = set()

    def visit(function: Function) -> None:
        if id(function) in seen:
            return
        seen.add(id(function))
        for statement in walk(function.body):
            if isinstance(statement, Call):
                visit(statement.function)
            elif isinstance(statement, Choice):
                visit(statement.density)
                if statement.sampler is not None:
                    visit(statement.sampler)
        order.append(function)

    visit(main)
    return order


def both(first: Expr, second: Expr) -> Expr:
    """Whether two truth values, both of which are at hand, hold."""
    if isinstance(first, Const):
        return second if first.value else first
    if isinstance(second, Const):
        return first if second.value else second
    return Op("and", (first, second), "b")
