"""Chains: what `sample` and `resume` do, from the first step to the last draw.

`chain` runs one, and `chains` those of a run, in this process or by an executor in others (`parallel`);
`recording` says what is kept of a draw, and `checkpoint` keeps it where a run has a folder.
"""
