"""Charts: the unconstrained coordinates of what a distribution draws, as functions of the text.

They are those of the support that the distribution has there and then, whose methods `to_line`, `from_line`
and `log_slope` are read as any method is.
"""

from __future__ import annotations

from collections.abc import Callable

from gendsl import supports
from gendsl.compiler import hir
from gendsl.compiler.front import arrays, calls, function_calls, outside, scores
from gendsl.compiler.front.coordinates import coordinates
from gendsl.compiler.front.frame import Frame
from gendsl.compiler.front.names import Text
from gendsl.compiler.front.subscripts import item_at
from gendsl.compiler.hir import Const, Expr, Op
from gendsl.compiler.hir.coordinates import DISCRETE
from gendsl.compiler.hir.failures import NotClosed
from gendsl.compiler.hir.types import Array, Number, Tuple, Type, Union, describe, leaves
from gendsl.compiler.hir.values import Value, is_never, items_of, known, make_tuple, number, number_leaf
from gendsl.distributions import (
    affine,
    dirichlet,
    iid,
    mixture,
    mixture_of_normals,
    mvnormal,
    ordered,
    product,
)
from gendsl.distributions.base import ScalarFamily, is_built_in
from gendsl.distributions.support_texts import CHARTS, Chart
from gendsl.supports.scalar import Line


def chart(frame: Frame, distribution: Value, kind: Type) -> hir.Chart | NotClosed:
    """The chart of the values of a distribution, or why the text has none."""
    point = frame.point()
    try:
        return _chart(frame, distribution, kind)
    except NotClosed as refusal:  # it matters only where the choice is moved
        frame.back(point)
        return refusal


def _chart(frame: Frame, distribution: Value, kind: Type) -> hir.Chart:
    program, facts = frame.program, frame.program.facts
    assert isinstance(distribution.type, Tuple)
    if coordinates(frame, distribution, kind) == DISCRETE:
        return hir.Chart()
    wide = scores.number_leaves(facts.canonical(distribution.type))
    key = ("chart", wide, kind)
    if key not in program.helpers:
        if not isinstance(kind, (Number, Array)) or kind.kind != "f":
            raise frame.not_closed(f"the coordinates of {describe(kind)}")
        makes: type[_OfNumber] = _OfNumber
        if isinstance(kind, Array):
            makes = _OfVector if _chart_of_all(frame, distribution) else _OfArray
        charts = makes(frame, wide, kind)
        to_line, from_line = charts.to_line(), charts.from_line()
        program.helpers[key] = hir.Chart(to_line, from_line, makes is not _OfNumber, charts.fewer)
    return program.helpers[key]  # type: ignore[no-any-return]


class _OfNumber:
    """Makes the functions of the chart of a number.

    Attributes:
        given: the distribution, in the function that is being made.
        frame: where its statements go.
        fewer: how many coordinates there are less than entries.
    """

    frame: Frame
    given: Value
    fewer = 0

    def __init__(self, outer: Frame, wide: Type, kind: Type) -> None:
        assert isinstance(wide, Tuple)
        self.outer, self.wide, self.kind = outer, wide, kind

    def _start(self, name: str, origin: str, results: list[hir.Kind]) -> hir.Function:
        """A function whose first parameters are those of the distribution."""
        program, outer, cls = self.outer.program, self.outer, self.wide.cls
        name = program.function_name(f"{cls.__name__}_{name}")
        made = hir.Function(name, results=results, origin=f"{origin} of {cls.__name__}")
        key = ("chart", self.wide, self.kind, name)
        self.frame = Frame(program, Text(made), made.body, outer.node, None, outer.filename, key)
        self.frame.line = 0
        for part, item in zip(self.wide.names or ["p"] * len(self.wide.items), self.wide.items, strict=True):
            made.parameters += [self.frame.fresh(part, leaf) for leaf in leaves(item)]
        self.given = Value(self.wide, tuple(made.parameters))
        return made

    def _call(self, support: Value, name: str, x: Expr) -> Expr:
        """A method of a support."""
        found = calls.call_method(self.frame, support, name, [number(x)])
        if is_never(found):
            raise self.outer.not_closed(f"the coordinates of what {self.wide.cls.__name__} draws")
        return self.frame.atom(number_leaf(found, "f"))

    def _has_point(self, support: Value, x: Expr) -> Expr:
        """Whether a value has a coordinate: it may lie at the end of its support, if only by rounding."""
        if getattr(support.type, "cls", None) is supports.Real:
            return hir.TRUE
        return Op("isfinite", (self._call(support, "to_line", x),), "b")

    def to_line(self) -> hir.Function:
        """From a value to its coordinate."""
        made = self._start("to_line", "the coordinate of a value", ["f", "f"])
        x = self.frame.fresh("x", "f")
        made.parameters.append(x)
        support = _support(self.frame, self.given, [])
        u = self._call(support, "to_line", x)
        self.frame.emit(hir.Return([u, self._call(support, "log_slope", u)]))
        return made

    def from_line(self) -> hir.Function:
        """From a coordinate to the value."""
        made = self._start("from_line", "the value at a coordinate", ["f", "f", "b"])
        u = self.frame.fresh("u", "f")
        made.parameters.append(u)
        support = _support(self.frame, self.given, [])
        x, slope = self._call(support, "from_line", u), self._call(support, "log_slope", u)
        self.frame.emit(hir.Return([x, slope, self._has_point(support, x)]))
        return made


class _OfArray(_OfNumber):
    """The same of an array, each of whose entries has a chart of its own."""

    def _entries(self, made: hir.Function, lower: Callable[[Value, Expr], tuple[Expr, Expr]]) -> list[Expr]:
        """Go through the entries of the array that a function is given: the sum of their log slopes, and
        whether all are finite.

        Args:
            lower: makes of the support and the place of an entry its log slope, and whether it is finite.
        """
        frame, slope, finite = self.frame, self.frame.fresh("slope", "f"), self.frame.fresh("finite", "b")
        frame.emit(hir.Set([slope, finite], [Const(0.0, "f"), hir.TRUE]))

        def entry(at: list[Expr]) -> None:
            support = _support(frame, self.given, at)
            more, is_finite = lower(support, arrays.position(frame, self.array, at))
            frame.emit(hir.Set([slope], [Op("add", (slope, more), "f")]))
            if is_finite != hir.TRUE:
                frame.emit(hir.Set([finite], [Op("and", (finite, is_finite), "b")]))

        arrays.over(frame, arrays.shape_of(self.array), entry, "chart")
        return [slope, finite]

    def _given_array(self, made: hir.Function) -> hir.Var:
        """The array that a function is given, and the list."""
        x = [self.frame.fresh("x", leaf) for leaf in leaves(self.kind)]
        into = self.frame.fresh("coordinates", "r")
        made.parameters += [*x, into]
        self.array = Value(self.kind, tuple(x))
        return into

    def to_line(self) -> hir.Function:
        made = self._start("to_line", "the coordinates of a value", ["f", "b"])
        into = self._given_array(made)

        def entry(support: Value, place: Expr) -> tuple[Expr, Expr]:
            u = self._call(support, "to_line", number_leaf(arrays.load(self.frame, self.array, place)))
            self.frame.emit(hir.Append(into, ("f",), (u,)))
            return self._call(support, "log_slope", u), Op("isfinite", (u,), "b")

        self.frame.emit(hir.Return(self._entries(made, entry)))
        return made

    def from_line(self) -> hir.Function:
        made = self._start("from_line", "the value at coordinates", [*leaves(self.kind), "f", "b"])
        source, frame = self._given_array(made), self.frame
        at = frame.fresh("at", "i")
        made.parameters.append(at)
        value = arrays.filled(frame, "f", arrays.shape_of(self.array), Const(0.0, "f"), "chart")
        next_ = frame.fresh("next", "i")
        frame.emit(hir.Set([next_], [at]))
        to = frame.fresh("to", "i")
        frame.emit(hir.Set([to], [Const(0, "i")]))

        def entry(support: Value, place: Expr) -> tuple[Expr, Expr]:
            u = frame.fresh("u", "f")
            frame.emit(hir.Load([u], source, ("f",), next_))
            x, slope = self._call(support, "from_line", u), self._call(support, "log_slope", u)
            frame.emit(hir.Store(value.leaves[0], ("f",), to, (x,)))
            for var in (next_, to):
                frame.emit(hir.Set([var], [Op("add", (var, Const(1, "i")), "i")]))
            return slope, self._has_point(support, x)

        frame.emit(hir.Return([*value.leaves, *self._entries(made, entry)]))
        return made


class _OfVector(_OfArray):
    """The same of a vector whose entries have no charts of their own; see `distributions.support_texts`."""

    def _convert(self, way: str, value: Value) -> tuple[Value, Expr]:
        """The coordinates of a value, or the value at coordinates, and the log slope of the chart."""
        chart, support = _chart_of_all(self.frame, self.given)  # type: ignore[misc]
        self.fewer = chart.fewer
        found = function_calls.call_function(self.frame, getattr(chart, way), [support, value], {})
        if is_never(found):
            raise self.outer.not_closed(f"the coordinates of what {self.wide.cls.__name__} draws")
        vector, slope = items_of(self.frame.atoms(found))
        return vector, number_leaf(slope, "f")

    def _all_finite(self, vector: Value, into: hir.Var | None = None) -> Expr:
        """Whether the entries of a vector are finite, which are added to a list."""
        frame, finite = self.frame, self.frame.fresh("finite", "b")
        frame.emit(hir.Set([finite], [hir.TRUE]))

        def entry(at: list[Expr]) -> None:
            u = number_leaf(arrays.load(frame, vector, arrays.position(frame, vector, at)))
            if into is not None:
                frame.emit(hir.Append(into, ("f",), (u,)))
            frame.emit(hir.Set([finite], [Op("and", (finite, Op("isfinite", (u,), "b")), "b")]))

        arrays.over(frame, arrays.shape_of(vector), entry, ("chart", into is None))
        return finite

    def to_line(self) -> hir.Function:
        made = self._start("to_line", "the coordinates of a value", ["f", "b"])
        into = self._given_array(made)
        u, slope = self._convert("to_line", self.array)
        self.frame.emit(hir.Return([slope, self._all_finite(u, into)]))
        return made

    def from_line(self) -> hir.Function:
        made = self._start("from_line", "the value at coordinates", [*leaves(self.kind), "f", "b"])
        source, frame = self._given_array(made), self.frame
        at = frame.fresh("at", "i")
        made.parameters.append(at)
        (length,) = arrays.shape_of(self.array)
        u = arrays.filled(
            frame, "f", [Op("sub", (length, Const(self.fewer, "i")), "i")], Const(0.0, "f"), "u"
        )

        def entry(places: list[Expr]) -> None:
            value = frame.fresh("u", "f")
            frame.emit(hir.Load([value], source, ("f",), Op("add", (at, places[0]), "i")))
            frame.emit(hir.Store(u.leaves[0], ("f",), places[0], (value,)))

        arrays.over(frame, arrays.shape_of(u), entry, "coordinates")
        x, slope = self._convert("from_line", u)
        back, _ = self._convert("to_line", x)
        given = frame.program.facts.convert(x, self.kind)
        frame.emit(hir.Return([*given, slope, self._all_finite(back)]))
        return made


def _chart_of_all(frame: Frame, distribution: Value) -> tuple[Chart, Value] | None:
    """The chart of a vector, and the support that it is given; None where each entry has one of its own."""
    assert isinstance(distribution.type, Tuple)
    cls = distribution.type.cls
    if cls is dirichlet:
        return CHARTS[supports.Simplex], known(None)
    if cls is ordered:
        component = _support_of_one(frame, items_of(distribution)[0], [])
        return CHARTS[supports.Ordered], make_tuple([component], supports.Ordered, ("component",))
    if is_built_in(cls):
        return None
    support = scores.support_of(frame, distribution)
    chart = CHARTS.get(getattr(support.type, "cls", None))  # type: ignore[arg-type]
    return None if chart is None else (chart, support)


def _support(frame: Frame, distribution: Value, at: list[Expr]) -> Value:
    """The support of a number that a distribution draws, or of an entry of an array: an interval."""
    assert isinstance(distribution.type, Tuple)
    cls = distribution.type.cls
    if cls is mixture_of_normals or (at and cls in (mvnormal, affine)):
        return outside.constant(frame, supports.Real())
    if at and cls is iid:
        return _support_of_one(frame, items_of(distribution)[0], at[1:])
    if at and cls is mixture:  # of arrays, of which all have one support
        return _support_of_one(frame, item_at(frame, items_of(distribution)[1], known(0)), at)
    if at and issubclass(cls, product):
        components = items_of(distribution)[0]
        return _support_of_one(frame, item_at(frame, components, number(at[0])), at[1:])
    if is_built_in(cls) and not issubclass(cls, (ScalarFamily, affine, mixture)):
        raise frame.not_closed(f"the coordinates of what {cls.__name__} draws")
    return _interval(frame, scores.support_of(frame, distribution), at)


def _support_of_one(frame: Frame, distribution: Value, at: list[Expr]) -> Value:
    if is_never(distribution):  # of an empty list, or of one of which more is learnt in the next walk
        raise frame.not_closed("the coordinates of what no distribution draws")
    return frame.switch(distribution, lambda one: _support(frame, one, at))


def _interval(frame: Frame, support: Value, at: list[Expr]) -> Value:
    """A support that is an interval of the line, or that of an entry of what is in another one."""
    if isinstance(support.type, Union):
        return frame.switch(support, lambda one: _interval(frame, one, at))
    kind = getattr(support.type, "cls", None)
    if at and kind is supports.RealArray:
        return outside.constant(frame, supports.Real())
    if at and kind is supports.Repeated:
        return _interval(frame, items_of(support)[0], at[1:])
    if at or not (isinstance(kind, type) and issubclass(kind, Line)) or kind.__eq__ is object.__eq__:
        what = describe(support.type) if kind is None else f"a {kind.__name__}"
        raise frame.not_closed(f"the coordinates of choices whose support is {what}")
    return support
