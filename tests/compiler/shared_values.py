"""Programs whose values are reachable in more than one way, or change while something goes through them.

`SHARED` are those of which an earlier compiler got something wrong, `ALONE` those that update incrementally
because nothing else reaches what they change. Each begins with a comment, its name.
"""

SHARED = '''
# identity alias of list, plain
def ident(v):
    return v
@gen
def program(x, n, xs, xss):
    a = ~normal(x, 1)
    v = [a]
    w = ident(v)
    v.append(3.0)
    y = ~normal(sum(w), 1)
    return w, v

# nested view np.asarray(a).T
@gen
def program(x, n, xs, xss):
    a = ~normal(x, 1)
    v = np.array([a, 0.0])
    w = np.asarray(v).T
    v[1] = a + 1
    y = ~normal(w[1], 1)
    return y

# view reshape then T
@gen
def program(x, n, xs, xss):
    a = ~normal(x, 1)
    v = np.zeros(4)
    w = v.reshape(2, 2).T
    v[1] = a + 1
    y = ~normal(w[1, 0] + w[0, 1], 1)
    return y

# row loop var of nested list
@gen
def program(x, n, xs, xss):
    a = ~normal(x, 1)
    v = [[0.0], [1.0]]
    for r in v:
        r.append(a)
    y = ~normal(sum(v[0]), 1)
    return v

# row loop var of nested list with choices
@gen
def program(x, n, xs, xss):
    v = [[0.0], [1.0]]
    for i, r in enumerate(v):
        a = ("a", i) @ ~normal(x, 1)
        r.append(a)
    y = ~normal(sum(v[0]), 1)
    return v

# nested write v[0].append
@gen
def program(x, n, xs, xss):
    a = ~normal(x, 1)
    v = [[0.0], [1.0]]
    w = v[0]
    v[0].append(a)
    y = ~normal(sum(w), 1)
    return v, w

# nested write deep copy needed
@gen
def program(x, n, xs, xss):
    a = ~normal(x, 1)
    v = [[0.0], [1.0]]
    v[0].append(a)
    b = ~normal(sum(v[0]), 1)
    v[0].append(b)
    y = ~normal(sum(v[0]), 1)
    return v

# [[0]*n]*m
@gen
def program(x, n, xs, xss):
    a = ~normal(x, 1)
    v = [[0.0] * 2] * 2
    v[0][1] = a
    y = ~normal(v[1][1], 1)
    return v

# nested index write in two loops
@gen
def program(x, n, xs, xss):
    v = [[0.0] * 2 for _ in range(n)]
    for i in range(n):
        for j in range(2):
            v[i][j] = ~normal(x, 1)
    y = ~normal(sum(map(sum, v)), 1)
    return v

# list(v) shallow copy of nested
@gen
def program(x, n, xs, xss):
    a = ~normal(x, 1)
    v = [[0.0], [1.0]]
    w = list(v)
    v[0].append(a)
    y = ~normal(sum(w[0]), 1)
    return v, w

# dict holding list
@gen
def program(x, n, xs, xss):
    a = ~normal(x, 1)
    v = [0.0]
    t = dict(k=v)
    v.append(a)
    y = ~normal(sum(t["k"]), 1)
    return v, t

# aug of call result
@gen
def program(x, n, xs, xss):
    a = ~normal(x, 1)
    v = np.zeros(3)
    w = np.asarray(v)
    w += a
    y = ~normal(v.sum(), 1)
    return y

# aug of user call result
def same(v):
    return v
@gen
def program(x, n, xs, xss):
    a = ~normal(x, 1)
    v = np.zeros(3)
    w = same(v)
    w += a
    y = ~normal(v.sum(), 1)
    return y

# lambda late binding
@gen
def program(x, n, xs, xss):
    a = ~normal(x, 1)
    f = lambda: a
    b = ~normal(f(), 1)
    a = a + 1
    y = ~normal(f(), 1)
    return a

# lambda late binding before def
@gen
def program(x, n, xs, xss):
    f = lambda: a
    a = ~normal(x, 1)
    y = ~normal(f(), 1)
    return a

# generator expression consumed later
@gen
def program(x, n, xs, xss):
    a = ~normal(x, 1)
    g = (a * t for t in range(3))
    b = ~normal(sum(g), 1)
    y = ~normal(sum(g), 1)
    return a

# map stored
@gen
def program(x, n, xs, xss):
    z = map(float, xs)
    for i, p in enumerate(z):
        if ("stop", i) @ ~bernoulli(0.5):
            break
    r = list(z)
    y = ~normal(len(r), 1)
    return r

# iterator param through enumerate break then rest
@gen
def program(x, n, xs, xss):
    z = iter([0.5, 1.0, 2.0])
    for p in z:
        a = ("a", p) @ ~normal(p, 1)
        if a > x:
            break
    y = ~normal(sum(z), 1)
    return y

# itertools.count with break
@gen
def program(x, n, xs, xss):
    for i in itertools.count():
        if ("stop", i) @ ~bernoulli(0.5):
            break
    y = ~normal(i, 1)
    return i

# iter two-arg, cycle
@gen
def program(x, n, xs, xss):
    t = 0.0
    for i, v in enumerate(itertools.cycle([1.0, 2.0])):
        t += ("a", i) @ ~normal(v, 1)
        if t > x or i > 5:
            break
    y = ~normal(t, 1)
    return t

# mutation of iterated list by append unconditional with break
@gen
def program(x, n, xs, xss):
    v = [0.5]
    for t in v:
        a = ("a", len(v)) @ ~normal(t, 1)
        v.append(a)
        if len(v) > 3:
            break
    return v

# walrus in call
@gen
def program(x, n, xs, xss):
    a = ~normal((b := x + 1), 1)
    y = ~normal(a + b, 1)
    return b

# array choice aliased then augmented
@gen
def program(x, n, xs, xss):
    v = ~mvnormal([x, 0.0], np.eye(2))
    w = v
    w += 1.0
    y = ~normal(v.sum(), 1)
    return v

# array choice view changed
@gen
def program(x, n, xs, xss):
    v = ~mvnormal([x, 0.0], np.eye(2))
    w = v[1:]
    w += 1.0
    y = ~normal(v.sum(), 1)
    return v

# call result aliasing argument
@gen
def sub(v):
    a = ~normal(0, 1)
    return v
@gen
def program(x, n, xs, xss):
    u = [x]
    w = ~sub(u)
    w += [1.0]
    y = ~normal(sum(u), 1)
    return u

# chained assignment aliasing
@gen
def program(x, n, xs, xss):
    a = ~normal(x, 1)
    v = w = [0.0]
    v.append(a)
    y = ~normal(sum(w), 1)
    return v, w

# object attr of pure method with state
class Counter:
    def __init__(self):
        self.n = 0
    def get(self):
        self.n += 1
        return self.n
@gen
def program(x, n, xs, xss):
    c = Counter()
    a = ~normal(x + c.get(), 1)
    b = ~normal(a + c.get(), 1)
    return c.n

# array view row var
@gen
def program(x, n, xs, xss):
    a = ~normal(x, 1)
    v = np.zeros((2, 2))
    for row in v:
        row += a
    y = ~normal(v.sum(), 1)
    return v

# array view row var with choices
@gen
def program(x, n, xs, xss):
    v = np.zeros((2, 2))
    for i, row in enumerate(v):
        row += ("a", i) @ ~normal(x, 1)
    y = ~normal(v.sum(), 1)
    return v

# while else, for else
@gen
def program(x, n, xs, xss):
    for i in range(n):
        if ("s", i) @ ~bernoulli(0.3):
            break
    else:
        e = ~normal(x, 1)
    return i if n else None

# iteration uses var of previous iteration only if set
@gen
def program(x, n, xs, xss):
    for i in range(n):
        if i > 0:
            p = prev
        else:
            p = 0.0
        prev = ("v", i) @ ~normal(p, 1)
    return n

# passing nested to call that pushes
def push0(t, a):
    t[0].append(a)
@gen
def program(x, n, xs, xss):
    a = ~normal(x, 1)
    v = [0.0]
    push0((v, 1), a)
    y = ~normal(sum(v), 1)
    return v

# passing via starred / kwargs
@gen
def program(x, n, xs, xss):
    a = ~normal(x, 1)
    v = [0.0]
    push(*[v, a])
    push(**{"values": v, "x": a})
    y = ~normal(sum(v), 1)
    return v

# passing element to call that pushes
@gen
def program(x, n, xs, xss):
    a = ~normal(x, 1)
    v = [[0.0]]
    push(v[0], a)
    y = ~normal(sum(v[0]), 1)
    return v

# callback map push
@gen
def program(x, n, xs, xss):
    a = ~normal(x, 1)
    v = [0.0]
    list(map(v.append, [a, 1.0]))
    y = ~normal(sum(v), 1)
    return v

# bound method stored
@gen
def program(x, n, xs, xss):
    a = ~normal(x, 1)
    v = [0.0]
    add = v.append
    add(a)
    y = ~normal(sum(v), 1)
    return v

# lambda changes list
@gen
def program(x, n, xs, xss):
    a = ~normal(x, 1)
    v = [0.0]
    add = lambda t: v.append(t)
    add(a)
    y = ~normal(sum(v), 1)
    return v

# change via comprehension variable
@gen
def program(x, n, xs, xss):
    a = ~normal(x, 1)
    v = [[0.0], [1.0]]
    w = [r.append(a) for r in v]
    y = ~normal(sum(v[0]), 1)
    return v

# np functions with out positional
@gen
def program(x, n, xs, xss):
    a = ~normal(x, 1)
    v = np.zeros(2)
    np.add(v, a, v)
    np.fill_diagonal(u := np.zeros((2, 2)), a)
    y = ~normal(v.sum() + u.sum(), 1)
    return v

# carried alias then augmented in loop
@gen
def program(x, n, xs, xss):
    v = [x]
    w = v
    for t in range(n):
        w += [("z", t) @ ~normal(0, 1)]
    y = ~normal(sum(v), 1)
    return v, w

# conditional alias then augmented
@gen
def program(x, n, xs, xss):
    a = ~normal(x, 1)
    v = [x]
    w = [0.0]
    if x > -5:
        w = v
    w += [a]
    y = ~normal(sum(v), 1)
    return v, w

# aug inside if of aliased
@gen
def program(x, n, xs, xss):
    a = ~normal(x, 1)
    v = [x]
    w = v
    if x > -5:
        w += [a]
    y = ~normal(sum(v), 1)
    return v, w

# list of lists aug subscript
@gen
def program(x, n, xs, xss):
    a = ~normal(x, 1)
    v = [[0.0], [1.0]]
    v[0] += [a]
    w = list(v)
    v[0] += [a]
    y = ~normal(sum(w[0]), 1)
    return v, w

# list of arrays aug subscript
@gen
def program(x, n, xs, xss):
    a = ~normal(x, 1)
    v = [np.zeros(2) for _ in range(2)]
    w = [u for u in v]
    v[0] += a
    y = ~normal(w[0].sum(), 1)
    return v, w

# view of 2-D array row in loop
@gen
def program(x, n, xs, xss):
    v = np.zeros((3, 2))
    r = v[0]
    for i in range(3):
        v[i] = ("r", i) @ ~mvnormal(r, np.eye(2))
    y = ~normal(r.sum(), 1)
    return v

# view of row within iteration
@gen
def program(x, n, xs, xss):
    v = np.zeros((3, 2))
    for i in range(3):
        r = v[i]
        v[i] = ("r", i) @ ~mvnormal([x, 0.0], np.eye(2))
        s = ("s", i) @ ~normal(r.sum(), 1)
    return v

# row captured by comprehension from array
@gen
def program(x, n, xs, xss):
    v = np.zeros((3, 2))
    a = ~normal(x, 1)
    rows = [r for r in v]
    v[0, 1] = a
    y = ~normal(rows[0].sum(), 1)
    return v

# rows captured in lowered loop
@gen
def program(x, n, xs, xss):
    v = np.zeros((3, 2))
    rows = []
    for i, r in enumerate(v):
        b = ("b", i) @ ~normal(x, 1)
        rows.append(r)
    v[0, 1] = 5.0 + x
    y = ~normal(rows[0].sum(), 1)
    return v

# list(arr2d)
@gen
def program(x, n, xs, xss):
    v = np.zeros((3, 2))
    a = ~normal(x, 1)
    rows = list(v)
    v[0, 1] = a
    y = ~normal(rows[0].sum(), 1)
    return v

# star of array rows
@gen
def program(x, n, xs, xss):
    v = np.zeros((3, 2))
    a = ~normal(x, 1)
    first, *rest = v
    v[0, 1] = a
    y = ~normal(first.sum(), 1)
    return v

# unset used in short circuit
@gen
def program(x, n, xs, xss):
    a = ~normal(x, 1)
    if a > 0:
        q = ~normal(a, 1)
    z = ~normal(q if a > 0 else 0.0, 1)
    w = [q for _ in range(3)] if a > 0 else []
    return a > 0 and q

# match capture alias
@gen
def program(x, n, xs, xss):
    a = ~normal(x, 1)
    v = [1.0]
    match v:
        case w:
            w2 = w
    v.append(a)
    y = ~normal(sum(w2), 1)
    return w2

# with as alias
@gen
def program(x, n, xs, xss):
    a = ~normal(x, 1)
    v = [1.0]
    with contextlib.nullcontext(v) as w:
        pass
    v.append(a)
    y = ~normal(sum(w), 1)
    return w

# dict items view
@gen
def program(x, n, xs, xss):
    a = ~normal(x, 1)
    d = {"a": 0.0}
    vals = d.values()
    d["a"] = a
    y = ~normal(sum(vals), 1)
    return d

# dict get row
@gen
def program(x, n, xs, xss):
    a = ~normal(x, 1)
    d = {"a": [0.0]}
    r = d.get("a")
    r += [a]
    y = ~normal(sum(d["a"]), 1)
    return d

# max of two lists
@gen
def program(x, n, xs, xss):
    a = ~normal(x, 1)
    v, w = [0.0], [1.0]
    u = max(v, w)
    u += [a]
    y = ~normal(sum(w), 1)
    return v, w

# helper keeps list in returned closure
def keeper(v):
    return lambda: sum(v)
@gen
def program(x, n, xs, xss):
    a = ~normal(x, 1)
    v = [0.0]
    f = keeper(v)
    v.append(a)
    y = ~normal(f(), 1)
    return v

# helper returns tuple holding arg
def tag(v):
    return 1, v
@gen
def program(x, n, xs, xss):
    a = ~normal(x, 1)
    v = [0.0]
    k, w = tag(v)
    v.append(a)
    y = ~normal(sum(w), 1)
    return v

# generative callee keeps list in its return value
@gen
def tag(v):
    b = ~normal(0, 1)
    return {"v": v}
@gen
def program(x, n, xs, xss):
    a = ~normal(x, 1)
    v = [0.0]
    w = ~tag(v)
    v.append(a)
    y = ~normal(sum(w["v"]), 1)
    return v

# generative callee mutates nested
@gen
def tag(v):
    b = ~normal(0, 1)
    v[0].append(b)
    return b
@gen
def program(x, n, xs, xss):
    a = ~normal(x, 1)
    v = [[0.0]]
    w = ~tag(v)
    y = ~normal(sum(v[0]), 1)
    return v

# heapq global
import heapq, bisect
@gen
def program(x, n, xs, xss):
    v = []
    for i in range(n):
        heapq.heappush(v, ("a", i) @ ~normal(x, 1))
    bisect.insort(v, 0.3)
    y = ~normal(v[0], 1)
    return v

# heapq on alias
import heapq
@gen
def program(x, n, xs, xss):
    a = ~normal(x, 1)
    v = [0.0]
    w = v
    heapq.heappush(w, a)
    y = ~normal(v[-1], 1)
    return v

# zip with count
@gen
def program(x, n, xs, xss):
    for u, i in zip(xs, itertools.count()):
        ("a", i) @ ~normal(u, 1)
    w = [("b", i) @ ~normal(u, 1) for u, i in zip(xs, itertools.count(1))]
    return w

# user generator with break
def naturals():
    i = 0
    while True:
        yield i
        i += 1
@gen
def program(x, n, xs, xss):
    for i in naturals():
        a = ("a", i) @ ~normal(x, 1)
        if a > 0 or i > 4:
            break
    return i

# iterating a list in reversed while appended
@gen
def program(x, n, xs, xss):
    v = [0.5, x]
    for i, t in enumerate(reversed(v)):
        v.append(("a", i) @ ~normal(t, 1))
    return v

# pop in site
@gen
def program(x, n, xs, xss):
    v = [x, 1.0, 2.0]
    a = ~normal(v.pop(), 1)
    b = ~normal(v.pop(), 1)
    return v

# pop in return
@gen
def program(x, n, xs, xss):
    v = [x, 1.0, 2.0]
    a = ~normal(v[-1], 1)
    return v.pop(), v

# pop in test
@gen
def program(x, n, xs, xss):
    v = [x, 1.0, 0.0]
    if v.pop():
        a = ~normal(v[-1], 1)
    else:
        b = ~normal(v[-1], 1)
    return v

# pop in loop source and while test
@gen
def program(x, n, xs, xss):
    v = [2, 0, 3, 1]
    for i in range(v.pop()):
        a = ("a", i) @ ~normal(v[-1], 1)
    k = 0
    while v.pop():
        k += 1
        b = ("b", k) @ ~normal(v[-1], 1)
    return v

# pop in address
@gen
def program(x, n, xs, xss):
    v = [2, 0, 3, 1]
    ("a", v.pop()) @ ~normal(x, 1)
    ("a", v.pop()) @ ~normal(x, 1)
    return v

# append in argument expression of choice hoisted
@gen
def program(x, n, xs, xss):
    v = [0.5]
    y = (v.append(1.0), "a" @ ~normal(sum(v), 1))[1] + sum(v)
    z = ~normal(y, 1)
    return v

# walrus choice read beside
@gen
def program(x, n, xs, xss):
    k = 1.0
    y = k + (k := ~normal(x, 1))
    z = ~normal(y + k, 1)
    return y

# carried list mutated by alias of previous iteration
@gen
def program(x, n, xs, xss):
    prev = [0.0]
    for i in range(n):
        cur = prev
        a = ("a", i) @ ~normal(sum(prev), 1)
        cur.append(a)
        prev = cur
    y = ~normal(sum(prev), 1)
    return prev

# np.clip out positional
@gen
def program(x, n, xs, xss):
    a = ~normal(x, 1)
    v = np.array([1.0, a, 0.0])
    np.clip(v, 0, 1, v)
    np.cumsum(v, 0, None, v)
    np.multiply(v, 2, v)
    y = ~normal(v.sum(), 1)
    return v

# short circuit with walrus in while test
@gen
def program(x, n, xs, xss):
    k = 0
    while (b := ("b", k) @ ~bernoulli(0.6)) and k < 4:
        k += 1
    y = ~normal(k + b, 1)
    return k, b
'''

ALONE = '''
# random walk from parameter
@gen
def program(x, n, xs, xss):
    z = x
    for t in range(n):
        z += ("z", t) @ ~normal(0, 1)
    y = ~normal(z, 1)
    return z

# self methods
class M:
    def __init__(self):
        self.s = 2.0
    def drift(self, z):
        return self.s * z
    @gen
    def step(self, z):
        d = self.drift(z)
        a = ~normal(self.drift(d), 1)
        for i in range(2):
            b = ("b", i) @ ~normal(self.drift(a) + i, 1)
        return a + b
m = M()
@gen
def program(x, n, xs, xss):
    w = "w" @ ~m.step(x)
    u = "u" @ ~m.step(w)
    return u

# carried via tuple state
@gen
def program(x, n, xs, xss):
    s = (x, 0)
    for t in range(n):
        z, c = s
        z = ("z", t) @ ~normal(z, 1)
        s = (z, c + 1)
    y = ~normal(s[0] + s[1], 1)
    return s

# tuple key dict single loop with get
@gen
def program(x, n, xs, xss):
    m = {}
    for i in range(n):
        m[i] = ~normal(m.get(i - 1, x), 1)
    y = ~normal(sum(m.values()), 1)
    return m

# negative index reads
@gen
def program(x, n, xs, xss):
    v = [x]
    for i in range(n):
        v.append(("v", i) @ ~normal(v[-1], 1))
    y = ~normal(v[-1], 1)
    return v

# array in place
@gen
def program(x, n, xs, xss):
    a = ~normal(x, 1)
    v = np.zeros(3)
    v[0] = a
    w = v.copy()
    v[1] = 2 * a
    v += 1
    np.add(v, a, out=v)
    y = ~normal(v.sum() + w.sum(), 1)
    return v, w

# callee result changed in place
@gen
def sub(k):
    v = [("v", i) @ ~normal(0, 1) for i in range(k)]
    return v
@gen
def program(x, n, xs, xss):
    v = ~sub(n)
    u = list(v)
    u.append(1.0)
    y = ~normal(sum(u), 1)
    return u

# aug subscript in loop
@gen
def program(x, n, xs, xss):
    v = [0.0] * 2
    for i in range(n):
        k = ("k", i) @ ~bernoulli(0.5)
        v[int(k)] += ("a", i) @ ~normal(x, 1)
    y = ~normal(v[0] - v[1], 1)
    return v

# nested loops row built
@gen
def program(x, n, xs, xss):
    v = []
    for i, row in enumerate(xss):
        r = []
        for j, t in enumerate(row):
            r.append(("v", i, j) @ ~normal(t, 1))
        v.append(r)
    y = ~normal(sum(map(sum, v)), 1)
    return v

# star args call
@gen
def sub(*args, **kw):
    a = ~normal(sum(args) + kw.get("z", 0.0), 1)
    return a
@gen
def program(x, n, xs, xss):
    v = [("v", i) @ ~normal(x, 1) for i in range(n)]
    s = ~sub(*v, z=x)
    t = "t" @ ~sub(*v, *xs, **{"z": s})
    return s

# write loop container then write again later no alias
@gen
def program(x, n, xs, xss):
    v = [0.0] * n
    for i in range(n):
        v[i] = ~normal(x, 1)
    for i in range(n - 1):
        v[i] = ("u", i) @ ~normal(v[i + 1], 1)
    y = ~normal(sum(v), 1)
    return v

# row containers made per iteration and kept across
@gen
def program(x, n, xs, xss):
    prev = [0.0]
    for i in range(n):
        cur = []
        for p in prev:
            cur.append(p + 1.0)
        cur.append(("a", i) @ ~normal(sum(prev), 1))
        prev = cur
    y = ~normal(sum(prev), 1)
    return prev

# lambda in sorted key
@gen
def program(x, n, xs, xss):
    a = ~normal(x, 1)
    v = sorted([1.0, 2.0, 0.0], key=lambda t: abs(t - a))
    y = ~normal(v[0], 1)
    return v

# views by slicing augmented in place
@gen
def program(x, n, xs, xss):
    a = ~normal(x, 1)
    v = np.array([1.0, a, 0.0])
    v[1:] += 2
    v[:2] *= a
    y = ~normal(v.sum(), 1)
    return v
'''
