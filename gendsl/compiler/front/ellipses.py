"""Ellipses along which normal choices move together: the functions of `gendsl.inference.ellipses`, which the
compiler knows, as their own text looks into the records of a trace; and what a text does of each choice.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

from gendsl.compiler import hir
from gendsl.compiler.front import arrays, scores
from gendsl.compiler.front.containers import length
from gendsl.compiler.front.frame import Frame, Program
from gendsl.compiler.front.lists import for_each
from gendsl.compiler.front.names import Text
from gendsl.compiler.front.operators import arithmetic
from gendsl.compiler.front.subscripts import item_at
from gendsl.compiler.hir import Append, Const, Expr, Load, Op, Var
from gendsl.compiler.hir.failures import NotClosed
from gendsl.compiler.hir.types import Array, Known, List, Number, Tuple, Type, Union, describe, leaves
from gendsl.compiler.hir.values import NONE, NOTHING, Value, is_never, items_of, known, number, number_leaf
from gendsl.distributions import affine, iid, mvnormal, normal, product

_MODULE = "gendsl.inference.ellipses"
POINT, FLOATS = ("f", "f", "f"), ("f",)
"""An entry of a choice has its mean, and how far from it the entry and that of another draw are."""
_FLOAT = Number("f")


@dataclass(frozen=True, eq=False)
class Around:
    """What a text does along the ellipses of a kernel; the functions' bodies are still to be made.

    Attributes:
        weight: the log weight at an angle, by the leaves of the ellipse and the angle.
        move: lets the choices be where that was found last, by the leaves of the ellipse.
    """

    weight: hir.Function
    move: hir.Function


PARTS = ("points", "given", "found", "prior", "here")
"""The leaves of an ellipse: its points, by entries; what the distributions of the choices are made of; the
log density where it was found last; the part of these choices in that of the trace; and where free memory
begins.
"""


def ellipse_of(lowering: Program, number: int) -> Type:
    """The type of the ellipses of a kernel, which has a number."""
    if number not in lowering.ellipses:
        parameters = [Var(name, kind) for name, kind in zip(PARTS, "rrrfi", strict=True)]
        lowering.ellipses[number] = Around(
            hir.Function(
                lowering.function_name("log_weight_at_angle"),
                [*parameters, Var("angle", "f")],
                ["f"],
                origin="the log weight at an angle",
            ),
            hir.Function(lowering.function_name("move_along_ellipse"), list(parameters), origin="a move"),
        )
    facts = lowering.facts
    sites = []
    for name, item in (("points", Tuple((_FLOAT,) * 3)), ("given", _FLOAT), ("found", _FLOAT)):
        sites.append(facts.site(("ellipse", number, name)))
        facts.grow_item(sites[-1], item)
    lists = tuple(List(facts.find(site)) for site in sites)
    return Tuple((Known(("ellipse", number)), *lists, _FLOAT, Number("i")))


def call(frame: Frame, function: Any, args: list[Value]) -> Value | None:
    """A call of one of these functions; None for any other."""
    handler = (
        _HANDLERS.get(function.__qualname__) if getattr(function, "__module__", None) == _MODULE else None
    )
    return None if handler is None else handler(frame, args)


def _around(frame: Frame, ellipse: Value) -> Around:
    assert isinstance(ellipse.type, Tuple) and isinstance(ellipse.type.items[0], Known)
    found: Around = frame.program.ellipses[ellipse.type.items[0].value[1]]
    return found


def _log_weight(frame: Frame, args: list[Value]) -> Value:
    ellipse, angle = args
    if is_never(angle):
        return NOTHING
    weight = frame.fresh("log_weight", "f")
    given = [*ellipse.leaves, frame.atom(number_leaf(angle, "f"))]
    frame.emit(hir.Call([weight], _around(frame, ellipse).weight, given))
    below = Op("lt", (weight, Const(float("inf"), "f")), "b")
    frame.fail_unless(below, "a log weight that is NaN or infinite")
    return number(weight)


def _move(frame: Frame, args: list[Value]) -> Value:
    (ellipse,) = args
    frame.emit(hir.Call([], _around(frame, ellipse).move, list(ellipse.leaves)))
    return NONE


_HANDLERS: dict[str, Callable[[Frame, list[Value]], Value]] = {"log_weight": _log_weight, "move": _move}


# --- choices -------------------------------------------------------------------------------------------


def normal_choice(frame: Frame, distribution: Value, kind: Type) -> hir.Normal | NotClosed:
    """What a text does along ellipses of a choice from a distribution, or why there is nothing."""
    point = frame.point()
    try:
        return _normal_choice(frame, distribution, kind)
    except NotClosed as refusal:  # it matters only where the choice is moved
        frame.back(point)
        return refusal


def _normal_choice(frame: Frame, distribution: Value, kind: Type) -> hir.Normal:
    program = frame.program
    assert isinstance(distribution.type, Tuple)
    wide = scores.number_leaves(program.facts.canonical(distribution.type))
    key = ("normal", wide, kind)
    if key not in program.helpers:
        if not isinstance(kind, (Number, Array)) or kind.kind != "f":
            raise frame.not_closed(f"elliptical_slice of what is not normal, but {describe(kind)}")
        assert isinstance(wide, Tuple)
        making = _Making(frame, wide, kind, len(program.helpers))
        program.helpers[key] = hir.Normal(making.start(), making.tell(), making.at_angle())
    return program.helpers[key]  # type: ignore[no-any-return]


class _Making:
    """Makes the functions of a choice from a distribution of one type."""

    def __init__(self, outer: Frame, wide: Tuple, kind: Number | Array, number: int) -> None:
        self.outer, self.wide, self.kind, self.number = outer, wide, kind, number

    def _function(self, name: str, origin: str, results: list[hir.Kind]) -> tuple[hir.Function, Frame]:
        program, cls = self.outer.program, self.wide.cls
        made = hir.Function(
            program.function_name(f"{cls.__name__}_{name}"),
            results=results,
            origin=f"{origin} of {cls.__name__}",
        )
        key: Hashable = ("normal", self.wide, self.kind, name)
        frame = Frame(program, Text(made), made.body, self.outer.node, None, self.outer.filename, key)
        frame.line = 0
        return made, frame

    def _given(self, made: hir.Function, frame: Frame) -> Value:
        """The distribution that a function is given."""
        names = self.wide.names or ("p",) * len(self.wide.items)
        for part, item in zip(names, self.wide.items, strict=True):
            made.parameters += [frame.fresh(part, leaf) for leaf in leaves(item)]
        return Value(self.wide, tuple(made.parameters))

    def _value(self, made: hir.Function, frame: Frame, name: str) -> Value:
        """A value of the distribution that a function is given."""
        found = [frame.fresh(name, leaf) for leaf in leaves(self.kind)]
        made.parameters += found
        return Value(self.kind, tuple(found))

    def _entries(self, frame: Frame, value: Value, lower: Callable[[list[Expr]], None]) -> None:
        """Do something for each entry of a value, in order."""
        if isinstance(self.kind, Array):
            arrays.over(frame, arrays.shape_of(value), lower, "ellipse")
        else:
            lower([])

    def start(self) -> hir.Function:
        """(distribution, value, another draw, points): adds the points of the entries."""
        made, frame = self._function("start", "where an ellipse starts", [])
        distribution = self._given(made, frame)
        now, other = (self._value(made, frame, name) for name in ("x", "other"))
        points = frame.fresh("points", "r")
        made.parameters.append(points)

        def lower(at: list[Expr]) -> None:
            mean = frame.atom(number_leaf(_mean(frame, distribution, at), "f"))
            apart = [Op("sub", (number_leaf(_entry(frame, one, at), "f"), mean), "f") for one in (now, other)]
            frame.emit(Append(points, POINT, (mean, *apart)))

        self._entries(frame, now, lower)
        frame.emit(hir.Return([]))
        return made

    def tell(self) -> hir.Function:
        """(distribution, given): adds all that a distribution of this type is made of."""
        made, frame = self._function("tell", "what is told", [])
        distribution = self._given(made, frame)
        given = frame.fresh("given", "r")
        made.parameters.append(given)
        frame.emit(Append(given, FLOATS, (Const(float(self.number), "f"),)))
        _tell(frame, distribution, given)
        frame.emit(hir.Return([]))
        return made

    def at_angle(self) -> hir.Function:
        """(value, points, place, cos, sin): the value at an angle, with the points from that place on."""
        made, frame = self._function("at_angle", "the value at an angle", list(leaves(self.kind)))
        now, points = self._value(made, frame, "x"), frame.fresh("points", "r")
        at, c, s = frame.fresh("at", "i"), frame.fresh("c", "f"), frame.fresh("s", "f")
        made.parameters += [points, at, c, s]
        mean, one, other = (frame.fresh(name, "f") for name in ("mean", "now", "other"))
        along = Op("add", (mean, Op("mul", (one, c), "f")), "f")
        moved = Op("add", (along, Op("mul", (other, s), "f")), "f")
        if isinstance(self.kind, Number):
            frame.emit(Load([mean, one, other], points, POINT, at))
            frame.emit(hir.Return([moved]))
            return made
        value = arrays.filled(frame, "f", arrays.shape_of(now), Const(0.0, "f"), "ellipse")
        to = frame.fresh("to", "i")
        frame.emit(hir.Set([to], [Const(0, "i")]))

        def lower(_: list[Expr]) -> None:
            frame.emit(Load([mean, one, other], points, POINT, Op("add", (at, to), "i")))
            frame.emit(hir.Store(value.leaves[0], FLOATS, to, (moved,)))
            frame.emit(hir.Set([to], [Op("add", (to, Const(1, "i")), "i")]))

        self._entries(frame, now, lower)
        frame.emit(hir.Return(list(value.leaves)))
        return made


def _mean(frame: Frame, distribution: Value, at: list[Expr]) -> Value:
    """The mean of an entry of what a distribution draws, which is normal."""
    cls, items = getattr(distribution.type, "cls", None), items_of(distribution)
    if cls is normal:
        return items[0]
    if cls is mvnormal:
        return _entry(frame, items[0], at)
    if cls is affine:
        dist, scale, shift = items
        if isinstance(shift.type, Array):
            shift = _entry(frame, shift, at)
        moved = arithmetic(frame, "mul", scale, _mean_of_one(frame, dist, at))
        return arithmetic(frame, "add", moved, shift)
    if cls is iid:
        return _mean_of_one(frame, items[0], at[1:])
    if isinstance(cls, type) and issubclass(cls, product):
        return _mean_of_one(frame, item_at(frame, items[0], number(at[0])), at[1:])
    raise frame.not_closed(f"elliptical_slice of what is not normal, but {describe(distribution.type)}")


def _entry(frame: Frame, value: Value, at: list[Expr]) -> Value:
    """An entry of an array; a number itself."""
    return arrays.load(frame, value, arrays.position(frame, value, at)) if at else value


def _mean_of_one(frame: Frame, distribution: Value, at: list[Expr]) -> Value:
    def number_of(one: Value) -> Value:
        mean = _mean(frame, one, at)
        return mean if is_never(mean) else number(number_leaf(mean, "f"))

    return frame.switch(distribution, number_of)


def _tell(frame: Frame, value: Value, given: Var) -> None:
    """Add the numbers that a value is made of to a list, and how long what is in it is."""

    def add(leaf: Expr) -> None:
        frame.emit(Append(given, FLOATS, (leaf,)))

    def told(one: Value, *_: Expr) -> Value:
        _tell(frame, one, given)
        return known(None)

    kind = value.type
    match kind:
        case Union():
            add(number_leaf(number(value.leaves[0]), "f"))
            frame.switch(value, told)
        case Known():
            pass
        case Number():
            add(number_leaf(value, "f"))
        case Tuple():
            for one in items_of(value):
                _tell(frame, one, given)
        case Array():
            for size in arrays.shape_of(value):
                add(number_leaf(number(size), "f"))
            shape = arrays.shape_of(value)
            arrays.over(
                frame, shape,
                lambda at: add(number_leaf(_entry(frame, value, at), "f")),
                "told",
            )  # fmt: skip
        case List():
            add(number_leaf(number(length(frame, value)), "f"))
            for_each(frame, frame.here, value, told)
        case _:
            raise frame.not_closed(f"{describe(kind)} in a distribution that moves along an ellipse")
