"""Random statements: choices in every form, plain code, branches, and what no analysis vouches for."""

from __future__ import annotations

from tests.laws.expressions import Container, Expressions, Scope


class Statements(Expressions):
    """Writes statements that make no loop."""

    def __init__(self, one_of) -> None:
        super().__init__(one_of)
        self.lines: list[str] = []

    def emit(self, scope: Scope, *lines: str, deeper: int = 0) -> None:
        """Some lines at the depth of a scope."""
        self.lines += ["    " * (scope.depth + 1 + deeper) + line for line in lines]

    def kind(self, scope: Scope) -> str:
        """The kind of value a choice has."""
        options = ["real", "real", "real", "whole", "flag"]
        if scope.positive:
            options.append(f"index {self.one_of(*sorted(scope.positive)[-4:])}")
        return self.one_of(*options)

    # --- choices ---

    def choice(self, scope: Scope, kind: str | None = None) -> str:
        """A choice, in one of the ways to write it; returns its variable."""
        kind = kind or self.kind(scope)
        name = self.name({"real": "x", "whole": "w", "flag": "f"}.get(kind, "z"))
        distribution = self.distribution(scope, kind)
        address = self.address(name, scope)
        form = self.one_of("sugar", "sugar", "address", "address", "address", "held", "inside", "odd")
        made = f"{address} @ ~{distribution}"
        if form == "sugar" and not scope.loops:
            self.emit(scope, self.one_of(f"{name} = ~{distribution}", f"{name}: object = ~{distribution}"))
        elif form == "held":
            self.emit(scope, f"{name}_law = {distribution}", f"{name} = {address} @ ~{name}_law")
        elif form == "inside" and kind == "real":
            self.emit(scope, self.one_of(
                f"{name} = 2 * ({made}) + 1", f"{name} = shift({made})", f"{name} = -({made})",
                f"{name} = ({made}) if {self.condition(scope)} else 0.25",
                f"{name} = [{made}, 0.5][0]", f"{name}, {name}b = pair({made})",
                f"{name} = ({made}) + ({self.address(name + 'b', scope)} @ ~normal({self.real(scope)}, 1))",
                f"{name} = {self.condition(scope)} and ({made}) or 0.5",
            ))  # fmt: skip
        elif form == "odd" and kind == "real":
            self.odd_choice(scope, name, made)
        elif form == "odd" and kind == "flag":
            self.emit(scope, f"if {name} := {made}:", f"    {name} = {self.condition(scope)}")
        else:
            self.emit(scope, f"{name} = {made}")
        scope.bind(kind, name)
        return name

    def odd_choice(self, scope: Scope, name: str, made: str) -> None:
        """A choice of a number inside an unusual statement."""
        other = self.address(name + "b", scope)
        match self.one_of("augmented", "tuple", "walrus", "indirect", "moving"):
            case "augmented":
                self.emit(scope, f"{name} = {self.real(scope)}", f"{name} += {made}")
            case "tuple":
                self.emit(scope, f"{name}, {name}b = {made}, {other} @ ~normal({self.real(scope)}, 1)")
                scope.reals.append(f"{name}b")
            case "walrus":
                self.emit(scope, f"{name}b = ({name} := {made}) ** 2 / (1 + {name} ** 2)")
                scope.reals.append(f"{name}b")
            case "indirect":
                self.emit(scope, f'{name}_at = ("{name}", *({"".join(f"{i}, " for i in scope.loops)}))',
                          f"{name} = {name}_at @ ~{self.distribution(scope, 'real')}")  # fmt: skip
            case "moving":  # the address depends on a choice
                moving = self.address(name, scope, f"{self.one_of(*scope.wholes)} % 2")
                self.emit(scope, f"{name} = {moving} @ ~{self.distribution(scope, 'real')}")

    def vector(self, scope: Scope) -> None:
        """A choice of an array; its entries may weigh a mixture."""
        name, size = self.name("w"), self.one_of(*sorted(scope.positive)[-3:])
        law = f"dirichlet([{self.positive(scope)}] * {size})"
        self.emit(scope, f"{name} = {self.address(name, scope)} @ ~{law}")
        container = Container(name, size, "real", "array")
        means = [c for c in scope.containers if c.size == size and c.element == "real" and c.form != "dict"]
        scope.containers.append(container)
        if self.chance(3):
            index = self.name("z")
            self.emit(scope, f"{index} = {self.address(index, scope)} @ ~categorical({name})")
            scope.bind(f"index {size}", index)
        elif means:
            mixed = self.name("x")
            self.emit(scope, f"{mixed} = {self.address(mixed, scope)} @ ~mixture_of_normals("
                      f"{name}, {self.one_of(*means).name}, [1.0] * {size})")  # fmt: skip
            scope.bind("real", mixed)

    # --- plain code ---

    def plain(self, scope: Scope) -> None:
        """A deterministic statement."""
        name = self.name("v")
        match self.one_of("assign", "assign", "augment", "pair", "swap", "derived", "whole", "flag", "slice",
                          "cells", "tested", "counts"):  # fmt: skip
            case "assign":
                self.emit(scope, f"{name} = {self.real(scope)}")
            case "augment":
                sign = self.one_of("+", "-", "*")
                value = "0.5" if sign == "*" else self.real(scope)
                self.emit(scope, f"{name} = {self.variable(scope)}", f"{name} {sign}= {value}")
            case "pair":
                self.emit(scope, f"{name}, {name}b = pair({self.real(scope)})")
                scope.reals.append(f"{name}b")
            case "swap":
                self.emit(scope, f"{name}, {name}b = {self.real(scope)}, {self.real(scope)}",
                          f"{name}, {name}b = {name}b, {name}")  # fmt: skip
                scope.reals.append(f"{name}b")
            case "whole":
                self.emit(scope, f"{name} = {self.one_of(*scope.wholes)} + {self.small(scope)}")
                return scope.bind("whole", name)
            case "flag":
                self.emit(scope, f"{name} = {self.condition(scope)}")
                return scope.bind("flag", name)
            case "cells":
                self.emit(scope, f"{name}_x = np.array([{self.real(scope)}, {self.variable(scope)}])",
                          f"{name}_d = {name}_x[:, None] - 0.5 * {name}_x[None]",
                          f"{name} = float({name}_d[0, 1] + {name}_x[{name}_x > 0].sum() + {name}_x[1,])",
                          )  # fmt: skip
            case "tested":
                self.emit(scope, f"{name} = 0.25",
                          f"if ({name} := {self.real(scope)}) > 0 or {self.condition(scope)}:",
                          f"    {name} = {self.address(name, scope)} @ ~normal({name}, 1)")  # fmt: skip
            case "counts":
                index = f"{self.one_of(*scope.wholes)} % 2"
                self.emit(scope, f"{name}_c = [0.25, {self.variable(scope)}]",
                          f"{name}_c[{index}] += {self.real(scope)}", f"{name} = {name}_c[0]")  # fmt: skip
            case "slice" if source := self.pick(scope, "real"):
                self.emit(scope, f"{name} = [0.5 * v for v in {source.values}]")
                scope.containers.append(Container(name, source.size, "real", "list"))
                return None
            case _ if source := self.pick(scope, "real"):
                self.emit(scope, f"{name} = {self.whole_container(source)}")
            case _:
                self.emit(scope, f"{name} = {self.real(scope)}")
        return scope.bind("real", name)

    def length(self, scope: Scope) -> None:
        """A length, often random, for the loops and containers after it."""
        name = self.name("k")
        if scope.loops:
            self.emit(scope, f"{name} = {self.one_of(*scope.wholes)} % 2 + 1")
        else:
            self.emit(scope, self.one_of(
                f"{name} = ~uniform_discrete(1, 3)", f"{name} = ~(1 + binom(2, {self.share(scope)}))",
                f"{name} = 1 + min('{name}' @ ~poisson(1.0), 3)",
                f"{name} = 1 + (('{name}' @ ~bernoulli({self.share(scope)})) and 2)",
                f"{name} = max(n, 1)", f"{name} = 1 + min({self.one_of(*scope.wholes)}, 2)",
            ))  # fmt: skip
        scope.sizes.append(name)
        scope.positive.add(name)
        scope.wholes.append(name)

    # --- branches ---

    def branch(self, scope: Scope) -> None:
        """An if: the same address in both arms, choices of their own, or a match."""
        name = self.name("x")
        match self.one_of("same", "own", "own", "elif", "match", "entry"):
            case "same":
                self.emit(scope, f"if {self.condition(scope)}:",
                          f"    {name} = {self.address(name, scope)} @ ~{self.distribution(scope, 'real')}",
                          "else:",
                          f"    {name} = {self.address(name, scope)} @ ~normal({self.real(scope)}, 2.0)",
                          )  # fmt: skip
                scope.reals.append(name)
            case "own":
                self.emit(scope, f"{name} = 0.25", f"if {self.condition(scope)}:")
                self.arm(scope, name)
                if self.one_of(True, False):
                    self.emit(scope, "else:")
                    self.arm(scope, name)
                scope.reals.append(name)
            case "elif":
                self.emit(scope, f"{name} = 0.25", f"if {self.condition(scope)}:")
                self.arm(scope, name)
                self.emit(scope, f"elif {self.condition(scope)}:")
                self.arm(scope, name)
                self.emit(scope, "else:", f"    {name} = {self.real(scope)}")
                scope.reals.append(name)
            case "match":
                self.emit(scope, f"match {self.one_of(*scope.wholes)}:", "    case 0:")
                self.emit(scope, f"{name} = {self.real(scope)}", deeper=2)
                self.emit(scope, "    case 1 | 2 as seen:")
                made = f"{self.address(name, scope)} @ ~normal({self.real(scope)}, 1 + seen)"
                self.emit(scope, f"{name} = {made}", deeper=2)
                self.emit(scope, "    case _:")
                self.emit(scope, f"{name} = 0.5", deeper=2)
                scope.reals.append(name)
            case _:
                container = self.pick(scope, "real")
                if container is None or container.size not in scope.positive or container.form != "list":
                    return self.choice(scope)
                self.emit(scope, f"if {self.condition(scope)}:",
                          f"    {container.name}[0] = {self.real(scope)}")  # fmt: skip
        return None

    def arm(self, scope: Scope, result: str) -> None:
        """One arm of a branch; it may leave its result in a variable."""
        inner = scope.inner()
        self.block(inner)
        if self.one_of(True, True, False):
            self.emit(inner, f"{result} = {self.real(inner)}")

    def block(self, scope: Scope) -> None:
        """One to three statements."""
        raise NotImplementedError

    # --- what no analysis vouches for ---

    def opaque(self, scope: Scope) -> None:
        """Code whose effects are hard to see from its text."""
        name = self.name("v")
        container = self.pick(scope, "real")
        usable = container is not None and container.form == "list" and not scope.loops
        match self.one_of("try", "with", "alias", "push", "closure", "del", "sort", "starred", "generator",
                          "pop", "def", "slice", "string", "except", "object", "gathered",
                          "gathered", "either", "view", "groups"):  # fmt: skip
            case "try":
                self.emit(scope, "try:", f"    {name} = 1.0 / ({self.one_of(*scope.wholes)} - 1)",
                          "except ZeroDivisionError:",
                          f"    {name} = {self.address(name, scope)} @ ~normal({self.real(scope)}, 1)",
                          )  # fmt: skip
            case "except":
                self.emit(scope, "try:",
                          f"    {name} = {self.address(name, scope)} @ ~normal({self.real(scope)}, 1)",
                          f"    if {name} > 0.2:", f"        raise ValueError({name})",
                          "except ValueError as error:", f"    {name} = error.args[0] - 1", "finally:",
                          f"    {name}b = {self.real(scope)}")  # fmt: skip
            case "object":
                self.emit(scope, f"{name}_tables = [Table(), Table()]",
                          f"{name}_tables[0].seat({self.real(scope)})",
                          f"{name} = {self.address(name, scope)} @ ~normal({name}_tables[0].mean(), 1)",
                          f"seat({name}_tables[{self.one_of(0, 1)}], {name})",
                          f"{name} = sum(table.mean() for table in {name}_tables)")  # fmt: skip
            case "gathered":
                more = f", scale={self.one_of('1.5', 'SCALE')}" if self.chance(3) else ""
                made = f"gathered({self.variable(scope)}, {self.variable(scope)}, {self.real(scope)}{more})"
                self.emit(scope, f"{name} = {self.address(name, scope)} @ ~{made}")
            case "either":
                first, second = f"{name}_a", f"{name}_b"
                self.emit(scope, f"{first}, {second} = [{self.real(scope)}], [0.5]",
                          f"{name}_c = {self.one_of('max', 'min')}([{first}, {second}])",
                          f"({first} if {self.condition(scope)} else {second}).append({self.real(scope)})",
                          f"{name} = {self.address(name, scope)} @ ~normal(sum({first}) - sum({name}_c), 1)",
                          )  # fmt: skip
            case "view":
                self.emit(scope, f"{name}_x = 0.5 * np.array([{self.real(scope)}, {self.variable(scope)}])",
                          f"{name}_v = {name}_x[:1]", f"{name}_x += {self.real(scope)}",
                          f"{name}_x.ravel()[1] = {self.variable(scope)}",
                          f"{name} = float({name}_v[0] - {name}_x.sum())")  # fmt: skip
            case "groups":
                made = f"{self.address(name, scope, f'{name}_k')} @ ~normal(len(list({name}_g)), 1)"
                values = f"sorted([{self.one_of(*scope.wholes)} % 2, 1, {self.one_of(*scope.wholes)} % 2])"
                self.emit(scope, f"for {name}_k, {name}_g in itertools.groupby({values}):",
                          f"    {name} = {made}")  # fmt: skip
            case "with":
                self.emit(scope, f"with contextlib.nullcontext({self.real(scope)}) as {name}:",
                          f"    {name} = {self.address(name, scope)} @ ~normal({name}, 1)")  # fmt: skip
            case "alias" if usable:
                self.emit(scope, f"{name} = {container.name}",
                          f"{name}.append({self.real(scope)})",
                          f"{name} = len({container.name}) + {container.name}[-1]")  # fmt: skip
                self.unsized(scope, container)
            case "push" if usable:
                self.emit(scope, f"push({container.name}, {self.real(scope)})",
                          f"{name} = {container.name}[-1]")  # fmt: skip
                self.unsized(scope, container)
            case "pop" if usable:
                self.emit(scope, f"{name} = {container.name}.pop() if {container.name} else 0.5")
                self.unsized(scope, container)
            case "sort" if usable:
                self.emit(scope, f"{container.name}.{self.one_of('sort', 'reverse')}()",
                          f"{name} = sum({container.name})")  # fmt: skip
            case "slice" if usable:
                self.emit(scope, f"{container.name}[:1] = [{self.real(scope)}]",
                          f"{name} = {container.name}[0]")  # fmt: skip
                self.unsized(scope, container)
            case "starred" if container is not None and container.size in scope.positive:
                self.emit(scope, f"{name}, *{name}_rest = {container.values}",
                          f"{name} = {name} + len({name}_rest)")  # fmt: skip
            case "closure":
                self.emit(scope, f"{name}_of = lambda y: {self.variable(scope)} + 0.5 * y",
                          f"{name} = {name}_of({self.real(scope)})")  # fmt: skip
            case "def":
                self.emit(scope, f"def {name}_of(y, z={self.variable(scope)}):",
                          f"    return y - 0.5 * z + {self.variable(scope)}",
                          f"{name} = {name}_of({self.real(scope)})")  # fmt: skip
            case "del":
                self.emit(scope, f"{name}_box = {{'a': {self.real(scope)}, 'b': {self.real(scope)}}}",
                          f"del {name}_box['a']", f"{name} = sum({name}_box.values())")  # fmt: skip
            case "generator" if container is not None:
                self.emit(scope, f"{name} = sum(0.5 * v for v in {container.values})",
                          f"{name} += next(iter({container.values}), 0.5)")  # fmt: skip
            case "string":
                index = "".join(f"_{{{i}}}" for i in scope.loops)
                self.emit(scope, f'{name} = f"{name}{index}" @ ~{self.distribution(scope, "real")}')
            case _:
                self.emit(scope, f"{name} = {self.real(scope)}", f"assert {name} == {name}, {name}")
        scope.bind("real", name)

    def unsized(self, scope: Scope, container: Container) -> None:
        """From here on the length of a container is unknown."""
        place = scope.containers.index(container)
        scope.containers[place] = Container(container.name, None, container.element, container.form)
