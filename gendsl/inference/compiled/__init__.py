"""Kernels that run as machine code, or as Python text: in chains (`machine`), and called by hand (`by_hand`).

`policy` decides which way a chain runs, and has the reasons.
"""
