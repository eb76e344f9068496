"""Python as it is written: containers, closures, classes, generators, early exits."""

import functools
import math
import operator

import numpy as np

from tests.programs.registry import program

x6 = np.linspace(0.3, 1.8, 6)


rng = np.random.default_rng(12)


@program(x6)
def reduce_and_partial(x):
    power = functools.partial(pow, 1.1)
    return functools.reduce(operator.mul, [power(float(k)) * v for k, v in enumerate(x)])


@program(np.array([[0.3, 1.0], [0.8, 0.2]]), 0.5)
def nested_closures(A, k):
    def make(gain):
        def inner(v):
            return gain * np.tanh(A @ v) + k

        return inner

    f, g = make(1.0), make(k)
    return f(g(np.ones(2)))


@program(0.5)
def counter_by_nonlocal(x):
    calls = 0
    total = 0.0

    def visit(v):
        nonlocal calls, total
        calls += 1
        total += v**calls

    for k in range(4):
        visit(x + 0.1 * k)
    return total


def compose(*functions):
    def composed(x):
        for f in reversed(functions):
            x = f(x)
        return x

    return composed


@program(0.4)
def function_composition(x):
    h = compose(math.sin, lambda v: v * v, math.exp)
    return h(x)


def logged(f):
    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        result = f(*args, **kwargs)
        return result * 1.0

    return wrapper


@logged
def scaled_cosine(x, scale=2.0):
    return scale * math.cos(x)


@program(0.4)
def decorated_helper(x):
    return scaled_cosine(x) + scaled_cosine(x, scale=x)


def variadic(*args, weight=1.0, **options):
    total = 0.0
    for a in args:
        total += weight * a
    if options.get("squared", False):
        total = total**2
    return total


@program(0.3, 0.4, 0.5)
def star_calls(a, b, c):
    pair = (a, b)
    kwargs = {"weight": c, "squared": True}
    return variadic(*pair, c, **kwargs) + variadic(*[a, b])


def evaluate(expression, x):
    kind = expression[0]
    if kind == "x":
        return x
    if kind == "const":
        return expression[1]
    a = evaluate(expression[1], x)
    if kind == "sin":
        return math.sin(a)
    b = evaluate(expression[2], x)
    if kind == "add":
        return a + b
    return a * b


@program(0.6)
def expression_interpreter(x):
    e = ("add", ("mul", ("x",), ("sin", ("x",))), ("const", 2.0))
    return evaluate(e, x) * evaluate(("mul", ("x",), ("x",)), x)


@program(x6, "tanh")
def dispatch_by_dict(x, name):
    table = {"tanh": np.tanh, "square": lambda v: v**2, "identity": lambda v: v}
    f = table[name]
    return f(x).sum() + table.get("missing", np.exp)(x).sum()


@program(np.array([0.5, 2.0, -1.0, 3.0]), 1.0)
def early_exit_search(values, target):
    for i, v in enumerate(values):
        if v > target:
            return v * i
    return -1.0


@program(5.3)
def while_with_tolerance(x):
    guess, tol = x / 2, 1e-12
    iterations = 0
    while abs(guess * guess - x) > tol and iterations < 100:
        guess = (guess + x / guess) / 2
        iterations += 1
    return guess


@program(x6)
def walrus_and_chained_comparison(x):
    total = 0.0
    i = 0
    while i < len(x) and (v := x[i] ** 2) < 2.5:
        total += v if 0.2 < v <= 1.5 else 2 * v
        i += 1
    return total


@program(x6, True)
def optional_arguments(x, normalize: bool = False, weights: np.ndarray | None = None):
    if weights is None:
        weights = np.ones_like(x)
    w = weights * x
    if normalize:
        w = w / w.sum()
    return (w**2).sum()


@program(2.0, 0.3)
def try_except_inside(x, y):
    total = 0.0
    for d in (1.0, 0.0, 2.0):
        try:
            total += x / d
        except ZeroDivisionError:
            total += y
        finally:
            total *= 1.1
    return total


@program(x6)
def error_state_block(x):
    with np.errstate(divide="ignore", invalid="ignore"):
        r = np.where(x > 1, np.log(x - 0.2), 0.5 * x)
    return r.sum()


@program(x6)
def assertions_and_raises(x):
    assert x.ndim == 1, "a vector, please"
    if len(x) == 0:
        raise ValueError("empty")
    if not isinstance(x, np.ndarray):
        x = np.asarray(x)
    return np.prod(x)


@program(x6, 2)
def match_statement(x, order):
    match order:
        case 0:
            return len(x) * 1.0
        case 1 | 2:
            return (x**order).sum()
        case _:
            raise ValueError(order)


@program(np.arange(6.0).reshape(2, 3) + 0.5)
def iteration_over_rows_and_unpacking(A):
    (a, b, c), (d, *rest) = A
    return a * d + b * rest[0] + c * rest[1]


@program(0.7, 5)
def fibonacci_like_recursion(x, n):
    if n < 2:
        return x**n
    return fibonacci_like_recursion(x, n - 1) + 0.5 * fibonacci_like_recursion(x, n - 2)


def is_even_step(x, n):
    return x if n == 0 else is_odd_step(math.sin(x), n - 1)


def is_odd_step(x, n):
    return -x if n == 0 else is_even_step(x * x + 0.1, n - 1)


@program(0.7, 5)
def mutual_recursion(x, n):
    return is_even_step(x, n)


@program(2.0, 10)
def power_by_squaring(x, n):
    result = 1.0
    while n > 0:
        if n & 1:
            result *= x
        x *= x
        n >>= 1
    return result


@program(3.7, 2)
def divmod_and_integer_arithmetic(x, k):
    n = 17
    q, r = divmod(n, 5)
    s = (n // 3) % 4 + (n ^ 3)
    return x**q * r + s * x / k - x % 2.0


@program(x6)
def type_annotations_everywhere(x: np.ndarray) -> float:
    total: float = 0.0
    counts: dict[str, int] = {"small": 0, "large": 0}
    bounds: tuple[float, float] = (0.5, 1.4)
    for v in x:
        lo, hi = bounds
        if lo < v < hi:
            total += v
            counts["small"] += 1
        else:
            total += 2 * v
            counts["large"] += 1
    return total * counts["small"] + counts["large"]


@program(
    np.array([1.0, 2.0]),
    np.array([0.5, 0.1]),
)
def global_constants_and_fstrings(x, y):
    label = f"{len(x)}-{x.shape[0]}"
    scale = 2.0 if label == "2-2" else 1.0
    return scale * GRAVITY * np.sum(x * y)


GRAVITY = 9.81


@program(x6)
def print_and_docstring(x):
    """Side effects of no interest: a debug flag that is off."""
    debug = False
    total = 0.0
    for v in x:
        total += v**3
        if debug:
            print(total)
    return total


@program(np.array([1.0, -2.0, 3.0]))
def conditional_store_through_view(x):
    y = x.copy()
    head = y[:2]
    head *= 2
    y[0], y[2] = y[2], y[0]
    tail = y[1:]
    for i in range(len(tail)):
        if tail[i] < 0:
            tail[i] = -tail[i]
    return y[0] * y[1] + head[0] * y[2]
