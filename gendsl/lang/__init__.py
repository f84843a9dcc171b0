"""The language: a user's source, what is refused in it, and its rewriting into calls of a runtime.

`source` finds the syntax tree of a function, `fence` refuses what a body can't mean, `sites` are its `~`,
`rewrite` makes calls of them and `lift` of its other calls, and `definition` compiles what came out where
the user wrote it.
"""
