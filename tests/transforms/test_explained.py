"""`Transform.explain`, and the generated code that `debug=True` and GENDSL_DEBUG=1 print."""

import os
import subprocess
import sys
from pathlib import Path

from gendsl import continuous, copy, discrete, gen, normal, read, transform, write


@transform
def flip(model_in, *, model_out):
    write(model_out["x"], -read(model_in["x"], continuous), label=continuous)


@transform
def several(model_in, aux_in, *, model_out, aux_out, scale=2.0, times=3):
    """What is said of each."""
    n = model_in.args[0] + len(model_in.retval)
    k = read(model_in["k"], discrete)
    if k in read(aux_in["names"]):
        write(model_out["k"], n - k, discrete)
        write(aux_out["names"], ())
    u, v = read(aux_in["u"], continuous), read(aux_in["v"], label=continuous)
    write(model_out["mu", k], scale * (u + v), continuous)
    for i in range(times):
        copy(aux_in["w", i], model_out["w", i])
    flip(model_in["left"], model_out=model_out["left"])


EXPLAINED = """\
several, {file}:17
Maps model_in and aux_in to model_out and aux_out. What it neither writes nor copies stays in
model_out as it is in model_in; what is new in model_out must be written or copied, and so must all
of aux_out. Parameters, which `bind` sets: scale = 2.0 and times = 3.

17 | def several(model_in, aux_in, *, model_out, aux_out, scale=2.0, times=3):
19 |     n = model_in.args[0] + len(model_in.retval)     looks at arguments
   |                                                     looks at a return value: to decide, not to
   |                                                       write
20 |     k = read(model_in["k"], discrete)               reads a plain value
21 |     if k in read(aux_in["names"]):                  reads a choice
22 |         write(model_out["k"], n - k, discrete)      writes a plain value
23 |         write(aux_out["names"], ())                 writes a choice
24 |     u, v = read(aux_in["u"], continuous), read(aux_in["v"], label=continuous)
   |                                                     reads a number with its derivative
25 |     write(model_out["mu", k], scale * (u + v), continuous)
   |                                                     writes rows of the Jacobian
26 |     for i in range(times):
27 |         copy(aux_in["w", i], model_out["w", i])     copies, with no row of the Jacobian
28 |     flip(model_in["left"], model_out=model_out["left"])
   |                                                     runs the transform flip here"""


def test_what_each_line_does_with_the_traces():
    assert several.explain() == EXPLAINED.format(file=__file__)
    shown = several.bind(scale=5.0).explain()
    assert "sets: scale = 5.0 and times = 3." in shown


def test_a_transform_of_one_trace():
    assert flip.explain().splitlines()[1:3] == [
        "Maps model_in to model_out. What it neither writes nor copies stays in model_out as it is in",
        "model_in; what is new in model_out must be written or copied.",
    ]


# --- what is printed when programs are decorated -----------------------------------------------------


def test_debug_prints_a_transform(capsys, monkeypatch):
    def function(model_in, *, model_out):
        write(model_out["x"], -read(model_in["x"], continuous), continuous)

    made = transform(debug=True)(function)
    assert capsys.readouterr().out == made.source + "\n" and "def function(" in made.source
    transform(function), transform(debug=False)(function), transform()(function)
    assert capsys.readouterr().out == ""
    monkeypatch.setenv("GENDSL_DEBUG", "1")
    transform(function), transform()(function)
    assert capsys.readouterr().out == 2 * (made.source + "\n")
    transform(debug=False)(function)
    assert capsys.readouterr().out == ""
    monkeypatch.setenv("GENDSL_DEBUG", "0")
    transform(function)
    assert capsys.readouterr().out == ""
    assert made.inputs == ("model_in",) and made.outputs == ("model_out",)


USERS = """\
from gendsl import continuous, gen, normal, poisson, read, sample, transform, write
from gendsl.inference import birth_death, cycle, involutive, mh, split_merge
from gendsl.transforms import translators

@gen
def my_model():
    k = ~poisson(2)
    for j in range(k):
        ("mu", j) @ ~normal(0, 1)

@gen
def my_proposal(trace, i):
    mu = ~normal(0, 1)

@transform
def my_flip(model_in, *, model_out):
    write(model_out["k"], read(model_in["k"]))

trace = my_model.simulate(rng=1)
sample(cycle(birth_death("mu"), involutive(None, my_flip), mh("k")), trace, 3, seed=1)
"""


def test_of_gendsls_own_programs_nothing_is_printed(tmp_path):
    (tmp_path / "users.py").write_text(USERS, encoding="utf-8")
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "users.py"],
        cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False,
        env={**os.environ, "GENDSL_DEBUG": "1", "PYTHONPATH": str(root), "GENDSL_RUNTIME": "reference"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    heads = [line for line in done.stdout.splitlines() if line.startswith("def ")]
    assert [head.partition("(")[0] for head in heads] == ["def my_model", "def my_proposal", "def my_flip"]
    assert not [line for line in done.stdout.splitlines() if line.startswith("    def ")]


def test_debug_says_so_of_gendsls_own(monkeypatch, capsys):
    """Where a decorator is told to print, it does, whatever the file."""
    monkeypatch.setattr("gendsl.lang.render.is_users_file", lambda filename: False)
    monkeypatch.setenv("GENDSL_DEBUG", "1")

    def model():
        x = ~normal(0, 1)

    gen(model)
    assert capsys.readouterr().out == ""
    gen(debug=True)(model)
    assert capsys.readouterr().out
