"""What Python and NumPy do with operands of any two kinds: each operator, comparison, store and
function below, of a list and an array, a set and a slice, a number of NumPy's and a tuple, …

Which of them takes the other's side, changes it in place or raises, goes by rules of both that
nobody knows by heart. There are some 300,000 such programs; a number draws one.
"""

from __future__ import annotations

import collections
import contextlib
import copy
import functools
import itertools
import linecache
import math
import operator
import random
import zlib
from typing import Any

import numpy as np

from tests.properties.mutations import Mutant

KINDS = {
    "int": "3",
    "bool": "True",
    "number of NumPy": "x[0]",
    "float": "float(x[0])",
    "integer of NumPy": "np.int64(2)",
    "complex number": "x[0] * 1j",
    "text": "'ab'",
    "None": "None",
    "list": "[x[0], x[1]]",
    "list of constants": "[1.5, 2]",
    "list of integers": "[1, 2]",
    "list of lists": "[[x[0], 1.0], [2.0, x[1]]]",
    "list of arrays": "[x * 1.0, x * 2.0]",
    "empty list": "[]",
    "tuple": "(x[0], x[1])",
    "empty tuple": "()",
    "array": "x[:2] * 1.0",
    "array of integers": "np.array([1, 2])",
    "array of flags": "x[:2] > 0.5",
    "array of one": "x[:1] * 1.0",
    "array without axes": "np.array(x[0] * 1.0)",
    "matrix": "np.outer(x[:2], x[:2])",
    "range": "range(2)",
    "dict": "{'a': x[0]}",
    "set": "{1, 2}",
    "generator": "(t * t for t in x[:2])",
    "slice": "slice(0, 2)",
    "object": "Holder(x[0])",
}

_OPERATORS = ("+", "-", "*", "/", "//", "%", "**", "@", "&", "|", "^", "<<")
_OPERATED = (
    "r = a {} b\n    return r, a",
    "c = a\n    a {}= b\n    return a, c",
    "c = [a, 1]\n    c[0] {}= b\n    return a, c",
    "c = Holder(a)\n    c.value {}= b\n    return a, c.value",
    "c = a\n    a[:1] {}= b\n    return a, c",
    "c = a\n    a[0] {}= b\n    return a, c",
)
_COMPARED = tuple(f"r = a {op} b\n    return r, a" for op in ("==", "!=", "<", ">=", "is"))
_STORED = (
    "a[0] = b\n    return a, b",
    "a[:1] = b\n    return a, len(a)",
    "a[::2] = b\n    return a, len(a)",
    "a.extend(b)\n    return a, len(a)",
    "a.append(b)\n    return a, len(a)",
    "del a[b]\n    return a",
    "a, *c = a\n    return [*c, a, b, *c]",
)
_EXPRESSIONS = """
    a[b]; a or b; a and b; not a or b; b if a else a; sum(a, [b]); isinstance(a, type(b));
    max(a, b); min(a, b); divmod(a, b); pow(a, b); sorted([a, b]); list(zip(a, b)); list(a) + b;
    tuple(a) + b; np.add(a, b); np.multiply(a, b); np.maximum(a, b); np.dot(a, b); np.outer(a, b);
    np.power(a, b); np.where(True, a, b); np.append(a, b); np.array([a, b]); np.stack([a, b]);
    np.concatenate([a, b]); np.full(2, a)[:1] + b; np.full(b, a); np.sum(a) * b; np.mean(a) - b;
    bool(a == b == a); bool(a in b)
""".split(";")
_METHODS = """
    copy(); index(b); count(b); pop(); pop(b); insert(0, b); remove(b); sort(); reverse();
    clear(); get(b); setdefault(b, 1); update(b); add(b); discard(b); items(); values();
    union(b); issubset(b); sum(); sum(b); mean(b); reshape(b); astype(b); dot(b); take(b);
    fill(b); tolist(); item(); T; real; clip(b, 2); repeat(b); flatten(); ravel(); cumsum(b);
    argmax(); max(b); std(); tobytes(); conjugate(); is_integer(); format(b); join(b); upper();
    split(b); round(b); transpose(b); swapaxes(0, b); put(0, b); resize(b); squeeze(b);
    searchsorted(b); partition(b); __len__(); __getitem__(b); __contains__(b); __add__(b);
    __radd__(b); __eq__(b); value
""".split(";")
_FUNCTIONS = """
    len abs round float int bool complex list tuple set frozenset dict sorted reversed enumerate
    any all str repr type iter range divmod map callable hasattr min max sum np.sum np.array
    np.asarray np.atleast_1d np.ravel np.squeeze np.isscalar np.ndim np.shape np.size np.copy
    np.abs np.exp np.sqrt np.sign np.max np.cumsum np.zeros_like np.diag np.trace np.transpose
    np.linalg.norm np.linalg.det np.isnan np.round np.sort np.unique np.float64 np.int64
    np.asarray_chkfinite np.hstack np.vstack np.concatenate np.stack np.meshgrid np.prod
    math.sin math.sqrt math.floor math.fsum math.prod math.isnan operator.neg operator.index
    copy.copy copy.deepcopy functools.reduce itertools.chain collections.Counter
""".split()
_FLOWS = """
r = a
if x[0] > x[1]:
    r = b
return r, a

r = a
for i in range(2):
    r = b
return r

r = a
for i in range(3):
    r = r + b
return r, a

r = a
for i in range(len(x)):
    r += b
return r, a

r, k = a, 0
while k < 2 and x[0] > 0:
    r, k = b, k + 1
return r, k

r = []
for i in range(3):
    r.append(a)
    r.append(b)
return r

r = {"k": a}
for i in range(2):
    r["k"] = b
return r

try:
    r = a + b
except TypeError:
    r = a
return r

def inner(p, q=b):
    return p, q
return inner(a), inner(b, q=a)

r = None
for t in a:
    r = t
return r, b

return [t for t in a if t is not b]

r = b
for i, (p, q) in enumerate(zip(a, b)):
    r = p, q, i
return r

r = a
same = r
r = b
same = [same, r]
return r, same

holder = Holder(a)
if x[0] > x[1]:
    holder.value = b
return holder.value

match a:
    case [p, q]:
        return p, q, b
    case {"a": p}:
        return p, b
    case None:
        return b
    case _:
        return a, b

def repeat(k, v):
    return v if k == 0 else repeat(k - 1, b)
return repeat(2, a)

return (a if x[0] > x[1] else b), (a if x[0] < x[1] else b)

def change():
    nonlocal a
    a = b
change()
return a

def items():
    yield a
    yield b
return list(items())

r = a
while True:
    r = [r, b]
    break
return r

c = [a, [b, a]]
c[1][0] = a
c[0] = c[1]
return c

r = []
for p, q in [(a, b), (b, a)]:
    r = [q, p]
return r

c = [a]
c.extend([b, a])
c.reverse()
c[0], c[-1] = c[-1], c[0]
return c, c[1:]

return {**{"k": a}, "b": b}, [*[a], b], (lambda *args, **named: (args, named))(a, k=b)

assert a is not b
return str(a), a, b

c = [[a] * 2, [b]]
c[0][1] = b
return c, bool((a, b) == (b, a))

r = [a, b]
for k in range(2):
    r = [r[1], r[0]]
return r

r = a
with contextlib.suppress(TypeError, ValueError):
    r = a * b
return r

return copy.deepcopy([a, {"k": b}]), copy.copy([a])

return [p for c in (a, b) for p in [c]], {k: v for k, v in zip("ab", (a, b))}
""".strip().split("\n\n")
_MADE = """
    iter(a); enumerate(a, b); zip(a, b); map(a, b); filter(a, b); itertools.islice(a, b);
    itertools.product(a, b); itertools.accumulate(a); itertools.repeat(a, b); itertools.cycle(a);
    itertools.starmap(a, b); itertools.takewhile(a, b); itertools.permutations(a);
    itertools.zip_longest(a, b); itertools.pairwise(a); itertools.count(a, b); itertools.tee(a);
    functools.partial(a, b); (t for t in a); {a: b}; {a, b}; [*a, *b]; {**a}; max(*a); f'{a}';
    f'{a:.3f}'; a(); a.nope; next(a); range(a); slice(a, b); np.broadcast_to(a, b);
    math.atan2(a, b); hash(a); ord(a); bytes(a); getattr(a, b); int(a, b);
    np.linalg.solve(a, b); isinstance(a, b)
""".split(";")
_CAUGHT = """try:
    r = {}
except Exception:
    return x[0] * 3
return x[1] * 2"""
_CLASSES = """r = a if x[0] > x[1] else b
for k in range(2):
    r = r if x[k] > 0 else a
return isinstance(r, int), isinstance(r, (float, list)), isinstance(r, np.generic)"""
_OF_ONE = ("copy.copy", "copy.deepcopy", "dict")
_BODIES = (
    *(body.format(op) for op in _OPERATORS for body in _OPERATED),
    *_COMPARED,
    *_STORED,
    *(f"r = {text.strip()}\n    return r, a" for text in _EXPRESSIONS),
    *(body.replace("\n", "\n    ") for body in _FLOWS),
    *(f"r = a.{text.strip()}\n    return r, a, b" for text in _METHODS),
    *(f"r = {name}(a)\n    return r, a" for name in _FUNCTIONS),
    *(f"r = {name}(a, b)\n    return r, a" for name in _FUNCTIONS if name not in _OF_ONE),
    *(f"r = {name}([a, b])\n    return r, a" for name in _FUNCTIONS),
)
_CALLS = (
    *(text.strip() for text in (*_EXPRESSIONS, *_MADE)),
    *(f"a.{text.strip()}" for text in _METHODS),
    *(f"{name}({given})" for name in _FUNCTIONS for given in ("a", "a, b")),
)
_BODIES += (
    *(_CAUGHT.format(text).replace("\n", "\n    ") for text in _CALLS),
    *(_CLASSES.replace("\n", "\n    ") for _ in range(20)),
)
_MODULES = (collections, contextlib, copy, functools, itertools, math, operator)


class Holder:
    """An object that computes with nothing."""

    def __init__(self, value: Any) -> None:
        self.value = value


def program(number: int) -> Mutant:
    """The program of a number."""
    draw = random.Random(number)
    first, second, body = draw.choice([*KINDS]), draw.choice([*KINDS]), draw.choice(_BODIES)
    text = f"def f(x):\n    a = {KINDS[first]}\n    b = {KINDS[second]}\n    {body}\n"
    names: dict[str, Any] = {"np": np, "Holder": Holder}
    names |= {module.__name__: module for module in _MODULES}
    function = defined(text, names, f"<operands {number}>")
    return Mutant(
        "operands", f"{first} and {second}", text, function, (np.array([1.3, 0.7, -0.4]),)
    )


def defined(text: str, names: dict[str, Any], filename: str | None = None) -> Any:
    """The function that a text defines, whose source can be read."""
    filename = filename or f"<text {zlib.crc32(text.encode()):08x}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    before = set(names)
    exec(compile(text, filename, "exec", dont_inherit=True), names)
    (name,) = names.keys() - before - {"__builtins__"}
    return names[name]
