"""Random programs whose choices at ("z", i, j) or ("z", i) are read over rows and columns, pairs and data."""

import random


def program(seed):
    """The text of a program, `model(n, m, data, edges)`: n rows, m columns, edges between n * m nodes."""
    rng = random.Random(seed)
    return (_Grid if rng.random() < 0.6 else _Nodes)(rng).text()


class _Program:
    def __init__(self, rng):
        self.rng, self.lines, self.count = rng, [], 0

    def add(self, *lines):
        self.lines += [f"    {line}" for line in lines]

    def pick(self, *what):
        return self.rng.choice(what)

    def name(self, stem):
        self.count += 1
        return f"{stem}_{self.count}"

    def text(self):
        self.make()
        for _ in range(1 + self.rng.randrange(3)):
            self.see()
        head = ["import math", "import numpy as np", "from gendsl import *", "", "@gen"]
        return "\n".join([*head, "def model(n, m, data, edges):", *self.lines, ""])


class _Grid(_Program):
    """Choices at ("z", i, j), kept in a container of one of several kinds."""

    def make(self):
        self.add("b = ~gamma(3, 2)")
        self.kind = self.pick("array", "rows", "filled", "dict", "nested")
        self.start = self.pick(0, 0, 1)
        if self.kind == "rows" or self.kind == "nested":
            self.start = 0
        begin = {
            "array": "z = np.zeros((n, m))",
            "filled": "z = [[0] * m for _ in range(n)]",
            "dict": "z = {}",
            "rows": "z = []",
        }
        if self.kind == "nested":
            self.add('z = [[("z", i, j) @ ~bernoulli(0.4) for j in range(m)] for i in range(n)]')
            return
        self.add(begin[self.kind], f"for i in range({self.start}, n):")
        if self.kind == "rows":
            self.add("    row = []")
        self.add(f"    for j in range({self.start}, m):", "        t = 0.3")
        for _ in range(self.rng.randrange(3)):
            self.neighbour()
        self.add('        c = ("z", i, j) @ ~bernoulli(min(max(t, 0.1), 0.9))')
        self.add("        row.append(c)" if self.kind == "rows" else f"        {self.at('i', 'j')} = c")
        if self.rng.random() < 0.5:
            read = "c" if self.kind == "rows" else self.at("i", "j")
            self.add(f'        ("{self.name("y")}", i, j) @ ~normal(1.0 if {read} else 0.0, b)')
        if self.kind == "rows":
            self.add("    z.append(row)")

    def at(self, i, j):
        return f"z[{i}, {j}]" if self.kind in ("array", "dict") else f"z[{i}][{j}]"

    def neighbour(self):
        """The choices before one."""
        s = self.start
        if self.kind == "dict":
            key = self.pick("(i - 1, j)", "(i, j - 1)", "(i - 1, j - 1)")
            self.add(f"        if {key} in z:", f"            t += 0.2 * z[{key}]")
        elif self.kind == "rows":
            test, read = self.pick(
                ("i > 0", "z[i - 1][j]"),
                ("j > 0", "row[j - 1]"),
                ("j > 0", "row[-1]"),
                ("i >= 1", "z[-1][j]"),
            )
            self.add(f"        if {test}:", f"            t += 0.2 * {read}")
        else:
            test, i, j = self.pick(
                (f"i > {s}", "i - 1", "j"),
                (f"j >= {s + 1}", "i", "j - 1"),
                (f"i > {s} and j > {s}", "i - 1", "j - 1"),
            )
            self.add(f"        if {test}:", f"            t += 0.2 * {self.at(i, j)}")

    def see(self):
        y, s = self.name("y"), self.start
        how = self.rng.randrange(9)
        loops = [f"for i in range({s}, n):", f"    for j in range({s}, m):"]
        z = self.at
        if how == 0:
            self.add(*loops, f'        ("{y}", i, j) @ ~normal(2.0 * {z("i", "j")}, b)')
        elif how == 1:
            self.add(*loops, "        if i + 1 < n:")
            self.add(
                f'            ("{y}", i, j) @ ~normal(0.5 if {z("i", "j")} == {z("i + 1", "j")} else 0.0, b)'
            )
        elif how == 2:
            self.add(*loops, f"        if j > {s}:")
            self.add(
                f'            ("{y}", i, j) @ ~factor(0.5 if {z("i", "j - 1")} == {z("i", "j")} else -b)'
            )
        elif how == 3:
            self.add(*loops, f"        t = {z('i', 'j')} + 0.5 * {z('n - 1 - i + ' + str(s), 'j')}")
            self.add(f'        ("{y}", i, j) @ ~normal(t, b)')
        elif how == 4:
            self.add(
                f"for i in range({s}, n):",
                "    t = 0.0",
                f"    for j in range({s}, m):",
                f"        t += {z('i', 'j')}",
            )
            self.add(f'    ("{y}", i) @ ~normal(t, b)')
        elif how == 5:
            self.add(f"for j in range({s}, m):", f"    for i in range({s}, n):")
            self.add(f'        ("{y}", i, j) @ ~normal(1.0 if {z("i", "j")} else b, 1.0)')
        elif how == 6:
            self.add(
                "for e, (u, v) in enumerate(edges):", f"    i, j = u % (n - {s}) + {s}, v % (m - {s}) + {s}"
            )
            self.add(f'    ("{y}", e) @ ~normal(1.0 * {z("i", "j")}, b)')
        elif how == 7 and self.kind in ("array", "filled", "nested", "rows"):
            self.add(
                f"for i in range({s}, n):",
                f'    ("{y}", i) @ ~normal(1.0 * {z("i", "-1")} + {z("i - 1", str(s))}, b)',
            )
        else:
            self.add("total = 0.0", *loops, f"        total += {z('i', 'j')}", f'"{y}" @ ~normal(total, b)')


class _Nodes(_Program):
    """Choices at ("z", i), read by data, in pairs, and from the end."""

    def make(self):
        self.add("b = ~gamma(3, 2)", "N = n * m")
        how = self.rng.randrange(5)
        if how == 0:
            self.add('z = [("z", i) @ ~categorical([0.3, 0.3, 0.4]) for i in range(N)]')
        elif how == 1:
            self.add("z = np.zeros(N, dtype=int)", "for i in range(N):")
            self.add('    z[i] = ("z", i) @ ~uniform_discrete(0, 2)')
        elif how == 2:
            self.add("z = {}", "for i in range(N):", '    z[i] = ("z", i) @ ~uniform_discrete(0, 2)')
        elif how == 3:
            self.add("z = []", "for i in range(N):")
            self.add(
                "    p = [0.3, 0.3, 0.4]",
                "    if i > 0:",
                "        p = [0.6 if k == z[-1] else 0.2 for k in range(3)]",
            )
            self.add('    z.append(("z", i) @ ~categorical(p))')
        else:
            self.add(
                'first = ("z", 0) @ ~categorical([0.3, 0.3, 0.4])', "z = [first]", "for i in range(1, N):"
            )
            self.add("    before = z[i - 1]", "    p = [0.6 if k == before else 0.2 for k in range(3)]")
            self.add('    z.append(("z", i) @ ~categorical(p))')
        self.lists = ["z"]
        self.is_dict = how == 2
        if how != 2 and self.rng.random() < 0.5:
            x = self.name("x")
            self.add(
                self.pick(
                    f"{x} = [2.0 * v - 1 for v in z]",
                    f"{x} = [1.0 if v == 1 else 0.0 for v in z]",
                    f"{x} = np.array(z) * 0.5",
                    f"{x} = [z[d % N] + 0.0 for d in data] + [0.0] * N",
                    f"{x} = [z[i] + z[i - 1] for i in range(N)]",
                    f"{x} = [z[N - 1 - i] for i in range(N)]",
                )
            )
            self.lists.append(x)
        if self.rng.random() < 0.3:
            self.add("q = np.zeros((3, 3))", "for u in range(3):", "    for v in range(3):")
            self.add('        q[u, v] = ("q", u, v) @ ~beta(2, 2)')
        else:
            self.add(
                "q = {}",
                "for u in range(3):",
                "    for v in range(3):",
                "        q[u, v] = 0.2 + 0.2 * abs(u - v)",
            )

    def index(self, one, x):
        """An index that may count from the end, where that is one."""
        return f"{one} % N" if self.is_dict and x == "z" else one

    def see(self):
        y, x = self.name("y"), self.pick(*self.lists)
        how = self.rng.randrange(9)
        if how == 0:
            self.add("for i in range(N):", f'    ("{y}", i) @ ~normal({x}[i], b)')
        elif how == 1:
            self.add(
                "for e, d in enumerate(data):", f'    ("{y}", e) @ ~normal({x}[{self.index("d", x)}], b)'
            )
        elif how == 2:
            self.add(
                "for e, (u, v) in enumerate(edges):",
                f'    ("{y}", e) @ ~factor(0.5 if {x}[u] == {x}[v] else b)',
            )
        elif how == 3:
            self.add(
                "for i in range(N):",
                f"    for j in range({self.pick('i + 1, N', 'N', 'i')}):",
                "        if i != j:",
            )
            self.add(f'            ("{y}", i, j) @ ~bernoulli(q[z[i], z[j]])')
        elif how == 4 and not self.is_dict:
            self.add("for i in range(N):", f'    ("{y}", i) @ ~normal(1.0 * {x}[i] + {x}[i - 1], b)')
        elif how == 5:
            self.add(
                "for i in range(n):",
                "    for j in range(m):",
                f'        ("{y}", i, j) @ ~normal({x}[i * m + j], b)',
            )
        elif how == 6:
            self.add("for i in range(N):", f'    ("{y}", i) @ ~normal(1.0 * {x}[i // 2] + {x}[N - 1 - i], b)')
        elif how == 7:
            self.add(
                "for i in range(1, N):",
                f'    ("{y}", i) @ ~normal(1.0 * {x}[(i * 5 + 2) % N] - {x}[i - 1], b)',
            )
        else:
            self.add(
                "for e in range(len(data)):",
                f"    t = {x}[{self.index('data[e]', x)}]",
                "    if e % 2 == 1:",
                "        continue",
            )
            self.add(f'    ("{y}", e) @ ~normal(t * b, 1.0)')
