"""The tape of a run as one Python function: what was read gives the outputs and log |det J|.

    def line(near0, known0, near1, known1, observed, trace, p0=("mu", 0), p1=("u",)):
        ...                             # x1 and x2 are the numbers at p0 and p1
        v3 = x1 - x2
        ...
        return {p0: v3}, {p1: x2}, log(det)

The slopes between the variables make a graph, from which those that are neither inputs nor outputs are taken
out one by one, those with the fewest products first; what is left is the Jacobian (Griewank and Walther,
"Evaluating Derivatives", chapter 9). Its determinant is Laplace's expansion, as in `determinants`. Where a
number isn't what it was when the tape was made (of another kind, outside of what a test found), or the
determinant might not be accurate, the function returns None.

A tape that also has the densities of what is written (`moves`), and the way back (`ways_back`), gives a
function that returns these as well.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from types import CodeType, FunctionType
from typing import Any, NamedTuple

import numpy as np

from gendsl.address import Path
from gendsl.distributions import Distribution
from gendsl.distributions.base import measured
from gendsl.transforms.came_back import RELATIVE_TOLERANCE
from gendsl.transforms.determinants import LARGEST, MOST_PRODUCTS, SMALLEST, Expansion
from gendsl.transforms.inlining import inlined
from gendsl.transforms.short_densities import short_term
from gendsl.transforms.tape import (
    Kept,
    Let,
    Made,
    Read,
    Tape,
    Term,
    Test,
    Traced,
    TracedVector,
    Unrecordable,
    Unseen,
    Written,
    constant,
    refuse,
)

LOG_DET_TOLERANCE = 1e-6
"""How closely the forward and backward log-determinants must cancel."""

_MOST_COLUMNS = 24
_KEPT = 1024
_codes: dict[str, CodeType] = {}

_SPACE: dict[str, Any] = {
    **vars(math), "array": np.array, "ndarray": np.ndarray, "float64": np.float64, "measured": measured,
}  # fmt: skip


def straight_line(
    tape: Tape,
    rows: list[tuple[int, Path]],
    columns: list[tuple[Written, int]],
    checked: set[tuple[int, Path]],
    scores: Scores | None = None,
    way_back: WayBack | None = None,
) -> FunctionType:
    """The function of a tape.

    It is called with the lookups of records and known values of the inputs, `near0, known0, near1, known1`,
    what is `observed` and the model's `trace`. It gives the values of the outputs by path and log |det J|,
    and, with `scores`, the log densities of the outputs and whether it is known that the way leads back, as
    `way_back` says; None where the run would have been another.

    Args:
        rows: the continuous choices that go in, of those that the tape reads.
        columns: the continuous choices that come out, with how many coordinates each has.
        checked: the choices of which it must be asked whether they are observed.
        scores: what to add to the tape's terms.

    Raises:
        Unrecordable: the determinant has no short formula.
    """
    return _Line(tape, checked).function(rows, columns, scores, way_back)


class Scores(NamedTuple):
    """The log densities of a tape's outputs, besides the tape's terms.

    Attributes:
        first: where on the tape they begin.
        constants: what they have besides.
    """

    first: int
    constants: tuple[float, ...]


class Relation(NamedTuple):
    """Variables of which the last ones follow from the first, as of numbers that sum to one."""

    names: tuple[str, ...]
    free: int


class WayBack(NamedTuple):
    """What a tape's last steps lead back to.

    Attributes:
        first: where on the tape they begin.
        inputs, outputs: the coordinates that they start from, and that come back.
        pairs: variables that come back, each with the one that it should be.
        relations: what the variables that they start from satisfy.
    """

    first: int
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]
    relations: tuple[Relation, ...]


class _Line:
    def __init__(self, tape: Tape, checked: set[tuple[int, Path]]) -> None:
        self.tape = tape
        self.checked = checked
        self.lines: list[str] = []
        self.constants: dict[str, Any] = {}
        self.terms: tuple[list[str], list[str]] = [], []
        self.known_terms = [0.0, 0.0]
        self.entries = {name: names for names, name in tape.arrays.items()}  # of variables that hold arrays
        self.entries.update((raw(s), s.names) for s in tape.steps if type(s) is Read and s.shape)
        self.otherwise = "return None"
        self.takes_arguments = False
        self._known: dict[Any, str] = {}
        self._slopes: dict[str, str] = {}

    def function(
        self,
        rows: list[tuple[int, Path]],
        columns: list[tuple[Written, int]],
        scores: Scores | None,
        way_back: WayBack | None,
    ) -> FunctionType:
        steps = self.tape.steps
        first = len(steps) if scores is None else scores.first
        last = len(steps) if way_back is None else way_back.first
        for step in steps[:first]:
            self._step(step)
        self._refuse_nan()
        for step in steps[first:last]:
            self._step(step)
        inputs = [name for key in rows for name in self._free(key)]
        outputs = [name for written, dim in columns for name in written.names[:dim]]
        log_det = self._log_abs_det(inputs, outputs, steps[:first])
        if log_det != "0.0":
            self.lines.append(f"log_det = {log_det}")
            log_det = "log_det"
        dicts = []
        for side in (0, 1):
            written = [w for w in self.tape.written if w.side == side]
            parts = [f"{self._constant(w.path)}: {self._value(w)}" for w in written]
            dicts.append("{" + ", ".join(parts) + "}")
        result = [*dicts, log_det]
        for side, start in enumerate(() if scores is None else scores.constants):
            name = f"score{side}"
            parts = [repr(start + self.known_terms[side]), *self.terms[side]]
            self.lines.append(f"{name} = {' + '.join(parts)}")
            self.lines.append(f"if {name} - {name} != 0.0: return None")  # it is infinite, or NaN
            result.append(name)
        if self.takes_arguments:
            self.lines.insert(0, "args = trace.args")
        if way_back is not None:
            self._come_back(way_back, log_det, result)
        elif scores is not None:
            result.append("False")
        self.lines.append(f"return {', '.join(result)}")
        given = ", ".join(["near0, known0, near1, known1, observed, trace", *self.constants])
        text = "\n".join([f"def line({given}):", *(f"    {line}" for line in inlined(self.lines))])
        code = _codes.get(text)
        if code is None:
            module = compile(text, os.path.join(os.path.dirname(__file__), "<straight line>"), "exec")
            code = next(part for part in module.co_consts if isinstance(part, CodeType))
            if len(_codes) >= _KEPT:
                _codes.clear()
            _codes[text] = code
        return FunctionType(code, _SPACE, "line", tuple(self.constants.values()))

    def _come_back(self, way_back: WayBack, log_det: str, result: list[str]) -> None:
        """Add whether the way back leads to where the line began."""
        self.lines.append(f"result = {', '.join(result)}, False")
        self.otherwise = "return result"
        result[:] = ["*result[:-1]"]
        steps = self.tape.steps[way_back.first :]
        for step in steps:
            self._step(step)
        back = self._log_abs_det([*way_back.inputs], [*way_back.outputs], [*way_back.relations, *steps])
        self.lines.append(f"back = {back}")
        near = [
            f"({y} == {x} or abs({y} - {x}) <= {RELATIVE_TOLERANCE} * abs({x}) < inf)"
            for y, x in way_back.pairs if y != x
        ]  # fmt: skip
        cancel = f"abs({log_det} + back) <= {LOG_DET_TOLERANCE} * max(1.0, abs(back))"
        result.append(" and ".join([*near, cancel]))

    def _step(self, step: Any) -> None:
        if type(step) is Read:
            self._read(step)
        elif type(step) is Let:
            if step.needs is not None:
                self.lines.append(f"if not ({step.needs}): {self.otherwise}")
            self.lines.append(f"{step.name} = {step.text}")
        elif type(step) is Test:
            self.lines.append(f"if {'not ' if step.outcome else ''}({step.text}): {self.otherwise}")
        elif type(step) is Kept:
            self._keep(step)
        elif type(step) is Term:
            self._term(step)

    def _constant(self, value: Any) -> str:
        """The parameter that has a value, by default."""
        key = type(value), value, type(value) is tuple and tuple(map(type, value))
        name = self._known.get(key)
        if name is None:
            name = self._known[key] = f"p{len(self.constants)}"
            self.constants[name] = value
        return name

    def _object(self, value: Any) -> str:
        """The parameter that has an object, by default."""
        name = self._known.get(id(value))
        if name is None:
            name = self._known[id(value)] = f"p{len(self.constants)}"
            self.constants[name] = value  # and so its id stays its own
        return name

    def _found(self, side: int, path: str, value: str) -> None:
        """Look a choice up: its measure and its value."""
        self.lines += [
            f"r = near{side}({path})",
            "if r is None:",
            f"    r = known{side}({path})",
            "    if r is None: return None",
            f"    s, {value} = r",
            "else:",
            f"    s = r[0]._measure or measured(r[0]); {value} = r[1]",
        ]

    def _read(self, step: Read) -> None:
        side, path = step.side, self._constant(step.path)
        value = raw(step)
        self._found(side, path, value)
        if step.kind is None:
            self.lines.append("if not s.discrete: return None")
            return
        kind = "ndarray" if step.shape else "float"
        wrong = f"s.__class__ is not {self._constant(step.kind)} or {value}.__class__ is not {kind}"
        if step.shape:
            wrong += f" or s.shape != {self._constant(step.shape)}"
        if (side, step.path) in self.checked:
            wrong += f" or {path} in observed"
        self.lines.append(f"if {wrong}: return None")
        if step.shape:
            self.lines.append(f"{', '.join(step.names)}, = {value}.tolist()")

    def _keep(self, step: Kept) -> None:
        self._found(0, self._constant(step.path), step.name)
        wrong = f"s.__class__ is not {self._object(step.kind)} or s.shape != {self._constant(step.shape)}"
        if step.same is not None:
            (same,) = step.same
            kind = type(same).__name__
            wrong += f" or {step.name}.__class__ is not {kind} or {step.name} != {self._constant(same)}"
        self.lines.append(f"if {wrong}: return None")

    def _term(self, step: Term) -> None:
        name = self.tape.name("t")
        short = short_term(step, self.entries)
        if short is not None:
            if short.needs:
                self.lines.append(f"if not ({' and '.join(short.needs)}): return None")
            if short.ratio is not None:
                self.lines.append(f"z = {short.ratio}")
            if short.text:
                self.lines.append(f"{name} = {short.text}")
                self.terms[step.side].append(name)
            self.known_terms[step.side] += short.constant
            return
        thing = step.function
        function = self._spelled(thing) if type(thing) is Made else self._object(thing)
        method = "" if step.method is None else f".{step.method}"
        text = f"{function}{method}({', '.join(map(self._spelled, step.given))})"
        if step.kept is not None and not step.is_float and not thing.named:
            # it is what it was if its distribution was made of the same objects: see `runtime.remade`
            made = [thing.kind, *thing.arguments]
            known = [self._spelled(x) if _is_recorded(x) else self._object(x) for x in made]
            same = " and ".join(f"a[{i}] is {x}" for i, x in enumerate(known))
            self.lines += [
                f"r = near0({self._constant(step.kept)})",
                "a = None if r is None else r[0]._arguments",
                f"{name} = r[2] if a is not None and {same} else {text}",
            ]
        else:
            self.lines.append(f"{name} = {text}")
        if not step.is_float:
            self.lines += [
                f"if {name}.__class__ is not float:",
                f"    if {name}.__class__ is not float64: return None",
                f"    {name} = float({name})",
            ]
        self.terms[step.side].append(name)

    def _spelled(self, thing: Any) -> str:
        """A value of a recorded run as text."""
        kind = type(thing)
        if kind is Traced:
            return str(thing.name)
        if kind is Unseen:
            self.takes_arguments = self.takes_arguments or thing.text.startswith("args[")
            return str(thing.text)
        if kind is TracedVector:
            return thing.text or f"array([{', '.join(map(self._spelled, thing.entries))}], float)"
        if kind is Made:
            named = [f"{name}={self._spelled(value)}" for name, value in thing.named.items()]
            return f"{self._object(thing.kind)}({', '.join([*map(self._spelled, thing.arguments), *named])})"
        if kind is list:
            return f"[{', '.join(map(self._spelled, thing))}]"
        if kind is tuple:
            return f"({''.join(f'{self._spelled(part)}, ' for part in thing)})"
        if kind is float or kind is int:
            return constant(thing) or refuse()
        if isinstance(thing, (str, bool, type(None), np.generic, np.ndarray, Distribution)):
            return self._object(thing)
        return refuse()

    def _value(self, written: Written) -> str:
        """What is given to an output."""
        if not written.names:
            return self._constant(written.constant)
        if not written.vector:
            return written.names[0]
        if written.copied:
            return f"{written.names[0]}_"
        if written.names in self.tape.arrays:
            return self.tape.arrays[written.names]
        return f"array([{', '.join(written.names)}], float)"

    def _refuse_nan(self) -> None:
        kinds = {step.names[0] for step in self.tape.steps if type(step) is Read and step.kind is None}
        names = {name: None for w in self.tape.written for name in w.names if name not in kinds}
        if names:
            self.lines += [f"t = {' + '.join(names)}", "if t != t: return None"]

    # --- the determinant -----------------------------------------------------------------------

    def _log_abs_det(self, inputs: list[str], outputs: list[str], steps: Sequence[Any]) -> str:
        if not outputs and not inputs:
            return "0.0"
        if len(inputs) != len(outputs) or len(inputs) > _MOST_COLUMNS:
            raise Unrecordable("the Jacobian isn't square, or is large")
        entries = self._jacobian(set(inputs), outputs, steps)
        number = {name: i for i, name in enumerate(inputs)}
        pattern = [tuple(number[name] for name in column) for column in entries]
        slopes = [slope for column in entries for slope in column.values()]
        expansion = Expansion(pattern, slopes, len(self.lines))
        _, det = expansion.minor(tuple(range(len(inputs))), tuple(range(len(pattern))))
        if expansion.products > MOST_PRODUCTS or det == "0.0":
            raise Unrecordable("the determinant has no short formula")
        self.lines += [*expansion.lines, f"det = abs({det})"]
        changing = sorted(expansion.used - {"1.0"})
        size = f"hypot({', '.join(changing)})" if changing else "0.0"
        self.lines.append(f"if not ({size} < {LARGEST} and {SMALLEST} < det < {LARGEST}): {self.otherwise}")
        return "log(det)"

    def _free(self, key: tuple[int, Path]) -> tuple[str, ...]:
        step = self.tape.seeds[key][0]
        return step.names[: step.free]

    def _jacobian(
        self, inputs: set[str], outputs: list[str], steps: Sequence[Any]
    ) -> list[dict[str, str]]:
        """For each output the slopes with respect to the inputs, those that aren't zero.

        Adds the lines that compute them.
        """
        before: dict[str, dict[str, str]] = {}
        for step in steps:
            if type(step) is Let:
                before[step.name] = {}
                for name, slope in step.slopes:
                    self._add(before[step.name], name, slope)
            elif type(step) is Relation or (type(step) is Read and step.kind is not None):
                for name in step.names[step.free :]:  # the last of numbers that sum to one
                    before[name] = dict.fromkeys(step.names[: step.free], "-1.0")
        wanted = [(f"o{i}", name) for i, name in enumerate(outputs)]
        before.update((goal, {name: "1.0"}) for goal, name in wanted)
        self._leave_out_unneeded(before, [goal for goal, _ in wanted], inputs)
        after: dict[str, list[str]] = {}
        for name, slopes in before.items():
            for other in slopes:
                after.setdefault(other, []).append(name)
        inner = [name for name in before if name in after]
        while inner:
            name = min(inner, key=lambda n: len(before[n]) * len(after[n]))
            inner.remove(name)
            self._take_out(name, before, after)
        return [before[goal] for goal, _ in wanted]

    def _leave_out_unneeded(
        self, before: dict[str, dict[str, str]], goals: list[str], inputs: set[str]
    ) -> None:
        """Leave out what no output depends on, and what depends on no input."""
        depends = set(inputs)
        for name, slopes in before.items():  # in the order in which they are computed
            before[name] = {other: slope for other, slope in slopes.items() if other in depends}
            if before[name]:
                depends.add(name)
        needed = set(goals)
        for name in reversed([*before]):
            if name in needed:
                needed.update(before[name])
        for name in [*before]:
            if name not in needed:
                del before[name]

    def _take_out(self, name: str, before: dict[str, dict[str, str]], after: dict[str, list[str]]) -> None:
        """Take a variable out of the graph: what depends on it depends on what it depends on."""
        sources = before.pop(name)
        targets = after.pop(name)
        for source in sources:
            after[source].remove(name)
        for target in targets:
            slopes = before[target]
            outer = slopes.pop(name)
            if len(sources) > 1 and not _is_atom(outer):
                outer = self._named(outer)
            for source, inner in sources.items():
                if source not in slopes:
                    after[source].append(target)
                self._add(slopes, source, _product(outer, inner))
                if source not in slopes:
                    after[source].remove(target)

    def _add(self, slopes: dict[str, str], name: str, slope: str) -> None:
        """Add a slope to what there is; none is left where constants cancel."""
        if name in slopes:
            if {slopes[name], slope} == {"1.0", "-1.0"}:
                del slopes[name]
                return
            slope = f"{slopes[name]} + {slope}"
        slopes[name] = slope if _is_atom(slope) else self._named(slope)

    def _named(self, text: str) -> str:
        name = self._slopes.get(text)
        if name is None:
            name = self._slopes[text] = self.tape.name("d")
            self.lines.append(f"{name} = {text}")
        return name


def _is_recorded(thing: Any) -> bool:
    return isinstance(thing, (Traced, TracedVector, Unseen, Made, list, tuple))


def raw(step: Read) -> str:
    """The variable that has a choice's value as the trace has it."""
    return f"{step.names[0]}_" if step.shape else step.names[0]


def _is_atom(text: str) -> bool:
    return text.removeprefix("-").replace(".", "").replace("_", "").isalnum()


def _product(a: str, b: str) -> str:
    if a == "1.0" or b == "1.0":
        return b if a == "1.0" else a
    if a == "-1.0" or b == "-1.0":
        rest = b if a == "-1.0" else a
        if _is_atom(rest):
            return rest[1:] if rest.startswith("-") else f"-{rest}"
    return f"{a} * {b}"
