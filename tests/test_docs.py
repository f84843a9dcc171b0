"""Every code block of the documentation runs, and prints what the page says; every public name has its place.

The Python blocks of a page share one namespace, in order. A `text` block after a Python block is what that
block prints; `...` in it stands for anything. A Python block whose title is the name of a file is that file;
with another title it is a program for another library, which is only parsed. In a `console` block, lines with
`$` are commands, and the others what they print. Blocks in other languages are shell commands and settings.
An image in `figures/` is saved by a program of its page; `docs/build.py` runs it.
"""

import ast
import contextlib
import doctest
import importlib
import importlib.util
import io
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import gendsl.runtime.watched
from gendsl.commands.main import main

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(
    path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md") if "gallery" not in path.parts
)
FENCE = re.compile(r"(?ms)^( *)```(?P<info>[^\n`]*)\n(?P<body>.*?)^\1```$")
NOT_RUN = {"sh", "text", "yaml", "toml", "ini", "julia"}
FILE = re.compile(r'title="(\w+\.py)"')
SLOW = {
    "coming-from/pymc-numpyro.md", "how-to/birth-death.md", "how-to/command-line.md",
    "how-to/many-chains.md", "how-to/pictures.md", "how-to/property-tests.md", "tutorial/split-merge.md",
}  # fmt: skip
COMPILED_ONLY = {"how-to/command-line.md", "how-to/incremental.md", "explanation/compiler.md"}
COLUMNS = "88"  # of the help of commands
REFERENCE = ["gendsl", "gendsl.inference", "gendsl.testing", "gendsl.testing.strategies", "gendsl.viz"]


def blocks(text):
    """The fenced blocks of a page: their language, title, first line and text."""
    for fence in FENCE.finditer(text):
        language, _, title = fence["info"].strip().partition(" ")
        yield language, title, text.count("\n", 0, fence.start("body")), fence["body"]


@contextlib.contextmanager
def forgetting(folder):
    """Forgets the modules that commands import from a folder."""
    before, path, arguments = set(sys.modules), list(sys.path), list(sys.argv)
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path[:], sys.argv[:] = path, arguments
        for name in set(sys.modules) - before:
            if str(getattr(sys.modules[name], "__file__", None) or "").startswith(str(folder)):
                del sys.modules[name]


def run_page(name, text, folder):
    """Run the programs and commands of a page. What each printed, by the line that it starts at."""
    file = folder / (Path(name).stem.replace("-", "_") + ".py")
    lines = [""] * (text.count("\n") + 1)
    for language, title, start, body in blocks(text):
        if language == "python" and not title:
            lines[start : start + body.count("\n")] = body.splitlines()
        elif saved := FILE.fullmatch(title):
            (folder / saved[1]).write_text(body, encoding="utf-8")
    file.write_text("\n".join(lines), encoding="utf-8")
    namespace = {"__name__": file.stem, "__file__": str(file)}
    printed = {}
    with forgetting(folder):
        for language, title, start, body in blocks(text):
            out = io.StringIO()
            if language == "python" and not title:
                with contextlib.redirect_stdout(out):
                    exec(compile("\n" * start + body, str(file), "exec"), namespace)
            elif language == "console":
                with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
                    run_commands(body.splitlines(), folder)
            else:
                continue
            printed[start] = out.getvalue().replace(f"{folder}{os.sep}", "")
    return printed


def run_commands(lines, folder):
    """Print what a terminal shows: commands and what they print."""
    code = 0
    sys.argv[0] = __file__  # this is the program, and no line of it is the user's
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if not line.startswith("$ "):
            continue
        print(line)
        program, *arguments = shlex.split(line[2:])
        if line == "$ echo $?":
            print(code)
        elif program == "gendsl":
            code = main(arguments)
        else:
            assert program == "python", line
            code = run_script(arguments, folder, interrupt=following == "^C")


def run_script(arguments, folder, *, interrupt):
    """Run a program, and interrupt it as Ctrl-C does when it has written draws; its exit code."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        [sys.executable, *arguments], cwd=folder, env=environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    while interrupt and process.poll() is None:
        if any(folder.glob("*/chain-*.state.json")):
            print("^C")
            process.send_signal(signal.SIGINT)
            break
        time.sleep(0.01)
    print(process.communicate(timeout=120)[0], end="")
    return process.returncode


def outputs(text):
    """The fences of a page that have outputs, with the line of the program that prints each."""
    before = None
    for fence, (language, title, start, _) in zip(FENCE.finditer(text), blocks(text), strict=True):
        if language == "text" and before is not None:
            yield fence, before
            before = None
        elif language == "python":
            before = None if title else start
        elif language == "console":
            yield fence, start


def agrees(shown, printed):
    """Whether an output is as it is shown, where `...` stands for anything."""
    return doctest.OutputChecker().check_output(
        shown, printed, doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    )


def differences(text, printed):
    """Where a page's text blocks are not what the Python blocks before them printed."""
    for fence, before in outputs(text):
        if not agrees(fence["body"], printed[before]):
            yield f"the page has\n{fence['body']}\nand the program in line {before} prints\n{printed[before]}"


@pytest.fixture(scope="module")
def build():
    spec = importlib.util.spec_from_file_location("docs_build", DOCS / "build.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.statistical if n in SLOW else ()) for n in PAGES]
)
def test_a_page_runs_and_prints_what_it_says(name, build, tmp_path, monkeypatch):
    if name in COMPILED_ONLY and gendsl.runtime.watched.runs_whole():
        pytest.skip("the page is about the compiled runtime")
    monkeypatch.chdir(tmp_path)
    text = (DOCS / name).read_text(encoding="utf-8")
    monkeypatch.setenv("COLUMNS", COLUMNS)
    monkeypatch.delenv("GENDSL_NATIVE", raising=False)  # pages print what happens where nothing is set
    printed = run_page(name, text, tmp_path)
    assert list(differences(text, printed)) == []
    assert [figure for figure in build.figures(text) if not (tmp_path / figure).exists()] == []


def test_a_wrong_output_and_a_wrong_program_are_found(tmp_path):
    page = "Text\n\n```python\nprint(1 + 1)\n```\n\n```text\n{}\n```\n"
    printed = run_page("page.md", page.format(2), tmp_path)
    assert list(differences(page.format(2), printed)) == []
    assert len(list(differences(page.format(3), printed))) == 1
    with pytest.raises(ZeroDivisionError) as error:
        run_page("page.md", "\n```python\nx = 1\n```\n\n```python\nx / 0\n```\n", tmp_path)
    assert error.traceback[-1].lineno == 6  # counted from 0: the page's own line


COMMANDS = """
```python title="moves.py"
from gendsl import gen, normal

@gen
def model():
    x = ~normal(0, 1)
```

```python title="greets.py"
print("hello")
```

```console
$ gendsl explain moves:modle
gendsl: moves has no modle
  fix: its programs and transforms: model
$ echo $?
2
$ python greets.py
hello
$ echo $?
0
```
"""


def test_commands_run_and_a_wrong_output_of_one_is_found(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    printed = run_page("page.md", COMMANDS, tmp_path)
    assert list(differences(COMMANDS, printed)) == []
    assert "moves" not in sys.modules and str(tmp_path) not in sys.path
    for wrong in (COMMANDS.replace("\n2\n", "\n1\n"), COMMANDS.replace("has no modle", "has no model")):
        assert len(list(differences(wrong, printed))) == 1


def test_figures_are_drawn_by_the_programs_of_their_page(build, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "```python\ndef f():\n    return 'drawn'\n```\n"
        "```python\nfrom pathlib import Path\nimport inspect\n"
        "Path('a.svg').write_text(inspect.getsource(f))\n```\n"
        "![A figure](../figures/a.svg)\n"
    )
    assert build.figures(page.read_text()) == ["a.svg"]
    build.draw(page, tmp_path)
    assert "return 'drawn'" in (tmp_path / "a.svg").read_text()
    page.write_text(page.read_text() + '\n--8<-- "docs/figures/b.html"\n')
    with pytest.raises(SystemExit, match=r"saves b\.html"):
        build.draw(page, tmp_path)
    page.write_text("```python\n1 / 0\n```\n")
    with pytest.raises(SystemExit, match="ZeroDivisionError"):
        build.draw(page, tmp_path)


@pytest.mark.parametrize("name", [*PAGES, "../README.md"])
def test_only_shell_output_and_settings_are_not_run(name):
    text = (DOCS / name).read_text(encoding="utf-8")
    assert len(FENCE.findall(text)) * 2 == len(re.findall(r"(?m)^ *```", text))
    for language, title, _, body in blocks(text):
        if language == "python":
            ast.parse(body)
            assert not title or FILE.fullmatch(title) or name.startswith("coming-from/")
        elif language == "console":
            assert body.startswith("$ ")
        elif language:
            assert language in NOT_RUN, language


def test_the_reference_describes_no_module_in_place_of_what_has_its_name():
    """`gendsl.inference.mh` is a module to mkdocstrings, and a kernel to users."""
    for page in (DOCS / "reference").glob("*.md"):
        for target in re.findall(r"(?m)^::: (\S+)$", page.read_text(encoding="utf-8")):
            with contextlib.suppress(ModuleNotFoundError):  # above it is no package
                assert importlib.util.find_spec(target) is None, target


def test_the_reference_has_every_public_name():
    described = set()
    for page in (DOCS / "reference").glob("*.md"):
        for target in re.findall(r"(?m)^::: (\S+)$", page.read_text(encoding="utf-8")):
            module, _, name = target.rpartition(".")
            described.add(id(getattr(importlib.import_module(module), name)))
    missing = [
        f"{module}.{name}"
        for module in REFERENCE
        for name in importlib.import_module(module).__all__
        if id(getattr(importlib.import_module(module), name)) not in described
    ]
    assert missing == []


@pytest.mark.parametrize(
    "line, what, value, error, reference, difference",
    [
        ("  p(k =  1 | dates) = 0.1100 ± 0.0573; exact 0.0568",
         "p(k =  1 | dates)", 0.11, 0.0573, 0.0568, 0.93),
        ("  level at site 0   0.997 ± 0.041; exact 0.934, +1.5 standard errors",
         "level at site 0", 0.997, 0.041, 0.934, 1.54),
        ("  p(k =  2 | x) = 0.5950 ± 0.1224", "p(k =  2 | x)", 0.595, 0.1224, None, None),
        ("  p(k =  3 | y) = 0.03 ± 0.02   published 0.061 (-0.9)   by partitions 0.2663 ± 0.08 (-2.7)",
         "p(k =  3 | y)", 0.03, 0.02, 0.061, -1.55),
        ("  p(a) = 1.0 ± 0.0; exact 0.9", "p(a)", 1.0, 0.0, 0.9, None),
        ("  proposal     1.204 ± 0.264 (z = +0.8), standard deviation 0.836; error 0.067",
         "proposal", 1.204, 0.264, None, 0.8),
    ],
)  # fmt: skip
def test_the_gallery_reads_what_examples_print(build, line, what, value, error, reference, difference):
    (row,) = build.rows(f"200 draws in 0.8 s (360/s)\n{line}\nfigure: x.png")
    assert (row.what, row.value, row.error, row.reference) == (what, value, error, reference)
    assert row.difference == (None if difference is None else pytest.approx(difference, abs=0.01))


def test_the_gallery_reads_tables(build):
    output = """in brackets the difference
  blocks    exact   Gibbs                   split/merge
  aabbbb   0.1441   0.1033 ± 0.0203 (-2.0)  0.1667 ± 0.0525 (+0.4)
"""
    gibbs, split_merge = build.rows(output)
    assert (gibbs.what, gibbs.value, gibbs.error) == ("aabbbb, Gibbs", 0.1033, 0.0203)
    assert gibbs.reference == 0.1441
    assert (split_merge.what, split_merge.value) == ("aabbbb, split/merge", 0.1667)
    assert gibbs.difference == pytest.approx(-2.0, abs=0.02)


def test_every_example_has_a_short_run_with_options_it_knows(build):
    for path in (ROOT / "examples").glob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert path.stem in build.SHORT
        for option in [*build.SHORT[path.stem][::2], "--figure"]:
            assert f'"{option}"' in text, f"{path.name} has no {option}"


def missing_files(text):
    """The files and folders named in a page for developers that there are not, in gendsl or beside it."""
    named = {name for name in re.findall(r"`([\w/.]+)`", text) if "/" in name or name.endswith(".py")}
    folders = [ROOT, ROOT / "gendsl", *(path for path in (ROOT / "gendsl").iterdir() if path.is_dir())]
    return sorted(name for name in named if not any((folder / name).exists() for folder in folders))


@pytest.mark.parametrize("page", sorted((DOCS / "developers").glob("*.md")), ids=lambda page: page.stem)
def test_what_developers_are_told_of_exists(page):
    text = page.read_text()
    text = text.replace("tests/inference/test_NAME.py", "tests/inference")
    assert missing_files(text) == []


def test_a_file_that_does_not_exist_is_found():
    assert missing_files("`lang/fence.py`, `compiler/hir/none.py`, `none.py`") == [
        "compiler/hir/none.py", "none.py",
    ]


def test_the_navigation_has_every_page():
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    listed = set(re.findall(r"(?m)^ +- (?:Home: )?(\S+\.md)$", settings))
    assert listed == {*PAGES, "gallery/index.md"}
    assert "docs/build.py" in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert os.path.isfile(DOCS / "build.py")
