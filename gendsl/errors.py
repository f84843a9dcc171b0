"""Every failure gendsl reports: one class each, under `GenDSLError`.

An error says what happened, at which address, on which line of the user's program, and what to do.
Each class also subclasses the builtin that a Python programmer would have caught.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import itertools
import linecache
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from types import CodeType, FrameType, TracebackType
from typing import Any, NoReturn

EXECUTION = "__gendsl__"
"""The name under which a program's compiled body finds the execution that runs it."""

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_CONTEXTS = contextlib.__file__  # whose frames lie between gendsl's own


@dataclass(frozen=True)
class Location:
    """A place in the user's source: file, line, function and, where known, columns.

    Columns are offsets into the UTF-8 line, as the syntax tree and code objects give them.
    """

    filename: str
    lineno: int
    function: str
    columns: tuple[int, int] | None = None

    def __str__(self) -> str:
        where = f"{self.filename}:{self.lineno}, in {self.function}"
        line = linecache.getline(self.filename, self.lineno).rstrip("\n")
        if not line.strip():
            return where
        indent = len(line) - len(line.lstrip())
        shown = f"{where}\n        {line.strip()}"
        if self.columns is not None:
            start, end = (max(_character(line, column) - indent, 0) for column in self.columns)
            shown += f"\n        {' ' * start}{'^' * max(end - start, 1)}"
        return shown


def _character(line: str, column: int) -> int:
    """The index of the character at a byte offset of a line."""
    return len(line.encode()[:column].decode(errors="ignore"))


def _columns(code: CodeType, instruction: int) -> tuple[int, int] | None:
    positions = next(itertools.islice(code.co_positions(), instruction // 2, None), None)
    if positions is None:
        return None
    line, end_line, start, end = positions
    if line != end_line or start is None or end is None:
        return None
    return start, end


def is_users_file(filename: str) -> bool:
    """Whether a file holds user code: not gendsl's, nor that of the libraries it calls back from."""
    if filename.startswith((_PACKAGE, "<frozen")) or filename == _CONTEXTS:
        return False
    parts = filename.replace("\\", "/").split("/")
    return not {"autograd", "numpy", "scipy"} & set(parts[:-1])


def frame_location(frame: FrameType, lineno: int, instruction: int) -> Location:
    """The location of one frame; `instruction` is the byte offset of what it was running."""
    code = frame.f_code
    return Location(code.co_filename, lineno, code.co_name, _columns(code, instruction))


def user_frame(frame: FrameType | None) -> FrameType | None:
    """The innermost frame at or above `frame` that runs the user's code, not gendsl's."""
    while frame is not None and not _is_users(frame):
        frame = frame.f_back
    return frame


def _is_users(frame: FrameType) -> bool:
    """Whether a frame runs the user's code; `<string>` is that of `python -c`, and gendsl's dataclasses'."""
    filename = frame.f_code.co_filename
    if filename == "<string>" and str(frame.f_globals.get("__name__")).startswith("gendsl."):
        return False
    return is_users_file(filename)


_PLACE: ContextVar[Location | None] = ContextVar("place", default=None)


@contextmanager
def placed_at(location: Location | None) -> Iterator[None]:
    """Let `caller_location` give this location in a block: the line that made what is made again there."""
    token = _PLACE.set(location)
    try:
        yield
    finally:
        _PLACE.reset(token)


def caller_location() -> Location | None:
    """The line of the user's code that is running now, or for which something is made again."""
    place = _PLACE.get()
    if place is not None:
        return place
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and not _is_users(frame):
        if "execution" in frame.f_code.co_varnames:
            # a block of a compiled body, between two pieces of the user's code
            site = getattr(frame.f_locals.get("execution"), "site", None)
            if site is not None:
                location: Location = site.location()
                return location
        frame = frame.f_back
    return None if frame is None else frame_location(frame, frame.f_lineno, frame.f_lasti)


def current_address() -> tuple[Any, ...] | None:
    """The address of the choice or traced call that a program is making now, or None."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        for name in (EXECUTION, "execution"):
            if name in code.co_varnames or name in code.co_freevars:
                execution: Any = frame.f_locals.get(name)
                address_in = getattr(execution, "address_in", None)
                if address_in is None:
                    continue
                if name == EXECUTION or execution.site is not None or execution.prefix:
                    found: tuple[Any, ...] | None = address_in(frame)
                    return found
        frame = frame.f_back
    return None


def traceback_location(traceback: TracebackType | None) -> Location | None:
    """The innermost line of the user's code in a traceback."""
    location = None
    while traceback is not None:
        if _is_users(traceback.tb_frame):
            location = frame_location(traceback.tb_frame, traceback.tb_lineno, traceback.tb_lasti)
        traceback = traceback.tb_next
    return location


def raise_at(location: Location | None, error: Exception) -> NoReturn:
    """Raise what Python raised for a user's line that ran elsewhere, so that the traceback ends at that line.

    A frame of code that has the line's place is what tracebacks, debuggers and `traceback_location` look at.
    """
    if location is None:
        raise error
    start, end = location.columns or (0, 0)
    tree = ast.parse("raise error")
    for node in ast.walk(tree):
        if isinstance(node, (ast.stmt, ast.expr)):
            node.lineno = node.end_lineno = location.lineno
            node.col_offset, node.end_col_offset = start, end
    code = compile(tree, location.filename, "exec")
    code = code.replace(co_name=location.function, co_qualname=location.function)
    exec(code, {"error": error.with_traceback(None)})
    raise error


def warn_user(warning: Warning) -> None:
    """Issue a warning for the line of the user's code that is running."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and not is_users_file(frame.f_code.co_filename):
        level, frame = level + 1, frame.f_back
    warnings.warn(warning, stacklevel=level)


def format_address(path: Any) -> str:
    """An address as the user would write it: `'k'` for a path of length 1, `('mu', 2)` otherwise."""
    if isinstance(path, tuple) and len(path) == 1:
        return repr(path[0])
    return repr(path)


class GenDSLError(Exception):
    """Base of every error that gendsl raises on purpose.

    Args:
        problem: what happened, in one sentence.
        address: the address concerned, as a path; that of the choice being made if not given.
        fix: what to do about it.
        location: where in the user's source; the running line of user code if not given.
    """

    def __init__(
        self,
        problem: str,
        *,
        address: tuple[Any, ...] | None = None,
        fix: str | None = None,
        location: Location | None = None,
    ) -> None:
        super().__init__(problem)
        self.problem = problem
        self.address = current_address() if address is None else address
        self.fix = fix
        self.location = location if location is not None else caller_location()

    def __str__(self) -> str:
        lines = [self.problem]
        if self.address is not None:
            lines.append(f"  address: {format_address(self.address)}")
        if self.location is not None:
            lines.append(f"  where: {self.location}")
        if self.fix is not None:
            lines.append(f"  fix: {self.fix}")
        return "\n".join(lines)


# --- language: raised when a function is decorated -------------------------------------------


class UnsupportedSyntaxError(GenDSLError, SyntaxError):
    """The body of a `@gen` or `@transform` function uses something gendsl can't give a meaning."""

    def __init__(self, problem: str, *, fix: str | None = None, location: Location | None = None):
        GenDSLError.__init__(self, problem, fix=fix, location=location)
        self.msg = problem if fix is None else f"{problem}; {fix}"
        if self.location is not None:
            self.filename = self.location.filename
            self.lineno = self.location.lineno
            line = linecache.getline(self.filename, self.lineno)
            self.text = line or None
            if self.location.columns is not None:
                self.offset, self.end_offset = (_character(line, c) + 1 for c in self.location.columns)
                self.end_lineno = self.lineno

    def __reduce__(self) -> tuple[Any, ...]:
        # what a SyntaxError keeps outside its __dict__ is set by the constructor again
        rebuild = functools.partial(type(self), fix=self.fix, location=self.location)
        return rebuild, (self.problem,), vars(self)


class SourceUnavailableError(GenDSLError, OSError):
    """The source text of a function can't be found, so it can't be compiled."""


class NotClosedError(GenDSLError, TypeError):
    """A program does what the compiler of closed programs does not read; the reason names it."""


# --- addresses ---------------------------------------------------------------------------------


class InvalidAddressError(GenDSLError, TypeError):
    """Something that can't be an address was used as one."""


class MissingAddressError(GenDSLError, TypeError):
    """A random choice was made without an address."""


class DuplicateAddressError(GenDSLError, ValueError):
    """Two choices, or two calls, at one address."""


class AddressConflictError(GenDSLError, ValueError):
    """One address is both a choice and a namespace that holds other choices."""


class UnknownAddressError(GenDSLError, KeyError):
    """An address was named that isn't there."""


class MissingChoiceError(GenDSLError, KeyError):
    """A choice that the program makes was not given a value where one is required."""


class ObservedError(GenDSLError, ValueError):
    """An observation would have been changed."""


class PartialObservationWarning(UserWarning):
    """A list or array of observations ends before the choices that it is for, and the rest are latent."""


class CompilerWarning(UserWarning):
    """The compiler failed by a mistake of its own, and what it was to compile runs without it."""


# --- distributions and values ------------------------------------------------------------------


class ParameterError(GenDSLError, ValueError):
    """A distribution was given a parameter that it doesn't allow."""


class ImproperError(GenDSLError, ValueError):
    """Something was to be drawn from a distribution that isn't normalised."""


class ValueTypeError(GenDSLError, TypeError):
    """A value of the wrong type was given for a choice or an argument."""


class ZeroProbabilityError(GenDSLError, ValueError):
    """A chain was to start from a trace of probability zero."""


class ArgumentError(GenDSLError, TypeError):
    """A program was called with arguments that its signature doesn't take."""


class UntracedChoiceError(GenDSLError, TypeError):
    """`~distribution` was evaluated outside the body of a `@gen` function."""


class ProgramError(GenDSLError, TypeError):
    """A subclass of `GenerativeFunction` of a user's own does not keep its contract."""


class NotADistributionError(GenDSLError, TypeError):
    """Something that isn't a distribution was used as one."""


class NaNError(GenDSLError, ArithmeticError):
    """A log probability, a Jacobian or an acceptance ratio is NaN."""


class LostDerivativeError(GenDSLError, TypeError):
    """An operation would silently have dropped the derivative of its argument."""


# --- transforms and involutive moves -----------------------------------------------------------


class TransformError(GenDSLError):
    """Base of what can be wrong with a transform; `check="reject"` turns these into rejections."""


class HandleError(TransformError, TypeError):
    """A trace handle was used where only `read`, `write` and `copy` can use it."""


class LabelError(TransformError, TypeError):
    """A `discrete` or `continuous` label contradicts the distribution at the address."""


class CoverageError(TransformError, ValueError):
    """An output address is written twice, not at all, or doesn't exist in the output trace."""


class ReadError(TransformError, KeyError):
    """A transform reads an address that isn't in the input trace."""


class ProtectedObservationError(TransformError, ObservedError):
    """A transform wrote to an observation."""


class DimensionError(TransformError, ValueError):
    """The numbers of free continuous input and output coordinates differ."""


class SingularJacobianError(TransformError, ArithmeticError):
    """The Jacobian of a transform has no inverse, so the transform is no bijection."""


class SupportError(TransformError, ValueError):
    """A transform led to a pair of traces of probability zero."""


class DerivativeError(TransformError, ArithmeticError):
    """A derivative of a transform is not that of finite differences."""


class InvolutionError(TransformError, ValueError):
    """Applying a transform twice didn't give back the traces that it started from."""


class MoveNaNError(TransformError, NaNError):
    """The acceptance ratio of a move is NaN."""


# --- kernels and runs --------------------------------------------------------------------------


class RuntimeMismatchError(GenDSLError, AssertionError):
    """The compiled runtime and the reference runtime disagree about a trace."""


class NotDeterministicError(RuntimeMismatchError):
    """Two executions of a program, or of a transform, with the same arguments and choices differ."""


class KernelError(GenDSLError, TypeError):
    """Something that isn't a kernel, or a kernel's wrong result."""


class LostChainsError(GenDSLError, RuntimeError):
    """What runs the chains of a run has lost some of them, again after they were sent a second time.

    Attributes:
        run: what was drawn until then, of every chain.
    """

    run: Any = None


class RecursionDepthError(GenDSLError, RecursionError):
    """A program or a transform calls itself without end, or deeper than Python lets it."""


def too_deep(error: RecursionError, name: str) -> RecursionDepthError:
    """The error to raise in place of Python's, for a program or transform of that name."""
    if isinstance(error, RecursionDepthError):
        return error
    return RecursionDepthError(
        f"{name} makes calls more than {sys.getrecursionlimit()} deep, Python's limit: it may never halt",
        location=traceback_location(error.__traceback__),
        fix="look at what should end the recursion, and how probable that is; one that is deep and does end "
        "needs sys.setrecursionlimit(...), or a loop",
    )


class EnumerationError(GenDSLError, ValueError):
    """A model can't be enumerated: it has infinitely many, or too many, traces."""


# --- files -------------------------------------------------------------------------------------


class FileFormatError(GenDSLError, ValueError):
    """A file is damaged, was written by something else, or doesn't belong to the program it is loaded for."""


class UntrustedFileError(FileFormatError, LookupError):
    """A file names code that the caller didn't give, and reading a file imports and runs nothing."""


class RunInUseError(GenDSLError, BlockingIOError):
    """The folder of a run, or one of its chains, is being written by another process or thread."""


# --- the command line --------------------------------------------------------------------------


class CommandError(GenDSLError, ValueError):
    """A command names something that isn't there, or isn't what the command needs."""
