"""Steps of kernels: functions of a text, made of those of a model, of auxiliary programs and of maps.

`move` makes that of an involutive move, with its map's derivatives (`tangents`, `pivots`); `walk`,
`warming`, `updates`, `block_runs`, `ellipse_runs` and `transitions` make those of other kernels;
`changes` lets steps that change one choice score what has to do with it alone;
`kernel_entries` says which programs and functions a kernel needs besides the model.
"""
