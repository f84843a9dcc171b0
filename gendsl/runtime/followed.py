"""Array code on columns that autograd may follow, and the terms of a plate's choices on a tape."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import autograd.numpy as anp
import numpy as np
from autograd.tracer import getval, isbox

from gendsl.address import Path
from gendsl.distributions.columns import MADE, VECTORS, total_columns
from gendsl.distributions.made import partials
from gendsl.runtime.differentiable import holds_box, special_functions
from gendsl.runtime.lowering import vector_rows, vectors
from gendsl.runtime.lowering.ir import ColumnSite
from gendsl.runtime.lowering.plates import Plate
from gendsl.runtime.lowering.tables import NotColumnsError, as_column, as_rows
from gendsl.runtime.lowering.vectors import Chosen
from gendsl.runtime.nests import Nest, nest_paths
from gendsl.runtime.paths import ColumnPaths
from gendsl.runtime.tape import Tape

Column = Callable[[Any, Any], Any]
"""Gives the values of the choices at ColumnPaths or NestPaths, all from a family."""


def _operand(value: Any) -> Any:
    if type(value) is range:
        return np.arange(value.start, value.stop, value.step)
    if isinstance(value, np.ndarray) and value.dtype.kind == "b":
        return value.astype(np.int64)
    if isinstance(value, (list, tuple)):
        raise NotColumnsError
    return value


def _followed(plain: Callable[..., Any], function: Callable[..., Any]) -> Callable[..., Any]:
    """An operation of `vectors`; where autograd follows an operand, the operator itself."""

    def operation(*operands: Any) -> Any:
        if any(map(isbox, operands)):
            return function(*map(_operand, operands))
        return plain(*operands)

    return staticmethod(operation)


def _itself(operand: Any) -> Any:
    return operand


def _refused(*operands: Any) -> Any:
    raise NotColumnsError


class FollowedVectors:
    """`compiler.vectors`, for boxes too."""

    add = _followed(vectors.add, operator.add)
    subtract = _followed(vectors.subtract, operator.sub)
    multiply = _followed(vectors.multiply, operator.mul)
    divide = _followed(vectors.divide, operator.truediv)
    power = _followed(vectors.power, operator.pow)
    negative = _followed(vectors.negative, operator.neg)
    positive = _followed(vectors.positive, _itself)
    inverted = _followed(vectors.inverted, _refused)
    floor_divide = _followed(vectors.floor_divide, _refused)
    remainder = _followed(vectors.remainder, _refused)

    @staticmethod
    def gather(container: Any, index: Any) -> Any:
        """`[container[i] for i in index]`."""
        if isbox(index):
            raise NotColumnsError
        if isinstance(container, (list, tuple)) and holds_box(container):
            container = anp.array(container)
        if not isbox(container):
            return vectors.gather(container, index)
        plain = getval(container)
        if plain.ndim != 1 or type(index) is int:
            raise NotColumnsError
        if type(index) is range:
            index = np.arange(index.start, index.stop, index.step)
        if index.dtype.kind != "i" or (len(index) and (index.min() < 0 or index.max() >= len(plain))):
            raise NotColumnsError
        return container[index]

    rows = staticmethod(vector_rows.rows)
    entry = staticmethod(vector_rows.entry)
    fold = staticmethod(vectors.fold)
    variant = staticmethod(vectors.variant)

    @staticmethod
    def place(values: Any, column: Any, side: str) -> Any:
        """The place of each number of a column among sorted values."""
        if holds_box(values) or isbox(column):
            raise NotColumnsError
        return vectors.place(values, column, side)

    @staticmethod
    def count(values: Any, sign: str, column: Any) -> Any:
        """How many of some values are <, <=, > or >= each number of a column."""
        if holds_box(values) or isbox(column):
            raise NotColumnsError
        return vectors.count(values, sign, column)

    @staticmethod
    def cells(container: Any, *indices: Any) -> Any:
        """`container[i, j, ...]`, where some of the indices are columns."""
        if any(map(isbox, indices)):
            raise NotColumnsError
        return vector_rows.cells(container, *indices)

    @staticmethod
    def dot(matrix: Any, vector: Any) -> Any:
        """The product of each row with a vector."""
        if isinstance(vector, (list, tuple)) and holds_box(vector):
            vector = anp.array(vector)
        if not (isbox(matrix) or isbox(vector)):
            return vector_rows.dot(matrix, vector)
        if np.shape(getval(vector)) != matrix.shape[1:]:
            raise NotColumnsError
        return anp.dot(matrix, _operand(vector))

    @staticmethod
    def signed(matrix: Any) -> Any:
        """A matrix of numbers that have a sign."""
        vector_rows.signed(getval(matrix))
        return matrix

    parts = staticmethod(vector_rows.parts)

    @staticmethod
    def reduced(function: Any, matrix: Any) -> Any:
        """`[function(row) for row in matrix]`."""
        if not isbox(matrix):
            return vector_rows.reduced(function, matrix)
        vector_rows.reduced(function, getval(matrix))
        if function is np.linalg.norm:
            return anp.sqrt(anp.sum(matrix * matrix, axis=1))
        return (anp.mean if function in (np.mean, "mean") else anp.sum)(matrix, axis=1)

    @staticmethod
    def rowwise(sign: str, left: Any, right: Any) -> Any:
        """An arithmetic operation on each row and a number or vector, the same for all rows."""
        made = vector_rows.rowwise(sign, getval(left), getval(right))
        return vector_rows.ROWWISE[sign](left, right) if isbox(left) or isbox(right) else made

    @staticmethod
    def fixed(value: Any) -> Any:
        """A value that is the same in all iterations, and is no array."""
        vectors.fixed(getval(value))
        return value

    number = _followed(vectors.number, _refused)
    across = staticmethod(vector_rows.across)
    unpacked = staticmethod(vector_rows.unpacked)

    @staticmethod
    def each(values: Any) -> Any:
        """Values that can be gone through more than once, and are the same each time."""
        return list(values) if isbox(values) and np.ndim(getval(values)) == 1 else vectors.each(values)

    @staticmethod
    def total(terms: Any) -> Any:
        """`sum(terms)`."""
        result: Any = 0
        for term in terms:
            result = FollowedVectors.add(result, term)
        return result

    @staticmethod
    def elementwise(function: Any, value: Any) -> Any:
        """`[function(x) for x in value]`."""
        if not isbox(value):
            return vectors.elementwise(function, value)
        name = vectors.ELEMENTWISE[function].__name__
        followed = getattr(anp, name, None) or getattr(special_functions(), name, None)
        if followed is None:
            raise NotColumnsError
        return followed(value)

    @staticmethod
    def pairwise(function: Any, left: Any, right: Any) -> Any:
        """`[function(x, y) for x, y in zip(left, right)]`."""
        if not (isbox(left) or isbox(right)):
            return vectors.pairwise(function, left, right)
        if function is max or function is min:
            sign = ">" if function is max else "<"
            return FollowedVectors.choose(vectors.compare(sign, getval(right), getval(left)), right, left)
        followed = getattr(anp, vectors.PAIRWISE[function].__name__, None)
        if followed is None:
            raise NotColumnsError
        return followed(_operand(left), _operand(right))

    @staticmethod
    def compare(sign: str, left: Any, right: Any) -> Any:
        """`[x < y for x, y in zip(left, right)]`, by the sign."""
        return vectors.compare(sign, getval(left), getval(right))

    @staticmethod
    def choose(test: Any, then: Any, otherwise: Any) -> Any:
        """`[x if t else y for t, x, y in zip(test, then, otherwise)]`."""
        test = vectors.compare("!=", getval(test), 0)
        if not (isbox(then) or isbox(otherwise)):
            return vectors.choose(test, then, otherwise)
        if type(test) is bool:
            return then if test else otherwise
        arms = []
        for arm in (then, otherwise):
            if isbox(arm) and np.ndim(getval(arm)):
                raise NotColumnsError  # where it isn't taken its derivative may be infinite, and 0 times that
            arms.append(_operand(arm) * np.ones(len(test)))  # `where` takes no sums over what it repeats
        return anp.where(test, *arms)

    @staticmethod
    def choose_all(test: Any, then: tuple[Any, ...], otherwise: tuple[Any, ...]) -> tuple[Any, ...]:
        """`choose` of several values."""
        return tuple(map(FollowedVectors.choose, [test] * len(then), then, otherwise))

    @staticmethod
    def apart(test: Any, then: Any, otherwise: Any, *columns: Any) -> Any:
        """`[then(*x) if t else otherwise(*x) for t, *x in zip(test, *columns)]`."""
        return FollowedVectors.apart_all(
            test, lambda *some: (then(*some),), lambda *some: (otherwise(*some),), *columns
        )[0]

    @staticmethod
    def apart_all(test: Any, then: Any, otherwise: Any, *columns: Any) -> tuple[Any, ...]:
        """`apart` of several values."""
        test = vectors.compare("!=", getval(test), 0)
        if type(test) is bool:
            return then(*columns) if test else otherwise(*columns)  # type: ignore[no-any-return]
        return FollowedVectors.choose_all(test, then(*columns), otherwise(*columns))


def _paths(plate: Plate, site: ColumnSite, prefix: Path, nest: Nest | None, frame: dict[int, Any]) -> Any:
    """The addresses of a site."""
    constants = [constant for constant, _ in site.parts]
    if nest is None:
        indices = frame[site.index]
        if type(indices) is not range:
            raise NotColumnsError
        after = tuple(constants[site.position + 1 :])
        return ColumnPaths((*prefix, *constants[: site.position]), indices, after)
    columns = {target: made for made, (_, target, _) in zip(nest.columns, plate.sources, strict=True)}
    own = [(len(prefix) + i, columns[slot[1]]) for i, (_, slot) in enumerate(site.parts) if slot is not None]
    return nest_paths([*prefix, *constants], own, columns[site.index])


def score_plate(
    plate: Plate, prefix: Path, sources: tuple[Any, ...], steps: tuple[Any, ...], column: Column, tape: Tape
) -> tuple[float, int]:
    """Put the scores of all choices of a plate on a tape; their sum, and their number.

    Raises:
        Exception: of any kind, where array code can't vouch for them. Nothing is on the tape then.
    """
    frame: dict[int, Any] = {}
    nest = None
    if plate.levels:
        nest = Nest(sources, [*plate.levels])
        if nest.ends() and plate.levels[-1].lead:
            raise NotColumnsError  # what stands before a loop that goes through nothing may fail
        size = nest.size
        read = {slot for step in plate.steps for slot in step.reads}
        for made, (_, target, _) in zip(nest.columns, plate.sources, strict=True):
            if target in read:
                frame[target] = made.column()
        sources = ()
    else:
        size = min(len(v) for v, (counted, _, _) in zip(sources, plate.sources, strict=True) if not counted)
    for value, (counted, target, is_rows) in zip(sources, plate.sources, strict=not nest):
        if is_rows:
            frame[target] = as_rows(value)[:size]
        elif counted:
            frame[target] = range(value, value + size)
        elif type(value) is range:
            frame[target] = value[:size]
        elif isbox(value) or holds_box(value):
            frame[target] = FollowedVectors.gather(value, range(size))
        else:
            frame[target] = as_column(value)[:size]
    seeds: list[tuple[Any, Any]] = []
    total, number = 0.0, 0
    for step, function in zip(plate.steps, steps, strict=True):
        made = function(*[frame[slot] for slot in step.reads])
        site = step.site
        if site is None:
            frame[step.slot] = made
            continue
        family, *parameters = made
        if family is not site.family:
            raise NotColumnsError
        value = column(_paths(plate, site, prefix, nest, frame), family)
        number += 1
        frame[step.slot] = value
        if family in VECTORS:
            if Chosen in map(type, parameters) or any(map(holds_box, parameters)):
                raise NotColumnsError
        else:
            parameters = [_operand(parameter) for parameter in parameters]
        arguments = [value, *parameters]
        plain = [getval(argument) for argument in arguments]
        score = total_columns(family, plain[0], tuple(plain[1:]))
        if score is None or not np.isfinite(score):
            raise NotColumnsError
        if any(map(isbox, arguments)):
            if family not in MADE:
                raise NotColumnsError
            boxed = [i for i, argument in enumerate(arguments) if isbox(argument)]
            for i, partial in zip(boxed, partials(family, plain, boxed)[1:], strict=True):
                seeds.append((arguments[i], np.broadcast_to(partial, size)))
        total += score
    for box, partial in seeds:
        tape.seed(box, partial)
    return total, number * size
