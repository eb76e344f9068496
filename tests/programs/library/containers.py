"""Lists, dicts, sets and what Python offers to loop over them."""

import itertools
import math
from collections import OrderedDict, defaultdict, deque

import numpy as np

from tests.programs.registry import program

x6 = np.linspace(0.3, 1.8, 6)


@program(x6)
def generator_in_sum(x):
    return sum(v**2 for v in x if v > 0.5)


@program(x6)
def comprehension_built_matrix(x):
    n = len(x)
    A = np.array([[math.exp(-abs(x[i] - x[j])) for j in range(n)] for i in range(n)])
    return x @ A @ x


@program(x6, 0.7)
def comprehension_with_condition(x, t):
    kept = [v * t for v in x if v > t]
    return sum(kept) / len(kept)


@program(x6)
def dict_comprehension(x):
    squares = {i: v * v for i, v in enumerate(x)}
    return squares[0] * squares[5] + squares[2]


@program([1.0, 2.0, 3.0], [0.5, 0.25, 2.0])
def zip_map_filter(a, b):
    products = map(lambda p: p[0] * p[1], zip(a, b))
    return sum(filter(lambda v: v > 0.4, products))


@program(x6)
def running_maximum(x):
    best = None
    out = []
    for v in x[::-1]:
        if best is None or v > best:
            best = v
        out.append(best)
    return np.array(out)


@program(np.array([0.9, -0.3, 1.7, 0.2, 0.5]))
def bubble_sort(a):
    a = a.copy()
    n = len(a)
    for i in range(n):
        swapped = False
        for j in range(n - 1 - i):
            if a[j] > a[j + 1]:
                a[j], a[j + 1] = a[j + 1], a[j]
                swapped = True
        if not swapped:
            break
    return np.dot(a, np.arange(n))


@program([0.9, -0.3, 1.7, 0.2, 0.5])
def quicksort_lists(values):
    def sort(v):
        if len(v) <= 1:
            return v
        pivot = v[0]
        smaller = [a for a in v[1:] if a < pivot]
        larger = [a for a in v[1:] if a >= pivot]
        return sort(smaller) + [pivot] + sort(larger)

    ordered = sort(values)
    return sum(i * v for i, v in enumerate(ordered))


@program(np.array([0.9, -0.3, 1.7, 0.2, 0.5]))
def insertion_sort(a):
    a = np.array(a)
    for i in range(1, len(a)):
        key = a[i]
        j = i - 1
        while j >= 0 and a[j] > key:
            a[j + 1] = a[j]
            j -= 1
        a[j + 1] = key
    return a


@program([0.9, -0.3, 1.7])
def sorted_with_key(values):
    ranked = sorted(values, key=lambda v: -abs(v))
    return ranked[0] * 3 + ranked[1] * 2 + ranked[2]


@program(0.5, 1.5)
def stack_machine(a, b):
    stack = []
    for token in ["a", "b", "mul", "a", "add", "sin"]:
        if token == "a":
            stack.append(a)
        elif token == "b":
            stack.append(b)
        elif token == "mul":
            y, x = stack.pop(), stack.pop()
            stack.append(x * y)
        elif token == "add":
            y, x = stack.pop(), stack.pop()
            stack.append(x + y)
        else:
            stack.append(math.sin(stack.pop()))
    return stack[-1]


@program(x6)
def list_methods(x):
    values = list(x)
    values.insert(0, 2.0)
    values.extend([v**2 for v in x[:2]])
    last = values.pop()
    del values[1]
    values[2] = last * values[3]
    values.reverse()
    return sum(v * k for k, v in enumerate(values))


@program({"a": 1.0, "b": 2.0}, 0.5)
def dict_methods(d, x):
    e = dict(d)
    e["c"] = x * d["a"]
    e.update({"b": x})
    total = e.get("z", 0.3)
    for key in e:
        total += e[key] ** 2
    for key, value in sorted(e.items()):
        total *= 1 + 0.1 * value
    if "c" in e:
        total += e.pop("c")
    return total + len(e)


@program(x6)
def grouping_by_defaultdict(x):
    groups = defaultdict(float)
    for i, v in enumerate(x):
        groups[i % 3] += v
    return groups[0] * groups[1] * groups[2]


@program(x6)
def sliding_window_deque(x):
    window = deque()
    total = 0.0
    for v in x:
        window.append(v)
        if len(window) > 3:
            window.popleft()
        total += sum(window) ** 2
    return total


@program([0.2, 0.5, 0.9])
def itertools_pairs(v):
    total = 0.0
    for a, b in itertools.combinations(v, 2):
        total += a * b
    for i, j in itertools.product(range(3), range(2)):
        total += v[i] ** (j + 1)
    return total


@program([[1.0, 2.0], [3.0, 4.0]], [0.5, -0.5])
def matrix_product_on_lists(A, v):
    return [sum(a * b for a, b in zip(row, v)) for row in A]


@program([[1.0, 2.0, 0.5], [0.3, 4.0, 1.0], [0.2, 0.1, 3.0]])
def lists_of_lists_elimination(M):
    M = [row[:] for row in M]
    n = len(M)
    det = 1.0
    for k in range(n):
        det *= M[k][k]
        for i in range(k + 1, n):
            f = M[i][k] / M[k][k]
            M[i] = [a - f * b for a, b in zip(M[i], M[k])]
    return det


@program([3.0, 1.0, 2.0])
def builtin_reductions(v):
    return max(v) * min(v) + sum(v) / len(v) + abs(min(v, key=lambda t: -t))


@program(x6)
def any_and_all(x):
    if any(v > 1.4 for v in x) and all(v > 0 for v in x):
        return (x**2).sum()
    return x.sum()


@program(x6)
def enumerate_reversed_zip(x):
    total = 0.0
    for i, (a, b) in enumerate(zip(x, reversed(x)), start=1):
        total += i * a * b
    return total


@program(0.2)
def ordered_dict_of_stages(x):
    stages = OrderedDict()
    stages["double"] = lambda v: 2 * v
    stages["sine"] = math.sin
    for name, stage in stages.items():
        x = stage(x) + (0.1 if name == "double" else 0.0)
    return x


@program([np.ones((2, 2)), 2 * np.ones((2, 3)), np.ones(3)])
def chain_of_products(arrays):
    result = arrays[0]
    for a in arrays[1:]:
        result = result @ a
    return result
