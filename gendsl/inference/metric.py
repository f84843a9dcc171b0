"""Mass matrices: how momenta are drawn, and how they move a position.

With mass matrix M a momentum p is drawn from N(0, M), has the energy p' M^-1 p / 2, and moves a position by
M^-1 p. The best M is near the inverse of the posterior covariance in unconstrained coordinates, so that all
directions look alike (Neal 2011, "MCMC using Hamiltonian dynamics", section 4.1).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gendsl.address import Path, as_path, format_address
from gendsl.errors import KernelError
from gendsl.inference.coordinates import Coordinates, Vector
from gendsl.selection import Selection

Mass = Any
"""None for the identity; a vector for the diagonal of M; a matrix for M; or a mapping from addresses to the
diagonal entries of a choice (1 for choices that it doesn't have), which fits every structure of a trace."""


class FoundMass(dict[Path, Any]):
    """What warm-up finds: the entries of choices, by address.

    The dimension of a choice may change, as that of k weights does with k. Where it had several, its entries
    are a dict from the dimension to those for it; where it comes to have another, it has 1 for each.
    """

    def joined(self, found: Mapping[Path, Any]) -> FoundMass:
        """This with what was found since."""
        mass = FoundMass(self)
        for path, entries in found.items():
            known = by_size(mass.get(path)) | by_size(entries)
            mass[path] = known if len(known) > 1 else entries
        return mass

    def entries(self, path: Path, size: int) -> Any:
        """The entries of a choice of a dimension, or None."""
        return by_size(self.get(path)).get(size)


def by_size(entries: Any) -> dict[int, Any]:
    """The entries of a choice that warm-up found, by their number."""
    if entries is None:
        return {}
    return entries if type(entries) is dict else {np.size(entries): entries}


class Metric:
    """The diagonal mass matrix with these entries."""

    def __init__(self, diagonal: Any) -> None:
        self.diagonal = diagonal
        self.root = np.sqrt(diagonal)

    def draw(self, size: int, rng: np.random.Generator) -> Vector:
        """A momentum from N(0, M), of shape (size,)."""
        momentum: Vector = self.root * rng.standard_normal(size)
        return momentum

    def velocity(self, momentum: Vector) -> Vector:
        """M^-1 p."""
        velocity: Vector = momentum / self.diagonal
        return velocity

    def spread(self, noise: Vector) -> Vector:
        """A z of covariance M^-1, made from a z of covariance 1."""
        spread: Vector = noise / self.root
        return spread

    def whiten(self, z: Vector) -> Vector:
        """The inverse of `spread`."""
        whitened: Vector = z * self.root
        return whitened

    def energy(self, momentum: Vector) -> float:
        """p' M^-1 p / 2, less the constant that doesn't depend on p; infinite where a trajectory diverged."""
        with np.errstate(over="ignore"):
            return 0.5 * float(momentum.dot(self.velocity(momentum)))


class DenseMetric(Metric):
    """Any mass matrix."""

    def __init__(self, matrix: Any) -> None:
        self.factor = np.linalg.cholesky(matrix)
        self.inverse = np.linalg.inv(matrix)

    def draw(self, size: int, rng: np.random.Generator) -> Vector:
        momentum: Vector = self.factor @ rng.standard_normal(size)
        return momentum

    def velocity(self, momentum: Vector) -> Vector:
        velocity: Vector = self.inverse @ momentum
        return velocity

    def spread(self, noise: Vector) -> Vector:
        spread: Any = np.linalg.solve(self.factor.T, noise)
        return np.asarray(spread)

    def whiten(self, z: Vector) -> Vector:
        whitened: Vector = self.factor.T @ z
        return whitened


def check_mass(mass: Mass, user: str, selection: Selection) -> Mass:
    """A mass as the kernels keep it.

    Raises:
        KernelError: it is none, or has entries of a choice that isn't selected.
    """
    if mass is None or isinstance(mass, FoundMass):
        return mass
    if isinstance(mass, Mapping):
        checked = {as_path(address): _positive(entry, user) for address, entry in mass.items()}
        for path in checked:
            if path not in selection:
                raise KernelError(
                    f"{user} got numbers for {format_address(path)}, which isn't selected",
                    address=path,
                    fix=f"it moves {selection!r}: name choices that it moves",
                )
        return checked
    try:
        array = np.asarray(mass, dtype=float)
    except (TypeError, ValueError):
        array = np.zeros(())
    if array.ndim == 1:
        return _positive(array, user)
    if array.ndim == 2 and array.shape[0] == array.shape[1] and np.isfinite(array).all():
        symmetric = np.abs(array - array.T).max(initial=0.0) <= 1e-8 * np.abs(array).max(initial=0.0)
        if symmetric and np.linalg.eigvalsh(array).min(initial=1.0) > 0.0:
            return array
    raise _no_mass(mass, user)


def _positive(entries: Any, user: str) -> Any:
    try:
        array = np.asarray(entries, dtype=float)
    except (TypeError, ValueError):
        raise _no_mass(entries, user) from None
    if array.ndim > 1 or not (np.isfinite(array) & (array > 0.0)).all():
        raise _no_mass(entries, user)
    return array


def _no_mass(mass: Any, user: str) -> KernelError:
    return KernelError(
        f"{user} got mass={mass!r}",
        fix="give positive numbers, a symmetric positive definite matrix, or a dict from addresses to "
        "numbers",
    )


def metric_at(mass: Mass, coordinates: Coordinates) -> Metric:
    """The metric of a checked mass for the coordinates of a trace.

    Raises:
        KernelError: the mass has another dimension.
    """
    if mass is None:
        return _IDENTITY
    dim = coordinates.dim
    if isinstance(mass, dict):
        diagonal = np.ones(dim)
        if type(mass) is not FoundMass:
            _check_choices(mass, coordinates)
        for path, where in coordinates.where.items():
            if type(mass) is FoundMass:
                entries = mass.entries(path, np.size(diagonal[where]))
            else:
                entries = mass.get(path)
            if entries is not None:
                diagonal[where] = _fitting(entries, diagonal[where], path)
        return Metric(diagonal)
    if mass.shape[0] != dim:
        raise KernelError(
            f"the mass has dimension {mass.shape[0]}, and the selected choices have {dim} coordinates",
            fix="give one entry per unconstrained coordinate, or a dict from addresses to entries",
        )
    return Metric(mass) if mass.ndim == 1 else DenseMetric(mass)


def _check_choices(mass: Mapping[Path, Any], coordinates: Coordinates) -> None:
    """Raise where a mass has entries of what is no choice; a choice that the trace doesn't have may come."""
    for path in mass:
        below = [] if path in coordinates.where else coordinates.trace.paths_below(path)
        if below:
            raise KernelError(
                "numbers are given for a namespace, and each choice has its own",
                address=path,
                fix=f"name the choices below it, such as {format_address(below[0])}",
            )


def _fitting(entries: Any, places: Any, path: Path) -> Any:
    if np.shape(entries) not in ((), np.shape(places)) and np.size(entries) != np.size(places):
        raise KernelError(
            f"the mass of {format_address(path)} has {np.size(entries)} entries, and the choice "
            f"{np.size(places)} coordinates",
            address=path,
            fix="give one number, or one per unconstrained coordinate",
        )
    return entries if np.ndim(places) or np.ndim(entries) == 0 else entries[0]


_IDENTITY = Metric(1.0)
