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

from gendsl.compiler import hir
from gendsl.compiler.hir import Body, Const, Expr, Function, Input, Kind, Op, Var
from gendsl.compiler.native_draws import DECLARATIONS, NATIVE
from gendsl.compiler.native_layout import (
    ABSENT,
    DRAWN,
    FAILED,
    FULL,
    GENERATOR,
    NEXT,
    NODES,
    PRESENT,
    SITE,
    VISITED,
    Layout,
    TemplateWords,
)

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
!1 = !{!10, !10, i64 0}
!2 = !{!11, !11, i64 0}
!3 = !{!12, !12, i64 0}
!4 = !{!13, !13, i64 0}
!5 = !{!14, !14, i64 0}
!6 = !{!15, !15, i64 0}
!7 = !{!16, !16, i64 0}
"""
_TAG = {"f": "!3", "i": "!4", "b": "!4", "r": "!5"}


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
            case hir.Keep(values=values) if any(value.kind == "r" for value in values):
                return True
            case hir.Call(function=function) if keeps_references(function, known):
                return True
    return False


class LLVMPrinter:
    """Prints functions as LLVM IR."""

    def __init__(self, layout: Layout, prefix: str = "gendsl_text_") -> None:
        self.layout = layout
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

    def fail_if(self, test: str, reason: str = "", line: int = 0, status: int = FAILED) -> None:
        """Return a status where a test holds."""
        bad, good = self.label("fail"), self.label("ok")
        self.add(f"br i1 {test}, label %{bad}, label %{good}, !prof !20")
        self.start(bad)
        self.fail(reason, line, status)
        self.start(good)

    def fail(self, reason: str, line: int, status: int = FAILED) -> None:
        """Return a status."""
        if status == FAILED:
            self.sites.append((line, reason))
            where = self.let(f"getelementptr i64, ptr %ctx, i64 {SITE}")
            self.add(f"store i64 {len(self.sites) - 1}, ptr {where}, !tbaa !1")
        found = self.let(f"insertvalue {self.result_type} zeroinitializer, i32 {status}, 0")
        self.add(f"ret {self.result_type} {found}")

    def word(self, index: int, kind: Kind = "i") -> str:
        """A word of the context."""
        where = self.let(f"getelementptr i64, ptr %ctx, i64 {index}")
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
            case Input(number=number, leaf=leaf, kind=kind):
                return self.word(self.layout.input_word(number, leaf), kind)
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
        bad, check, good = self.label("fail"), self.label("check"), self.label("ok")
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
        self.add(f"br i1 {odd}, label %{good}, label %{bad}")
        self.start(bad)
        self.fail(f"{name} out of its domain", line)
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

    def store_word(self, pointer: str, value: str, kind: Kind) -> None:
        """Put a leaf into memory."""
        if kind == "b":
            value, type_ = self.let(f"zext i1 {value} to i64"), "i64"
        else:
            type_ = _TYPES[kind]
        self.add(f"store {type_} {value}, ptr {pointer}, !tbaa {_TAG[kind]}")

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
                self._call(targets, function, args, line)
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
            case hir.Given():
                self._given(statement)
            case hir.Keep():
                self._keep(statement)
            case hir.Draw():
                self._draw(statement)
            case hir.NewNode(target=target):
                node = self.word(NODES)
                where = self.let(f"getelementptr i64, ptr %ctx, i64 {NODES}")
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
        return self.word(NEXT)

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

    def _call(self, targets: list[Var], function: Function, args: list[Expr], line: int) -> None:
        type_ = result_type(function)
        given = [f"{_TYPES[arg.kind]} {self.expr(arg, line)}" for arg in args]
        found = self.let(f"call {type_} @{self.prefix}{function.name}({', '.join(['ptr %ctx', *given])})")
        status = self.let(f"extractvalue {type_} {found}, 0")
        bad, good = self.label("fail"), self.label("ok")
        self.add(f"br i1 {self.let(f'icmp ne i32 {status}, 0')}, label %{bad}, label %{good}, !prof !20")
        self.start(bad)
        passed = self.let(f"insertvalue {self.result_type} zeroinitializer, i32 {status}, 0")
        self.add(f"ret {self.result_type} {passed}")
        self.start(good)
        for i, target in enumerate(targets):
            value = self.let(f"extractvalue {type_} {found}, {i + 1}")
            self.add(f"store {_TYPES[target.kind]} {value}, ptr {self.alloca(target)}")

    def _visit(self, statement: hir.Visit) -> None:
        place = self.layout.templates[statement.template.number]
        index = "0"
        for axis, expr in enumerate(statement.indices):
            at = self.expr(expr, statement.line)
            capacity = self.word(place.capacity(axis))
            self.fail_if(
                self.let(f"icmp uge i64 {at}, {capacity}"), "a choice that is not given", statement.line
            )
            index = at if axis == 0 else self.let(f"add i64 {self.let(f'mul i64 {index}, {capacity}')}, {at}")
        stamps = self.word(place.stamps, "r")
        where = self.let(f"getelementptr i8, ptr {stamps}, i64 {index}")
        stamp = self.let(f"load i8, ptr {where}, !tbaa !6")
        self.fail_if(
            self.let(f"icmp ne i8 {stamp}, {PRESENT}"),
            "a choice that is not given, or made twice",
            statement.line,
        )
        self.add(f"store i8 {VISITED}, ptr {where}, !tbaa !6")
        for leaf, target in enumerate(statement.targets):
            column = self.word(place.column(leaf), "r")
            pointer = self.let(f"getelementptr i64, ptr {column}, i64 {index}")
            value = self.load_word(pointer, target.kind, "!7")
            self.add(f"store {_TYPES[target.kind]} {value}, ptr {self.alloca(target)}")

    def _stamp(self, place: TemplateWords, index: str) -> tuple[str, str]:
        """Where the stamp of a choice lies, and what it is."""
        where = self.let(f"getelementptr i8, ptr {self.word(place.stamps, 'r')}, i64 {index}")
        return where, self.let(f"load i8, ptr {where}, !tbaa !6")

    def _given(self, statement: hir.Given) -> None:
        place = self.layout.templates[statement.template.number]
        index, inside = "0", "true"
        for axis, expr in enumerate(statement.indices):
            at, capacity = self.expr(expr, statement.line), self.word(place.capacity(axis))
            inside = self.let(f"and i1 {inside}, {self.let(f'icmp ult i64 {at}, {capacity}')}")
            index = at if axis == 0 else self.let(f"add i64 {self.let(f'mul i64 {index}, {capacity}')}, {at}")
        _, stamp = self._stamp(place, self.let(f"select i1 {inside}, i64 {index}, i64 0"))
        made = self.let(f"icmp ne i8 {stamp}, {ABSENT}")
        self.add(f"store i1 {self.let(f'and i1 {inside}, {made}')}, ptr {self.alloca(statement.target)}")

    def _keep(self, statement: hir.Keep) -> None:
        place, line = self.layout.templates[statement.template.number], statement.line
        index = "0"
        for axis, expr in enumerate(statement.indices):
            at, capacity = self.expr(expr, line), self.word(place.capacity(axis))
            self.fail_if(self.let(f"icmp slt i64 {at}, 0"), "a negative index in an address", line)
            wanted = self.let(f"getelementptr i64, ptr %ctx, i64 {place.wanted(axis)}")
            self.add(f"store i64 {at}, ptr {wanted}, !tbaa !1")
            self.fail_if(self.let(f"icmp sge i64 {at}, {capacity}"), status=FULL)
            index = at if axis == 0 else self.let(f"add i64 {self.let(f'mul i64 {index}, {capacity}')}, {at}")
        where, stamp = self._stamp(place, index)
        self.fail_if(self.let(f"icmp ne i8 {stamp}, {ABSENT}"), "an address that is used twice", line)
        self.add(f"store i8 {DRAWN}, ptr {where}, !tbaa !6")
        for leaf, value in enumerate(statement.values):
            column = self.word(place.column(leaf), "r")
            pointer = self.let(f"getelementptr i64, ptr {column}, i64 {index}")
            found, type_ = self.expr(value, line), _TYPES[value.kind]
            if value.kind == "b":
                found, type_ = self.let(f"zext i1 {found} to i64"), "i64"
            self.add(f"store {type_} {found}, ptr {pointer}, !tbaa !7")

    def _draw(self, statement: hir.Draw) -> None:
        """A call of NumPy's own sampler; `native_draws` says how it is called."""
        name, args = statement.name, [self.expr(arg, statement.line) for arg in statement.args]
        self.drawn.add(name)
        generator = self.word(GENERATOR, "r")
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

    # --- functions --------------------------------------------------------------------------------

    def function(self, function: Function) -> None:
        """A function."""
        self.function_, self.allocas, self.loops = function, {}, {}
        self.result_type = result_type(function)
        parameters = ", ".join(
            ["ptr %ctx", *(f"{_TYPES[v.kind]} %p{i}" for i, v in enumerate(function.parameters))]
        )
        mark, self.out = self.out, []
        for i, var in enumerate(function.parameters):
            self.add(f"store {_TYPES[var.kind]} %p{i}, ptr {self.alloca(var)}")
        if self.body(function.body):
            self.add("unreachable")
        inside, self.out = self.out, mark
        self.out.append(f"define internal {self.result_type} @{self.prefix}{function.name}({parameters}) {{")
        self.out.append("entry:")
        for var, name in self.allocas.items():
            self.add(f"{name} = alloca {_TYPES[var.kind]}")
            self.add(
                f"store {_TYPES[var.kind]} {literal(0, var.kind) if var.kind != 'r' else 'null'}, ptr {name}"
            )
        self.out += inside
        self.out.append("}\n")

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
    text = "\n".join(
        [
            PRELUDE,
            extra,
            declarations,
            *(DECLARATIONS[name] for name in sorted(printer.drawn)),
            *printer.out,
            TBAA,
            '!20 = !{!"branch_weights", i32 1, i32 100000}',
            "",
        ]
    )
    return text, printer.sites
