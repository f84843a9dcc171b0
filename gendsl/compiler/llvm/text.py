"""What is the same in every text of LLVM IR, and how numbers and types are written there."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping

from gendsl.compiler.hir import Function, Kind
from gendsl.compiler.hir.machine import LOOP
from gendsl.compiler.llvm import ufunc_loops, vector_math
from gendsl.compiler.llvm.native_draws import DECLARATIONS
from gendsl.compiler.llvm.vector_math import FLOATS, INTEGERS, POINTERS

ENTRY = "gendsl_entry"
"""The function that Python calls."""
OF_TEXT = "gendsl_text_"
"""What the names of functions of a text begin with: nothing else has a name that does."""
TYPES = {
    "f": "double", "i": "i64", "b": "i1", "r": "ptr", "F": FLOATS, "I": INTEGERS,
    "B": INTEGERS, "R": POINTERS,
}  # fmt: skip
"""The types of kinds; those in capitals are vectors, for iterations that run in lanes."""
TEMPLATE_TAG = "!23"
"""Of the words that say where the choices of a template are: no loop over them changes these."""
TAG = {"f": "!3", "i": "!4", "b": "!4", "r": "!5"}
_PRELUDE = """
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

define internal ptr @gendsl_new_list(ptr %ctx, i64 %count, i64 %capacity, i64 %width) noinline {
  %numbers = mul i64 %capacity, %width
  %words = add i64 %numbers, 3
  %list = call ptr @gendsl_allocate(ptr %ctx, i64 %words)
  %full = icmp eq ptr %list, null
  br i1 %full, label %done, label %made
made:
  %data = getelementptr i64, ptr %list, i64 3
  store i64 %count, ptr %list, !tbaa !2
  %capacityp = getelementptr i64, ptr %list, i64 1
  store i64 %capacity, ptr %capacityp, !tbaa !2
  %datap = getelementptr i64, ptr %list, i64 2
  store ptr %data, ptr %datap, !tbaa !2
  br label %done
done:
  ret ptr %list
}

define internal ptr @gendsl_grown(ptr %ctx, ptr %list, i64 %more, i64 %width) noinline cold {
  %count = load i64, ptr %list, !tbaa !2
  %capacityp = getelementptr i64, ptr %list, i64 1
  %capacity = load i64, ptr %capacityp, !tbaa !2
  %twice = shl i64 %capacity, 1
  %larger = add i64 %twice, %more
  %words = mul i64 %larger, %width
  %fresh = call ptr @gendsl_allocate(ptr %ctx, i64 %words)
  %full = icmp eq ptr %fresh, null
  br i1 %full, label %done, label %made
made:
  %datap = getelementptr i64, ptr %list, i64 2
  %data = load ptr, ptr %datap, !tbaa !2
  %numbers = mul i64 %count, %width
  %bytes = shl i64 %numbers, 3
  call void @llvm.memcpy.p0.p0.i64(ptr %fresh, ptr %data, i64 %bytes, i1 false)
  store ptr %fresh, ptr %datap, !tbaa !2
  store i64 %larger, ptr %capacityp, !tbaa !2
  br label %done
done:
  ret ptr %fresh
}

define internal i64 @gendsl_mix(i64 %h, i64 %x) alwaysinline {
  %a = xor i64 %h, %x
  %b = mul i64 %a, -7046029254386353131
  %c = lshr i64 %b, 29
  %d = xor i64 %b, %c
  ret i64 %d
}

define internal i1 @gendsl_odd1(double %f, double %x) noinline cold {
  %nan = fcmp uno double %f, 0.0
  %size = call double @llvm.fabs.f64(double %x)
  %missing = fcmp uno double %x, 0.0
  %infinite = fcmp ueq double %size, 0x7FF0000000000000
  %passed = select i1 %nan, i1 %missing, i1 %infinite
  %odd = xor i1 %passed, true
  ret i1 %odd
}

define internal i1 @gendsl_odd2(double %f, double %x, double %y) noinline cold {
  %one = call i1 @gendsl_odd1(double %f, double %x)
  %other = call i1 @gendsl_odd1(double %f, double %y)
  %odd = and i1 %one, %other
  ret i1 %odd
}

define internal {i64, i1} @gendsl_ipow(i64 %x, i64 %n) {
entry:
  %negative = icmp slt i64 %n, 0
  br i1 %negative, label %bad, label %loop
loop:
  %left = phi i64 [%n, %entry], [%half, %square]
  %b = phi i64 [%x, %entry], [%b1, %square]
  %r = phi i64 [1, %entry], [%r1, %square]
  %odd = trunc i64 %left to i1
  %factor = select i1 %odd, i64 %b, i64 1
  %m = call {i64, i1} @llvm.smul.with.overflow.i64(i64 %r, i64 %factor)
  %r1 = extractvalue {i64, i1} %m, 0
  %o = extractvalue {i64, i1} %m, 1
  br i1 %o, label %bad, label %halve
halve:
  %half = lshr i64 %left, 1
  %more = icmp ne i64 %half, 0
  br i1 %more, label %square, label %done
square:
  %s = call {i64, i1} @llvm.smul.with.overflow.i64(i64 %b, i64 %b)
  %b1 = extractvalue {i64, i1} %s, 0
  %so = extractvalue {i64, i1} %s, 1
  br i1 %so, label %bad, label %loop
done:
  %ok = insertvalue {i64, i1} zeroinitializer, i64 %r1, 0
  ret {i64, i1} %ok
bad:
  %no = insertvalue {i64, i1} zeroinitializer, i1 true, 1
  ret {i64, i1} %no
}

define internal double @gendsl_fmod(double %x, double %y) alwaysinline {
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

define internal double @gendsl_ffloordiv(double %x, double %y) alwaysinline {
  %ratio = fdiv double %x, %y
  %r = call double @fmod(double %x, double %y)
  %rest = fcmp une double %r, 0.0
  %rn = fcmp olt double %r, 0.0
  %yn = fcmp olt double %y, 0.0
  %other = xor i1 %rn, %yn
  %differ = and i1 %rest, %other
  %d = fsub double %x, %r
  %q0 = fdiv double %d, %y
  %q1 = fsub double %q0, 1.0
  %q = select i1 %differ, double %q1, double %q0
  %f = call double @llvm.floor.f64(double %q)
  %over = fsub double %q, %f
  %more = fcmp ogt double %over, 0.5
  %f1 = fadd double %f, 1.0
  %whole = select i1 %more, double %f1, double %f
  %none = fcmp oeq double %q, 0.0
  %signed = call double @llvm.copysign.f64(double 0.0, double %ratio)
  %found = select i1 %none, double %signed, double %whole
  %by_zero = fcmp oeq double %y, 0.0
  %result = select i1 %by_zero, double %ratio, double %found
  ret double %result
}
"""
_TBAA = """
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
!22 = !{!"template", !0}
!1 = !{!10, !10, i64 0}
!2 = !{!11, !11, i64 0}
!3 = !{!12, !12, i64 0}
!4 = !{!13, !13, i64 0}
!5 = !{!14, !14, i64 0}
!6 = !{!15, !15, i64 0}
!7 = !{!16, !16, i64 0}
!8 = !{!17, !17, i64 0}
!9 = !{!18, !18, i64 0}
!23 = !{!22, !22, i64 0}
"""
_LOGADDEXP = """
define internal double @gendsl_logaddexp(double %x, double %y) alwaysinline {
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


def literal(value: float | int | bool | None, kind: Kind) -> str:
    """A number as LLVM writes it."""
    if kind == "f":
        assert value is not None
        return f"0x{struct.unpack('>Q', struct.pack('>d', float(value)))[0]:016X}"
    if kind == "b":
        return "true" if value else "false"
    return "null" if kind == "r" else str(value)


def result_type(function: Function) -> str:
    """The LLVM type of what a function returns: the status and the results."""
    return f"{{{', '.join(['i32', *(TYPES[kind] for kind in function.results)])}}}"


def module(functions: Mapping[str, int], draws: Iterable[str], lines: Iterable[str]) -> str:
    """The text of a module.

    Args:
        functions: the functions of numbers that it calls, with how many each takes.
        draws: the methods of generators that it calls.
        lines: its own functions.
    """
    declared = {**functions, "fmod": 2}
    extra = ""
    if declared.pop("gendsl_logaddexp", None):
        declared.update(exp=1, log1p=1)
        extra = _LOGADDEXP
    loops = {name: count for name, count in declared.items() if name.startswith(LOOP)}
    special = {name for name in declared if name.startswith("gendsl_special_")}
    declarations = "\n".join(
        f"declare double @{name}({', '.join(['double'] * count + ['i32'] * (name in special))})"
        " nounwind willreturn memory(none)"
        for name, count in declared.items()
        if name not in loops
    )
    return "\n".join(
        [
            _PRELUDE,
            vector_math.DECLARATIONS,
            extra,
            declarations,
            ufunc_loops.text(loops),
            *(DECLARATIONS[name] for name in sorted(draws)),
            *lines,
            _TBAA,
            '!20 = !{!"branch_weights", i32 1, i32 100000}',
            '!21 = !{!"branch_weights", i32 1000, i32 1}',
            "",
        ]
    )
