"""Random loops: plates in both spellings, chains, nested and ragged loops, `while`."""

from __future__ import annotations

from tests.laws.expressions import Container, Scope
from tests.laws.statements import Statements


class Loops(Statements):
    """Writes loops and comprehensions."""

    # --- comprehensions ---

    def comprehension(self, scope: Scope) -> None:
        """A list, dict, tuple or array of choices made by a comprehension."""
        kind = self.kind(scope)
        name, index = self.name("mu"), self.name("j")
        header, size, inner = self.comprehension_header(scope, index)
        made = f"{self.address(name, inner)} @ ~{self.distribution(inner, kind)}"
        if kind == "real" and self.chance(4):
            made = self.one_of(f"2 * ({made}) + 1", f"abs({made})", f"shift({made})")
        form = self.one_of("list", "list", "list", "dict", "tuple", "array", "nested", "filtered")
        container = Container(name, size, kind, form)
        match form:
            case "list":
                self.emit(scope, f"{name} = [{made} {header}]")
            case "dict":
                self.emit(scope, f"{name} = {{{index}: {made} {header}}}")
            case "tuple":
                self.emit(scope, f"{name} = tuple([{made} {header}])")
            case "array":
                self.emit(scope, f"{name} = np.array([{made} {header}])")
                if kind != "real":  # entries are NumPy's numbers, which aren't all usable as Python's
                    return
            case "nested":
                second = self.name("l")
                inner.loops = (*inner.loops, second)
                times = self.one_of("2", f"LENGTHS[{index} % 3]", f"{index} + 1", self.small(scope))
                made = f"{self.address(name, inner)} @ ~{self.distribution(inner, kind)}"
                self.emit(scope, f"{name} = [[{made} for {second} in range({times})] {header}]")
                rows = self.name("mu")
                self.emit(scope, f"{rows} = [sum(row) for row in {name}]")
                container = Container(rows, size, "real" if kind == "real" else "whole", "list")
            case "filtered":
                self.emit(scope, f"{name} = [{made} {header} if {index} != 1]")
                container = Container(name, None, kind, "list")
        scope.containers.append(container)

    def comprehension_header(self, scope: Scope, index: str) -> tuple[str, str, Scope]:
        """The `for` of a comprehension, its length, and the scope of its element."""
        inner = scope.inner(index)
        inner.in_loop = scope.in_loop
        source = self.pick(scope, "real")
        if source is not None and source.size is not None and self.one_of(True, False):
            value = self.name("v")
            inner.reals.append(value)
            size = source.size
            inner.indices.append((index, size))
            if source.form == "dict":
                return f"for {index}, {value} in {source.name}.items()", size, inner
            other = self.pick(scope, "real")
            if other is not None and other.size == size and other.form != "dict" and self.one_of(True, False):
                second = self.name("v")
                inner.reals.append(second)
                pairs = f"enumerate(zip({source.name}, {other.name}))"
                return f"for {index}, ({value}, {second}) in {pairs}", size, inner
            return self.one_of(
                f"for {index}, {value} in enumerate({source.name})",
                f"for {index}, {value} in zip(range({size}), {source.name})",
            ), size, inner  # fmt: skip
        size = self.size(scope)
        inner.indices.append((index, size))
        inner.wholes.append(index)
        return f"for {index} in range({size})", size, inner

    # --- loops ---

    def loop(self, scope: Scope) -> None:
        """A `for` loop: a plate or a chain, filling containers, perhaps left early."""
        index = self.name("i")
        inner = scope.inner(index)
        inner.in_loop = True
        header, size, whole = self.loop_header(scope, inner, index)
        carried = self.name("s") if self.one_of(True, False) else None
        filled = [self.start_container(scope, size, whole) for _ in range(self.one_of(0, 1, 1, 2))]
        if carried:
            self.emit(scope, f"{carried} = {self.one_of('0.0', self.real(scope))}")
            inner.reals += [carried, carried]
        self.emit(scope, f"for {header}:")
        for container, _ in filled:
            inner.reals.append(self.previous(container, index, size))
        if self.one_of(True, True, False):
            self.block(inner)
        early = self.chance(5)
        if early and self.one_of(True, False):
            self.leave(inner)
        for container, append in filled:
            self.fill(scope, inner, container, index, append)
        if carried:
            self.emit(inner, self.one_of(
                f"{carried} = {self.real(inner)}", f"{carried} = 0.5 * {carried} + {self.real(inner)}",
                f"{carried} += {self.real(inner)}",
                f"{carried} = {self.address(carried, inner)} @ ~normal({carried}, {self.positive(inner)})",
            ))  # fmt: skip
            scope.reals.append(carried)
        if not filled and not carried:
            self.choice(inner)
        if early:
            self.leave(inner)
        for container, append in filled:
            exact = container.size if not (append and early) else None
            scope.containers.append(Container(container.name, exact, container.element, container.form))

    def loop_header(self, scope: Scope, inner: Scope, index: str) -> tuple[str, str, bool]:
        """What stands between `for` and `:`; the length; whether the index runs from 0 through all of it."""
        source = self.pick(scope, "real", "index 2", "index 3")
        form = self.one_of("range", "range", "range", "source", "source", "odd", "ragged")
        if form == "source" and source is not None and source.size is not None:
            value, size = self.name("v"), source.size
            inner.bind(source.element, value)
            inner.indices.append((index, size))
            inner.wholes.append(index)
            if source.form == "dict":
                return f"{index}, {value} in {source.name}.items()", size, True
            form = self.one_of("enumerate", "zip", "pairs")
            if form == "pairs":
                self.emit(scope, f"{value} = 0.5" if source.element == "real" else f"{value} = 0")
            return {
                "enumerate": f"{index}, {value} in enumerate({source.name})",
                "zip": f"{index}, {value} in zip(range({size}), {source.name})",
                "pairs": f"{index} in range(len({source.name}))",
            }[form], size, True  # fmt: skip
        if form == "ragged" and scope.loops:
            last = scope.loops[-1]
            size = self.one_of(f"LENGTHS[{last} % 3]", f"({last} + 1)")
            inner.wholes.append(index)
            return f"{index} in range({size})", size, True
        size = self.size(scope)
        inner.indices.append((index, size))
        inner.wholes.append(index)
        if form == "odd":
            return self.one_of(
                f"{index} in range(1, {size})", f"{index} in reversed(range({size}))",
                f"{index} in range({size} - 1, -1, -1)", f"{index} in range(0, {size}, 2)",
                f"{index} in list(range({size}))",
            ), size, False  # fmt: skip
        return f"{index} in range({size})", size, True

    def start_container(self, scope: Scope, size: str, whole: bool) -> tuple[Container, bool]:
        """A container that a loop will fill, and whether it does so by `append`."""
        name = self.name("c")
        form = self.one_of("list", "list", "dict", "array", "append", "append")
        if form == "dict" and not whole:
            form = "list"
        kind = "real" if form == "array" else self.one_of("real", "real", "whole", "flag")
        start = {"real": "0.0", "whole": "0", "flag": "False"}[kind]
        self.emit(scope, name + " = " + {
            "list": self.one_of(f"[{start}] * {size}", f"[{start} for _ in range({size})]"),
            "dict": self.one_of("{}", "dict()"), "array": f"np.zeros({size})", "append": "[]",
        }[form])  # fmt: skip
        exact = None if (form == "append" and not whole) else size
        return Container(name, exact, kind, "list" if form == "append" else form), form == "append"

    def previous(self, container: Container, index: str, size: str) -> str:
        """An expression for what an earlier iteration left in a container."""
        name = container.name
        if container.element == "real" and container.form == "dict":
            return f"{name}.get({index} - 1, 0.0)"
        if container.element != "real":
            return f"(0.1 * len({name}))"
        return self.one_of(f"({name}[{index} - 1] if 0 < {index} <= len({name}) else 0.0)",
                           f"({name}[-1] if len({name}) else 0.0)", f"(0.1 * sum({name}))")  # fmt: skip

    def fill(self, scope: Scope, inner: Scope, container: Container, index: str, append: bool) -> None:
        """The entry of one iteration."""
        name, kind = container.name, container.element
        distribution = self.distribution(inner, kind)
        made = f"{self.address(name, inner)} @ ~{distribution}"
        if append:
            if self.chance(3) and kind == "real":
                made = self.real(inner)
            return self.emit(inner, f"{name}.append({made})")
        target = f"{name}[{index}]"
        form = self.one_of("sugar", "sugar", "address", "value", "augmented")
        if form == "sugar" and not scope.loops:
            self.emit(inner, f"{target} = ~{distribution}")
        elif form == "value" and kind == "real":
            self.emit(inner, f"{target} = {self.real(inner)}")
        elif form == "augmented" and kind == "real" and container.form != "dict":
            self.emit(inner, f"{target} += {made}")
        else:
            self.emit(inner, f"{target} = {made}")
        if kind == "real":  # what comes after may read what was just written
            inner.reals.append(target)
        elif kind.startswith("index ") and container.form != "array":
            inner.indices.append((target, kind.removeprefix("index ")))
        if self.chance(3):
            self.choice(inner)
        return None

    def leave(self, scope: Scope) -> None:
        """Leave the iteration or the loop."""
        way = self.one_of("break", "continue", "continue")
        self.emit(scope, f"if {self.condition(scope)}:", f"    {way}")

    def while_loop(self, scope: Scope) -> None:
        """A `while` loop whose number of turns is bounded."""
        index, carried = self.name("t"), self.name("s")
        self.emit(scope, f"{index}, {carried} = 0, {self.real(scope)}")
        inner = scope.inner(index)
        inner.in_loop = False  # `continue` would skip the increment
        inner.reals.append(carried)
        inner.wholes.append(index)
        endless = self.one_of(True, False)
        self.emit(scope, "while True:" if endless else f"while {index} < 3 and {carried} < 2.0:")
        self.block(inner)
        made = f"{self.address(carried, inner)} @ ~{self.one_of('exponential(1.0)', 'normal(0.5, 1)')}"
        self.emit(inner, f"{carried} += {made}", f"{index} += 1")
        if endless:
            self.emit(inner, f"if {carried} > 1.5 or {index} == 3:", "    break")
        scope.reals.append(carried)
        scope.wholes.append(index)

    # --- the shapes that models have ---

    def walk(self, scope: Scope) -> None:
        """A random walk or hidden Markov model, with an observation per step."""
        index, name, seen = self.name("t"), self.name("x"), self.name("y")
        size, sd = self.size(scope), self.positive(scope)
        inner = scope.inner(index)
        at, seen_at = self.address(name, inner), self.address(seen, inner)
        sugar = not scope.loops and self.one_of(True, False)
        match self.one_of("array", "carried", "append", "hmm"):
            case "array":
                self.emit(scope, f"{name} = {self.one_of(f'[0.0] * {size}', f'np.zeros({size})', '{}')}",
                          f"for {index} in range({size}):")  # fmt: skip
                law = f"~normal({name}[{index} - 1] if {index} > 0 else 0.5, {sd})"
                self.emit(inner, f"{name}[{index}] = {law if sugar else f'{at} @ {law}'}",
                          f"{seen_at} @ ~normal({name}[{index}], 0.5)")  # fmt: skip
                return
            case "carried":
                self.emit(scope, f"{name} = 0.5", f"for {index} in range({size}):")
                self.emit(inner, f"{name} = {at} @ ~normal(0.9 * {name}, {sd})",
                          f"{seen_at} @ ~normal({name}, 0.5)")  # fmt: skip
            case "append":
                self.emit(scope, f"{name}_all = [0.5]", f"for {index} in range({size}):")
                self.emit(inner, f"{name}_all.append({at} @ ~normal({name}_all[-1], {sd}))",
                          f"{seen_at} @ ~normal({name}_all[{index}], 0.5)")  # fmt: skip
                self.emit(scope, f"{name} = {name}_all[-1]")
            case "hmm":
                self.emit(scope, f"{name} = 0", f"for {index} in range({size}):")
                self.emit(inner, f"{name} = {at} @ ~categorical(ROWS[{name}])",
                          f"{seen_at} @ ~normal(0.5 * {name}, {sd})")  # fmt: skip
                return scope.bind("whole", name)
        return scope.bind("real", name)

    def mixture(self, scope: Scope) -> None:
        """Clusters and the points assigned to them, in one loop or in two."""
        mu, z, x, j, i = (self.name(kind) for kind in ("mu", "z", "x", "j", "i"))
        clusters, points = self.one_of(*sorted(scope.positive)), self.size(scope)
        inner = scope.inner(i)
        centre = f"{self.address(mu, scope.inner(j))} @ ~normal({self.real(scope)}, 2.0)"
        row = f"for {j} in range({clusters})"
        form = self.one_of("list", "list", "dict", "array", "tuple")
        self.emit(scope, f"{mu} = " + {
            "list": f"[{centre} {row}]", "dict": f"{{{j}: {centre} {row}}}",
            "array": f"np.array([{centre} {row}])", "tuple": f"tuple([{centre} {row}])",
        }[form])  # fmt: skip
        law = f"uniform_discrete(0, {clusters} - 1)"
        if self.one_of(True, False):
            self.emit(scope, f"{z} = [{self.address(z, inner)} @ ~{law} for {i} in range({points})]",
                      f"for {i} in range({points}):")  # fmt: skip
            self.emit(inner, f"{self.address(x, inner)} @ ~normal({mu}[{z}[{i}]], {self.positive(scope)})")
            scope.containers.append(Container(z, points, f"index {clusters}", "list"))
        else:
            self.emit(scope, f"for {i} in range({points}):")
            self.emit(inner, f"{z} = {self.address(z, inner)} @ ~{law}",
                      f"{self.address(x, inner)} @ ~normal({mu}[{z}], {self.positive(scope)})")  # fmt: skip
        scope.containers.append(Container(mu, clusters, "real", form))
