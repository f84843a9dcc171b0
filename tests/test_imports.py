"""What `import gendsl`, a first trace and a first step import: a list, where a timing would need luck."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import gendsl
from gendsl.inference.compiled.policy import why_no_machine_code

SLOW = {
    "IPython", "arviz", "astor", "autograd.scipy", "cloudpickle", "hypothesis", "loky", "matplotlib",
    "multiprocessing", "numba", "pandas", "pytest", "threadpoolctl", "tqdm", "xarray",
}  # fmt: skip
"""What takes long to import; so does each part of SciPy but scipy.special."""
OWN = {f"gendsl.{part}" for part in ("compiler", "inference", "runtime", "testing", "transforms", "viz")}
STEPS = """
from gendsl import *
from gendsl.inference import involutive, mh, nuts

@gen
def model(n):
    mu = ~normal(0, 10)
    for i in range(n):
        ("x", i) @ ~normal(mu, 1)

@gen
def walk(trace):
    mu = ~normal(trace["mu"], 0.3)

@gen
def step(trace):
    d = ~normal(0, 1)

@transform
def shift(model_in, aux_in, *, model_out, aux_out):
    d = read(aux_in["d"], continuous)
    write(model_out["mu"], read(model_in["mu"], continuous) + d, continuous)
    write(aux_out["d"], -d, continuous)

start, _ = model.generate((50,), {"x": [0.5] * 50}, rng=1)
for kernel in (mh(walk), involutive(step, shift), nuts(select("mu"), step_size=0.1)):
    kernel(start, np.random.default_rng(1))
"""


def imported(*programs):
    """After each program, what it has imported that is no part of `import numpy, scipy.special`."""
    text = f"""
import json, sys
import numpy as np, scipy.special
before = set(sys.modules)
for program in {programs!r}:
    exec(compile(program, "program.py", "exec"), {{"np": np}})
    print(json.dumps(sorted(set(sys.modules) - before)))
"""
    command = [sys.executable, "-c", text]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    return [json.loads(line) for line in done.stdout.splitlines()]


def slow_ones(modules, slow=SLOW):
    parts = {".".join(module.split(".")[:2]) for module in modules} | {m.split(".")[0] for m in modules}
    return {part for part in parts if part in slow or part.startswith("scipy.")}


def test_importing_gendsl_imports_nothing_slow():
    (found,) = imported("import gendsl")
    assert "gendsl.distributions" in found
    assert slow_ones(found, SLOW | OWN) == set()
    assert len(found) < 120


def test_a_first_trace_and_a_first_step_import_no_slow_part_of_scipy(tmp_path):
    program = tmp_path / "program.py"  # programs need a file
    program.write_text(STEPS.replace("\nfrom gendsl import *", "import numpy as np\nfrom gendsl import *"))
    (found,) = imported(f"import runpy; runpy.run_path({str(program)!r})")
    assert "gendsl.inference.nuts" in found
    allowed = {"astor", "cloudpickle", "multiprocessing", "threadpoolctl", "tqdm"}  # some milliseconds each
    assert slow_ones(found, SLOW - allowed) == set()


@pytest.mark.slow
def test_functions_of_scipy_in_a_model_keep_their_derivatives(tmp_path):
    """They are looked up when they are first called; gendsl doesn't know of them before."""
    program = tmp_path / "program.py"
    program.write_text(
        """
import math, sys, scipy.special
from gendsl import gen, normal, select

@gen
def model(n):
    x = ~normal(0, 1)
    y = ~normal(math.lgamma(2 + x * x) + scipy.special.erf(x), 1)

trace, _ = model.generate((1,), {"x": 0.5, "y": 0.25}, rng=1)
assert "autograd.scipy" not in sys.modules
a = 2.25
mean = math.lgamma(a) + math.erf(0.5)
slope = 2 * 0.5 * scipy.special.psi(a) + 2 / math.sqrt(math.pi) * math.exp(-0.25)
gradient = trace.gradients(select("x"))["x"]
assert abs(gradient - (-0.5 + (0.25 - mean) * slope)) < 1e-12, gradient
"""
    )
    subprocess.run([sys.executable, str(program)], check=True, timeout=120)


@pytest.mark.parametrize("module", ["compiler", "inference", "runtime", "transforms"])
def test_the_packages_are_attributes(module):
    assert getattr(gendsl, module).__name__ == f"gendsl.{module}"


def test_type_checkers_are_told_of_the_names_that_are_imported_when_used():
    tree = ast.parse(Path(gendsl.__file__).read_text())
    (choice,) = (n for n in tree.body if isinstance(n, ast.If) and ast.unparse(n.test) == "TYPE_CHECKING")
    told = {node.module: tuple(alias.name for alias in node.names) for node in choice.body}
    assert told == gendsl._FIRST_USED


def test_unknown_names_are_errors():
    with pytest.raises(AttributeError, match="module 'gendsl' has no attribute 'norml'"):
        gendsl.norml
    assert set(gendsl.__all__) <= set(dir(gendsl))


CHAIN = """
import sys
from gendsl import *
from gendsl.inference import mh
from gendsl.testing import running_on

@gen
def model():
    mu = ~normal(0, 10)
    for i in range(5):
        ("x", i) @ ~normal(mu, 1)

@gen
def walk(trace):
    mu = ~normal(trace["mu"], 0.3)

start, _ = model.generate((), {("x", i): 0.5 for i in range(5)}, rng=1)
with running_on("native"):
    assert sample(mh(walk), start, draws=20, seed=1, record="mu").ran == ["as machine code"]
print(sorted(name for name in sys.modules if name.startswith("gendsl.compiler.")))
"""


@pytest.mark.skipif(why_no_machine_code() is not None, reason="there is no machine code")
def test_a_chain_whose_machine_code_is_kept_imports_nothing_of_what_made_it(tmp_path):
    """That takes as long to import as tens of thousands of steps."""
    program = tmp_path / "program.py"
    program.write_text(CHAIN)
    told = {**os.environ, "GENDSL_CACHE": str(tmp_path / "kept")}

    def modules():
        command = [sys.executable, str(program)]
        done = subprocess.run(command, env=told, capture_output=True, text=True, check=True, timeout=300)
        return set(ast.literal_eval(done.stdout))

    made, kept = modules(), modules()
    makers = {f"gendsl.compiler.{name}" for name in (
        "run.closed_move", "front.program", "llvm.print_llvm", "passes.fusion",
    )}
    assert makers <= made and not makers & kept
    assert len(kept) < len(made) / 2
