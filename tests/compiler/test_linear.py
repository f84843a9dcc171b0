"""What BLAS and LAPACK compute in place of texts: the same as NumPy and SciPy, whatever the matrices are."""

import math
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
import scipy.linalg

from benchmarks.models import models
from gendsl import continuous, factor, gen, mvnormal, normal, read, select, transform, write
from gendsl.compiler.llvm import native, native_linear
from gendsl.compiler.run.closed import ClosedDensity
from gendsl.inference import elliptical_slice, involutive
from tests.compiler.closed_steps import needs_llvm
from tests.compiler.test_recursive_moves import same_chains

SIZES = (0, 1, 2, 5, 11, 12, 13, 15, 16, 30, 100)
CHOICES = {("f",): True}
HARD = {
    "singular": lambda a: np.where(np.arange(len(a)) == 0, 0.0, a),
    "negative": lambda a: a - 3.0 * np.max(np.abs(a)) * np.eye(len(a)),
    "nan": lambda a: np.where(np.arange(len(a)) == len(a) - 1, np.nan, a),
    "infinite": lambda a: np.where(np.arange(len(a)) == len(a) // 2, np.inf, a),
}


def weighted(a):
    """A number that all entries of an array have a part in, each a different one."""
    flat = np.reshape(a, -1)
    total = 0.0
    for i in range(len(flat)):
        total += flat[i] * math.cos(i)
    return total


@gen
def cholesky(a, v, b):
    "f" @ ~factor(weighted(np.linalg.cholesky(a)))


@gen
def upper_cholesky(a, v, b):
    "f" @ ~factor(weighted(scipy.linalg.cholesky(a)) + weighted(scipy.linalg.cholesky(a, lower=True)))


@gen
def solve(a, v, b):
    "f" @ ~factor(weighted(np.linalg.solve(a, v)) + weighted(np.linalg.solve(a.T, b)))


@gen
def solve_scipy(a, v, b):
    first = scipy.linalg.cho_solve(scipy.linalg.cho_factor(a), v)
    "f" @ ~factor(weighted(first) + weighted(scipy.linalg.cho_solve(scipy.linalg.cho_factor(a, True), b)))


@gen
def of_scipy_with_flags(a, v, b):
    lower = scipy.linalg.cholesky(a, lower=True, check_finite=False)
    factor_of_a = scipy.linalg.cho_factor(a + 0.0, overwrite_a=True, check_finite=False)
    first = scipy.linalg.solve_triangular(lower, v, lower=True, check_finite=False)
    second = scipy.linalg.cho_solve(factor_of_a, b, check_finite=False)
    third = scipy.linalg.solve(a, v, assume_a="pos") + scipy.linalg.solve(a, v, check_finite=False)
    "f" @ ~factor(weighted(first) + weighted(second) + weighted(third) + scipy.linalg.det(a))


@gen
def inverse(a, v, b):
    "f" @ ~factor(weighted(np.linalg.inv(a)))


@gen
def determinant(a, v, b):
    sign, log_det = np.linalg.slogdet(a)
    "f" @ ~factor(sign + log_det)


@gen
def triangles(a, v, b):
    total = 0.0
    for lower in (True, False):
        for trans in (0, "T"):
            x = scipy.linalg.solve_triangular(a, v, lower=lower, trans=trans)
            y = scipy.linalg.solve_triangular(a.T, b, lower=lower, trans=trans)
            z = scipy.linalg.solve_triangular(a / len(a), b, lower=lower, trans=trans, unit_diagonal=True)
            total += weighted(x) + weighted(y) + weighted(z)
    "f" @ ~factor(total)


@gen
def products(a, v, b):
    total = weighted(a @ b) + weighted(b.T @ a) + weighted(b.T @ b) + weighted(b @ b.T) + weighted(a @ v)
    "f" @ ~factor(total + weighted(v @ a) + weighted(a.T @ v) + weighted(b.T @ v) + weighted(a.T @ b))


@gen
def views(a, v, b):
    """Parts of arrays, reversed ones, and one row for all."""
    n = len(a) // 2
    inside = a[1 : n + 1, 1 : n + 1]
    total = weighted(np.linalg.cholesky(inside)) + weighted(np.linalg.solve(a[::2, ::2], v[::2]))
    total += weighted(inside @ b[1 : n + 1]) + weighted(a[::-1] @ v) + weighted(a @ v[::-1])
    total += weighted(np.broadcast_to(v, (len(v), len(v))) @ b) + weighted(a[:, ::2] @ b[::2])
    total += weighted(scipy.linalg.solve_triangular(inside, v[1 : n + 1][::-1], lower=True))
    "f" @ ~factor(total)


@gen
def normals(a, v, b):
    "f" @ ~factor(mvnormal(0.5 * v, a).logpdf(v))


MODELS = [
    cholesky, upper_cholesky, solve, solve_scipy, inverse, determinant, triangles, products, views, normals,
    of_scipy_with_flags,
]  # fmt: skip


def given(n, seed=0):
    """A matrix that is positive definite, a vector, and some columns."""
    rng = np.random.default_rng((seed, n))
    a = rng.normal(size=(n, n))
    return a @ a.T / max(n, 1) + 2.0 * np.eye(n), rng.normal(size=n), rng.normal(size=(n, 3))


def outcome(score):
    """A log density, or that there is none."""
    try:
        found = score()
    except Exception:
        return "fails"
    return found


def same(ours, theirs):
    """Whether a text says what the reference does, or leaves it to that."""
    return ours == "fails" or (theirs != "fails" and ours == pytest.approx(theirs, rel=1e-9, nan_ok=True))


@needs_llvm
@pytest.mark.parametrize("model", MODELS, ids=lambda one: one.__name__)
def test_it_is_the_same_as_numpy(model):
    closed = None
    for n in SIZES:
        args = given(n)
        theirs = outcome(lambda: model.assess(args, CHOICES)[0])
        closed = closed or ClosedDensity(model, args)
        ours = outcome(lambda: closed.assess_native(args, CHOICES))
        text = outcome(lambda: closed.assess_python(args, CHOICES))
        assert same(ours, theirs), n
        assert same(text, theirs), n
        if n > 2:
            assert "fails" not in (ours, text, theirs), n


@gen
def thin(a, v, b):
    """Matrices of one column or row, made and seen in all ways."""
    made = b * 1.0
    total = weighted(made.T @ v) + weighted(v @ made) + weighted(made.T @ a) + weighted(a @ made)
    total += weighted(made.T @ made) + weighted(made @ made.T) + weighted((b.T + 0.0) @ v)
    total += weighted((b.T + 0.0) @ a) + weighted((b.T + 0.0).T @ (b.T + 0.0)) + weighted(b.T @ v)
    total += weighted(np.linalg.solve(made @ made.T + a, v)) + weighted(np.linalg.solve(a, made))
    total += weighted(np.reshape(v, (-1, 1)).T @ a) + weighted(np.outer(v, v[:1]).T @ v)
    total += weighted(np.linalg.inv(made.T @ made + 1.0 * np.eye(b.shape[1])) @ (made.T @ v))
    "f" @ ~factor(total)


@needs_llvm
@pytest.mark.parametrize("columns", [1, 2])
def test_thin_matrices(columns):
    """The transpose of one column has two strides of 1."""
    closed = None
    for n in (1, 2, 20, 197, 230):
        a, v, b = given(n)
        args = a, v, b[:, :columns].copy()
        closed = closed or ClosedDensity(thin, args)
        theirs, _ = thin.assess(args, CHOICES)
        assert closed.assess_native(args, CHOICES) == pytest.approx(theirs, rel=1e-9)
        assert closed.assess_python(args, CHOICES) == pytest.approx(theirs, rel=1e-9)


@needs_llvm
@pytest.mark.parametrize("hard", HARD)
@pytest.mark.parametrize("model", MODELS, ids=lambda one: one.__name__)
@pytest.mark.filterwarnings("ignore")
def test_matrices_that_have_no_factor_are_left_to_the_reference(model, hard):
    closed = ClosedDensity(model, given(3))
    for n in (2, 5, 30, 100):
        a, v, b = given(n)
        args = HARD[hard](a), v, b
        theirs = outcome(lambda: model.assess(args, CHOICES)[0])
        ours = outcome(lambda: closed.assess_native(args, CHOICES))
        text = outcome(lambda: closed.assess_python(args, CHOICES))
        if theirs == "fails" or math.isfinite(theirs):
            assert same(ours, theirs), n
            assert same(text, theirs), n
        else:
            assert not (ours != "fails" and math.isfinite(ours)), n
            assert not (text != "fails" and math.isfinite(text)), n


@pytest.mark.slow
@needs_llvm
def test_all_operations_are_called_by_pointer():
    called = set()
    for model in MODELS:
        closed = ClosedDensity(model, given(3))
        called |= {name for name in closed.code.outside if name.startswith(native._LAPACK)}
    routines = "dgemm", "dgemv", "dtrsm", "dtrsv", "dpotrf", "dgetrf"
    assert called == {f"{native._LAPACK}{name}" for name in routines}


# --- chains -----------------------------------------------------------------------------------------


@gen
def smooth(t):
    distance = t[:, None] - t[None, :]
    f = ~mvnormal(np.full(len(t), 4.0), np.exp(-np.abs(distance)) + 0.1 * np.eye(len(t)))
    for i in range(len(t)):
        ("y", i) @ ~normal(f[i], 0.5)


@gen
def direction(trace):
    u = ~normal(0, 1)


@transform
def rotated(model_in, aux_in, *, model_out, aux_out):
    """A product of matrices with derivatives, which the text's own statements compute."""
    u = read(aux_in["u"], continuous)
    n = model_in.args[0]
    x = np.array([read(model_in["x", i], continuous) for i in range(n)])
    c, s = math.cos(u), math.sin(u)
    plane = {(0, 0): c, (0, 1): -s, (1, 0): s, (1, 1): c}
    turn = np.array([[plane.get((i, j), 1.0 if i == j else 0.0) for j in range(n)] for i in range(n)])
    moved = turn @ x
    for i in range(n):
        write(model_out["x", i], moved[i], continuous)
    write(aux_out["u"], -u, continuous)


@gen
def independent(n):
    for i in range(n):
        ("x", i) @ ~normal(i, 1)


@pytest.mark.slow
@needs_llvm
def test_chains_are_those_of_the_kernels(monkeypatch):
    for model in models("gp_kernels"):
        machine = same_chains(model.kernel(False), model.start(40), monkeypatch, draws=60, record="noise")
        assert machine is not None
    t = np.linspace(0.0, 4.0, 40)
    start = smooth.generate((t,), {("y", i): 4.0 + math.sin(t[i]) for i in range(40)}, rng=1).trace
    assert same_chains(elliptical_slice(select("f")), start, monkeypatch, draws=60, record="f") is not None


@needs_llvm
def test_derivatives_are_followed_through_large_matrices(monkeypatch):
    start = independent.simulate((20,), rng=1)
    kernel = involutive(direction, rotated, check=True)
    assert same_chains(kernel, start, monkeypatch, draws=60, record=[("x", 0), ("x", 1)]) is not None


# --- processes and threads --------------------------------------------------------------------------


@needs_llvm
def test_threads_have_equal_bits_and_give_back_what_blas_used():
    args = given(100)
    closed = ClosedDensity(normals, args)
    expected = closed.assess_native(args, CHOICES)
    threads = native_linear._threads()
    before = None if threads.functions is None else threads.functions[0]()
    found = []

    def work():
        mine = ClosedDensity(normals, args)
        found.extend(mine.assess_native(args, CHOICES) for _ in range(20))

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert found == [expected] * 80
    assert threads.running == 0
    assert before is None or threads.functions[0]() == before


SCRIPT = """
import os, threading
from gendsl.compiler.llvm import native_linear
from gendsl.compiler.run.closed import ClosedDensity
from tests.compiler.test_linear import CHOICES, given, normals

args = given(100)
closed = ClosedDensity(normals, args)
found = closed.assess_native(args, CHOICES)
print(closed.native.was_kept, found.hex())
if hasattr(os, "fork"):
    threads = native_linear._threads()
    with native_linear.one_thread():
        child = os.fork()
        if child == 0:
            right = threads.running == 0 and closed.assess_native(args, CHOICES) == found
            os._exit(0 if right and threads.running == 0 else 1)
    assert os.waitpid(child, 0)[1] == 0
"""


@pytest.mark.slow
@needs_llvm
def test_code_that_was_kept_and_processes_that_fork(tmp_path):
    """The addresses of routines are those of the process that runs the code."""
    environment = {**os.environ, "GENDSL_CACHE": str(tmp_path / "code"), "PYTHONHASHSEED": "0"}
    told = [
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env=environment,
            cwd=Path(__file__).parents[2],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
        for _ in range(2)
    ]
    assert [kept for kept, _ in told] == ["False", "True"]
    assert told[0][1] == told[1][1]


@gen
def of_any_vector(a, v, b):
    """Entries that are no numbers are hidden, so that a result that SciPy refuses to give would be seen."""
    lower = np.linalg.cholesky(a)
    found = scipy.linalg.solve_triangular(lower, v, lower=True)
    found = found + scipy.linalg.cho_solve((lower, True), v) + scipy.linalg.solve(a, v)
    "f" @ ~factor(float(np.sum(np.where(np.isfinite(found), found, 1.0))))


@needs_llvm
@pytest.mark.parametrize("entry", [np.inf, np.nan, 1.0])
def test_what_scipy_checks_is_checked(entry):
    a, v, b = given(3)
    v[1] = entry
    closed = ClosedDensity(of_any_vector, (a, v, b))
    theirs = outcome(lambda: of_any_vector.assess((a, v, b), CHOICES)[0])
    assert (theirs == "fails") == (entry != 1.0)
    for way in (closed.assess_python, closed.assess_native):
        assert outcome(lambda way=way: way((a, v, b), CHOICES)) == (
            "fails" if entry != 1.0 else pytest.approx(theirs, rel=1e-9)
        )
