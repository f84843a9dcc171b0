"""The contract: what every generative function and every trace can do, and the weight of each operation.

Notation: t is the choices of a trace, x its arguments, p(t; x) the density of the program, q(t; u, x) the
density of the internal proposal that fills in what u doesn't constrain. In gendsl q always draws what is
not constrained from the prior, in program order.
"""

from __future__ import annotations

import html
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from gendsl.address import Path
from gendsl.choices import ChoiceMap
from gendsl.errors import UntracedChoiceError, ValueTypeError
from gendsl.selection import Selection
from gendsl.supports import Support
from gendsl.supports.told import support_told

Choices = ChoiceMap | Mapping[Any, Any]
"""What is accepted wherever choices are: a choice map or a plain dict."""

Rng = Any
"""Anything that `numpy.random.default_rng` takes."""


class Generated(NamedTuple):
    """What `generate` returns."""

    trace: Trace
    log_weight: float


class Assessed(NamedTuple):
    """What `assess` returns."""

    log_prob: float
    retval: Any


class Proposed(NamedTuple):
    """What `propose` returns."""

    choices: ChoiceMap
    log_prob: float
    retval: Any


class Updated(NamedTuple):
    """What `update` returns."""

    trace: Trace
    log_weight: float
    discard: ChoiceMap


class Regenerated(NamedTuple):
    """What `regenerate` returns."""

    trace: Trace
    log_weight: float


class CallRequest:
    """A call of a generative function that is to be traced: the function with its arguments."""

    __slots__ = ("args", "function", "kwargs")

    def __init__(self, function: GenerativeFunction, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.function = function
        self.args = args
        self.kwargs = kwargs


class GenerativeFunction(ABC):
    """A probabilistic program: it can be run, scored, constrained and edited.

    Calling it runs it with fresh randomness and returns its value; inside a `@gen` function,
    `addr @ ~f(x)` traces its choices below `addr`.

    `@gen` makes such functions. A subclass of your own, whose traces are of a subclass of `Trace`, can be
    traced by `@gen` functions, too. They call nothing but `generate(args, choices, rng=...)` and
    `support_of`, and look at `choices`, `log_prob` and `retval` of the trace. What must hold:

    - the choices of a trace are in the order in which they are made, and the address of the next one depends
      on the arguments and the choices before it alone;
    - `generate` keeps all choices that it is given, draws the others given those before them, by `rng` and no
      other source of randomness, and returns the sum of the log densities of those that it was given;
    - where all choices are given that is the trace's `log_prob`;
    - the return value depends on the arguments and the choices alone.

    A call of `generate` is made for each choice. Derivatives are not followed through such a function: for
    kernels with gradients it is an error where they would have to be. What breaks the contract is a
    `ProgramError` where it is found.
    """

    @property
    @abstractmethod
    def name(self) -> str:
        """The name to show to people."""

    @abstractmethod
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the program with fresh randomness and return its value."""

    def __invert__(self) -> Any:
        raise UntracedChoiceError(
            f"~{self.name} is not a traced call",
            fix=f"inside a @gen function write `addr @ ~{self.name}(...)`, with its arguments",
        )

    def request(self, *args: Any, **kwargs: Any) -> CallRequest:
        """The call `self(*args, **kwargs)`, to be traced by the caller."""
        return CallRequest(self, args, kwargs)

    @property
    @abstractmethod
    def source(self) -> str:
        """The generated code, as text."""

    @abstractmethod
    def explain(self) -> str:
        """Which parts of the program update incrementally, which don't, and why."""

    def _repr_html_(self) -> str:
        """What a notebook shows: `explain()`."""
        return f"<pre>{html.escape(self.explain())}</pre>"

    def support_of(self, path: Path, value: Any) -> Support:
        """The support of a choice, where a `@gen` function traces a call of a class of your own.

        That is told from a value: floats and arrays of floats are continuous, all else is discrete. A method
        of your own can say more (`gendsl.supports.Positive()`), and must where that is wrong, as for discrete
        floats.

        Args:
            path: the address of the choice, as a tuple.
            value: one of its values.
        """
        return support_told(value)

    @abstractmethod
    def simulate(self, args: tuple[Any, ...] = (), *, rng: Rng = None) -> Trace:
        """A trace drawn from the program: t ~ p(.; x).

        Args:
            args: the positional arguments x of the program.
            rng: seed or generator.
        """

    @abstractmethod
    def generate(
        self,
        args: tuple[Any, ...] = (),
        observations: Choices | None = None,
        *,
        init: Choices | None = None,
        rng: Rng = None,
    ) -> Generated:
        """A trace that agrees with the given choices u; the rest is drawn from the prior.

        The weight is log p(t; x) / q(t; u, x), the sum of the log densities of the given choices.

        Args:
            args: the positional arguments x of the program.
            observations: choices that every kernel will hold fixed from now on. A list, array or range gives
                those at its indices: {"x": array} is ("x", 0), ("x", 1), ... So does a column of a table of
                pandas, by position, whatever its index.
            init: starting values, likewise; kernels may change them.
            rng: seed or generator.

        Raises:
            UnknownAddressError: a given choice is not made by the program.

        Warns:
            PartialObservationWarning: a list or array of observations ends before the choices do, so that the
                rest is latent. Where data are missing on purpose give the others by their addresses.
        """

    @abstractmethod
    def assess(self, args: tuple[Any, ...], choices: Choices) -> Assessed:
        """log p(t; x) of a complete set of choices t, and the value the program returns on it.

        Raises:
            MissingChoiceError: the program makes a choice that is not given.
            UnknownAddressError: a given choice is not made by the program.
        """

    @abstractmethod
    def propose(self, args: tuple[Any, ...] = (), *, rng: Rng = None) -> Proposed:
        """Choices t ~ p(.; x) with log p(t; x) and the value that the program returned."""


class Trace(ABC):
    """One execution of a generative function, as a value: no operation changes it.

    Attributes:
        gen_fn: the program.
        args: its arguments; the lists, dicts, arrays and tables among them are the trace's own, not to be
            changed: the arrays are read-only, and of the others `copy.deepcopy` gives what may be changed.
            Objects of other classes are those that were given: one that is changed in place, by whoever
            gave it, changes what the trace is of, and nothing tells the trace so.
        retval: what it returned; not to be changed, either.
        log_prob: log p(t; x), in nats.
    """

    __slots__ = ()

    gen_fn: GenerativeFunction
    args: tuple[Any, ...]
    retval: Any
    log_prob: float

    @property
    @abstractmethod
    def choices(self) -> ChoiceMap:
        """All random choices, in the order they were made."""

    @property
    @abstractmethod
    def observed(self) -> ChoiceMap:
        """The choices that were given as observations; kernels hold them fixed."""

    @property
    @abstractmethod
    def impossible(self) -> ChoiceMap:
        """The choices whose log density is -inf: why a trace has probability zero."""

    @abstractmethod
    def __getitem__(self, address: Any) -> Any:
        """A choice's value; at the address of a call, what the callee returned."""

    @abstractmethod
    def __contains__(self, address: Any) -> bool:
        """Whether there is a choice, a call or a namespace at the address."""

    @abstractmethod
    def update(
        self,
        choices: Choices | None = None,
        *,
        args: tuple[Any, ...] | None = None,
        rng: Rng = None,
    ) -> Updated:
        """A trace with some choices, or the arguments, changed.

        What is neither given nor made by the old trace is drawn from the prior. The weight is
        log p(t'; x') / (p(t; x) q(fresh; t' minus fresh)); `discard` holds the old values of choices
        that were overwritten or that are no longer made.

        This is the one operation that may change observations, for adding or replacing data: an observation
        that is overwritten stays one, one that is no longer made is gone, and new choices are latent. No
        kernel does any of this.

        Raises:
            UnknownAddressError: a given choice is not made by the program.
        """

    @abstractmethod
    def regenerate(
        self, selection: Selection, *, args: tuple[Any, ...] | None = None, rng: Rng = None
    ) -> Regenerated:
        """A trace with the selected choices drawn anew from the prior.

        The weight is log p(t'; x') q(t; kept) / (p(t; x) q(t'; kept)): the change in log density of the
        choices that were kept.

        Raises:
            UnknownAddressError: an address in the selection is not in the trace.
            ObservedError: an observation is selected.
        """

    @abstractmethod
    def project(self, selection: Selection) -> float:
        """log p(t; x) / q(t; selected, x): the sum of the log densities of the selected choices.

        Raises:
            UnknownAddressError: an address in the selection is not in the trace.
        """

    @abstractmethod
    def gradients(self, selection: Selection) -> ChoiceMap:
        """The gradient of log_prob with respect to the selected continuous choices.

        Each entry has the shape of its choice.

        Raises:
            UnknownAddressError: an address in the selection is not in the trace.
            LostDerivativeError: a selected choice is discrete, or the program drops a derivative.
        """


def as_rng(rng: Rng) -> np.random.Generator:
    """The generator that `rng` stands for (NumPy's SPEC 7).

    Raises:
        ValueTypeError: it is nothing that `numpy.random.default_rng` takes.
    """
    if isinstance(rng, np.random.Generator):
        return rng
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError) as error:
        raise ValueTypeError(
            f"{rng!r} is neither a seed nor a random number generator ({error})",
            fix="give a whole number, 0 or more, or numpy.random.default_rng(number)",
        ) from None


def check_count(name: str, number: Any, least: int) -> None:
    """Raise unless an argument of that name is a whole number, `least` or more."""
    if isinstance(number, bool) or not isinstance(number, (int, np.integer)) or number < least:
        raise ValueTypeError(f"{name}={number!r}", fix=f"{name} is a whole number, {least} or more")


def check_model(model: Any, user: str) -> None:
    """Raise unless `model` is a generative function, which `user` needs."""
    if not isinstance(model, GenerativeFunction):
        raise ValueTypeError(f"{user} needs a model, got {model!r}", fix="decorate it with @gen")


__all__ = [
    "Assessed",
    "CallRequest",
    "Choices",
    "Generated",
    "GenerativeFunction",
    "Path",
    "Proposed",
    "Regenerated",
    "Rng",
    "Trace",
    "Updated",
    "as_rng",
    "check_count",
    "check_model",
]
