"""`gendsl check`: Algorithm 5 on a move that a module describes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gendsl.commands.find import find_or_module
from gendsl.errors import CommandError
from gendsl.transforms.random_cases import check_involutive

_NEEDED = ("model", "f")
_DEFAULTS: dict[str, Any] = {"args": (), "q": None, "q_args": (), "observed": None}


def check(place: str, cases: int, seed: int) -> int:
    """Test a move on random traces from the prior; 1 if a case failed.

    The move is a dict, or anything with attributes (a class, a namespace, the module itself), with the names
    that `check_involutive` has for its parameters: `model` and `f`, and `args`, `q`, `q_args` and `observed`
    where they aren't (), None, () and None.
    """
    if cases < 1:
        raise CommandError(f"--cases got {cases}", fix="test one case or more")
    move = _parts(place, find_or_module(place))
    report = check_involutive(
        move["model"], move["args"], move["q"], move["f"],
        q_args=move["q_args"], observed=move["observed"], n=cases, rng=seed,
    )  # fmt: skip
    print(report)
    return 0 if report.ok else 1


def _parts(place: str, move: Any) -> dict[str, Any]:
    names = (*_NEEDED, *_DEFAULTS)
    if isinstance(move, Mapping):
        surplus = [str(name) for name in move if name not in names]
        if surplus:
            raise CommandError(
                f"a move has no {', '.join(surplus)}", fix=f"{place} may have: {', '.join(names)}"
            )
        given = dict(move)
    else:
        given = {name: getattr(move, name) for name in names if hasattr(move, name)}
    missing = [name for name in _NEEDED if name not in given]
    if missing:
        raise CommandError(
            f"{place} describes no move: it has no {' and no '.join(missing)}",
            fix="name a dict, a class or a module with model, args, q and f, such as "
            "move = dict(model=clusters, args=(10,), q=propose, f=birth_or_death)",
        )
    return {**_DEFAULTS, **given}
