"""What BLAS and LAPACK compute of large matrices, as LLVM IR; `front.linear` says in place of what.

They are called by pointer (`native_linear`), in Fortran's way: all arguments are pointers, integers have 32
bits, and an entry lies one behind that of the row above it. So a matrix of ours whose rows lie one behind
another is the transpose of one of theirs:

    X A = B  of theirs   is   Aᵀ Xᵀ = Bᵀ  of ours.

A function begins with a test: what follows it are its own statements, for matrices that are small, or whose
rows and columns are neither one behind another. Where LAPACK finds a matrix singular or not positive
definite, the text fails, as it would in its own statements.
"""

from __future__ import annotations

from dataclasses import dataclass

from gendsl.compiler.hir import Function, Linear, Var
from gendsl.compiler.hir.linear_python import LEAST
from gendsl.compiler.llvm.lists import Lists
from gendsl.compiler.llvm.text import TYPES

ROUTINES = {"dgemm": 13, "dgemv": 11, "dtrsm": 11, "dtrsv": 8, "dpotrf": 5, "dgetrf": 6}
"""What is called of BLAS and LAPACK, with how many arguments each takes."""
DECLARATIONS = {
    name: f"declare void @gendsl_lapack_{name}({', '.join(['ptr'] * count)}) nounwind"
    for name, count in ROUTINES.items()
}


@dataclass(frozen=True, slots=True)
class _Array:
    """An array of floats: where its entries are, its shape and strides."""

    data: str
    shape: list[str]
    strides: list[str]


class LinearPrinter:
    """Prints what BLAS and LAPACK compute in place of functions.

    Attributes:
        called: the routines that are called.
    """

    def __init__(self, to: Lists) -> None:
        self.to = to
        self.called: set[str] = set()

    def begin(self, function: Function, linear: Linear) -> None:
        """Return what BLAS and LAPACK compute where that is faster; a function goes on where it is not."""
        to = self.to
        arrays, at = [], 0
        for rank in linear.ranks:
            values = [f"%p{at + i}" for i in range(2 + 2 * rank)]
            arrays.append((values, rank))
            at += len(values)
        further = [f"%p{i}" for i in range(at, len(function.parameters))]
        shapes = [values[2 : 2 + rank] for values, rank in arrays]
        large = self._all([self._is_large(linear.name, shapes), *(self._is_regular(one) for one in arrays)])
        library, own = to.label("library"), to.label("own")
        to.add(f"br i1 {large}, label %{library}, label %{own}")
        to.start(library)
        found = [self._array(values, rank) for values, rank in arrays]
        flags = dict(linear.flags)
        match linear.name:
            case "cholesky":
                results = self._cholesky(found[0])
            case "factored":
                results = self._factored(found[0])
            case "substituted":
                results = self._substituted(found[0], found[1], further)
            case "triangular":
                made, x = self._copied(found[1])
                way = flags["lower"], flags["transposed"], flags["is_unit"]
                self._solve_triangle(found[0], x, *way)
                results = [made, "0", *x.shape, *x.strides]
            case _:
                results = self._product(*found)
        value = "zeroinitializer"
        for i, (kind, leaf) in enumerate(zip(function.results, results, strict=True)):
            value = to.let(f"insertvalue {to.result_type} {value}, {TYPES[kind]} {leaf}, {i + 1}")
        to.add(f"ret {to.result_type} {value}")
        to.start(own)

    # --- tests ------------------------------------------------------------------------------------

    def _all(self, tests: list[str]) -> str:
        found = tests[0]
        for test in tests[1:]:
            found = self.to.let(f"and i1 {found}, {test}")
        return found

    def _is_large(self, name: str, shapes: list[list[str]]) -> str:
        """Whether matrices are large enough, and fit to each other."""
        to, (n, columns) = self.to, shapes[0]
        least = LEAST[name][len(shapes[-1]) - 1]
        if name == "product":
            tests = [to.let(f"icmp eq i64 {columns}, {shapes[1][0]}")]
            work = to.let(f"mul i64 {n}, {columns}")
            work = to.let(f"mul i64 {work}, {shapes[1][1]}") if len(shapes[1]) == 2 else work
            return self._all([*tests, to.let(f"icmp sge i64 {work}, {least ** (1 + len(shapes[1]))}")])
        tests = [to.let(f"icmp eq i64 {n}, {columns}"), to.let(f"icmp sge i64 {n}, {least}")]
        for other in shapes[1:]:
            tests.append(to.let(f"icmp eq i64 {other[0]}, {n}"))
            tests += [to.let(f"icmp sgt i64 {length}, 0") for length in other[1:]]
        return self._all(tests)

    def _is_regular(self, array: tuple[list[str], int]) -> str:
        """Whether the entries of a vector, or the rows or columns of a matrix, lie one behind another."""
        to, (values, rank) = self.to, array
        shape, strides = values[2 : 2 + rank], values[2 + rank :]
        if rank == 1:
            return to.let(f"icmp sge i64 {strides[0]}, 1")
        found = []
        for one, other in ((0, 1), (1, 0)):
            single = to.let(f"icmp eq i64 {strides[other]}, 1")
            apart = to.let(f"icmp sge i64 {strides[one]}, {shape[other]}")
            found.append(to.let(f"and i1 {single}, {apart}"))
        return to.let(f"or i1 {found[0]}, {found[1]}")

    # --- arrays -----------------------------------------------------------------------------------

    def _array(self, values: list[str], rank: int) -> _Array:
        """An array, all of whose entries are in its list."""
        to, shape, strides = self.to, values[2 : 2 + rank], values[2 + rank :]
        last = values[1]
        for n, stride in zip(shape, strides, strict=True):
            steps = to.let(f"mul i64 {to.let(f'sub i64 {n}, 1')}, {stride}")
            last = to.let(f"add i64 {last}, {steps}")
        length = to.let(f"load i64, ptr {values[0]}, !tbaa !2")
        to.fail_if(to.let(f"icmp uge i64 {last}, {length}"), "an index out of range")
        data = to.let(f"load ptr, ptr {to.header(values[0], 2)}, !tbaa !2")
        return _Array(to.let(f"getelementptr double, ptr {data}, i64 {values[1]}"), shape, strides)

    def _made(self, shape: list[str]) -> tuple[str, _Array]:
        """A new array: the reference to its list, and itself."""
        to = self.to
        size = shape[0] if len(shape) == 1 else to.let(f"mul i64 {shape[0]}, {shape[1]}")
        var = Var(f".matrix{to.count}", "r")
        data = to.make_list(var, size, size, 1)
        strides = ["1"] if len(shape) == 1 else [shape[1], "1"]
        return to.let(f"load ptr, ptr {to.alloca(var)}"), _Array(data, shape, strides)

    def _entry(self, array: _Array, *at: str) -> str:
        """The pointer to an entry."""
        to, place = self.to, "0"
        for index, stride in zip(at, array.strides, strict=True):
            step = index if stride == "1" else to.let(f"mul i64 {index}, {stride}")
            place = step if place == "0" else to.let(f"add i64 {place}, {step}")
        return to.let(f"getelementptr double, ptr {array.data}, i64 {place}")

    def _move(self, into: _Array, to_: tuple[str, ...], source: _Array, from_: tuple[str, ...]) -> None:
        """Copy an entry."""
        value = self.to.load_word(self._entry(source, *from_), "f")
        self.to.store_word(self._entry(into, *to_), value, "f")

    def _copied(self, source: _Array, order: list[str] | None = None) -> tuple[str, _Array]:
        """A copy of an array; in another order of its rows, if one is given as the leaves of an array."""
        to = self.to
        made, into = self._made(source.shape)
        with to.each(source.shape[0]) as i:
            row = i
            if order is not None:
                numbers = to.let(f"load ptr, ptr {to.header(order[0], 2)}, !tbaa !2")
                step = to.let(f"mul i64 {i}, {order[3]}")
                place = to.let(f"add i64 {step}, {order[1]}")
                row = to.load_word(to.let(f"getelementptr i64, ptr {numbers}, i64 {place}"), "i")
            if len(source.shape) == 1:
                self._move(into, (i,), source, (row,))
            else:
                with to.each(source.shape[1]) as j:
                    self._move(into, (i, j), source, (row, j))
        return made, into

    def _theirs(self, matrix: _Array) -> tuple[str, str]:
        """Whether a matrix is theirs as it is, not its transpose; how far their columns are from another.

        Both strides of a row may be 1, as those of the transpose of one column are: its rows don't lie one
        behind another then, its columns do.
        """
        to, (rows_apart, columns_apart) = self.to, matrix.strides
        single = to.let(f"icmp eq i64 {columns_apart}, 1")
        wide = to.let(f"icmp sge i64 {rows_apart}, {matrix.shape[1]}")
        is_transposed = to.let(f"and i1 {single}, {wide}")
        apart = to.let(f"select i1 {is_transposed}, i64 {rows_apart}, i64 {columns_apart}")
        return to.let(f"xor i1 {is_transposed}, true"), apart

    # --- calls ------------------------------------------------------------------------------------

    def _call(self, name: str, *args: tuple[str, str]) -> list[str]:
        """Call a routine; what is behind the pointers that it was given.

        Args:
            args: a type and a value each; pointers themselves are given as they are.
        """
        to, given = self.to, []
        self.called.add(name)
        for type_, value in args:
            if type_ == "ptr":
                given.append(value)
                continue
            where = to.alloca(Var(f".given{to.count}_{len(given)}", "i"))
            if type_ == "i32":
                value = to.let(f"trunc i64 {value} to i32")
            to.add(f"store {type_} {value}, ptr {where}")
            given.append(where)
        to.add(f"call void @gendsl_lapack_{name}({', '.join(f'ptr {one}' for one in given)})")
        return given

    def _either(self, test: str, yes: str, no: str) -> tuple[str, str]:
        """One of two letters."""
        return "i8", self.to.let(f"select i1 {test}, i8 {ord(yes)}, i8 {ord(no)}")

    def _solve_triangle(
        self, a: _Array, x: _Array, lower: bool, transposed: bool, is_unit: bool, into: str = ""
    ) -> None:
        """Replace x, whose rows lie one behind another, by the solution of a x = b, or aᵀ x = b."""
        to, n = self.to, a.shape[0]
        if not is_unit:
            with to.each(n) as i:
                value = to.load_word(self._entry(a, i, i), "f")
                to.fail_if(to.let(f"fcmp oeq double {value}, 0.0"), "a singular matrix")
        as_it_is, apart = self._theirs(a)
        triangle = self._either(as_it_is, *("LU" if lower else "UL"))
        unit = ("i8", str(ord("U" if is_unit else "N")))
        a_given = ("ptr", a.data), ("i32", apart)
        if len(x.shape) == 1:
            turned = self._either(as_it_is, *("TN" if transposed else "NT"))
            self._call("dtrsv", triangle, turned, unit, ("i32", n), *a_given, ("ptr", x.data), ("i32", "1"))
            return
        turned, columns = self._either(as_it_is, *("NT" if transposed else "TN")), x.shape[1]
        self._call(
            "dtrsm", ("i8", str(ord("R"))), triangle, turned, unit, ("i32", columns), ("i32", n),
            ("double", "1.0"), *a_given, ("ptr", x.data), ("i32", columns),
        )  # fmt: skip

    # --- operations -------------------------------------------------------------------------------

    def _cholesky(self, a: _Array) -> list[str]:
        to, n = self.to, a.shape[0]
        made, lower = self._made([n, n])
        with to.each(n) as i:
            after = to.let(f"add i64 {i}, 1")
            with to.each(after) as j:
                self._move(lower, (i, j), a, (i, j))
            with to.each(n, after) as j:
                to.store_word(self._entry(lower, i, j), "0.0", "f")
        given = self._call(
            "dpotrf", ("i8", str(ord("U"))), ("i32", n), ("ptr", lower.data), ("i32", n), ("i32", "0")
        )
        info = to.let(f"load i32, ptr {given[4]}")
        to.fail_if(to.let(f"icmp ne i32 {info}, 0"), "a matrix that is not positive definite")
        with to.each(n) as i:  # not a number passes LAPACK's own test
            value = to.load_word(self._entry(lower, i, i), "f")
            to.fail_if(to.let(f"fcmp ule double {value}, 0.0"), "a matrix that is not positive definite")
        return [made, "0", *lower.shape, *lower.strides]

    def _factored(self, a: _Array) -> list[str]:
        """L and U in one matrix, the order of the rows, and its sign."""
        to, n = self.to, a.shape[0]
        made, turned = self._made([n, n])
        lu = _Array(turned.data, [n, n], ["1", n])
        with to.each(n) as j, to.each(n) as i:
            self._move(lu, (i, j), a, (i, j))
        var = Var(f".order{to.count}", "r")
        order = to.make_list(var, n, n, 1)
        swaps = to.allocate(n)
        self._call(
            "dgetrf", ("i32", n), ("i32", n), ("ptr", lu.data), ("i32", n), ("ptr", swaps), ("i32", "0")
        )
        sign = to.variable("sign", "f", "1.0")
        with to.each(n) as i:
            to.store_word(to.let(f"getelementptr i64, ptr {order}, i64 {i}"), i, "i")
        with to.each(n) as i:
            row = to.let(f"load i32, ptr {to.let(f'getelementptr i32, ptr {swaps}, i64 {i}')}")
            other = to.let(f"sub i64 {to.let(f'sext i32 {row} to i64')}, 1")
            with to.when(to.let(f"icmp ne i64 {other}, {i}")):
                places = [to.let(f"getelementptr i64, ptr {order}, i64 {one}") for one in (i, other)]
                first, second = (to.load_word(place, "i") for place in places)
                to.store_word(places[0], second, "i")
                to.store_word(places[1], first, "i")
                before = to.let(f"load double, ptr {sign}")
                to.add(f"store double {to.let(f'fneg double {before}')}, ptr {sign}")
        ref = to.let(f"load ptr, ptr {to.alloca(var)}")
        found = to.let(f"load double, ptr {sign}")
        return [made, "0", *lu.shape, *lu.strides, ref, "0", n, "1", found]

    def _substituted(self, lu: _Array, b: _Array, order: list[str]) -> list[str]:
        made, x = self._copied(b, order)
        self._solve_triangle(lu, x, lower=True, transposed=False, is_unit=True)
        self._solve_triangle(lu, x, lower=False, transposed=False, is_unit=False)
        return [made, "0", *x.shape, *x.strides]

    def _product(self, a: _Array, b: _Array) -> list[str]:
        """Of two matrices of ours theirs is bᵀ aᵀ."""
        to, (n, inner) = self.to, a.shape
        made, product = self._made([n, *b.shape[1:]])
        a_is, a_apart = self._theirs(a)
        factors = ("double", "1.0"), ("double", "0.0")
        if len(b.shape) == 1:
            rows = to.let(f"select i1 {a_is}, i64 {n}, i64 {inner}")
            columns = to.let(f"select i1 {a_is}, i64 {inner}, i64 {n}")
            self._call(
                "dgemv", self._either(a_is, "N", "T"), ("i32", rows), ("i32", columns), factors[0],
                ("ptr", a.data), ("i32", a_apart), ("ptr", b.data), ("i32", b.strides[0]), factors[1],
                ("ptr", product.data), ("i32", "1"),
            )  # fmt: skip
        else:
            b_is, b_apart = self._theirs(b)
            columns = b.shape[1]
            self._call(
                "dgemm", self._either(b_is, "T", "N"), self._either(a_is, "T", "N"), ("i32", columns),
                ("i32", n), ("i32", inner), factors[0], ("ptr", b.data), ("i32", b_apart), ("ptr", a.data),
                ("i32", a_apart), factors[1], ("ptr", product.data), ("i32", columns),
            )  # fmt: skip
        return [made, "0", *product.shape, *product.strides]
