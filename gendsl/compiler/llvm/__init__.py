"""Machine code: LLVM IR of HIR, and how it becomes code that is called.

`print_llvm` puts the parts together: expressions, lists, lanes, and `native_` for what chains need of the
state that lies in memory (`native_layout`). `native` compiles IR by llvmlite, `native_cache` keeps it,
`native_draws` and `native_linear` find the samplers of NumPy, BLAS and LAPACK. `shared` reads `slopes.ll`,
which `run.write_slopes` has made.
"""
