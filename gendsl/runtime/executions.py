"""The direct runtime: what a random choice does during each operation on a program.

Each operation runs the rewritten body once, with an execution of its own class as `__gendsl__`; the
class says where the value of a choice comes from and what its score counts towards. Nothing is analysed
and nothing is cached, so this is also the reference that faster runtimes are compared with.

A choice is recorded as `records[path] = (distribution, value, score)`, in program order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf
from types import FrameType, GeneratorType, MappingProxyType, MethodType
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np

from gendsl.address import Path, as_path
from gendsl.choices import MISSING, Constraints
from gendsl.distributions import Distribution, factor
from gendsl.distributions.arrays import brief
from gendsl.distributions.scipy_frozen import find_distribution
from gendsl.errors import (
    EXECUTION,
    MissingAddressError,
    MissingChoiceError,
    NaNError,
    NotADistributionError,
    UnsupportedSyntaxError,
)
from gendsl.interface import CallRequest, GenerativeFunction
from gendsl.runtime.impossible import ZeroProbability
from gendsl.runtime.inlined import DRAWN, GIVEN, Makers
from gendsl.runtime.lowering.build import Compiled
from gendsl.runtime.namespaces import check_namespaces, duplicate
from gendsl.runtime.other_programs import run_other
from gendsl.runtime.records import (
    PLAIN_FAMILIES,
    UNCHANGEABLE,
    Record,
    Records,
    as_given,
    as_score,
    canonical,
    detached,
    draw,
    drawn,
    made_of_factor,
)

_Error = TypeVar("_Error", bound=BaseException)

FRESH: Any = object()
"""A generator that is made when it is first used: most updates draw nothing, and making one takes longer."""

_PROGRAMS: set[type] = set()
"""Classes of generative functions; to ask an abstract class takes longer."""


def _is_program(thing: Any) -> bool:
    found = isinstance(thing, GenerativeFunction)
    if found:
        _PROGRAMS.add(type(thing))
    return found


class Given(Protocol):
    """Where an execution looks up the values of choices that it is given."""

    def lookup(self, path: Path) -> Any:
        """The value given at a path, or MISSING."""


def inverted(thing: Any) -> Any:
    """`~thing` of what is no distribution; where that means nothing it was to be one."""
    try:
        return ~thing
    except TypeError as error:
        raise NotADistributionError(
            f"~ is before {brief(thing)}, which is no distribution and no call of a @gen function",
            fix="write a distribution with its parameters, `x = ~normal(0, 1)`, or call a @gen function",
        ) from error


class Execution:
    """One run of a body. Subclasses say where the value of a choice comes from.

    Attributes:
        records: the choices so far.
        calls: what each traced call returned, by its address.
        score: the sum of the scores so far.
        function: the program whose body runs.
        proposes: whether the density that its draws have is asked for: then it can have no factors.
        failure: an error that ends the operation, even if the body caught it.
        partial: in a compiled body, whether choices were made that are not in `records`.
        news: in a compiled body, whether an arm of an `if` was taken that had not been taken before.
        quick: whether a choice that keeps its value, from a distribution that is the one it had, keeps its
            score without being scored again, and choices are made by `makers`. The reference runtime does
            no such thing.
        spread: whether a body makes its choices by statements, as far as it can; see `at_once`. Errors are
            then those of other code than the user's, and not for the user.
        makers: how choices from gendsl's own families are made in one call; see `inlined`.
        values: the choices that are given, by their paths; None where they are given in another way, and
            `makers` are not used.
        site, place: in a compiled body, the site of the choice or call being made, and its address, which
            is found from `frames` where it is None.
        seen, called: in a compiled body, the addresses of choices and calls so far; None where they aren't
            looked at, as where no two of its choices can have one.
        unfinished: in a compiled body, the choices of an opaque part that has failed.
    """

    partial = False
    news = False
    quick = False
    spread = False
    makers: ClassVar[Makers] = Makers(None)
    values: Mapping[Path, Any] | None = None
    site: Any = None
    place: Path | None = None
    frames: Any = None
    seen: set[Path] | None = None
    called: set[Path]
    unfinished: Mapping[Path, Any] = MappingProxyType({})
    prefix: Path = ()
    proposes = False
    score = 0.0
    function: Any = None
    failure: BaseException | None = None

    def __init_subclass__(cls, makers: Makers | None = None) -> None:
        cls.makers = Makers(None) if makers is None else makers

    def __init__(self) -> None:
        self.records: Records = {}
        self.calls: dict[Path, Any] = {}

    # --- what rewritten code calls ----------------------------------------------------------------

    def callee(self, function: Any) -> Any:
        """What to call where the user wrote `~function(...)`: a traced call is only requested."""
        if type(function) is type:
            return function
        if isinstance(function, GenerativeFunction):
            return function.request
        if type(function) is MethodType and isinstance(function.__func__, GenerativeFunction):
            # from Python 3.13 on, this is what a classmethod makes of one
            return function.__func__.__get__(function.__self__).request  # type: ignore[attr-defined]
        return function

    def at(self, address: Any, thing: Any, sugar: bool | str = False) -> Any:
        """The value of `address @ ~thing`, of `name = ~thing` (True), of `{address} @ ~thing` ("braces")."""
        if not isinstance(thing, Distribution):
            return self._other(address, thing, sugar)
        path = address if type(address) is tuple else (address,)
        if self.prefix:
            path = self.prefix + (path or as_path(path))
        try:
            record = self.choose(path, thing)
        except TypeError:
            as_path(address)  # explains what can't be an address, if that is what went wrong
            raise
        value = self.keep(path, record)
        return value if type(value) in UNCHANGEABLE else detached(value)

    def assign(self, thing: Any, address: Any) -> Any:
        """The value of `name[index] = ~thing`, where the index is evaluated after `thing`."""
        return self.at(address, thing, True)

    def splice(self, thing: Any) -> Any:
        """The value of `... @ ~thing`: a call that shares the caller's addresses."""
        if not isinstance(thing, CallRequest):
            raise MissingAddressError(
                f"`... @ ~` splices a call of a generative function, not {_describe(thing)}",
                fix="give a choice an address: `addr @ ~d`",
            )
        return self.run(thing)

    def spliced(self, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        """The value of `... @ ~function(...)`."""
        if type(function) in _PROGRAMS or _is_program(function):
            return self.call(function, args, kwargs)
        return self.splice(self.callee(function)(*args, **kwargs))

    def unaddressed(self, thing: Any) -> Any:
        """The value of `~thing` where nothing gives an address: only ordinary values have one."""
        if isinstance(thing, CallRequest) or find_distribution(thing) is not None:
            raise MissingAddressError(
                "a random choice or traced call without an address",
                fix='give it one: `name = ~...`, or `("name", i) @ ~...`',
            )
        return ~thing

    def nested(self, thing: Any, *address: Any) -> Any:
        """The value of `[address @] ~thing` in a nested function: only ordinary values have one."""
        if isinstance(thing, CallRequest) or find_distribution(thing) is not None:
            raise UnsupportedSyntaxError(
                "a random choice inside a nested def, lambda or class",
                fix="decorate the inner function with @gen and call it as `addr @ ~inner(...)`",
            )
        return address[0] @ ~thing if address else ~thing

    def body_of(self, compiled: Compiled) -> Callable[..., Any]:
        """Which version of a body this execution runs."""
        return compiled.inlined if self.quick and self.values is not None else compiled.body

    def keep(self, path: Path, record: Record) -> Any:
        """Keep the record of a choice; its value."""
        records = self.records
        count = len(records)
        try:
            records[path] = record
        except TypeError:
            as_path(path)  # explains what can't be an address
            raise
        if len(records) == count:
            raise self.fail(duplicate("choices", path))
        self.score += record[2]
        return record[1]

    def twice(self, path: Path) -> BaseException:
        """The error for a second choice at a path, which ends the operation."""
        return self.fail(duplicate("choices", path))

    # --- what subclasses define -------------------------------------------------------------------

    def afresh(self, rng: Any) -> Execution | None:
        """The same operation, not begun, with a generator; None where its values can't be had again."""
        return None

    def choose(self, path: Path, distribution: Distribution) -> Record:
        """The record of a choice at a path: where its value comes from is what executions differ in."""
        raise TypeError(f"{type(self).__name__} must define choose")

    # --- calls and other values -------------------------------------------------------------------

    def _other(self, address: Any, thing: Any, sugar: bool | str) -> Any:
        if type(thing) is CallRequest:
            path = self.prefix + as_path(address)
            self.note_call(path)
            outer, self.prefix = self.prefix, path
            try:
                value = self.run(thing)
            finally:
                self.prefix = outer
            self.calls[path] = value
            return value
        if isinstance(thing, GenerativeFunction):
            raise MissingAddressError(
                f"~{thing.name} is not a traced call",
                address=self.prefix + as_path(address),
                fix=f"call it: `addr @ ~{thing.name}(...)`",
            )
        distribution = find_distribution(thing)
        if distribution is not None:
            return self.at(address, distribution)
        left = {address} if sugar == "braces" else address
        return inverted(thing) if sugar is True else left @ inverted(thing)

    def note_call(self, path: Path) -> None:
        """Note that a traced call is about to be made at a path; raise if there has been one."""
        if path in self.calls:
            raise self.fail(duplicate("calls", path))

    def run(self, request: CallRequest) -> Any:
        """Run the body of a requested call in this execution and return its value."""
        return self.call(request.function, request.args, request.kwargs)

    def call(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run the body of a program in this execution and return its value."""
        outer, self.function = self.function, function
        try:
            run_body = getattr(function, "run_body", None)  # a user's own subclass has none
            if run_body is None:
                return run_other(self, function, args, kwargs)
            value = run_body(self, args, kwargs)
        finally:
            self.function = outer
        if type(value) is GeneratorType and EXECUTION in value.gi_code.co_freevars:
            raise MissingAddressError(
                f"{function.name} returns a generator, which would make its choices too late",
                fix="return a list: [...] in place of (...)",
            )
        return value

    def address_in(self, frame: FrameType) -> Path | None:
        """The address of the choice or call that a frame of the running body is making, or None."""
        if self.site is not None:
            if self.place is None and self.frames is not None:
                self.place = self.site.path(self.prefix, self.frames)
            return self.place or None
        address_in = getattr(self.function, "address_in", None)
        local = None if address_in is None else address_in(frame)
        if local is None:
            return self.prefix or None
        return self.prefix + (local if type(local) is tuple else (local,))

    def crowd(self) -> None:
        """Note that a program is run in which two choices may have one address."""
        if self.seen is None:
            self.seen = set()  # what was made before can't have addresses of what comes now

    def see(self, records: Mapping[Path, Any]) -> None:
        """Note the addresses of the choices of an opaque part of a compiled body.

        Raises:
            DuplicateAddressError: one of them was there before.
        """
        for path in records:
            if path in self.seen:  # type: ignore[operator]
                raise duplicate("choices", path)
            self.seen.add(path)  # type: ignore[union-attr]

    def fail(self, error: _Error) -> _Error:
        """An error to raise that ends the operation, even if an `except` in the body catches it."""
        if self.failure is None:
            self.failure = error
        return error

    def check_made(self) -> None:
        """Raise if something is wrong with what was made.

        Raises:
            InvalidAddressError: a choice's address is ().
            AddressConflictError: a choice's address is also a namespace.
            NaNError: the log probability is NaN.
        """
        if self.failure is not None:
            raise self.failure
        check_namespaces(self.records, self.calls)
        if self.score != self.score:
            path = next(path for path, record in self.records.items() if record[2] != record[2])
            distribution, value, _ = self.records[path]
            raise NaNError(
                f"the log density of {distribution!r} at {value!r} is NaN",
                address=path,
                fix="a logpdf must return -inf outside its support; check the parameters",
            )

    def finish(self) -> None:
        """Check what was made, and close the execution.

        What runs later, from a generator that escaped, gets an error.
        """
        self.check_made()
        self.__class__ = Closed


class Closed(Execution):
    """An execution that is over: what still runs, from a generator that escaped, makes no choices."""

    def at(self, address: Any, thing: Any, sugar: bool | str = False) -> Any:
        raise MissingAddressError(
            "a random choice was made after the function had returned",
            fix="use a list comprehension in place of a generator expression that outlives the call",
        )

    assign = splice = unaddressed = at  # type: ignore[assignment]

    def address_in(self, frame: FrameType) -> None:
        """Nothing is being made any more."""


def _describe(thing: Any) -> str:
    return f"{thing!r} of type {type(thing).__name__}"


class Simulate(Execution, makers=Makers(DRAWN, drawn=drawn)):
    """Every choice is drawn from its distribution."""

    values: Mapping[Path, Any] | None = MappingProxyType({})  # none is given

    def __init__(self, rng: np.random.Generator) -> None:
        self.records = {}
        self.calls = {}
        self.score = 0.0
        self.rng = rng

    def at(self, address: Any, thing: Any, sugar: bool | str = False) -> Any:
        number = PLAIN_FAMILIES[type(thing)]
        if number is None:
            return Execution.at(self, address, thing, sugar)
        value = thing.sample(self.rng)
        try:
            score = thing.at(value) if type(value) is number else None
        except OverflowError:
            score = None
        path = address if type(address) is tuple else (address,)
        if self.prefix:
            path = self.prefix + (path or as_path(path))
        if score is not None and -inf < score < inf:
            return self.keep(path, (thing, value, score))
        return self.keep(path, drawn(thing, value))

    def afresh(self, rng: Any) -> Simulate:
        return Simulate(rng)

    def choose(self, path: Path, distribution: Distribution) -> Record:
        return made_of_factor(self, path, distribution) or draw(distribution, self.rng)


class Run(Simulate):
    """Every choice is drawn; nothing is scored. This is what calling a program outside a trace does."""

    at = Execution.at

    def choose(self, path: Path, distribution: Distribution) -> Record:
        return distribution, canonical(distribution.sample(self.rng), distribution), 0.0


class Generate(Execution):
    """Given choices are taken, the others drawn; `weight` sums the scores of those given."""

    def __init__(self, observations: Constraints, init: Constraints, rng: np.random.Generator) -> None:
        super().__init__()
        self.observations = observations
        self.init = init
        self.rng = rng
        self.weight = 0.0
        self.observed: dict[Path, None] = {}
        self.observed_columns: list[Any] = []

    def afresh(self, rng: Any) -> Generate:
        return type(self)(self.observations, self.init, rng)

    def choose(self, path: Path, distribution: Distribution) -> Record:
        value = self.observations.lookup(path)
        if value is not MISSING:
            self.observed[path] = None
        else:
            value = self.init.lookup(path)
            if value is MISSING:
                if type(distribution) is not factor:
                    return draw(distribution, self.rng)
                value = True
        value = as_given(value, distribution)
        score = distribution.logpdf(value)
        if type(score) is not float:
            score = as_score(score, distribution, value)
        self.weight += score
        return distribution, value, score


class Assess(Execution, makers=Makers(GIVEN)):
    """Every choice must be given. With `stop_at_zero` the run ends at a choice outside its support.

    The values of a dict are given exactly at their paths.
    """

    def __init__(self, given: Given | dict[Path, Any], *, stop_at_zero: bool = False) -> None:
        self.records = {}
        self.calls = {}
        self.score = 0.0
        self.given = given
        self.values = given if isinstance(given, dict) else None
        self.stop_at_zero = stop_at_zero

    def afresh(self, rng: Any) -> Assess:
        return Assess(self.given, stop_at_zero=self.stop_at_zero)

    def lookup(self, path: Path) -> Any:
        """The value given at a path, or MISSING."""
        given = self.given
        return given.get(path, MISSING) if isinstance(given, dict) else given.lookup(path)

    def at(self, address: Any, thing: Any, sugar: bool | str = False) -> Any:
        number = PLAIN_FAMILIES[type(thing)]
        if number is None or self.prefix:
            return Execution.at(self, address, thing, sugar)
        path = address if type(address) is tuple else (address,)
        try:
            value = self.lookup(path)
            score = thing.at(value) if type(value) is number else None
        except (TypeError, OverflowError):
            score = None
        if score is not None and -inf < score < inf:
            return self.keep(path, (thing, value, score))
        return Execution.at(self, address, thing, sugar)

    def choose(self, path: Path, distribution: Distribution) -> Record:
        value = self.lookup(path)
        if value is MISSING:
            record = made_of_factor(self, path, distribution)
            if record is not None:
                return record
            raise self.fail(
                MissingChoiceError(
                    "the program makes a choice that was not given",
                    address=path,
                    fix="give every choice of the program a value",
                )
            )
        value = as_given(value, distribution)
        score = distribution.logpdf(value)
        if type(score) is not float:
            score = as_score(score, distribution, value)
        if score == -inf and self.stop_at_zero:
            raise self.fail(ZeroProbability(path, distribution, value))
        return distribution, value, score
