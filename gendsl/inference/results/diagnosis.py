"""What can't be trusted in a run, and why the moves of its kernels were rejected, in sentences."""

from __future__ import annotations

import html
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gendsl.choices.display import summary as short
from gendsl.errors import ValueTypeError
from gendsl.inference.results.convergence import effective_draws, r_hat
from gendsl.inference.results.draws import Sampled
from gendsl.inference.results.scalars import Chains, few_scalars, present, scalars
from gendsl.inference.results.summary import FEW, frequency
from gendsl.inference.results.tables import number, ratio, whole
from gendsl.inference.running.chain import Chain
from gendsl.inference.running.tally import Tally

R_HAT, EFFECTIVE = 1.01, 100
"""Above the one chains don't agree, and with fewer effective draws a chain neither this nor errors are known.

Vehtari et al. 2021, section 4.
"""

_VALUES = 20  # a quantity with more distinct values than this has no share that anybody would read
_RARE = 0.01  # that a value of a smaller share was entered seldom is no surprise
_NAMED = 4  # numbers that a sentence names
_WORK = 10**6  # choices that `print(run)` looks at
_LONGEST = 20_000  # draws of a chain that `print(run)` looks at

LOG_DENSITY = "log density"


class Finding(NamedTuple):
    """Something to know of a run.

    Attributes:
        text: a sentence.
        is_problem: whether numbers of the run can't be trusted for it.
    """

    text: str
    is_problem: bool = True


@dataclass(frozen=True, repr=False)
class Diagnosis:
    """What `run.diagnose()` found; it shows itself as text.

    Attributes:
        problems: why numbers can't be trusted, a sentence for each kind of problem.
        remarks: what else is worth knowing.
        kernels: for each kernel how often it was accepted, and why it was rejected where it wasn't.
    """

    problems: tuple[str, ...]
    remarks: tuple[str, ...]
    kernels: Mapping[str, str]

    def __str__(self) -> str:
        return "\n".join([*self.problems, *self.remarks, "", *self.kernels.values()])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        lines = [*self.problems, *self.remarks, *self.kernels.values()]
        return f"<div>{''.join(f'<p>{html.escape(line)}</p>' for line in lines)}</div>"


def diagnose(run: Sampled) -> Diagnosis:
    """See `Run.diagnose`."""
    numbers, _ = scalars(run)
    found = findings(run, numbers)
    problems = tuple(_sentence(finding.text) for finding in found if finding.is_problem)
    remarks = [_sentence(finding.text) for finding in found if not finding.is_problem]
    if len(run) and not problems:
        remarks.insert(0, _all_is_well(run, numbers))
    kernels = {name: kernel_text(name, tally) for name, tally in run.acceptance.items()}
    return Diagnosis(problems, tuple(remarks), kernels)


def findings(run: Sampled, numbers: Mapping[str, Chains], longest: int | None = None) -> list[Finding]:
    """What is to be said of a run, problems first.

    Args:
        run: the run.
        numbers: those that are looked at, by `scalars`; the log density is looked at besides.
        longest: how many draws of a chain are compared with those of others; all if not given. Where there
            are more, every second is taken, or third, and so on, which only makes neighbours less alike.
    """
    if not len(run):
        return []
    series = {**numbers, **log_density(run)}
    found = [*_of_kernels(run), *_of_agreement(run, series, longest), *_of_shares(run, numbers)]
    if len(run.chains) == 1:
        text = "one chain: R-hat compares its halves; several that start apart tell more"
        found.append(Finding(text, is_problem=False))
    return sorted(found, key=lambda finding: not finding.is_problem)


def brief_findings(run: Sampled) -> list[Finding]:
    """The same for `print(run)`, which looks at so much as takes about a second at most."""
    draws = max(len(run), 1)
    most = max(8, _WORK // (5 * min(draws, _LONGEST * len(run.chains))))
    if run.names or draws * max(map(_choices, run.chains), default=0) <= _WORK:
        return findings(run, scalars(run, most=most)[0], _LONGEST)
    remark = Finding(f"looked at {most} choices at most; run.summary() looks at all", is_problem=False)
    return [*findings(run, few_scalars(run, most), _LONGEST), remark]


def _choices(chain: Chain) -> int:
    """How many choices a draw of a chain has."""
    kept = getattr(chain.traces, "kept", chain.traces)
    return 0 if not len(kept) else len(kept[0] if type(kept[0]) is dict else kept[0].choices)


def log_density(run: Sampled) -> dict[str, Chains]:
    """The log density of each draw; nothing where it wasn't noted."""
    if any(len(chain.steps) != len(chain) for chain in run.chains):
        return {}
    return {LOG_DENSITY: [np.array(chain.steps.log_prob) for chain in run.chains]}


# --- problems --------------------------------------------------------------------------------------


def _of_kernels(run: Sampled) -> Iterator[Finding]:
    for name, tally in run.acceptance.items():
        if tally.proposed and not tally.accepted:
            yield Finding(f"none of {tally.proposed} proposals of {name} was accepted")
        if tally.divergences:
            diverged = f"{tally.divergences} of {tally.proposed} trajectories of {name} diverged"
            yield Finding(f"{diverged}: draws may be missing where the density changes fast")


def _of_agreement(run: Sampled, numbers: Mapping[str, Chains], longest: int | None) -> Iterator[Finding]:
    shortest = min((len(chain) for chain in run.chains if len(chain)), default=0)
    if shortest < EFFECTIVE:
        yield Finding(
            f"{shortest} draws a chain are too few to tell whether chains agree, and for errors that can be "
            "trusted"
        )
        return
    apart, few = {}, {}
    for name, chains in numbers.items():
        kept = [chain for chain in present(chains) if len(chain)]
        step = 1 if longest is None else -(-max(map(len, kept), default=0) // longest) or 1
        kept = [chain[::step] for chain in kept]
        disagreement, effective = r_hat(kept), least_effective(kept)
        if disagreement > R_HAT:
            apart[name] = disagreement
        if effective < EFFECTIVE * len(kept):
            few[name] = effective / len(kept)
    if apart:
        who = "the halves of the chain don't agree" if len(run.chains) == 1 else "the chains don't agree"
        worst = _listed({n: ratio(v) for n, v in sorted(apart.items(), key=lambda item: -item[1])})
        yield Finding(f"R-hat is above {R_HAT}, so {who}: {worst}")
    if few:
        worst = _listed({n: whole(v) for n, v in sorted(few.items(), key=lambda item: item[1])})
        yield Finding(f"fewer than {EFFECTIVE} effective draws a chain, so errors aren't known: {worst}")


def least_effective(chains: Sequence[Any]) -> float:
    """The effective draws in bulk or tail, whichever are fewer; NaN where neither is known."""
    both = effective_draws(chains), effective_draws(chains, tail=True)
    return min((n for n in both if not math.isnan(n)), default=math.nan)


def _of_shares(run: Sampled, numbers: Mapping[str, Chains]) -> Iterator[Finding]:
    """Of values and structures that were entered seldom, whose shares say how long a few visits were."""
    seldom: dict[str, tuple[int, float]] = {}
    constant = []
    counted: list[np.ndarray] = []  # whole numbers that every draw has, which may tell what others it has
    partial: dict[bytes, tuple[str, list[np.ndarray]]] = {}  # by which draws have it, a number of each kind
    for name, chains in numbers.items():
        everything = np.concatenate(chains)
        missing = np.isnan(everything)
        known = np.unique(everything[~missing])
        if missing.any() and len(known):
            partial.setdefault(missing.tobytes(), (name, [~np.isnan(chain) for chain in chains]))
        if len(known) == 1 and not missing.any():
            constant.append(f"{name} is {known[0]:.6g}")
            continue
        if not 0 < len(known) <= _VALUES or not np.all(known == np.rint(known)):
            continue
        if not missing.any():
            counted.append(everything)
        for value in known:
            _note(seldom, f"{name} = {value:.0f}", [chain == value for chain in chains])
    for name, there in partial.values():
        if not any(_tells(values, np.concatenate(there)) for values in counted):
            _note(seldom, f"that there is {name}", there)
    for name in run.names:
        if name not in numbers:
            _note_others(seldom, run, name)
    rare = all(share < _RARE for _, share in seldom.values())
    if seldom:
        ordered = dict(sorted(seldom.items(), key=lambda item: -item[1][1]))
        times = _listed({name: f"({count})" for name, (count, _) in ordered.items()})
        yield Finding(f"entered fewer than {FEW} times, so the shares aren't known: {times}", not rare)
    if constant:
        yield Finding(f"the same in every draw: {_joined(constant)}", is_problem=False)


def _tells(values: np.ndarray, there: np.ndarray) -> bool:
    """Whether a number's value decides in which draws another one is."""
    return all(len(np.unique(there[values == value])) == 1 for value in np.unique(values))


def _note(seldom: dict[str, tuple[int, float]], name: str, hits: Sequence[np.ndarray]) -> None:
    """Note a value that chains came to from another one fewer than 20 times."""
    count = sum(int(np.count_nonzero(each[1:] & ~each[:-1])) for each in hits)
    if count < FEW:
        seldom[name] = count, float(np.concatenate(hits).mean())


def _note_others(seldom: dict[str, tuple[int, float]], run: Sampled, name: str) -> None:
    """The same for the values of a quantity that isn't made of numbers."""
    try:
        shares = frequency(run.by_chain(name), name)
    except ValueTypeError:  # arrays that change their shape, of which no entry was a number
        return
    if 1 < len(shares) <= _VALUES:
        for value, share in shares.items():
            if shares.entries[value] < FEW:
                seldom[f"{name} = {short(value)}"] = shares.entries[value], share.probability


def _listed(items: Mapping[str, str]) -> str:
    """`k 1.2, mu[0] 1.1 and 3 more`."""
    return _joined([f"{name} {value}" for name, value in items.items()])


def _joined(texts: Sequence[str]) -> str:
    more = len(texts) - _NAMED
    return ", ".join(texts[:_NAMED]) + (f" and {more} more" if more > 0 else "")


# --- sentences -------------------------------------------------------------------------------------


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def _all_is_well(run: Sampled, numbers: Mapping[str, Chains]) -> str:
    every = {**numbers, **log_density(run)}
    kept = {name: [chain for chain in present(chains) if len(chain)] for name, chains in every.items()}
    ratios = {name: r_hat(chains) for name, chains in kept.items()}
    effective = {name: least_effective(chains) for name, chains in kept.items()}
    ratios = {name: found for name, found in ratios.items() if not math.isnan(found)}
    effective = {name: count for name, count in effective.items() if not math.isnan(count)}
    if not ratios or not effective:
        return "Nothing that was looked at changes from draw to draw."
    highest, fewest = max(ratios, key=ratios.__getitem__), min(effective, key=effective.__getitem__)
    return (
        f"Nothing is wrong that could be seen: R-hat is at most {ratio(ratios[highest])} ({highest}), "
        f"and the draws are worth {whole(effective[fewest])} independent ones or more ({fewest})."
    )


_TERMS = ("model", "auxiliary densities", "determinant")
_WHY = {
    "model": "what is proposed fits the model worse",
    "auxiliary densities": "the way back is less probable than the way there",
    "determinant": "the map shrinks volumes",
}


def kernel_text(name: str, tally: Tally) -> str:
    """How often a kernel was accepted, and why its proposals were rejected: the terms of their log ratios."""
    parts = [f"{name} accepted {tally.rate:.1%} of {tally.proposed} proposals."]
    terms = tally.rejected_terms
    if terms is not None:
        told = {term: value for term, value in zip(_TERMS, terms[1:], strict=True) if value}
        text = f"Of {tally.weighed} that were rejected the log ratio was {number(terms.log_ratio)} on average"
        if told:
            text += ": " + ", ".join(f"{term} {value:+.5g}" for term, value in told.items())
            lowest = min(told, key=told.__getitem__)
            text += f"; {_WHY[lowest]}"
        else:
            text += ", of which the kernel tells no terms"
        parts.append(f"{text}.")
    reasons = sorted(tally.reasons.items(), key=lambda item: -item[1])
    if reasons:
        shown = "; ".join(f"{reason} ({times})" for reason, times in reasons[:_NAMED])
        more = sum(times for _, times in reasons[_NAMED:])
        parts.append(f"Rejected for another reason: {shown}{f'; others ({more})' if more else ''}.")
    if tally.failed_checks:
        parts.append(f"{tally.failed_checks} failed a check.")
    if tally.divergences:
        parts.append(f"{tally.divergences} trajectories diverged.")
    return " ".join(parts)
