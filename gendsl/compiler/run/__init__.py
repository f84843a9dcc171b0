"""Texts that run: log densities, samplers, chains of kernels, recorded functions.

`closed`, `closed_sampler`, `closed_move` and `closed_functions` make texts; `compiled`, `chain_kernel`,
the states of chains and what reads them are all that a process needs that finds them kept.
"""
