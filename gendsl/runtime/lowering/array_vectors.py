"""Vectors that are parameters of choices as array code: a matrix with a row for each iteration.

    mu[z]                    ->   rows(mu, z)
    X[i] @ B + shift         ->   between("+", mapped(either(X, i), B, 0), same(shift))
    t * direction            ->   between("*", spread(t), same(direction))
    np.array([a, b * t])     ->   assembled(a, multiply(b, t))

What an expression is made of may be vectors or numbers, where only the values can tell. Numbers that stand
where a vector is asked for are none; array code then raises.
"""

from __future__ import annotations

import ast

import numpy as np

from gendsl.runtime.lowering.array_expressions import ROWWISE_SIGNS, ScalarError, unwatched
from gendsl.runtime.lowering.array_statements import ArrayStatements
from gendsl.runtime.lowering.vectors import ELEMENTWISE


class ArrayVectors(ArrayStatements):
    """The array code of vectors in one loop.

    Attributes:
        vectors: the slots of an iteration that are known to be vectors.
        amounts: those that are known to be numbers.
    """

    vectors: set[int]
    amounts: set[int]

    def vector_of(self, node: ast.expr) -> ast.expr:
        """A vector in each iteration, or one that all share."""
        if not self.varies(node):
            return self.tool(node, "same", self.vector(node))
        match node:
            case ast.List(entries) | ast.Tuple(entries):
                return self.tool(node, "assembled", *self.entries(entries))
        made = self.part(node)
        return made if isinstance(node, ast.Name) else self.tool(node, "as_vectors", made)

    def part(self, node: ast.expr) -> ast.expr:
        """A part of an expression for a vector: a vector in each iteration, or a number."""
        if not self.varies(node):
            return self.tool(node, "same", self.vector(node))
        node = unwatched(node)
        match node:
            case ast.Name(name) if self.is_amount(name):
                return self.tool(node, "spread", self.vector(node))
            case ast.BinOp(left, ast.MatMult(), right):
                return self.mapped(node, left, right)
            case ast.BinOp(left, op, right) if type(op) in ROWWISE_SIGNS:
                sign = ast.Constant(ROWWISE_SIGNS[type(op)])
                return self.tool(node, "between", sign, self.part(left), self.part(right))
            case ast.UnaryOp(ast.USub(), operand):
                return self.tool(node, "between", ast.Constant("*"), self.part(operand), ast.Constant(-1))
            case ast.Call(args=[left, right], keywords=[]) if self.is_product(node.func):
                return self.mapped(node, left, right)
            case ast.Call(args=[ast.List(entries) | ast.Tuple(entries)], keywords=[]) if (
                self.called(node.func) is np.array
            ):
                return self.tool(node, "assembled", *self.entries(entries))
            case ast.Call(args=[argument], keywords=[]) if _is_of_numbers(self.called(node.func)):
                return self.tool(node, "each_entry", node.func, self.part(argument))
            case ast.Call() if self.called(node.func) in ELEMENTWISE:
                return self.tool(node, "spread", self.vector(node))
            case ast.Subscript(container, index) if not _has_slice(index) and (
                self.varies(container) or isinstance(index, ast.Tuple)
            ):
                return self.tool(node, "spread", self.vector(node))
            case ast.Subscript(container, index) if not (self.varies(container) or _has_slice(index)):
                return self.lookup(node, "either", container, index)
        return self.row(node)

    def is_amount(self, name: str) -> bool:
        """Whether a variable is known to be a number."""
        load = None if name in self.bound else self.varying.get(name)
        return load is not None and load.slot in self.amounts

    def entries(self, nodes: list[ast.expr]) -> list[ast.expr]:
        """The entries of a list as numbers."""
        if any(isinstance(node, ast.Starred) for node in nodes):
            raise ScalarError
        return [self.operand(node) for node in nodes]

    def mapped(self, node: ast.expr, left: ast.expr, right: ast.expr) -> ast.expr:
        """The product of a matrix, the same in all iterations, and a vector."""
        if self.varies(left) and self.varies(right):
            raise ScalarError
        which = int(self.varies(right))
        given = [self.part(part) if self.varies(part) else self.vector(part) for part in (left, right)]
        return self.tool(node, "mapped", *given, ast.Constant(which))


def _is_of_numbers(function: object) -> bool:
    """Whether a function is one of NumPy's kind that makes each entry of an array another."""
    return isinstance(function, np.ufunc) and function.signature is None and function.nout == 1


def _has_slice(index: ast.expr) -> bool:
    """Whether an index is a slice, or has one among others."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return any(isinstance(part, (ast.Slice, ast.Starred)) for part in parts)
