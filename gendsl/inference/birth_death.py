"""Birth and death of a component: an involutive move on k exchangeable components.

A birth draws a new component from a proposal and a place for it; a death takes one out, uniformly chosen.
The acceptance ratio is that of `involutive` for the auxiliary program and the transform made here:

    p(x') / p(x)  d(x') c(x') / (b(x) s(x) q(new | x))  |det J|    for a birth, and its inverse for a death,

with b the probability of a birth, d = 1 - b that of a death, s of the place, c of the component that dies.
(Green 1995, Biometrika 82, section 3; Richardson and Green 1997, JRSS B 59, section 3.2.)
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any, Literal

import numpy as np

from gendsl.address import Path, as_path, format_address
from gendsl.distributions import bernoulli, uniform_discrete
from gendsl.errors import KernelError, Location, caller_location
from gendsl.inference.component_choices import (
    are_weights,
    check_component,
    check_parts,
    copy_all,
    empty_components,
    labels_of,
    prior_in,
    trace_of,
    vector_of,
    write_labels,
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
    one_of,
    pointing,
)
from gendsl.inference.involutive import Check
from gendsl.inference.structure import kernel_maker
from gendsl.runtime.generative import GenFunction, gen
from gendsl.runtime.trace import ReferenceTrace
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

Insert = Literal["swap", "shift", "last", "sorted"]
MapEntries = Callable[[list[Any], Any], Any]


@dataclass(frozen=True)
class _Move:
    """What a birth/death move is made for; see `birth_death`."""

    namespaces: tuple[Path, ...]
    number: Number
    birth: Callable[[Any], Any]
    insert: Insert
    order: tuple[Path, Path]
    vectors: dict[Path, tuple[MapEntries, MapEntries] | None]
    allocations: Path | None

    @property
    def draws_place(self) -> bool:
        """Whether a birth draws where to put the new component."""
        return self.insert in ("swap", "shift")

    def place(self, index: int, others: int) -> Place:
        """The place of component `index` among `others` more."""
        return Place(index, others, self.insert == "swap")

    def may_grow(self, trace: ReferenceTrace, k: int) -> bool:
        """Whether a birth may come next: not below `least`, where no death leads back to."""
        return k >= self.number.least and self.number.may_be(trace, k + 1)

    def may_shrink(self, trace: ReferenceTrace, k: int) -> bool:
        """Whether a death may come next, if there is a component that may die."""
        return k > 0 and self.number.may_be(trace, k - 1)

    def mortal(self, trace: ReferenceTrace, k: int) -> list[int]:
        """The components that may die."""
        if not self.may_shrink(trace, k):
            return []
        candidates = list(range(k))
        if self.allocations is not None:
            candidates = empty_components(trace, self.allocations, k)
        if self.insert == "last":
            return [k - 1] if k - 1 in candidates else []
        if self.insert == "sorted":
            firsts = set(self.firsts_of_equals(trace, k))
            return [j for j in candidates if j in firsts]
        return candidates

    def firsts_of_equals(self, trace: ReferenceTrace, k: int) -> list[int]:
        """The components that a birth would put where they are: before any that are equal in order."""
        before, after = self.order
        keys = [trace[(*before, j, *after)] for j in range(k)]
        firsts = [j for j in range(k) if not j or keys[j - 1] < keys[j]]
        if len(firsts) == k:
            return firsts
        if any(keys[j] < keys[j - 1] for j in range(1, k)):
            raise KernelError(
                f'birth_death with insert="sorted" met components that are not in increasing order: {keys}',
                address=(*before, *after),
                fix="the model must make them in this order; where they come in any, leave `insert` out",
            )
        return firsts


@kernel_maker
def birth_death(
    *namespaces: Any,
    propose: GenFunction | None = None,
    number: Any = "k",
    least: float = 0,
    most: float = inf,
    birth: float | Callable[[Any], float] = 0.5,
    insert: Insert = "swap",
    order: Any = None,
    vectors: Mapping[Any, tuple[MapEntries, MapEntries] | None] | None = None,
    others: TransformPair | None = None,
    allocations: Any = None,
    check: Check = False,
    name: str = "birth_death",
) -> ComponentKernel:
    """A kernel that adds a component to those of a model or takes one away.

        birth_death("mu", "sigma")                                # components mu[j], sigma[j] for j < k

    Args:
        namespaces: where the components are: the choices of component j are at `(*namespace, j)`, or below
            where that is a namespace or a call.
        propose: the program that proposes a component, called with the trace. It makes each choice at the
            address that it has in the model, without j: `mu = ~normal(0, 10)` for ("mu", j). If not given, a
            component is drawn from its prior, which must be the same for all and must not tie the choices of
            one component to each other; where it does, call the model's own program for a component. Needed
            where there may be no component and `number` is a function.
        number: the address of the number of components, or a function of the trace that computes it from
            choices that `others` changes.
        least, most: bounds on k, beside the support of its distribution. At the ends a birth has
            probability 1 or 0; more than `most` components are an error, fewer than `least` stay as they are.
        birth: the probability of proposing a birth where both are possible, or a function of the trace.
        insert: "swap" puts the new component at a uniformly random place and the one that was there at the
            end, so that at most two components move; "shift" moves all beyond the place up by one; "last"
            puts it at the end, and lets only the last one die; "sorted" keeps components in increasing order
            of the choice under `order` (the first namespace if not given; `("peak", "centre")` for choices at
            ("peak", j, "centre")), as the model must make them; of equal ones, which a discrete choice can
            have, the first may die.
        vectors: for each vector with one entry per component, how the entries of the others change: a pair of
            functions `(grow, shrink)`, or None where they stay. The new entry is the proposal's choice of the
            same address; grow(entries, new) gives those of the others after a birth, of a list of them, as
            `[e * (1 - new) for e in entries]`, and shrink(entries, old) is its inverse. They are
            differentiated as a transform is.
        others: `pair(grow, shrink)` of transforms for whatever else depends on k, called as
            grow(model_in, aux_in, model_out=..., aux_out=..., place=...) where aux_in and aux_out hold the
            choices of `propose` in a birth, and shrink the same in a death; both have an extra parameter
            `place` (write `place=None`), a `gendsl.inference.Place`.
        allocations: the address of allocations of data points to components, each a choice `(*address, i)` or
            all in one vector of integers. Then only a component without points is born or dies, and points
            are renumbered with their components.
        check: as for `involutive`.
        name: the name under which its acceptance is counted.

    Where only a birth is possible (as with allocations, when no component is empty) a birth is proposed. The
    cost is that of what the move changes, plus O(data points) with allocations.

    Returns:
        The kernel, with its auxiliary program `q` and its transform `f`. The auxiliary choices are "birth",
        "place", and those of the proposal under "new".

    Raises:
        KernelError: the arguments don't make a move.
    """
    where = caller_location()
    spaces = as_namespaces("birth_death", namespaces)
    if propose is not None and not isinstance(propose, GenFunction):
        raise KernelError(f"the proposal is {propose!r}", fix="decorate it with @gen; it gets the trace")
    if insert not in ("swap", "shift", "last", "sorted"):
        raise KernelError(
            f"birth_death got insert={insert!r}", fix='insert is "swap", "shift", "last" or "sorted"'
        )
    if order is not None and insert != "sorted":
        raise KernelError("order was given, and the components are not sorted", fix='add insert="sorted"')
    entries = _as_vectors(vectors, propose)
    grow = shrink = None
    if others is not None:
        grow, shrink = as_others(others)
    elif callable(number):
        raise KernelError(
            "the number of components is computed, and nothing changes it",
            fix="give `others`, a pair of transforms that write the choices it is computed from",
        )
    move = _Move(
        spaces,
        as_number("birth_death", number, least, most),
        check_probability("birth_death", "birth", birth),
        insert,
        as_order(spaces[0] if order is None else order, spaces),
        entries,
        None if allocations is None else as_path(allocations),
    )
    q = _program(move, _from_prior(move) if propose is None else propose)
    f = pointing(_transform(move, grow, shrink, defined_at(propose)), where, _giver(move, propose))
    return component_kernel(
        q, f, check, name,
        "name the namespace of every choice of a component; propose each at its address in the model, "
        "without the number: `mu = ~normal(0, 1)` for ('mu', j); change what else depends on k by `vectors` "
        "or `others`",
        "what is given for a death must undo what is given for a birth: shrink(grow(entries, new), new) must "
        "give the entries again, and the transforms of `others` each other's",
    )  # fmt: skip


def _as_vectors(vectors: Any, propose: Any) -> dict[Path, tuple[MapEntries, MapEntries] | None]:
    if vectors is None:
        return {}
    if not isinstance(vectors, Mapping):
        raise KernelError(
            f"birth_death got vectors={vectors!r}",
            fix='a dict from addresses to pairs of functions: vectors={"weights": (grow, shrink)}',
        )
    if propose is None and vectors:
        raise KernelError(
            "a new component has entries in vectors, and nothing proposes them",
            fix="give `propose`, with a choice at the address of each vector",
        )
    found = {as_path(address): maps for address, maps in vectors.items()}
    for path, maps in found.items():
        if maps is not None and not (
            isinstance(maps, tuple) and len(maps) == 2 and callable(maps[0]) and callable(maps[1])
        ):
            raise KernelError(
                f"birth_death got {maps!r} for a vector", address=path,
                fix="a pair of functions (grow, shrink) of the entries of the others and that of the "
                "component, or None where the others keep theirs",
            )  # fmt: skip
    return found


# --- the parts of the move -------------------------------------------------------------------------


def _from_prior(move: _Move) -> GenFunction:
    namespaces, number = move.namespaces, move.number

    @gen
    def component_from_prior(trace):  # type: ignore[no-untyped-def]
        for path, distribution in prior_in(trace, namespaces, number.of(trace), number):
            path @ ~distribution

    return component_from_prior


def _program(move: _Move, propose: GenFunction) -> GenFunction:
    number, draws_place = move.number, move.draws_place

    def chance(trace: ReferenceTrace, k: int, mortal: Any) -> float:
        may_grow = move.may_grow(trace, k)
        if not may_grow and not mortal:
            return 0.5
        return chance_of_more(may_grow, bool(mortal), move.birth, trace)

    @gen
    def birth_or_death(trace):  # type: ignore[no-untyped-def]
        k = number.of(trace)
        mortal = move.mortal(trace, k)
        birth = ~bernoulli(chance(trace, k, mortal))
        stuck = not mortal and not move.may_grow(trace, k)
        if stuck:
            pass
        elif birth:
            if draws_place:
                "place" @ ~uniform_discrete(0, k)
            "new" @ ~propose(trace)
        elif len(mortal) == k:
            "place" @ ~uniform_discrete(0, k - 1)
        else:
            "place" @ ~one_of(mortal)
        return k, stuck

    return birth_or_death


def _transform(
    move: _Move, grow: Transform | None, shrink: Transform | None, proposal: Location | None
) -> Transform:
    namespaces, allocations = move.namespaces, move.allocations
    vectors = tuple(move.vectors.items())
    others = tuple(move.vectors) if grow is None else None
    count, draws_place, insert = move.number.address, move.draws_place, move.insert

    def born_at(model_in: Any, aux_in: Any, k: int) -> int:
        if draws_place:
            return int(read(aux_in["place"], discrete))
        if insert == "last":
            return k
        before, after = move.order
        new = read(aux_in[("new", *before, *after)])
        return bisect_left([read(model_in[(*before, j, *after)]) for j in range(k)], new)

    def refuse(path: Path) -> KernelError:
        return _no_part(path, namespaces, proposal)

    def relabel(model_in: Any, model_out: Any, numbers: list[int]) -> None:
        """Write the allocations that change when component j becomes numbers[j]."""
        trace = trace_of(model_in)
        old = labels_of(trace, allocations, len(numbers))  # type: ignore[arg-type]
        write_labels(trace, model_out, allocations, old, np.array(numbers, dtype=int)[old])  # type: ignore[arg-type]

    @transform
    def birth_death(model_in, aux_in, *, model_out, aux_out):  # type: ignore[no-untyped-def]
        k, stuck = aux_in.retval
        if stuck:
            copy(aux_in["birth"], aux_out["birth"])
            return
        birth = read(aux_in["birth"], discrete)
        write(aux_out["birth"], not birth, discrete)
        if count is not None:
            write(model_out[count], k + 1 if birth else k - 1, discrete)
        if birth:
            place = move.place(born_at(model_in, aux_in, k), k)
            write(aux_out["place"], place.index, discrete)
            for j, number in place.renumbered:
                for space in namespaces:
                    copy(model_in[(*space, j)], model_out[(*space, number)])
            check_parts(trace_of(model_in), trace_of(aux_in), ("new",), namespaces, others, k, refuse)
            for space in namespaces:
                copy_all(aux_in[("new", *space)], model_out[(*space, place.index)])
            for address, maps in vectors:
                values = list(read(model_in[address]))
                new = read(aux_in[("new", *address)])
                if maps is not None:
                    values = maps[0](values, new)
                values = place.insert(values, new)
                write(model_out[address], vector_of(values, are_weights(model_in, address)))
            if allocations is not None:
                relabel(model_in, model_out, [place.number(j) for j in range(k)])
            if grow is not None:
                grow(model_in, aux_in["new"], model_out=model_out, aux_out=aux_out["new"], place=place)
        else:
            place = move.place(read(aux_in["place"], discrete), k - 1)
            if draws_place:
                copy(aux_in["place"], aux_out["place"])
            check_component(trace_of(model_in), namespaces, place.index)
            for space in namespaces:
                copy_all(model_in[(*space, place.index)], aux_out[("new", *space)])
            for j, number in place.renumbered:
                for space in namespaces:
                    copy(model_in[(*space, number)], model_out[(*space, j)])
            for address, maps in vectors:
                values, old = place.remove(list(read(model_in[address])))
                write(aux_out[("new", *address)], old)
                if maps is not None:
                    values = maps[1](values, old)
                write(model_out[address], vector_of(values, are_weights(model_in, address)))
            if allocations is not None:
                relabel(model_in, model_out, [place.number_without(j) for j in range(k)])
            if shrink is not None:
                shrink(model_in, aux_in["new"], model_out=model_out, aux_out=aux_out["new"], place=place)

    return birth_death


def _no_part(path: Path, namespaces: tuple[Path, ...], proposal: Location | None) -> KernelError:
    """The error for a choice of a proposal that is no choice of a component."""
    names = ", ".join(map(format_address, namespaces))
    return KernelError(
        "the proposal of birth_death makes a choice that is none of a component's",
        address=path,
        location=proposal,
        fix=f"make each choice of a component at its address in the model, without the number: under "
        f"{names}, `mu = ~normal(0, 1)` for ('mu', j); or name its namespace, too: birth_death('mu', 'sd')",
    )


def _giver(move: _Move, propose: GenFunction | None) -> Giver:
    """A new component's choices are the proposal's, the entries of vectors those of grow or shrink."""
    proposal = defined_at(propose)
    maps = {
        path: None if both is None else (defined_at(both[0]), defined_at(both[1]))
        for path, both in move.vectors.items()
    }

    def giver(run: Run, number: int, path: Path, entry: Write | Copy) -> Location | None:
        if number == 1:
            return proposal if path[0] == "new" else None
        if type(entry) is Copy:
            return proposal if entry.source is run.inputs[1] else None
        both = maps.get(path)
        if both is None:
            return None
        to_birth: Any = run.outputs[1].entries["birth",]  # of the way back
        return both[bool(to_birth.value)]

    return giver
