"""What a processor does several at once, and what is a call: what passes must know of machine code."""

from __future__ import annotations

from gendsl.compiler.hir.operations import LOOPS

LANES = 16
"""How many iterations run at once: what is done once for all of them costs little then."""
_LIBM = frozenset([
    "exp", "log", "sqrt", "sin", "cos", "tan", "atan", "asin", "acos", "sinh", "cosh", "tanh",
    "log1p", "expm1", "log2", "log10", "lgamma", "tgamma", "erf", "erfc", "asinh", "acosh", "atanh",
    "cbrt", "exp2", "atan2", "hypot", "fmod", "pow",
])  # fmt: skip
_SYMBOLS = {"gamma": "tgamma", "power": "pow"}
_SPECIAL = frozenset([
    "gammaln", "expit", "logit", "ndtr", "log_ndtr", "ndtri", "psi", "i0e", "i1e", "gamma", "xlogy",
    "xlog1py", "betaln", "erfcx", "gammainc", "gammaincc", "gammaincinv", "gammainccinv", "betainc",
    "betaincinv", "erfinv", "erfcinv", "beta", "i0", "i1", "entr", "rel_entr", "poch",
])  # fmt: skip
"""Functions that come from scipy.special by pointer; see `gendsl.compiler.llvm.native`."""
LOOP = "gendsl_loop_"
"""What the names of functions begin with that call the loop of one of NumPy's or SciPy's."""


def math_symbol(name: str) -> str | None:
    """The function of numbers that an operation calls, if it calls one."""
    plain = name.removeprefix("np_")
    if plain in _SPECIAL and plain != name:
        return f"gendsl_special_{plain}"
    if plain in LOOPS and plain != name:
        return f"{LOOP}{plain}"
    if plain == "logaddexp":
        return "gendsl_logaddexp"
    symbol = _SYMBOLS.get(plain, plain)
    return symbol if symbol in _LIBM else None
