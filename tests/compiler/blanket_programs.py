"""Random programs whose choices at ("z", i) are read in many ways: in loops, by lists, and by neighbours."""

import random


def program(seed):
    """The text of a program, `model(n, k)`."""
    return _Program(random.Random(seed)).text()


class _Program:
    def __init__(self, rng):
        self.rng, self.lines, self.count = rng, [], 0
        self.lists = []  # names of lists of n integers or floats

    def add(self, *lines):
        self.lines += [f"    {line}" for line in lines]

    def pick(self, *what):
        return self.rng.choice(what)

    def text(self):
        self.add('mus = [("mu", j) @ ~normal(j, 2) for j in range(k)]')
        if self.rng.random() < 0.5:
            self.add("s = ~gamma(3, 2)")
        else:
            self.add("s = 1.5")
        self.choices()
        for _ in range(self.rng.randrange(3)):
            self.lists.append(self.derived())
        for _ in range(1 + self.rng.randrange(3)):
            self.observations()
        head = ["import numpy as np", "from gendsl import *", "", "@gen", "def model(n, k):"]
        return "\n".join([*head, *self.lines, ""])

    # --- the choices ----------------------------------------------------------------------------------------

    def choices(self):
        p = self.pick("[0.2, 0.5, 0.3]", "[1 / k] * k", "np.ones(k) / k")
        how = self.rng.randrange(7)
        if how == 0:
            self.add("zs = []", "for i in range(n):", f'    zs.append(("z", i) @ ~categorical({p}))')
        elif how == 1:
            self.add(f'zs = [("z", i) @ ~categorical({p}) for i in range(n)]')
        elif how == 2:
            self.add("zs = np.zeros(n, dtype=int)", "for i in range(n):")
            self.add(f'    zs[i] = ("z", i) @ ~categorical({p})')
        elif how == 3:  # a chain
            self.add("zs, z = [], 0", "for i in range(n):")
            self.add("    p = [0.7 if j == z else 0.15 for j in range(3)]")
            self.add('    z = ("z", i) @ ~categorical(p)', "    zs.append(z)")
            self.seen("    ", "z")
        elif how == 4:  # the same by the list
            test, first, later = self.pick(
                ("i == 0", 0, 1), ("i > 0", 1, 0), ("not i > 0", 0, 1), ("i >= 1", 1, 0), ("i < 1", 0, 1)
            )
            sides = [
                [f'        zs.append(("z", 0) @ ~categorical({p}))'],
                ["        p = [0.7 if j == zs[i - 1] else 0.15 for j in range(3)]",
                 '        zs.append(("z", i) @ ~categorical(p))'],
            ]  # fmt: skip
            self.add("zs = []", "for i in range(n):")
            self.add(f"    if {test}:", *sides[first], "    else:", *sides[later])
        elif how == 5:  # other numbers
            self.add("zs = []", "for i in range(1, n + 1):", f'    z = ("z", i) @ ~categorical({p})')
            self.add("    zs.append(z)")
            self.seen("    ", "z")
        else:  # two first ones by themselves
            self.add(f'zs = [("z", 0) @ ~categorical({p}), ("z", 1) @ ~categorical({p})]')
            self.add("for i in range(2, n):", "    p = [1.0, 1.0, 1.0]")
            self.add("    p[zs[i - 1]] += 2", "    p[zs[i - 2]] += 1")
            self.add('    zs.append(("z", i) @ ~categorical([x / 6 for x in p]))')
        self.lists.append("zs")

    def name(self, stem):
        self.count += 1
        return f"{stem}_{self.count}"

    # --- lists that are computed from others ----------------------------------------------------------------

    def derived(self):
        name, one, other = self.name("xs"), self.pick(*self.lists), self.pick(*self.lists)
        how = self.rng.randrange(8)
        if how == 0:
            self.add(f"{name} = [2 * x - 1 for x in {one}]")
        elif how == 1:
            self.add(f"{name} = [mus[int(x) % k] if x == int(x) else x for x in {one}]")
        elif how == 2:
            self.add(f"{name} = [x + 0.5 * y for x, y in zip({one}, {other})]")
        elif how == 3:
            self.add(f"{name} = []", "for i in range(n):")
            self.add(f"    {name}.append({one}[i] + {other}[max(i - 1, 0)])")
        elif how == 4:
            self.add(f"{name} = np.zeros(n)", "for i in range(n):", f"    {name}[i] = {one}[i] * 0.5")
        elif how == 5:
            self.add(f"{name} = []", "for i in range(n):")
            self.add(f"    if {one}[i] > 1:", f"        {name}.append(1.0)", "    else:")
            self.add(f"        {name}.append({other}[i] - 0.5)")
        elif how == 6:
            self.add(f"{name} = [{one}[0]]", "for i in range(1, n):")
            self.add(f"    {name}.append({one}[i] - {one}[i - 1])")
        else:
            self.add(f"{name} = list(np.array({one}) + 1)")
        return name

    # --- what is seen ---------------------------------------------------------------------------------------

    def seen(self, indent, value, index="i"):
        if self.rng.random() < 0.7:
            self.add(f'{indent}("{self.name("y")}", {index}) @ ~normal({value}, s)')

    def observations(self):
        one, other, y = self.pick(*self.lists), self.pick(*self.lists), self.name("y")
        how = self.rng.randrange(14)
        if how >= 9:
            self.near(how, one, other, y)
        elif how == 0:
            self.add("for i in range(n):", f'    ("{y}", i) @ ~normal({one}[i], s)')
        elif how == 1:
            self.add("for i in range(1, n):", f'    ("{y}", i) @ ~normal({one}[i] - {other}[i - 1], s)')
        elif how == 2:
            self.add(f"for i, x in enumerate({one}):", "    if i % 3 == 1:", "        continue")
            self.add(f'    ("{y}", i) @ ~normal(x, s)')
        elif how == 3:
            self.add("for i in range(n - 2):", f'    ("{y}", i) @ ~normal({one}[i] + {other}[i + 2], s)')
        elif how == 4:
            self.add("for i in range(n):", "    m = 0.0")
            self.add(f"    if {one}[i] > 0.5:", f"        m = {other}[i]")
            self.add(f'    ("{y}", i) @ ~normal(m, s)')
        elif how == 5:
            self.add("for i in range(n):", f'    ("{y}", i) @ ~normal({one}[n - 1 - i], s)')
        elif how == 6:
            self.add(f"total = sum({one})", f'"{y}" @ ~normal(total, s)')
        elif how == 7:
            self.add("for i in range(n):", f"    m = {one}[i] + {other}[-1]")
            self.add(f'    ("{y}", i) @ ~normal(m, s)')
        else:
            self.add("for i in range(n):", "    for j in range(2):")
            self.add(f'        ("{y}", i, j) @ ~normal({one}[i] * (j + 1), s)')

    def near(self, how, one, other, y):
        """What is seen of several items that data says."""
        a, b = self.rng.randrange(1, 4), self.rng.randrange(-3, 4)
        self.add("for i in range(n):", "    m = 0.0")
        if how == 9:  # some are counted from the end
            self.add(f"    for j in [(i * {a} + q * {b}) % n - n * (q % 2) for q in range(3)]:")
            self.add(f"        m += {one}[j]")
        elif how == 10:  # data says where it ends, and what is passed over
            stop, over = self.pick("if j > 4: break", "if q == i: break"), self.pick("j % 3 == 1", "j < i")
            self.add("    for q in range(4):", f"        j = (i + q * {a}) % n", f"        {stop}")
            self.add(f"        if {over}:", "            continue", f"        m += {one}[j] - {other}[i]")
        elif how == 11:  # a choice says which
            self.add("    for q in range(2):", f"        if {one}[i] > 0.5:")
            self.add(f"            m += {other}[(i + q) % n]", "        else:")
            self.add(f"            m -= {one}[(i + {a}) % n]")
        elif how == 12:
            self.add(f"    m = sum({one}[i : i + 3]) - np.array({other}[max(i - 2, 0) : i + 1]).sum()")
        else:
            index = self.pick(f"-1 if i == {a} else i", f"max(i - {a}, -1)", f"min(i + {a}, n - 1)", "i // 2")
            self.add("    j = i", "    while j > 0:", f"        m += {one}[j]", "        j = j // 2")
            self.add(f"    m += {other}[{index}]")
        self.add(f'    ("{y}", i) @ ~normal(m, s)')
