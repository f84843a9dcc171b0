"""What the walk of a program calls from within itself: an expression has parts, a call runs a body of
statements, and a comparison of two lists compares their items.

The modules of the front end import only those before them. Where one needs what comes after it, as an index
needs `expressions.expression`, it takes that from the activation: `frame.language.expression(frame, node)`.
"""

from __future__ import annotations

from gendsl.compiler.front import (
    array_calls,
    calls,
    cells,
    containers,
    counters,
    draws,
    expressions,
    families,
    iteration,
    loops,
    operators,
    scores,
    statements,
)


class Language:
    """Functions of all kinds of statements, expressions and values."""

    block = staticmethod(statements.statements)
    assign = staticmethod(statements.assign)
    expression = staticmethod(expressions.expression)
    attribute = staticmethod(expressions.attribute)

    call = staticmethod(calls.call)
    call_function = staticmethod(calls.call_function)
    call_method = staticmethod(calls.call_method)
    inline_function = staticmethod(calls.inline_function)
    construct = staticmethod(calls.construct)
    call_numpy = staticmethod(array_calls.call)
    plain_call = staticmethod(draws.plain_call)

    loop_over = staticmethod(loops.loop_over)
    each = staticmethod(loops.each)
    count_made = staticmethod(loops.count_made)
    sequence = staticmethod(iteration.sequence)

    truth = staticmethod(operators.truth)
    compared = staticmethod(operators.compared)
    equal_parts = staticmethod(operators.equal_parts)

    length = staticmethod(containers.length)
    item = staticmethod(containers.item)
    most_common = staticmethod(counters.most_common)
    cell_value = staticmethod(cells.opened)
    assign_cell = staticmethod(cells.assign)

    value_type = staticmethod(scores.value_type)
    image_of_distribution = staticmethod(families.image)
