"""The compiler: from closed programs, and kernels on them, to one text, as machine code or Python.

Each package imports only those above it:

- `hir`: the typed text, the types of its values, addresses and templates, and questions about texts
- `front`: from the Python source of programs to HIR
- `passes`: from HIR to HIR that says the same, and is quicker; which loops run several iterations at once
- `python`: from HIR to Python text, and the state that it works on
- `programs`: from a program to its log density, to its sampler, to what it returns
- `steps`: from programs to a step of a kernel
- `llvm`: from HIR to LLVM IR, and to machine code
- `run`: what chains, and operations by hand, call; `closed` and `closed_move` make texts, the others run them

`moves` is what the compiler is given to make steps of.
"""
