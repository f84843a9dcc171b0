"""Kernels that run as machine code, or as Python text: in chains (`machine`), and called by hand (`by_hand`);
and operations on programs that are called by hand (`operations`).

`policy` decides which way a chain runs, and has the reasons.
"""
