"""What of a body updates incrementally, line by line: the kind of each block, what it depends on, and
what that means for the cost of an update.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator

import numpy as np

from gendsl.distributions import Distribution
from gendsl.interface import GenerativeFunction
from gendsl.lang.sites import is_choice, known_value
from gendsl.lang.source import Source
from gendsl.lang.trees import walk
from gendsl.runtime.lowering.ir import (
    ITEM,
    LENGTH,
    Branch,
    Code,
    ColumnSite,
    Exit,
    Filled,
    Fragment,
    Load,
    Loop,
    Node,
    Program,
    Region,
    Return,
    Site,
)
from gendsl.runtime.lowering.lines import Listing
from gendsl.runtime.lowering.liveness import codes_of, levels, sure_slots, visit
from gendsl.runtime.lowering.rows import as_written, is_cell

_MADE = "__gendsl_"
"""How the names begin that the compiler gives to what has none."""

Columns = Callable[[Loop], bool]
"""Whether a loop's iterations are kept as columns."""


def explain(
    program: Program,
    definition: Source,
    columns: Columns = lambda loop: False,
    *,
    few: int = 0,
    together: int = 0,
    many: int = 0,
) -> str:
    """The body with what is said of each line beside it, below what holds for all of it.

    Args:
        columns: for each plate, whether its choices are kept and scored as columns.
        few: up to how many choices a trace is executed whole.
        together: up to how many choices statements side by side are.
        many: from how many iterations on a loop over data is not.
    """
    listing, summary = annotated(program, definition, columns)
    if few and program.opaque is None:
        summary += f"\nA trace of up to {few} choices is executed whole, which costs less."
    if together:
        summary += f"\nStatements side by side that make up to {together} choices are executed as one block."
    over_data = any(isinstance(node, Loop) and node.is_data for node in program.body)
    if over_data and many and (few or together):
        summary += f"\nA loop over data of {many} iterations or more is kept as columns instead."
    return f"{head(definition)}\n{summary}\n\n{listing}"


def annotated(
    program: Program, definition: Source, columns: Columns = lambda loop: False
) -> tuple[Listing, str]:
    """The lines with what is said of them, and what holds for the whole body."""
    listing = Listing(definition)
    if program.opaque is not None:
        reason, rewrite, at = program.opaque
        line = getattr(at, "lineno", definition.node.lineno)
        listing.note(line, f"opaque, and with it the whole body: {reason}")
        listing.note(line, f"instead: {rewrite}")
        return listing, f"Nothing updates incrementally, because of line {line}: the whole body is executed."
    notes = _Notes(definition, listing, columns)
    notes.sequence(program.body, ())
    return listing, _summary(notes.opaque, notes.everywhere)


def explain_reference(definition: Source) -> str:
    """The same for the reference runtime."""
    summary = "Nothing updates incrementally: the reference runtime executes the whole body every time."
    return f"{head(definition)}\n{summary}\n\n{Listing(definition)}"


def head(definition: Source) -> str:
    """The name of a program, and where it is defined."""
    name = definition.function.__qualname__.rpartition("<locals>.")[2]
    return f"{name}, {definition.filename}:{definition.node.lineno}"


def _summary(opaque: list[int], everywhere: list[int]) -> str:
    lines = []
    if opaque:
        lines.append(f"Updates incrementally but for {_numbered(opaque)}, executed whole at every update.")
    else:
        lines.append("Updates incrementally: a change is followed to what depends on it; nothing else runs.")
    if everywhere:
        where = _numbered(everywhere)
        lines.append(f"A change of an address of {where} is found by an index, which the first one makes.")
    return "\n".join(lines)


def _numbered(lines: list[int]) -> str:
    unique = sorted(set(lines))
    return f"line{'s' * (len(unique) > 1)} {joined([str(line) for line in unique])}"


def joined(names: Iterable[str], word: str = "and") -> str:
    """`a, b and c`, each once."""
    unique = list(dict.fromkeys(names))
    return f" {word} ".join([", ".join(unique[:-1]), unique[-1]] if len(unique) > 1 else unique)


def either(names: Iterable[str]) -> str:
    """`a, b or c`, each once."""
    return joined(names, "or")


def _text(node: ast.AST, room: int = 40) -> str:
    text = ast.unparse(node).replace("\n", " ")
    for part in walk(node):
        if isinstance(part, ast.Name) and hasattr(part, "stands_for"):  # see `LoopLowering.own_entries`
            text = text.replace(part.id, part.stands_for)
    return text if len(text) <= room else text[: room - 3] + "..."


class _Notes:
    """What is said of the blocks of a body.

    Attributes:
        fixed: the slots, by depth and number, whose values an update of what is outside them never changes.
        opaque, everywhere: the lines of what is opaque, and of addresses that can't be routed.
    """

    def __init__(self, definition: Source, listing: Listing, columns: Columns) -> None:
        self.definition = definition
        self.listing = listing
        self.columns = columns
        self.fixed: set[tuple[int, int]] = set()
        self.opaque: list[int] = []
        self.everywhere: list[int] = []

    def say(self, node: ast.AST, text: str) -> None:
        self.listing.note(node.lineno, text)  # type: ignore[attr-defined]

    # --- blocks -----------------------------------------------------------------------------------

    def sequence(self, nodes: list[Node], loops: tuple[Loop, ...]) -> None:
        """Say what the blocks of a sequence are, and those inside them."""
        for node in nodes:
            match node:
                case Filled():
                    self.loop(node.loop, loops)
                case Fragment():
                    self.fragment(node, len(loops))
                case Site():
                    self.site(node, loops)
                case Branch():
                    self.branch(node, loops)
                case Loop():
                    self.loop(node, loops)
                case Return():
                    self.returned(node)
                case Exit():
                    self.say(node.node, "ends the loop" if node.status == "break" else "ends the iteration")
                case Region():
                    self.region(node)

    def fragment(self, node: Fragment, depth: int) -> None:
        """An ordinary statement."""
        loads = node.code.loads
        reads = self.reads([node.code])
        if not reads and not any(load.name.startswith(_MADE) for load in loads):
            self.fixed.update((depth, slot) for slot in node.defs)
            self.say(node.node, "fixed: computed once")
        elif reads:
            self.say(node.node, f"computed again when {either(reads)} changes")

    def branch(self, node: Branch, loops: tuple[Loop, ...]) -> None:
        """`if`."""
        if loops and node.test in _tests(loops[-1]):
            return  # the loop itself speaks of the test of a `while`
        reads = self.reads([node.test])
        on = f"branch on {joined(reads)}" if reads else "branch"
        self.say(node.node, f"{on}: the arm that isn't taken costs nothing")
        for arm in node.arms:
            self.sequence(arm, loops)

    def returned(self, node: Return) -> None:
        """`return`."""
        reads = self.reads([node.code])
        if node.lazy and node.code.depth == 0:
            self.say(node.node, "return: gathered when it is asked for")
        elif reads:
            self.say(node.node, f"return: computed again when {either(reads)} changes")
        else:
            self.say(node.node, "return: fixed")

    def region(self, node: Region) -> None:
        """Statements that are executed whole."""
        self.opaque.append(node.node.lineno)  # type: ignore[attr-defined]
        self.say(node.node, f"opaque, executed whole at every update: {node.reason}")
        self.say(node.node, f"instead: {node.rewrite}")

    # --- choices and calls ------------------------------------------------------------------------

    def site(self, node: Site, loops: tuple[Loop, ...]) -> None:
        """A choice, a call or an ordinary value."""
        kind = self.kind(node)
        reads = self.reads([node.thing])
        addressed = self.reads([node.address]) if node.address is not None else []
        moving = [name for name in addressed if name not in reads]
        if kind.startswith("call"):
            passed = f" when {either(reads)} changes or" if reads else " when"
            self.say(node.node, f"{kind}: updated{passed} something inside it does")
        elif kind == "ordinary value":
            self.say(node.node, f"{kind}: computed again when {either(reads)} changes" if reads else kind)
        elif reads:
            self.say(node.node, f"{kind}: scored again when {either(reads)} changes")
        else:
            self.say(node.node, f"{kind}: depends on nothing")
        if moving:
            self.say(node.node, f"taken back and made anew when {either(moving)} changes: its address")
        self.addresses(node, loops)

    def kind(self, node: Site) -> str:
        """What `~` makes, as far as it is known before the body runs."""
        operand = node.node.operand if is_choice(node.node) else node.node.right.operand  # type: ignore[attr-defined]
        function = operand.func if isinstance(operand, ast.Call) else operand
        known = known_value(self.definition, function)
        if isinstance(known, GenerativeFunction):
            return f"call of {_text(function)}"
        if node.splice:
            return "call"
        if isinstance(known, Distribution) or (isinstance(known, type) and issubclass(known, Distribution)):
            return "choice"
        if isinstance(known, np.ufunc) or getattr(known, "__module__", "") in ("numpy", "math", "builtins"):
            return "ordinary value"
        return "choice or call"

    def addresses(self, node: Site, loops: tuple[Loop, ...]) -> None:
        """Say which loops look through every iteration for an address of this site."""
        if node.address is None and not node.splice:
            return
        lost = [loop for loop in loops if not _is_routed(node, loop)]
        if not lost:
            return
        self.everywhere.append(node.node.lineno)  # type: ignore[attr-defined]
        loop = lost[-1]
        self.say(node.node, f"{_why_lost(node, loop)}: an index finds its iteration")
        self.say(node.node, f"instead: {_instead(node, loop)}")

    # --- loops ------------------------------------------------------------------------------------

    def loop(self, node: Loop, loops: tuple[Loop, ...]) -> None:
        """A plate, a chain or a comprehension."""
        self.fixed = {slot for slot in self.fixed if slot[0] < node.depth}  # not those of another loop
        numbers = [number for level in node.levels for number in level.distinct]
        for source, number in zip(node.sources, numbers or [False] * len(node.sources), strict=True):
            if number or source.distinct:
                self.fixed.add((node.depth, source.target))
        inside = {written.inside for written in node.stored}
        outer: list[str] = []
        in_arms: list[str] = []
        earlier: list[str] = []
        sure = sure_slots(node.body)
        for load in _loads_in(node.body):
            if load.depth == node.depth - 1 and load.slot in inside:
                earlier.append(load.name)
            elif load.depth < node.depth and load.mode != ITEM and (load.depth, load.slot) not in self.fixed:
                name = f"length of {load.name}" if load.mode == LENGTH else self.named(load)
                (outer if (load.depth, load.slot) in sure else in_arms).append(name)
        carried = [name for name, _, _, _ in node.carried]
        filled = [written.name for written in node.stored if written.name]
        kind = "chain" if carried or earlier else "plate"
        if not node.sources:
            tests = self.reads(_tests(node))
            kind = f"while-chain on {joined(tests)}" if tests else "while-chain"
        else:
            loop = node.node if isinstance(node.node, ast.For) else node.node.generators[0]  # type: ignore[attr-defined]
            over = [level.node.iter for level in node.levels] or [loop.iter]
            kind = f"{kind} over {', and in it '.join(map(_text, over))}"
        if carried:
            kind += f", carrying {joined(carried)}"
        if filled:
            kind += f", filling {joined(filled)}"
        if carried:
            cost = f"a change is followed while {either(carried)} changes"
        elif earlier:
            cost = f"a change is followed to the iterations that read that entry of {joined(earlier)}"
        else:
            cost = "each iteration by itself"
        kept = ", kept as columns" if self.columns(node) else ""
        self.say(node.node, f"{kind}: {cost}{kept}")
        if outer and self.columns(node) and _carries_choices(node):
            self.say(node.node, f"all iterations are scored at once when {either(outer)} changes")
        elif outer:
            self.say(node.node, f"every iteration is visited when {either(outer)} changes")
        if in_arms:
            self.say(node.node, f"those whose branch reads it are visited when {either(in_arms)} changes")
        for level in node.levels[1:]:
            if level.node.target.lineno != node.node.lineno:  # type: ignore[attr-defined]
                self.say(level.node.target, "one plate with the loop around it")
        for statement, name in _entries(node.node, filled):
            self.say(statement, f"the iteration's entry of {name}")
        self.sequence(node.body, (*loops, node))

    # --- what code reads --------------------------------------------------------------------------

    def reads(self, codes: Iterable[Code]) -> list[str]:
        """What pieces of code depend on, by the user's names; what is fixed is left out."""
        found: dict[str, None] = {}
        for code in codes:
            for load in code.loads:
                if load.depth < 0 or (load.depth, load.slot) in self.fixed:
                    continue
                if load.mode == ITEM:
                    keys = joined(map(_key, load.keys))
                    found[f"{load.name} at {keys}"] = None
                    for name in self.reads(load.keys):
                        found[name] = None
                elif load.mode == LENGTH:
                    found[f"length of {load.name}"] = None
                else:
                    found[self.named(load)] = None
        return list(found)

    def named(self, load: Load) -> str:
        """The name of what is read."""
        return "a choice in it" if load.name.startswith(_MADE) else load.name


def _carries_choices(loop: Loop) -> bool:
    """Whether all that a loop in columns carries is values of choices, which nothing but a move changes."""
    assert loop.columns is not None
    choices = {step.value for step in loop.columns.steps if isinstance(step, ColumnSite)}
    return choices.issuperset(loop.columns.leaves)


def _key(code: Code) -> str:
    """A key that is read, or the comprehension that gives several."""
    if is_cell(code.result):
        return as_written(code.result)
    return f"each of {_text(code.result)}" if code.several else f"[{_text(code.result)}]"


def _loads_in(nodes: list[Node]) -> list[Load]:
    """What blocks read, themselves and inside."""
    loads: list[Load] = []

    def see(node: Node) -> None:
        for code in codes_of(node):
            loads.extend(load for outer in code.loads for load in levels(outer))
            loads.extend(load for outer in code.loads for key in outer.keys for load in key.loads)

    visit(nodes, see)
    return loads


def _entries(loop: ast.AST, names: list[str]) -> Iterator[tuple[ast.stmt, str]]:
    """The statements that write an entry of a container, with its name."""
    for part in walk(loop):
        match part:
            case (
                ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append")))
                | ast.Assign(targets=[ast.Subscript(value=ast.Name(id=name))])
            ) if name in names:
                yield part, name


def _tests(loop: Loop) -> list[Code]:
    """The code of the test of a `while`."""
    if not isinstance(loop.node, ast.While):
        return []
    return [n.test for n in loop.body if isinstance(n, Branch) and n.node.test is loop.node.test]  # type: ignore[attr-defined]


# --- addresses in loops ----------------------------------------------------------------------------


def _is_routed(node: Site, loop: Loop) -> bool:
    """Whether the iterations that make a choice at an address are found by its components."""
    targets = {(loop.depth, source.target) for source in loop.sources}
    return node.parts is not None and any(slot in targets for _, slot in node.parts)


def _why_lost(node: Site, loop: Loop) -> str:
    if node.splice:
        return "its addresses are the callee's"
    if node.parts is None:
        return "its address is an expression"
    if not loop.sources:
        return "a `while` has no variable that its address could have"
    names = [name for name in loop.targets if _mentions(node, name)]
    if names:
        return f"its address is computed from {joined(names)}"
    return f"its address lacks the variable of the loop in line {loop.node.lineno}"  # type: ignore[attr-defined]


def _mentions(node: Site, name: str) -> bool:
    code = node.address
    return code is not None and any(isinstance(n, ast.Name) and n.id == name for n in walk(code.result))


def _instead(node: Site, loop: Loop) -> str:
    if not loop.sources:
        return "`for i in range(...)` with `break`, and i in the address"
    names = list(loop.targets)
    variable = names[0] if names else "the loop's variable"
    if node.splice:
        return f"give the call an address of its own, with {variable} in it"
    if node.parts is None:
        return f"write the address as a tuple, with {variable} in it"
    if any(_mentions(node, name) for name in names):
        return "let the loop's own variable be a component, as `range(1, n + 1)` or `enumerate(xs, 1)` allow"
    if names:
        return f"put {variable} into the address, as it is"
    return "number the iterations by `enumerate`, and put the number into the address"
