"""Split one component in two, or merge two into one: an involutive move on k exchangeable components.

A split draws the component, auxiliary variables u and where the second of the new components goes; a merge
draws a pair. The acceptance ratio of a split is that of `involutive` for the programs made here:

    p(x') / p(x)  m(x') c(x', pair) / (s(x) c(x, component, place) q(u | x) a(allocations))  |det J|

with s the probability of a split and m = 1 - s that of a merge. Labels are kept track of, so there is no
factor 2 or k! to be thought of: with k components a split picks one of k and one of k + 1 places, and a merge
of k + 1 picks one of (k + 1) k ordered pairs, (k + 1) k / 2 pairs that are ordered by a choice, or k adjacent
ones. (Green 1995, Biometrika 82; Richardson and Green 1997, JRSS B 59, section 3.2.)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, log
from typing import Any, Literal

import numpy as np

from gendsl.address import Path, as_path
from gendsl.distributions import Distribution, bernoulli, uniform_discrete
from gendsl.errors import KernelError, Location, caller_location
from gendsl.inference.component_choices import (
    Values,
    are_weights,
    choices_below,
    choices_of,
    key_of,
    labels_of,
    named_values,
    trace_of,
    vector_of,
    write_component,
    write_labels,
    write_named,
)
from gendsl.inference.components import (
    ComponentKernel,
    Giver,
    Number,
    Place,
    as_namespaces,
    as_number,
    as_order,
    as_others,
    chance_of_more,
    check_probability,
    component_kernel,
    defined_at,
    pointing,
)
from gendsl.inference.involutive import Check
from gendsl.inference.structure import kernel_maker
from gendsl.runtime.generative import GenFunction, gen
from gendsl.runtime.trace import ReferenceTrace
from gendsl.supports import Boolean, Integers, Repeated, Support
from gendsl.transforms.language import (
    Transform,
    TransformPair,
    copy,
    discrete,
    read,
    transform,
    write,
)
from gendsl.transforms.outputs import Copy, Write
from gendsl.transforms.run import Run

Pairs = Literal["random", "adjacent"]
Split = Callable[[Values, Values], tuple[Values, Values]]
Merge = Callable[[Values, Values], tuple[Values, Values]]


class pair_of_components(Distribution):
    """An ordered pair (i, j) of k components, as i * k + j; all that may be merged are equally likely.

    Args:
        keys: what the components are ordered by, or None: then (i, j) and (j, i) are two pairs.
        k: how many components there are, 2 or more.
        adjacent: only the pairs of components next to each other in the order.
    """

    parameters = ("keys", "k", "adjacent")
    __slots__ = ("adjacent", "k", "keys")

    def __init__(self, keys: Sequence[float] | None, k: int, adjacent: bool) -> None:
        self.keys, self.k, self.adjacent = keys, k, adjacent

    def _order(self) -> list[int]:
        keys = self.keys
        assert keys is not None
        return sorted(range(self.k), key=lambda j: keys[j])

    def sample(self, rng: np.random.Generator) -> int:
        k = self.k
        if self.adjacent:
            order, at = self._order(), int(rng.integers(k - 1))
            return order[at] * k + order[at + 1]
        i, j = int(rng.integers(k)), int(rng.integers(k - 1))
        j += j >= i
        if self.keys is not None and (self.keys[i], i) > (self.keys[j], j):
            i, j = j, i
        return i * k + j

    def logpdf(self, x: Any) -> float:
        """-log of the number of pairs for each that may be merged."""
        k = self.k
        if not 0 <= x < k * k:
            return -inf
        i, j = divmod(int(x), k)
        if self.adjacent:
            order = self._order()
            at = order.index(i)
            return -log(k - 1) if at + 1 < k and order[at + 1] == j else -inf
        if i == j:
            return -inf
        if self.keys is None:
            return -log(k * (k - 1))
        return -log(k * (k - 1) / 2) if (self.keys[i], i) < (self.keys[j], j) else -inf

    @property
    def support(self) -> Support:
        return Integers(0, self.k * self.k - 1)


class coins(Distribution):
    """Independent tosses: entry i is True with probability p[i]."""

    parameters = ("p",)
    __slots__ = ("p",)

    def __init__(self, p: Any) -> None:
        self.p = np.asarray(p, dtype=float)

    def sample(self, rng: np.random.Generator) -> np.ndarray:
        return np.array([rng.random() < p for p in self.p.tolist()], dtype=bool)

    def logpdf(self, x: Any) -> float:
        """The sum of log p[i] where x[i], and of log(1 - p[i]) where not."""
        chosen = np.where(x, self.p, 1.0 - self.p)
        with np.errstate(divide="ignore"):
            return float(np.sum(np.log(chosen)))

    @property
    def support(self) -> Support:
        return Repeated(Boolean(), len(self.p))


@dataclass(frozen=True)
class _Move:
    """What a split/merge move is made for; see `split_merge`."""

    namespaces: tuple[Path, ...]
    split: Split
    merge: Merge
    number: Number
    chance: Callable[[Any], Any]
    adjacent: bool
    order: tuple[Path, Path] | None
    ordered: bool
    vectors: tuple[Path, ...]
    allocations: Path | None
    allocate: Callable[..., Any] | None

    def place(self, index: int, others: int) -> Place:
        """The place of the second of two components among `others` more."""
        return Place(index, others, not self.ordered)

    def pairs(self, trace: ReferenceTrace, k: int) -> pair_of_components:
        """The pairs of components that a trace lets merge."""
        keys = None
        if self.order is not None:
            before, after = self.order
            keys = [trace[(*before, j, *after)] for j in range(k)]
        return pair_of_components(keys, k, self.adjacent)

    def may_merge(self, trace: ReferenceTrace, k: int) -> bool:
        """Whether two of k components may become one."""
        return k > 1 and self.number.may_be(trace, k - 1)

    def may_split(self, trace: ReferenceTrace, k: int) -> bool:
        """Whether one of k components may become two: not below `least`, where no merge leads back to."""
        return k > 0 and k >= self.number.least and self.number.may_be(trace, k + 1)


@kernel_maker
def split_merge(
    *namespaces: Any,
    bijection: tuple[Split, Merge],
    auxiliary: GenFunction | None = None,
    number: Any = "k",
    least: float = 1,
    most: float = inf,
    split: float | Callable[[Any], float] = 0.5,
    pairs: Pairs = "random",
    order: Any = None,
    ordered: bool = False,
    vectors: Sequence[Any] = (),
    others: TransformPair | None = None,
    allocations: Any = None,
    allocate: Callable[..., Any] | None = None,
    check: Check = False,
    name: str = "split_merge",
) -> ComponentKernel:
    """A kernel that splits a component in two, or merges two.

        def split(one, u):
            return {"mu": one["mu"] - u["u"]}, {"mu": one["mu"] + u["u"]}

        def merge(first, second):
            middle = (first["mu"] + second["mu"]) / 2
            return {"mu": middle}, {"u": second["mu"] - middle}

        split_merge("mu", bijection=(split, merge), auxiliary=offset, order="mu")

    Args:
        namespaces: where the components are: the choices of component j are at `(*namespace, j)`, or below
            where that is a namespace or a call.
        bijection: two functions inverse to each other, split(component, u) -> (first, second) and
            merge(first, second) -> (component, u). Each component is a dict of its choices by their
            addresses without j ("mu" for ("mu", j)), with its entries of `vectors`; u is a dict of the
            choices of `auxiliary`. They are differentiated as a transform is.
        auxiliary: the program that draws u for a split, called with the trace and the number of the
            component. With `allocate` it must return u as a dict.
        number, least, most: as for `birth_death`.
        split: the probability of proposing a split where both ways are open, or a function of the trace.
        pairs: the pair that merges: any, or one of components adjacent in `order`. A split into two that are
            not adjacent is rejected, since no merge undoes it.
        order: the address without j of the choice that components are ordered by (`"mu"` for ("mu", j),
            `("peak", "centre")` for ("peak", j, "centre")): `first` is then the lower one. If not given,
            `first` and `second` are any two, in random order, and the bijection must do for both (u of either
            sign, say).
        ordered: whether the model itself numbers its components in this order. The second of two new
            components then follows the first, and all beyond move up; if not, it goes to a uniformly random
            place, and the component that was there to the end.
        vectors: the addresses of vectors with one entry per component, such as weights.
        others: as for `birth_death`; `place` is that of the second component. Its auxiliary handles are the
            choices of `auxiliary`.
        allocations: the address of allocations of data points, as for `birth_death`. The points of a
            component that is split are shared out between the two.
        allocate: allocate(trace, points, first, second) gives the probability, for each of these data points
            (an array of their numbers), to go to the second component. 1/2 if not given.
        check: as for `involutive`.
        name: the name under which its acceptance is counted.

    Returns:
        The kernel, with its auxiliary program `q` and its transform `f`. The auxiliary choices are "split";
        "component", "place", those of `auxiliary` under "u" and "to_second" in a split; "pair" in a merge.

    Raises:
        KernelError: the arguments don't make a move.
    """
    where = caller_location()
    spaces = as_namespaces("split_merge", namespaces)
    if not (isinstance(bijection, tuple) and len(bijection) == 2 and all(map(callable, bijection))):
        raise KernelError(f"split_merge got bijection={bijection!r}", fix="write bijection=(split, merge)")
    if auxiliary is not None and not isinstance(auxiliary, GenFunction):
        raise KernelError(
            f"the auxiliary program is {auxiliary!r}",
            fix="decorate it with @gen; it gets the trace and the number of the component",
        )
    if pairs not in ("random", "adjacent"):
        raise KernelError(f"split_merge got pairs={pairs!r}", fix='pairs is "random" or "adjacent"')
    if order is None and (pairs == "adjacent" or ordered):
        raise KernelError(
            "components are adjacent in some order, and none is given",
            fix='name the namespace that they are ordered by: order="mu"',
        )
    if ordered and pairs != "adjacent":
        raise KernelError(
            "where components are numbered in order, only adjacent ones can be split from one and merged",
            fix='add pairs="adjacent"',
        )
    if allocate is not None and (allocations is None or not callable(allocate)):
        raise KernelError(
            f"split_merge got allocate={allocate!r} and allocations={allocations!r}",
            fix="allocate is a function that shares out the points at the address `allocations`",
        )
    if isinstance(vectors, str) or not isinstance(vectors, Sequence):
        raise KernelError(f"split_merge got vectors={vectors!r}", fix='a list of addresses: ["weights"]')
    if others is None and callable(number):
        raise KernelError(
            "the number of components is computed, and nothing changes it",
            fix="give `others`, a pair of transforms that write the choices it is computed from",
        )
    move = _Move(
        spaces,
        *bijection,
        as_number("split_merge", number, least, most),
        check_probability("split_merge", "split", split),
        pairs == "adjacent",
        None if order is None else as_order(order, spaces),
        ordered,
        tuple(map(as_path, vectors)),
        None if allocations is None else as_path(allocations),
        allocate,
    )
    grow, shrink = (None, None) if others is None else as_others(others)
    f = pointing(_transform(move, grow, shrink, where), where, _giver(move))
    return component_kernel(
        _program(move, auxiliary), f, check, name,
        "name the namespace of every choice of a component, return every auxiliary choice from the "
        "bijection, and change what else depends on k by `vectors` or `others`",
        "the functions of the bijection must be inverse to each other: merge(*split(component, u)) must give "
        "(component, u) again, and the transforms of `others` must undo each other",
    )  # fmt: skip


# --- the parts of the move -------------------------------------------------------------------------


def _program(move: _Move, auxiliary: GenFunction | None) -> GenFunction:
    number, ordered, allocations = move.number, move.ordered, move.allocations

    def chance(trace: ReferenceTrace, k: int) -> float:
        may_split, may_merge = move.may_split(trace, k), move.may_merge(trace, k)
        return chance_of_more(may_split, may_merge, move.chance, trace) if may_split or may_merge else 0.5

    def to_second_probabilities(trace: ReferenceTrace, k: int, component: int, u: Any) -> Any:
        points = np.flatnonzero(labels_of(trace, allocations, k) == component)  # type: ignore[arg-type]
        if move.allocate is None or not len(points):
            return np.full(len(points), 0.5)
        if u is None and auxiliary is None:
            u = {}
        if not isinstance(u, Mapping):
            raise KernelError(
                f"the auxiliary program returned {u!r}",
                fix="to share out points, the two components must be known: return the auxiliary choices as "
                'a dict, return {"u": u}',
            )
        found = {key_of(path): trace[full] for path, full in choices_of(trace, move.namespaces, component)}
        for path in move.vectors:
            found[key_of(path)] = trace[path][component]
        first, second = move.split(found, dict(u))
        p = np.asarray(move.allocate(trace, points, first, second), dtype=float)
        if p.shape != points.shape or not np.all((p >= 0.0) & (p <= 1.0)):
            raise KernelError(
                f"allocate returned {p!r} for {len(points)} points",
                fix="return a probability between 0 and 1 for each",
            )
        return p

    @gen
    def split_or_merge(trace):  # type: ignore[no-untyped-def]
        k = number.of(trace)
        to_split = "split" @ ~bernoulli(chance(trace, k))
        stuck = not move.may_split(trace, k) and not move.may_merge(trace, k)
        if stuck:
            pass
        elif to_split:
            component = ~uniform_discrete(0, k - 1)
            if not ordered:
                "place" @ ~uniform_discrete(0, k)
            returned = None
            if auxiliary is not None:
                returned = "u" @ ~auxiliary(trace, component)
            if allocations is not None:
                "to_second" @ ~coins(to_second_probabilities(trace, k, component, returned))
        else:
            "pair" @ ~move.pairs(trace, k)
        return k, stuck

    return split_or_merge


def _transform(
    move: _Move, grow: Transform | None, shrink: Transform | None, where: Location | None
) -> Transform:
    namespaces, vectors, allocations, ordered = move.namespaces, move.vectors, move.allocations, move.ordered
    count = move.number.address
    split_one, merge_two = move.split, move.merge
    by_split, by_merge = defined_at(split_one) or where, defined_at(merge_two) or where

    def component_of(model_in: Any, j: int) -> Values:
        """The values of a component by their relative addresses."""
        every = choices_of(trace_of(model_in), namespaces, j)
        found = named_values(
            [(key_of(path), read(model_in[full])) for path, full in every],
            "a component", "give its namespace to split_merge, or its vector in vectors=[...]",
        )  # fmt: skip
        for path in vectors:
            found[key_of(path)] = list(read(model_in[path]))[j]
        return found

    def relabel(model_in: Any, model_out: Any, old: np.ndarray, new: np.ndarray) -> None:
        write_labels(trace_of(model_in), model_out, allocations, old, new)  # type: ignore[arg-type]

    @transform
    def split_merge(model_in, aux_in, *, model_out, aux_out):  # type: ignore[no-untyped-def]
        k, stuck = aux_in.retval
        if stuck:
            copy(aux_in["split"], aux_out["split"])
            return
        to_split = read(aux_in["split"], discrete)
        write(aux_out["split"], not to_split, discrete)
        if count is not None:
            write(model_out[count], k + 1 if to_split else k - 1, discrete)
        if to_split:
            component = read(aux_in["component"], discrete)
            index = component + 1 if ordered else read(aux_in["place"], discrete)
            place = move.place(index, k)
            kept = component if ordered else place.number(component)
            write(aux_out["pair"], kept * (k + 1) + index, discrete)
            u = named_values(
                [(key_of(path), read(aux_in[at])) for path, at in choices_below(trace_of(aux_in), ("u",))],
                "the auxiliary program", "make that choice in the program given as auxiliary=",
            )  # fmt: skip
            one = component_of(model_in, component)
            first, second = split_one(one, u)
            write_component(first, one, model_out, kept, namespaces, vectors, "split", by_split)
            write_component(second, one, model_out, index, namespaces, vectors, "split", by_split)
            for j, new in place.renumbered:
                if j != component:
                    for space in namespaces:
                        copy(model_in[(*space, j)], model_out[(*space, new)])
            for path in vectors:
                values = list(read(model_in[path]))
                values[component] = first[key_of(path)]
                values = place.insert(values, second[key_of(path)])
                write(model_out[path], vector_of(values, are_weights(model_in, path)))
            if allocations is not None:
                labels = labels_of(trace_of(model_in), allocations, k)
                new_labels = np.array([place.number(j) for j in range(k)])[labels]
                points = np.flatnonzero(labels == component)
                new_labels[points] = np.where(read(aux_in["to_second"], discrete), index, kept)
                relabel(model_in, model_out, labels, new_labels)
            if grow is not None:
                grow(model_in, aux_in["u"], model_out=model_out, aux_out=aux_out["u"], place=place)
        else:
            kept, index = divmod(read(aux_in["pair"], discrete), k)
            place = move.place(index, k - 1)
            component = place.number_without(kept)
            write(aux_out["component"], component, discrete)
            if not ordered:
                write(aux_out["place"], index, discrete)
            first = component_of(model_in, kept)
            second = component_of(model_in, index)
            one, u = merge_two(first, second)
            write_component(one, first, model_out, component, namespaces, vectors, "merge", by_merge)
            write_named(u, aux_out, ("u",))
            for j, new in place.renumbered:
                if new != kept:
                    for space in namespaces:
                        copy(model_in[(*space, new)], model_out[(*space, j)])
            for path in vectors:
                rest, _ = place.remove(list(read(model_in[path])))
                rest[component] = one[key_of(path)]
                write(model_out[path], vector_of(rest, are_weights(model_in, path)))
            if allocations is not None:
                labels = labels_of(trace_of(model_in), allocations, k)
                points = np.flatnonzero((labels == kept) | (labels == index))
                new_labels = np.array([place.number_without(j) for j in range(k)])[labels]
                new_labels[points] = component
                write(aux_out["to_second"], labels[points] == index, discrete)
                relabel(model_in, model_out, labels, new_labels)
            if shrink is not None:
                shrink(model_in, aux_in["u"], model_out=model_out, aux_out=aux_out["u"], place=place)

    return split_merge


def _giver(move: _Move) -> Giver:
    """Split and merge give the choices of components, and merge the auxiliary ones of a split."""
    split, merge = defined_at(move.split), defined_at(move.merge)

    def giver(run: Run, number: int, path: Path, entry: Write | Copy) -> Location | None:
        if number == 1:
            return merge if path[0] == "u" else None
        returned = path in move.vectors or any(path[: len(space)] == space for space in move.namespaces)
        if type(entry) is Copy or not returned:
            return None
        return split if ("pair",) in run.outputs[1].entries else merge

    return giver
