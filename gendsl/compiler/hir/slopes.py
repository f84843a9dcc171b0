"""What texts do with derivatives: functions that all of them share, declared.

They are written in `library_slopes`. Their machine code is made from `llvm/slopes.ll`, which
`run.write_slopes` makes of that; Python texts call those of `slopes_runtime`. Their bodies here are no more
than what a text has to know of them: which lists they read and change, and that they may fail.
"""

from __future__ import annotations

from dataclasses import dataclass

from gendsl.compiler.hir import (
    Append,
    Body,
    Const,
    Expr,
    Fail,
    Fill,
    For,
    Function,
    If,
    Length,
    Load,
    Op,
    Return,
    Set,
    Store,
    Truncate,
    Var,
)

SYMBOLS = "gendsl_slopes_"
"""What the names of these functions begin with as symbols of machine code."""
PAIRS = ("i", "f")
"""A coordinate that was read, and the derivative in it."""

_PAIRS, _X = Var("pairs", "r"), Var("x", "r")
_COLUMNS, _COLUMN = Var("columns", "r"), Var("column", "r")
_NUMBERS, _COORDINATES = Var("numbers", "r"), Var("coordinates", "r")
_COORDINATE, _SLOPE, _ROW = Var("coordinate", "i"), Var("slope", "f"), Var("row", "i")
_A, _TOTAL, _VALUE = Var("a", "f"), Var("total", "f"), Var("value", "f")
_I, _J, _N = Var("i", "i"), Var("j", "i"), Var("n", "i")
_ZERO, _ONE = Const(0, "i"), Const(1, "i")
_IS_FINITE = Op("lt", (Op("abs", (_SLOPE,), "f"), Const(float("inf"), "f")), "b")


@dataclass(frozen=True)
class Slopes:
    """The functions, for one text."""

    ordered: Function
    add: Function
    log_abs_det: Function
    sizes: Function
    finite: Function


def slopes() -> Slopes:
    """New declarations, as a text may give its functions other names."""
    return Slopes(
        _declared("ordered", [_PAIRS], [], "pairs in the order of their coordinates", [
            *_each(_I, _PAIRS, PAIRS, [_load(_COORDINATE, _SLOPE, of=_PAIRS, at=_I), _store()]),
            Truncate(_PAIRS, PAIRS, _N),
        ]),
        _declared("add", [_PAIRS, _A, _X], [], "add a dx to the derivatives of a number", [
            *_each(_I, _X, PAIRS, [
                _load(_COORDINATE, _SLOPE, of=_X, at=_I),
                Append(_PAIRS, PAIRS, (_COORDINATE, Op("mul", (_A, _SLOPE), "f"))),
                _load(_COORDINATE, _SLOPE, of=_PAIRS, at=_I),
                _store(),
            ]),
            Truncate(_PAIRS, PAIRS, _N),
        ]),
        _declared("log_abs_det", [_COLUMNS, _NUMBERS], ["f"], "log |det J|", [
            Set([_TOTAL], [Const(0.0, "f")]),
            *_each_slope([
                If(_IS_FINITE, [], [Fail("an assertion")]),
                Set([_TOTAL], [Op("add", (_TOTAL, Op("log", (_SLOPE,), "f")), "f")]),
            ]),
            Return([_TOTAL]),
        ]),
        _declared("sizes", [_COLUMNS, _NUMBERS, _COORDINATES], ["r"], "sums of |dx / dz| |z|", [
            Fill(_X, ("f",), _N, (Const(0.0, "f"),)),
            *_each_slope([
                Load([_VALUE], _COORDINATES, ("f",), _COORDINATE),
                Append(_X, ("f",), (_VALUE,)),
            ]),
            Return([_X]),
        ]),
        _declared("finite", [_PAIRS], ["b"], "whether all derivatives are numbers", [
            *_each(_I, _PAIRS, PAIRS, [_load(_COORDINATE, _SLOPE, of=_PAIRS, at=_I)]),
            Return([_IS_FINITE]),
        ]),
    )  # fmt: skip


def _declared(name: str, parameters: list[Var], results: list[str], what: str, body: Body) -> Function:
    return Function(name, parameters, results, body, f"{what}; see library_slopes", symbol=f"{SYMBOLS}{name}")


def _each(at: Var, list_: Var, layout: tuple[str, ...], body: Body) -> Body:
    """Statements for each item of a list."""
    return [Length(_N, list_, layout), For(at, _ZERO, _N, _ONE, body, 1 if at is _I else 2)]


def _each_slope(body: Body) -> Body:
    """Statements for each derivative of each column."""
    loads: Body = [_load(_COORDINATE, _SLOPE, of=_COLUMN, at=_I), Load([_ROW], _NUMBERS, ("i",), _COORDINATE)]
    inner = _each(_I, _COLUMN, PAIRS, [*loads, *body])
    return _each(_J, _COLUMNS, ("r",), [Load([_COLUMN], _COLUMNS, ("r",), _J), *inner])


def _load(*targets: Var, of: Var, at: Expr) -> Load:
    return Load(list(targets), of, PAIRS, at)


def _store() -> Store:
    return Store(_PAIRS, PAIRS, _I, (_COORDINATE, _SLOPE))
