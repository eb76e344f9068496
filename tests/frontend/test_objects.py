"""Objects in compiled code: made inside, passed in, found outside; their state in loops."""

from __future__ import annotations

import copy
import dataclasses
import enum
import functools
from collections import namedtuple
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import gradscribe as gs

x = np.linspace(0.5, 2, 5)
PROGRAMS: list[tuple[Any, tuple[Any, ...]]] = []


def program(*args):
    def enter(function):
        PROGRAMS.append((function, args))
        return function

    return enter


class A:
    scale = 3.0

    def __init__(self, w):
        self.w = w
        self.n = 0

    def __call__(self, x):
        self.n += 1
        return self.w * x * self.scale

    @property
    def p(self):
        return self.w * 2

    @staticmethod
    def st(x):
        return x * 2

    @classmethod
    def make(cls, x):
        return cls(x * 2)


@program(x)
def cls1(x):
    a = A(x)
    return (a(x) + a.p).sum() * a.n


@program(x)
def cls2(x):
    a = A.make(x)
    b = a
    b.w = A.st(x)
    return (a(x) * a.p).sum()


class B(A):
    def __init__(self, w, k):
        super().__init__(w * k)
        self.__k = k

    def __call__(self, x):
        return super().__call__(x) + self.__k

    @property
    def p(self):
        return super().p + 1


@program(x)
def inh(x):
    b = B(x, 2.0)
    return (b(x) * b.p).sum()


@program(x)
def loopstate(x):
    a = A(x)
    for i in range(4):
        a.w = a.w * np.sin(x) + i
        a.n += i
    return (a.w * a.n).sum()


@program(x)
def branchstate(x):
    a = A(x)
    if x.sum() > 1:
        a.w = a.w * 2
        a.extra = x
    else:
        a.extra = x * 3
    return (a.w * a.extra).sum()


class Vec:
    def __init__(self, x, y):
        self.x = x
        self.y = y

    def __add__(self, o):
        return Vec(self.x + o.x, self.y + o.y)

    def __mul__(self, k):
        if isinstance(k, Vec):
            return self.x * k.x + self.y * k.y
        return Vec(self.x * k, self.y * k)

    __rmul__ = __mul__

    def __neg__(self):
        return Vec(-self.x, -self.y)

    def __sub__(self, o):
        return self + (-o)

    def __getitem__(self, i):
        return (self.x, self.y)[i]

    def __len__(self):
        return 2

    def __iter__(self):
        return iter((self.x, self.y))

    def __eq__(self, o):
        return self.x == o.x

    def __abs__(self):
        return np.sqrt(self.x**2 + self.y**2)


@program(x)
def vec(x):
    a = Vec(x[0], x[1])
    b = Vec(x[2], x[3])
    c = 2 * a + b * 3 - a
    s = 0.0
    for v in c:
        s = s + v * v
    u, v = c
    return s * abs(c) * len(c) + c[1] + u * v


@program(x)
def vecloop(x):
    p = Vec(x[0], x[1])
    v = Vec(x[2], x[3])
    for i in range(5):
        p = p + v * 0.1
        v = v - p * 0.2
    return p * v


@dataclass
class D:
    w: object
    b: float = 1.5
    hist: list = field(default_factory=list)
    name: str = "hi"

    def __post_init__(self):
        self.s = self.w * self.b

    def step(self, x):
        self.hist.append(x * self.w)
        return self


@program(x)
def dc(x):
    d = D(x)
    d.step(x).step(2 * x)
    e = dataclasses.replace(d, b=2.0)
    return (d.s * d.hist[1]).sum() + e.s.sum()


@dataclass(frozen=True)
class F:
    w: object
    b: object

    def apply(self, x):
        return self.w * x + self.b


F0 = F(x * 2, 1.0)


@program(F0, x)
def fro(m, x):
    return (m.apply(x) ** 2).sum()


@program(x)
def fro2(x):
    m = F(w=x, b=x)
    m = dataclasses.replace(m, b=2 * x)
    return (m.apply(x) ** 2).sum()


@program(x)
def frozenloop(x):
    m = F(x, x)
    for i in range(3):
        m = F(m.apply(x), m.b * 2)
    return m.w.sum()


NT = namedtuple("NT", "a b")


@program(x)
def nt(x):
    n = NT(x, x * 2)
    n = n._replace(b=x * 3)
    a, b = n
    return (n.a * n[1] * a + b).sum()


@program(x)
def sn(x):
    n = SimpleNamespace(a=x, b=2.0)
    n.c = n.a * n.b
    return (n.c * n.a).sum()


class Color(enum.Enum):
    RED = 1
    BLUE = 2


@program(x)
def en(x):
    c = Color.RED
    if c is Color.RED:
        return (x * c.value).sum()
    return x.sum()


class Layer:
    def __init__(self, w, act):
        self.w = w
        self.act = act

    def __call__(self, x):
        return self.act(self.w * x)


class Net:
    def __init__(self, layers):
        self.layers = layers
        self.calls = 0

    def __call__(self, x):
        self.calls += 1
        for layer in self.layers:
            x = layer(x)
        return x


@program(x)
def net(x):
    n = Net([Layer(x, np.tanh), Layer(x * 2, np.sin)])
    return n(x).sum() * n.calls


G = Net([Layer(x * 0.3, np.tanh), Layer(x * 0.2, np.sin), Layer(x * 0.1, lambda v: v * v)])


@program(x)
def net2(x):
    return G(x).sum()


class Model:
    def __init__(self):
        self.w = np.ones(5)
        self.buf = np.zeros(5)
        self.n = 0

    def loss(self, x):
        self.buf[1] += x[1] * x[1]
        self.n += 1
        for i in range(3):
            self.w = self.w * x
            self.n += 1
        return (self.w * x + self.buf).sum() * self.n


@program(x)
def ext(x):
    m = Model()
    return m.loss(x)


class Node:
    def __init__(self, v, left=None, right=None):
        self.v = v
        self.left = left
        self.right = right
        self.parent = None

    def total(self):
        s = self.v
        if self.left is not None:
            s = s + self.left.total() ** 2
        if self.right is not None:
            s = s + self.right.total()
        return s


@program(x)
def tree(x):
    t = Node(x[0], Node(x[1], Node(x[4])), Node(x[2], None, Node(x[3])))
    return t.total()


def walk(t):
    if isinstance(t, tuple):
        return walk(t[0]) * walk(t[1]) + 1
    return t * t


@program(x)
def tree2(x):
    return walk(((x[0], x[1]), (x[2], (x[3], x[4]))))


def ev(n, x):
    if n.left is None:
        return n.v * x
    return ev(n.left, x) + np.sin(ev(n.right, x))


T = Node(1.0, Node(2.0), Node(3.0, Node(4.0), Node(5.0)))


@program(x)
def tree3(x):
    return ev(T, x).sum()


class Counter:
    total = 0

    def __init__(self):
        self.items = []

    def add(self, v):
        self.items.append(v)
        return self

    def __contains__(self, v):
        return True


@program(x)
def cnt(x):
    c = Counter()
    for i in range(5):
        c.add(x[i] * 2)
    s = 0.0
    for v in c.items:
        s += v * v
    return s


class Stack:
    def __init__(self):
        self._h = None

    @property
    def h(self):
        return self._h

    @h.setter
    def h(self, v):
        self._h = v * 2


@program(x)
def propset(x):
    s = Stack()
    s.h = x
    s.h += x
    return s.h.sum()


class RNN:
    def __init__(self, w):
        self.w = w
        self.h = np.zeros(5)

    def step(self, x):
        self.h = np.tanh(self.w * self.h + x)
        return self.h


@program(x)
def rnn(x):
    r = RNN(x * 0.5)
    out = 0.0
    for t in range(6):
        out += r.step(x * t).sum()
    return out


class Lazy:
    def __init__(self, x):
        self.x = x

    @functools.cached_property
    def y(self):
        return self.x * 2

    def __getattr__(self, n):
        if n == "z":
            return self.x * 3
        raise AttributeError(n)


@program(x)
def lazy(x):
    l = Lazy(x)
    return (l.y * l.y + l.z).sum()


class Acc:
    def __init__(self):
        self.t = 0.0

    def __iadd__(self, v):
        self.t += v
        return self


@program(x)
def iadd(x):
    a = Acc()
    a += x.sum()
    a += x[0]
    return a.t * a.t


@program(x)
def attrfn(x):
    a = A(x)
    setattr(a, "q", x * 2)
    return (getattr(a, "q") * getattr(a, "zz", 3.0)).sum() if hasattr(a, "q") else x.sum()


class Body:
    def __init__(self, p, v):
        self.p = p
        self.v = v


@program(x)
def nbody(x):
    bs = [Body(x, x * 2), Body(x * 3, x)]
    for t in range(3):
        for b in bs:
            for c in bs:
                if b is not c:
                    b.v = b.v + (c.p - b.p) * 0.1
        for b in bs:
            b.p = b.p + b.v * 0.1
    return (bs[0].p * bs[1].p).sum()


class S:
    def __init__(self, x):
        self.x = x
        self.f = np.sin
        self.tag = "a"
        self.h = None


class Ext:
    def __init__(self):
        self.w = np.linspace(1, 2, 5)
        self.n = 0
        self.h = None
        self.a = None
        self.items = []


@program(x)
def alias_array(x):
    s = S(x * 1)
    y = s.x
    s.x[0] = 5.0
    return (y * x).sum()


@program(x)
def alias_loop(x):
    s = S(x * 1)
    y = np.zeros(5)
    for i in range(3):
        s.x = s.x * 2
        y = s.x
    return (y * s.x).sum()


@program(x)
def store_in_loop(x):
    s = S(x * 1)
    for i in range(5):
        s.x[i] = s.x[i] * x[i] + 1
    return (s.x * x).sum()


@program(x)
def swap(x):
    a = S(x)
    b = S(2 * x)
    for i in range(3):
        a, b = b, a
        a.x = a.x * x
    return (a.x - b.x * 2).sum()


@program(x)
def while_state(x):
    s = S(x.sum())
    s.k = 0
    while s.x > 0.1:
        s.x = s.x * 0.5
        s.k += 1
    return s.x * s.k


@program(x)
def either(x):
    a = S(x)
    b = S(2 * x)
    c = a if x.sum() > 1 else b
    return (c.x**2).sum()


@program(x)
def early(x):
    s = S(x)
    for i in range(4):
        s.x = s.x * 2
        if s.x.sum() > 20:
            return (s.x**2).sum()
    return s.x.sum()


@program(x)
def brk(x):
    s = S(x)
    for i in range(4):
        if s.x.sum() > 20:
            break
        s.x = s.x * 2
    return s.x.sum()


@program(x)
def loopnew(x):
    t = 0.0
    for i in range(4):
        s = S(x * i)
        s.y = s.x * 2
        t = t + (s.y * s.x).sum()
    return t


@program(x)
def loopnew2(x):
    s = S(x)
    for i in range(4):
        s = S(s.x * np.sin(x))
    return s.x.sum()


E = Ext()


@program(E, x)
def ext_store(m, x):
    m.n += 1
    m.h = m.w * x
    m.w = m.w * 2
    for i in range(3):
        m.w = m.w + x
        m.n += 1
    return (m.w * m.h).sum() * m.n


@program(E, x)
def ext_items(m, x):
    m.items.append(x)
    m.items.append(x * 2)
    return (m.items[0] * m.items[1]).sum()


@program(x)
def cyc(x):
    a = Node(x)
    b = Node(2 * x)
    a.left = b
    b.parent = a
    for i in range(3):
        b.parent.v = b.parent.v * x
    return (a.v * b.v).sum()


@program(x)
def twoattr(x):
    s = S(x * 1)
    s.y = s.x
    s.y[0] = 3.0
    return (s.x * x).sum()


@program(x)
def recobj(x):
    def f(s, n):
        if n == 0:
            return s.x.sum()
        return f(S(s.x * x), n - 1)

    return f(S(x), 3)


def deep(n, x):
    if n is None:
        return 0.0
    return n.v * x.sum() + deep(n.left, x)


L = None
for i in range(40):
    L = Node(float(i), L)


@program(x)
def deeplist(x):
    return deep(L, x)


class Opt:
    def __init__(self, lr):
        self.lr = lr
        self.state = {}

    def step(self, k, w, g):
        m = self.state.get(k, 0.0)
        m = 0.9 * m + g
        self.state[k] = m
        return w - self.lr * m


class K:
    C = 2.0
    arr = np.arange(5.0)

    def f(self, x):
        return x * self.C * K.arr


@program(x)
def clsconst(x):
    return K().f(x).sum()


@program(x)
def inner_grad(x):
    s = S(x)

    def loss(w):
        m = S(w)
        m.x = m.x * x
        return (m.x**2).sum()

    s.x = s.x - 0.1 * gs.grad(loss)(s.x)
    return (s.x**2).sum()


@dataclass
class Par:
    w: object
    b: object


@program(x)
def inner_grad_dc(x):
    p = Par(x, x * 2)
    g = gs.grad(lambda p: (p.w**2 * p.b).sum())(p)
    return (g.w * g.b).sum()


def apply_twice(f, x):
    return f(f(x))


class Act:
    def __init__(self, a):
        self.a = a

    def go(self, x):
        return np.sin(self.a * x)


@program(x)
def methodarg(x):
    a = Act(x)
    return apply_twice(a.go, x).sum()


class Mat:
    def __init__(self, d):
        self.d = d

    def __matmul__(self, o):
        return Mat(self.d @ o.d)

    def __getitem__(self, k):
        return self.d[k]

    def __setitem__(self, k, v):
        self.d[k] = v

    @property
    def T(self):
        return Mat(self.d.T)

    @property
    def shape(self):
        return self.d.shape

    def __pow__(self, n):
        r = self
        for _ in range(n - 1):
            r = r @ self
        return r


A0 = np.arange(9.0).reshape(3, 3) / 5


@program(A0)
def mat(a):
    m = Mat(a * 1)
    m[0, 1] = m[1, 2] * 2
    m[1] = m[2]
    for i in range(m.shape[0]):
        m[i, i] += 1.0
    return ((m @ m.T) ** 3)[0, 1]


@pytest.mark.parametrize(("function", "args"), PROGRAMS, ids=[f.__name__ for f, _ in PROGRAMS])
def test_program(function: Any, args: Any) -> None:
    plain, args = copy.deepcopy(args), copy.deepcopy(args)
    expected = function(*plain)
    held = [a for a in args if isinstance(a, Ext)]
    assert gs.vjp(function, *args)[0] == expected
    np.testing.assert_equal([vars(a) for a in held], [vars(a) for a in plain if type(a) is Ext])
    if held:
        model, at = args
        gs.testing.check_grad(lambda x: function(copy.deepcopy(model), x), at)
    else:
        gs.testing.check_grad(function, *args)


def stored_in_some_iterations(x):
    owner = SimpleNamespace()
    for value in x:
        if value > 1.5:
            owner.last = value
    return owner.last


def an_array_stored_in_some_iterations(x):
    owner = SimpleNamespace()
    for value in x:
        if value > 1.5:
            owner.last = x * value
    return np.sum(owner.last)


def stored_in_some_iterations_by_a_helper(x):
    owner = SimpleNamespace()
    for factor in (1.0, 2.0):
        _store_large_ones(owner, x * factor)
    return owner.last * x[0]


def _store_large_ones(owner, x):
    for i in range(len(x)):
        if x[i] > 3.5:
            owner.last = x[i]


@pytest.mark.parametrize(
    "function",
    [
        stored_in_some_iterations,
        an_array_stored_in_some_iterations,
        stored_in_some_iterations_by_a_helper,
    ],
)
def test_an_attribute_keeps_what_the_last_iteration_that_stored_it_gave_it(function) -> None:
    gs.testing.check_grad(function, np.array([1.0, 2.0, 0.3]))
    with pytest.raises(AttributeError):
        gs.grad(function)(np.array([1.0, 0.5, 0.3]))


class Doubling:
    def __init__(self, v):
        self.v = v

    def __copy__(self):
        return type(self)(self.v * 2.0)


class AlsoDoubling(Doubling):
    pass


@dataclass(frozen=True, slots=True)
class Point:
    v: Any


class Restored:
    def __init__(self, v):
        self.v = v

    def __setstate__(self, state):
        self.v = state["v"] * 5.0


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
@pytest.mark.parametrize("cls", [Doubling, AlsoDoubling, Point])
def test_copies_are_what_the_class_makes_of_them(cls: Any, copied: Any) -> None:
    def function(x):
        return np.sum(copied(cls(x * x)).v ** 2)

    x = np.array([0.5, -1.5])
    assert gs.value_and_grad(function)(x)[0] == function(x)
    gs.testing.check_grad(function, x)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_copies_by_what_is_pickled_are_refused(copied: Any) -> None:
    def function(x):
        return np.sum(copied(Restored(x)).v)

    with pytest.raises(gs.errors.UnsupportedError, match="a copy of this object"):
        gs.grad(function)(np.ones(2))
