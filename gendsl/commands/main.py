"""The command line's parser, and what becomes of errors.

Exit codes: 0 if all went well; 1 if a check failed, a run was interrupted, or an error came up on the way; 2
if the command can't be understood, or names something that isn't there.
"""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from collections.abc import Sequence
from typing import Any, NoReturn

from gendsl.commands import demo, programs, runs
from gendsl.commands.check import check
from gendsl.errors import CommandError, GenDSLError, traceback_location
from gendsl.transforms.random_cases import CASES

_ABOUT = """\
Involutive and reversible-jump MCMC from a model, an auxiliary program and a map between traces.

commands:
  demo       run an example, or list them
  explain    say which parts of a model update incrementally, or what a transform does
  source     show the code that is generated for a model or a transform
  check      test a move on random traces
  resume     go on with a run that was stopped
  summary    say what a run comes to so far
"""

_EXAMPLES = """\
examples:
  gendsl demo                         list the examples
  gendsl demo galaxies --draws 2000   run one
  gendsl explain mixture:model        what an update of mixture.model costs
  gendsl check moves.py:birth_death   test the move that moves.py describes
  gendsl summary run/                 what is in a run's folder
  gendsl check --help                 more about one command

exit codes: 0 all is well; 1 a check failed, or an error came up; 2 the command can't be understood
"""

_CHECK = """\
Test a move on random traces from the prior: support, dimension, coverage, round trip, determinants and
derivatives in every case (Algorithm 5 of "Automating Involutive MCMC").

MOVE is module:name or file.py:name, and there a dict or a class with

  model, args     the model, and its arguments; () if left out
  q, q_args       the auxiliary program, and its arguments after the model's trace; None and () if left out
  f               the transform, or a pair of them
  observed        what will be observed, as in check_involutive; None if left out

Without :name, these are variables of the module itself.
"""

_CHECK_EXAMPLES = """\
examples:
  gendsl check moves.py:birth_death
  gendsl check package.moves:birth_death --cases 1000 --seed 7
  gendsl check moves                    with model, args, q and f in moves.py

  in moves.py:  birth_death = dict(model=clusters, args=(10,), q=propose, f=birth_or_death, observed="x")

exit codes: 0 all cases passed; 1 some failed; 2 there is no such move
"""


_TRUST = "look up what isn't given by the names in the folder: runs the code that the files name"


class _Parser(argparse.ArgumentParser):
    """A parser whose help keeps its line breaks, and that knows --debug."""

    def __init__(self, **options: Any) -> None:
        super().__init__(formatter_class=argparse.RawDescriptionHelpFormatter, **options)
        self.add_argument(
            "--debug", action="store_true", default=argparse.SUPPRESS, help="show tracebacks of errors"
        )

    def error(self, message: str) -> NoReturn:
        if "required" in message and self.epilog:  # examples say what an argument looks like
            message = f"{message}\n\n{self.epilog.rstrip()}"
        super().error(message)


def parser() -> argparse.ArgumentParser:
    """The parser of the command line."""
    top = _Parser(prog="gendsl", description=_ABOUT, epilog=_EXAMPLES)
    top.add_argument("--version", action="version", version=f"gendsl {_version()}")
    commands = top.add_subparsers(dest="command", metavar="command", required=True)

    def command(name: str, about: str, examples: str) -> argparse.ArgumentParser:
        return commands.add_parser(name, description=about, epilog=examples)

    one = command(
        "demo", "Run an example; without a name, list them.",
        "examples:\n  gendsl demo\n  gendsl demo galaxies --draws 2000\n  gendsl demo galaxies --help",
    )  # fmt: skip
    one.add_argument("name", nargs="?", help="an example")
    one.add_argument("options", nargs=argparse.REMAINDER, help="options of the example itself")

    for name, about in (
        (
            "explain",
            "Say which parts of a model update incrementally, which don't, and why; or what each line of a\n"
            "transform reads, writes and copies.",
        ),
        ("source", "Show the code that is generated for a @gen or @transform function."),
    ):
        usage = f"examples:\n  gendsl {name} mixture:model\n  gendsl {name} folder/mixture.py:split_merge"
        command(name, about, usage).add_argument("program", help="module:name or file.py:name")

    one = command("check", _CHECK, _CHECK_EXAMPLES)
    one.add_argument("move", help="module:name, file.py:name, or a module alone")
    one.add_argument("--cases", type=int, default=CASES, help=f"how many random cases to test ({CASES})")
    one.add_argument("--seed", type=int, default=0, help="of the random cases (0)")

    one = command(
        "resume",
        "Go on with a run that sample(..., checkpoint=FOLDER) wrote. Its draws are those that it would have\n"
        "made if it hadn't been stopped. Nothing that the folder names is imported, unless it is trusted.",
        "examples:\n  gendsl resume run/ --model mixture:model --kernel mixture:KERNEL\n"
        "  gendsl resume run/ --trust",
    )
    one.add_argument("folder")
    one.add_argument("--model", help="the model, as module:name or file.py:name")
    one.add_argument("--kernel", help="the kernel, likewise")
    one.add_argument("--record", help="what was passed to sample as record=, likewise, if it has functions")
    one.add_argument("--trust", action="store_true", help=_TRUST)
    one.add_argument("--quiet", action="store_true", help="show no progress")

    one = command(
        "summary",
        "Say how far a run is, how often each kernel was accepted, and what its quantities come to. It may\n"
        "be running meanwhile.",
        "examples:\n  gendsl summary run/\n  gendsl summary run/ --full\n"
        "  gendsl summary run/ --quantity k --quantity mu,0",
    )
    one.add_argument("folder")
    one.add_argument("--model", help="the model, as module:name or file.py:name; for whole traces")
    one.add_argument("--trust", action="store_true", help=_TRUST)
    one.add_argument(
        "--quantity", action="append", default=[], help="one to show: a recorded name, or an address (mu,0)"
    )
    one.add_argument("--full", action="store_true", help="with R-hat and effective sample sizes, by ArviZ")
    return top


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("gendsl")
    except PackageNotFoundError:
        return "(not installed)"


def _run(given: argparse.Namespace) -> int:
    command = given.command
    if command == "demo":
        return demo.list_demos() if given.name is None else demo.run_demo(given.name, given.options)
    if command == "explain":
        return programs.explain(given.program)
    if command == "source":
        return programs.source(given.program)
    if command == "check":
        return check(given.move, given.cases, given.seed)
    if command == "resume":
        named = given.kernel, given.model, given.record
        return runs.resume_run(given.folder, *named, trust=given.trust, quiet=given.quiet)
    return runs.summarise(given.folder, given.model, given.quantity, trust=given.trust, full=given.full)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; its exit code.

    Args:
        arguments: those after the name of the program; `sys.argv[1:]` if not given.
    """
    try:
        given = parser().parse_args(arguments)
    except SystemExit as stop:  # --help, --version, and what can't be understood
        return int(stop.code or 0)
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())  # modules are looked up where the command is given
    try:
        code = _run(given)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 1
    except BrokenPipeError:  # whoever reads has seen enough: `gendsl source m:f | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        if getattr(given, "debug", False):
            traceback.print_exc()
        else:
            print(f"gendsl: {_told(error)}", file=sys.stderr)
        return 2 if isinstance(error, CommandError) else 1


def _told(error: Exception) -> str:
    """An error without its traceback."""
    if isinstance(error, GenDSLError):
        if isinstance(error, CommandError) or _is_the_command(error):
            error.location = None  # there is no line of the user's
        return str(error)
    place = traceback_location(error.__traceback__)
    where = "" if place is None or place.filename == sys.argv[0] else f"\n  where: {place}"
    return f"{type(error).__name__}: {error}{where}\n  --debug shows the traceback"


def _is_the_command(error: GenDSLError) -> bool:
    place = error.location
    return place is not None and os.path.abspath(place.filename) == os.path.abspath(sys.argv[0])
