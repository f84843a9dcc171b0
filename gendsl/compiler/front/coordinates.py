"""The coordinates of what a distribution draws, in which Jacobians are taken; see `gendsl.supports`."""

from __future__ import annotations

from gendsl import supports
from gendsl.compiler.front.families import component_examples
from gendsl.compiler.front.frame import Frame
from gendsl.compiler.front.scores import support_told, value_type
from gendsl.compiler.hir.coordinates import DISCRETE, ENTRIES, NUMBER, TRIANGLE, UNKNOWN, WEIGHTS
from gendsl.compiler.hir.types import Array, Number, Tuple, Type, Union
from gendsl.compiler.hir.values import Value, alternatives_of, items_of
from gendsl.distributions import (
    affine,
    dirichlet,
    iid,
    inv_wishart,
    mixture,
    mvnormal,
    ordered,
    product,
    wishart,
)
from gendsl.distributions.base import ScalarFamily, is_built_in
from gendsl.distributions.mixtures import mixture_of_normals
from gendsl.supports.scalar import ScalarSupport

_COMPONENTS = {affine: 0, iid: 0, ordered: 0, mixture: 1, product: 0}
"""Where the distribution is, or the list of them, that a distribution is made of."""
_OF_SUPPORTS = {supports.RealArray: ENTRIES, supports.Ordered: ENTRIES, supports.Simplex: WEIGHTS}


def coordinates(frame: Frame, distribution: Value, kind: Type) -> int:
    """The coordinates of the values, of a type, of a distribution."""
    if not isinstance(kind, (Number, Array)):
        return UNKNOWN
    if kind.kind != "f":
        return DISCRETE
    if isinstance(distribution.type, Union):
        found = {coordinates(frame, one, kind) for one in alternatives_of(distribution)}
        return found.pop() if len(found) == 1 else UNKNOWN
    assert isinstance(distribution.type, Tuple)
    cls = distribution.type.cls
    of_number = isinstance(kind, Number)
    if not is_built_in(cls):
        return _of_support(frame, distribution, of_number)
    if issubclass(cls, ScalarFamily) or cls is mixture_of_normals:
        return NUMBER
    if cls in (mvnormal, dirichlet):
        return ENTRIES if cls is mvnormal else WEIGHTS
    if cls in (wishart, inv_wishart):
        return TRIANGLE
    for family, place in _COMPONENTS.items():
        if issubclass(cls, family):
            inner = _of_components(frame, items_of(distribution)[place])
            if inner in (DISCRETE, UNKNOWN):
                return inner
            return NUMBER if of_number else ENTRIES if inner in (NUMBER, ENTRIES) else UNKNOWN
    return UNKNOWN


def _of_components(frame: Frame, given: Value) -> int:
    """The coordinates of the distributions that another one is made of."""
    found = {coordinates(frame, one, value_type(frame, one)) for one in component_examples(frame, given)}
    return found.pop() if len(found) == 1 else UNKNOWN


def _of_support(frame: Frame, distribution: Value, of_number: bool) -> int:
    """The coordinates of a user's distribution, of its support."""
    cls = getattr(support_told(frame, distribution).type, "cls", None)
    if not isinstance(cls, type):
        return UNKNOWN
    if of_number and issubclass(cls, ScalarSupport):
        return DISCRETE if cls.discrete else NUMBER
    return _OF_SUPPORTS.get(cls, UNKNOWN)
