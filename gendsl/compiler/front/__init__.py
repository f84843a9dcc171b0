"""The front end: from the Python source of a closed program to HIR.

An abstract interpreter walks the body as Python would run it, and gives every expression a type and the
leaves of its value (`values`). What it learns about types is kept as facts that only grow (`facts`); the
program is lowered again until none does, and the HIR is that of the last walk. What it can't type raises
`NotClosed` with the line.

- `values`: values, facts, joins of types; `frame`: activations, branches, loops
- `statements`; `expressions`: names, attributes, operators; `comprehensions`; `narrowing`: what tests say
- `numbers`: arithmetic, comparisons, `math`; `containers`: lists, tuples, strings; `tables`: dicts; `sets`
- `arrays`, `array_places`, `array_calls`, `array_calls_more`: NumPy
- `library`, `library_more`: what of NumPy is written in Python
- `iteration`: what a loop goes over
- `calls`: functions, methods, classes
- `builtin_calls`, `iterator_calls`, `operator_calls`: Python's own functions
- `choices`: `~`, addresses; `scores`: log densities of choices; `families`: gendsl's distributions
- `traces`: traces that programs are given; `handles`: what transforms do with them
- `program`: a whole program
"""
