"""Charts: the unconstrained coordinates of what a distribution draws, as functions of the text.

They are those of the support that the distribution has there and then, whose methods `to_line`, `from_line`
and `log_slope` are read as any method is.
"""

from __future__ import annotations

from gendsl import supports
from gendsl.compiler import hir
from gendsl.compiler.front import calls, scores
from gendsl.compiler.front.coordinates import DISCRETE, coordinates
from gendsl.compiler.front.frame import Frame, Text, is_never
from gendsl.compiler.front.values import NotClosed, Value, alternatives_of, number, number_leaf
from gendsl.compiler.hir import Expr, Op
from gendsl.compiler.types import Number, Tuple, Type, Union, describe, leaves
from gendsl.distributions import mixture_of_normals, texts
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
    cls = distribution.type.cls
    if coordinates(frame, distribution, kind) == DISCRETE:
        return hir.Chart()
    if kind != Number("f"):
        raise frame.not_closed(f"the coordinates of {describe(kind)} that {cls.__name__} draws")
    wide = scores.number_leaves(facts.canonical(distribution.type))
    key = ("chart", wide)
    if key not in program.helpers:
        program.helpers[key] = hir.Chart(
            _function(frame, wide, ("to_line", "x", "the coordinate of a value, and the slope of the chart")),
            _function(frame, wide, ("from_line", "u", "the value at a coordinate, and that slope")),
        )
    return program.helpers[key]  # type: ignore[no-any-return]


def _function(frame: Frame, wide: Type, what: tuple[str, str, str]) -> hir.Function:
    """A function of the parameters of a distribution and a number."""
    method, of, says = what
    assert isinstance(wide, Tuple)
    program, forward = frame.program, method == "to_line"
    made = hir.Function(
        program.function_name(f"{wide.cls.__name__}_{method}"),
        results=["f", "f"] if forward else ["f", "f", "b"],
        origin=f"{wide.cls.__name__}: {says}",
    )
    inner = Frame(program, Text(made), made.body, frame.node, None, frame.filename, ("chart", wide, method))
    inner.line = 0
    names = wide.names or tuple("p" for _ in wide.items)
    for name, item in zip(names, wide.items, strict=True):
        made.parameters += [inner.fresh(name, leaf) for leaf in leaves(item)]
    owner = Value(wide, tuple(made.parameters))
    given = inner.fresh(of, "f")
    made.parameters.append(given)
    support = support_of(inner, owner)

    def call(name: str, x: Expr) -> Expr:
        found = calls.call_method(inner, support, name, [number(x)])
        if is_never(found):
            raise frame.not_closed(f"the coordinates of what {wide.cls.__name__} draws")
        return inner.atom(number_leaf(found, "f"))

    there = call(method, given)
    slope = call("log_slope", there if forward else given)
    results = [there, slope]
    if not forward:
        always = getattr(support.type, "cls", None) is supports.Real
        results.append(hir.TRUE if always else Op("isfinite", (call("to_line", there),), "b"))
    inner.emit(hir.Return(results))
    return made


def support_of(frame: Frame, distribution: Value) -> Value:
    """The support of a distribution of numbers, an interval of the line."""
    assert isinstance(distribution.type, Tuple)
    cls = distribution.type.cls
    if cls is mixture_of_normals:
        return frame.program.constant(frame, supports.Real())
    if cls in texts.TEXTS:
        raise frame.not_closed(f"the coordinates of what {cls.__name__} draws")
    found = scores.support_of(frame, distribution)
    for one in alternatives_of(found) if isinstance(found.type, Union) else [found]:
        kind = getattr(one.type, "cls", None)
        if not (isinstance(kind, type) and issubclass(kind, Line)) or kind.__eq__ is object.__eq__:
            what = describe(one.type) if kind is None else f"a {kind.__name__}"
            raise frame.not_closed(f"the coordinates of choices whose support is {what}")
    return found
