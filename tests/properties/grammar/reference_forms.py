"""The forms that references take, by kind: tables for `references`.

In a form, `{KIND}` stands for something of this kind that is in scope, `{KIND.1}` for the same name
at each place; `{K}` for the kind at hand, `{NEW:KIND}` for a new one; `{number}`, `{condition}`,
`{index}`, `{bit}` and `{digit}` for an expression of their own.
Kinds: vector (of length 5), numbers and vectors (lists), table and frame (dicts of numbers, of
vectors), box and holder (objects), pair (a tuple), nest (a list of lists), boxes, group (a set).
"""

PRELUDE = """\
import contextlib
import copy
import math
import numpy as np


class Box:
    def __init__(self, v, w):
        self.v = v
        self.w = w

    def put(self, v):
        self.v = v
        return self

    def link(self, w):
        self.w = w

    def wave(self):
        return self.w

    def __iadd__(self, v):
        self.v = self.v + v
        return self


class Holder:
    def __init__(self, l, d):
        self.l, self.d = l, d

    def grow(self, v):
        self.l.append(v)
        self.d["a"] = v

    @property
    def last(self):
        return self.l


class Lent:
    def __init__(self, item):
        self.item = item

    def __enter__(self):
        self.enter(self.item)
        return self.item

    def __exit__(self, *_):
        self.leave(self.item)

    def enter(self, item):
        pass

    def leave(self, item):
        pass


def pick(c, a, b):
    if c:
        return a
    return b


def same(a, b=None):
    return a if b is None else b


"""

NEW: dict[str, list[str]] = {
    "vector": [
        "1.0 * x",
        "np.cos(A[1])",
        "np.zeros(5)",
        "np.full(5, {number})",
        "np.array([0.3, -0.2, 0.1, 0.8, 1.0])",
        "A[2] * s",
    ],
    "numbers": ["[{number}, {number}]", "[{number}, 0.5, {number}]", "[v * 2.0 for v in x]"],
    "vectors": ["[{vector}, {vector}]", "[1.0 * x, {vector}]", "[2.0 * x]"],
    "table": ['{"a": {number}, "b": {number}}', "dict(a={number}, b={number}, c=0.5)"],
    "frame": ['{"a": {vector}, "b": {vector}}', "dict(a={vector}, b=1.0 * x)"],
    "box": ["Box({number}, {vector})", "Box({number}, 1.0 * x)"],
    "holder": ["Holder({numbers}, {table})"],
    "pair": ["({vector}, {vector})", "({vector}, 1.0 * x)"],
    "nest": ["[{numbers}, {numbers}]", "[[{number}], {numbers}]"],
    "boxes": ["[{box}, {box}]", "[{box}, Box({number}, {vector})]"],
    "group": ["{1, 2}", "{0, 3, 5}"],
}

PARTS: dict[str, list[str]] = {
    "vector": [
        "{vectors}[0]",
        "{vectors}[-1]",
        '{frame}["a"]',
        '{frame}["b"]',
        "{box}.w",
        "{pair}[0]",
        "{pair}[1]",
        "A[{index}]",
    ],
    "numbers": ["{nest}[0]", "{nest}[-1]", "{holder}.l"],
    "table": ["{holder}.d"],
    "box": ["{boxes}[0]", "{boxes}[-1]"],
}
"""Where something of a kind is found in something else."""

SHARED: dict[str, list[str]] = {
    "vector": [
        "{vector}[:]",
        "{vector}[::-1]",
        "{vector}.reshape(5)",
        "{vector}.T",
        "np.asarray({vector})",
        "np.reshape({vector}, (1, 5))[0]",
        "A.T[:, {index}]",
        "A.reshape(20)[3:8]",
        '{frame}.get("a")',
        '{frame}.setdefault("b", {vector})',
        '{frame}.setdefault("c", {vector})',
        '{frame}.get("c", {vector})',
        "{box}.wave()",
        'getattr({box}, "w")',
        "next(iter({vectors}))",
        "list({frame}.values())[0]",
        "[{vector}, {vector}][int({condition})]",
        "x",
    ],
    "numbers": ["{holder}.last", "{nest}.copy()[0]", "next(iter({nest}))"],
    "table": ['getattr({holder}, "d")'],
    "box": ["{box}.put({number})", "list({boxes})[0]"],
}
"""More expressions that share memory with what they are made of."""

ANY = [
    "pick({condition}, {K}, {K})",
    "({K} if {condition} else {K})",
    "({K} if {condition} else {NEW})",
    "(lambda q: q)({K})",
    "(lambda: {K})()",
    "same({K})",
    "same({K}, {K})",
    "[{K}, {K}][{bit}]",
    "({K}, {K})[{bit}]",
    "dict(q={K})['q']",
    "next(q for q in ({K}, {K}))",
    "copy.copy([{K}])[0]",
    "max([({K}, {number})], key=lambda q: q[1])[0]",
]
TRUE = ["({K} or {K})", "(({condition}) and {K} or {K})", "({K} and {K})"]
"""Of what is true or false: of all kinds but vectors."""

COPIES: dict[str, list[str]] = {
    "vector": [
        "{vector}.copy()",
        "np.array({vector})",
        "{vector} * 1.0",
        "{vector}[[0, 1, 2, 3, 4]]",
    ],
    "numbers": ["list({numbers})", "{numbers}[:]", "{numbers} + [{number}]", "sorted({numbers})"],
    "vectors": ["list({vectors})", "{vectors}[:]", "{vectors} + [{vector}]", "[*{vectors}]"],
    "table": ["dict({table})", "{table}.copy()", "{**{table}}", "{table} | {'a': {number}}"],
    "frame": ["dict({frame})", "{frame}.copy()", "{**{frame}, 'a': {vector}}"],
    "box": ["Box({box}.v, {box}.w)"],
    "holder": ["Holder({holder}.l, {holder}.d)"],
    "pair": ["{pair}[::-1]", "tuple({pair})"],
    "nest": ["list({nest})", "{nest}[:]", "{nest}[::-1]"],
    "boxes": ["list({boxes})", "{boxes}[::-1]"],
    "group": ["set({group})", "{group} | {7}"],
}
ALL_COPIES = ["copy.copy({K})", "copy.deepcopy({K})"]

CHANGES: dict[str, list[str]] = {
    "vector": [
        "{vector}[{index}] = {number}",
        "{vector}[{index}] += {number}",
        "{vector}[1:4] = {number}",
        "{vector}[:2] *= {number}",
        "{vector}[:] = {vector}",
        "{vector}[{vector} > 0.3] = 0.25",
        "{vector}.fill({number})",
        "np.add({vector}, 0.5, out={vector})",
        "np.multiply({vector}, {vector}, out={vector})",
        "np.copyto({vector}, {vector})",
        "np.add.at({vector}, [0, 1], {number})",
        "{vector}[:] = np.sort({vector})[::-1]",
        "{vector}.reshape(5)[{index}] = {number}",
        "{vector}[1:].reshape(2, 2)[0, 1] = {number}",
    ],
    "numbers": [
        "{numbers}[0] = {number}",
        "{numbers}[-1] += {number}",
        "{numbers}.append({number})",
        "{numbers}.insert(0, {number})",
        "{numbers}.extend([{number}])",
        "{numbers}.extend({numbers})",
        "{numbers}.reverse()",
        "{numbers}.sort()",
        "{numbers}[1:] = [{number}]",
        "{numbers}[:] = {numbers}",
        "del {numbers}[1:2]",
        "if len({numbers.1}) > 1: {numbers.1}.pop()",
        "if len({numbers.1}) > 2: del {numbers.1}[0]",
    ],
    "vectors": [
        "{vectors}[0] = {vector}",
        "{vectors}[-1] = {NEW:vector}",
        "{vectors}[0] += {number}",
        "{vectors}.append({vector})",
        "{vectors}.insert(0, {vector})",
        "{vectors}.extend([{vector}])",
        "{vectors}.reverse()",
        "if len({vectors.1}) > 1: {vectors.1}.pop()",
        "del {vectors}[2:]",
    ],
    "table": [
        '{table}["a"] = {number}',
        '{table}["b"] += {number}',
        '{table}["c"] = {number}',
        "{table}.update(a={number})",
        '{table}.update({"b": {number}})',
        "{table}.update({table})",
        '{table.1} |= {"a": {number}}',
        '{table}.setdefault("c", {number})',
        '{table}.pop("c", None)',
        'if "c" in {table.1}: del {table.1}["c"]',
    ],
    "frame": [
        '{frame}["a"] = {vector}',
        '{frame}["b"] = {NEW:vector}',
        '{frame}["b"] += {number}',
        '{frame}["c"] = {vector}',
        "{frame}.update(a={vector})",
        '{frame}.setdefault("c", {vector})[{index}] = {number}',
        '{frame}.pop("c", None)',
        '{frame.1}["a"], {frame.1}["b"] = {frame.1}["b"], {frame.1}["a"]',
    ],
    "box": [
        "{box}.v = {number}",
        "{box}.v += {number}",
        "{box}.w = {vector}",
        "{box}.w = {NEW:vector}",
        "{box}.w += {number}",
        "{box}.put({number})",
        "{box}.link({vector})",
        'setattr({box}, "v", {number})',
        "{box}.u = {number}",
    ],
    "holder": [
        "{holder}.l = {numbers}",
        "{holder}.l += [{number}]",
        "{holder}.d = {table}",
        "{holder}.grow({number})",
        '{holder}.d["b"] = {number}',
        '{holder}.d |= {"b": {number}}',
    ],
    "pair": ["{pair}[0][{index}] = {number}", "{pair}[1].fill({number})"],
    "nest": [
        "{nest}[0] = {numbers}",
        "{nest}[-1] = [{number}]",
        "{nest}[0].append({number})",
        "{nest}[-1][0] = {number}",
        "{nest}.append({numbers})",
        "{nest}[0] += {numbers}",
        "{nest}.reverse()",
        "{nest.1}[0], {nest.1}[-1] = {nest.1}[-1], {nest.1}[0]",
    ],
    "boxes": [
        "{boxes}[0].v = {number}",
        "{boxes}[-1].w[{index}] = {number}",
        "{boxes}[0] = {box}",
        "{boxes}.append({box})",
        "{boxes}.reverse()",
        "{boxes}[0].w = {vector}",
    ],
    "group": [
        "{group}.add({digit})",
        "{group}.discard({digit})",
        "{group.1} |= {4}",
        "{group.1} -= {1}",
        "{group}.update({group})",
    ],
}

READ: dict[str, str] = {
    "vector": "np.sum({q} ** 2) + 3.0 * {q}[0]",
    "numbers": "sum({q}) + {q}[0] * {q}[-1] + len({q})",
    "vectors": "sum([np.sum(q * q) for q in {q}]) + {q}[0][0] * {q}[-1][1]",
    "table": "{q}['a'] * {q}['b'] + {q}.get('c', 0.5) + len({q})",
    "frame": "np.sum({q}['a'] * {q}['b']) + {q}['a'][0] + len({q})",
    "box": "{q}.v + np.sum({q}.w ** 2) + 2.0 * {q}.w[0] + getattr({q}, 'u', 0.5)",
    "holder": "sum({q}.l) * {q}.d['a'] + {q}.l[0] + {q}.d['b']",
    "pair": "np.sum({q}[0] * {q}[1]) + {q}[0][0]",
    "nest": "sum([sum(q) for q in {q}]) + {q}[0][0] * {q}[-1][-1]",
    "boxes": "sum([q.v * np.sum(q.w) for q in {q}]) + {q}[0].w[0] + {q}[-1].v",
    "group": "s * len({q}) + (s if 3 in {q} else 0.5) * (2 if 1 in {q} else 3)",
}
"""A number made of all that a name leads to."""

NUMBERS = [
    "s",
    "0.5",
    "-0.75",
    "x[{index}]",
    "A[1, {index}]",
    "{vector}[{index}]",
    "np.sum({vector})",
    "{numbers}[0]",
    "{numbers}[-1]",
    '{table}["a"]',
    "{box}.v",
    "0.3 * {number}",
    "np.sin({number})",
    "({number} + {number})",
]
CONDITIONS = [
    "s > 0.5",
    "x[{index}] > 0.0",
    "x[{index}] > 0.0",
    "A[0, {index}] < 0.1",
    "n > 2",
    "{vector}[{index}] > 0.15",
    "{numbers}[0] > 0.2",
    "len({numbers}) > 2",
    '"c" in {table}',
    "{box}.v < 0.4",
    "{digit} in {group}",
    "{vector} is {vector}",
    "{box} is not {box}",
]
