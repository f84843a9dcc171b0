"""Python text: what `source_of` shows, what a debugger steps through, and what runs where there is no LLVM.

`print_python` prints HIR; `numpy_loops` prints the loops whose iterations NumPy makes all at once. `state` is
what the text of a move works on, and `state_` has parts of it.
"""
