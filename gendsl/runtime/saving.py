"""Traces in files, without pickle: the program's name, its arguments and the choices, as JSON.

What is read is data. The program is the one that the caller gives; it is run with the arguments and the
choices of the file, and has to give them the density that they had. (`gendsl.runtime.files` has the format.)
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from gendsl.choices import ChoiceMap
from gendsl.errors import FileFormatError, RuntimeMismatchError, UntrustedFileError, ValueTypeError
from gendsl.interface import GenerativeFunction, Trace
from gendsl.runtime.encoding import encode, encode_choices
from gendsl.runtime.files import given_path, read_file, remove_parts, write_file
from gendsl.runtime.program_names import check_model, find_program, given_programs, program_name

TRACE = "gendsl trace"


def save_trace(trace: Trace, path: str | os.PathLike[str]) -> None:
    """Save a trace: `trace.save(path)`."""
    place = given_path(path, "trace.save")
    content = {
        "program": program_name(trace.gen_fn, must_be_found=False),
        "args": [encode(arg, "an argument of the trace") for arg in trace.args],
        "observed": encode_choices(trace.observed),
        "choices": encode_choices(latent(trace)),
        "log_prob": encode(float(trace.log_prob)),
    }
    write_file(place, TRACE, content)
    remove_parts(place.parent, f"{place.name}.")


def load_trace(
    path: str | os.PathLike[str],
    model: GenerativeFunction | None = None,
    *,
    programs: Mapping[str, GenerativeFunction] = {},
    trust: bool = False,
) -> Any:
    """The trace that `trace.save(path)` saved.

    Nothing that the file names is imported or run: only `model` is, with the arguments and the choices in the
    file.

    Args:
        path: the file.
        model: the program it is a trace of.
        programs: the programs among its arguments, by the names that they have in the file:
            `{"module:part": part}`. The model may be among them.
        trust: whether to look up programs that are not given by their names in the file. Their modules are
            imported: it runs the code that the files name.

    Returns:
        A trace with the same arguments, choices and observations; everything else is computed from them.

    Raises:
        UntrustedFileError: the model, or a program among the arguments, isn't given; says what to write.
        FileFormatError: the file is damaged or no saved trace; or the program is another one, or gives these
            choices another density.
        OSError: the file can't be read.
    """
    check_model(model, "load_trace")
    find = given_programs(programs, trust)
    content = read_file(given_path(path, "load_trace"), TRACE)
    name = content.text("program")
    if model is None and name in find.given:
        model = find.given[name]
    if model is None and not trust:
        raise UntrustedFileError(
            f"{content.path} is a trace of {name[:200]}, and reading a file imports nothing",
            fix=f"pass the program: load_trace({content.path!r}, {variable(name)}); or, if you trust the "
            f"file, load_trace({content.path!r}, trust=True), which imports {name.partition(':')[0][:200]}; "
            "read_choices gives the choices without a program",
        )
    if model is None:
        model = find_program(name)
    observed = content.choices("observed", find)
    values = {**content.choices("choices", find), **observed}
    trace = content.decoded(lambda: remake(model, content.values("args", find), values, observed))
    check_density(trace, content.number("log_prob"), f"{content.path}, a trace of {name[:200]},")
    return trace


def read_choices(path: str | os.PathLike[str]) -> ChoiceMap:
    """The choices in a file that `trace.save(path)` wrote, observations among them; it needs no program.

    Raises:
        UntrustedFileError: the value of a choice is a program.
        FileFormatError: the file is damaged or no saved trace.
        OSError: the file can't be read.
    """
    content = read_file(given_path(path, "read_choices"), TRACE)
    values = {**content.choices("choices"), **content.choices("observed")}
    try:
        return ChoiceMap(values)
    except (TypeError, ValueError) as error:
        raise content.error(str(error).partition("\n")[0]) from None


def variable(name: str) -> str:
    """How the program of a name is likely written, in advice: `module:owner.part` as `part`."""
    last = name.rpartition(":")[2].rpartition(".")[2]
    return last if last.isidentifier() else "model"


def remake(model: Any, args: tuple[Any, ...], values: dict[Any, Any], observed: Any) -> Any:
    """A trace made of nothing but its arguments and choices, all of which must be the program's.

    Raises:
        FileFormatError: they are not the program's.
    """
    if not (model.__module__ and hasattr(model, "score")):
        raise ValueTypeError(f"traces of {model!r} can't be remade", fix="use a @gen function")
    as_it_was = "give the program that it was saved from, as it was then"
    try:
        trace = model.score(args, values)
    except KeyError as error:  # MissingChoiceError is one
        raise FileFormatError(
            f"{model.name} makes a choice that was not saved: {error.args[0] if error.args else error}",
            fix=as_it_was,
        ) from None
    except RuntimeMismatchError:
        raise
    except Exception as error:  # the program may raise anything for arguments and choices that aren't its own
        what = getattr(error, "problem", error)
        raise FileFormatError(
            f"{model.name} can't be run with what was saved: {type(error).__name__}: {what}", fix=as_it_was
        ) from error
    extra = next((path for path in values if path not in trace.records), None)
    if extra is not None:
        raise FileFormatError(
            f"{model.name} has no such choice as was saved", address=extra, fix=as_it_was
        )
    trace.observed_paths = frozenset(observed)
    return trace


def check_density(trace: Any, expected: float, what: str) -> None:
    """Raise unless a trace that was made again has the log density that it had.

    Raises:
        FileFormatError: it has another; the program isn't what it was.
    """
    found = trace.log_prob
    if found == expected or (found != found and expected != expected):
        return
    if not abs(found - expected) <= 1e-8 * max(1.0, abs(found), abs(expected)):
        raise FileFormatError(
            f"{what} had the log density {expected!r}, and {trace.gen_fn.name} now gives it {found!r}",
            fix="give the program that it was saved from, as it was then",
        )


def latent(trace: Any) -> dict[Any, Any]:
    """The choices of a trace that are no observations, by path."""
    observed = trace.observed_paths
    return {path: value for path, value in trace._values() if path not in observed}


def whole_trace(start: Any, choices: dict[Any, Any]) -> Any:
    """The trace with the program, the arguments and the observations of another, and these latent choices."""
    observed = dict(start.observed.items())
    trace = remake(start.gen_fn, start.args, {**observed, **choices}, ())
    trace.observed_paths = start.observed_paths
    return trace
