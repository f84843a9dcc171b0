"""HIR as LLVM IR.

Every function takes the *context*, a pointer to words of 64 bits (`native` says what lies where), and
returns a status and its results: 0, FAILED where the reference interpreter decides, or FULL where the arena
has to grow.

A list is a pointer to three words: its length, its capacity and a pointer to its numbers; an item of
several leaves takes as many words. Lists are made in an arena, which one pointer marks the end of. What a
loop's iteration or a function makes there is given back when it ends, unless something that lives longer
may refer to it.

It is one module, with a method for each statement and operation of HIR.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from gendsl.compiler import hir
from gendsl.compiler.front.coordinates import DISCRETE, NUMBER, UNKNOWN, WEIGHTS
from gendsl.compiler.hir import Body, Const, Expr, Function, Input, Kind, Op, Var
from gendsl.compiler.native_draws import DECLARATIONS, NATIVE
from gendsl.compiler.native_layout import (
    FAILED,
    FULL,
    READ_WORDS,
    WRITE_WORDS,
    Layout,
    TemplateWords,
    Word,
    is_auxiliary,
)
from gendsl.compiler.native_moves import LOG_TAG, NativeMoves
from gendsl.compiler.native_schedule import NativeSchedule
from gendsl.compiler.types import Array, leaves

_TYPES = {"f": "double", "i": "i64", "b": "i1", "r": "ptr"}
_COMPARE = {"lt": ("olt", "slt"), "le": ("ole", "sle"), "gt": ("ogt", "sgt"), "ge": ("oge", "sge"), "eq":
("oeq", "eq"),
            "ne": ("une", "ne")}  # fmt: skip
_FLOATS = {"add": "fadd", "sub": "fsub", "mul": "fmul", "truediv": "fdiv", "np_div": "fdiv"}
_CHECKED = {"add": "sadd", "sub": "ssub", "mul": "smul"}
_LIBM = frozenset(
    [
        "exp",
        "log",
        "sqrt",
        "sin",
        "cos",
        "tan",
        "atan",
        "asin",
        "acos",
        "sinh",
        "cosh",
        "tanh",
        "log1p",
        "expm1",
        "log2",
        "log10",
        "lgamma",
        "tgamma",
        "erf",
        "erfc",
        "asinh",
        "acosh",
        "atanh",
        "cbrt",
        "exp2",
        "atan2",
        "hypot",
        "fmod",
        "pow",
    ]
)
_SYMBOLS = {"gamma": "tgamma"}
_TWO = frozenset(
    ("atan2", "hypot", "fmod", "pow", "power", "logaddexp", "xlogy", "xlog1py", "betaln", "copysign")
)
_SPECIAL = frozenset(
    [
        "gammaln",
        "expit",
        "logit",
        "ndtr",
        "log_ndtr",
        "ndtri",
        "psi",
        "i0e",
        "i1e",
        "gamma",
        "xlogy",
        "xlog1py",
        "betaln",
        "erfcx",
    ]
)
"""Functions that come from scipy.special by pointer; see `native`."""

PRELUDE = """
declare double @llvm.fabs.f64(double)
declare double @llvm.floor.f64(double)
declare double @llvm.ceil.f64(double)
declare double @llvm.rint.f64(double)
declare double @llvm.copysign.f64(double, double)
declare {i64, i1} @llvm.sadd.with.overflow.i64(i64, i64)
declare {i64, i1} @llvm.ssub.with.overflow.i64(i64, i64)
declare {i64, i1} @llvm.smul.with.overflow.i64(i64, i64)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare i64 @llvm.readcyclecounter()

define internal ptr @gendsl_allocate(ptr %ctx, i64 %words) alwaysinline {
  %next = load i64, ptr %ctx, !tbaa !1
  %bytes = shl i64 %words, 3
  %new = add i64 %next, %bytes
  %endp = getelementptr i64, ptr %ctx, i64 1
  %end = load i64, ptr %endp, !tbaa !1
  %fits = icmp ule i64 %new, %end
  br i1 %fits, label %yes, label %no
yes:
  store i64 %new, ptr %ctx, !tbaa !1
  %p = inttoptr i64 %next to ptr
  ret ptr %p
no:
  ret ptr null
}

define internal i64 @gendsl_mix(i64 %h, i64 %x) alwaysinline {
  %a = xor i64 %h, %x
  %b = mul i64 %a, -7046029254386353131
  %c = lshr i64 %b, 29
  %d = xor i64 %b, %c
  ret i64 %d
}

define internal {i64, i1} @gendsl_ipow(i64 %x, i64 %n) {
entry:
  %negative = icmp slt i64 %n, 0
  br i1 %negative, label %bad, label %loop
loop:
  %i = phi i64 [0, %entry], [%i1, %body]
  %r = phi i64 [1, %entry], [%r1, %body]
  %more = icmp slt i64 %i, %n
  br i1 %more, label %body, label %done
body:
  %m = call {i64, i1} @llvm.smul.with.overflow.i64(i64 %r, i64 %x)
  %r1 = extractvalue {i64, i1} %m, 0
  %o = extractvalue {i64, i1} %m, 1
  %i1 = add i64 %i, 1
  br i1 %o, label %bad, label %loop
done:
  %ok = insertvalue {i64, i1} zeroinitializer, i64 %r, 0
  ret {i64, i1} %ok
bad:
  %no = insertvalue {i64, i1} zeroinitializer, i1 true, 1
  ret {i64, i1} %no
}

define internal double @gendsl_fmod(double %x, double %y) {
  %r = call double @fmod(double %x, double %y)
  %zero = fcmp oeq double %r, 0.0
  br i1 %zero, label %signed, label %other
signed:
  %s = call double @llvm.copysign.f64(double 0.0, double %y)
  ret double %s
other:
  %rn = fcmp olt double %r, 0.0
  %yn = fcmp olt double %y, 0.0
  %differ = xor i1 %rn, %yn
  %moved = fadd double %r, %y
  %result = select i1 %differ, double %moved, double %r
  ret double %result
}

define internal double @gendsl_ffloordiv(double %x, double %y) {
  %m = call double @gendsl_fmod(double %x, double %y)
  %d = fsub double %x, %m
  %q = fdiv double %d, %y
  %f = call double @llvm.floor.f64(double %q)
  %over = fsub double %q, %f
  %more = fcmp ogt double %over, 0.5
  %f1 = fadd double %f, 1.0
  %r = select i1 %more, double %f1, double %f
  ret double %r
}
"""
TBAA = """
!0 = !{!"gendsl"}
!10 = !{!"context", !0}
!11 = !{!"header", !0}
!12 = !{!"float", !0}
!13 = !{!"integer", !0}
!14 = !{!"reference", !0}
!15 = !{!"stamp", !0}
!16 = !{!"state", !0}
!17 = !{!"log", !0}
!18 = !{!"observed", !0}
!1 = !{!10, !10, i64 0}
!2 = !{!11, !11, i64 0}
!3 = !{!12, !12, i64 0}
!4 = !{!13, !13, i64 0}
!5 = !{!14, !14, i64 0}
!6 = !{!15, !15, i64 0}
!7 = !{!16, !16, i64 0}
!8 = !{!17, !17, i64 0}
!9 = !{!18, !18, i64 0}
"""
_TAG = {"f": "!3", "i": "!4", "b": "!4", "r": "!5"}


LONG = 100
"""How many instructions a function has that is not inlined: LLVM would work on them once for each caller."""


def literal(value: float | int | bool | None, kind: Kind) -> str:
    """A number as LLVM writes it."""
    if kind == "f":
        assert value is not None
        return f"0x{struct.unpack('>Q', struct.pack('>d', float(value)))[0]:016X}"
    if kind == "b":
        return "true" if value else "false"
    return "null" if kind == "r" else str(value)


def keeps_references(function: Function, known: dict[int, bool]) -> bool:
    """Whether a function may let what it is given refer to what it makes, or grow it."""
    if id(function) not in known:
        known[id(function)] = True  # of itself, if it is recursive
        known[id(function)] = _keeps(function.body, known)
    return known[id(function)]


def _keeps(body: Body, known: dict[int, bool]) -> bool:
    """Whether statements may let what lives longer than they do refer to what they make."""
    made: set[Var] = set()
    for statement in hir.walk(body):
        if isinstance(statement, (hir.New, hir.Fill)):
            made.add(statement.target)
    for statement in hir.walk(body):
        match statement:
            case hir.Append(list=ref) if ref not in made:
                return True
            case hir.Append(layout=layout) | hir.Store(layout=layout) if "r" in layout:
                return True
            case hir.Keep(values=values) | hir.Redraw(values=values) | hir.Write(values=values) if any(
                v.kind == "r" for v in values
            ):
                return True
            case hir.Copy(template=template) if "r" in leaves(template.type):
                return True
            case hir.Call(function=function) if keeps_references(function, known):
                return True
    return False


class LLVMPrinter:
    """Prints functions as LLVM IR."""

    def __init__(self, layout: Layout, prefix: str = "gendsl_text_") -> None:
        self.layout = layout
        self.templates = layout.program_templates
        self.moves = NativeMoves(self)
        self.primitives: set[str] = set()
        self.prefix = prefix
        self.out: list[str] = []
        self.count = 0
        self.function_: Function | None = None
        self.allocas: dict[Var, str] = {}
        self.loops: dict[int, tuple[str, str]] = {}
        self.sites: list[tuple[int, str]] = []
        self.declared: dict[str, int] = {}
        self.drawn: set[str] = set()
        self.keeping: dict[int, bool] = {}
        self.result_type = ""
        self.block = ""
        self.failing: list[tuple[str, int]] = []
        self.leaving: list[tuple[str, str]] = []

    # --- pieces -----------------------------------------------------------------------------------

    def add(self, text: str) -> None:
        """Add an instruction."""
        self.out.append(f"  {text}")

    def new(self) -> str:
        """A new name of a value."""
        self.count += 1
        return f"%v{self.count}"

    def label(self, hint: str = "b") -> str:
        """A new name of a block."""
        self.count += 1
        return f"{hint}{self.count}"

    def let(self, text: str) -> str:
        """A new value."""
        name = self.new()
        self.add(f"{name} = {text}")
        return name

    def start(self, label: str) -> None:
        """Start a block."""
        self.out.append(f"{label}:")
        self.block = label

    def fail_if(self, test: str, reason: str = "", line: int = 0, status: int = FAILED) -> None:
        """Return a status where a test holds."""
        good = self.label("ok")
        self.add(f"br i1 {test}, label %{self._end_of(reason, line, status)}, label %{good}, !prof !20")
        self.start(good)

    def fail(self, reason: str, line: int, status: int = FAILED) -> None:
        """Return a status."""
        self.add(f"br label %{self._end_of(reason, line, status)}")

    def _end_of(self, reason: str, line: int, status: int) -> str:
        """The block, one for each function, that is gone to where it returns a status."""
        if status != FAILED:
            self.leaving.append((self.block, str(status)))
            return "leave"
        self.failing.append((self.block, len(self.sites)))
        self.sites.append((line, reason))
        return "failed"

    def _ends(self) -> None:
        """The blocks that a function ends with where it returns a status other than 0."""
        if self.failing:
            incoming = ", ".join(f"[{site}, %{block}]" for block, site in self.failing)
            self.start("failed")
            site = self.let(f"phi i64 {incoming}")
            where = self.let(f"getelementptr i64, ptr %ctx, i64 {Word.SITE:d}")
            self.add(f"store i64 {site}, ptr {where}, !tbaa !1")
            self.leaving.append(("failed", str(FAILED)))
            self.add("br label %leave")
        if self.leaving:
            incoming = ", ".join(f"[{status}, %{block}]" for block, status in self.leaving)
            self.start("leave")
            status = self.let(f"phi i32 {incoming}")
            found = self.let(f"insertvalue {self.result_type} zeroinitializer, i32 {status}, 0")
            self.add(f"ret {self.result_type} {found}")

    def word(self, index: int, kind: Kind = "i") -> str:
        """A word of the context."""
        where = self.let(f"getelementptr i64, ptr %ctx, i64 {int(index)}")
        if kind == "b":
            return self.let(f"trunc i64 {self.let(f'load i64, ptr {where}, !tbaa !1')} to i1")
        return self.let(f"load {_TYPES[kind]}, ptr {where}, !tbaa !1")

    # --- expressions ------------------------------------------------------------------------------

    def expr(self, expr: Expr, line: int = 0) -> str:
        """The value of an expression."""
        match expr:
            case Const(value=value, kind=kind):
                return literal(value, kind)
            case Var(kind=kind):
                return self.let(f"load {_TYPES[kind]}, ptr {self.alloca(expr)}")
            case Input(kind=kind):
                return self.word(self.layout.input_word(expr), kind)
        args = [self.expr(arg, line) for arg in expr.args]
        return self.op(expr, args, line)

    def alloca(self, var: Var) -> str:
        """Where a variable lies."""
        if var not in self.allocas:
            self.allocas[var] = f"%x{len(self.allocas)}"
        return self.allocas[var]

    def op(self, expr: Op, args: list[str], line: int) -> str:
        """An operation."""
        name, kind = expr.name, expr.kind
        inner = expr.args[0].kind
        if name in _COMPARE:
            if inner == "f":
                return self.let(f"fcmp {_COMPARE[name][0]} double {args[0]}, {args[1]}")
            return self.let(f"icmp {_COMPARE[name][1]} {_TYPES[inner]} {args[0]}, {args[1]}")
        if kind == "f" and name in _FLOATS:
            if name == "truediv":
                self.fail_if(self.let(f"fcmp oeq double {args[1]}, 0.0"), "a division by zero", line)
            return self.let(f"{_FLOATS[name]} double {args[0]}, {args[1]}")
        if kind == "i" and name in _CHECKED:
            return self._checked(
                f"call {{i64, i1}} @llvm.{_CHECKED[name]}.with.overflow.i64(i64 {args[0]}, i64 {args[1]})",
                line,
            )
        match name:
            case "and":
                return self.let(f"and i1 {args[0]}, {args[1]}")
            case "or":
                return self.let(f"or i1 {args[0]}, {args[1]}")
            case "not":
                return self.let(f"xor i1 {args[0]}, true")
            case "select":
                type_ = _TYPES[kind]
                return self.let(f"select i1 {args[0]}, {type_} {args[1]}, {type_} {args[2]}")
            case "same":
                return self.let(f"icmp eq ptr {args[0]}, {args[1]}")
            case "neg" if kind == "f":
                return self.let(f"fneg double {args[0]}")
            case "neg":
                return self._checked(
                    f"call {{i64, i1}} @llvm.ssub.with.overflow.i64(i64 0, i64 {args[0]})", line
                )
            case "abs" if kind == "f":
                return self.let(f"call double @llvm.fabs.f64(double {args[0]})")
            case "abs":
                negative = self.let(f"icmp slt i64 {args[0]}, 0")
                other = self._checked(
                    f"call {{i64, i1}} @llvm.ssub.with.overflow.i64(i64 0, i64 {args[0]})", line
                )
                return self.let(f"select i1 {negative}, i64 {other}, i64 {args[0]}")
            case "detached":
                return args[0]
            case "float":
                return self.let(f"{'uitofp i1' if inner == 'b' else 'sitofp i64'} {args[0]} to double")
            case "int":
                if inner == "b":
                    return self.let(f"zext i1 {args[0]} to i64")
                return self._to_integer(args[0], line)
            case "bool":
                if inner == "f":
                    return self.let(f"fcmp une double {args[0]}, 0.0")
                return self.let(f"icmp ne i64 {args[0]}, 0")
            case "int_trunc" | "int_floor" | "int_ceil" | "int_round":
                function = {"int_floor": "floor", "int_ceil": "ceil", "int_round": "rint"}.get(name)
                if function is not None:
                    args = [self.let(f"call double @llvm.{function}.f64(double {args[0]})")]
                return self._to_integer(args[0], line)
            case "imin" | "imax":
                test = self.let(f"icmp {'slt' if name == 'imin' else 'sgt'} i64 {args[0]}, {args[1]}")
                return self.let(f"select i1 {test}, i64 {args[0]}, i64 {args[1]}")
            case "floordiv" | "mod" if kind == "i":
                return self._integer_division(name, args, line)
            case "floordiv" | "mod":
                self.fail_if(self.let(f"fcmp oeq double {args[1]}, 0.0"), "a division by zero", line)
                self.declared["fmod"] = 2
                function = "gendsl_ffloordiv" if name == "floordiv" else "gendsl_fmod"
                return self.let(f"call double @{function}(double {args[0]}, double {args[1]})")
            case "ipow":
                return self._checked(f"call {{i64, i1}} @gendsl_ipow(i64 {args[0]}, i64 {args[1]})", line)
            case "bitand" | "bitor" | "bitxor":
                return self.let(f"{name[3:]} i64 {args[0]}, {args[1]}")
            case "lshift" | "rshift":
                self.fail_if(self.let(f"icmp ugt i64 {args[1]}, 62"), "a shift", line)
                if name == "rshift":
                    return self.let(f"ashr i64 {args[0]}, {args[1]}")
                shifted = self.let(f"shl i64 {args[0]}, {args[1]}")
                back = self.let(f"ashr i64 {shifted}, {args[1]}")
                self.fail_if(
                    self.let(f"icmp ne i64 {back}, {args[0]}"), "an integer of more than 64 bits", line
                )
                return shifted
            case "bits":
                positive = self.let(f"fadd double {args[0]}, 0.0")
                return self.let(f"bitcast double {positive} to i64")
            case "mix":
                return self.let(f"call i64 @gendsl_mix(i64 {args[0]}, i64 {args[1]})")
            case "range_length":
                return self._range_length(args)
            case "isnan":
                return self.let(f"fcmp uno double {args[0]}, 0.0")
            case "isinf" | "isfinite":
                size = self.let(f"call double @llvm.fabs.f64(double {args[0]})")
                return self.let(
                    f"fcmp {'oeq' if name == 'isinf' else 'one'} double {size}, 0x7FF0000000000000"
                )
            case "copysign" | "np_copysign":
                return self.let(f"call double @llvm.copysign.f64(double {args[0]}, double {args[1]})")
            case "np_floor" | "np_ceil":
                return self.let(f"call double @llvm.{name[3:]}.f64(double {args[0]})")
            case "np_maximum" | "np_minimum":
                test = self.let(
                    f"fcmp {'ogt' if name == 'np_maximum' else 'olt'} double {args[0]}, {args[1]}"
                )
                nan = self.let(f"fcmp uno double {args[0]}, 0.0")
                either = self.let(f"or i1 {test}, {nan}")
                return self.let(f"select i1 {either}, double {args[0]}, double {args[1]}")
            case "np_mod" | "np_floordiv":
                self.declared["fmod"] = 2
                function = "gendsl_ffloordiv" if name == "np_floordiv" else "gendsl_fmod"
                return self.let(f"call double @{function}(double {args[0]}, double {args[1]})")
        return self._function(name, args, line)

    def _function(self, name: str, args: list[str], line: int) -> str:
        quiet = name.startswith("np_")
        plain = name.removeprefix("np_")
        plain = {"power": "pow"}.get(plain, plain)
        if plain in _SPECIAL and quiet:
            symbol = f"gendsl_special_{plain}"
        elif plain == "logaddexp":
            symbol = "gendsl_logaddexp"
        else:
            symbol = _SYMBOLS.get(plain, plain)
            assert symbol in _LIBM, name
        self.declared[symbol] = len(args)
        extra = ["i32 0"] if symbol.startswith("gendsl_special_") else []  # Cython's own last argument
        found = self.let(f"call double @{symbol}({', '.join([*(f'double {arg}' for arg in args), *extra])})")
        if quiet:
            return found
        # Python's functions raise where a finite number gives none, or a number gives a NaN
        size = self.let(f"call double @llvm.fabs.f64(double {found})")
        wrong = self.let(f"fcmp ueq double {size}, 0x7FF0000000000000")
        check, good = self.label("check"), self.label("ok")
        self.add(f"br i1 {wrong}, label %{check}, label %{good}, !prof !20")
        self.start(check)
        odd = "false"
        nan = self.let(f"fcmp uno double {found}, 0.0")
        for arg in args:
            size = self.let(f"call double @llvm.fabs.f64(double {arg})")
            infinite = self.let(f"fcmp oeq double {size}, 0x7FF0000000000000")
            missing = self.let(f"fcmp uno double {arg}, 0.0")
            passed = self.let(f"select i1 {nan}, i1 {missing}, i1 {self.let(f'or i1 {infinite}, {missing}')}")
            odd = self.let(f"or i1 {odd}, {passed}")
        self.add(
            f"br i1 {odd}, label %{good}, label %{self._end_of(f'{name} out of its domain', line, FAILED)}"
        )
        self.start(good)
        return found

    def _checked(self, call: str, line: int) -> str:
        both = self.let(call)
        overflow = self.let(f"extractvalue {{i64, i1}} {both}, 1")
        self.fail_if(overflow, "an integer of more than 64 bits", line)
        return self.let(f"extractvalue {{i64, i1}} {both}, 0")

    def _to_integer(self, arg: str, line: int) -> str:
        size = self.let(f"call double @llvm.fabs.f64(double {arg})")
        self.fail_if(
            self.let(f"fcmp uge double {size}, 0x43E0000000000000"),
            "a number that is no integer of 64 bits",
            line,
        )
        return self.let(f"fptosi double {arg} to i64")

    def _integer_division(self, name: str, args: list[str], line: int) -> str:
        x, y = args
        self.fail_if(self.let(f"icmp eq i64 {y}, 0"), "a division by zero", line)
        self.fail_if(
            self.let(f"icmp eq i64 {x}, -9223372036854775808"), "an integer of more than 64 bits", line
        )
        remainder = self.let(f"srem i64 {x}, {y}")
        exact = self.let(f"icmp eq i64 {remainder}, 0")
        differ = self.let(f"icmp slt i64 {self.let(f'xor i64 {remainder}, {y}')}, 0")
        wrong = self.let(f"and i1 {self.let(f'xor i1 {exact}, true')}, {differ}")
        if name == "mod":
            moved = self.let(f"add i64 {remainder}, {y}")
            return self.let(f"select i1 {wrong}, i64 {moved}, i64 {remainder}")
        quotient = self.let(f"sdiv i64 {x}, {y}")
        return self.let(f"sub i64 {quotient}, {self.let(f'zext i1 {wrong} to i64')}")

    def _range_length(self, args: list[str]) -> str:
        start, stop, step = args
        up = self.let(f"icmp sgt i64 {step}, 0")
        distance = self.let(f"sub i64 {stop}, {start}")
        back = self.let(f"sub i64 {start}, {stop}")
        width = self.let(f"select i1 {up}, i64 {distance}, i64 {back}")
        size = self.let(f"select i1 {up}, i64 {step}, i64 {self.let(f'sub i64 0, {step}')}")
        rounded = self.let(f"add i64 {width}, {self.let(f'sub i64 {size}, 1')}")
        safe = self.let(f"select i1 {self.let(f'icmp eq i64 {size}, 0')}, i64 1, i64 {size}")
        count = self.let(f"sdiv i64 {rounded}, {safe}")
        return self.let(f"select i1 {self.let(f'icmp sgt i64 {width}, 0')}, i64 {count}, i64 0")

    # --- lists ------------------------------------------------------------------------------------

    def load_word(self, pointer: str, kind: Kind, tag: str | None = None) -> str:
        """A leaf in memory."""
        tag = tag or _TAG[kind]
        if kind == "b":
            found = self.let(f"load i64, ptr {pointer}, !tbaa {tag}")
            return self.let(f"trunc i64 {found} to i1")
        return self.let(f"load {_TYPES[kind]}, ptr {pointer}, !tbaa {tag}")

    def store_word(self, pointer: str, value: str, kind: Kind, tag: str | None = None) -> None:
        """Put a leaf into memory."""
        if kind == "b":
            value, type_ = self.let(f"zext i1 {value} to i64"), "i64"
        else:
            type_ = _TYPES[kind]
        self.add(f"store {type_} {value}, ptr {pointer}, !tbaa {tag or _TAG[kind]}")

    def allocate(self, words: str) -> str:
        """Room for words in the arena."""
        found = self.let(f"call ptr @gendsl_allocate(ptr %ctx, i64 {words})")
        self.fail_if(self.let(f"icmp eq ptr {found}, null"), status=FULL)
        return found

    def header(self, ref: str, place: int) -> str:
        """Where a word of the header of a list lies."""
        return ref if place == 0 else self.let(f"getelementptr i64, ptr {ref}, i64 {place}")

    def make_list(self, target: Var, count: str, capacity: str, width: int) -> str:
        """A new list; the pointer to its numbers."""
        words = self.let(f"add i64 3, {self.let(f'mul i64 {capacity}, {width}')}")
        ref = self.allocate(words)
        data = self.let(f"getelementptr i64, ptr {ref}, i64 3")
        self.add(f"store i64 {count}, ptr {ref}, !tbaa !2")
        self.add(f"store i64 {capacity}, ptr {self.header(ref, 1)}, !tbaa !2")
        self.add(f"store ptr {data}, ptr {self.header(ref, 2)}, !tbaa !2")
        self.add(f"store ptr {ref}, ptr {self.alloca(target)}")
        return data

    def place(self, ref: str, index: Expr, layout: tuple[Kind, ...], line: int) -> str:
        """The pointer to an item, whose index may be negative."""
        n = self.let(f"load i64, ptr {ref}, !tbaa !2")
        at = self.expr(index, line)
        if not (isinstance(index, Const) and isinstance(index.value, int) and index.value >= 0):
            negative = self.let(f"icmp slt i64 {at}, 0")
            shifted = self.let(f"add i64 {at}, {n}")
            at = self.let(f"select i1 {negative}, i64 {shifted}, i64 {at}")
        self.fail_if(self.let(f"icmp uge i64 {at}, {n}"), "an index out of range", line)
        data = self.let(f"load ptr, ptr {self.header(ref, 2)}, !tbaa !2")
        offset = at if len(layout) == 1 else self.let(f"mul i64 {at}, {len(layout)}")
        return self.let(f"getelementptr i64, ptr {data}, i64 {offset}")

    def put(self, pointer: str, layout: tuple[Kind, ...], item: tuple[Expr, ...], line: int) -> None:
        """Store an item."""
        values = [self.expr(leaf, line) for leaf in item]
        for i, (value, kind) in enumerate(zip(values, layout, strict=True)):
            self.store_word(self.header(pointer, i), value, kind)

    # --- statements -------------------------------------------------------------------------------

    def body(self, body: Body) -> bool:
        """Print statements; whether control reaches their end."""
        return all(self.statement(statement) for statement in body)

    def statement(self, statement: hir.Statement) -> bool:
        """Print a statement; whether control reaches what follows."""
        line = statement.line
        match statement:
            case hir.Set(targets=targets, values=values):
                found = [self.expr(value, line) for value in values]
                for target, value in zip(targets, found, strict=True):
                    self.add(f"store {_TYPES[target.kind]} {value}, ptr {self.alloca(target)}")
            case hir.New(target=target, layout=layout, items=items):
                count = len(items)
                data = self.make_list(target, str(count), str(max(count, 4)), len(layout))
                for i, item in enumerate(items):
                    self.put(self.header(data, i * len(layout)), layout, item, line)
            case hir.Fill(target=target, layout=layout, count=count, item=item):
                self._fill(target, layout, count, item, line)
            case hir.Length(target=target, list=ref):
                n = self.let(f"load i64, ptr {self.expr(ref, line)}, !tbaa !2")
                self.add(f"store i64 {n}, ptr {self.alloca(target)}")
            case hir.Load(targets=targets, list=ref, layout=layout, index=index):
                where = self.place(self.expr(ref, line), index, layout, line)
                found = [self.load_word(self.header(where, i), kind) for i, kind in enumerate(layout)]
                for target, value in zip(targets, found, strict=True):
                    self.add(f"store {_TYPES[target.kind]} {value}, ptr {self.alloca(target)}")
            case hir.Store(list=ref, layout=layout, index=index, item=item):
                self.put(self.place(self.expr(ref, line), index, layout, line), layout, item, line)
            case hir.Append(list=ref, layout=layout, item=item):
                self._append(self.expr(ref, line), layout, item, line)
            case hir.Truncate(list=ref, count=count):
                self.add(f"store i64 {self.expr(count, line)}, ptr {self.expr(ref, line)}, !tbaa !2")
            case hir.If(test=test, then=then, orelse=orelse):
                return self._if(self.expr(test, line), then, orelse)
            case hir.For():
                self._for(statement)
            case hir.Loop():
                return self._loop(statement)
            case hir.Block(body=inner, label=label):
                after = self.label("after")
                self.loops[label] = (after, after)
                if self.body(inner):
                    self.add(f"br label %{after}")
                self.start(after)
            case hir.Leave(label=label):
                self.add(f"br label %{self.loops[label][0]}")
                return False
            case hir.Next(label=label):
                self.add(f"br label %{self.loops[label][1]}")
                return False
            case hir.Call(targets=targets, function=function, args=args):
                self.call(targets, function, args, line)
            case hir.Return(values=values):
                result = "zeroinitializer"
                for i, (expr, kind) in enumerate(zip(values, self.results(), strict=True)):
                    leaf = self.expr(expr, line)
                    result = self.let(
                        f"insertvalue {self.result_type} {result}, {_TYPES[kind]} {leaf}, {i + 1}"
                    )
                self.add(f"ret {self.result_type} {result}")
                return False
            case hir.Fail(reason=reason):
                self.fail(reason, line)
                return False
            case hir.Visit():
                self._visit(statement)
            case hir.Given(template=template, indices=indices, target=target):
                self._given(template, indices, target, line)
            case hir.Present(template=template, indices=indices, target=target):
                self._given(template, indices, target, line)
            case hir.Count():
                self._count_below(statement)
            case hir.Keep():
                self._keep(statement)
            case hir.Draw():
                self._draw(statement)
            case hir.Redraw():
                self._redraw(statement)
            case hir.Read():
                self._read(statement)
            case hir.Write():
                self._write(statement)
            case hir.Copy():
                self._copy(statement)
            case hir.Primitive():
                self._primitive(statement)
            case hir.NewNode(target=target):
                node = self.word(Word.NODES)
                where = self.let(f"getelementptr i64, ptr %ctx, i64 {Word.NODES:d}")
                self.add(f"store i64 {self.let(f'add i64 {node}, 1')}, ptr {where}, !tbaa !1")
                self.add(f"store i64 {node}, ptr {self.alloca(target)}")
            case _:
                raise TypeError(f"no machine code for {type(statement).__name__}")
        return True

    def results(self) -> list[Kind]:
        assert self.function_ is not None
        return self.function_.results

    def _fill(
        self, target: Var, layout: tuple[Kind, ...], count: Expr, item: tuple[Expr, ...], line: int
    ) -> None:
        given = self.expr(count, line)
        negative = self.let(f"icmp slt i64 {given}, 0")
        n = self.let(f"select i1 {negative}, i64 0, i64 {given}")
        self.fail_if(self.let(f"icmp ugt i64 {n}, 1000000000"), "a list of more than 10^9 items", line)
        values = [self.expr(leaf, line) for leaf in item]
        data = self.make_list(target, n, n, len(layout))
        if not layout:
            return
        counter = self.alloca(Var(f".fill{self.count}", "i"))
        head, inside, after = self.label("head"), self.label("fill"), self.label("after")
        self.add(f"store i64 0, ptr {counter}")
        self.add(f"br label %{head}")
        self.start(head)
        i = self.let(f"load i64, ptr {counter}")
        self.add(f"br i1 {self.let(f'icmp slt i64 {i}, {n}')}, label %{inside}, label %{after}")
        self.start(inside)
        where = self.let(f"getelementptr i64, ptr {data}, i64 {self.let(f'mul i64 {i}, {len(layout)}')}")
        for place, (value, kind) in enumerate(zip(values, layout, strict=True)):
            self.store_word(self.header(where, place), value, kind)
        self.add(f"store i64 {self.let(f'add i64 {i}, 1')}, ptr {counter}")
        self.add(f"br label %{head}")
        self.start(after)

    def _append(self, ref: str, layout: tuple[Kind, ...], item: tuple[Expr, ...], line: int) -> None:
        width = len(layout)
        values = [self.expr(leaf, line) for leaf in item]
        n = self.let(f"load i64, ptr {ref}, !tbaa !2")
        capacity = self.let(f"load i64, ptr {self.header(ref, 1)}, !tbaa !2")
        grow, ready = self.label("grow"), self.label("ready")
        self.add(f"br i1 {self.let(f'icmp slt i64 {n}, {capacity}')}, label %{ready}, label %{grow}")
        self.start(grow)
        larger = self.let(f"add i64 4, {self.let(f'shl i64 {capacity}, 1')}")
        fresh = self.allocate(self.let(f"mul i64 {larger}, {width}"))
        old = self.let(f"load ptr, ptr {self.header(ref, 2)}, !tbaa !2")
        bytes_ = self.let(f"mul i64 {n}, {8 * width}")
        self.add(f"call void @llvm.memcpy.p0.p0.i64(ptr {fresh}, ptr {old}, i64 {bytes_}, i1 false)")
        self.add(f"store ptr {fresh}, ptr {self.header(ref, 2)}, !tbaa !2")
        self.add(f"store i64 {larger}, ptr {self.header(ref, 1)}, !tbaa !2")
        self.add(f"br label %{ready}")
        self.start(ready)
        data = self.let(f"load ptr, ptr {self.header(ref, 2)}, !tbaa !2")
        where = self.let(f"getelementptr i64, ptr {data}, i64 {self.let(f'mul i64 {n}, {width}')}")
        for i, (value, kind) in enumerate(zip(values, layout, strict=True)):
            self.store_word(self.header(where, i), value, kind)
        self.add(f"store i64 {self.let(f'add i64 {n}, 1')}, ptr {ref}, !tbaa !2")

    def _if(self, test: str, then: Body, orelse: Body) -> bool:
        yes, no, after = self.label("then"), self.label("else"), self.label("after")
        self.add(f"br i1 {test}, label %{yes}, label %{no}")
        reached = False
        for label, body in ((yes, then), (no, orelse)):
            self.start(label)
            if self.body(body):
                self.add(f"br label %{after}")
                reached = True
        if reached:
            self.start(after)
        return reached

    def _marked(self, body: Body) -> str | None:
        """The end of the arena before an iteration, if what it makes can be given back."""
        makes = any(isinstance(s, (hir.New, hir.Fill, hir.Append)) for s in hir.walk(body))
        calls = any(isinstance(s, hir.Call) and "r" in s.function.results for s in hir.walk(body))
        if not (makes or calls) or _keeps(body, self.keeping):
            return None
        made = {
            t
            for s in hir.walk(body)
            if isinstance(s, (hir.New, hir.Fill, hir.Load, hir.Call))
            for t in hir.targets(s)
        }
        for statement in hir.walk(body):
            for target in hir.targets(statement):
                if isinstance(statement, hir.Set) and target.kind == "r" and target not in made:
                    return None
        return self.word(Word.NEXT)

    def _give_back(self, mark: str | None) -> None:
        if mark is not None:
            self.add(f"store i64 {mark}, ptr %ctx, !tbaa !1")

    def _for(self, statement: hir.For) -> None:
        line, counter = statement.line, self.alloca(statement.var)
        start, stop, step = (self.expr(e, line) for e in (statement.start, statement.stop, statement.step))
        head, inside, next_, after = (self.label(hint) for hint in ("head", "loop", "next", "after"))
        position = self.alloca(Var(f".at{self.count}", "i"))
        self.loops[statement.label] = (after, next_)
        mark = self._marked(statement.body)
        self.add(f"store i64 {start}, ptr {position}")
        self.add(f"br label %{head}")
        self.start(head)
        i = self.let(f"load i64, ptr {position}")
        self.add(f"store i64 {i}, ptr {counter}")
        if isinstance(statement.step, Const):
            assert isinstance(statement.step.value, int)
            more = self.let(f"icmp {'slt' if statement.step.value > 0 else 'sgt'} i64 {i}, {stop}")
        else:
            up = self.let(f"icmp sgt i64 {step}, 0")
            below, above = self.let(f"icmp slt i64 {i}, {stop}"), self.let(f"icmp sgt i64 {i}, {stop}")
            more = self.let(f"select i1 {up}, i1 {below}, i1 {above}")
        self.add(f"br i1 {more}, label %{inside}, label %{after}")
        self.start(inside)
        if self.body(statement.body):
            self.add(f"br label %{next_}")
        self.start(next_)
        self._give_back(mark)
        at = self.let(f"load i64, ptr {position}")
        self.add(f"store i64 {self.let(f'add i64 {at}, {step}')}, ptr {position}")
        self.add(f"br label %{head}")
        self.start(after)

    def _loop(self, statement: hir.Loop) -> bool:
        head, after = self.label("head"), self.label("after")
        next_ = self.label("next")
        self.loops[statement.label] = (after, next_)
        mark = self._marked(statement.body)
        self.add(f"br label %{head}")
        self.start(head)
        if self.body(statement.body):
            self.add(f"br label %{next_}")
        self.start(next_)
        self._give_back(mark)
        self.add(f"br label %{head}")
        left = any(isinstance(s, hir.Leave) and s.label == statement.label for s in hir.walk(statement.body))
        if left:
            self.start(after)
        return left

    def call(self, targets: list[Var], function: Function, args: list[Expr], line: int) -> None:
        """A call of a function of the text."""
        given = [f"{_TYPES[arg.kind]} {self.expr(arg, line)}" for arg in args]
        self._called(targets, f"{self.prefix}{function.name}", result_type(function), given)

    def _called(self, targets: list[Var], name: str, type_: str, given: list[str]) -> None:
        """Call a function that returns a status and results, and return the status if it is one."""
        found = self.let(f"call {type_} @{name}({', '.join(['ptr %ctx', *given])})")
        status = self.let(f"extractvalue {type_} {found}, 0")
        good = self.label("ok")
        self.leaving.append((self.block, status))
        self.add(f"br i1 {self.let(f'icmp ne i32 {status}, 0')}, label %leave, label %{good}, !prof !20")
        self.start(good)
        for i, target in enumerate(targets):
            value = self.let(f"extractvalue {type_} {found}, {i + 1}")
            self.add(f"store {_TYPES[target.kind]} {value}, ptr {self.alloca(target)}")

    # --- choices ----------------------------------------------------------------------------------

    def set_word(self, index: int, value: str, kind: Kind = "i") -> None:
        """Set a word of the context."""
        where = self.let(f"getelementptr i64, ptr %ctx, i64 {int(index)}")
        self.add(f"store {_TYPES[kind]} {value}, ptr {where}, !tbaa !1")

    def count_up(self, index: int) -> None:
        """Add one to a word of the context."""
        self.set_word(index, self.let(f"add i64 {self.word(index)}, 1"))

    def words_of(self, template: Any) -> TemplateWords:
        """The words of a template."""
        found: TemplateWords = self.layout.templates[template.number]
        return found

    def row_major(self, place: TemplateWords, indices: list[str]) -> str:
        """The place of a choice, of its indices."""
        index = "0"
        for axis, at in enumerate(indices):
            capacity = self.word(place.capacity(axis))
            index = at if axis == 0 else self.let(f"add i64 {self.let(f'mul i64 {index}, {capacity}')}, {at}")
        return index

    def inside(self, place: TemplateWords, indices: list[str]) -> str:
        """Whether there is a place for each index."""
        found = "true"
        for axis, at in enumerate(indices):
            fits = self.let(f"icmp ult i64 {at}, {self.word(place.capacity(axis))}")
            found = fits if axis == 0 else self.let(f"and i1 {found}, {fits}")
        return found

    def existing(self, template: Any, indices: tuple[Expr, ...], line: int) -> str:
        """The place of a choice that is to be there; fails if there is no such place."""
        place, found = self.words_of(template), [self.expr(expr, line) for expr in indices]
        if found:
            outside = self.let(f"xor i1 {self.inside(place, found)}, true")
            self.fail_if(outside, "a choice that is not given", line)
        return self.row_major(place, found)

    def with_room(self, template: Any, indices: tuple[Expr, ...], line: int) -> str:
        """The place of a choice that may be new; full where there is no such place yet."""
        place, found = self.words_of(template), [self.expr(expr, line) for expr in indices]
        self.check_room(place, found, line)
        return self.row_major(place, found)

    def check_room(self, place: TemplateWords, indices: list[str], line: int) -> None:
        """Full where there is no such place yet."""
        for axis, at in enumerate(indices):
            self.fail_if(self.let(f"icmp slt i64 {at}, 0"), "a negative index in an address", line)
            self.set_word(place.wanted(axis), at)
            self.fail_if(self.let(f"icmp sge i64 {at}, {self.word(place.capacity(axis))}"), status=FULL)

    def stamp(self, template: Any, which: int, index: str) -> tuple[str, str]:
        """Where a stamp of a choice lies, and what it is."""
        stamps = self.word(self.words_of(template).stamps(which), "r")
        where = self.let(f"getelementptr i64, ptr {stamps}, i64 {index}")
        return where, self.let(f"load i64, ptr {where}, !tbaa !6")

    def now(self) -> str:
        """The stamp of what is done now."""
        return self.word(Word.NOW)

    def is_current(self, template: Any, index: str) -> str:
        """Whether a choice is in the current trace."""
        _, stamp = self.stamp(template, TemplateWords.CURRENT, index)
        current = Word.CURRENT_AUXILIARY if is_auxiliary(template) else Word.CURRENT
        return self.let(f"icmp eq i64 {stamp}, {self.word(current)}")

    def is_now(self, template: Any, which: int, index: str) -> str:
        """Whether a choice has the stamp of what is done now."""
        return self.let(f"icmp eq i64 {self.stamp(template, which, index)[1]}, {self.now()}")

    def is_observed(self, template: Any, index: str) -> str:
        """Whether a choice is an observation."""
        mask = self.word(self.words_of(template).stamps(TemplateWords.OBSERVED), "r")
        where = self.let(f"getelementptr i8, ptr {mask}, i64 {index}")
        return self.let(f"icmp ne i8 {self.let(f'load i8, ptr {where}, !tbaa !9')}, 0")

    def mark(self, template: Any, which: int, index: str) -> None:
        """Give a choice the stamp of what is done now."""
        where, _ = self.stamp(template, which, index)
        self.add(f"store i64 {self.now()}, ptr {where}, !tbaa !6")

    def count_visit(self, template: Any) -> None:
        """Count a choice that is visited or drawn."""
        if template.calls is None:
            self.count_up(Word.VISITED_AUXILIARY if is_auxiliary(template) else Word.VISITED)

    def cell(self, template: Any, leaf: int, index: str) -> str:
        """Where a leaf of a choice lies."""
        column = self.word(self.words_of(template).column(leaf), "r")
        return self.let(f"getelementptr i64, ptr {column}, i64 {index}")

    def put_leaves(self, template: Any, index: str, values: list[tuple[str, Kind]]) -> None:
        """Set the value of a choice."""
        for leaf, (value, kind) in enumerate(values):
            self.store_word(self.cell(template, leaf, index), value, kind, "!7")

    def set_leaves(self, template: Any, index: str, targets: list[Var]) -> None:
        """Set variables to the value of a choice."""
        for leaf, target in enumerate(targets):
            value = self.load_word(self.cell(template, leaf, index), target.kind, "!7")
            self.add(f"store {_TYPES[target.kind]} {value}, ptr {self.alloca(target)}")

    def _visit(self, statement: hir.Visit) -> None:
        template, line = statement.template, statement.line
        index = self.existing(template, statement.indices, line)
        there = self.is_current(template, index)
        kept, look, go = self.label("kept"), self.label("look"), self.label("visit")
        self.add(f"br i1 {there}, label %{go}, label %{look}, !prof !21")
        self.start(look)
        written = self.is_now(template, TemplateWords.WRITTEN, index)
        self.add(f"br i1 {written}, label %{go}, label %{kept}")
        self.start(kept)
        self.fail("a choice that is not given", line)
        self.start(go)
        again = self.is_now(template, TemplateWords.VISITED, index)
        self.fail_if(again, "a choice that is made twice", line)
        self.mark(template, TemplateWords.VISITED, index)
        self.count_visit(template)
        self.set_leaves(template, index, statement.targets)

    def _given(self, template: Any, indices: tuple[Expr, ...], target: Var, line: int) -> None:
        place, found = self.words_of(template), [self.expr(expr, line) for expr in indices]
        inside = self.inside(place, found)
        index = self.let(f"select i1 {inside}, i64 {self.row_major(place, found)}, i64 0")
        there = self.is_current(template, index)
        self.add(f"store i1 {self.let(f'and i1 {inside}, {there}')}, ptr {self.alloca(target)}")

    def _keep(self, statement: hir.Keep) -> None:
        template, line = statement.template, statement.line
        index = self.with_room(template, statement.indices, line)
        taken = [
            self.is_current(template, index), self.is_now(template, TemplateWords.WRITTEN, index)
        ]  # fmt: skip
        self.fail_if(self.let(f"or i1 {taken[0]}, {taken[1]}"), "an address that is used twice", line)
        self.mark(template, TemplateWords.WRITTEN, index)
        self.mark(template, TemplateWords.VISITED, index)
        self.count_visit(template)
        values = [(self.expr(value, line), value.kind) for value in statement.values]
        self.put_leaves(template, index, values)

    def _draw(self, statement: hir.Draw) -> None:
        """A call of NumPy's own sampler; `native_draws` says how it is called."""
        name, args = statement.name, [self.expr(arg, statement.line) for arg in statement.args]
        self.drawn.add(name)
        generator = self.word(Word.GENERATOR, "r")
        typed = [f"{_TYPES[arg.kind]} {value}" for arg, value in zip(statement.args, args, strict=True)]
        symbol = f"@gendsl_random_{NATIVE[name]}"
        if name == "integers":
            last = self.let(f"sub i64 {self.let(f'sub i64 {args[1]}, {args[0]}')}, 1")
            out = self.alloca(Var(f".drawn{self.count}", "i"))
            given = f"ptr {generator}, i64 {args[0]}, i64 {last}, i64 1, i1 zeroext false, ptr {out}"
            self.add(f"call void {symbol}({given})")
            found = self.let(f"load i64, ptr {out}")
        elif name == "binomial":
            found = self.let(f"call i64 @gendsl_binomial(ptr {generator}, {typed[1]}, {typed[0]})")
        else:
            if name == "uniform":
                typed[1] = f"double {self.let(f'fsub double {args[1]}, {args[0]}')}"
            type_ = _TYPES[statement.target.kind]
            found = self.let(f"call {type_} {symbol}({', '.join([f'ptr {generator}', *typed])})")
        self.add(f"store {_TYPES[statement.target.kind]} {found}, ptr {self.alloca(statement.target)}")

    def uniform(self) -> str:
        """A uniform number between 0 and 1."""
        drawn = Var(f".uniform{self.count}", "f")
        self._draw(hir.Draw(drawn, "random", ()))
        return self.let(f"load double, ptr {self.alloca(drawn)}")

    # --- moves ------------------------------------------------------------------------------------

    def _primitive(self, statement: hir.Primitive) -> None:
        """An operation of the state."""
        if statement.name == "impossible":
            (template,) = statement.templates
            self.set_word(Word.ZERO, str(template.number))
            indices = [self.expr(expr) for expr in statement.args]
            self.set_word(Word.ZERO_PLACE, self.row_major(self.words_of(template), indices))
            return
        if statement.name == "is_kept":
            (template,), (target,) = statement.templates, statement.targets
            index = self.row_major(
                self.words_of(template), [self.expr(expr, statement.line) for expr in statement.args]
            )
            visited = self.is_now(template, TemplateWords.VISITED, index)
            same = self.let(f"xor i1 {self.is_now(template, TemplateWords.WRITTEN, index)}, true")
            self.add(f"store i1 {self.let(f'and i1 {visited}, {same}')}, ptr {self.alloca(target)}")
            return
        if statement.name == "any_of":
            (template,), (target,) = statement.templates, statement.targets
            self.add(f"store i1 false, ptr {self.alloca(target)}")
            for index, _ in self._places_of(template, [], "true"):
                with self.moves.when(self.is_current(template, index)):
                    self.add(f"store i1 true, ptr {self.alloca(target)}")
            return
        if statement.name == "give_back":
            self._give_back_choices(*statement.templates)
            return
        self.primitives.add(statement.name)
        given = [f"{_TYPES[arg.kind]} {self.expr(arg, statement.line)}" for arg in statement.args]
        kinds = [_TYPES[target.kind] for target in statement.targets]
        self._called(
            statement.targets, f"gendsl_{statement.name}", f"{{{', '.join(['i32', *kinds])}}}", given
        )

    def _places_of(self, template: Any, given: list[str], inside: str) -> Iterator[tuple[str, list[str]]]:
        """A loop over the places whose first indices are given: (place, the other indices)."""
        words = self.words_of(template)
        capacities = [self.word(words.capacity(axis)) for axis in range(len(given), template.rank)]
        size = "1"
        for capacity in capacities:
            size = self.let(f"mul i64 {size}, {capacity}")
        with self.moves.each(self.let(f"select i1 {inside}, i64 {size}, i64 0")) as number:
            rest, more = number, []
            for capacity in reversed(capacities):
                more.append(self.let(f"urem i64 {rest}, {capacity}"))
                rest = self.let(f"udiv i64 {rest}, {capacity}")
            more.reverse()
            yield self.row_major(words, [*given, *more]), more

    def _give_back_choices(self, auxiliary: Any, template: Any) -> None:
        """Let the auxiliary choices be those of the current trace that were written or are gone."""
        for index, indices in self._places_of(template, [], "true"):
            there = self.is_current(template, index)
            unvisited = self.let(f"xor i1 {self.is_now(template, TemplateWords.VISITED, index)}, true")
            written = self.is_now(template, TemplateWords.WRITTEN, index)
            changed = self.let(f"and i1 {there}, {self.let(f'or i1 {unvisited}, {written}')}")
            with self.moves.when(changed):
                self.fail_if(self.is_observed(template, index), "an observation that is gone")
                words = self.words_of(auxiliary)
                self.check_room(words, indices, 0)
                place = self.row_major(words, indices)
                for leaf in range(words.columns):
                    value = self.load_word(self.cell(template, leaf, index), "i", "!7")
                    self.store_word(self.cell(auxiliary, leaf, place), value, "i", "!7")
                self.mark(auxiliary, TemplateWords.WRITTEN, place)
                self.count_up(Word.COUNT_AUXILIARY)

    def dimension(self, template: Any, leaves: list[str]) -> str:
        """The number of coordinates of a value."""
        coordinates = self.layout.coordinates.get(template.number, UNKNOWN)
        if coordinates in (DISCRETE, NUMBER):
            return str(int(coordinates == NUMBER))
        size = self._size(leaves)
        return self.let(f"sub i64 {size}, 1") if coordinates == WEIGHTS else size

    def _size(self, leaves: list[str]) -> str:
        """The number of entries of an array."""
        rank, size = (len(leaves) - 2) // 2, "1"
        for length in leaves[2 : 2 + rank]:
            size = self.let(f"mul i64 {size}, {length}")
        return size

    def _entries(self, leaves: list[str], width: int) -> Iterator[tuple[str, str]]:
        """A loop over the entries of an array: (number, pointer to it), where each has a width of words."""
        rank = (len(leaves) - 2) // 2
        lengths, strides = leaves[2 : 2 + rank], leaves[2 + rank :]
        data = self.let(f"load ptr, ptr {self.header(leaves[0], 2)}, !tbaa !2")
        with self.moves.each(self._size(leaves)) as number:
            rest, place = number, leaves[1]
            for length, stride in reversed(list(zip(lengths, strides, strict=True))):
                at = self.let(f"urem i64 {rest}, {length}") if rank > 1 else rest
                place = self.let(f"add i64 {place}, {self.let(f'mul i64 {at}, {stride}')}")
                rest = self.let(f"udiv i64 {rest}, {length}") if rank > 1 else rest
            offset = self.let(f"mul i64 {place}, {width}") if width > 1 else place
            yield number, self.let(f"getelementptr i64, ptr {data}, i64 {offset}")

    def _contiguous(self, leaves: list[str]) -> list[str]:
        """The strides of an array whose entries lie one behind another."""
        rank = (len(leaves) - 2) // 2
        found, step = [], "1"
        for length in reversed(leaves[2 : 2 + rank]):
            found.append(step)
            step = self.let(f"mul i64 {step}, {length}")
        return found[::-1]

    def _read(self, statement: hir.Read) -> None:
        template, line = statement.template, statement.line
        index = self.existing(template, statement.indices, line)
        there = self.is_current(template, index)
        self.fail_if(self.let(f"xor i1 {there}, true"), "a choice that is not given", line)
        kinds = leaves(template.type)
        values = [
            self.load_word(self.cell(template, leaf, index), kind, "!7") for leaf, kind in enumerate(kinds)
        ]
        if statement.followed and not statement.tangents:
            self._note_read(template, index, values, copied=False)
        if statement.tangents:
            values = self._with_slopes(statement, index, values)
        for target, value in zip(statement.targets, values, strict=True):
            self.add(f"store {_TYPES[target.kind]} {value}, ptr {self.alloca(target)}")

    def _note_read(self, template: Any, index: str, values: list[str], *, copied: bool) -> None:
        """Note in the log that a choice was read or copied, where it is the first time."""
        where, stamp = self.stamp(template, TemplateWords.READ, index)
        twice = self.let(f"shl i64 {self.now()}, 1")
        is_new = self.let(f"icmp ult i64 {stamp}, {twice}")
        size = self.dimension(template, values)
        if copied:
            again = self.let(f"icmp ugt i64 {stamp}, {twice}")
            continuous = self.let(f"icmp sgt i64 {size}, 0")
            both = self.let(f"and i1 {again}, {continuous}")
            self.fail_if(both, "a continuous choice that is copied twice")
            self.add(f"store i64 {self.let(f'add i64 {twice}, 1')}, ptr {where}, !tbaa !6")
        with self.moves.when(is_new):
            if not copied:
                self.add(f"store i64 {twice}, ptr {where}, !tbaa !6")
            observed = self.word(self.words_of(template).stamps(TemplateWords.OBSERVED), "r")
            byte = self.let(
                f"load i8, ptr {self.let(f'getelementptr i8, ptr {observed}, i64 {index}')}, !tbaa !9"
            )
            with self.moves.when(self.let(f"icmp eq i8 {byte}, 0")):
                entry = self.moves.new_entry(Word.READS, Word.READ_COUNT, Word.READ_ROOM, READ_WORDS)
                for place, value in enumerate((self.moves.template_pointer(template), index, size)):
                    self.moves.store(entry, place, value)

    def _with_slopes(self, statement: hir.Read, index: str, values: list[str]) -> list[str]:
        """The leaves of a choice, each float with its derivative in the coordinate that is followed."""
        template = statement.template
        coordinates = self.layout.coordinates.get(template.number, UNKNOWN)
        kinds = leaves(template.type)
        array = isinstance(template.type, Array)
        if "f" not in kinds and not (array and template.type.kind == "f"):
            return values
        nan, followed = literal(float("nan"), "f"), "null"
        mine = "false"
        if statement.followed:
            followed = self.moves.pointed(self.word(Word.FOLLOWED))
            same = self.let(
                f"icmp eq i64 {self.moves.load(followed, 0)}, {self.moves.template_pointer(template)}"
            )
            here = self.let(f"icmp eq i64 {self.moves.load(followed, 1)}, {index}")
            mine = self.let(f"and i1 {same}, {here}")
        if not array:
            slope = self.let(f"select i1 {mine}, double 1.0, double 0.0") if statement.followed else nan
            return [one for value, kind in zip(values, kinds, strict=True)
                    for one in ((value, slope) if kind == "f" else (value,))]  # fmt: skip
        size = self._size(values)
        made = Var(f".slopes{self.count}", "r")
        into = self.make_list(made, size, size, 2)
        coordinate = self.moves.load(followed, 2) if statement.followed else "0"
        last = self.let(f"sub i64 {size}, 1")
        for number, pointer in self._entries(values, 1):
            value = self.load_word(pointer, "f")
            slope = nan
            if statement.followed:
                is_it = self.let(f"icmp eq i64 {number}, {coordinate}")
                slope = self.let(f"select i1 {is_it}, double 1.0, double 0.0")
                if coordinates == WEIGHTS:
                    is_last = self.let(f"icmp eq i64 {number}, {last}")
                    slope = self.let(f"select i1 {is_last}, double -1.0, double {slope}")
                slope = self.let(f"select i1 {mine}, double {slope}, double 0.0")
            pair = self.let(f"getelementptr i64, ptr {into}, i64 {self.let(f'mul i64 {number}, 2')}")
            self.store_word(pair, value, "f")
            self.store_word(self.header(pair, 1), slope, "f")
        rank = (len(values) - 2) // 2
        ref = self.let(f"load ptr, ptr {self.alloca(made)}")
        return [ref, "0", *values[2 : 2 + rank], *self._contiguous(values)]

    def _redraw(self, statement: hir.Redraw) -> None:
        template, line = statement.template, statement.line
        index = self.with_room(template, statement.indices, line)
        again = self.is_now(template, TemplateWords.VISITED, index)
        self.fail_if(again, "an address that is used twice", line)
        values = [self.expr(value, line) for value in statement.values]
        if isinstance(template.type, Array):
            values = self._fresh_array(template.type.kind, values, line)
        self._log_write(template, index, values, "0", line)
        self.mark(template, TemplateWords.VISITED, index)
        self.count_visit(template)

    def _write(self, statement: hir.Write) -> None:
        template, line = statement.template, statement.line
        values = [self.expr(value, line) for value in statement.values]
        if statement.tangents:
            self._write_slopes(template, values)
            return
        index = self.with_room(template, statement.indices, line)
        if isinstance(template.type, Array):
            values = self._fresh_array(template.type.kind, values, line)
        for value, kind in zip(values, leaves(template.type), strict=True):
            if kind == "f":
                self.fail_if(self.let(f"fcmp uno double {value}, 0.0"), "NaN is written", line)
        self._log_write(template, index, values, "0", line)

    def _fresh_array(self, kind: Kind, values: list[str], line: int) -> list[str]:
        """The leaves of an array that is written, as one whose entries lie one behind another."""
        size = self._size(values)
        made = Var(f".written{self.count}", "r")
        into = self.make_list(made, size, size, 1)
        for number, pointer in self._entries(values, 1):
            value = self.load_word(pointer, kind)
            if kind == "f":
                self.fail_if(self.let(f"fcmp uno double {value}, 0.0"), "NaN is written", line)
            self.store_word(self.let(f"getelementptr i64, ptr {into}, i64 {number}"), value, kind)
        rank = (len(values) - 2) // 2
        ref = self.let(f"load ptr, ptr {self.alloca(made)}")
        return [ref, "0", *values[2 : 2 + rank], *self._contiguous(values)]

    def _log_write(self, template: Any, index: str, values: list[str], copied: str, line: int) -> None:
        """Note in the log what is written to a choice."""
        again = self.is_now(template, TemplateWords.WRITTEN, index)
        self.fail_if(again, "an address that is written twice", line)
        observed = self.word(self.words_of(template).stamps(TemplateWords.OBSERVED), "r")
        byte = self.let(
            f"load i8, ptr {self.let(f'getelementptr i8, ptr {observed}, i64 {index}')}, !tbaa !9"
        )
        self.fail_if(self.let(f"icmp ne i8 {byte}, 0"), "an observation that is written", line)
        self.mark(template, TemplateWords.WRITTEN, index)
        words = self.layout.write_words
        entry = self.moves.new_entry(Word.WRITES, Word.WRITE_COUNT, Word.WRITE_ROOM, words)
        size = self.dimension(template, values)
        for place, value in enumerate((self.moves.template_pointer(template), index, copied, size)):
            self.moves.store(entry, place, value)
        for leaf, (value, kind) in enumerate(zip(values, leaves(template.type), strict=True)):
            self.store_word(self.header(entry, WRITE_WORDS + leaf), value, kind, LOG_TAG)

    def _write_slopes(self, template: Any, values: list[str]) -> None:
        """The next entries of the row of the Jacobian that is followed."""
        coordinates = self.layout.coordinates.get(template.number, UNKNOWN)
        if coordinates == DISCRETE:
            return
        if coordinates == NUMBER:
            self._next_slope(values[1])
            return
        last = self.let(f"sub i64 {self._size(values)}, 1")
        for number, pointer in self._entries(values, 2):
            slope = self.load_word(self.header(pointer, 1), "f")
            if coordinates == WEIGHTS:
                with self.moves.when(self.let(f"icmp ne i64 {number}, {last}")):
                    self._next_slope(slope)
            else:
                self._next_slope(slope)

    def _next_slope(self, slope: str) -> None:
        where = self.word(Word.MATRIX_AT)
        self.add(f"store double {slope}, ptr {self.moves.pointed(where)}, !tbaa {LOG_TAG}")
        self.set_word(Word.MATRIX_AT, self.let(f"add i64 {where}, 8"))

    def _count_below(self, statement: hir.Count) -> None:
        """How many choices there are whose first indices are given."""
        template = statement.template
        given = [self.expr(expr, statement.line) for expr in statement.indices]
        counted = self.alloca(statement.target)
        self.add(f"store i64 0, ptr {counted}")
        for index, _ in self._places_of(template, given, self.inside(self.words_of(template), given)):
            with self.moves.when(self.is_current(template, index)):
                self.moves.add_to(counted, "1")

    def _copy(self, statement: hir.Copy) -> None:
        """Copy all choices whose first indices are given."""
        source, target, line = statement.source, statement.template, statement.line
        to = self.words_of(target)
        given = [self.expr(expr, line) for expr in statement.source_indices]
        first = [self.expr(expr, line) for expr in statement.indices]
        counted = self.alloca(statement.target)
        self.add(f"store i64 0, ptr {counted}")
        if self.layout.coordinates.get(source.number) != self.layout.coordinates.get(target.number):
            self.fail_if("true", "a copy between choices with other coordinates", line)
        for index, more in self._places_of(source, given, self.inside(self.words_of(source), given)):
            with self.moves.when(self.is_current(source, index)):
                self.moves.add_to(counted, "1")
                if not statement.tangents:
                    kinds = enumerate(leaves(source.type))
                    values = [
                        self.load_word(self.cell(source, leaf, index), kind, "!7") for leaf, kind in kinds
                    ]
                    self._note_read(source, index, values, copied=True)
                    self.check_room(to, [*first, *more], line)
                    self._log_write(target, self.row_major(to, [*first, *more]), values, "1", line)

    # --- functions --------------------------------------------------------------------------------

    def define(self, name: str, parameters: str, result: str, emit: Callable[[], None]) -> None:
        """A function that gets the context and other parameters."""
        self.allocas, self.loops, self.result_type = {}, {}, result
        self.failing, self.leaving, self.block = [], [], "entry"
        mark, self.out = self.out, []
        emit()
        self._ends()
        inside, self.out = self.out, mark
        given = f"ptr %ctx, {parameters}" if parameters else "ptr %ctx"
        attributes = " noinline" if len(inside) > LONG else ""
        self.out.append(f"define internal {result} @{name}({given}){attributes} {{")
        self.out.append("entry:")
        for var, where in self.allocas.items():
            self.add(f"{where} = alloca {_TYPES[var.kind]}")
            zero = literal(0, var.kind) if var.kind != "r" else "null"
            self.add(f"store {_TYPES[var.kind]} {zero}, ptr {where}")
        self.out += inside
        self.out.append("}\n")

    def function(self, function: Function) -> None:
        """A function."""

        def emit() -> None:
            for i, var in enumerate(function.parameters):
                self.add(f"store {_TYPES[var.kind]} %p{i}, ptr {self.alloca(var)}")
            if self.body(function.body):
                self.add("unreachable")

        self.function_ = function
        parameters = ", ".join(f"{_TYPES[v.kind]} %p{i}" for i, v in enumerate(function.parameters))
        self.define(f"{self.prefix}{function.name}", parameters, result_type(function), emit)

    def entry(self, main: Function) -> None:
        """The function that Python calls: arguments and results are words of the context."""
        self.out.append(f"define i32 @{self.prefix}entry(ptr %ctx) {{")
        self.out.append("entry:")
        given = []
        for i, var in enumerate(main.parameters):
            given.append(f"{_TYPES[var.kind]} {self.word(self.layout.argument_word(i), var.kind)}")
        type_ = result_type(main)
        found = self.let(f"call {type_} @{self.prefix}{main.name}({', '.join(['ptr %ctx', *given])})")
        for i, kind in enumerate(main.results):
            value = self.let(f"extractvalue {type_} {found}, {i + 1}")
            where = self.let(f"getelementptr i64, ptr %ctx, i64 {self.layout.result_word(i)}")
            if kind == "b":
                value, kind = self.let(f"zext i1 {value} to i64"), "i"
            self.add(f"store {_TYPES[kind]} {value}, ptr {where}, !tbaa !1")
        status = self.let(f"extractvalue {type_} {found}, 0")
        self.add(f"ret i32 {status}")
        self.out.append("}\n")


def result_type(function: Function) -> str:
    """The LLVM type of what a function returns: the status and the results."""
    return f"{{{', '.join(['i32', *(_TYPES[kind] for kind in function.results)])}}}"


_LOGADDEXP = """
define internal double @gendsl_logaddexp(double %x, double %y) {
  %equal = fcmp oeq double %x, %y
  br i1 %equal, label %same, label %other
same:
  %two = fadd double %x, 0x3FE62E42FEFA39EF
  ret double %two
other:
  %d = fsub double %x, %y
  %size = call double @llvm.fabs.f64(double %d)
  %minus = fneg double %size
  %e = call double @exp(double %minus)
  %l = call double @log1p(double %e)
  %above = fcmp ogt double %d, 0.0
  %top = select i1 %above, double %x, double %y
  %s = fadd double %top, %l
  %nan = fcmp uno double %d, 0.0
  %r = select i1 %nan, double %d, double %s
  ret double %r
}
"""


def print_llvm(main: Function, layout: Layout) -> tuple[str, list[tuple[int, str]]]:
    """A function, and all that it calls, as LLVM IR; and what may fail where."""
    printer = LLVMPrinter(layout)
    for function in hir.functions(main):
        printer.function(function)
    printer.entry(main)
    return _module(printer), printer.sites


def print_llvm_steps(steps: Sequence[Function], layout: Layout) -> tuple[str, list[tuple[int, str]]]:
    """The steps of kernels, and what runs a schedule of them, as LLVM IR; and what may fail where."""
    printer, seen = LLVMPrinter(layout), set()
    for step in steps:
        for function in hir.functions(step):
            if id(function) not in seen:
                seen.add(id(function))
                printer.function(function)
    printer.moves.functions(sorted(printer.primitives))
    NativeSchedule(printer).drive(steps)
    return _module(printer), printer.sites


def _module(printer: LLVMPrinter) -> str:
    declared = {**printer.declared, "fmod": 2}
    extra = ""
    if declared.pop("gendsl_logaddexp", None):
        declared.update(exp=1, log1p=1)
        extra = _LOGADDEXP
    special = {name for name in declared if name.startswith("gendsl_special_")}
    declarations = "\n".join(
        f"declare double @{name}({', '.join(['double'] * count + ['i32'] * (name in special))})"
        " nounwind willreturn memory(none)"
        for name, count in declared.items()
    )
    return "\n".join(
        [
            PRELUDE,
            extra,
            declarations,
            *(DECLARATIONS[name] for name in sorted(printer.drawn)),
            *printer.out,
            TBAA,
            '!20 = !{!"branch_weights", i32 1, i32 100000}',
            '!21 = !{!"branch_weights", i32 1000, i32 1}',
            "",
        ]
    )
