"""The command line: what it prints, its exit codes, and errors without tracebacks."""

import ast
import configparser
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import gendsl
from gendsl.commands import demo
from gendsl.commands.find import find_module
from gendsl.commands.main import main

ROOT = Path(__file__).parents[1]

MODULE = '''
from gendsl import *
from gendsl.inference import mh, cycle

@gen
def model(n):
    x = ~normal(0, 1)
    for i in range(n):
        ("y", i) @ ~normal(x, 1)

@transform
def f(model_in, *, model_out):
    write(model_out["x"], -read(model_in["x"]))

@transform
def stretched(model_in, *, model_out):
    write(model_out["x"], 2 * read(model_in["x"]))

@transform
def crashes(model_in, *, model_out):
    write(model_out["x"], [][3])

args = (2,)
good = dict(model=model, args=(2,), f=f, observed="y")
typo = dict(model=model, args=(2,), f=f, observd="y")

class flawed:
    model, args, f = model, (2,), stretched

class broken:
    model, args, f = model, (2,), crashes

KERNEL = mh(select("x"))

def run(folder, draws, record="x"):
    trace, _ = model.generate((2,), {"y": [0.5, 1.0]}, rng=1)
    return sample(KERNEL, trace, draws, record=record, seed=3, progress=False, checkpoint=folder)
'''


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A module in a folder of its own, which is where commands are given."""
    name = f"moves_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield name
    sys.modules.pop(name, None)


@pytest.fixture
def command(capsys):
    """A function that runs a command and gives its exit code, what it printed, and its errors."""

    def run(*arguments):
        code = main(arguments)
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


COMMANDS = ["demo", "explain", "source", "check", "resume", "summary"]


def test_help_has_examples(command):
    code, out, _ = command("--help")
    assert code == 0 and "examples:" in out and all(f"\n  {name} " in out for name in COMMANDS)
    for name in COMMANDS:
        code, out, _ = command(name, "--help")
        assert code == 0 and f"  gendsl {name}" in out.partition("examples:")[2]


def test_what_cannot_be_understood_is_2(command):
    for arguments in ((), ("nothing",), ("check",), ("explain", "a:b", "c"), ("check", "a", "--cases", "x")):
        code, out, err = command(*arguments)
        assert code == 2 and not out and "usage: gendsl" in err


def test_version(command):
    code, out, _ = command("--version")
    assert code == 0 and re.fullmatch(r"gendsl \S+\n", out)


def test_explain_and_source(command, module):
    loaded = find_module(f"{module}.py")
    assert command("explain", f"{module}:model") == (0, f"{loaded.model.explain()}\n", "")
    assert command("source", f"{module}:model") == (0, f"{loaded.model.source}\n", "")
    assert command("source", f"{module}:f") == (0, f"{loaded.f.source}\n", "")
    assert command("explain", f"{module}.py:model") == (0, f"{loaded.model.explain()}\n", "")
    assert command("explain", f"{module}:f") == (0, f"{loaded.f.explain()}\n", "")
    for name in ("explain", "source"):
        code, _, err = command(name, f"{module}:args")
        assert code == 2 and "is no @gen or @transform function" in err


def test_both_transforms_of_a_pair_are_explained(command, tmp_path, monkeypatch):
    (tmp_path / "pairs.py").write_text(PAIR, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    loaded = find_module("pairs.py")
    shown = f"{loaded.there.explain()}\n\n{loaded.back.explain()}\n"
    assert command("explain", "pairs.py:both") == (0, shown, "")
    assert "there, " in shown and "back, " in shown


PAIR = """\
from gendsl import copy, pair, transform

@transform
def there(model_in, *, model_out):
    copy(model_in["a"], model_out["b"])

@transform
def back(model_in, *, model_out):
    copy(model_in["b"], model_out["a"])

both = pair(there, back)
"""


@pytest.mark.parametrize(
    ("place", "problem"),
    [
        ("{}:nothing", "has no nothing"),
        ("{}", "names a module and nothing in it"),
        ("no_such_module:x", "there is no module 'no_such_module'"),
        ("nowhere/file.py:x", "there is no file nowhere/file.py"),
        ("a..b:x", "there is no module"),
    ],
)
def test_places_that_are_not_there(command, module, place, problem):
    code, out, err = command("explain", place.format(module))
    assert code == 2 and not out
    assert problem in err and "Traceback" not in err and "where:" not in err


def test_the_programs_of_a_module_are_named(command, module):
    _, _, err = command("source", f"{module}:nix")
    assert "its programs and transforms: crashes, f, model, stretched" in err


def test_check(command, module):
    code, out, err = command("check", f"{module}:good", "--cases", "5")
    assert code == 0 and not err and out == (
        "f: 5 random cases, all passed\n  so many find a mistake on 2% of the prior with probability 0.096\n"
    )
    code, out, err = command("check", f"{module}.py", "--cases", "5")
    assert code == 0 and "all passed" in out
    code, out, err = command("check", f"{module}:flawed", "--cases", "5")
    assert code == 1 and "5 of 5 random cases failed" in out and "InvolutionError" in out
    assert f"{module}.py:17" in out and not err


def test_what_is_no_move(command, module):
    code, _, err = command("check", f"{module}:typo")
    assert code == 2 and "a move has no observd" in err
    code, _, err = command("check", f"{module}:KERNEL")
    assert code == 2 and "it has no model and no f" in err
    code, _, err = command("check", f"{module}:good", "--cases", "0")
    assert code == 2 and "--cases got 0" in err


def test_errors_of_the_users_code_have_a_traceback_with_debug_only(command, module):
    code, out, err = command("check", f"{module}:broken")
    assert code == 1 and not out
    assert err.startswith("gendsl: IndexError: list index out of range\n") and f"{module}.py:21" in err
    assert "Traceback" not in err
    for arguments in (["--debug", "check", f"{module}:broken"], ["check", "--debug", f"{module}:broken"]):
        code, _, err = command(*arguments)
        assert code == 1 and "Traceback" in err


def test_a_module_that_does_not_import(command, tmp_path, module):
    Path("lacks_one.py").write_text("import no_such_library_at_all\n")
    code, _, err = command("explain", "lacks_one:model")
    assert code == 1 and "ModuleNotFoundError: No module named 'no_such_library_at_all'" in err


def test_summary_of_a_run(command, module):
    run = find_module(f"{module}.py").run("run", 60)
    code, out, err = command("summary", "run")
    assert code == 0 and not err
    assert "chain 0: 60 of 60 draws, complete" in out
    row = next(line for line in out.splitlines() if line.startswith("x "))
    assert float(row.split()[1]) == pytest.approx(run["x"].mean(), rel=1e-4)
    assert float(row.split()[3]) == pytest.approx(run["x"].std(), rel=1e-3)
    code, _, err = command("summary", "run", "--quantity", "z")
    assert code == 2 and "z was not recorded" in err


def test_full_summary_of_a_run(command, module, caplog):
    """All columns, and no remarks about what one chain can't have."""
    run = find_module(f"{module}.py").run("run", 60)
    code, out, err = command("summary", "run", "--full")
    assert (code, err, caplog.records) == (0, "", [])
    head, row = out.rstrip("\n").splitlines()[-2:]
    assert {"mean", "sd", "ESS", "R-hat"} <= set(head.split()) and "..." not in out
    assert float(row.split()[1]) == pytest.approx(run["x"].mean(), rel=1e-4)


def test_summary_of_whole_traces(command, module):
    find_module(f"{module}.py").run("run", 20, record=None)
    code, out, _ = command("summary", "run", "--trust")
    assert code == 0 and "name addresses in them by --quantity" in out
    named = ["--quantity", "x", "--quantity", "y,0", "--model", f"{module}:model"]
    code, out, _ = command("summary", "run", *named)
    assert code == 0 and re.search(r"\ny,0 +0\.5 ", out)


def test_what_is_no_run(command, module):
    for name in ("summary", "resume"):
        code, out, err = command(name, ".")
        assert code == 1 and not out and "holds no run" in err and "Traceback" not in err
        code, out, err = command(name, "nowhere/")
        assert code == 2 and not out and err.startswith("gendsl: there is no folder nowhere/\n  fix:")


def test_resume_makes_the_draws_of_a_run_that_was_not_stopped(command, module):
    """A copy of a run's folder from when it was at its beginning is a run that was killed then."""
    loaded = find_module(f"{module}.py")
    whole = loaded.run("whole", 400)
    shutil.copytree("whole", "killed")
    for path in Path("killed").glob("chain-0.[!s]*"):
        path.unlink()
    Path("killed", "chain-0.state.json").unlink()
    code, out, _ = command("summary", "killed")
    assert code == 0 and "0 of 400 draws, running, or stopped" in out and "no draws yet" in out
    assert "no draws yet" in command("summary", "killed", "--full")[1]
    code, out, err = command("resume", "killed", "--quiet", "--trust")
    assert code == 0 and "400 draws" in out and not err
    assert gendsl.load_run("killed")["x"].tolist() == whole["x"].tolist()


def test_resume_with_what_is_named(command, module):
    find_module(f"{module}.py").run("run", 20)
    code, out, _ = command(
        "resume", "run", "--quiet", "--model", f"{module}:model", "--kernel", f"{module}:KERNEL"
    )
    assert code == 0 and "20 draws" in out
    code, _, err = command("resume", "run", "--quiet", "--kernel", f"{module}:nothing")
    assert code == 2 and "has no nothing" in err


def start_script(name):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run([sys.executable, f"{name}.py"], env=environment, check=True)


def test_a_run_that_a_script_started(command, module, tmp_path, monkeypatch):
    """As `python script.py` leaves it: its names are those of `__main__`, and are found in its file."""
    script = 'if __name__ == "__main__":\n    run("run", 40)\n    run("whole", 20, record=None)\n'
    script += '    run("by_function", 20, record=double)\n'
    with open(f"{module}.py", "a") as file:
        file.write(f"\ndef double(trace):\n    return 2 * trace['x']\n\n{script}")
    start_script(module)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    code, _, err = command("resume", "../by_function", "--quiet")
    script = f"../{module}.py"
    assert code == 1 and "../by_function only names the kernel __main__:KERNEL, the model" in err
    assert f"fix: give --kernel {script}:KERNEL --model {script}:model --record {script}:double" in err
    assert f"or, if you trust the folder, --trust, which imports {script}\n" in err
    assert module not in sys.modules
    code, out, err = command("resume", "../run", "--quiet", "--trust")
    assert code == 0 and "40 draws" in out and not err
    assert command("resume", "../by_function", "--quiet", "--trust")[0] == 0
    named = ["--model", f"{script}:model", "--kernel", f"{script}:KERNEL", "--record", f"{script}:double"]
    assert command("resume", "../by_function", "--quiet", *named)[0] == 0
    named = ["--model", f"../{module}.py:model", "--kernel", f"../{module}.py:KERNEL"]
    assert command("resume", "../run", "--quiet", *named)[0] == 0
    code, out, err = command("summary", "../whole", "--quantity", "x")
    assert code == 1 and f"fix: give --model {script}:model; or, if you trust the folder, --trust" in err
    code, out, err = command("summary", "../whole", "--quantity", "x", "--trust")
    assert code == 0 and "\nx " in out


def test_a_run_of_a_script_that_can_not_be_imported(command, module, tmp_path):
    with open(f"{module}.py", "a") as file:
        file.write('\nrun("run", 40)\n')
    start_script(module)
    code, _, err = command("resume", "run", "--trust")
    assert code == 1
    assert f"is model in the script {tmp_path / module}.py, which" in err
    assert "can't be imported without running it" in err and 'under `if __name__ == "__main__":`' in err
    assert "--model file.py:NAME" in err
    os.rename(f"{module}.py", "renamed.py")
    code, _, err = command("resume", "run", "--trust")
    assert code == 1 and f"{module}.py, which is gone" in err
    # another file with the same names
    Path("definitions.py").write_text(MODULE)
    named = ["--model", "definitions.py:model", "--kernel", "definitions.py:KERNEL"]
    try:
        code, out, _ = command("resume", "run", "--quiet", *named)
    finally:
        sys.modules.pop("definitions", None)
    assert code == 0 and "40 draws" in out


@pytest.mark.gendsl_long
def test_several_chains_of_a_script_go_on_in_other_processes(command, module, tmp_path, monkeypatch):
    with open(f"{module}.py", "a") as file:
        file.write(
            'if __name__ == "__main__":\n'
            '    trace, _ = model.generate((2,), {"y": [0.5, 1.0]}, rng=1)\n'
            '    sample(KERNEL, trace, 300, chains=2, record="x", seed=3, progress=False, checkpoint="run")\n'
        )
    start_script(module)
    whole = gendsl.load_run("run")["x"]
    for path in Path("run").glob("chain-1.[!s]*"):
        path.unlink()
    Path("run", "chain-1.state.json").unlink()
    monkeypatch.chdir("/")
    code, out, err = command("resume", str(tmp_path / "run"), "--quiet", "--trust")
    assert code == 0 and "600 draws of 2 chains" in out and not err
    assert gendsl.load_run(tmp_path / "run")["x"].tolist() == whole.tolist()


def test_names_of_the_wrong_kind(command, module):
    find_module(f"{module}.py").run("run", 20)
    code, _, err = command("resume", "run", "--kernel", f"{module}:nix")
    assert code == 2 and "fix: its kernels: KERNEL\n" in err
    code, _, err = command("resume", "run", "--kernel", f"{module}:good")
    assert code == 2 and "good is no kernel, but {" in err and "its kernels: KERNEL" in err
    code, _, err = command("resume", "run", "--kernel", f"{module}:model")
    assert code == 2 and "is no kernel, but <gen function model>" in err
    code, _, err = command("resume", "run", "--model", f"{module}:nix")
    assert code == 2 and "fix: its models: model\n" in err
    code, _, err = command("summary", "run", "--model", f"{module}:KERNEL")
    assert code == 2 and "is no @gen function" in err and "its models: model" in err
    code, _, err = command("resume", "run", "--record", f"{module}:nix")
    assert code == 2 and "fix: its functions: run\n" in err


def test_a_command_without_its_arguments_teaches(command):
    code, out, err = command("check")
    assert code == 2 and not out and "the following arguments are required: move" in err
    assert "birth_death = dict(model=clusters, args=(10,), q=propose, f=birth_or_death" in err
    assert "gendsl check moves.py:birth_death" in err
    for name in ("explain", "source", "resume", "summary"):
        code, _, err = command(name)
        assert code == 2 and f"\n  gendsl {name} " in err.partition("examples:")[2]
    code, _, err = command()
    assert code == 2 and "\n  gendsl demo" in err


def test_a_kernel_that_is_not_found_is_asked_for(command, module):
    loaded = find_module(f"{module}.py")
    loaded.run("run", 20)
    del loaded.KERNEL
    code, _, err = command("resume", "run", "--quiet", "--trust")
    assert code == 1 and "has no KERNEL any more" in err
    assert "pass it: resume(path, kernel=...); here by --kernel module:NAME or --kernel file.py:NAME" in err


def test_demos_are_listed(command):
    code, out, _ = command("demo")
    assert code == 0
    names = [line.split()[0] for line in out.splitlines()]
    assert names == sorted(path.stem for path in (ROOT / "examples").glob("*.py"))
    assert "How many clusters of galaxies?" in out
    code, out, err = command("demo", "galaxy")
    assert code == 2 and not out and "galaxies" in err


def test_a_demo_runs_with_its_options(command, tmp_path, monkeypatch):
    (tmp_path / "small.py").write_text(
        '"""A small one."""\nimport sys\n'
        'print(__name__, sys.argv[1:])\n'
        'sys.exit("no" if "bad" in sys.argv else 3 if "3" in sys.argv else None)\n'
    )
    monkeypatch.setattr(demo, "folders", lambda: [tmp_path / "none", tmp_path])
    before = sys.argv
    code, out, _ = command("demo", "small", "--draws", "5", "--help")
    assert code == 0 and out == "__main__ ['--draws', '5', '--help']\n"
    assert command("demo", "small", "bad")[::2] == (1, "no\n")
    assert command("demo", "small", "3")[0] == 3
    assert sys.argv is before
    assert command("demo")[1] == "small  A small one.\n"


def test_without_examples_that_is_said(command, tmp_path, monkeypatch):
    monkeypatch.setattr(demo, "folders", lambda: [tmp_path / "none"])
    code, _, err = command("demo")
    assert code == 2 and "this installation has no examples" in err


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.stem)
def test_a_demo_does_without_matplotlib(path):
    """It is an extra: an installation without it has the numbers, and is told why there is no figure."""
    tried = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Try)]
    guarded = [node for node in tried if "draw_figure(" in ast.unparse(node.body)]
    assert len(guarded) == 1 and "draw_figure(" in ast.unparse(guarded[0].body[0])
    (handler,) = guarded[0].handlers
    assert ast.unparse(handler.type) == "ImportError" and "gendsl[plot]" in ast.unparse(handler.body)


def test_as_a_program(module):
    """`python -m gendsl` finds modules where it is run, and doesn't mind a reader that has seen enough."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    start = [sys.executable, "-m", "gendsl"]
    done = subprocess.run(
        [*start, "check", f"{module}:flawed", "--cases", "1"], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 1 and "InvolutionError" in done.stdout and not done.stderr
    with subprocess.Popen(
        [*start, "source", f"{module}:model"], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        process.stdout.close()
        assert process.stderr.read() == b"" and process.wait() == 0


def test_control_c(command, module, monkeypatch):
    def interrupted(place):
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr("gendsl.commands.programs.explain", interrupted)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
    try:
        assert command("explain", f"{module}:model") == (1, "", "interrupted\n")
    finally:
        signal.signal(signal.SIGINT, before)


def test_an_installation_gets_every_example_and_its_data():
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    for target, globs in config["options.data_files"].items():
        folder = ROOT / "examples" / Path(target).relative_to("share/gendsl/examples")
        files = {p for p in folder.iterdir() if p.is_file() and not p.name.startswith(".")}
        assert files and files == {p for glob in globs.split() for p in ROOT.glob(glob)}
    folders = {ROOT / "examples" / Path(t).relative_to(demo._SHARED) for t in config["options.data_files"]}
    inside = {p.parent for p in (ROOT / "examples").rglob("*") if p.is_file() and "__pycache__" not in str(p)}
    assert folders == inside
