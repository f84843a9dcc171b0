"""Values of the abstract interpreter."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

from gendsl.compiler.hir import Const, Expr, Op
from gendsl.compiler.hir.failures import NotClosed
from gendsl.compiler.hir.types import (
    ARRAY,
    EITHER,
    MAYBE,
    NEVER,
    NO,
    YES,
    Iterator,
    Known,
    Never,
    Number,
    Tuple,
    Type,
    Union,
    describe,
    leaves,
)

UNSET = object()
"""The value of a variable that may have none yet."""


@dataclass(frozen=True, slots=True, eq=False)
class Value:
    """A value: its type, and an expression for each of its leaves.

    Attributes:
        pieces: of a tuple that was just made, whose length is known only when the text runs, what it is made
            of, one behind another: an item, or a tuple whose items these are, and whether it is that.
    """

    type: Type
    leaves: tuple[Expr, ...] = ()
    pieces: tuple[tuple[Value, bool], ...] = ()

    @property
    def leaf(self) -> Expr:
        """The only leaf."""
        (leaf,) = self.leaves
        return leaf


def known(value: Any) -> Value:
    """An object that is known when the text is made."""
    return Value(Known(value))


NONE = known(None)
NOTHING = Value(NEVER)


def number(leaf: Expr, *like: Value) -> Value:
    """A number with one leaf; one of NumPy's, where a number that it is computed from is.

    What Python computes of truth values and integers is an integer, and not mixed.
    """
    numpy = max(map(numpys, like), default=NO)
    mixed = any(isinstance(one.type, Number) and one.type.mixed for one in like)
    return Value(Number(leaf.kind, numpy, mixed and (leaf.kind == "f" or numpy != NO)), (leaf,))


def may_be_flag(type: Type) -> bool:
    """Whether what is an integer to the text may be a truth value of the program."""
    return isinstance(type, Number) and type.kind == "i" and type.mixed


def numpy_number(leaf: Expr) -> Value:
    """One of NumPy's scalars."""
    return Value(Number(leaf.kind, YES), (leaf,))


def without_axes(leaf: Expr) -> Value:
    """An array of one number, without axes."""
    return Value(Number(leaf.kind, ARRAY), (leaf,))


def make_tuple(items: list[Value], cls: Any = tuple, names: tuple[str, ...] = ()) -> Value:
    """A tuple, or an instance of a class whose attributes never change."""
    made = Tuple(tuple(item.type for item in items), cls, names)
    return Value(made, tuple(leaf for item in items for leaf in item.leaves))


def items_of(value: Value) -> list[Value]:
    """The items of a tuple, known or not."""
    match value.type:
        case Tuple(items):
            found, start = [], 0
            for item in items:
                end = start + len(leaves(item))
                found.append(Value(item, value.leaves[start:end]))
                start = end
            return found
        case Known(value=tuple() as objects):
            return [known(item) for item in objects]
    raise NotClosed(f"a tuple is needed, not {describe(value.type)}")


def parts_of(value: Value) -> list[Value]:
    """What an iterator was made of."""
    assert isinstance(value.type, Iterator)
    return items_of(Value(Tuple(value.type.parts), value.leaves))


def alternatives_of(value: Value) -> list[Value]:
    """The values that a union may have, in the order of their tags."""
    assert isinstance(value.type, Union)
    found, start = [], 1
    for item in value.type.alternatives:
        end = start + len(leaves(item))
        found.append(Value(item, value.leaves[start:end]))
        start = end
    return found


def attribute_of(value: Value, name: str) -> Value | None:
    """An attribute of an instance of a class whose attributes never change."""
    if isinstance(value.type, Tuple) and name in value.type.names:
        return items_of(value)[value.type.names.index(name)]
    return None


def may_be_unset(value: Value) -> bool:
    """Whether a variable or an attribute may have no value, as it is set in some cases only."""
    kinds = value.type.alternatives if isinstance(value.type, Union) else (value.type,)
    return known(UNSET).type in kinds


def is_known(value: Value) -> bool:
    """Whether a value is an object known when the text is made."""
    return isinstance(value.type, Known)


def object_of(value: Value) -> Any:
    """The object that is known when the text is made."""
    assert isinstance(value.type, Known)
    return value.type.value


def is_number(value: Value) -> bool:
    """Whether a value is a number, known or not."""
    match value.type:
        case Number():
            return True
        case Known(value=found):
            return isinstance(found, (bool, int, float))
    return False


def numpys(value: Value) -> int:
    """Whether a value is one of NumPy's scalars, or is taken for one: NO, MAYBE or YES."""
    found = value.type.numpy if isinstance(value.type, Number) else NO
    return {ARRAY: YES, EITHER: MAYBE}.get(found, found)


def kind_of(value: Value) -> str:
    """The kind of a number, known or not."""
    match value.type:
        case Number(kind):
            return kind
        case Known(value=bool()):
            return "b"
        case Known(value=int()):
            return "i"
        case Known(value=float()):
            return "f"
    raise NotClosed(f"a number is needed, not {describe(value.type)}")


def as_kind(leaf: Expr, kind: str) -> Expr:
    """A number as one of another kind, as NumPy's assignment to an array of that kind casts it."""
    if leaf.kind == kind:
        return leaf
    if isinstance(leaf, Const):
        assert leaf.value is not None
        cast = {"f": float, "i": int, "b": bool}[kind]
        return Const(cast(leaf.value), kind)
    return Op({"f": "float", "i": "int", "b": "bool"}[kind], (leaf,), kind)


_MINUS_ZERO = Op("neg", (Const(0.0, "f"),), "f")
"""As a constant it would be equal to 0.0, and one of two alternatives that are equal is left out."""


def number_leaf(value: Value, kind: str | None = None) -> Expr:
    """The leaf of a number, as one of the given kind."""
    match value.type:
        case Number():
            leaf = value.leaf
        case Known(value=bool() as found):
            leaf = Const(found, "b")
        case Known(value=int() as found):
            if not -(2**63) <= found < 2**63:
                if kind == "f" and abs(found) < 2**1000:
                    return Const(float(found), "f")
                raise NotClosed(f"the integer {found} needs more than 64 bits")
            leaf = Const(int(found), "i")  # it may be a member of an enumeration
        case Known(value=float() as found):
            found = float(found)
            leaf = _MINUS_ZERO if str(found) == "-0.0" else Const(found, "f")
        case _:
            raise NotClosed(f"a number is needed, not {describe(value.type)}")
    return leaf if kind is None else as_kind(leaf, kind)


def line_of(node: ast.AST) -> int:
    """The line of a node."""
    return getattr(node, "lineno", 0)


def narrowed(value: Value, types: list[Type]) -> Value:
    """A union that is known to have one of fewer types."""
    assert isinstance(value.type, Union)
    choices = alternatives_of(value)
    kept = [i for i, one in enumerate(choices) if one.type in types]
    if len(kept) == 1:
        return choices[kept[0]]
    tag: Expr = Const(len(kept) - 1, "i")
    for place in range(len(kept) - 2, -1, -1):
        test = Op("eq", (value.leaves[0], Const(kept[place], "i")), "b")
        tag = Op("select", (test, Const(place, "i"), tag), "i")
    parts = tuple(leaf for i in kept for leaf in choices[i].leaves)
    return Value(Union(tuple(choices[i].type for i in kept)), (tag, *parts))


def is_never(value: Value) -> bool:
    """Whether a value is one that is not known yet."""
    return isinstance(value.type, Never)
