"""Formulas of numbers as graphs, and their derivatives.

A `Node` is an operation on others; equal ones are one object, so that what two results have in common is
computed once. `when(c, a, b)` is a where c, else b. Nodes are built by the functions here, which simplify as
they build: `replaced` builds them anew where a condition is known. `gradient` is reverse accumulation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import scipy.special


class Node:
    """An operation on nodes.

    Attributes:
        op: its name; "variable", "constant" and "call" beside those of `SCALARS`.
        args: what it is done with.
        value: the name of a variable, the value of a constant, the function of a call.
    """

    __slots__ = ("args", "op", "value")

    def __init__(self, op: str, args: tuple[Node, ...], value: Any) -> None:
        self.op = op
        self.args = args
        self.value = value


_NODES: dict[tuple[Any, ...], Node] = {}


def _node(op: str, *args: Node, value: Any = None, key: Any = None) -> Node:
    where = op, args, value if key is None else key
    found = _NODES.get(where)
    if found is None:
        found = _NODES.setdefault(where, Node(op, args, value))  # another thread may have made it meanwhile
    return found


def variable(name: str) -> Node:
    """An argument."""
    return _node("variable", value=name)


def constant(value: Any) -> Node:
    """A number or a truth value."""
    return _node("constant", value=value, key=repr(value))  # 0.0 is not -0.0, and 1 is not True


def call(function: Any, args: Iterable[Node]) -> Node:
    """A call of a function of `special` and its like."""
    return _node("call", *args, value=function)


ZERO, ONE, ALWAYS = constant(0.0), constant(1.0), constant(True)


def _is_number(node: Node) -> bool:
    return node.op == "constant"


def plus(a: Node, b: Node) -> Node:
    """a + b"""
    if a is ZERO or b is ZERO:
        return b if a is ZERO else a
    if a is b:
        return times(constant(2.0), a)
    if _is_number(a) and _is_number(b):
        return constant(a.value + b.value)
    if a.op == "neg" or b.op == "neg":
        return minus(a, b.args[0]) if b.op == "neg" else minus(b, a.args[0])
    if a.op == b.op == "div" and a.args[1] is b.args[1]:  # each may be infinite where their sum is not
        return over(plus(a.args[0], b.args[0]), a.args[1])
    return _node("add", a, b)


def minus(a: Node, b: Node) -> Node:
    """a - b"""
    if a is ZERO or b is ZERO:
        return a if b is ZERO else negative(b)
    if _is_number(a) and _is_number(b):
        return constant(a.value - b.value)
    if b.op == "neg":
        return plus(a, b.args[0])
    if a.op == "neg" and a.args[0].op == "div":
        return negative(plus(a.args[0], b))
    if a.op == b.op == "div" and a.args[1] is b.args[1]:
        return over(minus(a.args[0], b.args[0]), a.args[1])
    return ZERO if a is b else _node("sub", a, b)


def negative(a: Node) -> Node:
    """-a; of 0 it is 0, so that what is nothing stays nothing, whatever it is divided by."""
    if _is_number(a):
        return constant(-a.value) if a.value else ZERO
    return a.args[0] if a.op == "neg" else _node("sub", *a.args[::-1]) if a.op == "sub" else _node("neg", a)


def times(a: Node, b: Node) -> Node:
    """a b"""
    if _is_number(b) and not _is_number(a):
        a, b = b, a
    if a is ZERO or b is ZERO:
        return ZERO
    if _is_number(a):
        if a.value == 1.0 or a.value == -1.0:
            return b if a.value == 1.0 else negative(b)
        if _is_number(b):
            return constant(a.value * b.value)
        if b.op == "mul" and _is_number(b.args[0]):
            return times(constant(a.value * b.args[0].value), b.args[1])
    if a.op == "neg" or b.op == "neg":
        return negative(times(a.args[0], b) if a.op == "neg" else times(a, b.args[0]))
    return _node("mul", a, b)


def over(a: Node, b: Node) -> Node:
    """a / b"""
    if a is ZERO or b is ONE:
        return a
    if a.op == "neg":
        return negative(over(a.args[0], b))
    return constant(a.value / b.value) if _is_number(a) and _is_number(b) else _node("div", a, b)


def when(condition: Node, a: Node, b: Node) -> Node:
    """a where the condition holds, else b."""
    if _is_number(condition):
        return a if condition.value else b
    if a is b:
        return a
    return when(condition.args[0], b, a) if condition.op == "not" else _node("when", condition, a, b)


def _both(a: Node, b: Node) -> Node:
    if _is_number(a) or _is_number(b):
        known, other = (a, b) if _is_number(a) else (b, a)
        return other if known.value else known
    return _node("and", a, b)


def _not(a: Node) -> Node:
    return constant(not a.value) if _is_number(a) else a.args[0] if a.op == "not" else _node("not", a)


def _either(a: Node, b: Node) -> Node:
    return (
        _not(_both(_not(a), _not(b)))
        if _is_number(a) or _is_number(b)
        else ALWAYS
        if a is _not(b)
        else _node("or", a, b)
    )


def select(condition: Node, a: Node, b: Node) -> Node:
    """The same as `when`, where both are computed everywhere."""
    return when(condition, a, b) if _is_number(condition) or a is b else _node("select", condition, a, b)


def apply(op: str, *args: Node, value: Any = None) -> Node:
    """The operation of a name."""
    build = _BUILT.get(op)
    if build is not None:
        return build(*args)
    if op not in ("variable", "call") and args and all(map(_is_number, args)):
        return constant(SCALARS[op](*(a.value for a in args)))
    return _node(op, *args, value=value)


_BUILT: dict[str, Callable[..., Node]] = {
    "add": plus, "sub": minus, "mul": times, "div": over, "neg": negative,
    "and": _both, "or": _either, "not": _not, "when": when, "select": select,
}  # fmt: skip

SCALARS: dict[str, Callable[..., Any]] = {
    "log": math.log, "log1p": math.log1p, "exp": math.exp, "expm1": math.expm1, "sqrt": math.sqrt,
    "sin": math.sin, "cos": math.cos, "arctan2": math.atan2, "gammaln": math.lgamma, "floor": math.floor,
    "psi": lambda x: float(scipy.special.psi(x)),
    "polygamma": lambda n, x: float(scipy.special.polygamma(n, x)),
    "i0e": lambda x: float(scipy.special.i0e(x)), "i1e": lambda x: float(scipy.special.i1e(x)),
    "abs": abs, "sign": lambda x: math.copysign(1.0, x) if x else 0.0, "float": float,
    "minimum": min, "maximum": max,
    "lt": lambda a, b: a < b, "le": lambda a, b: a <= b, "eq": lambda a, b: a == b,
    "select": lambda c, a, b: a if c else b,
}  # fmt: skip
"""The operations on numbers."""


def _log_gammas(x: Any) -> Any:
    found = scipy.special.gammaln(x)
    tiny = x < 1e-300  # there gamma(x) is 1 / x to the last digit, and scipy's is infinite where 1 / x is
    return np.where(tiny, -np.log(np.where(tiny, x, 1.0)), found) if tiny.any() else found


COLUMNS: dict[str, Callable[..., Any]] = {
    **{op: getattr(np, op) for op in ("log", "log1p", "exp", "expm1", "sqrt", "sin", "cos", "arctan2")},
    **{op: getattr(np, op) for op in ("abs", "sign", "floor", "minimum", "maximum")},
    **{op: getattr(scipy.special, op) for op in ("psi", "polygamma", "i0e", "i1e")},
    "gammaln": _log_gammas, "select": np.where, "float": lambda x: np.asarray(x, float),
}  # fmt: skip
"""The same on columns, where Python has no operator for them."""

_SLOPES: dict[str, Callable[[Node, Node], Node]] = {
    "log": lambda x, y: over(ONE, x),
    "log1p": lambda x, y: over(ONE, plus(ONE, x)),
    "exp": lambda x, y: y,
    "expm1": lambda x, y: plus(ONE, y),
    "sqrt": lambda x, y: over(constant(0.5), y),
    "sin": lambda x, y: apply("cos", x),
    "cos": lambda x, y: negative(apply("sin", x)),
    "gammaln": lambda x, y: apply("psi", x),
    "psi": lambda x, y: apply("polygamma", constant(1), x),
    "i0e": lambda x, y: minus(apply("i1e", x), y),  # for x >= 0
    "i1e": lambda x, y: minus(apply("i0e", x), plus(y, over(y, x))),
    "abs": lambda x, y: apply("sign", x),
    "float": lambda x, y: ONE,
}  # fmt: skip
"""The derivatives of functions of one number, from the number and their value."""

CallSlope = Callable[[Node, int], Node]
"""The derivative of a call in one of its arguments."""


def _contributions(node: Node, g: Node, call_slope: CallSlope) -> Iterable[tuple[Node, Node]]:
    """What the derivative of a result in a node, `g`, adds to those in its arguments."""
    op, args = node.op, node.args
    if op == "call":
        return [(a, times(g, call_slope(node, i))) for i, a in enumerate(args)]
    if op == "when":
        return [(args[1], when(args[0], g, ZERO)), (args[2], when(args[0], ZERO, g))]
    if op in _SLOPES:
        slope = _SLOPES[op](args[0], node)
        # a quotient last: its divisor may be so small that nothing else than this product is a number
        return [
            (args[0], over(times(g, slope.args[0]), slope.args[1]) if slope.op == "div" else times(g, slope))
        ]
    if op in _STEPS:
        return []
    return zip(args, _OTHERS[op](*args, node, g), strict=True)


def _to_angle(y: Node, x: Node, value: Node, g: Node) -> tuple[Node, Node]:
    squares = plus(times(x, x), times(y, y))
    return over(times(g, x), squares), negative(over(times(g, y), squares))


_OTHERS: dict[str, Callable[..., tuple[Node, ...]]] = {
    "add": lambda a, b, value, g: (g, g),
    "sub": lambda a, b, value, g: (g, negative(g)),
    "neg": lambda a, value, g: (negative(g),),
    "mul": lambda a, b, value, g: (times(g, b), times(g, a)),
    "div": lambda a, b, value, g: (over(g, b), negative(over(times(g, value), b))),
    "minimum": lambda a, b, value, g: (when(apply("le", a, b), g, ZERO), when(apply("le", a, b), ZERO, g)),
    "maximum": lambda a, b, value, g: (when(apply("le", b, a), g, ZERO), when(apply("le", b, a), ZERO, g)),
    "polygamma": lambda n, x, value, g: (ZERO, times(g, apply("polygamma", constant(n.value + 1), x))),
    "arctan2": _to_angle,
}  # fmt: skip


_STEPS = frozenset(("sign", "floor", "lt", "le", "eq", "and", "or", "not"))
"""What is constant but for steps."""


def in_order(roots: Iterable[Node], seen: set[Node] | None = None) -> list[Node]:
    """What the roots depend on and they themselves, each after its arguments; without what was seen."""
    seen = set() if seen is None else seen
    order: list[Node] = []

    def visit(node: Node) -> None:
        if node not in seen:
            seen.add(node)
            for argument in node.args:
                visit(argument)
            order.append(node)

    for root in roots:
        visit(root)
    return order


def replaced(roots: Iterable[Node], by: Mapping[Node, Node]) -> list[Node]:
    """The same with other nodes in the place of some."""
    built: dict[Node, Node] = dict(by)
    found = []
    for root in roots:
        for node in in_order([root], set(built)):
            built[node] = (
                apply(node.op, *(built[a] for a in node.args), value=node.value) if node.args else node
            )
        found.append(built[root])
    return found


def gradient(root: Node, variables: Iterable[Node], call_slope: CallSlope) -> list[Node]:
    """The derivatives in variables."""
    order = in_order([root])
    wanted = set(variables)
    follows: set[Node] = set()
    for node in order:
        if node in wanted or any(a in follows for a in node.args):
            follows.add(node)
    found: dict[Node, Node] = {root: ONE}
    for node in reversed(order):
        g = found.get(node)
        if g is None or g is ZERO or node not in follows or not node.args:
            continue
        for argument, more in _contributions(
            node, g, lambda n, i: call_slope(n, i) if n.args[i] in follows else ZERO
        ):
            if argument in follows:
                found[argument] = plus(found[argument], more) if argument in found else more
    return [found.get(v, ZERO) if v in follows else ZERO for v in variables]
