"""Distributions as array code: a family, and its parameters in all iterations at once.

normal(mu[z], 1)                   ->   normal, gather(mu, z), 1
mvnormal(mu[z], cov)               ->   mvnormal, rows(mu, z), cov
iid(normal(m, s), 3)               ->   iid, law(normal, m, s), 3
product(normal, mu[z], s)          ->   product, normal, rows(mu, z), s
mixture([w, 1 - w], [f(a), g(b)])  ->   mixture, [w, 1 - w], (law(f, a), law(g, b))
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

import numpy as np

from gendsl.distributions.columns import COLUMN_DTYPES, VECTORS
from gendsl.distributions.compound import iid, product
from gendsl.distributions.mixtures import mixture
from gendsl.distributions.order_statistics import ordered
from gendsl.distributions.row_columns import ROW_FAMILIES
from gendsl.lang.sites import known_value
from gendsl.runtime.lowering.array_expressions import ScalarError, unwatched
from gendsl.runtime.lowering.array_vectors import ArrayVectors


@dataclass(frozen=True)
class Lowered:
    """A distribution as array code.

    Attributes:
        parameters: the code of its parameters, in order.
        dtype: the type of its column.
        rows: whether its values are vectors, which are rows of it.
    """

    parameters: list[ast.expr]
    dtype: np.dtype[Any]
    rows: bool = False


class ArrayLaws(ArrayVectors):
    """The array code of distributions in one loop."""

    def lowered(self, family: Any, call: ast.Call) -> Lowered:
        """A call of a family that has columns."""
        if not isinstance(family, type):
            raise ScalarError
        if family in COLUMN_DTYPES:
            return Lowered(self.scalar(family, call), COLUMN_DTYPES[family])
        if family in ROW_FAMILIES:
            known = ROW_FAMILIES[family]
            given = self.given(family, call)
            parameters = [
                self.vector_of(node) if i in known.rows else self.shared(node) for i, node in enumerate(given)
            ]
            return Lowered(parameters, known.dtype, rows=True)
        if family is iid or family is ordered:
            dist, size = self.given(family, call)
            law, dtype = self.law(dist)
            if self.varies(size) or (family is ordered and dtype.kind != "f"):
                raise ScalarError
            return Lowered([law, self.operand(size)], dtype, rows=True)
        if family is product:
            return self.product_of(call)
        if family is mixture:
            return self.mixture_of(*self.given(family, call))
        raise ScalarError

    def called_by(self, function: ast.expr, call: ast.Call) -> tuple[ast.expr, Any]:
        """The code of the family that a call of a function makes a distribution of, and the family."""
        family: Any = known_value(self.definition, function)
        names = [keyword.arg or "" for keyword in call.keywords]
        variants: Any = vars(family).get("variants", {}) if isinstance(family, type) else {}
        name = next((name for name in names if name in variants), None)
        if name is None:
            return function, family
        return self.tool(call, "variant", function, ast.Constant(name)), variants[name]

    def given(self, family: Any, call: ast.Call) -> list[ast.expr]:
        """The arguments of a call by the names of a family's parameters, if they are all there."""
        given = dict(zip(family.parameters, call.args, strict=False))
        given.update({keyword.arg or "": keyword.value for keyword in call.keywords})
        if len(call.args) + len(call.keywords) != len(given) or set(given) != set(family.parameters):
            raise ScalarError
        return [given[name] for name in family.parameters]

    def scalar(self, family: Any, call: ast.Call) -> list[ast.expr]:
        """The parameters of a family of one number."""
        lower = self.shared if family in VECTORS else self.operand
        return [*map(lower, self.given(family, call))]

    def law(self, node: ast.expr) -> tuple[ast.expr, np.dtype[Any]]:
        """A distribution of one number among the parameters of another."""
        node = unwatched(node)
        if not isinstance(node, ast.Call):
            raise ScalarError
        function, family = self.called_by(node.func, node)
        if not (isinstance(family, type) and family in COLUMN_DTYPES):
            raise ScalarError
        return self.tool(node, "law", function, *self.scalar(family, node)), COLUMN_DTYPES[family]

    def product_of(self, call: ast.Call) -> Lowered:
        """`product(f(a), g(b))`, also of a list, or `product(family, a, b)`."""
        components = call.args
        if len(components) == 1 and isinstance(components[0], (ast.List, ast.Tuple)):
            components = components[0].elts
        if call.keywords or not components:
            raise ScalarError
        family: Any = known_value(self.definition, components[0])
        has_columns = isinstance(family, type) and family in COLUMN_DTYPES and family not in VECTORS
        if has_columns and components is call.args:
            return Lowered([components[0], *map(self.vector_of, components[1:])], COLUMN_DTYPES[family], True)
        laws, dtypes = zip(*map(self.law, components), strict=True)
        return Lowered([*laws], _common(dtypes), rows=True)

    def mixture_of(self, weights: ast.expr, distributions: ast.expr) -> Lowered:
        """`mixture(weights, [f(a), g(b)])`."""
        if not isinstance(distributions, (ast.List, ast.Tuple)) or not distributions.elts:
            raise ScalarError
        laws, dtypes = zip(*map(self.law, distributions.elts), strict=True)
        return Lowered([self.vector_of(weights), ast.Tuple([*laws], ast.Load())], _common(dtypes))

    def shared(self, node: ast.expr) -> ast.expr:
        """A vector that all iterations share, or one of several that each looks up."""
        if not self.varies(node):
            return self.vector(node)
        match node:
            case ast.Subscript(container, index) if not (
                self.varies(container) or isinstance(index, (ast.Slice, ast.Tuple))
            ):
                return self.lookup(node, "chosen", container, index)
        raise ScalarError


def _common(dtypes: tuple[np.dtype[Any], ...]) -> np.dtype[Any]:
    """The type of values that come from several families, all continuous or all discrete."""
    if len({dtype.kind == "f" for dtype in dtypes}) > 1:
        raise ScalarError
    return np.result_type(*dtypes)
