"""What varies over lanes in LLVM IR: vectors, masks, and operations on them; see `lanes`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from gendsl.compiler import hir
from gendsl.compiler.hir import Const, Expr, Kind, Op, Var
from gendsl.compiler.hir.machine import LANES, math_symbol
from gendsl.compiler.llvm import ufunc_loops
from gendsl.compiler.llvm.expressions import COMPARE, FLOAT_OPERATIONS, more_of
from gendsl.compiler.llvm.statements import Statements
from gendsl.compiler.llvm.text import TAG, TYPES, literal
from gendsl.compiler.llvm.vector_math import (
    BITS,
    FLOATS,
    GATHERED,
    INTEGERS,
    POINTERS,
    function,
    is_vector,
    name_of,
    odd,
    splat,
)
from gendsl.compiler.passes.axes_facts import CONSECUTIVE, UNIFORM, VARYING, Lanes, Path

_KINDS = {"f": "F", "i": "I", "b": "B", "r": "R"}
"""The kinds of variables that vary; truth values are kept as the mask is."""
VECTORS = {"f": FLOATS, "i": INTEGERS, "b": BITS, "r": POINTERS}
COUNTING = f"<{', '.join(f'i64 {lane}' for lane in range(LANES))}>"
_MASK = Var(".mask", "B")
_CHECKED = {"add": "sadd", "sub": "ssub"}


def _parts(ref: Var) -> tuple[Var, Var]:
    """How many items lists have that a variable is in each lane, and where they are."""
    return Var(f"{ref.name}.size", "i"), Var(f"{ref.name}.data", "r")


class LaneValues:
    """Writes vectors, and operations on them.

    Attributes:
        to: what prints the function that the loop is in.
        lanes: what is known of what is printed.
        odds: of how many numbers functions are whose domain is looked at.
        symbols: the functions of numbers that are called on lanes, with how many each takes.
    """

    def __init__(self, to: Statements) -> None:
        self.to = to
        self.symbols: dict[str, int] = {}
        self.odds: set[int] = set()
        self.lanes = Lanes({})

    # --- vectors ------------------------------------------------------------------------------------

    def _let(self, text: str) -> str:
        return self.to.let(text)

    def _spread(self, value: str, kind: Kind) -> str:
        """The same value in all lanes."""
        type_, vector = TYPES[kind], VECTORS[kind]
        one = self._let(f"insertelement {vector} poison, {type_} {value}, i64 0")
        return self._let(f"shufflevector {vector} {one}, {vector} poison, <{LANES} x i32> zeroinitializer")

    def _count_from(self, first: str) -> str:
        """An integer that is one larger in each lane."""
        return self._let(f"add {INTEGERS} {self._spread(first, 'i')}, {COUNTING}")

    def mask(self) -> str:
        """Which lanes are active, as numbers."""
        return self._let(f"load {INTEGERS}, ptr {self.to.alloca(_MASK)}")

    def _set_mask(self, mask: str) -> None:
        self.to.add(f"store {INTEGERS} {mask}, ptr {self.to.alloca(_MASK)}")

    def _stop(self) -> None:
        """No lane is active any more, in what is left of a body."""
        self._set_mask("zeroinitializer")

    def _bits(self, mask: str) -> str:
        """A mask as truth values."""
        return self._let(f"icmp slt {INTEGERS} {mask}, zeroinitializer")

    def _kept(self, bits: str) -> str:
        """Truth values as a mask."""
        return self._let(f"sext {BITS} {bits} to {INTEGERS}")

    def _any(self, mask: str) -> str:
        """Whether a mask has a lane."""
        return self._let(f"icmp ne i{LANES} {self._number(mask)}, 0")

    def _number(self, mask: str) -> str:
        """A mask as an integer, with one bit for each lane."""
        return self._let(f"bitcast {BITS} {self._bits(mask)} to i{LANES}")

    def _where(self, bits: str) -> str:
        """The mask of the active lanes for which something holds."""
        return self._let(f"select {BITS} {bits}, {INTEGERS} {self.mask()}, {INTEGERS} zeroinitializer")

    def _fail_if(self, bits: str, reason: str, line: int) -> None:
        self.to.fail_if(self._any(self._where(bits)), reason, line)

    def load(self, var: Var) -> str:
        """A variable that varies."""
        found = self._let(f"load {self._memory(var.kind)}, ptr {self._place(var)}")
        return self._bits(found) if var.kind == "b" else found

    @staticmethod
    def _memory(kind: Kind) -> str:
        return INTEGERS if kind == "b" else VECTORS[kind]

    def _place(self, var: Var) -> str:
        return self.to.alloca(Var(f"{var.name}.lanes", _KINDS[var.kind]))

    def assign(self, var: Var, value: str, *, blended: bool) -> None:
        """Set a variable that varies, in the active lanes alone if others may read it."""
        self._put(var, value, blended=blended)
        if var.kind == "r":
            self.look_at(var, value, blended=blended)

    def _put(self, var: Var, value: str, *, blended: bool) -> None:
        type_ = self._memory(var.kind)
        if var.kind == "b":
            value = self._kept(value)
        if blended:
            before = self._let(f"load {type_}, ptr {self._place(var)}")
            value = self._let(f"select {BITS} {self._bits(self.mask())}, {type_} {value}, {type_} {before}")
        self.to.add(f"store {type_} {value}, ptr {self._place(var)}")

    def look_at(self, var: Var, refs: str, *, blended: bool) -> None:
        """Keep where the items are of lists that lanes have each their own of, and how many."""
        if self.lanes.resized:
            return
        some = self._let(f"icmp ne {POINTERS} {refs}, zeroinitializer")
        there = self._bits(self._where(some))
        size, data = _parts(var)
        places = self.behind(refs, splat("2", "i64"))
        self._put(size, self.gathered(refs, "i", there, "!2"), blended=blended)
        self._put(data, self.gathered(places, "r", there), blended=blended)

    def own_list(self, ref: Expr, line: int) -> tuple[str, str]:
        """How many items lists have that lanes have each their own of, and where these are."""
        if isinstance(ref, Var) and not self.lanes.resized:
            size, data = _parts(ref)
            return self.load(size), self.load(data)
        refs, active = self.vector(ref, line), self._bits(self.mask())
        places = self.behind(refs, splat("2", "i64"))
        return self.gathered(refs, "i", active, "!2"), self.gathered(places, "r", active)

    def behind(self, pointers: str, offsets: str) -> str:
        """Places behind pointers, of which each lane has its own."""
        return self._let(f"getelementptr i64, {POINTERS} {pointers}, {INTEGERS} {offsets}")

    def gathered(self, pointers: str, kind: Kind, there: str, tag: str | None = None) -> str:
        """What lies at several places, one for each lane; 0 where lanes are not there."""
        word = INTEGERS if kind == "b" else VECTORS[kind]
        name = f"v{LANES}{GATHERED.get(kind, 'i64')}.v{LANES}p0"
        given = f"{POINTERS} {pointers}, i32 8, {BITS} {there}, {word} zeroinitializer"
        found = self._let(f"call {word} @llvm.masked.gather.{name}({given}), !tbaa {tag or TAG[kind]}")
        if kind == "b":
            return self._let(f"icmp ne {INTEGERS} {found}, zeroinitializer")
        return found

    def _set(self, target: Var, value: str, path: Path) -> None:
        self.assign(target, value, blended=self.lanes.homes.get(target, ()) != path)

    def _also_varying(self, statement: hir.Statement, path: Path) -> None:
        """What is set to one value for all lanes here may be set to others elsewhere."""
        for target in hir.targets(statement):
            if self.lanes.rank(target) == VARYING:
                self._set(target, self._spread(self.to.expr(target), target.kind), path)

    def vector(self, expr: Expr, line: int) -> str:
        """The value of an expression in all lanes."""
        rank = self.lanes.rank(expr)
        if rank == UNIFORM:
            if isinstance(expr, Const) and expr.kind != "r":
                return splat(literal(expr.value, expr.kind), TYPES[expr.kind])
            return self._spread(self.to.expr(expr, line), expr.kind)
        if rank == CONSECUTIVE:
            return self._count_from(self.first(expr, line))
        if isinstance(expr, Var):
            return self.load(expr)
        assert isinstance(expr, Op)
        return self.op(expr, line)

    def first(self, expr: Expr, line: int) -> str:
        """What is consecutive, in the first lane."""
        if isinstance(expr, Var):
            return self.to.expr(expr, line)
        assert isinstance(expr, Op)
        found = self.to.op(expr, [self.to.expr(arg, line) for arg in expr.args], line)
        last = self._let(f"call {{i64, i1}} @llvm.sadd.with.overflow.i64(i64 {found}, i64 {LANES - 1})")
        self.to.fail_if(
            self._let(f"extractvalue {{i64, i1}} {last}, 1"), "an integer of more than 64 bits", line
        )
        return found

    # --- operations ---------------------------------------------------------------------------------

    def op(self, expr: Op, line: int) -> str:
        """An operation on vectors."""
        name, kind, inner = expr.name, expr.kind, expr.args[0].kind
        if name == "select" and self.lanes.rank(expr.args[0]) == UNIFORM:
            test = self.to.expr(expr.args[0], line)
            one, other = (self.vector(arg, line) for arg in expr.args[1:])
            return self._let(f"select i1 {test}, {VECTORS[kind]} {one}, {VECTORS[kind]} {other}")
        args = [self.vector(arg, line) for arg in expr.args]
        let, type_ = self._let, VECTORS[inner]
        if name in COMPARE:
            test = f"fcmp {COMPARE[name][0]}" if inner == "f" else f"icmp {COMPARE[name][1]}"
            return let(f"{test} {type_} {args[0]}, {args[1]}")
        if kind == "f" and name in FLOAT_OPERATIONS:
            if name == "truediv" and self.lanes.rank(expr.args[1]) == UNIFORM:
                self.to.divisor(self.to.expr(expr.args[1], line), line)
            elif name == "truediv":
                zero = let(f"fcmp oeq {FLOATS} {args[1]}, zeroinitializer")
                self._fail_if(zero, "a division by zero", line)
            return let(f"{FLOAT_OPERATIONS[name]} {FLOATS} {args[0]}, {args[1]}")
        if kind == "i" and name == "mul":
            return self._product(args, line)
        if kind == "i" and name in _CHECKED:
            return self._checked(_CHECKED[name], args, line)
        match name:
            case "and" | "or":
                return let(f"{name} {BITS} {args[0]}, {args[1]}")
            case "not":
                return let(f"xor {BITS} {args[0]}, {splat('true', 'i1')}")
            case "select":
                return let(f"select {BITS} {args[0]}, {VECTORS[kind]} {args[1]}, {VECTORS[kind]} {args[2]}")
            case "neg" if kind == "f":
                return let(f"fneg {FLOATS} {args[0]}")
            case "abs" if kind == "f":
                return self._size(args[0])
            case "detached":
                return args[0]
            case "float":
                given = f"uitofp {BITS}" if inner == "b" else f"sitofp {INTEGERS}"
                return let(f"{given} {args[0]} to {FLOATS}")
            case "int" if inner == "b":
                return let(f"zext {BITS} {args[0]} to {INTEGERS}")
            case "bool" if inner == "f":
                return let(f"fcmp une {FLOATS} {args[0]}, zeroinitializer")
            case "bool":
                return let(f"icmp ne {INTEGERS} {args[0]}, zeroinitializer")
            case "imin" | "imax":
                test = let(f"icmp {'slt' if name == 'imin' else 'sgt'} {INTEGERS} {args[0]}, {args[1]}")
                return let(f"select {BITS} {test}, {INTEGERS} {args[0]}, {INTEGERS} {args[1]}")
            case "bitand" | "bitor" | "bitxor":
                return let(f"{name[3:]} {INTEGERS} {args[0]}, {args[1]}")
            case "isnan":
                return let(f"fcmp uno {FLOATS} {args[0]}, zeroinitializer")
            case "isinf" | "isfinite":
                infinite = splat("0x7FF0000000000000")
                test = "oeq" if name == "isinf" else "one"
                return let(f"fcmp {test} {FLOATS} {self._size(args[0])}, {infinite}")
            case "np_maximum" | "np_minimum":
                test = let(f"fcmp {'ogt' if name == 'np_maximum' else 'olt'} {FLOATS} {args[0]}, {args[1]}")
                nan = let(f"fcmp uno {FLOATS} {args[0]}, zeroinitializer")
                either = let(f"or {BITS} {test}, {nan}")
                return let(f"select {BITS} {either}, {FLOATS} {args[0]}, {FLOATS} {args[1]}")
        symbol = math_symbol(name)
        if symbol is not None and not ufunc_loops.may_raise(name):
            return self._function(expr, symbol, args, line)
        return self._each(expr, args, line)

    def _size(self, value: str) -> str:
        return self._let(f"call {FLOATS} @llvm.fabs.v{LANES}f64({FLOATS} {value})")

    def _product(self, args: Sequence[str], line: int) -> str:
        """A product of integers: processors have no vector code that finds out whether one is too large."""
        to, half = self.to, splat(str(1 << 31), "i64")
        moved = [self._let(f"add {INTEGERS} {arg}, {half}") for arg in args]
        both = self._let(f"or {INTEGERS} {moved[0]}, {moved[1]}")
        large = self._let(f"icmp uge {INTEGERS} {both}, {splat(str(1 << 32), 'i64')}")
        found, before = self._let(f"mul {INTEGERS} {args[0]}, {args[1]}"), to.block
        check, good = to.label("check"), to.label("ok")
        to.add(f"br i1 {self._any(self._where(large))}, label %{check}, label %{good}, !prof !20")
        to.start(check)
        exact = self._checked("smul", args, line)
        end = to.block
        to.add(f"br label %{good}")
        to.start(good)
        return self._let(f"phi {INTEGERS} [{found}, %{before}], [{exact}, %{end}]")

    def _checked(self, name: str, args: Sequence[str], line: int) -> str:
        type_ = f"{{{INTEGERS}, {BITS}}}"
        given = ", ".join(f"{INTEGERS} {arg}" for arg in args)
        both = self._let(f"call {type_} @llvm.{name}.with.overflow.v{LANES}i64({given})")
        overflow = self._let(f"extractvalue {type_} {both}, 1")
        self._fail_if(overflow, "an integer of more than 64 bits", line)
        return self._let(f"extractvalue {type_} {both}, 0")

    def _function(self, expr: Op, symbol: str, args: list[str], line: int) -> str:
        """A function of numbers; Python's own raise where NumPy's give an infinity or a NaN.

        Vector code gives finite numbers in the lanes that it does not leave.
        """
        to, given = self.to, ", ".join(f"{FLOATS} {arg}" for arg in args)
        one_by_one = f"call {FLOATS} @{name_of(symbol)}_one_by_one({given}"
        if symbol == "sqrt":
            found, left = self._let(f"call {FLOATS} @llvm.sqrt.v{LANES}f64({given})"), self.mask()
        else:
            to.declared[symbol] = self.symbols[symbol] = len(args)
            if is_vector(symbol):
                type_ = f"{{{FLOATS}, {INTEGERS}}}"
                both = self._let(f"call {type_} @{name_of(symbol)}({given}, {INTEGERS} {self.mask()})")
                found, left = (self._let(f"extractvalue {type_} {both}, {i}") for i in range(2))
            else:
                left = self.mask()
                found = self._let(f"{one_by_one}, {FLOATS} zeroinitializer, {INTEGERS} {left})")
        quiet = expr.name.startswith("np_")
        if not is_vector(symbol):
            if quiet:
                return found
            wrong = self._let(f"fcmp ueq {FLOATS} {self._size(found)}, {splat('0x7FF0000000000000')}")
            left = self._let(f"select {BITS} {wrong}, {INTEGERS} {left}, {INTEGERS} zeroinitializer")
        before, check, good = to.block, to.label("check"), to.label("ok")
        to.add(f"br i1 {self._any(left)}, label %{check}, label %{good}, !prof !20")
        to.start(check)
        exact = found
        if is_vector(symbol):
            exact = self._let(f"{one_by_one}, {FLOATS} {found}, {INTEGERS} {left})")
        if not quiet:
            self.odds.add(len(args))
            odd = f"call i1 @gendsl_lanes_odd{len(args)}({FLOATS} {exact}, {given}, {INTEGERS} {left})"
            to.fail_if(self._let(odd), f"{expr.name} out of its domain", line)
        end = to.block
        to.add(f"br label %{good}")
        to.start(good)
        return self._let(f"phi {FLOATS} [{found}, %{before}], [{exact}, %{end}]")

    @contextmanager
    def _lanes_of(self, mask: str) -> Iterator[str]:
        """What is done for each lane of a mask, one after another."""
        left = self.to.variable("left", "i")
        self.to.add(f"store i64 {self._let(f'zext i{LANES} {self._number(mask)} to i64')}, ptr {left}")
        head, inside, after = self.to.label("head"), self.to.label("lane"), self.to.label("after")
        self.to.add(f"br label %{head}")
        self.to.start(head)
        bits = self._let(f"load i64, ptr {left}")
        self.to.add(f"br i1 {self._let(f'icmp ne i64 {bits}, 0')}, label %{inside}, label %{after}")
        self.to.start(inside)
        yield self._let(f"call i64 @llvm.cttz.i64(i64 {bits}, i1 true)")
        less = self._let(f"sub i64 {bits}, 1")
        self.to.add(f"store i64 {self._let(f'and i64 {bits}, {less}')}, ptr {left}")
        self.to.add(f"br label %{head}")
        self.to.start(after)

    def _each(self, expr: Op, args: list[str], line: int) -> str:
        """An operation that there is no vector code for: lane by lane."""
        where = self.to.alloca(Var(f".each{self.to.count}", _KINDS[expr.kind]))
        memory = self._memory(expr.kind)
        self.to.add(f"store {memory} zeroinitializer, ptr {where}")
        with self._lanes_of(self.mask()) as lane:
            given = [
                self._let(f"extractelement {VECTORS[arg.kind]} {value}, i64 {lane}")
                for arg, value in zip(expr.args, args, strict=True)
            ]
            found = self.to.op(expr, given, line)
            if expr.kind == "b":
                found = self._let(f"sext i1 {found} to i64")
            one = memory.split(" x ")[1][:-1]
            before = self._let(f"load {memory}, ptr {where}")
            after = self._let(f"insertelement {memory} {before}, {one} {found}, i64 {lane}")
            self.to.add(f"store {memory} {after}, ptr {where}")
        result = self._let(f"load {memory}, ptr {where}")
        return self._bits(result) if expr.kind == "b" else result

    def _total(self, vector: str) -> str:
        """The sum of the lanes, in pairs."""
        found = [self._let(f"extractelement {FLOATS} {vector}, i64 {lane}") for lane in range(LANES)]
        while len(found) > 1:
            half = len(found) // 2
            found = [self._let(f"fadd double {found[i]}, {found[i + half]}") for i in range(half)]
        return found[0]

    def texts(self) -> list[str]:
        """The functions of numbers, on lanes, that were called."""
        found = [function(symbol, count, more_of(symbol)) for symbol, count in sorted(self.symbols.items())]
        return found + [odd(count) for count in sorted(self.odds)]
