"""The forms that the text of a chain's kernels has, by the runtimes on which chains run so."""

FORMS = {"native": "machine code", "python": "Python text"}
AS = {"native": "as machine code", "python": "as Python text (no machine code: GENDSL_RUNTIME says so)"}
"""What a run says of each."""
