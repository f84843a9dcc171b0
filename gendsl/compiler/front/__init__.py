"""The front end: from the Python source of a closed program to HIR.

An abstract interpreter walks the body as Python would run it, and gives every expression a type and the
leaves of its value (`gendsl.compiler.hir.values`). What it learns about types is kept as facts that only grow
(`hir.facts`); the program is lowered again until none does, and the HIR is that of the last walk. What it
can't type raises `NotClosed` with the line.

- a whole program: `program`, and the tables of its `walk`; its `functions` of the text; its variables in one
  call, and how branches and loops bring them together: `frame`, which is an `emitter` of statements; the
  `names` of a text, and the `scopes` of names in Python; what it is given, and finds `outside` of itself:
  `argument_types`, `known_parameters`
- statements: `statements`, `unpacking`, `matching`, `loops` over what `iteration` says, and their
  `loop_variables`; what tests tell of types: `narrowing`
- expressions: `expressions`, `comprehensions`, `operators` on values of any types, `numbers`
- calls: `calls`, `function_calls`, `generator_functions`, `constructors`, `sources`, `binding` of arguments,
  lists that are made `ahead` of the loops that go through them,
  `captures` and `cells` of nested functions; attributes of `objects`, special methods of `instances`;
  Python's own functions: `builtin_calls`, with tables of `number_calls`, `scalar_calls`, `reduction_calls`,
  `container_calls`, `object_calls`, `operator_calls`, `iterator_calls`
- containers: `lists`, `tables` (dicts) and `table_functions`, `counters`, `sets`; what all `containers` have
  in common, `subscripts`, `container_operators`, `list_methods`; strings: `texts`, `text_columns`
- NumPy's arrays: `arrays`, `array_places` (subscripts), `array_axes`; a call of one of its functions:
  `array_calls`, `array_arguments`; what the functions do: `array_elementwise`, `array_making`,
  `array_shapes`, `array_joins`, `array_sums`, `array_searches`, `array_products`; those that are plain
  Python: `array_texts`; where BLAS and LAPACK are faster: `linear`
- functions that are plain Python, which is lowered as a user's; of these, arguments are arrays, and numbers
  where a name says so, and a wrong shape fails, so that the reference interpreter raises what NumPy raises:
  `library_numbers`, `library_making`, `library_shapes`, `library_joins`, `library_sums`,
  `library_searches`, `library_products`, `library_linear`, `library_stats`, `library_deque`,
  `library_itertools`, `library_counters`, `library_heaps`, `library_slopes`; with NumPy's bits:
  `library_exact`, `exact`
- choices: `choices`, tuples in addresses: `paths`; distributions: `families`, `stats`, `scores`, `draws`,
  `charts`, `coordinates` and `kept_densities`
- traces that programs are given: `traces`, calls in these: `subtrees`, what their programs have there:
  `trace_programs`; what transforms do with them: `handles`
- what kernels ask of traces, as they are written: `lines`, `blocks`, `ellipses`, `components`, `warming`

Its modules import one way, also for types; what one needs of those behind it, as the walk comes round, is
declared in `language`, and put together in `whole_language`.
"""
