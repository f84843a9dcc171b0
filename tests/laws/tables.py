"""Random tables: containers with two indices, several entries per iteration, entries computed from others."""

from __future__ import annotations

from tests.laws.expressions import Container, Scope
from tests.laws.loops import Loops


class Tables(Loops):
    """Writes loops that fill and read tables, and loops that make no choice."""

    # --- two indices ---

    def grid(self, scope: Scope) -> None:
        """A table that nested loops fill, and what reads it."""
        name, rows, columns = self.name("g"), self.size(scope), self.one_of("2", "3", self.size(scope))
        form = self.one_of("array", "array", "dict", "lists")
        self.emit(scope, f"{name} = {_empty(form, rows, columns)}")
        i, j = self.name("i"), self.name("j")
        inner = scope.inner(i)
        inner.wholes.append(i)
        self.emit(scope, f"for {i} in range({rows}):")
        if self.chance(3):
            self.choice(inner)
        row = {"array": f"float({name}[{i} - 1].sum())", "lists": f"sum({name}[{i} - 1])"}.get(form, "0.1")
        innermost = inner.inner(j)
        innermost.wholes.append(j)
        whole = form
        form = self.one_of("array", "array", "lists") if whole == "array" else form  # how entries are spelled
        if whole == "array" and self.chance(4):
            self.emit(inner, f"{name}_row = {name}[{i} - 1]")
            innermost.reals.append(f"{name}_row[{j}]")
        if columns in scope.positive and self.chance(4):
            first = f"{self.address(f'{name}_0', inner)} @ ~normal({self.real(inner)}, 1)"
            self.emit(inner, f"{_cell(name, form, i, '0')} = {first}")
        self.emit(inner, f"for {j} in range({columns}):")
        if whole == "array" and self.chance(4):
            self.emit(innermost, f"{name}_p = {_cell(name, form, f'{i} - 1', j)}")
            innermost.reals.append(f"{name}_p")
        if self.chance(4):
            innermost.reals.append(f"(0.1 * {row} if {i} > 0 else 0.5)")
        if form != "dict" or self.chance(2):
            innermost.reals.append(f"({_cell(name, form, f'{i} - 1', j)} if {i} > 0 else 0.5)")
        innermost.reals.append(f"({_cell(name, form, i, f'{j} - 1')} if {j} > 0 else 0.25)")
        target = _cell(name, form, i, j)
        if self.chance(4):
            self.either(innermost, name, target, self.one_of(f"{i} == 0", self.condition(innermost)))
        else:
            self.cell(scope, innermost, name, target, form)
        if self.chance(3):
            innermost.reals.append(target)
            self.choice(innermost)
        if self.chance(4) and columns in scope.positive:
            inner.reals += [_cell(name, form, i, "0"), row.replace(f"{i} - 1", i)]
            self.choice(inner)
        for _ in range(self.one_of(1, 1, 2)):
            self.read_grid(scope, name, whole, rows, columns)

    def either(self, inner: Scope, name: str, target: str, test: str) -> None:
        """Write one entry of a container in either arm of a branch."""
        laws = [f"normal({self.real(inner)}, {self.positive(inner)})" for _ in range(2)]
        values = [f"{self.address(name, inner)} @ ~{law}" for law in laws]
        if self.chance(4):
            values[self.one_of(0, 1)] = self.real(inner)
        writes = [f"{target[:-1]}{v})" if target.endswith("()") else f"{target} = {v}" for v in values]
        self.emit(inner, f"if {test}:", f"    {writes[0]}", "else:", f"    {writes[1]}")

    def in_arms(self, scope: Scope) -> None:
        """A chain that writes its entries in the arms of a branch."""
        name, size, t = self.name("s"), self.size(scope), self.name("t")
        form = self.one_of("fill", "array", "dict", "append", "append")
        empty = {"fill": f"[0.5] * {size}", "array": f"np.zeros({size})", "dict": "{}", "append": "[]"}
        self.emit(scope, f"{name} = {empty[form]}", f"for {t} in range({size}):")
        inner = scope.inner(t)
        if self.chance(3):
            self.choice(inner)
        inner.reals.append(f"({name}[{t} - 1] if {t} > 0 else 0.25)")
        target = f"{name}.append()" if form == "append" else f"{name}[{t}]"
        self.either(inner, name, target, self.one_of(f"{t} == 0", self.condition(inner)))
        if self.chance(2):
            inner.reals.append(f"{name}[{t}]")
            self.choice(inner)
        kept = {"dict": "dict", "array": "array", "append": "list"}.get(form, "array")
        scope.containers.append(Container(name, size, "real", kept))

    def cell(self, scope: Scope, inner: Scope, name: str, target: str, form: str) -> None:
        """Write one entry of a table."""
        law = f"normal({self.real(inner)}, {self.positive(inner)})"
        made = f"{self.address(name, inner)} @ ~{law}"
        match self.one_of("address", "address", "sugar", "value", "augmented", "variable"):
            case "sugar" if not scope.loops:
                self.emit(inner, f"{target} = ~{law}")
            case "value":
                self.emit(inner, f"{target} = {self.real(inner)}")
            case "augmented" if form != "dict":
                self.emit(inner, f"{target} += {made}")
            case "variable":
                self.emit(inner, f"{name}_v = {made}", f"{target} = 0.5 * {name}_v")
            case _:
                self.emit(inner, f"{target} = {made}")

    def read_grid(self, scope: Scope, name: str, form: str, rows: str, columns: str) -> None:
        """Choices that depend on entries, rows or all of a table."""
        seen, i, j = self.name("y"), self.name("i"), self.name("j")
        inner = scope.inner(i)
        match self.one_of("cells", "column", "chosen", "rows", "some", "all", "transposed"):
            case "cells" | "transposed" as order:
                innermost = inner.inner(j)
                loops = (i, rows), (j, columns)
                (first, m), (second, n) = loops if order == "cells" else loops[::-1]
                self.emit(scope, f"for {first} in range({m}):")
                self.emit(inner, f"for {second} in range({n}):")
                self.emit(
                    innermost, f"{self.address(seen, innermost)} @ ~normal({_cell(name, form, i, j)}, 1)"
                )
            case "column" if columns in scope.positive:
                last = "-1" if form != "dict" else f"{columns} - 1"
                entry = _cell(name, form, i, self.one_of("0", last, f"{i} % {columns}"))
                self.emit(scope, f"for {i} in range({rows}):")
                self.emit(inner, f"{self.address(seen, inner)} @ ~normal({entry}, {self.positive(inner)})")
            case "chosen" if columns in scope.positive:
                z = self.name("z")
                self.emit(scope, f"for {i} in range({rows}):")
                self.emit(inner, f"{z} = {self.address(z, inner)} @ ~uniform_discrete(0, {columns} - 1)")
                entry = _cell(name, form, i, z)
                self.emit(inner, f"{self.address(seen, inner)} @ ~normal({entry}, 1)")
            case "some" if form == "array" and rows in scope.positive:
                some, count = self.name("some"), self.small(scope)
                self.emit(scope, f"{some} = np.arange({count}) % {rows}", f"for {i} in range({rows}):")
                mean = self.one_of(
                    f"{name}[{some}].sum()", f"0.1 * {name}[{some}, 0].sum()", f"{name}[{i}].sum()"
                )
                self.emit(inner, f"{self.address(seen, inner)} @ ~normal(float({mean}), 1)")
            case "rows" if form != "dict":
                row = self.name("row")
                self.emit(scope, f"for {i}, {row} in enumerate({name}):")
                mean = self.one_of(
                    f"0.2 * sum({row})", f"float(np.max({row}, initial=0.0))", f"len({row}) * 0.1"
                )
                self.emit(inner, f"{self.address(seen, inner)} @ ~normal({mean}, 1)")
            case "rows":
                self.emit(scope, f"for ({i}, {j}), {seen}_v in {name}.items():")
                innermost = scope.inner(i, j)
                self.emit(innermost, f"{self.address(seen, innermost)} @ ~normal({seen}_v, 1)")
            case _:
                total = self.name("v")
                values = {
                    "array": name,
                    "dict": f"list({name}.values())",
                    "lists": f"[sum(r) for r in {name}]",
                }
                self.emit(scope, f"{total} = 0.1 * float(np.sum({values[form]}))")
                scope.bind("real", total)

    def states(self, scope: Scope) -> None:
        """A chain whose state has two entries, both written in each iteration."""
        name, rows, t = self.name("g"), self.size(scope), self.name("t")
        form = self.one_of("array", "array", "dict", "lists")
        second = self.one_of("1", "1", f"{name}_m - 1")
        self.emit(scope, f"{name}_m = 2", f"{name} = {_empty(form, rows, f'{name}_m')}")
        self.emit(scope, f"for {t} in range({rows}):")
        inner = scope.inner(t)
        for place, (entry, other) in enumerate((("0", second), (second, "0"))):
            before = f"({_cell(name, form, f'{t} - 1', self.one_of(entry, other))} if {t} > 0 else 0.5)"
            inner.reals += [before] if place == 0 or self.chance(2) else [before, _cell(name, form, t, other)]
            law = f"normal({self.real(inner)}, {self.positive(inner)})"
            made = f"{self.address(f'{name}_{place}', inner)} @ ~{law}"
            self.emit(inner, f"{_cell(name, form, t, entry)} = {made}")
        if self.chance(2):
            self.emit(
                inner, f"('{name}_y', {t}, *{_tuple(scope.loops)}) @ ~normal({_cell(name, form, t, '0')}, 1)"
            )
        self.read_grid(scope, name, form, rows, "2")

    # --- other keys ---

    def named(self, scope: Scope) -> None:
        """A dict by names."""
        name, key = self.name("d"), self.name("key")
        self.emit(scope, f"{name} = {{}}", f"for {key} in ('a', 'b', 'c'):")
        inner = scope.inner(key)
        self.emit(inner, f"{name}[{key}] = {self.address(name, inner)} @ ~{self.distribution(inner, 'real')}")
        result = self.name("v")
        one, other = self.one_of("a", "b"), self.one_of("b", "c")
        self.emit(scope, f"{result} = 0.5 * {name}['{one}'] - {name}['{other}']")
        scope.bind("real", result)
        scope.containers.append(Container(name, None, "real", "dict"))

    def scattered(self, scope: Scope) -> None:
        """A list whose entries are written where choices say."""
        name, size, i, z = (
            self.name("s"),
            self.one_of(*sorted(scope.positive)),
            self.name("i"),
            self.name("z"),
        )
        self.emit(scope, f"{name} = {self.one_of(f'[0.25] * {size}', f'np.full({size}, 0.25)')}",
                  f"for {i} in range({self.size(scope)}):")  # fmt: skip
        inner = scope.inner(i)
        self.emit(inner, f"{z} = {self.address(z, inner)} @ ~uniform_discrete(0, {size} - 1)")
        inner.reals.append(f"{name}[{z}]")
        law = f"normal({self.real(inner)}, {self.positive(inner)})"
        self.emit(inner, f"{name}[{z}] = {self.address(name, inner)} @ ~{law}")
        scope.containers.append(Container(name, size, "real", "array"))  # as arrays are: without append

    def labelled(self, scope: Scope) -> None:
        """Labels that a loop writes and looks up by, in the same iteration or in another."""
        size = self.one_of(*sorted(scope.positive)[-3:])
        known = [c for c in scope.containers if c.size == size and c.element == "real" and c.form != "tuple"]
        mu, labels, i, j = (self.name(kind) for kind in ("mu", "labels", "i", "j"))
        if known and self.chance(2):
            mu = self.one_of(*known).name
        else:
            centre = f"{self.address(mu, scope.inner(j))} @ ~normal({self.real(scope)}, 2.0)"
            self.emit(scope, f"{mu} = [{centre} for {j} in range({size})]")
            scope.containers.append(Container(mu, size, "real", "list"))
        points, form = self.size(scope), self.one_of("append", "append", "fill", "dict", "array")
        empty = {
            "append": "[]",
            "fill": f"[0] * {points}",
            "dict": "{}",
            "array": f"np.zeros({points}, dtype=int)",
        }
        self.emit(scope, f"{labels} = {empty[form]}", f"for {i} in range({points}):")
        inner = scope.inner(i)
        if form != "dict" and self.chance(3):
            inner.reals.append(f"({mu}[{labels}[{i} - 1]] if {i} > 0 else 0.5)")
        made = f"{self.address(labels, inner)} @ ~uniform_discrete(0, {size} - 1)"
        if self.chance(4):
            made = f"min({made}, {self.one_of(*scope.wholes)})"
        self.emit(inner, f"{labels}.append({made})" if form == "append" else f"{labels}[{i}] = {made}")
        own = self.one_of(i, i, "-1") if form == "append" else i
        inner.reals.append(f"{mu}[{labels}[{own}]]")
        if not self.chance(4):
            self.choice(inner, "real")
        if self.chance(2):
            self.read_labels(scope, mu, labels, points, form)

    def read_labels(self, scope: Scope, mu: str, labels: str, points: str, form: str) -> None:
        """Choices by the labels, after their loop."""
        seen, i, label = self.name("y"), self.name("i"), self.name("z")
        inner = scope.inner(i)
        values = f"{labels}.values()" if form == "dict" else labels
        match self.one_of("index", "enumerate", "zip", "all"):
            case "index":
                self.emit(scope, f"for {i} in range({points}):")
                label = f"{labels}[{i}]"
            case "enumerate":
                self.emit(scope, f"for {i}, {label} in enumerate({values}):")
            case "zip":
                self.emit(scope, f"for {i}, {label} in zip(range({points}), {values}):")
            case "all":
                means = self.name("m")
                self.emit(scope, f"{means} = [{mu}[{label}] for {label} in {values}]")
                scope.containers.append(Container(means, points, "real", "list"))
                return
        law = f"normal({mu}[{label}], {self.positive(inner)})"
        self.emit(inner, f"{self.address(seen, inner)} @ ~{law}")

    def lazy(self, scope: Scope) -> None:
        """Components that are made when they are first needed."""
        name, size, i, z = self.name("d"), self.small(scope), self.name("i"), self.name("z")
        form = self.one_of("dict", "dict", "flags")
        start = f"{{0: {self.variable(scope)}}}" if self.chance(3) else "{}"
        self.emit(scope, f"{name} = {start if form == 'dict' else '[None] * 4'}")
        self.emit(scope, f"for {i} in range({self.size(scope)}):")
        inner = scope.inner(i)
        if self.chance(3):
            self.choice(inner)
        self.emit(inner, f"{z} = {self.address(z, inner)} @ ~uniform_discrete(0, {size})")
        missing = f"{z} not in {name}" if form == "dict" else f"{name}[{z}] is None"
        self.emit(inner, f"if {missing}{self.one_of('', '', '', f' and {z} > 0') if form == 'dict' else ''}:")
        per_key = scope.inner(z) if self.chance(2) else inner
        made = f"{self.address(name, per_key)} @ ~normal({self.real(inner)}, {self.positive(inner)})"
        self.emit(inner, f"    {name}[{z}] = {made}")
        if self.chance(4):
            self.emit(
                inner,
                "else:",
                f"    {name}[{z}] = 0.5 * {name}.get({z}, 0.1)" if form == "dict" else "    pass",
            )
        value = f"{name}.get({z}, 0.25)" if form == "dict" else f"({name}[{z}] or 0.0)"
        seen = self.name("y")
        self.emit(inner, f"{self.address(seen, inner)} @ ~normal({value}, {self.positive(inner)})")
        total = self.name("v")
        values = f"{name}.values()" if form == "dict" else f"[v for v in {name} if v is not None]"
        self.emit(scope, f"{total} = {self.one_of(f'0.1 * len({name})', f'0.2 * sum({values})')}")
        scope.bind("real", total)

    # --- without choices ---

    def derived(self, scope: Scope) -> None:
        """A container whose entries are computed from those of another, one by one."""
        source = self.pick(scope, "real")
        if source is None or source.size is None:
            return self.comprehension(scope)
        name, index, value, size = self.name("w"), self.name("i"), self.name("v"), source.size
        entries = self.one_of(f"enumerate({source.values})", f"zip(range({size}), {source.values})")
        if source.form == "dict":
            entries = f"{source.name}.items()"
        header = f"for {index}, {value} in {entries}"
        inner = scope.inner(index)
        inner.wholes.append(index)
        inner.indices.append((index, size))
        inner.reals += [value, value]
        computed = self.one_of(
            f"math.tanh({value})", f"0.5 * {value} + 0.1", self.real(inner), self.real(inner)
        )
        form = self.one_of("list", "list", "dict", "append", "fill", "zeros", "array", "vector", "carried")
        match form:
            case "list":
                self.emit(scope, f"{name} = [{computed} {header}]")
            case "dict":
                self.emit(scope, f"{name} = {{{index}: {computed} {header}}}")
            case "append":
                self.emit(scope, f"{name} = []", f"{header}:")
                self.emit(inner, f"{name}.append({computed})")
            case "fill" | "zeros":
                empty = f"[0.0] * {size}" if form == "fill" else f"np.zeros({size})"
                self.emit(scope, f"{name} = {empty}", f"{header}:")
                self.emit(inner, f"{name}[{index}] {self.one_of('=', '=', '+=')} {computed}")
            case "array":
                self.emit(scope, f"{name} = np.array([{computed} {header}])")
            case "vector":
                function = self.one_of("np.tanh", "0.5 *", "np.cumsum")
                self.emit(scope, f"{name} = {function} (np.array(list({source.values}), dtype=float))")
            case "carried":
                self.emit(scope, f"{name}, {name}_s = [], 0.5", f"{header}:")
                self.emit(inner, f"{name}_s = 0.5 * {name}_s + {computed}", f"{name}.append({name}_s)")
        kept = {"dict": "dict", "zeros": "array", "array": "array", "vector": "array"}.get(form, "list")
        scope.containers.append(Container(name, size, "real", kept))
        if self.chance(2):
            seen, i = self.name("y"), self.name("i")
            reader = scope.inner(i)
            self.emit(scope, f"for {i} in range({size}):")
            self.emit(reader, f"{self.address(seen, reader)} @ ~normal({name}[{i}], {self.positive(reader)})")
        return None


def _empty(form: str, rows: str, columns: str) -> str:
    """A table before it is filled."""
    if form == "array":
        return f"np.zeros(({rows}, {columns}))"
    return "{}" if form == "dict" else f"[[0.0] * {columns} for _ in range({rows})]"


def _cell(name: str, form: str, i: str, j: str) -> str:
    """An entry of a table."""
    return f"{name}[{i}][{j}]" if form == "lists" else f"{name}[{i}, {j}]"


def _tuple(parts: tuple[str, ...]) -> str:
    return f"({''.join(f'{part}, ' for part in parts)})"
