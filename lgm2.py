import math
import numpy as np
from scipy.special import expit
from gendsl import *

@gen
def m0(X, g, t):
    n, p = X.shape
    beta = np.zeros(p)
    for j in range(p):
        beta[j] = ~normal(0, 1)
    a = [("a", j) @ ~normal(0, 1) for j in range(3)]
    s = ~gamma(2, 1)
    for i in range(n):
        ("y", i) @ ~normal(beta[0] + X[i, 1:] @ beta[1:], s)

@gen
def m1(X, g, t):
    n, p = X.shape
    beta = np.zeros(p)
    for j in range(p):
        beta[j] = ~normal(0, 1)
    a = [("a", j) @ ~normal(0, 1) for j in range(3)]
    s = ~gamma(2, 1)
    for i in range(n):
        ("y", i) @ ~poisson(t[i] * math.exp(X[i] @ beta))

@gen
def m2(X, g, t):
    n, p = X.shape
    beta = np.zeros(p)
    for j in range(p):
        beta[j] = ~normal(0, 1)
    a = [("a", j) @ ~normal(0, 1) for j in range(3)]
    s = ~gamma(2, 1)
    for i in range(n):
        ("y", i) @ ~normal(sum(x * b for x, b in zip(X[i], beta)), s)

@gen
def m3(X, g, t):
    n, p = X.shape
    beta = np.zeros(p)
    for j in range(p):
        beta[j] = ~normal(0, 1)
    a = [("a", j) @ ~normal(0, 1) for j in range(3)]
    s = ~gamma(2, 1)
    for i in range(n):
        ("y", i) @ ~normal(a[g[i]] + X[i] @ beta, s * t[i])

@gen
def m4(X, g, t):
    n, p = X.shape
    beta = np.zeros(p)
    for j in range(p):
        beta[j] = ~normal(0, 1)
    a = [("a", j) @ ~normal(0, 1) for j in range(3)]
    s = ~gamma(2, 1)
    for i in range(n):
        ("y", i) @ ~normal(a[g[i]] + beta[1] * t[i] + beta[2] * t[i] ** 2, s)

@gen
def m5(X, g, t):
    n, p = X.shape
    beta = np.zeros(p)
    for j in range(p):
        beta[j] = ~normal(0, 1)
    a = [("a", j) @ ~normal(0, 1) for j in range(3)]
    s = ~gamma(2, 1)
    for i in range(n):
        ("y", i) @ ~normal(np.polyval(beta, t[i]), s)

@gen
def m6(X, g, t):
    n, p = X.shape
    beta = np.zeros(p)
    for j in range(p):
        beta[j] = ~normal(0, 1)
    a = [("a", j) @ ~normal(0, 1) for j in range(3)]
    s = ~gamma(2, 1)
    for i in range(n):
        ("y", i) @ ~normal(beta[0] * math.exp(-beta[1] ** 2 * t[i]) + beta[2], s)

@gen
def m7(X, g, t):
    n, p = X.shape
    beta = np.zeros(p)
    for j in range(p):
        beta[j] = ~normal(0, 1)
    a = [("a", j) @ ~normal(0, 1) for j in range(3)]
    s = ~gamma(2, 1)
    for i in range(n):
        ("y", i) @ ~normal(beta[0] / (1 + math.exp(-(t[i] - beta[1]))), s)

@gen
def m8(X, g, t):
    n, p = X.shape
    beta = np.zeros(p)
    for j in range(p):
        beta[j] = ~normal(0, 1)
    a = [("a", j) @ ~normal(0, 1) for j in range(3)]
    s = ~gamma(2, 1)
    for i in range(n):
        ("y", i) @ ~normal(math.sin(beta[0] * t[i]) + a[0], s)

@gen
def m9(X, g, t):
    n, p = X.shape
    beta = np.zeros(p)
    for j in range(p):
        beta[j] = ~normal(0, 1)
    a = [("a", j) @ ~normal(0, 1) for j in range(3)]
    s = ~gamma(2, 1)
    for i in range(n):
        ("y", i) @ ~student_t(3, X[i] @ beta, s)

@gen
def m10(X, g, t):
    n, p = X.shape
    beta = np.zeros(p)
    for j in range(p):
        beta[j] = ~normal(0, 1)
    a = [("a", j) @ ~normal(0, 1) for j in range(3)]
    s = ~gamma(2, 1)
    for i in range(n):
        ("y", i) @ ~bernoulli(1 / (1 + math.exp(-(a[g[i]] + X[i] @ beta))))

@gen
def m11(X, g, t):
    n, p = X.shape
    beta = np.zeros(p)
    for j in range(p):
        beta[j] = ~normal(0, 1)
    a = [("a", j) @ ~normal(0, 1) for j in range(3)]
    s = ~gamma(2, 1)
    for i in range(n):
        ("y", i) @ ~binom(10, 1 / (1 + np.exp(-X[i] @ beta)))

@gen
def m12(X, g, t):
    n, p = X.shape
    beta = np.zeros(p)
    for j in range(p):
        beta[j] = ~normal(0, 1)
    a = [("a", j) @ ~normal(0, 1) for j in range(3)]
    s = ~gamma(2, 1)
    for i in range(n):
        ("y", i) @ ~normal(np.array(a)[g[i]] + t[i], s)

@gen
def m13(X, g, t):
    n, p = X.shape
    beta = np.zeros(p)
    for j in range(p):
        beta[j] = ~normal(0, 1)
    a = [("a", j) @ ~normal(0, 1) for j in range(3)]
    s = ~gamma(2, 1)
    for i in range(n):
        ("y", i) @ ~normal(max(0.0, X[i] @ beta), s)

@gen
def m14(X, g, t):
    n, p = X.shape
    beta = np.zeros(p)
    for j in range(p):
        beta[j] = ~normal(0, 1)
    a = [("a", j) @ ~normal(0, 1) for j in range(3)]
    s = ~gamma(2, 1)
    for i in range(n):
        ("y", i) @ ~normal(beta[0] if t[i] < a[0] else beta[1], s)

@gen
def m15(X, g, t):
    n, p = X.shape
    beta = np.zeros(p)
    for j in range(p):
        beta[j] = ~normal(0, 1)
    a = [("a", j) @ ~normal(0, 1) for j in range(3)]
    s = ~gamma(2, 1)
    for i in range(n):
        ("y", i) @ ~normal(np.where(t[i] < a[0], beta[0], beta[1]), s)

@gen
def m16(X, g, t):
    n, p = X.shape
    beta = np.zeros(p)
    for j in range(p):
        beta[j] = ~normal(0, 1)
    a = [("a", j) @ ~normal(0, 1) for j in range(3)]
    s = ~gamma(2, 1)
    for i in range(n):
        ("y", i) @ ~neg_binom(5, 1 / (1 + math.exp(X[i] @ beta)))

@gen
def m17(X, g, t):
    n, p = X.shape
    beta = np.zeros(p)
    for j in range(p):
        beta[j] = ~normal(0, 1)
    a = [("a", j) @ ~normal(0, 1) for j in range(3)]
    s = ~gamma(2, 1)
    for i in range(n):
        ("y", i) @ ~normal(np.interp(t[i], [0, 0.5, 1], a), s)

@gen
def m18(X, g, t):
    n, p = X.shape
    beta = np.zeros(p)
    for j in range(p):
        beta[j] = ~normal(0, 1)
    a = [("a", j) @ ~normal(0, 1) for j in range(3)]
    s = ~gamma(2, 1)
    for i in range(n):
        ("y", i) @ ~normal(X[i] @ beta, math.exp(a[0] + a[1] * t[i]))

@gen
def m19(X, g, t):
    n, p = X.shape
    beta = np.zeros(p)
    for j in range(p):
        beta[j] = ~normal(0, 1)
    a = [("a", j) @ ~normal(0, 1) for j in range(3)]
    s = ~gamma(2, 1)
    for i in range(n):
        ("y", i) @ ~categorical([0.5, 0.5] if X[i] @ beta > 0 else [0.2, 0.8])

@gen
def m20(X, g, t):
    n, p = X.shape
    beta = np.zeros(p)
    for j in range(p):
        beta[j] = ~normal(0, 1)
    a = [("a", j) @ ~normal(0, 1) for j in range(3)]
    s = ~gamma(2, 1)
    for i in range(n):
        ("y", i) @ ~gamma(2, math.exp(X[i] @ beta) / 2)

@gen
def m21(X, g, t):
    n, p = X.shape
    beta = np.zeros(p)
    for j in range(p):
        beta[j] = ~normal(0, 1)
    a = [("a", j) @ ~normal(0, 1) for j in range(3)]
    s = ~gamma(2, 1)
    for i in range(n):
        ("y", i) @ ~normal(np.linalg.norm(X[i] - beta), s)

@gen
def m22(X, g, t):
    n, p = X.shape
    beta = np.zeros(p)
    for j in range(p):
        beta[j] = ~normal(0, 1)
    a = [("a", j) @ ~normal(0, 1) for j in range(3)]
    s = ~gamma(2, 1)
    for i in range(n):
        ("y", i) @ ~normal(math.hypot(X[i, 0] - beta[0], X[i, 1] - beta[1]), s)

@gen
def m23(X, g, t):
    n, p = X.shape
    beta = np.zeros(p)
    for j in range(p):
        beta[j] = ~normal(0, 1)
    a = [("a", j) @ ~normal(0, 1) for j in range(3)]
    s = ~gamma(2, 1)
    for i in range(n):
        ("y", i) @ ~normal(math.sqrt((X[i, 0] - beta[0]) ** 2 + (X[i, 1] - beta[1]) ** 2), s)

@gen
def m24(X, g, t):
    n, p = X.shape
    beta = np.zeros(p)
    for j in range(p):
        beta[j] = ~normal(0, 1)
    a = [("a", j) @ ~normal(0, 1) for j in range(3)]
    s = ~gamma(2, 1)
    for i in range(n):
        ("y", i) @ ~normal(np.sum((X[i] - beta) ** 2), s)

@gen
def m25(X, g, t):
    n, p = X.shape
    beta = np.zeros(p)
    for j in range(p):
        beta[j] = ~normal(0, 1)
    a = [("a", j) @ ~normal(0, 1) for j in range(3)]
    s = ~gamma(2, 1)
    for i in range(n):
        ("y", i) @ ~mixture([0.9, 0.1], [normal(X[i] @ beta, s), normal(0, 10)])
