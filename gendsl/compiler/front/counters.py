"""`Counter` and `defaultdict`: dicts that have something for keys that are not there."""

from __future__ import annotations

import ast
from collections import Counter

from gendsl.compiler.front import tables
from gendsl.compiler.front.captures import owner_of
from gendsl.compiler.front.containers import length
from gendsl.compiler.front.frame import Frame
from gendsl.compiler.front.list_methods import sorted_list
from gendsl.compiler.front.lists import copied, index_leaf
from gendsl.compiler.front.loops import each
from gendsl.compiler.front.operators import arithmetic
from gendsl.compiler.front.tables import Factory
from gendsl.compiler.hir import Const, Op
from gendsl.compiler.hir.types import Closure, Dict, Iterator
from gendsl.compiler.hir.values import NONE, Value, is_known, items_of, known, object_of
from gendsl.lang import trees


def counted(frame: Frame, args: list[Value]) -> Value:
    """`Counter()`, `Counter(values)`."""
    made = tables.make(frame, frame.here, "Counter", Counter)
    if args and isinstance(args[0].type, Dict):
        raise frame.not_closed("a Counter of a dict")

    def add(one: Value) -> None:
        one = frame.atoms(one)
        tables.store(frame, made, one, arithmetic(frame, "add", tables.item(frame, made, one), known(1)))

    if args:
        each(frame, frame.here, args[0], add)
    return made


def with_default(frame: Frame, args: list[Value]) -> Value:
    """`defaultdict(factory)`, `defaultdict(factory, mapping)`."""
    if not 1 <= len(args) <= 2 or (len(args) == 2 and not isinstance(args[1].type, Dict)):
        raise frame.not_closed("a defaultdict of these arguments")
    if isinstance(args[0].type, Closure):
        missing = _factory(frame, args[0])
    elif is_known(args[0]) and callable(object_of(args[0])):
        missing = object_of(args[0])
    else:
        raise frame.not_closed("a defaultdict of these arguments")
    made = tables.make(frame, frame.here, "defaultdict", missing)
    if len(args) == 2:
        tables.update(frame, frame.here, made, args[1])
    return made


def _factory(frame: Frame, function: Value) -> Factory:
    """What stands for a nested function in the type of a `defaultdict`: one for each place of the source."""
    assert isinstance(function.type, Closure)
    closure = function.type
    made: Factory = frame.program.factories.setdefault(frame.place(frame.here, "factory"), Factory())
    made.value, made.refused = function, ""
    if closure.captured is None:
        raise frame.not_closed("a defaultdict whose factory uses a variable which may change")
    for name, _ in closure.captured:
        made.refused = f"a defaultdict whose factory uses {name}, in another function"
        if owner_of(closure.frame, name).again:  # each of the dicts would have a value of its own
            raise frame.not_closed(f"a defaultdict that is made in a loop, whose factory uses {name}")
    if closure.defaults or any(isinstance(part, ast.NamedExpr) for part in trees.walk(closure.node)):
        raise frame.not_closed("a defaultdict of a function with defaults")
    return made


def most_common(frame: Frame, value: Value, args: list[Value]) -> Value:
    """`counter.most_common(n)`: of equally many, those that came first come first."""
    items = Value(Iterator("items", (value.type,)), value.leaves)
    made = sorted_list(frame, items, lambda pair: items_of(pair)[1], True, in_place=False)
    if not args or args[0].type == NONE.type:
        return made
    n = frame.atom(length(frame, made), "n")
    count = Op("imax", (Op("imin", (index_leaf(frame, args[0]), n), "i"), Const(0, "i")), "i")
    stop = frame.atom(count, "n")
    return copied(frame, frame.here, made, Const(0, "i"), stop, Const(1, "i"), "most common")
