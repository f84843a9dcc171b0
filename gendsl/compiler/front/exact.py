"""What a text computes with the bits that Python and NumPy give it, for functions whose values are recorded.

Texts of kernels need that to within rounding only: sums have one order, squares are products, exponentials of
NumPy are those of C. Of what is recorded no bit may depend on whether machine code or Python computed it. So
some functions have other texts there, and what still has other bits is noted where it is lowered, or found
afterwards; the function is then called in Python.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from gendsl.compiler import hir
from gendsl.compiler.front import (
    library_deque,
    library_exact,
    library_itertools,
    library_joins,
    library_linear,
    library_making,
    library_numbers,
    library_products,
    library_searches,
    library_shapes,
    library_stats,
    library_sums,
)
from gendsl.compiler.front.frame import Frame
from gendsl.compiler.front.sources import origin_of
from gendsl.compiler.hir import Op
from gendsl.compiler.hir.failures import NotClosed
from gendsl.compiler.hir.types import Array

if TYPE_CHECKING:
    from gendsl.compiler.hir.values import Value

_NOTED = "other bits: "
"""What the names of statements begin with that note it; what it is of stands behind."""
_OPERATIONS = frozenset([
    *hir.NEVER_FAIL, "truediv", "np_div", "int", "int_trunc", "int_floor", "int_ceil", "int_round",
    "floordiv", "mod", "ipow", "bitand", "bitor", "bitxor", "lshift", "rshift", "range_length", "mix",
    "bits", "np_floor", "np_ceil", "np_rint", "np_sqrt", "np_maximum", "np_minimum", "np_copysign", "fabs",
    "exp", "log", "sqrt", "sin", "cos", "tan", "atan", "asin", "acos", "sinh", "cosh", "tanh", "expm1",
    "log2", "log10", "atan2", "pow", "fmod", "log1p",
])  # fmt: skip
"""Operations with the bits that Python's own have: those of `math` call the functions of C that Python calls.
"""
_STATEMENTS = (
    hir.Set, hir.New, hir.Fill, hir.Length, hir.Load, hir.Store, hir.Append, hir.Truncate, hir.If,
    hir.For, hir.Loop, hir.Block, hir.Leave, hir.Next, hir.Call, hir.Return, hir.Fail, hir.Read,
    hir.Present, hir.Given, hir.Count, hir.Node, hir.Extent,
)  # fmt: skip
"""What a function may do that looks at a trace and changes nothing."""
_LIBRARIES: tuple[ModuleType, ...] = (
    library_deque, library_exact, library_itertools, library_joins, library_linear, library_making,
    library_numbers, library_products, library_searches, library_shapes, library_stats, library_sums,
)  # fmt: skip
_SAME_BITS = frozenset([
    "factorial", "comb", "max_all", "min_all", "any_all", "all_all", "argmax", "argmin", "prod_all",
    "positions", "compress", "arange", "repeated", "repeated_each", "concatenate_rows", "sort",
    "argsort_of_different", "search_left", "search_right", "search_all_left", "search_all_right",
    "bincount", "median", "roll", "insert", "peak_to_peak", "nan_max", "nan_min", "count_nonzero",
    "unique", "bit_count", "near", "split", "array_split", "split_at", "diag", "tile", "delete",
    "digitize", "isin", "array_equal", "running_max", "running_min", "in_range", "item_of_range",
])  # fmt: skip
"""Functions of the libraries that only compare, count and pick, or compute in the order of NumPy's."""
_INSTEAD: dict[Callable[..., Any], Callable[..., Any]] = {
    library_sums.sum_all: library_exact.sum_all,
    library_sums.mean_all: library_exact.mean_all,
    library_sums.var_all: library_exact.var_all,
    library_sums.std_all: library_exact.std_all,
    library_sums.spread: library_exact.spread,
    library_sums.root_spread: library_exact.root_spread,
}
"""The functions that stand for others of the libraries, in the order in which NumPy adds."""


def noted(frame: Frame, leaf: hir.Expr, what: str) -> hir.Expr:
    """A number that a text computes with other bits than Python, which is noted."""
    var = frame.set(leaf, "other")
    frame.emit(hir.Primitive([], f"{_NOTED}{what}", (var,)))
    return var


def note(frame: Frame, what: str) -> None:
    """Note that a text computes something with other bits than Python, whatever comes of it."""
    frame.emit(hir.Primitive([], f"{_NOTED}{what}"))


def added(frame: Frame, text: Callable[..., Any], value: Value) -> Callable[..., Any]:
    """The function that stands for one that adds entries of an array, in the order in which NumPy does."""
    assert isinstance(value.type, Array)
    if text is library_sums.sum_all and value.type.kind != "f":
        return library_exact.sum_of_integers
    if text in _INSTEAD:
        if value.type.rank > 1:
            note(frame, "a sum along several axes")
        frame.fail_if(Op("lt", (value.leaves[-1], hir.Const(0, "i")), "b"), "a sum from the end")
    return _INSTEAD.get(text, text)


def check(mains: Iterable[hir.Function], has_loop: Callable[[str], bool]) -> None:
    """Raise unless functions, and all that they call, return what Python does, and only look at a trace.

    Numbers with other bits may be computed on the way, if they come to no result, decision or list.

    Args:
        has_loop: whether an operation is done by the loop of NumPy's or SciPy's own function.

    Raises:
        NotClosed: they don't.
    """
    mains = list(mains)
    every = list({id(one): one for main in mains for one in hir.functions(main)}.values())
    lines: dict[int, int] = {}
    for function in reversed(every):  # those that call come before those that they call
        line = own = lines.get(id(function), 0)
        for statement in hir.walk(function.body):
            line = own or statement.line or line
            if isinstance(statement, hir.Call) and (own or statement.function.origin in _origins()):
                lines.setdefault(id(statement.function), line)
    bits = _OtherBits(mains, lines, has_loop)
    while bits.more:
        bits.more = False
        for function in every:
            if function.origin not in _others():
                bits.look(function)
    for function in every:
        _without_notes(function.body)


def _is_note(statement: hir.Statement) -> bool:
    return isinstance(statement, hir.Primitive) and statement.name.startswith(_NOTED)


def _without_notes(body: hir.Body) -> None:
    """Take the notes out of a body, which say nothing to those that print it."""
    body[:] = [one for one in body if not _is_note(one)]
    for one in body:
        for inner in hir.bodies(one):
            _without_notes(inner)


class _OtherBits:
    """Which variables have other bits than in Python, and why.

    Attributes:
        known: for each function the reasons, by its variables, and by the places of its results.
        more: whether another look may find more.
    """

    def __init__(
        self, mains: list[hir.Function], lines: dict[int, int], has_loop: Callable[[str], bool]
    ) -> None:
        self.mains, self.lines, self.has_loop = set(map(id, mains)), lines, has_loop
        self.known: dict[int, dict[hir.Var | int, NotClosed]] = {}
        self.more = True

    def look(self, function: hir.Function) -> None:
        """Go through a function.

        Raises:
            NotClosed: such a number comes where it matters.
        """
        line = own = self.lines.get(id(function), 0)
        for statement in hir.walk(function.body):
            line = own or statement.line or line
            if _is_note(statement):
                assert isinstance(statement, hir.Primitive)
                reason = _of_bits(statement.name.removeprefix(_NOTED), line)
                if not statement.args:
                    raise reason
                self._note(function, [one for one in statement.args if isinstance(one, hir.Var)], [reason])
                continue
            if not isinstance(statement, _STATEMENTS):
                raise NotClosed("a function that does more than to look at a trace", line)
            reasons = [self._reason(function, one, line) for one in hir.expressions(statement)]
            match statement:
                case hir.Set(targets=targets):
                    self._note(function, targets, reasons)
                case hir.Call(targets=targets, function=called):
                    self._call(function, targets, called, reasons, line)
                case hir.Return() if id(function) not in self.mains:
                    self._note(function, range(len(reasons)), reasons)
                case _:
                    for reason in filter(None, reasons):
                        raise reason

    def _reason(self, function: hir.Function, whole: hir.Expr, line: int) -> NotClosed | None:
        known = self.known.get(id(function), {})
        for part in hir.parts(whole):
            if isinstance(part, hir.Var) and part in known:
                return known[part]
            if isinstance(part, Op) and part.name not in _OPERATIONS and not self.has_loop(part.name):
                return _of_bits(shown(part.name), line)
        return None

    def _call(
        self,
        function: hir.Function,
        targets: list[hir.Var],
        called: hir.Function,
        reasons: list[NotClosed | None],
        line: int,
    ) -> None:
        name = _others().get(called.origin)
        if name is None:
            self._note(called, called.parameters, reasons)
            found = self.known.get(id(called), {})
            self._note(function, targets, [found.get(place) for place in range(len(targets))])
            return
        reason = _of_bits(name, line)
        if any(one.kind == "r" for one in targets) or any(map(_changes_lists, hir.functions(called))):
            raise reason
        self._note(function, targets, [reason] * len(targets))

    def _note(
        self, function: hir.Function, places: Iterable[hir.Var | int], reasons: list[NotClosed | None]
    ) -> None:
        known = self.known.setdefault(id(function), {})
        for place, reason in zip(places, reasons, strict=True):
            if reason is not None and place not in known:
                known[place] = reason
                self.more = True


def _changes_lists(function: hir.Function) -> bool:
    return any(isinstance(one, (hir.Store, hir.Append, hir.Truncate)) for one in hir.walk(function.body))


def shown(operation: str) -> str:
    """An operation as the user calls it."""
    if operation.startswith("np_"):
        return f"np.{operation.removeprefix('np_')}"
    return f"math.{operation}"


def _of_bits(what: str, line: int) -> NotClosed:
    return NotClosed(f"the last bits of {what} may be others in machine code", line)


@cache
def _origins() -> frozenset[str]:
    """The origins of the functions of the libraries, whose lines are none of the user's."""
    return frozenset(
        origin_of(one)
        for module in _LIBRARIES
        for one in vars(module).values()
        if isinstance(one, FunctionType) and one.__module__ == module.__name__
    )


@cache
def _others() -> dict[str, str]:
    """The functions of the libraries whose values have other bits than NumPy's, by their origins."""
    found: dict[str, Any] = {}
    for module in _LIBRARIES:
        for name, one in vars(module).items():
            own = isinstance(one, FunctionType) and one.__module__ == module.__name__
            if own and name not in _SAME_BITS and module not in (library_exact, library_itertools):
                found[origin_of(one)] = name.removesuffix("_all")
    return found
