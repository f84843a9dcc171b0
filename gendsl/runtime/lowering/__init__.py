"""From the body of a program to blocks that today's runtime executes and updates one by one.

`build` makes them: `lower` turns control flow into the blocks of `ir`, `effects` and its like say what
statements do to values that can change, `vectorise` and the `array_` modules say what loops over data are
as array code.
"""
