"""Errors: what they print, where they point, that each is a builtin too, and that they pickle."""

import linecache
import pickle
import sys
import textwrap

import numpy as np
import pytest

from gendsl import errors
from gendsl.choices import choicemap
from gendsl.errors import (
    GenDSLError,
    Location,
    UnknownAddressError,
    UnsupportedSyntaxError,
    ValueTypeError,
    caller_location,
    format_address,
    traceback_location,
    user_frame,
)

CLASSES = [c for c in vars(errors).values() if isinstance(c, type) and issubclass(c, GenDSLError)]

BUILTINS = {
    "UnsupportedSyntaxError": SyntaxError,
    "SourceUnavailableError": OSError,
    "InvalidAddressError": TypeError,
    "MissingAddressError": TypeError,
    "DuplicateAddressError": ValueError,
    "AddressConflictError": ValueError,
    "UnknownAddressError": KeyError,
    "MissingChoiceError": KeyError,
    "ObservedError": ValueError,
    "ParameterError": ValueError,
    "ValueTypeError": TypeError,
    "UntracedChoiceError": TypeError,
    "NotADistributionError": TypeError,
    "NaNError": ArithmeticError,
    "LostDerivativeError": TypeError,
    "HandleError": TypeError,
    "LabelError": TypeError,
    "CoverageError": ValueError,
    "ReadError": KeyError,
    "ProtectedObservationError": ValueError,
    "DimensionError": ValueError,
    "SingularJacobianError": ArithmeticError,
    "SupportError": ValueError,
    "InvolutionError": ValueError,
    "MoveNaNError": ArithmeticError,
    "KernelError": TypeError,
}


@pytest.fixture
def program():
    """A file of source text that only the line cache knows; gives its name."""
    name = "<program of the test>"
    text = 'def model(n):\n    mu = 3\n    return     {"a": n}["b"] + mu\n'
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    yield name
    del linecache.cache[name]


def name_of(cls):
    return cls.__name__


# --- the classes -------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", CLASSES, ids=name_of)
def test_every_class_is_a_builtin_error_too(cls):
    assert issubclass(cls, GenDSLError)
    if cls in (GenDSLError, errors.TransformError):
        return  # bases, which are never raised themselves
    natural = BUILTINS.get(cls.__name__)
    if natural is None:
        bases = [base for base in cls.__mro__ if base.__module__ == "builtins"]
        assert set(bases) - {Exception, BaseException, object}, "subclass the builtin that a user would catch"
    else:
        assert issubclass(cls, natural)


@pytest.mark.parametrize("cls", CLASSES, ids=name_of)
def test_every_class_says_what_it_is_for(cls):
    assert cls.__doc__
    assert cls.__doc__.strip().splitlines()[0].endswith(".")


def test_everything_about_a_transform_is_a_transform_error():
    for name in ("HandleError", "CoverageError", "DimensionError", "InvolutionError", "MoveNaNError"):
        assert issubclass(getattr(errors, name), errors.TransformError)
    assert issubclass(errors.ProtectedObservationError, errors.ObservedError)
    assert issubclass(errors.MoveNaNError, errors.NaNError)


@pytest.mark.parametrize("cls", CLASSES, ids=name_of)
def test_every_class_renders_and_pickles(cls, program):
    place = Location(program, 3, "model", (15, 28))
    if cls is UnsupportedSyntaxError:
        error = cls("it failed", fix="do this", location=place)
        address = ""
    else:
        error = cls("it failed", address=("mu", 2), fix="do this", location=place)
        address = "  address: ('mu', 2)\n"
    expected = (
        "it failed\n"
        f"{address}"
        f"  where: {program}:3, in model\n"
        '        return     {"a": n}["b"] + mu\n'
        "                   ^^^^^^^^^^^^^\n"
        "  fix: do this"
    )
    assert str(error) == expected
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        again = pickle.loads(pickle.dumps(error, protocol))
        assert type(again) is cls
        assert str(again) == expected
        assert (again.problem, again.address, again.fix) == (error.problem, error.address, error.fix)
        assert again.location == place
        if isinstance(error, UnsupportedSyntaxError):
            for name in ("msg", "filename", "lineno", "offset", "end_lineno", "end_offset", "text"):
                assert getattr(again, name) == getattr(error, name)


# --- text --------------------------------------------------------------------------------------


def test_format_address():
    assert format_address(("k",)) == "'k'"
    assert format_address((0,)) == "0"
    assert format_address(("mu", 2)) == "('mu', 2)"
    assert format_address(("mu", (1, 2))) == "('mu', (1, 2))"


def test_what_is_not_known_is_left_out():
    error = ValueTypeError("it failed", location=Location("<nowhere>", 7, "f"))
    assert str(error) == "it failed\n  where: <nowhere>:7, in f"
    error = ValueTypeError("it failed", address=("k",), location=Location("<nowhere>", 7, "f", (0, 3)))
    assert str(error) == "it failed\n  address: 'k'\n  where: <nowhere>:7, in f"


def test_a_key_error_prints_its_text_and_not_its_repr():
    error = UnknownAddressError("it isn't there", address=("x",), location=Location("<nowhere>", 1, "f"))
    assert str(error) == "it isn't there\n  address: 'x'\n  where: <nowhere>:1, in f"
    assert error.args == ("it isn't there",)


def test_a_location_without_columns_has_no_caret(program):
    assert str(Location(program, 2, "model")) == f"{program}:2, in model\n        mu = 3"
    assert str(Location(program, 2, "model", (9, 10))) == (
        f"{program}:2, in model\n        mu = 3\n             ^"
    )
    assert str(Location(program, 2, "model", (4, 4))).endswith("\n        ^")
    assert str(Location(program, 99, "model")) == f"{program}:99, in model"


def test_the_caret_counts_characters_where_columns_count_bytes():
    name = "<greek>"
    text = '    μσ = "é" + f(x)\n'
    linecache.cache[name] = (len(text), None, [text], name)
    start = text.encode().index(b"f(x)")
    place = Location(name, 1, "model", (start, start + 4))
    assert str(place) == f'{name}:1, in model\n        μσ = "é" + f(x)\n                   ^^^^'
    error = UnsupportedSyntaxError("no", location=place)
    assert text[error.offset - 1 : error.end_offset - 1] == "f(x)"
    del linecache.cache[name]


def test_syntax_errors_point_as_python_does(program):
    place = Location(program, 3, "m", (15, 28))
    error = UnsupportedSyntaxError("no lambda here", fix="use def", location=place)
    assert error.msg == "no lambda here; use def"
    assert (error.filename, error.lineno, error.offset, error.end_offset) == (program, 3, 16, 29)
    assert error.end_lineno == 3
    assert error.text == '    return     {"a": n}["b"] + mu\n'
    plain = UnsupportedSyntaxError("no lambda here", location=Location("<nowhere>", 1, "f"))
    assert (plain.msg, plain.text, plain.offset) == ("no lambda here", None, None)


# --- where -------------------------------------------------------------------------------------


def test_an_error_points_at_the_users_line():
    cm = choicemap({"k": 1})
    with pytest.raises(UnknownAddressError) as error:
        cm["kk"]
    place = error.value.location
    assert place.filename == __file__
    assert place.function == "test_an_error_points_at_the_users_line"
    assert linecache.getline(place.filename, place.lineno).strip() == 'cm["kk"]'
    *_, shown, caret, fix = str(error.value).splitlines()
    assert shown == '        cm["kk"]'
    assert caret == "        ^^^^^^^^"
    assert fix == "  fix: did you mean 'k'?"


def test_a_call_over_several_lines_has_no_caret():
    cm = choicemap({"k": 1})
    with pytest.raises(UnknownAddressError) as error:
        cm[
            "a name that isn't there"
        ]
    assert error.value.location.columns is None
    assert "^" not in str(error.value)


def test_the_innermost_line_of_the_user_is_found():
    def helper():
        return caller_location()

    def outer():
        return helper()

    assert outer().function == "helper"
    assert user_frame(sys._getframe()) is sys._getframe()
    assert user_frame(None) is None


def running(filename, body):
    """A function `f` compiled as if it stood in `filename`."""
    scope = {"caller_location": caller_location, "choicemap": choicemap}
    exec(compile(textwrap.dedent(body), filename, "exec"), scope)
    return scope["f"]


@pytest.mark.parametrize(
    "filename",
    [
        errors._PACKAGE + "inner.py",
        errors._PACKAGE + "inference/inner.py",
        "/somewhere/numpy/core.py",
        "/somewhere/autograd/core.py",
        "C:\\somewhere\\scipy\\stats.py",
        "<frozen importlib._bootstrap>",
    ],
)
def test_library_frames_are_passed_over(filename):
    assert running(filename, "def f(): return caller_location()")().filename == __file__


@pytest.mark.parametrize(
    "filename", ["<ipython-input-3>", "/home/numpy.py", "/models/gendsl_model.py", "<stdin>"]
)
def test_the_users_frames_are_not(filename):
    place = running(filename, "def f(): return caller_location()")()
    assert (place.filename, place.lineno, place.function) == (filename, 1, "f")


def test_the_location_of_a_traceback():
    def fails():
        return np.array([1.0]) @ np.array([1.0, 2.0])

    try:
        fails()
    except ValueError as error:
        place = traceback_location(error.__traceback__)
    assert place.function == "fails"
    assert linecache.getline(place.filename, place.lineno).strip().startswith("return np.array")
    assert traceback_location(None) is None


def test_the_traceback_of_library_code_ends_at_the_users_call():
    inner = running(errors._PACKAGE + "inner.py", "def f(): return 1 / 0")
    try:
        inner()
    except ZeroDivisionError as error:
        place = traceback_location(error.__traceback__)
    assert place.filename == __file__
    assert place.function == "test_the_traceback_of_library_code_ends_at_the_users_call"
