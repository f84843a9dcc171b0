"""Expressions as LLVM IR, with the checks that Python makes: of divisions, overflow and domains."""

from __future__ import annotations

from gendsl.compiler.hir import Const, Expr, Input, Op, Var
from gendsl.compiler.hir.failures import NotClosed
from gendsl.compiler.hir.machine import LOOP, math_symbol
from gendsl.compiler.llvm import ufunc_loops
from gendsl.compiler.llvm.native_layout import FAILED
from gendsl.compiler.llvm.text import TYPES, literal
from gendsl.compiler.llvm.writer import Writer

COMPARE = {"lt": ("olt", "slt"), "le": ("ole", "sle"), "gt": ("ogt", "sgt"), "ge": ("oge", "sge"), "eq":
("oeq", "eq"),
            "ne": ("une", "ne")}  # fmt: skip
FLOAT_OPERATIONS = {"add": "fadd", "sub": "fsub", "mul": "fmul", "truediv": "fdiv", "np_div": "fdiv"}
_CHECKED = {"add": "sadd", "sub": "ssub", "mul": "smul"}


def more_of(symbol: str) -> str:
    """What a function is called with besides numbers: Cython's own last argument."""
    return ", i32 0" if symbol.startswith("gendsl_special_") else ""


class Expressions(Writer):
    """Writes expressions."""

    def expr(self, expr: Expr, line: int = 0) -> str:
        """The value of an expression."""
        match expr:
            case Const(value=value, kind=kind):
                return literal(value, kind)
            case Var(kind=kind):
                return self.let(f"load {TYPES[kind]}, ptr {self.alloca(expr)}")
            case Input(kind=kind):
                return self.word(self.layout.input_word(expr), kind)
        args = [self.expr(arg, line) for arg in expr.args]
        return self.op(expr, args, line)

    def op(self, expr: Op, args: list[str], line: int) -> str:
        """An operation."""
        name, kind = expr.name, expr.kind
        inner = expr.args[0].kind
        if name in COMPARE:
            if inner == "f":
                return self.let(f"fcmp {COMPARE[name][0]} double {args[0]}, {args[1]}")
            return self.let(f"icmp {COMPARE[name][1]} {TYPES[inner]} {args[0]}, {args[1]}")
        if kind == "f" and name in FLOAT_OPERATIONS:
            if name == "truediv":
                self.divisor(args[1], line)
            return self.let(f"{FLOAT_OPERATIONS[name]} double {args[0]}, {args[1]}")
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
                type_ = TYPES[kind]
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
                self.divisor(args[1], line)
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
            case "np_floor" | "np_ceil" | "np_rint":
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

    def divisor(self, value: str, line: int) -> None:
        """Fail where something is divided by zero."""
        self.fail_if(self.let(f"fcmp oeq double {value}, 0.0"), "a division by zero", line)

    def _function(self, name: str, args: list[str], line: int) -> str:
        symbol = math_symbol(name)
        if self.is_exact and ufunc_loops.has_loop(name):
            symbol = f"{LOOP}{name.removeprefix('np_')}"
        assert symbol is not None, name
        if symbol.startswith(LOOP) and not ufunc_loops.has_loop(name):
            raise NotClosed(f"{name.removeprefix('np_')}, whose loop is not known here")
        raises = ufunc_loops.may_raise(name)
        if raises and self.is_exact:  # what a chain calls, which does not hold Python's lock
            raise NotClosed(f"{name.removeprefix('np_')}, which may raise an error")
        self.declared[symbol] = len(args)
        given = ", ".join(f"double {arg}" for arg in args)
        as_it_is = " nobuiltin" if self.is_exact else ""  # a square by `pow` is no product
        found = self.let(f"call double @{symbol}({given}{more_of(symbol)}){as_it_is}")
        if name.startswith("np_"):
            if raises:
                self.fail_if(self.let("call i1 @gendsl_raised()"), f"an error that {name[3:]} raises", line)
            return found
        # Python's functions raise where a finite number gives none, or a number gives a NaN
        size = self.let(f"call double @llvm.fabs.f64(double {found})")
        wrong = self.let(f"fcmp ueq double {size}, 0x7FF0000000000000")
        check, good = self.label("check"), self.label("ok")
        self.add(f"br i1 {wrong}, label %{check}, label %{good}, !prof !20")
        self.start(check)
        given = ", ".join(f"double {value}" for value in (found, *args))
        odd = self.let(f"call i1 @gendsl_odd{len(args)}({given})")
        self.add(
            f"br i1 {odd}, label %{self._end_of(f'{name} out of its domain', line, FAILED)}, label %{good}"
        )
        self.start(good)
        return found

    def _checked(self, call: str, line: int) -> str:
        """An operation on integers, that fails where they get too large; what texts share is known not to."""
        both = self.let(call)
        if not self.is_shared:
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
