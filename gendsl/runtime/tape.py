"""A sum of terms recorded on autograd's graph, and its gradient by one pass backwards.

autograd records the arithmetic of a program. The terms of a log probability need no record of their own:
each adds to the gradient at once, by its partial derivatives, at the nodes of what it was computed from.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from autograd.core import VJPNode, add_outgrads
from autograd.numpy.numpy_vjps import unbroadcast
from autograd.tracer import getval, new_box, trace_stack

from gendsl.errors import LostDerivativeError


class Tape:
    """Variables and the terms computed from them; used as a context, in which the variables can be used."""

    def __init__(self) -> None:
        self._seeds: dict[Any, Any] = {}
        self._trace: Any = None
        self._open = trace_stack.new_trace()

    def __enter__(self) -> Tape:
        self._trace = self._open.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._open.__exit__(*error)

    def variable(self, value: Any) -> Any:
        """A number or an array that autograd follows."""
        return new_box(value, self._trace, VJPNode.new_root())

    def add(self, term: Any) -> None:
        """Add a number that autograd followed to the sum."""
        self.seed(term, 1.0)

    def seed(self, box: Any, partial: Any) -> None:
        """Add a term to the sum, by its derivative with respect to something that autograd followed.

        Args:
            box: what the term was computed from.
            partial: the derivative; of the shape of what the term is the sum over, to which `box` broadcasts.
        """
        value, node = box._value, box._node
        shape = () if type(value) is float else np.shape(value)
        if shape == ():
            partial = partial.sum() if type(partial) is np.ndarray else partial
            before = self._seeds.get(node)
            self._seeds[node] = partial if before is None else before[0] + partial, False
            return
        if np.shape(partial) != shape:
            shapes = np.broadcast_shapes(np.shape(partial), shape)
            meta = shape, len(shape), np.asarray(value).dtype, False
            partial = unbroadcast(np.broadcast_to(partial, shapes), meta)
        self._seeds[node] = add_outgrads(self._seeds.get(node), partial)

    def gradients(self, variables: Iterable[Any]) -> list[Any]:
        """The derivatives of the sum with respect to variables of this tape, each of its shape.

        NaN where there is none.

        Raises:
            LostDerivativeError: autograd has a function whose derivative it can't compute.
        """
        try:
            gradients = self._backward()
        except ArithmeticError:  # of Python's numbers, where NumPy's would give NaN or an infinity
            return [np.full(np.shape(getval(variable)), np.nan)[()] for variable in variables]
        except (TypeError, ValueError, AttributeError, NotImplementedError, AssertionError) as error:
            raise LostDerivativeError(
                f"a derivative can't be followed: autograd fails with {type(error).__name__}: {error}",
                fix="compute it by other functions, or leave the choice out of the selection",
            ) from error
        results = []
        for variable in variables:
            gradient = gradients.get(variable._node)
            results.append(np.zeros(np.shape(getval(variable))) if gradient is None else _real(gradient[0]))
        return results

    def _backward(self) -> dict[Any, Any]:
        """The derivative with respect to each variable, as autograd keeps it."""
        gradients = dict(self._seeds)
        children = dict.fromkeys(gradients, 0)  # how many nodes that count were made from each node
        found = list(gradients)
        while found:
            for parent in found.pop().parents:
                if parent in children:
                    children[parent] += 1
                else:
                    children[parent] = 1
                    found.append(parent)
        ready = [node for node in gradients if not children[node]]
        while ready:
            node = ready.pop()
            if not node.parents:
                continue
            gradient = gradients.pop(node)
            outside = gradient[0] if isinstance(gradient[0], np.ndarray) else np.float64(gradient[0])
            for parent, part in zip(node.parents, node.vjp(outside), strict=False):
                gradients[parent] = add_outgrads(gradients.get(parent), part)
                children[parent] -= 1
                if not children[parent]:
                    ready.append(parent)
        return gradients


def _real(gradient: Any) -> Any:
    """A derivative as it is; NaN for the complex one that autograd gets from a power of a negative number."""
    return np.full(np.shape(gradient), np.nan)[()] if np.iscomplexobj(gradient) else gradient
