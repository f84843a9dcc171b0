"""Pictures of moves, traces and runs. They need matplotlib: pip install 'gendsl[plot]'.

Every function returns a matplotlib figure of its own, made without pyplot: nothing is shown, nothing global
is changed, and there is nothing to close. In a notebook the figure shows itself; elsewhere
`figure.savefig("move.svg")` or `"move.png"`.
"""

from gendsl.viz.posterior import plot_posterior_structure
from gendsl.viz.runs import plot_acceptance, plot_k_trace
from gendsl.viz.transform import plot_transform
from gendsl.viz.tree import plot_trace_tree

__all__ = [
    "plot_acceptance",
    "plot_k_trace",
    "plot_posterior_structure",
    "plot_trace_tree",
    "plot_transform",
]
