"""Log densities of columns, and derivatives, made from the one text of a family: its method `at`.

    scores(family, x, parameters)                   the log density at each point of a column
    partials(family, arguments, wanted)             the same at numbers or columns, with derivatives in some
    density_of(family).elementwise(x, *parameters)  at points of any shape, differentiated by autograd

Each is a Python text that `writing` writes when it is first needed.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from autograd.extend import defvjp, primitive
from autograd.numpy.numpy_vjps import unbroadcast_f

from gendsl.distributions import parameters as checks
from gendsl.distributions.formulas import Node, apply, constant, gradient, replaced, variable, when
from gendsl.distributions.reading import definition, formula_of
from gendsl.distributions.writing import Made, call_slope

UNDECIDED = ArithmeticError, ValueError
"""What functions of `math` raise where those of NumPy give infinity or NaN."""

_is_positive = functools.partial(apply, "lt", constant(0.0))
_is_not_negative = functools.partial(apply, "le", constant(0.0))
_DOMAINS: dict[Any, tuple[Callable[[Node], Node], ...]] = {
    checks.real: (), checks.bound: (),  # what is infinite has no finite density
    checks.positive: (_is_positive,), checks.nonnegative: (_is_not_negative,),
    checks.probability: (_is_not_negative, lambda p: apply("le", p, constant(1.0))),
    checks.positive_probability: (_is_positive, lambda p: apply("le", p, constant(1.0))),
    checks.integer: (lambda n: apply("eq", n, apply("floor", n)),),
    checks.nonnegative_integer: (_is_not_negative, lambda n: apply("eq", n, apply("floor", n))),
}  # fmt: skip


def _tests(family: Any, variables: Mapping[str, Node]) -> list[Node]:
    """The tests of parameters, by the functions that check them in the constructor."""
    found = []
    for node in ast.walk(definition(family.__init__)):
        match node:
            case ast.Call(ast.Name("ordered"), [_, ast.Attribute(_, low), ast.Attribute(_, high)], options):
                found.append(apply("le" if options else "lt", variables[low], variables[high]))
            case ast.Call(ast.Name(check), [_, ast.Constant(str(name)), _]) if name in variables:
                found += [test(variables[name]) for test in _DOMAINS[getattr(checks, check)]]
    return found


# --- families ---------------------------------------------------------------------------------------


class Density:
    """The log density of a family, as it is made from its text."""

    def __init__(self, family: Any) -> None:
        self.names = ("x", *family.parameters)
        self.variables = [variable(name) for name in self.names]
        x, *parameters = self.variables
        self.root = formula_of(family.at, [x], dict(zip(family.parameters, parameters, strict=True)))
        self.family = family
        self.whole = family.number is not float
        self._partials: dict[tuple[int, ...], Made] = {}
        inside = apply("and", apply("lt", constant(-np.inf), x), apply("lt", x, constant(np.inf)))
        root = self.root
        if family.number is bool:
            truth = apply("eq", x, constant(1.0))
            inside = apply("or", truth, apply("eq", x, constant(0.0)))
            [root] = replaced([root], {x: truth})
        elif family.number is int:
            inside = apply("and", inside, apply("eq", x, apply("floor", x)))
        self.elementwise = _traced(self.names, when(inside, root, constant(-np.inf)), nan=-np.inf)

    @functools.cached_property
    def value(self) -> Made:
        """The log density where what the constructor checks holds; a family of gendsl's own."""
        valid = _tests(self.family, dict(zip(self.names, self.variables, strict=True)))
        return Made(self.names, [self.root], whole=self.whole, valid=valid)

    def partials(self, wanted: tuple[int, ...]) -> Made:
        """The log density and its derivatives in some of the arguments."""
        found = self._partials.get(wanted)
        if found is None:
            variables = [self.variables[i] for i in wanted]
            found = self._partials[wanted] = Made(
                self.names, [self.root, *gradient(self.root, variables, call_slope)], whole=self.whole
            )
        return found


@functools.cache
def density_of(family: Any) -> Density:
    """What is made from the text of a family.

    Raises:
        UnreadableError: its text is not of the subset that is read.
    """
    return Density(family)


def scores(family: Any, x: np.ndarray, parameters: tuple[Any, ...]) -> Any:
    """The log densities of a column of the family's type; parameters are floats, or columns of as many.

    Raises:
        ArithmeticError, ValueError: an intermediate result is no float.
    """
    found = density_of(family).value(x, *parameters)
    return found if type(found) is np.ndarray else np.full(len(x), found)


def partials(family: Any, arguments: Sequence[Any], wanted: Sequence[int]) -> tuple[Any, ...]:
    """The log density, and its derivatives in some arguments: in x, counted 0, and in the parameters.

    Raises:
        ArithmeticError, ValueError: an intermediate result is no float.
    """
    made = density_of(family).partials(tuple(wanted))
    x, *parameters = arguments
    found: tuple[Any, ...] = made(
        x, *[p if type(p) is not np.ndarray else p.astype(float, copy=False) for p in parameters]
    )
    return found


def _traced(names: Sequence[str], root: Node, nan: float = np.nan) -> Any:
    """A formula as a function of points of any shape, which autograd differentiates as often as one likes.

    Args:
        nan: what it is where the formula gives NaN.
    """
    made = Made(names, [root])

    @np.errstate(all="ignore")
    def at(*arguments: Any) -> Any:
        found = _at_points(made, *arguments)
        is_number = found == found
        return found if np.all(is_number) else np.where(is_number, found, nan)[()]

    function = primitive(at)

    @functools.cache
    def slope(i: int) -> Any:
        return _traced(names, gradient(root, [variable(names[i])], call_slope)[0])

    def derivative(i: int) -> Any:
        return lambda ans, *args: unbroadcast_f(args[i], lambda g: g * slope(i)(*args))

    defvjp(function, *map(derivative, range(len(names))))
    return function


def _at_points(made: Made, *arguments: Any) -> Any:
    x, *parameters = (
        a.item() if isinstance(a, (np.ndarray, np.generic)) and not a.ndim else a for a in arguments
    )
    arguments = (x, *(p.astype(float, copy=False) if isinstance(p, np.ndarray) else p for p in parameters))
    shapes = {a.shape for a in arguments if isinstance(a, np.ndarray)}
    shape = np.broadcast_shapes(*shapes)
    if len(shapes) > 1 or len(shape) > 1:
        arguments = tuple(
            np.broadcast_to(a, shape).reshape(-1) if isinstance(a, np.ndarray) else a for a in arguments
        )
    try:
        found = made(*arguments)
    except UNDECIDED:  # not where it is the functions of NumPy
        size = int(np.prod(shape))
        found = made(
            *(
                np.broadcast_to(np.asarray(a, float), a.shape if isinstance(a, np.ndarray) else size)
                for a in arguments
            )
        )
    if not shapes:
        return (
            found
            if isinstance(found, float)
            else float(np.reshape(found, ()))
            if np.ndim(found) == 0
            else found[0]
        )
    return np.full(shape, found) if not isinstance(found, np.ndarray) else found.reshape(shape)
