"""Build the documentation: run the examples and the programs that draw, write the gallery, make the site.

    python docs/build.py                # short runs of the examples, then the site in site/
    python docs/build.py --full         # the examples with the lengths that they have by default
    python docs/build.py --keep         # gallery and figures as they are, only the site again
    python docs/build.py --only coal    # this example again, the others as they are

Needs `pip install '.[docs]'`. A line of an example's output such as

    p(k = 2 | x) = 0.862 ± 0.014; exact 0.847

is a row of the gallery's table, with the difference in standard errors. The figures of pages are those that
their own programs save: `![...](../figures/NAME)`.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"
DOCS = ROOT / "docs"
GALLERY, FIGURES = DOCS / "gallery", DOCS / "figures"

SHORT = {
    "birth_death": ["--draws", "4000"],
    "clustering": ["--draws", "300", "--points", "1000", "--search", "300", "--steps", "2"],
    "coal": ["--draws", "600"],
    "galaxies": ["--draws", "500"],
    "gp_structure": ["--draws", "50", "--small-draws", "2000"],
    "hmc_by_involution": ["--draws", "1500"],
    "hmm_smc": ["--particles", "50", "--runs", "10"],
    "mixture_hyper": ["--draws", "12000"],
    "one_or_two_means": ["--draws", "2000"],
    "polar": ["--draws", "4000"],
    "state_dependent_mixture": [],
    "variable_selection": ["--draws", "2000"],
}
"""The options of a run of some seconds, two minutes at most."""

_NUMBER = r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?"
_ESTIMATE = re.compile(rf"(?P<value>{_NUMBER}) ± (?P<error>{_NUMBER})")
_ROW = re.compile(
    rf"^\s*(?P<what>\S.*?)\s*(?:=\s*|\s)(?P<value>{_NUMBER}) ± (?P<error>{_NUMBER})(?P<rest>.*)$"
)
_REFERENCE = re.compile(rf"(?P<kind>exact|published)\s+(?P<value>{_NUMBER})")
_HEADER = re.compile(r"^\s+\w+\s{2,}exact(?P<columns>(?:\s{2,}\S+)+)\s*$")
_TABLE_ROW = re.compile(rf"^\s*(?P<what>\S+)\s{{2,}}(?P<exact>{_NUMBER})(?P<rest>\s.*±.*)$")
_DIFFERENCE = re.compile(r"\(z = (?P<z>[-+]\d+\.\d+)\)")
_PROGRAM = re.compile(r"(?ms)^```python\n(.*?)^```$")
_FIGURE = re.compile(r'!\[[^\]]*\]\(\.\./figures/([^)]+)\)|^--8<-- "docs/figures/([^"]+)"', re.MULTILINE)


@dataclass(frozen=True)
class Row:
    """An estimate that an example printed, and what it is compared with, if anything."""

    what: str
    value: float
    error: float
    reference: float | None = None
    kind: str = ""
    z: float | None = None

    @property
    def difference(self) -> float | None:
        """(value - reference) / error, where both are there, or as it was printed."""
        if self.reference is None or self.error == 0:
            return self.z
        return (self.value - self.reference) / self.error


def rows(output: str) -> list[Row]:
    """The estimates in an example's output, in lines or in a table with the exact answer before them."""
    found = []
    columns: list[str] = []
    for line in output.splitlines():
        if header := _HEADER.match(line):
            columns = header["columns"].split()
        elif columns and (row := _TABLE_ROW.match(line)):
            for column, estimate in zip(columns, _ESTIMATE.finditer(row["rest"]), strict=True):
                value, error = float(estimate["value"]), float(estimate["error"])
                found.append(Row(f"{row['what']}, {column}", value, error, float(row["exact"]), "exact"))
        elif row := _ROW.match(line):
            columns = []
            reference, printed = _REFERENCE.search(row["rest"]), _DIFFERENCE.search(row["rest"])
            found.append(
                Row(
                    row["what"],
                    float(row["value"]),
                    float(row["error"]),
                    None if reference is None else float(reference["value"]),
                    "" if reference is None else reference["kind"],
                    None if printed is None else float(printed["z"]),
                )
            )
    return found


def run_example(name: str, options: list[str], folder: Path) -> str:
    """What an example prints; its figure goes to `folder`."""
    figure = folder / f"{name}.png"
    command = [sys.executable, str(EXAMPLES / f"{name}.py"), *options, "--figure", str(figure)]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=folder, env={**os.environ, "MPLBACKEND": "Agg"}
    )
    if done.returncode != 0:
        raise SystemExit(f"examples/{name}.py failed:\n{done.stdout}{done.stderr}")
    return clean(done.stdout)


def clean(output: str) -> str:
    """An example's output without the paths of this machine."""
    lines = [line for line in output.splitlines() if not line.startswith("figure: ")]
    return "\n".join(lines).replace(f"{ROOT}{os.sep}", "").strip("\n")


def description(name: str) -> tuple[str, str]:
    """The first line and the rest of an example's docstring, without the command."""
    docstring = re.match(r'"""(.*?)"""', (EXAMPLES / f"{name}.py").read_text(encoding="utf-8"), re.DOTALL)
    assert docstring is not None, f"examples/{name}.py has no docstring"
    first, _, rest = docstring[1].partition("\n")
    rest = re.sub(r"(?m)^    python .*$", "", rest)
    return first, rest.strip()


def page(name: str, options: list[str], output: str) -> str:
    """The gallery's section on an example."""
    first, rest = description(name)
    command = " ".join(["python", f"examples/{name}.py", *options])
    parts = [f"## {name}", first, rest]
    if (GALLERY / f"{name}.png").exists():
        parts.append(f"![The figure of {name}]({name}.png)")
    parts += [f"```sh\n{command}\n```", f"```text\n{output}\n```"]
    return "\n\n".join(part for part in parts if part)


def table(outputs: dict[str, str]) -> str:
    """The table of all estimates."""
    lines = ["| example | quantity | estimate | reference | difference |", "|---|---|---|---|---|"]
    for name, output in outputs.items():
        for row in rows(output):
            reference = "" if row.reference is None else f"{row.reference:g}&nbsp;({row.kind})"
            difference = "" if row.difference is None else f"{row.difference:+.1f}"
            what = row.what.replace("|", "\\|")
            estimate = f"{row.value:g}&nbsp;±&nbsp;{row.error:g}"
            lines.append(f"| [{name}](#{name}) | {what} | {estimate} | {reference} | {difference} |")
    return "\n".join(lines)


def gallery(outputs: dict[str, str], options: dict[str, list[str]]) -> str:
    """The gallery's page."""
    sections = [page(name, options[name], output) for name, output in outputs.items()]
    introduction = (
        "# Examples and their numbers\n\nMade by `python docs/build.py` from what the examples print. "
        "Estimates have Monte Carlo standard errors, and the last column is the difference from the "
        "reference in these. The runs on this page are as short as the commands below say. A standard "
        "error that is estimated from a short chain that moves slowly is itself uncertain, and mostly too "
        "small: the tests compare longer runs."
    )
    return "\n\n".join([introduction, "## All estimates", table(outputs), *sections]) + "\n"


def figures(text: str) -> list[str]:
    """The files that a page shows of those that its programs save."""
    return [image or file for image, file in _FIGURE.findall(text)]


def draw(page: Path, folder: Path) -> None:
    """Run the programs of a page, one after the other, where its figures belong."""
    text = page.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as place:
        program = Path(place, f"{page.stem.replace('-', '_')}.py")
        program.write_text("\n".join(_PROGRAM.findall(text)), encoding="utf-8")
        done = subprocess.run(
            [sys.executable, program], capture_output=True, text=True, cwd=folder,
            env={**os.environ, "MPLBACKEND": "Agg"},
        )  # fmt: skip
    if done.returncode != 0:
        raise SystemExit(f"the programs of {page} failed:\n{done.stdout}{done.stderr}")
    missing = [name for name in figures(text) if not (folder / name).exists()]
    if missing:
        raise SystemExit(f"no program of {page} saves {', '.join(missing)}")


def draw_figures(keep: bool) -> None:
    """Draw the figures of all pages; where they are kept, those that aren't there."""
    FIGURES.mkdir(exist_ok=True)
    for page in sorted(DOCS.rglob("*.md")):
        shown = figures(page.read_text(encoding="utf-8"))
        if shown and not (keep and all((FIGURES / name).exists() for name in shown)):
            print(page.relative_to(ROOT), flush=True)
            draw(page, FIGURES)


def main() -> None:
    """Run what is to be run and make the site."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--full", action="store_true", help="long runs of the examples")
    parser.add_argument("--keep", action="store_true", help="run no examples and no programs again")
    parser.add_argument("--only", action="append", metavar="NAME", help="run this example only")
    chosen = parser.parse_args()
    GALLERY.mkdir(exist_ok=True)
    names = sorted(path.stem for path in EXAMPLES.glob("*.py"))
    options = {name: [] if chosen.full else SHORT.get(name, []) for name in names}
    outputs = {}
    for name in names:
        file = GALLERY / f"{name}.txt"
        wanted = name in chosen.only if chosen.only else not chosen.keep
        if wanted or not file.exists():
            print(f"examples/{name}.py {' '.join(options[name])}", flush=True)
            file.write_text(run_example(name, options[name], GALLERY), encoding="utf-8")
        outputs[name] = file.read_text(encoding="utf-8")
    (GALLERY / "index.md").write_text(gallery(outputs, options), encoding="utf-8")
    draw_figures(chosen.keep or bool(chosen.only))
    quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}  # the theme's announcement of its successor
    site = subprocess.run([sys.executable, "-m", "mkdocs", "build", "--strict"], cwd=ROOT, env=quiet)
    raise SystemExit(site.returncode)


if __name__ == "__main__":
    main()
