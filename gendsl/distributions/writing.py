"""Texts of functions of numbers and columns, written from formulas.

On numbers a text is like the one that the formula was read from. On columns a branch is taken where all
points take it; where they don't, both are, and each point gets what is its own. What is computed at the
others is of no account, and so NumPy's warnings are: the caller sees to that.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from gendsl.distributions import formulas
from gendsl.distributions.formulas import Node, apply, constant, gradient, in_order, replaced, variable, when
from gendsl.distributions.reading import formula_of
from gendsl.distributions.special import COLUMN_FUNCTIONS, SLOPES

UNKNOWN = constant(float("nan"))
"""A value that only says that others are to decide."""
_INFIX = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "lt": "<", "le": "<=", "eq": "==", "and": "&", "or": "|",
}  # fmt: skip
_PREFIX = {"neg": "-", "not": "~"}
_IN_PLACE = {"add": "add", "sub": "subtract", "mul": "multiply", "div": "divide"}
_OF_INTEGERS = frozenset(("add", "sub", "mul", "neg", "minimum", "maximum", "abs", "select"))
_COMPARED = frozenset(("lt", "le", "eq"))
_TESTS = frozenset(("lt", "le", "eq", "and", "or", "not"))


# --- derivatives of what is called ------------------------------------------------------------------


class _Slope:
    """The derivative of a function in one of its arguments."""

    def __init__(self, function: Any, index: int) -> None:
        self.function = function
        self.index = index
        self.__name__ = f"slope_of_{function.__name__}"

    def formula(self, args: Sequence[Node]) -> Node:
        own = [variable(f"_{i}") for i in range(len(args))]
        [slope] = gradient(_called(self.function, own), [own[self.index]], call_slope)
        return replaced([slope], dict(zip(own, args, strict=True)))[0]

    def __call__(self, *args: Any) -> Any:
        return _made_of(self, len(args))(*args)


_slope = functools.cache(_Slope)


@functools.cache
def _made_of(function: Any, count: int) -> Made:
    """What is made of the text of a function of some numbers."""
    names = [f"_{i}" for i in range(count)]
    return Made(names, [_called(function, [variable(name) for name in names])])


def _called(function: Any, args: Sequence[Node]) -> Node:
    return function.formula(args) if isinstance(function, _Slope) else formula_of(function, args)


def call_slope(node: Node, index: int) -> Node:
    rule = SLOPES.get(node.value)
    return formulas.call(rule if rule is not None else _slope(node.value, index), node.args)


# --- texts ------------------------------------------------------------------------------------------


def branch(condition: Any, then: Callable[[], Any], other: Callable[[], Any]) -> Any:
    """`then()` at the points where a condition holds, `other()` elsewhere."""
    count = np.count_nonzero(condition)
    if count == condition.size:
        return then()
    if not count:
        return other()
    first, second = then(), other()
    if type(first) is tuple:
        return tuple(np.where(condition, a, b) for a, b in zip(first, second, strict=True))
    return np.where(condition, first, second)


class Made:
    """Formulas of named arguments, as functions of numbers and columns.

    Attributes:
        whole: whether columns may be of integers.
        valid: tests that hold of valid arguments; where not all do, results are not finite. If None, nobody
            asks; otherwise what is not finite only says that others are to decide.
    """

    def __init__(
        self,
        names: Sequence[str],
        roots: Sequence[Node],
        *,
        whole: bool = True,
        valid: Sequence[Node] | None = None,
    ) -> None:
        self.names = names
        self.roots = roots
        self.whole = whole
        self.valid = valid
        self._functions: dict[Any, Callable[..., Any]] = {}

    def __call__(self, *args: Any) -> Any:
        types = tuple(map(type, args))
        function = self._functions.get(types)
        return self._function(types)(*args) if function is None else function(*args)

    def _function(self, types: tuple[type, ...]) -> Callable[..., Any]:
        """The function for arguments of these types."""
        columns = frozenset(
            name for name, type_ in zip(self.names, types, strict=True) if type_ is np.ndarray
        )
        if columns not in self._functions:
            self._functions[columns] = _Writer(columns, self.whole).written(
                self.names, self.roots, self.valid
            )
        found = self._functions[columns]
        if any(issubclass(type_, np.generic) for type_ in types):
            found = functools.partial(_of_plain_numbers, found)
        self._functions[types] = found
        return found


def _of_plain_numbers(function: Callable[..., Any], *args: Any) -> Any:
    """What a function gives of arguments, those that are NumPy's numbers as Python's."""
    return function(*[a.item() if isinstance(a, np.generic) else a for a in args])


class _Writer:
    """Writes the text of a function: statements of one operation each, and closures for branches."""

    def __init__(self, columns: frozenset[str], whole: bool) -> None:
        self.columns = columns
        self.whole = whole
        self.lines: list[str] = []
        self.scope: dict[str, Any] = {"branch": branch, "inf": np.inf, "nan": np.nan}
        self.several: dict[Node, bool] = {}
        self.made = 0

    def written(
        self, names: Sequence[str], roots: Sequence[Node], valid: Sequence[Node] | None
    ) -> Callable[..., Any]:
        self.lines.append(f"def log_density({', '.join(names)}):")
        roots = self.lowered(roots)
        if valid is not None:
            roots = self.lowered([decided(root, valid) for root in roots])
        self.block(roots, {variable(name): name for name in names}, 1)
        text = "\n".join(self.lines)
        exec(compile(text, "<made of a log density>", "exec"), self.scope)
        function: Callable[..., Any] = self.scope["log_density"]
        function.__doc__ = text
        return function

    def is_column(self, node: Node) -> bool:
        """Whether it has a value at each point."""
        found = self.several.get(node)
        if found is None:
            found = (
                node.value in self.columns if node.op == "variable" else any(map(self.is_column, node.args))
            )
            self.several[node] = found
        return found

    def is_whole(self, node: Node) -> bool:
        """Whether its values may be integers, or truth values."""
        if node.op in ("variable", "constant"):
            return self.whole if node.op == "variable" else type(node.value) is not float
        may_be = node.op in _OF_INTEGERS or (node.op == "call" and not self.is_column(node))
        return node.op in _TESTS or (may_be and all(map(self.is_whole, node.args)))

    def lowered(self, roots: Iterable[Node]) -> list[Node]:
        """The same with the texts of what is called with columns, and without tests of both kinds in one."""
        built: dict[Node, Node] = {}
        found = []
        for root in roots:
            for node in in_order([root], set(built)):
                args = [built[a] for a in node.args]
                if (
                    node.op == "call"
                    and node.value not in COLUMN_FUNCTIONS
                    and any(map(self.is_column, args))
                ):
                    [built[node]] = self.lowered([_called(node.value, args)])
                elif node.op == "when":
                    built[node] = self.parted(*args)
                else:
                    built[node] = apply(node.op, *args, value=node.value) if args else node
            found.append(built[root])
        return found

    def parted(self, condition: Node, a: Node, b: Node) -> Node:
        """A branch on what numbers say, and inside on what columns do."""
        if self.is_column(condition) and _is_short(a) and _is_short(b) and any(map(self.is_column, (a, b))):
            return formulas.select(condition, a, b)
        tests = _conjuncts(condition)
        numbers = [test for test in tests if not self.is_column(test)]
        columns = [test for test in tests if self.is_column(test)]
        return when(_all(numbers), when(_all(columns), a, b), b)

    def block(self, roots: list[Node], names: dict[Node, str], depth: int) -> None:
        """The statements that return the roots."""
        indent = "    " * depth
        condition = _first_condition(roots)
        if condition is None:
            found = self.statements([self.grouped(root) for root in roots], names, indent)
            self.lines.append(f"{indent}return {', '.join(found)}")
            return
        [test] = self.statements([condition], names, indent, again=False)
        sides = [replaced(roots, {condition: constant(truth)}) for truth in (True, False)]
        if not self.is_column(condition):
            self.lines.append(f"{indent}if {test}:")
            self.block(sides[0], dict(names), depth + 1)
            self.block(sides[1], names, depth)
            return
        if all(root is UNKNOWN for root in sides[1]):
            self.scope["count"] = np.count_nonzero
            self.lines.append(f"{indent}if count({test}) != {test}.size: return nan")
            self.block(sides[0], names, depth)
            return
        self.made += 1
        functions = f"then_{self.made}", f"other_{self.made}"
        for function, side in zip(functions, sides, strict=True):
            self.lines.append(f"{indent}def {function}():")
            self.block(side, dict(names), depth + 1)
        self.lines.append(f"{indent}return branch({test}, {', '.join(functions)})")

    def grouped(self, root: Node) -> Node:
        """The same, with numbers that are added to a column one after the other added up first."""
        uses = _uses([root])
        built: dict[Node, Node] = {}
        for node in in_order([root]):
            args = [built[a] for a in node.args]
            if node.op in ("add", "sub") and self.is_column(args[0]) and not self.is_column(args[1]):
                inner, number = args[0], args[1] if node.op == "add" else formulas.negative(args[1])
                if inner.op in ("add", "sub") and uses.get(node.args[0]) == 1:
                    a, b = inner.args
                    if not self.is_column(b):
                        args[0], number = (
                            a,
                            formulas.plus(formulas.negative(b) if inner.op == "sub" else b, number),
                        )
                        built[node] = formulas.plus(a, number)
                        continue
                    if not self.is_column(a):
                        number = formulas.plus(a, number)
                        built[node] = (formulas.minus if inner.op == "sub" else formulas.plus)(number, b)
                        continue
            built[node] = apply(node.op, *args, value=node.value) if args else node
        return built[root]

    def statements(
        self, roots: Sequence[Node], names: dict[Node, str], indent: str, *, again: bool = True
    ) -> list[str]:
        """Statements that compute nodes, and the names of these.

        Where `again`, nothing else follows, and columns that are not needed any more are written over.
        """
        uses = _uses(roots)
        free: set[Node] = set()  # columns of floats that were made here
        for node in in_order(roots, set(names)):
            if node.op == "constant":
                names[node] = f"({node.value!r})"
                continue
            for argument in node.args:
                uses[argument] -= 1
            dead = [a for a in node.args if a in free and not uses[a]]
            names[node] = self.statement(node, names, dead, indent)
            if again and self.is_column(node) and node.op != "float" and not self.is_whole(node):
                free.add(node)
        return [names[root] for root in roots]

    def statement(self, node: Node, names: dict[Node, str], dead: list[Node], indent: str) -> str:
        args = [names[a] for a in node.args]
        if node.op in _COMPARED:  # which takes less time for integers
            args = [
                f"({a.value:.0f})" if _is_integral(a) else name
                for a, name in zip(node.args, args, strict=True)
            ]
        column = self.is_column(node)
        self.made += 1
        name = f"t{self.made}"
        operator, prefix = _INFIX.get(node.op), _PREFIX.get(node.op)
        if operator is not None and dead and node.op in _IN_PLACE:
            if dead[0] is node.args[0]:
                self.lines.append(f"{indent}{args[0]} {operator}= {args[1]}")
                return args[0]
            name = args[1]
            self.lines.append(f"{indent}{self.function(_IN_PLACE[node.op])}({args[0]}, {name}, {name})")
            return name
        if operator is not None:
            value = f"{args[0]} {operator} {args[1]}"
        elif prefix is not None:
            value = f"{prefix if column or node.op == 'neg' else 'not '}{args[0]}"
        elif node.op == "call":
            called = _of_columns(node.value, len(args)) if column else node.value
            bound = f"{getattr(node.value, '__name__', 'called')}_{self.made}"
            self.scope[bound] = called
            value = f"{bound}({', '.join(args)})"
        else:
            table = formulas.COLUMNS if column else formulas.SCALARS
            bound = node.op if column else f"{node.op}_"
            function = self.scope.setdefault(bound, table[node.op])
            if dead and isinstance(function, np.ufunc):
                args.append(names[dead[0]])
            value = f"{bound}({', '.join(args)})"
        self.lines.append(f"{indent}{name} = {value}")
        return name

    def function(self, name: str) -> str:
        self.scope.setdefault(name, getattr(np, name))
        return name


@functools.cache
def _of_columns(function: Any, count: int) -> Callable[..., Any]:
    """A function of columns by what is known of it, and where that is nothing by its text."""
    known, made = COLUMN_FUNCTIONS[function], _made_of(function, count)

    def called(*args: Any) -> Any:
        found = known(*args)
        return made(*args) if found is None else found

    return called


def _is_short(node: Node) -> bool:
    return node.op == "variable" or (node.op == "neg" and node.args[0].op == "variable")


def _is_integral(node: Node) -> bool:
    return node.op == "constant" and abs(node.value) < 1e9 and float(node.value).is_integer()


def _uses(roots: Sequence[Node]) -> dict[Node, int]:
    uses: dict[Node, int] = dict.fromkeys(roots, 1)
    for node in in_order(roots):
        for argument in node.args:
            uses[argument] = uses.get(argument, 0) + 1
    return uses


def _first_condition(roots: Iterable[Node]) -> Node | None:
    """The outermost condition that is left, or one that it depends on."""
    seen: set[Node] = set()
    waiting = list(roots)[::-1]
    while waiting:
        node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        if node.op == "when":
            return _first_condition([node.args[0]]) or node.args[0]
        waiting.extend(reversed(node.args))
    return None


# --- where a result is finite only if its arguments are valid ------------------------------------------


def decided(root: Node, valid: Sequence[Node], facts: Sequence[Node] = ()) -> Node:
    """A formula that is as it was where its value is finite, and finite only where tests hold.

    Tests are made as late as can be, and left out where what fails them shows: a logarithm is NaN then.
    """
    condition = _first_condition([root])
    if condition is not None:
        [a], [b] = (replaced([root], {condition: constant(truth)}) for truth in (True, False))
        tests = _conjuncts(condition)
        if _is_infinite(b):
            return decided(a, [*valid, *tests], facts)
        first = decided(a, valid, [*facts, *tests])
        if all(_is_shown(test, first) for test in tests):
            return first
        return when(condition, first, decided(b, valid, facts))
    if _is_infinite(root):
        return root
    known = [*facts, *(apply("le", *fact.args) for fact in facts if fact.op == "lt")]
    open_ = [test for test in valid if not (test in known or _is_shown(test, root))]
    return when(_all(open_), root, UNKNOWN)


def _all(tests: Sequence[Node]) -> Node:
    return functools.reduce(functools.partial(apply, "and"), tests, formulas.ALWAYS)


def _conjuncts(condition: Node) -> list[Node]:
    return [c for a in condition.args for c in _conjuncts(a)] if condition.op == "and" else [condition]


def _is_infinite(node: Node) -> bool:
    return node.op == "constant" and not -np.inf < node.value < np.inf


def _is_shown(test: Node, root: Node) -> bool:
    """Whether a formula is not finite where a test fails."""
    if test.op not in ("lt", "le"):
        return False
    low, high = test.args
    if low.op == "constant":
        return _spoils(high if low.value == -np.inf else apply("log", high), root) and low.value in (
            0.0,
            -np.inf,
        )
    if high.op == "constant":
        shows = low if high.value == np.inf else apply("log1p", formulas.negative(low))
        return _spoils(shows, root) and high.value in (1.0, np.inf)
    return False


def _spoils(node: Node, root: Node) -> bool:
    """Whether a formula is not finite where a node of it is not."""
    if root is node or _is_infinite(root):
        return True
    if root.op in ("when", "select"):
        return all(_spoils(node, a) for a in root.args[1:])
    if root.op in ("add", "sub", "mul", "neg"):
        return any(_spoils(node, a) for a in root.args)
    return root.op in ("div", "log", "log1p", "sqrt", "gammaln") and _spoils(node, root.args[0])
