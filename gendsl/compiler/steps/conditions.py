"""Conditions of a text put together, and values by them, without what constants decide."""

from __future__ import annotations

from gendsl.compiler.hir import FALSE, TRUE, Expr, Op


def one_of(test: Expr, one: Expr, other: Expr) -> Expr:
    """One of two values."""
    if test == TRUE or one == other:
        return one
    if test == FALSE:
        return other
    if one == TRUE and other == FALSE:
        return test
    return Op("select", (test, one, other), one.kind)


def both(one: Expr, other: Expr) -> Expr:
    """Whether two tests hold."""
    if FALSE in (one, other):
        return FALSE
    return other if one == TRUE else one if other == TRUE else Op("and", (one, other), "b")


def negation(test: Expr) -> Expr:
    """Whether a test does not hold."""
    return FALSE if test == TRUE else TRUE if test == FALSE else Op("not", (test,), "b")


def either(one: Expr, other: Expr) -> Expr:
    """Whether one of two tests holds."""
    if TRUE in (one, other):
        return TRUE
    return other if one == FALSE else one if other == FALSE else Op("or", (one, other), "b")
