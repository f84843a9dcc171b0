"""Log densities of choices that are arrays, for moves that may keep them.

Where a distribution has values of another shape than the choice has, the density is zero for ever. So that is
an error of the user's, and not like any other zero: the text fails, and the reference interpreter tells.
"""

from __future__ import annotations

from gendsl import supports
from gendsl.compiler import hir
from gendsl.compiler.front import scores
from gendsl.compiler.front.containers import length
from gendsl.compiler.front.frame import Frame
from gendsl.compiler.front.names import Text
from gendsl.compiler.front.subscripts import item_at
from gendsl.compiler.hir import IMPOSSIBLE, Body, Expr, Op
from gendsl.compiler.hir.failures import NotClosed
from gendsl.compiler.hir.types import Array, Number, Tuple, Type, Union, leaves
from gendsl.compiler.hir.values import Value, is_number, items_of, known, number_leaf
from gendsl.distributions import (
    affine,
    dirichlet,
    iid,
    inv_wishart,
    lkj,
    mixture,
    mvnormal,
    ordered,
    product,
    wishart,
)

_ANOTHER_SHAPE = "a value of another shape than the distribution has"
_ANY_ZERO = "a density of zero, perhaps of a value of another shape"


def kept_density(frame: Frame, distribution: Value, kind: Type, density: hir.Function) -> hir.Function | None:
    """A log density like that of a choice, that fails for a value of another shape; None where it can't have
    one, or where that is no other base measure: it is a number, or discrete.

    Args:
        density: that of the choice, with the same parameters.
    """
    if not isinstance(kind, Array) or kind.kind != "f":
        return None
    program = frame.program
    wide = scores.number_leaves(program.facts.canonical(distribution.type))
    key = ("kept density", wide, kind)
    if key not in program.helpers:
        program.helpers[key] = _made(frame, wide, kind, density)
    return program.helpers[key]  # type: ignore[no-any-return]


def _made(outer: Frame, wide: Type, kind: Array, density: hir.Function) -> hir.Function:
    assert isinstance(wide, Tuple)
    name = wide.cls.__name__
    made = hir.Function(
        outer.program.function_name(f"{name}_kept_logpdf"), results=["f"], origin=f"log density of {name}"
    )
    key = ("kept density", wide, kind)
    frame = Frame(outer.program, Text(made), made.body, outer.node, None, outer.filename, key)
    frame.line = 0
    names = wide.names or ("p",) * len(wide.items)
    for part, item in zip(names, wide.items, strict=True):
        made.parameters += [frame.fresh(part, leaf) for leaf in leaves(item)]
    distribution = Value(wide, tuple(made.parameters))
    x = [frame.fresh("x", leaf) for leaf in leaves(kind)]
    shape = _shape(frame, distribution, kind)
    if shape is not None:
        for size, found in zip(shape, x[2 : 2 + kind.rank], strict=True):
            frame.fail_if(Op("ne", (size, found), "b"), _ANOTHER_SHAPE)
    score = frame.fresh("lp", "f")
    made.parameters += x
    frame.emit(hir.Call([score], density, list(made.parameters)))
    if shape is None:
        fails: Body = [hir.Fail(_ANY_ZERO)]
        frame.emit(hir.If(Op("eq", (score, IMPOSSIBLE), "b"), fails, []))
    frame.emit(hir.Return([score]))
    return made


def _shape(frame: Frame, distribution: Value, kind: Array) -> list[Expr] | None:
    """The shape of the values of a distribution; None if that is not known."""
    point, live = frame.point(), frame.live
    try:
        found = _sizes(frame, distribution)
    except NotClosed:
        found = None
    if found is None or len(found) != kind.rank or not frame.live:
        frame.back(point)
        frame.live = live
        return None
    return [frame.atom(one) for one in found]


def _sizes(frame: Frame, distribution: Value) -> list[Expr] | None:
    if not isinstance(distribution.type, Tuple):
        return None
    if isinstance(frame.language.value_type(frame, distribution), Number):
        return []
    cls, items = distribution.type.cls, items_of(distribution)
    if cls in (dirichlet, mvnormal):
        return [length(frame, items[0])]
    if cls in (iid, ordered):
        return _of_several(number_leaf(items[1], "i"), _sizes(frame, items[0]))
    if cls is affine:
        return _sizes(frame, items[0])
    if cls in (wishart, inv_wishart, lkj):
        size = number_leaf(items[0], "i") if cls is lkj else frame.atom(length(frame, items[1]))
        return [size, size]
    if issubclass(cls, product):
        return _of_several(length(frame, items[0]), [])  # whose values are numbers, if there is one axis
    if cls is mixture:
        return None if isinstance(items[1].type, Union) else _sizes(frame, item_at(frame, items[1], known(0)))
    return _sizes_in(frame, scores.support_of(frame, distribution))


def _of_several(count: Expr, component: list[Expr] | None) -> list[Expr] | None:
    return None if component is None else [count, *component]


def _sizes_in(frame: Frame, support: Value) -> list[Expr] | None:
    """The shape of the values of a support of the user's."""
    cls, items = getattr(support.type, "cls", None), items_of(support)
    if cls in (supports.Simplex, supports.Ordered):
        return [number_leaf(items[0], "i")]
    if cls in (supports.Covariance, supports.Correlation):
        return [number_leaf(items[0], "i")] * 2
    if cls is supports.RealArray:
        shape = [items[0]] if is_number(items[0]) else items_of(items[0])
        return [number_leaf(one, "i") for one in shape]
    if cls is supports.Repeated:
        return _of_several(number_leaf(items[1], "i"), _sizes_in(frame, items[0]))
    if isinstance(cls, type) and issubclass(cls, supports.Support) and cls.shape == ():
        return []
    return None
