"""What a kernel is: a callable `(trace, rng) -> (trace, info)` that leaves the posterior invariant."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from gendsl.compiler.hir.failures import NotClosed
from gendsl.errors import KernelError, Location, caller_location, placed_at, too_deep
from gendsl.inference.any_kernel import Compilable, KernelFunction, kernel_name
from gendsl.inference.compiled import by_hand
from gendsl.inference.compiled.looked_at import LookedAt
from gendsl.inference.compiled.mistakes import as_refusals
from gendsl.inference.compiled.moves import flattened
from gendsl.inference.compiled.policy import why_no_machine_code
from gendsl.inference.compiled.texts import observed_of
from gendsl.inference.infos import Told
from gendsl.interface import GenerativeFunction, Rng, Trace, as_rng
from gendsl.transforms.language import Transform


class Recipe(NamedTuple):
    """How a kernel is made again in another process: by a function that has a name, from what it was given.

    Attributes:
        make: the function.
        args, kwargs: its arguments.
        step: the step function of the kernel that came of it. A kernel with another one was made of that one
            by other means.
        where: the user's line that made it.
    """

    make: Callable[..., Kernel]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    step: KernelFunction
    where: Location | None


@dataclass(frozen=True, eq=False)
class Kernel(Compilable):
    """A kernel with a name, made from a step function.

    Attributes:
        step: what a step does, `(trace, rng) -> (trace, info)`.
        name: the name under which its acceptance is counted.
        reversible: whether pi(x) K(x, x') = pi(x') K(x', x), which is more than invariance: one
            Metropolis-Hastings step is reversible, and one after another of two kinds is not. None where
            that isn't known. `tempered`, and `mixture` with weights that depend on the state, need it.
        structure: for gendsl's own kernels the function that made it and its arguments, described (see
            `gendsl.inference.structure`).
        recipe: for these, how they are pickled, as their steps are functions without a name.
        move: what a step does, for the compiler; None where it can't be compiled.
        told: makes what a step returns beside the trace, of what machine code tells of it.
    """

    step: KernelFunction
    name: str
    reversible: bool | None = field(default=None, kw_only=True)
    structure: Any = field(default=None, kw_only=True)
    recipe: Recipe | None = field(default=None, kw_only=True, repr=False)
    move: Any = field(default=None, kw_only=True, repr=False)
    told: Callable[[Told], Any] | None = field(default=None, kw_only=True, repr=False)

    _edits: ClassVar[bool] = True
    """Whether it edits a trace itself, and not only by other kernels."""

    def __post_init__(self) -> None:
        if not callable(self.step) or not isinstance(self.name, str):
            raise KernelError(
                f"Kernel got step={self.step!r} and name={self.name!r}",
                fix="step is a function (trace, rng) -> (trace, info), and name a string",
            )

    @property
    def __name__(self) -> str:
        return self.name

    def __call__(self, trace: Trace, rng: Rng = None) -> tuple[Any, Any]:
        """One step: the next trace, and what happened."""
        if type(trace) not in by_hand.TRACES and not isinstance(trace, Trace):  # the second takes longer
            raise KernelError(
                f"kernel {self.name} was called with {trace!r}, which is no trace",
                fix="start from model.generate(args, observations).trace",
            )
        generator = as_rng(rng)
        if self.told is not None:
            made = by_hand.step(self, trace, generator)
            if made is not None:
                return made
        before = trace.whole if type(trace) is LookedAt and self._edits else trace
        try:
            after, info = self.step(before, generator)
        except RecursionError as error:
            raise too_deep(error, f"kernel {self.name}") from None
        after = trace if after is before else after
        if self.told is not None:
            by_hand.note(self, trace, after)
        return after, info

    def source_of(self, operation: str, trace: Trace) -> str:
        """The text that the compiler makes of a step of this kernel, for traces like one.

        It is Python; what it does is what runs as machine code, or as Python text with NumPy for loops over
        data. One function makes a step of each kernel that
        this one is made of, and says which lines of yours what comes of.

        Args:
            operation: "step".
            trace: a trace of the model.

        Raises:
            KernelError: another operation, or there is no text: the kernel, the model, an auxiliary program
                or a transform is not closed, with the reason.
        """
        from gendsl.compiler.run.closed_move import ClosedKernel  # takes long to import

        if operation != "step":
            raise KernelError(f"a kernel has no text of {operation!r}", fix='ask for "step"')
        try:
            moves = [part.move for part in flattened(self).parts]
            return ClosedKernel(trace.gen_fn, trace.args, moves, observed_of(trace)).text
        except NotClosed as reason:
            raise KernelError(
                f"there is no text of a step of {self.name}: {reason}",
                fix="it runs all the same, step by step; sample(...).ran says so",
            ) from None

    def explain(self, trace: Trace) -> str:
        """Which of the kernels that this one is made of are machine code in chains, and why others are not.

        A chain is machine code where it is worth compiling and all of them are closed; callables of your own
        may stand between them. Where one is not, a line of yours is named, and the chain is run a step at a
        time. Where there is no machine code, that is said with the reason, and a chain is Python text if that
        pays. How a chain did run is in `sample(...).ran`. Of kernels that were called in a loop of yours it
        is said how they run there.

        Args:
            trace: a trace of the model, from which chains are to start.
        """
        from gendsl.compiler.run.closed_move import ClosedKernel  # takes long to import

        def told(part: Any) -> str:
            if part.move is None:
                return "is called with the trace"
            called = by_hand.told_of(part.kernel, trace.gen_fn)
            by_hands = "" if called is None else f"; in a loop of your own {called}"
            try:
                with as_refusals(part.name):
                    text = ClosedKernel(trace.gen_fn, trace.args, [part.move], observed_of(trace)).text
            except NotClosed as reason:
                return f"step by step: {reason}{by_hands}"
            return f"closed, a text of {text.count(chr(10))} lines{by_hands}"

        missing = why_no_machine_code()
        lines = [f"{self.name}, on traces of {trace.gen_fn.name}"]
        if missing is not None:
            lines.append(f"  no machine code: {missing}; what is closed is Python text, where that is faster")
        try:
            lines += [f"  {part.name}: {told(part)}" for part in flattened(self).parts]
        except NotClosed as reason:
            lines.append(f"  step by step: {reason}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<kernel {self.name}>"

    def __reduce__(self) -> Any:
        recipe = self.recipe
        if recipe is None or recipe.step is not self.step:
            return _blank, (type(self),), {**vars(self), "recipe": None}
        made = recipe.make, recipe.args, recipe.kwargs, recipe.where
        return _made_again, (*made, self.name, self.reversible)

    def from_recipe(self, make: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """This kernel, which `make(*args, **kwargs)` gave, with that as its recipe."""
        where = caller_location() if self.recipe is None else self.recipe.where
        return replace(self, recipe=Recipe(make, args, kwargs, self.step, where))


def _blank(kind: type[Kernel]) -> Kernel:
    return object.__new__(kind)


def _made_again(
    make: Callable[..., Kernel],
    args: Any,
    kwargs: Any,
    where: Location | None,
    name: str,
    reversible: bool | None,
) -> Kernel:
    with placed_at(where):
        made = make(*args, **kwargs)
    return replace(made, name=name, reversible=reversible)


@dataclass(frozen=True, eq=False, repr=False)
class TemperedKernel(Kernel):
    """A kernel for the target p(t) L(t)^(beta - 1), L the likelihood of the observations.

    Attributes:
        beta: the power of the likelihood; 1 for the posterior.
    """

    beta: float = field(kw_only=True)


def check_kernel(kernel: Any) -> KernelFunction:
    """`kernel` if it can be called; the error that says what a kernel is if not."""
    if isinstance(kernel, GenerativeFunction):
        raise KernelError(
            f"{kernel!r} is a generative function, not a kernel",
            fix=f"as a proposal it is used by mh({kernel.name}), as an auxiliary program by "
            f"involutive({kernel.name}, f)",
        )
    if isinstance(kernel, Transform):
        raise KernelError(f"{kernel!r} is no kernel", fix=f"write involutive(q, {kernel.name})")
    if getattr(kernel, "__module__", "").startswith("gendsl.inference.") and inspect.isfunction(kernel):
        raise KernelError(
            f"{kernel.__name__} makes kernels and is none itself", fix=f"call it: {kernel.__name__}(...)"
        )
    if not callable(kernel) or isinstance(kernel, type):
        many = isinstance(kernel, (list, tuple))
        raise KernelError(
            f"{kernel!r} is no kernel",
            fix="give kernels one by one: cycle(a, b)"
            if many
            else "a kernel is a callable (trace, rng) -> (trace, info)",
        )
    return kernel  # type: ignore[no-any-return]


def is_reversible(kernel: Any) -> bool:
    """Whether a kernel says that it is reversible."""
    return getattr(kernel, "reversible", None) is True


def check_reversible(kernel: Any, user: str) -> None:
    """Raise unless a kernel says that it is reversible, which `user` needs.

    Raises:
        KernelError: with the kernel's name.
    """
    if is_reversible(kernel):
        return
    name = kernel_name(kernel)
    if getattr(kernel, "reversible", None) is False:
        raise KernelError(
            f"{user} needs reversible kernels, and {name} is not: run backwards, its parts come in another "
            "order",
            fix="give its parts one by one, or mixture([a, b]) of them; cycle(a, b, a) is reversible, too, "
            'and so is gibbs(..., scan="random")',
        )
    raise KernelError(
        f"{user} needs reversible kernels, and {name} doesn't say whether it is",
        fix="if pi(x) K(x, x') = pi(x') K(x', x), as for one Metropolis-Hastings step, write "
        "gendsl.inference.Kernel(step, name, reversible=True)",
    )


def check_target(kernel: Any, beta: float, user: str) -> None:
    """Raise where a kernel, or a part of it, is one of gendsl's for another target than that at beta.

    They leave the posterior invariant, and only `tempered_mh` another power of the likelihood. What a kernel
    of the user's own does is the user's to know.

    Raises:
        KernelError: with the kernel's name.
    """
    for part in getattr(kernel, "parts", ()):
        check_target(part, beta, user)
    if isinstance(kernel, TemperedKernel):
        own: float | None = kernel.beta
    else:
        step = getattr(kernel, "step", None)
        of_gendsl = getattr(step, "__module__", "").startswith("gendsl.inference.")
        own = 1.0 if of_gendsl and not hasattr(kernel, "parts") else None
    if own is None or own == beta:
        return
    name, target = kernel_name(kernel), "the posterior" if own == 1.0 else f"beta = {own:.6g}"
    raise KernelError(
        f"{user} needs a kernel for the target at beta = {beta:.6g}, and {name} is for {target}",
        fix="use the beta that the function is given: lambda beta: tempered_mh(select('x'), beta); for "
        "choices that the observations don't depend on, given the others, every beta is the same: say so "
        "by a kernel of your own, Kernel(lambda trace, rng: kernel(trace, rng), name, reversible=True)",
    )


def accept(log_ratio: float, rng: np.random.Generator) -> bool:
    """Whether a Metropolis-Hastings proposal is accepted: with probability min(1, exp(log_ratio)).

    A uniform number is drawn in every case, so that later draws don't depend on this ratio's sign.
    """
    uniform = rng.random()
    return log_ratio >= 0.0 or uniform < math.exp(log_ratio)
