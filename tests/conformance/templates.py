"""Pieces of programs, by the class of mistake that they look for.

A piece is Python text. In it `⟨this¦that⟩` stands for one of the alternatives, with or without a line break
after `¦`, and `§` for the number of the piece, so that names are its own. It may use

    x, n, xs      the arguments: a float, an int from 1 to 3, a list of three floats
    a, b, z, k    choices: two floats, a bool, an int from 0 to 2

and sets `out§` to a number, on which the next choice depends, and `keep§` to whatever else it made. `AT`
makes its addresses its own where the piece is in a loop.
"""

from __future__ import annotations

IDENTITY = [
    """
rows§ = [[0.0, 1.0] for _ in range(⟨2¦n¦3⟩)]
rows§[⟨0¦-1¦k % len(rows§)⟩][⟨0¦1¦-1⟩] = ⟨a¦x + b¦float(k)⟩
out§ = sum(row[0] + 2 * row[1] for row in rows§)
keep§ = rows§
""",
    """
row§ = [⟨0.0¦x¦a⟩] * 2
table§ = [row§] * ⟨2¦n¦3⟩
table§[0][⟨0¦1¦-1⟩] = ⟨b¦a * 2¦x⟩
⟨table§[-1] = [a, b]¦table§.append(row§[:])¦row§[0] += 1.0¦pass⟩
out§ = sum(sum(row) for row in table§)
keep§ = (row§, table§)
""",
    """
first§, second§ = [a], [b]
(first§ if ⟨z¦a > b¦k == 1⟩ else second§).append(⟨x¦a + b⟩)
chosen§ = ⟨first§ if z else second§¦second§ if not z else first§⟩
chosen§[0] = ⟨x¦b - 1¦chosen§[-1] + 1⟩
out§ = sum(first§) - sum(second§)
keep§ = [first§, second§, chosen§]
""",
    """
same§ = xs§ = [v + a for v in xs]
⟨same§.append(b)¦same§[1] = b¦xs§.insert(0, b)¦same§.pop()¦same§.reverse()⟩
copied§ = ⟨same§[:]¦list(same§)¦same§.copy()¦same§ + []¦[*same§]⟩
copied§[0] = ⟨x¦-1.0⟩
out§ = xs§[0] + copied§[0] + len(xs§)
keep§ = (xs§, copied§)
""",
    """
groups§ = {}
for i in range(3):
    groups§.setdefault(⟨i % 2¦i % (k + 1)¦"even" if i % 2 == 0 else "odd"⟩, []).append(xs[i] ⟨+¦*⟩ a)
alias§ = groups§[⟨next(iter(groups§))¦list(groups§)[-1]⟩]
alias§ ⟨+= [b]¦.append(b)¦[0] = b⟩
out§ = sum(sum(group) * (i + 1) for i, group in enumerate(groups§.values()))
keep§ = groups§
""",
    """
shared§ = [0.0]
pairs§ = [(i, shared§) for i in range(⟨2¦n⟩)]
for i, cell in pairs§:
    cell[0] += ⟨a¦x * i¦i + b⟩
out§ = shared§[0] + pairs§[0][1][0]
keep§ = pairs§
""",
    """
def put§(box, value):
    box⟨.append(value)¦[0] = value¦[-1] += value⟩
    return box
mine§ = [⟨a¦0.5⟩]
yours§ = put§(mine§, ⟨b¦x⟩)
yours§⟨[0] += 1.0¦.append(2.0)¦ += [x]⟩
out§ = sum(mine§) + len(mine§)
keep§ = (mine§, yours§ is mine§)
""",
    """
matrix§ = [[float(i + j) for j in range(3)] for i in range(3)]
matrix§[0], matrix§[⟨1¦2¦k⟩] = matrix§[⟨1¦2¦k⟩], matrix§[0]
matrix§[0][1] ⟨=¦+=¦-=⟩ ⟨a¦x⟩
line§ = matrix§[⟨0¦1¦k⟩]
line§[0] = b
out§ = sum(matrix§[i][j] * (i + 2 * j) for i in range(3) for j in range(3))
keep§ = matrix§
""",
    """
class Box§:
    def __init__(self, items):
        self.items = items
        self.total = 0.0
    def add(self, item):
        self.items.append(item)
        self.total += item
        return self
start§ = [x]
box§ = Box§(⟨start§¦start§[:]⟩)
other§ = ⟨box§¦Box§(start§)⟩
box§.add(a).add(b)
⟨other§.add(1.0)¦other§.items[0] = 7.0¦start§.append(-1.0)⟩
out§ = sum(box§.items) + other§.total + len(start§)
keep§ = (start§, box§.items, box§.total, other§.items, other§.total)
""",
    """
nested§ = {"left": [a], "right": {"deep": [b, [x]]}}
part§ = nested§["right"]["deep"]
part§[1].append(⟨1.0¦a⟩)
nested§[⟨"right"¦"left"⟩] = ⟨part§[1]¦[*part§[1]]¦nested§["left"]⟩
part§[⟨0¦1⟩] = ⟨[2.0]¦[a, b]⟩
out§ = float(len(str(sorted(nested§)))) + len(part§[1] if isinstance(part§[1], list) else [])
keep§ = (nested§, part§)
""",
    """
stack§ = []
current§ = []
for i in range(⟨3¦n + 1⟩):
    current§.append(⟨a * i¦xs[i % 3]¦float(i)⟩)
    stack§.append(⟨current§¦list(current§)¦tuple(current§)⟩)
    if len(current§) == ⟨2¦n⟩:
        current§ = ⟨[]¦current§[:1]¦[b]⟩
out§ = sum(sum(entry) for entry in stack§)
keep§ = stack§
""",
    """
zeros§ = np.zeros((2, 3))
views§ = [row for row in zeros§]
views§[⟨0¦1¦-1⟩][⟨0¦2⟩] = ⟨a¦x⟩
copies§ = ⟨zeros§.copy()¦np.array(zeros§)¦zeros§ + 0.0¦zeros§⟩
zeros§[0] ⟨+=¦=⟩ ⟨b¦1.0⟩
out§ = zeros§.sum() + 3 * copies§.sum()
keep§ = (zeros§, copies§)
""",
]

IN_PLACE = [
    """
m§ = np.arange(6.0).reshape(⟨2, 3¦3, 2⟩)
s§ = m§[⟨1¦0¦-1⟩]
s§ ⟨+=¦*=¦-=⟩ ⟨a¦n¦x⟩
out§ = m§.sum() + m§[0, 0]
keep§ = (m§, s§)
""",
    """
total§ = np.zeros(2)
history§ = []
for i in range(⟨2¦n¦3⟩):
    total§ ⟨+= a + i¦= total§ + a + i¦+= np.array([a, b])¦[i % 2] += b⟩
    history§.append(⟨total§¦total§.copy()¦total§ * 1.0⟩)
out§ = sum(h[0] + 2 * h[1] for h in history§)
keep§ = history§
""",
    """
v§ = np.array(xs)
w§ = v§[⟨1:¦:2¦::2¦::-1¦-2:¦:⟩]
w§ ⟨+= n¦*= a¦[0] = b¦[:] = x⟩
out§ = v§.sum() + v§[0] - v§[-1]
keep§ = (v§, w§)
""",
    """
p§ = [1.0, ⟨a¦x⟩]
q§ = p§
p§ ⟨+= [b]¦= p§ + [b]¦*= 2¦= p§ * 2¦+= (b, x)⟩
out§ = sum(p§) + 10 * sum(q§)
keep§ = (p§, q§, p§ is q§)
""",
    """
t§ = (1.0, a)
u§ = t§
t§ ⟨+= (b,)¦*= 2⟩
word§ = "ab"
again§ = word§
word§ += ⟨"c" * k¦str(n)⟩
out§ = sum(t§) + 3 * sum(u§) + len(word§) + len(again§)
keep§ = (t§, u§, word§, again§)
""",
    """
g§ = np.arange(9.0).reshape(3, 3)
⟨g§[:, 1] = a¦g§[1:, 1:] += b¦g§[[0, 2]] *= 2.0¦g§[g§ > 3] = x¦g§[0], g§[1] = g§[1], g§[0]⟩
column§ = g§[:, ⟨0¦-1¦k⟩]
column§ -= ⟨1.0¦a⟩
out§ = (g§ * np.arange(3)).sum() + g§[2, 0]
keep§ = (g§, column§)
""",
    """
c§ = np.zeros(4)
c§[⟨[0, 0, 1]¦[1, 2, 1]¦np.array([3, 3, 3])⟩] += ⟨a¦1.0¦np.array([a, b, x])⟩
np.add.at(c§, [0, 0, ⟨1¦2⟩], ⟨b¦1.0⟩)
out§ = (c§ * np.arange(1, 5)).sum()
keep§ = c§
""",
    """
h§ = np.arange(6.0)
r§ = h§.⟨reshape(2, 3)¦reshape(3, 2).T¦reshape(-1, 2)⟩
f§ = r§.⟨ravel()¦flatten()¦reshape(-1)⟩
r§[0, 1] ⟨=¦+=⟩ a
f§[-1] = b
out§ = h§.sum() + 2 * f§[0] + (h§ * h§).sum()
keep§ = (h§, r§, f§)
""",
    """
tally§ = [0.0, 0.0, 0.0]
calls§ = []
def place§(i):
    calls§.append(i)
    return i % 3
tally§[place§(⟨k¦1¦n⟩)] += ⟨a¦len(calls§)⟩
tally§[place§(2)] ⟨*=¦-=¦+=⟩ ⟨2.0¦b⟩
out§ = sum(tally§) + len(calls§)
keep§ = (tally§, calls§)
""",
    """
d§ = {"one": 1.0, "two": [a]}
e§ = d§
d§["one"] += ⟨a¦x⟩
d§["two"] ⟨+= [b]¦= d§["two"] + [b]¦*= 2⟩
e§ ⟨|= {"three": 3.0}¦= e§ | {"three": 3.0}⟩
out§ = d§["one"] + sum(d§["two"]) + len(d§) + len(e§)
keep§ = (d§, e§)
""",
    """
lo§, hi§ = np.array([a, b]), np.array([x, 1.0])
both§ = [lo§, hi§]
for array in both§:
    array ⟨+= 1.0¦*= 2.0¦[0] = 0.5⟩
for i in range(2):
    both§[i] ⟨+= 1.0¦= both§[i] + 1.0¦-= lo§⟩
out§ = lo§.sum() + 3 * hi§.sum() + both§[0][0]
keep§ = (lo§, hi§, both§)
""",
    """
q§ = np.array([[a, 1.0], [b, 2.0]])
d§ = np.diagonal(q§).copy()
tr§ = q§.T
tr§[0, 1] = ⟨x¦9.0⟩
q§ ⟨@= np.array([[0.0, 1.0], [1.0, 0.0]])¦= q§ @ q§¦/= 2.0¦**= 2⟩
out§ = q§[0, 0] + 2 * q§[1, 0] + tr§[0, 1] + d§.sum()
keep§ = (q§, tr§, d§)
""",
]

EFFECTS = [
    """
best§ = ⟨0.0¦-5.0¦x⟩
for v in xs:
    v + a > best§ and (best§ := v + ⟨a¦b⟩)
out§ = best§
keep§ = best§
""",
    """
def shift§(by, row):
    row[0] += by
    return row[0]
m§ = [[1.0, 2.0], [a, b]]
moved§ = ⟨[shift§(x, row) for row in m§]¦list(map(lambda row: shift§(x, row), m§))¦
    tuple(shift§(a, row) for row in m§)⟩
out§ = sum(moved§) + m§[0][0] + m§[1][0]
keep§ = (m§, moved§)
""",
    """
pairs§ = zip(xs, ⟨[a, b, x]¦range(3)¦[a, b]⟩)
one§ = ⟨next(pairs§)¦sum(u * w for u, w in pairs§)¦[u for u, _ in pairs§]⟩
rest§ = list(pairs§)
out§ = float(len(rest§)) + sum(u for u, _ in rest§)
keep§ = (one§, rest§)
""",
    """
l§ = [a, b, x, ⟨1.0¦float(n)⟩]
out§ = ⟨l§.pop() - l§.pop()¦l§.pop(0) * 10 + l§.pop()¦l§[0] - l§.pop() + len(l§)¦len(l§) + l§.pop() * len(l§)⟩
keep§ = l§
""",
    """
seen§ = []
def note§(v):
    seen§.append(v)
    return v > ⟨0.0¦a¦-1.0⟩
hit§ = ⟨any(note§(v) for v in xs)¦all(note§(v) for v in xs)¦note§(a) and note§(b)¦note§(b) or note§(a)⟩
also§ = ⟨note§(x) if hit§ else not note§(-x)¦0 if not hit§ else note§(1.0)¦hit§ and (note§(x) or note§(a))⟩
out§ = float(len(seen§)) + 2 * hit§
keep§ = (seen§, hit§, also§)
""",
    """
log§ = []
def logged§(v):
    log§.append(v)
    return v
ok§ = ⟨logged§(0.0) < logged§(a) < logged§(b)¦logged§(b) > logged§(a) > logged§(x)¦
    logged§(x) == logged§(x) != logged§(a)⟩
out§ = sum(log§) + len(log§) + ok§
keep§ = (log§, ok§)
""",
    """
assert "chance§" ⟨in¦not in⟩ ⟨["chance§", str(("c§", AT) @ ~normal(a, 1))]¦
    ("chance§", ("c§", AT) @ ~normal(b, 2))⟩ or True
out§ = ⟨a¦b⟩
keep§ = None
""",
    """
acc§ = []
[acc§.append(v ⟨* a¦+ len(acc§)⟩) for v in xs if ⟨v < 1.0¦len(acc§) < 2¦not acc§ or acc§[-1] < v⟩]
out§ = sum(acc§) + len(acc§)
keep§ = acc§
""",
    """
order§ = []
def key§(v):
    order§.append(v)
    return ⟨v¦-v¦abs(v - a)¦len(order§)⟩
top§ = ⟨sorted(xs, key=key§)[0]¦max(xs, key=key§)¦min([a, b, x], key=key§)⟩
out§ = top§ + 0.1 * len(order§)
keep§ = (order§, top§)
""",
    """
cache§ = {}
def lookup§(i):
    return cache§.setdefault(i % 2, len(cache§) + ⟨a¦0.5⟩)
out§ = ⟨lookup§(1) + 2 * lookup§(0) + 4 * lookup§(3)¦sum(lookup§(i) * i for i in range(4))¦
    lookup§(k) - lookup§(k + 1)⟩
keep§ = cache§
""",
    """
it§ = iter(⟨xs¦range(5)¦[a, b, x, 1.0]⟩)
first§ = next(it§)
taken§ = [v for v, _ in zip(it§, range(⟨1¦2⟩))]
left§ = ⟨list(it§)¦[next(it§, -1.0)]¦sum(it§)⟩
out§ = first§ + sum(taken§)
keep§ = (first§, taken§, left§)
""",
    """
q§ = [a, b]
w§ = {len(q§): q§.pop(), len(q§): ⟨q§.append(x)¦q§.pop()⟩}
r§ = (q§.append(1.0), len(q§), ⟨q§ and q§.pop()¦q§[-1:]⟩)
out§ = float(sum(w§)) + r§[1] + len(q§)
keep§ = (w§, r§, q§)
""",
    """
u§ = []
c§ = [("c§", AT, (u§.append(i), len(u§))[1]) @ ~normal(⟨len(u§)¦a⟩, 1) for i in range(⟨2¦n⟩)]
out§ = sum(c§) + len(u§)
keep§ = (u§, c§)
""",
    """
i§ = 0
vals§ = []
while (v := xs[i§ % 3] + i§) < ⟨3.0¦a + 2¦n⟩ and (i§ := i§ + 1) < 6:
    vals§.append(v)
out§ = sum(vals§) + i§
keep§ = (vals§, i§, v)
""",
]

TYPES = [
    """
r§ = np.zeros(3, ⟨int¦bool¦np.float32¦np.int8⟩)
for i in range(⟨2¦n⟩):
    r§[i] = ⟨3 * xs[i]¦a¦xs[i] > 0¦i + 0.75⟩
out§ = r§.sum() * 1.0
keep§ = r§
""",
    """
l§ = [0] * 3
l§[⟨0¦k¦-1⟩] = ⟨a¦x * 2¦True¦n⟩
l§[1] += ⟨1¦0.5¦n / 2⟩
out§ = sum(l§) / 2
keep§ = l§
""",
    """
f§ = np.full(⟨3¦(2, 2)⟩, ⟨1¦n¦1.5¦True⟩)
f§[0] = ⟨a¦2.9¦-0.9⟩
out§ = 1.0 * f§.sum()
keep§ = (f§, f§.dtype.kind)
""",
    """
r§ = np.arange(⟨4¦n + 2⟩)
r§ ⟨*= 3¦//= 2¦-= 1¦%= 2¦**= 2⟩
r§[1] = ⟨2.7¦a¦k⟩
s§ = r§ ⟨/ 2¦* 0.5¦+ k¦// 2⟩
out§ = s§.sum() + r§[0]
keep§ = (r§, s§)
""",
    """
u§ = np.zeros(3, np.uint8)
u§ -= ⟨1¦2⟩
u§[0] ⟨= 7¦+= 3⟩
w§ = u§.astype(⟨int¦float¦np.int16⟩) ⟨+ k¦* 2⟩
out§ = float(w§.sum())
keep§ = (u§, w§)
""",
    """
d§ = {"p": 1, "q": ⟨2¦0.5⟩}
d§["p"] = ⟨d§["p"] / 2¦d§["p"] * 2¦a⟩
d§["q"] ⟨+= 1¦//= 2¦= None⟩
out§ = d§["p"] + (d§["q"] or 0)
keep§ = d§
""",
    """
m§ = np.⟨eye(2, dtype=int)¦zeros((2, 2))¦array([[1, 2], [3, 4]])¦ones((2, 2), dtype=bool)⟩
m§[0, 1] = ⟨a¦k¦2.5⟩
p§ = m§ ⟨+ m§¦* 2¦@ m§.astype(float)¦* a⟩
out§ = 1.0 * p§[0, 1] + p§[1, 1]
keep§ = (m§, p§)
""",
    """
total§ = 0
for v in ⟨xs¦range(4)¦[True, False, True]¦[1, 2.5]⟩:
    total§ += v
mean§ = total§ / ⟨2¦n⟩
half§ = total§ // 2
out§ = mean§ + half§
keep§ = (total§, mean§, half§)
""",
    """
i§ = ⟨7¦-7¦k - 2⟩
out§ = ⟨i§ // 2¦i§ % 3¦i§ / 2¦-i§ // 2¦i§ ** 2¦2.0 ** i§¦i§ % -3¦divmod(i§, 4)[1]⟩
keep§ = (out§, int(a), round(a), round(x, 1), int(-1.5), 7.0 // 2, -7.5 % 2)
""",
    """
c§ = np.array([1, 2, 3])[⟨k¦-1¦[0, k]¦k:¦::-1⟩]
e§ = np.array(⟨[a, 1]¦[k, n]¦[True, k]¦[[a], [b]]⟩)
out§ = np.sum(c§) + 0.5 * np.sum(e§)
keep§ = (c§, e§, type(k).__name__, type(a).__name__)
""",
    """
h§ = np.empty(2)
h§[:] = ⟨k¦[a, n]¦True⟩
j§ = h§[0] ⟨+ 1¦* k¦/ 2⟩
g§ = ⟨h§.tolist()¦list(h§)¦[float(v) for v in h§]¦h§.max()⟩
out§ = j§ + 0.0
keep§ = (j§, g§)
""",
    """
w§ = np.where(⟨z¦np.array(xs) > 0.0¦[True, False, z]⟩, ⟨1¦a¦n⟩, ⟨2¦b¦0.5⟩)
out§ = 1.0 * np.sum(w§)
keep§ = w§
""",
]

ARGUMENTS = [
    """
v§ = np.array(xs)
r§ = np.⟨exp(-v§, out=v§)¦add(v§, a, out=v§)¦clip(v§, -0.5, 0.5, out=v§)¦cumsum(v§, out=v§)¦
    subtract(v§, b, v§)⟩
r§[0] += 1.0
out§ = v§.sum()
keep§ = (v§, r§, r§ is v§)
""",
    """
v§ = np.array([a, b, x])
r§ = v§.cumsum(⟨0, None, v§¦0¦out=v§¦dtype=float⟩)
out§ = v§.sum() + 2 * r§[-1]
keep§ = (v§, r§)
""",
    """
m§ = np.array([[a, b], [x, 1.0], [n, 0.5]])
s§ = m§.⟨sum¦mean¦max¦min¦prod⟩(⟨axis=0¦axis=1¦0¦axis=-1¦axis=1, keepdims=True¦¦axis=None⟩)
out§ = float(np.sum(s§ * s§))
keep§ = s§
""",
    """
out§ = ⟨sum(xs, a)¦sum([a, b], start=10.0)¦max([], default=a)¦max(xs, key=lambda v: -v)¦
    min(xs, key=abs, default=0.0)¦round(a, 1)¦round(a)¦math.log(2.0 + n, 2)¦pow(n, 2, 3)¦int("11", n + 1)¦
    abs(complex(a, b))¦math.prod(xs, start=2.0)⟩
keep§ = out§
""",
    """
s§ = sorted(⟨xs¦[a, b, x]⟩, ⟨reverse=True¦key=lambda v: -abs(v)¦key=abs, reverse=z¦reverse=not z⟩)
t§ = list(enumerate(s§, ⟨1¦start=n¦start=-1⟩))
out§ = sum(i * v for i, v in t§)
keep§ = t§
""",
    """
g§ = np.⟨linspace(a, b, 4, endpoint=False)¦arange(0.0, n + 1, 0.5)¦arange(n, 0, -1)¦full(3, a, dtype=int)¦
    linspace(0, 1, n)¦logspace(0, 1, 3, base=2.0)⟩
out§ = 1.0 * g§.sum()
keep§ = g§
""",
    """
v§ = np.array([a, b, x, 0.25])
out§ = float(np.⟨var(v§, ddof=1)¦std(v§)¦std(v§, ddof=2)¦average(v§, weights=[1, 2, 3, 4])¦quantile(v§, 0.5)¦
    sum(v§, initial=2.0)¦sum(v§, where=v§ > 0)¦max(v§, initial=0.0)¦median(v§)¦dot(v§, v§)⟩)
keep§ = out§
""",
    """
q§ = np.sort(xs)
i§ = np.searchsorted(q§, ⟨a¦q§[1]⟩⟨¦, side="right"¦, side="left"⟩)
c§ = np.bincount([0, 2, 2], ⟨weights=[a, b, x]¦minlength=5¦None, 4⟩)
out§ = float(i§) + c§.sum() + len(c§)
keep§ = (i§, c§)
""",
    """
l§ = [a, b, a, x]
out§ = float(l§.⟨index(a, 1)¦count(a)¦pop(1)¦pop(-2)¦index(b)⟩)
l§.⟨insert(1, 9.0)¦insert(-1, 9.0)¦extend([1.0, 2.0])¦remove(a)¦sort(reverse=True)⟩
keep§ = l§
""",
    """
d§ = {"p": a, "q": b}
got§ = d§.⟨pop("p", 0.0)¦pop("r", x)¦get("q")¦get("r", -1.0)¦setdefault("r", x)¦setdefault("p", x)⟩
d§.update(⟨{"p": 1.0}¦q=2.0¦[("s", 3.0)]⟩)
out§ = got§ + sum(d§.values())
keep§ = d§
""",
    """
o§ = np.zeros(3)
np.add(xs, ⟨a¦1.0⟩, where=⟨[True, False, True]¦np.array(xs) > 0.0⟩, out=o§)
np.multiply(o§, ⟨2.0¦b⟩, ⟨o§¦out=o§⟩)
out§ = o§.sum()
keep§ = o§
""",
    """
m§ = np.array([[a, b], [x, 1.0]])
r§ = np.⟨concatenate([m§, m§], axis=1)¦concatenate([m§, m§])¦stack([m§, m§], axis=-1)¦repeat(m§, 2, axis=0)¦
    repeat(m§, 2)¦tile(m§, (1, 2))¦diff(m§, axis=0)¦flip(m§, axis=1)¦roll(m§, 1)¦roll(m§, 1, axis=0)¦
    cumsum(m§, axis=1)¦argmax(m§, axis=0)¦swapaxes(m§, 0, 1)⟩
out§ = float((r§.ravel() * np.arange(r§.size)).sum())
keep§ = r§
""",
    """
def f§(p, q=⟨a¦2.0⟩, *rest, scale=1.0, **more):
    return scale * (p + 2 * q + 3 * sum(rest) + 5 * sum(more.values()))
out§ = f§(⟨x¦x, b¦x, b, 1.0, 2.0¦*xs¦x, scale=b¦x, other=a¦q=x, p=b¦**{"p": a, "q": x}¦
    *[x], **{"scale": 2.0}⟩)
keep§ = out§
""",
    """
w§ = "a,b,,c"
p§ = w§.⟨split(",", 1)¦split(",")¦rsplit(",", 1)¦partition(",")¦replace(",", "-", 2)¦strip("a")¦find("b", 1)¦
    count(",")⟩
out§ = float(len(str(p§))) + a
keep§ = p§
""",
]

TRUTH = [
    """
f§ = np.⟨exp¦sqrt¦sin¦log1p¦negative¦abs⟩(⟨True¦z¦a > 0.0¦np.array([z, True])¦k⟩ + ⟨0¦0.0¦False⟩)
out§ = 1.0 * np.sum(f§)
keep§ = f§
""",
    """
out§ = float(np.exp(⟨True¦z⟩))
keep§ = (np.exp(⟨True¦z⟩), np.sqrt(z), math.exp(z))
""",
    """
l§ = [a, b]
out§ = l§[⟨z¦a > b¦True¦not z⟩] + ⟨l§[z]¦l§[-z]¦z * 2¦(z + True)⟩
keep§ = (z + z, z * 1, -z, z / 2, z // 1, ~k)
""",
    """
v§ = np.array([a, b, x])
w§ = v§[⟨v§ > 0¦[True, False, True]¦z¦np.array([z, z, True])¦[1, 0, 1]¦[0, True and 1]⟩]
out§ = 1.0 * w§.sum()
keep§ = w§
""",
    """
m§ = np.array([a, b, x]) > ⟨0.0¦a⟩
out§ = 1.0 * ⟨(m§ + m§).sum()¦(m§ * 2.0).sum()¦m§.sum() * m§.mean()¦(m§ & ~m§).sum()¦(~m§).sum()¦
    np.count_nonzero(m§)¦m§.any() + m§.all()⟩
keep§ = m§ ⟨| (m§ == z)¦+ m§¦* 2¦^ m§⟩
""",
    """
out§ = ⟨a or b¦0.0 or a¦k and a¦k or b¦z and a¦(z or b) * 1.0¦[] and 1 or x¦xs and xs[0] or 0.0¦not k¦
    (not a) + 1⟩
out§ = 1.0 * out§
keep§ = (k and a, k or b, z and k, [] or xs[0], not xs, "" or n, 0.0 or -0.0, None or z)
""",
    """
d§ = {True: a, 0: b}
d§[⟨1¦False¦1.0¦z¦k⟩] = x
out§ = sum(d§.values()) + len(d§)
keep§ = d§
""",
    """
e§ = np.array([⟨a¦0.0¦z⟩])
out§ = 1.0 if ⟨e§¦e§[0]¦e§.size¦e§.any()¦not e§¦e§ > 0⟩ else 2.0
keep§ = bool(e§[0])
""",
    """
nan§ = float("nan")
out§ = 1.0 * ⟨(nan§ < a)¦(nan§ != nan§)¦(0.0 == -0.0)¦(max(nan§, 1.0) == 1.0)¦(min([a, b]) <= b)¦(1 == True)¦
    (z == 1)¦(z is True)¦(a == a == a)⟩
keep§ = (math.copysign(1.0, -0.0 * abs(a)), nan§ == nan§, -0.0 + 0.0, isinstance(z, int), isinstance(k,
    float))
""",
    """
c§ = sum(⟨v > a for v in xs¦[z, True, k > 1]¦(v == v) for v in xs¦not v for v in [0.0, a, 0]⟩)
out§ = c§ / 2
keep§ = (c§, ⟨str(z)¦f"{z}{k}"¦"yes" * z¦[1] * (a > 0)⟩)
""",
    """
g§ = np.float64(a) > 0.0
h§ = ⟨g§ + 1¦g§ * 2.5¦g§ and b¦not g§¦~g§¦g§ | z¦int(g§)¦g§ == True⟩
out§ = 1.0 * h§
keep§ = (g§, h§)
""",
]

KEYS = [
    """
count§ = [0]
def next§():
    count§[0] += 1
    return count§[0]
for i in range(⟨2¦n⟩):
    ("c§", AT, next§()) @ ~normal(⟨a¦count§[0]⟩, 1)
out§ = float(count§[0])
keep§ = count§
""",
    """
names§ = [3, 2, 1]
c§ = ("c§", AT, names§.pop()) @ ~normal(⟨len(names§)¦a⟩, 1)
e§ = ("c§", AT, names§.pop(), ⟨"r"¦-1⟩) @ ~normal(c§, 1)
out§ = c§ + e§ + len(names§)
keep§ = names§
""",
    """
i§ = 0
c§ = ("c§", AT, (i§ := i§ + 1)) @ ~normal(⟨i§¦a⟩, 1)
e§ = ("c§", AT, (i§ := i§ + 1)) @ ~normal(c§, i§)
out§ = c§ - e§
keep§ = i§
""",
    """
mu§ = [0.0, ⟨a¦1.0⟩, b]
out§ = mu§[⟨-1¦-k - 1¦k - 3¦n - 4⟩]
mu§.⟨append(x)¦pop()¦insert(0, x)⟩
out§ += mu§[⟨-1¦-2¦-len(mu§)⟩]
keep§ = mu§
""",
    """
mu§ = [("c§", AT, j) @ ~normal(j, 1) for j in range(k)]
out§ = mu§[-1] if mu§ else ⟨-1.0¦a⟩
mu§.append(b)
out§ += mu§[⟨-1¦-len(mu§)¦k⟩]
keep§ = mu§
""",
    """
d§ = {-1: a, 0: b}
d§[⟨-1¦k - 1¦-n⟩] = x
d§[⟨k¦-k¦n - 2⟩] = d§.get(⟨-1¦-2¦0⟩, 0.5)
out§ = sum(key * value for key, value in d§.items())
keep§ = d§
""",
    """
c§ = {}
for i in range(-1, ⟨1¦n⟩):
    c§[i] = ("c§", AT, i) @ ~normal(⟨i¦c§.get(i - 1, a)⟩, 1)
out§ = c§[-1] + 2 * c§[0]
keep§ = c§
""",
    """
w§ = [0.0] * 3
for i in range(3):
    w§[⟨-i¦i - 3¦-1 - i⟩] = ⟨xs[i] + a¦xs[-i]¦i * b⟩
v§ = np.zeros(3)
v§[⟨-1¦-k - 1⟩] = a
out§ = w§[0] - w§[-1] + v§[2]
keep§ = (w§, v§)
""",
    """
label§ = f"c{⟨k¦len(xs)¦n⟩}"
c§ = (label§ + "§", AT) @ ~normal(a, 1)
e§ = ("c§", AT, ⟨("p", k)¦"q"¦k⟩) @ ~normal(c§, 1)
out§ = c§ + e§
keep§ = label§
""",
    """
grid§ = {}
for i in range(2):
    for j in range(⟨2¦i + 1¦n⟩):
        grid§[i, j - 1] = ("c§", AT, i, j) @ ~normal(grid§.get((i - 1, j - 1), ⟨a¦0.0⟩), 1)
out§ = grid§[1, -1] + len(grid§)
keep§ = grid§
""",
]

DECORATED = [
    """
log§ = []
def logged§(f):
    @functools.wraps(f)
    def wrapper(*args, **options):
        log§.append(args[0])
        return f(*args, **options)
    return wrapper
@logged§
def scaled§(v, by=2.0):
    return v * by
out§ = scaled§(a) + scaled§(⟨b¦x, by=n¦x, 3.0⟩)
keep§ = (log§, scaled§.__name__)
""",
    """
def twice§(f):
    return lambda *args: ⟨2.0 * f(*args)¦f(f(*args))¦f(*args) + f(*args)⟩
@twice§
⟨@twice§¦⟩
def g§(v):
    return v + ⟨1.0¦a⟩
out§ = g§(⟨b¦x⟩)
keep§ = out§
""",
    """
def times§(factor):
    def decorate(f):
        def wrapper(v):
            return factor * f(v)
        return wrapper
    return decorate
@times§(⟨a¦2.0¦n⟩)
@times§(-1.0)
def h§(v):
    return v - ⟨x¦1.0⟩
out§ = h§(b) + sum(map(h§, xs))
keep§ = out§
""",
    """
calls§ = []
@functools.⟨lru_cache(maxsize=None)¦cache¦lru_cache⟩
def slow§(v):
    calls§.append(v)
    return v * v
out§ = slow§(⟨n¦k⟩) + slow§(⟨n¦2⟩) + slow§(a)
keep§ = calls§
""",
    """
p§ = functools.partial(⟨pow, n + 1¦max, a¦round, ndigits=1⟩)
out§ = 1.0 * p§(⟨k + 1¦2⟩)
q§ = functools.reduce(lambda s, v: ⟨s + v¦s * v + 1¦max(s, v)⟩, xs, ⟨a¦0.0⟩)
out§ += q§
keep§ = q§
""",
    """
class Counter§:
    made = 0
    def __init__(self, start):
        self.value = start
        Counter§.made += 1
    @property
    def double(self):
        self.value += 1
        return 2 * self.value
    @staticmethod
    def plain(v):
        return v + 1
    @classmethod
    def of(cls, v):
        return cls(v ⟨+ 1¦* 2⟩)
    def __call__(self, v):
        self.value += v
        return self.value
c§ = Counter§.of(a)
out§ = c§.double + c§.double ⟨+ Counter§.plain(b)¦- c§(x)¦+ c§.plain(n)⟩
keep§ = (c§.value, Counter§.made)
""",
    """
@dataclass(⟨frozen=True¦order=True¦⟩)
class P§:
    u: float
    v: float = ⟨1.0¦0.5⟩
    w: list = field(default_factory=list)
one§, two§ = P§(a), P§(a, b)
one§.w.append(x)
out§ = one§.u + two§.v + len(two§.w) + (one§ == P§(a⟨, w=[x]¦⟩))
keep§ = (one§.w, two§.w)
""",
    """
@functools.singledispatch
def show§(v):
    return 1.0
@show§.register
def _(v: float):
    return v
@show§.register(list)
def _(v):
    return float(len(v))
out§ = show§(⟨a¦xs¦k⟩) + show§(⟨"s"¦[a, b]¦b⟩)
keep§ = out§
""",
    """
def clipped§(low, high):
    def decorate(f):
        return lambda v: min(max(f(v), low), high)
    return decorate
@clipped§(-1.0, ⟨1.0¦a + 2¦n⟩)
def c§(v):
    return ⟨3 * v¦v + b⟩
values§ = [c§(v) for v in xs]
out§ = sum(values§)
keep§ = values§
""",
]

BINDING = [
    """
s§ = ⟨2.0¦a⟩
g§ = (v * s§ for v in xs)
s§ = ⟨5.0¦b⟩
out§ = sum(g§)
keep§ = out§
""",
    """
fs§ = [⟨lambda v: v * i¦lambda v, i=i: v * i¦lambda v: v + i¦
    (lambda j: lambda v: v * j)(i)⟩ for i in range(3)]
out§ = sum(f(⟨a¦b⟩) for f in fs§)
keep§ = out§
""",
    """
fs§ = []
for i in range(⟨3¦n⟩):
    fs§.append(⟨lambda: i + a¦lambda i=i: i + a¦lambda: xs[i % 3]⟩)
i = ⟨10¦-1⟩
out§ = sum(f() for f in fs§)
keep§ = out§
""",
    """
w§ = 1.0
def read§():
    return w§ * ⟨a¦2.0⟩
before§ = read§()
w§ ⟨= b¦+= 1.0¦*= 3.0⟩
out§ = before§ - read§()
keep§ = w§
""",
    """
def counter§():
    c = ⟨0.0¦a⟩
    def up(by=1.0):
        nonlocal c
        c += by
        return c
    return up
one§, two§ = counter§(), counter§()
out§ = one§() + one§(⟨b¦2.0⟩) + two§()
keep§ = one§(0.0)
""",
    """
default§ = [⟨a¦x⟩]
def f§(v, box=⟨default§¦default§[:]¦list(default§)⟩):
    box.append(v)
    return sum(box)
default§ ⟨= [100.0]¦+= [100.0]¦.append(1.0)⟩
out§ = f§(1.0) + f§(b)
keep§ = default§
""",
    """
i = -1
squares§ = [i * i for i in range(⟨4¦n + 1⟩)]
after§ = i
for i in range(⟨k¦2¦0⟩):
    pass
out§ = sum(squares§) + after§ + i * ⟨a¦1.0⟩
keep§ = (after§, i)
""",
    """
sum§ = lambda values: ⟨max(values)¦len(values)⟩
max§ = sum
out§ = sum§(xs) + max§(⟨xs¦[a, b]⟩)
def min(p, q):
    return p ⟨+ q¦- q⟩
out§ += min(a, 1.0)
keep§ = out§
""",
    """
vars, dir, input = a, b, ⟨x¦1.0⟩
list§ = [vars, dir, input]
id = ⟨list§[k]¦sum(list§)⟩
out§ = vars + 2 * dir - id
keep§ = list§
""",
    """
if ⟨z¦k > 0¦a > b⟩:
    def h§(v):
        return v + 1.0
else:
    h§ = lambda v: v * ⟨b¦-1.0⟩
out§ = h§(⟨a¦x⟩)
keep§ = out§
""",
    """
late§ = lambda: helper§(⟨a¦x⟩)
def helper§(v):
    return v * ⟨2.0¦n⟩
first§ = late§()
def helper§(v):
    return v - 1.0
out§ = first§ + late§()
keep§ = out§
""",
    """
m§ = map(lambda v: v + t§, xs)
t§ = ⟨a¦1.0⟩
f§ = filter(lambda v: v > u§, m§)
u§ = ⟨b¦-9.0⟩
got§ = list(f§)
t§ = 100.0
out§ = sum(got§) + len(got§)
keep§ = got§
""",
    """
base§ = a
class K§:
    base = ⟨b¦base§ + 1⟩
    rate = [base, base§]
    def get(self):
        return base§ + self.base
base§ = ⟨x¦3.0⟩
out§ = K§().get() + sum(K§.rate)
keep§ = K§.rate
""",
]

GROWTH = [
    """
queue§ = [⟨a¦0.0⟩]
for q in queue§:
    if len(queue§) < ⟨4¦n + 2⟩:
        queue§.append(q ⟨+ 1¦* 0.5 + 1⟩)
out§ = sum(queue§)
keep§ = queue§
""",
    """
l§ = [1, 2, 3, 4]
for v in l§:
    if v ⟨% 2 == 0¦== 2¦> k⟩:
        l§.remove(v)
out§ = 1.0 * sum(l§)
keep§ = l§
""",
    """
d§ = {"p": a, "q": b}
for key in ⟨list(d§)¦tuple(d§)¦sorted(d§)⟩:
    d§[key + "2"] = d§[key] + ⟨1.0¦len(d§)⟩
    ⟨del d§[key]¦d§.pop(key)¦pass⟩
out§ = sum(d§.values()) + len(d§)
keep§ = d§
""",
    """
l§ = [a]
for i in range(len(l§) + ⟨1¦n⟩):
    l§ ⟨+= l§¦.extend(l§)¦= l§ + l§¦.extend(reversed(l§))⟩
    l§[-1] += i
out§ = sum(l§) / len(l§)
keep§ = l§
""",
    """
l§ = [a, b]
for i, v in enumerate(l§):
    if i < ⟨3¦n⟩:
        l§.⟨append(v + i)¦insert(0, v)¦append(l§[0])⟩
    if len(l§) > 5:
        break
out§ = sum(i * v for i, v in enumerate(l§))
keep§ = l§
""",
    """
l§ = [a, b, x]
l§[⟨1:1¦:0¦2:¦1:2¦::2¦len(l§):⟩] = ⟨[9.0, 8.0]¦l§[:2]¦(v + 1 for v in xs[:2])⟩
del l§[⟨0¦-1¦1:2⟩]
out§ = sum(i * v for i, v in enumerate(l§, 1))
keep§ = l§
""",
    """
stack§ = [(0, ⟨a¦1.0⟩)]
total§ = 0.0
while stack§:
    depth, v = stack§.pop(⟨¦0⟩)
    total§ += v * (depth + 1)
    if depth < ⟨2¦n⟩:
        stack§.append((depth + 1, v / 2))
        stack§ ⟨.append((depth + 1, -v))¦+= [(depth + 1, b)]⟩
out§ = total§
keep§ = stack§
""",
    """
p§ = [1.0, 2.0]
pairs§ = []
for u, w in zip(p§, ⟨xs¦range(5)¦list(xs)⟩):
    pairs§.append(u * w)
    if len(p§) < 3:
        p§.append(⟨a¦u⟩)
out§ = sum(pairs§)
keep§ = (p§, pairs§)
""",
    """
l§ = [a, b, x]
for v in ⟨reversed(l§)¦l§[:]¦list(l§)¦tuple(l§)⟩:
    l§.append(v)
    if len(l§) > 8:
        break
out§ = sum(i * v for i, v in enumerate(l§))
keep§ = l§
""",
    """
d§ = {0: a}
for key in d§:
    ⟨d§[key] = b¦d§[key] += b¦d§[key + 1] = b¦d§[key] -= x⟩
out§ = sum(d§.values())
keep§ = d§
""",
    """
s§ = {1, 2}
grown§ = []
while len(s§) < ⟨4¦n + 2⟩:
    s§ ⟨.add(len(s§) + 1)¦|= {len(s§) + 1}¦= s§ | {max(s§) + 1}⟩
    grown§.append(sorted(s§))
out§ = 1.0 * sum(s§)
keep§ = grown§
""",
    """
c§ = []
while len(c§) < ⟨k + 1¦n⟩:
    c§.append(("c§", AT, len(c§)) @ ~normal(⟨c§[-1] if c§ else a¦len(c§)⟩, 1))
for v in list(c§):
    if v < 0:
        c§.append(-v)
out§ = sum(c§)
keep§ = c§
""",
]

SEVERAL_TYPES = [
    """
v§ = ⟨None if z else a¦(a, b) if z else x¦[a] if k else 0.5¦"word" if z else n⟩
if v§ is None:
    out§ = 0.0
elif isinstance(v§, (tuple, list)):
    out§ = sum(v§) + len(v§)
else:
    out§ = float(len(v§)) if isinstance(v§, str) else v§ + 1.0
keep§ = v§
""",
    """
last§ = None
gaps§ = []
for v in xs + [a]:
    if last§ is not None:
        gaps§.append(v - last§)
    last§ = ⟨v¦v if v > 0 else last§¦None if v > 1 else v⟩
out§ = sum(gaps§)
keep§ = (gaps§, last§)
""",
    """
class Leaf§:
    def __init__(self, v):
        self.v = v
    def total(self):
        return self.v
class Node§:
    def __init__(self, *parts):
        self.parts = parts
    def total(self):
        return ⟨1.0¦-1.0⟩ + sum(part.total() for part in self.parts)
tree§ = Node§(Leaf§(a), ⟨Leaf§(b) if z else Node§(Leaf§(x), Leaf§(b))¦Node§(*[Leaf§(v) for v in xs[:k]])⟩)
out§ = tree§.total()
keep§ = len(tree§.parts)
""",
    """
items§ = [a, "two", (b, 3), None, [x]]
kinds§ = []
for item in items§:
    match item:
        case None:
            kinds§.append(0.0)
        case str():
            kinds§.append(float(len(item)))
        case (p, q):
            kinds§.append(p ⟨+¦*⟩ q)
        case [p]:
            kinds§.append(-p)
        case float() ⟨if item > 0¦⟩:
            kinds§.append(item)
        case _:
            kinds§.append(⟨9.0¦b⟩)
out§ = sum(kinds§)
keep§ = kinds§
""",
    """
def depth§(t):
    return 0 if not isinstance(t, tuple) else 1 + max(depth§(part) for part in t)
def total§(t):
    return t if isinstance(t, float) else sum(total§(part) for part in t)
t§ = a
for i in range(⟨k¦n⟩):
    t§ = (t§, ⟨b¦x⟩) if i % 2 == 0 else (x, t§)
out§ = total§(t§) + depth§(t§)
keep§ = t§
""",
    """
d§ = {}
for i, v in enumerate(⟨[a, None, x]¦[None, None, b]¦xs⟩):
    d§["last" if v is None else i] = v
out§ = sum(v for v in d§.values() if v is not None)
keep§ = d§
""",
]

RAISES = [
    """
l§ = [a, b]
try:
    l§.append(l§[⟨k + 1¦2¦-3¦n⟩])
except IndexError:
    l§.append(-1.0)
out§ = sum(l§)
keep§ = l§
""",
    """
d§ = {"p": a}
out§ = d§[⟨"p"¦"q" if z else "p"¦"p" if a > 0 else "q"⟩]
keep§ = d§
""",
    """
l§ = [a] * ⟨n¦k⟩
out§ = l§[⟨0¦1¦-1¦k⟩]
keep§ = l§
""",
    """
out§ = ⟨1 / k¦math.sqrt(a)¦math.log(b)¦xs[k + 1]¦float("1e" + str(k))¦[].pop() if z else a¦
    int("x") if k == 2 else x¦math.exp(1000 * a)⟩
keep§ = out§
""",
    """
assert ⟨z¦k != 1¦a > -1, "low"⟩
out§ = a
keep§ = None
""",
    """
u§ = []
try:
    u§.append(1.0)
    u§.append(⟨1 / k¦math.sqrt(a)¦xs[n]⟩)
    u§.append(2.0)
except (ZeroDivisionError, ValueError, IndexError) as error:
    u§.append(float(len(type(error).__name__)))
finally:
    u§.append(b)
out§ = sum(u§)
keep§ = u§
""",
    """
def positive§(v):
    if v < ⟨0.0¦-1.0⟩:
        raise ValueError(v)
    return v
out§ = positive§(⟨a¦b + 1⟩)
keep§ = out§
""",
]

TEMPLATES: dict[str, list[str]] = {
    "identity": IDENTITY,
    "in place": IN_PLACE,
    "effects": EFFECTS,
    "types": TYPES,
    "arguments": ARGUMENTS,
    "truth": TRUTH,
    "keys": KEYS,
    "decorated": DECORATED,
    "binding": BINDING,
    "growth": GROWTH,
    "several types": SEVERAL_TYPES,
    "raises": RAISES,
}
