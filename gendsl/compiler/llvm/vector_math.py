"""Functions of numbers on several lanes at once, as LLVM IR: exp, log, lgamma, sin, and any other.

Those are the algorithms of FreeBSD's msun (after Sun's fdlibm), without branches: reductions of the argument
in two or three parts, and the same polynomials. Their error is below one unit in the last place, as that of
the C library is; that of lgamma is about two of those of the larger of its value and 1. Lanes whose argument
is not in the range for which this holds (subnormal, infinite or NaN numbers, results that are subnormal,
angles above 10^5) are given to the C library one by one, and so is every lane of any other function. Lanes
that are not active are not looked at, and what they get is of no concern.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

from gendsl.compiler.hir.machine import LANES

FLOATS, INTEGERS, BITS = f"<{LANES} x double>", f"<{LANES} x i64>", f"<{LANES} x i1>"
POINTERS = f"<{LANES} x ptr>"
GATHERED = {"f": "f64", "i": "i64", "r": "p0"}
"""What LLVM calls a number in the names of what loads one for each lane."""
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_EXP = (
    0.5, 0.1666666666666667, 0.041666666666666685, 0.008333333333326134, 0.0013888888888874402,
    0.0001984126987482212, 2.4801587347331787e-05, 2.755725539843058e-06, 2.7557252919226927e-07,
    2.510521769047762e-08, 2.0921587169906628e-09,
)  # fmt: skip
"""Of (exp(r) - 1 - r) / r^2 where |r| is at most log(2) / 2: least in its largest error, which is 2^-62."""
_LOG = (
    6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01, 2.222219843214978396e-01,
    1.818357216161805012e-01, 1.531383769920937332e-01, 1.479819860511658591e-01,
)  # fmt: skip
_SIN = (
    -1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04,
    2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10,
)  # fmt: skip
_COS = (
    4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05,
    -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11,
)  # fmt: skip
_LGAMMA_TOP = (
    -7.72156649015328655494e-02, 2.14982415960608852501e-01, 3.25778796408930981787e-01,
    1.46350472652464452805e-01, 2.66422703033638609560e-02, 1.84028451407337715652e-03,
    3.19475326584100867617e-05,
)  # fmt: skip
_LGAMMA_BOTTOM = (
    1.0, 1.39200533467621045958e00, 7.21935547567138069525e-01, 1.71933865632803078993e-01,
    1.86459191715652901344e-02, 7.77942496381893596434e-04, 7.32668430744625636189e-06,
)  # fmt: skip
_LGAMMA_LARGE = (
    8.33333333333329678849e-02, -2.77777777728775536470e-03, 7.93650558643019558500e-04,
    -5.95187557450339963135e-04, 8.36339918996282139126e-04, -1.63092934096575273989e-03,
)  # fmt: skip
_NOTHING = -746.0
"""The exponential of this, and of anything below, is 0."""
_HALF_PI = (
    1.57079632673412561417e00, 6.07710050630396597660e-11, 2.02226624879595063154e-21
)  # fmt: skip
"""Two parts of 33 bits, and the rest."""
_ROUND = 1.5 * 2.0**52
"""A number of this size has no fraction, and its last bits are those of the integer."""


def splat(value: str, type_: str = "double") -> str:
    """The same number in all lanes."""
    return f"<{', '.join([f'{type_} {value}'] * LANES)}>"


def number(value: float) -> str:
    """A float in all lanes."""
    return splat(f"0x{struct.unpack('>Q', struct.pack('>d', value))[0]:016X}")


class _Lanes:
    """Writes one function."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def let(self, text: str) -> str:
        name = f"%v{len(self.lines)}"
        self.lines.append(f"  {name} = {text}")
        return name

    def _binary(self, op: str, x: str, y: str | float) -> str:
        return self.let(f"{op} {FLOATS} {x}, {number(y) if isinstance(y, float) else y}")

    def add(self, x: str, y: str | float) -> str:
        return self._binary("fadd", x, y)

    def sub(self, x: str, y: str | float) -> str:
        return self._binary("fsub", x, y)

    def mul(self, x: str, y: str | float) -> str:
        return self._binary("fmul", x, y)

    def div(self, x: str, y: str | float) -> str:
        return self._binary("fdiv", x, y)

    def below(self, y: float, x: str) -> str:
        """A number minus a lane."""
        return self.let(f"fsub {FLOATS} {number(y)}, {x}")

    def multiply_add(self, x: str, y: str, z: str) -> str:
        """x y + z, rounded once where the processor does that."""
        return self.let(
            f"call {FLOATS} @llvm.fmuladd.v{LANES}f64({FLOATS} {x}, {FLOATS} {y}, {FLOATS} {z})"
        )

    def minus(self, x: str) -> str:
        return self.let(f"fneg {FLOATS} {x}")

    def polynomial(self, x: str, coefficients: tuple[float, ...]) -> str:
        """The sum of c_i x^i."""
        found = number(coefficients[-1])
        for one in coefficients[-2::-1]:
            found = self.multiply_add(found, x, number(one))
        return found

    def two_polynomials(self, x: str, square: str, coefficients: tuple[float, ...]) -> str:
        """The sum of c_i x^i as two sums that don't wait for each other."""
        even, odd = (self.polynomial(square, coefficients[i::2]) for i in (0, 1))
        return self.multiply_add(x, odd, even)

    def integer(self, op: str, x: str, y: int) -> str:
        return self.let(f"{op} {INTEGERS} {x}, {splat(str(y), 'i64')}")

    def bits(self, x: str) -> str:
        return self.let(f"bitcast {FLOATS} {x} to {INTEGERS}")

    def float_of(self, x: str) -> str:
        return self.let(f"bitcast {INTEGERS} {x} to {FLOATS}")

    def choose(self, test: str, x: str, y: str) -> str:
        return self.let(f"select {BITS} {test}, {FLOATS} {x}, {FLOATS} {y}")

    def size(self, x: str) -> str:
        return self.let(f"call {FLOATS} @llvm.fabs.v{LANES}f64({FLOATS} {x})")


def _exp(w: _Lanes, x: str) -> str:
    """2^n exp(r), with x = n log(2) + r."""
    shifted = w.multiply_add(x, number(1.44269504088896338700), number(_ROUND))
    n = w.minus(w.sub(shifted, _ROUND))
    r = w.multiply_add(n, number(_LN2_LOW), w.multiply_add(n, number(_LN2_HIGH), x))
    square = w.mul(r, r)
    rest = w.multiply_add(square, w.two_polynomials(r, square, _EXP), r)
    power = w.integer("shl", w.bits(shifted), 52)
    found = w.float_of(w.let(f"add {INTEGERS} {w.bits(w.add(rest, 1.0))}, {power}"))
    return w.choose(w.let(f"fcmp olt {FLOATS} {x}, {number(_NOTHING)}"), number(0.0), found)


def _has_exp(w: _Lanes, x: str) -> str:
    """Where no result is a subnormal number or overflows: what is far below has the result 0."""
    is_zero = w.let(f"fcmp olt {FLOATS} {x}, {number(_NOTHING)}")
    return w.let(f"or {BITS} {is_zero}, {_between(-708.0, 708.0)(w, x)}")


def _exponent(w: _Lanes, x: str) -> tuple[str, str, str]:
    """k, m and 2^k, with x = 2^k m; m is from the square root of 1/2 to that of 2. Of 2^k the bits less those
    of 1.
    """
    bits = w.bits(x)
    moved = w.integer("add", bits, 0x3FF0000000000000 - 0x3FE6A09E00000000)
    exponent = w.integer("lshr", moved, 52)
    k = w.sub(w.float_of(w.integer("or", exponent, 0x4330000000000000)), 2.0**52 + 1023)
    power = w.integer("shl", w.integer("sub", exponent, 1023), 52)
    return k, w.float_of(w.let(f"sub {INTEGERS} {bits}, {power}")), power


def _log_of(w: _Lanes, k: str, f: str) -> str:
    """k log(2) + log(1 + f) with log(1 + f) = f - s (f - R), where s = f / (2 + f) and R is even in s."""
    s = w.div(f, w.add(f, 2.0))
    square = w.mul(s, s)
    even = w.two_polynomials(square, w.mul(square, square), _LOG)
    rest = w.sub(f, w.mul(square, even))
    inner = w.multiply_add(s, rest, w.mul(k, -_LN2_LOW))
    return w.multiply_add(k, number(_LN2_HIGH), w.sub(f, inner))


def _log(w: _Lanes, x: str) -> str:
    k, m, _ = _exponent(w, x)
    return _log_of(w, k, w.sub(m, 1.0))


def _log1p(w: _Lanes, x: str) -> str:
    """The logarithm of u + c, where u is 1 + x as a float, and c what that has lost."""
    u = w.add(x, 1.0)
    of_x = w.sub(u, 1.0)
    lost = w.add(w.below(1.0, w.sub(u, of_x)), w.sub(x, of_x))
    k, m, power = _exponent(w, u)
    inverse = w.float_of(w.let(f"sub {INTEGERS} {splat(str(0x3FF0000000000000), 'i64')}, {power}"))
    return _log_of(w, k, w.multiply_add(lost, inverse, w.sub(m, 1.0)))


def _circular(turns: int) -> Callable[[_Lanes, str], str]:
    """The sine of the angle and so many quarter turns."""

    def write(w: _Lanes, x: str) -> str:
        shifted = w.add(w.mul(x, 6.36619772367581382433e-01), _ROUND)
        n = w.sub(shifted, _ROUND)
        first = w.sub(x, w.mul(n, _HALF_PI[0]))
        step = w.mul(n, _HALF_PI[1])
        second = w.sub(first, step)
        rest = w.sub(w.mul(n, _HALF_PI[2]), w.sub(w.sub(first, second), step))
        y = w.sub(second, rest)
        tail = w.sub(w.sub(second, y), rest)
        z = w.mul(y, y)
        cube = w.mul(z, y)
        sine = w.polynomial(z, _SIN[1:])
        inner = w.sub(w.mul(z, w.sub(w.mul(tail, 0.5), w.mul(cube, sine))), tail)
        sine = w.sub(y, w.sub(inner, w.mul(cube, _SIN[0])))
        cosine = w.mul(z, w.polynomial(z, _COS))
        half = w.mul(z, 0.5)
        near = w.below(1.0, half)
        lost = w.sub(w.below(1.0, near), half)
        cosine = w.add(near, w.add(lost, w.sub(w.mul(z, cosine), w.mul(y, tail))))
        quarter = w.integer("add", w.bits(shifted), turns) if turns else w.bits(shifted)
        odd = w.let(f"icmp ne {INTEGERS} {w.integer('and', quarter, 1)}, zeroinitializer")
        sign = w.integer("shl", w.integer("and", quarter, 2), 62)
        found = w.bits(w.choose(odd, cosine, sine))
        return w.float_of(w.let(f"xor {INTEGERS} {found}, {sign}"))

    return write


def _lgamma(w: _Lanes, x: str) -> str:
    """From 8 on Stirling's series; below, of x or x + 2 in [2, 8), by the values between 2 and 3."""
    is_large = w.let(f"fcmp oge {FLOATS} {x}, {number(8.0)}")
    is_low = w.let(f"fcmp olt {FLOATS} {x}, {number(2.0)}")
    shifted = w.choose(is_low, w.add(x, 2.0), w.choose(is_large, number(2.0), x))
    whole = w.let(f"call {FLOATS} @llvm.floor.v{LANES}f64({FLOATS} {shifted})")
    y = w.sub(shifted, whole)
    product = number(1.0)
    for m in range(2, 7):
        above = w.let(f"fcmp ogt {FLOATS} {whole}, {number(float(m))}")
        product = w.mul(product, w.choose(above, w.add(y, float(m)), number(1.0)))
    below = w.div(product, w.choose(is_low, w.mul(x, w.add(x, 1.0)), number(1.0)))
    log = _log(w, w.choose(is_large, x, below))
    ratio = w.div(w.polynomial(y, _LGAMMA_TOP), w.polynomial(y, _LGAMMA_BOTTOM))
    small = w.add(log, w.add(w.mul(y, 0.5), w.mul(y, ratio)))
    inverse = w.let(f"fdiv {FLOATS} {number(1.0)}, {x}")
    rest = w.mul(inverse, w.polynomial(w.mul(inverse, inverse), _LGAMMA_LARGE))
    large = w.mul(w.sub(x, 0.5), w.sub(log, 1.0))
    return w.choose(is_large, w.add(large, w.add(rest, 4.18938533204672725052e-01)), small)


def _expit(w: _Lanes, x: str) -> str:
    power = _exp(w, w.let(f"fneg {FLOATS} {x}"))
    return w.let(f"fdiv {FLOATS} {number(1.0)}, {w.add(power, 1.0)}")


def _between(low: float, high: float) -> Callable[[_Lanes, str], str]:
    def write(w: _Lanes, x: str) -> str:
        above = w.let(f"fcmp oge {FLOATS} {x}, {number(low)}")
        below = w.let(f"fcmp ole {FLOATS} {x}, {number(high)}")
        return w.let(f"and {BITS} {above}, {below}")

    return write


_LARGEST, _LEAST = 1.7976931348623157e308, 2.2250738585072014e-308
_VECTORS: dict[str, tuple[Callable[[_Lanes, str], str], Callable[[_Lanes, str], str]]] = {
    "exp": (_exp, _has_exp),
    "log": (_log, _between(_LEAST, _LARGEST)),
    "log1p": (_log1p, _between(-0.9999999999999998, 1e300)),
    "sin": (_circular(0), _between(-1e5, 1e5)),
    "cos": (_circular(1), _between(-1e5, 1e5)),
    "lgamma": (_lgamma, _between(1e-290, 1e15)),
    "gendsl_special_gammaln": (_lgamma, _between(1e-290, 1e15)),
    "gendsl_special_expit": (_expit, _between(-708.0, 708.0)),
}
"""What computes a function on lanes, and where that is as exact as the C library."""


def name_of(symbol: str) -> str:
    """The name of a function of lanes."""
    return f"gendsl_lanes_{symbol}"


def is_vector(symbol: str) -> bool:
    """Whether there is vector code for a function."""
    return symbol in _VECTORS


def function(symbol: str, count: int, extra: str = "") -> str:
    """The functions of lanes for one of numbers.

    Where there is vector code, one that is inlined returns its values and the mask of the lanes left.
    The other one, which is not, takes what there is, and gives the lanes of a mask their values.

    Args:
        symbol: its name.
        count: how many numbers it takes.
        extra: what else it is called with.
    """
    given = [f"%x{i}" for i in range(count)]
    parameters = ", ".join(f"{FLOATS} {one}" for one in given)
    lines: list[str] = []
    if symbol in _VECTORS:
        w = _Lanes()
        compute, is_in_range = _VECTORS[symbol]
        found = compute(w, "%x0")
        good = is_in_range(w, "%x0")
        result = f"{{{FLOATS}, {INTEGERS}}}"
        lines += [
            f"define internal {result} @{name_of(symbol)}({parameters}, {INTEGERS} %mask) alwaysinline {{",
            *w.lines,
            f"  %outside = select {BITS} {good}, {INTEGERS} zeroinitializer, {INTEGERS} %mask",
            f"  %first = insertvalue {result} poison, {FLOATS} {found}, 0",
            f"  %both = insertvalue {result} %first, {INTEGERS} %outside, 1",
            f"  ret {result} %both",
            "}",
            "",
        ]
    lines += [
        f"define internal {FLOATS} @{name_of(symbol)}_one_by_one({parameters}, {FLOATS} %y, {INTEGERS} %mask)"
        f" noinline nounwind {'cold ' if symbol in _VECTORS else ''}{{",
        "entry:",
        f"  %left = icmp slt {INTEGERS} %mask, zeroinitializer",
        f"  %first = bitcast {BITS} %left to i{LANES}",
        f"  %none = icmp eq i{LANES} %first, 0",
        "  br i1 %none, label %done, label %one",
        "one:",
        f"  %rest = phi i{LANES} [%first, %entry], [%later, %one]",
        f"  %so_far = phi {FLOATS} [%y, %entry], [%with, %one]",
        f"  %place = call i{LANES} @llvm.cttz.i{LANES}(i{LANES} %rest, i1 true)",
        f"  %lane = zext i{LANES} %place to i64",
        *(f"  %n{i} = extractelement {FLOATS} {one}, i64 %lane" for i, one in enumerate(given)),
        f"  %found = call double @{symbol}({', '.join(f'double %n{i}' for i in range(count))}{extra})",
        f"  %with = insertelement {FLOATS} %so_far, double %found, i64 %lane",
        f"  %less = sub i{LANES} %rest, 1",
        f"  %later = and i{LANES} %rest, %less",
        f"  %last = icmp eq i{LANES} %later, 0",
        "  br i1 %last, label %done, label %one",
        "done:",
        f"  %result = phi {FLOATS} [%y, %entry], [%with, %one]",
        f"  ret {FLOATS} %result",
        "}",
        "",
    ]  # fmt: skip
    return "\n".join(lines)


def odd(count: int) -> str:
    """The function that says whether Python's function raises for one of the lanes of a mask."""
    parameters = ", ".join(f"{FLOATS} %x{i}" for i in range(count + 1))
    ones = [f"  %n{i} = extractelement {FLOATS} %x{i}, i64 %lane" for i in range(count + 1)]
    return "\n".join([
        f"define internal i1 @gendsl_lanes_odd{count}({parameters}, {INTEGERS} %mask) noinline cold {{",
        "entry:",
        f"  %left = icmp slt {INTEGERS} %mask, zeroinitializer",
        f"  %first = bitcast {BITS} %left to i{LANES}",
        "  br label %head",
        "head:",
        f"  %rest = phi i{LANES} [%first, %entry], [%later, %one]",
        f"  %none = icmp eq i{LANES} %rest, 0",
        "  br i1 %none, label %good, label %one",
        "one:",
        f"  %place = call i{LANES} @llvm.cttz.i{LANES}(i{LANES} %rest, i1 true)",
        f"  %lane = zext i{LANES} %place to i64",
        *ones,
        "  %size = call double @llvm.fabs.f64(double %n0)",
        "  %wrong = fcmp ueq double %size, 0x7FF0000000000000",
        f"  %raises = call i1 @gendsl_odd{count}({', '.join(f'double %n{i}' for i in range(count + 1))})",
        "  %odd = and i1 %wrong, %raises",
        f"  %less = sub i{LANES} %rest, 1",
        f"  %later = and i{LANES} %rest, %less",
        "  br i1 %odd, label %bad, label %head",
        "good:",
        "  ret i1 false",
        "bad:",
        "  ret i1 true",
        "}",
        "",
    ])  # fmt: skip


DECLARATIONS = f"""
declare {FLOATS} @llvm.fmuladd.v{LANES}f64({FLOATS}, {FLOATS}, {FLOATS})
declare {FLOATS} @llvm.fabs.v{LANES}f64({FLOATS})
declare {FLOATS} @llvm.floor.v{LANES}f64({FLOATS})
declare {FLOATS} @llvm.sqrt.v{LANES}f64({FLOATS})
declare {{{INTEGERS}, {BITS}}} @llvm.sadd.with.overflow.v{LANES}i64({INTEGERS}, {INTEGERS})
declare {{{INTEGERS}, {BITS}}} @llvm.ssub.with.overflow.v{LANES}i64({INTEGERS}, {INTEGERS})
declare {{{INTEGERS}, {BITS}}} @llvm.smul.with.overflow.v{LANES}i64({INTEGERS}, {INTEGERS})
declare {FLOATS} @llvm.masked.gather.v{LANES}f64.v{LANES}p0({POINTERS}, i32, {BITS}, {FLOATS})
declare {INTEGERS} @llvm.masked.gather.v{LANES}i64.v{LANES}p0({POINTERS}, i32, {BITS}, {INTEGERS})
declare {POINTERS} @llvm.masked.gather.v{LANES}p0.v{LANES}p0({POINTERS}, i32, {BITS}, {POINTERS})
declare void @llvm.masked.store.v{LANES}f64.p0({FLOATS}, ptr, i32, {BITS})
declare void @llvm.masked.store.v{LANES}i64.p0({INTEGERS}, ptr, i32, {BITS})
declare void @llvm.masked.store.v{LANES}p0.p0({POINTERS}, ptr, i32, {BITS})
declare i{LANES} @llvm.cttz.i{LANES}(i{LANES}, i1)
declare i{LANES} @llvm.ctpop.i{LANES}(i{LANES})
declare i64 @llvm.cttz.i64(i64, i1)
"""
