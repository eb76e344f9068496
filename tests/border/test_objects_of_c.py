"""What an object in C from outside is asked is asked where the program does so, and as often."""

from __future__ import annotations

import array
import collections
import contextlib
import ctypes
import datetime
import decimal
import functools
import io
import linecache
import math
import operator
import random
import statistics
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from tests.border import compiled_code
from tests.sampling import one_in

X = np.array([1.0, 2.0, 3.0])
Made = tuple[Callable[[Any], Any], Callable[[], Any]]
"""A function, and what tells what it leaves outside."""


def written(body: str, names: dict[str, Any], left: Callable[[], Any]) -> Made:
    """A function of these lines, which finds these names outside."""
    text = "def f(x):\n" + "".join(f"    {line}\n" for line in body.strip("\n").splitlines())
    file = f"<{__name__} {len(linecache.cache)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    found = {"np": np, **names}
    exec(compile(text, file, "exec"), found)
    return found["f"], left


def check(make: Callable[[], Made], may_be_refused: bool = False) -> None:
    """In each mode a function computes and leaves what it does in Python, in two calls in a row."""
    expected = _twice(make, lambda f: f(X.copy()))
    slopes = [_slope(make, step) for step in np.eye(3)]
    for mode in (_gradient, _jvp, _vjp, _tensors("auto"), _tensors(False)):
        found: list[Any] = []
        with contextlib.suppress(*[gs.errors.UnsupportedError] * may_be_refused):
            first = _twice(make, functools.partial(_run, mode, found))
            assert first == expected, mode.__name__
            wanted = sum(slopes) if mode is _jvp else slopes
            np.testing.assert_allclose(found[0], wanted, atol=1e-5, err_msg=mode.__name__)


def _twice(make: Callable[[], Made], call: Callable[[Any], Any]) -> list[Any]:
    f, left = make()
    return [(float(call(f)), left()) for _ in range(2)]


def _run(mode: Callable[[Any], Any], found: list[Any], f: Any) -> Any:
    value, slope = mode(f)
    found.append(slope)
    return value


def _slope(make: Callable[[], Made], step: Any) -> float:
    above, below = (float(make()[0](X + sign * 1e-5 * step)) for sign in (1.0, -1.0))
    return (above - below) / 2e-5


def _gradient(f: Any) -> Any:
    return gs.value_and_grad(f)(X.copy())


def _jvp(f: Any) -> Any:
    return gs.jvp(f, (X.copy(),), (np.ones(3),))


def _vjp(f: Any) -> Any:
    value, pullback = gs.vjp(f, X.copy())
    gradient = pullback(1.0)
    return value, gradient[0] if isinstance(gradient, tuple) else gradient


def _tensors(mode: Any) -> Callable[[Any], Any]:
    def run(f: Any) -> Any:
        x = gs.tensor(X.copy(), requires_grad=True)
        value = gs.differentiable(f, compile=mode)(x)
        value.backward()
        return value.detach(), x.grad.numpy()

    run.__name__ = f"compile={mode}"
    return run


# -- truth -----------------------------------------------------------------------------------------

TRUTHS = {
    "while": """
s, n = 0.0 * x[0], 0.0
while Z and n < 3.0:
    CLEAR()
    s = s + np.sum(x)
    n += 1.0
return s
""",
    "if": """
s = np.sum(x)
if Z:
    s = s * 2.0
CLEAR()
if Z:
    s = s * 5.0
return s if Z else s * 3.0
""",
    "not": """
before = not Z
CLEAR()
return np.sum(x) * (1 + before + 2 * (not Z))
""",
    "bool": """
before = bool(Z), truth(Z), not_(Z)
CLEAR()
after = bool(Z), truth(Z), not_(Z)
return x[0] * before[0] + x[1] * (before[1] + 2 * after[1]) + x[2] * (before[2] + 4 * after[2])
""",
    "and": """
before = 2.0 if Z and x[0] > 0 else 1.0
CLEAR()
after = 2.0 if Z and x[0] > 0 else 1.0
return np.sum(x) * before + x[1] * after + x[2] * (3.0 if Z or x[0] < 0 else 5.0)
""",
    "assert": """
s = np.sum(x)
CLEAR()
try:
    assert Z
except AssertionError:
    return s * 2
return s
""",
    "any": """
before = any([Z]), all((Z,))
CLEAR()
after = any([Z]), all((Z,))
return np.sum(x) * (1 + before[0] + 2 * before[1] + 4 * after[0] + 8 * after[1])
""",
}


def number() -> tuple[Any, Any]:
    z = ctypes.c_double(3.0)
    return z, lambda: z.value


def pointer() -> tuple[Any, Any]:
    kept = ctypes.c_double(1.0)
    z = ctypes.pointer(kept)
    return z, lambda: bool(z)


def function() -> tuple[Any, Any]:
    z = ctypes.CFUNCTYPE(ctypes.c_int)(1 << 40)
    return z, lambda: bool(z)


def derived() -> tuple[Any, Any]:
    class Number(ctypes.c_int):
        def __len__(self) -> int:
            return 1

    z = Number(1)
    return z, lambda: z.value


@pytest.mark.parametrize("program", TRUTHS)
@pytest.mark.parametrize("made", [number, pointer, function, derived])
def test_truth_is_asked_where_the_program_asks_it(made: Any, program: str) -> None:
    def make() -> Made:
        z, left = made()
        clear = {"MEMSET": ctypes.memset, "PLACE": ctypes.addressof(z), "SIZE": ctypes.sizeof(z)}
        names = {"Z": z, "truth": operator.truth, "not_": operator.not_, **clear}
        text = TRUTHS[program].replace("CLEAR()", "MEMSET(PLACE, 0, SIZE)")
        return written(text, names, left)

    check(make)


def test_truth_of_an_attribute_is_asked_where_the_program_asks_it() -> None:
    class Holder:
        pass

    def make() -> Made:
        holder = Holder()
        holder.z = ctypes.c_double(3.0)
        names = {"H": holder, "MEMSET": ctypes.memset, "PLACE": ctypes.addressof(holder.z)}
        text = TRUTHS["if"].replace("CLEAR()", "MEMSET(PLACE, 0, 8)").replace("Z", "H.z")
        return written(text, names, lambda: holder.z.value)

    check(make)


@pytest.mark.parametrize("program", TRUTHS)
def test_truth_is_asked_as_often_as_the_program_asks_it(program: str) -> None:
    def make() -> Made:
        gate = compiled_code.extension().Gate()
        names = {"Z": gate, "truth": operator.truth, "not_": operator.not_}
        return written(TRUTHS[program].replace("CLEAR()", "pass"), names, gate.asked)

    check(make)


@pytest.mark.parametrize(
    "value",
    [
        *(decimal.Decimal(0), decimal.Decimal(2), datetime.timedelta(0), datetime.timedelta(1)),
        *(ctypes.c_int(0), ctypes.c_int(1), ctypes.POINTER(ctypes.c_int)(), (ctypes.c_int * 0)()),
        *(datetime.date(2000, 1, 1), datetime.datetime(2000, 1, 1, tzinfo=datetime.timezone.utc)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_truth_is_that_of_the_object(value: Any) -> None:
    check(lambda: written("return np.sum(x * x) if Z else x[0]", {"Z": value}, lambda: None))


# -- what functions compute that are known for arrays, lists and numbers ---------------------------

OBJECTS = {
    "array": ('a = array.array("d", [1.0, 2.0])', "a.append(5.0)"),
    "item of an array": ('a = array.array("d", [1.0, 2.0])', "a[0] = 7.0"),
    "bytearray": ("a = bytearray([1, 2])", "a.append(5)"),
    "memoryview": ('b = array.array("d", [1.0, 2.0])\na = memoryview(b)', "b[0] = 7.0"),
    "array of ctypes": ("a = PAIR(1.0, 2.0)", "a[0] = 7.0"),
    "iterator": ('b = array.array("d", [1.0, 2.0, 3.0, 4.0])\na = iter(b)', "next(a, None)"),
    "list": ('a = list(array.array("d", [1.0, 2.0]))', "a.append(5.0)"),
    "stream": ('a = io.BytesIO(b"1\\n2\\n3\\n")', "a.readline()"),
}
ASKED = [
    *("math.fsum(a)", "sum(a)", "max(a)", "len(a)", "sorted(a)[-1]", "math.prod(a)"),
    *("math.dist(a, [1.0, 1.0])", "statistics.fmean(a)", "len(str(a))", 'len(f"{a}")'),
    *(
        "np.sum(a)",
        "np.asarray(a)[0]",
        "np.count_nonzero(a)",
        "1.0 in a",
        "operator.countOf(a, 1.0)",
    ),
    *("functools.reduce(operator.add, a)", "zlib.crc32(a) % 7", "a[0]"),
]


@pytest.mark.parametrize("asked", one_in(3, ASKED))
@pytest.mark.parametrize("made", OBJECTS)
def test_an_object_that_holds_state_is_asked_where_the_program_asks_it(
    made: str, asked: str
) -> None:
    modules = (array, functools, io, math, operator, statistics, zlib)
    names = {**{m.__name__: m for m in modules}, "PAIR": ctypes.c_double * 2}
    first, change = OBJECTS[made]
    body = f"{first}\ns = float({asked})\n{change}\nreturn s * x[0] + float({asked}) * x[1]"
    try:
        written(body, names, lambda: None)[0](X)
    except (TypeError, ValueError, IndexError):
        pytest.skip("Python raises")
    check(lambda: written(body, names, lambda: None), may_be_refused=True)


# -- what classes of the library do that are derived from dict -------------------------------------

COUNTED = [
    *("C.update(a=2)", "C.update({'a': 2, 'z': 3})", "C.update('bcc')", "C.update(['a', 'a'])"),
    *("C.update(OTHER)", "C.subtract({'a': 2})", "C.subtract(OTHER)", "dict.update(C, {'a': 5})"),
    *("u = C.update\nu('aa')", "C['a'] += C.total()", "C['a'] += C.most_common(1)[0][1]"),
    *("E = C.copy()\nE.update(a=3)\nC['a'] = E['a']", "C.clear()\nC.update('ab')"),
    *("del C['zz']", "C['b'] = C['zz'] + 4", "C['b'] = C.setdefault('zz', 3)"),
    "try:\n    C['a'] = C['zz']\nexcept KeyError:\n    C['a'] = 9",
]


class Holder:
    pass


class Counted(collections.Counter):
    """It has nothing of its own."""


@pytest.mark.parametrize("line", one_in(3, COUNTED))
@pytest.mark.parametrize("cls", [collections.Counter, Counted])
def test_a_counter_counts(cls: Any, line: str) -> None:
    def make(name: str = "C") -> Made:
        counter, holder = cls("ab"), Holder()
        holder.c = counter
        names = {"C": counter, "D": {"c": counter}, "H": holder, "OTHER": collections.Counter("bb")}
        body = line.replace("C.", f"{name}.").replace("C[", f"{name}[")
        last = f"return np.sum(x) * {name}['a'] + x[0] * {name}['b']"
        return written(f"{body}\n{last}", names, lambda: list(counter.items()))

    check(make)
    check(lambda: make("H.c"))


@pytest.mark.parametrize("items", ["x", {"a": 2}])
def test_an_empty_counter_counts(items: Any) -> None:
    def make() -> Made:
        counter = collections.Counter()
        names = {"D": {"c": counter}, "ITEMS": items}
        body = "D['c'].update(ITEMS)\nreturn np.sum(x) * D['c']['a']"
        return written(body, names, lambda: list(counter.items()))

    check(make)


@pytest.mark.parametrize(
    "made", ["C | D", "C & D", "C + D", "C - D", "C == D", "+C", "C.elements()"]
)
def test_what_counters_have_of_their_own_has_not_the_meaning_of_dicts(made: str) -> None:
    counters = {"C": collections.Counter("aab"), "D": collections.Counter("abbb")}
    f, _ = written(f"E = {made}\nreturn np.sum(x) * len(list(E))", counters, lambda: None)
    with pytest.raises(gs.errors.UnsupportedError):
        gs.grad(f)(X)


def test_a_copy_of_a_defaultdict_makes_items() -> None:
    def make() -> Made:
        made = collections.defaultdict(float, a=2.0)
        body = "E = D.copy()\nE['b'] += x[0]\nreturn E['b'] * E['a'] + E['c'] + np.sum(x)"
        return written(body, {"D": made}, lambda: list(made.items()))

    check(make)


# -- methods of a base class in C ------------------------------------------------------------------


class Up(io.StringIO):
    def write(self, s):
        return super().write(s + "!")

    def getvalue(self):
        return super().getvalue() + "abc"

    @property
    def closed(self):
        return 5.0 if super().closed else 3.0

    def __len__(self):
        return len(super().getvalue())


class Upper(Up):
    def write(self, s):
        return super().write(s + "?")


class Bytes(io.BytesIO):
    def write(self, s):
        return super().write(s + b"!")


class Numbers(bytearray):
    def append(self, item):
        super().append(item + 1)


class Named(bytearray):
    def append(self, item):
        bytearray.append(self, item + 1)


class Draws(random.Random):
    def random(self):
        return super().random() + 10


class Normal(np.random.Generator):
    def normal(self):
        return super().normal() + 10


class Day(datetime.date):
    def isoweekday(self):
        return super().isoweekday() + 10

    @property
    def year(self):
        return super().year + 1


class Precise(decimal.Decimal):
    def sqrt(self):
        return super().sqrt() + 1


WITH_BASES = [
    (Up, "O.write('a')\nreturn np.sum(x)", io.StringIO.getvalue),
    (Up, "for _ in range(3):\n    O.write('a')\nreturn np.sum(x)", io.StringIO.getvalue),
    (Up, "O.write('a')\nreturn np.sum(x) * len(O.getvalue()) + O.closed", io.StringIO.getvalue),
    (Up, "O.write('a')\nreturn np.sum(x) * len(O)", io.StringIO.getvalue),
    (Up, "return np.sum(x) * (2.0 if O else 3.0)", io.StringIO.getvalue),
    (Upper, "O.write('a')\nreturn np.sum(x)", io.StringIO.getvalue),
    (Bytes, "O.write(b'a')\nreturn np.sum(x)", io.BytesIO.getvalue),
    (Numbers, "O.append(1)\nO.append(2)\nreturn np.sum(x)", bytes),
    (Named, "O.append(1)\nO.append(2)\nreturn np.sum(x)", bytes),
    (lambda: Draws(0), "return float(O.random()) * np.sum(x)", random.Random.random),
    (
        lambda: Normal(np.random.PCG64(0)),
        "return float(O.normal()) * np.sum(x)",
        np.random.Generator.random,
    ),
    (lambda: Day(2000, 1, 1), "return float(O.isoweekday()) * np.sum(x) + float(O.year)", str),
    (lambda: Precise(4), "return float(O.sqrt()) * np.sum(x)", str),
]


@pytest.mark.parametrize("made, body, left", WITH_BASES)
def test_super_calls_the_method_of_the_base_class(made: Any, body: str, left: Any) -> None:
    def make() -> Made:
        target = made()
        return written(body, {"O": target}, lambda: left(target))

    check(make)
