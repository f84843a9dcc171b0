"""Arithmetic on one line as one function, which takes the derivative of the whole by the chain rule.

    mu - u * math.sqrt(var / w)
    ->  __gendsl__.formulas["sqrt | x0 - x1 * f0(x2 / x3)"](math.sqrt, mu, u, var, w)

The value is computed on floats; the slopes with respect to x0, x1, ... are taken backwards, by lines that are
generated with it; and the tangents are put together once, where step by step there would be one dual number
for each operation. Where anything is out of the ordinary (an array, an error, a slope that isn't finite),
the line is computed step by step after all, so nothing but the time that it takes depends on this module.
"""

from __future__ import annotations

import ast
import math
import os
from collections.abc import Callable
from typing import Any

from gendsl.lang.trees import clone, walk
from gendsl.transforms.forward import Dual
from gendsl.transforms.rules import LN2, LN10

_OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**"
}  # fmt: skip

SLOPES_AS_TEXT = {
    "sqrt": "0.5 / {y}", "cbrt": "1.0 / (3.0 * {y} * {y})",
    "exp": "{y}", "expm1": "{y} + 1.0", "exp2": f"{{y}} * {LN2!r}",
    "log": "1.0 / {x}", "log1p": "1.0 / (1.0 + {x})",
    "log2": f"1.0 / ({{x}} * {LN2!r})", "log10": f"1.0 / ({{x}} * {LN10!r})",
    "sin": "cos({x})", "cos": "-sin({x})", "tan": "1.0 + {y} * {y}",
    "asin": "1.0 / sqrt((1.0 - {x}) * (1.0 + {x}))", "acos": "-1.0 / sqrt((1.0 - {x}) * (1.0 + {x}))",
    "atan": "1.0 / (1.0 + {x} * {x})",
    "sinh": "cosh({x})", "cosh": "sinh({x})", "tanh": "(1.0 / cosh({x})) ** 2",
    "asinh": "1.0 / sqrt(1.0 + {x} * {x})", "acosh": "1.0 / sqrt(({x} - 1.0) * ({x} + 1.0))",
    "atanh": "1.0 / ((1.0 - {x}) * (1.0 + {x}))",
    "erf": "1.1283791670955126 * exp(-{x} * {x})", "erfc": "-1.1283791670955126 * exp(-{x} * {x})",
}  # fmt: skip
"""Those of `gendsl.transforms.rules`, for y = f(x), as text, under the names that `math` has for them."""

_FUNCTIONS: dict[Any, str] = {getattr(math, name): name for name in SLOPES_AS_TEXT}

_LEAST, _MOST = 2, 40
"""How many operations a formula has; fewer are as fast step by step."""

_MOST_ARGUMENTS = 12


# --- finding ---------------------------------------------------------------------------------------


def formula_of(
    node: ast.expr, meant: Callable[[ast.expr], Any]
) -> tuple[str, list[ast.expr], list[ast.expr]] | None:
    """A line of arithmetic as text, the functions that it calls, and its arguments; None if it is none.

    Args:
        meant: what an expression is now, as far as that is known before the line is run.
    """
    if node.lineno != node.end_lineno:
        return None  # an error must point at the line in which it is made
    finder = _Finder(meant)
    text = finder.text(node)
    if not _LEAST <= finder.operations <= _MOST or not 0 < len(finder.arguments) <= _MOST_ARGUMENTS:
        return None
    if any(isinstance(part, ast.NamedExpr) for part in walk(node)):
        return None
    return f"{' '.join(finder.names)} | {text}", finder.functions, finder.arguments


class _Finder:
    def __init__(self, meant: Callable[[ast.expr], Any]) -> None:
        self.meant = meant
        self.operations = 0
        self.names: list[str] = []
        self.functions: list[ast.expr] = []
        self.arguments: list[ast.expr] = []

    def text(self, node: ast.expr) -> str:
        """The part of the formula that an expression is."""
        match node:
            case ast.Constant(value=int() | float() as value) if type(value) is not bool:
                if abs(value) < 2.0**53:
                    return repr(value)
            case ast.BinOp(left, op, right) if type(op) in _OPERATORS:
                self.operations += 1
                return f"({self.text(left)} {_OPERATORS[type(op)]} {self.text(right)})"
            case ast.UnaryOp(ast.USub(), operand):
                self.operations += not isinstance(operand, ast.Constant)
                return f"(-{self.text(operand)})"
            case ast.Call(function, [argument], []) if self._is_known(function, argument):
                self.operations += 1
                return f"{self._called(function)}({self.text(argument)})"
        if isinstance(node, ast.Name):
            for i, known in enumerate(self.arguments):
                if isinstance(known, ast.Name) and known.id == node.id:
                    return f"x{i}"
        self.arguments.append(node)
        return f"x{len(self.arguments) - 1}"

    def _is_known(self, function: ast.expr, argument: ast.expr) -> bool:
        return self._name(function) is not None and not isinstance(argument, ast.Starred)

    def _name(self, function: ast.expr) -> str | None:
        try:
            return _FUNCTIONS.get(self.meant(function))
        except TypeError:  # it can't be hashed
            return None

    def _called(self, function: ast.expr) -> str:
        dumped = ast.dump(function)
        for i, known in enumerate(self.functions):
            if ast.dump(known) == dumped:
                return f"f{i}"
        self.names.append(self._name(function) or "")
        self.functions.append(clone(function))
        return f"f{len(self.functions) - 1}"


# --- generating ------------------------------------------------------------------------------------


class Formulas(dict[str, Callable[..., Any]]):
    """The functions of formulas by their text, each made when it is first asked for.

    Args:
        lift: what to call in place of a function, where a formula is computed step by step.
    """

    def __init__(self, lift: Callable[[Any], Any]) -> None:
        super().__init__()
        self.lift = lift

    def __missing__(self, text: str) -> Callable[..., Any]:
        made = self[text] = _made(text, self.lift)["formula"]
        return made  # type: ignore[no-any-return]


def steps_of(text: str, lift: Callable[[Any], Any]) -> Callable[..., Any]:
    """The function that computes a formula step by step."""
    return _made(text, lift)["steps"]  # type: ignore[no-any-return]


def _made(text: str, lift: Callable[[Any], Any]) -> dict[str, Any]:
    """What the source of a formula defines."""
    namespace: dict[str, Any] = {"Dual": Dual, "lift": lift, **vars(math)}
    code = compile(source_of(text), os.path.join(os.path.dirname(__file__), "<formula>"), "exec")
    exec(code, namespace)
    return namespace


def source_of(text: str) -> str:
    """The source of a formula's function, and of the one that computes it step by step."""
    names, _, body = text.partition(" | ")
    return _Writer(names.split(), ast.parse(body, mode="eval").body).source(body)


class _Writer:
    """Writes the function of a formula.

    The value of each operation gets a variable v0, v1, ...; its slope, that of the result with respect to
    it, is an expression. The slopes of the arguments are s0, s1, ...
    """

    def __init__(self, names: list[str], tree: ast.expr) -> None:
        self.names = names
        self.tree = tree
        self.values: list[str] = []
        self.backward: list[str] = []
        self.slopes: dict[int, list[str]] = {}

    def source(self, body: str) -> str:
        result, pull = self._forward(self.tree)
        pull("1.0")
        functions = [f"f{i}" for i in range(len(self.names))]
        arguments = [f"x{i}" for i in range(len(self.slopes))]
        given = ", ".join([*functions, *arguments])
        steps = body
        for name in functions:
            steps = steps.replace(f"{name}(", f"lift({name})(")
        by_steps = f"return steps({given})"
        lines = [f"def steps({given}):", f"    return {steps}", f"def formula({given}):"]
        for name, function in zip(functions, self.names, strict=True):
            lines += [f"    if {name} is not {function}: {by_steps}"]
        lines += ["    traced = False"]
        for i in range(len(arguments)):
            lines += [
                f"    kind{i} = type(x{i})",
                f"    if kind{i} is Dual: a{i} = x{i}.value; traced = True",
                f"    elif kind{i} is float or kind{i} is int: a{i} = x{i}",
                f"    else: {by_steps}",
            ]
        failed = f"    except (ArithmeticError, ValueError, TypeError): {by_steps}"
        lines += ["    try:", *(f"        {line}" for line in self.values), failed]
        lines += [f"    if not traced: return {result}"]
        lines += ["    try:", *(f"        {line}" for line in self.backward)]
        lines += [f"        s{i} = {' + '.join(terms)}" for i, terms in sorted(self.slopes.items())]
        lines += [failed, "    total = {}; size = 0.0"]
        for i in range(len(arguments)):
            merge = f"for i, d in x{i}.tangent.items(): total[i] = "
            if i:
                merge += f"total[i] + s{i} * d if i in total else s{i} * d"
            elif self.slopes[0] == ["1.0"]:
                merge = "total = x0.tangent.copy()"
            else:
                merge += "s0 * d"
            lines += [f"    if kind{i} is Dual:", f"        size += s{i}", f"        {merge}"]
        lines += [f"    if size - size != 0.0: {by_steps}", "    made = Dual()"]
        lines += [f"    made.value, made.tangent = {result}, total", "    return made"]
        return "\n".join(lines)

    def _forward(self, node: ast.expr) -> tuple[str, Callable[[str], None]]:
        """The variable that holds the value of a part, and what hands its slope on to what it is made of."""
        match node:
            case ast.Constant(value=value):
                return repr(value), lambda slope: None
            case ast.Name(id=name):
                i = int(name[1:])
                self.slopes.setdefault(i, [])
                return f"a{i}", lambda slope: self.slopes[i].append(slope)
            case ast.UnaryOp(ast.USub(), operand):
                x, to_x = self._forward(operand)
                if isinstance(operand, ast.Constant):
                    return f"(-{x})", to_x
                return self._value(f"-{x}"), lambda slope: to_x(f"-{slope}")
            case ast.Call(ast.Name(id=name), [argument]):
                x, to_x = self._forward(argument)
                function = self.names[int(name[1:])]
                y = self._value(f"{function}({x})")
                rule = SLOPES_AS_TEXT[function].format(x=x, y=y)
                return y, lambda slope: to_x(self._slope(slope, f"({rule})"))
            case ast.BinOp(left, op, right):
                return self._binary(left, _OPERATORS[type(op)], right)
        raise TypeError(f"no part of a formula: {ast.dump(node)}")  # pragma: no cover - the finder makes none

    def _binary(self, left: ast.expr, op: str, right: ast.expr) -> tuple[str, Callable[[str], None]]:
        x, to_x = self._forward(left)
        y, to_y = self._forward(right)
        z = self._value(f"{x} {op} {y}")
        if op == "**":
            return z, self._power(left, right, x, to_x, y, to_y, z)
        rules = {
            "+": ("{g}", "{g}"), "-": ("{g}", "-{g}"), "*": ("{g} * {y}", "{g} * {x}"),
            "/": ("{g} / {y}", "-{g} * {z} / {y}"),
        }[op]  # fmt: skip

        def pull(slope: str) -> None:
            for rule, part, to_part in zip(rules, (left, right), (to_x, to_y), strict=True):
                if not _is_constant(part):
                    to_part(self._named(rule.format(g=slope, x=x, y=y, z=z)))

        return z, pull

    def _power(
        self,
        base: ast.expr,
        exponent: ast.expr,
        x: str,
        to_x: Callable[[str], None],
        y: str,
        to_y: Callable[[str], None],
        z: str,
    ) -> Callable[[str], None]:
        if isinstance(exponent, ast.Constant) and type(exponent.value) is int and exponent.value > 0:
            rule = f"(2.0 * {x})" if exponent.value == 2 else f"({y} * {x} ** ({y} - 1))"
            return lambda slope: to_x(self._slope(slope, rule))
        # elsewhere the base must be positive: then no power is complex, and every power has its slopes
        self.values.append(f"if not {x} > 0: raise ValueError")

        def pull(slope: str) -> None:
            if not _is_constant(base):
                to_x(self._slope(slope, f"({y} * {x} ** ({y} - 1))"))
            if not _is_constant(exponent):
                to_y(self._slope(slope, f"({z} * log({x}))"))

        return pull

    def _value(self, expression: str) -> str:
        name = f"v{len(self.values)}"
        self.values.append(f"{name} = {expression}")
        return name

    def _slope(self, slope: str, rule: str) -> str:
        return self._named(rule if slope == "1.0" else f"{slope} * {rule}")

    def _named(self, slope: str) -> str:
        """A slope as a variable, unless it is as short as one."""
        slope = slope.removeprefix("1.0 * ").replace("--", "")
        if slope.removeprefix("-").replace(".", "").isalnum():
            return slope
        name = f"g{len(self.backward)}"
        self.backward.append(f"{name} = {slope}")
        return name


def _is_constant(part: ast.expr) -> bool:
    return not any(isinstance(inner, ast.Name) for inner in walk(part))
