"""Every code block of the documentation runs, and prints what the page says; every public name has its place.

The Python blocks of a page share one namespace, in order. A `text` block after a Python block is what that
block prints; `...` in it stands for anything. Blocks with a title are programs for another library, which are
only parsed. Blocks in other languages are shell commands and settings.
"""

import ast
import contextlib
import doctest
import importlib
import importlib.util
import io
import os
import re
import sys
from pathlib import Path

import pytest

import gendsl.runtime.watched

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(
    path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md") if "gallery" not in path.parts
)
FENCE = re.compile(r"(?ms)^( *)```(?P<info>[^\n`]*)\n(?P<body>.*?)^\1```$")
NOT_RUN = {"sh", "text", "yaml", "toml", "ini", "julia"}
SLOW = {
    "coming-from/pymc-numpyro.md", "how-to/birth-death.md", "how-to/many-chains.md",
    "how-to/property-tests.md", "tutorial/split-merge.md",
}  # fmt: skip
COMPILED_ONLY = {"how-to/incremental.md", "explanation/compiler.md"}
REFERENCE = ["gendsl", "gendsl.inference", "gendsl.testing", "gendsl.testing.strategies", "gendsl.viz"]


def blocks(text):
    """The fenced blocks of a page: their language, title, first line and text."""
    for fence in FENCE.finditer(text):
        language, _, title = fence["info"].strip().partition(" ")
        yield language, title, text.count("\n", 0, fence.start("body")), fence["body"]


def run_page(name, text, folder):
    """Run the Python blocks of a page. What each printed, by the line that it starts at."""
    file = folder / (Path(name).stem.replace("-", "_") + ".py")
    lines = [""] * (text.count("\n") + 1)
    programs = []
    for language, title, start, body in blocks(text):
        if language == "python" and not title:
            lines[start : start + body.count("\n")] = body.splitlines()
            programs.append((start, body))
    file.write_text("\n".join(lines), encoding="utf-8")
    namespace = {"__name__": file.stem, "__file__": str(file)}
    printed = {}
    for start, body in programs:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile("\n" * start + body, str(file), "exec"), namespace)
        printed[start] = out.getvalue().replace(f"{folder}{os.sep}", "")
    return printed


def outputs(text):
    """The fences of a page that are outputs, with the line of the program that prints each."""
    before = None
    for fence, (language, title, start, _) in zip(FENCE.finditer(text), blocks(text), strict=True):
        if language == "text" and before is not None:
            yield fence, before
            before = None
        elif language == "python":
            before = None if title else start


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


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.statistical if n in SLOW else ()) for n in PAGES]
)
def test_a_page_runs_and_prints_what_it_says(name, tmp_path, monkeypatch):
    if name in COMPILED_ONLY and gendsl.runtime.watched.runs_whole():
        pytest.skip("the page is about the compiled runtime")
    monkeypatch.chdir(tmp_path)
    text = (DOCS / name).read_text(encoding="utf-8")
    printed = run_page(name, text, tmp_path)
    assert list(differences(text, printed)) == []


def test_a_wrong_output_and_a_wrong_program_are_found(tmp_path):
    page = "Text\n\n```python\nprint(1 + 1)\n```\n\n```text\n{}\n```\n"
    printed = run_page("page.md", page.format(2), tmp_path)
    assert list(differences(page.format(2), printed)) == []
    assert len(list(differences(page.format(3), printed))) == 1
    with pytest.raises(ZeroDivisionError) as error:
        run_page("page.md", "\n```python\nx = 1\n```\n\n```python\nx / 0\n```\n", tmp_path)
    assert error.traceback[-1].lineno == 6  # counted from 0: the page's own line


@pytest.mark.parametrize("name", [*PAGES, "../README.md"])
def test_only_shell_output_and_settings_are_not_run(name):
    text = (DOCS / name).read_text(encoding="utf-8")
    assert len(FENCE.findall(text)) * 2 == len(re.findall(r"(?m)^ *```", text))
    for language, title, _, body in blocks(text):
        if language == "python":
            ast.parse(body)
            assert not title or name.startswith("coming-from/")
        elif language:
            assert language in NOT_RUN, language


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


@pytest.fixture(scope="module")
def build():
    spec = importlib.util.spec_from_file_location("docs_build", DOCS / "build.py")
    module = importlib.util.module_from_spec(spec)


    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


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


def test_the_navigation_has_every_page():
    listed = set(re.findall(r"(?m)^ +- (\S+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8")))
    assert listed == {*PAGES, "gallery/index.md"}
    assert "docs/build.py" in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert os.path.isfile(DOCS / "build.py")
