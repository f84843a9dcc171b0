"""Copies of a program for each of its uses, and what becomes of statements in them; see `hir.copied`."""

from __future__ import annotations

from gendsl.compiler import hir


def looked(one: hir.Statement) -> hir.Body | None:
    """Reads that no transform makes need not be noted; the number of a call is that of its address."""
    match one:
        case hir.Read(targets=targets, template=template, indices=indices):
            return [hir.Read(list(targets), template, indices, False, line=one.line)]
        case hir.Visit(targets=[node], template=template, indices=indices):
            return [hir.Node(node, template, indices, True, line=one.line)]
    return None


def scored(one: hir.Statement) -> hir.Body | None:
    """A program whose choices are there: calls are not noted."""
    return [] if isinstance(one, hir.Keep) else looked(one)


def read_again(one: hir.Statement) -> hir.Body | None:
    """A program that is followed once more, through the current trace."""
    match one:
        case hir.Visit(targets=[node], template=template, indices=indices):
            return [hir.Node(node, template, indices, line=one.line)]
        case hir.Primitive(name="cover"):  # it was noted where the choices were made
            return []
    return scored(one)


RUNS = {"_here": read_again, "_there": scored}
"""The runs of a random walk: what the names of copies of the program end with, and what changes in them."""


def assessed(main: hir.Function, suffix: str) -> hir.Function:
    """A copy of a program, to be scored: nothing is drawn, and calls are not noted."""
    return hir.copied(main, suffix, scored)
