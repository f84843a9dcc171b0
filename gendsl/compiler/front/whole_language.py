"""Which functions the language is made of: what `language` declares, from the modules that have it."""

from __future__ import annotations

from gendsl.compiler.front import (
    array_calls,
    calls,
    cells,
    constructors,
    containers,
    counters,
    draws,
    expressions,
    families,
    function_calls,
    iteration,
    loops,
    operators,
    scores,
    statements,
)


class WholeLanguage:
    """Functions of all kinds of statements, expressions and values."""

    block = staticmethod(statements.statements)
    assign = staticmethod(statements.assign)
    expression = staticmethod(expressions.expression)
    attribute = staticmethod(expressions.attribute)

    call = staticmethod(calls.call)
    call_function = staticmethod(function_calls.call_function)
    call_method = staticmethod(calls.call_method)
    inline_function = staticmethod(function_calls.inline_function)
    construct = staticmethod(constructors.construct)
    call_numpy = staticmethod(array_calls.call)
    plain_call = staticmethod(draws.plain_call)

    loop_over = staticmethod(loops.loop_over)
    each = staticmethod(loops.each)
    count_made = staticmethod(loops.count_made)
    count = staticmethod(iteration.count)

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
    constant_distribution = staticmethod(families.constant_distribution)
